"""Operands that are kept elsewhere: what is known of them, and how a block of one is read.

Any object with ``shape``, ``dtype`` and ``__getitem__`` that takes slices will do; ``chunks`` says
in which pieces it is kept.  Reads are slices with positive steps and nothing else, so what NumPy's
memory maps, zarr, h5py and dask have in common is enough.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._config import settings
from .._errors import DTypeError, ShapeError
from .._locks import new_lock
from ..dtypes.names import NumpyArray, as_dtype, dtype_name
from ..index.box import is_vector
from ..index.broadcast import as_shape
from .frames import new_array
from .places import Carried, chunks_in, identity_of, library_of, refuse_shortened
from .retries import chunk_by_chunk, naming, patiently
from .selection import Box, Selection, as_slices, hull, owners_of, parts_of, runs, shape_of, size_of
from .zarrs import ZarrReader, refuse_missing

_NOTHING = np.empty(0)

#: Threads that read chunks, at most.
READERS = 4

#: Chunks that a library reads at once, for one call.
AT_ONCE = 10

#: Selections that say how many chunks one like them touches on average.
_SOME = 64

#: Bytes of chunks beyond which fewer are asked for at once: memory counts then, and time does not.
LARGE = AT_ONCE * (8 << 20)


class StoredArray:
    """An array that is kept elsewhere.

    Attributes
    ----------
    array : object
        What is read.
    name : str
        How messages call it.
    shape : tuple of int
        Its extents.
    dtype : numpy.dtype
        Dtype of its elements, in this machine's byte order.
    chunks : tuple of int
        Extents of the pieces it is kept in; its shape where there are none.
    units : tuple of int
        Extents of what must be read to get at any element of it: a chunk, or some rows of one.
    whole_chunks : bool
        Whether they are pieces at all.
    """

    __slots__ = (
        "_complete",
        "_fetch",
        "_lock",
        "_serial",
        "array",
        "chunks",
        "dtype",
        "name",
        "shape",
        "units",
        "whole_chunks",
    )

    def __init__(self, array: Any, name: str, serial: bool = False, complete: bool = False) -> None:
        self.array = array = array.again() if isinstance(array, Carried) else array
        self.name = name
        extents = tuple(array.shape)
        if any([n != n for n in extents]):  # dask's NaN
            way = "its compute_chunk_sizes() finds them out"
            raise ShapeError(f"open({name}): shape {extents} has extents that nobody knows; {way}")
        self.shape: tuple[int, ...] = as_shape(extents, f"open({name})")
        try:
            self.dtype: np.dtype[Any] = as_dtype(np.dtype(array.dtype).newbyteorder("="))
        except TypeError as error:
            raise DTypeError(f"open({name}): {error}") from None
        chunks = chunks_in(array)
        self.chunks = chunks_of(chunks, self.shape, f"open({name}): its") or self.shape
        self.whole_chunks = chunks is not None
        self._serial, self._complete = serial, complete
        self._fetch = _fetcher(array, self.dtype, complete)
        self.units = self.chunks  # what must be read as a whole
        if rows := getattr(self._fetch, "rows", 0):
            self.units = (min(rows, self.chunks[0]), *self.chunks[1:])
        # HDF5's library reads for one thread at a time, and says so only by crashing.
        self._lock: Any = new_lock() if serial else contextlib.nullcontext()

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<{self.name}: {dtype_name(self.dtype)}{list(self.shape)} in {self.chunks}>"

    def __reduce__(self) -> Any:
        return type(self), (Carried(self.array), self.name, self._serial, self._complete)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def moved(self, box: Box) -> int:
        """Return the bytes of the chunks, or rows of them, that must be read to get at a box."""
        return int(self._spanned(box, self.units, covered))

    def usual(self, box: Box, pitch: Sequence[int], whole: Box) -> float:
        """Return the same on average, of boxes of these extents (`usual`)."""
        return float(self._spanned(box, self.units, usual, pitch, whole))

    def kept(self, box: Box, pitch: Sequence[int]) -> int:
        """Return the bytes of the chunks that a box of these extents touches at most (`most`)."""
        return int(self._spanned(box, self.chunks, most, pitch))

    def _spanned(
        self, box: Box, units: Sequence[int], along: Callable[..., Any], *told: Sequence[Any]
    ) -> Any:
        if not self.whole_chunks:
            return size_of(box) * self.dtype.itemsize
        sides = zip(box, units, self.shape, *told, strict=True)
        return math.prod([along(*side) for side in sides]) * self.dtype.itemsize

    def shares(self, box: Box) -> bool:
        """Tell whether the chunks of a box are read by the threads that all operands share."""
        even = all([isinstance(s, range) and s.step == 1 for s in box])
        return even and bool(getattr(self._fetch, "direct", False))

    def scratch(self, box: Box, pitch: Sequence[int]) -> int:
        """Return the bytes that reading a box of these extents needs besides those it returns.

        They are those of chunks in flight (`most`).
        """
        if not self.whole_chunks:
            return 0
        one = math.prod(self.chunks) * self.dtype.itemsize
        some = one * (reading() if self.shares(box) else self._at_once)
        return min(int(self._spanned(box, self.units, most, pitch)), some)

    @property
    def _at_once(self) -> int:
        """Chunks that a library has in memory at a time."""
        one = math.prod(self.chunks) * self.dtype.itemsize
        return min(AT_ONCE, max(1, LARGE // max(1, one)))

    def read(self, box: Box) -> NumpyArray:
        """Return the elements in a box, row-major.

        Raises
        ------
        StorageError
            If they cannot be read; it names the array, the elements and the chunks they are in.
        """
        ranges = tuple([s for s in box if isinstance(s, range)])
        if len(ranges) == len(box):
            large = self._at_once < AT_ONCE and self.whole_chunks and not self.shares(box)
            return self._piecewise(ranges) if large else self._get(box)
        made = new_array(shape_of(box), self.dtype)
        for parts in itertools.product(
            *[runs(s, c) for s, c in zip(box, self.chunks, strict=True)]
        ):
            place = tuple([slice(low, high) for low, high, *_ in parts])
            values = self._get(tuple([around for _, _, around, _ in parts]))
            made[place] = values[np.ix_(*[inside for *_, inside in parts])]
        return made

    def _piecewise(self, box: tuple[range, ...]) -> NumpyArray:
        """Return the elements in a box, of few large chunks at a time."""
        lengths = (*self.chunks[:-1], self.chunks[-1] * self._at_once)
        parts = [*parts_of(box, lengths)]
        if len(parts) == 1:
            return self._get(box)
        made = new_array(shape_of(box), self.dtype)
        for _, at, part in parts:
            made[at] = self._get(part)
        return made

    def parts(
        self, box: Box, made: NumpyArray | None = None
    ) -> tuple[NumpyArray, list[Callable[[], None]]]:
        """Return memory, and what reads the elements of ranges to it, chunk by chunk if it can be.

        Each raises what `read` does.  The memory is new if there is none given, row-major.
        """
        own = getattr(self._fetch, "parts", None)
        made, parts = own(as_slices(box), shape_of(box), made) if own else (_NOTHING, [])
        return made, [functools.partial(self._fill, box, made, *part) for part in parts]

    def _fill(
        self, box: Box, made: NumpyArray, at: tuple[slice, ...], part: Callable[[], bool]
    ) -> None:
        done = False
        with contextlib.suppress(Exception):  # reading again says what is wrong
            done = part()
        if not done:
            inside = [range(s[k.start], s[k.stop - 1] + 1) for s, k in zip(box, at, strict=True)]
            made[at] = self._get(tuple(inside))

    def _get(self, box: Box) -> NumpyArray:
        def fetched(part: Box) -> NumpyArray:
            with self._lock:
                return self._fetch(self.array, as_slices(part), shape_of(part))

        try:
            return fetched(box)
        except Exception as error:
            failed = error
        made = new_array(shape_of(box), self.dtype)

        def again(at: tuple[slice, ...], part: Box) -> None:
            made[at] = fetched(part)

        what = f"read: {self.name} {dtype_name(self.dtype)}{list(self.shape)}"
        try:
            chunk_by_chunk(again, what, box, self.chunks, self.whole_chunks, failed)
        finally:
            del failed  # its traceback has this frame
        return made

    def identity(self) -> str:
        """Return what tells this array from another one, or from what it was before a change.

        Raises
        ------
        StorageError
            If that cannot be found out.
        """
        told = [self.name, str(self.shape), str(self.dtype), str(self.chunks)]
        with naming(f"read: {self.name}, to know it again"):
            told.extend(patiently(lambda: list(identity_of(self.array))))
        return hashlib.sha256("\n".join(told).encode()).hexdigest()


def reading() -> int:
    """Return how many threads read chunks: they decode, so no more than compute."""
    return max(1, min(READERS, settings.threads))


def decodes(source: Any) -> bool:
    """Tell whether reading chunks of an operand again costs more than copying them."""
    return keeps(source) and not getattr(source._fetch, "plain", False)


def keeps(source: Any) -> bool:
    """Tell whether chunks of an operand are worth keeping: it reads them as a whole."""
    return isinstance(source, StoredArray) and source.whole_chunks


def covered(selection: Selection, chunk: int, extent: int) -> int:
    """Return how many positions the chunks that a selection touches have along a dimension."""
    owners = owners_of(selection, chunk)
    short = chunk - min(chunk, extent - owners[-1] * chunk)
    return len(owners) * chunk - short


def most(selection: Selection, chunk: int, extent: int, pitch: int) -> int:
    """Return the same of the one that touches most, of selections of this length.

    They are those of other blocks, a number of times so far from this one as the pitch is long.
    """
    if not isinstance(selection, range) or selection.step > chunk:
        return min(extent, len(selection) * chunk)
    grain, span = math.gcd(pitch, chunk), len(hull(selection))
    last = chunk - grain + selection[0] % grain  # in a chunk, where one of them may begin
    return min(extent, chunk * (1 + (last + span - 1) // chunk))


def usual(selection: Selection, chunk: int, extent: int, pitch: int, whole: Selection) -> float:
    """Return the same on average, of selections of this length that a whole one is made of."""
    if not (isinstance(selection, range) and isinstance(whole, range)) or selection.step > chunk:
        return covered(selection, chunk, extent)
    first = whole[0] + (selection[0] - whole[0]) % pitch
    return _usual(first, len(hull(selection)), chunk, extent, pitch, whole[-1] + 1)


@functools.lru_cache(1024)
def _usual(first: int, span: int, chunk: int, extent: int, pitch: int, until: int) -> float:
    total = length = 0
    ends = max(first + 1, until - max(0, span - pitch))  # the last one has what others overlap
    for low in range(first, ends, pitch)[:_SOME]:
        high = min(low + span, until)
        total += min(extent, -(-high // chunk) * chunk) - low // chunk * chunk
        length += high - low
    return span * total / length


Fetch = Callable[[Any, Any, tuple[int, ...]], NumpyArray]


def _fetcher(array: Any, dtype: np.dtype[Any], complete: bool) -> Fetch:
    """Return how elements get into memory of ours: without a copy between, where that is known."""
    library = library_of(array)
    if np.dtype(array.dtype) == dtype and array.shape:
        if library == "zarr" and hasattr(array, "get_basic_selection"):
            return ZarrReader(array, dtype, complete)
        if library == "h5py":
            return functools.partial(_from_hdf5, dtype)
    return functools.partial(_from_any, dtype, complete and library == "zarr")


def _from_hdf5(dtype: np.dtype[Any], array: Any, key: Any, shape: tuple[int, ...]) -> NumpyArray:
    refuse_shortened(array)
    made = new_array(shape, dtype)
    array.read_direct(made, source_sel=key)
    return made


def _from_any(
    dtype: np.dtype[Any], complete: bool, array: Any, key: Any, shape: tuple[int, ...]
) -> NumpyArray:
    if complete:
        refuse_missing(array, key)
    refuse_shortened(array)
    values = np.asarray(array[key])
    if values.shape != shape:
        raise ShapeError(f"got shape {values.shape}")
    made = new_array(shape, dtype)
    np.copyto(made, values)
    return made


def chunks_of(
    chunks: Any, shape: tuple[int, ...], operation: str, even: bool = False
) -> tuple[int, ...] | None:
    """Return chunks as one length for each dimension, of lengths of all its pieces the longest.

    A length of -1 is all of a dimension.  Only the last of ``even`` pieces may be shorter, and one
    length may be given for all dimensions.

    Raises
    ------
    ShapeError
        If they are no lengths, not of so many dimensions, or do not add up.
    """
    if chunks is None:
        return None
    found = []
    try:
        sides = chunks if is_vector(chunks) or not even else (chunks,) * len(shape)
        for told, extent in zip(sides, shape, strict=True):
            lengths = told if is_vector(told) else [extent if told == -1 else told]
            pieces = [n for each in lengths for n in as_shape(each, operation)]
            length = max(pieces, default=0)
            short = is_vector(told) and sum(pieces) != extent
            if length < 1 <= extent or short or (even and {*pieces[:-1]} - {length}):
                raise ValueError
            found.append(max(1, min(length, extent)))
    except (TypeError, ValueError):
        raise ShapeError(
            f"{operation} chunks {chunks!r} are not one positive length for each dimension of "
            f"shape {shape}, nor lengths that add up to it"
        ) from None
    return tuple(found)
