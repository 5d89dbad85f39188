"""Lazy results and their views: who still reads what is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import count_allocations


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_the_result_of_which_a_temporary_is_a_view_reads_no_more(engine: Any) -> None:
    m = xl.asarray(np.arange(9.0).reshape(3, 3))
    with xl.config(engine=engine):
        with count_allocations() as counted:
            m[...] = xl.reshape(xl.reshape(m.T, (9,))[::-1], (3, 3))
        assert counted.snapshots == 0
        e = xl.reshape(m.T, (9,))
        kept = np.asarray(e).copy()
        m[...] = xl.reshape(e[::-1], (3, 3))
        np.testing.assert_array_equal(np.asarray(e), kept)
