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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..codegen.emit.folding import Form
from ..compiler.graph import canonical
from ..compiler.tree import Tree, loop_order, tree_of
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.node import Leaf, Node, Reduce
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot
from ..ops.reductions import undivided
from .cut import Request, bind, cut, is_even, requests
from .joins import Join, leaf_of
from .loads import gathered
from .parcel import Parcel
from .piece import Compute, Piece
from .pipeline import part_of
from .selection import Box, shape_of, whole
from .splits import split, turned

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


def in_loop_order(node: Reduce) -> Reduce:
    """Return a reduction whose dimensions are in the order in which memory has them.

    A sum of a transposed operand is one of the operand.  Results stay as they are.
    """
    axes, shape = node.axes, node.arg.shape
    order = list(loop_order(canonical(imagined(node), None, True)))
    kept = [k for k in order if k not in axes]
    if kept != sorted(kept):
        folds = iter([k for k in order if k in axes])
        order = [next(folds) if k in axes else k for k in range(len(shape))]
    wide = [k for k in order if shape[k] != 1]
    if wide == sorted(wide):
        return node
    moved = tuple([at for at, k in enumerate(order) if k in axes])
    return replace(node, arg=turned(node.arg, order), axes=moved)


def _imagined(shape: tuple[int, ...], dtype: np.dtype[Any], number: int) -> Leaf:
    snapshot = Snapshot.of(_NOWHERE)
    snapshot.address = (number + 1) << 56  # apart from all others
    return Leaf(shape, dtype, snapshot, Strided.row_major(shape))


