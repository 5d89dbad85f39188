"""Blocks as tasks of dask: a lazy `dask.array`, or a store on a cluster.

One task computes one block, the whole expression fused: it reads what the block needs, evaluates
it, and gives it back or writes it.  A task has the expression as a `Parcel`.  Kernels are found in
the worker's memory, or in the disk cache, which all workers of a machine share, so each is compiled
once per machine and CPU.  Tasks depend on nothing but the operands, so a lost worker costs the
tasks that it had; dask runs them again elsewhere, and writing a block twice writes the same bits.

Inside a task kernels use one thread: the scheduler has filled the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import itertools
import math
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .._config import config, settings
from .._errors import ShapeError, SizeError, StorageError
from ..codegen import store
from ..compiler.graph import canonical
from ..dtypes.names import NumpyArray, dtype_name, is_narrow
from ..ir.build import describe
from ..ir.node import Node
from ..layout.strided import Strided
from ..memory.target import Target
from ..operands.nodes import as_node
from ..runtime import evaluate as engine
from .blocks import Tasks
from .budget import budget_of
from .cut import has_stored
from .extras import imported
from .grid import Grid, Uneven, grid_of
from .lengths import chunks_for
from .parcel import Parcel, fingerprint
from .piece import Piece, piece_of
from .pipeline import Cuts, Done, Maker, Run, Write, over, slabs_of, values_of
from .selection import chunks_text, shape_of, text_of
from .stream import reduced
from .trees import imagined

#: Tasks of a wave for each thread of a cluster: of those that give values back, and that write.
_AHEAD, _QUEUED = 4, 64

#: Tasks of which the client hears at once: each time it hears, it works for 0.2 ms.
_BUNDLED = 16

#: Seconds after which tasks are looked at for one that has failed.
_LOOK = 2.0

#: Seconds after which a client is taken to be gone: whoever closes it may leave what it was told
#: undone, for good.
_GONE = 5.0

#: Seconds in which a scheduler answers, however busy it is; tasks may take any time.
_SILENT = 60.0

#: What a client raises that is closed while it waits for something: it has no result to return.
_CLOSED = UnboundLocalError

#: Bytes of operands and results of blocks that share a task.
_SHARED = 4 << 20


def to_dask(
    expression: object,
    /,
    *,
    chunks: Any = None,
    memory: int | str | None = None,
) -> Any:
    """Return an expression as a lazy `dask.array`, one task for each block.

    Parameters
    ----------
    expression : array or expression
        What to compute.  What is folded inside it is evaluated now, block by block.
    chunks : int, str, tuple or dict, optional
        Lengths of blocks in any form that dask takes: ``100``, ``(100, -1)``, ``"auto"``,
        ``"64 MiB"``, ``{0: 100}``, ``((60, 40), (10, 20))``.  By default the chunks of an operand
        of the same shape, multiples of which ``"auto"`` chooses.
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
        If chunks do not divide the shape.

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
    lengths = _lengths(root, chunks)
    last = reduced(root, Run(budget_of(memory))) if has_stored(root) else root
    key = fingerprint(last, lengths)
    numbers, dims = imported("dask.layers", "dask").ArrayBlockIdDep(lengths), range(len(root.shape))
    return array.blockwise(  # `map_blocks` would wrap each task once more
        functools.partial(_block_of, Parcel(last, key), grid_of(lengths)),
        dims,
        numbers,
        dims,
        name=f"xarraylite-{key[:32]}",
        dtype=root.dtype,
        meta=np.empty((0,) * len(root.shape), root.dtype),
        align_arrays=False,
        adjust_chunks=dict(zip(dims, lengths, strict=True)),
    )


def _lengths(root: Node, chunks: Any) -> tuple[tuple[int, ...], ...]:
    """Return the lengths of the blocks along each dimension, as dask understands chunks."""
    divide: Any = imported("dask.array.core", "dask").normalize_chunks
    shape = root.shape
    own = divide(chunks_for(root, None, "to_dask"), shape)
    if chunks is None:
        return cast("tuple[tuple[int, ...], ...]", own)
    try:
        if isinstance(chunks, bool):
            raise TypeError("a truth value is no length")
        if isinstance(chunks, dict) and not set(chunks) <= set(range(-len(shape), len(shape))):
            raise ValueError(f"{describe(root)} has {len(shape)} dimensions")
        found = divide(chunks, shape, dtype=root.dtype, previous_chunks=own)
        if not all([isinstance(n, int | np.integer) and n >= 0 for side in found for n in side]):
            raise ValueError("lengths of blocks are integers from 0 on")
    except (ArithmeticError, TypeError, ValueError) as error:
        told = str(error).split("\n")[0]
        raise ShapeError(f"to_dask: chunks {chunks!r} for {describe(root)}: {told}") from error
    return tuple([tuple([int(n) for n in side]) for side in found])


