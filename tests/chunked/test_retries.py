"""Stores that are busy or out of reach for a while."""

from __future__ import annotations

import errno
import urllib.error
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, child_of
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


class ConnectError(Exception):
    """As another one calls it."""


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
    monkeypatch.setattr(retries, "_wait", pauses.append)
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


def test_what_led_to_an_error_is_asked() -> None:
    def raised(new: Exception, cause: Any = None) -> Exception:
        try:
            try:
                raise ConnectionRefusedError("refused")
            except OSError as error:
                if cause is None:
                    raise new  # noqa: B904
                raise new from (error if cause else None)
        except Exception as found:
            return found

    assert retries.is_passing(urllib.error.URLError(ConnectionRefusedError("refused")))
    assert retries.is_passing(raised(ValueError("first")))
    assert retries.is_passing(raised(ValueError("first"), True))
    assert not retries.is_passing(raised(ValueError("first"), False))
    assert not retries.is_passing(urllib.error.URLError("unknown"))
    for name in ("requests.exceptions.ConnectionError", "httpx.ConnectError", "httpx.ReadTimeout"):
        module, _, last = name.rpartition(".")
        found = getattr(pytest.importorskip(module), last)
        assert retries.is_passing(found("none"))


@pytest.mark.parametrize("wrong", ["read", "write"])
def test_a_chunk_is_tried_so_often(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    """The block that fails at once counts, and nothing follows it without a pause."""
    pauses: list[float] = []
    monkeypatch.setattr(retries, "_wait", pauses.append)
    for count in (0, 1, 3):
        flaky = Flaky(VALUES.copy(), (5, 30), [TimeoutError("slow")] * 99)
        source, target = (flaky, np.zeros_like(VALUES)) if wrong == "read" else (VALUES, flaky)
        told = rf"\(tried {count + 1} times\)" if count else r"TimeoutError: slow$"
        pauses.clear()
        with xl.config(retries=count), pytest.raises(xl.StorageError, match=told):
            xl.store(xl.open(source) + 1, target)
        assert flaky.tried == {0: count}
        assert pauses == [0.1, 0.2, 0.4][:count]
    flaky = Flaky(VALUES.copy(), (5, 30), [TimeoutError("slow")] * 3)
    source, target = (flaky, np.zeros_like(VALUES)) if wrong == "read" else (VALUES, flaky)
    pauses.clear()
    xl.store(xl.open(source) + 1, target)
    np.testing.assert_array_equal(target if wrong == "read" else flaky.values, VALUES + 1)
    assert flaky.tried == {0: 3, 5: 3, 10: 3, 15: 3}
    assert pauses == [0.1, 0.2, 0.4] * 4


def test_what_cannot_pass_after_what_could_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retries, "_wait", lambda seconds: False)
    for chunks in ((5, 30), (20, 30)):
        flaky = Flaky(VALUES, chunks, [TimeoutError("slow"), *[PermissionError("no")] * 9])
        with pytest.raises(xl.StorageError, match=r"PermissionError: no$"):
            xl.eval(xl.open(flaky) + 1)
        assert flaky.tried == {0: 1}


@pytest.mark.parametrize("busy", [2, 9])
def test_what_tells_an_operand_from_others_is_asked_for_again(
    busy: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of a store in memory, which records beside targets have a digest of."""
    monkeypatch.setattr(retries, "_wait", lambda seconds: False)
    zarr = pytest.importorskip("zarr")
    tried: list[str] = []

    class Busy(zarr.storage.WrapperStore[Any]):
        async def get(self, key: str, *args: Any, **kwargs: Any) -> Any:
            if key == "c/1/0":
                tried.append(key)
                if len(tried) <= busy:
                    raise TimeoutError("slow")
            return await super().get(key, *args, **kwargs)

    store = Busy(zarr.storage.MemoryStore())
    made = zarr.create_array(store, shape=VALUES.shape, chunks=(10, 30), dtype="f8")
    made[...] = VALUES
    e = xl.open(made) + 1
    with xl.config(retries=3):
        if busy > 3:
            with pytest.raises(xl.StorageError, match=r"^read: zarr .*chunk c/1/0: Timeout.* slow"):
                xl.store(e, tmp_path / "a.npy")
            assert len(tried) == 4
            assert not list(tmp_path.iterdir())
        else:
            np.testing.assert_array_equal(xl.store(e, tmp_path / "a.npy"), VALUES + 1)


@pytest.mark.once
@pytest.mark.parametrize("wrong", ["read", "write"])
def test_an_interrupted_run_tries_no_more(wrong: str) -> None:
    child = child_of(f"""
        import os, signal, threading
        import numpy as np, xarraylite as xl
        from tests.chunked.test_retries import Flaky, VALUES
        flaky = Flaky(VALUES.copy(), (1, 30), [TimeoutError("slow")] * 3)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            if {wrong == "read"}:
                xl.eval(xl.open(flaky) + 1)
            else:
                xl.store(xl.open(VALUES) + 1, flaky)
        except KeyboardInterrupt:
            print("interrupted", 3 not in flaky.tried.values())
    """)
    assert child.communicate(timeout=60)[0] == "interrupted True\n"
