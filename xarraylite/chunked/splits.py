"""Expressions with a dimension split in two, parts and what is in them, or in another order.

Neighbouring dimensions are merged, some positions of what they become are selected, and these are
divided into parts of equal length.  Done at the operands, so that what is folded is memory as it
would be of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..index.broadcast import broadcast_shapes
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

    try:
        return _at_operands(root, divided)
    except _Stretched:
        return None


def turned(root: Node, order: Sequence[int]) -> Node:
    """Return an expression with its dimensions in another order, done at the operands."""

    def moved(node: Node) -> Node:
        full = (1,) * (len(root.shape) - len(node.shape)) + node.shape
        return build.view(build.reshape(node, full), permute(full, order))

    return _at_operands(root, moved)


def _at_operands(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return an expression with the operands of its elementwise operations changed."""
    made = dict[Node, Node]()
    for node in depth_first([root], lambda x: x.args if isinstance(x, Elementwise) else ()):
        if isinstance(node, Elementwise):
            operands = tuple([made[arg] for arg in node.operands])
            shape = broadcast_shapes(*[arg.shape for arg in operands])
            made[node] = replace(node, shape=shape, operands=operands)
        else:
            made[node] = change(node)
    return made[root]


class _Stretched(Exception):
    """An operand does not have all the dimensions that are merged."""
