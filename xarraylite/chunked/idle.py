"""Runs that compute nothing: what `explain` looks at, and what finds the least budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from ..ir.node import Node
from .budget import BudgetError
from .grid import Grid
from .pipeline import Run, weighed
from .plan import Cuts, Piece
from .selection import Box

#: Blocks of a pass that are cut, about; each stands for those up to the next.
_CUT = 1000


class Idle:
    """Runs no block, and hands back zeros where results are needed to go on.

    Attributes
    ----------
    carried : bool
        As of the blocks of the pass that is looked at (`Cuts`).

    Parameters
    ----------
    keeps : bool, default True
        Whether blocks can share chunks.
    budget : int, optional
        What every block must fit; without one some blocks are looked at.
    """

    def __init__(self, keeps: bool = True, budget: int = 0) -> None:
        self.keeps = keeps
        self._blocks, self._budget = 0, budget
        self.carried = False

    def begin(self, what: str, blocks: int) -> None:
        """Hear of a pass that begins."""
        self._blocks = blocks

    def see(self, piece: Piece, number: int, times: int, room: tuple[int, int]) -> None:
        """Look at a block, which stands for some more like it.

        ``room``: bytes of chunks that are kept, and in flight.
        """

    def run_blocks(
        self,
        pieces: Cuts,
        take: Callable[[Piece, NumpyArray], None] | None,
        write: Callable[[Box, NumpyArray], None] | None,
        kept: int,
        need: int,
    ) -> Iterator[Piece]:
        """Cut some of the blocks."""
        if self._budget:
            pieces = replace(pieces, keys=[*pieces.keys])
            for _ in weighed(pieces, Run(self._budget), kept, need):
                pass
        blocks, even, self.carried = self._blocks, pieces.make.even, pieces.carried

        def room(piece: Piece) -> tuple[int, int]:
            return kept, need if even else max(need, piece.need + kept)

        every = 1 + blocks // _CUT
        keys = pieces.keys
        if take is None and isinstance(keys, Grid):  # the others need not be looked for
            for number in range(0, len(keys), every):
                piece = pieces.make(keys[number])
                self.see(piece, number, min(every, blocks - number), room(piece))
                yield piece
            return
        for number, key in enumerate(keys):
            if number % every == 0:
                piece = pieces.make(key)
                self.see(piece, number, min(every, blocks - number), room(piece))
                shape, dtype = piece.node.shape, piece.node.dtype
            else:
                piece = Piece(key, Node(shape, dtype), [])
            if take is not None:
                take(piece, np.zeros(shape, dtype))
            yield piece


class Nowhere:
    """A target of a shape and a dtype that nothing is written to, in whole chunks or not."""

    def __init__(self, root: Node, whole: bool) -> None:
        self.shape, self.dtype = root.shape, root.dtype
        if whole:
            self.chunks = root.shape  # only whether there are any is asked

    def __setitem__(self, key: object, values: NumpyArray) -> None:
        """Drop what would be written."""


def with_least(
    operation: str, work: Callable[[Run], Any], run: Run, again: Callable[[Run], Any]
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

    Raises
    ------
    SizeError
        If the budget is too small for a block.
    """
    try:
        return work(run)
    except BudgetError as error:
        least = error.least
        while True:
            idle = Idle(run.keeps, least if error.late else 0)
            try:
                again(Run(least, report=idle.begin, cluster=idle))
            except BudgetError as more:
                least = max(more.least, least + 1)
            else:
                told = f"{operation}: {error.told}"
                raise BudgetError(told, run.budget, least) from None
