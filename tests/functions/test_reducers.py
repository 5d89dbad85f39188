"""The reducer functions' interfaces; their values are in tests/properties/test_reductions.py."""

from __future__ import annotations

import inspect
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

NAMES = (
    "sum",
    "prod",
    "mean",
    "var",
    "std",
    "min",
    "max",
    "any",
    "all",
    "count_nonzero",
    "argmin",
    "argmax",
)
VALUES = np.array([[3.0, -1.0, 2.0], [0.0, 5.0, -1.0]])


@together("name", NAMES)
def test_everything_is_lazy(name: str) -> None:
    e = getattr(xl, name)(xl.asarray(VALUES), axis=1)
    assert type(e) is xl.XExpression
    assert e.shape == (2,)
    assert "lazy" in repr(e)


@together("name", NAMES)
def test_operands(name: str) -> None:
    """Containers, views, expressions, NumPy arrays and numbers alike."""
    function, expected = getattr(xl, name), getattr(np, name)(VALUES, axis=0)
    for operand in (xl.asarray(VALUES), xl.asarray(VALUES.T).T, xl.asarray(VALUES) * 1, VALUES):
        result = np.asarray(function(operand, axis=0))
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, rtol=1e-15)
    np.testing.assert_allclose(float(function(2.0)), float(getattr(np, name)(2.0)))


@together("name", NAMES)
@together("keepdims", [False, True])
def test_shapes(name: str, keepdims: bool) -> None:
    a = xl.ones((2, 3, 4))
    axes: list[Any] = [None, 0, -1]
    if not name.startswith("arg"):
        axes += [(0, 2), (1,), (), (2, 1, 0)]
    for axis in axes:
        ours = getattr(xl, name)(a, axis=axis, keepdims=keepdims)
        theirs = np.sum(np.ones((2, 3, 4)), axis=axis, keepdims=keepdims)
        assert ours.shape == theirs.shape == xl.eval(ours).shape


@together("name", NAMES)
def test_pages(name: str) -> None:
    function = getattr(xl, name)
    assert function.__name__ == name
    assert f"xl.{name}(" in function.__doc__
    parameters = inspect.signature(function).parameters
    assert list(parameters)[:2] == ["a", "axis"]
    assert parameters["keepdims"].default is False


def test_axis_of_argmin_is_one() -> None:
    for name in ("argmin", "argmax"):
        with pytest.raises(xl.AxisError, match=name):
            getattr(xl, name)(xl.asarray(VALUES), axis=(0, 1))


