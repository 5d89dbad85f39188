"""Sizes: XLA's numbers, and the exact ones against the number of positions."""

from __future__ import annotations

import math

import pytest
from hypothesis import given

from tests.cases import together
from tests.xla.specs import specs
from xarraylite._errors import LayoutError
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

parse = ArraySpec.parse


@given(specs())
def test_exact_sizes_count_positions(spec: ArraySpec) -> None:
    bits = spec.element_size_in_bits()
    assert spec.nbytes == -(-len(spec.memory_order()) * bits // 8)
    assert spec.nbytes_logical == -(-spec.elements_in() * bits // 8)
    assert spec.nbytes_logical == spec.byte_size_of() == spec.byte_size_of_elements()
    assert spec.padding_bytes == spec.nbytes - spec.nbytes_logical >= 0
    expected = spec.nbytes / spec.nbytes_logical if spec.nbytes_logical else 1.0
    assert spec.expansion == expected


@given(specs(combine=False))
def test_array_size_is_exact_for_one_tile(spec: ArraySpec) -> None:
    assert spec.layout is not None
    tiles = [tile for tile in spec.layout.tiles[:1] if 0 not in spec.dimensions]
    one = spec.with_layout(
        Layout(
            spec.layout.minor_to_major,
            tiles,
            element_size_in_bits=spec.layout.element_size_in_bits,
            tail_padding_alignment_in_elements=(
                spec.layout.tail_padding_alignment_in_elements if tiles else 1
            ),
        )
    )
    assert one.array_size() == one.nbytes
    if tiles:
        assert spec.array_size() == one.array_size()


@given(specs(tiled=False, min_extent=1))
def test_untiled_strides(spec: ArraySpec) -> None:
    width = spec.element_type.storage_bytes
    strides = spec.unpacked_byte_strides()
    assert strides == tuple([width * spec.get_dimension_stride(d) for d in range(spec.rank)])
    assert spec.byte_strides() == strides
    last = sum([s * (n - 1) for s, n in zip(strides, spec.dimensions, strict=True)])
    assert spec.array_data_size() == last + width
    row_major = spec.layout == Layout.row_major(spec.rank)
    if row_major:
        assert spec.byte_strides_is_major_to_minor(strides)
    assert not spec.rank or not spec.byte_strides_is_major_to_minor([s + 1 for s in strides])


@together(
    ("text", "array_size", "nbytes"),
    [
        ("f32[3,5]{1,0:T(2,2)(3,3)}", 96, 216),  # a later tile pads
        ("f32[3]{0:L(8)}", 12, 32),  # a tail without a tile
        ("f32[8,8]{1,0:T(2,2)SC(0:4)}", 128, 256),  # split in two
        ("f32[3,2,5]{2,1,0:T(*,4,2)}", 288, 192),  # combined: XLA rounds 2 to 4, not 6 to 8
        ("s8[3,2,5]{2,1,0:T(*,4,2)}", 96, 48),  # and the dimension before to a word of 4 bytes
        ("s8[3,2,5]{2,1,0:T(*,4,2)(1,2,1)}", 72, 48),  # or to the size of the second tile
        ("f32[5]{0:T(8,128)}", 4096, 4096),  # a tile longer than the array
        ("f32[]{:T(128)}", 512, 512),
        ("s4[3]{0:T(4)L(5)E(4)}", 3, 3),
        ("pred[9]{0:E(1)}", 2, 2),
        ("bf16[0,5]{1,0:T(8,128)(2,1)}", 0, 0),
        ("f32[<=9]", 36, 36),
        ("f32[3,5]{1,0:E(16)}", 30, 30),
    ],
)
def test_array_size_beside_the_exact_one(text: str, array_size: int, nbytes: int) -> None:
    spec = parse(text)
    assert (spec.array_size(), spec.nbytes) == (array_size, nbytes)


def test_padded_dimensions_count_as_in_old_versions() -> None:
    spec = ArraySpec("f32", (10, 20), Layout((1, 0), padded_dimensions=(15, 21)))
    assert spec.byte_size_of() == spec.array_size() == spec.nbytes == 1260
    assert spec.nbytes_logical == 800
    assert spec.is_padded()
    assert not parse("f32[10,20]").is_padded()


def test_tuples_tokens_and_pointers() -> None:
    spec = parse("(f32[3,5]{1,0:T(2,2)}, (token[], s8[3]), b(u8[4]))")
    assert spec.byte_size_of() == spec.byte_size_of_tuple_index_table() == 24
    assert spec.byte_size_of(4) == 12
    assert spec.byte_size_of_elements_recursive() == 67
    assert spec.nbytes == 96 + 3 + 4
    assert spec.nbytes_logical == 67
    assert parse("token[]").byte_size_of() == parse("token[]").nbytes == 0
    assert parse("opaque[]").byte_size_of() == 8
    assert parse("(f32[2,3], (s32[4]))").elements_in_recursive() == 10
    with pytest.raises(LayoutError, match="not a tuple"):
        parse("f32[2]").byte_size_of_tuple_index_table()
    with pytest.raises(LayoutError, match="not an array"):
        assert parse("opaque[]").nbytes


def test_splits() -> None:
    spec = parse("f32[10,6]{0,1:SC(0:2)(1:3,4)}")
    assert [spec.max_split_size(d) for d in (0, 1)] == [6, 4]
    assert spec.max_elements_in_per_split() == 24
    assert spec.clear_layout().max_elements_in_per_split() == math.prod((10, 6))
    with pytest.raises(LayoutError, match="at most one"):
        spec.get_split_config()
    config = parse("f32[10]{0:SC(0:3)}").get_split_config()
    assert config is not None
    assert config.split_indices == (3,)
    assert parse("f32[10]").get_split_config() is None


def test_unknown_sizes_are_refused() -> None:
    spec = parse("f32[?,3]")
    for size in (spec.elements_in, spec.array_size, spec.byte_size_of, spec.array_data_size):
        with pytest.raises(LayoutError, match="without a bound"):
            size()
    with pytest.raises(LayoutError, match="one per dimension"):
        parse("f32[2,3]").byte_strides_is_major_to_minor((4,))
