"""`XArray`: construction, layouts, in-place changes of shape, memory."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst
from xarraylite.transforms import natives

NESTED: list[tuple[Any, str, tuple[int, ...]]] = [
    ([[1, 2], [3, 4]], "int64", (2, 2)),
    ([[1.5], [2]], "float64", (2, 1)),
    ([True, False], "bool", (2,)),
    ([1 + 2j], "complex128", (1,)),
    (3, "int64", ()),
    (2.5, "float64", ()),
    ([], "float64", (0,)),
    ([[], []], "float64", (2, 0)),
    ((1, (2)), "int64", (2,)),
    ([np.float32(1), np.float32(2)], "float32", (2,)),
    (np.arange(3, dtype=">i4"), "int32", (3,)),
    (np.zeros((2, 3), ml_dtypes.bfloat16), "bfloat16", (2, 3)),
]


@together(("values", "dtype", "shape"), NESTED, ids=repr)
def test_construction_from_values(values: Any, dtype: str, shape: tuple[int, ...]) -> None:
    a = xl.XArray(values)
    assert (str(a.dtype), a.shape, a.ndim) == (dtype, shape, len(shape))
    assert np.asarray(a).tolist() == np.asarray(values).tolist()


def test_construction_from_containers_inside_lists() -> None:
    row = xl.asarray([1, 2])
    assert xl.XArray([row, row + 1]).tolist() == [[1, 2], [2, 3]]


@given(st.data())
@settings(max_examples=30)
def test_construction_copies_any_operand(data: st.DataObject) -> None:
    shape = data.draw(xst.shapes(max_size=500))
    operand = data.draw(xst.samples(shape, data.draw(xst.dtypes())))
    layout = data.draw(st.sampled_from(["row_major", "column_major", "dynamic"]))
    a = xl.XArray(operand.operand, layout=layout)
    assert_same_bits(a, operand.array)
    assert a.buffer.address % 64 == 0
    assert not np.may_share_memory(np.asarray(a), np.asarray(operand.operand))
    order = "F" if layout == "column_major" else "C"
    assert np.asarray(a).flags[f"{order}_CONTIGUOUS"]


def test_dtype_converts() -> None:
    a = xl.XArray([1.7, -1.7], dtype="int8")
    assert (a.tolist(), str(a.dtype)) == ([1, -1], "int8")
    assert str(xl.XArray([1, 2], dtype="bf16").dtype) == "bfloat16"
    assert xl.XArray([1 + 2.0**-8 + 2.0**-40], dtype="bfloat16").tolist() == [1.0078125]


@pytest.mark.parametrize(
    ("shape", "layout", "strides", "back"),
    [
        ((3, 2, 4), "row_major", (8, 4, 1), (16, 4, 3)),
        ((3, 2, 4), "column_major", (1, 3, 6), (2, 3, 18)),
        ((3, 2, 4), None, (8, 4, 1), (16, 4, 3)),
        ((), None, (), ()),
        ((0, 3), None, (3, 1), (0, 2)),
    ],
)
def test_layouts(
    shape: tuple[int, ...], layout: str | None, strides: tuple[int, ...], back: tuple[int, ...]
) -> None:
    a = xl.zeros(shape, layout=layout)
    assert (a.strides, a.backstrides, a.offset) == (strides, back, 0)
    assert a.is_contiguous()
    assert a.nbytes == a.size * 8 == int(np.prod(shape)) * 8


def fixture() -> np.ndarray[Any, Any]:
    """xtensor's test array: value 8i+4j+k, but -1 in front."""
    values = np.arange(24).reshape(3, 2, 4)
    values[0, 0, 0] = -1
    return values


@pytest.mark.parametrize(
    ("strides", "stored"),
    [
        ((8, 4, 1), [-1, 1, 2, 3, 4, 5]),
        ((1, 3, 6), [-1, 8, 16, 4, 12, 20, 1, 9]),
        ((8, 1, 2), [-1, 4, 1, 5, 2, 6, 3, 7, 8, 12]),
    ],
)
def test_explicit_strides(strides: tuple[int, ...], stored: list[int]) -> None:
    a = xl.XArray(fixture(), strides=strides)
    assert a.strides == strides
    assert np.frombuffer(a.buffer.data, np.int64)[: len(stored)].tolist() == stored
    assert_same_bits(a, fixture())
    assert a.static_layout is xl.dynamic


