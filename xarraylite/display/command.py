"""The command ``python -m xarraylite layout``: what a layout costs and where elements lie."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from .._errors import InputError, LayoutParseError
from ..xla.spec import ArraySpec
from .draw import draw
from .report import report_lines

#: What the message stands after.
_PREFIX = "xarraylite layout: "

#: How much of a long text is shown on either side of an error.
_AROUND = 36


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `run`."""
    parser.add_argument("spec", metavar="SPEC", help="such as 'bf16[10,300]{1,0:T(8,128)(2,1)}'")
    parser.add_argument(
        "--index", metavar="I,J,...", help="say at which position the element with this index lies"
    )
    parser.add_argument(
        "--linear", metavar="POSITION", help="say which element lies at this position"
    )
    parser.add_argument(
        "--draw", type=Path, metavar="FILE", help="write a picture, as .svg or .png"
    )
    parser.add_argument(
        "--slice", metavar="I,:,:",
        help="the plane to show of an array with more than two dimensions, ':' for those shown",
    )  # fmt: skip


def run(face: ModuleType, options: argparse.Namespace) -> int:
    """Report on a layout.

    Parameters
    ----------
    face : module
        The package's face, which is not needed here.
    options : argparse.Namespace
        Values of ``spec``, ``--index``, ``--linear``, ``--draw`` and ``--slice``.

    Returns
    -------
    int
        Exit status: 0.

    Raises
    ------
    InputError
        For what cannot be answered.  Malformed text has a second line, with a caret under the
        place.
    """
    try:
        spec = ArraySpec.parse(options.spec)
    except LayoutParseError as error:
        raise InputError("\n".join(parse_error_lines(error, options.spec))) from None
    # Everything is answered before anything is printed.
    lines = list(report_lines(spec, _plane(options.slice)))
    lines += _answers(spec, options)
    if options.draw is not None:
        _save(spec, options)
        lines += ["", f"{options.draw} written"]
    sys.stdout.write("\n".join([*lines, ""]))
    return 0


def parse_error_lines(error: LayoutParseError, text: str) -> tuple[str, str]:
    """Return the message with the text at its end, and a caret under where it is printed wrong.

    Examples
    --------
    >>> for line in parse_error_lines(LayoutParseError("no such type", "f33[2]", 1), "f33[2]"):
    ...     print(line)
    no such type at column 1: f33[2]
                                                 ^
    """
    reason = str(error).rpartition(f" at column {error.column} of ")[0]
    reason = reason.removeprefix("ArraySpec.parse: ")
    at = min(max(error.column - 1, 0), len(text))
    start, end = max(0, at - _AROUND), at + _AROUND
    before = ("..." if start else "") + _printable(text[start:at])
    after = _printable(text[at:end]) + ("..." if end < len(text) else "")
    head = f"{_printable(reason)} at column {error.column}: {before}"
    return f"{head}{after}", " " * len(_PREFIX + head) + "^"


def _printable(text: str) -> str:
    return "".join([c if c.isprintable() else "?" for c in text])


def _numbers(text: str, name: str, read: Callable[[str], int | None]) -> list[int | None]:
    parts = text.strip().removeprefix("(").removesuffix(")").split(",")
    try:
        return [read(part.strip()) for part in parts] if parts != [""] else []
    except ValueError:
        raise InputError(f"{name} {text!r}: expected integers with commas between them") from None


def _plane(text: str | None) -> list[int | None] | None:
    if text is None:
        return None
    return _numbers(text, "--slice", lambda part: None if part == ":" else int(part))


def _answers(spec: ArraySpec, options: argparse.Namespace) -> list[str]:
    """Answer the questions for one element and one position."""
    lines = []
    if options.index is not None:
        index = [i for i in _numbers(options.index, "--index", int) if i is not None]
        position = spec.linear_index(tuple(index))
        lines.append(f"index ({', '.join(map(str, index))}): position {position}")
    if options.linear is not None:
        (position,) = _one(_numbers(options.linear, "--linear", int), options.linear)
        element = spec.multi_index(position)
        found = "padding" if element is None else f"index ({', '.join(map(str, element))})"
        lines.append(f"position {position}: {found}")
    return ["", *lines] if lines else []


def _one(found: list[int | None], text: str) -> list[int]:
    if len(found) != 1 or found[0] is None:
        raise InputError(f"--linear {text!r}: expected one integer")
    return [found[0]]


def _save(spec: ArraySpec, options: argparse.Namespace) -> None:
    try:
        draw(spec, index=_plane(options.slice)).save(options.draw)
    except ImportError as error:
        raise InputError(str(error)) from None
