"""Folding values: what a reduction kernel depends on, and the code that folds a block of values.

How a block is folded is told in `emit.reduction`.  A fold whose result is the same in any order
(extremes, sums and products of integers), of memory as it is, takes no block: vectors of neighbours
are folded onto each other, loaded wherever they lie, since that costs no more.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from ..._records import record
from ...dtypes.names import DType
from ...ops.reductions import Reduction
from ...ops.user import UserOp
from . import lanes, routine
from .body import Apply, Body, Load, apply, through
from .builder import Builder, Emit, Local, Pace, Value
from .hard import Near, each
from .memory import fetch, keep
from .streams import RANGES, Inner, Operand, Words, words_of
from .tokens import token
from .walk import Walk

#: Size of a block of values, or of a tile of results: a third to a half of an L1 cache.  The short
#: loops at the end of a block's folding cost a fixed time, so a block should not be smaller.
BLOCK_BYTES = 16 << 10

#: Cost of a value up to which it is folded onto another row without being put into scratch before.
CHEAP = 8

#: Rows of a block: as many values are added one after another, all others in pairs.
FOLDED = 8


#: Rows of scratch that a user's function folds one after another.
SIDED = 128

#: Values up to which sums and products of floats are folded half by half, others `LANES` at a
#: time, instead of as blocks are.
SHORT = 8 * lanes.LANES


class Form(Enum):
    """Which dimension the innermost loop runs along; see the module docstring."""

    ALONG = "along"
    ACROSS = "across"


@record(frozen=True, slots=True)
class ReduceSpec:
    """Everything the code of a reduction kernel depends on.

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
    position : int
        Bits of the values, of neighbours in memory, whose first extreme's place is the result; 0
        where the result is a value.
    short : bool
        Whether a result is folded of at most `most` values, for which half the code will do.
    """

    form: Form
    kept: int
    reduced: int
    operands: tuple[Operand, ...]
    body: Body
    op: Reduction
    gathers: int
    joins: bool = False
    position: int = 0
    short: bool = False

    @property
    def most(self) -> int:
        """Values that all find room in scratch."""
        return block_of(self.body.dtype) - 1

    @property
    def compensated(self) -> bool:
        """Whether roundings are kept track of: sums of floats."""
        return self.op.name == "sum" and token(self.body.dtype).kind in "fc"

    @property
    def ends(self) -> bool:
        """Whether some values decide the result whatever follows: of `any` and `all`."""
        return self.op.ends and self.form is Form.ALONG

    def words(self) -> Words:
        """Return the layout of the argument block; ``z`` is the identity."""
        names, loops = (*RANGES, "r0", "r1", "z", "z+"), {"k": self.kept, "r": self.reduced}
        return words_of(names, loops, self.operands, self.body, self.gathers)

    @property
    def ordered(self) -> bool:
        """Whether elements are folded one after the other."""
        return self.op.ordered and self.form is Form.ALONG

    @property
    def sided(self) -> bool:
        """Whether a user's function folds rows of a few hundred bytes, side by side in scratch."""
        combine = self.op.combine
        return isinstance(combine, UserOp) and combine.is_brief and not self.op.ordered

    @property
    def laned(self) -> bool:
        """Whether up to `LANES` values in scratch can be folded at once."""
        names = token(self.body.dtype)
        return not names.settle and (self.op.vector, names.value) in lanes.LANED

    @property
    def as_numpy(self) -> bool:
        """Whether values in scratch are folded in NumPy's order: sums and products of floats."""
        return self.op.name in ("sum", "prod") and token(self.body.dtype).kind == "f"

    @property
    def plain(self) -> bool:
        """Whether neighbours in memory are folded as they are, in any order to the same result.

        So are extremes, and sums and products of integers, which wrap.
        """
        names, (body, *more) = token(self.body.dtype), self.body.instructions
        if more or not isinstance(body, Load) or body.gathers or not self.laned:
            return False
        any_order = names.kind in "iu" or self.op.vector in lanes.ORDER
        source = self.operands[1]
        return any_order and source.inner is Inner.UNIT and source.memory == names.value


