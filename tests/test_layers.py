"""The source tree keeps its ranks, its one door to the compiler, and its file sizes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.cases import together
from tests.layers import (
    FACADE,
    MAX_FILE_LINES,
    RANKS,
    WITHOUT_MEMORY,
    check_module,
    find_cycles,
    module_name,
    room,
    stale_references,
)
from xarraylite._lazy_import import uncollected

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / "xarraylite").rglob("*.py"))
SOURCES = {module_name(path, ROOT): path.read_text(encoding="utf-8") for path in FILES}
KNOWN = frozenset(SOURCES)


def test_modules_keep_the_rules_and_import_in_no_cycle() -> None:
    """In one test, as another worker would parse them all once more."""
    with uncollected():  # it would go through the trees again and again
        assert [wrong for m in SOURCES for wrong in check_module(m, SOURCES[m], KNOWN)] == []
        assert find_cycles(SOURCES) == []


def test_the_table_of_rooms_names_every_room_and_no_other() -> None:
    assert set(RANKS) == {room(module) for module in SOURCES if "." in module}


def test_rooms_without_memory_exist() -> None:
    assert [p for p in WITHOUT_MEMORY if not any(m.startswith(p) for m in SOURCES)] == []


def test_every_room_says_what_is_in_it() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "xarraylite").glob("*/__init__.py")
        if (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").count(".") < 3
    ]
    assert silent == []


def test_docstrings_name_modules_that_exist() -> None:
    assert stale_references(SOURCES) == []


@pytest.mark.parametrize("folder", ["tests", "asv_bench"])
def test_files_outside_the_package_stay_short(folder: str) -> None:
    too_long = {
        str(path.relative_to(ROOT)): lines
        for path in (ROOT / folder).rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MAX_FILE_LINES
    }
    assert too_long == {}


# The checker itself: each bad module breaks exactly the rule that is named.

_KNOWN = frozenset(
    {
        FACADE,
        "xarraylite._errors",
        "xarraylite.shapes",
        "xarraylite.shapes.shape",
        "xarraylite.memory.buffer",
        "xarraylite.index.broadcast",
        "xarraylite.compiler",
        "xarraylite.compiler.plan",
        "xarraylite.testing.counters",
        "xarraylite.transforms.jit",
        "xarraylite.functions.logic",
    }
)
_LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 81

BAD = [
    ("xarraylite.shapes.shape", "import xarraylite.memory.buffer", "rank 3 imports"),
    ("xarraylite.shapes.shape", "from xarraylite.compiler import plan", "rank 3 imports"),
    ("xarraylite.shapes.shape", "from ..compiler.plan import Plan", "rank 3 imports"),
    ("xarraylite.shapes.shape", "from .. import compiler", "rank 3 imports"),
    ("xarraylite.shapes.shape", "from .._later import planning", "rank 3 imports"),
    ("xarraylite.transforms.jit", "from xarraylite.functions.logic import f", "rank 15 imports"),
    ("xarraylite._errors", "from xarraylite.shapes.shape import Shape", "rank 0 imports"),
    ("xarraylite.compiler.plan", "import xarraylite as xl", "imports the facade"),
    ("xarraylite.compiler.plan", "from xarraylite import zeros", "imports the facade"),
    ("xarraylite.compiler.plan", "import xarraylite.testing.counters", "which only tests may"),
    ("xarraylite.helpers.misc", "x = 1", "has no rank"),
    ("xarraylite.compiler.plan", "import numba", "imports numba; only"),
    ("xarraylite.compiler.plan", "from numba.core import types", "imports numba.core; only"),
    ("xarraylite.shapes.shape", "from llvmlite import ir", "imports llvmlite; only"),
    ("xarraylite.compiler.plan", "def f():\n    import json", "inside a function"),
    ("xarraylite.compiler.plan", "import numpy as np\nx = np.empty(3)", "touches array memory"),
    ("xarraylite.compiler.plan", "\n" * (MAX_FILE_LINES + 1), "at most 500"),
    ("xarraylite.compiler.plan", _LONG_FUNCTION, "f has 82 lines"),
]


@together(("module", "source", "message"), BAD)
def test_the_checker_sees_a_bad_module(module: str, source: str, message: str) -> None:
    (complaint,) = check_module(module, source, _KNOWN)
    assert message in complaint


@together(
    ("module", "source"),
    [
        ("xarraylite.layout.strided", "from xarraylite.index.broadcast import size_of"),
        ("xarraylite.shapes", "from .shape import Shape"),
        ("xarraylite.shapes.shape", "from .. import _errors\nfrom xarraylite import _errors"),
        ("xarraylite.codegen.jit", "import numba\nfrom llvmlite import binding"),
        ("xarraylite.io.npy", "import numpy as np\nx = np.empty(3)"),
        ("xarraylite.demo", "def f():\n    import matplotlib.cbook"),
    ],
)
def test_the_checker_passes_a_good_module(module: str, source: str) -> None:
    assert check_module(module, source, _KNOWN) == []


def test_the_checker_sees_a_cycle() -> None:
    sources = {
        "xarraylite.shapes.a": "from xarraylite.shapes.b import f",
        "xarraylite.shapes.b": "from .c import g",
        "xarraylite.shapes.c": "import xarraylite.shapes.a",
    }
    assert set(find_cycles(sources)) == set(sources)


@together(
    ("text", "stale"),
    [
        ("See `shapes.shape`.", False),
        ("See `shape.box_of`.", False),
        ("See `itertools.product` and `np.add.at`.", False),
        ("See ``storage.slabs``.", False),
        ("See `storage.slabs`.", True),
        ("See `shapes.shape.Box`.", True),
        ("See `shape.Box`.", True),
    ],
)
def test_the_checker_sees_a_stale_reference(text: str, stale: bool) -> None:
    sources = {
        "xarraylite.shapes": "",
        "xarraylite.shapes.shape": "def box_of(): ...",
        "xarraylite.compiler.plan": text,
    }
    assert bool(stale_references(sources)) is stale
