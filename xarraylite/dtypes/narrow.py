"""Converting narrow floats and integers by bits, for the types that the CPU has no code for.

Arithmetic happens in float32, which holds every narrow value, and is rounded once, to nearest
even (`dtypes/formats.py` has the exceptions).  All bodies are integer operations on float32 bits
without branches, so loops over them vectorise:

* decode: shift the fields into place and correct the exponent; subnormals are ``m`` times a power
  of two, an exact product;
* encode: add just under half of the last kept bit, plus that bit, and shift the rest out.  Below
  the smallest normal value the hardware rounds: adding ``2**23`` subnormal units leaves the
  rounded number of units in the low bits of the sum;
* encode from float64: `odd_f32` first drops to float32 rounding to *odd*, whose last bit then
  remembers that something was dropped.  float32 keeps more than two extra bits of every narrow
  type, so the second rounding gives what one rounding would (Boldo and Melquiond, 2008).

The encodings are those that `ml_dtypes` reads and writes, tested over all of them.  Types without
NaN make negative zero of one, as XLA does and as `ml_dtypes` does of NaNs whose sign is positive:
which sign the NaN of 0/0 has is up to the processor and the compiler.
"""

from __future__ import annotations

import linecache
import math
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import DTypeError
from . import names
from .bits import bits_f32, float_f32
from .formats import FORMATS, INT_BITS, Format, loop_dtype
from .names import DType
from .truncate import truncated

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rounding that keeps a second rounding honest -----------------------------------------------


def odd_f32(x: Any) -> Any:
    """Round a float64 to float32, to odd: of the two neighbours take the odd one if inexact.

    The bits of a sign-magnitude number count up away from zero, so from an even result the other
    neighbour lies one up, or one down if rounding went away from zero (to inf included: the
    neighbour is the largest float32).
    """
    y = np.float32(x)
    wide = np.float64(y)
    above = wide > x
    below = wide < x
    away = above if x > np.float64(0.0) else below
    step = np.int32(-1) if away else np.int32(1)
    step = step if above | below else np.int32(0)  # exact, or NaN
    b = bits_f32(y)
    step = step if np.int32(b & np.int32(1)) == np.int32(0) else np.int32(0)
    return float_f32(np.int32(b + step))


def odd_i64(x: Any) -> Any:
    """Round an int64 beyond 2**53 to 53 bits, to odd, so that float64 holds it exactly.

    The arithmetic shift floors; the bit set below stands for what it dropped.
    """
    high = np.int64(np.int64(x >> np.int64(11)) << np.int64(11))
    sticky = np.int64(2048) if high != x else np.int64(0)
    odd = np.int64(high | sticky)
    limit = np.int64(9007199254740992)
    return x if (x >= -limit) & (x <= limit) else odd


def odd_u64(x: Any) -> Any:
    """Round a uint64 beyond 2**53 to 53 bits, to odd, so that float64 holds it exactly."""
    high = np.uint64(np.uint64(x >> np.uint64(11)) << np.uint64(11))
    sticky = np.uint64(2048) if high != x else np.uint64(0)
    odd = np.uint64(high | sticky)
    return x if x <= np.uint64(9007199254740992) else odd


def odd_float(value: int) -> float:
    """Round a Python integer to float64, to odd.

    Raises
    ------
    OverflowError
        If it is beyond float64.
    """
    drop = value.bit_length() - 53
    if drop <= 0:
        return float(value)
    high = value >> drop  # floors; the last bit stands for what it dropped
    return math.ldexp(high | (high << drop != value), drop)


# Templates of the scalar bodies -------------------------------------------------------------
#
# Each constant and each operation carries its type: Numba would widen to int64.

_DECODE = """\
def decode_{name}(u):
    n = np.int32(u)
    m = np.int32(n & np.int32({magnitude:#x}))
    fields = np.int32(m << np.int32({drop}))
    tiny = bits_f32(np.float32(np.float32(m) * np.float32({unit!r})))
    r = np.int32(fields + np.int32({rebias:#x}))
    r = r if m >= np.int32({hidden:#x}) else tiny
    {decode_special}
    s = np.int32(-0x80000000) if n > np.int32({magnitude:#x}) else np.int32(0)
    return float_f32(np.int32(r | s))
"""

