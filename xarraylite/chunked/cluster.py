"""Blocks as tasks of dask: a lazy `dask.array`, or a store on a cluster.

One task computes one block, the whole expression fused: it reads what the block needs, evaluates
it, and gives it back or writes it.  A task has the expression as a `Parcel`.  Kernels are found in
the worker's memory, or in the disk cache, which all workers of a machine share, so each is compiled
once per machine and CPU.  Tasks depend on nothing but the operands, so a lost worker costs the
tasks that it had; dask runs them again elsewhere, and writing a block twice writes the same bits.

Inside a task kernels use one thread: the scheduler has filled the others.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from .._config import config
from ..ir.node import Node
from ..operands.nodes import as_node
from .cut import has_stored, requests
from .extras import imported
from .journal import fingerprint
from .parcel import Parcel
from .pipeline import Array, Run, computed, over
from .plan import Cuts, Grid, Load, Piece, budget_of, chunks_for, piece_of
from .selection import Box, shape_of
from .stream import reduced

#: Tasks in flight for each thread of a cluster.
_AHEAD = 4


def to_dask(
    expression: object,
    /,
    *,
    chunks: int | Sequence[int] | None = None,
    memory: int | str | None = None,
) -> Any:
    """Return an expression as a lazy `dask.array`, one task for each block.

    Parameters
    ----------
    expression : array or expression
        What to compute.  What is folded inside it is evaluated now, block by block.
    chunks : int or sequence of int, optional
        Extents of a block; by default the chunks of an operand of the same shape.
    memory : int or str, optional
        Bytes that may be in flight while that happens; see `store`.

    Returns
    -------
    dask.array.Array
        Its blocks are computed by fused kernels.

    Raises
    ------
    ImportError
        If dask is not installed.
    ShapeError
        If chunks are not one positive length for each dimension.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> a = xl.open(np.arange(6.0).reshape(2, 3))
    >>> lazy = xl.to_dask(xl.sqrt(a) * 2, chunks=(1, 3))  # doctest: +SKIP
    >>> lazy.numblocks  # doctest: +SKIP
    (2, 1)
    """
    array = imported("dask.array", "dask")
    root = as_node(expression, "to_dask")
    block = chunks_for(root, chunks, "to_dask")
    last = reduced(root, Run(budget_of(memory))) if has_stored(root) else root
    key = fingerprint(last, block)
    grid = Grid(root.shape, block)
    lengths = tuple(
        [
            tuple([min(n, at + b) - at for at in range(0, n, b)]) or (0,)
            for n, b in zip(root.shape, block, strict=True)
        ]
    )
    return array.map_blocks(
        BlockTask(Parcel(last, key), grid),
        chunks=lengths,
        dtype=root.dtype,
        meta=np.empty((0,) * len(root.shape), root.dtype),
        name=f"xarraylite-{key[:32]}",
    )


class BlockTask:
    """Computes a block, given its place among them."""

    __slots__ = ("grid", "parcel")

    def __init__(self, parcel: Parcel, grid: Grid) -> None:
        self.parcel = parcel
        self.grid = grid

    def __reduce__(self) -> Any:
        return BlockTask, (self.parcel, self.grid)

    def __call__(self, block_id: tuple[int, ...] = ()) -> Array:
        box = self.grid.box(block_id)
        if not all(map(len, box)):
            return np.empty([len(s) for s in box], self.parcel.node.dtype)
        return computed_of(piece_of(self.parcel.node, box))


def computed_of(piece: Piece) -> Array:
    """Return the values of a block, on this thread alone."""
    arrays = [load.source.read(load.box) for load in piece.loads]
    with config(threads=1):
        return computed(over(piece, arrays))


def run_cut(parcel: Parcel, box: Box, write: Any) -> Array | None:
    """Cut a block on a worker, compute it, and write it there or return it."""
    values = computed_of(piece_of(parcel.node, box))
    if write is None:
        return values
    write(box, values)
    return None


def run_piece(
    parcel: Parcel, loads: list[tuple[Any, Box, list[int]]], box: Box, write: Any
) -> Array | None:
    """Compute a block on a worker, and write it there or return it."""
    nodes = requests(parcel.node)
    own = [Load(source, part, [nodes[k] for k in users]) for source, part, users in loads]
    values = computed_of(Piece(box, parcel.node, own))
    if write is None:
        return values
    write(box, values)
    return None


class DaskCluster:
    """Runs blocks as tasks of dask.distributed.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._limited = False

    def run_blocks(
        self,
        pieces: Iterable[Piece],
        take: Callable[[Piece, Array], None] | None,
        write: Callable[[Box, Array], None] | None,
    ) -> Iterator[Piece]:
        """Run blocks on the cluster, and yield each when it is done, in order."""
        workers = self.client.scheduler_info()["workers"].values()
        threads = sum([worker["nthreads"] for worker in workers]) or 1
        self._limited = all(["memory" in worker.get("resources", {}) for worker in workers])
        flying: deque[tuple[Piece, Any]] = deque()
        left = self._started(pieces, write)
        try:
            while True:
                flying.extend(itertools.islice(left, max(0, _AHEAD * threads - len(flying))))
                if not flying:
                    return
                piece, future = flying.popleft()
                values = future.result()
                del future
                if take is not None:
                    take(piece, values)
                yield piece
        except BaseException:
            self.client.cancel([future for _, future in flying])
            raise

    def _started(self, pieces: Iterable[Piece], write: Any) -> Iterator[tuple[Piece, Any]]:
        """Yield blocks and the futures of their tasks."""
        if not isinstance(pieces, Cuts):
            for piece in pieces:
                yield piece, self._submit(piece, write)
            return
        # The expression goes to all workers once, and tasks say no more than where blocks lie.
        root = pieces.root
        boxes = iter(pieces.boxes)
        first = next(boxes, None)
        if first is None:
            return
        options = self._options(piece_of(root, first).need)
        sent, written = self.client.scatter([Parcel(root), write], broadcast=True, hash=False)
        for box in itertools.chain([first], boxes):
            piece = Piece(box, Node(shape_of(box), root.dtype), [])
            yield (
                piece,
                self.client.submit(run_cut, sent, box, written, pure=False, **options),
            )

    def _options(self, need: int) -> dict[str, Any]:
        return {"resources": {"memory": need}} if self._limited and need else {}

    def _submit(self, piece: Piece, write: Any) -> Any:
        place = {id(node): k for k, node in enumerate(requests(piece.node))}
        loads = [
            (load.source, load.box, [place[id(user)] for user in load.users])
            for load in piece.loads
        ]
        return self.client.submit(
            run_piece,
            Parcel(piece.node),
            loads,
            piece.box,
            write,
            pure=False,
            **self._options(piece.need),
        )
