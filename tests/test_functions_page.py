"""The page of all functions is what the functions say; none is missing or without an example."""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from types import ModuleType

import pytest

import xarraylite as xl

#: Builtin functions, which machine code makes of some, say no types.
pytestmark = [pytest.mark.usefixtures("by_python"), pytest.mark.once]

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference" / "functions.md"


def writer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("function_list", DOCS / "function_list.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_agrees(request: pytest.FixtureRequest) -> None:
    text = writer().page()
    if request.config.getoption("--regenerate-golden"):
        PAGE.write_text(text, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == text


def test_every_function_is_on_it_with_an_example() -> None:
    listed = {name: f for group in writer().functions().values() for name, f in group}
    for name in xl.__all__:
        value = getattr(xl, name)
        assert name in listed or not inspect.isfunction(value)
    assert [name for name, f in listed.items() if ">>> " not in (f.__doc__ or "")] == []
