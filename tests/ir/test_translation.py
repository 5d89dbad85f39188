"""Kinds made into nodes."""

from __future__ import annotations

import xarraylite as xl
from xarraylite.ir.node import Leaf
from xarraylite.ir.walk import postorder


def test_equal_parts_are_one_node() -> None:
    v = xl.asarray([1.0, 2.0, 3.0])
    part = v * 2
    assert len([n for n in postorder((part + part).node) if isinstance(n, Leaf)]) == 1
    assert len([n for n in postorder((v[:2] + v[:2] - v.sum()).node) if isinstance(n, Leaf)]) == 2
