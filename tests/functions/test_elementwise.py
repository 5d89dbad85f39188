"""Elementwise functions: one per row, named and documented from it, equal to NumPy."""

from __future__ import annotations

import inspect
import math
import re
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, stored_in
from xarraylite._errors import DTypeError
from xarraylite.arrays.expression import XExpression
from xarraylite.functions import elementwise
from xarraylite.functions.docstrings import page
from xarraylite.ops.op import Op
from xarraylite.ops.table import ALIASES, OPS
from xarraylite.testing import assert_same_bits

OWN = {"cast", "with_imag"}
"""Rows that no function is named after."""

PUBLIC = [op for op in OPS.values() if op.name not in OWN]
NAMES = {
    name for name, (module, _) in vars(xl)["_SOURCES"].items() if module == "functions.elementwise"
}
STANDARD = """
abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_invert
bitwise_or bitwise_right_shift bitwise_xor ceil clip conj copysign cos cosh divide equal exp expm1
floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log1p
log2 log10 logaddexp logical_and logical_not logical_or logical_xor maximum minimum multiply
negative nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh
square sqrt subtract tan tanh trunc where
"""


def test_the_standard_is_covered() -> None:
    assert set(STANDARD.split()) <= NAMES


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_all_names_rows_and_aliases() -> None:
    assert {*OPS, *ALIASES} - OWN == NAMES
    for alias, name in ALIASES.items():
        assert getattr(elementwise, alias) is getattr(elementwise, name)
        example = [np.asarray(values) for values in OPS[name].example]
        with np.errstate(all="ignore"):
            same = getattr(np, alias)(*example), getattr(np, name)(*example)
        np.testing.assert_array_equal(*same)


@together("op", PUBLIC)
def test_function(op: Op) -> None:
    function = getattr(elementwise, op.name)
    assert (function.__name__, function.__qualname__) == (op.name, op.name)
    operands = [["x"], ["x1", "x2"], ["condition", "x", "y"]][op.arity - 1]
    operands = {"clip": ["a", "min", "max"], "round": ["a"]}.get(op.name, operands)
    assert list(inspect.signature(function).parameters)[: op.arity] == operands
    arguments = [np.asarray(values) for values in op.example]
    result = function(*arguments)
    assert isinstance(result, XExpression)
    with np.errstate(all="ignore"):
        expected = np.asarray(getattr(np, op.name, op.numpy)(*arguments))
        computed = np.asarray(result)
    assert computed.dtype == expected.dtype == result.dtype
    np.testing.assert_allclose(computed, expected, rtol=1e-14)


@pytest.mark.once
@together("op", PUBLIC)
def test_page(op: Op) -> None:
    """Every page has the sections, no line is long, and says something of its own."""
    text = getattr(elementwise, op.name).__doc__
    for title in ("Parameters", "Returns", "Raises", "Examples"):
        assert re.search(rf"^ *{title}\n *-{{{len(title)}}}\n", text, re.MULTILINE), title
    assert f"xl.{op.name}(" in text
    assert text.splitlines()[0].endswith(".")
    assert max(map(len, text.splitlines())) <= 100
    assert "{" not in text


def test_page_follows_the_rule() -> None:
    text = page(OPS["bitwise_and"], ("x1", "x2"))
    assert "bool, signed integers or unsigned integers." in text
    assert "[1, 0]" in text
    assert "complex numbers they are NumPy's own" in page(OPS["exp"], ("x",))
    assert "bit for bit" in page(OPS["floor_divide"], ("x1", "x2"))


def test_errors_name_the_function() -> None:
    with pytest.raises(DTypeError, match=r"subtract\(bool, bool\)"):
        elementwise.subtract(np.array([True]), np.array([False]))
    with pytest.raises(DTypeError, match="sin: got str"):
        elementwise.sin("text")


CLIPS: list[tuple[str, Any, Any]] = [
    ("i4", 2, 6),
    ("i4", None, 6),
    ("i4", 2, None),
    ("i4", None, None),
    ("u1", -1, 300),
    ("u1", 0, 255),
    ("i1", -1000, 3),
    ("f4", 1.5, 3),
    ("f8", np.nan, 3.0),
    ("i4", 6, 2),
    ("i4", 2.5, 6),
    ("u1", np.arange(9, dtype="u1"), None),
]


