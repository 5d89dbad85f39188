"""Rows of the table of functions that NumPy computes: statistics, curves, parts, bits, windows."""

from __future__ import annotations

from .row import Row

_Q = (
    "axis: int | tuple | None = None, out: container | None = None, overwrite_input: bool = False, "
    "method: str = 'linear', keepdims: bool = False, *, weights: array | None = None"
)
ROWS: tuple[Row, ...] = (
    # --- statistics ---
    Row(
        "histogram(a: array, bins: int | array | str = 10, range: tuple | None = None, "
        "density: bool | None = None, weights: array | None = None)",
        "Return how many elements lie in each bin, and the bins' edges.",
        "tuple of XArray",
        "xl.histogram([1, 2, 1], bins=[0, 1, 2, 3])",
        "(XArray([0, 2, 1]), XArray([0, 1, 2, 3]))",
    ),
    Row(
        "histogram_bin_edges(a: array, bins: int | array | str = 10, "
        "range: tuple | None = None, weights: array | None = None)",
        "Return the edges of the bins of `histogram`.",
        "XArray",
        "xl.histogram_bin_edges([0, 4], bins=2)",
        "XArray([0., 2., 4.])",
    ),
    Row(
        "histogram2d(x: array, y: array, bins: int | array | list = 10, "
        "range: tuple | None = None, density: bool | None = None, weights: array | None = None)",
        "Return how many points lie in each bin of a grid, and its edges.",
        "tuple of XArray: counts, edges along ``x`` and along ``y``",
        "xl.histogram2d([0, 1, 1], [0, 1, 1], bins=2)[0]",
        "XArray([[1., 0.],\n        [0., 2.]])",
    ),
    Row(
        "histogramdd(sample: arrays, bins: int | array | list = 10, range: tuple | None = None, "
        "density: bool | None = None, weights: array | None = None)",
        "Return how many points lie in each bin of a grid of any rank, and its edges.",
        "XArray and a tuple of XArray",
        "xl.histogramdd(xl.asarray([[0, 0], [1, 1], [1, 1]]), bins=2)[0]",
        "XArray([[1., 0.],\n        [0., 2.]])",
    ),
    Row(
        "median(a: array, axis: int | tuple | None = None, out: container | None = None, "
        "overwrite_input: bool = False, keepdims: bool = False)",
        "Return the median: the middle element, or the mean of both.",
        "XArray",
        "xl.median([3, 1, 2, 10])",
        "XScalar(2.5)",
    ),
    Row(
        "nanmedian(a: array, axis: int | tuple | None = None, out: container | None = None, "
        "overwrite_input: bool = False, keepdims: bool = False)",
        "Return the median of the elements that are not NaN.",
        "XArray",
        "xl.nanmedian([3, xl.nan, 2, 10])",
        "XScalar(3.0)",
    ),
    Row(
        f"percentile(a: array, q: array, {_Q})",
        "Return the elements below which given percentages lie.",
        "XArray; one row for each of several percentages",
        "xl.percentile([0, 1, 2, 3, 4], [25, 50])",
        "XArray([1., 2.])",
    ),
    Row(
        f"nanpercentile(a: array, q: array, {_Q})",
        "Return `percentile` of the elements that are not NaN.",
        "XArray; one row for each of several percentages",
        "xl.nanpercentile([0, 1, xl.nan, 2], 50)",
        "XScalar(1.0)",
    ),
    Row(
        f"quantile(a: array, q: array, {_Q})",
        "Return the elements below which given shares lie.",
        "XArray; one row for each of several shares",
        "xl.quantile([0, 1, 2, 3, 4], 0.75)",
        "XScalar(3.0)",
    ),
    Row(
        f"nanquantile(a: array, q: array, {_Q})",
        "Return `quantile` of the elements that are not NaN.",
        "XArray; one row for each of several shares",
        "xl.nanquantile([0, 1, xl.nan, 2], 0.5)",
        "XScalar(1.0)",
    ),
    Row(
        "cov(m: array, y: array | None = None, rowvar: bool = True, bias: bool = False, "
        "ddof: int | None = None, fweights: array | None = None, "
        "aweights: array | None = None, *, dtype: dtype | None = None)",
        "Return the covariance matrix of variables.",
        "XArray",
        "xl.cov([[0.0, 2.0], [2.0, 0.0]])",
        "XArray([[ 2., -2.],\n        [-2.,  2.]])",
    ),
    Row(
        "corrcoef(x: array, y: array | None = None, rowvar: bool = True, *, "
        "dtype: dtype | None = None)",
        "Return the correlation coefficients of variables.",
        "XArray",
        "xl.corrcoef([[0.0, 2.0], [2.0, 0.0]])",
        "XArray([[ 1., -1.],\n        [-1.,  1.]])",
    ),
    Row(
        "cumsum(a: array, /, axis: int | None = None, dtype: dtype | None = None, "
        "out: container | None = None)",
        "Return running sums, of the flattened array unless an axis is given.",
        "XArray",
        "xl.cumsum([1, 2, 3])",
        "XArray([1, 3, 6])",
    ),
    Row(
        "cumprod(a: array, /, axis: int | None = None, dtype: dtype | None = None, "
        "out: container | None = None)",
        "Return running products, of the flattened array unless an axis is given.",
        "XArray",
        "xl.cumprod([1, 2, 3])",
        "XArray([1, 2, 6])",
    ),
    Row(
        "nancumsum(a: array, axis: int | None = None, dtype: dtype | None = None, "
        "out: container | None = None)",
        "Return running sums in which NaN count as 0.",
        "XArray",
        "xl.nancumsum([1, xl.nan, 3])",
        "XArray([1., 1., 4.])",
    ),
    Row(
        "nancumprod(a: array, axis: int | None = None, dtype: dtype | None = None, "
        "out: container | None = None)",
        "Return running products in which NaN count as 1.",
        "XArray",
        "xl.nancumprod([2, xl.nan, 3])",
        "XArray([2., 2., 6.])",
    ),
    # --- signals and curves ---
    Row(
        "convolve(a: array, v: array, /, mode: str = 'full')",
        "Return the convolution of two vectors.",
        "XArray",
        "xl.convolve([1, 2], [1, 1, 1])",
        "XArray([1, 3, 3, 2])",
    ),
    Row(
        "correlate(a: array, v: array, /, mode: str = 'valid')",
        "Return the correlation of two vectors.",
        "XArray",
        "xl.correlate([1, 2, 3], [1, 1])",
        "XArray([3, 5])",
    ),
    Row(
        "interp(x: array, xp: array, fp: array, left: float | None = None, "
        "right: float | None = None, period: float | None = None)",
        "Return values between known points, on straight lines.",
        "XArray",
        "xl.interp([0.5, 2.0], [0, 1], [0, 10])",
        "XArray([ 5., 10.])",
    ),
    Row(
        "gradient(f: array, *varargs: array, axis: int | tuple | None = None, edge_order: int = 1)",
        "Return the derivatives along dimensions by central differences.",
        "XArray, or a tuple with one for each dimension",
        "xl.gradient([1.0, 2.0, 4.0])",
        "XArray([1. , 1.5, 2. ])",
    ),
    Row(
        "ediff1d(ary: array, to_end: array | None = None, to_begin: array | None = None)",
        "Return the differences of neighbours in the flattened array.",
        "XArray",
        "xl.ediff1d([1, 2, 4], to_end=9)",
        "XArray([1, 2, 9])",
    ),
    Row(
        "trapezoid(y: array, x: array | None = None, dx: float = 1.0, axis: int = -1)",
        "Return the area under points that are joined by straight lines.",
        "XArray",
        "xl.trapezoid([1, 2, 3])",
        "XScalar(4.0)",
    ),
    Row(
        "unwrap(p: array, discont: float | None = None, axis: int = -1, *, "
        "period: float = 6.283185307179586)",
        "Return angles without jumps of whole turns.",
        "XArray",
        "xl.unwrap([0.0, 6.0], period=6.0)",
        "XArray([0., 0.])",
    ),
    Row(
        "polyfit(x: array, y: array, deg: int, rcond: float | None = None, full: bool = False, "
        "w: array | None = None, cov: bool | str = False)",
        "Return the polynomial with the least sum of squares.",
        "XArray, or a tuple with what else is asked for",
        "xl.round(xl.polyfit([0, 1, 2], [1, 3, 5], 1), 6).tolist()",
        "[2.0, 1.0]",
    ),
    Row(
        "polyval(p: array, x: array)",
        "Return the values of a polynomial.",
        "XArray",
        "xl.polyval([1, 0, 2], [1, 2])",
        "XArray([3, 6])",
    ),
    Row(
        "polyadd(a1: array, a2: array)",
        "Return the sum of two polynomials.",
        "XArray",
        "xl.polyadd([1, 2], [1])",
        "XArray([1, 3])",
    ),
    Row(
        "polysub(a1: array, a2: array)",
        "Return the difference of two polynomials.",
        "XArray",
        "xl.polysub([1, 2], [1])",
        "XArray([1, 1])",
    ),
    Row(
        "polymul(a1: array, a2: array)",
        "Return the product of two polynomials.",
        "XArray",
        "xl.polymul([1, 2], [1, 0])",
        "XArray([1, 2, 0])",
    ),
    Row(
        "polydiv(u: array, v: array)",
        "Return quotient and remainder of two polynomials.",
        "tuple of XArray",
        "xl.polydiv([1.0, 2.0], [1.0])",
        "(XArray([1., 2.]), XArray([0.]))",
    ),
    Row(
        "polyder(p: array, m: int = 1)",
        "Return a derivative of a polynomial.",
        "XArray",
        "xl.polyder([1, 2, 3])",
        "XArray([2, 2])",
    ),
    Row(
        "polyint(p: array, m: int = 1, k: array | None = None)",
        "Return an antiderivative of a polynomial.",
        "XArray",
        "xl.polyint([2, 2])",
        "XArray([1., 2., 0.])",
    ),
    Row(
        "roots(p: array)",
        "Return the roots of a polynomial.",
        "XArray",
        "xl.roots([1, -3, 2])",
        "XArray([2., 1.])",
    ),
    Row(
        "poly(seq_of_zeros: array)",
        "Return the polynomial with given roots.",
        "XArray",
        "xl.poly([1, 2])",
        "XArray([ 1., -3.,  2.])",
    ),
    # --- parts of arrays ---
    Row(
        "delete(arr: array, obj: array | slice, axis: int | None = None)",
        "Return an array without some slices along an axis.",
        "XArray",
        "xl.delete([1, 2, 3], 1)",
        "XArray([1, 3])",
    ),
    Row(
        "insert(arr: array, obj: array | slice, values: array, axis: int | None = None)",
        "Return an array with something inserted before positions.",
        "XArray",
        "xl.insert([1, 3], 1, 2)",
        "XArray([1, 2, 3])",
    ),
    Row(
        "resize(a: array, new_shape: int | tuple)",
        "Return an array of another size, filled with as many repetitions as needed.",
        "XArray",
        "xl.resize([1, 2], 5)",
        "XArray([1, 2, 1, 2, 1])",
    ),
    Row(
        "trim_zeros(filt: array, trim: str = 'fb')",
        "Return a vector without the zeros at its ends.",
        "XArray",
        "xl.trim_zeros([0, 1, 0, 2, 0])",
        "XArray([1, 0, 2])",
    ),
    # --- integers and bits ---
    Row(
        "gcd(x1: array, x2: array, /)",
        "Return the greatest common divisors.",
        "XArray",
        "xl.gcd([12, 9], 6)",
        "XArray([6, 3])",
    ),
    Row(
        "matvec(x1: array, x2: array, /)",
        "Return the products of matrices and vectors; other dimensions are broadcast.",
        "XArray",
        "xl.matvec([[1, 2], [3, 4]], [1, 1])",
        "XArray([3, 7])",
    ),
    Row(
        "vecmat(x1: array, x2: array, /)",
        "Return the products of vectors, conjugated, and matrices; as `matvec`.",
        "XArray",
        "xl.vecmat([1, 1], [[1, 2], [3, 4]])",
        "XArray([4, 6])",
    ),
    Row(
        "lcm(x1: array, x2: array, /)",
        "Return the least common multiples.",
        "XArray",
        "xl.lcm([4, 3], 6)",
        "XArray([12,  6])",
    ),
    Row(
        "bitwise_count(x: array, /)",
        "Return the number of bits that are set.",
        "XArray of uint8",
        "xl.bitwise_count([7, 8])",
        "XArray([3, 1], dtype=uint8)",
    ),
    Row(
        "packbits(a: array, /, axis: int | None = None, bitorder: str = 'big')",
        "Return bytes made of eight truth values each.",
        "XArray of uint8",
        "xl.packbits([1, 0, 0, 0, 0, 0, 0, 1])",
        "XArray([129], dtype=uint8)",
    ),
    Row(
        "unpackbits(a: array, /, axis: int | None = None, count: int | None = None, "
        "bitorder: str = 'big')",
        "Return the bits of bytes.",
        "XArray of uint8",
        "xl.unpackbits(xl.asarray([129], dtype='u1')).tolist()",
        "[1, 0, 0, 0, 0, 0, 0, 1]",
    ),
    # --- floats ---
    Row(
        "frexp(x: array, /)",
        "Return mantissas in [0.5, 1) and exponents of two.",
        "tuple of XArray",
        "xl.frexp([8.0])",
        "(XArray([0.5]), XArray([4], dtype=int32))",
    ),
    Row(
        "ldexp(x1: array, x2: array, /)",
        "Return ``x1 * 2**x2``.",
        "XArray",
        "xl.ldexp([0.5], 4)",
        "XArray([8.])",
    ),
    Row(
        "logaddexp2(x1: array, x2: array, /)",
        "Return ``log2(2**x1 + 2**x2)``.",
        "XArray",
        "xl.logaddexp2([1.0], [1.0])",
        "XArray([2.])",
    ),
    Row(
        "spacing(x: array, /)",
        "Return the distance to the next number away from zero.",
        "XArray",
        "xl.spacing([1.0])",
        "XArray([2.22044605e-16])",
    ),
    Row(
        "i0(x: array)",
        "Return the modified Bessel function of the first kind and order 0.",
        "XArray",
        "xl.i0([0.0])",
        "XArray([1.])",
    ),
    Row(
        "real_if_close(a: array, tol: float = 100)",
        "Return the real parts, if all imaginary parts are negligible, else the array.",
        "XArray",
        "xl.real_if_close([2.0 + 0j])",
        "XArray([2.])",
    ),
    # --- windows ---
    *[
        Row(
            f"{name}(M: int)",
            f"Return the {title} window.",
            "XArray of float64",
            f"xl.{name}(1)",
            "XArray([1.])",
        )
        for name, title in (
            ("bartlett", "Bartlett"),
            ("blackman", "Blackman"),
            ("hamming", "Hamming"),
            ("hanning", "Hann"),
        )
    ],
    Row(
        "kaiser(M: int, beta: float)",
        "Return the Kaiser window.",
        "XArray of float64",
        "xl.kaiser(1, 14)",
        "XArray([1.])",
    ),
)
