"""Values beside whole numbers of more than 64 bits, and operations that NumPy runs."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_values_divided_by_numbers_of_more_than_64_bits(dtype: str) -> None:
    v = xl.asarray([1.5], dtype=dtype)[0]
    for _ in range(3):
        assert float(v // 2**64) == 0.0
        assert [float(x) for x in divmod(v, 2**64)] == [0.0, 1.5]
        assert bool(xl.logical_and(v, 2**64))
    assert float(2**70 // xl.asarray([1.0])[0]) == 2.0**70


@pytest.mark.usefixtures("installed")
def test_powers_by_an_array_of_rank_0() -> None:
    """Machine code gives NumPy copies of rows; memory of one value is none."""
    z, one = xl.asarray(np.arange(4) + 1.0 + 0j), xl.asarray(np.asarray(1.5 + 0j))
    expected = (np.arange(4) + 1.0 + 0j) ** 1.5
    for _ in range(4):
        np.testing.assert_allclose((z**one).numpy(), expected)
        np.testing.assert_allclose((z ** xl.eval(xl.sum(one))).numpy(), expected)


def test_arrays_over_memory_of_containers() -> None:
    x = xl.zeros(4)
    before = x + 1
    b = xl.ndarray((4,), float, x)
    total = xl.sum(b)
    b[0] = 5
    assert xl.eval(before).tolist() == [1.0] * 4
    assert float(total) == 0.0
    assert x[0] == 5
    assert xl.ndarray((2, 3), float, strides=(8, 16)).numpy().strides == (8, 16)
    with pytest.raises(ValueError, match="strides"):
        xl.ndarray((2,), float, strides=(16,))


def test_lists_of_no_positions() -> None:
    m = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert xl.take(m, [], axis=0).shape == (0, 2)
    assert xl.take(m[0], [[]]).shape == (1, 0)
    with pytest.raises(xl.IndexRangeError):
        xl.take(m, [0, [1]], axis=0)


def test_halves_of_an_optional_array_are_read_before_they_are_written() -> None:
    x = xl.optional(xl.asarray([True, True, False]), xl.asarray([True, False, False]))
    flags, values = x.has_value().tolist(), x.value().tolist()
    x.assign(xl.optional(x.has_value()[None], x.value()[None]))
    assert (x.value().tolist(), x.has_value().tolist()) == ([flags], [values])


def test_tolerances_are_real() -> None:
    with pytest.raises(xl.DTypeError, match="isclose"):
        xl.isclose(xl.ones(2), 1.0, rtol=1j)
