"""Tiles: what is one, what is none, and how they print."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import LayoutError
from xarraylite.layout.fields import COMBINE, Tile


@pytest.mark.parametrize(
    ("sizes", "text"),
    [
        ((8, 128), "(8,128)"),
        ([1], "(1)"),
        (("*", "*", 2, "*", 3), "(*,*,2,*,3)"),
        ((COMBINE, 128), "(*,128)"),
        ((2**63 - 1,), "(9223372036854775807)"),
    ],
)
def test_text(sizes: object, text: str) -> None:
    tile = Tile(sizes)  # type: ignore[arg-type]
    assert str(tile) == text
    assert eval(repr(tile)) == tile
    assert len(tile) == tile.rank == len(list(tile))


def test_sizes_become_plain_integers() -> None:
    tile = Tile(np.array([8, 128]))
    assert tile.dimensions == (8, 128)
    assert [type(size) for size in tile] == [int, int]
    assert Tile(tile) == tile
    assert Tile(size for size in (8, 128)) == tile


@together(
    ("sizes", "rule"),
    [
        ((), "at least one"),
        ((0, 2), "not positive"),
        ((-1, 2), "not positive"),
        ((2, COMBINE), "comes last"),
        (("*", "*"), "comes last"),
        ((True, 2), "True is not an integer"),
        ((2.0,), "2.0 is not an integer"),
        (("8",), "'8' is not an integer"),
        ((2**63,), "64-bit"),
        (8, "not a sequence"),
        (None, "not a sequence"),
        ("8,128", "is text"),
    ],
)
def test_refused(sizes: object, rule: str) -> None:
    with pytest.raises(LayoutError, match=rule):
        Tile(sizes)  # type: ignore[arg-type]


def test_value_semantics() -> None:
    tile = Tile((8, 128))
    assert tile == Tile([8, 128])
    assert tile != Tile((128, 8))
    assert hash(tile) == hash(Tile([8, 128]))
    assert pickle.loads(pickle.dumps(tile)) == tile == copy.deepcopy(tile)
    with pytest.raises(AttributeError):
        tile.dimensions = (1,)  # type: ignore[misc]
