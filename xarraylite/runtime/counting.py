"""How many evaluations there were: what was used before the last one, and is used again."""

from __future__ import annotations

import ctypes

#: Evaluations so far, of all threads; machine code counts here too.
evaluations = ctypes.c_int64(0)
