"""Whether another description reads the same bytes, and what stands between two of them.

A *bitcast* changes the description of a buffer and no byte of it.  XLA decides by the order of
dimensions alone: a reshape is one if every unit index stays where it is, a transpose if it
permutes `minor_to_major`; tiles and element sizes are ignored, which its compiler passes know.
Those tests are here under XLA's names.  `is_bitcast` is the exact question, for every layout.

Permutations follow XLA: the transpose by ``p`` of dimensions ``d`` has extents ``d[p[i]]``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Generic, Self

from .._errors import LayoutError, SizeError
from .._records import record
from ..index.radix import compose, contiguous_strides, inverse, unravel_index
from ..layout import spec_fields as specs
from ..layout.positions import geometry
from ..layout.sequences import MOST_ELEMENTS, same_places
from ..layout.sizes import Sizes
from .edit import Edits


@record(frozen=True, slots=True)
class BitcastReshape:
    """A bitcast that is a reshape: the same elements in row-major order."""

    def __str__(self) -> str:
        return "reshape"


@record(frozen=True, slots=True)
class BitcastTranspose:
    """A bitcast that is a transpose.

    Attributes
    ----------
    transpose_dims : tuple of int
        Its permutation.
    """

    transpose_dims: tuple[int, ...]

    def __str__(self) -> str:
        return f"transpose: {_numbers(self.transpose_dims)}"


@record(frozen=True, slots=True)
class BitcastTrt(Generic[specs.S]):
    """A bitcast as a transpose, a reshape and a transpose, each of them a bitcast.

    Attributes
    ----------
    transpose1_dims : tuple of int
        Permutation of the first transpose.
    transpose1_shape : ArraySpec
        What it makes: the physical dimensions of the input in default order.
    reshape_shape : ArraySpec
        What the reshape makes: the physical dimensions of the output in default order.
    transpose2_dims : tuple of int
        Permutation of the second transpose.
    """

    transpose1_dims: tuple[int, ...]
    transpose1_shape: specs.S
    reshape_shape: specs.S
    transpose2_dims: tuple[int, ...]

    def is_transpose1_identity(self) -> bool:
        """Tell whether the first transpose changes nothing."""
        return list(self.transpose1_dims) == sorted(self.transpose1_dims)

    def is_transpose2_identity(self) -> bool:
        """Tell whether the second transpose changes nothing."""
        return list(self.transpose2_dims) == sorted(self.transpose2_dims)

    def __str__(self) -> str:
        made = "" if self.is_transpose1_identity() else f" -> {self.transpose1_shape}"
        return (
            f"trt: T1={_numbers(self.transpose1_dims)}{made}, R={self.reshape_shape}, "
            f"T2={_numbers(self.transpose2_dims)}"
        )


def _numbers(values: Iterable[int]) -> str:
    return f"[{','.join(map(str, values))}]"


class Bitcasts(Edits, Sizes):
    """Whether other descriptions read the same bytes."""

    __slots__ = ()

    def is_bitcast(self, dst: Self, permutation: Iterable[int] | None = None) -> bool:
        """Tell whether reading the buffer as ``dst`` is a reshape, or a transpose.

        Exact for every layout: each element of ``dst`` must lie where it lies here, elements
        must be as wide, and the buffers as large.  The answer is computed from the digits of
        both layouts and takes no time proportional to the size.

        Parameters
        ----------
        dst : ArraySpec
            The other description.
        permutation : iterable of int, optional
            Ask for the transpose whose dimension ``i`` is dimension ``permutation[i]`` here
            instead of for the reshape.

        Raises
        ------
        SizeError
            If tiles combine dimensions so that their digits cannot be told apart (sizes that do
            not divide each other), and the array has more than 2**18 elements.

        Examples
        --------
        >>> import xarraylite as xl
        >>> flat = xl.ArraySpec.parse("f32[2048]{0:T(1024)}")
        >>> flat.is_bitcast(xl.ArraySpec.parse("f32[16,128]{1,0:T(8,128)}"))
        True
        >>> flat.is_bitcast(xl.ArraySpec.parse("f32[8,256]{1,0:T(8,128)}"))
        False
        """
        spec = specs.require_bounded(self, "is_bitcast")
        dst = specs.require_bounded(dst, "is_bitcast")
        if permutation is not None:
            spec = spec.permute_dimensions(permutation)
            if spec.dimensions != dst.dimensions:
                raise LayoutError(
                    f"is_bitcast: the permutation makes dimensions {spec.dimensions} and not those "
                    f"of {dst}"
                )
        (one, other) = [
            (x.elements_in(), x.element_size_in_bits(), x.element_type.bits, x.physical_size())
            for x in (spec, dst)
        ]
        if one != other:
            return False
        left, right = geometry(spec, "is_bitcast"), geometry(dst, "is_bitcast")
        if left is right or 0 in spec.dimensions:
            return True
        found = same_places(left, right)
        if found is None:
            raise SizeError(
                f"is_bitcast: {spec} or {dst} combines dimensions whose digits do not come apart; "
                f"that is decided for up to {MOST_ELEMENTS} elements"
            )
        return found

    def transpose_is_bitcast(
        self,
        dst: Self,
        permutation: Iterable[int],
        ignore_element_type: bool = False,
    ) -> bool:
        """Tell whether a transpose moves nothing, as XLA decides it: tiles are ignored.

        Parameters
        ----------
        dst : ArraySpec
            What the transpose makes.
        permutation : iterable of int
            Dimension ``i`` of ``dst`` is dimension ``permutation[i]`` here.
        ignore_element_type : bool, default False
            Accept other element types.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[10,5]{1,0}")
        >>> spec.transpose_is_bitcast(xl.ArraySpec.parse("f32[5,10]{0,1}"), (1, 0))
        True
        """
        spec = specs.require_array(self, "transpose_is_bitcast")
        dst = specs.require_array(dst, "transpose_is_bitcast")
        order = specs.check_permutation(permutation, len(spec.dimensions), "transpose_is_bitcast")
        if len(dst.dimensions) != len(order):
            raise LayoutError(
                f"transpose_is_bitcast: {spec} and {dst} must have as many dimensions"
            )
        if not _same_element_type(spec, dst, ignore_element_type):
            return False
        moved = compose(order, specs.layout_of(dst).minor_to_major)
        return moved == specs.layout_of(spec).minor_to_major

    def reshape_is_bitcast(self, dst: Self, ignore_element_type: bool = False) -> bool:
        """Tell whether a reshape moves nothing, as XLA decides it: tiles are ignored.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.
        ignore_element_type : bool, default False
            Accept other element types.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,2,2]{1,0,2}")
        >>> spec.reshape_is_bitcast(xl.ArraySpec.parse("f32[6,2]{0,1}"))
        True
        """
        spec = specs.require_bounded(self, "reshape_is_bitcast")
        dst = specs.require_bounded(dst, "reshape_is_bitcast")
        if not _same_element_type(spec, dst, ignore_element_type):
            return False
        count = spec.elements_in()
        if count != dst.elements_in():
            return False
        return not count or (_units_stay(spec, dst) and _units_stay(dst, spec))

    def deduce_transpose_dimensions_for_bitcast(self, dst: Self) -> tuple[int, ...] | None:
        """Return the permutation whose transpose makes ``dst`` and moves nothing, without tiles.

        Parameters
        ----------
        dst : ArraySpec
            What the transpose makes.

        Returns
        -------
        tuple of int or None
            None if the extents in physical order differ.
        """
        spec = specs.require_array(self, "deduce_transpose_dimensions_for_bitcast")
        dst = specs.require_array(dst, "deduce_transpose_dimensions_for_bitcast")
        if len(spec.dimensions) != len(dst.dimensions):
            return None
        permutation = compose(
            specs.layout_of(spec).minor_to_major, inverse(specs.layout_of(dst).minor_to_major)
        )
        return permutation if compose(spec.dimensions, permutation) == dst.dimensions else None

    def is_reshape_or_transpose_bitcast(self, dst: Self, ignore_element_type: bool = False) -> bool:
        """Tell whether a reshape or some transpose to ``dst`` moves nothing, without tiles.

        Parameters
        ----------
        dst : ArraySpec
            The other description.
        ignore_element_type : bool, default False
            Accept other element types.
        """
        if not _same_element_type(self, dst, ignore_element_type):
            return False
        # Transposes first: they need no sizes, so dimensions may be without a bound.
        return self.deduce_transpose_dimensions_for_bitcast(
            dst
        ) is not None or self.reshape_is_bitcast(dst, True)

    def decompose_bitcast_to_trt(self, dst: Self) -> BitcastTrt[Self] | None:
        """Return a bitcast as transpose, reshape and transpose, also where less would do.

        Parameters
        ----------
        dst : ArraySpec
            The other description.
        """
        spec = specs.require_bounded(self, "decompose_bitcast_to_trt")
        dst = specs.require_bounded(dst, "decompose_bitcast_to_trt")
        if spec.elements_in() != dst.elements_in():
            return None
        return BitcastTrt(
            specs.layout_of(spec).minor_to_major[::-1],
            spec.make_shape_with_descending_layout_and_same_physical_layout(),
            dst.make_shape_with_descending_layout_and_same_physical_layout(),
            inverse(specs.layout_of(dst).minor_to_major[::-1]),
        )

    def decompose_bitcast(
        self, dst: Self
    ) -> BitcastReshape | BitcastTranspose | BitcastTrt[Self] | None:
        """Return a bitcast as a reshape, a transpose, or transpose, reshape and transpose.

        Parameters
        ----------
        dst : ArraySpec
            The other description.

        Returns
        -------
        BitcastReshape or BitcastTranspose or BitcastTrt or None
            None if the numbers of elements differ.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[16,17,3]{2,1,0}")
        >>> print(spec.decompose_bitcast(xl.ArraySpec.parse("f32[51,16]{0,1}")))
        trt: T1=[0,1,2], R=f32[16,51]{1,0}, T2=[1,0]
        """
        spec = specs.require_bounded(self, "decompose_bitcast")
        dst = specs.require_bounded(dst, "decompose_bitcast")
        if spec.reshape_is_bitcast(dst, True):
            return BitcastReshape()
        permutation = spec.deduce_transpose_dimensions_for_bitcast(dst)
        if permutation is not None:
            return BitcastTranspose(permutation)
        return spec.decompose_bitcast_to_trt(dst)


def _same_element_type(spec: specs.SpecFields, dst: specs.SpecFields, ignore: bool) -> bool:
    return ignore or spec.element_type.name == specs.require_spec(dst, "bitcast").element_type.name


def _units_stay(spec: specs.SpecFields, dst: specs.SpecFields) -> bool:
    """Tell whether each index of ``spec`` with a single 1 has its position in ``dst``."""
    places = contiguous_strides(dst.dimensions, specs.layout_of(dst).minor_to_major)
    strides = contiguous_strides(spec.dimensions, specs.layout_of(spec).minor_to_major)
    ordinal = math.prod(spec.dimensions)
    for extent, stride in zip(spec.dimensions, strides, strict=True):
        ordinal //= extent
        if extent != 1:
            index = unravel_index(ordinal, dst.dimensions)
            if sum([i * place for i, place in zip(index, places, strict=True)]) != stride:
                return False
    return True
