"""Optional arrays: what is missing stays missing, and nothing else does."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together

A = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
KNOWN = np.array([[True, False, True], [True, True, False]])


def make() -> Any:
    return xl.optional(A.copy(), KNOWN.copy())


@together(
    ("text", "want"),
    [
        ("x + 1", [[2, None, 4], [5, 6, None]]),
        ("1 - x", [[0, None, -2], [-3, -4, None]]),
        ("x * y", [[10, None, None], [None, 250, None]]),
        ("-x", [[-1, None, -3], [-4, -5, None]]),
        ("x > y", [[False, None, None], [None, False, None]]),
        ("x == x", [[True, None, True], [True, True, None]]),
        ("x + xl.missing", [[None] * 3] * 2),
        ("xl.sqrt(x * x)", [[1, None, 3], [4, 5, None]]),
        ("xl.erf(x * 0)", [[0, None, 0], [0, 0, None]]),
        ("np.add(x, A)", [[2, None, 6], [8, 10, None]]),
        ("A + x", [[2, None, 6], [8, 10, None]]),
        ("x + xl.asarray([[10.0], [20.0]])", [[11, None, 13], [24, 25, None]]),
        ("xl.where(x > 3, x, 0)", [[0, None, 0], [4, 5, None]]),
        ("xl.where(A > 3, x, y)", [[10, 20, None], [4, 5, None]]),
        ("xl.optional([1.0, None, 3.0]) + x", [[2, None, 6], [5, None, None]]),
        ("xl.isclose(x, y / 10)", [[True, None, None], [None, True, None]]),
        ("xl.nanmean(x, axis=1)", [None, None]),
        ("abs(x)[1, ::-1]", [None, 5, 4]),
        ("x.value_or(-1) + 0", [[1, -1, 3], [4, 5, -1]]),
    ],
)
def test_functions(text: str, want: Any) -> None:
    y = xl.optional(A * 10, [[True, True, False], [False, True, True]])
    e = eval(text, {"x": make(), "y": y, "A": A, "xl": xl, "np": np})
    assert e.tolist() == want
    assert xl.eval(e).tolist() == want


REDUCERS = ["sum", "prod", "min", "max", "ptp", "mean", "var", "std", "any", "all"]


@pytest.mark.parametrize("name", REDUCERS)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reducers(name: str, axis: int | None) -> None:
    x = make()
    plain = getattr(xl, name)(x, axis=axis)
    assert type(plain) is xl.XOptional
    np.testing.assert_array_equal(plain.has_value(), np.all(KNOWN, axis=axis))
    np.testing.assert_array_equal(plain.value(), getattr(xl, name)(xl.asarray(A), axis=axis))
    assert getattr(x, name)(axis=axis).tolist() == plain.tolist()
    skipped = getattr(x, name)(axis=axis, skipna=True)
    masked = np.ma.MaskedArray(A, ~KNOWN)
    np.testing.assert_allclose(skipped.value(), getattr(masked, name)(axis=axis).astype(float))
    assert bool(xl.all(skipped.has_value()))


def test_statistics_of_a_vector_are_arrays() -> None:
    x = xl.optional([3, None, 1])
    for made in (xl.median(x), x.quantile(0.5), x.percentile(50, skipna=True)):
        assert isinstance(made.value(), xl.XExpression)
    assert (str(x.median()), str(x.median(skipna=True)), x.median().shape) == ("N/A", "2.", ())


def test_reducers_of_nothing() -> None:
    x = xl.optional([[1, 2], [3, 4]], [[False, False], [True, False]])
    assert x.sum(axis=1, skipna=True).tolist() == [0, 3]
    assert x.prod(axis=1, skipna=True).tolist() == [1, 3]
    assert x.min(axis=1, skipna=True).tolist() == [None, 3]
    assert x.max(axis=1, skipna=True).tolist() == [None, 3]
    assert x.mean(axis=1, skipna=True).tolist() == [None, 3]
    assert x.var(axis=1, skipna=True, correction=1).tolist() == [None, None]
    assert x.count(axis=1).tolist() == [0, 1]
    assert x.count_nonzero(axis=1, skipna=True).tolist() == [0, 1]
    assert x.count_nonzero(axis=0).tolist() == [None, None]
    assert xl.argmax(x, axis=0).tolist() == [None, None]


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "complex64"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "var", "std"])
def test_leaving_out_keeps_the_dtype(name: str, dtype: str) -> None:
    values = xl.asarray([1, 3, 4, 2], dtype=dtype)
    if dtype == "complex64" and name == "max":
        values = xl.real(values)
    x = xl.optional(values, [True, True, False, True])
    left = xl.asarray([1, 3, 2], dtype=values.dtype)
    skipped = xl.eval(getattr(x, name)(skipna=True))
    assert skipped.dtype == getattr(xl, name)(left).dtype
    np.testing.assert_allclose(skipped.value(), getattr(xl, name)(left), rtol=1e-3)


def test_leaving_out_takes_the_options_of_reducers() -> None:
    x = xl.optional([1.0, 3.0, xl.nan, 2.0], [True, True, False, True])
    left = np.array([1.0, 3.0, 2.0])
    for options in ({"ddof": 1}, {"correction": 1}, {"correction": 2.5}):
        ddof = sum(options.values())
        np.testing.assert_allclose(x.var(skipna=True, **options).item(), left.var(ddof=ddof))
        np.testing.assert_allclose(x.std(skipna=True, **options).item(), left.std(ddof=ddof))
    assert x.var(skipna=True, ddof=3).item() is None
    assert x.mean(skipna=True, dtype="float32").dtype == xl.float32
    assert x.sum(skipna=True, initial=10.0).item() == 16.0
    with pytest.raises(TypeError, match="unexpected"):
        x.mean(skipna=True, depth=1)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_running_results_of_what_is_there(axis: int | None) -> None:
    x = make()
    sums, products = np.cumsum(np.where(KNOWN, A, 0), axis), np.cumprod(np.where(KNOWN, A, 1), axis)
    for name, want in (("cumsum", sums), ("cumprod", products)):
        found = getattr(x, name)(axis=axis, skipna=True)
        np.testing.assert_array_equal(found.has_value(), KNOWN.reshape(want.shape))
        np.testing.assert_array_equal(found.value(), want)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_results_with_the_initial_value(axis: int) -> None:
    x = make()
    there = np.insert(KNOWN, 0, True, axis)
    for name, start in (("sum", 0), ("prod", 1)):
        method = getattr(x, f"cumulative_{name}")
        found = method(axis=axis, skipna=True, include_initial=True)
        np.testing.assert_array_equal(found.has_value(), there)
        want = getattr(np, f"cum{name}")(np.where(KNOWN, A, start), axis)
        np.testing.assert_array_equal(found.value(), np.insert(want, 0, start, axis))
    y = xl.optional([1.0, None]).cumulative_sum(skipna=True, include_initial=True)
    assert y.tolist() == [0.0, 1.0, None]


def test_leaving_out_what_a_condition_leaves_out_too() -> None:
    x = xl.optional([[4.0, None, 3.0, 9.0], [None, 5.0, None, 7.0]])
    among = [True, True, True, False]
    wanted = {"sum": [7.0, 5.0], "max": [4.0, 5.0], "ptp": [1.0, 0.0], "mean": [3.5, 5.0]}
    for name, want in wanted.items():
        assert getattr(x, name)(axis=1, skipna=True, where=among).tolist() == want
        assert getattr(x, name)(skipna=True, where=False).item() == (0 if name == "sum" else None)
    assert x.var(axis=1, skipna=True, where=among, ddof=1).tolist() == [0.5, None]


def test_both_halves_are_written_through() -> None:
    x = make()
    x.value()[0, 0] = 9
    x.has_value()[0] = [False, True, True]
    assert x.tolist() == [[None, 2, 3], [4, 5, None]]
    values, flags = xl.asarray([1, 2]), xl.asarray([True, False])
    y = xl.optional(values, flags)  # containers are used as they are
    y[1] = 7
    assert (values.tolist(), flags.tolist()) == ([1, 7], [True, True])


def test_assignment() -> None:
    x = make()
    x[0] = xl.missing
    x[1, 2] = 60
    x[1, 0] = None
    assert x.tolist() == [[None] * 3, [None, 5, 60]]
    x[...] = xl.optional([1.0, None, 3.0])
    assert x.tolist() == [[1, None, 3]] * 2
    x[:, 1:] = A[:, 1:]
    assert x.tolist() == [[1, 2, 3], [1, 5, 6]]
    x += xl.optional([None, 1, 1])
    assert x.tolist() == [[None, 3, 4], [None, 6, 7]]
    x[:, 1] *= 10
    assert x.tolist() == [[None, 30, 4], [None, 60, 7]]
    x.assign(x[:, ::-1] + 0)
    assert x.tolist() == [[4, 30, None], [7, 60, None]]
    with pytest.raises(xl.BroadcastError):
        x[0] = [1, 2]
    with pytest.raises(xl.CastError):
        xl.optional([1, 2]).__iadd__(0.5)


RESULTS: dict[str, Callable[[Any], Any]] = {
    "an operator": lambda x: x * 2,
    "a comparison": lambda x: x > 1,
    "another dtype": lambda x: x.astype("float32"),
    "a function of each element": lambda x: xl.round(x / 2),
    "where": lambda x: xl.where(xl.asarray([True, False, True]), x, 9.0),
    "two of it": lambda x: x + x,
    "running sums": lambda x: x.cumsum(),
    "a sum": lambda x: x.sum(keepdims=True),
    "what is there": lambda x: x.max(skipna=True, keepdims=True),
    "mixed halves": lambda x: xl.optional(x.value() * 2, x.has_value()),
}


@together("name", RESULTS)
def test_results_have_flags_of_their_own(name: str) -> None:
    x = xl.optional([1.0, 2.0, 3.0], [True, True, False])
    lazy = RESULTS[name](x)
    made = xl.eval(lazy)
    before, values = made.tolist(), x.tolist()
    made[...] = xl.missing
    assert x.tolist() == values
    if name != "mixed halves":  # whose flags are memory, as it was asked for
        x[...] = xl.optional([None, 5.0, 6.0])
        assert lazy.tolist() == before


def test_assignment_takes_the_shape() -> None:
    x = xl.optional([1, None, 3])
    values, flags = x.value(), x.has_value()
    waiting = x * 2
    assert x.assign(x + xl.optional([[10], [None]])) is x
    assert x.tolist() == [[11, None, 13], [None] * 3]
    assert values.shape == flags.shape == x.shape == (2, 3)  # the halves themselves
    assert waiting.tolist() == [2, None, 6]
    x.assign(xl.where(x > 11, xl.optional([7]), x)[0])  # flags that are made of the values
    assert x.tolist() == [11, None, 7]
    assert x.assign([4, None]).tolist() == [4, None]
    assert x.assign(xl.ones((2, 1))).tolist() == [[1], [1]]
    assert x.assign(5).item() == 5
    assert x.assign(xl.missing).item() is None
    with pytest.raises(xl.DTypeError):
        x.assign(["one", "two"])
    assert x.shape == x.value().shape == ()


def test_what_keeps_its_shape_when_it_is_assigned() -> None:
    whole = xl.optional(np.arange(6.0).reshape(2, 3))
    lent = np.zeros(3)
    kept = {
        "a view": (whole[0], [0, 1, 2]),
        "values of others": (xl.optional(xl.adapt(lent), xl.ones(3, dtype=bool)), [0, 0, 0]),
        "one half": (xl.optional(xl.zeros(3), whole.has_value()[1]), [0, 0, 0]),
        "a mask": (xl.masked_view(xl.zeros(3), np.ones(3, bool)), [0, 0, 0]),
        "a fixed rank": (xl.optional(xl.XTensor([0.0, 0, 0]), xl.XTensor([True] * 3)), [0, 0, 0]),
    }
    for name, (x, before) in kept.items():
        with pytest.raises((xl.BroadcastError, xl.ShapeError)):
            x.assign(xl.optional([[1.0] * 3, [2.0] * 3]))
        assert x.tolist() == before, name
        assert x.value().shape == x.has_value().shape == (3,)
        if name != "a fixed rank":
            assert x.assign(4).tolist() == [4] * 3, name
    locked = xl.optional(xl.zeros(3), xl.asarray(np.ones(3, bool)))
    flags = locked.has_value().numpy()
    flags.flags.writeable = False
    readonly = xl.optional(xl.zeros(3), xl.adapt(flags))
    with pytest.raises(xl.ReadOnlyError):
        readonly.assign([1.0, 2.0])
    assert readonly.tolist() == [0] * 3
    one = xl.optional(5, [True, False, True])
    for key, value in ((1, 3), (slice(None), xl.missing)):
        with pytest.raises(xl.ReadOnlyError, match="stretched"):
            one[key] = value
    assert one.tolist() == [5, None, 5]


@given(st.lists(st.tuples(st.integers(-9, 9), st.booleans(), st.booleans()), max_size=8), st.data())
def test_like_masked_arrays(rows: list[tuple[int, bool, bool]], data: st.DataObject) -> None:
    values = np.array([row[0] for row in rows], np.int64)
    one, two = (np.array([row[k] for row in rows], bool) for k in (1, 2))
    x, y = xl.optional(values, one), xl.optional(values + 1, two)
    mx, my = np.ma.MaskedArray(values, ~one), np.ma.MaskedArray(values + 1, ~two)
    assert (x * y - x).tolist() == (mx * my - mx).tolist()
    key = data.draw(st.slices(len(rows)))
    x[key] = (y + 1)[key]
    mx[key] = (my + 1)[key]
    assert x.tolist() == mx.tolist()
    assert x.sum(skipna=True).tolist() == int(mx.filled(0).sum())


def test_how_they_print() -> None:
    x = make()
    assert repr(x) == "XOptional([[1., N/A, 3.],\n           [4., 5., N/A]])"
    assert str(x + 1) == "[[2. N/A 4.]\n [5. 6. N/A]]"
    assert repr(x + 1) == "<XOptional: float64[2, 3], lazy>"
    assert repr(xl.missing) == "N/A"
    with xl.printoptions(precision=2):
        assert str(xl.optional([2 / 3, None])) == "[0.67 N/A]"
    assert repr(xl.optional(np.arange(5000), np.arange(5000) > 0)).startswith(
        "XOptional([N/A, 1, 2,"
    )
    assert (f"{x[0, 0]:.2f}", f"{x[0, 1]:.2f}", f"{x[0, 0]}") == ("1.00", "N/A", "1.0")
    assert "XOptional</b>" in x._repr_html_()
    assert xl.info(x).startswith("XOptional float64[2, 3]: values row_major")
    assert pickle.loads(pickle.dumps(xl.missing)) is xl.missing


#: Functions that move elements, or that meet them one after the other.
MOVED = [
    "xl.reshape(x, (3, 2))",
    "x.T",
    "x.reshape(-1)",
    "xl.permute_dims(x, (1, 0))",
    "xl.flip(x, axis=1)",
    "xl.roll(x, 1, axis=1)",
    "xl.expand_dims(x, axis=0)",
    "xl.squeeze(x[:1], axis=0)",
    "xl.moveaxis(x, 0, 1)",
    "xl.broadcast_to(x[0], (4, 3))",
    "xl.concat([x, np.ones((1, 3)), x])",
    "xl.stack([x, x])",
    "xl.vstack((x, x))",
    "xl.take(x, [2, 0], axis=1)",
    "xl.repeat(x, 2, axis=0)",
    "xl.tile(x, (1, 2))",
    "xl.unstack(x)[1]",
    "xl.view(x, xl.range(), xl.keep(2, 0, 2))",
    "xl.filter(x, np.array([[True, False, True], [False, True, True]]))",
    "xl.index_view(x, [(0, 1), (1, 0)])",
    "xl.flatten(x, 'column_major')",
    "xl.as_strided(x, (2, 2), (1, 1))",
    "xl.diff(x)",
    "xl.diff(x, 2, axis=1, prepend=x[:, :1])",
    "xl.diff(x, prepend=0.5, append=x[0, 1])",
    "xl.diff(x, 10**30)",
    "xl.cumsum(x, axis=1)",
    "xl.cumulative_prod(x, axis=0)",
    "xl.round(x / 3, 1)",
    "xl.astype(x, 'int8')",
    "xl.norm_l1(x, axis=0)",
    "xl.fliplr(x)",
    "xl.hsplit(x, 3)[1]",
    "xl.diagonal(x)",
    "np.concatenate([x, x])",
    "np.sum(x, axis=1)",
    "xl.norm_sq(x, axis=1, keepdims=True)",
    "xl.pad(x, 1, constant_values=7)",
    "xl.pad(x, ((0, 1), (2, 1)), 'edge')",
    "xl.pad(x, 1, 'reflect')",
    "xl.pad(x, 2, mode='wrap')",
    "xl.median(x)",
    "xl.median(x, 1)",
    "xl.median(x, axis=0, keepdims=True)",
    "xl.quantile(x, [0.25, 0.5], 1, method='lower')",
    "xl.percentile(x, 30, axis=0)",
    "xl.trapezoid(x, dx=2.0, axis=0)",
    "xl.reduce(times, x, 1, initial=1.0, keepdims=True)",
    "xl.accumulate(times, x, 0)",
    "xl.accumulate(times, x)",
    "xl.jit(lambda a: a[::-1] * 2 + 1)(x)",
    "xl.jit(lambda a, b: xl.sum(a * b, axis=1))(x, x)",
    "xl.jit(lambda a: xl.where(np.array([True, False, True]), a.T[:, :1].T, a))(x)",
]


def times(a: float, b: float) -> float:
    return a * b


@together("text", MOVED)
def test_functions_of_both_halves(text: str) -> None:
    """What is computed of something missing is missing: as NaN goes through the same function."""
    x = make()
    names = {"xl": xl, "np": np, "times": times}
    found = xl.eval(eval(text, names | {"x": x}))
    plain = np.where(x.has_value(), x.value(), 1)
    want = np.asarray(eval(text, names | {"x": xl.asarray(plain)}))
    spoiled = text.replace("xl.astype(x, 'int8')", "x")
    nans = np.where(x.has_value(), x.value(), np.nan)
    known = ~np.isnan(np.asarray(eval(spoiled, names | {"x": xl.asarray(nans)})))
    assert type(found) is xl.XOptional
    np.testing.assert_array_equal(found.has_value(), known)
    np.testing.assert_array_equal(np.asarray(found.value())[known], want[known])


def test_views_are_written_through() -> None:
    x = make()
    x.T[0] = [10, None]
    xl.view(x, 0, xl.keep(2, 1))[...] = [7, 8]
    assert x.tolist() == [[10, 8, 7], [None, 5, None]]
    y = xl.masked_view(xl.arange(6), [True, False] * 3)
    y.reshape(2, 3)[1] = [20, 21, 22]
    assert y.value().tolist() == [0, 1, 2, 3, 21, 5]
    assert repr(y[::-1]) == "XMaskedView([masked, 21, masked, 2, masked, 0])"


def test_nothing_and_nobody_there() -> None:
    nobody = xl.optional(np.zeros((0, 3)))
    assert xl.eval(nobody.max(axis=0, skipna=True)).tolist() == [None] * 3
    assert nobody.sum(skipna=True).item() == 0
    assert xl.optional(None).item() is None
    assert (xl.optional([1, 2]) + [None, 3]).tolist() == [None, 5]
    assert round(xl.optional([1.25, None])[0], 1) == 1.2
    for text in ("xl.sort(x)", "x.view('int8')", "np.sort(x)"):
        with pytest.raises(TypeError, match="XOptional"):
            eval(text, {"xl": xl, "np": np, "x": nobody})


def test_values() -> None:
    x = make()
    assert float(x[0, 0]) == 1.0
    assert x[0, 1].item() is None
    with pytest.raises(ValueError, match="missing"):
        float(x[0, 1])
    with pytest.raises(TypeError, match="rank 0"):
        float(x)
    with pytest.raises(ValueError, match="truth of 6 elements"):  # as of any array
        bool(x)
    with pytest.raises(TypeError, match="value_or"):
        np.asarray(x)
    with pytest.raises(xl.DTypeError, match="may be missing"):
        xl.asarray(x)
    with pytest.raises(xl.DTypeError, match="flags must be bool"):
        xl.optional([1], [1])
    with pytest.raises(xl.BroadcastError):
        xl.optional([1, 2], [True] * 3)


def test_masked_arrays_there_and_back() -> None:
    masked = np.ma.MaskedArray(A, ~KNOWN)
    x = xl.optional(masked)
    assert x.tolist() == make().tolist()
    back = xl.masked_array(x * 2)
    np.testing.assert_array_equal(back.mask, ~KNOWN)
    assert back.tolist() == (masked * 2).tolist()


@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "Float32", "boolean"])
def test_pandas_there_and_back(dtype: str) -> None:
    pd = pytest.importorskip("pandas")
    series = pd.Series([1, None, 0], dtype=dtype)
    x = xl.optional(series)
    assert x.tolist() == [1, None, 0]
    back = xl.to_pandas(x)
    assert back.dtype == series.dtype
    assert back.equals(series.array)
    with pytest.raises(xl.DTypeError, match="no nullable array"):
        xl.to_pandas(xl.optional([[1, None]]))
    plain = xl.optional(pd.Series([1.5, None]))  # NaN is what pandas' other dtypes have
    assert plain.tolist() == [1.5, None]


def test_lists_keep_the_dtype_of_what_is_there() -> None:
    assert xl.optional([1, None]).dtype == xl.int64
    assert xl.optional([True, xl.missing]).dtype == xl.bool
    assert xl.optional([[1j], [None]]).dtype == xl.complex128
    assert xl.optional([None, None]).dtype == xl.float64
    assert xl.optional([1, 2], dtype="int8").tolist() == [1, 2]


def test_traced_functions_return_what_may_be_missing() -> None:
    x = make()
    step = xl.jit(lambda a, b, k: (a + b, b * k, xl.any(a > b)))
    for k in (1, 2, 2):
        both, plain, some = step(x, xl.asarray(A), k)
        assert type(both) is type(some) is xl.XOptional
        assert both.tolist() == [[2, None, 6], [8, 10, None]]
        assert plain.tolist() == (A * k).tolist()
        assert some.item() is None
        x[0, 1], x[0, 1] = 100.0, xl.missing  # what it was traced for is not what it holds
    assert step.traces == 2
    mixed = step(xl.asarray(A), xl.asarray(A), 1)
    assert type(mixed[0]) is xl.XArray
    assert step.traces == 3
    twice = xl.jit(lambda a: step(a, a, 1)[0])
    assert twice(x).tolist() == [[2, None, 6], [8, 10, None]]
    masked = xl.jit(lambda v: v * 2)(xl.masked_view(xl.arange(3), [True, False, True]))
    assert masked.tolist() == [0, None, 4]
    with pytest.raises(xl.TracedValueError):
        xl.jit(lambda a: float(a[0, 0]))(x)


def test_whole_arrays_are_compared_with_what_is_missing() -> None:
    x, other = make(), make()
    other[0, 1], other[0, 1] = 100.0, xl.missing
    assert xl.array_equal(x, other)
    assert xl.allclose(x, other)
    assert not xl.array_equal(x, A)
    assert not xl.allclose(A, x)
    assert not xl.array_equal(x, x[:1])
    other[0, 0] = 1.5
    assert not xl.array_equal(x, other)
    assert not xl.allclose(x, other)
    assert xl.allclose(x, other, atol=1.0)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_statistics_of_what_is_there(axis: int | None) -> None:
    x = xl.optional(A, [[True, False, False], [True, True, False]])
    nans = np.where(x.has_value(), A, np.nan)
    known = np.any(x.has_value(), axis=axis)
    for name, args in (("median", ()), ("quantile", (0.4,)), ("percentile", (75,))):
        found = getattr(x, name)(*args, axis=axis, skipna=True)
        np.testing.assert_array_equal(found.has_value(), known)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = getattr(np, f"nan{name}")(nans, *args, axis=axis)
        np.testing.assert_array_equal(np.asarray(found.value())[known], np.asarray(want)[known])
    with pytest.raises(xl.DTypeError, match="pad, mode='mean': got XOptional"):
        xl.pad(x, 1, mode="mean")
