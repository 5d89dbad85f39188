"""From whatever stands in an expression to a node.

Accepted are this package's expressions and containers, Python scalars (weakly typed), NumPy
scalars and arrays.  No one can tell us what NumPy writes to its arrays.  So few elements are
copied when an expression is written, which costs less than to borrow their memory; many are
borrowed, and read when the expression is evaluated, and so is whatever a view is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from .._errors import DTypeError, ShapeError
from ..dtypes.names import DType, NumpyArray, as_dtype, bool_, float64, int64
from ..ir.build import WEAK_TYPES, Operand, scalar, weak_scalar
from ..ir.kind import NODE, Kind, Operands
from ..ir.node import FREE, RANK, SHAPE, Leaf, Node
from ..ir.walk import fixed_of
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..ops.op import Op
from ..ops.table import OPS
from . import tracing


class HasNode:
    """Base of every expression and container: it has a node."""

    __slots__ = ("__weakref__",)

    #: Whether it goes on meaning the values that memory had, as expressions do.
    lasting: ClassVar[bool] = True

    _kind: Kind
    _shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self._shape)

    @property
    def has_fixed_rank(self) -> bool:
        """Whether the operands' types fix the rank, as those of `XTensor` do."""
        return self._fixed_now() >= RANK

    @property
    def has_fixed_shape(self) -> bool:
        """Whether the operands' types fix the shape, as those of `XTensorFixed` do.

        Examples
        --------
        >>> import xarraylite as xl
        >>> t = xl.XTensorFixed[xl.float64, (2,)]([1, 2])
        >>> (t + t).has_fixed_shape, (t + t[:1]).has_fixed_shape, (t + t[:1]).has_fixed_rank
        (True, False, True)
        """
        return self._fixed_now() == SHAPE

    def _fixed_now(self) -> int:
        fixed = fixed_of(self.node) if self._kind is NODE else self._kind.fixed
        return fixed if fixed <= SHAPE else FREE  # of scalars alone

    def numpy(self) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
        """Return the values as a NumPy array."""
        raise NotImplementedError

    def _as_numpy(self) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
        """Return the values, to be looked at only."""
        raise NotImplementedError

    @property
    def node(self) -> Node:
        """The expression's node."""
        raise NotImplementedError

    def references(self, snapshot: Snapshot) -> int:
        """Count what the handle itself, without its node, holds of a snapshot."""
        return 0

    def now(self) -> Operands:
        """Return the operands of the handle's kind."""
        raise NotImplementedError


class Gathers:
    """Base of views whose elements expressions gather, or copy where they are few."""

    __slots__ = ()

    def gathered(self) -> Any:
        """Return the elements, gathered by the kernel that reads them; None if they are gone."""
        raise NotImplementedError

    def settled(self) -> Any:
        """Return the elements as they are now, as an expression."""
        raise NotImplementedError


class Evaluates:
    """Base of what says itself how it is evaluated."""

    __slots__ = ()

    lasting: ClassVar[bool] = True

    def evaluated(self, text: object = None) -> Any:
        """Return the values in memory: what ``xl.eval`` makes of it, and of labels in a text."""
        raise NotImplementedError


class Lifted(Evaluates):
    """Base of operands that are more than an array, and say themselves what an operation means."""

    __slots__ = ("__weakref__",)

    #: What to do where only arrays will do.
    instead: ClassVar[str] = "evaluate it first"

    def lift(self, op: Op, operands: tuple[object, ...]) -> Any:
        """Return the lazy application of ``op`` to operands of which this is the first such one."""
        raise NotImplementedError


class OneValue:
    """Base of array scalars: what they hold.

    It is a NumPy scalar, or the Python number that stands for a float64, an int64, a bool or a
    complex128.
    """

    __slots__ = ()

    _value: Any

    @property
    def value(self) -> np.generic[Any]:
        """The NumPy scalar."""
        value = self._value
        known = _STANDING.get(value.__class__)
        return value if known is None else known(value)  # type: ignore[no-any-return]


_STANDING: dict[type, Any] = {
    float: np.float64,
    int: np.int64,
    bool: np.bool_,
    complex: np.complex128,
}

