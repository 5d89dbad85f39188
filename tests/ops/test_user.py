"""What a user's function depends on: the names its code looks up among the module's globals."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from tests.cases import together
from xarraylite.codegen.routines import fingerprint
from xarraylite.ops.user import global_names, is_brief, is_closed, may_raise


def function(code: str, **namespace: Any) -> FunctionType:
    """Make a function ``f`` of its own module-like namespace."""
    exec(code, namespace)
    made = namespace["f"]
    assert isinstance(made, FunctionType)
    return made


def anything(x: float) -> float:
    return x


NAMES: dict[str, tuple[str, set[str]]] = {
    "attribute": ("def f(x): return math.erf(x)", {"math"}),
    "method": ("def f(x): return x.conjugate().real", set()),
    "global": ("def f(x): return erf(x) + K", {"erf", "K"}),
    "both": ("def f(x): return math.erf(erf(x))", {"math", "erf"}),
    "nested": ("def f(x):\n    h = lambda y: math.erf(y) + g(y)\n    return h(x)", {"math", "g"}),
    "local": ("def f(x):\n    erf = x\n    return erf", set()),
    "written": ("def f(x):\n    global K\n    K = x\n    return x", {"K"}),
}


@together("name", NAMES)
def test_names_are_told_from_attributes(name: str) -> None:
    code, expected = NAMES[name]
    assert global_names(function(code).__code__) == expected


@pytest.mark.parametrize("other", [anything, np.ones(1), 1.0, []], ids=lambda x: type(x).__name__)
def test_a_global_of_the_name_of_an_attribute_is_another_thing(other: Any) -> None:
    """So its kernel is kept on disk, under the same key."""
    plain = function("def f(x): return math.erf(x)", math=math)
    made = function("def f(x): return math.erf(x)", math=math, erf=other)
    assert is_closed(made)
    assert not may_raise(made)
    assert fingerprint(made) == fingerprint(plain)


def test_a_global_function_may_raise() -> None:
    assert may_raise(function("def f(x): return g(x)", g=anything))
    assert not is_closed(function("def f(x): return erf(x)", erf=anything))


BRIEF: dict[str, tuple[bool, FunctionType]] = {
    "a branch": (True, function("def f(x, y): return x if x > y else y")),
    "mathematics": (True, function("def f(x): return math.sin(x) + sqrt(abs(x))", math=math)),
    "a function of mathematics": (True, function("def f(x): return erf(x)", erf=math.erf)),
    "a number": (True, function("def f(x): return x * K", K=3)),
    "a loop": (False, function("def f(x):\n    while x > 1:\n        x = x / 2\n    return x")),
    "a list": (False, function("def f(x):\n    for k in range(9):\n        x += k\n    return x")),
    "an exception": (False, function("def f(x):\n    if x < 0: raise ValueError\n    return x")),
    "another function": (False, function("def f(x): return g(x)", g=anything)),
    "a name to come": (False, function("def f(x): return g(x)")),
}
BRIEF["mathematics"][1].__globals__["sqrt"] = math.sqrt


@together("name", BRIEF)
def test_what_is_over_at_once(name: str) -> None:
    expected, made = BRIEF[name]
    assert is_brief(made) is expected
