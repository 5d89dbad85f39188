"""How NumPy gets at the values of a lazy result: as an array, or as a description of memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np

from ..ir.build import describe
from ..ir.kind import NODE
from ..ir.node import Stored
from ..ir.walk import postorder
from ..operands import tracing
from . import ownership


class Described:
    """Base of expressions: their shape, and values on demand, in memory of their own."""

    __slots__ = ()

    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the result; to assign others evaluates it, as writing to it does."""
        return self._shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Iterable[SupportsIndex]) -> None:
        ownership.assign_shape(self, shape)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Any:
        """Return the values as a NumPy array; ``copy=False`` is refused for a lazy result."""
        e: Any = self
        if copy is False:
            raise ValueError(f"{describe(e.node)} is lazy: its values cannot be had uncopied")
        values = e.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """New memory with the values as NumPy describes it, kept alive by the description.

        Raises
        ------
        AttributeError
            If there are no values to be had, as while a function is traced or where they are read
            from storage, or NumPy has no name for the dtype.
        """
        e: Any = self
        stored = e._kind is NODE and any([isinstance(node, Stored) for node in postorder(e.node)])
        if stored or tracing.is_active() or e.dtype.isbuiltin != 1:
            raise AttributeError(f"__array_interface__: NumPy cannot describe {e.summary()}")
        values = e.numpy()
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.ascontiguousarray(values)
        memory = values if values.flags.c_contiguous else values.T  # what NumPy takes has no gaps
        found: dict[str, Any] = values.__array_interface__
        return found | {"strides": values.strides, "data": memory}
