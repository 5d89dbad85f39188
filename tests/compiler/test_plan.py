"""Which temporaries exist, and why: none where none is needed, the smallest where one is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.compiler.test_graph import graph_into, ones, positions
from xarraylite._errors import NoAliasError
from xarraylite.compiler import steps
from xarraylite.compiler.plan import plan
from xarraylite.compiler.program import HostStep, KernelStep, Program
from xarraylite.compiler.size import KERNEL_COST, KERNEL_NODES, KERNEL_OPERANDS
from xarraylite.compiler.steps import CHUNK
from xarraylite.ir import build
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.usefixtures("compiled")

Maker = Callable[[], Any]


def program_for(expression: Any) -> Program:
    """The plan of an evaluation into new memory."""
    return program_into(xl.empty(expression.shape, dtype=expression.dtype), expression)


def program_into(destination: Any, expression: Any, noalias: bool = False) -> Program:
    graph, target = graph_into(destination, expression, noalias)
    return plan(graph, target, noalias)


def temporaries(program: Program) -> list[tuple[int, str]]:
    return [(t.nbytes, t.reason) for t in program.temporaries]


def notes(program: Program) -> list[str]:
    return [step.note for step in program.steps]


def modes(program: Program) -> list[str]:
    found = [re.search(r"\[(\w+),", note) for note in notes(program)]
    return [match[1] for match in found if match]


# --- nothing to keep -----------------------------------------------------------------------------

ONE_KERNEL: dict[str, Maker] = {
    "long arithmetic": lambda: (ones(8, 6) * 2 + ones(6)) / (ones(8, 1) - 3) ** 2,
    "views of expressions": lambda: xl.flip((ones(8, 6) + 1).T, axis=0)[1:, ::2],
    "neighbours of a cheap expression": lambda: (ones(9) + 1)[1:] - (ones(9) + 1)[:-1],
    "where and casts": lambda: xl.astype(xl.where(ones(4) > 0, ones(4), 0), "bfloat16"),
    "generators": lambda: positions(6) * 2 + xl.asarray([1]),
    "gather": lambda: (ones(5, 4) + 1)[xl.asarray([3, 0])],
    "reduction": lambda: xl.sum(ones(8, 6) * ones(6), axis=1),
    "all at once": lambda: xl.max(xl.abs(ones(8, 6).T)),
    "reshape in memory order": lambda: xl.reshape(ones(8, 6) + 1, (3, 16)) * 2,
    "reshape of a transposed result": lambda: xl.reshape(ones(8, 6).T + 1, (48,)),
    "reshape of a transposed operand": lambda: xl.reshape(ones(8, 6).T, (48,)),
    "reshape of a reduction": lambda: xl.reshape(xl.sum(ones(8, 6, 4), axis=0), (24,)),
    "rank 0": lambda: ones() + 1,
    "constant": lambda: xl.astype(xl.broadcast_to(ones(), (3, 4)), "int8"),
}


@together("make", ONE_KERNEL.values(), ids=ONE_KERNEL.keys())
def test_one_kernel_and_no_temporary(make: Maker) -> None:
    program = program_for(make())
    assert temporaries(program) == []
    assert len(program.steps) == 1
    assert isinstance(program.steps[0], KernelStep)


def test_an_empty_result_is_no_work() -> None:
    for e in (ones(0, 3) + 1, xl.sum(ones(0, 3), axis=1)):
        assert program_for(e) == Program(leaves=1)


def test_a_join_writes_each_part_in_its_place() -> None:
    program = program_for(xl.concat([ones(2, 3), ones(0, 3), ones(4, 3) * 2], axis=0))
    assert temporaries(program) == []
    assert len(program.steps) == 2
    stacked = program_for(xl.reshape(xl.stack([ones(4), ones(4) + 1], axis=1), (8,)))
    assert temporaries(stacked) == []


def test_pieces_of_a_large_join_are_stored_past_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the whole that is too large for them, whatever the size of a piece."""
    monkeypatch.setattr(steps, "STREAM_BYTES", 5 << 14)
    piece = ones(1 << 11)  # 16 KiB; two of them, and what each is a copy of
    assert "direct" in str(notes(program_for(piece + 1)))
    assert "direct" in str(notes(program_for(xl.concat([piece, piece]))))
    nested = xl.concat([xl.concat([piece, piece]), xl.concat([piece, piece])])
    assert "direct" not in str(notes(program_for(nested)))


