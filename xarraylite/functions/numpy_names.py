"""Small names that NumPy programs use: questions about arrays and dtypes, indices, settings.

Kernels of this package never warn about floating point, and what NumPy computes for it does not
either, so that `errstate` has nothing to do but keep programs running.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from .._errors import DTypeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..arrays.scalar import scalar_of
from ..assignment.elements import array_of
from ..dtypes.names import SUPPORTED, as_dtype, kind
from ..dtypes.promotion import result_type
from ..index.broadcast import check_axes
from ..ir.build import WEAK_TYPES
from ..ir.kind import NODE
from ..memory.buffer import Buffer
from ..operands.nodes import HasNode, array_of_object, as_node, unwrapped
from ..operands.non_numeric import or_numpy
from ..operands.representation import container_repr
from .data_types import by_numpy
from .foreign import ByIndex
from .scalar_types import STANDS, is_abstract, is_value

True_, False_ = scalar_of(np.True_), scalar_of(np.False_)
index_exp, s_ = np.index_exp, np.s_
ScalarType = np.ScalarType


class errstate(np.errstate):
    """Accept NumPy's context of floating-point warnings; nothing here warns.

    Examples
    --------
    >>> import xarraylite as xl
    >>> with xl.errstate(divide="ignore"):
    ...     xl.eval(1 / xl.zeros(1))
    XArray([inf])
    """


@or_numpy
def array2string(a: object, *args: Any, **options: Any) -> str:
    """Return the values as text; parameters as for ``numpy.array2string``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array2string(xl.asarray([1, 2]), separator="; ")
    '[1; 2]'
    """
    return np.array2string(np.asarray(XExpression(as_node(a, "array2string"))), *args, **options)


@or_numpy
def array_str(
    a: object,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return the values as text, as ``str`` does; the options are those of `set_printoptions`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array_str(xl.asarray([1, 1 / 3]), precision=2)
    '[1.   0.33]'
    """
    values = np.asarray(XExpression(as_node(a, "array_str")))
    return np.array_str(values, max_line_width, precision, suppress_small)


@or_numpy
def array_repr(
    arr: object,
    max_line_width: int | None = None,
    precision: int | None = None,
    suppress_small: bool | None = None,
) -> str:
    """Return what ``repr`` of the array made of the values is; options as of `array_str`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.array_repr([1, 2])
    'XArray([1, 2])'
    """
    values = np.asarray(as_array(arr, "array_repr"))
    return container_repr("XArray", values, max_line_width, precision, suppress_small)


def binary_repr(num: int, width: int | None = None) -> str:
    """Return a whole number in base 2, negative ones as two's complement of a width.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.binary_repr(5, 8), xl.binary_repr(-1, 4)
    ('00000101', '1111')
    """
    return np.binary_repr(num, width)


def typename(char: str) -> str:
    """Return what the type of a dtype's letter is called.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.typename("d")
    'double precision'
    """
    known: Any = np.typename
    return str(known(char))


def base_repr(number: int, base: int = 2, padding: int = 0) -> str:
    """Return a whole number in a base up to 36, with zeros in front.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.base_repr(255, 16)
    'FF'
    """
    return np.base_repr(number, base, padding)


def format_float_positional(x: object, *args: Any, **options: Any) -> str:
    """Return a number as text without an exponent; as `numpy.format_float_positional`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.format_float_positional(1e-5)
    '0.00001'
    """
    return np.format_float_positional(unwrapped(x), *args, **options)


def format_float_scientific(x: object, *args: Any, **options: Any) -> str:
    """Return a number as text with an exponent; as `numpy.format_float_scientific`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.format_float_scientific(1234.5, precision=1)
    '1.2e+03'
    """
    return np.format_float_scientific(unwrapped(x), *args, **options)


def seterr(**kinds: str | None) -> dict[str, str]:
    """Accept NumPy's settings for floating-point warnings; nothing here warns.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.seterr(all="raise")
    {'divide': 'ignore', 'over': 'ignore', 'under': 'ignore', 'invalid': 'ignore'}
    """
    return geterr()


def geterr() -> dict[str, str]:
    """Return what is done about floating-point errors: nothing.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.geterr()["divide"]
    'ignore'
    """
    return dict.fromkeys(("divide", "over", "under", "invalid"), "ignore")


def einsum_path(subscripts: object, *operands: object, optimize: Any = "greedy") -> Any:
    """Return the order in which `numpy.einsum` would contract, and its report.

    Subscripts are text, or lists of numbers behind the operands, as for `einsum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.einsum_path("ij,jk->ik", xl.ones((2, 3)), xl.ones((3, 2)))[0]
    ['einsum_path', (0, 1)]
    """
    given: list[Any] = [np.asarray(x) if isinstance(x, HasNode) else x for x in operands]
    first: Any = np.asarray(subscripts) if isinstance(subscripts, HasNode) else subscripts
    return np.einsum_path(first, *given, optimize=optimize)


def iterable(y: object) -> bool:
    """Tell whether something can be iterated; arrays of rank 0 cannot.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.iterable([1]), xl.iterable(xl.asarray(1))
    (True, False)
    """
    if isinstance(y, HasNode):
        return y.ndim > 0
    return np.iterable(y)


def isfortran(a: object) -> bool:
    """Tell whether a container is column-major and not row-major as well.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isfortran(xl.zeros((2, 3), order="F"))
    True
    """
    if isinstance(a, XContainer) and a._kind is not NODE and a._kind.strides is None:
        return False
    return str(getattr(a, "layout", "")) == "column_major" and not a.map.is_row_major()  # type: ignore[attr-defined]


