"""Helpers for the tests of code that uses this package.

`count_allocations` shows what an evaluation allocated, `assert_same_bits` and `assert_ulp`
compare results, and so do NumPy's ``assert_allclose`` and its relatives, which are here under
their names.  ``xarraylite.testing.strategies`` has hypothesis strategies for shapes, dtypes
and operands in every layout; it is a module of its own, so that nothing else here needs hypothesis.
"""

from typing import Any

import numpy as np
from numpy.testing import assert_ as assert_
from numpy.testing import assert_allclose as assert_allclose
from numpy.testing import assert_approx_equal as assert_approx_equal
from numpy.testing import assert_array_almost_equal as assert_array_almost_equal
from numpy.testing import assert_array_almost_equal_nulp as assert_array_almost_equal_nulp
from numpy.testing import assert_array_equal as assert_array_equal
from numpy.testing import assert_array_less as assert_array_less
from numpy.testing import assert_array_max_ulp as assert_array_max_ulp
from numpy.testing import assert_no_warnings as assert_no_warnings
from numpy.testing import assert_raises as assert_raises
from numpy.testing import assert_raises_regex as assert_raises_regex
from numpy.testing import assert_string_equal as assert_string_equal
from numpy.testing import assert_warns as assert_warns

from .asserts import assert_almost_equal as assert_almost_equal
from .asserts import assert_equal as assert_equal
from .asserts import assert_same_bits as assert_same_bits
from .asserts import assert_ulp as assert_ulp
from .counters import Allocations as Allocations
from .counters import count_allocations as count_allocations


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(np.testing, name)  # what is rarer