def _block_of(parcel: Parcel, grid: Grid | Uneven, block_id: tuple[int, ...]) -> Any:
    """Compute a block, given its place among them."""
    box = grid.box(block_id)
    if not all(map(len, box)):
        return np.empty(shape_of(box), parcel.node.dtype)
    return computed_of(piece_of(parcel.node, box))


def computed_of(piece: Piece) -> Any:
    """Return the values of a block, on this thread alone, as `values_of` does."""
    with config(threads=1):
        return values_of(piece, over(piece, [load.source.read(load.box) for load in piece.loads]))


@dataclass(frozen=True, slots=True)
class Work:
    """What every task of a run needs, sent to each worker once.

    Attributes
    ----------
    make : callable
        Cuts a block.
    finish : callable
        Makes of blocks and their values what a task gives back, or writes them.
    kernels : mapping
        Object code of the kernels that blocks run, by key.
    """

    make: Any
    finish: Any
    kernels: Mapping[str, bytes]

    def __reduce__(self) -> Any:
        return _received, (self.make, self.finish, self.kernels)


def _received(*told: Any) -> Work:
    work = Work(*told)
    store.offer(work.kernels)
    return work


def _same(work: Work) -> Work:
    return work


def _tried(keys: Sequence[Any], work: Work) -> list[StorageError | None]:
    """Do as `run_keys` does; return for each block what could not be read or written."""
    try:
        run_keys(keys, work)
    except StorageError as error:
        return [error] * len(keys)
    return [None] * len(keys)


def _over(given: Sequence[list[StorageError | None]]) -> None:
    """Come after tasks, and raise the first error of theirs, which knows what they have written."""
    told = [*itertools.chain(*given)]
    for error in filter(None, told):
        vars(error)["written"] = [found is None for found in told]
        raise error


#: Values of some blocks one after another, and the shapes of these.
Values = tuple[NumpyArray, list[tuple[int, ...]]]


def run_keys(keys: Sequence[Any], work: Work) -> Any:
    """Compute blocks on a worker, one after another, and write them there or give them back."""
    # Interpreting the first blocks would need kernels of single operations, which were not sent.
    ready = work.kernels and settings.engine != "reference"
    with config(engine="compiled") if ready else contextlib.nullcontext(), config(threads=1):
        return work.finish((piece, computed_of(piece)) for piece in map(work.make, keys))


def _written(write: Any, blocks: Iterable[tuple[Piece, NumpyArray]]) -> None:
    for piece, values in blocks:
        write(piece.box, values)


def _in_one(blocks: Iterable[tuple[Piece, NumpyArray]]) -> Values:
    """Return values in one piece; the name of a narrow type is not known on the way."""
    made = [values.view(f"u{values.itemsize}") if is_narrow(values.dtype) else values
            for _, values in blocks]  # fmt: skip
    flat, shapes = [values.reshape(-1) for values in made], [values.shape for values in made]
    return flat[0] if len(flat) == 1 else np.concatenate(flat), shapes


