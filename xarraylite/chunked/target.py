"""Targets: new arrays under a path, and existing arrays that take slices."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import shutil
import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import DTypeError, LayoutError, ShapeError, StorageError
from ..dtypes.names import NumpyArray, dtype_name
from ..io.header import read_dtype, written_dtype
from ..ir.build import describe
from ..ir.node import Node
from ..operands.convert import LayoutLike
from .extras import imported, lacking
from .inner import codec_of, layout_codec, place_of_chunk, text_of_layout
from .journal import Corner, Journal
from .parcel import Operands, fingerprint
from .places import (
    FOREIGN,
    HDF5,
    ZIP,
    Carried,
    is_named,
    library_of,
    local,
    name_of,
    path_of,
    state_of,
    travels,
)
from .retries import chunk_by_chunk, naming
from .selection import Box, as_slices, corner
from .source import chunks_of
from .zarr_writer import ALL, ZarrWriter, with_all

#: Blocks that are being written: by which process, to which target, by which thread.  An interrupt
#: does not wait for them, but whoever writes to the same target next does.
_writing: dict[tuple[int, Hashable, int], threading.Event] = {}


class Sink:
    """Where blocks are written.

    Parameters
    ----------
    array : object
        What takes them; None if it is made when the first block is ready.
    chunks : sequence of int
        Extents that must be written at once.
    name : str
        How messages call it.
    journal : Journal, optional
        Which blocks are finished, if there is a path to keep it beside.
    make : callable, optional
        Makes the array.

    Attributes
    ----------
    array, chunks, name
        As given.
    path : Path or None
        Where it is kept, if that is known.
    whole : bool
        Whether chunks must be written as a whole: not those of memory and flat files.
    """

    __slots__ = ("_journal", "_key", "_make", "_writer", "array", "chunks", "name", "path", "whole")

    def __init__(
        self,
        array: Any,
        chunks: Sequence[int],
        name: str,
        journal: Journal | None = None,
        make: Callable[[], Any] | None = None,
    ) -> None:
        self.array = array.again() if isinstance(array, Carried) else array
        self.chunks = tuple(chunks)
        self.name = name
        self.path = path_of(self.array) if journal is None else journal.target
        self._key: Hashable = name if self.array is None else id(self.array)
        if self.path is not None:
            self._key = self.path.resolve()
        flat = self.path is not None and is_named(self.path, ".npy")
        self.whole = not flat and (self.array is None or hasattr(self.array, "chunks"))
        self._journal = journal
        self._make = make
        self._writer = _writer_of(self.array)

    def __reduce__(self) -> Any:
        return Sink, (Carried(self.array), self.chunks, self.name)  # the caller keeps the record

    @property
    def block(self) -> tuple[int, ...] | None:
        """Extents of the blocks that are there already; None if there are none."""
        return self._journal.block if self._journal is not None and self._journal.done else None

    @property
    def scratch(self) -> int:
        """Elements that writing a chunk needs besides its own: a copy in one piece, an encoded one.

        Flat memory and files take them as they are.
        """
        return 2 * math.prod(self.chunks) if self.whole else 0

    @property
    def travels(self) -> bool:
        """Whether other processes can write into it."""
        return travels(self.array)

    def begin(self, block: Sequence[int]) -> frozenset[Corner]:
        """Make the array if it is not there, and return the corners of the blocks that are.

        Raises
        ------
        StorageError
            If it cannot be made.
        """
        for key, written in list(_writing.items()):
            if key[:2] == (os.getpid(), self._key):
                written.wait()
        if self._journal is not None:
            self._journal.begin(block)
        if self._make is not None:
            try:
                self.array = self._make()
            except BaseException:
                if self._journal is not None:
                    self._journal.remove()
                raise
            self._make = None
            self._writer = _writer_of(self.array)
        return frozenset() if self._journal is None else frozenset(self._journal.done)

    def write(self, box: Box, values: NumpyArray) -> None:
        """Write a block.

        Raises
        ------
        StorageError
            If that fails; it names the array, the elements and the chunks.
        """

        def put(at: Any, part: Box) -> None:
            self._writer(part, values[at])

        key = os.getpid(), self._key, threading.get_ident()
        written = _writing[key] = threading.Event()
        failed: Exception | None = None
        try:
            try:
                put((), box)
            except Exception as error:
                failed = error
            if failed is not None:
                what = f"write: {self.name} {dtype_name(values.dtype)}{list(self.array.shape)}"
                chunk_by_chunk(put, what, box, self.chunks, self.whole, failed)
        finally:
            del _writing[key], failed
            written.set()

    def record(self, box: Box) -> None:
        """Say that a block is finished."""
        if self._journal is not None:
            self._journal.record(corner(box), state_of(self.array, box))

    def close(self) -> None:
        """Let go of the journal, which says how far it went."""
        if self._journal is not None:
            self._journal.close()

    def finish(self) -> Any:
        """Return the array; everything has been written."""
        flush = getattr(self.array, "flush", None)  # of maps, and of HDF5, which writes late
        with naming(f"write: {self.name}, at its end"):
            if flush is not None:
                flush()
        if self._journal is not None:
            self._journal.remove()
        return self.array


def _writer_of(array: Any) -> Callable[[Box, NumpyArray], None]:
    """Return what writes the elements of a box of an array."""
    if library_of(array) == "zarr":
        return ZarrWriter(array).write

    def write(box: Box, values: NumpyArray) -> None:
        array[as_slices(box) if box else ()] = values

    return write


@dataclass(frozen=True, slots=True)
class Form:
    """How a target under a path is made.

    Attributes
    ----------
    chunks : tuple of int
        Extents of its chunks.
    serializer : zarr codec or None
        What makes bytes of them, unless it is zarr's own.
    overwrite, resume : bool
        Whether it replaces what is there, or goes on with it.
    mark : dict
        Tells it from what is made of other expressions, or in other forms; as the journal has it.
    """

    chunks: tuple[int, ...]
    serializer: Any
    overwrite: bool
    resume: bool
    mark: dict[str, Any]

    @staticmethod
    def of(
        target: Any,
        root: Node,
        chunks: tuple[int, ...],
        layout: LayoutLike,
        overwrite: bool,
        resume: bool,
    ) -> Form:
        """Return how the target of an expression is made, elements of its chunks in a layout.

        Raises
        ------
        LayoutError
            If the target is no new zarr array, or the layout does not fit the chunks.
        TypeError
            If it is not said by true or false whether to overwrite or resume.
        """
        for flag, whether in (("overwrite", overwrite), ("resume", resume)):
            if not isinstance(whether, bool | np.bool_):
                raise TypeError(f"store: {flag} must be True or False, got {whether!r}")
        name = target if isinstance(target, str | os.PathLike) else ""
        told: Operands = []
        mark: dict[str, Any] = {}
        if name:
            mark = {"expression": fingerprint(root, (), told), "chunks": chunks, "operands": told}
        if layout is None:
            return Form(chunks, None, overwrite, resume, mark)
        if not name or is_named(name, ".npy"):
            raise LayoutError(
                f"store: layout {layout} is one of the chunks of a new zarr array; the target is "
                f"{name or type(target).__name__}"
            )
        place_of_chunk(layout, chunks, root.dtype)
        mark["layout"] = text_of_layout(layout)
        return Form(chunks, codec_of(layout), overwrite, resume, mark)

    def new_zarr(self, path: str, root: Node, overwrite: bool) -> Any:
        """Make a zarr array of an expression's shape and dtype."""
        zarr = imported("zarr", "zarr")
        own = {} if self.serializer is None else {"serializer": self.serializer}
        told = {"shape": root.shape, "dtype": root.dtype, "chunks": self.chunks, **own}
        try:
            return zarr.create_array(path, overwrite=overwrite, config=ALL, **told)
        except ImportError as error:
            raise lacking(f"store: cannot make a zarr array under {path}", path, error) from error
        except Exception as error:
            with contextlib.suppress(OSError):
                Path(path).rmdir()  # zarr leaves it empty
            raise StorageError(
                f"store: cannot make a zarr array under {path}: {type(error).__name__}: {error}"
            ) from error


