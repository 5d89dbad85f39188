"""What may stand in a view besides integers: ranges, `keep`, `drop`, `newaxis`, `ellipsis`."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from types import EllipsisType
from typing import Any, SupportsIndex

import numpy as np

from .._errors import IndexRangeError
from .._records import record
from ..index.box import is_vector

Positions = np.ndarray[tuple[int, ...], np.dtype[np.int64]]

#: Positions up to which Python takes no longer than NumPy.
SHORT = 32

#: Stands for as many whole dimensions as are left.
ellipsis: EllipsisType = Ellipsis


def range(
    start: SupportsIndex | None = None,
    stop: SupportsIndex | None = None,
    step: SupportsIndex | None = None,
    /,
) -> slice:
    """Return the slice ``start:stop:step``.

    None is xtensor's placeholder ``_``; no argument at all means the whole dimension.  One bound
    alone is where it starts, not where it ends as in Python's own `range`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.view(xl.arange(6), xl.range(1, None, 2))
    XView([1, 3, 5])
    """
    return slice(start, stop, step)


@record(frozen=True, slots=True)
class Pick:
    """Positions along one dimension that a view keeps, or drops.

    Attributes
    ----------
    positions : tuple of int
        As they were given; negative ones count from the end.
    drops : bool
        Whether all others are meant.
    """

    positions: tuple[int, ...]
    drops: bool = False

    def is_short(self, extent: int) -> bool:
        """Tell whether there are few positions."""
        return len(self.positions) <= SHORT and (not self.drops or extent <= SHORT)

    def of(self, extent: int) -> Positions:
        """Return the positions in a dimension of an extent.

        Raises
        ------
        IndexRangeError
            If one is out of range.
        """
        wrong = [p for p in self.positions if not -extent <= p < extent]
        if wrong:
            raise IndexRangeError(f"{self}: {wrong[0]} is out of range for an extent of {extent}")
        given = np.array(self.positions, np.int64).reshape(-1)
        given = np.where(given < 0, given + extent, given)
        return np.delete(np.arange(extent, dtype=np.int64), given) if self.drops else given

    def __repr__(self) -> str:
        return f"{'drop' if self.drops else 'keep'}({', '.join(map(str, self.positions))})"


def keep(*positions: Any) -> Pick:
    """Return an item that picks positions of one dimension, in this order, repeats included.

    Each dimension of a view is picked on its own, so two of them select a grid (NumPy's
    ``a[np.ix_(…)]``).

    Parameters
    ----------
    *positions : int, or one sequence of int
        Negative ones count from the end.

    Raises
    ------
    IndexRangeError
        If one is no integer.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    >>> v = xl.view(a, xl.keep(0, 2), xl.keep(2, 0, 0))
    >>> v
    XDynamicView([[3, 1, 1],
                  [9, 7, 7]])
    >>> xl.view(a, xl.keep(0, 1), xl.keep(0, 1, 1))[...] = 0
    >>> a
    XArray([[0, 0, 3],
            [0, 0, 6],
            [7, 8, 9]])
    """
    return Pick(_listed(positions, "keep"))


def drop(*positions: Any) -> Pick:
    """Return an item that picks all positions of a dimension but these; see `keep`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.view(xl.arange(5), xl.drop(0, -1))
    XView([1, 2, 3])
    """
    return Pick(_listed(positions, "drop"), True)


def xtuple(*arrays: Any) -> tuple[Any, ...]:
    """Return the operands of a join as xtensor writes them: a tuple.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.concatenate(xl.xtuple([1, 2], [3])))
    XArray([1, 2, 3])
    """
    return arrays


def _listed(given: tuple[Any, ...], name: str) -> tuple[int, ...]:
    if all([item.__class__ is int for item in given]):
        return given
    items = given[0] if len(given) == 1 and is_vector(given[0]) else given
    return integers(items, name)


def integers(items: Iterable[Any], operation: str) -> tuple[int, ...]:
    """Return positions as Python's integers.

    Raises
    ------
    IndexRangeError
        If one is none.
    """
    try:
        return tuple([operator.index(item) for item in items if not _is_bool(item)])
    except TypeError:
        raise IndexRangeError(f"{operation}: positions must be integers, got {items}") from None


def _is_bool(item: object) -> bool:
    if isinstance(item, bool | np.bool_):
        raise TypeError
    return False
