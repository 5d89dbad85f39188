"""Hypothesis strategies: dtypes, shapes, and operands in every layout.

Only this module of the folder needs hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from ..dtypes.names import SUPPORTED, DType, kind
from .operands import LAYOUTS, Sample, fill, sample


def dtypes(kinds: str = "biufc", *, narrow: bool = True) -> st.SearchStrategy[DType]:
    """Return the dtypes of the given kinds, those of ml_dtypes included if ``narrow``.

    NumPy's own are drawn as often as all of ml_dtypes' together.
    """
    found = [dt for dt in SUPPORTED if kind(dt) in kinds]
    usual = st.sampled_from([dt for dt in found if dt.isbuiltin == 1])
    others = [dt for dt in found if dt.isbuiltin != 1]
    return st.one_of(usual, st.sampled_from(others)) if narrow and others else usual


#: Extents worth testing: the last two fill vector registers, with and without a rest.
SIDES = (2, 3, 1, 5, 0, 33, 70)


@st.composite
def shapes(draw: st.DrawFn, *, max_dims: int = 4, max_size: int = 20_000) -> tuple[int, ...]:
    """Draw a shape, rank 0 and extents of 0 included, of at most ``max_size`` elements."""
    sides = draw(st.lists(st.sampled_from(SIDES), max_size=max_dims))
    while math.prod(sides) > max_size:
        sides[sides.index(max(sides))] = 2
    return tuple(sides)


@st.composite
def broadcastable_shapes(
    draw: st.DrawFn, count: int, *, max_dims: int = 3
) -> list[tuple[int, ...]]:
    """Draw ``count`` shapes that broadcast together, some stretched, some of lower rank."""
    full = draw(shapes(max_dims=max_dims))
    found = []
    for _ in range(count):
        shape = list(full)
        for k in range(len(full)):
            if draw(st.integers(0, 3)) == 3:
                shape[k] = 1
        skip = draw(st.integers(0, len(full))) if draw(st.integers(0, 2)) == 2 else 0
        found.append(tuple(shape[skip:]))
    return found


@st.composite
def samples(
    draw: st.DrawFn,
    shape: tuple[int, ...],
    dtype: DType,
    layouts: Sequence[str] = LAYOUTS,
    *,
    plain: bool = False,
) -> Sample:
    """Draw an operand of a shape and dtype in one of the layouts."""
    layout = draw(st.sampled_from(layouts))
    seed = draw(st.integers(0, 1 << 16))
    return sample(layout, fill(dtype, shape, seed, plain=plain), seed)
