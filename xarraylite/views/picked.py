"""Views of elements that lie at no regular distance: reading gathers, writing scatters.

Such a view is a container's `XView` and where its elements are taken from: a list of positions for
some dimensions (`XDynamicView`), a position for each element (`XIndexView`), or the elements in
another shape (`XReshapeView`).  In an expression it is a gather (or a reshape) of the memory, part
of the kernel that reads it, and like a container it is read as it is when the expression is
written.  A view of it is again such a view, of the same container.

What is assigned is computed in full before the first element is written, so it may read the same
memory.  Where positions repeat, elements are written in row-major order of the view, and the last
one stays.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, SupportsIndex

import numpy as np

from .._errors import IndexRangeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression, written
from ..arrays.xarray import XArray, XView, layout_named
from ..assignment.assign import check_update, check_writable, converted, fit, node_of
from ..assignment.readers import HELD_ASSIGN, HELD_SETITEM, protect
from ..dtypes.names import dtype_name, int64
from ..index.transform import FIXED, IndexMap, Transform
from ..ir import build
from ..ir.kind import NODE, owner_class
from ..ir.node import RANK, Leaf, Node, Scalar
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.arrays import read
from ..memory.arrays import write as write_elements
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..operands import tracing
from ..operands.learning import key_of
from ..operands.nodes import unwrapped
from ..operands.representation import container_repr
from ..ops.op import Op
from .items import Positions

Array = np.ndarray[tuple[int, ...], np.dtype[Any]]


def leaf_of(positions: Positions) -> Leaf:
    """Return positions that were checked as an operand of a gather."""
    layout = Strided.row_major(positions.shape)
    buffer = Buffer.allocate(positions.size * int64.itemsize)
    np.copyto(buffer.view(int64, layout), positions)
    return Leaf(positions.shape, int64, buffer.snapshot(), layout)


class XPicked(XExpression):
    """What views of irregular elements have in common; see the module's classes."""

    __slots__ = ("_base",)
    _title: ClassVar[str] = "XPicked"

    #: Like a container it is memory, which may change.
    lasting: ClassVar[bool] = False

    _base: XContainer

    @classmethod
    def _over(cls, base: XContainer, shape: tuple[int, ...]) -> Self:
        self = cls.__new__(cls)
        if not isinstance(base, XView):  # which goes on where it is when its container moves
            viewed = base._over(base.map)
            assert isinstance(viewed, XView)
            base = viewed
        self._base, self._shape, self._kind, self._operands = base, shape, NODE, ()
        return self

    @property
    def base(self) -> XContainer:
        """The container, or the view of one, that elements are picked from."""
        return self._base

    @property
    def node(self) -> Node:
        """The elements as they are now."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def take(self, picks: Mapping[int, Positions]) -> XPicked:
        """Return a view of positions along some dimensions of this one."""
        found = self.positions()
        for axis, chosen in picks.items():
            found = np.take(found, chosen, axis)
        return XIndexView.of(self.base, found)

    def _scatter(self, values: Array) -> None:
        """Write values of this shape and dtype."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the elements."""
        return self.base.dtype

    @property
    def readonly(self) -> bool:
        """Whether assignments are refused."""
        return self.base.readonly

    def numpy(self) -> Array:
        """Return the values in a new NumPy array, by NumPy's own indexing of the memory."""
        values = read(self._base.buffer, self.dtype, self._base.map)
        return np.array(values.reshape(-1)[self.positions()], self.dtype)

    def parent_index(self, *index: int) -> tuple[int, ...]:
        """Return where in the base the element at an index of the view is.

        Raises
        ------
        IndexRangeError
            If the index is out of range.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.view(xl.zeros((3, 4)), xl.keep(2, 0, 1)).parent_index(0, 3)
        (2, 3)
        """
        where = self.positions()[check_index(index, self._shape)]
        return tuple(map(int, np.unravel_index(int(where), self.base.shape)))

    def summary(self) -> str:
        """Return kind, dtype and shape, as error messages show them."""
        return f"{self._title} {dtype_name(self.dtype)}{list(self._shape)}"

    def __repr__(self) -> str:
        """Show the values, summarised if there are many."""
        return container_repr(self._title, self.numpy())

    def copy(self, order: str = "K") -> XArray:
        """Return the elements in a new container that owns them; see `XContainer.copy`."""
        owner: type[XArray] = owner_class(self._fixed_now(), self.dtype, self.shape)
        return owner(self, layout=layout_named(order))

    def __copy__(self) -> XArray:
        """Return a copy, as of any view of memory."""
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> XArray:
        """Return a copy, as of any view of memory."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a copy of the elements, not of the whole buffer."""
        return self.copy().__reduce__()

    # --- views --------------------------------------------------------------------------------

    def _element(self) -> Any:
        """Return the only element of a view as a value; while a function is traced, the view."""
        return self if tracing.is_active() else self._one()

    def __iter__(self) -> Iterator[Any]:
        """Yield the values of a vector, or the views along the first dimension."""
        return (self[k] for k in range(len(self)))

    def _view(self, step: Transform) -> XExpression:
        place = Strided.row_major(self._shape).apply(step)
        found = self.positions().reshape(-1)[places(place)]
        return XIndexView.of(self.base, found)

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        return XIndexView.of(self.base, self.positions().reshape(shape))

    # --- assignment ---------------------------------------------------------------------------

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign to selected elements by the view rule; ``key`` may be all that NumPy takes.

        Raises
        ------
        BroadcastError
            If ``value`` does not broadcast to the selection.
        ReadOnlyError, OverlapError
            If the memory cannot be written.
        """
        held = sys.getrefcount(value) > HELD_SETITEM
        self._store(key, unwrapped(value), held, False)

    def _store(self, key: Any, value: object, held: bool, noalias: bool) -> None:
        if value is self and key is Ellipsis:
            return
        to: XPicked = self
        if key is not Ellipsis:
            to = XIndexView.of(self.base, np.asarray(self.positions()[key]))
        to._write(node_of(value, to), value, held)

    def assign(self, value: object) -> XPicked:
        """Assign by the view rule: a view never changes its shape.

        Returns
        -------
        XPicked
            The view itself.
        """
        held = sys.getrefcount(value) > HELD_ASSIGN
        self._assign(unwrapped(value), held, False)
        return self

    def _assign(self, value: object, held: bool, noalias: bool) -> None:
        self._write(node_of(value, self), value, held)

    def _update(self, op: Op, value: object, held: bool, noalias: bool = False) -> None:
        value = unwrapped(value)
        result = written((op, key_of(value)), op, self, value).node
        check_update(self, op.name, result.shape, result.dtype)
        self._write(result, value, held)

    def _write(self, node: Node, value: object, held: bool) -> None:
        """Compute a node, and write it when that is done."""
        check_writable(self.base, "assignment")
        fit(node, self)
        values = self._computed(converted(node, self.dtype))
        with protect(self.base.buffer, node, node, value, held):
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

    def _computed(self, node: Node) -> Array:
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


def check_index(index: Sequence[SupportsIndex], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an index counted from the front.

    Raises
    ------
    IndexRangeError
        Unless it has one integer in range for each dimension.
    """
    given = tuple(map(operator.index, index))
    if len(given) != len(shape) or any(
        [not -n <= i < n for i, n in zip(given, shape, strict=True)]
    ):
        raise IndexRangeError(f"parent_index: {given} is no index of shape {shape}")
    return tuple([i + n if i < 0 else i for i, n in zip(given, shape, strict=True)])


