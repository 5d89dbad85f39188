"""Expressions with a dimension split in two, parts and what is in them, or in another order.

Neighbouring dimensions are merged, some positions of what they become are selected, and these are
divided into parts of equal length.  Done at the operands, so that what is folded is memory as it
would be of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..index.transform import permute
from ..ir import build
from ..ir.node import Elementwise, Node
from ..ir.walk import depth_first
from .selection import select, whole


def split(root: Node, dims: tuple[int, int], start: int, count: int, unit: int) -> Node | None:
    """Return an expression with some dimensions merged, and ``count`` times ``unit`` of them.

    Done at the operands, so that what is folded is memory as it would be of the whole.  None if an
    operand is stretched along some of the dimensions only.
    """
    rank = len(root.shape)
    first, last = dims
    extents = root.shape[first : last + 1]

    def divided(node: Node) -> Node:
        skip = rank - len(node.shape)
        if last < skip:
            return node
        if first < skip:
            node = build.reshape(node, (1,) * (skip - first) + node.shape)
            skip = first
        at, end = first - skip, last - skip + 1
        own = node.shape[at:end]
        if all([n == 1 for n in own]) and math.prod(extents) != 1:
            return build.reshape(node, (*node.shape[:at], 1, 1, *node.shape[end:]))
        if own != extents:
            raise _Stretched
        merged = build.reshape(node, (*node.shape[:at], math.prod(own), *node.shape[end:]))
        box = (
            *whole(node.shape[:at]),
            range(start, start + count * unit),
            *whole(node.shape[end:]),
        )
        window = select(merged, box)
        return build.reshape(window, (*node.shape[:at], count, unit, *node.shape[end:]))

    made: dict[Node, Node] = {}
    try:
        for node in depth_first([root], _parts):
            if isinstance(node, Elementwise):
                shape = _shape_split(node.shape, rank, dims, count, unit)
                operands = tuple([made[arg] for arg in node.operands])
                made[node] = replace(node, shape=shape, operands=operands)
            else:
                made[node] = divided(node)
    except _Stretched:
        return None
    return made[root]


def turned(root: Node, order: Sequence[int]) -> Node:
    """Return an expression with its dimensions in another order, done at the operands."""
    rank, made = len(root.shape), dict[Node, Node]()
    for node in depth_first([root], _parts):
        full = (1,) * (rank - len(node.shape)) + node.shape
        if isinstance(node, Elementwise):
            operands = tuple([made[arg] for arg in node.operands])
            shape = tuple([full[k] for k in order])
            made[node] = replace(node, shape=shape, operands=operands)
        else:
            made[node] = build.view(build.reshape(node, full), permute(full, order))
    return made[root]


def _parts(node: Node) -> tuple[Node, ...]:
    return node.operands if isinstance(node, Elementwise) else ()


class _Stretched(Exception):
    """An operand does not have all the dimensions that are merged."""


def _shape_split(
    shape: tuple[int, ...], rank: int, dims: tuple[int, int], count: int, unit: int
) -> tuple[int, ...]:
    skip = rank - len(shape)
    first, last = dims
    if last < skip:
        return shape
    if first < skip:
        shape, skip = (1,) * (skip - first) + shape, first
    own = shape[first - skip : last - skip + 1]
    new = (1, 1) if all([n == 1 for n in own]) and count * unit != 1 else (count, unit)
    return (*shape[: first - skip], *new, *shape[last - skip + 1 :])
