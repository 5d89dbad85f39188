"""What xtensor decides otherwise than NumPy, and what its users reported: decided here, one by one.

Each row is a program, run with ``a`` of shape (2, 3), the vector ``v``, and the helpers below; its
name has the numbers of xtensor's reports that it is about.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import xarraylite as xl


def same(ours: Any, theirs: Any) -> None:
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs), strict=True)


def refused(call: Callable[[], object], error: type[Exception], words: str | None = None) -> None:
    with pytest.raises(error, match=words):
        call()


SEMANTICS = {
    "assignment has three spellings": """
        w = v
        w = w + a  # a name
        assert v.shape == (3,)
        b = v.copy()
        refused(lambda: b.__iadd__(a), xl.BroadcastError)  # never grows
        refused(lambda: b.__setitem__(..., a), xl.BroadcastError)
        assert b.assign(b + a).shape == (2, 3)
    """,
    "scalars fill, or become the value": """
        a[...] = 5
        same(a, np.full((2, 3), 5))
        assert a.assign(7).shape == () and a.item() == 7
    """,
    "indices are NumPy's": """
        same((a + v)[1], A[1] + V)
        refused(lambda: (a + v)[1, 1, 1], IndexError)
        refused(lambda: a[1, 1, 1], IndexError)
        assert int((a + v)[1, 2]) == A[1, 2] + V[2]
    """,
    "lazy until evaluated": """
        for e in (a.T + 1, xl.where(a > 1, a, 0), xl.concat([a, a]), xl.roll(a, 1), xl.diff(a)):
            assert type(e) is xl.XExpression
        for c in (xl.zeros(2), xl.sort(a), xl.unique(a), xl.nonzero(a)[0], xl.argsort(a)):
            assert isinstance(c, xl.XArray)
    """,
    "a reducer in an expression runs once (2048, 1622, 2680)": """
        b = xl.asarray(np.ones((50, 40)))
        same(xl.eval(b / xl.max(b, axis=1, keepdims=True)), np.ones((50, 40)))
        if ENGINE:
            assert xl.explain(b / xl.max(b, axis=1, keepdims=True)).bytes_moved < 50_000
    """,
    "expressions keep what they were written with (270, 1366, 2597)": """
        e, late = a + 1, xl.late(a + 1)
        a[0, 0] = 100
        same(e, A + 1)
        assert int(late[0, 0]) == 101
    """,
    "comparison is elementwise, any and all take axes": """
        same(a == a, np.full((2, 3), True))
        assert xl.array_equal(a, a + 0) and not xl.array_equal(a, a.T)
        same(xl.any(a > 3, axis=0), (A > 3).any(axis=0))
    """,
    "brackets copy, filter views (1716)": """
        a[a > 3][...] = 0
        same(a, A)
        xl.filter(a, a > 3)[...] = 0
        same(a, np.where(A > 3, 0, A))
        refused(lambda: xl.filter(a, [True, False]), xl.IndexRangeError, "broadcast")
        refused(lambda: xl.filter(a, [[True] * 2] * 2), xl.IndexRangeError, "broadcast")
        same(xl.asarray(A)[np.array([True, False])], A[[True, False]])  # leading dimensions
    """,
    "keep is outer, lists meet": """
        same(xl.view(a, xl.keep(0, 1), xl.keep(2, 0)), A[np.ix_([0, 1], [2, 0])])
        same(a[[0, 1], [2, 0]], A[[0, 1], [2, 0]])
    """,
    "leading extents of one are dropped (907)": """
        a[0] = xl.ones((1, 1, 3), dtype="int64")
        same(a[0], [1, 1, 1])
        refused(lambda: a.__setitem__(0, xl.ones((2, 3))), xl.BroadcastError)
    """,
    "axes come in any order, once (1619)": """
        cube = xl.ones((2, 3, 4))
        assert xl.sum(cube, axis=(2, 0)).shape == (3,)
        refused(lambda: xl.sum(cube, axis=(0, -3)), xl.AxisError)
    """,
    "sums of small integers widen": """
        assert xl.sum(xl.ones(3, dtype="int8")).dtype == xl.int64
        assert xl.sum(xl.ones(3, dtype="int8"), dtype="int8").dtype == xl.int8
    """,
    "division": """
        x, y = xl.asarray([7, -7]), xl.asarray([2, 2])
        same(x / y, [3.5, -3.5])
        same(x // y, [3, -4])
        same(x % y, [1, 1])
        same(xl.fmod(x, y), [1, -1])
        assert (xl.asarray([True]) + xl.asarray([True])).dtype == xl.bool
    """,
    "strides are in elements, also of extents of one": """
        assert xl.zeros((2, 1, 3)).strides == (3, 3, 1)
        assert np.asarray(xl.zeros((2, 1, 3))).strides == (24, 24, 8)
    """,
    "flat is in row-major order, storage's by name": """
        f = xl.asarray(A, layout="column_major")
        same(xl.flat(f), A.reshape(-1))
        same(xl.flat(f, "storage"), A.T.reshape(-1))
        same([int(x) for x in f.flat], A.reshape(-1))
        b = xl.asarray(np.arange(6))
        place = b.buffer.address
        b.resize_((3, 2))
        assert b.buffer.address == place and b.shape == (3, 2)
        b.reshape_((2, 3))
        same(b, np.arange(6).reshape(2, 3))
    """,
    "nothing is constructed by default (2172, 200, 1145)": """
        refused(xl.XArray, TypeError)
        refused(xl.XTensor[xl.float64, 2], TypeError)
    """,
    "constructors take data, never a shape": """
        same(xl.XArray([1, 3, 4, 2]), [1, 3, 4, 2])
        assert xl.XTensor[xl.int64, 1]([1, 3, 4, 2]).shape == (4,)
        refused(lambda: xl.XTensor[xl.int64, 4]([1, 3, 4, 2]), ValueError)
    """,
    "random numbers are drawn once, the same in any layout (2629, 2557)": """
        r = xl.random.default_rng(3).normal(size=(3, 4))
        e = r + 0
        same(xl.eval(e), xl.eval(e))
        same(r, np.random.default_rng(3).normal(size=(3, 4)))
    """,
    "a layout is no type": """
        f = xl.asarray(A, layout="column_major")
        same(xl.transpose(f[:, ::2]), A[:, ::2].T)
        same(xl.transpose(xl.XArray(A, strides=(1, 2))), A.T)
    """,
    "names of the standard mean what they mean there": """
        x = xl.asarray([1, 2, 2, 3])
        assert int(xl.searchsorted(x, xl.asarray(2), side="left")) == 1
        assert int(xl.searchsorted(x, xl.asarray(2), side="right")) == 3
        assert float(xl.var(x, axis=0)) == 0.5
        assert xl.meshgrid(xl.arange(2), xl.arange(3))[0].shape == (3, 2)
        same(xl.round(xl.asarray([0.5, 1.5, 2.5])), [0.0, 2.0, 2.0])
        assert float(xl.linalg.vector_norm(xl.asarray([3 + 4j]))) == 5
    """,
    "every index is checked (2452)": """
        one = xl.zeros((1, 3))
        refused(lambda: xl.at(one, 1, 0), IndexError)
        refused(lambda: one[5], IndexError)
        refused(lambda: (one + 1)[0, -4], IndexError)
        assert not xl.in_bounds(one, 1, 0)
    """,
    "folds over no axis are the elements, initial counts (2400)": """
        same(xl.sum(a, axis=()), A)
        same(xl.eval(xl.sum(a, axis=0, initial=10)), A.sum(axis=0) + 10)
        assert int(xl.sum(xl.asarray(4), initial=3)) == 7
        same(xl.cumsum(xl.asarray(3)), [3])
    """,
    "masked and missing are one state, NaN another": """
        m = xl.masked_view(xl.asarray([1.0, np.nan, 3.0]), [True, True, False])
        assert "masked" in str(m) and "nan" in str(m)
        o = xl.optional([1.0, np.nan, 3.0], [True, True, False])
        assert "N/A" in str(o) and (o + 1).has_value().tolist() == [True, True, False]
    """,
}

REPORTS = {
    "overlap is found, exactly (746, 702, 2331)": """
        for write in ("c[::2] = c[1::2]", "c[...] = c + d", "c += d", "c[:3] += c[3:]"):
            c, d = xl.arange(6.0), xl.ones(6)
            n, k = np.arange(6.0), np.ones(6)
            with xl.testing.count_allocations() as counted:
                exec(write, {"c": c, "d": d})
            exec(write, {"c": n, "d": k})
            same(c, n)
            assert not ENGINE or counted.temporaries == counted.snapshots == 0
    """,
    "generators that read their destination (2819)": """
        v.assign(xl.concatenate(xl.xtuple(v, v * 2)))
        same(v, np.concatenate([V, V * 2]))
        v[...] = xl.roll(v, 2)
        same(v, np.roll(np.concatenate([V, V * 2]), 2))
        a[...] = xl.stack([a[1], a[0]])
        same(a, A[::-1])
        b = xl.asarray(A[:, :2].copy())
        b[...] = xl.diag(b[1]) + xl.tile(b[:1], (2, 1))
        same(b, np.diag(A[1, :2]) + A[:1, :2])
    """,
    "proxies overlap too (746)": """
        m = xl.masked_view(v, [True, False, True])
        m[...] = v[::-1]
        same(v, [V[2], V[1], V[0]])
        o = xl.optional([1.0, 2.0, 3.0], [True, False, True])
        o[...] = o[::-1]
        assert o.value_or(-1.0).tolist() == [3.0, -1.0, 1.0]
        o[1:] = o[:-1]
        assert o.value_or(-1.0).tolist() == [3.0, 3.0, -1.0]
    """,
    "views of lazy functions, and of views (1695, 2734, 1248, 2929)": """
        e = (a * 2 + 1)[::-1, 1:]
        same(e, (A * 2 + 1)[::-1, 1:])
        same(xl.reshape_view(a + a, (3, 2)), (A + A).reshape(3, 2))
        w = xl.view(xl.view(a, xl.keep(1, 0)), xl.range(), xl.keep(2, 0))
        w[0] = [20, 10]
        same(a[1], [10, A[1, 1], 20])
    """,
    "columns of one, reductions of strided axes (1092, 2771)": """
        c = xl.asarray(np.arange(40.0).reshape(20, 2))
        col = xl.view(c, xl.range(), xl.range(1, 2))
        col += col * 2
        same(c[:, 1:], np.arange(40.0).reshape(20, 2)[:, 1:] * 3)
        same(xl.mean(c, axis=0), c.numpy().mean(axis=0))
    """,
    "in place on column-major and reshaped views (1485, 1494, 1517)": """
        f = xl.asarray(np.arange(12).reshape(3, 4), layout="column_major")
        xl.reshape_view(f, (2, 6))[...] *= 2
        f[:, 1] += 1
        xl.dynamic_view(f, [xl.keep(2, 0), xl.range(1, 3)])[...] += 100
        want = np.arange(12).reshape(3, 4) * 2
        want[:, 1] += 1
        want[[2, 0], 1:3] += 100
        same(f, want)
    """,
    "masks print what is masked alone (2495)": """
        assert str(xl.masked_view(v, [True, False, True])).count("masked") == 1
    """,
    "axes without elements (1562, 1610, 1617, 1625)": """
        z, n = xl.zeros((3, 0, 2)), np.zeros((3, 0, 2))
        for f in ("sum", "prod", "cumsum", "sort", "diff", "flip", "roll", "repeat"):
            more = {"roll": (1,), "repeat": (2,)}.get(f, ())
            same(getattr(xl, f)(z, *more, axis=0), getattr(np, f)(n, *more, axis=0))
        same(xl.max(z, axis=0), np.zeros((0, 2)))
        refused(lambda: xl.eval(xl.max(z, axis=1)), ValueError)
        same(xl.argmax(z, axis=2), np.zeros((3, 0), np.int64))
        z[...] = 1
        z += z
    """,
    "ranks and sizes of reshapes are checked (2409)": """
        refused(lambda: xl.reshape(a, (4, 2)), xl.ShapeError)
        refused(lambda: xl.reshape_view(a, (-1, -1)), ValueError)
        refused(lambda: a.reshape_((5,)), xl.ShapeError)
        refused(lambda: xl.XTensor(A).reshape_((6,)), xl.ShapeError)
    """,
    "ranks that do not fit are refused (441, 2907)": """
        t = xl.XTensor(A)
        refused(lambda: t.assign(xl.ones((1, 2, 3))), xl.ShapeError)
        refused(lambda: xl.noalias(t).assign(xl.ones(3)), xl.ShapeError)
        same(t, A)
    """,
    "a lazy result goes back to its name (2406, 2072)": """
        x = xl.asarray(V * 1.0)
        for _ in range(100):
            x = x + 1
        same(x, V + 100.0)
    """,
    "masks of one axis, all of NumPy's indexing (1171, 1540, 1873, 2210, 2560)": """
        m = np.array([True, False, True])
        same(a[:, m], A[:, m])
        a[:, m] += 1
        same(a, np.where(m, A + 1, A))
        same(a[..., [0, 2], None], np.where(m, A + 1, A)[..., [0, 2], None])
    """,
    "windows (442, 1593)": """
        same(xl.sliding_window_view(v, 2), np.lib.stride_tricks.sliding_window_view(V, 2))
    """,
    "what NumPy's users asked for (1375, 561, 1224, 1608, 1677, 920)": """
        x = np.arange(24.0).reshape(2, 3, 4)
        y = xl.asarray(x)
        same(y @ xl.matrix_transpose(y), x @ x.mT)
        same(xl.einsum("ijk,ijk->i", y, y), np.einsum("ijk,ijk->i", x, x))
        same(xl.take(y, [2, 0], axis=1), np.take(x, [2, 0], axis=1))
        same(xl.rollaxis(y, 2), np.rollaxis(x, 2))
        same(xl.hanning(5), np.hanning(5))
        same(xl.mod(y, 3), np.mod(x, 3))
        same(xl.frexp(y)[1], np.frexp(x)[1])
        same(xl.median(y, axis=(0, 2)), np.median(x, axis=(0, 2)))
        same(xl.percentile(y, 30, axis=1), np.percentile(x, 30, axis=1))
        same(xl.nanmedian(y, axis=0), np.nanmedian(x, axis=0))
        np.testing.assert_allclose(xl.corrcoef(y[0]), np.corrcoef(x[0]))
        np.testing.assert_allclose(xl.polyfit(V, V * 2.0, 1), [2, 0], atol=1e-12)
        same(xl.histogram2d(V, V)[0], np.histogram2d(V, V)[0])
        np.testing.assert_allclose(xl.sinc(y), np.sinc(x), atol=1e-15)
    """,
    "dtypes of files are found when they are read (1070, 2541, 2104)": """
        for dtype in ("int8", "float32", "complex128", "bool"):
            file = io.BytesIO()
            xl.save(file, a.astype(dtype))
            file.seek(0)
            same(xl.load(file), A.astype(dtype))
    """,
    "joins of any number, at once": """
        same(xl.concat([v] * 300), np.concatenate([V] * 300))
    """,
    "errors name both shapes, and come at once (1415, 2865)": """
        refused(lambda: a + xl.ones(4), xl.BroadcastError, r"\\[2, 3\\].*\\[4\\]")
        refused(lambda: a @ a, xl.ShapeError, r"2, 3")
    """,
    "folds that were slow or wrong (2655, 2046, 2056)": """
        x = np.array([[1.0, np.nan, 5.0], [np.nan, 2.0, 4.0]])
        same(xl.nanstd(xl.asarray(x), axis=1), np.nanstd(x, axis=1))
        same(xl.nanmax(xl.asarray(x), axis=0), np.nanmax(x, axis=0))
        assert int(xl.argmax(a)) == A.argmax()
    """,
    "optional values in threads (2264)": """
        o = xl.optional(np.arange(500.0), np.arange(500) % 3 > 0)
        with ThreadPoolExecutor(4) as pool:
            sums = list(pool.map(lambda k: float((o + k).sum(skipna=True)), range(20)))
        want = np.arange(500.0)[np.arange(500) % 3 > 0]
        assert sums == [float((want + k).sum()) for k in range(20)]
    """,
}

A, V = np.array([[3, 1, 4], [1, 5, 9]]), np.array([2, 7, 1])


@pytest.mark.parametrize("fact", SEMANTICS | REPORTS, ids=str)
def test_decided(fact: str, engine: str) -> None:
    names = {"xl": xl, "np": np, "same": same, "refused": refused, "A": A, "V": V}
    names |= {"a": xl.asarray(A, copy=True), "v": xl.asarray(V, copy=True)}
    names |= {"io": io, "ThreadPoolExecutor": ThreadPoolExecutor}
    names["ENGINE"] = engine != "reference"
    exec(textwrap.dedent((SEMANTICS | REPORTS)[fact]), names)
