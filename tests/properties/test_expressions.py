"""Random expressions over random operands: NumPy's dtype, and its bits where they are decided.

Every kernel that an example needs is compiled, so the trees come in two kinds: free ones, which
look for surprises, and a few skeletons that meet many dtypes, layouts and shapes.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle, trees
from xarraylite._config import settings as configured
from xarraylite.arrays.expression import apply
from xarraylite.dtypes.names import as_dtype
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits, assert_ulp
from xarraylite.testing import strategies as xst

pytestmark = pytest.mark.once


def check(tree: trees.Tree, operands: list[xst.Sample]) -> None:
    """Evaluate a tree by the engine under test and by the reference; compare both with NumPy."""
    expected = np.asarray(tree.value)
    expression = tree.xl([operand.operand for operand in operands])
    assert expression.shape == expected.shape, tree
    assert expression.dtype == expected.dtype, tree
    for name in (configured.engine, "reference"):
        with xl.config(engine=name):
            actual = np.array(xl.eval(expression))
        if tree.max_ulp:
            assert_ulp(actual, expected, tree.max_ulp)
        else:
            assert_same_bits(actual, expected)
    assert all(operand.unchanged() for operand in operands), "an operand was changed"


@st.composite
def problems(draw: st.DrawFn, inexact: bool = False) -> tuple[trees.Tree, list[xst.Sample]]:
    """Draw up to three operands that broadcast, and a tree over them."""
    count = draw(st.integers(1, 3))
    found = draw(xst.broadcastable_shapes(count))
    family = draw(st.sampled_from(("biuf", "biu", "f", "f", "fc")))
    operands = [draw(xst.samples(shape, draw(xst.dtypes(family)))) for shape in found]
    return draw(trees.trees(operands, inexact=inexact)), operands


@given(problems())
@settings(max_examples=80)
def test_exact_trees(problem: tuple[trees.Tree, list[xst.Sample]]) -> None:
    check(*problem)


@given(problems(inexact=True))
@settings(max_examples=40)
def test_trees_that_end_in_an_elementary_function(
    problem: tuple[trees.Tree, list[xst.Sample]],
) -> None:
    check(*problem)


# --- a few skeletons, many operands --------------------------------------------------------------

Skeleton = Callable[..., Any]


def saxpy(x: trees.Tree, y: trees.Tree, z: trees.Tree) -> trees.Tree:
    return trees.call("add", x, trees.call("multiply", y, z))


def select(x: trees.Tree, y: trees.Tree, z: trees.Tree) -> trees.Tree:
    return trees.call("where", trees.call("less", x, y), z, trees.call("maximum", x, y))


def count(x: trees.Tree, y: trees.Tree, z: trees.Tree) -> trees.Tree:
    hits = trees.call("logical_or", trees.call("equal", x, y), trees.call("greater", z, y))
    return trees.join("sum(...)", xl.sum, lambda v: oracle.reduce("sum", v, None, False), hits)


def scale(x: trees.Tree, y: trees.Tree, z: trees.Tree) -> trees.Tree:
    return trees.call("add", trees.call("multiply", x, trees.constant(3)), trees.constant(True))


SKELETONS: dict[str, Skeleton] = {"saxpy": saxpy, "select": select, "count": count, "scale": scale}

FAMILIES = {
    "f8": ("f8", "f8", "f8"),
    "f4": ("f4", "f4", "f4"),
    "bf16": ("bfloat16", "bfloat16", "bfloat16"),
    "f2": ("f2", "f2", "f2"),
    "e4m3": ("float8_e4m3fn", "float8_e4m3fn", "float8_e4m3fn"),
    "i1": ("i1", "i1", "i1"),
    "u8": ("u8", "u8", "u8"),
    "mixed": ("f4", "i2", "u1"),
    "signs": ("i8", "u8", "i4"),
    "narrow": ("bfloat16", "int4", "f2"),
    "bool": ("?", "?", "u1"),
}


@pytest.mark.parametrize("family", FAMILIES)
@together("skeleton", SKELETONS)
def test_skeletons_over_layouts(skeleton: str, family: str) -> None:
    """Layouts for each operand in turn, shapes from rank 0 on, extents of 0 and 1.

    A quarter of the layouts are taken: each meets each family in one of the skeletons.
    """
    rng = random.Random(f"{skeleton} {family}")
    dtypes = [as_dtype(name) for name in FAMILIES[family]]
    shapes = [
        ((5, 70), (5, 70), (5, 70)),
        ((3, 1, 4), (2, 1), (4,)),
        ((), (0, 3), (1,)),
        ((), (), ()),
    ]
    turn = list(SKELETONS).index(skeleton) + list(FAMILIES).index(family)
    for number, layout in list(enumerate(xst.LAYOUTS))[turn % 4 :: 4]:
        for chosen in (shapes[0], rng.choice(shapes[1:])):
            operands = [
                xst.sample(
                    layout if k == number % 3 else "row", xst.fill(dtype, shape, number), number
                )
                for k, (dtype, shape) in enumerate(zip(dtypes, chosen, strict=True))
            ]
            leaves = [trees.leaf(k, operand.array) for k, operand in enumerate(operands)]
            check(SKELETONS[skeleton](*leaves), operands)


@together("layout", xst.LAYOUTS)
@together("other", ["row", "column", "reversed", "broadcast"])
def test_pairs_of_layouts(layout: str, other: str) -> None:
    values, seconds = (
        xst.fill(np.dtype("f8"), (4, 3, 33), 1),
        xst.fill(np.dtype("f4"), (4, 3, 33), 2),
    )
    operands = [xst.sample(layout, values, 3), xst.sample(other, seconds, 4)]
    leaves = [trees.leaf(k, operand.array) for k, operand in enumerate(operands)]
    check(trees.call("subtract", *leaves), operands)
    for place in ("row_major", "column_major", None):
        into = xl.zeros((4, 3, 33), layout=place) if place else xl.zeros((33, 3, 4)).T
        into[...] = operands[0].operand - xl.add(operands[1].operand, 0)
        with np.errstate(all="ignore"):
            assert_same_bits(into, operands[0].array - operands[1].array)


EDGES = np.array([0, 1, 2, 7, 8, 63, 64, 127, 128, 255, 2**31 - 1, 2**31, 2**63 - 1], np.uint64)


@together("code", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@together(
    "name",
    ["floor_divide", "remainder", "bitwise_left_shift", "bitwise_right_shift", "multiply", "abs"],
)
def test_edges_of_integers(name: str, code: str) -> None:
    """x // 0, least // -1, shifts by the width and more, wrap-around."""
    least = np.array([np.iinfo(code).min], code)
    one = np.concatenate([EDGES.astype(code), -EDGES.astype(code), least])
    x, y = np.meshgrid(one.astype(code), one.astype(code))
    args = (x, y) if name != "abs" else (x,)
    expected = oracle.call(name, *args)
    assert_same_bits(getattr(xl, name)(*[xl.asarray(arg) for arg in args]), expected)


