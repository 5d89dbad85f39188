"""Folds over some dimensions, of few elements and ever new extents.

A plan of such a fold is made for one shape, and takes longer than to fold thousands of elements.
What is folded, and how, follows from the operand's kind alone; for new extents only the loop nests
are made anew.  The kernels are those of a plan, and so are the bits.
"""

from __future__ import annotations

import functools
import math
from array import array
from collections.abc import Sequence
from typing import Any

from ..codegen.emit.folding import Form, ReduceSpec
from ..codegen.emit.reduction import emit_reduce
from ..codegen.emit.streams import Access, Inner, Operand
from ..codegen.kernel import Kernel, kernels
from ..compiler.arguments import ArgumentBlock, inner_of
from ..compiler.identities import identity_words, scalar_words
from ..compiler.limits import CHUNK
from ..compiler.loops import AddressStream, Nest, split
from ..compiler.lower import Lowered
from ..compiler.steps import form_of_nests, sideways
from ..ir.kind import Kind, leaves_of, parts_of, reduction, strides_of
from ..ir.node import Shape
from ..memory.block import Memory
from ..memory.snapshots import Snapshot, pinned
from ..ops.reductions import Reduction
from . import direct
from .evaluate import uses_reference

#: The most elements that are folded: one range of them, as in a plan.
MOST = CHUNK

#: Kinds, and kernels, that are remembered.
_KNOWN = 256


@functools.lru_cache(_KNOWN)
def _lowered(op: Reduction, body: Kind) -> tuple[Lowered, list[int]] | None:
    """Return the code of what is folded, and which of its operands each leaf and scalar is.

    None where a plan would compute a part on its own, as it does with what is stretched.
    """
    if body.formed or not all(
        [part.op is None or part.rank == body.rank for part in parts_of(body)]
    ):
        return None
    found = direct.lowered_of(reduction(op, body))
    whole = found is not None and all([use.bits >= 8 for use in found[0].uses])
    return found if whole else None


def _known(op: Reduction, body: Kind) -> tuple[Lowered, list[int]]:
    """Return the same of what has it."""
    found = _lowered(op, body)
    assert found is not None, "there are nests, and strides of operands"
    return found


@functools.lru_cache(_KNOWN)
def _kernel(
    op: Reduction, body: Kind, form: Form, kept: int, reduced: int, inners: tuple[Inner, ...]
) -> tuple[Kernel, array[int], list[int | None], list[int]]:
    """Return a kernel, its argument block, and where in it extents, strides and operands are.

    Parameters
    ----------
    op, body
        What is folded how.
    form : Form
        What the innermost loop runs along.
    kept, reduced : int
        Numbers of loops around it.
    inners : tuple of Inner
        How each address moves along it, that of the result first.
    """
    lowered, places = _known(op, body)
    pairs = zip(lowered.uses, inners[1:], strict=True)
    read = [Operand(use.dtype, inner, Access.APART) for use, inner in pairs]
    operands = (Operand(body.dtype, inners[0], Access.SHARED), *read)
    spec = ReduceSpec(form, kept, reduced, operands, lowered.body, op, 0)
    block = ArgumentBlock(spec.words())
    block.put(zip(("z", "z+"), identity_words(op, body.dtype), strict=False))
    names = [f"n_k{d}" for d in range(kept)] + [f"n_r{d}" for d in range(reduced)]
    for w in range(len(inners)):
        names += [f"s{w}_k{d}" for d in range(kept)] + [f"s{w}_r{d}" for d in range(reduced)]
    names += [f"e{w}" for w in range(len(inners))]
    leaves = zip(leaves_of(body), places, strict=True)
    own = ["p0", *[f"c{k}" if leaf.scalar else f"p{k + 1}" for leaf, k in leaves]]
    index = block.words.index
    return (
        kernels.get(spec, emit_reduce),
        block.values,
        [index.get(name) for name in names],
        [index[name] for name in own],
    )


