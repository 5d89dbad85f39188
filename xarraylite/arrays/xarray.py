"""`XArray`: the container of dynamic rank, and `XView`, part of a container's memory."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, ClassVar, SupportsIndex

from .._errors import ShapeError
from .._later import bitcast, pickling, remembered, specs
from ..assignment import elements, results, writes
from ..assignment.assign import check_writable, converted, node_of, write
from ..assignment.readers import protect
from ..dtypes.names import SUPPORTED, DType, NumpyArray, as_dtype, float64
from ..index.broadcast import as_shape, infer_extent
from ..ir.kind import NODE, OWNERS, leaf_of, one_of_equal, owner_class, row_major
from ..ir.node import FREE, Node
from ..ir.walk import fixed_of
from ..layout.strided import COLUMN_MAJOR, DYNAMIC, ROW_MAJOR, Order, Strided, column_major_strides
from ..layout.tiled import Map
from ..memory.buffer import NOWHERE, Buffer
from ..memory.target import Target
from ..operands import tracing
from ..operands.convert import (
    MISSING,
    SMALL,
    LayoutLike,
    Policy,
    as_order,
    layout_named,
    layout_of,
    pinned_dtype,
    place_of,
    raw,
    store,
    values_node,
)
from ..runtime import evaluate as engine
from ..runtime.counting import count_use
from .container import XContainer
from .expression import XExpression
from .owner import Owner


class XView(XContainer):
    """Part of another container's memory, under an index of its own; never resized.

    Made by indexing and by the view functions; assignment writes through.  Of given values, as its
    text has them, it is a view of a new container.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1, 2, 3, 4])
    >>> a[::2] += 10
    >>> a
    XArray([11,  2, 13,  4])
    """

    __slots__ = ()

    def __init__(self, values: object, dtype: object = None) -> None:
        of = XArray(values, dtype)
        self._lie(of._buffer, of._place, of._dtype)

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place; memory that others own has so many elements and no more.

        Raises
        ------
        ShapeError
            If the number of elements would change.
        """
        self.shape = as_shape(shape[0] if len(shape) == 1 else shape, "resize")

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents; to assign others of the same size views the same elements under them.

        Raises
        ------
        ShapeError
            If the sizes differ, or the type fixes the rank or the shape.
        AttributeError
            If the elements do not lie so that strides could say it.
        """
        return self._shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Iterable[SupportsIndex]) -> None:
        target = infer_extent(shape, self.size)
        if self._fixed != FREE and len(target) != self.ndim:
            raise ShapeError(f"shape: {self.summary()} has a fixed rank, and {target} another")
        made: Any = self._reshaped(target)
        if not isinstance(made, XContainer) or made._buffer is not self._buffer:
            raise AttributeError(
                f"shape: {self.summary()} with strides {self.strides} is no view under {target}; "
                "use reshape, which copies where it has to"
            )
        self._lie_elsewhere(made._buffer, made._map, self._dtype)

    def copy(self, order: str = "K") -> XArray:
        """Return the elements in a new container that owns them; see `XContainer.copy`."""
        return self.to_layout(layout_named(order))

    def to_layout(self, layout: LayoutLike) -> XArray:
        """Return the elements in new memory under a layout; see `XContainer.to_layout`."""
        made: XArray = owner_class(self._fixed, self._dtype, self.shape)(self, layout=layout)
        return made

    @property
    def base(self) -> XArray:
        """All elements of the memory that the view is of, as a vector."""
        buffer, dtype = self._buffer, self._dtype
        place = Strided.row_major((buffer.nbytes // dtype.itemsize,))
        return XArray._own(buffer, place, dtype, DYNAMIC)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickle as a copy of the elements, not of the whole buffer."""
        return self.copy().__reduce_ex__(protocol)


XView._view_class = XView


