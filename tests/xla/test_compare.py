"""Equality but for chosen parts, and walks through tuples."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.cases import together
from tests.xla.specs import specs
from xarraylite._errors import IndexRangeError, LayoutError
from xarraylite.layout.layout import Layout
from xarraylite.xla.spec import ArraySpec

parse = ArraySpec.parse


@given(specs(), specs())
def test_equal_is_the_operator(a: ArraySpec, b: ArraySpec) -> None:
    assert a.equal(b) is (a == b)
    assert a.equal(a)
    assert a.compatible(b) is ((a.element_type, a.dimensions) == (b.element_type, b.dimensions))
    assert a.compatible(a.clear_layout())
    assert a.equal(b, ignore_layout=True) is a.compatible(b)
    assert a.same_dimensions(b) is (a.dimensions == b.dimensions)
    assert a.compatible_kind(b) is a.same_rank(b)


@together(
    ("a", "b", "option"),
    [
        ("f32[2]{0:T(2)}", "f32[2]", "ignore_tiles"),
        ("f32[2]{0:E(16)}", "f32[2]", "ignore_element_size"),
        ("f32[2]{0:S(1)}", "f32[2]", "ignore_memory_space"),
        ("f32[2]{0:L(4)}", "f32[2]", "ignore_tail_padding_alignment_in_elements"),
        ("f32[2]{0:SC(0:1)}", "f32[2]", "ignore_split_configs"),
        ("f32[2]{0:T(2)L(4)E(16)S(1)SC(0:1)}", "f32[2]", "minor_to_major_only"),
        ("f32[2,3]{0,1}", "f32[2,3]{1,0}", "ignore_layout"),
        ("f32[2]", "s8[2]", "ignore_element_type"),
        ("f32[2]", "bf16[2]", "ignore_fp_precision"),
        ("f32[2]", "f32[3]", "ignore_dimensions"),
        ("f32[<=2]", "f32[2]", "ignore_dynamic_dimension"),
        ("f32[?]", "f32[2]", "ignore_dynamic_dimension"),
        ("b(f32[2])", "f32[2]", "ignore_buffer"),
    ],
)
def test_each_part_can_be_ignored(a: str, b: str, option: str) -> None:
    for wrap in ("{}", "({}, token[])", "((), ({}))"):
        left, right = parse(wrap.format(a)), parse(wrap.format(b))
        assert not left.equal(right)
        assert left.equal(right, **{option: True})
        assert right.equal(left, **{option: True})


def test_parts_that_are_not_ignored_still_count() -> None:
    spec = parse("f32[2]{0:T(2)S(1)}")
    assert not spec.equal(parse("f32[2]"), ignore_tiles=True)
    assert not spec.equal(parse("f32[3]"), ignore_layout=True)
    assert not parse("f32[2]").equal(parse("s32[2]"), ignore_fp_precision=True)
    assert not parse("f32[2]").equal(parse("f32[2,1]"), ignore_dimensions=True)
    assert not parse("token[]").equal(parse("opaque[]"), ignore_element_type=True)
    assert not parse("f32[]").equal(parse("token[]"), ignore_element_type=True)
    assert not parse("(f32[])").equal(parse("f32[]"))
    assert not parse("(f32[])").equal(parse("(f32[], f32[])"))
    assert parse("f32[2]{0:M(8)}").equal(parse("f32[2]"))  # the prefix never counts


def test_compatible_specs() -> None:
    a = parse("(f32[<=3,2]{0,1:T(2,2)}, token[])")
    assert a.compatible(parse("(f32[3,2], token[])"))
    assert not a.compatible(parse("(s32[3,2], token[])"))
    assert a.compatible_ignoring_element_type(parse("(s32[3,2], token[])"))
    assert a.compatible_ignoring_fp_precision(parse("(f64[3,2], token[])"))
    assert not a.compatible_ignoring_fp_precision(parse("(s32[3,2], token[])"))
    assert a.compatible_kind(parse("(s32[5,6], token[])"))
    assert not a.compatible_kind(parse("(b(s32[5,6]), token[])"))
    assert a.compatible_kind(parse("(b(s32[5,6]), token[])"), ignore_buffer=True)
    assert parse("f32[2]").equal_ignoring_element_type(parse("s8[2]"))
    assert parse("f32[2]").equal_ignoring_fp_precision(parse("f16[2]"))
    assert parse("f32[2]").same_element_type(parse("f32[3]"))


def test_structure_is_that_of_the_tuples() -> None:
    a = parse("(f32[2], (token[], ()))")
    assert a.equal_structure(parse("(s8[3,3], ((), b(f32[])))"))  # () is a leaf, as in XLA
    assert not a.equal_structure(parse("(s8[3,3], (token[]))"))


def test_layouts_member_by_member() -> None:
    a, b = parse("(f32[2]{0:T(2)}, b(s8[3]))"), parse("(u8[5], b(f32[4]))")
    assert not a.layouts_in_shapes_equal(b)
    assert a.layouts_in_shapes_equal(b, ignore_tiles=True)
    assert parse("token[]").layouts_in_shapes_equal(parse("f32[2]"))
    assert not parse("f32[2]").layouts_in_shapes_equal(parse("f32[2,2]"))
    assert not parse("f32[2]").layouts_in_shapes_equal(parse("f32[2]").clear_layout())
    assert not parse("(f32[2])").layouts_in_shapes_equal(parse("f32[2]"))


def test_trees() -> None:
    tree = parse("(f32[2], (token[], (), b(s8[3])), u4[])")
    assert [(path, str(s)) for path, s in tree.get_leaf_shapes()] == [
        ((0,), "f32[2]{0}"),
        ((1, 0), "token[]"),
        ((1, 2), "b(s8[3]{0})"),
        ((2,), "u4[]"),
    ]
    assert [s for _, s in tree.get_leaf_shapes()] == tree.flatten_tuple_shape()
    assert tree.get_leaf_count() == 4
    assert tree.subshape_count() == 7
    assert {path: tree.get_subshape(path) for path, _ in tree.for_each_subshape()} == dict(
        tree.for_each_subshape()
    )
    assert tree.is_leaf_index((1, 0))
    assert not tree.is_leaf_index((1,))
    assert tree.index_is_valid((1, 1))
    assert not tree.index_is_valid((1, 2, 0))  # a buffer has no members
    assert not tree.index_is_valid((-1,))
    assert tree.is_nested_tuple()
    assert parse("()").is_empty_tuple()
    assert tree.tuple_element_count() == 3
    assert str(tree.get_tuple_element_shape(2)) == "u4[]"
    assert str(tree.slice_tuple(1, 3)) == "((token[], (), b(s8[3]{0})), u4[])"
    assert tree.has_primitive_type("tuple")
    assert tree.has_primitive_type("s4") is False
    with pytest.raises(IndexRangeError, match=r"path \(3,\)"):
        tree.get_subshape((3,))
    with pytest.raises(IndexRangeError, match="no part"):
        tree.slice_tuple(2, 4)
    with pytest.raises(LayoutError, match="not a tuple"):
        parse("f32[2]").tuple_element_count()


def test_kinds() -> None:
    assert parse("f32[]").is_scalar()
    assert not parse("f32[1]").is_scalar()
    assert parse("f32[1,1]").is_effective_scalar()
    assert not parse("token[]").is_effective_scalar()
    assert parse("f32[2,0]").is_zero_element_array()
    assert not parse("(s32[0])").is_zero_element_array()
    assert parse("f32[1,0,2]").true_num_dimensions() == 2


@pytest.mark.parametrize(
    "name",
    [
        "same_element_type same_rank same_dimensions equal_structure equal compatible is_bitcast",
        "compatible_kind layouts_in_shapes_equal equal_ignoring_element_type reshape_is_bitcast",
        "copy_layout_between_shapes align_layouts decompose_bitcast decompose_bitcast_to_trt",
        "dimensions_unmodified_by_reshape is_reshape_or_transpose_bitcast",
        "deduce_transpose_dimensions_for_bitcast",
    ],
)
def test_what_is_no_spec_is_refused(name: str) -> None:
    spec = ArraySpec.parse("f32[2,3]{1,0:T(2,2)}")
    for each in name.split():
        for other in (3, "f32[2,3]", None, [spec]):
            with pytest.raises(TypeError, match="another ArraySpec is needed, got"):
                getattr(spec, each)(other)
    with pytest.raises(TypeError, match=r"Layout\.equal: another Layout is needed, got int"):
        Layout.row_major(2).equal(3)  # type: ignore[arg-type]
