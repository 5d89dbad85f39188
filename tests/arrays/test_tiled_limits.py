"""Tiled containers where it is easy to go wrong: packed results, scatters, bitcasts, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import count_allocations


def test_padded_extents_of_zero() -> None:
    layout = xl.Layout((1, 0), padded_dimensions=(0, 4), padding_value="ONE")
    spec = xl.ArraySpec("f32", (0, 3), layout)
    assert (spec.nbytes, spec.physical_size()) == (0, 0)
    assert xl.zeros((0, 3), dtype="f4", layout=layout).buffer.nbytes == 0
    assert xl.ArraySpec.from_proto_bytes(spec.to_proto_bytes()) == spec


@pytest.mark.parametrize("text", ["{1,2,0}", "{0,2,1}", "{2,0,1}"])
def test_results_keep_an_order_of_dimensions_that_has_no_name(text: str) -> None:
    x = np.arange(24, dtype="f4").reshape(2, 3, 4)
    a = xl.asarray(x, layout=text)
    made = xl.eval(a + a)
    assert str(made.layout) == text
    assert str(made.spec) == f"f32[2,3,4]{text}"
    np.testing.assert_array_equal(np.asarray(made), x + x)
    assert xl.eval(a + xl.asarray(x)).layout is xl.row_major
    kept = xl.jit(lambda u: u * 2)(a)
    assert str(kept.layout) == text


def test_writing_through_an_index_touches_what_is_selected_alone() -> None:
    a = xl.zeros((512, 512), dtype="f4", layout="{1,0:T(8,128)}")
    with count_allocations() as made:
        a[np.array([3, 500])] = xl.asarray(np.ones(512, "f4"))
    assert made.bytes < 64 << 10
    expected = np.zeros((512, 512), "f4")
    expected[[3, 500]] = 1
    np.testing.assert_array_equal(np.asarray(a), expected)
    index = np.array([[1, 2], [2, 1]])
    a[5:9, index] = np.arange(16, dtype="f4").reshape(4, 2, 2)
    expected[5:9, index] = np.arange(16, dtype="f4").reshape(4, 2, 2)
    np.testing.assert_array_equal(np.asarray(a), expected)


def test_a_bitcast_outlives_the_array_it_was_made_of() -> None:
    a = xl.asarray(np.arange(2048, dtype="f4"), layout="{0:T(1024)}")
    b = a.bitcast("f32[16,128]{1,0:T(8,128)}")
    a.assign(np.zeros(3000, "f4"))
    assert a.buffer is not b.buffer
    np.testing.assert_array_equal(
        np.asarray(xl.eval(xl.late(b + 1))), np.arange(2048, dtype="f4").reshape(16, 128) + 1
    )


def test_bitcasts_keep_alignment_and_memory_space() -> None:
    memory = np.zeros(20, np.uint8)
    start = 4 if memory.ctypes.data % 8 == 0 else 0
    a = xl.adapt(memory[start : start + 16], spec="c64[2]{0}")
    with pytest.raises(xl.LayoutError, match=r"bitcast: .*no multiple of 8"):
        a.bitcast("f64[2]{0}")
    with pytest.raises(xl.LayoutError, match=r"bitcast: .*its size and space"):
        xl.zeros(2, dtype="f4").bitcast("f32[2]{0:S(5)}")


REFUSALS: dict[str, tuple[Any, str]] = {
    "rank": (lambda a: a.assign(np.ones(3, "f4")), r"assign: .*\{1,0:T\(2,2\)\} is no layout of"),
    "resize": (lambda a: a.resize_((5,)), r"resize_|assign"),
    "zeros": (lambda a: xl.zeros((2, 3), layout="{0}"), r"zeros: \{0\} is no layout of"),
    "prefix": (lambda a: xl.zeros(2, layout="{0:M(4)}"), "zeros: .*before the elements"),
    "kind": (lambda a: xl.zeros(2, layout=5), "zeros: layout 5 is unknown"),
    "order": (
        lambda a: xl.zeros(
            2, dtype="c8", layout=xl.Layout((0,), padded_dimensions=(3,), padding_value="LOWEST")
        ),
        "LOWEST needs an order, which complex64 has not",
    ),
}


@together("case", REFUSALS)
def test_refusals_name_the_operation(case: str) -> None:
    act, text = REFUSALS[case]
    a = xl.ones((2, 3), dtype="f4", layout="{1,0:T(2,2)}")
    with pytest.raises(xl.LayoutError, match=text):
        act(a)
    np.testing.assert_array_equal(np.asarray(a), np.ones((2, 3)))


def test_an_array_that_lies_so_already_is_returned_as_it_is() -> None:
    a = xl.ones((2, 3), layout="{1,0:T(2,2)}")
    assert xl.asarray(a, layout=a.layout, copy=False) is a
    assert xl.asarray(a, layout="{1,0:T(2,2)}") is a
    assert xl.asarray(a, layout="{1,0:T(2,4)}") is not a


@pytest.mark.parametrize("text", ["f32[0]{0:T(2)(2)}", "f32[0,2,3]{2,1,0}", "f32[3,0]{1,0:T(2,2)}"])
def test_arrays_without_elements_have_empty_pictures(text: str) -> None:
    picture = xl.draw(text)
    assert picture.cells == ()
    assert picture.svg.startswith("<svg")
