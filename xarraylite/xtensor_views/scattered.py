"""Elements that lie anywhere in a container's memory: how they are read and written.

`Scattered` is what `picked`'s views share.  In an expression many elements are a gather, part of
the kernel that reads them.  Few (`FEW`) are copied when the expression is written: it then means
what it should, the copy is read like any container, by programs that are known already, and
planning a gather would take longer than both.  The copy's snapshot says what it was copied from, so
`late` reads the elements again.

What is assigned is computed in full before the first element is written, so it may read the same
memory.  Few numbers, or elements of the same dtype, are written at once where nobody waits for the
old ones.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import basic_indexing, expression
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, apply, handle, new_operation
from ..arrays.few import ready
from ..arrays.xarray import XView
from ..assignment import elements, readers, results
from ..assignment.assign import check_update, check_writable, converted, fit, node_of
from ..assignment.readers import HELD_ASSIGN, HELD_SETITEM, is_held, protect
from ..dtypes.names import NumpyArray
from ..ir.kind import NODE, Kind, row_major
from ..ir.node import RANK, Leaf, Node, Scalar
from ..ir.translation import form_of
from ..layout.tiled import Map
from ..memory.arrays import read
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..memory.histories import held
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.gathers import FEW, copied_from
from ..operands.learning import key_of
from ..operands.nodes import Gathers, unwrapped
from ..operands.operators import entries
from ..ops.op import Op
from ..runtime.counting import count_use
from .items import Positions

_new = object.__new__


def _binary(op: Op) -> tuple[Any, Any]:
    """Return an operator's methods: those of the elements as they are now."""
    names = {entry.reflected: name for name, entry in entries().items() if entry.op is op}

    def forward(self: Scattered, other: object) -> Any:
        return getattr(self.settled(), names[False])(other)

    def reflected(self: Scattered, other: object) -> Any:
        return getattr(self.settled(), names[True])(other)

    return forward, reflected


def _unary(op: Op) -> Any:
    """Return an operator's method."""
    return lambda self: apply(op, self.settled())


def is_few(x: Any) -> bool:
    """Tell whether elements are few, in strided memory, and no function is traced."""
    base = x._base if isinstance(x, Scattered) else x
    return math.prod(x._shape) <= FEW and base._kind is not NODE and not tracing.running.value


