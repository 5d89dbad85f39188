"""Trees of specs: the members of nested tuples, addressed by paths.

A path (XLA's ``ShapeIndex``) is a tuple of member numbers from the root; ``()`` is the spec
itself.  Walks go from a tuple to its members, the first member first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Self

from .._errors import IndexRangeError, LayoutError
from ..dtypes.element_types import element_type as as_element_type
from ..layout import spec_fields as specs
from ..layout.layout import Layout

Path = tuple[int, ...]


class Members(specs.SpecFields):
    """Members of tuples, kinds of specs, validity."""

    __slots__ = ()

    def for_each_subshape(self) -> Iterator[tuple[Path, Self]]:
        """Return every spec of the tree with its path, a tuple before its members.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("(f32[2], (s32[]))")
        >>> [path for path, _ in spec.for_each_subshape()]
        [(), (0,), (1,), (1, 0)]
        """
        return _walk(self, ())

    def get_leaf_shapes(self) -> list[tuple[Path, Self]]:
        """Return the members that are no tuples, with their paths."""
        return [(path, sub) for path, sub in self.for_each_subshape() if not sub.is_tuple]

    def index_is_valid(self, path: Sequence[int]) -> bool:
        """Tell whether a path leads to a member.

        Parameters
        ----------
        path : sequence of int
            Member numbers from the root.
        """
        return self._member(path) is not None

    def _member(self, path: Sequence[int]) -> Self | None:
        """Return the member at a path; None where there is none."""
        spec = self
        for number in path:
            inner = specs.members(spec)
            if not 0 <= number < len(inner):
                return None
            spec = inner[number]
        return spec

    def get_subshape(self, path: Sequence[int]) -> Self:
        """Return the member at a path.

        Parameters
        ----------
        path : sequence of int
            Member numbers from the root; ``()`` is the spec itself.

        Raises
        ------
        IndexRangeError
            If no member is there.
        """
        found = self._member(path)
        if found is None:
            raise IndexRangeError(f"get_subshape: path {tuple(path)} leads to no member of {self}")
        return found

    def slice_tuple(self, start: int, limit: int) -> Self:
        """Return the tuple of some neighbouring members.

        Parameters
        ----------
        start, limit : int
            Number of the first, and of the first that is left out.
        """
        require_tuple(self, "slice_tuple")
        count = len(self.tuple_shapes)
        if not 0 <= start <= limit <= count:
            raise IndexRangeError(f"slice_tuple: {start} to {limit} is no part of {count} members")
        return specs.retuple(self, specs.members(self)[start:limit])

    def get_tuple_element_shape(self, number: int) -> Self:
        """Return a member of a tuple.

        Parameters
        ----------
        number : int
            From 0.
        """
        require_tuple(self, "get_tuple_element_shape")
        return self.get_subshape((number,))

    def tuple_element_count(self) -> int:
        """Return the number of members of a tuple."""
        require_tuple(self, "tuple_element_count")
        return len(self.tuple_shapes)

    def has_layout(self) -> bool:
        """Tell whether every array here has a layout."""
        return all([not s.is_array or s.layout is not None for s in specs.leaves(self)])

    def has_any_layout(self) -> bool:
        """Tell whether an array here has a layout; what needs none counts as having one."""
        return any([not s.is_array or s.layout is not None for s in specs.leaves(self)])

    def has_custom_element_size_in_bits(self) -> bool:
        """Tell whether a layout here sets the element size."""
        return any(
            [s.layout is not None and s.layout.element_size_in_bits for s in specs.leaves(self)]
        )

    def has_primitive_type(self, element_type: object) -> bool:
        """Tell whether an element type occurs here or in a member.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            The type to look for.
        """
        name = as_element_type(element_type).name
        return any([sub.element_type.name == name for _, sub in self.for_each_subshape()])

    def validate_layout_in_shape(self, allow_missing_layouts: bool = False) -> None:
        """Refuse layouts that do not fit.

        Parameters
        ----------
        allow_missing_layouts : bool, default False
            Accept arrays without a layout.

        Raises
        ------
        LayoutError
            If a layout does not fit its array, or is missing.
        """
        for path, leaf in self.get_leaf_shapes():
            if leaf.is_buffer:
                leaf = leaf.tuple_shapes[0]
            if leaf.layout is not None:
                leaf.layout.validate(leaf.dimensions)
            elif leaf.is_array and not allow_missing_layouts:
                where = f" at {path}" if path else ""
                raise LayoutError(f"validate_layout_in_shape: {leaf}{where} does not have a layout")

    def validate_layout_for_shape(self, layout: Layout) -> None:
        """Refuse a layout that would not fit.

        Parameters
        ----------
        layout : Layout
            The layout to check.

        Raises
        ------
        LayoutError
            If it does not fit, or this is a tuple.
        """
        if self.is_tuple:
            raise LayoutError(
                f"validate_layout_for_shape: one layout does not fit the tuple {self}"
            )
        if self.is_array or self.is_buffer:
            array = specs.require_array(self, "validate_layout_for_shape")
            layout.validate(array.dimensions)

    def packed_factor_for_1d_interleaved_array(self) -> int:
        """Return how many elements share a word in a layout such as ``T(1024)(128)(2,1)``.

        Raises
        ------
        LayoutError
            If the layout is not of that form.
        """
        spec = specs.require_array(self, "packed_factor_for_1d_interleaved_array")
        tiles = specs.layout_of(spec).tile_dims
        if len(spec.dimensions) == 1 and len(tiles) == 3 and len(tiles[2]) == 2:
            return tiles[2][0]
        raise LayoutError(
            f"packed_factor_for_1d_interleaved_array: {spec} is not interleaved; one dimension and "
            "three tiles, the last of two sizes, would be"
        )

    def is_effectively_most_major_dimension(self, dimension: int) -> bool:
        """Tell whether nothing but extents of 1 is more major than a dimension.

        Parameters
        ----------
        dimension : int
            Dimension number from 0.
        """
        spec = specs.require_array(self, "is_effectively_most_major_dimension")
        for d in reversed(specs.layout_of(spec).minor_to_major):
            if d == dimension:
                return True
            if spec.dimensions[d] != 1:
                return False
        return False

    def validate_shape(self) -> None:
        """Refuse a spec that XLA would not compute with.

        Text is read as generously as XLA reads it: sizes may overflow and split configs may lie
        outside of their dimensions.  This is the check that constructors make.

        Raises
        ------
        LayoutError
            If a layout is missing or does not fit, or a size is negative.
        SizeError
            If there are more bytes than 64 bits count.
        """
        _validate_shape(self, False)

    def validate_shape_with_optional_layout(self) -> None:
        """Refuse a spec that XLA would not compute with, but for missing layouts."""
        _validate_shape(self, True)

    def subshape_count(self) -> int:
        """Return the number of specs in the tree, this one included."""
        return sum([1 for _ in self.for_each_subshape()])

    def is_leaf_index(self, path: Sequence[int]) -> bool:
        """Tell whether the member at a path is no tuple.

        Parameters
        ----------
        path : sequence of int
            Member numbers from the root.
        """
        return not self.get_subshape(path).is_tuple

    def get_leaf_count(self) -> int:
        """Return the number of members that are no tuples; 1 for what is none itself."""
        return len(self.get_leaf_shapes())

    def flatten_tuple_shape(self) -> list[Self]:
        """Return the members that are no tuples.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("(f32[2], (), (s32[], token[]))")
        >>> [str(leaf) for leaf in spec.flatten_tuple_shape()]
        ['f32[2]{0}', 's32[]', 'token[]']
        """
        return [leaf for _, leaf in self.get_leaf_shapes()]

    def is_nested_tuple(self) -> bool:
        """Tell whether this is a tuple with a tuple in it."""
        return self.is_tuple and any([member.is_tuple for member in self.tuple_shapes])

    def is_empty_tuple(self) -> bool:
        """Tell whether this is a tuple without members."""
        return self.is_tuple and not self.tuple_shapes

    def is_scalar(self) -> bool:
        """Tell whether this is an array without dimensions."""
        return self.is_array and not self.dimensions

    def is_effective_scalar(self) -> bool:
        """Tell whether this is an array of one element, whatever its rank."""
        return self.is_array and all([extent == 1 for extent in self.dimensions])

    def is_zero_element_array(self) -> bool:
        """Tell whether this is an array without elements; a tuple never is."""
        return self.is_array and 0 in self.dimensions

    def true_num_dimensions(self) -> int:
        """Return the number of dimensions whose extent is not 1."""
        array = specs.require_array(self, "true_num_dimensions")
        return sum([extent != 1 for extent in array.dimensions])

    def last_dim_is_minor_most(self) -> bool:
        """Tell whether the last dimension varies fastest; that of a scalar does.

        Examples
        --------
        >>> import xarraylite as xl
        >>> [
        ...     xl.ArraySpec.parse(f"f32[2,3]{order}").last_dim_is_minor_most()
        ...     for order in ("{1,0}", "{0,1}")
        ... ]
        [True, False]
        """
        array = specs.require_array(self, "last_dim_is_minor_most")
        return specs.layout_of(array).minor_to_major[:1] in ((), (len(array.dimensions) - 1,))

    def has_degenerate_dimensions(self) -> bool:
        """Tell whether some extent is 1."""
        return 1 in specs.require_array(self, "has_degenerate_dimensions").dimensions

    def get_dimension_number(self, dimension: int) -> int:
        """Return a dimension number from 0; negative ones count from the end.

        Parameters
        ----------
        dimension : int
            From minus the rank to the rank less 1.
        """
        rank = len(specs.require_array(self, "get_dimension_number").dimensions)
        number = dimension + rank if dimension < 0 else dimension
        return specs.check_dimension(number, rank, "get_dimension_number")


def _walk(spec: specs.S, path: Path) -> Iterator[tuple[Path, specs.S]]:
    yield path, spec
    for number, member in enumerate(specs.members(spec)):
        yield from _walk(member, (*path, number))


def require_tuple(spec: specs.SpecFields, operation: str) -> None:
    """Refuse what is no tuple."""
    if not spec.is_tuple:
        raise LayoutError(f"{operation}: {spec} is not a tuple; the operation is for tuples")


def _validate_shape(spec: Members, allow_missing_layouts: bool) -> None:
    for _, leaf in spec.get_leaf_shapes():
        specs.rebuild(leaf)
        for inner in leaf.tuple_shapes:
            specs.rebuild(inner)
    spec.validate_layout_in_shape(allow_missing_layouts)
