"""Arrays as text: tables of numbers, JSON, and what an array is in words."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

import numpy as np

from .._errors import FormatError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import DType, NumpyArray, as_dtype, dtype_name, float64, kind
from ..dtypes.promotion import int_bounds
from ..functions.arrays_of_numpy import Narrow, numpy_of, results
from ..ir.build import describe
from ..layout.tiled import TiledMap
from ..nullable.array import XOptional
from ..operands.nodes import as_node
from ..operands.non_numeric import dtype_of, is_not_ours
from ..operands.representation import class_of

TextFile: TypeAlias = "str | os.PathLike[str] | TextIO"


def load_csv(
    file: TextFile,
    *,
    delimiter: str = ",",
    skip_rows: int = 0,
    max_rows: int | None = None,
    comments: str | None = "#",
    dtype: object = float64,
) -> XArray:
    r"""Read a table of numbers from a text file.

    Parameters
    ----------
    file : path or text stream
        Where to read.
    delimiter : str, default ","
        What stands between numbers.
    skip_rows, max_rows : int, optional
        Lines to leave out at the beginning, and rows to read at most.
    comments : str or None
        What begins a comment.
    dtype : dtype, default float64
        Of the elements.

    Returns
    -------
    XArray
        Of two dimensions, also where there is one row or column.

    Raises
    ------
    FormatError
        If something is no number of the dtype, or the rows have different lengths.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> xl.load_csv(io.StringIO("# x, y\n1, 2\n3, 4\n"))
    XArray([[1., 2.],
            [3., 4.]])
    """
    end = as_dtype(dtype)
    try:
        with warnings.catch_warnings():
            # Older versions of NumPy read what is no integer through a float, and warn.
            warnings.simplefilter("error", DeprecationWarning)
            values: NumpyArray = np.loadtxt(
                file,
                dtype=_READ[kind(end)],
                delimiter=delimiter,
                skiprows=skip_rows,
                max_rows=max_rows,
                comments=comments,
                ndmin=2,
            )
    except ValueError as error:
        raise FormatError(f"load_csv: {error}") from None
    if kind(end) in "biu":
        values = _whole(values, end)
    return XArray(values, end)


#: What numbers are read as, by the kind of dtype: in it none is rounded that a narrower one holds.
_READ: dict[str, type] = {"b": str, "i": int, "u": np.uint64, "f": float, "c": complex}


def _whole(values: NumpyArray, dtype: DType) -> NumpyArray:
    """Return truth values, or whole numbers that a dtype holds; others are refused."""
    if kind(dtype) == "b":
        words = np.char.strip(values)
        values = (words == "True") | (words == "1")
        wrong = words[~values & (words != "False") & (words != "0")]
    else:
        low, high = int_bounds(dtype)
        wrong = values[(values < low) | (values > high)]
    if wrong.size:
        raise FormatError(f"load_csv: {str(wrong[0])!r} is no {dtype_name(dtype)}")
    return values


def dump_csv(file: TextFile, x: object, /, *, delimiter: str = ",") -> None:
    r"""Write an array of at most two dimensions as a table of numbers that reads back the same.

    Parameters
    ----------
    file : path or file
        Where to write.
    x : array or expression
        What to write.
    delimiter : str, default ","
        What stands between two numbers.

    Raises
    ------
    ShapeError
        For an array of more dimensions.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> text = io.StringIO()
    >>> xl.dump_csv(text, xl.asarray([[1.0, 0.1], [3.0, 4.0]]))
    >>> text.getvalue()
    '1.0,0.1\n3.0,4.0\n'
    """
    values = _values(x, "dump_csv")
    if values.ndim > 2:
        raise ShapeError(f"dump_csv: a table has two dimensions, not shape {values.shape}")
    rows = np.atleast_2d(values).tolist()
    text = "".join([f"{delimiter.join(map(str, row))}\n" for row in rows])
    if isinstance(file, str | os.PathLike):
        Path(file).write_text(text, encoding="utf-8")
    else:
        file.write(text)


def to_json(x: object, /) -> str:
    """Return an array as nested lists in JSON; missing values are null.

    Parameters
    ----------
    x : array or expression
        What to write.

    Returns
    -------
    str
        JSON.

    Raises
    ------
    ValueError
        For NaN and infinities, which JSON does not have.
    TypeError
        For complex numbers, likewise.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.to_json(xl.asarray([[1, 2], [3, 4]]))
    '[[1, 2], [3, 4]]'
    """
    values: Any = x if isinstance(x, XOptional) else _values(x, "to_json")
    try:
        return json.dumps(values.tolist(), allow_nan=False)
    except (ValueError, TypeError) as error:
        shown = f"{dtype_name(values.dtype)}{list(values.shape)}"
        raise type(error)(f"to_json({shown}): {error}; JSON has real, finite numbers") from None


def from_json(text: str | bytes, /, *, dtype: object = None) -> XArray:
    """Return nested lists of numbers in JSON as an array.

    Parameters
    ----------
    text : str or bytes
        JSON.
    dtype : dtype, optional
        Of the result; by default what the numbers need.

    Returns
    -------
    XArray
        The numbers.

    Raises
    ------
    FormatError
        If the text is no JSON, or no lists of numbers.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.from_json("[[1, 2.5], [3, 4]]")
    XArray([[1. , 2.5],
            [3. , 4. ]])
    """
    try:
        return XArray(json.loads(text), dtype)
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"from_json: {error}") from None


def info(x: object) -> str:
    """Return in words what an array is: its class, dtype, shape, and where its elements lie.

    Parameters
    ----------
    x : array or expression
        What to describe.

    Returns
    -------
    str
        Several lines.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.XTensor([[1, 2], [3, 4]])
    >>> print(xl.info(a))
    XTensor int64[2, 2]: rank fixed, row_major, strides (2, 1), 32 bytes
    >>> print(xl.info(a[0] + 1))
    XFunction add int64[2]: rank fixed, lazy
    """
    if isinstance(x, XOptional):
        halves = [info(half).partition(": ")[2] for half in x.parts(x)]
        return f"{x.summary()}: values {halves[0]}; flags {halves[1]}"
    if not isinstance(x, XExpression):
        return f"{type(x).__name__} {describe(as_node(x, 'info'))}: no array of this package"
    fixed = "shape fixed" if x.has_fixed_shape else "rank fixed" if x.has_fixed_rank else ""
    parts = [fixed] if fixed else []
    if isinstance(x, XContainer):
        parts.append(str(x.layout))
        if not isinstance(x.map, TiledMap):
            parts.append(f"strides {x.strides}")
        parts.append(f"{x.nbytes:,} bytes")
        parts += ["read-only"] if x.readonly else []
        shape = f"{dtype_name(x.dtype)}{list(x.shape)}"
        return f"{type(x)._title} {shape}: {', '.join(parts)}"
    title = class_of(x.node) if type(x) is XExpression else type(x).__name__
    parts.append("lazy" if type(x) is XExpression else "read and written by position")
    return f"{title} {describe(x.node)}: {', '.join(parts)}"


def _values(x: object, operation: str) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    return np.asarray(x if isinstance(x, XExpression) else XExpression(as_node(x, operation)))


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
        The numbers; records, and what has a mask (``usemask=True``), are NumPy's arrays.

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
    others = dtype is None or isinstance(dtype, tuple) or dtype_of(dtype) is not None
    wanted = None if others or options.get("names") else as_dtype(dtype)
    narrow = wanted is not None and wanted.isbuiltin != 1
    given = float if narrow else dtype if wanted is None else wanted
    try:
        made = read(fname, dtype=given, **options)
    except ValueError as error:
        raise _named(name, error) from None
    if isinstance(made, np.ndarray) and is_not_ours(made):  # records, or with a mask
        return cast("XArray", made)
    return XArray(made, wanted) if narrow else cast("XArray", results(made, Narrow()))


def _named(name: str, error: Exception) -> Exception:
    """Return an error with the function's name; of text, by which callers try another encoding."""
    return error if isinstance(error, UnicodeError) else ValueError(f"{name}: {error}")


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
        raise _named("savetxt", error) from None