# For all but bfloat16 the bias difference makes `half` negative, so the sum cannot overflow.
_ENCODE = """

def encode_{name}(x):
    b = bits_f32(x)
    a = np.int32(b & np.int32(0x7fffffff))
    odd = np.int32(np.int32(a >> np.int32({drop})) & np.int32(1))
    normal = np.int32(np.int32(np.int32(a + np.int32({half})) + odd) >> np.int32({drop}))
    total = np.float32(float_f32(a) + np.float32({magic!r}))
    tiny = np.int32(bits_f32(total) - np.int32({magic_bits:#x}))
    r = normal if a >= np.int32({normal_bits:#x}) else tiny
    r = r if r <= np.int32({largest:#x}) else np.int32({overflow:#x})
    s = np.int32(np.int32(b >> np.int32({sign_shift})) & np.int32({sign:#x}))
    {encode_special}
    return np.{storage}(r | s)
"""

# The same on float32 bits, without moving the fields; NaN is clamped out of the sum's way.
_ROUND = """

def round_{name}(x):
    b = bits_f32(x)
    a = np.int32(b & np.int32(0x7fffffff))
    c = a if a <= np.int32(0x7f800000) else np.int32(0x7f800000)
    odd = np.int32(np.int32(c >> np.int32({drop})) & np.int32(1))
    up = np.int32(np.int32(c + np.int32({below_half:#x})) + odd)
    normal = np.int32(up & np.int32({keep}))
    total = np.float32(float_f32(c) + np.float32({magic!r}))
    tiny = bits_f32(np.float32(total - np.float32({magic!r})))
    r = normal if c >= np.int32({normal_bits:#x}) else tiny
    r = r if r <= np.int32({largest_bits:#x}) else np.int32({overflow_bits:#x})
    s = np.int32(b & np.int32(-0x80000000))
    {round_special}
    return float_f32(np.int32(r | s))
"""

_DECODE_SPECIAL = {
    "ieee": "r = np.int32(fields | np.int32(0x7f800000)) if m >= np.int32({inf:#x}) else r",
    "fn": "r = np.int32(0x7fc00000) if m == np.int32({magnitude:#x}) else r",
    "fnuz": "r = np.int32(0x7fc00000) if n == np.int32({sign:#x}) else r",
    "finite": "# every code is a number",
}
_ENCODE_SPECIAL = {
    "ieee": "r = r if a <= np.int32(0x7f800000) else np.int32({nan:#x})",
    "fn": "r = r if a <= np.int32(0x7f800000) else np.int32({nan:#x})",
    "fnuz": "s = s if r != np.int32(0) else np.int32(0)\n"
    "    r = r if a <= np.int32(0x7f800000) else np.int32({nan:#x})\n"
    "    s = s if r < np.int32({nan:#x}) else np.int32(0)",
    "finite": "s = s if a <= np.int32(0x7f800000) else np.int32({sign:#x})\n"
    "    r = r if a <= np.int32(0x7f800000) else np.int32(0)",
}
_ROUND_SPECIAL = {
    "ieee": "r = r if a <= np.int32(0x7f800000) else np.int32(0x7fc00000)",
    "fn": "r = r if a <= np.int32(0x7f800000) else np.int32(0x7fc00000)",
    "fnuz": "s = s if r != np.int32(0) else np.int32(0)\n"
    "    r = r if a <= np.int32(0x7f800000) else np.int32(0x7fc00000)",
    "finite": "s = s if a <= np.int32(0x7f800000) else np.int32(-0x80000000)\n"
    "    r = r if a <= np.int32(0x7f800000) else np.int32(0)",
}

# bfloat16 is the upper half of float32: fields stay in place and subnormals are shared.
_BFLOAT16 = """\
def decode_bfloat16(u):
    return float_f32(np.int32(np.int32(u) << np.int32(16)))


def round_bfloat16(x):
    b = bits_f32(x)
    a = np.int32(b & np.int32(0x7fffffff))
    quiet = np.int32(b | np.int32(0x7fffffff)) ^ np.int32(0x3fffff)
    b = b if a <= np.int32(0x7f800000) else np.int32(quiet)
    odd = np.int32(np.int32(b >> np.int32(16)) & np.int32(1))
    up = np.int32(np.int32(b + np.int32(0x7fff)) + odd)
    return float_f32(np.int32(up & np.int32(-0x10000)))


def encode_bfloat16(x):
    return np.uint16(np.int32(bits_f32(round_bfloat16(x)) >> np.int32(16)) & np.int32(0xffff))
"""