def test_strides_with_gaps_leave_zeros() -> None:
    a = xl.XArray([[1, 2], [3, 4]], strides=(5, 2))
    assert np.frombuffer(a.buffer.data, np.int64).tolist() == [1, 0, 2, 0, 0, 3, 0, 4]
    b = xl.XArray([1, 2, 3], strides=(-2,))
    assert (b.tolist(), b.offset, b.strides) == ([1, 2, 3], 4, (-2,))
    assert np.frombuffer(b.buffer.data, np.int64).tolist() == [3, 0, 2, 0, 1]


def test_static_layouts_refuse_strides() -> None:
    with pytest.raises(xl.LayoutError, match=r"strides \(1,\).*static layout row_major"):
        xl.XArray([1, 2], layout="row_major", strides=(1,))
    with pytest.raises(xl.LayoutError, match=r"layout 'tiled' is unknown.*'row_major'"):
        xl.XArray([1, 2], layout="tiled")
    with pytest.raises(xl.LayoutError, match="one per dimension"):
        xl.XArray([1, 2], strides=(1, 2))
    with pytest.raises(xl.OverlapError, match=r"strides \(1, 1\).*more than once"):
        xl.XArray([[1, 2], [3, 4]], strides=(1, 1))
    a = xl.XArray([[1, 2], [3, 4]])
    for method in (a.reshape_, a.resize_):
        with pytest.raises(xl.LayoutError, match=r"static layout row_major.*'dynamic'"):
            method((4,), strides=(1,))


def test_reshape_in_place() -> None:
    a = xl.asarray(np.arange(12))
    address = a.buffer.address
    with count_allocations() as count:
        assert a.reshape_((3, -1)) is a
    assert (count.allocations, a.shape, a.buffer.address) == (0, (3, 4), address)
    assert a.tolist() == np.arange(12).reshape(3, 4).tolist()
    with pytest.raises(xl.ShapeError, match="12 elements do not fit"):
        a.reshape_((5, 2))
    assert a.shape == (3, 4)


def test_reshape_in_place_keeps_column_major() -> None:
    a = xl.XArray(np.arange(6).reshape(2, 3), layout="column_major")
    a.reshape_((3, 2))
    assert (a.strides, a.layout) == ((1, 3), xl.column_major)
    assert np.frombuffer(a.buffer.data, np.int64).tolist() == [0, 3, 1, 4, 2, 5]


def test_reshape_in_place_with_strides() -> None:
    a = xl.XArray(np.arange(6), layout="dynamic")
    a.reshape_((2, 3), layout="column_major")
    assert a.tolist() == [[0, 2, 4], [1, 3, 5]]
    a.reshape_((3, 2), strides=(1, 3))
    assert a.tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(xl.LayoutError, match="beyond the 6 elements"):
        a.reshape_((3, 2), strides=(4, 1))
    with pytest.raises(xl.OverlapError, match="more than once"):
        a.reshape_((3, 2), strides=(1, 1))
    assert a.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_reshape_in_place_refuses_gaps() -> None:
    a = xl.XArray(np.arange(4), strides=(2,))
    with pytest.raises(xl.LayoutError, match=r"int64\[4\] with strides \(2,\) is not contiguous"):
        a.reshape_((2, 2))


def test_transpose_in_place() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    a = xl.asarray(values)
    with count_allocations() as count:
        a.transpose_((2, 0, 1))
        assert_same_bits(a, values.transpose(2, 0, 1))
        a.transpose_()
    assert count.allocations == 0
    assert_same_bits(a, values.transpose(2, 0, 1).T)
    assert a.static_layout is xl.dynamic
    with pytest.raises(xl.AxisError, match="twice"):
        a.transpose_((0, 0, 1))
    with pytest.raises(xl.ShapeError, match="no permutation of 3"):
        a.transpose_((0, 1))


