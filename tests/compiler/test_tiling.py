"""Which operands of a tiled kernel are transposed, and how tiles are stored."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.compiler.steps import STREAM_BYTES
from xarraylite.compiler.tiling import MOST_CROSSED

pytestmark = pytest.mark.usefixtures("compiled")


def ir(destination: Any, expression: Any) -> str:
    report = xl.explain(destination, expression)
    assert "tiled" in str(report)
    (source,) = report.sources
    return source


def blocks(source: str) -> int:
    """Operands that are transposed: each asks for sixteen lines (of float32)."""
    assert source.count("shufflevector") % 64 == 0
    return source.count("shufflevector") // 64


def plane(*shape: int, dtype: str = "float32") -> Any:
    return xl.zeros(shape, dtype=dtype)


def test_operands_across_the_destination_are_transposed() -> None:
    out, a, b = plane(40, 50), plane(50, 40), plane(40, 50)
    assert blocks(ir(out, a.T)) == 1
    assert blocks(ir(out, a.T + b)) == 1
    assert blocks(ir(out, a.T + plane(50, 40).T)) == 2


def test_no_more_than_the_stack_should_hold() -> None:
    out = plane(40, 50)
    total = plane(50, 40).T
    for _ in range(MOST_CROSSED + 1):
        total = total * plane(50, 40).T
    assert blocks(ir(out, total)) == MOST_CROSSED


@pytest.mark.usefixtures("gathered")
def test_the_others_are_read_as_they_lie() -> None:
    out, a, wide = plane(40, 50), plane(50, 40), plane(50, 80)
    assert blocks(ir(out, xl.flip(a, axis=1).T)) == 0
    assert blocks(ir(out, a.T + wide[:, ::2].T)) == 1
    assert blocks(ir(out, out + a.T)) == 1
    columns = xl.asarray(np.arange(50)[::-1].copy())
    assert "shufflevector" not in "".join(xl.explain(out, a[columns].T).sources)


def test_large_results_are_stored_in_whole_lines_past_the_caches() -> None:
    n = -(-int((STREAM_BYTES // 8) ** 0.5) // 16) * 16  # whole lines
    assert "nontemporal" in ir(plane(n, n), plane(n, n).T)
    assert "nontemporal" not in ir(plane(n - 32, n), plane(n, n - 32).T)


def test_short_rows_that_share_lines_are_stored_as_usual() -> None:
    n = STREAM_BYTES // 8 // 61 + 1
    assert "nontemporal" not in ir(plane(n, 61), plane(61, n).T)
    assert "nontemporal" in ir(plane(n, 64), plane(64, n).T)


def test_what_is_updated_in_place_is_not_stored_past_the_caches() -> None:
    n = int((STREAM_BYTES // 4) ** 0.5) + 1
    a = xl.adapt(np.zeros((n, n), np.float32))
    assert "nontemporal" not in ir(a, a + plane(n, n).T)


def test_strips_are_higher_where_columns_compete_for_one_set() -> None:
    def height(stride: int) -> int:
        source = ir(plane(40, 50), plane(50, stride)[:, :40].T)
        return max(int(size) for size in re.findall(r"alloca \[(\d+) x i8\]", source))

    assert height(1 << 14) > 2 * height((1 << 14) + 16)


@pytest.mark.parametrize(("dtype", "columns"), [("uint8", 16), ("uint8", 60), ("int16", 31)])
def test_small_elements_are_transposed_though_lines_hold_several_rows(
    dtype: str, columns: int
) -> None:
    values = np.random.default_rng(0).integers(0, 120, (50, columns)).astype(dtype)
    out, a = plane(columns, 50, dtype=dtype), xl.asarray(values)
    assert "shufflevector" in ir(out, a.T)
    out[...] = a.T
    assert np.array_equal(out.numpy(), values.T)
