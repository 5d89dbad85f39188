"""`save` and `load`: arrays in ``.npy`` and ``.npz`` files, NumPy's own formats.

What a file is, its first bytes say, not its name.  There is no pickle in either direction, so
reading a file runs nothing; arrays of objects are refused.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, Self, TypeAlias

import numpy as np

from .._errors import FormatError
from ..arrays.xarray import XArray
from ..dtypes.names import DType, NumpyArray, as_dtype
from . import npz
from .atomic import replace_file
from .header import MAGIC, read_header
from .streams import BinaryReader, BinaryWriter, FileSource, extent, refusal, shown

FilePath: TypeAlias = "str | os.PathLike[str]"


class _Missing:
    def __repr__(self) -> str:
        return "<nothing>"


_MISSING = _Missing()


def save(
    file: FilePath | BinaryWriter,
    arr: object = _MISSING,
    allow_pickle: bool = True,
    *,
    compressed: bool = False,
    **arrays: object,
) -> None:
    """Save one array as ``.npy``, or several as ``.npz``.

    A file that is given by its path is replaced as a whole: whoever reads it, at any moment, sees
    the old file or the new one, also if this process is killed.  NumPy reads what is written; for
    the types it does not know, see Notes.

    Parameters
    ----------
    file : path or file
        Path, or a file opened in binary mode.  What a path lacks of the suffix, ``.npy`` for one
        array and ``.npz`` for several, is put behind it, as NumPy does.
    arr : array, expression, scalar, nested lists, or mapping of str to any of them
        One array, in column-major order if it has that; or several by name.  Expressions are
        evaluated.
    allow_pickle : optional
        Taken as NumPy takes it, and of no effect: objects are refused.
    compressed : bool, default False
        Compress the arrays of an ``.npz``.
    **arrays
        Several arrays, by keyword; those named like other parameters need a mapping.

    Raises
    ------
    DTypeError
        For what is no array of numbers, text or dates.
    FormatError
        For a name that cannot be a member's: a path that is absolute or has ``..`` in it.
    ValueError
        If the path ends in ``.npz`` and there is one array, or in ``.npy`` and there are several.
    OSError
        As when writing any file; the old file is still there then.

    See Also
    --------
    load : Read it back.

    Notes
    -----
    NumPy has no name for types like bfloat16.  Their elements are written as a structure with one
    field, named like the type, of their bits; ``np.load(file)["bfloat16"]`` are the bits, and
    ``.view(ml_dtypes.bfloat16)`` of them the numbers, without a copy.

    A killed process can leave a hidden file ``.<name>.<16 digits>.tmp`` beside the old one; it
    may be deleted.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> file = io.BytesIO()  # or a path
    >>> a = xl.asarray([1.0, 2.0], dtype="bfloat16")
    >>> xl.save(file, first=a, second=a * 2)
    >>> file.seek(0)
    0
    >>> xl.load(file)
    {'first': XArray([1, 2], dtype=bfloat16), 'second': XArray([2, 4], dtype=bfloat16)}
    """
    several = isinstance(arr, Mapping) or arr is _MISSING
    if arrays and arr is not _MISSING:
        raise TypeError("save: give one array, a mapping, or keyword arrays; not two of them")
    if arr is _MISSING and not arrays:
        raise TypeError("save: nothing to save; give an array, a mapping, or keyword arrays")
    if compressed and not several:
        raise ValueError("save: compressed=True is for several arrays; a .npy file has none")
    write = (
        _archive_writer(arr if isinstance(arr, Mapping) else arrays, compressed)
        if several
        else partial(npz.write_array, contents=npz.contents_of(arr, "save"))
    )
    _put(file, write, several)


def _put(file: Any, write: Callable[[BinaryWriter], None], several: bool) -> None:
    """Write to a path or an open file."""
    if isinstance(file, str | os.PathLike):
        replace_file(_with_suffix(os.fspath(file), several), write)
    elif isinstance(file, io.TextIOBase) or not hasattr(file, "write"):
        kind = type(file).__name__
        raise TypeError(f"save: got {kind}; a path or a file opened in binary mode is needed")
    else:
        write(file)


def _archive_writer(
    arrays: Mapping[Any, object], compressed: bool
) -> Callable[[BinaryWriter], None]:
    """Return what writes arrays as members, once their names and dtypes have been checked."""
    if len(arrays) > npz.MAX_MEMBERS:
        raise FormatError(f"save: {len(arrays)} arrays; one file holds at most {npz.MAX_MEMBERS}")
    for key in arrays:
        if not isinstance(key, str):
            raise TypeError(f"save: the name {key!r} is {type(key).__name__}; names must be str")
        problem = npz.name_problem(key)
        if problem:
            raise FormatError(f"save: the name {shown(key)} is refused; {problem}")
    contents = {key: npz.contents_of(value, f"save {key!r}") for key, value in arrays.items()}
    return partial(npz.write_archive, arrays=contents, compressed=compressed)


def _with_suffix(path: str | bytes, several: bool) -> str:
    """Return a path with its suffix; refuse one that says the opposite of what would be there."""
    wrong, right = (".npy", ".npz") if several else (".npz", ".npy")
    path = os.fsdecode(path)
    if path.lower().endswith(wrong):
        what = "several arrays by name are" if several else "one array is"
        raise ValueError(f"save: {path!r} ends in {wrong}, but {what} written as {right}")
    return path if path.endswith(right) else path + right


def savez(
    file: FilePath | BinaryWriter, *args: object, allow_pickle: bool = True, **kwds: object
) -> None:
    """Save several arrays as `numpy.savez` does: those by position as ``arr_0``, ``arr_1``...

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> file = io.BytesIO()
    >>> xl.savez(file, xl.asarray([1, 2]), b=xl.asarray(3))
    >>> _ = file.seek(0)
    >>> sorted(xl.load(file))
    ['arr_0', 'b']
    """
    _savez(file, args, kwds, False)


def savez_compressed(
    file: FilePath | BinaryWriter, *args: object, allow_pickle: bool = True, **kwds: object
) -> None:
    """Save several arrays, compressed; see `savez`.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> file = io.BytesIO()
    >>> xl.savez_compressed(file, zeros=xl.zeros(10_000))
    >>> file.tell() < 1000
    True
    """
    _savez(file, args, kwds, True)


def _savez(file: Any, args: Sequence[object], kwds: dict[str, object], compressed: bool) -> None:
    """Save under NumPy's names."""
    named = {f"arr_{k}": array for k, array in enumerate(args)}
    if both := sorted(named.keys() & kwds.keys()):
        raise ValueError(f"savez: the names {both} are those of arrays by position")
    if isinstance(file, str | os.PathLike):
        path = os.fsdecode(file)
        file = path if path.endswith(".npz") else path + ".npz"
    save(file, {**named, **kwds}, compressed=compressed)


