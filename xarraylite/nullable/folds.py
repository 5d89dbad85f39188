"""Reducers and accumulators of optional arrays, which are more than functions of both halves.

A result is missing where an element is, or, of what is there alone (``skipna``), where nothing is;
but sums, products, counts, `any` and `all` of nothing are what NumPy has for no elements.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..dtypes.info import bounds
from ..operands.dispatch import namespace
from ..operands.moving import Parted

#: What takes the place of missing elements in folds that leave them out.
_NEUTRAL: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "sum": lambda dtype: 0,
    "prod": lambda dtype: 1,
    "any": lambda dtype: False,
    "all": lambda dtype: True,
    "count_nonzero": lambda dtype: 0,
    "min": lambda dtype: bounds(dtype)[1],
    "max": lambda dtype: bounds(dtype)[0],
}


#: The methods by their names.
_FOLDS = ["sum", "prod", "min", "max", "ptp", "any", "all", "count_nonzero", "mean", "var", "std"]
_RUNNING = ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod"]


def without_missing(
    x: Any, name: str, axis: Any = None, keepdims: bool = False, **options: Any
) -> tuple[Any, Any]:
    """Return a fold of the elements that are there, and where there is a result."""
    xl, flags = namespace(None), x.has_value()
    over = {"axis": axis, "keepdims": keepdims}
    among = options.pop("where", True)
    if among is not True:  # what a condition leaves out is as if it were missing
        flags = xl.logical_and(flags, among)
        x = x._made(x.value(), flags)
    if name in _NEUTRAL:
        fold, neutral = getattr(xl, name), _NEUTRAL[name](x.dtype)
        if name in ("min", "max"):
            options.setdefault("initial", neutral)  # of no elements at all
        made = fold(x.value_or(neutral), **over, **options)
        return made, xl.any(flags, **over) if name in ("min", "max") else True
    if name == "ptp":
        greatest, known = without_missing(x, "max", axis, keepdims)
        return greatest - without_missing(x, "min", axis, keepdims)[0], known
    made = getattr(xl, name)(x.value(), **over, where=flags, **options)
    less = 0
    if name != "mean":
        less = options.get("ddof") or options.get("correction") or 0
    return made, x.count(**over) > less


def order_statistic(
    x: Any,
    name: str,
    given: tuple[Any, ...],
    axis: Any,
    keepdims: bool,
    skipna: bool,
    options: dict[str, Any],
) -> tuple[Any, Any]:
    """Return a median, or the like, and where there is one: that of nothing is missing."""
    xl, over = namespace(None), {"axis": axis, "keepdims": keepdims}
    if not skipna:
        made = getattr(xl, name)(x.value(), *given, **over, **options)
        return made, xl.all(x.has_value(), **over)
    flags, wide = x.has_value(), x.astype(xl.result_type(x.dtype, xl.float64))
    some = xl.any(flags, axis=axis, keepdims=True)
    values = xl.where(some, wide.value_or(math.nan), 0)  # NumPy warns where there is nothing
    made = getattr(xl, f"nan{name}")(values, *given, **over, **options)
    return made, xl.any(flags, **over)


def running(x: Any, name: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """Return running results of the values, which are there up to the first missing one."""
    xl = namespace(None)
    if options.pop("skipna", False):  # what is missing stays so, and changes nothing
        flags, neutral = x.has_value(), 0 if name.endswith("sum") else 1
        made = getattr(xl, name)(x.value_or(neutral), *args, **options)
        if options.get("include_initial"):
            axis = options.get("axis") or 0
            first = xl.ones_like(xl.any(flags, axis=axis, keepdims=True))
            return made, xl.concat([first, flags], axis=axis)
        return made, flags if made.shape == flags.shape else flags._reshaped(made.shape)
    made = getattr(xl, name)(x.value(), *args, **options)
    options.pop("dtype", None)
    known = getattr(xl, name.replace("sum", "prod"))(x.has_value(), *args[:1], **options)
    return made, known != 0


def _told(method: Callable[..., Any], name: str, where: str) -> Callable[..., Any]:
    """Return the method of a name, which says where its result is missing."""
    method.__name__, method.__doc__ = name, f"Return `xl.{name}`, {where}."
    return method


def _reducer(name: str) -> Callable[..., Any]:
    """Return the method of a reducer."""

    def method(
        self: Folds,
        axis: Any = None,
        *,
        skipna: bool = False,
        keepdims: bool = False,
        **options: Any,
    ) -> Any:
        if skipna:
            return self._made(*without_missing(self, name, axis, keepdims, **options))
        reducer: Callable[..., Any] = getattr(namespace(None), name)
        if options:
            return reducer(self, axis=axis, keepdims=keepdims, **options)
        over = {"axis": axis, "keepdims": keepdims}
        return self._made(
            reducer(self.value(), **over), namespace(None).all(self.has_value(), **over)
        )

    return _told(method, name, "missing where an element is; with ``skipna`` of what is there")


def _accumulator(name: str) -> Callable[..., Any]:
    """Return the method of an accumulator."""

    def method(self: Folds, *args: Any, **options: Any) -> Any:
        return self._made(*running(self, name, *args, **options))

    return _told(method, name, "missing from the first missing one on; with ``skipna`` only there")


def _statistic(name: str, before: int) -> Callable[..., Any]:
    """Return the method of a statistic of order, which takes arguments before the axis."""

    def method(
        self: Folds, *args: Any, skipna: bool = False, keepdims: bool = False, **options: Any
    ) -> Any:
        axis = args[before] if len(args) > before else options.pop("axis", None)
        given = (*args[:before], *args[before + 1 :])
        return self._made(*order_statistic(self, name, given, axis, keepdims, skipna, options))

    return _told(method, name, "missing where an element is; with ``skipna`` of what is there")


class Folds(Parted):
    """The methods of optional arrays that fold elements, or go along them."""

    __slots__ = ()

    #: The values, the flags, and an optional array of both: methods of `XOptional`.
    value: Callable[..., Any]
    has_value: Callable[..., Any]
    _made: Callable[..., Any]

    sum, prod, min, max, ptp, any, all, count_nonzero, mean, var, std = map(_reducer, _FOLDS)
    cumsum, cumprod, cumulative_sum, cumulative_prod = map(_accumulator, _RUNNING)

    median = _statistic("median", 0)
    quantile = _statistic("quantile", 1)
    percentile = _statistic("percentile", 1)

    #: Functions that are evaluated, and know optional arrays by these methods.
    own: ClassVar[frozenset[str]] = frozenset(
        (*_RUNNING, "trapezoid", "median", "quantile", "percentile")
    )

    def trapezoid(self, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
        """Return `xl.trapezoid`, missing where an element is."""
        return self.folded(lambda y: namespace(None).trapezoid(y, x, dx, axis), axis)

    def folded(self, call: Callable[[Any], Any], axis: Any, keepdims: bool = False) -> Any:
        """Return a fold of the values, which is there where all of these are."""
        known = namespace(None).all(self.has_value(), axis=axis, keepdims=keepdims)
        return self._made(call(self.value()), known)

    def accumulated(self, call: Callable[[Any], Any], axis: Any) -> Any:
        """Return running results of the values, which are there up to the first missing one."""
        known = namespace(None).cumprod(self.has_value(), axis=axis)
        return self._made(call(self.value()), known != 0)

    def count(self, *, axis: Any = None, keepdims: bool = False) -> Any:
        """Return how many elements there are, missing ones left out."""
        return namespace(None).count_nonzero(self.has_value(), axis=axis, keepdims=keepdims)
