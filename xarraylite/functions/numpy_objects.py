"""NumPy's objects that are made of arrays: iterators, ufuncs of Python functions."""

from __future__ import annotations

import functools
import sys
import types
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self, SupportsIndex, cast

import numpy as np

from .._errors import ReadOnlyError
from ..arrays.adapt import adapt
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..arrays.ownership import remembered
from ..arrays.xarray import XArray
from ..assignment.elements import array_of
from ..dtypes.names import as_dtype
from ..ir.kind import NODE
from ..layout.strided import ElementStride
from ..operands.non_numeric import dtype_of
from .arrays_of_numpy import Narrow, numpy_of
from .conversion import asarray
from .creation import MemoryOrder, empty
from .foreign import called, value_of
from .of_numpy import Array, of_numpy


class nditer:
    """Go through arrays of one shape, or that broadcast to one, element by element.

    Parameters
    ----------
    op : array or sequence of arrays
        What to go through; None is memory to be made.
    flags, op_flags, *args, **kwargs
        As for ``numpy.nditer``, as are attributes and methods.

    Raises
    ------
    ReadOnlyError
        If an operand is to be written and is read-only.

    Notes
    -----
    What it yields are NumPy's arrays of no dimensions, over the operands' own memory where these
    are written, and copies where they are only read, as lazy results read late.  A fused expression
    takes a thousandth of the time.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2], [3, 4]])
    >>> [int(x) for x in xl.nditer(a, order="F")]
    [1, 3, 2, 4]
    >>> with xl.nditer(a, op_flags=["readwrite"]) as it:
    ...     for x in it:
    ...         x[...] = 2 * x
    >>> a
    XArray([[2, 4],
            [6, 8]])
    """

    __slots__ = ("_of",)

    def __init__(
        self, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        if op_flags is not None:
            args = (op_flags, *args)
        self._of: Any = np.nditer(_walked(op, op_flags), flags or (), *args, **kwargs)

    @property
    def operands(self) -> tuple[XArray, ...]:
        """The arrays, those that were made among them."""
        return tuple([adapt(x) for x in self._of.operands])

    def __iter__(self) -> Iterator[Any]:
        return map(_read, self._of)

    def __next__(self) -> Any:
        return _read(next(self._of))

    def __enter__(self) -> Self:
        self._of.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._of.__exit__(*error)

    def __len__(self) -> int:
        return len(self._of)

    def __getitem__(self, number: Any) -> Any:
        return _read(self._of[number])

    def __setitem__(self, number: Any, value: object) -> None:
        self._of[number] = value_of(value, "nditer")

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return _read(found) if name == "value" else found

    def __setattr__(self, name: str, value: object) -> None:
        if name == "_of":
            object.__setattr__(self, name, value)
        else:
            setattr(self._of, name, value)


def _read(found: Any) -> Any:
    """Return what NumPy yields, copied where it is only read: that memory is used again."""
    if isinstance(found, tuple):
        return tuple(map(_read, found))
    if not found.flags.writeable:
        found = found.copy()
        found.flags.writeable = False
    return found


def _walked(op: Any, op_flags: Any) -> Any:
    """Return operands as NumPy walks over them; waiting readers of those written keep theirs."""
    if not isinstance(op, (list, tuple)):
        return _walked([op], op_flags)[0]
    flags = op_flags or [()] * len(op)
    if isinstance(flags[0], str):
        flags = [flags] * len(op)
    return [_one(x, own) for x, own in zip(op, flags, strict=True)]


def _one(x: Any, flags: Sequence[str]) -> Any:
    if not isinstance(x, XExpression):
        return value_of(x, "nditer")
    if not {"readwrite", "writeonly"} & set(flags):
        return numpy_of(x, "nditer", Narrow())
    to = x._target()
    if to.readonly or not isinstance(to, XContainer):
        raise ReadOnlyError(f"nditer: {to.summary()} is read-only, or no array for NumPy")
    return to.numpy()


@of_numpy(arithmetic=False)
def broadcast(*args: Array | np.broadcast) -> Any:
    """Return what goes through arrays as they broadcast against each other.

    Returns: numpy.broadcast, which has ``shape``, ``ndim``, ``size``, and yields tuples of values

    >>> xl.broadcast(xl.ones((3, 1)), [1, 2]).shape
    (3, 2)
    """


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **kwargs: Any) -> Any:
    """Return a Python function that is called for each element of arrays that broadcast.

    Parameters
    ----------
    func : callable
        Takes and returns Python's numbers.
    nin, nout : int
        How many it takes and returns.
    **kwargs
        ``identity``, as for ``numpy.frompyfunc``.

    Returns
    -------
    callable
        Its results are NumPy's arrays of objects, as integers of any size may be; it has a ufunc's
        methods.  What `vectorize` makes of a function is compiled.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.frompyfunc(lambda x, y: x * 10 + y, 2, 1)(xl.asarray([1, 2]), 3)
    array([13, 23], dtype=object)
    """
    inner: Any = np.frompyfunc(func, nin, nout, **kwargs)
    made = _of_objects(inner)
    for name in ("accumulate", "at", "outer", "reduce", "reduceat"):
        setattr(made, name, _of_objects(getattr(inner, name)))
    for name in ("identity", "nargs", "nin", "nout", "ntypes", "types"):
        setattr(made, name, getattr(inner, name))
    return made


