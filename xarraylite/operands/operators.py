"""Python's operators, once for all lazy arrays: a table from their names to the op table.

The class body of `Operators` is the table.  A class that inherits from it says, in its header, how
it makes the methods of one operation (``binary=``, ``unary=``); these are made when the class is,
so an operator is one call and looks nothing up.  `ufunc_table` finds the rows of NumPy's ufuncs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import timedelta
from numbers import Number
from typing import Any, TypeAlias

import numpy as np

from .._errors import DTypeError, ShapeError
from .._records import record
from ..dtypes.names import bool_, kind
from ..ops.op import Op
from ..ops.table import OPS
from .dispatch import namespace
from .nodes import HasNode, Lifted, OneValue, is_foreign, is_operand
from .non_numeric import say
from .tracing import is_active

_UFUNCS: dict[np.ufunc, Op] = {}

#: What numbers do with differences of times.
_SCALING = ("multiply", "divide", "floor_divide")


def ufunc_table() -> dict[np.ufunc, Op]:
    """Return which operation stands for which NumPy ufunc: an explicit column of the op table."""
    if not _UFUNCS:
        for op in OPS.values():
            named = getattr(np, op.name, None)  # np.pow, whose reference is no ufunc
            for ufunc in (op.numpy, named):
                if isinstance(ufunc, np.ufunc):
                    _UFUNCS.setdefault(ufunc, op)
    return _UFUNCS


#: Operations that all objects have, and classes of text, which no element is equal to.
_EQUALITY = frozenset(("equal", "not_equal"))
_TEXT: frozenset[type] = frozenset((str, bytes))


def with_strangers(op: Op, *operands: Any) -> Any:
    """Return an operation with an array that has ufuncs of its own, or a difference that it scales.

    It is NumPy's ufunc on our values, so the other library says what comes out (Dask's arrays stay
    lazy, pandas' keep their index, fractions make an array of objects).  NotImplemented where there
    is neither.
    """
    ufunc = getattr(np, op.name, op.numpy)
    stranger = (Number, timedelta) if op.name in _SCALING else (Number,)
    others = [x for x in operands if not is_operand(x)]
    strange = any([is_foreign(x) or isinstance(x, stranger) for x in others])
    if not strange or not isinstance(ufunc, np.ufunc):
        return NotImplemented
    values = [*map(_values, operands)]
    if any([getattr(x, "ndim", 0) for x in values]):  # an array of pandas' would have its objects
        values = [getattr(x, "to_timedelta64", lambda x=x: x)() for x in values]
    return ufunc(*values)


def by_operator(op: Op, one: Any, two: Any) -> Any:
    """Return what an operator gives for what is no operand: text is equal to no element."""
    if op.name in _EQUALITY and not _TEXT.isdisjoint((type(one), type(two))):
        array, differs = two if type(one) in _TEXT else one, np.bool_(op.name == "not_equal")
        return namespace(None).full(array.shape, differs) if array.shape else differs
    made = with_strangers(op, one, two)
    if made is NotImplemented and any([_is_asked_first(type(x)) for x in (one, two)]):
        name = next(name for name, entry in entries().items() if entry.op is op)
        return getattr(operator, name)(*map(_values, (one, two)))
    return made


def _is_asked_first(cls: type) -> bool:
    """Tell whether NumPy's arrays leave operators to a class, as they do to SciPy's sparse ones.

    It has said so since before there were ufuncs, knows their class, and refuses any other.
    """
    return not hasattr(cls, "__array_ufunc__") and getattr(cls, "__array_priority__", 0) > 0


def _values(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (HasNode, OneValue)) else x


def with_matmul(one: Any, two: Any) -> Any:
    """Return a product with a stranger, by NumPy's ufunc; NotImplemented where there is none."""
    return np.matmul(one, two) if is_foreign(one) or is_foreign(two) else NotImplemented


Method: TypeAlias = Callable[..., Any]

#: Makes a method, and the one for reflected operands, of an operation with two operands.
Binary: TypeAlias = Callable[[Op], tuple[Method, Method]]

#: Makes the method of an operation with one operand.
Unary: TypeAlias = Callable[[Op], Method]


@record(frozen=True, slots=True)
class Entry:
    """One row of the table.

    Attributes
    ----------
    op : Op
        What the operator means.
    operands : int
        How many operands it has.
    reflected : bool
        Whether the array is the right one of two.
    """

    op: Op
    operands: int = 2
    reflected: bool = False

    def method(self, binary: Binary, unary: Unary) -> Method:
        """Return the method of one class."""
        if self.operands == 1:
            made, text = unary(self.op), "this expression"
        else:
            made = binary(self.op)[self.reflected]
            pair = ("another operand", "this expression")
            text = " and ".join(pair if self.reflected else pair[::-1])
        if self.op is OPS["pow"] and not self.reflected:
            made = _squaring(made, unary(OPS["square"]))
        if self.op is OPS["multiply"]:
            made = _repeating(made)
        made.__doc__ = f"Return the lazy ``{self.op.name}`` of {text}."
        return made


def _squaring(power: Method, square: Method) -> Method:
    """Return ``**`` of a class, under which the square of bools is int8, as it is NumPy's.

    ``np.power(a, 2)`` of bools is int64, and so is `xl.pow`'s; only NumPy's operator looks at the
    exponent first.
    """

    def method(self: Any, other: object) -> Any:
        if type(other) is int and other == 2 and self.dtype == bool_:
            return square(self)
        return power(self, other)

    return method


