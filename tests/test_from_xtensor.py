"""The page for users of xtensor is what its table says, and every row of that runs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.cases import together

DOCS = Path(__file__).parent.parent / "docs"


def _table() -> ModuleType:
    spec = importlib.util.spec_from_file_location("xtensor_table", DOCS / "xtensor_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


TABLE = _table()
ROWS = [row for rows in TABLE.GROUPS.values() for row in rows]


def test_the_page_agrees(request: pytest.FixtureRequest) -> None:
    page, text = DOCS / "from_xtensor.md", TABLE.page()
    if request.config.getoption("--regenerate-golden"):
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text


@together("row", ROWS)
def test_row(row: object) -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(TABLE.SETUP, namespace)
    exec(row.check, namespace)  # type: ignore[attr-defined]


def test_what_has_no_spelling_says_why() -> None:
    assert all(row.differs for row in ROWS if not row.here)
    assert all(row.check for row in ROWS)
    assert len({row.xtensor for row in ROWS}) == len(ROWS)
