"""How steps are set up: loop order and mode, parts of reductions, what stands in the block."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.compiler.test_graph import graph_into, graph_of, ones, positions
from tests.compiler.test_plan import program_for, program_into
from xarraylite.codegen.emit.folding import block_of
from xarraylite.compiler.lower import lower
from xarraylite.compiler.plan import plan
from xarraylite.compiler.program import KernelStep
from xarraylite.compiler.steps import CHUNK, LONG_RESULT, STREAM_BYTES, Range, chunk_ranges
from xarraylite.ir.node import Reduce

pytestmark = pytest.mark.usefixtures("compiled")


def step_for(expression: Any) -> KernelStep:
    (step,) = program_for(expression).steps
    assert isinstance(step, KernelStep)
    return step


def step_into(destination: Any, expression: Any) -> KernelStep:
    (step,) = program_into(destination, expression).steps
    assert isinstance(step, KernelStep)
    return step


def tag(step: KernelStep) -> str:
    return step.note[step.note.index("[") :]


# --- maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((), "[direct, loops 1]"),
        ((7,), "[direct, loops 7]"),
        ((3, 4, 5), "[direct, loops 60]"),
        ((1, 4, 1), "[direct, loops 4]"),
    ],
)
def test_one_layout_is_one_loop(shape: tuple[int, ...], expected: str) -> None:
    assert tag(step_for(ones(*shape) + ones(*shape) * 2)) == expected


def test_loops_follow_the_destination() -> None:
    a = ones(30, 20)
    assert tag(step_for(a[:, ::2] + 1)) == "[direct, loops 300]"
    assert tag(step_for(a[:, 1:] + 1)) == "[direct, loops 30x19]"
    assert tag(step_for(ones(20) + ones(30, 1))) == "[direct, loops 30x20]"
    column = xl.empty((30, 20), layout=xl.column_major)
    assert tag(step_into(column, ones(5, 6, 20)[0, 0] + ones(30, 1))) == "[direct, loops 20x30]"


@together(
    ("shape", "axes", "expected"),
    [
        ((64, 64), (1, 0), "[tiled, loops 64x64]"),
        ((100, 16), (1, 0), "[tiled, loops 16x100]"),
        ((100, 15), (1, 0), "[direct, loops 15x100]"),
        ((15, 100), (1, 0), "[direct, loops 100x15]"),
        ((20, 30, 40), (2, 1, 0), "[tiled, loops 30x40x20]"),
        ((20, 30, 40), (1, 0, 2), "[direct, loops 30x20x40]"),
        ((20, 30, 40), (0, 2, 1), "[tiled, loops 20x40x30]"),
        ((20, 30, 40), (1, 2, 0), "[tiled, loops 1200x20]"),
    ],
)
def test_operands_that_disagree_are_tiled(
    shape: tuple[int, ...], axes: tuple[int, ...], expected: str
) -> None:
    destination = xl.empty(tuple(shape[k] for k in axes))
    assert tag(step_into(destination, xl.permute_dims(ones(*shape), axes) + 1)) == expected


def test_tiles_are_counted_in_rows_of_tiles() -> None:
    step = step_into(xl.empty((130, 70)), ones(70, 130).T * 2)
    assert tag(step) == "[tiled, loops 130x70]"
    assert (step.work.outer, step.work.inner) == (-(-130 // 128), 70)


@together("axes", [(2, 1, 0), (2, 0, 1), (1, 2, 0)])
@together("shape", [(20, 30, 100), (17, 20, 49), (30, 3, 16), (18, 19, 31)])
def test_short_rows_of_tiles(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Rows end within lines of their neighbours, and the lines of the next tile are asked for."""
    x = np.arange(math.prod(shape), dtype=np.float32).reshape(shape)
    moved = xl.permute_dims(xl.asarray(x), axes)
    destination = xl.empty(moved.shape, dtype="float32")
    step = step_into(destination, moved + 1)
    if axes == (2, 1, 0):
        assert tag(step).startswith("[tiled")
        assert step.work.outer == shape[1]
    for out in (
        destination,
        xl.zeros((*moved.shape[:-1], 40), dtype="float32")[..., : shape[axes[-1]]],
    ):
        out[...] = moved + 1
        assert np.array_equal(np.asarray(out), x.transpose(axes) + 1)
    destination[...] = xl.permute_dims(xl.asarray(x)[:, ::-1, ::-1], axes)
    assert np.array_equal(np.asarray(destination), x[:, ::-1, ::-1].transpose(axes))


