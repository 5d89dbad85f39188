"""Results of arrays of ever new extents: the rule that some of them show, and what has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.arrays.any_length import AnyLength, Part, loosened, rule_of
from xarraylite.arrays.recipes import Recipe
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
    [(name, ["f8", "f4", "i4"][(k + k // 3) % 3]) for k, name in enumerate(TOTALS)],
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
    shapes = [(2, 3), (43, 61), (9, 9)]

    def rule(*constants: Any, shape: Any = ()) -> AnyLength | None:
        """The rule of a function with such constants, each given for every trace."""

        def divided(extents: tuple[int, ...]) -> list[Part]:
            k = shapes.index(extents)
            own = shape[k] if shape else ()
            recipe = Recipe(kind, own, tuple([c[k] for c in constants]), (0,), ())
            return [Part(recipe, own)]

        return rule_of(shapes, divided)

    found = rule(shapes, (6.0, 2623.0, 81.0), (5, 2622, 80), (0.5, 0.5, 0.5), (np.nan,) * 3)
    assert found is not None
    recipe = found.recipe([xl.ones((4, 5))])
    assert recipe is not None
    assert recipe.constants[:4] == ((4, 5), 20.0, 19, 0.5)
    assert np.isnan(recipe.constants[4])
    assert [type(c) for c in recipe.constants[1:3]] == [float, int]
    assert found.recipe([xl.ones((1, 5))]) is None  # fewer than it is known for
    turned = rule(shape=[shape[::-1] for shape in shapes])
    assert turned is not None
    assert turned.result((4, 5))[0] == (5, 4)
    for constants in (
        (4.0, 7.5, 3.0),
        (2.0, 3.0, 9.0),
        (6.0, 2623, 81.0),
        ((2, 3), (43, 61), (9, 8)),
        ((2, 3), (43, 61), (81,)),
    ):
        assert rule(constants) is None


@pytest.mark.parametrize("axis", [0, 1, (0, 2), -1])
def test_ever_new_extents_along_axes(axis: Any) -> None:
    values = np.random.default_rng(3).standard_normal((9, 40, 3))
    array = xl.asarray(values)
    extents = [(3, n) for n in range(40, 6, -1)] + [
        (m, n) for m in (9, 2, 5) for n in (40, 2, 3, 8)
    ]
    for m, n in [*extents, (1, 5), (5, 1), (1, 1), (7, 7)]:
        own, ours = values[:m, :n], array[:m, :n].copy()
        for made, expected in (
            (ours.sum(axis=axis), own.sum(axis=axis)),
            (xl.mean(ours * 2, axis), (own * 2).mean(axis)),
            (ours.std(axis=axis, keepdims=True, ddof=1.5), None),
            (xl.ptp(ours, axis=axis), np.ptp(own, axis=axis)),
            (xl.clip(ours, -0.5, 0.5), np.clip(own, -0.5, 0.5)),
        ):
            if expected is None:
                with np.errstate(all="ignore"):
                    expected = np.sqrt(
                        ((own - own.mean(axis, keepdims=True)) ** 2).sum(axis, keepdims=True)
                        / max(own.size / own.mean(axis).size - 1.5, 0)
                    )
            np.testing.assert_allclose(made, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shapes", ["wide", "tall"])
def test_diagonals_have_as_many_elements_as_the_shorter_dimension(shapes: str) -> None:
    """Traced for wide matrices and for tall ones, whichever a loop begins with."""
    values = np.arange(10_000.0).reshape(100, 100)
    array = xl.asarray(values)
    extents = [(n, 2 * n) for n in range(4, 45)] + [(2 * n, n) for n in range(4, 45)]
    for m, n in extents if shapes == "wide" else extents[::-1]:
        part, same = array[:m, :n], values[:m, :n]
        assert xl.trace(part) == np.trace(same)
        assert xl.trace(part * 2, offset=1) == np.trace(same * 2, offset=1)
        assert xl.mean(xl.diagonal(part)) == np.mean(np.diagonal(same))


@pytest.mark.parametrize("offset", [0, 1, 2, -1, 30])
def test_diagonals_beside_the_main_one_end_where_the_matrix_does(offset: int) -> None:
    """What is learned of square matrices holds of all: a rule of columns alone read past rows."""
    values = np.arange(10_000.0).reshape(100, 100)
    array = xl.asarray(values)
    for k in range(4, 42):
        assert xl.trace(array[:k, :k], offset) == np.trace(values[:k, :k], offset)
    for m, n in ((5, 9), (9, 5), (3, 90), (90, 3), (7, 60)):
        assert xl.trace(array[:m, :n], offset) == np.trace(values[:m, :n], offset)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("less", [3, 2.5])
def test_less_is_left_of_a_later_axis_than_was_traced(less: float) -> None:
    """A variance of fewer elements than are subtracted is infinite."""
    rng = np.random.default_rng(3)
    for shape in [*((k, k + 7) for k in range(5, 45)), (8, 2), (9, 3), (20, 1)]:
        values = rng.random(shape)
        for found, expected in (
            (xl.var(xl.asarray(values), axis=1, ddof=less), np.var(values, axis=1, ddof=less)),
            (xl.std(xl.asarray(values), axis=1, ddof=less), np.std(values, axis=1, ddof=less)),
        ):
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-12)
