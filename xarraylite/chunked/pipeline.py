"""Running blocks: reading ahead, computing, writing behind.

The calling thread computes (kernels have threads of their own), readers read for the block after
it, writers write the ones before it.  All that waits is bounded, so what is in flight is what the
plan has counted.  A Ctrl-C ends the waits at once; blocks that are being written get a moment to
become whole, and whoever keeps account hears of a block only when it is.
"""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from .._config import budgeted, settings
from ..codegen.latch import Latch
from ..dtypes.names import NumpyArray
from ..ir.node import Leaf, Node
from ..layout.strided import Strided
from ..memory.arrays import read
from ..memory.buffer import Buffer
from ..memory.pool import pool
from ..memory.target import Target
from ..operands.nodes import borrow_array
from ..runtime import evaluate as engine
from .cache import ChunkCache, Held
from .cut import bind, cut
from .frames import new_array
from .loads import Load, within
from .piece import Piece
from .selection import Box, select, whole
from .source import READERS
from .tasks import Task, Threads

#: Threads that encode and write, at most.
WRITERS = 2

#: Seconds that an interrupted run waits for blocks that are being written.
GRACE = 0.1


#: Bytes of a pass from which its time says something.
_TELLING = 1 << 20


class Clock:
    """Seconds and bytes of a run by stage.

    Attributes
    ----------
    waited : dict
        Seconds that the calling thread has spent on ``read``, ``compute`` and ``write``.
    read, written : int
        Bytes so far.
    """

    __slots__ = ("read", "waited", "written")

    def __init__(self) -> None:
        self.waited = {"read": 0.0, "compute": 0.0, "write": 0.0}
        self.read = 0
        self.written = 0

    @contextlib.contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Count how long the block takes."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.waited[stage] += time.perf_counter() - start


class Rate:
    """How fast passes of this process were, the latest ones most of all."""

    __slots__ = ("_bytes", "_seconds")

    def __init__(self) -> None:
        self._bytes = self._seconds = 0.0

    def add(self, nbytes: int, seconds: float) -> None:
        """Count a pass, if it was long enough to tell."""
        if nbytes >= _TELLING:
            self._bytes = self._bytes / 2 + nbytes
            self._seconds = self._seconds / 2 + seconds

    @property
    def known(self) -> bool:
        """Whether anything has run."""
        return self._bytes > 0

    def seconds(self, nbytes: int) -> float:
        """Return how long so many bytes would take; if nothing has run, if they were memory."""
        return nbytes * (self._seconds / self._bytes if self._bytes else _seconds_in_memory())


@functools.cache
def _seconds_in_memory() -> float:
    """Return the seconds that a byte takes from memory to memory, measured once."""
    one = np.zeros(_TELLING * 8, np.uint8)
    other = one.copy()
    start = time.perf_counter()
    other[:] = one
    return (time.perf_counter() - start) / (2 * len(one))


#: What passes on this machine have read, computed and written.
measured = Rate()


class Maker(Protocol):
    """Cuts blocks: a `Cutter`, or the parts of a reduction."""

    @property
    def even(self) -> bool:
        """As of a cutter."""

    def __call__(self, key: Any, /) -> Piece:
        """Return a block."""


@dataclass(frozen=True, slots=True)
class Cuts:
    """Blocks, cut as they are needed.

    Attributes
    ----------
    make : Maker
        Cuts one.
    keys : iterable
        What it is given: where a block lies.
    kept : int
        Bytes of chunks that are kept for blocks that come later.
    need : int
        Bytes in flight, with these: the rest is for chunks that other passes need.
    carried : bool, default False
        Whether a block begins with what the one before has read last.
    """

    make: Maker
    keys: Iterable[Any]
    kept: int
    need: int
    carried: bool = False

    def __iter__(self) -> Iterator[Piece]:
        return map(self.make, self.keys)


#: Writes the values of a box.
Write = Callable[[Box, NumpyArray], None]

