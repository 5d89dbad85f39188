"""Scalar bodies: complex numbers.

Each body serves complex64 and complex128.  Products and quotients (by Smith's scaling) are written
operation by operation as NumPy has them, the fused multiply-add of its products included where the
CPU has one.

Complex numbers are ordered by their real parts, then by their imaginary parts.  A number is NaN
if either part is.

References: R. L. Smith, "Algorithm 116: complex division", CACM 5 (1962).
"""

from __future__ import annotations

from typing import Any

from ...dtypes.bits import muladd
from .floats import isfinite_f, isinf_f, rint_f
from .power import hypot_f32, hypot_f64


def multiply_c(a: Any, b: Any) -> Any:
    """a * b, fused as NumPy's loops are: a component is one product added to another, rounded."""
    real = muladd(a.real, b.real, -(a.imag * b.imag))
    return complex(real, muladd(a.real, b.imag, a.imag * b.real))


def divide_c(a: Any, b: Any) -> Any:
    """a / b: both scaled by the larger part of b; by a zero, the parts divided by +0.0."""
    large = abs(b.real) >= abs(b.imag)
    ratio = b.imag / b.real if large else b.real / b.imag
    one = type(ratio)(1)
    scale = one / (b.real + b.imag * ratio if large else b.imag + b.real * ratio)
    real = (a.real + a.imag * ratio if large else a.real * ratio + a.imag) * scale
    imag = (a.imag - a.real * ratio if large else a.imag * ratio - a.real) * scale
    zero = (b.real == 0) & (b.imag == 0)
    size = abs(b.real)
    return complex(a.real / size if zero else real, a.imag / size if zero else imag)


def reciprocal_c(a: Any) -> Any:
    """1 / a, scaled by the larger part of a."""
    large = abs(a.imag) <= abs(a.real)
    ratio = a.imag / a.real if large else a.real / a.imag
    one = type(ratio)(1)
    size = a.real + a.imag * ratio if large else a.real * ratio + a.imag
    return complex(one / size if large else ratio / size, -ratio / size if large else -one / size)


def absolute_c64(a: Any) -> Any:
    """|a|."""
    return hypot_f32(a.real, a.imag)


def absolute_c128(a: Any) -> Any:
    """|a|."""
    return hypot_f64(a.real, a.imag)


def tame_c(a: Any) -> Any:
    """a, or a / 4 where |a| may overflow: both have one direction."""
    quarter = type(a.real)(0.25)
    four = type(a.real)(4)
    near = isfinite_f(a.real * four) & isfinite_f(a.imag * four)
    return complex(a.real if near else a.real * quarter, a.imag if near else a.imag * quarter)


def sign_c(a: Any, size: Any) -> Any:
    """a / |a|, `size` being |a|; 0 for 0 and NaN where a part is NaN.

    With one infinite part the direction is that part's; with two it is not known.
    """
    one = type(size)(1)
    zero = one - one
    far = isinf_f(size)
    real = sign_of_infinity(a.real) if far else (zero if size == 0 else a.real / size)
    imag = sign_of_infinity(a.imag) if far else (zero if size == 0 else a.imag / size)
    unknown = isnan_c(a) | (far & (abs(a.real) == abs(a.imag)))
    missing = (size - size) / (size - size) if unknown else one
    return complex(real * missing, imag * missing)


def sign_of_infinity(x: Any) -> Any:
    """-1 or 1 for an infinity, 0 for everything else."""
    one = type(x)(1)
    return (one if x > 0 else -one) if isinf_f(x) else one - one


def isnan_c(a: Any) -> Any:
    """Either part is NaN."""
    return (a.real != a.real) | (a.imag != a.imag)


def isinf_c(a: Any) -> Any:
    """Either part is infinite, even if the other is NaN."""
    return isinf_f(a.real) | isinf_f(a.imag)


def isfinite_c(a: Any) -> Any:
    """Both parts are finite."""
    return isfinite_f(a.real) & isfinite_f(a.imag)


def less_c(a: Any, b: Any) -> Any:
    """Order by real parts, then by imaginary parts; False with a NaN part in either."""
    known = (a.imag == a.imag) & (b.imag == b.imag)
    return ((a.real < b.real) & known) | ((a.real == b.real) & (a.imag < b.imag))


def less_equal_c(a: Any, b: Any) -> Any:
    """Order by real parts, then by imaginary parts; False with a NaN part in either."""
    known = (a.imag == a.imag) & (b.imag == b.imag)
    return ((a.real < b.real) & known) | ((a.real == b.real) & (a.imag <= b.imag))


def maximum_c(a: Any, b: Any) -> Any:
    """The greater, or the first NaN."""
    return a if isnan_c(a) | less_equal_c(b, a) else b


def minimum_c(a: Any, b: Any) -> Any:
    """The smaller, or the first NaN."""
    return a if isnan_c(a) | less_equal_c(a, b) else b


def fmax_c(a: Any, b: Any) -> Any:
    """The greater; the other one if one is NaN."""
    return a if isnan_c(b) | less_equal_c(b, a) else b


def fmin_c(a: Any, b: Any) -> Any:
    """The smaller; the other one if one is NaN."""
    return a if isnan_c(b) | less_equal_c(a, b) else b


def before_c(a: Any, b: Any) -> Any:
    """Order by real parts, then by imaginary parts, whose NaNs do not matter before."""
    return a.imag < b.imag if a.real == b.real else a.real < b.real


def clip_c(x: Any, low: Any, high: Any) -> Any:
    """min(max(x, low), high), x itself where it equals a bound; NaN if x is NaN."""
    x = x if isnan_c(x) | before_c(low, x) | (x == low) else low
    return x if isnan_c(x) | before_c(x, high) | (x == high) else high


def rint_c(a: Any) -> Any:
    """Both parts to the nearest integer, halves to even."""
    return complex(rint_f(a.real), rint_f(a.imag))


def conj_c(a: Any) -> Any:
    """The imaginary part's sign changed."""
    return complex(a.real, -a.imag)


def negative_c(a: Any) -> Any:
    """Both signs changed."""
    return complex(-a.real, -a.imag)
