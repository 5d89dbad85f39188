"""Reductions in the parts of their trees.

Sums and products of floats have a tree (`compiler.tree`): blocks of values folded by halving, rows
added in groups, fixed parts folded on their own and then joined.  That tree follows from the
expression alone, so it is known before anything is read.  Some whole parts of it are folded at a
time, as many as fit: their dimension is split in two, parts and what is in them, and an ordinary
reduction over the second gives all partial results at once, where the planner is asked whether the
tree of the piece is that part of the whole.  Partial results are joined as the engine joins them:
with what every addition rounds off kept apart (TwoSum).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..codegen.emit.folding import Form
from ..compiler.graph import canonical
from ..compiler.tree import Tree, tree_of
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.node import Elementwise, Leaf, Node, Reduce
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..operands.nodes import borrow_array
from ..ops.reductions import SUM
from .cut import Request, bind, cut, requests
from .loads import gathered
from .parcel import Parcel
from .pipeline import Run, computed, part_of, run_blocks
from .plan import WORTH, Compute, Cuts, Grid, Piece, too_small
from .selection import Box, corner, select, shape_of, size_of, whole, window_of
from .source import keeps

#: Elements that are folded at a time, at least, where memory allows.
_MANY = 1 << 20

Result = tuple[Box, NumpyArray]
Begin = Callable[[Sequence[int]], frozenset[tuple[int, ...]]]


def leaf_of(values: NumpyArray) -> Node:
    """Return a leaf over values in memory."""
    return borrow_array(values, "eval")


_NOWHERE = Buffer.allocate(0)


def imagined(node: Node, spread: bool = False) -> Node:
    """Return an expression as if what is stored were in memory, row-major, apart from all else.

    Parts of it are row-major too, or lie as parts of the whole do (``spread``).
    """
    leaves: dict[int, Node] = {}
    known: dict[int, Leaf] = {}
    loads = gathered([n for n in requests(node) if isinstance(n.source, Request)])
    for load in loads:
        base = _imagined(shape_of(load.box), load.source.dtype, len(known))
        if spread:
            base = replace(base, map=Strided(base.shape, load.apart))
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


def tree_in_memory(node: Node, spread: bool = False) -> Tree | None:
    """Return the tree of a reduction of operands in memory."""
    return tree_of(canonical(imagined(node, spread), None, True))


def _imagined(shape: tuple[int, ...], dtype: np.dtype[Any], number: int) -> Leaf:
    snapshot = Snapshot.of(_NOWHERE)
    snapshot.address = (number + 1) << 56  # apart from all others
    return Leaf(shape, dtype, snapshot, Strided.row_major(shape))


@dataclass(frozen=True, slots=True)
class Parts:
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
    spread : bool
        As of `Piece`.
    """

    node: Reduce
    tree: Tree
    first: int
    last: int
    unit: int
    spread: bool = False

    @staticmethod
    def of(node: Reduce, tree: Tree, spread: bool = False) -> Parts | None:
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
            return Parts(node, tree, axes[0], axes[-1], size, spread)
        if tree.loops[0] == shape[axes[0]] and size % inner == 0:
            return Parts(node, tree, axes[0], axes[0], size // inner, spread)
        return None

    @property
    def length(self) -> int:
        """Positions that parts are counted along."""
        return math.prod(self.node.arg.shape[self.first : self.last + 1])

    @property
    def row(self) -> int:
        """Positions for each index of the first of these dimensions."""
        return math.prod(self.node.arg.shape[self.first + 1 : self.last + 1])

    @property
    def ahead(self) -> int:
        """Dimensions of results before that of partial results."""
        return len([k for k in range(self.first) if k not in self.node.axes])

    def piece(self, low: int, high: int, kept: Box, tried: bool = False) -> Piece | None:
        """Return the partial results, in a box, of the parts from one position up to another.

        None if the planner would fold them in another order; it is not asked where that was tried.
        """
        shape, rest = self.node.arg.shape, iter(kept)
        rows = range(low // self.row, -(-high // self.row))
        box = tuple(
            [
                rows if k == self.first else range(n) if k in self.node.axes else next(rest)
                for k, n in enumerate(shape)
            ]
        )
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
        if not tried:
            found = tree_in_memory(part, self.spread)
            if found is None or len(found.parts) != 1:
                return None
            loops = (unit, *self.tree.loops[1:])
            if found != Tree(self.tree.form, loops, self.tree.block, found.parts):
                return None
        return Piece(box, part, gathered(requests(part)), spread=self.spread)

    def divided(
        self, run: Run, chunks: Sequence[int] | None, known: Sequence[int] | None
    ) -> tuple[Grid, list[int], int] | None:
        """Return blocks of results, where the pieces of each begin and end, and bytes to keep.

        Where only some results are asked for at a time, and one part of all is too much for the
        budget, there are several blocks.  None if the parts cannot be folded one by one.
        """
        shape = self.node.shape
        block = list(known or shape)
        while True:
            box = window_of([0] * len(shape), block)
            first = self.piece(0, self.unit, box)
            if first is None:
                return None
            if first.need <= run.budget or not chunks or known is not None:
                break
            steps = [b // c for b, c in zip(block, chunks, strict=True)]
            axis = max(range(len(shape)), key=steps.__getitem__)
            if steps[axis] < 2:
                break
            block[axis] = -(-steps[axis] // 2) * chunks[axis]
        if first.need > run.budget:
            raise too_small(first, run.budget)
        row = [load.moved for load in first.loads if keeps(load.source)]
        kept = sum(row) + max(row, default=0) if run.keeps else 0
        found = self._edges(run, first, box, kept if kept + first.need <= run.budget else 0)
        return None if found is None else (Grid(shape, tuple(block)), *found)

    def results(
        self, run: Run, grid: Grid, edges: list[int], kept: int, begin: Begin
    ) -> Iterator[Result]:
        """Yield the results block by block."""
        ready = begin(grid.block)
        boxes = [box for box in grid.boxes() if corner(box) not in ready]
        run.report(f"{self.node.op.name} over axes {self.node.axes}", (len(edges) - 1) * len(boxes))
        for box in boxes:
            full = grid.widened(box)
            join = _Join(self.node, shape_of(full))

            def take(piece: Piece, values: NumpyArray, join: _Join = join) -> None:
                join.take(np.moveaxis(values, self.ahead, 0))

            keys = [(low, high, full) for low, high in itertools.pairwise(edges)]
            for piece in run_blocks(Cuts(self, keys), run, take, kept=kept):
                run.advance(piece)
            yield box, join.result()[grid.inside(box)]

    def __call__(self, key: tuple[int, int, Box]) -> Piece:
        """Return a piece that `divided` has tried."""
        piece = self.piece(*key, tried=True)
        assert piece is not None, "tried before"
        return piece

    def __reduce__(self) -> Any:
        told = self.tree, self.first, self.last, self.unit, self.spread
        return _again, (Parcel(self.node), *told)

    def _edges(self, run: Run, best: Piece, box: Box, kept: int) -> tuple[list[int], int] | None:
        """Return where pieces begin and end, and bytes of chunks that they share.

        Pieces that share chunks are no larger than starting them is worth, others as large as the
        budget allows.
        """
        full = self.length // self.unit * self.unit
        per = self.unit
        alone = best.inputs / per  # bytes for each position
        while per < full:
            wide = min(2 * per, full)
            wider = self.piece(0, wide, box)
            if wider is None or wider.need + kept > run.budget:
                break
            many = size_of(best.box) >= _MANY
            if many and (kept or wider.moved / wide > WORTH * best.moved / per):
                break
            per, best = wide, wider
        if best.moved / per <= alone / WORTH:
            kept = 0  # pieces are whole chunks
        edges = list(range(0, full, per)) + [full]
        if full < self.length:
            edges.append(self.length)
        tried = {b - a for a, b in itertools.pairwise(edges)}
        for a, b in itertools.pairwise(edges):
            if b - a in tried:
                tried.discard(b - a)
                if self.piece(a, b, box) is None:
                    return None
        return edges, kept


def in_memory(node: Reduce, tree: Tree, compute: Compute, spread: bool = False) -> Node | None:
    """Return a reduction of memory, folded in the order of a tree; None if it cannot be.

    Parameters
    ----------
    node : Reduce
        The reduction.
    tree : Tree
        The order: of this reduction, or of one that has more results.
    compute : callable
        Evaluates what is folded at a time.
    spread : bool, default False
        As of `Piece`, of what is not in memory yet.
    """
    if tree_in_memory(node, spread) == tree:
        return node
    plan = Parts.of(node, tree, spread)
    if plan is None:
        return None
    full = plan.length // plan.unit * plan.unit
    edges = [0, full] if full == plan.length else [0, full, plan.length]
    join = _Join(node, node.shape)
    for low, high in itertools.pairwise(edges):
        piece = plan.piece(low, high, whole(node.shape))
        if piece is None:
            return None
        join.take(np.moveaxis(compute(piece.node), plan.ahead, 0))
    return leaf_of(join.result())


def _again(parcel: Parcel, *told: Any) -> Parts:
    return Parts(cast("Reduce", parcel.node), *told)


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

    __slots__ = ("_all", "_lost", "_node", "_room", "_total")

    def __init__(self, node: Reduce, shape: tuple[int, ...]) -> None:
        self._node = node
        self._total: NumpyArray = np.zeros(shape, node.dtype)
        self._lost: NumpyArray = np.zeros(shape, node.dtype)
        self._room = tuple([np.empty(shape, node.dtype) for _ in range(3)])
        self._all: list[NumpyArray] = []

    def take(self, parts: NumpyArray) -> None:
        """Add partial results, one after another along the first dimension."""
        if self._node.op is not SUM:
            self._all.append(parts.copy())
            return
        total, lost, (added, back, kept) = self._total, self._lost, self._room
        with np.errstate(all="ignore"):
            for part in parts:
                np.add(total, part, out=added)
                np.subtract(added, total, out=back)
                np.subtract(added, back, out=kept)
                np.subtract(total, kept, out=kept)
                np.subtract(part, back, out=back)
                np.add(kept, back, out=kept)
                np.add(lost, kept, out=lost)
                total, added = added, total
        self._total, self._room = total, (added, back, kept)

    def result(self) -> NumpyArray:
        """Return the results."""
        if self._node.op is not SUM:
            values = np.concatenate(self._all)
            return computed(build.reduce(self._node.op, leaf_of(values), (0,), False))
        total, lost = self._total, self._lost
        with np.errstate(all="ignore"):
            counts = (lost != 0) & (lost - lost == 0)
            return np.asarray(np.where(counts, total + lost, total), self._node.dtype)