def value_bytes(dtype: DType) -> int:
    """Bytes of one partial result in a register."""
    names = token(dtype)
    return 4 if names.settle and names.kind == "f" else names.itemsize


def block_of(dtype: DType) -> int:
    """Return how many values of ``dtype`` one block or tile holds."""
    return BLOCK_BYTES // value_bytes(dtype)


def _is_cheap(spec: ReduceSpec) -> bool:
    return sum(s.op.cost for s in spec.body.instructions if isinstance(s, Apply)) <= CHEAP


def block_size(spec: ReduceSpec) -> int:
    """Return how many values are folded into one, whatever they cost: a row takes half the scratch.

    So a sum has the same bits whether its values are computed on the way or lie in memory, if they
    lie there as the operands do.
    """
    if spec.sided:
        return lanes.ROW_BYTES // value_bytes(spec.body.dtype) * SIDED
    return block_of(spec.body.dtype) // 2 * FOLDED


@record(frozen=True, slots=True)
class Fold(Walk):
    """The code that folds values into ``total``.

    Attributes
    ----------
    spec : ReduceSpec
        How values are folded.
    values, counter : Value
        Addresses of scratch for a block of values, and for results of blocks.
    total, lost : Local
        What was folded so far, and what that has rounded off.
    count : Local
        Number of results in the counter.
    """

    spec: ReduceSpec
    values: Value
    counter: Value
    total: Local
    lost: Local
    count: Local

    @staticmethod
    def of(
        b: Builder, spec: ReduceSpec, words: Mapping[str, Value], sizes: tuple[int, int]
    ) -> Fold:
        """Emit the scratch, of so many bytes, and the variables of a fold."""
        zero, count = Value(b, words["z"].type, "zeroinitializer"), b.local(0)
        values, counter = b.scratch(sizes[0]), b.scratch(sizes[1])
        total, lost = b.local(words["z"]), b.local(zero)
        return Fold(b, spec, words, (), {}, values, counter, total, lost, count)

    @staticmethod
    def block_sizes(spec: ReduceSpec) -> tuple[int, int]:
        """Return the bytes of scratch of a fold by blocks."""
        size = value_bytes(spec.body.dtype)
        return BLOCK_BYTES + lanes.LANES * size, 64 * size

    # --- values -------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """Register type of the values."""
        return token(self.spec.body.dtype).value

    def pull(self, address: Value, index: Value | int) -> Value:
        """Emit the load of a value in scratch."""
        return fetch(self.b, self.kind, address, index, "tmp")

    def push(self, value: Value, address: Value, index: Value | int) -> None:
        """Emit the store of a value into scratch."""
        keep(self.b, self.kind, value, address, index, "tmp")

    def combine(self, left: Value, right: Value) -> Value:
        """Emit the fold of two values."""
        dtype = self.spec.body.dtype
        return apply(self.b, self.spec.op.combine, (dtype, dtype), dtype, [left, right])

    def lanes(self, address: Value, count: Value) -> Value:
        """Emit the fold of up to `LANES` values in scratch."""
        name = self.spec.op.vector
        return lanes.fold_lanes(self.b, name, self.kind, address, count, self.words["z"])

    def vectors(self, low: Value, end: Value) -> Value:
        """Emit the fold of neighbours into the total, many side by side; return where it ends.

        What is left at the end of many is folded with some of them once more, where that changes
        nothing.
        """
        b, name, size = self.b, self.spec.op.vector, value_bytes(self.spec.body.dtype)
        width, identity = lanes.ROW_BYTES // size, self.words["z"]
        many, scope = f"<{width} x {identity.type}>", self.spec.operands[1].scope
        whole = b.local(end - (end - low) % width)
        with b.when(whole.get() > low):
            sides = b.local(lanes.everywhere(b, identity, width))

            def fold(j: Value) -> None:
                values = b.load(many, self.pointers[1] + j * size, 0, scope)
                sides.set(lanes.fold_vectors(b, name, self.kind, sides.get(), values, width))

            with b.loop(low, whole.get(), width, Pace.SLOW) as j:
                fold(j)
            if name in lanes.ORDER:
                fold(end - width)
                whole.set(end)
            self.take(lanes.narrowed(b, name, self.kind, sides.get(), width))
        return whole.get()

    def each(self, low: Value | int, high: Value, first: Value | int = 0) -> None:
        """Emit what puts values into scratch, ``first`` at its beginning."""
        near = Near.FEW if self.spec.body.is_steep else Near.NONE
        each(
            self.b,
            near,
            None,
            (low, high),
            self.value,
            lambda j, value: self.push(value, self.values, j - first),
            Pace.SLOW if self.spec.short else Pace.FULL,
        )

    # --- blocks -------------------------------------------------------------------------------

    def fill(self, low: Value, width: Value) -> Value:
        """Emit what puts ``width`` values into scratch; return how many there are then.

        Rows of an eighth of a block are folded onto each other; what is left beyond the last whole
        one lies beside them.  Memory is read strictly in order, which the prefetcher needs.
        """
        b, place = self.b, self.values
        if self.spec.short:
            self.each(low, low + width, low)
            return width
        row = block_size(self.spec) // FOLDED
        end = low + width

        def fold(j: Value, value: Value) -> None:
            self.push(self.combine(self.pull(place, j), value), place, j)

        with b.loop(low, end, row, Pace.SLOW) as start:
            rest = (end - start).least(row)
            later = start > low
            onto, to = later & rest.equals(row), b.select(later, b.integer(row), 0)
            if _is_cheap(self.spec):  # passing through scratch would cost as much again
                with b.either(onto) as otherwise:
                    with b.loop(0, row) as j:
                        fold(j, self.value(start + j))
                    otherwise()
                    with b.loop(0, rest, 1, Pace.SLOW) as j:
                        self.push(self.value(start + j), place, to + j)
            else:  # computed at one place, which is less code
                self.each(start, start + rest, start - to)
                with b.when(onto), b.loop(0, row) as j:
                    fold(j, self.pull(place, j + row))
        return b.select(width > row, width % row + row, width)

    def sides(self, low: Value, width: Value) -> Value:
        """Emit the fold of ``width`` values by rows of scratch; return what they give.

        The first row begins with the identity, so what is left beyond whole rows is folded with
        some of its values.  Two rows take turns: where a function selects one of its arguments,
        LLVM would store the others alone, and such a store delays the next load.
        """
        b, one = self.b, self.values
        row, end = lanes.ROW_BYTES // value_bytes(self.spec.body.dtype), low + width
        two = one + lanes.ROW_BYTES

        def step(to: Value, place: Value, start: Value, count: Value | int) -> None:
            pace = Pace.FULL if isinstance(count, int) else Pace.SLOW
            with b.loop(0, count, 1, pace) as j:
                self.push(self.combine(self.pull(place, j), self.value(start + j)), to, j)

        with b.loop(0, row) as j:
            self.push(self.words["z"], one, j)
        whole = b.local(low + width // (2 * row) * (2 * row))
        with b.loop(low, whole.get(), 2 * row, Pace.SLOW) as start:
            step(two, one, start, row)
            step(one, two, start + row, row)
        with b.when((end - whole.get()) > row - 1):
            step(two, one, whole.get(), row)
            with b.loop(0, row) as j:
                self.push(self.pull(two, j), one, j)
            whole.add(row)
        step(one, one, whole.get(), end - whole.get())
        while row > 1:
            row //= 2
            with b.loop(0, row) as j:
                self.push(self.combine(self.pull(one, j), self.pull(one, j + row)), two, j)
            one, two = two, one
        return self.pull(one, 0)

    def halve(self, width: Value) -> Value:
        """Emit the fold of ``width`` values in scratch into one, and return that.

        Values an odd distance apart meet, so that neighbours of opposite sign cancel at once
        instead of being summed apart.
        """
        b, left = self.b, self.b.local(width)
        with b.repeat() as loop:
            wide = left.get()
            b.stop_unless(loop, wide > 1)
            half = (wide + 1) // 2
            half = b.select(wide > 16, half | 1, half)
            with b.loop(0, wide - half, 1, Pace.SLOW) as j:
                pair = self.combine(self.pull(self.values, j), self.pull(self.values, j + half))
                self.push(pair, self.values, j)
            left.set(half)
        return self.pull(self.values, 0)

    def block(self, width: Value) -> None:
        """Emit the fold of the block in scratch, and of what it gives into the total."""
        part = self.halve(width)
        if self.spec.compensated:
            self.add(part)
        elif self.spec.short:
            self.total.set(self.combine(part, self.total.get()))
        else:
            self.count_in(part)

    def groups(self, address: Value, width: Value) -> None:
        """Emit the fold of ``width`` values in scratch into the total, `LANES` at a time."""
        size = value_bytes(self.spec.body.dtype)
        with self.b.loop(0, width, lanes.LANES, Pace.SLOW) as j:
            self.take(self.lanes(address + j * size, width - j))

    def halves(self, address: Value, width: Value) -> None:
        """Emit the fold of few values in NumPy's order: sums of many are those of two halves.

        Sums of more than 248 values differ: what is left of them is added half by half.
        """
        b, name, size = self.b, self.spec.op.vector, value_bytes(self.spec.body.dtype)
        low = b.local(0)
        with b.repeat() as loop:
            b.stop_unless(loop, low.get() < width)
            rest = width - low.get()
            if name == "add":
                half = rest // 2
                rest = b.select(rest > lanes.PAIRWISE, half - half % lanes.SIDES, rest)
            place = address + low.get() * size
            self.take(lanes.fold_as_numpy(b, name, self.kind, place, rest))
            low.set(low.get() + rest)

    # --- results ------------------------------------------------------------------------------

    def start(self) -> None:
        """Emit the start of a fold."""
        self.total.set(self.words["z"])
        self.lost.set(Value(self.b, self.lost.type, "zeroinitializer"))
        self.count.set(0)

    def take(self, part: Value) -> None:
        """Emit the fold of one more value into the total."""
        if self.spec.compensated:
            self.add(part)
        else:
            self.total.set(self.combine(self.total.get(), part))

    def add(self, part: Value) -> None:
        """Emit the sum of the total and ``part``; what it rounds off is kept (Knuth's TwoSum)."""
        total, lost = self.two_sum(self.total.get(), self.lost.get(), part)
        self.total.set(total)
        self.lost.set(lost)

    def two_sum(self, total: Value, lost: Value, part: Value) -> tuple[Value, Value]:
        """Emit the new total and the new sum of what was lost."""
        whole = self.b.call(routine.plain_sum(self.kind), [total, part])
        rest = self.b.call(routine.collect_error(self.kind), [lost, total, part, whole])
        return whole, rest

    def compensate(self, total: Value, lost: Value) -> Value:
        """Emit the sum of the total and of what was lost."""
        return self.b.call(routine.compensate(self.kind), [total, lost])

    def count_in(self, part: Value) -> None:
        """Emit what puts a part into the counter, folded with results of the same weight."""
        held = self.b.local(part)
        empty = self.b.carried(self.count, self.b.integer(0), 1, self.merging(held))
        self.push(held.get(), self.counter, empty)
        self.count.add(1)

    def merging(self, total: Local) -> Emit:
        """Return what folds the entry of a level of the counter, and a total, into that."""
        return lambda level: total.set(self.combine(self.pull(self.counter, level), total.get()))

    def result(self) -> Value:
        """Emit what the fold has given in the end."""
        if self.spec.compensated:
            return self.compensate(self.total.get(), self.lost.get())
        if not self.spec.short:
            self.b.emptied(self.count, self.b.integer(0), 1, self.merging(self.total))
        return self.total.get()

    def store(self, value: Value, address: Value, index: Value | int = 0) -> None:
        """Emit the store of a result."""
        to = self.spec.operands[0]
        keep(
            self.b,
            to.memory,
            through(self.b, routine.encode(to.dtype), value),
            address,
            index,
            "dst",
        )
