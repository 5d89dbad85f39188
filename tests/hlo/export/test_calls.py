"""Functions without nodes as HLO: products, orders, running sums, shares, rows of jagged arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

X = np.array(
    [[3, -1, np.nan, 0.0, -0.0, 2], [1, 1, 1, 0, 5, -7], [np.inf, 2, -np.inf, 4, 4, 0.5]],
    np.float32,
)
PLAIN = np.arange(18, dtype=np.float32).reshape(3, 6) % 7 - 2
FUNCTIONS: list[tuple[str, Callable[[Any], Any]]] = [
    ("sort", xl.sort),
    ("sort", lambda x: xl.sort(x, axis=0, descending=True)),
    ("sort", lambda x: xl.sort(x, axis=None)),
    ("sort", xl.argsort),
    ("sort", lambda x: xl.argsort(x, axis=0, descending=True)),
    ("sort", lambda x: xl.sort(2 * x)[..., ::2] + 1),
    ("sort", xl.median),
    ("sort", lambda x: xl.median(x, axis=1, keepdims=True)),
    ("sort", lambda x: xl.quantile(x, 0.3, axis=0)),
    ("sort", lambda x: xl.quantile(x, [0.0, 0.75, 1.0], axis=(0, 1))),
    ("sort", lambda x: xl.quantile(x, 0.3, axis=np.int64(1))),
    ("sort", lambda x: xl.percentile(x, 20, axis=-1)),
    ("reduce-window", xl.cumsum),
    ("reduce-window", lambda x: xl.cumsum(x, axis=0)),
    ("reduce-window", lambda x: xl.cumprod(x, axis=1)),
    ("reduce-window", lambda x: xl.cumulative_sum(x, axis=1, include_initial=True)),
    ("reduce-window", lambda x: xl.cumulative_prod(x, axis=0, dtype="float64")),
    ("reduce-window", lambda x: xl.nancumsum(xl.where(x > 2, xl.nan, x), axis=1)),
    ("reduce-window", xl.nancumprod),
    ("convolution", lambda x: xl.convolve(x[0], x[1][:4])),
    ("convolution", lambda x: xl.convolve(x[0][:2], x[1], mode="same")),
    ("convolution", lambda x: xl.convolve(x[0], x[1][:3], mode="valid")),
    ("convolution", lambda x: xl.correlate(x[0], x[1][:4], mode="same")),
    ("convolution", lambda x: xl.correlate(x[0][:3], x[1], mode="full")),
    ("convolution", lambda x: xl.correlate(x[0] * 1j, x[1] + 2j)),
    ("popcnt", lambda x: xl.bitwise_count(xl.astype(x, "int16"))),
    ("popcnt", lambda x: xl.bitwise_count(xl.astype(x + 2, "uint8"))),
    ("compare", lambda x: xl.searchsorted(xl.sort(x[0]), x[1])),
    ("compare", lambda x: xl.searchsorted(xl.sort(x[0]), x, side="right")),
    ("dot", lambda x: x @ x.T),
    ("dot", lambda x: xl.matmul(x[0], x.T) + 1),
    ("dot", lambda x: xl.tensordot(x, x, 2)),
    ("dot", lambda x: xl.einsum("ij,ik,kl->jl", x, x, x.T @ x)),
    ("dot", lambda x: xl.vecdot(x, x[::-1])),
    ("dot", lambda x: xl.linalg.matrix_power(x[:, :3], 5)),
    ("dot", lambda x: xl.matvec(x, x[0]) + xl.vecmat(x[:, 0], x)[:3]),
    ("erf", xl.erf),
    ("cholesky", lambda x: xl.linalg.cholesky(x @ x.T + 40 * xl.eye(3, dtype=x.dtype))),
    ("cholesky", lambda x: xl.linalg.cholesky(x @ x.T + 40 * xl.eye(3, dtype=x.dtype), upper=True)),
    ("sqrt", xl.linalg.norm),
    ("sqrt", lambda x: xl.linalg.norm(x, axis=1, keepdims=True)),
    ("sqrt", lambda x: xl.linalg.norm(x, axis=np.int64(1))),
    ("reduce", lambda x: xl.linalg.norm(x, np.inf)),
    ("reduce", lambda x: xl.linalg.norm(x, 1, axis=0)),
    ("reduce", lambda x: xl.linalg.matrix_norm(x, ord=-1, keepdims=True)),
    ("multiply", lambda x: xl.polyval([2, -1, 3], x)),
    ("reduce", xl.trapezoid),
    ("reduce", lambda x: xl.trapezoid(x, x[0] * 0 + xl.arange(6), axis=1)),
    ("gather", lambda x: x[:, xl.astype(x[0], "int64") % 6 - 6]),
    ("gather", lambda x: xl.take(x, xl.astype(x, "int32") % 3, axis=0)),
    ("gather", lambda x: xl.take(x, xl.astype(xl.sum(x) * 0 + 3, "uint8"))),
    ("gather", lambda x: xl.take_along_axis(x, xl.argsort(x, axis=0)[:2] - 3, axis=0)),
    ("gather", lambda x: xl.take_along_axis(x, xl.astype(x[:1] % 6, "int64"), axis=1)),
    ("gather", lambda x: xl.take_along_axis(x, xl.astype(x[0] + 2, "int64"), axis=None)),
]


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_function(number, dtype, engine):
    if engine == "compiled" and dtype != "float32":
        pytest.skip("the reference engine has it")
    opcode, function = FUNCTIONS[number]
    special = dtype == "float32" and opcode in ("sort", "compare")
    given = xl.asarray(X if special else PLAIN).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = xl.to_hlo(function, given)
        module.verify()
        assert opcode in [i.opcode for i in module.entry]
        again = xl.hlo.parse(module.to_text("short_parsable"))
        got, want = again(given), xl.asarray(function(given))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    left, right = [np.asarray(xl.asarray(part).astype("float64")) for part in (got, want)]
    assert np.allclose(left, right, rtol=1e-2 if dtype == "bfloat16" else 1e-5, equal_nan=True)


TRANSFORMS: list[Callable[[Any], Any]] = [
    xl.fft.fft,
    lambda x: xl.fft.ifft(x, axis=0, norm="ortho"),
    lambda x: xl.fft.fft(x, n=9, norm="forward"),
    lambda x: xl.fft.ifft(x, n=4, norm="forward"),
    lambda x: xl.fft.rfft(xl.real(x), n=5, axis=0),
    xl.fft.irfft,
    lambda x: xl.fft.irfft(x, n=7, norm="forward"),
    lambda x: xl.fft.rfft2(xl.real(x), norm="ortho"),
    lambda x: xl.fft.irfft2(x, s=(3, 9)),
    lambda x: xl.fft.fftn(x, axes=(1, 0)),
    lambda x: xl.fft.ifftn(x, s=(-1, 4)),
    lambda x: xl.fft.rfftn(xl.real(x)),
    lambda x: xl.fft.hfft(x, norm="ortho"),
    lambda x: xl.fft.ihfft(xl.real(x)),
    lambda x: xl.fft.ifftshift(xl.fft.fftshift(x) * xl.fft.fftshift(x, axes=1), axes=0),
    lambda x: xl.fft.irfft(xl.fft.rfft(xl.real(x)) * 2, n=6) + 1,
]


@together("number", range(len(TRANSFORMS)))
@together("dtype", ["complex64", "complex128"])
def test_transform(number, dtype):
    function = TRANSFORMS[number]
    given = xl.asarray((PLAIN + 1j * PLAIN[::-1]).astype(dtype))
    module = xl.to_hlo(function, given)
    module.verify()
    got, want = xl.hlo.parse(module.to_text("short_parsable"))(given), xl.asarray(function(given))
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert np.allclose(got, want, rtol=1e-5, atol=1e-5)


def test_transforms_of_integers_and_narrow_floats():
    for dtype, want in (("int32", "complex128"), ("bfloat16", "complex64")):
        given = xl.asarray(PLAIN).astype(dtype)
        module = xl.to_hlo(xl.fft.fft, xl.asarray(given))
        assert module.entry.root.shape.dtype == want
        assert np.allclose(module(xl.asarray(given)), np.fft.fft(PLAIN), atol=1e-4)


WRITTEN_AS_COMPUTED: list[Callable[[Any], Any]] = [
    xl.fft.rfft,
    xl.fft.ihfft,
    xl.fft.rfft2,
    xl.fft.rfftn,
    xl.fft.irfft,
    xl.fft.hfft,
    xl.fft.irfftn,
    *[
        lambda x, name=name, axes=axes: getattr(xl.fft, name)(x, axes=axes)
        for name in ("fftn", "rfftn", "irfft2", "rfft2")
        for axes in ((0, 0), ())
    ],
    lambda x: xl.fft.irfftn(x, s=(3, -1)),
    lambda x: xl.fft.rfftn(x, s=(3, 2), axes=(0,)),
    lambda x: xl.fft.rfftn(x, axes=1),
    *[
        lambda x, name=name, n=n: getattr(xl.fft, name)(x, n=n)
        for name in ("fft", "irfft", "rfft", "ihfft")
        for n in (True, 2.5, "a", 0)
    ],
    lambda x: xl.fft.fft(x, norm=[1]),
    lambda x: xl.fft.fftshift(x, axes=np.int64(1)),
    lambda x: xl.fft.ifftshift(x, axes=1.5),
]


@together("number", range(len(WRITTEN_AS_COMPUTED)))
@pytest.mark.parametrize("dtype", ["float32", "complex64", "float16", "bfloat16"])
def test_transforms_become_and_refuse_what_computed_ones_do(number, dtype):
    function = WRITTEN_AS_COMPUTED[number]
    given = xl.asarray(PLAIN[:, :5] / 8).astype(dtype)
    refused = None
    try:
        want = xl.asarray(function(given))
    except (ValueError, TypeError, IndexError) as error:
        refused = type(error)
    if refused:
        with pytest.raises(refused) as found:
            xl.to_hlo(function, given)
        assert found.type is refused
        return
    got = xl.to_hlo(function, given)(given)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    left, right = [np.asarray(xl.asarray(part).astype("complex128")) for part in (got, want)]
    assert np.allclose(left, right, rtol=1e-2 if "16" in dtype else 1e-5, atol=1e-3)


def test_labelled_expressions():
    a, b = xl.asarray(PLAIN), xl.asarray(PLAIN.T.copy())
    module = xl.to_hlo(a["i,j"] * b["j,k"] * 2, labels="k,i")
    assert [i.opcode for i in module.walk("dot", "transpose")] == ["dot", "transpose"]
    assert np.array_equal(module(a, b), 2 * (PLAIN @ PLAIN.T).T)
    with pytest.raises(xl.ShapeError, match="needs the labels of the result"):
        xl.to_hlo(a["i,j"] * b["j,k"])
    traced = xl.to_hlo(lambda x, y: x["i,j"] * y["j,i"], a, b, labels="i")
    assert np.array_equal(traced(a, b), (PLAIN @ PLAIN.T).diagonal())


def test_products_of_booleans():
    a = np.array([[True, False], [True, True]])
    module = xl.to_hlo(lambda x: x @ x, a)
    assert np.array_equal(module(a), a @ a)


@pytest.mark.parametrize("name", ["sum", "max", "prod"])
def test_rows_of_jagged_arrays(name):
    rows = xl.XJagged([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]])
    expression = getattr(xl, name)(rows * 2, axis=1)
    module = xl.to_hlo(expression)
    module.verify()
    assert "scatter" in [i.opcode for i in module.entry]
    flat = np.arange(1.0, 7.0)
    found = module(*[flat] * len(module.entry.parameters))
    assert np.asarray(found).tolist() == np.asarray(xl.eval(expression)).tolist()


def test_the_median_of_nothing_is_missing():
    for axis in (0, 1):
        module = xl.to_hlo(lambda x, axis=axis: xl.median(x, axis=axis), "f32[0,3]")
        found = np.asarray(module(np.zeros((0, 3), np.float32)))
        assert_same_bits(found, np.full((3, 0)[axis], np.nan, np.float32))


def test_refusals():
    with pytest.raises(xl.HloError, match="no HLO for the order of complex numbers"):
        xl.to_hlo(xl.sort, "c64[3]")
    with pytest.raises(xl.HloError, match="no HLO for the order of complex numbers"):
        xl.to_hlo(xl.median, "c64[3]")
    with pytest.raises(xl.HloError, match="no HLO for cumsum with out"):
        xl.to_hlo(lambda x: xl.cumsum(x, out=xl.zeros(3)), "f64[3]")
    with pytest.raises(ValueError, match="Invalid norm value twice"):
        xl.to_hlo(lambda x: xl.fft.fft(x, norm="twice"), "f64[3]")
    with pytest.raises(ValueError, match="Invalid number of FFT data points"):
        xl.to_hlo(lambda x: xl.fft.rfft(x, n=0), "f64[3]")
    with pytest.raises(xl.HloError, match="linear rule"):
        xl.to_hlo(lambda x: xl.quantile(x, 0.5, method="nearest"), "f64[3]")
    with pytest.raises(xl.AxisError, match="an axis is needed for rank 2"):
        xl.to_hlo(xl.cumulative_sum, "f64[3,2]")
    with pytest.raises(xl.HloError, match="no HLO for unique"):
        xl.to_hlo(xl.unique, "f64[3]")
    with pytest.raises(xl.HloError, match="no HLO for svd"):
        xl.to_hlo(xl.linalg.svd, "f64[3,3]")
    with pytest.raises(xl.HloError, match="no HLO for the norm 2 along 2 dimensions"):
        xl.to_hlo(lambda x: xl.linalg.norm(x, 2), "f64[3,3]")
    with pytest.raises(xl.HloError, match="no HLO for the inverse of a matrix"):
        xl.to_hlo(lambda x: xl.linalg.matrix_power(x, -1), "f64[3,3]")
    with pytest.raises(xl.HloError, match="needs integers of as many, got int32 of 1"):
        xl.to_hlo(lambda x, k: xl.take_along_axis(x, k, axis=0), "f64[3,3]", "s32[3]")


def test_positions_that_are_arguments_are_gathered_by_xla():
    module = xl.to_hlo(lambda x, k: x[k] * 2, "f32[4,2]", "s32[3]")
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    # Negative ones count from the end; others that are outside mean the nearest.
    found = module(x, np.array([-1, 0, 9], np.int32))
    assert found.tolist() == (2 * x[[3, 0, 3]]).tolist()


def test_what_is_not_traced_is_called():
    table = xl.asarray([3.0, 1.0, 2.0])
    module = xl.to_hlo(lambda x: x + xl.sort(table), "f64[3]")
    assert "sort" not in [i.opcode for i in module.entry]
    assert module(np.zeros(3)).tolist() == [1, 2, 3]


def test_algebra_of_truths_of_nothing_and_of_what_is_not_finite():
    """Dtypes and values are those that the functions have outside of a module."""
    infinite = np.array([[np.inf, 1.0], [np.nan, 2.0]])
    truths = np.array([[True, False], [True, True]])
    cases = [
        (lambda x: xl.linalg.matrix_power(x, 0), (infinite, truths)),
        (lambda x: xl.polyval(x[0], x), (truths,)),
        (lambda x: xl.vecmat(x[0], x), (truths,)),
        (lambda x: xl.linalg.norm(x, np.inf, axis=0), (np.zeros((0, 2)),)),
        (lambda x: xl.linalg.matrix_norm(x, ord=np.inf), (np.zeros((0, 2)),)),
        (lambda x: xl.take_along_axis(x, xl.argsort(x, axis=1), axis=1), (np.zeros((0, 2)),)),
    ]
    cases += [(lambda x: x[xl.astype(x[0], "int64")][xl.astype(x[0, :0], "int64")], (truths,))]
    cases += [(lambda x: x[xl.astype(x[:, 0], "int64")], (np.zeros((0, 2)),))]
    for function, arrays in cases:
        for x in arrays:
            module = xl.to_hlo(function, f"{'pred' if x.dtype == bool else 'f64'}{[*x.shape]}")
            found, want = module(x), xl.eval(function(xl.asarray(x)))
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found, want)