def fold(
    op: Reduction,
    body: Kind,
    shape: Shape,
    operands: Sequence[Any],
    axes: tuple[int, ...],
    to: Memory,
) -> bool:
    """Fold along some dimensions into row-major memory; tell whether it is done.

    Parameters
    ----------
    op : Reduction
        How it is folded.
    body, shape, operands
        What is folded.
    axes : tuple of int
        The dimensions.
    to : Snapshot
        Memory that nobody knows of yet.
    """
    if not 0 < math.prod(shape) <= MOST or uses_reference():
        return False
    known = _lowered(op, body)
    if known is None:
        return False
    memory = [item for item in operands if isinstance(item, Snapshot)]
    with pinned(memory):  # from now on addresses stay
        strides, words = _operands(body, shape, operands, known[1])
        nests = _nests(shape, (_still(shape, axes, body.itemsize), *strides), axes)
        kernel, block = _filled(op, body, nests, ((to.address,), *words))
        return kernel.run(block.buffer_info()[0]) == 0


def _still(shape: Shape, axes: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides of row-major results, over the space that is folded."""
    steps = [0] * len(shape)
    for k in reversed(range(len(shape))):
        if k not in axes:
            steps[k] = size
            size *= shape[k]
    return tuple(steps)


def _nests(
    shape: Shape, strides: Sequence[tuple[int, ...]], axes: tuple[int, ...]
) -> tuple[Nest, Nest]:
    """Return the loops over what is kept and over what is folded: of a matrix one each."""
    if len(shape) != 2 or len(axes) != 1 or 1 in shape:
        return split(shape, [AddressStream(0, own) for own in strides], axes, 0)
    (along,) = axes
    kept, reduced = [
        Nest((shape[k],), tuple([AddressStream(0, (own[k],)) for own in strides]))
        for k in (1 - along, along)
    ]
    return kept, reduced


def _operands(
    body: Kind, shape: Shape, operands: Sequence[Any], places: Sequence[int]
) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Return strides in bytes of a kernel's operands, in its order, and the words of the kind's.

    These are where leaves begin, and scalars.
    """
    words = list[tuple[int, ...]]()
    strides: list[tuple[int, ...]] = [()] * sum([not leaf.scalar for leaf in leaves_of(body)])
    items = iter(operands)
    for leaf, place in zip(leaves_of(body), places, strict=True):
        item = next(items)
        if leaf.scalar:
            words.append(scalar_words(item, leaf.dtype))
            continue
        skip = len(shape) - leaf.rank
        own = (0,) * skip + strides_of(leaf, shape[skip:])
        strides[place] = tuple([step * leaf.itemsize for step in own])
        words.append((item.address + next(items),))
    return strides, words


def _filled(
    op: Reduction, body: Kind, nests: tuple[Nest, Nest], words: Any
) -> tuple[Kernel, array[int]]:
    """Return a kernel and its argument block, which says that all is to be folded."""
    kept, reduced = nests
    uses = _known(op, body)[0].uses
    form = form_of_nests(kept, reduced, uses)
    along = form is Form.ALONG
    kept = kept if along else sideways(kept, uses)
    nest = reduced if along else kept
    k, r = len(kept.extents) - (not along), len(reduced.extents) - along
    steps = [stream.strides[-1] for stream in nest.streams]
    sizes = [body.itemsize, *[use.dtype.itemsize for use in uses]]
    inners = tuple(map(inner_of, steps, sizes))
    kernel, template, moves, where = _kernel(op, body, form, k, r, inners)
    values = [*kept.extents[:k], *reduced.extents[:r]]
    for one, other in zip(kept.streams, reduced.streams, strict=True):
        values += [*one.strides[:k], *other.strides[:r]]
    block = template[:]
    for at, value in zip(moves, [*values, *steps], strict=True):
        if at is not None:
            block[at] = value
    for at, own in zip(where, words, strict=True):
        block[at : at + len(own)] = array("q", own)
    block[1] = kept.outer * (kept.extents[-1] if along else 1)
    block[3] = nest.extents[-1]
    block[5] = reduced.outer * (1 if along else reduced.extents[-1])
    return kernel, block
