"""Optional arrays from and to other libraries: NumPy's masked arrays, pandas' nullable ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import DTypeError
from ..arrays import xarray
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import NumpyArray, kind
from ..index.broadcast import broadcast_shapes
from ..operands.nodes import is_masked
from .array import XOptional
from .missing import Missing, filled_in


def optional(values: object, has_value: object = None, /, *, dtype: object = None) -> XOptional:
    """Return an array of which elements may be missing.

    Parameters
    ----------
    values : array, expression, or nested lists
        The values: containers are used as they are, others copied.  In lists None and
        ``xl.missing`` are missing; so are masked elements of a NumPy masked array, and ``NA`` of a
        nullable array or series of pandas.
    has_value : array or expression of bool, optional
        Which of them there are; a container is used as it is.  By default all.
    dtype : dtype, optional
        Of the values.

    Returns
    -------
    XOptional
        In memory, or lazy where ``values`` or ``has_value`` is.

    Raises
    ------
    DTypeError
        If ``has_value`` is not bool.
    BroadcastError
        If the shapes do not broadcast.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.optional([1, None, 3]) + xl.optional([10, 20, 30], [True, True, False])
    >>> print(xl.eval(x))
    [11 N/A N/A]
    >>> x.has_value().tolist()
    [True, False, False]
    """
    if isinstance(values, XOptional):
        plain: Any = values.value()
        given: Any = values.has_value()
    else:
        plain, given = _plain(values)
    made = _half(plain, dtype)
    known = [_half(part, None) for part in (given, has_value) if part is not None]
    flags = known[0] if known else XArray(np.ones(made.shape, np.bool_))
    if len(known) > 1:
        flags = known[0] & known[1]
    shape = broadcast_shapes(made.shape, flags.shape)
    if isinstance(made, XContainer) and isinstance(flags, XContainer) and flags.shape != shape:
        flags = XArray(np.broadcast_to(np.asarray(flags), shape))
    return XOptional(made, flags)


def _half(values: Any, dtype: object) -> XExpression:
    if isinstance(values, XExpression):
        return values if dtype is None else values.astype(dtype, copy=False)
    line = dtype is None and values.__class__ is np.ndarray and values.ndim == 1
    made: XArray | None = xarray.owned(values) if line else None
    return XArray(values, dtype) if made is None else made


def _plain(values: Any) -> tuple[Any, NumpyArray | None]:
    """Return values that are all there, and where they were; None for everywhere."""
    if isinstance(values, np.ndarray) and is_masked(values):
        mask = np.ma.getmaskarray(values)
        return np.asarray(np.ma.getdata(values)), ~mask
    if hasattr(values, "isna") and hasattr(values, "to_numpy"):
        absent = np.asarray(values.isna(), np.bool_)
        wanted = getattr(values.dtype, "numpy_dtype", None)
        if wanted is None:
            return values.to_numpy(), ~absent
        return values.to_numpy(dtype=wanted, na_value=wanted.type(0)), ~absent
    if isinstance(values, list | tuple | Missing | None):
        return filled_in(values)
    return values, None


def _check_optional(x: object, operation: str) -> None:
    if not isinstance(x, XOptional):
        raise DTypeError(f"{operation}: got {type(x).__name__}; the rule is an optional array")


def masked_array(x: XOptional, /) -> Any:
    """Return an optional array as a NumPy masked array, in memory of its own.

    Parameters
    ----------
    x : XOptional
        Values and flags.

    Returns
    -------
    numpy.ma.MaskedArray
        Masked where a value is missing.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.masked_array(xl.optional([1, None, 3])).sum()
    np.int64(4)
    """
    _check_optional(x, "masked_array")
    values, known = x.value().numpy(), x.has_value().numpy()
    return np.ma.MaskedArray(values.copy(), mask=~known)


def to_pandas(x: XOptional, /) -> Any:
    """Return an optional array of one dimension as a nullable array of pandas.

    Parameters
    ----------
    x : XOptional
        Values and flags, of rank 1.

    Returns
    -------
    pandas array
        Nullable, of the dtype nearest to that of ``x``.

    Raises
    ------
    DTypeError
        If the rank is not 1, or pandas has no nullable dtype for the values.
    ImportError
        If pandas is not installed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.to_pandas(xl.optional([1, None, 3])).dtype
    Int64Dtype()
    """
    _check_optional(x, "to_pandas")
    import pandas as pd  # noqa: PLC0415 (not everybody has it)

    kinds = {
        "b": pd.arrays.BooleanArray,
        "i": pd.arrays.IntegerArray,
        "u": pd.arrays.IntegerArray,
        "f": pd.arrays.FloatingArray,
    }
    make = kinds.get(kind(x.dtype)) if x.dtype.isbuiltin == 1 else None
    if make is None or x.ndim != 1 or (kind(x.dtype) == "f" and x.dtype.itemsize < 4):
        raise DTypeError(f"to_pandas: pandas has no nullable array for {x.summary()}")
    return make(x.value().numpy().copy(), ~x.has_value().numpy())
