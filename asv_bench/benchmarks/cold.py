"""What a user waits for the first time: kernels, a session and the first result of a process.

Everything runs in fresh processes without Numba, with an empty or a full cache of kernels.  Times
are CPU seconds of the whole process, the compiler's thread included, so that they mean something
where others use the machine too.
"""

from __future__ import annotations

import tempfile
from abc import abstractmethod

from . import SMALL, Comparison, Times
from .processes import run_python

_PROCESS = """
import sys
from time import process_time
{before}
start = process_time()
{timed}
taken = process_time() - start
assert "numba" not in sys.modules
print(repr({value}), taken)
"""


class Fresh(Comparison):
    """A case whose sides are fresh processes, timed from inside."""

    unit = "of NumPy's CPU time"
    rounds = 1 if SMALL else 7
    # Whether kernels are on disk.
    full = False
    # With "auto" small expressions are interpreted for the first times.
    engine = "auto"
    # Source that is run before the clock starts.
    before = ""
    # What NumPy's process does, where that is something else.
    numpy_timed = ""
    numpy_value = ""

    @property
    @abstractmethod
    def timed(self) -> str:
        """Source that is timed; ``xp`` is the package, ``show`` gives values."""

    @property
    @abstractmethod
    def value(self) -> str:
        """An expression of a number that both sides agree in."""

    def setup(self) -> None:
        self.kept = tempfile.TemporaryDirectory(prefix="xarraylite-bench-")
        self.measured: Times | None = None
        self.found: tuple[object, object] = (None, None)
        if self.full:
            self.ours()

    def teardown(self) -> None:
        self.kept.cleanup()

    def xarraylite(self) -> object:
        return self.ours()[0]

    def numpy(self) -> object:
        return self.theirs()[0]

    def results(self) -> tuple[object, object]:
        self.compare()
        return self.found

    def compare(self) -> Times:
        """Run both sides in turn, once for all numbers that are tracked."""
        if self.measured is None:
            pairs = [(self.ours(), self.theirs()) for _ in range(self.rounds)]
            self.found = (pairs[0][0][0], pairs[0][1][0])
            self.measured = Times(tuple([(ours[1], theirs[1]) for ours, theirs in pairs]))
        return self.measured

    def track_cpu_ms(self) -> float:
        """CPU milliseconds."""
        return 1e3 * self.compare().xarraylite

    track_cpu_ms.unit = "ms"  # type: ignore[attr-defined]

    def ours(self) -> tuple[float, float]:
        """Return the value and the CPU seconds of a process of this package."""
        if self.full:
            return self.run("xarraylite", self.timed, self.value, self.kept.name)
        with tempfile.TemporaryDirectory(prefix="xarraylite-bench-") as empty:
            return self.run("xarraylite", self.timed, self.value, empty)

    def theirs(self) -> tuple[float, float]:
        """Return the same of NumPy."""
        timed, value = self.numpy_timed or self.timed, self.numpy_value or self.value
        return self.run("numpy", timed, value, self.kept.name)

    def run(self, package: str, timed: str, value: str, directory: str) -> tuple[float, float]:
        """Run a process."""
        code = _PROCESS.format(before=self.before, timed=timed, value=value)
        printed = run_python(
            code.replace("PACKAGE", package).replace("SHOW", _SHOW[package]),
            XARRAYLITE_CACHE_DIR=directory,
            XARRAYLITE_ENGINE=self.engine,
        )
        found, taken = printed.split()
        return float(found), float(taken)


_SHOW = {"xarraylite": "xp.eval", "numpy": "xp.asarray"}


class Kernel(Fresh):
    """A kernel that was never compiled, where LLVM has made another one before."""

    engine = "compiled"
    before = """
import PACKAGE as xp
show = SHOW
a, b = xp.linspace(0.0, 1.0, 1000), xp.linspace(1.0, 2.0, 1000)
m = xp.reshape(xp.linspace(0.0, 1.0, 4096), (64, 64))
float(show(-a)[0])
"""
    value = "float(r)"


class KernelAdd(Kernel):
    """One vector instruction."""

    title = "kernel of a + b, never compiled (CPU)"
    timed, value = "r = show(a + b)", "float(r[7])"
    limit = ("cpu_ms", 20)


