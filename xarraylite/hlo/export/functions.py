"""Hyperbolic functions and the inverses of the circular ones, by what XLA's compilers have.

HLO has opcodes for them that its CPU compiler does not know, so they are formulas of exponentials,
logarithms, square roots and ``atan2``.  Real ones avoid cancellation near zero and overflow on the
way.  Complex inverses are those of W. Kahan, "Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np

from .terms import Term, copysign

Function: TypeAlias = Callable[[Term], Term]

_LARGE: Final = {np.dtype(np.float32): 1e8, np.dtype(np.float64): 1e17}
"""Where ``1 + x * x`` is ``x * x``, and where that has not yet overflowed."""


def _complex(real: Term, imaginary: Term, like: Term) -> Term:
    return real.apply("complex", imaginary, dtype=like.dtype)


def _conjugate(z: Term) -> Term:
    return _complex(z.real, -z.imag, z)


def _sqrt(x: Term) -> Term:
    return x.apply("sqrt")


def _log1p(x: Term) -> Term:
    return x.apply("log-plus-one")


def _turned(z: Term) -> Term:
    """The product with i."""
    return _complex(-z.imag, z.real, z)


def _turned_back(z: Term) -> Term:
    """The product with -i."""
    return _complex(z.imag, -z.real, z)


def _along_both(own: Function, other: Function, z: Term) -> Term:
    """A hyperbolic function of a complex number, by that and the other of its real part."""
    angle = z.imag
    return _complex(own(z.real) * angle.apply("cosine"), other(z.real) * angle.apply("sine"), z)


def sinh(x: Term) -> Term:
    """Hyperbolic sine."""
    if x.kind == "c":
        return _along_both(sinh, cosh, x)
    size = x.apply("abs")
    grown = size.apply("exponential-minus-one")
    small = (grown + grown / (grown + 1)) * 0.5
    half = (size * 0.5).apply("exponential")
    return copysign((size > 20).where(half * 0.5 * half, small), x)


def cosh(x: Term) -> Term:
    """Hyperbolic cosine."""
    if x.kind == "c":
        return _along_both(cosh, sinh, x)
    half = (x.apply("abs") * 0.5).apply("exponential")
    return half * 0.5 * half + (half.like(0.5) / half) / half


def asin(x: Term) -> Term:
    """Inverse sine."""
    if x.kind != "c":
        return x.apply("atan2", _sqrt((x.like(1) - x) * (x + 1)))
    below, above = _sqrt(x.like(1) - x), _sqrt(x + 1)
    real = x.real.apply("atan2", (below * above).real)
    return _complex(real, asinh((_conjugate(below) * above).imag), x)


def acos(x: Term) -> Term:
    """Inverse cosine."""
    if x.kind != "c":
        return _sqrt((x.like(1) - x) * (x + 1)).apply("atan2", x)
    below, above = _sqrt(x.like(1) - x), _sqrt(x + 1)
    real = below.real.apply("atan2", above.real) * 2
    return _complex(real, asinh((_conjugate(above) * below).imag), x)


def atan(x: Term) -> Term:
    """Inverse tangent."""
    return x.apply("atan2", 1) if x.kind == "f" else _turned_back(atanh(_turned(x)))


def asinh(x: Term) -> Term:
    """Inverse hyperbolic sine."""
    if x.kind == "c":
        return _turned_back(asin(_turned(x)))
    size = x.apply("abs")
    square = size * size
    small = _log1p(size + square / (_sqrt(square + 1) + 1))
    large = size.apply("log") + math.log(2)
    return copysign((size > _LARGE[x.dtype]).where(large, small), x)


def acosh(x: Term) -> Term:
    """Inverse hyperbolic cosine."""
    if x.kind == "c":
        below, above = _sqrt(x - 1), _sqrt(x + 1)
        real = asinh((_conjugate(below) * above).real)
        return _complex(real, below.imag.apply("atan2", above.real) * 2, x)
    rest = x - 1
    small = _log1p(rest + _sqrt(rest * 2 + rest * rest))
    found = (x > _LARGE[x.dtype]).where(x.apply("log") + math.log(2), small)
    return (x < 1).where(x.like(math.nan), found)


def atanh(x: Term) -> Term:
    """Inverse hyperbolic tangent."""
    if x.kind != "c":
        size = x.apply("abs")
        return copysign(_log1p(size * 2 / (size.like(1) - size)) * 0.5, x)
    real, imaginary = x.real, x.imag
    square = imaginary * imaginary
    below = real.like(1) - real
    first = _log1p(real * 4 / (below * below + square)) * 0.25
    second = (imaginary * 2).apply("atan2", below * (real + 1) - square) * 0.5
    return _complex(first, second, x)
