"""`open`: what is kept elsewhere as a lazy operand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import MAGIC_PREFIX

from .._errors import DTypeError, FormatError, StorageError, XarrayliteError
from ..arrays.expression import XExpression
from ..dtypes.names import DType, as_dtype, dtype_name
from ..io.header import read_dtype
from ..io.npy import load
from ..ir.node import Stored
from ..operands.nodes import Lifted, is_masked
from .extras import imported, lacking
from .inner import layout_codec
from .operand import Source
from .places import HDF5, ZIP, is_named, library_of, local, name_of
from .retries import patiently


def open_(
    what: Any, key: str = "", /, *, dtype: object = None, complete: bool = False
) -> XExpression:
    """Return an array that is kept elsewhere as a lazy operand; nothing is read.

    Parameters
    ----------
    what : path, URL or array
        A ``.npy`` file, an HDF5 file, a zarr array (format 2 or 3) in a directory, a zip file or
        under any URL that fsspec knows; or an array that takes slices: of zarr, h5py, dask or
        xarray, a memory map, or any object with ``shape``, ``dtype`` and ``__getitem__``.
        ``chunks``, where it has them, say in which pieces it is best read.
    key : str, optional
        Name of the array in a file or a group.
    dtype : dtype, optional
        What the elements are, of a file whose format does not know their dtype.
    complete : bool, default False
        Whether a chunk of a zarr array that is missing, as a file or in its shard, is an error when
        it is read; otherwise it has the fill value, as the format says.  `store` leaves none out of
        an array that it makes; zarr leaves out those that are all fill value, unless the array was
        made or opened with ``config={"write_empty_chunks": True}``.

    Returns
    -------
    XExpression
        An operand like any other.  `store` and reductions read it block by block.

    Raises
    ------
    StorageError
        If it cannot be opened.
    DTypeError
        If the elements are no numbers of a supported dtype.
    ImportError
        If the library that reads it is not installed; the message names the extra.

    See Also
    --------
    store : Evaluate into such an array.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> a = xl.open(np.arange(6.0).reshape(2, 3))
    >>> a.shape, str(a.dtype)
    ((2, 3), 'float64')
    >>> xl.eval(a[:, ::-1] + 1)
    XArray([[3., 2., 1.],
            [6., 5., 4.]])
    """
    if isinstance(what, XExpression):
        return what
    if isinstance(what, Lifted):
        raise DTypeError(f"open: got {type(what).__name__}; {what.instead}")
    own = None if dtype is None else as_dtype(dtype)
    path = local(what) if isinstance(what, str | os.PathLike) else None
    name = path or f"{library_of(what)} {type(what).__name__}"
    try:
        name = (name_of(what) if path is None else path) + (f":{key}" if key else "")
        array = _chosen(what, key) if path is None else _from_path(path, key, own)
        source = _source(what, array, name, complete)
    except XarrayliteError:
        raise
    except ImportError as error:
        raise lacking(f"open: {name}", path or "", error) from error
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        if path is not None and os.path.exists(path):  # noqa: PTH110 (of any text)
            told = _about(path, key, error)
        raise StorageError(f"open: {name}: {told}") from error
    if own not in (None, source.dtype):
        raise DTypeError(
            f"open: {name} has elements of {dtype_name(source.dtype)}, not of {dtype_name(own)}; "
            "convert it with xl.astype"
        )
    return XExpression(Stored(source.shape, source.dtype, source))


def _source(what: object, array: Any, name: str, complete: bool) -> Source:
    if not (hasattr(array, "shape") and hasattr(array, "dtype") and hasattr(array, "__getitem__")):
        raise DTypeError(
            f"open: got {type(what).__name__}; it must be a path, a URL or an object with shape, "
            "dtype and __getitem__"
        )
    if array.shape is None:
        raise DTypeError(f"open: {name} has no elements, and no shape")  # `Empty` of h5py
    if library_of(array) == "h5py" and not hasattr(array, "file"):
        raise DTypeError(f"open: {name} is a view; open its data set, and convert with xl.astype")
    part: Any = getattr(array, "_meta", array)  # of dask
    if isinstance(part, np.ndarray) and is_masked(part) and (part is not array or part.mask.any()):
        raise DTypeError(f"open: {name}: got a masked array; fill it first, as masks are lost")
    return Source(array, name, library_of(array) == "h5py", complete)


def _about(path: str, key: str, error: Exception) -> str:
    """Return why what is under a path cannot be opened."""
    told = f"{type(error).__name__}: {error}"
    if isinstance(error, FileNotFoundError):  # zarr's words say less
        told = "nothing of zarr's is there" + (f" by the name {key!r}" if key else "")
        told += (
            f"; names of other files that are opened here end in {', '.join(('.npy', *HDF5))}; "
            "of any other format, open an array that its library gives"
        )
    elif isinstance(error, ValueError | EOFError) and Path(path).is_file():
        told += f"; the file has {Path(path).stat().st_size} bytes"
    return told


def _from_path(path: str, key: str, dtype: DType | None) -> Any:
    url = "://" in path
    if url and is_named(path, (".npy", *HDF5)):
        raise StorageError(
            f"open: {path}: only zarr arrays are opened under URLs; copy the file to this machine, "
            "or open an array that its library gives"
        )
    if is_named(path, ".npy") and key:
        raise StorageError(f"open: {path} is one array, and has no {key!r} in it")
    if is_named(path, ".npy"):
        return _mapped(path, dtype)
    if is_named(path, HDF5):
        return _chosen(imported("h5py", "hdf5").File(path, "r"), key)
    zarr = imported("zarr", "zarr")
    layout_codec()
    store = path
    if is_named(path, ZIP) and not url:
        store = zarr.storage.ZipStore(path, mode="r")
    elif is_named(path, ZIP) and not path.startswith("zip://"):
        store = f"zip://::{path}"
    return _chosen(patiently(lambda: zarr.open(store, path=key or None, mode="r")), "")


def _mapped(path: str, dtype: DType | None) -> Any:
    """Return the array in a ``.npy`` file, where NumPy does not write names of narrow dtypes."""
    with Path(path).open("rb") as file:
        begin = file.read(len(MAGIC_PREFIX))
    if begin != MAGIC_PREFIX:  # NumPy would take it for a pickle
        cut = MAGIC_PREFIX.startswith(begin)
        raise ValueError("it is truncated" if cut else "it does not begin as .npy files do")
    try:
        array: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        if dtype is None or dtype.itemsize != 1:
            raise
        try:
            return load(path, "r", dtype=dtype)  # NumPy writes 'f1', and does not read it
        except FormatError as error:
            raise ValueError(str(error)) from error
    array = array.view(read_dtype(array.dtype))
    nameless = array.dtype.type is np.void and array.dtype.fields is None
    if not nameless or dtype is not None:
        told = nameless and dtype is not None and dtype.itemsize == array.itemsize
        return array.view(dtype) if told else array
    raise DTypeError(
        f"open: {path} has elements of {array.dtype.itemsize} bytes, and the format does not say "
        "of which dtype; tell it, such as dtype='bfloat16'"
    )


def _chosen(what: Any, key: str) -> Any:
    """Return an array of a file or group, or what is one itself."""
    if key:
        if hasattr(what, "keys") and key not in what:
            raise StorageError(f"open: {_lacks(what, f'has no array {key!r}')}")
        what = what[key]
    if hasattr(what, "keys") and not hasattr(what, "shape"):
        raise StorageError(f"open: {_lacks(what, 'is a group, and which array is not said')}")
    return getattr(what, "variable", what)  # of xarray's DataArray


def _lacks(group: Any, told: str) -> str:
    return f"{name_of(group)} {told}; it has {sorted(group.keys())}"
