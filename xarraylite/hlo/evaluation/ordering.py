"""Sorting: by NumPy where a comparator compares one function of both elements, else by a network.

A comparator is a computation of two parameters for each operand.  Where its root compares what the
same instructions make of the first and of the second parameter of an operand, and all of that has
an order (there is no NaN, or a place for it), those are computed once as keys and sorted by NumPy.
Any other one is asked in a bitonic
network, for half of all pairs at a time; equal elements are told apart by their number, so it is
stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ...dtypes.names import NumpyArray
from ..instruction import HloComputation, HloInstruction
from .bits import total_order
from .values import Evaluator, Runner, Value, array, container, packed


def _sort(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    axis = instruction.get("dimensions")[0]
    lines = [np.moveaxis(array(x), axis, -1) for x in operands]
    order = _order(run, instruction.to_apply, lines)
    found = [np.moveaxis(np.take_along_axis(x, order, -1), -1, axis) for x in lines]
    return packed(instruction, [np.ascontiguousarray(x) for x in found])


def _order(run: Runner, comparator: HloComputation, lines: Sequence[NumpyArray]) -> NumpyArray:
    """Return the stable order of elements along the last dimension."""
    number = _compared(comparator)
    keys = None if number is None else _keys(run, comparator, number, lines)
    if keys is None:
        return _network(run.batched(comparator), lines)
    if comparator.root.get("direction") in ("GT", "GE"):
        keys = ~keys
    return np.argsort(keys, axis=-1, kind="stable")


def _keys(
    run: Runner, comparator: HloComputation, number: int, lines: Sequence[NumpyArray]
) -> NumpyArray | None:
    """Return integers in the order of what a comparator compares; None if that has none."""
    side, values = comparator.root.operands[0], lines[number]
    if side.opcode != "parameter":
        # Its left side, as a computation whose other parameters are not asked.
        values = np.broadcast_to(run.part(side, {2 * number: values}), values.shape)
    if side.shape.element_type.is_floating and comparator.root.get("type") != "TOTALORDER":
        if np.isnan(values).any():
            return None
        values = np.where(values == 0, values.dtype.type(0), values)  # both zeros are one
    return total_order(values)


def _compared(comparator: HloComputation) -> int | None:
    """Return the number of the operand that is compared strictly, if that is all."""
    root = comparator.root
    if root.opcode != "compare" or root.get("direction") not in ("LT", "GT"):
        return None
    if root.operands[0].shape.element_type.is_complex:
        return None
    numbers: set[int] = set()
    if not _alike(root.operands[0], root.operands[1], numbers) or len(numbers) != 1:
        return None
    (number,) = numbers
    return number


def _alike(left: HloInstruction, right: HloInstruction, numbers: set[int]) -> bool:
    """Whether two values are the same function of an operand's first and second element."""
    waiting = [(left, right)]
    seen: set[tuple[HloInstruction, HloInstruction]] = set()
    while waiting:
        pair = waiting.pop()
        if pair in seen:
            continue
        seen.add(pair)
        one, other = pair
        if one.opcode == "parameter" and other.opcode == "parameter":
            if other.parameter_number != one.parameter_number + 1 or one.parameter_number % 2:
                return False
            numbers.add(one.parameter_number // 2)
            continue
        same = one.opcode == other.opcode and one.attributes == other.attributes
        if not same or one.shape != other.shape or len(one.operands) != len(other.operands):
            return False
        if one.called_computations or one.opcode == "parameter":
            return False
        waiting += zip(one.operands, other.operands, strict=True)
    return True


def _network(
    less: Callable[..., tuple[NumpyArray, ...]], lines: Sequence[NumpyArray]
) -> NumpyArray:
    """Sort numbers of elements by compare-and-exchange steps, in log2(n) ** 2 / 2 rounds."""
    count = lines[0].shape[-1]
    size = 1 << max(count - 1, 0).bit_length()

    def before(first: NumpyArray, second: NumpyArray) -> NumpyArray:
        """Whether elements come before others, by their numbers; those past the end are last."""
        pairs: list[Any] = []
        for line in lines:
            pairs += [
                np.take_along_axis(line, np.minimum(numbers, count - 1), -1)
                for numbers in (first, second)
            ]
        swapped = [pairs[k ^ 1] for k in range(len(pairs))]
        (ahead,), (behind,) = less(*pairs), less(*swapped)
        ties = (ahead == behind) & (first < second)
        inside = np.where(ahead & ~behind, True, ties)
        return np.where((first < count) & (second < count), inside, first < second)

    order = np.broadcast_to(np.arange(size), (*lines[0].shape[:-1], size)).copy()
    block = 2
    while block <= size:
        step = block // 2
        while step:
            left = np.flatnonzero((np.arange(size) & step) == 0)
            right = left + step
            first, second = order[..., left], order[..., right]
            wrong = before(second, first) == ((left & block) == 0)
            order[..., left] = np.where(wrong, second, first)
            order[..., right] = np.where(wrong, first, second)
            step //= 2
        block *= 2
    return order[..., :count]


def _topk(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    values = array(x)
    largest = instruction.attributes.get("largest", True)
    return top(values, instruction.get("k"), largest)


def top(values: NumpyArray, k: int, largest: bool) -> Value:
    """Return the k largest or smallest elements along the last dimension, and where they are."""
    keys = total_order(values)
    order = np.argsort(~keys if largest else keys, axis=-1, kind="stable")[..., :k]
    found = np.take_along_axis(values, order, -1)
    return container(found), container(order.astype(np.int32))


#: Evaluators of operations that bring elements into an order.
ORDERING: Final[dict[str, Evaluator]] = {"sort": _sort, "topk": _topk}