#: Blocks, each when it is done, with its values.
Done = Iterator[tuple[Piece, Any]]


class Cluster(Protocol):
    """Whoever runs blocks on other machines.

    Attributes
    ----------
    keeps : bool
        Whether blocks can share chunks.
    """

    keeps: bool

    def run_blocks(self, pieces: Cuts, values: bool, write: Write | None) -> Done:
        """Do as the function of this name does."""


@dataclass(slots=True)
class Run:
    """How an expression is evaluated.

    Attributes
    ----------
    budget : int
        Bytes that may be in flight.
    clock : Clock
        Where time and bytes are counted.
    report : callable
        Told of every pass that begins: what it does, and how many blocks it has.
    advance : callable
        Told of every block that is done.
    cluster : Cluster or None
        Who computes blocks elsewhere.
    held : Held
        Chunks that several passes read.
    """

    budget: int
    clock: Clock = field(default_factory=Clock)
    report: Callable[[str, int], None] = lambda what, blocks: None
    advance: Callable[[Piece], None] = lambda piece: None
    cluster: Cluster | None = None
    held: Held = field(default_factory=Held)

    @property
    def keeps(self) -> bool:
        """Whether chunks can be kept from block to block."""
        return self.cluster is None or self.cluster.keeps


def run_blocks(
    pieces: Cuts,
    run: Run,
    values: bool = True,
    write: Write | None = None,
    compute: Callable[[Piece, Node], Any] | None = None,
) -> Generator[tuple[Piece, Any]]:
    """Run blocks one after another, and yield each when it is done, in order, with its values.

    Whoever takes these lets go of them before the next ones are computed.

    Parameters
    ----------
    pieces : Cuts
        The blocks, in order.
    run : Run
        Where time and bytes are counted, and the cluster that computes, if there is one.
    values : bool, default True
        Whether they are asked for.
    write : callable, optional
        Given where a block lies and its values, on another thread; they are not given back.
    compute : callable, optional
        Given a block and its expression over memory, instead of evaluating it into new memory.
    """
    done = _run_here(pieces, run, write, compute)
    if run.cluster is not None:
        done = run.cluster.run_blocks(pieces, values and write is None, write)
    for piece, made in done:
        run.advance(piece)
        yield piece, made
        del made


def _run_here(
    pieces: Cuts,
    run: Run,
    write: Write | None,
    compute: Callable[[Piece, Node], Any] | None,
) -> Done:
    clock, ended, writing = run.clock, Latch(), min(WRITERS, settings.threads)
    room = run.budget - pieces.need
    pool.trim(max(0, room))  # what other passes have used has other sizes, often
    cache = ChunkCache(0 if pieces.carried else pieces.kept, run.held, pieces.carried)
    readers, single = Threads(READERS, cache.closed), Threads(1, cache.closed)
    writers = Threads(writing, ended)
    coming: deque[tuple[Piece, list[Task[NumpyArray]]]] = deque()
    leaving: deque[tuple[Piece, Task[None]]] = deque()
    left = iter(pieces)
    run.held.fit(room)
    start, before = time.perf_counter(), clock.read + clock.written
    try:
        following = next(left, None)
        spare = 0 if run.held.sources else room  # which chunks that are held have otherwise
        while coming or following:
            while following and following.is_read_with([piece for piece, _ in coming]):
                begun = cache.begin(readers, following.loads, single if following.alone else None)
                coming.append((following, begun))
                following = next(left, None)
            piece, reads = coming.popleft()
            with clock.timed("read"):
                arrays = [read.result() for read in reads]
            clock.read += sum([a.nbytes for a in arrays])
            with clock.timed("compute"), budgeted():
                node = over(piece, arrays)
                del arrays, reads
                made = values_of(piece, node) if compute is None else compute(piece, node)
            del node
            if write is None:
                yield piece, made
            else:
                leaving.append((piece, writers.submit(write, piece.box, made)))
            del made
            while len(leaving) > behind(leaving, spare) or (leaving and leaving[0][1].done.is_set):
                yield _written(leaving, clock), None
        while leaving:
            yield _written(leaving, clock), None
        measured.add(clock.read + clock.written - before, time.perf_counter() - start)
    except BaseException as error:
        patient = isinstance(error, Exception)  # what was computed is written, as far as it goes
        cache.close()
        readers.close(cancel=True)
        single.close(cancel=True)
        writers.close(cancel=not patient)
        until = math.inf if patient else time.perf_counter() + GRACE
        for _, task in leaving:
            while not task.done.wait() and time.perf_counter() < until:
                pass
        raise
    finally:
        readers.close(cancel=True)
        single.close(cancel=True)
        writers.close(cancel=False)
        cache.close()
        ended.set()


