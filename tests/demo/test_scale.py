"""The demo on a mosaic on disk: the shade of the mosaic is that of the mosaic in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.demo import command
from xarraylite.demo.load import sample
from xarraylite.demo.terrain import Sun, hillshade

pytest.importorskip("zarr")


def test_a_mosaic_is_shaded_as_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str
) -> None:
    monkeypatch.setattr(command, "CHUNK", 300)
    terrain = sample()
    lines = command.run_scaled(xl, terrain, 4_000_000, tmp_path)
    assert lines[0].startswith("mosaic: [900, 900]")
    heights = xl.eval(xl.open(tmp_path / "mosaic.zarr"))
    side = heights.shape[0]
    rows, columns = terrain.heights.shape
    first = terrain.heights.numpy()
    assert side > rows
    np.testing.assert_array_equal(heights.numpy()[:rows, :columns], first)
    np.testing.assert_array_equal(heights.numpy()[rows, :columns], first[-1] + command.RISE[0])
    light = xl.eval(hillshade(xl, heights, terrain.grid, Sun())).numpy()
    stored = xl.eval(xl.open(tmp_path / "hillshade.zarr")).numpy()
    np.testing.assert_allclose(stored, light, rtol=0 if engine == "compiled" else 1e-12)
