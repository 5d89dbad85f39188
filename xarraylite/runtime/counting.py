"""What is counted of all threads, in words that machine code counts in too."""

from __future__ import annotations

import ctypes

#: Evaluations so far: what was used before the last one may be used again.
evaluations = ctypes.c_int64(0)

#: Lazy results of this process that were viewed, or used again, before they were computed: about
#: how many, as threads may count at once.  A loop makes many.
reuses = ctypes.c_int64(0)
