"""Launching small work: which kinds have a program, and what its guards refuse."""

from __future__ import annotations

import struct
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests import references
from tests.cases import together
from xarraylite.assignment import parts, writes
from xarraylite.ops.table import OPS
from xarraylite.runtime import direct, launch
from xarraylite.runtime.program import Direct, Turned

pytestmark = [
    pytest.mark.usefixtures("compiled"),
    pytest.mark.skipif(not launch.can_launch(), reason="another interpreter"),
]


def program(e: Any) -> Direct:
    made = direct.fresh(e._kind)
    assert made is not None
    return made


def room(count: int) -> Any:
    return np.full(count, -1.0)


def test_one_program_serves_all_shapes() -> None:
    a = xl.asarray(np.arange(60.0))
    made = program(a + a * 2)
    for n in (0, 1, 7, 60):
        to = room(61)
        assert made.call(to.ctypes.data, (n,), *(a[:n] + a[:n] * 2)._operands) is None
        assert np.array_equal(to[:n], np.arange(n) * 3.0)
        assert (to[n:] == -1).all()


def test_strided_and_lower_operands_have_loops_of_the_shape() -> None:
    v = np.arange(120.0).reshape(4, 5, 6)
    a, row = xl.asarray(v), xl.asarray(np.arange(6.0))
    e = a[1:, ::2, :3] * 2 - row[3:]
    made = program(e)
    to = room(27 + 1)
    assert made.call(to.ctypes.data, e.shape, *e._operands) is None
    assert np.array_equal(to[:27].reshape(3, 3, 3), v[1:, ::2, :3] * 2 - np.arange(3.0, 6.0))
    assert to[27] == -1


def test_one_thread_launches_what_several_would_share() -> None:
    e = xl.sqrt(xl.asarray(np.ones(3)))
    limits = []
    for threads in (2, 1):
        with xl.config(threads=threads):
            limits.append(program(e).limit)
    assert limits[0] < 1_000_000 < limits[1]


def test_what_lies_in_a_row_has_a_second_kernel_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of bytes that are read twice it counts those once; here the second kernel subtracts."""
    monkeypatch.setattr(direct.limits, "STREAM_BYTES", 2400)
    a, b = xl.asarray(np.arange(200.0)), xl.asarray(np.arange(200.0) * 3)
    few, made = [direct.fresh((a + b)._kind, short) for short in (True, False)]
    assert few is not None
    assert made is not None
    assert made.long is not None
    assert few.more
    assert few.limit == 99
    assert not made.more
    assert made.limit > 1_000_000
    words = list(struct.unpack(f"<{len(made.record) // 8}q", made.record))
    words[words.index(made.long.address)] = program(a - b).kernel.address
    call = launch.launcher(struct.pack(f"<{len(words)}q", *words))
    for left, right, n, subtracts in (
        *[(a, b, 99, False), (a, b, 100, True), (a, a, 100, False), (a, a, 149, False)],
        *[(a, a, 150, True), (a[1:], a[:-1], 148, False), (a[1:], a[:-1], 150, True)],
    ):
        to = room(200)
        assert call(to.ctypes.data, (n,), *(left[:n] + right[:n])._operands) is None
        x, y = np.asarray(left)[:n], np.asarray(right)[:n]
        assert np.array_equal(to[:n], x - y if subtracts else x + y), (n, subtracts)
        assert (to[n:] == -1).all()


def test_second_kernels_have_the_bits_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they store past the caches or try first what most numbers take; and into memory."""
    monkeypatch.setattr(direct.limits, "STREAM_BYTES", 1 << 16)
    monkeypatch.setattr(direct.limits, "NEAR_FROM", 1 << 11)
    v = np.random.default_rng(3).random((2, 1 << 14)) * 9 - 4
    v[0, 5::999] = [-800.0, np.inf, np.nan, -0.0] * 4 + [1e300]
    a, b = xl.asarray(v)
    makes: list[Any] = [lambda x, y: x * y - 0.5, lambda x, y: xl.exp(x)]
    for write in makes:
        kind = write(a, b)._kind
        kind.fresh = None
        first = direct.fresh(kind)
        assert first is not None
        assert first.more
        for n in (7, first.limit, first.limit + 1, v.shape[1] - 3):
            e = write(a[3:][:n], b[:n])
            to = room(n + 1)
            rest, at = to[:n], 0
            while at < n:  # by the first kernel, as many as it takes
                size = min(n - at, first.limit)
                part = write(a[3 + at :][:size], b[at:][:size])
                address = rest[at:].ctypes.data
                assert first.call(address, (size,), *part._operands) is None
                at += size
            whole, into = np.asarray(xl.eval(e)), xl.zeros(n)
            for _ in range(3):
                into[...] = 0.0
                into[...] = e
                assert np.asarray(into).tobytes() == whole.tobytes() == to[:n].tobytes()