#: Classes of numbers whose kind is their class; their values are converted when they are met.
NUMBERS = frozenset((bool, int, float, complex, *[np.dtype(c).type for c in "?bhilqBHILQefdFD"]))

#: Subclasses of these (an IntEnum, say) count as their base.
_PYTHON: tuple[type[Any], ...] = (bool, int, float, complex)

_SCALARS = (bool, int, float, complex, np.generic, OneValue)

_OPERANDS = (HasNode, np.ndarray, list, tuple, range, *_SCALARS)


#: Bytes of an array of NumPy up to which an expression reads a copy, in less time than it takes to
#: borrow its memory.  Of twice as many the system may have to find pages for each copy.
COPIED_BYTES = 1 << 17

#: What has views as its results, in NumPy too, or says itself when an operand is read.
VIEWS = frozenset(
    ("array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to")
    + ("diagonal", "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "ix_")
    + ("matrix_transpose", "moveaxis", "permute_dims", "ravel", "real", "reshape", "rollaxis")
    + ("rot90", "split", "squeeze", "swapaxes", "transpose", "unstack", "vsplit")
    + ("as_strided", "at", "block_view", "dynamic_view", "filter", "filtration", "flat")
    + ("index_view", "masked_view", "periodic", "reshape_view", "sliding_window_view")
    + ("strided_view", "view", "explain", "jit", "late")
)


def of_base(value: Any) -> Any:
    """Return a number of a class made of one of Python's, such as an IntEnum, as Python's.

    Others, NumPy's among them, are returned as they are.
    """
    if isinstance(value, np.generic):
        return value
    return next((base(value) for base in _PYTHON if isinstance(value, base)), value)


def is_number(value: object) -> bool:
    """Tell whether ``value`` is one number: Python's, NumPy's or ours."""
    return isinstance(value, _SCALARS)


def unwrapped(value: Any) -> Any:
    """Return what stands behind an operand.

    Of an array scalar its number, of a lazy result that was written its container, else the
    operand itself.
    """
    if isinstance(value, OneValue):
        return value.value
    owning = getattr(value, "_owning", None)
    return value if owning is None or owning.memory is None else owning.memory


#: What has ufuncs of NumPy's or ours.
_KNOWN = (HasNode, OneValue, Lifted, np.generic)

#: Functions that are a method of what they are given, where NumPy is not at home with it.
METHODS = frozenset(
    ("all", "any", "argmax", "argmin", "argsort", "clip", "cumprod", "cumsum", "max", "mean", "min")
    + ("prod", "repeat", "round", "searchsorted", "squeeze", "std", "sum", "transpose", "var")
)


def is_foreign(value: object) -> bool:
    """Tell whether an array of another library has a way of its own with NumPy's operations.

    Arrays derived from NumPy's class have one if they define it, as astropy's quantities do.
    """
    if isinstance(value, np.ndarray):
        return type(value).__array_ufunc__ is not np.ndarray.__array_ufunc__
    return getattr(value, "__array_ufunc__", None) is not None and not isinstance(value, _KNOWN)


def has_own(value: object, function: str) -> bool:
    """Tell whether a foreign array has a function: as a method, or as it says of NumPy's.

    Rows of the op table ask it first, and take it for plain values where there is ``out``.
    """
    if not is_foreign(value):
        return False
    known = getattr(np, function, None) or getattr(np.linalg, function, None)
    said = hasattr(value, "__array_function__") and callable(known)
    asked = function in OPS and (function == "clip" or isinstance(known, np.ufunc))
    said = not asked and (said or isinstance(known, np.ufunc))
    return said or (function in METHODS and hasattr(value, function))


def is_operand(value: object) -> bool:
    """Tell whether ``value`` may stand in an expression.

    Objects of other libraries do if their values can be had, through DLPack (JAX's, PyTorch's) or
    as NumPy has them, and they have no way of their own with NumPy's operations (as Dask's and
    pandas' have, which are asked first).  So do sequences of any class (`array.array`, a deque).
    """
    if isinstance(value, _OPERANDS):
        return not (isinstance(value, np.ndarray) and is_foreign(value))
    return _is_plain_array(type(value))  # type: ignore[arg-type]


@lru_cache(256)
def _is_plain_array(kind: type) -> bool:
    if issubclass(kind, Lifted | str | bytes) or hasattr(kind, "__array_ufunc__"):
        return False
    priority = getattr(kind, "__array_priority__", 0)  # to be asked first, before there were ufuncs
    plain = priority <= 0 and (has_array(kind) or issubclass(kind, Sequence))
    return plain or hasattr(kind, "__dlpack__")


def has_array(kind: type) -> bool:
    """Tell whether NumPy makes arrays of objects of a class by what they say of their memory."""
    return any([hasattr(kind, f"__array{name}__") for name in ("", "_interface", "_struct")])


def as_operand(value: object, operation: str) -> Operand:
    """Return ``value`` as a node or as a Python scalar.

    Raises
    ------
    DTypeError
        If it is neither an array nor a number.
    """
    if isinstance(value, HasNode):
        return value.node
    if type(value) in WEAK_TYPES:
        return value  # type: ignore[return-value]
    if isinstance(value, np.ndarray) and not is_foreign(value):
        return borrow_array(value, operation, operation in VIEWS)
    value = unwrapped(value)
    if isinstance(value, np.generic):
        return scalar(value, as_dtype(value.dtype))
    if isinstance(value, _PYTHON):
        return of_base(value)  # type: ignore[no-any-return]
    if isinstance(value, Lifted):
        raise DTypeError(f"{operation}: got {type(value).__name__}; {value.instead}")
    if isinstance(value, (list, tuple, range)):
        return borrow_array(array_of_list(value, operation), operation)
    if has_own(value, operation) or isinstance(value, np.ndarray):
        raise DTypeError(f"{operation}: {type(value).__name__} has one of its own, which refused")
    kind: Any = type(value)
    if has_array(kind) or hasattr(value, "__getitem__") or _is_plain_array(kind):
        with suppress(TypeError):  # of what is no array yet
            return borrow_array(array_of_object(value), operation, operation in VIEWS)
    raise DTypeError(
        f"{operation}: got {type(value).__name__}; operands are arrays, expressions, numbers and "
        "nested lists of them (make an array of other things with xl.asarray)"
    )


def array_of_object(value: Any) -> NumpyArray:
    """Return an object as an array, also where its ``__array__`` returns one of ours."""
    try:
        return np.asarray(value)
    except ValueError:
        made = produced(value)
        if made is value:
            raise
        return np.asarray(made)


def produced(values: Any) -> Any:
    """Return what ``__array__`` gives where that is an array of ours, which NumPy refuses.

    Within lists, too; other objects are returned as they are.
    """
    if isinstance(values, list):
        made = [produced(x) for x in values]
        return values if all([x is y for x, y in zip(made, values, strict=True)]) else made
    method = getattr(type(values), "__array__", None)
    array = None if method is None else method(values)
    return array if isinstance(array, HasNode) else values


def array_of_list(values: list[Any] | tuple[Any, ...] | range, operation: str) -> NumpyArray:
    """Return nested lists of numbers and arrays as one NumPy array.

    Raises
    ------
    ShapeError
        If the lists are ragged.
    DTypeError
        If something in them is no number.
    """
    try:
        array = np.asarray(values_in(values, True))
    except ValueError as error:
        raise ShapeError(f"{operation}: nested lists are ragged ({error})") from None
    if array.dtype.hasobject or (array.dtype.kind in "SUMmV" and array.dtype.isbuiltin != 2):
        raise DTypeError(f"{operation}: got a list of {array.dtype}; elements must be numbers")
    return array


def values_in(values: Any, plain: bool = False) -> Any:
    """Replace arrays of ours inside nested lists by NumPy's, which knows how to join them.

    Single elements become Python's numbers where these are to be ``plain``: joined, but not
    converted to another dtype, to which NumPy casts its own and checks Python's.
    """
    if isinstance(values, (list, tuple)):
        return [
            x
            if x.__class__ in NUMBERS
            else x._value
            if plain and isinstance(x, OneValue)
            else values_in(x, plain)
            for x in values
        ]
    if isinstance(values, HasNode):
        array: Any = values
        read = getattr(array, "_as_numpy", None)  # which gives its memory to nobody
        one = _ALONE.get(array.dtype) if plain and read is not None and not array.shape else None
        return np.asarray(array) if read is None else read() if one is None else one(array)
    return unwrapped(values)


#: Python's numbers that stand in lists for elements of these dtypes.
_ALONE: dict[DType, type[Any]] = {float64: float, int64: int, bool_: bool}


def as_item(value: Any, low: Any, high: Any) -> complex:
    """Return a number as it stands among operands.

    ``low`` and ``high`` are the least and the greatest, or None, or what the number is given to.

    Raises
    ------
    KeyError
        If it does not fit; whoever writes the operation says so.
    """
    if low.__class__ is not int:
        try:
            return float(value) if low is None else low(value)
        except (OverflowError, TypeError):
            raise KeyError from None
    try:
        whole = int(value)
    except (OverflowError, TypeError, ValueError):  # an infinity, a NaN, a complex number
        raise KeyError from None
    if low <= whole <= high and whole == value:
        return whole
    raise KeyError


def ends(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the longer of two shapes of which the other is the end.

    Raises
    ------
    KeyError
        If that is not so.
    """
    if not other or one[len(one) - len(other) :] == other:
        return one
    if not one or other[len(other) - len(one) :] == one:
        return other
    raise KeyError


def is_masked(array: object) -> bool:
    """Tell whether an array carries a mask, without importing NumPy's masked arrays."""
    return type(array) is not np.ndarray and hasattr(array, "mask")


def as_node(value: object, operation: str) -> Node:
    """Return ``value`` as a node; Python scalars get their default dtype, as NumPy's results."""
    operand = as_operand(value, operation)
    return operand if isinstance(operand, Node) else scalar(operand, weak_scalar(operand).dtype)


def borrow_array(array: NumpyArray, operation: str, shared: bool = True) -> Leaf:
    """Return a leaf over a NumPy array's own memory, see `borrowed`, or over a copy.

    A copy is made of what no kernel reads: numbers in the other byte order, and those that do not
    lie whole elements apart, as a field of records.  And of few elements, unless the memory is
    said to be ``shared``, or a function is traced.
    """
    if not is_read(array) or not (shared or array.nbytes > COPIED_BYTES or tracing.is_active()):
        dtype = array.dtype if array.dtype.isnative else array.dtype.newbyteorder("=")
        own = np.array(array, dtype, order="K", subok=True)  # a mask is yet to be refused
        if own.strides != array.strides and not array.flags.forc:  # results are by rows of others
            own = np.array(array, dtype, order="C", subok=True)
        array = own
    buffer, place, dtype = borrowed(array, operation)
    return Leaf(array.shape, dtype, buffer.snapshot(), place)


def is_read(array: NumpyArray) -> bool:
    """Tell whether kernels read an array of numbers where it lies."""
    return array.dtype.isnative and (array.flags.c_contiguous or apart_by_elements(array))


def apart_by_elements(array: NumpyArray) -> bool:
    """Tell whether an array's elements lie whole elements apart."""
    size = array.dtype.itemsize or 1
    return not any(s % size for s, n in zip(array.strides, array.shape, strict=True) if n > 1)


def borrowed(array: NumpyArray, operation: str) -> tuple[Buffer, Strided, np.dtype[np.generic]]:
    """Return a NumPy array's own memory, where its elements lie there, and their dtype.

    Raises
    ------
    DTypeError
        If the dtype is not supported, the strides are no whole number of elements, or there is a
        mask.
    """
    if is_masked(array):
        raise DTypeError(f"{operation}: got a masked array; fill it first, as masks are lost")
    dtype = as_dtype(array.dtype)
    if array.flags.c_contiguous:
        return Buffer.borrow(array), Strided.row_major(array.shape), dtype
    size = dtype.itemsize
    if not apart_by_elements(array):
        raise DTypeError(
            f"{operation}: array of shape {array.shape} and byte strides {array.strides} has "
            f"strides that are no multiple of its {size}-byte elements; copy it with xl.asarray"
        )
    strides = tuple(
        [s // size if n > 1 else 1 for s, n in zip(array.strides, array.shape, strict=True)]
    )
    low, _ = Strided(array.shape, strides).bounds()
    return Buffer.borrow(array), Strided(array.shape, strides, -low), dtype
