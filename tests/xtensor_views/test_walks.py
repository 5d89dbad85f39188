"""Walks over elements and parts, and views of both halves of optional arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 2), (4,), (), (0, 3)])
def test_a_loop_over_elements_goes_on_where_it_stopped(shape: tuple[int, ...]) -> None:
    values = np.arange(math.prod(shape)).reshape(shape)
    ours, theirs = xl.asarray(values).T.flat, values.T.flat
    for flat in (ours, theirs):
        for _ in flat:
            break
    assert [ours.index, next(ours, None)] == [theirs.index, next(theirs, None)]
    seen: list[list[Any]] = [[], []]
    for flat, found in zip((ours, theirs), seen, strict=True):
        for x in flat:
            found += [int(x), flat.index, next(flat, None)]
        assert list(flat) == []
    assert seen[0] == seen[1]


@together("layout", ["row_major", "column_major", "{1,0:T(2,4)}"])
@together("key", [..., (slice(None, None, -1), slice(1, None, 2)), 1])
def test_elements_in_a_row_wherever_they_lie(layout: str, key: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(values, layout=layout)
    mine, theirs = a[key], values[key]
    for x, want in ((mine, theirs), (mine * 2, theirs * 2)):
        assert list(x.flat) == list(want.flat)
        assert [x.flat[k] for k in (0, 1, -1)] == [want.flat[k] for k in (0, 1, -1)]
        for k in (want.size, -want.size - 1):
            with pytest.raises(IndexError):
                x.flat[k]
    walk = iter(mine.flat)
    next(walk)
    mine.flat[1] = 50.0  # which is read when it is reached
    assert next(walk) == mine.flat[1] == 50.0


def test_parts_of_all_layouts_and_long_axes_are_walked_through() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    for order in ("row_major", "column_major", "storage"):
        for axis in range(-3, 3):
            a = xl.asarray(values, layout="column_major")
            for line in xl.iter_lines(a * 1 if axis == 0 else a, axis, order):
                if axis:
                    line[...] = line[::-1]
            assert axis == 0 or a.tolist() == np.flip(values, axis).tolist()
    parts = xl.iter_axis(xl.broadcast_to(xl.zeros(()), (2, 1 << 40)), 1)
    assert next(parts).tolist() == [0.0, 0.0]  # nothing is as long as the axis


@pytest.mark.parametrize("order", ["row_major", "column_major"])
def test_optional_values_in_another_shape_are_written(order: str) -> None:
    numbers = np.arange(12).reshape(3, 4)
    for shape in ((9,), (3, 3)):
        values, flags = numbers.astype(float), numbers % 3 > 0
        x = xl.optional(xl.asarray(values, copy=True), xl.asarray(flags, layout="column_major"))
        part = xl.reshape_view(x[:, 1:], shape, order)
        places = numbers[:, 1:].reshape(shape, order="C" if order == "row_major" else "F")
        np.testing.assert_array_equal(part.value(), values.flat[places])
        np.testing.assert_array_equal(xl.flatten(x[:, 1:], order).has_value().shape, (9,))
        part[0] = xl.missing
        part.has_value()[1] = True
        part[2] = 7
        flags.flat[places[0]] = False
        flags.flat[places[1:3]] = True
        values.flat[places[2]] = 7
        np.testing.assert_array_equal(x.has_value(), flags)
        np.testing.assert_array_equal(np.asarray(x.value())[flags], values[flags])


@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64", "bfloat16"])
def test_elements_of_views_are_read_when_they_are_reached(dtype: str) -> None:
    numbers = np.arange(12).reshape(3, 4)
    for view, places in (
        (lambda a: xl.flat(a, "column_major"), numbers.T.reshape(-1)),
        (lambda a: xl.index_view(a, [(2, 1), (0, 0), (2, 1)]), [9, 0, 9]),
        (lambda a: xl.filter(a, numbers % 5 == 2), [2, 7]),
        (lambda a: xl.view(a, 1, xl.keep(3, 0, 0)), [7, 4, 4]),
        (lambda a: xl.filter(a[::2, ::-1], numbers[:2] > 5), [9, 8]),
    ):
        for layout in ("row_major", "column_major", "{1,0:T(2,4)}"):
            a = xl.asarray(numbers % 3, dtype=dtype).to_layout(layout)
            seen = view(a)
            walk = iter(seen)
            first = next(walk)
            want = [numbers.flat[k] % 3 for k in places]
            assert [type(x) for x in seen] == [type(a[0, 0])] * len(want)
            assert [complex(x) for x in seen] == [
                complex(np.bool_(n) if dtype == "bool" else n) for n in want
            ]
            a[...] = 1
            assert [complex(x) for x in walk] == [1] * (len(want) - 1)
            assert complex(first) == complex(np.bool_(want[0]) if dtype == "bool" else want[0])
