"""Owners of memory: what another shape or layout in place means for it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self, SupportsIndex

import numpy as np

from .._errors import LayoutError, ShapeError
from ..dtypes.names import DType
from ..index import transform as steps
from ..index.box import is_vector
from ..index.broadcast import as_shape, check_axes, infer_extent
from ..layout.strided import COLUMN_MAJOR, DYNAMIC, ROW_MAJOR, Strided
from ..layout.tiled import Map
from ..memory.buffer import Buffer
from ..operands.convert import LayoutLike, Policy, layout_of, place_of, raw
from .container import XContainer


class Owner(XContainer):
    """A container that has a layout of its own, and may take another shape."""

    __slots__ = ("_forced", "_policy", "_whose")

    _policy: Policy
    _forced: bool
    _whose: Self

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents; to assign others of the same size reshapes in place, as `reshape_` does."""
        return self._shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Iterable[SupportsIndex]) -> None:
        self.reshape_(shape)

    @classmethod
    def _refuse_overlap(cls, place: Map, dtype: DType) -> None:
        """Refuse a layout under which elements share memory."""
        raise NotImplementedError(f"{cls.__name__} is abstract")

    def _still(self) -> Self:
        """Return the container as it lies now, whatever place other threads give it meanwhile."""
        made: Self = object.__new__(type(self))
        _ = self._map  # which is kept
        # With no call between, where another thread could give it another place.
        found = self._buffer, self._kind, self._shape, self._start, self._place
        made._buffer, made._kind, made._shape, made._start, made._place = found
        made._dtype, made._whose = self._dtype, self
        made._policy = self._policy
        if hasattr(self, "_forced"):
            made._forced = self._forced
        return made

    def _keep(self, asked: LayoutLike) -> None:
        """Note that the layout was asked for, so that it stays; a default may give way."""
        if asked is not None and self._policy is not DYNAMIC:
            self._forced = True

    @property
    def _asked(self) -> LayoutLike:
        """The layout that was asked for and stays; None for a default."""
        return self._policy if hasattr(self, "_forced") else None

    def _check(self, shape: tuple[int, ...], dtype: DType, operation: str) -> None:
        """Refuse shapes and dtypes that this kind of container cannot have."""

    def _first(self) -> int:
        """Return where the elements of foreign memory begin, which must fill one run."""
        self._check_dense(self._map)
        return self._map.bounds()[0]

    def _check_dense(self, place: Map) -> None:
        """Refuse a layout with gaps or padding for another shape of foreign memory.

        Without any, as many elements need as many bytes.
        """
        if not place.is_contiguous():
            how = (
                f"strides {place.strides}"
                if isinstance(place, Strided)
                else f"the layout {place.layout}"
            )
            raise LayoutError(
                f"assign: {self.summary()} is an adaptor and cannot take another shape, as the "
                f"shape {place.shape} with {how} is not contiguous"
            )

    def _reuses(self, place: Map, buffer: Buffer) -> bool:
        """Tell whether another shape takes a buffer as it is.

        Where there is padding the old elements would become padding.
        """
        low, high = place.byte_range(self._dtype.itemsize)
        return low >= 0 and high + 1 == buffer.nbytes and place.is_contiguous()

    def _move(self, buffer: Buffer, place: Map) -> None:
        """Give up the present memory for another."""
        self._buffer.retired = not self._buffer.kept
        self._lie_elsewhere(buffer, place, self._dtype)

    def _policy_layout(self, shape: tuple[int, ...], start: int = 0) -> Map:
        return replace(place_of(self._policy, shape, self._dtype, "assign"), offset=start)

    def _check_owner(self, shape: tuple[int, ...], operation: str) -> None:
        if self._buffer.owner is not None and math.prod(shape) != self.size:
            raise ShapeError(
                f"{operation}: {self.summary()} is an adaptor of foreign memory and cannot "
                f"change its size (new shape {shape})"
            )

    # --- in place ------------------------------------------------------------------------------

    def reshape_(
        self,
        shape: SupportsIndex | Iterable[SupportsIndex],
        *,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
    ) -> Self:
        """Change the shape in place; elements keep their place in memory, nothing is allocated.

        Parameters
        ----------
        shape : int or sequence of int
            New extents of the same size; one may be -1.
        layout, strides : optional
            Order of the new dimensions; only for containers of dynamic layout.

        Returns
        -------
        XArray
            The container itself.

        Raises
        ------
        ShapeError
            If the sizes differ.
        LayoutError
            If the elements are not contiguous, or the static layout forbids the new one.
        """
        target = infer_extent(shape, self.size)
        self._check(target, self._dtype, "reshape_")
        self._strided("reshape_")
        if not self._map.is_contiguous():
            raise LayoutError(
                f"reshape_: {self.summary()} with strides {self.strides} is not contiguous; "
                "use xl.reshape for a view or a copy"
            )
        place = self._relayout(target, layout, strides, "reshape_", self._map.bounds()[0])
        self._lie_elsewhere(self._buffer, place, self._dtype)
        return self

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place as NumPy does: elements are kept in row-major order.

        Parameters
        ----------
        *shape : int, or one sequence of int
            New extents; further elements are 0.
        refcheck : bool
            As in NumPy, whose views must not see their memory go; here they keep what they have.

        Raises
        ------
        ShapeError
            If this kind of container cannot have that shape.
        """
        target = as_shape(shape[0] if len(shape) == 1 else shape, "resize")
        kept = self._as_numpy().reshape(-1)[: math.prod(target)]
        values = np.zeros(target, self._dtype)
        values.reshape(-1)[: kept.size] = kept
        self.assign(values)

    def resize_(
        self,
        shape: SupportsIndex | Iterable[SupportsIndex],
        *,
        layout: LayoutLike = None,
        strides: Sequence[int] | None = None,
    ) -> Self:
        """Change the shape in place; the elements are undefined where the size changes.

        Nothing is allocated while the number of bytes stays the same.

        Parameters
        ----------
        shape : int or sequence of int
            New extents.
        layout, strides : optional
            Order of the new dimensions; only for containers of dynamic layout.

        Returns
        -------
        XArray
            The container itself.

        Raises
        ------
        ShapeError, LayoutError
            If this kind of container cannot have that shape or layout.
        """
        target = as_shape(shape, "resize_")
        self._check(target, self._dtype, "resize_")
        self._check_owner(target, "resize_")
        if self._buffer.owner is not None:  # it stays where the foreign elements are
            return self.reshape_(target, layout=layout, strides=strides)
        place = self._relayout(target, layout, strides, "resize_", 0)
        if place == self._map:
            return self
        buffer = self._buffer
        if self._reuses(place, buffer):
            self._lie_elsewhere(buffer, place, self._dtype)
        else:
            self._move(raw(place, self._dtype), place)
        return self

    def _relayout(
        self,
        shape: tuple[int, ...],
        layout: LayoutLike,
        strides: Sequence[int] | None,
        operation: str,
        start: int,
    ) -> Map:
        if layout is None and strides is None:
            place = self._policy_layout(shape)
        else:
            if self._policy is not DYNAMIC:
                raise LayoutError(
                    f"{operation}: {self.summary()} has the static layout {self._policy}; "
                    "only a container made with layout='dynamic' takes another layout or strides"
                )
            place, _ = layout_of(shape, layout or DYNAMIC, strides, self._dtype, operation)
            self._refuse_overlap(place, self._dtype)
            if operation == "reshape_" and place.bounds()[1] + 1 > max(self.size, 1):
                raise LayoutError(
                    f"reshape_: strides {strides} for shape {shape} reach beyond the "
                    f"{self.size} elements of {self.summary()}"
                )
        return replace(place, offset=place.offset + start)

    def transpose_(self, axes: Sequence[SupportsIndex] | None = None) -> Self:
        """Permute the dimensions in place; no element moves, nothing is allocated.

        The container's layout is dynamic afterwards, unless it still has its static one; a layout
        that the constructor was given stays.

        Parameters
        ----------
        axes : sequence of int, optional
            New order of the dimensions; by default reversed.

        Returns
        -------
        XArray
            The container itself.

        Raises
        ------
        AxisError
            If ``axes`` is no permutation.
        LayoutError
            If the layout was asked for when the container was made, and would change.
        """
        order = tuple(range(self.ndim))[::-1]
        if axes is not None:
            named = check_axes(axes, self.ndim, "transpose_")
            if not is_vector(axes) or len(named) != self.ndim:
                raise ShapeError(f"transpose_: {axes} is no permutation of {self.ndim} axes")
            order = tuple([int(axis) % self.ndim for axis in axes])
        step = steps.permute(self.shape, order)
        self._check(step.shape, self._dtype, "transpose_")
        self._strided("transpose_")
        place = self._map.apply(step)
        if place != self._map and not self._suits(place):
            if self._asked is not None:
                raise LayoutError(
                    f"transpose_: {self.summary()} was made with layout={str(self._policy)!r} and "
                    f"keeps it; the order {order} would change it (use xl.permute_dims for a view)"
                )
            self._policy = DYNAMIC
        self._lie_elsewhere(self._buffer, place, self._dtype)
        return self

    def _suits(self, place: Map) -> bool:
        """Tell whether other strides are those of the static layout."""
        if self._policy is ROW_MAJOR:
            return place.is_row_major()
        return self._policy is DYNAMIC or (self._policy is COLUMN_MAJOR and place.is_column_major())
