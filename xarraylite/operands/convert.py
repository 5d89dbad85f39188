"""Memory from whatever values a user gives: nested lists, scalars, arrays, expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import chain
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._config import settings
from .._errors import DTypeError, LayoutError, ShapeError
from .._later import layouts, placement, reference
from ..dtypes.names import DType, NumpyArray, as_dtype, dtype_name, float64, is_narrow_float, kind
from ..dtypes.narrow import odd_float
from ..dtypes.promotion import int_bounds
from ..ir import build
from ..ir.kind import owner_class
from ..ir.node import Elementwise, Leaf, Node
from ..ir.walk import fixed_of, reads_late
from ..layout.strided import COLUMN_MAJOR, DYNAMIC, ROW_MAJOR, Order, Strided, check_strides
from ..layout.tiled import Map, TiledMap
from ..memory.arrays import allocate, padding_value, read, write
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..runtime import evaluate as engine
from ..runtime.floating_errors import silently
from . import tracing
from .nodes import HasNode, Lifted, array_of_object, borrow_array, is_masked, is_read, values_in

if TYPE_CHECKING:
    from ..layout.layout import Layout

#: Elements up to which tiled memory is copied through a table of positions.
SMALL = 1 << 12

#: Elements from which on a transposing copy is a kernel's.
CROSSED = 1 << 16

#: Items of a list up to which their classes are gathered at once.
SEVERAL = 64

#: The static layout of a container.
Policy: TypeAlias = "Order | Layout"

LayoutLike: TypeAlias = "Order | Layout | str | None"

#: Layouts by NumPy's letters; None where the elements decide.
_ORDERS: dict[str, Order | None] = {"K": None, "A": None, "C": ROW_MAJOR, "F": COLUMN_MAJOR}

#: Stands for values that are not given.
MISSING: Any = object()


def layout_named(order: str | None) -> Order | None:
    """Return the layout that NumPy's letter names; None where the elements decide."""
    try:
        return _ORDERS["K" if order is None else str(order).upper()]
    except KeyError:
        raise ValueError(f"copy: order must be one of {list(_ORDERS)}, got {order!r}") from None


def as_order(layout: LayoutLike, operation: str = "layout") -> Policy:
    """Return a layout given by constant, by name or as XLA's text; None is the default.

    Raises
    ------
    LayoutError
        For any other name; a `LayoutParseError` for malformed text.
    """
    if layout is None:
        return ROW_MAJOR if settings.default_layout == ROW_MAJOR.value else COLUMN_MAJOR
    if isinstance(layout, Order):
        return layout
    if str(layout).lstrip().startswith("{"):
        return layout if isinstance(layout, layouts.Layout) else layouts.Layout.parse(layout)
    try:
        return Order(layout)
    except ValueError:
        names = ", ".join(repr(order.value) for order in Order)
        raise LayoutError(
            f"{operation}: layout {layout!r} is unknown; it must be one of {names}, an xl.Layout, "
            "or its text"
        ) from None


def layout_of(
    shape: tuple[int, ...],
    layout: LayoutLike,
    strides: Sequence[int] | None,
    dtype: DType,
    operation: str,
) -> tuple[Map, Policy]:
    """Return where the elements of a new container lie, and its static layout.

    Explicit strides make the layout dynamic.

    Raises
    ------
    LayoutError
        If strides are given together with a static layout, or the layout does not fit.
    """
    order = as_order(layout, operation)
    if strides is not None:
        if layout is not None and order is not DYNAMIC:
            raise LayoutError(
                f"{operation}: strides {tuple(strides)} cannot be given with the static layout "
                f"{order}; use layout='dynamic'"
            )
        try:
            steps = tuple(map(operator.index, strides))
        except TypeError:
            raise LayoutError(f"{operation}: strides must be integers, got {strides!r}") from None
        return check_strides(shape, steps, operation), DYNAMIC
    return place_of(order, shape, dtype, operation), order


