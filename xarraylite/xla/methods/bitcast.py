"""Methods on bitcasts: other descriptions of the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .. import bitcast, reshapes
from ..bitcast import BitcastReshape, BitcastTranspose, BitcastTrt
from ..speclike import S, SpecLike


class BitcastMethods:
    """What leaves every byte where it is."""

    __slots__ = ()

    def is_bitcast(self: S, dst: S, permutation: Iterable[int] | None = None) -> bool:
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
        return bitcast.is_bitcast(self, dst, permutation)

    def reshape_is_bitcast(
        self: SpecLike, dst: SpecLike, ignore_element_type: bool = False
    ) -> bool:
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
        return bitcast.reshape_is_bitcast(self, dst, ignore_element_type)

    def transpose_is_bitcast(
        self: SpecLike,
        dst: SpecLike,
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
        return bitcast.transpose_is_bitcast(self, dst, permutation, ignore_element_type)

    def is_reshape_or_transpose_bitcast(
        self: SpecLike, dst: SpecLike, ignore_element_type: bool = False
    ) -> bool:
        """Tell whether a reshape or some transpose to ``dst`` moves nothing, without tiles.

        Parameters
        ----------
        dst : ArraySpec
            The other description.
        ignore_element_type : bool, default False
            Accept other element types.
        """
        return bitcast.is_reshape_or_transpose_bitcast(self, dst, ignore_element_type)

    def deduce_transpose_dimensions_for_bitcast(
        self: SpecLike, dst: SpecLike
    ) -> tuple[int, ...] | None:
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
        return bitcast.deduce_transpose_dimensions_for_bitcast(self, dst)

    def decompose_bitcast(
        self: S, dst: S
    ) -> BitcastReshape | BitcastTranspose | BitcastTrt[S] | None:
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
        return bitcast.decompose_bitcast(self, dst)

    def decompose_bitcast_to_trt(self: S, dst: S) -> BitcastTrt[S] | None:
        """Return a bitcast as transpose, reshape and transpose, also where less would do.

        Parameters
        ----------
        dst : ArraySpec
            The other description.
        """
        return bitcast.decompose_bitcast_to_trt(self, dst)

    def align_layouts(self: SpecLike, dst: S) -> S | None:
        """Return ``dst`` in an untiled layout that makes the reshape to it a bitcast.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes; its layout is replaced.

        Returns
        -------
        ArraySpec or None
            None if no layout does.

        Examples
        --------
        >>> import xarraylite as xl
        >>> spec = xl.ArraySpec.parse("f32[3,8,5,7,11]{3,2,1,0,4}")
        >>> print(spec.align_layouts(xl.ArraySpec("f32", (4, 3, 2, 7, 5, 11))))
        f32[4,3,2,7,5,11]{4,3,2,1,0,5}
        """
        return reshapes.align_layouts(self, dst)

    def dimensions_unmodified_by_reshape(self: SpecLike, dst: SpecLike) -> list[tuple[int, int]]:
        """Return the pairs of dimensions, here and in ``dst``, that a reshape keeps as they are.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.
        """
        return reshapes.dimensions_unmodified_by_reshape(self, dst)

    def reshape_leaves_dimensions_unmodified(
        self: SpecLike, dst: SpecLike, dimensions: Sequence[int]
    ) -> list[int] | None:
        """Return where a reshape keeps some dimensions; None if it changes one.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.
        dimensions : sequence of int
            Dimension numbers, rising.
        """
        return reshapes.reshape_leaves_dimensions_unmodified(self, dst, dimensions)

    def inserted_or_deleted_1_sized_dimensions(
        self: SpecLike, dst: SpecLike
    ) -> tuple[list[int], list[int]] | None:
        """Return the extents of 1 a reshape deletes here and inserts in ``dst``.

        Parameters
        ----------
        dst : ArraySpec
            What the reshape makes.

        Returns
        -------
        tuple of two lists of int or None
            None if the reshape does more than that.
        """
        return reshapes.inserted_or_deleted_1_sized_dimensions(self, dst)
