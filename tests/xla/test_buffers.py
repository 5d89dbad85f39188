"""An array in a buffer answers what the array answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import together
from xarraylite._errors import LayoutError
from xarraylite.xla.spec import ArraySpec

parse, buffer = ArraySpec.parse, ArraySpec.buffer
SPEC = parse("s4[2,1,3]{0,2,1:T(2,4)E(4)}")


def not_the_second(dimension: int) -> bool:
    return dimension != 1


QUESTIONS: list[tuple[str, tuple[Any, ...]]] = [
    ("linear_index", ((1, 0, 2),)),
    ("multi_index", (3,)),
    ("memory_order", ()),
    ("physical_dimensions", ()),
    ("physical_size", ()),
    ("multidimensional_index_to_linear_index", ((1, 0, 2),)),
    ("linear_index_to_multidimensional_index", (4,)),
    ("linear_index_first_tile", ((1, 0, 2),)),
    ("linear_index_for_nested_tiling", ((1, 0, 2),)),
    ("delinearize_index_for_nested_tiling", (3,)),
    ("bump_indices", ((0, 0, 1),)),
    ("get_dimension_stride", (0,)),
    ("index_in_bounds", ((1, 0, 2),)),
    ("is_untiled_layout", ()),
    ("elements_in", ()),
    ("element_size_in_bits", ()),
    ("byte_size_of", ()),
    ("array_size", ()),
    ("array_data_size", ()),
    ("unpacked_byte_strides", ()),
    ("byte_strides", ()),
    ("byte_strides_is_major_to_minor", ((3, 3, 1),)),
    ("max_split_size", (0,)),
    ("get_split_config", ()),
    ("is_padded", ()),
    ("permute_dimensions", ((2, 0, 1),)),
    ("permute_dimensions_ignoring_layout", ((2, 0, 1),)),
    ("make_shape_with_descending_layout_and_same_physical_layout", ()),
    ("prepend_major_dimension", (5,)),
    ("append_minor_dimension", (5,)),
    ("insert_dimension_at_index", (1, 5)),
    ("delete_dimension", (1,)),
    ("filter_dimensions", (not_the_second,)),
    ("drop_degenerate_dimensions", ()),
    ("memory_space", ()),
    ("device_shape_is_host_shape", ()),
    ("true_num_dimensions", ()),
    ("get_dimension_number", (-1,)),
    ("is_effectively_most_major_dimension", (1,)),
]

PAIRS: list[tuple[str, str, tuple[Any, ...]]] = [
    ("is_bitcast", "s4[6,1]{0,1:E(4)}", ()),
    ("reshape_is_bitcast", "s4[6,1]{0,1:E(4)}", ()),
    ("transpose_is_bitcast", "s4[2,1,3]{0,2,1:T(2,4)E(4)}", ((0, 1, 2),)),
    ("is_reshape_or_transpose_bitcast", "s4[6,1]{0,1:E(4)}", ()),
    ("deduce_transpose_dimensions_for_bitcast", "s4[2,1,3]{0,2,1:E(4)}", ()),
    ("decompose_bitcast", "s4[6,1]{0,1:E(4)}", ()),
    ("decompose_bitcast_to_trt", "s4[6,1]{0,1:E(4)}", ()),
    ("align_layouts", "s4[2,3]", ()),
    ("dimensions_unmodified_by_reshape", "s4[2,3]", ()),
    ("reshape_leaves_dimensions_unmodified", "s4[2,3]", ((0,),)),
    ("inserted_or_deleted_1_sized_dimensions", "s4[2,3,1,1]", ()),
]


@together(("name", "arguments"), QUESTIONS)
def test_questions(name: str, arguments: tuple[Any, ...]) -> None:
    answer: Callable[..., object] = getattr(SPEC, name)
    assert getattr(buffer(SPEC), name)(*arguments) == answer(*arguments)


@together(("name", "text", "arguments"), PAIRS)
def test_pairs(name: str, text: str, arguments: tuple[Any, ...]) -> None:
    other = parse(text)
    answer = getattr(SPEC, name)(other, *arguments)
    assert getattr(buffer(SPEC), name)(other, *arguments) == answer
    assert getattr(SPEC, name)(buffer(other), *arguments) == answer
    assert getattr(buffer(SPEC), name)(buffer(other), *arguments) == answer


def test_layouts_of_the_arrays_in_buffers() -> None:
    src, dst = parse("b(f32[2,3]{0,1})"), parse("b(f32[2,3]{1,0})")
    assert str(src.copy_layout_between_shapes(dst)) == "b(f32[2,3]{0,1})"
    src.validate_shape()
    with pytest.raises(LayoutError, match="must increase and lie inside"):
        parse("b(f32[2]{0:SC(0:9)})").validate_shape()
