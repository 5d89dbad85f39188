"""The functions of ``numpy.lib.recfunctions``, where programs look for them.

Records are NumPy's arrays, and so are what these make of them; numbers become containers.
"""

from __future__ import annotations

from typing import Any

import numpy.lib.recfunctions as numpys

from ..functions.foreign import called


def __getattr__(name: str) -> Any:
    if name not in numpys.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = called(getattr(numpys, name), f"recfunctions.{name}")
    return made


def __dir__() -> list[str]:
    return list(numpys.__all__)
