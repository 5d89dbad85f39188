"""Tiled memory through NumPy: positions, reading, writing, and what new memory holds."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import together
from tests.layout.test_digits import cases
from xarraylite.index.transform import FIXED, IndexMap, Transform
from xarraylite.layout.fields import PaddingValue
from xarraylite.layout.layout import Layout
from xarraylite.layout.placement import map_of
from xarraylite.layout.strided import Strided
from xarraylite.layout.tiled import TiledMap
from xarraylite.memory.arrays import allocate, padding_value, positions, read, write
from xarraylite.memory.buffer import Buffer

F4, I2, BOOL = np.dtype("f4"), np.dtype("i2"), np.dtype("?")
INT4, INT2 = np.dtype(ml_dtypes.int4), np.dtype(ml_dtypes.int2)


@given(cases(most_rank=3), st.integers(0, 3))
@settings(max_examples=80)
def test_positions_one_by_one(case: Any, offset: int) -> None:
    dims, order, tiles = case
    whole = TiledMap.whole(Layout(order, tiles), dims, 16)
    layout = TiledMap(whole.layout, dims, whole.step, offset, 16)
    found = positions(layout)
    assert found.shape == dims
    for index in np.ndindex(dims):
        assert found[index] == layout.position(index)


def test_positions_of_a_view() -> None:
    step = Transform((3, 2, 4), (IndexMap(5, -2, 0), IndexMap(1, 2, 1), IndexMap(2, 0, FIXED)))
    view = TiledMap.whole(Layout.parse("{2,0,1:T(2,4)}"), (6, 4, 3), 16).apply(step)
    found = positions(view)
    assert found.shape == (3, 2, 4)
    for index in np.ndindex(3, 2, 4):
        assert found[index] == view.position(index)


LAYOUTS = ("{1,0:T(2,4)}", "{0,1:T(4,2)(2,1)L(13)}", "{1,0:T(2,2)(*,3)}")


@together("text", LAYOUTS)
@together(
    ("dtype", "bits"),
    [(F4, 32), (F4, 64), (BOOL, 1), (BOOL, 32), (INT4, 4), (INT4, 8), (INT2, 2), (INT2, 4)],
)
def test_what_is_written_is_read(text: str, dtype: np.dtype[Any], bits: int) -> None:
    layout = map_of(Layout.parse(f"{text[:-1]}E({bits})}}"), (5, 7), dtype, "test")
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2, (5, 7)).astype("f4").astype(dtype)
    buffer = allocate(layout, dtype)
    assert buffer.nbytes == layout.byte_range(dtype.itemsize)[1] + 1
    buffer.data[:] = 255  # garbage between the elements must not matter
    write(buffer, dtype, layout, values)
    found = read(buffer, dtype, layout)
    assert found.dtype == dtype
    assert found.tobytes() == values.tobytes()
    part = layout.apply(Transform((2, 7), (IndexMap(1, 2, 0), IndexMap(6, -1, 1))))
    assert read(buffer, dtype, part).tobytes() == values[1:5:2, ::-1].tobytes()
    write(buffer, dtype, part, np.ones((), dtype))
    values[1:5:2] = np.ones((), dtype)
    assert read(buffer, dtype, layout).tobytes() == values.tobytes()


def test_strided_memory_is_a_view() -> None:
    buffer = Buffer.allocate(24)
    place = Strided((2, 3), (1, 2))
    view = read(buffer, F4, place)
    write(buffer, F4, place, np.arange(6).reshape(2, 3))
    assert np.array_equal(view, [[0, 1, 2], [3, 4, 5]])
    assert np.array_equal(buffer.data.view("f4"), [0, 3, 1, 4, 2, 5])


@pytest.mark.parametrize("text", ["{:T(4)}", "{:E(4)}"])
def test_a_scalar_is_an_array_of_rank_0(text: str) -> None:
    layout = map_of(Layout.parse(text), (), INT4, "test")
    buffer = allocate(layout, INT4)
    write(buffer, INT4, layout, np.array(-3).astype(INT4))
    found = read(buffer, INT4, layout)
    assert isinstance(found, np.ndarray)
    assert (found.shape, int(found)) == ((), -3)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_arrays_need_no_memory(shape: tuple[int, ...]) -> None:
    layout = map_of(Layout.parse("{1,0:T(2,4)L(8)}"), shape, I2, "test")
    buffer = allocate(layout, I2)
    assert buffer.nbytes == 0
    assert read(buffer, I2, layout).shape == shape
    write(buffer, I2, layout, np.zeros((), I2))


def test_new_memory_is_the_same_every_time() -> None:
    layout = map_of(Layout.parse("{1,0:T(2,4)}"), (3, 5), I2, "test")
    assert isinstance(layout, TiledMap)
    for _ in range(3):
        buffer = allocate(layout, I2)
        free = np.ones(layout.capacity, bool)
        free[positions(layout)] = False
        assert not buffer.data.view("i2")[free].any()
        buffer.data[:] = 255


@together(
    ("dtype", "lowest", "highest"),
    [
        (BOOL, False, True),
        (I2, -(2**15), 2**15 - 1),
        (np.dtype("u1"), 0, 255),
        (INT4, -8, 7),
        (np.dtype("f8"), -np.inf, np.inf),
        (np.dtype(ml_dtypes.bfloat16), -np.inf, np.inf),
        (np.dtype(ml_dtypes.float8_e4m3fn), -448, 448),
        (np.dtype(ml_dtypes.float4_e2m1fn), -6, 6),
    ],
)
def test_padding_values(dtype: np.dtype[Any], lowest: Any, highest: Any) -> None:
    assert padding_value(PaddingValue.LOWEST, dtype) == lowest
    assert padding_value(PaddingValue.HIGHEST, dtype) == highest
    assert padding_value(PaddingValue.ONE, dtype) == 1
    for nothing in (None, PaddingValue.ZERO, PaddingValue.UNKNOWN, PaddingValue.INVALID):
        assert padding_value(nothing, dtype) is None
