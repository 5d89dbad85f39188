"""Naive models of shapes: lists, sets of indices, and nothing clever."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import strategies as st

from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.shape import Shape

Index = tuple[int, ...]


def box_indices(extents: tuple[int, ...]) -> list[Index]:
    return list(itertools.product(*map(range, extents)))


def tree_indices(tree: Any) -> list[Index]:
    """Indices of a nested list whose leaves are tuples of extents."""
    if isinstance(tree, tuple):
        return box_indices(tree)
    return [(i, *rest) for i, child in enumerate(tree) for rest in tree_indices(child)]


def shapes_of(tree: Any) -> Any:
    """The nested list of shapes for a nested list of extents."""
    return Shape(tree) if isinstance(tree, tuple) else [shapes_of(child) for child in tree]


def jagged_of(tree: Any) -> JaggedShape:
    return JaggedShape(shapes_of(tree))


@st.composite
def trees(draw: st.DrawFn, max_depth: int = 3, min_extent: int = 0) -> Any:
    """Nested lists of extents, all slices of one rank; every list has an item."""
    depth = draw(st.integers(1, max_depth))
    rank = draw(st.integers(1, 2))
    extents = st.tuples(*[st.integers(min_extent, 3)] * rank)

    def build(level: int) -> Any:
        if level == 0:
            return draw(extents)
        return [build(level - 1) for _ in range(draw(st.integers(1, 3)))]

    return build(depth)


smooth_extents = st.lists(st.integers(0, 4), max_size=4).map(tuple)
