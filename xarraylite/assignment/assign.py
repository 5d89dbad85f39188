"""What assignment means: shapes, casts, read-only memory, pending readers; then the engine.

Three forms, with the rules of design and documentation:

``c.assign(e)``
    The container rule: the container takes the shape of ``e``.
``c[...] = e``
    The view rule: ``e`` is broadcast into the view, which never changes shape.
``c += e``
    NumPy's rule: like the view rule, and the dtype must allow it (``same_kind``).

Everything is checked before the first byte is written, so a failed assignment changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from .. import _errors
from .._config import settings
from .._later import overlap
from ..dtypes.names import dtype_name, kind
from ..dtypes.promotion import can_cast
from ..index import transform as steps
from ..ir import build
from ..ir.node import Leaf, Node, Scalar
from ..layout.tiled import Map, TiledMap
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..operands.convert import values_node
from ..operands.nodes import HasNode, as_operand, borrow_array
from ..operands.non_numeric import numbers_of
from ..runtime import evaluate as engine
from . import writes
from .readers import protect


class Described(Protocol):
    """What the rules of assignment ask of a destination: every container and view has it."""

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def summary(self) -> str: ...


class Writable(Described, Protocol):
    """What an assignment needs of its destination; every container has it."""

    @property
    def buffer(self) -> Buffer: ...

    @property
    def map(self) -> Map: ...

    @property
    def node(self) -> Leaf: ...


def write(destination: Writable, node: Node, value: object, held: bool, noalias: bool) -> None:
    """Write ``node`` into a container's memory by the view rule.

    Parameters
    ----------
    destination : Writable
        The container.
    node : Node
        What is written.
    value : object
        What it was made from.
    held : bool
        Whether others than the assignment hold ``value``.
    noalias : bool
        Whether the caller promises that no element is read in another place; ``value`` is used up
        then, whoever holds it.

    Raises
    ------
    ReadOnlyError, OverlapError, BroadcastError
        Before anything is written.
    """
    check_writable(destination, "assignment")
    fitted = fit(node, destination)
    if isinstance(fitted, Leaf) and _is_itself(destination, fitted):
        return
    buffer = destination.buffer
    target = Target(buffer, destination.map, destination.dtype)
    with protect(buffer, fitted, node, value, held and not noalias):
        if (noalias and settings.check_noalias) or not writes.wrote(destination, fitted, value):
            engine.assign(target, fitted, noalias)


def _is_itself(destination: Writable, leaf: Leaf) -> bool:
    """Tell whether an assignment would copy memory onto itself (as ``c[1:] += e`` ends)."""
    return (
        leaf.snapshot.stale is None
        and leaf.snapshot.is_same(destination.buffer)
        and leaf.map == destination.map
        and leaf.dtype == destination.dtype
    )


def check_writable(destination: Writable, operation: str) -> None:
    """Refuse read-only memory and destinations that address an element twice.

    Raises
    ------
    ReadOnlyError
        If the buffer is read-only.
    OverlapError
        If two elements of the destination are the same memory.
    """
    if destination.buffer.readonly:
        raise _errors.ReadOnlyError(f"{operation}: {destination.summary()} is read-only")
    layout = destination.map
    if layout.is_row_major():
        return
    if isinstance(layout, TiledMap):
        if layout.repeats():
            raise _errors.OverlapError(
                f"{operation}: {destination.summary()} is a broadcast view of tiled memory; it "
                "addresses elements more than once, so what it would hold is undefined"
            )
        return
    if overlap.repeats(layout):
        raise _errors.OverlapError(
            f"{operation}: {destination.summary()} with strides {layout.strides} addresses some "
            "element more than once, so what it would hold is undefined"
        )


def fit(node: Node, destination: Described) -> Node:
    """Return ``node`` with the destination's shape and dtype.

    Raises
    ------
    BroadcastError
        If the shapes do not allow it.
    OverflowError, ValueError
        If it is a number that does not fit a signed integer dtype, or NaN: as with NumPy's, unlike
        an array's, such a number of any dtype is refused as Python's is.
    """
    shape, dtype = destination.shape, destination.dtype
    if isinstance(node, Scalar) and kind(dtype) == "i" and _may_not_fit(node, dtype):
        value: Any = node.value
        node = build.weak_scalar(value.item())
    node = converted(node, dtype)
    extra = len(node.shape) - len(shape)
    if extra > 0 and node.shape[:extra] == (1,) * extra:
        node = build.view(node, steps.squeeze(node.shape, range(extra)))
    if node.shape == shape:
        return node
    try:
        return build.broadcast_to(node, shape)
    except ValueError:
        raise _errors.BroadcastError(
            f"assignment: {build.describe(node)} cannot be broadcast into {destination.summary()}"
        ) from None


def converted(node: Node, dtype: np.dtype[Any]) -> Node:
    """Return ``node`` in the destination's dtype, warning where imaginary parts are lost.

    Raises
    ------
    CastError
        If it is Python's complex number and ``dtype`` is real, as NumPy refuses it.
    """
    if isinstance(node, Scalar) and node.weak is complex and kind(dtype) != "c":
        if kind(dtype) != "b":
            raise _errors.CastError(
                f"assignment: the complex number {node.value} does not go into "
                f"{dtype_name(dtype)}; assign its .real"
            )
        node = build.weak_scalar(bool(node.value))
    _warn_complex(node.dtype, dtype)
    return build.convert(node, dtype)


def _may_not_fit(number: Scalar, dtype: np.dtype[Any]) -> bool:
    """Tell whether a number with a dtype of its own is one that an integer dtype may lack."""
    known = number.weak is None and number.parameter < 0
    return known and kind(number.dtype) in "iuf" and not can_cast(number.dtype, dtype)


def check_cast(
    operation: str, what: Callable[[], str], source: Any, wanted: np.dtype[Any], rule: str
) -> None:
    """Refuse a conversion that a casting rule of NumPy's does not allow.

    Parameters
    ----------
    operation : str
        Who converts, for the message.
    what : callable
        Returns what is converted, for the message.
    source : dtype, or type of a Python number
        What is converted.
    wanted : dtype
        To what.
    rule : {"no", "equiv", "safe", "same_kind", "unsafe"}
        The casting rule.

    Raises
    ------
    CastError
        If it is not allowed.
    """
    if rule != "unsafe" and not can_cast(source, wanted, rule):
        raise _errors.CastError(
            f"{operation}({what()}): the values do not cast to {dtype_name(wanted)} (rule: {rule})"
        )


def _warn_complex(source: np.dtype[np.generic], result: np.dtype[np.generic]) -> None:
    if source.kind == "c" and result.kind not in "cb":  # which of the two is not zero
        _errors.warn_caller(
            f"assignment: casting {dtype_name(source)} to {dtype_name(result)} discards the "
            "imaginary part",
            np.exceptions.ComplexWarning,
        )


def check_update(
    destination: Described,
    operation: str,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    rule: str = "same_kind",
) -> None:
    """Refuse a result of another shape, or that does not cast back under a rule.

    Raises
    ------
    CastError, BroadcastError
        As `update`.
    """
    if not can_cast(dtype, destination.dtype, rule):
        raise _errors.CastError(
            f"in-place {operation}: the result {dtype_name(dtype)}{list(shape)} does not cast to "
            f"the destination's dtype {dtype_name(destination.dtype)} (rule: {rule})"
        )
    if shape != destination.shape:
        raise _errors.BroadcastError(
            f"in-place {operation}: the result has shape {shape}, but "
            f"{destination.summary()} never changes shape; use assign to let it grow"
        )


def node_of(value: object, destination: Described) -> Node:
    """Return what is assigned as a node; nested lists are taken as arrays, text as numbers."""
    if isinstance(value, HasNode):
        return value.node
    operation = f"assignment to {destination.summary()}"
    try:
        if isinstance(value, (list, tuple)):
            node = values_node(value, destination.dtype, operation)
            for own in node.args:  # the lists' own values, before they were converted
                _warn_complex(own.dtype, node.dtype)
            return node
        operand = as_operand(value, operation)
    except _errors.DTypeError:
        numbers = numbers_of(value, destination.dtype, operation)
        if numbers is None:
            raise
        return borrow_array(numbers, operation)
    if isinstance(operand, Node):
        return operand
    if type(operand) is int and operand.bit_length() > 63:  # perhaps it has no dtype of its own
        return build.scalar(operand, destination.dtype)
    return build.weak_scalar(operand)
