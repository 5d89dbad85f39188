"""Functions that move elements, of operands that are several arrays of one shape.

An optional array is values and flags; what only puts elements elsewhere does the same to both.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, ClassVar, ParamSpec, TypeVar

from .nodes import Lifted
from .non_numeric import or_numpy

P = ParamSpec("P")
R = TypeVar("R")


class Parted(Lifted):
    """Base of operands that are several arrays, whose elements belong together."""

    __slots__ = ()

    #: Functions of evaluated operands that are methods here.
    own: ClassVar[frozenset[str]] = frozenset()

    def parts(self, other: object) -> tuple[Any, ...]:
        """Return the arrays that another operand is, as this one is them."""
        raise NotImplementedError

    def joined(self, parts: tuple[Any, ...]) -> Any:
        """Return the operand of which these are the arrays."""
        raise NotImplementedError

    def mapped(self, values: Any, *others: Any) -> Any:
        """Return values that were made of its own and others', each of one element of each."""
        raise NotImplementedError

    def folded(self, call: Callable[[Any], Any], axis: Any, keepdims: bool = False) -> Any:
        """Return what a function that folds over axes makes of the values."""
        raise NotImplementedError

    def accumulated(self, call: Callable[[Any], Any], axis: Any) -> Any:
        """Return what a function that goes along an axis makes of the values."""
        raise NotImplementedError


#: How operands are made of arrays: of how many each, and by what, None where it is the array.
Joins = list[tuple[int, Callable[[tuple[Any, ...]], Any] | None]]


def apart(operands: Iterable[Any]) -> tuple[list[Any], Joins]:
    """Return the arrays that operands are, and how these are made of them."""
    arrays: list[Any] = []
    joins: Joins = []
    for operand in operands:
        whole = isinstance(operand, Parted)
        own = operand.parts(operand) if whole else (operand,)
        joins.append((len(own), operand.joined if whole else None))
        arrays += own
    return arrays, joins


def together(arrays: Iterable[Any], joins: Joins) -> list[Any]:
    """Return the operands that are made of arrays; see `apart`."""
    rest = iter(arrays)
    return [next(rest) if join is None else join(tuple(islice(rest, n))) for n, join in joins]


def maps(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function of each element alone compute the values of parts.

    A result is what the operands' values make, there where all of them are.
    """
    call: Callable[..., Any] = function

    @functools.wraps(function)
    def mapped(*args: P.args, **kwargs: P.kwargs) -> R:
        parts: list[Any] = [x for x in args if isinstance(x, Parted)]
        if not parts:
            return function(*args, **kwargs)
        first, *others = parts
        values = [x.parts(x)[0] if isinstance(x, Parted) else x for x in args]
        made: Any = call(*values, **kwargs)
        several = isinstance(made, tuple)
        every = [first.mapped(one, *others) for one in (made if several else (made,))]
        return tuple(every) if several else every[0]  # type: ignore[return-value]

    return mapped


#: Functions of each element alone that NumPy computes.
MAPPED = frozenset(("bitwise_count", "frexp", "gcd", "i0", "lcm", "ldexp", "logaddexp2", "spacing"))

#: Functions that NumPy computes and that only move elements, and the parameters that have these.
MOVED = {
    "compress": ("a",),
    "delete": ("arr",),
    "extract": ("arr",),
    "insert": ("arr", "values"),
    "resize": ("a",),
    "take_along_axis": ("arr",),
}


def of_parts(
    name: str,
    function: Callable[..., Any],
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Return what a function that NumPy computes makes of parts; `NotImplemented` if nothing."""
    if name in MAPPED:
        return maps(function)(*args, **kwargs)
    bound = signature.bind(*args, **kwargs)
    given = [bound.arguments[key] for key in MOVED.get(name, ())]
    whole = next((x for x in given if isinstance(x, Parted)), None)
    if whole is None:
        return NotImplemented
    made = []
    for arrays in zip(*map(whole.parts, given), strict=True):
        bound.arguments.update(zip(MOVED[name], arrays, strict=True))
        made.append(function(*bound.args, **bound.kwargs))
    return whole.joined(tuple(made))


def moves(function: Callable[P, R]) -> Callable[P, R]:
    """Have a function that only moves elements move all arrays of its operand.

    The operand is the first argument, or what a sequence there has; results that are sequences are
    taken apart alike.
    """

    call: Callable[..., Any] = function
    plainly = or_numpy(function)

    @functools.wraps(function)
    def moved(*args: P.args, **kwargs: P.kwargs) -> R:
        first: Any = args[0] if args else None
        several = isinstance(first, (list, tuple))
        whole: Any = first if isinstance(first, Parted) else None
        if several:
            whole = next((x for x in first if isinstance(x, Parted)), None)
        if whole is None:
            return plainly(*args, **kwargs)
        given = zip(*map(whole.parts, first), strict=True) if several else whole.parts(whole)
        made: Any = [call(list(x) if several else x, *args[1:], **kwargs) for x in given]
        if isinstance(made[0], (list, tuple)):
            every = [whole.joined(parts) for parts in zip(*made, strict=True)]
            made = type(made[0])(every)
        else:
            made = whole.joined(tuple(made))
        return made  # type: ignore[no-any-return]

    return moved
