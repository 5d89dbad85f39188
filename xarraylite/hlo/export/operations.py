"""What operations of the table become that HLO does not have, or means otherwise.

A row of the table that names an opcode is that opcode.  The others are formulas: those of
``ops/bodies``, so that special values and the bits of exact operations are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..._errors import HloError
from ...dtypes.names import kind
from ...ops.op import Op
from . import functions
from .terms import Term, copysign, signbit

Formula = Callable[..., Term]


def _add(x: Term, y: Term) -> Term:
    return x | y if x.kind == "b" else x + y


def _multiply(x: Term, y: Term) -> Term:
    return x & y if x.kind == "b" else x * y


def _complex_less(x: Term, y: Term, strict: str) -> Term:
    """Complex numbers in order of their real parts, then of their imaginary ones."""
    ties = x.real().equals(y.real()) & x.imag().compare(strict, y.imag())
    return (x.real() < y.real()) | ties


def _comparison(direction: str) -> Formula:
    def formula(x: Term, y: Term) -> Term:
        if x.kind == "c" and direction not in ("EQ", "NE"):
            strict = "LT" if direction in ("LT", "GT") else "LE"
            pair = (x, y) if direction in ("LT", "LE") else (y, x)
            return _complex_less(*pair, strict)
        if {x.kind, y.kind} == {"i", "u"}:
            return _mixed(x, y, direction)
        return x.compare(direction, y)

    return formula


def _mixed(x: Term, y: Term, direction: str) -> Term:
    """Signed with unsigned integers: a negative one is less than all unsigned ones."""
    signed = x if x.kind == "i" else y
    unsigned = np.dtype("uint64")
    found = x.cast(unsigned).compare(direction, y.cast(unsigned))
    less = direction in ("LT", "LE", "NE") if signed is x else direction in ("GT", "GE", "NE")
    negative = signed < 0
    return found | negative if less else found & ~negative


def _floor_divide(x: Term, y: Term) -> Term:
    if x.kind == "u":
        return y.equals(0).where(x.like(0), x / y)
    if x.kind == "i":
        quotient = x / y
        inexact = (quotient * y).differs(x) & ((x < 0) ^ (y < 0))
        return y.equals(0).where(x.like(0), inexact.where(quotient - 1, quotient))
    rest = x.apply("remainder", y)
    quotient = (x - rest) / y
    moved = rest.differs(0) & ((y < 0) ^ (rest < 0))
    quotient = moved.where(quotient - 1, quotient)
    floor = quotient.apply("floor")
    floor = (quotient - floor > 0.5).where(floor + 1, floor)
    floor = quotient.differs(0).where(floor, copysign(quotient, x / y))
    finite = y.differs(0) & (x - x).equals(y - y)
    return finite.where(floor, x / y)


def _fmod(x: Term, y: Term) -> Term:
    rest = x.apply("remainder", y)
    return rest if x.kind == "f" else y.equals(0).where(x.like(0), rest)


def _remainder(x: Term, y: Term) -> Term:
    rest = _fmod(x, y)
    if x.kind == "u":
        return rest
    moved = (rest.differs(0) & ((y < 0) ^ (rest < 0))).where(rest + y, rest)
    if x.kind == "i":
        return moved
    signed = rest.differs(0).where(moved, copysign(rest, y))
    return y.differs(0).where(signed, rest)


def _power(x: Term, y: Term) -> Term:
    if x.kind in "fc":
        return x.apply("power", y)
    if x.kind == "u":
        return _integer_power(x, y)
    negative = y < 0
    unit = x.equals(1) | x.equals(-1)
    odd = (y & 1).differs(0)
    inverse = unit.where(odd.where(x, x.like(1)), 0)
    return negative.where(inverse, _integer_power(x, negative.where(y.like(0), y)))


def _integer_power(x: Term, y: Term) -> Term:
    """Squares multiplied by the bits of the exponent, modulo the width."""
    result, square = x.like(1), x
    for place in range(x.bits):
        bit = (y.apply("shift-right-logical", place) & 1).differs(0)
        result = bit.where(result * square, result)
        square = square * square
    return result


def _absolute(x: Term) -> Term:
    if x.kind in "ub":
        return x
    return x.apply("abs", dtype=x.part) if x.kind == "c" else x.apply("abs")


def _sign(x: Term) -> Term:
    if x.kind == "u":
        return x.differs(0).cast(x.dtype)
    return x.apply("sign") + 0 if x.kind == "f" else x.apply("sign")


def _extreme(opcode: str, direction: str) -> Formula:
    """Maximum or minimum; complex numbers by their order, NaN if either is."""

    def formula(x: Term, y: Term) -> Term:
        if x.kind == "b":
            return x | y if opcode == "maximum" else x & y
        if x.kind == "c":
            first = _comparison(direction)(x, y)
            return (first | _isnan(x)).where(x, y)
        return x.apply(opcode, y)

    return formula


def _fextreme(opcode: str, direction: str) -> Formula:
    """Maximum or minimum; of a number and NaN, the number."""

    def formula(x: Term, y: Term) -> Term:
        if x.kind in "iub":
            return _extreme(opcode, direction)(x, y)
        return (_comparison(direction)(x, y) | _isnan(y)).where(x, y)

    return formula


def _clip(x: Term, low: Term, high: Term) -> Term:
    return _extreme("minimum", "LE")(_extreme("maximum", "GE")(x, low), high)


def _fdim(x: Term, y: Term) -> Term:
    if x.kind == "f":
        return ((x > y) | _isnan(x) | _isnan(y)).where(x - y, 0)
    return (x > y).where(x - y, 0)


def _heaviside(x: Term, middle: Term) -> Term:
    steps = x.equals(0).where(middle, (x > 0).where(x.like(1), 0))
    return _isnan(x).where(x, steps)


def _isnan(x: Term) -> Term:
    return x.differs(x)


def _isfinite(x: Term) -> Term:
    if x.kind == "c":
        return _isfinite(x.real()) & _isfinite(x.imag())
    bool_ = np.dtype(np.bool_)
    return x.apply("is-finite", dtype=bool_) if x.kind == "f" else x.equals(x)


def _isinf(x: Term) -> Term:
    if x.kind == "c":
        return _isinf(x.real()) | _isinf(x.imag())
    return ~_isfinite(x) & x.equals(x)


def _trunc(x: Term) -> Term:
    size = x.apply("abs").apply("floor")
    return copysign(size, x)


def _rounded(opcode: str) -> Formula:
    def formula(x: Term) -> Term:
        if x.kind == "c":
            parts = x.real().apply(opcode), x.imag().apply(opcode)
            return parts[0].apply("complex", parts[1], dtype=x.dtype)
        return x.apply(opcode) if x.kind == "f" else x

    return formula


def _nextafter(x: Term, y: Term) -> Term:
    word = np.dtype(f"int{x.bits}")
    bits = x.apply("bitcast-convert", dtype=word)
    up = (y > x).equals(x > 0)
    moved = up.where(bits + 1, bits - 1).apply("bitcast-convert", dtype=x.dtype)
    one = bits.like(1).apply("bitcast-convert", dtype=x.dtype)
    stepped = x.equals(0).where(copysign(one, y), moved)
    found = x.equals(y).where(y, stepped)
    return (_isnan(x) | _isnan(y)).where(x + y, found)


def _hypot(x: Term, y: Term) -> Term:
    """Scaled by the larger of the two, so that nothing overflows on the way."""
    large = x.apply("abs").apply("maximum", y.apply("abs"))
    small = x.apply("abs").apply("minimum", y.apply("abs"))
    ratio = large.equals(0).where(large.like(0), small / large)
    found = large * (ratio * ratio + 1).apply("sqrt")
    infinite = _isinf(x) | _isinf(y)
    return infinite.where(x.like(math.inf), found)


def _logaddexp(x: Term, y: Term) -> Term:
    large = x.apply("maximum", y)
    rest = (-(x - y).apply("abs")).apply("exponential").apply("log-plus-one")
    return x.equals(y).where(x + math.log(2), large + rest)


def _reciprocal(x: Term) -> Term:
    if x.kind not in "iu":
        return x.like(1) / x
    # Where NumPy converts an infinite quotient back, wide signed integers have their least one.
    zero = x.least() if x.kind == "i" and x.bits >= 32 else 0
    return x.equals(0).where(x.like(zero), x.like(1) / x)


def _conjugate(x: Term) -> Term:
    return x.real().apply("complex", -x.imag(), dtype=x.dtype) if x.kind == "c" else x


def _scaled(factor: float) -> Formula:
    return lambda x: x * factor


def _exp2(x: Term) -> Term:
    return x.like(2).apply("power", x)


def _logarithm(base: float) -> Formula:
    def formula(x: Term) -> Term:
        natural = x.apply("log")
        if x.kind != "c":
            return natural / math.log(base)
        parts = [part / math.log(base) for part in (natural.real(), natural.imag())]
        return parts[0].apply("complex", parts[1], dtype=x.dtype)

    return formula


def _shift_right(x: Term, count: Term) -> Term:
    arithmetic = "shift-right-arithmetic" if x.kind == "i" else "shift-right-logical"
    return x.apply(arithmetic, count)


def _logical(word: str) -> Formula:
    def formula(x: Term, *others: Term) -> Term:
        truths = [term.cast(np.dtype(np.bool_)) for term in (x, *others)]
        return truths[0].apply(word, *truths[1:])

    return formula


def _by_opcode(opcode: str) -> Formula:
    return lambda x, *others: x.apply(opcode, *others)


_OPERATIONS: Final[dict[str, Formula]] = {
    "abs": _absolute,
    "acos": functions.acos,
    "acosh": functions.acosh,
    "add": _add,
    "asin": functions.asin,
    "asinh": functions.asinh,
    "atan": functions.atan,
    "atanh": functions.atanh,
    "bitwise_left_shift": _by_opcode("shift-left"),
    "bitwise_right_shift": _shift_right,
    "ceil": _rounded("ceil"),
    "clip": _clip,
    "conj": _conjugate,
    "copysign": copysign,
    "cosh": functions.cosh,
    "deg2rad": _scaled(math.pi / 180),
    "exp2": _exp2,
    "fabs": _absolute,
    "fdim": _fdim,
    "floor": _rounded("floor"),
    "floor_divide": _floor_divide,
    "fmax": _fextreme("maximum", "GE"),
    "fmin": _fextreme("minimum", "LE"),
    "fmod": _fmod,
    "heaviside": _heaviside,
    "hypot": _hypot,
    "imag": Term.imag,
    "isfinite": _isfinite,
    "isinf": _isinf,
    "isnan": _isnan,
    "log10": _logarithm(10),
    "log2": _logarithm(2),
    "logaddexp": _logaddexp,
    "logical_and": _logical("and"),
    "logical_not": _logical("not"),
    "logical_or": _logical("or"),
    "logical_xor": _logical("xor"),
    "maximum": _extreme("maximum", "GT"),
    "minimum": _extreme("minimum", "LT"),
    "multiply": _multiply,
    "nextafter": _nextafter,
    "positive": lambda x: x,
    "pow": _power,
    "rad2deg": _scaled(180 / math.pi),
    "real": Term.real,
    "reciprocal": _reciprocal,
    "remainder": _remainder,
    "rint": _rounded("round-nearest-even"),
    "round": _rounded("round-nearest-even"),
    "sign": _sign,
    "signbit": signbit,
    "sinh": functions.sinh,
    "square": lambda x: x * x,
    "trunc": lambda x: _trunc(x) if x.kind == "f" else x,
    "where": lambda truth, yes, no: truth.where(yes, no),
}

# Operations that are one opcode for floats of 16 bits too; the others are formulas, which are
# computed in float32 and rounded once, as bodies are.
_EXACT_NAMES = """
abs add clip conj copysign fabs fmax fmin imag isfinite isinf isnan maximum minimum multiply
negative nextafter positive real signbit where
"""
_EXACT: Final = frozenset(_EXACT_NAMES.split())


def applied(op: Op, dtype: np.dtype[Any], *operands: Term) -> Term:
    """Return an operation of the table, of operands of one shape that have its loop dtypes.

    Raises
    ------
    HloError
        If there is no formula for it: a user's function, for instance.
    """
    narrow = operands[-1].kind == "f" and operands[-1].dtype.itemsize < 4
    comparison = op.hlo is not None and op.hlo.startswith("compare ")
    if narrow and not comparison and op.name not in _EXACT:
        wide = np.dtype(np.float32)
        terms = [x.cast(wide) if x.kind == "f" else x for x in operands]
        target = wide if kind(dtype) == "f" else dtype
        return applied(op, target, *terms).cast(dtype)
    if comparison and op.hlo is not None:
        return _comparison(op.hlo.split()[1])(*operands)
    formula = _OPERATIONS.get(op.name)
    if formula is None:
        if op.hlo is None:
            raise HloError(f"to_hlo: there is no HLO for {op.name}")
        return operands[0].apply(op.hlo, *operands[1:])
    return formula(*operands)
