"""Ways of operations on values that are known beforehand: NumPy's scalars do as expressions do."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isfinite, sqrt
from typing import Any

import numpy as np

from ..ir.simplify import POWER
from ..ops.op import Op
from ..ops.rules import refuse_negative_powers

Way = Callable[..., Any]
Ways = dict[tuple[type, ...], Way]

#: Codes of whole numbers, of real ones, and with complex ones.
_WHOLE = "bhilqBHILQ"
_REAL = "efd" + _WHOLE
_ALL = _REAL + "FD"

#: Python's numbers beside which a dtype stays what it is, by its code.
_WEAK: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_WHOLE, (int,)),
    **dict.fromkeys("efd", (float, int)),
    **dict.fromkeys("FD", (complex, float, int)),
}

#: A number that is one of all classes of floats.
LARGE = 1e38

#: Powers of a finite float, as `simplify.POWERS` has them for this exponent.
_POWERS: dict[float, Way] = {
    1: operator.pos,
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    -1: lambda x: 1.0 / x,
    0.5: lambda x: abs(sqrt(x)),
}


def _power_of_float(ways: Ways) -> Way:
    """Return what raises a float to a power: by products, a root, or as two of its class are.

    A float32 that is rounded twice is the same.  There is no way for some values, which is said
    as by a look-up.
    """

    def power(base: Any, exponent: Any) -> Any:
        if not isfinite(base) or (base < 0 and exponent == 0.5):
            raise KeyError
        cls, simple = base.__class__, _POWERS.get(exponent)
        if simple is not None:
            return simple(base) if cls is np.float64 else cls(simple(base))
        if not abs(exponent) < LARGE:
            raise KeyError
        return ways[cls, cls](base, cls(exponent))

    return power


def _floored(one: Any, other: Any) -> Any:
    """Return a quotient of float64 rounded down, where NumPy's is that of the standard."""
    if not other or not isfinite(one) or not isfinite(other):
        raise KeyError
    return one // other


def _whole_power(base: Any, exponent: Any) -> Any:
    """Return a power of whole numbers, by an exponent that all of them can be; refuse others.

    A negative exponent is known here, as one of Python's is to expressions.
    """
    if 0 <= exponent < 128:
        return base**exponent
    refuse_negative_powers("pow", (np.result_type(base, exponent),), {1: int(exponent)})
    raise KeyError


#: Operations that NumPy's scalars, of dtypes with these codes, do as expressions do.
_PYTHON: dict[str, tuple[Way, str]] = {
    "add": (operator.add, _ALL),
    "subtract": (operator.sub, _ALL),
    "negative": (operator.neg, _ALL),
    "positive": (operator.pos, _ALL),
    "equal": (operator.eq, _ALL),
    "not_equal": (operator.ne, _ALL),
    "multiply": (operator.mul, _REAL),
    "divide": (operator.truediv, _REAL),
    "abs": (operator.abs, _REAL),
    "less": (operator.lt, _REAL),
    "less_equal": (operator.le, _REAL),
    "greater": (operator.gt, _REAL),
    "greater_equal": (operator.ge, _REAL),
    "floor_divide": (operator.floordiv, _WHOLE),
    "remainder": (operator.mod, "d" + _WHOLE),
    "bitwise_and": (operator.and_, _WHOLE),
    "bitwise_or": (operator.or_, _WHOLE),
    "bitwise_xor": (operator.xor, _WHOLE),
    "bitwise_left_shift": (operator.lshift, _WHOLE),
    "bitwise_right_shift": (operator.rshift, _WHOLE),
    "bitwise_invert": (operator.invert, _WHOLE),
    POWER.name: (_whole_power, _WHOLE),
}


def of_numpy(op: Op) -> Ways:
    """Return an operation's ways by the types of its operands, one dtype or a number beside it."""
    if op.name not in _PYTHON:
        return {}
    function, chars = _PYTHON[op.name]
    ways: Ways = {}
    for char in chars:
        own = np.dtype(char).type
        if op.arity == 1:
            ways[own,] = function
            continue
        ways[own, own] = function
        for weak in _WEAK[char]:
            ways[own, weak] = ways[weak, own] = function
    if op is POWER:
        classes = [np.dtype(char).type for char in _WHOLE]
        pairs = [(a, b) for a in classes for b in classes if np.result_type(a, b).kind in "iu"]
        ways |= dict.fromkeys(pairs, _whole_power)
        pairs = [(a, b) for a in (np.float32, np.float64) for b in (float, int)]
        ways |= dict.fromkeys(pairs, _power_of_float(ways))
    if op.name == "floor_divide":
        ways |= {(np.float64, b): _floored for b in (np.float64, float, int)}
    return ways
