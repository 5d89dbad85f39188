"""Kernels that fold rows of different lengths, which lie one after the other.

Work is divided by a *merge-path partition* (Odeh, Green et al., "Merge Path", 2012; for rows of
sparse matrices Merrill and Garland, 2016).  Row ``r`` is what lies between two offsets.  It owns
the steps ``offsets[r] + r`` to ``offsets[r + 1] + r`` of the path: one for each of its elements and
one for itself.  These numbers rise from row to row, so any range of steps is a range of rows, found
by bisection, and pieces of work that have the same number of steps take about the same time,
however the lengths are distributed.  Each row is folded by one piece, so results do not depend on
how work is divided.

Rows are taken in batches that fill a block of scratch.  The values of all their elements are
computed at once, so that code which costs much per value is vectorised across rows, however short
these are.  Then each row is folded: where the machine can, `LANES` values at a time, those beyond
the end of the row replaced by the identity, so that most short rows take no decision that depends
on their length, which the CPU could not foresee.  Sums keep what the addition of such a group to
the row's total rounds off, which makes them at least as accurate as NumPy's.

A row that is longer than a block is folded as `Form.ALONG` folds one.
"""

from __future__ import annotations

from collections.abc import Callable

from ..._records import record
from . import streams
from .builder import Builder, Local, Module, Value
from .folding import Fold, ReduceSpec, block_of, value_bytes
from .lanes import LANES
from .memory import fetch
from .tokens import token


@record(frozen=True, slots=True)
class SegmentSpec:
    """Everything the code of a kernel depends on.

    Attributes
    ----------
    fold : ReduceSpec
        How a row is folded.  Its operands move along the rows' elements, the destination along
        the rows; its kept loops run over the columns that each row has.
    """

    fold: ReduceSpec

    def words(self) -> streams.Words:
        """Return the layout of the argument block; ``o`` is the address of the offsets."""
        fold, names = self.fold, (*streams.RANGES, "o", "rows", "columns", "z", "z+")
        return streams.words_of(names, {"k": fold.kept}, fold.operands, fold.body, fold.gathers)


def emit_segments(spec: SegmentSpec) -> Module:
    """Return the kernel."""
    fold, b = spec.fold, Builder()
    words = streams.load_words(b, spec.words(), fold.body)
    every, block = Fold.of(b, fold, words, Fold.block_sizes(fold)), block_of(fold.body.dtype)

    def offset(row: Value) -> Value:
        return fetch(b, "i64", words["o"], row, "src")

    def before(step: Value) -> Callable[[Value], Value]:
        return lambda row: offset(row) + row < step

    rows = words["rows"]
    end = _bisect(b, b.integer(0), rows, before(words["t1"]))
    first = b.local(_bisect(b, b.integer(0), rows, before(words["t0"])))
    start = b.local(offset(first.get()))
    with b.repeat() as loop:
        b.stop_unless(loop, first.get() < end)
        at, low = first.get(), start.get()
        last = b.local(_bisect(b, at, end, lambda row: offset(row + 1) - low <= block))
        with b.either(last.get().equals(at)) as otherwise:
            last.set(at + 1)
            extent = offset(last.get()) - low
            _columns(_Batch(every, offset, at, last.get(), low, extent), _long)
            start.set(low + extent)
            otherwise()
            extent = offset(last.get()) - low
            _columns(_Batch(every, offset, at, last.get(), low, extent), _batch)
            start.set(low + extent)
        first.set(last.get())
    return b.module()


def _bisect(b: Builder, low: Value, high: Value, test: Callable[[Value], Value]) -> Value:
    """Emit the search for the first row from ``low`` on that fails a test, or ``high``."""
    found, beyond = b.local(low), b.local(high)
    with b.repeat() as loop:
        b.stop_unless(loop, found.get() < beyond.get())
        middle = (found.get() + beyond.get()) // 2
        with b.either(test(middle)) as otherwise:
            found.set(middle + 1)
            otherwise()
            beyond.set(middle)
    return found.get()


@record(frozen=True, slots=True)
class _Batch:
    """Rows ``first`` to ``last``, whose ``extent`` elements begin at ``start``."""

    fold: Fold
    offset: Callable[[Value], Value]
    first: Value
    last: Value
    start: Value
    extent: Value


def _columns(batch: _Batch, emit: Callable[[_Batch, Fold], None]) -> None:
    """Set pointers to the first row, and fold every column of the batch."""
    fold = batch.fold
    b, words, spec = fold.b, fold.words, fold.spec
    places = []
    for w, operand in enumerate(spec.operands):
        moved = _moved(operand, w, batch.start if w else batch.first, fold)
        places.append(words[f"p{w}"] if moved is None else words[f"p{w}"] + moved)
    if spec.kept == 0:
        emit(batch, fold.along(places))
        return
    moving: dict[int, Local] = {w: b.local(element_of) for w, element_of in enumerate(places)}
    columns = streams.MultiIndex.at(b, "k", spec.kept, words, moving, b.integer(0))
    with b.loop(0, words["columns"]):
        emit(batch, fold.along([pointer.get() for pointer in moving.values()]))
        columns.step()


def _moved(operand: streams.Operand, w: int, count: Value, fold: Fold) -> Value | None:
    """Return by how much a stream moves in ``count`` steps; None for one that does not."""
    if operand.inner is streams.Inner.STILL:
        return None
    if operand.inner is streams.Inner.UNIT:
        return count * token(operand.dtype).itemsize
    return count * fold.words[f"e{w}"]


def _batch(batch: _Batch, fold: Fold) -> None:
    """Compute the values of rows ``first`` to ``last``, then fold each row."""
    b, size, to = fold.b, value_bytes(fold.spec.body.dtype), fold.spec.operands[0]
    fold.each(0, batch.extent)
    at, low = b.local(fold.values), b.local(batch.start)
    with b.loop(batch.first, batch.last) as row:
        high = batch.offset(row + 1)
        width = high - low.get()
        (_by_lanes if fold.spec.laned else _one_by_one)(fold, at.get(), width)
        moved = _moved(to, 0, row - batch.first, fold)
        address = fold.pointers[0] if moved is None else fold.pointers[0] + moved
        fold.store(fold.total.get(), address)
        at.add(width * size)
        low.set(high)


def _by_lanes(fold: Fold, at: Value, width: Value) -> None:
    b = fold.b
    with b.either(width <= LANES) as otherwise:
        fold.total.set(fold.combine(fold.words["z"], fold.lanes(at, width)))
        otherwise()
        fold.start()
        fold.groups(at, width)
        _finish(fold)


def _one_by_one(fold: Fold, at: Value, width: Value) -> None:
    fold.start()
    with fold.b.loop(0, width) as j:
        fold.take(fold.pull(at, j))
    _finish(fold)


def _finish(fold: Fold) -> None:
    if fold.spec.compensated:
        fold.total.set(fold.compensate(fold.total.get(), fold.lost.get()))


def _long(batch: _Batch, fold: Fold) -> None:
    """Fold one row block by block, as `Form.ALONG` does."""
    block = block_of(fold.spec.body.dtype)
    fold.start()
    with fold.b.loop(0, batch.extent, block) as low:
        width = (batch.extent - low).least(block)
        fold.block(fold.fill(low, width))
    fold.store(fold.result(), fold.pointers[0])
