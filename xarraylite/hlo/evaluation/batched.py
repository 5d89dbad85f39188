"""Computations of scalars, applied to many elements at a time.

What ``reduce``, ``map``, ``sort`` or ``scatter`` apply to scalars is run once with arrays in their
place: elementwise operations do not care.  Computations in which something else happens (loops and
branches) are run for one element after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import attrgetter
from typing import Final

import numpy as np

from ...dtypes.names import NumpyArray
from ...ir.walk import depth_first
from ..instruction import HloComputation, HloInstruction
from ..nodes import callees_first
from .elementwise import ELEMENTWISE
from .inlining import flatten
from .moves import HEAVY
from .program import Program
from .values import Evaluator, Runner, Value, array, container, same, stored


def _bitcast(run: Runner, instruction: HloInstruction, x: Value) -> Value:
    kinds = instruction.operands[0].shape.element_type, instruction.shape.element_type
    return x if kinds[0] == kinds[1] else HEAVY["bitcast-convert"](run, instruction, x)


def _call(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _program(instruction.to_apply).run(run, list(operands))


_TABLE: Final[dict[str, Evaluator]] = {
    **ELEMENTWISE,
    **{name: HEAVY[name] for name in ("bitcast-convert", "constant")},
    **dict.fromkeys(("broadcast", "copy", "opt-barrier", "reshape", "transpose"), same),
    "bitcast": _bitcast,
    "call": _call,
    "fusion": _call,
}


_PASSED_ON: Final = ("get-tuple-element", "parameter", "tuple")


@lru_cache(maxsize=256)
def _program(computation: HloComputation) -> Program:
    return Program(flatten(computation), _TABLE)


@lru_cache(maxsize=256)
def _is_elementwise(computation: HloComputation) -> bool:
    return all(
        [
            (instruction.opcode in _TABLE or instruction.opcode in _PASSED_ON)
            and not (instruction.shape.is_array and instruction.shape.rank)
            for called in callees_first([computation])
            for instruction in called.instructions
        ]
    )


def batched(run: Runner, computation: HloComputation) -> Callable[..., tuple[NumpyArray, ...]]:
    """Return a function on arrays of one shape that applies a computation to their elements."""

    def together(*arrays: NumpyArray) -> tuple[NumpyArray, ...]:
        shape = np.broadcast_shapes(*[x.shape for x in arrays])
        found = _program(computation).run(run, [container(x) for x in arrays])
        results = found if isinstance(found, tuple) else (found,)
        return tuple([np.broadcast_to(array(stored(result)), shape) for result in results])

    def one_by_one(*arrays: NumpyArray) -> tuple[NumpyArray, ...]:
        wide = np.broadcast_arrays(*arrays)
        shape = wide[0].shape
        made: list[NumpyArray] = []
        for place in np.ndindex(shape):
            found = run.call(computation, [container(x[place]) for x in wide])
            results = [array(part) for part in (found if isinstance(found, tuple) else (found,))]
            made = made or [np.empty(shape, result.dtype) for result in results]
            for whole, result in zip(made, results, strict=True):
                whole[place] = result
        if not made:
            root = computation.root.shape
            specs = root.tuple_shapes if root.is_tuple else (root,)
            made = [np.empty(shape, spec.dtype) for spec in specs]
        return tuple(made)

    return together if _is_elementwise(computation) else one_by_one


def part_of(run: Runner, root: HloInstruction, given: dict[int, NumpyArray]) -> NumpyArray:
    """Return one instruction of a computation of scalars, of arrays for some of its parameters."""
    values: dict[HloInstruction, Value] = {}
    for instruction in depth_first([root], attrgetter("operands")):
        if instruction.opcode == "parameter":
            values[instruction] = container(given[instruction.parameter_number])
        else:
            operands = [values[operand] for operand in instruction.operands]
            values[instruction] = _TABLE[instruction.opcode](run, instruction, *operands)
    return array(stored(values[root]))
