"""Kernels that fold rows of different lengths, which lie one after the other.

Row ``r`` is what lies between two offsets.  It owns the *places* ``offsets[r] + r`` to
``offsets[r + 1] + r``: one for each of its elements and one for itself.  These numbers rise from
row to row, so any range of places is a range of rows, found by bisection, and pieces of work that
have the same number of places take about the same time, however the lengths are distributed.
Each row is folded by one piece, so results do not depend on how work is divided.

Long rows are folded as `Form.ALONG` folds them.  In short ones, which may be a few elements each,
setting up blocks would cost more than folding them.  Cheap values are computed for `LANES`
positions at once, those beyond the end of the row replaced by the identity, and folded by
halving; so most short rows take no decision that depends on their length, which the CPU could not
foresee.  Dear values are computed one by one.  Either way sums keep what the addition to the
row's total rounds off, which makes them at least as accurate as NumPy's: those of up to eight
elements are added one by one there.
"""

from __future__ import annotations

from dataclasses import dataclass

from .body import Apply, emit_body
from .reduction import (
    CHEAP,
    ReduceSpec,
    add_part,
    along_scratch,
    block_of,
    collect_parts,
    count_part,
    emit_still,
    fill,
    halve,
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

#: Rows of fewer elements are short.
SHORT = 48

#: Values of a short row that are computed at once.
LANES = 8


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
        words.add(*RANGES, "o", "rows", "elements", "columns")
        words.add(*[f"n_k{d}" for d in range(fold.kept)])
        add_walkers(words, fold.operands, {"k": fold.kept})
        add_values(words, fold.body, fold.gathers)
        words.add("z", "z+")
        return words


def emit_segments(spec: SegmentSpec) -> str:
    """Return the source of the kernel."""
    fold, source = spec.fold, Source()
    dtypes: dict[str, DType] = {**constants(fold.body), "z": fold.body.dtype}
    with source.block("def kernel(block):"):
        load_words(source, spec.words(), dtypes)
        along_scratch(source, fold)
        _seek(source)
        source.line("start = load_i64(o, first)")
        with source.block("while first < rows and start + first < t1:"):
            source.line("extent = load_i64(o, first + 1) - start")
            _point(source, fold)
            _columns(source, fold)
            source.lines("start += extent", "first += 1")
    return source.text()


def _seek(source: Source) -> None:
    """Set ``first`` to the first row whose places begin at ``t0`` or later."""
    source.lines("first = 0", "beyond = rows")
    with source.block("while first < beyond:"):
        source.line("middle = (first + beyond) // 2")
        with source.block("if load_i64(o, middle) + middle < t0:"):
            source.line("first = middle + 1")
        with source.block("else:"):
            source.line("beyond = middle")


def _point(source: Source, fold: ReduceSpec) -> None:
    """Set pointers to the row's result and to its first element."""
    for w, operand in enumerate(fold.operands):
        step = _step(operand, w)
        moved = f" + {'start' if w else 'first'} * {step}" if step else ""
        source.line(f"q{w} = p{w}{moved}")


def _step(operand: Operand, w: int) -> str:
    """Return by how much a walker moves from one position to the next."""
    if operand.inner is Inner.STILL:
        return ""
    return str(token(operand.dtype).itemsize) if operand.inner is Inner.UNIT else f"e{w}"


def _columns(source: Source, fold: ReduceSpec) -> None:
    if fold.kept == 0:
        _row(source, fold)
        return
    columns = Odometer("k", fold.kept, "q", range(len(fold.operands)))
    columns.start(source, "0")
    with source.block("for column in range(columns):"):
        _row(source, fold)
        columns.step(source)


def _row(source: Source, fold: ReduceSpec) -> None:
    """Fold one row of one column into its result."""
    value = token(fold.body.dtype).value
    fixed = emit_still(source, fold)
    source.line("total = z")
    if fold.compensated:
        source.line(f"lost = {value}(0)")
    with source.block(f"if extent < {SHORT}:"):
        _short(source, fold, fixed)
    with source.block("else:"):
        _long(source, fold, fixed)
    if fold.compensated:
        source.line(f"total = {value}(compensate(total, lost))")
    names = token(fold.operands[0].dtype)
    source.line(f"store_{fold.operands[0].memory}(q0, 0, {call(names.encode, 'total')})")


def _short(source: Source, fold: ReduceSpec, fixed: set[int]) -> None:
    """Fold a row of few elements: by lanes, or one by one where lanes would reach too far."""
    if sum(s.op.cost for s in fold.body.instructions if isinstance(s, Apply)) > CHEAP:
        _one_by_one(source, fold, fixed)
        return
    with source.block(f"if start + extent + {LANES} > elements:"):
        _one_by_one(source, fold, fixed)
    with source.block("else:"):
        with source.block(f"for j in range(0, extent, {LANES}):"):
            source.line("left = extent - j")
            names = [_value(source, fold, fixed, f"(j + {k})", f"x{k}") for k in range(LANES)]
            for k in range(1, LANES):
                source.line(f"x{k} = x{k} if {k} < left else z")
            while len(names) > 1:
                half = len(names) // 2
                pairs = zip(names[:half], names[half:], strict=True)
                names = [fold.combine(left, right) for left, right in pairs]
            _take(source, fold, names[0])


def _one_by_one(source: Source, fold: ReduceSpec, fixed: set[int]) -> None:
    with source.block("for j in range(extent):"):
        _take(source, fold, _value(source, fold, fixed, "j", "x0"))


def _value(source: Source, fold: ReduceSpec, fixed: set[int], index: str, name: str) -> str:
    """Append the computation of one element; return the name of its value."""
    emit_body(source, fold.body, readers(fold.operands, "q", index), fixed)
    source.line(f"{name} = v{len(fold.body.instructions) - 1}")
    return name


def _take(source: Source, fold: ReduceSpec, text: str) -> None:
    if fold.compensated:
        source.line(f"part = {text}")
        add_part(source, token(fold.body.dtype).value)
    else:
        source.line(f"total = {fold.combine('total', text)}")


def _long(source: Source, fold: ReduceSpec, fixed: set[int]) -> None:
    """Fold block by block, as `Form.ALONG` does."""
    block = block_of(fold.body.dtype)
    source.line("count = 0")
    with source.block(f"for low in range(0, extent, {block}):"):
        source.line(f"width = min(extent - low, {block})")
        fill(source, fold, fixed)
        halve(source, fold)
        source.line(f"part = pull_{token(fold.body.dtype).value}(w0, 0)")
        if fold.compensated:
            add_part(source, token(fold.body.dtype).value)
        else:
            count_part(source, fold)
    if not fold.compensated:
        collect_parts(source, fold)
