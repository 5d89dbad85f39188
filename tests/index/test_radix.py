"""Indices as mixed-radix numbers, against NumPy."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from xarraylite.index.radix import (
    compose,
    contiguous_strides,
    inverse,
    ravel_multi_index,
    round_up,
    unravel_index,
)

boxes = st.lists(st.integers(1, 6), max_size=5).map(tuple)


@given(boxes, st.data())
def test_positions_are_numpys(extents: tuple[int, ...], data: st.DataObject) -> None:
    position = data.draw(st.integers(0, math.prod(extents) - 1))
    index = unravel_index(position, extents)
    assert index == tuple(map(int, np.unravel_index(position, extents)))
    assert ravel_multi_index(index, extents) == position


@given(boxes.flatmap(lambda box: st.tuples(st.just(box), st.permutations(range(len(box))))))
def test_strides_and_permutations(case: tuple[tuple[int, ...], list[int]]) -> None:
    extents, order = case
    back = inverse(order)
    assert compose(order, back) == compose(back, order) == tuple(range(len(order)))
    # The elements in memory order: dimensions from the slowest on, then put back.
    major = order[::-1]
    memory = np.arange(math.prod(extents), dtype=np.int64).reshape(compose(extents, major))
    array = memory.transpose(inverse(major))
    strides = contiguous_strides(extents, order, unit=8)
    assert all(s == t for s, t, n in zip(strides, array.strides, extents, strict=True) if n > 1)


def test_round_up() -> None:
    assert [round_up(n, 4) for n in (0, 1, 4, 5)] == [0, 4, 4, 8]
