"""Loops over elements of which few are hard.

Elementary functions are computed in a fraction of the time where their arguments are usual ones:
no clamps, no selects, no reduction of huge angles.  Such a loop computes all elements so, and tells
whether an argument was *hard*, that is outside of what the short code is right for.  Where one was,
hard elements are computed once more by the code for all arguments.  Usual ones have the same bits
either way.

What is computed once more decides how much code there is for LLVM (`Near`).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from .builder import Builder, Local, Pace, Value

#: How many times elements are taken to be hard after some were.
PATIENCE = 8

#: How fast the loop that takes elements for usual ones may be where the other one is not.
_FAST = (Pace.FULL, Pace.PAIRED)


class Near(Enum):
    """Whether what takes less time for most arguments is tried first."""

    NONE = 0
    """No: there is no such code."""
    FEW = 1
    """Yes; hard elements are computed one by one, which takes LLVM less time than one vector."""
    MANY = 2
    """Yes; where one was hard all are computed as vectors, and so are the next ones."""


def each(
    b: Builder,
    near: Near,
    patience: Local | None,
    bounds: tuple[Value | int, Value | int],
    compute: Callable[[Value], Value],
    put: Callable[[Value, Value], None],
    pace: Pace = Pace.FULL,
) -> None:
    """Emit a loop over some elements.

    Parameters
    ----------
    b : Builder
        Where instructions go.
    near : Near
        How they are computed.
    patience : Local or None
        Of `Near.MANY`: for how many more loops elements are taken to be hard.
    bounds : pair of Value or int
        First index, and that behind the last.
    compute : callable
        Emits the computation of an element.
    put : callable
        Emits the store of one at an index; it may be stored twice.
    pace : Pace
        Of the loop over all elements.
    """
    if near is Near.NONE:
        with b.loop(*bounds, pace=pace) as j:
            put(j, compute(j))
        return
    hard = b.local(b.integer(0) < 0 if patience is None else patience.get() > 0)
    one = b.local(0, "i1")  # of an element: LLVM takes no chain of several for a fold
    with b.when(hard.get().equals(0)):
        b.hard = one
        with b.loop(*bounds, pace=pace) as j:
            one.set(0)
            put(j, compute(j))
            hard.set(hard.get() | one.get())
        b.hard = None
        if patience is not None:
            patience.set(b.select(hard.get(), b.integer(PATIENCE), 0))
    with b.when(hard.get()):
        if patience is not None:
            patience.add(-1)
            with b.loop(*bounds, pace=Pace.SLOW if pace in _FAST else pace) as j:
                put(j, compute(j))
        else:
            with b.loop(*bounds, pace=Pace.SINGLE) as j:
                one.set(0)
                b.hard = one
                compute(j)
                b.hard = None
                with b.when(one.get()):
                    b.rare = True
                    put(j, compute(j))
                    b.rare = False
