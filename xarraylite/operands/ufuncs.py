"""Which operation stands for which NumPy ufunc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ops.op import Op
from ..ops.table import OPS
from .nodes import HasNode, OneValue

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


def with_strangers(op: Op, *operands: Any) -> Any:
    """Return an operation with an array of another library that has ufuncs of its own.

    It is NumPy's ufunc on our values, so the other library says what comes out (Dask's arrays stay
    lazy, pandas' keep their index).  NotImplemented where there is no such array.
    """
    ufunc = getattr(np, op.name, op.numpy)
    strangers = [x for x in operands if getattr(x, "__array_ufunc__", None) is not None]
    if all([isinstance(x, HasNode | OneValue | np.generic) for x in strangers]):
        return NotImplemented
    return ufunc(*[np.asarray(x) if isinstance(x, HasNode | OneValue) else x for x in operands])
