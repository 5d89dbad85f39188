"""The methods of arrays: a table from a method to the public function it calls.

Containers, expressions and values have the same methods, and what a method does is said once, by
the function of the package's namespace that its row names.  The row also gives the parameters'
order in NumPy, so that ``a.sum(0)`` and ``a.clip(0, 1)`` mean there what they mean here, whatever
the function takes by keyword only.

Rooms below the functions cannot import them; a method finds its function through the namespace
(`operands.dispatch`) when it is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..dtypes.names import kind
from .dispatch import function_named, namespace
from .nodes import OneValue

#: A method that calls a function.
Method = Callable[..., Any]


def _method(name: str, order: str = "", *, inside: bool = False) -> Any:
    """Return the method of one row.

    Parameters
    ----------
    name : str
        The method.
    order : str
        Its parameters in NumPy's order.  What stands before ``/`` is passed on by position, the
        rest by keyword; ``*`` in front of a name takes all positional arguments as one tuple.
    inside : bool, optional
        Whether the array itself takes the result, as ``a.sort()`` does in NumPy.
    """
    front, _, back = order.rpartition("/")
    places, names = front.split(), back.split()
    spread = names[0][1:] if names and names[0].startswith("*") else None
    keys = [spread, *names[1:]] if spread is not None else names

    def method(self: Any, *args: Any, **options: Any) -> Any:
        if inside and not (args or options):
            self[...] = function_named(name)(self)
            return None
        given, rest = args[: len(places)], args[len(places) :]
        if spread is not None and rest:
            rest = (rest[0] if len(rest) == 1 else rest,)
        if len(rest) > len(names):
            most = len(places) + len(names)
            raise TypeError(f"{name}: takes at most {most} arguments, got {len(args)}")
        for key, value in zip(keys, rest, strict=False):
            if key in options:
                raise TypeError(f"{name}: got {key!r} by position and by keyword")
            options[key] = value
        result = function_named(name)(self, *given, **options)
        if not inside:
            one = isinstance(self, OneValue) and getattr(result, "shape", None) == ()
            return self._like(result) if one else result
        self[...] = result
        return None

    if not inside:  # machine code reads it
        method.row = (name, tuple(keys), len(places), spread is not None)  # type: ignore[attr-defined]
    method.__name__ = name
    method.__qualname__ = f"Methods.{name}"
    method.__doc__ = (
        f"Put the elements as `xl.{name}` gives them."
        if inside
        else f"Return `xl.{name}` of the array; parameters as there, in NumPy's order."
    )
    method.__signature__ = _signature(places, names, spread)  # type: ignore[attr-defined]
    return method


def _signature(places: list[str], names: list[str], spread: str | None) -> inspect.Signature:
    """Return what `help` shows of a method."""
    made, few = inspect.Parameter, inspect.Parameter.POSITIONAL_ONLY
    named = made.POSITIONAL_OR_KEYWORD if spread is None else made.KEYWORD_ONLY
    return inspect.Signature(
        [
            made("self", few),
            *[made(key, few) for key in places],
            *([] if spread is None else [made(spread, made.VAR_POSITIONAL)]),
            *[made(key, named, default=None) for key in names[spread is not None :]],
        ]
    )


class Methods:
    """Gives arrays the methods of the table, which is this class body."""

    __slots__ = ()

    # reductions
    all = _method("all", "axis out keepdims where")
    any = _method("any", "axis out keepdims where")
    argmax = _method("argmax", "axis out keepdims")
    argmin = _method("argmin", "axis out keepdims")
    max = _method("max", "axis out keepdims initial where")
    mean = _method("mean", "axis dtype out keepdims where")
    min = _method("min", "axis out keepdims initial where")
    prod = _method("prod", "axis dtype out keepdims initial where")
    ptp = _method("ptp", "axis out keepdims")
    std = _method("std", "axis dtype out ddof keepdims where")
    sum = _method("sum", "axis dtype out keepdims initial where")
    trace = _method("trace", "offset axis1 axis2 dtype out")
    var = _method("var", "axis dtype out ddof keepdims where")
    cumprod = _method("cumprod", "axis dtype out")
    cumsum = _method("cumsum", "axis dtype out")

    # element by element
    clip = _method("clip", "min max out")
    round = _method("round", "decimals out")

    # other shapes
    diagonal = _method("diagonal", "offset axis1 axis2")
    ravel = _method("ravel", "order")
    repeat = _method("repeat", "repeats / axis")
    reshape = _method("reshape", "*shape order copy")
    squeeze = _method("squeeze", "axis")
    swapaxes = _method("swapaxes", "axis1 axis2 /")
    transpose = _method("transpose", "*axes")

    # selections, order
    argpartition = _method("argpartition", "kth / axis kind order")
    argsort = _method("argsort", "axis kind order")
    choose = _method("choose", "*choices out mode")
    nonzero = _method("nonzero")
    searchsorted = _method("searchsorted", "v / side sorter")
    take = _method("take", "indices / axis out mode")
    partition = _method("partition", "kth / axis kind order", inside=True)
    sort = _method("sort", "axis kind order", inside=True)

    # linear algebra
    dot = _method("dot", "b / out")

    def conj(self: Any) -> Any:
        """Return `xl.conj` of complex elements; real ones are the array itself."""
        if kind(self.dtype) != "c":
            return self
        return self._like(function_named("conj")(self))

    conjugate = conj

    def _target(self) -> Any:
        """Return the container that is written in the place of the array."""
        return self

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Any:
        """Return `xl.compress` of the array, whose first parameter is the condition."""
        return function_named("compress")(condition, self, axis, out)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """Set elements by their numbers in row-major order, in place; see `xl.put`."""
        namespace(None).put(self._target(), indices, values, mode=mode)
