"""What values, expressions and containers show to the world, in terms of a few questions to them.

The array object of the standard, printing and formatting, and Python's numbers.  `repr` describes,
and never computes; everything that asks for values computes them: `str`, `format`, `round`,
``print``.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, ClassVar

import numpy as np

from .._errors import AxisError, LayoutError
from ..dtypes.names import NumpyArray, dtype_name, kind
from ..index import transform as steps
from ..layout.strided import ByteCount, Strided
from ..memory.dlpack import exported
from ..operands import tracing
from ..operands.dispatch import function_named, namespace
from ..operands.methods import Methods
from ..operands.representation import formatted
from .flags import Flags
from .flat import Flat
from .numpy_calls import call_function, call_ufunc


class ArrayObject(Methods):
    """Base of all arrays: what follows from their shape, their dtype and their values."""

    __slots__ = ()
    _title: ClassVar[str]  # how messages and `repr` name the class

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._title = cls.__dict__.get("_title", cls.__name__)

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the elements."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _as_numpy(self) -> NumpyArray:
        """Return the values, to be looked at only."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _one(self) -> Any:
        """Return an array of rank 0 as a value."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def summary(self) -> str:
        """Return kind, dtype and shape, as error messages show them."""
        return f"{self._title} {dtype_name(self.dtype)}{list(self.shape)}"

    def item(self, *index: Any) -> Any:
        """Return an element as a Python number."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def _view(self, step: steps.Transform) -> Any:
        """Return the array under another index."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    # --- the array object ------------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        one = self.dtype.itemsize
        return ByteCount.of(one, one)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, padding not counted."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where the elements are: always ``"cpu"``."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: None = None) -> Any:
        """Return the array itself; there is only the CPU.

        Raises
        ------
        ValueError
            For any other device.
        """
        if device != "cpu" or stream is not None:
            raise ValueError(f"to_device: only 'cpu' without a stream, got {device!r}, {stream!r}")
        return self

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API namespace: this package.

        Raises
        ------
        ValueError
            For an unknown version of the standard.
        """
        return namespace(api_version)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Let ``np.add(a, b)`` mean ours, lazily, with ``out=`` and ``where=`` as in NumPy."""
        return call_ufunc(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Let ``np.sum(a)`` mean ours; what has no function of ours runs on the values."""
        return call_function(function, types, args, options)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the elements for DLPack consumers: a strided container's own memory.

        Parameters
        ----------
        stream : None
            There are no streams on the CPU.
        max_version : tuple of int, optional
            The newest version that the consumer understands; read-only memory needs (1, 0).
        dl_device : tuple of int, optional
            Where the consumer wants them: (1, 0), the CPU.
        copy : bool, optional
            True: always copy.  False: never.  By default what is tiled, which DLPack cannot say, is
            copied.

        Raises
        ------
        BufferError
            If a copy is needed and forbidden, or DLPack has no name for the dtype.
        """
        values = self.__array__() if self._is_strided() else self._as_numpy()
        if copy is False and not self._is_strided() and hasattr(self, "buffer"):
            raise BufferError(f"__dlpack__: {self.summary()} needs a copy, as DLPack has no tiles")
        given = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        options = {name: value for name, value in given.items() if value is not None}
        return exported(values, {"stream": stream, **options})

    def _is_strided(self) -> bool:
        """Tell whether there is memory that NumPy can describe."""
        return False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NumpyArray:
        """Return the values as a NumPy array."""
        raise NotImplementedError(f"{type(self).__name__} is abstract")

    def to_numpy(self, dtype: Any = None, copy: bool = False, na_value: Any = None) -> NumpyArray:
        """Return the values as a NumPy array, by the name that pandas and others look for.

        None of them is missing, so that `na_value`, which pandas gives, has nothing to replace.
        """
        return self.__array__(dtype, copy or None)

    @property
    def __pandas_priority__(self) -> int | None:
        """Matrices are asked before data frames, which take other arrays for lists of columns."""
        return 5000 if len(self.shape) == 2 else None

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of the CPU."""
        return (1, 0)

    @property
    def T(self) -> Any:
        """The array with its dimensions reversed."""
        return function_named("transpose")(self)

    @property
    def mT(self) -> Any:
        """The array with its last two dimensions exchanged."""
        if len(self.shape) < 2:
            raise AxisError(f"mT({self.summary().split()[-1]}): rank must be at least 2")
        return function_named("matrix_transpose")(self)

    @property
    def real(self) -> Any:
        """The real parts: of memory a view, of real elements the array itself."""
        return self._complex_part(0)

    @real.setter
    def real(self, value: object) -> None:
        part = self._target().real
        part[...] = value

    @property
    def imag(self) -> Any:
        """The imaginary parts: of complex memory a view, of real elements lazy zeros."""
        return self._complex_part(1)

    @imag.setter
    def imag(self, value: object) -> None:
        if kind(self.dtype) != "c":
            raise TypeError(f"imag: {self.summary()} has no imaginary parts to write")
        part = self._target().imag
        part[...] = value

    def _complex_part(self, which: int) -> Any:
        """Return the real (0) or the imaginary parts (1)."""
        if kind(self.dtype) != "c" and which == 0:
            return self
        made = function_named(("real", "imag")[which])(self)
        return made if self.shape else self._like(made)

    def _like(self, made: Any) -> Any:
        """Return a result of rank 0 as this kind of array has it."""
        return made

    def __imatmul__(self, other: object) -> Any:
        """Apply ``matmul`` in place, by NumPy's rule; a lazy result gets memory of its own."""
        if tracing.is_active() or not self.shape:
            return NotImplemented
        to = self._target()
        if to is self:  # no container: of several arrays, or of elements here and there
            return NotImplemented
        to.__imatmul__(other)
        return self

    def view(self, dtype: object = None, type: builtins.type | None = None) -> Any:
        """Return the same memory with another dtype; a lazy result gets memory of its own for it.

        Parameters
        ----------
        dtype : dtype, optional
            How the bytes are read.  Where it has another width, the last dimension has to be
            contiguous.
        type : type, optional
            A class of NumPy's, such as ``np.recarray``, whose array of the same memory is returned.

        Raises
        ------
        ValueError
            If the bytes of the last dimension are no whole number of elements.
        """
        of: Any = self
        return (of if of.shape or not of._is_value() else of.copy())._target().view(dtype, type)

    @property
    def base(self) -> Any:
        """Whose memory it is: None, but for views (`XView.base`)."""
        return None

    @property
    def flags(self) -> Flags:
        """How the memory lies and whether it can be written; see `Flags`."""
        return Flags(self)

    def setflags(
        self, write: bool | None = None, align: bool | None = None, uic: bool | None = None
    ) -> None:
        """Set whether elements can be assigned, as ``flags.writeable``; the others do nothing."""
        if write is not None:
            self.flags.writeable = bool(write)

    def __contains__(self, value: object) -> bool:
        """Tell whether an element equals the value."""
        return bool(namespace(None).any(self == value))

    # --- printing --------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Return the values as NumPy prints them; computes a lazy expression."""
        try:
            return str(self._as_numpy())
        except LayoutError:  # a broadcast view of more elements than NumPy can count
            return repr(self)

    def __format__(self, spec: str) -> str:
        """Return the value of an array of rank 0 formatted, or `str` of any other.

        Raises
        ------
        TypeError
            If there is a format, but not one value.
        """
        if not self.shape:
            return formatted(self._as_numpy()[()], spec)
        if spec:
            raise TypeError(
                f"format: {spec!r} formats one value, not {self.summary()}; see "
                "xl.set_printoptions for arrays"
            )
        return str(self)

    def _facts(self, title: str) -> dict[str, str]:
        """Return what a notebook says about the array besides its values."""
        shape = " x ".join(map(str, self.shape)) or "one value"
        return {
            "": title,
            "dtype": dtype_name(self.dtype),
            "shape": shape,
            "bytes": f"{self.nbytes:,}",
        }

    # --- Python's numbers ------------------------------------------------------------------------

    def __round__(self, digits: int | None = None) -> Any:
        """Return the elements rounded to decimal places, half to even.

        Of one element the value, as Python rounds numbers: an int where no digits are given.
        """
        if not self.shape:
            return round(self._one(), digits)
        return namespace(None).round(self, *(() if digits is None else (digits,)))

    def _zero_rank(self, what: str) -> Any:
        if self.shape:
            raise TypeError(f"{what}: only arrays of rank 0 convert, not shape {self.shape}")
        return self._number(what)

    def _number(self, what: str) -> Any:
        """Return the only element as Python's number, for what asks for it."""
        return self.item()

    def __bool__(self) -> bool:
        """Return the truth of the only element.

        Raises
        ------
        ValueError
            If there is none, or more than one: `any`, `all` or ``size`` are meant then.
        """
        if self.size != 1:
            raise ValueError(
                f"bool({self.summary()}): the truth of {self.size} elements is ambiguous; "
                "use any(), all() or size"
            )
        return bool(self._number("bool"))

    def __float__(self) -> float:
        """Return a real 0-d array as a float."""
        return float(self._zero_rank("float"))

    def __int__(self) -> int:
        """Return a real 0-d array as an int."""
        return int(self._zero_rank("int"))

    def __complex__(self) -> complex:
        """Return a 0-d array as a complex."""
        return complex(self._zero_rank("complex"))

    def __index__(self) -> int:
        """Return an integer 0-d array as an int."""
        if kind(self.dtype) not in "iu" or self.shape:
            raise TypeError(f"{self.summary()} is not an integer of rank 0")
        return int(self._number("index"))

    def __trunc__(self) -> int:
        """Return the only value without its fraction."""
        return int(self)

    def is_integer(self) -> bool:
        """Tell whether the only value is a whole number."""
        one = self._number("is_integer")
        return kind(self.dtype) in "biu" or bool(one.is_integer())

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return the only value, a real one, as a fraction."""
        numerator, denominator = self._number("as_integer_ratio").as_integer_ratio()
        return numerator, denominator

    def bit_count(self) -> int:
        """Return how many bits of the only value's magnitude are 1."""
        return int(self._number("bit_count").bit_count())

    def hex(self) -> str:
        """Return the only value, a float, as text in base 16, exactly."""
        return str(self._number("hex").hex())

    # --- copies of the values --------------------------------------------------------------------

    def tolist(self) -> Any:
        """Return the values as nested lists of Python numbers."""
        values: NumpyArray = self._as_numpy()
        return values.tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """Return the bytes of the elements in row-major order (``"F"``: column-major)."""
        return self._as_numpy().tobytes(order)  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        """Return the bytes of the elements in row-major order, as of NumPy's arrays.

        Of one integer so many zeros, as of Python's.
        """
        values: NumpyArray = self._as_numpy()
        count = not values.ndim and kind(values.dtype) in "iu"
        return bytes(int(values)) if count else values.tobytes()

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """Write the elements in row-major order to a file, as `numpy.ndarray.tofile` does."""
        self._as_numpy().tofile(fid, sep, format)

    def byteswap(self, inplace: bool = False) -> Any:
        """Return the elements with the bytes of each reversed; or reverse them in place."""
        made = self._like(namespace(None).asarray(self._as_numpy().byteswap()))
        if not inplace:
            return made
        self[...] = made  # type: ignore[index]
        return self

    def getfield(self, dtype: Any, offset: int = 0) -> Any:
        """Return what each element has from a byte on as another dtype; a copy."""
        return namespace(None).asarray(self._as_numpy().getfield(dtype, offset), copy=True)

    def setfield(self, val: object, dtype: Any, offset: int = 0) -> None:
        """Write the part of each element that begins at a byte, as `numpy.ndarray.setfield`."""
        made = np.array(self._as_numpy())
        made.setfield(np.asarray(val), dtype, offset)
        self[...] = made  # type: ignore[index]

    def dumps(self) -> bytes:
        """Return the values pickled, as NumPy's array, by `numpy.ndarray.dumps`."""
        return self._as_numpy().dumps()

    def dump(self, file: Any) -> None:
        """Write what `dumps` returns to a path or an open file."""
        self._as_numpy().dump(file)

    @property
    def data(self) -> memoryview:
        """The memory, as Python describes it; a lazy result's is its own."""
        return np.asarray(self).data

    @property
    def ctypes(self) -> Any:
        """The memory for functions of C, as `numpy.ndarray.ctypes` has it."""
        return np.asarray(self).ctypes

    def flatten(self, order: str | None = "C") -> Any:
        """Return the elements in new memory, in the order that `xl.ravel` takes them in."""
        return namespace(None).reshape(self._in_order(order, "flatten"), (-1,), copy=True)

    def _in_order(self, order: str | None, operation: str) -> Any:
        """Return the array whose row-major order is what ``order`` says of this one's elements."""
        place = getattr(self, "_map", None)
        order = "C" if order is None else str(order).upper()
        if order not in ("C", "F", "A", "K"):
            raise ValueError(f"{operation}: order must be 'C', 'F', 'A' or 'K', got {order!r}")
        if order == "K" and isinstance(place, Strided):
            return namespace(None).permute_dims(self, _by_strides(place.strides))
        if order == "A" and isinstance(place, Strided) and not place.is_row_major():
            order = "F" if place.is_column_major() else "C"
        return namespace(None).transpose(self) if order == "F" else self

    def fill(self, value: object) -> None:
        """Write one value to every element.

        Raises
        ------
        ValueError
            If there are several.
        """
        if isinstance(value, (list, tuple)) or getattr(value, "ndim", False):
            raise ValueError(f"fill({self.summary()}): one value is needed; a[...] = takes several")
        self[...] = value  # type: ignore[index]

    @property
    def flat(self) -> Flat:
        """The elements in row-major order: to be iterated, read and written."""
        return Flat(self)

    @flat.setter
    def flat(self, value: object) -> None:
        Flat(self)[:] = value


def _by_strides(steps: tuple[int, ...]) -> list[int]:
    """Return the dimensions in NumPy's order of memory; those of stride 0 stay where they can."""
    inner: list[int] = []  # the innermost one first
    for k in reversed(range(len(steps))):
        at = len(inner)
        for j in reversed(range(len(inner))):
            near, far = abs(steps[k]), abs(steps[inner[j]])
            if near and far:
                if far <= near:
                    break
                at = j
        inner.insert(at, k)
    return inner[::-1]
