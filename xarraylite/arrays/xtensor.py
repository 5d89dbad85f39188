"""`XTensor` and `XTensorFixed`: containers whose rank or shape is part of their type.

What is fixed is known to expressions: a function of tensors of fixed rank evaluates to one, a
function of tensors of fixed shape to one of fixed shape, and any operand of dynamic rank makes the
result an `XArray` (xtensor's promotion of shapes).  Views of either have a fixed rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, SupportsIndex

from .._errors import DTypeError, LayoutError, ShapeError
from ..dtypes.names import DType, as_dtype, dtype_name
from ..index.broadcast import as_shape
from ..ir.kind import OWNERS, one_of_equal
from ..ir.node import RANK, SHAPE
from ..layout.layout import Layout
from ..layout.strided import Order
from ..layout.tiled import Map
from ..memory.buffer import Buffer
from ..operands.convert import MISSING, LayoutLike, as_order
from .container import XContainer
from .xarray import XArray, XView

#: What a subscript says: dtype, rank or shape, and the layout if it is part of the type.
Pin = tuple[DType, Any, Order | Layout | None]

_types: dict[tuple[object, ...], type[Any]] = {}

_FIXED_EXAMPLE = "XTensorFixed[xl.float64, (2, 3)]"


class XTensorView(XView):
    """A view of a tensor of fixed rank or shape: its own rank is fixed as well."""

    __slots__ = ()
    _title: ClassVar[str] = "XView"
    _fixed: ClassVar[int] = RANK


XTensorView._view_class = XTensorView


class _Pinned(XArray):
    """A container whose rank or shape is fixed, or, if subscripted, dtype and layout as well."""

    __slots__ = ()
    _view_class: ClassVar[type[XContainer]] = XTensorView
    _pin: ClassVar[Pin | None] = None

    def __init__(
        self,
        values: object = MISSING,
        dtype: object = None,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
        *,
        shape: SupportsIndex | Iterable[SupportsIndex] | None = None,
    ) -> None:
        dtype, layout = pinned(self, dtype, layout, strides)
        if self._fixed == SHAPE:
            if self._pin is None:
                raise TypeError(f"XTensorFixed needs its dtype and shape, as in {_FIXED_EXAMPLE}")
            if values is MISSING and shape is None:
                shape = self._pin[1]
        super().__init__(values, dtype, layout, strides, shape=shape)

    def _lie(self, buffer: Buffer, place: Map, dtype: DType) -> None:
        """Have the elements lie in a buffer; arrays of equal shape have one tuple of extents.

        So machine code knows by its address that two of them fit, and compares no extents.
        """
        super()._lie(buffer, place, dtype)
        self._shape = one_of_equal(self._shape)

    @classmethod
    def _origin(cls) -> tuple[type[XArray], object]:
        base = XTensor if issubclass(cls, XTensor) else XTensorFixed
        return (base, cls._pin)


class XTensor(_Pinned):
    """An array that owns its memory and keeps its rank.

    ``XTensor[dtype, ndim]`` is a type of its own: in annotations it says what is expected, as a
    constructor it converts to the dtype and refuses another rank.  ``XTensor[dtype, ndim, layout]``
    fixes the layout, too.

    Parameters
    ----------
    values : array, expression, scalar or nested lists
        The elements; always copied.
    dtype : dtype, optional
        By default that of the type, else that of the values.
    layout, strides, shape : optional
        As for `XArray`.

    Raises
    ------
    ShapeError
        If the rank is not that of the type.
    DTypeError
        If ``dtype`` is not that of the type.

    Examples
    --------
    >>> import xarraylite as xl
    >>> Matrix = xl.XTensor[xl.float64, 2]
    >>> m = Matrix([[1, 2], [3, 4]])
    >>> m.rank, m.dtype
    (2, dtype('float64'))
    >>> type(xl.eval(m + m)) is xl.XTensor, xl.XTensor[xl.float64, 3](shape=(4, 2, 3)).shape
    (True, (4, 2, 3))
    """

    __slots__ = ()
    _fixed: ClassVar[int] = RANK

    @classmethod
    def __class_getitem__(cls, item: Any) -> type[XTensor]:
        """Return the type of tensors of one dtype and rank, and of one layout if there is a third.

        Raises
        ------
        TypeError
            Unless the subscript is ``[dtype, ndim]`` with ndim >= 0, or ``[dtype, ndim, layout]``.
        """
        dtype, rank, layout = parts_of(item, "XTensor", "[dtype, ndim]", "XTensor[xl.float64, 2]")
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
            raise TypeError(f"XTensor: ndim must be an integer >= 0, got {rank!r}")
        return subscripted(cls, dtype, rank, layout)

    def _check(self, shape: tuple[int, ...], dtype: DType, operation: str) -> None:
        rank = len(getattr(self, "_shape", shape)) if self._pin is None else self._pin[1]
        if len(shape) != rank:
            raise ShapeError(
                f"{operation}: {self._title} has rank {rank} and cannot take the shape {shape}"
            )


class XTensorFixed(_Pinned):
    """An array that owns its memory and keeps its shape.

    Always used with a subscript, ``XTensorFixed[dtype, shape]``.

    Parameters
    ----------
    values : array, expression, scalar or nested lists
        The elements; always copied.
    dtype : dtype, optional
        That of the type.
    layout, strides, shape : optional
        As for `XArray`.

    Raises
    ------
    ShapeError
        If the shape is not that of the type.
    DTypeError
        If ``dtype`` is not that of the type.

    Examples
    --------
    >>> import xarraylite as xl
    >>> f = xl.XTensorFixed[xl.float64, (2, 2)]([[1, 2], [3, 4]])
    >>> f.shape
    (2, 2)
    """

    __slots__ = ()
    _fixed: ClassVar[int] = SHAPE

    @classmethod
    def __class_getitem__(cls, item: Any) -> type[XTensorFixed]:
        """Return the type of tensors of one dtype and shape, and of one layout if there is a third.

        Raises
        ------
        TypeError
            Unless the subscript is ``[dtype, shape]`` or ``[dtype, shape, layout]``.
        """
        dtype, shape, layout = parts_of(item, "XTensorFixed", "[dtype, shape]", _FIXED_EXAMPLE)
        if not isinstance(shape, tuple):
            raise TypeError(f"XTensorFixed takes [dtype, shape], as in {_FIXED_EXAMPLE}")
        return subscripted(cls, dtype, as_shape(shape, "XTensorFixed"), layout)

    def _check(self, shape: tuple[int, ...], dtype: DType, operation: str) -> None:
        assert self._pin is not None
        if shape != self._pin[1]:
            raise ShapeError(
                f"{operation}: {self._title} has the fixed shape {self._pin[1]} and cannot take "
                f"the shape {shape}"
            )


def check_pinned(dtype: object, pinned: DType, kind: str) -> DType:
    """Return the dtype of a subscripted type, refusing another one.

    Raises
    ------
    DTypeError
        If ``dtype`` is given and differs.
    """
    if dtype is not None and as_dtype(dtype) != pinned:
        raise DTypeError(
            f"{kind}: the type's dtype is {dtype_name(pinned)}, got {dtype_name(as_dtype(dtype))}"
        )
    return pinned


def pinned(
    made: _Pinned, dtype: object, layout: LayoutLike, strides: Sequence[int] | None
) -> tuple[object, LayoutLike]:
    """Return the dtype and layout of a new tensor, those of its type where it has them.

    Raises
    ------
    DTypeError, LayoutError
        If others are given.
    """
    pin = made._pin
    if pin is None:
        return dtype, layout
    wanted = check_pinned(dtype, pin[0], made._title)
    if pin[2] is None:
        return wanted, layout
    if strides is not None or (layout is not None and as_order(layout) != pin[2]):
        given = f"strides {tuple(strides)}" if strides is not None else f"layout {layout}"
        raise LayoutError(f"{made._title}: the type's layout is {pin[2]}, got {given}")
    return wanted, pin[2]


def parts_of(
    item: Any, name: str, form: str, example: str
) -> tuple[DType, Any, Order | Layout | None]:
    """Return a subscript's dtype, extent and layout.

    Raises
    ------
    TypeError
        Unless there are two or three.
    """
    if not isinstance(item, tuple) or len(item) not in (2, 3):
        raise TypeError(f"{name} takes {form}, as in {example}; a third parameter is a layout")
    layout = as_order(item[2], name) if len(item) == 3 and item[2] is not None else None
    return as_dtype(item[0]), item[1], layout


def subscripted(
    base: type[Any], dtype: DType, extent: object, layout: Order | Layout | None = None
) -> type[Any]:
    """Return the type for one subscript, the same object every time."""
    if base._pin is not None:
        raise TypeError(f"{base.__name__} has its subscript already")
    key = (base, dtype, extent, layout)
    if key not in _types:
        last = "" if layout is None else f", {layout}"
        name = f"{base.__name__}[{dtype_name(dtype)}, {extent}{last}]"
        body = {"__slots__": (), "_pin": key[1:], "__module__": base.__module__}
        _types[key] = type(name, (base,), {**body, "__doc__": base.__doc__})
    return _types[key]


# What results of operands of fixed rank and shape become.
OWNERS[RANK] = lambda dtype, shape: XTensor
OWNERS[SHAPE] = lambda dtype, shape: subscripted(XTensorFixed, dtype, shape)
