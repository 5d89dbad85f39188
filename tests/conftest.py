"""Session-wide settings: which engine runs, where kernels are cached, how hard hypothesis tries.

``--engine`` sets the engine for the whole run, subprocesses and doctests included, so the
suite as a whole is the test that both engines agree with NumPy.  Kernels go to a private
directory shared by all xdist workers: each is compiled once per run, and no run sees an
older one's.  Set ``XARRAYLITE_CACHE_DIR`` to keep kernels between runs.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from tests.layers import RANKS
from xarraylite._config import config as configure
from xarraylite._config import settings
from xarraylite.arrays import memo
from xarraylite.runtime.counting import reuses
from xarraylite.runtime.natives import can_load
from xarraylite.transforms import natives

ROOT = Path(__file__).resolve().parents[1]

# Deadlines would time the compiler: one example in many has to build a kernel.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
hypothesis_settings.register_profile(
    "ci", max_examples=24, derandomize=True, database=None, print_blob=True, **_COMMON
)
hypothesis_settings.register_profile("explore", max_examples=100, **_COMMON)
hypothesis_settings.register_profile("deep", max_examples=3000, **_COMMON)
hypothesis_settings.load_profile(os.environ.get("XARRAYLITE_HYPOTHESIS_PROFILE", "ci"))

_SCRATCH = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--engine",
        choices=("auto", "compiled", "reference"),
        default="compiled",
        help="engine that evaluates expressions in this run (default: compiled)",
    )
    parser.addoption(
        "--regenerate-golden",
        action="store_true",
        help="write the files that tests compare with (tests/codegen/golden, the stub) anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Shells start background jobs with Ctrl-C ignored; the tests of interrupts need it.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # xdist's workers inherit the environment of the controller, which comes here first.
    if "XARRAYLITE_CACHE_DIR" not in os.environ:
        scratch = tempfile.mkdtemp(prefix="xarraylite-tests-")  # mode 0700
        config.stash[_SCRATCH] = scratch
        os.environ["XARRAYLITE_CACHE_DIR"] = scratch
    engine = config.getoption("--engine")
    os.environ["XARRAYLITE_ENGINE"] = engine
    configure(engine=engine, cache_dir=os.environ["XARRAYLITE_CACHE_DIR"])


#: Rooms in which the interpreter has no part: those below the table of operations evaluate
#: nothing, the others are the compiled engine's own, or the same for both.
_COMPILED = {room for room, rank in RANKS.items() if 0 < rank < RANKS["ops"]}
_COMPILED |= {"codegen", "compiler", "overlap", "io", "display"}


def _room(path: Path) -> str:
    """Return the folder of the tests or the package in which a file is."""
    return "/".join(path.relative_to(ROOT).parts[1:2]) if path.is_relative_to(ROOT) else ""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out of the interpreter's run the rooms in which it has no part, and all examples.

    Examples are there to be read: what they show is tested on both engines elsewhere.
    """
    if config.getoption("--engine") != "reference":
        return None
    examples = collection_path.is_relative_to(ROOT / "xarraylite")
    return True if examples or _room(collection_path) in _COMPILED else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect without collections of garbage, an eighth of the time: nearly all of it stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[Any], list[Any]]:
    """Look for examples where there are some: going through all that modules have takes time."""
    found = yield
    examples = b">>> " in file_path.read_bytes()
    return found if examples else [made for made in found if type(made) is pytest.Module]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out of the interpreter's run what has no part for it.

    That is what is the same in both runs (the mark ``once``), what is about the compiled engine
    (the fixture ``compiled``), and rooms asked for by file.
    """
    if config.getoption("--engine") != "reference":
        return

    def evaluates(item: pytest.Item) -> bool:
        once = item.get_closest_marker("once") or "compiled" in getattr(item, "fixturenames", ())
        return _room(item.path) not in _COMPILED and not once

    config.hook.pytest_deselected(items=[item for item in items if not evaluates(item)])
    items[:] = [item for item in items if evaluates(item)]


def pytest_unconfigure(config: pytest.Config) -> None:
    scratch = config.stash.get(_SCRATCH, None)
    if scratch is not None:
        shutil.rmtree(scratch, ignore_errors=True)
        os.environ.pop("XARRAYLITE_CACHE_DIR", None)


def pytest_report_header(config: pytest.Config) -> str:
    return f"xarraylite: engine={settings.engine}, threads={settings.threads}"


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """Name of the engine this run tests."""
    return str(request.config.getoption("--engine"))


_modules = itertools.count()


@pytest.fixture(autouse=True, scope="module")
def _earlier_objects_are_not_traversed() -> None:
    """Leave what stays of collecting and of earlier modules out of garbage collections.

    There are millions of such objects in the end, and a collection would take a second.  Tests
    that count objects count their own then.  A collection here takes as long as twenty tests, so
    it is for several modules.
    """
    if next(_modules) % 8 == 0:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True)
def _settings_are_restored() -> Iterator[None]:
    """Undo what a test does to the settings, so that no test depends on another.

    Nor on the extents that others have met, and on how often they used their results again.
    """
    memo.forget_extents()
    reuses.value = 0
    before = {name: getattr(settings, name) for name in type(settings).__slots__}
    yield
    for name, value in before.items():
        setattr(settings, name, value)


@pytest.fixture
def compiled() -> None:
    """Leave a test out where the run evaluates with NumPy: what is tested would not be used."""


@pytest.fixture
def installed(request: pytest.FixtureRequest) -> Iterator[None]:
    """Use the methods in machine code, which many launches would load.

    Where this interpreter cannot, tests that are about them are left out.
    """
    if "compiled" in request.fixturenames and not can_load():
        pytest.skip("another interpreter")
    natives.install()
    yield
    natives.remove()


@pytest.fixture(params=[False, True], ids=["methods", "machine code"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run with the methods in Python, and with those in machine code."""
    if request.param:
        natives.install()
    yield
    natives.remove()


@pytest.fixture
def by_python(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have no methods in machine code: for tests that change what those in Python do."""
    monkeypatch.setattr("xarraylite.runtime.counting._uses", itertools.repeat(0))
    installed = bool(natives._replaced)
    natives.remove()
    yield
    if installed:
        natives.install()


@pytest.fixture
def whole(by_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep lazy results whole, however long they get: for tests of what is done with long ones."""
    monkeypatch.setattr("xarraylite.arrays.ownership._LONG", 1 << 30)
    monkeypatch.setattr("xarraylite.arrays.ownership._FEW", 1 << 30)


@pytest.fixture
def gathered(by_python: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gather few elements too, which are copied otherwise: for tests of kernels that gather."""
    monkeypatch.setattr("xarraylite.arrays.few.FEW", 0)
