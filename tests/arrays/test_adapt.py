"""`adapt`: foreign memory, its bounds proven before any pointer exists."""

from __future__ import annotations

import array
import mmap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations


def test_numpy_arrays_are_used_as_they_are() -> None:
    for memory in (np.arange(6.0), np.arange(6).reshape(2, 3).T, np.zeros((2, 0)), np.array(5)):
        with count_allocations() as count:
            a = xl.adapt(memory)
        assert count.allocations == 0
        assert_same_bits(a, memory)
        a[...] = 7
        assert set(memory.ravel().tolist()) <= {7}


def test_strided_arrays() -> None:
    memory = np.arange(40).reshape(5, 8)
    a = xl.adapt(memory[::-2, 1::3])
    assert a.tolist() == memory[::-2, 1::3].tolist()
    a += 100
    assert memory[4, 1] == 133
    assert memory[3, 1] == 25


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(24),
        lambda: memoryview(bytearray(24)),
        lambda: mmap.mmap(-1, 24),
        lambda: np.zeros(24, np.uint8),
    ],
    ids=["bytearray", "memoryview", "mmap", "numpy"],
)
def test_raw_bytes(make: Any) -> None:
    memory = make()
    a = xl.adapt(memory, (2, 3), dtype="int32")
    a[...] = xl.asarray([[1, 2, 3], [4, 5, 6]])
    assert np.frombuffer(memory, np.int32).tolist() == [1, 2, 3, 4, 5, 6]
    a *= 2
    assert bytes(memory)[:8] == b"\2\0\0\0\4\0\0\0"


def test_typed_buffers() -> None:
    memory = array.array("d", [1.0, 2.0, 3.0])
    a = xl.adapt(memory)
    a[1] = 9
    assert (str(a.dtype), memory.tolist()) == ("float64", [1, 9, 3])


def test_raw_bytes_need_a_dtype() -> None:
    for memory in (bytearray(8), b"12345678", mmap.mmap(-1, 8)):
        with pytest.raises(xl.LayoutError, match="holds raw bytes; say what they are with dtype="):
            xl.adapt(memory)


def test_shape_strides_offset_layout() -> None:
    memory = np.arange(24)
    assert xl.adapt(memory, (2, 3), offset=4).tolist() == [[4, 5, 6], [7, 8, 9]]
    assert xl.adapt(memory, (2, 3), strides=(1, 4)).tolist() == [[0, 4, 8], [1, 5, 9]]
    assert xl.adapt(memory, (2, 3), layout="column_major").tolist() == [[0, 2, 4], [1, 3, 5]]
    assert xl.adapt(memory, (3,), strides=(-2,), offset=4).tolist() == [4, 2, 0]
    assert xl.adapt(memory, offset=20).tolist() == [20, 21, 22, 23]
    assert xl.adapt(memory, (), offset=5).tolist() == 5


OUTSIDE: list[tuple[Any, dict[str, Any]]] = [
    (25, {}),
    ((5, 5), {}),
    (24, {"offset": 1}),
    (1, {"offset": 24}),
    (1, {"offset": -1}),
    ((2, 2), {"strides": (23, 1)}),
    ((2, 2), {"strides": (-1, 1)}),
    ((3,), {"strides": (2**62,)}),
    ((3,), {"strides": (-(2**62),)}),
    ((2**31, 2**31), {"strides": (0, 0), "offset": 24}),
    ((2**62,), {"strides": (1,)}),
]


@together(("shape", "more"), OUTSIDE, ids=str)
def test_reaching_outside_is_refused(shape: Any, more: dict[str, Any]) -> None:
    with pytest.raises(xl.LayoutError, match=r"adapt: (.* needs bytes .* of 192 bytes|offset)"):
        xl.adapt(np.arange(24), shape, **more)


@pytest.mark.parametrize("shape", [-1, (2, -3), (1.5,), (2**32, 2**32), (1,) * 65])
def test_shapes_that_are_none(shape: Any) -> None:
    with pytest.raises(xl.ShapeError):
        xl.adapt(np.arange(24), shape)


