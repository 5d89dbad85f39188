"""Runs that compute nothing: what `explain` looks at, and what finds the least budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from ..ir.node import Node
from .budget import BudgetError
from .grid import Grid
from .piece import Piece
from .pipeline import Cuts, Done, Run, Write

#: Blocks of a pass that are cut where the caller does not say.
_CUT = 1000


class Idle:
    """Runs no block, and hands back zeros where results are needed to go on.

    Attributes
    ----------
    pieces : Cuts or None
        The blocks of the pass that is looked at.

    Parameters
    ----------
    keeps : bool, default True
        Whether blocks can share chunks.
    cut : int, optional
        Blocks of a pass that are cut, about; each stands for those up to the next.
    """

    def __init__(self, keeps: bool = True, cut: int | None = None) -> None:
        self.keeps = keeps
        self._blocks, self._cut = 0, cut or _CUT
        self.pieces: Cuts | None = None

    def begin(self, what: str, blocks: int) -> None:
        """Hear of a pass that begins."""
        self._blocks = blocks

    def see(self, piece: Piece, number: int, times: int, room: tuple[int, int]) -> None:
        """Look at a block, which stands for some more like it.

        ``room``: bytes of chunks that are kept, and in flight.
        """

    def run_blocks(self, pieces: Cuts, values: bool, write: Write | None) -> Done:
        """Cut some of the blocks."""
        blocks, self.pieces, room = self._blocks, pieces, (pieces.kept, pieces.need)
        every = 1 + blocks // self._cut
        keys = pieces.keys
        some: Iterable[tuple[int, Any]] = enumerate(keys)
        if not values and isinstance(keys, Sequence | Grid):  # others need not be looked for
            some = ((number, keys[number]) for number in range(0, len(keys), every))
        for number, key in some:
            if number % every == 0:
                piece = pieces.make(key)
                self.see(piece, number, min(every, blocks - number), room)
                shape, dtype = piece.node.shape, piece.node.dtype
            else:
                piece = Piece(key, Node(shape, dtype), [])
            yield piece, np.zeros(shape, dtype) if values else None


class Nowhere:
    """A target of a shape and a dtype that nothing is written to, in whole chunks or not.

    Attributes
    ----------
    instead : object
        The array that it stands for, if there is one.
    """

    def __init__(self, root: Node, whole: bool, instead: object = None) -> None:
        self.shape, self.dtype, self.instead = root.shape, root.dtype, instead
        if whole:
            self.chunks = root.shape  # only whether there are any is asked

    def __setitem__(self, key: object, values: NumpyArray) -> None:
        """Drop what would be written."""


def with_least(
    operation: str,
    work: Callable[[Run], Any],
    run: Run,
    again: Callable[[Run], Any],
    several: bool = False,
) -> Any:
    """Do some work; where the budget is too small, say how much would do for all of its passes.

    Parameters
    ----------
    operation : str
        What is said to do it.
    work : callable
        Does it in a run.
    run : Run
        With the budget.
    again : callable
        The same, where nothing must be written.
    several : bool, default False
        Whether passes may have been run before a later one would be refused: all are planned first.

    Raises
    ------
    SizeError
        If the budget is too small for a block.
    """
    try:
        if several:
            _plan(again, run.keeps, run.budget)
        return work(run)
    except BudgetError as error:
        least = _enough(again, run.keeps, error.least)
        raise BudgetError(f"{operation}: {error.told}", run.budget, least) from None


def _plan(again: Callable[[Run], Any], keeps: bool, budget: int) -> None:
    idle = Idle(keeps, 1)
    again(Run(budget, report=idle.begin, cluster=idle))


def _enough(again: Callable[[Run], Any], keeps: bool, budget: int) -> int:
    """Return a budget that does, from the one given on."""
    while True:
        try:
            _plan(again, keeps, budget)
        except BudgetError as more:
            budget = max(more.least, budget + 1)
        else:
            return budget
