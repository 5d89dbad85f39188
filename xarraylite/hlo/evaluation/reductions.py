"""Reductions: folds of arrays, and of everything that slides or lies in windows.

A combiner that is one operation of its two parameters is recognised, and the fold is the
package's own: lazy, fused with what is folded, sums pairwise.  Any other computation is applied
to many elements at a time: in the order of the elements where they are few, pairwise where they
are many. XLA leaves the order open and asks that the computation be associative.  What JAX makes of
``argmax`` and ``argmin`` is recognised too: its numbers need not be made then, so it is given its
elements alone (`sites`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...dtypes.info import finfo
from ...dtypes.names import NumpyArray, kind
from ...dtypes.promotion import int_bounds
from ...functions import reducers
from ..instruction import HloComputation, HloInstruction
from .elementwise import ELEMENTWISE
from .moves import broadcast
from .values import Evaluator, Runner, Value, array, container, packed

_IN_ORDER: Final = 256
"""Most elements that an unknown computation folds one after the other."""

FOLDED: Final = {
    ("add", "num"): "sum", ("multiply", "num"): "prod", ("maximum", "num"): "max",
    ("minimum", "num"): "min", ("and", "bool"): "all", ("or", "bool"): "any",
    ("maximum", "bool"): "any", ("minimum", "bool"): "all", ("add", "bool"): "any",
    ("multiply", "bool"): "all",
}  # fmt: skip
UFUNCS: Final[dict[str, Any]] = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
"""What combines numbers, by the operation that a computation is."""


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
    return root.opcode if root.opcode in UFUNCS else ""


@lru_cache(maxsize=256)
def _extreme(computation: HloComputation) -> str:
    """Return whether a computation keeps the greater (GT) or the smaller (LT) of two elements.

    Each has its number, which is kept with it; of equal elements the first one is kept, and NaN
    before everything else.  So does JAX fold for ``argmax`` and ``argmin``.
    """
    if len(computation.instructions) > 16:
        return ""
    found: dict[HloInstruction, Any] = {}
    for instruction in computation.instructions:
        given = tuple([found[operand] for operand in instruction.operands])
        if instruction.opcode == "parameter":
            found[instruction] = instruction.parameter_number
        elif instruction.opcode == "compare":
            total = instruction.get("type") == "TOTALORDER"
            found[instruction] = ("" if total else instruction.get("direction"), *given)
        else:
            found[instruction] = (instruction.opcode, *given)
    for direction in ("GT", "LT"):
        better = (direction, 0, 2)
        for first in (better, ("or", better, ("NE", 0, 0))):
            tie = ("and", ("EQ", 0, 2), ("LT", 1, 3))
            kept = ("select", first, 0, 2), ("select", ("or", first, tie), 1, 3)
            if found[computation.root] == ("tuple", *kept):
                return direction
    return ""


def is_place_of_extreme(instruction: HloInstruction) -> bool:
    """Whether an instruction finds the extremes along a dimension and where they are.

    It folds elements with their numbers, from the value that no element is beyond.
    """
    if instruction.opcode != "reduce" or len(instruction.operands) != 4:
        return False
    axes, direction = instruction.get("dimensions"), _extreme(instruction.to_apply)
    elements, numbers, start, zero = instruction.operands
    shape = elements.shape
    if not direction or len(axes) != 1 or any(shape.dynamic) or not shape.dimensions[axes[0]]:
        return False
    if start.opcode != "constant" or zero.opcode != "constant" or zero.literal.values != 0:
        return False
    least: Any = start.literal.values
    if least != neutral("maximum" if direction == "GT" else "minimum", least.dtype):
        return False
    axis: Any = axes[0]
    if numbers.opcode == "broadcast" and numbers.get("dimensions") == axes:
        numbers, axis = numbers.operands[0], 0
    return numbers.opcode == "iota" and numbers.get("iota_dimension") == axis


def _place_of_extreme(instruction: HloInstruction, x: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    value, number = instruction.shape.tuple_shapes
    if _extreme(instruction.to_apply) == "GT":
        found, place = reducers.max(x, axis=axis), reducers.argmax(x, axis=axis)
    else:
        found, place = reducers.min(x, axis=axis), reducers.argmin(x, axis=axis)
    return found.astype(value.dtype), place.astype(number.dtype)


def neutral(name: str, dtype: np.dtype[Any]) -> NumpyArray:
    """Return what changes nothing that an operation combines it with."""
    if name in ("add", "multiply"):
        return np.asarray(int(name == "multiply"), dtype)
    sign = -1 if name == "maximum" else 1
    if kind(dtype) in "iu":
        return np.asarray(int_bounds(dtype)[int(sign > 0)], dtype)
    if kind(dtype) == "b":
        return np.asarray(sign > 0)
    # The largest number, where there is no infinity.
    infinite = np.asarray(sign * np.inf).astype(dtype)
    return infinite if infinite == infinite else np.asarray(sign * finfo(dtype).max, dtype)


def _family(instruction: HloInstruction) -> str:
    return "bool" if instruction.shape.element_type.name == "pred" else "num"


def is_fused_reduction(instruction: HloInstruction) -> bool:
    """Whether an instruction folds its first operand lazily."""
    if instruction.opcode != "reduce" or len(instruction.operands) != 2:
        return False
    key = combiner(instruction.to_apply), _family(instruction)
    return key in FOLDED and not instruction.shape.element_type.is_complex


def _reduce(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    half = len(operands) // 2
    axes = instruction.get("dimensions")
    if not half:
        return _place_of_extreme(instruction, *operands)
    if half == 1:
        key = combiner(instruction.to_apply), _family(instruction)
        x, start = operands
        if key in FOLDED:
            return _known(run, instruction, key, x, start, axes)
        if key[0] in ("and", "or", "xor") and x.size:
            values = UFUNCS[key[0]].reduce(array(x), axis=axes) if axes else array(x)
            return ELEMENTWISE[key[0]](run, instruction, container(values), start)
    values, starts = [array(x) for x in operands[:half]], [array(x) for x in operands[half:]]
    rank = values[0].ndim
    kept = [axis for axis in range(rank) if axis not in axes]
    turned = [x.transpose([*kept, *axes]) for x in values]
    shape = tuple([values[0].shape[axis] for axis in kept])
    lines = [x.reshape((*shape, math.prod(x.shape[len(kept) :]))) for x in turned]
    return packed(instruction, fold(run.batched(instruction.to_apply), lines, starts))


def _known(
    run: Runner,
    instruction: HloInstruction,
    key: tuple[str, str],
    x: Value,
    start: Value,
    axes: tuple[int, ...],
) -> Value:
    """Fold by one of the package's reducers, and combine with the first value."""
    name = FOLDED[key]
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
