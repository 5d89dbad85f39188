"""Iterative walks over expression graphs: no recursion, each shared node visited once."""

from __future__ import annotations

from collections.abc import Callable

from .node import Node


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


def rebuild(root: Node, visit: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """Return the graph with every node replaced by ``visit(node, new arguments)``."""
    made: dict[int, Node] = {}
    for node in postorder(root):
        made[id(node)] = visit(node, tuple([made[id(arg)] for arg in node.args]))
    return made[id(root)]
