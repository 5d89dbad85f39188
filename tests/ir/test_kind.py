"""Kinds: interned structure, operands in order, and the way back to nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.ir import kind, translation
from xarraylite.ir.kind import NODE
from xarraylite.ir.node import FREE, SHAPE
from xarraylite.ir.translation import MOST, node_of, of, twins
from xarraylite.ir.walk import postorder


def ones(*shape: int) -> Any:
    return xl.ones(shape)


@pytest.mark.once
def test_the_same_structure_is_one_kind_whatever_the_shape() -> None:
    a, b = ones(3), ones(3)
    c, d = ones(7), ones(7)
    assert (a + b * 2)._kind is (c + d * 3.0)._kind
    assert (a + b * 2)._kind is not (a * b + 2)._kind
    assert (a + b * 2)._kind is not (a + xl.ones(3, dtype="float32") * 2)._kind


def test_strides_belong_to_a_kind_where_they_are_not_row_major() -> None:
    a = ones(6, 6)
    assert a[1:4]._kind is a._kind
    assert a[:3, :3]._kind is a[2:, 1:]._kind is not a._kind
    assert a.T._kind is not a._kind
    assert ones(6, 1).T._kind is a._kind, "row-major as well"


def test_operands_stand_in_the_order_of_the_nodes() -> None:
    a, b = ones(3), ones(5)
    e = 2 - a * b[1:4]
    assert [item for item in e._operands if isinstance(item, int | float)] == [2.0, 0, 8]
    assert e._kind.items == len(e._operands) == 5


@together(
    "make",
    [
        lambda a, r: a + 1,
        lambda a, r: -a * 3 + a[:, ::-1],
        lambda a, r: r - a,
        lambda a, r: a / r + r,
        lambda a, r: xl.sum(a * 2),
        lambda a, r: xl.sum(a) * 2 + xl.max(a),
        lambda a, r: xl.sqrt(a) > 0.5,
        lambda a, r: (a + 1)[1:],
        lambda a, r: a + a[:1] * r,
        lambda a, r: a[[1, 0]],
        lambda a, r: xl.concat([a, a]) * 2,
        lambda a, r: xl.sum(a, axis=0) * r + xl.max(a, axis=1, keepdims=True),
        lambda a, r: xl.std(a, axis=1),
    ],
)
def test_there_and_back(make: Any) -> None:
    a, r = xl.asarray(np.arange(6.0).reshape(2, 3)), xl.asarray([1.0, 2.0, 4.0])
    e = make(a, r)
    assert e._kind is not NODE
    found = of(e.node)
    assert found is not None
    assert found[0] is e._kind
    assert found[1] == e._operands
    node = node_of(e._kind, e.shape, e._operands)
    assert (node.shape, node.dtype) == (e.shape, e.dtype)


def _doubled(x: float) -> float:
    """Double by a loop, which may take its time."""
    total = 0.0
    for _ in range(2):
        total += x
    return total


@pytest.mark.parametrize(
    "make",
    [
        lambda a: xl.late(a + 1),
        lambda a: a.to_layout("{1,0:T(2,2)}") + 1,
        xl.vectorize(_doubled),
        lambda a: a.astype("int4") * 1,
    ],
)
def test_what_needs_more_than_a_kind_says_is_a_node(make: Any) -> None:
    assert make(ones(2, 3))._kind is NODE
    assert NODE.table == {}
    assert NODE.writes == {}


@pytest.mark.usefixtures("whole")
def test_long_expressions_are_nodes() -> None:
    e = ones(3)
    for _ in range(2 * MOST):
        e = e + 1
    assert e._kind is NODE
    assert float(xl.eval(e)[0]) == 1 + 2 * MOST


def test_long_expressions_are_not_walked_each_time_they_grow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    visited: list[int] = []

    def counted(root: Any) -> Any:
        nodes = postorder(root)
        visited.append(len(nodes))
        return nodes

    monkeypatch.setattr("xarraylite.ir.translation.postorder", counted)
    e = ones(4)
    for _ in range(300):
        e = xl.concat([e[1:], e[:1]])
    assert max(visited) <= translation.MOST_FORMED
    assert e.tolist() == [1.0] * 4


def test_parts_with_the_same_operands_are_one_node() -> None:
    a, b = ones(3), ones(3)
    shared = xl.sin(a) + 1
    assert len(postorder((shared * shared).node)) == 5
    other = xl.sin(b) + 1
    assert len(postorder((shared * other).node)) == 9


def test_twins_are_parts_that_do_the_same() -> None:
    a, b = ones(3), ones(3)
    (pair,) = twins((xl.sin(a) * xl.sin(b))._kind)
    assert pair[:2] in ((slice(0, 2), slice(2, 4)), (slice(2, 4), slice(0, 2)))
    assert twins((xl.sin(a) * xl.cos(b))._kind) == ()


def test_tables_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "_LIMIT", 4)
    a = ones(40, 40)
    places = len(kind.PLACES[FREE][a.dtype])  # those of other tests
    for n in range(1, 30):
        part = a[: n + 1, :n] if n % 2 else xl.ones((n + 1, 40))[:, :n]
        assert float(xl.sum(part * 2 + n)) == (n + 1) * n * (2 + n)
    assert len(kind._kinds) <= 4
    assert len(kind.PLACES[FREE][a.dtype]) <= max(places, 4 + 8)


def test_no_shape_is_taken_for_one_whose_class_is_known() -> None:
    """Machine code tells shapes by their addresses, and there is one empty tuple."""
    new = kind.Kind(None, (), np.dtype(np.float64), 0, 2, fixed=SHAPE)
    assert new.owner[0] is None
    cls = new.owned(())
    assert new.owner[:2] == ((), cls)
    assert cls is xl.XTensorFixed[xl.float64, ()]


def test_numbers_are_converted_when_they_are_met() -> None:
    small = xl.asarray([1, 2], dtype="int8")
    assert xl.eval(small + 1).dtype == small.dtype
    for number in (300, -129):
        with pytest.raises(OverflowError):
            small + number
    large = 1 << 70
    with pytest.raises(OverflowError):
        small * large
    assert xl.eval(xl.ones(2) * (1 << 60)).tolist() == [float(1 << 60)] * 2
    assert xl.eval(xl.ones(2, dtype="float32") * 1e300).tolist() == [np.inf] * 2
