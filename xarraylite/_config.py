"""Settings: one object, read when an expression is planned or run, never frozen at import.

Every field can be set by an environment variable ``XARRAYLITE_<FIELD>``, by calling
``xl.config(field=value)``, or for the length of a ``with xl.config(field=value):`` block.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType

from ._locks import ForkLock

ENGINES = ("auto", "compiled", "reference")
LAYOUTS = ("row_major", "column_major")

#: The least value of settings that are counts.
_LEAST = {"threads": 1, "max_result_bytes": 1, "retries": 0}


def _parse_bool(text: str) -> bool:
    return text.strip().lower() not in ("", "0", "false", "no", "off")


class Settings:
    """The current settings; ``xl.config`` changes them.

    Attributes
    ----------
    threads : int
        Upper bound on threads that run kernels, callers included; where more threads than that
        call, each works alone.
    engine : str
        ``"compiled"`` (Numba kernels), ``"reference"`` (the NumPy interpreter) or ``"auto"``
        (compiled where numba is installed, but for the first evaluations of a small expression,
        which are interpreted where that gives the same bits).
    check_noalias : bool
        Raise `NoAliasError` where ``noalias`` was promised and does not hold.
    cache : bool
        Keep compiled kernels on disk.
    cache_dir : str
        Directory of the disk cache; empty for the user's cache directory.
    max_result_bytes : int
        Largest result an evaluation may allocate, in bytes.
    default_layout : str
        ``"row_major"`` or ``"column_major"``: of containers that are made without ``layout=``
        (results of expressions follow their operands).
    retries : int
        How often a store that was busy or out of reach is asked again.
    """

    __slots__ = (
        "cache",
        "cache_dir",
        "check_noalias",
        "default_layout",
        "engine",
        "max_result_bytes",
        "retries",
        "threads",
    )

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.threads = _parse_count(environ, "XARRAYLITE_THREADS") or default_threads(environ)
        self.engine = environ.get("XARRAYLITE_ENGINE", "auto")
        if self.engine not in ENGINES:
            raise ValueError(f"XARRAYLITE_ENGINE is {self.engine!r}; it must be one of {ENGINES}")
        self.default_layout = environ.get("XARRAYLITE_DEFAULT_LAYOUT", LAYOUTS[0])
        if self.default_layout not in LAYOUTS:
            raise ValueError(
                f"XARRAYLITE_DEFAULT_LAYOUT is {self.default_layout!r}; it must be one of {LAYOUTS}"
            )
        self.check_noalias = _parse_bool(environ.get("XARRAYLITE_CHECK_NOALIAS", ""))
        self.cache = _parse_bool(environ.get("XARRAYLITE_CACHE", "1"))
        self.cache_dir = environ.get("XARRAYLITE_CACHE_DIR", "")
        self.max_result_bytes = _parse_count(environ, "XARRAYLITE_MAX_RESULT_BYTES") or 1 << 47
        self.retries = _parse_count(environ, "XARRAYLITE_RETRIES", "3")

    def __repr__(self) -> str:
        """Show every setting, as ``xl.config`` takes them."""
        return f"config({', '.join([f'{n}={getattr(self, n)!r}' for n in self.__slots__])})"


def _parse_count(environ: Mapping[str, str], name: str, default: str = "0") -> int:
    """Return a variable's value, or the default where it is not set."""
    text = environ.get(name, default)
    if not text.strip().isdecimal():
        rule = ", 0 for the default" if default == "0" else ""
        raise ValueError(f"{name} is {text!r}; it must be a whole number{rule}")
    return int(text)


