"""Generated source: what it may consist of, and that it is what reviewers have seen.

The files in ``golden`` hold the plan and the kernels of representative expressions.  Whoever
changes the planner or the emitter runs this file with ``--regenerate-golden`` and looks at the
difference: lost fusion, a new temporary or a slower loop shows there.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.engine.golden_cases import CASES, explanation, text
from xarraylite.dtypes.names import SUPPORTED, dtype_name
from xarraylite.engine.emit.body import Apply, Body, Const, Load, Position, invariant
from xarraylite.engine.emit.mapping import MapSpec, Mode, emit_map
from xarraylite.engine.emit.source import Source
from xarraylite.engine.emit.tokens import call, token
from xarraylite.engine.emit.walkers import Access, Inner, Odometer, Operand, Words, place
from xarraylite.engine.intrinsics import library as intrinsics
from xarraylite.engine.kernel import CASTS, scalar_library
from xarraylite.ops.table import OPS

GOLDEN = Path(__file__).with_name("golden")
F64 = np.dtype(np.float64)


# --- golden files --------------------------------------------------------------------------------


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", CASES)
def test_plans_and_kernels_are_as_reviewed(name: str, request: pytest.FixtureRequest) -> None:
    path, found = GOLDEN / f"{name}.txt", text(name)
    if request.config.getoption("--regenerate-golden"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(found, encoding="utf-8")
    assert found == path.read_text(encoding="utf-8"), "see the docstring of this module"


def test_every_golden_file_has_a_case(request: pytest.FixtureRequest) -> None:
    strangers = {path.stem for path in GOLDEN.iterdir()} - set(CASES)
    if request.config.getoption("--regenerate-golden"):
        for name in strangers:
            (GOLDEN / f"{name}.txt").unlink()
        return
    assert strangers == set()


# --- only tokens of our own ----------------------------------------------------------------------

LOCALS = re.compile(
    r"(block|kernel|range|min|max|row|done|kept|[vpqswgceh]\d+|[tjrky]|t[01]|j[01]|r[01]|z|rows|height|left|right|low"
    r"|high|head|to|blocks|width|half|part|whole|lost|total|carry|count|level|filled|rest_[tkr]"
    r"|[ins]\d*_[tkr]\d+|abs"
    r"|real|imag|user_\d+)"
)


def strange_names(source: str) -> set[str]:
    """Names in a kernel's source that are neither its locals nor functions from our tables."""
    known = {*intrinsics(), *CASTS, *scalar_library()}
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    names |= {n.attr for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Attribute)}
    return {name for name in names if not LOCALS.fullmatch(name) and name not in known}


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", CASES)
def test_source_consists_of_our_own_tokens(name: str) -> None:
    for source in explanation(name).sources:
        assert strange_names(source) == set()
        assert source.isascii()
        tree = ast.parse(source)
        assert [type(node) for node in tree.body] == [ast.FunctionDef]
        assert not any(
            isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.Lambda | ast.JoinedStr)
            for node in ast.walk(tree)
        )
        texts = [
            n for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
        ]
        assert texts == []


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", ["__import__", "os", "exec", "block", "v0", "x);import os;("])
def test_no_name_of_a_user_gets_into_source(name: str) -> None:
    def scalar(x: float) -> float:
        return x * 2

    scalar.__name__ = scalar.__qualname__ = name
    e = xl.vectorize(scalar)(xl.ones(3)) + 1
    (source,) = xl.explain(e).sources
    assert strange_names(source) == set()
    if name not in ("block", "v0"):
        assert name not in source
    assert e.numpy().tolist() == [3.0] * 3


def test_the_check_can_fail() -> None:
    assert strange_names("def kernel(block):\n    os.system(block)\n") == {"os", "system"}
    assert not any(LOCALS.fullmatch(name) for name in ("exec", "eval", "open", "__import__"))
    assert not any(keyword.iskeyword(name) for name in ("block", "kernel"))
    assert hasattr(builtins, "min")


@pytest.mark.usefixtures("compiled")
def test_source_is_deterministic() -> None:
    assert text("softmax") == text("softmax")


# --- tokens --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", SUPPORTED, ids=dtype_name)
def test_every_token_is_a_function_of_ours(dtype: Any) -> None:
    names = token(dtype)
    assert f"load_{names.memory}" in intrinsics()
    assert f"store_{names.memory}" in intrinsics()
    assert f"peek_{names.memory}" in intrinsics()
    assert f"push_{names.value}" in intrinsics()
    assert names.value in CASTS
    assert names.itemsize == dtype.itemsize
    for function in (names.decode, names.encode, names.settle):
        assert not function or function in scalar_library()


def test_call() -> None:
    assert (call("f", "x"), call("", "x")) == ("f(x)", "x")


# --- small parts ---------------------------------------------------------------------------------


def test_source_indents() -> None:
    source = Source()
    with source.block("for x in y:"):
        source.lines("a", "b")
    source.line("c")
    assert source.text() == "for x in y:\n    a\n    b\nc\n"


def test_words_are_numbered_in_order() -> None:
    words = Words()
    words.add("t0", "t1")
    words.add("p0")
    assert (words.index, len(words)) == ({"t0": 0, "t1": 1, "p0": 2}, 3)
    assert words.address("p0") == "block + 16"


@pytest.mark.parametrize(
    ("inner", "expected"),
    [(Inner.UNIT, ("", "j")), (Inner.STILL, ("", "0")), (Inner.ANY, (" + (j) * e1", "0"))],
)
def test_place(inner: Inner, expected: tuple[str, str]) -> None:
    assert place(Operand(F64, inner, Access.APART), 1, "j") == expected


def test_an_odometer_visits_every_position() -> None:
    """Its source is run as Python: started anywhere, each step ends where a start would."""
    extents, strides = (2, 3, 4), (100, 10, 1)
    loops = Odometer("t", 3, "p", range(1))
    begin, step = Source(), Source()
    loops.start(begin, "first")
    loops.step(step)
    base: dict[str, Any] = {"p0": 7}
    base |= {f"n_t{d}": n for d, n in enumerate(extents)}
    base |= {f"s0_t{d}": s for d, s in enumerate(strides)}
    expected = [7 + 100 * i + 10 * j + k for i in range(2) for j in range(3) for k in range(4)]
    for first in range(24):
        state = {**base, "first": first}
        exec(begin.text(), state)
        for k in range(first, 24):
            assert state["p0"] == expected[k]
            exec(step.text(), state)


def test_what_does_not_move_is_computed_before_the_loop() -> None:
    add = OPS["add"]
    body = Body(
        (
            Load(0, F64),
            Const(0, F64),
            Apply(add, (0, 1), (F64, F64), F64),
            Load(1, F64),
            Position(2, np.dtype(np.int64)),
            Load(0, F64, ((4, 0),)),
            Apply(add, (2, 3), (F64, F64), F64),
        )
    )
    assert invariant(body, [True, False, False]) == {0, 1, 2}
    assert invariant(body, [True, False, True]) == {0, 1, 2, 4, 5}
    assert invariant(body, [False, False, False]) == {1}


@pytest.mark.parametrize("mode", Mode)
def test_every_mode_has_its_words(mode: Mode) -> None:
    """Every word that the source reads is in the block, and every word of the block is read."""
    operands = (
        Operand(F64, Inner.UNIT, Access.SHARED),
        Operand(F64, Inner.ANY, Access.APART),
        Operand(np.dtype(np.int64), Inner.ANY, Access.POSITION),
    )
    body = Body((Load(0, F64), Const(0, F64), Apply(OPS["add"], (0, 1), (F64, F64), F64)))
    spec = MapSpec(mode, 2, operands, body, 0)
    read = [int(k) for k in re.findall(r"block \+ (\d+)", emit_map(spec))]
    assert read == [8 * k for k in range(len(spec.words()))]
