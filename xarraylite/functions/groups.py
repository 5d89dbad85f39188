"""What a reduction folds together: elements along axes, or rows of a jagged array.

Every reducer is written once, in terms of four questions that a group answers: how to fold, how
many elements each group has, how to bring a result back to the elements it came from, and where
an element stands in its group.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import (
    TYPE_CHECKING,
    Concatenate,
    Final,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeGuard,
    TypeVar,
    cast,
    overload,
)

from .._errors import ShapeError
from .._later import lazy
from .._records import record
from ..arrays.expression import XExpression
from ..dtypes.names import DType, int64
from ..index.broadcast import check_axes
from ..ir import build
from ..ir.node import Iota, Node
from ..layout.strided import Strided, row_major_strides
from ..operands.nodes import Lifted, as_node, as_operand
from ..ops.reductions import Reduction
from .copied import at_once

if TYPE_CHECKING:
    from ..jagged.lazy import XJaggedExpression

Axis: TypeAlias = "SupportsIndex | Iterable[SupportsIndex] | None"

#: What functions of lazy arrays return.
Lazy: TypeAlias = "XExpression | XJaggedExpression"

A = TypeVar("A", contravariant=True)
P = ParamSpec("P")

#: What a reduction without an identity says of groups without elements.
GIVE_INITIAL: Final = "; give initial="


class TakesJagged(Protocol[A, P]):
    """A function whose results are jagged, if at all, where its first argument is."""

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        x: XJaggedExpression | Sequence[XJaggedExpression],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Lazy: ...

    @overload
    def __call__(self, x: A, /, *args: P.args, **kwargs: P.kwargs) -> XExpression: ...


def takes_jagged(function: Callable[Concatenate[A, P], Lazy]) -> TakesJagged[A, P]:
    """Return the function itself, with a type that says when its results are jagged."""
    return cast("TakesJagged[A, P]", function)


def is_jagged(x: object) -> TypeGuard[XJaggedExpression]:
    """Tell whether an operand is a jagged array; its room is imported where one may be."""
    return isinstance(x, Lifted) and isinstance(x, lazy.XJaggedExpression)


def any_jagged(arrays: Sequence[object]) -> bool:
    """Tell whether there is a jagged array among some."""
    return any([is_jagged(x) for x in arrays])


@record(frozen=True, slots=True)
class Axes:
    """Groups of elements that are folded: along axes of a dense array.

    Attributes
    ----------
    shape : tuple of int
        Shape of the array.
    axes : tuple of int
        The axes that are folded.
    keepdims : bool
        Whether these stay, with extent 1.
    """

    shape: tuple[int, ...]
    axes: tuple[int, ...]
    keepdims: bool

    @property
    def largest(self) -> int:
        """Number of elements of the largest group: here of every one."""
        return math.prod([self.shape[axis] for axis in self.axes])

    @property
    def empty(self) -> str:
        """Which group is the first without elements, in words: the axes; "" if there is none.

        They are named also if there are no groups.
        """
        return "" if self.largest else f"axis {self.axes} has no elements"

    def fold(self, op: Reduction, node: Node, initial: object = None) -> Node:
        """Return each group of ``node`` folded, ``initial`` included.

        Raises
        ------
        ShapeError
            If a group is empty and neither ``op`` nor the caller says what it folds to.
        """
        if op.identity is None and initial is not None and self.empty:
            shape = build.folded(self.shape, self.axes, self.keepdims)
            first = build.convert(as_operand(initial, op.name), node.dtype)
            return build.broadcast_to(first, shape)
        made = at_once(node, op, self.axes, self.keepdims)
        made = build.reduce(op, node, self.axes, self.keepdims) if made is None else made
        return with_initial(op, made, initial)

    def kept(self) -> Axes:
        """Return the groups with results that `back` takes: as one value, they broadcast."""
        return replace(self, keepdims=len(self.axes) < len(self.shape))

    def back(self, folded: Node) -> Node:
        """Return for each element the result of its group, in a shape that broadcasts."""
        return folded

    def count(self, dtype: DType, less: float = 0.0) -> build.Operand:
        """Return how many elements each group has, ``less`` subtracted, at least 0."""
        return float(max(self.largest - less, 0))

    def places(self, shape: tuple[int, ...]) -> Node:
        """Return for each element its number in its group, int64: row-major along the axes."""
        strides = row_major_strides([shape[k] for k in self.axes])
        full = [0] * len(shape)
        for k, stride in zip(self.axes, strides, strict=True):
            full[k] = stride
        return Iota(shape, int64, Strided(shape, tuple(full)))

    def wrap(self, folded: Node) -> XExpression:
        """Return the results as a user gets them."""
        return XExpression(folded)


def dense_groups(x: object, axis: Axis, keepdims: bool, operation: str) -> tuple[Node, Axes]:
    """Return what a reducer folds, along axes of an array.

    Raises
    ------
    AxisError
        For axes out of range.
    """
    node = as_node(x, operation)
    axes = check_axes(of_number(axis, node, operation), len(node.shape), operation)
    return node, Axes(node.shape, axes, keepdims)


#: Reductions that divide by a count, whose axes NumPy checks for numbers too.
_STRICT = frozenset(("mean", "var", "std", "nanvar", "nanstd"))


def of_number(axis: Axis, node: Node, operation: str) -> Axis:
    """Return the axes that are meant: of a number 0 and -1 are none, as in NumPy's reductions."""
    if node.shape or not isinstance(axis, SupportsIndex) or operation in _STRICT:
        return axis
    return () if operator.index(axis) in (0, -1) else axis


def refuse_empty(empty: str, operation: str, node: Node, advice: str = "") -> None:
    """Refuse groups of which one has no elements, for operations that need one.

    Raises
    ------
    ShapeError
        Naming the operation and the first such group.
    """
    if empty:
        raise ShapeError(
            f"{operation}({build.describe(node)}): {empty} and {operation} has no identity{advice}"
        )


def with_initial(op: Reduction, folded: Node, initial: object) -> Node:
    """Return results with one more value folded in, unless it is None."""
    if initial is None:
        return folded
    value = build.convert(as_operand(initial, op.name), folded.dtype)
    return build.elementwise(op.combine, folded, value)