def sink_of(target: Any, root: Node, form: Form) -> Sink:
    """Return where an expression is stored: an array that exists, or a new one under a path.

    Raises
    ------
    StorageError
        If something else is under the path, or there is nothing that could be resumed.
    ShapeError, DTypeError
        If an existing array does not fit.
    """
    chunks, overwrite = form.chunks, form.overwrite
    own, _ = written_at_once(target, root, chunks)
    path = local(target) if isinstance(target, str | os.PathLike) else None
    if form.resume and (path is None or "://" in path):
        needs = "a path as target" if path is None else "a path of this machine"
        got = "" if path is None else f", got {path}"
        raise StorageError(
            f"store: resume=True needs {needs}, beside which finished blocks are kept{got}"
        )
    if path is None:
        return Sink(target, own, name_of(target))
    if "://" in path:
        return Sink(None, chunks, path, None, lambda: form.new_zarr(path, root, overwrite))
    place = Path(path)
    begun = Journal.found(place, form.mark) if form.resume else None
    if begun is not None and begun.done:
        array = _existing(place, root)
        begun.check(root.shape, functools.partial(state_of, array))
        return Sink(array, _chunks(array, root.shape), path, begun)
    fresh = not overwrite and begun is None  # what was begun is made anew
    if fresh:
        _refuse_what_is_there(path, form.resume)
    flat = is_named(path, ".npy")

    def make() -> Any:
        if fresh and place.exists():
            raise StorageError(f"store: another store has made {path}; overwrite=True replaces it")
        with naming(f"store: cannot replace {path}"):
            if place.is_dir():
                shutil.rmtree(place)
            place.unlink(missing_ok=True)
        return _new_npy(place, root) if flat else form.new_zarr(path, root, True)

    return Sink(None, own, path, Journal(place, form.mark), make)