def test_a_lazy_result_of_column_major_operands_is_column_major() -> None:
    a = ones(70, 130).T
    assert xl.eval(a * 2).strides == (1, 130)
    assert "tiled" in str(xl.explain(xl.empty((130, 70)), a * 2))


def test_large_contiguous_results_bypass_the_caches() -> None:
    n = STREAM_BYTES // 8
    one = ones()
    assert tag(step_for(xl.broadcast_to(one, (n,)) + 1)) == f"[non-temporal, loops {n}]"
    assert tag(step_for(xl.broadcast_to(one, (n - 2,)) + 1)) == f"[direct, loops {n - 2}]"
    short = xl.broadcast_to(ones(300, 1), (300, n // 300 + 1))
    assert tag(step_for(short * ones(n // 300 + 1))).startswith("[non-temporal")
    narrow = xl.broadcast_to(ones(n // 1000 + 1, 1), (n // 1000 + 1, 1000))
    assert tag(step_for(narrow * ones(1000))).startswith("[direct")


def test_what_is_read_twice_counts_once() -> None:
    n = STREAM_BYTES // 20
    a, b = xl.adapt(np.zeros(n)), xl.adapt(np.zeros(n))
    assert tag(step_for(b[1:] - a[:-1])).startswith("[non-temporal")
    assert tag(step_for(a[1:] - a[:-1])).startswith("[direct")
    assert tag(step_for(a[2:] - 2 * a[1:-1] + a[:-2])).startswith("[direct")
    for e, mode in ((b - a, "non-temporal"), (a[1:] - a[:-1], "direct"), (a - b[:], "non")):
        for _ in range(3):  # also by a plan that is kept with the kind
            assert f"[{mode}" in str(xl.explain(e))
            xl.eval(e)


def test_what_is_updated_in_place_is_not_streamed() -> None:
    """It is in the caches already, or read anyway."""
    a = xl.adapt(np.zeros(STREAM_BYTES // 8))
    assert tag(step_into(a, a + 1)).startswith("[direct")
    assert tag(step_into(a, positions(a.size) * 2.0)).startswith("[non-temporal")


def test_shifted_updates_run_in_order() -> None:
    a = ones(40, 30)
    down, up = step_into(a[:-1], a[1:] + 1), step_into(a[1:], a[:-1] + 1)
    assert (tag(down), down.work.ordered, down.work.falling) == (
        "[staged, loops 1170]",
        True,
        False,
    )
    assert (tag(up), up.work.ordered, up.work.falling) == ("[falling, loops 1170]", True, True)


def test_cost_grows_with_the_work_and_scalars_cost_nothing() -> None:
    cheap, expensive = step_for(ones(1000) + 1), step_for(xl.exp(ones(1000)) / 3)
    assert cheap.work.cost == 2000
    assert expensive.work.cost > 4 * cheap.work.cost


def test_vectors_hold_twice_as_many_numbers_of_32_bits() -> None:
    wide, narrow = (step_for(xl.ones(1000, dtype=name) + 1) for name in ("float64", "float32"))
    assert wide.work.cost == 2000
    assert narrow.work.cost == 1000


def test_traffic_counts_distinct_bytes() -> None:
    assert step_for(ones(30, 20) + ones(20)).traffic == 8 * (600 + 20 + 600)
    assert step_for(positions(50) + 1).traffic == 400
    assert step_for(xl.sum(ones(30, 20, dtype="float32"), axis=0)).traffic == 4 * 620


# --- the block -----------------------------------------------------------------------------------


def test_kernels_are_shared_by_all_extents() -> None:
    one, two = step_for(ones(30, 20)[:, 1:] + 1), step_for(ones(7, 9)[:, 2:] + 8)
    assert one.kernel is two.kernel
    assert one.block != two.block


def test_addresses_point_at_the_first_element() -> None:
    a = ones(10)
    graph, target = graph_into(xl.empty(4), a[8:0:-2] * 2)
    (step,) = plan(graph, target, False).steps
    assert isinstance(step, KernelStep)
    # The leaf's own first element is a[8]; the kernel starts there and walks by -16.
    assert [(slot, delta) for _, slot, delta, _ in step.addresses] == [(0, 0), (1, 0)]
    assert -16 in step.block


def test_a_destination_that_runs_backwards_is_written_forwards() -> None:
    step = step_into(xl.empty(10)[::-1], ones(10) * 2)
    assert [(slot, delta) for _, slot, delta, _ in step.addresses] == [(0, -72), (1, 72)]


# --- fixed parts of reductions -------------------------------------------------------------------


def parts_of(expression: Any) -> tuple[Range, ...]:
    graph = graph_of(expression)
    root = len(graph.nodes) - 1
    node = graph.nodes[root]
    assert isinstance(node, Reduce)
    return chunk_ranges(lower(graph, graph.args[root][0], {}, root), node.axes)


def lazily(*shape: int) -> Any:
    """An operand of any size in eight bytes."""
    return xl.broadcast_to(ones(), shape)


@together(
    ("shape", "axis", "count"),
    [
        ((2 * CHUNK - 1,), 0, 1),
        ((2 * CHUNK,), 0, 2),
        ((10 * CHUNK + 1,), 0, 11),
        ((7, CHUNK), 1, 1),
        ((7, 2 * CHUNK), 1, 2),
        ((8, 2 * CHUNK), 1, 1),
        ((100, CHUNK), (0, 1), 100),
    ],
)
def test_few_results_are_folded_from_parts(shape: tuple[int, ...], axis: Any, count: int) -> None:
    assert len(parts_of(xl.sum(lazily(*shape), axis=axis))) == count


def test_long_results_are_folded_from_parts() -> None:
    """Python must see a Ctrl-C: no single call of a kernel may last."""
    cheap = parts_of(xl.sum(lazily(8, 1 << 30), axis=1))
    assert len(cheap) == (1 << 30) // LONG_RESULT
    assert parts_of(xl.sum(xl.sin(lazily(8, 1 << 30)), axis=1)) == cheap
    rows = parts_of(xl.sum(ones(1, 1 << 14) * lazily(1 << 20, 1), axis=0))
    tile = block_of(np.dtype("f8"))
    assert len(rows) == pytest.approx((1 << 20) * tile / LONG_RESULT, rel=0.3)


CUT = [
    (xl.sum, (3 * CHUNK + 5,), (0,)),
    (xl.sum, (3, 2 * CHUNK + 7), (1,)),
    (xl.sum, (1111, 300), (0, 1)),
    (xl.max, (3, 1111, 300), (1, 2)),
    (xl.sum, (2_000_000, 6), (0,)),
]


@pytest.mark.parametrize(("function", "shape", "axes"), CUT)
def test_parts_cover_everything_once(
    function: Any, shape: tuple[int, ...], axes: tuple[int, ...]
) -> None:
    found = parts_of(function(lazily(*shape), axis=axes))
    assert len(found) > 1
    rows, width = found[-1][1], found[-1][3]
    seen: dict[int, int] = dict.fromkeys(range(rows), 0)
    for r0, r1, j0, j1 in found:
        assert 0 <= r0 < r1 <= rows
        assert 0 <= j0 < j1 <= width
        for r in range(r0, r1):
            assert seen[r] == j0
            seen[r] = j1
    assert set(seen.values()) == {width}


@pytest.mark.parametrize("layout", ["row", "column", "reversed", "strided"])
def test_parts_do_not_depend_on_the_destination(layout: str) -> None:
    values = np.arange(400_000 * 6).reshape(400_000, 2, 3) % 11
    e = xl.sum(xl.asarray(values.astype(float)), axis=0)
    destinations = {
        "row": xl.zeros((2, 3)),
        "column": xl.zeros((2, 3), layout=xl.column_major),
        "reversed": xl.zeros((2, 3))[::-1, ::-1],
        "strided": xl.zeros((4, 9))[::2, ::3],
    }
    destination = destinations[layout]
    program = program_into(destination, e)
    assert len(program.steps) == 2
    expected = program_into(destinations["row"], e).steps[0]
    first = program.steps[0]
    assert isinstance(first, KernelStep)
    assert isinstance(expected, KernelStep)
    assert first.work == expected.work
    destination[...] = e
    assert np.array_equal(destination.numpy(), values.sum(axis=0))


@together(
    ("expression", "form"),
    [
        (lambda: xl.sum(ones(50, 60), axis=1), "[along, 50 results of 60]"),
        (lambda: xl.sum(ones(50, 60), axis=0), "[across, 60 results of 50]"),
        (lambda: xl.sum(ones(50, 60).T, axis=0), "[along, 50 results of 60]"),
        (lambda: xl.sum(ones(50, 60).T, axis=1), "[across, 60 results of 50]"),
        (lambda: xl.sum(ones(50, 60)), "[along, 1 results of 3000]"),
        (lambda: xl.sum(ones(4, 50, 60), axis=(0, 2)), "[along, 50 results of 240]"),
        (lambda: xl.sum(ones(4, 50, 60), axis=1), "[across, 240 results of 50]"),
        # Too short a row for a loop of its own.
        (lambda: xl.sum(ones(100, 5), axis=1), "[across, 100 results of 5]"),
    ],
)
def test_forms(expression: Any, form: str) -> None:
    assert tag(step_for(expression())) == form
