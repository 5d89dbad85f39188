"""Parts of a small expression, materialised before the rest of it.

``v - mean(v)`` is one kind whatever the length of ``v``, but no one kernel: the fold is a program
of its own, and what is made of its value another.  So is ``m[1:, 1:] -= m[1:, :1] * m[0, 1:]``,
whose operands have to be copied first, as they lie among what is written.  All these programs serve
any extents.  A plan, which fuses what it can, is made for one shape; so what is evaluated for the
first or second time with its extents is computed in parts, and a loop over ever new lengths plans
nothing.  What NumPy alone computes (``exp`` of complex numbers) is such a part of few elements at
any time, as a plan that calls NumPy is not kept ready.  The kernels are those of a plan, and so are
the bits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterator, Sequence
from typing import Any

from .._later import direct, overlap
from ..ir.kind import NODE, Kind, elementwise, leaf_of, leaves_of, reduction, row_major, strides_of
from ..ir.node import Shape
from ..layout.strided import row_major_strides
from ..memory.buffer import Buffer
from ..memory.pool import counters
from ..memory.slabs import take
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..runtime.evaluate import uses_reference
from ..runtime.floating_errors import silently
from ..runtime.program import Direct, HostCall

_new = object.__new__

Part = tuple[Kind, tuple[Any, ...]]

#: Elements up to which operations that NumPy computes are parts.
FEW_ASKED = 256

#: Operations on elements that take about as long as to plan an expression.
_REPEATED = 1 << 15


def program_of(kind: Kind) -> Any:
    """Return a kind's program for new memory, made when it is first asked for; None: it has none.

    Another thread may have kinds forget their programs at any time, so whoever asks holds it.
    """
    program = kind.fresh
    if program is None and kind is not NODE and not uses_reference():
        program = kind.fresh = direct.fresh(kind) or False
    return program or None


def program_for(kind: Kind, program: Any, size: int) -> Any:
    """Return the program for so many elements, given the one that the kind has.

    What was for fewer is not asked for any more: the other one computes these, too, to the same
    bits.
    """
    if program.__class__ is Direct and program.limit < size <= program.more:
        program = kind.fresh = direct.fresh(kind, short=False)
    return program


def computed(program: Any, shape: Shape, size: int, items: Sequence[Any]) -> Buffer | None:
    """Return new memory with what one launch computes of so many elements; None if it refuses.

    ``shape`` is that of what is folded, or of the result.
    """
    if program.__class__ is not Direct or size > program.limit or (program.folds and not size):
        return None
    buffer: Buffer = _new(Buffer)
    buffer.special, buffer.shared, buffer.owner = False, False, None
    buffer.nbytes = nbytes = program.itemsize if program.folds else size * program.itemsize
    buffer._memory, buffer._start, buffer.address = place = take(nbytes)
    return buffer if program.call(place[2], shape, *items) is None else None


def repeats(program: Direct, operands: Sequence[Any], size: int) -> bool:
    """Tell whether so much would be computed twice that planning it once costs less."""
    return any(
        [
            operations * size > _REPEATED and operands[one] == operands[other]
            for one, other, operations in program.twins
        ]
    )


def materialised(
    kind: Kind, shape: Shape, operands: Sequence[Any], copied: Collection[int] = ()
) -> Part | None:
    """Return an expression in which folds are memory of one value, and some operands copies.

    Parameters
    ----------
    kind, shape, operands
        The expression.
    copied : collection of int
        The places of the memory to copy among the operands.

    Returns
    -------
    tuple of (Kind, tuple), or None
        The kind of what is left and its operands; None where nothing is to be done first, or a
        part takes more than one launch.
    """
    if kind.formed:
        return None
    found = _Parts(tuple(operands), copied).of(kind, shape, 0)
    return None if found is None or found[1] == operands else found


def places_of(kind: Kind) -> Iterator[tuple[int, Kind]]:
    """Yield the place among the operands of each leaf of a kind without folds."""
    at = 0
    for leaf in leaves_of(kind):
        yield at, leaf
        at += leaf.items


def overlapping(
    to: Any, kind: Kind, operands: Sequence[Any], near: Container[int]
) -> set[int] | None:
    """Return the operands that must be copied before a container is written.

    Parameters
    ----------
    to : container
        What is written.
    kind, operands
        What it is written with: an expression of its shape without folds.
    near : container of int
        The places of the operands in its buffer.

    Returns
    -------
    set of int, or None
        Their places among the operands; None where an order of the loops would do instead.
    """
    place = _span(to._buffer.address + to._start, to._kind, to._shape)
    found = {
        at: overlap.classify(place, _span(operands[at].address + operands[at + 1], leaf, to._shape))
        for at, leaf in places_of(kind)
        if at in near
    }
    ordered = (overlap.Direction.ASCENDING, overlap.Direction.DESCENDING)
    if any([direction in ordered for direction in found.values()]):
        return None
    return {at for at, direction in found.items() if direction is overlap.Direction.COPY}


def _span(address: int, leaf: Kind, shape: Shape) -> overlap.Span:
    """Return where the elements of memory of a kind lie, seen in a shape that may be longer."""
    skip = len(shape) - leaf.rank
    steps = (0,) * skip + strides_of(leaf, shape[skip:])
    return overlap.Span(
        address, shape, tuple([step * leaf.itemsize for step in steps]), leaf.itemsize
    )


class _Parts:
    """What has been materialised of one expression: equal parts are so once."""

    __slots__ = ("copied", "known", "operands")

    def __init__(self, operands: tuple[Any, ...], copied: Collection[int]) -> None:
        self.operands = operands
        self.copied = copied
        self.known: dict[Any, Part] = {}

    def of(self, kind: Kind, shape: Shape, start: int) -> Part | None:
        """Return what is left of a part whose operands begin at ``start``; None if it fails."""
        own = shape[len(shape) - kind.rank :]
        if not (self.copied or kind.apart):
            return kind, self.operands[start : start + kind.items]
        if kind.op is None:
            items = self.operands[start : start + kind.items]
            return self.copy(kind, own, items) if start in self.copied else (kind, items)
        folds = isinstance(kind.op, Reduction)
        inner: Shape = self.operands[start] if folds else own
        at, parts = start + folds, []
        for arg in kind.args:
            part = self.of(arg, inner, at)
            if part is None:
                return None
            parts.append(part)
            at += arg.items
        if isinstance(kind.op, Reduction):
            return self.value(kind.op, inner, *parts[0])
        assert isinstance(kind.op, Op)
        kinds = tuple([part[0] for part in parts])
        made = kind if kinds == kind.args else elementwise(kind.op, kind.dtype, kinds)
        items = sum([part[1] for part in parts], ())
        return self.asked(made, own, items) if kind.hosted else (made, items)

    def value(self, op: Reduction, shape: Shape, body: Kind, items: tuple[Any, ...]) -> Part | None:
        """Return a fold over all elements as memory of one value."""
        kind = reduction(op, body)
        key = kind, shape, *map(id, items)
        found = self.known.get(key)
        if found is None:
            size = math.prod(shape)
            program = program_for(kind, program_of(kind), size)
            buffer = computed(program, shape, size, items)
            if buffer is None:
                return None
            counters.temporaries += 1
            single = row_major(kind.dtype, 0, program.result.fixed)
            found = self.known[key] = single, (buffer.snapshot(), 0)
        return found

    def asked(self, kind: Kind, shape: Shape, operands: tuple[Any, ...]) -> Part | None:
        """Return what NumPy makes of few elements, which no kernel computes, as memory."""
        program, size = program_of(kind), math.prod(shape)
        if program.__class__ is not HostCall or not 0 < size <= FEW_ASKED:
            return None
        given: list[Any] = []
        at = 0
        for arg in kind.args:
            items, at = operands[at : at + arg.items], at + arg.items
            if arg.scalar:
                given.append(arg.dtype.type(*items))
                continue
            buffer = computed(program_of(arg), shape, size, items)
            if buffer is None:
                return None
            given.append(buffer.array(arg.dtype, shape))
            counters.temporaries += 1
        buffer = Buffer.allocate(size * kind.itemsize)
        buffer.array(kind.dtype, shape)[...] = silently(program.function, *given)
        counters.temporaries += 1
        return program.result, (buffer.snapshot(), 0)

    def copy(self, leaf: Kind, shape: Shape, items: tuple[Any, ...]) -> Part | None:
        """Return a copy of an operand: of its elements, if it is stretched."""
        steps = leaf.strides or row_major_strides(shape)
        own = tuple([n if step else 1 for n, step in zip(shape, steps, strict=True)])
        key = leaf, own, *map(id, items)
        found = self.known.get(key)
        if found is None:
            buffer = computed(program_of(leaf), own, math.prod(own), items)
            if buffer is None:
                return None
            counters.temporaries += 1
            dense = row_major_strides(own)
            strides = tuple([b if a else 0 for a, b in zip(steps, dense, strict=True)])
            kind = leaf_of(leaf.dtype, shape, strides, leaf.loose().fixed)
            found = self.known[key] = kind, (buffer.snapshot(), 0)
        return found
