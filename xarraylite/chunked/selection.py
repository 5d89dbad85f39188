"""Selections: which positions along each dimension a block of an expression needs.

Along one dimension a selection is a `range` with a positive step, or `Picked`: ascending positions
in no such order.  A *box* is one selection per dimension.  Views take ranges to ranges (a step
multiplies, a reversal is undone by the view), so what a block needs of an operand is known exactly,
however many views lie between.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from ..dtypes.names import NumpyArray, int64
from ..index.transform import IndexMap, Transform
from ..ir import build
from ..ir.node import Leaf, Node
from ..layout.strided import Strided
from ..memory.buffer import Buffer

Positions = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class Picked:
    """Ascending positions along a dimension.

    Attributes
    ----------
    values : numpy.ndarray
        The positions, each once.
    """

    __slots__ = ("_key", "values")

    def __init__(self, values: Positions) -> None:
        self.values = values
        self._key = values.tobytes()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: int) -> int:
        return int(self.values[k])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Picked) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Picked({self[0]}..{self[-1]}, {len(self)})"


Selection: TypeAlias = range | Picked
Box: TypeAlias = tuple[Selection, ...]


def whole(shape: Sequence[int]) -> Box:
    """Return the box of all positions."""
    return tuple([range(extent) for extent in shape])


def shape_of(box: Box) -> tuple[int, ...]:
    """Return how many positions there are along each dimension."""
    return tuple([len(selection) for selection in box])


def size_of(box: Box) -> int:
    """Return how many elements a box selects."""
    return math.prod(shape_of(box))


def corner(box: Box) -> tuple[int, ...]:
    """Return the first position along each dimension."""
    return tuple([selection[0] for selection in box])


def picked(values: Positions) -> Selection:
    """Return ascending, distinct positions as a range where they are one."""
    count = len(values)
    if count == 1:
        return range(int(values[0]), int(values[0]) + 1)
    step = int(values[1] - values[0])
    if int(values[-1] - values[0]) == step * (count - 1) and bool((np.diff(values) == step).all()):
        return range(int(values[0]), int(values[-1]) + 1, step)
    return Picked(np.ascontiguousarray(values, np.int64))


def shifted(selection: Selection, by: int, times: int = 1) -> tuple[Selection, bool]:
    """Return the positions ``by + times * p``, ascending, and whether that reversed them."""
    if isinstance(selection, Picked):
        moved = selection.values * times + by
        return Picked(moved[::-1].copy() if times < 0 else moved), times < 0
    first, last = by + times * selection[0], by + times * selection[-1]
    if len(selection) == 1:
        return range(first, first + 1), False
    step = selection.step * times
    return (
        (range(first, last + 1, step), False) if step > 0 else (range(last, first + 1, -step), True)
    )


def inside(selection: Selection, low: int, high: int) -> Selection | None:
    """Return the positions from ``low`` up to ``high``, counted from ``low``; None if none."""
    if isinstance(selection, Picked):
        found = selection.values[(selection.values >= low) & (selection.values < high)] - low
        return Picked(found) if len(found) else None
    own = selection[place_of(selection, low, high)[0]]
    return shifted(own, -low)[0] if own else None


def place_of(selection: range, low: int, high: int) -> tuple[slice, slice]:
    """Return which of the positions lie from ``low`` up to ``high``, and where, counted from it."""
    start, step = selection.start, selection.step
    first = max(0, -((start - low) // step))  # of the first position not below `low`
    last = max(first, min(len(selection), -((start - high) // step)))
    at = start + first * step - low
    return slice(first, last), slice(at, at + (last - first - 1) * step + 1, step)


def owners_of(selection: Selection, chunk: int) -> Sequence[int]:
    """Return the chunks that a selection touches along a dimension."""
    if not isinstance(selection, range):
        return sorted(set((selection.values // chunk).tolist()))
    if selection.step > chunk:
        return sorted({p // chunk for p in selection})
    return range(selection[0] // chunk, selection[-1] // chunk + 1)


def parts_of(
    box: Sequence[Any], chunks: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...], Any]]:
    """Yield the parts of ranges by chunks: which chunk, where in the box, and which positions."""
    sides = []
    for s, c in zip(box, chunks, strict=True):
        found = [(k, place_of(s, k * c, (k + 1) * c)[0]) for k in owners_of(s, c)]
        sides.append([(k, at, s[at]) for k, at in found])
    for part in itertools.product(*sides):
        index, at, own = zip(*part, strict=True) if part else ((), (), ())
        yield index, at, own


def place_in(around: Box, box: Box) -> tuple[slice, ...]:
    """Return where a box of ranges without steps lies in another one."""
    return tuple([slice(s[0] - a[0], s[-1] + 1 - a[0]) for s, a in zip(box, around, strict=True)])


def hull(selection: Selection) -> range:
    """Return all positions from the first to the last one."""
    return range(selection[0], selection[-1] + 1)


def offsets(selection: Selection) -> NumpyArray:
    """Return the positions, counted from the first one."""
    return np.asarray(getattr(selection, "values", selection)) - selection[0]


def runs(selection: Selection, length: int) -> Iterator[tuple[int, int, range, NumpyArray]]:
    """Yield positions by chunks of ``length``: from and to which, what they lie in, and where."""
    if isinstance(selection, range):
        yield 0, len(selection), hull(selection), offsets(selection)
        return
    owner = selection.values // length
    edges = [0, *(np.flatnonzero(np.diff(owner)) + 1).tolist(), len(owner)]
    for low, high in itertools.pairwise(edges):
        own = selection.values[low:high]
        yield low, high, range(int(own[0]), int(own[-1]) + 1), own - own[0]


def index_leaf(values: Positions) -> Leaf:
    """Return positions as an index of a `Gather`."""
    layout = Strided.row_major(values.shape)
    buffer = Buffer.allocate(values.size * int64.itemsize)
    buffer.view(int64, layout)[...] = values
    return Leaf(values.shape, int64, buffer.snapshot(), layout)


def select(node: Node, box: Box) -> Node:
    """Return the elements of a node that a box selects, as a view of it."""
    if box == whole(node.shape):
        return node
    sides = zip(box, node.shape, strict=True)
    made = build.view(
        node, window(tuple([s if isinstance(s, range) else range(n) for s, n in sides]))
    )
    for axis, selection in enumerate(box):
        if isinstance(selection, Picked):
            made = build.gather(made, axis, index_leaf(selection.values))
    return made


def window_of(low: Sequence[int], high: Sequence[int]) -> Box:
    """Return the box from one corner up to another."""
    return tuple([range(a, b) for a, b in zip(low, high, strict=True)])


def chunk_of(
    shape: Sequence[int], chunks: Sequence[int], index: Sequence[int]
) -> tuple[range, ...]:
    """Return the box of one of the chunks, or blocks, that a shape is divided into."""
    sides = zip(shape, chunks, index, strict=True)
    return tuple([range(k * c, min(n, (k + 1) * c)) for n, c, k in sides])


def window(box: Box) -> Transform:
    """Return the view of what ranges select."""
    ranges = [s for s in box if isinstance(s, range)]
    return Transform(
        shape_of(box), tuple([IndexMap(s.start, s.step, k) for k, s in enumerate(ranges)])
    )


def as_slices(box: Box) -> tuple[Any, ...]:
    """Return ranges as slices."""
    return tuple([slice(s.start, s.stop, s.step) for s in box if isinstance(s, range)])


def text_of(box: Box) -> str:
    """Return a box as messages show it."""
    parts = []
    for s in box:
        step = f":{s.step}" if isinstance(s, range) and s.step != 1 and len(s) > 1 else ""
        parts.append(f"{s[0]}:{s[-1] + 1}{step}")
    return f"[{', '.join(parts)}]"


def chunks_text(box: Box, chunks: Sequence[int]) -> str:
    """Return the first and the last chunk that a box touches, as messages show them."""
    first = tuple([s[0] // c for s, c in zip(box, chunks, strict=True)])
    last = tuple([s[-1] // c for s, c in zip(box, chunks, strict=True)])
    return f"{first}" if first == last else f"{first} to {last}"
