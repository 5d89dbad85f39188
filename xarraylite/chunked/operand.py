"""What a `Stored` node stands for: an array that is kept elsewhere, or a product of matrices.

A product is an operand like a stored array: it has chunks, and reading a box of it computes the
tiles that the box touches.  Tiles and the blocks of the summed labels are fixed by the extents.
Each tile is multiplied on its own, in pieces that one thread makes each, and added up in order: an
element has the same bits whatever box it is read in, on however many threads.  Sides of tiles are
powers of two, as those of chunks often are.  A box of many tiles reads each block of the factors
once for all of them, which is why larger blocks of a result read less.  It goes through them step
by step along the dimension that has most tiles, where steps read no chunk twice: a block of the
other factor serves all steps, one of this factor is no larger than a tile needs, and the next one
is read while one is multiplied.
"""

from __future__ import annotations

import hashlib
import itertools
import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import replace
from typing import Any

import numpy as np

from .._config import budgeted
from ..blas.calls import pieces_on_one_thread
from ..dtypes.names import NumpyArray
from ..ir.node import Node, Stored
from ..labels.assignment import computed as multiplied
from ..labels.labelled import Indexed, Term, XLabelled
from ..memory.arrays import read
from ..operands.nodes import borrow_array
from . import explaining, stream
from .cache import ChunkCache, Held
from .frames import new_array
from .grid import Grid
from .parcel import Parcel, fingerprint
from .piece import piece_of
from .pipeline import Run, over, values_of
from .plan import TRIED, WORTH
from .retries import end_of_run
from .selection import Box, Selection, hull, offsets, place_in
from .source import StoredArray, covered, most, reading
from .tasks import Task, Threads

Labels = tuple[str, ...]
Ranges = tuple[range, ...]
Parts = list[tuple[NumpyArray, Labels]]
Factor = tuple[Node, Labels]

#: Elements of a tile of a product, and of a block of its summed labels.
TILE = 1 << 20
SUMMED = 1 << 11

#: Steps that are looked at to learn whether they read chunks twice.
_LOOKED = 8


class Operand:
    """What every operand that is no memory does."""

    __slots__ = ()

    def product(self, factors: Sequence[Factor], kept: Labels) -> Node:
        """Return the product of two matrices, of which one reads such an operand."""
        made = Contraction((factors[0], factors[1]), kept)
        return Stored(made.shape, made.dtype, made)

    def explain(self, node: Node) -> Any:
        """Return how an expression over such operands would be evaluated into memory."""
        return explaining.explained(node)

    def fill(self, node: Node, target: Any, noalias: bool) -> None:
        """Evaluate an expression over such operands into a destination in memory, in blocks."""
        stream.fill(node, target, noalias)


class Source(StoredArray, Operand):
    """A stored array as an operand."""

    __slots__ = ()