def test_a_destination_that_is_read_is_launched_however_many_bytes_it_has() -> None:
    c, b = xl.zeros(3), xl.ones(3)
    kind = (c + b)._kind
    apart, own = [direct.writes(kind, c._kind, same) for same in ((False, False), (True, False))]
    assert apart is not None
    assert own is not None
    assert apart.more
    assert apart.limit < 1_000_000 < own.limit
    assert not own.more


@pytest.mark.parametrize("fold", [xl.sum, xl.prod, xl.max, xl.min])
def test_few_values_are_folded_to_the_bits_of_the_kernel_for_any_number(fold: Any) -> None:
    v = np.random.default_rng(2).random(3000) * 4.0 - 2.0
    v[1::7] = -0.0
    a = xl.asarray(v)
    kind = fold(a * 1.5)._kind
    few, any_number = [direct.fresh(kind, short) for short in (True, False)]
    assert few.limit < few.more == any_number.limit
    assert not any_number.more
    for n in (1, 7, 8, 129, 255, 257, 1023, 1025, few.limit):
        (shape, *operands), to = fold(a[:n] * 1.5)._operands, room(2)
        for k, made in enumerate((few, any_number)):
            assert made.call(to[k:].ctypes.data, shape, *operands) is None
        assert to[:1].tobytes() == to[1:].tobytes()
        assert float(fold(a[:n] * 1.5)) == to[0]
    assert kind.fresh.more
    float(fold(a * 1.5))
    assert not kind.fresh.more


@pytest.mark.parametrize("step", [2, -1, -3, 7])
def test_vectors_of_any_stride_are_folded_as_those_that_lie_side_by_side(step: int) -> None:
    v, w = np.random.default_rng(1).random((2, 7000)) - 0.5
    a, b = xl.asarray(v), xl.asarray(w)
    made = program(xl.sum(a[::step] * b[: a[::step].size] + 0.25))
    for n in (1, 9, 64, 255, 1000):
        ours = a[::step][:n], b[:n]
        e = xl.sum(ours[0] * ours[1] + 0.25)
        to = room(2)
        assert made.call(to.ctypes.data, *e._operands) is None
        together = xl.sum(ours[0].copy() * ours[1] + 0.25)
        assert to.tolist() == [float(xl.eval(together)), -1]


@together("dtype", ["bool", "int8", "uint8", "int32", "uint64", "float32", "float64", "bfloat16"])
def test_numbers_of_every_kind(dtype: str) -> None:
    a = xl.asarray([0, 1, 1], dtype=dtype)
    e = xl.where(a > 0, a, a) if dtype == "bool" else a * 3
    expected = np.asarray([0, 1, 1]) * (1 if dtype == "bool" else 3)
    assert np.array_equal(np.asarray(xl.eval(e)).astype("f8"), expected.astype("f8"))


def test_work_that_is_too_large_is_refused_before_anything_happens() -> None:
    a = xl.zeros(1 << 22)
    made = program(a + 1)
    to = room(4)
    assert made.call(to.ctypes.data, a.shape, *(a + 1)._operands) is False
    assert made.call(to.ctypes.data, (1 << 62, 1 << 62), *(a + 1)._operands) is False
    assert (to == -1).all()


def test_a_reading_without_an_address_is_refused() -> None:
    a = xl.zeros(3)
    e = a + 1
    made, to = program(e), room(3)
    e._operands[0].expire("test")
    assert made.call(to.ctypes.data, (3,), *e._operands) is False
    assert (to == -1).all()
    with pytest.raises(xl.StaleOperandError, match="test"):
        xl.eval(e)


def test_operands_that_overlap_the_destination_are_refused() -> None:
    a = xl.asarray(np.arange(10.0))
    e = a[:-1] * 2
    made = direct.writes(e._kind, a[1:]._kind, (False,))
    assert made is not None
    at = a.buffer.address
    assert made.call(at + 8, (9,), *e._operands) is False
    assert a.tolist() == list(range(10))
    assert made.call(at + 8 * 5, (4,), *(a[:4] * 2)._operands) is None
    assert a.tolist() == [0, 1, 2, 3, 4, 0, 2, 4, 6, 9]


