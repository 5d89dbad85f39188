"""Layouts chosen by layers: what belongs together inside an outer element lies together.

A `Nested` shape partitions modes into layers.  An array can hold its elements in two ways:

*modes side by side*
    The array has the shape's own extents, so the modes of the outer layers are its first
    dimensions and those of the inner layers its last ones.  A matrix of 2 x 2 matrices of 10 x 10
    is an array of shape (2, 2, 10, 10).
*modes folded*
    All layers have the same rank, and mode ``k`` of every layer runs along dimension ``k``: the
    outer layer counts blocks, the *grid*, and the inner layer counts elements *inside* a block.
    The same matrix of matrices is an array of shape (20, 20).

Either way the tiles have the extents of the inner layers, one tile per layer below the outermost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._errors import LayoutError, ShapeError
from ..layout.layout import Layout
from ..shapes.nested import Nested
from ..shapes.tiled import TiledShape


def blocked_layout(shape: Nested, extents: Sequence[int]) -> Layout:
    """Return the layout that stores the inner layers of a shape contiguously.

    Parameters
    ----------
    shape : Nested
        Of a smooth shape, or of a tiling with tiles of one size.
    extents : sequence of int
        Those of the array: of all modes side by side, or folded.

    Raises
    ------
    LayoutError
        If the array has neither form, or an inner mode has no extent, or slices differ in size.

    Examples
    --------
    >>> from xarraylite import Nested, Shape
    >>> n = Nested([2, 2], Shape(2, 2, 10, 10))
    >>> str(blocked_layout(n, (20, 20))), str(blocked_layout(n, (2, 2, 10, 10)))
    ('{1,0:T(10,10)}', '{3,2,1,0:T(10,10)}')
    """
    modes = _modes(shape)
    layers = [tuple([modes[m] for m in shape.modes_in_layer(k)]) for k in range(shape.n_layers)]
    even = len({len(layer) for layer in layers}) == 1
    given = tuple(extents)
    if given == modes:
        tiles = [sum(layers[k:], ()) for k in range(1, len(layers))]
    elif even and given == _folded(layers):
        tiles = [_folded(layers[k:]) for k in range(1, len(layers))]
    else:
        folded = f", or folded to {_folded(layers)}" if even else ""
        raise LayoutError(
            f"layout 'blocked': {shape!r} describes arrays of shape {modes}{folded}, got {given}"
        )
    if 0 in sum(layers[1:], ()):
        raise LayoutError(f"layout 'blocked': an inner mode of {shape!r} has extent 0")
    order = range(len(given) - 1, -1, -1)
    return Layout(order, [tile for tile in tiles if tile])


def _modes(shape: Nested) -> tuple[int, ...]:
    """Return the extent of every mode; a tiling has those of its grid and of one tile."""
    inner = shape.shape
    try:
        return (inner.to_jagged() if isinstance(inner, TiledShape) else inner).as_tuple()
    except ShapeError as error:
        raise LayoutError(
            f"layout 'blocked': the inner elements of {shape!r} differ in size; one layout has "
            "tiles of one size"
        ) from error


def _folded(layers: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the extents of layers of one rank that run along the same dimensions."""
    return tuple([math.prod(extents) for extents in zip(*layers, strict=True)])
