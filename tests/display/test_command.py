"""The command ``layout``: what it says, and what it says to bad input."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import matplotlib.image
import pytest
from hypothesis import given
from hypothesis import strategies as st

from xarraylite.__main__ import main
from xarraylite._errors import LayoutParseError
from xarraylite.display.command import parse_error_lines
from xarraylite.xla.spec import ArraySpec

PAGE = Path(__file__).resolve().parents[2] / "docs" / "user_guide" / "layouts.md"
PLANE = "dimension 1 down, dimension 2 across, at [0, :, :]"
LARGE = "bf16[10,300]{1,0:T(8,128)(2,1)}"


def layout(*arguments: object) -> int:
    return main(["layout", *map(str, arguments)])


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    streams = capsys.readouterr()
    assert streams.err == ""
    return streams.out.splitlines()


def refusal(capsys: pytest.CaptureFixture[str], lines: int = 1) -> list[str]:
    streams = capsys.readouterr()
    assert streams.out == ""
    found = streams.err.splitlines()
    assert len(found) == lines
    assert found[0].startswith("xarraylite layout: ")
    return found


# --- what it says -------------------------------------------------------------------------------


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout(LARGE) == 0
    lines = said(capsys)
    assert lines[:8] == [
        LARGE,
        "",
        "  dimensions            10 x 300 = 3,000 elements",
        "  physical dimensions   2 x 3 x 4 x 128 x 2 x 1 = 6,144 positions",
        "  bytes in memory       12,288",
        "  bytes of data          6,000",
        "  bytes of padding       6,288  51.2% is padding",
        "  XLA's array size      12,288",
    ]
    corner = lines.index("  0 |    0    2    4    6    8   10   12   14  ...")
    assert lines[corner - 2] == "    |    0    1    2    3    4    5    6    7"
    assert lines[corner + 3] == "  3 |  257  259  261  263  265  267  269  271  ..."
    assert "In memory first: (0,0) (1,0) (0,1) (1,1) (0,2) (1,2) (0,3) (1,3)" in lines
    best = ArraySpec.parse(LARGE).suggest()[0]
    assert lines[lines.index("These take less:") + 1 :][:2] == [
        f"  {best.spec}: {best.nbytes:,} bytes, {best.saved_bytes:,} fewer",
        f"    {best.reason}",
    ]
    assert max(map(len, lines)) <= 100
    assert all(line == line.rstrip() for line in lines)


def test_padding_in_the_corner(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout("f32[3,5]{1,0:T(2,2)}") == 0
    lines = said(capsys)
    assert "  0 |   0   1   4   5   8   ." in lines
    assert "    |   .   .   .   .   .   ." in lines
    assert "In memory first: (0,0) (0,1) (1,0) (1,1) (0,2) (0,3) (1,2) (1,3)" in lines
    assert lines[-1] == "No other order of dimensions, and none of the usual tiles, takes less."


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("f32[]", "  dimensions            1 element"),
        ("f32[7]", "  physical dimensions   7 positions"),
        ("f32[0,5]", "  bytes in memory       0"),
        ("f32[2,3]", "  bytes of padding       0  no padding"),
        ("s4[5]{0:E(4)}", "  bytes in memory       3"),
        ("f32[<=4]", "  bytes in memory       16"),
        ("f32[3,5]{1,0:T(2,2)L(30)}", f"{'':24}6 more positions from 24 on: tail padding"),
        (
            "f32[3,5]{1,0:T(2,2)(3,3)}",
            "  XLA's array size       96  which reads only the first tile",
        ),
        (
            "f32[2,3,4]",
            f"Positions in memory: {PLANE}; '.' is padding",
        ),
    ],
)
def test_single_lines(text: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert layout(text) == 0
    assert line in said(capsys)


def test_members_of_tuples_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout("(f32[2], token[], (pred[3], b(s8[4])))") == 0
    lines = said(capsys)
    for text in ("f32[2]{0}", "token[]", "pred[3]{0}", "s8[4]{0}"):
        assert text in lines
    assert lines.count("  bytes in memory       4") == 1


@pytest.mark.parametrize(
    ("option", "value", "answer"),
    [
        ("--index", "3,17", "index (3, 17): position 291"),
        ("--index", " (3, 17) ", "index (3, 17): position 291"),
        ("--linear", "291", "position 291: index (3, 17)"),
        ("--linear", "4711", "position 4711: padding"),
        ("--linear", "6143", "position 6143: padding"),
    ],
)
def test_questions(
    option: str, value: str, answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert layout(LARGE, option, value) == 0
    assert said(capsys)[-1] == answer


def test_both_questions_of_a_scalar(capsys: pytest.CaptureFixture[str]) -> None:
    assert layout("f32[]", "--index", "", "--linear", 0) == 0
    assert said(capsys)[-2:] == ["index (): position 0", "position 0: index ()"]


@pytest.mark.parametrize("name", ["out.svg", "out.png"])
def test_pictures(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    assert layout("f32[2,3,4]{2,1,0:T(2,2)}", "--draw", path, "--slice", ":,2,:") == 0
    lines = said(capsys)
    assert lines[-1] == f"{path} written"
    plane = "dimension 0 down, dimension 2 across, at [:, 2, :]"
    assert f"Positions in memory: {plane}; '.' is padding" in lines
    if path.suffix == ".svg":
        assert plane in path.read_text(encoding="utf-8")
    else:
        assert matplotlib.image.imread(path).ndim == 3


def examples() -> list[tuple[list[str], list[str]]]:
    """The calls that the page on layouts shows, and what it says they print."""
    text = PAGE.read_text(encoding="utf-8")
    calls = re.findall(r"```text\n\$ python -m xarraylite layout (.*?)\n(.*?)```", text, re.DOTALL)
    return [(shlex.split(call), answer.splitlines()) for call, answer in calls]


def test_the_page_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(examples()) == 2
    for call, answer in examples():
        layout(*call)
        streams = capsys.readouterr()
        assert (streams.out + streams.err).splitlines() == answer


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("f32[,3]", 5),
        ("", 1),
        ("f33[2]", 1),
        ("f32[3,5", 8),
        ("f32[3,5]{1,1}", 12),
        ("f32[3,5]{1,0:T(2,2}", 19),
        ("f32[2] x", 8),
        ("f32[2]\n{0:é}", 11),
        ("f32[" + "1," * 100 + "x]", 205),
    ],
)
def test_malformed_text_gets_a_caret(
    text: str, column: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LayoutParseError) as caught:
        ArraySpec.parse(text)
    assert caught.value.column == column
    assert layout(text) == 2
    message, caret = refusal(capsys, lines=2)
    assert f" at column {column}: " in message
    assert caret.strip() == "^"
    at = caret.index("^")
    if column <= len(text):
        assert message[at] == text[column - 1]
    else:
        assert at == len(message)
    assert len(message) < 200


@given(st.text(max_size=120), st.integers(-2, 130))
def test_the_caret_is_below_the_column(text: str, column: int) -> None:
    message, caret = parse_error_lines(LayoutParseError("wrong", text, column), text)
    assert "\n" not in message + caret
    at = caret.index("^") - len("xarraylite layout: ")  # which the message stands after
    if 1 <= column <= len(text):
        char = text[column - 1]
        assert message[at] == (char if char.isprintable() else "?")
    assert at <= len(message)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["f32[3,5]", "--index", "3,0"], "(3, 0) is out of range"),
        (["f32[3,5]", "--index=-1,0"], "(-1, 0) is out of range"),
        (["f32[3,5]", "--index", "1"], "one per dimension"),
        (["f32[3,5]", "--index", ""], "one per dimension"),
        (["f32[3,5]", "--index", "1,x"], "--index '1,x': expected integers"),
        (["f32[3,5]", "--index", "1,,2"], "expected integers"),
        (["f32[3,5]", "--linear", "15"], "15 is out of range"),
        (["f32[3,5]", "--linear=-1"], "-1 is out of range"),
        (["f32[3,5]", "--linear", "1,2"], "expected one integer"),
        (["f32[3,5]", "--linear", "1.5"], "expected integers"),
        (["f32[3,5]", "--slice", "0,0"], "give one entry for each of its 2 dimensions"),
        (["f32[3,5]", "--slice", "a"], "expected integers"),
        (["f32[2,3,4]", "--slice", "2"], "index 2 is out of range for dimension 0"),
        (["f32[?]"], "without a bound"),
        (["token[]", "--linear", "0"], "is not an array"),
        (["(f32[2])", "--draw", "out.svg"], "only arrays"),
        (["f32[2]", "--draw", "out.pdf"], "'out.pdf': the name must end in .svg or .png"),
        (["f32[2]", "--draw", "nowhere/out.svg"], "No such file or directory"),
    ],
)
def test_what_cannot_be_answered_is_one_line_and_status_2(
    arguments: list[str],
    why: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert layout(*arguments) == 2
    (line,) = refusal(capsys)
    assert why in line
    assert not list(tmp_path.iterdir())


def test_a_missing_matplotlib_is_one_line_and_status_2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert layout("f32[2]", "--draw", tmp_path / "out.png") == 2
    assert "pip install xarraylite[plot]" in refusal(capsys)[0]
