"""`store`: evaluate block by block into storage."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._errors import OverlapError
from ..ir.build import describe
from ..ir.node import Elementwise, Node, Reduce, Stored
from ..ir.walk import postorder
from ..labels.labelled import XLabelled
from ..labels.writing import evaluate_labelled, lazily, resulting
from ..operands.nodes import as_node
from . import folds
from .cluster import DaskCluster
from .cut import requests
from .journal import Journal, fingerprint
from .pipeline import Run, run_blocks
from .plan import Cuts, Grid, Piece, budget_of, choose, chunks_for, piece_of
from .progress import Progress
from .selection import Box
from .source import path_of
from .stream import reduced
from .target import Sink, sink_of


def store(
    expression: object,
    target: Any,
    labels: str | None = None,
    /,
    *,
    chunks: int | Sequence[int] | None = None,
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
        Chunks of a new array; by default those of an operand of the result's shape.
    memory : int or str, optional
        Bytes that may be in flight, such as ``"500 MB"`` or ``"2 GiB"``; by default a quarter of
        this machine's memory, 2 GiB at most.
    overwrite : bool, default False
        Replace what is under the path.
    resume : bool, default False
        Go on where the same call was interrupted: blocks that were finished are not computed again.
    progress : bool, optional
        Show how far it is; by default if the terminal or notebook can and rich is installed.
    client : distributed.Client, optional
        Compute and write blocks as tasks of a cluster, whose workers reach operands and target.
        Where all workers declare a resource ``memory`` in bytes, tasks ask for what they need.

    Returns
    -------
    array
        What was written, of the target's library.

    Raises
    ------
    ShapeError, DTypeError
        If an existing target does not have the expression's shape and dtype.
    SizeError
        If the budget is too small for one block; it says how much would do.
    StorageError
        If something cannot be read or written, or ``resume`` would go on with another expression
        or changed operands.  Blocks that were finished stay.
    OverlapError
        If the target is an operand that other blocks still need.

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
    keep = chunks_for(root, chunks, "store")
    mark = fingerprint(root, keep) if isinstance(target, str | os.PathLike) else ""
    sink = sink_of(target, root, keep, mark, overwrite, resume)
    with Progress(progress) as shown:
        cluster = None if client is None else DaskCluster(client)
        run = Run(budget, shown.clock, shown.start, shown.advance, cluster)
        return _stored(root, sink, run)


def _stored(root: Node, sink: Sink, run: Run) -> Any:
    try:
        run_into(root, sink, sink.journal, run)
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


def run_into(root: Node, sink: Sink, journal: Journal | None, run: Run) -> None:
    """Evaluate an expression into a sink."""
    if not math.prod(root.shape):
        return
    if isinstance(root, Reduce) and _is_large(root, run):
        inner = reduced(root.arg, run)
        node = replace(root, arg=inner)
        kept = _kept(root)
        own = [sink.chunks[k] for k in kept] if root.keepdims else sink.chunks
        for box, values in folds.fold(node, run, own):
            place = box
            if root.keepdims:
                found = dict(zip(kept, box, strict=True))
                place = tuple([found.get(k, range(1)) for k in range(len(root.shape))])
            sink.write(place, values.reshape([len(s) for s in place]))
        return
    last = reduced(root, run)
    refuse_overlap(last, sink.array)

    def make(box: Box) -> Piece:
        return piece_of(last, box)

    known = None if journal is None else journal.block
    if known is not None:
        grid = Grid(root.shape, known)
    else:
        grid, _ = choose(make, root.shape, sink.chunks, run.budget, True)
    if journal is not None:
        journal.begin(grid.block)
    done = frozenset() if journal is None else journal.done

    def corner(box: Box) -> tuple[int, ...]:
        return tuple([s[0] for s in box])

    boxes = (box for box in grid.boxes() if corner(box) not in done)
    run.report("store", len(grid) - len(done))
    for piece in run_blocks(Cuts(last, boxes), run, write=sink.write):
        if journal is not None:
            journal.record(corner(piece.box))
        run.advance(piece)


def _kept(node: Reduce) -> list[int]:
    rank = len(node.arg.shape)
    return [k for k in range(rank) if k not in node.axes]


def _is_large(node: Reduce, run: Run) -> bool:
    return bool(math.prod(node.shape) * node.dtype.itemsize > run.budget // 4)


def refuse_overlap(root: Node, array: Any) -> None:
    """Refuse a target that is an operand, unless every block reads its own elements alone.

    Raises
    ------
    OverlapError
        If a block reads elements of the target that another block writes.
    """
    path = path_of(array)
    shifted: set[int] = set()
    for node in postorder(root):
        if isinstance(node, Stored):
            source: Any = node.source
            for inner, _ in getattr(source, "factors", ()):
                if any([_is_same(x.source, array, path) for x in requests(inner)]):
                    _refuse(node, array)
            same = _is_same(source, array, path)
            if same:
                shifted.add(id(node))
                if node.shape != root.shape:
                    _refuse(node, source)
        elif any([id(arg) in shifted for arg in node.args]):
            shifted.add(id(node))
            if not isinstance(node, Elementwise) or node.shape != root.shape:
                _refuse(node, array)


def _is_same(source: Any, array: Any, path: Path | None) -> bool:
    own = getattr(source, "array", None)
    return own is array or (path is not None and path_of(own) == path)


def _refuse(node: Node, what: Any) -> None:
    raise OverlapError(
        f"store: the target {what} is an operand, and {describe(node)} reads elements of it that "
        "other blocks write; only operations element by element may be stored into their operand"
    )
