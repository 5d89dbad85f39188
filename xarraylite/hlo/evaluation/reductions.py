"""Reductions: folds of arrays, and of everything that slides or lies in windows.

A combiner that is one operation of its two parameters is recognised, and the fold is the
package's own: lazy, fused with what is folded, sums pairwise.  Any other computation is applied
to many elements at a time: in the order of the elements where they are few, pairwise where they
are many. XLA leaves the order open and asks that the computation be associative.  What JAX makes of
``argmax`` and ``argmin`` is recognised too: its numbers need not be made then, so it is given its
elements alone (`sites`).

Under windows that slide, the array is padded and its elements are set apart first; then a window
is a view, `sliding`, whose strides overlap.  XLA folds only those elements that are inside, and the
value that a fold begins with once.  A fold by a known operation is the package's own over that
view, whose padding is neutral to it; sums and others that grow along a line (``cumsum``) are
accumulated instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from ...dtypes.info import bounds
from ...dtypes.names import NumpyArray
from ...functions import reducers
from ..instruction import HloComputation, HloInstruction
from ..opcodes import by_opcode
from ..values import WindowDimension, window_of
from .elementwise import ELEMENTWISE
from .moves import broadcast, pad
from .values import Evaluator, Runner, Value, array, container, packed

#: Most elements that an unknown computation folds one after the other.
_IN_ORDER: Final = 256

FOLDED: Final = {
    ("add", "num"): "sum", ("multiply", "num"): "prod", ("maximum", "num"): "max",
    ("minimum", "num"): "min", ("and", "bool"): "all", ("or", "bool"): "any",
    ("maximum", "bool"): "any", ("minimum", "bool"): "all", ("add", "bool"): "any",
    ("multiply", "bool"): "all",
}  # fmt: skip
#: What combines numbers, by the operation that a computation is.
UFUNCS: Final[dict[str, Any]] = {
    "add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
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
    name = "max" if _extreme(instruction.to_apply) == "GT" else "min"
    found, place = [getattr(reducers, fold)(x, axis=axis) for fold in (name, f"arg{name}")]
    return found.astype(value.dtype), place.astype(number.dtype)


def neutral(name: str, dtype: np.dtype[Any]) -> NumpyArray:
    """Return what changes nothing that an operation combines it with."""
    if name in ("add", "multiply"):
        return np.asarray(int(name == "multiply"), dtype)
    return np.asarray(bounds(dtype)[name == "minimum"]).astype(dtype)


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
        name, (x, start) = combiner(instruction.to_apply), operands
        if (name, _family(instruction)) in FOLDED:
            return _known(run, instruction, x, start)
        if name in ("and", "or", "xor") and x.size:
            values = UFUNCS[name].reduce(array(x), axis=axes) if axes else array(x)
            return ELEMENTWISE[name](run, instruction, container(values), start)
    values, starts = [array(x) for x in operands[:half]], [array(x) for x in operands[half:]]
    rank = values[0].ndim
    kept = [axis for axis in range(rank) if axis not in axes]
    turned = [x.transpose([*kept, *axes]) for x in values]
    shape = tuple([values[0].shape[axis] for axis in kept])
    lines = [x.reshape((*shape, math.prod(x.shape[len(kept) :]))) for x in turned]
    return packed(instruction, fold(run.batched(instruction.to_apply), lines, starts))


def _known(run: Runner, instruction: HloInstruction, x: Value, start: Value) -> Value:
    """Fold by one of the package's reducers, and combine with the first value."""
    name, axes = combiner(instruction.to_apply), instruction.get("dimensions")
    sizes = tuple([size for axis, size in enumerate(x.shape) if axis not in axes])
    if any([x.shape[axis] == 0 for axis in axes]):
        return broadcast(start, (), sizes)
    found = _folded(FOLDED[name, _family(instruction)], x, axes) if axes else x
    return ELEMENTWISE[name](run, instruction, found, start)


def _folded(name: str, x: Value, axes: tuple[int, ...]) -> Value:
    """Fold some dimensions by one of the package's reducers; sums have the type of elements."""
    options = {"dtype": x.dtype} if name in ("sum", "prod") else {}
    return getattr(reducers, name)(x, axis=axes, **options)


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


def sliding(values: NumpyArray, window: Sequence[WindowDimension]) -> NumpyArray:
    """Return a view of padded values: a dimension per place of the window, then one per element.

    Parameters
    ----------
    values : numpy.ndarray
        Padded and set apart; as many dimensions as the window.
    window : sequence of WindowDimension
        Sizes, strides and dilation.

    Returns
    -------
    numpy.ndarray
        Read-only, of rank twice that of the window.
    """
    places, strides = [], []
    for size, stride, part in zip(values.shape, values.strides, window, strict=True):
        places.append(part.places(size))
        strides.append(stride * part.stride)
    dilation = [part.window_dilation for part in window]
    inner = [stride * far for stride, far in zip(values.strides, dilation, strict=True)]
    shape = (*places, *[part.size for part in window])
    return np.lib.stride_tricks.as_strided(values, shape, (*strides, *inner), writeable=False)


