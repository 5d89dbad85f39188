"""Tiled operands and destinations: NumPy's values with NumPy's bits, whatever the layouts.

The padding of every operand is poisoned (all its bits are ones: NaN, -1), so a result that ever
read it would show; that of every destination must still be poisoned afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import trees
from tests.properties.oracle import reduce as reference
from tests.properties.tiling import LAYOUTS, padding_of, poisoned
from xarraylite.testing import assert_same_bits
from xarraylite.testing import strategies as xst
from xarraylite.testing.strategies import fill

Array = np.ndarray[Any, np.dtype[Any]]
F4, I4 = np.dtype("f4"), np.dtype("i4")
BF16 = np.dtype(ml_dtypes.bfloat16)
SIDES = (1, 2, 3, 4, 5, 8, 9)


@st.composite
def tiled(
    draw: st.DrawFn, dtype: np.dtype[Any], shape: tuple[int, ...], *, plain: bool = True
) -> xst.Sample:
    """Draw an operand of a shape: a tiled array with poisoned padding, or a view of one."""
    layout = draw(st.sampled_from(LAYOUTS[len(shape)]))
    values = fill(dtype, shape, draw(st.integers(0, 99)), plain=plain)
    how = draw(st.sampled_from(("whole", "whole", "reversed", "gaps", "transposed")))
    if how == "reversed":
        key: Any = (slice(None, None, -1),) * len(shape)
        return xst.Sample(poisoned(values[key], layout)[(*key, ...)], values, layout)
    if how == "gaps":
        around = fill(dtype, tuple(2 * n + 1 for n in shape), 1, plain=True)
        key = (slice(1, None, 2),) * len(shape)
        around[key] = values
        return xst.Sample(poisoned(around, layout)[(*key, ...)], values, layout)
    if how == "transposed":
        return xst.Sample(poisoned(values.T, layout).T, values, layout)
    return xst.Sample(poisoned(values, layout), values, layout)


def shapes(least: int = 0, most: int = 3) -> st.SearchStrategy[tuple[int, ...]]:
    return st.lists(st.sampled_from(SIDES), min_size=least, max_size=most).map(tuple)


@st.composite
def mixed(draw: st.DrawFn, count: int, dtype: np.dtype[Any]) -> list[xst.Sample]:
    """Draw operands of one shape, mostly of the same rank."""
    shape = draw(shapes())
    drop = draw(st.integers(0, 3)) == 0 and len(shape) > 0
    parts = [shape] * (count - 1) + [shape[1:] if drop else shape]
    return [draw(tiled(dtype, part)) for part in parts]


FORMULAS: tuple[Callable[..., Any], ...] = (
    lambda x, y: x + y,
    lambda x, y: x * 2 - y * x,
    lambda x, y: x - 1,
)


@given(st.data(), st.sampled_from((F4, I4, BF16)), st.sampled_from(FORMULAS))
@settings(max_examples=60)
def test_elementwise(data: st.DataObject, dtype: np.dtype[Any], formula: Any) -> None:
    x, y = data.draw(mixed(2, dtype))
    result = xl.eval(formula(x.operand, y.operand))
    assert_same_bits(result, formula(x.array, y.array))
    assert x.unchanged()
    assert y.unchanged()


@pytest.mark.once
@given(st.data())
@settings(max_examples=25)
def test_random_expressions(data: st.DataObject) -> None:
    operands = data.draw(mixed(2, F4))
    tree = data.draw(trees.trees(operands, depth=2))
    with xl.config(engine=data.draw(st.sampled_from(("reference", "reference", "compiled")))):
        assert_same_bits(tree.xl([x.operand for x in operands]), tree.value)


@given(st.data())
@settings(max_examples=30)
def test_reductions(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from((F4, I4)))
    x = data.draw(tiled(dtype, data.draw(shapes(1))))
    name = data.draw(
        st.sampled_from(("sum", "max", "min", "prod", "any", "all", "argmax", "argmin", "var"))
    )
    axes = [k for k in range(x.array.ndim) if data.draw(st.booleans())]
    axis: Any = data.draw(st.sampled_from((None, tuple(axes))))
    if name.startswith("arg"):
        axis = data.draw(st.sampled_from((None, *range(x.array.ndim))))
    keepdims = data.draw(st.booleans())
    if name == "var":
        ours = xl.var(x.operand.astype("f8") if dtype == I4 else x.operand, axis=axis)
        expected = np.var(x.array.astype("f8"), axis=axis)
        np.testing.assert_allclose(ours.numpy(), expected, rtol=1e-5, atol=1e-5)
        return
    ours = getattr(xl, name)(x.operand, axis=axis, keepdims=keepdims)
    assert_same_bits(ours, reference(name, x.array, axis, keepdims))


@pytest.mark.parametrize("name", ["sum", "argmax"])
def test_partial_results_join_where_no_loop_nest_writes(name: str) -> None:
    values = fill(I4, (3, 100_001), 5, plain=True)
    expected = getattr(np, name)(values, axis=1)
    for text in ("{1,0}", "{1,0:T(2,128)}"):
        out = xl.zeros(3, dtype="i8", layout="{0:T(2)(2)(*,3)}")
        out[...] = getattr(xl, name)(xl.asarray(values, layout=text), axis=1)
        assert_same_bits(out, expected.astype("i8"))


def test_operands_whose_tiles_do_not_fit_the_destination_are_copied() -> None:
    """Tiles of 503 and 509 columns: more boxes than one kernel may have."""
    values = fill(np.dtype("i1"), (2, 500_000, 2), 5, plain=True)
    a = xl.asarray(values, layout="{2,1,0:T(2,503,2)}")
    out = xl.zeros((2, 500_000), dtype="i8", layout="{1,0:T(2,509)}")
    out[...] = xl.sum(a, axis=2)
    assert_same_bits(out, values.sum(2, "i8"))
    out[...] = a[:, :, 0] + out
    assert_same_bits(out, values.sum(2, "i8") + values[:, :, 0])


@st.composite
def boxes(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Draw an index that keeps all dimensions."""
    return (*[draw(st.slices(n)) for n in shape], ...)


