"""Evaluating an expression over stored operands, pass by pass.

A reduction inside an expression is a pass of its own, over all it folds; its result is memory, and
the rest of the expression reads it there.  So an expression is evaluated from its innermost
reductions outwards, and the last pass writes the destination.  What has no stored operand below a
reduction is evaluated once as well, and not again with every block.  Where blocks can be cut that
have all that is folded for them (`bands`), they are cut, and one pass does it all.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..compiler.graph import byte_span
from ..index.transform import Transform
from ..ir import build
from ..ir.node import Gather, Leaf, Node, Reduce, Stored, View
from ..ir.walk import postorder, with_args
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..operands.gathers import FEW
from ..runtime import evaluate as engine
from . import bands, folds
from .budget import BudgetError, budget_of, too_small
from .cut import everything, has_stored, read_by
from .joins import leaf_of
from .lengths import chunks_for
from .parcel import Parcel, identity
from .piece import Piece
from .pipeline import Cuts, Run, computed, run_blocks
from .places import kept_in, same_place
from .plan import Choice, Cutter, choose
from .selection import whole, window
from .source import decodes


def fill(node: Node, target: Target, noalias: bool) -> None:
    """Evaluate an expression over stored operands into memory.

    Memory that the expression reads too is written when everything has been read.
    """
    if not math.prod(node.shape):
        return
    run, to = Run(budget_of(None)), target
    apart = not noalias and _overlaps(node, target)
    if apart:
        place = Strided.row_major(node.shape)
        to = Target(Buffer.allocate(place.size * node.dtype.itemsize), place, node.dtype)
    try:
        into_memory(node, to, run)
    except BudgetError as error:
        raise BudgetError(f"eval: {error.told}", run.budget, error.least) from None
    if apart:
        engine.assign(target, Leaf(node.shape, node.dtype, to.buffer.snapshot(), to.map), True)


def _overlaps(root: Node, target: Target) -> bool:
    low, high, _ = target.span()
    memory = target.buffer.array(np.dtype(np.uint8), (target.buffer.nbytes,))
    for node in everything(root):
        first, last = high + 1, low
        if isinstance(node, Leaf):
            first, last, _ = byte_span(node.snapshot, node.map, node.dtype.itemsize)
        source: Any = node.source if isinstance(node, Stored) else None
        read = [same_place(x, memory) for x in kept_in(getattr(source, "array", None))]
        if (first <= high and low <= last) or set(read) - {None}:
            return True
    return False


def into_memory(root: Node, target: Target, run: Run) -> None:
    """Evaluate an expression into memory that it does not read."""
    last, make, choice = divided(root, run, chunks_for(root, None, "eval"), False)
    if not has_stored(last):
        engine.assign(target, last, True)
        return
    grid = choice.grid

    def compute(piece: Piece, node: Node) -> None:
        place = target.map.apply(window(piece.box))
        engine.assign(Target(target.buffer, place, target.dtype), node, True)

    run.report("evaluate", len(grid))
    deque(run_blocks(Cuts(make, grid, choice.kept, choice.need), run, compute=compute), 0)


def divided(
    root: Node,
    run: Run,
    chunks: Sequence[int],
    fixed: bool,
    known: Sequence[int] | None = None,
    once: bool = True,
) -> tuple[Node, Cutter, Choice]:
    """Return what the last pass evaluates, and in which blocks; the other passes are over.

    Parameters
    ----------
    root : Node
        The expression.
    run : Run
        The budget, and who is told.
    chunks, fixed, known
        As `choose` takes them.
    once : bool, default True
        Whether what is folded may be read with the blocks; not where these are written to it.
    """
    merged = _merged(root, run, lambda node: node)
    found = bands.choose_bands(merged, chunks, run.budget, fixed, known) if once else None
    if found is not None:
        return merged, *found
    run.held.sources = frozenset(_shared(merged))
    last = reduced(merged, run)
    make = Cutter(Parcel(last))
    choice = choose(make, chunks, run.budget, fixed, known=known, keep=run.keeps)
    return last, make, choice


def _shared(root: Node) -> Iterator[int]:
    """Yield the operands that several passes of an expression read, and that must be decoded."""
    passes = [root, *[node.arg for node in postorder(root) if isinstance(node, Reduce)]]
    found = Counter([id(source) for part in passes for source in read_by(part)])
    sources = {id(node.source): node.source for node in postorder(root) if isinstance(node, Stored)}
    for owner, source in sources.items():
        if found[owner] > 1 and decodes(source):
            yield owner


def reduced(root: Node, run: Run) -> Node:
    """Return an expression with what is folded in it evaluated, each fold in a pass of its own.

    What is written twice becomes one node, so `mean` and the mean inside `std` are one pass.
    """
    return _merged(root, run, lambda node: folds.folded(node, run))


def _merged(root: Node, run: Run, fold: Callable[[Reduce], Node]) -> Node:
    made: dict[int, Node] = {}
    stored: set[int] = set()
    copies: set[int] = set()
    known: dict[tuple[Any, ...], Node] = {}
    for node in postorder(root):
        new = with_args(node, tuple([made[id(arg)] for arg in node.args]))
        shape, flat = new.shape, new
        if isinstance(new, Reduce):  # the same results with and without the dimensions
            flat = folds.without_kept(new)
        key = (type(flat), flat.shape, flat.dtype, identity(flat), tuple(map(id, flat.args)))
        found = known.get(key)
        if found is None:
            own = any([id(arg) in stored for arg in new.args])
            if isinstance(flat, Gather) and _is_few(flat, copies):
                found = known[key] = copy = _copied(flat, run)
                copies.add(id(copy.snapshot))
            else:
                found = known[key] = _evaluated(flat, own, run, fold)
            if isinstance(found, Stored) or (own and not isinstance(found, Leaf)):
                stored.add(id(found))
        if found.shape != shape:
            over = id(found) in stored
            found = build.reshape(found, shape)
            if over:
                stored.add(id(found))
        made[id(node)] = found
    return made[id(root)]


def _evaluated(node: Node, over_stored: bool, run: Run, fold: Callable[[Reduce], Node]) -> Node:
    """Return a node, or what it folds as a leaf."""
    if isinstance(node, Stored):
        prepare: Any = getattr(node.source, "prepared", None)
        return replace(node, source=prepare(run)) if prepare else node
    if isinstance(node, Reduce):
        return fold(node) if over_stored else leaf_of(computed(node))
    if isinstance(node, View) and isinstance(node.arg, Leaf):
        step = node.step
        if isinstance(step, Transform):
            return build.view(node.arg, step)
        return build.reshape(node.arg, node.shape)
    return node


def _is_few(node: Gather, copies: Collection[int]) -> bool:
    """Tell whether a few elements are picked of a small array, which memory copies at once.

    So it does with those that are picked of such copies, whose snapshots are ``copies``.
    """
    arg, views, picked = node.arg, list[View](), math.prod(node.shape)
    if not picked or max(picked, math.prod(arg.shape)) > FEW:
        return False
    if isinstance(arg, Leaf):
        return id(arg.snapshot) in copies and arg.map == Strided.row_major(arg.shape)
    while isinstance(arg, View):
        views.append(arg)
        arg = arg.arg
    place = Strided.row_major(arg.shape)
    for view in reversed(views):
        step = view.step
        moved = place.apply(step) if isinstance(step, Transform) else place.reshape(view.shape)
        if moved is None:
            return False
        place = moved
    return isinstance(arg, Stored)


def _copied(node: Gather, run: Run) -> Leaf:
    """Return elements that were picked as a leaf."""
    if not has_stored(node):
        return leaf_of(computed(node))
    make, box = Cutter(Parcel(node)), whole(node.shape)
    need = make(box).need
    if need > run.budget:
        raise too_small(make(box), run.budget)
    run.report("gather", 1)
    ((_, values),) = run_blocks(Cuts(make, [box], 0, need), run)
    return leaf_of(values)
