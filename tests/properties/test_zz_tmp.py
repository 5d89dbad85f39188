"""Random expressions over random operands: NumPy's dtype, and its bits where they are decided.

Every kernel that an example needs is compiled, so the trees come in two kinds: free ones, which
look for surprises, and a few skeletons that meet many dtypes, layouts and shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from xarraylite.dtypes.names import kind
from xarraylite.testing import assert_same_bits, assert_ulp
from xarraylite.testing import strategies as xst

ENGINES = ("auto", "reference")


def check(tree: xst.Tree, operands: list[xst.Sample], threads: int = 1) -> None:
    """Evaluate a tree by the engine under test and by the reference; compare both with NumPy."""
    expected = np.asarray(tree.value)
    expression = tree.xl([operand.operand for operand in operands])
    assert expression.shape == expected.shape, tree
    assert expression.dtype == expected.dtype, tree
    for name in (xl.config().__enter__().engine, "reference"):
        with xl.config(engine=name, threads=threads):
            actual = np.array(xl.eval(expression))
        if tree.max_ulp:
            assert_ulp(actual, expected, tree.max_ulp)
        else:
            assert_same_bits(actual, expected)
    assert all(operand.unchanged() for operand in operands)


@st.composite
def problems(draw: st.DrawFn, inexact: bool = False) -> tuple[xst.Tree, list[xst.Sample]]:
    """Draw up to three operands that broadcast, and a tree over them."""
    count = draw(st.integers(1, 3))
    found = draw(xst.broadcastable_shapes(count))
    family = draw(st.sampled_from(("biuf", "biu", "f", "f", "fc")))
    operands = [draw(xst.samples(shape, draw(xst.dtypes(family)))) for shape in found]
    return draw(xst.trees(operands, inexact=inexact)), operands


@given(problems())
@settings(max_examples=1500)
def test_exact_trees(problem: tuple[xst.Tree, list[xst.Sample]]) -> None:
    check(*problem)


@given(problems(inexact=True))
@settings(max_examples=300)
def test_trees_that_end_in_an_elementary_function(
    problem: tuple[xst.Tree, list[xst.Sample]],
) -> None:
    check(*problem)

@given(problems())
@settings(max_examples=25)
def test_show(problem):
    print(problem[0], [ (o.layout, o.array.dtype, o.array.shape) for o in problem[1]])
