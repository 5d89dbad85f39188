"""What a block of code allocated: differences of the process-wide counters.

The counters count buffers of this package.  What NumPy allocates for itself, the reference
engine's arrays included, is not seen; neither is borrowed memory, which nobody allocates.
"""

from __future__ import annotations

from typing import Self

from ..memory.pool import counters

_NAMES = ("allocations", "bytes", "temporaries", "snapshots")


class Allocations:
    """Counts since a block began; they stop when it ends.

    Attributes
    ----------
    allocations : int
        Buffers allocated, results included.
    bytes : int
        Bytes asked for by them.
    temporaries : int
        Buffers that evaluations allocated for their own use.
    snapshots : int
        Snapshots moved to a copy because a pending expression still needed the old values.
    """

    __slots__ = ("_before", "_last")

    def __init__(self) -> None:
        self._before = _now()
        self._last: tuple[int, ...] | None = None

    def __enter__(self) -> Self:
        self._before = _now()
        self._last = None
        return self

    def __exit__(self, *raised: object) -> None:
        self._last = _now()

    def _since(self, name: str) -> int:
        place = _NAMES.index(name)
        return (self._last or _now())[place] - self._before[place]

    @property
    def allocations(self) -> int:
        """Buffers allocated, results included."""
        return self._since("allocations")

    @property
    def bytes(self) -> int:
        """Bytes asked for by them."""
        return self._since("bytes")

    @property
    def temporaries(self) -> int:
        """Buffers that evaluations allocated for their own use."""
        return self._since("temporaries")

    @property
    def snapshots(self) -> int:
        """Snapshots moved to a copy because a pending expression still needed the old values."""
        return self._since("snapshots")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self._since(name)}" for name in _NAMES)
        return f"Allocations({shown})"


def _now() -> tuple[int, ...]:
    return tuple([getattr(counters, name) for name in _NAMES])


def count_allocations() -> Allocations:
    """Count the buffers that a ``with`` block allocates.

    Returns
    -------
    Allocations
        A context manager; read its attributes during or after the block.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a, b = xl.ones(1000), xl.ones(1000)
    >>> with xl.testing.count_allocations() as count:
    ...     a += b
    >>> count.allocations, count.temporaries
    (0, 0)
    """
    return Allocations()
