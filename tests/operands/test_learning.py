"""What is written again is known, and means what it meant the first time."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.ir import build
from xarraylite.operands import learning
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits

NUMBERS: tuple[Any, ...] = (0, 1, 5, -1, 300, 1 << 40, -(1 << 40), 1 << 62, 1 << 63, -(1 << 70))
COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operations that were written as nodes."""
    names: list[str] = []
    real = build.elementwise

    def counted(op: Any, *operands: Any) -> Any:
        names.append(op.name)
        return real(op, *operands)

    monkeypatch.setattr(build, "elementwise", counted)
    return names


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "uint64", "float32"])
def test_comparisons_with_ints_of_any_size(dtype: str) -> None:
    values = np.array([0, 1, 5, 100], dtype)
    if dtype == "uint64":
        values[3] = (1 << 63) + 1
    a = xl.asarray(values)
    known = NUMBERS if dtype != "bool" else NUMBERS[:-3]  # NumPy has no more for booleans
    for numbers in (known, known[::-1], known[3:] + known[:3]):
        for number in numbers:
            for compare in COMPARISONS:
                assert xl.eval(compare(a, number)).tolist() == compare(values, number).tolist()
                assert xl.eval(compare(number, a)).tolist() == compare(number, values).tolist()


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8"])
def test_powers_of_any_exponent(dtype: str) -> None:
    values = np.array([1, 2, 3, 5], dtype)
    a = xl.asarray(values)
    exponents: tuple[Any, ...] = (0, 1, 2, 3, 4, 1.0, 2.0, 3.0, 0.5, 2.5, True, np.float64(2), 2)
    if dtype[0] == "f":
        exponents += (-1, -1.0, -2, -0.5, -1)
    for _ in range(2):
        for exponent in exponents:
            made = xl.eval(a**exponent)
            assert made.dtype == (values**exponent).dtype
            np.testing.assert_allclose(np.asarray(made), values**exponent, rtol=2e-6)
            assert xl.eval(xl.pow(a, exponent)).tolist() == made.tolist()
            assert xl.eval((a * xl.min(a)) ** exponent).tolist() == made.tolist()  # of a form
        if dtype[0] == "i":
            with pytest.raises(ValueError, match="negative"):
                a**-1
    assert xl.eval(2**a).tolist() == (2**values).tolist()


@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x > 0,
        lambda x: x >= 1,
        lambda x: x**2,
        lambda x: x**3,
        lambda x: x**0.5,
        lambda x: 2.0**x,
        lambda x: x - x.mean(),
        lambda x: (x - x.mean()) / x.std(),
        lambda x: (x - x.mean()) * 2 + 1,
        lambda x: ((x - x.mean()) ** 2).sum() / x.std() ** 3,
        lambda x: xl.where(x > 1, x, 0),
    ],
)
def test_what_was_written_is_known(expression: Any, written: list[str]) -> None:
    values = np.linspace(0.5, 3, 7)
    x = xl.asarray(values)
    for _ in range(4):
        first = xl.eval(expression(x))
    written.clear()
    again = xl.eval(expression(xl.asarray(values)))
    assert not written
    assert again.tolist() == first.tolist()


def test_three_operands_of_which_some_are_stretched_are_known(written: list[str]) -> None:
    for shape in ((3, 4), (4, 4), (2, 4), (3, 4)):
        values = np.linspace(0.0, 3.0, shape[0] * 4).reshape(shape)
        a = xl.asarray(values)
        for low, high in ((0, (slice(None), slice(1))), ((slice(1), 0), 1), (-1, -1), (..., 0)):
            x, y = a[low], a[high]
            for _ in range(3):
                written.clear()
                made = xl.eval(xl.where(a > 1, x, y)), xl.eval(xl.clip(a, x, y))
            assert not written
            low_, high_ = values[low], values[high]
            assert_same_bits(made[0], np.where(values > 1, low_, high_))
            assert_same_bits(made[1], np.minimum(np.maximum(values, low_), high_))


@pytest.mark.parametrize("by", [(2.0, 0.5), [1, 2], np.array([2.0, 1.0]), np.float64(1.5)])
def test_what_is_cast_back_in_place_is_known(by: Any, written: list[str]) -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    a = xl.asarray(values.copy())
    other = xl.asarray(by) if isinstance(by, np.ndarray) else by
    kept = a + 0
    for k in range(6):
        if k == 5:
            written.clear()
        values *= by
        a *= other
    assert not written or isinstance(by, tuple | list)  # whose numbers are stretched as memory
    assert_same_bits(a, values)
    assert xl.eval(kept).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_parts_with_other_operands_are_other_parts() -> None:
    x, y = np.arange(1.0, 6.0), np.arange(5.0, 0.0, -1.0)
    a, b = xl.asarray(x), xl.asarray(y)
    for _ in range(4):
        for one, other, p, q in ((a, b, x, y), (b, a, y, x), (a, a, x, x)):
            made = xl.eval((one - other.mean()) / other.std())
            np.testing.assert_allclose(np.asarray(made), (p - q.mean()) / q.std(), rtol=1e-14)


def test_reflected_methods_that_are_called_by_name() -> None:
    a, b = xl.asarray([1.0, 2.0, 3.0]), xl.asarray([3.0, 2.0, 1.0])
    assert xl.XExpression.__rand__(a == b, b > 1).tolist() == [False, True, False]
    for _ in range(2):
        assert xl.XExpression.__rsub__(a, b).tolist() == [2.0, 0.0, -2.0]
        with pytest.raises(TypeError, match="bitwise_and"):
            xl.XExpression.__rand__(a, b > 1)