def set_apart(x: Value, filler: object, window: Sequence[WindowDimension]) -> NumpyArray:
    """Pad x as a window says, with elements set apart by its base dilation."""
    value = container(np.asarray(filler, getattr(filler, "dtype", x.dtype)))
    return array(pad(x, value, [part.padding for part in window]))


def _growing_axis(window: Sequence[WindowDimension], shape: tuple[int, ...]) -> int | None:
    """The dimension along which a window covers all elements up to a place, if it is such a one."""
    plain = WindowDimension(1)
    axes = [axis for axis, part in enumerate(window) if part != plain]
    if len(axes) != 1:
        return None
    (axis,) = axes
    size = shape[axis]
    forwards = WindowDimension(size, padding_low=size - 1)
    backwards = WindowDimension(size, padding_high=size - 1)
    return axis if window[axis] in (forwards, backwards) and size > 1 else None


def _reduce_window(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    half = len(operands) // 2
    # Along a dynamic dimension XLA has as many places as without padding, the first ones.
    shape = instruction.operands[0].shape
    told = zip(window_of(instruction, shape.rank), shape.dynamic, strict=True)
    window = [w._replace(padding_high=-w.padding_low) if flag else w for w, flag in told]
    x, start = operands[0], operands[-1]
    known = _known_window(run, instruction, x, start, window) if half == 1 else None
    if known is not None:
        return known
    starts = [array(start) for start in operands[half:]]
    lines = [_lines(x, start, window) for x, start in zip(operands, starts, strict=False)]
    inside = None
    if any([w.padding_low or w.padding_high or w.base_dilation > 1 for w in window]):
        inside = _lines(container(np.ones(operands[0].shape, bool)), False, window)
    found = fold(run.batched(instruction.to_apply), lines, starts, inside)
    return packed(instruction, found)


def _lines(x: Value, filler: object, window: Sequence[WindowDimension]) -> NumpyArray:
    """Return the elements of each place of a window along the last dimension."""
    view = sliding(set_apart(x, filler, window), window)
    return view.reshape((*view.shape[: x.ndim], math.prod([w.size for w in window])))


def _known_window(
    run: Runner,
    instruction: HloInstruction,
    x: Value,
    start: Value,
    window: Sequence[WindowDimension],
) -> Value | None:
    """Fold by a known operation; None for another one."""
    name = combiner(instruction.to_apply)
    element = instruction.shape.element_type
    if (name, "num") not in FOLDED or element.name == "pred" or element.is_complex or not x.size:
        return None
    axis = _growing_axis(window, x.shape)
    if axis is not None and element.bits >= 32:
        backwards = bool(window[axis].padding_high)
        values = np.flip(array(x), axis) if backwards else array(x)
        grown = UFUNCS[name].accumulate(values, axis=axis, dtype=values.dtype)
        found = container(np.flip(grown, axis) if backwards else grown)
    else:
        view = container(sliding(set_apart(x, neutral(name, x.dtype), window), window))
        if 0 in view.shape:
            return container(np.zeros(view.shape[: x.ndim], x.dtype))
        found = _folded(FOLDED[name, "num"], view, tuple(range(x.ndim, 2 * x.ndim)))
    return ELEMENTWISE[name](run, instruction, found, start)


def _select_and_scatter(
    run: Runner, instruction: HloInstruction, x: Value, source: Value, start: Value
) -> Value:
    """Add each element of the source to the place in its window that a computation selects."""
    select, scatter = [run.batched(part) for part in instruction.called_computations]
    window = window_of(instruction, x.ndim)
    given = array(source)
    numbers = container(np.arange(x.size).reshape(x.shape))
    room = tuple([slice(0, size) for size in given.shape])
    values, places = _lines(x, 0, window)[room], _lines(numbers, -1, window)[room]
    best, place = values[..., 0], places[..., 0]
    for k in range(1, values.shape[-1]):
        (keep,) = select(best, values[..., k])
        keep = (keep & (place >= 0)) | (places[..., k] < 0)
        best = np.where(keep, best, values[..., k])
        place = np.where(keep, place, places[..., k])
    made = np.full(x.size, array(start)[()], x.dtype)
    scatter_rounds(scatter, [made], place.reshape(-1), [given.reshape(-1)])
    return container(made.reshape(x.shape))


def scatter_rounds(
    combine: Any, made: Sequence[NumpyArray], places: NumpyArray, updates: Sequence[NumpyArray]
) -> None:
    """Combine updates into flat arrays, those of one place in order; negative places are skipped.

    Updates are sorted by place, and the k-th ones of all places are combined at once.
    """
    order = np.argsort(places, kind="stable")
    order = order[np.searchsorted(places[order], 0) :]
    if not len(order):
        return
    sorted_places = places[order]
    first = np.flatnonzero(np.r_[True, sorted_places[1:] != sorted_places[:-1]])
    lengths = np.diff(np.r_[first, len(order)])
    for k in range(int(lengths.max())):
        first, lengths = first[lengths > k], lengths[lengths > k]
        here = order[first + k]
        target = places[here]
        results = combine(*[x[target] for x in made], *[x[here] for x in updates])
        for x, result in zip(made, results, strict=True):
            x[target] = result


#: Evaluators of folds of whole dimensions and of windows.
REDUCTIONS: Final[dict[str, Evaluator]] = by_opcode(_reduce, _reduce_window, _select_and_scatter)
