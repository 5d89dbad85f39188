"""How views of one tiled array relate, against every pair of their elements."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties.tiling import LAYOUTS, poisoned
from xarraylite.ir.node import Leaf
from xarraylite.memory.target import Target
from xarraylite.overlap.aliasing import Traversal, direction_of, shares, traversals
from xarraylite.overlap.overlap import Direction

Array = np.ndarray[Any, np.dtype[Any]]


def numbered(shape: tuple[int, ...], layout: str) -> tuple[Array, xl.XArray]:
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    return values, poisoned(values, layout)


def relation(to: Any, source: Any) -> tuple[Target, Leaf]:
    leaf = source.node
    assert isinstance(leaf, Leaf)
    return Target(to.buffer, to.map, to.dtype), leaf


def check(to: Any, source: Any, written: Array, read: Array) -> None:
    """Compare with the truth; ``written`` and ``read`` hold the number of each element."""
    target, leaf = relation(to, source)
    direction = direction_of(target, leaf, leaf.map.based())
    meet = [
        (x, y) for x, y in product(np.ndindex(*written.shape), repeat=2) if written[x] == read[y]
    ]
    assert (direction is Direction.DISJOINT) == (not meet)
    assert shares(target, leaf) == bool(meet)
    assert (direction is Direction.SAME) == bool(meet and np.array_equal(written, read))
    assert direction in (Direction.DISJOINT, Direction.SAME, Direction.COPY)
    for traversal in traversals(target, leaf, leaf.map.based()):
        assert all(is_right(traversal, x, y) for x, y in meet)


def is_right(traversal: Traversal, x: tuple[int, ...], y: tuple[int, ...]) -> bool:
    """Whether what is read at ``y`` may be written at ``x``: not before, and not beside it."""
    ahead = (x[traversal.axis] - y[traversal.axis]) * (-1 if traversal.falling else 1)
    others = [k for k in range(len(x)) if k != traversal.axis and x[k] != y[k]]
    return ahead >= traversal.most if traversal.most else ahead >= 0 and not others


def cut(data: st.DataObject, extent: int, length: int) -> slice:
    step = data.draw(st.sampled_from((1, 1, 1, 2, -1, -2)))
    reach = (length - 1) * abs(step)
    first = data.draw(st.integers(0, extent - 1 - reach))
    if step > 0:
        return slice(first, first + reach + 1, step)
    return slice(first + reach, first - 1 if first else None, step)


@given(st.data())
@settings(max_examples=80)
def test_views_of_one_tiled_array(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(LAYOUTS[2]))
    values, array = numbered((7, 8), layout)
    if xl.ones((7, 8), layout=layout).is_contiguous() and ":" not in layout:
        return  # strided: `storage.overlap` has its own tests
    lengths = [data.draw(st.integers(1, 4)) for _ in range(2)]
    keys = [tuple([cut(data, n, m) for n, m in zip((7, 8), lengths, strict=True)]) for _ in "ab"]
    turned = data.draw(st.integers(0, 5)) == 0 and lengths[0] == lengths[1]
    to, source, read = array[keys[0]], array[keys[1]], values[keys[1]]
    check(to, source.T if turned else source, values[keys[0]], read.T if turned else read)


TILES = "{1,0:T(4,2)(2,1)}"


@together(
    ("to", "source", "expected"),
    [
        (np.s_[1:], np.s_[:-1], {(0, True, 0)}),
        (np.s_[:-1], np.s_[1:], {(0, False, 0)}),
        (np.s_[:, 3:], np.s_[:, :-3], {(1, True, 0)}),
        (np.s_[2:, 3:], np.s_[:-2, :-3], {(0, True, 2), (1, True, 3)}),
        (np.s_[1:, ::-1], np.s_[:-1], {(0, True, 1)}),
        (np.s_[:3], np.s_[:6:2], {(0, False, 0)}),
        (np.s_[:], np.s_[:1], {(0, True, 0)}),
        (np.s_[:], np.s_[3:4], set()),
        (np.s_[:, ::-1], np.s_[:], set()),
    ],
)
def test_orders_of_slabs(to: Any, source: Any, expected: set[tuple[int, bool, int]]) -> None:
    values, array = numbered((7, 8), TILES)
    written, read = values[to], np.broadcast_to(values[source], values[to].shape)
    target, leaf = relation(array[to], xl.broadcast_to(array[source], written.shape))
    assert {
        tuple(traversal) for traversal in traversals(target, leaf, leaf.map.based())
    } == expected
    check(array[to], xl.broadcast_to(array[source], written.shape), written, read)


def test_rows_may_be_chosen_from_either_end() -> None:
    """A destination that runs down its dimension is written from its own last index."""
    _, array = numbered((7, 8), TILES)
    down = array[::-1]
    target, leaf = relation(down[1:], down[:-1])
    assert traversals(target, leaf, leaf.map.based()) == [Traversal(0, True, 0)]
    target, leaf = relation(down[:-1], array[:0:-1])
    assert direction_of(target, leaf, leaf.map.based()) is Direction.SAME


def test_other_layouts_of_one_buffer_are_no_views_of_one_array() -> None:
    flat = xl.zeros(64, dtype="i4", layout="{0:T(8)}")
    grid = flat.bitcast("s32[8,8]{1,0:T(8,8)}")
    target, leaf = relation(grid[1:], grid[:-1])
    assert traversals(target, leaf, leaf.map.based())
    target, leaf = relation(flat[:8], grid[0])
    assert direction_of(target, leaf, leaf.map.based()) is Direction.SAME
    target, leaf = relation(flat[1:9], grid[0])
    assert direction_of(target, leaf, leaf.map.based()) is Direction.COPY
    assert traversals(target, leaf, leaf.map.based()) == []
