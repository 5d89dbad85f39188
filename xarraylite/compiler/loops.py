"""Loop nests: which dimensions to loop over, in which order, merged as far as they go.

Everything a kernel walks along is an *address stream*: a byte address (or, for an iota, a value)
that changes by a fixed stride along each dimension.  A nest is made in four steps.  Dimensions of
extent 1 are dropped.  Dimensions along which the destination runs backwards are reversed for all
streams, so destination addresses only grow.  Dimensions are sorted by destination stride, the
smallest innermost.  Neighbours that step as one for every stream are merged.  Same layout
everywhere thus becomes one flat loop.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._records import record
from ..layout.strided import Strided


@record(frozen=True, slots=True)
class AddressStream:
    """One address or value that moves with the loops.

    Attributes
    ----------
    start : int
        Distance from the operand's base at index 0, in bytes (for an iota, the value).
    strides : tuple of int
        Change along each dimension.
    """

    start: int
    strides: tuple[int, ...]


@record(frozen=True, slots=True)
class Nest:
    """A loop nest, outermost dimension first.

    Attributes
    ----------
    extents : tuple of int
        Trip counts; at least one dimension.
    streams : tuple of AddressStream
        The streams in the order given, over these dimensions.
    """

    extents: tuple[int, ...]
    streams: tuple[AddressStream, ...]

    @property
    def outer(self) -> int:
        """Iterations of all loops but the innermost."""
        return math.prod(self.extents[:-1])


def address_stream(layout: Strided, unit: int) -> AddressStream:
    """Return how a layout is walked, with ``unit`` bytes per element (1 for an iota)."""
    return AddressStream(layout.offset * unit, tuple([s * unit for s in layout.strides]))


def normalise(shape: Sequence[int], streams: Sequence[AddressStream], lead: int = 0) -> Nest:
    """Return the nest that visits ``shape`` in address order of stream ``lead``."""
    starts = [w.start for w in streams]
    dims: list[tuple[int, list[int]]] = []
    for k, extent in enumerate(shape):
        if extent == 1:
            continue
        strides = [w.strides[k] for w in streams]
        if strides[lead] < 0:
            starts = [s + (extent - 1) * t for s, t in zip(starts, strides, strict=True)]
            strides = [-t for t in strides]
        dims.append((extent, strides))
    # Where the lead does not move (a reduced dimension) the others decide, largest strides out.
    # Those that move alike count once, however often an operand that is read again is listed.
    moves = {w.strides: k for k, w in enumerate(streams)}.values()
    dims.sort(key=lambda dim: (dim[1][lead], sum([abs(dim[1][k]) for k in moves])), reverse=True)
    filled = merge(dims) or [(1, [0] * len(starts))]
    return Nest(
        tuple([extent for extent, _ in filled]),
        tuple(
            [
                AddressStream(start, tuple([strides[w] for _, strides in filled]))
                for w, start in enumerate(starts)
            ]
        ),
    )


def merge(dims: Sequence[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
    """Join neighbouring dimensions that every stream steps through as one."""
    merged: list[tuple[int, list[int]]] = []
    for extent, strides in dims:
        if merged:
            above, steps = merged[-1]
            if all(s == t * extent for s, t in zip(steps, strides, strict=True)):
                merged[-1] = (above * extent, strides)
                continue
        merged.append((extent, strides))
    return merged


def reverse(nest: Nest, loops: int) -> Nest:
    """Return the nest with so many of its loops, the outermost ones, running backwards."""
    streams = []
    for w in nest.streams:
        steps = w.strides[:loops]
        end = sum([(n - 1) * s for n, s in zip(nest.extents, steps, strict=False)])
        streams.append(AddressStream(w.start + end, (*[-s for s in steps], *w.strides[loops:])))
    return Nest(nest.extents, tuple(streams))


def move_to_end(nest: Nest, *dims: int) -> Nest:
    """Return the nest with some of its dimensions innermost, in that order."""
    order = [d for d in range(len(nest.extents)) if d not in dims] + list(dims)
    return Nest(
        tuple([nest.extents[d] for d in order]),
        tuple([AddressStream(w.start, tuple([w.strides[d] for d in order])) for w in nest.streams]),
    )


def deepen(nest: Nest, depth: int) -> Nest:
    """Return the nest with outermost loops of one pass, so that it has ``depth`` loops."""
    more = depth - len(nest.extents)
    if more <= 0:
        return nest
    streams = [AddressStream(w.start, (0,) * more + w.strides) for w in nest.streams]
    return Nest((1,) * more + nest.extents, tuple(streams))


def split(
    shape: Sequence[int], streams: Sequence[AddressStream], axes: Sequence[int], lead: int
) -> tuple[Nest, Nest]:
    """Return the nests of a reduction: over the kept dimensions and over the reduced ``axes``.

    The starts are those of the kept nest; the reduced nest's streams start at 0.
    """
    kept = [k for k in range(len(shape)) if k not in axes]

    def part(dims: Sequence[int], first: bool) -> Nest:
        return normalise(
            [shape[k] for k in dims],
            [
                AddressStream(w.start if first else 0, tuple([w.strides[k] for k in dims]))
                for w in streams
            ],
            lead,
        )

    return part(kept, True), part(list(axes), False)
