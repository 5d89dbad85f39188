"""Which operation stands for which NumPy ufunc."""

from __future__ import annotations

import numpy as np

from ..ops.op import Op
from ..ops.table import OPS

_UFUNCS: dict[np.ufunc, Op] = {}


def ufunc_table() -> dict[np.ufunc, Op]:
    """Return which operation stands for which NumPy ufunc: an explicit column of the op table."""
    if not _UFUNCS:
        for op in OPS.values():
            named = getattr(np, op.name, None)  # np.pow, whose reference is no ufunc
            for ufunc in (op.numpy, named):
                if isinstance(ufunc, np.ufunc):
                    _UFUNCS.setdefault(ufunc, op)
    return _UFUNCS
