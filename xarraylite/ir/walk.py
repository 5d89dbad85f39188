"""Iterative walks over expression graphs: no recursion, each shared node visited once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .node import (
    Concat,
    Elementwise,
    Gather,
    Leaf,
    Node,
    Reduce,
    SegmentReduce,
    Source,
    Stored,
    View,
)


def postorder(root: Node) -> list[Node]:
    """Return every node of the graph, arguments before the nodes that use them."""
    order: list[Node] = []
    entered: set[int] = set()
    done: set[int] = set()
    stack = [root]
    while stack:
        node = stack[-1]
        key = id(node)
        if key in entered:  # its arguments are in order now, unless it was met twice
            stack.pop()
            if key not in done:
                done.add(key)
                order.append(node)
            continue
        entered.add(key)
        for arg in reversed(node.args):
            if id(arg) not in entered:
                stack.append(arg)
    return order


def source_of(root: Node) -> Source | None:
    """Return where an operand that is no memory is kept; None if all operands are memory."""
    return next((node.source for node in postorder(root) if isinstance(node, Stored)), None)


def rebuild(root: Node, visit: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """Return the graph with every node replaced by ``visit(node, new arguments)``."""
    made: dict[int, Node] = {}
    for node in postorder(root):
        made[id(node)] = visit(node, tuple([made[id(arg)] for arg in node.args]))
    return made[id(root)]


def with_args(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a node with other arguments of the same shapes and dtypes."""
    if args == node.args:
        return node
    if isinstance(node, Elementwise):
        return replace(node, operands=args)
    if isinstance(node, Concat):
        return replace(node, parts=args)
    if isinstance(node, SegmentReduce):
        offsets = args[1]
        assert isinstance(offsets, Leaf)
        return replace(node, arg=args[0], offsets=offsets)
    if isinstance(node, View | Reduce):
        return replace(node, arg=args[0])
    assert isinstance(node, Gather)
    index = args[1]
    assert isinstance(index, Leaf)
    return replace(node, arg=args[0], index=index)
