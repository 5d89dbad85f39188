"""What a constructor returns, and what it refuses, without evaluating anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cases import together
from tests.ir.nodes import leaf
from xarraylite._errors import (
    AxisError,
    BroadcastError,
    DTypeError,
    ShapeError,
    XarrayliteError,
)
from xarraylite.dtypes.names import bfloat16, bool_, float16, float32, float64, int8, int64, uint8
from xarraylite.index import transform as steps
from xarraylite.index.transform import Reshape, Transform
from xarraylite.ir import build
from xarraylite.ir.node import Concat, Elementwise, Gather, Iota, Leaf, Node, Reduce, Scalar, View
from xarraylite.layout.strided import Strided
from xarraylite.ops.reductions import ALL, ANY, MAX, MIN, PROD, SUM
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.once

ADD, DIVIDE, WHERE, LESS = OPS["add"], OPS["divide"], OPS["where"], OPS["less"]
BITS = OPS["bitwise_and"]


# --- elementwise ---------------------------------------------------------------------------------


@together(
    ("op", "dtypes", "loops", "result"),
    [
        (ADD, ("int32", "float32"), (float64, float64), float64),
        (ADD, ("int8", "uint8"), ("int16", "int16"), "int16"),
        (ADD, ("bfloat16", "float16"), (float32, float32), float32),
        (DIVIDE, ("int8", "int8"), (float64, float64), float64),
        (LESS, ("float32", "float64"), (float64, float64), bool_),
        (WHERE, ("bool", "int8", "int16"), (bool_, "int16", "int16"), "int16"),
    ],
)
def test_arguments_have_the_loop_dtypes(
    op: Any, dtypes: tuple[str, ...], loops: tuple[object, ...], result: object
) -> None:
    node = build.elementwise(op, *[leaf((3,), dtype) for dtype in dtypes])
    assert tuple(arg.dtype for arg in node.args) == tuple(np.dtype(t) for t in loops)  # type: ignore[call-overload]
    assert node.dtype == np.dtype(result)  # type: ignore[call-overload]


def test_arguments_that_fit_are_not_wrapped() -> None:
    a, b = leaf((3,)), leaf((3,))
    assert build.elementwise(ADD, a, b).operands == (a, b)


def test_only_what_differs_is_cast() -> None:
    a, b = leaf((3,), "int16"), leaf((3,), "float64")
    cast, same = build.elementwise(ADD, a, b).operands
    assert same is b
    assert isinstance(cast, Elementwise)
    assert cast.op is OPS["cast"]
    assert cast.operands == (a,)


@together(
    ("dtype", "value", "expected"),
    [
        ("int8", 1, int8),
        ("int8", 1.0, float64),
        ("float16", 1, float16),
        ("float32", 1e30, float32),
        ("bfloat16", 0.1, bfloat16),
        ("float32", 1j, np.complex64),
        ("bool", 1, int64),
        ("uint8", True, uint8),
    ],
)
def test_python_scalars_are_weak(dtype: str, value: Any, expected: Any) -> None:
    node = build.elementwise(ADD, leaf((2,), dtype), value)
    assert node.dtype == np.dtype(expected)
    scalar = node.operands[1]
    assert isinstance(scalar, Scalar)
    assert scalar.dtype == node.dtype
    assert scalar.weak is None


def test_a_scalar_node_that_is_still_weak_follows_the_array() -> None:
    node = build.elementwise(ADD, leaf((2,), "float32"), build.weak_scalar(2.5, 0))
    assert node.dtype == float32
    assert isinstance(node.operands[1], Scalar)
    assert node.operands[1].parameter == 0
    alone = build.elementwise(ADD, build.weak_scalar(1), build.weak_scalar(2))
    assert alone.dtype == int64


@pytest.mark.parametrize(("dtype", "value"), [("int8", 128), ("uint8", -1), ("int64", 1 << 63)])
def test_python_integers_must_fit(dtype: str, value: int) -> None:
    with pytest.raises(OverflowError):
        build.elementwise(ADD, leaf((2,), dtype), value)


def test_shapes_broadcast() -> None:
    node = build.elementwise(ADD, leaf((3, 1)), leaf((4,)))
    assert node.shape == (3, 4)
    assert build.elementwise(ADD, leaf((3, 1)), 1.0).shape == (3, 1)
    assert build.elementwise(WHERE, leaf((), "bool"), leaf((2, 1)), leaf((5,))).shape == (2, 5)
    assert build.elementwise(ADD, leaf((1,)), leaf((0,))).shape == (0,)


@together(
    ("make", "error", "text"),
    [
        (
            lambda: build.elementwise(ADD, leaf((3,), "int8"), leaf((4,))),
            BroadcastError,
            r"add\(int8\[3\], float64\[4\]\): shapes \(3,\), \(4,\) could not be broadcast",
        ),
        (
            lambda: build.elementwise(WHERE, leaf((2,), "bool"), 1.5, leaf((3,))),
            BroadcastError,
            r"where\(bool\[2\], Python float 1.5, float64\[3\]\): shapes",
        ),
        (
            lambda: build.elementwise(BITS, leaf((2,)), leaf((2,), "int8")),
            DTypeError,
            "bitwise_and",
        ),
        (
            lambda: build.reduce(MIN, leaf((2, 0, 3), "int8"), (1,), False),
            ShapeError,
            r"min\(int8\[2, 0, 3\]\): axis \(1,\) has no elements and min has no identity",
        ),
        (
            lambda: build.concat([leaf((2, 3)), leaf((3, 2), "int8")], 0),
            ShapeError,
            r"concat\(float64\[2, 3\], int8\[3, 2\]\): shapes must agree except along axis 0",
        ),
        (
            lambda: build.concat([leaf((2, 3)), leaf((2,))], 0, "stack"),
            ShapeError,
            r"stack\(float64\[2, 3\], float64\[2\]\): shapes must agree",
        ),
        (
            lambda: build.broadcast_to(leaf((3, 1)), (3,)),
            ShapeError,
            r"float64\[3, 1\] does not stretch to shape",
        ),
        (
            lambda: build.reshape(leaf((2, 3)), (4, -1)),
            ShapeError,
            r"reshape: 6 elements do not fit the shape \(4, -1\)",
        ),
        (
            lambda: build.require_real(leaf((2,), "complex64"), "max"),
            DTypeError,
            r"max\(complex64\[2\]\): complex numbers have no order",
        ),
        (
            lambda: build.require_rank(leaf((2,)), 2, "mT"),
            AxisError,
            r"mT\(float64\[2\]\): rank must be at least 2",
        ),
    ],
)
def test_errors_name_operation_operands_and_rule(
    make: Callable[[], Node], error: type[XarrayliteError], text: str
) -> None:
    with pytest.raises(error, match=text):
        make()


# --- conversions ---------------------------------------------------------------------------------


def test_casting_to_the_same_dtype_is_nothing() -> None:
    a = leaf((3,), "bfloat16")
    assert build.cast(a, bfloat16) is a
    fixed = build.scalar(np.float32(2), float32)
    assert build.convert(fixed, float32) is fixed


def test_scalars_are_converted_once_from_what_was_written() -> None:
    """0.1 by way of float32 would be another number in float64."""
    weak = build.weak_scalar(0.1)
    assert build.convert(weak, float64).value == 0.1  # type: ignore[attr-defined]
    single = build.convert(weak, float32)
    assert single.value == np.float32(0.1)  # type: ignore[attr-defined]
    assert build.scalar(True, int8).value == 1
    assert build.scalar(1.9, int8).value == 1  # as NumPy's astype


def test_scalars_keep_their_place_among_the_arguments() -> None:
    converted = build.convert(build.weak_scalar(3, 4), float32)
    assert isinstance(converted, Scalar)
    assert converted.parameter == 4


def test_describe() -> None:
    assert build.describe(leaf((2, 3), "bfloat16")) == "bfloat16[2, 3]"
    assert build.describe(build.elementwise(ADD, leaf(()), 1)) == "float64[]"
    assert build.describe(2.5) == "Python float 2.5"


# --- views ---------------------------------------------------------------------------------------


def test_views_of_leaves_are_leaves() -> None:
    a = leaf((3, 4))
    turned = build.view(a, steps.permute((3, 4), (1, 0)))
    assert isinstance(turned, Leaf)
    assert turned.snapshot is a.snapshot
    assert turned.map == Strided((4, 3), (1, 4))


def test_views_of_positions_are_positions() -> None:
    node = build.iota(Strided((5,), (2,), 3), int64)
    back = build.view(node, steps.flip((5,), (0,)))
    assert isinstance(back, Iota)
    assert back.map == Strided((5,), (-2,), 11)


def test_views_of_views_are_one_view() -> None:
    e = build.elementwise(ADD, leaf((3, 4)), 1.0)
    node = build.view(e, steps.permute((3, 4), (1, 0)))
    node = build.view(build.view(node, steps.flip((4, 3), (0,))), steps.window((4, 3), 1, 1, 2))
    assert isinstance(node, View)
    assert node.arg is e
    assert node.shape == (4, 2)
    assert isinstance(node.step, Transform)


def test_a_reshape_stops_composition() -> None:
    e = build.elementwise(ADD, leaf((3, 4)), 1.0)
    shaped = build.reshape(e, (2, -1))
    assert isinstance(shaped, View)
    assert shaped.step == Reshape((3, 4), (2, 6))
    node = build.view(shaped, steps.flip((2, 6), (1,)))
    assert isinstance(node, View)
    assert node.arg is shaped


def test_reshapes_that_are_layouts() -> None:
    a = leaf((3, 4))
    assert build.reshape(a, (3, 4)) is a
    flat = build.reshape(a, (-1,))
    assert isinstance(flat, Leaf)
    assert flat.map == Strided((12,), (1,))
    positions = build.reshape(build.iota(Strided.row_major((6,)), int64), (2, 3))
    assert isinstance(positions, Iota)
    turned = build.view(a, steps.permute((3, 4), (1, 0)))
    assert isinstance(build.reshape(turned, (12,)), View)


def test_a_reshape_of_one_element_is_no_reshape() -> None:
    """It only adds and drops extents of 1, so it can never be the reason for a temporary."""
    e = build.elementwise(ADD, leaf((1, 1)), 1.0)
    node = build.reshape(e, (1, 1, 1))
    assert isinstance(node, View)
    assert isinstance(node.step, Transform)
    assert node.shape == (1, 1, 1)


def test_broadcast_to() -> None:
    a = leaf((3, 1))
    assert build.broadcast_to(a, (3, 1)) is a
    wide = build.broadcast_to(a, (2, 3, 4))
    assert isinstance(wide, Leaf)
    assert wide.map.strides == (0, 1, 0)


def test_gather_replaces_a_dimension() -> None:
    a, index = leaf((3, 4, 5)), leaf((2, 7), "int64")
    node = build.gather(a, 1, index)
    assert isinstance(node, Gather)
    assert node.shape == (3, 2, 7, 5)
    assert node.args == (a, index)


# --- joins and reductions ------------------------------------------------------------------------


def test_concat_converts_its_parts() -> None:
    a, b = leaf((2, 3), "int8"), leaf((2, 1), "float16")
    node = build.concat([a, b], 1)
    assert isinstance(node, Concat)
    assert (node.shape, node.dtype) == ((2, 4), float16)
    assert node.parts[1] is b
    assert node.parts[0].dtype == float16
    assert build.concat([a], 0) is a


@pytest.mark.parametrize(
    ("axes", "keepdims", "shape"),
    [
        ((0,), False, (3, 4)),
        ((0, 2), False, (3,)),
        ((0, 2), True, (1, 3, 1)),
        ((0, 1, 2), False, ()),
    ],
)
def test_reduce(axes: tuple[int, ...], keepdims: bool, shape: tuple[int, ...]) -> None:
    node = build.reduce(SUM, leaf((2, 3, 4), "float32"), axes, keepdims)
    assert isinstance(node, Reduce)
    assert (node.shape, node.dtype) == (shape, float32)


def test_reducing_over_nothing_is_nothing() -> None:
    a = leaf((2, 3))
    assert build.reduce(MAX, a, (), False) is a


@together(
    ("op", "value"), [(SUM, 0), (PROD, 1), (ANY, 0), (ALL, 1)], ids=lambda x: getattr(x, "name", "")
)
@together("keepdims", [False, True])
def test_empty_folds_are_the_identity(op: Any, value: int, keepdims: bool) -> None:
    dtype = "bool" if op in (ANY, ALL) else "float32"
    node = build.reduce(op, leaf((2, 0, 3), dtype), (1,), keepdims)
    assert node.shape == ((2, 1, 3) if keepdims else (2, 3))
    assert isinstance(node, View)
    assert isinstance(node.arg, Scalar)
    assert (node.arg.value, node.dtype) == (value, np.dtype(dtype))


def test_an_empty_result_of_a_fold_is_no_empty_fold() -> None:
    """No element is asked for, so even a minimum is fine; NumPy agrees."""
    node = build.reduce(MIN, leaf((0, 3)), (1,), False)
    assert isinstance(node, Reduce)
    assert node.shape == (0,)


def test_scalars_too_large_for_the_dtype_are_infinite_without_a_warning() -> None:
    assert build.scalar(1e300, np.dtype(np.float32)).value == np.inf
