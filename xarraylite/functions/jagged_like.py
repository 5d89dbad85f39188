"""Containers made like a jagged array: the same rows, other values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, cast, overload

from .._errors import LayoutError
from .._later import array, lazy
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..operands.nodes import as_node
from ..operands.non_numeric import or_numpy

P = ParamSpec("P")


class MakesRows(Protocol[P]):
    """A function that makes a container like its first argument."""

    @overload
    def __call__(
        self, x: lazy.XJaggedExpression, /, *args: P.args, **kwargs: P.kwargs
    ) -> array.XJagged: ...

    @overload
    def __call__(self, x: XExpression, /, *args: P.args, **kwargs: P.kwargs) -> XArray: ...


def makes_rows(function: Callable[Concatenate[XExpression, P], XArray]) -> MakesRows[P]:
    """Return a function that also makes a jagged array, like one."""

    @or_numpy
    @wraps(function)
    def dense(a: Any, *args: P.args, **kwargs: P.kwargs) -> XArray:
        return function(XExpression(as_node(a, function.__name__)), *args, **kwargs)

    first: str = getattr(function, "__code__").co_varnames[0]  # noqa: B009

    @wraps(function)
    def made(a: Any = None, *args: Any, **kwargs: Any) -> Any:
        if a is None:
            a = kwargs.pop(first, None)
        if isinstance(a, XExpression):
            return function(a, *args, **kwargs)
        if not isinstance(a, lazy.XJaggedExpression):
            return dense(a, *args, **kwargs)
        if kwargs.get("layout") is not None:
            raise LayoutError(
                f"{function.__name__}: {a.summary()} has the layout of its rows, got "
                f"layout={kwargs['layout']!r}"
            )
        rows = XExpression(a.node)  # whose layout does not matter: it is row-major
        return array.XJagged._own(function(rows, *args, **kwargs), a.jagged_shape)

    return cast("MakesRows[P]", made)
