"""Walks visit arguments first, shared nodes once, and chains of any length."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ir.nodes import leaf
from xarraylite.ir import build
from xarraylite.ir import node as node_classes
from xarraylite.ir.node import Elementwise, Leaf, Node
from xarraylite.ir.walk import interned, is_long, postorder, reads_anew, rebuild
from xarraylite.memory.snapshots import LateSnapshot
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.once

ADD, NEGATIVE = OPS["add"], OPS["negative"]


@st.composite
def graphs(draw: st.DrawFn) -> Node:
    """Draw a graph in which any earlier node may be used again."""
    nodes: list[Node] = [leaf((2,)), leaf((2,))]
    for _ in range(draw(st.integers(0, 12))):
        pick = st.sampled_from(nodes)
        if draw(st.booleans()):
            nodes.append(build.elementwise(ADD, draw(pick), draw(pick)))
        else:
            nodes.append(build.elementwise(NEGATIVE, draw(pick)))
    return nodes[-1]


@given(graphs())
def test_postorder(root: Node) -> None:
    order = postorder(root)
    place = {id(node): k for k, node in enumerate(order)}
    assert len(place) == len(order)
    assert order[-1] is root
    for node in order:
        assert all(place[id(arg)] < place[id(node)] for arg in node.args)


def test_postorder_takes_arguments_from_left_to_right() -> None:
    """Operands are numbered in the order they were written: plans and golden files depend on it."""
    a, b, c = leaf((2,)), leaf((2,)), leaf((2,))
    product = build.elementwise(OPS["multiply"], b, c)
    root = build.elementwise(ADD, a, product)
    assert postorder(root) == [a, b, c, product, root]


def test_a_chain_of_a_hundred_thousand() -> None:
    node: Node = leaf((2,))
    for _ in range(100_000):
        node = build.elementwise(NEGATIVE, node)
    assert len(postorder(node)) == 100_001


def test_shared_nodes_are_visited_once() -> None:
    """As a tree this has 2**100 nodes."""
    node: Node = leaf((2,))
    for _ in range(100):
        node = build.elementwise(ADD, node, node)
    assert len(postorder(node)) == 101


@given(graphs())
def test_rebuild_with_nothing_to_do_shares_as_before(root: Node) -> None:
    def same(node: Node, args: tuple[Node, ...]) -> Node:
        assert all(new is old for new, old in zip(args, node.args, strict=True))
        return node

    assert rebuild(root, same) is root


@given(graphs())
def test_rebuild_replaces_leaves_everywhere(root: Node) -> None:
    others: dict[int, Leaf] = {}

    def visit(node: Node, args: tuple[Node, ...]) -> Node:
        if isinstance(node, Leaf):
            return others.setdefault(id(node), leaf(node.shape))
        assert isinstance(node, Elementwise)
        return build.elementwise(node.op, *args)

    result = rebuild(root, visit)
    assert len(postorder(result)) == len(postorder(root))
    fresh = {id(node) for node in others.values()}
    assert all(id(n) in fresh for n in postorder(result) if isinstance(n, Leaf))


@pytest.mark.parametrize("late", [False, True])
def test_of_a_graph_that_grows_only_what_is_new_is_visited(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    root: Node = leaf((2,))
    assert isinstance(root, Leaf)
    if late:
        root = replace(root, snapshot=LateSnapshot.after(root.snapshot))
    visited = []
    args = Elementwise.args.fget
    assert args is not None
    noting = property(lambda node: (visited.append(node), args(node))[1])
    monkeypatch.setattr(Elementwise, "args", noting)
    for _ in range(300):
        root = Elementwise(root.shape, root.dtype, OPS["negative"], (root,))
        assert reads_anew(root) is late
    assert len(visited) == 300


def test_what_does_the_same_is_one_node() -> None:
    first, second = leaf((2,)), leaf((2,))
    one = build.elementwise(ADD, first, build.scalar(2.0, first.dtype))
    again = build.elementwise(ADD, replace(first), build.scalar(2.0, first.dtype))
    other = build.elementwise(ADD, first, build.scalar(-2.0, first.dtype))
    root = build.elementwise(
        ADD, build.elementwise(ADD, one, again), build.elementwise(ADD, other, second)
    )
    made = interned(root)
    assert len(postorder(made)) == len(postorder(root)) - 3
    assert made.args[0].args[0] is made.args[0].args[1]
    assert made.args[1].args[0] is not made.args[0].args[0]
    assert interned(made) is made


@given(graphs())
def test_is_long_counts_nodes(root: Node) -> None:
    nodes = postorder(root)
    for most in range(len(nodes) + 2):
        for part in nodes:  # each notes what its users go by
            assert is_long(part, most) == (len(postorder(part)) > most)


def test_what_nodes_are_made_of_is_a_function() -> None:
    """Data classes with slots want ``fget`` to have code, from Python 3.14 on."""
    for cls in vars(node_classes).values():
        args = vars(cls).get("args") if isinstance(cls, type) else None
        assert args is None or hasattr(args.fget, "__code__"), cls
