"""Trees and NumPy's answers to them hold what they say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, find, settings

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle, trees
from xarraylite.testing import assert_same_bits
from xarraylite.testing import strategies as xst


@pytest.mark.once
@together(
    "word",
    ["concat", "[(", "astype", "permute_dims", "sum(", "argmax", "where", "divide", "reshape"],
)
def test_trees_of_every_kind_are_drawn(word: str) -> None:
    operands = [xst.sample("row", np.arange(1, 7).reshape(2, 3))]
    drawn = settings(max_examples=3000, phases=[Phase.generate])  # any will do, not the smallest
    tree = find(trees.trees(operands), lambda tree: word in tree.text, settings=drawn)
    assert_same_bits(tree.numpy([operands[0].array]), tree.value)
    assert_same_bits(tree.xl([operands[0].operand]), tree.value)


def test_a_tree_by_hand() -> None:
    x = np.arange(3.0)
    tree = trees.call("add", trees.leaf(0, x), trees.constant(2))
    assert repr(tree) == "add(x0, 2)"
    assert_same_bits(tree.value, x + 2)
    assert_same_bits(tree.numpy([x * 2]), x * 2 + 2)
    assert_same_bits(tree.xl([xl.asarray(x * 2)]), x * 2 + 2)


def test_the_oracle_rounds_once() -> None:
    value = np.array([1 + 2.0**-8 + 2.0**-40])
    assert float(oracle.convert(value, "bfloat16")[0]) == 1.0078125
    half = oracle.convert(np.array([1.0]), "bfloat16")
    assert str(oracle.call("add", half, 2.0**-9).dtype) == "bfloat16"
    assert oracle.call("add", np.array([1], "i1"), 1).dtype == np.int8
