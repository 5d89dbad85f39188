"""Pieces of work, and every kind of loop from end to end: NumPy's bits, for any division."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.compiler.test_graph import positions
from xarraylite._config import settings
from xarraylite.arrays.expression import XExpression
from xarraylite.compiler import steps
from xarraylite.compiler.program import Work
from xarraylite.ir import build
from xarraylite.layout.strided import Strided
from xarraylite.runtime import run as running
from xarraylite.runtime.evaluate import clear_programs
from xarraylite.runtime.run import GRAIN, LARGEST, pieces
from xarraylite.testing import assert_same_bits

Array = npt.NDArray[Any]

# --- pieces --------------------------------------------------------------------------------------


@st.composite
def works(draw: st.DrawFn) -> Work:
    """Draw maps of all modes, and reductions whole and in parts."""
    outer, inner = draw(st.integers(1, 9)), draw(st.integers(1, 5000))
    # Few blocks of 1024 and many, few steps of the multi-index counter per piece and many.
    cost = draw(st.sampled_from((1, 5000, GRAIN // 3, GRAIN, 3 * GRAIN, 40 * GRAIN)))
    kind = draw(st.sampled_from(("map", "ordered", "falling", "reduce", "parts")))
    if kind in ("map", "ordered", "falling"):
        return Work(outer, inner, cost, ordered=kind != "map", falling=kind == "falling")
    rows = draw(st.integers(1, 6))
    if kind == "reduce":
        return Work(outer, inner, cost, rows, split_inner=draw(st.booleans()))
    along = draw(st.booleans())
    size = draw(st.integers(1, 2 * inner))
    ranges = list(steps._ranges(rows, inner, along, size))
    assume(len(ranges) > 1)
    chunks = tuple((*part, 8 * k) for k, part in enumerate(ranges))
    return Work(outer, inner, cost, rows, chunks=chunks, split_inner=not along)


def points(work: Work) -> list[tuple[int, int, int]]:
    """Every (multi-index step, inner index, reduced row) in the order of the pieces."""
    rows = max(1, work.rows)
    return [
        (t, j, r)
        for t0, t1, j0, j1, r0, r1, _ in pieces(work)
        for t in range(t0, t1)
        for j in range(j0, j1)
        for r in (range(r0, r1) if work.rows else range(rows))
    ]


small = works().filter(lambda w: w.outer * w.inner * max(1, w.rows) <= 20_000)


@given(small)
def test_every_iteration_is_in_one_piece(work: Work) -> None:
    found = Counter(points(work))
    assert len(found) == work.outer * work.inner * max(1, work.rows)
    assert set(found.values()) == {1}


@given(works())
def test_parts_write_their_own_partial_results(work: Work) -> None:
    places: dict[int, set[tuple[int, int]]] = {}
    for _, _, _, _, r0, r1, offset in pieces(work):
        places.setdefault(offset, set()).add((r0, r1))
    assert len(places) == max(1, len(work.chunks))
    assert all(len(rows) == 1 for rows in places.values())


@given(works().filter(lambda w: w.ordered))
def test_ordered_pieces_come_in_order(work: Work) -> None:
    """Rows as the multi-index counter counts, inner blocks up or, where loops fall, down."""
    found = [(t0, -j0 if work.falling else j0) for t0, _, j0, *_ in pieces(work)]
    assert found == sorted(found)
    assert len({j for _, j in found}) == 1 or all(t1 - t0 == 1 for t0, t1, *_ in pieces(work))


@given(works())
def test_pieces_are_small_enough_to_be_interrupted_between(work: Work) -> None:
    parts = max(1, len(work.chunks))
    for t0, t1, j0, j1, *_ in pieces(work):
        share = (j1 - j0) / work.inner if work.split_inner else 1.0
        cost = (t1 - t0) * share * (work.cost // parts)
        floor = work.cost // parts * min(1.0, 1024 / work.inner)
        single = 0.0 if work.split_inner else work.cost // parts
        assert cost <= max(2 * GRAIN, floor, single)


def test_one_thread_takes_as_much_at_once_as_an_interrupt_may_wait_for() -> None:
    work = Work(1, 1_000_000, 2_000_000)
    assert len(list(pieces(work))) > 4
    assert len(list(pieces(work, LARGEST))) == 1


def test_blocks_of_pieces_are_whole_lines() -> None:
    """Streaming stores whole lines, and two threads never write to one line in turn."""
    found = list(pieces(Work(1, 10_000_000, 30_000_000)))
    assert len(found) > 30
    assert all(j0 % 1024 == 0 for _, _, j0, *_ in found)


# --- every loop, bit for bit ---------------------------------------------------------------------


@pytest.fixture(params=["whole", "pieces"])
def division(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Run small steps as one piece, or as many pieces on three threads."""
    clear_programs()
    if request.param == "pieces":
        monkeypatch.setattr(running, "GRAIN", 1 << 10)
        monkeypatch.setattr(running, "SHARED_FROM", 0)
        xl.config(threads=3)
    yield request.param
    clear_programs()


