"""Indices that NumPy computes: what may stand in them besides masks and arrays."""

from __future__ import annotations

import array
from collections import deque
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays import basic_indexing
from xarraylite.arrays.advanced_indexing import with_ints
from xarraylite.testing import assert_same_bits

#: Sequences of integers of other classes, alone and beside other items.
KEYS = [
    range(2),
    (range(2), 1),
    (1, range(2)),
    (range(2), [0, 4]),
    (slice(None), range(0, 5, 2)),
    (..., range(3)),
    deque([1, -1]),
    array.array("l", [3, 0]),
    memoryview(np.array([1, 2])),
    [range(2), [1, 1]],
]


@together("key", KEYS)
def test_sequences_of_integers_are_indices(key: Any) -> None:
    values = np.arange(20.0).reshape(4, 5)
    a, new = xl.asarray(values.copy()), values.copy()
    assert_same_bits(a[key], values[key])
    assert_same_bits((a * 2)[key], (values * 2)[key])
    a[key] -= 1
    new[key] -= 1
    assert_same_bits(a, new)


@together("key", [{1: 2}.keys(), {1}, 1.5, [1.5], b"a", range(9), (range(2), range(3))])
def test_what_numpy_refuses_is_refused(key: Any) -> None:
    a = xl.zeros((4, 5))
    with pytest.raises(IndexError):
        a[key]
    with pytest.raises(IndexError):
        a[key] = 1
    assert not a.any()


@together(
    "pick",
    [
        lambda x, i: x[:, i],
        lambda x, i: x[i],
        lambda x, i: x[1:, i],
        lambda x, i: x[i, 1],
        lambda x, i: x[::-1][i][:, [2, 0]],
        lambda x, i: x[1, i.reshape(1, 2)],
        lambda x, i: x[..., i, None],
    ],
)
def test_positions_in_what_was_selected(pick: Any) -> None:
    """Rows, then columns: a copy of a copy, which `late` selects again."""
    values, rows, columns = np.arange(40.0).reshape(10, 4), np.array([3, 0, 3]), np.array([-1, 1])
    for index in (columns, xl.asarray(columns)):
        a = xl.asarray(values)
        made, late = pick(a[rows], index), xl.late(pick(a[rows], index))
        before = pick(values[rows], columns)
        a[...] = -a
        index[...] = 0
        columns = np.array([-1, 1])
        assert_same_bits(made, before)
        assert_same_bits(late, -before)
        made[...] = 1.0
        assert float(xl.max(a)) == 0.0


def test_positions_out_of_bounds_in_what_was_selected() -> None:
    picked = xl.asarray(np.arange(12.0).reshape(3, 4))[[0, 2]]
    for key in ((slice(None), [0, 4]), ([2],), (slice(None), [0.5])):
        with pytest.raises(IndexError, match=r"\[2, 4\]|2, 4|index"):
            picked[key]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int32"])
def test_values_in_an_index_become_ints(dtype: str) -> None:
    one = xl.asarray([1, 2], dtype=dtype)[1]
    found = with_ints((one, slice(one, None, one), np.uint8(3), slice(0, 1)))
    assert found == (2, slice(2, None, 2), 3, slice(0, 1))
    assert {type(x) for x in (found[0], found[1].start, found[1].step, found[2])} == {int}
    plain = (1, slice(0, 2), None, ...)
    assert with_ints(plain) is plain


EMPTY = [slice(2, 2), (slice(4, None), 1), (0, slice(3, 1)), (slice(9, 6), slice(None, None, 2))]


@pytest.mark.parametrize("key", EMPTY)
def test_an_empty_view_is_made_as_others_are(key: Any) -> None:
    x = np.arange(12.0).reshape(4, 3)
    a = xl.asarray(x)
    view = basic_indexing.part(a, key)
    assert view.shape == x[key].shape
    a[key] = 7.0
    a[key] += view
    assert_same_bits(a, x)
    assert_same_bits(xl.concatenate([view.ravel() + 1, a[0]]), x[0])


@pytest.mark.usefixtures("compiled", "installed")
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_positions_along_a_dimension_that_is_not_there(shape: tuple[int, ...]) -> None:
    """The items of a shape end where it does, for machine code too."""
    a = xl.zeros(shape)
    for positions in ([0, 1], np.array([0, 1]), xl.asarray([0, 1])):
        for more in range(4):
            whole = (slice(None),) * (len(shape) + more)
            with pytest.raises(IndexError, match="too many indices"):
                a[(*whole, positions)]


@together(
    "made",
    [list, np.array, xl.asarray, lambda at: np.array(at, "i4"), lambda at: xl.asarray(at) * 1],
)
def test_few_of_many_are_gathered_again_by_positions_of_any_kind(made: Any) -> None:
    values = np.arange(6000.0)
    a, b = xl.asarray(values.copy()), xl.asarray(values.reshape(60, 100).copy())
    for at in ([0, -1, 7], [5999, 1, 1]):
        picked, columns = a[made(at)], b[:, made([k % 90 for k in at])]
        a[at[0]] = -1
        assert_same_bits(picked, values[at])
        assert_same_bits(columns, values.reshape(60, 100)[:, [k % 90 for k in at]])
        a[at[0]] = values[at[0]]
    with pytest.raises(IndexError):
        a[made([0, 1, 6000])]


@pytest.mark.usefixtures("compiled", "installed")
def test_arrays_of_no_dimensions_are_numbers_in_an_index() -> None:
    """Also of lazy results in a loop, whose copies machine code selects of."""
    values = np.arange(12.0).reshape(3, 4)
    for _ in range(24):
        e = xl.asarray(values) * 1
        for _ in range(3):
            np.testing.assert_array_equal(e[[-1, 0], np.array(-1)], values[[-1, 0], -1])
        np.testing.assert_array_equal(
            xl.asarray(values)[[-1, 0], np.array(-1)], values[[-1, 0], -1]
        )
