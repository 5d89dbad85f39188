"""What all containers share: memory they address, and being written to."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from functools import partial
from types import FunctionType
from typing import Any, ClassVar, Self, overload

import numpy as np

from .._config import settings
from .._errors import LayoutError
from .._later import assignment, labelled, products
from ..assignment import elements, writes
from ..assignment.assign import check_update, check_writable, node_of, write
from ..assignment.readers import HELD_SETITEM, called, is_held, protect
from ..dtypes.names import DType, NumpyArray
from ..index import transform as steps
from ..index.indices import Selection, parse_index
from ..ir import build
from ..ir.kind import NODE, Operands, strides_of
from ..ir.kind import leaf as leaf_kind
from ..ir.node import FREE, Leaf, Node
from ..layout.strided import Strided, row_major_strides
from ..layout.tiled import Map, TiledMap
from ..memory.arrays import read
from ..memory.arrays import write as write_elements
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.convert import LayoutLike, is_quick, store, values_node
from ..operands.dispatch import namespace
from ..operands.gathers import index_leaf, is_index_array
from ..operands.learning import key_of
from ..operands.nodes import as_node, unwrapped
from ..operands.representation import container_repr, html
from ..operands.tracing import snapshot_of
from ..ops.op import Op
from ..runtime.counting import count_use
from . import basic_indexing, few
from .advanced_indexing import is_advanced, numpy_index, put, stretched, with_ints
from .expression import XExpression, converted, operation
from .numpy_interface import DescribedMemory, check_asker
from .placed import Placed
from .scalar import XFloat64, XScalar, scalar_of, values_of

_NumpyArray = np.ndarray


class XContainer(Placed, DescribedMemory, XExpression):
    """An array in memory: a buffer, and a map from indices to places in it.

    What a strided container needs to become part of an expression is at hand: its kind, its shape,
    its buffer, and the byte where its first element begins.  Its map is made when it is asked for.

    Attributes
    ----------
    buffer : Buffer
        The flat bytes.
    map : Strided or TiledMap
        Where each element lies.
    """

    __slots__ = ("_array", "_buffer", "_dtype", "_place", "_start", "_steps")

    lasting: ClassVar[bool] = False
    _fixed: ClassVar[int] = FREE  # what of the shape is part of the type

    _view_class: ClassVar[type[XContainer]]
    _array: NumpyArray
    _buffer: Buffer
    _dtype: DType
    _place: Map
    _start: int
    _steps: tuple[int, ...]

    @classmethod
    def _wrap(cls, buffer: Buffer, layout: Map, dtype: DType) -> XContainer:
        """Return a container over existing memory, unchecked."""
        self = cls.__new__(cls)
        self._lie(buffer, layout, dtype)
        return self

    def _lie(self, buffer: Buffer, place: Map, dtype: DType) -> None:
        """Have the elements of a new container lie in a buffer as a map says."""
        self._buffer, self._place, self._dtype, self._shape = buffer, place, dtype, place.shape
        if isinstance(place, Strided):
            self._kind = leaf_kind(dtype, place, self._fixed)
            self._start = place.offset * dtype.itemsize
        else:
            self._kind, self._start = NODE, 0

    @property
    def _map(self) -> Map:
        try:
            return self._place
        except AttributeError:
            kind, shape, start = self._kind, self._shape, self._start
            place = Strided(shape, strides_of(kind, shape), start // kind.dtype.itemsize)
            if self._shape is shape and self._kind is kind:  # it does not lie elsewhere by now
                self._place = place
            return place

    @property
    def node(self) -> Leaf:
        """A leaf over the memory as it is now."""
        still = self._still()
        layout = still._map
        return Leaf(layout.shape, self._dtype, snapshot_of(still._buffer), layout, self._fixed)

    def references(self, snapshot: Snapshot) -> int:
        """Count what the container holds of a snapshot: nothing."""
        return 0

    def now(self) -> Operands:
        """Return the current snapshot of the memory, and where the first element begins."""
        try:
            return (self._buffer._snapshot, self._start)
        except AttributeError:  # it has none yet, or shares it
            return (self._buffer.snapshot(), self._start)

    @property
    def dtype(self) -> DType:
        """Dtype of the elements."""
        return self._dtype

    def to_layout(self, layout: LayoutLike) -> XContainer:
        """Return the elements in new memory under another layout, bit for bit the same.

        Parameters
        ----------
        layout : Layout, str or constant
            For example ``"{1,0:T(8,128)}"`` or ``"row_major"``.

        Returns
        -------
        XArray
            A container with that layout.

        Raises
        ------
        LayoutError
            If the layout does not fit the shape or the dtype.

        Examples
        --------
        >>> import xarraylite as xl
        >>> a = xl.asarray([[1, 2, 3], [4, 5, 6]])
        >>> b = a.to_layout("{1,0:T(2,2)}")
        >>> list(memoryview(b.buffer.data).cast("q"))
        [1, 2, 4, 5, 3, 0, 6, 0]
        >>> xl.array_equal(a, b.to_layout("row_major"))
        True
        """
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def numpy(self) -> NumpyArray:
        """Return a NumPy view of the memory; no copy.

        Expressions that wait for the memory keep what it holds now; those that are written later
        read what NumPy writes.  Tiled memory, which NumPy cannot describe, is copied instead.
        """
        if self._kind is not NODE:
            return self.__array__()
        tracing.note_values()
        if isinstance(self._map, TiledMap):
            return self._as_numpy()
        self._buffer.lend()
        return self._buffer.view(self._dtype, self._map)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> NumpyArray:
        """Return the memory as a NumPy array, copied only if the dtype or ``copy`` demands.

        Tiled memory is always copied, and refused where ``copy`` is False.
        """
        check_asker(sys._getframe(1))
        tracing.note_values()
        if dtype is None and not copy and self._kind is not NODE:
            self._buffer.lend()
            return elements.array_of(self).view()
        view = self.numpy()
        if isinstance(self._map, TiledMap):
            if copy is False:
                raise ValueError(f"{self.summary()}: its layout {self._map.layout} needs a copy")
            return view if dtype is None else view.astype(dtype, copy=False)
        if dtype is not None and np.dtype(dtype) != self._dtype:
            if copy is False:
                raise ValueError(f"{self.summary()}: conversion to {dtype} needs a copy")
            return view.astype(dtype)
        return view.copy() if copy else view

    def _is_strided(self) -> bool:
        return self._kind is not NODE

    def _evaluated(self) -> XContainer:
        return self

    def _as_numpy(self) -> NumpyArray:
        """Return the elements as NumPy reads them: tiled ones as an array of their own."""
        tracing.note_values()
        if self._kind is not NODE:
            return elements.array_of(self)
        if is_quick(self._map):
            return read(self._buffer, self._dtype, self._map)
        place = Strided.row_major(self.shape)
        return store(self.node, place).view(self._dtype, place)

    def summary(self) -> str:
        """Return kind, dtype, shape and tiled layout, as error messages show them."""
        return f"{self._title} {build.describe(self.node)}"

    def __repr__(self) -> str:
        """Show the values, summarised if there are many."""
        try:
            values = self._as_numpy()
        except LayoutError:  # a broadcast view of more elements than NumPy can count
            return f"<{self.summary()}>"
        return container_repr(self._title, values)

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts and values."""
        place = self._map
        tiles = {} if not isinstance(place, TiledMap) else {"tiles": str(place.layout)}
        layout = tiles or {"layout": self.layout.value}  # type: ignore[union-attr]
        return html(self._facts(self._title) | layout, str(self))

    def copy(self, order: str = "K") -> XContainer:
        """Return the elements in new memory.

        Parameters
        ----------
        order : {"K", "A", "C", "F"}
            As they lie, or those of a view in the default layout (K and A), in row-major (C), or in
            column-major order (F).
        """
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def __copy__(self) -> XContainer:
        """Return a copy: two containers never share memory without being views."""
        return self.copy()

    # --- views --------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: str) -> labelled.XLabelled: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Return a view of the elements that ``key`` selects, or the value of one element.

        As in NumPy, an integer for every dimension gives a value (`XScalar`), to which later
        writes do nothing; with ``...`` among them it gives a view of rank 0.  See `XExpression`
        for the rest.
        """
        cls = key.__class__
        if cls is int or (cls is tuple and key and key[-1].__class__ is int is key[0].__class__):
            one = elements.one(self, key)
            if one.__class__ is not _NumpyArray and not tracing.is_active():
                count_use()
                return XFloat64(one) if one.__class__ is np.float64 else scalar_of(one)
        ints = with_ints(key)
        if ints is not key:
            return self[ints]
        mask = cls is bool or cls is np.bool_
        found: Any = None if mask else basic_indexing.part(self._still(), key)
        found = few.selected(self, key) if found is None else found
        return super().__getitem__(key) if found is None else found

    def item(self, *index: Any) -> Any:
        """Return the only element, or the one at an index, as a Python number.

        Raises
        ------
        ValueError
            If no index is given and there is not exactly one element.
        """
        if index or self._kind is NODE or self.size != 1:
            return super().item(*index)
        tracing.note_values()
        return elements.number(self)

    def _view(self, step: steps.Transform) -> XExpression:
        if not self._shape and self._is_value():
            return self.copy()._view(step)  # of a scalar NumPy makes another array
        still: XContainer = self._still()
        return still._over(still._map.apply(step))

    def _over(self, layout: Map) -> XExpression:
        return self._view_class._wrap(self._buffer, layout, self._dtype)

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        if not self._shape and self._is_value():
            return self.copy()._reshaped(shape)
        still: XContainer = self._still()
        dense = still._kind is not NODE and still._kind.strides is None
        if dense and still.size == math.prod(shape):
            start = still._start // still._kind.itemsize
            return still._over(Strided(shape, row_major_strides(shape), start))
        node = build.reshape(still.node, shape)
        return still._over(node.map) if isinstance(node, Leaf) else XExpression(node)

    def _one(self) -> Any:
        """Return the only element of rank 0 as a value."""
        return scalar_of(read(self._buffer, self._dtype, self._map)[()])

    def __iter__(self) -> Iterator[Any]:
        """Yield the values of a vector, read when they are reached, or the rows of others."""
        usual = len(self._shape) == 1 and self._kind is not NODE and not tracing.is_active()
        if not usual or (
            self._dtype.type is not np.float64
            and not isinstance(type(self).__getitem__, FunctionType)
        ):
            return map(self.__getitem__, range(len(self)))  # in machine code for values too
        return values_of(elements.array_of(self), self._dtype)

    # --- assignment ---------------------------------------------------------------------------

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign to the selected elements by the view rule: broadcast, never resize.

        Raises
        ------
        BroadcastError
            If ``value`` does not broadcast to the selection.
        ReadOnlyError, OverlapError
            If the memory cannot be written.
        """
        if value.__class__ is range:
            self[key] = [*value]
            return
        if key.__class__ is not int:
            key = with_ints(key)
        number = value._value if isinstance(value, XScalar) else few.number(value, self._kind)
        if number.__class__ not in self._kind.stored:
            lazy = isinstance(number, XExpression)
            number = None if lazy else elements.fitting(self._kind, number)
        if number is not None:
            count_use()
            if elements.stored(self, key, number):
                return
        if key.__class__ is XExpression:
            key = few.settled(is_held(key, HELD_SETITEM), key)
        held = is_held(value, HELD_SETITEM)
        self._store(key, unwrapped(value), held, False)

    def _store(self, key: Any, value: object, held: bool, noalias: bool) -> None:
        self._still()._store_in(key, value, held, noalias)

    def _store_in(self, key: Any, value: object, held: bool, noalias: bool) -> None:
        value = few.given(self, key, value)
        if isinstance(value, XExpression):
            checked = noalias and settings.check_noalias  # a broken promise is told of
            if not checked and few.stored(self, key, value, held):
                return
            to = self if key is Ellipsis else basic_indexing.part(self, key)
            if to is not None:
                asked = value
                value, held, used = few.made_for(to, value, held)
                if writes.assigned(to, value, held, noalias, used):
                    writes.learn(to, asked, value)
                    return
                if not noalias and elements.put_at(self, key, value, used):
                    return
        elif value.__class__ is _NumpyArray and not noalias and elements.put_at(self, key, value):
            return
        if key is Ellipsis:
            write(self, node_of(value, self), value, held, noalias)
            return
        if isinstance(key, str):
            assignment.assign_labelled(self, key, value, held, noalias)
            return
        if few.placed(self, key, value, held):
            return
        if is_advanced(key):
            self._put(key, value, held)
            return
        selection = parse_index(key, self.shape, is_index_array)
        if selection.take is not None:
            self._scatter(selection, value, held)
            return
        view = self._part(selection)
        node = node_of(value, view)
        write(view, node, value, held, noalias)

    def _part(self, selection: Selection) -> XContainer:
        """Return a view of what the basic part of an index selects."""
        layout = self._map.apply(selection.transform)
        return self._view_class._wrap(self._buffer, layout, self._dtype)

    def _scatter(self, selection: Selection, value: object, held: bool) -> None:
        """Assign through an integer array, one element after another as NumPy does."""
        view = self._part(selection)
        check_writable(view, "assignment")
        axis = selection.take_axis
        index = index_leaf(selection.take, view.shape[axis])
        node = node_of(value, view)
        values = few.computed(value, node, self._dtype)
        positions = read(index.snapshot, index.dtype, index.map)
        before, behind, front = view.shape[:axis], view.shape[axis + 1 :], selection.take_front
        target = (positions.shape + before if front else before + positions.shape) + behind
        values = stretched(values, target, build.describe(node), self.summary())
        if front:
            values = np.moveaxis(values, range(positions.ndim), range(axis, axis + positions.ndim))
        with protect(self._buffer, node, node, value, held):
            write_elements(view.buffer, self._dtype, view.map, values, (axis, positions))

    def _target(self) -> Self:
        return self

    def _put(self, key: Any, value: object, held: bool) -> None:
        """Assign through masks or several integer arrays, by NumPy's rule."""
        check_writable(self, "assignment")
        node = node_of(value, self)
        new = few.computed(value, node, self._dtype)
        index, values = numpy_index(key, "assignment"), self._as_numpy()
        if np.may_share_memory(new, values):
            new = new.copy()
        what = self.summary()  # while it is written, a node of it reads a copy
        if isinstance(self._map, TiledMap):
            put(values, index, new, what)
            write(self, values_node(values, None, "assignment"), None, False, False)
            return
        with protect(self._buffer, node, node, value, held):
            put(values, index, new, what)

    def _update(self, op: Op, value: object, held: bool, noalias: bool = False) -> None:
        """Perform ``self op= value`` by NumPy's rule.

        Raises
        ------
        CastError
            If the result's dtype does not cast back under ``same_kind``.
        BroadcastError
            If the result would be larger than the destination.
        """
        value, to = unwrapped(value), self._still()
        if value.__class__ in elements.COPIED:
            own = elements.container_of(namespace(None).XArray, value)
            value, held = own, held and own is value
        if writes.updated(to, op, value, held, noalias):
            return
        result = operation((op, key_of(value)), op, to, value)
        check_update(to, op.name, result.shape, result.dtype)
        if result.dtype is not to._dtype and result._kind is not NODE:
            result = converted(result, to._dtype)  # whose kind says all there is to remember
        if noalias or not writes.assigned(to, result, False, used=None if held else value):
            node = result.node
            del result  # whose references would be another reader's
            write(to, node, value, held, noalias)

    def __imatmul__(self, other: object) -> Self:
        """Apply ``matmul`` in place, by NumPy's rule."""
        check_writable(self, "in-place matmul")
        check = partial(check_update, self, "matmul")
        made = products.product("matmul", (self.node, as_node(other, "matmul")), check=check)
        write(self, made if isinstance(made, Node) else made.leaf(), None, False, False)
        return self

    def assign(self, value: object) -> XContainer:
        """Assign by the container's rule; see the subclasses.

        Returns
        -------
        XContainer
            The container itself.
        """
        held = is_held(value, called.assign)
        self._assign(value, held, False)
        return self

    def _assign(self, value: object, held: bool, noalias: bool) -> None:
        to = self._still()
        if value.__class__ is XExpression and writes.assigned(to, value, held, noalias):
            return
        write(to, node_of(value, to), value, held, noalias)
