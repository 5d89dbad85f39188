"""Small searches and joins of new extents: computed at once, with the meaning of expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.memory.snapshots import Copy
from xarraylite.testing import assert_same_bits

DATA = np.array([[2.0, np.nan, -0.0, 0.0], [5.0, 5.0, -7.0, 1.0], [0.0, -0.0, 3.0, 3.0]])

SEARCHES: dict[str, Callable[[Any, Any], Any]] = {
    "argmax": lambda xp, x: xp.argmax(x),
    "argmin": lambda xp, x: xp.argmin(x),
    "axis": lambda xp, x: xp.argmax(x, 0),
    "keepdims": lambda xp, x: xp.argmin(x, axis=-1, keepdims=True),
    "method": lambda xp, x: x.argmax(axis=1),
    "of what is computed": lambda xp, x: xp.argmax(abs(x) * 2),
}


@pytest.mark.parametrize(
    ("search", "dtype"),
    [
        (search, dtype)
        for k, search in enumerate(SEARCHES)
        for dtype in ("f8", *[("f4", "u8"), ("i2", "?")][k % 2])
    ],
)
def test_searches(search: str, dtype: str) -> None:
    whole = np.nan_to_num(DATA, nan=3).astype(dtype) if dtype[0] not in "f" else DATA.astype(dtype)
    for rows in (1, 2, 3):
        for columns in (1, 3, 4):
            x = whole[:rows, :columns]
            for _ in range(2):
                made = SEARCHES[search](xl, xl.asarray(x))
                assert type(made) is xl.XExpression
                assert_same_bits(made, SEARCHES[search](np, x))


def test_what_searches_mean() -> None:
    """The position as it was when it was written; `late` searches what there is."""
    a = xl.asarray([1.0, 5.0, 2.0])
    found, late = xl.argmax(a), xl.late(xl.argmax(a))
    joined = xl.late(xl.concat([a * 2, a[:1]]))
    a[2] = 9.0
    assert (int(found), int(late)) == (1, 2)
    assert xl.eval(joined).tolist() == [2.0, 10.0, 18.0, 1.0]
    with pytest.raises(xl.ShapeError, match="argmax"):
        xl.argmax(xl.zeros(0))
    with pytest.raises(xl.AxisError, match="argmin"):
        xl.argmin(a, 3)


APPENDED: dict[str, Callable[[Any, Any, int], Any]] = {
    "append": lambda xp, h, k: xp.append(h, float(k)),
    "list": lambda xp, h, k: xp.concatenate([h, [k, k + 0.5]]),
    "array": lambda xp, h, k: xp.concatenate((h, np.ones(2) * k)),
    "own last": lambda xp, h, k: xp.hstack((h, h[-1] + 1)),
    "computed": lambda xp, h, k: xp.concatenate([h * 0.5, h[:1]]),
    "front": lambda xp, h, k: xp.insert(h, 0, k),
    "rows": lambda xp, h, k: xp.vstack((xp.atleast_2d(h), xp.ones(xp.atleast_2d(h).shape[1]))),
    "columns": lambda xp, h, k: xp.column_stack((xp.reshape(h, (2, -1)), [k, k])),
}


@together("grow", APPENDED.values(), ids=APPENDED)
def test_histories(grow: Callable[[Any, Any, int], Any]) -> None:
    for start in (np.array([1.0, 2.0]), np.array([3, 4], dtype="i4")):
        for _ in range(3):
            ours, theirs = xl.asarray(start), start
            for k in range(12):
                ours, theirs = grow(xl, ours, k), grow(np, theirs, k)
                if k % 3 == 0:
                    assert_same_bits(ours, theirs)
            assert_same_bits(ours, theirs)


def test_a_history_of_the_same_shapes_becomes_an_expression() -> None:
    a, b = xl.arange(3.0), xl.arange(4.0)
    for _ in range(12):
        joined = xl.concat([a, b])
    a[0] = 7.0
    assert xl.eval(joined).tolist() == [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0]
    assert xl.eval(xl.concat([a, b])).tolist() == [7.0, 1.0, 2.0, 0.0, 1.0, 2.0, 3.0]


def test_a_history_that_begins_again_is_copied_each_time() -> None:
    for _ in range(14):
        history, want = xl.asarray([1.0]), np.array([1.0])
        for k in range(40):
            history, want = xl.append(history, float(k)), np.append(want, float(k))
        assert_same_bits(history, want)
    assert isinstance(history._operands[0], Copy)


def test_a_long_history_keeps_no_bytes_of_what_it_was() -> None:
    from xarraylite.memory.pool import counters

    history = xl.zeros(1000)
    for k in range(50):
        history = xl.concat([history, xl.full(1, float(k))])
    before = counters.bytes
    for k in range(50):
        history = xl.concat([history, xl.full(1, float(k))])
    assert len(history) == 1100
    late = xl.late(history)
    assert xl.eval(late).tolist() == history.tolist()
    assert counters.bytes - before < 1 << 20


def test_late_joins_of_a_long_history_are_one_walk() -> None:
    a = xl.zeros(1)
    history = xl.concat([a, a])
    for _ in range(700):
        history = xl.concat([history, a])
    late = xl.late(history)
    a[0] = 2.0
    assert float(xl.sum(late)) == 1404.0
    with pytest.raises(xl.ShapeError, match="ragged"):
        xl.concatenate([xl.concatenate([a, a]), [[1], [2, 3]]])


def test_what_is_asked_of_a_late_expression_leaves_it_late() -> None:
    a = xl.zeros((2, 2))
    late = xl.late(a) + 1
    assert late.flags.c_contiguous
    with pytest.raises(AttributeError, match="strides"):
        _ = late.strides
    a[0, 0] = 99.0
    assert float(late[0, 0]) == 100.0


MOVED: dict[str, Callable[[Any, Any], Any]] = {
    "concatenate": lambda xp, x: xp.concatenate([x, x[:2] * 2, x]),
    "stack": lambda xp, x: xp.stack([x, x[::-1]], axis=1),
    "tile": lambda xp, x: xp.tile(x, (2, 3)),
    "roll": lambda xp, x: xp.roll(x, (1, -2), axis=(0, -1)) if x.ndim > 1 else xp.roll(x, 3),
    "diff": lambda xp, x: xp.diff(x, axis=0),
    "repeat": lambda xp, x: xp.repeat(x, 3, axis=-1),
    "repeat, flat": lambda xp, x: xp.repeat(x, 2),
    "pad": lambda xp, x: xp.pad(x, [(1, 2)] * x.ndim, constant_values=(3, 1)),
    "diag": lambda xp, x: xp.diag(x.reshape(-1), -2),
    "tril": lambda xp, x: xp.tril(x, 1),
    "triu": lambda xp, x: xp.triu(x, -1),
    "column_stack": lambda xp, x: xp.column_stack([x, x * 2]),
    "vstack": lambda xp, x: xp.vstack((x, x)),
    "argmax": lambda xp, x: xp.argmax(x, axis=-1),
    "argmin of what is computed": lambda xp, x: xp.argmin(x * 2 - x),
}


@pytest.mark.parametrize("move", MOVED.values(), ids=MOVED)
def test_elements_are_moved_in_ever_new_shapes(move: Callable[[Any, Any], Any]) -> None:
    for dtype, rank in (("f8", 1), ("i2", 2), ("?", 1)):
        if move is MOVED["diff"] and dtype == "?":
            continue  # differences of bool are no numbers
        whole = (np.arange(120) % 7).astype(dtype)
        for k in range(3, 27):
            x = whole[:k] if rank == 1 else whole[: 2 * k].reshape(2, k)
            ours = xl.asarray(x)
            made, late = move(xl, ours), xl.late(move(xl, ours))
            assert type(made) is xl.XExpression
            before = move(np, x)
            ours[0] = 5
            assert_same_bits(made, before)
            assert_same_bits(late, move(xl, ours))


def test_what_lies_apart_is_reshaped_in_ever_new_shapes() -> None:
    whole = np.arange(200.0).reshape(50, 4)
    ours = xl.asarray(whole)
    for k in range(2, 50):
        made, late = xl.ravel(ours[:k, 1:3]), xl.late(xl.reshape(ours[:k, 1:3], (2, k)))
        before = np.ravel(whole[:k, 1:3])
        ours[k - 1, 2] = whole[k - 1, 2] = -k
        before_is_kept = xl.eval(made)
        assert_same_bits(before_is_kept, before)
        assert_same_bits(late, whole[:k, 1:3].reshape(2, k))
        made[0] = 1.0  # of memory of its own
        assert float(ours[0, 1]) == whole[0, 1]


def test_large_results_stay_lazy_in_ever_new_shapes() -> None:
    """A million copies of a few numbers are never made."""
    for k in range(2, 60):
        few = xl.ones(k)
        assert xl.repeat(few, 10**12).shape == (k * 10**12,)
        assert xl.tile(few, 10**12).shape == (k * 10**12,)
        assert xl.pad(few, 10**12).shape == (k + 2 * 10**12,)
        assert xl.diag(few, 10**6).shape == (k + 10**6,) * 2


def test_many_elements_stay_lazy_where_few_are_computed_at_once() -> None:
    """Joins and searches of megabytes, in a loop that has begun with few elements."""
    a = xl.arange(300_000.0)
    for k in (*range(2, 14), 300_000):
        joined, least = xl.concat([a[:k], a[:2]]), xl.argmin(a[:k] + 1)
        at_once = [isinstance(made._operands[0], Copy) for made in (joined, least)]
        assert at_once == [10 <= k < 300_000] * 2
    assert joined.shape == (300_002,)
    assert int(least) == 0


def test_numbers_of_repeats_that_change_are_no_options() -> None:
    for k in range(3, 20):
        counts = xl.asarray(np.arange(k) % 3)
        made, before = xl.repeat(xl.arange(k), counts), np.repeat(np.arange(k), np.arange(k) % 3)
        counts[:] = 1
        assert_same_bits(made, before)


def test_triangles_of_any_number_in_ever_new_shapes() -> None:
    for k in range(2, 60):
        m = xl.ones((k, k + 1))
        assert float(xl.sum(xl.tril(m, 10**30))) == k * (k + 1)
        assert float(xl.sum(xl.triu(m, -(2**63)))) == k * (k + 1)
        assert float(xl.sum(xl.triu(m, 10**30))) == 0


def test_numbers_that_numpy_cannot_pad_with_are_refused_in_every_shape() -> None:
    for k in range(2, 60):
        with pytest.raises(OverflowError, match=r"pad: .*int8"):
            xl.pad(xl.ones(k, dtype="int8"), 1, constant_values=300)
    for number in (-1, 300, 3.7):
        padded = np.pad(np.ones(3, "u1"), 1, constant_values=number)
        assert_same_bits(xl.pad(xl.ones(3, dtype="u1"), 1, constant_values=number), padded)


def test_joins_in_another_dtype_warn_of_nothing_in_any_shape() -> None:
    for n in range(1, 20):
        x = np.array([np.nan, 1e300, *range(n)])
        with np.errstate(all="ignore"):
            expected = np.concat([x, x], dtype=np.float32, casting="unsafe").astype(np.int32)
        with np.errstate(all="raise"):
            a = xl.asarray(x)
            short = xl.eval(xl.concat([a, a], dtype="float32", casting="unsafe"))
            made = xl.eval(xl.concat([short, short[:1]], dtype="int32", casting="unsafe"))
        assert_same_bits(made[:-1], expected)


def test_of_joins_of_scalars_nothing_is_fixed() -> None:
    for n in range(2, 20):
        numbers = xl.broadcast_to(3.0, (n,))
        assert type(xl.eval(xl.concat([numbers] * 9))) is xl.XArray
        assert type(xl.eval(xl.column_stack(xl.XArray(np.ones(n))))) is xl.XArray


def test_what_has_no_elements_when_a_rule_is_looked_for() -> None:
    for n in (*range(1, 8), 0, 0, *range(8, 12)):
        assert xl.vstack([xl.ones(n), xl.zeros(n)]).shape == (2, n)


def test_lists_of_numbers_may_change_afterwards() -> None:
    widths = [1, 2]
    for n in range(1, 12):
        assert xl.pad(xl.arange(n), widths).shape == (n + 3,)
    widths[0] = 5
    assert xl.pad(xl.arange(20), [1, 2]).shape == (23,)
