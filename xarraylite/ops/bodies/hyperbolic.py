"""Hyperbolic functions and their inverses as branch-free scalar bodies.

``sinh`` and ``cosh`` come from ``e = exp(|x|)/2`` (computed halved, so that it overflows where
they do): ``e +- 1/(4e)``; ``sinh`` below 1 is its own minimax polynomial.  ``tanh`` is
``t/(t + 2)`` with ``t = expm1(2|x|)``.  The inverses are logarithms of ``1 + y`` with ``y`` formed
without cancellation and its rounding error carried along:

- ``asinh(x) = log1p(x + x*x/(1 + sqrt(1 + x*x)))``,
- ``acosh(x) = log1p(t + sqrt(t*(t + 2)))`` with ``t = x - 1``,
- ``atanh(x) = log1p(2*x + 2*x*x/(1 - x)) / 2``,

and ``log(2*x)`` where ``x*x`` is no longer felt.  Signs are put back last.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...dtypes.bits import fma
from .exponential import (
    exp_half_f64,
    expm1_f64,
    log1p_short_f64,
    log_edges_f64,
    log_sum_f64,
)
from .exponential_f32 import exp_half_f32, exp_normal_f32

f32 = np.float32

_HUGE = 2.0**28  # beyond: 1 + x*x == x*x in float64


def sinh_f64(x: Any) -> Any:
    """Hyperbolic sine."""
    a = abs(x)
    e = exp_half_f64(a)
    z = a * a
    w = z * z
    p = fma(z, 0.008333333333333139, 0.16666666666666669)
    p = fma(w, fma(z, 2.7557319155398577e-06, 0.00019841269841437464), p)
    q = fma(z, 1.605724094035179e-10, 2.505212338983979e-08)
    p = fma(w * w, fma(w, 7.759296199812441e-13, q), p)
    return math.copysign(fma(a * z, p, a) if a < 1.0 else e - 0.25 / e, x)


def sinh_f32(x: Any) -> Any:
    """Hyperbolic sine."""
    a = abs(x)
    e = exp_half_f32(a)
    z = a * a
    p = fma(
        z, fma(z, fma(z, f32(2.789984e-06), f32(0.00019841666)), f32(0.008333315)), f32(0.16666667)
    )
    return math.copysign(fma(a * z, p, a) if a < f32(1.0) else e - f32(0.25) / e, x)


def cosh_f64(x: Any) -> Any:
    """Hyperbolic cosine."""
    e = exp_half_f64(abs(x))
    return e + 0.25 / e


def cosh_f32(x: Any) -> Any:
    """Hyperbolic cosine."""
    e = exp_half_f32(abs(x))
    return e + f32(0.25) / e


def tanh_f64(x: Any) -> Any:
    """Hyperbolic tangent."""
    a = abs(x)
    t = expm1_f64(2.0 * (22.0 if a > 22.0 else a))
    big = a > 0.5  # there 1 - 2/(t + 2) keeps half an ulp more
    q = (2.0 if big else t) / (t + 2.0)
    return math.copysign(1.0 - q if big else q, x)


def tanh_f32(x: Any) -> Any:
    """Hyperbolic tangent: a polynomial up to 0.55, ``1 - 2/(exp(2|x|) + 1)`` above."""
    a = abs(x)
    e = exp_normal_f32(f32(2.0) * (f32(10.0) if a > f32(10.0) else a))
    z = a * a
    p = fma(z, fma(z, f32(-0.006263359), f32(0.021063004)), f32(-0.05384986))
    p = fma(z, fma(z, p, f32(0.13332558)), f32(-0.33333316))
    y = fma(a * z, p, a) if a < f32(0.55) else f32(1.0) - f32(2.0) / (e + f32(1.0))
    return math.copysign(y, x)


def log_one_plus_f64(big: Any, x: Any, y: Any, e: Any) -> Any:
    """``log(1 + y + e)``, or ``log(2*x)`` if big; ``y >= 0``, e the rounding error of y."""
    u = 1.0 + y
    b = u - 1.0
    c = ((1.0 - (u - b)) + (y - b)) + e
    return log_sum_f64(x if big else u, 0.0 if big else c, 1.0 if big else 0.0)


def asinh_f64(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    a = abs(x)
    z = a * a
    q = z / (1.0 + math.sqrt(1.0 + z))
    y = a + q
    r = log_one_plus_f64(a > _HUGE, a, y, (a - y) + q)
    return math.copysign(r, x) if a < math.inf else x


def asinh_f32(x: Any) -> Any:
    """Inverse hyperbolic sine."""
    # Signs are given to what is rounded.  To float16, LLVM rounds both operands of a copysign, not
    # what it gives: from float64 it would have to call a library.
    b = np.float64(x)
    a = abs(b)
    z = a * a
    r = log1p_short_f64(a + z / (1.0 + math.sqrt(1.0 + z)))
    return math.copysign(np.float32(r), x) if a < math.inf else x


def acosh_f64(x: Any) -> Any:
    """Inverse hyperbolic cosine; NaN below 1."""
    t = x - 1.0
    z = t * t
    w = (t + t) + z
    q = math.sqrt(w)
    # What rounding took from t*(t + 2) and from its root, to first order: near 1 it shows.
    rest = fma(-q, q, w) + (((t + t) - w) + z)
    y = t + q
    e = ((q - y) + t) + (rest / (q + q) if q > 0.0 else 0.0)
    r = log_one_plus_f64(x > _HUGE, x, y, e)
    r = r if x < math.inf else x
    return r if x >= 1.0 else math.nan


def acosh_f32(x: Any) -> Any:
    """Inverse hyperbolic cosine; NaN below 1."""
    a = np.float64(x)
    t = a - 1.0
    r = log1p_short_f64(t + math.sqrt(t * (t + 2.0)))
    return np.float32(r if a >= 1.0 else math.nan)


def atanh_f64(x: Any) -> Any:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
    a = abs(x)
    b = a + a
    q = (b * a) / (1.0 - a)
    y = b + q
    u = 1.0 + y
    v = u - 1.0
    c = ((1.0 - (u - v)) + (y - v)) + ((b - y) + q if a < 0.5 else 0.0)
    r = math.copysign(0.5 * log_edges_f64(u, log_sum_f64(u, c, 0.0)), x)
    r = x if a < 2.0**-54 else r
    return r if a <= 1.0 else math.nan


def atanh_f32(x: Any) -> Any:
    """Inverse hyperbolic tangent; NaN outside [-1, 1]."""
    b = np.float64(x)
    a = abs(b)
    r = math.copysign(np.float32(0.5 * log1p_short_f64((a + a) / (1.0 - a))), x)
    return r if a <= 1.0 else np.float32(math.nan)
