"""Expressions written twice: over this package's lazy functions and over NumPy.

A test evaluates the first as it likes and compares with the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tests.properties import oracle
from xarraylite._errors import DTypeError
from xarraylite.arrays.expression import XExpression
from xarraylite.dtypes.info import iinfo
from xarraylite.dtypes.names import DType, NumpyArray, is_narrow_int, kind
from xarraylite.functions import data_types, elementwise, joining, manipulation, reducers
from xarraylite.operands.nodes import as_node
from xarraylite.ops.table import OPS
from xarraylite.testing.operands import Sample
from xarraylite.testing.strategies import dtypes

EXACT = (
    "add",
    "subtract",
    "multiply",
    "divide",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "floor_divide",
    "remainder",
    "negative",
    "positive",
    "abs",
    "sign",
    "square",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "isnan",
    "isfinite",
    "isinf",
    "logical_not",
    "logical_and",
    "logical_or",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "where",
)
"""Operations of which every implementation has the same bits."""

INEXACT = (
    "sin",
    "cos",
    "tan",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log1p",
    "tanh",
    "sinh",
    "atan",
    "asinh",
    "cbrt",
    "pow",
    "atan2",
    "hypot",
)
"""Operations that agree within a bound."""

INEXACT_ULP = 8
"""Bound between two implementations that are each within 4 units in the last place."""


@dataclass(frozen=True, slots=True)
class Tree:
    """One expression, written for this package and for NumPy.

    Attributes
    ----------
    text : str
        How it reads, for messages.
    xl : callable
        From the operands to a lazy expression.
    numpy : callable
        From the operands' arrays to the expected array.
    value : ndarray or Python scalar
        What ``numpy`` returns for the operands that the tree was drawn for.
    max_ulp : int
        How far results may be from ``value``; 0 where every bit is decided.
    """

    text: str
    xl: Callable[[Sequence[Any]], Any]
    numpy: Callable[[Sequence[NumpyArray]], Any]
    value: Any
    max_ulp: int = 0

    def __repr__(self) -> str:
        return self.text


def leaf(number: int, value: NumpyArray) -> Tree:
    """Return operand ``number``."""
    return Tree(f"x{number}", lambda ops: ops[number], lambda ops: ops[number], value)


def constant(value: complex) -> Tree:
    """Return a Python scalar."""
    return Tree(repr(value), lambda ops: value, lambda ops: value, value)


def join(
    text: str,
    ours: Callable[..., Any],
    theirs: Callable[..., Any],
    *args: Tree,
    max_ulp: int = 0,
) -> Tree:
    """Return a tree that applies ``ours`` (and ``theirs`` in NumPy) to what ``args`` give."""
    return Tree(
        text,
        lambda ops: ours(*[arg.xl(ops) for arg in args]),
        lambda ops: theirs(*[arg.numpy(ops) for arg in args]),
        theirs(*[arg.value for arg in args]),
        max_ulp,
    )


def call(name: str, *args: Tree, max_ulp: int = 0) -> Tree:
    """Return an elementwise operation of trees."""
    text = f"{name}({', '.join(arg.text for arg in args)})"
    ours = getattr(elementwise, name)
    return join(text, ours, lambda *values: oracle.call(name, *values), *args, max_ulp=max_ulp)


def cast(arg: Tree, dtype: DType) -> Tree:
    """Return a conversion."""
    return join(
        f"astype({arg.text}, {dtype.name})",
        lambda x: data_types.astype(x, dtype),
        lambda x: oracle.convert(x, dtype),
        arg,
    )


def index(arg: Tree, key: Any) -> Tree:
    """Return a basic index of a lazy expression."""

    def ours(x: Any) -> Any:
        return (x if isinstance(x, XExpression) else XExpression(as_node(x, "index")))[key]

    return join(f"{arg.text}[{key}]", ours, lambda x: np.asarray(x[key]), arg)


def fits(name: str, values: Sequence[Any]) -> bool:
    """Tell whether an operation is defined and exact for these operands."""
    kinds = tuple([v.dtype if isinstance(v, np.ndarray) else type(v) for v in values])
    try:
        loops, _ = OPS[name].rule(name, kinds)
        np.broadcast_shapes(*[np.shape(v) for v in values])
    except (DTypeError, ValueError):
        return False
    if OPS[name].body(loops) is None:
        return False
    return kind(loops[-1]) in OPS[name].exact or name == "multiply" or name in INEXACT


@st.composite
def trees(
    draw: st.DrawFn, operands: Sequence[Sample], *, depth: int = 3, inexact: bool = False
) -> Tree:
    """Draw an expression over all kinds of nodes.

    Parameters
    ----------
    draw : callable
        Given by hypothesis.
    operands : sequence of Sample
        What its leaves are.
    depth : int, default 3
        Most operations above one another.
    inexact : bool, default False
        End in a function of `INEXACT` where the dtype allows one.  Everything below is exact, so
        the bound of that function is the bound of the tree.
    """
    tree = _grow(draw, operands, draw(st.integers(1, depth)))
    if inexact:
        name = draw(st.sampled_from(INEXACT))
        args = [tree] * OPS[name].arity
        if fits(name, [arg.value for arg in args]):
            loops, _ = OPS[name].rule(name, (tree.value.dtype,) * len(args))
            if kind(loops[0]) == "f":
                return call(name, *args, max_ulp=INEXACT_ULP if loops[0].itemsize > 2 else 1)
    return tree


def _grow(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    if depth == 0:
        number = draw(st.integers(0, len(operands) - 1))
        return leaf(number, operands[number].array)
    step = draw(st.sampled_from(_STEPS))
    return step(draw, operands, depth)


def _grow_elementwise(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    first = _grow(draw, operands, depth - 1)
    second = _grow(draw, operands, draw(st.integers(0, depth - 1)))
    if draw(st.integers(0, 3)) == 0:
        numbers = [0, 3, True, 2.5, -0.5]
        if is_narrow_int(first.value.dtype):  # int2 holds no 3, and int1 no 1
            numbers = [0, True, *range(1, 1 + min(1, iinfo(first.value.dtype).max))]
        second = constant(draw(st.sampled_from(numbers)))
    args = {1: [first], 2: [first, second], 3: [call("isfinite", first), first, second]}
    names = [name for name in EXACT if fits(name, [a.value for a in args[OPS[name].arity]])]
    if not names:
        return first
    name = draw(st.sampled_from(names))
    return call(name, *args[OPS[name].arity])


def _grow_cast(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    goal = draw(dtypes("biufc" if tree.value.dtype.kind != "c" else "c"))
    if kind(tree.value.dtype) in "fc" and kind(goal) in "iu":
        return tree  # out of range the result is C's choice; tests/ops has the details
    return cast(tree, goal)


def _grow_view(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    shape = tree.value.shape
    what = draw(st.sampled_from(("index", "transpose", "flip", "flatten", "stretch")))
    if what == "index":
        return index(tree, draw(hnp.basic_indices(shape, max_dims=4, allow_newaxis=True)))
    if what == "transpose":
        axes = draw(st.permutations(range(len(shape))))
        return join(
            f"permute_dims({tree.text}, {axes})",
            lambda x: manipulation.permute_dims(x, axes),
            lambda x: np.transpose(x, axes),
            tree,
        )
    if what == "stretch" and len(shape) < 4:
        goal = (2, *shape)
        return join(
            f"broadcast_to({tree.text}, {goal})",
            lambda x: manipulation.broadcast_to(x, goal),
            lambda x: np.broadcast_to(x, goal),
            tree,
        )
    if what == "flip":
        return join(f"flip({tree.text})", manipulation.flip, np.flip, tree)
    return join(
        f"reshape({tree.text}, -1)",
        lambda x: manipulation.reshape(x, (tree.value.size,)),
        lambda x: np.reshape(x, -1),
        tree,
    )


def _grow_gather(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    shape = tree.value.shape
    axes = [k for k, n in enumerate(shape) if n]
    if not axes or len(shape) > 3:
        return tree
    axis = draw(st.sampled_from(axes))
    extent = shape[axis]
    rows = draw(st.lists(st.integers(-extent, extent - 1), min_size=1, max_size=4))
    key = (slice(None),) * axis + (np.array(rows, np.int64),)
    return index(tree, key)


def _grow_reduce(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    value = tree.value
    names = ["any", "all"]
    if kind(value.dtype) in "biu":
        names += ["sum", "prod"]
    if kind(value.dtype) in "iuf" and value.size:
        names += ["argmax", "argmin", "max", "min"]
    name = draw(st.sampled_from(names))
    axis = draw(st.sampled_from([None, *range(value.ndim)]))
    keepdims = draw(st.booleans())
    return join(
        f"{name}({tree.text}, axis={axis}, keepdims={keepdims})",
        lambda x: getattr(reducers, name)(x, axis=axis, keepdims=keepdims),
        lambda x: oracle.reduce(name, x, axis, keepdims),
        tree,
    )


def _grow_concat(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    if not tree.value.shape:
        return tree
    axis = draw(st.integers(0, tree.value.ndim - 1))
    part = index(tree, (slice(None),) * axis + (slice(None, None, -2),))
    return join(
        f"concat([{tree.text}, {part.text}], {axis})",
        lambda x, y: joining.concat([x, y], axis=axis),
        lambda x, y: np.concatenate([x, y], axis=axis),
        tree,
        part,
    )


_STEPS = (
    _grow_elementwise,
    _grow_elementwise,
    _grow_elementwise,
    _grow_cast,
    _grow_view,
    _grow_view,
    _grow_gather,
    _grow_reduce,
    _grow_concat,
)
