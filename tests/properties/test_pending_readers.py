"""An expression means what it meant when it was written, whatever is written afterwards.

The random programs hold on to every expression, so nothing may ever be stale: each one must keep
its value through writes to its operands, in any order, by any path.
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import count_allocations
from xarraylite.transforms import natives

Array = np.ndarray[Any, np.dtype[Any]]


class World:
    """Containers, NumPy arrays and pending expressions, each with what it should hold."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.log: list[str] = []
        self.places: list[tuple[Any, Array]] = []
        for _ in range(3):
            self.add(np.array([float(self.rng.randint(-9, 9)) for _ in range(6)]))
        shared = np.arange(6.0)  # two adaptors of the same memory
        for part in (shared, shared[::-1]):
            self.places.append((xl.adapt(part), part))
        self.pending: list[tuple[Any, Array, str]] = []

    def add(self, values: Array) -> None:
        self.places.append((xl.asarray(values), values.copy()))

    def operand(self) -> tuple[Any, Array]:
        """A container, a view of one, a pending expression, all of 6 elements."""
        if self.pending and self.rng.random() < 0.3:
            return self.rng.choice(self.pending)[:2]
        ours, theirs = self.rng.choice(self.places)
        if self.rng.random() < 0.3:
            return ours[::-1], theirs[::-1]
        return ours, theirs

    def write_expression(self) -> None:
        x, y = self.operand(), self.operand()
        name, function = self.rng.choice(FORMS)
        with np.errstate(all="ignore"):
            expected = np.array(function(np, x[1], y[1]))
        self.pending.append((function(xl, x[0], y[0]), expected, name))
        self.log.append(f"e = {name}")

    def write_memory(self) -> None:
        number = self.rng.randrange(len(self.places))
        ours, theirs = self.places[number]
        value, expected = self.operand()
        how = self.rng.choice(sorted(WRITES))
        self.log.append(f"{how} into {number}")
        if how == "assign fresh":
            value, expected = value * 2 + 1, expected * 2 + 1
        if how == "set the sign":
            ours[...] = -value
            theirs[...] = -expected
            return
        WRITES[how](ours, theirs, value, np.array(expected))

    def resize(self) -> None:
        """Only containers that own their memory, and no view of them is kept."""
        number = self.rng.randrange(3)
        ours, _ = self.places[number]
        self.log.append(f"resize {number}")
        if self.rng.random() < 0.5:
            ours.resize_(9)
            ours.resize_(6)
            ours[...] = 5.0
            self.places[number] = (ours, np.full(6, 5.0))
        else:
            value, expected = self.operand()
            value = value * 1  # pending, however its operand changes
            ours.assign(xl.stack([value, value]))
            ours.assign(value)
            self.places[number] = (ours, np.array(expected))

    def evaluate(self) -> None:
        if self.pending:
            ours, expected, name = self.rng.choice(self.pending)
            self.log.append(f"evaluate {name}")
            self.same(ours, expected, name)

    def forget(self) -> None:
        if len(self.pending) > 2:
            del self.pending[self.rng.randrange(len(self.pending))]
            self.log.append("forget")

    def same(self, ours: Any, expected: Array, name: str) -> None:
        actual = np.array(xl.eval(ours))
        assert actual.tobytes() == expected.tobytes(), (name, actual, expected, self.log)

    def check(self) -> None:
        for number, (ours, theirs) in enumerate(self.places):
            self.same(ours, np.array(theirs), f"place {number}")

    def run(self, steps: int) -> None:
        actions: tuple[Callable[[World], None], ...] = (
            World.write_expression,
            World.write_expression,
            World.write_memory,
            World.write_memory,
            World.write_memory,
            World.resize,
            World.evaluate,
            World.forget,
        )
        for _ in range(steps):
            self.rng.choice(actions)(self)
            self.check()
        for ours, expected, name in self.pending:
            self.same(ours, expected, name)


FORMS: list[tuple[str, Callable[[Any, Any, Any], Any]]] = [
    ("x + y", lambda xp, x, y: x + y),
    ("x * 3", lambda xp, x, y: x * 3),
    ("-x", lambda xp, x, y: -(x * 1)),
    ("abs(x)", lambda xp, x, y: xp.abs(x)),
    ("x - y[::-1]", lambda xp, x, y: x - y[::-1]),
    ("max(x, y)", lambda xp, x, y: xp.maximum(x, y)),
    ("x[[...]]", lambda xp, x, y: (x + 0)[[5, 0, 3, 3, 1, 2]]),
    ("concat", lambda xp, x, y: xp.concatenate([x[:2] * 1, y[2:] * 1])),
    ("reshape", lambda xp, x, y: xp.reshape(xp.reshape(x * 1, (2, 3)).T, (6,))),
    ("x - max(y)", lambda xp, x, y: x - xp.max(y)),
]


