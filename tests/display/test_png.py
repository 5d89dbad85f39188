"""PNG files: the same picture through matplotlib."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from xarraylite.display.draw import draw
from xarraylite.display.png import MOST_PIXELS, SCALE, write_png
from xarraylite.display.scene import STYLES, Box, Role, Scene, Words

TILED = "f32[3,5]{1,0:T(2,2)}"


def rgb(role: Role) -> np.ndarray:
    color = STYLES[role].light.fill
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)])


def read(path: Path) -> np.ndarray:
    return np.rint(matplotlib.image.imread(path)[..., :3] * 255).astype(int)


def test_the_picture_has_its_size_and_its_colours_in_their_places(tmp_path: Path) -> None:
    drawing = draw(TILED, path=False)
    path = tmp_path / "a.png"
    drawing.save(path)
    pixels = read(path)
    height, width = pixels.shape[:2]
    assert abs(width - drawing.scene.width * SCALE) <= 1
    assert abs(height - drawing.scene.height * SCALE) <= 1
    cells = [i for i in drawing.scene.items if isinstance(i, Box) and i.note]
    assert len(cells) == 24
    for cell in cells:
        if not cell.note.endswith("padding"):
            # Near the upper left corner there is nothing but the fill.
            x, y = int((cell.x + 5) * SCALE), int((cell.y + 5) * SCALE)
            assert np.array_equal(pixels[y, x], rgb(cell.role))
    assert np.array_equal(pixels[5, width // 2], rgb(Role.CARD))


def test_padding_is_hatched_and_numbers_are_written(tmp_path: Path) -> None:
    drawing = draw(TILED, path=False)
    path = tmp_path / "a.PNG"
    drawing.save(path)
    pixels = read(path)
    cells = {i.note: i for i in drawing.scene.items if isinstance(i, Box) and i.note}

    def inside(note: str) -> np.ndarray:
        box = cells[note]
        x0, y0 = int((box.x + 4) * SCALE), int((box.y + 4) * SCALE)
        x1, y1 = int((box.x + box.width - 4) * SCALE), int((box.y + box.height - 4) * SCALE)
        return pixels[y0:y1, x0:x1]

    hatched, number = inside("position 23: padding"), inside("position 17: element (2, 3)")
    for area, least in ((hatched, 0.1), (number, 0.05)):
        assert np.mean(np.any(area != area[0, 0], axis=-1)) > least
    assert number.min() < 60  # ink
    assert hatched.min() > 120  # a fine grey


def test_the_same_picture_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        draw(TILED).save(tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_texts_are_no_formulas(tmp_path: Path) -> None:
    words = Words(Role.TITLE, 5, 10, r"$\frac$")  # matplotlib would refuse this one
    card = Box(Role.CARD, 0, 0, 100, 20)
    write_png(Scene(100, 20, "dollars", (card, words)), tmp_path / "a.png")
    assert read(tmp_path / "a.png").min() < 60


def test_huge_pictures_are_scaled_down(tmp_path: Path) -> None:
    card = Box(Role.CARD, 0, 0, 60_000, 20)
    write_png(Scene(60_000, 20, "wide", (card,)), tmp_path / "wide.png")
    assert abs(read(tmp_path / "wide.png").shape[1] - MOST_PIXELS) <= 1


def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install xarraylite\[plot\]"):
        draw(TILED).save(tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()
    draw(TILED).save(tmp_path / "a.svg")


def test_matplotlib_is_imported_for_png_alone(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from xarraylite.display.draw import draw\n"
        f"draw({TILED!r}).save({str(tmp_path / 'a.svg')!r})\n"
        "assert not [name for name in sys.modules if name.startswith('matplotlib')]\n"
        f"draw({TILED!r}).save({str(tmp_path / 'a.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
