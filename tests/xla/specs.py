"""Strategies of array specs with every kind of layout, small enough to enumerate."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import strategies as st

from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

TYPES = ("f32", "bf16", "s8", "pred", "s4", "u2")


@st.composite
def tiles(draw: st.DrawFn, *, combine: bool = True) -> tuple[tuple[int | str, ...], ...]:
    """Up to three levels of tiles, some with combined dimensions."""
    levels = []
    for _ in range(draw(st.integers(0, 3))):
        sizes: list[int | str] = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
        if combine and len(sizes) > 1 and draw(st.integers(0, 3)) == 0:
            sizes[draw(st.integers(0, len(sizes) - 2))] = "*"
        levels.append(tuple(sizes))
    return tuple(levels)


@st.composite
def specs(
    draw: st.DrawFn,
    *,
    max_rank: int = 4,
    min_extent: int = 0,
    combine: bool = True,
    tiled: bool = True,
) -> ArraySpec:
    """Arrays of up to a few hundred elements."""
    kind = draw(st.sampled_from(TYPES))
    dims = draw(st.lists(st.integers(min_extent, 5), max_size=max_rank))
    order = draw(st.permutations(range(len(dims))))
    if not tiled:
        return ArraySpec(kind, dims, Layout(order))
    packed = kind in ("s4", "u2") and draw(st.booleans())
    layout = Layout(
        order,
        draw(tiles(combine=combine)),
        tail_padding_alignment_in_elements=draw(st.sampled_from((1, 1, 7, 16))),
        element_size_in_bits={"s4": 4, "u2": 2}[kind] if packed else 0,
    )
    return ArraySpec(kind, dims, layout)


def indices(spec: ArraySpec) -> Iterator[tuple[int, ...]]:
    """Return every index in row-major order."""
    return itertools.product(*map(range, spec.dimensions))
