"""Results of one value written to elements, rows and all of an array: computed, then stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays import container, few
from xarraylite.testing import count_allocations

#: More than the first evaluations of a kind, which are interpreted.
ROUNDS = 20

#: What is written, of a vector; the namespace and the vector are given.
VALUES: dict[str, Any] = {
    "sum": lambda np, v: np.sum(v * v),
    "sum of a part": lambda np, v: np.sum(v[1:4]),
    "quotient of sums": lambda np, v: np.sum(v[1:4]) / np.sum(v),
    "mean": lambda np, v: np.mean(v),
    "max": lambda np, v: v.max(),
    "argmax": lambda np, v: np.argmax(v),
    "count": lambda np, v: (v > 1).sum(),
    "any": lambda np, v: np.any(v > 1),
    "product": lambda np, v: v @ v,
    "dot": lambda np, v: np.dot(v, v),
    "function of an element": lambda np, v: np.sqrt(np.abs(v[2])),
}
DTYPES = ["float64", "float32", "int64", "int8", "uint8", "bool", "complex128", "float16"]
KEYS: list[Any] = [2, -1, slice(1, 4), slice(None, None, 2), Ellipsis, np.int64(3)]


def _vector(dtype: str) -> np.ndarray[Any, Any]:
    return np.asarray([3, 0, 1, 2, 5, 1], dtype)


@together(
    ("what", "dtype", "to"),
    [
        (what, ["float64", "float32", "int64", "uint8"][(turn + k) % 4], to)
        for turn, what in enumerate(VALUES)
        for k, to in enumerate([*DTYPES, *DTYPES[1:]])
    ],
)
def test_is_stored_as_numpy_stores_it(what: str, dtype: str, to: str) -> None:
    v, there = xl.asarray(_vector(dtype)).copy(), xl.zeros(6, dtype=to)
    for k in range(ROUNDS):
        key = KEYS[k % len(KEYS)]
        here = np.zeros(6, to)
        here[key] = np.asarray(VALUES[what](xl, v))
        there[...] = 0
        there[key] = VALUES[what](xl, v)
        assert there.dtype == to
        assert np.array_equal(there.copy().numpy(), here)


@together("what", VALUES)
def test_reads_before_it_writes(what: str) -> None:
    """What an array's own element is computed of is what it held before."""
    here, there = _vector("float64"), xl.asarray(_vector("float64")).copy()
    for k in range(ROUNDS):
        k %= 6
        here[k] = VALUES[what](np, here) % 7
        there[k] = VALUES[what](xl, there) % 7
        np.testing.assert_allclose(there.copy().numpy(), here, rtol=1e-14)


def test_what_waits_for_the_old_values_has_them() -> None:
    v = xl.asarray(_vector("float64")).copy()
    for _ in range(ROUNDS):
        old = v.copy().numpy()
        twice, total = v * 2, xl.sum(v)
        v[1] = xl.sum(v * v)
        assert np.array_equal(np.asarray(twice), old * 2)
        assert float(total) == old.sum()
        assert v[1] == (old * old).sum()
        v[1] = 0


def test_refusals_are_those_of_assignments() -> None:
    v = xl.asarray(_vector("float64"))
    for key in (6, (0, 0), slice(0, 2, 0)):
        before = v.copy().numpy()
        with pytest.raises((IndexError, ValueError)):
            v[key] = xl.sum(v)
        assert np.array_equal(v.copy().numpy(), before)
    values = np.ones(3)
    values.flags.writeable = False
    fixed = xl.adapt(values)
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = xl.sum(v)


def test_traced_functions_write_what_they_compute() -> None:
    out = xl.zeros(3)

    @xl.jit
    def total(a: Any) -> Any:
        return xl.sum(a * 2)

    for k in range(ROUNDS):
        out[k % 3] = total(xl.full(4, float(k)))
        assert out[k % 3] == 8.0 * k


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("what", ["sum", "max", "argmax", "count", "product"])
def test_nothing_is_planned_for_elements(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    v, out = xl.asarray(_vector("float64")).copy(), xl.zeros(4)
    out[1] = VALUES[what](xl, v)
    monkeypatch.setattr(container, "write", None)
    out[2] = VALUES[what](xl, v)
    assert out[2] == out[1] != 0


@pytest.mark.usefixtures("compiled")
def test_rows_with_totals_are_written_by_kept_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    v, m = xl.asarray(_vector("float64")).copy(), xl.zeros((4, 6))
    for k in range(ROUNDS):
        m[k % 4] = v / xl.sum(v)
    monkeypatch.setattr(container, "write", None)
    for k in range(4):
        m[k] = v / xl.sum(v)
    assert np.array_equal(m.copy().numpy(), [_vector("float64") / 12] * 4)


@pytest.mark.parametrize("key", [np.asarray([True, False, True]), [0, 1]])
def test_what_cannot_be_stored_at_once_is_not_computed_for_it(
    key: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The general way computes it, once."""
    v = xl.zeros(3)
    waits = v + 1.0
    monkeypatch.setattr(few, "values_of", None)
    v[key] = xl.sum(xl.asarray([1.0, 2.0, 3.0]) * 2)
    monkeypatch.undo()
    expected = np.zeros(3)
    expected[key] = 12
    assert np.array_equal(v.copy().numpy(), expected)
    assert np.array_equal(np.asarray(waits), np.ones(3))


@pytest.mark.usefixtures("compiled")
def test_a_value_that_reads_the_array_is_stored_without_a_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its own reading is nobody's who waits; who holds it still has what it read."""
    v, there = xl.asarray(_vector("float64")).copy(), _vector("float64")
    monkeypatch.setattr(container, "write", None)
    for k in range(ROUNDS):
        i = 1 + k % 5
        with count_allocations() as count:
            v[i] = (v[0] - xl.sum(v[:i] * v[:i])) / 3
        there[i] = (there[0] - np.sum(there[:i] * there[:i])) / 3
        assert count.snapshots == 0
        assert np.array_equal(v.copy().numpy(), there)
        v[i] = there[i] = k % 3
    monkeypatch.undo()
    total = xl.sum(v * 2)
    expected = float(xl.sum(v.copy() * 2))
    v[0] = total
    v[1] = 100.0
    assert float(total) == expected == v[0]


def test_numbers_of_every_class_are_written_into_bools() -> None:
    mask = np.array([True, False, True])
    for value in (2.5, 0.0, np.nan, 3, 0j, 1j, np.float32(0.5), np.int8(0), True):
        for key in (0, mask, slice(1, 3), ...):
            a, v = xl.asarray([False, True, False]), np.array([False, True, False])
            a[xl.asarray(key) if key is mask else key] = value
            v[key] = value
            assert a.tolist() == v.tolist()
