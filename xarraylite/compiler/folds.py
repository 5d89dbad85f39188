"""The steps of a reduction: one, or partial results and what joins them.

One result is folded in parts that are fixed by the expression (`steps.chunk_ranges`), so it has
the same bits on any number of threads.  Every box of a tiled operand is folded on its own.

**Positions of extremes.**  `argmax` is two folds: the greatest element, and the least position of
an element that equals it (or is NaN).  Where the operand is memory whose elements lie side by side
along what is folded, both are one kernel, which reads the memory once (`codegen.emit.position`).
The expression stays as it is, so whoever evaluates it in another way (parts that are read from
storage, NumPy, HLO) knows nothing of this; here the pattern is recognised.
"""

from __future__ import annotations

import math
from dataclasses import replace

from .._records import record
from ..codegen.emit.body import Body, Load
from ..codegen.emit.folding import Form
from ..codegen.emit.lanes import LANED
from ..codegen.emit.streams import Access
from ..codegen.emit.tokens import token
from ..dtypes.names import kind, uint8
from ..ir.node import Elementwise, Iota, Leaf, Reduce, Scalar
from ..layout.splitting import TooManyBoxes
from ..layout.strided import Strided, row_major_strides
from ..layout.tiled import Map
from ..ops.reductions import MAX, MIN, Reduction
from ..ops.table import OPS
from .arguments import Computation, OperandSlot, packing, strided, unit
from .boxes import Part, divide, spread
from .graph import Graph
from .limits import LONG_CHUNK
from .lower import Lowered, Use
from .planner import Planner
from .program import SlotArray, Step
from .steps import Range, chunk_ranges, form_of, nests_of, reduce_step


@record(frozen=True, slots=True)
class Folding:
    """The planning of one reduction.

    Attributes
    ----------
    planner : Planner
        Of all of the program.
    ordinal, node : int and Reduce
        What is folded how.
    to : SlotArray
        Where results go.
    note : str
        What they are for.
    """

    planner: Planner
    ordinal: int
    node: Reduce
    to: SlotArray
    note: str

    def steps(self) -> list[Step]:
        """Return the steps: one, or partial results and what joins them."""
        whole = self.position_step()
        if whole is not None:
            return [whole]
        node, axes = self.node, self.node.axes
        parts = self.divided(SlotArray.rows(-1, node.shape, self.to.dtype))
        assert parts is not None, "row-major results are a loop nest"
        memory = self.planner.apart(parts[0].lowered, self.ordinal)
        groups = {part.group(axes) for part in parts}
        alone = len(groups) == 1 and node.op.divided
        chunks = [chunk_ranges(p.lowered, p.loops(axes), alone, node.op.ends) for p in parts]
        forms = [form_of(p.lowered, p.loops(axes)) for p in parts]
        steps: list[Step] | None
        if len(groups) == len(parts) and all(len(c) == 1 for c in chunks):
            steps = self.whole_steps(forms, memory, chunks[0])
        else:
            steps = self.partial_steps(parts, forms, memory, chunks)
        if steps is None:
            steps = [self.planner.copy_step(self.ordinal, -1, self.to, self.note)]
        return steps

    @property
    def text(self) -> str:
        """What a step says that folds elements."""
        return f"{self.note}; {self.node.op.name} over axes {self.node.axes}"

    def divided(self, to: SlotArray) -> list[Part] | None:
        """Return the boxes of what is folded into ``to``; None if that is no loop nest."""
        arg = self.planner.graph.args[self.ordinal][0]
        return self.planner.divided(arg, self.ordinal, to, self.node.axes)

    def whole_steps(
        self, forms: list[Form], memory: list[OperandSlot], chunk: tuple[Range, ...]
    ) -> list[Step] | None:
        """Return the steps that fold into the destination at once: each result is of one chunk.

        The boxes are those of the destination then, in which folds go on in the ``forms`` that
        they have in row-major results.  None if no loop nest serves its layout, or if it has other
        boxes and these have several forms.
        """
        materialised, op = dict(self.planner.materialised), self.node.op
        parts = self.divided(self.to)
        if parts is not None and len(parts) != len(forms):  # boxes of boxes
            forms = forms[:1] * len(parts) if len(set(forms)) == 1 else []
        if parts is None or not forms:
            return None
        if self.planner.materialised != materialised:
            # The kernel reads other operands than `memory` has.  Each round materialises one more.
            return self.steps()
        return [
            reduce_step(p.over(memory), op, p.loops(self.node.axes), chunk, 0, self.text, form=form)
            for p, form in zip(parts, forms, strict=True)
        ]

    def partial_steps(
        self,
        parts: list[Part],
        forms: list[Form],
        memory: list[OperandSlot],
        chunks: list[tuple[Range, ...]],
    ) -> list[Step] | None:
        """Return the steps that fold every part on its own, and then the partial results.

        Those of one group of results lie behind each other.  None if they cannot be joined in the
        destination: no loop nest serves its layout.
        """
        op, axes, to = self.node.op, self.node.axes, self.to
        taken: dict[tuple[int, ...], int] = {}
        starts = []
        for part, own in zip(parts, chunks, strict=True):
            group = part.group(axes)
            starts.append(taken.get(group, 0))
            taken[group] = starts[-1] + len(own)
        count = max(taken.values())
        stride = math.prod(self.node.shape)
        shape = (count, *self.node.shape)
        use = Use(-1, to.dtype, Strided.row_major(shape), 8 * to.dtype.itemsize)
        joined = Lowered(shape, Body((Load(0, to.dtype),)), [use], [], [])
        try:
            ends = divide(joined, replace(to, layout=spread(to.layout, shape, (0,))))
        except TooManyBoxes:
            return None
        nbytes = stride * count * to.dtype.itemsize
        slot = self.planner.temporary(nbytes, f"partial results of {op.name}")
        found: list[Step] = []
        for part, form, own, start in zip(parts, forms, chunks, starts, strict=True):
            layout = strided(part.to.layout)
            moved = replace(layout, offset=layout.offset + start * stride)
            what = Computation(part.lowered, memory, SlotArray.at(slot, moved, to.dtype))
            loops = part.loops(axes)
            found.append(reduce_step(what, op, loops, own, stride, self.text, form=form))
        known, text = [OperandSlot(slot, Access.APART)], "join partial results"
        form = form_of(joined, (0,))
        for part in ends:
            loops = part.loops((0,))
            found.append(reduce_step(part.over(known), op, loops, (), 0, text, form=form))
        return found

    def position_step(self) -> Step | None:
        """Return the one step of a fold that is the first position of an extreme; else None."""
        found = _extreme(self.planner.graph, self.ordinal, self.node)
        if found is None:
            return None
        arg, op = found
        parts = self.planner.divided(arg, self.ordinal, self.to, self.node.axes)
        if parts is None or len(parts) != 1:
            return None
        part = parts[0]
        axes, lowered = part.loops(self.node.axes), part.lowered
        use = lowered.uses[0]
        bits = 1 if kind(use.dtype) == "b" else use.bits
        if bits == 1:  # a byte each, 0 or 1
            body = replace(lowered.body, instructions=(Load(0, uint8),))
            lowered = replace(lowered, body=body, uses=[replace(use, dtype=uint8)])
        reduced = nests_of(lowered, part.to.layout, unit(self.to.bits), axes)[1]
        names = token(lowered.body.dtype)
        one_loop = len(reduced.extents) == 1
        known = names.memory == names.value and (op.vector, names.value) in LANED
        if not (one_loop and known) or form_of(lowered, axes) is not Form.ALONG:
            return None
        if reduced.extents[0] > LONG_CHUNK or packing(self.to.bits) > 1:
            return None  # a Ctrl-C would wait too long
        what = Computation(lowered, self.planner.apart(lowered, self.ordinal), part.to)
        ranges = chunk_ranges(lowered, axes, False)
        text = f"{self.note}; position of {op.name} over axes {self.node.axes}"
        return reduce_step(what, op, axes, ranges, 0, text, form=Form.ALONG, position=bits)


