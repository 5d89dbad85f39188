"""Which dtype an operation on given dtypes has: NEP 50, and one rule for the narrow types.

For NumPy's own dtypes the result is ``np.result_type``'s, Python scalars being *weak*: they take
part by kind only, never by width.  NumPy has no such rule for the types of `ml_dtypes`:
``np.result_type`` raises for most pairs, and of two different 8-bit floats it picks one (``np.add``
the one on the left).  So they follow this table.  ``F`` is a narrow float other than float16,
``I`` an integer of fewer than 8 bits; every row reads both ways.

===================  =======================  ===================================================
operand              with                     result
===================  =======================  ===================================================
F                    the same F               F
F                    another F, or float16    float32, which holds both
F                    bool, int8, uint8, I     F, as float16 with int8
F                    int16, uint16            float32, as float16 with int16
F                    wider integers           float64, as float16 with int32
F                    float32, float64         that float
F                    complex64, complex128    that complex
F                    Python bool, int, float  F
F                    Python complex           complex64
I                    bool                     I
I                    I, both signed or not    the wider of the two
I                    I, one of them signed    int8
I signed             anything else            what int8 gives
I unsigned           a signed integer         that integer, which holds every value of I
I unsigned           anything else            what uint8 gives
I                    Python bool, int         I
I                    Python float, complex    float64, complex128, as every integer
===================  =======================  ===================================================

With three or more operands the result does not depend on their order: the highest kind (complex
and float over integer over bool) is joined first, as in NumPy, and weak scalars last.

Where ``np.result_type`` answers and the answer is the same in both orders, the table agrees with
it except here:

* F with a Python float: NumPy gives float64 (and the ufuncs float32); a weak scalar must not
  widen, or ``x * 0.5`` doubles the memory of ``x``;
* I with a Python int: NumPy gives int8, or uint8, for the same reason;
* I with a Python float or complex: NumPy gives float16 or complex64, while int8 gives float64
  or complex128;
* two different floats of 4 to 8 bits: NumPy calls these casts safe although most lose values.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import TypeAlias

import numpy as np

from .._errors import DTypeError, DTypeValueError
from . import names
from .formats import FORMATS, INT_BITS
from .names import DType

Casting: TypeAlias = str
"""One of NumPy's casting rules: no, equiv, safe, same_kind or unsafe."""

_WEAK_VALUE: dict[type, object] = {bool: False, int: 0, float: 0.0, complex: 0j}
_KIND_ORDER = {"b": 0, "u": 1, "i": 2, "f": 3, "c": 4}
_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")
_STRONG = frozenset(names.SUPPORTED)
_NARROW_FLOATS = frozenset(FORMATS)
_EXOTIC_FLOATS = _NARROW_FLOATS - {names.float16}
_NARROW_INTS = frozenset(INT_BITS)
_EXOTIC = _EXOTIC_FLOATS | _NARROW_INTS
_STAND_IN = {"i": names.int8, "u": names.uint8}


@lru_cache(maxsize=4096)
def result_type(*args: DType | type) -> DType:
    """Return the dtype that arithmetic on operands of these dtypes has.

    Parameters
    ----------
    *args : numpy.dtype or one of the Python types bool, int, float, complex
        Dtypes of the operands, one of `SUPPORTED` each; a Python type stands for a Python
        scalar, which is weak.

    Returns
    -------
    numpy.dtype
        ``np.result_type`` for NumPy's dtypes, this module's table for the narrow ones.

    Raises
    ------
    DTypeError
        If there is no operand, or one is not an element type of this package.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype
    >>> result_type(as_dtype("float32"), float)
    dtype('float32')
    >>> result_type(as_dtype("bfloat16"), as_dtype("int32"))
    dtype('float64')
    """
    if not args:
        raise DTypeValueError("result_type: no operands given; at least one dtype is needed")
    strong = {arg for arg in args if isinstance(arg, np.dtype)}
    weak = [arg for arg in args if not isinstance(arg, np.dtype)]
    unknown = [arg for arg in args if arg not in _STRONG and arg not in _WEAK_VALUE]
    if unknown:
        raise DTypeError(
            f"result_type: got {unknown[0]!r}; operands are dtypes of this package or Python's "
            "types bool, int, float, complex"
        )
    if strong.isdisjoint(_EXOTIC):
        values = [_WEAK_VALUE[arg] for arg in weak]
        return names.as_dtype(np.result_type(*strong, *values))  # type: ignore[arg-type]
    return _with_weak(_join(strong), weak)


def _join(dtypes: Iterable[DType]) -> DType:
    """Join in an order of kinds that makes the result independent of the order given."""
    ordered = sorted(dtypes, key=lambda dt: (-_KIND_ORDER[names.kind(dt)], dt.name))
    return reduce(_join_pair, ordered)


def _join_pair(a: DType, b: DType) -> DType:
    if a == b:
        return a
    if a in _EXOTIC_FLOATS:
        return _join_float(a, b)
    if b in _EXOTIC_FLOATS:
        return _join_float(b, a)
    if a in _NARROW_INTS:
        return _join_int(a, b)
    if b in _NARROW_INTS:
        return _join_int(b, a)
    return names.as_dtype(np.result_type(a, b))