def _iadd(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours += value
    theirs += expected


def _set(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours[...] = value
    theirs[...] = expected


def _part(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours[1::2] = value[:3]
    theirs[1::2] = expected[:3]


def _shift(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours[1:] = ours[:-1] * 0.5
    theirs[1:] = theirs[:-1].copy() * 0.5


def _scatter(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours[[4, 0]] = value[:2]
    theirs[[4, 0]] = expected[:2]


def _assign(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    ours.assign(value)
    theirs[...] = expected


def _noalias(ours: Any, theirs: Array, value: Any, expected: Array) -> None:
    xl.noalias(ours)[...] = 2.5
    theirs[...] = 2.5


WRITES: dict[str, Callable[[Any, Array, Any, Array], None]] = {
    "iadd": _iadd,
    "set": _set,
    "part": _part,
    "shift": _shift,
    "scatter": _scatter,
    "assign": _assign,
    "assign fresh": _assign,
    "set the sign": _set,
    "noalias": _noalias,
    "fill": lambda ours, theirs, value, expected: (ours.fill(7.0), theirs.fill(7.0))[0],
}


@together("seed", range(60))
def test_random_programs(seed: int) -> None:
    World(seed).run(25)


def pending_of(a: Any) -> list[tuple[str, Any, list[float]]]:
    """Expressions over ``a = [1, 2, 3]``, with their values now."""
    return [
        ("a + 1", a + 1, [2, 3, 4]),
        ("a[::-1]", a[::-1] + 0, [3, 2, 1]),
        ("a[1:]", a[1:] * 2, [4, 6]),
        ("gather", a[[2, 0]], [3, 1]),
        ("sum", xl.sum(a, keepdims=True), [6]),
        ("concat", xl.concat([a, a]), [1, 2, 3, 1, 2, 3]),
        ("reshape", xl.reshape(a, (3, 1)).T + 0, [[1, 2, 3]]),
        ("deep", ((a + 1) * 2 - a) / 2, [1.5, 2, 2.5]),
    ]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "a[...] = 0": lambda a: a.__setitem__(..., 0),
    "a[0] = 9": lambda a: a.__setitem__(0, 9),
    "a += 1": lambda a: operator.iadd(a, 1),
    "view": lambda a: a[1:].fill(8),
    "old view": lambda a: a[::2].__setitem__(..., a[1]),
    "assign": lambda a: a.assign(xl.zeros(3)),
    "assign itself": lambda a: a.assign(a * 2),
    "assign larger": lambda a: a.assign(xl.zeros((5, 7))),
    "assign other shape": lambda a: a.assign(xl.zeros((3, 1)) + 4),
    "resize_": lambda a: a.resize_(100).fill(3),
    "resize_ same": lambda a: a.resize_((1, 3)).fill(3),
    "reshape_": lambda a: a.reshape_((3, 1)).fill(3),
    "transpose_": lambda a: a.transpose_().fill(3),
    "scatter": lambda a: a.__setitem__([0, 2], 6),
    "noalias": lambda a: xl.noalias(a).assign(xl.ones(3)),
    "fill": lambda a: a.fill(2),
}


@together("change", CHANGES)
def test_every_write_leaves_every_expression_alone(change: str) -> None:
    a = xl.asarray([1.0, 2.0, 3.0])
    waiting = pending_of(a)
    CHANGES[change](a)
    for name, expression, expected in waiting:
        assert np.asarray(expression).tolist() == expected, (change, name)
    CHANGES[change](a)  # the second write finds readers of the snapshot only
    for name, expression, expected in waiting:
        assert np.asarray(expression).tolist() == expected, (change, name)


def test_one_snapshot_serves_all_readers() -> None:
    a = xl.asarray([1.0, 2.0, 3.0])
    waiting = pending_of(a)
    with count_allocations() as count:
        a[...] = 0
        a[...] = 1
    assert count.snapshots == 1
    del waiting


def test_no_snapshot_once_nobody_reads() -> None:
    a = xl.asarray([1.0, 2.0, 3.0])
    waiting = pending_of(a)
    waiting.clear()
    with count_allocations() as count:
        a[...] = 0
    assert count.snapshots == 0


def test_a_held_right_hand_side_keeps_its_value() -> None:
    a = xl.asarray([1.0, 2.0])
    e = a * 10
    a[...] = e
    assert a.tolist() == [10, 20]
    assert xl.eval(e).tolist() == [10, 20]
    a += e
    assert (a.tolist(), xl.eval(e).tolist()) == ([20, 40], [10, 20])
    a.assign(e)
    a.assign(e)
    assert (a.tolist(), xl.eval(e).tolist()) == ([10, 20], [10, 20])


def test_a_held_part_of_the_right_hand_side_keeps_its_value() -> None:
    a = xl.asarray([1.0, 2.0])
    part = a + 1
    a[...] = part * part
    assert (a.tolist(), xl.eval(part).tolist()) == ([4, 9], [2, 3])
    view = part[::-1]
    a[...] = part[::-1] - 1
    assert (a.tolist(), xl.eval(view).tolist()) == ([2, 1], [3, 2])


ALONE: dict[str, Callable[[Any], Any]] = {
    "negative": lambda e: -e,
    "abs": xl.abs,
    "sqrt": xl.sqrt,
    "real": xl.real,
    "converted": lambda e: e.astype("float32"),
    "reshaped": lambda e: e.reshape(3, 1, 3)[:, 0],
    "turned": lambda e: e.T,
    "few": lambda e: e[[2, 1, 0]],
}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", ALONE)
def test_what_a_function_of_one_operand_is_written_of_keeps_its_value(
    name: str, native: bool
) -> None:
    """It has the operands of what is assigned; at the first time and when a kernel is known."""
    (natives.install if native else natives.remove)()
    try:
        for _ in range(4):
            for write in FUNCTION_OF_ONE:
                a = xl.full((3, 3), 1.5)
                e = a * 6
                write(a, ALONE[name], e)
                assert xl.eval(e).tolist() == [[9.0] * 3] * 3
                written = float(ALONE[name](xl.full((3, 3), 9.0))[0, 0])
                assert float(a[0, 0]) in (written, written + 1.5)
    finally:
        natives.remove()


def _set_function(a: Any, function: Callable[[Any], Any], e: Any) -> None:
    a[...] = function(e)


def _set_part_of_function(a: Any, function: Callable[[Any], Any], e: Any) -> None:
    a[:2] = function(e)[:2]


def _assign_function(a: Any, function: Callable[[Any], Any], e: Any) -> None:
    a.assign(function(e))


def _add_function(a: Any, function: Callable[[Any], Any], e: Any) -> None:
    a += function(e)


FUNCTION_OF_ONE = (_set_function, _set_part_of_function, _assign_function, _add_function)


def test_two_expressions_written_in_turn() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([10.0, 20.0])
    total, difference = a + b, a - b
    a[...] = total
    b[...] = difference
    assert (a.tolist(), b.tolist()) == ([11, 22], [-9, -18])
    assert xl.eval(total).tolist() == [11, 22]
    assert xl.eval(difference).tolist() == [-9, -18]


def test_swap() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([3.0, 4.0])
    old_a, old_b = a + 0, b + 0
    a[...], b[...] = old_b, old_a
    assert (a.tolist(), b.tolist()) == ([3, 4], [1, 2])


def test_expressions_of_expressions() -> None:
    a = xl.asarray([1.0, 2.0])
    e = a + 1
    a[...] = 5
    f = e + a
    a[...] = 6
    g = e + f + a
    a[...] = 7
    assert xl.eval(e).tolist() == [2, 3]
    assert xl.eval(f).tolist() == [7, 8]
    assert xl.eval(g).tolist() == [15, 17]


def test_arrays_of_numpy_that_we_write_through_an_adaptor() -> None:
    memory = np.array([1.0, 2.0, 3.0, 4.0])
    whole, part = xl.adapt(memory), xl.adapt(memory[1:3])
    of_numpy, of_part = xl.add(memory, 1), part * 2
    whole[...] = 0
    assert memory.tolist() == [0, 0, 0, 0]
    assert xl.eval(of_numpy).tolist() == [2, 3, 4, 5]
    assert xl.eval(of_part).tolist() == [4, 6]
    again = whole + 1
    part[...] = 9
    assert (memory.tolist(), xl.eval(again).tolist()) == ([0, 9, 9, 0], [1, 1, 1, 1])


def test_what_numpy_writes_to_many_elements_is_seen() -> None:
    """Nobody can tell us about it; the documentation says so.  Few elements are copied."""
    for size in (10, 100_000):
        memory = np.zeros(size)
        e = xl.add(memory, 1)
        memory[...] = 5
        assert set(xl.eval(e).tolist()) == {1 if size == 10 else 6}


def test_two_adaptors_of_one_memory() -> None:
    memory = np.array([1.0, 2.0])
    a, b = xl.adapt(memory), xl.adapt(memory)
    e = b + 1
    a[...] = a + 10
    assert memory.tolist() == [11, 12]
    assert xl.eval(e).tolist() == [2, 3]


def test_memory_shared_with_numpy_by_a_container() -> None:
    """An operand that is a NumPy view of a container's memory is a reader of the container."""
    a = xl.asarray([1.0, 2.0])
    e = xl.add(np.asarray(a), 1)
    a[...] = 50
    assert xl.eval(e).tolist() == [2, 3]
    e = a + 1
    xl.adapt(np.asarray(a))[...] = 70
    assert a.tolist() == [70, 70]
    assert xl.eval(e).tolist() == [51, 51]


def test_a_consumed_expression_says_so() -> None:
    """A node that outlives the handle it was assigned through has no old values left."""
    a = xl.asarray([1.0, 2.0])
    e = a + 1
    a[...] = xl.XExpression(e.node)
    assert a.tolist() == [2, 3]
    try:
        values = xl.eval(e).tolist()
    except xl.StaleOperandError as error:
        message = str(error)
        assert re.search(r"float64\[2\] was overwritten.*xl.late", message)
    else:
        assert values == [2, 3]


def test_late_expressions_follow_their_operands() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([10.0, 20.0])
    e = xl.late(a + b)
    with count_allocations() as count:
        a[...] = 5
    assert count.snapshots == 0
    assert xl.eval(e).tolist() == [15, 25]
    b += 1
    assert xl.eval(e).tolist() == [16, 26]
    a[...] = e
    a[...] = e
    assert a.tolist() == [16 + 11, 26 + 21]


def test_late_expressions_of_given_up_memory() -> None:
    a = xl.asarray([1.0, 2.0])
    e = xl.late(a + 1)
    a.resize_(1000)
    with pytest.raises(xl.StaleOperandError, match=r"late operand float64\[2\].*resized"):
        xl.eval(e)


def test_late_leaves_the_rest_alone() -> None:
    a = xl.asarray([1.0, 2.0])
    now = a + 1
    later = xl.late(now)
    a[...] = 5
    assert (xl.eval(now).tolist(), xl.eval(later).tolist()) == ([2, 3], [6, 6])


@pytest.mark.parametrize("size", [3, 5000, 700_000])
def test_the_rule_is_the_same_at_every_size(size: int) -> None:
    a = xl.zeros(size)
    waiting = [a + 1, xl.sum(a), a[::-1] * 2]
    for value in (3.0, 4.0):
        a[...] = value
        a[1:] = a[:-1]
    assert float(xl.max(waiting[0])) == 1.0
    assert float(waiting[1]) == 0.0
    assert float(xl.max(waiting[2])) == 0.0


def test_a_failed_write_changes_nothing() -> None:
    a = xl.asarray([1.0, 2.0])
    e = a + 1
    for wrong in (xl.zeros(3), xl.zeros((2, 2))):
        with pytest.raises(xl.BroadcastError):
            a[...] = wrong
        with pytest.raises(xl.BroadcastError):
            a += wrong
    assert (a.tolist(), xl.eval(e).tolist()) == ([1, 2], [2, 3])


def test_jit_results_are_values() -> None:
    double = xl.jit(lambda x: x * 2)
    a = xl.asarray([1.0, 2.0])
    result = double(a)
    a[...] = 9
    assert result.tolist() == [2, 4]
    waiting = result + 1
    again = double(a)
    assert (xl.eval(waiting).tolist(), again.tolist()) == ([3, 5], [18, 18])


def test_generators_hold_what_they_hold() -> None:
    """Rows of a lazy expression, evaluated one by one while the operand changes."""
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    seen = []
    for row in a + 1:
        seen.append(xl.eval(row).tolist())
        a += 10
    assert seen == [[2, 3], [4, 5]]
