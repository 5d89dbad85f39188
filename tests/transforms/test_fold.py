"""`reduce` and `accumulate` with users' functions, against Python's own folds."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.ops.user import settled
from xarraylite.testing import assert_same_bits


def xor(a: int, b: int) -> int:
    return a ^ b


def larger(a: float, b: float) -> float:
    return a if a > b else b


def add(a: float, b: float) -> float:
    return a + b


def add_square(total: float, x: float) -> float:
    return total + x * x


def count_large(n: int, x: float) -> int:
    return n + 1 if x > 0.5 else n


def decay(a: float, b: float) -> float:
    return a * 0.5 + b


def careful(a: float, b: float) -> float:
    if b < 0:
        raise ValueError("negative")
    return a + b


VALUES = np.random.default_rng(4).random((7, 5, 6))


@together("axis", [None, 0, 1, -1, (0, 2), (2, 1), ()])
@together("order", ["row_major", "column_major"])
def test_reduce_over_axes(axis: Any, order: str) -> None:
    a = xl.asarray(VALUES, layout=order)
    for keepdims in (False, True):
        e = xl.reduce(larger, a * 2, axis, initial=0.0, keepdims=keepdims)
        assert type(e) is xl.XExpression
        want = np.max(VALUES * 2, axis=axis, keepdims=keepdims) if axis != () else VALUES * 2
        np.testing.assert_array_equal(e, want)


@together("n", [0, 1, 2, 17, 1000, 100_003])
def test_reduce_of_many(n: int) -> None:
    values = np.arange(n, dtype=np.uint32) * 2654435761
    values = values.astype(np.uint32)
    want = functools.reduce(xor, values.tolist(), 0)
    assert int(xl.reduce(xor, xl.asarray(values), initial=0)) == want


def last(a: float, b: float) -> float:
    return b if b != 0 else a


@pytest.mark.parametrize("n", [1, 65, 2048, 40_000])
def test_what_is_not_commutative_is_folded_in_order(n: int) -> None:
    values = np.random.default_rng(n).integers(0, 2, n) * np.arange(n)
    for dtype in ("int64", "float64", "int16"):
        found = xl.reduce(last, xl.asarray(values.astype(dtype)), initial=0, dtype=dtype)
        assert found.item() == functools.reduce(last, values.astype(dtype).tolist(), 0)


@together("axes", [1, (0, 1), (0, 2), (1, 2), None])
@together("layout", ["row_major", "column_major", "{2,1,0:T(8,128)}"])
def test_the_order_is_row_major_whatever_the_layout(axes: Any, layout: str) -> None:
    values = np.random.default_rng(5).integers(0, 2, (3, 9, 20)) * np.arange(540).reshape(3, 9, 20)
    a = xl.asarray(values[:, ::-1], layout=layout)[:, ::-1]
    for keepdims in (False, True):
        want = values[values != 0].max() if axes is None else 0
        if axes is not None:
            kept = np.moveaxis(values, axes, range(np.size(axes)))
            lines = kept.reshape(-1, *kept.shape[np.size(axes) :])
            want = functools.reduce(lambda x, y: np.where(y != 0, y, x), lines)
            want = np.expand_dims(want, axes) if keepdims else want
        found = xl.reduce(last, a, axes, initial=0, keepdims=keepdims)
        np.testing.assert_array_equal(np.squeeze(found) if axes is None else found, want)


@together("n", [3, 1000])
@together("name", ["maximum", "minimum", "fmax"])
def test_functions_that_know_nan_keep_it(name: str, n: int) -> None:
    known: Any = getattr(np, name)
    values = np.arange(n, dtype="float64")
    values[1] = np.nan

    def fold(x: float, y: float) -> Any:
        return known(x, y)

    for dtype in ("float64", "float32"):
        a = xl.asarray(values.astype(dtype))
        start = np.inf if name == "minimum" else -np.inf
        found = xl.reduce(fold, a, initial=start, dtype=dtype)
        np.testing.assert_array_equal(found, known.reduce(values))


@pytest.mark.parametrize("n", [3, 1000])
def test_what_a_function_is_called_means_nothing(n: int) -> None:
    def maximum(a: int, b: int) -> int:
        return a * b

    def add(a: int, b: int) -> int:
        return a if a > b else b

    a = xl.asarray(np.arange(1, n + 1)) % 3
    assert int(xl.reduce(maximum, a + 1, initial=1)) == np.multiply.reduce(np.asarray(a) + 1)
    assert int(xl.reduce(add, a, initial=0)) == 2


def test_results_of_another_kind_need_a_merge() -> None:
    a = xl.asarray(VALUES)
    n = xl.reduce(count_large, a, (0, 1), initial=0, merge=add, dtype="int64")
    assert n.dtype == xl.int64
    np.testing.assert_array_equal(n, np.sum(VALUES > 0.5, axis=(0, 1)))
    few = VALUES.ravel()[:9]  # the kernel of a whole result, not of results side by side
    n = xl.reduce(count_large, xl.asarray(few), initial=0, merge=add, dtype="int64")
    assert int(n) == np.sum(few > 0.5) > 0
    squares = xl.reduce(add_square, a, initial=0.0, merge=add)
    np.testing.assert_allclose(float(squares), np.sum(VALUES**2))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "complex64", "bool"])
def test_reduce_in_every_kind_of_dtype(dtype: str) -> None:
    a = xl.asarray(np.arange(1, 5), dtype=dtype)
    done = xl.reduce(add, a, initial=False if dtype == "bool" else 0)
    assert done.dtype == a.dtype
    assert complex(done.item()) == (1 if dtype == "bool" else 10)


def test_results_of_tensors_of_fixed_rank_have_one() -> None:
    assert type(xl.eval(xl.reduce(add, xl.XTensor(VALUES), 0, initial=0.0))) is xl.XTensor


def test_an_initial_value_that_is_not_neutral_is_refused() -> None:
    with pytest.raises(ValueError, match=r"initial=1 is not neutral: add\(1, 1\) is 2"):
        xl.reduce(add, xl.ones(3), initial=1)


@pytest.mark.parametrize("function", [len, np.add, lambda a: a, lambda *a: a[0]])
def test_what_is_no_function_of_two_scalars_is_refused(function: Any) -> None:
    with pytest.raises(xl.DTypeError, match="reduce"):
        xl.reduce(function, xl.ones(3), initial=0)
    with pytest.raises(xl.DTypeError, match="accumulate"):
        xl.accumulate(function, xl.ones(3))


def test_exceptions_come_through_and_change_nothing() -> None:
    a = xl.asarray([1.0, 2.0, -3.0])
    to = xl.full((), 7.0)
    with pytest.raises(ValueError, match="negative"):
        to[...] = xl.reduce(careful, a, initial=0.0)
    assert float(to) == 7.0
    with pytest.raises(ValueError, match="negative"):
        xl.accumulate(careful, a)
    assert float(xl.reduce(careful, a[:2], initial=0.0)) == 3.0


@together("shape", [(0,), (1,), (9,), (4, 5), (3, 4, 5), (2, 0, 3)])
def test_accumulate_along_axes(shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).random(shape)
    a = xl.asarray(values, layout="column_major")
    for axis in range(len(shape)):
        want = np.moveaxis(values.copy(), axis, 0)
        for k in range(1, shape[axis]):
            want[k] = want[k - 1] * 0.5 + want[k]
        done = xl.accumulate(decay, a + 0, axis)
        assert type(done) is xl.XArray
        np.testing.assert_array_equal(done, np.moveaxis(want, 0, axis))
    flat = list(itertools.accumulate(values.reshape(-1).tolist(), decay))
    np.testing.assert_array_equal(xl.accumulate(decay, a), np.array(flat).reshape(-1))


@together("dtype", ["float32", "float16", "int16", "uint8", "complex128", "bool"])
def test_accumulate_in_every_kind_of_dtype(dtype: str) -> None:
    a = xl.asarray([1, 0, 1, 1], dtype=dtype)
    done = xl.accumulate(add, a)
    assert done.dtype == a.dtype
    want = [True] * 4 if dtype == "bool" else [1, 1, 2, 3]
    assert done.tolist() == want
    assert xl.accumulate(add, a, dtype="float64").dtype == xl.float64


def test_long_lines_go_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("xarraylite.runtime.scan.PIECE", 64)
    values = np.arange(3000)
    for shape in [(3000,), (3, 1000), (30, 100), (300, 5, 2)]:
        a = xl.asarray(values.reshape(shape))
        for axis in range(len(shape)):
            want = np.cumsum(values.reshape(shape), axis=axis)
            np.testing.assert_array_equal(xl.accumulate(add, a, axis), want)


@pytest.mark.usefixtures("installed")
@together("dtype", ["float64", "float32", "float16", "bfloat16", "int8", "bool"])
def test_the_fourth_call_gives_what_the_first_does(dtype: str) -> None:
    values = np.random.default_rng(2).integers(0, 3, (4, 5))
    places = (values, values[::2, ::-1], values[:0], np.asfortranarray(values))
    for of in places if dtype == "float64" else places[:2]:
        a = xl.asarray(of, dtype=dtype)
        calls = [lambda a=a: xl.accumulate(add, a), lambda a=a: xl.eval(a.T + a.T)]
        for axis in (0, 1):
            calls.append(lambda a=a, k=axis: xl.accumulate(decay, a * 1, k))
            calls.append(lambda a=a, k=axis: xl.accumulate(larger, a.T, k))
            calls.append(lambda a=a, k=axis: xl.eval(xl.reduce(add, a, k, initial=0)))
            calls.append(lambda a=a, k=axis: xl.eval(xl.reduce(larger, a, (0, 1), initial=0) + k))
        for call in calls:
            first = call()
            for _ in range(3):
                assert_same_bits(call(), first)
                assert type(call()) is xl.XArray


@pytest.mark.usefixtures("installed")
def test_later_calls_read_memory_as_it_is() -> None:
    a, t = xl.ones(6), xl.XTensorFixed[xl.float64, (3,)]([1, 2, 3])
    for k in range(4):
        a[0] = float(k)
        early, made = xl.reduce(add, a, initial=0.0), xl.accumulate(add, a)
        a[1] = 50.0
        assert float(early) == k + 5.0
        assert made.tolist() == [float(k + n) for n in range(6)]
        assert type(xl.accumulate(add, t)) is type(t)
        a[1] = 1.0


@pytest.mark.usefixtures("installed")
def test_a_later_call_may_raise() -> None:
    good, bad = xl.ones(3), xl.asarray([1.0, 2.0, -3.0])
    for _ in range(3):
        assert xl.accumulate(careful, good).tolist() == [1.0, 2.0, 3.0]
        assert float(xl.reduce(careful, good, initial=0.0)) == 3.0
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            xl.accumulate(careful, bad)
        with pytest.raises(ValueError, match="negative"):
            float(xl.reduce(careful, bad, initial=0.0))


@pytest.mark.parametrize(
    ("shape", "axes"), [((0, 3, 4), (1, 2)), ((3, 0, 4), (0, 2)), ((2, 3, 0), (0, 1))]
)
def test_ordered_folds_of_which_there_are_none(shape: Any, axes: Any) -> None:
    made = xl.reduce(lambda a, b: a * 2 + b, xl.zeros(shape), initial=0.0, axis=axes)
    assert xl.eval(made).shape == (0,)


def test_names_mean_what_they_mean_at_the_call() -> None:
    a = xl.ones(10)

    def made(factor: float) -> Any:
        def weighted(total: float, x: float) -> float:
            return total + factor * x

        return weighted

    for _ in range(3):  # known from the second call on
        for factor in (2.0, 3.0):
            done = xl.reduce(made(factor), a, initial=0.0, merge=add)
            assert float(done) == 10 * factor
            assert xl.accumulate(made(factor), a)[-1] == 1 + 9 * factor
    space: dict[str, Any] = {"k": 2.0}
    exec("def weighted(total, x): return total + k * x", space)
    for factor in (2.0, 2.0, 3.0, 3.0, 4.0):
        space["k"] = factor
        done = xl.reduce(space["weighted"], a, initial=0.0, merge=add)
        running = xl.accumulate(space["weighted"], a)
        assert (float(done), float(running[-1])) == (10 * factor, 1 + 9 * factor)


def test_equal_code_with_other_defaults_or_names_is_another_function() -> None:
    def made(scale: float | None) -> Any:
        if scale is None:
            return lambda a, b: a + b
        return lambda a, b, s=scale: a + b * s

    a = xl.asarray([1.0, 2.0, 3.0])
    assert settled(made(None)) is settled(made(None))
    assert settled(made(2.0)) is settled(made(2.0)) is not settled(made(3.0))
    plain = made(None)
    for _ in range(3):
        assert float(xl.reduce(plain, a, initial=0.0)) == 6.0
    plain.__code__ = made(None).__code__.replace(co_consts=(None, 5.0))
    assert float(xl.reduce(plain, a, initial=0.0)) == 6.0
    weighed = made(2.0)
    weighed.__defaults__ = None
    with pytest.raises(xl.XarrayliteError):
        xl.reduce(weighed, a, initial=0.0)
    for number in (1.0, 2.0):  # equal code, made anew, of which other names are meant
        space: dict[str, Any] = {"k": number}
        exec("f = lambda a, b: a + b * k", space)
        assert xl.accumulate(space["f"], a).tolist()[-1] == 1.0 + 5.0 * number
    for _ in range(3):
        exec("g = lambda a, b: a - b", space)
        assert xl.accumulate(space["g"], a).tolist() == [1.0, -1.0, -4.0]
