"""Programs and kernels that another thread has kinds forget at any instant of an evaluation."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.assignment import parts, results
from xarraylite.transforms import natives

pytestmark = pytest.mark.usefixtures("compiled")

FILES = parts.__file__, results.__file__


def forgetting_at(number: int, work: Callable[[], Any]) -> tuple[Any, bool]:
    """Do some work; before one of the lines that it runs programs and kernels are forgotten.

    Also tell whether there are so many lines.
    """
    left = number

    def look(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename not in FILES:
            return None
        left -= event == "line"
        if left < 0:
            sys.settrace(None)
            xl.cache_clear()
            return None
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        made = work()
    finally:
        sys.settrace(before)
    return made, left < 0


@pytest.mark.parametrize(
    "make",
    [lambda m: m * 2 + 1, lambda m: (m * 2 + 1).sum(), lambda m: m - m.mean(axis=1, keepdims=True)],
    ids=["one kernel", "a total", "a plan that is kept"],
)
def test_programs_forgotten_at_any_instant(make: Callable[[Any], Any]) -> None:
    """Machine code is never given what was forgotten, nor code that was unloaded."""
    natives.install()
    values = np.arange(20.0).reshape(4, 5)
    e, wanted = make(xl.asarray(values)), make(values)
    for number in range(500):
        for _ in range(3):  # from then on a plan is kept
            assert np.array_equal(xl.eval(e), wanted)
        made, reached = forgetting_at(
            number, lambda: results.evaluated(e._container, e._kind, e._shape, e._operands)
        )
        assert np.array_equal(xl.eval(e) if made is None else made, wanted), number
        if not reached:
            assert number > 3
            return
    raise AssertionError("it does not end")
