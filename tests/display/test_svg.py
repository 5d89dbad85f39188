"""SVG text: well-formed, escaped, and with nothing in it that could clash on a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.cases import together
from xarraylite.display.scene import STYLES, Box, Colors, Lines, Role, Scene, Words, text_width
from xarraylite.display.svg import element, number, render

NAMESPACE = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('&')</script> \"quoted\" ]]> é ⋯"


def scene(*items: Box | Lines | Words, label: str = "a picture") -> Scene:
    return Scene(200, 100, label, items)


@together(
    ("value", "text"),
    [(0, "0"), (-0.001, "0"), (1.5, "1.5"), (10, "10"), (1 / 3, "0.33"), (-2.25, "-2.25")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


def test_elements_are_escaped() -> None:
    parsed = ET.fromstring(element("a", {"b": HOSTILE, "c": 1.25}))
    assert parsed.attrib == {"b": HOSTILE, "c": "1.25"}


def test_words_notes_and_labels_are_escaped() -> None:
    box = Box(Role.CELL_0, 1, 2, 3, 4, note=HOSTILE)
    text = render(scene(box, Words(Role.TITLE, 5, 6, HOSTILE), label=HOSTILE))
    assert "<script" not in text
    root = ET.fromstring(text)
    assert root.get("aria-label") == HOSTILE
    assert root.findtext(f"{NAMESPACE}text") == HOSTILE
    assert root.findtext(f"{NAMESPACE}rect/{NAMESPACE}title") == HOSTILE


def test_items_keep_their_order_and_places() -> None:
    lines = Lines(Role.PATH, (((0, 0), (1.5, 2)), ((3, 4), (5, 6), (7, 8))))
    box = Box(Role.CARD, 1, 2, 3, 4, 5)
    words = Words(Role.NUMBER, 30, 40, "17", 0.5)
    root = ET.fromstring(render(scene(words, lines, box)))
    assert [child.tag.removeprefix(NAMESPACE) for child in root] == [
        "style",
        "text",
        "path",
        "rect",
    ]
    text, path, rect = root[1:]
    assert path.get("d") == "M0 0L1.5 2M3 4L5 6L7 8"
    assert [rect.get(key) for key in ("x", "y", "width", "height", "rx")] == list("12345")
    assert (text.get("x"), text.get("text-anchor")) == ("30", "middle")
    assert float(text.get("y", "0")) > 40  # the base line lies below the middle
    assert root.get("viewBox") == "0 0 200 100"
    assert (root.get("width"), root.get("height")) == ("200", "100")


def test_the_sheet_has_the_roles_that_are_used_in_both_lights() -> None:
    text = render(scene(Lines(Role.SKIP, (((0, 0), (1, 1)),)), Words(Role.TITLE, 0, 0, "t")))
    light, _, dark = text.partition("@media (prefers-color-scheme: dark)")
    for role in (Role.SKIP, Role.TITLE):
        style = STYLES[role]
        for part, colors in ((light, style.light), (dark, style.dark)):
            (rule,) = re.findall(rf"\.xl-{role.value}\{{(.*?)\}}", part)
            assert f"fill:{colors.fill or 'none'};stroke:{colors.stroke or 'none'};" in rule
    assert "stroke-dasharray:2 3.5" in light
    assert "xl-card" not in text


def test_pictures_share_a_page() -> None:
    text = render(scene(Words(Role.TITLE, 0, 0, "t")))
    root = ET.fromstring(text)
    assert not [node for node in root.iter() if "id" in node.attrib]
    classes = {node.attrib["class"] for node in root.iter() if "class" in node.attrib}
    assert all(name.startswith("xl-") for name in classes)
    assert set(re.findall(r"\.([a-z]\S*?)\{", text)) <= classes


def luminance(color: str) -> float:
    def linear(value: float) -> float:
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(color[k : k + 2], 16) / 255) for k in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("light", [True, False], ids=["light", "dark"])
def test_every_colour_is_legible(light: bool) -> None:
    def colors(role: Role) -> Colors:
        return STYLES[role].light if light else STYLES[role].dark

    page = colors(Role.CARD).fill
    for role in (Role.TITLE, Role.TEXT, Role.HEADER, Role.ELLIPSIS):
        assert contrast(colors(role).fill, page) > 4.5
    for bead in (Role.BEAD_0, Role.BEAD_1, Role.BEAD_2, Role.BEAD_3):
        tint = colors(bead).fill
        assert contrast(colors(Role.NUMBER).fill, tint) > 7
        for line in (Role.TILE_1, Role.TILE_2, Role.TILE_3, Role.PATH):
            assert contrast(colors(line).stroke, tint) > 3


def test_every_role_has_a_look() -> None:
    assert set(STYLES) == set(Role)
    assert text_width(Role.NUMBER, "1234") == pytest.approx(4 * text_width(Role.NUMBER, "1"))