def test_transpose_in_place_of_a_vector_keeps_the_layout() -> None:
    a = xl.arange(3)
    assert a.transpose_().static_layout is xl.row_major
    a.transpose_((-1,))
    assert a.tolist() == [0, 1, 2]


def test_resize_in_place() -> None:
    a = xl.zeros((4, 4))
    address = a.buffer.address
    with count_allocations() as count:
        a.resize_((2, 8))
    assert (count.allocations, a.shape, a.buffer.address) == (0, (2, 8), address)
    a.resize_((3,))
    a[...] = 7
    assert (a.tolist(), a.nbytes) == ([7, 7, 7], 24)
    a.resize_(0)
    assert (a.shape, a.tolist()) == ((0,), [])
    a.resize_(())
    assert a.shape == ()


@together("shape", [(2**62,), (2**40, 2**40), (2**31, 2**32), (-1,), (2, True), 1.5])
def test_resize_refuses_sizes_and_stays_as_it_was(shape: Any) -> None:
    a = xl.asarray([1, 2])
    with pytest.raises(xl.ShapeError):
        a.resize_(shape)
    assert (a.shape, a.tolist()) == ((2,), [1, 2])


def test_copy() -> None:
    a = xl.XArray(np.arange(6).reshape(2, 3), layout="column_major")
    b = a.copy()
    b[...] = 0
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (type(b), b.static_layout, b.strides) == (xl.XArray, xl.column_major, (1, 2))
    view = a[:, ::2]
    assert (type(view.copy()), view.copy().tolist()) == (xl.XArray, [[0, 2], [3, 5]])


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "bitwise_xor"])
def test_every_layout_gives_the_same(name: str) -> None:
    """xtensor's 28 cases: whatever the layouts of operands and of the result before."""
    values = fixture()
    other = np.concatenate([[-1], np.arange(1, 4), np.arange(8, 12), np.arange(16, 20)]).reshape(
        3, 1, 4
    )
    stored: Sequence[Any] = (
        xl.XArray(values),
        xl.XArray(values, layout="column_major"),
        xl.XArray(values, strides=(8, 1, 2)),
        xl.XTensor(values, layout="column_major"),
        xl.asarray(other),
    )
    expected = {id(x): getattr(np, name)(values, np.asarray(x)) for x in stored}
    for left in stored[:4]:
        for right in stored:
            e = getattr(xl, name)(left, right)
            assert_same_bits(e, expected[id(right)])
            for old in (xl.zeros(1), xl.XArray(values * 0.0, layout="column_major")):
                assert_same_bits(xl.astype(old.assign(e), e.dtype), expected[id(right)])


@pytest.mark.parametrize("strides", [(8, 4, 1), (1, 3, 6), (8, 1, 2), (48, 10, 2)])
def test_in_place_operators_keep_the_strides(strides: tuple[int, ...]) -> None:
    a = xl.XArray(fixture() * 4, strides=strides)
    a += 2
    a *= 3
    a -= 6
    a //= 2
    assert (a.strides, a.tolist()) == (strides, (fixture() * 6).tolist())
    f = xl.XArray(fixture() * 1.0, strides=strides)
    f /= 2
    f **= 2
    assert (f.strides, f.tolist()) == (strides, ((fixture() / 2) ** 2).tolist())


OPERATORS = {
    "+": ("__iadd__", 7),
    "-": ("__isub__", 7),
    "*": ("__imul__", 3),
    "//": ("__ifloordiv__", 3),
    "%": ("__imod__", 5),
    "**": ("__ipow__", 2),
    "&": ("__iand__", 6),
    "|": ("__ior__", 8),
    "^": ("__ixor__", 5),
    "<<": ("__ilshift__", 2),
    ">>": ("__irshift__", 1),
}


