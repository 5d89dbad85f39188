"""Checked constructors of nodes: every shape, dtype and error is decided here.

Whoever writes an expression meets its errors here, with the operation, the operands' shapes and
dtypes and the rule.  What is built needs no further checking.  Views of leaves are folded into
the leaf's layout at once, and neighbouring transforms are composed, so graphs stay small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .._errors import AxisError, BroadcastError, DTypeError, ShapeError
from .._tables import kept
from ..dtypes.names import DType, dtype_name, is_narrow, is_narrow_float
from ..dtypes.narrow import odd_float, to_narrow
from ..dtypes.promotion import check_scalar, result_type
from ..index import transform as steps
from ..index.broadcast import as_shape, broadcast_shapes, check_rank, infer_extent
from ..layout.strided import Strided
from ..layout.tiled import TiledMap
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.table import OPS
from .node import (
    RANK,
    Concat,
    Elementwise,
    Gather,
    Iota,
    Leaf,
    Node,
    Reduce,
    Scalar,
    SegmentReduce,
    Shape,
    View,
)
from .simplify import applied, simpler

#: The Python types whose dtype is left to the other operands.
WEAK_TYPES = (bool, int, float, complex)

#: What the rules have said: operations and dtypes are few.
_rules: dict[tuple[Op, tuple[DType | type, ...]], tuple[tuple[DType, ...], DType]] = {}

#: Beyond this many (programs that make operations in a loop) they are looked up anew.
_RULES_KEPT = 4096

_UINT64 = np.dtype(np.uint64)
_INT64_MAX = (1 << 63) - 1

PythonScalar = bool | int | float | complex
Operand = Node | PythonScalar

CAST = OPS["cast"]
#: Numbers that are remembered rounded to one dtype.
_ROUNDED = 64

_DEFAULTS: dict[type, DType] = {
    bool: np.dtype(np.bool_),
    int: np.dtype(np.int64),
    float: np.dtype(np.float64),
    complex: np.dtype(np.complex128),
}


def scalar(value: object, dtype: DType, parameter: int = -1) -> Scalar:
    """Return ``value`` as a 0-d constant of ``dtype``.

    Raises
    ------
    OverflowError
        If a Python int does not fit an integer dtype.
    """
    if type(value) is not dtype.type:
        if type(value) in WEAK_TYPES:
            check_scalar(value, dtype)
        if is_narrow(dtype):
            plain = odd_float(value) if type(value) is int and is_narrow_float(dtype) else value
            value = to_narrow(np.asarray(plain), dtype)[()]
        else:
            with np.errstate(over="ignore"):  # too large for float32 is inf, without a warning
                try:
                    value = dtype.type(value)
                except TypeError:
                    raise DTypeError(
                        f"Python {type(value).__name__} {value!r} does not convert to "
                        f"{dtype_name(dtype)}"
                    ) from None
    return Scalar((), dtype, value, None, parameter)


def rounder(dtype: DType) -> tuple[Callable[[object], float], dict[object, float]]:
    """Return the function that rounds a number to a float dtype, and some that it met, rounded.

    Zeros, of which two are equal, are none of these, and stay what they are.
    """
    known: dict[object, float] = {}

    def rounded(value: object) -> float:
        found = known.get(value) if value else float(value)  # type: ignore[arg-type]
        if found is None:
            found = float(scalar(value, dtype).value)  # type: ignore[arg-type]
            kept(known, value, found, _ROUNDED)
        return found

    return rounded, known


def weak_scalar(value: PythonScalar, parameter: int = -1) -> Scalar:
    """Return a Python scalar whose dtype follows the operands it meets."""
    kind = type(value)
    dtype = _DEFAULTS[kind]
    if kind is int and value > _INT64_MAX:  # type: ignore[operator]
        dtype = _UINT64
    check_scalar(value, dtype)
    return Scalar((), dtype, value, kind, parameter)


def describe(operand: Operand) -> str:
    """Return how an error message shows an operand."""
    if not isinstance(operand, Node):
        return f"Python {type(operand).__name__} {operand!r}"
    layout = ""
    if isinstance(operand, Leaf) and isinstance(operand.map, TiledMap) and operand.map.is_whole:
        layout = str(operand.map.layout)
    return f"{dtype_name(operand.dtype)}{list(operand.shape)}{layout}"


def elementwise(op: Op, *operands: Operand) -> Elementwise:
    """Return ``op`` of the operands, broadcast, with its arguments cast to the loop dtypes.

    Raises
    ------
    DTypeError
        If the operation has no rule for these dtypes.
    BroadcastError
        If the shapes do not broadcast.
    """
    kinds = tuple([kind_of(operand) for operand in operands])
    resolved = _rules.get((op, kinds))
    if resolved is None:
        resolved = kept(_rules, (op, kinds), op.rule(op.name, kinds), _RULES_KEPT)
    loops, result = resolved
    if op.scalars is not None:
        loops, operands = _adapt_scalars(op, loops, operands)
        alone = simpler(op, operands, result) if loops[0] == result else None
        if alone is not None:
            base: Node = convert(operands[0], result)
            made = applied(alone, base, elementwise)
            assert isinstance(made, Elementwise), "no power is its base"
            return made
    args = tuple(
        [
            operand
            if isinstance(operand, Node) and operand.dtype is loop
            else convert(operand, loop)
            for operand, loop in zip(operands, loops, strict=True)
        ]
    )
    shape = args[0].shape
    for arg in args:
        if arg.shape != shape and arg.shape:
            shape = _broadcast(op.name, operands)
            break
    return Elementwise(shape, result, op, args)


def _adapt_scalars(
    op: Op, loops: tuple[DType, ...], operands: tuple[Operand, ...]
) -> tuple[tuple[DType, ...], tuple[Operand, ...]]:
    """Let the operation look at the values of Python scalars (traced ones have none)."""
    values: dict[int, object] = {}
    for k, operand in enumerate(operands):
        if not isinstance(operand, Node):
            values[k] = operand
        elif isinstance(operand, Scalar) and operand.weak is not None and operand.parameter < 0:
            values[k] = operand.value
    if not values or op.scalars is None:
        return loops, operands
    loops, adapted = op.scalars(op.name, loops, values)
    return loops, tuple([adapted.get(k, operand) for k, operand in enumerate(operands)])  # type: ignore[misc]


def kind_of(operand: Operand) -> DType | type:
    """Return what rules know an operand by: its dtype, or the type of a Python number."""
    if isinstance(operand, Node):
        if isinstance(operand, Scalar) and operand.weak is not None:
            return operand.weak
        return operand.dtype
    return type(operand)


def _broadcast(name: str, operands: Sequence[Operand]) -> Shape:
    shapes = [operand.shape for operand in operands if isinstance(operand, Node)]
    try:
        return broadcast_shapes(*shapes)
    except ShapeError as error:
        shown = ", ".join(describe(operand) for operand in operands)
        raise type(error)(f"{name}({shown}): {error}") from None


def convert(operand: Operand, dtype: DType) -> Node:
    """Return ``operand`` as a node of exactly ``dtype``; Python's numbers have one from then on."""
    if not isinstance(operand, Node):
        return scalar(operand, dtype)
    if isinstance(operand, Scalar) and operand.weak is not None:
        return scalar(operand.value, dtype, operand.parameter)
    return cast(operand, dtype)


