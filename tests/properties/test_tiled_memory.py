"""Tiled memory as bytes: round trips, words, packed elements, and several views of one buffer."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.layout.test_digits import cases
from tests.properties.tiling import padding_of, poisoned
from xarraylite.dtypes.element_types import element_type
from xarraylite.dtypes.names import SUPPORTED, is_narrow_int
from xarraylite.testing import assert_same_bits, assert_ulp, count_allocations
from xarraylite.testing.strategies import fill

Array = np.ndarray[Any, np.dtype[Any]]
F4, I4 = np.dtype("f4"), np.dtype("i4")
BF16, INT4 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.int4)

# --- round trips ---------------------------------------------------------------------------------


@together("dtype", SUPPORTED)
def test_round_trip_of_every_dtype_keeps_every_bit(dtype: np.dtype[Any]) -> None:
    values = fill(dtype, (5, 6), 7)
    for text in ("{1,0:T(2,4)}", "{0,1:T(4,2)(2,1)L(13)}", "{1,0:T(2,2)(*,3)}"):
        there = xl.asarray(values).to_layout(text)
        assert there.to_layout("row_major").buffer.data.tobytes() == values.tobytes()
        assert np.asarray(there).tobytes() == values.tobytes()


@given(cases(least=1, most_rank=3), st.sampled_from((1, 7, 16)))
@settings(max_examples=60)
def test_round_trip_through_any_layout(case: Any, tail: int) -> None:
    dims, order, tiles = case
    layout = xl.Layout(order, tiles, tail_padding_alignment_in_elements=tail)
    values = fill(np.dtype("i2"), dims, 5)
    a = poisoned(values, layout)
    assert_same_bits(a.to_layout("row_major"), values)
    assert_same_bits(a.to_layout(layout).to_layout("column_major"), values)
    assert a.buffer.nbytes == a.spec.nbytes
    order_ = a.spec.memory_order()
    flat = a.buffer.data.view("i2")
    for position, ordinal in enumerate(order_):
        assert flat[position] == (-1 if ordinal is None else values.ravel()[ordinal])


def test_large_arrays_go_through_kernels(engine: str) -> None:
    values = fill(F4, (67, 300), 3)
    a = xl.asarray(values, layout="{1,0:T(8,128)}")
    physical = a.buffer.data.view("f4").reshape(9, 3, 8, 128)
    padded = np.zeros((72, 384), "f4")
    padded[:67, :300] = values
    expected = padded.reshape(9, 8, 3, 128).transpose(0, 2, 1, 3)
    assert physical.tobytes() == expected.tobytes(), "padding is zero without a padding value"
    assert_same_bits(a.to_layout("row_major"), values)
    with count_allocations() as count:
        assert_same_bits(xl.asarray(a[3:, ::2].copy()), values[3:, ::2])
    assert count.temporaries == 0 or engine == "reference"


def test_bf16_pairs_of_rows_share_a_word() -> None:
    values = fill(BF16, (16, 256), 1)
    a = xl.asarray(values, layout="{1,0:T(8,128)(2,1)}")
    words = a.buffer.data.view("u4").reshape(2, 2, 4, 128)  # tile row, tile column, pair, lane
    codes = values.view("u2").astype("u4")
    low, high = codes[0::2], codes[1::2]
    expected = (low | high << 16).reshape(2, 4, 2, 128).transpose(0, 2, 1, 3)
    assert np.array_equal(words, expected)


# --- packed and wide elements --------------------------------------------------------------------

NARROW = [dtype for dtype in SUPPORTED if is_narrow_int(dtype)]


@together("dtype", [*NARROW, np.dtype("?")], ids=lambda dtype: dtype.name)
def test_packed_first_element_in_the_low_bits(dtype: np.dtype[Any]) -> None:
    bits = element_type(dtype).bits if dtype != np.dtype("?") else 1
    values = fill(dtype, (3, 5), 2)
    a = xl.asarray(values, layout=f"{{1,0:E({bits})}}")
    assert a.buffer.nbytes == -(-15 * bits // 8)
    codes = values.view(np.uint8).ravel() & np.uint8((1 << bits) - 1)
    spread = np.unpackbits(codes[:, None], axis=1, bitorder="little")[:, :bits]
    assert a.buffer.data.tobytes() == np.packbits(spread, bitorder="little").tobytes()
    assert_same_bits(a, values)
    assert a.spec.nbytes == a.buffer.nbytes
    assert_same_bits(a.T.copy(), values.T)
    assert_same_bits(a[::-1, 1::2].copy(), values[::-1, 1::2])


@pytest.mark.parametrize("layout", ["{1,0:T(2,4)E(4)}", "{1,0:T(3)E(4)}", "{0,1:E(4)}"])
@pytest.mark.parametrize("threads", [1, 2])
def test_packed_destinations_keep_their_neighbours(layout: str, threads: int) -> None:
    values = fill(INT4, (5, 7), 3)
    with xl.config(threads=threads):
        a = poisoned(values, layout)
        before, expected = padding_of(a), values.copy()
        other = xl.asarray(fill(INT4, (5, 7), 4), layout="{1,0:T(2,4)E(4)}")
        a[1:4, ::3] = other[1:4, ::3]
        expected[1:4, ::3] = np.asarray(other)[1:4, ::3]
        assert_same_bits(a, expected)
        a[:, 1:] = a[:, :-1]
        expected[:, 1:] = expected[:, :-1].copy()
        assert_same_bits(a, expected)
        a[...] = a[::-1]
        assert_same_bits(a, expected[::-1])
        assert padding_of(a) == before
        assert_same_bits(xl.sum(a.astype("i4"), axis=1), expected[::-1].astype("i4").sum(1, "i8"))


def test_predicates_of_one_bit() -> None:
    values = fill(np.dtype("?"), (40, 130), 5)
    a = poisoned(values, "{1,0:T(32,128)(32,1)E(1)}")
    assert a.buffer.nbytes == 64 * 256 // 8
    assert_same_bits(a, values)
    words = a.buffer.data.view("u4").reshape(2, 2, 128)
    bits = words[0, 0][None] >> np.arange(32, dtype="u4")[:, None] & 1
    assert np.array_equal(bits.astype(bool), values[:32, :128])
    assert_same_bits(xl.eval(~a), ~values)
    assert_same_bits(xl.sum(a, axis=1), values.sum(1))
    assert_same_bits(xl.any(a), np.any(values))
    before = padding_of(a)
    a[3:, 5:] = xl.asarray(values)[:-3, :-5]
    assert_same_bits(a[3:, 5:].copy(), values[:-3, :-5])
    assert padding_of(a) == before


@pytest.mark.parametrize("dtype", [np.dtype("?"), np.dtype("i1"), INT4], ids=str)
def test_wide_elements_have_zero_high_bits(dtype: np.dtype[Any]) -> None:
    values = fill(dtype, (3, 5), 6)
    for a in (
        xl.asarray(values, layout="{1,0:T(2,4)E(32)}"),
        xl.eval(xl.asarray(values, layout="{1,0:T(2,4)E(32)}") == True),  # noqa: E712
        xl.zeros((3, 5), dtype=dtype, layout="{1,0:T(2,4)E(32)}"),
    ):
        assert a.buffer.nbytes == a.spec.nbytes
        if a.layout.element_size_in_bits == 32:
            assert a.buffer.data.reshape(-1, 4)[:, 1:].max() == 0
    a = xl.asarray(values, layout="{1,0:T(2,4)E(32)}")
    a[1:] = a[:-1]
    assert_same_bits(a, values[[0, 0, 1]])
    assert a.buffer.data.reshape(-1, 4)[:, 1:].max() == 0


@together(
    ("dtype", "padding", "value"),
    [
        ("f4", "ZERO", 0.0),
        ("f4", "ONE", 1.0),
        ("f4", "LOWEST", -np.inf),
        ("f4", "HIGHEST", np.inf),
        ("i2", "LOWEST", -(2**15)),
        ("u1", "HIGHEST", 255),
        (INT4, "HIGHEST", 7),
        ("?", "ONE", True),
        (ml_dtypes.float8_e4m3fn, "HIGHEST", 448.0),
    ],
)
def test_padding_has_the_layouts_value(dtype: Any, padding: str, value: Any) -> None:
    layout = xl.Layout((1, 0), padded_dimensions=(3, 5), padding_value=xl.PaddingValue[padding])
    dtype = np.dtype(dtype)
    values = fill(dtype, (2, 3), 1)
    for a in (
        xl.asarray(values, layout=layout),
        xl.zeros((2, 3), dtype=dtype, layout=layout),
        xl.empty((2, 3), dtype=dtype, layout=layout),
        xl.eval(xl.asarray(values, layout=layout) * xl.ones((2, 3), dtype=dtype, layout=layout))
        if dtype == F4
        else xl.asarray(values).to_layout(layout),
    ):
        cells = a.buffer.data.view(dtype).reshape(3, 5)
        assert (cells[2] == np.asarray(value, dtype)).all()
        assert (cells[:2, 3:] == np.asarray(value, dtype)).all()
    assert_same_bits(xl.asarray(values, layout=layout), values)
    assert_same_bits(xl.zeros((2, 3), dtype=dtype, layout=layout), np.zeros((2, 3), dtype))


# --- several containers over one memory ---------------------------------------------------------


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_one_memory_adapted_as_tiled_and_as_rows(engine: str) -> None:
    start = np.arange(64, dtype=I4)
    texts = ("s32[8,8]{1,0:T(2,4)}", "s32[8,8]{1,0}", "s32[8,8]{0,1:T(4,2)(2,1)}")
    with xl.config(engine=engine):
        for into in texts:
            for out in texts:
                memory = bytearray(start.tobytes())
                target, source = xl.adapt(memory, spec=into), xl.adapt(memory, spec=out)
                expected = np.asarray(source).copy() + 1
                target[...] = source + 1
                assert_same_bits(target, expected)
                expected[1:, :4] = np.asarray(source)[:-1, 4:].copy()
                target[1:, :4] = source[:-1, 4:]
                assert_same_bits(target, expected)


def test_bitcast_views_of_one_memory() -> None:
    start = np.arange(2048, dtype="f4")
    a = xl.asarray(start, layout="{0:T(1024)}")
    b = a.bitcast("f32[16,128]{1,0:T(8,128)}")
    a[:1024] += b[8:].copy()[0, 0]
    assert float(b[0, 0]) == 1024.0
    expected = np.asarray(b).copy()[::-1]
    b[...] = b[::-1]
    assert_same_bits(b, expected)
    assert_same_bits(a, expected.ravel())
    c = a.bitcast("s32[2048]{0:T(1024)}")
    c[...] = 0
    assert not np.asarray(a).any()


# --- what is allocated ----------------------------------------------------------------------


def test_no_temporary_where_each_element_is_read_in_its_place(engine: str) -> None:
    if engine == "reference":
        pytest.skip("the reference engine always computes a whole result")
    a = poisoned(fill(F4, (9, 7), 1, plain=True), "{1,0:T(4,2)(2,1)}")
    b = poisoned(fill(F4, (9, 7), 2, plain=True), "{0,1:T(2,3)}")
    expected = np.asarray(a) * 2 + np.asarray(b)
    with count_allocations() as count:
        a[...] = a * 2 + b
        a[1:] += 0
        a[:4] = a[5:]
    assert (count.allocations, count.temporaries) == (0, 0)
    expected[:4] = expected[5:]
    assert_same_bits(a, expected)
    with count_allocations() as count:
        a[1:] = a[:-1]
        a[:, :-2] = a[:, 2:]
    assert count.temporaries == 0
    with count_allocations() as count:
        a[::-1] = a * 1
    assert count.temporaries == 1
    with count_allocations() as count:
        xl.eval(a + b)
        xl.eval(a[1::2, 1:] * b[:-1:2, :-1])
    assert count.temporaries == 0


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_matter(threads: int) -> None:
    values = fill(F4, (517, 1031), 9)
    with xl.config(threads=threads):
        a = poisoned(values, "{1,0:T(8,128)}")
        assert_same_bits(xl.eval(a * 0.5), values * np.float32(0.5))
        finite = np.where(np.isfinite(values), values, np.float32(0))
        ours = xl.max(xl.where(xl.isfinite(a), a, np.float32(0)), axis=0)
        assert_ulp(ours, finite.max(axis=0), 0)
        assert int(xl.sum(xl.isfinite(a))) == np.isfinite(values).sum()
        a[1:] = a[:-1]
        assert_same_bits(a[1:].copy(), values[:-1])
