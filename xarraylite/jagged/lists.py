"""Jagged arrays from nested lists and back, and as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, pairwise
from typing import Any

import numpy as np

from .._errors import ShapeError
from ..dtypes.names import NumpyArray
from ..dtypes.promotion import result_type
from ..operands.nodes import HasNode
from ..shapes import nested_lists
from ..shapes.jagged_tree import Ragged, exact_sum, ints

#: What `parse` looks at more closely, or leaves to the conversion of elements.
_TAKEN = (list, tuple, str, bytes, np.ndarray, np.generic, HasNode)


def parse(values: object, operation: str) -> tuple[list[Any] | NumpyArray, Ragged]:
    """Return the elements of nested lists one after the other, and the index space they fill.

    Parameters
    ----------
    values : list or tuple
        Of numbers, of arrays of one rank, or of lists of those again, to any depth.
    operation : str
        What messages begin with.

    Raises
    ------
    ShapeError
        If numbers, arrays and lists stand side by side, or ranks differ.
    """
    level: list[Any] = [values]
    counts: list[Any] = []
    while all([isinstance(item, list | tuple) for item in level]) and (level or not counts):
        counts.append(ints([len(item) for item in level]))
        level = list(chain.from_iterable(level))
    if not counts:
        raise ShapeError(f"{operation}: nested lists are needed, got {type(values).__name__}")
    if level and all([_is_array(item) for item in level]):
        return _joined([np.asarray(item) for item in level], counts, operation)
    for item in {type(item): item for item in level}.values():
        if isinstance(item, Iterable) and not isinstance(item, _TAKEN):
            raise ShapeError(
                f"{operation}: at depth {len(counts)} there is a {type(item).__name__}; lists, "
                "tuples, arrays and numbers are taken"
            )
    for item in level:
        if isinstance(item, list | tuple) or _is_array(item):
            raise ShapeError(
                f"{operation}: at depth {len(counts)} there are both {type(item).__name__} and "
                "other things; numbers, arrays and lists must not stand side by side"
            )
    return level, Ragged.checked(counts[:-1], counts[-1:], [None] * len(counts))


def _is_array(item: Any) -> bool:
    return isinstance(item, np.ndarray | HasNode) and len(np.shape(item)) > 0  # type: ignore[arg-type]


def _joined(
    parts: list[NumpyArray], counts: list[Any], operation: str
) -> tuple[NumpyArray, Ragged]:
    ranks = {item.ndim for item in parts}
    if len(ranks) > 1:
        raise ShapeError(f"{operation}: slices of ranks {sorted(ranks)}; there must be one rank")
    (rank,) = ranks
    table = ints([item.shape for item in parts])
    columns = [ints(table[:, k]) for k in range(rank)]
    space = Ragged.checked(counts, columns, [None] * (len(counts) + rank))
    dtype = result_type(*{item.dtype for item in parts})
    return np.concatenate([item.reshape(-1).astype(dtype, copy=False) for item in parts]), space


def space_of(arrays: Mapping[str, Any]) -> Ragged:
    """Return the index space in arrays of extents, checked; see `XJagged.to_arrays`.

    Raises
    ------
    ShapeError
        If they are not those of a shape.
    """
    rank = sum([name.startswith("extents") for name in arrays])
    wanted = {"flat", "outer", *[f"extents{mode}" for mode in range(rank)]}
    if set(arrays) != wanted or rank == 0:
        raise ShapeError(
            f"from_arrays: the arrays 'flat', 'outer', 'extents0' and so on are needed, got "
            f"{', '.join(map(repr, sorted(arrays)))}"
        )
    given = {name: np.array(array) for name, array in arrays.items() if name != "flat"}
    for name, array in given.items():
        if array.dtype.kind not in "iu" or array.ndim != (name != "outer"):
            raise ShapeError(
                f"from_arrays: {name!r} is {array.dtype}{list(array.shape)}; it should be integers "
                f"of rank {int(name != 'outer')}"
            )
    outer, nodes = int(given["outer"]), 1
    if not 0 <= outer < rank:
        raise ShapeError(f"from_arrays: 'outer' is less than the rank {rank}, got {outer}")
    columns = [ints(given[f"extents{mode}"]) for mode in range(rank)]  # beyond 2**63: negative
    for mode, column in enumerate(columns):
        least = int(column.min(initial=0))
        if column.size != nodes or least < 0:
            raise ShapeError(
                f"from_arrays: 'extents{mode}' should be {nodes} extents, got {column.size}, the "
                f"least of them {least}"
            )
        nodes = exact_sum(column) if mode < outer else nodes
    return Ragged.checked(columns[:outer], columns[outer:], [None] * rank)


def nested(flat: NumpyArray, space: Ragged) -> Any:
    """Return elements as nested lists of Python scalars."""
    bounds = pairwise(space.slice_offsets.tolist())
    if len(space.extents) == 1:
        values = flat.tolist()
        level: list[Any] = [values[a:b] for a, b in bounds]
    else:
        extents = zip(*[column.tolist() for column in space.extents], strict=True)
        level = [
            flat[a:b].reshape(shape).tolist() for (a, b), shape in zip(bounds, extents, strict=True)
        ]
    return nested_lists.nested(space, level)


def text(flat: NumpyArray, space: Ragged) -> str:
    """Return elements as nested brackets, the middle of long lists left out."""

    def show(node: int) -> str:
        start, stop = space.slice_offsets[node : node + 2]
        shape = [int(column[node]) for column in space.extents]
        values = np.array2string(
            flat[start:stop].reshape(shape), separator=", ", threshold=20, max_line_width=10**6
        )
        return " ".join(values.split())

    return nested_lists.bracketed(space, show)
