"""Rooms that are imported when they are used: also where the process forks meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest

FORKS = """
    import os, signal, threading, time
    import xarraylite as xl

    def load():
        for name in xl.__all__:
            getattr(xl, name)

    loading = threading.Thread(target=load)
    loading.start()
    children = []
    while loading.is_alive():
        child = os.fork()
        if not child:
            signal.alarm(30)
            load()
            os._exit(0)
        children.append(child)
        time.sleep(0.02)
    loading.join()
    print(len(children), {os.waitpid(child, 0)[1] for child in children})
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_child_never_waits_for_a_module_that_its_parent_imports() -> None:
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(FORKS)],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        children, states = done.stdout.split(maxsplit=1)
        assert int(children) > 0
        assert states.strip() == "{0}"
