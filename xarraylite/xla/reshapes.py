"""What a reshape does to single dimensions, and the layout that lets it keep every byte.

Two shapes of the same number of elements fall apart into groups of dimensions with the same
products, the *common factors*: [3, 8, 5] and [4, 3, 2, 5] are [3, 8] -> [4, 3, 2] and [5] -> [5].
A reshape works inside of groups.  It can be a bitcast if the dimensions of every group lie side
by side in memory, in row-major order; then any order of the groups will do.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Self

from .._errors import LayoutError
from ..layout.layout import Layout
from ..layout.spec_fields import SpecFields, layout_of, rebuild, require_bounded
from .edit import Edits

Pairs = list[tuple[int, int]]


def common_factors(first: Sequence[int], second: Sequence[int]) -> Pairs:
    """Return the borders of the groups as pairs of dimension numbers, the ends included.

    Dimensions of 1 are groups of their own where nothing is open, unless both shapes have one.

    Examples
    --------
    >>> common_factors([3, 8, 5], [4, 3, 2, 5])
    [(0, 0), (2, 3), (3, 4)]
    """
    if tuple(first) == tuple(second):
        return [(k, k) for k in range(len(first) + 1)]
    i = j = 0
    borders: Pairs = []
    while i < len(first) and j < len(second) and first[i] == second[j]:
        borders.append((i, j))
        i, j = i + 1, j + 1
    rest_first, rest_second = math.prod(first[i:]), math.prod(second[j:])
    if rest_first != rest_second:
        return [(0, 0), (len(first), len(second))]
    if rest_first == 0:
        return [*borders, (i, j), (len(first), len(second))]
    left = right = 1  # what is open: the products of both since the last border
    while True:
        if left == right and borders[-1:] != [(i, j)]:
            borders.append((i, j))
        if (i, j) == (len(first), len(second)):
            return borders
        a = first[i] if i < len(first) else math.inf
        b = second[j] if j < len(second) else math.inf
        # The smaller product grows; where nothing is open the smaller extent, or both.
        grow_first = left < right or (left == right and a <= b)
        grow_second = right < left or (left == right and b <= a)
        if grow_first:
            left, i = left * first[i], i + 1
        if grow_second:
            right, j = right * second[j], j + 1


def _factors(spec: SpecFields, dst: SpecFields, operation: str) -> Pairs:
    spec = require_bounded(spec, operation)
    dst = require_bounded(dst, operation)
    if math.prod(spec.dimensions) != math.prod(dst.dimensions):
        raise LayoutError(
            f"{operation}: {spec} and {dst} differ in their number of elements; a reshape keeps it"
        )
    return common_factors(spec.dimensions, dst.dimensions)


class Reshapes(Edits):
    """What a reshape keeps."""

    __slots__ = ()

    def dimensions_unmodified_by_reshape(self, dst: Self) -> list[tuple[int, int]]:
        """Return the pairs of dimensions, here and in ``dst``, that a reshape keeps as they are.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.
        """
        borders = _factors(self, dst, "dimensions_unmodified_by_reshape")
        return [
            border
            for border, after in itertools.pairwise(borders)
            if (after[0] - border[0], after[1] - border[1]) == (1, 1)
        ]

    def reshape_leaves_dimensions_unmodified(
        self, dst: Self, dimensions: Sequence[int]
    ) -> list[int] | None:
        """Return where a reshape keeps some dimensions; None if it changes one.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.
        dimensions : sequence of int
            Dimension numbers, rising.
        """
        if list(dimensions) != sorted(dimensions):
            return None
        kept = dict(self.dimensions_unmodified_by_reshape(dst))
        return [kept[d] for d in dimensions] if all([d in kept for d in dimensions]) else None

    def inserted_or_deleted_1_sized_dimensions(
        self, dst: Self
    ) -> tuple[list[int], list[int]] | None:
        """Return the extents of 1 a reshape deletes here and inserts in ``dst``.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.

        Returns
        -------
        tuple of two lists of int or None
            None if the reshape does more than that.
        """
        operation = "inserted_or_deleted_1_sized_dimensions"
        spec, dst = require_bounded(self, operation), require_bounded(dst, operation)
        kept = spec.dimensions_unmodified_by_reshape(dst)
        old, new = {i for i, _ in kept}, {j for _, j in kept}
        deleted = [i for i in range(len(spec.dimensions)) if i not in old]
        inserted = [j for j in range(len(dst.dimensions)) if j not in new]
        changed = [spec.dimensions[i] for i in deleted] + [dst.dimensions[j] for j in inserted]
        return (deleted, inserted) if max(changed, default=0) <= 1 else None

    def align_layouts(self, dst: Self) -> Self | None:
        """Return ``dst`` in an untiled layout that makes the reshape to it a bitcast.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes; its layout is replaced.

        Returns
        -------
        ArraySpec or None
            None if no layout does.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,8,5,7,11]{3,2,1,0,4}")
        >>> print(spec.align_layouts(xl.ArraySpec("f32", (4, 3, 2, 7, 5, 11))))
        f32[4,3,2,7,5,11]{4,3,2,1,0,5}
        """
        _factors(self, dst, "align_layouts")
        dst = require_bounded(dst, "align_layouts")
        order = _aligned_order(
            self.drop_degenerate_dimensions(), dst.drop_degenerate_dimensions().dimensions
        )
        if order is None:
            return None
        real = [d for d, extent in enumerate(dst.dimensions) if extent != 1]
        ones = [d for d, extent in enumerate(dst.dimensions) if extent == 1]
        return rebuild(dst, layout=Layout((*[real[d] for d in order], *reversed(ones))))


def _aligned_order(spec: SpecFields, dimensions: tuple[int, ...]) -> list[int] | None:
    """Return the minor-to-major order of ``dimensions`` that keeps every element in place."""
    borders = common_factors(spec.dimensions, dimensions)
    groups = list(itertools.pairwise(borders))
    minor_to_major = layout_of(spec).minor_to_major
    order: list[int] = []
    at = 0
    while at < len(minor_to_major):
        group = next(((a, b) for a, b in groups if a[0] <= minor_to_major[at] < b[0]))
        (first, new_first), (end, new_end) = group
        if minor_to_major[at : at + end - first] != tuple(range(end - 1, first - 1, -1)):
            return None
        order += range(new_end - 1, new_first - 1, -1)
        at += end - first
    return order
