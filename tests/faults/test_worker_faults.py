"""Compiling under interrupts, re-entry and forks: no crash, no hang, no wrong function.

Each test is a process that compiles small LLVM modules by the worker and the table, and says
``right`` at its end.  ``XARRAYLITE_FAULT_ROUNDS`` raises the number of interrupts and forks, which
is small here: 1000 interrupts take a minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

ROUNDS = int(os.environ.get("XARRAYLITE_FAULT_ROUNDS", "0"))
FOLDER = str(Path(__file__).parent)

TIMER = pytest.mark.skipif(sys.platform == "win32", reason="needs timer signals")
FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

pytest.importorskip("llvmlite")


def script(code: str, rounds: int) -> None:
    """Run a script of many rounds in a process of its own."""
    rounds = ROUNDS or rounds
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", f"ROUNDS = {rounds}\n{COMMON}{code}"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120 + rounds,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([FOLDER, *filter(None, sys.path)])},
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr[-4000:]
    assert done.stderr == ""


COMMON = """
import faulthandler, gc, os, random, signal, threading, time, warnings
import compiling
from compiling import Finalised, check, table
from xarraylite.codegen import worker
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of fork with threads
rng = random.Random(7)
def settle():
    for k in range(20):
        check(10_000 + k)
    worker.run(lambda: None)
    assert not table._flights or ROUNDS, table._flights
"""


@TIMER
def test_interrupts_at_random_instants() -> None:
    """Some hit the table's own code, some the wait, some the call of the function."""
    script(
        """
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
check(0)
interrupted = k = 0
while interrupted < ROUNDS:
    k += 1
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 4e-3))
        for step in range(4):
            check(k + step)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        interrupted += 1
for j in range(k):
    check(j)
settle()
print("right")
""",
        60,
    )


@TIMER
def test_a_handler_compiles_what_is_being_compiled() -> None:
    script(
        """
current = handled = 0
def handler(*_):
    global handled
    handled += 1
    check(current)
    check(current + 1)
    if handled % 3 == 0:
        raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
check(0)
while handled < ROUNDS:
    current += 1
    try:
        signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 2e-3))
        check(current)
        check(current + 1)
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        pass
settle()
print("right")
""",
        60,
    )


def test_finalisers_and_callbacks_of_the_collector_compile() -> None:
    """They run in the caller, in the worker between jobs and in the middle of jobs."""
    script(
        """
places = set()
class Noting(Finalised):
    def __del__(self):
        places.add(worker.is_worker())
        super().__del__()
compiling.littered()
gc.callbacks.append(compiling.collecting)
def job(k):
    for _ in range(5):
        Noting()
    compiled = compiling.Compiled(k)
    Noting()
    return compiled
for k in range(ROUNDS):
    Noting()
    assert table.get(k, lambda: job(k)).right()
gc.collect()
gc.callbacks.clear()
assert places == {True, False}, places
settle()
print("right")
""",
        40,
    )


def test_finalisers_evaluate_while_the_compiler_is_imported() -> None:
    """The collector runs in the import, and what it calls would find half of a module."""
    code = """
import gc, sys
import xarraylite as xl
failed = []
sys.unraisablehook = lambda what: failed.append(repr(what.exc_value))
a = xl.asarray([1.0, 2.0, 3.0])
class Cycle:
    def __init__(self):
        self.own, self.pending = self, a * 2
    def __del__(self):
        a[0] = 1.0
        xl.eval(self.pending + a)
gc.set_threshold(1, 1, 1)
for k in range(20):
    Cycle()
    assert xl.eval(a + k).tolist() == [1 + k, 2 + k, 3 + k]
print(failed)
"""
    run = [sys.executable, "-c", code]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(run, check=True, capture_output=True, text=True, env=environ)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_sixteen_threads() -> None:
    script(
        """
compiling.littered()
wrong = []
def work(seed):
    mine = random.Random(seed)
    try:
        for _ in range(ROUNDS):
            Finalised()
            check(mine.randrange(120))  # the table keeps 50
    except BaseException as error:
        wrong.append(repr(error))
threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert wrong == [], wrong
assert len(table) <= 50
settle()
print("right")
""",
        14,
    )


