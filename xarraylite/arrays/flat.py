"""`Flat`: an array's elements under one index, in row-major order, wherever they lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Flat:
    """The elements of an array in row-major order, read and written through one index.

    What NumPy calls a flat iterator.  Reading returns values and copies; writing reaches the
    array.

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
    >>> a.flat[1:3] = 0
    >>> a
    XArray([[1, 0],
            [0, 4]])
    """

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def base(self) -> Any:
        """The array."""
        return self._array

    def __len__(self) -> int:
        """Return the number of elements."""
        return int(self._array.size)

    def _index(self, key: Any) -> tuple[Any, ...]:
        """Return the indices along all dimensions of the elements that one index selects."""
        key = np.asarray(key) if hasattr(key, "__array__") else key
        places = np.arange(len(self))[key]
        index = np.unravel_index(places, self._array.shape or (1,))
        index = index if self._array.shape else ()
        return tuple([int(k) for k in index]) if np.ndim(places) == 0 else tuple(index)

    def __getitem__(self, key: Any) -> Any:
        """Return a value, or a copy of the elements that ``key`` selects."""
        return self._array[self._index(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write elements; a sequence is written in order, again and again until all are written."""
        index = self._index(key)
        count = np.size(index[0]) if index else 1
        if np.ndim(value) and 0 < np.size(value) != count:
            value = np.resize(np.asarray(value), np.shape(index[0]) if index else ())
        self._array[index] = value

    def __iter__(self) -> Iterator[Any]:
        """Yield the values."""
        shape = self._array.shape
        return (self._array[index] for index in np.ndindex(*shape))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return a copy of the elements as a NumPy vector."""
        if copy is False:
            raise ValueError("flat: the elements in a row need a copy")
        return np.asarray(self._array).flatten().astype(dtype or self._array.dtype, copy=False)

    def __repr__(self) -> str:
        return f"<flat elements of {self._array.summary()}>"
