"""Settings: one object, read when an expression is planned or run, never frozen at import.

Every field can be set by an environment variable ``XARRAYLITE_<FIELD>``, by calling
``xl.config(field=value)``, or for the length of a ``with xl.config(field=value):`` block.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType

ENGINES = ("auto", "compiled", "reference")


def _parse_bool(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


class Settings:
    """The current settings; ``xl.config`` changes them.

    Attributes
    ----------
    threads : int
        Upper bound on threads that run one kernel, the caller included.
    engine : str
        ``"compiled"`` (Numba kernels), ``"reference"`` (the NumPy interpreter) or ``"auto"``
        (compiled where numba is installed).
    check_noalias : bool
        Raise `NoAliasError` where ``noalias`` was promised and does not hold.
    cache : bool
        Keep compiled kernels on disk.
    cache_dir : str
        Directory of the disk cache; empty for the user's cache directory.
    max_result_bytes : int
        Largest result an evaluation may allocate, in bytes.
    """

    __slots__ = ("cache", "cache_dir", "check_noalias", "engine", "max_result_bytes", "threads")

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.threads = _parse_count(environ, "XARRAYLITE_THREADS") or available_cores()
        self.engine = environ.get("XARRAYLITE_ENGINE", "auto")
        if self.engine not in ENGINES:
            raise ValueError(f"XARRAYLITE_ENGINE is {self.engine!r}; it must be one of {ENGINES}")
        self.check_noalias = _parse_bool(environ.get("XARRAYLITE_CHECK_NOALIAS", ""))
        self.cache = _parse_bool(environ.get("XARRAYLITE_CACHE", "1"))
        self.cache_dir = environ.get("XARRAYLITE_CACHE_DIR", "")
        self.max_result_bytes = _parse_count(environ, "XARRAYLITE_MAX_RESULT_BYTES") or 1 << 47


def _parse_count(environ: Mapping[str, str], name: str) -> int:
    """Return a variable's value, 0 where it is not set."""
    text = environ.get(name, "0")
    if not text.strip().isdecimal():
        raise ValueError(f"{name} is {text!r}; it must be a whole number, 0 for the default")
    return int(text)


def available_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


settings = Settings(os.environ)


class config:
    """Change settings now, and back at the end of a ``with`` block if used as one.

    Parameters
    ----------
    **changes
        New values for fields of `Settings`.

    Raises
    ------
    ValueError
        For an unknown field or a value out of range.

    Examples
    --------
    >>> import xarraylite as xl
    >>> with xl.config(threads=1):
    ...     print(float(xl.sum(xl.ones(3))))
    3.0
    """

    __slots__ = ("_before",)

    def __init__(self, **changes: object) -> None:
        for name, value in changes.items():
            _check(name, value)
        self._before = {name: getattr(settings, name) for name in changes}
        _apply(changes)

    def __enter__(self) -> Settings:
        return settings

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _apply(self._before)


def _apply(changes: Mapping[str, object]) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)


def _check(name: str, value: object) -> None:
    if name not in Settings.__slots__:
        raise ValueError(f"config: unknown setting {name!r}; known: {sorted(Settings.__slots__)}")
    current = getattr(settings, name)
    if type(value) is not type(current):
        raise ValueError(f"config: {name} takes {type(current).__name__}, got {value!r}")
    if name == "engine" and value not in ENGINES:
        raise ValueError(f"config: engine must be one of {ENGINES}, got {value!r}")
    if name in ("threads", "max_result_bytes") and isinstance(value, int) and value < 1:
        raise ValueError(f"config: {name} must be at least 1, got {value}")
