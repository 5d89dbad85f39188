"""Views: NumPy's values, strides and memory; written through; lazy ones moved to their operands."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst

Array = np.ndarray[Any, np.dtype[Any]]
Pair = tuple[Any, Array]


class Step:
    """Random view functions, each on a container (or expression) and on an array."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def index(self, pair: Pair) -> Pair:
        key: list[Any] = []
        for extent in pair[1].shape:
            step = self.rng.choice((1, 1, 2, 3, -1, -2))
            low, high = self.rng.randint(-extent - 1, extent), self.rng.randint(-1, extent + 2)
            whole = self.rng.random() < 0.6
            key.append(slice(None if whole else low, None if whole else high, step))
            if extent and self.rng.random() < 0.1:
                key[-1] = self.rng.randint(-extent, extent - 1)
        if self.rng.random() < 0.2:
            key.insert(self.rng.randint(0, len(key)), None)
        if self.rng.random() < 0.2:
            key = [..., *key[-1:]]
        return pair[0][tuple(key)], pair[1][tuple(key)]

    def transpose(self, pair: Pair) -> Pair:
        axes = list(range(pair[1].ndim))
        self.rng.shuffle(axes)
        return xl.permute_dims(pair[0], axes), np.transpose(pair[1], axes)

    def flip(self, pair: Pair) -> Pair:
        axis = tuple([k for k in range(pair[1].ndim) if self.rng.random() < 0.5])
        return xl.flip(pair[0], axis=axis), np.flip(pair[1], axis)

    def expand(self, pair: Pair) -> Pair:
        axis = self.rng.randint(-pair[1].ndim - 1, pair[1].ndim)
        return xl.expand_dims(pair[0], axis=axis), np.expand_dims(pair[1], axis)

    def squeeze(self, pair: Pair) -> Pair:
        axes = tuple([k for k, n in enumerate(pair[1].shape) if n == 1])
        return xl.squeeze(pair[0], axes), np.squeeze(pair[1], axes)

    def move(self, pair: Pair) -> Pair:
        if not pair[1].ndim:
            return pair
        old, new = self.rng.randrange(pair[1].ndim), self.rng.randrange(-pair[1].ndim, 0)
        return xl.moveaxis(pair[0], old, new), np.moveaxis(pair[1], old, new)

    def stretch(self, pair: Pair) -> Pair:
        shape = tuple([4 if n == 1 else n for n in pair[1].shape])
        return xl.broadcast_to(pair[0], shape), np.broadcast_to(pair[1], shape)

    def reshape(self, pair: Pair) -> Pair:
        size, shape = pair[1].size, []
        while size > 1:
            factor = self.rng.choice([k for k in range(2, size + 1) if size % k == 0][:4])
            shape.append(factor)
            size //= factor
        shape = shape or list(pair[1].shape)
        return xl.reshape(pair[0], shape), np.reshape(pair[1], shape)

    def any(self, pair: Pair) -> Pair:
        steps = (self.index, self.index, self.transpose, self.flip, self.expand)
        others = (self.squeeze, self.move, self.stretch, self.reshape)
        if pair[1].ndim > 5 or pair[1].size > 500:
            return self.index(pair)
        return self.rng.choice(steps + others)(pair)


BASES = ((12,), (4, 6), (3, 4, 5), (2, 1, 3, 2), (), (0, 3))


