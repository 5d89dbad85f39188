"""`XScalar`: one element as a value of its own, what NumPy calls an array scalar.

``v[0]``, ``A[i, j]`` and the elements met when a vector is iterated are values: what is written to
the array later does not change them, so swaps, accumulators and histories keep what they took.  A
value never changes, hashes as the equal Python number does, and is an array of rank 0 to whoever
asks for the standard's interface.

Between values and Python numbers operators compute at once (`scalar_arithmetic`).  Together with
an array or an expression a value is a constant of its dtype (NumPy's scalars are "strong" in the
same sense), so the result is lazy.

As in NumPy, a value of float64 is a `float` and one of complex128 a `complex` (what asks for these
classes takes it: JSON, fractions, `datetime`), and the others are registered as the numbers that
they are.  `CLASSES` has the class for each dtype.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from numbers import Complex, Integral, Number, Real
from types import FunctionType
from typing import Any

import numpy as np

from .._errors import DTypeError
from .._later import reference
from ..assignment.assign import check_cast
from ..dtypes.names import SUPPORTED, as_dtype, dtype_name, kind
from ..operands.nodes import OneValue, is_number
from ..operands.non_numeric import as_other
from ..operands.operators import Operators, ufunc_table
from ..operands.representation import html, shows_dtype
from .array_object import ArrayObject
from .expression import XExpression
from .scalar_arithmetic import binary, compute, unary

_new = object.__new__

_COMPLEX: frozenset[Any] = frozenset((np.complex128, np.complex64))


def scalar_of(value: Any) -> XScalar:
    """Return a NumPy scalar, or a Python number that stands for its dtype, as a value.

    Raises
    ------
    KeyError
        If it is neither.
    """
    cls = CLASSES[value.__class__]
    if cls is XFloat64 or cls is XComplex128:
        return cls(value)  # type: ignore[no-any-return]
    made = _new(cls)
    made._value = value
    return made


def values_of(numbers: Iterable[Any], dtype: np.dtype[Any]) -> Iterator[Any]:
    """Return NumPy scalars of a dtype as values, each made when it is reached."""
    if dtype.type is not np.float64:
        return map(scalar_of, numbers)
    plain = isinstance(scalar_of, FunctionType)  # not yet in machine code
    if isinstance(numbers, np.ndarray) and numbers.flags.aligned:  # else it has no memoryview
        numbers = numbers.data  # which gives Python's floats, in less time than NumPy's
    return map(XFloat64 if plain else scalar_of, numbers)


class XScalar(OneValue, ArrayObject, Operators, binary=binary, unary=unary):
    """One element of an array as a value: what a full integer index returns.

    Parameters
    ----------
    value : number, array of one element or XScalar
        The value.
    dtype : dtype, optional
        By default that of the value.

    Raises
    ------
    TypeError
        If there is not exactly one element.
    DTypeError
        If it is no number.

    Examples
    --------
    >>> import xarraylite as xl
    >>> v = xl.asarray([3.0, 1.0])
    >>> v[0], v[1] = v[1], v[0]
    >>> first = v[0]
    >>> v[0] = 7
    >>> first, first.dtype, first + 1
    (XScalar(1.0), dtype('float64'), XScalar(2.0))
    """

    __slots__ = ()

    #: NumPy's operators leave mixed expressions to us.
    __array_priority__ = 1000.0

    #: A number as a value, of whichever class.
    _of = staticmethod(scalar_of)

    def __new__(cls, value: object, dtype: object = None) -> XScalar:  # noqa: PYI034
        """Return the value in the class of its dtype."""
        if dtype is None and isinstance(value, XScalar):
            return value
        if dtype is None and isinstance(value, np.generic) and value.__class__ in CLASSES:
            return scalar_of(value)
        if isinstance(value, Number) and not isinstance(value, _KNOWN):  # a fraction, say
            exact: Any = value
            value = int(exact) if issubclass(cls, XInteger) else float(exact)
            dtype = np.float32 if dtype is None and issubclass(cls, XFloating) else dtype
        made = XExpression._container(value, dtype)
        if made.size != 1:
            raise TypeError(f"XScalar: one element is needed, got the shape {made.shape}")
        return scalar_of(made.numpy().reshape(())[()])

    #: It never changes, whatever `setflags` is told.
    readonly = True

    def _protect(self, readonly: bool) -> None:
        """Do nothing, as NumPy's scalars do."""

    def _sympy_(self) -> Any:
        """Return the number as SymPy's, which has asked for it: it takes others for floats."""
        return sys.modules["sympy"].sympify(self.item())

    # --- the array object ------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the value."""
        return as_dtype(self.value.dtype)

    @property
    def shape(self) -> tuple[()]:
        """No extents: the rank is 0."""
        return ()

    @property
    def strides(self) -> tuple[()]:
        """No strides: the rank is 0."""
        return ()

    @property
    def ndim(self) -> int:
        """Number of dimensions: 0."""
        return 0

    @property
    def T(self) -> XScalar:
        """The value itself: there are no dimensions to reverse."""
        return self

    def _one(self) -> XScalar:
        return self

    def _complex_part(self, which: int) -> Any:
        value: Any = self.value
        if value.__class__ in _COMPLEX:
            return scalar_of(value.imag if which else value.real)
        return super()._complex_part(which)

    def summary(self) -> str:
        """Return kind and dtype, as error messages show them."""
        return f"XScalar {dtype_name(self.dtype)}[]"

    def _array(self) -> Any:
        """Return the value in a container of its own."""
        return XExpression._container(self.value)

    def numpy(self) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
        """Return the value as a NumPy array of rank 0."""
        return np.asarray(self.value)

    _as_numpy = numpy

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Any:
        """Return the value as a NumPy array; ``copy=False`` is refused, as there is no memory."""
        if copy is False:
            raise ValueError("an XScalar has no memory to share: its value cannot be had uncopied")
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute ``np.add(value, 1)`` at once; with arrays, as theirs do."""
        op = ufunc_table().get(ufunc)
        numbers = method == "__call__" and not options and all([is_number(x) for x in inputs])
        if op is not None and numbers:
            return compute(XScalar, op, inputs)
        return super().__array_ufunc__(ufunc, method, *inputs, **options)

    def astype(
        self,
        dtype: object,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> XScalar:
        """Return the value converted to ``dtype``, as `xl.astype` converts."""
        try:
            wanted = as_dtype(dtype)
        except DTypeError:
            return as_other(self, dtype)[()]  # type: ignore[return-value]
        check_cast("astype", self.summary, self.dtype, wanted, casting)
        return scalar_of(reference.convert(np.asarray(self.value), wanted)[()])

    def copy(self, order: str = "K") -> XScalar:
        """Return the value itself, which never changes."""
        return self

    def view(self, dtype: object = None, type: object = None) -> Any:
        """Return the value of the same bits in another dtype."""
        return self if dtype is None else scalar_of(self.value.view(as_dtype(dtype)))

    def _like(self, made: Any) -> XScalar:
        return XScalar(made)

    def __getitem__(self, key: Any) -> Any:
        """Return the value itself under ``[()]``, and arrays of it for ``...`` and ``newaxis``."""
        return self if type(key) is tuple and key == () else self._array()[key]

    def __matmul__(self, other: object) -> Any:
        """Refuse, as NumPy's scalars: an array, if the other is one, names the rule."""
        return NotImplemented

    __rmatmul__ = __matmul__

    def __len__(self) -> int:
        """Refuse: a value has no extents."""
        raise TypeError("len() of an array of rank 0")

    def __iter__(self) -> Any:
        """Refuse: a value has no extents."""
        raise TypeError("iteration over an array of rank 0")

    # --- Python's numbers ------------------------------------------------------------------------

    def item(self, *index: Any) -> Any:
        """Return the value as a Python number."""
        return self.value.item(*index)

    def __float__(self) -> float:
        """Return a real value as a float.

        Raises
        ------
        TypeError
            For a complex one, of which NumPy would take the real part.
        """
        value = self._value
        return float(value.item() if value.__class__ in _COMPLEX else value)

    def __int__(self) -> int:
        """Return a real value as an int; as `float`."""
        value = self._value
        return int(value.item() if value.__class__ in _COMPLEX else value)

    def __bool__(self) -> bool:
        """Return whether the value is not zero."""
        return bool(self._value)

    def __complex__(self) -> complex:
        """Return the value as a complex."""
        return complex(self._value)

    def __index__(self) -> int:
        """Return an integer as an int.

        Raises
        ------
        TypeError
            For other dtypes.
        """
        if kind(self.dtype) not in "iu":
            raise TypeError(f"{dtype_name(self.dtype)}[] is not an integer of rank 0")
        return int(self._value)

    def __hash__(self) -> int:  # type: ignore[override]
        """Return the hash of the equal Python number."""
        return hash(self._value)

    def __round__(self, digits: int | None = None) -> Any:
        """Return the nearest int, half to even, or the value rounded to decimal places."""
        if digits is None:
            return round(self.item())
        wide = np.asarray(self.value, None if self.dtype.isbuiltin == 1 else np.float32)
        with np.errstate(all="ignore"):
            return scalar_of(reference.convert(np.asarray(np.round(wide, digits)), self.dtype)[()])

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        suffix = f", dtype={dtype_name(self.dtype)}" if shows_dtype(self.dtype) else ""
        return f"XScalar({str(self.value).strip('()')}{suffix})"

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts and the value."""
        return html(self._facts("XScalar"), str(self))

    def __copy__(self) -> XScalar:
        """Return the value itself: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> XScalar:
        """Return the value itself: it never changes."""
        return self

    def __reduce__(self) -> Any:
        """Pickle the number and its dtype's name."""
        return XScalar, (self.item(), dtype_name(self.dtype))


