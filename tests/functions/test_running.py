"""Running sums and products of many elements have NumPy's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.dtypes.names import as_dtype
from xarraylite.dtypes.narrow import from_narrow, to_narrow
from xarraylite.functions import arrays_of_numpy, running
from xarraylite.functions.arrays_of_numpy import converted
from xarraylite.testing import assert_same_bits

rng = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a kernel compute what is large enough for a test."""
    monkeypatch.setattr(running, "MANY", 30)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "uint64", "int8"])
def test_many_elements(name: str, dtype: str) -> None:
    values = (rng.normal(1, 0.4, (4, 3, 5)) * 3).astype(dtype)
    if values.dtype.kind in "fc":
        values[1, 0, 2], values[2, 1, 1], values[0, 0, 0] = np.nan, -np.inf, -0.0
    for v in (values, np.asfortranarray(values), values[::-1, :, ::-1], values[:, :0]):
        a = xl.asarray(v)
        axes: list[Any] = [None, 0, 1, -1, np.int64(1)]
        for axis in axes:
            with np.errstate(all="ignore"):
                want = getattr(np, name)(v, axis)
            methods = [] if name.startswith("nan") else [getattr(a, name)(axis)]
            for made in (getattr(xl, name)(a, axis), *methods):
                assert (type(made), made.dtype) == (xl.XArray, want.dtype)
                np.testing.assert_array_equal(np.asarray(made), want)
    assert xl.eval(a).tolist() == v.tolist()
    for bad in (3, -4, 1.5):
        with pytest.raises((xl.AxisError, TypeError, ValueError)):
            getattr(xl, name)(xl.asarray(values), bad)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
@pytest.mark.parametrize("initial", [False, True])
def test_the_standards_names(name: str, initial: bool) -> None:
    for v in (rng.normal(1, 0.4, 90), rng.integers(0, 3, 90, "int8"), rng.random((9, 11)).T):
        for axis in (None, 0, -1)[v.ndim - 1 :]:
            for dtype in (None, "float32"):
                options: Any = {"axis": axis, "dtype": dtype, "include_initial": initial}
                made, want = [getattr(m, name)(v, **options) for m in (xl, np)]
                assert (type(made), made.dtype) == (xl.XArray, want.dtype)
                np.testing.assert_array_equal(np.asarray(made), want)
    with pytest.raises(ValueError, match="axis"):
        getattr(xl, name)(rng.random((9, 9)), include_initial=initial)
    for number in (3, 2.5):
        made, want = [getattr(m, name)(number, include_initial=initial) for m in (xl, np)]
        assert (np.asarray(made).tolist(), made.dtype) == (want.tolist(), want.dtype)


@pytest.mark.parametrize("shape", [60, (60,), (3, 20), (5, 1, 2, 6)])
def test_positions_of_many_dimensions(shape: Any) -> None:
    v = rng.integers(0, 60, (6, 7))
    for order in ("C", "F"):
        for values in (v, v.T, v.astype("int32"), v[:1, :2]):
            want = np.unravel_index(values, shape, order)
            made = xl.unravel_index(xl.asarray(values), shape, order)
            np.testing.assert_array_equal(made, want)
            assert {(type(x), x.dtype) for x in made} == {(xl.XArray, np.dtype("int64"))}
    for bad in (v - 1, v + 1):
        with pytest.raises(ValueError, match=r"unravel_index\(int64\[6, 7\], .*out of bounds"):
            xl.unravel_index(xl.asarray(bad * 60), shape)


def test_options_and_other_memory() -> None:
    v = rng.random((8, 8))
    out = xl.zeros((8, 8))
    assert xl.cumsum(xl.asarray(v), axis=1, out=out) is out
    np.testing.assert_array_equal(out, np.cumsum(v, axis=1))
    made = xl.cumsum(xl.asarray(v), axis=0, dtype="float32")
    np.testing.assert_array_equal(made, np.cumsum(v, axis=0, dtype="float32"))
    np.testing.assert_array_equal(xl.cumsum(xl.asarray(v) * 2), np.cumsum(v * 2))
    first = xl.cumsum(xl.asarray(v))
    first[0] = 7.0  # in memory of its own
    assert float(xl.cumsum(xl.asarray(v))[0]) == v[0, 0]


@pytest.mark.parametrize("n", [16_384, 16_385, 300_000])
def test_what_numpy_computes_is_nobody_elses(n: int) -> None:
    """Large results keep NumPy's memory, but for what is a view of an operand."""
    p = np.arange(float(n))
    a = xl.asarray(p)
    for name, args in (("ediff1d", ()), ("sort_complex", ()), ("unwrap", ())):
        for _ in range(3):
            made = getattr(xl, name)(a, *args)
            wanted = getattr(np, name)(p.copy(), *args)
            assert np.array_equal(made.copy().numpy(), wanted)
            made[...] = -1
            assert np.array_equal(a.copy().numpy(), p)
    k = xl.asarray(np.arange(n))
    for axis in (None, 0):
        assert np.array_equal(xl.cumsum(k, axis).copy().numpy(), np.cumsum(np.arange(n)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e4m3fn", "int4", "uint4"])
def test_many_narrow_values_are_converted_by_a_kernel(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = as_dtype(dtype)
    bits = np.arange(256 if narrow.itemsize == 1 else 1 << 16, dtype=f"u{narrow.itemsize}")
    values = (bits & 15 if dtype.endswith("int4") else bits).view(narrow)
    wide = from_narrow(values)
    between = wide
    if wide.dtype == np.float32:
        with np.errstate(all="ignore"):
            between = wide * np.float32(1.0007)
    for most in (running.MANY, 1 << 20):
        monkeypatch.setattr(arrays_of_numpy, "FEW", most)
        assert_same_bits(converted(values, wide.dtype), wide)
        for x in (wide, between):
            assert_same_bits(converted(x, narrow), to_narrow(x, narrow))


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "nancumsum", "nancumprod"])
def test_float16_is_rounded_once(name: str) -> None:
    few = np.array([1, 2**-11, 2**-11, np.nan, 6e4, 6e4, -np.inf], "f2")
    for values in (few, np.tile(few[:3], (20, 2))):
        for axis in (None, 0, -1):
            with np.errstate(all="ignore"):
                want = getattr(np, name)(values.astype("f4"), axis).astype("f2")
            assert_same_bits(getattr(xl, name)(xl.asarray(values), axis), want)
    assert getattr(xl, name)(xl.asarray(few), dtype="f8").dtype == np.float64
    out = xl.zeros(7, "f2")
    assert getattr(xl, name)(xl.asarray(few), out=out) is out
    assert float(out[1]) == float(getattr(xl, name)(xl.asarray(few))[1])
