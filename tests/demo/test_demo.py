"""The demo: its physics, its comparison with NumPy, and what it says to bad input."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
from matplotlib.colors import LightSource

import xarraylite as xl
from tests.cases import together
from xarraylite.__main__ import main
from xarraylite.demo import load, measure, terrain
from xarraylite.demo.load import Terrain
from xarraylite.demo.terrain import Grid, Sun

GRID = Grid(3.0, 4.0)


def hills(rows: int = 70, columns: int = 80, seed: int = 0) -> np.ndarray:
    """Steep, irregular ground: some of it slides at any angle of repose."""
    noise = np.random.default_rng(seed).normal(size=(rows, columns))
    return 100 * np.sin(np.arange(columns) / 7) + 20 * noise


def with_gaps(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values[5:9, 10] = values[0, :] = np.nan
    return values


def saved(folder: Path, values: object, name: str = "heights.npy") -> Path:
    path = folder / name
    np.save(path, np.asarray(values))
    return path


def demo(*arguments: object) -> int:
    return main(["demo", *[str(argument) for argument in arguments]])


# --- the formulas -------------------------------------------------------------------------------


@pytest.mark.parametrize("xp", [np, xl], ids=["numpy", "xarraylite"])
def test_a_plane_has_the_slope_aspect_and_light_it_should(xp: object) -> None:
    # It falls by 3/4 towards the east: the sun in the west shines on its back.
    height = -0.75 * GRID.dx * np.arange(6.0) * np.ones((5, 1))
    z = xl.XArray(height) if xp is xl else height
    rise = terrain.gradient(z, GRID)
    assert np.allclose(np.asarray(terrain.slope(xp, *rise)), math.atan(0.75), rtol=1e-15)
    assert np.allclose(np.asarray(terrain.aspect(xp, *rise)), 0.0, atol=1e-15)
    for azimuth, altitude, light in ((90, 45, 0.9899494936611665), (270, 20, 0.0), (0, 90, 0.8)):
        shade = terrain.hillshade(xp, z, GRID, Sun(azimuth, altitude))
        assert np.allclose(np.asarray(shade), light, rtol=1e-14, atol=1e-15)


def test_the_light_is_that_of_matplotlib() -> None:
    z = hills()
    ours = np.asarray(terrain.hillshade(xl, xl.XArray(z), GRID, Sun()))
    theirs = LightSource(315, 45).hillshade(z, dx=GRID.dx, dy=GRID.dy)[1:-1, 1:-1]
    # matplotlib stretches the light of all cells, the outermost included, to [0, 1].
    lit = (ours > 0) & (theirs > 0)
    stretch, shift = np.polyfit(ours[lit], theirs[lit], 1)
    assert np.allclose(stretch * ours[lit] + shift, theirs[lit], atol=1e-13)
    assert 0 <= ours.min() < 0.1
    assert 0.9 < ours.max() <= 1


def test_erosion_moves_rock_but_makes_none_and_stops_at_the_angle_of_repose() -> None:
    z = np.zeros((40, 50))
    z[20, 25] = 100.0  # a lone tower far from the edge
    u = xl.XArray(z)
    for _ in range(100):
        terrain.erode(xl, u, GRID, 30.0)
    after = u.numpy()
    assert after.sum() == pytest.approx(100.0, rel=1e-12)
    assert after.max() < 30.0
    gentle = 0.1 * np.arange(6.0) * np.ones((5, 1))
    v = xl.XArray(gentle)
    terrain.erode(xl, v, GRID, 30.0)
    assert np.array_equal(v.numpy(), gentle)


@pytest.mark.parametrize("change", [lambda z: z, with_gaps], ids=["whole", "gaps"])
def test_erosion_in_place_gives_the_bits_of_numpy(
    change: Callable[[np.ndarray], np.ndarray],
) -> None:
    z = change(hills())
    u, v = xl.XArray(z), z.copy()
    for _ in range(20):
        terrain.erode(xl, u, GRID, 20.0)
        terrain.erode(np, v, GRID, 20.0)
    assert np.array_equal(u.numpy(), v, equal_nan=True)
    assert np.array_equal(np.isnan(v), np.isnan(z))  # cells without data stay as they are
    assert not np.array_equal(v, z, equal_nan=True)


# --- measuring ----------------------------------------------------------------------------------


def test_erosion_allocates_what_explain_names(engine: str) -> None:
    place = Terrain("hills", "float64", xl.XArray(hills()), GRID, "m")
    phase, eroded, _ = measure.slide(xl, place, 4)
    named = [item.nbytes for item in phase.plan.temporaries]
    assert len(named) == (engine == "compiled")  # neighbours on all sides: no order is safe
    assert phase.memory.temporaries == 3 * len(named)
    assert sum(named) <= phase.memory.bytes / 3 <= sum(named) + 64
    assert phase.memory.bytes // 3 < phase.numpy_peak
    assert np.array_equal(place.heights.numpy(), hills())  # the caller's terrain is left alone
    assert not np.array_equal(eroded, hills())


def test_shading_into_existing_memory_allocates_nothing() -> None:
    place = Terrain("hills", "float64", xl.XArray(hills()), GRID, "m")
    phase, light, differences = measure.shade(xl, place, Sun())
    assert (phase.memory.bytes, phase.memory.temporaries) == (0, 0)
    assert len(phase.ours) == len(phase.theirs) == measure.ROUNDS
    assert np.all((light >= 0) & (light <= 1))
    assert [item.what for item in differences] == ["slope", "aspect", "hillshade"]
    assert all(item.fits for item in differences)


@together(
    ("ours", "theirs", "ulp"),
    [
        (1.0, 1.0, 0.0),
        (1.0, np.nextafter(1.0, 2), 1.0),
        (-1.0, np.nextafter(-1.0, -3), 1.0),
        (0.0, -0.0, 0.0),
        (np.nan, np.nan, 0.0),
        (np.inf, np.inf, 0.0),
        (np.nan, 1.0, np.inf),
        (1.0, np.nan, np.inf),
        (np.inf, -np.inf, np.inf),
        (np.inf, 1.0, np.inf),
    ],
)
def test_differences_are_counted_in_ulp(ours: float, theirs: float, ulp: float) -> None:
    found = measure.in_ulp("x", xl.XArray([[ours]]), np.array([[theirs]]))
    assert found.largest == ulp
    assert found.fits == (ulp <= 8)


# --- the command --------------------------------------------------------------------------------


def test_the_sample_is_shaded_and_eroded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "shade.png"
    assert demo("--out", picture, "--steps", 3) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "344 x 403 heights (int16)" in said.out
    assert "from 236 to 1076 m, cells of 74.27 x 92.67 m" in said.out
    assert said.out.count("float64[342, 401] into") == 2
    assert "allocated each time: 0 bytes (temporaries: 0); by NumPy:" in said.out
    assert "0, same bits" in said.out
    assert "TOO LARGE" not in said.out
    assert max(len(line) for line in said.out.splitlines()) <= 110
    pixels = matplotlib.image.imread(picture)
    assert pixels.shape == (342, 401, 4)
    assert np.array_equal(pixels[..., 0], pixels[..., 1])
    assert pixels[..., 0].std() > 0.1
    assert 0.4 < pixels[..., 0].mean() < 0.7


@pytest.mark.parametrize(
    "values",
    [
        hills(12, 13),
        with_gaps(hills(12, 13)),
        hills(12, 13).astype(np.float32),
        hills(12, 13).astype(np.int16),
        np.arange(9, dtype=np.uint8).reshape(3, 3),
        np.zeros((4, 5)),
        np.full((4, 5), 1e308) * (np.arange(5) % 2),
        np.where(np.eye(5) == 1, np.inf, 1.0),
        np.where(np.eye(3) == 1, 1.0, np.nan),
        np.asfortranarray(hills(12, 13)),
    ],
    ids=[
        "float64",
        "gaps",
        "float32",
        "int16",
        "uint8",
        "flat",
        "huge",
        "infinite",
        "sparse",
        "column-major",
    ],
)
def test_heights_of_the_user(
    values: np.ndarray, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, picture = saved(tmp_path, values), tmp_path / "out.png"
    assert demo("--array", path, "--out", picture, "--steps", 2) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert f"heights.npy: {values.shape[0]} x {values.shape[1]} heights" in said.out
    rows, columns = values.shape
    assert matplotlib.image.imread(picture).shape[:2] == (rows - 2, columns - 2)


BAD: list[tuple[str, object, str]] = [
    ("0-d", 3.0, "shape ()"),
    ("1-d", [1.0, 2.0, 3.0], "shape (3,)"),
    ("3-d", np.zeros((3, 3, 3)), "shape (3, 3, 3)"),
    ("too-small", np.zeros((3, 2)), "at least 3 x 3"),
    ("empty", np.zeros((0, 5)), "at least 3 x 3"),
    ("nan-only", np.full((4, 4), np.nan), "no finite number"),
    ("inf-only", np.full((4, 4), np.inf), "no finite number"),
    ("bool", np.zeros((4, 4), bool), "holds bool"),
    ("complex", np.zeros((4, 4), complex), "holds complex128"),
    ("text", np.full((4, 4), "abc"), "heights.npy"),
    ("dates", np.zeros((4, 4), "M8[s]"), "heights.npy"),
    ("records", np.zeros((4, 4), "i4,f8"), "heights.npy"),
]


def refusal(said: pytest.CaptureResult[str]) -> str:
    """The one line that a refusal prints."""
    assert said.out == ""
    (line,) = said.err.splitlines()
    assert line.startswith("xarraylite demo: ")
    return line


@pytest.mark.once
@pytest.mark.parametrize(("values", "why"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
def test_unusable_heights_get_one_line_and_status_2(
    values: object, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, picture = saved(tmp_path, values), tmp_path / "out.png"
    assert demo("--array", path, "--out", picture) == 2
    assert why in refusal(capsys.readouterr())
    assert not picture.exists()


def damaged(folder: Path) -> dict[str, Path]:
    whole = saved(folder, hills()).read_bytes()
    files = {
        "empty.npy": b"",
        "text.npy": b"1 2 3\n4 5 6\n",
        "cut.npy": whole[:200],
        "longer.npy": whole + b"x",
        "header.npy": whole[:100],
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    objects = np.empty((4, 4), object)
    np.save(folder / "objects.npy", objects, allow_pickle=True)
    np.savez(folder / "several.npz", a=hills(), b=hills())
    names = [*files, "objects.npy", "several.npz", "missing.npy", "."]
    return {name: folder / name for name in names}


@pytest.mark.once
@pytest.mark.parametrize(
    "name",
    [
        "empty.npy",
        "text.npy",
        "cut.npy",
        "longer.npy",
        "header.npy",
        "objects.npy",
        "several.npz",
        "missing.npy",
        ".",
    ],
)
def test_unusable_files_get_one_line_and_status_2(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert demo("--array", damaged(tmp_path)[name], "--out", tmp_path / "out.png") == 2
    assert name.strip(".") in refusal(capsys.readouterr())


def test_a_picture_that_cannot_be_written_gets_one_line_and_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, hills(5, 5))
    assert demo("--array", path, "--out", tmp_path / "nowhere" / "out.png") == 2
    assert "there is no directory" in refusal(capsys.readouterr())
    assert demo("--array", path, "--out", tmp_path, "--steps", 1) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert str(tmp_path) in line


def test_a_missing_matplotlib_gets_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.image", None)
    assert demo("--out", tmp_path / "out.png") == 2
    assert "pip install xarraylite[demo]" in refusal(capsys.readouterr())


def test_missing_sample_data_get_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(load, "SAMPLE", "no_such_file.npz")
    assert demo("--out", tmp_path / "out.png") == 2
    assert "--array FILE.npy" in refusal(capsys.readouterr())


def test_a_difference_out_of_bounds_is_status_1(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measure, "LIGHT_BOUND", -1.0)
    path = saved(tmp_path, hills(6, 7))
    assert demo("--array", path, "--out", tmp_path / "out.png", "--steps", 1) == 1
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "TOO LARGE" in x]
    assert "hillshade" in line


def test_an_interrupt_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(load, "XArray", interrupt)
    assert demo("--out", tmp_path / "out.png") == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("steps", ["0", "-1", "many"])
def test_steps_are_checked(steps: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        demo("--steps", steps)
    assert stop.value.code == 2
    assert "--steps" in capsys.readouterr().err


@pytest.mark.once
def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "xarraylite", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    shown = run("--version")
    assert (shown.returncode, shown.stdout) == (0, f"xarraylite {xl.__version__}\n")
    missing = run("demo", "--array", str(tmp_path / "missing.npy"))
    assert missing.returncode == 2
    assert missing.stderr.count("\n") == 1
    assert "missing.npy" in missing.stderr
    assert run().returncode == 2
