"""What is expensive is kept when operators and whole folds take it again."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite.arrays import ownership
from xarraylite.testing import assert_same_bits

VALUES = np.linspace(-1, 1, 12).reshape(3, 4)

pytestmark = pytest.mark.usefixtures("both_ways")


def is_kept(e: Any) -> bool:
    """Tell whether a lazy result's values are kept."""
    return isinstance(getattr(e, "_used", None), tuple)


def test_what_is_used_again_is_computed_once() -> None:
    a = xl.asarray(VALUES)
    y = xl.exp(a)
    wanted, kept = np.asarray(xl.eval(y)), []
    for k in range(5):
        assert_same_bits(xl.eval(y + float(k)), wanted + k)
        kept.append(ownership.values_of(y) if k else None)
    assert is_kept(y)
    assert {*map(id, kept[1:])} == {id(kept[1])}


def test_in_one_expression_nothing_is_kept() -> None:
    y = xl.exp(xl.asarray(VALUES))
    e = (y - 1) / (y + 1) + y
    xl.eval(e)
    assert not is_kept(y)


def grown(x: Any, k: int) -> Any:
    """Return the next step of a loop that builds on its results."""
    return (x * 0.2 + k / 40) * (x * 0.3 - k / 40) + x * 0.1


@pytest.mark.parametrize("size", [12, 3000, 9000])
@pytest.mark.parametrize("often", [0, 3], ids=["alone", "beside evaluations"])
def test_in_a_loop_what_is_small_and_used_twice_is_computed(size: int, often: int) -> None:
    """Whatever is evaluated between: else it would meet new expressions at every step."""
    b = np.linspace(-1.0, 1.0, size)
    x, a, kept = xl.asarray(b), xl.asarray(b), []
    for k in range(40):
        x, b = grown(x, k), grown(b, k)
        e = x * x
        if often and k % often == 0:
            xl.eval(a * float(k))
        e = e - x
        kept.append(is_kept(x))
        np.testing.assert_allclose(np.asarray(xl.eval(e)), b * b - b)
    assert kept[0] is (often > 0)
    assert all(kept[20:]) is (size < 9000)


def test_what_reads_memory_alone_is_fused_in_a_loop_too() -> None:
    b = np.linspace(-1.0, 1.0, 12)
    a = xl.asarray(b)
    for k in range(40):
        y, v = grown(a, k), grown(b, k)
        e = y * y - y
        assert not is_kept(y)
        np.testing.assert_allclose(np.asarray(xl.eval(e)), v * v - v)


def test_late_is_late_in_a_loop_too() -> None:
    """What was computed when it was used twice says what it is of."""
    a, b = xl.asarray(VALUES), VALUES.copy()
    for k in range(40):
        y = xl.exp(a) + float(k)
        later = xl.late(y * y + y)
        z = y - 1
        a *= -1.5
        b *= -1.5
        now = np.exp(b) + k
        np.testing.assert_allclose(np.asarray(xl.eval(later)), now * now + now)
        np.testing.assert_allclose(np.asarray(xl.eval(z)), np.exp(b / -1.5) + k - 1)
        a[...], b[...] = VALUES, VALUES


def test_one_cheap_operation_is_done_again() -> None:
    e = xl.asarray(VALUES) * 2
    for k in range(3):
        xl.eval(e + float(k))
    assert not is_kept(e)


def test_what_is_stretched_is_not_kept() -> None:
    """It may be far larger than what it is made of."""
    column, row = xl.ones((300, 1)), xl.ones((1, 300))
    e = xl.exp(column) + row
    for k in range(3):
        xl.eval(xl.sum(e * float(k)))
    assert not is_kept(e)


def test_what_reads_late_is_read_late() -> None:
    a = xl.zeros(3)
    e = xl.exp(xl.late(a))
    for k in range(4):
        a[...] = float(k)
        assert_same_bits(xl.eval(e + 0.0), np.exp(np.full(3, float(k))))


def test_what_reads_late_stays_late_when_numpy_was_given_it() -> None:
    a = xl.asarray(np.arange(4.0))
    e = xl.late(a) * 2 + 1
    for _ in range(3):
        xl.sort(a * 2 + 1)
    xl.sort(e)
    f = e + 1
    a[...] = 100.0
    assert xl.eval(f).tolist() == [202.0] * 4