class Contraction(Operand):
    """A product of two factors, summed over the labels that the result does not have.

    Attributes
    ----------
    factors : pair of (node, labels)
        What is multiplied, both of the dtype that sums are made in.
    kept, summed : tuple of str
        Labels of the result, and the others.
    block, step : tuple of int
        Extents of the blocks of the summed labels, and of what is multiplied at once in the result.
    shape, dtype, chunks, whole_chunks, name
        As of a stored array.
    """

    __slots__ = (
        "block",
        "chunks",
        "dtype",
        "extents",
        "factors",
        "kept",
        "name",
        "shape",
        "step",
        "summed",
    )

    whole_chunks = True

    def __init__(self, factors: tuple[Factor, Factor], kept: Labels) -> None:
        self.factors = factors
        self.kept = kept
        self.extents: dict[str, int] = {}
        for node, labels in factors:
            self.extents.update(zip(labels, node.shape, strict=True))
        self.summed = tuple([k for k in self.extents if k not in kept])
        self.shape = tuple([self.extents[k] for k in kept])
        self.dtype: np.dtype[Any] = factors[0][0].dtype
        self.chunks = _tile(self.shape, TILE)
        self.block = _tile(tuple([self.extents[k] for k in self.summed]), SUMMED)
        self.step = self._stepped()
        self.name = " * ".join([f"[{','.join(labels)}]" for _, labels in factors])

    def _stepped(self) -> tuple[int, ...]:
        """Return the extents of steps: one tile long, if some of them read no more than all."""
        axis = max(range(len(self.shape)), key=lambda k: self.shape[k] / self.chunks[k], default=0)
        step = (*self.shape[:axis], *self.chunks[axis : axis + 1], *self.shape[axis + 1 :])
        block = [range(n) for n in self.block]
        some = [range(min(n, _LOOKED * own)) for n, own in zip(self.shape, step, strict=True)]
        parts = [*_grid(some, step)] if math.prod(self.shape) else []

        def moved(around: Sequence[range]) -> int:
            return sum([piece_of(node, self._part(labels, around, block)).moved
                        for node, labels in self.factors
                        if self.kept[axis] in labels])  # fmt: skip

        worse = len(parts) > 1 and WORTH * sum(map(moved, parts)) > moved(some)
        return self.shape if worse else step

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> Any:
        (left, mine), (right, other) = self.factors
        return _again, (Parcel(left), mine, Parcel(right), other, self.kept)

    def identity(self) -> str:
        """Return what tells this product from another one."""
        told = [(fingerprint(node, ()), labels) for node, labels in self.factors]
        return hashlib.sha256(repr((told, self.kept)).encode()).hexdigest()

    def prepared(self, run: Run) -> Contraction:
        """Return the product with what is folded in its factors evaluated."""
        (left, mine), (right, other) = self.factors
        factors = ((stream.reduced(left, run), mine), (stream.reduced(right, run), other))
        return Contraction(factors, self.kept)

    def moved(self, box: Box) -> int:
        """Return the bytes that are read for a box, about: of many blocks some are looked at."""
        around = self._around(box)
        blocks = Grid(tuple([self.extents[k] for k in self.summed]), self.block)
        some = [*blocks.some(TRIED)]
        found = [piece_of(node, self._part(labels, around, block)).moved
                 for block in some for node, labels in self.factors]  # fmt: skip
        return sum(found) * len(blocks) // len(some)

    def usual(self, box: Box, pitch: Sequence[int], whole: Box) -> int:
        """Return the same, as boxes that lie elsewhere among tiles are not looked at."""
        return self.moved(box)

    def shares(self, box: Box) -> bool:
        """Tell whether threads that all operands share read the chunks of a box: its own do."""
        return False

    def scratch(self, box: Box, pitch: Sequence[int]) -> int:
        """Return the bytes of the tiles, of the blocks of the factors, and of what they are of."""
        sides = zip(box, self.chunks, self.shape, pitch, strict=True)
        around = tuple([range(most(*side)) for side in sides])
        step = tuple([range(min(len(a), n)) for a, n in zip(around, self.step, strict=True)])
        block = tuple([range(n) for n in self.block])
        total = math.prod(map(len, around)) * self.dtype.itemsize
        one = step == around and self.block == tuple([self.extents[k] for k in self.summed])
        ahead = 1 if one else 2
        chunks = [0]
        for node, labels in self.factors:
            piece = piece_of(node, self._part(labels, step, block))
            total += ahead * piece.nbytes + (0 if isinstance(piece.node, Stored) else piece.inputs)
            chunks.extend([load.scratch for load in piece.loads])
        return total + max(chunks)

    def read(self, box: Box) -> NumpyArray:
        """Return the elements in a box."""
        around = self._around(box)
        total = new_array(tuple(map(len, around)), self.dtype)
        total[...] = 0
        with pieces_on_one_thread():
            self._add(total, around)
        inside = [offsets(s) + s[0] - a[0] for s, a in zip(box, around, strict=True)]
        same = all([len(s) == len(a) for s, a in zip(box, around, strict=True)])
        return total if same else np.ascontiguousarray(total[np.ix_(*inside)])

    def _add(self, total: NumpyArray, around: tuple[range, ...]) -> None:
        """Add the products of all blocks of the factors to some tiles, in order."""
        for step, parts in self._blocks(around):
            for tile in _grid(step, self.chunks):
                own = dict(zip(self.kept, place_in(step, tile), strict=True))
                sub = [
                    (np.ascontiguousarray(values[tuple([own.get(k, slice(None)) for k in labels])]),
                     labels)
                    for values, labels in parts
                ]  # fmt: skip
                place = place_in(around, tile)
                with np.errstate(all="ignore"):
                    np.add(total[place], self._product(sub), out=total[place])
            del parts, sub

    def _blocks(self, around: Sequence[range]) -> Iterator[tuple[Ranges, Parts]]:
        """Yield the steps through some tiles, block by block of the summed labels, and the factors.

        One is read ahead where threads are.
        """
        blocks = _grid(tuple([range(self.extents[k]) for k in self.summed]), self.block)
        steps = [*_grid(around, self.step)]
        cache, over = ChunkCache(0, Held()), end_of_run()
        known: dict[int, tuple[Box, NumpyArray]] = {}

        def begun(block: Ranges, step: Ranges) -> tuple[Ranges, Parts]:
            found = []
            for k, (node, labels) in enumerate(self.factors):
                part = self._part(labels, step, block)
                if over.is_set:
                    raise CancelledError
                if k not in known or known[k][0] != part:
                    known.pop(k, None)  # it is not held while the next one is read
                    known[k] = part, _values(node, part, cache)
                found.append((known[k][1], labels))
            return step, found

        reader = Threads(1, over)
        try:
            if reading() < 2:
                yield from itertools.starmap(begun, itertools.product(blocks, steps))
                return
            coming: deque[Task[tuple[Ranges, Parts]]] = deque()
            for block, step in itertools.product(blocks, steps):
                coming.append(reader.submit(begun, block, step))
                if len(coming) > 1:
                    yield coming.popleft().result()
            yield from (task.result() for task in coming)
        finally:
            reader.close(cancel=True)
            cache.close()

    def _product(self, parts: Parts) -> NumpyArray:
        nodes = tuple([Indexed(borrow_array(a, "contract"), labels) for a, labels in parts])
        extents: dict[str, int] = {}
        for a, labels in parts:
            extents.update(zip(labels, a.shape, strict=True))
        value = XLabelled((Term(nodes),), self.dtype, extents)
        with budgeted():
            filled = multiplied(value, self.kept, "contract")
        return read(filled.buffer, filled.dtype, filled.map)

    def _around(self, box: Box) -> Ranges:
        """Return the whole tiles that a box touches."""
        found = []
        for selection, chunk, extent in zip(box, self.chunks, self.shape, strict=True):
            low = selection[0] // chunk * chunk
            found.append(range(low, low + covered(hull(selection), chunk, extent)))
        return tuple(found)

    def _part(self, labels: Labels, kept: Sequence[Selection], summed: Sequence[Selection]) -> Box:
        own = dict(zip(self.kept + self.summed, [*kept, *summed], strict=True))
        return tuple([own[k] for k in labels])


def _again(left: Parcel, mine: Labels, right: Parcel, other: Labels, kept: Labels) -> Contraction:
    return Contraction(((left.node, mine), (right.node, other)), kept)


def _values(node: Node, box: Box, cache: ChunkCache) -> NumpyArray:
    piece = replace(piece_of(node, box), taken=True)
    made: NumpyArray = values_of(
        piece, over(piece, [cache.read(load.source, load.box) for load in piece.loads])
    )
    return made


def _tile(shape: tuple[int, ...], limit: int) -> tuple[int, ...]:
    """Return the extents of tiles of at most so many elements; a power of two where not all."""
    tile = [max(1, n) for n in shape]
    while math.prod(tile) > limit:
        axis = max(range(len(tile)), key=tile.__getitem__)
        tile[axis] = 1 << (tile[axis] - 1).bit_length() - 1
    return tuple(tile)


def _grid(around: Sequence[range], tile: Sequence[int]) -> Iterator[Ranges]:
    sides = [
        [range(low, min(low + t, a.stop)) for low in range(a.start, a.stop, t)]
        for a, t in zip(around, tile, strict=True)
    ]
    yield from itertools.product(*sides)
