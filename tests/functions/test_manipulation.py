"""Manipulation functions, against NumPy, on containers and on lazy expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst

BASE = np.arange(24.0).reshape(2, 3, 4)

CASES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "permute_dims": (lambda x: xl.permute_dims(x, (2, 0, 1)), lambda x: np.transpose(x, (2, 0, 1))),
    "negative axes": (
        lambda x: xl.permute_dims(x, (-1, 0, 1)),
        lambda x: np.transpose(x, (2, 0, 1)),
    ),
    "transpose": (xl.transpose, np.transpose),
    "T": (lambda x: x.T, lambda x: x.T),
    "mT": (lambda x: x.mT, lambda x: np.swapaxes(x, -1, -2)),
    "matrix_transpose": (xl.matrix_transpose, lambda x: np.swapaxes(x, -1, -2)),
    "reshape": (lambda x: xl.reshape(x, (4, -1)), lambda x: np.reshape(x, (4, -1))),
    "flatten": (lambda x: xl.reshape(x, -1), lambda x: np.reshape(x, -1)),
    "insert ones": (
        lambda x: xl.reshape(x, (1, 2, 1, 12, 1)),
        lambda x: np.reshape(x, (1, 2, 1, 12, 1)),
    ),
    "flip": (xl.flip, np.flip),
    "flip one": (lambda x: xl.flip(x, axis=1), lambda x: np.flip(x, 1)),
    "flip two": (lambda x: xl.flip(x, axis=(0, -1)), lambda x: np.flip(x, (0, -1))),
    "expand": (lambda x: xl.expand_dims(x, axis=2), lambda x: np.expand_dims(x, 2)),
    "expand two": (lambda x: xl.expand_dims(x, axis=(0, -1)), lambda x: np.expand_dims(x, (0, -1))),
    "squeeze": (lambda x: xl.squeeze(x[:, :1], 1), lambda x: np.squeeze(x[:, :1], 1)),
    "moveaxis": (lambda x: xl.moveaxis(x, 0, -1), lambda x: np.moveaxis(x, 0, -1)),
    "moveaxis two": (
        lambda x: xl.moveaxis(x, (0, 2), (1, 0)),
        lambda x: np.moveaxis(x, (0, 2), (1, 0)),
    ),
    "broadcast_to": (
        lambda x: xl.broadcast_to(x, (5, 2, 3, 4)),
        lambda x: np.broadcast_to(x, (5, 2, 3, 4)),
    ),
    "concat": (
        lambda x: xl.concat([x, x[:, ::-1], x[:1]]),
        lambda x: np.concatenate([x, x[:, ::-1], x[:1]]),
    ),
    "concat last": (
        lambda x: xl.concat([x, x[..., :2]], axis=-1),
        lambda x: np.concatenate([x, x[..., :2]], -1),
    ),
    "concat flat": (
        lambda x: xl.concat([x, x[0].T], axis=None),
        lambda x: np.concatenate([x, x[0].T], None),
    ),
    "stack": (lambda x: xl.stack([x, x * 2]), lambda x: np.stack([x, x * 2])),
    "stack last": (lambda x: xl.stack([x, x], axis=-1), lambda x: np.stack([x, x], -1)),
    "stack inside": (lambda x: xl.stack([x, x], axis=1), lambda x: np.stack([x, x], 1)),
}

OPERANDS: dict[str, Callable[[], Any]] = {
    "row": lambda: xl.asarray(BASE),
    "column": lambda: xl.XArray(BASE, layout="column_major"),
    "reversed": lambda: xl.asarray(BASE[::-1, :, ::-1].copy())[::-1, :, ::-1],
    "expression": lambda: xl.asarray(BASE * 2) - BASE,
    "numpy expression": lambda: xl.add(BASE, 0),
}


@together("operand", OPERANDS)
@together("name", CASES)
def test_like_numpy(name: str, operand: str) -> None:
    ours, theirs = CASES[name]
    result, expected = ours(OPERANDS[operand]()), theirs(BASE)
    assert (result.shape, result.dtype) == (expected.shape, expected.dtype)
    assert_same_bits(result, expected)
    assert_same_bits(result * 2 + 1, expected * 2 + 1)


VIEWS = [n for n in CASES if not n.startswith(("concat", "stack"))]


@together("name", VIEWS)
def test_views_of_containers_share_their_memory(name: str) -> None:
    a = xl.asarray(BASE)
    with count_allocations() as count:
        view = CASES[name][0](a)
    assert count.allocations == 0
    assert isinstance(view, (xl.XView, xl.XArray))
    a[...] = -1
    assert set(np.asarray(view).ravel().tolist()) == {-1.0}


def test_numpy_arrays_as_operands() -> None:
    assert xl.eval(xl.flip(np.arange(3))).tolist() == [2, 1, 0]
    assert xl.concat([np.arange(2), xl.asarray([5])]).shape == (3,)
    assert type(xl.permute_dims(BASE, (1, 0, 2))) is xl.XExpression


def test_dtypes_of_joined_arrays() -> None:
    a, b = xl.asarray([1, 2], dtype="int8"), xl.asarray([300], dtype="int16")
    assert str(xl.concat([a, b]).dtype) == "int16"
    assert str(xl.concat([a, xl.asarray([1.0], dtype="f4")]).dtype) == "float32"
    assert str(xl.concat([a, xl.asarray([1], dtype="bfloat16")]).dtype) == "bfloat16"
    assert str(xl.stack([a > 0, a]).dtype) == "int8"
    assert xl.eval(xl.concat([a > 1, b])).tolist() == [0, 1, 300]


@st.composite
def joined(draw: st.DrawFn) -> tuple[list[xst.Sample], int]:
    shape = list(draw(xst.shapes(max_dims=3, max_size=800).filter(len)))
    axis = draw(st.integers(0, len(shape) - 1))
    parts = []
    for _ in range(draw(st.integers(1, 4))):
        shape[axis] = draw(st.sampled_from((1, 0, 2, 7)))
        parts.append(draw(xst.samples(tuple(shape), draw(xst.dtypes("biu", narrow=False)))))
    return parts, axis


@given(joined())
@settings(max_examples=30)
def test_concat_of_anything(drawn: tuple[list[xst.Sample], int]) -> None:
    parts, axis = drawn
    result = xl.concat([part.operand for part in parts], axis=axis)
    expected = np.concatenate([part.array for part in parts], axis=axis)
    assert_same_bits(result, expected)
    assert_same_bits(xl.flip(result), np.flip(expected))


@given(st.data())
@settings(max_examples=40)
def test_reshape_of_anything(data: st.DataObject) -> None:
    shape = data.draw(xst.shapes(max_size=2000))
    operand = data.draw(
        xst.samples(shape, np.dtype(data.draw(st.sampled_from(["f8", "u1", "c8"]))))
    )
    size, target = int(np.prod(shape)), []
    while size > 1 and len(target) < 5:
        factor = data.draw(st.sampled_from([k for k in range(2, size + 1) if size % k == 0][:3]))
        target.append(factor)
        size //= factor
    target.insert(data.draw(st.integers(0, len(target))), size)
    target.insert(data.draw(st.integers(0, len(target))), 1)
    result = xl.reshape(operand.operand, target)
    assert_same_bits(result, operand.array.reshape(target))
    assert_same_bits(xl.reshape(result, shape), operand.array)


def test_reshape_copy() -> None:
    a = xl.asarray(BASE)
    assert type(xl.reshape(a, (6, 4), copy=False)) is xl.XView
    copied = xl.reshape(a, (6, 4), copy=True)
    copied[...] = 0
    assert_same_bits(a, BASE)
    assert type(xl.reshape(a, (2, 3, 4))) is xl.XView
    lazy = xl.reshape(a.T, (24,))
    assert type(lazy) is xl.XExpression
    assert_same_bits(lazy, BASE.T.reshape(24))
    with pytest.raises(
        ValueError, match=r"float64\[4, 3, 2\] cannot become \(24,\) without a copy"
    ):
        xl.reshape(a.T, (24,), copy=False)
    for wrong in ((5,), (7, -1), (-1, -1), (-2, -12), (24, 0)):
        with pytest.raises(xl.ShapeError, match="reshape"):
            xl.reshape(a, wrong)


def test_broadcast_arrays_that_have_the_shape_are_written() -> None:
    a, b = xl.zeros(3), xl.zeros((2, 3))
    p, q = xl.broadcast_arrays(a, xl.ones(3))
    p += 1
    xl.broadcast_arrays(a, b)[1][0, 0] = 5
    assert (a.tolist(), q.tolist(), b[0, 0]) == ([1, 1, 1], [1, 1, 1], 5)


def test_broadcast_arrays() -> None:
    first, second, third = xl.broadcast_arrays(xl.ones((3, 1)), np.arange(4), 2.5)
    assert first.shape == second.shape == third.shape == (3, 4)
    assert_same_bits(second, np.broadcast_to(np.arange(4), (3, 4)))
    assert xl.broadcast_arrays(second, subok=True)[0].strides == second.strides == (0, 1)
    assert xl.broadcast_to(second[0], (3, 4), subok=True).strides == (0, 1)
    assert xl.broadcast_shapes((3, 1), (4,), ()) == (3, 4)


def test_squeeze_and_expand_undo_each_other() -> None:
    a = xl.asarray(BASE)
    assert xl.squeeze(xl.expand_dims(a, axis=(0, 2)), (0, 2)).shape == (2, 3, 4)
    assert xl.squeeze(xl.ones((1, 1)), (0, 1)).shape == ()
    assert xl.expand_dims(xl.asarray(1.0)).shape == (1,)


def test_writing_through() -> None:
    a = xl.asarray(BASE)
    xl.flip(a, axis=0)[0] = 0
    xl.moveaxis(a, 2, 0)[0] += 100
    xl.expand_dims(a, axis=0)[0, 0, 0, 1] = -7
    xl.squeeze(a[:, :1], 1)[0, 2] = -8
    expected = BASE.copy()
    expected[1] = 0
    expected[..., 0] += 100
    expected[0, 0, 1] = -7
    expected[0, 0, 2] = -8
    assert_same_bits(a, expected)


def test_joined_arrays_are_copies() -> None:
    part = xl.ones(2)
    joined = xl.concat([part, xl.zeros(1)])
    joined[0] = 5
    assert (joined.tolist(), part.tolist()) == ([5, 1, 0], [1, 1])


NOTHING_TO_DO: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda a: xl.reshape(a, a.shape),
    "reshape -1": lambda a: xl.reshape(a, (-1, *a.shape[1:])),
    "reshape uncopied": lambda a: xl.reshape(a, a.shape, copy=False),
    "broadcast_to": lambda a: xl.broadcast_to(a, a.shape),
    "broadcast_arrays": lambda a: xl.broadcast_arrays(a, a)[0],
    "permute_dims": lambda a: xl.permute_dims(a, range(a.ndim)),
    "transpose": lambda a: xl.transpose(xl.transpose(a)),
    "flip": lambda a: xl.flip(a, axis=()),
    "squeeze": lambda a: xl.squeeze(a, ()),
    "expand_dims": lambda a: xl.expand_dims(a, axis=()),
    "moveaxis": lambda a: xl.moveaxis(a, (), ()),
    "index": lambda a: a[...],
}


@pytest.mark.parametrize("known", range(4), ids=str)
def test_stretched_arrays_are_read_only(known: int) -> None:
    """Whatever calls of the same kind came before, and whatever is done to the view."""
    a = xl.arange(3)
    for _ in range(known):
        xl.broadcast_to(a, (3,)), xl.broadcast_to(a, (2, 3))
    b = xl.broadcast_to(a, (2, 3))
    writes: list[Callable[[], object]] = [
        lambda: xl.broadcast_to(a, (3,)).__setitem__(0, 1),
        lambda: xl.broadcast_arrays(a, b)[0].__setitem__((0, 0), 1),
        lambda: b[0].__setitem__(0, 1),
        lambda: b.T[0].fill(2),
        lambda: b[0].__iadd__(1),
        lambda: xl.noalias(b[0]).assign(a),
        lambda: xl.add(a, 1, out=b[0]),
        lambda: xl.index_view(b, [(0, 0)]).fill(1),
        lambda: np.asarray(b).__setitem__((0, 0), 1),
    ]
    for write in writes:
        with pytest.raises(ValueError, match="read-only"):
            write()
    before, late = b * 1, xl.late(b * 1)
    a[0] = 5
    assert (a.tolist(), b[1].tolist()) == ([5, 1, 2], [5, 1, 2])
    assert (before[0].tolist(), late[0].tolist()) == ([0, 1, 2], [5, 1, 2])
    a += b[0]
    assert a.tolist() == [10, 2, 4]


@together("name", NOTHING_TO_DO)
def test_a_function_with_nothing_to_do_returns_a_view(name: str) -> None:
    """Never the container itself, whose shape methods like ``transpose_`` change."""
    a = xl.XArray([[1, 2, 3], [4, 5, 6]], layout="dynamic")
    view = NOTHING_TO_DO[name](a)
    a.transpose_()
    assert (a.shape, view.shape) == ((3, 2), (2, 3))
    a[1, 0] = 9
    assert view.tolist() == [[1, 9, 3], [4, 5, 6]]
    if view.readonly:  # NumPy's are too
        return
    view[0, 1] = 8
    assert a.tolist() == [[1, 4], [8, 5], [3, 6]]
    e = xl.asarray([1, 2]) + 1
    assert NOTHING_TO_DO["reshape uncopied"](e) is e


def test_size_along_axes() -> None:
    x = np.zeros((2, 3, 4))
    for axis in (None, 0, -1, (0, 2), (1,), ()):
        assert xl.size(xl.asarray(x), axis) == xl.size(x, axis) == np.size(x, axis)
    with pytest.raises(ValueError, match=r"size: axis .* names an axis twice"):
        xl.size(xl.asarray(x), (0, -3))
    with pytest.raises(TypeError, match=r"size: axis must be an integer, got 1.5"):
        xl.size(xl.asarray(x), 1.5)  # type: ignore[arg-type]
