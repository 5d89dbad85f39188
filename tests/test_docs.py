"""Every Python block in README.md and docs/ runs, in order, one namespace per page.

A ```` ```python ```` block is executed and a ```` ```pycon ```` block is compared with its
output.  A block that cannot run has the reason in a comment right before its fence::

    <!-- not run: needs a second machine -->
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from xarraylite.transforms import numba_types

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "generated"} & {*p.parts}),
]
_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.+?) -->\n)?"
    r"```(?P<language>python|pycon)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    code: str
    line: int
    reason: str | None


def blocks(text: str) -> Iterator[Block]:
    for match in _BLOCK.finditer(text):
        line = text.count("\n", 0, match.start("code")) + 1
        yield Block(match["language"], match["code"], line, match["reason"])


def run(page: str, text: str) -> int:
    """Run a page's blocks in order; return how many ran."""
    if "import numba" in text:
        numba_types.init()  # as the installed entry point does
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for block in blocks(text):
        if block.reason is not None:
            continue
        ran += 1
        if block.language == "pycon":
            _compare(page, block, namespace)
        else:
            source = "\n" * (block.line - 1) + block.code  # tracebacks name the page's line
            exec(compile(source, page, "exec"), namespace)
    return ran


def _compare(page: str, block: Block, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.code, namespace, Path(page).stem, page, block.line - 1
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_FLAGS, verbose=False)
    runner.run(test, out=report.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
    namespace.update(test.globs)


@pytest.mark.once
@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # which a page sets, for itself alone
    text = page.read_text(encoding="utf-8")
    fences = len(re.findall(r"^```(?:python|pycon)\b", text, re.MULTILINE))
    skipped = sum(block.reason is not None for block in blocks(text))
    assert run(str(page), text) + skipped == fences


@pytest.mark.once
@pytest.mark.parametrize(
    "page", sorted((ROOT / "docs" / "developer").glob("*.md")), ids=lambda p: p.name
)
def test_developers_are_sent_to_files_that_exist(page: Path) -> None:
    """Named from the top of the repository, from the package, or by the end of the path alone."""
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("*/**/*.py")]
    named = re.findall(r"`([\w/]+\.py)`", page.read_text(encoding="utf-8"))
    assert [name for name in named if not any(f.endswith(f"/{name}") for f in files)] == []


def test_a_wrong_page_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        run("bad.md", "# Page\n```python\n1 / 0\n```\n")
    with pytest.raises(AssertionError, match="Expected"):
        run("bad.md", "```python\nx = 1\n```\n```pycon\n>>> x + 1\n3\n```\n")
    assert run("fine.md", "<!-- not run: no reason -->\n```python\n1 / 0\n```\n") == 0
