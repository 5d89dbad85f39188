"""`store`: evaluate block by block into storage."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._errors import OverlapError
from ..ir.build import describe
from ..ir.node import Elementwise, Leaf, Node, Reduce, Stored
from ..ir.walk import postorder
from ..labels.assignment import evaluate_labelled, lazily, resulting
from ..labels.labelled import XLabelled
from ..memory.arrays import read
from ..operands.convert import LayoutLike
from ..operands.nodes import as_node
from . import folds
from .budget import BESIDES, BudgetError, budget_of
from .cluster import DaskCluster
from .cut import everything, in_pass
from .idle import Nowhere, with_least
from .journal import Corner
from .lengths import chunks_for
from .pipeline import WRITERS, Cuts, Run, run_blocks
from .places import holds, kept_in, same_place
from .progress import Progress
from .selection import corner, shape_of
from .stream import divided, reduced
from .target import Form, Sink, sink_of

#: Results that are this part of a budget, or less, are kept in memory beside it.
_PART = 4


def store(
    expression: object,
    target: Any,
    labels: str | None = None,
    /,
    *,
    chunks: int | Sequence[int] | None = None,
    layout: LayoutLike = None,
    memory: int | str | None = None,
    overwrite: bool = False,
    resume: bool = False,
    progress: bool | None = None,
    client: Any = None,
) -> Any:
    """Evaluate an expression block by block into storage.

    Parameters
    ----------
    expression : array or expression
        What to evaluate, usually over operands that `open` has given.
    target : path or array
        A path ending in ``.npy``, any other path for a new zarr array (format 3), or an array of
        the result's shape and dtype that takes slices.
    labels : str, optional
        Labels of the result of a labelled expression, such as ``"i,k"``; the others are summed.
    chunks : int or sequence of int, optional
        Chunks of a new array, -1 for all of a dimension; by default those of an operand of the
        result's shape.  An array that is there has its own.
    layout : optional
        How elements lie in each chunk of a new zarr array, as in a container; tiles included.
    memory : int or str, optional
        Bytes that may be in flight, such as ``"500 MB"`` or ``"2 GiB"``; by default a quarter of
        this machine's memory, 2 GiB at most.
    overwrite : bool, default False
        Replace what is under the path.
    resume : bool, default False
        Go on where the same call was interrupted: blocks that were finished are not computed again.
    progress : bool, optional
        Show how far it is, in a terminal or a notebook; by default where rich is installed.
    client : distributed.Client, optional
        Compute and write blocks as tasks of a cluster, whose workers reach operands and target.
        Where all workers declare a resource ``memory`` in bytes, tasks ask for what they need.

    Returns
    -------
    array
        What was written, of the target's library.

    Raises
    ------
    LayoutError, ShapeError, DTypeError
        If the layout does not fit, or an existing target's shape or dtype.
    SizeError
        If the budget is too small for one block; it says how much would do.
    StorageError
        If something cannot be read or written, or ``resume`` would go on with another expression
        or changed operands.  Blocks that were finished stay.
    OverlapError
        If the target is an operand that other blocks still need, or that tasks of a cluster write.

    See Also
    --------
    open : Operands that are kept elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> a, made = xl.open(np.arange(6.0)), np.zeros(6)
    >>> xl.store(a * 2 - xl.mean(a), made)
    array([-2.5, -0.5,  1.5,  3.5,  5.5,  7.5])
    """
    root = node_of(expression, labels, "store")
    budget = budget_of(memory)
    keep = chunks_for(root, chunks, "store", target)
    sink = sink_of(target, root, Form.of(target, root, keep, layout, overwrite, resume))
    with Progress(progress) as shown:
        cluster = None if client is None else DaskCluster(client, budget)
        run = Run(budget, shown.clock, shown.start, shown.advance, cluster)
        return _stored(root, sink, run)


def _stored(root: Node, sink: Sink, run: Run) -> Any:
    def idly(other: Run) -> None:
        nowhere = Nowhere(root, sink.whole, sink.array)
        run_into(root, Sink(nowhere, sink.chunks, sink.name), other)

    several = any([isinstance(node, Reduce) for node in postorder(root) if node is not root])
    try:
        with_least("store", lambda run: run_into(root, sink, run), run, idly, several)
    except BaseException:
        sink.close()
        raise
    return sink.finish()


def node_of(expression: object, labels: str | None, operation: str) -> Node:
    """Return an expression, labelled or not, as a node."""
    if labels is None and not isinstance(expression, XLabelled):
        return as_node(expression, operation)
    value, own = resulting(expression, labels)
    lazy = lazily(value, own)
    return evaluate_labelled(value, labels).leaf() if lazy is None else lazy


def run_into(root: Node, sink: Sink, run: Run) -> None:
    """Evaluate an expression into a sink, with what writing large chunks needs put aside."""
    aside = max(0, WRITERS * sink.scratch * root.dtype.itemsize - BESIDES)
    try:
        _run_into(root, sink, replace(run, budget=run.budget - aside))
    except BudgetError as error:
        raise BudgetError(error.told, run.budget, error.least + aside) from None


def _run_into(root: Node, sink: Sink, run: Run) -> None:
    large = isinstance(root, Reduce) and _is_large(root, run)
    again = run.cluster is not None and sink.travels
    refuse_overlap(root, root.args[0] if large else root, sink, again)
    if not math.prod(root.shape):
        sink.begin(root.shape)
    elif isinstance(root, Reduce) and large:
        try:
            _fold_into(root, sink, run)
        except BudgetError as error:
            kept = _PART * _nbytes(root)  # where results are kept in memory, blocks are smaller
            least = kept if run.budget < kept < error.least else error.least
            raise BudgetError(error.told, run.budget, least) from None
    else:
        _map_into(root, sink, run)


def _map_into(root: Node, sink: Sink, run: Run) -> None:
    """Evaluate an expression block by block, after what is folded in it, or with it."""
    once = not _folds(root, _written(sink))
    _, make, choice = divided(root, run, sink.chunks, sink.whole, sink.block, once)
    grid = choice.grid
    done = sink.begin(grid.block)
    boxes = (box for box in grid if corner(box) not in done) if done else grid
    run.report("store", len(grid) - len(done))
    idle = isinstance(sink.array, Nowhere)
    here = run.cluster is not None and not idle and not sink.travels
    pieces = Cuts(make, boxes, choice.kept, choice.need)
    for piece, values in run_blocks(pieces, run, write=None if here else sink.write):
        if here:
            sink.write(piece.box, values)
        sink.record(piece.box)


def _fold_into(root: Reduce, sink: Sink, run: Run) -> None:
    """Fold into results that are too many to be kept in memory."""
    node = replace(root, arg=reduced(root.arg, run))
    kept = [k for k in range(len(root.arg.shape)) if k not in root.axes]
    own = kept if root.keepdims else range(len(kept))

    def begin(block: Sequence[int]) -> frozenset[Corner]:
        done = sink.begin(placed(block, 1))
        return frozenset([tuple([at[k] for k in own]) for at in done])

    def placed(along: Sequence[Any], other: Any) -> tuple[Any, ...]:
        found = dict(zip(own, along, strict=True))
        return tuple([found.get(k, other) for k in range(len(root.shape))])

    known = None if sink.block is None else [sink.block[k] for k in own]
    chunks = [sink.chunks[k] for k in own]
    for box, values in folds.fold(node, run, chunks, begin, known):
        place = placed(box, range(1))
        sink.write(place, values.reshape(shape_of(place)))
        sink.record(place)


def _is_large(node: Reduce, run: Run) -> bool:
    return _nbytes(node) > run.budget // _PART


def _nbytes(node: Node) -> int:
    return math.prod(node.shape) * node.dtype.itemsize


def refuse_overlap(root: Node, swept: Node, sink: Sink, again: bool = False) -> None:
    """Refuse a target that is an operand, unless every block reads its own elements alone.

    Parameters
    ----------
    root : Node
        What is stored.
    swept : Node
        The part of it that is evaluated while blocks are written; what is folded below has been.
    sink : Sink
        The target.
    again : bool, default False
        Whether a block may be run again after it was written, as tasks of lost workers are.

    Raises
    ------
    OverlapError
        If a block reads elements of the target that another block writes, or it itself may have
        written, or if an operand would be removed to make room.
    """
    array = _written(sink)
    if array is None:
        if sink.array is None:
            _refuse_replacing(root, sink.path or sink.name)
        return
    moved: set[int] = set()  # nodes that read the target
    for node in in_pass(swept):
        if isinstance(node, Reduce):
            continue
        factors = [*everything(node)][1:] if isinstance(node, Stored) else []
        if any([_relation(x, array) is not None for x in factors]):
            _refuse(node, sink)
        same = _relation(node, array)
        if same is not None:
            moved.add(id(node))
            if again:
                raise OverlapError(
                    f"store: the target {type(array).__name__} is an operand, and tasks whose "
                    "worker is lost are run again, and may read what they have written; store "
                    "elsewhere"
                )
            if not same or node.shape != root.shape:
                _refuse(node, sink)
        elif any([id(arg) in moved for arg in node.args]):
            moved.add(id(node))
            if not isinstance(node, Elementwise) or node.shape != root.shape:
                _refuse(node, sink)


def _written(sink: Sink) -> Any:
    """Return the array that a sink writes, or would write; None if it is not there yet."""
    return sink.array.instead if isinstance(sink.array, Nowhere) else sink.array


def _folds(root: Node, array: Any) -> bool:
    """Tell whether what is folded in an expression reads a target."""
    folded = [node.arg for node in postorder(root) if isinstance(node, Reduce)]
    read = [x for arg in folded for x in everything(arg)]
    return array is not None and any([_relation(x, array) is not None for x in read])


def _relation(node: Node, array: Any) -> bool | None:
    """Tell how an operand lies to an array, as `same_place` does."""
    if isinstance(node, Stored):
        own = getattr(node.source, "array", None)
        if own is None:
            return None
        same = same_place(own, array)
        parts = (
            same_place(x, y) is not None
            for x in kept_in(own)
            for y in kept_in(array)
            if x is not own or y is not array
        )
        return False if any(parts) else same
    if isinstance(node, Leaf) and isinstance(array, np.ndarray):
        return same_place(read(node.snapshot, node.dtype, node.map), array)
    return None


def _refuse_replacing(root: Node, place: Path | str) -> None:
    for node in everything(root):
        inside = kept_in(getattr(node.source, "array", None)) if isinstance(node, Stored) else ()
        if isinstance(node, Stored) and any([holds(place, array) for array in inside]):
            raise OverlapError(
                f"store: {place} holds the operand {node.source}, which would be removed before it "
                "has been read; store elsewhere"
            )


def _refuse(node: Node, sink: Sink) -> None:
    operation = "explain" if isinstance(sink.array, Nowhere) else "store"
    raise OverlapError(
        f"{operation}: the target {type(_written(sink)).__name__} is an operand, and "
        f"{describe(node)} reads elements of it that other blocks write; only "
        "operations element by element may be stored into their operand"
    )
