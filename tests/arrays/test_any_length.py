"""Totals of arrays of ever new lengths: the rule that two of them show, and what has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.arrays.any_length import AnyLength, loosened, of_two
from xarraylite.arrays.memo import Recipe
from xarraylite.functions import means

V = np.random.default_rng(11).random((9, 40)) - 0.3

TOTALS: dict[str, Callable[[Any, Any], Any]] = {
    "mean": lambda xp, x: xp.mean(x),
    "std": lambda xp, x: xp.std(x),
    "var less one": lambda xp, x: xp.var(x, ddof=1),
    "var less three": lambda xp, x: xp.var(x, ddof=3),
    "nanstd": lambda xp, x: xp.nanstd(x),
    "average": lambda xp, x: xp.average(x),
    "ptp": lambda xp, x: xp.ptp(x),
    "norm": lambda xp, x: xp.linalg.norm(x),
    "count": lambda xp, x: xp.count_nonzero(x > 0),
    "any": lambda xp, x: xp.any(x > 0.69),
    "median": lambda xp, x: xp.median(x),
    "of what is computed": lambda xp, x: xp.mean(x * 2 - 1),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for k, name in enumerate(TOTALS) for dtype in ("f8", ["f4", "i4"][k % 2])],
)
def test_ever_new_lengths(name: str, dtype: str) -> None:
    total = TOTALS[name]
    values = (V * 10).astype(dtype)
    array = xl.asarray(values.copy())
    close = {"rtol": 1e-12} if dtype != "f4" else {"rtol": 1e-5, "atol": 1e-5}
    for n in (7, 12, 9, 30, 4, 40, 3, 2, 1, 17, 23):
        np.testing.assert_allclose(
            float(total(xl, array[0, :n])), total(np, values[0, :n]), **close
        )
    for n in (1, 2, 3, 10, 12):  # of few elements less three none is left
        found, expected = total(xl, array[1, :n]), total(np, values[1, :n])
        np.testing.assert_allclose(float(found), expected, **close)
    for m, n in ((2, 3), (4, 5), (3, 2), (9, 40), (6, 6), (1, 6), (6, 1), (5, 9)):
        found, expected = total(xl, array[:m, :n]), total(np, values[:m, :n])
        np.testing.assert_allclose(float(found), expected, **close)
        assert found.dtype == np.asarray(expected).dtype


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("less", [2, 3, 5])
def test_lengths_that_grow_from_fewer_than_are_subtracted(less: int) -> None:
    means.var.front.clear()  # type: ignore[attr-defined]
    a = xl.asarray(V[2].copy())
    for n in (1, 2, 1, 3, 10, 4, 12, 6, 40):
        expected = np.var(V[2, :n], ddof=less)
        np.testing.assert_allclose(float(xl.var(a[:n], ddof=less)), expected, rtol=1e-12)


def test_the_rule_of_a_mean() -> None:
    known = means.mean.front  # type: ignore[attr-defined]
    known.clear()
    a = xl.asarray(V[0].copy())
    key = (type(a), a._kind, a._shape)
    assert loosened(key, [a]) == (type(a), a._kind, 1)
    assert loosened((*key, *key), [a, a]) == (type(a), a._kind, 1) * 2
    assert loosened(key, []) is None
    totals = [xl.mean(a[:n]) for n in range(5, 15)]
    a[:] = 0.0
    np.testing.assert_allclose([float(t) for t in totals], [V[0, :n].mean() for n in range(5, 15)])


def test_what_differs_in_anything_else_has_no_rule() -> None:
    kind = (xl.arange(3.0) * 2)._kind

    def recipe(*constants: Any) -> Recipe:
        return Recipe(kind, (), constants, (0,), ())

    rule = of_two(recipe((4,), 4.0, 3.0, 0.5), 4, recipe((7,), 7.0, 6.0, 0.5), 7)
    assert isinstance(rule, AnyLength)
    assert (rule.constants[1:], rule.least) == (([0.0], [1.0], 0.5), 4)
    for one, other in (
        (recipe(4.0), recipe(7.5)),
        (recipe(2.0), recipe(49.0)),
        (recipe((4,)), recipe((3, 2))),
        (recipe(4), recipe(7)),
        (recipe(1.0), recipe(1.0, 2.0)),
    ):
        assert of_two(one, 4, other, 7) is None
    assert of_two(recipe(4.0), 4, recipe(4.0), 4) is None
