"""Writing labelled expressions: destinations that are read, pending readers, memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import count_allocations

Array = np.ndarray[Any, np.dtype[Any]]
Write = Callable[[Any, Any], None]


def square(n: int = 40) -> tuple[Any, Array]:
    values = np.random.default_rng(5).random((n, n))
    return xl.asarray(values), values


def assign(c: Any, b: Any) -> None:
    c["i,k"] = c["i,j"] * b["j,k"]


def assign_transposed(c: Any, b: Any) -> None:
    c["k,i"] = c["i,j"] * b["j,k"]


def add(c: Any, b: Any) -> None:
    c["i,k"] += c["i,j"] * b["j,k"]


def add_rows(c: Any, b: Any) -> None:
    c["i,k"] = c["i,k"] * c["i,j"] - b["i,k"] * c["k,i"]


def permute(c: Any, b: Any) -> None:
    c["i,j"] = c["j,i"]


def views(c: Any, b: Any) -> None:
    c[1:, 1:]["i,k"] = c[:-1, :-1]["j,i"] * b[1:, 1:]["k,j"]


def by_noalias(c: Any, b: Any) -> None:
    xl.noalias(c)["i,k"] = b["i,j"] * b["j,k"]
    xl.noalias(c)["i,k"] -= 2 * b["i,k"]
    xl.noalias(c)[1:]["i,k"] *= 2


def shifted(c: Array, b: Array) -> Array:
    result = c.copy()
    result[1:, 1:] = np.einsum("ji,kj->ik", c[:-1, :-1], b[1:, 1:])
    return result


def promised(c: Array, b: Array) -> Array:
    result: Array = b @ b - 2 * b
    result[1:] *= 2
    return result


EXPECTED: dict[Write, Callable[[Array, Array], Any]] = {
    assign: lambda c, b: c @ b,
    assign_transposed: lambda c, b: (c @ b).T,
    add: lambda c, b: c + c @ b,
    add_rows: lambda c, b: c * c.sum(1, keepdims=True) - b * c.T,
    permute: lambda c, b: c.T,
    views: shifted,
    by_noalias: promised,
}


@together("layout", ["row_major", "column_major", "{1,0:T(8,16)}"])
@together("write", EXPECTED)
def test_a_destination_that_is_read(write: Write, layout: str) -> None:
    values = square()[1]
    c, b = xl.asarray(values, layout=layout), xl.asarray(values[::-1].copy())
    write(c, b)
    np.testing.assert_allclose(np.asarray(c), EXPECTED[write](values, values[::-1]), rtol=1e-12)


@together("write", EXPECTED)
def test_pending_readers_keep_the_old_values(write: Write) -> None:
    c, values = square()
    b = xl.asarray(values[::-1].copy())
    plain, doubled, product = c + 1, 2 * c["i,j"], c["i,j"] * c["j,k"]
    write(c, b)
    np.testing.assert_allclose(np.asarray(c), EXPECTED[write](values, values[::-1]), rtol=1e-12)
    np.testing.assert_allclose(np.asarray(plain), values + 1)
    np.testing.assert_allclose(np.asarray(xl.eval(doubled, "i,j")), 2 * values)
    np.testing.assert_allclose(np.asarray(xl.eval(product, "i,k")), values @ values)


def test_an_expression_that_is_held_can_be_assigned_again() -> None:
    c, values = square()
    e = c["i,j"] * c["j,k"]
    for _ in range(2):
        c["i,k"] = e
        np.testing.assert_allclose(np.asarray(c), values @ values)
    np.testing.assert_allclose(np.asarray(xl.eval(e, "i,k")), values @ values)


def test_a_product_into_place_allocates_nothing() -> None:
    c, _ = square()
    b, d = c.copy(), c.copy()
    with count_allocations() as count:
        c["i,k"] = b["i,j"] * d["j,k"]
        c["i,k"] = b["j,i"] * d["k,j"]
        c["k,i"] = b["i,j"] * d["j,k"]
    assert (count.allocations, count.temporaries, count.snapshots) == (0, 0, 0)
    with count_allocations() as count:
        c["i,k"] = c["i,j"] * d["j,k"]
    assert (count.allocations, count.snapshots) == (1, 0)
    with count_allocations() as count:
        c["i,k"] += b["i,j"] * d["j,k"]
    assert (count.allocations, count.snapshots) == (1, 0)


def test_memory_shared_with_numpy() -> None:
    values = square()[1]
    whole = values.copy()
    c = xl.adapt(whole)
    c["i,k"] = xl.asarray(whole)["i,j"] * c["j,k"]
    np.testing.assert_allclose(whole, values @ values)
    borrowed = xl.adapt(whole)  # the same bytes in another buffer
    before = whole.copy()
    c["i,k"] = borrowed["j,i"] * borrowed["j,k"]
    np.testing.assert_allclose(whole, before.T @ before)


def test_noalias_takes_an_expression_twice() -> None:
    c, values = square()
    d, e = xl.zeros((40, 40)), c["i,j"] * c["j,k"]
    for destination in (d, d, c):
        xl.noalias(destination)["i,k"] = e
        np.testing.assert_allclose(np.asarray(destination), values @ values)


def test_parts_of_one_buffer() -> None:
    """Products between halves of one array need no copy of it."""
    whole = xl.asarray(np.random.default_rng(5).random((3, 40, 40)))
    values = np.asarray(whole).copy()
    a, b, c = whole[0], whole[1], whole[2]
    with count_allocations() as count:
        c["i,k"] = a["i,j"] * b["j,k"]
    assert (count.allocations, count.snapshots) == (0, 0)
    np.testing.assert_allclose(np.asarray(whole)[2], values[0] @ values[1])


def test_noalias_is_checked() -> None:
    c, values = square()
    with xl.config(check_noalias=True):
        xl.noalias(c)["i,j"] = xl.asarray(values)["i,k"] * xl.asarray(values)["k,j"]
        with pytest.raises(xl.NoAliasError, match="noalias"):
            xl.noalias(c)["i,k"] = c["i,j"] * c["j,k"]


def test_noalias_leaves_elementwise_reads_to_the_engine() -> None:
    c, values = square()
    row = xl.asarray(values[0])
    with count_allocations() as count:
        xl.noalias(c)["i,j"] = c["i,j"] * row["j"]
    assert count.snapshots == 0
    with xl.config(check_noalias=True, engine="compiled"):
        xl.noalias(c)["i,j"] = c["i,j"] * row["j"]
        xl.noalias(c)["i,k"] += row["i"] * row["k"]
        with pytest.raises(xl.NoAliasError, match="noalias"):
            xl.noalias(c)["i,j"] = c["j,i"]
    np.testing.assert_allclose(np.asarray(c), values * values[0] ** 2 + np.outer(*[values[0]] * 2))


def test_an_expression_used_up_under_noalias_is_refused() -> None:
    c, _ = square()
    e = c["i,j"] * 2
    xl.noalias(c)["i,j"] = e
    for again in (lambda: xl.eval(e, "i,j"), lambda: e + e, lambda: -e):
        with pytest.raises(xl.StaleOperandError, match="consumed"):
            again()


def test_the_handle_is_no_array() -> None:
    e = square()[0]["i,j"]
    for use in (np.asarray, bool, pickle.dumps):
        with pytest.raises(TypeError, match="XLabelled i=40, j=40"):
            use(e)


HELD: dict[str, Write] = {
    "times": lambda c, t: c.__setitem__("i,j", t * xl.asarray(np.arange(40.0))["j"]),
    "sum": lambda c, t: c.__setitem__("i,j", t + t),
    "group": lambda c, t: c.__setitem__("i,j", (t + 2 * t) * xl.asarray(np.arange(40.0))["j"]),
    "negative": lambda c, t: c.__setitem__("i,j", -t),
    "multiple": lambda c, t: c.__setitem__("j,i", 2 * t),
    "itself": lambda c, t: c.__setitem__("j,i", t),
    "product": lambda c, t: c.__setitem__("i,k", t * c["j,k"]),
    "in place": lambda c, t: c.__setitem__("i,j", c["i,j"].__imul__(2.0) - t),
    "a part": lambda c, t: c[1:].__setitem__("i,j", c[:-1]["i,j"]),
    "plain": lambda c, t: c.__setitem__(Ellipsis, 0.0),
}


@together("write", HELD.values(), ids=HELD)
def test_a_handle_that_is_held_keeps_its_values(write: Write) -> None:
    c, values = square()
    t = c["i,j"]
    with count_allocations() as count:
        write(c, t)
    assert count.snapshots == 1
    np.testing.assert_array_equal(np.asarray(xl.eval(t, "i,j")), values)
    write(c, t)  # and again, of the old values
    np.testing.assert_array_equal(np.asarray(xl.eval(t, "i,j")), values)


def test_parts_of_handles_that_are_held() -> None:
    """Sums, groups and multiples share what they are made of with the handle that is used up."""
    c, values = square()
    row = xl.asarray(np.arange(40.0))
    for make in (
        lambda: c["i,j"] + c["j,i"],
        lambda: (c["i,j"] + c["j,i"]) * row["j"],
        lambda: 2 * c["i,j"],
        lambda: -c["i,j"],
        lambda: c[::-1]["i,j"],
    ):
        c[...] = values
        kept = make()
        expected = np.asarray(xl.eval(kept, "i,j"))
        c["i,j"] = 3 * kept
        np.testing.assert_allclose(np.asarray(c), 3 * expected, rtol=1e-12)
        np.testing.assert_array_equal(np.asarray(xl.eval(kept, "i,j")), expected)


def test_handles_that_nobody_holds_cost_nothing() -> None:
    c, _ = square()
    row = xl.asarray(np.arange(40.0))
    scaled, other = row["j"], c.copy()["i,j"]  # held, and of other memory
    with count_allocations() as count:
        c["i,j"] = c["i,j"] * row["j"]
        c["i,j"] = c["i,j"] * scaled
        c["i,j"] = -(c["i,j"] - other) / 2
        c["i,j"] = (c["i,j"] + c["i,j"]) * scaled
        c["i,j"] *= scaled
        c["i,j"] += 2 * other
    assert (count.snapshots, count.temporaries, count.bytes) == (0, 0, 0)
