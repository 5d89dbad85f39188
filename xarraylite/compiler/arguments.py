"""What a kernel is given: its operands, and the block of words that it is called with.

Every kind of kernel is made into a step in the same way.  Its operands are classified by how their
address streams move along the innermost loop, which is part of its specification; the words that
the specification asks for are filled by name (`ArgumentBlock`); and what only the runtime knows,
addresses and scalars, is listed with the words where it goes.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterable, Sequence

import numpy as np

from .._records import record
from ..codegen.emit.body import Const
from ..codegen.emit.streams import Access, Inner, Operand, Words
from ..codegen.kernel import Kernel
from ..layout.strided import Strided
from ..layout.tiled import Map
from .loops import AddressStream, address_stream
from .lower import Lowered
from .program import KernelStep, Work


@record(frozen=True, slots=True)
class Destination:
    """Where a step writes: a slot, and a layout counted from the slot's first element.

    ``bits`` lead from one position of the layout to the next; ``soon`` says that it is read again
    while it is in the caches.
    """

    slot: int
    layout: Map
    dtype: np.dtype[np.generic]
    bits: int
    soon: bool = False


def rows(slot: int, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> Destination:
    """Return a row-major destination at the start of a slot."""
    return Destination(slot, Strided.row_major(shape), dtype, 8 * dtype.itemsize)


@record(frozen=True, slots=True)
class OperandSlot:
    """What a step knows of one operand besides its use.

    Attributes
    ----------
    slot : int
        Where its address is.
    access : Access
        How it may be accessed.
    span : tuple of int, optional
        The first and the last byte that a leaf reads.
    """

    slot: int
    access: Access
    span: tuple[int, int] | None = None


def streams_of(lowered: Lowered) -> list[AddressStream]:
    return [address_stream(strided(use.layout), unit(use.bits)) for use in lowered.uses]


def strided(layout: Map) -> Strided:
    """Return a layout that `boxes` has made strided."""
    assert isinstance(layout, Strided), "tiled operands are divided into boxes first"
    return layout


def unit(bits: int) -> int:
    """Return by how much a stream changes per position: bytes, or elements that share bytes."""
    return max(1, bits // 8)


def packing(bits: int) -> int:
    """Return how many elements share a byte."""
    return 8 // bits if 0 < bits < 8 else 1


def operands_of(
    streams: Sequence[AddressStream],
    lowered: Lowered,
    memory: Sequence[OperandSlot],
    to: Destination,
    still: int = -1,
    lanes: int = 1,
) -> tuple[Operand, ...]:
    """Classify every stream; ``still`` is a stream that does not move innermost, or -1."""
    first = Inner.STILL if still == 0 else inner_of(streams[0], to.bits, to.dtype, lanes)
    found = [Operand(to.dtype, first, Access.SHARED, packing(to.bits))]
    for use, known, steps in zip(lowered.uses, memory, streams[1:], strict=True):
        inner = inner_of(steps, use.bits, use.dtype, lanes)
        found.append(Operand(use.dtype, inner, known.access, packing(use.bits)))
    return tuple(found)


def inner_of(steps: AddressStream, bits: int, dtype: np.dtype[np.generic], lanes: int) -> Inner:
    stride = steps.strides[-1]
    if stride == 0:
        return Inner.STILL
    size = dtype.itemsize if bits >= 8 else 1
    if lanes > 1 and bits and (stride, steps.strides[-2]) == (lanes * size, size):
        return Inner.INTERLEAVED
    return Inner.UNIT if bits and stride == size else Inner.ANY


class ArgumentBlock:
    """The words of a kernel's argument block, filled by name.

    Words that the kernel does not have are left out: which those are follows from its
    specification.
    """

    __slots__ = ("values", "words")

    def __init__(self, words: Words) -> None:
        self.words = words
        self.values = array("q", [0]) * len(words)

    def put(self, pairs: Iterable[tuple[str, int]]) -> None:
        """Fill words by their names."""
        index = self.words.index
        for name, value in pairs:
            at = index.get(name)
            if at is not None:
                self.values[at] = value

    def loops(self, letter: str, extents: Sequence[int], strides: Sequence[Sequence[int]]) -> None:
        """Fill the extents of outer loops, and each stream's strides along these."""
        self.put([(f"n_{letter}{d}", extent) for d, extent in enumerate(extents)])
        for w, steps in enumerate(strides):
            self.put([(f"s{w}_{letter}{d}", steps[d]) for d in range(len(extents))])

    def inner(self, strides: Iterable[int]) -> None:
        """Fill each stream's stride along the innermost loop."""
        self.put([(f"e{w}", stride) for w, stride in enumerate(strides)])

    def step(
        self,
        kernel: Kernel,
        lowered: Lowered,
        memory: Sequence[OperandSlot],
        to: Destination,
        starts: Sequence[int],
        work: Work,
        note: str,
        traffic: int,
        lines: Sequence[tuple[int, int, int]] = (),
    ) -> KernelStep:
        """Return the step: gather strides, iotas and what the runtime fills are added.

        Parameters
        ----------
        kernel : Kernel
            What it calls.
        lowered, memory, to
            Code, operands and destination.
        starts : sequence of int
            Where each address stream begins, the destination's first.
        work : Work
            Its iterations.
        note : str
            What it does.
        traffic : int
            Bytes it moves.
        lines : sequence of (stride, low, high), optional
            How each address stream moves from row to row (`KernelStep`).
        """
        self.put([(f"g{k}", stride) for k, stride in enumerate(lowered.gathers)])
        index = self.words.index
        addresses = [(index["p0"], to.slot, starts[0], packing(to.bits))]
        for k, (use, known) in enumerate(zip(lowered.uses, memory, strict=True), 1):
            if use.iota:
                self.values[index[f"p{k}"]] = starts[k]
            else:
                addresses.append((index[f"p{k}"], known.slot, starts[k], packing(use.bits)))
        slots = {s.slot for s in lowered.body.instructions if isinstance(s, Const)}
        scalars = tuple([(index[f"c{slot}"], lowered.scalars[slot]) for slot in sorted(slots)])
        stored = [True, *[not use.iota for use in lowered.uses]]
        moves = tuple(itertools.compress(lines, stored))
        return KernelStep(
            kernel, self.values, tuple(addresses), scalars, work, note, traffic, moves
        )


def traffic_of(lowered: Lowered, to: Destination, results: int = 1) -> int:
    read = sum(_distinct(strided(use.layout)) * use.bits // 8 for use in lowered.uses)
    return read + results * _distinct(strided(to.layout)) * to.bits // 8


def _distinct(layout: Strided) -> int:
    count = 1
    for extent, stride in zip(layout.shape, layout.strides, strict=True):
        count *= extent if stride else 1
    return count
