"""Stores that are busy or out of reach for a while."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept
from xarraylite.chunked import retries

VALUES = np.arange(600.0).reshape(20, 30)


class Flaky(Kept):
    """Is busy for a while, wherever it is asked for a chunk, and takes what is written."""

    def __init__(self, values: Any, chunks: tuple[int, ...], errors: list[Exception]) -> None:
        super().__init__(values, chunks)
        self.errors = errors
        self.tried: dict[int, int] = {}

    def _begin(self, row: int, rows: int) -> None:
        self.tried[row] = tries = self.tried.get(row, -1) + 1
        if tries < len(self.errors):
            raise self.errors[tries]

    def __getitem__(self, key: tuple[slice, ...]) -> Any:
        self._begin(key[0].start, key[0].stop - key[0].start)
        return super().__getitem__(key)

    def __setitem__(self, key: tuple[slice, ...], values: Any) -> None:
        self._begin(key[0].start, len(values))
        self.values[key] = values


class ClientConnectionError(Exception):
    """As an HTTP library calls it."""


class AnswerError(Exception):
    """What a server has answered, as libraries tell it."""

    def __init__(self, status: int = 0, code: str = "") -> None:
        super().__init__(status, code)
        self.status, self.response = status, {"Error": {"Code": code}}


_BUSY: list[Exception] = [
    TimeoutError("slow"),
    ConnectionResetError("peer"),
    OSError(errno.ENETUNREACH, "net"),
    AnswerError(status=503),
    AnswerError(code="SlowDown"),
    ClientConnectionError("ended"),
]


def test_a_store_that_is_busy_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(retries.time, "sleep", pauses.append)
    source, target = (Flaky(VALUES.copy(), (5, 30), _BUSY) for _ in range(2))
    with xl.config(retries=6):
        xl.store(xl.open(source) + 1, target, memory=10_000)
    np.testing.assert_array_equal(target.values, VALUES + 1)
    assert set(source.tried.values()) == set(target.tried.values()) == {6}
    assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
    source = Flaky(VALUES, (20, 30), _BUSY)
    with (
        xl.config(retries=2),
        pytest.raises(xl.StorageError, match=r"\(0, 0\): OSError.* \(tried 3 times"),
    ):
        xl.eval(xl.open(source) + 1)
    assert source.tried == {0: 2}


@pytest.mark.parametrize(
    "error",
    [PermissionError(errno.EACCES, "no"), FileNotFoundError("gone"), ValueError("bad"),
     AnswerError(status=403)],
    ids=repr,
)  # fmt: skip
def test_what_will_not_pass_is_raised_at_once(error: Exception) -> None:
    for source, target, what in (
        (Flaky(VALUES, (20, 30), [error]), np.zeros((20, 30)), "read"),
        (Kept(VALUES, (5, 30)), Flaky(VALUES.copy(), (5, 30), [error] * 2), "write"),
    ):
        name = type(error).__name__
        with pytest.raises(
            xl.StorageError, match=rf"^{what}: tests Flaky float64.*chunks \(\d, 0\): {name}"
        ):
            xl.store(xl.open(source) + 1, target)
        assert max((source if what == "read" else target).tried.values()) <= 1
