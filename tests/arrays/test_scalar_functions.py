"""Functions of values give, each time, the dtype and bits that they give of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays import scalar_arithmetic
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits

#: More than the first evaluations of a kind, which are interpreted.
ROUNDS = 24

UNARY = [name for name, op in OPS.items() if op.arity == 1 and hasattr(xl, name)]
BINARY = [name for name, op in OPS.items() if op.arity == 2 and hasattr(xl, name)]
DTYPES = ["float64", "float32", "int64", "uint8", "complex128", "bool"]


def _values(dtype: str) -> np.ndarray[Any, Any]:
    if dtype == "complex128":
        return np.asarray([0.3 - 1.7j, -2.5 + 0j, 4 + 1j])
    return np.asarray([1.7, 0, 3.25, 250.3], dtype)


def _is_same(made: Any, expected: Any) -> bool:
    one, other = np.asarray(made), np.asarray(expected)
    same = one.tobytes() == other.tobytes() or bool(np.isnan(one) & np.isnan(other))
    return one.dtype == other.dtype and same


@together(
    ("name", "dtype"),
    [(name, dtype) for k, name in enumerate(UNARY) for dtype in DTYPES[k % 3 :: 3]],
)
def test_of_one_value(name: str, dtype: str) -> None:
    function, array = getattr(xl, name), xl.asarray(_values(dtype))
    try:
        expected = xl.eval(function(array))
    except TypeError:
        with pytest.raises(TypeError):
            function(array[0])
        return
    for _ in range(ROUNDS // array.size):
        for k in range(array.size):
            made = function(array[k])
            assert isinstance(made, xl.XScalar)
            assert _is_same(made, expected[k])


def _pairs() -> Iterator[tuple[str, str, str]]:
    """Each function with half of the dtypes beside themselves, the others beside another one."""
    left, right = DTYPES[:4], [*DTYPES[:3], "complex128"]
    for turn, name in enumerate(BINARY):
        for k, dtype in enumerate(left):
            same = (k + turn) % 2 == 0
            yield name, dtype, dtype if same else right[(k + turn // 2 % 3 + 1) % 4]


@pytest.mark.parametrize(("name", "dtype", "other"), list(_pairs()))
def test_of_two_values(name: str, dtype: str, other: str) -> None:
    function, one, two = getattr(xl, name), xl.asarray(_values(dtype)), xl.asarray(_values(other))
    two = two[:3]
    try:
        expected = xl.eval(function(one[1:], two))
    except TypeError:
        with pytest.raises(TypeError):
            function(one[1], two[0])
        return
    for _ in range(ROUNDS // 3):
        for k in range(3):
            assert _is_same(function(one[k + 1], two[k]), expected[k])


@together("number", [2, 2.0, 3, 0.5, -1, 5, 1.5, 1 << 60, True])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("name", ["pow", "add", "maximum", "arctan2", "hypot", "divide", "less"])
def test_beside_a_python_number(name: str, dtype: str, number: float) -> None:
    """The value of a number may decide what is computed, as of ``x ** 2``."""
    edges = [-2.5, -np.inf] if dtype[:5] == "float" else [-2]
    function, array = getattr(xl, name), xl.asarray([*_values(dtype)[:3], *edges], dtype)
    try:
        expected = xl.eval(function(array, number))
    except (TypeError, ValueError) as error:
        for _ in range(3):
            with pytest.raises(type(error)):
                function(array[0], number)
        return
    for _ in range(ROUNDS // 3):
        function(array[0], 1.75 if dtype != "int64" else 2)
        for k in range(array.size):
            assert _is_same(function(array[k], number), expected[k])


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", ["exp", "sqrt", "isnan", "log", "floor"])
def test_what_is_known_is_not_planned(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, v = getattr(xl, name), xl.asarray([0.3, 4.0])
    for _ in range(ROUNDS):
        expected = [function(x).item() for x in v]
    monkeypatch.setattr(scalar_arithmetic, "_computed", None)
    assert [function(x).item() for x in v] == expected


@together("name", UNARY)
def test_of_a_python_number(name: str) -> None:
    function = getattr(xl, name)
    for number in (2.5, -0.0, 0.75):
        try:
            expected = xl.eval(function(xl.asarray([number])))[0]
        except TypeError:
            with pytest.raises(TypeError):
                function(number)
            continue
        for _ in range(ROUNDS // 3):
            assert _is_same(function(number), expected)


SPECIAL = [0.0, -0.0, 1.0, -2.5, 7.25, np.inf, -np.inf, np.nan, 1e308, 5e-324, 1e16, -3.0]


@together("other", [*SPECIAL, 0, 1, 2, 3, -1, 0.5, -7])
@pytest.mark.parametrize(
    "operate",
    [
        lambda a, b: a // b,
        lambda a, b: b // a,
        lambda a, b: a % b,
        lambda a, b: b % a,
        lambda a, b: divmod(a, b)[0],
        lambda a, b: a**b,
        xl.power,
        lambda a, b: xl.clip(a, b, 3.0),
    ],
)
def test_values_have_the_bits_of_arrays(operate: Any, other: Any) -> None:
    """By Python's floats where it has the same, and by kernels of no dimensions."""
    for value in SPECIAL:
        array = xl.asarray([value])
        expected = xl.eval(operate(array, other))
        others = [other, xl.asarray([other])[0]] if isinstance(other, float) else [other]
        for _ in range(2):  # the second time by what the first one has learned
            for one in others:
                made = operate(array[0], one)
                assert_same_bits(np.asarray(made).reshape(1), expected)


@together("dtype", ["int8", "uint8", "int64", "uint64", "float32", "float16"])
def test_powers_of_values_have_the_bits_of_powers_of_arrays(dtype: str) -> None:
    exponents: list[Any] = [0, 1, 2, 7, 127, 128, 200, -1, 0.5, 2.0, 1e39, np.inf]
    for value in (0, 3, 100):
        array = xl.asarray([value], dtype=dtype)
        for other in [*exponents, np.int8(3), np.float64(2)]:
            for power in (lambda a, b: a**b, lambda a, b: b**a):
                try:
                    expected = xl.eval(power(array, other))
                except (OverflowError, ValueError) as error:  # the dtype has no such exponent
                    with pytest.raises(type(error)):
                        power(array[0], other)
                    continue
                made = power(array[0], other)
                assert_same_bits(np.asarray(made).reshape(1), expected)


@together("name", ["sqrt", "abs", "square", "isnan", "isinf", "isfinite", "exp"])
def test_functions_of_values_have_the_bits_of_arrays(name: str) -> None:
    function = getattr(xl, name)
    for value in SPECIAL:
        array = xl.asarray([value])
        for one in (array[0], value, np.float64(value), array[0], value):
            made = function(one)
            assert_same_bits(np.asarray(made).reshape(1), xl.eval(function(array)))
            assert isinstance(made, type(function(array[0])))
