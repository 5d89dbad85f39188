"""Chunks that several blocks need, kept from one to the next, or from pass to pass.

Blocks that share chunks (the halos of a stencil, the rows that a sum adds along) would read and
decode them again.  A run that has the memory keeps the chunks that were used last; blocks lie in
row-major order, so as many as one row of blocks touches are enough to read each chunk once.
Passes that read one operand would decode all of it again; the chunks that were decoded first are
held for the next pass, as many as the budget has room for besides what is in flight.
Where a block begins with the last rows of the one before (a piece of a sum that ends where chunks
do not), these are copied.
Chunks are read by threads of the cache's own, several of a block at once: who assembles the block
waits for them.  They are asked for in the order of blocks, so which are there does not depend on
how fast they come.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, cast

from .._locks import new_lock
from ..codegen.latch import Latch
from ..dtypes.names import NumpyArray
from .frames import new_array
from .loads import Load
from .selection import Box, chunk_of, owners_of, place_of, shape_of
from .source import keeps, reading
from .tasks import Task, Threads

Key = tuple[int, tuple[int, ...]]
Ranges = tuple[range, ...]

#: Chunks of a box, and what is held or kept of each from when it is asked for.
Asked = deque[tuple[Ranges, Task[NumpyArray] | None]]

#: An operand, and what was read of it for the block before.
Before = tuple[Any, Box, Task[NumpyArray]]


class Held:
    """Chunks that several passes of a run read.

    Attributes
    ----------
    sources : set of int
        Identities of the operands whose chunks are held.
    """

    __slots__ = ("_chunks", "_lock", "_room", "_size", "sources")

    def __init__(self) -> None:
        self._chunks: dict[Key, tuple[Any, int]] = {}
        self._lock = new_lock()
        self._room = self._size = 0
        self.sources: frozenset[int] = frozenset()

    def fit(self, room: int) -> None:
        """Hold no more than so many bytes."""
        with self._lock:
            self._room = room
            while self._size > room and self._chunks:
                self._size -= self._chunks.popitem()[1][1]

    def get(self, key: Key, nbytes: int, make: Callable[[], Any]) -> Any:
        """Return what is held of a chunk, made if there is room for it; None if there is not."""
        if key[0] not in self.sources:
            return None
        with self._lock:
            known = self._chunks.get(key)
            if known is not None:
                return known[0]
            if self._size + nbytes > self._room:
                return None
            made = make()
            self._chunks[key] = made, nbytes
            self._size += nbytes
            return made


class Recent:
    """Chunks that were asked for last, or what is read of them.

    Parameters
    ----------
    capacity : int
        Bytes of these, if there are several; 0 for none.
    """

    __slots__ = ("_chunks", "_size", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity, self._size = capacity, 0
        self._chunks: OrderedDict[Key, tuple[Any, int]] = OrderedDict()

    def get(self, key: Key, nbytes: int, make: Callable[[], Any]) -> Any:
        """Return what there is of a chunk, made if there is none; it is the last to go then."""
        if key not in self._chunks:
            self._chunks[key] = make(), nbytes
            self._size += nbytes
        self._chunks.move_to_end(key)
        while self._size > self.capacity and len(self._chunks) > 1:
            self._size -= self._chunks.popitem(last=False)[1][1]
        return self._chunks[key][0]


class ChunkCache:
    """Reads blocks through the chunks that were used last.

    Attributes
    ----------
    closed : Latch
        Whether anything is still waited for.

    Parameters
    ----------
    capacity : int
        Bytes of chunks that are kept; 0 for none.
    held : Held
        Chunks that other passes have read, or will read.
    carried : bool, default False
        Whether blocks begin with what the one before has read last.
    """

    __slots__ = (
        "_before",
        "_carried",
        "_held",
        "_kept",
        "_lock",
        "_pool",
        "_threads",
        "closed",
    )

    def __init__(self, capacity: int, held: Held, carried: bool = False) -> None:
        self._before: list[Before] = []
        self._carried = carried
        self._held, self._kept = held, Recent(capacity)
        self._lock = new_lock()
        self.closed = Latch()
        self._threads = reading()
        self._pool = Threads(self._threads, self.closed)

    def begin(
        self, readers: Threads, loads: Sequence[Load], alone: Threads | None = None
    ) -> list[Task[NumpyArray]]:
        """Begin to read what a block needs; what libraries read on other threads, if given."""
        if not self._carried:
            threads = [readers if x.source.shares(x.box) else alone or readers for x in loads]
            return [
                own.submit(self.read, x.source, x.box, None, self._asked(x.source, x.box))
                for own, x in zip(threads, loads, strict=True)
            ]
        found = []
        for k, load in enumerate(loads):
            before = [known for known in self._before[k : k + 1] if known[0] is load.source]
            found.append(readers.submit(self._read_on, load.source, load.box, before))
        self._before = [(x.source, x.box, future) for x, future in zip(loads, found, strict=True)]
        return found

    def _read_on(self, source: Any, box: Box, before: list[Before]) -> NumpyArray:
        """Read a block, but for what the one before has read too; which is not held any longer."""
        _, known, future = before.pop() if before else (None, (), None)
        axis = _continued(known, box)
        if axis is None or future is None:
            del future  # nothing of it is needed while this is read
            return self.read(source, box)
        made, rest = new_array(shape_of(box), source.dtype), left_of(known, box)
        count = len(box[axis]) - len(rest[axis])
        ahead = (slice(None),) * axis
        made[(*ahead, slice(count))] = future.result()[(*ahead, slice(-count, None))]
        del future
        if count < len(box[axis]):
            place = made[(*ahead, slice(count, None))]
            values = self.read(source, rest, place if place.flags.c_contiguous else None)
            if values is not place:
                place[...] = values
        return made

    def read(
        self, source: Any, box: Box, made: NumpyArray | None = None, asked: Asked | None = None
    ) -> NumpyArray:
        """Return the elements of an operand in a box, row-major; in memory that is given, maybe."""
        ranges = tuple([s for s in box if isinstance(s, range)])
        if not keeps(source) or len(ranges) < len(box):
            return cast("NumpyArray", source.read(box))
        asked = asked or self._asked(source, box)
        if not asked:
            made, reads = source.parts(box, made)
            if not reads:
                return cast("NumpyArray", source.read(box))
            left, several = iter(reads), range(min(self._threads, len(reads)))
            for wait in [self._pool.submit(self._all, left) for _ in several]:
                wait.result()
            return cast("NumpyArray", made)
        if len(asked) == 1 and shape_of(box) == shape_of(asked[0][0]):
            known = asked[0][1]
            return known.result() if known else cast("NumpyArray", source.read(box))
        if made is None:
            made = new_array(shape_of(box), source.dtype)
        coming: deque[tuple[Ranges, Ranges, Task[NumpyArray]]] = deque()
        while asked:
            chunk, known = asked.popleft()
            own = chunk if known else _common(ranges, chunk)
            coming.append((chunk, own, known or self._pool.submit(source.read, own)))
            del known
            if len(coming) > self._threads:  # others are not held until all are there
                self._take(made, ranges, *coming.popleft())
        while coming:
            self._take(made, ranges, *coming.popleft())
        return made

    def _asked(self, source: Any, box: Box) -> Asked:
        """Ask for the chunks of a box; for none if it is read without them."""
        ranges = all([isinstance(s, range) for s in box])
        if not (self._kept.capacity or id(source) in self._held.sources) or not (
            ranges and keeps(source)
        ):
            return deque()
        owners = [owners_of(s, c) for s, c in zip(box, source.chunks, strict=True)]
        made = functools.partial(chunk_of, source.shape, source.chunks)
        chunks = map(made, itertools.product(*owners))
        return deque([(chunk, self._chunk(source, chunk)) for chunk in chunks])

    @staticmethod
    def _take(
        made: NumpyArray, ranges: Ranges, chunk: Ranges, own: Ranges, future: Task[NumpyArray]
    ) -> None:
        """Copy what a box has of a chunk, or of the part of it that was read."""
        places = [place_of(s, c.start, c.stop) for s, c in zip(ranges, chunk, strict=True)]
        inside = () if own is not chunk else tuple([at for _, at in places])
        made[tuple([to for to, _ in places])] = future.result()[inside]

    def _all(self, reads: Iterator[Callable[[], None]]) -> None:
        """Read chunks one after another, of those that no other thread has taken yet."""
        for read in reads:
            if self.closed.is_set:
                raise CancelledError
            read()

    def _chunk(self, source: Any, box: Ranges) -> Task[NumpyArray] | None:
        """Return a chunk that is held or kept, from now on if not before; None if it cannot be."""
        key = (id(source), tuple([s.start for s in box]))
        nbytes = math.prod(map(len, box)) * source.dtype.itemsize

        def begin() -> Task[NumpyArray]:
            return self._pool.submit(source.read, box)

        found: Task[NumpyArray] | None = self._held.get(key, nbytes, begin)
        if found is None and self._kept.capacity:
            with self._lock:
                found = self._kept.get(key, nbytes, begin)
        return found

    def close(self) -> None:
        """Forget the chunks, and read no more."""
        self.closed.set()
        self._pool.close(cancel=True)
        self._kept = Recent(0)
        self._before.clear()


def _common(box: Ranges, chunk: Ranges) -> Ranges:
    """Return the part of a box that a chunk has."""
    found = []
    for s, c in zip(box, chunk, strict=True):
        at = place_of(s, c.start, c.stop)[1]
        found.append(range(c.start + at.start, c.start + at.stop, at.step))
    return tuple(found)


def left_of(known: Box, box: Box) -> Box:
    """Return what is to be read of a box where another one was read before: nothing, perhaps."""
    axis = _continued(known, box)
    if axis is None:
        return box
    return (*box[:axis], range(known[axis][-1] + 1, box[axis][-1] + 1), *box[axis + 1 :])


def _continued(known: Box, box: Box) -> int | None:
    """Return the dimension along which a box begins before another one ends, all else the same."""
    others = [k for k, (a, b) in enumerate(zip(known, box, strict=False)) if a != b]
    axis = others[0] if others else 0
    if len(others) > 1 or not known:
        return None
    a, b = known[axis], box[axis]
    steps = isinstance(a, range) and isinstance(b, range) and a.step == b.step == 1
    return axis if steps and a[0] <= b[0] <= a[-1] <= b[-1] else None