class Archive(dict[str, XArray | NumpyArray]):
    """The arrays of an archive by name, as `load` returns them.

    Examples
    --------
    >>> import io
    >>> import xarraylite as xl
    >>> file = io.BytesIO()
    >>> xl.savez(file, a=[1, 2])
    >>> _ = file.seek(0)
    >>> with xl.load(file) as data:
    ...     data.files, data["a"]
    (['a'], XArray([1, 2]))
    """

    @property
    def files(self) -> list[str]:
        """The names, as NumPy's archives have them."""
        return list(self)

    @property
    def f(self) -> SimpleNamespace:
        """The arrays as attributes."""
        return SimpleNamespace(**self)

    def close(self) -> None:
        """Do nothing: the arrays have been read."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


# What NumPy takes, long names included, but "w+", by which it empties the file.
_MMAP_MODES: Final = (None, "r", "c", "r+", "readonly", "copyonwrite", "readwrite")


def load(
    file: FilePath | BinaryReader,
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: str = "ASCII",
    *,
    max_header_size: int = 10_000,
    dtype: object = None,
    max_ratio: float = 200.0,
) -> Any:
    """Load what `save`, ``np.save`` or ``np.savez`` has written.

    Nothing in the file is trusted: shapes and sizes are compared with the size of the file before
    memory is allocated, and nothing in it is executed or becomes a path.

    Parameters
    ----------
    file : path or file
        Path, or a file opened in binary mode that can seek, at whose position the array or the
        archive begins.  It must be the last thing in the file, but that in an open file other
        arrays may follow an array, which are loaded next.
    mmap_mode : {"r", "r+", "c"}, optional
        Map the array of a file that is given by its path, as NumPy does, instead of reading it.
        Its header is checked as one that is read.
    allow_pickle, fix_imports, encoding, max_header_size : optional
        Taken as NumPy takes them, and of no effect: objects are refused whatever is allowed, and
        no header is evaluated.
    dtype : dtype or mapping of str to dtype, optional
        What elements are that the file does not name, as ``np.save`` leaves bfloat16; by name if
        the arrays of an archive differ.  Elements are never converted.
    max_ratio : float, default 200
        For an archive whose arrays have more than 1 GiB: how many bytes may become of one
        compressed byte.

    Returns
    -------
    XArray, Archive, numpy.ndarray or numpy.memmap
        One array, column-major if it was saved so; the arrays of an archive, a dict by name; text
        and dates as NumPy's arrays; or the file as memory, which is NumPy's, as `memmap` is.

    Raises
    ------
    FormatError
        If the file is truncated, has bytes too many, is damaged or hostile, or holds something
        else than numbers, text and dates.  An EOFError, too, where there is nothing left.
    ValueError
        If there is no such ``mmap_mode``; ``"w+"`` would empty the file.
    OSError
        As when reading any file.

    See Also
    --------
    save : Write such a file.

    Examples
    --------
    >>> import io
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> file = io.BytesIO()  # or a path
    >>> np.save(file, np.asarray([[1, 2], [3, 4]], order="F"))
    >>> file.seek(0)
    0
    >>> xl.load(file).strides
    (1, 2)
    """
    if mmap_mode not in _MMAP_MODES:
        raise ValueError(f"load: mmap_mode is one of {_MMAP_MODES[1:]}, not {mmap_mode!r}")
    wanted = _wanted(dtype)
    if isinstance(file, str | os.PathLike):
        # A pipe without a writer must not block: it is refused, since it cannot seek.
        with open(file, "rb", buffering=0, opener=_without_waiting) as opened:
            if mmap_mode is not None and opened.seekable():
                magic = opened.read(len(MAGIC))
                opened.seek(0)
                if magic == MAGIC:
                    return _mapped(opened, file, mmap_mode, wanted)
            return _load(opened, repr(os.fspath(file)), wanted, max_ratio)
    return _load(file, _name_of(file), wanted, max_ratio, True)


def _wanted(dtype: object) -> npz.Wanted:
    """Return a ``dtype=`` argument as dtypes."""
    if isinstance(dtype, Mapping):
        return {key: as_dtype(value) for key, value in dtype.items()}
    return None if dtype is None else as_dtype(dtype)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _mapped(opened: BinaryReader, file: FilePath, mode: str, wanted: npz.Wanted) -> Any:
    """Map a file whose header says what it has: NumPy would make one longer that is too short."""
    name = repr(os.fspath(file))
    nbytes = extent(opened, name)[1]
    source = FileSource(opened, name, nbytes)
    header = read_header(source, _of_one(wanted, name))
    dtype, order = header.elements.dtype, "F" if header.column_major else "C"
    dtype = dtype.newbyteorder() if header.elements.swapped else dtype
    return np.memmap(file, dtype, mode, nbytes - source.left, header.shape, order)  # type: ignore[call-overload]


def _of_one(wanted: npz.Wanted, name: str) -> DType | None:
    if isinstance(wanted, Mapping):
        raise refusal(name, "is one array", "dtype= by name is for .npz files")
    return wanted


def _name_of(file: object) -> str:
    name = getattr(file, "name", None)
    return repr(name) if isinstance(name, str) else f"<{type(file).__name__}>"


class EndOfFileError(FormatError, EOFError):
    """All arrays of a file that has several have been read."""


def _load(
    file: BinaryReader, name: str, wanted: npz.Wanted, max_ratio: float, several: bool = False
) -> XArray | NumpyArray | Archive:
    """Read an open file as what its first bytes say; ``several`` arrays may be in it."""
    place = start, nbytes = extent(file, name)
    magic = file.read(min(len(MAGIC), nbytes))
    file.seek(start)
    if magic.startswith(npz.MAGICS):
        return Archive(npz.read_archive(file, name, place, wanted, max_ratio))
    if magic == MAGIC:
        return npz.read_array(FileSource(file, name, nbytes, several), _of_one(wanted, name))
    error = refusal(
        name,
        f"begins with {shown(magic)} and has {nbytes} bytes",
        f".npy files begin with {MAGIC!r}, .npz files with {npz.MAGICS[0]!r}; nothing else is read",
    )
    raise error if nbytes else EndOfFileError(*error.args)
