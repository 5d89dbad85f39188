"""Jagged index spaces from nested lists of shapes, and back to text.

Lists are flattened level by level, so the cost is one step per slice and a few arrays, whatever
the depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np

from .._errors import ShapeError, SizeError
from ..index.box import integer
from ..index.broadcast import MAX_SIZE
from .base import ShapeBase
from .combine import mixed_ranks, stack
from .jagged_tree import Ints, Ragged, check_nodes, exact_sum, ints
from .shape import Shape

#: Slices of one node that texts show; more lose their middle.
_SHOWN = 6


def leaf(tree: Ragged, node: int) -> Shape:
    extents = tuple([int(column[node]) for column in tree.extents])
    return Shape._make(
        extents, tuple([tree.origin(mode, node) for mode in range(tree.outer, tree.rank)])
    )


def space_of_items(items: Any) -> Ragged:
    """Return the index space whose slices along the first mode are ``items``."""
    counts: list[Ints] = []
    level: list[list[Any]] = [children(items)]
    while True:
        counts.append(ints([len(node) for node in level]))
        check_nodes(int(counts[-1].sum()), "JaggedShape")
        items_below = list(chain.from_iterable(level))
        if not items_below or any([isinstance(item, ShapeBase) for item in items_below]):
            break
        level = [children(item) for item in items_below]
    # Of empty lists alone, the last mode is one of smooth slices without elements.
    if not items_below:
        return Ragged.checked(counts[:-1], counts[-1:], [None] * len(counts))
    leaves = _slices(items_below)
    return Ragged.checked(
        [*counts, *leaves.counts[1:]],
        leaves.extents,
        [*([None] * len(counts)), *leaves.origins[1:]],
    )


def children(item: Any) -> list[Any]:
    """Return what a list of slices, or any iterable of them, holds.

    Raises
    ------
    ShapeError
        For anything else.
    """
    if hasattr(item, "jagged_shape"):
        raise ShapeError(
            f"JaggedShape: a {type(item).__name__} is no shape; its index space is .jagged_shape"
        )
    if isinstance(item, (str, bytes)) or not isinstance(item, Iterable):
        raise ShapeError(
            f"JaggedShape: slices are shapes or lists of them, got {item!r}; lengths of rows go "
            "to JaggedShape.from_lengths"
        )
    return list(item)


def _slices(items: list[Any]) -> Ragged:
    """Return the space with the given slices, of which at least one is a shape."""
    if {type(child) for child in items} == {Shape}:
        extents = [child._extents for child in items]
        ranks = set(map(len, filter(None, extents)))
        if len(ranks) == 1 and all(extents):
            (rank,) = ranks
            table = ints(list(chain.from_iterable(extents))).reshape(-1, rank)
            columns = [ints(table[:, k].copy()) for k in range(rank)]
            if all([child._origin is None for child in items]):
                return Ragged.checked([ints([len(items)])], columns, [None] * (rank + 1))
    items = [child if isinstance(child, ShapeBase) else children(child) for child in items]
    _check_ranks(items)
    spaces: list[Ragged | None] = []
    for child in items:
        if isinstance(child, ShapeBase):
            spaces.append(child._space())
        else:
            spaces.append(space_of_items(child) if child else None)
    # A list without slices says nothing about their rank: it takes its siblings'.
    empty = Ragged.smooth((0,) * max([space.rank for space in spaces if space is not None]))
    return stack([empty if space is None else space for space in spaces])


def _check_ranks(items: list[Any]) -> None:
    """Refuse scalars and ranks that differ among the shapes, before a tree is made of any."""
    rank, first = 0, 0
    for k, child in enumerate(items):
        if not isinstance(child, ShapeBase):
            continue
        if child.is_null or child.rank == 0:
            raise ShapeError(f"JaggedShape: slice {k} is {child!r}; slices have rank 1 or more")
        if not rank:
            rank, first = child.rank, k
        if child.rank != rank:
            raise mixed_ranks(k, child.rank, first, rank)


def text(tree: Ragged) -> str:
    """Return the constructor call that makes a space, its middle left out where it is long."""
    if tree.outer == 0:
        return f"JaggedShape({leaf(tree, 0)!r})"
    starts = [tree.origin(mode) for mode in range(tree.outer)]
    plain = [
        column is None or bool((column == start).all())
        for column, start in zip(tree.origins[: tree.outer], starts, strict=True)
    ]
    if not all(plain[1:]):  # inner origins differ: every slice shows its own
        inner = [text(tree.subtree(1, node)) for node in _shown(0, int(tree.counts[0][0]))]
        body, starts = f"[{', '.join(_dotted(inner, int(tree.counts[0][0])))}]", starts[:1]
    else:
        body = bracketed(tree, lambda node: repr(leaf(tree, node)))
    origin = f", origin={tuple(starts)}" if any(starts) else ""
    return f"JaggedShape({body}{origin})"


def bracketed(tree: Ragged, show: Callable[[int], str], depth: int = 0, node: int = 0) -> str:
    """Return the slices below a node in nested brackets, the middle of long lists left out.

    Parameters
    ----------
    tree : Ragged
        The index space.
    show : callable
        Returns the text of one smooth slice, given its number.
    depth, node : int, optional
        The node; the whole space by default.
    """
    if depth == tree.outer:
        return show(node)
    first, count = int(tree.child_offsets[depth][node]), int(tree.counts[depth][node])
    shown = [bracketed(tree, show, depth + 1, child) for child in _shown(first, count)]
    return f"[{', '.join(_dotted(shown, count))}]"


def _shown(first: int, count: int) -> list[int]:
    if count <= _SHOWN:
        return list(range(first, first + count))
    return [*range(first, first + _SHOWN // 2), *range(first + count - _SHOWN // 2, first + count)]


def _dotted(shown: list[str], count: int) -> list[str]:
    return shown if count <= _SHOWN else [*shown[: _SHOWN // 2], "...", *shown[_SHOWN // 2 :]]


def lengths(values: Any, operation: str) -> Ints:
    """Return non-negative integers as an array that nobody else can change."""
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind is None:
        if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
            raise ShapeError(f"{operation}: lengths are a vector of integers, got {values!r}")
        values = np.asarray([integer(value, operation, "a length") for value in values], object)
    elif kind not in "iu" or values.ndim != 1:
        raise ShapeError(
            f"{operation}: lengths are a vector of integers, got {values.dtype} of shape "
            f"{values.shape}"
        )
    else:
        values = np.asarray(values).copy()  # before it is checked: another thread may write to it
    least, largest = int(np.min(values, initial=0)), int(np.max(values, initial=0))
    if least < 0:
        raise ShapeError(f"{operation}: lengths must not be negative, got {least}")
    if largest > MAX_SIZE:  # before int64 wraps it around
        raise SizeError(f"{operation}: {largest} is more than 2**63 - 1")
    return ints(values)


def space_of_lengths(levels: Sequence[Any]) -> Ragged:
    """Return the space given by numbers of items, level by level; the first are those of rows.

    Raises
    ------
    ShapeError
        If there are no levels, or one does not have a number for each item of the one before it.
    SizeError
        For a length above 2**63 - 1.
    """
    columns = [lengths(level, "from_lengths") for level in levels]
    if not columns:
        raise ShapeError("from_lengths: the lengths of the rows are needed, got nothing")
    for above, below in pairwise(columns):
        items = exact_sum(above)
        if items != below.size:
            raise ShapeError(
                f"from_lengths: a level has {below.size} numbers for the {items} items of the "
                "level before it"
            )
    counts = [ints([columns[0].size]), *columns[:-1]]
    return Ragged.checked(counts, columns[-1:], [None] * (len(columns) + 1))


def lengths_of_offsets(offsets: Any) -> Ints:
    """Return the lengths of the rows between flat offsets.

    Raises
    ------
    ShapeError
        If the offsets do not start at 0, or decrease.
    """
    ends = lengths(offsets, "from_offsets")
    if not ends.size or ends[0] != 0:
        raise ShapeError(f"from_offsets: offsets start at 0, got {ends[:4].tolist()}")
    rows = ints(np.diff(ends))
    if int(rows.min(initial=0)) < 0:
        at = int(rows.argmin())
        raise ShapeError(
            f"from_offsets: offsets must not decrease, got {ends[at]} and then {ends[at + 1]}"
        )
    return rows


def to_list(tree: Ragged) -> list[Any]:
    """Return the smooth slices in nested lists, one list per node; one slice alone in one."""
    found: list[Any] = nested(tree, [leaf(tree, node) for node in range(tree.n_slices)])
    return found if tree.outer else [found]


def nested(tree: Ragged, slices: list[Any]) -> Any:
    """Return what there is for every smooth slice in nested lists, one list per node."""
    for offsets in reversed(tree.child_offsets):
        slices = [slices[a:b] for a, b in pairwise(offsets.tolist())]
    return slices[0]
