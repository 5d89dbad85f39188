"""Reducers and accumulators of optional arrays, beyond what functions of both halves are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes.names import kind
from ..dtypes.promotion import int_bounds
from ..operands.namespace import namespace


def _bound(least: bool) -> Callable[[np.dtype[Any]], Any]:
    """Return what tells the greatest (the least) value of a dtype, neutral to ``min`` (``max``)."""

    def bound(dtype: np.dtype[Any]) -> Any:
        if kind(dtype) == "b":
            return not least
        if kind(dtype) in "iu":
            return int_bounds(dtype)[0 if least else 1]
        return -math.inf if least else math.inf

    return bound


#: What takes the place of missing elements in folds that leave them out.
_NEUTRAL: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "any": lambda dtype: False,
    "all": lambda dtype: True,
    "min": _bound(False),
    "max": _bound(True),
}


def without_missing(
    x: Any, name: str, axis: Any = None, keepdims: bool = False, **options: Any
) -> tuple[Any, Any]:
    """Return a fold of the elements that are there, and where there is a result."""
    xl, flags = namespace(None), x.has_value()
    over = {"axis": axis, "keepdims": keepdims}
    if name in _NEUTRAL:
        fold, neutral = getattr(xl, name), _NEUTRAL[name](x.dtype)
        if name in ("min", "max"):
            options.setdefault("initial", neutral)  # of no elements at all
        made = fold(x.value_or(neutral), **over, **options)
        return made, True if name in ("sum", "prod", "any", "all") else xl.any(flags, **over)
    count = x.count(axis=axis, keepdims=keepdims)
    if name == "mean":
        total, _ = without_missing(x, "sum", axis, keepdims)
        return total / count, count > 0
    center, _ = without_missing(x, "mean", axis, True)
    square = xl.where(flags, xl.square(xl.abs(x.value() - center)), 0)
    less = count - options.get("correction", 0)
    made = xl.sum(square, **over) / less
    return xl.sqrt(made) if name == "std" else made, less > 0


def running(x: Any, name: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Return running results of the values, which are there up to the first missing one."""
    xl = namespace(None)
    made = getattr(xl, name)(x.value(), *args, **options)
    options.pop("dtype", None)
    known = getattr(xl, name.replace("sum", "prod"))(x.has_value(), *args[:1], **options)
    return made, known != 0
