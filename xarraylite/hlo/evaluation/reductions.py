"""Reductions: folds of arrays, and of everything that slides or lies in windows.

A combiner that is one operation of its two parameters is recognised, and the fold is the
package's own: lazy, fused with what is folded, sums pairwise.  Any other computation is applied
to many elements at a time: in the order of the elements where they are few, pairwise where they
are many. XLA leaves the order open and asks that the computation be associative.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from ...functions import reducers
from ..instruction import HloComputation, HloInstruction
from .elementwise import ELEMENTWISE
from .moves import broadcast
from .values import Evaluator, NumpyArray, Runner, Value, array, container

__all__ = ["FOLDS", "combiner", "fold", "is_fused_reduction"]

_IN_ORDER: Final = 256
"""Most elements that an unknown computation folds one after the other."""

_FOLDS: Final = {
    ("add", "num"): "sum", ("multiply", "num"): "prod", ("maximum", "num"): "max",
    ("minimum", "num"): "min", ("and", "bool"): "all", ("or", "bool"): "any",
    ("maximum", "bool"): "any", ("minimum", "bool"): "all", ("add", "bool"): "any",
    ("multiply", "bool"): "all",
}  # fmt: skip
_BITWISE: Final = {
    ("and", "num"): np.bitwise_and, ("or", "num"): np.bitwise_or, ("xor", "num"): np.bitwise_xor,
    ("xor", "bool"): np.logical_xor,
}  # fmt: skip


def combiner(computation: HloComputation) -> str:
    """Return the operation that a computation is, of its two parameters; empty for another."""
    root = computation.root
    parameters = computation.parameters
    while root.opcode in ("call", "copy") and len(root.operands) == len(parameters):
        if root.opcode == "copy" or root.operands != parameters:
            return ""
        computation = root.to_apply
        root, parameters = computation.root, computation.parameters
    if len(parameters) != 2 or set(root.operands) != set(parameters) or len(root.operands) != 2:
        return ""
    known = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
    return root.opcode if root.opcode in known else ""


def _family(instruction: HloInstruction) -> str:
    return "bool" if instruction.shape.element_type.name == "pred" else "num"


def is_fused_reduction(instruction: HloInstruction, operand: HloInstruction) -> bool:
    """Whether an operand of an instruction is folded lazily by it."""
    if instruction.opcode != "reduce" or len(instruction.operands) != 2:
        return False
    name = combiner(instruction.to_apply)
    known = (name, _family(instruction)) in _FOLDS and not instruction.shape.element_type.is_complex
    return known and operand is instruction.operands[0] and operand is not instruction.operands[1]


def _reduce(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    half = len(operands) // 2
    axes = instruction.get("dimensions")
    if half == 1:
        key = combiner(instruction.to_apply), _family(instruction)
        x, start = operands
        if key in _FOLDS:
            return _known(run, instruction, key, x, start, axes)
        if key in _BITWISE and x.size:
            values = _BITWISE[key].reduce(array(x), axis=axes) if axes else array(x)
            return ELEMENTWISE[key[0]](run, instruction, container(values), start)
    values, starts = [array(x) for x in operands[:half]], [array(x) for x in operands[half:]]
    rank = values[0].ndim
    kept = [axis for axis in range(rank) if axis not in axes]
    turned = [x.transpose([*kept, *axes]) for x in values]
    shape = tuple([values[0].shape[axis] for axis in kept])
    lines = [x.reshape((*shape, math.prod(x.shape[len(kept) :]))) for x in turned]
    found = [container(x) for x in fold(run.batched(instruction.to_apply), lines, starts)]
    return tuple(found) if instruction.shape.is_tuple else found[0]


def _known(
    run: Runner,
    instruction: HloInstruction,
    key: tuple[str, str],
    x: Value,
    start: Value,
    axes: tuple[int, ...],
) -> Value:
    """Fold by one of the package's reducers, and combine with the first value."""
    name = _FOLDS[key]
    sizes = tuple([size for axis, size in enumerate(x.shape) if axis not in axes])
    if not axes:
        found = x
    elif any([x.shape[axis] == 0 for axis in axes]):
        return broadcast(start, (), sizes)
    elif name in ("sum", "prod"):
        found = getattr(reducers, name)(x, axis=axes, dtype=x.dtype)
    else:
        found = getattr(reducers, name)(x, axis=axes)
    return ELEMENTWISE[key[0]](run, instruction, found, start)


def fold(
    combine: Callable[..., tuple[NumpyArray, ...]],
    lines: Sequence[NumpyArray],
    starts: Sequence[NumpyArray],
    inside: NumpyArray | None = None,
) -> tuple[NumpyArray, ...]:
    """Fold the last dimension of arrays together, beginning with a value each.

    Elements that are not inside are left out.
    """
    if inside is not None:
        # Whether a number stands for elements or for none is folded with it.
        found = fold(_among(combine), [inside, *lines], [np.array(True), *starts])
        return found[1:]
    shape, count = lines[0].shape[:-1], lines[0].shape[-1]
    state = tuple([np.broadcast_to(start, shape) for start in starts])
    if count <= _IN_ORDER:
        # Brought to the front, what is combined at once lies together.
        for row in zip(*[np.ascontiguousarray(np.moveaxis(x, -1, 0)) for x in lines], strict=True):
            state = combine(*state, *row)
        return state
    parts = list(lines)
    while parts[0].shape[-1] > 1:
        even = parts[0].shape[-1] // 2 * 2
        firsts, seconds = [x[..., 0:even:2] for x in parts], [x[..., 1:even:2] for x in parts]
        rest = [x[..., even:] for x in parts]
        joined = combine(*firsts, *seconds)
        parts = [np.concatenate(pair, axis=-1) for pair in zip(joined, rest, strict=True)]
    return combine(*state, *[x[..., 0] for x in parts])


def _among(combine: Callable[..., tuple[NumpyArray, ...]]) -> Callable[..., tuple[NumpyArray, ...]]:
    """Return what combines elements that are there with others that may not be."""

    def joined(*values: NumpyArray) -> tuple[NumpyArray, ...]:
        half = len(values) // 2
        (first, *firsts), (second, *seconds) = values[:half], values[half:]
        both = zip(combine(*firsts, *seconds), firsts, seconds, strict=True)
        chosen = [np.where(first & second, new, np.where(first, x, y)) for new, x, y in both]
        return (first | second, *chosen)

    return joined


FOLDS: Final[dict[str, Evaluator]] = {"reduce": _reduce}
"""The one evaluator that folds whole dimensions."""