BUSY = """
stop = False
def busy(seed):
    mine = random.Random(seed)
    while not stop:
        check(mine.randrange(10**6))
threads = [threading.Thread(target=busy, args=(seed,), daemon=True) for seed in range(THREADS)]
for thread in threads: thread.start()
"""

CHILD = """
def child():
    faulthandler.dump_traceback_later(15, exit=True)
    try:
        inner = [threading.Thread(target=check, args=(10**7 + k,)) for k in range(3)]
        for thread in inner: thread.start()
        check(rng.randrange(10**6))
        for thread in inner: thread.join()
        os._exit(0)
    except BaseException as error:
        os.write(2, repr(error).encode())
        os._exit(3)
def forked():
    pid = os.fork()
    return pid or child()
def codes(pids):
    return {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids}
"""


@FORK
@pytest.mark.parametrize("threads", [1, 4])
def test_forks_while_other_threads_compile(threads: int) -> None:
    script(
        f"THREADS = {threads}\n{BUSY}{CHILD}"
        """
for k in range(ROUNDS):
    time.sleep(rng.uniform(0, 3e-3))
    assert codes([forked()]) == {0}
stop = True
for thread in threads: thread.join()
settle()
print("right")
""",
        15,
    )


@FORK
def test_forks_in_a_handler_that_interrupts_a_waiting_caller() -> None:
    """The child goes on where the parent waits for a job that the child has no thread for."""
    script(
        CHILD
        + """
pids, children = [], 0
def handler(*_):
    global children
    children += 1
    pid = os.fork()
    if pid:
        pids.append(pid)
    else:
        faulthandler.dump_traceback_later(15, exit=True)
        pids.append(0)
signal.signal(signal.SIGALRM, handler)
k = 0
while children < ROUNDS:
    k += 1
    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 3e-3))
    check(k)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if pids and pids[-1] == 0:
        child()
    assert codes(pids) <= {0}
    pids.clear()
settle()
print("right")
""",
        15,
    )


@FORK
def test_a_fork_on_the_worker_itself() -> None:
    script(
        CHILD
        + """
def job(k):
    pid = os.fork()
    if not pid:
        child()
    return pid
for k in range(ROUNDS):
    assert codes([worker.run(lambda: job(k))]) == {0}
    check(k)
settle()
print("right")
""",
        5,
    )


@FORK
def test_hooks_of_others_may_compile_at_a_fork() -> None:
    """Hooks that were registered earlier run while the fork has stopped the worker."""
    script(
        """
import subprocess, sys
code = '''
import os
seen = []
os.register_at_fork(before=lambda: check(1), after_in_parent=lambda: check(2),
                    after_in_child=lambda: check(3))
from compiling import check
from xarraylite.codegen import worker
check(0)
pid = os.fork()
check(4)
if not pid:
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
'''
code = "import sys, warnings; warnings.simplefilter('ignore')" + code
subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
print("right")
""",
        1,
    )


@pytest.mark.parametrize("where", ["thread", "daemon", "exit"])
def test_processes_that_end_while_they_compile(where: str) -> None:
    """LLVM's globals are torn down at exit: no thread may be inside it then."""
    script(
        """
import subprocess, sys
code = '''
import atexit, sys, threading, time, random
atexit.register(lambda: check(10**7))  # after the worker has been closed
from compiling import check
check(0)
rng = random.Random(int(sys.argv[2]))
def loop():
    for k in range(10**5 if sys.argv[1] == "daemon" else 10):
        check(rng.randrange(10**6))
if sys.argv[1] == "exit":
    atexit.register(loop)
else:
    threading.Thread(target=loop, daemon=sys.argv[1] == "daemon").start()
time.sleep(rng.uniform(0, 0.02))
'''
for k in range(ROUNDS):
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", code, WHERE, str(k)],
                   check=True, timeout=120)
print("right")
""".replace("WHERE", repr(where)),
        3,
    )
