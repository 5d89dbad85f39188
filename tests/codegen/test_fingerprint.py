"""What is known of a user's function: all it depends on, or that this cannot be told."""

from __future__ import annotations

import math
import textwrap
import types
from typing import Any

import numpy as np

from tests.cases import together
from xarraylite.codegen.jit import scalar_library
from xarraylite.codegen.routines import fingerprint
from xarraylite.ops.user import is_closed
from xarraylite.transforms.vectorize import operation


def function(code: str, **namespace: Any) -> types.FunctionType:
    """Make a function ``f`` of its own module-like namespace."""
    exec(textwrap.dedent(code), namespace)
    made = namespace["f"]
    assert isinstance(made, types.FunctionType)
    return made


def test_every_function_of_the_library_has_its_own_fingerprint() -> None:
    prints = {name: fingerprint(f) for name, f in scalar_library().items()}
    assert len(set(prints.values())) > 0.9 * len(prints)


USER: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "code": ("def f(x): return x + 1", {}, "def f(x): return x - 1", {}),
    "constant": ("def f(x): return x + 1", {}, "def f(x): return x + 2", {}),
    "type of a constant": ("def f(x): return x + 1", {}, "def f(x): return x + 1.0", {}),
    "sign of a zero": ("def f(x): return x * 0.0", {}, "def f(x): return x * -0.0", {}),
    "global constant": ("def f(x): return x + K", {"K": 1}, "def f(x): return x + K", {"K": 2}),
    "type of a global": ("def f(x): return x + K", {"K": 1}, "def f(x): return x + K", {"K": 1.0}),
    "NumPy constant": (
        "def f(x): return x + K",
        {"K": np.float32(1)},
        "def f(x): return x + K",
        {"K": np.float64(1)},
    ),
    "global used": (
        "def f(x): return x + K",
        {"K": 1, "L": 1},
        "def f(x): return x + L",
        {"K": 1, "L": 1},
    ),
    "nested code": (
        "def f(x):\n    g = lambda y: y + K\n    return g(x)",
        {"K": 1},
        "def f(x):\n    g = lambda y: y + K\n    return g(x)",
        {"K": 2},
    ),
    "operator": ("def f(x): return x // 2", {}, "def f(x): return x / 2", {}),
    "branch": (
        "def f(x): return x if x > 0 else -x",
        {},
        "def f(x): return x if x < 0 else -x",
        {},
    ),
    "called function": (
        "def f(x): return m.sin(x)",
        {"m": math},
        "def f(x): return m.cos(x)",
        {"m": math},
    ),
}


@together("case", USER.values(), ids=USER.keys())
def test_whatever_changes_a_users_function_changes_its_fingerprint(
    case: tuple[str, dict[str, Any], str, dict[str, Any]],
) -> None:
    one, again = function(case[0], **case[1]), function(case[0], **case[1])
    other = function(case[2], **case[3])
    assert fingerprint(one) == fingerprint(again) != fingerprint(other)


def with_cell(value: float) -> Any:
    def f(x: float) -> float:
        return x + value

    return f


MODULE = types.ModuleType("settings_of_somebody")
MODULE.K = 3.0  # type: ignore[attr-defined]


@together(
    ("code", "namespace", "closed"),
    [
        ("def f(x): return x + 1", {}, True),
        ("def f(x): return x + K", {"K": 2.5}, True),
        ("def f(x): return math.sin(x) + np.pi", {"math": math, "np": np}, True),
        ("def f(x): return abs(x)", {}, True),
        # Their values are not in the key, so these kernels stay in memory.
        ("def f(x): return x + somebody.K", {"somebody": MODULE}, False),
        ("def f(x): return g(x)", {"g": with_cell(1)}, False),
        ("def f(x): return x + K[0]", {"K": np.ones(1)}, False),
        ("def f(x):\n    h = lambda y: g(y)\n    return h(x)", {"g": with_cell(1)}, False),
    ],
)
def test_functions_that_a_key_can_describe(
    code: str, namespace: dict[str, Any], closed: bool
) -> None:
    assert is_closed(function(code, **namespace)) is closed


def test_closures_are_not_described_by_their_code() -> None:
    assert not is_closed(with_cell(1.0))


def test_a_helper_that_comes_later_is_seen() -> None:
    """The decorator runs before the rest of the module does."""
    namespace: dict[str, Any] = {}
    exec("def f(x): return later(x)", namespace)
    op = operation(namespace["f"], None)
    namespace["later"] = with_cell(1.0)
    assert op.private