@together("symbol", OPERATORS)
def test_in_place_operators(symbol: str) -> None:
    method, value = OPERATORS[symbol]
    values = np.arange(-5, 7)
    a, expected = xl.asarray(values), values.copy()
    getattr(expected, method)(value)
    assert getattr(a, method)(value) is a
    assert_same_bits(a, expected)
    values = np.arange(1, 13)
    b, expected = xl.asarray(values), values.copy()
    getattr(b[::2], method)(b[::-2])
    getattr(expected[::2], method)(values[::-2])
    assert_same_bits(b, expected)


def test_in_place_results_must_cast_back() -> None:
    a = xl.asarray([1, 2])
    with pytest.raises(xl.CastError, match=r"divide.*float64\[2\].*int64.*same_kind"):
        a /= 2
    with pytest.raises(xl.CastError, match="multiply"):
        a *= 1.5
    f = xl.asarray([1, 2], dtype="float32")
    f += xl.asarray([0.25, 0.5])
    assert (f.tolist(), str(f.dtype), a.tolist()) == ([1.25, 2.5], "float32", [1, 2])


def test_views_hold_the_memory() -> None:
    view = xl.arange(100)[10:20:3]
    for _ in range(50):
        xl.eval(xl.ones(100) * 2)
    assert view.tolist() == [10, 13, 16, 19]
    assert type(view) is xl.XView
    assert view.buffer.nbytes == 800


def test_attributes() -> None:
    a = xl.zeros((2, 3), dtype="float32")
    assert (a.itemsize, a.nbytes, a.size, a.device, a.readonly) == (4, 24, 6, "cpu", False)
    assert (len(a), [row.shape for row in a]) == (2, [(3,), (3,)])
    assert a.to_device("cpu") is a
    with pytest.raises(ValueError, match="'gpu'"):
        a.to_device("gpu")
    with pytest.raises(TypeError, match="rank 0"):
        len(xl.asarray(1))
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)


def test_fill() -> None:
    a = xl.zeros((3, 3))
    a[1].fill(2)
    a[:, 0].fill(5)
    assert a.tolist() == [[5, 0, 0], [5, 2, 2], [5, 0, 0]]


def test_assigning_a_shape_reshapes_in_place() -> None:
    a = xl.arange(6)
    a.shape = (2, -1)
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(xl.ShapeError):
        a.shape = (4, 2)
    assert a.shape == (2, 3)
    t = xl.XTensor([1, 2])
    with pytest.raises(xl.ShapeError):
        t.shape = (2, 1)


