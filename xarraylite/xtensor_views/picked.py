"""Views of elements that lie at no regular distance: reading gathers, writing scatters.

Such a view is a container's `XView` and where its elements are taken from: a list of positions for
some dimensions (`XDynamicView`), a position for each element (`XIndexView`), or the elements in
another shape (`XReshapeView`).  In an expression it is a gather (or a reshape) of the memory, part
of the kernel that reads it, and like a container it is read as it is when the expression is
written.  A view of it is again such a view, of the same container.

How elements are read and written is said in `scattered`.  Where positions repeat, elements are
written in row-major order of the view, and the last one stays.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np

from .._errors import IndexRangeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.scalar import scalar_of, values_of
from ..arrays.xarray import XArray
from ..assignment import elements
from ..dtypes.names import NumpyArray, as_dtype, dtype_name, int64
from ..index.transform import FIXED, IndexMap, Transform
from ..ir import build
from ..ir.kind import NODE, owner_class
from ..ir.node import RANK, Leaf, Node
from ..layout.strided import COLUMN_MAJOR, Strided
from ..memory.arrays import read
from ..memory.arrays import write as write_elements
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.convert import layout_named
from ..operands.representation import container_repr, html
from ..runtime.scatter import scatter as scatter_along
from .items import Positions, integers
from .scattered import Scattered


def leaf_of(positions: Positions) -> Leaf:
    """Return positions that were checked as an operand of a gather."""
    layout = Strided.row_major(positions.shape)
    if positions.flags.c_contiguous and positions.size:
        address = positions.__array_interface__["data"][0]  # nobody writes to positions
        run = positions.reshape(-1).view(np.uint8)
        return Leaf(
            positions.shape, int64, Snapshot.of(Buffer(run, 0, address, run.nbytes)), layout
        )
    buffer = Buffer.allocate(positions.size * int64.itemsize)
    np.copyto(buffer.view(int64, layout), positions)
    return Leaf(positions.shape, int64, buffer.snapshot(), layout)


class XPicked(Scattered):
    """What views of irregular elements have in common; see the module's classes."""

    __slots__ = ("_listed", "_offsets")

    #: Where each element stands in row-major memory; machine code reads and writes it there.  A
    #: view of positions that it has made has them as bytes.
    _offsets: Positions
    _listed: bytes

    @property
    def base(self) -> XContainer:
        """The container, or the view of one, that elements are picked from."""
        return self._base

    def take(self, picks: Mapping[int, Positions]) -> XPicked:
        """Return a view of positions along some dimensions of this one."""
        found = self.positions()
        for axis, chosen in picks.items():
            found = np.take(found, chosen, axis)
        return XIndexView.of(self.base, found)

    def over(self, base: XContainer) -> XPicked:
        """Return the view of the same elements of another container of the base's shape."""
        return XIndexView.of(base, self.positions())

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the elements."""
        return self._base._dtype

    @property
    def readonly(self) -> bool:
        """Whether assignments are refused."""
        return self.base.readonly

    def view(self, dtype: object = None, type: builtins.type | None = None) -> Any:
        """Return the elements with another dtype: a view if it is as wide, else of a copy.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.filter(xl.asarray([1.0, -2.0]), [False, True]).view("uint64") >> 63
        <XFunction bitwise_right_shift: uint64[1], lazy>
        """
        base, width = self._base, self.dtype.itemsize
        same = dtype is None or as_dtype(dtype).itemsize == width
        if same and type is None and base.map.bits_of(width) == 8 * width:
            return self.over(base.view(dtype))
        return self.copy().view(dtype, type)

    def _protect(self, readonly: bool) -> None:
        """Refuse to be written, or be written again."""
        self._base = self._base.view()
        self._base._protect(readonly)

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

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts and values."""
        return html(self._facts(self._title), str(self))

    def copy(self, order: str = "K") -> XArray:
        """Return the elements in a new container that owns them; see `XContainer.copy`."""
        layout = layout_named(order)
        made: Any = None if layout is COLUMN_MAJOR else self._evaluated()
        if made is not None:
            return made  # type: ignore[no-any-return]
        owner: type[XArray] = owner_class(self._fixed_now(), self.dtype, self.shape)
        return owner(self, layout=layout)

    def __copy__(self) -> XArray:
        """Return a copy, as of any view of memory."""
        return self.copy()

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickle as a copy of the elements, not of the whole buffer."""
        return self.copy().__reduce_ex__(protocol)

    # --- views --------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """Return a view of the elements that ``key`` selects, or the value of one element."""
        index = key if key.__class__ is tuple else (key,)
        whole = self._base._kind is not NODE and len(index) == len(self._shape) > 0
        if not whole or tracing.running.value or not all([i.__class__ is int for i in index]):
            return super().__getitem__(key)
        try:
            return scalar_of(self._at(index))
        except IndexError:
            return super().__getitem__(key)  # which says what is wrong

    def _at(self, index: tuple[int, ...]) -> Any:
        """Return the element of strided memory at integers, as NumPy does."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _element(self) -> Any:
        """Return the only element of a view as a value; while a function is traced, the view."""
        return self if tracing.is_active() else self._one()

    def __iter__(self) -> Iterator[Any]:
        """Yield the values of a vector, read when they are reached, or the parts of others."""
        if len(self._shape) != 1 or self._base._kind is NODE or tracing.running.value:
            return (self[k] for k in range(len(self)))
        return values_of(self._numbers(), self.dtype)

    def _numbers(self) -> Iterable[Any]:
        """Return the elements of a vector in strided memory, as NumPy reads them."""
        return map(self._at, zip(range(len(self)), strict=True))

    def _view(self, step: Transform) -> XExpression:
        place = Strided.row_major(self._shape).apply(step)
        found = self.positions().reshape(-1)[places(place)]
        return XIndexView.of(self.base, found)

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        return XIndexView.of(self.base, self.positions().reshape(shape))

    def _part(self, key: Any) -> XPicked:
        try:
            found = self.positions()[key]
        except IndexError as error:
            raise IndexRangeError(f"assignment to {self.summary()}: {error}") from None
        return XIndexView.of(self.base, np.asarray(found))


