"""Strided layouts against brute force: every statement about positions, position by position."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from tests.cases import together
from tests.index.test_transform import chains, read
from xarraylite._errors import LayoutError
from xarraylite.index.transform import IndexMap, Transform
from xarraylite.layout.strided import (
    COLUMN_MAJOR,
    DYNAMIC,
    ROW_MAJOR,
    Strided,
    check_strides,
    column_major_strides,
    row_major_strides,
)

Positions = npt.NDArray[np.int64]


def positions(layout: Strided) -> Positions:
    """Where each element lies: the definition."""
    total = np.full(layout.shape, layout.offset, np.int64)
    for index in np.ndindex(*layout.shape):
        total[index] += sum(i * s for i, s in zip(index, layout.strides, strict=True))
    return total


def affine_strides(places: Positions) -> tuple[int, ...] | None:
    """The strides of an array of positions, if there are any: found without knowing how."""
    if places.size == 0:
        return (0,) * places.ndim
    first = places[(0,) * places.ndim]
    strides = []
    for k, extent in enumerate(places.shape):
        unit = tuple(int(j == k) for j in range(places.ndim))
        strides.append(int(places[unit] - first) if extent > 1 else 0)
    rebuilt = positions(Strided(places.shape, tuple(strides), int(first)))
    return tuple(strides) if np.array_equal(rebuilt, places) else None


shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
strides = st.sampled_from((0, 1, 1, 2, 3, 4, 6, 12, -1, -2, -4))


@st.composite
def layouts(draw: st.DrawFn, least: int = 0) -> Strided:
    """Draw dense layouts, permuted ones, and arbitrary ones."""
    shape = tuple(draw(st.lists(st.integers(least, 4), max_size=4)))
    kind = draw(st.sampled_from(("row", "column", "permuted", "any")))
    offset = draw(st.integers(0, 50))
    if kind == "row":
        return Strided(shape, row_major_strides(shape), offset)
    if kind == "column":
        return Strided(shape, column_major_strides(shape), offset)
    if kind == "permuted":
        order = draw(st.permutations(range(len(shape))))
        dense = row_major_strides(tuple(shape[k] for k in order))
        return Strided(shape, tuple(dense[order.index(k)] for k in range(len(shape))), offset)
    return Strided(shape, tuple(draw(strides) for _ in shape), offset)


def factorisations(size: int, rank: int) -> list[tuple[int, ...]]:
    """All shapes of a size and a rank."""
    divisors = [d for d in range(1, size + 1) if size % d == 0]
    every = itertools.product(divisors, repeat=rank)
    return [shape for shape in every if np.prod(shape, dtype=int) == size]


@given(layouts())
def test_size_rank_and_backstrides(layout: Strided) -> None:
    assert layout.size == positions(layout).size
    assert layout.ndim == len(layout.shape)
    expected = tuple(
        s * (n - 1) if n else 0 for n, s in zip(layout.shape, layout.strides, strict=True)
    )
    assert layout.backstrides == expected


@given(layouts())
def test_bounds(layout: Strided) -> None:
    places = positions(layout)
    if places.size:
        assert layout.bounds() == (places.min(), places.max())
    else:
        assert layout.bounds() == (layout.offset, layout.offset - 1)


@given(shapes)
def test_dense_strides_are_numpys(shape: tuple[int, ...]) -> None:
    if 0 in shape:
        return
    for order, own in (("C", row_major_strides(shape)), ("F", column_major_strides(shape))):
        array = np.empty(shape, np.int8, order=order)  # type: ignore[call-overload]
        for extent, mine, theirs in zip(shape, own, array.strides, strict=True):
            assert mine == theirs or extent == 1


@given(layouts())
def test_density_is_numpys(layout: Strided) -> None:
    low, high = layout.bounds()
    memory = np.zeros(high - low + 1, np.int8)
    array = as_strided(memory[layout.offset - low :], layout.shape, layout.strides)
    assert layout.is_row_major() == array.flags.c_contiguous
    assert layout.is_column_major() == array.flags.f_contiguous


@given(layouts())
def test_contiguity(layout: Strided) -> None:
    places = sorted(positions(layout).reshape(-1).tolist())
    rising = all(s > 0 for n, s in zip(layout.shape, layout.strides, strict=True) if n > 1)
    run = places == list(range(layout.offset, layout.offset + layout.size))
    assert layout.is_contiguous() == (layout.size == 0 or (rising and run))


@given(layouts(least=1), st.data())
def test_apply(layout: Strided, data: st.DataObject) -> None:
    _, chain = data.draw(chains(layout.shape))
    places = positions(layout)
    for step in chain:
        layout, places = layout.apply(step), read(places, step)
        assert layout.shape == places.shape
        assert np.array_equal(positions(layout), places)


@given(layouts(least=1), st.data())
def test_reshape_is_found_exactly_where_it_exists(layout: Strided, data: st.DataObject) -> None:
    rank = data.draw(st.integers(0 if layout.size == 1 else 1, 4))
    shape = data.draw(st.sampled_from(factorisations(layout.size, rank)))
    expected = positions(layout).reshape(shape)
    found = layout.reshape(shape)
    if found is None:
        assert affine_strides(expected) is None
    else:
        assert found.shape == shape
        assert np.array_equal(positions(found), expected)


@together(
    ("source", "shape", "strides"),
    [
        (Strided((6,), (2,), 3), (2, 3), (6, 2)),
        (Strided((2, 3), (3, 1)), (6,), (1,)),
        (Strided((3, 2), (1, 3)), (6,), None),
        (Strided((2, 3), (0, 1)), (3, 2), None),
        (Strided((2, 3), (0, 0)), (3, 2), (0, 0)),
        (Strided((4, 3), (-3, -1), 11), (2, 2, 3), (-6, -3, -1)),
        (Strided((4, 2, 3), (1, 12, 4)), (2, 2, 6), (2, 1, 4)),
        (Strided((4, 2, 3), (1, 12, 4)), (8, 3), None),
        (Strided((), (), 5), (1, 1), (1, 1)),
    ],
)
def test_reshapes(source: Strided, shape: tuple[int, ...], strides: tuple[int, ...] | None) -> None:
    found = source.reshape(shape)
    assert found == (None if strides is None else Strided(shape, strides, source.offset))


def test_reshape_of_nothing_and_to_another_size() -> None:
    assert Strided((0, 3), (3, 1)).reshape((7, 0)) is not None
    assert Strided((2, 3), (3, 1)).reshape((5,)) is None


def test_strides_of_the_user_start_at_the_lowest_position() -> None:
    layout = check_strides((3, 2), (-2, 1), "zeros")
    assert layout.offset == 4
    assert layout.bounds() == (0, 5)
    with pytest.raises(LayoutError, match=r"zeros: strides \(1,\) have 1 entries, shape \(3, 2\)"):
        check_strides((3, 2), (1,), "zeros")


def test_numbers_beyond_64_bits_do_not_wrap() -> None:
    layout = Strided((1 << 40, 3), (1 << 40, -(1 << 80)), 7)
    assert layout.size == 3 << 40
    assert layout.bounds() == (7 - (2 << 80), 7 + ((1 << 40) - 1 << 40))


def test_orders_show_their_public_names() -> None:
    shown = [repr(order) for order in (ROW_MAJOR, COLUMN_MAJOR, DYNAMIC)]
    assert shown == ["xl.row_major", "xl.column_major", "xl.dynamic"]


def test_apply_may_use_one_output_dimension_twice() -> None:
    """A diagonal: both dimensions follow the same index."""
    square = Strided.row_major((3, 3))
    step = Transform((3,), (IndexMap(0, 1, 0), IndexMap(0, 1, 0)))
    assert square.apply(step) == Strided((3,), (4,), 0)
