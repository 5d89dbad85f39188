"""Operands and strategies hold what they say."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import SUPPORTED
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst
from xarraylite.testing.operands import WRITABLE

pytestmark = pytest.mark.once


@together("dtype", SUPPORTED)
@pytest.mark.parametrize("layout", xst.LAYOUTS)
def test_samples(layout: str, dtype: np.dtype[Any]) -> None:
    for shape in ((4, 5), (), (3, 0, 2), (1,), (2, 3, 4)):
        values = xst.fill(dtype, shape, 7)
        assert (values.shape, values.dtype) == (shape, dtype)
        sample = xst.sample(layout, values, 3)
        assert_same_bits(sample.operand, sample.array)
        assert sample.array.shape == shape
        assert sample.unchanged()
        if layout not in ("broadcast", "zero_stride"):
            assert_same_bits(sample.array, values)


def test_layouts_are_what_their_names_say() -> None:
    values = np.arange(12.0).reshape(3, 4)

    def made(layout: str) -> Any:
        return xst.sample(layout, values, 5).operand

    assert made("row").strides == (4, 1)
    assert made("column").strides == (1, 3)
    assert made("offset").offset > 0
    assert made("read_only").readonly
    assert made("zero_stride").strides == (0, 0)
    assert 0 in made("broadcast").strides
    assert min(made("reversed").strides) < 0
    assert not made("gaps").is_contiguous()
    assert type(made("numpy")) is np.ndarray
    for layout in WRITABLE:
        operand = made(layout)
        operand[...] = 5
        assert set(np.asarray(operand).ravel().tolist()) == {5.0}


def test_a_changed_operand_is_noticed() -> None:
    sample = xst.sample("row", np.arange(3.0))
    sample.operand[1] = 9
    assert not sample.unchanged()


@given(st.data())
@settings(max_examples=60)
def test_shapes_broadcast(data: st.DataObject) -> None:
    found = data.draw(xst.broadcastable_shapes(3))
    assert len(np.broadcast_shapes(*found)) == max(map(len, found))
    assert np.prod(data.draw(xst.shapes(max_size=100))) <= 100


def test_counting() -> None:
    with count_allocations() as count:
        a = xl.zeros(100)
        assert (count.allocations, count.bytes) == (1, 800)
        waiting = a + 1
        a[...] = 1
    a.resize_(7)
    assert (count.allocations, count.bytes, count.temporaries, count.snapshots) == (2, 1600, 0, 1)
    assert repr(count) == "Allocations(allocations=2, bytes=1600, temporaries=0, snapshots=1)"
    del waiting
    with count:  # and once more from 0
        pass
    assert count.allocations == 0


def test_only_the_strategies_need_hypothesis() -> None:
    code = (
        "import sys; sys.modules['hypothesis'] = None\n"
        "import xarraylite as xl\n"
        "xl.zeros(3)\n"
        "with xl.testing.count_allocations() as count:\n"
        "    xl.zeros(3)\n"
        "xl.testing.assert_same_bits(xl.zeros(2), xl.zeros(2))\n"
        "from xarraylite.testing import operands\n"
        "print(count.allocations)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1"
