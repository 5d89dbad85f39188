"""Tables of a module's header: where in whose program instructions come from.

A stack frame is a place in a program and the frame that called it.  Text divides this into four
tables (files, functions, places, frames), whose entries name one another by number; the caller of a
frame is given by its number plus one, so that 1 stands for none.  XLA keeps the frames that
instructions name and renumbers them in the order of first use, callers first; so do we.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from .scanner import SKIP, STRING, Scanner, escape, unescape

T = TypeVar("T")

_LOST = "\0"  # the file of a frame whose place is in no table


class StackFrame(NamedTuple):
    """A place in a program, and who called it.

    Attributes
    ----------
    file_name, function_name : str
        Where it lies.
    line, end_line, column, end_column : int
        Its extent.
    parent : int
        Number of the calling frame, from 1; 0 for none.
    """

    file_name: str
    function_name: str
    line: int
    end_line: int
    column: int
    end_column: int
    parent: int = 0


def keep_frames(
    frames: Sequence[StackFrame], used: Iterable[int]
) -> tuple[tuple[StackFrame, ...], dict[int, int]]:
    """Return the frames that are used and a map from old numbers to new ones.

    Frames with an unknown caller or place are not in the map; callers of the latter are kept.
    """
    numbers: dict[int, int] = {0: 0}
    interned: dict[StackFrame, int] = {}
    for wanted in used:
        chain: list[int] = []
        number = wanted
        # A chain that is longer than the table goes around in a circle.
        while number not in numbers and 0 < number <= len(frames) >= len(chain):
            chain.append(number)
            number = frames[number - 1].parent
        if number not in numbers:
            continue
        for number in reversed(chain):
            frame = frames[number - 1]
            if frame.file_name == _LOST:
                break
            moved = frame._replace(parent=numbers[frame.parent])
            numbers[number] = interned.setdefault(moved, len(interned) + 1)
    return tuple(interned), numbers


def print_tables(frames: Sequence[StackFrame]) -> str:
    """Return the four tables as text, or an empty text where there is no frame."""
    if not frames:
        return ""
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    places: dict[tuple[int, ...], int] = {}
    lines: list[str] = []
    for frame in frames:
        place = (
            files.setdefault(frame.file_name, len(files) + 1),
            functions.setdefault(frame.function_name, len(functions) + 1),
            *frame[2:6],
        )
        number = places.setdefault(place, len(places) + 1)
        lines.append(f"{{file_location_id={number} parent_frame_id={frame.parent + 1}}}")
    shown = [
        f"{{{' '.join([f'{name}={number}' for name, number in zip(_PLACE, place, strict=True)])}}}"
        for place in places
    ]
    tables = [
        ("FileNames", [f'"{escape(name)}"' for name in files]),
        ("FunctionNames", [f'"{escape(name)}"' for name in functions]),
        ("FileLocations", shown),
        ("StackFrames", lines),
    ]
    return "\n".join(
        [
            f"{title}\n{''.join([f'{k} {entry}{chr(10)}' for k, entry in enumerate(entries, 1)])}"
            for title, entries in tables
        ]
    )


# Reading.

_HEADING = {
    name: re.compile(rf"{SKIP}{name}(?=[ \t\r\n/])")
    for name in ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
}
_STRING_ROW = re.compile(rf"{SKIP}[0-9]+{SKIP}({STRING})", re.DOTALL)
_NUMBERS_ROW = re.compile(rf"{SKIP}[0-9]+{SKIP}\{{([^{{}}]*)\}}")
_NUMBER = re.compile(r"([a-z_]+)=(-?[0-9]{1,10})")
_PLACE = ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column")
_FRAME = ("file_location_id", "parent_frame_id")


def read_tables(scan: Scanner) -> tuple[StackFrame, ...]:
    """Step over the four tables, if they stand next.

    Rows count from 1 in the order in which they stand, whatever number is in front.  A frame that
    names a row that is not there has no name.
    """
    if _HEADING["FileNames"].match(scan.text, scan.at) is None:
        return ()
    files, functions = _strings(scan, "FileNames"), _strings(scan, "FunctionNames")
    places = _numbers(scan, "FileLocations", _PLACE)
    frames = []
    for place_id, parent in _numbers(scan, "StackFrames", _FRAME):
        place = _row(places, place_id)
        name = _row(files, place[0]) if place else None
        function = _row(functions, place[1]) if place else None
        if place is None or name is None or function is None:
            frames.append(StackFrame(_LOST, "", 0, 0, 0, 0, parent - 1))
        else:
            frames.append(StackFrame._make((name, function, *place[2:], parent - 1)))
    return tuple(frames)


def _row(rows: Sequence[T], number: int) -> T | None:
    return rows[number - 1] if 0 < number <= len(rows) else None


def _rows(scan: Scanner, name: str, row: re.Pattern[str]) -> Iterator[re.Match[str]]:
    if scan.match(_HEADING[name]) is None:
        scan.fail_found(f"the table {name}")
    while (match := scan.match(row)) is not None:
        yield match


def _strings(scan: Scanner, name: str) -> list[str]:
    found = []
    for match in _rows(scan, name, _STRING_ROW):
        try:
            found.append(unescape(match[1][1:-1]))
        except ValueError as error:
            scan.fail(str(error), match.start(1))
    return found


def _numbers(scan: Scanner, table: str, names: tuple[str, ...]) -> list[tuple[int, ...]]:
    found = []
    for match in _rows(scan, table, _NUMBERS_ROW):
        given = dict(_NUMBER.findall(match[1]))
        if given.keys() != set(names) or _NUMBER.sub("", match[1]).strip(" \t\r\n,"):
            scan.fail(f"expected the fields {' '.join(names)}", match.start(1))
        found.append(tuple([int(given[name]) for name in names]))
        if max(map(abs, found[-1])) >> 31:
            scan.fail("a field has 32 bits", match.start(1))
    return found
