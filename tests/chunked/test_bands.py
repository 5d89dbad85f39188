"""Blocks that have all that is folded for them: read once, and the bits of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, Sink
from xarraylite.chunked import bands, plan, stream

VALUES = np.random.default_rng(3).normal(size=(2000, 37))


def _cubes(a: Any) -> Any:
    return xl.reshape(a, (50, 40, 37))


def _softmax(a: Any) -> Any:
    powers = xl.exp(a - xl.max(a, axis=1, keepdims=True))
    return powers / xl.sum(powers, axis=1, keepdims=True)


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "columns": lambda a: (a - xl.mean(a, axis=0)) / xl.std(a, axis=0),
    "rows": lambda a: (a - xl.mean(a, axis=1, keepdims=True)) / xl.std(a, axis=1, keepdims=True),
    "softmax": _softmax,
    "turned": lambda a: (a.T - xl.mean(a, axis=0)[:, None]) * 0.5,
    "narrow": lambda a: a.astype("bfloat16") - xl.mean(a.astype("bfloat16"), axis=0),
    "complex": lambda a: (a + 1j) - xl.sum(a * 2j, axis=0),
    "extremes": lambda a: (a - xl.min(a, axis=0)) / (xl.max(a, axis=0) - xl.min(a, axis=0)),
    "products": lambda a: a * xl.prod(a * 0.01 + 1, axis=0),
    "three": lambda a: _cubes(a) - xl.mean(_cubes(a), axis=1, keepdims=True),
    "memory": lambda a: (a - xl.mean(a, axis=0)) * xl.sum(xl.asarray(VALUES), axis=0),
}


@together("name", _WRITTEN)
@together("chunks", [(300, 10), (70, 37)])
def test_bands_have_the_bits_of_memory(name: str, chunks: tuple[int, int], engine: str) -> None:
    write = _WRITTEN[name]
    if name == "three":  # the reshape needs whole rows
        chunks = (400, 37)
    expected = xl.eval(write(xl.asarray(VALUES))).numpy()
    kept = Kept(VALUES, chunks)
    e = write(xl.open(kept))
    target = np.zeros(e.shape, e.dtype)
    sink = Sink(target, tuple(min(n, c) for n, c in zip(e.shape, (300, 10, 10), strict=False)))
    with mock.patch.object(plan, "SMALLEST", 1):
        xl.store(e, sink, memory=3_000_000)
    if engine == "reference":
        np.testing.assert_allclose(target, expected)
    else:
        assert target.tobytes() == expected.tobytes()
    assert np.asarray(xl.eval(e)).tobytes() == target.tobytes() or engine == "reference"


@pytest.mark.parametrize("name", ["columns", "rows", "softmax", "turned", "extremes"])
def test_bands_read_every_chunk_once(name: str) -> None:
    kept = Kept(VALUES, (300, 10))
    e = _WRITTEN[name](xl.open(kept))
    target = Sink(np.zeros(e.shape), (300, 10) if name != "turned" else (10, 300))
    with mock.patch.object(plan, "ENOUGH", 1), mock.patch.object(plan, "SMALLEST", 1):
        xl.store(e, target, memory=1_500_000)
    assert len(kept.read) > 1
    assert kept.elements == VALUES.size


def test_without_bands_there_are_passes() -> None:
    kept = Kept(VALUES, (300, 10))
    e = _WRITTEN["columns"](xl.open(kept))
    target = np.zeros(e.shape)
    with (
        mock.patch.object(bands, "choose", side_effect=xl.SizeError("too small")),
        mock.patch.object(stream, "decodes", return_value=False),
    ):
        xl.store(e, Sink(target, (300, 10)))
    assert kept.elements == 3 * VALUES.size
    np.testing.assert_allclose(target, xl.eval(_WRITTEN["columns"](xl.asarray(VALUES))).numpy())
