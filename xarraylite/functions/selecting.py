"""Order, sets, positions and parts of arrays, computed by NumPy; see `of_numpy`."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.container import XContainer
from ..arrays.few import values_of
from ..operands import tracing
from . import running
from .of_numpy import Array, Arrays, Container, of_numpy


@of_numpy(arithmetic=False)
def partition(
    a: Array, kth: int | tuple[int, ...], axis: int | None = -1, kind: str = "introselect"
) -> Any:
    """Return the elements in such an order that some are where sorting would put them.

    >>> xl.partition([3, 1, 2], 0)[0]
    XScalar(1)
    """


@of_numpy(arithmetic=False, like=partition)
def argpartition() -> None:
    """Return the positions of the elements in the order of `partition`.

    Returns: XArray of int64

    >>> xl.argpartition([3, 1, 2], 0)[0]
    XScalar(1)
    """


@of_numpy(arithmetic=False)
def lexsort(keys: Arrays, axis: int = -1) -> Any:
    """Return the positions that sort by several keys, the last one first.

    Returns: XArray of int64

    >>> xl.lexsort(([1, 0, 2], [0, 1, 0]))
    XArray([0, 2, 1])
    """


@of_numpy(arithmetic=False)
def sort_complex(a: Array) -> Any:
    """Return the elements sorted by real, then by imaginary part.

    Returns: complex XArray

    >>> xl.sort_complex([2, 1])
    XArray([1.+0.j, 2.+0.j])
    """


@of_numpy(arithmetic=False)
def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the distinct elements in ascending order.

    Returns: XArray, or a tuple with what else is asked for

    >>> xl.unique([3, 1, 3])
    XArray([1, 3])
    """


