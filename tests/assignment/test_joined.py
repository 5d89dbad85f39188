"""Updates by lazy results of the destination's own elements, stretched: ``v /= v.sum()``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits

pytestmark = pytest.mark.usefixtures("machine_code")

UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "v /= v.max()": lambda xp, m: m[0].__itruediv__(m[0].max()),
    "row -= row.max()": lambda xp, m: m[1].__isub__(m[1].max()),
    "column *= part of itself": lambda xp, m: m[:, 2].__imul__(m[:1, 2] * 2),
    "m -= rows": lambda xp, m: m.__isub__(xp.max(m, axis=0)),
    "m += columns": lambda xp, m: m.__iadd__(xp.max(m, axis=1, keepdims=True) + 1),
}


@pytest.mark.parametrize("name", UPDATES)
def test_every_round(name: str) -> None:
    theirs = np.arange(1.0, 13.0).reshape(3, 4)
    ours = xl.asarray(theirs.copy())
    for _ in range(6):
        UPDATES[name](np, theirs)
        UPDATES[name](xl, ours)
        assert_same_bits(ours.copy(), theirs)


def test_what_others_hold_keeps_its_values() -> None:
    v = xl.asarray([1.0, 2.0, 5.0])
    for _ in range(6):
        before = v.copy().tolist()
        total, double = v.sum(), v * 2
        v /= total
        assert float(total) == sum(before)
        assert double.tolist() == [2 * x for x in before]
        other = -total
        v *= other
        assert float(other) == -sum(before)


def test_what_does_not_fit_is_refused_and_changes_nothing() -> None:
    v, i = xl.asarray([1.0, 2.0]), xl.asarray([4, 6])
    for _ in range(3):
        with pytest.raises(xl.BroadcastError):
            v += xl.stack([v, v]) * 2
        with pytest.raises(xl.CastError):
            i /= i.sum()
    assert v.tolist() == [1, 2]
    assert i.tolist() == [4, 6]