def check_index(index: Sequence[SupportsIndex], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return an index counted from the front.

    Raises
    ------
    IndexRangeError
        Unless it has one integer in range for each dimension.
    """
    given = integers(index, "parent_index")
    if len(given) != len(shape) or any(
        [not -n <= i < n for i, n in zip(given, shape, strict=True)]
    ):
        raise IndexRangeError(f"parent_index: {given} is no index of shape {shape}")
    return tuple([i + n if i < 0 else i for i, n in zip(given, shape, strict=True)])


def places(place: Strided) -> Positions:
    """Return the position of every element of a strided box."""
    steps = zip(place.shape, place.strides, strict=True)
    return _sums([np.arange(n, dtype=np.int64) * pace for n, pace in steps], place.offset)


def _sums(lines: Sequence[Positions], first: int = 0) -> Positions:
    """Return the sums of one number of each line, each line along a dimension of its own."""
    total: Any = np.array(first, np.int64)
    for line in lines:
        total = total[..., None] + line
    return total  # type: ignore[no-any-return]


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

    _takes: Mapping[int, Positions]
    _leaves: dict[int, Leaf]

    @classmethod
    def of(cls, base: XContainer, takes: Mapping[int, Positions]) -> XDynamicView:
        """Return the view of a container that reads dimensions through checked positions."""
        shape = list(base.shape)
        for axis, chosen in takes.items():
            shape[axis] = len(chosen)
        array = None if base._kind is NODE else elements.array_of(base)
        self = cls._over(base, tuple(shape))
        if array is not None:
            self._base._array = array  # of the same memory
        self._takes = takes
        if array is not None and len(shape) == 1 and base._kind.strides is None:
            self._offsets = takes[0]
        return self

    def over(self, base: XContainer) -> XDynamicView:
        """Return the view of the same elements of another container of the base's shape."""
        return self.of(base, self._takes)

    def gathered(self) -> Node:
        """Return the elements as the kernel that reads them gathers them."""
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
        strides = Strided.row_major(self.base.shape).strides
        return _sums([self._along(axis) * stride for axis, stride in enumerate(strides)])

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
        return XDynamicView.of(self.base, {**self._takes, **made})

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

    def _at(self, index: tuple[int, ...]) -> Any:
        takes = self._takes
        at = [takes[k][i] if k in takes else i for k, i in enumerate(index)]
        return elements.array_of(self._base)[tuple(at)]

    def _fill(self, out: NumpyArray) -> None:
        source = elements.array_of(self._base)
        *others, (axis, chosen) = self._takes.items()
        for k, some in others:
            source = source.take(some, k)
        source.take(chosen, axis, out, "clip")

    def _scatter(self, values: NumpyArray) -> None:
        base = self._base
        if base._kind is NODE:
            if len(self._takes) > 1:
                scatter(base, self.positions(), values)
                return
            (only,) = self._takes.items()
            write_elements(base.buffer, self.dtype, base.map, values, only)
            return
        array = elements.array_of(base)
        if len(self._takes) > 1:
            array[np.ix_(*[self._along(axis) for axis in range(self.ndim)])] = values
            return
        ((axis, chosen),) = self._takes.items()
        if not scatter_along(array, axis, chosen, values):
            array[(slice(None),) * axis + (chosen,)] = values


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

    __slots__ = ("_leaf", "_memory", "_where")

    _where: Positions
    _leaf: Leaf
    _memory: NumpyArray

    @classmethod
    def of(cls, base: XContainer, positions: Positions) -> XIndexView:
        """Return the view of checked row-major positions of a container's elements."""
        self = cls._over(base, positions.shape)
        self._where = positions
        if base._kind is not NODE and base._kind.strides is None:
            self._offsets = positions
        return self

    def __getattr__(self, name: str) -> Any:
        """Return positions that machine code has left as bytes, as an array that is kept."""
        if name != "_where":
            return super().__getattr__(name)
        self._where = np.frombuffer(self._listed, int64)
        return self._where

    def positions(self) -> Positions:
        """Return where each element stands in the row-major order of the base's elements."""
        return self._where

    def _places(self) -> Positions:
        """Return where each element stands in the memory that a strided base reaches."""
        try:
            return self._offsets
        except AttributeError:
            where = self._offsets = self._where
        if self._base._kind.strides is not None:
            place = self._base.map
            assert isinstance(place, Strided)
            index = np.unravel_index(where.reshape(-1), place.shape) if place.size else ()
            pairs = zip(index, place.strides, strict=False)
            first = np.full(where.size, place.offset - place.bounds()[0])
            offsets = np.asarray(sum([i * s for i, s in pairs], first), np.int64)
            self._offsets = offsets.reshape(where.shape)
        return self._offsets

    def gathered(self) -> Node:
        """Return the elements as the kernel that reads them gathers them."""
        leaf, place = self.base.node, self.base.map
        strided = isinstance(place, Strided)
        try:
            index = self._leaf
        except AttributeError:
            index = self._leaf = leaf_of(self._places() if strided else self._where)
        if not isinstance(place, Strided):
            return build.gather(build.reshape(leaf, (-1,)), 0, index)
        low, high = place.bounds()
        run = Strided((high + 1 - low,), (1,), low)
        flat = Leaf(run.shape, leaf.dtype, leaf.snapshot, run, min(leaf.fixed, RANK))
        return build.gather(flat, 0, index)

    def _run(self) -> NumpyArray:
        """Return the memory that a strided base reaches."""
        try:
            return self._memory
        except AttributeError:
            base = self._base
        if not base.size:
            return np.empty(0, base._dtype)
        low, size = base._start, base.size
        if base._kind.strides is not None:
            first, last = base.map.bounds()
            low, size = first * base.itemsize, last + 1 - first
        memory = base._buffer
        run = self._memory = np.ndarray((size,), base._dtype, memory._memory, memory._start + low)
        return run

    def _at(self, index: tuple[int, ...]) -> Any:
        return self._run()[self._places()[index]]

    def _numbers(self) -> Iterable[Any]:
        return map(self._run().__getitem__, self._places())

    def _fill(self, out: NumpyArray) -> None:
        self._run().take(self._places(), None, out, "clip")

    def _scatter(self, values: NumpyArray) -> None:
        if self._base._kind is NODE:
            scatter(self._base, self.positions(), values)
        else:
            self._run()[self._places()] = values


def scatter(base: XContainer, positions: Positions, values: NumpyArray) -> None:
    """Write values to row-major positions of tiled memory, by way of a copy of all elements."""
    whole = np.array(read(base.buffer, base.dtype, base.map), order="C")
    whole.reshape(-1)[positions] = values
    write_elements(base.buffer, base.dtype, base.map, whole)
