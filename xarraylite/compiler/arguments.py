"""What a kernel is given: its operands, and the block of words that it is called with.

Every kind of kernel is made into a step in the same way.  Its operands are classified by how their
address streams move along the innermost loop, which is part of its specification; the words that
the specification asks for are filled by name (`ArgumentBlock`); and what only the runtime knows,
addresses and scalars, is listed with the words where it goes.
"""

from __future__ import annotations

import itertools
import math
from array import array
from collections.abc import Iterable, Sequence

from .._records import record
from ..codegen.emit.body import Const
from ..codegen.emit.streams import Access, Inner, Operand, Words
from ..codegen.kernel import Kernel
from ..layout.strided import Strided
from ..layout.tiled import Map
from .loops import AddressStream, address_stream
from .lower import Lowered, Use
from .program import KernelStep, SlotArray, Work


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


@record(frozen=True, slots=True)
class Computation:
    """What a kernel computes of what, and where it puts the results; all layouts are strided.

    Attributes
    ----------
    lowered : Lowered
        Code and operands.
    memory : sequence of OperandSlot
        Slot and access of each operand.
    to : SlotArray
        Where results go.
    """

    lowered: Lowered
    memory: Sequence[OperandSlot]
    to: SlotArray

    @property
    def arrays(self) -> list[SlotArray | Use]:
        """The destination and the operands."""
        return [self.to, *self.lowered.uses]

    @property
    def streams(self) -> list[AddressStream]:
        """How these are walked."""
        return [stream_of(array) for array in self.arrays]

    def operands(
        self, streams: Sequence[AddressStream], still: int = -1, lanes: int = 1
    ) -> tuple[Operand, ...]:
        """Classify streams of a nest; ``still`` is one that does not move innermost, or -1."""
        accesses = [Access.SHARED, *[known.access for known in self.memory]]
        found: list[Operand] = []
        for one, access, steps in zip(self.arrays, accesses, streams, strict=True):
            inner = Inner.STILL if len(found) == still else _inner(steps, one, lanes)
            found.append(Operand(one.dtype, inner, access, packing(one.bits)))
        return tuple(found)

    def traffic(self, results: int = 1) -> int:
        """Return how many bytes are read and written, of so many results for each."""
        written, *read = [_distinct(strided(a.layout)) * a.bits for a in self.arrays]
        return results * written // 8 + sum([bits // 8 for bits in read])


def stream_of(array: SlotArray | Use) -> AddressStream:
    """Return how an array is walked."""
    return address_stream(strided(array.layout), unit(array.bits))


def streams_of(lowered: Lowered) -> list[AddressStream]:
    """Return how operands are walked."""
    return [stream_of(use) for use in lowered.uses]


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


def inner_of(stride: int, size: int) -> Inner:
    """Return how a stream moves along the innermost loop, whose elements are so long."""
    return Inner.STILL if stride == 0 else Inner.UNIT if stride == size else Inner.ANY


def _inner(steps: AddressStream, array: SlotArray | Use, lanes: int) -> Inner:
    size = 0 if not array.bits else array.dtype.itemsize if array.bits >= 8 else 1
    if lanes > 1 and size and steps.strides[-2:] == (size, lanes * size):
        return Inner.INTERLEAVED
    return inner_of(steps.strides[-1], size)


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
        what: Computation,
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
        what : Computation
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
        lowered, to = what.lowered, what.to
        self.put([(f"g{k}", stride) for k, stride in enumerate(lowered.gathers)])
        index = self.words.index
        addresses = [(index["p0"], to.slot, starts[0], packing(to.bits))]
        for k, (use, known) in enumerate(zip(lowered.uses, what.memory, strict=True), 1):
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


def _distinct(layout: Strided) -> int:
    return math.prod([n for n, s in zip(layout.shape, layout.strides, strict=True) if s])
