"""Jagged shapes: every line of the shape design, and nested lists as the model."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from tests.shapes.changing import changing
from tests.shapes.models import jagged_of, shapes_of, tree_indices, trees
from xarraylite._errors import ShapeError, SizeError
from xarraylite.index.box import BoundsError
from xarraylite.shapes.jagged import JaggedShape
from xarraylite.shapes.jagged_tree import MAX_SLICES
from xarraylite.shapes.nested import Nested
from xarraylite.shapes.shape import Shape

s10, s20, s30 = Shape(10), Shape(20), Shape(30)
s10_20, s30_40, s50_60 = Shape(10, 20), Shape(30, 40), Shape(50, 60)
s10_20_30, s40_50_60 = Shape(10, 20, 30), Shape(40, 50, 60)
ROWS = JaggedShape([s10, s20])


@together(
    ("shape", "rank", "size"),
    [
        (JaggedShape(Shape()), 0, 1),
        (JaggedShape(Shape(10)), 1, 10),
        (JaggedShape(Shape(10, 20)), 2, 200),
        (JaggedShape([]), 1, 0),
        (JaggedShape([s10]), 2, 10),
        (JaggedShape([s10, s20, s30]), 2, 60),
        (JaggedShape([s10_20, s30_40, s50_60]), 3, 200 + 1200 + 3000),
        (JaggedShape([[s10], [s20, s30], [s30, s10, s20]]), 3, 120),
        (JaggedShape([s10_20_30, s40_50_60]), 4, 6000 + 120000),
        (JaggedShape([[s10_20, s30_40], [s30_40, s10_20, s50_60]]), 4, 1400 + 4400),
        (JaggedShape([[[s10], [s20, s30]], [[s10, s30], [s20], [s10, s20, s30]]]), 4, 180),
    ],
)
def test_construction_as_in_the_design(shape: JaggedShape, rank: int, size: int) -> None:
    assert shape.rank == rank
    assert shape.size == size
    assert not shape.is_null


def test_the_null_shape() -> None:
    null = JaggedShape.null()
    assert null.is_null
    assert null.size == 0
    assert null == JaggedShape.null() == Shape.null()
    assert hash(null) == hash(Shape.null())
    assert null != JaggedShape([])
    assert JaggedShape(Shape.null()) == null
    assert list(null) == []
    with pytest.raises(ShapeError, match="null shape has no rank"):
        null.rank


def test_a_smooth_shape_viewed_as_jagged_is_not_one_row() -> None:
    view, row = JaggedShape(Shape(10, 20)), JaggedShape([Shape(10, 20)])
    assert (view.rank, row.rank) == (2, 3)
    assert view == Shape(10, 20)
    assert row == Shape(1, 10, 20)
    assert (view.outer_rank, row.outer_rank) == (0, 1)
    assert view.is_smooth
    assert view.as_smooth() == Shape(10, 20)


def test_the_shape_is_recursive() -> None:
    e00, e01 = JaggedShape([s10]), JaggedShape([s20, s30])
    e10, e11, e12 = JaggedShape([s10, s30]), JaggedShape([s20]), JaggedShape([s10, s20, s30])
    e0, e1 = JaggedShape([e00, e01]), JaggedShape([e10, e11, e12])
    whole = JaggedShape([[[s10], [s20, s30]], [[s10, s30], [s20], [s10, s20, s30]]])
    assert JaggedShape([e0, e1]) == whole
    assert JaggedShape(iter([e0, e1])) == whole
    assert JaggedShape([e0, [[s10, s30], e11, [s10, s20, s30]]]) == whole
    assert whole.chip(0, 1) == JaggedShape([s20, s30])
    assert whole.slice_at(1, 2, 2) == s30


def test_the_slices_the_design_lists() -> None:
    shape = JaggedShape([[[s10], [s20, s30]], [[s10, s30], [s20], [s10, s20, s30]]])
    expected = {
        (0, 0, 0): 10, (0, 1, 0): 20, (0, 1, 1): 30, (1, 0, 0): 10, (1, 0, 1): 30,
        (1, 1, 0): 20, (1, 2, 0): 10, (1, 2, 1): 20, (1, 2, 2): 30,
    }  # fmt: skip
    assert {index: shape.slice_at(index) for index in expected} == {
        index: Shape(n) for index, n in expected.items()
    }
    matrices = JaggedShape([[s10_20, s30_40], [s30_40, s10_20, s50_60]])
    assert matrices.slice_at(1, 2) == s50_60
    assert matrices.to_list() == [[s10_20, s30_40], [s30_40, s10_20, s50_60]]


def test_smooth_slices_among_jagged_ones_are_unrolled() -> None:
    mixed = JaggedShape([Shape(2, 30), JaggedShape([s10, s20])])
    assert mixed == JaggedShape([[s30, s30], [s10, s20]])
    assert mixed.outer_rank == 2


def test_empty_lists_take_the_rank_of_their_siblings() -> None:
    assert JaggedShape([[], [s10]]).rank == 3
    assert JaggedShape([[], JaggedShape([s10])]).rank == 3
    assert JaggedShape([[], Shape(3, 4)]).extents == (2, None, None)
    assert JaggedShape([[], []]) == Shape(2, 0)
    assert JaggedShape([[], []]).rank == 2


@together(
    ("slices", "text"),
    [
        ([Shape(10, 20, 30), Shape(10, 20)], "slice 1 has rank 2 and slice 0 has rank 3"),
        ([[s10], [s10_20]], "ranks of the slices must agree"),
        ([Shape(), s10], r"slice 0 is Shape\(\); slices have rank 1 or more"),
        ([s10, Shape.null()], r"slice 1 is Shape.null\(\)"),
        ([10, 20], "from_lengths"),
        ([s10, 20], "slices are shapes or lists of them, got 20"),
        (10, "slices are shapes or lists of them, got 10"),
        (Nested([1], s10), "has layers, which a jagged shape does not"),
        ([Nested([1], s10), s10], "has layers"),
        ("ab", "slices are shapes or lists of them, got 'ab'"),
    ],
)
def test_slices_that_are_refused(slices: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        JaggedShape(slices)


def test_basic_operations_of_the_design_with_ranks_that_agree() -> None:
    # The design's js{Shape{10, 20, 30}, Shape{10, 20}} mixes ranks; with the same numbers:
    js = JaggedShape([Shape(200, 30), Shape(10, 20)])
    assert js.rank == 3
    assert js.size == 6200
    assert js.leading_size(1) == 2
    assert js.leading_size(3) == 6200


def test_modes_and_extents() -> None:
    assert ROWS.smooth_modes == (0,)
    assert ROWS.jagged_modes == (1,)
    assert ROWS.extents == (2, None)
    assert not ROWS.is_smooth
    assert ROWS.extent(0) == 2
    assert [ROWS.extent(1, i) for i in range(2)] == [10, 20]
    assert ROWS.extents_of(1).tolist() == [10, 20]
    with pytest.raises(ShapeError, match="mode 1 is jagged"):
        ROWS.extent(1)
    with pytest.raises(BoundsError, match="mode 0 has extent 2"):
        ROWS.extent(1, 2)
    with pytest.raises(BoundsError, match="there is no mode 2"):
        ROWS.extent(2)
    with pytest.raises(ShapeError, match="has 0 modes before it"):
        ROWS.extent(0, 1)
    matrices = JaggedShape([Shape(2, 7), Shape(3, 7)])
    assert matrices.extents == (2, None, 7)
    assert matrices.extent(2) == 7
    with pytest.raises(ValueError, match="read-only"):
        ROWS.extents_of(1)[0] = 3


def test_offsets_and_flat_positions() -> None:
    js = JaggedShape([[s10], [s20, s30]])
    assert js.offsets().tolist() == [0, 10, 30, 60]
    assert js.offsets(1).tolist() == [0, 10, 60]
    assert js.offsets(0).tolist() == [0, 60]
    assert js.flat_index(1, 1, 5) == 35
    assert JaggedShape(Shape(4, 5)).flat_index(2, 3) == 13
    with pytest.raises(BoundsError, match=r"the slice at \(0, 0\) has extents \(10,\)"):
        js.flat_index(0, 0, 10)
    with pytest.raises(BoundsError, match="mode 1 has extent 1"):
        js.flat_index(0, 1, 0)
    with pytest.raises(ShapeError, match="between 0 and 2"):
        js.offsets(3)


def test_slices_and_chips_as_in_the_design() -> None:
    assert ROWS.chip(0) == JaggedShape(Shape(10))
    assert ROWS.chip(0).rank == 1
    assert ROWS.slice(0) == JaggedShape([Shape(10)])
    assert ROWS.slice(0).rank == 2


def test_boxes() -> None:
    assert ROWS.slice((0, 2), (2, 9)) == Shape((2, 7), origin=(0, 2))
    assert ROWS.chip((0, 2), (2, 3)) == Shape(2)
    assert ROWS.chip((1, 15), (2, 16)) == Shape()
    assert ROWS.slice((1, 5), (2, 20)) == JaggedShape([Shape((15,), origin=5)], origin=1)
    assert ROWS.slice((0, 0), (0, 5)).extents == (0, 0)
    with pytest.raises(BoundsError, match=r"range 0:15 of mode 1 .* the extent is 10 at \(0,\)"):
        ROWS.slice((0, 0), (2, 15))
    with pytest.raises(BoundsError, match="mode 0 has extent 2"):
        ROWS.chip(2)
    with pytest.raises(BoundsError, match=r"range 12:13 of mode 1 .* 10 at \(0,\)"):
        ROWS.slice(0, 12)
    with pytest.raises(ShapeError, match="use slice"):
        ROWS.chip((0, 0), (2, 5))


def test_origins_as_in_the_design() -> None:
    js = JaggedShape([Shape(10, origin=5), Shape(20, origin=6)], origin=10)
    assert js.origin == (10, 5)
    absolute = list(js.indices(absolute=True))
    assert absolute[0] == (10, 5)
    assert absolute[10] == (11, 6)
    assert list(js) == list(ROWS)
    assert js.slice_at(1) == Shape(20, origin=6)
    assert js != ROWS
    assert js.same_extents(ROWS)
    # A row of two matrices whose element (0, 0) lies at (1, 0).
    e10, e11 = Shape((5, 10), origin=(0, 0)), Shape((3, 10), origin=(7, 0))
    part = JaggedShape([[e10, e11]], origin=(1, 0))
    indices = list(part.indices(absolute=True))
    assert indices[0] == (1, 0, 0, 0)
    assert indices[50] == (1, 1, 7, 0)


def test_set_origin() -> None:
    js = JaggedShape([s10, s20])
    js.set_origin(3)
    assert js.origin == (3, 0)
    js.set_origin(1, 2)
    assert list(js.indices(absolute=True))[10] == (2, 2)
    assert js.in_bounds(2, 21, absolute=True)
    assert not js.in_bounds(1, 12, absolute=True)
    for bad in ((), (1, 2, 3)):
        with pytest.raises(ShapeError, match="needs one integer for each of the first modes"):
            js.set_origin(bad)
    hash(js)
    with pytest.raises(ShapeError, match="was hashed"):
        js.set_origin(0)


def test_origins_decide_smoothness_and_equality() -> None:
    js = JaggedShape([Shape(3, origin=1), Shape(3, origin=2)])
    assert js.jagged_modes == ()
    assert not js.is_smooth
    assert js != Shape(2, 3)
    assert js.same_extents(Shape(2, 3))
    with pytest.raises(ShapeError, match="origins vary"):
        js.as_smooth()
    same = JaggedShape([Shape(3, origin=1), Shape(3, origin=1)])
    assert same.as_smooth() == Shape((2, 3), origin=(0, 1)) == same


def test_padding() -> None:
    assert ROWS.to_padded() == (Shape(2, 20), 10)
    assert JaggedShape([[s10], [s20, s30]]).to_padded() == (Shape(2, 2, 30), 60)
    assert JaggedShape(Shape(4, 5)).to_padded() == (Shape(4, 5), 0)
    wide = JaggedShape([Shape(1 << 40, 1), Shape(1, 1 << 40)])
    with pytest.raises(SizeError, match="elements"):
        wide.to_padded()


def test_permutations_of_smooth_modes() -> None:
    js = JaggedShape([Shape(2, 5, 3), Shape(4, 5, 3)])
    assert js.permute(0, 2, 1, 3) == JaggedShape([Shape(5, 2, 3), Shape(5, 4, 3)])
    assert js.permute(2, 0, 3, 1) == JaggedShape([[Shape(3, 2), Shape(3, 4)]] * 5)
    assert js.permute(0, 1, 2, 3) == js
    with pytest.raises(ShapeError, match=r"'mode 1'.*cannot stand before 'mode 0'"):
        js.permute(1, 0, 2, 3)
    with pytest.raises(ShapeError, match="not a permutation"):
        js.permute(0, 1)


def test_how_a_shape_was_written_makes_no_difference() -> None:
    a, b = JaggedShape([Shape(2, 3), Shape(2, 4)]), JaggedShape([[Shape(3)] * 2, [Shape(4)] * 2])
    assert a == b
    assert hash(a) == hash(b)
    assert a.outer_rank != b.outer_rank
    assert JaggedShape([s10, s20]) != JaggedShape([s20, s10])
    assert JaggedShape([Shape(2, 6)] + [Shape(3, 4)]) != JaggedShape([Shape(3, 4), Shape(2, 6)])
    assert Shape(2, 15) != ROWS
    assert ROWS != "rows"
    flat = JaggedShape([Shape(2, 6), Shape(4, 4), Shape(3, 6)])
    deep = JaggedShape([[Shape(4)] * 4, [Shape(6)] * 2, [Shape(6)] * 3])
    assert flat != deep  # of one size and one bounding box, and written at two depths
    assert (flat.outer_rank, flat.slice_rank, flat.n_slices) == (1, 2, 3)
    assert (deep.outer_rank, deep.slice_rank, deep.n_slices) == (2, 1, 9)


def test_from_lengths_and_offsets() -> None:
    assert JaggedShape.from_lengths([10, 20]) == ROWS
    assert JaggedShape.from_lengths(np.array([10, 20], dtype=np.uint8)) == ROWS
    assert JaggedShape.from_offsets([0, 10, 30]) == ROWS
    assert JaggedShape.from_lengths([1, 2], [10, 20, 30]) == JaggedShape([[s10], [s20, s30]])
    assert JaggedShape.from_lengths([]).extents == (0, 0)
    lengths = np.array([10, 20])
    js = JaggedShape.from_lengths(lengths)
    lengths[0] = 99
    assert js == ROWS


@together(
    ("make", "text"),
    [
        (JaggedShape.from_lengths, "lengths of the rows are needed"),
        (lambda: JaggedShape.from_lengths([1, -2]), "must not be negative, got -2"),
        (lambda: JaggedShape.from_lengths([1.0]), "must be an integer, got 1.0"),
        (lambda: JaggedShape.from_lengths(np.ones(2)), "vector of integers, got float64"),
        (lambda: JaggedShape.from_lengths([1, 2], [1, 2]), "2 numbers for the 3 items"),
        (lambda: JaggedShape.from_offsets([1, 2]), "offsets start at 0"),
        (lambda: JaggedShape.from_offsets([]), "offsets start at 0"),
        (lambda: JaggedShape.from_offsets([0, 3, 2]), "must not decrease, got 3 and then 2"),
        (ROWS.slice_at, "1 offsets lead to a smooth slice"),
        (lambda: ROWS.slice_at(0, 0), "1 offsets lead to a smooth slice"),
        (ROWS.as_smooth, r"modes \(1,\) are jagged"),
        (lambda: ROWS.in_bounds(0), "has 1 entries"),
    ],
)
def test_errors_say_what_is_wrong(make: Any, text: str) -> None:
    with pytest.raises(ShapeError, match=text):
        make()


def test_repr() -> None:
    assert repr(ROWS) == "JaggedShape([Shape(10), Shape(20)])"
    assert repr(JaggedShape(Shape(2, 3))) == "JaggedShape(Shape(2, 3))"
    assert repr(JaggedShape.null()) == "JaggedShape.null()"
    assert repr(JaggedShape([[s10], []])) == "JaggedShape([[Shape(10)], []])"
    long = JaggedShape.from_lengths(list(range(100)))
    assert repr(long) == (
        "JaggedShape([Shape(0), Shape(1), Shape(2), ..., Shape(97), Shape(98), Shape(99)])"
    )
    parts = [JaggedShape([s10], origin=3), JaggedShape([s20], origin=4)]
    shape = JaggedShape(parts, origin=1)
    assert "JaggedShape([Shape(20)], origin=(4,))" in repr(shape)
    assert eval(repr(shape)) == shape


def test_sizes_are_exact_and_limited() -> None:
    half = 1 << 62
    assert JaggedShape([Shape(half), Shape(half - 1)]).size == 2 * half - 1
    with pytest.raises(SizeError, match=r"more than 2\*\*63 - 1"):
        JaggedShape([Shape(half), Shape(half)])
    with pytest.raises(SizeError, match="listed one by one"):
        JaggedShape([Shape(MAX_SLICES + 1, 1), JaggedShape([s10])])


@given(trees())
def test_indices_are_those_of_the_model(tree: Any) -> None:
    js, expected = jagged_of(tree), tree_indices(tree)
    assert list(js) == expected
    assert js.size == len(expected)
    for n in range(js.rank + 1):
        if n > js.outer_rank or n in (0, 1):  # nodes without elements count, too
            assert js.leading_size(n) >= len({index[:n] for index in expected})
    assert [js.flat_index(index) for index in expected] == list(range(len(expected)))
    assert all([js.in_bounds(index) for index in expected])


@given(trees())
def test_round_trips(tree: Any) -> None:
    js = jagged_of(tree)
    assert js.to_list() == shapes_of(tree)
    assert JaggedShape(js.to_list()) == js
    assert pickle.loads(pickle.dumps(js)) == js
    assert eval(repr(js)) == js
    assert hash(js.copy()) == hash(js)
    restored = pickle.loads(pickle.dumps(js.slice()))
    assert restored == js
    assert not restored.extents_of(0).flags.writeable


@given(trees(min_extent=1), trees(min_extent=1))
def test_equality_is_that_of_index_sets(left: Any, right: Any) -> None:
    a, b = jagged_of(left), jagged_of(right)
    assert (a == b) == (tree_indices(left) == tree_indices(right))
    if a == b:
        assert hash(a) == hash(b)


@given(trees(max_depth=2), trees(max_depth=2))
def test_equality_and_hashes_agree_where_there_are_no_elements(left: Any, right: Any) -> None:
    a, b = jagged_of(left), jagged_of(right)
    assert (a == b) == (b == a)
    if a == b:
        assert hash(a) == hash(b)
        assert list(a) == list(b)
    if a.is_smooth:
        assert a == a.as_smooth()
        assert hash(a) == hash(a.as_smooth())


@given(trees(min_extent=1), st.data())
def test_slices_and_chips_select_what_they_say(tree: Any, data: st.DataObject) -> None:
    js, indices = jagged_of(tree), tree_indices(tree)
    box = js.to_padded()[0].extents
    first = tuple([data.draw(st.integers(0, n - 1)) for n in box])
    stop = tuple([data.draw(st.integers(a + 1, n)) for a, n in zip(first, box, strict=True)])
    inside = [
        index
        for index in indices
        if all([a <= i < b for a, i, b in zip(first, index, stop, strict=True)])
    ]
    full = 1
    for a, b in zip(first, stop, strict=True):
        full *= b - a
    if len(inside) != full:  # some slice does not have some index of the box
        with pytest.raises(BoundsError, match="out of bounds"):
            js.slice(first, stop)
        return
    part = js.slice(first, stop)
    assert list(part.indices(absolute=True)) == inside
    assert part == js.slice().slice(first, stop)
    kept = [k for k in range(js.rank) if stop[k] - first[k] != 1]
    if len(kept) < js.rank:
        assert list(js.chip(first, stop).indices(absolute=True)) == [
            tuple([index[k] for k in kept]) for index in inside
        ]


@given(trees(), st.data())
def test_leading_chips_are_subtrees(tree: Any, data: st.DataObject) -> None:
    js, indices = jagged_of(tree), tree_indices(tree)
    if not indices:
        return
    index = data.draw(st.sampled_from(indices))
    n = data.draw(st.integers(1, js.rank))
    expected = [i for i in indices if i[:n] == index[:n]]
    assert list(js.chip(*index[:n])) == [i[n:] for i in expected]
    assert list(js.slice(*index[:n]).indices(absolute=True)) == expected


@given(trees(min_extent=1), st.data())
def test_permutations_permute_indices_or_are_refused(tree: Any, data: st.DataObject) -> None:
    js, indices = jagged_of(tree), tree_indices(tree)
    axes = data.draw(st.permutations(range(js.rank)))
    permuted = sorted([tuple([index[a] for a in axes]) for index in indices])
    try:
        result = js.permute(axes)
    except ShapeError:
        moved = [(mode, other) for mode in js.jagged_modes for other in range(mode)]
        assert any([axes.index(mode) < axes.index(other) for mode, other in moved])
    else:
        assert list(result) == permuted


def test_a_million_rows() -> None:
    lengths = np.random.default_rng(1).integers(0, 20, 1_000_000)
    js = JaggedShape.from_lengths(lengths)
    assert js.size == int(lengths.sum())
    rows = [Shape(n) for n in range(20)] * 50_000
    listed = JaggedShape(rows)
    assert listed.size == 190 * 50_000
    row = js.slice_at(999_999)
    assert row == Shape(int(lengths[-1]))
    assert len(repr(js)) < 200


def test_lengths_that_change_after_the_check() -> None:
    """What was checked is what is used, even if another thread writes to the caller's array."""
    shape = JaggedShape.from_lengths(changing([2, 3]))
    assert shape == JaggedShape.from_lengths([2, 3])
    assert JaggedShape.from_offsets(changing([0, 2, 5])) == shape