@of_numpy(arithmetic=False)
def intersect1d(
    ar1: Array, ar2: Array, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the elements that both sets have, in ascending order.

    >>> xl.intersect1d([1, 2, 3], [3, 1, 4])
    XArray([1, 3])
    """


@of_numpy(arithmetic=False)
def union1d(ar1: Array, ar2: Array) -> Any:
    """Return the elements that either set has, in ascending order.

    >>> xl.union1d([1, 2], [3, 1])
    XArray([1, 2, 3])
    """


@of_numpy(arithmetic=False)
def setdiff1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Any:
    """Return the elements of the first set that the second has not.

    >>> xl.setdiff1d([1, 2, 3], [1])
    XArray([2, 3])
    """


@of_numpy(arithmetic=False)
def setxor1d(ar1: Array, ar2: Array, assume_unique: bool = False) -> Any:
    """Return the elements that one of the sets has, and not both.

    >>> xl.setxor1d([1, 2], [2, 3])
    XArray([1, 3])
    """


@of_numpy(arithmetic=False)
def argwhere(a: Array) -> Any:
    """Return the positions of elements that are not zero, one row each.

    Returns: XArray of int64

    >>> xl.argwhere([[0, 1], [2, 0]])
    XArray([[0, 1],
            [1, 0]])
    """


@of_numpy(arithmetic=False)
def flatnonzero(a: Array) -> Any:
    """Return the positions of elements that are not zero in the flattened array.

    Returns: XArray of int64

    >>> xl.flatnonzero([0, 1, 2])
    XArray([1, 2])
    """


@of_numpy(arithmetic=False)
def nanargmin(
    a: Array, axis: int | None = None, out: Container | None = None, *, keepdims: bool = False
) -> Any:
    """Return the position of the least element that is not NaN.

    Returns: XArray of int64

    >>> xl.nanargmin([xl.nan, 2.0, 1.0])
    XScalar(2)
    """


@of_numpy(arithmetic=False, like=nanargmin)
def nanargmax() -> None:
    """Return the position of the greatest element that is not NaN.

    Returns: XArray of int64

    >>> xl.nanargmax([xl.nan, 2.0, 1.0])
    XScalar(1)
    """


@of_numpy(arithmetic=False)
def digitize(x: Array, bins: Array, right: bool = False) -> Any:
    """Return which bin each element is in.

    Returns: XArray of int64

    >>> xl.digitize([0.5, 2.5], [0, 1, 2, 3])
    XArray([1, 3])
    """


@of_numpy(arithmetic=False)
def bincount(x: Array | list[int], /, weights: Array | None = None, minlength: int = 0) -> Any:
    """Return how often each of the numbers from 0 on occurs.

    Returns: XArray of int64, or of float64 with weights

    >>> xl.bincount([0, 1, 1, 3])
    XArray([1, 2, 0, 1])
    """


@of_numpy(arithmetic=False)
def extract(condition: Array, arr: Array) -> Any:
    """Return the elements where a condition holds.

    Returns: XArray of rank 1

    >>> xl.extract([True, False, True], [1, 2, 3])
    XArray([1, 3])
    """


@of_numpy(arithmetic=False)
def compress(
    condition: Array, a: Array, axis: int | None = None, out: Container | None = None
) -> Any:
    """Return the slices along an axis where a condition holds.

    >>> xl.compress([True, False], [[1, 2], [3, 4]], axis=0)
    XArray([[1, 2]])
    """


@of_numpy(arithmetic=False)
def choose(a: Array, choices: Arrays, out: Container | None = None, mode: str = "raise") -> Any:
    """Return elements of several arrays, chosen by number.

    >>> xl.choose([0, 1], [[1, 2], [10, 20]])
    XArray([ 1, 20])
    """


def _digits(indices: Any, shape: Any, order: Any = "C") -> Any:
    """Return NumPy's `unravel_index`; of many positions by fast divisions of all by one number."""
    if getattr(indices, "size", 0) < running.MANY:
        return np.unravel_index(indices, shape, order)
    values, extents = indices, (shape,) if isinstance(shape, int) else tuple(shape)
    usual = values.dtype == np.int64 and order in ("C", "F")
    if not (usual and values.min() >= 0 and values.max() < math.prod(extents)):
        return np.unravel_index(indices, shape, order)
    digits = []
    for extent in extents[:0:-1] if order == "C" else extents[:-1]:
        rest = values // extent
        digit = rest * -extent
        digits.append(np.add(digit, values, digit))
        values = rest
    digits.append(values)
    return tuple(digits[::-1] if order == "C" else digits)


@of_numpy(by=_digits, arithmetic=False)
def unravel_index(indices: Array, shape: int | tuple[int, ...], order: str = "C") -> Any:
    """Return the positions along each dimension of positions in the flattened array.

    Returns: tuple of XArray

    >>> xl.unravel_index([1, 5], (2, 3))
    (XArray([0, 1]), XArray([1, 2]))
    """


@of_numpy(arithmetic=False)
def ravel_multi_index(
    multi_index: Arrays, dims: int | tuple[int, ...], mode: str = "raise", order: str = "C"
) -> Any:
    """Return the positions in the flattened array of positions along each dimension.

    Returns: XArray of int64

    >>> xl.ravel_multi_index(([0, 1], [1, 2]), (2, 3))
    XArray([1, 5])
    """


@of_numpy(arithmetic=False)
def diag_indices(n: int, ndim: int = 2) -> Any:
    """Return the positions of the main diagonal.

    Returns: tuple of XArray

    >>> xl.diag_indices(2)
    (XArray([0, 1]), XArray([0, 1]))
    """


@of_numpy(arithmetic=False)
def diag_indices_from(arr: Array) -> Any:
    """Return the positions of an array's main diagonal.

    Returns: tuple of XArray

    >>> xl.diag_indices_from(xl.zeros((2, 2)))
    (XArray([0, 1]), XArray([0, 1]))
    """


@of_numpy(arithmetic=False)
def tril_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Return the positions of a lower triangle.

    Returns: tuple of XArray

    >>> xl.tril_indices(2)
    (XArray([0, 1, 1]), XArray([0, 0, 1]))
    """


@of_numpy(arithmetic=False)
def triu_indices(n: int, k: int = 0, m: int | None = None) -> Any:
    """Return the positions of an upper triangle.

    Returns: tuple of XArray

    >>> xl.triu_indices(2)
    (XArray([0, 0, 1]), XArray([0, 1, 1]))
    """


@of_numpy(arithmetic=False)
def tril_indices_from(arr: Array, k: int = 0) -> Any:
    """Return the positions of an array's lower triangle.

    Returns: tuple of XArray

    >>> xl.tril_indices_from(xl.zeros((2, 2)))
    (XArray([0, 1, 1]), XArray([0, 0, 1]))
    """


@of_numpy(arithmetic=False)
def triu_indices_from(arr: Array, k: int = 0) -> Any:
    """Return the positions of an array's upper triangle.

    Returns: tuple of XArray

    >>> xl.triu_indices_from(xl.zeros((2, 2)))
    (XArray([0, 0, 1]), XArray([0, 1, 1]))
    """


@of_numpy
def delete(arr: Array, obj: Array | slice, axis: int | None = None) -> Any:
    """Return an array without some slices along an axis.

    >>> xl.delete([1, 2, 3], 1)
    XArray([1, 3])
    """


@of_numpy
def insert(arr: Array, obj: Array | slice, values: Array, axis: int | None = None) -> Any:
    """Return an array with something inserted before positions.

    >>> xl.insert([1, 3], 1, 2)
    XArray([1, 2, 3])
    """


@of_numpy
def resize(a: Array, new_shape: int | tuple[int, ...]) -> Any:
    """Return an array of another size, filled with as many repetitions as needed.

    >>> xl.resize([1, 2], 5)
    XArray([1, 2, 1, 2, 1])
    """


class _Cut:
    """A container to a function of NumPy's that looks at values and slices what it was given."""

    def __init__(self, of: XContainer) -> None:
        self.of = of

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return values_of(self.of)

    def __getitem__(self, key: Any) -> Any:
        return self.of[key]


def _of_its_kind(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have part of a list or tuple come back as one, and that of a container as a view of it."""
    trimmed: Any = np.trim_zeros  # which slices what it is given

    @functools.wraps(function)
    def call(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
        if axis is None and type(filt) in (list, tuple):
            return trimmed(filt, trim)
        if isinstance(filt, XContainer) and not tracing.is_active():
            with contextlib.suppress(TypeError, ValueError, IndexError):  # `function` says why
                made = trimmed(_Cut(filt), trim, axis)
                return filt if isinstance(made, _Cut) else made
        return function(filt, trim, axis)

    return call


@_of_its_kind
@of_numpy
def trim_zeros(filt: Array, trim: str = "fb", axis: int | tuple[int, ...] | None = None) -> Any:
    """Return a vector without the zeros at its ends.

    Returns: view of a container, XArray of what is lazy; a list or tuple where that is given

    >>> xl.trim_zeros([0, 1, 0, 2, 0])
    [1, 0, 2]
    """
