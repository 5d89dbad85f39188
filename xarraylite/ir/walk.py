"""Iterative walks over graphs, of expressions above all: no recursion, each node visited once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from ..ops.reductions import Reduction
from ..ops.user import UserOp
from .node import (
    FREE,
    RANK,
    SHAPE,
    Concat,
    Elementwise,
    Gather,
    Iota,
    Leaf,
    Node,
    Reduce,
    Scalar,
    SegmentReduce,
    Source,
    Stored,
    View,
)

T = TypeVar("T")


def depth_first(starts: Iterable[T], before: Callable[[T], Iterable[T]]) -> Iterator[T]:
    """Yield all that is reached, each behind what has to stand before it.

    What that is, is asked once of each, when it is met first.

    Examples
    --------
    >>> list(depth_first([6], lambda n: [k for k in range(1, n) if n % k == 0]))
    [1, 2, 3, 6]
    """
    seen: set[T] = set()
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(before(start)))]
        while stack:
            for found in stack[-1][1]:
                if found not in seen:
                    seen.add(found)
                    stack.append((found, iter(before(found))))
                    break
            else:
                yield stack.pop()[0]


def postorder(root: Node) -> list[Node]:
    """Return every node of the graph, arguments before the nodes that use them."""
    return list(depth_first([root], _ARGUMENTS))


_ARGUMENTS: Callable[[Node], tuple[Node, ...]] = attrgetter("args")


def source_of(root: Node) -> Source | None:
    """Return where an operand that is no memory is kept; None if all operands are memory."""
    return next((node.source for node in postorder(root) if isinstance(node, Stored)), None)


def has_more(root: Node, most: int) -> bool:
    """Tell whether a graph has more nodes than that; no more of them are visited."""
    return len(_reached(root, most)) > most


def _reached(root: Node, most: int) -> set[int]:
    """Return the nodes of a graph by identity: all, or more than ``most`` of them."""
    found, stack = {id(root)}, [root]
    while stack and len(found) <= most:
        for arg in stack.pop().args:
            if id(arg) not in found:
                found.add(id(arg))
                stack.append(arg)
    return found


def is_long(root: Node, most: int) -> bool:
    """Tell whether a graph has more nodes than that, all of which read memory as it was.

    What it has at most is noted at the root, so that few graphs that grow are visited: those whose
    parts may have nodes in common.
    """
    if getattr(root, "most", most + 1) <= most:
        return False
    parts = {id(arg): arg for arg in root.args}.values()
    bound = 1 + sum([getattr(arg, "most", most) if arg.args else 1 for arg in parts])
    if bound > most:
        bound = len(_reached(root, most))
    if bound <= most:
        object.__setattr__(root, "most", bound)
        return False
    return not reads_anew(root)


def reads_late(root: Node) -> bool:
    """Tell whether some operand is read as it is when the graph is evaluated."""
    return any([isinstance(node, Leaf) and node.snapshot.late for node in postorder(root)])


def reads_anew(root: Node) -> bool:
    """Tell whether evaluating a graph again may give something else, or is no small matter.

    The answer is noted at the root, so that of a graph that grows only what is new is visited.
    """
    stack, seen, anew = [root], {id(root)}, False
    while stack and not anew:
        node = stack.pop()
        known: bool | None = getattr(node, "anew", None)
        if known is None:
            known = isinstance(node, Stored) or (isinstance(node, Leaf) and node.snapshot.late)
            for arg in node.args:
                if id(arg) not in seen:
                    seen.add(id(arg))
                    stack.append(arg)
        anew = known
    object.__setattr__(root, "anew", anew)
    return anew


def rebuild(root: Node, visit: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """Return the graph with every node replaced by ``visit(node, new arguments)``."""
    made: dict[int, Node] = {}
    for node in postorder(root):
        made[id(node)] = visit(node, tuple([made[id(arg)] for arg in node.args]))
    return made[id(root)]


def interned(root: Node) -> Node:
    """Return the graph in which what does the same to the same operands is one node."""
    first: dict[Hashable, Node] = {}
    made: dict[int, Node] = {}
    for node in postorder(root):
        key: Hashable = id(node)
        own = node
        if isinstance(node, Leaf):
            key = id(node.snapshot), node.map, node.shape, node.dtype
        elif isinstance(node, Scalar) and isinstance(node.value, np.generic):
            key = node.dtype, node.value.tobytes(), node.weak, node.parameter
        elif node.args:
            args = tuple([made[id(arg)] for arg in node.args])
            key, own = structure(node, tuple(map(id, args))), with_args(node, args)
        made[id(node)] = first.setdefault(key, own)
    return made[id(root)]


def with_args(node: Node, args: tuple[Node, ...]) -> Node:
    """Return a node with other arguments of the same shapes and dtypes."""
    return node if args == node.args else _holding(node, args)


def user_op(node: Node) -> UserOp | None:
    """Return the user's function that a node applies or folds by; None if it is none."""
    op = getattr(node, "op", None)
    op = op.combine if isinstance(op, Reduction) else op
    return op if isinstance(op, UserOp) else None


def twin(node: Node) -> Node:
    """Return another node of the same value: one more user of what it is made of."""
    return _holding(node, (*node.args,))


#: The field that has all arguments of a node, and the fields that have one each.
_ALL = {Elementwise: "operands", Concat: "parts"}
_EACH = {
    View: ("arg",),
    Gather: ("arg", "index"),
    Reduce: ("arg",),
    SegmentReduce: ("arg", "offsets"),
}


def _holding(node: Node, args: tuple[Node, ...]) -> Node:
    kind = type(node)
    given: Any = {_ALL[kind]: args} if kind in _ALL else zip(_EACH.get(kind, ()), args, strict=True)
    return replace(node, **dict(given))


#: What a node that is no operand does, apart from its arguments.
_DOES: dict[type[Node], Callable[[Any], object]] = {
    Elementwise: attrgetter("op", "dtype", "shape"),
    View: attrgetter("step"),
    Iota: attrgetter("dtype", "map"),
    Gather: attrgetter("axis"),
    Concat: attrgetter("axis"),
    SegmentReduce: attrgetter("op"),
    Reduce: attrgetter("op", "axes", "keepdims"),
}


def structure(node: Node, args: tuple[int, ...]) -> tuple[object, ...]:
    """Return what a node that is no operand does, its arguments given by their numbers."""
    kind = type(node)
    return kind, args, _DOES[kind](node)


def fixed_of(root: Node) -> int:
    """Return what is fixed of an expression's shape: the least of what is of its operands'.

    That is xtensor's promotion of shapes: a container of dynamic rank among the operands makes the
    result dynamic.  Functions of fixed shapes have a fixed shape; views, reducers and joins of them
    a fixed rank.  Scalars and generators do not count, nor do the positions of a gather.
    """
    least, met = SHAPE, False
    stack, seen = [root], {id(root)}
    while stack:
        node = stack.pop()
        if isinstance(node, Stored):
            return FREE
        if isinstance(node, Leaf):
            if node.fixed == FREE:
                return FREE
            least, met = min(least, node.fixed), True
            continue
        if not isinstance(node, (Elementwise, Scalar, Iota)):
            least = min(least, RANK)
        for arg in node.args[:1] if isinstance(node, (Gather, SegmentReduce)) else node.args:
            if id(arg) not in seen:
                seen.add(id(arg))
                stack.append(arg)
    return least if met else FREE
