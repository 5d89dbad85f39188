"""From layouts to maps of memory and back, and what elements of a dtype need."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import LayoutError
from xarraylite.dtypes.element_types import element_type
from xarraylite.dtypes.names import SUPPORTED
from xarraylite.index.transform import IndexMap, Transform
from xarraylite.layout.layout import Layout
from xarraylite.layout.placement import element_bits, layout_for, layout_of_map, like, map_of
from xarraylite.layout.strided import Strided
from xarraylite.layout.tiled import TiledMap

F4, I4, BOOL = np.dtype("f4"), np.dtype("i4"), np.dtype("?")
INT4 = np.dtype(ml_dtypes.int4)


@together(
    ("text", "dtype", "strides"),
    [
        ("{2,1,0}", F4, (12, 4, 1)),
        ("{0,1,2}", F4, (1, 2, 6)),
        ("{1,2,0}", F4, (12, 1, 3)),
        ("{2,1,0:E(32)}", F4, (12, 4, 1)),
        ("{2,1,0:S(3)}", F4, (12, 4, 1)),
        ("{2,1,0:E(8)}", INT4, (12, 4, 1)),
    ],
)
def test_plain_layouts_are_strides(text: str, dtype: Any, strides: tuple[int, ...]) -> None:
    assert map_of(Layout.parse(text), (2, 3, 4), dtype, "test") == Strided((2, 3, 4), strides)


@together(
    ("text", "dtype", "bits", "nbytes"),
    [
        ("{1,0:T(2,2)}", F4, 32, 4 * 24),
        ("{1,0:L(16)}", F4, 32, 4 * 16),
        ("{1,0:E(64)}", F4, 64, 8 * 15),
        ("{1,0:E(32)}", BOOL, 32, 4 * 15),
        ("{1,0:E(1)}", BOOL, 1, 2),
        ("{1,0:E(4)}", INT4, 4, 8),
        ("{1,0:T(2,4)E(4)}", INT4, 4, 16),
        ("{1,0:E(4)}", np.dtype(ml_dtypes.int2), 4, 8),
    ],
)
def test_everything_else_is_tiled(text: str, dtype: Any, bits: int, nbytes: int) -> None:
    layout = Layout.parse(text)
    place = map_of(layout, (3, 5), dtype, "test")
    assert isinstance(place, TiledMap)
    assert place.bits == place.bits_of(dtype.itemsize) == bits
    assert place.byte_range(dtype.itemsize) == (0, nbytes - 1)
    assert layout_of_map(place) == layout


def test_padded_dimensions_are_tiles() -> None:
    place = map_of(Layout((0, 1), padded_dimensions=(3, 5)), (2, 4), F4, "test")
    assert isinstance(place, TiledMap)
    assert place.capacity == 15
    assert [place.position((i, 2)) for i in range(2)] == [6, 7]
    assert place.has_padding
    assert not place.is_contiguous()


@pytest.mark.parametrize(
    ("text", "dtype", "match"),
    [
        ("{1,0:E(16)}", F4, r"zeros: .*E\(16\).*float32 needs at least 32"),
        ("{1,0:E(2)}", INT4, "int4 needs at least 4"),
        ("{1,0:E(3)}", BOOL, "1, 2, 4 or a multiple of 8"),
        ("{1,0:E(40)}", F4, "multiple of 32"),
        ("{0}", F4, "1 entries for 2 dimensions"),
    ],
)
def test_refused(text: str, dtype: Any, match: str) -> None:
    with pytest.raises(LayoutError, match=match):
        map_of(Layout.parse(text), (2, 3), dtype, "zeros")


@together("dtype", SUPPORTED)
def test_bits_of_every_dtype(dtype: np.dtype[Any]) -> None:
    row = Layout.row_major(1)
    assert element_bits(row, dtype, "test") == 8 * dtype.itemsize
    bits = element_type(dtype).bits
    if bits in (1, 2, 4) or bits % 8 == 0:
        assert element_bits(Layout((0,), element_size_in_bits=bits), dtype, "test") == bits


@together(
    ("shape", "strides", "text"),
    [
        ((2, 3), (3, 1), "{1,0}"),
        ((2, 3), (1, 2), "{0,1}"),
        ((2, 3, 4), (4, 8, 1), "{2,0,1}"),
        ((1, 3), (1, 1), "{1,0}"),  # extents of 1 leave a choice
        ((2, 1, 3), (3, 99, 1), "{2,1,0}"),
        ((), (), "{}"),
        ((2, 3), (4, 1), None),
        ((2, 3), (-3, 1), None),
        ((2, 3), (0, 1), None),
        ((4,), (2,), None),
    ],
)
def test_layouts_of_strides(
    shape: tuple[int, ...], strides: tuple[int, ...], text: str | None
) -> None:
    found = layout_of_map(Strided(shape, strides, 5))
    assert (None if found is None else str(found)) == text


def test_views_have_no_layout() -> None:
    whole = TiledMap.whole(Layout.parse("{1,0:T(2,2)}"), (4, 4), 32)
    part = whole.apply(Transform((2, 4), (IndexMap(1, 1, 0), IndexMap(0, 1, 1))))
    assert layout_of_map(part) is None
    assert (
        layout_of_map(whole.apply(Transform((4, 4), (IndexMap(3, -1, 0), IndexMap(0, 1, 1)))))
        is None
    )
    assert (
        layout_of_map(whole.apply(Transform((2, 4, 4), (IndexMap(0, 1, 1), IndexMap(0, 1, 2)))))
        is None
    )
    assert part.position((0, 3)) == whole.position((1, 3))


def test_a_transpose_has_the_layout_with_its_dimensions_renamed() -> None:
    layout = Layout((1, 2, 0), padded_dimensions=(2, 4, 5), padding_value="ZERO")
    whole = TiledMap.whole(layout, (2, 3, 4), 32)
    moved = whole.apply(
        Transform((3, 4, 2), (IndexMap(0, 1, 2), IndexMap(0, 1, 0), IndexMap(0, 1, 1)))
    )
    found = layout_of_map(moved)
    assert found == Layout((0, 1, 2), padded_dimensions=(4, 5, 2), padding_value="ZERO")
    again = TiledMap.whole(found, (3, 4, 2), 32)
    for index in ((0, 0, 0), (2, 3, 1), (1, 2, 1)):
        assert again.position(index) == moved.position(index)


@together(
    ("text", "source", "dtype", "expected"),
    [
        ("{1,0:T(2,2)}", F4, np.dtype("f8"), "{1,0:T(2,2)}"),
        ("{1,0:T(2,2)E(4)}", INT4, INT4, "{1,0:T(2,2)E(4)}"),
        ("{1,0:T(2,2)E(4)}", INT4, np.dtype(ml_dtypes.uint4), "{1,0:T(2,2)E(4)}"),
        ("{1,0:T(2,2)E(4)}", INT4, BOOL, "{1,0:T(2,2)}"),
        ("{1,0:E(32)}", BOOL, BOOL, "{1,0:E(32)}"),
        ("{1,0:E(32)}", BOOL, np.dtype("f8"), "{1,0}"),
        ("{1,0:E(32)}", BOOL, I4, "{1,0:E(32)}"),
    ],
)
def test_the_same_layout_for_another_dtype(
    text: str, source: Any, dtype: Any, expected: str
) -> None:
    layout = Layout.parse(text)
    assert str(layout_for(layout, dtype, source)) == expected
    place = map_of(layout, (4, 6), source, "test")
    assert isinstance(place, TiledMap)
    made = like(place, dtype, source)
    assert made == map_of(Layout.parse(expected), (4, 6), dtype, "test")


def test_a_permuted_order_stays_a_layout() -> None:
    """Containers of strides are row- or column-major; another order is kept by its layout."""
    place = map_of(Layout.parse("{1,2,0:E(4)}"), (2, 3, 4), INT4, "test")
    assert isinstance(place, TiledMap)
    made = like(place, F4, INT4)
    assert str(layout_of_map(made)) == "{1,2,0}"
