"""Operators and conversions with the arrays of other libraries, where they are installed."""

from __future__ import annotations

import array
import collections
import decimal
import fractions
import hashlib
import io
import operator
import weakref
import zlib
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.operands.nodes import METHODS
from xarraylite.testing import assert_same_bits

pytestmark = pytest.mark.filterwarnings("ignore")

V = np.array([1.0, 2.0, 3.0])


def test_pandas_keeps_its_index() -> None:
    pd = pytest.importorskip("pandas")
    a, s = xl.asarray(V), pd.Series(V, index=list("abc"))
    for made in (a + s, s + a, (a * 1) + s, np.add(a, s), a[1] - 1 + s + a - 1):
        assert isinstance(made, pd.Series)
        assert list(made.index) == ["a", "b", "c"]
        assert made.tolist() == [2, 4, 6]
    assert (s >= a).all()
    for made in (xl.log(s), xl.add(a, s), xl.maximum(s, 2), xl.modf(s)[0], xl.float_power(s, a)):
        assert isinstance(made, pd.Series)
        assert list(made.index) == ["a", "b", "c"]
    assert xl.log(s).tolist() == np.log(V).tolist()
    assert xl.divide(s, 2, out=xl.zeros(3)).tolist() == (V / 2).tolist()
    assert xl.clip(s, 1.5, 2, out=xl.zeros(3)).tolist() == [1.5, 2, 2]
    frame = pd.DataFrame({"x": a, "y": a * 2})
    assert frame["y"].tolist() == [2, 4, 6]
    given = a.to_numpy("f4", copy=True)
    assert (given.dtype, given.tolist()) == (np.float32, [1, 2, 3])
    assert np.shares_memory(a.to_numpy(), np.asarray(a))
    assert not np.shares_memory(a.to_numpy(copy=True), np.asarray(a))


def test_numpys_functions_of_ours_and_of_dasks_are_dasks() -> None:
    da = pytest.importorskip("dask.array")
    a, d = xl.asarray(V), da.from_array(V * 2, chunks=2)
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        for ours, theirs in ((a, V), (a * 1, V)):
            for one, two, other in ((ours, d, theirs), (d, ours, theirs)):
                plain = [x if x is d else other for x in (one, two)]
                for function in (np.isclose, np.dot, np.outer, lambda x, y: np.concatenate([x, y])):
                    made, wanted = function(one, two), function(*plain)
                    assert type(made) is type(wanted) is da.Array
                    assert_same_bits(np.asarray(made), np.asarray(wanted))


def test_sparse_arrays_say_what_comes_out() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    n, stored = np.array([[0.0, 1.0], [2.0, 3.0]]), sparse.csr_array([[0.0, 1.0], [4.0, 0.0]])
    a = xl.asarray(n)
    for ours, theirs in ((a, n), (a * 1, n), (a[1, 0], n[1, 0])):
        for name in ("mul", "truediv", "eq", "ne", "lt", "ge") + ("add", "sub", "rsub") * ours.ndim:
            op = getattr(operator, name, lambda x, y: y - x)
            made, wanted = op(stored, ours), op(stored, theirs)
            assert type(made) is type(wanted)
            assert_same_bits(*[getattr(x, "toarray", lambda x=x: x)() for x in (made, wanted)])
    assert_same_bits(a == stored, n == stored)
    assert_same_bits(a @ stored, n @ stored)


class Measured(np.lib.mixins.NDArrayOperatorsMixin):
    """Values with a unit, that say what NumPy's functions do with them."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.values if isinstance(x, Measured) else x for x in inputs]
        return Measured(getattr(ufunc, method)(*plain, **options))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return f"{function.__name__} of {len(args)}"


def test_functions_ask_what_has_functions_of_its_own() -> None:
    x, a = Measured(V), xl.asarray(V)
    assert xl.mean(x) == "mean of 1"
    assert xl.concatenate([a, x]) == "concatenate of 1"
    assert xl.linalg.norm(x) == "norm of 1"
    assert xl.clip(x, 0, 1) == "clip of 3"
    assert (xl.where(a > 1, x, 0), xl.real(x)) == ("where of 3", "real of 1")
    for made in (a + x, x + a, xl.add(a, x)):
        assert np.asarray(made.values).tolist() == [2, 4, 6]


def test_ufuncs_of_the_user_are_not_kept() -> None:
    def same(value: float) -> float:
        return value

    kept = weakref.ref(same)
    assert list(np.frompyfunc(same, 1, 1)(xl.asarray(V))) == V.tolist()
    del same
    assert kept() is None


class Metres(np.ndarray):
    """An array of NumPy's with a unit: what is computed of one is one."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x) for x in inputs]
        return getattr(ufunc, method)(*plain, **options).view(Metres)


