"""What a trace has planned: its results, and what is computed on the way to them.

A planned result knows which argument each of its operands came from, so it is evaluated over other
arguments without building an expression.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._errors import DTypeError, StaleOperandError
from ..arrays.container import XContainer
from ..arrays.xarray import XArray
from ..assignment import results, writes
from ..compiler.graph import Graph, canonical
from ..ir.build import scalar
from ..ir.kind import NODE, Kind, owner_class
from ..ir.node import Leaf, Node, Scalar
from ..ir.translation import plain
from ..ir.walk import fixed_of
from ..layout.tiled import Map
from ..memory.snapshots import Snapshot, pinned
from ..memory.target import Target
from ..operands.convert import policy_of
from ..operands.gathers import index_leaf
from ..operands.nodes import as_node
from ..operands.tracing import Trace
from ..runtime import evaluate as engine
from ..runtime.direct import described

NONE: Mapping[int, Leaf] = {}


@dataclass(slots=True)
class _Index:
    """An array that a traced function uses as an index of a dimension of some extent."""

    array: Any
    extent: int

    def reread(self) -> Leaf | None:
        """Return a checked copy of the array as it is now, None if it has given up its memory."""
        if isinstance(self.array, XContainer) and self.array.buffer.retired:
            return None
        try:
            return index_leaf(self.array, self.extent)
        except StaleOperandError:
            return None


@dataclass(frozen=True, slots=True)
class Quick:
    """One traced result that has a kind: what `results.evaluated` takes.

    Attributes
    ----------
    kind : Kind
        Of the expression.
    shape : tuple of int
        Of the result.
    items : tuple
        Two items for each operand: for one in memory its argument, and how many bytes it starts
        behind that; for a value None, and the value; for an argument that is a scalar its node,
        and None.
    kinds, shapes : tuple
        Of the arguments, where all are containers; else empty.
    """

    kind: Kind
    shape: tuple[int, ...]
    items: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    shapes: tuple[tuple[int, ...], ...]

    def again(self, arrays: Sequence[Any]) -> XArray | None:
        """Return the result for other arguments; None if they are not alike, or it is not done."""
        return self.result(arrays) if self._fits(arrays) else None

    def over(self, to: XArray, arrays: Sequence[Any]) -> bool:
        """Write the result over one of other arguments; tell whether they are alike and it is done.

        Nobody else may hold it, and elements are read where they are written alone.
        """
        fits = self._fits(arrays) and to._shape == self.shape
        return fits and writes.overwritten(to, self.kind, self.operands(arrays))

    def _fits(self, arrays: Sequence[Any]) -> bool:
        known = zip(arrays, self.kinds, self.shapes, strict=False)
        return len(arrays) == len(self.kinds) and all(
            [isinstance(a, XContainer) and a._kind is k and a._shape == s for a, k, s in known]
        )

    def result(self, arrays: Sequence[Any]) -> XArray | None:
        """Return the result for arguments of the same kinds and shapes; None if it is not done."""
        return results.evaluated(XArray, self.kind, self.shape, self.operands(arrays))

    def operands(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the operands for other arguments."""
        found: list[Any] = []
        pairs = iter(self.items)
        for number, what in zip(pairs, pairs, strict=True):
            if number is None:
                found.append(what)
            elif what is None:
                value = scalar(arrays[number.parameter], number.dtype).value
                found.append(plain(value, number.dtype))
            else:
                found += (arrays[number]._buffer, arrays[number]._start + what)
        return found


def _quick(node: Node, arrays: list[Any], snapshots: dict[int, int]) -> Quick | None:
    known = described(node)
    if known is None:
        return None
    kind, operands = known
    items: list[Any] = []
    rest = iter(operands)
    for item in rest:
        if isinstance(item, Snapshot):
            number = snapshots.get(id(item), -1)
            if number < 0 or arrays[number]._kind is NODE:
                return None
            items += (number, next(rest) - arrays[number]._start)
        else:
            items += (item, None) if isinstance(item, Scalar) else (None, item)
    given = [a for a in arrays if isinstance(a, XContainer) and a._kind is not NODE]
    given = given if len(given) == len(arrays) else []
    kinds, shapes = tuple([a._kind for a in given]), tuple([a._shape for a in given])
    return Quick(kind, node.shape, tuple(items), kinds, shapes)


