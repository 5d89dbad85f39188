"""Views of one tiled array assigned slab by slab: values, orders, temporaries, kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.compiler.test_plan import program_into
from tests.properties.tiling import padding_of, poisoned
from xarraylite.compiler import traversal
from xarraylite.compiler.program import TraversalStep
from xarraylite.dtypes.names import as_dtype
from xarraylite.testing import assert_same_bits, count_allocations

pytestmark = pytest.mark.usefixtures("compiled")

F32, PAIRS = "{1,0:T(8,128)}", "{1,0:T(8,128)(2,1)}"


def array(layout: str = F32, dtype: Any = "i4", shape: tuple[int, int] = (37, 300)) -> Any:
    values = (np.arange(np.prod(shape)) % 113 - 50).reshape(shape).astype(dtype)
    return values, poisoned(values, layout)


def note(to: Any, value: Any) -> str:
    (text,) = xl.explain(to, value).steps
    return text


@pytest.mark.parametrize(
    ("key", "source", "expected"),
    [
        (np.s_[1:], np.s_[:-1], "result [18 slabs along axis 0, from the last]"),
        (np.s_[:-1], np.s_[1:], "result [18 slabs along axis 0, from the first]"),
        (np.s_[:, 1:], np.s_[:, :-1], "result [10 slabs along axis 1, from the last]"),
        (np.s_[2:, 3:], np.s_[:-2, :-3], "result [95 slabs along axis 0, from the last]"),
    ],
)
def test_shifts_need_no_temporary(key: Any, source: Any, expected: str) -> None:
    values, a = array()
    assert note(a[key], a[source] * 3 - 1) == expected
    before = padding_of(a)
    with count_allocations() as count:
        a[key] = a[source] * 3 - 1
    assert count.temporaries == 0
    values[key] = values[source] * 3 - 1
    assert_same_bits(a, values)
    assert padding_of(a) == before


def test_slabs_are_whole_where_rows_differ_alone() -> None:
    """Seven rows of a tile come from the same tile, the eighth from its neighbour."""
    _, a = array(shape=(64, 512))
    (step,) = program_into(a[1:], xl.XExpression(a[:-1].node) * 2).steps
    assert isinstance(step, TraversalStep)
    assert len(step.visits) == 15
    assert len(step.kernels) == 3, "seven rows at the start, and both kinds of the others"


def test_every_byte_is_counted() -> None:
    _, a = array(shape=(37, 300))
    assert xl.explain(a[1:], a[:-1]).bytes_moved == 2 * 36 * 300 * 4


def test_only_the_operand_that_needs_it_is_copied() -> None:
    values, a = array()
    expression = a[:-1] + a[1:, ::-1] * 2
    plan = xl.explain(a[1:], expression)
    assert [t.nbytes for t in plan.temporaries] == [36 * 300 * 4]
    assert "before this operand is read" in plan.temporaries[0].reason
    assert "slabs along axis 0, from the last" in plan.steps[-1]
    expected = values[:-1] + values[1:, ::-1] * 2
    a[1:] = expression
    values[1:] = expected
    assert_same_bits(a, values)


def test_directions_that_contradict_cost_one_copy() -> None:
    values, a = array()
    expression = a[2:] + a[:-2]
    assert len(xl.explain(a[1:-1], expression).temporaries) == 1
    expected = values[2:] + values[:-2]
    a[1:-1] = expression
    values[1:-1] = expected
    assert_same_bits(a, values)


@together("rows", [2, 3, 7])
@together("sign", [1, -1])
def test_operands_that_share_a_slab_and_operands_that_do_not(rows: int, sign: int) -> None:
    """One is read a row ahead, the other far enough ahead that slabs of several rows would do."""
    values, a = array("{1,0:T(16,16)}", shape=(48, 40))
    expected, c, v = values.copy(), a[::sign], values[::sign]
    with count_allocations() as count:
        c[rows:, 2:] = c[rows - 1 : -1, 2:] + c[:-rows, :-2]
    assert count.temporaries == 0
    expected[::sign][rows:, 2:] = v[rows - 1 : -1, 2:] + v[:-rows, :-2]
    assert_same_bits(a, expected)


def test_a_row_that_is_read_again_and_again_is_read_where_it_lies() -> None:
    """In one slab it is the row that is written; that says nothing of the others' operands."""
    values, a = array("{1,0:T(16,3)}", shape=(5, 5))
    expected = values.copy()
    with count_allocations() as count:
        a[1:, :3] = a[1:2, :3] * 100 + a[:-1, 2:]
    assert count.temporaries == 0
    expected[1:, :3] = values[1:2, :3] * 100 + values[:-1, 2:]
    assert_same_bits(a, expected)


