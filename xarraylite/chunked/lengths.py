"""Chunks of what is made: as asked, or those of an operand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._errors import ShapeError
from ..ir.build import describe
from ..ir.node import Node
from .cut import cut, requests
from .places import name_of
from .source import chunks_of


def chunks_for(
    root: Node, asked: int | Sequence[int] | None, operation: str, target: object = None
) -> tuple[int, ...]:
    """Return the chunks of a new target: as asked (-1: all), else those of an operand of its shape.

    Raises
    ------
    ShapeError
        If chunks are not one positive length for each dimension, or the target is there already.
    """
    shape = root.shape
    if asked is not None and hasattr(target, "shape"):
        raise ShapeError(
            f"{operation}: chunks {asked!r} are for a new array; the target {name_of(target)} of "
            f"{describe(root)} keeps its own"
        )
    if asked is not None:
        return chunks_of(asked, shape, f"{operation}:", even=True) or ()
    for node in requests(root):
        source: Any = node.source
        if node.shape == shape and source.chunks != shape:
            return tuple(source.chunks)
    block = [max(1, n) for n in shape]
    while math.prod(block) * root.dtype.itemsize > 4 << 20:
        axis = max(range(len(block)), key=lambda k: (block[k], -k))
        block[axis] = -(-block[axis] // 2)
    return tuple(block)


def lengths_of(root: Node) -> tuple[int, ...]:
    """Return how long blocks along each dimension are to read whole chunks; a guess where none do.

    Of several operands one that has as many elements as the expression, or dimensions, is asked
    first.  What a line of elements reads tells which dimension of it lies along one of the
    expression, and how far apart neighbours are on average.
    """
    shape = root.shape
    found = [min(n, 1024) for n in shape]
    for axis, extent in enumerate(shape):
        line = [range(n if k == axis else min(n, 1)) for k, n in enumerate(shape)]
        asked: list[Any] = [node.source for node in requests(cut(root, tuple(line)))]
        sides = [
            (
                math.prod(x.source.shape) != math.prod(shape),
                len(x.box) != len(shape),
                -(-c * (len(s) - 1) // (s[-1] - s[0])),
            )
            for x in asked
            for s, c in zip(x.box, x.source.chunks, strict=True)
            if len(s) > 1
        ]
        if sides:
            found[axis] = max(1, min(extent, min(sides, key=lambda side: side[:2])[2]))
    return tuple(found)
