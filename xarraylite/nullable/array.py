"""`XOptional`: values and flags that say which of them there are, as one array.

Both halves are ordinary arrays or expressions.  A function of optional arrays is the function of
the values, and its result is there where all operands are; comparisons are functions like any
other, so what is compared with something missing is missing.  `where` takes the flag of the branch
that it takes.  Values that are missing are computed like others and mean nothing.

A reducer of an optional array is missing where one of its elements is; with ``skipna=True`` the
methods leave these out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._errors import DTypeError, ReadOnlyError
from ..arrays.array_object import ArrayObject
from ..arrays.container import XContainer
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression, apply
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment.assign import check_update
from ..assignment.inplace import InPlace
from ..dtypes.names import bool_, dtype_name
from ..index.broadcast import broadcast_shapes
from ..index.transform import Transform
from ..ir import build
from ..operands.nodes import as_node, is_operand, unwrapped
from ..operands.operators import LiftedOperators
from ..operands.representation import formatted, html
from ..ops.op import Op
from ..ops.table import OPS
from ..xtensor_views.picked import XPicked
from .folds import Folds
from .missing import Missing, filled_in

#: What can be assigned to.
Memory = XContainer | XPicked

AND, _WHERE = OPS["logical_and"], OPS["where"]


class XOptional(LiftedOperators, Folds, ArrayObject, InPlace):
    """An array whose elements may be missing; made by `xl.optional` and by functions of such.

    Parameters
    ----------
    values : XExpression
        The values; a container can be written through.
    flags : XExpression
        Of bool, of a shape that broadcasts with theirs: which of them there are.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.optional([1.0, 2.0, 3.0], [True, False, True])
    >>> xl.eval(x * 2 + 1)
    XOptional([3.0, N/A, 7.0])
    >>> x.sum(skipna=True)
    <XOptional: float64[], lazy>
    >>> float(x.sum(skipna=True))
    4.0
    """

    __slots__ = ("_flags", "_plain")

    instead = "values may be missing; take its value() or value_or(…)"

    _plain: XExpression
    _flags: XExpression

    def __init__(self, values: XExpression, flags: XExpression) -> None:
        if flags.dtype != bool_:
            raise DTypeError(f"optional: flags must be bool, got {dtype_name(flags.dtype)}")
        _common(values.shape, flags.shape)
        self._plain, self._flags = values, flags

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array."""
        return _common(self._plain.shape, self._flags.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the values."""
        return self._plain.dtype

    @property
    def node(self) -> Any:
        """Refuse: it is no one array.

        Raises
        ------
        DTypeError
            Always.
        """
        raise DTypeError(f"{self.summary()}: {self.instead}")

    def parts(self, other: object) -> tuple[Any, Any]:
        """Return the values and flags of an operand: all of plain arrays is there."""
        if isinstance(other, XOptional):
            return other.value(), other.has_value()
        array = as_array(other, "optional")
        return array, XExpression(build.broadcast_to(as_node(True, "optional"), array.shape))

    def joined(self, parts: tuple[Any, ...]) -> XOptional:
        """Return values and flags as one array, with views of memory as a view of it."""
        return type(self)(*parts)

    def _each(self, part: Callable[[Any], Any]) -> XOptional:
        """Return the array of the same part of values and flags."""
        return type(self)(part(self.value()), part(self.has_value()))

    def _view(self, step: Transform) -> XOptional:
        return self._each(lambda half: half._view(step))

    def _reshaped(self, shape: tuple[int, ...]) -> XOptional:
        return self._each(lambda half: half._reshaped(shape))

    def astype(self, dtype: object, /, *, copy: bool = True) -> XOptional:
        """Return the same with the values converted to ``dtype``."""
        plain = self.value()
        values = plain.astype(dtype, copy=copy)
        return self if values is plain else self._made(values, self.has_value())

    def value(self) -> XExpression:
        """Return the values, to be written through if they are in memory."""
        return _spread(self._plain, self.shape)

    def has_value(self) -> XExpression:
        """Return the flags, to be written through if they are in memory."""
        return _spread(self._known(), self.shape)

    def value_or(self, other: object) -> XExpression:
        """Return the values, and another one in the place of those that are missing, lazily.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.eval(xl.optional([1, None, 3]).value_or(0))
        XArray([1, 0, 3])
        """
        return apply(_WHERE, self._known(), self._plain, other)

    def _known(self) -> XExpression:
        """Return the flags, of their own shape."""
        return self._flags

    def _takes(self, other: object) -> bool:
        return isinstance(other, XOptional | Missing) or is_operand(other)

    def lift(self, op: Op, operands: tuple[object, ...]) -> XOptional:
        """Return the lazy application of an operation to operands of which some are optional."""
        values, flags = zip(*map(halves_of, operands), strict=True)
        made = apply(op, *values)
        if op is _WHERE:
            there = apply(_WHERE, values[0], flags[1], flags[2])
            known = there if flags[0] is True else apply(AND, flags[0], there)
        else:
            present = [flag for flag in flags if flag is not True]
            known = present[0]
            for flag in present[1:]:
                known = apply(AND, known, flag)
        return self._made(made, known)

    def _made(self, values: Any, flags: Any) -> XOptional:
        """Return a result, which is there where flags are set now, or a flag is."""
        if not isinstance(values, XExpression):  # what NumPy computed of a vector
            values = XArray._adopted(np.asarray(values))
        if not isinstance(flags, XExpression):
            flags = XArray._adopted(np.array(bool(flags)))
        else:  # which may be an operand's, and either may be written
            flags = XExpression(flags.node)
        return XOptional(values, flags)

    def mapped(self, values: Any, *others: XOptional) -> XOptional:
        """Return values that were made of this array's and others', element by element."""
        known: Any = self.has_value()
        for other in others:
            known = apply(AND, known, other.has_value())
        return self._made(values, known)

    def evaluated(self, text: object = None) -> XOptional:
        """Return the same in memory: what ``xl.eval`` makes of it."""
        values, flags = self.value(), self.has_value()
        if isinstance(values, XContainer) and isinstance(flags, XContainer):
            return self
        return XOptional(_evaluated(values), _evaluated(flags))

    def copy(self) -> XOptional:
        """Return the same in new memory."""
        return XOptional(XArray(self.value()), XArray(self.has_value()))

    # --- elements -----------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> XOptional:
        """Return the optional array of what ``key`` selects: a view, where it is one of memory."""
        return self._each(lambda half: _part(half, key))

    def __len__(self) -> int:
        """Return the extent of the first dimension."""
        return len(self.value())

    def __iter__(self) -> Iterator[XOptional]:
        """Yield the parts along the first dimension."""
        return (self[k] for k in range(len(self)))

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign by the view rule: values and flags; plain values are there, `missing` is not.

        Raises
        ------
        BroadcastError
            If ``value`` does not broadcast to the selection.
        ReadOnlyError
            If the memory of one half cannot be written, or is stretched.
        """
        if value is self and key is Ellipsis:
            return
        values, flags = halves_of(value, alike=True)  # neither is written if one does not fit
        halves = [flags] if flags is False else [flags, values]  # that of nothing but `missing`
        del values, flags  # who holds them is asked
        self._store(key, halves)

    def assign(self, value: object) -> XOptional:
        """Assign as containers do: the array takes the shape of ``value``.

        Where a half is a view, or memory of others, it keeps its shape, as in ``x[...] = value``.

        Returns
        -------
        XOptional
            The array itself.

        Raises
        ------
        BroadcastError, ShapeError
            If the shape cannot change, and ``value`` does not broadcast to it.

        Examples
        --------
        >>> import xarraylite as xl
        >>> x = xl.optional([1, None])
        >>> x.assign(x + xl.asarray([[10], [20]]))
        XOptional([[11, N/A],
                   [21, N/A]])
        """
        halves = [as_array(half, "assign") for half in halves_of(value)]
        shape = _common(halves[0].shape, halves[1].shape)
        free = None if shape == self.shape else self._free()
        if free is None:
            self[...] = value
            return self
        known, values = _spread(halves.pop(), shape), _spread(halves.pop(), shape)
        if isinstance(known, XContainer):  # a view, maybe of what is written first
            known = XExpression(known.node)
        free[0].assign(values)  # which refuses what cannot change before anything is written
        free[1].assign(known)
        return self

    def _free(self) -> tuple[XArray, XArray] | None:
        """Return both halves if they are whole containers alike, in memory of their own."""
        one, other = self._plain, self._flags
        if not isinstance(one, XArray) or not isinstance(other, XArray) or one is other:
            return None
        alike = one.shape == other.shape and one._fixed == other._fixed and not other.readonly
        own = one.buffer.owner is None and other.buffer.owner is None
        return (one, other) if alike and own else None

    def _update(self, op: Op, value: object, held: bool) -> None:
        made = self.lift(op, (self, value))
        check_update(self, op.name, made.shape, made.dtype)
        halves = [made._flags, made._plain]
        del made  # who holds them is asked
        self._store(..., halves)

    def _store(self, key: Any, halves: list[Any]) -> None:
        """Write values, the last of a list if there are two, and flags."""
        values, flags = self._memory()
        if len(halves) == 2:
            values[key] = halves.pop()
        flags[key] = halves.pop()

    def _memory(self) -> tuple[XExpression, XExpression]:
        """Return both halves, to be written: a lazy one gets memory, as lazy results do.

        Raises
        ------
        ReadOnlyError
            If memory is stretched, or the flags are read-only; values say so themselves, and are
            written first.
        """
        for name in ("_plain", "_flags"):
            half = getattr(self, name)
            if half.shape != self.shape:
                if isinstance(half, Memory):
                    raise ReadOnlyError(
                        f"assignment: {half.summary()} is stretched to {self.shape}"
                    )
                setattr(self, name, XArray(_spread(half, self.shape)))
        values, flags = self.value(), self.has_value()
        if isinstance(flags, Memory) and flags.readonly:
            raise ReadOnlyError(f"assignment: the flags of {self.summary()} are read-only")
        return values, flags

    # --- other forms --------------------------------------------------------------------------

    def tolist(self) -> Any:
        """Return the values as nested lists, with None in the place of those that are missing."""
        values = self.value().numpy().astype(object)
        values[~self.has_value().numpy()] = None
        return values.tolist()

    def item(self, *index: Any) -> Any:
        """Return the only element, or the one at an index, as a Python scalar, or None.

        Raises
        ------
        TypeError
            If no index is given and there is not exactly one element.
        """
        return self.value().item(*index) if self.has_value().item(*index) else None

    def _number(self, what: str) -> Any:
        found = self.item()
        if found is None:
            raise ValueError(f"{what}({self.summary()}): the value is missing")
        return found

    def _one(self) -> Any:
        return self._number("round")

    def _as_numpy(self) -> Any:
        return self.__array__()

    def numpy(self) -> Any:
        """Refuse, as NumPy has no place for what is missing; see `xl.masked_array`."""
        return self.__array__()

    def view(self, dtype: object = None, type: object = None) -> Any:
        """Refuse: values and flags have bytes of their own."""
        raise DTypeError(f"view: {self.summary()} has no bytes of one dtype; see value()")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Refuse: a NumPy array has no place for what is missing.

        Raises
        ------
        TypeError
            Always; `value_or` and `xl.masked_array` say what is wanted.
        """
        raise TypeError(f"{self.summary()}: {self.instead}, or xl.masked_array(x)")

    def _is_lazy(self) -> bool:
        return not (isinstance(self.value(), Memory) and isinstance(self.has_value(), Memory))

    def __repr__(self) -> str:
        """Show the elements of an array in memory; never computes an expression."""
        if self._is_lazy():
            return f"<{self._title}: {dtype_name(self.dtype)}{list(self.shape)}, lazy>"
        return f"{self._title}({self._text(f'{self._title}(')})"

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts, and values in memory."""
        lazy = self._is_lazy()
        return html(self._facts(self._title + ", lazy" * lazy), None if lazy else str(self))

    def __str__(self) -> str:
        """Return the elements as text, evaluated."""
        return self._text("")

    def __format__(self, spec: str) -> str:
        """Return the value of an array of rank 0 formatted, or what stands for a missing one."""
        if self.shape:
            return super().__format__(spec)
        there = self.has_value().item()
        return formatted(self.value().numpy()[()], spec) if there else self._gap(0)

    def _gap(self, k: int) -> str:
        """Return what stands for an element that is not shown: one in row-major order."""
        return "N/A"

    def _text(self, prefix: str) -> str:
        """Return the elements as NumPy prints them, with its settings; of which it shows few."""
        values, known = self.value().numpy().reshape(-1), self.has_value().numpy().reshape(-1)

        def word(k: int) -> str:
            return np.array2string(values[k : k + 1])[1:-1].strip() if known[k] else self._gap(k)

        numbers = np.arange(known.size).reshape(self.shape)
        separator = ", " if prefix else " "
        words: Any = {"int": word}
        return np.array2string(numbers, separator=separator, prefix=prefix, formatter=words)


def _evaluated(half: XExpression) -> XContainer:
    """Return one half of a result in memory of its own."""
    return half.copy() if isinstance(half, XContainer) else eval_(half)


def _common(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    return one if one == other else broadcast_shapes(one, other)


def halves_of(x: object, alike: bool = False) -> tuple[Any, Any]:
    """Return an operand's values and flags, of one shape if asked: True where all is there."""
    x = unwrapped(x)
    if isinstance(x, XOptional):
        return (x.value(), x.has_value()) if alike else (x._plain, x._known())
    if x is None or isinstance(x, Missing):
        return 0, False
    if isinstance(x, list | tuple):
        values, known = filled_in(x)
        return values, True if known is None else XArray(known)
    return x, True


def _spread(half: XExpression, shape: tuple[int, ...]) -> XExpression:
    half = unwrapped(half)
    return half if half.shape == shape else XExpression(build.broadcast_to(half.node, shape))


def _part(half: Any, key: Any) -> Any:
    """Return what a key selects of one half; one element stays an array of rank 0."""
    found = half[key]
    if isinstance(found, XExpression) or isinstance(half, XOptional):
        return found
    return half[(*(key if isinstance(key, tuple) else (key,)), ...)]
