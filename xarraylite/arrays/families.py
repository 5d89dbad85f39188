"""What a lazy result and its views know of each other; `ownership` says what it is for."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ..index.indices import parse_index
from ..index.transform import Transform, permute
from ..layout.strided import Strided
from ..memory.snapshots import NAMED
from ..operands.gathers import is_index_array


class Owning:
    """What a handle has to do with writing.

    Attributes
    ----------
    memory : XContainer or None
        What the handle stands for since it was written.
    root : XExpression or None
        The result that the handle is a view of.
    origin : tuple of int
        Shape of the result that the first of the views was of, whoever holds it.
    path : tuple of (Transform, shape, part or list)
        The views that lead from there to it: under another index, of another shape, or a part
        of complex elements; machine code notes an index as it was written (`indexed_by`).
    begin : int
        How many of them lead to ``root``.
    family : list of weak references
        The result and its views.
    seen : int
        Elements of its views, as far as they were counted.
    """

    __slots__ = ("begin", "family", "memory", "origin", "path", "root", "seen")
    seen: int

    def __init__(self) -> None:
        self.memory: Any = None
        self.root: Any = None
        self.origin: tuple[int, ...] = ()
        self.path: tuple[Any, ...] = ()
        self.begin = 0
        self.family: list[weakref.ref[Any]] = []

    def source(self) -> Any:
        """Return the result that the handle is a view of, if others hold it or a view of it."""
        root = self.root
        if root is not None and sys.getrefcount(root) <= NAMED and len(self.members()) <= 2:
            mark = weakref.ref(root)
            self.root = root = None  # the two of them are all there is
            self.root = mark()  # where it was counted rightly it is gone
        return self.root

    def place(self) -> Strided:
        """Return where a view's elements would lie in the memory of its family."""
        place = Strided.row_major(self.origin)
        for step in self.path:
            if isinstance(step, int):
                place = Strided(place.shape, tuple([2 * stride for stride in place.strides]))
            elif isinstance(step, Transform):
                place = place.apply(step)
            elif isinstance(step, list):
                place = place.apply(indexed_by(place.shape, step))
            else:
                place = place.reshape(step) or Strided.row_major(step)
        return place

    def members(self) -> list[Any]:
        """Return the handles of the family that are alive."""
        found = [member() for member in self.family]
        return [member for member in found if member is not None]


def indexed_by(shape: tuple[int, ...], step: list[Any]) -> Transform:
    """Return a view that machine code made: of the index in a list, or turned if there is none."""
    if step:
        return parse_index(step[0], shape, is_index_array).transform
    return permute(shape, tuple(reversed(range(len(shape)))))
