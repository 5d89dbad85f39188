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
from ..codegen.emit.mapping import Mode
from ..codegen.emit.streams import Access
from ..index.transform import FIXED, Reshape, window
from ..ir.build import describe
from ..ir.node import Concat, Elementwise, Gather, Leaf, Node, Reduce, Scalar, SegmentReduce, View
from ..layout.splitting import TooManyBoxes
from ..layout.strided import Strided
from ..ops.op import Op
from ..ops.user import UserOp
from .boxes import Part, divide, spread
from .dependence.aliasing import Traversal, direction_of, shares, traversals
from .dependence.overlap import Direction
from .dependence.traversal import traversal_step
from .folds import fold_steps
from .graph import Graph
from .lower import Lowered, Materialise, Use, lower
from .program import TARGET, HostStep, Place, Program, Step, Temporary
from .segments import segment_steps
from .size import materialise_large
from .steps import Destination, Memory, map_depth, map_step, rows
from .target import Target

_ORDERS = {Direction.ASCENDING: Mode.STAGED, Direction.DESCENDING: Mode.FALLING}


def plan(graph: Graph, target: Target, noalias: bool) -> Program:
    """Return the program that evaluates ``graph`` into ``target``.

    Raises
    ------
    NoAliasError
        Under the ``check_noalias`` setting, if ``noalias`` was promised and does not hold.
    """
    return Planning(graph, target, noalias).run()


