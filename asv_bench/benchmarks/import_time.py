"""What ``import xarraylite`` adds to a process that would import NumPy anyway."""

from __future__ import annotations

from . import SMALL, Comparison
from .processes import run_python


class Import(Comparison):
    """A process from start to exit that only imports."""

    title = "import, whole process"
    limit = ("extra_ms", 50.0)  # the promise is about the difference, not the ratio
    rounds = 1 if SMALL else 11

    def setup(self) -> None:
        self.results()  # write the .pyc files

    def xarraylite(self) -> object:
        return int(run_python("import xarraylite, sys; print(int('numba' in sys.modules))"))

    def numpy(self) -> object:
        return int(run_python("import numpy, sys; print(int('numba' in sys.modules))"))

    def track_extra_ms(self) -> float:
        """Milliseconds on top of NumPy's import."""
        times = self.compare()
        return 1e3 * (times.xarraylite - times.numpy)

    track_extra_ms.unit = "ms"  # type: ignore[attr-defined]