@given(
    st.lists(st.integers(-2, 6), max_size=3),
    st.lists(st.integers(-30, 30), max_size=3),
    st.integers(-40, 40),
)
def test_random_arguments_are_in_bounds_or_refused(
    shape: list[int], strides: list[int], offset: int
) -> None:
    """Whatever is accepted reads exactly what NumPy's index arithmetic says."""
    memory = np.arange(30)
    memory.flags.writeable = False
    try:
        a = xl.adapt(memory, shape, strides=strides, offset=offset)
    except (xl.LayoutError, xl.ShapeError):
        return
    expected = np.zeros(shape, np.int64)
    for place in np.ndindex(*shape):
        at = offset + sum(i * s for i, s in zip(place, strides, strict=True))
        assert 0 <= at < 30
        expected[place] = at
    assert_same_bits(a, expected)
    assert_same_bits(a + 0, expected)


def test_read_only_memory_stays_read_only() -> None:
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    for memory, more in (
        (frozen, {}),
        (bytes(32), {"dtype": "f8"}),
        (b"12345678", {"dtype": "i8"}),
    ):
        a = xl.adapt(memory, **more)
        before = a.tolist()
        assert a.readonly
        assert a[1:].readonly
        for write in (
            lambda a=a: a.__setitem__(..., 1),
            lambda a=a: a[:1].__setitem__(0, 1),
            lambda a=a: a.__setitem__([0], 1),
            lambda a=a: a.__iadd__(1),
            lambda a=a: a.assign(xl.zeros(a.shape)),
            lambda a=a: a.fill(1),
            lambda a=a: xl.noalias(a).assign(a + 1),
            lambda a=a: xl.noalias(a).__setitem__(..., 1),
        ):
            with pytest.raises(xl.ReadOnlyError, match="read-only"):
                write()
        assert a.tolist() == before
        assert xl.eval(a + 1).tolist() == [x + 1 for x in before]


def test_repeated_elements_are_for_reading_only() -> None:
    memory = np.arange(4.0)
    with pytest.raises(xl.OverlapError, match=r"shape \(3, 4\) with strides \(0, 1\).*read-only"):
        xl.adapt(memory, (3, 4), strides=(0, 1))
    with pytest.raises(xl.OverlapError, match="more than once"):
        xl.adapt(np.lib.stride_tricks.sliding_window_view(memory, 2, writeable=True))
    memory.flags.writeable = False
    a = xl.adapt(memory, (3, 4), strides=(0, 1))
    assert a.tolist() == [[0, 1, 2, 3]] * 3


def test_an_adaptor_keeps_its_size() -> None:
    memory = np.arange(6.0)
    a = xl.adapt(memory)
    a.assign(xl.ones((2, 3)))
    assert (a.shape, memory.tolist()) == ((2, 3), [1] * 6)
    with pytest.raises(xl.ShapeError, match=r"adaptor of foreign memory.*\(4,\)"):
        a.assign(xl.ones(4))
    with pytest.raises(xl.ShapeError, match="adaptor of foreign memory"):
        a.resize_(7)
    assert (a.shape, memory.tolist()) == ((2, 3), [1] * 6)
    a.reshape_((3, 2))
    a[0, 1] = 5
    assert memory.tolist() == [1, 5, 1, 1, 1, 1]


def test_assign_writes_through_the_pointer() -> None:
    """xtensor's: a3 = a1 + a2 over three adaptors."""
    memory = [np.arange(4.0), np.ones(4), np.zeros(4)]
    a1, a2, a3 = [xl.adapt(m, (2, 2)) for m in memory]
    a3.assign(a1 + a2)
    assert memory[2].tolist() == [1, 2, 3, 4]


def test_misaligned_memory() -> None:
    memory = bytearray(41)
    with pytest.raises(xl.LayoutError, match="no multiple of 8 bytes"):
        xl.adapt(memoryview(memory)[1:], dtype="f8")
    loose = np.frombuffer(memory, np.float64, offset=1)
    loose[...] = np.arange(5)
    assert xl.eval(xl.add(loose, 1) * 2).tolist() == [2, 4, 6, 8, 10]
    a = xl.adapt(loose)
    a[1:] = a[:-1] + 1
    assert loose.tolist() == list(a) == [0, 1, 2, 3, 4]


