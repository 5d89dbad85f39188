"""Folds along some dimensions without a plan: the bits of a plan's, whatever lies where."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.arrays import memo, rules
from xarraylite.functions import reducers
from xarraylite.memory.snapshots import Copy
from xarraylite.runtime.launch import can_launch
from xarraylite.testing import assert_same_bits

RNG = np.random.default_rng(5)
DATA = np.where(RNG.random((7, 40, 9)) < 0.02, np.nan, RNG.standard_normal((7, 40, 9)) * 1e3)

#: Some of the numbers, column by column.
COLUMNS = xl.asarray(DATA[0].T.astype("f4")).T


def _columns(x: Any) -> Any:
    return COLUMNS[tuple(map(slice, x.shape[-2:]))]


FOLDS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda x, axis: xl.sum(x, axis=axis),
    "prod": lambda x, axis: xl.prod(x * 1e-3, axis=axis),
    "max": lambda x, axis: xl.max(x, axis=axis, keepdims=True),
    "min": lambda x, axis: xl.min(x, axis=axis),
    "any": lambda x, axis: xl.any(x > 900, axis=axis),
    "mean": lambda x, axis: xl.mean(x, axis=axis),
    "std": lambda x, axis: xl.std(x, axis=axis),
    "initial": lambda x, axis: xl.sum(x, axis=axis, initial=2),
    "where": lambda x, axis: xl.sum(x, axis=axis, where=x > 0),
    "computed": lambda x, axis: xl.sum(x * x - x * 2, axis=axis),
    "squares": lambda x, axis: xl.sum((x - x[0]) ** 2, axis=axis),
    "columns twice": lambda x, axis: xl.sum((x - _columns(x)) * _columns(x), axis=axis),
    "of a row": lambda x, axis: xl.sum(x - x[:1, :1], axis=axis),
    "of a computed row": lambda x, axis: xl.sum(x * xl.exp(x[:1] * 1e-3), axis=axis),
    "centred": lambda x, axis: x - xl.mean(x, axis=axis, keepdims=True),
}

#: What has a rule in all ranks, as nothing lies with strides in which there are extents.
RULED = ("sum", "prod", "max", "min", "any", "mean", "initial", "where", "computed", "squares")

PLACES: dict[str, Callable[[Any], Any]] = {
    "rows": lambda x: x,
    "slices": lambda x: x[1:, ::2, 1:5],
    "backwards": lambda x: x[::-1, :, ::-1],
    "turned": lambda x: x.transpose(2, 0, 1),
    "matrix": lambda x: x[2],
    "one row": lambda x: x[:1, :, :1],
}


@pytest.fixture
def in_a_loop(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """What says whether functions look for rules at once, and forgets what they remember."""

    def say(value: bool) -> None:
        monkeypatch.setattr(rules, "SHAPES", 1 if value else sys.maxsize)
        memo.forget_extents()
        for function in (reducers._folded, xl.mean, xl.std, xl.any):
            function.front.clear()  # type: ignore[attr-defined]

    return say


CASES = [
    *[(("sum", "max", "computed")[k % 3], place, "f8") for k, place in enumerate(PLACES)],
    *[(fold, "slices", "f8") for fold in FOLDS],
    *[("sum", "rows", dtype) for dtype in ("f4", "f2", "i2", "?", "c16")],
    *[("max", "rows", dtype) for dtype in ("f2", "u8")],
    ("columns twice", "matrix", "f4"),
]


@pytest.mark.parametrize(("fold", "place", "dtype"), CASES)
def test_bits_are_those_of_a_plan(
    fold: str, place: str, dtype: str, in_a_loop: Callable[[bool], None], engine: str
) -> None:
    plain = DATA if dtype[0] in "fc" else np.abs(np.nan_to_num(DATA))
    x = PLACES[place](xl.asarray(plain.astype(dtype)))
    for axes in (1, 2):
        for axis in itertools.combinations(range(-x.ndim, 0), axes):
            in_a_loop(True)
            FOLDS[fold](x, axis)
            made = FOLDS[fold](x, axis)
            at_once = any([isinstance(item, Copy) for item in made._operands])
            ruled = fold in RULED and place != "one row" and axes < x.ndim
            if ruled and engine == "compiled" and can_launch():
                assert at_once
            values = xl.eval(made)
            in_a_loop(False)
            assert_same_bits(values, FOLDS[fold](x, axis))


def test_it_is_computed_when_it_is_written(in_a_loop: Callable[[bool], None], engine: str) -> None:
    in_a_loop(True)
    x = xl.asarray(np.nan_to_num(DATA[0]))
    for _ in range(2):
        one, several = xl.sum(x * 2, axis=0), xl.sum(x, axis=0, where=x > 0)
        mean = xl.mean(x * 2, axis=1, keepdims=True)
    for made in (one, several, mean):
        if can_launch() or engine == "reference":
            assert isinstance(made._operands[0], Copy) is (engine != "reference")
    before, late = xl.eval(one), [xl.late(made) for made in (one, several, mean)]
    x[0, 0] += 5000.0
    assert_same_bits(one, before)
    in_a_loop(False)
    now = (
        xl.sum(x * 2, axis=0),
        xl.sum(x, axis=0, where=x > 0),
        xl.mean(x * 2, axis=1, keepdims=True),
    )
    for made, expected in zip(late, now, strict=True):
        assert_same_bits(made, expected)


def test_loops_over_ever_new_extents() -> None:
    x = np.nan_to_num(DATA[0])
    ours = xl.asarray(x)
    for k in [*range(3, 40), *range(3, 40, 4)]:
        part = ours[:k]
        np.testing.assert_allclose(part - part.mean(axis=0), x[:k] - x[:k].mean(axis=0))
        np.testing.assert_allclose(xl.std(part, axis=1, ddof=1), np.std(x[:k], axis=1, ddof=1))
        weights = xl.exp(part * 1e-3 - xl.max(part * 1e-3, axis=1, keepdims=True))
        share = weights / xl.sum(weights, axis=1, keepdims=True)
        np.testing.assert_allclose(xl.sum(share, axis=1), np.ones(k))
        assert_same_bits(xl.argmax(part, axis=1), np.argmax(x[:k], axis=1))
        ours[k % 40, 0] += 1.0
        x[k % 40, 0] += 1.0
