"""The bits of the narrow types: which fields a code has and what its largest values mean.

A narrow float is a sign, ``E`` exponent bits and ``M`` mantissa bits; with exponent field ``e``
and mantissa field ``m`` it stands for ``(1 + m/2**M) * 2**(e - bias)``, or for
``m/2**M * 2**(1 - bias)`` where ``e`` is zero (subnormal).  The types differ in what the largest
codes mean (`Format.style`):

===========  ==================================  ================================================
style        codes                               a value too large, infinity, NaN encode as
===========  ==================================  ================================================
``ieee``     the last exponent: inf and NaNs     inf, inf, NaN
``fn``       the last code alone is NaN          NaN, NaN, NaN
``fnuz``     one NaN at -0, so no -0 and no inf  NaN, NaN, NaN
``finite``   numbers only                        largest, largest, zero of the other sign
``scale``    2**(u - 127), no sign and no zero   NaN, NaN, NaN (zero and negative: NaN as well)
===========  ==================================  ================================================

Values are rounded to nearest, ties to even; under ``scale`` ties go up, what lies between 0 and
2**-127 becomes 2**-127, and what lies between 2**-127 and 2**-126 becomes 2**-126.
"""

from __future__ import annotations

from .._records import record
from . import names
from .names import DType


@record(frozen=True, slots=True)
class Format:
    """The bits of a narrow float type.

    Attributes
    ----------
    name : str
        The dtype's name, and the suffix of its scalar bodies.
    exponent, mantissa : int
        Bits of the exponent and of the mantissa field.
    bias : int
        What the exponent field exceeds the exponent by.
    style : str
        What the largest codes mean; see the table in the module's text.
    storage : numpy.dtype
        Unsigned integer of the bytes that hold one element (uint8 or uint16).
    """

    name: str
    exponent: int
    mantissa: int
    bias: int
    style: str
    storage: DType

    @property
    def bits(self) -> int:
        """Bits in use; the bytes of 4- and 6-bit types have unused high bits, kept zero."""
        return (self.style != "scale") + self.exponent + self.mantissa

    @property
    def magnitude(self) -> int:
        """Mask of the code without its sign."""
        return (1 << (self.exponent + self.mantissa)) - 1

    @property
    def inf(self) -> int | None:
        """Code of infinity, if the type has one."""
        return self.magnitude >> self.mantissa << self.mantissa if self.style == "ieee" else None

    @property
    def nan(self) -> int | None:
        """Code that NaN encodes as (its sign apart), if the type has one."""
        if self.inf is not None:
            return self.inf | (1 << self.mantissa >> 1)
        codes = {"fn": 0, "fnuz": 1, "scale": 0}
        return self.magnitude + codes[self.style] if self.style in codes else None

    @property
    def largest(self) -> int:
        """Code of the largest finite value."""
        if self.inf is not None:
            return self.inf - 1
        return self.magnitude - (self.style in ("fn", "scale"))


def _format(dt: DType, exponent: int, mantissa: int, bias: int, style: str) -> Format:
    storage = names.uint8 if dt.itemsize == 1 else names.uint16
    return Format(names.dtype_name(dt), exponent, mantissa, bias, style, storage)


FORMATS: dict[DType, Format] = {
    names.float16: _format(names.float16, 5, 10, 15, "ieee"),
    names.bfloat16: _format(names.bfloat16, 8, 7, 127, "ieee"),
    names.float8_e3m4: _format(names.float8_e3m4, 3, 4, 3, "ieee"),
    names.float8_e4m3: _format(names.float8_e4m3, 4, 3, 7, "ieee"),
    names.float8_e4m3b11fnuz: _format(names.float8_e4m3b11fnuz, 4, 3, 11, "fnuz"),
    names.float8_e4m3fn: _format(names.float8_e4m3fn, 4, 3, 7, "fn"),
    names.float8_e4m3fnuz: _format(names.float8_e4m3fnuz, 4, 3, 8, "fnuz"),
    names.float8_e5m2: _format(names.float8_e5m2, 5, 2, 15, "ieee"),
    names.float8_e5m2fnuz: _format(names.float8_e5m2fnuz, 5, 2, 16, "fnuz"),
    names.float8_e8m0fnu: _format(names.float8_e8m0fnu, 8, 0, 127, "scale"),
    names.float6_e2m3fn: _format(names.float6_e2m3fn, 2, 3, 1, "finite"),
    names.float6_e3m2fn: _format(names.float6_e3m2fn, 3, 2, 3, "finite"),
    names.float4_e2m1fn: _format(names.float4_e2m1fn, 2, 1, 1, "finite"),
}
"""Every narrow float type."""

INT_BITS: dict[DType, int] = {
    dt: int(names.xla_name(dt)[1:]) for dt in names.SUPPORTED if names.is_narrow_int(dt)
}
"""Bits of every narrow integer type; a byte holds one, its other bits kept zero, as ml_dtypes."""


def storage_dtype(dt: DType) -> DType:
    """Return the dtype of the bytes of one element: uint8 or uint16 for narrow types.

    Narrow integers are unsigned bytes here even where they are signed: the unused high bits are
    zero, so the byte of an int4 -1 is 15.
    """
    if dt in FORMATS:
        return FORMATS[dt].storage
    return names.uint8 if dt in INT_BITS else dt


def loop_dtype(dt: DType) -> DType:
    """Return the dtype that arithmetic runs in.

    That is float32 for narrow floats, int8 or uint8 for narrow integers, and `dt` otherwise.
    """
    if dt in FORMATS:
        return names.float32
    if dt in INT_BITS:
        return names.int8 if names.kind(dt) == "i" else names.uint8
    return dt
