"""A tiny builder of SVG: elements in, text out, everything escaped.

Colours are in one style sheet, once for light and once for dark surroundings, so the same file
suits both.  Class names carry a prefix because the sheet of an inline SVG rules the whole page;
nothing has an ``id``, so any number of pictures share one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import singledispatch
from xml.sax.saxutils import escape, quoteattr

from .scene import STYLES, Box, Colors, Item, Lines, Role, Scene, Style, Words

PREFIX = "xl"
MONO = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
SANS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', 'DejaVu Sans', sans-serif"

_ANCHORS = {0.0: "start", 0.5: "middle", 1.0: "end"}


def number(value: float) -> str:
    """Return a coordinate with at most two decimals.

    Examples
    --------
    >>> number(3.0), number(0.125)
    ('3', '0.12')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(name: str, attributes: Mapping[str, str | float], content: str = "") -> str:
    """Return one element; ``content`` is SVG already.

    Examples
    --------
    >>> element("text", {"x": 1.5, "class": "a<b"}, escape("1 < 2"))
    '<text x="1.5" class="a&lt;b">1 &lt; 2</text>'
    >>> element("path", {"d": "M0 0H9"})
    '<path d="M0 0H9"/>'
    """
    parts = [
        f" {key}={quoteattr(value if isinstance(value, str) else number(value))}"
        for key, value in attributes.items()
    ]
    head = f"<{name}{''.join(parts)}"
    return f"{head}>{content}</{name}>" if content else f"{head}/>"


def page(
    size: tuple[float, float], label: str, sheet: str, parts: Iterable[str], **more: str
) -> str:
    """Return the text of an SVG file: its parts on one line each, and how they look."""
    width, height = size
    attributes: dict[str, str | float] = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": f"0 0 {number(width)} {number(height)}",
        "width": width,
        "height": height,
        "role": "img",
        "aria-label": label,
        **more,
    }
    style = element("style", {}, escape(sheet))
    return element("svg", attributes, "\n".join(["", style, *parts, ""])) + "\n"


def render(scene: Scene) -> str:
    """Return a picture as the text of an SVG file."""
    used = list(dict.fromkeys([item.role for item in scene.items]))
    sheet = "\n".join(["", *_sheet(used), ""])
    size, mark = (scene.width, scene.height), {"class": f"{PREFIX}-drawing"}
    return page(size, scene.label, sheet, map(_show, scene.items), **mark)


def _sheet(roles: list[Role]) -> Iterator[str]:
    for role in roles:
        style = STYLES[role]
        yield f".{_name(role)}{{{_colors(style.light)}{_strokes(style)}{_letters(style)}}}"
    yield "@media (prefers-color-scheme: dark){"
    for role in roles:
        yield f".{_name(role)}{{{_colors(STYLES[role].dark)}}}"
    yield "}"


def _name(role: Role) -> str:
    return f"{PREFIX}-{role.value}"


def _colors(colors: Colors) -> str:
    return f"fill:{colors.fill or 'none'};stroke:{colors.stroke or 'none'};"


def _strokes(style: Style) -> str:
    if not style.width:
        return ""
    dash = f"stroke-dasharray:{' '.join(map(number, style.dash))};" if style.dash else ""
    ends = "stroke-linecap:round;stroke-linejoin:round;"
    return f"stroke-width:{number(style.width)};{dash}{ends}"


def _letters(style: Style) -> str:
    if not style.size:
        return ""
    weight = "600" if style.bold else "400"
    family = MONO if style.mono else SANS
    return f"font:{weight} {number(style.size)}px {family};"


@singledispatch
def _show(item: Item) -> str:
    raise AssertionError(f"no way to draw {item!r}")  # pragma: no cover


@_show.register
def _(item: Box) -> str:
    attributes: dict[str, str | float] = {
        "class": _name(item.role),
        "x": item.x,
        "y": item.y,
        "width": item.width,
        "height": item.height,
    }
    if item.radius:
        attributes["rx"] = item.radius
    return element("rect", attributes, element("title", {}, escape(item.note)) if item.note else "")


@_show.register
def _(item: Lines) -> str:
    runs = ["M" + "L".join([f"{number(x)} {number(y)}" for x, y in run]) for run in item.runs]
    return element("path", {"class": _name(item.role), "d": "".join(runs)})


@_show.register
def _(item: Words) -> str:
    attributes: dict[str, str | float] = {
        "class": _name(item.role),
        "x": item.x,
        # Not dominant-baseline, which some readers ignore: a third of the size is close.
        "y": item.y + STYLES[item.role].size * 0.35,
        "text-anchor": _ANCHORS[item.anchor],
    }
    return element("text", attributes, escape(item.text))