def place_of(layout: Policy, shape: tuple[int, ...], dtype: DType, operation: str) -> Map:
    """Return where the elements of a new container of a static layout lie."""
    if not isinstance(layout, Order):
        return placement.map_of(layout, shape, dtype, operation)
    return (Strided.column_major if layout is COLUMN_MAJOR else Strided.row_major)(shape)


def policy_of(layout: Map) -> Policy:
    """Return the static layout of a container that an evaluation made."""
    if isinstance(layout, TiledMap):
        return layout.layout
    if layout.is_row_major():
        return ROW_MAJOR
    return COLUMN_MAJOR if layout.is_column_major() else placement.layout_of_map(layout) or DYNAMIC


def computed(values: object, operation: str) -> Any:
    """Return an expression's values in a new container, whose class says what of it is fixed."""
    node = values_node(values, None, operation)
    cls = owner_class(fixed_of(node), node.dtype, node.shape)
    buffer, place = engine.evaluate(node)
    return cls._own(buffer, place, node.dtype, policy_of(place))


def values_node(values: object, dtype: DType | None, operation: str) -> Node:
    """Return ``values`` as a node of ``dtype`` (their own where None).

    Raises
    ------
    DTypeError
        If they are no numbers.
    ShapeError
        If nested lists are ragged.
    """
    if isinstance(values, HasNode):
        node = values.node
    elif isinstance(values, Lifted):
        raise DTypeError(f"{operation}: got {type(values).__name__}; {values.instead}")
    elif isinstance(values, np.ndarray) and is_masked(values):
        if np.any(values.mask):  # type: ignore[attr-defined]
            raise DTypeError(f"{operation}: got a masked array; fill it first, as masks are lost")
        return values_node(np.asarray(values), dtype, operation)
    elif isinstance(values, np.ndarray) and is_read(values):
        node = borrow_array(values, operation)
    else:
        node = borrow_array(plain_array(values, dtype, operation), operation)
    return node if dtype is None else build.cast(node, dtype)


#: Codes of integers, and of all numbers that are NumPy's.
_WHOLE = "bhilqBHILQ"
_OWN = _WHOLE + "?efdFD"

#: Codes of what `listed` makes of several kinds of numbers.
_CONVERTED = _WHOLE + "?fdD"


def listed(values: object, dtype: DType | None, plain: bool = False) -> NumpyArray | None:
    """Return nested lists of numbers, or numbers written as text, in a dtype, their own where None.

    None where NumPy converts them in another way than we do, or refuses them.  In ``plain`` ones
    are nothing but ints and floats.
    """
    try:
        given = values if plain else values_in(values, True)
        own = np.array(given, dtype if plain and dtype is float64 else None)
        if dtype is None or dtype is own.dtype:
            return own if own.dtype.char in _OWN else None
        to, code = own.dtype.kind, dtype.char
        if to in "US" and code in _OWN and own.size:
            return own.astype(dtype)
        if to in "iub" and code in _WHOLE:
            low, high = int_bounds(dtype)
            fits = to == "b" or not own.size or (low <= own.min() and own.max() <= high)
            return own.astype(dtype) if fits else None
    except (ValueError, OverflowError):
        return None
    if to in "biuf" and (code in "?dD" or (code == "f" and to != "f")):
        return own.astype(dtype)
    return silently(own.astype, dtype) if to == "f" == code else None


#: What gives the number of an instance of a class of Python's, and refuses all others.
_NUMBER_OF: dict[Any, Callable[[Any], Any] | None] = {
    float: float.conjugate,
    int: int.conjugate,
    complex: complex.__complex__,
    bool: None,
}
_OWN_OF_PYTHON = frozenset(map(np.dtype, _NUMBER_OF))


