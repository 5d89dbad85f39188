"""Kernels that fill a destination element by element.

=============  ================================================================================
`DIRECT`       each element is stored as it is computed
`STAGED`       a block is computed into stack scratch, then stored: operands that share memory with
               the destination are read a whole block before that block is written
`FALLING`      the same with the blocks of a row from the top down
`NONTEMPORAL`  staged, and stored past the caches: for large contiguous destinations, whose lines
               would otherwise be read before they are overwritten
`TILED`        direct or past the caches, in tiles over the two innermost dimensions: where operands
               disagree which dimension is contiguous, those that disagree with the destination are
               transposed into scratch first (see `tiles`)
`INTERLEAVED`  direct, a few elements of the second innermost dimension (the lanes) at once: where
               those lie side by side in some operand, as pairs of rows do under
               ``T(8,128)(2,1)``, whole vectors are loaded or stored and taken apart in registers
=============  ================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from ..._records import record
from . import routine
from .body import Body, Load, through
from .builder import Builder, Local, Module, Pace, Value
from .hard import Near, each
from .memory import fetch, keep, stream_line
from .streams import (
    RANGES,
    Access,
    Inner,
    MultiIndex,
    Operand,
    Words,
    load_words,
    words_of,
)
from .tiles import LINES, WIDE, Copy, scratch_of
from .tokens import token
from .transpose import Block
from .walk import Walk

#: Elements per block of the staged modes: with 8-byte elements 8 KiB, a quarter of an L1 cache.
BLOCK = 1024

#: Bytes that `Mode.NONTEMPORAL` stores at once: eight lines.  The loop over them has a fixed
#: length, so that it is unrolled, and every operand's stream of reads pauses only shortly.
_AT_ONCE = 512


class Mode(Enum):
    """How a map kernel stores; see the module docstring."""

    DIRECT = "direct"
    STAGED = "staged"
    FALLING = "falling"
    NONTEMPORAL = "non-temporal"
    TILED = "tiled"
    INTERLEAVED = "interleaved"


#: Bytes of a row beyond which the C library copies it: it stores lines without reading them first.
COPIED_UNTIL = 4096

#: Cost of an element up to which memory is waited for, not arithmetic.
LIGHT = 5

#: Cost of an element from which LLVM, for want of registers, would compute one vector at a time,
#: each step of which waits for the one before.
LONG = 64

_STAGES = frozenset((Mode.STAGED, Mode.FALLING, Mode.NONTEMPORAL))
_ASKED = frozenset((Access.APART, Access.SHARED))
_SECOND = frozenset((Mode.TILED, Mode.INTERLEAVED))


@record(frozen=True, slots=True)
class MapSpec:
    """Everything the code of a map kernel depends on.

    Attributes
    ----------
    mode : Mode
        How elements are stored.
    outer : int
        Number of loops around the innermost one.
    operands : tuple of Operand
        Destination first, then the body's operands.
    body : Body
        What is computed.
    gathers : int
        Number of gather strides.
    lanes : int
        Elements computed at once (`Mode.INTERLEAVED`).
    past : bool
        Whether whole lines are stored past the caches (`Mode.TILED`).
    lines : int
        Lines of each crossed operand that a strip is high (`Mode.TILED`).
    near : Near
        Whether what takes less time for most arguments is tried first.
    """

    mode: Mode
    outer: int
    operands: tuple[Operand, ...]
    body: Body
    gathers: int
    lanes: int = 1
    past: bool = False
    lines: int = 1
    near: Near = Near.NONE

    @property
    def pace(self) -> Pace:
        """How elements are stored: those that lie apart one by one.

        Where memory is waited for, several vectors at a time take no less time than one.
        """
        if self.operands[0].inner is Inner.ANY:
            return Pace.SINGLE
        return Pace.ROLLED if self.light else Pace.FULL

    @property
    def light(self) -> bool:
        """Whether memory is waited for.

        What loads more than it stores, as comparisons do, is better off with few long loads.
        """
        to, *read = [token(o.dtype).itemsize for o in self.operands]
        return self.mode is Mode.DIRECT and self.body.cost <= LIGHT and to >= max(read, default=0)

    @property
    def staged(self) -> bool:
        """Whether elements go by way of scratch: what vectors are worth for lies apart."""
        apart = self.mode is Mode.DIRECT and self.pace is Pace.SINGLE and self.body.cost >= LIGHT
        return apart or self.mode in _STAGES or (self.mode is Mode.DIRECT and self.again)

    @property
    def again(self) -> bool:
        """Whether elements may be computed twice, and an operand shares the first ones' memory."""
        read = [o.access for o in self.operands[1:]]
        return self.near is not Near.NONE and not {Access.APART, Access.POSITION}.issuperset(read)

    @property
    def copies(self) -> bool:
        """Whether an operand's bytes are the destination's, which lie in a row as they do."""
        to, *read = self.operands
        step = self.body.instructions[0]
        if self.mode is not Mode.DIRECT or len(read) != 1 or self.body.dtype != read[0].dtype:
            return False
        alone = len(self.body.instructions) == 1 and isinstance(step, Load) and not step.gathers
        codes = routine.decode(to.dtype), routine.encode(to.dtype)
        plain = codes == (None, None) and token(to.dtype).kind != "b" and to.dtype == read[0].dtype
        rows = {(o.inner, o.packing) for o in self.operands} == {(Inner.UNIT, 1)}
        return alone and plain and rows and read[0].access is Access.APART

    @property
    def strip(self) -> int:
        """Rows of a tile that are worked on at once: a line of the largest elements, or a block."""
        crossed = [o for o in self.operands if o.inner is Inner.CROSSED] or self.operands[:1]
        sizes = [token(o.dtype).itemsize for o in crossed]
        return self.lines * max([64 // max(sizes), *[Block.of(size).side for size in sizes]])

    @property
    def tall(self) -> int:
        """Rows of a tile."""
        return LINES // self.lines * self.strip

    def words(self) -> Words:
        """Return the layout of the argument block."""
        rows = ["rows"] * (self.mode is Mode.TILED)
        second = [f"h{w}" for w in range(len(self.operands))] if self.mode in _SECOND else []
        names = (*RANGES, *rows, *second)
        return words_of(names, {"t": self.outer}, self.operands, self.body, self.gathers)


@record(frozen=True, slots=True)
class _Row(Walk):
    """One pass of the inner loop, about to be emitted."""

    spec: MapSpec
    loops: MultiIndex
    scratch: Value
    patience: Local | None = None

    @property
    def bounds(self) -> tuple[Value, Value]:
        """Where the inner loop starts and ends."""
        return self.words["j0"], self.words["j1"]

    @property
    def size(self) -> int:
        """Bytes of an element of the destination."""
        return token(self.spec.operands[0].dtype).itemsize

    def hoisted(self) -> _Row:
        """Emit what does not change along the inner loop."""
        return self.along(self.pointers)

    def stored(self, index: Value, interleaved: Value | None = None) -> Value:
        """Emit the computation of one element, as memory holds it."""
        encode = routine.encode(self.spec.operands[0].dtype)
        return through(self.b, encode, self.value(index, interleaved))

    def store(self, index: Value, value: Value) -> None:
        """Emit the store of one element."""
        keep(self.b, self.spec.operands[0].memory, value, *self.element(0, index, 0), "dst")

    def fill(self, low: Value, high: Value) -> None:
        """Emit the loop that computes elements ``low`` to ``high`` into scratch."""
        memory = token(self.spec.operands[0].dtype).memory
        self.each(
            low,
            high,
            self.stored,
            lambda j, value: keep(self.b, memory, value, self.scratch, j - low, "tmp"),
        )

    def each(
        self,
        low: Value | int,
        high: Value | int,
        compute: Callable[[Value], Value],
        put: Callable[[Value, Value], None],
        pace: Pace = Pace.FULL,
    ) -> None:
        """Emit a loop over some elements."""
        long = self.spec.near is Near.MANY and self.spec.body.cost >= LONG
        pace = Pace.PAIRED if long and pace is Pace.FULL else pace
        each(self.b, self.spec.near, self.patience, (low, high), compute, put, pace)

    def drain(self, low: Value, high: Value) -> None:
        """Emit the loop that stores scratch to elements ``low`` to ``high``."""
        memory = token(self.spec.operands[0].dtype).memory
        with self.b.loop(low, high, pace=self.spec.pace) as j:
            self.store(j, fetch(self.b, memory, self.scratch, j - low, "tmp"))


def emit_map(spec: MapSpec) -> Module:
    """Return the kernel."""
    b = Builder()
    b.light = spec.light
    words = load_words(b, spec.words(), spec.body)
    moving = {w: b.local(words[f"p{w}"]) for w in range(len(spec.operands))}
    stage = BLOCK * token(spec.operands[0].dtype).itemsize if spec.staged else 0
    scratch = b.scratch(stage) if stage else b.integer(0)
    patience = b.local(0) if spec.near is Near.MANY else None
    loops = MultiIndex.at(b, "t", spec.outer, words, moving, words["t0"])
    # One pass is no loop: LLVM's vectoriser takes exponential time to find that nothing in
    # it varies.
    several = b.loop(words["t0"], words["t1"]) if spec.outer else b.when(words["t0"] < words["t1"])
    with several:
        pointers = [pointer.get() for pointer in moving.values()]
        _ROWS[spec.mode](_Row(b, spec, words, pointers, {}, loops, scratch, patience))
        loops.step()
    if spec.mode is Mode.NONTEMPORAL or spec.past:
        b.fence()
    return b.module()


def _direct(row: _Row) -> None:
    if row.spec.copies:
        (start, end), (to, of), b = row.bounds, row.pointers, row.b
        nbytes = (end - start) * row.size
        many = nbytes > COPIED_UNTIL
        with b.when(many):
            b.copy(to + start * row.size, of + start * row.size, nbytes)
        end = b.select(many, start, end)
        row = replace(row, words={**row.words, "j1": end})
    row = row.hoisted()
    if row.spec.staged:
        _blocks(row, *row.bounds)
        return
    b, (start, end), step = row.b, row.bounds, BLOCK

    if row.spec.near is not Near.NONE:
        with b.loop(start, end, step) as low:
            row.each(low, (low + step).least(end), row.stored, row.store, row.spec.pace)
    else:
        row.each(start, end, row.stored, row.store, row.spec.pace)


def _tiled(row: _Row) -> None:
    b, spec, (low, high) = row.b, row.spec, row.bounds
    strip, last = spec.strip, spec.outer - 1
    above = row.loops.digits[-1].get() * spec.tall
    height = (row.words["rows"] - above).least(spec.tall)
    before = 64 // row.size if spec.past else 0
    turned = {
        w: Copy.of(b, operand, strip, before)
        for w, operand in enumerate(spec.operands)
        if operand.inner is Inner.CROSSED
    }
    inside = replace(spec, operands=tuple([scratch_of(o) for o in spec.operands]))
    row = replace(row, scratch=b.scratch(WIDE * row.size + 192) if spec.past else b.integer(0))
    # To the row of the tile after this one, or where the tiles are all there is of the next strip.
    beside = row.words[f"s0_t{last - 1}"] if last else row.words["h0"] * strip
    with b.loop(low, high, WIDE) as left, b.loop(0, height, strip) as top:
        right, bottom = (left + WIDE).least(high), (top + strip).least(height)
        for w, copy in turned.items():
            copy.fill(row.pointers[w], row.words[f"e{w}"], (top, bottom), (left, right), low)
        with b.loop(top, bottom) as y:
            moved = [
                turned[w].row(y - top, left) if w in turned else p + y * row.words[f"h{w}"]
                for w, p in enumerate(row.pointers)
            ]
            below = [p + (y + strip) * row.words[f"h{w}"] for w, p in enumerate(row.pointers)]
            _ask(replace(row, pointers=below), left, right)
            line = replace(row, spec=inside, pointers=moved).hoisted()
            if spec.past:
                to = line.pointers[0]
                start = b.select(left > low, left - (to + left * row.size) % 64 // row.size, left)
                end = b.select(
                    right < high, right - (to + right * row.size) % 64 // row.size, right
                )
                _past(line, start, end)
            else:
                _ask_row(b, moved[0] + beside, left, right + (64 // row.size - 1), row.size, True)
                with b.loop(left, right) as j:
                    line.store(j, line.stored(j))


def _ask(row: _Row, low: Value, high: Value) -> None:
    """Ask for elements that the CPU cannot foresee: of the operands in which they lie in a row."""
    for pointer, operand in zip(row.pointers[1:], row.spec.operands[1:], strict=True):
        if operand.inner is Inner.UNIT and operand.access in _ASKED and operand.packing == 1:
            _ask_row(row.b, pointer, low, high, token(operand.dtype).itemsize)


def _ask_row(
    b: Builder, pointer: Value, low: Value, high: Value, size: int, written: bool = False
) -> None:
    with b.loop(low, high, 64 // size, pace=Pace.ROLLED) as j:
        b.prefetch(pointer + j * size, written)


def _past(row: _Row, low: Value, high: Value) -> None:
    """Compute elements into scratch that begins as their lines do; store whole lines at once."""
    b, size, count = row.b, row.size, high - low
    memory = token(row.spec.operands[0].dtype).memory
    to = row.pointers[0] + low * size
    inside = to % 64
    scratch = row.scratch + inside
    with b.loop(low, high) as j:
        keep(b, memory, row.stored(j), scratch, j - low, "tmp")
    head = ((b.integer(64) - inside) % 64 // size).least(count)
    aligned = ((to + head * size) % 64).equals(0)
    whole = b.select(aligned, (count - head) * size // 64, 0)
    first, line = to + head * size, scratch + head * size
    with b.loop(0, whole, pace=Pace.ROLLED) as k:
        stream_line(b, first + k * 64, line + k * 64)
    rest = head + whole * (64 // size)
    for start, end in ((b.integer(0), head), (rest, count)):
        with b.loop(start, end, pace=Pace.SLOW) as k:
            row.store(low + k, fetch(b, memory, scratch, k, "tmp"))


def _interleaved(row: _Row) -> None:
    spec = row.spec
    lanes = [
        replace(
            row,
            pointers=[
                p if operand.inner is Inner.INTERLEAVED else p + row.words[f"h{w}"] * lane
                for w, (p, operand) in enumerate(zip(row.pointers, spec.operands, strict=True))
            ],
        )
        for lane in range(spec.lanes)
    ]
    with row.b.loop(*row.bounds) as j:
        for number, lane in enumerate(lanes):
            interleaved = j * spec.lanes + number
            value = lane.stored(j, interleaved)
            lane.store(interleaved if spec.operands[0].inner is Inner.INTERLEAVED else j, value)


def _blocks(row: _Row, start: Value, end: Value) -> None:
    """Emit the loop over blocks that are computed, then stored."""
    with row.b.loop(start, end, BLOCK) as low:
        high = (low + BLOCK).least(end)
        row.fill(low, high)
        row.drain(low, high)


def _falling(row: _Row) -> None:
    row = row.hoisted()
    start, end = row.bounds
    blocks = (end - start + (BLOCK - 1)) // BLOCK
    with row.b.loop(0, blocks) as k:
        low = start + (blocks - 1 - k) * BLOCK
        high = (low + BLOCK).least(end)
        _ask(row, low - BLOCK, low)
        row.fill(low, high)
        row.drain(low, high)


def _nontemporal(row: _Row) -> None:
    """Store whole lines past the caches, the ragged ends as usual."""
    row = row.hoisted()
    b, size, (start, end) = row.b, row.size, row.bounds
    step, to = _AT_ONCE // size, row.pointers[0]
    memory = token(row.spec.operands[0].dtype).memory
    inside = (to + start * size) % 64
    head = (b.integer(64) - inside) % 64 // size
    high = (start + head).least(end)
    row.fill(start, high)
    row.drain(start, high)
    # An address that is no multiple of the itemsize is at the start of a line nowhere.
    aligned = ((to + high * size) % 64).equals(0)
    whole = b.select(aligned, (end - high) // step, 0)
    with b.loop(0, whole) as k:
        low = high + k * step
        row.each(
            0,
            step,
            lambda y: row.stored(low + y),
            lambda y, value: keep(b, memory, value, row.scratch, y, "tmp"),
        )
        line = to + low * size
        with b.loop(0, _AT_ONCE // 64) as y:
            stream_line(b, line + y * 64, row.scratch + y * 64)
    _blocks(row, high + whole * step, end)


_ROWS = {
    Mode.DIRECT: _direct,
    Mode.STAGED: _direct,
    Mode.FALLING: _falling,
    Mode.NONTEMPORAL: _nontemporal,
    Mode.TILED: _tiled,
    Mode.INTERLEAVED: _interleaved,
}
