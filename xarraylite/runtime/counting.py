"""What is counted of all threads, in words that machine code counts in too."""

from __future__ import annotations

import ctypes
import itertools

from .._lazy_import import imported

#: Uses from which on a process is taken to make many.
OFTEN = 256
_uses = itertools.count(1)

#: Evaluations so far: what was used before the last one may be used again.
evaluations = ctypes.c_int64(0)

#: Lazy results of this process that were viewed, or used again, before they were computed: about
#: how many, as threads may count at once.  A loop makes many.
reuses = ctypes.c_int64(0)


def count_use() -> None:
    """Count what machine code does faster; where there is much of it, that takes over."""
    if next(_uses) == OFTEN:
        imported(".transforms.natives").install()
