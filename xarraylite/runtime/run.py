"""Running a program: temporaries, argument blocks, pieces of work, threads.

A step's iterations are divided into pieces of `GRAIN` to `LARGEST` units of cost, small enough that
Python sees a Ctrl-C between two of them and that threads finish together.  Pieces are a function
of the step alone; reductions that are folded from parts have parts fixed by the plan.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from .._config import settings
from ..codegen.kernel import KernelRaised
from ..compiler.identities import scalar_words
from ..compiler.limits import SHARED_FROM
from ..compiler.program import (
    BandedStep,
    HostStep,
    KernelStep,
    Program,
    SlotArray,
    TraversalStep,
    Work,
)
from ..ir.node import Node, Scalar
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.arrays import read, write
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..memory.pool import counters
from .threads import pool

#: Cost of one piece at least: about a tenth of a millisecond of cheap arithmetic.
GRAIN = 1 << 18

#: Cost of one piece at most; a Ctrl-C waits for it.
LARGEST = 1 << 21

#: Pieces of one step to aim for: enough for threads to finish together.
MANY = 32

#: Where a program finds its scalars.
Nodes: TypeAlias = Sequence[Node] | Mapping[int, Node]

Piece = tuple[int, int, int, int, int, int, int]
"""t0, t1, j0, j1, r0, r1 and the offset of the destination in bytes."""


def run(program: Program, memory: Sequence[Memory], begins: Sequence[int], nodes: Nodes) -> None:
    """Run a program.

    Parameters
    ----------
    program : Program
        What to do.
    memory, begins : sequence
        The destination and the leaves, and the byte in each where its first element lies.
    nodes : sequence or mapping of int to Node
        The scalars, by their numbers in the program.
    """
    buffers, starts = list(memory), list(begins)
    for temporary in program.temporaries:
        buffers.append(Buffer.allocate(temporary.nbytes))
        starts.append(0)
        counters.temporaries += 1
    addresses = [b.address + s for b, s in zip(buffers, starts, strict=True)]
    for step in program.steps:
        if isinstance(step, KernelStep):
            run_kernel(step, addresses, nodes, buffers)
        elif isinstance(step, TraversalStep):
            run_traversal(step, addresses, nodes)
        elif isinstance(step, BandedStep):
            run_bands(step, addresses, nodes, buffers)
        else:
            run_host(step, buffers, starts, nodes)


def run_kernel(step: KernelStep, addresses: list[int], nodes: Nodes, buffers: list[Memory]) -> None:
    """Run one kernel over all its pieces.

    ``buffers`` are what the addresses point into: whoever works on a piece keeps them alive.
    """
    block = filled(step, addresses, nodes)
    work = step.work
    kernel = step.kernel.run
    slot = step.addresses[0][0]
    base = block[slot]

    def make(keep: list[Memory] = buffers) -> Callable[[Piece], None]:
        own = block[:]
        address = own.buffer_info()[0]

        def one(piece: Piece) -> None:
            own[0], own[1], own[2], own[3] = piece[:4]
            if work.rows:
                own[4], own[5] = piece[4:6]
                own[slot] = base + piece[6]
            if kernel(address):
                raise KernelRaised

        return one

    cost = work.outer * work.cost
    if not work.chunks and cost < SHARED_FROM:
        make()((0, work.outer, 0, work.inner, 0, work.rows, 0))
        return
    threads = 1 if work.ordered else settings.threads
    least = LARGEST if threads == 1 else GRAIN
    few = not work.chunks and cost < MANY * LARGEST
    pool.run(_known_pieces(work, least) if few else pieces(work, least), make, threads)


def run_bands(step: BandedStep, addresses: list[int], nodes: Nodes, buffers: list[Memory]) -> None:
    """Run each band of rows, or each of the parts that are folded, through all kernels."""
    blocks = [filled(one, addresses, nodes) for one in step.kernels]
    for block, one in zip(blocks, step.kernels, strict=True):
        block[1], block[2], block[3] = one.work.outer, 0, one.work.inner
        if one.work.rows:
            block[4], block[5] = 0, one.work.rows

    def make(keep: list[Memory] = buffers) -> Callable[[int], None]:
        ready = []
        for k, shared in zip(step.kernels, blocks, strict=True):
            own, slot = shared[:], k.addresses[0][0]
            place = own.buffer_info()[0]
            ready.append((k.kernel.run, own, place, k.work.chunks, slot, own[slot]))

        def one(first: int) -> None:
            for kernel, block, address, chunks, slot, base in ready:
                if chunks:
                    block[4], block[5], block[2], block[3], by = chunks[first]
                    block[slot] = base + by
                else:
                    block[0], block[1] = first, min(first + step.band, step.rows)
                if kernel(address):
                    raise KernelRaised

        return one

    cost = sum([one.work.outer * one.work.cost for one in step.kernels])
    threads = settings.threads if cost >= SHARED_FROM else 1
    pool.run(range(0, step.rows, step.band), make, threads)


def filled(step: KernelStep, addresses: list[int], nodes: Nodes) -> array[int]:
    """Return a kernel's argument block with addresses and scalars."""
    block = step.block[:]
    for word, slot, delta, packing in step.addresses:
        block[word] = addresses[slot] * packing + delta
    for word, ordinal in step.scalars:
        node = nodes[ordinal]
        assert isinstance(node, Scalar)
        for k, value in enumerate(scalar_words(node.value, node.dtype)):
            block[word + k] = value
    return block


