"""Strides of containers, which count elements, in the hands of NumPy's `as_strided`."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.layout.strided import ElementStride, counted
from xarraylite.transforms import natives


@pytest.mark.usefixtures("compiled")
def test_strides_count_elements_where_they_are_unpickled_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a process that has asked no container for its strides."""
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    told = pickle.dumps(a.strides)
    monkeypatch.setattr(counted, "value", 0)
    strides = pickle.loads(told)
    assert (strides, {*map(type, strides)}) == ((4, 1), {ElementStride})
    natives.install()
    try:
        for _ in range(2):  # machine code hands out what was shared before
            np.asarray(a)
        with pytest.raises(xl.LayoutError, match="count elements"):
            np.lib.stride_tricks.as_strided(a, (3, 4), strides)
    finally:
        natives.remove()
