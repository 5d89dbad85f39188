"""Which layouts would waste less: other dimension orders and other tiles for the same array.

Tiles pad the minor-most dimensions only, so what an order costs is decided by which dimensions
come last.  An array ``bf16[16,1280,40]`` in default order pads 40 to 128; with 1280 minor it pads
nothing.  A tile of fewer rows pads the second-minor dimension less, at the price of more tiles.

Candidates are all choices of minor-most dimensions, each with the array's own tiles and with the
tiles in use on TPUs (see `formats`).  One candidate dominates another if it changes no more, takes
no more bytes, and its tiles are as large (or as the array's own); what is not dominated, and
smaller than the array is now, is suggested.  Nothing is allocated: this is arithmetic on a few
hundred layouts, for the ranks that occur.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from typing import Final, Generic, NamedTuple, Self, TypeVar

from .._records import record
from ..layout.fields import COMBINE, Tile
from ..layout.layout import Layout
from ..layout.sizes import Sizes
from ..layout.spec_fields import UNBOUNDED, rebuild
from .formats import standard_tiles

S = TypeVar("S", bound=Sizes)

#: Most suggestions for one array.
MAX_SUGGESTIONS: Final = 5
#: Most dimension orders tried for tiles of more than two dimensions: all of rank 5.
MAX_ORDERS: Final = 120


@record(frozen=True, slots=True)
class Suggestion(Generic[S]):
    """A layout with less padding.

    Attributes
    ----------
    spec : ArraySpec
        The same array with that layout.
    nbytes : int
        Bytes it takes, padding included.
    saved_bytes : int
        By how much that is less.
    reason : str
        What is changed, and what it does to the padding.
    """

    spec: S
    nbytes: int
    saved_bytes: int
    reason: str

    def __str__(self) -> str:
        return f"{self.spec}: {self.nbytes} bytes, {self.saved_bytes} less ({self.reason})"


class _Candidate(NamedTuple, Generic[S]):
    """A smaller layout, and what is compared."""

    nbytes: int
    changes: int  # 1: the order, 2: the tiles, 3: both
    area: int  # elements of the first tile, up to as many as the array's own
    moved: int  # dimensions that change places
    layout: Layout
    spec: S

    def dominates(self, other: _Candidate[S]) -> bool:
        return (
            self.changes & ~other.changes == 0
            and self.nbytes <= other.nbytes
            and self.area >= other.area
        )


class Suggestions(Sizes):
    """Layouts with less padding."""

    __slots__ = ()

    def suggest(self) -> tuple[Suggestion[Self], ...]:
        """Return layouts in which an array takes less memory, the smallest first.

        Returns
        -------
        tuple of Suggestion
            At most five; empty if there is no padding to save.  That is so for arrays without
            tiles, for empty ones and those of unbounded size, and for whatever is no array.

        Notes
        -----
        Everything else of the layout stays: element size, tail padding, memory space.  Where the
        array is split between memories the dimension order stays too, because splits belong to
        physical dimensions.  Removing tiles is never suggested.  Among equals the order that moves
        fewest dimensions is taken, then the one with the higher numbers minor.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)}")
        >>> for found in spec.suggest():
        ...     print(spec.nbytes, "->", found)
        5242880 -> bf16[16,1280,40]{1,2,0:T(8,128)}: 1638400 bytes, 3604480 less
        (order {1,2,0}; padding 68.8% -> 0.0%)
        """
        layout = self.layout
        if not self.is_array or layout is None or UNBOUNDED in self.dimensions:
            return ()
        size, least = self.nbytes, math.prod(self.dimensions) * self.element_size_in_bits()
        if not layout.tile_dims or not 0 < least < size * 8:
            return ()
        front: list[_Candidate[Self]] = []
        for found in sorted(_candidates(self, layout, size), key=_key):
            if not any([better.dominates(found) for better in front]):
                front.append(found)
        return tuple([_explained(found, size, least) for found in _few(front)])


def _candidates(spec: S, layout: Layout, size: int) -> Iterator[_Candidate[S]]:
    """Yield the layouts that are smaller than `size`, several of equal size among them."""
    own = layout.minor_to_major
    for tiles, base in _tilings(spec, layout):
        area = min(_area(tiles), _area(layout.tiles)) if layout.tiles else _area(tiles)
        sizes: dict[tuple[int, ...], int] = {}
        for head in _heads(layout, tiles):
            order = head + tuple([d for d in own if d not in head])
            extents = tuple([spec.dimensions[d] for d in order])
            if sizes.get(extents, 0) >= size:
                continue
            changed = replace(base, minor_to_major=order)
            candidate = rebuild(spec, layout=changed)
            sizes[extents] = found = candidate.nbytes
            if found < size:
                changes = (order != own) + 2 * (tiles != layout.tiles)
                moved = sum([d != at for d, at in zip(order, own, strict=True)])
                yield _Candidate(found, changes, area, moved, changed, candidate)


def _tilings(spec: S, layout: Layout) -> Iterable[tuple[tuple[Tile, ...], Layout]]:
    """Return the tiles to try, the array's own first, and the layout with them."""
    if layout.tiles:
        yield layout.tiles, layout
    bits = spec.element_size_in_bits()
    for tiles in standard_tiles(len(spec.dimensions), bits):
        found = tuple([Tile(tile) for tile in tiles])
        if found != layout.tiles:
            yield (
                found,
                replace(layout, tiles=found, padded_dimensions=None, padding_value=None),
            )


def _heads(layout: Layout, tiles: tuple[Tile, ...]) -> Iterable[tuple[int, ...]]:
    """Return the choices of the minor-most dimensions, as many as the tiles can tell apart."""
    rank = layout.rank
    if layout.split_configs:
        return [layout.minor_to_major]
    # A tile of a later level sees at most as many dimensions as it has, unless some were merged.
    lengths = [len(tile) for tile in tiles]
    combined = any([COMBINE in tile.dimensions for tile in tiles])
    reach = min(rank, sum(lengths) if combined else max(lengths))
    if math.perm(rank, reach) > MAX_ORDERS:
        reach = min(rank, 2)
    return permutations(range(rank), reach)


def _area(tiles: tuple[Tile, ...]) -> int:
    return math.prod([size for size in tiles[0].dimensions if size != COMBINE])


def _few(front: list[_Candidate[S]]) -> list[_Candidate[S]]:
    """Return the first few, the best of each kind of change among them."""
    kept = {found.changes: found for found in reversed(front)}
    spare = [found for found in front if found not in kept.values()]
    return sorted([*kept.values(), *spare[: MAX_SUGGESTIONS - len(kept)]], key=_key)


def _key(found: _Candidate[S]) -> tuple[object, ...]:
    """Best first; among equals large tiles, few moves, and high numbers minor."""
    order = [-d for d in found.layout.minor_to_major]
    return (found.nbytes, found.changes, -found.area, found.moved, order)


def _explained(found: _Candidate[S], size: int, least: int) -> Suggestion[S]:
    """Return the suggestion of one candidate; `least` is what the elements take, in bits."""
    parts = []
    if found.changes & 1:
        parts.append(f"order {{{','.join([str(d) for d in found.layout.minor_to_major])}}}")
    if found.changes & 2:
        parts.append(f"tiles T{''.join([str(tile) for tile in found.layout.tiles])}")
    before, after = [100 * (1 - least / (8 * n)) for n in (size, found.nbytes)]
    reason = f"{' and '.join(parts)}; padding {before:.1f}% -> {after:.1f}%"
    return Suggestion(found.spec, found.nbytes, size - found.nbytes, reason)
