"""Reductions that are larger than memory, with the bits they would have in memory.

Folds that do not round (extremes, truths, integers) are joined block by block in any order.  Sums
and products of floats are kept in the order that they have in memory: part by part (`trees`), or,
where a reduction is one part, a block of the results over all that is folded into them.  Chunks and
budget decide how much is folded at a time and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from ..compiler.tree import Tree
from ..dtypes.names import kind
from ..ir.node import Node, Reduce, Stored
from ..ir.walk import rebuild, with_args
from ..ops.reductions import ALL, ANY, MAX, MIN
from ..runtime import evaluate as engine
from .blocks import Blocks
from .budget import BudgetError
from .cut import Request, requests
from .division import Begin, Result, divided
from .idle import Idle
from .joins import leaf_of
from .lengths import lengths_of
from .loads import gathered
from .parcel import Parcel
from .piece import Piece, piece_of
from .pipeline import Cuts, Run, computed, run_blocks
from .plan import Choice, Cutter, choose
from .selection import Box, as_slices, corner, shape_of, whole, window_of
from .trees import Parts, in_loop_order, tree_in_memory

#: How a reduction can be folded: bytes that are read for it, and its results.
Way = tuple[float, Iterator[Result]]

#: Folds that give the same bits in any order.
_EXACT = (MIN, MAX, ANY, ALL)


def folded(node: Reduce, run: Run) -> Node:
    """Return the results of a reduction over stored operands as a leaf."""
    flat = without_kept(node)
    made = np.empty(flat.shape, node.dtype)
    for box, values in fold(node, run):
        made[as_slices(box)] = values
    return leaf_of(made.reshape(node.shape))


def rounds(node: Reduce) -> bool:
    """Tell whether the bits of a reduction depend on its order."""
    return node.op not in _EXACT and kind(node.dtype) in "fc"


def without_kept(node: Reduce) -> Reduce:
    """Return a reduction without the dimensions that it would keep with extent 1."""
    shape = tuple([n for k, n in enumerate(node.arg.shape) if k not in node.axes])
    return replace(node, shape=shape, keepdims=False)


def fold(
    node: Reduce,
    run: Run,
    chunks: Sequence[int] | None = None,
    begin: Begin = lambda block: frozenset(),
    known: Sequence[int] | None = None,
) -> Iterator[Result]:
    """Yield the results of a reduction, without the reduced dimensions, block by block.

    Parameters
    ----------
    node : Reduce
        Over an argument with stored operands, and nothing else that is folded.
    run : Run
        The budget, and who is told.
    chunks : sequence of int, optional
        Blocks of results are multiples of it.
    begin : callable, optional
        Told the extents of blocks of results before the first; says which are there already.
    known : sequence of int, optional
        These extents, where some blocks are there.
    """
    node = without_kept(node)
    if not math.prod(node.arg.shape):  # nothing to cut, and nothing to read
        if not begin(node.shape):
            nothing = leaf_of(np.empty(node.arg.shape, node.arg.dtype))
            yield whole(node.shape), computed(replace(node, arg=nothing))
        return
    if not rounds(node) or engine.uses_reference():
        for _, results in _in_blocks(_Asked(node, None, run, chunks, begin, known)):
            yield from results
        return
    report, what = run.report, _told(node)
    run = replace(run, report=lambda told, blocks: report(what, blocks))
    node = in_loop_order(node)
    tree = tree_in_memory(node)
    asked = _Asked(node, tree, run, chunks, begin, known)
    ways = [_complete] if tree is None else [_in_parts, _in_blocks, _complete]
    if tree is not None and len(tree.parts) == 1:
        ways = [_by_chunks, _complete, _in_parts, _in_blocks]
    once = piece_of(node.arg, whole(node.arg.shape)).moved
    found: list[Way] = []
    short: list[BudgetError] = []
    for way in ways:
        try:
            found.extend(way(asked))
        except BudgetError as error:
            short.append(error)
        if found and found[-1][0] <= once:
            break
    if not found:
        raise min(short, key=lambda error: error.least)
    yield from min(found, key=lambda way: way[0])[1]


def _told(node: Reduce) -> str:
    return f"{node.op.name} over axes {node.axes}"


class _Asked(NamedTuple):
    """A reduction, its order in memory if that matters, and what `fold` was asked for."""

    node: Reduce
    tree: Tree | None
    run: Run
    chunks: Sequence[int] | None
    begin: Begin
    known: Sequence[int] | None


def _in_parts(asked: _Asked) -> list[Way]:
    """Return the results as folded in the parts of their tree, if that can be."""
    node, tree, run, chunks, begin, known = asked
    for spread in (False, True):
        plan = Parts.of(node, cast("Tree", tree), spread)
        division = None if plan is None else divided(plan, run, chunks, known)
        if division is not None:
            return [(division.moved, division.results(run, begin))]
    return []


def _in_blocks(asked: _Asked) -> list[Way]:
    """Return the results of blocks of any shape, if that can be."""
    blocks = Blocks.of(asked.node, asked.tree, asked.run, asked.chunks, asked.known)
    return [] if blocks is None else [(blocks.moved, blocks.results(asked.run, asked.begin))]


def _by_chunks(asked: _Asked) -> list[Way]:
    """Return the same as `_complete` of blocks of whole chunks, where there are such.

    Where a chunk is kept for many small blocks, each costs more than what it computes.
    """
    node, own = asked.node, lengths_of(asked.node.arg)
    lengths = tuple([n for k, n in enumerate(own) if k not in node.axes])
    given = asked.known or asked.chunks
    return [] if given or lengths == node.shape else _complete(asked._replace(chunks=lengths))


class _Uncut(Cutter):
    """Reads operands whole, so that what is folded is planned as it is in memory."""

    __slots__ = ()

    def __call__(self, box: Box) -> Piece:
        """Return the whole expression."""

        def asked(node: Node, args: tuple[Node, ...]) -> Node:
            if isinstance(node, Stored):
                request: Any = Request(node.source, whole(node.shape))
                return replace(node, source=request)
            return with_args(node, args)

        node = rebuild(self.parcel.node, asked)
        return Piece(whole(node.shape), node, gathered(requests(node)), alone=self.alone)


def _complete(asked: _Asked) -> list[Way]:
    """Return blocks of results, each over all that is folded into it."""
    node, tree, run, chunks, begin, known = asked
    shape = node.shape
    lengths = list(known or chunks or [min(n, 256) for n in shape])
    block = [max(1, min(c, n)) for c, n in zip(lengths, shape, strict=True)]
    spread = False

    def fits(box: Box) -> bool:
        return tree is not None and tree_in_memory(piece_of(node, box).node, spread) == tree

    spread = not fits(whole(shape))
    make: Cutter = Cutter(Parcel(node), spread)
    if spread and not fits(whole(shape)):
        make, block = _Uncut(Parcel(node)), list(shape)
    while block != list(shape) and not fits(window_of([0] * len(shape), block)):
        axis = max(k for k in range(len(shape)) if block[k] < shape[k])
        block[axis] = min(shape[axis], 2 * block[axis])
    keeps = run.keeps and not isinstance(make, _Uncut)
    choice = choose(make, block, run.budget, True, fits, known, keeps, widened=True)
    wide = not all(map(fits, choice.grid.ends(False)))
    moved = choice.rate * math.prod(shape)
    return [(moved, _blocks(node, make, choice, wide, run, begin))]


def _blocks(
    node: Reduce, make: Cutter, choice: Choice, wide: bool, run: Run, begin: Begin
) -> Iterator[Result]:
    """Yield the results block by block, the last ones of ``wide`` blocks cut off wider ones."""
    grid = choice.grid
    ready = begin(grid.block)
    boxes = [box for box in grid if corner(box) not in ready]
    run.report(_told(node), len(grid))
    pieces = Cuts(make, map(grid.widened if wide else tuple, boxes), choice.kept, choice.need)
    left, idle = iter(boxes), isinstance(run.cluster, Idle)
    for _, values in run_blocks(pieces, run, values=not idle):
        box = next(left)
        if idle:
            yield box, np.zeros(shape_of(box), node.dtype)
        else:
            yield box, values[grid.inside(box)] if wide else values
        del values
