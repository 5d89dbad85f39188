"""Where a result goes: existing memory, described like a leaf."""

from __future__ import annotations

import numpy as np

from .._records import record
from ..layout.tiled import Map
from .buffer import Buffer


@record(frozen=True, slots=True, eq=False)
class Target:
    """Memory that an evaluation writes.

    Attributes
    ----------
    buffer : Buffer
        The bytes.
    map : Strided or TiledMap
        Where each element of the result goes; no element may be addressed twice.
    dtype : numpy.dtype
        Dtype of the elements.
    fresh : bool
        Whether the memory is new, so that nothing else reads it.
    """

    buffer: Buffer
    map: Map
    dtype: np.dtype[np.generic]
    fresh: bool = False

    @classmethod
    def imagined(cls, place: Map, dtype: np.dtype[np.generic]) -> Target:
        """Return new memory to plan for: it has no bytes."""
        return cls(Buffer.allocate(0), place, dtype, fresh=True)

    def span(self) -> tuple[int, int, int]:
        """Return the first and last byte reached, and the address of element 0."""
        base, itemsize = self.buffer.address, self.dtype.itemsize
        low, high = self.map.byte_range(itemsize)
        return base + low, base + high, base + self.map.byte_start(itemsize)
