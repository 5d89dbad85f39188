"""Layouts: fields, equality, queries and edits of the dimension order, and the fit to a shape."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import DTypeError, IndexRangeError, LayoutError
from xarraylite.layout.fields import COMBINE, PaddingValue, SplitConfig, Tile
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

orders = st.integers(0, 5).flatmap(lambda n: st.permutations(range(n)))


def test_fields_are_normalised() -> None:
    layout = Layout(
        np.array([1, 0]),
        [[8, 128], Tile((2, 1))],
        split_configs=[(0, [1]), SplitConfig(1, (2,))],
        index_primitive_type="u32",
        padding_value="LOWEST_PAD",
    )
    assert layout.minor_to_major == (1, 0)
    assert layout.tiles == (Tile((8, 128)), Tile((2, 1)))
    assert layout.tile_dims == ((8, 128), (2, 1))
    assert layout.split_configs == (SplitConfig(0, (1,)), SplitConfig(1, (2,)))
    assert layout.index_primitive_type is not None
    assert layout.index_primitive_type.name == "u32"
    assert layout.padding_value is PaddingValue.LOWEST
    assert layout.padded_dimensions is None
    assert Layout((0,), padded_dimensions=()).padded_dimensions is None
    assert Layout((0,), index_primitive_type="invalid").index_primitive_type is None


@together(
    ("options", "rule"),
    [
        ({"tail_padding_alignment_in_elements": 0}, "at least 1"),
        ({"element_size_in_bits": -1}, "at least 0"),
        ({"memory_space": 128}, "at most 127"),
        ({"memory_space": -1}, "at least 0"),
        ({"memory_space": 1.0}, "not an integer"),
        ({"memory_space": True}, "not an integer"),
        ({"dynamic_shape_metadata_prefix_bytes": -8}, "at least 0"),
        ({"index_primitive_type": "f32"}, "an integer type"),
        ({"pointer_primitive_type": "pred"}, "an integer type"),
        ({"tiles": [()]}, "at least one"),
        ({"tiles": [(0, 2)]}, "not positive"),
        ({"tiles": Tile((2, 2))}, "one tile"),
        ({"tiles": (8, 128)}, "not a sequence of sizes"),
        ({"tiles": 8}, "not a sequence of tiles"),
        ({"split_configs": [3]}, "not a sequence of"),
        ({"split_configs": [(-1, (2,))]}, "negative"),
        ({"padded_dimensions": (-1, 2)}, "negative"),
        ({"padded_dimensions": (4, 4), "tiles": [(2, 2)]}, "either the one or the other"),
        ({"padding_value": "NINE_PAD"}, "ZERO=1"),
        ({"padding_value": 9}, "ZERO=1"),
    ],
)
def test_refused_fields(options: dict[str, Any], rule: str) -> None:
    with pytest.raises(LayoutError, match=rule):
        Layout((1, 0), **options)


def test_unknown_types_are_refused() -> None:
    with pytest.raises(DTypeError):
        Layout((0,), index_primitive_type="q7")
    with pytest.raises(LayoutError, match="is text"):
        Layout("10")  # type: ignore[arg-type]


FIELDS: list[dict[str, Any]] = [
    {"tiles": [(2, 2)]},
    {"tail_padding_alignment_in_elements": 8},
    {"index_primitive_type": "u32"},
    {"pointer_primitive_type": "u32"},
    {"element_size_in_bits": 4},
    {"memory_space": 1},
    {"split_configs": [(0, (1,))]},
    {"physical_shape": ArraySpec("f32", (2,))},
    {"padded_dimensions": (4, 4)},
    {"padding_value": PaddingValue.ZERO},
]
IGNORE = {"tiles": "tiles", "element_size_in_bits": "element_size"} | dict.fromkeys(
    ("padded_dimensions", "padding_value"), "padding"
)


@together("options", FIELDS, ids=lambda options: next(iter(options)))
def test_equality_compares_the_field_unless_ignored(options: dict[str, Any]) -> None:
    plain, other = Layout((1, 0)), Layout((1, 0), **options)
    name = next(iter(options))
    assert plain != other
    assert other == Layout((1, 0), **options)
    assert hash(other) == hash(Layout((1, 0), **options))
    assert not plain.equal(other)
    assert plain.equal(other, minor_to_major_only=True)
    assert plain.equal(other, **{f"ignore_{IGNORE.get(name, name)}": True})
    assert not Layout((0, 1)).equal(other, minor_to_major_only=True)
    if name != "physical_shape":
        assert eval(repr(other)) == other
    assert pickle.loads(pickle.dumps(other)) == other == copy.deepcopy(other)
    assert dataclasses.replace(other, minor_to_major=(0, 1)) == Layout((0, 1), **options)


def test_equality_leaves_out_the_metadata_prefix() -> None:
    assert Layout((0,), dynamic_shape_metadata_prefix_bytes=8) == Layout((0,))
    assert Layout((0,), padding_value=PaddingValue.INVALID) == Layout((0,))
    assert Layout((0,)) != "{0}"


def test_constructors() -> None:
    assert str(Layout.row_major(3)) == str(Layout.make_descending_layout(3)) == "{2,1,0}"
    assert str(Layout.column_major(3)) == str(Layout.make_ascending_layout(3)) == "{0,1,2}"
    assert Layout.row_major(0) == Layout(())
    assert Layout.get_default_layout_for_rank(2) == Layout((1, 0))
    assert Layout.make_layout_from_major_to_minor([2, 0, 1]) == Layout((1, 0, 2))
    with pytest.raises(LayoutError, match="rank -1"):
        Layout.row_major(-1)


@given(orders)
def test_physical_numbers(order: list[int]) -> None:
    layout = Layout(order)
    places = layout.logical_to_physical()
    assert layout.make_logical_to_physical() == places
    for p in range(layout.rank):
        assert places[layout.major(p)] == p
        assert layout.minor(p) == order[p] == layout.major(layout.rank - 1 - p)
    assert layout.is_monotonic_with_dim0_minor() == (order == sorted(order))
    assert layout.has_ascending_layout() == (order == sorted(order))
    assert layout.is_monotonic_with_dim0_major() == (order == sorted(order)[::-1])
    assert layout.has_descending_layout() == (order == sorted(order)[::-1])


@given(orders.filter(bool), st.data())
def test_moves_and_deletions(order: list[int], data: st.DataObject) -> None:
    d = data.draw(st.sampled_from(order))
    layout = Layout(order, [(2,)], memory_space=3)
    rest = [x for x in order if x != d]
    assert layout.move_dim_to_major(d) == dataclasses.replace(layout, minor_to_major=(*rest, d))
    assert layout.move_dim_to_minor(d) == dataclasses.replace(layout, minor_to_major=(d, *rest))
    shifted = [x - 1 if x > d else x for x in rest]
    assert layout.delete_dimension(d) == dataclasses.replace(layout, minor_to_major=shifted)


def test_deletion_takes_splits_and_padding_along() -> None:
    layout = Layout((0, 2, 1), split_configs=[(0, (1,)), (2, (3,))], padded_dimensions=(4, 5, 6))
    less = layout.delete_dimension(1)  # physical dimension 0
    assert less == Layout((0, 1), split_configs=[(1, (3,))], padded_dimensions=(4, 6))


@given(orders, st.data())
def test_consecutive_dimensions(order: list[int], data: st.DataObject) -> None:
    dims = data.draw(st.lists(st.sampled_from(order), unique=True)) if order else []
    windows = [set(order[a:b]) for a, b in itertools.combinations(range(len(order) + 1), 2)]
    assert Layout(order).are_dimensions_consecutive(dims) == (not dims or set(dims) in windows)


@together(
    "call",
    [
        lambda layout: layout.major(2),
        lambda layout: layout.minor(-1),
        lambda layout: layout.move_dim_to_major(2),
        lambda layout: layout.move_dim_to_minor(-1),
        lambda layout: layout.delete_dimension(5),
        lambda layout: layout.are_dimensions_consecutive([0, 7]),
    ],
)
def test_dimensions_out_of_range(call: Any) -> None:
    with pytest.raises(IndexRangeError, match="Layout"):
        call(Layout((1, 0)))


def naive_order(dimensions: tuple[int, ...], tiles: list[tuple[int, ...]]) -> list[int]:
    """Row-major ordinals in the order of memory, by reshaping; sizes divide."""
    x = np.arange(int(np.prod(dimensions))).reshape(dimensions)
    for sizes in tiles:
        k, n = len(sizes), x.ndim
        grid = [d // t for d, t in zip(x.shape[n - k :], sizes, strict=True)]
        pairs = [extent for pair in zip(grid, sizes, strict=True) for extent in pair]
        x = x.reshape(*x.shape[: n - k], *pairs)
        outer, inner = range(n - k, n + k, 2), range(n - k + 1, n + k, 2)
        x = x.transpose(*range(n - k), *outer, *inner)
    return x.ravel().tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("dimensions", [(4,), (2, 4), (4, 4), (1, 4, 2)])
def test_untiled_layouts_move_nothing(dimensions: tuple[int, ...]) -> None:
    found = set()
    for k in range(1, len(dimensions) + 1):
        for sizes in itertools.product([1, 2, 3, 4], repeat=k):
            divides = all(d % t == 0 for d, t in zip(dimensions[-k:], sizes, strict=True))
            says = Layout.row_major(len(dimensions))
            says = dataclasses.replace(says, tiles=[sizes])
            answer = says.is_untiled_layout(dimensions)
            if not divides:
                assert not answer
            elif answer:
                assert naive_order(dimensions, [sizes]) == list(range(int(np.prod(dimensions))))
            found.add(answer)
    assert found == {True, False}


def test_untiled_is_false_where_unknown() -> None:
    assert not Layout((0,), [(1, 2)]).is_untiled_layout((2,))
    assert not Layout((1, 0), [(COMBINE, 4)]).is_untiled_layout((2, 2))
    assert Layout((1, 0), [(2, 4), (1,)]).is_untiled_layout((2, 4))
    assert Layout((1, 0)).is_untiled_layout((3, 5))


@together(
    ("layout", "dimensions", "rule"),
    [
        (Layout((1,)), (2, 3), "each of 0 to 1"),
        (Layout((1, 2)), (2, 3), "each of 0 to 1"),
        (Layout((1, 1)), (2, 3), "each of 0 to 1"),
        (Layout((-1, 0)), (2, 3), "each of 0 to 1"),
        (Layout((0,)), (), "must be empty"),
        (Layout((0,), index_primitive_type="u32"), (2,), "index_primitive_type"),
        (Layout((0,), pointer_primitive_type="u32"), (2,), "pointer_primitive_type"),
        (Layout((0,), physical_shape="f32[2]"), (2,), "physical_shape"),
        (Layout((0,), split_configs=[(1, (1,))]), (2,), "out of range"),
        (Layout((0,), split_configs=[(0, (1,)), (0, (1,))]), (2,), "split before"),
        (Layout((0,), split_configs=[(0, (2,))]), (2,), "inside the dimension"),
        (Layout((0,), split_configs=[(0, (0, 1))]), (2,), "must increase"),
        (Layout((0,), split_configs=[(0, (2, 2))]), (4,), "must increase"),
        (Layout((0, 1), split_configs=[(0, (3,))]), (4, 3), "inside the dimension of size 3"),
        (Layout((0,), padded_dimensions=(4, 4)), (2,), "one per dimension"),
        (Layout((1, 0), padded_dimensions=(4, 2)), (2, 3), "none smaller"),
    ],
)
def test_validate_refuses(layout: Layout, dimensions: tuple[int, ...], rule: str) -> None:
    with pytest.raises(LayoutError, match=rule):
        layout.validate(dimensions)


def test_validate_accepts() -> None:
    Layout(()).validate(())
    Layout((0, 1), split_configs=[(0, (3,))]).validate((3, 4))
    Layout((1, 0), padded_dimensions=(2, 4)).validate((2, 3))
    Layout((0,), [(2, 2, 2, 2)]).validate((0,))


def test_padded_dimensions_are_one_tile() -> None:
    layout = Layout((0, 1), padded_dimensions=(3, 5))
    assert layout.tile_dims == Layout((0, 1), [(5, 3)]).tile_dims == ((5, 3),)
    assert str(layout) == "{0,1}"


def test_padding_values_have_the_names_of_the_old_message() -> None:
    names = ["INVALID", "ZERO", "ONE", "LOWEST", "HIGHEST", "UNKNOWN"]
    assert [PaddingValue[f"{name}_PAD"].value for name in names] == list(range(6))


def test_memory_spaces_have_names() -> None:
    names = [Layout((), memory_space=space).memory_space_name for space in (0, 1, 5, 6, 9)]
    assert names == ["default", "generic_fast", "host", "unpinned_host", "device_9"]


def test_memory_spaces_of_tpus_have_names_of_theirs() -> None:
    tiled = [Layout((1, 0), [tile]) for tile in [(8, 128), (1024,), (8, 64), (128, 8)]]
    assert [layout.memory_space_name for layout in tiled] == [
        "default (HBM)",
        "default (HBM)",
        "default",
        "default",
    ]
    names = [Layout((0,), [(128,)], memory_space=k).memory_space_name for k in (1, 5)]
    assert names == ["generic_fast (VMEM)", "host"]


def test_a_split_has_at_least_one_part_to_begin() -> None:
    with pytest.raises(LayoutError, match="cut nowhere"):
        SplitConfig(0, ())
