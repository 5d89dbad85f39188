"""Values while a program runs: lazy expressions, containers, tuples of values.

A token is the empty tuple.  Scalars that constants give are lazy, so they become immediate
operands of kernels.  What evaluators need from whoever runs them stands in `Runner`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from ..._errors import HloError
from ...arrays.adapt import adapt
from ...arrays.container import XContainer
from ...arrays.evaluation import eval_
from ...arrays.expression import XExpression, apply
from ...arrays.xarray import XArray
from ...assignment import readers, results
from ...assignment.elements import array_of
from ...dtypes.element_types import ElementType
from ...dtypes.names import NumpyArray, as_dtype
from ...ir.kind import NODE, Kind, row_major
from ...ir.node import Scalar
from ...layout.strided import ROW_MAJOR
from ...memory.buffer import Buffer
from ...memory.snapshots import ALONE
from ...operands.nodes import as_node
from ...ops.table import OPS
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from .devices import Seat

#: An expression, a container, or a tuple of values.
Value: TypeAlias = Any

TOKEN: Final = ()


class Runner(Protocol):
    """Runs computations for the evaluators of operations that call some."""

    devices: Seat
    module: str
    """Name of the program."""

    @property
    def random(self) -> np.random.Generator:
        """What gives random numbers whose algorithm is left open."""

    def step_random(self, delta: int) -> int:
        """Return the state of the program's random numbers, and move it on."""

    def call(self, computation: HloComputation, arguments: list[Value]) -> Value:
        """Return what a computation makes of arguments; the list is emptied."""

    def trip(self, loop: HloInstruction, state: Value) -> Callable[[list[Value]], Value]:
        """Return what a trip of a loop that begins with a state does; it empties its list."""

    def part(self, root: HloInstruction, given: dict[int, NumpyArray]) -> NumpyArray:
        """Return one instruction of a computation of scalars, element by element."""

    def batched(self, computation: HloComputation) -> Callable[..., tuple[NumpyArray, ...]]:
        """Return a function on arrays that applies a computation of scalars element by element."""


#: Takes the runner, the instruction and the operands' values.
Evaluator: TypeAlias = Callable[..., Value]


def same(run: Runner, instruction: HloInstruction, x: Value, *others: Value) -> Value:
    """Give the first operand."""
    return x


def taken(index: int) -> Evaluator:
    """Return what gives an element of a tuple."""
    return lambda run, instruction, whole: whole[index]


def array(value: Value) -> NumpyArray:
    """Return a value's elements as a NumPy array, which must not be written to."""
    if isinstance(value, np.ndarray):
        return value
    known = value if isinstance(value, XContainer) else eval_(value)
    return known.numpy()


def read(value: Value) -> NumpyArray:
    """Return a value's elements for an evaluator that keeps no view of them.

    Unlike those that `array` gives, they leave the container alone with its memory.
    """
    if isinstance(value, np.ndarray):
        return value
    known = value if isinstance(value, XContainer) else eval_(value)
    return known.numpy() if known._kind is NODE else array_of(known)


def integer(value: Value) -> int:
    """Return the only element of an array of integers."""
    if isinstance(value, XContainer):
        return int(value.item())
    node = value.node
    number: Any = node.value if isinstance(node, Scalar) else array(value)[()]
    return int(number)


def container(values: Any, kind: Kind | None = None) -> XContainer:
    """Return a NumPy array as a container over the same memory; its kind may be known."""
    plain = values if values.__class__ is np.ndarray else np.asarray(values)
    flags = plain.flags
    if flags.c_contiguous and flags.aligned and plain.size:
        # What `adapt` finds out is known, and it costs much where many values are small.
        buffer = Buffer.of_array(plain, plain)
        if kind is None:
            kind = row_major(as_dtype(plain.dtype), plain.ndim)
        return results.container(XArray, kind, plain.shape, buffer, ROW_MAJOR)
    if 0 in plain.strides and flags.writeable:
        # Stretched: elements that stand at several places may be read only.
        plain = plain.view()
        plain.flags.writeable = False
    return adapt(plain)


def packed(
    instruction: HloInstruction, made: Sequence[NumpyArray], over: Sequence[Value] = ()
) -> Value:
    """Return arrays as an instruction's result; the first ones are in the memory of containers."""
    found = [*over, *map(container, made[len(over) :])]
    return tuple(found) if instruction.shape.is_tuple else found[0]


def constant(values: NumpyArray) -> XExpression:
    """Return a constant: an immediate operand, or memory that nobody may write to."""
    return XExpression(as_node(values[()], "constant")) if not values.ndim else adapt(values)


def stored(value: Value) -> Value:
    """Return a value in memory; tuples' elements are."""
    if isinstance(value, tuple):
        return tuple([stored(element) for element in value])
    return value if isinstance(value, XContainer) else eval_(value)


def is_alone(values: list[Value], k: int = 0) -> bool:
    """Whether a list alone holds one of its values, a container that alone has its memory.

    Counted twice: on free-threaded builds one count may miss a reference that threads hand on.
    """
    for _ in range(2):
        if not isinstance(values[k], XArray) or sys.getrefcount(values[k]) > ALONE:
            return False
        if sys.getrefcount(values[k]._buffer) > ALONE:
            return False
    buffer = values[k]._buffer
    return not (buffer.shared or buffer.kept or readers.waiting_for(buffer))


def op(name: str, *operands: object) -> XExpression:
    """Return the lazy application of an operation of the one table."""
    return apply(OPS[name], *operands)


def dtype_of(kind: ElementType, instruction: HloInstruction) -> np.dtype[Any]:
    """Return the dtype that elements of a type have here.

    Raises
    ------
    HloError
        If there is none.
    """
    if kind.dtype is None:
        raise HloError(
            f"{instruction.opcode}: elements of type {kind.name} cannot be evaluated",
            instruction=instruction.name,
        )
    return np.dtype(kind.dtype)


def result_dtype(instruction: HloInstruction) -> np.dtype[Any]:
    """Return the dtype of an instruction's result, which is an array."""
    return dtype_of(instruction.shape.element_type, instruction)


def fits(shape: tuple[int, ...], spec: ArraySpec) -> bool:
    """Whether an array of a shape can be one of a spec, whose dynamic sizes are bounds."""
    return len(shape) == spec.rank and all(
        [
            size == bound or (flag and size < bound)
            for size, bound, flag in zip(shape, spec.dimensions, spec.dynamic, strict=True)
        ]
    )


def refuse(instruction: HloInstruction, why: str) -> HloError:
    """Return the error that an instruction cannot be evaluated."""
    shapes = ", ".join([str(operand.shape) for operand in instruction.operands])
    return HloError(f"{instruction.opcode}({shapes}): {why}", instruction=instruction.name)
