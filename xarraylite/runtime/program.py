"""What a kind's programs are, for those who only run them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any

from .._records import record
from ..ir.kind import Kind

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
