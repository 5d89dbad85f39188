"""Targets: new arrays under a path, and existing arrays that take slices."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import DTypeError, ShapeError, StorageError
from ..dtypes.names import dtype_name
from ..ir.build import describe
from ..ir.node import Node
from .extras import imported
from .journal import Journal
from .pipeline import Array
from .selection import Box, as_slices, text_of
from .source import Carried, chunks_of, chunks_text


class Sink:
    """Where blocks are written.

    Attributes
    ----------
    array : object
        What takes them.
    chunks : tuple of int
        Extents that must be written at once.
    name : str
        How messages call it.
    journal : Journal or None
        Which blocks are finished; None if there is no path to keep it beside.
    """

    __slots__ = ("array", "chunks", "journal", "name")

    def __init__(
        self, array: Any, chunks: Sequence[int], name: str, journal: Journal | None = None
    ) -> None:
        self.array = array.again() if isinstance(array, Carried) else array
        self.chunks = tuple(chunks)
        self.name = name
        self.journal = journal

    def __reduce__(self) -> Any:
        return Sink, (Carried(self.array), self.chunks, self.name)  # the caller keeps the record

    def write(self, box: Box, values: Array) -> None:
        """Write a block.

        Raises
        ------
        StorageError
            If that fails; it names the array, the elements and the chunks.
        """
        try:
            self.array[as_slices(box) if box else ()] = values
        except Exception as error:
            raise StorageError(
                f"write: {self.name} {dtype_name(values.dtype)}{list(self.array.shape)}, elements "
                f"{text_of(box)} in chunks {chunks_text(box, self.chunks)}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def close(self) -> None:
        """Let go of the journal, which says how far it went."""
        if self.journal is not None:
            self.journal.close()

    def finish(self) -> Any:
        """Return the array; everything has been written."""
        if isinstance(self.array, np.memmap):
            self.array.flush()
        if self.journal is not None:
            self.journal.remove()
        return self.array


def sink_of(
    target: Any, root: Node, chunks: tuple[int, ...], mark: str, overwrite: bool, resume: bool
) -> Sink:
    """Return where an expression is stored: an array that exists, or a new one under a path.

    Raises
    ------
    StorageError
        If something else is under the path, or there is nothing that could be resumed.
    ShapeError, DTypeError
        If an existing array does not fit.
    """
    if not isinstance(target, str | os.PathLike):
        if resume:
            raise StorageError(
                "store: resume=True needs a path as target, beside which finished blocks are kept"
            )
        return Sink(
            _checked(target, root), _chunks(target, root.shape), f"target {type(target).__name__}"
        )
    path = os.fspath(target)
    if "://" in path:
        return Sink(_new_zarr(path, root, chunks, overwrite), chunks, path)
    place = Path(path)
    if resume:
        journal = Journal.found(place, mark)
        if journal is not None:
            array = _existing(place, root)
            return Sink(array, _chunks(array, root.shape), path, journal)
        if place.exists():
            raise StorageError(
                f"store: {path} exists and there is no record of an interrupted store beside it; "
                "it is finished, or was made by something else"
            )
    if place.exists() and not overwrite:
        more = " (an interrupted store: resume=True continues it)" if Journal.beside(place) else ""
        raise StorageError(f"store: {path} exists{more}; overwrite=True replaces it")
    Journal.forget(place)
    if place.is_dir():
        shutil.rmtree(place)
    array = _new_npy(place, root) if path.endswith(".npy") else _new_zarr(path, root, chunks, True)
    own = chunks if not path.endswith(".npy") else _rows(root.shape, chunks)
    return Sink(array, own, path, Journal(place, mark))


def _rows(shape: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Return chunks of a flat file: as deep as asked, and as wide as rows are."""
    return (*chunks[:1], *shape[1:])


def _chunks(array: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    known = chunks_of(getattr(array, "shards", None) or getattr(array, "chunks", None), shape)
    return known or tuple([max(1, min(n, 1024)) for n in shape])


def _checked(array: Any, root: Node) -> Any:
    for name in ("shape", "dtype", "__setitem__"):
        if not hasattr(array, name):
            raise DTypeError(
                f"store: the target must be a path or an array with shape, dtype and __setitem__, "
                f"got {type(array).__name__}"
            )
    if tuple(array.shape) != root.shape:
        raise ShapeError(
            f"store: {describe(root)} does not fit a target of shape {tuple(array.shape)}"
        )
    if np.dtype(array.dtype).newbyteorder("=") != root.dtype:
        raise DTypeError(
            f"store: {describe(root)} does not fit a target of {dtype_name(array.dtype)}; convert "
            f"it with xl.astype"
        )
    return array


def _existing(place: Path, root: Node) -> Any:
    try:
        if place.suffix == ".npy":
            array: Any = np.load(place, mmap_mode="r+", allow_pickle=False)
        else:
            array = imported("zarr", "zarr").open_array(str(place), mode="r+")
    except ImportError:
        raise
    except Exception as error:
        raise StorageError(
            f"store: cannot resume into {place}: {type(error).__name__}: {error}"
        ) from error
    return _checked(array, root)


def _new_npy(place: Path, root: Node) -> Any:
    try:
        made = np.lib.format.open_memmap(place, "w+", root.dtype, root.shape)
        if hasattr(os, "posix_fallocate") and place.stat().st_size:
            with place.open("r+b") as file:  # a disk that is full says so now, not by a signal
                os.posix_fallocate(file.fileno(), 0, place.stat().st_size)
        return made
    except OSError as error:
        raise StorageError(f"store: cannot make {place}: {error}") from error


def _new_zarr(path: str, root: Node, chunks: tuple[int, ...], overwrite: bool) -> Any:
    zarr = imported("zarr", "zarr")
    try:
        return zarr.create_array(
            path, shape=root.shape, dtype=root.dtype, chunks=chunks, overwrite=overwrite
        )
    except Exception as error:
        raise StorageError(
            f"store: cannot make a zarr array under {path}: {type(error).__name__}: {error}"
        ) from error
