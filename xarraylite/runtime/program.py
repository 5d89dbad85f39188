"""What a kind's programs are, for those who only run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from .._records import record
from ..index.radix import compose
from ..ir.kind import Kind
from ..ir.node import Shape
from ..layout.strided import ROW_MAJOR, row_major_strides

if TYPE_CHECKING:
    from ..codegen.kernel import Kernel


@record(frozen=True, slots=True)
class Direct:
    """A program of one launch.

    Attributes
    ----------
    call : builtin
        ``call(address, shape, *operands)``; None when it is done, False if it refused.
    record : bytes
        What it is made of.
    itemsize : int
        Bytes per element of the result.
    limit : int
        Most elements that are computed, or folded, in one launch.
    folds : bool
        Whether one result is folded; the shape is then that of what is folded, and the first
        operand.
    twins : tuple
        Parts that do the same (`translation.twins`).
    result : Kind
        Of the destination.
    kernel : Kernel
        Kept alive here.
    more : int
        Most elements of another one, which takes longer to make; 0 if there is none.
    long : Kernel or None
        The kernel for many elements, kept alive here.
    """

    call: Callable[..., Any]
    record: bytes = field(repr=False)
    itemsize: int
    limit: int
    folds: bool
    twins: tuple[tuple[slice, slice, int], ...]
    result: Kind
    kernel: Kernel
    more: int = 0
    long: Kernel | None = None


@record(frozen=True, slots=True)
class HostCall:
    """A program of one operation that has no kernel: NumPy is called for few elements.

    Machine code alone runs it (`codegen.cpython.evaluation`); otherwise the kind's plan is.

    Attributes
    ----------
    function : callable
        NumPy's.
    takes : tuple
        For each argument its kind and what computes it, False for memory as it is; or the class of
        NumPy's numbers that it becomes, and None.
    result : Kind
        Of the new memory.
    """

    function: Callable[..., Any]
    takes: tuple[Any, ...]
    result: Kind


@record(frozen=True, slots=True)
class Turned:
    """A program of operands that lie in another order of dimensions than by rows.

    A result lies as they do where they have no gaps: it is that of the same expression with its
    dimensions in that order, by rows.  Where they have gaps it lies by rows.  Extents of 1 may
    leave several orders: the planner knows which.

    Attributes
    ----------
    rows : Direct
        What computes it by rows.
    strides, order : tuple of int
        Strides of operands that may have no gaps, and their dimensions, the farthest apart first;
        none where they always have some.
    turned : Direct
        What computes it in that order.
    policy : object
        The layout of such results.
    """

    rows: Direct
    strides: Shape
    order: Shape
    turned: Direct
    policy: object

    def way(self, shape: Shape) -> tuple[Direct, Shape, object] | None:
        """Return what computes a result of a shape, in which shape, and its layout.

        None where the planner has to say.
        """
        thin = min(shape) < 2
        if thin and len(shape) > 2:
            return None
        turned, near = compose(shape, self.order), compose(self.strides, self.order)
        if thin or not near or near != row_major_strides(turned):
            return self.rows, shape, ROW_MAJOR
        return self.turned, turned, self.policy
