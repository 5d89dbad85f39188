"""Every opcode's values against JAX: single functions of ``jax.lax``, many shapes and dtypes.

Special values, integer edges, empty arrays, windows, gathers and scatters out of bounds, orders
with NaN, random bits.  The engine is NumPy's: what is tested here is what operations mean.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import xarraylite as xl
from tests.hlo import oracle

GROUPS = sorted({name.split("_")[0] for name in oracle.index("operations")})


@pytest.mark.parametrize("group", GROUPS)
def test_operation(group):
    tested = 0
    with xl.config(engine="reference"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in oracle.index("operations"):
            if name.split("_")[0] != group:
                continue
            case = oracle.load("operations", name, "unoptimised")
            got = oracle.leaves(xl.hlo.parse(case.text)(*case.inputs))
            for mine, want, tolerance in zip(got, case.outputs, case.tolerances, strict=True):
                assert oracle.agree(np.asarray(mine), want, tolerance), name
            tested += 1
    assert tested
