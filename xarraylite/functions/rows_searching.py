"""Rows of the table of functions that NumPy computes: order, sets, searches and positions."""

from __future__ import annotations

from .row import Row

ROWS: tuple[Row, ...] = (
    # --- order ---
    Row(
        "partition(a: array, /, kth: int | tuple, axis: int | None = -1, "
        "kind: str = 'introselect')",
        "Return the elements in such an order that some are where sorting would put them.",
        "XArray",
        "xl.partition([3, 1, 2], 0)[0]",
        "XScalar(1)",
    ),
    Row(
        "argpartition(a: array, /, kth: int | tuple, axis: int | None = -1, "
        "kind: str = 'introselect')",
        "Return the positions of the elements in the order of `partition`.",
        "XArray of int64",
        "xl.argpartition([3, 1, 2], 0)[0]",
        "XScalar(1)",
    ),
    Row(
        "lexsort(keys: arrays, axis: int = -1)",
        "Return the positions that sort by several keys, the last one first.",
        "XArray of int64",
        "xl.lexsort(([1, 0, 2], [0, 1, 0]))",
        "XArray([0, 2, 1])",
    ),
    Row(
        "sort_complex(a: array)",
        "Return the elements sorted by real, then by imaginary part.",
        "complex XArray",
        "xl.sort_complex([2, 1])",
        "XArray([1.+0.j, 2.+0.j])",
    ),
    # --- sets ---
    Row(
        "unique(ar: array, return_index: bool = False, return_inverse: bool = False, "
        "return_counts: bool = False, axis: int | None = None, *, equal_nan: bool = True)",
        "Return the distinct elements in ascending order.",
        "XArray, or a tuple with what else is asked for",
        "xl.unique([3, 1, 3])",
        "XArray([1, 3])",
    ),
    Row(
        "intersect1d(ar1: array, ar2: array, assume_unique: bool = False, "
        "return_indices: bool = False)",
        "Return the elements that both sets have, in ascending order.",
        "XArray",
        "xl.intersect1d([1, 2, 3], [3, 1, 4])",
        "XArray([1, 3])",
    ),
    Row(
        "union1d(ar1: array, ar2: array)",
        "Return the elements that either set has, in ascending order.",
        "XArray",
        "xl.union1d([1, 2], [3, 1])",
        "XArray([1, 2, 3])",
    ),
    Row(
        "setdiff1d(ar1: array, ar2: array, assume_unique: bool = False)",
        "Return the elements of the first set that the second has not.",
        "XArray",
        "xl.setdiff1d([1, 2, 3], [1])",
        "XArray([2, 3])",
    ),
    Row(
        "setxor1d(ar1: array, ar2: array, assume_unique: bool = False)",
        "Return the elements that one of the sets has, and not both.",
        "XArray",
        "xl.setxor1d([1, 2], [2, 3])",
        "XArray([1, 3])",
    ),
    # --- searching ---
    Row(
        "argwhere(a: array)",
        "Return the positions of elements that are not zero, one row each.",
        "XArray of int64",
        "xl.argwhere([[0, 1], [2, 0]])",
        "XArray([[0, 1],\n        [1, 0]])",
    ),
    Row(
        "flatnonzero(a: array)",
        "Return the positions of elements that are not zero in the flattened array.",
        "XArray of int64",
        "xl.flatnonzero([0, 1, 2])",
        "XArray([1, 2])",
    ),
    Row(
        "nanargmin(a: array, axis: int | None = None, out: container | None = None, *, "
        "keepdims: bool = False)",
        "Return the position of the least element that is not NaN.",
        "XArray of int64",
        "xl.nanargmin([xl.nan, 2.0, 1.0])",
        "XScalar(2)",
    ),
    Row(
        "nanargmax(a: array, axis: int | None = None, out: container | None = None, *, "
        "keepdims: bool = False)",
        "Return the position of the greatest element that is not NaN.",
        "XArray of int64",
        "xl.nanargmax([xl.nan, 2.0, 1.0])",
        "XScalar(1)",
    ),
    Row(
        "digitize(x: array, bins: array, right: bool = False)",
        "Return which bin each element is in.",
        "XArray of int64",
        "xl.digitize([0.5, 2.5], [0, 1, 2, 3])",
        "XArray([1, 3])",
    ),
    Row(
        "bincount(x: array, /, weights: array | None = None, minlength: int = 0)",
        "Return how often each of the numbers from 0 on occurs.",
        "XArray of int64, or of float64 with weights",
        "xl.bincount([0, 1, 1, 3])",
        "XArray([1, 2, 0, 1])",
    ),
    Row(
        "extract(condition: array, arr: array)",
        "Return the elements where a condition holds.",
        "XArray of rank 1",
        "xl.extract([True, False, True], [1, 2, 3])",
        "XArray([1, 3])",
    ),
    Row(
        "compress(condition: array, a: array, axis: int | None = None, "
        "out: container | None = None)",
        "Return the slices along an axis where a condition holds.",
        "XArray",
        "xl.compress([True, False], [[1, 2], [3, 4]], axis=0)",
        "XArray([[1, 2]])",
    ),
    Row(
        "choose(a: array, choices: arrays, out: container | None = None, mode: str = 'raise')",
        "Return elements of several arrays, chosen by number.",
        "XArray",
        "xl.choose([0, 1], [[1, 2], [10, 20]])",
        "XArray([ 1, 20])",
    ),
    Row(
        "unravel_index(indices: array, shape: int | tuple, order: str = 'C')",
        "Return the positions along each dimension of positions in the flattened array.",
        "tuple of XArray",
        "xl.unravel_index([1, 5], (2, 3))",
        "(XArray([0, 1]), XArray([1, 2]))",
    ),
    Row(
        "ravel_multi_index(multi_index: arrays, dims: int | tuple, mode: str = 'raise', "
        "order: str = 'C')",
        "Return the positions in the flattened array of positions along each dimension.",
        "XArray of int64",
        "xl.ravel_multi_index(([0, 1], [1, 2]), (2, 3))",
        "XArray([1, 5])",
    ),
    Row(
        "ix_(*args: array)",
        "Return index arrays that select the product of positions.",
        "tuple of XArray",
        "[index.shape for index in xl.ix_([0, 1], [0, 2])]",
        "[(2, 1), (1, 2)]",
    ),
    Row(
        "diag_indices(n: int, ndim: int = 2)",
        "Return the positions of the main diagonal.",
        "tuple of XArray",
        "xl.diag_indices(2)",
        "(XArray([0, 1]), XArray([0, 1]))",
    ),
    Row(
        "diag_indices_from(arr: array)",
        "Return the positions of an array's main diagonal.",
        "tuple of XArray",
        "xl.diag_indices_from(xl.zeros((2, 2)))",
        "(XArray([0, 1]), XArray([0, 1]))",
    ),
    Row(
        "tril_indices(n: int, k: int = 0, m: int | None = None)",
        "Return the positions of a lower triangle.",
        "tuple of XArray",
        "xl.tril_indices(2)",
        "(XArray([0, 1, 1]), XArray([0, 0, 1]))",
    ),
    Row(
        "triu_indices(n: int, k: int = 0, m: int | None = None)",
        "Return the positions of an upper triangle.",
        "tuple of XArray",
        "xl.triu_indices(2)",
        "(XArray([0, 0, 1]), XArray([0, 1, 1]))",
    ),
    Row(
        "tril_indices_from(arr: array, k: int = 0)",
        "Return the positions of an array's lower triangle.",
        "tuple of XArray",
        "xl.tril_indices_from(xl.zeros((2, 2)))",
        "(XArray([0, 1, 1]), XArray([0, 0, 1]))",
    ),
    Row(
        "triu_indices_from(arr: array, k: int = 0)",
        "Return the positions of an array's upper triangle.",
        "tuple of XArray",
        "xl.triu_indices_from(xl.zeros((2, 2)))",
        "(XArray([0, 0, 1]), XArray([0, 1, 1]))",
    ),
)
