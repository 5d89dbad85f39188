"""Views that skip elements: `masked_view`, which shows them, and `filtration`, which does not.

Writing through either is one pass over the whole array, in a kernel that gives each element its new
value where the condition holds and its own where it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from .._errors import BroadcastError, NotWritableError
from ..arrays import xarray
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, apply
from ..arrays.few import values_of
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment.assign import check_update, converted, fit, node_of
from ..assignment.inplace import InPlace
from ..dtypes.names import bool_
from ..operands.nodes import is_number, unwrapped
from ..ops.op import Op
from ..ops.table import OPS
from ..xtensor_views import selection
from ..xtensor_views.picked import XIndexView, XPicked
from ..xtensor_views.scattered import is_few
from .array import AND, Memory, XOptional, halves_of


class XMaskedView(XOptional):
    """A view that hides elements: they are missing when read, and stay as they are when written.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1, -2, 3])
    >>> v = xl.masked_view(a, [True, False, True])
    >>> v
    XMaskedView([1, masked, 3])
    >>> v += 10
    >>> a
    XArray([11, -2, 13])
    """

    __slots__ = ("_seen",)

    def __init__(self, seen: Any, mask: XExpression) -> None:
        super().__init__(seen.value() if isinstance(seen, XOptional) else seen, mask)
        self._seen = seen

    def _known(self) -> XExpression:
        if isinstance(self._seen, XOptional):
            return apply(AND, self._flags, self._seen._known())
        return self._flags

    def _each(self, part: Callable[[Any], Any]) -> XOptional:
        return type(self)(part(self._seen), part(self._flags))

    def joined(self, parts: tuple[Any, ...]) -> XOptional:
        """Return values and flags as one array: no view if what is missing and hidden are one."""
        if isinstance(self._seen, XOptional):
            return self._made(XExpression(parts[0].node), parts[1])
        return super().joined(parts)

    def _is_lazy(self) -> bool:
        return self._seen._is_lazy() if isinstance(self._seen, XOptional) else super()._is_lazy()

    def _gap(self, k: int) -> str:
        return super()._gap(k) if self._flags.numpy().reshape(-1)[k] else "masked"

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign to the elements of a selection that are not hidden, by the view rule.

        Raises
        ------
        NotWritableError
            If the array is an expression, or what is assigned is missing where elements are shown
            that have no place for that.
        BroadcastError
            If ``value`` does not broadcast to the selection.
        """
        if value is self and key is Ellipsis:
            return
        part: Any = self if key is Ellipsis else self[key]
        for memory, new, _ in part._written(value):
            write_where(memory, part._flags, new)

    def _free(self) -> None:
        return None  # it is a view

    def _update(self, op: Op, value: object, held: bool) -> None:
        for memory, new, how in self._written(value, op):
            update_where(memory, self._flags, how, new)

    def _written(self, value: object, op: Op | None = None) -> list[tuple[Any, Any, Any]]:
        """Return what is written, with what, and by which operation if by one."""
        if not isinstance(self._seen, XOptional):
            return [(self._seen, value, op)]
        new = halves_of(value, alike=True)  # neither is written if one does not fit
        pairs = list(zip(self._seen._memory(), new, (op, AND), strict=True))
        missing = op is None and new[1] is False
        return pairs[1:] if missing else pairs


class Filtration(InPlace):
    """The elements of an array where a condition holds, to be assigned to; see `xl.filtration`."""

    __slots__ = ("_flags", "_picked", "_target")

    def __init__(
        self, target: XExpression, flags: XArray | None, picked: XIndexView | None = None
    ) -> None:
        self._target, self._flags, self._picked = target, flags, picked

    def _where(self) -> XArray:
        """Return the condition's values; of few elements only the view of them was made."""
        flags = self._flags
        if flags is None:
            mask = np.zeros(self._target.shape, np.bool_)
            assert self._picked is not None
            mask.reshape(-1)[self._picked.positions()] = True
            flags = self._flags = XArray._adopted(mask)
        return flags

    def assign(self, value: object) -> Filtration:
        """Write a value to the elements where the condition holds.

        Returns
        -------
        Filtration
            The object itself.
        """
        self[...] = value
        return self

    def __setitem__(self, key: Any, value: object) -> None:
        """Write a value to the elements where the condition holds; the key must be ``...``."""
        if key is not Ellipsis:
            raise NotWritableError("filtration: only all of it can be assigned to, as f[...] = v")
        if self._picked is not None and is_number(value):
            self._picked[...] = value
        else:
            write_where(self._target, self._where(), value)

    def _update(self, op: Op, value: object, held: bool) -> None:
        if self._picked is not None and is_number(value):
            self._picked._update(op, value, True)
        else:
            update_where(self._target, self._where(), op, value)

    def __repr__(self) -> str:
        return f"filtration({self._target.summary()})"


