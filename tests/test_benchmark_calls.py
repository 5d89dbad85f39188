"""The table of functions against NumPy has all of them, or says why not."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import xarraylite as xl


@pytest.mark.usefixtures("by_python")
def test_every_function_is_timed_or_left_out_for_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "asv_bench"))
    calls = importlib.import_module("benchmarks.calls")
    timed = set(re.findall(r"[A-Za-z_][\w.]*(?=\()", calls.CALLS))
    left_out = {name for names in calls.LEFT_OUT.values() for name in names.split(" ")}
    by_function: dict[int, set[str]] = {}
    for space, theirs, start in (
        (xl, np, ""),
        (xl.linalg, np.linalg, "linalg."),
        (xl.fft, np.fft, "fft."),
    ):
        for name in space.__all__:
            value = getattr(space, name)
            if inspect.isfunction(value) and hasattr(theirs, name):
                by_function.setdefault(id(value), set()).update((name, start + name))
    assert [names for names in by_function.values() if not names & (timed | left_out)] == []
    known = set.union(*by_function.values())
    assert sorted(left_out - known) == []
