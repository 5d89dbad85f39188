"""Masked views and filtrations: what is hidden stays as it is."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl

A = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0], [7.0, 8.0, -9.0]])
MASK = np.array([[1, 1, 1], [1, 0, 0], [1, 0, 1]], bool)


def test_numbers_are_written_as_in_any_assignment() -> None:
    a = xl.zeros(4, dtype="int8")
    waiting = a + 1
    v, f = xl.masked_view(a, [True, True, False, False]), xl.filtration(a, a == 0)
    v[...] = 3
    assert (a.tolist(), waiting.tolist()) == ([3, 3, 0, 0], [1, 1, 1, 1])
    for number in (300, 2.5):  # as a[...] = 300 and a[...] = 2.5
        plain = xl.zeros(4, dtype="int8")
        try:
            plain[...] = number
        except OverflowError:
            with pytest.raises(OverflowError):
                f[...] = number
            assert a.tolist() == [3, 3, 0, 0]
        else:
            f[...] = number
            assert a.tolist() == plain.tolist()
    wide = xl.masked_view(xl.zeros((2, 3)), [True, False, True])
    wide[...] = 1.5
    assert wide.value().tolist() == [[1.5, 0, 1.5]] * 2
    a.flags.writeable = False
    with pytest.raises(xl.ReadOnlyError):
        xl.filtration(a, [True] * 4)[...] = 1


def test_writes_skip_what_is_hidden() -> None:
    a = xl.asarray(A)
    v = xl.masked_view(a, MASK)
    v[...] = 3.65
    np.testing.assert_array_equal(a, np.where(MASK, 3.65, A))
    v += 3
    np.testing.assert_array_equal(a, np.where(MASK, 3.65 + 3, A))
    v.assign(A * 2)
    np.testing.assert_array_equal(a, np.where(MASK, A * 2, A))
    v[1] = 0
    assert a[1].tolist() == [0, 5, -6]
    v[...] = xl.asarray(A).T + a  # read and written elements may be the same
    assert a[2, 1] == 8


def test_what_is_missing_where_elements_are_hidden_is_skipped() -> None:
    a, b = xl.asarray(A), xl.zeros((3, 3))
    v = xl.masked_view(a, MASK)
    v[...] = v + 10
    v += v
    want = np.where(MASK, (A + 10) * 2, A)
    np.testing.assert_array_equal(a, want)
    xl.masked_view(b, MASK)[...] = v
    np.testing.assert_array_equal(b, np.where(MASK, want, 0))
    f = xl.filtration(b, MASK)
    f -= v
    np.testing.assert_array_equal(b, np.zeros((3, 3)))
    f[...] = v
    np.testing.assert_array_equal(b, np.where(MASK, want, 0))


def test_what_is_hidden_is_missing() -> None:
    v = xl.masked_view(xl.asarray(A), MASK)
    assert (v + 1)[2].tolist() == [8, None, -8]
    assert float(v.sum(skipna=True)) == A[MASK].sum()
    assert repr(v[1]) == "XMaskedView([4., masked, masked])"
    assert repr(xl.masked_view(xl.asarray(A) + 1, MASK)).endswith("lazy>")
    assert type(xl.eval(v + 1)) is xl.XOptional


def test_masks_are_read_when_views_are_made() -> None:
    a, mask = xl.asarray([1, 2]), xl.asarray([True, False])
    v = xl.masked_view(a, mask)
    mask[...] = True
    assert v.tolist() == [1, None]


def test_masked_views_of_other_views() -> None:
    a = xl.asarray(A)
    v = xl.masked_view(xl.view(a, xl.keep(2, 0, 0)), [True, False, True])
    v[...] = 0
    np.testing.assert_array_equal(a[:, 0], [0, 4, 0])
    np.testing.assert_array_equal(a[:, 1], A[:, 1])


def test_filtrations() -> None:
    a = xl.asarray(A)
    f = xl.filtration(a, a > 3)
    f += 100
    np.testing.assert_array_equal(a, np.where(A > 3, A + 100, A))
    f[...] = -1
    np.testing.assert_array_equal(a, np.where(A > 3, -1, A))
    f.assign([10, 20, 30])
    np.testing.assert_array_equal(a, np.where(A > 3, [10, 20, 30], A))
    assert repr(f) == "filtration(XArray float64[3, 3])"


@pytest.mark.usefixtures("compiled")
def test_filtrations_are_one_pass() -> None:
    a = xl.asarray(np.ones(1000))
    f = xl.filtration(a, np.arange(1000) > 3)
    with xl.testing.count_allocations() as counted:
        f *= 2
    assert counted.temporaries == 0


def test_refused() -> None:
    a = xl.asarray(A)
    with pytest.raises(xl.NotWritableError, match="owns no memory"):
        xl.filtration(a + 1, MASK)
    with pytest.raises(xl.IndexRangeError, match="does not broadcast"):
        xl.masked_view(a, [True, False])
    with pytest.raises(xl.IndexRangeError, match="must be bool"):
        xl.filtration(a, A)
    with pytest.raises(xl.NotWritableError, match="no place for values that are missing"):
        xl.masked_view(a, MASK)[...] = xl.optional([1.0, None, 2.0])
    with pytest.raises(xl.NotWritableError, match="no place for values that are missing"):
        xl.masked_view(a, MASK)[...] = [1.0, None, 2.0]
    xl.masked_view(a, [True, False, True])[0] = [1.0, None, 3.0]
    with pytest.raises(xl.BroadcastError):
        xl.masked_view(a, MASK)[...] = np.ones((2, 2))
    with pytest.raises(xl.BroadcastError):
        xl.filtration(a, MASK).assign(np.ones((2, 3, 3)))
    with pytest.raises(xl.CastError):
        xl.filtration(xl.asarray([1, 2]), [True, False]).__iadd__(0.5)
    with pytest.raises(xl.NotWritableError, match="only all of it"):
        xl.filtration(a, MASK)[0] = 1
    np.testing.assert_array_equal(a, A)


def seen_through() -> tuple[xl.XOptional, xl.XMaskedView]:
    there = [[True, True, False], [False, True, True], [True] * 3]
    x = xl.optional(np.arange(1.0, 10).reshape(3, 3), there)
    return x, xl.masked_view(x, [[True] * 3, [False] * 3, [True] * 3])


def test_what_is_hidden_is_not_what_is_missing() -> None:
    x, v = seen_through()
    assert (v.shape, v.size, v.ndim) == ((3, 3), 9, 2)
    assert str(v) == "[[1. 2. N/A]\n [masked masked masked]\n [7. 8. 9.]]"
    assert str(v.T).split("\n")[2] == " [N/A masked 9.]]"
    assert [f"{v[k]}" for k in ((0, 0), (0, 2), (1, 0))] == ["1.0", "N/A", "masked"]
    assert xl.eval(v + 1).tolist() == [[2, 3, None], [None] * 3, [8, 9, 10]]
    assert v.sum(skipna=True).item() == 27
    with pytest.raises(IndexError):
        xl.at(v, 3, 3)
    v.fill(2)
    assert x.tolist() == [[2, 2, 2], [None, 5, 6], [2, 2, 2]]
    v[1:] = [[0], [1]]
    assert x.tolist() == [[2, 2, 2], [None, 5, 6], [1, 1, 1]]
    assert repr(xl.masked_view(x * 2, True)) == "<XMaskedView: float64[3, 3], lazy>"
    xl.reshape(v, (9,))[...] = 4  # no view, so nothing that is hidden is written
    assert x.tolist() == [[2, 2, 2], [None, 5, 6], [1, 1, 1]]


def test_values_and_flags_are_written_where_nothing_is_hidden() -> None:
    x, v = seen_through()
    v += xl.optional([1, None, 1])
    assert x.tolist() == [[2, None, None], [None, 5, 6], [8, None, 10]]
    v[0] = [4, None, 6]
    v[2, 1] = 9
    assert x.tolist() == [[4, None, 6], [None, 5, 6], [8, 9, 10]]
    v[...] = x[::-1] + 1  # what is read and what is written are the same
    assert x.tolist() == [[9, 10, 11], [None, 5, 6], [5, None, 7]]
    v[0] = xl.missing
    assert x.tolist()[0] == [None] * 3
    assert x.value().tolist()[0] == [9, 10, 11]
    x.has_value().flags.writeable = False
    with pytest.raises(xl.ReadOnlyError, match="flags"):
        v[...] = 0
    with pytest.raises(xl.NotWritableError):
        xl.masked_view(x * 2, True)[...] = 0
    assert x.value().tolist()[0] == [9, 10, 11]


def test_a_view_of_a_view_hides_what_either_hides() -> None:
    a = xl.asarray([1, 2, 3])
    v = xl.masked_view(xl.masked_view(a, [True, True, False]), [True, False, True])
    assert repr(v) == "XMaskedView([1, masked, masked])"
    v += 5
    assert a.tolist() == [6, 2, 3]


def test_nothing_is_written_of_what_does_not_fit() -> None:
    x, wide = xl.optional([1.0, 2.0, None]), xl.optional(xl.ones(3), [[True] * 3] * 2)
    plain, hidden = xl.asarray(A[0]), xl.masked_view(x, [True] * 3)
    for to in (x, x[:], hidden, xl.masked_view(plain, [True] * 3)):
        with pytest.raises(xl.BroadcastError):
            to[...] = wide
        with pytest.raises(xl.BroadcastError):
            to += wide
    assert (x.tolist(), x.value().tolist(), plain.tolist()) == ([1, 2, None], [1, 2, 0], [*A[0]])
