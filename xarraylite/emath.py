"""Functions whose results are complex where real ones do not exist: NumPy's ``np.emath``.

NumPy computes them: operands are evaluated, results are containers.  The names are NumPy's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .functions.foreign import called

#: The names that there are.
_NAMES = ["arccos", "arcsin", "arctanh", "log", "log2", "log10", "logn", "power", "sqrt"]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = called(getattr(np.emath, name), f"emath.{name}")
    return made


def __dir__() -> list[str]:
    return _NAMES
