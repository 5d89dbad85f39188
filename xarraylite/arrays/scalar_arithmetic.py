"""The operators of values, which compute at once with the dtypes and bits that expressions have.

Four ways lead there, each tried before the next:

1. plain dtypes by NumPy's scalars, whose warnings are kept away;
2. NumPy's function for operand types that the third way has met, where its dtype and bits are ours;
3. the reference of the op table, for operations that have the same bits on both engines;
4. the engine, for those that have not (powers, for example): a kernel of no dimensions.
"""

from __future__ import annotations

import threading
from math import isfinite, isinf, isnan, sqrt
from numbers import Number
from typing import Any

import numpy as np

from .._errors import DTypeError
from .._later import reference
from ..assignment import elements, results
from ..dtypes.names import DType
from ..dtypes.names import kind as kind_of_dtype
from ..ir import build
from ..ir.kind import Kind
from ..ir.node import Elementwise, Node
from ..ir.simplify import POWER, applied, simpler
from ..ir.translation import of as kind_of
from ..ir.translation import scalars_of
from ..operands.nodes import OneValue, as_operand, is_number, is_operand, of_base
from ..operands.non_numeric import call_numpy
from ..operands.operators import by_operator
from ..ops.op import Op
from ..runtime.counting import count_use
from ..runtime.evaluate import uses_reference
from ..runtime.floating_errors import silently
from ..runtime.program import Direct
from .expression import XExpression, apply
from .scalar_ways import LARGE, Way, Ways, of_numpy

#: Operand types an operation has met, at most: they are few unless somebody makes types.
_KEPT = 256

#: Functions of a float64 that Python's library has with the same bits.
_FUNCTIONS: dict[str, Way] = {
    "sqrt": sqrt,
    "abs": float.__abs__,
    "square": lambda x: float.__mul__(x, x),
    "isnan": isnan,
    "isinf": isinf,
    "isfinite": isfinite,
}

#: By what ways of one operand of float64 are found.
_ONE = (np.float64,)

#: Python's numbers whose value decides how a power is computed.
_WEAK: frozenset[Any] = frozenset((float, int))

#: Classes of numbers beside which float64 stays what it is.
_REAL: frozenset[Any] = frozenset((float, np.float64, int))

#: Classes of Python's numbers in kernels, by the kinds of dtypes that are no whole numbers.
_CLASSES: dict[str, Any] = {"f": float, "c": complex}

#: Complex classes, of which Python's numbers beside one become one, the operations that round them
#: alike, and the classes as which kernels take Python's numbers.
_PLANES: frozenset[Any] = frozenset((np.complex64, np.complex128))
_WIDE = _PLANES | {np.float64}
_OF_PLANE = frozenset(("add", "subtract", "multiply", "divide", "equal", "not_equal"))

#: Python's numbers, each class before those that it is made into.
_NUMBERS = (bool, int, float, complex)

#: Classes of what becomes a simpler operation, or has an exponent of its own class.
_POWERED: frozenset[Any] = frozenset((np.float32, np.float64, np.complex128))

#: The bounds of int64.
_LOW, _HIGH = -(1 << 63), (1 << 63) - 1


def ways_of(op: Op) -> Ways:
    """Return an operation's ways, by the types of its operands; at first what Python does."""
    known = _ways.get(op.name)
    if known is None:
        known = _ways[op.name] = of_numpy(op)
    return known


_ways: dict[str, Ways] = {}


class _Place(threading.local):
    """Where a thread's kernels of no dimensions write."""

    def __init__(self, dtype: DType) -> None:
        array = np.empty((), dtype)
        self.own = array, array.ctypes.data


