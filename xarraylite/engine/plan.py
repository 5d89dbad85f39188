"""From a graph to a program: what is fused, which temporaries exist and why, in what order.

Everything elementwise between leaves and the result is one kernel.  A node is evaluated on its
own first (a *cut*) when it is

* a reduction inside an expression: evaluated once, never per element;
* a join inside an expression;
* an operation without a scalar body, which NumPy runs, or an operand of one;
* dear and needed along several paths, or reshaped where that needs a copy (see ``lower``);
* the end of a chain so long that its kernel would not compile in good time.

The step that writes the target decides about aliasing.  Each leaf that may share bytes with the
target is classified (``storage.overlap``): apart or same element costs nothing, a shift makes
the loops run in the safe order, and what no order serves is copied first — that leaf alone, or
the result if that is smaller.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from .._config import settings
from .._errors import NoAliasError
from ..expr.build import describe
from ..expr.node import Concat, Elementwise, Gather, Leaf, Node, Reduce, Scalar, View
from ..layout.strided import Strided
from ..ops.user import UserOp
from ..shape.transform import Reshape, window
from ..storage.overlap import Span, Verdict, classify, may_share
from .emit.body import Body, Load
from .emit.mapping import Mode
from .emit.walkers import Access
from .graph import Graph
from .lower import Cut, Lowered, Use, lower
from .program import TARGET, HostStep, Place, Program, Step, Temporary
from .steps import Destination, Memory, chunk_ranges, map_step, reduce_step
from .target import Target

#: Nodes of one kernel; compile time grows faster than linearly beyond.
KERNEL_NODES = 160

_ORDERS = {Verdict.ASCENDING: Mode.STAGED, Verdict.DESCENDING: Mode.FALLING}


def plan(graph: Graph, target: Target, noalias: bool) -> Program:
    """Return the program that evaluates ``graph`` into ``target``.

    Raises
    ------
    NoAliasError
        Under the ``check_noalias`` setting, if ``noalias`` was promised and does not hold.
    """
    return _Planner(graph, target, noalias).run()


class _Planner:
    """The state of one planning."""

    __slots__ = ("cuts", "graph", "leaf_slot", "noalias", "program", "slots", "target", "todo")

    def __init__(self, graph: Graph, target: Target, noalias: bool) -> None:
        self.graph = graph
        self.target = target
        self.noalias = noalias
        self.program = Program(leaves=len(graph.leaves))
        self.leaf_slot = {id(leaf): 1 + k for k, leaf in enumerate(graph.leaves)}
        self.cuts: dict[int, str] = {}
        self.slots: dict[int, int] = {}
        self.todo: list[int] = []

    def run(self) -> Program:
        graph, root = self.graph, len(self.graph.nodes) - 1
        if math.prod(self.target.map.shape) == 0:
            return self.program
        root = self.peel(root)
        self.find_cuts(root)
        if self.noalias and settings.check_noalias:
            self.check_promise(root)
        to = Destination(
            TARGET, Strided(graph.nodes[root].shape, self.target.map.strides), self.target.dtype
        )
        last = self.final_steps(root, to)
        before: list[list[Step]] = []
        while self.todo:
            ordinal = -heapq.heappop(self.todo)
            node = graph.nodes[ordinal]
            own = Destination(self.slots[ordinal], Strided.row_major(node.shape), node.dtype)
            before.append(self.steps(ordinal, own, f"temporary: {self.cuts[ordinal]}"))
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

    # --- cuts ----------------------------------------------------------------------------------

    def find_cuts(self, root: int) -> None:
        """Mark the nodes that cannot be part of another node's kernel."""
        nodes, args = self.graph.nodes, self.graph.args
        for ordinal, node in enumerate(nodes):
            if isinstance(node, Reduce) and ordinal != root:
                self.cuts[ordinal] = f"{node.op.name} is evaluated once"
            elif isinstance(node, Concat) and ordinal != root:
                self.cuts[ordinal] = "joined arrays are laid out first"
            elif is_host(node):
                if ordinal != root:
                    self.cuts[ordinal] = "NumPy evaluates this operation"
                for arg in args[ordinal]:
                    if not isinstance(nodes[arg], Leaf | Scalar):
                        self.cuts.setdefault(arg, "operand of an operation that NumPy evaluates")
        if len(nodes) > KERNEL_NODES:
            self.cut_large(root)

    def cut_large(self, root: int) -> None:
        """Cut so that no kernel has many more than `KERNEL_NODES` distinct nodes."""
        nodes, args = self.graph.nodes, self.graph.args
        cones: list[frozenset[int]] = []
        for ordinal in range(len(nodes)):
            parts = [frozenset((arg,)) if arg in self.cuts else cones[arg] for arg in args[ordinal]]
            cone = frozenset((ordinal,)).union(*parts)
            while len(cone) > KERNEL_NODES and ordinal != root:
                big = max(range(len(parts)), key=lambda k: len(parts[k]))
                arg = args[ordinal][big]
                if len(parts[big]) == 1 or isinstance(nodes[arg], Leaf | Scalar):
                    break
                self.cuts.setdefault(arg, "the expression is too long for one kernel")
                parts[big] = frozenset((arg,))
                cone = frozenset((ordinal,)).union(*parts)
            cones.append(cone)

    # --- steps ---------------------------------------------------------------------------------

    def steps(self, ordinal: int, to: Destination, note: str) -> list[Step]:
        """Return the steps that evaluate one node into ``to`` (which nothing else uses)."""
        node = self.graph.nodes[ordinal]
        if isinstance(node, Reduce):
            return self.reduce_steps(ordinal, node, to, note)
        if isinstance(node, Concat):
            return [
                step
                for part, own in self.windows(ordinal, node, to)
                for step in [self.map_one(part, -1, own, note)]
            ]
        if is_host(node):
            return [self.host_step(ordinal, to, note)]
        return [self.map_one(ordinal, ordinal, to, note)]

    def windows(self, ordinal: int, node: Concat, to: Destination) -> list[tuple[int, Destination]]:
        """Return each joined part with its own piece of the destination."""
        found, start = [], 0
        for arg, part in zip(self.graph.args[ordinal], node.parts, strict=True):
            extent = part.shape[node.axis]
            piece = to.layout.apply(window(node.shape, node.axis, start, extent))
            if piece.size:
                found.append((arg, Destination(to.slot, piece, to.dtype)))
            start += extent
        return found

    def map_one(self, start: int, own: int, to: Destination, note: str) -> Step:
        lowered = self.lowered(start, own)
        memory = [self.memory(use, Access.APART, own) for use in lowered.uses]
        return map_step(lowered, memory, to, None, note)

    def reduce_steps(self, ordinal: int, node: Reduce, to: Destination, note: str) -> list[Step]:
        lowered = self.lowered(self.graph.args[ordinal][0], ordinal)
        memory = [self.memory(use, Access.APART, ordinal) for use in lowered.uses]
        note = f"{note}; {node.op.name} over axes {node.axes}"
        chunks = chunk_ranges(lowered, node.axes, node.shape)
        if len(chunks) == 1:
            return [reduce_step(lowered, memory, to, node.op, node.axes, chunks, note)]
        shape = (len(chunks), *node.shape)
        layout = Strided.row_major(shape)
        slot = self.temporary(layout.size * to.dtype.itemsize, f"partial results of {node.op.name}")
        partial = Destination(slot, layout, to.dtype)
        joined = Lowered(
            shape, Body((Load(0, to.dtype),)), [Use(ordinal, to.dtype, layout)], [], []
        )
        known = [Memory(slot, Access.APART)]
        return [
            reduce_step(lowered, memory, partial, node.op, node.axes, chunks, note),
            reduce_step(joined, known, to, node.op, (0,), (), "join partial results"),
        ]

    def host_step(self, ordinal: int, to: Destination, note: str) -> HostStep:
        node = self.graph.nodes[ordinal]
        assert isinstance(node, Elementwise)
        operands: list[Place | int] = []
        for arg in self.graph.args[ordinal]:
            value = self.graph.nodes[arg]
            if isinstance(value, Scalar):
                operands.append(arg)
            elif isinstance(value, Leaf) and arg not in self.cuts:
                layout = Strided(value.map.shape, value.map.strides)
                operands.append(Place(self.leaf_slot[id(value)], layout, value.dtype))
            else:
                layout = Strided.row_major(value.shape)
                operands.append(Place(self.slot(arg), layout, value.dtype))
        place = Place(to.slot, to.layout, to.dtype)
        return HostStep(node.op, operands, place, f"{note}; NumPy runs {node.op.name}")

    def lowered(self, start: int, own: int) -> Lowered:
        """Lower a kernel, cutting until it can be."""
        while True:
            try:
                return lower(self.graph, start, self.cuts, own)
            except Cut as cut:
                if cut.ordinal in self.cuts:  # would go on for ever
                    raise RuntimeError(f"node {cut.ordinal} was cut twice: {cut.reason}") from cut
                self.cuts[cut.ordinal] = cut.reason

    def memory(self, use: Use, access: Access, own: int) -> Memory:
        """Return where an operand of node ``own``'s kernel is, planning its temporary."""
        node = self.graph.nodes[use.ordinal]
        if use.iota:
            return Memory(-1, Access.POSITION)
        if isinstance(node, Leaf) and (use.ordinal not in self.cuts or use.ordinal == own):
            return Memory(self.leaf_slot[id(node)], access)
        return Memory(self.slot(use.ordinal), Access.APART)

    def slot(self, ordinal: int) -> int:
        """Return the slot of a cut node's temporary."""
        if ordinal not in self.slots:
            node = self.graph.nodes[ordinal]
            nbytes = math.prod(node.shape) * node.dtype.itemsize
            reason = f"{self.cuts[ordinal]}: {describe(node)}"
            self.slots[ordinal] = self.temporary(nbytes, reason)
            heapq.heappush(self.todo, -ordinal)
        return self.slots[ordinal]

    def temporary(self, nbytes: int, reason: str) -> int:
        self.program.temporaries.append(Temporary(nbytes, reason))
        return self.program.leaves + len(self.program.temporaries)

    # --- aliasing ------------------------------------------------------------------------------

    def final_steps(self, root: int, to: Destination) -> list[Step]:
        """Return the steps that write the target, with as few copies as aliasing allows."""
        node = self.graph.nodes[root]
        if isinstance(node, Reduce | Concat):
            if any(self.overlaps(leaf) for leaf in self.graph.leaves):
                return [self.by_way_of(root, "the target is read until the last result")]
            return self.steps(root, to, "result")
        if is_host(node):
            return [self.host_step(root, to, "result")]
        if not self.noalias and any(_may_raise(n) for n in self.graph.nodes):
            return [self.by_way_of(root, "a function that may raise must not leave half a result")]
        lowered = self.lowered(root, root)
        verdicts = [self.verdict(use) for use in lowered.uses]
        found = set(verdicts)
        if Verdict.COPY in found or len(found & _ORDERS.keys()) == 2:
            chosen = self.choose_copies(lowered, verdicts, node)
            if chosen is None or any(use.ordinal == root for use in chosen):
                return [self.by_way_of(root, "operands need the target's old values")]
            for use in chosen:
                self.cuts[use.ordinal] = "the target is written before this operand is read"
            lowered = self.lowered(root, root)
            verdicts = [self.verdict(use) for use in lowered.uses]
        order = next((_ORDERS[v] for v in verdicts if v in _ORDERS), None)
        memory = [
            self.memory(use, _ACCESS.get(verdict, Access.SHARED), root)
            for use, verdict in zip(lowered.uses, verdicts, strict=True)
        ]
        return [map_step(lowered, memory, to, order, "result")]

    def by_way_of(self, root: int, reason: str) -> Step:
        """Return the step that copies the whole result from a temporary to the target."""
        self.cuts[root] = reason
        to = Destination(
            TARGET, Strided(self.target.map.shape, self.target.map.strides), self.target.dtype
        )
        return self.map_one(root, -1, to, "copy the result into the target")

    def choose_copies(
        self, lowered: Lowered, verdicts: Sequence[Verdict], node: Node
    ) -> list[Use] | None:
        """Return the leaves to copy in the cheaper loop order; None to copy the result."""
        rising = (Verdict.COPY, Verdict.DESCENDING)
        falling = (Verdict.COPY, Verdict.ASCENDING)
        options = [
            [use for use, v in zip(lowered.uses, verdicts, strict=True) if v in bad]
            for bad in (rising, falling)
        ]
        best = min(options, key=self.bytes_of)
        limit = math.prod(node.shape) * node.dtype.itemsize
        return best if self.bytes_of(best) <= limit else None

    def bytes_of(self, uses: Sequence[Use]) -> int:
        ordinals = {use.ordinal for use in uses}
        nodes = [self.graph.nodes[ordinal] for ordinal in ordinals]
        return sum(math.prod(node.shape) * node.dtype.itemsize for node in nodes)

    def overlaps(self, leaf: Leaf) -> bool:
        """Tell whether a leaf may share bytes with the target (never, under ``noalias``)."""
        return not self.noalias and may_share(self.span(None), self.span(leaf))

    def verdict(self, use: Use) -> Verdict:
        """Classify one operand of the step that writes the target."""
        node = self.graph.nodes[use.ordinal]
        if self.noalias or use.ordinal in self.cuts or not isinstance(node, Leaf):
            return Verdict.DISJOINT
        whole, part = self.span(None), self.span(node)
        if not may_share(whole, part):
            return Verdict.DISJOINT
        if any(isinstance(n, Gather) for n in self.graph.nodes):
            return Verdict.COPY  # the layout of a gathered operand does not say what it reads
        size = use.dtype.itemsize
        start = part.address + use.layout.offset * size
        strides = tuple([s * size for s in use.layout.strides])
        return classify(whole, Span(start, use.layout.shape, strides, size))

    def span(self, leaf: Leaf | None) -> Span:
        """Return the bytes of a leaf, or of the target."""
        buffer = self.target.buffer if leaf is None else leaf.reading.buffer
        layout = self.target.map if leaf is None else leaf.map
        size = (self.target if leaf is None else leaf).dtype.itemsize
        strides = tuple([s * size for s in layout.strides])
        return Span(buffer.address + layout.offset * size, layout.shape, strides, size)

    def check_promise(self, root: int) -> None:
        """Raise if ``noalias`` was promised of operands that do alias."""
        self.noalias = False
        try:
            harmless = (Verdict.DISJOINT, Verdict.SAME)
            single = not isinstance(self.graph.nodes[root], Reduce | Concat)
            for leaf in self.graph.leaves:
                uses = self.lowered(root, root).uses if single else []
                bad = any(
                    self.verdict(use) not in harmless
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


_ACCESS = {Verdict.DISJOINT: Access.APART, Verdict.SAME: Access.SAME}


def _may_raise(node: Node) -> bool:
    """Tell whether a user's function could stop the kernel of a node."""
    return isinstance(node, Elementwise) and isinstance(node.op, UserOp) and node.op.may_raise


def is_host(node: Node) -> bool:
    """Tell whether NumPy must run a node."""
    if not isinstance(node, Elementwise):
        return False
    return node.op.body(tuple([arg.dtype for arg in node.operands])) is None