def uniform(values: Sequence[Any], dtype: DType | None) -> NumpyArray | None:
    """Return numbers of one class of Python's in a list, or lists of one length; None of all else.

    They are of ``dtype`` if that is one of Python's numbers and has them, else of their own, which
    `listed` converts.

    Numbers are checked on the way into the array, for to gather their classes takes half as long as
    that, and NumPy would look at each number once more to find a dtype.  A list that another thread
    changes meanwhile is none of one class, or of one length.
    """
    items: Any = values
    size, first = len(values), next(iter(values), None)
    nested = first.__class__ is list
    if nested:
        rows = list(values)
        if {*map(type, rows)} != {list} or len({*map(len, rows)}) > 1:
            return None
        items, first = chain.from_iterable(rows), next(iter(rows[0]), None)
        size = len(rows) * (width := len(rows[0]))
    cls = first.__class__
    if cls not in _NUMBER_OF or not (dtype is None or dtype.char in _CONVERTED):
        return None
    own, number = np.dtype(cls), _NUMBER_OF[cls]
    to = dtype if dtype in _OWN_OF_PYTHON and own <= dtype else own
    if number is not None:
        items = map(number, items)
    elif (items := list(items)) and [*map(type, items)].count(bool) < size:
        return None
    try:
        made = np.fromiter(items, to, size)
    except (OverflowError, TypeError, ValueError):
        return None
    if not nested:
        return made
    return made.reshape(-1, width) if {*map(len, rows)} == {width} else None


def plain_array(values: object, dtype: DType | None, operation: str) -> NumpyArray:
    """Return lists and scalars as a NumPy array of a supported dtype.

    Raises
    ------
    DTypeError
        If they are no numbers, or complex ones where ``dtype`` is real.
    """
    if isinstance(values, (list, tuple)):
        values = values_in(values, dtype is None)
    try:
        array = array_of_object(values)
    except ValueError as error:
        raise ShapeError(f"{operation}: nested lists are ragged ({error})") from None
    if dtype is not None and kind(dtype) in "iu" and type(values) in (list, int, float):
        array = _checked_integers(values, array, dtype, operation)
    lost = array.dtype.kind == "c" and type(values) in (list, complex)
    if lost and dtype is not None and kind(dtype) in "iuf":
        raise DTypeError(
            f"{operation}: complex numbers do not go into {dtype_name(dtype)}; give their .real"
        )
    if array.dtype.hasobject and dtype is not None:
        array = _checked_numbers(array, dtype)
    if array.dtype.hasobject or (array.dtype.kind in "SUMmV" and array.dtype.isbuiltin == 1):
        raise DTypeError(
            f"{operation}: got {type(values).__name__} of {array.dtype}; elements must be numbers"
        )
    if array.dtype.isnative and array.flags.c_contiguous:
        return array
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return np.ascontiguousarray(native).reshape(array.shape)


def check_representable(values: object, dtype: DType, operation: str) -> None:
    """Refuse Python integers, alone or in lists, that an integer dtype cannot hold.

    Raises
    ------
    OverflowError
        If there are any.
    DTypeError
        For complex numbers where the dtype is real.
    """
    losing = kind(dtype) in "iuf" and type(values) in (complex, list, tuple)
    if losing or (kind(dtype) in "iu" and type(values) is int):
        plain_array(list(values) if isinstance(values, tuple) else values, dtype, operation)


def _checked_integers(
    values: object, array: NumpyArray, dtype: DType, operation: str
) -> NumpyArray:
    """Refuse Python's numbers that ``dtype`` cannot hold, which a cast would wrap.

    Floats are integers without what is behind the point; Python says that NaN is none.
    """
    if not array.size:
        return array
    if array.dtype.kind in "fO":  # int64 and uint64 together, or beyond both, besides real floats
        array = np.array(values, dtype=object)
    if array.dtype.kind not in "iuO":
        return array
    items = array.ravel().tolist()
    if not all(isinstance(item, (Real, np.bool_)) for item in items):
        return np.asarray(values)
    wholes = [*map(int, items)]
    low, high = int_bounds(dtype)
    if min(wholes) < low or max(wholes) > high:
        raise OverflowError(f"{operation}: some integers do not fit {dtype_name(dtype)}")
    if not all(isinstance(item, (Integral, np.bool_)) for item in items):
        return np.asarray(values)
    return array if array.dtype != np.dtype(object) else np.asarray(values, dtype=dtype)