@or_numpy
def min_scalar_type(a: object) -> np.dtype[Any]:
    """Return the narrowest of NumPy's dtypes that holds a number; of an array with axes its own.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.min_scalar_type(300)
    dtype('uint16')
    """
    if isinstance(a, WEAK_TYPES) and (found := np.min_scalar_type(a)) in SUPPORTED:
        return found
    node = as_node(a, "min_scalar_type")
    if node.shape or node.dtype.isbuiltin != 1:
        return node.dtype
    return as_dtype(np.min_scalar_type(np.asarray(XExpression(node))))


@or_numpy
def ndim(a: object) -> int:
    """Return the number of dimensions.

    Parameters
    ----------
    a : array or expression
        Or anything that becomes an array.

    Returns
    -------
    int
        0 for numbers.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.ndim([[1, 2]])
    2
    """
    return len(shape(a))


@or_numpy
def shape(a: object) -> tuple[int, ...]:
    """Return the extents.

    Parameters
    ----------
    a : array or expression
        Or anything that becomes an array.

    Returns
    -------
    tuple of int
        Empty for numbers.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.shape([[1, 2]])
    (1, 2)
    """
    if isinstance(a, HasNode):
        return a._shape
    try:
        return as_node(a, "shape").shape
    except DTypeError:
        return np.shape(cast("Any", a))  # of what is no array: ()


@or_numpy
def size(a: object, axis: int | tuple[int, ...] | None = None) -> int:
    """Return the number of elements, or the extent of a dimension, or of several together.

    Parameters
    ----------
    a : array or expression
        Or anything that becomes an array.
    axis : int or sequence of int, optional
        Which dimensions; by default all.

    Returns
    -------
    int
        The product of their extents.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.size([[1, 2]]), xl.size([[1, 2]], 0)
    (2, 1)
    """
    extents = shape(a)
    if axis is None:
        return math.prod(extents)
    return math.prod([extents[k] for k in check_axes(axis, len(extents), "size")])


def isscalar(element: object) -> bool:
    """Tell whether something is one number or text: no container, whatever its rank.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isscalar(3.0), xl.isscalar(xl.asarray(3.0))
    (True, False)
    """
    return is_value(element) or (not isinstance(element, HasNode) and bool(np.isscalar(element)))


def _dtype_of(x: object, operation: str) -> np.dtype[Any]:
    known = x._kind if isinstance(x, HasNode) else NODE
    return as_node(x, operation).dtype if known is NODE else known.dtype


@or_numpy
def iscomplexobj(x: object) -> bool:
    """Tell whether an array's dtype is complex.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.iscomplexobj(xl.asarray([1j]))
    True
    """
    try:
        return kind(_dtype_of(x, "iscomplexobj")) == "c"
    except DTypeError:  # text, or any object
        return np.iscomplexobj(cast("Any", x))


def isrealobj(x: object) -> bool:
    """Tell whether an array's dtype is not complex.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isrealobj(xl.asarray([1j]))
    False
    """
    return not iscomplexobj(x)


def promote_types(type1: object, type2: object) -> np.dtype[Any]:
    """Return the dtype that two dtypes are promoted to; see `result_type`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.promote_types("f4", "int64")
    dtype('float64')
    """
    try:
        return result_type(as_dtype(type1), as_dtype(type2))
    except DTypeError:
        made: np.dtype[Any] = by_numpy("promote_types", type1, type2)
        return made


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Tell whether a dtype is another, or of one of NumPy's abstract kinds.

    Parameters
    ----------
    arg1 : dtype
        For example ``xl.bfloat16``.
    arg2 : dtype or abstract type of NumPy
        For example ``xl.floating``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.issubdtype(xl.bfloat16, xl.floating), xl.issubdtype(xl.int8, xl.floating)
    (True, False)
    """
    try:
        if is_abstract(arg2):
            return issubclass(arg1 if is_abstract(arg1) else STANDS[kind(as_dtype(arg1))], arg2)
        return not is_abstract(arg1) and as_dtype(arg1) == as_dtype(arg2)
    except DTypeError:
        return bool(by_numpy("issubdtype", arg1, arg2))


def shares_memory(a: object, b: object, max_work: Any = None) -> bool:
    """Tell whether two arrays share an element in memory; lazy results share none.

    Beyond ``max_work`` steps the search ends with ``numpy.exceptions.TooHardError``.

    Parameters
    ----------
    a, b : array or expression
        What to compare.
    max_work : int, optional
        How long to search; by default as long as it takes.

    Returns
    -------
    bool
        Exact, however the arrays lie.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.arange(4)
    >>> xl.shares_memory(x[::2], x[1::2]), xl.shares_memory(x, x[1:])
    (False, True)
    """
    return bool(np.shares_memory(_memory(a), _memory(b), max_work))


def may_share_memory(a: object, b: object, max_work: Any = None) -> bool:
    """Tell whether the memory that two arrays reach overlaps.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.arange(4)
    >>> xl.may_share_memory(x[::2], x[1::2])
    True
    """
    return bool(np.may_share_memory(_memory(a), _memory(b), max_work))


def _memory(x: Any) -> np.ndarray[Any, Any]:
    """Return an array over the memory of a container: all of its buffer where that is tiled."""
    if isinstance(x, XContainer) and x._kind is not NODE:
        return array_of(x)
    if isinstance(getattr(x, "buffer", None), Buffer):
        tiled = not hasattr(x.map, "strides")
        return x.buffer.run() if tiled else np.asarray(x)
    return array_of_object(x)


r_, c_ = ByIndex(np.r_, "r_"), ByIndex(np.c_, "c_")
