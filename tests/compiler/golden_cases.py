"""Representative evaluations whose plans and kernels are kept as files, to be seen in reviews.

Each case is a destination (empty: new memory) and an expression over `operands`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import xarraylite as xl
from tests.compiler.test_graph import positions


def operands() -> dict[str, Any]:
    """The names that stand in the cases; values do not matter, plans do not see them."""
    return {
        "xl": xl,
        "a": xl.ones((40, 30)),
        "b": xl.ones((40, 30)),
        "t": xl.ones((30, 40)),
        "s": xl.ones((30, 30)),
        "v": xl.ones(30),
        "f": xl.ones((40, 30), dtype="float32"),
        "h": xl.ones((40, 30), dtype="bfloat16"),
        "i": xl.ones((40, 30), dtype="int8"),
        "z": xl.ones((40, 30), dtype="complex128"),
        "m": xl.ones((40, 30), dtype="bool"),
        "k": xl.asarray([3, 1, 2]),
        "n": positions(30),
        "big": xl.adapt(np.zeros(1 << 21)),
        "c": xl.empty((40, 30)),
        "cubes": xl.ones((20, 30, 40)),
    }


CASES: dict[str, tuple[str, str]] = {
    "fused": ("", "(a * 2 + b) / 3 - a"),
    "broadcast": ("", "a - v + a[:, :1]"),
    "strided": ("", "a[::2, ::-3] * b[1::2, ::3]"),
    "rank_0": ("", "v[0, ...] + 1"),
    "views_of_expressions": ("", "xl.flip((a + v).T, axis=0)[2:, ::2]"),
    "repeated_operand": ("", "(a + b) * (a + b)"),
    "neighbours": ("", "(v * 2)[1:] - (v * 2)[:-1]"),
    "expensive_neighbours": ("", "(e := xl.exp(xl.sin(v)))[1:] - e[:-1]"),
    "where": ("", "xl.where(a > 0, b, 0.0)"),
    "bools": ("", "(a > b) & m | xl.isnan(a)"),
    "elementary_functions": ("", "xl.exp(a) * xl.hypot(a, b) ** 0.5"),
    "mixed_dtypes": ("", "xl.astype(i * 3 + 1, 'float32') * f"),
    "integers": ("", "i // 3 + (i << 2)"),
    "bfloat16": ("", "h * h + 1"),
    "complex": ("", "z * z + xl.conj(z)"),
    "complex_by_numpy": ("", "xl.sin(z) + 1"),
    "positions": ("", "a * n"),
    "gather": ("", "xl.late(a[k] * 2)"),
    "gather_columns_and_sum": ("", "xl.late(xl.sum(a[:, k], axis=1))"),
    "reshape": ("", "xl.reshape(a + b, (20, 60)) * 2"),
    "reshape_of_the_target": ("", "xl.reshape(a.T + 1, (1200,))"),
    "reshape_by_a_temporary": ("", "xl.reshape(a.T + 1, (40, 30)) * b"),
    "concat": ("", "xl.concat([a, b[:2] * 2])"),
    "concat_inside": ("", "xl.concat([a, b[:2]]) * 2"),
    "non_temporal": ("", "big * 2 + 1"),
    "tiled": ("", "a + t.T"),
    "tiled_three_dimensions": ("cubes", "xl.permute_dims(xl.ones((40, 30, 20)), (2, 1, 0)) * 2"),
    "assign": ("c[1:, ::2]", "a[1:, ::2] + b[:-1, 1::2]"),
    "in_place": ("a", "a * 2 + b"),
    "shift_down": ("v[:-1]", "v[1:] * 2"),
    "shift_up": ("a[1:]", "a[:-1] * 2"),
    "shift_both_ways": ("v[1:-1]", "(v[:-2] + v[2:]) / 2"),
    "own_transpose": ("s", "s + s.T"),
    "noalias": ("xl.noalias(s)", "s + s.T"),
    "sum": ("", "xl.sum(a * b)"),
    "sum_along": ("", "xl.sum(a * v, axis=1)"),
    "sum_across": ("", "xl.sum(a * v, axis=0)"),
    "sum_of_bfloat16": ("", "xl.sum(h, axis=1)"),
    "partial_sums": ("", "xl.sum(big)"),
    "extremes": ("", "xl.max(xl.abs(a), axis=1) - xl.min(f)"),
    "softmax": (
        "",
        "(e := xl.exp(a - xl.max(a, axis=1, keepdims=True))) / xl.sum(e, axis=1, keepdims=True)",
    ),
    "variance": ("", "xl.var(a, axis=0)"),
}


def explanation(name: str) -> Any:
    """Return the plan of one case."""
    destination, expression = CASES[name]
    namespace = operands()
    value = eval(expression, namespace)
    if not destination:
        return xl.explain(value)
    return xl.explain(eval(destination, namespace), value)


def text(name: str) -> str:
    """Return what the file of a case holds."""
    destination, expression = CASES[name]
    plan = explanation(name)
    parts = [f"{destination} <- {expression}" if destination else expression, "", str(plan)]
    for number, source in enumerate(dict.fromkeys(plan.sources), 1):
        parts += ["", f"--- kernel {number} ---", *listing(source)]
    return "\n".join(parts) + "\n"


def listing(source: str) -> list[str]:
    """Return what a kernel calls, in order, and how often its code touches each kind of memory."""
    calls = re.findall(r" = call .*? @(\w+)\.\d+\(", source)
    lines = [f"{len(re.findall(r'^loop', source, re.MULTILINE))} loops; calls {' '.join(calls)}"]
    for name, scopes in (("apart", "5"), ("destination", "6"), ("scratch", "78")):
        tag = re.compile(f"!alias.scope ![{scopes}],")
        touched = [line for line in source.splitlines() if tag.search(line)]
        loads = sum(" = load " in line for line in touched)
        words = 1 + source.count("add i64 %block,") if name == "apart" else 0
        lines.append(f"{name}: {loads - words} loads, {len(touched) - loads} stores")
    return lines