@together("seed", range(8))
def test_chains_of_views_of_containers(seed: int) -> None:
    """Same values, same strides, same memory as NumPy's views of the same buffer."""
    rng = random.Random(seed)
    step = Step(rng)
    for _ in range(60):
        shape = rng.choice(BASES)
        container = xl.asarray(np.arange(float(np.prod(shape))).reshape(shape))
        pair: Pair = container, np.asarray(container)
        for _ in range(rng.randint(1, 5)):
            pair = step.any(pair)
            if isinstance(pair[0], xl.XScalar):
                break
            assert isinstance(pair[0], xl.XExpression)
            assert pair[0].shape == pair[1].shape
        ours, theirs = pair
        assert_same_bits(ours, theirs)
        if not isinstance(ours, (xl.XView, xl.XArray)):
            continue  # a reshape that needs a copy is lazy
        if theirs.size and np.may_share_memory(theirs, np.asarray(container)):
            assert np.asarray(ours).ctypes.data == theirs.ctypes.data
            moving = [k for k, n in enumerate(theirs.shape) if n > 1]
            assert [ours.strides[k] for k in moving] == [theirs.strides[k] // 8 for k in moving]


@together("seed", range(6))
def test_writing_through_chains_of_views(seed: int) -> None:
    rng = random.Random(100 + seed)
    step = Step(rng)
    for _ in range(60):
        shape = rng.choice(BASES)
        start = np.arange(float(np.prod(shape))).reshape(shape)
        container, expected = xl.asarray(start), start.copy()
        pair: Pair = container, expected
        for _ in range(rng.randint(1, 4)):
            pair = step.any(pair)
        ours, theirs = pair
        if not isinstance(ours, (xl.XView, xl.XArray)) or not np.may_share_memory(theirs, expected):
            continue
        values = np.arange(float(theirs.size)).reshape(theirs.shape) + 100
        if not theirs.flags.writeable:  # NumPy's broadcast_to
            with pytest.raises(xl.ReadOnlyError):
                ours[...] = values
            assert_same_bits(container, start)
            continue
        if 0 in [s for s, n in zip(theirs.strides, theirs.shape, strict=True) if n > 1]:
            with pytest.raises(xl.OverlapError, match="more than once"):
                ours[...] = values
            assert_same_bits(container, start)
            continue
        theirs[...] = values
        ours[...] = values
        assert_same_bits(container, expected)


@pytest.mark.parametrize("seed", range(3))
def test_chains_of_views_of_expressions(seed: int) -> None:
    """Each step is lazy and moves down to the operands."""
    rng = random.Random(200 + seed)
    step = Step(rng)
    for _ in range(30):
        shape = rng.choice(BASES)
        start = np.arange(float(np.prod(shape))).reshape(shape)
        a, b = xl.asarray(start), xl.asarray(start.T * 2)
        pair: Pair = a - b.T, start - start * 2
        for _ in range(rng.randint(1, 4)):
            pair = step.any(pair)
        assert type(pair[0]) is xl.XExpression
        assert_same_bits(pair[0], np.array(pair[1]))


def test_a_slice_of_an_expression_computes_the_slice_only(engine: str) -> None:
    a = xl.asarray(np.arange(1 << 20, dtype="f8"))
    e = xl.sin(a) * 2 + 1
    with count_allocations() as count:
        part = xl.eval(e[500:510])
    assert part.shape == (10,)
    if engine == "compiled":
        assert (count.bytes, count.temporaries) == (80, 0)


def test_shifted_parts_of_one_expression() -> None:
    values = np.random.default_rng(0).random((40, 50))
    a = xl.asarray(values)
    e, f = xl.sqrt(a) + 1, np.sqrt(values) + 1
    assert_same_bits(e[1:] - e[:-1], f[1:] - f[:-1])
    inner, other = e[1:-1, 1:-1], f[1:-1, 1:-1]
    assert_same_bits(
        e[2:, 1:-1] + e[:-2, 1:-1] + e[1:-1, 2:] + e[1:-1, :-2] - 4 * inner,
        f[2:, 1:-1] + f[:-2, 1:-1] + f[1:-1, 2:] + f[1:-1, :-2] - 4 * other,
    )
    g, h = xl.exp(a), np.asarray(xl.exp(a))
    assert_same_bits(g[1:] - g[:-1] + g[:1], h[1:] - h[:-1] + h[:1])


@st.composite
def picks(draw: st.DrawFn) -> tuple[xst.Sample, Any]:
    """Draw an operand and an index with one integer array."""
    shape = draw(xst.shapes(max_dims=3, max_size=2000).filter(lambda s: s and 0 not in s))
    operand = draw(xst.samples(shape, draw(xst.dtypes())))
    axis = draw(st.integers(0, len(shape) - 1))
    n = shape[axis]
    rows = draw(
        hnp.arrays(
            np.int64, draw(xst.shapes(max_dims=2, max_size=40)), elements=st.integers(-n, n - 1)
        )
    )
    rows = rows if rows.ndim else rows.reshape(1)
    key: list[Any] = []
    for k, extent in enumerate(shape):
        if k == axis:
            key.append(rows)
        elif draw(st.integers(0, 3)) == 0:
            key.append(draw(st.integers(-extent, extent - 1)))
        else:
            key.append(draw(st.slices(extent)))
    if draw(st.integers(0, 3)) == 0:
        key.insert(draw(st.integers(0, len(key))), None)
    return operand, tuple(key)


@given(picks())
@settings(max_examples=60)
def test_integer_arrays_as_index(drawn: tuple[xst.Sample, Any]) -> None:
    operand, key = drawn
    lazy = xl.late(operand.operand) if isinstance(operand.operand, np.ndarray) else operand.operand
    ours, expected = lazy[key], operand.array[key]
    assert (ours.shape, ours.dtype) == (expected.shape, expected.dtype)
    assert_same_bits(ours, expected)


@pytest.mark.parametrize("dtype", ["i1", "u8", "i4", "u2"])
def test_kinds_of_index_arrays(dtype: str) -> None:
    a = xl.arange(5) * 10
    rows = np.array([3, 0, 3], dtype)
    for index in (rows, xl.asarray(rows), rows.tolist(), xl.asarray(rows) + xl.asarray(rows) * 0):
        assert xl.eval(a[index]).tolist() == [30, 0, 30]


def test_gathers_of_gathers() -> None:
    values = np.arange(60).reshape(5, 4, 3)
    a = xl.asarray(values)
    i, j, k = [3, 0, 4, 1], [2, -1, 0], np.array([[1, 0], [2, 2]])
    assert_same_bits(a[i][j], values[i][j])
    assert_same_bits(a[i][:, j], values[i][:, j])
    assert_same_bits(a[:, j][i][..., [2, 0]], values[:, j][i][..., [2, 0]])
    assert_same_bits(a[i][k], values[i][k])
    assert_same_bits(a[k][:, :, j], values[k][:, :, j])
    assert_same_bits(a[k][1][[0, 1, 0]], values[k][1][[0, 1, 0]])
    assert_same_bits(xl.reshape(a[i], (-1,))[[5, 40]], values[i].reshape(-1)[[5, 40]])
    assert_same_bits((a[i] + a[:4])[j], (values[i] + values[:4])[j])
    assert_same_bits(xl.max(a[i], axis=0)[j], values[i].max(axis=0)[j])
    assert_same_bits(a.T[..., i][j][::-1], values.T[..., i][j][::-1])


def test_index_arrays_are_copied_when_written() -> None:
    rows = np.array([0, 1])
    a = xl.asarray([10, 20, 30])
    e = a[rows]
    rows[...] = 2
    assert xl.eval(e).tolist() == [10, 20]


# --- facts of xtensor ----------------------------------------------------------------------------


def test_views_of_views_write_through() -> None:
    a = xl.ones((3, 4, 5))
    v = a[1]
    w = v[1]
    w[...] = w * 5
    assert set(np.asarray(a)[1, 1].tolist()) == {5.0}
    assert (float(a[0, 0, 0]), float(a[1, 2, 4]), float(v[1, 4])) == (1, 1, 5)
    a[:, 1][:, 2] += 1
    assert np.asarray(a)[:, 1, 2].tolist() == [2, 6, 2]


def test_parts_of_a_view_set_to_a_scalar() -> None:
    a = xl.asarray([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
    a[:, 1:4] = 1
    assert a.tolist() == [[1, 1, 1, 1], [5, 1, 1, 1], [9, 1, 1, 1]]


def test_reversed_rows_added_in_place() -> None:
    a = xl.reshape(xl.arange(35), (5, 7), copy=True)
    a[0:-2] += a[:1:-1]
    values = np.asarray(a)
    assert values[0].tolist() == list(range(28, 42, 2))
    assert values[2].tolist() == list(range(28, 42, 2))
    assert values[3:].tolist() == np.arange(21, 35).reshape(2, 7).tolist()
    b = xl.asarray(values)
    b[::-2] += b[::2]
    expected = values.copy()
    expected[::-2] += values[::2]
    assert_same_bits(b, expected)


def test_reshape_of_a_part_reads_the_part() -> None:
    a = xl.asarray([[1, 2, 3, 4, 5, 6, 7, 8], [11, 12, 13, 14, 15, 16, 17, 18]])
    assert xl.eval(xl.reshape(a[:, 0:4], (2, 2, 2))).tolist() == [
        [[1, 2], [3, 4]],
        [[11, 12], [13, 14]],
    ]


def test_strides() -> None:
    a = xl.zeros((5, 3, 4, 6))
    assert a[1, 1, :, :].strides == (6, 1)
    assert a[1, :, :, 1].strides == (24, 6)
    assert a[:, 1].strides == (72, 6, 1)
    assert a[0:5:2, 1, 0, :].strides == (144, 1)
    for key, moving in (
        ((1, slice(None), 1, None, None), (24, 1)),
        ((slice(0, 5, 2), 1, 0, slice(None), None), (144, 1)),
        ((slice(None), 1, None), (72, 6, 1)),
    ):
        view = a[key]
        assert tuple([s for s, n in zip(view.strides, view.shape, strict=True) if n > 1]) == moving


def test_slices() -> None:
    a = xl.asarray([1, 2, 3, 4, 5])
    assert a[3:].tolist() == [4, 5]
    assert a[:2].tolist() == [1, 2]
    assert a[:2:-1].tolist() == [5, 4]
    assert a[2::-1].tolist() == [3, 2, 1]
    assert a[1::2].tolist() == [2, 4]
    m = xl.zeros((5, 7))
    assert m[-3:-5, -3:10].size == 0
    assert m[-5:-2, -3:10].shape == (3, 3)


def test_layouts_there_and_back() -> None:
    row = xl.asarray([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    column = xl.XArray(row, layout="column_major")
    assert np.frombuffer(column.buffer.data, np.int64).tolist() == [1, 4, 7, 2, 5, 8, 3, 6, 9]
    back = xl.XArray(column, layout="row_major")
    assert np.frombuffer(back.buffer.data, np.int64).tolist() == list(range(1, 10))
    assert_same_bits(row, column)
    row[...] = column.T
    assert row.tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]


def test_a_flattened_part_is_a_copy() -> None:
    """It has no strides; xtensor writes through it, here and in NumPy it is a copy."""
    p = xl.zeros((2, 8))
    flat = xl.reshape(p[:, 0:2], (4,))
    flat[...] = xl.asarray([1.0, 2, 3, 4])
    assert (flat.tolist(), float(xl.sum(p))) == ([1, 2, 3, 4], 0)
    p[:, 0:2] = xl.reshape(xl.asarray([1.0, 2, 3, 4]), (2, 2))
    assert np.asarray(p)[:, :3].tolist() == [[1, 2, 0], [3, 4, 0]]
