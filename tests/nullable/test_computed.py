"""Functions of optional arrays that NumPy computes, or that are composed of others."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
KNOWN = np.array([[True, False, True], [True, True, False]])


def make() -> Any:
    return xl.optional(A.copy(), KNOWN.copy())


@together(
    "name",
    [
        *("sinc", "isposinf", "isneginf", "isreal", "iscomplex", "modf", "float_power"),
        *("gcd", "lcm", "bitwise_count", "frexp", "ldexp", "logaddexp2", "spacing", "i0"),
    ],
)
def test_functions_that_numpy_computes_or_composes(name: str) -> None:
    whole = name in ("gcd", "lcm", "bitwise_count")
    two = name in ("gcd", "lcm", "ldexp", "logaddexp2", "float_power")
    values = A.astype(int) if whole else A
    x, second = xl.optional(values, KNOWN), np.array([3, 2, 1])
    y = xl.optional(second, [True, True, False])
    calls: list[tuple[Any, ...]] = [(x, y), (values, y), (x, second), (x, 2)] if two else [(x,)]
    for args in calls:
        plain = [g.value().numpy() if isinstance(g, xl.XOptional) else g for g in args]
        flags = [g.has_value().numpy() for g in args if isinstance(g, xl.XOptional)]
        made, want = getattr(xl, name)(*args), getattr(np, name)(*plain)
        pairs = zip(made, want, strict=True) if isinstance(want, tuple) else [(made, want)]
        for found, right in pairs:
            assert found.shape == right.shape
            assert found.dtype == right.dtype
            np.testing.assert_array_equal(
                found.has_value(),
                np.broadcast_to(np.logical_and.reduce(flags), found.shape)
                if len(flags) == 1
                else flags[0] & flags[1],
            )
            np.testing.assert_allclose(found.value(), right, rtol=1e-14)


@together(
    "text",
    [
        "delete(x, 1, axis=1)",
        "delete(x, [0, 4])",
        "extract(B, x)",
        "compress([True, False, True], x, axis=1)",
        "take_along_axis(x, I, axis=1)",
        "resize(x, (3, 4))",
        "insert(x, 1, x[0], axis=0)",
        "copy(x)",
    ],
)
def test_functions_that_numpy_computes_move_both(text: str) -> None:
    names = {"B": A > 2, "I": np.array([[2, 0], [1, 1]])}
    found = eval(f"xl.{text}", {**names, "x": make(), "xl": xl})
    for half, own in ((found.value(), A), (found.has_value(), KNOWN)):
        np.testing.assert_array_equal(half, eval(f"np.{text}", {**names, "x": own, "np": np}))
    x = make()
    filled = xl.insert(x, 0, 7.0, axis=0)
    assert filled[0].tolist() == [7, 7, 7]
    with pytest.raises(xl.DTypeError, match="missing"):
        xl.take_along_axis(A, xl.optional([[0], [1]], [[True], [False]]), axis=1)


def test_products_of_matrices_are_refused_in_place_too() -> None:
    x = xl.optional(np.eye(2), np.eye(2) > 0)
    with pytest.raises(TypeError, match="unsupported operand"):
        x @= xl.ones((2, 2))


def test_extremes_of_what_is_there_of_floats_without_infinities() -> None:
    x = xl.optional(xl.asarray([1, 0, 2], dtype="float8_e4m3fn"), [True, False, True])
    assert (float(x.min(skipna=True)), float(x.max(skipna=True))) == (1.0, 2.0)


@pytest.mark.parametrize("name", ["float", "int", "bool", "complex", "round", "hex", "index"])
def test_a_missing_value_is_no_number(name: str) -> None:
    calls = {"hex": lambda x: x.hex(), "index": operator.index}
    call = calls.get(name) or getattr(builtins, name)
    x = xl.optional([3, None] if name == "index" else [1.5, None])
    assert call(x[0]) == call(x.value()[0])
    with pytest.raises(ValueError, match=rf"{name}\(XOptional \w+\[\]\): the value is missing"):
        call(x[1])


def test_what_may_be_missing_has_no_bytes() -> None:
    x = xl.optional([1.5, None])
    for call in (bytes, lambda x: x.dumps(), lambda x: x.byteswap(), lambda x: x.getfield("f4")):
        with pytest.raises(TypeError, match=r"XOptional.*missing"):
            call(x)


def test_missing_stands_beside_arrays_in_functions() -> None:
    a = xl.asarray([1, 2, 3])
    made = xl.where(a > 1, a, xl.missing)
    assert (made.dtype, xl.eval(made).tolist()) == (xl.int64, [None, 2, 3])
    assert xl.eval(np.where(np.asarray(a) > 1, xl.missing, a)).tolist() == [1, None, None]
    assert xl.eval(xl.maximum(a, xl.missing)).tolist() == [None] * 3
    assert xl.eval(xl.missing).item() is xl.optional(xl.missing).item() is None
    with pytest.raises(xl.DTypeError, match=r"sum: got Missing; xl.optional\(None\)"):
        xl.sum(xl.missing)


def test_missing_has_the_operators_of_arrays() -> None:
    a = xl.asarray([1.0, 2.0])
    for made in (a + xl.missing, xl.missing - a, np.arange(2) * xl.missing, a < xl.missing):
        assert (type(made), xl.eval(made).tolist()) == (xl.XOptional, [None, None])
    for made in (xl.missing**2, -xl.missing, 2 // xl.missing, xl.missing + xl.missing):
        assert (made.shape, xl.eval(made).item()) == ((), None)
    assert (xl.missing * [1, 2]).shape == (2,)


def test_missing_is_one_value_and_compares_with_arrays_by_element() -> None:
    a = xl.asarray([1.0, 2.0])
    assert xl.missing == xl.missing
    assert (xl.missing != xl.missing) is False
    assert xl.missing != 1
    assert {xl.missing: 1}[xl.missing] == 1
    assert xl.missing in [1, xl.missing]
    for made in (a == xl.missing, xl.missing != a):
        assert xl.eval(made).tolist() == [None, None]


def test_lazy_ones_are_written_as_lazy_results_are() -> None:
    a = xl.optional(np.arange(6.0).reshape(2, 3), [True, False, True])
    row = a * xl.optional([1.0, 1.0, 1.0])
    made, other = row + 0, row * 2
    part = made[1]
    made[1, 0] = xl.missing
    made[0] += xl.optional([None, 1, 1])
    part[2] = 9.0
    assert made.tolist() == [[None, None, 3], [None, None, 9]]
    assert part.tolist() == [None, None, 9]
    assert row.tolist() == a.tolist() == [[0, None, 2], [3, None, 5]]
    assert other.tolist() == [[0, None, 4], [6, None, 10]]
    copied = xl.optional([1.0, 2.0, None])
    copied[[0, -1]] += 1
    assert copied.tolist() == [2, 2, None]
    wide = xl.optional(xl.asarray([1.0, 2.0]) * 2, xl.asarray([[1], [0]]) > 0)
    wide[0, 0] = None
    wide[1, 1] = 7.0
    assert wide.tolist() == [[None, 4], [None, 7]]