# --- temporaries and their reasons ---------------------------------------------------------------

COMPLEX = "complex128"
TEMPORARIES: dict[str, tuple[Maker, list[tuple[int, str]]]] = {
    "reduction inside an expression": (
        lambda: ones(8, 6) / xl.sum(ones(8, 6), axis=1, keepdims=True),
        [(64, "sum is evaluated once: float64[8, 1]")],
    ),
    "reduction of a reduction": (
        lambda: xl.max(ones(8, 6) - xl.min(ones(8, 6), axis=0)),
        [(48, "min is evaluated once: float64[6]")],
    ),
    "one reduction used twice": (
        lambda: (xl.sum(ones(4, 6)) + 1) * xl.sum(ones(4, 6)),
        [
            (8, "sum is evaluated once: float64[]"),
            (8, "sum is evaluated once: float64[]"),
        ],
    ),
    "join inside an expression": (
        lambda: xl.concat([ones(2), ones(3)]) * 2,
        [(40, "joined arrays are laid out first: float64[5]")],
    ),
    "NumPy's operation inside": (
        lambda: xl.sin(ones(4, dtype=COMPLEX)) + 1,
        [(64, "NumPy evaluates this operation: complex128[4]")],
    ),
    "operand of NumPy's operation": (
        lambda: xl.sin(ones(4, dtype=COMPLEX) * 2),
        [(64, "operand of an operation that NumPy evaluates: complex128[4]")],
    ),
    "reshape of a transposed expression": (
        lambda: xl.reshape(ones(8, 6).T + 1, (48,)) * ones(48),
        [(384, "is not contiguous in the order of the reshape: float64[6, 8]")],
    ),
    "reshape of a transposed operand": (
        lambda: xl.reshape(ones(8, 6).T, (48,)) * ones(48),
        [(384, "is not contiguous in the order of the reshape: float64[6, 8]")],
    ),
    "expensive neighbours": (
        lambda: (e := xl.exp(xl.sin(ones(9))))[1:] - e[:-1] + e[1:],
        [(72, "is needed at several positions and too expensive to compute again: float64[9]")],
    ),
    "generator through an index": (
        lambda: positions(5)[xl.asarray([1, 1])],
        [(40, "is read through an index: int64[5]")],
    ),
}


@together(("make", "expected"), TEMPORARIES.values(), ids=TEMPORARIES.keys())
def test_temporaries(make: Maker, expected: list[tuple[int, str]]) -> None:
    assert temporaries(program_for(make())) == expected


def test_one_shared_reduction_is_one_temporary() -> None:
    total = xl.sum(ones(4, 6))
    assert temporaries(program_for((total + 1) * total)) == [
        (8, "sum is evaluated once: float64[]")
    ]


def test_steps_come_after_what_they_read() -> None:
    centred = (a := ones(8, 6)) - xl.sum(a, axis=0)
    program = program_for(centred / xl.sum(centred * centred, axis=0))
    assert [note.split(";")[0].split("[")[0].strip() for note in notes(program)] == [
        "temporary: sum is evaluated once",
        "temporary: sum is evaluated once",
        "result",
    ]
    _, second, last = program.steps
    assert isinstance(second, KernelStep)
    assert isinstance(last, KernelStep)
    made = [step.addresses[0][1] for step in program.steps if isinstance(step, KernelStep)]
    assert made[2] == 0
    assert made[0] in [slot for _, slot, *_ in second.addresses[1:]]
    assert set(made[:2]) <= {slot for _, slot, *_ in last.addresses[1:]}


def test_partial_results_of_a_long_sum() -> None:
    program = program_for(xl.sum(xl.broadcast_to(ones(), (5 * CHUNK,))))
    assert temporaries(program) == [(40, "partial results of sum")]
    assert notes(program)[1].startswith("join partial results")


