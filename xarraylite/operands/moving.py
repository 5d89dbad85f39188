"""Functions that move elements, of operands that are several arrays of one shape.

An optional array is values and flags; what only puts elements elsewhere does the same to both.
"""

from __future__ import annotations

import functools
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

    def mapped(self, values: Any) -> Any:
        """Return the operand with values that were made of its own, each of one element."""
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
    """Have a function of each element alone, the first argument's, compute the values of a part."""
    call: Callable[..., Any] = function

    @functools.wraps(function)
    def mapped(*args: P.args, **kwargs: P.kwargs) -> R:
        first: Any = args[0] if args else None
        if not isinstance(first, Parted):
            return function(*args, **kwargs)
        made: Any = first.mapped(call(first.parts(first)[0], *args[1:], **kwargs))
        return made  # type: ignore[no-any-return]

    return mapped


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
        several = isinstance(first, list | tuple)
        whole: Any = first if isinstance(first, Parted) else None
        if several:
            whole = next((x for x in first if isinstance(x, Parted)), None)
        if whole is None:
            return plainly(*args, **kwargs)
        given = zip(*map(whole.parts, first), strict=True) if several else whole.parts(whole)
        made: Any = [call(list(x) if several else x, *args[1:], **kwargs) for x in given]
        if isinstance(made[0], list | tuple):
            every = [whole.joined(parts) for parts in zip(*made, strict=True)]
            made = type(made[0])(every)
        else:
            made = whole.joined(tuple(made))
        return made  # type: ignore[no-any-return]

    return moved