class Planning:
    """The state of one planning."""

    __slots__ = (
        "materialised",
        "free",
        "graph",
        "leaf_slot",
        "noalias",
        "program",
        "slots",
        "traversing",
        "target",
        "todo",
    )

    def __init__(self, graph: Graph, target: Target, noalias: bool) -> None:
        self.graph = graph
        self.target = target
        self.noalias = noalias
        self.program = Program(leaves=len(graph.leaves))
        self.leaf_slot = {id(leaf): 1 + k for k, leaf in enumerate(graph.leaves)}
        self.materialised: dict[int, str] = {}
        self.free: dict[int, list[int]] = {}
        self.slots: dict[int, int] = {}
        self.todo: list[int] = []
        self.traversing = True

    def run(self) -> Program:
        graph, root = self.graph, len(self.graph.nodes) - 1
        if math.prod(self.target.map.shape) == 0:
            return self.program
        root = self.peel(root)
        self.find_materialised(root)
        if self.noalias and settings.check_noalias:
            self.check_promise(root)
        last = self.final_steps(root, self.result())
        before: list[list[Step]] = []
        while self.todo:
            ordinal = -heapq.heappop(self.todo)
            node = graph.nodes[ordinal]
            own = rows(self.slots[ordinal], node.shape, node.dtype)
            before.append(self.steps(ordinal, own, f"temporary: {self.materialised[ordinal]}"))
            temporary = self.program.temporaries[own.slot - self.program.leaves - 1]
            self.free.setdefault(temporary.nbytes, []).append(own.slot)
        for group in reversed(before):
            self.program.steps.extend(group)
        self.program.steps.extend(last)
        return self.program

    def peel(self, root: int) -> int:
        """Return what is written where the target is reshaped instead of the result."""
        node, target = self.graph.nodes[root], self.target
        while isinstance(node, View) and isinstance(node.step, Reshape):
            layout = target.map.reshape(node.step.source)
            if layout is None:
                break
            self.target = target = Target(target.buffer, layout, target.dtype)
            root = self.graph.args[root][0]
            node = self.graph.nodes[root]
        return root

    # --- materialised nodes --------------------------------------------------------------------

    def find_materialised(self, root: int) -> None:
        """Mark the nodes that cannot be part of another node's kernel."""
        nodes, args = self.graph.nodes, self.graph.args
        for ordinal, node in enumerate(nodes):
            if isinstance(node, Reduce) and ordinal != root:
                self.materialised[ordinal] = f"{node.op.name} is evaluated once"
            elif isinstance(node, Concat) and ordinal != root:
                self.materialised[ordinal] = "joined arrays are laid out first"
            elif is_host(node):
                if ordinal != root:
                    self.materialised[ordinal] = "NumPy evaluates this operation"
                for arg in args[ordinal]:
                    if not isinstance(nodes[arg], Leaf | Scalar):
                        self.materialised.setdefault(
                            arg, "operand of an operation that NumPy evaluates"
                        )
        materialise_large(self.graph, self.materialised, root)

    # --- steps ---------------------------------------------------------------------------------

    def steps(self, ordinal: int, to: Destination, note: str) -> list[Step]:
        """Return the steps that evaluate one node into ``to`` (which nothing else uses)."""
        node = self.graph.nodes[ordinal]
        if isinstance(node, SegmentReduce):
            return segment_steps(self, ordinal, node, to, note)
        if isinstance(node, Reduce):
            return fold_steps(self, ordinal, node, to, note)
        if isinstance(node, Concat):
            return [
                step
                for part, own in self.windows(ordinal, node, to)
                for step in self.map_one(part, -1, own, note)
            ]
        if is_host(node):
            return [self.host_step(ordinal, to, note)]
        return self.map_one(ordinal, ordinal, to, note)

    def windows(self, ordinal: int, node: Concat, to: Destination) -> list[tuple[int, Destination]]:
        """Return each joined part with its own piece of the destination."""
        found, start = [], 0
        for arg, part in zip(self.graph.args[ordinal], node.parts, strict=True):
            extent = part.shape[node.axis]
            piece = to.layout.apply(window(node.shape, node.axis, start, extent))
            if piece.size:
                found.append((arg, replace(to, layout=piece)))
            start += extent
        return found

    def map_one(self, start: int, own: int, to: Destination, note: str) -> list[Step]:
        """Return the steps that compute node ``start`` element by element."""
        parts = self.divided(start, own, to)
        if parts is None:
            return [self.copy_step(start, own, to, note)]
        memory = [self.memory(use, Access.APART, own) for use in parts[0].lowered.uses]
        return _map_steps(parts, memory, None, note)

    def divided(
        self,
        start: int,
        own: int,
        to: Destination,
        axes: tuple[int, ...] | None = None,
        along: int = FIXED,
    ) -> list[Part] | None:
        """Return the boxes of a kernel, materialising operands whose tiles do not fit the others'.

        None if that is the destination, or the very operand that the kernel copies: no loop nest
        serves its layout.
        """
        while True:
            lowered = self.lowered(start, own)
            over = to
            if axes is not None:
                over = replace(to, layout=spread(to.layout, lowered.shape, axes))
            try:
                return divide(lowered, over, along)
            except TooManyBoxes as rough:
                if rough.which == 0 or lowered.uses[rough.which - 1].ordinal == own:
                    return None
                misfit = lowered.uses[rough.which - 1].ordinal
                self.materialised[misfit] = "its tiles have too little in common with the others'"

    def copy_step(self, start: int, own: int, to: Destination, note: str) -> HostStep:
        """Return the step with which NumPy copies between memory that no loop nest serves."""
        node = self.graph.nodes[start]
        if start == own and isinstance(node, Leaf):
            place = Place(self.leaf_slot[id(node)], node.map.based(), node.dtype)
        else:
            self.materialised.setdefault(start, "the destination's layout is no loop nest")
            place = Place(self.slot(start), Strided.row_major(node.shape), node.dtype)
        return HostStep(
            None, [place], Place(to.slot, to.layout, to.dtype), f"{note}; NumPy copies elements"
        )

    def host_step(self, ordinal: int, to: Destination, note: str) -> HostStep:
        node = self.graph.nodes[ordinal]
        assert isinstance(node, Elementwise)
        operands: list[Place | int] = []
        for arg in self.graph.args[ordinal]:
            value = self.graph.nodes[arg]
            if isinstance(value, Scalar):
                operands.append(arg)
            elif isinstance(value, Leaf) and arg not in self.materialised:
                slot = self.leaf_slot[id(value)]
                operands.append(Place(slot, value.map.based(), value.dtype))
            else:
                layout = Strided.row_major(value.shape)
                operands.append(Place(self.slot(arg), layout, value.dtype))
        place = Place(to.slot, to.layout, to.dtype)
        return HostStep(node.op, operands, place, f"{note}; NumPy runs {node.op.name}")

    def lowered(self, start: int, own: int) -> Lowered:
        """Lower a kernel, materialising nodes until it can be."""
        while True:
            try:
                return lower(self.graph, start, self.materialised, own)
            except Materialise as needed:
                if needed.ordinal in self.materialised:  # would go on for ever
                    raise RuntimeError(
                        f"node {needed.ordinal} was materialised twice: {needed.reason}"
                    ) from needed
                self.materialised[needed.ordinal] = needed.reason

    def memory(self, use: Use, access: Access, own: int) -> Memory:
        """Return where an operand of node ``own``'s kernel is, planning its temporary."""
        node = self.graph.nodes[use.ordinal]
        if use.iota:
            return Memory(-1, Access.POSITION)
        if isinstance(node, Leaf) and (use.ordinal not in self.materialised or use.ordinal == own):
            return Memory(self.leaf_slot[id(node)], access)
        return Memory(self.slot(use.ordinal), Access.APART)

    def slot(self, ordinal: int) -> int:
        """Return the slot of a materialised node's temporary."""
        if ordinal not in self.slots:
            node = self.graph.nodes[ordinal]
            nbytes = math.prod(node.shape) * node.dtype.itemsize
            reason = f"{self.materialised[ordinal]}: {describe(node)}"
            self.slots[ordinal] = self.temporary(nbytes, reason)
            heapq.heappush(self.todo, -ordinal)
        return self.slots[ordinal]

    def temporary(self, nbytes: int, reason: str) -> int:
        """Return the slot of memory, of which only steps that run later have made use."""
        temporaries, first = self.program.temporaries, self.program.leaves + 1
        slots = self.free.get(nbytes)
        if not slots:
            temporaries.append(Temporary(nbytes, reason))
            return self.program.leaves + len(temporaries)
        slot = slots.pop()
        after = temporaries[slot - first].reason
        if reason not in after:
            temporaries[slot - first] = Temporary(nbytes, f"{reason}; later: {after}")
        return slot

    # --- aliasing ------------------------------------------------------------------------------

    def final_steps(self, root: int, to: Destination) -> list[Step]:
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

    def aliased_steps(self, root: int, to: Destination) -> list[Step] | None:
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
            self.memory(use, _ACCESS.get(direction, Access.SHARED), root)
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
        order = next((_ORDERS[v] for v in directions if v in _ORDERS), None)
        if order is not None and len(parts) > 1:
            return self.by_way_of(root, "no order of boxes keeps what operands still need")
        return _map_steps(parts, memory, order, "result")

    def resolved(
        self, lowered: Lowered, directions: Sequence[Direction]
    ) -> tuple[Traversal | None, list[Use]]:
        """Return the order of slabs, if one is needed, and the operands to copy beforehand."""
        found = set(directions)
        if Direction.COPY not in found and len(found & _ORDERS.keys()) < 2:
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
        if self.noalias or use.ordinal in self.materialised or not isinstance(node, Leaf):
            return Direction.DISJOINT
        if any(isinstance(n, Gather) for n in self.graph.nodes):
            # The layout of a gathered operand does not say what it reads.
            return Direction.COPY if shares(self.target, node) else Direction.DISJOINT
        return direction_of(self.target, node, use.layout)

    def result(self) -> Destination:
        """Return the target as the destination of the last step."""
        target = self.target
        bits = target.map.bits_of(target.dtype.itemsize)
        return Destination(TARGET, target.map.based(), target.dtype, bits)

    def check_promise(self, root: int) -> None:
        """Raise if ``noalias`` was promised of operands that do alias."""
        self.noalias = False
        try:
            harmless = (Direction.DISJOINT, Direction.SAME)
            single = not isinstance(self.graph.nodes[root], Reduce | Concat)
            for leaf in self.graph.leaves:
                uses = self.lowered(root, root).uses if single else []
                bad = any(
                    self.direction(use) not in harmless
                    for use in uses
                    if self.graph.nodes[use.ordinal] is leaf
                )
                if bad or (not single and self.overlaps(leaf)):
                    raise NoAliasError(
                        f"noalias: operand {describe(leaf)} shares memory with the destination "
                        f"of shape {self.target.map.shape} in another order; leave noalias out"
                    )
        finally:
            self.noalias = True


def _map_steps(
    parts: Sequence[Part], memory: Sequence[Memory], order: Mode | None, note: str
) -> list[Step]:
    depth = max([map_depth(part.lowered, part.to) for part in parts]) if len(parts) > 1 else 1
    return [map_step(part.lowered, memory, part.to, order, note, depth) for part in parts]


_ACCESS = {Direction.DISJOINT: Access.APART, Direction.SAME: Access.SAME}


def _may_raise(node: Node) -> bool:
    """Tell whether a user's function could stop the kernel of a node."""
    if isinstance(node, Reduce):
        op: Op = node.op.combine
    elif isinstance(node, Elementwise):
        op = node.op
    else:
        return False
    return isinstance(op, UserOp) and op.may_raise


_HALF = "a function that may raise must not leave half a result"


def is_host(node: Node) -> bool:
    """Tell whether NumPy must run a node."""
    if not isinstance(node, Elementwise):
        return False
    return node.op.body(tuple([arg.dtype for arg in node.operands])) is None
