"""Names that NumPy keeps under ``numpy.lib``.

`stride_tricks` and `recfunctions` are what programs use of it.  Everything here is a function of
another room, or NumPy's of records; other names (`mixins`, `NumpyVersion`) are NumPy's own.  It is
imported when somebody asks for it; no module of the package does.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import recfunctions, stride_tricks

__all__ = ["recfunctions", "stride_tricks"]

#: NumPy's modules, which programs import from here too.
for _name in ("array_utils", "format", "introspect", "mixins", "npyio", "scimath"):
    sys.modules[f"{__name__}.{_name}"] = getattr(np.lib, _name)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(np.lib, name)