def _blocks_of(values: Values, dtype: np.dtype[Any]) -> Iterator[NumpyArray]:
    """Return what a task has given back, block by block."""
    flat, shapes = values
    parts = np.split(flat, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return (part.reshape(n).view(dtype) for part, n in zip(parts, shapes, strict=True))


def _kernels_of(piece: Piece) -> dict[str, bytes]:
    """Return the object code of the kernels that a block runs, compiling those that are new."""
    if engine.uses_reference():
        return {}
    keys: set[str] = set()

    def compiled(node: Node) -> NumpyArray:
        target = Target.imagined(Strided.row_major(node.shape), node.dtype)
        program = engine.program_of(canonical(node, None, True), target, True)
        keys.update([step.kernel.key for step in program.kernels if step.kernel.key])
        return np.zeros(node.shape, node.dtype)

    with config(threads=1):
        node = imagined(piece.node, piece.spread)
        if piece.along is not None:
            node = next(slabs_of(piece, node))[1]
        compiled(node if piece.fold is None else piece.fold(node, compiled))
    return {key: image for key in sorted(keys) if (image := store.load(key)) is not None}


Wave = list[tuple[list[Any], Any]]


class DaskCluster:
    """Runs blocks as tasks of dask.distributed.

    Blocks go out in waves of some tasks for each thread, the next one before the last has ended;
    small blocks share a task.  So what the client does for a block is a small part of what the
    worker does, and no more is in flight than was counted.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    budget : int
        Bytes that may be in flight.
    """

    keeps = False  # tasks go to any worker

    def __init__(self, client: Any, budget: int) -> None:
        if not hasattr(client, "scheduler_info"):
            raise TypeError(
                f"store: client must be a distributed.Client, got {type(client).__name__}"
            )
        over = client.status in ("closing", "closed")
        if over or client.asynchronous:
            told = client.status if over else "asynchronous"
            raise ValueError(f"store: client must run, and wait for results; it is {told}")
        self.client, self._budget = client, budget

    def run_blocks(self, pieces: Cuts, values: bool, write: Write | None) -> Done:
        """Run blocks on the cluster, and yield each when it is done, in order."""
        keys = iter(pieces.keys)
        first = next(keys, None)
        if first is None:
            return
        piece = pieces.make(first)
        keys = itertools.chain([first], keys)
        workers = list(self.client.scheduler_info()["workers"].values())
        threads = max(1, sum(self.client.nthreads().values()))  # the former may be of some only
        tasks = threads * (_AHEAD if values else _QUEUED)
        options = _asked_of(workers, pieces.need)
        # Where there are few blocks, each is a task, for any worker; of many, more and more.
        per, most = 1, max(1, _SHARED // max(1, piece.inputs + piece.nbytes))
        finish, opened = cast("Any", functools.partial(_written, write)), cast("Any", None)
        if isinstance(pieces, Tasks):
            per = most = pieces.per
            finish, opened = pieces.gives, lambda given: [given]
        elif values:  # two waves of results may be there
            most = max(1, min(most, self._budget // (2 * tasks * max(1, piece.nbytes))))
            finish, opened = _in_one, functools.partial(_blocks_of, dtype=piece.node.dtype)
        work = Work(pieces.make, finish, _kernels_of(piece))
        sent = self.client.submit(_same, work, pure=False)  # a task: it is made again if lost

        def started(per: int, tasks: int) -> Wave:
            groups = [list(itertools.islice(keys, per)) for _ in range(tasks)]
            groups = [group for group in groups if group]
            if opened is None:
                return self._bundled(groups, sent, options)
            futures = self.client.map(run_keys, groups, work=sent, pure=False, **options)
            return list(zip(groups, futures, strict=True))

        waves: deque[Wave] = deque()
        try:
            waves.append(started(per, _AHEAD * threads))
            while waves[0]:
                per = min(2 * per, most)
                waves.append(started(per, tasks))
                for key, made in self._ended(waves.popleft(), opened, pieces.make):
                    yield Piece(key, Node(piece.node.shape, piece.node.dtype), []), made
        except BaseException:
            self._cancel([future for wave in waves for _, future in wave])
            raise

    def _bundled(self, groups: list[list[Any]], work: Any, options: dict[str, Any]) -> Wave:
        """Start tasks that give nothing back: the client hears of a bundle when all have ended."""
        name, graph, bundles = f"run_keys-{uuid.uuid4().hex}", dict[Any, Any](), list[list[Any]]()
        for low in range(0, len(groups), _BUNDLED):
            some = groups[low : low + _BUNDLED]
            begins = itertools.accumulate(map(len, some[:-1]), initial=0)
            tasks = {(name, low, at): (_tried, own, work)
                     for at, own in zip(begins, some, strict=True)}  # fmt: skip
            graph |= tasks | {(f"over-{name}", low): (_over, [*tasks])}
            bundles.append([*itertools.chain(*some)])
        ends = [key for key in graph if len(key) == 2]
        options = {"sync": False, "fifo_timeout": 0, **options}  # earlier waves come first
        futures = self.client.get(graph, ends, **options) if ends else []
        return list(zip(bundles, futures, strict=True))

    def _ended(self, wave: Wave, opened: Any, make: Maker) -> Iterator[tuple[Any, Any]]:
        """Yield the blocks of a wave when all are done, or those that are, before an error.

        With what tasks have given, ``opened``; nothing if that is None.
        """
        groups, futures = [group for group, _ in wave], [future for _, future in wave]
        distributed = imported("distributed", "dask")
        losses = (distributed.scheduler.KilledWorker, distributed.CancelledError)
        try:
            failed = self._waited(futures)
            done = [failed is None or future.status == "finished" for future in futures]
            values: Iterator[Any] = itertools.repeat(itertools.repeat(None))
            if opened is not None:
                values = map(opened, self._gathered(list(itertools.compress(futures, done))))
            if failed is None:
                wave.clear()
                with contextlib.suppress(TimeoutError):
                    self.client.sync(_forgotten, futures, callback_timeout=_GONE)
        except BaseException as error:
            self._cancel(futures)
            if isinstance(error, (*losses, TimeoutError)):  # of `_ask`
                raise _lost(make(groups[0][0]), error) from error
            raise
        for group in itertools.compress(groups, done):
            yield from zip(group, next(values), strict=False)
        if failed is not None:
            group = groups[futures.index(failed)]
            try:
                failed.result()  # once cancelled, it no longer says what was wrong
            except (*losses, RuntimeError) as error:  # the latter also of a client that is closed
                if failed.status == "error" and not isinstance(error, losses):
                    raise
                name = getattr(error, "task", ())  # of `_bundled`, which says where it is
                at = name[2] if isinstance(name, tuple) and len(name) > 2 else 0
                raise _lost(make(group[at]), error) from error
            except StorageError as error:
                written = itertools.compress(group, vars(error).get("written", ()))
                yield from zip(written, itertools.repeat(None))
                raise
            finally:
                self._cancel(futures)

    def _cancel(self, futures: list[Any]) -> None:
        """Cancel tasks, if the client is still there to say so."""
        if self.client.status != "running":
            return  # which cancels them
        with contextlib.suppress(Exception):
            self.client.sync(_cancelled, self.client, futures, callback_timeout=_GONE)

    def _waited(self, futures: list[Any]) -> Any:
        """Wait until all are done, or one has failed, which is returned."""
        distributed = imported("distributed", "dask")
        while True:
            with contextlib.suppress(TimeoutError, _CLOSED), self.client.as_current():
                distributed.wait(futures, timeout=_LOOK)
                return next((f for f in futures if f.status != "finished"), None)
            failed = next((f for f in futures if f.status in ("error", "cancelled")), None)
            if failed is not None:
                return failed
            self._ask()

    def _gathered(self, futures: list[Any]) -> Any:
        """Return what tasks have given back."""
        given = self.client.gather(futures, asynchronous=True)
        coming = asyncio.run_coroutine_threadsafe(given, self.client.loop.asyncio_loop)
        try:
            while not wait([coming], _LOOK).done:
                self._ask()
            return coming.result()
        except BaseException:
            coming.cancel()
            raise

    def _ask(self) -> None:
        """Raise TimeoutError if the scheduler is there, and does not answer."""
        try:
            self.client.sync(self.client.scheduler.ncores, callback_timeout=_SILENT)
        except TimeoutError:
            raise TimeoutError(f"no answer within {_SILENT:g} s") from None
        except (OSError, _CLOSED):
            return  # it has gone, which tasks tell


def _lost(piece: Piece, error: BaseException) -> StorageError:
    """Return the error of a task whose workers, or their scheduler, have vanished."""
    read = [
        f"{x.source} {dtype_name(x.source.dtype)}{list(x.source.shape)}, elements {text_of(x.box)} "
        f"in chunks {chunks_text(x.box, x.source.chunks)}"
        for x in piece.loads
    ]
    return StorageError(
        f"store: a block {describe(piece.node)}, which reads {'; '.join(read)}, was lost with the "
        f"worker or the scheduler that had it: {type(error).__name__}: {error}"
    )


def _asked_of(workers: list[dict[str, Any]], need: int) -> dict[str, Any]:
    """Return the options of tasks that need some bytes, of workers that all declare how many.

    Where there are no workers yet, nobody knows what they will declare.

    Raises
    ------
    SizeError
        If all declare less: the tasks would wait for ever.
    """
    declared = [worker.get("resources", {}).get("memory") for worker in workers]
    if not need or not declared or None in declared:
        return {}
    if need > max(declared):
        raise SizeError(
            f"store: a block needs {need} bytes in flight, and no worker of the cluster declares "
            f"more than {max(declared):.0f} (resource memory); give a budget (memory=) of no more"
        )
    return {"resources": {"memory": need}}


async def _cancelled(client: Any, futures: list[Any]) -> None:
    """Cancel tasks on the thread of the client's loop."""
    await client.cancel(futures, asynchronous=True)


async def _forgotten(futures: list[Any]) -> None:
    """Let go of tasks on the thread of the client's loop, where that wakes nobody."""
    futures.clear()
