"""Code in fresh processes, which start as a user's do: compiled modules are on disk."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile


@functools.cache
def bytecode_directory() -> str:
    """Return a directory that keeps the bytecode of modules until this process ends."""
    made = tempfile.mkdtemp(prefix="xarraylite-bench-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def run_python(code: str, timeout: float = 240, **environ: str) -> str:
    """Run code in a fresh process and return what it printed; its errors are ours.

    The first process that imports a module compiles it for those that come after.
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        capture_output=True,
        text=True,
        timeout=timeout,
        env={
            **os.environ,
            "PYTHONDONTWRITEBYTECODE": "",
            "PYTHONPYCACHEPREFIX": bytecode_directory(),
            **environ,
        },
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()