def numbers(*shape: int, dtype: str = "float64") -> Array:
    """Small different integers: sums of them are exact in any order."""
    count = int(np.prod(shape, dtype=int))
    return (np.arange(count) * 7 % 23 - 9).reshape(shape).astype(dtype)


def check(expression: Any, expected: Array) -> None:
    assert_same_bits(expression, expected)


def check_into(destination: Array, assign: Callable[[Any], None]) -> None:
    """Assign in our way and in NumPy's, which behaves as if operands were copied first."""
    expected = destination.copy(order="K")
    assign(expected)
    ours = xl.adapt(destination)
    assign(ours)
    assert_same_bits(ours.numpy(), expected)


SIZES = (1, 2, 1023, 1024, 1025, 2048, 5000)


@pytest.mark.usefixtures("division")
@together("n", SIZES)
def test_direct(n: int) -> None:
    a, b = numbers(n), numbers(n)[::-1] * 0.5
    check(xl.asarray(a) * 2 - xl.adapt(b), a * 2 - b)


@pytest.mark.usefixtures("division")
@together(
    "key",
    [
        np.s_[:, :],
        np.s_[1:, :-1],
        np.s_[::-1, ::3],
        np.s_[::2, ::-2],
        np.s_[:, :1],
        np.s_[3],
        np.s_[3, 5],
    ],
)
def test_direct_with_any_strides(key: Any) -> None:
    a, b = numbers(60, 90), numbers(90)
    whole = xl.asarray(a) / 3 + xl.asarray(b)
    check(whole[key], (a / 3 + b)[key])
    check_into(numbers(60, 90), lambda c: c.__setitem__(key, a[key] / 3 + b[-1]))


@pytest.mark.usefixtures("division")
def test_direct_into_every_corner_of_three_dimensions() -> None:
    a = numbers(5, 7, 60)
    for axes in ((0, 1, 2), (1, 0, 2), (2, 1, 0)):
        destination = np.zeros([a.shape[k] for k in axes]).transpose(np.argsort(axes))
        check_into(destination, lambda c: c.__setitem__(np.s_[...], a * 3 - a[:, :1]))


@pytest.mark.usefixtures("division")
@together("n", SIZES)
@together("shift", [1, 3, 1500])
def test_staged_and_falling(n: int, shift: int) -> None:
    def down(c: Any) -> None:
        c[:n] = c[shift:] * 2 - 1

    def up(c: Any) -> None:
        c[shift:] = c[:n] * 2 - 1

    check_into(numbers(n + shift), down)
    check_into(numbers(n + shift), up)