class Scattered(Gathers, XExpression, binary=_binary, unary=_unary):
    """A view whose elements are read and written through positions; see the module."""

    __slots__ = ("_base", "_known", "_lent")

    #: Like a container it is memory, which may change.
    lasting: ClassVar[bool] = False

    _base: XContainer
    #: Kind, shape, buffer and start of the base where machine code made the view and no base.
    _lent: tuple[Kind, tuple[int, ...], Buffer, int]
    _known: tuple[Kind, list[Any]] | None

    @classmethod
    def _over(cls, base: XContainer, shape: tuple[int, ...]) -> Self:
        self = _new(cls)
        if not isinstance(base, XView):  # which goes on where it is when its container moves
            base = basic_indexing.whole(base)
        self._base, self._shape, self._kind, self._operands = base, shape, NODE, ()
        return self

    def __getattr__(self, name: str) -> Any:
        """Return a view of the base that machine code has not made, which is kept."""
        if name != "_base":
            return super().__getattribute__(name)  # which says that there is none
        base = _new(XView)
        base._kind, base._shape, base._buffer, base._start = self._lent
        base._dtype = base._kind.dtype
        self._base = base
        return base

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _part(self, key: Any) -> Self:
        """Return a view of what one of NumPy's indices selects."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    # --- reading ------------------------------------------------------------------------------

    def _fill(self, out: NumpyArray) -> None:
        """Write the elements of strided memory into an array of this shape."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _copied_kind(self) -> Kind:
        kind, rank = self._base._kind, len(self._shape)
        return kind.places.get(rank) or row_major(kind.dtype, rank, min(kind.fixed, RANK))

    def _form(self) -> tuple[Kind, list[Any]] | None:
        """Return the kind of the gather, and its operands with the base's memory to be put in."""
        base = self._base
        if base._kind is NODE or tracing.running.value:
            return None
        try:
            known = self._known
        except AttributeError:
            found, own = form_of(self.gathered()), base.now()[0]
            known = self._known = found and (
                found[0],
                [None if item is own else item for item in found[1]],
            )
        return known

    def settled(self) -> XExpression:
        """Return the elements as they are now: copied if they are few, else to be gathered."""
        if not is_few(self):
            known = self._form()
            if known is None:
                return XExpression._of(self.gathered())
            own = self._base.now()[0]
            items = tuple([own if item is None else item for item in known[1]])
            return handle(known[0], self._shape, items)
        kind, shape = self._copied_kind(), self._shape
        nbytes, base = math.prod(shape) * kind.itemsize, self._base
        kept = held(base._buffer) is base._buffer
        snapshot = (
            Snapshot.alone(nbytes, self) if kept else copied_from(base, self.positions(), nbytes)
        )
        self._fill(snapshot.array(kind.dtype, shape))
        return handle(kind, shape, (snapshot, 0))

    @property
    def node(self) -> Node:
        """The elements as they are now."""
        return self.settled().node

    def _evaluated(self) -> XContainer | None:
        if not is_few(self):
            known, memory = self._form(), self._base._buffer
            if known is None:
                return None
            operands = [memory if item is None else item for item in known[1]]
            return results.evaluated(self._container, known[0], self._shape, operands)
        count_use()
        kind, shape = self._copied_kind(), self._shape
        cls = kind.owned(shape) or self._container
        made: XContainer = elements.new_container(cls, kind, shape, math.prod(shape))
        self._fill(made.buffer.array(kind.dtype, shape))
        return made

    def numpy(self) -> NumpyArray:
        """Return the values in a new NumPy array, by NumPy's own indexing of the memory."""
        if self._base._kind is NODE:
            values = read(self._base.buffer, self.dtype, self._base.map)
            return np.array(values.reshape(-1)[self.positions()], self.dtype)
        made = np.empty(self._shape, self.dtype)
        self._fill(made)
        return made

    # --- assignment ---------------------------------------------------------------------------

    def _scatter(self, values: NumpyArray) -> None:
        """Write values of this dtype that broadcast to this shape."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign to selected elements by the view rule; ``key`` may be all that NumPy takes.

        Raises
        ------
        BroadcastError
            If ``value`` does not broadcast to the selection.
        ReadOnlyError, OverlapError
            If the memory cannot be written.
        """
        held = is_held(value, HELD_SETITEM)
        self._store(key, unwrapped(value), held, False)

    def _target(self) -> Self:
        return self

    def _is_value(self) -> bool:
        return False  # of whatever rank, it is a view

    def _store(self, key: Any, value: object, held: bool, noalias: bool) -> None:
        if value is self and key is Ellipsis:
            return
        to = self if key is Ellipsis else self._part(key)
        if not to._wrote(value):
            to._write(node_of(value, to), value, held)

    def assign(self, value: object) -> Self:
        """Assign by the view rule: a view never changes its shape.

        Returns
        -------
        XPicked
            The view itself.
        """
        held = is_held(value, HELD_ASSIGN)
        self._store(Ellipsis, unwrapped(value), held, False)
        return self

    def _assign(self, value: object, held: bool, noalias: bool) -> None:
        self._store(Ellipsis, value, held, noalias)

    def _update(self, op: Op, value: object, held: bool, noalias: bool = False) -> None:
        value = unwrapped(value)
        if self._base._kind is not NODE and not tracing.running.value:
            made = expression.apply(op, self.settled(), value)
            if not is_few(self):
                made = self._ready(made)
            if self._wrote(made):
                return
            del made
        result = new_operation((op, key_of(value)), op, self, value).node
        check_update(self, op.name, result.shape, result.dtype)
        self._write(result, value, held)

    def _ready(self, made: Any) -> Any:
        """Return what is written in place in memory, by a program that is known; else as it is.

        So nobody waits for the elements that it is made of.
        """
        usual = made.__class__ is XExpression and made._kind is not NODE
        if not usual or made._shape != self._shape or made.dtype is not self._base._dtype:
            return made
        values = results.evaluate(made)
        return made if values is None else values

    def _wrote(self, value: Any) -> bool:
        """Write a number, or elements of this dtype and shape; tell whether it is done."""
        base = self._base
        kind = base._kind
        if kind is NODE or tracing.running.value or readers.waiting_for(base._buffer):
            return False
        values = ready(base, value, self._shape)
        if values is None:
            return False
        if kind.strides is not None and not elements.array_of(base).flags.writeable:
            return False
        try:
            return readers.wrote(base._buffer, 0, (), self._scatter, values)
        except elements.REFUSED:  # a number that does not fit
            return False

    def _write(self, node: Node, value: object, held: bool) -> None:
        """Compute a node, and write it when that is done."""
        check_writable(self._base, "assignment")
        node = converted(node, self.dtype)
        fit(node, self)
        values = self._computed(node)
        with protect(self._base.buffer, node, node, value, held):
            self._scatter(values)

    def _is_apart(self, leaf: Leaf) -> bool:
        """Tell whether an operand can be read as it is: valid, and no byte of it is written."""
        snapshot = leaf.snapshot
        if snapshot.stale is not None or snapshot.traced or snapshot.retired or snapshot.late:
            return False
        size = self.dtype.itemsize
        low, high = _span(self._base.buffer, self._base.map, size)
        first, last = _span(snapshot, leaf.map, leaf.dtype.itemsize)
        return last < low or high < first

    def _computed(self, node: Node) -> NumpyArray:
        """Return what is written as an array of this shape that shares no memory with the base."""
        if isinstance(node, Scalar):
            values = np.asarray(node.value).astype(node.dtype)
        elif isinstance(node, Leaf) and self._is_apart(node):
            values = read(node.snapshot, node.dtype, node.map)
        else:
            values = XExpression(node).numpy()
        extra = values.ndim - len(self._shape)
        values = values.reshape(values.shape[extra:]) if extra > 0 else values
        return np.broadcast_to(values, self._shape)


def _span(memory: Memory, place: Map, itemsize: int) -> tuple[int, int]:
    low, high = place.byte_range(itemsize)
    return memory.address + low, memory.address + high
