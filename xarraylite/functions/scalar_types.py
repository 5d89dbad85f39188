"""The types of elements under their public names: ``xl.float32`` is a dtype that makes values.

NumPy has a class for each type of element, which makes values (``numpy.float32(3)``) and is asked
about them (``isinstance(x, numpy.floating)``), and a dtype that describes arrays of them.  Programs
use one name for both.  A `ScalarType` is both: it equals the dtype, hashes as it and has its
attributes, so it serves wherever a dtype is expected; called, it makes a value; and `isinstance`
knows the values of containers as NumPy's own.  Arrays still say ``numpy.dtype`` of themselves.
"""

from __future__ import annotations

from types import GenericAlias
from typing import Any, Union

import numpy as np

from .._errors import DTypeError
from ..arrays.expression import XExpression
from ..arrays.scalar import XScalar, scalar_of
from ..dtypes.names import (
    SUPPORTED,
    Named,
    as_dtype,
    dtype_name,
    is_narrow_float,
    is_narrow_int,
    kind,
)
from ..operands.convert import check_representable
from ..operands.non_numeric import dtype_of
from .conversion import asarray

#: `typing.Union` without its types.
_union: Any = Union


def _plain(value: object) -> object:
    """Return NumPy's value of one of ours, and anything else as it is."""
    return value.value if isinstance(value, XScalar) else value


#: A class of NumPy's for each kind of element, narrow ones included, which NumPy does not class.
STANDS: dict[str, type] = {
    "b": np.bool_,
    "i": np.int64,
    "u": np.uint64,
    "f": np.float64,
    "c": np.complex128,
}


class _Kind(type):
    """What `isinstance` and `issubclass` ask of a kind of element: NumPy's answer, and ours."""

    def __instancecheck__(cls, value: Any) -> bool:
        if is_value(value):
            return issubclass(STANDS[kind(value.dtype)], cls.__mro__[1])
        return isinstance(value, cls.__mro__[1])

    def __subclasscheck__(cls, other: Any) -> bool:
        found = STANDS[kind(other.dtype)] if isinstance(other, ScalarType) else other
        return issubclass(found, cls.__mro__[1])


def is_value(x: Any) -> bool:
    """Tell whether NumPy would have a value: an element, or a result without dimensions.

    Examples
    --------
    >>> import xarraylite as xl
    >>> v = xl.asarray([1.0, 2.0])
    >>> is_value(v[0]), is_value(v.mean()), is_value(xl.asarray(1.0))
    (True, True, False)
    """
    return isinstance(x, XScalar) or (isinstance(x, XExpression) and x._is_value())


def is_abstract(x: object) -> bool:
    """Tell whether `x` is a class of NumPy's, or of this module, that stands for several dtypes."""
    if not isinstance(x, type) or not issubclass(x, np.generic):
        return False
    return isinstance(x, _Kind) or bool(x.__subclasses__())


def _kind_of_element(numpys: type) -> Any:
    """Return an abstract class of NumPy's, to which values of containers belong as well."""
    about = f"Kind of element, for `isinstance` and `xl.issubdtype`: `numpy.{numpys.__name__}`."
    members = {"__module__": "xarraylite", "__slots__": (), "__doc__": about}
    return _Kind(numpys.__name__, (numpys,), members)