@pytest.mark.usefixtures("division")
@together("rows", [2, 7])
@together("columns", [3, 1024, 1500])
def test_staged_and_falling_in_two_dimensions(rows: int, columns: int) -> None:
    def shifts(c: Any) -> None:
        c[1:, :-1] = c[:-1, :-1] + c[1:, :-1]
        c[:-1, :-1] = c[1:, :-1] * 2
        c[:, 1:-1] = c[:, :-2] - 1
        c[1:, 1:-1] = c[:-1, 2:]
        c[::-1][1:, 1:-1] = c[::-1][:-1, :-2]

    check_into(numbers(rows, columns), shifts)


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("start", [0, 1, 7])
@pytest.mark.usefixtures("division")
def test_stream(dtype: str, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Destinations that begin on a line, and on none, and end within one."""
    monkeypatch.setattr(steps, "STREAM_BYTES", 1 << 14)
    a = numbers(20_011, dtype=dtype)
    guard = numbers(20_030, dtype=dtype)
    ours = xl.asarray(guard)
    destination = ours[start : start + 20_011]
    expression = xl.adapt(a) * 3
    if settings.engine == "compiled":
        assert "[non-temporal" in str(xl.explain(destination, expression))
    destination[...] = expression
    guard[start : start + 20_011] = a * np.asarray(3, dtype)
    assert_same_bits(ours.numpy(), guard)


@pytest.mark.usefixtures("division")
@together("shape", [(16, 16), (64, 64), (63, 65), (129, 64), (200, 131), (17, 1100)])
@together("dtype", ["int8", "float32", "complex128"])
def test_tiled(shape: tuple[int, int], dtype: str) -> None:
    a, b = numbers(*shape[::-1], dtype=dtype), numbers(*shape, dtype=dtype)
    check(xl.asarray(b) + xl.asarray(a).T, b + a.T)
    check_into(np.zeros(shape, dtype), lambda c: c.__setitem__(np.s_[:, :], a.T))
    check_into(np.zeros(shape, dtype), lambda c: c.__setitem__(np.s_[::-1, :], a.T[:, ::-1]))


@pytest.mark.usefixtures("division")
@together("axes", [(2, 1, 0), (0, 2, 1), (1, 2, 0), (2, 0, 1)])
def test_tiled_in_three_dimensions(axes: tuple[int, int, int]) -> None:
    a = numbers(18, 70, 33)
    expected = a.transpose(axes) * 2
    check_into(np.zeros(expected.shape), lambda c: c.__setitem__(..., a.transpose(axes) * 2))


@pytest.mark.usefixtures("division")
@together("name", ["sum", "max"])
@together("n", [1, 2, 3, 127, 128, 129, 1023, 1024, 1025, 4097])
def test_along_and_across(name: str, n: int) -> None:
    ours, numpys = getattr(xl, name), getattr(np, name)
    a = numbers(3, n)
    for operand, axis in ((a, 1), (np.asfortranarray(a), 1), (a.T, 0), (a[:, ::-1], 1)):
        check(ours(xl.adapt(operand) * 2, axis=axis), numpys(operand * 2, axis=axis))
    b = numbers(n, 70)
    for operand, axis in ((b, 0), (b.T, 1), (b[::-1, ::-1], 0)):
        check(ours(xl.adapt(operand) - 1, axis=axis), numpys(operand - 1, axis=axis))


@pytest.mark.usefixtures("division")
@together("columns", [1, 63, 64, 1023, 1024, 1025, 2100])
def test_across_tiles_of_results(columns: int) -> None:
    a = numbers(300, columns)
    check(xl.sum(xl.asarray(a), axis=0), a.sum(axis=0))
    check(xl.min(xl.asarray(a)[::3] + 1, axis=0), (a[::3] + 1).min(axis=0))


@pytest.mark.usefixtures("division")
@together("axis", [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2)])
@together("keepdims", [False, True])
def test_any_axes_of_any_layout(axis: Any, keepdims: bool) -> None:
    a = numbers(6, 20, 70)
    for operand in (a, np.asfortranarray(a), a.transpose(1, 2, 0).copy().transpose(2, 0, 1)):
        e = xl.sum(xl.adapt(operand) * xl.asarray(numbers(70)), axis=axis, keepdims=keepdims)
        check(e, (operand * numbers(70)).sum(axis=axis, keepdims=keepdims))


@pytest.mark.usefixtures("division")
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((5000,), 0), ((3, 3000), 1), ((3000, 6), 0), ((40, 3, 70), (0, 2)), ((1001, 5), (0, 1))],
)
def test_partial_results(
    shape: tuple[int, ...], axis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "CHUNK", 700)
    a = numbers(*shape)
    check(xl.sum(xl.asarray(a), axis=axis), a.sum(axis=axis))
    check(xl.min(xl.asarray(a), axis=axis), a.min(axis=axis))


@pytest.mark.usefixtures("division")
@pytest.mark.parametrize("dtype", ["int8", "uint16", "float32", "complex64", "bool", "bfloat16"])
def test_partial_results_of_any_type(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Partial results are kept in the type that the fold accumulates in."""
    monkeypatch.setattr(steps, "CHUNK", 700)
    values = numbers(3000, 6) % 2
    total = xl.sum(xl.astype(xl.asarray(values), dtype), axis=0)
    check(total, values.sum(axis=0).astype(total.dtype))


@pytest.mark.usefixtures("division")
@pytest.mark.parametrize(("shape", "axis"), [((9, 5000), 1), ((5000, 9), 0), ((3000, 1100), 0)])
def test_long_results_in_parts(
    shape: tuple[int, ...], axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "CHUNK", 700)
    monkeypatch.setattr(steps, "LONG_RESULT", 1 << 12)
    a = numbers(*shape)
    check(xl.sum(xl.asarray(a), axis=axis), a.sum(axis=axis))


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_threads_change_no_bit(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The values are such that any other order of additions would show."""
    monkeypatch.setattr(running, "GRAIN", 1 << 12)
    monkeypatch.setattr(running, "SHARED_FROM", 0)
    rng = np.random.default_rng(1)
    a = xl.asarray(rng.standard_normal((600, 700)) * 10.0 ** rng.integers(-8, 8, (600, 700)))
    expressions = [xl.sum(a), xl.sum(a, axis=0), xl.sum(a.T * a.T, axis=0), a / 3 + a[:1]]
    with xl.config(threads=1):
        serial = [np.array(xl.eval(e)) for e in expressions]
    with xl.config(threads=threads):
        for e, expected in zip(expressions, serial, strict=True):
            assert_same_bits(e, expected)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("n", "threads"), [(400_000, 1), (1_500_000, 2)], ids=["some hundred us", "more"]
)
def test_what_is_done_before_another_thread_has_woken_up_is_not_shared(
    n: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Watched:
        def run(self, pieces: Any, make: Any, most: int) -> None:
            asked.append(most)
            pool.run(pieces, make, most)

    pool = running.pool
    monkeypatch.setattr(running, "pool", Watched())
    a = xl.asarray(np.arange(n, dtype=np.float64))
    rows = xl.asarray(np.arange(n, dtype=np.float64).reshape(-1, 1000))
    with xl.config(threads=2):
        assert_same_bits(a + a * 2, np.arange(n) * 3.0)
        xl.eval(rows / xl.sum(rows, axis=1, keepdims=True))
    assert set(asked) == {threads}


@pytest.mark.usefixtures("compiled")
def test_sums_are_pairwise() -> None:
    """One after another these would be off by thousands of units in the last place."""
    n = 1 << 20
    a = np.full(n, 0.1, np.float32)
    exact = float(np.float32(0.1)) * n
    assert abs(float(xl.sum(xl.asarray(a))) - exact) / exact < 2e-7
    # Across, 128 rows are added one after another before pairs are formed.
    column = xl.sum(xl.asarray(a.reshape(-1, 64)), axis=0)
    assert float(xl.max(xl.abs(column - exact / 64))) / (exact / 64) < 2e-6


@pytest.mark.usefixtures("division")
def test_gathers() -> None:
    a, rows = numbers(50, 70), np.array([[49, 0, 7], [7, 7, -1]])
    check(xl.asarray(a)[rows] * 2, a[rows] * 2)
    check(xl.asarray(a)[:, rows], a[:, rows])
    check(xl.sum(xl.asarray(a)[rows, 1:], axis=-1), a[rows, 1:].sum(axis=-1))
    check((xl.asarray(a).T + 1)[rows][:, ::-1], (a.T + 1)[rows][:, ::-1])


@pytest.mark.usefixtures("division")
@together("dtype", ["int8", "int64", "float32", "complex64", "bool"])
def test_positions(dtype: str) -> None:
    expected = (np.arange(3000) * 3).astype(dtype)
    check(xl.astype(positions(3000, 3), dtype), expected)
    table = XExpression(build.iota(Strided((40, 90), (-90, 1), 3510), np.dtype(np.int64)))
    check(xl.sum(table * 2, axis=1), (np.arange(3600).reshape(40, 90)[::-1] * 2).sum(axis=1))


@pytest.mark.usefixtures("division")
@together("dtype", ["float16", "bfloat16", "float8_e4m3fn", "int4", "uint2"])
def test_narrow_types_in_every_loop(dtype: str) -> None:
    values = numbers(40, 70) % 3
    a = xl.astype(xl.asarray(values), dtype)
    check(
        xl.astype(a + a[::-1], "float64"), (values + values[::-1]) % (4 if dtype == "uint2" else 9)
    )
    check(xl.astype(a.T[1:], "float64"), values.T[1:])
    check(xl.max(xl.astype(a, "float64"), axis=0), values.max(axis=0))
    check(xl.astype(xl.max(a, axis=0), "float64"), values.max(axis=0))


@pytest.mark.parametrize("offset", [1, 2, 3, 4])
def test_unaligned_memory(offset: int) -> None:
    memory = np.zeros(8 * 40 + 8, np.uint8)
    a = memory[offset : offset + 320].view(np.float64)
    a[:] = numbers(40)
    check(xl.adapt(a) * 2, a * 2)
    xl.adapt(a)[...] = xl.asarray(numbers(40)) + 1
    assert np.array_equal(a, numbers(40) + 1)


# --- Ctrl-C --------------------------------------------------------------------------------------

# In a process of its own: an interrupt may come while a callback of the garbage collector runs,
# which loses it, and test tools install some.
CTRL_C = """
import signal
import numpy as np
import xarraylite as xl
from xarraylite.arrays.expression import XExpression
from xarraylite.ir import build
from xarraylite.layout.strided import Strided
from xarraylite.runtime import run

begun, armed, pool = [], [], run.pool

class Counting:
    def run(self, pieces, make, threads):
        def counted():
            one = make()
            return lambda piece: (begin(), one(piece))
        pool.run(pieces, counted, threads)

run.pool = Counting()

def begin():
    begun.append(1)
    if armed:  # not before: how long it takes to compile is not what is asked
        armed.clear()
        signal.setitimer(signal.ITIMER_REAL, 0.05)

def endless(*shape):
    layout = Strided.row_major(shape)
    return XExpression(build.iota(layout, np.dtype(np.int64)))

def interrupt(number, frame):
    seen.append(len(begun))
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
xl.config(engine="compiled")
big = xl.empty(1 << 22)
heavy = endless(1 << 22) * 1.0
for _ in range(2):
    heavy = xl.sin(heavy) / 3
cases = {
    "one result": (None, xl.sum(xl.sin(endless(1 << 36) * 1.0))),
    "few long results": (None, xl.sum(xl.exp(endless(16, 1 << 30) / 3), axis=1)),
    "wide and long": (None, xl.sum(endless(1 << 24, 1 << 10) / 3, axis=0)),
    "into memory": (big, heavy),
    "in order": (big[1:], heavy[1:] + big[:-1]),
}
for name, (destination, expression) in cases.items():
    xl.explain(expression) if destination is None else xl.explain(destination, expression)
    for threads in (1, 2):
        seen, armed = [], [1]
        xl.config(threads=threads)
        try:
            while True:
                if destination is None:
                    expression.numpy()
                else:
                    destination[...] = expression
        except KeyboardInterrupt:
            late = len(begun) - seen[0]
        assert seen[0] > 0, "it was divided"
        print(late, name, threads)
        assert float(xl.sum(xl.ones(700_000))) == 700_000
"""


@pytest.mark.usefixtures("compiled")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer signal")
def test_ctrl_c_is_seen_soon() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C], check=False, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 10
    # Only a helper that has just asked for a piece begins one, and pieces are small (see above).
    assert [line for line in lines if int(line.split()[0]) > 1] == []
