"""Draw the pictures of the page on layouts with the package itself, when the docs are built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from xarraylite.display.draw import draw

# Name of the file, what it shows, and how.
PICTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "row_major": ("f32[3,5]{1,0}", {}),
    "column_major": ("f32[3,5]{0,1}", {}),
    "tiled": ("f32[3,5]{1,0:T(2,2)}", {}),
    "nested": ("f32[4,8]{1,0:T(2,4)(2,1)}", {}),
    "combined": ("f32[2,2,3,2]{3,2,1,0:T(*,2,*,3)}", {}),
    "packed": ("bf16[10,300]{1,0:T(8,128)(2,1)}", {"max_columns": 14}),
    "padded_tile": ("f32[3,5]{1,0:T(2,2)(3,3)}", {}),
}


def write_pictures(folder: Path) -> None:
    """Write every picture into the folder, leaving unchanged ones untouched."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (text, options) in PICTURES.items():
        path = folder / f"{name}.svg"
        svg = draw(text, **options).svg
        if not path.exists() or path.read_text(encoding="utf-8") != svg:
            path.write_text(svg, encoding="utf-8")
    for stale in {*folder.glob("*.svg")} - {folder / f"{name}.svg" for name in PICTURES}:
        stale.unlink()