class ScalarType(Named):
    """A type of element: a dtype, and what makes values of it.

    Parameters
    ----------
    name : str
        The dtype's name.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype; its attributes (``name``, ``itemsize``, ...) are those of the type, too.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.float32(3), xl.int8([1, 2]), xl.ones(2, dtype=xl.int8).dtype == xl.int8
    (XScalar(3.0, dtype=float32), XArray([1, 2], dtype=int8), True)
    >>> isinstance(xl.ones(2)[0], xl.float64), xl.bfloat16.itemsize
    (True, 2)
    """

    __slots__ = ("__numpy_dtype__",)

    def __init__(self, name: str) -> None:
        self.dtype = self.__numpy_dtype__ = as_dtype(name)  # as NumPy asks for it first

    def __call__(self, value: Any = 0, *more: Any) -> Any:
        """Return a number as a value of this type, and an array converted to it.

        A complex type takes the parts of a number, too.

        Raises
        ------
        OverflowError
            If an integer does not fit.
        """
        if isinstance(value, XExpression):
            made = value.astype(self.dtype)
            return made if made.shape else XScalar(made)
        value = _plain(value)
        if isinstance(value, (list, tuple, range, np.ndarray)):
            return asarray(value, dtype=self.dtype)
        if isinstance(value, bytes) and is_narrow_int(self.dtype):  # ml_dtypes takes text alone
            value = int(value)
        if is_narrow_int(self.dtype):  # ml_dtypes would wrap
            check_representable(value, self.dtype, self.dtype.name)
        if is_narrow_float(self.dtype) and not more:  # ml_dtypes would round twice
            return XScalar(float(value), self.dtype)
        return scalar_of(self.dtype.type(value, *more))

    def __getattr__(self, name: str) -> Any:
        if name == "__name__":
            return self.dtype.name
        if name.startswith("__"):  # protocols ask, and a dtype has none of them
            raise AttributeError(f"{self.dtype.name} has no attribute {name!r}")
        return getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        if other is None:  # float64 to NumPy
            return False
        return self.dtype == (other.dtype if isinstance(other, ScalarType) else other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return repr(self.dtype)

    def __str__(self) -> str:
        return self.dtype.name

    def __reduce__(self) -> tuple[Any, ...]:
        return ScalarType, (self.dtype.name,)

    def __or__(self, other: Any) -> Any:
        return _union[self, other]  # in annotations

    __ror__ = __or__

    def __instancecheck__(self, value: Any) -> bool:
        if is_value(value):
            return bool(value.dtype == self.dtype)
        return isinstance(value, self.dtype.type)

    def __subclasscheck__(self, other: Any) -> bool:
        return issubclass(getattr(other, "type", other), self.dtype.type)


class _Dtypes(type):
    """What `isinstance` asks of the class of dtypes: arrays say NumPy's of themselves."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (np.dtype, ScalarType))


class dtype(metaclass=_Dtypes):
    """The dtype that something names, as `numpy.dtype` makes it.

    Parameters
    ----------
    dtype : object
        A dtype, its name or code, or one of Python's types; see `dtypes.names.as_dtype`.  What
        names elements that are no numbers (text, dates, fields of a record) is NumPy's.
    align, copy : bool, default False
        As for ``numpy.dtype``; they concern records alone.

    Raises
    ------
    DTypeError
        If it names no dtype, or one that neither containers nor NumPy's arrays beside them have.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.dtype("bf16"), xl.dtype([("name", "U5"), ("age", int)]).names
    (dtype(bfloat16), ('name', 'age'))
    >>> isinstance(xl.ones(2).dtype, xl.dtype)
    True
    """

    __slots__ = ()
    __class_getitem__: Any = classmethod(GenericAlias)  # in annotations

    def __new__(cls, dtype: Any, align: bool = False, copy: bool = False) -> Any:
        """Return the dtype."""
        try:
            return as_dtype(dtype)
        except DTypeError:
            other = dtype_of(dtype)
            if other is None:
                raise
            return np.dtype(dtype, align=align, copy=copy) if align else other


generic = _kind_of_element(np.generic)
number = _kind_of_element(np.number)
integer = _kind_of_element(np.integer)
signedinteger = _kind_of_element(np.signedinteger)
unsignedinteger = _kind_of_element(np.unsignedinteger)
inexact = _kind_of_element(np.inexact)
floating = _kind_of_element(np.floating)
complexfloating = _kind_of_element(np.complexfloating)


def __getattr__(name: str) -> Any:
    """Make the type that a dtype's name stands for, when it is first asked for.

    The package's stub declares them.
    """
    found = name.removesuffix("_")
    if found not in map(dtype_name, SUPPORTED):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, ScalarType(found))