def available_cores() -> int:
    """Return the number of cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def default_threads(environ: Mapping[str, str], quota: str = "/sys/fs/cgroup/cpu.max") -> int:
    """Return how many threads run kernels where nobody says: the cores that this process may fill.

    Parameters
    ----------
    environ : mapping of str to str
        ``OMP_NUM_THREADS`` is what a scheduler of processes leaves to each, of which the first
        number is meant.  Joblib and dask's nannies set it, and what multiplies matrices heeds it.
    quota : str
        The file in which a control group is told its share of the cores.
    """
    cores = available_cores()
    with contextlib.suppress(OSError, ValueError):
        with open(quota, "rb") as file:  # noqa: PTH123 (paths are slow to import)
            share, period = map(int, file.read().split())  # no number where there is no quota
        cores = min(cores, max(1, -(-share // period)))
    told = environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores, int(told)) if told.isdecimal() and int(told) else cores


settings = Settings(os.environ)


class _Budgets(threading.local):
    """How many budgets bound what a thread allocates."""

    open = 0


_budgets = _Budgets()


@contextlib.contextmanager
def budgeted() -> Iterator[None]:
    """Let a budget bound what this thread allocates, instead of ``max_result_bytes``."""
    _budgets.open += 1
    try:
        yield
    finally:
        _budgets.open -= 1


def is_too_large(nbytes: int) -> bool:
    """Tell whether so many bytes are more than this thread may allocate at once."""
    return nbytes > settings.max_result_bytes and not _budgets.open


class _Attributes(type):
    """Settings as attributes of ``config`` itself: read, and set for good (or in an open block)."""

    def __getattr__(cls, name: str) -> object:
        if name in Settings.__slots__:
            return getattr(settings, name)
        raise AttributeError(_unknown(name), name=name, obj=cls)

    def __setattr__(cls, name: str, value: object) -> None:
        if name not in Settings.__slots__:
            raise AttributeError(_unknown(name), name=name, obj=cls)
        cls(**{name: value})


class config(metaclass=_Attributes):
    """Change settings now, and back at the end of a ``with`` block if used as one.

    Blocks may end in any order (threads, generators and coroutines interleave theirs).  While
    some are open, the one that was entered last among those that change a field decides; when
    all have ended, the values from before stand.  A change that is no block belongs to the block
    it is made in and ends with it.

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

    The settings in force are shown by ``print(xl.config())``, and each is an attribute, which may
    be set too:

    >>> xl.config.default_layout
    'row_major'
    """

    __slots__ = ("__weakref__", "_changes", "_open")

    def __init__(self, **changes: object) -> None:
        for name, value in changes.items():
            _check(name, value)
        self._changes = changes
        self._open: list[_Layer] = []
        # Whether this is a block is known when it is entered: until then it is a plain change.
        with _lock.held:
            self._open.append(_push(_Layer(changes, weakref.ref(self))))

    def __repr__(self) -> str:
        """Show the settings in force."""
        return repr(settings)

    def __enter__(self) -> Settings:
        with _lock.held:
            layer = self._open[-1]
            if layer.entered:
                self._open.append(layer := _Layer(self._changes, layer.owner))
            layer.entered = True
            _push(layer)
        return settings

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with _lock.held:
            layer = self._open[-1]
            if len(self._open) > 1:
                self._open.pop()
            else:
                self._open[0] = _Layer(self._changes, layer.owner)
            _remove(layer)


# --- changes upon changes ----------------------------------------------------------------------


class _Layer:
    """One change: the values it gives some fields while it is in force.

    Attributes
    ----------
    changes : mapping of str to object
        Values by field.
    owner : weak reference to config
        Who can end it; without an owner it lasts.
    entered : bool
        Whether it is an open block.
    within : _Layer or None
        The block that a change which is no block was made in.
    """

    __slots__ = ("changes", "entered", "owner", "within")

    def __init__(self, changes: Mapping[str, object], owner: weakref.ref[config]) -> None:
        self.changes = changes
        self.owner = owner
        self.entered = False
        self.within: _Layer | None = None

    def belongs_to(self, block: _Layer | None) -> bool:
        """Tell whether it is no block itself and was made in ``block`` (None: outside all)."""
        return self.within is block and not self.entered


#: Changes in force, the latest last.
_layers: list[_Layer] = []

#: Values of the fields that layers change, below all of them.
_base: dict[str, object] = {}

# Re-entrant, for a signal handler may change settings too.
_lock = ForkLock()


def _push(layer: _Layer) -> _Layer:
    """Put a layer on top of all others (move it there, if it is among them)."""
    _settle()
    if layer in _layers:
        _layers.remove(layer)
    else:
        layer.within = next((other for other in reversed(_layers) if other.entered), None)
    _layers.append(layer)
    for name, value in layer.changes.items():
        _base.setdefault(name, getattr(settings, name))
        setattr(settings, name, value)
    return layer


def _remove(layer: _Layer) -> None:
    """End a block, and the changes made in it that are no blocks."""
    gone = [other for other in _layers if other is layer or other.belongs_to(layer)]
    _layers[:] = [other for other in _layers if other not in gone]
    _adopt(layer)
    _restore({name for other in gone for name in other.changes})
    _settle()


def _restore(names: Iterable[str]) -> None:
    """Give fields the values of the topmost layers that change them, else those below all."""
    for name in names:
        holder = next((layer for layer in reversed(_layers) if name in layer.changes), None)
        setattr(settings, name, _base[name] if holder is None else holder.changes[name])


def _settle() -> None:
    """Let changes that nobody can end any more become part of what lies below them."""
    for layer in [layer for layer in _layers if layer.owner() is None]:
        below = [x for x in _layers[: _layers.index(layer)] if x.belongs_to(layer.within)]
        into = below[-1] if below else layer.within
        if into is None:
            _base.update(layer.changes)
        elif into.entered or into.owner() is None:
            into.changes = {**into.changes, **layer.changes}
        else:
            continue  # what may still be ended must not take this with it
        _layers.remove(layer)
        _adopt(layer)
    for name in _base.keys() - {name for layer in _layers for name in layer.changes}:
        del _base[name]


def _adopt(layer: _Layer) -> None:
    """Give what was made in a block that is gone to the one around it."""
    for other in _layers:
        if other.within is layer:
            other.within = layer.within


def _unknown(name: str) -> str:
    """Return what is said of a setting that does not exist."""
    return f"config: unknown setting {name!r}; known: {sorted(Settings.__slots__)}"


def _check(name: str, value: object) -> None:
    if name not in Settings.__slots__:
        raise ValueError(_unknown(name))
    current = getattr(settings, name)
    if type(value) is not type(current):
        raise ValueError(f"config: {name} takes {type(current).__name__}, got {value!r}")
    if name == "engine" and value not in ENGINES:
        raise ValueError(f"config: engine must be one of {ENGINES}, got {value!r}")
    if name == "default_layout" and value not in LAYOUTS:
        raise ValueError(f"config: default_layout must be one of {LAYOUTS}, got {value!r}")
    least = _LEAST.get(name)
    if least is not None and isinstance(value, int) and value < least:
        raise ValueError(f"config: {name} must be at least {least}, got {value}")