class ScalarKernel:
    """What launches a kind's program of no dimensions; it says where there is none yet."""

    __slots__ = ("classes", "kind", "place")

    def __init__(self, kind: Kind, dtypes: list[DType]) -> None:
        self.kind, self.place = kind, _Place(kind.dtype)
        self.classes = tuple([_CLASSES.get(kind_of_dtype(dtype), int) for dtype in dtypes])

    def __call__(self, *operands: Any) -> Any:
        return self.run(*[cls(x) for cls, x in zip(self.classes, operands, strict=True)])

    def run(self, *items: Any) -> Any:
        """Return the value for the Python numbers that stand for operands."""
        program = self.kind.fresh
        if program.__class__ is Direct and not uses_reference():
            array, address = self.place.own
            if program.call(address, (), *items) is None:
                results.count_launch()
                return array[()]
        made = results.evaluated(XExpression._container, self.kind, (), items)
        if made is None:
            raise TypeError
        return elements.array_of(made)[()]


def _computed(op: Op, operands: tuple[Any, ...], ways: Ways) -> Any:
    """Return an operation on NumPy's scalars and Python's numbers by the third or fourth way."""
    weak = op is POWER and operands[0].__class__ in _POWERED and operands[1].__class__ in _WEAK
    if weak and -LARGE < operands[1] < LARGE:
        return _powered(*operands)
    types = tuple([x.__class__ for x in operands])
    own = _meant(op, types)
    if own is not None and all([_LOW <= x <= _HIGH for x in operands if x.__class__ is int]):
        made = _run(op, tuple([silently(own, x) for x in operands]))
        known = ways.get((own,) * len(types))
        if known is not None and len(ways) < _KEPT:
            # Kernels convert numbers themselves.
            exact = known.__class__ is ScalarKernel and own in _WIDE
            ways[types] = known if exact else lambda *numbers: known(*map(own, numbers))
        return made
    if any([not issubclass(cls, np.generic) and cls not in _NUMBERS for cls in types]):
        return _run(op, tuple(map(of_base, operands)))
    node = build.elementwise(op, *[as_operand(x, op.name) for x in operands])
    # Where there is a way for these types already, it cannot do these values.
    learns = len(ways) < _KEPT and _decide(op, types) and types not in ways
    if not all([kind_of_dtype(arg.dtype) in node.op.exact for arg in node.args]):
        way = _kernel_for(node, types) if learns else None
        result = XExpression(node).numpy()[()]
    else:
        with np.errstate(all="ignore"):
            result = _folded(node)[()]
            way = _same_of_numpy(op, operands, result) if learns else None
    if way is not None:
        ways[types] = way
    return result


def _meant(op: Op, types: tuple[type, ...]) -> Any:
    """Return NumPy's class that Python's numbers are of, alone or beside a complex one; or None."""
    strong = [cls for cls in types if cls not in _NUMBERS[1:]]
    if len(strong) == 1 and strong[0] in _PLANES and op.name in _OF_PLANE:
        return strong[0]
    if types == (complex,):
        return np.complex128
    if types == (int,) or (types == (int, int) and op is not POWER and not op.scalars):
        return np.int64
    return np.float64 if float in types and _REAL.issuperset(types) and not op.scalars else None


def _kernel_for(node: Elementwise, types: tuple[type, ...]) -> Way | None:
    """Return what computes an operation on NumPy's scalars, each an operand of its own.

    That is a kernel, or NumPy's function where there is no body.
    """
    if not all([issubclass(cls, np.generic) for cls in types]):
        return None
    dtypes = [arg.dtype for arg in node.args]
    if dtypes == [np.dtype(cls) for cls in types] and node.op.body(tuple(dtypes)) is None:
        hosted = node.op.numpy
        return lambda *values: hosted(*values)[()]  # which may make an array of what is of rank 0
    found = kind_of(node)
    if found is None or uses_reference():
        return None
    dtypes = scalars_of(found[0])
    return ScalarKernel(found[0], dtypes) if len(dtypes) == len(types) else None


def _same_of_numpy(op: Op, operands: tuple[Any, ...], result: Any) -> Way | None:
    """Return NumPy's function if it gives the same bits for these operands."""
    try:
        again = op.numpy(*operands)
    except _FAILS:
        return None
    held = isinstance(again, np.ndarray)
    again = again[()] if held else again
    if type(again) is not type(result) or again.tobytes() != result.tobytes():
        return None
    return (lambda *x: op.numpy(*x)[()]) if held else op.numpy


