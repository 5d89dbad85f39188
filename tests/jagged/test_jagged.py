"""`XJagged`: making, converting, indexing, broadcasting, assigning, reducing, printing."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import count_allocations

LISTS = [[1.0, 2.0, 3.0], [], [4.0]]
CUBE = [[[1, 2], [3]], [[], [4, 5, 6]]]


def stack() -> Any:
    """Rows of vectors in space: a jagged mode before a smooth one."""
    return xl.XJagged([np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)])


# --- making -----------------------------------------------------------------------------------


def test_from_nested_lists() -> None:
    a = xl.XJagged(LISTS)
    assert (a.shape, a.ndim, a.size, a.nbytes, str(a.dtype)) == ((3, None), 2, 4, 32, "float64")
    assert a.jagged_shape == xl.JaggedShape.from_lengths([3, 0, 1])
    assert a.offsets.tolist() == [0, 3, 3, 4]
    assert a.to_list() == a.tolist() == LISTS
    assert len(a) == 3
    deep = xl.XJagged(CUBE, dtype="int16")
    assert deep.to_list() == CUBE
    assert deep.shape == (2, 2, None)
    assert deep.dtype == np.int16


@together("values", [[], [[]], [[], []], [[[]], []], [1, 2], [[1]], [[[1]], [[]]]])
def test_lists_come_back(values: list[Any]) -> None:
    assert xl.XJagged(values).to_list() == values


def test_from_flat_values_and_a_shape() -> None:
    shape = xl.JaggedShape.from_lengths([1, 3])
    values = np.arange(4)
    a = xl.XJagged(values, shape)
    values[0] = 9
    assert a.to_list() == [[0], [1, 2, 3]]
    assert xl.XJagged(xl.asarray(values) * 2, shape, dtype="float32").to_list() == [[18], [2, 4, 6]]
    tiles = xl.TiledShape([[1, 2], [2]])
    assert xl.XJagged(range(6), tiles).to_list() == [[[[0, 1]]], [[[2, 3], [4, 5]]]]
    assert xl.XJagged(range(6), xl.Shape(2, 3)).to_list() == [[0, 1, 2], [3, 4, 5]]


def test_flat_memory_is_shared() -> None:
    flat = xl.asarray([1, 2, 3])
    a = xl.XJagged.from_flat(flat, xl.JaggedShape.from_lengths([1, 2]))
    a[1] = 7
    assert flat.tolist() == [1, 7, 7]
    a.flat[0] = 5
    assert a.to_list() == [[5], [7, 7]]
    with pytest.raises(xl.ShapeError, match="not contiguous"):
        xl.XJagged.from_flat(xl.asarray([1, 2, 3, 4])[::2], xl.JaggedShape.from_lengths([1, 1]))
    with pytest.raises(xl.ShapeError, match="3 elements"):
        xl.XJagged.from_flat(xl.asarray([1, 2]), xl.JaggedShape.from_lengths([1, 2]))


@pytest.mark.parametrize(
    ("values", "shape", "message"),
    [
        ([[1], 2], None, "side by side"),
        ([[1], [[2]]], None, "side by side"),
        ([np.ones(2), 1], None, "side by side"),
        ([np.ones(2), np.ones((2, 2))], None, "ranks"),
        (3, None, "nested lists"),
        ([1, 2], xl.JaggedShape.from_lengths([1]), "1 elements"),
        ([[1, 2]], xl.JaggedShape.from_lengths([2]), "one after the other"),
        ([1], xl.Shape(), "rank 1 or more"),
        ([1], (1,), "a JaggedShape is needed"),
        ([1, 2], xl.Nested([1, 1], (1, 2)), "layers"),
        ([1], xl.JaggedShape.null(), "null"),
    ],
)
def test_bad_values(values: Any, shape: Any, message: str) -> None:
    with count_allocations() as counted, pytest.raises(ValueError, match=message):
        xl.XJagged(values, shape)
    assert counted.bytes <= 64  # the values themselves


def test_of_a_jagged_array() -> None:
    a = xl.XJagged(LISTS)
    b = xl.XJagged(a * 2, dtype="float32")
    assert b.to_list() == [[2, 4, 6], [], [8]]
    assert b.dtype == np.float32
    with pytest.raises(xl.ShapeError, match="shape already"):
        xl.XJagged(a, xl.JaggedShape.from_lengths([4]))


# --- converting -------------------------------------------------------------------------------


def test_padding() -> None:
    a = xl.XJagged(LISTS)
    assert a.to_padded(-1).tolist() == [[1, 2, 3], [-1] * 3, [4, -1, -1]]
    assert (a + 1).to_padded().tolist() == [[2, 3, 4], [0] * 3, [5, 0, 0]]
    assert xl.XJagged.from_padded(a.to_padded(), [3, 0, 1]).to_list() == LISTS
    cube = xl.XJagged(CUBE)
    assert cube.to_padded(9).tolist() == [
        [[1, 2, 9], [3, 9, 9]],
        [[9, 9, 9], [4, 5, 6]],
    ]
    back = xl.XJagged.from_padded(cube.to_padded(), cube.jagged_shape)
    assert back.to_list() == CUBE
    space = stack()
    assert space.to_padded().shape == (2, 3, 3)
    assert xl.XJagged.from_padded(space.to_padded(), [2, 3]).to_list() == space.to_list()
    assert xl.XJagged.from_padded([[1, 2], [3, 4]], [1, 2], dtype="int8").dtype == np.int8


def test_padding_that_does_not_fit() -> None:
    with pytest.raises(xl.ShapeError, match="does not fit"):
        xl.XJagged.from_padded(xl.zeros((2, 2)), [1, 3])
    with pytest.raises(xl.ShapeError, match="does not fit"):
        xl.XJagged.from_padded(xl.zeros((2, 2)), [1, 1, 1])
    with pytest.raises(xl.ShapeError, match="rank"):
        xl.XJagged.from_padded(xl.zeros((2, 2)), xl.JaggedShape(xl.Shape(2)))
    with pytest.raises(xl.SizeError), xl.config(max_result_bytes=1000):
        xl.XJagged([[1] * 100, [1], [2]]).to_padded()


def test_narrow_dtypes() -> None:
    a = xl.XJagged([[1.5], [2.25, 3.0]], dtype="bfloat16")
    assert a.dtype == ml_dtypes.bfloat16
    assert a.to_padded(fill=0.5).dtype == a.dtype
    assert xl.sum(a * 2, axis=1).tolist() == [3.0, 10.5]
    assert str(xl.sum(a, axis=1).dtype) == "bfloat16"


def test_awkward() -> None:
    ak = pytest.importorskip("awkward")
    for values in (LISTS, CUBE, [[], []]):
        a = xl.XJagged(values)
        assert ak.to_list(a.to_awkward()) == values
        assert xl.XJagged.from_awkward(a.to_awkward()).to_list() == values
    array = ak.Array([[[1, 2], [3, 4]], [], [[5, 6]]])
    regular = ak.to_regular(array, axis=2)
    assert xl.XJagged.from_awkward(regular).to_list() == ak.to_list(array)
    assert xl.XJagged.from_awkward(array[[2, 0]]).to_list() == ak.to_list(array[[2, 0]])
    for bad in ([["a"]], [[None, 1]], [{"x": 1}]):
        with pytest.raises(xl.ShapeError, match="numbers"):
            xl.XJagged.from_awkward(ak.Array(bad))
    assert ak.to_list(stack().to_awkward()) == stack().to_list()


def test_pickle_and_copy() -> None:
    for values in (LISTS, CUBE):
        a = xl.XJagged(values)
        for b in (pickle.loads(pickle.dumps(a)), copy.copy(a), copy.deepcopy(a), a.copy()):
            assert b.to_list() == values
            assert b.jagged_shape == a.jagged_shape
            b[0] = 9
            assert a.to_list() == values
    b = pickle.loads(pickle.dumps(xl.XJagged(LISTS) + 1))
    assert isinstance(b, xl.XJagged)
    assert b.to_list() == (xl.XJagged(LISTS) + 1).to_list()


def test_repr() -> None:
    a = xl.XJagged(LISTS)
    assert repr(a) == "XJagged([[1., 2., 3.], [], [4.]])"
    assert repr(a.astype("float32") * 2) == "<XJaggedExpression float32[3, None], lazy>"
    assert repr(xl.XJagged([[], []])) == "XJagged([[], []], dtype=float64)"
    many = xl.XJagged(np.arange(100), xl.JaggedShape.from_lengths([10] * 10))
    assert repr(many).count("...") == 1
    assert len(repr(xl.XJagged([list(range(1000)), [1]]))) < 80


# --- parts ------------------------------------------------------------------------------------


def test_chips_are_views() -> None:
    a = xl.XJagged(LISTS)
    row = a[0]
    assert isinstance(row, xl.XView)
    row[1] = 20
    assert a.to_list() == [[1, 20, 3], [], [4]]
    assert a[-1].tolist() == [4]
    assert float(a[0, 2]) == 3
    assert a[0, 1:].tolist() == [20, 3]
    assert [list(map(float, x)) for x in a] == a.to_list()
    cube = xl.XJagged(CUBE)
    assert isinstance(cube[1], xl.XJagged)
    cube[1][1][0] = 40
    cube[0, 1, 0] = 30
    assert cube.to_list() == [[[1, 2], [30]], [[], [40, 5, 6]]]
    assert stack()[1].shape == (3, 3)
    assert stack()[1, :, 0].tolist() == [0, 3, 6]


def test_slices_are_views() -> None:
    a = xl.XJagged(LISTS)
    part = a[1:]
    assert isinstance(part, xl.XJagged)
    part[1] = 40
    part += 1
    assert a.to_list() == [[1, 2, 3], [], [41]]
    assert a[5:].to_list() == []
    assert a[2:1].to_list() == []
    assert a[...].to_list() == a[:].to_list() == a.to_list()
    assert xl.XJagged(CUBE)[1:].to_list() == CUBE[1:]
    assert part.jagged_shape.origin == (1, 0)


def test_parts_of_expressions_are_lazy() -> None:
    e = xl.XJagged(LISTS) * 2
    assert e[0].tolist() == [2, 4, 6]
    assert type(e[0]) is xl.XExpression
    assert e[1:].to_list() == [[], [8]]
    assert (xl.XJagged(CUBE) + 1)[1].to_list() == [[], [5, 6, 7]]


def test_bad_indices() -> None:
    a = xl.XJagged(LISTS)
    for key in (3, -4, 1.0, slice(None, None, 2), (slice(None), 0), None, [0, 1]):
        with pytest.raises(xl.IndexRangeError):
            a[key]
    with pytest.raises(xl.IndexRangeError):
        a[1, 0]


def test_boxes() -> None:
    a = xl.XJagged([[1, 2, 3], [4, 5], [6, 7, 8]])
    assert a.slice(1).to_list() == [[4, 5]]
    assert a.slice((0, 1), (3, 2)).to_list() == [[2], [5], [7]]
    assert a.chip((0, 1), (3, 2)).tolist() == [2, 5, 7]
    assert a.chip(2).tolist() == [6, 7, 8]
    assert int(a.chip(2, 1)) == 7
    a.slice(1)[...] = 0
    assert a.to_list() == [[1, 2, 3], [0, 0], [6, 7, 8]]
    cube = xl.XJagged([[[1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10]]])
    assert cube.slice((0, 0, 1), (2, 2, 2)).to_list() == [[[2], [4]], [[7], [10]]]
    assert cube.chip(1).to_list() == [[6, 7, 8], [9, 10]]
    assert cube.chip(1, 0).tolist() == [6, 7, 8]
    assert cube.chip((0, 1, 0), (2, 2, 2)).to_list() == [[3, 4], [9, 10]]
    assert stack().slice((0, 1, 1), (2, 2, 3)).to_list() == [[[4, 5]], [[4, 5]]]
    with pytest.raises(xl.BoundsError):
        a.slice((0, 0), (3, 3))
    with pytest.raises(xl.ShapeError):
        a.chip(3)


# --- expressions ------------------------------------------------------------------------------


def test_elementwise() -> None:
    a, b = xl.XJagged(LISTS), xl.XJagged([[10, 20, 30], [], [40]])
    assert (a + b).to_list() == [[11, 22, 33], [], [44]]
    assert (2 - a * 2).to_list() == [[0, -2, -4], [], [-6]]
    assert xl.sqrt(a * a).to_list() == LISTS
    assert xl.where(a > 2, a, -1).to_list() == [[-1, -1, 3], [], [4]]
    assert (-a < 0).dtype == np.bool_
    assert xl.astype(a, "int8").to_list() == [[1, 2, 3], [], [4]]
    assert (a == a).to_list() == [[True] * 3, [], [True]]
    assert np.add(np.float64(1), a).to_list() == [[2, 3, 4], [], [5]]
    assert [e.to_list() for e in divmod(b, 7)] == [[[1, 2, 4], [], [5]], [[3, 6, 2], [], [5]]]
    assert divmod(70, b)[0].to_list() == [[7, 3, 2], [], [1]]
    assert round(a / 4).to_list() == [[0, 0, 1], [], [1]]
    assert type(a + b) is not xl.XJagged
    assert type(xl.eval(a + b)) is xl.XJagged
    assert xl.eval(a) is a


@pytest.mark.once
def test_an_expression_is_one_kernel() -> None:
    a = xl.XJagged(LISTS)
    with xl.config(engine="compiled"):
        plan = xl.explain(xl.sum(xl.exp(a * 2 + 1), axis=1))
        assert (plan.kernels, plan.temporaries) == (1, ())
        assert xl.explain((a * 2 + a).flat).kernels == 1


@pytest.mark.parametrize(
    "shape", [(), (1,), (1, 1), (3, 1)], ids=["scalar", "one", "ones", "per row"]
)
def test_dense_operands(shape: tuple[int, ...]) -> None:
    a = xl.XJagged(LISTS)
    dense = np.arange(1, 1 + np.prod(shape, dtype=int)).reshape(shape)
    full = np.broadcast_to(dense, (3, 3))
    want = [[x * full[i, j] for j, x in enumerate(row)] for i, row in enumerate(LISTS)]
    for operand in (dense, xl.asarray(dense), xl.asarray(dense) + 0):
        assert (a * operand).to_list() == want
        assert (operand * a).to_list() == want


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1, 1), (2, 1, 3), (1, 1, 1)])
def test_dense_operands_along_smooth_modes(shape: tuple[int, ...]) -> None:
    a = stack()
    dense = np.arange(float(np.prod(shape))).reshape(shape)
    full = np.broadcast_to(dense, (2, 1, 3))
    want = [(np.asarray(row) - full[i]).tolist() for i, row in enumerate(a.to_list())]
    assert (a - dense).to_list() == want


def test_dense_operands_along_several_outer_modes() -> None:
    a = xl.XJagged(CUBE)
    per_slice = np.array([[[10], [20]], [[30], [40]]])
    assert (a + per_slice).to_list() == [[[11, 12], [23]], [[], [44, 45, 46]]]
    assert (a + per_slice[:, :1]).to_list() == [[[11, 12], [13]], [[], [34, 35, 36]]]
    assert (a + per_slice[0]).to_list() == [[[11, 12], [23]], [[], [24, 25, 26]]]


@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 1), (1, 1, 1), (3, 1, 1)])
def test_dense_operands_that_do_not_stretch(shape: tuple[int, ...]) -> None:
    with pytest.raises(xl.BroadcastError, match="add"):
        xl.XJagged(LISTS) + np.ones(shape)


def test_jagged_operands_must_agree() -> None:
    a = xl.XJagged(LISTS)
    for other in ([[1, 2], [3], [4]], [[1, 2, 3], [4]], [[[1, 2, 3]], [], [[4]]]):
        with pytest.raises(xl.BroadcastError, match="jagged"):
            a + xl.XJagged(other)
    with pytest.raises(TypeError, match="truth"):
        bool(a == a)
    with pytest.raises(xl.ShapeError, match="rectangular"):
        np.asarray(a)
    with pytest.raises(TypeError):
        a + "x"


def test_trailing_modes_of_extent_1_stretch() -> None:
    cube = xl.XJagged(CUBE)
    rows = xl.sum(cube, axis=2, keepdims=True)
    assert rows.shape == (2, 2, 1)
    assert (cube - rows).to_list() == [[[-2, -1], [0]], [[], [-11, -10, -9]]]
    ragged = xl.XJagged([[[1, 2], [3]], [[4, 5, 6]]])
    means = xl.mean(ragged, axis=2, keepdims=True)
    assert (ragged - means).to_list() == [[[-0.5, 0.5], [0]], [[-1, 0, 1]]]
    space = stack()
    assert (space - xl.mean(space, axis=2, keepdims=True))[0].tolist() == [[-1, 0, 1]] * 2


def test_an_expression_keeps_its_values() -> None:
    a = xl.XJagged(LISTS)
    e = a + 1
    a[0] = 0
    assert e.to_list() == [[2, 3, 4], [], [5]]
    s = xl.sum(a, axis=1)
    a += 1
    assert s.tolist() == [0, 0, 4]


# --- assigning --------------------------------------------------------------------------------


def test_assignment() -> None:
    a = xl.XJagged(LISTS)
    a[...] = a * 2
    assert a.to_list() == [[2, 4, 6], [], [8]]
    a += np.array([[1], [2], [3]])
    assert a.to_list() == [[3, 5, 7], [], [11]]
    a[0:1] = [[1, 2, 3]]
    a[2] = [9]
    assert a.to_list() == [[1, 2, 3], [], [9]]
    a[1:] = 5
    a[0, 0] -= 1
    assert a.to_list() == [[0, 2, 3], [], [5]]
    a.fill(1)
    a[0] *= 3
    assert a.to_list() == [[3, 3, 3], [], [1]]


def test_assigning_in_place_allocates_nothing() -> None:
    a = xl.XJagged(np.ones(100_000), xl.JaggedShape.from_lengths([10] * 9_999 + [10]))
    with xl.config(engine="compiled"):
        a[...] = a * 2 + 1
        a += 1
        with count_allocations() as counted:
            a[...] = a * 2 + 1
            a += 1
    assert counted.bytes == 0
    assert float(a.flat[0]) == 10


def test_refused_assignments() -> None:
    a = xl.XJagged(LISTS)
    with pytest.raises(xl.BroadcastError):
        a[...] = xl.XJagged([[1, 2], [2], [3]])
    with pytest.raises(xl.BroadcastError):
        a[0] = [1, 2]
    with pytest.raises(xl.BroadcastError):
        a += xl.XJagged([[[1]]])
    b = xl.XJagged([[1]])
    with pytest.raises(xl.CastError):
        b += 0.5
    frozen = np.arange(3)
    frozen.flags.writeable = False
    c = xl.XJagged.from_flat(xl.adapt(frozen), xl.JaggedShape.from_lengths([1, 2]))
    assert c.readonly
    with pytest.raises(xl.ReadOnlyError):
        c[0] = 1
    assert a.to_list() == LISTS


# --- reducing ---------------------------------------------------------------------------------


def test_reducing_the_jagged_mode() -> None:
    a = xl.XJagged([[1.0, 2.0, 0.0], [], [3.0]])
    assert xl.sum(a, axis=1).tolist() == [3, 0, 3]
    assert xl.sum(a, axis=-1, initial=1).tolist() == [4, 1, 4]
    assert xl.prod(a, axis=1).tolist() == [0, 1, 3]
    assert xl.any(a, axis=1).tolist() == [True, False, True]
    assert xl.all(a, axis=1).tolist() == [False, True, True]
    assert xl.count_nonzero(a, axis=1).tolist() == [2, 0, 1]
    assert xl.max(a, axis=1, initial=-5).tolist() == [2, -5, 3]
    assert xl.min(a, axis=1, initial=5).tolist() == [0, 5, 3]
    means = xl.mean(a, axis=1).tolist()
    assert means[::2] == [1, 3]
    assert np.isnan(means[1])
    full = xl.XJagged([[1, 7, 0], [3], [5, 5]])
    assert xl.argmax(full, axis=1).tolist() == [1, 0, 0]
    assert xl.argmin(full, axis=1).tolist() == [2, 0, 0]
    assert xl.std(full, axis=1).tolist() == pytest.approx([np.std([1, 7, 0]), 0, 0])
    assert xl.var(full, axis=1, correction=1).tolist()[0] == pytest.approx(43 / 3)
    assert xl.sum(full, axis=1, keepdims=True).tolist() == [[8], [3], [10]]
    assert xl.sum(full.astype("int8"), axis=1).dtype == np.int64


def test_reducing_everything() -> None:
    a = xl.XJagged([[1.0, 2.0, 0.0], [], [3.0]])
    assert float(xl.sum(a)) == 6
    assert float(xl.max(a)) == 3
    assert float(xl.mean(a)) == 1.5
    assert int(xl.argmax(a)) == 3
    assert bool(xl.any(a)) is True
    assert xl.sum(a, keepdims=True).shape == (1, 1)
    assert float(xl.std(a)) == pytest.approx(np.std([1, 2, 0, 3]))
    assert float(xl.sum(xl.XJagged([[], []]))) == 0


def test_reducing_modes_of_higher_ranks() -> None:
    space = stack()
    a, b = np.arange(6.0).reshape(2, 3), np.arange(9.0).reshape(3, 3)
    assert xl.sum(space, axis=1).tolist() == [a.sum(0).tolist(), b.sum(0).tolist()]
    assert xl.sum(space, axis=2).to_list() == [a.sum(1).tolist(), b.sum(1).tolist()]
    assert xl.sum(space, axis=(1, 2)).tolist() == [15, 36]
    assert xl.max(space, axis=(0, 1)).tolist() == [6, 7, 8]
    assert xl.mean(space, axis=(1, 2), keepdims=True).tolist() == [[[2.5]], [[4.0]]]
    assert xl.argmax(space, axis=1).tolist() == [[1] * 3, [2] * 3]
    assert xl.argmin(space, axis=2).to_list() == [[0] * 2, [0] * 3]
    cube = xl.XJagged(CUBE)
    assert xl.sum(cube, axis=2).to_list() == [[3, 3], [0, 15]]
    assert xl.sum(cube, axis=(1, 2)).tolist() == [6, 15]
    assert xl.count_nonzero(cube, axis=2, keepdims=True).to_list() == [[[2], [1]], [[0], [3]]]


def test_results_do_not_depend_on_lengths_that_agree_by_chance() -> None:
    even, uneven = xl.XJagged([[1, 2], [3, 4]]), xl.XJagged([[1, 2], [3]])
    assert type(xl.sum(even, axis=1)) is type(xl.sum(uneven, axis=1)) is xl.XExpression
    assert type(even[0]) is type(uneven[0]) is xl.XView
    deep, deeper = xl.XJagged([[[1, 2]], [[3, 4]]]), xl.XJagged([[[1, 2]], [[3], [4]]])
    assert type(xl.sum(deep, axis=2)) is type(xl.sum(deeper, axis=2))
    assert type(deep[0]) is type(deeper[0]) is xl.XJagged


def test_refused_reductions() -> None:
    a = xl.XJagged([[1.0], [], [3.0]])
    for axis in (0, (0,)):
        with pytest.raises(xl.ShapeError, match="mode 1 is jagged"):
            xl.sum(a, axis=axis)
    with pytest.raises(xl.ShapeError, match=r"slice 1 .*initial="):
        xl.max(a, axis=1)
    with pytest.raises(xl.ShapeError):
        xl.argmax(a, axis=1)
    with pytest.raises(xl.AxisError):
        xl.sum(a, axis=2)
    with pytest.raises(xl.AxisError):
        xl.argmax(a, axis=(1,))
    with pytest.raises(xl.ShapeError):
        xl.sum(xl.XJagged(CUBE), axis=1)


def test_complex_rows_compare_by_their_real_parts() -> None:
    a = xl.XJagged([[1j, 2, 2 - 1j], [3j]])
    assert xl.eval(xl.max(a, axis=1)).tolist() == [2, 3j]
    assert xl.eval(xl.argmin(a, axis=1)).tolist() == [0, 0]


@pytest.mark.parametrize("wrong", [np.zeros(3), [1, 2, 3], None])
def test_memory_is_shared_with_containers_only(wrong: Any) -> None:
    with pytest.raises(TypeError, match="from_flat: a container is needed, got"):
        xl.XJagged.from_flat(wrong, xl.JaggedShape.from_lengths([1, 2]))
