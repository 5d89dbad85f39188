"""Kernels that fold.

Sums are pairwise in fixed blocks.  What decides a kernel's form is whether the innermost loop
runs along a reduced dimension or a kept one:

`ALONG`
    The inner loop is reduced.  Blocks of `BLOCK` values are computed into scratch and folded by
    halving, which vectorises without reordering by the compiler; the blocks' results are folded
    by a binary counter, so partial results of equal weight meet.
`ACROSS`
    The inner loop is kept.  A tile of up to `BLOCK` results is accumulated row by row; every
    `ROWS` rows the tile enters the same kind of binary counter, now of whole tiles.

Both are the same sum whichever thread runs them; error grows with the logarithm of the count.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ...ops.reductions import Reduction
from .body import Body, emit_body, instruction, invariant
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

#: Values per block, results per tile: 8 KiB of float64.
BLOCK = 1024

#: Rows that are added one after another before the tile enters the counter.
ROWS = 128

#: Levels of a counter of tiles: ROWS * 2**LEVELS rows, more than any array has.
LEVELS = 24


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
    """

    form: Form
    kept: int
    reduced: int
    operands: tuple[Operand, ...]
    body: Body
    op: Reduction
    gathers: int

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


def _width(spec: ReduceSpec) -> int:
    """Bytes of one partial result in a register."""
    names = token(spec.body.dtype)
    return 4 if names.settle and names.kind == "f" else names.itemsize


def _rows(source: Source, spec: ReduceSpec) -> Odometer:
    """Append the start of the reduced loops, on pointers of their own."""
    walkers = range(1, len(spec.operands))
    for w in walkers:
        source.line(f"q{w} = p{w}")
    loops = Odometer("r", spec.reduced, "q", walkers)
    loops.start(source, "r0")
    return loops


def _still(source: Source, spec: ReduceSpec) -> set[int]:
    still = [operand.inner is Inner.STILL for operand in spec.operands[1:]]
    fixed = invariant(spec.body, still)
    addresses = readers(spec.operands, "q", "0")
    for number in sorted(fixed):
        source.line(f"v{number} = {instruction(spec.body.instructions[number], addresses)}")
    return fixed


def _along_scratch(source: Source, spec: ReduceSpec) -> None:
    source.line(f"w0 = scratch({BLOCK * _width(spec)})")
    source.line(f"w1 = scratch({64 * _width(spec)})")


def _fold_along(source: Source, spec: ReduceSpec) -> None:
    value = token(spec.body.dtype).value
    rows = _rows(source, spec)
    source.line("count = 0")
    with source.block("for r in range(r0, r1):"):
        fixed = _still(source, spec)
        with source.block(f"for low in range(j0, j1, {BLOCK}):"):
            source.line(f"width = min(j1 - low, {BLOCK})")
            with source.block("for j in range(low, low + width):"):
                emit_body(source, spec.body, readers(spec.operands, "q", "j"), fixed)
                source.line(f"push_{value}(w0, j - low, v{len(spec.body.instructions) - 1})")
            with source.block("while width > 1:"):
                source.line("half = (width + 1) // 2")
                with source.block("for j in range(width - half):"):
                    pair = spec.combine(f"pull_{value}(w0, j)", f"pull_{value}(w0, j + half)")
                    source.line(f"push_{value}(w0, j, {pair})")
                source.line("width = half")
            source.lines(f"total = pull_{value}(w0, 0)", "carry = count", "level = 0")
            with source.block("while carry & 1:"):
                source.line(f"total = {spec.combine(f'pull_{value}(w1, level)', 'total')}")
                source.lines("carry >>= 1", "level += 1")
            source.lines(f"push_{value}(w1, level, total)", "count += 1")
        rows.step(source)
    source.lines("total = z", "level = 0")
    with source.block("while count > 0:"):
        with source.block("if count & 1:"):
            source.line(f"total = {spec.combine(f'pull_{value}(w1, level)', 'total')}")
        source.lines("count >>= 1", "level += 1")
    names = token(spec.operands[0].dtype)
    source.line(f"store_{names.memory}(p0, 0, {call(names.encode, 'total')})")


def _across_scratch(source: Source, spec: ReduceSpec) -> None:
    source.line(f"w0 = scratch({BLOCK * _width(spec)})")
    source.line(f"w1 = scratch({LEVELS * BLOCK * _width(spec)})")


def _fold_across(source: Source, spec: ReduceSpec) -> None:
    value = token(spec.body.dtype).value
    size = BLOCK * _width(spec)
    with source.block(f"for left in range(j0, j1, {BLOCK}):"):
        source.line(f"right = min(left + {BLOCK}, j1)")
        rows = _rows(source, spec)
        source.lines("count = 0", "filled = 0")
        _tile(source, f"push_{value}(w0, j, z)")
        with source.block("for r in range(r0, r1):"):
            fixed = _still(source, spec)
            with source.block("for j in range(left, right):"):
                emit_body(source, spec.body, readers(spec.operands, "q", "j"), fixed)
                last = f"v{len(spec.body.instructions) - 1}"
                total = spec.combine(f"pull_{value}(w0, j - left)", last)
                source.line(f"push_{value}(w0, j - left, {total})")
            rows.step(source)
            source.line("filled += 1")
            with source.block(f"if filled == {ROWS}:"):
                source.lines("carry = count", "level = w1")
                pair = spec.combine(f"pull_{value}(level, j)", f"pull_{value}(w0, j)")
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
        names = token(spec.operands[0].dtype)
        at, offset = place(spec.operands[0], 0, "j")
        with source.block("for j in range(left, right):"):
            done = call(names.encode, f"pull_{value}(w0, j - left)")
            source.line(f"store_{names.memory}(p0{at}, {offset}, {done})")


def _tile(source: Source, line: str) -> None:
    with source.block("for j in range(right - left):"):
        source.line(line)


_SCRATCH = {Form.ALONG: _along_scratch, Form.ACROSS: _across_scratch}
_FOLD = {Form.ALONG: _fold_along, Form.ACROSS: _fold_across}