@given(st.data(), st.sampled_from((F4, BF16)))
@settings(max_examples=60)
def test_writing_leaves_the_padding_alone(data: st.DataObject, dtype: np.dtype[Any]) -> None:
    x = data.draw(tiled(dtype, data.draw(shapes())))
    target, before = x.operand, padding_of(x.operand)
    expected = x.array.copy()
    key = data.draw(boxes(expected.shape))
    y = data.draw(tiled(dtype, expected[key].shape) if expected[key].size else st.none())
    how = data.draw(st.sampled_from(("assign", "scalar", "add", "square")))
    if how == "scalar" or y is None:
        target[key] = 3
        expected[key] = 3
    elif how == "assign":
        target[key] = y.operand
        expected[key] = y.array
    elif how == "add":
        target[key] += y.operand
        expected[key] += y.array
    else:
        target[key] *= target[key]
        expected[key] *= expected[key]
    assert_same_bits(target, expected)
    assert padding_of(target) == before


def total(a: Any) -> Any:
    """The sum of each column, in the dtype of ``a``."""
    return np.sum(a, 0, I4) if isinstance(a, np.ndarray) else xl.sum(a, axis=0, dtype=I4)


SQUARES = LAYOUTS[2]
OVERLAPS: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("a[1:] = a[:-1]", lambda a: (np.s_[1:], a[:-1])),
    ("a[:-1] = a[1:]", lambda a: (np.s_[:-1], a[1:])),
    ("a[:, 1:] = a[:, :-1]", lambda a: (np.s_[:, 1:], a[:, :-1])),
    ("a[:, :-2] = a[:, 2:] + a[:, :-2]", lambda a: (np.s_[:, :-2], a[:, 2:] + a[:, :-2])),
    ("a[1:, 1:] = a[:-1, :-1] - a[:-1, 1:]", lambda a: (np.s_[1:, 1:], a[:-1, :-1] - a[:-1, 1:])),
    ("a[3:, :-1] = a[:-3, 1:]", lambda a: (np.s_[3:, :-1], a[:-3, 1:])),
    ("a[1:-1] = a[2:] + a[:-2]", lambda a: (np.s_[1:-1], a[2:] + a[:-2])),
    ("a[1:, 1:] = a[:-1, 1:] + a[1:, :-1]", lambda a: (np.s_[1:, 1:], a[:-1, 1:] + a[1:, :-1])),
    ("a[:4] = a[::2]", lambda a: (np.s_[:4], a[::2])),
    ("a[1:, ::-1] = a[:-1]", lambda a: (np.s_[1:, ::-1], a[:-1])),
    ("a[...] = a[0]", lambda a: (np.s_[...], a[0])),
    ("a[...] = a.T", lambda a: (np.s_[...], a.T)),
    ("a[::2] = a[1::2]", lambda a: (np.s_[::2], a[1::2])),
    ("a[...] = a + a[::-1]", lambda a: (np.s_[...], a + a[::-1])),
    ("a[...] = a[:, ::-1] - a.T", lambda a: (np.s_[...], a[:, ::-1] - a.T)),
    ("a[4:] = a[:4]", lambda a: (np.s_[4:], a[:4])),
    ("a[0] = sum of a", lambda a: (np.s_[0], total(a))),
    ("a[:, 0] = a[::-1, 1]", lambda a: (np.s_[:, 0], a[::-1, 1])),
    ("a[...] = a[index]", lambda a: (np.s_[...], a[np.array([1, 0, 3, 2, 5, 4, 7, 7])])),
)


@pytest.mark.once
@together("engine", ["compiled", "reference"])
@together("case", OVERLAPS, ids=[name for name, _ in OVERLAPS])
def test_overlapping_views_are_as_copied_first(case: Any, engine: str) -> None:
    start = fill(I4, (8, 8), 3, plain=True)
    with xl.config(engine=engine):
        for layout in SQUARES:
            container, expected = poisoned(start, layout), start.copy()
            before = padding_of(container)
            key, value = case[1](expected)
            expected[key] = np.array(value)
            key, value = case[1](container)
            container[key] = value
            assert_same_bits(container, expected)
            assert padding_of(container) == before


@given(st.data())
@settings(max_examples=60)
def test_random_overlaps(data: st.DataObject) -> None:
    layout = data.draw(st.sampled_from(SQUARES))
    start = fill(I4, (9, 8), 5, plain=True)
    length = data.draw(st.integers(1, 4))

    def part(extent: int) -> slice:
        step = data.draw(st.sampled_from((1, 1, 2, -1, -2)))
        first = data.draw(st.integers(0, extent - 1 - (length - 1) * abs(step)))
        key = slice(first, first + (length - 1) * abs(step) + 1, abs(step))
        return key if step > 0 else slice(key.stop - 1, first - 1 if first else None, step)

    into, out = (part(9), part(8)), (part(9), part(8))
    container, expected = poisoned(start, layout), start.copy()
    turned = data.draw(st.booleans())
    expected[into] = (start[out].T if turned else start[out]).copy()
    container[into] = container[out].T if turned else container[out]
    assert_same_bits(container, expected)
