"""Iterative walks over expression graphs: no recursion, each shared node visited once."""

from __future__ import annotations

from collections.abc import Callable

from .node import Node


def postorder(root: Node) -> list[Node]:
    """Return every node of the graph, arguments before the nodes that use them."""
    order: list[Node] = []
    done: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        key = id(node)
        if ready:
            order.append(node)
        elif key not in done:
            done.add(key)
            stack.append((node, True))
            for arg in reversed(node.args):
                if id(arg) not in done:
                    stack.append((arg, False))
    return order


def rebuild(root: Node, visit: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """Return the graph with every node replaced by ``visit(node, new arguments)``."""
    made: dict[int, Node] = {}
    for node in postorder(root):
        made[id(node)] = visit(node, tuple([made[id(arg)] for arg in node.args]))
    return made[id(root)]
