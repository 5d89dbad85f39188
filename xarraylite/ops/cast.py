"""Conversions between dtypes: the body that a kernel has for each pair.

A cast is an operation whose result dtype is chosen by whoever writes it, so its body depends on
two dtypes.  The bits are those of NumPy's ``astype`` on x86, NaN, infinities and numbers out of
range included (``dtypes/truncate.py`` has the rule), with two exceptions for the types of
ml_dtypes: there is one rounding, where ml_dtypes rounds to float32 first, and every narrow float
converts to an integer as its float32 value does, where ml_dtypes makes 0 of the NaNs of 8-bit
floats and the bounds of their infinities.

Narrow floats are float32 in a kernel and narrow integers int8 or uint8; these and NumPy's types
are the *register types*, whose names (``f32``, ``i8``, ``c64``…) convert a value to them.
"""

from __future__ import annotations

from ..dtypes.names import DType, is_narrow, is_narrow_float, is_narrow_int, kind

_VIA_INT32 = frozenset({"int8", "uint8", "int16", "uint16", "int32"})
_EXACT_IN_FLOAT32 = frozenset({"bool", "int8", "uint8", "int16", "uint16", "float32", "complex64"})


def cast_body(src: DType, dst: DType) -> str:
    """Return the body, in ``{0}``, that converts `src` to `dst`.

    Parameters
    ----------
    src, dst : numpy.dtype
        Dtypes of the argument and of the result.

    Returns
    -------
    str
        Expression of the register type of `dst`; for a narrow `dst` it is still to be encoded
        (rounded from float32, or wrapped).
    """
    return f"{register_type(dst)}({_value(src, dst)})"


def register_type(dtype: DType) -> str:
    """Return the name of the type that values of `dtype` have in a kernel, as in ``f32``."""
    if is_narrow_float(dtype):
        return "f32"
    if is_narrow_int(dtype):
        return f"{kind(dtype)}8"
    return "b1" if kind(dtype) == "b" else f"{kind(dtype)}{8 * dtype.itemsize}"


def _value(src: DType, dst: DType) -> str:
    value = "{0}.real" if kind(src) == "c" and kind(dst) not in "cb" else "{0}"
    if kind(dst) == "b":
        return "{0}" if kind(src) == "b" else "{0} != 0"
    if kind(dst) in "iu" and kind(src) in "fc":
        return f"{_truncation(dst)}({value})"
    if is_narrow_float(dst) and not _is_exact_in_float32(src):
        return f"odd_f32({_WIDEN.get(src.name, 'f64({})').format(value)})"
    return value


# Float64 holds these with a last bit that remembers what was cut off, so that rounding to a
# narrow float afterwards is as good as one rounding.
_WIDEN = {
    "int64": "f64(odd_i64({}))",
    "uint64": "f64(odd_u64({}))",
    "float64": "{}",
    "complex128": "{}",
}


def _truncation(dst: DType) -> str:
    if is_narrow_int(dst) or dst.name in _VIA_INT32:
        return "truncate_i32"
    return "truncate_u64" if dst.name == "uint64" else "truncate_i64"


def _is_exact_in_float32(dtype: DType) -> bool:
    return is_narrow(dtype) or dtype.name in _EXACT_IN_FLOAT32
