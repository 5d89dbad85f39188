"""Kernels that fill a destination element by element.

==========  ===================================================================================
`DIRECT`    each element is stored as it is computed
`STAGED`    a block is computed into stack scratch, then stored: operands that share memory with
            the destination are read a whole block before that block is written
`FALLING`   the same with the blocks of a row from the top down
`STREAM`    staged, and stored past the caches: for large contiguous destinations, whose lines
            would otherwise be read before they are overwritten
`TILED`     direct, in square tiles over the two innermost dimensions: where operands disagree
            which dimension is contiguous, both sides stay within the cache
`WOVEN`     direct, a few elements of the second innermost dimension (the lanes) at once: where
            those lie side by side in some operand, as pairs of rows do under ``T(8,128)(2,1)``,
            whole vectors are loaded or stored and taken apart in registers
==========  ===================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .body import Body, emit_body, instruction, invariant
from .source import Source
from .tokens import call, token
from .walkers import (
    RANGES,
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

#: Elements per block of the staged modes: with 8-byte elements 8 KiB, a quarter of an L1 cache.
BLOCK = 1024

#: Bytes that `Mode.STREAM` stores at once: eight lines.  The loop over them has a fixed length,
#: so that it is unrolled, and every operand's stream of reads pauses only shortly.
STREAMED = 512

#: Side of a tile: 64 lines of 64 bytes from each side fit an L1 cache together.
TILE = 64


class Mode(Enum):
    """How a map kernel stores; see the module docstring."""

    DIRECT = "direct"
    STAGED = "staged"
    FALLING = "falling"
    STREAM = "stream"
    TILED = "tiled"
    WOVEN = "woven"


_STAGES = frozenset((Mode.STAGED, Mode.FALLING, Mode.STREAM))
_SECOND = frozenset((Mode.TILED, Mode.WOVEN))


@dataclass(frozen=True, slots=True)
class MapSpec:
    """Everything the source of a map kernel depends on.

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
        Elements computed at once (`Mode.WOVEN`).
    """

    mode: Mode
    outer: int
    operands: tuple[Operand, ...]
    body: Body
    gathers: int
    lanes: int = 1

    def words(self) -> Words:
        """Return the layout of the argument block."""
        words = Words()
        words.add(*RANGES)
        words.add(*[f"n_t{d}" for d in range(self.outer)])
        if self.mode is Mode.TILED:
            words.add("rows")
        if self.mode in _SECOND:
            words.add(*[f"h{w}" for w in range(len(self.operands))])
        add_walkers(words, self.operands, {"t": self.outer})
        add_values(words, self.body, self.gathers)
        return words


def emit_map(spec: MapSpec) -> str:
    """Return the source of the kernel."""
    source = Source()
    loops = Odometer("t", spec.outer, "p", range(len(spec.operands)))
    with source.block("def kernel(block):"):
        load_words(source, spec.words(), constants(spec.body))
        if spec.mode in _STAGES:
            source.line(f"w0 = scratch({BLOCK * token(spec.operands[0].dtype).itemsize})")
        loops.start(source, "t0")
        # One pass is no loop: LLVM's vectoriser takes exponential time to find that nothing in
        # it varies.
        with source.block("for t in range(t0, t1):" if spec.outer else "if t0 < t1:"):
            _ROWS[spec.mode](source, spec)
            loops.step(source)
        if spec.mode is Mode.STREAM:
            source.line("fence()")
    return source.text()


def _still(source: Source, spec: MapSpec, pointer: str) -> set[int]:
    """Append what does not change along the inner loop; return those instructions."""
    still = [operand.inner is Inner.STILL for operand in spec.operands[1:]]
    fixed = invariant(spec.body, still)
    addresses = readers(spec.operands, pointer, "0")
    for number in sorted(fixed):
        source.line(f"v{number} = {instruction(spec.body.instructions[number], addresses)}")
    return fixed


def _value(source: Source, spec: MapSpec, pointer: str, fixed: set[int]) -> str:
    """Append the inner loop's body and return the stored value's source."""
    emit_body(source, spec.body, readers(spec.operands, pointer, "j"), fixed)
    names = token(spec.operands[0].dtype)
    return call(names.encode, f"v{len(spec.body.instructions) - 1}")


def _store(spec: MapSpec, pointer: str, index: str, value: str) -> str:
    at, offset = place(spec.operands[0], 0, index)
    return f"store_{spec.operands[0].memory}({pointer}0{at}, {offset}, {value})"


def _direct(source: Source, spec: MapSpec) -> None:
    fixed = _still(source, spec, "p")
    with source.block("for j in range(j0, j1):"):
        source.line(_store(spec, "p", "j", _value(source, spec, "p", fixed)))


def _tiled(source: Source, spec: MapSpec) -> None:
    last = spec.outer - 1
    source.line(f"height = min(rows - i_t{last} * {TILE}, {TILE})")
    with source.block(f"for left in range(j0, j1, {TILE}):"):
        source.line(f"right = min(left + {TILE}, j1)")
        with source.block("for y in range(height):"):
            for w in range(len(spec.operands)):
                source.line(f"q{w} = p{w} + y * h{w}")
            fixed = _still(source, spec, "q")
            with source.block("for j in range(left, right):"):
                source.line(_store(spec, "q", "j", _value(source, spec, "q", fixed)))


def _woven(source: Source, spec: MapSpec) -> None:
    lanes, names = range(spec.lanes), token(spec.operands[0].dtype)
    for lane in lanes:
        for w, operand in enumerate(spec.operands):
            apart = "" if operand.inner is Inner.WOVEN else f" + {lane} * h{w}"
            source.line(f"l{lane}_{w} = p{w}{apart}")
    with source.block("for j in range(j0, j1):"):
        for lane in lanes:
            woven = f"j * {spec.lanes} + {lane}"
            addresses = readers(spec.operands, f"l{lane}_", "j", woven)
            emit_body(source, spec.body, addresses, set())
            value = call(names.encode, f"v{len(spec.body.instructions) - 1}")
            index = woven if spec.operands[0].inner is Inner.WOVEN else "j"
            source.line(_store(spec, f"l{lane}_", index, value))


def _fill(source: Source, spec: MapSpec, fixed: set[int]) -> None:
    """Append the loop that computes elements ``low`` to ``high`` into scratch."""
    memory = token(spec.operands[0].dtype).memory
    with source.block("for j in range(low, high):"):
        source.line(f"push_{memory}(w0, j - low, {_value(source, spec, 'p', fixed)})")


def _drain(source: Source, spec: MapSpec) -> None:
    """Append the loop that stores scratch to elements ``low`` to ``high``."""
    memory = token(spec.operands[0].dtype).memory
    with source.block("for j in range(low, high):"):
        source.line(_store(spec, "p", "j", f"pull_{memory}(w0, j - low)"))


def _staged(source: Source, spec: MapSpec) -> None:
    fixed = _still(source, spec, "p")
    with source.block(f"for low in range(j0, j1, {BLOCK}):"):
        source.line(f"high = min(low + {BLOCK}, j1)")
        _fill(source, spec, fixed)
        _drain(source, spec)


def _falling(source: Source, spec: MapSpec) -> None:
    fixed = _still(source, spec, "p")
    source.line(f"blocks = (j1 - j0 + {BLOCK - 1}) // {BLOCK}")
    with source.block("for k in range(blocks):"):
        source.line(f"low = j0 + (blocks - 1 - k) * {BLOCK}")
        source.line(f"high = min(low + {BLOCK}, j1)")
        _fill(source, spec, fixed)
        _drain(source, spec)


def _stream(source: Source, spec: MapSpec) -> None:
    """Store whole lines past the caches, the ragged ends as usual."""
    names = token(spec.operands[0].dtype)
    size, step = names.itemsize, STREAMED // names.itemsize
    fixed = _still(source, spec, "p")
    source.line(f"head = ((64 - (p0 + j0 * {size}) % 64) % 64) // {size}")
    source.line("low = j0")
    source.line("high = min(j0 + head, j1)")
    _fill(source, spec, fixed)
    _drain(source, spec)
    # An address that is no multiple of the itemsize is at the start of a line nowhere.
    source.line(f"whole = (j1 - high) // {step} if (p0 + high * {size}) % 64 == 0 else 0")
    source.line("left = high")
    with source.block("for k in range(whole):"):
        source.line(f"low = left + k * {step}")
        with source.block(f"for y in range({step}):"):
            source.line("j = low + y")
            source.line(f"push_{names.memory}(w0, y, {_value(source, spec, 'p', fixed)})")
        source.line(f"to = p0 + low * {size}")
        with source.block(f"for y in range({STREAMED // 64}):"):
            source.line("stream_line(to + y * 64, w0 + y * 64)")
    with source.block(f"for low in range(left + whole * {step}, j1, {BLOCK}):"):
        source.line(f"high = min(low + {BLOCK}, j1)")
        _fill(source, spec, fixed)
        _drain(source, spec)


_ROWS = {
    Mode.DIRECT: _direct,
    Mode.STAGED: _staged,
    Mode.FALLING: _falling,
    Mode.STREAM: _stream,
    Mode.TILED: _tiled,
    Mode.WOVEN: _woven,
}
