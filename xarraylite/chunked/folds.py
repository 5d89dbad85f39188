"""Reductions that are larger than memory, with the bits they would have in memory.

Folds that do not round (extremes, truths, integers) are joined block by block in any order.  Sums
and products of floats have a tree (`compiler.tree`): blocks of values folded by halving, rows added
in groups, fixed parts folded on their own and then joined.  That tree follows from the expression
alone, so it is known before anything is read.  It is kept by folding, at a time,

* a block of the results over all that is folded into them, or
* some whole parts of the tree, as many as fit: their dimension is split in two, parts and what is
  in them, and an ordinary reduction over the second gives all partial results at once,

where the planner is asked whether the tree of the piece is that part of the whole.  Partial results
are joined as the engine joins them: with what every addition rounds off kept apart (TwoSum).
Chunks and budget decide how much is folded at a time and nothing else.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..codegen.emit.folding import Form
from ..compiler.graph import canonical
from ..compiler.target import Target
from ..compiler.tree import Tree, tree_of
from ..dtypes.names import kind
from ..ir import build
from ..ir.node import Elementwise, Leaf, Node, Reduce
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..operands.nodes import borrow_array
from ..ops.reductions import PROD, SUM
from ..runtime import evaluate as engine
from .cut import Request, bind, cut, requests
from .pipeline import Array, Run, computed, part_of, run_blocks
from .plan import Grid, Piece, choose, gathered, piece_of, too_small
from .selection import Box, as_slices, select, shape_of, size_of, whole, window_of

#: Elements that are folded at a time, at least, where memory allows.
_MANY = 1 << 20

Result = tuple[Box, Array]


def leaf_of(values: Array) -> Node:
    """Return a leaf over values in memory."""
    return borrow_array(values, "eval")


def folded(node: Reduce, run: Run) -> Node:
    """Return the results of a reduction over stored operands as a leaf."""
    flat = _without_kept(node)
    made = np.empty(flat.shape, node.dtype)
    for box, values in fold(node, run):
        made[as_slices(box)] = values
    return leaf_of(made.reshape(node.shape))


def _without_kept(node: Reduce) -> Reduce:
    shape = tuple([n for k, n in enumerate(node.arg.shape) if k not in node.axes])
    return replace(node, shape=shape, keepdims=False)


def fold(node: Reduce, run: Run, chunks: Sequence[int] | None = None) -> Iterator[Result]:
    """Yield the results of a reduction, without the reduced dimensions, block by block.

    Parameters
    ----------
    node : Reduce
        Over an argument with stored operands, and nothing else that is folded.
    run : Run
        The budget, and who is told.
    chunks : sequence of int, optional
        Blocks of results are multiples of it.
    """
    node = _without_kept(node)
    rounds = node.op in (SUM, PROD) and kind(node.dtype) in "fc"
    if not rounds or engine.uses_reference():
        yield from _joined(node, run, chunks)
        return
    tree = _tree(node)
    plan = None if tree is None else _Parts.of(node, tree)
    if plan is not None and chunks is None:
        found = plan.results(run)
        if found is not None:
            yield whole(node.shape), found
            return
    yield from _complete(node, tree, run, chunks)


# --- folds that do not round --------------------------------------------------------------------


def _operand_chunks(node: Node) -> tuple[int, ...]:
    for stored in requests(node):
        source: Any = stored.source
        if stored.shape == node.shape:
            return tuple(source.chunks)
    return tuple([min(n, 1024) for n in node.shape])


def _joined(node: Reduce, run: Run, chunks: Sequence[int] | None) -> Iterator[Result]:
    """Yield results that are joined block by block."""
    kept = [k for k in range(len(node.arg.shape)) if k not in node.axes]
    lengths = list(_operand_chunks(node.arg))
    for k, length in zip(kept, chunks or (), strict=False):
        lengths[k] = length

    def make(box: Box) -> Piece:
        piece = piece_of(node.arg, box)
        shape = tuple([len(box[k]) for k in kept])
        return replace(piece, node=replace(node, shape=shape, arg=piece.node))

    grid, _ = choose(make, node.arg.shape, lengths, run.budget, chunks is not None)
    run.report(f"{node.op.name} over axes {node.axes}", len(grid))
    order = [*kept, *node.axes]
    boxes = Grid(
        tuple([node.arg.shape[k] for k in order]), tuple([grid.block[k] for k in order])
    ).boxes()
    back = np.argsort(order).tolist()
    pieces = (make(tuple([box[k] for k in back])) for box in boxes)
    found: list[Array] = []

    def join(piece: Piece, values: Array) -> None:
        if found:
            values = computed(
                build.elementwise(node.op.combine, leaf_of(found.pop()), leaf_of(values))
            )
        found.append(values)

    per = math.prod([grid.counts[k] for k in node.axes])
    for done, piece in enumerate(run_blocks(pieces, run, join), 1):
        run.advance(piece)
        if done % per == 0:
            values = found.pop()
            yield tuple([piece.box[k] for k in kept]), values.astype(node.dtype, copy=False)


# --- trees --------------------------------------------------------------------------------------


_NOWHERE = Buffer.allocate(0)


def imagined(node: Node) -> Node:
    """Return an expression as if what is stored were in memory, row-major, apart from all else."""
    leaves: dict[int, Node] = {}
    known: dict[int, Leaf] = {}
    loads = gathered([n for n in requests(node) if isinstance(n.source, Request)])
    for load in loads:
        base = _imagined(shape_of(load.box), load.source.dtype, len(known))
        known[id(load)] = base
        for user in load.users:
            leaves[id(user)] = part_of(load, base, user)
    for stored in requests(node):
        if id(stored) not in leaves:
            owner = id(stored.source)
            if owner not in known:
                known[owner] = _imagined(stored.shape, stored.dtype, len(known))
            leaves[id(stored)] = known[owner]
    return bind(node, leaves)


def _tree(node: Node) -> Tree | None:
    """Return the tree of a reduction of operands in memory."""
    made = imagined(node)
    graph = canonical(made, None, True)
    place = Strided.row_major(made.shape)
    return tree_of(graph, Target(_NOWHERE, place, made.dtype))


def _imagined(shape: tuple[int, ...], dtype: np.dtype[Any], number: int) -> Leaf:
    snapshot = Snapshot.of(_NOWHERE)
    snapshot.address = (number + 1) << 56  # apart from all others
    return Leaf(shape, dtype, snapshot, Strided.row_major(shape))


def _complete(
    node: Reduce, tree: Tree | None, run: Run, chunks: Sequence[int] | None
) -> Iterator[Result]:
    """Yield blocks of results, each over all that is folded into it."""
    shape = node.shape
    lengths = list(chunks or [min(n, 256) for n in shape])
    block = [max(1, min(c, n)) for c, n in zip(lengths, shape, strict=True)]

    def fits(box: Box) -> bool:
        return tree is not None and _tree(piece_of(node, box).node) == tree

    def make(box: Box) -> Piece:
        return piece_of(node, box)

    while block != list(shape) and not fits(window_of([0] * len(shape), block)):
        axis = max(k for k in range(len(shape)) if block[k] < shape[k])
        block[axis] = min(shape[axis], 2 * block[axis])
    grid, _ = choose(make, shape, block, run.budget, True, fits)
    run.report(f"{node.op.name} over axes {node.axes}", len(grid))

    def widened() -> Iterator[Piece]:
        for box in grid.boxes():
            full = tuple(
                [
                    range(max(0, n - b), n) if s[-1] + 1 == n else s
                    for s, b, n in zip(box, grid.block, shape, strict=True)
                ]
            )
            yield piece_of(node, full)

    found: list[Array] = []
    for box, piece in zip(
        grid.boxes(),
        run_blocks(widened(), run, lambda piece, values: found.append(values)),
        strict=True,
    ):
        run.advance(piece)
        own = [slice(s[0] - w[0], s[-1] + 1 - w[0]) for s, w in zip(box, piece.box, strict=True)]
        yield box, found.pop()[tuple(own)]


@dataclass(frozen=True, slots=True)
class _Parts:
    """A reduction whose tree has parts that can be folded one after another.

    Attributes
    ----------
    node : Reduce
        The reduction.
    tree : Tree
        Its order.
    first, last : int
        The reduced dimensions that parts are counted along, merged into one.
    unit : int
        Positions of a part along that.
    """

    node: Reduce
    tree: Tree
    first: int
    last: int
    unit: int

    @staticmethod
    def of(node: Reduce, tree: Tree) -> _Parts | None:
        """Return how a reduction is divided; None if it is not, or its parts are no boxes."""
        if len(tree.parts) < 2:
            return None
        r0, r1, j0, j1 = tree.parts[0]
        along = tree.form is Form.ALONG
        size = (r1 - r0) * (j1 - j0) if along else r1 - r0
        shape = node.arg.shape
        axes = [k for k in node.axes if shape[k] != 1]
        inner = math.prod([shape[k] for k in axes[1:]])
        if len(tree.loops) == 1 and axes == list(range(axes[0], axes[-1] + 1)):
            return _Parts(node, tree, axes[0], axes[-1], size)
        if tree.loops[0] == shape[axes[0]] and size % inner == 0:
            return _Parts(node, tree, axes[0], axes[0], size // inner)
        return None

    @property
    def length(self) -> int:
        """Positions that parts are counted along."""
        return math.prod(self.node.arg.shape[self.first : self.last + 1])

    @property
    def row(self) -> int:
        """Positions for each index of the first of these dimensions."""
        return math.prod(self.node.arg.shape[self.first + 1 : self.last + 1])

    def piece(self, low: int, high: int) -> Piece | None:
        """Return the partial results of the parts from one position up to another.

        None if the planner would fold them in another order.
        """
        shape = self.node.arg.shape
        rows = range(low // self.row, -(-high // self.row))
        box = (*whole(shape)[: self.first], rows, *whole(shape)[self.first + 1 :])
        argument = cut(self.node.arg, box)
        unit = min(self.unit, high - low)
        start = low - rows[0] * self.row
        split = _split(argument, (self.first, self.last), start, (high - low) // unit, unit)
        if split is None:
            return None
        moved = self.last - self.first - 1
        axes = [
            k if k < self.first else k - moved
            for k in self.node.axes
            if not self.first <= k <= self.last
        ]
        part = build.reduce(self.node.op, split, tuple(sorted([*axes, self.first + 1])), False)
        found = _tree(part)
        wanted = Tree(
            self.tree.form,
            (unit, *self.tree.loops[1:]),
            self.tree.block,
            found.parts if found else (),
        )
        if found is None or len(found.parts) != 1 or found != wanted:
            return None
        return Piece(box, part, gathered(requests(part)))

    def results(self, run: Run) -> Array | None:
        """Return the results, or None if the parts cannot be folded one by one."""
        edges = self._edges(run)
        if edges is None:
            return None
        kept_before = len([k for k in range(self.first) if k not in self.node.axes])
        run.report(f"{self.node.op.name} over axes {self.node.axes}", len(edges) - 1)
        join = _Join(self.node)

        def pieces() -> Iterator[Piece]:
            for low, high in itertools.pairwise(edges):
                piece = self.piece(low, high)
                assert piece is not None, "tried before"
                yield piece

        def take(piece: Piece, values: Array) -> None:
            join.take(np.moveaxis(values, kept_before, 0))

        for piece in run_blocks(pieces(), run, take):
            run.advance(piece)
        return join.result()

    def _edges(self, run: Run) -> list[int] | None:
        """Return where pieces begin and end, as large as the budget allows."""
        full = self.length // self.unit * self.unit
        per = self.unit
        best = self.piece(0, per)
        if best is None:
            return None
        if best.need > run.budget:
            raise too_small(best, run.budget)
        while per < full:
            wide = min(2 * per, full)
            wider = self.piece(0, wide)
            if wider is None or wider.need > run.budget:
                break
            many = size_of(best.box) >= _MANY
            if many and wider.moved / wide > 0.95 * best.moved / per:
                break
            per, best = wide, wider
        edges = list(range(0, full, per)) + [full]
        if full < self.length:
            edges.append(self.length)
        tried = {b - a for a, b in itertools.pairwise(edges)}
        for a, b in itertools.pairwise(edges):
            if b - a in tried:
                tried.discard(b - a)
                if self.piece(a, b) is None:
                    return None
        return edges


def _split(root: Node, dims: tuple[int, int], start: int, count: int, unit: int) -> Node | None:
    """Return an expression with some dimensions merged, and ``count`` times ``unit`` of them.

    Done at the operands, so that what is folded is memory as it would be of the whole.  None if an
    operand is stretched along some of the dimensions only.
    """
    rank = len(root.shape)
    first, last = dims
    extents = root.shape[first : last + 1]

    def divided(node: Node) -> Node:
        skip = rank - len(node.shape)
        if last < skip:
            return node
        if first < skip:
            node = build.reshape(node, (1,) * (skip - first) + node.shape)
            skip = first
        at, end = first - skip, last - skip + 1
        own = node.shape[at:end]
        if all([n == 1 for n in own]) and math.prod(extents) != 1:
            return build.reshape(node, (*node.shape[:at], 1, 1, *node.shape[end:]))
        if own != extents:
            raise _Stretched
        merged = build.reshape(node, (*node.shape[:at], math.prod(own), *node.shape[end:]))
        box = (
            *whole(node.shape[:at]),
            range(start, start + count * unit),
            *whole(node.shape[end:]),
        )
        window = select(merged, box)
        return build.reshape(window, (*node.shape[:at], count, unit, *node.shape[end:]))

    made: dict[int, Node] = {}

    def visit(node: Node) -> Node:
        stack = [node]
        while stack:
            top = stack[-1]
            if id(top) in made:
                stack.pop()
            elif isinstance(top, Elementwise):
                left = [arg for arg in top.operands if id(arg) not in made]
                if left:
                    stack.extend(left)
                    continue
                shape = _shape_split(top.shape, rank, dims, count, unit)
                made[id(top)] = replace(
                    top, shape=shape, operands=tuple([made[id(arg)] for arg in top.operands])
                )
                stack.pop()
            else:
                made[id(top)] = divided(top)
                stack.pop()
        return made[id(node)]

    try:
        return visit(root)
    except _Stretched:
        return None


class _Stretched(Exception):
    """An operand does not have all the dimensions that are merged."""


def _shape_split(
    shape: tuple[int, ...], rank: int, dims: tuple[int, int], count: int, unit: int
) -> tuple[int, ...]:
    skip = rank - len(shape)
    first, last = dims
    if last < skip:
        return shape
    if first < skip:
        shape, skip = (1,) * (skip - first) + shape, first
    own = shape[first - skip : last - skip + 1]
    new = (1, 1) if all([n == 1 for n in own]) and count * unit != 1 else (count, unit)
    return (*shape[: first - skip], *new, *shape[last - skip + 1 :])


class _Join:
    """Joins partial results in order, as the engine does.

    Sums keep what each addition rounds off (Knuth's TwoSum) and add it at the end; products are
    folded like any others, when all are there.
    """

    __slots__ = ("_all", "_lost", "_node", "_total")

    def __init__(self, node: Reduce) -> None:
        self._node = node
        self._total: Array = np.zeros(node.shape, node.dtype)
        self._lost: Array = np.zeros(node.shape, node.dtype)
        self._all: list[Array] = []

    def take(self, parts: Array) -> None:
        """Add partial results, one after another along the first dimension."""
        if self._node.op is not SUM:
            self._all.append(parts.copy())
            return
        with np.errstate(all="ignore"):
            for part in parts:
                total = self._total
                added = total + part
                back = added - total
                self._lost = self._lost + ((total - (added - back)) + (part - back))
                self._total = added

    def result(self) -> Array:
        """Return the results."""
        if self._node.op is not SUM:
            values = np.concatenate(self._all)
            return computed(build.reduce(self._node.op, leaf_of(values), (0,), False))
        total, lost = self._total, self._lost
        with np.errstate(all="ignore"):
            counts = (lost != 0) & (lost - lost == 0)
            return np.asarray(np.where(counts, total + lost, total), self._node.dtype)