def _of_objects(function: Callable[..., Any]) -> Any:
    """Return a function of arrays of objects that takes arrays of ours."""

    def call(*operands: Any, **options: Any) -> Any:
        return function(*[value_of(x, "frompyfunc") for x in operands], **options)

    return call


@of_numpy(arithmetic=False)
def mask_indices(n: int, mask_func: Callable[..., Any], k: object = 0) -> Any:
    """Return where ``mask_func(a, k)`` of a square matrix, such as `triu`, leaves something.

    Returns: tuple of XArray, rows and columns

    >>> xl.mask_indices(2, xl.tril)
    (XArray([0, 1, 1]), XArray([0, 0, 1]))
    """


def common_type(*arrays: object) -> type:
    """Return the type of floats or complex numbers that holds the values of all arrays.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.common_type(xl.asarray([1], dtype="float32"), xl.asarray([1.0j]))
    <class 'numpy.complex128'>
    """
    dtypes = [(x if hasattr(x, "dtype") else as_array(x, "common_type")).dtype for x in arrays]
    known = [x if x.isbuiltin == 1 else np.dtype(np.float32) for x in dtypes]
    return np.common_type(*[np.empty(0, x) for x in known])


def require(a: object, dtype: object = None, requirements: Any = None, **kwargs: Any) -> XArray:
    """Return an array whose memory lies as required.

    Parameters
    ----------
    a : array_like
        What is wanted.
    dtype : dtype, optional
        In which dtype.
    requirements : str or sequence of str, optional
        ``"C"``, ``"F"``, ``"A"``, ``"W"``, ``"O"``, as for ``numpy.require``.
    **kwargs
        As for ``numpy.require``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.require(xl.ones((2, 3)).T, requirements="C").flags.c_contiguous
    True
    """
    if dtype is requirements is None and not kwargs and isinstance(a, XArray):
        return a
    made: XArray = _unless_as_is(np.require, a, dtype, requirements, **kwargs)
    if made is not a and any([str(name)[:1] in ("F", "f") for name in requirements or ()]):
        made = asarray(made, order="F")  # type: ignore[assignment]
    return made


def asarray_chkfinite(a: object, dtype: Any = None, order: Any = None) -> XArray:
    """Return an array, having looked for NaN and infinities.

    Raises
    ------
    ValueError
        If there are any.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.asarray_chkfinite([1.0, 2.0])
    XArray([1., 2.])
    """
    return cast("XArray", _unless_as_is(np.asarray_chkfinite, a, dtype, order))


def _unless_as_is(function: Callable[..., Any], a: object, *args: Any, **kwargs: Any) -> Any:
    """Return what NumPy makes of an array: the container itself where that is its memory."""
    a = a if isinstance(a, XContainer) else remembered(a)
    if isinstance(a, XContainer) and a._kind is not NODE:
        values = array_of(a)
        try:
            if function(values, *args, **kwargs) is values:
                return a
        except (TypeError, ValueError):
            pass
    return called(function, function.__name__)(a, *args, **kwargs)


class _Derived(np.ndarray[Any, Any]):
    """NumPy's class as users derive from it, over memory of containers too."""

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any = float, buffer: Any = None, *args: Any, **options: Any
    ) -> Any:
        memory = np.asarray(buffer) if isinstance(buffer, XExpression) else buffer
        return np.ndarray.__new__(cls, shape, dtype, memory, *args, **options)


