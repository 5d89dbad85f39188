"""Reductions in the parts of their trees.

Sums and products of floats have a tree (`compiler.tree`): blocks of values folded by halving, rows
added in groups, fixed parts folded on their own and then joined.  That tree follows from the
expression alone, so it is known before anything is read.  Some whole parts of it are folded at a
time, as many as fit: their dimension is split in two, parts and what is in them, and an ordinary
reduction over the second gives all partial results at once, where the planner is asked whether the
tree of the piece is that part of the whole.  Partial results are joined as the engine joins them
(`joins`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from ..ops.reductions import undivided
from .cut import Request, bind, cut, requests
from .joins import Join, leaf_length, leaf_of, rest_length
from .loads import gathered
from .parcel import Parcel
from .pipeline import Run, part_of, run_blocks
from .plan import WORTH, Compute, Cuts, Grid, Piece, is_small, too_small
from .selection import Box, corner, select, shape_of, size_of, whole, window_of
from .source import keeps

#: Elements that are folded at a time, at least, where memory allows; half of it where chunks are
#: kept, as a piece opens no file then, and fewer touch less fresh memory.
_MANY = 1 << 21

Result = tuple[Box, NumpyArray]
Begin = Callable[[Sequence[int]], frozenset[tuple[int, ...]]]

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
    leaf : int
        Positions that a piece folds into one result: a part, or less of it (`joins`).
    inner : int
        Trips of the reduced loops inside.
    spread : bool
        As of `Piece`.
    """

    node: Reduce
    tree: Tree
    first: int
    last: int
    unit: int
    leaf: int
    inner: int
    spread: bool = False

    @staticmethod
    def of(node: Reduce, tree: Tree, spread: bool = False) -> Parts | None:
        """Return how a reduction is divided; None if its parts are no boxes."""
        r0, r1, j0, j1 = tree.parts[0]
        along = tree.form is Form.ALONG
        size = (r1 - r0) * (j1 - j0) if along else r1 - r0
        shape = node.arg.shape
        axes = [k for k in node.axes if shape[k] != 1]
        if not axes:
            return None
        if len(tree.loops) == 1 and axes == list(range(axes[0], axes[-1] + 1)):
            return Parts(node, tree, axes[0], axes[-1], size, size, 1, spread)
        inner = math.prod([shape[k] for k in axes[1:]])
        if tree.loops[0] == shape[axes[0]] and size % inner == 0:
            unit = size // inner
            return Parts(node, tree, axes[0], axes[0], unit, unit, inner, spread)
        return None

    def finer(self) -> Parts | None:
        """Return the same with the leaves of parts; None if parts have no others."""
        leaf = leaf_length(self.node, self.tree, self.inner)
        return replace(self, leaf=leaf) if leaf and leaf < self.unit else None

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

    @property
    def kept(self) -> tuple[int, ...]:
        """Dimensions of the operand that results have."""
        return tuple([k for k in range(len(self.node.arg.shape)) if k not in self.node.axes])

    def piece(self, low: int, high: int, kept: Box, tried: bool = False) -> Piece | None:
        """Return the partial results, in a box, of what lies from one position up to another.

        None if the planner would fold it in another order; it is not asked where that was tried.
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
        leaf = min(self.leaf, high - low)
        start = low - rows[0] * self.row
        split = _split(argument, (self.first, self.last), start, (high - low) // leaf, leaf)
        if split is None:
            return None
        moved = self.last - self.first - 1
        axes = [
            k if k < self.first else k - moved
            for k in self.node.axes
            if not self.first <= k <= self.last
        ]
        part = build.reduce(
            undivided(self.node.op), split, tuple(sorted([*axes, self.first + 1])), False
        )
        if not tried:
            found = tree_in_memory(part, self.spread)
            if found is None or len(found.parts) != 1:
                return None
            loops = (leaf, *self.tree.loops[1:])
            loops = loops[1:] if loops[0] == 1 and len(loops) > 1 else loops
            if found != Tree(self.tree.form, loops, self.tree.block, found.parts):
                return None
        return Piece(box, part, gathered(requests(part)), spread=self.spread)

    def divided(
        self, run: Run, chunks: Sequence[int] | None, known: Sequence[int] | None
    ) -> Division | None:
        """Return the blocks of results, and the pieces of each.

        Where all results of one part are too much for the budget, there are several blocks, of
        whole chunks; where that is too much, leaves instead of parts.  None if parts cannot be
        folded one by one.

        Raises
        ------
        SizeError
            If the budget is too small for any piece; it says how much would do.
        """
        shape = self.node.shape
        stored = [lengths_of(self.node.arg)[k] for k in self.kept]
        forms = [(self, chunks or stored), (self.finer(), chunks or stored)]
        if not chunks:  # results in memory may be of parts of chunks
            forms.append((forms[1][0], [1] * len(shape)))
        least: Piece | None = None
        for plan, lengths in forms:
            block = list(known or shape)
            while plan is not None:
                box = window_of([0] * len(shape), block)
                first = plan.piece(0, min(plan.leaf, plan.length), box)
                if first is None:
                    break
                if first.need <= run.budget:
                    found = plan._pieces(run, first, box)
                    if found is not None:
                        return Division(plan, Grid(shape, tuple(block)), *found)
                    break
                least = first if least is None or first.need < least.need else least
                steps = [-(-b // c) for b, c in zip(block, lengths, strict=True)]
                axis = max(range(len(shape)), key=steps.__getitem__, default=0)
                small = lengths is not forms[0][1] and is_small(first)
                if small or known is not None or not shape or steps[axis] < 2:
                    break
                block[axis] = -(-steps[axis] // 2) * lengths[axis]
        if least is not None:
            raise too_small(least, run.budget)
        return None

    def spans(self, per: int) -> Iterator[tuple[int, int]]:
        """Yield where pieces of at most so many positions begin and end."""
        part = self.unit if self.leaf < self.unit else self.length // self.unit * self.unit
        for low in range(0, self.length, part or self.length):
            high = min(low + part, self.length) if part else self.length
            whole = low + (high - low) // self.leaf * self.leaf
            for at in range(low, whole, per):
                yield at, min(at + per, whole)
            along = self.leaf < self.unit and self.tree.form is Form.ALONG
            step = rest_length(self.node, high - whole) if along else high - whole
            for at in range(whole, high, max(1, step)):
                yield at, min(at + step, high)

    def _pieces(
        self, run: Run, best: Piece, box: Box
    ) -> tuple[list[tuple[int, int]], int, int] | None:
        """Return where pieces begin and end, bytes of chunks that they share, and bytes in flight.

        Pieces end where rows of chunks do if few parts are whole rows of them.  Those that share
        chunks are no larger than starting them is worth, others as large as the budget allows.
        """
        row = [load.source.kept(load.box) for load in best.loads if keeps(load.source)]
        kept = sum(row) + max(row, default=0) if run.keeps else 0
        kept = kept if kept + best.need <= run.budget else 0
        per = min(self.leaf, self.length)
        full = (self.unit if self.leaf < self.unit else self.length) // per * per
        even = self._even(best, per)
        wider = self.piece(0, even, box) if per < even <= full else None
        if wider and wider.need <= run.budget and size_of(wider.box) <= 2 * _MANY:
            per, best = (even, wider) if wider.moved / even <= best.moved / per else (per, best)
        alone = best.inputs / per  # bytes for each position
        while True:
            shared = kept if best.moved / per > alone / WORTH else 0
            wide = min(2 * per, full)
            wider = self.piece(0, wide, box) if wide > per else None
            if wider is None or wider.need + shared > run.budget:
                break
            many = 3 * size_of(best.box) >= 2 * _MANY // (2 if shared else 1)
            if many and (shared or wider.moved / wide > WORTH * best.moved / per):
                break
            per, best = wide, wider
        spans, tried = list(self.spans(per)), set()
        for low, high in spans:
            if high - low not in tried:
                tried.add(high - low)
                if self.piece(low, high, box) is None:
                    return None
        return spans, shared, best.need + shared

    def _even(self, piece: Piece, per: int) -> int:
        """Return the fewest positions that are whole leaves, and whole rows of what is read.

        Operands are taken to lie as what is folded does; `Piece.moved` tells of those that do not.
        """
        rows = [
            load.source.units[at] if keeps(load.source) else 1
            for load in piece.loads
            if (at := self.first + len(load.source.shape) - len(self.node.arg.shape)) >= 0
        ]
        return math.lcm(per, self.row * math.lcm(*rows))

    def joined(
        self, spans: Iterable[tuple[int, int]], parts: Iterable[NumpyArray], shape: tuple[int, ...]
    ) -> NumpyArray:
        """Return the results of a block of a shape, of those of its pieces."""
        join = Join(self.node, self.tree, shape)
        for (low, high), values in zip(spans, parts, strict=True):
            moved = np.moveaxis(values, self.ahead, 0)
            if self.leaf == self.unit:
                join.take(moved)
            else:
                last = high % self.unit == 0 or high == self.length
                join.take_leaves(moved, high - low < self.leaf, last)
        return join.result()

    def __call__(self, key: tuple[int, int, Box]) -> Piece:
        """Return a piece that `divided` has tried."""
        piece = self.piece(*key, tried=True)
        assert piece is not None, "tried before"
        return piece

    def __reduce__(self) -> Any:
        told = self.tree, self.first, self.last, self.unit, self.leaf, self.inner, self.spread
        return _again, (Parcel(self.node), *told)


@dataclass(frozen=True, slots=True)
class Division:
    """How a reduction is folded piece by piece.

    Attributes
    ----------
    plan : Parts
        Makes the pieces.
    grid : Grid
        The blocks of results.
    spans : list of (int, int)
        Where the pieces of each begin and end.
    kept : int
        Bytes of chunks that are kept from piece to piece.
    need : int
        Bytes in flight, with these.
    """

    plan: Parts
    grid: Grid
    spans: list[tuple[int, int]]
    kept: int
    need: int

    @property
    def moved(self) -> float:
        """Bytes that are read, about: chunks that are kept once, others as often as blocks ask."""
        box = window_of([0] * len(self.grid.shape), self.grid.block)
        low, high = self.spans[0]
        piece = self.plan.piece(low, high, whole(self.plan.node.shape) if self.kept else box, True)
        assert piece is not None, "tried before"
        return piece.moved / size_of(piece.box) * math.prod(self.plan.node.arg.shape)

    def results(self, run: Run, begin: Begin) -> Iterator[Result]:
        """Yield the results block by block."""
        node, grid = self.plan.node, self.grid
        ready = begin(grid.block)
        boxes = [box for box in grid.boxes() if corner(box) not in ready]
        run.report(f"{node.op.name} over axes {node.axes}", len(self.spans) * len(boxes))
        for box in boxes:
            full = grid.widened(box)
            keys = [(low, high, full) for low, high in self.spans]
            parts = self._parts(Cuts(self.plan, keys), run)
            yield box, self.plan.joined(self.spans, parts, shape_of(full))[grid.inside(box)]

    def _parts(self, pieces: Cuts, run: Run) -> Iterator[NumpyArray]:
        found: list[NumpyArray] = []

        def take(piece: Piece, values: NumpyArray) -> None:
            found.append(values)

        for piece in run_blocks(pieces, run, take, kept=self.kept, need=self.need):
            run.advance(piece)
            yield from found
            found.clear()


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
    spans = list(plan.spans(plan.length))
    pieces = [plan.piece(low, high, whole(node.shape)) for low, high in spans]
    if None in pieces:
        return None
    values = (compute(piece.node) for piece in pieces if piece is not None)
    return leaf_of(plan.joined(spans, values, node.shape))


def lengths_of(root: Node) -> tuple[int, ...]:
    """Return the chunks of an operand of an expression's shape; of none, a guess."""
    for stored in requests(root):
        source: Any = stored.source
        if stored.shape == root.shape:
            return tuple(source.chunks)
    return tuple([min(n, 1024) for n in root.shape])


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
