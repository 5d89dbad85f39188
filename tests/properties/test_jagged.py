"""Jagged arrays against nested lists: any shape, operation and reduction, both engines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl

pytestmark = pytest.mark.once

Nest = Any

UNARY: list[tuple[Callable[[Any], Any], Callable[[float], float]]] = [
    (lambda a: a * 2 - 1, lambda x: x * 2 - 1),
    (lambda a: -abs(a), lambda x: -abs(x)),
    (lambda a: xl.where(a > 0, a, 3), lambda x: x if x > 0 else 3),
    (lambda a: a * a + 1, lambda x: x * x + 1),
]
FOLDS: dict[str, Callable[[list[float]], float]] = {
    "sum": sum,
    "prod": lambda row: float(np.prod(row)),
    "any": lambda row: any(x != 0 for x in row),
    "all": lambda row: all(x != 0 for x in row),
    "count_nonzero": lambda row: sum(x != 0 for x in row),
}
EXTREMES: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max}

numbers = st.integers(-2, 2)


@st.composite
def nests(draw: st.DrawFn, depth: int) -> Nest:
    """Draw nested lists of one depth; long rows now and then."""
    if depth == 1:
        length = draw(st.sampled_from((0, 1, 2, 3, 7, 9, 20, 70)))
        start = draw(numbers)
        return [float((start + 3 * k * k) % 5 - 2) for k in range(length)]
    return [draw(nests(depth - 1)) for _ in range(draw(st.integers(1, 4)))]


def each(nest: Nest, depth: int, function: Callable[..., Any], *others: Nest) -> Nest:
    """Apply a function to what lies at a depth."""
    if depth == 0:
        return function(nest, *others)
    parts = [
        [other[k] if isinstance(other, list) else other for other in others]
        for k in range(len(nest))
    ]
    return [each(item, depth - 1, function, *part) for item, part in zip(nest, parts, strict=True)]


engines = st.sampled_from([("compiled", 1), ("compiled", 2), ("reference", 1)])


@given(st.integers(1, 3).flatmap(lambda d: st.tuples(st.just(d), nests(d))), engines, st.data())
@settings(max_examples=60)
def test_elementwise(drawn: tuple[int, Nest], engine: tuple[str, int], data: st.DataObject) -> None:
    depth, nest = drawn
    operation, model = data.draw(st.sampled_from(UNARY))
    with xl.config(engine=engine[0], threads=engine[1]):
        a = xl.XJagged(nest, dtype="float64")
        assert a.to_list() == nest
        assert operation(a).to_list() == each(nest, depth, model)
        assert (a + operation(a)).to_list() == each(nest, depth, lambda x: x + model(x))
        target = a.copy()
        target[...] = operation(a) - a
        assert target.to_list() == each(nest, depth, lambda x: model(x) - x)


@given(st.integers(2, 3).flatmap(lambda d: st.tuples(st.just(d), nests(d))), engines, st.data())
@settings(max_examples=60)
def test_reductions(drawn: tuple[int, Nest], engine: tuple[str, int], data: st.DataObject) -> None:
    depth, nest = drawn
    name = data.draw(st.sampled_from([*FOLDS, *EXTREMES]))
    extra: dict[str, Any] = {"initial": 1} if name in EXTREMES else {}
    fold = FOLDS.get(name) or (lambda row: EXTREMES[name]([*row, 1]))
    with xl.config(engine=engine[0], threads=engine[1]):
        a = xl.XJagged(nest, dtype="float64")
        rows = getattr(xl, name)(a, axis=depth - 1, **extra)
        assert rows.tolist() == each(nest, depth - 1, fold)
        flat = a.flat.tolist()
        assert getattr(xl, name)(a, **extra).tolist() == fold(flat)
        kept = getattr(xl, name)(a * 1, axis=depth - 1, keepdims=True, **extra)
        want = each(nest, depth - 1, lambda row: [x - fold(row) for x in row])
        assert (a - kept).to_list() == want


@given(nests(2), engines, st.data())
@settings(max_examples=40)
def test_dense_operands_and_padding(
    nest: Nest, engine: tuple[str, int], data: st.DataObject
) -> None:
    per_row = np.array([[data.draw(numbers)] for _ in nest], dtype=float)
    with xl.config(engine=engine[0], threads=engine[1]):
        a = xl.XJagged(nest, dtype="float64")
        want = [[x * float(v[0]) for x in row] for row, v in zip(nest, per_row, strict=True)]
        assert (a * per_row).to_list() == want
        assert xl.XJagged.from_padded(a.to_padded(), [len(row) for row in nest]).to_list() == nest
        padded = (a * 1).to_padded(7.0)
        width = max(map(len, nest))
        assert padded.tolist() == [row + [7.0] * (width - len(row)) for row in nest]


@given(st.integers(2, 3).flatmap(nests), st.data())
@settings(max_examples=60)
def test_parts(nest: Nest, data: st.DataObject) -> None:
    a = xl.XJagged(nest, dtype="float64")
    low, high = data.draw(st.integers(0, len(nest))), data.draw(st.integers(0, len(nest)))
    assert a[low:high].to_list() == nest[low:high]
    k = data.draw(st.integers(-len(nest), len(nest) - 1))
    assert a[k].tolist() == nest[k]
    assert (a + 1)[k].tolist() == (xl.XJagged(nest, dtype="float64")[k] + 1).tolist()
    a[low:high] = 9
    nines = each(nest[low:high], a.ndim, lambda x: 9.0)
    kept = max(low, high)
    assert a.to_list() == nest[:low] + nines + nest[kept:]