def _extreme(graph: Graph, ordinal: int, node: Reduce) -> tuple[int, Reduction] | None:
    """Return the memory and the fold if ``node`` is the first position of its extreme."""
    picked = graph.args[ordinal][0]
    if node.op is not MIN or not _is(graph, picked, "where"):
        return None
    hit, places, _ = graph.args[picked]
    if not _counts(graph, places, node) or not isinstance(
        graph.nodes[graph.args[picked][2]], Scalar
    ):
        return None
    missing = None
    if _is(graph, hit, "logical_or"):
        hit, missing = graph.args[hit]
    if not _is(graph, hit, "equal"):
        return None
    arg, least = graph.args[hit]
    leaf, fold = graph.nodes[arg], graph.nodes[least]
    if not isinstance(leaf, Leaf) or not isinstance(fold, Reduce) or graph.args[least] != (arg,):
        return None
    if fold.op not in (MAX, MIN) or fold.axes != node.axes or (fold.shape and not fold.keepdims):
        return None
    if not _in_order(leaf.map, leaf.shape, node.axes):
        return None
    floats = kind(leaf.dtype) == "f"
    if floats != (missing is not None and _is(graph, missing, "isnan")):
        return None
    if missing is not None and graph.args[missing] != (arg,):
        return None
    return arg, fold.op


def _is(graph: Graph, ordinal: int, name: str) -> bool:
    node = graph.nodes[ordinal]
    return isinstance(node, Elementwise) and node.op is OPS[name]


def _counts(graph: Graph, ordinal: int, fold: Reduce) -> bool:
    """Tell whether a node numbers the elements that are folded, in row-major order."""
    node = graph.nodes[ordinal]
    if not isinstance(node, Iota) or node.map.offset:
        return False
    rest = [s for k, s in enumerate(node.map.strides) if k not in fold.axes]
    return not any(rest) and _in_order(node.map, node.shape, fold.axes)


def _in_order(place: Map, shape: tuple[int, ...], axes: tuple[int, ...]) -> bool:
    """Tell whether elements along some axes follow each other, in row-major order, without gaps."""
    if not isinstance(place, Strided):
        return False
    wanted = row_major_strides([shape[k] for k in axes])
    return all([shape[k] == 1 or place.strides[k] == s for k, s in zip(axes, wanted, strict=True)])
