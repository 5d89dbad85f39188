"""Index transforms: which element of an operand each element of a view is.

Every view that only renames, fixes, strides, reverses, repeats or permutes dimensions is one
`Transform`: input dimension ``k`` is read at ``start_k + step_k * out[axis_k]``, or at the fixed
position ``start_k`` where it depends on no output dimension.  An output dimension that no input
dimension uses is a broadcast (or ``newaxis``).  Transforms compose in closed form, so a view of
a view of a view costs as much as one view, and a slice of a lazy expression moves down to its
operands by composition.

Two steps are not of that form: `Reshape`, which renumbers elements in row-major order, and
`Take`, which reads one dimension through an integer array.  A path from an expression to an
operand is a tuple of such steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from .._records import record
from .radix import compose, inverse

#: Stands for "this input dimension depends on no output dimension".
FIXED = -1


class IndexMap(NamedTuple):
    """How one input dimension is read: at ``start + step * out[axis]``."""

    start: int
    """Position at output index 0."""
    step: int
    """Change per output index; 0 where ``axis`` is `FIXED`."""
    axis: int
    """Output dimension it follows, or `FIXED`."""


@record(frozen=True, slots=True)
class Transform:
    """A view's map from output indices to input indices.

    Attributes
    ----------
    shape : tuple of int
        Shape of the output.
    maps : tuple of IndexMap
        One map per input dimension.
    """

    shape: tuple[int, ...]
    maps: tuple[IndexMap, ...]

    def after(self, inner: Transform) -> Transform:
        """Return the transform that reads ``inner``'s input through ``inner``, then this one."""
        maps = self.maps
        return Transform(self.shape, tuple([_compose(m, maps) for m in inner.maps]))


def _compose(inner: IndexMap, outer: Sequence[IndexMap]) -> IndexMap:
    if inner.axis == FIXED:
        return inner
    start, step, axis = outer[inner.axis]
    return IndexMap(inner.start + inner.step * start, inner.step * step, axis)


@record(frozen=True, slots=True)
class Reshape:
    """The same elements in row-major order under another shape."""

    source: tuple[int, ...]
    """Shape of the input."""
    shape: tuple[int, ...]
    """Shape of the output, of the same size."""


def following(shape: tuple[int, ...], axes: Iterable[int]) -> Transform:
    """Return the view whose input dimensions follow output dimensions from their beginnings on.

    Parameters
    ----------
    shape : tuple of int
        Shape of the output.
    axes : iterable of int
        For each input dimension the output dimension, or `FIXED`: only its first position is read.
    """
    maps = [IndexMap(0, 0 if axis == FIXED else 1, axis) for axis in axes]
    return Transform(shape, tuple(maps))


@lru_cache(maxsize=1024)
def identity(shape: tuple[int, ...]) -> Transform:
    """Return the transform that changes nothing."""
    return following(shape, range(len(shape)))


def broadcast(source: tuple[int, ...], shape: tuple[int, ...]) -> Transform:
    """Return the view of ``source`` stretched to ``shape`` (known to be compatible)."""
    pairs = enumerate(source, len(shape) - len(source))
    return following(shape, [FIXED if n == 1 and shape[k] != 1 else k for k, n in pairs])


def permute(source: tuple[int, ...], axes: Sequence[int]) -> Transform:
    """Return the view whose dimension ``j`` is dimension ``axes[j]`` of ``source``."""
    return following(compose(source, axes), inverse(axes))


def flip(source: tuple[int, ...], axes: Sequence[int]) -> Transform:
    """Return the view with the order along ``axes`` reversed."""
    return Transform(
        source,
        tuple(
            [
                IndexMap(extent - 1, -1, k) if k in axes else IndexMap(0, 1, k)
                for k, extent in enumerate(source)
            ]
        ),
    )


def squeeze(source: tuple[int, ...], axes: Sequence[int]) -> Transform:
    """Return the view without the dimensions ``axes``, whose extents are 1."""
    kept = [k for k in range(len(source)) if k not in axes]
    where = {k: j for j, k in enumerate(kept)}
    return following(compose(source, kept), [where.get(k, FIXED) for k in range(len(source))])


def expand(source: tuple[int, ...], axes: Sequence[int]) -> Transform:
    """Return the view with extents of 1 inserted so that they stand at ``axes``."""
    rank = len(source) + len(axes)
    kept = [j for j in range(rank) if j not in axes]
    shape = [1] * rank
    for k, j in enumerate(kept):
        shape[j] = source[k]
    return following(tuple(shape), kept)


def window(source: tuple[int, ...], axis: int, start: int, length: int) -> Transform:
    """Return the view of ``length`` positions of ``axis`` from ``start`` on."""
    shape = source[:axis] + (length,) + source[axis + 1 :]
    return Transform(
        shape, tuple([IndexMap(start if k == axis else 0, 1, k) for k in range(len(source))])
    )
