"""One application of an operation, as the rules of shapes see it.

A rule is a function of a `Call` that returns the shape of the result, or None where it does not
follow.  What is wrong it says by `Call.require`, which names operation and operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, TypeAlias

from ..._errors import HloError
from ..._records import record
from ...dtypes.element_types import element_type
from ...layout.layout import Layout
from ...xla.spec import ArraySpec
from ..instruction import HloComputation
from ..text.attributes import DEFAULTS


@record(frozen=True, slots=True, eq=False)
class Call:
    """An operation, the shapes of its operands, and the rest that decides its result.

    Attributes
    ----------
    opcode : str
        The operation.
    shapes : tuple of ArraySpec
        Shapes of the operands.
    attributes : mapping
        Its attributes.
    called : tuple of HloComputation
        What it calls.
    result : ArraySpec or None
        Shape that the result is said to have, where it is said.
    """

    opcode: str
    shapes: tuple[ArraySpec, ...]
    attributes: Mapping[str, Any]
    called: tuple[HloComputation, ...] = ()
    result: ArraySpec | None = field(default=None)

    def get(self, name: str) -> Any:
        """Return an attribute, or what is taken for granted."""
        value = self.attributes.get(name)
        return DEFAULTS.get(name) if value is None else value

    def ints(self, name: str) -> tuple[int, ...]:
        """Return an attribute that is a list of integers, empty where there is none."""
        value: tuple[int, ...] = self.attributes.get(name, ())
        return value

    def require(self, truth: bool, rule: str) -> None:
        """Raise unless a rule holds.

        Raises
        ------
        HloError
            With the operation, the shapes of its operands, and the rule.
        """
        if not truth:
            shown = ", ".join([shape.human_string() for shape in self.shapes])
            raise HloError(f"{self.opcode}({shown}): {rule}")

    def count(self, wanted: int) -> None:
        """Check the number of operands."""
        found = len(self.shapes)
        self.require(found == wanted, f"{found} operands; expected {wanted}")

    def said(self) -> ArraySpec:
        """Return what the result is said to be, where its shape follows from nothing else.

        Raises
        ------
        Unsaid
            If nothing is said.
        """
        if self.result is None:
            raise Unsaid
        return self.result

    def said_array(self) -> ArraySpec:
        """Return what the result is said to be, which has to be an array; see `said`."""
        result = self.said()
        self.require(result.is_array, "gives an array")
        return result

    def one_dimension(self, rank: int, name: str = "dimensions") -> int:
        """Return the dimension below a rank that an attribute names."""
        named = self.ints(name)
        self.require(len(named) == 1 and 0 <= named[0] < rank, f"{name} names one of them")
        return named[0]

    def number(self, name: str, end: int, rule: str) -> int:
        """Return an attribute that is a number from 0 up to an end, which a rule says in words."""
        number: int = self.get(name)
        self.require(0 <= number < end, f"{name}={number} {rule}")
        return number

    def paired(
        self, first: ArraySpec, second: ArraySpec, names: tuple[str, str]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return dimensions of two operands that belong together, of the same sizes."""
        ours, theirs = self.distinct(names[0], first.rank), self.distinct(names[1], second.rank)
        self.require(len(ours) == len(theirs), f"as many {names[0]} as {names[1]}")
        for a, b in zip(ours, theirs, strict=True):
            self.require(
                first.dimensions[a] == second.dimensions[b],
                f"{names[0]} {a} has the size of {names[1]} {b}",
            )
        return ours, theirs

    def alike(self, shapes: Iterable[ArraySpec]) -> tuple[int, ...]:
        """Check that arrays have the same dimensions; return these."""
        dimensions, *others = [shape.dimensions for shape in shapes]
        same = all([other == dimensions for other in others])
        self.require(same, "operands have the same dimensions")
        return dimensions

    def same_type(self, shapes: Iterable[ArraySpec]) -> None:
        """Check that arrays have the same element type."""
        kinds = {shape.element_type for shape in shapes}
        self.require(len(kinds) == 1, "operands have the same element type")

    def distinct(self, name: str, rank: int) -> tuple[int, ...]:
        """Return dimensions that an attribute names, which are below a rank, each once."""
        listed = self.ints(name)
        fits = len(set(listed)) == len(listed) and all([0 <= d < rank for d in listed])
        self.require(
            fits,
            f"{name}={{{','.join(map(str, listed))}}} are not dimensions below {rank}, each once",
        )
        return listed

    def computation(self, position: int = 0) -> HloComputation:
        """Return one of the called computations."""
        self.require(position < len(self.called), "calls a computation")
        return self.called[position]

    def signature(
        self, position: int, parameters: Iterable[ArraySpec], result: ArraySpec | None, what: str
    ) -> HloComputation:
        """Check what a called computation takes and gives.

        Element types of floating point may differ in precision, as they do in mixed programs.
        """
        callee = self.computation(position)
        wanted = tuple(parameters)
        found = tuple([parameter.shape for parameter in callee.parameters])
        shown = ", ".join([shape.human_string() for shape in wanted])
        got = ", ".join([shape.human_string() for shape in found])
        fits = len(found) == len(wanted) and all(
            [similar(a, b) for a, b in zip(found, wanted, strict=True)]
        )
        self.require(fits, f"{what} {callee.name} takes ({got}); expected ({shown})")
        gives = callee.root.shape
        self.require(
            result is None or similar(gives, result),
            f"{what} {callee.name} gives {gives.human_string()}; "
            f"expected {result.human_string() if result is not None else ''}",
        )
        return callee


class Unsaid(Exception):
    """The shape of a result follows from what it is said to be alone, and that is not said."""


Rule: TypeAlias = Callable[[Call], "ArraySpec | None"]


def first_operand(call: Call) -> ArraySpec:
    """Give a result the shape of the first operand."""
    return call.shapes[0]


def similar(first: ArraySpec, second: ArraySpec) -> bool:
    """Whether one may stand for the other where precisions may differ."""
    return first is second or first.compatible_ignoring_fp_precision(second)


#: Returns an array in the default layout.
array = ArraySpec.make_shape


def one_or_tuple(shapes: Sequence[ArraySpec]) -> ArraySpec:
    """Return the only shape, or the tuple of several."""
    return shapes[0] if len(shapes) == 1 else ArraySpec.tuple(shapes)


def scalar(shape: ArraySpec) -> ArraySpec:
    """Return a scalar of a shape's element type."""
    return array(shape.element_type, ())


def with_dimensions(
    shape: ArraySpec,
    dimensions: Iterable[int],
    kind: object = None,
    dynamic: Iterable[bool] | None = None,
) -> ArraySpec:
    """Return an array of other sizes or another type in the layout of a shape of equal rank."""
    sizes = tuple(dimensions)
    flags = shape.dynamic if dynamic is None else tuple(dynamic)
    layout = shape.layout
    made = element_type(kind) if kind is not None else shape.element_type
    if layout is not None and layout.element_size_in_bits and made is not shape.element_type:
        layout = Layout.row_major(len(sizes))
    return ArraySpec(made, sizes, layout, dynamic=flags)
