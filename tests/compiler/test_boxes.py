"""Tiled operands in plans: boxes, their loops and kernels, lanes, and what is copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.compiler.test_plan import program_into
from xarraylite.compiler.program import KernelStep

pytestmark = pytest.mark.usefixtures("compiled")

F32, PAIRS = "{1,0:T(8,128)}", "{1,0:T(8,128)(2,1)}"


def tiled(*shape: int, layout: str = F32, dtype: str = "float32") -> xl.XArray:
    return xl.ones(shape, dtype=dtype, layout=layout)


def steps_of(destination: Any, expression: Any) -> list[str]:
    return list(xl.explain(destination, expression).steps)


def test_whole_tiles_of_one_layout_are_one_flat_loop() -> None:
    a = tiled(32, 512)
    assert steps_of(a, a + 1) == ["result [direct, loops 16384]"]
    assert steps_of(a[:16], a[16:] + 1) == ["result [direct, loops 8192]"]


def test_partial_tiles_are_edges_beside_an_interior() -> None:
    a = tiled(20, 300)
    found = xl.explain(xl.empty((20, 300), dtype="float32", layout=F32), a + 1)
    assert len(found.steps) == 4
    assert found.steps[0] == "result [direct, loops 2x2048]"
    assert len(set(found.sources)) == 1, "boxes of one evaluation share a kernel"
    assert found.temporaries == ()


def test_rows_and_tiles_meet_in_one_kernel() -> None:
    a, b = tiled(64, 512), xl.ones((64, 512), dtype="float32")
    found = xl.explain(b, a + b)
    assert found.steps == ("result [direct, loops 8x8x4x128]",)
    assert found.temporaries == ()


def test_pairs_of_rows_are_lanes() -> None:
    a = tiled(64, 512, layout=PAIRS, dtype="bfloat16")
    b = xl.ones((64, 512), dtype="bfloat16")
    assert steps_of(a, b * 2) == ["result [interleaved, loops 8x4x4x2x128]"]
    assert steps_of(b, a * 2) == ["result [interleaved, loops 8x4x4x2x128]"]
    assert steps_of(a, a * 2) == ["result [direct, loops 32768]"]


def test_tiles_with_nothing_in_common_are_named() -> None:
    """Where borders of tiles hardly ever meet, there would be too many boxes."""
    a = xl.ones(300_000, layout="{0:T(2)(3)}")
    b = xl.ones((600, 500), layout="{1,0:T(13,17)}")
    c = xl.ones((600, 500), layout="{1,0:T(16,19)}")
    assert xl.explain(a, a + 1).temporaries == ()
    found = xl.explain(xl.empty((600, 500)), b + c)
    assert [t.nbytes for t in found.temporaries] == [2_400_000]
    assert "too little in common" in found.temporaries[0].reason
    np.testing.assert_array_equal(np.asarray(xl.eval(b + c)), 2)


@pytest.mark.parametrize("layout", ["{0:T(2)(*,3)}", "{0:T(2)(2)(*,3)}"])
def test_layouts_that_are_no_loop_nest_are_copied_by_numpy(layout: str) -> None:
    a = xl.asarray(np.arange(12.0), layout=layout)
    assert any("NumPy copies elements" in step for step in xl.explain(a + 1).steps)
    np.testing.assert_array_equal(np.asarray(xl.eval(a + 1)), np.arange(12.0) + 1)
    a += 1
    np.testing.assert_array_equal(np.asarray(a), np.arange(12.0) + 1)


def test_what_is_read_where_it_is_written_costs_nothing() -> None:
    a = tiled(20, 300)
    flat = xl.ones(2048, dtype="float32", layout="{0:T(1024)}")
    grid = flat.bitcast("f32[16,128]{1,0:T(8,128)}")
    assert xl.explain(a, a * 2).temporaries == ()
    assert xl.explain(a[1:, 5:], a[1:, 5:] * 2).temporaries == ()
    assert xl.explain(a[:10], a[10:] * 2).temporaries == (), "rows apart, tiles shared"
    assert xl.explain(grid[:8], grid[8:] + 1).temporaries == ()
    assert len(xl.explain(a[::-1], a * 2).temporaries) == 1


@pytest.mark.parametrize("layout", ["{0:E(1)}", "{0:T(16)E(1)}"])
def test_elements_that_share_bytes_are_written_by_one_thread(layout: str) -> None:
    """Every step, whatever it computes: two threads would read and write one byte in turn."""
    a = xl.zeros((64, 300), dtype="bool")
    to = xl.zeros(64, dtype="bool", layout=layout)
    for expression in (xl.any(a, axis=1), a[:, 0], xl.concat([a[:32, 0], a[32:, 1]])):
        steps = [s for s in program_into(to, expression).steps if isinstance(s, KernelStep)]
        assert any(slot == 0 for s in steps for _, slot, *_ in s.addresses[:1])
        assert all(s.work.ordered for s in steps if s.addresses[0][1] == 0)