def _join_float(a: DType, b: DType) -> DType:
    """Rows ``F``: float16's answer, and where that is float16 again, `a` itself."""
    if b in _NARROW_FLOATS:
        return names.float32
    b = _STAND_IN[names.kind(b)] if b in _NARROW_INTS else b
    like_half = names.as_dtype(np.result_type(names.float16, b))
    return a if like_half == names.float16 else like_half


def _join_int(a: DType, b: DType) -> DType:
    """Rows ``I`` with a dtype that is not an exotic float."""
    sign, other = names.kind(a), names.kind(b)
    if other == "b":
        return a
    if b in _NARROW_INTS:
        return max(a, b, key=INT_BITS.__getitem__) if sign == other else names.int8
    if sign == "u" and other == "i":
        return b
    return names.as_dtype(np.result_type(_STAND_IN[sign], b))


def _with_weak(dt: DType, weak: Iterable[type]) -> DType:
    """Let Python scalars raise the kind of `dt`, which is not bool, but not its width."""
    order = max((_KIND_ORDER[names.kind(names.as_dtype(arg))] for arg in weak), default=0)
    if order <= _KIND_ORDER["i"] or order <= _KIND_ORDER[names.kind(dt)]:
        return dt
    if order == _KIND_ORDER["f"]:
        return names.float64
    wide = dt == names.float64 or names.kind(dt) in ("i", "u")
    return names.complex128 if wide else names.complex64


@lru_cache(maxsize=4096)
def can_cast(src: DType | type, dst: DType, casting: Casting = "safe") -> bool:
    """Tell whether a cast is allowed by one of NumPy's casting rules.

    For ml_dtypes, a cast is safe when promotion of the two gives `dst`, and of the same kind when
    the kind does not fall in the order bool, unsigned, signed, float, complex.

    Parameters
    ----------
    src : numpy.dtype or Python scalar type
        What is cast; a Python type is weak, so only its kind counts.
    dst : numpy.dtype
        What it is cast to.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        NumPy's rules.

    Raises
    ------
    ValueError
        If `casting` is not one of the rules.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype
    >>> can_cast(as_dtype("float32"), as_dtype("bfloat16"), "same_kind")
    True
    >>> can_cast(as_dtype("bfloat16"), as_dtype("int32"), "same_kind")
    False
    """
    if casting not in _CASTINGS:
        raise ValueError(f"can_cast: casting is {casting!r}; it must be one of {_CASTINGS}")
    if not isinstance(src, np.dtype):
        return casting == "unsafe" or result_type(src, dst) == dst
    if src == dst or casting == "unsafe":
        return True
    if casting in ("no", "equiv"):
        return False
    if casting == "same_kind" and _KIND_ORDER[names.kind(src)] <= _KIND_ORDER[names.kind(dst)]:
        return True
    return result_type(src, dst) == dst


def float_for(dt: DType) -> DType:
    """Return the dtype in which NumPy's unary float functions (sin, sqrt…) work.

    Floats and complex numbers stay; bool, 8-bit and narrower integers give float16, 16-bit ones
    float32 and wider ones float64.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype
    >>> float_for(as_dtype("uint16")), float_for(as_dtype("bfloat16"))
    (dtype('float32'), dtype(bfloat16))
    """
    if _KIND_ORDER[names.kind(dt)] >= _KIND_ORDER["f"]:
        return dt
    return _FLOAT_FOR_ITEMSIZE.get(dt.itemsize, names.float64)


_FLOAT_FOR_ITEMSIZE = {1: names.float16, 2: names.float32}


def int_bounds(dt: DType) -> tuple[int, int]:
    """Return the least and greatest value of an integer dtype, narrow ones included."""
    bits = INT_BITS.get(dt, 8 * dt.itemsize)
    if names.kind(dt) == "u":
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def bound(dt: DType, *, least: bool) -> int | float:
    """Return the least or the greatest value of a dtype; of all but integers and bools infinity."""
    if names.kind(dt) == "b":
        return not least
    if names.kind(dt) in "iu":
        return int_bounds(dt)[0 if least else 1]
    return -math.inf if least else math.inf


def check_scalar(value: object, dt: DType) -> None:
    """Refuse a Python integer that the dtype it takes part in cannot hold (NEP 50).

    Parameters
    ----------
    value : object
        A scalar operand; only Python ints (not bools) are checked.
    dt : numpy.dtype
        The dtype that the operation gives it.

    Raises
    ------
    OverflowError
        If `value` is outside the range of an integer `dt`, or of float64 for a float one.

    Examples
    --------
    >>> from xarraylite.dtypes.names import as_dtype
    >>> check_scalar(300, as_dtype("uint8"))
    Traceback (most recent call last):
        ...
    OverflowError: Python integer 300 out of bounds for uint8
    """
    if type(value) is not int:
        return
    if names.kind(dt) in ("i", "u"):
        low, high = int_bounds(dt)
        if not low <= value <= high:
            bits = value.bit_length()  # of very long ones Python refuses the digits
            shown = value if bits <= 256 else f"of {bits} bits"
            raise OverflowError(f"Python integer {shown} out of bounds for {dt.name}")
    elif names.kind(dt) in ("f", "c"):
        float(value)  # as in NumPy: an int beyond float64 is an error, not inf
