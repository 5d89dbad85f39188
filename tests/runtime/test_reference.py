"""The NumPy interpreter node by node: it is the oracle, so it has to be right on its own."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.index.test_transform import chains, read
from tests.ir.nodes import filled
from tests.layout.test_strided import layouts, positions
from xarraylite._records import record
from xarraylite.compiler.graph import canonical
from xarraylite.dtypes.names import as_dtype
from xarraylite.index.transform import Reshape, Transform
from xarraylite.ir import build
from xarraylite.ir.node import Leaf, Node, View
from xarraylite.layout.strided import Strided
from xarraylite.ops.reductions import MAX, SUM
from xarraylite.ops.table import OPS
from xarraylite.runtime import reference
from xarraylite.testing import assert_same_bits

pytestmark = pytest.mark.once

Array = npt.NDArray[Any]


def compute(node: Node) -> Array:
    return reference.compute(canonical(node, None, True))


def test_elementwise_broadcasts() -> None:
    a, b = np.arange(6.0).reshape(3, 2), np.array([10, 20], np.int8)
    node = build.elementwise(OPS["subtract"], filled(a), filled(b))
    assert_same_bits(compute(node), a - b)


def test_a_constant_of_some_shape() -> None:
    node = build.broadcast_to(build.scalar(2.5, np.dtype("f4")), (2, 3))
    assert_same_bits(compute(node), np.full((2, 3), 2.5, np.float32))


@given(layouts())
def test_positions(layout: Strided) -> None:
    assert_same_bits(compute(build.iota(layout, np.dtype(np.int64))), positions(layout))


def test_positions_of_other_types() -> None:
    layout = Strided((3,), (100,), 50)
    assert_same_bits(compute(build.iota(layout, np.dtype(np.int8))), np.array([50, -106, -6], "i1"))
    assert compute(build.iota(layout, as_dtype("bfloat16"))).tolist() == [50, 150, 250]


@given(chains())
def test_views(problem: tuple[tuple[int, ...], list[Transform]]) -> None:
    shape, chain = problem
    values = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
    node = build.elementwise(OPS["add"], filled(values), 1)
    viewed: Node = node
    expected = values + 1
    for step in chain:
        viewed, expected = build.view(viewed, step), read(expected, step)
    assert np.array_equal(compute(viewed), expected)


def test_reshape_is_row_major() -> None:
    values = np.arange(6).reshape(2, 3).T
    node = build.view(filled(values), Transform((3, 2), ((0, 1, 0), (0, 1, 1))))  # type: ignore[arg-type]
    shaped = View((6,), node.dtype, node, Reshape((3, 2), (6,)))
    assert compute(shaped).tolist() == values.reshape(6).tolist()


def test_gather_concat_and_reduce() -> None:
    values = np.arange(12.0).reshape(3, 4)
    index = filled(np.array([[2, 0]]))
    assert isinstance(index, Leaf)
    assert_same_bits(compute(build.gather(filled(values), 0, index)), values[[[2, 0]]])
    joined = build.concat([filled(values), filled(values[:1].astype("i4"))], 0)
    assert_same_bits(compute(joined), np.concatenate([values, values[:1]]))
    for keepdims in (False, True):
        node = build.reduce(SUM, filled(values), (1,), keepdims)
        assert_same_bits(compute(node), values.sum(axis=1, keepdims=keepdims))


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float8_e5m2"])
def test_narrow_floats_are_computed_in_float32_and_rounded_once(dtype: str) -> None:
    kind = as_dtype(dtype)
    a = np.array([1.0, 1.25, 1.5, 3.0], kind)
    b = np.array([0.125, 0.25, 100.0, -2.0], kind)
    for name in ("add", "multiply", "divide"):
        node = build.elementwise(OPS[name], filled(a), filled(b))
        wide = OPS[name].numpy(a.astype("f4"), b.astype("f4"))
        assert_same_bits(compute(node), wide.astype(kind))


def test_one_rounding_from_float64() -> None:
    """By way of float32 this would round to even first, and then down."""
    value = np.array([1 + 2.0**-8 + 2.0**-40])
    found = compute(build.cast(filled(value), as_dtype("bfloat16")))
    assert found.astype(np.float64).tolist() == [1 + 2.0**-7]
    assert value.astype(ml_dtypes.bfloat16).astype(np.float64).tolist() == [1.0]


def test_reductions_of_narrow_floats_are_wide() -> None:
    ones = np.ones(1000, ml_dtypes.bfloat16)
    total = build.reduce(SUM, build.cast(filled(ones), np.dtype("f4")), (0,), False)
    assert compute(total) == 1000
    assert compute(build.reduce(MAX, filled(ones), (0,), False)).dtype == as_dtype("bfloat16")


def test_narrow_integers_wrap() -> None:
    a = np.array([7, -8, 3], ml_dtypes.int4)
    node = build.elementwise(OPS["add"], filled(a), filled(np.array([1, -1, 1], ml_dtypes.int4)))
    assert compute(node).astype(int).tolist() == [-8, 7, 4]


def test_nothing_warns() -> None:
    values = np.array([0.0, -1.0, np.inf])
    node = build.elementwise(OPS["divide"], filled(values), filled(np.zeros(3)))
    assert np.isnan(compute(node)[0])
    assert np.isnan(compute(build.elementwise(OPS["sqrt"], filled(values)))[1])


def test_operands_are_not_touched() -> None:
    leaf = filled(np.arange(3.0))
    before = leaf.snapshot.run().copy()
    compute(build.elementwise(OPS["negative"], leaf))
    result = compute(leaf)
    result += 1
    assert np.array_equal(leaf.snapshot.run(), before)


def test_a_kind_of_node_without_a_meaning_is_refused() -> None:
    @record(frozen=True, slots=True, eq=False)
    class Strange(Node):
        """Of no use."""

    with pytest.raises(TypeError, match="no reference for Strange"):
        reference.value(Strange((), np.dtype("f8")), [])


@given(st.sampled_from(sorted(OPS)))
def test_every_operation_of_the_table_has_a_reference(name: str) -> None:
    op = OPS[name]
    if not op.example:
        return
    arrays = [np.asarray(part) for part in op.example]
    node = build.elementwise(op, *[filled(a) for a in arrays])
    result = compute(node)
    assert result.dtype == node.dtype
    assert result.shape == node.shape