def _repeating(times: Method) -> Method:
    """Return ``*`` of a class, under which a whole value repeats a list, as NumPy's scalars do.

    A result of rank 0 is such a value, ``[0] * (v.max() + 1)``; a container of rank 0 is an array.
    """

    def method(self: Any, other: object) -> Any:
        if (type(other) is list or type(other) is tuple) and _is_whole(self):
            return other * int(self)
        return times(self, other)

    return method


def _is_whole(x: Any) -> bool:
    lazy = not (x.ndim or hasattr(x, "buffer") or is_active())
    return lazy and kind(x.dtype) in "iu"


def _pair(name: str) -> tuple[Any, Any]:
    return Entry(OPS[name]), Entry(OPS[name], reflected=True)


def _comparison(name: str) -> Any:
    return Entry(OPS[name])


def _single(name: str) -> Any:
    return Entry(OPS[name], operands=1)


class Operators:
    """Gives lazy arrays the operators of the op table.

    Parameters
    ----------
    binary, unary : callable
        Keywords of the class statement: how the class makes its methods of an operation.
        Classes that give none keep those they inherit.
    """

    __slots__ = ()

    __add__, __radd__ = _pair("add")
    __sub__, __rsub__ = _pair("subtract")
    __mul__, __rmul__ = _pair("multiply")
    __truediv__, __rtruediv__ = _pair("divide")
    __floordiv__, __rfloordiv__ = _pair("floor_divide")
    __mod__, __rmod__ = _pair("remainder")
    __pow__, __rpow__ = _pair("pow")
    __and__, __rand__ = _pair("bitwise_and")
    __or__, __ror__ = _pair("bitwise_or")
    __xor__, __rxor__ = _pair("bitwise_xor")
    __lshift__, __rlshift__ = _pair("bitwise_left_shift")
    __rshift__, __rrshift__ = _pair("bitwise_right_shift")
    __eq__ = _comparison("equal")
    __ne__ = _comparison("not_equal")
    __lt__ = _comparison("less")
    __le__ = _comparison("less_equal")
    __gt__ = _comparison("greater")
    __ge__ = _comparison("greater_equal")
    __neg__ = _single("negative")
    __pos__ = _single("positive")
    __abs__ = _single("abs")
    __invert__ = _single("bitwise_invert")

    #: Whether a user's class has reflected methods, which operands of other classes leave it to.
    _asked_first: Any = False

    #: Comparisons are elementwise, so they say nothing about hashes.
    __hash__ = None  # type: ignore[assignment]

    def __init_subclass__(
        cls, *, binary: Binary | None = None, unary: Unary | None = None, **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        if binary is not None and unary is not None:
            for name, entry in entries().items():
                setattr(cls, name, entry.method(binary, unary))
            return
        own = [e.op for name, e in entries().items() if e.reflected and name in vars(cls)]
        if own:
            cls._asked_first = frozenset((*own, *(cls._asked_first or ())))

    def __divmod__(self, other: object) -> tuple[Any, Any]:
        """Return the lazy quotient and remainder of a floor division."""
        return _divided(self, other)

    def __rdivmod__(self, other: object) -> tuple[Any, Any]:
        """Return the lazy quotient and remainder of another operand divided by this one."""
        return _divided(other, self)


def _divided(one: Any, other: Any) -> tuple[Any, Any]:
    """Return a quotient and a remainder; errors name the operation of both."""
    try:
        return one // other, one % other
    except (ShapeError, DTypeError) as error:
        say("divmod", error)
        raise


def entries() -> dict[str, Entry]:
    """Return the table."""
    return {name: entry for name, entry in vars(Operators).items() if isinstance(entry, Entry)}


def _lifted_binary(op: Op) -> tuple[Method, Method]:
    """Return an operator's method and its reflected method, of `LiftedOperators`."""

    def forward(self: LiftedOperators, other: object) -> Any:
        return self.lift(op, (self, other)) if self._takes(other) else NotImplemented

    def reflected(self: LiftedOperators, other: object) -> Any:
        return self.lift(op, (other, self)) if self._takes(other) else NotImplemented

    return forward, reflected


def _lifted_unary(op: Op) -> Method:
    """Return an operator's method, of `LiftedOperators`."""
    return lambda self: self.lift(op, (self,))


class LiftedOperators(Lifted, Operators, binary=_lifted_binary, unary=_lifted_unary):
    """Gives arrays that no single node describes, jagged or optional ones, all operators by `lift`.

    NumPy's functions of such arrays that are operations of the op table are lifted in the same way.
    """

    __slots__ = ()

    #: NumPy's operators leave mixed expressions to us.
    __array_priority__ = 1000.0

    def _takes(self, other: object) -> bool:
        """Tell whether an operator may have another operand."""
        return isinstance(other, Lifted) or is_operand(other)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: Any) -> Any:
        """Let ``np.add(numpy_array, array)`` mean the operation of the op table."""
        op = ufunc_table().get(ufunc)
        if op is None or method != "__call__" or kwargs:
            return NotImplemented
        return self.lift(op, inputs)
