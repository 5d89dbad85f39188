"""Numbers in text files, read and written by NumPy."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from ..arrays.xarray import XArray
from ..dtypes.names import as_dtype
from ..functions.computed import Narrow, container, numpy_of, results
from ..operands.non_numeric import dtype_of


def loadtxt(fname: Any, dtype: object = float, **options: Any) -> XArray:
    """Return the numbers of a text file, row by row.

    Parameters
    ----------
    fname : path, file or sequence of lines
        What to read.
    dtype : dtype, default float64
        Of the result.
    **options
        As for ``numpy.loadtxt``, by name: ``delimiter``, ``skiprows``, ``usecols``, ``comments``,
        ``max_rows``, ``ndmin``, ``converters``, ``encoding`` and others.

    Returns
    -------
    XArray
        The numbers; with ``unpack=True`` the columns are rows.

    Raises
    ------
    ValueError
        If a line has another number of fields, or something that is no number.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.loadtxt(["1 2", "3 4"], int)
    XArray([[1, 2],
            [3, 4]])
    """
    return _read("loadtxt", np.loadtxt, fname, dtype, options)


def genfromtxt(fname: Any, dtype: object = float, **options: Any) -> XArray:
    """Return the numbers of a text file in which some are missing, which become NaN.

    Parameters
    ----------
    fname : path, file or sequence of lines
        What to read.
    dtype : dtype, default float64
        Of the result.
    **options
        As for ``numpy.genfromtxt``, by name.

    Returns
    -------
    XArray
        The numbers.

    Raises
    ------
    ValueError
        If a line has another number of fields.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.genfromtxt(["1,2", "3,"], delimiter=",")
    XArray([[ 1.,  2.],
            [ 3., nan]])
    """
    return _read("genfromtxt", np.genfromtxt, fname, dtype, options)


def _read(name: str, read: Any, fname: Any, dtype: object, options: dict[str, Any]) -> XArray:
    if dtype is None or dtype_of(dtype) is not None or options.get("names"):
        return cast("XArray", results(read(fname, dtype=dtype, **options), Narrow()))
    wanted = as_dtype(dtype)
    plain = wanted if wanted.isbuiltin == 1 else np.dtype(np.float64)
    try:
        made = np.asarray(read(fname, dtype=plain, **options))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return container(made) if plain == wanted else XArray(made, wanted)


def savetxt(
    fname: Any, X: object, fmt: str = "%.18e", delimiter: str = " ", **options: Any
) -> None:
    """Write the numbers of an array of rank 1 or 2 to a text file, one row a line.

    Parameters
    ----------
    fname : path or file
        Where to write.
    X : array or expression
        The numbers.
    fmt : str, default "%.18e"
        How each is written.
    delimiter : str, default " "
        What stands between them.
    **options
        As for ``numpy.savetxt``, by name: ``newline``, ``header``, ``footer``, ``comments``,
        ``encoding``.

    Raises
    ------
    ValueError
        If the rank is neither 1 nor 2.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> file = io.StringIO()
    >>> xl.savetxt(file, xl.asarray([[1.0, 2.0]]), "%.1f")
    >>> file.getvalue()
    '1.0 2.0\\n'
    """
    values = np.asarray(numpy_of(X, "savetxt", Narrow()))
    try:
        np.savetxt(fname, values, fmt, delimiter, **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"savetxt: {error}") from None