@together("code", ["f2", "f4", "f8", "bfloat16"])
@together("name", ["add", "subtract", "multiply", "divide", "floor_divide", "remainder"])
def test_edges_of_floats(name: str, code: str) -> None:
    """Infinities, NaN, both zeros, subnormals, overflow; no warning reaches the user."""
    values = [0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, np.nan, 1e-45, -5e-324, 1e30, -3e38, 6e4, 7.0]
    one = oracle.convert(np.array(values), code)
    x, y = (np.array(v) for v in np.meshgrid(one, one))
    assert_same_bits(getattr(xl, name)(xl.asarray(x), xl.asarray(y)), oracle.call(name, x, y))


def test_a_shared_node_is_the_same_as_copies() -> None:
    values = np.random.default_rng(0).random(50)
    a = xl.asarray(values)
    shared = xl.sqrt(a) * 3
    assert_same_bits(shared + shared * shared, np.sqrt(values) * 3 + (np.sqrt(values) * 3) ** 2)

    def build() -> Any:
        local = xl.asarray(values)
        part = local + 1
        return part * part - local

    assert_same_bits(build(), (values + 1) * (values + 1) - values)


def test_nothing_depends_on_an_earlier_expression_of_the_same_kind() -> None:
    """Plans are kept by structure; scalars, memory and shapes of another run are not."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        x, y, s = rng.random((4, 5)), rng.random((4, 5)), float(rng.random())
        a, b = xl.asarray(x), xl.asarray(y)
        assert_same_bits(a * s + b, x * s + y)
        assert_same_bits(a * s + a, x * s + x)
        assert_same_bits(b.T * 2.0 + a.T * s, y.T * 2.0 + x.T * s)
        assert_same_bits(a[: seed + 1] * s + b[: seed + 1], x[: seed + 1] * s + y[: seed + 1])
        a[...] = a * s + b
        assert_same_bits(a, x * s + y)


@pytest.mark.parametrize("name", [name for name in OPS if name != "cast"])
def test_no_layout_changes_a_bit_of_any_operation(name: str) -> None:
    """Strided loops, which no compiler vectorises, against contiguous ones."""
    op = OPS[name]
    arrays = [np.resize(np.asarray(values), (9, 37)) for values in op.example]
    arrays = [
        a + (np.arange(9)[:, None] / 16).astype(a.dtype) * (a.dtype.kind == "f") for a in arrays
    ]
    arrays = [
        oracle.convert(a, np.asarray(e).dtype) for a, e in zip(arrays, op.example, strict=True)
    ]
    function = getattr(xl, name, partial(apply, op))
    plain = np.asarray(function(*[xl.XArray(a) for a in arrays]))
    for layouts in (("reversed", "gaps", "column"), ("column", "reversed", "permuted")):
        operands = [xst.sample(layout, a, 2) for layout, a in zip(layouts, arrays, strict=False)]
        assert_same_bits(function(*[operand.operand for operand in operands]), plain)
        assert all(operand.unchanged() for operand in operands)
    row = [xl.XArray(a[:1]) for a in arrays]
    assert_same_bits(function(*[xl.broadcast_to(a, (9, 37)) for a in row])[:1], plain[:1])
