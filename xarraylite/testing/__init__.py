"""Helpers for the tests of code that uses this package.

`count_allocations` shows what an evaluation allocated, `assert_same_bits` and `assert_ulp`
compare results.  ``xarraylite.testing.strategies`` has hypothesis strategies for containers and
expressions; it is a module of its own, so that nothing else here needs hypothesis.
"""

from __future__ import annotations

from .asserts import assert_same_bits, assert_ulp
from .counters import Allocations, count_allocations

__all__ = ["Allocations", "assert_same_bits", "assert_ulp", "count_allocations"]
