"""The first evaluation in a fresh process, with an empty and with a warm kernel cache."""

from __future__ import annotations

import tempfile

from . import SMALL, Comparison, run_python

_CASE = """
from time import perf_counter
import {module} as xp
a, b, c = (xp.linspace(0.0, 1.0, 1000) for _ in range(3))
start = perf_counter()
total = float(xp.sum(a + b * c))
print(repr(total), 1e3 * (perf_counter() - start))
"""


class FirstEvaluation(Comparison):
    """A process from start to exit that evaluates one expression, kernel cache empty."""

    title = "process with one first evaluation, cold cache"
    rounds = 1 if SMALL else 5

    def setup(self) -> None:
        self.kept = tempfile.TemporaryDirectory(prefix="xarraylite-bench-")
        self.warm_directory = self.kept.name

    def teardown(self) -> None:
        self.kept.cleanup()

    def xarraylite(self) -> object:
        with tempfile.TemporaryDirectory(prefix="xarraylite-bench-") as empty:
            return self.run("xarraylite", empty)[0]

    def numpy(self) -> object:
        return self.run("numpy", "")[0]

    def run(self, module: str, cache_dir: str) -> tuple[float, float]:
        """The sum, and the milliseconds of the first evaluation without imports."""
        printed = run_python(_CASE.format(module=module), XARRAYLITE_CACHE_DIR=cache_dir)
        total, milliseconds = printed.split()
        return float(total), float(milliseconds)

    def track_first_evaluation_ms(self) -> float:
        """Milliseconds of the evaluation alone, imports not counted."""
        with tempfile.TemporaryDirectory(prefix="xarraylite-bench-") as empty:
            return self.run("xarraylite", empty)[1]

    track_first_evaluation_ms.unit = "ms"  # type: ignore[attr-defined]


class FirstEvaluationWarm(FirstEvaluation):
    """The same in the process after: the kernel is on disk."""

    title = "process with one first evaluation, warm disk cache"

    def setup(self) -> None:
        super().setup()
        self.run("xarraylite", self.warm_directory)

    def xarraylite(self) -> object:
        return self.run("xarraylite", self.warm_directory)[0]

    def track_first_evaluation_ms(self) -> float:
        """Milliseconds of the evaluation alone, imports not counted."""
        return self.run("xarraylite", self.warm_directory)[1]

    track_first_evaluation_ms.unit = "ms"  # type: ignore[attr-defined]


_COLD = """
from time import process_time
import numpy as np
import {module} as xp
a, b = (xp.reshape(xp.linspace(0.1, 1.0, 1200), (30, 40)) for _ in range(2))
np.asarray(a - b)
start = process_time()
total = np.asarray({expression})
print(repr(float(np.sum(total))), 1e3 * (process_time() - start))
"""


class ColdKernels(FirstEvaluation):
    """The kernels of one expression in a process that has started LLVM, kernel cache empty."""

    title = "process that compiles sin(a)"
    expression = "xp.sin(a)"

    def run(self, module: str, cache_dir: str) -> tuple[float, float]:
        """The sum of the result, and the CPU milliseconds of its evaluation."""
        code = _COLD.format(module=module, expression=self.expression)
        total, milliseconds = run_python(code, XARRAYLITE_CACHE_DIR=cache_dir).split()
        return float(total), float(milliseconds)


class ColdSum(ColdKernels):
    """A fold, which is more code than any elementwise kernel."""

    title = "process that compiles sum(a*b)"
    expression = "xp.sum(a * b)"


class ColdDeviation(ColdKernels):
    """Three kernels, two of them folds."""

    title = "process that compiles std(a)"
    expression = "xp.std(a)"
