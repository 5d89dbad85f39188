"""Several ragged index spaces at once: stacked along a new mode, or compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._errors import ShapeError
from .jagged_tree import Ints, Ragged, ints


def stack(spaces: Sequence[Ragged]) -> Ragged:
    """Return the space whose slices along a new first mode are ``spaces``, which is not empty.

    Raises
    ------
    ShapeError
        If their ranks differ, naming two that do.
    """
    rank = spaces[0].rank
    for k, space in enumerate(spaces):
        if space.rank != rank:
            raise mixed_ranks(k, space.rank, 0, rank)
    outer = max([space.outer for space in spaces])
    spaces = [space if space.outer == outer else space.expand(outer) for space in spaces]
    columns = [ints(np.concatenate([s.values(mode) for s in spaces])) for mode in range(rank)]
    origins: list[Ints | None] = [None]
    for mode in range(rank):
        if all([space.origins[mode] is None for space in spaces]):
            origins.append(None)
            continue
        parts = [
            np.repeat(np.int64(0), s.values(mode).size) if (o := s.origins[mode]) is None else o
            for s in spaces
        ]
        origins.append(ints(np.concatenate(parts)))
    return Ragged.checked([ints([len(spaces)]), *columns[:outer]], columns[outer:], origins)


def mixed_ranks(slice_number: int, rank: int, other: int, other_rank: int) -> ShapeError:
    """Return the error for two slices whose ranks differ."""
    return ShapeError(
        f"JaggedShape: slice {slice_number} has rank {rank} and slice {other} has rank "
        f"{other_rank}; the ranks of the slices must agree"
    )


def equal(left: Ragged, right: Ragged, *, with_origins: bool = True) -> bool:
    """Tell whether two trees describe the same indices, offsets and (if asked for) origins."""
    if left is right:
        return True
    if (left.rank, left.size, left.bounding()) != (right.rank, right.size, right.bounding()):
        return False
    if all(left.uniform_modes) or all(right.uniform_modes):
        return (
            all(left.uniform_modes)
            and all(right.uniform_modes)
            and (not with_origins or _same_box_origins(left, right))
        )
    outer = max(left.outer, right.outer)
    if left.outer != right.outer:
        if left.fingerprint() != right.fingerprint():
            return False
        left, right = left.expand(outer), right.expand(outer)
    if not all([np.array_equal(left.values(m), right.values(m)) for m in range(left.rank)]):
        return False
    return not with_origins or all(
        [_same_origins(a, b) for a, b in zip(left.origins, right.origins, strict=True)]
    )


def _same_box_origins(left: Ragged, right: Ragged) -> bool:
    if left.is_smooth and right.is_smooth:
        return all([left.origin(m) == right.origin(m) for m in range(left.rank)])
    outer = max(left.outer, right.outer)
    left, right = left.expand(outer), right.expand(outer)
    return all([_same_origins(a, b) for a, b in zip(left.origins, right.origins, strict=True)])


def _same_origins(left: Ints | None, right: Ints | None) -> bool:
    if left is None or right is None:
        given = right if left is None else left
        return given is None or not given.any()
    return np.array_equal(left, right)