class KernelExp(Kernel):
    """A polynomial."""

    title = "kernel of exp(a), never compiled (CPU)"
    timed, value = "r = show(xp.exp(a))", "float(r[7])"
    limit = ("cpu_ms", 40)


class KernelSin(Kernel):
    """Two polynomials and the reduction of large angles."""

    title = "kernel of sin(a), never compiled (CPU)"
    timed, value = "r = show(xp.sin(a))", "float(r[7])"
    limit = ("cpu_ms", 100)


class KernelSum(Kernel):
    """A fold."""

    title = "kernel of sum(a*b), never compiled (CPU)"
    timed = "r = float(xp.sum(a*b))"
    limit = ("cpu_ms", 60)


class KernelRowSums(Kernel):
    """A fold of every row."""

    title = "kernel of sum(m, axis=1), never compiled (CPU)"
    timed, value = "r = show(xp.sum(m, axis=1))", "float(r[7])"
    limit = ("cpu_ms", 150)


class KernelArgmax(Kernel):
    """Two folds that depend on each other."""

    title = "kernels of argmax(a), never compiled (CPU)"
    timed = "r = int(xp.argmax(a))"
    limit = ("cpu_ms", 150)


class KernelStd(Kernel):
    """Two folds and what joins them."""

    title = "kernels of std(a), never compiled (CPU)"
    timed = "r = float(xp.std(a))"
    limit = ("cpu_ms", 150)


class Session(Fresh):
    """Twenty-seven ordinary lines after the import, nothing compiled before."""

    title = "session of 27 lines, empty cache (CPU)"
    rounds = 1 if SMALL else 5
    limit = ("cpu_ms", 1200)
    before = "import PACKAGE as xp\nshow = SHOW"
    timed = """
x = xp.linspace(0.0, 10.0, 2000)
A = xp.reshape(xp.linspace(-1.0, 1.0, 12000), (200, 60))
y = show(xp.sin(x))
centre = float(xp.mean(x))
spread = float(xp.std(x))
top = float(xp.max(y))
place = int(xp.argmax(y))
z = show((x - centre) / spread)
G = show(A @ A.T)
w = show(xp.where(y > 0, y, 0.0))
rows = show(xp.sum(A, axis=1))
columns = show(xp.mean(A, axis=0))
decay = show(xp.exp(-x))
index = xp.asarray([5, 1, 3])
picked = show(x[index])
joined = show(xp.concat([x, z]))
close = bool(xp.allclose(y, xp.sin(x)))
low = float(xp.min(x * y))
above = int(xp.count_nonzero(y > 0.5))
norm = float(xp.sqrt(xp.sum(x * x)))
B = show(A - xp.mean(A, axis=1, keepdims=True))
cut = show(xp.clip(y, 0.0, 0.5))
some = bool(xp.any(y > 0.99))
soft = show(xp.log(1 + xp.exp(x)))
x[1:] += x[:-1]
A[:, 0] = 0.0
pairs = show(xp.stack([w, decay]))
"""
    value = (
        "float(centre + spread + top + place + low + above + norm + close + some + G[1, 2]"
        " + rows[3] + columns[4] + picked[1] + joined[-1] + B[2, 2] + cut[9] + soft[9] + x[9]"
        " + A[1, 0] + pairs[1, 3])"
    )


class SessionFull(Session):
    """The same session once more: all kernels are on disk."""

    title = "session of 27 lines, full cache (CPU)"
    limit = ("cpu_ms", 200)
    full = True


class First(Fresh):
    """The first result of a process, its imports included, against ``import numpy``."""

    title = "import, first result, empty cache (CPU), / import numpy"
    rounds = 1 if SMALL else 15
    wanted = 1 / 2.2
    timed = """
import xarraylite as xl
a = xl.asarray([1.0, 2.0, 3.0])
r = xl.eval(a + 2.0*a)
"""
    value = "float(r[1])"
    numpy_timed = "import numpy as np"
    numpy_value = "float((np.asarray([1.0, 2.0, 3.0])*3.0)[1])"


class FirstFull(First):
    """The same with a full cache."""

    title = "import, first result, full cache (CPU), / import numpy"
    wanted = 1 / 1.8
    full = True


class FirstFused(FirstFull):
    """The same by a kernel, loaded from disk."""

    title = "import, first result of a kernel, full cache (CPU), / import numpy"
    engine = "compiled"