def write_where(target: XExpression, flags: XExpression, value: object) -> None:
    """Write a value to the elements of memory where flags are set."""
    memory, value = _memory(target), unwrapped(value)
    if is_number(value) and is_few(memory):
        selection.filter(memory, flags)[...] = value
        return
    if isinstance(value, XContainer) and value._shape == memory._shape:
        to, new = selection.filtered(memory, flags), selection.filtered(value, flags)
        if to is not None and new is not None:
            to[...] = new
            return
    numbers = memory.dtype != bool_ and isinstance(memory, XContainer)
    if numbers and value.__class__ in memory._kind.stored:
        memory[...] = apply(OPS["where"], flags, value, memory)  # by a kind that is known
        return
    value = _there(value, flags)
    node = converted(node_of(value, memory), memory.dtype)
    _store(memory, flags, XExpression(fit(node, memory)))


def update_where(target: XExpression, flags: XExpression, op: Op, value: object) -> None:
    """Perform ``target op= value`` where flags are set."""
    memory, value = _memory(target), _there(unwrapped(value), flags)
    if is_number(value) and is_few(memory):
        selection.filter(memory, flags)._update(op, value, True)
        return
    made = apply(
        op, memory, XExpression(node_of(value, memory)) if isinstance(value, list) else value
    )
    check_update(memory, op.name, made.shape, made.dtype)
    _store(memory, flags, made.astype(memory.dtype))


def _store(memory: Memory, flags: XExpression, new: XExpression) -> None:
    """Write values of memory's dtype where flags are set."""
    if isinstance(memory, XPicked):  # where an element is seen twice, only shown ones are written
        there = np.broadcast_to(values_of(flags), memory.shape)
        selection.filter(memory, flags)[...] = memory._computed(new.node)[there]
    else:
        memory[...] = apply(OPS["where"], flags, new, memory)


def _there(value: Any, flags: XExpression) -> Any:
    """Return plain values, of an array of which none is missing where flags are set.

    Raises
    ------
    NotWritableError
        If one is: there is no place for it.
    """
    plain, known = halves_of(value, alike=True)
    if known is True:
        return plain
    try:
        shown = np.all(values_of(known) | ~values_of(flags))
    except ValueError:
        raise BroadcastError(
            f"assignment: a value of shape {np.shape(known)} does not broadcast to the shape "
            f"{flags.shape} of a masked view"
        ) from None
    if not shown:
        raise NotWritableError(
            "assignment: a masked view has no place for values that are missing where it shows "
            "elements; take their value() or value_or(…)"
        )
    return plain


def _flags(condition: object, shape: tuple[int, ...], operation: str) -> XArray:
    """Return a condition's values in memory of their own."""
    mask = selection.mask_of(condition, shape, operation)
    few: XArray | None = xarray.owned(mask)
    return XArray._adopted(np.array(mask)) if few is None else few


def _memory(target: XExpression) -> Memory:
    if isinstance(target, XContainer | XPicked):
        return target
    raise NotWritableError(
        f"cannot assign to the lazy {target.summary()}: it owns no memory; evaluate it first"
    )


def masked_view(x: object, mask: object, /) -> XMaskedView:
    """Return a view of the same shape in which elements are hidden where a mask is False.

    Parameters
    ----------
    x : array or expression
        What to look at; of an optional array the view hides more than what is missing.
    mask : array or expression of bool
        Of its shape, or one that broadcasts to it; read when the view is made.

    Returns
    -------
    XMaskedView
        Of a container one that can be written.

    Raises
    ------
    IndexRangeError
        If the mask is not bool, or does not broadcast to the shape.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1.5, 2.5], [3.5, 4.5]])
    >>> v = xl.masked_view(a, a > 2)
    >>> v[...] = 0
    >>> a
    XArray([[1.5, 0. ],
            [0. , 0. ]])
    """
    seen: Any = x if isinstance(x, XOptional) else as_array(x, "masked_view")
    if isinstance(seen, XMaskedView):
        mask = apply(AND, seen._flags, _flags(mask, seen.shape, "masked_view"))
        seen = seen._seen
    return XMaskedView(seen, _flags(mask, seen.shape, "masked_view"))


def filtration(x: object, condition: object, /) -> Filtration:
    """Return the elements where a condition holds, to be assigned to in one pass.

    Unlike `filter` it has no values of its own, and of many elements no list of positions.

    Parameters
    ----------
    x : container
        What to write to.
    condition : array or expression of bool
        Of its shape, or one that broadcasts to it; read when the object is made.

    Returns
    -------
    Filtration
        Takes ``f[...] = value``, ``f.assign(value)`` and in-place operators.

    Raises
    ------
    NotWritableError
        If ``x`` is an expression.
    IndexRangeError
        If the condition is not bool, or does not broadcast to the shape.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1, 5, 3])
    >>> f = xl.filtration(a, a > 2)
    >>> f += 100
    >>> a
    XArray([  1, 105, 103])
    """
    picked = selection.filtered(x, condition)
    if picked is not None:
        return Filtration(cast("XExpression", x), None, picked)
    memory = _memory(as_array(x, "filtration"))
    return Filtration(memory, _flags(condition, memory.shape, "filtration"))
