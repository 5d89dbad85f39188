"""What pending expressions keep on free-threaded builds, where references are not counted.

Another process takes its build for one, so all that depends on the build is what is used there.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from xarraylite.memory import buffer

SCRIPT = """
import sys

version, _, rest = sys.version.partition(" ")
sys.version = f"{version} free-threading build {rest}"

import threading
import numpy as np
import xarraylite as xl
from tests.transforms.test_native_writes import V, WRITES
from xarraylite.memory.buffer import COUNTS
from xarraylite.runtime import natives
from xarraylite.testing.counters import count_allocations

assert not COUNTS and not natives.can_load()


def readers(a):
    return [a * 2, np.sum(a) if isinstance(a, np.ndarray) else xl.sum(a), a[1:] + 1, a.T - 1]


class Temporary:
    def __init__(self, a):
        self.of = a

    def __getitem__(self, k):
        return readers(self.of)[k]


for name, write in WRITES.items():
    v, x = V.copy(), V * 0.5 + 3
    before = readers(v)
    for others in (True, False):
        a, b = xl.asarray(V), xl.asarray(x)
        waiting = readers(a) if others else Temporary(a)
        with count_allocations() as made:
            write(a, b, waiting)
        copies = others or name in ("values by positions", "out of a reader")
        assert made.snapshots == copies, (name, others, made.snapshots)
        if others:
            assert [xl.eval(e).tolist() for e in waiting] == [e.tolist() for e in before], name
    if not name.startswith("assign"):
        write(v, x, before)
        assert a.tolist() == v.tolist(), name

# Memory that NumPy has seen, and a view of a result that nobody has any more.
a = xl.asarray(V)
lent = xl.adapt(a.buffer.data)  # before anyone waits, who would get a copy now
e = a * 2
with count_allocations() as made:
    lent[:8] = 0
    a[...] = a + 1
    a[...] = (a * 2)[::-1]
assert made.snapshots == 1 and xl.eval(e).tolist() == (V * 2).tolist()

# Threads write rows of one matrix and read what these were.
m, wrong = xl.zeros((4, 3)), []


def work(k):
    for i in range(150):
        m[k] = i
        e = m[k] * 2
        m[k] = -1.0
        m[k] += 1.0
        if xl.eval(e).tolist() != [2.0 * i] * 3 or m[k].tolist() != [0.0] * 3:
            wrong.append((k, i))


sys.setswitchinterval(1e-5)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong[:3]
"""


@pytest.mark.skipif(not buffer.COUNTS, reason="the suite runs on such a build")
def test_writes_move_what_is_read_and_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
