"""Where arrays are kept: what tells one from another, and how one gets to another process.

Libraries open one array any number of times, each time as another object, so arrays are compared
by their places: memory by its addresses, maps by their file and where in it they begin, data sets
of HDF5 by file and address in it, arrays of zarr by their store and path.  Of anything else only
the object is known.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import itertools
import mmap
import os
import zlib
from collections.abc import Hashable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ..arrays.container import XContainer
from ..layout.strided import Strided
from ..memory.pool import Range
from .extras import imported
from .retries import naming, patiently
from .selection import Box, as_slices, parts_of

#: What tells HDF5 files and zip files by their names.
HDF5 = (".h5", ".hdf5", ".hdf", ".nc", ".nc4")
ZIP = (".zip",)

#: And files that nothing here reads or writes.
FOREIGN = (".tif", ".tiff", ".vrt", ".jp2", ".grib", ".grb", ".grib2")

#: What stores, file systems and files of fsspec call those that they are around.
_AROUND = ("_store", "fs", "sync_fs", "fss", "fo")

#: How many of them are looked at.
_DEEP = 32

#: Arrays and blocks that are looked at to learn what an array reads.
_LOOKED = 1024

#: One element in so many bytes tells whether a block is as it was: one of each page that a crash of
#: the machine may have lost.
_SPARSE = 4093

#: Keys of an array of zarr besides its chunks.
_METADATA = ("zarr.json", ".zarray", ".zattrs")

#: Work that NumPy spends on finding out whether two views share an element.
_WORK: Any = 10_000


def library_of(array: Any) -> str:
    """Return the name of the library that an array comes from."""
    return type(array).__module__.split(".")[0]


def name_of(array: Any) -> str:
    """Return how messages call an array or a group: its library and class, and where it is."""
    told = getattr(array, "name", None)
    kind = f"{library_of(array)} {type(array).__name__}"
    path = getattr(array, "store_path", None) or getattr(array, "filename", None) or told
    return f"{kind} {path}" if path else kind


def chunks_in(array: Any) -> Any:
    """Return the chunks that an array says it is kept in, or read in best; None if it does not."""
    told = getattr(array, "chunks", None)
    if told is not None or library_of(array) != "xarray":
        return told
    best = getattr(array, "encoding", {}).get("preferred_chunks", {})
    return [best[name] for name in array.dims] if best and {*array.dims} <= {*best} else None


def local(path: str | os.PathLike[str]) -> str:
    """Return a path or URL as text, URLs of files and what begins with ``~`` as paths."""
    text = os.fsdecode(path).removeprefix("file://")
    return text if "://" in text else os.path.expanduser(text)  # noqa: PTH111 (or as it is)


def is_named(path: str | os.PathLike[str], endings: str | tuple[str, ...]) -> bool:
    """Tell whether a name has one of some endings, in capital letters or not."""
    return os.fsdecode(path).lower().endswith(endings)


def path_of(array: Any) -> Path | None:
    """Return the file or directory that an array is kept in, if there is one."""
    if isinstance(array, np.memmap) and array.filename is not None:
        return Path(array.filename).resolve()
    store_path: Any = getattr(array, "store_path", None)
    store: Any = getattr(store_path, "store", None)
    root: Any = getattr(store, "root", None)
    if root is not None:
        return (Path(root) / str(store_path.path)).resolve()
    files = getattr(getattr(store, "fs", None), "protocol", ())
    if "file" in (files if isinstance(files, tuple) else (files,)):
        return (Path(store.path) / str(store_path.path)).resolve()
    if type(store).__name__ == "ZipStore":
        return Path(store.path).resolve()
    file = getattr(getattr(array, "file", None), "filename", None)
    if file is None:  # of xarray's variables
        file = getattr(array, "encoding", {}).get("source")
    return Path(file).resolve() if isinstance(file, str) else None


def kept_in(array: Any) -> Iterator[Any]:
    """Yield an array, and what it reads: what xarray has around it, and what is in dask's graphs.

    Of graphs of which each block is known by itself, some blocks of each layer are looked at.  What
    virtual data sets of HDF5 are made of is open as long as this runs.
    """
    left = [array]
    with contextlib.ExitStack() as files:
        for _ in range(_LOOKED):
            if not left:
                return
            item = left.pop()
            yield item
            if library_of(item) == "xarray":
                inner = [getattr(item, name, None) for name in ("_data", "array", "_array")]
                left.extend([part for part in inner if part is not None])
            elif library_of(item) == "dask" and hasattr(item, "dask"):
                for layer in item.dask.layers.values():
                    if layer.is_materialized():
                        left.extend(itertools.islice(layer.values(), _DEEP))
                    left.extend([part for part, at in getattr(layer, "indices", ()) if at is None])
            elif getattr(item, "is_virtual", False):
                left.extend(_viewed(item, files))


def _viewed(array: Any, files: contextlib.ExitStack) -> Iterator[Any]:
    """Yield the data sets that a virtual one of HDF5 is made of, of those that are there.

    Names are relative to its own file, or to where the process is; ``%b`` counts files.
    """
    own = Path(array.file.filename)
    for name, inside in dict.fromkeys(
        [(x.file_name, x.dset_name) for x in array.virtual_sources()]
    ):
        if name == ".":
            found = [own]
        else:
            some = glob.escape(name).replace("%b", "*")
            found = [
                at / path
                for at in (own.parent, Path())
                for path in glob.glob(some, root_dir=at)  # noqa: PTH207 (any)
            ]
        for path in found:
            with contextlib.suppress(KeyError, OSError):
                yield files.enter_context(imported("h5py", "hdf5").File(path, "r"))[inside]


def holds(place: Path | str, array: Any) -> bool:
    """Tell whether an array is kept under a path or a URL."""
    if isinstance(place, Path):
        own = path_of(array)
        return own is not None and own.is_relative_to(place.resolve())
    store_path: Any = getattr(array, "store_path", None)
    files = _files_of(getattr(store_path, "store", None))
    if files is None:
        return False
    other, path = imported("fsspec.core", "zarr").url_to_fs(place)
    within = PurePosixPath(store_path.store.path, str(store_path.path)).is_relative_to(path)
    return bool(within and files.protocol == other.protocol)


def _name_in(array: Any) -> Hashable:
    """Return what tells an array from others in the same file."""
    if isinstance(array, np.memmap):
        return array.offset
    if library_of(array) == "h5py":
        return int(imported("h5py", "hdf5").h5o.get_info(array.id).addr)  # it may have more names
    store_path: Any = getattr(array, "store_path", None)
    zipped = type(getattr(store_path, "store", None)).__name__ == "ZipStore"
    return str(store_path.path) if zipped else None


def _place_of(array: Any) -> Hashable:
    """Return what tells where an array is that is in no file; None if nothing does."""
    store_path: Any = getattr(array, "store_path", None)
    if store_path is None:
        return None
    files = _files_of(store_path.store)
    if files is None:
        return str(store_path.store), str(store_path.path)
    return str(files.protocol), PurePosixPath(store_path.store.path, str(store_path.path))


def same_place(one: Any, other: Any) -> bool | None:
    """Tell how two arrays lie to each other.

    Returns
    -------
    bool or None
        True if equal positions are the same elements, False if different ones are, None if they
        have none in common, or none that is known.
    """
    if one is other:
        return True
    one, other = _as_numpy(one), _as_numpy(other)
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        shared = _share_memory(one, other)
        if shared is not None:
            return shared
    path = path_of(one)
    if path is None:
        known = _place_of(one)
        return True if known is not None and known == _place_of(other) else None
    if not _is_one_file(path, path_of(other)):
        return None
    if isinstance(one, np.memmap) and isinstance(other, np.memmap):
        return _form(one) == _form(other)
    if _name_in(one) != _name_in(other):
        return None
    return bool(tuple(one.shape) == tuple(other.shape))


def _as_numpy(array: Any) -> Any:
    """Return memory of containers as NumPy has it, and what lies in a map of a file as a map."""
    if isinstance(array, XContainer) and isinstance(array.map, Strided):
        array = array.buffer.view(array.dtype, array.map)
    below: Any = array if isinstance(array, np.ndarray) else None
    while below is not None and not isinstance(below, np.memmap):
        held: Any = below.owner if isinstance(below, Range) else ()
        below = held[0] if held else getattr(below, "base", None)
    if below is None or below is array:
        return array
    made: Any = array.view(np.memmap)
    made.__array_finalize__(below)
    return made


def _is_one_file(path: Path, other: Path | None) -> bool:
    """Tell whether two names are of the same file or directory."""
    with contextlib.suppress(OSError):  # not there any more
        return other is not None and path.samefile(other)
    return path == other


def _form(array: Any) -> tuple[Any, ...]:
    return _position(array), array.dtype, array.shape, array.strides


def _position(array: Any) -> int:
    """Return where in its file a map, or a view of one, begins."""
    begin = np.frombuffer(array._mmap, np.uint8, 1)
    ahead = array.offset % mmap.ALLOCATIONGRANULARITY
    return int(array.offset - ahead + array.ctypes.data - begin.ctypes.data)


def refuse_shortened(array: Any) -> None:
    """Refuse an array in a file that has become shorter.

    To read what was there of a map ends the process; HDF5's library has zeros for it.

    Raises
    ------
    EOFError
        If it has.
    """
    has = had = 0
    if isinstance(array, np.memmap) and array.filename is not None:
        pages: Any = getattr(array, "_mmap", None)
        had = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + len(pages)
        has = pages.size()
    elif library_of(array) == "h5py" and (array.file.driver, array.file.mode) == ("sec2", "r"):
        file = array.file.id
        has, had = os.fstat(file.get_vfd_handle()).st_size, file.get_filesize()
    if has < had:
        raise EOFError(f"the file has {has} bytes, and had {had} when it was opened")


def _share_memory(one: Any, other: Any) -> bool | None:
    try:
        if not np.shares_memory(one, other, _WORK):
            return None
    except np.exceptions.TooHardError:
        return False
    start = "__array_interface__"
    alike = getattr(one, start)["data"] == getattr(other, start)["data"]
    return bool(alike and one.shape == other.shape and one.strides == other.strides)


def is_told_apart(array: Any) -> bool:
    """Tell whether `identity_of` tells an array from others of its shape, dtype and chunks."""
    own = isinstance(array, np.ndarray) or hasattr(array, "__dask_tokenize__")
    return array is None or own or hasattr(array, "store_path") or path_of(array) is not None


def identity_of(array: Any) -> Iterator[str]:
    """Yield what tells an array from what it was before a change, as far as that can be known.

    Files and stores by the sizes and times of what is in them, arrays of NumPy and stores in memory
    by their values, dask's and others that know one by their token.
    """
    path = path_of(array)
    if library_of(array) == "xarray":  # its token would be of all values
        inside = [x for x in kept_in(array) if x is not array]
        yield repr([getattr(array, "encoding", {}), *[getattr(x, "key", "") for x in inside]])
        around = library_of(inside[0]) == "xarray" if inside else False
        known = [x for x in inside if path_of(x) is not None or hasattr(x, "store_path")]
        yield from identity_of(known[0]) if around and known else _token(array)
    elif path is not None:
        for file in dict.fromkeys([path, *[path_of(x) or path for x in kept_in(array)]]):
            yield from (str(file), *_state(file))
    elif isinstance(array, np.ndarray):
        masks = [np.ma.getmaskarray(array)] if isinstance(array, np.ma.MaskedArray) else []
        for part in (array, *masks):
            yield hashlib.sha256(np.ascontiguousarray(part).view(np.uint8).data).hexdigest()
    elif hasattr(array, "__dask_tokenize__"):
        yield from _token(array)
    else:
        store_path: Any = getattr(array, "store_path", None)
        store: Any = getattr(store_path, "store", None)
        yield str(store_path)
        if _is_in_memory(store):
            for key, kept in sorted(_contents(array).items()):
                yield f"{key} {hashlib.sha256(kept.to_bytes()).hexdigest()}"
            return
        files = _files_of(store)
        if files is not None and not getattr(files, "async_impl", False):
            place = f"{store_path.store.path}/{store_path.path}".rstrip("/")
            for name, told in sorted(files.find(place, detail=True).items()):
                yield f"{name} " + " ".join(
                    [str(told.get(k, "")) for k in ("size", "mtime", "created", "ETag", "etag")]
                )


def _token(array: Any) -> list[str]:
    return [str(imported("dask.base", "dask").tokenize(array))]


def _state(path: Path) -> list[str]:
    """Return size and time of a file, or those of the files below a path, with their names."""
    if path.is_file():
        found = path.stat()
        return [f"{found.st_size} {found.st_mtime_ns}"]
    told = []
    for folder, _, names in sorted(os.walk(path)):
        for name in sorted(names):
            with contextlib.suppress(OSError):  # renamed meanwhile, or reading says what is wrong
                found = (Path(folder) / name).stat()
                told.append(f"{folder}/{name} {found.st_size} {found.st_mtime_ns}")
    return told


def state_of(array: Any, box: Box) -> int:
    """Return what tells whether a block of a map, or of chunks in files, is as it was written.

    Of a map these are elements of all its pages, of files their sizes and times.
    """
    if isinstance(array, np.memmap):
        each = max(1, _SPARSE // array.itemsize)
        return zlib.crc32(array[(*as_slices(box), ...)].flat[::each].tobytes())
    folder, parts = Path(path_of(array) or ""), parts_of(box, array.chunks)
    told = [_state(folder / array.metadata.encode_chunk_key(index)) for index, _, _ in parts]
    return zlib.crc32(repr(told).encode())


def travels(array: Any) -> bool:
    """Tell whether what another process writes into an array is written where it is kept.

    Arrays in memory would be copied there, files of HDF5 and zip files have one writer, and of
    libraries that are not known here nothing is.
    """
    if library_of(array) == "zarr":
        known = type(array.store).__name__ in ("LocalStore", "FsspecStore", "ObjectStore")
        return known and not _is_in_memory(array.store)
    return _is_map(array)


def _is_map(array: Any) -> bool:
    """Tell whether another process that maps the file of an array has the same elements."""
    if not isinstance(array, np.memmap) or array.filename is None or array.mode == "c":
        return False  # the latter has changes of its own
    return bool(array.flags.c_contiguous or array.flags.f_contiguous)


def _files_of(store: Any) -> Any:
    """Return the file system of fsspec that a store is in, if it is in one."""
    files: Any = getattr(store, "fs", None)
    return getattr(files, "sync_fs", files)


def _is_in_memory(store: Any) -> bool:
    """Tell whether a store is in memory that each process has for itself, whatever is around it."""
    left, seen = [store], 0
    while left and seen < _DEEP:
        item, seen = left.pop(), seen + 1
        if getattr(item, "protocol", "") == "memory" or hasattr(item, "_store_dict"):
            return True
        inner = [getattr(item, name, None) for name in _AROUND]
        flat = [list(part.values()) if isinstance(part, dict) else [part] for part in inner]
        left.extend([part for parts in flat for part in parts if part is not None])
    return False


def _contents(array: Any) -> dict[str, Any]:
    """Return what a store has for an array of zarr, by keys below its path.

    Keys are made from the metadata: not every file system that is around another lists them alike.
    """
    form = imported("zarr.core.buffer", "zarr").default_buffer_prototype()
    counts = [-(-n // c) for n, c in zip(array.shape, array.shards or array.chunks, strict=True)]
    chunks = map(array.metadata.encode_chunk_key, itertools.product(*map(range, counts)))

    async def taken() -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in itertools.chain(_METADATA, chunks):
            with naming(f"read: {name_of(array)}, chunk {key}"):
                value = await (array.store_path / key).get(form)
            if value is not None:
                found[key] = value
        return found

    return dict(imported("zarr.core.sync", "zarr").sync(taken()))


class Carried:
    """An array on its way to another process: by where it is kept, or with what is in it."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __reduce__(self) -> Any:
        a = self.array
        if _is_map(a):
            mode, order = "r+" if a.flags.writeable else "r", "FC"[a.flags.c_contiguous]
            return _mapped, (str(a.filename), a.dtype, mode, _position(a), a.shape, order)
        if library_of(a) == "h5py":
            return _dataset, (a.file.filename, a.name)
        if library_of(a) == "zarr" and _is_in_memory(a.store):
            zarr, found = imported("zarr", "zarr"), patiently(lambda: _contents(a))
            return Carried, (zarr.open_array(zarr.storage.MemoryStore(found), mode="r"),)
        return Carried, (a,)

    def again(self) -> Any:
        """Return the array."""
        return self.array


def _mapped(path: str, *told: Any) -> Carried:
    return Carried(np.memmap(path, *told))


def _dataset(path: str, name: str) -> Carried:
    return Carried(imported("h5py", "hdf5").File(path, "r")[name])
