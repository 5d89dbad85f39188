"""The operators of values, which compute at once with the dtypes and bits that expressions have.

Four ways lead there, each tried before the next:

1. float64, float32 and integers by Python's own numbers, which are the same where nothing overflows
   (and no warning is due, as NumPy's scalars would give);
2. NumPy's function for operand types that the third way has met, where its dtype and bits are ours;
3. the reference of the op table, for operations that have the same bits on both engines;
4. the engine, for those that have not (powers, for example): a kernel of no dimensions.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .._later import later
from ..assignment import direct, elements
from ..dtypes.names import DType, as_dtype, kind
from ..ir import build
from ..ir.kind import Kind
from ..ir.node import Elementwise, Node
from ..ir.simplify import POWER, applied, simpler
from ..ir.translation import of as kind_of
from ..ir.translation import plain, scalars_of
from ..operands.nodes import OneValue, is_number, is_operand
from ..operands.operators import with_strangers
from ..ops.op import Op
from ..runtime.evaluate import uses_reference
from .expression import XExpression, apply

if TYPE_CHECKING:
    from ..runtime import reference
else:
    reference = later(".runtime.reference")


Way = Callable[..., Any]
Ways = dict[tuple[type, ...], Way]

#: Operand types an operation has met, at most: they are few unless somebody makes types.
_KEPT = 256

#: Operations that Python's numbers do as expressions do, where nothing overflows.
_PYTHON: dict[str, Way] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "positive": operator.pos,
    "abs": operator.abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}

#: Python's methods of float64.
_METHODS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}

_SIGNS: dict[str, Way] = {
    "negative": float.__neg__,
    "positive": float.__pos__,
    "abs": float.__abs__,
}

#: Classes of numbers that are float64 among themselves.
_FLOATS: frozenset[Any] = frozenset((float, np.float64))

#: Python's numbers whose value decides how a power is computed.
_WEAK: frozenset[Any] = frozenset((float, int))

#: Classes of numbers beside which float64 stays what it is.
_REAL: frozenset[Any] = frozenset((float, np.float64, int))

#: The classes of int64: NumPy's, and Python's that stands for it.
_IS_WHOLE: frozenset[Any] = frozenset((np.int64, int))
_LOW, _HIGH = -(1 << 63), 1 << 63
_NONE: frozenset[type] = frozenset()

#: Up to here an int is a float32, and a float64 rounds to a finite one.
_SINGLE_INT, _SINGLE_MOST = 1 << 24, float(np.finfo(np.float32).max)


def _of_integers(function: Way, dtype: Any) -> Way:
    """Return a function of integers of a dtype, which refuses what would wrap."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)

    def checked(*operands: object) -> Any:
        plain = [int(x) for x in operands]  # type: ignore[call-overload]
        result = function(*plain)
        # A Python int among them may be none of the dtype.
        if not all([low <= number <= high for number in (result, *plain)]):
            raise OverflowError
        return result if result.__class__ is bool else dtype(result)

    return checked


def _of_singles(function: Way) -> Way:
    """Return a function of float32, computed in float64.

    Rounding twice is rounding once there: 53 bits are more than twice 24 and two.
    """

    def checked(*operands: Any) -> Any:
        plain = []
        for x in operands:
            if x.__class__ is int and not -_SINGLE_INT <= x <= _SINGLE_INT:
                raise OverflowError
            if x.__class__ is float:
                if not -_SINGLE_MOST <= x <= _SINGLE_MOST:
                    raise OverflowError
                x = np.float32(x)
            plain.append(float(x))
        result = function(*plain)
        if result.__class__ is bool:
            return result
        if -_SINGLE_MOST <= result <= _SINGLE_MOST:
            return np.float32(result)
        raise OverflowError

    return checked


def ways_of(op: Op) -> Ways:
    """Return an operation's ways, by the types of its operands; at first what Python does."""
    known = _ways.get(op.name)
    if known is None:
        known = _ways[op.name] = _python_ways(op)
    return known


_ways: dict[str, Ways] = {}


def _python_ways(op: Op) -> Ways:
    function = _PYTHON.get(op.name)
    if function is None:
        return {}
    ways: Ways = dict.fromkeys(_alike(op, np.float32, (float, int)), _of_singles(function))
    if op.name != "divide":
        for char in "bhilqBHILQ":
            one: Any = np.dtype(char).type
            ways |= dict.fromkeys(_alike(op, one, (int,)), _of_integers(function, one))
    return ways


def _alike(op: Op, own: type, weak: tuple[type, ...]) -> list[tuple[type, ...]]:
    """Return the types of operands of one dtype, or with one Python number among them."""
    if op.arity == 1:
        return [(own,)]
    return [(own, own), *[(own, other) for other in weak], *[(other, own) for other in weak]]


def _by_numpy(op: Op) -> Way:
    def compute(*operands: object) -> Any:
        with np.errstate(all="ignore"):
            return op.numpy(*operands)

    return compute


def _by_kernel(kind: Kind, dtypes: list[DType]) -> Way:
    """Return what launches a kind's program; it says where there is none yet."""

    def compute(*operands: Any) -> Any:
        items = [plain(x, dtype) for x, dtype in zip(operands, dtypes, strict=True)]
        made = direct.evaluated(XExpression._container, kind, (), items)
        if made is None:
            raise TypeError
        return elements.array_of(made)[()]

    return compute


