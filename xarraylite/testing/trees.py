"""Expressions written twice: over this package's lazy functions and over NumPy.

A test evaluates the first as it likes and compares with the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..arrays.expression import XExpression
from ..dtypes.names import DType, NumpyArray, kind
from ..functions import data_types, elementwise
from ..operands.nodes import as_node
from ..ops.table import OPS
from . import oracle

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
