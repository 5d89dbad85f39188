"""Methods on kinds of specs and on tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dtypes.element_types import element_type as as_element_type
from .. import tuples
from ..speclike import S, SpecLike, check_dimension, layout_of, require_array
from ..tuples import Path


class TreeMethods:
    """Kinds of specs, and the members of tuples by their paths."""

    __slots__ = ()

    def is_scalar(self: SpecLike) -> bool:
        """Tell whether this is an array without dimensions."""
        return self.is_array and not self.dimensions

    def is_effective_scalar(self: SpecLike) -> bool:
        """Tell whether this is an array of one element, whatever its rank."""
        return self.is_array and all([extent == 1 for extent in self.dimensions])

    def is_zero_element_array(self: SpecLike) -> bool:
        """Tell whether this is an array without elements; a tuple never is."""
        return self.is_array and 0 in self.dimensions

    def true_num_dimensions(self: SpecLike) -> int:
        """Return the number of dimensions whose extent is not 1."""
        array = require_array(self, "true_num_dimensions")
        return sum([extent != 1 for extent in array.dimensions])

    def last_dim_is_minor_most(self: SpecLike) -> bool:
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
        array = require_array(self, "last_dim_is_minor_most")
        return layout_of(array).minor_to_major[:1] in ((), (len(array.dimensions) - 1,))

    def has_degenerate_dimensions(self: SpecLike) -> bool:
        """Tell whether some extent is 1."""
        return 1 in require_array(self, "has_degenerate_dimensions").dimensions

    def get_dimension_number(self: SpecLike, dimension: int) -> int:
        """Return a dimension number from 0; negative ones count from the end.

        Parameters
        ----------
        dimension : int
            From minus the rank to the rank less 1.
        """
        rank = len(require_array(self, "get_dimension_number").dimensions)
        number = dimension + rank if dimension < 0 else dimension
        return check_dimension(number, rank, "get_dimension_number")

    def has_primitive_type(self: SpecLike, element_type: object) -> bool:
        """Tell whether an element type occurs here or in a member.

        Parameters
        ----------
        element_type : ElementType, str or dtype
            The type to look for.
        """
        return tuples.has_primitive_type(self, as_element_type(element_type).name)

    def for_each_subshape(self: S) -> Iterator[tuple[Path, S]]:
        """Return every spec of the tree with its path, a tuple before its members.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("(f32[2], (s32[]))")
        >>> [path for path, _ in spec.for_each_subshape()]
        [(), (0,), (1,), (1, 0)]
        """
        return tuples.for_each_subshape(self)

    def subshape_count(self: SpecLike) -> int:
        """Return the number of specs in the tree, this one included."""
        return sum([1 for _ in tuples.for_each_subshape(self)])

    def get_subshape(self: S, path: Sequence[int]) -> S:
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
        return tuples.get_subshape(self, path)

    def index_is_valid(self: SpecLike, path: Sequence[int]) -> bool:
        """Tell whether a path leads to a member.

        Parameters
        ----------
        path : sequence of int
            Member numbers from the root.
        """
        return tuples.index_is_valid(self, path)

    def is_leaf_index(self: SpecLike, path: Sequence[int]) -> bool:
        """Tell whether the member at a path is no tuple.

        Parameters
        ----------
        path : sequence of int
            Member numbers from the root.
        """
        return not tuples.get_subshape(self, path).is_tuple

    def get_leaf_shapes(self: S) -> list[tuple[Path, S]]:
        """Return the members that are no tuples, with their paths."""
        return tuples.get_leaf_shapes(self)

    def get_leaf_count(self: SpecLike) -> int:
        """Return the number of members that are no tuples; 1 for what is none itself."""
        return len(tuples.get_leaf_shapes(self))

    def flatten_tuple_shape(self: S) -> list[S]:
        """Return the members that are no tuples.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("(f32[2], (), (s32[], token[]))")
        >>> [str(leaf) for leaf in spec.flatten_tuple_shape()]
        ['f32[2]{0}', 's32[]', 'token[]']
        """
        return [leaf for _, leaf in tuples.get_leaf_shapes(self)]

    def tuple_element_count(self: SpecLike) -> int:
        """Return the number of members of a tuple."""
        return tuples.tuple_element_count(self)

    def get_tuple_element_shape(self: S, number: int) -> S:
        """Return a member of a tuple.

        Parameters
        ----------
        number : int
            From 0.
        """
        return tuples.get_tuple_element_shape(self, number)

    def slice_tuple(self: S, start: int, limit: int) -> S:
        """Return the tuple of some neighbouring members.

        Parameters
        ----------
        start, limit : int
            Number of the first, and of the first that is left out.
        """
        return tuples.slice_tuple(self, start, limit)

    def is_nested_tuple(self: SpecLike) -> bool:
        """Tell whether this is a tuple with a tuple in it."""
        return self.is_tuple and any([member.is_tuple for member in self.tuple_shapes])

    def is_empty_tuple(self: SpecLike) -> bool:
        """Tell whether this is a tuple without members."""
        return self.is_tuple and not self.tuple_shapes
