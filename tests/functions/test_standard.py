"""The array API standard 2025.12: every name, its parameters, and the values of special cases.

The signatures stand in ``tests/conformance/array_api_2025_12.txt``; where array-api-strict is
installed, the list is compared with it.  What functions compute is tested against NumPy in
`test_calls`.
"""

from __future__ import annotations

import inspect
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

LIST = Path(__file__).parent.parent / "conformance" / "array_api_2025_12.txt"
SIGNATURES = LIST.read_text().splitlines()
DTYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128
"""
METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__ __dlpack_device__
__eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __index__ __int__ __invert__ __le__
__lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __rshift__
__setitem__ __sub__ __truediv__ __xor__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__
__ipow__ __imod__ __imatmul__ __iand__ __ior__ __ixor__ __ilshift__ __irshift__ __radd__ __rsub__
__rmul__ __rtruediv__ __rfloordiv__ __rpow__ __rmod__ __rmatmul__ __rand__ __ror__ __rxor__
__rlshift__ __rrshift__ to_device dtype device mT ndim shape size T
"""


def signature_of(text: str) -> inspect.Signature:
    """The signature that a line writes as Python does."""
    space: dict[str, Any] = {}
    exec(f"from __future__ import annotations\ndef {text}: ...", space)
    return inspect.signature(space["f"])


def found(name: str) -> Any:
    value: Any = xl
    for part in name.split("."):
        value = getattr(value, part)
    return value


@pytest.mark.once
@together("line", SIGNATURES)
def test_signature(line: str) -> None:
    """Positional parameters in the standard's order, keywords by their names and defaults."""
    name, _, rest = line.partition("(")
    wanted = list(signature_of(f"f({rest}").parameters.values())
    ours = inspect.signature(found(name)).parameters
    mine = list(ours.values())
    for place, parameter in enumerate(wanted):
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            own = mine[place]
            assert own.kind is not own.KEYWORD_ONLY
            assert parameter.kind is not parameter.VAR_POSITIONAL or own.kind is own.VAR_POSITIONAL
        else:
            own = ours[parameter.name]
            by_keyword = parameter.kind is parameter.KEYWORD_ONLY
            assert own.kind in (own.POSITIONAL_OR_KEYWORD, own.KEYWORD_ONLY)
            assert by_keyword or (own is mine[place] and own.kind is own.POSITIONAL_OR_KEYWORD)
        if parameter.default not in (parameter.empty, None):
            assert own.default == parameter.default or parameter.name == "correction", own


def test_the_list_is_the_standards() -> None:
    strict = pytest.importorskip("array_api_strict")
    listed = {line.partition("(")[0] for line in SIGNATURES}
    for space, prefix in ((strict, ""), (strict.linalg, "linalg."), (strict.fft, "fft.")):
        for name in space.__all__:
            value = getattr(space, name)
            if not inspect.isfunction(value) or "strict_flags" in name:
                continue
            assert f"{prefix}{name}" in listed


def test_dtypes_constants_and_methods() -> None:
    for name in DTYPES.split():
        assert getattr(xl, name) == np.dtype(name if name != "bool" else "?")
    assert (xl.e, xl.pi, xl.inf, xl.newaxis) == (np.e, np.pi, np.inf, None)
    assert np.isnan(xl.nan)
    for array in (xl.ones((2, 2)), xl.ones((2, 2)) + 1):
        missing = [name for name in METHODS.split() if not hasattr(array, name)]
        lazy = type(array) is xl.XExpression
        assert [name for name in missing if not (lazy and name.startswith("__i"))] == []


def test_the_namespace_is_found_by_its_entry_point() -> None:
    points = [p for p in entry_points(group="array_api") if p.name == "xarraylite"]
    if not points:
        pytest.skip("the installed metadata is older than the entry point")
    assert points[0].load() is xl


def test_inspection() -> None:
    info = xl.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"] is True
    assert info.capabilities()["data-dependent shapes"] is True
    assert set(info.dtypes()) == set(DTYPES.split())
    assert info.dtypes(kind="bool") == {"bool": xl.bool}


BINARY = """
add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide
equal floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or
logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract
"""
UNARY = """
abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite
isinf isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit
sin sinh sqrt square tan tanh trunc all any sum prod mean std var min max argmin argmax
count_nonzero sort argsort cumulative_sum cumulative_prod diff tril flip unique_values
"""


def plain(dtype: Any) -> str:
    return str(np.dtype(getattr(dtype, "_np_dtype", dtype)))


