"""`Flat`: an array's elements under one index, in row-major order, wherever they lie."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..operands.convert import check_representable
from ..operands.nodes import is_number


class Flat:
    """The elements of an array in row-major order, read and written through one index.

    What NumPy calls a flat iterator.  Reading returns values and copies; writing reaches the
    array.  ``next`` yields one value after the other, and a loop goes on where that
    has stopped.

    Parameters
    ----------
    array : array
        Any container, expression or value.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2], [3, 4]])
    >>> a.T.flat[1], [int(x) for x in a.flat]
    (XScalar(3), [1, 2, 3, 4])
    >>> row = a.flat
    >>> next(row), row.index, row.coords
    (XScalar(1), 1, (0, 1))
    >>> a.flat[1:3] = 0
    >>> a
    XArray([[1, 0],
            [0, 4]])
    """

    __slots__ = ("_array", "_positions")

    _array: Any
    _positions: Iterator[int] | None

    def __init__(self, array: Any) -> None:
        self._array, self._positions = array, None

    @property
    def base(self) -> Any:
        """The array."""
        return self._array

    @property
    def index(self) -> int:
        """Position of the element that comes next."""
        return len(self) - operator.length_hint(self._left())

    @property
    def coords(self) -> tuple[int, ...]:
        """Indices of the element that comes next."""
        return self._place(self.index)

    def _left(self) -> Iterator[int]:
        """Return the positions that `next` has not come to."""
        if self._positions is None:
            self._positions = iter(range(len(self)))
        return self._positions

    def _place(self, left: int) -> tuple[int, ...]:
        """Return the indices of the element at a position, which is in range."""
        place: tuple[int, ...] = ()
        for extent in self._array.shape[:0:-1]:
            left, last = divmod(left, extent)
            place = (last, *place)
        return (left, *place) if self._array.shape else ()

    def _at(self, position: int) -> Any:
        return self._array[self._place(position)]

    def copy(self) -> Any:
        """Return the elements as a container of rank 1."""
        return self._array.flatten()

    def __len__(self) -> int:
        """Return the number of elements."""
        return int(self._array.size)

    def _index(self, key: Any) -> tuple[Any, ...]:
        """Return the indices along all dimensions of the elements that one index selects."""
        if key.__class__ is int:
            size = self._array.size
            if -size <= key < size:
                return self._place(key % size)
        key = np.asarray(key) if hasattr(key, "__array__") else key
        places = np.arange(len(self))[key]
        index = np.unravel_index(places, self._array.shape or (1,))
        index = index if self._array.shape else ()
        return tuple([int(k) for k in index]) if np.ndim(places) == 0 else tuple(index)

    def __getitem__(self, key: Any) -> Any:
        """Return a value, or a copy of the elements that ``key`` selects."""
        array = self._array
        if key.__class__ is int:
            shape = array.shape
            if len(shape) == 1:
                return array[key]
            if len(shape) == 2 and shape[1]:
                return array[divmod(key, shape[1])]  # a row from the end, if it is negative
        elif not array.shape:
            return array.reshape(1)[key]
        return array[self._index(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write elements; a sequence is written in order, again and again until all are written."""
        index = self._index(key)
        if not (self._array.shape or np.size(np.arange(1)[key])):
            return
        check_representable(value, self._array.dtype, "flat")
        if not is_number(value) and np.ndim(value):
            wanted = np.shape(index[0]) if index else ()
            if 0 < np.size(value) != math.prod(wanted):
                value = np.resize(np.asarray(value), wanted)
            value = np.reshape(value, wanted) if np.ndim(value) > 1 else value
        self._array[index] = value

    def __iter__(self) -> Iterator[Any]:
        """Yield what `next` returns."""
        array = self._array
        row = None if getattr(array, "lasting", True) else array.reshape(-1)
        return map(self._at if row is None or row.lasting else row.__getitem__, self._left())

    def __next__(self) -> Any:
        """Return the next value."""
        return self._at(next(self._left()))

    def __eq__(self, other: object) -> Any:
        """Compare the elements in a row, as an array's."""
        return self.copy() == (other.copy() if isinstance(other, Flat) else other)

    def __ne__(self, other: object) -> Any:
        """Compare the elements in a row, as an array's."""
        return self.copy() != (other.copy() if isinstance(other, Flat) else other)

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return a copy of the elements as a NumPy vector."""
        if copy is False:
            raise ValueError("flat: the elements in a row need a copy")
        return np.asarray(self._array).flatten().astype(dtype or self._array.dtype, copy=False)

    def __repr__(self) -> str:
        return f"<flat elements of {self._array.summary()}>"