def behind(leaving: deque[tuple[Piece, Task[None]]], spare: int) -> int:
    """Return how many blocks may be left to be written: as many as each of them lets."""
    return min([piece.behind(spare) for piece, _ in leaving], default=0)


def _written(leaving: deque[tuple[Piece, Task[None]]], clock: Clock) -> Piece:
    piece, task = leaving[0]
    with clock.timed("write"):
        task.result()
    leaving.popleft()
    clock.written += piece.nbytes
    return piece


def over(piece: Piece, arrays: list[NumpyArray]) -> Node:
    """Return a block's expression over what was read for it."""
    leaves: dict[int, Node] = {}
    for load, array in zip(piece.loads, arrays, strict=True):
        whole = borrow_array(_spread(array, load.apart) if piece.spread else array, "read")
        for user in load.users:
            leaves[id(user)] = part_of(load, whole, user)
    bound = bind(piece.node, leaves)
    return bound if piece.fold is None else piece.fold(bound, computed)


def _spread(array: NumpyArray, strides: Sequence[int]) -> NumpyArray:
    """Return the elements of an array in memory of some strides."""
    size = array.itemsize
    if array.strides == tuple([n * size for n in strides]):
        return array
    span = 1 + sum([(n - 1) * step for n, step in zip(array.shape, strides, strict=True)])
    made: NumpyArray = np.lib.stride_tricks.as_strided(
        new_array((span,), array.dtype), array.shape, [n * size for n in strides]
    )
    made[...] = array
    return made


def part_of(load: Load, whole: Leaf, user: Any) -> Node:
    """Return the part of what was read that serves one request."""
    own = user.source.box
    return whole if own == load.box else select(whole, within(load.box, own))


def values_of(piece: Piece, node: Node) -> Any:
    """Return the values of a block's expression over memory, which may be what was read for it.

    Where they are taken along a dimension, an iterator over parts of the block with theirs.
    """
    if piece.taken and isinstance(node, Leaf):
        found = read(node.snapshot, node.dtype, node.map)
        if found.flags.c_contiguous:
            return found if piece.along is None else iter([(piece, found)])
    if piece.along is None:
        return computed(node)
    return ((part, computed(own)) for part, own in slabs_of(piece, node))


def slabs_of(piece: Piece, node: Node) -> Iterator[tuple[Piece, Node]]:
    """Yield the parts of a block whose values are computed at a time, with their expressions."""
    k, axis = piece.along or (0, 0)
    for low in range(0, node.shape[axis], piece.slab):
        place, box = list[Any](whole(node.shape)), list[Any](piece.box)
        place[axis] = place[axis][low : low + piece.slab]
        box[k] = box[k][low : low + piece.slab]
        part = node if place[axis] == range(node.shape[axis]) else cut(node, tuple(place))
        yield replace(piece, box=tuple(box)), part


def computed(node: Node) -> NumpyArray:
    """Return the values of an expression over memory, in new memory of their own."""
    made = new_array(node.shape, node.dtype)
    place = Strided.row_major(node.shape)
    with budgeted():
        engine.assign(Target(Buffer.of_array(made), place, node.dtype, fresh=True), node, True)
    return made