def test_views_yield_their_rows() -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    for view in (a[1:], a.T, a[:, None, ::2]):
        assert [np.asarray(row).tolist() for row in view] == np.asarray(view).tolist()
    for row in a[1:]:
        row[...] = 0
    assert np.asarray(a)[1:].sum() == 0
    with pytest.raises(TypeError):
        iter(a[...].reshape(12)[:1].reshape(()))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "make",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1, 1::2],
        lambda a: a * 2,
        lambda a: a.T - 1,
        lambda a: a[:0],
        xl.XTensor[float, 2],
        lambda a: a.to_layout("{1,0:T(2,2)}"),
    ],
)
def test_few_elements_are_copied_in_an_order(make: Any, order: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = make(xl.asarray(values))
    expected = np.array(a.numpy(), order=order)
    layout = xl.row_major if order == "C" else xl.column_major
    made = [a.copy(order), xl.array(a, order=order), xl.copy(a, order=order)]
    made += [xl.XArray(a, layout=layout), a.astype("f4", order=order), xl.XArray(a, "i8", layout)]
    for b in made:
        assert np.array_equal(b, expected)
        assert b.static_layout is layout
        assert b.strides == tuple([s // 8 for s in expected.strides]) or not b.size
        b[...] = 99
    assert [b.dtype for b in made] == ["f8"] * 4 + ["f4", "i8"]
    assert not np.any(np.asarray(a) == 99)


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_transposes_are_copied_by_a_kernel(order: str) -> None:
    """With the values of NumPy, conversions and dimensions of other strides included."""
    values = np.arange(3 * 160 * 200, dtype=np.int32).reshape(3, 160, 200)
    a = xl.asarray(values)
    for axes in ((2, 1, 0), (0, 2, 1), (1, 0, 2)):
        wanted = values.transpose(axes)
        made = a.transpose(axes).copy(order)
        assert_same_bits(made, wanted)
        assert np.asarray(made).flags[f"{order}_CONTIGUOUS"]
        assert_same_bits(xl.asarray(a.transpose(axes), dtype="f4"), wanted.astype("f4"))
    stretched = np.broadcast_to(values[0, 0], (400, 200))
    assert_same_bits(xl.asarray(xl.asarray(stretched).T, copy=True), stretched.T)


def test_the_shape_of_a_view_is_assigned_as_numpys() -> None:
    a, x = xl.arange(24).reshape(4, 6), np.arange(24).reshape(4, 6)
    for view, theirs in ((a, x), (a[1:3], x[1:3]), (a[:, ::2], x[:, ::2]), (a[::-1], x[::-1])):
        for shape in ((3, 8), (-1,), (2, 3, 2), 6, (2, -1)):
            try:
                theirs.shape = shape
            except (ValueError, AttributeError) as error:
                with pytest.raises(type(error), match="shape"):
                    view.shape = shape
            else:
                view.shape = shape
            assert_same_bits(view, theirs)
    a[0] = x[0] = -1
    assert_same_bits(a, x)
    fixed = xl.XTensor([[1, 2], [3, 4]])[:, :]
    with pytest.raises(xl.ShapeError, match="fixed rank"):
        fixed.shape = (4,)
    assert fixed.shape == (2, 2)


class Named(xl.XArray):
    """A container with attributes of its own."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.names: Any = ["x", self]


def test_copies_of_a_derived_class_have_its_attributes() -> None:
    a = Named([1.0, 2.0])
    same, deep, read = copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))
    assert repr(same) == "Named([1., 2.])"
    assert same.names is a.names
    for made in (deep, read):
        assert made.names is not a.names
        assert made.names[1] is made
    for made in (same, deep, read):
        assert type(made) is Named
        assert_same_bits(made, np.asarray(a))
        made[0] = 5
    assert a[0] == 1


class Reflected(xl.XArray):
    """A container that says what it gives on the right of an operator."""

    def __radd__(self, other: object) -> Any:
        return "own"


class Derived(Reflected):
    """Another one, of which the first is a base."""


class OfFixedRank(xl.XTensor):
    """One of fixed rank."""

    __radd__ = Reflected.__radd__


@pytest.mark.parametrize("machine_code", [False, True])
def test_the_reflected_method_of_a_derived_class_is_asked_first(machine_code: bool) -> None:
    if machine_code:
        natives.install()
    row, wanted = xl.asarray([[1.0, 2.0]])[0], np.asarray([2.0, 4.0])
    for left in (row, row + 0, xl.XTensor([1.0, 2.0]), xl.asarray([1.0, 2.0])):
        assert_same_bits(left + row, wanted)  # how to do it is known from now on
        for cls in (Reflected, Derived, OfFixedRank):
            assert left + cls([1.0, 2.0]) == "own"
            assert_same_bits(left * cls([1.0, 2.0]), np.asarray(left) * [1.0, 2.0])
    assert_same_bits(Derived([1.0, 2.0]) + Derived([1.0, 2.0]), wanted)
    assert_same_bits(Derived([1.0, 2.0]) + Reflected([1.0, 2.0]), wanted)
    assert Reflected([1.0]) + Derived([1.0]) == "own"
    natives.remove()


class Sibling(xl.XArray):
    """A class with a reflected method that is no base of the other, nor derived from it."""

    __radd__ = Reflected.__radd__


def test_classes_with_reflected_methods_compare_as_others() -> None:
    for one, two in ((Reflected, Sibling), (Sibling, Reflected)):
        a, b = one([1.0, 2.0]), two([1.0, 3.0])
        for made, wanted in ((a == b, [True, False]), (a < b, [False, True]), (a * b, [1, 6])):
            assert made.tolist() == wanted
        assert a + b == "own"