@dataclass(slots=True)
class Output:
    """One traced result."""

    node: Node
    graph: Graph
    layout: Map
    sources: list[tuple[int, int]]
    """For each leaf the argument it reads (-1 for one the function closed over), and how far it
    starts behind that argument's first element, in elements."""
    indices: dict[int, _Index]
    """By the number of a leaf that is a checked copy: the array it is of."""
    quick: Quick | None
    """Where it has a kind."""
    result: type[XArray]
    """What it becomes."""

    def reread(self) -> dict[int, Leaf] | None:
        """Return the indices that the function closed over as they are now.

        None if the trace no longer holds: one has another shape, or cannot be read any more.
        """
        fresh: dict[int, Leaf] = {}
        for k, index in self.indices.items():
            leaf = index.reread()
            if leaf is None or leaf.shape != self.graph.leaves[k].shape:
                return None
            fresh[k] = leaf
        return fresh

    def is_retired(self) -> bool:
        """Tell whether a container that the function closed over has moved to other memory."""
        return any(
            number < 0 and leaf.snapshot.retired
            for leaf, (number, _) in zip(self.graph.leaves, self.sources, strict=True)
        )


def results_of(returned: Any, operation: str) -> list[Any]:
    """Return the results of a traced function as a list.

    Raises
    ------
    DTypeError
        If one of them has several in it, or is nothing.
    """
    several = isinstance(returned, tuple | list)
    results = list(returned) if several else [returned]
    for k, item in enumerate(results):
        if item is None or isinstance(item, tuple | list | dict):
            who = "the traced function"
            which = f"result {k} of {who} is" if several else f"{who} returns"
            raise DTypeError(
                f"{operation}: {which} a {type(item).__name__}; it returns an array or a number, "
                "or a tuple or list of them, with nothing nested"
            )
    return results


def planned(item: object, arrays: list[Any], snapshots: dict[int, int], trace: Trace) -> Output:
    """Plan one result of the traced function."""
    node = as_node(item, "jit")
    graph = canonical(node, None, True, traced=True)
    layout = engine.result_layout(graph, node)
    sources = []
    for leaf in graph.leaves:
        number = snapshots.get(id(leaf.snapshot), -1)
        shift = leaf.map.offset - (arrays[number].offset if number >= 0 else 0)
        sources.append((number, shift))
    indices = {
        k: _Index(*trace.indices[id(leaf)][1:])
        for k, leaf in enumerate(graph.leaves)
        if id(leaf) in trace.indices
    }
    quick = _quick(node, arrays, snapshots)
    result = owner_class(fixed_of(node), node.dtype, node.shape)
    return Output(node, graph, layout, sources, indices, quick, result)


def run(output: Output, arrays: list[Any], fresh: Mapping[int, Leaf]) -> XArray:
    """Run one planned result on new arguments, and on indices that were read again."""
    quick = output.quick
    if quick is not None:
        made = quick.result(arrays)
        if made is not None:
            return made
    graph = output.graph
    leaves = [
        fresh.get(k, leaf)
        if number < 0
        else Leaf(
            leaf.shape,
            leaf.dtype,
            arrays[number].buffer.snapshot(),  # its old values, if it is written meanwhile
            replace(leaf.map, offset=arrays[number].offset + shift),
        )
        for k, (leaf, (number, shift)) in enumerate(zip(graph.leaves, output.sources, strict=True))
    ]
    scalars = {
        id(node): scalar(arrays[node.parameter], node.dtype)
        for node in graph.scalars
        if node.parameter >= 0
    }
    bound = graph.bind(leaves, scalars)
    buffer = engine.raw_target(output.node, output.layout)
    target = Target(buffer, output.layout, output.node.dtype, fresh=True)
    with pinned([leaf.snapshot for leaf in leaves]):
        engine.execute(bound, target, True)
    policy = policy_of(output.layout)
    return output.result._own(buffer, output.layout, output.node.dtype, policy)
