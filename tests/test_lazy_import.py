"""Rooms that are imported when they are used: also where the process forks meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

FORKS = """
    import os, signal, threading, time
    import xarraylite as xl
    import logging

    def load():
        for name in xl.__all__:
            getattr(xl, name)

    loading = threading.Thread(target=load)
    loading.start()
    children = []
    while loading.is_alive() and len(children) < 6:
        child = os.fork()
        if not child:
            signal.alarm(60)
            load()
            os._exit(0)
        children.append(child)
        time.sleep(0.02)
    loading.join()
    print(len(children), {os.waitpid(child, 0)[1] for child in children})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_never_waits_for_a_module_that_its_parent_imports() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKS)],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    children, states = done.stdout.split(maxsplit=1)
    assert int(children) > 0
    assert states.strip() == "{0}", done.stderr


WANTED = """
    import os, threading, time
    import xarraylite as xl
    import logging
    from xarraylite import _lazy_import

    def load():
        with _lazy_import._importing.held:
            time.sleep(0.3)
            logging.getLogger("any")

    threading.Thread(target=load, daemon=True).start()
    time.sleep(0.1)
    child = os.fork()
    if not child:
        xl.asarray([1.0])
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_that_holds_what_an_import_wants_goes_on() -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WANTED)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout.strip()) == (0, "0"), done.stderr


ASKED = """
    import os, sys, threading, time
    import xarraylite as xl
    from xarraylite import _lazy_import

    found, begun = [], threading.Event()
    sys.unraisablehook = lambda what: found.append(repr(what.exc_value))

    def load():
        with _lazy_import._importing.held:
            begun.set()
            time.sleep(0.3)  # the fork has begun
            from xarraylite.codegen import worker
            worker.run(lambda: None)
            import concurrent.futures.thread, logging  # whose hooks are called after it alone

    thread = threading.Thread(target=load)
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        assert float(xl.sum(xl.asarray([1.0, 2.0]) * 2)) == 6.0
        import logging
        logging.getLogger("child")
        os._exit(0)
    print(os.waitpid(child, 0)[1], found)
    thread.join()
    import concurrent.futures.thread, logging
    for lock in (logging._lock, concurrent.futures.thread._global_shutdown_lock):
        asked = []
        thread = threading.Thread(target=lambda: asked.append(lock.acquire(False)))
        thread.start()
        thread.join()
        assert asked == [True]  # the fork has given it back
        lock._at_fork_reinit()
    child = os.fork()
    if not child:
        os._exit(0)
    print(os.waitpid(child, 0)[1], found)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_an_import_may_ask_a_fork_that_has_begun_to_wait() -> None:
    """What was not begun before the fork is not ended after it."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(ASKED)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split("\n")[:2] == ["0 []", "0 []"], (done.stdout, done.stderr)


HALFWAY = """
    import gc, os, signal, sys, threading
    import xarraylite as xl
    from xarraylite import _lazy_import

    _lazy_import.PATIENCE = 0.01
    xl.config(engine="compiled").__enter__()
    halfway = threading.Event()

    def evaluate():
        return float(xl.sum(xl.sqrt(xl.asarray([4.0, 9.0]) * 4)))

    def follow(frame, event, arg):
        body = frame.f_code.co_name == "<module>"
        return pause if body and frame.f_code.co_filename.endswith(sys.argv[1]) else None

    def pause(frame, event, arg):
        if frame.f_lineno > 100:
            halfway.set()
            threading.Event().wait()
        return pause

    threading.settrace(follow)
    threading.Thread(target=evaluate, daemon=True).start()
    halfway.wait()
    threading.settrace(None)
    child = os.fork()
    if not child:
        signal.alarm(60)
        assert evaluate() == 10.0 and gc.isenabled()
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
    os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("room", ["direct.py", "kernel.py"])
def test_a_child_imports_anew_what_its_parent_had_not_imported_to_the_end(room: str) -> None:
    """However long that takes there."""
    command = [sys.executable, "-c", textwrap.dedent(HALFWAY), room]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), (done.stdout, done.stderr)


SLOW = """
    import os, sys, threading
    from xarraylite import _lazy_import

    _lazy_import.PATIENCE = 0.1
    sys.path.insert(0, sys.argv[1])
    thread = threading.Thread(target=_lazy_import.imported, args=["slow"])
    thread.start()
    while "slow" not in sys.modules:
        pass
    child = os.fork()
    if not child:
        assert hasattr(sys.modules["slow"], "part9")
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_waits_for_imports_as_long_as_they_go_on(tmp_path: Path) -> None:
    for part in range(10):
        (tmp_path / f"part{part}.py").write_text("import time\ntime.sleep(0.05)\n")
    (tmp_path / "slow.py").write_text("\n".join(f"import part{n}" for n in range(10)))
    command = [sys.executable, "-c", textwrap.dedent(SLOW), str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.strip()) == (0, "0"), (done.stdout, done.stderr)


COLLECTED = """
    import gc, sys
    import xarraylite as xl

    if sys.argv[1:]:
        gc.freeze()
    frozen, found = gc.get_freeze_count(), []
    gc.callbacks.append(lambda phase, _: found.append(len(gc.get_objects(0))))
    assert float(xl.sum(xl.asarray([1.0, 2.0]) * 2)) == 6.0
    kept = gc.get_freeze_count() >= 0.9 * frozen
    print(max(found, default=0) < 10_000, kept, gc.isenabled())
"""


@pytest.mark.parametrize("freezes", [False, True])
def test_the_collector_does_not_look_at_what_imports_make(freezes: bool) -> None:
    """But where the user keeps objects frozen, which stay so."""
    command = [sys.executable, "-c", textwrap.dedent(COLLECTED), *["1"] * freezes]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == f"{not freezes} True True", done.stderr
