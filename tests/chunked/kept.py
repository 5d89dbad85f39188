"""Arrays that are kept in chunks and count what is read, for tests."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import xarraylite as xl

Array = npt.NDArray[Any]


class Kept:
    """An array in chunks: the least that `xl.open` takes.

    Attributes
    ----------
    read : list of tuple
        The slices that were asked for.
    """

    def __init__(self, values: Array, chunks: tuple[int, ...]) -> None:
        self.values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype
        self.read: list[tuple[slice, ...]] = []

    def __getitem__(self, key: tuple[slice, ...]) -> Array:
        assert all(type(k) is slice and k.step > 0 and 0 <= k.start < k.stop for k in key)
        self.read.append(key)
        return self.values[key]

    @property
    def elements(self) -> int:
        """Number of elements that were read."""
        return sum(self.values[key].size for key in self.read)

    @property
    def moved(self) -> int:
        """Bytes of the chunks that were read, each as often as it was."""
        found = 0
        for key in self.read:
            sides = []
            for k, n, extent in zip(key, self.chunks, self.shape, strict=True):
                owners = {i // n for i in range(k.start, k.stop, k.step)}
                sides.append(sum([min(n, extent - i * n) for i in owners]))
            found += math.prod(sides) * self.dtype.itemsize
        return found


def stored_in(expression: Any, chunks: tuple[int, ...], memory: int | None) -> Array:
    """Store into an array of NumPy's, with the budget given or the least that does."""
    target = np.zeros(expression.shape, expression.dtype)
    sink = Sink(target, chunks)
    try:
        xl.store(expression, sink, memory=memory)
    except xl.SizeError as error:
        found = re.search(r"least that does is (\d+)", str(error))
        if found is None:
            raise
        xl.store(expression, sink, memory=int(found[1]))
    return target


class Sink:
    """A target in chunks, which refuses to be written twice or across chunks."""

    def __init__(self, values: Array, chunks: tuple[int, ...]) -> None:
        self.values, self.chunks = values, chunks
        self.shape, self.dtype = values.shape, values.dtype
        self.times = np.zeros(values.shape, np.int8)

    def __setitem__(self, key: tuple[slice, ...], values: Array) -> None:
        for k, chunk, extent in zip(key, self.chunks, self.shape, strict=True):
            assert k.start % chunk == 0
            assert k.stop % chunk == 0 or k.stop == extent
        self.times[key] += 1
        assert (self.times[key] == 1).all(), "written twice"
        self.values[key] = values


def names_in(place: Path) -> list[str]:
    """Return what is in a directory."""
    return sorted(path.name for path in place.iterdir())


def child_of(code: str, **options: Any) -> subprocess.Popen[str]:
    """Run some code in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(xl.__file__).parents[1])},
        **options,
    )
