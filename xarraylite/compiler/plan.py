"""From a graph to a program: what is fused, which temporaries exist and why, in what order.

Everything elementwise between leaves and the result is one kernel.  A node is evaluated on its
own first (*materialised*) when it is

* a reduction inside an expression: evaluated once, never per element;
* a join inside an expression;
* an operation without a scalar body, which NumPy runs, or an operand of one;
* expensive and needed along several paths, or reshaped where that needs a copy (see ``lower``);
* the end of a part so large that its kernel would not compile in good time (see ``size``).

Temporaries of one size share memory where the last reader of one comes before the other is written.
Steps are planned from the last to the first, so that is known when a temporary is asked for.

The step that writes the target decides about aliasing.  Each leaf that may share bytes with the
target is classified (``aliasing``): apart or same element costs nothing, a shift makes the loops
run in the safe order (slab by slab where the array is tiled, see ``traversal``), and what no order
serves is copied first — that leaf alone, or the result if that is smaller.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace

from .._config import settings
from .._errors import NoAliasError
from ..index.transform import FIXED, Reshape, window
from ..ir.build import describe
from ..ir.node import Concat, Gather, Leaf, Node, Reduce, SegmentReduce, View
from ..ir.walk import user_op
from ..memory.target import Target
from ..overlap.aliasing import Traversal, direction_of, shares, traversals
from ..overlap.overlap import Direction
from .bands import folded_and_read, into_bands
from .folds import Folding
from .graph import Graph
from .lower import Lowered, Use, is_host
from .planner import Planner, map_steps
from .program import TARGET, Program, SlotArray, Step
from .segments import segment_steps
from .traversal import ORDERS, access_of, traversal_step


def plan(graph: Graph, target: Target, noalias: bool) -> Program:
    """Return the program that evaluates ``graph`` into ``target``.

    Raises
    ------
    NoAliasError
        Under the ``check_noalias`` setting, if ``noalias`` was promised and does not hold.
    """
    return Planning(graph, target, noalias).run()


class Planning(Planner):
    """The planning of one assignment.

    Attributes
    ----------
    target : Target
        What is written.
    noalias : bool
        Whether no operand is said to overlap it.
    traversing : bool
        Whether slabs in a safe order are still a way to do without copies.
    """

    __slots__ = ("noalias", "target", "traversing")

    def __init__(self, graph: Graph, target: Target, noalias: bool) -> None:
        super().__init__(graph)
        self.target = target
        self.noalias = noalias
        self.traversing = True

    def run(self) -> Program:
        """Make the last step first, then those of the nodes that steps so far have materialised.

        A node's steps are made when all that reads it is: its ordinal is lower than theirs, and
        the highest of those that wait comes next.
        """
        graph, root = self.graph, len(self.graph.nodes) - 1
        if math.prod(self.target.map.shape) == 0:
            return self.program
        root = self.peel(root)
        self.find_materialised(root)
        if self.noalias and settings.check_noalias:
            self.check_promise(root)
        apart = not any([self.overlaps(leaf) for leaf in graph.leaves])
        shared = folded_and_read(graph, root, self.target) if apart else None
        raises = not self.target.fresh and any([_may_raise(node) for node in graph.nodes])
        if shared is not None and not raises and (self.target.fresh or not self.noalias):
            self.share(shared)
        last = self.final_steps(root, self.result())
        before: list[list[Step]] = []
        while self.todo:
            ordinal = -heapq.heappop(self.todo)
            node = graph.nodes[ordinal]
            own = SlotArray.rows(self.slots[ordinal], node.shape, node.dtype)
            if own.slot == TARGET:
                before.append(self.steps(ordinal, replace(own, soon=True), f"{_SHARED}, in place"))
                continue
            before.append(self.steps(ordinal, own, f"temporary: {self.materialised[ordinal]}"))
            temporary = self.program.temporaries[own.slot - self.program.leaves - 1]
            self.free.setdefault(temporary.nbytes, []).append(own.slot)
        for group in reversed(before):
            self.program.steps.extend(group)
        self.program.steps.extend(last)
        if not raises:
            into_bands(self.program, apart)
        return self.program

    def share(self, ordinal: int) -> None:
        """Have a node computed into the target, before what is made of it.

        New memory nothing else reads.  Of other memory, not under ``noalias``: the same elements
        may be read by the last kernel, and programs are found without asking where operands lie.
        Nor where a function may raise, which must leave the target as it is; for the same reason
        its result is not copied there band by band.
        """
        self.materialised[ordinal] = _SHARED
        self.slots[ordinal] = TARGET
        heapq.heappush(self.todo, -ordinal)

    def peel(self, root: int) -> int:
        """Return what is written where the target is reshaped instead of the result."""
        node, target = self.graph.nodes[root], self.target
        while isinstance(node, View) and isinstance(node.step, Reshape):
            layout = target.map.reshape(node.step.source)
            if layout is None:
                break
            self.target = target = replace(target, map=layout)
            root = self.graph.args[root][0]
            node = self.graph.nodes[root]
        return root

    # --- steps ---------------------------------------------------------------------------------

    def steps(self, ordinal: int, to: SlotArray, note: str) -> list[Step]:
        """Return the steps that evaluate one node into ``to`` (which nothing else uses)."""
        node = self.graph.nodes[ordinal]
        if isinstance(node, SegmentReduce):
            return segment_steps(self, ordinal, node, to, note)
        if isinstance(node, Reduce):
            return Folding(self, ordinal, node, to, note).steps()
        if isinstance(node, Concat):
            return [
                step
                for part, own in self.windows(ordinal, node, to)
                for step in self.map_one(part, -1, own, note)
            ]
        if is_host(node):
            return [self.host_step(ordinal, to, note)]
        return self.map_one(ordinal, ordinal, to, note)

    def windows(self, ordinal: int, node: Concat, to: SlotArray) -> list[tuple[int, SlotArray]]:
        """Return each joined part with its own piece of the destination."""
        found: list[tuple[int, SlotArray]] = []
        start, to = 0, replace(to, whole=max(to.whole, to.layout.size * to.bits))
        for arg, part in zip(self.graph.args[ordinal], node.parts, strict=True):
            extent = part.shape[node.axis]
            piece = to.layout.apply(window(node.shape, node.axis, start, extent))
            if isinstance(part, Concat) and arg not in self.materialised:
                found += self.windows(arg, part, replace(to, layout=piece))
            elif piece.size:
                found.append((arg, replace(to, layout=piece)))
            start += extent
        return found

    # --- aliasing ------------------------------------------------------------------------------

    def final_steps(self, root: int, to: SlotArray) -> list[Step]:
        """Return the steps that write the target, with as few copies as aliasing allows."""
        node = self.graph.nodes[root]
        joins = isinstance(node, Reduce | Concat)
        if joins and any(self.overlaps(leaf) for leaf in self.graph.leaves):
            return self.by_way_of(root, "the target is read until the last result")
        if is_host(node):
            return [self.host_step(root, to, "result")]
        if not self.noalias and any(_may_raise(n) for n in self.graph.nodes):
            return self.by_way_of(root, _HALF)
        if joins:
            return self.steps(root, to, "result")
        steps = None
        while steps is None:
            steps = self.aliased_steps(root, to)
        return steps

    def aliased_steps(self, root: int, to: SlotArray) -> list[Step] | None:
        """Return the steps that write the target element by element, or None to decide again.

        Every choice follows from what the kernel reads.  None says that this has changed: one more
        node is materialised, or traversals are ruled out.  Both happen a finite number of times.
        """
        node = self.graph.nodes[root]
        lowered = self.lowered(root, root)
        directions = [self.direction(use) for use in lowered.uses]
        traversal, copies = self.resolved(lowered, directions)
        if copies:
            result = math.prod(node.shape) * node.dtype.itemsize
            if self.bytes_of(copies) > result or any(use.ordinal == root for use in copies):
                return self.by_way_of(root, "operands need the target's old values")
            for use in copies:
                self.materialised[use.ordinal] = "the target is written before this operand is read"
            lowered = self.lowered(root, root)
            directions = [self.direction(use) for use in lowered.uses]
        memory = [
            self.memory(use, access_of([direction]), root)
            for use, direction in zip(lowered.uses, directions, strict=True)
        ]
        known = dict(self.materialised)
        parts = self.divided(root, root, to, along=FIXED if traversal is None else traversal.axis)
        if parts is None:
            return [self.copy_step(root, root if isinstance(node, Leaf) else -1, to, "result")]
        if self.materialised != known:
            return None
        if traversal is not None:
            shared = [k for k, direction in enumerate(directions) if direction is Direction.COPY]
            step = traversal_step(parts, memory, shared, traversal, "result")
            self.traversing = step is not None
            return None if step is None else [step]
        order = next((ORDERS[v] for v in directions if v in ORDERS), None)
        if order is not None and len(parts) > 1:
            return self.by_way_of(root, "no order of boxes keeps what operands still need")
        return map_steps(parts, memory, order, "result")

    def resolved(
        self, lowered: Lowered, directions: Sequence[Direction]
    ) -> tuple[Traversal | None, list[Use]]:
        """Return the order of slabs, if one is needed, and the operands to copy beforehand."""
        found = set(directions)
        if Direction.COPY not in found and len(found & ORDERS.keys()) < 2:
            return None, []
        traversal, copies = self.choose_traversal(lowered, directions)
        return traversal, self.choose_copies(lowered, directions) if traversal is None else copies

    def by_way_of(self, root: int, reason: str) -> list[Step]:
        """Return the steps that copy the whole result from a temporary to the target."""
        self.materialised[root] = reason
        return self.map_one(root, -1, self.result(), "copy the result into the target")

    def choose_traversal(
        self, lowered: Lowered, directions: Sequence[Direction]
    ) -> tuple[Traversal | None, list[Use]]:
        """Return the order of slabs that serves most operands, and the leaves it does not serve.

        None if there is no such order: the operands are no views of one tiled array.
        """
        wanting = [u for u, v in zip(lowered.uses, directions, strict=True) if v is Direction.COPY]
        ways = [{traversal[:2]: traversal for traversal in self.traversals(use)} for use in wanting]
        best: tuple[Traversal | None, list[Use]] = None, wanting
        least = (math.inf, 0)
        for axis, falling in sorted({key for way in ways for key in way}):
            served = [way[axis, falling].most for way in ways if (axis, falling) in way]
            copies = [u for u, w in zip(wanting, ways, strict=True) if (axis, falling) not in w]
            # The shortest slab serves all; `traversal_step` checks what they read inside a slab.
            most = min([n for n in served if n], default=0)
            cost = (self.bytes_of(copies), lowered.shape[axis] // most if most else 0)
            if cost < least:
                least, best = cost, (Traversal(axis, falling, most), copies)
        return best

    def traversals(self, use: Use) -> list[Traversal]:
        """Return the orders of slabs in which an operand may be read from the target's array."""
        node = self.graph.nodes[use.ordinal]
        if not self.traversing or any(isinstance(n, Gather) for n in self.graph.nodes):
            return []
        assert isinstance(node, Leaf)
        return traversals(self.target, node, use.layout)

    def choose_copies(self, lowered: Lowered, directions: Sequence[Direction]) -> list[Use]:
        """Return the leaves to copy in the cheaper loop order."""
        rising = (Direction.COPY, Direction.DESCENDING)
        falling = (Direction.COPY, Direction.ASCENDING)
        options = [
            [use for use, v in zip(lowered.uses, directions, strict=True) if v in bad]
            for bad in (rising, falling)
        ]
        return min(options, key=self.bytes_of)

    def bytes_of(self, uses: Sequence[Use]) -> int:
        ordinals = {use.ordinal for use in uses}
        nodes = [self.graph.nodes[ordinal] for ordinal in ordinals]
        return sum(math.prod(node.shape) * node.dtype.itemsize for node in nodes)

    def overlaps(self, leaf: Leaf) -> bool:
        """Tell whether a leaf may share bytes with the target (never, under ``noalias``)."""
        return not self.noalias and shares(self.target, leaf)

    def direction(self, use: Use) -> Direction:
        """Classify one operand of the step that writes the target."""
        node = self.graph.nodes[use.ordinal]
        if self.slots.get(use.ordinal) == TARGET:
            return Direction.SAME
        if self.noalias or use.ordinal in self.materialised or not isinstance(node, Leaf):
            return Direction.DISJOINT
        if any(isinstance(n, Gather) for n in self.graph.nodes):
            # The layout of a gathered operand does not say what it reads.
            return Direction.COPY if shares(self.target, node) else Direction.DISJOINT
        return direction_of(self.target, node, use.layout)

    def result(self) -> SlotArray:
        """Return the target as the destination of the last step."""
        return SlotArray.at(TARGET, self.target.map.based(), self.target.dtype)

    def check_promise(self, root: int) -> None:
        """Raise if ``noalias`` was promised of operands that do alias."""
        self.noalias = False
        try:
            nodes, harmless = self.graph.nodes, (Direction.DISJOINT, Direction.SAME)
            if isinstance(nodes[root], Reduce | Concat):
                bad: list[Node] = [leaf for leaf in self.graph.leaves if self.overlaps(leaf)]
            else:
                uses = self.lowered(root, root).uses
                bad = [nodes[u.ordinal] for u in uses if self.direction(u) not in harmless]
            if bad:
                raise NoAliasError(
                    f"noalias: operand {describe(bad[0])} shares memory with the destination "
                    f"of shape {self.target.map.shape} in another order; leave noalias out"
                )
        finally:
            self.noalias = True


def _may_raise(node: Node) -> bool:
    """Tell whether a user's function could stop the kernel of a node."""
    op = user_op(node)
    return op is not None and op.may_raise


_SHARED = "is folded, and then read again"

_HALF = "a function that may raise must not leave half a result"
