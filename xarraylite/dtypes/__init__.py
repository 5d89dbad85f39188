"""Element types: their names, promotion, narrow formats bit by bit, and their limits.

Every rule about one element type or two is here: what ``float32 + 2.0`` gives, which bits a
bfloat16 has, what the names of XLA, NumPy and ml_dtypes mean.  Everybody may import it.  It never
touches an array's memory.  NumPy's classes of dtypes (`StringDType`) are found here too.
"""

from typing import Any

import numpy as np


def __getattr__(name: str) -> Any:
    if name.endswith("DType"):
        return getattr(np.dtypes, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
