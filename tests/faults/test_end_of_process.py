"""Machine code at the end of a process: modules are gone, and what they made is still called."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from xarraylite.runtime import natives

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not natives.can_load(), reason="another interpreter"),
]

#: Objects that are deleted after the modules compute, and builtin functions are left to the end.
PROGRAM = """
import builtins, ctypes, sys
import numpy as np
import xarraylite as xl
from xarraylite.transforms import natives

natives.install()
a, c = xl.asarray(np.arange(10.0)), xl.zeros(10)
for k in range(40):
    c[...] = a * 2 + k
    xl.eval(a + c), a[1:3], a[2], np.asarray(a), a @ a, a.copy(), a == c, -a

class Last:
    def __init__(self, name):
        self.own = name, xl.eval, a, c, np, sys.stdout

    def __del__(self):
        name, eval, a, c, np, out = self.own
        c[...] = a * 2 + 1
        found = eval(a + c), a[1:3], a[2], np.asarray(a), a @ a, a.copy(), a == c, -a
        out.write(f"{name} {found[0][1]} ")

in_cycle = Last("cycle")
in_cycle.itself = in_cycle
builtins.kept = Last("builtins")
functions = [xl.eval, xl.adapt, xl.index_view]
functions.append(functions)
ctypes.pythonapi.Py_IncRef(ctypes.py_object(functions))  # as a library in C holds them
"""


def test_what_is_deleted_last_may_compute() -> None:
    """Memory that is freed is overwritten at once, so that nobody reads what is no more."""
    environment = {**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(done.stdout.split()) == ["4.0", "4.0", "builtins", "cycle"]
