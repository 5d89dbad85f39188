"""What operations of the table become in HLO.

A body that is operators and choices alone says it itself, and so does one that calls functions,
where HLO has no opcode that means the same (`bodies`).  What is left stands here: functions for
which kernels have polynomials, which are formulas of XLA's own functions instead, and integer
powers, which are loops.

HLO has opcodes for hyperbolic functions and the inverses of the circular ones that its CPU compiler
does not know, so they are formulas of exponentials, logarithms, square roots and ``atan2``.  Real
ones avoid cancellation near zero and overflow on the way.  Complex inverses are those of W. Kahan,
"Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from ..._errors import HloError
from ...dtypes.info import bounds
from ...dtypes.names import DType, kind
from ...ops.op import Op
from . import bodies
from .terms import Term, copysign

Function: TypeAlias = Callable[[Term], Term]

#: Where ``1 + x * x`` is ``x * x``, and where that has not yet overflowed.
_LARGE: Final = {np.dtype(np.float32): 1e8, np.dtype(np.float64): 1e17}


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


Formula = Callable[..., Term]


def _complex_quotient(x: Term, y: Term) -> Term:
    """XLA multiplies by the reciprocal of a constant; that of 0 makes NaN of complex numbers."""
    source = y.instruction
    while source.opcode == "broadcast":
        (source,) = source.operands
    if source.opcode != "constant" or source.get("literal").values.any():
        return x / y
    return _complex(x.real / 0, x.imag / 0, x)


def _power(x: Term, y: Term) -> Term:
    if x.kind in "fc":
        return x.apply("power", y)
    if x.kind == "u":
        return _integer_power(x, y)
    negative = y < 0
    inverse = ((x == 1) | (x == -1)).where(((y & 1) != 0).where(x, x.like(1)), 0)
    return negative.where(inverse, _integer_power(x, negative.where(y.like(0), y)))


def _integer_power(x: Term, y: Term) -> Term:
    """Squares multiplied by the bits of the exponent, modulo the width."""
    result, square = x.like(1), x
    for place in range(x.bits):
        bit = (y.apply("shift-right-logical", place) & 1) != 0
        result = bit.where(result * square, result)
        square = square * square
    return result


def _nextafter(x: Term, y: Term) -> Term:
    """One step of the bits, in any width."""
    word = np.dtype(f"int{x.bits}")
    bits = x.apply("bitcast-convert", dtype=word)
    moved = ((y > x) == (x > 0)).where(bits + 1, bits - 1).apply("bitcast-convert", dtype=x.dtype)
    one = bits.like(1).apply("bitcast-convert", dtype=x.dtype)
    stepped = (x == 0).where(copysign(one, y), moved)
    return ((x != x) | (y != y)).where(x + y, (x == y).where(y, stepped))


def _hypot(x: Term, y: Term) -> Term:
    """Scaled by the larger of the two, so that nothing overflows on the way."""
    large, small = abs(x).apply("maximum", abs(y)), abs(x).apply("minimum", abs(y))
    ratio = (large == 0).where(large.like(0), small / large)
    found = large * (ratio * ratio + 1).apply("sqrt")
    infinite = (abs(x) == math.inf) | (abs(y) == math.inf)
    return infinite.where(x.like(math.inf), found)


def _logaddexp(x: Term, y: Term) -> Term:
    rest = (-abs(x - y)).apply("exponential").apply("log-plus-one")
    return (x == y).where(x + math.log(2), x.apply("maximum", y) + rest)


def _reciprocal(x: Term) -> Term:
    # Where NumPy converts an infinite quotient back, wide signed integers have their least one.
    zero = bounds(x.dtype)[0] if x.kind == "i" and x.bits >= 32 else 0
    return (x == 0).where(x.like(zero), x.like(1) / x)


def _logarithm(base: float, x: Term) -> Term:
    natural, scale = x.apply("log"), math.log(base)
    if x.kind != "c":
        return natural / scale
    return _complex(natural.real / scale, natural.imag / scale, x)


def _shift_right(x: Term, count: Term) -> Term:
    return x.apply(f"shift-right-{'arithmetic' if x.kind == 'i' else 'logical'}", count)


_TRIGONOMETRIC: Final = (
    acos, acosh, asin, asinh, atan,
    atanh, cosh, sinh,
)  # fmt: skip
#: Formulas by operation, and the kinds of the last operand for which they are.
_FORMULAS: Final[dict[str, tuple[str, Formula]]] = {
    **{formula.__name__: ("fc", formula) for formula in _TRIGONOMETRIC},
    "bitwise_left_shift": ("iu", lambda x, count: x.apply("shift-left", count)),
    "bitwise_right_shift": ("iu", _shift_right),
    "divide": ("c", _complex_quotient),
    "exp2": ("fc", lambda x: x.like(2).apply("power", x)),
    "hypot": ("f", _hypot),
    "log10": ("fc", partial(_logarithm, 10)),
    "log2": ("fc", partial(_logarithm, 2)),
    "logaddexp": ("f", _logaddexp),
    "nextafter": ("f", _nextafter),
    "pow": ("iufc", _power),
    "reciprocal": ("i", _reciprocal),
    "sign": ("f", lambda x: (x == 0).where(x.like(0), x.apply("sign"))),  # HLO's of -0 is -0
    "square": ("c", lambda x: x * x),
}

#: Opcodes that mean something else, or nothing, for operands of a kind.
_OTHERWISE: Final = frozenset(
    [("maximum", "c"), ("minimum", "c"), ("is-finite", "c"), ("round-nearest-even", "c")]
    + [("remainder", "i"), ("remainder", "u")]
)

# Operations that are exact for floats of 16 bits too; others are computed in float32 and rounded
# once, as bodies are: not every format has a zero that `isinf` could get, or a sign.
_EXACT_NAMES = """
abs add clip conj copysign equal fabs fmax fmin greater greater_equal imag isfinite isnan less
less_equal maximum minimum multiply negative nextafter not_equal positive real where
"""
_EXACT: Final = frozenset(_EXACT_NAMES.split())


def applied(op: Op, dtype: DType, *operands: Term) -> Term:
    """Return an operation of the table, of operands of one shape that have its loop dtypes.

    Raises
    ------
    HloError
        If there is no formula for it: a user's function, for instance.
    """
    last = operands[-1]
    if last.kind == "f" and last.dtype.itemsize < 4 and op.name not in _EXACT:
        wide = np.dtype(np.float32)
        terms = [x.cast(wide) if x.kind == "f" else x for x in operands]
        target = wide if kind(dtype) == "f" else dtype
        return applied(op, target, *terms).cast(dtype)
    kinds, formula = _FORMULAS.get(op.name, ("", None))
    if formula is not None and last.kind in kinds:
        return formula(*operands)
    body = op.body(tuple([x.dtype for x in operands]))
    opcode = op.hlo if (op.hlo, last.kind) not in _OTHERWISE else None
    if opcode and " " not in opcode and not (body and bodies.is_plain(body)):
        return operands[0].apply(opcode, *operands[1:], dtype=dtype)
    try:
        made = bodies.run(body or "", operands)
    except (NameError, SyntaxError):
        raise HloError(f"to_hlo: there is no HLO for {op.name}") from None
    if isinstance(made, Term):
        return made.cast(dtype)
    return last.writer.constant(np.asarray(made, dtype)).stretched(last.shape)
