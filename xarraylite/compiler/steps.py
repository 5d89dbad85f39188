"""Loop nests and argument blocks: from lowered code and a destination to a step that runs.

Everything numeric about a kernel is decided here, in Python ints: which loop runs innermost, how
elements are stored, how work may be divided, what stands in every word of the block.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..codegen.emit.body import VECTOR, Body
from ..codegen.emit.folding import BLOCK_BYTES, Form, ReduceSpec, block_of
from ..codegen.emit.hard import Near
from ..codegen.emit.mapping import MapSpec, Mode, emit_map
from ..codegen.emit.reduction import emit_reduce
from ..codegen.emit.streams import Access
from ..codegen.kernel import kernels
from ..layout.tiled import Map
from ..ops.reductions import Reduction
from .arguments import ArgumentBlock, Computation, OperandSlot, packing, streams_of, strided, unit
from .boxes import still
from .identities import identity_words
from .limits import CHUNK, LONG_RESULT, NEAR_FROM, STREAM_BYTES
from .loops import Nest, address_stream, deepen, move_to_end, normalise, reverse, split
from .lower import Lowered, Use
from .program import KernelStep, Work
from .tiling import LEAST_SIDE, crossed, in_whole_lines, tall_dimension

#: How many elements at once `Mode.INTERLEAVED` computes.
LANES = (2, 4)

#: Results side by side for which few rows are folded across.
WIDE = 64

#: Parts of one result; a plan must stay small even if a generator is folded.
MOST_PARTS = 1 << 16

#: (r0, r1, j0, j1): a range of reduced rows and one of the innermost loop.
Range = tuple[int, int, int, int]


def map_step(what: Computation, order: Mode | None, note: str, depth: int) -> KernelStep:
    """Return the step that fills a destination element by element.

    Parameters
    ----------
    what : Computation
        Code, operands and destination.
    order : Mode or None
        `Mode.STAGED` or `Mode.FALLING` where aliasing demands that order, else None.
    note : str
        What the step does.
    depth : int
        Loops to make at least, so that the boxes of one evaluation share a kernel.
    """
    lowered, to = what.lowered, what.to
    nest = map_nest(what)
    shallow = max(0, depth - len(nest.extents))
    nest = deepen(nest, depth)
    mode, nest, lanes = _ordered(nest, order, what)
    operands = what.operands(nest.streams, lanes=lanes)
    rank = len(nest.extents) - (2 if mode is Mode.INTERLEAVED else 1)
    past, lines = False, 1
    if mode is Mode.TILED:
        operands, lines = crossed(nest, lowered, operands)
        past = _is_large(nest, what) and in_whole_lines(nest, to.dtype.itemsize)
    near = _near(mode, nest, lowered.body)
    spec = MapSpec(
        mode, rank, operands, lowered.body, len(lowered.gathers), lanes, past, lines, near
    )
    block = ArgumentBlock(spec.words())
    outer = _put_loops(block, nest, spec)
    across = spec.tall if mode is Mode.TILED else lanes
    cost = -(-lowered.body.vector_cost * nest.extents[-1] * across // VECTOR)
    return block.step(
        kernels.get(spec, emit_map),
        what,
        [w.start for w in nest.streams],
        Work(
            outer,
            nest.extents[-1],
            cost,
            ordered=order is not None or packing(to.bits) > 1,
            falling=order is Mode.FALLING,
        ),
        f"{note} [{mode.value}, loops {'x'.join(map(str, nest.extents[shallow:]))}]",
        what.traffic(),
        _lines(nest, nest, what) if spec.outer == 1 and mode in _BY_ROWS else (),
    )


#: Modes of maps whose outer loop may be divided anywhere, and folds of a row each.
_BY_ROWS = (Mode.DIRECT, Mode.NONTEMPORAL)
_SECOND = (Mode.TILED, Mode.INTERLEAVED)


def _ordered(nest: Nest, order: Mode | None, what: Computation) -> tuple[Mode, Nest, int]:
    """Return a mode, the loops in its order, and how many lanes one element of it has.

    It is that of ``order`` where aliasing demands one.
    """
    to, size, last = what.to, what.to.dtype.itemsize, len(nest.extents) - 1
    if order is not None:
        return order, reverse(nest, last) if order is Mode.FALLING else nest, 1
    pair = _interleaved_pair(nest, what)
    if pair is not None:
        return Mode.INTERLEAVED, move_to_end(nest, *pair), nest.extents[pair[0]]
    if nest.streams[0].strides[-1] != size or to.bits != 8 * size:
        return Mode.DIRECT, nest, 1
    tall = tall_dimension(nest, what.lowered) if last else -1
    if tall >= 0:
        return Mode.TILED, move_to_end(nest, tall, last), 1
    past = nest.extents[-1] * size >= BLOCK_BYTES and _is_large(nest, what)
    return Mode.NONTEMPORAL if past else Mode.DIRECT, nest, 1


def _near(mode: Mode, nest: Nest, body: Body) -> Near:
    """Return by which of its bodies a function is computed that is easier for usual numbers."""
    if mode in _SECOND or not body.has_near:
        return Near.NONE
    if nest.outer * nest.extents[-1] >= NEAR_FROM:
        return Near.MANY
    return Near.FEW if body.is_steep else Near.NONE


_ROWS = (Form.ALONG, 1, 0)


def _lines(outer: Nest, inner: Nest, what: Computation) -> list[tuple[int, int, int]]:
    """Return how streams move from row to row, and what they reach within one (`KernelStep`)."""
    found = []
    sizes = [array.dtype.itemsize for array in what.arrays]
    for size, row, within in zip(sizes, outer.streams, inner.streams, strict=True):
        reach = (inner.extents[-1] - 1) * within.strides[-1]
        found.append((row.strides[0], min(reach, 0), max(reach, 0) + size))
    return found


def _put_loops(block: ArgumentBlock, nest: Nest, spec: MapSpec) -> int:
    """Fill extents and strides of the loops of a map; return the trips of all but the innermost.

    The second innermost loop is the kernel's own in some modes, with strides ``h``: it makes the
    lanes (`Mode.INTERLEAVED`, where it is no loop any more), or the rows of a tile (`Mode.TILED`,
    where ``spec.tall`` rows are one step).
    """
    extents = list(nest.extents[:-1])
    strides = [list(w.strides) for w in nest.streams]
    if spec.mode in (Mode.INTERLEAVED, Mode.TILED):
        block.put([(f"h{w}", steps[-2]) for w, steps in enumerate(strides)])
    if spec.mode is Mode.INTERLEAVED:
        extents.pop()
        strides = [[*steps[:-2], steps[-1]] for steps in strides]
    if spec.mode is Mode.TILED:
        block.put([("rows", extents[-1])])
        extents[-1] = -(-extents[-1] // spec.tall)
        strides = [[*steps[:-2], steps[-2] * spec.tall, steps[-1]] for steps in strides]
    block.loops("t", extents, strides)
    block.inner([steps[-1] for steps in strides])
    return math.prod(extents)


def map_nest(what: Computation) -> Nest:
    """Return the loops that `map_step` needs."""
    return normalise(what.lowered.shape, what.streams)


def _is_large(nest: Nest, what: Computation) -> bool:
    """Tell whether a destination is better stored past the caches: not read, and all is large."""
    memory = what.memory
    if what.to.soon or not all(m.access in (Access.APART, Access.POSITION) for m in memory):
        return False
    touched = [
        math.prod([n for n, step in zip(nest.extents, w.strides, strict=True) if step]) * a.bits
        for a, w in zip(what.arrays, nest.streams, strict=True)
    ]
    return max(touched[0], what.to.whole) + _read(touched[1:], memory) >= 8 * STREAM_BYTES


def _read(touched: Sequence[int], memory: Sequence[OperandSlot]) -> int:
    """Return how many bits are read of operands, those twice that lie in one memory but once."""
    operands = list(zip([m.span for m in memory], touched, strict=True))
    total = sum([bits for span, bits in operands if span is None])
    begin, end, before = 0, -1, 0  # of leaves that overlap, and how many of their bits are read
    for (first, last), bits in sorted([(span, bits) for span, bits in operands if span]):
        if first > end:
            total, begin, before = total + before, first, 0
        end = max(end, last)
        before = min(before + bits, 8 * (end + 1 - begin))
    return total + before


def _interleaved_pair(nest: Nest, what: Computation) -> tuple[int, int] | None:
    """Return the dimensions of lanes and of the inner loop if some operand interleaves them.

    Its elements along the first, few, lie side by side, and these groups follow each other along
    the second.
    """
    bits = [array.bits for array in what.arrays]
    if any(0 < b < 8 for b in bits) or what.lowered.gathers:
        return None
    for b, w in zip(bits, nest.streams, strict=True):
        for lane, count in enumerate(nest.extents):
            if b and count in LANES and w.strides[lane] == b // 8:
                for inner, extent in enumerate(nest.extents):
                    if extent >= LEAST_SIDE and w.strides[inner] == count * b // 8:
                        return lane, inner
    return None


def reduce_step(
    what: Computation,
    op: Reduction,
    axes: tuple[int, ...],
    chunks: tuple[Range, ...],
    stride: int,
    note: str,
    *,
    form: Form,
    position: int = 0,
) -> KernelStep:
    """Return the step that folds what is computed over ``axes`` into its destination.

    The layout of that is over the space that is folded, and stands still along ``axes``.  Each
    of ``chunks`` (see `chunk_ranges`) is folded into a result of its own, ``stride`` positions
    after the one before; without any, partial results are joined.  ``form`` is that of the whole
    reduction.  ``position``: the results are where extremes are, of values of so many bits that lie
    side by side in memory.
    """
    lowered, to = what.lowered, what.to
    parts = len(chunks) > 1
    kept, reduced = nests_of(lowered, to.layout, unit(to.bits), axes, form)
    starts = [a.start + b.start for a, b in zip(kept.streams, reduced.streams, strict=True)]
    along = form is Form.ALONG
    inner = reduced if along else kept
    kept_loops = len(kept.extents) - (0 if along else 1)
    reduced_loops = len(reduced.extents) - (1 if along else 0)
    operands = what.operands(inner.streams, 0 if along else -1)
    gathers, joins = len(lowered.gathers), not chunks
    body = lowered.body
    spec = ReduceSpec(form, kept_loops, reduced_loops, operands, body, op, gathers, joins, position)
    block = ArgumentBlock(spec.words())
    for letter, nest, count in (("k", kept, kept_loops), ("r", reduced, reduced_loops)):
        block.loops(letter, nest.extents[:count], [w.strides for w in nest.streams])
    block.inner([w.strides[-1] for w in inner.streams])
    block.put(zip(("z", "z+"), identity_words(op, lowered.body.dtype), strict=False))
    outer = kept.outer * (kept.extents[-1] if along else 1)
    rows = reduced.outer * (1 if along else reduced.extents[-1])
    width = inner.extents[-1]
    return block.step(
        kernels.get(spec, emit_reduce),
        what,
        starts,
        Work(
            outer,
            width,
            lowered.body.cost * rows * width,
            rows,
            chunks=_with_offsets(chunks, rows, width, stride * unit(to.bits)) if parts else (),
            ordered=packing(to.bits) > 1,
            split_inner=not along,
        ),
        f"{note} [{form.value}, {outer if along else outer * width} results"
        f" of {rows * width if along else rows}]",
        what.traffic(max(1, len(chunks))),
        _lines(kept, reduced, what) if (form, kept_loops, reduced_loops) == _ROWS else (),
    )


def _with_offsets(
    chunks: Sequence[Range], rows: int, width: int, stride: int
) -> tuple[tuple[int, int, int, int, int], ...]:
    """Give every part the place of its result."""
    assert chunks[-1][1::2] == (rows, width), "the parts are those of another loop nest"
    return tuple([(*part, k * stride) for k, part in enumerate(chunks)])


def nests_of(
    lowered: Lowered, to: Map, size: int, axes: tuple[int, ...], form: Form = Form.ALONG
) -> tuple[Nest, Nest]:
    """Return the loops over what is kept and over what is folded.

    ``to`` says, over the space that is folded, where results of ``size`` bytes go.
    """
    streams = [address_stream(strided(to), size), *streams_of(lowered)]
    kept, reduced = split(lowered.shape, streams, axes, 0)
    return (kept if form is Form.ALONG else sideways(kept, lowered.uses)), reduced


def sideways(kept: Nest, uses: Sequence[Use]) -> Nest:
    """Return the loops of `Form.ACROSS`: innermost is that with most contiguous operands."""
    if len(kept.extents) == 1:
        return kept
    side = _contiguous(kept, uses)
    inner = max(range(len(side)), key=lambda d: (side[d], min(kept.extents[d], WIDE), d))
    return kept if inner == len(side) - 1 else move_to_end(kept, inner)


def _contiguous(nest: Nest, uses: Sequence[Use]) -> list[int]:
    """Return for each loop how many operands are contiguous along it, as often as they are read."""
    pairs = [*zip(uses, nest.streams[1:], strict=True)]
    return [
        sum([use.times for use, w in pairs if w.strides[d] == use.dtype.itemsize])
        for d in range(len(nest.extents))
    ]


def form_of(lowered: Lowered, axes: tuple[int, ...]) -> Form:
    """Return the side on which more operands are contiguous, along which the innermost loop runs.

    It decides in which order is folded, so it follows from the operands alone: wherever results
    go, they are taken to be row-major.
    """
    return form_of_nests(*nests_of(lowered, still(lowered.shape, axes), 1, axes), lowered.uses)


def form_of_nests(kept: Nest, reduced: Nest, uses: Sequence[Use]) -> Form:
    """Return the form of these loops, for row-major results."""
    if kept.extents[-1] == 1:
        return Form.ALONG
    if reduced.outer * reduced.extents[-1] < 16 and kept.extents[-1] >= WIDE:
        return Form.ACROSS
    wider = max(_contiguous(kept, uses)) > _contiguous(reduced, uses)[-1]
    return Form.ACROSS if wider else Form.ALONG


def chunk_ranges(
    lowered: Lowered, axes: tuple[int, ...], several: bool = True, ends: bool = False
) -> tuple[Range, ...]:
    """Return the fixed parts of a reduction; a function of shapes and strides alone.

    There is more than one part where too few results could be computed side by side, and where
    one result takes so long that a Ctrl-C would have to wait for it.  A fold that may end early
    (``ends``) is divided for the latter alone.  The destination does not
    count: partial results are row-major, and it is their loop nest that is divided.
    """
    form = form_of(lowered, axes)
    kept, reduced = nests_of(lowered, still(lowered.shape, axes), 1, axes, form)
    along = form is Form.ALONG
    results = kept.outer * kept.extents[-1]
    block = block_of(lowered.body.dtype)
    units = results if along else kept.outer * -(-kept.extents[-1] // block)
    total = results * reduced.outer * reduced.extents[-1]
    rows = reduced.outer * (1 if along else reduced.extents[-1])
    width = (reduced if along else kept).extents[-1]
    few = units < 8 and total >= 2 * CHUNK and not (ends and along)
    size = CHUNK if few else LONG_RESULT
    if not several or (not few and total <= units * size):
        return ((0, rows, 0, width),)
    size = max(size, rows * width // MOST_PARTS)
    return tuple(_ranges(rows, width, along, size if few or along else size // block * width))


def _ranges(rows: int, width: int, along: bool, size: int) -> Iterator[Range]:
    """Yield parts of about ``size`` elements."""
    if along and width > size:
        for r in range(rows):
            for j in range(0, width, size):
                yield r, r + 1, j, min(j + size, width)
        return
    step = max(1, size // width)
    for r in range(0, rows, step):
        yield r, min(r + step, rows), 0, width
