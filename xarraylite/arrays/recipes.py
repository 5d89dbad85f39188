"""How results of memoised functions are made of other arguments, without the functions."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence
from typing import Any

from ..ir.kind import Kind
from ..operands.dispatch import ViewRecipe
from .expression import XExpression, handle


class Recipe:
    """How a result is made of the operands of arguments.

    Attributes
    ----------
    kind, shape : Kind, tuple of int
        Of the result.
    constants : tuple
        Operands that are no argument's.
    picks : sequence of int
        The result's operands, by their numbers among the arguments' with the constants behind.
    moved : tuple of (int, int)
        Operands that say where an element begins, and how far behind the argument's.
    record : bytes
        The numbers of both, and then both, as 64-bit words.
    """

    __slots__ = ("constants", "kind", "moved", "picks", "record", "shape")

    def __init__(
        self,
        kind: Kind,
        shape: tuple[int, ...],
        constants: tuple[Any, ...],
        picks: Sequence[int],
        moved: tuple[tuple[int, int], ...],
    ) -> None:
        self.kind, self.shape, self.constants, self.moved = kind, shape, constants, moved
        self.picks = tuple(picks)
        words = [len(picks), len(moved), *picks, *itertools.chain(*moved)]
        self.record = struct.pack(f"{len(words)}q", *words)

    def __call__(self, arrays: Sequence[Any]) -> XExpression:
        """Return the result for other arguments."""
        given = arrays[0].now() if len(arrays) == 1 else sum([x.now() for x in arrays], ())
        return handle(self.kind, self.shape, self.operands(given, self.constants))

    def operands(self, given: tuple[Any, ...], constants: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the result's operands, of others and constants."""
        items = list(map((given + constants).__getitem__, self.picks))
        for place, by in self.moved:
            items[place] += by
        return tuple(items)


class GathersRecipe:
    """How a view of irregular elements of a container is made.

    Attributes
    ----------
    base : ViewRecipe or None
        The view of the container that has the elements; None where it is itself the view.
    like : Gathers
        Such a view, without memory.
    """

    __slots__ = ("base", "like")

    def __init__(self, base: ViewRecipe | None, made: Any) -> None:
        self.base, self.like = base, made.over(made.base)
        del self.like._base

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the view of another container."""
        return self.like.over(arrays[0] if self.base is None else self.base(arrays))
