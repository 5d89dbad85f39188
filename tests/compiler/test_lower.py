"""Lowering: views cost nothing, shared work is done once, and what cannot be fused is named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.compiler.test_graph import graph_of, ones, positions
from xarraylite.codegen.emit.body import Apply, Const, Load, Position
from xarraylite.compiler.lower import RECOMPUTE_LIMIT, Lowered, Materialise, Use, lower
from xarraylite.ir.node import Reduce
from xarraylite.layout.strided import Strided


def lowered(
    expression: Any, materialised: dict[int, str] | None = None, own: int | None = None
) -> Lowered:
    graph = graph_of(expression)
    root = len(graph.nodes) - 1
    return lower(graph, root, materialised or {}, root if own is None else own)


def kinds(found: Lowered) -> list[str]:
    return [
        step.op.name if isinstance(step, Apply) else type(step).__name__
        for step in found.body.instructions
    ]


def layouts(found: Lowered) -> list[Strided]:
    return [use.layout for use in found.uses]


def materialised_of(expression: Any) -> tuple[Any, str]:
    graph = graph_of(expression)
    root = len(graph.nodes) - 1
    with pytest.raises(Materialise) as caught:
        lower(graph, root, {}, root)
    return graph.nodes[caught.value.ordinal], caught.value.reason


def test_straight_line_code_in_order_of_arguments() -> None:
    a, b = ones(3), ones(3, dtype="float32")
    found = lowered(xl.sqrt(a) * 2.0 + b)
    assert kinds(found) == ["Load", "sqrt", "Const", "multiply", "Load", "cast", "add"]
    assert found.body.dtype == np.float64
    assert [use.ordinal for use in found.uses] == [0, 4]
    assert found.scalars == [2]


def test_views_move_down_to_the_operands() -> None:
    a, b = ones(4, 6), ones(3, 1)
    e = xl.flip((a[1:, ::2] + b).T, axis=1)[1:]
    found = lowered(e)
    assert found.shape == (2, 3)
    assert kinds(found) == ["Load", "Load", "add"]
    # Offsets count from the leaf's own first element, (1, 0) of a.
    assert layouts(found) == [Strided((2, 3), (2, -6), 14), Strided((2, 3), (0, -1), 2)]


def test_equal_operands_are_one_use() -> None:
    a = ones(4)
    found = lowered(a * a + a)
    assert kinds(found) == ["Load", "multiply", "add"]
    assert len(found.uses) == 1


def test_one_operand_along_two_paths_is_two_uses() -> None:
    a = ones(4)
    found = lowered(a[1:] - a[:-1])
    assert layouts(found) == [Strided((3,), (1,)), Strided((3,), (1,))]
    assert len(found.uses) == 2


def test_a_cheap_expression_is_computed_along_every_path() -> None:
    e = ones(5) * ones(5)
    found = lowered(e[1:] - e[:-1])
    assert kinds(found) == ["Load", "Load", "multiply", "Load", "Load", "multiply", "subtract"]


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("length", [RECOMPUTE_LIMIT, RECOMPUTE_LIMIT + 1])
def test_the_recompute_limit(length: int) -> None:
    e = ones(5)
    for _ in range(length):
        e = e + ones(5)
    difference = e[1:] - e[:-1]
    if length <= RECOMPUTE_LIMIT:
        assert kinds(lowered(difference)).count("add") == 2 * length
    else:
        node, reason = materialised_of(difference)
        assert (node.op.name, node.shape) == ("add", e.shape)
        assert reason == "is needed at several positions and too expensive to compute again"


def test_an_expensive_expression_is_materialised_where_it_is_expensive() -> None:
    expensive = xl.exp(ones(5)) / xl.sin(ones(5))
    node, _ = materialised_of((expensive + 1)[1:] - (expensive + 1)[:-1])
    assert node.op.name in ("add", "divide")
    assert node.shape == (5,)


def test_along_one_path_nothing_is_too_expensive() -> None:
    expensive = xl.exp(xl.sin(xl.tan(ones(5))))
    found = lowered(expensive[1:] * expensive[1:])
    assert kinds(found) == ["Load", "tan", "sin", "exp", "multiply"]


def test_materialised_nodes_are_read_in_row_major_order() -> None:
    a = ones(3, 4)
    e = (a + 1).T * 2
    graph = graph_of(e)
    own = next(k for k, n in enumerate(graph.nodes) if n.shape == (3, 4) and graph.args[k])
    found = lower(graph, len(graph.nodes) - 1, {own: "test"}, -1)
    assert kinds(found) == ["Load", "Const", "multiply"]
    assert found.uses == [Use(own, np.dtype(np.float64), Strided((4, 3), (1, 4)), 64)]


def test_the_own_node_of_a_kernel_is_computed_although_it_is_materialised() -> None:
    e = xl.sin(ones(3))
    graph = graph_of(e)
    root = len(graph.nodes) - 1
    assert kinds(lower(graph, root, {root: "test"}, root)) == ["Load", "sin"]
    assert kinds(lower(graph, root, {root: "test"}, -1)) == ["Load"]


# --- reshapes ------------------------------------------------------------------------------------


def test_reshapes_that_are_layouts_are_fused() -> None:
    found = lowered(xl.reshape(ones(4, 6) + ones(6), (2, 2, 6)) * 2.0)
    assert kinds(found) == ["Load", "Load", "add", "Const", "multiply"]
    assert layouts(found) == [Strided((2, 2, 6), (12, 6, 1)), Strided((2, 2, 6), (0, 0, 1))]


def test_a_reshape_that_needs_a_copy_materialises_what_is_reshaped() -> None:
    e = ones(4, 6).T + 1
    node, reason = materialised_of(xl.reshape(e, (24,)) * 2.0)
    assert (node.op.name, node.shape) == ("add", e.shape)
    assert reason == "is not contiguous in the order of the reshape"


def test_a_reshape_below_a_reshape() -> None:
    inner = xl.reshape(ones(4, 6).T + 1, (8, 3))
    node, _ = materialised_of(xl.reshape(inner.T * 2, (24,)))
    assert node.shape in ((6, 4), (3, 8))


# --- scalars, positions, gathers -----------------------------------------------------------------


def test_scalars_are_values_of_the_run() -> None:
    found = lowered(ones(3) * 2.0 + 3.0)
    assert [s for s in found.body.instructions if isinstance(s, Const)] == [
        Const(0, np.dtype(np.float64)),
        Const(1, np.dtype(np.float64)),
    ]


def test_positions_are_not_memory() -> None:
    found = lowered(positions(5, 3)[1:] + ones(4))
    assert kinds(found) == ["Position", "cast", "Load", "add"]
    assert isinstance(found.body.instructions[0], Position)
    assert found.uses[0].iota
    assert found.uses[0].layout == Strided((4,), (3,), 3)


def test_gathers_load_their_index_first() -> None:
    e = (ones(5, 7, dtype="float32") * 2)[:, xl.asarray([3, 1])]
    found = lowered(e)
    assert kinds(found) == ["Load", "Load", "Const", "multiply"]
    load = found.body.instructions[1]
    assert isinstance(load, Load)
    assert load.gathers == ((0, 0),)
    assert found.gathers == [4]
    assert layouts(found) == [Strided((5, 2), (0, 1)), Strided((5, 2), (7, 0))]


@pytest.mark.usefixtures("gathered")
def test_a_gather_of_a_gather_adds_two_offsets() -> None:
    a, rows, columns = ones(5, 7), xl.asarray([3, 1, 0]), xl.asarray([0, 6])
    found = lowered(a[rows][:, columns])
    load = found.body.instructions[-1]
    assert isinstance(load, Load)
    assert len(load.gathers) == 2
    assert sorted(found.gathers) == [8, 56]
    assert found.uses[-1].layout == Strided((3, 2), (0, 0))


@pytest.mark.usefixtures("gathered")
def test_views_after_a_gather_move_its_index() -> None:
    a, index = ones(5, 7), xl.asarray([3, 1, 0])
    found = lowered(a[index][::-1, 2:])
    assert layouts(found) == [Strided((3, 5), (-1, 0), 2), Strided((3, 5), (0, 1), 2)]


def test_positions_are_not_read_through_an_index() -> None:
    node, reason = materialised_of(positions(5)[xl.asarray([1, 1])])
    assert node.shape == (5,)
    assert reason == "is read through an index"


def test_a_reduction_is_lowered_by_its_argument() -> None:
    graph = graph_of(xl.sum(ones(3, 4) * 2.0, axis=0))
    root = len(graph.nodes) - 1
    assert isinstance(graph.nodes[root], Reduce)
    found = lower(graph, graph.args[root][0], {}, root)
    assert found.shape == (3, 4)
    assert kinds(found) == ["Load", "Const", "multiply"]