@together(
    ("code", "sum_", "mean"),
    [
        ("?", "int64", "float64"),
        ("i1", "int64", "float64"),
        ("u2", "uint64", "float64"),
        ("i8", "int64", "float64"),
        ("f2", "float16", "float16"),
        ("f4", "float32", "float32"),
        ("c8", "complex64", "complex64"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("int4", "int64", "float64"),
        ("uint2", "uint64", "float64"),
    ],
)
def test_dtypes(code: str, sum_: str, mean: str) -> None:
    a = xl.ones(3, dtype=code)
    assert str(xl.sum(a).dtype) == str(xl.prod(a).dtype) == sum_
    assert str(xl.mean(a).dtype) == mean
    assert str(xl.var(a).dtype) == str(xl.std(a).dtype) == {"complex64": "float32"}.get(mean, mean)
    assert str(xl.any(a).dtype) == str(xl.all(a).dtype) == "bool"
    assert str(xl.count_nonzero(a).dtype) == "int64"
    if code != "c8":
        assert xl.max(a).dtype == xl.min(a).dtype == a.dtype
        assert str(xl.argmax(a).dtype) == "int64"


@pytest.mark.parametrize("dtype", ["float32", "int16", "complex128", "bfloat16", "bool"])
def test_dtype_argument(dtype: str) -> None:
    a = xl.asarray([1, 2, 3])
    for name in ("sum", "prod"):
        assert str(getattr(xl, name)(a, dtype=dtype).dtype) == dtype
    if dtype in ("float32", "complex128"):
        assert str(xl.mean(a, dtype=dtype).dtype) == dtype
        assert_same_bits(xl.mean(a, dtype=dtype), np.mean([1, 2, 3], dtype=dtype))


def test_initial() -> None:
    a = xl.asarray(VALUES)
    assert_same_bits(xl.sum(a, axis=0, initial=1.5), VALUES.sum(axis=0, initial=1.5))
    assert_same_bits(xl.max(a, axis=0, initial=2), VALUES.max(axis=0, initial=2))
    assert_same_bits(xl.min(a[:0], axis=0, initial=9), VALUES[:0].min(axis=0, initial=9))
    assert xl.max(a[:0], axis=0, keepdims=True, initial=0).shape == (1, 3)
    with pytest.raises(OverflowError):
        xl.max(xl.asarray([1], dtype="uint8"), initial=300)


def test_truth_of_not_a_number() -> None:
    a = xl.asarray([np.nan, 0.0])
    assert bool(xl.any(a))
    assert not bool(xl.all(a))
    assert int(xl.count_nonzero(a)) == 1


def test_many_truth_values_end_where_one_decides() -> None:
    """More are one launch than other folds have in one part."""
    n = 1_000_003
    for place in (0, 1 << 17, (1 << 18) - 1, 1 << 18, n - 1, None):
        for name, neutral in (("any", False), ("all", True)):
            v = np.full(n, neutral)
            if place is not None:
                v[place] = not neutral
            a = xl.asarray(v)
            for _ in range(3):
                made = xl.eval(getattr(xl, name)(a))
                assert (made.dtype, bool(made)) == (v.dtype, neutral is (place is None))


def test_nested() -> None:
    a = xl.asarray(VALUES)
    assert float(xl.max(xl.sum(a, axis=1))) == 4.0
    assert float(xl.sum(xl.max(a, axis=0) - xl.min(a, axis=0))) == 12.0
    assert xl.eval(xl.argmax(xl.sum(a, axis=0))).tolist() == 1
    assert abs(float(xl.mean(a - xl.mean(a)))) < 1e-15


@together("code", ["?", "i4", "f8", "bfloat16"])
@together("axis", [None, 0, 1])
@together("initial", [None, True, False])
def test_sums_and_products_of_truth(code: str, axis: int | None, initial: bool | None) -> None:
    """As in NumPy, elements are converted first; ``+`` is their or, ``*`` their and."""
    values = np.array([[0, 1, 2], [0, 0, 0], [3, 1, 1]])
    given = {} if initial is None else {"initial": initial}
    for name in ("sum", "prod"):
        for part in (values, values[:0], values[:, :0]):
            ours = getattr(xl, name)(xl.asarray(part, dtype=code), axis=axis, dtype=bool, **given)
            theirs = getattr(np, name)(part, axis=axis, dtype=bool, **given)
            assert_same_bits(ours, np.asarray(theirs))


@together("n", [1, 4095, 4096, 4097, 300_000])
@together("place", [0, -1, None])
def test_truth_is_decided_wherever_it_is(n: int, place: int | None) -> None:
    """Folds of truth end with the block that decides them."""
    for name, value in (("any", True), ("all", False)):
        a = np.full(n, not value)
        if place is not None:
            a[place] = value
        fold = getattr(xl, name)
        assert bool(fold(xl.asarray(a))) is bool(getattr(np, name)(a))
        assert bool(fold(xl.asarray(a.astype(float)) > 0.5)) is bool(getattr(np, name)(a))
        rows = np.broadcast_to(a, (3, n))
        assert_same_bits(fold(xl.asarray(rows), axis=1), getattr(np, name)(rows, axis=1))
        assert_same_bits(fold(xl.asarray(rows.T), axis=0), getattr(np, name)(rows.T, axis=0))


@pytest.mark.parametrize("shape", [(1,), (33,), (1003,), (64, 129), (300, 7), (3, 4, 5)])
def test_extremes_of_what_is_not_nan(shape: tuple[int, ...]) -> None:
    """Also where there is nothing else, of vectors longer and shorter than the machine's."""
    rng = np.random.default_rng(len(shape))
    dtypes = [("f8", "f4"), ("f4", "f2"), ("f2", "f8")][sum(shape) % 3]
    for missing, dtype in itertools.product((0.0, 0.5, 0.97, 1.0), dtypes):
        x = rng.normal(size=shape).astype(dtype)
        x[rng.random(shape) < missing] = np.nan
        for name in ("nanmax", "nanmin"):
            for axis in (None, *range(len(shape))):
                ours = getattr(xl, name)(xl.asarray(x).T, axis=axis)
                theirs = getattr(np, f"f{name[3:]}").reduce(x.T, axis=axis)
                assert_same_bits(ours, theirs)


@together("name", ["nanvar", "nanstd"])
@together("ddof", [1, 2, 3])
def test_the_spread_of_too_few_numbers_is_nan_where_nan_are_left_out(name: str, ddof: int) -> None:
    """`var` of as few is infinite, NumPy's rule for both."""
    x = np.asarray([[1.0, np.nan, 3.0], [np.nan, np.nan, 2.0]])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for values in (x, x + 0j, np.asarray([[1, 2], [3, 5]])):
            wanted = getattr(np, name)(values, axis=1, ddof=ddof)
            made = getattr(xl, name)(xl.asarray(values), axis=1, ddof=ddof)
            np.testing.assert_allclose(np.asarray(made), wanted)


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_reducers_that_leave_out_nan_speak_in_their_own_name(name: str) -> None:
    with pytest.raises(IndexError, match=rf"^{name}: axis 3"):
        getattr(xl, name)(xl.zeros(3), axis=3)
    with pytest.raises(TypeError, match=rf"^{name}: "):
        getattr(xl, name)(xl.zeros(3), dtype=int)


@pytest.mark.parametrize("name", ["max", "min", "nanmax", "nanmin"])
def test_extremes_of_truth(name: str) -> None:
    values = np.arange(12).reshape(3, 4) % 5 > 1
    a, ours, theirs = xl.asarray(values), getattr(xl, name), getattr(np, name)
    for axis in (None, 0, 1, (0, 1)):
        found, wanted = np.asarray(ours(a, axis=axis)), theirs(values, axis=axis)
        assert found.dtype == bool
        np.testing.assert_array_equal(found, wanted)
        given = {"initial": True, "where": values}
        np.testing.assert_array_equal(ours(a, axis=axis, **given), theirs(values, axis, **given))
    with pytest.raises(xl.ShapeError, match=f"{name}.*no identity"):
        ours(a[:0])


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_spread_of_complex_numbers_in_a_real_dtype(name: str, axis: int | None) -> None:
    """The mean is real there, the distances from it are not."""
    z = np.array([[1 + 2j, 3 - 1j, 2], [5j, -1, 0.5]])
    for dtype in ("f4", "f8"):
        made = getattr(xl, name)(xl.asarray(z), axis=axis, dtype=dtype)
        wanted = getattr(np, name)(z, axis=axis, dtype=dtype)
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(made, wanted, rtol=1e-6)


def test_lists_that_are_larger_than_results_may_be_are_folded() -> None:
    with xl.config(max_result_bytes=100):
        assert xl.max([1.0] * 50) == 1.0
        assert xl.sum([1, 2, 3] * 20) == 120
