"""Results of operands that lie in another order of dimensions, by one program for all extents."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.operands.convert import computed
from xarraylite.runtime import evaluate
from xarraylite.runtime.program import Turned
from xarraylite.testing import assert_same_bits

M, T, V = (
    np.arange(np.prod(shape), dtype=float).reshape(shape) for shape in ((12, 12), (6, 7, 8), (12,))
)

#: What is computed of a matrix, of rank 3 and of a vector, for extents ``i``, ``j`` and ``k``.
CASES: dict[str, Callable[[Any, Any, Any, int, int, int], Any]] = {
    "with gaps": lambda m, t, v, i, j, k: m[:i, :j].T * 2,
    "without gaps": lambda m, t, v, i, j, k: m[:i].T * 2,
    "of a whole": lambda m, t, v, i, j, k: m.reshape(-1)[: i * j].reshape(i, j).T - 1,
    "in both orders": lambda m, t, v, i, j, k: m[:i, :i].T + m[:i, :i],
    "alike twice": lambda m, t, v, i, j, k: m[:i].T * m[:i].T,
    "lying apart": lambda m, t, v, i, j, k: m[:i, :j].T * t[0, :i, :j].T if i < 7 and j < 8 else v,
    "reversed": lambda m, t, v, i, j, k: m[:i][::-1] + 1,
    "reversed and turned": lambda m, t, v, i, j, k: m[:i, ::-1].T + 1,
    "stretched": lambda m, t, v, i, j, k: m[:i].T + v[:i],
    "stretched down": lambda m, t, v, i, j, k: m[:i].T - v[:, None],
    "of rank 3": lambda m, t, v, i, j, k: t[:i].T * 2,
    "two exchanged": lambda m, t, v, i, j, k: t[:i].transpose(1, 0, 2) * 2,
    "three in turn": lambda m, t, v, i, j, k: t[:i, :j].transpose(2, 0, 1) + 2,
    "narrower": lambda m, t, v, i, j, k: t[:, :, :k].transpose(0, 2, 1) + 2,
    "with a vector": lambda m, t, v, i, j, k: t[:i].transpose(2, 0, 1) + v[:7],
    "with a matrix": lambda m, t, v, i, j, k: t[:i].transpose(0, 2, 1) + m[:8, :7],
    "compared": lambda m, t, v, i, j, k: m[:i].T > 3,
}

EXTENTS = [*itertools.product((1, 2, 5), repeat=3), (0, 1, 2), (6, 7, 8), (3, 0, 1)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("asked", [xl.asarray, xl.XTensor])
def test_results_lie_as_the_planner_has_them_lie(case: str, asked: Callable[..., Any]) -> None:
    m, t, v = map(asked, (M, T, V))
    for i, j, k in EXTENTS:
        for _ in range(3):
            e = CASES[case](m, t, v, i, j, k)
            expected, made = computed(e, "eval"), xl.eval(e)
            np.testing.assert_array_equal(made, CASES[case](M, T, V, i, j, k))
            assert (made.strides, made.layout, type(made)) == (
                expected.strides,
                expected.layout,
                type(expected),
            )


def test_nothing_is_planned_for_new_extents(monkeypatch: pytest.MonkeyPatch) -> None:
    a = xl.asarray(T)
    for k in (3, 4, 5):
        xl.eval(a[:, :, :k].transpose(1, 0, 2) * 3)
        xl.eval(a[:k].transpose(1, 0, 2) * 3)
    e = a.transpose(1, 0, 2) * 3
    planned: list[object] = []
    plan = evaluate.planning.plan
    monkeypatch.setattr(evaluate.planning, "plan", lambda *a: planned.append(a) or plan(*a))
    for k in range(2, 7):
        xl.eval(a[:, :, :k].transpose(1, 0, 2) * 3)
        xl.eval(a[:k].transpose(1, 0, 2) * 3)
    assert not planned
    if xl.config.engine != "reference":
        assert isinstance(e._kind.fresh, Turned)


@pytest.mark.parametrize("strides", [(1, 1, 8), (1, 3, 4)])
def test_memory_that_overlaps_itself_is_in_no_order(strides: tuple[int, ...]) -> None:
    """Though it reaches as far as so many elements would."""
    memory = np.arange(100.0)
    memory.flags.writeable = False
    a = xl.adapt(memory, (2, 3, 2), strides=strides)
    want = np.lib.stride_tricks.as_strided(memory, (2, 3, 2), [8 * s for s in strides])
    for _ in range(400):
        assert_same_bits(xl.eval(a * 2 + 1), want * 2 + 1)