@pytest.mark.parametrize("layout", ["{1,0}", "{0,1}", PAIRS, "{0,1:T(5,3)}"])
def test_other_operands_have_any_layout(layout: str) -> None:
    values, a = array()
    other = xl.asarray(values[::-1].copy(), layout=layout)
    with count_allocations() as count:
        a[1:] = a[:-1] * 2 + other[1:]
    assert count.temporaries == 0
    expected = values.copy()
    expected[1:] = values[:-1] * 2 + values[::-1][1:]
    assert_same_bits(a, expected)


@together(
    ("layout", "dtype"),
    [(PAIRS, "bfloat16"), ("{1,0:T(8,128)(4,1)}", "i1"), ("{1,0:T(8,128)E(4)}", "int4")],
)
@together("key", [np.s_[1:], np.s_[:, 5:], np.s_[3:, 1:]])
def test_narrow_and_packed_elements(layout: str, dtype: str, key: Any) -> None:
    ints = (np.arange(37 * 300) % 7).reshape(37, 300)
    values = ints.astype(as_dtype(dtype))
    a = poisoned(values, layout)
    keys = key if isinstance(key, tuple) else (key,)
    source = tuple([slice(None, -k.start if k.start else None) for k in keys])
    before = padding_of(a)
    with count_allocations() as count:
        a[key] = a[source]
    assert count.temporaries == 0
    expected = values.copy()
    expected[key] = values[source]
    assert_same_bits(a, expected)
    assert padding_of(a) == before


def keys(data: st.DataObject, shape: tuple[int, ...], counts: tuple[int, ...]) -> tuple[slice, ...]:
    firsts = [data.draw(st.integers(0, n - m)) for n, m in zip(shape, counts, strict=True)]
    return tuple([slice(k, k + m) for k, m in zip(firsts, counts, strict=True)])


@given(st.data(), st.sampled_from(("{1,0:T(4,3)}", "{1,0:T(16,3)}", "{0,1:T(4,4)(2,1)}")))
@settings(max_examples=25)
def test_any_windows_of_one_array(data: st.DataObject, layout: str) -> None:
    """Windows of one size, and single rows that are read again and again."""
    shape, counts = (12, 9), (data.draw(st.integers(4, 12)), data.draw(st.integers(3, 9)))
    values, a = array(layout, shape=shape)
    to, *sources = [keys(data, shape, counts) for _ in range(3)]
    if data.draw(st.booleans()):
        row = data.draw(st.integers(0, shape[0] - 1))
        sources[0] = (slice(row, row + 1), sources[0][1])
    before, expected = padding_of(a), values.copy()
    expected[to] = values[sources[0]] * 3 - values[sources[1]]
    a[to] = a[sources[0]] * 3 - a[sources[1]]
    assert_same_bits(a, expected)
    assert padding_of(a) == before


def test_too_many_slabs_are_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversal, "MOST_SLABS", 3)
    values, a = array(shape=(41, 300))
    assert len(xl.explain(a[1:], a[:-1] - 7).temporaries) == 1
    a[1:] = a[:-1] - 7
    expected = values.copy()
    expected[1:] = values[:-1] - 7
    assert_same_bits(a, expected)


def test_values_that_wait_are_kept() -> None:
    """Somebody's expression of the array means what it meant before the traversal."""
    values, a = array()
    held = a + 1
    a[1:] = a[:-1]
    assert_same_bits(held, values + 1)


def test_repeated_assignments_take_fresh_scalars() -> None:
    values, a = array()
    for k in range(4):
        a[1:] = a[:-1] + k
        expected = values.copy()
        expected[1:] = values[:-1] + k
        values = expected
    assert_same_bits(a, values)