#: Numbers of every class, some of them no number of a narrower dtype.
OF_ALL_CLASSES: tuple[Any, ...] = (
    *(True, 3, 0.1, -0.0, 2.5, 1e6, float("inf"), 0.5 - 2j, complex(0.1, -0.0)),
    *(np.bool_(True), np.int8(3), np.uint16(3), np.int64(3), np.float16(0.1), np.float32(0.1)),
    *(np.float64(0.1), np.complex64(0.1 + 1j), np.complex128(0.1 + 1j)),
)


@pytest.mark.parametrize(
    ("operation", "dtype"),
    [
        *[("add", "float16"), ("add", "complex64"), ("sub", "complex128"), ("sub", "float32")],
        *[("mul", "float32"), ("mul", "float16"), ("eq", "complex64"), ("eq", "complex128")],
    ],
)
def test_numbers_of_all_classes(dtype: str, operation: str) -> None:
    compute = getattr(operator, operation)
    a = xl.asarray([1.0, 0.1, -3.0, 0.0], dtype=dtype)
    values = np.asarray(a)
    for number in OF_ALL_CLASSES * 2:
        scalar = xl.asarray([number])[0]
        with np.errstate(all="ignore"):
            for ours, theirs in (
                (compute(a, number), compute(values, number)),
                (compute(number, a), compute(number, values)),
                (compute(a, scalar), compute(values, np.asarray([number])[0])),
            ):
                made = xl.eval(ours)
                assert made.dtype == theirs.dtype
                np.testing.assert_array_equal(np.asarray(made), theirs)


def test_booleans_and_ints_beyond_64_bits() -> None:
    a = xl.asarray([False, True])
    for number in (1 << 70, 1, -(1 << 70), 0, 1 << 63, 1):
        assert xl.eval(a > number).tolist() == [number < 0, number < 1]
        assert xl.eval(a == number).tolist() == [number == 0, number == 1]


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "complex128"])
def test_what_is_written_with_a_number_again_is_known(dtype: str, written: list[str]) -> None:
    a = xl.asarray([1.0, 2.0, 3.0], dtype=dtype)
    for number in (0.5, 3, np.float32(2)) + ((2j,) if dtype[0] == "c" else ()):
        made = []
        for _ in range(2):
            written.clear()
            made.append((xl.eval(a * number).tolist(), xl.eval(number + a).tolist()))
        assert not written, number
        assert (
            made[0] == made[1] == ([number * v for v in (1, 2, 3)], [number + v for v in (1, 2, 3)])
        )


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_sums_of_products_with_numbers_are_known(dtype: str, written: list[str]) -> None:
    """Numbers that are not what float32 makes of them."""
    a, b = xl.asarray([1.0, 2.0], dtype=dtype), xl.asarray([3.0, -1.0], dtype=dtype)
    x, y = np.asarray(a), np.asarray(b)
    for _ in range(3):
        written.clear()
        made = xl.eval((0.9 * a + 0.1 * b) / 0.3)
        np.testing.assert_array_equal(np.asarray(made), (0.9 * x + 0.1 * y) / 0.3)
    assert not written


def test_numbers_that_are_no_integers_where_a_truth_is_asked_for() -> None:
    a = xl.asarray(np.array([0.0, 2.0]))
    for number in (2, 0j, 1j, 2.5, True, float("nan"), 1j):
        for name in ("logical_and", "logical_or", "logical_xor"):
            expected = getattr(np, name)([0.0, 2.0], number).tolist()
            for _ in range(2):
                assert xl.eval(getattr(xl, name)(a, number)).tolist() == expected
                assert xl.eval(getattr(xl, name)(number, a)).tolist() == expected


def test_nothing_is_learned_of_results_that_read_something_else() -> None:
    """Such as the copy that stands for a sine, which has as many operands as the sine."""
    xl.cache_clear()
    x = np.linspace(0.5, 3, 5)
    a, copy = xl.asarray(x), xl.asarray(np.sin(x))
    y, other = xl.sin(a), xl.asarray(x + 1)
    mask = xl.asarray(x > 1)
    for name, operands, made in (
        ("multiply", (y, 2.0), copy * 2.0),
        ("add", (y, other), copy + other),
        ("negative", (y,), -copy),
        ("where", (mask, y, other), xl.where(mask, copy, other)),
        ("pow", (y, 1.5), copy**1.5),
    ):
        op = OPS[name]
        keys = [learning.key_of(k) for k in operands[1:]] or [None]
        learning.learn((op, *keys), op, operands, made)
        found = xl.eval(getattr(xl, name)(*operands))
        np.testing.assert_allclose(np.asarray(found), np.asarray(made), rtol=1e-14)
    learning.learn_conversion(y, np.dtype(np.float32), copy.astype("float32"))
    np.testing.assert_allclose(np.asarray(y.astype("float32")), np.sin(x), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_zeros_keep_their_signs_beside_short_floats(dtype: str) -> None:
    a = xl.asarray([1.0, -2.0], dtype)
    for _ in range(3):
        for zero in (0, -0.0, 0.0, False):
            assert (
                xl.signbit(a * zero).tolist() == np.signbit(np.array([1.0, -2.0]) * zero).tolist()
            )
            assert (a > zero).tolist() == [True, False]