def cast(node: Node, dtype: DType) -> Node:
    """Return ``node`` converted to ``dtype``, element by element (NumPy's unsafe casting)."""
    if node.dtype == dtype:
        return node
    return Elementwise(node.shape, dtype, CAST, (node,))


def view(node: Node, step: steps.Transform) -> Node:
    """Return the elements of ``node`` under another index."""
    if isinstance(node, Leaf | Iota):
        return _placed(node, node.map.apply(step))
    if isinstance(node, View) and isinstance(node.step, steps.Transform):
        return view(node.arg, step.after(node.step))
    return View(step.shape, node.dtype, node, step)


def _placed(node: Leaf | Iota, place: Any) -> Node:
    """Return the elements of memory, or the numbers, that lie elsewhere."""
    if isinstance(node, Iota):
        return Iota(place.shape, node.dtype, place)
    return Leaf(place.shape, node.dtype, node.snapshot, place, min(node.fixed, RANK))


def reshape(node: Node, shape: Sequence[int]) -> Node:
    """Return the elements of ``node`` in row-major order as ``shape`` (one -1 is inferred).

    Raises
    ------
    ShapeError
        If the sizes differ.
    """
    target = infer_extent(shape, math.prod(node.shape))
    if target == node.shape:
        return convert(node, node.dtype)
    if isinstance(node, Leaf | Iota):
        layout = node.map.reshape(target)
        if layout is not None:
            return _placed(node, layout)
    if math.prod(target) == 1:
        one = steps.squeeze(node.shape, range(len(node.shape)))
        return view(view(node, one), steps.expand((), range(len(target))))
    return View(target, node.dtype, node, steps.Reshape(node.shape, target))