def places(place: Strided) -> Positions:
    """Return the position of every element of a strided box."""
    total: Any = np.full((1,) * place.ndim, place.offset, np.int64)
    for axis, (extent, stride) in enumerate(zip(place.shape, place.strides, strict=True)):
        along = np.arange(extent, dtype=np.int64) * stride
        total = total + along.reshape([-1 if k == axis else 1 for k in range(place.ndim)])
    return np.broadcast_to(total, place.shape)


#: Elements of a slice for each position from which slices are written one by one.
_LONG = 64


class XDynamicView(XPicked):
    """A view that takes listed positions along some dimensions: what `keep` and `drop` make.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
    >>> v = xl.view(a, xl.range(), xl.keep(2, 0, 1))
    >>> v
    XDynamicView([[3, 1, 2],
                  [6, 4, 5]])
    >>> v[0] = [30, 10, 20]
    >>> a
    XArray([[10, 20, 30],
            [ 4,  5,  6]])
    """

    __slots__ = ("_leaves", "_takes")
    _title: ClassVar[str] = "XDynamicView"

    _takes: dict[int, Positions]
    _leaves: dict[int, Leaf]

    @classmethod
    def of(cls, base: XContainer, takes: Mapping[int, Positions]) -> XDynamicView:
        """Return the view of a container that reads dimensions through checked positions."""
        shape = tuple([takes[k].shape[0] if k in takes else n for k, n in enumerate(base.shape)])
        self = cls._over(base, shape)
        self._takes = dict(takes)
        return self

    @property
    def node(self) -> Node:
        """The elements as they are now."""
        try:
            leaves = self._leaves
        except AttributeError:
            found = self._takes.items()
            leaves = self._leaves = {axis: leaf_of(chosen) for axis, chosen in found}
        node: Node = self.base.node
        for axis, leaf in leaves.items():
            node = build.gather(node, axis, leaf)
        return node

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        place = Strided.row_major(self.base.shape)
        total: Any = np.zeros((1,) * self.ndim, np.int64)
        for axis, stride in enumerate(place.strides):
            along = self._along(axis) * stride
            total = total + along.reshape([-1 if k == axis else 1 for k in range(self.ndim)])
        return np.broadcast_to(total, self._shape)

    def _along(self, axis: int) -> Positions:
        chosen = self._takes.get(axis)
        return np.arange(self._shape[axis], dtype=np.int64) if chosen is None else chosen

    def parent_index(self, *index: int) -> tuple[int, ...]:
        """Return where in the base the element at an index of the view is."""
        at = check_index(index, self._shape)
        return tuple([int(self._along(axis)[i]) for axis, i in enumerate(at)])

    def take(self, picks: Mapping[int, Positions]) -> XPicked:
        """Return a view of positions along some dimensions of this one."""
        made = {axis: self._along(axis)[chosen] for axis, chosen in picks.items()}
        return XDynamicView.of(self.base, self._takes | made)

    def _view(self, step: Transform) -> XExpression:
        axes = [axis for _, _, axis in step.maps if axis != FIXED]
        if len(set(axes)) != len(axes):
            return super()._view(step)
        maps, takes = list(step.maps), {}
        shape = list(step.shape)
        for k, own in self._takes.items():
            start, pace, axis = step.maps[k]
            if axis == FIXED:
                maps[k] = IndexMap(int(own[start]), 0, FIXED)
                continue
            takes[axis] = own[start + pace * np.arange(step.shape[axis], dtype=np.int64)]
            maps[k], shape[axis] = IndexMap(0, 1, axis), self.base.shape[k]
        base = self.base._view(Transform(tuple(shape), tuple(maps)))
        assert isinstance(base, XContainer)
        return XDynamicView.of(base, takes) if takes else base

    def numpy(self) -> Array:
        """Return the values in a new NumPy array, by NumPy's own indexing of the memory."""
        values = read(self._base.buffer, self.dtype, self._base.map)
        for axis, chosen in self._takes.items():
            values = np.take(values, chosen, axis)
        return values

    def _scatter(self, values: Array) -> None:
        base, place = self.base, self.base.map
        if len(self._takes) == 1:
            (only,) = self._takes.items()
            axis, chosen = only
            if isinstance(place, Strided) and _LONG * chosen.size * chosen.size < values.size:
                # Slice by slice, in order: NumPy's own loop takes three times as long.
                slices = np.moveaxis(base.buffer.view(self.dtype, place), axis, 0)
                for position, part in zip(chosen, np.moveaxis(values, axis, 0), strict=True):
                    slices[position] = part
                return
            write_elements(base.buffer, self.dtype, place, values, only)
        elif isinstance(place, Strided):
            grid = np.ix_(*[self._along(axis) for axis in range(self.ndim)])
            base.buffer.view(self.dtype, place)[grid] = values
        else:
            scatter(base, self.positions(), values)


