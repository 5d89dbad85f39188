"""Kernels that fold.

Sums are pairwise in fixed blocks.  What decides a kernel's form is whether the innermost loop
runs along a reduced dimension or a kept one:

`ALONG`
    The inner loop is reduced.  Blocks of values are computed into scratch, cheap ones in a few rows
    folded onto each other, and folded by halving, which vectorises without reordering by the
    compiler.  The blocks' results are summed with what each addition rounds off kept apart and
    added at the end (Knuth's TwoSum, as in Neumaier's summation); other folds go through a binary
    counter, so that results of equal weight meet.  A short block is folded `LANES` values at a
    time, for halving would be many short loops; sums and products of few floats in NumPy's order,
    so that they have NumPy's bits.  Where any order gives the same result and memory
    is read as it is, no scratch is needed: vectors of neighbours are folded onto each other.
    Truth values are counted row by row (`tally`).
    A user's function folds rows of scratch, or, if it may not be commutative, one value after the
    other.
    `any` and `all` end with the block that decides them.
`ACROSS`
    The inner loop is kept.  A tile of up to `BLOCK_BYTES` of results is accumulated row by row;
    every `ROWS` rows the tile enters the same kind of binary counter, now of whole tiles.

Partial results of a reduction cut into parts are joined by one more kernel, compensated in either
form.  Sums are the same whichever thread runs them, and at least as accurate as NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import lru_cache

from ..._records import record
from ...dtypes.names import DType
from ...ops.reductions import Reduction
from ...ops.user import UserOp
from . import apart
from .body import Body, Load
from .builder import Builder, Emit, Local, Module, Pace, Value
from .folding import BLOCK_BYTES, SHORT, Fold, Form, ReduceSpec, block_of, block_size
from .position import fold_position
from .routine import LLVM
from .streams import MultiIndex, load_words
from .tally import counts, take_tally
from .tokens import token

#: Rows that are added one after another before the tile enters the counter.
ROWS = 128

#: Truth values between two looks at whether the result is known.
TRUTHS = 4096

#: Levels of a counter of tiles: ROWS * 2**LEVELS rows, more than one part of a reduction has.
LEVELS = 20


def emit_reduce(spec: ReduceSpec) -> Module:
    """Return the kernel."""
    b = Builder()
    words = load_words(b, spec.words(), spec.body)
    moving = {w: b.local(words[f"p{w}"]) for w in range(len(spec.operands))}
    kept = MultiIndex.at(b, "k", spec.kept, words, moving, words["t0"])
    fold = Fold.of(b, spec, words, _SCRATCH[spec.form](spec))
    fold_one = fold_position if spec.position else _fold_truth if spec.ends else _FOLD[spec.form]
    with _passes(b, spec.kept, words["t0"], words["t1"]):
        fold_one(fold, [pointer.get() for pointer in moving.values()])
        kept.step()
    return b.module()


def _rows(fold: Fold, pointers: list[Value]) -> tuple[MultiIndex, list[Local]]:
    """Emit the start of the reduced loops, on pointers of their own."""
    b, words = fold.b, fold.words
    moving = [b.local(pointer) for pointer in pointers]
    reading = dict(list(enumerate(moving))[1:])
    return MultiIndex.at(b, "r", fold.spec.reduced, words, reading, words["r0"]), moving


def shortens(spec: ReduceSpec) -> bool:
    """Tell whether few values take half the code: where they are folded block by block."""
    return spec.laned and not (spec.ordered or spec.sided or spec.ends or counts(spec))


def _passes(b: Builder, loops: int, first: Value, end: Value) -> AbstractContextManager[object]:
    """Emit what is around the innermost loop; one pass is no loop, which would cost LLVM time."""
    return b.loop(first, end, 1, Pace.SLOW) if loops else b.when(first < end)


def _fold_along(fold: Fold, pointers: list[Value]) -> None:
    spec, words = fold.spec, fold.words
    rows, moving = _rows(fold, pointers)
    sided = spec.sided and not spec.plain
    take = _take_in_order if spec.ordered else _take_sides if sided else _take_blocks
    take = take_tally if counts(spec) else take
    fold.start()
    with _passes(fold.b, spec.reduced, words["r0"], words["r1"]):
        take(fold.along([pointer.get() for pointer in moving]))
        rows.step()
    fold.store(fold.result(), pointers[0])


def _take_in_order(row: Fold) -> None:
    with row.b.loop(row.words["j0"], row.words["j1"], 1, Pace.SLOW) as j:
        row.take(row.value(j))


def _take_sides(row: Fold) -> None:
    end, block = row.words["j1"], block_size(row.spec)
    with row.b.loop(row.words["j0"], end, block, Pace.SLOW) as low:
        row.count_in(row.sides(low, (end - low).least(block)))


def _take_blocks(row: Fold) -> None:
    b, words, spec = row.b, row.words, row.spec
    block = 1 if spec.joins and spec.compensated else block_size(spec)
    start = row.vectors(words["j0"], words["j1"]) if spec.plain else words["j0"]
    end = words["j1"]
    with _once(b, start, end) if spec.short else b.loop(start, end, block, Pace.SLOW) as low:
        width = row.fill(low, end - low if spec.short else (end - low).least(block))
        if not spec.laned:
            row.block(width)
        elif isinstance(spec.op.combine, UserOp) or not (spec.short or spec.compensated):
            _take_scratch(row, width)
        else:
            _call_apart(row, width)


def _take_scratch(row: Fold, width: Value) -> None:
    """Emit the fold of ``width`` values in scratch into the total, where they may have lanes."""
    with row.b.either(width <= SHORT) as otherwise:
        (row.halves if row.spec.as_numpy else row.groups)(row.values, width)
        otherwise()
        row.block(width)


def _call_apart(row: Fold, width: Value) -> None:
    """Emit the same as a call: it is most of such a kernel, and the same in all of them."""
    b, total = row.b, row.total.get()
    states = [total, row.lost.get()] if row.spec.compensated else [total]
    kind = f"{{ {', '.join([state.type for state in states])} }}"
    function = scratch_fold(row.spec.op, row.spec.body.dtype)
    done = apart.call(b, function, kind, [row.values, width, row.words["z"], *states])
    for number, local in enumerate((row.total, row.lost)[: len(states)]):
        local.set(b.make(local.type, f"extractvalue {kind} {done.text}, {number}"))


@lru_cache(maxsize=256)
def scratch_fold(op: Reduction, dtype: DType) -> Module:
    """Return the function that folds values in scratch into a total.

    Of sums of floats it takes and returns what was rounded off, too.
    """
    b, kind = Builder(), LLVM[token(dtype).value]
    values, width = Value(b, "i64", "%values"), Value(b, "i64", "%width")
    z, total, lost = [Value(b, kind, name) for name in ("%z", "%total", "%lost")]
    spec = ReduceSpec(Form.ALONG, 0, 0, (), Body((Load(0, dtype),)), op, 0)
    spec = replace(spec, short=not spec.compensated)
    states = [total, lost] if spec.compensated else [total]
    locals_ = [b.local(state) for state in states]
    fold = Fold(b, spec, {"z": z}, (), {}, values, values, locals_[0], locals_[-1], locals_[0])
    _take_scratch(fold, width)
    result = f"{{ {', '.join([kind] * len(states))} }}"
    made = Value(b, result, "poison")
    for number, local in enumerate(locals_):
        step = f"insertvalue {result} {made.text}, {kind} {local.get().text}, {number}"
        made = b.make(result, step)
    return apart.function(b, f"fold_{op.name}", [values, width, z, *states], made)


@contextmanager
def _once(b: Builder, start: Value, end: Value) -> Iterator[Value]:
    """Emit one block, if it has any values; yields its start."""
    with b.when(start < end):
        yield start


def _fold_truth(fold: Fold, pointers: list[Value]) -> None:
    """Fold block by block until nothing can change the result any more.

    `all` is whether not any value is false: of ``and`` LLVM makes no vectors everywhere.
    """
    b, words = fold.b, fold.words
    rows, moving = _rows(fold, pointers)
    turned = int(fold.spec.op.name == "all")
    total = b.local(Value(b, "i8", "0"))
    with _passes(b, fold.spec.reduced, words["r0"], words["r1"]):
        row = fold.along([pointer.get() for pointer in moving])
        low = b.local(words["j0"])
        with b.repeat() as loop:
            b.stop_unless(loop, low.get() < words["j1"])
            b.stop_unless(loop, total.get().equals(0))
            end = (low.get() + TRUTHS).least(words["j1"])
            with b.loop(low.get(), end) as j:
                decides = b.make("i1", f"xor i1 {row.value(j).text}, {turned}")
                value = b.make("i8", f"zext i1 {decides.text} to i8")
                total.set(total.get() | value)
            low.set(end)
        rows.step()
    decided = b.make("i1", f"trunc i8 {total.get().text} to i1")
    fold.store(b.make("i1", f"xor i1 {decided.text}, {turned}"), pointers[0])


def _across_sizes(spec: ReduceSpec) -> tuple[int, int]:
    return BLOCK_BYTES, (1 if spec.joins else LEVELS) * BLOCK_BYTES


def _fold_across(fold: Fold, pointers: list[Value]) -> None:
    b, words, spec = fold.b, fold.words, fold.spec
    end, block = words["j1"], block_of(spec.body.dtype)
    summed = spec.joins and spec.compensated
    with b.loop(words["j0"], end, block, Pace.SLOW) as left:
        tile = _Tile(fold, left, (left + block).least(end))
        rows, moving = _rows(fold, pointers)
        tile.each(lambda j: fold.push(words["z"], fold.values, j))
        (_sum_rows if summed else _fold_rows)(tile, rows, moving)
        kept = replace(fold, pointers=pointers)
        with b.loop(tile.left, tile.right, 1, Pace.SLOW) as j:
            done = fold.pull(fold.values, j - left)
            if summed:
                done = fold.compensate(done, fold.pull(fold.counter, j - left))
            fold.store(done, *kept.element(0, j, 0))


@record(frozen=True, slots=True)
class _Tile:
    """A tile of results, ``left`` to ``right`` of the innermost loop."""

    fold: Fold
    left: Value
    right: Value

    def each(self, emit: Emit) -> None:
        """Emit a loop over the tile's places in scratch."""
        with self.fold.b.loop(0, self.right - self.left, 1, Pace.SLOW) as j:
            emit(j)

    def merge(self, level: Value) -> None:
        """Emit the fold of the tile at ``level`` of the counter and the current one."""
        fold = self.fold

        def one(j: Value) -> None:
            pair = fold.combine(fold.pull(level, j), fold.pull(fold.values, j))
            fold.push(pair, fold.values, j)

        self.each(one)

    def count_in(self, count: Local) -> None:
        """Emit what puts the tile into the counter, and begins another."""
        fold = self.fold
        empty = fold.b.carried(count, fold.counter, BLOCK_BYTES, self.merge)

        def move(j: Value) -> None:
            fold.push(fold.pull(fold.values, j), empty, j)
            fold.push(fold.words["z"], fold.values, j)

        self.each(move)
        count.add(1)