def broadcast_to(node: Node, shape: Shape, operation: str = "broadcast_to") -> Node:
    """Return ``node`` stretched to ``shape``, which must be compatible.

    Raises
    ------
    BroadcastError
        If ``node`` does not stretch to ``shape``.
    """
    if node.shape == shape:
        return convert(node, node.dtype)
    try:
        fits = broadcast_shapes(node.shape, shape) == shape
    except BroadcastError:
        fits = False
    if not fits:
        raise BroadcastError(f"{operation}: {describe(node)} does not stretch to shape {shape}")
    return view(node, steps.broadcast(node.shape, shape))


def gather(node: Node, axis: int, index: Leaf) -> Node:
    """Return ``node`` with dimension ``axis`` read through ``index``, already checked int64."""
    shape = node.shape[:axis] + index.shape + node.shape[axis + 1 :]
    check_rank(len(shape), "index array")
    return Gather(shape, node.dtype, node, axis, index)


def concat(parts: Sequence[Node], axis: int, operation: str = "concat") -> Node:
    """Return ``parts`` joined along ``axis``, converted to their common dtype.

    Raises
    ------
    ShapeError
        If other extents than those along ``axis`` differ.
    """
    first = parts[0].shape
    for part in parts[1:]:
        if _without(part.shape, axis) != _without(first, axis) or len(part.shape) != len(first):
            shown = ", ".join(describe(p) for p in parts)
            raise ShapeError(f"{operation}({shown}): shapes must agree except along axis {axis}")
    dtype = result_type(*[part.dtype for part in parts])
    total = sum(part.shape[axis] for part in parts)
    shape = as_shape(first[:axis] + (total,) + first[axis + 1 :], operation)
    cast_parts = tuple([cast(part, dtype) for part in parts])
    return cast_parts[0] if len(parts) == 1 else Concat(shape, dtype, cast_parts, axis)


def _without(shape: Shape, axis: int) -> Shape:
    return shape[:axis] + shape[axis + 1 :]


def folded(shape: Shape, axes: Collection[int], keepdims: bool) -> Shape:
    """Return the shape of what is folded over axes, which have extent 1 then or are gone."""
    return tuple([1 if k in axes else n for k, n in enumerate(shape) if keepdims or k not in axes])


def reduce(op: Reduction, node: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """Return ``node`` folded over ``axes`` (sorted, in range) in its own dtype.

    Raises
    ------
    ShapeError
        If nothing is folded and the operation has no identity.
    """
    if not axes:
        return convert(node, node.dtype)
    shape = folded(node.shape, axes, keepdims)
    if any(node.shape[axis] == 0 for axis in axes):
        if op.identity is None:
            raise ShapeError(
                f"{op.name}({describe(node)}): axis {axes} has no elements and {op.name} has no "
                "identity; give initial="
            )
        return broadcast_to(scalar(op.identity, node.dtype), shape)
    return Reduce(shape, node.dtype, op, node, axes, keepdims)


def segment_reduce(op: Reduction, node: Node, offsets: Leaf) -> Node:
    """Return ``node`` folded along dimension 0 in runs, one result for each run.

    Parameters
    ----------
    op : Reduction
        How it is folded.  Where it has no identity, the result of an empty run is not defined.
    node : Node
        Of rank 1 or more.
    offsets : Leaf
        Checked int64: where each run starts, and where the last one ends.
    """
    shape = (offsets.shape[0] - 1, *node.shape[1:])
    return SegmentReduce(shape, node.dtype, op, node, (0,), False, offsets)


def iota(layout: Strided, dtype: DType) -> Node:
    """Return the positions of ``layout`` as values of ``dtype``."""
    return Iota(layout.shape, dtype, layout)


def require_real(node: Node, operation: str) -> None:
    """Refuse complex operands of an ordering operation.

    Raises
    ------
    DTypeError
        If the dtype is complex.
    """
    if node.dtype.kind == "c":
        raise DTypeError(f"{operation}({describe(node)}): complex numbers have no order")


def require_rank(node: Node, least: int, operation: str) -> None:
    """Refuse operands of too low a rank.

    Raises
    ------
    AxisError
        If the rank is below ``least``.
    """
    if len(node.shape) < least:
        raise AxisError(f"{operation}({describe(node)}): rank must be at least {least}")