class XArray(Owner):
    """An array that owns its memory and may change its rank.

    Parameters
    ----------
    values : array, expression, scalar or nested lists
        The elements; always copied.
    dtype : dtype, optional
        By default that of the values, or float64 without any.
    layout : {"row_major", "column_major", "dynamic"}, Layout or its text, optional
        A static layout is kept for good; a dynamic one accepts strides later.  A `Layout`, or
        text like ``"{1,0:T(8,128)}"``, is XLA's.  By default the ``default_layout`` setting, which
        `transpose_` may change.
    strides : sequence of int, optional
        Element strides; the layout is then dynamic.
    shape : int or sequence of int, optional
        In the place of values: the extents of a container whose elements are not initialised.

    Raises
    ------
    DTypeError, ShapeError, LayoutError
        If the values are no numbers, ragged, or do not fit the strides.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.XArray([[1, 2], [3, 4]], dtype="float32", layout="column_major")
    >>> a.strides
    (1, 2)
    """

    __slots__ = ()
    _view_class: ClassVar[type[XContainer]] = XView

    def __init__(
        self,
        values: object = MISSING,
        dtype: object = None,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
        *,
        shape: SupportsIndex | Iterable[SupportsIndex] | None = None,
    ) -> None:
        if (values is MISSING) is (shape is None):
            raise TypeError(f"{self._title} takes either values or shape=")
        if shape is not None:
            extents, wanted = as_shape(shape, self._title), pinned_dtype(dtype) or float64
        else:
            array, pinned = isinstance(values, XExpression) and strides is None, pinned_dtype(dtype)
            if array and self._took(values, pinned, layout, self._title):
                return
            node = values_node(values, pinned, self._title)
            extents, wanted = node.shape, node.dtype
        place, self._policy = layout_of(extents, layout, strides, wanted, self._title)
        self._check(extents, wanted, "construction")
        if strides is not None:
            self._refuse_overlap(place, wanted)
        self._lie(raw(place, wanted) if values is MISSING else store(node, place), place, wanted)
        self._keep(layout)

    def _took(self, values: Any, wanted: DType | None, layout: LayoutLike, operation: str) -> bool:
        """Have NumPy copy few strided elements in an order of dimensions; tell whether it is done.

        A lazy array's are computed first.
        """
        order, shape, dtype = as_order(layout, operation), values.shape, values.dtype
        few = (wanted is None or wanted is dtype) and values.size <= elements.FEW
        if not (few and isinstance(order, Order)) or values._kind is NODE or tracing.is_active():
            return False
        made = results.evaluate(values) if values.__class__ is XExpression else values
        if not isinstance(made, XContainer) or made._kind is NODE or made._shape != shape:
            return False
        self._check(shape, dtype, "construction")
        source = elements.array_of(made)
        self._buffer = buffer = Buffer.allocate(source.nbytes)
        if order is COLUMN_MAJOR:
            buffer.array(dtype, shape[::-1])[...] = source.T
            self._kind = leaf_of(dtype, shape, column_major_strides(shape), self._fixed)
        else:
            buffer.array(dtype, shape)[...] = source
            self._kind = row_major(dtype, len(shape), self._fixed)
        self._shape = shape if self._fixed == FREE else one_of_equal(shape)
        self._start, self._dtype, self._policy = 0, dtype, order
        self._keep(layout)
        results.count_launch()
        return True

    @classmethod
    def _own(
        cls,
        buffer: Buffer,
        layout: Map,
        dtype: DType,
        policy: Policy,
        asked: LayoutLike = None,
    ) -> XArray:
        """Return a container over memory that is given to it, unchecked."""
        self = cls.__new__(cls)
        self._lie(buffer, layout, dtype)
        self._policy = policy
        self._keep(asked)
        return self

    @classmethod
    def _adopted(cls, values: NumpyArray, *, own: bool | None = None) -> XArray:
        """Return a new NumPy array, which nobody else refers to, as a container of its own memory.

        Few elements are copied: memory of ours is cheap and aligned; and so is a view, unless it
        is said to be nobody else's.
        """
        if cls is XArray and values.size <= SMALL:
            made = owned(values)
            if made is not None:
                return made
        own = values.base is None if own is None else own
        if values.size > SMALL and own and values.flags.c_contiguous:
            buffer, dtype = Buffer.of_array(values), as_dtype(values.dtype)
            if cls is XArray:
                kind, shape = row_major(dtype, values.ndim), values.shape
                return results.container(cls, kind, shape, buffer, ROW_MAJOR)
            return cls._own(buffer, Strided.row_major(values.shape), dtype, ROW_MAJOR)
        return _copied(cls, values)

    @classmethod
    def _refuse_overlap(cls, place: Map, dtype: DType) -> None:
        check_writable(XView._wrap(NOWHERE, place, dtype), f"{cls._title} with strides")

    @classmethod
    def _filled(cls, result: remembered.Filled | Node, *operands: Node) -> XArray | XExpression:
        """Return a product; what is fixed of its operands' shapes is of its own."""
        if isinstance(result, Node):
            return XExpression(result)
        tracing.note_values()
        fixed = min(map(fixed_of, operands), default=FREE)
        owner: type[XArray] = owner_class(fixed, result.dtype, result.map.shape)
        return owner._own(*result, ROW_MAJOR)

    @property
    def static_layout(self) -> Policy:
        """The layout this container keeps; dynamic if it accepts any."""
        return self._policy

    @property
    def layout(self) -> Policy:
        """How the elements lie now: row-major, column-major, an XLA layout, or none (dynamic)."""
        return super().layout if isinstance(self._policy, Order) else self._policy

    @property
    def spec(self) -> specs.ArraySpec:
        """Element type, shape and layout, as XLA writes them.

        Raises
        ------
        LayoutError
            If the elements do not lie as any layout says.
        """
        if isinstance(self._policy, Order):
            return super().spec
        return specs.ArraySpec(self._dtype, self.shape, self._policy)

    def copy(self, order: str = "K") -> XArray:
        """Return a container of the same kind with memory of its own; see `XContainer.copy`."""
        layout = layout_named(order)
        if layout is not None:
            return self.to_layout(layout)
        place = self._compact()
        made = store(self.node, place), place, self._dtype, self._policy, self._asked
        return type(self)._own(*made)

    def to_layout(self, layout: LayoutLike) -> XArray:
        """Return the elements in new memory under another layout; see `XContainer.to_layout`."""
        made = type(self).__new__(type(self))
        if made._took(self, None, layout, "to_layout"):
            return made
        place, policy = layout_of(self.shape, layout, None, self._dtype, "to_layout")
        return type(self)._own(store(self.node, place), place, self._dtype, policy, layout)

    def bitcast(self, spec: specs.ArraySpec | str) -> XArray:
        """Return the same memory under another shape and layout, without a copy.

        Parameters
        ----------
        spec : ArraySpec or str
            Element type of the same width, dimensions and layout.

        Returns
        -------
        XArray
            A container that shares this one's buffer.

        Raises
        ------
        LayoutError
            Unless every element keeps its place and the memory its size (`ArraySpec.is_bitcast`).

        Examples
        --------
        >>> import xarraylite as xl
        >>> a = xl.asarray(range(2048), dtype="float32", layout="{0:T(1024)}")
        >>> a.bitcast("f32[16,128]{1,0:T(8,128)}")[8, 0]
        XScalar(1024.0, dtype=float32)
        """
        place, dtype, policy = bitcast.bitcast_of(self.spec, self._buffer, self._map, spec)
        self._buffer.kept = True
        return XArray._own(self._buffer, place, dtype, policy)

    def _compact(self) -> Map:
        """Return the contiguous layout nearest to the present one."""
        policy = COLUMN_MAJOR if self.layout is COLUMN_MAJOR else self._policy
        return place_of(policy, self.shape, self._dtype, "copy")

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """Pickle the elements, the order of dimensions and the static layout.

        From protocol 5 on the elements are an array, whose memory need not go through the pickle.
        """
        place = self._compact()
        memory = store(self.node, place).data
        values = memory if operator.index(protocol) >= 5 else memory.tobytes()
        column = place != Strided.row_major(self.shape)
        policy = self._policy.value if isinstance(self._policy, Order) else self._policy
        kept = (self._dtype, self.shape, column, policy, self._asked is not None)
        return (
            pickling.restore,
            (type(self)._origin(), values, *kept),
            self._own_attributes() or None,
        )

    def _own_attributes(self) -> dict[str, Any]:
        """Return the attributes of a class that is derived from this one, as they are kept."""
        return getattr(self, "__dict__", {})

    def __copy__(self) -> XArray:
        """Return a copy with the same attributes: only views share memory."""
        made = self.copy()
        made._own_attributes().update(self._own_attributes())
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> XArray:
        """Return a copy with copies of the attributes."""
        memo[id(self)] = made = self.copy()  # before them, as one may be the container itself
        made._own_attributes().update(deepcopy(self._own_attributes(), memo))
        return made

    @classmethod
    def _origin(cls) -> tuple[type[XArray], object]:
        """Return the class and its subscript, which pickle by name."""
        return cls, None

    # --- assignment that may change the shape --------------------------------------------------

    def _assign(self, value: object, held: bool, noalias: bool) -> None:
        """Take the shape of ``value`` and its elements, converted to this container's dtype."""
        to = self._still()
        if value.__class__ is XExpression and writes.assigned(to, value, held, noalias):
            return
        node = node_of(value, to)
        if node.shape == to.shape:
            write(to, node, value, held, noalias)
            return
        check_writable(self, "assign")
        self._check(node.shape, self._dtype, "assign")
        self._check_owner(node.shape, "assign")
        buffer = self._buffer
        foreign = buffer.owner is not None
        place = self._policy_layout(node.shape, self._first() if foreign else 0)
        if foreign:
            self._check_dense(place)
        fitted = converted(node, self._dtype)
        if foreign or (self._reuses(place, buffer) and not buffer.is_awaited()):
            with protect(buffer, fitted, node, value, held and not noalias):
                target = Target(buffer, place, self._dtype)
                engine.assign(target, fitted, noalias and foreign)
                self._lie_elsewhere(buffer, place, self._dtype)
            return
        self._move(store(fitted, place), place)