def _fold_rows(tile: _Tile, rows: MultiIndex, moving: list[Local]) -> None:
    """Fold all rows into the tile, by way of a binary counter of tiles."""
    fold, b, words = tile.fold, tile.fold.b, tile.fold.words
    count, filled = b.local(0), b.local(0)
    with b.loop(words["r0"], words["r1"], 1, Pace.SLOW):
        row = fold.along([pointer.get() for pointer in moving])
        with b.loop(tile.left, tile.right) as j:
            total = fold.pull(fold.values, j - tile.left)
            fold.push(fold.combine(total, row.value(j)), fold.values, j - tile.left)
        rows.step()
        filled.add(1)
        with b.when(filled.get().equals(ROWS)):
            tile.count_in(count)
            filled.set(0)
    b.emptied(count, fold.counter, BLOCK_BYTES, tile.merge)


def _sum_rows(tile: _Tile, rows: MultiIndex, moving: list[Local]) -> None:
    """Add all rows to the tile, keeping what the additions round off beside it."""
    fold, b, words = tile.fold, tile.fold.b, tile.fold.words
    zero = Value(b, words["z"].type, "zeroinitializer")
    tile.each(lambda j: fold.push(zero, fold.counter, j))
    with b.loop(words["r0"], words["r1"], 1, Pace.SLOW):
        row = fold.along([pointer.get() for pointer in moving])
        with b.loop(tile.left, tile.right) as j:
            at, part = j - tile.left, row.value(j)
            total, lost = fold.pull(fold.values, at), fold.pull(fold.counter, at)
            total, lost = fold.two_sum(total, lost, part)
            fold.push(total, fold.values, at)
            fold.push(lost, fold.counter, at)
        rows.step()


_SCRATCH = {Form.ALONG: Fold.block_sizes, Form.ACROSS: _across_sizes}
_FOLD = {Form.ALONG: _fold_along, Form.ACROSS: _fold_across}
