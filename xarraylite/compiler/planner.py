"""What a plan has decided so far: which nodes are materialised, their memory, the kernels over it.

`plan` decides in what order steps run and how the target is written; `folds` and `segments` make
the steps of reductions.  All of them ask here for the lowered code of a kernel, the boxes of its
iteration space and the slots of its operands, and what they ask for may materialise nodes: each of
these gets a temporary, and stays materialised for the rest of the plan.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import replace

from ..codegen.emit.mapping import Mode
from ..codegen.emit.streams import Access
from ..index.transform import FIXED
from ..ir.build import describe
from ..ir.node import Concat, Elementwise, Leaf, Reduce, Scalar
from ..layout.splitting import TooManyBoxes
from .arguments import OperandSlot
from .boxes import Part, divide, spread
from .graph import Graph, byte_span
from .lower import Lowered, Materialise, Use, is_host, lower
from .program import TARGET, HostStep, Program, SlotArray, Step, Temporary
from .size import materialise_large, materialise_stretched
from .steps import map_nest, map_step


class Planner:
    """The state of one planning, and the kernels that can be made in it.

    Attributes
    ----------
    graph : Graph
        The expression.
    program : Program
        Its steps and temporaries, so far.
    materialised : dict of int to str
        Nodes that are evaluated on their own, and why.
    leaf_slot : dict of int to int
        The slot of a leaf, by its identity.
    slots : dict of int to int
        The slot of a materialised node's temporary.
    todo : list of int
        A heap of such nodes, whose steps have yet to be made: negative, so that the last is first.
    free : dict of int to list of int
        Slots of temporaries that only steps which run later have made use of, by size.
    """

    __slots__ = ("free", "graph", "leaf_slot", "materialised", "program", "slots", "todo")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.program = Program(leaves=len(graph.leaves))
        self.leaf_slot = {id(leaf): 1 + k for k, leaf in enumerate(graph.leaves)}
        self.materialised: dict[int, str] = {}
        self.free: dict[int, list[int]] = {}
        self.slots: dict[int, int] = {}
        self.todo: list[int] = []

    def find_materialised(self, root: int) -> None:
        """Mark the nodes that cannot be part of another node's kernel."""
        nodes, args = self.graph.nodes, self.graph.args
        users: dict[int, list[int]] = {}
        for ordinal in range(len(nodes)):
            for arg in args[ordinal]:
                users.setdefault(arg, []).append(ordinal)
        for ordinal, node in enumerate(nodes):
            if isinstance(node, Reduce) and ordinal != root:
                self.materialised[ordinal] = f"{node.op.name} is evaluated once"
            elif isinstance(node, Concat) and ordinal != root:
                if [isinstance(nodes[user], Concat) for user in users[ordinal]] == [True]:
                    continue  # a part of a join, which is laid out in its window
                self.materialised[ordinal] = "joined arrays are laid out first"
            elif is_host(node):
                if ordinal != root:
                    self.materialised[ordinal] = "NumPy evaluates this operation"
                for arg in args[ordinal]:
                    if not isinstance(nodes[arg], Leaf | Scalar):
                        self.materialised.setdefault(
                            arg, "operand of an operation that NumPy evaluates"
                        )
        materialise_stretched(self.graph, self.materialised)
        materialise_large(self.graph, self.materialised, root)

    # --- kernels -------------------------------------------------------------------------------

    def map_one(self, start: int, own: int, to: SlotArray, note: str) -> list[Step]:
        """Return the steps that compute node ``start`` element by element."""
        parts = self.divided(start, own, to)
        if parts is None:
            return [self.copy_step(start, own, to, note)]
        return map_steps(parts, self.apart(parts[0].lowered, own), None, note)

    def divided(
        self,
        start: int,
        own: int,
        to: SlotArray,
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

    def copy_step(self, start: int, own: int, to: SlotArray, note: str) -> HostStep:
        """Return the step with which NumPy copies between memory that no loop nest serves."""
        if start != own or not isinstance(self.graph.nodes[start], Leaf):
            self.materialised.setdefault(start, "the destination's layout is no loop nest")
        operand = self.host_operand(start, own)
        return HostStep(None, [operand], to, f"{note}; NumPy copies elements")

    def host_step(self, ordinal: int, to: SlotArray, note: str) -> HostStep:
        node = self.graph.nodes[ordinal]
        assert isinstance(node, Elementwise)
        operands = [self.host_operand(arg, ordinal) for arg in self.graph.args[ordinal]]
        return HostStep(node.op, operands, to, f"{note}; NumPy runs {node.op.name}")

    def host_operand(self, ordinal: int, own: int) -> SlotArray | int:
        """Return what NumPy reads of an operand of node ``own``, or the number of a scalar."""
        node = self.graph.nodes[ordinal]
        if isinstance(node, Scalar):
            return ordinal
        leaf = self.leaf(ordinal, own)
        if leaf is not None:
            return SlotArray.at(self.leaf_slot[id(leaf)], leaf.map.based(), leaf.dtype)
        return SlotArray.rows(self.slot(ordinal), node.shape, node.dtype)

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

    def memory(self, use: Use, access: Access, own: int) -> OperandSlot:
        """Return where an operand of node ``own``'s kernel is, planning its temporary."""
        if use.iota:
            return OperandSlot(-1, Access.POSITION)
        leaf = self.leaf(use.ordinal, own)
        if leaf is not None:
            first, last, _ = byte_span(leaf.snapshot, leaf.map, leaf.dtype.itemsize)
            return OperandSlot(self.leaf_slot[id(leaf)], access, (first, last))
        slot = self.slot(use.ordinal)
        return OperandSlot(slot, access if slot == TARGET else Access.APART)

    def apart(self, lowered: Lowered, own: int) -> list[OperandSlot]:
        """Return the same of all operands, none of which meets the destination."""
        return [self.memory(use, Access.APART, own) for use in lowered.uses]

    def leaf(self, ordinal: int, own: int) -> Leaf | None:
        """Return the leaf whose memory, and no copy of it, is read for node ``own``."""
        node = self.graph.nodes[ordinal]
        copied = ordinal in self.materialised and ordinal != own
        return node if isinstance(node, Leaf) and not copied else None

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


def map_steps(
    parts: Sequence[Part], memory: Sequence[OperandSlot], order: Mode | None, note: str
) -> list[Step]:
    """Return the steps of all boxes of a kernel, with equally many loops, so that they share it."""
    every = [part.over(memory) for part in parts]
    depth = max([len(map_nest(what).extents) for what in every]) if len(parts) > 1 else 1
    return [map_step(what, order, note, depth) for what in every]
