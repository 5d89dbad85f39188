"""Methods on sizes in elements and bytes."""

from __future__ import annotations

from collections.abc import Sequence

from ...layout.layout import SplitConfig
from .. import sizes
from ..speclike import S, SpecLike
from ..suggest import Suggestion, suggest

#: Bytes of a pointer where XLA asks for them.
POINTER_SIZE = 8


class SizeMethods:
    """How much memory a spec takes."""

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

    def elements_in(self: SpecLike) -> int:
        """Return the number of elements of an array."""
        return sizes.elements_in(self)

    def elements_in_recursive(self: SpecLike) -> int:
        """Return the number of elements of an array, or of all arrays of a tuple."""
        return sizes.elements_in_recursive(self)

    def element_size_in_bits(self: SpecLike) -> int:
        """Return the bits of an element in memory: the layout's, or those of whole bytes."""
        return sizes.element_size_in_bits(self)

    def byte_size_of(self: SpecLike, pointer_size: int = POINTER_SIZE) -> int:
        """Return the bytes of the elements; tiles, tail padding and splits are not counted.

        Parameters
        ----------
        pointer_size : int, default 8
            Bytes of a pointer: a tuple is a table of pointers, an opaque value is one.
        """
        return sizes.byte_size_of(self, pointer_size)

    def byte_size_of_elements(self: SpecLike) -> int:
        """Return the bytes of the elements of an array, as `byte_size_of` does."""
        return sizes.byte_size_of_elements(self)

    def byte_size_of_elements_recursive(self: SpecLike) -> int:
        """Return the bytes of the elements of an array, or of all arrays of a tuple."""
        return sizes.byte_size_of_elements_recursive(self)

    def byte_size_of_tuple_index_table(self: SpecLike, pointer_size: int = POINTER_SIZE) -> int:
        """Return the bytes of a tuple's table of pointers.

        Parameters
        ----------
        pointer_size : int, default 8
            Bytes of a pointer.
        """
        return sizes.byte_size_of_tuple_index_table(self, pointer_size)

    def array_size(self: SpecLike) -> int:
        """Return the bytes that XLA allocates: by the first tile, the splits and the tail.

        Later tiles are taken to pad no further, and an array without tiles has no tail; `nbytes`
        is exact.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[9,129]{0,1:T(8,128)}").array_size()
        69632
        """
        return sizes.array_size(self)

    def array_data_size(self: SpecLike) -> int:
        """Return the bytes up to the last element, as the first tile places it."""
        return sizes.array_data_size(self)

    def unpacked_byte_strides(self: SpecLike) -> tuple[int, ...]:
        """Return the strides in bytes of the untiled array with elements of whole bytes.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.ArraySpec.parse("f32[3,5,7]").unpacked_byte_strides()
        (140, 28, 4)
        """
        return sizes.unpacked_byte_strides(self)

    def byte_strides(self: SpecLike) -> tuple[int, ...] | None:
        """Return `unpacked_byte_strides`; None if the layout packs elements below a byte."""
        return sizes.byte_strides(self)

    def byte_strides_is_major_to_minor(self: SpecLike, strides: Sequence[int]) -> bool:
        """Tell whether strides are those of a row-major array of these dimensions.

        Parameters
        ----------
        strides : sequence of int
            One per dimension, in bytes.
        """
        return sizes.byte_strides_is_major_to_minor(self, strides)

    def max_split_size(self: SpecLike, dimension: int) -> int:
        """Return the widest part into which split configs cut a dimension.

        Parameters
        ----------
        dimension : int
            Logical dimension number from 0.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("pred[123,456]{1,0:SC(1:200)}")
        >>> spec.max_split_size(0), spec.max_split_size(1)
        (123, 256)
        """
        return sizes.max_split_size(self, dimension)

    def max_elements_in_per_split(self: SpecLike) -> int:
        """Return the number of elements of the largest part that splits make."""
        return sizes.max_elements_in_per_split(self)

    def get_split_config(self: SpecLike) -> SplitConfig | None:
        """Return the split config; None without one.

        Raises
        ------
        LayoutError
            If there are several.
        """
        return sizes.get_split_config(self)

    def suggest(self: S) -> tuple[Suggestion[S], ...]:
        """Return layouts in which the array takes less memory, the smallest first.

        Returns
        -------
        tuple of Suggestion
            Other orders of the dimensions and other tiles, with the bytes they save and why;
            empty if nothing is to be saved.

        Examples
        --------
        >>> import xarraylite as xl
        >>> best = xl.ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}").suggest()[0]
        >>> print(best.spec, best.saved_bytes)
        bf16[16,1280,40]{1,2,0:T(8,128)(2,1)} 3604480
        """
        return suggest(self)

    def is_padded(self: SpecLike) -> bool:
        """Tell whether ``padded_dimensions``, the older form of padding, pad anything."""
        return sizes.is_padded(self)