@together(("code", "low", "high"), CLIPS)
def test_clip(code: str, low: Any, high: Any) -> None:
    x = np.arange(9).astype(code)
    ours, theirs = np.asarray(elementwise.clip(x, low, high)), np.clip(x, low, high)
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.asarray(elementwise.clip(x, max=high, min=low)), theirs)


def test_clip_refuses_bounds_on_the_wrong_side() -> None:
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        elementwise.clip(np.arange(3, dtype="u1"), 300, None)


def test_functions_fuse_with_operators() -> None:
    x = np.linspace(0.0, 1.0, 7)
    e = elementwise.sqrt(elementwise.sin(x) ** 2 + elementwise.cos(x) ** 2) * 2.0
    assert (e.shape, e.dtype) == ((7,), np.dtype("f8"))
    np.testing.assert_allclose(np.asarray(e), 2.0)


def test_methods_of_ufuncs() -> None:
    values = [[3, 1], [2, 5]]
    for method, args in (
        ("reduce", (1,)),
        ("accumulate", (0,)),
        ("outer", ([1, 2],)),
        ("reduceat", ([0, 1],)),
    ):
        ours = getattr(xl.maximum, method)(values, *args)
        assert isinstance(ours, xl.XExpression)
        theirs = getattr(np.maximum, method)(np.asarray(values), *args)
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    a = xl.zeros(3)
    pending = a + 0
    xl.add.at(a, [0, 0, 2], 1.5)
    assert (a.tolist(), pending.tolist()) == ([3.0, 0.0, 1.5], [0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", ["isposinf", "isneginf"])
def test_complex_infinities_have_no_sign(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        getattr(xl, name)(xl.asarray([1j]))


def test_angles_of_truth_are_those_of_integers() -> None:
    made = xl.angle(xl.asarray([True, False]))
    assert (made.dtype, made.tolist()) == (np.angle([True]).dtype, [0.0, 0.0])


@together("name", ["less", "isnan", "add", "logical_and"])
@together("code", ["f8", "i8", "c16"])
def test_out_keeps_its_own_values_where_nothing_is_computed(name: str, code: str) -> None:
    """Also those that the result's dtype has no room for."""
    mask, a = np.array([True, False, True]), np.array([1, 0, 3], "i4")
    args = (a,) if name == "isnan" else (a, a[::-1])
    before = np.array([5, 2**40, -70000], code)
    out = xl.asarray(before)
    getattr(xl, name)(*map(xl.asarray, args), out=out, where=mask)
    assert_same_bits(out, np.where(mask, getattr(np, name)(*args).astype(code), before))


@pytest.mark.parametrize("dtype", ["f8", "f2", "i4", "?", "c8"])
def test_closeness_to_a_number(dtype: str) -> None:
    values = np.array([0.0, 1.0, 1 + 1e-9, 1.00002, np.nan, np.inf, -1e-8, 3, 200])
    with np.errstate(all="ignore"):
        array = values.astype(dtype)
    own = xl.asarray(array)
    for number in (0, 1, True, 1.0, np.nan, np.inf, -np.inf, 1e-8, 1 + 1e-9j, complex(np.nan, 0)):
        for nans in (False, True):
            near = xl.isclose(own, number, equal_nan=nans), xl.isclose(number, own, equal_nan=nans)
            with np.errstate(all="ignore"):
                assert_same_bits(near[0], np.isclose(array, number, equal_nan=nans))
                assert_same_bits(near[1], np.isclose(number, array, equal_nan=nans))


def test_powers_and_dot_products_are_written_where_numpy_writes_them() -> None:
    values = np.array([[1, 2, 3], [4, 5, 6]])
    mask = values % 2 == 0
    for given in (values, values.astype("f4")):
        a, to, dots = xl.asarray(given), xl.full((2, 3), 7.0), xl.zeros(2, dtype=given.dtype)
        expected = np.full((2, 3), 7.0)
        assert xl.float_power(a, 2, to, where=mask) is to
        np.float_power(given, 2, expected, where=mask)
        assert_same_bits(to, expected)
        assert xl.float_power(a, a, out=to) is to
        assert_same_bits(to, np.float_power(given, given))
        assert xl.vecdot(a, a, dots) is dots
        assert_same_bits(dots, np.vecdot(given, given))
        assert xl.vecdot(a[0], a[0], out=xl.zeros((), dtype=given.dtype)).tolist() == 14
    with pytest.raises(TypeError, match=r"in-place float_power: the result float64\[2, 3\]"):
        xl.float_power(xl.asarray(values), 2, xl.asarray(values, copy=True))


def test_angles_asked_for_again_are_the_same() -> None:
    """What is traced for later calls has parts without a kind."""
    z = xl.asarray([1 + 1j, -1j])
    assert [xl.angle(z).tolist() for _ in range(4)] == [np.angle([1 + 1j, -1j]).tolist()] * 4


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_parts_of_complex_numbers_are_kept_apart(dtype: str) -> None:
    inf, nan = math.inf, math.nan
    parts = [(1.26, 2.35), (-1.005, -7.77), (inf, inf), (-0.0, -0.0), (nan, -inf), (-0.0, 151.0)]
    z = np.array([complex(*pair) for pair in parts], dtype)
    a = xl.asarray(z)
    for decimals in (0, 1, 2, -1):
        with np.errstate(all="ignore"):
            wanted = np.round(z, decimals)
        made = xl.round(a, decimals)
        assert isinstance(made, XExpression)
        assert np.asarray(made).tobytes() == wanted.tobytes()
    for options in ({}, {"posinf": inf, "neginf": -inf}, {"nan": np.arange(6.0)}):
        wanted = np.nan_to_num(z, **options)
        made = xl.nan_to_num(a, **{key: xl.asarray(value) for key, value in options.items()})
        assert isinstance(made, XExpression)
        assert (made.dtype, np.asarray(made).tobytes()) == (wanted.dtype, wanted.tobytes())
    with pytest.raises(TypeError):
        xl.nan_to_num(a, posinf=xl.asarray([1j]))
    assert xl.nan_to_num(a, copy=False) is a
    assert np.asarray(a).tobytes() == np.nan_to_num(z).tobytes()


@pytest.mark.parametrize("function", [lambda x: xl.round(x, 1), xl.nan_to_num])
def test_complex_numbers_of_parts_are_made_when_asked_for(function: Any) -> None:
    """Traced, chunk by chunk, and of the values that the operand had."""
    z = np.array([complex(-0.0, 2.35), complex(math.inf, -7.77), complex(-1.26, math.nan)] * 5)
    wanted = np.asarray(function(z)).tobytes()
    a = xl.asarray(z)
    traced = xl.jit(function)
    assert [np.asarray(traced(a)).tobytes() for _ in range(3)] == [wanted] * 3
    lazy, of_parts = function(a), function(xl.real(a))
    before = np.asarray(function(z.real))
    a[...] = 7
    assert np.asarray(lazy).tobytes() == wanted
    assert np.asarray(of_parts).tobytes() == before.tobytes()
    assert stored_in(function(xl.open(Kept(z, (4,)))), (4,), 1).tobytes() == wanted


def test_two_names_of_one_thing_are_refused() -> None:
    with pytest.raises(TypeError, match="sig and signature are one thing"):
        xl.add(xl.ones(2), 1, sig="ff->f", signature="dd->d")
    assert xl.add(xl.ones(2), 1, sig="ff->f", casting="same_kind").dtype == np.float32


def test_calls_with_options_that_come_again_are_numpys() -> None:
    """Remembered by dtypes, they read what their operands are by then."""
    x, y, mask = xl.asarray([1.5, -2.0, 4.0]), xl.asarray([1, 2, 3]), xl.asarray([True] * 3)
    for number in range(4):
        mask[...], x[0] = [number % 2 == 0, True, False], number
        numbers, theirs = np.asarray(x).copy(), np.asarray(y)
        expected = np.add(numbers, theirs, out=np.zeros(3), where=np.asarray(mask))
        np.testing.assert_array_equal(np.asarray(xl.add(x, y, where=mask)), expected)
        options: Any
        for options in ({"dtype": "f4"}, {"signature": "dd->d", "order": "F"}):
            assert_same_bits(
                np.asarray(xl.add(x, y, **options)),
                np.add(numbers, theirs, casting="same_kind", **options),
            )
        assert np.asarray(xl.negative(y, dtype="f2")).dtype == np.float16
        with pytest.raises(DTypeError, match="out and where are for numbers"):
            xl.add(np.array(["a"]), np.array(["b"]), where=mask)
        with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
            xl.add(x, y, foo=1)  # type: ignore[call-arg]