@dataclass(frozen=True, slots=True)
class Spans(Sequence[Any]):
    """Where pieces begin and end, of which there may be millions.

    Attributes
    ----------
    low, high : numpy.ndarray
        Positions.
    rest : tuple
        What else belongs to the key of each.
    """

    low: NumpyArray
    high: NumpyArray
    rest: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, number: Any) -> Any:
        """Return the key of a piece."""
        return (int(self.low[number]), int(self.high[number]), *self.rest)

    def distinct(self, *columns: NumpyArray) -> list[tuple[int, int]]:
        """Return a piece for each combination of what columns say of pieces."""
        columns = (self.high - self.low, *columns)
        new = np.ones(len(self), bool)
        new[1:] = np.logical_or.reduce([told[1:] != told[:-1] for told in columns])
        at = np.flatnonzero(new)
        keys = zip(*[told[at].tolist() for told in columns], strict=True)
        return [self[number] for number in dict(zip(keys, at.tolist(), strict=True)).values()]


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
        Positions of a part along that, which a piece folds into one result.
    spread : bool
        As of `Piece`.
    rows, ahead : int
        Pieces are read up to where so many indices of the first of these dimensions end, counted
        from so many before it: what is left is what the next one begins with.
    """

    node: Reduce
    tree: Tree
    first: int
    last: int
    unit: int
    spread: bool = False
    rows: int = 1
    ahead: int = 0

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
            return Parts(node, tree, axes[0], axes[-1], size, spread)
        inner = math.prod([shape[k] for k in axes[1:]])
        if tree.loops[0] == shape[axes[0]] and size % inner == 0:
            return Parts(node, tree, axes[0], axes[0], size // inner, spread)
        return None

    @property
    def even(self) -> bool:
        """As of a `Cutter`."""
        return is_even(self.node.arg)

    @property
    def length(self) -> int:
        """Positions that parts are counted along."""
        return math.prod(self.node.arg.shape[self.first : self.last + 1])

    @property
    def whole(self) -> int:
        """Positions of the largest piece."""
        return self.length // self.least * self.least

    @property
    def least(self) -> int:
        """Positions of the smallest one, unless it is the last."""
        return min(self.unit, self.length)

    @property
    def row(self) -> int:
        """Positions for each index of the first of these dimensions."""
        return math.prod(self.node.arg.shape[self.first + 1 : self.last + 1])

    @property
    def outside(self) -> int:
        """Dimensions of results before that of partial results."""
        return len([k for k in range(self.first) if k not in self.node.axes])

    @property
    def kept(self) -> tuple[int, ...]:
        """Dimensions of the operand that results have."""
        return tuple([k for k in range(len(self.node.arg.shape)) if k not in self.node.axes])

    def reach(self, low: Any, high: Any) -> tuple[Any, Any]:
        """Return between which indices of the first of these dimensions some positions are read.

        Of many pieces at once, if need be.
        """
        row, rows, ahead = self.row, self.rows, self.ahead
        until = -(-(-(-high // row) + ahead) // rows) * rows - ahead
        return low // row, np.minimum(until, self.node.arg.shape[self.first])

    def rows_of(self, low: int, high: int) -> range:
        """Return which indices of the first of these dimensions are read for some positions."""
        return range(*self.reach(low, high))

    def box(self, rows: range, kept: Box) -> Box:
        """Return where in what is folded some indices of the first of these dimensions are."""
        rest = iter(kept)
        return tuple(
            [
                rows if k == self.first else range(n) if k in self.node.axes else next(rest)
                for k, n in enumerate(self.node.arg.shape)
            ]
        )

    def piece(self, low: int, high: int, kept: Box, tried: bool = False) -> Piece | None:
        """Return the partial results, in a box, of what lies from one position up to another.

        None if the planner would fold it in another order; it is not asked where that was tried.
        """
        rows = self.rows_of(low, high)
        box = self.box(rows, kept)
        argument = cut(self.node.arg, box)
        unit = min(self.unit, high - low)
        start = low - rows[0] * self.row
        parted = split(argument, (self.first, self.last), start, (high - low) // unit, unit)
        if parted is None:
            return None
        moved = self.last - self.first - 1
        axes = [
            k if k < self.first else k - moved
            for k in self.node.axes
            if not self.first <= k <= self.last
        ]
        part = build.reduce(
            undivided(self.node.op), parted, tuple(sorted([*axes, self.first + 1])), False
        )
        if not tried:
            found = tree_in_memory(part, self.spread)
            if found is None or len(found.parts) != 1:
                return None
            loops = (unit, *self.tree.loops[1:])
            loops = loops[1:] if loops[0] == 1 and len(loops) > 1 else loops
            if found != Tree(self.tree.form, loops, self.tree.block, found.parts):
                return None
        return Piece(box, part, gathered(requests(part)), spread=self.spread)

    def spans(self, step: int) -> Spans:
        """Return where pieces begin and end: with the last part before every multiple of a step.

        Multiples are counted from where rows are; what is less than a part is the last piece.
        """
        unit, before = self.unit, self.ahead * self.row
        whole = self.length // unit * unit
        multiples = np.arange(-(-(before + unit) // step), -(-(before + whole) // step))
        inside = np.minimum((step * multiples - before) // unit * unit, whole)
        edges = np.unique([0, *inside.tolist(), whole, self.length])
        return Spans(edges[:-1], edges[1:])

    def joined(self, parts: Iterable[NumpyArray], shape: tuple[int, ...]) -> NumpyArray:
        """Return the results of a block of a shape, of those of its pieces."""
        join = Join(self.node, self.tree, shape)
        for values in parts:
            join.take(np.moveaxis(values, self.outside, 0))
        return join.result()

    def __call__(self, key: tuple[int, int, Box]) -> Piece:
        """Return a piece that `divided` has tried."""
        piece = self.piece(*key, tried=True)
        assert piece is not None, "tried before"
        return piece

    def __reduce__(self) -> Any:
        told = self.tree, self.first, self.last, self.unit, self.spread, self.rows, self.ahead
        return _again, (Parcel(self.node), *told)


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
    spans = plan.spans(plan.length)
    pieces = [plan.piece(low, high, whole(node.shape)) for low, high in spans]
    if None in pieces:
        return None
    values = (compute(piece.node) for piece in pieces if piece is not None)
    return leaf_of(plan.joined(values, node.shape))


def _again(parcel: Parcel, *told: Any) -> Parts:
    return Parts(cast("Reduce", parcel.node), *told)
