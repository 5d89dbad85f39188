"""`concat`, `stack`, `array_equal` and `allclose` of jagged arrays, against nested lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import count_allocations

ROWS = st.lists(st.integers(-9, 9), max_size=4)
MATRIX = st.lists(ROWS, max_size=4)
NESTS = {1: ROWS, 2: MATRIX, 3: st.lists(MATRIX, max_size=3)}


def shape_of(nest: Any, rank: int) -> xl.JaggedShape:
    """The shape of nested lists, whose depth empty ones do not say."""
    levels, level = [], [nest]
    for _ in range(rank):
        levels.append([len(item) for item in level])
        level = [part for item in level for part in item]
    return (
        xl.JaggedShape.from_lengths(*levels[1:])
        if rank > 1
        else xl.JaggedShape(xl.Shape(len(nest)))
    )


def jagged(nest: Any, rank: int) -> Any:
    flat = nest
    for _ in range(rank - 1):
        flat = [part for item in flat for part in item]
    return xl.XJagged(np.array(flat, np.int64), shape_of(nest, rank))


@given(
    st.integers(1, 3).flatmap(
        lambda r: st.tuples(st.just(r), st.lists(NESTS[r], min_size=1, max_size=3))
    )
)
def test_joins_are_those_of_lists(case: tuple[int, list[Any]]) -> None:
    rank, nests = case
    arrays = [jagged(nest, rank) for nest in nests]
    with xl.config(engine="reference"):
        one = xl.eval(xl.concat(arrays))
        above = xl.eval(xl.stack(arrays))
        vector = xl.eval(xl.concat(arrays, axis=None))
    assert one.to_list() == [item for nest in nests for item in nest]
    assert one.ndim == rank
    assert above.to_list() == nests
    assert above.ndim == rank + 1
    assert vector.tolist() == [x for array in arrays for x in array.flat.tolist()]


def test_joins_are_lazy_and_fused() -> None:
    a, b = xl.XJagged([[1.0, 2.0], []]), xl.XJagged([[3.0]])
    joined = xl.concat([a, b * 10]) + 1
    a[...] = 0
    assert joined.to_list() == [[2, 3], [], [31]]
    target = xl.XJagged([[0.0, 0.0], [], [0.0]])
    target[...] = xl.concat([a, b])
    with count_allocations() as counted:
        target[...] = xl.concat([a, b])
    assert target.to_list() == [[0, 0], [], [3]]
    assert counted.bytes == 0
    assert xl.sum(xl.concat([a, b]), axis=1).tolist() == [0, 0, 3]
    assert xl.concat(x for x in (a, b)).shape == (3, None)


def test_dense_arrays_are_rows_of_one_length() -> None:
    a = xl.XJagged([[1, 2], []])
    assert xl.concat([a, xl.asarray([[5, 6, 7]])]).to_list() == [[1, 2], [], [5, 6, 7]]
    assert xl.stack([np.array([[8]]), a]).to_list() == [[[8]], [[1, 2], []]]
    points = xl.XJagged([np.ones((1, 2)), np.ones((2, 2))])
    assert xl.concat([points, points]).shape == (4, None, 2)
    mixed = xl.concat([xl.XJagged([[True]]), xl.XJagged([[0.5]], dtype="float32")])
    assert mixed.dtype == np.float32


@together(
    ("make", "message"),
    [
        (lambda a: xl.concat([a, a], axis=1), "axis 0 only, got axis 1"),
        (lambda a: xl.stack([a, a], axis=2), "axis 0 only, got axis 2"),
        (lambda a: xl.concat([a, a], axis=2), "axis"),
        (lambda a: xl.concat([a, xl.ones(3)]), "one rank"),
        (lambda a: xl.stack([a, a[0]]), "one rank"),
        (lambda a: xl.concat([a, 1]), "no rows to join"),
    ],
)
def test_refused(make: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(xl.XJagged([[1, 2], []]))


def test_comparisons() -> None:
    a = xl.XJagged([[1, 2], []])
    assert xl.array_equal(a, a * 1.0)
    assert not xl.array_equal(a, a + 1)
    assert not xl.array_equal(a, xl.XJagged([[1], [2]]))
    assert not xl.array_equal(a, a.flat)
    assert not xl.array_equal(1, a)
    assert not xl.array_equal(xl.XJagged([[float("nan")], []]), xl.XJagged([[float("nan")], []]))
    chance = xl.XJagged([[1, 2], [3, 4]])
    assert xl.array_equal(chance, np.array([[1, 2], [3, 4]]))
    assert not xl.array_equal(chance, np.array([1, 2, 3, 4]))
    assert xl.allclose(a, a + 1e-12)
    assert not xl.allclose(a + 1e-3, a)
    assert xl.allclose(a * 0, 0)
    with pytest.raises(xl.BroadcastError):
        xl.allclose(a, xl.XJagged([[1], [2, 3]]))