@together(
    "memory",
    [
        np.array(["a"]),
        np.array([object()]),
        np.array([1], ">i4"),
        np.zeros(2, "i4,f4"),
        np.zeros(2, "M8[s]"),
        np.zeros(2, np.longdouble),
    ],
    ids=lambda m: str(m.dtype),
)
def test_elements_that_are_no_numbers(memory: Any) -> None:
    with pytest.raises(xl.DTypeError):
        xl.adapt(memory)


def test_things_without_memory() -> None:
    for thing in (3, [1, 2], None, object()):
        with pytest.raises((TypeError, ValueError)):
            xl.adapt(thing, dtype="f8")


def test_the_memory_lives_as_long_as_the_adaptor() -> None:
    a = xl.adapt(np.arange(1000.0) * 2)
    for _ in range(20):
        np.zeros(1000)
    assert float(xl.sum(a)) == 999_000
    e = xl.add(np.arange(1000.0), 1)
    for _ in range(20):
        np.zeros(1000)
    assert float(xl.sum(e)) == 500_500


def test_memory_maps(tmp_path: Path) -> None:
    path = tmp_path / "values"
    np.arange(10.0).tofile(path)
    with path.open("r+b") as file:
        a = xl.adapt(mmap.mmap(file.fileno(), 0), dtype="f8")
        a[::2] = -1
        assert a.tolist() == [-1, 1, -1, 3, -1, 5, -1, 7, -1, 9]
        fixed = xl.adapt(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), dtype="f8")
        assert fixed.readonly
        assert float(xl.sum(fixed)) == 20


def test_ways_around_the_size() -> None:
    """A NumPy array that has an adaptor cannot move its memory under it."""
    memory = np.arange(4.0)
    a = xl.adapt(memory)
    for force in (False, True):
        with pytest.raises(ValueError, match="resize"):
            memory.resize(100_000, refcheck=not force)
    assert a.tolist() == [0, 1, 2, 3]
    other = np.arange(4.0)
    e = xl.add(xl.squeeze(other[1:]), 1)  # of which a view is made
    with pytest.raises(ValueError, match="resize"):
        other.resize(100_000, refcheck=False)
    assert xl.eval(e).tolist() == [2, 3, 4]
    other.shape = (2, 2)
    other.dtype = "i8"
    assert xl.eval(e).tolist() == [2, 3, 4]
    mapped = mmap.mmap(-1, 32)
    b = xl.adapt(mapped, dtype="f8")
    with pytest.raises(BufferError):
        mapped.close()
    assert b.tolist() == [0, 0, 0, 0]
    grown = bytearray(8)
    b = xl.adapt(grown, dtype="f8")
    with pytest.raises(BufferError):
        grown.extend(bytes(100_000))
    b[0] = 1
    assert len(grown) == 8


def test_rebind() -> None:
    first, second = np.arange(12), np.arange(12) * 10
    a = xl.adapt(first, (2, 3), strides=(6, 2), offset=1)
    before, view = a + 0, a[0]
    assert xl.rebind(a, second) is a
    assert a.tolist() == [[0, 20, 40], [60, 80, 100]]
    a[0, 0] = -1
    assert second[0] == -1
    assert before.tolist() == [[1, 3, 5], [7, 9, 11]]
    assert view.tolist() == [1, 3, 5]
    with pytest.raises(xl.LayoutError, match="needs bytes 0 to 88"):
        xl.rebind(a, second[:10])
    with pytest.raises(xl.LayoutError, match="only what adapt has made"):
        xl.rebind(xl.zeros(3), second)


def test_a_scalar_of_numpy_has_rank_0() -> None:
    a = xl.adapt(np.float32(3))
    assert (a.shape, a.dtype, float(a)) == ((), np.float32, 3)


@pytest.mark.parametrize("nbytes", [7, 15])
def test_bytes_that_are_no_element_are_not_left_out(nbytes: int) -> None:
    with pytest.raises(xl.LayoutError, match=f"{nbytes} bytes are no whole number"):
        xl.adapt(bytearray(nbytes), dtype="float64")
    assert xl.adapt(bytearray(nbytes), nbytes // 8, dtype="float64").shape == (nbytes // 8,)
