"""How each dtype looks inside a kernel.

Memory holds the dtype's storage; values in registers are of the nearest type the machine
computes with: float32 for every float of 16 bits or fewer, int8/uint8 for the narrow integers.
``decode`` and ``encode`` lead from one to the other, and ``settle`` rounds a computed value to
one the dtype can hold, so an operation on a narrow float is computed in float32 and rounded once.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from ..._records import record
from ...dtypes.names import dtype_name, is_narrow, is_narrow_float, kind
from ...ops.cast import register_type


@record(frozen=True, slots=True)
class Token:
    """Names that the emitter uses for one dtype.

    Attributes
    ----------
    memory : str
        Suffix of the load and store intrinsics.
    value : str
        Constructor of the register type.
    kind : str
        Kind of the register type, which picks an operation's body.
    decode, encode, settle : str
        Functions around it, empty where nothing is to do.
    itemsize : int
        Bytes per element in memory.
    """

    memory: str
    value: str
    kind: str
    decode: str
    encode: str
    settle: str
    itemsize: int


@cache
def token(dtype: np.dtype[np.generic]) -> Token:
    """Return the names for ``dtype``."""
    value, family, size, name = register_type(dtype), kind(dtype), dtype.itemsize, dtype_name(dtype)
    if not is_narrow(dtype):
        return Token(value, value, family, "", "", "", size)
    settle = f"round_{name}" if is_narrow_float(dtype) else f"wrap_{name}"
    codes = f"decode_{name}", f"encode_{name}", settle
    return Token(f"u{8 * size}", value, family, *codes, size)
