"""Lazy results and their views: who still reads what is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_the_result_of_which_a_temporary_is_a_view_reads_no_more(engine: Any) -> None:
    m = xl.asarray(np.arange(9.0).reshape(3, 3))
    with xl.config(engine=engine):
        with count_allocations() as counted:
            m[...] = xl.reshape(xl.reshape(m.T, (9,))[::-1], (3, 3))
        assert counted.snapshots == 0
        e = xl.reshape(m.T, (9,))
        kept = np.asarray(e).copy()
        m[...] = xl.reshape(e[::-1], (3, 3))
        np.testing.assert_array_equal(np.asarray(e), kept)


def test_the_shape_of_a_lazy_result_is_assigned() -> None:
    a, x = xl.arange(6), np.arange(6)
    e, y = a * 2, x * 2
    row, tail = e + 1, e[4:]
    e.shape = y.shape = (2, -1)
    e[0] = y[0] = 9
    np.testing.assert_array_equal(np.asarray(e), y)
    np.testing.assert_array_equal(np.asarray(e + 1), y + 1)
    np.testing.assert_array_equal(np.asarray(e.T[1]), y.T[1])
    assert (e.shape, row.tolist(), tail.tolist()) == ((2, 3), [1, 3, 5, 7, 9, 11], [8, 10])
    e[1, 2] = -1
    assert tail.tolist() == [8, -1]
    e.shape = 6
    assert (e.shape, int(e.sum())) == ((6,), 9 * 3 + 6 + 8 - 1)
    with pytest.raises(ValueError, match="shape"):
        e.shape = (4, 2)
    assert e.shape == (6,)


@pytest.mark.parametrize("held", [False, True])
def test_who_holds_a_result_does_not_decide_what_a_reshape_is(held: bool) -> None:
    a = xl.asarray(np.arange(6.0).reshape(2, 3))
    e = a * 2 + a
    turned = e.T
    if not held:
        del e
    copied = turned.reshape(-1)
    copied[0] = 100.0
    assert turned.tolist() == (a * 3).T.tolist(), "a copy, as NumPy's"
    lines = turned.reshape(3, 1, 2)
    lines[1] = 50.0
    assert turned.tolist() == [[0.0, 9.0], [50.0, 50.0], [6.0, 15.0]]


TOTALS: list[Any] = [
    lambda xp, x: x.sum(),
    lambda xp, x: xp.mean(x) * 2,
    lambda xp, x: x @ x,
    lambda xp, x: xp.einsum("i,i", x, x[::-1]),
    lambda xp, x: xp.max(x.astype(int)),
]


@pytest.mark.parametrize("total", TOTALS)
def test_results_of_rank_0_are_values(total: Any) -> None:
    """A history of totals keeps what it took; what a value is added to may have another dtype."""
    found = []
    for xp in (np, xl):
        x = xp.asarray([1.0, 2.0, 4.0])
        t, history = total(xp, x), []
        for _ in range(3):
            history.append(t)
            t += total(xp, x)
            t /= 2
        assert {total(xp, x): "known"}[float(total(np, np.asarray([1.0, 2.0, 4.0])))] == "known"
        x[0] = 9
        found.append([(float(h), np.asarray(h).dtype) for h in history])
        t += x
        assert np.asarray(t).shape == (3,)
    assert found[0] == found[1]


def test_arrays_of_rank_0_are_arrays() -> None:
    a = xl.asarray(3.0)
    b = a
    b += 1
    product = xl.asarray([1.0, 2.0]) @ xl.asarray([1.0, 2.0])
    written = product
    written[...] = 0
    written += 2
    e = xl.asarray([1.0, 2.0]) * 2
    part = e[0, ...]
    part += 5
    assert (float(a), float(product), e.tolist()) == (4, 2, [7, 4])
    for x in (a, product, e, part, xl.zeros(2)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)


def test_results_of_rank_0_stand_where_numbers_are_asked_for() -> None:
    for xp in (np, xl):
        i, x = xp.asarray([1, 2, 3]), xp.asarray([1.0, 2.5])
        rng = xp.random.default_rng(i.sum())
        assert np.asarray(rng.permutation(i.max())).tolist() == [0, 1, 2]
        assert rng.random((i.max(), i.min())).shape == (3, 1)
        whole, parts = x.max().is_integer(), x.max().as_integer_ratio()
        assert (math.trunc(x.max()), whole, parts) == (2, False, (5, 2))
        assert (i.sum().bit_count(), x.max().hex()) == (2, "0x1.4000000000000p+1")


@pytest.mark.parametrize("name", ["asarray", "asanyarray", "ascontiguousarray"])
def test_functions_write_into_the_lazy_result_that_they_are_given(name: str) -> None:
    for xp in (np, xl):
        a = xp.asarray([3.0, 4.0])
        e, total = a * 2, a.sum()
        held = e + 1
        x = getattr(xp, name)(e)
        x /= xp.sqrt(x @ x)
        assert np.allclose(np.asarray(e), [0.6, 0.8])
        assert np.asarray(held).tolist() == [7, 9]
        b = xp.asarray(total)
        b += 1
        assert (float(total), np.asarray(b).item()) == (7, 8)


@together(
    "view",
    [
        lambda xp, x: xp.atleast_2d(x),
        lambda xp, x: xp.reshape(x, (1,)),
        lambda xp, x: xp.expand_dims(x, 0),
        lambda xp, x: xp.ravel(x),
        lambda xp, x: x[None],
        lambda xp, x: x[...],
        lambda xp, x: x[..., None],
        lambda xp, x: x.reshape(1, 1),
    ],
)
@together(
    "fold", [lambda v: v.sum(), lambda v: v @ v, lambda v: v.astype("int64") @ v.astype("int64")]
)
def test_arrays_made_of_a_value_are_arrays_of_their_own(view: Any, fold: Any) -> None:
    for xp in (np, xl):
        for _ in range(3):  # views of arrays that are no values are remembered
            view(xp, xp.asarray(5.0)), view(xp, xp.asarray(5))
        value = fold(xp.asarray([1.0, 2.0]))
        before = float(value)
        made = view(xp, value)
        made[...] = 9
        made += 1
        assert (float(value), float(xp.sum(made))) == (before, 10.0)


@pytest.mark.parametrize("dtype", [None, "int64", "float64"])
def test_products_of_vectors_are_not_written_through_their_views(dtype: Any) -> None:
    a = xl.asarray([1.0, 2.0])
    value = a @ a
    made = value.view(dtype)
    made[...] = 0
    assert (float(value), float(made)) == (5.0, 0.0)
    value[...] = 3.0  # which itself may be written
    assert float(value) == 3.0


def test_only_one_value_is_an_integer() -> None:
    assert (xl.asarray([3]) + 1).is_integer()
    for dtype in ("int64", "bool", "float64"):
        with pytest.raises(ValueError, match="has not one element"):
            xl.asarray([1, 0, 1], dtype=dtype).is_integer()


def test_products_of_matrices_in_the_place_of_scattered_rows() -> None:
    rows = np.arange(16.0).reshape(4, 4)
    x = xl.view(xl.asarray(rows), xl.keep(0, 1, 3), xl.keep(0, 2, 3))
    x @= xl.ones((3, 3))
    assert np.asarray(x).tolist() == (rows[[0, 1, 3]][:, [0, 2, 3]] @ np.ones((3, 3))).tolist()


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("turned", [False, True])
def test_a_loop_over_a_lazy_vector_reads_what_it_has_written(engine: Any, turned: bool) -> None:
    def run(xp: Any) -> Any:
        x = xp.asarray([1.0, 2.0, 3.0, 4.0]) * 2
        x = x[::-1] if turned else x
        for i, value in enumerate(x):
            x[i + 1 :] -= value
        for left, right in zip(x, x[::-1], strict=True):
            x[...] = x + left + right
        for (i,), value in xp.ndenumerate(x):
            x[3 - i] = value + i
        return np.asarray(x)

    with xl.config(engine=engine):
        assert run(xl).tolist() == run(np).tolist()


def test_numpy_is_given_the_memory_of_a_result_that_was_written() -> None:
    e = xl.asarray([[1.0, 2.0], [3.0, 4.0]]) * 2
    assert not hasattr(e, "__array_struct__")
    e[0, 0] = 0
    for view in (e, e.T, e[:, ::-1]):
        memory = np.asarray(view)
        view[0] = 5
        assert memory[0].tolist() == [5.0, 5.0]
        memory[1] = 6
        assert view.tolist()[1] == [6.0, 6.0]
    memory = np.asarray(e)
    e.resize(300_000)
    assert memory.tolist() == [[5.0, 5.0], [6.0, 6.0]], "kept alive"
    total = e.sum()
    total += 1
    np.asarray(total)[...] = 0
    assert float(total) != 0, "a value"


@pytest.mark.parametrize("written", [False, True])
def test_a_lazy_result_that_is_stretched_cannot_be_written(written: bool) -> None:
    e = xl.asarray([1.0, 2.0, 3.0]) * 1
    if written:
        e[0] = 1
    view = xl.broadcast_to(e, (2, 3))
    for write in (
        lambda: view.__setitem__(0, 5.0),
        lambda: view[1].__setitem__(0, 5.0),
        lambda: xl.add(view, 1, out=view),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    e[1] = 7
    assert view.tolist() == [[1.0, 7.0, 3.0]] * 2


@pytest.mark.parametrize("flatten", [xl.ravel, lambda x: x.ravel("K")])
def test_a_copy_of_scattered_elements_tells_nothing_of_others_of_the_same_kind(
    flatten: Any,
) -> None:
    for _ in range(40):
        scattered = xl.asarray([[1j], [2j], [3j], [4j]]) * 2
        flatten(scattered.real.T)
    e = xl.asarray([1.0, 2.0, 3.0, 4.0]) * 2
    flatten(xl.expand_dims(e, 0))[...] = 99
    assert e.tolist() == [99.0] * 4


def test_a_transposed_result_lies_alike_however_often_it_was_viewed() -> None:
    rng = np.random.default_rng(2)
    a, wide = xl.asarray(rng.standard_normal((37, 211))), rng.standard_normal((211, 37))
    found = [xl.eval((a * 2).T + wide.T.T) for _ in range(12)]
    assert {made.strides for made in found} == {(37, 1)}  # its operands lie in two orders
    found = [xl.eval(xl.sqrt(abs(a)).T * 3) for _ in range(12)]
    assert {made.strides for made in found} == {(1, 211)}
    for made in found:
        assert_same_bits(xl.sum(made, axis=0), xl.sum(found[0], axis=0))


@pytest.mark.parametrize(
    "write",
    [
        lambda x: np.asarray(x).fill(9.0),
        lambda x: x.numpy().fill(9.0),
        lambda x: np.from_dlpack(x).fill(9.0),
        lambda x: x.buffer.data.fill(9),
        lambda x: np.asarray(x.buffer).fill(9),
        lambda x: np.negative(np.asarray(x), out=np.asarray(x)),
    ],
)
def test_what_waits_when_memory_is_given_out_keeps_its_values(write: Callable[[Any], Any]) -> None:
    a, b = xl.arange(1.0, 7.0).copy(), xl.arange(3.0).copy()
    for _ in range(300):  # until machine code gives it out
        np.asarray(a), np.asarray(b)
    for k in range(3):
        old = a.tolist()
        e, part, other = a * 2, a[1:] + 1, b + 1
        write(a)
        assert a.tolist() != old
        assert e.tolist() == [2 * x for x in old]
        assert part.tolist() == [x + 1 for x in old[1:]]
        assert other.tolist() == [1, 2, 3]
        a[...] = np.arange(k, k + 6)
