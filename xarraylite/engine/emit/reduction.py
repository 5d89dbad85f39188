"""Kernels that fold.

Sums are pairwise in fixed blocks.  What decides a kernel's form is whether the innermost loop
runs along a reduced dimension or a kept one:

`ALONG`
    The inner loop is reduced.  Blocks of values are computed into scratch, cheap ones in a few rows
    folded onto each other, and folded by halving, which vectorises without reordering by the
    compiler.  The blocks' results are summed with what each addition rounds off kept apart and
    added at the end (Knuth's TwoSum, as in Neumaier's summation); other folds go through a binary
    counter, so that results of equal weight meet.  A short block is folded `LANES` values at a
    time, for halving would be many short loops.
`ACROSS`
    The inner loop is kept.  A tile of up to `BLOCK_BYTES` of results is accumulated row by row;
    every `ROWS` rows the tile enters the same kind of binary counter, now of whole tiles.

Partial results of a reduction cut into parts are joined by one more kernel, compensated in either
form.  Sums are the same whichever thread runs them, and at least as accurate as NumPy's.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...ops.reductions import Reduction
from .body import Apply, Body, emit_body, instruction, invariant
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
    place,
    readers,
)

#: Size of a block of values, or of a tile of results: a third to a half of an L1 cache.  The short
#: loops at the end of a block's folding cost a fixed time, so a block should not be smaller.
BLOCK_BYTES = 16 << 10

#: Rows that are added one after another before the tile enters the counter.
ROWS = 128

#: Levels of a counter of tiles: ROWS * 2**LEVELS rows, more than one part of a reduction has.
LEVELS = 20

#: Cost of a value up to which rows of values are folded before they are put into scratch.
CHEAP = 8

#: Rows of a block: as many values are added one after another, all others in pairs.
FOLDED = 8


#: Values that are folded at once, those beyond the last one replaced by the identity.
LANES = 32

#: Values up to which they are folded `LANES` at a time, instead of by halving.
SHORT = 8 * LANES

#: Folds that `intrinsics` has for many lanes, by name of the operation and of the register type.
LANED = {
    (op, value)
    for op in ("add", "multiply", "maximum", "minimum")
    for value in ("f32", "f64", "i32", "i64", "u32", "u64")
}


class Form(Enum):
    """Which dimension the innermost loop runs along; see the module docstring."""

    ALONG = "along"
    ACROSS = "across"


@dataclass(frozen=True, slots=True)
class ReduceSpec:
    """Everything the source of a reduction kernel depends on.

    Attributes
    ----------
    form : Form
        What the innermost loop runs along.
    kept, reduced : int
        Number of loops around the innermost one over kept and over reduced dimensions.
    operands : tuple of Operand
        Destination first, then the body's operands.
    body : Body
        What is folded.
    op : Reduction
        How it is folded.
    gathers : int
        Number of gather strides.
    joins : bool
        Whether the values are partial results: few, and each the sum of many.
    """

    form: Form
    kept: int
    reduced: int
    operands: tuple[Operand, ...]
    body: Body
    op: Reduction
    gathers: int
    joins: bool = False

    @property
    def compensated(self) -> bool:
        """Whether roundings are kept track of: sums of floats."""
        return self.op.name == "sum" and token(self.body.dtype).kind in "fc"

    def words(self) -> Words:
        """Return the layout of the argument block; ``z`` is the identity."""
        words = Words()
        words.add(*RANGES, "r0", "r1")
        words.add(*[f"n_k{d}" for d in range(self.kept)])
        words.add(*[f"n_r{d}" for d in range(self.reduced)])
        add_walkers(words, self.operands, {"k": self.kept, "r": self.reduced})
        add_values(words, self.body, self.gathers)
        words.add("z", "z+")
        return words

    def combine(self, left: str, right: str) -> str:
        """Return the source that folds two values."""
        dtype = self.body.dtype
        names = token(dtype)
        template = self.op.combine.body((dtype, dtype))
        assert template is not None, f"{self.op.name} has no body for {dtype}"
        text = template.format(left, right, t=names.value)
        return call(names.settle, f"{names.value}({text})")


def emit_reduce(spec: ReduceSpec) -> str:
    """Return the source of the kernel."""
    source = Source()
    dtypes: dict[str, DType] = {**constants(spec.body), "z": spec.body.dtype}
    kept = Odometer("k", spec.kept, "p", range(len(spec.operands)))
    with source.block("def kernel(block):"):
        load_words(source, spec.words(), dtypes)
        kept.start(source, "t0")
        _SCRATCH[spec.form](source, spec)
        with source.block("for t in range(t0, t1):"):
            _FOLD[spec.form](source, spec)
            kept.step(source)
    return source.text()


def value_bytes(dtype: DType) -> int:
    """Bytes of one partial result in a register."""
    names = token(dtype)
    return 4 if names.settle and names.kind == "f" else names.itemsize


def block_of(dtype: DType) -> int:
    """Return how many values of ``dtype`` one block or tile holds."""
    return BLOCK_BYTES // value_bytes(dtype)


def _rows(source: Source, spec: ReduceSpec) -> Odometer:
    """Append the start of the reduced loops, on pointers of their own."""
    walkers = range(1, len(spec.operands))
    for w in walkers:
        source.line(f"q{w} = p{w}")
    loops = Odometer("r", spec.reduced, "q", walkers)
    loops.start(source, "r0")
    return loops


def emit_still(source: Source, spec: ReduceSpec) -> set[int]:
    """Append the values that do not change along the innermost loop; return their numbers."""
    still = [operand.inner is Inner.STILL for operand in spec.operands[1:]]
    fixed = invariant(spec.body, still)
    addresses = readers(spec.operands, "q", "0")
    for number in sorted(fixed):
        source.line(f"v{number} = {instruction(spec.body.instructions[number], addresses)}")
    return fixed


def along_scratch(source: Source, spec: ReduceSpec) -> None:
    source.line(f"w0 = scratch({BLOCK_BYTES + LANES * value_bytes(spec.body.dtype)})")
    source.line(f"w1 = scratch({64 * value_bytes(spec.body.dtype)})")


def _fold_along(source: Source, spec: ReduceSpec) -> None:
    value = token(spec.body.dtype).value
    block = 1 if spec.joins and spec.compensated else block_size(spec)
    rows = _rows(source, spec)
    source.lines("total = z", f"lost = {value}(0)", "count = 0")
    with source.block("for r in range(r0, r1):"):
        fixed = emit_still(source, spec)
        with source.block(f"for low in range(j0, j1, {block}):"):
            source.line(f"width = min(j1 - low, {block})")
            fill(source, spec, fixed)
            if is_laned(spec):
                with source.block(f"if width <= {SHORT}:"):
                    fold_groups(source, spec)
                with source.block("else:"):
                    fold_block(source, spec)
            else:
                fold_block(source, spec)
        rows.step(source)
    if spec.compensated:
        source.line(f"total = {value}(compensate(total, lost))")
    else:
        collect_parts(source, spec)
    names = token(spec.operands[0].dtype)
    source.line(f"store_{spec.operands[0].memory}(p0, 0, {call(names.encode, 'total')})")


def is_laned(spec: ReduceSpec) -> bool:
    """Tell whether up to `LANES` values in scratch can be folded at once."""
    names = token(spec.body.dtype)
    return not names.settle and (spec.op.combine.name, names.value) in LANED


def lanes(spec: ReduceSpec) -> str:
    """Return the name of the function that folds up to `LANES` values."""
    return f"lanes_{spec.op.combine.name}_{token(spec.body.dtype).value}"


def fold_groups(source: Source, spec: ReduceSpec) -> None:
    """Fold ``width`` values in scratch into the total, `LANES` at a time."""
    size = value_bytes(spec.body.dtype)
    with source.block(f"for j in range(0, width, {LANES}):"):
        take(source, spec, f"{lanes(spec)}(w0 + j * {size}, width - j, z)")


def take(source: Source, spec: ReduceSpec, text: str) -> None:
    """Fold one more value into the total."""
    if spec.compensated:
        source.line(f"part = {text}")
        add_part(source, token(spec.body.dtype).value)
    else:
        source.line(f"total = {spec.combine('total', text)}")


def fold_block(source: Source, spec: ReduceSpec) -> None:
    """Fold the block in scratch, and what it gives into what other blocks gave."""
    value = token(spec.body.dtype).value
    halve(source, spec)
    source.line(f"part = pull_{value}(w0, 0)")
    if spec.compensated:
        add_part(source, value)
    else:
        count_part(source, spec)


def _is_cheap(spec: ReduceSpec) -> bool:
    return sum(s.op.cost for s in spec.body.instructions if isinstance(s, Apply)) <= CHEAP


def block_size(spec: ReduceSpec) -> int:
    """Return how many values are folded into one: a row of cheap ones takes half the scratch."""
    size = block_of(spec.body.dtype)
    return size // 2 * FOLDED if _is_cheap(spec) else size


def fill(source: Source, spec: ReduceSpec, fixed: set[int]) -> None:
    """Put the values of a block into scratch, ``width`` of them; where they are cheap, folded.

    Passing through scratch costs as much as a cheap value, so rows of those, an eighth of a block,
    are folded onto each other.  Memory is read strictly in order, which the prefetcher needs.
    """
    row = block_size(spec) // FOLDED
    value = token(spec.body.dtype).value
    last = f"v{len(spec.body.instructions) - 1}"

    def put(index: str, to: str, text: str) -> None:
        emit_body(source, spec.body, readers(spec.operands, "q", index), fixed)
        source.line(f"push_{value}(w0, {to}, {text})")

    if not _is_cheap(spec):
        with source.block("for j in range(low, low + width):"):
            put("j", "j - low", last)
        return
    source.line(f"kept = min(width, {row})")
    with source.block("for j in range(kept):"):
        put("(low + j)", "j", last)
    source.line(f"done = width // {row} * {row}")
    with source.block(f"for row in range(low + kept, low + done, {row}):"):
        with source.block(f"for j in range({row}):"):
            put("(row + j)", "j", spec.combine(f"pull_{value}(w0, j)", last))
    source.line("done = max(done, kept)")
    with source.block("for j in range(done, width):"):
        put("(low + j)", "j - done + kept", last)
    source.line("width += kept - done")


def halve(source: Source, spec: ReduceSpec) -> None:
    """Fold ``width`` values in scratch into the first one.

    Values an odd distance apart meet, so that neighbours of opposite sign cancel at once instead
    of being summed apart.
    """
    value = token(spec.body.dtype).value
    with source.block("while width > 1:"):
        source.line("half = (width + 1) // 2")
        with source.block("if width > 16:"):
            source.line("half |= 1")
        with source.block("for j in range(width - half):"):
            pair = spec.combine(f"pull_{value}(w0, j)", f"pull_{value}(w0, j + half)")
            source.line(f"push_{value}(w0, j, {pair})")
        source.line("width = half")


def add_part(source: Source, value: str) -> None:
    """Add ``part`` to the total and what the addition rounds off to ``lost`` (Knuth's TwoSum)."""
    source.line(f"whole = {value}(total + part)")
    source.line(f"lost = {value}(lost + sum_error(total, part, whole))")
    source.line("total = whole")


def count_part(source: Source, spec: ReduceSpec) -> None:
    """Put ``part`` into the binary counter, folding it with results of the same weight."""
    value = token(spec.body.dtype).value
    source.lines("carry = count", "level = 0")
    with source.block("while carry & 1:"):
        source.line(f"part = {spec.combine(f'pull_{value}(w1, level)', 'part')}")
        source.lines("carry >>= 1", "level += 1")
    source.lines(f"push_{value}(w1, level, part)", "count += 1")


def collect_parts(source: Source, spec: ReduceSpec) -> None:
    """Fold what is in the counter into the total."""
    value = token(spec.body.dtype).value
    source.line("level = 0")
    with source.block("while count > 0:"):
        with source.block("if count & 1:"):
            source.line(f"total = {spec.combine(f'pull_{value}(w1, level)', 'total')}")
        source.lines("count >>= 1", "level += 1")


def _across_scratch(source: Source, spec: ReduceSpec) -> None:
    levels = 1 if spec.joins else LEVELS
    source.line(f"w0 = scratch({BLOCK_BYTES})")
    source.line(f"w1 = scratch({levels * BLOCK_BYTES})")


def _fold_across(source: Source, spec: ReduceSpec) -> None:
    value = token(spec.body.dtype).value
    block = block_of(spec.body.dtype)
    with source.block(f"for left in range(j0, j1, {block}):"):
        source.line(f"right = min(left + {block}, j1)")
        rows = _rows(source, spec)
        _tile(source, f"push_{value}(w0, j, z)")
        done = f"pull_{value}(w0, j - left)"
        if spec.joins and spec.compensated:
            done = f"{value}(compensate({done}, pull_{value}(w1, j - left)))"
            _sum_rows(source, spec, rows)
        else:
            _fold_rows(source, spec, rows)
        names = token(spec.operands[0].dtype)
        at, offset = place(spec.operands[0], 0, "j")
        with source.block("for j in range(left, right):"):
            source.line(
                f"store_{spec.operands[0].memory}(p0{at}, {offset}, {call(names.encode, done)})"
            )


def _fold_rows(source: Source, spec: ReduceSpec, rows: Odometer) -> None:
    """Fold all rows into the tile, by way of a binary counter of tiles."""
    value = token(spec.body.dtype).value
    size = BLOCK_BYTES
    pair = spec.combine(f"pull_{value}(level, j)", f"pull_{value}(w0, j)")
    source.lines("count = 0", "filled = 0")
    with source.block("for r in range(r0, r1):"):
        fixed = emit_still(source, spec)
        with source.block("for j in range(left, right):"):
            emit_body(source, spec.body, readers(spec.operands, "q", "j"), fixed)
            last = f"v{len(spec.body.instructions) - 1}"
            total = spec.combine(f"pull_{value}(w0, j - left)", last)
            source.line(f"push_{value}(w0, j - left, {total})")
        rows.step(source)
        source.line("filled += 1")
        with source.block(f"if filled == {ROWS}:"):
            source.lines("carry = count", "level = w1")
            with source.block("while carry & 1:"):
                _tile(source, f"push_{value}(w0, j, {pair})")
                source.lines("carry >>= 1", f"level += {size}")
            _tile(source, f"push_{value}(level, j, pull_{value}(w0, j))")
            _tile(source, f"push_{value}(w0, j, z)")
            source.lines("count += 1", "filled = 0")
    source.line("level = w1")
    with source.block("while count > 0:"):
        with source.block("if count & 1:"):
            _tile(source, f"push_{value}(w0, j, {pair})")
        source.lines("count >>= 1", f"level += {size}")


def _sum_rows(source: Source, spec: ReduceSpec, rows: Odometer) -> None:
    """Add all rows to the tile, keeping what the additions round off beside it."""
    value = token(spec.body.dtype).value
    _tile(source, f"push_{value}(w1, j, {value}(0))")
    with source.block("for r in range(r0, r1):"):
        fixed = emit_still(source, spec)
        with source.block("for j in range(left, right):"):
            emit_body(source, spec.body, readers(spec.operands, "q", "j"), fixed)
            source.line(f"part = v{len(spec.body.instructions) - 1}")
            source.line(f"total = pull_{value}(w0, j - left)")
            source.line(f"lost = pull_{value}(w1, j - left)")
            add_part(source, value)
            source.line(f"push_{value}(w0, j - left, total)")
            source.line(f"push_{value}(w1, j - left, lost)")
        rows.step(source)


def _tile(source: Source, line: str) -> None:
    with source.block("for j in range(right - left):"):
        source.line(line)


_SCRATCH = {Form.ALONG: along_scratch, Form.ACROSS: _across_scratch}
_FOLD = {Form.ALONG: _fold_along, Form.ACROSS: _fold_across}
