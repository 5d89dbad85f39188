"""Memoised calls: what the second call gives is what the function would have given."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays.memo import memoised
from xarraylite.functions import reducers

rng = np.random.default_rng(3)

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "axis": lambda p, a: p.sum(a, axis=0),
    "axis by position": lambda p, a: p.sum(a, 1),
    "kept": lambda p, a: p.mean(a, axis=-1, keepdims=True),
    "no option": lambda p, a: p.std(a),
    "option": lambda p, a: p.var(a, axis=1, ddof=1),
    "position": lambda p, a: p.argmax(a, axis=0),
    "join": lambda p, a: p.concatenate([a, a * 2, a]),
    "stack": lambda p, a: p.stack([a, a], axis=-1),
    "view": lambda p, a: p.transpose(a),
    "flip": lambda p, a: p.flip(a, axis=1),
    "part twice": lambda p, a: p.diff(a, axis=0),
    "of an expression": lambda p, a: p.sum((a - 3.0) * 2.5 + 1, axis=0),
    "constant like an operand": lambda p, a: p.mean(a * 3.0, axis=0) * 3.0,
    "two arrays": lambda p, a: p.outer(a[0], a[1]),
    "one array twice": lambda p, a: p.outer(a[0], a[0]),
    "repeat": lambda p, a: p.repeat(a, 2, axis=1),
    "tile": lambda p, a: p.tile(a, (2, 1)),
    "roll": lambda p, a: p.roll(a, 1),
    "close": lambda p, a: p.isclose(a, a[::-1]),
    "triangle": lambda p, a: p.tril(a, k=1),
    "a type of element": lambda p, a: p.sum(a, axis=0, dtype=p.float64),
}


@together("name", CALLS)
def test_later_calls_give_what_numpy_gives(name: str) -> None:
    call = CALLS[name]
    for shape in ((3, 4), (3, 4), (5, 2)):
        for _ in range(3):
            values = rng.integers(-4, 5, shape) * 0.5
            for of in (values, np.asfortranarray(values), np.repeat(values, 2, 1)[:, ::2]):
                a = xl.asarray(values)
                if of.strides != values.strides:
                    a = xl.XArray(values, layout="column_major")
                made, want = np.asarray(xl.eval(call(xl, a))), call(np, values)
                assert (made.dtype, made.shape) == (want.dtype, want.shape)
                np.testing.assert_allclose(made, want, rtol=1e-14, atol=1e-15)


def test_options_that_compare_equal_are_not_the_same() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    for _ in range(3):
        assert xl.sum(a, 1, keepdims=True).shape == (2, 1)
        assert xl.sum(a, 1, keepdims=False).shape == (2,)
        assert xl.sum(a, axis=0).shape == (2,)
        with pytest.raises(xl.AxisError):
            xl.sum(a, axis=0.0)  # type: ignore[arg-type]


def test_zeros_of_either_sign_are_two_options() -> None:
    a = xl.asarray([np.nan, 1.0])
    for zero in (0.0, -0.0, 0.0, -0.0):
        made = np.asarray(xl.nan_to_num(a, nan=zero))
        assert np.signbit(made[0]) == np.signbit(zero)


def test_a_refused_call_is_refused_again() -> None:
    a = xl.zeros((2, 3))
    for _ in range(3):
        with pytest.raises(xl.AxisError):
            xl.mean(a, axis=2)
        with pytest.raises(ValueError, match=r"argmax"):
            xl.argmax(xl.zeros((0, 3)), axis=0)


def test_values_are_those_when_it_was_written() -> None:
    for _ in range(3):
        a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
        pending = xl.sum(a, axis=0)
        part = xl.transpose(a)
        a[...] = 10.0
        assert xl.eval(pending).tolist() == [4.0, 6.0]
        assert xl.eval(part).tolist() == [[10.0, 10.0], [10.0, 10.0]], "a view follows"


def test_numbers_of_an_expression_are_told_from_constants() -> None:
    for factor in (2.0, 7.0, 2.0):
        a = xl.asarray([1.0, 2.0])
        assert float(xl.mean(a * factor)) == 1.5 * factor
        assert float(xl.mean((a * factor) + 2.0)) == 1.5 * factor + 2


def test_a_function_is_traced_when_it_is_called_again() -> None:
    seen = []

    @memoised
    def doubled(x: Any, by: int = 2) -> Any:
        seen.append(by)
        return x * by

    for k in range(5):
        assert xl.eval(doubled(xl.asarray([1.0 + k]), by=3)).tolist() == [3.0 + 3 * k]
    assert len(seen) == 3
    assert xl.eval(doubled(xl.asarray([1, 2]))).tolist() == [2, 4]
    assert len(seen) == 4, "another kind, once"


def test_what_asks_for_values_is_called_each_time() -> None:
    @memoised
    def selected(x: Any) -> Any:
        return x * 2 if float(xl.sum(x)) > 2 else x * 3

    for _ in range(3):
        assert xl.eval(selected(xl.asarray([1.0, 2.0]))).tolist() == [2.0, 4.0]
        assert xl.eval(selected(xl.asarray([1.0, 0.5]))).tolist() == [3.0, 1.5]


def test_an_argument_that_is_returned_stays_the_argument() -> None:
    for _ in range(4):
        e = xl.asarray([[1.0, 2.0], [3.0, 4.0]]) * 2
        turned = xl.rot90(e, 4)
        e[0, 0] = 77.0
        assert np.asarray(turned)[0, 0] == 77.0


def test_views_of_lazy_results_are_written_through() -> None:
    for _ in range(4):
        e = xl.asarray([[1.0, 2.0], [3.0, 4.0]]) * 2
        turned = xl.transpose(e)
        turned[0, 1] = 99.0
        assert np.asarray(e)[1, 0] == 99.0


SAME: dict[str, Callable[[Any], Any]] = {
    "itself": lambda e: xl.diff(e, n=0),
    "turned": lambda e: xl.rot90(e, 4),
    "view": xl.ravel,
    "found by NumPy": xl.diag,
    "written": lambda e: xl.nan_to_num(e, copy=False),
}


@pytest.mark.parametrize("name", SAME)
def test_what_shares_elements_does_so_for_ever_new_extents(name: str) -> None:
    for n in range(2, 40):
        e = xl.ones((n, n + 1)) * 2
        found = SAME[name](e)
        found[(0,) * found.ndim] = 77.0
        assert np.asarray(e)[0, 0] == 77.0, n
        e[0, 0] = 5.0
        assert np.asarray(found).flat[0] == 5.0, n


def test_views_of_irregular_elements_are_remembered() -> None:
    known = xl.flatten.front  # type: ignore[attr-defined]
    known.clear()
    for k in range(4):
        a = xl.zeros((2, 3 + k))[:, :2]
        view = xl.flatten(a)
        view[1:] = xl.flatten(a + 5)[1:]
        assert (type(view), a.tolist()) == (xl.XReshapeView, [[0.0, 5.0], [5.0, 5.0]])
        b = xl.asarray([[1, 2], [3, 4]])
        xl.reshape_view(b, (4,), "column_major")[1] = 30
        assert b.tolist() == [[1, 2], [30, 4]]
        view = xl.flatten(xl.asarray([[1.0, 2.0], [3.0, 4.0]])[:, :1])
        assert view.tolist() == [1.0, 3.0]
    assert any(known.values())


def test_folds_of_picked_elements_are_remembered() -> None:
    known = reducers._folded.front  # type: ignore[attr-defined]
    known.clear()
    for k in range(3):
        a = xl.asarray([[1.0, 2.0, 4.0], [8.0, 16.0 + k, 32.0]])
        columns = xl.view(a, xl.range(), xl.keep(2, 0, 1))
        pending = xl.sum(columns, axis=0)
        total, late = xl.sum(columns), xl.late(xl.sum(columns))
        a[0, 0] = 100.0
        assert xl.eval(pending).tolist() == [36.0, 9.0, 18.0 + k]
        assert (float(total), float(late)) == (63.0 + k, 162.0 + k)
    assert any(known.values())


def test_what_is_fixed_stays_so() -> None:
    t = xl.XTensor(np.arange(4.0).reshape(2, 2))
    fixed = xl.XTensorFixed[xl.float64, (2, 2)](np.arange(4.0).reshape(2, 2))
    for x, kind in ((t, xl.XTensor), (fixed, type(fixed))):
        lazy = xl.tril(x)
        for _ in range(4):
            assert type(xl.eval(lazy)) is type(xl.eval(xl.triu(x))) is kind


def test_out_is_written_each_time() -> None:
    a, out = xl.asarray([[1.0, 2.0], [3.0, 4.0]]), xl.zeros(2)
    for k in range(3):
        out[...] = 0.0
        assert xl.mean(a + k, axis=0, out=out) is out
        assert out.tolist() == [2.0 + k, 3.0 + k]


def test_nothing_is_kept_of_the_arguments() -> None:
    a = xl.asarray(rng.random((4, 5)))
    xl.eval(xl.var(a, axis=0))
    ref = weakref.ref(a.buffer)
    gc.disable()
    try:
        del a
        assert ref() is None
    finally:
        gc.enable()


def test_closed_over_arrays_are_read() -> None:
    other = xl.asarray([1.0, 2.0])

    @memoised
    def added(x: Any) -> Any:
        return x + other

    for k in range(3):
        other[0] = float(k)
        assert xl.eval(added(xl.asarray([1.0, 1.0]))).tolist() == [1.0 + k, 3.0]


def test_inside_a_traced_function() -> None:
    f = xl.jit(lambda x: xl.sum(x, axis=0) + xl.mean(x))
    for k in range(3):
        a = rng.random((3, 4))
        want = a.sum(0) + a.mean()
        np.testing.assert_allclose(np.asarray(f(xl.asarray(a))), want, rtol=1e-15)
        assert k >= 0


def test_folds_of_other_extents_are_other_arguments() -> None:
    """They are operands of the arguments, and of what is made of these."""
    b = np.array([1.0, 2.0, 4.0])
    for n in (3, 3, 3, 5, 2, 3):
        v = np.arange(n) + 1.0
        total = xl.asarray(v).sum()
        assert float(xl.sum(total)) == v.sum()
        np.testing.assert_allclose(float(xl.std(xl.asarray(b) * total)), np.std(b * v.sum()))
        assert xl.diff(xl.asarray(b) * total).tolist() == np.diff(b * v.sum()).tolist()


def test_sums_along_axes_are_remembered() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    known = reducers._folded.front  # type: ignore[attr-defined]
    for op in (xl.sum, xl.prod):
        known.clear()
        for k in range(3):
            assert xl.eval(op(a + k, axis=0)).shape == (2,)
        assert any(known.values()), "a recipe for kinds like these"