# Above 2**-126 the top mantissa bit says which power of two is nearer.  Below it, where float32
# itself is subnormal, ml_dtypes takes 2**-126 for all that exceeds 2**-127, and so do we.
_SCALE = """\
def decode_{name}(u):
    n = np.int32(u)
    r = np.int32(n << np.int32(23))
    r = r if n != np.int32(0) else np.int32(0x400000)
    r = r if n != np.int32(255) else np.int32(0x7fc00000)
    return float_f32(r)


def encode_{name}(x):
    b = bits_f32(x)
    top = np.int32(np.int32(b >> np.int32(22)) & np.int32(1))
    tiny = np.int32(1) if b > np.int32(0x400000) else np.int32(0)
    up = top if b >= np.int32(0x800000) else tiny
    r = np.int32(np.int32(b >> np.int32(23)) + up)
    r = r if b > np.int32(0) else np.int32(255)
    r = r if r < np.int32(255) else np.int32(255)
    return np.uint8(r)


def round_{name}(x):
    return decode_{name}(encode_{name}(x))
"""

_FROM_F64 = """

def encode_{name}_f64(x):
    return encode_{name}(odd_f32(x))
"""

_SIGNED = """\
def decode_{name}(u):
    flipped = np.int8(np.int8(u & np.uint8({mask:#x})) ^ np.int8({sign:#x}))
    return np.int8(flipped - np.int8({sign:#x}))


def encode_{name}(x):
    return np.uint8(x & {mask:#x})


def wrap_{name}(x):
    return decode_{name}(encode_{name}(x))
"""

_UNSIGNED = """\
def decode_{name}(u):
    return np.uint8(u & np.uint8({mask:#x}))


def encode_{name}(x):
    return np.uint8(x & {mask:#x})


def wrap_{name}(x):
    return decode_{name}(encode_{name}(x))
"""


def _constants(f: Format) -> dict[str, object]:
    """Return the numbers that the templates of one float type are filled with."""
    drop = 23 - f.mantissa  # mantissa bits that float32 has more
    rebias = (127 - f.bias) << 23
    magic = 2.0 ** (1 - f.bias - f.mantissa + 23)  # its last bit is one subnormal unit
    below_half = (1 << (drop - 1)) - 1
    largest_bits = rebias + (f.largest << drop)
    overflow_code = {"ieee": f.inf, "finite": f.largest}.get(f.style, f.nan)
    overflow_bits = {"ieee": 0x7F800000, "finite": largest_bits}.get(f.style, 0x7FC00000)
    return {
        "name": f.name,
        "storage": f.storage.name,
        "magnitude": f.magnitude,
        "sign": f.magnitude + 1,
        "sign_shift": 32 - f.bits,
        "hidden": 1 << f.mantissa,
        "inf": f.inf,
        "nan": f.nan,
        "largest": f.largest,
        "overflow": overflow_code,
        "drop": drop,
        "keep": -(1 << drop),
        "rebias": rebias,
        "unit": 2.0 ** (1 - f.bias - f.mantissa),
        "magic": magic,
        "magic_bits": int(bits_f32(magic)),
        "normal_bits": rebias + (1 << 23),
        "half": below_half - rebias,
        "below_half": below_half,
        "largest_bits": largest_bits,
        "overflow_bits": overflow_bits,
    }


def _float_source(f: Format) -> str:
    if f.name == "bfloat16":
        return _BFLOAT16 + _FROM_F64.format(name=f.name)
    if f.style == "scale":
        return (_SCALE + _FROM_F64).format(name=f.name)
    values = _constants(f)
    for slot, lines in (
        ("decode_special", _DECODE_SPECIAL),
        ("encode_special", _ENCODE_SPECIAL),
        ("round_special", _ROUND_SPECIAL),
    ):
        values[slot] = lines[f.style].format_map(values)
    return (_DECODE + _ENCODE + _ROUND + _FROM_F64).format_map(values)


def _int_source(dt: DType, bits: int) -> str:
    template = _SIGNED if names.kind(dt) == "i" else _UNSIGNED
    return template.format(name=dt.name, mask=(1 << bits) - 1, sign=1 << (bits - 1))


def _define(name: str, source: str) -> dict[str, FunctionType]:
    """Run the source of one type's bodies; tracebacks and `inspect` find it by a made-up name."""
    filename = f"<xarraylite.dtypes.narrow {name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    scope: dict[str, Any] = {
        "__name__": __name__,
        "np": np,
        "bits_f32": bits_f32,
        "float_f32": float_f32,
        "odd_f32": odd_f32,
    }
    exec(compile(source, filename, "exec"), scope)  # noqa: S102  (our templates and numbers)
    functions = (item for item in scope.values() if isinstance(item, FunctionType))
    return {f.__name__: f for f in functions if f.__code__.co_filename == filename}


