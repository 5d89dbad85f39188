"""Kernels that fold rows of different lengths, which lie one after the other.

Row ``r`` is what lies between two offsets.  It owns the *places* ``offsets[r] + r`` to
``offsets[r + 1] + r``: one for each of its elements and one for itself.  These numbers rise from
row to row, so any range of places is a range of rows, found by bisection, and pieces of work that
have the same number of places take about the same time, however the lengths are distributed.
Each row is folded by one piece, so results do not depend on how work is divided.

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
from dataclasses import dataclass

from .body import emit_body
from .reduction import (
    BLOCK_BYTES,
    LANES,
    ReduceSpec,
    block_of,
    collect_parts,
    emit_still,
    fill,
    fold_block,
    is_laned,
    lanes,
    take,
    value_bytes,
)
from .source import Source
from .tokens import call, token
from .walkers import (
    RANGES,
    DType,
    Inner,
    Odometer,
    Operand,
    Words,
    add_values,
    add_walkers,
    constants,
    load_words,
    readers,
)


@dataclass(frozen=True, slots=True)
class SegmentSpec:
    """Everything the source of a kernel depends on.

    Attributes
    ----------
    fold : ReduceSpec
        How a row is folded.  Its operands move along the rows' elements, the destination along
        the rows; its kept loops run over the columns that each row has.
    """

    fold: ReduceSpec

    def words(self) -> Words:
        """Return the layout of the argument block; ``o`` is the address of the offsets."""
        fold, words = self.fold, Words()
        words.add(*RANGES, "o", "rows", "columns")
        words.add(*[f"n_k{d}" for d in range(fold.kept)])
        add_walkers(words, fold.operands, {"k": fold.kept})
        add_values(words, fold.body, fold.gathers)
        words.add("z", "z+")
        return words


def emit_segments(spec: SegmentSpec) -> str:
    """Return the source of the kernel."""
    fold, source = spec.fold, Source()
    dtypes: dict[str, DType] = {**constants(fold.body), "z": fold.body.dtype}
    block = block_of(fold.body.dtype)
    with source.block("def kernel(block):"):
        load_words(source, spec.words(), dtypes)
        size = value_bytes(fold.body.dtype)
        source.line(f"w0 = scratch({BLOCK_BYTES + LANES * size})")
        source.line(f"w1 = scratch({64 * size})")
        _bisect(source, "end", "0", "load_i64(o, middle) + middle < t1")
        _bisect(source, "first", "0", "load_i64(o, middle) + middle < t0")
        source.line("start = load_i64(o, first)")
        with source.block("while first < end:"):
            _bisect(source, "last", "first", f"load_i64(o, middle + 1) - start <= {block}", "end")
            with source.block("if last == first:"):
                source.lines("last += 1", "extent = load_i64(o, last) - start")
                _columns(source, fold, _long)
            with source.block("else:"):
                source.line("extent = load_i64(o, last) - start")
                _columns(source, fold, _batch)
            source.lines("start += extent", "first = last")
    return source.text()


def _bisect(source: Source, name: str, low: str, test: str, high: str = "rows") -> None:
    """Set ``name`` to the first row from ``low`` on that fails a test of ``middle``."""
    source.lines(f"{name} = {low}", f"beyond = {high}")
    with source.block(f"while {name} < beyond:"):
        source.line(f"middle = ({name} + beyond) // 2")
        with source.block(f"if {test}:"):
            source.line(f"{name} = middle + 1")
        with source.block("else:"):
            source.line("beyond = middle")


def _columns(
    source: Source, fold: ReduceSpec, emit: Callable[[Source, ReduceSpec, set[int]], None]
) -> None:
    """Set pointers to the first row, and fold every column of the batch."""
    for w, operand in enumerate(fold.operands):
        step = _step(operand, w)
        moved = f" + {'start' if w else 'first'} * {step}" if step else ""
        source.line(f"q{w} = p{w}{moved}")
    if fold.kept == 0:
        emit(source, fold, emit_still(source, fold))
        return
    columns = Odometer("k", fold.kept, "q", range(len(fold.operands)))
    columns.start(source, "0")
    with source.block("for column in range(columns):"):
        emit(source, fold, emit_still(source, fold))
        columns.step(source)


def _step(operand: Operand, w: int) -> str:
    """Return by how much a walker moves from one position to the next."""
    if operand.inner is Inner.STILL:
        return ""
    return str(token(operand.dtype).itemsize) if operand.inner is Inner.UNIT else f"e{w}"


def _batch(source: Source, fold: ReduceSpec, fixed: set[int]) -> None:
    """Compute the values of rows ``first`` to ``last``, then fold each row."""
    value = token(fold.body.dtype).value
    with source.block("for j in range(extent):"):
        emit_body(source, fold.body, readers(fold.operands, "q", "j"), fixed)
        source.line(f"push_{value}(w0, j, v{len(fold.body.instructions) - 1})")
    source.lines("at = w0", "low = start")
    with source.block("for row in range(first, last):"):
        source.lines("high = load_i64(o, row + 1)", "width = high - low", "total = z")
        (_by_lanes if is_laned(fold) else _one_by_one)(source, fold)
        step = _step(fold.operands[0], 0)
        _store(source, fold, f" + (row - first) * {step}" if step else "")
        source.lines(f"at += width * {value_bytes(fold.body.dtype)}", "low = high")


def _by_lanes(source: Source, fold: ReduceSpec) -> None:
    size, laned = value_bytes(fold.body.dtype), lanes(fold)
    with source.block(f"if width <= {LANES}:"):
        source.line(f"total = {fold.combine('total', f'{laned}(at, width, z)')}")
    with source.block("else:"):
        _start(source, fold)
        with source.block(f"for j in range(0, width, {LANES}):"):
            take(source, fold, f"{laned}(at + j * {size}, width - j, z)")
        _finish(source, fold)


def _one_by_one(source: Source, fold: ReduceSpec) -> None:
    _start(source, fold)
    with source.block("for j in range(width):"):
        take(source, fold, f"pull_{token(fold.body.dtype).value}(at, j)")
    _finish(source, fold)


def _start(source: Source, fold: ReduceSpec) -> None:
    if fold.compensated:
        source.line(f"lost = {token(fold.body.dtype).value}(0)")


def _finish(source: Source, fold: ReduceSpec) -> None:
    if fold.compensated:
        source.line(f"total = {token(fold.body.dtype).value}(compensate(total, lost))")


def _store(source: Source, fold: ReduceSpec, moved: str) -> None:
    names = token(fold.operands[0].dtype)
    total = call(names.encode, "total")
    source.line(f"store_{fold.operands[0].memory}(q0{moved}, 0, {total})")


def _long(source: Source, fold: ReduceSpec, fixed: set[int]) -> None:
    """Fold one row block by block, as `Form.ALONG` does."""
    block = block_of(fold.body.dtype)
    source.lines("total = z", "count = 0")
    _start(source, fold)
    with source.block(f"for low in range(0, extent, {block}):"):
        source.line(f"width = min(extent - low, {block})")
        fill(source, fold, fixed)
        fold_block(source, fold)
    if not fold.compensated:
        collect_parts(source, fold)
    _finish(source, fold)
    _store(source, fold, "")
