"""Least budgets: a few chunks of each operand and of the result, whatever is computed of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, Sink

_EXTENT, _CHUNK = 65536, 2048
_BLOCK = _CHUNK * _CHUNK * 8

#: What is written, chunks in flight with the least budget, and times that operands are read with
#: 1 GiB.  Of the result three are one that is computed and what encoding two takes; of each
#: operand one, and one is what a library has of an operand: it reads one after another.
_CASES: dict[str, tuple[Callable[[Any, Any], Any], float, float]] = {
    "elementwise": (lambda a, b: (a - b) ** 2 * 0.5 + xl.sqrt(a), 6, 1),
    "one operand": (lambda a, b: a * 2, 5, 1),
    "stencil": (lambda a, b: a[2:, 1:-1] + a[:-2, 1:-1] - 4 * a[1:-1, 2:], 6.1, 1.1),
    "transpose": (lambda a, b: a.T, 5, 1),
    "broadcast": (lambda a, b: a + b[0], 5.1, 1.07),
    "sum of two": (lambda a, b: xl.sum((a - b) ** 2), 1.1, 1),
    "sum": (lambda a, b: xl.sum(a), 1.1, 1),
    "sum across rows": (lambda a, b: xl.sum(a, axis=0), 1.1, 1),
    "sum along rows": (lambda a, b: xl.sum(a, axis=1), 1.1, 1),
    "prod": (lambda a, b: xl.prod(a), 1.1, 1),
    "largest": (lambda a, b: xl.max(a, axis=0), 1.1, 1),
    "standardisation": (lambda a, b: (a - xl.mean(a)) / xl.std(a), 5, 3),
    "of columns": (lambda a, b: (a - xl.mean(a, axis=0)) / xl.std(a, axis=0), 5, 3),
    "narrow product": (lambda a, b: a @ b[:, :512], 5, 1.07),
    "join": (lambda a, b: xl.concat([a, b]), 5, 1),
    "some columns": (lambda a, b: a[:, np.arange(0, _EXTENT, 64)] * 1, 3, 1),
    "steps": (lambda a, b: a[::2, ::2] + 1, 6, 1),
}


@pytest.mark.once
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", _CASES)
def test_a_few_chunks_are_enough(name: str) -> None:
    write, blocks, times = _CASES[name]
    one = np.broadcast_to(1.0, (_EXTENT, _EXTENT))
    e = write(*[xl.open(Kept(one, (_CHUNK, _CHUNK))) for _ in "ab"])
    chunks = tuple([min(n, _CHUNK) for n in e.shape])
    target = Sink(np.broadcast_to(1.0, e.shape), chunks) if e.ndim else None
    with pytest.raises(xl.SizeError) as caught:
        xl.explain(e, target, memory=1)
    assert int(str(caught.value).split("least that does is ")[1]) <= blocks * _BLOCK
    passes = xl.explain(e, target, memory="1 GiB").passes
    read = {part.read for part in passes if part.read}
    operands = max(1, round(max(part.needed for part in passes) / one.nbytes))
    assert sum(read) <= times * operands * one.nbytes * 1.001