def _computed(op: Op, operands: tuple[Any, ...], ways: Ways) -> Any:
    """Return an operation on NumPy's scalars and Python's numbers by the third or fourth way."""
    if op is POWER and operands[0].__class__ is np.float64 and operands[1].__class__ in _WEAK:
        return _powered(*operands)
    types = tuple([x.__class__ for x in operands])
    if float in types and _FLOATS.issuperset(types) and op.scalars is None:
        return _run(op, tuple(map(np.float64, operands)))
    node = build.elementwise(op, *[_part(x) for x in operands])
    learns = len(ways) < _KEPT and all(map(_decides, types))
    if not _is_exact(node):
        found = kind_of(node)
        if learns and found is not None and types not in ways and not uses_reference():
            dtypes = scalars_of(found[0])
            if len(dtypes) == len(operands):
                ways[types] = _by_kernel(found[0], dtypes)
        return XExpression(node).numpy()[()]
    with np.errstate(all="ignore"):
        result = _folded(node)[()]
        if learns:
            again = op.numpy(*operands)
            if type(again) is type(result) and result.dtype.isbuiltin == 1:
                ways[types] = _by_numpy(op)
    return result


def _powered(base: Any, exponent: float) -> Any:
    """Return a power of a float64 by a Python number: what `build.elementwise` makes of it."""
    alone = simpler(POWER, (base, exponent), base.dtype)
    if alone is None:
        return _run(POWER, (base, np.float64(exponent)))
    return applied(alone, base, lambda op, *operands: _run(op, operands))


def _decides(cls: type) -> bool:
    """Tell whether a class of numbers decides, whatever their values, what is done with them."""
    return issubclass(cls, np.generic) and np.dtype(cls).isbuiltin == 1


def _part(operand: Any) -> Any:
    if isinstance(operand, np.generic):
        return build.scalar(operand, as_dtype(operand.dtype))
    return operand


def _is_exact(node: Elementwise) -> bool:
    """Tell whether NumPy has the bits of every engine."""
    return all([kind(arg.dtype) in node.op.exact for arg in node.args])


def _folded(node: Node) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    """Return the values of a few operations on constants, by the reference."""
    return reference.value(node, [_folded(arg) for arg in node.args])


def compute(cls: type[Any], op: Op, operands: tuple[Any, ...]) -> Any:
    """Return an operation on values and numbers as a value."""
    return cls._of(_run(op, tuple([x.value if isinstance(x, OneValue) else x for x in operands])))


def _run(op: Op, operands: tuple[Any, ...]) -> Any:
    ways = ways_of(op)
    try:
        return ways[tuple([x.__class__ for x in operands])](*operands)
    except _FAILS:
        return _computed(op, operands, ways)


#: How the first ways say that they do not lead to the end.
_FAILS = (KeyError, ZeroDivisionError, OverflowError, TypeError)


def _as_object(x: Any) -> Any:
    held = np.empty((), object)
    held[()] = x
    return held


def binary(op: Op) -> tuple[Way, Way]:
    """Return an operator's method and its reflected method; int64 comes first."""
    whole: Any = _PYTHON.get(op.name)
    wholes: frozenset[Any] = _IS_WHOLE if op.name in _METHODS and op.name != "divide" else _NONE

    def otherwise(self: Any, one: Any, other: Any, asked: Any) -> Any:
        if is_number(asked):
            return compute(self.__class__, op, (one, other))
        if isinstance(asked, XExpression):
            return NotImplemented
        if isinstance(asked, Number):  # a fraction, say, which Python's numbers know
            plain = [x.value.item() if isinstance(x, OneValue) else x for x in (one, other)]
            return np.asarray(op.numpy(*map(_as_object, plain))).item()
        if not is_operand(asked):
            return with_strangers(op, one, other)
        return apply(op, one, other)

    def forward(self: Any, other: Any) -> Any:
        mine = self._value
        theirs = other._value if other.__class__ is self.__class__ else other
        if theirs.__class__ in wholes and mine.__class__ in _IS_WHOLE:
            result = whole(int(mine), int(theirs))
            if _LOW <= result < _HIGH and _LOW <= theirs < _HIGH:
                return self._of(result)
        return otherwise(self, self, other, other)

    def reflected(self: Any, other: Any) -> Any:
        mine = self._value
        if other.__class__ in wholes and mine.__class__ in _IS_WHOLE:
            result = whole(int(other), int(mine))
            if _LOW <= result < _HIGH and _LOW <= other < _HIGH:
                return self._of(result)
        return otherwise(self, other, self, other)

    return forward, reflected


def unary(op: Op) -> Way:
    """Return an operator's method."""

    def method(self: Any) -> Any:
        return compute(self.__class__, op, (self,))

    return method


def real_binary(op: Op) -> tuple[Way, Way]:
    """Return an operator's two methods of float64, which asks Python's floats first."""
    general, general_back = binary(op)
    if op.name not in _METHODS:
        return general, general_back
    real, real_back = [getattr(float, name) for name in _METHODS[op.name]]

    def forward(self: Any, other: Any) -> Any:
        if other.__class__ is self.__class__ or other.__class__ in _REAL:
            try:  # Python compares a float with an int exactly, NumPy converts the int
                return self._of(real(self, float(other)))
            except (ZeroDivisionError, OverflowError):
                pass
        return general(self, other)

    def reflected(self: Any, other: Any) -> Any:
        if other.__class__ in _REAL:
            try:
                return self._of(real_back(self, float(other)))
            except (ZeroDivisionError, OverflowError):
                pass
        return general_back(self, other)

    return forward, reflected


def real_unary(op: Op) -> Way:
    """Return an operator's method of float64."""
    real = _SIGNS.get(op.name)

    def method(self: Any) -> Any:
        return self._of(real(self))  # type: ignore[misc]

    return unary(op) if real is None else method
