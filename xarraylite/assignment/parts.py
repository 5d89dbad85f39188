"""Parts of a small expression, materialised before the rest of it.

``v - mean(v)`` is one kind whatever the length of ``v``, but no one kernel: the fold is a program
of its own, and what is made of its value another.  So is ``v[1:] += v[:-1]``, whose operands
are written before they are read: it is computed apart and then copied (`assignment.writes`).  All
these programs serve any extents.  A plan, which fuses what it can, is made for one shape; so what
is evaluated for the first or second time with its extents is computed in parts, and a loop over
ever new lengths plans nothing.  What NumPy alone computes (``exp`` of complex numbers) is such a
part of few elements at any time, as a plan that calls NumPy is not kept ready.  The kernels are
those of a plan, and so are the bits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Container, Iterator, Sequence
from typing import Any

from .._later import direct, overlap
from ..ir.kind import NODE, Kind, elementwise, leaves_of, reduction, row_major, strides_of
from ..ir.node import Shape
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


def program_into(kind: Kind, target: Kind, same: tuple[bool, ...] | None) -> Any:
    """Return the kernel that writes a kind to memory of another, False where there is none.

    ``same`` tells which operands are the destination's own elements; None: none shares a byte.
    """
    program: Any = kind.writes.get(key_of(same, target))
    if program is None:
        program = direct.writes(kind, target, same) or False
        kind.keep(key_of(same, target), program)
    return program


def key_of(same: tuple[bool, ...] | None, target: Kind) -> tuple[Any, Any]:
    """Return by what such a kernel is kept; machine code knows the first of the two."""
    return (target, None) if same is None else (same, target)


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


def materialised(kind: Kind, shape: Shape, operands: Sequence[Any]) -> Part | None:
    """Return an expression in which folds are memory of one value.

    Returns
    -------
    tuple of (Kind, tuple), or None
        The kind of what is left and its operands; None where nothing is to be done first, or a
        part takes more than one launch.
    """
    if kind.formed or uses_reference():
        return None
    *first, last = pieces_of(kind) or (None,)
    if last is None or not first:
        return None
    values: list[Any] = []
    known: dict[Any, Any] = {}

    def given(step: Piece) -> tuple[Any, ...]:
        return tuple([operands[k] if k >= 0 else values[~k] for k in step[2]])

    for step in first:
        items, inner = given(step), shape if step[3] is None else operands[step[3]]
        own = inner[len(inner) - step[0].rank :]  # memory that is stretched has no extents
        key = step[0], own, *map(id, items)
        if key not in known:  # equal parts are computed once
            known[key] = _value(step[0], own, items)
        if known[key] is None:
            return None
        values += (known[key].snapshot(), 0)
    return last[0], given(last)


#: A launch by which a part of a kind is computed, or what is left: a kind and its operands, packed
#: for machine code with their number in front, and as they are.  Those of the whole are known by
#: their numbers; of what the launch n before has made, ~2n is the memory and ~(2n + 1) where it
#: begins.  Last the operand that is the shape of what is folded around the part, None without one.
Piece = tuple[Kind, bytes, tuple[int, ...], int | None]


def pieces_of(kind: Kind) -> tuple[Piece, ...] | None:
    """Return the launches that compute a kind without forms; None if a part takes more than one."""
    known: Any = kind.pieces
    if known is None:
        found: list[Piece] = []
        left = _cut(kind, 0, None, found)
        known = False
        if left is not None:
            known = (*found, _piece(*left, None))
        kind.pieces = known
    return known or None


def _piece(kind: Kind, places: Sequence[int], inner: int | None) -> Piece:
    return kind, struct.pack(f"{len(places) + 1}q", len(places), *places), tuple(places), inner


def _cut(
    kind: Kind, start: int, inner: int | None, found: list[Piece]
) -> tuple[Kind, list[int]] | None:
    """Append the pieces of a part whose operands begin at ``start``; return what is left of it."""
    if not kind.apart:
        return kind, [*range(start, start + kind.items)]
    folds = isinstance(kind.op, Reduction)
    at, kinds, places = start + folds, list[Kind](), [start] if folds else []
    for arg in kind.args:
        part = _cut(arg, at, start if folds else inner, found)
        if part is None:
            return None
        kinds.append(part[0])
        places += part[1]
        at += arg.items
    own, made = tuple(kinds), kind
    if isinstance(kind.op, Reduction):
        made = reduction(kind.op, *own)
    elif own != kind.args:
        assert isinstance(kind.op, Op)
        made = elementwise(kind.op, kind.dtype, own)
    if not (folds or kind.hosted):
        return made, places
    program = program_of(made)
    if program.__class__ is not (Direct if folds else HostCall):
        return None
    n = len(found)
    found.append(_piece(made, places, inner))
    result = row_major(kind.dtype, 0, program.result.fixed) if folds else program.result
    return result, [~(2 * n), ~(2 * n + 1)]


def _value(kind: Kind, shape: Shape, items: tuple[Any, ...]) -> Buffer | None:
    """Return what one piece computes as new memory; None if it refuses."""
    program = program_of(kind)
    counters.temporaries += 1
    if program.__class__ is HostCall:
        return _asked(kind, program, shape, items)
    size = math.prod(items[0])
    return computed(program_for(kind, program, size), items[0], size, items[1:])


def _asked(kind: Kind, program: HostCall, shape: Shape, operands: tuple[Any, ...]) -> Buffer | None:
    """Return what NumPy makes of few elements, which no kernel computes, as memory."""
    size = math.prod(shape)
    if not 0 < size <= FEW_ASKED:
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
    return buffer


def places_of(kind: Kind) -> Iterator[tuple[int, Kind]]:
    """Yield the place among the operands of each leaf of a kind without folds."""
    at = 0
    for leaf in leaves_of(kind):
        yield at, leaf
        at += leaf.items


def meeting(
    to: Any, kind: Kind, operands: Sequence[Any], near: Container[int]
) -> set[overlap.Direction]:
    """Return how the operands of an expression relate to a container that it is written to.

    Parameters
    ----------
    to : container
        What is written.
    kind, operands
        What it is written with: an expression of its shape without folds.
    near : container of int
        The places of the operands in its buffer.
    """
    place = _span(to._buffer.address + to._start, to._kind, to._shape)
    return {
        overlap.classify(place, _span(operands[at].address + operands[at + 1], leaf, to._shape))
        for at, leaf in places_of(kind)
        if at in near
    }


def _span(address: int, leaf: Kind, shape: Shape) -> overlap.Span:
    """Return where the elements of memory of a kind lie, seen in a shape that may be longer."""
    skip = len(shape) - leaf.rank
    steps = (0,) * skip + strides_of(leaf, shape[skip:])
    return overlap.Span(
        address, shape, tuple([step * leaf.itemsize for step in steps]), leaf.itemsize
    )