def test_arrays_derived_from_numpys_say_what_is_computed() -> None:
    x, a = V.view(Metres), xl.asarray(V)
    for made in (a + x, x + a, (a * 1) + x, xl.add(a, x), xl.multiply(x, 2), np.add(a, x)):
        assert type(made) is Metres
        assert made.tolist() == [2, 4, 6]
    for made in (
        xl.sqrt(x),
        xl.sum(x, keepdims=True),
        xl.cumsum(x),
        xl.maximum(x, a),
        a[0] * x,
        xl.sort(x),
    ):
        assert type(made) is Metres
    a[...] = x * 2
    assert a.tolist() == xl.asarray(x * 2).tolist() == [2, 4, 6]
    assert type(xl.concatenate([x, x])) is type(np.concatenate([x, x]))
    objects = np.frompyfunc(fractions.Fraction, 1, 1)(a)
    assert (type(objects), objects.dtype) == (np.ndarray, object)


class Floating:
    """A number to `float` alone."""

    def __float__(self) -> float:
        return 2.5


class Three:
    """What is no array and no sequence by its class, but has a length and items."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, k: int) -> float:
        return list(V)[k]


class First(collections.UserList[float]):
    """A sequence that is asked before arrays are, as there was before ufuncs."""

    __array_priority__ = 2000

    def __radd__(self, other: object) -> Any:
        return "theirs"


def test_sequences_and_numbers_of_any_class() -> None:
    a = xl.asarray(V)
    assert xl.mean(Three()) == 2
    assert xl.dot(Three(), xl.stack([Three(), a])[1]) == 14
    with pytest.raises(TypeError, match="mean: got dict; operands are"):
        xl.mean({0: 1})
    for row in (array.array("d", V), collections.deque(V), memoryview(V), collections.UserList(V)):
        assert (a + row).tolist() == [2, 4, 6]
        assert xl.sum(row) == 6
        assert a @ row == 14
        a[...] = row
    assert (a == collections.deque(["1", "b", "c"])).tolist() == [False] * 3
    assert a + First(V) == "theirs"
    for values in (np.array([1, fractions.Fraction(5, 2)], object), np.array([1, 2], "m8[D]")):
        wanted, a[:2] = np.zeros(2), values
        wanted[...] = values
        assert a[:2].tolist() == wanted.tolist()
    a[0] = Floating()
    assert a.tolist() == [2.5, 2, 3]
    assert xl.asarray(Floating(), dtype="f4") == 2.5
    made = xl.asarray([1, 2]) * fractions.Fraction(1, 2)
    assert (type(made), made.tolist()) == (np.ndarray, [fractions.Fraction(1, 2), 1])
    assert (2 - fractions.Fraction(1, 2) * xl.asarray([1, 2])).tolist() == [1.5, 1]
    with pytest.raises(TypeError, match="unsupported operand"):
        a + {1, 2, 3}
    with pytest.raises(TypeError):
        a * decimal.Decimal(2)


def test_pandas_multiplies_times_and_has_its_own_loops() -> None:
    pd = pytest.importorskip("pandas")
    s, n = pd.Series(V, index=list("abc")), np.arange(3)
    times = pd.Series(pd.to_timedelta([1, 2, 3], unit="D"))
    for factor in (xl.asarray(n), xl.asarray(n) * 1):
        pd.testing.assert_series_equal(times * factor, times * n)
        pd.testing.assert_series_equal(times // (factor + 1), times // (n + 1))
    for made in (xl.add(s, xl.asarray(n), dtype="f4"), xl.add(n, s, signature="ff->f")):
        pd.testing.assert_series_equal(made, np.add(s, n, dtype="f4"))


@together("name", sorted(METHODS))
def test_a_function_is_the_method_of_series_and_frames(name: str) -> None:
    pd = pytest.importorskip("pandas")
    s = pd.Series(V, index=list("abc"))
    asked = {"clip": (xl.asarray(1.5), 2), "repeat": (2,), "searchsorted": (2,)}.get(name, ())
    ours = getattr(xl, name)(s, *asked)
    theirs = getattr(np, name)(s, *[float(x) for x in asked] if name == "clip" else asked)
    assert type(ours) is type(theirs)
    assert_same_bits(np.asarray(ours), np.asarray(theirs))


def test_frames_stay_frames() -> None:
    pd = pytest.importorskip("pandas")
    a = xl.asarray(np.arange(6.0).reshape(3, 2))
    frame = pd.DataFrame(a, columns=["x", "y"])
    for made in (frame * a, frame * (a + 0), a * frame):
        assert isinstance(made, pd.DataFrame)
        assert made.to_numpy().tolist() == (np.asarray(a) ** 2).tolist()
    assert (frame == a).all(axis=None)
    for bounds in ({"min": 1}, {"max": 3}, {"min": 1, "max": 3}):
        assert xl.clip(frame["x"], **bounds).tolist() == np.clip(frame["x"], **bounds).tolist()
        assert isinstance(xl.clip(frame["x"], **bounds), pd.Series)
    assert xl.mean(frame, axis=0).to_dict() == {"x": 2.0, "y": 3.0}
    assert frame.agg({"x": xl.mean, "y": xl.max}).tolist() == [2.0, 5.0]
    assert frame.groupby("x")["y"].agg([xl.sum]).to_numpy().tolist() == [[1.0], [3.0], [5.0]]
    groups = frame.groupby(np.array([0, 0, 1]))["y"]
    assert groups.agg(lambda v: xl.percentile(v, 50)).tolist() == [2.0, 5.0]
    assert xl.array(pd.Series(["a", "b"])).tolist() == ["a", "b"]
    assert frame.replace(a[0, 1], 7.0)["y"].tolist() == [7.0, 3.0, 5.0]
    with pytest.raises(TypeError, match="round: Series has one of its own, which refused"):
        xl.round(frame["x"], decimals="a")  # type: ignore[call-overload]


def test_dask_stays_lazy() -> None:
    da = pytest.importorskip("dask.array")
    a, d = xl.asarray(V), da.ones(3, chunks=2)
    assert isinstance(xl.sum(d), da.Array)
    for made in (a + d, d + a, (a * 1) + d, np.add(a, d), xl.add(a, d), xl.astype(d, "f4") + a):
        assert isinstance(made, da.Array)
        assert made.compute(scheduler="synchronous").tolist() == [2, 3, 4]
    assert (a[1] * d).compute(scheduler="synchronous").tolist() == [2, 2, 2]
    for made in (a @ d, d @ a, xl.concat([a, d]).sum() - 3):
        assert isinstance(made, da.Array)
        assert made.compute(scheduler="synchronous") == 6
    assert_same_bits(xl.fft.fft(d), np.fft.fft(np.ones(3)))  # which has no such function
    assert_same_bits(xl.asarray(d), np.ones(3))
    chunked = da.from_array(a, chunks=2) * 2
    assert np.asarray(chunked.compute(scheduler="synchronous")).tolist() == [2, 4, 6]


def test_arrows_arrays_are_made_of_ours() -> None:
    pa = pytest.importorskip("pyarrow")
    for dtype in ("i8", "u1", "f4", "f8", "bool"):
        n = np.array([1, 0, 2], dtype)
        for x in (xl.asarray(n), xl.asarray(n)[::-1], xl.asarray(n) | 0 if dtype == "i8" else n):
            made = pa.array(x)
            assert made.equals(pa.array(np.asarray(x)))


def test_xarray_holds_containers() -> None:
    xr = pytest.importorskip("xarray")
    labelled = xr.DataArray(xl.asarray(V), dims="x") * 2
    assert isinstance(labelled.data, xl.XExpression)
    assert float(labelled.mean()) == 4
    assert_same_bits(labelled.isel(x=slice(1, None)).data, V[1:] * 2)


def test_pillow_takes_images() -> None:
    image = pytest.importorskip("PIL.Image")
    values = np.arange(12, dtype=np.uint8).reshape(3, 4)
    assert_same_bits(np.asarray(image.fromarray(xl.asarray(values))), values)
    assert_same_bits(np.asarray(image.fromarray(xl.asarray(values).T)), values.T)
    assert float(xl.sum(image.fromarray(values))) == values.sum()


def test_matplotlib_takes_columns() -> None:
    """A matrix is a data set for each column, not for each row, lazy ones too."""
    cbook = pytest.importorskip("matplotlib.cbook")
    a = xl.asarray(np.arange(12.0).reshape(6, 2))
    for x in (a, a * 2, a.T.copy().T):
        stats = cbook.boxplot_stats(x)
        assert [s["med"] for s in stats] == np.median(np.asarray(x), axis=0).tolist()
    corners, _ = np.broadcast_arrays(a, np.ones((6, 2)))  # as for surfaces
    assert cbook._array_patch_perimeters(corners, 5, 1).shape == (1, 12)
    assert np.shares_memory(corners, np.asarray(a))


@pytest.mark.parametrize("protocol", ["__array__", "__array_interface__", "__array_struct__"])
def test_what_numpy_makes_arrays_of_is_an_operand(protocol: str) -> None:
    values = V.copy()
    given = getattr(values, protocol)
    found = (lambda self, dtype=None, copy=None: values) if callable(given) else given
    other = type("Other", (), {protocol: found, "memory": values})()
    assert_same_bits(xl.eval(xl.ones(3) + other), V + 1)
    assert_same_bits(xl.eval(xl.sqrt(other)), np.sqrt(V))
    for shared in (xl.adapt(other), xl.asarray(other, copy=False)):
        shared[0] = 5
        assert values[0] == 5
        values[0] = 1


def test_masks_are_not_lost_in_shared_memory() -> None:
    masked = np.ma.MaskedArray(V, V > 2)
    for share in (xl.adapt, lambda x: xl.asarray(x, copy=False)):
        with pytest.raises(xl.DTypeError, match="adapt: got a masked array; fill it first"):
            share(masked)


def test_c_finds_the_memory() -> None:
    a = xl.asarray(V)
    for _ in range(2):  # what was given out before, too
        view = memoryview(a)
        assert (view.format, view.shape, view.strides, view.readonly) == ("d", (3,), (8,), False)
    assert hashlib.sha256(a).digest() == hashlib.sha256(V).digest()
    assert zlib.crc32(a[1:]) == zlib.crc32(V[1:])
    late = a * 2
    assert io.BytesIO(V[::-1].tobytes()).readinto(a) == V.nbytes
    assert_same_bits(a, V[::-1])
    assert_same_bits(xl.eval(late), V * 2)
    assert memoryview(a[::-2]).tolist() == V.tolist()[::2]
    for part in (a[::2], a[::-1]):  # of which C takes no strides
        assert hashlib.sha256(part).digest() == hashlib.sha256(part.numpy().tobytes()).digest()
    assert memoryview(xl.broadcast_to(a, (2, 3))).readonly
    own = type("Own", (xl.XArray,), {})(V)
    assert np.shares_memory(memoryview(own), own.numpy())
    assert memoryview(xl.asarray(2.5).reshape(())).tolist() == 2.5


def test_the_interface_describes_strided_memory_only() -> None:
    a = xl.asarray(V)[::2]
    described = a.__array_interface__
    assert (described["shape"], described["strides"], described["typestr"]) == ((2,), (16,), "<f8")
    assert np.shares_memory(np.asarray(a.__buffer__(0x11C)), np.asarray(a))
    for other in (xl.ones(2, dtype="bfloat16"), xl.ones((2, 2), layout="{1,0:T(2,2)}")):
        assert not hasattr(other, "__array_interface__")
        assert np.asarray(other).shape == other.shape
