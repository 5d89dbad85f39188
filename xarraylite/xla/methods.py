"""What can be asked of an array spec beyond its fields: the methods of `ArraySpec`, by theme.

Names are XLA's in snake case; short names are this package's own and exact for every layout.
The methods are the functions of the modules around, bound here; `self` is the spec.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from ..dtypes.element_types import element_type as as_element_type
from ..layout.fields import SplitConfig
from ..layout.layout import Layout
from ..layout.tile import Tile
from . import (
    bitcast,
    compare,
    edit,
    indexing,
    positions,
    relayout,
    reshapes,
    sizes,
    tuples,
)
from . import suggest as suggestions
from .speclike import S, SpecLike


class SpecMethods:
    """Methods of `ArraySpec` that are computed from its fields."""

    __slots__ = ()

    @property
    def nbytes(self: SpecLike) -> int:
        """Exact bytes of the buffer: all tiles, tail padding, packed elements.

        Of a tuple, the sum over its members.  Differs from `array_size` where XLA's estimate
        leaves something out.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,5]{1,0:T(2,2)(3,3)}")
        >>> spec.nbytes, spec.array_size(), spec.nbytes_logical
        (216, 96, 60)
        """
        return sizes.nbytes(self)

    @property
    def nbytes_logical(self: SpecLike) -> int:
        """Bytes of the elements without any padding; of a tuple, the sum over its members."""
        return sizes.nbytes_logical(self)

    @property
    def padding_bytes(self: SpecLike) -> int:
        """Bytes of the buffer that belong to no element."""
        return sizes.padding_bytes(self)

    @property
    def expansion(self: SpecLike) -> float:
        """How many times the bytes of its elements the buffer takes; 1.0 if both are 0.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}").expansion
        3.2
        """
        return sizes.expansion(self)

    @classmethod
    def make_shape(
        cls: type[S],
        element_type: object,
        dimensions: Iterable[int] = (),
        dynamic_dimensions: Iterable[bool] | None = None,
    ) -> S:
        """Return an array in the default layout.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            Type of the elements.
        dimensions : iterable of int
            Extents.
        dynamic_dimensions : iterable of bool, optional
            Which extents are mere bounds.

        Examples
        --------
        >>> import xarraylite as xl
        >>> print(xl.ArraySpec.make_shape("f32", (2, 3)))
        f32[2,3]{1,0}
        """
        sizes = tuple(dimensions)
        made: S = cast("Any", cls)(
            element_type, sizes, Layout.row_major(len(sizes)), dynamic=dynamic_dimensions
        )
        return made

    @classmethod
    def make_shape_with_dense_layout(
        cls: type[S],
        element_type: object,
        dimensions: Iterable[int],
        minor_to_major: Iterable[int],
        tiles: Iterable[Tile | Iterable[int | str]] = (),
        tail_padding_alignment_in_elements: int = 1,
        element_size_in_bits: int = 0,
        memory_space: int = 0,
        split_configs: Iterable[SplitConfig] = (),
    ) -> S:
        """Return an array in a layout given by its fields.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            Type of the elements.
        dimensions : iterable of int
            Extents.
        minor_to_major : iterable of int
            Dimensions, the fastest varying first.
        tiles : iterable of Tile or of sequences of int
            Levels of tiling.
        tail_padding_alignment_in_elements, element_size_in_bits, memory_space : int
            Fields of the layout; an element size that says no more than the type is dropped.
        split_configs : iterable of SplitConfig
            Where dimensions are cut.

        Examples
        --------
        >>> import xarraylite as xl
        >>> made = xl.ArraySpec.make_shape_with_dense_layout(
        ...     "bf16", (16, 128), (1, 0), [(8, 128), (2, 1)], element_size_in_bits=16
        ... )
        >>> print(made)
        bf16[16,128]{1,0:T(8,128)(2,1)}
        """
        kind = as_element_type(element_type)
        default = element_size_in_bits == kind.storage_bytes * 8
        layout = Layout(
            minor_to_major,
            tiles,
            tail_padding_alignment_in_elements=tail_padding_alignment_in_elements,
            element_size_in_bits=0 if default else element_size_in_bits,
            memory_space=memory_space,
            split_configs=split_configs,
        )
        made: S = cast("Any", cls)(kind, dimensions, layout)
        return made

    @classmethod
    def make_tuple_shape(cls: type[S], shapes: Iterable[S]) -> S:
        """Return the tuple of some specs.

        Parameters
        ----------
        shapes : iterable of ArraySpec
            Its members.
        """
        made: S = cast("Any", cls).tuple(shapes)
        return made

    # Where elements lie.
    linear_index = positions.linear_index
    multi_index = positions.multi_index
    memory_order = positions.memory_order
    physical_dimensions = positions.physical_dimensions
    physical_size = positions.physical_size

    # Positions as XLA's own functions count them, and walks over indices.
    compare_indices = staticmethod(indexing.compare_indices)
    multidimensional_index_to_linear_index = indexing.multidimensional_index_to_linear_index
    linear_index_to_multidimensional_index = indexing.linear_index_to_multidimensional_index
    linear_index_first_tile = indexing.linear_index_first_tile
    linear_index_for_nested_tiling = indexing.linear_index_for_nested_tiling
    delinearize_index_for_nested_tiling = indexing.delinearize_index_for_nested_tiling
    bump_indices = indexing.bump_indices
    get_dimension_stride = indexing.get_dimension_stride
    index_in_bounds = indexing.index_in_bounds
    for_each_index = indexing.for_each_index
    is_untiled_layout = indexing.is_untiled_layout

    # Bytes and elements.
    elements_in = sizes.elements_in
    elements_in_recursive = sizes.elements_in_recursive
    element_size_in_bits = sizes.element_size_in_bits
    byte_size_of = sizes.byte_size_of
    byte_size_of_elements = sizes.byte_size_of_elements
    byte_size_of_elements_recursive = sizes.byte_size_of_elements_recursive
    byte_size_of_tuple_index_table = sizes.byte_size_of_tuple_index_table
    array_size = sizes.array_size
    array_data_size = sizes.array_data_size
    unpacked_byte_strides = sizes.unpacked_byte_strides
    byte_strides = sizes.byte_strides
    byte_strides_is_major_to_minor = sizes.byte_strides_is_major_to_minor
    max_split_size = sizes.max_split_size
    max_elements_in_per_split = sizes.max_elements_in_per_split
    get_split_config = sizes.get_split_config
    is_padded = sizes.is_padded

    # Layouts with less padding.
    suggest = suggestions.suggest

    # Other descriptions of the same bytes.
    is_bitcast = bitcast.is_bitcast
    reshape_is_bitcast = bitcast.reshape_is_bitcast
    transpose_is_bitcast = bitcast.transpose_is_bitcast
    is_reshape_or_transpose_bitcast = bitcast.is_reshape_or_transpose_bitcast
    deduce_transpose_dimensions_for_bitcast = bitcast.deduce_transpose_dimensions_for_bitcast
    decompose_bitcast = bitcast.decompose_bitcast
    decompose_bitcast_to_trt = bitcast.decompose_bitcast_to_trt

    # What a reshape keeps.
    align_layouts = reshapes.align_layouts
    dimensions_unmodified_by_reshape = reshapes.dimensions_unmodified_by_reshape
    reshape_leaves_dimensions_unmodified = reshapes.reshape_leaves_dimensions_unmodified
    inserted_or_deleted_1_sized_dimensions = reshapes.inserted_or_deleted_1_sized_dimensions

    # Other dimensions.
    permute_dimensions = edit.permute_dimensions
    permute_dimensions_ignoring_layout = edit.permute_dimensions_ignoring_layout
    make_shape_with_descending_layout_and_same_physical_layout = (
        edit.make_shape_with_descending_layout_and_same_physical_layout
    )
    prepend_major_dimension = edit.prepend_major_dimension
    append_major_dimension = edit.append_major_dimension
    append_minor_dimension = edit.append_minor_dimension
    insert_dimensions_at_index = edit.insert_dimensions_at_index
    delete_dimensions = edit.delete_dimensions
    filter_dimensions = edit.filter_dimensions
    drop_degenerate_dimensions = edit.drop_degenerate_dimensions
    move_dim_to_major = edit.move_dim_to_major
    make_static_shape = edit.make_static_shape
    insert_dimension_at_index = edit.insert_dimension_at_index
    delete_dimension = edit.delete_dimension
    reorder_logical_dimensions = edit.permute_dimensions

    # Other layouts and element types.
    change_element_type = relayout.change_element_type
    update_element_size_in_bits = relayout.update_element_size_in_bits
    device_shape_to_host_shape = relayout.device_shape_to_host_shape
    device_shape_is_host_shape = relayout.device_shape_is_host_shape
    get_with_default_layout = relayout.get_with_default_layout
    clear_layout = relayout.clear_layout
    clear_tiles = relayout.clear_tiles
    copy_layout_between_shapes = relayout.copy_layout_between_shapes
    set_to_default_layout = relayout.get_with_default_layout
    get_default_layout_for_shape = relayout.get_default_layout_for_shape
    memory_space = relayout.memory_space

    # Equality but for chosen parts.
    equal_structure = compare.equal_structure
    same_element_type = compare.same_element_type
    same_rank = compare.same_rank
    same_dimensions = compare.same_dimensions
    equal = compare.equal
    equal_ignoring_element_type = compare.equal_ignoring_element_type
    equal_ignoring_fp_precision = compare.equal_ignoring_fp_precision
    compatible = compare.compatible
    compatible_ignoring_element_type = compare.compatible_ignoring_element_type
    compatible_ignoring_fp_precision = compare.compatible_ignoring_fp_precision
    compatible_kind = compare.compatible_kind
    layouts_in_shapes_equal = compare.layouts_in_shapes_equal

    # Members of tuples, kinds of specs, validity.
    has_layout = tuples.has_layout
    has_any_layout = tuples.has_any_layout
    has_custom_element_size_in_bits = tuples.has_custom_element_size_in_bits
    validate_layout_in_shape = tuples.validate_layout_in_shape
    validate_layout_for_shape = tuples.validate_layout_for_shape
    packed_factor_for_1d_interleaved_array = tuples.packed_factor_for_1d_interleaved_array
    is_effectively_most_major_dimension = tuples.is_effectively_most_major_dimension
    for_each_subshape = tuples.for_each_subshape
    get_subshape = tuples.get_subshape
    index_is_valid = tuples.index_is_valid
    get_leaf_shapes = tuples.get_leaf_shapes
    tuple_element_count = tuples.tuple_element_count
    get_tuple_element_shape = tuples.get_tuple_element_shape
    slice_tuple = tuples.slice_tuple
    has_primitive_type = tuples.has_primitive_type
    validate_shape = tuples.validate_shape
    validate_shape_with_optional_layout = tuples.validate_shape_with_optional_layout
    subshape_count = tuples.subshape_count
    is_leaf_index = tuples.is_leaf_index
    get_leaf_count = tuples.get_leaf_count
    flatten_tuple_shape = tuples.flatten_tuple_shape
    is_nested_tuple = tuples.is_nested_tuple
    is_empty_tuple = tuples.is_empty_tuple
    is_scalar = tuples.is_scalar
    is_effective_scalar = tuples.is_effective_scalar
    is_zero_element_array = tuples.is_zero_element_array
    true_num_dimensions = tuples.true_num_dimensions
    last_dim_is_minor_most = tuples.last_dim_is_minor_most
    has_degenerate_dimensions = tuples.has_degenerate_dimensions
    get_dimension_number = tuples.get_dimension_number
