"""How an operand's memory relates to the target's, for every pair of layouts.

**Strided** operands are one problem of `overlap`.

**Views of one tiled array** share memory just where they share elements, because a layout gives
every element a place of its own.  So they are compared in the numbering of the array's elements,
which is row-major, and are one problem of `overlap` as well; tiles play no part in it.
They do in the order of loops.  Where views of one array meet in other elements than their own,
`traversals` names dimensions along which one slab after the other may be written: each element is
then read in an earlier slab than it is written in, or in the same.

**Anything else** is compared box by box: in every box of the split index set each element is read
where it is written, or no byte of one is a byte of the other, or the operand is copied first.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from ..index.transform import FIXED, IndexMap
from ..ir.node import Leaf
from ..layout.splitting import TooManyBoxes, split_index_set
from ..layout.strided import Strided
from ..layout.tiled import Map, TiledMap
from ..memory.block import Memory
from ..memory.target import Target
from .overlap import Direction, Span, classify, may_share

#: Pairs of boxes to compare before giving up.
MOST_PAIRS = 1024

_UNORDERED = frozenset((Direction.DISJOINT, Direction.SAME))


def direction_of(target: Target, leaf: Leaf, layout: Map) -> Direction:
    """Classify the elements of ``leaf`` that ``layout`` (based at the leaf's start) reads."""
    if isinstance(target.map, Strided) and isinstance(layout, Strided):
        size = leaf.dtype.itemsize
        start = leaf.snapshot.address + leaf.map.byte_start(size)
        whole = _span(target.buffer.address, target.map, target.dtype.itemsize)
        return classify(whole, _span(start, layout, size))
    views = _same_array(target, leaf, layout)
    if views is None:
        return _by_boxes(target, leaf, layout)
    direction = classify(_numbers(views[0]), _numbers(views[1]))
    # A direction is one of addresses in a row-major array: no order of tiles.
    return direction if direction in _UNORDERED else Direction.COPY


def shares(target: Target, leaf: Leaf) -> bool:
    """Tell whether a leaf and the target may have a byte in common."""
    first, last, _ = target.span()
    low, high = leaf.map.byte_range(leaf.dtype.itemsize)
    base = leaf.snapshot.address
    if first > base + high or base + low > last:
        return False
    views = _same_array(target, leaf, leaf.map)
    if views is not None:
        return may_share(_numbers(views[0]), _numbers(views[1]))
    mine = _bit_spans(target.buffer, target.map, target.dtype.itemsize)
    theirs = _bit_spans(leaf.snapshot, leaf.map, leaf.dtype.itemsize)
    if mine is None or theirs is None or len(mine) * len(theirs) > MOST_PAIRS:
        return True
    return any(may_share(a, b) for a, b in itertools.product(mine, theirs))


class Traversal(NamedTuple):
    """An order of the loops in which views of one tiled array may be assigned to each other.

    Attributes
    ----------
    axis : int
        The dimension along which one slab follows the other.
    falling : bool
        Whether the last slab comes first.
    most : int
        Indices of one slab at most, such that none of its elements is read in another place of
        the slab; 0 if a slab may be of any length and elements that it reads from itself differ
        along ``axis`` only.
    """

    axis: int
    falling: bool
    most: int


def traversals(target: Target, leaf: Leaf, layout: Map) -> list[Traversal]:
    """Return the orders that are right for an operand whose direction is `Direction.COPY`."""
    views = _same_array(target, leaf, layout)
    moves = None if views is None else _moves(*views)
    if moves is None:
        return []
    shape = target.map.shape
    directions = {
        k: classify(_line(written, shape[k]), _line(read, shape[k]))
        for k, (written, read) in moves.items()
    }
    still = [k for k, direction in directions.items() if direction is Direction.SAME]
    found = []
    for k, direction in directions.items():
        if direction not in (Direction.ASCENDING, Direction.DESCENDING):
            continue
        written, read = moves[k]
        # The direction is one of positions in the array, which a negative step counts down.
        falling = (direction is Direction.DESCENDING) != (written.step < 0)
        if len(still) == len(moves) - 1:
            found.append(Traversal(k, falling, 0))
        elif written.step == read.step:
            # Every element is read as many indices ahead: a shorter slab reads none of its own.
            found.append(Traversal(k, falling, abs((read.start - written.start) // written.step)))
    return found


def _moves(target: TiledMap, source: TiledMap) -> dict[int, tuple[IndexMap, IndexMap]] | None:
    """Return which indices of the array are written and read along each dimension of two views.

    None for a transpose, where what is read along a dimension depends on another one.
    """
    shape = target.shape

    def axis_of(place: IndexMap) -> int:
        return FIXED if place.axis == FIXED or shape[place.axis] == 1 else place.axis

    moves = {}
    for written, read in zip(target.step.maps, source.step.maps, strict=True):
        k, follows = axis_of(written), axis_of(read)
        if follows not in (k, FIXED):
            return None
        if k != FIXED:
            moves[k] = written, read if follows == k else read._replace(step=0)
    return moves


def _line(place: IndexMap, extent: int) -> Span:
    """Return the indices along one dimension as a span."""
    return Span(place.start, (extent,), (place.step,), 1)


def _same_array(target: Target, leaf: Leaf, layout: Map) -> tuple[TiledMap, TiledMap] | None:
    """Return both maps if they are views of one tiled array in one place, else None."""
    mine = target.map
    if not isinstance(mine, TiledMap) or not isinstance(layout, TiledMap):
        return None
    if (mine.layout, mine.dimensions, mine.bits) != (layout.layout, layout.dimensions, layout.bits):
        return None
    place = target.buffer.address * 8 + mine.offset * mine.bits
    start = leaf.map.byte_start(leaf.dtype.itemsize) if layout is not leaf.map else 0
    other = (leaf.snapshot.address + start) * 8 + layout.offset * layout.bits
    return (mine, layout) if place == other else None


def _numbers(view: TiledMap) -> Span:
    """Return a view's elements in the numbering of the whole array's."""
    place = Strided.row_major(view.dimensions).apply(view.step)
    return Span(place.offset, place.shape, place.strides, 1)


def _span(address: int, layout: Strided, size: int) -> Span:
    strides = tuple([s * size for s in layout.strides])
    return Span(address + layout.offset * size, layout.shape, strides, size)


def _bit_spans(buffer: Memory, layout: Map, size: int) -> list[Span] | None:
    """Return the boxes of a layout as spans counted in bits (elements may share bytes)."""
    bits = layout.bits_of(size)
    width = min(bits, 8 * size)
    try:
        boxes = split_index_set(layout.shape, [layout])
    except TooManyBoxes:
        return None
    spans = [_span(buffer.address * 8, box.layouts[0], bits) for box in boxes]
    return [span._replace(itemsize=width) for span in spans]


def _by_boxes(target: Target, leaf: Leaf, layout: Map) -> Direction:
    if not shares(target, leaf):
        return Direction.DISJOINT
    to_bits = target.map.bits_of(target.dtype.itemsize)
    from_bits = layout.bits_of(leaf.dtype.itemsize)
    if to_bits != from_bits or target.dtype.itemsize != leaf.dtype.itemsize:
        return Direction.COPY
    distance = target.span()[2] - leaf.snapshot.address
    distance -= leaf.map.byte_start(leaf.dtype.itemsize)
    try:
        boxes = split_index_set(layout.shape, [target.map.based(), layout])
    except TooManyBoxes:
        return Direction.COPY
    same = all(
        written.strides == read.strides
        and distance * 8 + (written.offset - read.offset) * to_bits == 0
        for written, read in [box.layouts for box in boxes]
    )
    return Direction.SAME if same else Direction.COPY