@pytest.mark.once
def test_dtypes_of_results_are_the_standards() -> None:
    """Wherever array-api-strict has an answer: for pairs of dtypes, and Python's numbers."""
    strict = pytest.importorskip("array_api_strict")
    ours = {name: xl.ones(3, dtype=name) for name in DTYPES.split()}
    theirs = {name: strict.ones(3, dtype=getattr(strict, name)) for name in ours}
    numbers = {"True": True, "2": 2, "2.5": 2.5, "1j": 1j}
    wrong = []
    for name in [*BINARY.split(), *UNARY.split()]:
        others = [*ours, *numbers] if name in BINARY.split() else [None]
        for one in ours:
            for other in others:
                second = [] if other is None else [numbers.get(other, theirs.get(other))]
                try:
                    with np.errstate(all="ignore"):
                        wanted = plain(getattr(strict, name)(theirs[one], *second).dtype)
                except (TypeError, ValueError, OverflowError):
                    continue  # left open by the standard
                mine = [] if other is None else [numbers.get(other, ours.get(other))]
                made = str(getattr(xl, name)(ours[one], *mine).dtype)
                if made != wanted:
                    wrong.append((name, one, other, made, wanted))
    assert wrong == []


INF, NAN = float("inf"), float("nan")

#: Name, arguments, result: where the standard's answer is not NumPy's, or easily got wrong.
CASES: list[tuple[str, tuple[float, ...], float]] = [
    ("floor_divide", (INF, 2.0), INF),
    ("floor_divide", (INF, -2.0), -INF),
    ("floor_divide", (-INF, 2.0), -INF),
    ("floor_divide", (-INF, -2.0), INF),
    ("floor_divide", (2.0, INF), 0.0),
    ("floor_divide", (2.0, -INF), -0.0),
    ("floor_divide", (-2.0, INF), -0.0),
    ("floor_divide", (-2.0, -INF), 0.0),
    ("floor_divide", (INF, INF), NAN),
    ("floor_divide", (0.0, 0.0), NAN),
    ("floor_divide", (-0.0, 3.0), -0.0),
    ("floor_divide", (0.0, -3.0), -0.0),
    ("floor_divide", (5.0, -0.0), -INF),
    ("remainder", (2.0, INF), 2.0),
    ("remainder", (2.0, -INF), -INF),
    ("remainder", (-2.0, INF), INF),
    ("remainder", (INF, 2.0), NAN),
    ("remainder", (-0.0, 3.0), 0.0),
    ("remainder", (0.0, -3.0), -0.0),
    ("pow", (NAN, 0.0), 1.0),
    ("pow", (NAN, -0.0), 1.0),
    ("pow", (2.0, NAN), NAN),
    ("pow", (-1.0, INF), 1.0),
    ("pow", (-1.0, -INF), 1.0),
    ("pow", (0.5, -INF), INF),
    ("pow", (-INF, 3.0), -INF),
    ("pow", (-INF, -3.0), -0.0),
    ("pow", (-0.0, -3.0), -INF),
    ("pow", (-0.0, 2.0), 0.0),
    ("pow", (-8.0, 0.5), NAN),
    ("hypot", (INF, NAN), INF),
    ("hypot", (NAN, 1.0), NAN),
    ("copysign", (2.0, -0.0), -2.0),
    ("nextafter", (-0.0, 0.0), 0.0),
    ("nextafter", (0.0, -0.0), -0.0),
    ("maximum", (NAN, 1.0), NAN),
    ("minimum", (1.0, NAN), NAN),
    ("atan2", (-0.0, -0.0), -np.pi),
    ("atan2", (INF, -INF), 3 * np.pi / 4),
    ("logaddexp", (NAN, 1.0), NAN),
    ("sign", (-0.0,), 0.0),
    ("round", (-0.5,), -0.0),
    ("round", (2.5,), 2.0),
    ("ceil", (-0.5,), -0.0),
    ("trunc", (-0.5,), -0.0),
    ("sqrt", (-0.0,), -0.0),
    ("log1p", (-1.0,), -INF),
    ("expm1", (-INF,), -1.0),
    ("tanh", (-INF,), -1.0),
    ("asinh", (-0.0,), -0.0),
    ("acosh", (0.5,), NAN),
    ("atanh", (-1.0,), -INF),
    ("reciprocal", (-0.0,), -INF),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@together(("name", "args", "expected"), CASES)
def test_special_case(name: str, args: tuple[float, ...], expected: float, dtype: str) -> None:
    arrays = [xl.full((3,), value, dtype=dtype) for value in args]
    made = np.asarray(getattr(xl, name)(*arrays))
    wanted = np.full(3, expected, dtype)
    if not np.isnan(expected):
        np.testing.assert_array_equal(np.signbit(made), np.signbit(wanted))
    np.testing.assert_allclose(made, wanted, rtol=1e-6)


#: Name, argument, result: complex special values that NumPy does not have.
COMPLEX_CASES: list[tuple[str, complex, complex]] = [
    *[
        ("tanh", complex(a, b), complex(np.copysign(1.0, a), np.copysign(0.0, b)))
        for a in (INF, -INF)
        for b in (0.0, -0.0, 1.0, 2.0, -2.0, 1e10)
    ],
    *[
        ("tan", complex(a, b), complex(np.copysign(0.0, a), np.copysign(1.0, b)))
        for a in (0.0, -0.0, 1.0, 2.0, -2.0, 1e10)
        for b in (INF, -INF)
    ],
    *[
        ("sign", complex(a, b), complex(NAN, NAN))
        for a, b in ((INF, NAN), (-INF, NAN), (NAN, INF), (NAN, -INF), (NAN, 1.0), (1.0, NAN))
    ],
    ("expm1", complex(INF, 0.0), complex(INF, 0.0)),
    ("expm1", complex(INF, -0.0), complex(INF, -0.0)),
    ("expm1", complex(800.0, 0.0), complex(INF, 0.0)),
    ("expm1", complex(INF, 2.0), complex(-INF, INF)),
    ("expm1", complex(-INF, 2.0), complex(-1.0, 0.0)),
    ("expm1", complex(-INF, -2.0), complex(-1.0, -0.0)),
    ("expm1", complex(NAN, 0.0), complex(NAN, 0.0)),
    ("expm1", complex(NAN, -0.0), complex(NAN, -0.0)),
    ("expm1", complex(NAN, 1.0), complex(NAN, NAN)),
    ("expm1", complex(1.0, INF), complex(NAN, NAN)),
    ("expm1", complex(-0.0, 0.0), complex(-0.0, 0.0)),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@together(("name", "value", "wanted"), COMPLEX_CASES)
def test_complex_special_case(name: str, value: complex, wanted: complex, dtype: str) -> None:
    function = getattr(xl, name)
    for made in (function(xl.asarray(value, dtype=dtype)), function(xl.full(9, value, dtype))[8]):
        for part, other in ((complex(made).real, wanted.real), (complex(made).imag, wanted.imag)):
            np.testing.assert_equal(part, other)
            assert np.isnan(other) or np.signbit(part) == np.signbit(other)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_special_cases_with_open_signs(dtype: str) -> None:
    for b in (INF, -INF, NAN):
        made = complex(xl.expm1(xl.asarray(complex(-INF, b), dtype=dtype)))
        assert made == -1.0
        made = complex(xl.expm1(xl.asarray(complex(INF, b), dtype=dtype)))
        assert np.isinf(made.real)
        assert np.isnan(made.imag)
        assert complex(xl.tanh(xl.asarray(complex(INF, b), dtype=dtype))) == 1.0


@together("value", [False, 1, 2.5, 1j, np.float32(2), [1], (1, 2)])
def test_numbers_and_lists_are_not_used_without_a_copy(value: Any) -> None:
    with pytest.raises(ValueError, match="without a copy"):
        xl.asarray(value, copy=False)


@pytest.mark.parametrize("name", ["any", "all", "sum", "prod", "count_nonzero"])
def test_folds_of_nothing_are_values(name: str) -> None:
    for key in ((), ..., (..., None)):
        made = getattr(xl, name)(xl.zeros((0, 3)))[key]
        wanted = np.asarray(getattr(np, name)(np.zeros((0, 3))))[key]
        assert made.shape == np.shape(wanted)
        assert np.asarray(made) == wanted


@together("mode", ["largest", "smallest"])
@together("axis", [0, 1, -1])
def test_top_k(axis: int, mode: Any) -> None:
    x = np.random.default_rng(3).integers(-9, 9, (5, 7)).astype("f4")
    for k in range(x.shape[axis] + 1):
        values, positions = xl.top_k(xl.asarray(x), k, axis=axis, mode=mode)
        order = np.argsort(-x if mode == "largest" else x, axis, kind="stable")
        np.testing.assert_array_equal(positions, np.take(order, range(k), axis))
        np.testing.assert_array_equal(values, np.take_along_axis(x, np.asarray(positions), axis))
        assert (values.dtype, positions.dtype) == (np.float32, np.int64)
    with pytest.raises(ValueError, match="top_k: k is 9, but axis"):
        xl.top_k(xl.asarray(x), 9, axis=axis)
    with pytest.raises(ValueError, match="top_k: mode"):
        xl.top_k(xl.asarray(x), 1, mode="least")  # type: ignore[arg-type]
    with pytest.raises(np.exceptions.AxisError):
        xl.top_k(xl.asarray(x), 1, axis=2)


@together("dtype", [name for name in DTYPES.split() if "int" in name])
def test_positions_and_counts_have_any_integer_dtype(dtype: str) -> None:
    x, n = xl.asarray([3.0, 1.0, 2.0]), xl.asarray([2, 0, 1], dtype=dtype)
    np.testing.assert_array_equal(xl.repeat(x, n), [3, 3, 2])
    np.testing.assert_array_equal(xl.repeat(x[:0], n[:0]), [])
    for made in (x[n], xl.take(x, n), xl.take_along_axis(x, n)):
        np.testing.assert_array_equal(made, [2, 3, 1])
    np.testing.assert_array_equal(
        xl.searchsorted(x, x, sorter=xl.asarray([1, 2, 0], dtype=dtype)), [2, 0, 1]
    )
