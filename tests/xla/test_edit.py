"""Edits of dimensions and layouts: what moves no byte, and what XLA keeps of a layout."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from tests.xla.specs import specs
from xarraylite._errors import IndexRangeError, LayoutError
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

parse = ArraySpec.parse
FULL = "f32[10,20,30]{0,2,1:T(8,128)(2,1)L(4)S(1)SC(1:5)M(8)}"


@given(specs(), st.data())
def test_permutations_move_nothing(spec: ArraySpec, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(spec.rank)))
    moved = spec.permute_dimensions(order)
    assert moved == spec.reorder_logical_dimensions(order)
    assert moved.dimensions == tuple([spec.dimensions[p] for p in order])
    for index in itertools.islice(itertools.product(*map(range, spec.dimensions)), 50):
        assert moved.linear_index([index[p] for p in order]) == spec.linear_index(index)
    back = [order.index(d) for d in range(spec.rank)]
    assert moved.permute_dimensions(back) == spec
    plain = spec.permute_dimensions_ignoring_layout(order)
    assert (plain.dimensions, plain.layout) == (moved.dimensions, spec.layout)


@given(specs())
def test_physical_order_as_default_order(spec: ArraySpec) -> None:
    assert spec.layout is not None
    flat = spec.make_shape_with_descending_layout_and_same_physical_layout()
    assert flat.layout is not None
    assert flat.layout.is_monotonic_with_dim0_major()
    assert flat.physical_dimensions() == spec.physical_dimensions()
    assert flat.is_bitcast(spec, spec.layout.logical_to_physical())


@given(specs(max_rank=3), st.integers(0, 3))
def test_inserted_dimensions_go_away_again(spec: ArraySpec, bound: int) -> None:
    plain = spec.clear_tiles().device_shape_to_host_shape()
    assert plain.prepend_major_dimension(bound).delete_dimension(0) == plain
    assert spec.append_major_dimension(bound).delete_dimension(spec.rank) == spec
    assert spec.append_minor_dimension(bound).delete_dimension(spec.rank) == spec
    for at in range(spec.rank + 1):
        grown = spec.insert_dimensions_at_index(at, (bound, 7))
        assert grown.dimensions[at : at + 2] == (bound, 7)
        assert grown.delete_dimensions((at, at + 1)) == plain
        assert spec.insert_dimension_at_index(at, bound).delete_dimension(at) == plain


@given(specs(tiled=False, min_extent=1))
def test_degenerate_dimensions_hold_nothing(spec: ArraySpec) -> None:
    short = spec.drop_degenerate_dimensions()
    assert 1 not in short.dimensions
    assert short.rank == spec.true_num_dimensions()
    assert short.is_bitcast(spec)
    assert spec.filter_dimensions(lambda d: spec.dimensions[d] != 1) == short
    assert spec.has_degenerate_dimensions() is (short != spec)
    assert ArraySpec.buffer(spec).drop_degenerate_dimensions() == short


@given(specs(min_extent=1), st.data())
def test_move_dim_to_major(spec: ArraySpec, data: st.DataObject) -> None:
    if not spec.rank:
        return
    d = data.draw(st.integers(0, spec.rank - 1))
    moved = spec.move_dim_to_major(d)
    assert moved.layout is not None
    assert moved.layout.major(0) == d
    assert moved.is_effectively_most_major_dimension(d)
    assert moved.layout == Layout(moved.layout.minor_to_major)


@together(
    ("edit", "expected"),
    [
        (lambda s: s.permute_dimensions((2, 0, 1)), "{1,0,2:T(8,128)(2,1)L(4)S(1)SC(1:5)M(8)}"),
        (lambda s: s.prepend_major_dimension(2), "{1,3,2,0}"),
        (lambda s: s.append_major_dimension(2), "{0,2,1,3:T(8,128)(2,1)L(4)S(1)SC(1:5)M(8)}"),
        (lambda s: s.append_minor_dimension(2), "{3,0,2,1:T(8,128)(2,1)L(4)S(1)SC(1:5)M(8)}"),
        (lambda s: s.insert_dimension_at_index(1, 2), "{0,3,2,1}"),
        (lambda s: s.delete_dimension(1), "{0,1:T(8,128)(2,1)L(4)S(1)SC(0:5)M(8)}"),
        (lambda s: s.delete_dimensions((2,)), "{0,1:T(8,128)(2,1)L(4)S(1)M(8)}"),
        (lambda s: s.move_dim_to_major(0), "{2,1,0}"),
        (lambda s: s.clear_tiles(), "{0,2,1:L(4)S(1)SC(1:5)M(8)}"),
        (lambda s: s.device_shape_to_host_shape(), "{0,2,1:SC(1:5)}"),
        (lambda s: s.set_to_default_layout(), "{2,1,0:T(8,128)(2,1)L(4)S(1)SC(1:5)M(8)}"),
        (
            lambda s: s.make_shape_with_descending_layout_and_same_physical_layout(),
            "{2,1,0:T(8,128)(2,1)L(4)S(1)}",
        ),
    ],
)
def test_what_is_kept_of_a_layout(edit, expected: str) -> None:
    assert str(edit(parse(FULL)).layout) == expected


def test_padded_dimensions_follow_their_dimensions() -> None:
    spec = ArraySpec("f32", (2, 3, 4), Layout((1, 0, 2), padded_dimensions=(5, 6, 7)))

    def padded(found: ArraySpec) -> tuple[int, ...] | None:
        assert found.layout is not None
        return found.layout.padded_dimensions

    assert padded(spec.permute_dimensions((2, 0, 1))) == (7, 5, 6)
    assert padded(spec.delete_dimension(1)) == (5, 7)
    assert padded(spec.append_minor_dimension(9)) == (5, 6, 7, 9)
    assert padded(spec.prepend_major_dimension(9)) is None


def test_dynamic_dimensions_follow() -> None:
    spec = parse("f32[<=4,5,?]")
    assert str(spec.permute_dimensions((2, 0, 1))) == "f32[?,<=4,5]{0,2,1}"
    assert str(spec.append_major_dimension(3)) == "f32[<=4,5,?,3]{2,1,0,3}"
    assert str(spec.delete_dimension(2)) == "f32[<=4,5]{1,0}"
    assert str(parse("(f32[<=4]{0:M(8)})").make_static_shape()) == "(f32[4]{0})"
    with pytest.raises(LayoutError, match="without a bound"):
        spec.make_static_shape()


def test_element_types_and_packing() -> None:
    packed = parse("s4[64,128]{1,0:E(4)}")
    assert str(packed.change_element_type("u8")) == "u8[64,128]{1,0}"
    assert str(packed.change_element_type("u2")) == "u2[64,128]{1,0:E(4)}"  # as XLA leaves it
    assert packed.update_element_size_in_bits(False) == parse("s4[64,128]")
    tree = parse("(s4[8], pred[8], u1[8], f32[8], token[])")
    assert str(tree.update_element_size_in_bits()) == (
        "(s4[8]{0:E(4)}, pred[8]{0}, u1[8]{0:E(1)}, f32[8]{0}, token[])"
    )
    assert tree.update_element_size_in_bits().has_custom_element_size_in_bits()
    assert not tree.has_custom_element_size_in_bits()


def test_layouts_of_trees() -> None:
    tree = parse("(f32[2,3]{0,1:T(2,2)}, (token[], b(bf16[4]{0:T(8)S(1)})))")
    assert str(tree.clear_tiles()) == "(f32[2,3]{0,1}, (token[], b(bf16[4]{0:S(1)})))"
    assert str(tree.clear_layout()) == "(f32[2,3], (token[], b(bf16[4])))"
    assert str(tree.get_with_default_layout()) == (
        "(f32[2,3]{1,0:T(2,2)}, (token[], b(bf16[4]{0:T(8)S(1)})))"
    )
    assert tree.has_layout()
    assert not tree.clear_layout().has_layout()
    assert tree.clear_layout().has_any_layout()  # the token, as in XLA
    assert not parse("(f32[2])").clear_layout().has_any_layout()
    host = tree.device_shape_to_host_shape()
    assert str(host) == "(f32[2,3]{0,1}, (token[], b(bf16[4]{0})))"
    assert host.device_shape_is_host_shape()
    assert not tree.device_shape_is_host_shape()
    assert not parse("f32[2]{0:M(8)}").device_shape_is_host_shape()
    assert tree.clear_layout().device_shape_is_host_shape()


def test_copied_layouts() -> None:
    src = parse("(f32[2,3]{0,1:T(2,2)}, (s8[4]{0:S(1)}, token[]))")
    dst = parse("(u8[5,6], (f32[7], token[]))")
    assert str(src.copy_layout_between_shapes(dst)) == (
        "(u8[5,6]{0,1:T(2,2)}, (f32[7]{0:S(1)}, token[]))"
    )
    cleared = src.clear_layout().copy_layout_between_shapes(dst)
    assert cleared == dst.clear_layout()
    for other, message in (
        ("f32[2,3]", "structure"),
        ("(u8[5,6])", "number of members"),
        ("(u8[5], (f32[7], token[]))", "number of dimensions"),
    ):
        with pytest.raises(LayoutError, match=message):
            src.copy_layout_between_shapes(parse(other))


def test_validation() -> None:
    spec = parse("(f32[2,3], token[])")
    spec.validate_layout_in_shape()
    spec.clear_layout().validate_layout_in_shape(allow_missing_layouts=True)
    with pytest.raises(LayoutError, match="does not have a layout"):
        spec.clear_layout().validate_layout_in_shape()
    with pytest.raises(LayoutError, match="split config"):
        parse("f32[2,3]{1,0:SC(0:9)}").validate_layout_in_shape()
    with pytest.raises(LayoutError, match="tuple"):
        spec.validate_layout_for_shape(Layout((1, 0)))
    parse("f32[2,3]").validate_layout_for_shape(Layout((0, 1)))
    parse("token[]").validate_layout_for_shape(Layout((0, 1)))
    with pytest.raises(LayoutError):
        parse("f32[2,3]").validate_layout_for_shape(Layout((0, 2)))


def test_small_questions() -> None:
    assert parse("bf16[1024]{0:T(1024)(128)(2,1)}").packed_factor_for_1d_interleaved_array() == 2
    with pytest.raises(LayoutError, match="not interleaved"):
        parse("bf16[8,128]{1,0:T(8,128)(2,1)}").packed_factor_for_1d_interleaved_array()
    assert parse("f32[1,5,3]{1,2,0}").is_effectively_most_major_dimension(2)
    assert not parse("f32[1,5,3]{1,2,0}").is_effectively_most_major_dimension(1)
    assert parse("f32[2]{0:S(3)}").memory_space() == 3
    assert parse("f32[2,3]{0,1}").get_default_layout_for_shape() == Layout((1, 0))
    for text in ("token[]", "opaque[]"):
        assert parse(text).get_default_layout_for_shape() == Layout(())
    with pytest.raises(LayoutError, match="is not an array"):
        parse("(f32[2,3])").get_default_layout_for_shape()


def test_what_edits_refuse() -> None:
    spec = parse("f32[2,3]")
    with pytest.raises(LayoutError, match="not a permutation"):
        spec.permute_dimensions((0, 0))
    with pytest.raises(IndexRangeError, match="delete_dimensions"):
        spec.delete_dimension(2)
    with pytest.raises(IndexRangeError, match="insert_dimensions_at_index"):
        spec.insert_dimension_at_index(3, 1)
    with pytest.raises(LayoutError, match="negative"):
        spec.append_minor_dimension(-1)
    with pytest.raises(LayoutError, match="not an array"):
        parse("(f32[2])").permute_dimensions((0,))


def test_tuples_of_what_is_validated() -> None:
    made = ArraySpec.make_tuple_shape([parse("token[]"), parse("f32[2,3]{0,1}")])
    assert str(made.move_dim_to_major(1)) == "(token[], f32[2,3]{0,1})"
    assert str(made.move_dim_to_major(0)) == "(token[], f32[2,3]{1,0})"
    made.validate_shape()
    unsaid = ArraySpec("f32", (2, 3))
    unsaid.validate_shape_with_optional_layout()
    with pytest.raises(LayoutError, match="does not have a layout"):
        unsaid.validate_shape()
