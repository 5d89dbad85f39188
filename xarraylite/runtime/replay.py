"""Plans of small expressions, kept ready to be run again over other operands.

What a kind's one kernel (`runtime.direct`) cannot do for all shapes at once (results in another
order of dimensions, folds within an expression, temporaries) the planner does for one shape.  Its
plan is put into a record of 64-bit words: for each step the kernel, its argument block, which words
of that are addresses, and which are numbers among the operands.  Machine code
(`codegen.cpython.replay`) fills the blocks and calls the kernels one after the other, holding the
interpreter's lock, so no operand moves meanwhile.  The kernels are those of the plan, and so are
the bits of results.

A plan is kept this way if all its steps are kernels that would be over before other threads could
help.  Folds of a million elements are: their parts, which the plan has fixed, are runs of one
kernel.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from .._records import record
from ..codegen.cpython.launching import MOST_WORDS
from ..codegen.cpython.replay import OPERAND, TARGET
from ..codegen.kernel import Kernel
from ..compiler.limits import PARALLEL_FROM, SHARED_FROM
from ..compiler.program import BandedStep, KernelStep, Program, Step, Work
from ..ir.kind import Kind
from ..ir.node import Shape
from ..layout.strided import COLUMN_MAJOR, ROW_MAJOR, Order, Strided
from ..memory.block import Memory
from .bound import Sampled, result_of, sampled
from .launch import number_code

_TEMPORARY = 2

#: Distances for which plans are tried one after the other.
_DISTANCES = 8

#: Temporaries begin at multiples of this.
_LINE = 64


@record(frozen=True, slots=True)
class Replay:
    """A plan that can be run again.

    Attributes
    ----------
    record : bytes
        What machine code needs to know.
    result : Kind
        Of the new memory.
    policy : Order
        The result's layout.
    kernels : tuple of Kernel
        Kept alive here.
    """

    record: bytes = field(repr=False)
    result: Kind
    policy: Order
    kernels: tuple[Kernel, ...]

    def followed(self, kernel: Kernel, block: Sequence[int], word: int) -> Replay:
        """Return a plan with one more kernel, which changes the results.

        Parameters
        ----------
        kernel : Kernel
            Works in place.
        block : sequence of int
            Its arguments.
        word : int
            Which of them is the address of the results.
        """
        step = [kernel.address, len(block), 1, 0, *block, word, TARGET, 0, 0, 1]
        count, *rest = struct.unpack(f"<{len(self.record) // 8}q", self.record)
        words = [count + 1, *rest, *step]
        made = struct.pack(f"<{len(words)}q", *words)
        return replace(self, record=made, kernels=(*self.kernels, kernel))


@record(frozen=True, slots=True)
class Rewrite:
    """A plan that writes into memory that some operands may lie in, ready to be run again.

    Attributes
    ----------
    record : bytes
        How many operands are memory; of each the place among the operands, whether it lies in the
        destination's buffer, and if so how far from the destination; then what a `Replay` has.
    kernels : tuple of Kernel
        Kept alive here.
    next : Rewrite or None
        A plan for other distances.
    """

    record: bytes = field(repr=False)
    kernels: tuple[Kernel, ...]
    next: Rewrite | None = None

    def before(self, other: object) -> Rewrite:
        """Return the plan with others to try after it; these are let go where they get many."""
        if not isinstance(other, Rewrite):
            return self
        following, count = other.next, 1
        while following is not None:
            following, count = following.next, count + 1
        return replace(self, next=other) if count < _DISTANCES else self


def replay_of(
    kind: Kind, shape: Shape, operands: Sequence[Any], shared: bool = False
) -> Replay | None:
    """Return the plan of an expression, ready for any operands of the same kind and extents.

    ``shared``: for those of which the same are one as of these; what is of them is computed once.
    """
    found = sampled(kind, shape, operands, shared)
    policy = None if found is None else _policy(found.layout)
    if found is None or policy is None or not _is_small(found.program):
        return None
    record = _record(found, kind.itemsize * math.prod(shape))
    return Replay(record, result_of(kind, shape, found.layout), policy, _kernels(found))


def rewrite_of(
    kind: Kind, shape: Shape, operands: Sequence[Any], target: Kind, near: Mapping[int, int]
) -> Rewrite | None:
    """Return the plan of an assignment, ready for any operands that lie as these do.

    Parameters
    ----------
    kind, shape, operands
        The expression, which has the destination's shape and dtype.
    target : Kind
        Of the memory that is written.
    near : mapping from int to int
        Of operands in the destination's buffer, by their places, how many bytes behind the
        destination they begin.  All others are in other buffers.
    """
    found = sampled(kind, shape, operands, False, target, near)
    if found is None or not _is_small(found.program):
        return None
    words: list[int] = []
    for k, item in enumerate(found.made):
        if isinstance(item, Memory):
            words += [8 * k, k in near, near.get(k, 0)]
    words = [len(words) // 3, *words]
    head = struct.pack(f"<{len(words)}q", *words)
    return Rewrite(head + _record(found, kind.itemsize * math.prod(shape)), _kernels(found))


def _kernels(found: Sampled) -> tuple[Kernel, ...]:
    return tuple([step.kernel for step in found.program.kernels])


def _policy(layout: Strided) -> Order | None:
    if layout.is_row_major():
        return ROW_MAJOR
    return COLUMN_MAJOR if layout.is_column_major() else None


def _is_small(program: Program) -> bool:
    """Tell whether each step is over before others could help, or the lock would be missed.

    A fold is run at once up to where threads share it: the general way would take as long.
    """
    return all(map(_is_brief, program.steps))


def _is_brief(step: object) -> bool:
    if isinstance(step, BandedStep):
        return all([one.work.chunks and _is_brief(one) for one in step.kernels])
    if not isinstance(step, KernelStep) or len(step.block) > MOST_WORDS:
        return False
    work = step.work
    return work.outer * work.cost < (SHARED_FROM if work.rows else PARALLEL_FROM)


def _runs(step: Step) -> Iterator[tuple[KernelStep, tuple[int, ...]]]:
    """Yield the runs of kernels that a step is, and their ranges: of folds those of each part."""
    assert isinstance(step, (KernelStep, BandedStep)), "all other steps are not small"
    kernels = step.kernels if isinstance(step, BandedStep) else [step]
    parts = [_parts(one.work) for one in kernels]
    for ranges in zip(*parts, strict=True):
        yield from zip(kernels, ranges, strict=True)


def _parts(work: Work) -> list[tuple[int, ...]]:
    """Return the ranges of a kernel: of a fold of fixed parts those of each part."""
    return [(0, work.outer, j0, j1, r0, r1, offset) for r0, r1, j0, j1, offset in work.parts]


def _record(found: Sampled, nbytes: int) -> bytes:
    """Return the words of a record."""
    program, places = found.program, found.places
    starts, end = [], 0
    for temporary in program.temporaries:
        starts.append(end)
        end += -(-temporary.nbytes // _LINE) * _LINE
    words = [0, nbytes, end, len(starts)]
    leaves = [8 * places[id(leaf.snapshot)] for leaf in found.graph.leaves]
    slots = [(TARGET, 0), *[(OPERAND, at) for at in leaves], *[(_TEMPORARY, at) for at in starts]]
    count = 0
    for step in program.steps:
        for kernel, part in _runs(step):
            words += _words(kernel, part, slots, found)
            count += 1
    words[0] = count
    return struct.pack(f"<{len(words)}q", *words)


def _words(
    step: KernelStep, part: tuple[int, ...], slots: list[tuple[int, int]], found: Sampled
) -> list[int]:
    """Return the words of one run of a kernel."""
    block = step.block[:]
    block[0], block[1], block[2], block[3] = part[:4]
    if step.work.rows:
        block[4], block[5] = part[4:6]
    words = [step.kernel.address, len(block), len(step.addresses), len(step.scalars), *block]
    offset = part[6]  # of the result, which is the first address
    for word, slot, delta, packing in step.addresses:
        words += [word, *slots[slot], delta + offset, packing]
        offset = 0
    for word, ordinal in step.scalars:
        scalar = found.graph.nodes[ordinal]
        words += [word, 8 * found.places[id(scalar)], number_code(scalar.dtype)]
    return words
