"""Which functions fold in any order, and what they are known as."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.cases import together
from xarraylite.ops.algebra import folds_in_any_order, known_fold


@together(
    ("function", "known"),
    [
        (lambda a, b: b + a, "add"),
        (lambda a, b: a * b, "multiply"),
        (lambda a, b: a if a > b else b, "maximum"),
        (lambda a, b: b if not a < b else a, "minimum"),
        (max, "maximum"),
        (lambda a, b: a ^ b, ""),
        (lambda a, b: 1, ""),
    ],
)
def test_functions_that_fold_in_any_order(function: Callable[..., Any], known: str) -> None:
    assert folds_in_any_order(function)
    assert known_fold(function) == known


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a - b,
        lambda a, b: a,
        lambda a, b: b if b != 0 else a,  # the last that is not zero
        lambda a, b: a if a == a else b,  # the first that is a number
        lambda a, b: a * a + b * b,  # commutative, not associative
        lambda a, b: a or b,
        math.hypot,  # true, but it cannot be seen
        lambda a, b: a if a > b else (b if b > a else 0),  # the larger, unless they are equal
    ],
)
def test_functions_of_which_it_is_not_known(function: Callable[..., Any]) -> None:
    assert not folds_in_any_order(function)


def test_of_a_function_that_handles_exceptions_nothing_is_known() -> None:
    def first(a: Any, b: Any) -> Any:
        try:
            return a if a > 0 else b
        except Exception:
            return a + b

    assert not folds_in_any_order(first)
