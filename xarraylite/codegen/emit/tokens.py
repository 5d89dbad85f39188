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
from ...dtypes.names import dtype_name, is_narrow_float, is_narrow_int, kind

_SHORT = {"b": "b1", "i": "i{}", "u": "u{}", "f": "f{}", "c": "c{}"}


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
    family = kind(dtype)
    size = dtype.itemsize
    if is_narrow_float(dtype):
        name = dtype_name(dtype)
        return Token(
            f"u{8 * size}", "f32", "f", f"decode_{name}", f"encode_{name}", f"round_{name}", size
        )
    if is_narrow_int(dtype):
        name = dtype_name(dtype)
        value = f"{family}8"
        return Token("u8", value, family, f"decode_{name}", f"encode_{name}", f"wrap_{name}", size)
    short = _SHORT[family].format(8 * size)
    return Token(short, short, family, "", "", "", size)