def test_numpy_runs_what_has_no_body() -> None:
    program = program_for(xl.sin(ones(4, dtype=COMPLEX)))
    (step,) = program.steps
    assert isinstance(step, HostStep)
    assert step.note == "result; NumPy runs sin"
    assert temporaries(program) == []


# --- long expressions ----------------------------------------------------------------------------


def chain(length: int) -> Any:
    e = ones(3)
    for k in range(length):
        e = e + 1.0 if k % 2 else -e
    return e


def test_a_chain_that_fits_is_one_kernel() -> None:
    assert len(program_for(chain(KERNEL_NODES // 2)).steps) == 1


@pytest.mark.usefixtures("whole")
def test_long_chains_are_divided() -> None:
    program = program_for(chain(6 * KERNEL_NODES))
    assert {reason for _, reason in temporaries(program)} == {
        "the expression is too long for one kernel: float64[3]"
    }
    assert 5 <= len(program.steps) <= 16
    kernels = {step.kernel.source for step in program.steps if isinstance(step, KernelStep)}
    assert max(source.count(" = call ") for source in kernels) <= KERNEL_NODES
    # Equal pieces of a chain are one kernel: compile time does not grow with the length.
    assert len(kernels) <= 4


@pytest.mark.usefixtures("whole")
def test_a_sum_of_many_operands_is_divided() -> None:
    total = ones(2)
    for _ in range(199):
        total = total + ones(2)
    program = program_for(total)
    assert len(program.steps) >= 2
    assert most_operands(program) <= KERNEL_OPERANDS + 2
    assert np.array_equal(total.numpy(), [200.0, 200.0])


def most_operands(program: Program) -> int:
    """Operands of the kernel that has most."""
    return max(len(step.addresses) for step in program.kernels)


def test_many_operands_of_several_layouts_are_divided() -> None:
    made = [
        lambda k: xl.asarray(np.full((3, 4), float(k))),
        lambda k: xl.XArray(np.full((3, 4), float(k)), layout="column_major"),
        lambda k: xl.asarray(np.full((3, 8), float(k)))[:, ::2],
        lambda k: xl.asarray(np.full((3, 4), float(k)))[::-1, ::-1],
    ]
    total: Any = made[0](0)
    for k in range(1, 200):
        total = total + made[k % 4](k)
    program = program_for(total)
    assert most_operands(program) <= KERNEL_OPERANDS + 2
    assert (total.numpy() == 19900).all()
    assert len(temporaries(program)) <= 2


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "sqrt"])
def test_what_is_expensive_is_divided_sooner(name: str) -> None:
    e = ones(3)
    for _ in range(2000):
        e = getattr(xl, name)(e)
    program = program_for(e)
    pieces = -(-2000 * OPS[name].cost // KERNEL_COST)
    assert pieces <= len(program.steps) <= 1.2 * max(pieces, 2000 // KERNEL_NODES) + 1
    # Equal pieces are compiled once, and two temporaries serve all of them in turn.
    assert len({step.kernel.source for step in program.kernels}) <= 3
    assert len(temporaries(program)) <= 2


@pytest.mark.usefixtures("whole")
def test_narrow_floats_are_expensive() -> None:
    e = ones(3, dtype="float8_e5m2")
    for _ in range(100):
        e = -e
    assert len(program_for(e).steps) > 1


def test_what_is_shared_counts_once() -> None:
    """A graph of a hundred nodes has 2**30 paths."""
    node = (ones(3) * 2).node
    for _ in range(30):
        node = build.elementwise(OPS["add"], node, build.elementwise(OPS["multiply"], node, 0.5))
    assert len(program_for(xl.XExpression(node)).steps) == 1


def test_temporaries_that_are_needed_together_are_apart() -> None:
    """Reductions of one size are all live at the end; those before them are not."""
    a = ones(5, 3)
    sums = [xl.sum(a * float(k), axis=0) for k in range(4)]
    assert len(temporaries(program_for(sums[0] + sums[1] * sums[2] - sums[3]))) == 4
    e = a
    for _ in range(4):
        e = a - xl.sum(e * e, axis=0)
    program = program_for(e)
    assert len(temporaries(program)) == 2
    expected = np.ones((5, 3))
    for _ in range(4):
        expected = np.ones((5, 3)) - (expected * expected).sum(axis=0)
    assert np.array_equal(e.numpy(), expected)


# --- aliasing ------------------------------------------------------------------------------------


def test_the_same_element_needs_nothing() -> None:
    a = ones(8, 6)
    program = program_into(a, a * 2 + ones(6))
    assert (temporaries(program), modes(program)) == ([], ["direct"])


def test_another_part_of_the_same_buffer_is_apart() -> None:
    a = ones(8, 6)
    for destination, source in ((a[:4], a[4:]), (a[:, ::2], a[:, 1::2]), (a[0], a[7])):
        program = program_into(destination, source + 1)
        assert (temporaries(program), modes(program)) == ([], ["direct"])


def test_shifts_choose_the_direction() -> None:
    a = ones(100)
    down, up = program_into(a[:-1], a[1:] * 2), program_into(a[1:], a[:-1] * 2)
    assert (temporaries(down), modes(down)) == ([], ["staged"])
    assert (temporaries(up), modes(up)) == ([], ["falling"])
    assert all(step.work.ordered for step in (*down.steps, *up.steps))  # type: ignore[union-attr]


def test_both_directions_at_once_copy_one_operand() -> None:
    a = ones(100)
    program = program_into(a[1:-1], a[:-2] + a[2:])
    # The leaf that is copied is the one that reads ahead of the write: 98 elements.
    assert temporaries(program) == [
        (784, "the target is written before this operand is read: float64[98]")
    ]


def test_transposed_operands_are_copied() -> None:
    a = ones(6, 6)
    assert temporaries(program_into(a, a + a.T)) == [
        (288, "the target is written before this operand is read: float64[6, 6]")
    ]


def test_the_result_is_copied_where_that_is_less() -> None:
    a = ones(6, 6)
    part = a[:, 0]
    program = program_into(part, a[:, 0] + xl.sum(a, axis=1))
    assert temporaries(program) == [(48, "sum is evaluated once: float64[6]")]
    column = program_into(a[0], xl.sum(a, axis=0))
    assert temporaries(column) == [(48, "the target is read until the last result: float64[6]")]
    many = program_into(a, a.T + a[::-1] + a[:, ::-1])
    assert temporaries(many) == [(288, "operands need the target's old values: float64[6, 6]")]
    assert notes(many)[-1].startswith("copy the result into the target")


def test_only_the_operand_in_the_way_is_copied() -> None:
    """A small one, though a large result depends on it."""
    a = ones(64, 6)
    program = program_into(a, a * 2 + a[30])
    assert temporaries(program) == [
        (48, "the target is written before this operand is read: float64[6]")
    ]


def test_the_last_row_to_be_written_may_be_read_till_then() -> None:
    a = ones(64, 6)
    first, last = program_into(a, a * 2 + a[0]), program_into(a, a * 2 + a[-1])
    assert temporaries(first) == temporaries(last) == []
    assert (modes(first), modes(last)) == (["falling"], ["staged"])


@pytest.mark.usefixtures("gathered")
def test_gathers_of_the_destination_are_copied() -> None:
    a = ones(6)
    program = program_into(a, a[xl.asarray([5, 4, 3, 2, 1, 0])])
    assert len(program.temporaries) == 1


def test_what_numpy_runs_may_overlap() -> None:
    """NumPy's result is complete before it is stored."""
    a = ones(6, dtype=COMPLEX)
    assert temporaries(program_into(a[1:], xl.sin(a[:-1]))) == []


def test_noalias_copies_nothing() -> None:
    a = ones(6, 6)
    program = program_into(a, a + a.T, noalias=True)
    assert (temporaries(program), modes(program)) == ([], ["direct"])


ALIASED: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "shift down": lambda a: (a[:-1], a[1:] * 2),
    "shift up": lambda a: (a[1:], a[:-1] * 2),
    "both": lambda a: (a[1:-1], a[:-2] - 2 * a[2:]),
    "transposed": lambda a: (a, a - 2 * a.T),
    "reversed": lambda a: (a, a[::-1] * 2),
    "three ways": lambda a: (a, a.T + 2 * a[::-1] - a[:, ::-1]),
    "first row": lambda a: (a, a - a[0]),
    "a row between": lambda a: (a, a - a[2]),
    "row sums": lambda a: (a[0], xl.sum(a, axis=0)),
    "centred": lambda a: (a, a - xl.sum(a, axis=0)),
    "joined": lambda a: (a, xl.concat([a[3:], a[:3]])),
    "gathered": lambda a: (a, a[xl.asarray([5, 5, 0, 1, 2, 4])]),
    "reshaped": lambda a: (a, xl.reshape(a.T * 2, (6, 6))),
    "cast in place": lambda a: (a, xl.astype(xl.astype(a, "int16").T, "float64")),
}


@together("case", ALIASED.values(), ids=ALIASED.keys())
def test_assignments_are_as_if_evaluated_first(case: Callable[[Any], tuple[Any, Any]]) -> None:
    values = np.arange(36.0).reshape(6, 6) ** 2
    a, untouched = xl.asarray(values), xl.asarray(values)
    destination, expression = case(a)
    wanted, aside = case(untouched)
    result = aside.numpy()
    destination[...] = expression
    expected = values.copy()
    view = np.lib.stride_tricks.as_strided(
        expected.reshape(-1)[wanted.offset :], wanted.shape, [8 * s for s in wanted.strides]
    )
    view[...] = result
    assert np.array_equal(a.numpy(), expected)


# --- promises that do not hold -------------------------------------------------------------------


def test_a_false_promise_is_seen_when_asked_for() -> None:
    a, b = ones(10), ones(10)
    with xl.config(check_noalias=True):
        xl.noalias(a)[1:] = b[:-1] * 3
        xl.noalias(a)[...] = a * 3
        with pytest.raises(NoAliasError, match=r"noalias: operand float64\[9\] shares memory"):
            xl.noalias(a)[1:] = a[:-1] * 3
        with pytest.raises(NoAliasError):
            xl.noalias(a)[0] = xl.sum(a)
    assert a.numpy().tolist() == [3.0] + [9.0] * 9


def test_a_harmless_assignment_does_not_hide_the_next() -> None:
    """Programs are kept by kind, and under noalias the kind does not say what overlaps."""
    a, b = ones(12), ones(12)
    xl.noalias(a)[1:] = b[:-1] * 5
    with xl.config(check_noalias=True), pytest.raises(NoAliasError):
        xl.noalias(a)[1:] = a[:-1] * 5


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (0, 3), (130, 70)])
def test_parts_of_joins_that_are_joins_have_windows_of_their_own(shape: tuple[int, int]) -> None:
    p = np.arange(float(np.prod(shape))).reshape(shape)
    a = xl.asarray(p)
    inner = xl.concat([a, a * 2], axis=0)
    nested = xl.concat([xl.concat([inner, inner + 1], axis=1), xl.concat([inner] * 2, axis=1)])
    q = np.concatenate([p, p * 2])
    wanted = np.concatenate([np.concatenate([q, q + 1], 1), np.concatenate([q, q], 1)])
    for _ in range(3):
        assert np.array_equal(np.asarray(xl.eval(nested)), wanted)
        padded = xl.pad(a, 2, constant_values=((1, 2), (3, 4)))
        assert np.array_equal(
            np.asarray(xl.eval(padded)), np.pad(p, 2, constant_values=((1, 2), (3, 4)))
        )
        assert np.array_equal(np.asarray(xl.eval(xl.sum(padded, axis=0))), xl.eval(padded).sum(0))
        blocks = xl.block([[a, a + 1], [a.T.T, -a]])
        assert np.array_equal(np.asarray(xl.eval(blocks)), np.block([[p, p + 1], [p, -p]]))
    assert xl.explain(padded).temporaries == ()
    target = xl.asarray(np.asarray(xl.eval(padded)))
    target[...] = xl.pad(target[2:-2, 2:-2] * 2, 2, constant_values=7)  # which it reads
    assert np.array_equal(np.asarray(target), np.pad(p * 2, 2, constant_values=7))