class XHeld(XScalar):
    """A value that holds its number."""

    __slots__ = ("_value",)


@Real.register
class XFloating(XHeld):
    """A value of a real dtype other than float64."""

    __slots__ = ()


@Integral.register
class XInteger(XHeld):
    """A value of an integer dtype."""

    __slots__ = ()

    @property
    def numerator(self) -> int:
        """The value, as an int: what `fractions` asks of whole numbers."""
        return int(self._value)

    @property
    def denominator(self) -> int:
        """One."""
        return 1


class XBool(XHeld):
    """A truth value."""

    __slots__ = ()


@Complex.register
class XComplexFloating(XHeld):
    """A value of complex64."""

    __slots__ = ()


class XFloat64(XScalar, float):  # type: ignore[misc]
    """A value of float64, which is its number."""

    __slots__ = ()

    __new__ = float.__new__  # type: ignore[assignment]
    _value = property(float.__float__)
    __float__ = float.__float__
    __int__ = float.__int__
    __bool__ = float.__bool__
    __str__ = float.__repr__
    __format__ = float.__format__  # type: ignore[assignment]
    __hash__ = float.__hash__  # type: ignore[assignment]


class XComplex128(XScalar, complex):
    """A value of complex128, which is its number."""

    __slots__ = ()

    __new__ = complex.__new__  # type: ignore[assignment]
    _value = property(complex.__pos__)
    __hash__ = complex.__hash__  # type: ignore[assignment]


#: Numbers that arrays are made of; others become Python's.
_KNOWN = (int, float, complex, np.generic, XScalar)

_KINDS = {"f": XFloating, "i": XInteger, "u": XInteger, "b": XBool, "c": XComplexFloating}

#: The class of a value, by that of the number that it is made of.
CLASSES: dict[type, type[XScalar]] = {dt.type: _KINDS[kind(dt)] for dt in SUPPORTED} | {
    np.float64: XFloat64,
    float: XFloat64,
    np.complex128: XComplex128,
    complex: XComplex128,
    int: XInteger,
    bool: XBool,
}