@pytest.mark.usefixtures("compiled")
def test_an_update_while_the_values_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread may do."""
    e = xl.exp(xl.asarray(VALUES))
    real, wanted = ownership.results.evaluate, np.exp(VALUES)

    def interrupted(x: Any) -> Any:
        made = real(x)
        monkeypatch.undo()
        e.__iadd__(1.0)
        return made

    monkeypatch.setattr(ownership.results, "evaluate", interrupted)
    assert float(ownership._computed(e)[1][0, 1]) == pytest.approx(wanted[0, 1])
    assert float(ownership._computed(e)[1][0, 1]) == pytest.approx(wanted[0, 1] + 1)
    np.testing.assert_allclose(np.asarray(xl.eval(e * 1.0)), wanted + 1, rtol=1e-12)


def test_arrays_of_numpy_are_operands_of_known_kinds() -> None:
    """They mean what they meant when the expression was written, in loops too."""
    c = np.arange(12.0).reshape(3, 4)
    a, d = xl.asarray(c), c + 1
    for k in range(6):
        made = (a + d, d * a - 1, a + d.T.copy().T, xl.maximum(a, d))
        wanted = (c + d, d * c - 1, c + d, np.maximum(c, d))
        d[0, 0] = float(k)
        for x, y in zip(made, wanted, strict=True):
            assert np.array_equal(np.asarray(x), y)
    assert made[0]._kind.op is not None
    assert np.array_equal(np.asarray(d.astype(">f8") - a), d - c)


WRITES: dict[str, Callable[[Any], None]] = {
    "elements": lambda e: e.__setitem__(0, 7.0),
    "in place": lambda e: e.__iadd__(1.0),
    "a view": lambda e: e[1:].__setitem__(0, 7.0),
    "whole": lambda e: e.__setitem__(..., 2.0),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_writes_after_it_was_kept(write: Callable[[Any], None]) -> None:
    a, b = xl.asarray(VALUES), VALUES.copy()
    e, f = xl.exp(a) * 2, np.exp(b) * 2
    held, kept = [], []
    for _ in range(2):
        held.append(e - 1)
        kept.append(f - 1)
        xl.eval(held[-1])
    a[...] = 0.0
    write(e)
    write(f)
    held.append(e - 1)
    kept.append(f - 1)
    for x, y in zip([*held, e], [*kept, f], strict=True):
        np.testing.assert_allclose(x.numpy(), y, rtol=1e-12)


def test_what_numpy_is_given_is_kept() -> None:
    x, y = xl.asarray(VALUES.reshape(-1)), VALUES.reshape(-1)
    for _ in range(40):
        np.testing.assert_allclose(np.asarray(xl.sort(x)), np.sort(y), rtol=1e-12)
        x, y = x * 0.5 + 0.1, y * 0.5 + 0.1
    assert x._kind.weight < 8


def test_a_function_that_raises_says_so_when_it_is_evaluated() -> None:
    def refuse(x: float) -> float:
        if x > 2:
            raise ValueError("too large")
        return x

    e = xl.vectorize(refuse)(xl.asarray([1.0, 3.0]))
    for _ in range(3):
        later = e + 1
        with pytest.raises(ValueError, match="too large"):
            xl.eval(later)


def test_threads_that_share_a_result() -> None:
    e = xl.exp(xl.asarray(VALUES))
    wanted = np.asarray(xl.eval(e))
    wrong: list[int] = []

    def use(number: int) -> None:
        for k in range(200):
            if not np.array_equal(np.asarray(xl.eval(e + float(k))), wanted + k):
                wrong.append(number)

    run_all([threading.Thread(target=use, args=(n,)) for n in range(4)])
    assert not wrong


def test_products_of_lazy_and_strided_operands() -> None:
    a, b, v = VALUES, VALUES.T.copy(), VALUES[0].copy()
    x, y, w = xl.asarray(a), xl.asarray(b), xl.asarray(v)
    for _ in range(4):
        for ours, theirs in (
            ((x + 1) @ y, (a + 1) @ b),
            (x @ (w * 2), a @ (v * 2)),
            (x.T @ (x - 1), a.T @ (a - 1)),
            (x[:, 1:] @ y[1:, 0], a[:, 1:] @ b[1:, 0]),
            (x[1, 1:] @ y[1:, 2], a[1, 1:] @ b[1:, 2]),
        ):
            np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-12)
    products = [x[:, 1:] @ y[1:] for _ in range(4)]
    for one in products[1:]:
        assert_same_bits(one, products[0])


def test_parts_that_are_updated_in_place() -> None:
    x, y = xl.asarray(VALUES), VALUES.copy()
    for k in range(3):
        x[k, 1:] -= x[0, 0] * x[1, 1:]
        y[k, 1:] -= y[0, 0] * y[1, 1:]
        x[k] = x[k]
    np.testing.assert_allclose(x.numpy(), y, rtol=1e-12)
    fixed = xl.asarray(VALUES)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        fixed[1] = fixed[1]


FOLDS: list[Callable[..., Any]] = [xl.sum, xl.prod, xl.min, xl.max, xl.std, xl.argmax]


@pytest.mark.parametrize("fold", FOLDS, ids=lambda f: f.__name__)
def test_folds_first_met_of_results_that_loops_compute(fold: Callable[..., Any]) -> None:
    """What is learned of a fold is of what it was asked of, not of the values that it was given."""
    xl.cache_clear()
    b = np.array([[3, -1, 2], [5, 8, -4]], dtype=np.int16)
    a, wanted = xl.asarray(b), getattr(np, fold.__name__)(np.sin(b.astype(np.float32)))
    for k in range(20):
        y = xl.sin(a)
        np.testing.assert_allclose(np.asarray(y + float(k)), np.sin(b) + k, rtol=1e-5)
        y * 2
    for _ in range(4):
        y = xl.sin(a)
        y * 2
        np.testing.assert_allclose(np.asarray(fold(y)), wanted, rtol=1e-5)
        np.testing.assert_allclose(np.asarray(fold(xl.sin(a))), wanted, rtol=1e-5)
        np.testing.assert_allclose(np.asarray(fold(xl.sin(a), axis=None)), wanted, rtol=1e-5)


#: What is asked of an array that was lazy when it was written to.
ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda p, r: r.sum(),
    "position": lambda p, r: r.argmax(),
    "extremes": lambda p, r: p.max(r, axis=0) - r.min(axis=1)[:3, None],
    "root": lambda p, r: p.sqrt(r),
    "join": lambda p, r: p.concatenate([r, r + 1]),
    "stack": lambda p, r: p.stack((r, r)),
    "list": lambda p, r: p.array([r, r]),
    "copy": lambda p, r: r.copy() + 0,
    "turned": lambda p, r: r.T @ r,
    "product": lambda p, r: np.ones((2, 4)) @ r if p is np else p.ones((2, 4)) @ r,
    "converted": lambda p, r: r.astype(int),
    "norm": lambda p, r: p.linalg.norm(r, axis=1),
    "values": lambda p, r: np.asarray(r).copy(),
    "lists": lambda p, r: r.tolist(),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_what_was_written_is_what_its_memory_is(ask: Callable[[Any, Any], Any]) -> None:
    theirs = np.arange(12.0).reshape(4, 3) * 2
    ours = xl.asarray(np.arange(12.0).reshape(4, 3)) * 2
    for k in range(6):
        theirs[k % 4, 1] = ours[k % 4, 1] = 40.0 - k
        theirs *= 0.5
        ours *= 0.5
        wanted, got = ask(np, theirs), ask(xl, ours)
        if isinstance(wanted, list):
            assert got == wanted
            continue
        assert np.asarray(got).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(np.asarray(got), wanted, 1e-14)


def test_an_update_of_what_was_asked_for_is_one_of_memory() -> None:
    """So that a loop that asks for values again does not compute its past with each of them."""
    a, step = xl.asarray(VALUES.ravel()), np.full(12, 0.25)
    r, before = a - 1, VALUES.ravel() - 1
    for _ in range(40):
        total = r @ r
        np.testing.assert_allclose(float(total), before @ before, 1e-13)
        seen = r + 0
        r -= xl.asarray(step) / total
        np.testing.assert_array_equal(np.asarray(seen), before)
        before = before - step / float(total)
        np.testing.assert_allclose(np.asarray(r), before, 1e-13)
        step = step * 0.5


def test_joins_with_lists_of_ever_other_numbers() -> None:
    b = np.arange(5)
    a = xl.asarray(b)
    for k in range(12):
        got = xl.concatenate(([k, k + 1], xl.minimum(a, k), [0.5] * (k == 7)))
        wanted = np.concatenate(([k, k + 1], np.minimum(b, k), [0.5] * (k == 7)))
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(np.asarray(got), wanted)
        np.testing.assert_array_equal(np.asarray(xl.stack([a, [k] * 5])), np.stack([b, [k] * 5]))
    with pytest.raises(ValueError, match="concat"):
        xl.concatenate(([[1, 2]], a))


def test_histories_of_results_that_were_used() -> None:
    x, kept, wanted = xl.asarray(VALUES[0]), [], []
    y = VALUES[0]
    for k in range(40):
        x, y = xl.tanh(x * 0.5 + k % 3) * x, np.tanh(y * 0.5 + k % 3) * y
        kept.append(x)
        wanted.append(y)
        assert float(x @ x) == pytest.approx(y @ y, rel=1e-12)
    np.testing.assert_allclose(np.asarray(xl.stack(kept)), np.stack(wanted), 1e-12)


def test_transposed_results_are_multiplied() -> None:
    a, b = xl.asarray(VALUES), VALUES
    for _ in range(20):
        y, z = xl.tanh(a), np.tanh(b)
        np.testing.assert_allclose(y.T @ y, z.T @ z, rtol=1e-13)
        np.testing.assert_allclose(xl.dot(y.T, a), z.T @ b, rtol=1e-13)
        later = xl.late(y.T * 1.0)
        a *= 0.9
        np.testing.assert_allclose(np.asarray(xl.eval(later)), np.tanh(np.asarray(a)).T, rtol=1e-13)
        a[...] = VALUES
