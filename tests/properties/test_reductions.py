"""Reductions: NumPy's dtypes and values, better sums, the same bits for any number of threads."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties.oracle import reduce as reference
from xarraylite.compiler import steps
from xarraylite.dtypes.names import is_narrow_float, kind
from xarraylite.testing import assert_same_bits, assert_ulp, count_allocations
from xarraylite.testing import strategies as xst

Array = np.ndarray[Any, np.dtype[Any]]

INTEGERS = [np.dtype(t) for t in ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
FLOATS = [np.dtype(t) for t in ("f2", "f4", "f8")]
BF16 = np.dtype(ml_dtypes.bfloat16)
THRESHOLDS = (1, 2, 127, 128, 129, 1023, 1024, 1025, 2047, 2049, 131071, 131072, 131073, 262145)


@st.composite
def reductions(draw: st.DrawFn) -> tuple[str, xst.Sample, Any, bool]:
    """Draw a reduction with one right answer, and its operand in some layout."""
    name = draw(st.sampled_from(("sum", "prod", "min", "max", "any", "all", "count_nonzero")))
    counts = name in ("sum", "prod")
    dtype = draw(st.one_of(st.sampled_from(INTEGERS), xst.dtypes("biu" if counts else "biuf")))
    shape = draw(xst.shapes(max_dims=4, max_size=6000))
    operand = draw(xst.samples(shape, dtype))
    axes = [k for k in range(len(shape)) if draw(st.booleans())]
    axis = draw(st.sampled_from((None, tuple(axes), tuple([k - len(shape) for k in axes]))))
    return name, operand, axis, draw(st.booleans())


@given(reductions())
@settings(max_examples=70)
def test_like_numpy(drawn: tuple[str, xst.Sample, Any, bool]) -> None:
    name, operand, axis, keepdims = drawn
    array = operand.array
    chosen = range(array.ndim) if axis is None else axis
    if name in ("min", "max") and any(array.shape[k] == 0 for k in chosen):
        with pytest.raises(xl.ShapeError, match=f"{name}.*no elements.*no identity"):
            getattr(xl, name)(operand.operand, axis=axis, keepdims=keepdims)
        return
    ours = getattr(xl, name)(operand.operand, axis=axis, keepdims=keepdims)
    expected = reference(name, array, axis, keepdims)
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    if name in ("min", "max"):
        assert_ulp(ours, expected, 0)  # which of two zeros is the smaller is not decided
    else:
        assert_same_bits(ours, expected)
    assert operand.unchanged()


@st.composite
def searches(draw: st.DrawFn) -> tuple[str, xst.Sample, int | None, bool]:
    name = draw(st.sampled_from(("argmin", "argmax")))
    shape = draw(xst.shapes(max_dims=3, max_size=3000).filter(lambda s: 0 not in s))
    dtype = np.dtype(draw(st.sampled_from(("f8", "i4", "u1", "f2", BF16))))
    operand = draw(xst.samples(shape, dtype))
    axis = draw(st.sampled_from((None, *range(-len(shape), len(shape)))))
    return name, operand, axis, draw(st.booleans())


@given(searches())
@settings(max_examples=20)
def test_positions_like_numpy(drawn: tuple[str, xst.Sample, int | None, bool]) -> None:
    name, operand, axis, keepdims = drawn
    ours = getattr(xl, name)(operand.operand, axis=axis, keepdims=keepdims)
    assert_same_bits(ours, reference(name, operand.array, axis, keepdims))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", THRESHOLDS)
def test_sizes_around_thresholds(size: int, threads: int) -> None:
    """Whole numbers below 2**53: every order of additions gives the same sum."""
    values = np.arange(size, dtype=np.float64) % 1021
    with xl.config(threads=threads):
        a = xl.asarray(values)
        assert float(xl.sum(a)) == values.sum()
        assert float(xl.sum(a[::-1] * 2 - a)) == values.sum()
        assert int(xl.argmax(a)) == int(values.argmax())
        assert float(xl.max(a)) == values.max()
        assert int(xl.count_nonzero(a > 5)) == np.count_nonzero(values > 5)


SHAPES = ((3, 1 << 17), (1 << 17, 3), (700, 900), (2, 300_001), (300_001, 2), (4, 5, 40_000))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_threads_never_change_a_bit(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(0).normal(size=shape)
    a = xl.asarray(values)
    for axis in (None, 0, -1, tuple(range(len(shape) - 1))):
        found = []
        for threads in (1, 2, 3):
            with xl.config(threads=threads):
                found.append(np.array(xl.eval(xl.sum(a * a + a, axis=axis))))
        assert_same_bits(found[1], found[0])
        assert_same_bits(found[2], found[0])
        np.testing.assert_allclose(found[0], (values * values + values).sum(axis=axis), rtol=1e-9)


def _spread(rng: np.random.Generator, size: int) -> Array:
    return rng.normal(size=size) * 10.0 ** rng.integers(-6, 7, size)


def _alternating(rng: np.random.Generator, size: int) -> Array:
    return rng.random(size) * np.where(np.arange(size) % 2, 1.0, -1.0)


@settings(max_examples=5)
@example([2, 1, 0], [130, 9, 70], (2,), "f8", "sum", 0)
@given(
    st.permutations(range(3)),
    st.lists(st.sampled_from([2, 9, 70, 130]), min_size=3, max_size=3),
    st.sampled_from([(0,), (1,), (2,), (0, 2)]),
    st.sampled_from(["f4", "f8"]),
    st.sampled_from(["sum", "prod", "std"]),
    st.integers(0, 3),
)
def test_the_destination_does_not_count(
    order: list[int], shape: list[int], axes: tuple[int, ...], code: str, name: str, what: int
) -> None:
    """The order of additions follows from what is folded: its operands, and where they lie."""
    rng = np.random.default_rng(7)
    turned = xl.permute_dims(xl.asarray(rng.normal(1, 0.1, size=shape).astype(code)), order)
    other = xl.asarray(rng.normal(1, 0.1, size=turned.shape).astype(code))
    body = (turned, turned + 1, turned * other, turned[::-1, 1:] * 2)[what]
    e = getattr(xl, name)(body, axis=axes)
    found = xl.eval(e)
    assert_same_bits(
        xl.eval(xl.reshape(getattr(xl, name)(body, axis=axes, keepdims=True), e.shape)), found
    )
    tiles = "{1,0:T(2,3)}" if e.ndim == 2 else "{0:T(4)}"
    to = xl.empty(e.shape, dtype=e.dtype, layout=tiles if what % 2 else "column_major")
    to[...] = e
    assert_same_bits(to, found)
    wide = xl.zeros((2 * e.shape[0], *e.shape[1:]), dtype=e.dtype)
    wide[::-2] = e
    assert_same_bits(wide[::-2], found)


DATA: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "uniform": lambda rng, size: rng.random(size),
    "tenths": lambda rng, size: np.full(size, 0.1) * (1 + (rng.random(size) < 0.01)),
    "spread": _spread,
    "alternating": _alternating,
}


@together("code", ["f4", "f8"])
@together("data", DATA)
def test_sums_are_at_least_as_accurate_as_numpys(data: str, code: str) -> None:
    """Root mean square errors over many sums; which of two single ones is better is luck."""
    ratios = []
    for size, count in ((1000, 60), (2000, 60), (20_000, 30), (131_073, 15)):
        rng = np.random.default_rng(3)
        ours = theirs = 0.0
        for _ in range(count):
            values = DATA[data](rng, size).astype(code)
            exact = math.fsum(values.tolist())
            ours += (float(xl.sum(xl.asarray(values))) - exact) ** 2
            theirs += (float(values.sum()) - exact) ** 2
        ratios.append(math.sqrt(ours / theirs))
    assert max(ratios) <= 1.3
    assert sum(ratios) / len(ratios) <= 1.03  # the luck of so few


@pytest.mark.parametrize("code", ["f4", "f8"])
def test_short_folds_have_numpys_bits(code: str) -> None:
    """Which programs print."""
    rng = np.random.default_rng(5)
    for size in (1, 2, 3, 7, 8, 9, 15, 33, 100, 128, 129, 200, 248):
        values = rng.normal(size=(2, size)).astype(code)
        a, row = xl.asarray(values), xl.asarray(values[0])
        for name in ("sum", "prod", "mean", "var"):
            assert_same_bits(getattr(a, name)(1), getattr(values, name)(1))
            assert_same_bits(getattr(row, name)(), getattr(values[0], name)())


@together("code", ["f4", "f8"])
@together("size", [1, 10, 1000, 1025, 50_000, 400_000])
def test_error_bound_of_sums(size: int, code: str) -> None:
    """Pairwise in blocks of 1024, compensated from there on: ten roundings and a bit."""
    values = _spread(np.random.default_rng(size), size).astype(code)
    exact, total = math.fsum(values.tolist()), math.fsum(np.abs(values).tolist())
    for operand in (values, values[::-1].copy(), np.repeat(values, 2)[::2].copy()):
        error = abs(float(xl.sum(xl.asarray(operand))) - exact)
        assert error <= 14 * float(np.finfo(code).eps) / 2 * total


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_rows_and_columns_are_at_least_as_accurate(axis: int) -> None:
    values = np.random.default_rng(4).random((3000, 300)).astype("f4")
    exact = values.astype("f8").sum(axis=axis)
    ours = np.asarray(xl.sum(xl.asarray(values), axis=axis)) - exact
    theirs = values.sum(axis=axis) - exact
    assert np.square(ours).sum() <= np.square(theirs).sum()


def test_a_million_tenths() -> None:
    values = np.full(1_000_000, 0.1, "f4")
    assert abs(float(xl.sum(xl.asarray(values))) - 1e6 * float(np.float32(0.1))) < 0.01


@together("dtype", [*FLOATS, BF16], ids=str)
@together("name", ["mean", "var", "std"])
def test_moments(name: str, dtype: np.dtype[Any]) -> None:
    """Within a few units of the moment of the same numbers in float64."""
    values = np.random.default_rng(5).normal(3, 2, (7, 501)).astype(dtype)
    for axis in (None, 0, 1):
        ours = getattr(xl, name)(xl.asarray(values), axis=axis)
        exact = getattr(np, name)(values.astype("f8"), axis=axis)
        assert ours.dtype == dtype
        bound = 1 if is_narrow_float(dtype) else 8
        assert_ulp(ours, np.asarray(exact).astype(dtype), bound)


@together("dtype", INTEGERS, ids=str)
def test_moments_of_integers(dtype: np.dtype[Any]) -> None:
    values = xst.fill(dtype, (5, 40), 6)
    for name in ("mean", "var", "std"):
        ours, theirs = getattr(xl, name)(xl.asarray(values)), getattr(np, name)(values)
        assert ours.dtype == theirs.dtype == np.float64
        np.testing.assert_allclose(float(ours), theirs, rtol=1e-13)


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_complex(code: str) -> None:
    rng = np.random.default_rng(7)
    values = (rng.normal(size=(6, 50)) + 1j * rng.normal(size=(6, 50))).astype(code)
    for name in ("sum", "mean", "var", "std", "prod"):
        ours = np.asarray(getattr(xl, name)(xl.asarray(values), axis=1))
        theirs = getattr(np, name)(values, axis=1)
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-5 if code == "c8" else 1e-13)


def test_correction() -> None:
    values = np.random.default_rng(8).normal(size=(4, 9))
    for correction in (0, 1, 2.5):
        ours = xl.var(xl.asarray(values), axis=1, correction=correction)
        np.testing.assert_allclose(
            np.asarray(ours), values.var(axis=1, ddof=correction), rtol=1e-14
        )
    assert np.isinf(float(xl.var(xl.asarray([1.0, 3.0]), correction=2)))


def test_narrow_floats_accumulate_in_float32() -> None:
    ones = xl.ones(1000, dtype="bfloat16")
    assert (float(xl.sum(ones)), float(xl.mean(ones))) == (1000.0, 1.0)
    assert float(xl.sum(xl.ones(5000, dtype="float16") * 0.1)) == float(
        np.float16(5000 * float(np.float16(0.1)))
    )
    e = xl.sum(xl.ones(300, dtype="float8_e4m3fn"))
    assert (str(e.dtype), float(e)) == ("float8_e4m3fn", 288.0)


def test_dtype_and_initial() -> None:
    values = np.arange(10, dtype="u1")
    a = xl.asarray(values)
    for code in ("f4", "i2", "f8", "c16"):
        ours, theirs = xl.sum(a, dtype=code), values.sum(dtype=code)
        assert_same_bits(ours, theirs)
    assert int(xl.sum(a, initial=5)) == 50
    assert int(xl.prod(a[1:4], initial=10)) == 60
    assert int(xl.max(a, initial=99)) == 99
    assert int(xl.min(a[:0], initial=7)) == 7
    assert xl.eval(xl.max(xl.zeros((2, 0)), axis=1, initial=-1.0)).tolist() == [-1, -1]
    assert float(xl.sum(xl.asarray([0.5]), initial=0.25)) == 0.75


def test_of_nothing() -> None:
    empty = xl.zeros((0, 3))
    assert xl.eval(xl.sum(empty, axis=0)).tolist() == [0, 0, 0]
    assert xl.eval(xl.prod(empty, axis=0)).tolist() == [1, 1, 1]
    assert xl.eval(xl.sum(empty, axis=1)).shape == (0,)
    assert np.isnan(np.asarray(xl.mean(empty, axis=0))).all()
    assert xl.eval(xl.max(empty, axis=1)).shape == (0,)
    assert not bool(xl.any(empty))
    assert bool(xl.all(empty))
    for name in ("argmin", "argmax"):
        with pytest.raises(xl.ShapeError, match=f"{name}.*float64"):
            getattr(xl, name)(empty)


def test_sums_of_negative_zeros_are_numpys() -> None:
    for shape in ((2,), (1,), (3000,), (4, 100)):
        values = np.full(shape, -0.0)
        for axis in (None, 0, -1):
            assert_same_bits(xl.sum(xl.asarray(values), axis=axis), values.sum(axis=axis))


def test_nan_wins() -> None:
    values = np.arange(5000.0)
    values[[4000, 4100]] = np.nan
    a = xl.asarray(values)
    assert np.isnan(float(xl.max(a)))
    assert np.isnan(float(xl.min(a)))
    assert np.isnan(float(xl.sum(a)))
    assert int(xl.argmax(a)) == int(xl.argmin(a)) == 4000
    assert bool(xl.any(a != a))
    assert np.isnan(float(xl.max(xl.asarray([np.nan, np.inf]))))


def test_the_first_of_equals_is_found() -> None:
    values = np.tile(np.array([1, 5, 2, 5, 0, 0]), 1000)
    a = xl.asarray(values)
    assert (int(xl.argmax(a)), int(xl.argmin(a))) == (1, 4)
    assert xl.eval(xl.argmax(xl.reshape(a, (-1, 6)), axis=1)).tolist() == [1] * 1000


def test_axes() -> None:
    """The rules of the array API; xtensor also refuses descending axes."""
    a = xl.ones((5, 5, 5, 5))
    assert xl.sum(a, axis=(0, 1), keepdims=True).shape == (1, 1, 5, 5)
    assert xl.sum(a, keepdims=True).shape == (1, 1, 1, 1)
    assert xl.sum(a, axis=-1).shape == (5, 5, 5)
    assert xl.array_equal(xl.sum(a, axis=()), a)
    assert xl.sum(a, axis=(2, 0)).shape == (5, 5)
    for wrong in ((0, 0), (0, 4), 4, -5, (1, -3), 1.5):
        with pytest.raises(xl.AxisError, match="sum"):
            xl.sum(a, axis=wrong)


def test_xtensor_facts() -> None:
    z = xl.zeros((0, 1))
    assert xl.eval(xl.sum(z, axis=0, keepdims=True)).tolist() == [[0]]
    assert xl.sum(z, axis=1).shape == (0,)
    ones = xl.ones((1, 2, 0, 1))
    assert np.isnan(float(xl.mean(ones)))
    assert np.isnan(np.asarray(xl.mean(ones, axis=2))).tolist() == [[[True], [True]]]
    assert xl.eval(xl.mean(ones, axis=1)).shape == (1, 0, 1)
    assert int(xl.sum(xl.ones(1000, dtype="uint8"))) == 1000
    assert int(xl.prod(xl.full(34, 2))) == 2**34
    assert float(xl.mean(xl.asarray([1, 2], dtype="uint8"))) == 1.5
    a, w = xl.asarray([[3.0, 4, 2, 1], [1, 1, 3, 2]]), xl.asarray([[3.0], [9.0]])
    average = xl.sum(a * w, axis=0) / xl.sum(w)
    assert xl.eval(average).tolist() == [1.5, 1.75, 2.75, 1.75]


def test_a_reduction_inside_an_expression_is_evaluated_once(engine: str) -> None:
    values = np.random.default_rng(9).random((300, 200))
    a = xl.asarray(values)
    top = xl.max(a, axis=1, keepdims=True)
    e = xl.exp(a - top) / xl.sum(xl.exp(a - top), axis=1, keepdims=True)
    shifted = np.exp(values - values.max(axis=1, keepdims=True))
    np.testing.assert_allclose(
        np.asarray(e), shifted / shifted.sum(axis=1, keepdims=True), rtol=1e-14
    )
    if engine == "compiled":
        with count_allocations() as count:
            xl.eval(e)
        assert count.temporaries == 2
        assert count.bytes <= a.nbytes + 2 * 300 * 8


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("shape", [(5000,), (300_001,), (9, 20_000)])
def test_sums_do_not_depend_on_what_their_values_cost(
    shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks and parts follow from shapes: values in memory are added as those on the way."""
    monkeypatch.setattr(steps, "LONG_RESULT", 1 << 14)
    a = xl.asarray(np.random.default_rng(2).standard_normal(shape))
    for costly in (xl.exp(a * 3) / (a * a + 1), xl.astype(a * 9, "float32") * 2 + 1):
        values = xl.eval(costly)
        for fold in (xl.sum, xl.var):
            assert_same_bits(fold(costly, axis=-1), np.asarray(xl.eval(fold(values, axis=-1))))


def test_into_its_own_operand() -> None:
    rng = random.Random(1)
    for _ in range(30):
        values = np.random.default_rng(rng.randrange(99)).random((6, 7))
        a, expected = xl.asarray(values), values.copy()
        axis = rng.randrange(2)
        a[...] = a / xl.sum(a, axis=axis, keepdims=True)
        expected[...] = expected / expected.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(np.asarray(a), expected, rtol=1e-14)
        a[0] = xl.sum(a, axis=0)
        expected[0] = expected.sum(axis=0)
        np.testing.assert_allclose(np.asarray(a), expected, rtol=1e-14)
        a[:, 0] -= xl.max(a[:, ::-1], axis=1)
        expected[:, 0] -= expected[:, ::-1].max(axis=1)
        np.testing.assert_allclose(np.asarray(a), expected, rtol=1e-13)


@together("name", ["sum", "min", "max", "mean", "argmax", "any"])
def test_kinds(name: str) -> None:
    """Which kinds each reduction takes."""
    a = xl.asarray([1 + 1j, 2 - 1j])
    assert kind(getattr(xl, name)(a).dtype) in "cbi"