def _refuse_what_is_there(path: str, resume: bool) -> None:
    """Raise StorageError if something is under a path that may not be replaced."""
    if not os.path.exists(path):  # noqa: PTH110 (names that are too long too)
        return
    if resume:
        raise StorageError(
            f"store: {path} exists and there is no record of an interrupted store beside it; "
            "it is finished, or was made by something else"
        )
    begun = Journal.beside(Path(path))
    more = " (an interrupted store: resume=True continues it)" if begun else ""
    raise StorageError(f"store: {path} exists{more}; overwrite=True replaces it")


def written_at_once(
    target: object, root: Node, chunks: tuple[int, ...], operation: str = "store"
) -> tuple[tuple[int, ...], bool]:
    """Return what is written at once to a target, and whether it must be.

    Errors name the ``operation``.

    Raises
    ------
    ShapeError, DTypeError
        If an existing array does not fit.
    StorageError
        If no new array can be under a path.
    """
    if not isinstance(target, str | os.PathLike):
        array = _checked(target, root, operation)
        return _chunks(array, root.shape, operation), hasattr(target, "chunks")
    path = local(target)
    if not Path(path).name or "\0" in path:
        raise StorageError(f"{operation}: {path!r} names no file or directory")
    flat = is_named(path, ".npy")  # as deep as asked, and as wide as rows are
    if is_named(path, HDF5 + ZIP + FOREIGN) or (flat and "://" in path):
        raise StorageError(
            f"{operation}: {path} has the name of another format; a new array is a directory of "
            "zarr, or a .npy file of this machine, and what is in others is given as an array that "
            "takes slices"
        )
    if not flat and root.dtype.isbuiltin != 1:  # of the types that NumPy does not have itself
        told = f"zarr has no {dtype_name(root.dtype)}; convert it, or name a .npy file"
        raise StorageError(f"{operation}: cannot make a zarr array under {path}: {told}")
    return ((*chunks[:1], *root.shape[1:]) if flat else chunks), not flat


def _chunks(array: Any, shape: tuple[int, ...], operation: str = "store") -> tuple[int, ...]:
    told = getattr(array, "shards", None) or getattr(array, "chunks", None)
    known = chunks_of(told, shape, f"{operation}: the target {name_of(array)}: its")
    return known or tuple([max(1, min(n, 1024)) for n in shape])


def _checked(array: Any, root: Node, operation: str = "store") -> Any:
    try:
        shape, dtype = tuple(array.shape), np.dtype(array.dtype).newbyteorder("=")
        _ = array.__setitem__
    except Exception as error:  # a data set whose file is closed has no shape, for one
        raise DTypeError(
            f"{operation}: the target must be a path or an array with shape, dtype and "
            f"__setitem__, got {type(array).__name__} ({error})"
        ) from error
    if shape != root.shape:
        raise ShapeError(f"{operation}: {describe(root)} does not fit a target of shape {shape}")
    if dtype != root.dtype:
        raise DTypeError(
            f"{operation}: {describe(root)} does not fit a target of {dtype.name}; convert "
            f"it with xl.astype"
        )
    opened = getattr(getattr(array, "file", None), "mode", "")  # of HDF5
    memory = getattr(getattr(array, "flags", None), "writeable", True)
    if opened == "r" or not memory or getattr(array, "read_only", False):
        raise StorageError(f"{operation}: the target {name_of(array)} can only be read")
    return array


def _existing(place: Path, root: Node) -> Any:
    with naming(f"store: cannot resume into {place}"):
        if is_named(place, ".npy"):
            array: Any = np.load(place, mmap_mode="r+", allow_pickle=False)
            array = array.view(read_dtype(array.dtype))
        else:
            layout_codec()
            array = with_all(str(place))
    return _checked(array, root)


def _new_npy(place: Path, root: Node) -> Any:
    try:
        made = np.lib.format.open_memmap(place, "w+", written_dtype(root.dtype), root.shape)
        if hasattr(os, "posix_fallocate") and place.stat().st_size:
            with place.open("r+b") as file:  # a disk that is full says so now, not by a signal
                os.posix_fallocate(file.fileno(), 0, place.stat().st_size)
        return made.view(root.dtype)
    except OSError as error:
        with contextlib.suppress(OSError):
            place.unlink()
        raise StorageError(f"store: cannot make {place}: {error}") from error
