"""Functions of NumPy's own namespaces (`random`, `polynomial`, `emath`), looked up there by name.

What they mean and which parameters they have stands in NumPy's documentation.  They are given the
values of containers and expressions, wherever these stand among the arguments, and what they return
becomes containers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.expression import XExpression
from ..arrays.few import values_of
from ..operands.nodes import HasNode, Lifted, unwrapped
from ..operands.non_numeric import is_other
from .arrays_of_numpy import Narrow, container, numpy_of, refusal, results


def called(function: Callable[..., Any], name: str, fills: bool = False) -> Callable[..., Any]:
    """Return a function of NumPy's that takes containers and returns them.

    Parameters
    ----------
    function : callable
        NumPy's.
    name : str
        What errors call it.
    fills : bool, default False
        Whether its first argument is written in place, as ``out`` is.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        narrow = Narrow()
        to: Any = args[0] if fills and args else kwargs.get("x" if fills else "out")
        if isinstance(to, Lifted):  # which no function of NumPy's can write
            numpy_of(to, name, narrow)
        written = np.array(values_of(to)) if isinstance(to, XExpression) else None

        def given(x: object) -> Any:
            return value_of(x, name, narrow) if x is not to or written is None else written

        taken, named = [given(x) for x in args], {key: given(x) for key, x in kwargs.items()}
        try:
            made = function(*taken, **named)
        except (ValueError, TypeError, IndexError) as error:
            raise refusal(name, [*taken, *named.values()], error) from None
        if written is None:
            return results(made, narrow)
        to[...] = results(written, Narrow())  # by an assignment, which waiting readers notice
        return None if fills else to

    return call


def key_of(key: Any, name: str) -> Any:
    """Return an index with NumPy's values in the place of ours, those in slices too."""
    if isinstance(key, tuple):
        return tuple([key_of(k, name) for k in key])
    if isinstance(key, slice):
        return slice(*[key_of(k, name) for k in (key.start, key.stop, key.step)])
    return unwrapped(value_of(key, name))


def value_of(x: object, name: str, narrow: Narrow | None = None) -> Any:
    """Return an argument as NumPy takes it: the values of an array of ours, totals as scalars."""
    if not isinstance(x, HasNode):
        return unwrapped(x)
    values = numpy_of(x, name, narrow or Narrow())
    return values if values.ndim else values[()]


class ByIndex:
    """What `mgrid`, `ogrid`, `r_` and `c_` are: indexed, they make coordinates, or join."""

    __slots__ = ("_made", "_name")

    def __init__(self, made: Any, name: str) -> None:
        self._made, self._name = made, name

    def __getitem__(self, key: Any) -> Any:
        """Return what NumPy's object makes of ranges, which slices stand for, and arrays.

        An imaginary step is a number of points.
        """
        made = self._made[key_of(key, self._name)]
        if isinstance(made, tuple):
            return tuple([container(x) for x in made])
        values = np.asarray(made)
        return values if is_other(values.dtype) else container(values)
