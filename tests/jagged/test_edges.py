"""`XJagged`: empty arrays, what messages name, and the cost of parts."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from xarraylite.jagged.rows import Rows
from xarraylite.shapes.jagged_tree import Ints


def stack() -> Any:
    return xl.XJagged([np.zeros((2, 3)), np.ones((1, 3))])


@pytest.mark.parametrize("pair", [(1, 3), (2, 2)])
def test_parts_do_not_list_all_rows(pair: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    shape = xl.JaggedShape.from_lengths(np.tile(pair, 1000))
    a = xl.XJagged.from_flat(xl.zeros(4000, dtype="int8"), shape)

    def refuse(self: Rows, depth: int) -> Ints:
        raise AssertionError(f"all rows at depth {depth} are listed")

    monkeypatch.setattr(Rows, "starts", refuse)
    assert a[5].shape == a[-1].shape == (pair[1],)
    assert a[5:7].to_list() == [[0] * pair[1], [0] * pair[0]]
    assert (a + 1)[1, 0] == 1
    a[6] = 1
    a[7:9] = 2
    assert a.flat[12:].tolist()[: 2 * sum(pair)] == [1] * pair[0] + [2] * 4 + [0] * pair[1]


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int4"])
def test_empty_lists_of_integers(dtype: str) -> None:
    assert xl.asarray([], dtype=dtype).dtype == xl.XJagged([[], []], dtype=dtype).dtype
    assert xl.asarray([[], []], dtype=dtype).shape == (2, 0)


def test_awkward_edges() -> None:
    ak = pytest.importorskip("awkward")
    empties: list[list[Any]] = [[], [[], []], [[[]], []]]
    for values in empties:
        assert xl.XJagged.from_awkward(ak.Array(values)).to_list() == values
    holes = ak.Array([[1, None], None, [2]])
    full = holes[[0, 2]][:, :1]
    assert xl.XJagged.from_awkward(full).to_list() == [[1], [2]]
    assert xl.XJagged.from_awkward(ak.mask(full, [True, True])).to_list() == [[1], [2]]
    for bad in (holes, holes[[0]]):
        with pytest.raises(xl.ShapeError, match="1 missing values"):
            xl.XJagged.from_awkward(bad)
    with pytest.raises(xl.DTypeError, match=r"to_awkward: .*bfloat16"):
        xl.XJagged([[1]], dtype="bfloat16").to_awkward()


@pytest.mark.parametrize("name", ["min", "max", "argmin", "argmax"])
def test_the_first_empty_slice_is_named(name: str) -> None:
    fold = getattr(xl, name)
    with pytest.raises(xl.ShapeError, match=rf"{name}\(.*slice 1 of .* has no elements .*{name}"):
        fold(xl.XJagged([[1], []]), axis=1)
    with pytest.raises(xl.ShapeError, match=r"slice 1, 0 of"):
        fold(xl.XJagged([[[1, 2], [3]], [[], [4]]]), axis=2)
    nothing = xl.XJagged([[1], [2, 3]])[:0]
    assert fold(nothing, axis=1).tolist() == []
    hollow = xl.XJagged([np.zeros((2, 0)), np.zeros((0, 0)), np.zeros((1, 0))])
    assert xl.eval(fold(hollow, axis=1)).shape == (3, 0)
    with pytest.raises(xl.ShapeError, match="no elements along modes"):
        fold(nothing)


def test_the_first_difference_is_named() -> None:
    with pytest.raises(xl.BroadcastError, match=r"slice \[0\] has 1, not 2, along mode 1"):
        xl.XJagged([[1, 2], [3]]) + xl.XJagged([[1], [3, 4]])
    deep = xl.XJagged([[[1, 2], [3]], [[4], [5, 6, 7]]])
    with pytest.raises(xl.BroadcastError, match=r"slice \[1, 0\] has 3, not 1, along mode 2"):
        deep + xl.XJagged([[[1, 2], [3]], [[4, 4, 4], [5]]])


def test_values_of_other_kinds() -> None:
    with pytest.raises(xl.ShapeError, match="at depth 1 there is a range"):
        xl.XJagged([range(3), range(2)])
    halves = [np.ones(2, ml_dtypes.bfloat16), np.ones(1, np.float16)]
    assert xl.XJagged(halves).dtype == np.float32
    for lengths in (-1, None):
        with pytest.raises(xl.ShapeError, match="from_padded: the lengths"):
            xl.XJagged.from_padded([[1, 2], [3, 0]], lengths)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ((1, 1), r"XJagged int64\[2, None\]: index \(1, 1\): index 1 is out of range"),
        (2, "index 2 is out of range: there are 2 slices"),
        (True, "index True is neither"),
        ((False, 0), "neither"),
    ],
)
def test_refused_indices(key: Any, message: str) -> None:
    with pytest.raises(xl.IndexRangeError, match=message):
        xl.XJagged([[1, 2], [3]])[key]


def test_lists_that_are_a_box_stretch() -> None:
    for value in ([1, 2, 3], [[1, 2, 3]]):
        a, b = stack(), stack()
        a[...] = value
        b[...] = np.array(value)
        assert a.to_list() == b.to_list()
    a[1:] = [[[7], [7]][:1]]
    assert a[1].tolist() == [[7, 7, 7]]
    with pytest.raises(xl.BroadcastError):
        a[...] = [1, 2]


def test_the_index_without_entries_is_everything() -> None:
    a = xl.XJagged([[1, 2], [], [3]])
    assert a[()].to_list() == a[...].to_list()
    assert xl.eval((a + 1)[()]).to_list() == [[2, 3], [], [4]]
    a[()] = 2 * a
    assert a.to_list() == [[2, 4], [], [6]]