XExpression._container = XArray
OWNERS[FREE] = lambda dtype, shape: XArray


def _copied(cls: type[XArray], values: NumpyArray) -> XArray:
    shape = values.shape
    kind = row_major(as_dtype(values.dtype), len(shape), cls._fixed)
    made: XArray = elements.new_container(cls, kind, shape, values.size)
    made._buffer.array(kind.dtype, shape)[...] = values
    return made


def owned(values: NumpyArray) -> XArray | None:
    """Return the elements of an array in a container of their own; None if they are many."""
    dtype = values.dtype
    most = elements.MANY if values.flags.c_contiguous else elements.FEW
    if values.size > most or not dtype.isnative or dtype not in SUPPORTED:
        return None
    results.count_launch()
    return _copied(XArray, values)


def duplicated(of: XContainer) -> XArray | None:
    """Return the elements of a strided container in a new row-major one; None if they are many."""
    kind = of._kind
    if kind is NODE or of.size > (elements.FEW if kind.strides else elements.MANY):
        return None
    results.count_launch()
    return _copied(owner_class(of._fixed, of._dtype, of._shape), elements.array_of(of))


def zeros(extents: Any, dtype: DType) -> XArray | None:
    """Return few zeros of a dtype, by rows; None: only machine code beats `creation.zeros`."""
    count_use()
    return None
