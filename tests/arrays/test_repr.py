"""How containers and expressions print; a lazy expression is never computed for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations

SHOWN: list[tuple[Any, str]] = [
    (xl.asarray([1, 2]), "XArray([1, 2])"),
    (xl.asarray([1.0, 2.5]), "XArray([1. , 2.5])"),
    (xl.asarray([True]), "XArray([ True])"),
    (xl.asarray([1 + 1j]), "XArray([1.+1.j])"),
    (xl.asarray([1], dtype="int8"), "XArray([1], dtype=int8)"),
    (xl.asarray([1.5], dtype="bfloat16"), "XArray([1.5], dtype=bfloat16)"),
    (xl.asarray([3], dtype="int4"), "XArray([3], dtype=int4)"),
    (xl.asarray(2.0), "XArray(2.)"),
    (xl.asarray(7), "XArray(7)"),
    (xl.zeros(0), "XArray([], dtype=float64)"),
    (xl.zeros((0, 3)), "XArray([], shape=(0, 3), dtype=float64)"),
    (xl.asarray([[1, 2], [3, 4]])[:, 0], "XView([1, 3])"),
    (xl.XTensor([1]), "XTensor([1])"),
    (xl.XTensor[xl.float32, 1]([1]), "XTensor[float32, 1]([1.], dtype=float32)"),
    (xl.XTensorFixed[xl.int64, (1,)]([1]), "XTensorFixed[int64, (1,)]([1])"),
]


@together(("value", "text"), SHOWN, ids=[text for _, text in SHOWN])
def test_containers(value: Any, text: str) -> None:
    assert repr(value) == text
    assert str(value) == str(np.asarray(value))


def test_rows_are_aligned() -> None:
    assert repr(xl.asarray([[1, 22], [333, 4]])) == "XArray([[  1,  22],\n        [333,   4]])"


def test_many_elements_are_summarised_as_numpy_does() -> None:
    text = repr(xl.zeros((1000, 1000)))
    assert text.endswith("[0., 0., 0., ..., 0., 0., 0.]], shape=(1000, 1000))")
    assert len(text) < 2000


EXPRESSIONS: list[tuple[Any, str]] = [
    (xl.ones((2, 3)) + 1, "<XFunction add: float64[2, 3], lazy>"),
    (xl.sum(xl.ones(3, dtype="f4")), "<XReducer sum: float32[], lazy>"),
    (xl.late(xl.ones(2)), "<XView: float64[2], lazy>"),
    ((xl.ones((2, 3)) + 1).T, "<View: float64[3, 2], lazy>"),
    (xl.concat([xl.ones(1), xl.ones(2)]), "<Concat: float64[3], lazy>"),
    (xl.ones(3)[[0, 1]], "<Gather: float64[2], lazy>"),
]


@together(("value", "text"), EXPRESSIONS, ids=[text for _, text in EXPRESSIONS])
def test_expressions(value: Any, text: str) -> None:
    assert repr(value) == text


def test_nothing_is_computed() -> None:
    e = xl.sin(xl.broadcast_to(xl.ones(1), (1 << 50,))) + 1
    with count_allocations() as count:
        assert "1125899906842624" in repr(e)
    assert count.allocations == 0


def test_printing_is_no_reader() -> None:
    a = xl.asarray([1.0, 2.0])
    repr(a)
    with count_allocations() as count:
        a[...] = 0
    assert count.snapshots == 0


def test_numpy_print_options_apply() -> None:
    a = xl.asarray([1 / 3])
    with np.printoptions(precision=2):
        assert repr(a) == "XArray([0.33])"
    with np.printoptions(formatter={"all": "<{:.1f}>".format}):
        assert (str(a), xl.array_str(a)) == ("[<0.3>]", "[<0.3>]")
        assert repr(a) == xl.array_repr(a + 0) == "XArray([<0.3>])"
        assert repr(xl.asarray(1.0)) == "XArray(<1.0>)"
    assert np.array_repr(a, precision=2) == "XArray([0.33])"
    assert np.array_str(a + 0, precision=2) == "[0.33]"


def test_a_view_larger_than_any_array() -> None:
    view = xl.broadcast_to(xl.ones(1), (2**40, 2**22))
    assert repr(view) == "<XView float64[1099511627776, 4194304]>"


def test_notebooks_show_facts_and_the_values_of_memory() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    tiled = xl.zeros((2, 2), layout="{1,0:T(2,2)}")
    for thing, words in (
        (a, ("<b>XArray</b>", "float64", "2 x 2", "row_major", "[[1. 2.]")),
        (tiled, ("tiles", "{1,0:T(2,2)}", "[[0. 0.]")),
        (a[0, 0], ("<b>XScalar</b>", "one value", "<pre>1.0</pre>")),
        (xl.XJagged([[1, 2], [3]]), ("<b>XJagged</b>", "[[1, 2], [3]]")),
    ):
        shown = thing._repr_html_()
        assert all(word in shown for word in words)
        assert shown.count("<div") == shown.count("</div>")
    with count_allocations() as count:
        shown = (a < 3)._repr_html_()
        assert "XFunction less, lazy" in shown
        assert "<pre>" not in shown
    assert count.allocations == 0


def test_print_options_are_numpys() -> None:
    with xl.printoptions(precision=2):
        assert str(xl.asarray([1 / 3])) == "[0.33]"
        assert xl.get_printoptions()["precision"] == 2


def test_the_text_of_a_view_makes_a_view_of_the_same_values() -> None:
    a = xl.asarray([[1, 2], [3, 4]], dtype="float32")
    for view in (a[:, 0], a.T, xl.XTensor(a)[1:]):
        again = eval(repr(view), vars(xl), {"float32": xl.float32, "XView": xl.XView})
        assert type(again) is xl.XView
        assert_same_bits(again, view)
    with pytest.raises(TypeError, match="values"):
        xl.XView()  # type: ignore[call-arg]