class _OfArrays(ABCMeta):
    """What a class of arrays is asked for, `XExpression` has: its methods, say.

    Classes that users derive from it are derived from NumPy's own, whose memory they have, and of
    such objects methods are NumPy's.
    """

    def __new__(cls, name: str, bases: Any, body: dict[str, Any], **options: Any) -> Any:
        if not any([isinstance(base, cls) for base in bases]):
            return super().__new__(cls, name, bases, body, **options)
        numpys = tuple([_Derived if isinstance(base, cls) else base for base in bases])
        body = {"__module__": sys._getframe(1).f_globals.get("__name__"), **body}
        return types.new_class(name, numpys, options, lambda known: known.update(body))

    def __getattr__(cls, name: str) -> Any:
        theirs: Any = vars(np.ndarray).get(name)
        if not isinstance(theirs, (types.MethodDescriptorType, types.WrapperDescriptorType)):
            return getattr(XExpression, name)

        @functools.wraps(getattr(XExpression, name, theirs))
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            of = np.ndarray if isinstance(self, np.ndarray) else XExpression
            return getattr(of, name)(self, *args, **kwargs)

        method.__module__, method.__qualname__ = __name__, f"ndarray.{name}"
        setattr(cls, name, method)  # pickles are by its name
        return method

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (XExpression, np.ndarray))  # a register would be searched


class ndarray(metaclass=_OfArrays):
    """NumPy's name of the class of arrays: what containers and expressions are instances of.

    So are NumPy's own arrays, which text, dates and records are.

    Called, it returns a container over given memory, as programs that share memory between
    processes make theirs, or over new memory.

    Parameters
    ----------
    shape : int or tuple of int
        Extents.
    dtype : dtype, default float64
        Of the elements.
    buffer : object with a buffer, or container, optional
        Whose memory; by default new memory, whose values are arbitrary.
    offset : int, default 0
        Where the first element is in the buffer, in bytes.
    strides : tuple of int, optional
        Distances between neighbours: bytes, or elements as containers say their strides.
    order : {"C", "F"}, optional
        How the elements lie where no strides are given.

    See Also
    --------
    frombuffer : A vector over memory.
    zeros : Memory with values.

    Examples
    --------
    >>> import xarraylite as xl
    >>> memory = bytearray(16)
    >>> a = xl.ndarray((2,), dtype="int64", buffer=memory)
    >>> a[1] = 3
    >>> memory[8], isinstance(a, xl.ndarray), isinstance(a + 1, xl.ndarray)
    (3, True, True)
    """

    __class_getitem__: Any = classmethod(types.GenericAlias)  # in annotations

    def __new__(  # type: ignore[misc]
        cls,
        shape: Any,
        dtype: Any = float,
        buffer: Any = None,
        offset: SupportsIndex = 0,
        strides: Iterable[SupportsIndex] | SupportsIndex | None = None,
        order: MemoryOrder = None,
    ) -> XArray:
        """Return a container, or what a class that is derived from it asks for."""
        if issubclass(cls, np.ndarray):
            of: Any = _Derived
            own: XArray = of.__new__(cls, shape, dtype, buffer, offset, strides, order)
            return own
        if buffer is None and strides is None:
            return empty(shape, dtype, order=order)
        other = dtype_of(dtype)
        kind = as_dtype(dtype) if other is None else other
        memory = buffer.numpy() if isinstance(buffer, XContainer) else buffer
        given = strides if strides is None or isinstance(strides, Iterable) else (strides,)
        paces = (
            None
            if given is None
            else [int(s) * kind.itemsize if isinstance(s, ElementStride) else int(s) for s in given]
        )
        made: Any = np.ndarray(shape, kind, memory, int(offset), paces, order)
        return adapt(made) if other is None else made


for _name in ["eq", "ne", "lt", "le", "gt", "ge", "repr", "str", "format", "reduce", "reduce_ex"]:
    _OfArrays.__getattr__(ndarray, f"__{_name}__")  # which `object` has too

ndarray.register(XExpression)
ndarray.register(np.ndarray)  # what text, dates and records are, in the same program


class _OfFunctions(type):
    """What the class of ufuncs is asked for: functions of ours that have their methods, too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, np.ufunc) or hasattr(value, "reduceat")


class ufunc(metaclass=_OfFunctions):
    """NumPy's name of the class of functions of elements: `add`, `sin`, `frompyfunc`'s results.

    Examples
    --------
    >>> import xarraylite as xl
    >>> isinstance(xl.add, xl.ufunc), isinstance(xl.sum, xl.ufunc)
    (True, False)
    """
