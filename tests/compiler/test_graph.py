"""Signatures: equal exactly where the same program serves; distinct nodes computed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite._errors import StaleOperandError, TracedValueError
from xarraylite.arrays.expression import XExpression
from xarraylite.compiler.graph import Graph, canonical
from xarraylite.ir import build
from xarraylite.ir.node import Elementwise, Leaf, Scalar
from xarraylite.layout.strided import Strided
from xarraylite.memory.snapshots import LateSnapshot
from xarraylite.memory.target import Target
from xarraylite.ops.table import OPS
from xarraylite.runtime.evaluate import program_of

Maker = Callable[[], Any]


def graph_of(expression: Any) -> Graph:
    return canonical(expression.node, None, True)


def graph_into(destination: Any, expression: Any, noalias: bool = False) -> tuple[Graph, Target]:
    target = Target(destination.buffer, destination.map, destination.dtype)
    return canonical(expression.node, target, noalias), target


def count(graph: Graph, name: str) -> int:
    return sum(isinstance(n, Elementwise) and n.op is OPS[name] for n in graph.nodes)


def positions(extent: int, stride: int = 1) -> Any:
    """A lazy generator: 0, stride, 2 * stride, …"""
    return XExpression(build.iota(Strided((extent,), (stride,)), np.dtype(np.int64)))


def ones(*shape: int, dtype: str = "float64") -> Any:
    return xl.ones(shape, dtype=dtype)


# --- common subexpressions -----------------------------------------------------------------------


def test_equal_subexpressions_become_one_node() -> None:
    a, b = ones(3), ones(3)
    graph = graph_of((a * b + 1) + (a * b + 1) * (a * b))
    assert count(graph, "multiply") == 2
    assert count(graph, "add") == 2
    assert len(graph.scalars) == 1


def test_a_shared_object_is_one_node() -> None:
    a = ones(3)
    shared = xl.sin(a) + 1
    graph = graph_of(shared * shared + shared)
    assert (count(graph, "sin"), count(graph, "add")) == (1, 2)


def test_order_of_operands_counts() -> None:
    a, b = ones(3), ones(3)
    assert count(graph_of((a - b) * (b - a)), "subtract") == 2


def test_the_same_memory_read_in_the_same_way_is_one_leaf() -> None:
    a = ones(4, 4)
    assert len(graph_of(a + a[:, :]).leaves) == 1
    assert len(graph_of(a + a.T).leaves) == 2
    assert len(graph_of(a[1:] + a[:-1]).leaves) == 2
    assert len(graph_of(a + ones(4, 4)).leaves) == 2


def test_the_same_bytes_as_another_dtype_are_another_leaf() -> None:
    memory = np.ones(4)
    a, b = xl.adapt(memory), xl.adapt(memory.view(np.int64))
    assert len(graph_of(a + b).leaves) == 2


def test_two_borrowers_of_one_array_are_one_leaf() -> None:
    memory = np.ones(4)
    assert len(graph_of(xl.adapt(memory) + xl.adapt(memory)).leaves) == 1


def test_equal_views_and_generators_become_one_node() -> None:
    a = ones(3, 4)
    e = a + 1
    graph = graph_of(e[1:] * e[1:] + positions(4) * positions(4))
    kinds = [type(node).__name__ for node in graph.nodes]
    assert (kinds.count("View"), kinds.count("Iota")) == (1, 1)


@pytest.mark.usefixtures("whole")
def test_a_chain_of_doublings_stays_small() -> None:
    e = ones(3) + 0
    for _ in range(40):
        e = e + e
    graph = graph_of(e)
    assert len(graph.nodes) == 43
    assert float(e[0]) == 2.0**40


def test_nodes_come_after_their_arguments() -> None:
    a = ones(3, 4)
    graph = graph_of(xl.sum(a * 2 + a.T.T, axis=0) + a[0])
    for k, args in enumerate(graph.args):
        assert all(arg < k for arg in args)
        assert [graph.nodes[arg].shape for arg in args] == [n.shape for n in graph.nodes[k].args]


# --- signatures ----------------------------------------------------------------------------------

KINDS: dict[str, Maker] = {
    "sum of squares": lambda: xl.sum((ones(5, 4) * 2 - ones(4)) ** 2, axis=1),
    "views": lambda: xl.flip(ones(5, 4).T[1:], axis=0) + positions(5),
    "joined": lambda: xl.concat([ones(2, 3), ones(1, 3) + 1]) * xl.where(ones(3) > 0, 1.0, 2.0),
    "gather": lambda: ones(5, 4)[:, [1, 1, 0]] + 1,
    "cast": lambda: xl.astype(ones(3, dtype="bfloat16") + 1, "int8"),
    "reshape": lambda: xl.reshape(ones(5, 4).T + 1, (10, 2)),
}


@together("make", KINDS.values(), ids=KINDS.keys())
def test_the_same_kind_has_the_same_signature(make: Maker) -> None:
    one, two = graph_of(make()), graph_of(make())
    assert one.signature == two.signature
    assert hash(one.signature) == hash(two.signature)
    assert one.leaves != two.leaves


DIFFERENT: dict[str, tuple[Maker, Maker]] = {
    "operation": (lambda: ones(3) + ones(3), lambda: ones(3) - ones(3)),
    "dtype": (lambda: ones(3) + 1, lambda: ones(3, dtype="float32") + 1),
    "result dtype": (
        lambda: xl.astype(ones(3), "int8"),
        lambda: xl.astype(ones(3), "int16"),
    ),
    "extent": (lambda: ones(3) + 1, lambda: ones(4) + 1),
    "rank": (lambda: ones(3) + 1, lambda: ones(1, 3) + 1),
    "strides": (lambda: ones(3, 3) + 1, lambda: ones(3, 3).T + 1),
    "direction": (lambda: ones(3) + 1, lambda: ones(3)[::-1] + 1),
    "view of an expression": (lambda: (ones(3) + 1)[1:], lambda: (ones(3) + 1)[:-1]),
    "axis": (lambda: xl.sum(ones(3, 3), axis=0), lambda: xl.sum(ones(3, 3), axis=1)),
    "keepdims": (
        lambda: xl.sum(ones(1, 3), axis=0) + ones(1, 3),
        lambda: xl.sum(ones(1, 3), axis=0, keepdims=True) + ones(1, 3),
    ),
    "reduction": (lambda: xl.max(ones(3)), lambda: xl.min(ones(3))),
    "generator": (lambda: positions(3, 2) + 1, lambda: positions(3, 3) + 1),
    "joined axis": (
        lambda: xl.concat([ones(2, 2), ones(2, 2)], axis=0)[:2],
        lambda: xl.concat([ones(2, 2), ones(2, 2)], axis=1)[:, :2],
    ),
}


@together("pair", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_another_kind_has_another_signature(pair: tuple[Maker, Maker]) -> None:
    assert graph_of(pair[0]()).signature != graph_of(pair[1]()).signature


def test_which_operands_are_the_same_counts() -> None:
    a, b = ones(3), ones(3)
    assert graph_of(a + a).signature != graph_of(a + b).signature
    assert graph_of(a * b + a).signature != graph_of(a * b + b).signature


def test_values_and_addresses_do_not_count() -> None:
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([5.0, 7.0])
    assert graph_of(a * 2 + 1).signature == graph_of(b * 8 + 9).signature
    big = ones(10)
    assert graph_of(big[0:4] + 1).signature == graph_of(big[5:9] + 1).signature


def test_which_scalar_stands_where_counts() -> None:
    two = xl.asarray(2.0) + 0  # an expression of rank 0, not a scalar
    a = ones(3)
    assert graph_of(a + 2.0).signature != graph_of(a + two).signature
    assert graph_of(a * 2.0 + 3.0).signature == graph_of(a * 3.0 + 2.0).signature


# --- destinations --------------------------------------------------------------------------------


def test_the_distance_to_an_overlapping_destination_counts() -> None:
    a = ones(10)
    other = ones(10)
    same, _ = graph_into(a[1:9], a[1:9] + 1)
    up, _ = graph_into(a[2:10], a[1:9] + 1)
    down, _ = graph_into(a[0:8], a[1:9] + 1)
    apart, _ = graph_into(other[1:9], a[1:9] + 1)
    assert len({g.signature for g in (same, up, down, apart)}) == 4
    also_apart, _ = graph_into(other[2:10], a[0:8] + 1)
    assert also_apart.signature == apart.signature
    shifted, _ = graph_into(a[3:9], a[2:8] + 1)
    again, _ = graph_into(a[1:7], a[0:6] + 1)
    assert shifted.signature == again.signature


def test_under_noalias_the_distance_does_not_count() -> None:
    a = ones(10)
    one, _ = graph_into(a[1:9], a[1:9] + 1, noalias=True)
    two, _ = graph_into(a[2:10], a[1:9] + 1, noalias=True)
    checked, _ = graph_into(a[1:9], a[1:9] + 1)
    assert one.signature == two.signature != checked.signature


@pytest.mark.usefixtures("compiled")
def test_one_kind_is_one_program() -> None:
    def program(destination: Any, expression: Any) -> object:
        graph, target = graph_into(destination, expression)
        return program_of(graph, target, False)

    a, b = ones(6, 4), ones(6, 4)
    first = program(ones(6, 4), a * 2 + b)
    assert program(ones(6, 4), b * 5 + a) is first
    assert program(ones(4, 6).T, a * 2 + b) is not first
    assert program(ones(6, 4), a * 2 + a) is not first
    assert program(a, a * 2 + b) is not first
    assert program(ones(6, 4, dtype="float32"), xl.astype(a * 2 + b, "float32")) is not first
    assert program(ones(6, 4), ones(4, 6).T * 2 + b) is not first


# --- refusals and rebinding ----------------------------------------------------------------------


def test_operands_whose_values_are_gone_are_refused() -> None:
    a = ones(3)
    e = a + 1
    leaf = graph_of(e).leaves[0]
    leaf.snapshot.stale = "test"
    with pytest.raises(StaleOperandError, match=r"operand float64\[3\] was overwritten .*\(test\)"):
        graph_of(e)


def test_late_operands_of_retired_memory_are_refused() -> None:
    a = ones(3)
    e = xl.late(a + 1)
    a.buffer.retired = True
    with pytest.raises(StaleOperandError, match="late operand"):
        graph_of(e)


def traced(array: Any) -> Any:
    """What a function that is being traced is given for an array."""
    snapshot = LateSnapshot(array.buffer)
    snapshot.traced = True
    return XExpression(Leaf(array.shape, array.dtype, snapshot, array.map))


def test_traced_arguments_have_no_values() -> None:
    number = XExpression(build.scalar(np.float64(2.5), np.dtype(np.float64), 1))
    array = traced(ones(3))
    for handle in (array, number):
        with pytest.raises(TracedValueError, match="asks its argument"):
            graph_of(handle + 1)
    graph = canonical((array * number).node, None, True, traced=True)
    assert len(graph.leaves) == len(graph.scalars) == 1


def test_arguments_that_are_one_array_while_tracing_stay_two() -> None:
    """The next call may pass two arrays."""
    a = ones(3)
    x, y = traced(a), traced(a)
    assert len(canonical((x - y).node, None, True, traced=True).leaves) == 2
    assert len(canonical((x - x).node, None, True, traced=True).leaves) == 1


def test_a_traced_function_called_first_with_one_array_twice() -> None:
    difference = xl.jit(lambda u, v: u - v)
    a, b = ones(3), ones(3) * 4
    assert difference(a, a).numpy().tolist() == [0.0] * 3
    assert difference(a, xl.eval(b)).numpy().tolist() == [-3.0] * 3
    assert difference.traces == 1


def test_bind_puts_other_operands_in_their_places() -> None:
    a, b = ones(3), ones(3)
    graph = graph_of(a * 2.0 - b)
    others = [xl.zeros(3).node, xl.full(3, 7.0).node]
    scalar = graph.scalars[0]
    fresh = Scalar((), scalar.dtype, np.float64(5))
    bound = graph.bind(others, {id(scalar): fresh})
    assert [n for n in bound.nodes if isinstance(n, Leaf)] == others
    assert [n for n in bound.nodes if isinstance(n, Scalar)] == [fresh]
    assert bound.args == graph.args
    assert bound.signature == graph.signature
    with pytest.raises(ValueError):
        graph.bind(others[:1], {})