class XIndexView(XPicked):
    """A view with a position of its own for each element: what `index_view` and `filter` make.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 5, 3], [4, 2, 6]])
    >>> v = xl.filter(a, a > 3)
    >>> v
    XIndexView([5, 4, 6])
    >>> v += 10
    >>> a
    XArray([[ 1, 15,  3],
            [14,  2, 16]])
    """

    __slots__ = ("_leaf", "_memory", "_offsets", "_where")
    _title: ClassVar[str] = "XIndexView"

    _where: Positions
    _offsets: Positions
    _leaf: Leaf
    _memory: Array

    @classmethod
    def of(cls, base: XContainer, positions: Positions) -> XIndexView:
        """Return the view of checked row-major positions of a container's elements."""
        self = cls._over(base, positions.shape)
        self._where = self._offsets = positions
        place = base.map
        if isinstance(place, Strided) and not place.is_row_major():
            index = np.unravel_index(positions.reshape(-1), place.shape) if place.size else ()
            low = place.bounds()[0]
            pairs = zip(index, place.strides, strict=False)
            offsets = sum([i * s for i, s in pairs], np.full(positions.size, place.offset - low))
            self._offsets = np.asarray(offsets, np.int64).reshape(positions.shape)
        return self

    @property
    def node(self) -> Node:
        """The elements as they are now."""
        leaf, place = self.base.node, self.base.map
        try:
            index = self._leaf
        except AttributeError:
            index = self._leaf = leaf_of(self._offsets)
        if not isinstance(place, Strided):
            return build.gather(build.reshape(leaf, (-1,)), 0, index)
        low, high = place.bounds()
        run = Strided((high + 1 - low,), (1,), low)
        flat = Leaf(run.shape, leaf.dtype, leaf.snapshot, run, min(leaf.fixed, RANK))
        return build.gather(flat, 0, index)

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        return self._where

    def numpy(self) -> Array:
        """Return the values in a new NumPy array, by NumPy's own indexing of the memory."""
        run = self._run()
        return super().numpy() if run is None else run.take(self._offsets)

    def _run(self) -> Array | None:
        """Return the memory that the base reaches; None if it is tiled."""
        try:
            return self._memory
        except AttributeError:
            place = self._base.map
        if not isinstance(place, Strided):
            return None
        low, high = place.bounds()
        run = Strided((high + 1 - low,), (1,), low)
        self._memory = self._base.buffer.view(self.dtype, run)
        return self._memory

    def _scatter(self, values: Array) -> None:
        run = self._run()
        if run is None:
            scatter(self._base, self.positions(), values)
        else:
            run[self._offsets] = values


def scatter(base: XContainer, positions: Positions, values: Array) -> None:
    """Write values to row-major positions of tiled memory, by way of a copy of all elements."""
    whole = np.ascontiguousarray(read(base.buffer, base.dtype, base.map))
    whole.reshape(-1)[positions] = values
    write_elements(base.buffer, base.dtype, base.map, whole)