def _checked_numbers(array: NumpyArray, dtype: DType) -> NumpyArray:
    """Return Python numbers, of which some fit no integer type, as ``dtype`` has room for them."""
    items = array.ravel().tolist()
    rooms = {"b": (bool, int, float, complex), "c": (int, float, complex), "f": (int, float)}
    if not all(isinstance(item, rooms.get(kind(dtype), ())) for item in items):
        return array
    make: Any = {"b": bool, "c": complex, "f": float}[kind(dtype)]
    if is_narrow_float(dtype):  # to be rounded once more
        items = [odd_float(item) if isinstance(item, int) else item for item in items]
    return np.array([make(item) for item in items]).reshape(array.shape)


def store(node: Node, layout: Map) -> Buffer:
    """Return new memory that holds ``node`` under ``layout``; gaps between strides are zero.

    Memory that is only copied or converted needs no kernel: NumPy does it, with the same bits,
    so that making containers does not wait for a compiler, but for large transposes.
    """
    if tracing.is_active() and reads_late(node):
        tracing.note_values()
    # Between the elements of tiled memory there is padding only, which new memory has.
    filled = isinstance(layout, TiledMap) or layout.is_contiguous()
    buffer = (raw if filled else zeroed)(layout, node.dtype)
    source = _plain_source(node)
    if source is None or not _is_numpys(layout, source.map):
        engine.assign(Target(buffer, layout, node.dtype, fresh=True), node, True)
    else:
        values = read(source.snapshot, source.dtype, source.map)
        write(buffer, node.dtype, layout, silently(reference.convert, values, node.dtype))
    return buffer


def is_quick(layout: Map) -> bool:
    """Tell whether NumPy copies as fast as a kernel, or the kernel is not worth compiling."""
    return isinstance(layout, Strided) or layout.size <= SMALL


def _is_numpys(to: Map, source: Map) -> bool:
    """Tell the same of two layouts: a kernel transposes large arrays ten times as fast."""
    if not isinstance(to, Strided) or not isinstance(source, Strided) or to.size < CROSSED:
        return is_quick(to) and is_quick(source)
    return _nearest(to) == _nearest(source) or -1 in (_nearest(to), _nearest(source))


def _nearest(place: Strided) -> int:
    """Return the dimension along which elements lie nearest to each other; -1 if there is none."""
    steps = [(abs(s), k) for k, s in enumerate(place.strides) if s and place.shape[k] > 1]
    return min(steps, default=(0, -1))[1]


def _plain_source(node: Node) -> Leaf | None:
    """Return the memory that a node copies or converts, or None if it computes."""
    if isinstance(node, Elementwise) and node.op is build.CAST:
        node = node.operands[0]
    if isinstance(node, Leaf) and node.snapshot.stale is None and not node.snapshot.traced:
        return None if node.snapshot.retired else node
    return None


def raw(layout: Map, dtype: DType) -> Buffer:
    """Return new memory for a layout, not initialised."""
    return allocate(layout, dtype)


def zeroed(layout: Map, dtype: DType) -> Buffer:
    """Return new memory for a layout, all bytes zero."""
    buffer = raw(layout, dtype)
    if isinstance(layout, TiledMap) and padding_value(layout.layout.padding_value, dtype):
        write(buffer, dtype, layout, np.zeros((), dtype))
    else:
        buffer.run()[:] = 0
    return buffer


def pinned_dtype(dtype: object) -> DType | None:
    """Return a ``dtype=`` argument as a dtype."""
    return None if dtype is None else as_dtype(dtype)
