"""The bytes of tiled memory against the definition: any layout, padding, width of elements."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.layout.test_digits import Case, cases, naive

# Dtype, bits between elements (0: as wide as they are), and the code of an element in those bits.
WIDTHS: tuple[tuple[str, int], ...] = (
    ("int16", 0),
    ("int4", 4),
    ("uint2", 2),
    ("bool", 1),
    ("uint8", 32),
)


def codes_of(values: npt.NDArray[Any], bits: int) -> list[int]:
    """The bits of each element as an integer, in row-major order."""
    size = values.dtype.itemsize
    raw = np.ascontiguousarray(values).reshape(-1).view(f"u{size}")
    return [int(code) & ((1 << bits) - 1) for code in raw]


def bytes_of(order: list[int], codes: list[int], filler: int, bits: int) -> bytes:
    """Memory with the first element in the lowest bits, put together as one long integer."""
    total = 0
    for position, ordinal in enumerate(order):
        code = filler if ordinal < 0 else codes[ordinal]
        total |= code << (bits * position)
    return total.to_bytes(-(-len(order) * bits // 8), "little")


def values_for(shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    numbers = np.random.default_rng(7).integers(0, 2, shape) if dtype == "bool" else None
    if numbers is None:
        numbers = np.random.default_rng(7).integers(0, 4 if dtype == "uint2" else 8, shape)
    return numbers.astype(kind)


@pytest.mark.once
@given(cases(), st.sampled_from(WIDTHS), st.sampled_from((1, 5, 16)))
@settings(max_examples=80)
@example(((0, 3), (1, 0), ((2, 2),)), ("int4", 4), 16)
@example(((3, 5), (0, 1), ((4, 2), (3,))), ("bool", 1), 5)
def test_memory_is_what_the_definition_says(case: Case, width: tuple[str, int], tail: int) -> None:
    shape, order, tiles = case
    dtype, bits = width
    layout = xl.Layout(
        order, tiles, tail_padding_alignment_in_elements=tail, element_size_in_bits=bits
    )
    values = values_for(shape, dtype)
    a = xl.asarray(values, layout=layout)
    step = bits or 8 * values.dtype.itemsize
    expected = naive(case).ravel().tolist()
    expected += [-1] * (-len(expected) % tail)
    assert bytes(a.buffer.data) == bytes_of(expected, codes_of(values, min(step, 16)), 0, step)
    assert a.spec.nbytes == a.buffer.nbytes
    assert a.spec.memory_order() == [None if at < 0 else at for at in expected]
    back = xl.adapt(bytearray(a.buffer.data), spec=a.spec)
    np.testing.assert_array_equal(np.asarray(back), values)


@pytest.mark.once
@given(
    st.lists(st.integers(0, 5), max_size=4),
    st.data(),
    st.sampled_from(("ZERO", "ONE", "LOWEST", "HIGHEST")),
)
@settings(max_examples=80)
def test_padded_extents_are_one_tile_with_a_value(
    dims: list[int], data: st.DataObject, padding: str
) -> None:
    shape = tuple(dims)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    padded = tuple([n + data.draw(st.integers(0, 3)) for n in shape])
    layout = xl.Layout(order, padded_dimensions=padded, padding_value=padding)
    values = np.arange(math.prod(shape), dtype="i2").reshape(shape) - 3
    a = xl.asarray(values, layout=layout)
    ends = np.iinfo("i2")
    filler = {"ZERO": 0, "ONE": 1, "LOWEST": ends.min, "HIGHEST": ends.max}[padding]
    full = np.full(padded, filler, "i2")
    if 0 in shape:
        full = full[:0].ravel()
    else:
        full[tuple([slice(n) for n in shape])] = values
        full = full.transpose(order[::-1])
    np.testing.assert_array_equal(a.buffer.data.view("i2"), full.ravel())
    np.testing.assert_array_equal(np.asarray(a), values)


@pytest.mark.once
@together("engine", ["compiled", "reference"])
@together("text", ["{1,0:T(4,8)(2,1)}", "{0,1:T(3,5)}", "{1,0:T(*,7)}"])
def test_kernels_pack_as_the_definition_says(text: str, engine: str) -> None:
    shape = (90, 70)  # beyond what is copied through a table of positions
    layout = xl.Layout.parse(text)
    values = np.arange(90 * 70, dtype="i2").reshape(shape)
    with xl.config(engine=engine):
        a = xl.asarray(values, layout=layout)
        back = a.to_layout("row_major")
    order = naive((shape, layout.minor_to_major, layout.tile_dims)).ravel()
    expected = np.where(order < 0, 0, values.ravel()[np.maximum(order, 0)])
    np.testing.assert_array_equal(a.buffer.data.view("i2"), expected)
    np.testing.assert_array_equal(np.asarray(back), values)
