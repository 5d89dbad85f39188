"""Containers in users' own Numba functions."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import numba_types


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load the types as Numba does by the entry point of an installed package."""
    numba_types.init()


def test_the_entry_point_is_declared() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    points = project["project"]["entry-points"]["numba_extensions"]
    assert points == {"init": f"{numba_types.__name__}:init"}


@numba.njit
def total(a: Any) -> Any:
    """Add up rows by index, and columns by iteration."""
    s = 0.0
    for i in range(a.shape[0]):
        for x in a[i, ::2]:
            s += x
    return s + len(a) + a.size + a.ndim


@numba.njit
def scaled(a: Any, by: float) -> Any:
    for i in range(a.shape[0]):
        a[i] *= by
    return a


@numba.njit
def tail(a: Any) -> Any:
    return a[1:]


@numba.njit(boundscheck=True)
def element(a: Any, i: int) -> Any:
    return a[i]


@pytest.mark.parametrize("layout", ["row_major", "column_major"])
def test_any_strides(layout: str) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(values, layout=layout)
    for ours, theirs in ((a, values), (a.T, values.T), (a[::-2, 1:], values[::-2, 1:])):
        assert total(ours) == total(theirs)


def test_stores_follow_the_rule_of_assignments() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    pending, part = a + 0, a[:, 1]
    made = scaled(part, 10.0)
    assert isinstance(made, xl.XArray)
    made[0] = -1
    assert a.tolist() == [[1, -1], [3, 40]]
    assert pending.tolist() == [[1, 2], [3, 4]]


def test_what_is_returned_keeps_the_memory() -> None:
    made = scaled(xl.asarray(np.ones(1000)), 2.0)
    rest = tail(xl.asarray([1.0, 2.0, 3.0]))
    assert isinstance(rest, np.ndarray)
    xl.zeros(1000)
    assert_same_bits(made, np.full(1000, 2.0))
    assert rest.tolist() == [2, 3]


def test_bounds_are_checked_where_numba_is_told_to() -> None:
    a = xl.asarray([1, 2, 3])
    assert element(a, 2) == 3
    with pytest.raises(IndexError):
        element(a, 3)


def test_refusals() -> None:
    for wrong, text in (
        (xl.zeros(2, layout="{0:T(2)}"), r"strided memory.*to_layout\('row_major'\)"),
        (xl.zeros(2, dtype="bfloat16"), r"no such dtype.*astype\('float32'\)"),
    ):
        with pytest.raises(numba.TypingError, match=text):
            tail(wrong)
    with pytest.raises(numba.TypingError):
        scaled(xl.adapt(bytes(16), dtype="f8"), 2.0)
