"""Pickling and copying containers."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from xarraylite.testing import assert_same_bits
from xarraylite.testing import strategies as xst


@given(st.data())
@settings(max_examples=40)
def test_round_trip(data: st.DataObject) -> None:
    shape = data.draw(xst.shapes(max_size=300))
    layouts = [layout for layout in xst.LAYOUTS if layout != "numpy"]
    operand = data.draw(xst.samples(shape, data.draw(xst.dtypes()), layouts))
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        back = pickle.loads(pickle.dumps(operand.operand, protocol))
        assert_same_bits(back, operand.array)
        assert isinstance(back, xl.XArray)


@pytest.mark.parametrize(
    "a",
    [
        xl.XArray([[1, 2, 3]], layout="column_major"),
        xl.XArray([[1, 2, 3]], layout="dynamic"),
        xl.XTensor([[1.0, 2.0]]),
        xl.XTensor[xl.float32, 1]([1, 2]),
        xl.XTensorFixed[xl.bfloat16, (2, 1)]([[1], [2]]),
    ],
    ids=repr,
)
def test_kind_and_layout(a: Any) -> None:
    for back in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a)):
        assert type(back) is type(a)
        assert (back.strides, back.static_layout) == (a.strides, a.static_layout)
        assert_same_bits(back, a)
        back[...] = 9
    assert 9 not in np.asarray(a).astype(float)
    assert getattr(pickle.loads(pickle.dumps(a)), "rank", None) == getattr(a, "rank", None)


def test_restored_containers_are_whole() -> None:
    t = pickle.loads(pickle.dumps(xl.XTensor[xl.float64, 1]([1, 2])))
    t += 1
    t.assign(t * 2)
    assert t.tolist() == [4, 6]
    with pytest.raises(xl.ShapeError, match="rank 1"):
        t.assign(xl.ones((2, 2)))


def test_only_the_elements_of_a_view() -> None:
    big = xl.zeros(100_000)
    assert len(pickle.dumps(big[10:20])) < 1000
    assert pickle.loads(pickle.dumps(big[10:20])).shape == (10,)


def test_many_elements() -> None:
    a = xl.asarray(np.random.default_rng(0).random((500, 400)))
    text = pickle.dumps(a)
    assert len(text) < a.nbytes + 1000
    assert_same_bits(pickle.loads(text), a)


def test_elements_beside_a_pickle() -> None:
    """A copy of what is pickled goes as a buffer, and what is read owns its memory."""
    a = xl.asarray(np.random.default_rng(0).random((50, 40)))
    tiled = xl.asarray(a, layout="{1,0:T(8,128)}")
    for x in (a, a.T, a[::3, 1:], a + 1, tiled, xl.zeros((0, 3)), xl.late(a)):
        expected, buffers = np.array(x), list[pickle.PickleBuffer]()
        text = pickle.dumps(x, 5, buffer_callback=buffers.append)
        a[0, 1] += 1
        assert len(text) < 1000
        (sent,) = (bytearray(buffer) for buffer in buffers)
        back = pickle.loads(text, buffers=[sent])
        sent[:] = bytes(len(sent))
        assert_same_bits(back, expected)
        back[...] = 0


@pytest.mark.once
def test_in_another_process() -> None:
    code = (
        "import pickle, sys, xarraylite as xl\n"
        "a, t = pickle.load(sys.stdin.buffer)\n"
        "print(type(t).__name__, t.tolist(), (a + 1).tolist())\n"
    )
    things = (xl.asarray([1, 2]), xl.XTensorFixed[xl.int8, (1,)]([7]))
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(things), capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "XTensorFixed[int8, (1,)] [7] [2, 3]"


def test_damaged_state_is_refused() -> None:
    restore, state = xl.asarray([1.0, 2.0]).__reduce_ex__(4)[:2]
    origin, values, dtype, shape, column, policy, _ = state
    for wrong in (
        (origin, values[:-1], dtype, shape, column, policy),
        (origin, values, dtype, (3,), column, policy),
        (origin, values, dtype, (-2,), column, policy),
        (origin, values, dtype, (2**40, 2**40), column, policy),
        (origin, values, np.dtype(object), shape, column, policy),
        (origin, values, dtype, shape, column, "tiled"),
        ((xl.XTensorFixed, (np.dtype("f8"), (3,))), values, dtype, shape, column, policy),
        ((xl.XTensor, (np.dtype("f8"), 2)), values, dtype, shape, column, policy),
    ):
        with pytest.raises((ValueError, TypeError)):
            restore(*wrong)


def test_lazy_results_are_pickled_as_their_values() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    e = a * 2
    written = a * 3
    written[0] = 7
    e, view, written, late = pickle.loads(pickle.dumps((e, e.T, written, xl.late(a + 1))))
    assert [type(x) for x in (e, view, written, late)] == [xl.XArray] * 4
    a[...] = 0
    assert (e.tolist(), view.tolist()) == ([[2, 4], [6, 8]], [[2, 6], [4, 8]])
    assert (written.tolist(), late.tolist()) == ([[7, 7], [9, 12]], [[2, 3], [4, 5]])
