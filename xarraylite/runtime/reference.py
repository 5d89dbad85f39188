"""The NumPy interpreter: every node evaluated on its own, in full, in order.

It shares nothing with the compiled engine but the graph and the op table, never fuses, and makes
a new array for every node, so aliasing cannot touch it.  It is the oracle of the tests and the
engine where Numba is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np

from ..compiler.graph import Graph
from ..compiler.identities import identity
from ..dtypes.names import NumpyArray, is_narrow, kind
from ..dtypes.narrow import from_narrow, to_narrow
from ..dtypes.truncate import truncated
from ..index.transform import FIXED, Reshape, Transform
from ..ir import node as ir
from ..ir.build import CAST
from ..memory.arrays import read
from ..ops.op import Op

#: Values of a node, of its argument nodes and their values; None: as all others.
Instead = Callable[[ir.Node, list[ir.Node], list[NumpyArray]], NumpyArray | None]


def compute(graph: Graph, instead: Instead | None = None) -> NumpyArray:
    """Return the values of a graph's result as a NumPy array.

    Where ``instead`` returns values of a node, of its argument nodes and their values, those count.
    """
    values: list[NumpyArray] = []
    with np.errstate(all="ignore"):
        for node, places in zip(graph.nodes, graph.args, strict=True):
            args, found = [values[place] for place in places], None
            if instead is not None:
                found = instead(node, [graph.nodes[place] for place in places], args)
            values.append(np.asarray(value(node, args) if found is None else found))
    return values[-1]


@singledispatch
def value(node: ir.Node, args: list[NumpyArray]) -> NumpyArray:
    """Return the values of one node from those of its arguments.

    Classes are named where functions are registered: to find them in annotations takes ten times
    as long.
    """
    raise TypeError(f"no reference for {type(node).__name__}")


@value.register(ir.Leaf)
def _(node: ir.Leaf, args: list[NumpyArray]) -> NumpyArray:
    return read(node.snapshot, node.dtype, node.map).copy()


@value.register(ir.Scalar)
def _(node: ir.Scalar, args: list[NumpyArray]) -> NumpyArray:
    return np.asarray(node.value, node.dtype)


@value.register(ir.Iota)
def _(node: ir.Iota, args: list[NumpyArray]) -> NumpyArray:
    total = np.full(node.shape, node.map.offset, np.int64)
    for axis, (extent, stride) in enumerate(zip(node.shape, node.map.strides, strict=True)):
        along = np.arange(extent, dtype=np.int64) * stride
        total += along.reshape([-1 if k == axis else 1 for k in range(len(node.shape))])
    return convert(total, node.dtype)


@value.register(ir.Elementwise)
def _(node: ir.Elementwise, args: list[NumpyArray]) -> NumpyArray:
    result = apply(node.op, args, node.dtype)
    return np.broadcast_to(result, node.shape)


@value.register(ir.View)
def _(node: ir.View, args: list[NumpyArray]) -> NumpyArray:
    if isinstance(node.step, Reshape):
        return args[0].reshape(node.shape)
    return _transform(args[0], node.step)


def _transform(array: NumpyArray, step: Transform) -> NumpyArray:
    """Index with explicit positions along every dimension: slow and obviously right."""
    rank = len(step.shape)
    index = []
    for start, pace, axis in step.maps:
        if axis == FIXED:
            index.append(np.full((1,) * rank, start, np.intp))
        else:
            positions = start + pace * np.arange(step.shape[axis], dtype=np.intp)
            index.append(positions.reshape([-1 if k == axis else 1 for k in range(rank)]))
    picked = array[tuple(index)] if index else array
    return np.broadcast_to(picked, step.shape)


@value.register(ir.Gather)
def _(node: ir.Gather, args: list[NumpyArray]) -> NumpyArray:
    return np.take(args[0], args[1], axis=node.axis)


@value.register(ir.Concat)
def _(node: ir.Concat, args: list[NumpyArray]) -> NumpyArray:
    return np.concatenate(args, axis=node.axis)


@value.register(ir.Reduce)
def _(node: ir.Reduce, args: list[NumpyArray]) -> NumpyArray:
    source = from_narrow(args[0]) if _widens(node.dtype) else args[0]
    result = node.op.numpy(source, axis=node.axes, keepdims=node.keepdims)
    return convert(np.asarray(result), node.dtype)


@value.register(ir.SegmentReduce)
def _(node: ir.SegmentReduce, args: list[NumpyArray]) -> NumpyArray:
    source, offsets = args
    source = from_narrow(source) if _widens(node.dtype) else source
    result = np.full(node.shape, identity(node.op, source.dtype), source.dtype)
    filled = np.diff(offsets) > 0  # an empty run is no run for reduceat
    if filled.any():
        fold = node.op.numpy.__self__.reduceat  # type: ignore[attr-defined]
        result[filled] = fold(source, offsets[:-1][filled], axis=0)
    return convert(result, node.dtype)


def apply(op: Op, args: list[NumpyArray], dtype: np.dtype[Any]) -> NumpyArray:
    """Run one operation; narrow dtypes are computed in their register type and rounded once."""
    if op is CAST:
        return convert(args[0], dtype)
    if op.body(tuple([arg.dtype for arg in args])) is not None:
        args = [from_narrow(arg) if _widens(arg.dtype) else arg for arg in args]
    return convert(np.asarray(op.numpy(*args)), dtype)


def _widens(dtype: np.dtype[Any]) -> bool:
    """Tell whether NumPy must be given another type to compute as promised.

    Not float16: NumPy itself computes it in float32 and rounds once.
    """
    return is_narrow(dtype) and dtype != np.float16


def convert(array: NumpyArray, dtype: np.dtype[Any]) -> NumpyArray:
    """Convert by NumPy's rules, to narrow floats with one rounding, and floats as `truncated`."""
    if array.dtype == dtype:
        return array
    real = array.real if array.dtype.kind == "c" and kind(dtype) not in "cb" else array
    if is_narrow(dtype):
        return to_narrow(real, dtype)
    wide = from_narrow(real) if is_narrow(real.dtype) else real
    several = wide.dtype.kind == "f" and dtype.kind in "iu"  # as many answers as NumPy has loops
    return truncated(wide, dtype) if several else wide.astype(dtype)