@cache
def _library() -> dict[str, FunctionType]:
    found: dict[str, FunctionType] = {
        f.__name__: f for f in (odd_f32, odd_i64, odd_u64) if isinstance(f, FunctionType)
    }
    for dt, form in FORMATS.items():
        found |= _define(dt.name, _float_source(form))
    for dt, bits in INT_BITS.items():
        found |= _define(dt.name, _int_source(dt, bits))
    return found


def library() -> dict[str, FunctionType]:
    """Return every scalar body by name.

    For each narrow float ``T``: ``decode_T(bits) -> float32``, ``encode_T(float32) -> bits``,
    ``encode_T_f64(float64) -> bits`` with one rounding, and ``round_T(float32) -> float32``, which
    is decode after encode.  For each narrow integer ``T``: ``decode_T(byte) -> int8 or uint8``,
    ``encode_T(any integer) -> byte``, which wraps, and ``wrap_T``, which is decode after encode.

    ``odd_f32``, ``odd_i64`` and ``odd_u64`` prepare wide numbers for a second rounding: an int64
    becomes a bfloat16 in one rounding as ``encode_bfloat16_f64(float64(odd_i64(x)))``.

    Returns
    -------
    dict of str to function
        Plain Python functions in the subset that Numba compiles; they refer to ``np``, the names
        in `dtypes.bits`, and each other.
    """
    return dict(_library())


# NumPy reference ----------------------------------------------------------------------------


def from_narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array` in its `loop_dtype`, which holds every value; wide arrays come back as is."""
    with np.errstate(invalid="ignore"):  # signalling NaNs are no news
        return array.astype(loop_dtype(names.as_dtype(array.dtype)), copy=False)


def to_narrow(array: NDArray[Any], dt: DType) -> NDArray[Any]:
    """Convert an array to a narrow dtype with one rounding, whatever it comes from.

    ``array.astype(dt)`` rounds twice from float64 and int64 (1 + 2**-8 + 2**-40 becomes 1 in
    bfloat16 instead of 1.0078125).

    Parameters
    ----------
    array : ndarray
        Bool, integer, float or narrow array of any shape.
    dt : numpy.dtype
        A narrow dtype: floats round, overflow and keep NaN as `FORMATS` says; integers wrap, and
        floats are truncated first, as `truncated` does it for int8.

    Returns
    -------
    ndarray
        New array of dtype `dt` and the same shape.

    Raises
    ------
    DTypeError
        If `dt` is not narrow, or `array` is complex.

    Examples
    --------
    >>> import numpy as np
    >>> from xarraylite.dtypes.names import bfloat16
    >>> to_narrow(np.array([1 + 2.0**-8 + 2.0**-40]), bfloat16)
    array([1.00781], dtype=bfloat16)
    """
    wide = from_narrow(array)
    kind = names.kind(names.as_dtype(wide.dtype))
    if kind == "c" or not (dt in FORMATS or dt in INT_BITS):
        raise DTypeError(
            f"to_narrow: cannot convert {array.dtype.name} to {dt.name}; a real array and a "
            "narrow dtype are needed"
        )
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if dt in INT_BITS:
            whole = truncated(wide, names.int32) if kind == "f" else wide.astype(np.uint64)
            low = whole & whole.dtype.type((1 << INT_BITS[dt]) - 1)
            return np.asarray(low).astype(np.uint8).view(dt)
        near = _odd_array(wide, kind)
        if FORMATS[dt].style == "finite":
            near = np.where(np.isnan(near), np.float32(np.nan), near)
        return near.astype(dt)


def _odd_array(wide: NDArray[Any], kind: str) -> NDArray[Any]:
    """`odd_f32`, `odd_i64` and `odd_u64` on arrays."""
    if wide.dtype in (names.int64, names.uint64):
        high = wide >> 11 << 11
        odd = high | np.where(high != wide, 2048, 0).astype(wide.dtype)
        small = (wide <= 1 << 53) & ((kind == "u") | (wide >= -(1 << 53)))
        wide = np.where(small, wide, odd)
    if wide.dtype == names.float32:
        return np.asarray(wide)
    exact = np.asarray(wide, dtype=np.float64)
    near = exact.astype(np.float32)
    away = np.where(exact > 0, near > exact, near < exact)
    step = np.where(away, np.int32(-1), np.int32(1))
    bits = near.view(np.int32)
    change = ((near > exact) | (near < exact)) & (bits & 1 == 0)
    return np.asarray(np.where(change, bits + step, bits)).view(np.float32)
