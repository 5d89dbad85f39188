"""How an operand's memory relates to the target's, for every pair of layouts.

Strided operands are one problem of `storage.overlap`.  Tiled ones are compared box by box: over
the common refinement each element is read where it is written, or no byte of one is a byte of
the other; anything else is copied first, as there is no order of boxes to rely on.
"""

from __future__ import annotations

import itertools

from ..expr.node import Leaf
from ..layout.refine import TooManyBoxes, refine
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..storage.buffer import Buffer
from ..storage.overlap import Span, Verdict, classify, may_share
from .target import Target

#: Pairs of boxes to compare before giving up.
MOST_PAIRS = 1024


def verdict_of(target: Target, leaf: Leaf, layout: Map) -> Verdict:
    """Classify the elements of ``leaf`` that ``layout`` (based at the leaf's start) reads."""
    if isinstance(target.map, Strided) and isinstance(layout, Strided):
        size = leaf.dtype.itemsize
        start = leaf.reading.buffer.address + leaf.map.byte_start(size)
        whole = _span(target.buffer.address, target.map, target.dtype.itemsize)
        return classify(whole, _span(start, layout, size))
    return _by_boxes(target, leaf, layout)


def shares(target: Target, leaf: Leaf) -> bool:
    """Tell whether a leaf and the target may have a byte in common."""
    first, last, _ = target.span()
    low, high = leaf.map.byte_range(leaf.dtype.itemsize)
    base = leaf.reading.buffer.address
    if first > base + high or base + low > last:
        return False
    mine = _bit_spans(target.buffer, target.map, target.dtype.itemsize)
    theirs = _bit_spans(leaf.reading.buffer, leaf.map, leaf.dtype.itemsize)
    if mine is None or theirs is None or len(mine) * len(theirs) > MOST_PAIRS:
        return True
    return any(may_share(a, b) for a, b in itertools.product(mine, theirs))


def _span(address: int, layout: Strided, size: int) -> Span:
    strides = tuple([s * size for s in layout.strides])
    return Span(address + layout.offset * size, layout.shape, strides, size)


def _bit_spans(buffer: Buffer, layout: Map, size: int) -> list[Span] | None:
    """Return the boxes of a layout as spans counted in bits (elements may share bytes)."""
    bits = layout.bits_of(size)
    width = min(bits, 8 * size)
    try:
        boxes = refine(layout.shape, [layout])
    except TooManyBoxes:
        return None
    return [
        Span(
            buffer.address * 8 + box.layouts[0].offset * bits,
            box.layouts[0].shape,
            tuple([s * bits for s in box.layouts[0].strides]),
            width,
        )
        for box in boxes
    ]


def _by_boxes(target: Target, leaf: Leaf, layout: Map) -> Verdict:
    if not shares(target, leaf):
        return Verdict.DISJOINT
    to_bits = target.map.bits_of(target.dtype.itemsize)
    from_bits = layout.bits_of(leaf.dtype.itemsize)
    if to_bits != from_bits or target.dtype.itemsize != leaf.dtype.itemsize:
        return Verdict.COPY
    distance = target.span()[2] - leaf.reading.buffer.address
    distance -= leaf.map.byte_start(leaf.dtype.itemsize)
    try:
        boxes = refine(layout.shape, [target.map.based(), layout])
    except TooManyBoxes:
        return Verdict.COPY
    same = all(
        written.strides == read.strides
        and distance * 8 + (written.offset - read.offset) * to_bits == 0
        for written, read in [box.layouts for box in boxes]
    )
    return Verdict.SAME if same else Verdict.COPY
