"""What small results know of the memory that they were computed of."""

from __future__ import annotations

import weakref
from typing import Any

from .buffer import KEPT, Buffer


def held(buffer: Buffer) -> Any:
    """Return a buffer as small results know it, which were computed of its bytes.

    Much memory by a weak reference, so that a history of such results keeps none of it: once it is
    gone nobody writes there, and they have its last values.  What others may write is kept.
    """
    return buffer if buffer.nbytes <= KEPT or buffer.shared else weakref.ref(buffer)


def still(known: Any) -> Any:
    """Return what `held` was given; None if that is gone.  Anything else is itself."""
    return known() if known.__class__ is weakref.ref else known