def _powered(base: Any, exponent: float) -> Any:
    """Return a power by a Python number of its kind: what `build.elementwise` makes of it."""
    alone = simpler(POWER, (base, exponent), base.dtype)
    if alone is None:
        return _run(POWER, (base, base.__class__(exponent)))
    return applied(alone, base, lambda op, *operands: _run(op, operands))


def _decide(op: Op, types: tuple[type, ...]) -> bool:
    """Tell whether classes of numbers decide, whatever their values, what is done with them.

    Python's numbers become one of the other operand's dtype, but for exponents, and for what whole
    numbers are compared with.
    """
    strong = [cls for cls in types if issubclass(cls, np.generic)]
    if not all([np.dtype(cls).isbuiltin == 1 for cls in strong]):
        return False
    if len(strong) == len(types):
        return True
    usual = op.scalars is None or all([issubclass(cls, np.inexact) for cls in strong])
    return bool(strong) and usual and op is not POWER


def _folded(node: Node) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    """Return the values of a few operations on constants, by the reference."""
    return reference.value(node, [_folded(arg) for arg in node.args])


def function_of_one(cls: type[Any], op: Op) -> Way:
    """Return an operation on one value or number as a value."""
    real, ways = _FUNCTIONS.get(op.name), ways_of(op)

    def call(x: Any) -> Any:
        if (x.__class__ is float or isinstance(x, cls)) and isinstance(x, float):
            way: Any = ways.get(_ONE) if real is None else None
            try:
                if real is not None:
                    return cls._of(real(x))
                if way.__class__ is ScalarKernel:
                    return cls._of(way.run(float(x)))
                if way is not None:
                    return cls._of(silently(way, np.float64(x)))
            except (TypeError, ValueError):  # the root of a negative number, say
                pass
        return compute(cls, op, (x,))

    return call


def compute(cls: type[Any], op: Op, operands: tuple[Any, ...]) -> Any:
    """Return an operation on values and numbers as a value; on dates it is NumPy's."""
    count_use()
    values = tuple([x.value if isinstance(x, OneValue) else x for x in operands])
    try:
        return cls._of(_run(op, values))
    except DTypeError:
        try:
            return call_numpy(op.name, values, {})
        except DTypeError:
            if op.name not in ("equal", "not_equal"):
                raise
    return cls._of(np.bool_(op.name == "not_equal"))  # as numbers and text are


def _run(op: Op, operands: tuple[Any, ...]) -> Any:
    ways = ways_of(op)
    try:
        way = ways[tuple(map(type, operands))]
        return way(*operands) if way.__class__ is ScalarKernel else silently(way, *operands)
    except _FAILS:
        return _computed(op, operands, ways)


#: How the first ways say that they do not lead to the end.
_FAILS = (KeyError, ZeroDivisionError, OverflowError, TypeError)


def _as_object(x: Any) -> Any:
    held = np.empty((), object)
    held[()] = x
    return held


def binary(op: Op) -> tuple[Way, Way]:
    """Return an operator's method and its reflected method."""
    return _general(op, False), _general(op, True)


def _general(op: Op, reflected: bool) -> Way:
    def method(self: Any, other: Any) -> Any:
        one, two = (other, self) if reflected else (self, other)
        if is_number(other):
            return compute(self.__class__, op, (one, two))
        if isinstance(other, XExpression):
            return NotImplemented
        if isinstance(other, Number):  # a fraction, say, which Python's numbers know
            plain = [x.value.item() if isinstance(x, OneValue) else x for x in (one, two)]
            return np.asarray(op.numpy(*map(_as_object, plain))).item()
        return (apply if is_operand(other) else by_operator)(op, one, two)

    return method


def unary(op: Op) -> Way:
    """Return an operator's method."""

    def method(self: Any) -> Any:
        return compute(self.__class__, op, (self,))

    return method
