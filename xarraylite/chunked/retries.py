"""What is tried again: reads and writes that a store was too busy for, or out of reach.

=========================================  ===================================================
What was raised, or what led to it         Why it may pass
=========================================  ===================================================
`TimeoutError`, `ConnectionError` (reset,  The other side is slow, or starts again.
aborted, refused), `BlockingIOError`
`OSError` with a number of `_NUMBERS`      The network is down, or what is asked for is in use.
HTTP's 408, 425, 429, 500, 502, 503, 504   The server says so (RFC 9110, 15.5 and 15.6; RFC 6585).
codes of `_CODES`                          Throttling, as S3 and those like it call it.
classes of `_CLASSES`                      Refused, ended or timed out, as HTTP libraries say it.
=========================================  ===================================================

Everything else is raised at once: permissions, files that are missing, full disks, data that cannot
be decoded.  Classes of other libraries are known by their names, so that none is imported.  What
led to an error is its cause, what was handled when it was raised, and the ``reason`` it gives.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from .._config import settings
from .._errors import StorageError, XarrayliteError
from ..codegen.latch import Latch
from .selection import Box, chunks_text, owners_of, parts_of, text_of

T = TypeVar("T")

_PASSING = (TimeoutError, ConnectionError, BlockingIOError, InterruptedError)

_NUMBERS = (
    {"EAGAIN", "EBUSY", "EHOSTDOWN", "EHOSTUNREACH", "ENETDOWN", "ENETRESET"}
    | {"ENETUNREACH", "ENOBUFS", "ETIMEDOUT"}
)  # fmt: skip

_STATUS = {408, 425, 429, 500, 502, 503, 504}

_CODES = (
    {"InternalError", "OperationTimedOut", "RequestLimitExceeded", "RequestTimeout", "ServerBusy"}
    | {"ServiceUnavailable", "SlowDown", "Throttling", "ThrottlingException", "TooManyRequests"}
)  # fmt: skip

_CLASSES = (
    {"ClientConnectionError", "ClientPayloadError", "ConnectTimeoutError", "IncompleteRead"}
    | {"EndpointConnectionError", "IncompleteReadError", "ReadTimeoutError"}
    | {"ResponseStreamingError", "ChunkedEncodingError", "ConnectionError", "Timeout"}
    | {"NetworkError", "ConnectError", "RemoteProtocolError", "TimeoutException"}
)

#: Seconds before the second try, and at most: each pause is twice as long as the one before.
FIRST_PAUSE, LAST_PAUSE = 0.1, 5.0

#: Chunks that are tried one by one, at most, where all at once have failed.
_SEARCHED = 1000


#: Which event ends the pauses of a thread; threads of no run have one that never comes.
_own, _NEVER = threading.local(), Latch()


def give_up_at(over: Latch) -> None:
    """Try nothing again in this thread once a run is over."""
    _own.over = over


def end_of_run() -> Latch:
    """Return what is set when the run that this thread works for is over."""
    found: Latch = getattr(_own, "over", _NEVER)
    return found


def _wait(seconds: float) -> bool:
    """Pause; tell whether the run is over."""
    return end_of_run().wait(seconds)


def _pause(tries: int) -> float:
    """Return for how long to pause after so many tries."""
    return min(FIRST_PAUSE * 2.0 ** (tries - 1), LAST_PAUSE)


def is_passing(error: BaseException | None) -> bool:
    """Tell whether what was raised, or what led to it, may not be so the next time."""
    seen: set[int] = set()
    left = [error]
    while left:
        error = left.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        number = error.errno if isinstance(error, OSError) else None
        if isinstance(error, _PASSING) or errno.errorcode.get(number or 0) in _NUMBERS:
            return True
        if any([cls.__name__ in _CLASSES for cls in type(error).__mro__]):
            return True
        if any([told in _STATUS or told in _CODES for told in _answers(error)]):
            return True
        reason = getattr(error, "reason", None)
        left.append(reason if isinstance(reason, BaseException) else None)
        left.append(error.__cause__ if error.__suppress_context__ else error.__context__)
    return False


def _answers(error: BaseException) -> list[Any]:
    """Return what a server has answered: statuses as numbers, codes as text."""
    response: Any = getattr(error, "response", None)
    told = [getattr(error, name, None) for name in ("status", "status_code", "code", "error_code")]
    told.append(getattr(response, "status_code", None))
    if isinstance(response, dict):  # of botocore
        told.append(response.get("Error", {}).get("Code"))
        told.append(response.get("ResponseMetadata", {}).get("HTTPStatusCode"))
    return [int(x) if isinstance(x, str) and x.isdecimal() else x
            for x in told if isinstance(x, int | str)]  # fmt: skip


def patiently(work: Callable[[], T], error: Exception | None = None, tries: int = 1) -> T:
    """Do some work that does no harm when it is done twice, again where it fails for a while.

    Not inside ``except``: what is handled there would count as what led to the next error.

    Parameters
    ----------
    work : callable
        What is done.
    error : Exception, optional
        What it has raised the last time.
    tries : int, default 1
        The number of that time, or of the first one.

    Raises
    ------
    Exception
        What the work raises: at once, or when it was tried ``settings.retries`` times more.
    """
    while True:
        if error is None:
            try:
                return work()
            except Exception as found:
                error = found
        if tries > settings.retries or not is_passing(error) or _wait(_pause(tries)):
            try:
                raise error
            finally:
                error = None
        tries, error = tries + 1, None


@contextlib.contextmanager
def naming(what: str) -> Iterator[None]:
    """Have errors say what was done; those of this package, and of imports, say it already.

    Raises
    ------
    StorageError
        Instead of any other error.
    """
    try:
        yield
    except (XarrayliteError, ImportError):
        raise
    except Exception as error:
        raise StorageError(f"{what}: {type(error).__name__}: {error}") from error


def chunk_by_chunk(
    work: Callable[[tuple[slice, ...], Box], None],
    what: str,
    box: Box,
    chunks: Sequence[int],
    apart: bool,
    error: Exception,
) -> None:
    """Read or write a box chunk by chunk, after that has failed at once.

    A chunk that fails for a while is tried again, the first one that does as if it had been tried
    on its own before; one that cannot be read or written is named.  Not inside ``except``, as
    `patiently`.

    Parameters
    ----------
    work : callable
        Does it with a part of the box, given where in the box that is, and where in the array.
    what : str
        The operation and the array, as messages show them.
    box : tuple of range
        What is read or written.
    chunks : sequence of int
        Extents of chunks.
    apart : bool
        Whether there are any.
    error : Exception
        What was raised.

    Raises
    ------
    StorageError
        If a chunk cannot be read or written.
    """
    count = math.prod([len(owners_of(s, c)) for s, c in zip(box, chunks, strict=True)])
    passing, parts = is_passing(error), parts_of(box, chunks)
    if not apart or count > _SEARCHED or (passing and not settings.retries):
        count, parts = 1, iter([((), (slice(None),) * len(box), box)])
    tries = 1
    if passing and count > 1:
        _wait(_pause(tries))
        tries += 1
    for _, at, part in parts:
        again = functools.partial(work, at, part)
        found = error if count == 1 or end_of_run().is_set else _tried(again)
        if found is None:
            continue
        try:
            patiently(again, found, tries)
        except Exception as cause:
            told = f" (tried {1 + settings.retries} times)" if is_passing(cause) else ""
            raise StorageError(
                f"{what}, elements {text_of(part)} in chunks {chunks_text(part, chunks)}: "
                f"{type(cause).__name__}: {cause}{told if settings.retries else ''}"
            ) from cause
        tries = 1


def _tried(work: Callable[[], None]) -> Exception | None:
    """Return what some work raises."""
    try:
        work()
    except Exception as error:
        return error
    return None
