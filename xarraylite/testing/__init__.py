"""Helpers for the tests of code that uses this package.

`count_allocations` shows what an evaluation allocated, `assert_same_bits` and `assert_ulp`
compare results, and so do NumPy's ``assert_allclose`` and its relatives, which are here under
their names.  ``xarraylite.testing.strategies`` has hypothesis strategies for shapes, dtypes
and operands in every layout; it is a module of its own, so that nothing else here needs hypothesis.
"""

from __future__ import annotations

from numpy.testing import (
    assert_,
    assert_allclose,
    assert_almost_equal,
    assert_approx_equal,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_max_ulp,
    assert_equal,
    assert_no_warnings,
    assert_raises,
    assert_raises_regex,
    assert_string_equal,
    assert_warns,
)

from .asserts import assert_same_bits, assert_ulp
from .counters import Allocations, count_allocations

__all__ = [
    "Allocations",
    "assert_",
    "assert_allclose",
    "assert_almost_equal",
    "assert_approx_equal",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
    "assert_equal",
    "assert_no_warnings",
    "assert_raises",
    "assert_raises_regex",
    "assert_same_bits",
    "assert_string_equal",
    "assert_ulp",
    "assert_warns",
    "count_allocations",
]
