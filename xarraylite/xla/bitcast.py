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
from typing import Generic

from .._errors import LayoutError, SizeError
from .._records import record
from ..layout.sequences import MOST_ELEMENTS, same, sequence
from .edit import make_shape_with_descending_layout_and_same_physical_layout, permute_dimensions
from .positions import geometry, physical_size
from .sizes import element_size_in_bits, elements_in
from .speclike import (
    S,
    SpecLike,
    check_permutation,
    compose,
    inverse,
    layout_of,
    require_array,
    require_bounded,
)


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
class BitcastTrt(Generic[S]):
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
    transpose1_shape: S
    reshape_shape: S
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


def is_bitcast(spec: S, dst: S, permutation: Iterable[int] | None = None) -> bool:
    """Tell whether a reshape, or the transpose by ``permutation``, to ``dst`` moves no byte."""
    spec = require_bounded(spec, "is_bitcast")
    dst = require_bounded(dst, "is_bitcast")
    if permutation is not None:
        spec = permute_dimensions(spec, permutation)
        if spec.dimensions != dst.dimensions:
            raise LayoutError(
                f"is_bitcast: the permutation makes dimensions {spec.dimensions} and not those "
                f"of {dst}"
            )
    if elements_in(spec) != elements_in(dst):
        return False
    if element_size_in_bits(spec) != element_size_in_bits(dst):
        return False
    if spec.element_type.bits != dst.element_type.bits:
        return False
    if physical_size(spec) != physical_size(dst):
        return False
    left, right = geometry(spec, "is_bitcast"), geometry(dst, "is_bitcast")
    if left is right or 0 in spec.dimensions:
        return True
    one, other = sequence(left), sequence(right)
    if one is None or other is None:
        raise SizeError(
            f"is_bitcast: {spec} or {dst} combines dimensions whose digits do not come apart; "
            f"that is decided for up to {MOST_ELEMENTS} elements"
        )
    return same(one, other)


def _same_element_type(spec: SpecLike, dst: SpecLike, ignore: bool) -> bool:
    return ignore or spec.element_type.name == dst.element_type.name


def transpose_is_bitcast(
    spec: SpecLike, dst: SpecLike, permutation: Iterable[int], ignore_element_type: bool
) -> bool:
    """Tell whether the transpose permutes `minor_to_major` accordingly."""
    spec = require_array(spec, "transpose_is_bitcast")
    dst = require_array(dst, "transpose_is_bitcast")
    order = check_permutation(permutation, len(spec.dimensions), "transpose_is_bitcast")
    if len(dst.dimensions) != len(order):
        raise LayoutError(f"transpose_is_bitcast: {spec} and {dst} must have as many dimensions")
    if not _same_element_type(spec, dst, ignore_element_type):
        return False
    return compose(order, layout_of(dst).minor_to_major) == layout_of(spec).minor_to_major


def reshape_is_bitcast(spec: SpecLike, dst: SpecLike, ignore_element_type: bool) -> bool:
    """Tell whether every unit index of either shape stays where it is, without tiles."""
    spec = require_bounded(spec, "reshape_is_bitcast")
    dst = require_bounded(dst, "reshape_is_bitcast")
    if not _same_element_type(spec, dst, ignore_element_type):
        return False
    count = elements_in(spec)
    if count != elements_in(dst):
        return False
    return not count or (_units_stay(spec, dst) and _units_stay(dst, spec))


def _strides(spec: SpecLike) -> list[int]:
    strides = [0] * len(spec.dimensions)
    stride = 1
    for d in layout_of(spec).minor_to_major:
        strides[d] = stride
        stride *= spec.dimensions[d]
    return strides


def _units_stay(spec: SpecLike, dst: SpecLike) -> bool:
    """Tell whether each index of ``spec`` with a single 1 has its position in ``dst``."""
    places = _strides(dst)
    ordinal = math.prod(spec.dimensions)
    for extent, stride in zip(spec.dimensions, _strides(spec), strict=True):
        ordinal //= extent
        if extent == 1:
            continue
        rest, position = ordinal, 0
        for size, place in zip(reversed(dst.dimensions), reversed(places), strict=True):
            rest, i = divmod(rest, size)
            position += i * place
        if position != stride:
            return False
    return True


def deduce_transpose_dimensions_for_bitcast(
    spec: SpecLike, dst: SpecLike
) -> tuple[int, ...] | None:
    """Return the permutation that makes ``dst`` without moving a byte; None if there is none."""
    spec = require_array(spec, "deduce_transpose_dimensions_for_bitcast")
    dst = require_array(dst, "deduce_transpose_dimensions_for_bitcast")
    if len(spec.dimensions) != len(dst.dimensions):
        return None
    permutation = compose(layout_of(spec).minor_to_major, inverse(layout_of(dst).minor_to_major))
    return permutation if compose(spec.dimensions, permutation) == dst.dimensions else None


def is_reshape_or_transpose_bitcast(
    spec: SpecLike, dst: SpecLike, ignore_element_type: bool
) -> bool:
    """Tell whether a reshape or some transpose to ``dst`` is a bitcast by XLA's tests."""
    if not _same_element_type(spec, dst, ignore_element_type):
        return False
    # Transposes first: they need no sizes, so dimensions may be without a bound.
    return deduce_transpose_dimensions_for_bitcast(spec, dst) is not None or reshape_is_bitcast(
        spec, dst, True
    )


def _same_count(spec: SpecLike, dst: SpecLike, operation: str) -> bool:
    left, right = require_bounded(spec, operation), require_bounded(dst, operation)
    return math.prod(left.dimensions) == math.prod(right.dimensions)


def decompose_bitcast_to_trt(spec: S, dst: S) -> BitcastTrt[S] | None:
    """Return the transposes and the reshape that a bitcast consists of; None if it is none."""
    if not _same_count(spec, dst, "decompose_bitcast_to_trt"):
        return None
    return BitcastTrt(
        layout_of(spec).minor_to_major[::-1],
        make_shape_with_descending_layout_and_same_physical_layout(spec),
        make_shape_with_descending_layout_and_same_physical_layout(dst),
        tuple([len(dst.dimensions) - 1 - p for p in inverse(layout_of(dst).minor_to_major)]),
    )


def decompose_bitcast(spec: S, dst: S) -> BitcastReshape | BitcastTranspose | BitcastTrt[S] | None:
    """Return a bitcast as a reshape, a transpose, or both; None if it is none."""
    if not _same_count(spec, dst, "decompose_bitcast"):
        return None
    if reshape_is_bitcast(spec, dst, True):
        return BitcastReshape()
    permutation = deduce_transpose_dimensions_for_bitcast(spec, dst)
    if permutation is not None:
        return BitcastTranspose(permutation)
    return decompose_bitcast_to_trt(spec, dst)
