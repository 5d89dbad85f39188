"""In which order a reduction adds: all that the bits of its results depend on.

Two reductions of the same values with equal trees give the same bits, wherever the operands lie and
however many results there are.  So a reduction that is larger than memory can be folded in pieces,
each of them planned as usual, if the pieces' trees are parts of the whole one's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import cast

from .._records import record
from ..codegen.emit.folding import Form, ReduceSpec, block_size
from ..ir.node import Reduce
from .arguments import streams_of
from .boxes import still
from .graph import Graph
from .lower import Lowered
from .planner import Planner
from .program import SlotArray
from .steps import Range, chunk_ranges, form_of, nests_of


@record(frozen=True, slots=True)
class Tree:
    """The order of a reduction.

    Attributes
    ----------
    form : Form
        What its innermost loop runs along.
    loops : tuple of int
        Extents of the loops over what is folded, neighbours merged, in the order of dimensions.
    block : int
        How many values are folded by halving; 0 where rows are added.
    parts : tuple of Range
        The parts that are folded on their own.  Where rows are added, their width counts the
        results, which do not depend on each other, and is left out.
    """

    form: Form
    loops: tuple[int, ...]
    block: int
    parts: tuple[Range, ...]


def tree_of(graph: Graph) -> Tree | None:
    """Return the tree of a graph that ends in a reduction; None if it is no single loop nest.

    Also None if its loops run in another order than the dimensions, or its operation keeps one.
    """
    found = _lowered(graph)
    if found is None:
        return None
    lowered, axes, node = found
    shape = lowered.shape
    reach = _reach(lowered, [k for k in axes if shape[k] != 1])
    if any([outer < inner for outer, inner in itertools.pairwise(reach)]):
        return None
    reduced = nests_of(lowered, still(shape, axes), 1, axes)[1]
    form, parts = form_of(lowered, axes), chunk_ranges(lowered, axes, node.op.divided)
    if form is Form.ALONG:
        block = block_size(ReduceSpec(form, 0, 0, (), lowered.body, node.op, 0))
        return Tree(form, reduced.extents, block, parts)
    return Tree(form, reduced.extents, 0, tuple([(r0, r1, 0, 0) for r0, r1, _, _ in parts]))


def loop_order(graph: Graph) -> tuple[int, ...]:
    """Return the dimensions of what a graph folds, those first that operands step farthest along.

    In this order loops run over those that are folded, and over the others too.
    """
    shape = cast("Reduce", graph.nodes[-1]).arg.shape
    found, dims = _lowered(graph), range(len(shape))
    if found is None or found[0].shape != shape:
        return tuple(dims)
    reach = _reach(found[0], dims)
    return tuple(sorted(dims, key=lambda k: -reach[k]))


def _lowered(graph: Graph) -> tuple[Lowered, tuple[int, ...], Reduce] | None:
    """Return the loops of a reduction, those over what is folded, and its node."""
    root = len(graph.nodes) - 1
    node = graph.nodes[root]
    if not isinstance(node, Reduce) or node.op.ordered:
        return None
    planner = Planner(graph)
    planner.find_materialised(root)
    arg, axes = graph.args[root][0], node.axes
    parts = planner.divided(arg, root, SlotArray.rows(-1, node.shape, node.dtype), axes)
    if parts is None or len(parts) != 1:
        return None
    return parts[0].lowered, parts[0].loops(axes), node


def _reach(lowered: Lowered, axes: Sequence[int]) -> list[int]:
    """Return how far operands step along some loops."""
    streams = streams_of(lowered)
    return [sum([abs(w.strides[k]) for w in streams]) for k in axes]
