"""Windows that slide over arrays: views with two dimensions for each one, and what folds them.

The array is padded and its elements are set apart first; then a window is a view, `sliding`, whose
strides overlap.  XLA folds only those elements that are inside, and the value that a fold begins
with once.  A fold by a known operation is the package's own over that view, whose padding is
neutral to it; sums and others that grow along a line (``cumsum``) are accumulated instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from ...dtypes.names import NumpyArray
from ...functions import reducers
from ..instruction import HloInstruction
from ..opcodes import by_opcode
from ..values import PadDimension, WindowDimension
from .elementwise import ELEMENTWISE
from .moves import pad
from .reductions import FOLDED, UFUNCS, combiner, fold, neutral
from .values import Evaluator, Runner, Value, array, container, packed


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
        reach = (part.size - 1) * part.window_dilation + 1
        places.append(max(0, (size - reach) // part.stride + 1) if size >= reach else 0)
        strides.append(stride * part.stride)
    dilation = [part.window_dilation for part in window]
    inner = [stride * far for stride, far in zip(values.strides, dilation, strict=True)]
    shape = (*places, *[part.size for part in window])
    return np.lib.stride_tricks.as_strided(values, shape, (*strides, *inner), writeable=False)


def set_apart(x: Value, value: Value, window: Sequence[WindowDimension]) -> Value:
    """Pad x as a window says, with elements set apart by its base dilation."""
    padding = [PadDimension(w.padding_low, w.padding_high, w.base_dilation - 1) for w in window]
    return pad(x, value, padding)


def _window(instruction: HloInstruction, rank: int) -> tuple[WindowDimension, ...]:
    found: tuple[WindowDimension, ...] = instruction.get("window")
    return found or (WindowDimension(1),) * rank


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
    window = _window(instruction, operands[0].ndim)
    if half == 1:
        known = _known(run, instruction, operands[0], operands[1], window)
        if known is not None:
            return known
    starts = [array(start) for start in operands[half:]]
    lines = [_lines(x, start, window) for x, start in zip(operands, starts, strict=False)]
    inside = None
    if any([w.padding_low or w.padding_high or w.base_dilation > 1 for w in window]):
        inside = _lines(container(np.ones(operands[0].shape, bool)), np.array(False), window)
    found = fold(run.batched(instruction.to_apply), lines, starts, inside)
    return packed(instruction, found)


def _lines(x: Value, filler: NumpyArray, window: Sequence[WindowDimension]) -> NumpyArray:
    """Return the elements of each place of a window along the last dimension."""
    view = sliding(array(set_apart(x, container(filler), window)), window)
    return view.reshape((*view.shape[: x.ndim], math.prod([w.size for w in window])))


def _known(
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
        filler = container(neutral(name, x.dtype))
        view = container(sliding(array(set_apart(x, filler, window)), window))
        axes = tuple(range(x.ndim, 2 * x.ndim))
        options = {"dtype": x.dtype} if name in ("add", "multiply") else {}
        if 0 in view.shape:
            return container(np.zeros(view.shape[: x.ndim], x.dtype))
        found = getattr(reducers, FOLDED[name, "num"])(view, axis=axes, **options)
    return ELEMENTWISE[name](run, instruction, found, start)


def _select_and_scatter(
    run: Runner, instruction: HloInstruction, x: Value, source: Value, start: Value
) -> Value:
    """Add each element of the source to the place in its window that a computation selects."""
    select, scatter = [run.batched(part) for part in instruction.called_computations]
    window = _window(instruction, x.ndim)
    values, given = array(x), array(source)
    numbers = np.arange(values.size).reshape(values.shape)
    outside = np.array(-1)
    views = []
    for part, filler in ((values, values.dtype.type(0)), (numbers, outside)):
        apart = array(pad_negative(part, filler, window))
        view = sliding(apart, window)
        places = view[tuple([slice(0, size) for size in given.shape])]
        views.append(places.reshape((*given.shape, math.prod([w.size for w in window]))))
    best, place = views[0][..., 0], views[1][..., 0]
    for k in range(1, views[0].shape[-1]):
        (keep,) = select(best, views[0][..., k])
        keep = (keep & (place >= 0)) | (views[1][..., k] < 0)
        best = np.where(keep, best, views[0][..., k])
        place = np.where(keep, place, views[1][..., k])
    made = np.full(values.size, array(start)[()], values.dtype)
    scatter_rounds(scatter, [made], place.reshape(-1), [given.reshape(-1)])
    return container(made.reshape(values.shape))


def pad_negative(values: NumpyArray, filler: Any, window: Sequence[WindowDimension]) -> Value:
    """Pad an array with a filler."""
    return set_apart(container(values), container(np.asarray(filler, values.dtype)), window)


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


WINDOWS: Final[dict[str, Evaluator]] = by_opcode(_reduce_window, _select_and_scatter)
"""Evaluators of operations with windows."""
