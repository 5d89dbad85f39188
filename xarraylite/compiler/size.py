"""How much one kernel may hold: larger expressions are divided among several.

Time and memory of compiling grow with what stands in a kernel, at first in proportion and beyond
some size faster.  Three numbers bound it.

*Nodes.*  Each is an instruction or a few; 160 additions compile in a tenth of a second.

*Cost.*  An operation's row says what it costs, which is also a measure of how much code it is: a
sine is as much as fifty additions and takes 40 ms, so 16 of them are as much as a user may have to
wait for.  So much arithmetic per element is many times what it takes to write the element to a
temporary and to read it again, so nothing is lost.  Narrow floats are decoded and rounded at every
node.

*Operands.*  Each has a pointer and strides of its own, for every loop; where layouts differ,
nothing is shared between them, and they no longer fit the registers.

Dividing a chain of equal pieces gives equal kernels, which are compiled once.
"""

from __future__ import annotations

import math

from ..dtypes.names import is_narrow_float
from ..ir.node import Elementwise, Leaf, Node, Scalar
from .graph import Graph

#: Distinct nodes of one kernel.
KERNEL_NODES = 160

#: Sum of the costs of its operations.
KERNEL_COST = 240

#: Memory that it reads.
KERNEL_OPERANDS = 64

#: Rows from which on, and cost in all, a part that is computed for each of them gets a temporary.
_ROWS = 16
_REPEATED = 1 << 17

#: What decoding and rounding add to the cost of a node.
_NARROW = 3

_TOO_LONG = "the expression is too long for one kernel"


#: What the kernel of a node would hold: the nodes it is computed from, down to materialised ones,
#: their cost, and how many of them are operands.  The two numbers may count twice what arguments
#: share.
_Cone = tuple[frozenset[int], int, int]


def materialise_large(graph: Graph, materialised: dict[int, str], root: int) -> None:
    """Materialise nodes so that no kernel holds much more than is allowed.

    Parameters
    ----------
    graph : Graph
        The expression.
    materialised : dict of int to str
        Nodes that are evaluated on their own, and why; more are added.
    root : int
        The node whose kernel writes the result.  It takes in what its arguments may hold.
    """
    costs = [_cost(node) for node in graph.nodes]
    leaves = [isinstance(node, Leaf) for node in graph.nodes]
    if len(costs) <= KERNEL_NODES and sum(costs) <= KERNEL_COST and sum(leaves) <= KERNEL_OPERANDS:
        return
    cones: list[_Cone] = []

    def cone_of(ordinal: int, parts: list[_Cone]) -> _Cone:
        nodes = frozenset((ordinal,)).union(*[part[0] for part in parts])
        cost = costs[ordinal] + sum([part[1] for part in parts])
        operands = leaves[ordinal] + sum([part[2] for part in parts])
        if cost > KERNEL_COST or operands > KERNEL_OPERANDS:  # perhaps shared: count exactly
            inner = [k for k in nodes if k == ordinal or k not in materialised]
            cost = sum([costs[k] for k in inner]) + len(nodes) - len(inner)
            operands = sum([leaves[k] for k in inner]) + len(nodes) - len(inner)
        return nodes, cost, operands

    for ordinal, args in enumerate(graph.args):
        parts = [_materialised(arg) if arg in materialised else cones[arg] for arg in args]
        cone = cone_of(ordinal, parts)
        while _is_large(cone) and ordinal != root:
            big = max(range(len(parts)), key=lambda k: _size(parts[k]))
            if len(parts[big][0]) == 1 or isinstance(graph.nodes[args[big]], Leaf | Scalar):
                break
            materialised.setdefault(args[big], _TOO_LONG)
            parts[big] = _materialised(args[big])
            cone = cone_of(ordinal, parts)
        cones.append(cone)


def materialise_stretched(graph: Graph, materialised: dict[int, str]) -> None:
    """Materialise what would be computed again for every row.

    A part of lower rank, say the deviations of columns by which a matrix is divided, is computed
    for each element of the whole by one kernel.  Its own kernel, and reading what that wrote from
    the caches, costs less where there are many rows.  A part that is the same along a row is left
    alone: kernels compute it before their innermost loop.
    """
    costs: list[int] = []  # of each node's part of a kernel
    for ordinal, (node, args) in enumerate(zip(graph.nodes, graph.args, strict=True)):
        whole = math.prod(node.shape)
        for arg in args if isinstance(node, Elementwise) else ():
            part = graph.nodes[arg].shape
            repeated = part[-1:] == node.shape[-1:] != (1,) and math.prod(part) * _ROWS <= whole
            if repeated and costs[arg] * whole >= _REPEATED:
                materialised.setdefault(arg, "is the same for all rows")
                costs[arg] = 0
        computed = isinstance(node, Elementwise) and ordinal not in materialised
        costs.append(_cost(node) + sum([costs[arg] for arg in args]) if computed else 0)


def costs_of(graph: Graph) -> list[int]:
    """Return the cost of an element of each node, by elementwise operations alone."""
    found: list[int] = []
    for node, args in zip(graph.nodes, graph.args, strict=True):
        computed = isinstance(node, Elementwise)
        found.append(_cost(node) + sum([found[arg] for arg in args]) if computed else 0)
    return found


def _is_large(cone: _Cone) -> bool:
    nodes, cost, operands = cone
    return len(nodes) > KERNEL_NODES or cost > KERNEL_COST or operands > KERNEL_OPERANDS


def _size(cone: _Cone) -> float:
    """Return the size as part of what is allowed."""
    nodes, cost, operands = cone
    return max(len(nodes) / KERNEL_NODES, cost / KERNEL_COST, operands / KERNEL_OPERANDS)


def _materialised(ordinal: int) -> _Cone:
    """Return what a node is to the kernels that read it from a temporary."""
    return frozenset((ordinal,)), 1, 1


def _cost(node: Node) -> int:
    own = node.op.cost if isinstance(node, Elementwise) else 1
    return own + _NARROW if is_narrow_float(node.dtype) else own