def run_traversal(step: TraversalStep, addresses: list[int], nodes: Nodes) -> None:
    """Run kernels by turns, on the calling thread."""
    ready = []
    for one in step.kernels:
        block = filled(one, addresses, nodes)
        words = [word for word, *_ in one.addresses]
        starts = [block[word] for word in words]
        ready.append((one.kernel.run, block, block.buffer_info()[0], words, starts, one.work))
    for number, moves in step.visits:
        kernel, block, address, words, starts, work = ready[number]
        for word, start, by in zip(words, starts, moves, strict=True):
            block[word] = start + by
        for piece in pieces(work, LARGEST):
            block[0], block[1], block[2], block[3] = piece[:4]
            if kernel(address):
                raise KernelRaised


def pieces(work: Work, least: int = GRAIN) -> Iterator[Piece]:
    """Yield the pieces of a step, in an order that is right also where order matters.

    Each costs ``least`` at least where there is so much.
    """
    cost = max(1, work.cost // len(work.parts))
    grain = min(max(least, work.outer * cost // MANY), LARGEST)
    ranges = list(_inner_ranges(work, cost, grain))
    step = max(1, grain // cost) if len(ranges) == 1 else 1
    for r0, r1, j0, j1, offset in work.parts:
        for t in range(0, work.outer, step):
            for low, high in ranges:
                end = min(t + step, work.outer)
                yield t, end, max(j0, low), min(j1, high), r0, r1, offset


@lru_cache(64)
def _known_pieces(work: Work, least: int) -> tuple[Piece, ...]:
    """Return the pieces of what comes again, of which there are few."""
    return tuple(pieces(work, least))


def _inner_ranges(work: Work, cost: int, grain: int) -> Iterator[tuple[int, int]]:
    """Divide the innermost loop where one pass of it is more than a piece."""
    if not work.split_inner or cost <= 2 * grain:
        yield 0, work.inner
        return
    per = max(1024, grain * work.inner // cost // 1024 * 1024)
    starts = range(0, work.inner, per)
    for j in reversed(starts) if work.falling else starts:
        yield j, min(j + per, work.inner)


def run_host(step: HostStep, buffers: list[Memory], starts: list[int], nodes: Nodes) -> None:
    """Let NumPy run one operation."""

    def moved(place: SlotArray) -> Map:
        start = starts[place.slot] * 8 // place.bits
        return replace(place.layout, offset=start + place.layout.offset)

    def operand(place: SlotArray) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
        return read(buffers[place.slot], place.dtype, moved(place))

    args: list[object] = []
    for known in step.operands:
        if isinstance(known, SlotArray):
            args.append(operand(known))
        else:
            node = nodes[known]
            assert isinstance(node, Scalar)
            args.append(node.value)
    to, layout = step.result, moved(step.result)
    function = None if step.op is None else step.op.numpy
    # What has one dtype NumPy computes where it goes, on a copy of operands that lie there.
    alike = all([getattr(arg, "dtype", None) is to.dtype for arg in args])
    with np.errstate(all="ignore"):
        if alike and isinstance(function, np.ufunc) and isinstance(layout, Strided):
            function(*args, out=buffers[to.slot].view(to.dtype, layout))
            return
        result: Any = args[0] if function is None else function(*args)
    write(buffers[to.slot], to.dtype, layout, result)
