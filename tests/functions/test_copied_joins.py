"""Joins of many arrays: copied at once, with the values, dtypes and meaning of all joins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.functions.copied import MANY
from xarraylite.ir.kind import NODE
from xarraylite.testing import assert_same_bits

RNG = np.random.default_rng(5)
ROWS = [RNG.integers(-9, 9, (2, 3)).astype(dt) for dt in ["f8", "f4", "i2"] * MANY]

OPERANDS: dict[str, Callable[[Any], Any]] = {
    "containers": lambda x: x,
    "views": lambda x: x[::-1, 1:],
    "columns": lambda x: x.T,
    "lazy": lambda x: x * 2 + 1,
    "empty": lambda x: x[:, 3:],
}

JOINS: dict[str, Callable[[Any, Any], Any]] = {
    "concat": lambda xp, parts: xp.concatenate(parts),
    "concat last": lambda xp, parts: xp.concatenate(parts, axis=-1),
    "concat flat": lambda xp, parts: xp.concatenate(parts, axis=None),
    "stack": lambda xp, parts: xp.stack(parts),
    "stack middle": lambda xp, parts: xp.stack(parts, 1),
    "stack last": lambda xp, parts: xp.stack(parts, -1),
    "vstack": lambda xp, parts: xp.vstack(parts),
    "dstack": lambda xp, parts: xp.dstack(parts),
}


@together("operand", OPERANDS.values())
@together("join", JOINS.values())
def test_values(operand: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> None:
    parts = [operand(xl.asarray(row, copy=True)) for row in ROWS]
    made = join(xl, parts)
    assert type(made) is xl.XExpression
    assert_same_bits(made, join(np, [operand(row) for row in ROWS]))


def test_numbers_arrays_and_totals() -> None:
    a = xl.asarray(ROWS[0])
    assert_same_bits(xl.stack([a.sum() for _ in ROWS]), np.stack([ROWS[0].sum() for _ in ROWS]))
    assert_same_bits(xl.stack([*ROWS, a]), np.stack([*ROWS, ROWS[0]]))
    assert_same_bits(xl.stack([1.5] * 40), np.stack([1.5] * 40))
    for narrow in ("bfloat16", "int4"):
        parts = [xl.asarray([1, 2, 3], dtype=narrow)] * 40
        joined = xl.concat(parts)
        assert (str(joined.dtype), xl.eval(joined).tolist()) == (narrow, [1, 2, 3] * 40)


def test_what_it_means() -> None:
    """The values as they were when it was written; `late` joins what there is."""
    parts = [xl.full(3, float(k)) for k in range(MANY + 1)]
    joined, doubled = xl.stack(parts), xl.stack([part * 2 for part in parts])
    late, late_doubled = xl.late(joined), xl.late(doubled)
    parts[0][...] = 50
    assert [xl.eval(x)[0].tolist() for x in (joined, doubled)] == [[0] * 3] * 2
    assert xl.eval(late)[0].tolist() == [50] * 3
    assert xl.eval(late_doubled)[0].tolist() == [100] * 3
    joined[0] = 7
    assert (joined[0].tolist(), parts[0].tolist()) == ([7] * 3, [50] * 3)
    parts[0][...] = xl.concat(parts)[:3] + 1
    assert parts[0].tolist() == [51] * 3


def test_what_is_too_long_together_for_a_form() -> None:
    """Such as the last five steps of a walk: the values have a kind, where nodes were planned."""
    x = np.linspace(0, 1, 3)
    a = xl.asarray(x)
    steps, wanted = [a], [x]
    for k in range(7):
        steps, wanted = [*steps, steps[-1] + a * k], [*wanted, wanted[-1] + x * k]
    joined = xl.stack(steps[-5:])
    late = xl.late(joined)
    assert joined._kind is not NODE
    assert_same_bits(joined, np.stack(wanted[-5:]))
    a[...] = 0
    assert_same_bits(joined, np.stack(wanted[-5:]))
    assert not xl.eval(late).any()


def test_ranks_and_traces() -> None:
    for part in (xl.XTensor[xl.float64, 1]([1, 2]), xl.XTensorFixed[xl.float64, (2,)]([1, 2])):
        few, many = xl.eval(xl.stack([part] * 3)), xl.eval(xl.stack([part] * 40))
        assert type(few) is type(many) is xl.XTensor
        assert (few.rank, many.rank) == (2, 2)
    step = xl.jit(lambda *rows: xl.stack(rows) + 1)
    rows = [xl.full(2, k) for k in range(40)]
    assert_same_bits(step(*rows), np.stack([np.full(2, k) for k in range(40)]) + 1)
    rows[3][...] = 9
    assert step(*rows)[3].tolist() == [10, 10]


def test_messages_are_those_of_all_joins() -> None:
    parts = [xl.ones(3)] * 40
    for call, message in (
        (lambda: xl.concat([*parts, xl.ones((2, 2))]), r"float64\[2, 2\]\): shapes must agree"),
        (lambda: xl.stack([*parts, xl.ones(4)]), r"float64\[4\]\): all shapes must be the same"),
        (lambda: xl.stack(parts, axis=2), "stack: axis 2 is out of range for rank 2"),
        (lambda: xl.concat(parts, axis=1), "concat: axis 1 is out of range for rank 1"),
        (lambda: xl.concat([xl.ones(())] * 40), "concat: arrays of rank 0 cannot be joined"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@together("dtype", ["float64", "float32", "int64", "bool", "complex128", "bfloat16"])
def test_values_are_stacked_as_numpy_stacks_them(dtype: str) -> None:
    v = xl.asarray([3, 0, 1], dtype=dtype)
    plain = np.asarray(v).copy()
    for axis in (0, -1):
        made = xl.stack([v[1], v[0], v[2]], axis)
        v[0] = v[1]  # a value is what it was
        assert made.dtype == v.dtype
        assert np.array_equal(np.asarray(xl.eval(made)), plain[[1, 0, 2]])
        v[0] = plain[0]
    mixed = xl.stack([v[0], xl.asarray([2.5])[0]])
    assert mixed.dtype == xl.result_type(v.dtype, "float64")
    with pytest.raises((ValueError, IndexError)):
        xl.stack([v[0], v[1]], axis=1)
    with pytest.raises(ValueError, match="stack"):
        xl.stack([])
    late = xl.late(v)
    assert np.array_equal(np.asarray(xl.stack([late[0], v[1]])), [plain[0], plain[1]])
