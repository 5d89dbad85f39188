"""`XTensor`: a container whose rank, and if wanted dtype, are part of its type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from .._errors import DTypeError, ShapeError
from ..dtypes.names import as_dtype, dtype_name
from ..index.broadcast import as_shape
from ..layout.layout import Layout
from ..layout.strided import Order
from ..layout.tiled import Map
from ..memory.buffer import Buffer
from ..operands.convert import LayoutLike
from .container import DType
from .xarray import XArray

_types: dict[tuple[type, object, object], type[Any]] = {}


class XTensor(XArray):
    """An array that owns its memory and keeps its rank.

    ``XTensor[dtype, ndim]`` is a type of its own: in annotations it says what is expected, as a
    constructor it converts to the dtype and refuses another rank.

    Parameters
    ----------
    values : array, expression, scalar or nested lists
        The elements; always copied.
    dtype : dtype, optional
        By default that of the type, else that of the values.
    layout, strides : optional
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
    """

    __slots__ = ("_rank",)
    _title: ClassVar[str] = "XTensor"
    _pin: ClassVar[tuple[DType, int] | None] = None
    _rank: int

    def __init__(
        self,
        values: object,
        dtype: object = None,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        if self._pin is not None:
            dtype = check_pinned(dtype, self._pin[0], self._title)
            self._rank = self._pin[1]
        super().__init__(values, dtype, layout, strides)
        self._rank = len(self._map.shape)

    @classmethod
    def __class_getitem__(cls, item: Any) -> type[XTensor]:
        """Return the type of tensors of one dtype and rank.

        Raises
        ------
        TypeError
            Unless the subscript is ``[dtype, ndim]`` with ndim >= 0.
        """
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError("XTensor takes [dtype, ndim], as in XTensor[xl.float64, 2]")
        dtype, rank = as_dtype(item[0]), item[1]
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 0:
            raise TypeError(f"XTensor: ndim must be an integer >= 0, got {rank!r}")
        return subscripted(cls, dtype, rank, f"XTensor[{dtype_name(dtype)}, {rank}]")

    @classmethod
    def _own(cls, buffer: Buffer, layout: Map, dtype: DType, policy: Order | Layout) -> XTensor:
        self = super()._own(buffer, layout, dtype, policy)
        assert isinstance(self, XTensor)
        self._rank = layout.ndim if cls._pin is None else cls._pin[1]
        return self

    @classmethod
    def _origin(cls) -> tuple[type[XArray], object]:
        return (XTensor, cls._pin)

    @property
    def rank(self) -> int:
        """The number of dimensions, which never changes."""
        return self._rank

    def _check(self, shape: tuple[int, ...], dtype: DType, operation: str) -> None:
        rank = getattr(self, "_rank", None)
        if rank is not None and len(shape) != rank:
            raise ShapeError(
                f"{operation}: {self._title} has rank {rank} and cannot take the shape {shape}"
            )


class XTensorFixed(XArray):
    """An array that owns its memory and keeps its shape.

    Always used with a subscript, ``XTensorFixed[dtype, shape]``.

    Parameters
    ----------
    values : array, expression, scalar or nested lists
        The elements; always copied.
    dtype : dtype, optional
        That of the type.
    layout, strides : optional
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
    _title: ClassVar[str] = "XTensorFixed"
    _pin: ClassVar[tuple[DType, tuple[int, ...]] | None] = None

    def __init__(
        self,
        values: object,
        dtype: object = None,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        if self._pin is None:
            raise TypeError(
                "XTensorFixed needs its dtype and shape, as in XTensorFixed[xl.float64, (2, 3)]"
            )
        super().__init__(values, check_pinned(dtype, self._pin[0], self._title), layout, strides)

    @classmethod
    def __class_getitem__(cls, item: Any) -> type[XTensorFixed]:
        """Return the type of tensors of one dtype and shape.

        Raises
        ------
        TypeError
            Unless the subscript is ``[dtype, shape]``.
        """
        if not isinstance(item, tuple) or len(item) != 2 or not isinstance(item[1], tuple):
            raise TypeError(
                "XTensorFixed takes [dtype, shape], as in XTensorFixed[xl.float64, (2, 3)]"
            )
        dtype, shape = as_dtype(item[0]), as_shape(item[1], "XTensorFixed")
        return subscripted(cls, dtype, shape, f"XTensorFixed[{dtype_name(dtype)}, {shape}]")

    @classmethod
    def _origin(cls) -> tuple[type[XArray], object]:
        return (XTensorFixed, cls._pin)

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


def subscripted(base: type[Any], dtype: DType, extent: object, name: str) -> type[Any]:
    """Return the type for one subscript, the same object every time."""
    if base._pin is not None:
        raise TypeError(f"{base.__name__} has its subscript already")
    key = (base, dtype, extent)
    if key not in _types:
        body = {"__slots__": (), "_pin": (dtype, extent), "__module__": base.__module__}
        _types[key] = type(name, (base,), {**body, "__doc__": base.__doc__, "_title": name})
    return _types[key]