def test_a_program_in_place_wants_the_destination_itself() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([5.0, 6.0])
    e = a + b
    made = direct.writes(e._kind, a._kind, (True, False))
    assert made is not None
    assert made.call(b.buffer.address, (2,), *e._operands) is False
    assert made.call(a.buffer.address, (2,), *e._operands) is None
    assert a.tolist() == [6.0, 8.0]


@pytest.mark.parametrize(
    "turn",
    [lambda a: a.T, lambda a: a[::-1], lambda a: a[1:, ::-2], lambda a: a[::-2, ::-1].T],
)
def test_destinations_lie_in_any_order_of_dimensions(turn: Any) -> None:
    values, other = np.arange(42.0).reshape(6, 7), np.arange(42.0)[::-1].reshape(7, 6).T
    a, b = xl.asarray(values), turn(xl.asarray(other))
    v, want = turn(a), values.copy()
    made = direct.writes((v - b)._kind, v._kind, (True, False))
    assert made is not None
    e, at = v - b, a.buffer.address + v._start
    assert made.call(at, v.shape, *e._operands) is None
    turn(want)[...] -= turn(other)
    assert np.array_equal(a, want)
    large = turn(xl.zeros((1 << 9, 1 << 9)))
    assert made.call(at, large.shape, *(large - large)._operands) is False
    del e
    v *= 2
    assert writes.updated(v, OPS["multiply"], 2, False)
    turn(want)[...] *= 4
    assert np.array_equal(a, want)


@pytest.mark.parametrize(
    ("make", "program"),
    [
        (lambda a: a.T + a, Direct),
        (lambda a: a.T * 2, Turned),
        (lambda a: a[::-1].T * 2, Turned),
        (lambda a: xl.sum(a) + 1, type(None)),
        (lambda a: xl.sin(xl.astype(a, "complex64")) + 1, type(None)),
    ],
)
def test_other_orders_of_dimensions_have_programs_and_folds_inside_none(
    make: Any, program: type
) -> None:
    e = make(xl.ones((3, 3)))
    assert type(direct.fresh(e._kind)) is program


def test_what_is_shared_is_computed_once_where_it_pays() -> None:
    a = xl.asarray(np.arange(20_000.0))
    shared = xl.sin(a)
    e = shared * shared + shared
    assert parts.repeats(program(e), e._operands, 20_000)
    assert not parts.repeats(program(e), e._operands, 3)
    x = np.asarray(xl.eval(shared))
    assert np.array_equal(np.asarray(xl.eval(e)), x * x + x)


def test_references_are_given_back() -> None:
    a, to = xl.zeros(3), room(3)
    e = a + 1.5
    made = program(e)

    def work() -> None:
        for _ in range(100):
            made.call(to.ctypes.data, (3,), *e._operands)
            made.call(to.ctypes.data, (1 << 40,), *e._operands)

    moves, _ = references.moved(work, (None, False, e._operands[0]))
    assert moves[2] == 0
    assert max(moves) < 20  # one lost or kept a call would be 100


def test_threads_that_use_the_package_first_share_one_launcher() -> None:
    code = """
import sys, threading
import numpy as np
import xarraylite as xl
sys.setswitchinterval(1e-5)
start, wrong = threading.Barrier(4), []
def work(k):
    c = xl.asarray(np.full(5, float(k)))
    start.wait()
    for i in range(200):
        added, multiplied = xl.eval(c + 1.0).tolist(), xl.eval(c * c - i).tolist()
        if added != [k + 1.0] * 5 or multiplied != [k * k - i] * 5:
            wrong.append(k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
sys.exit(len(wrong))
"""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], check=False, capture_output=True, timeout=60
        )
        assert done.returncode == 0, done.stderr.decode()


def test_builtins_may_be_made_while_one_is_made() -> None:
    """As what is called by a collection does, which may begin in the middle of it."""
    xl.eval(xl.asarray([1.0]) + 1)
    definition = launch._made[0][1]
    kept = []

    class Interrupted:
        @property
        def _as_parameter_(self) -> int:
            launch.builtin(definition, b"")
            kept.extend([(k, k, k, k) for k in range(8)])  # where anything freed was
            return definition

    made = launch.builtin(Interrupted(), b"")  # type: ignore[arg-type]
    assert made.__self__ == b""
