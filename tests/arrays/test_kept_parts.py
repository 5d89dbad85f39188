"""Elements, rows and views of results whose values are kept."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.arrays import recomputed
from xarraylite.memory.snapshots import Copy

VALUES = np.linspace(-1, 1, 12).reshape(3, 4)

pytestmark = pytest.mark.usefixtures("both_ways")


def test_elements_of_what_is_kept_say_what_they_are_of() -> None:
    """Picks of lazy results, also of views of them and of other picks."""
    a, at = xl.asarray(np.arange(6.0)), np.array([4, 0, -1])
    for k in range(20):
        y = xl.sin(a) * float(k)
        picks = y[at], y[[1, 2]], y[1:][at], y[at][at[1:]], y[xl.asarray(at)]
        later = [xl.late(pick * 1.0) for pick in picks]
        for now in (np.arange(6.0), np.arange(6.0)[::-1]):
            a[...] = now
            x = np.sin(now) * k
            expected = x[at], x[[1, 2]], x[1:][at], x[at][at[1:]], x[at]
            for one, other in zip(later, expected, strict=True):
                np.testing.assert_allclose(np.asarray(xl.eval(one)), other, rtol=1e-13)
        a[...] = np.arange(6.0)
        x = np.sin(np.arange(6.0)) * k
        np.testing.assert_allclose(np.asarray(picks[0]), x[at], rtol=1e-13)
        with pytest.raises(IndexError):
            y[np.array([0, 6])]


def test_elements_picked_in_a_loop_remember_a_few_steps() -> None:
    part, at = xl.asarray(VALUES.ravel()), np.arange(12)[::-1].copy()
    for _ in range(80):
        part = (part * 0.9 + 0.1)[at]
    steps, known = 0, part._operands[0]
    while known is not None and steps < 80:
        of = getattr(known, "made", None)
        reads = getattr(of, "part", (0, 0, ()))[2]
        known = (
            of if isinstance(of, Copy) else next((x for x in reads if isinstance(x, Copy)), None)
        )
        steps += 1
    assert steps < 60
    assert recomputed.depth_of(part._operands[0]) <= recomputed.DEEP


@pytest.mark.parametrize("first", [False, True], ids=["expression first", "view first"])
def test_views_of_results_that_loops_compute(first: bool) -> None:
    """Views belong to the result, whatever stands for it among operands."""
    c = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(c)
    for k in range(40):
        e, f = xl.exp(a * 0.1) + float(k), np.exp(c * 0.1) + k
        if first:
            views, parts = (e[1:, ::2], e.T, e[None, 1], e[..., -1:]), ()
        before, old = e * e - e, f * f - f
        if not first:
            views = (e[1:, ::2], e.T, e[None, 1], e[..., -1:])
        parts = (f[1:, ::2], f.T, f[None, 1], f[..., -1:])
        pending, held = views[1] + 1, parts[1] + 1
        which = k % 5
        for x, y in ((e, f), *zip(views, parts, strict=True)):
            if which == 0:
                x[0] = 7.0 + k
                y[0] = 7.0 + k
            which -= 1
        for x, y in ((before, old), (pending, held), (e, f), *zip(views, parts, strict=True)):
            np.testing.assert_allclose(np.asarray(x), y, rtol=1e-12)
        assert [*map(float, (e[0, 1], e[2, 3]))] == pytest.approx([f[0, 1], f[2, 3]])


def test_an_element_of_few_is_that_of_values_that_are_kept() -> None:
    e = xl.exp(xl.asarray(VALUES))
    assert not isinstance(getattr(e, "_used", None), tuple)
    assert [float(e[k, 1]) for k in range(3)] == np.asarray(xl.eval(e))[:, 1].tolist()
    assert isinstance(getattr(e, "_used", None), tuple)
    with pytest.raises(IndexError, match="out of range"):
        e[3, 0]


def test_views_and_copies_of_what_was_written() -> None:
    for _ in range(4):
        r = xl.asarray(VALUES) * 2
        r[0, 0] = 5
        line, turned, copied = r.reshape(12), r.T, r.copy()
        line[1], turned[2, 0], copied[0, 3] = 6, 7, 8
        r[0, 3] = 9
        np.testing.assert_array_equal(np.asarray(r)[0], [5, 6, 7, 9])
        np.testing.assert_array_equal(np.asarray(copied)[0, [0, 3]], [5, 8])
        assert float(copied[0, 1]) == VALUES[0, 1] * 2
        assert float(xl.real(r)[0, 3]) == 9


def test_whole_numbers_of_rank_0_are_indices() -> None:
    b = np.random.default_rng(3).permutation(12).astype(float)
    x, m = xl.asarray(b), xl.zeros((12, 3), dtype=xl.int8)
    w = np.zeros((12, 3), np.int8)
    for k in range(24):
        at, place = xl.argmin(abs(x - k % 12)), np.argmin(abs(b - k % 12))
        assert float(x[at]) == b[place] == float((x * 1)[at])
        m[at, 1], w[place, 1] = k, k
        m[at], w[place] = [1, at, 2], [1, place, 2]
        m[[at, 0], at % 3] = w[[place, 0], place % 3] = 5
        x[[0, at]], b[[0, place]] = x[[at, 0]], b[[place, 0]]
        np.testing.assert_array_equal(np.asarray(x), b)
        np.testing.assert_array_equal(np.asarray(m), w)
        assert m[at].shape == (3,)
        with pytest.raises(IndexError, match="out of range"):
            x[at + 12]
    with pytest.raises(IndexError):
        x[xl.max(x)]


def test_elements_that_an_array_selects_of_a_small_result() -> None:
    """In a loop they are copied from computed values, and `late` still reads what is there."""
    b = VALUES.copy()
    a = xl.asarray(b.copy())
    for k in range(16):
        e, expected = a * 2 + k, (b * 2 + k)[[2, 0]]
        pick = e[[2, 0]]
        later = xl.late(pick)
        a[0, 0] = b[0, 0] = k
        np.testing.assert_array_equal(np.asarray(pick), expected)
        np.testing.assert_array_equal(np.asarray(xl.eval(later)), (b * 2 + k)[[2, 0]])
        with pytest.raises(IndexError, match="out of range"):
            e[[3]]


def test_rows_of_a_larger_result_are_views_of_it() -> None:
    """Once many of them were asked for, they are those of values that were computed at once."""
    b = np.linspace(0.0, 5.0, 150)
    for written in (3, 140):
        a, d = xl.asarray(b), (b[:, None] - b) ** 2
        e = (a[:, None] - a) ** 2
        for k in range(150):
            row = e[np.int64(k)]
            assert int(xl.where(row < 0.4)[0].size) == int((d[k] < 0.4).sum())
            a[0] = -1.0 if k == 5 else a[0]
            if k == written:
                row[2] = -7
                d[k, 2] = -7
        np.testing.assert_array_equal(np.asarray(e), d)
        np.testing.assert_array_equal(np.asarray(e[np.int64(7), 3:5]), d[7, 3:5])


@pytest.mark.parametrize("size", [40, 6000])
def test_masks_that_are_lazy_select_what_they_were_written_of(size: int) -> None:
    """Of lazy arrays and of memory that is written through them."""
    b = np.linspace(-2.0, 2.0, size)
    x, a = b * 1, xl.asarray(b)
    y, c, e = x * 1, b / 2 + 1, a / 2 + 1
    z = xl.asarray(y.copy())
    for k in range(12):
        m, n = abs(y) <= 1.5, abs(z) <= 1.5
        y[m] = y[m] ** 2 + c[m] - k * 0.125
        z[n] = z[n] ** 2 + e[n] - k * 0.125
        assert int(n.sum()) == int(m.sum())
        np.testing.assert_array_equal(np.asarray(n), m)
        np.testing.assert_allclose(np.asarray(z), y, 1e-12)
        a[0] = k  # what `e` is of keeps what it was
        np.testing.assert_array_equal(np.asarray(e[n]), c[m])


def test_views_take_the_places_of_views_that_are_gone() -> None:
    a = xl.asarray(VALUES)
    for held in (2, 40):
        for _ in range(12):
            y = xl.exp(a) + 1
            first, views = y[1:], [y[k % 3] for k in range(held)]
            for k in range(60):
                y[k % 3] + y.T[0, k % 3]
            last = y.T
            y[...] = 5.0
            for view in (first, last, *views):
                assert set(np.asarray(view).ravel().tolist()) == {5.0}
            views[0][0] = 7.0
            assert (y[0, 0], last[0, 0]) == (7.0, 7.0)
