"""Containers made like a jagged array: the same rows, other values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, overload

from .._errors import LayoutError
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..jagged.array import XJagged
from ..jagged.lazy import XJaggedExpression
from ..operands.nodes import as_node

P = ParamSpec("P")


class MakesRows(Protocol[P]):
    """A function that makes a container like its first argument."""

    @overload
    def __call__(self, x: XJaggedExpression, /, *args: P.args, **kwargs: P.kwargs) -> XJagged: ...

    @overload
    def __call__(self, x: XExpression, /, *args: P.args, **kwargs: P.kwargs) -> XArray: ...


def makes_rows(function: Callable[Concatenate[XExpression, P], XArray]) -> MakesRows[P]:
    """Return a function that also makes a jagged array, like one."""

    @wraps(function)
    def made(x: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        if not isinstance(x, XJaggedExpression):
            if not isinstance(x, XExpression):
                x = XExpression(as_node(x, function.__name__))
            return function(x, *args, **kwargs)
        if kwargs.get("layout") is not None:
            raise LayoutError(
                f"{function.__name__}: {x.summary()} has the layout of its rows, got "
                f"layout={kwargs['layout']!r}"
            )
        rows = XExpression(x.node)  # whose layout does not matter: it is row-major
        return XJagged._own(function(rows, *args, **kwargs), x.jagged_shape)

    return made
