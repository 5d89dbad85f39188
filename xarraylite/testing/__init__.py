"""Helpers for the tests of code that uses this package.

`count_allocations` shows what an evaluation allocated, `assert_same_bits` and `assert_ulp`
compare results, and so do NumPy's ``assert_allclose`` and its relatives, which are here under
their names.  ``xarraylite.testing.strategies`` has hypothesis strategies for shapes, dtypes
and operands in every layout; it is a module of its own, so that nothing else here needs hypothesis.
"""

from numpy.testing import *  # noqa: F403

from .asserts import assert_almost_equal as assert_almost_equal  # type: ignore[assignment]
from .asserts import assert_equal as assert_equal  # type: ignore[assignment]
from .asserts import assert_same_bits as assert_same_bits
from .asserts import assert_ulp as assert_ulp
from .counters import Allocations as Allocations
from .counters import count_allocations as count_allocations
