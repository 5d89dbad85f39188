"""Rows of the op table: arithmetic."""

from __future__ import annotations

import numpy as np

from ..dtypes.names import NumpyArray
from . import rules
from .op import Op, row

_X = [-2.5, 0.0, 1.5]
_Y = [2.0, 4.0, -0.5]


def _near(name: str) -> dict[str, tuple[str, str]]:
    """Return what of a division is tried first, by type, and what tells where it is wrong."""
    floats = ("fmod_is_hard_f({0}, {1})", f"{name}_near_f({{0}}, {{1}})")
    near = {"f32": floats, "f64": floats}
    if name != "fmod":
        for t in ("i64", "u64"):
            near[t] = (f"division_is_hard_{t}({{0}}, {{1}})", f"{name}_near({{0}}, {{1}})")
    return near


def power_reference(base: NumpyArray, exponent: NumpyArray) -> NumpyArray:
    """``np.power`` that also answers for negative integer exponents, where NumPy raises.

    ``a**-n`` is ``1/a**n`` rounded toward zero: 0 but for a of 1 and -1, and 0 for a of 0.  Powers
    of one half NumPy takes for roots, which have other signs and NaNs than the standard's powers.
    """
    if base.dtype.kind == "f":
        powers = np.asarray(np.power(base, exponent))
        half = np.asarray(exponent == 0.5)
        base = np.where(np.isinf(base), np.abs(base), powers)
        return np.where(half, np.abs(base), powers) if half.any() else powers
    if base.dtype.kind != "i":
        return np.asarray(np.power(base, exponent))
    negative = exponent < 0
    magnitude = np.where(negative, exponent & 1, exponent).astype(exponent.dtype)
    unit = negative & (np.abs(base) != 1)
    powers = np.asarray(np.power(base, magnitude))
    return np.where(unit, np.zeros_like(powers), powers)


def floor_divide_reference(x: NumpyArray, y: NumpyArray) -> NumpyArray:
    """``np.floor_divide`` with the standard's answers for infinities: those of ``floor(x / y)``."""
    quotient = np.asarray(np.floor_divide(x, y))
    if quotient.dtype.kind != "f":
        return quotient
    infinite = np.isinf(np.asarray(x, quotient.dtype)) | np.isinf(np.asarray(y, quotient.dtype))
    return np.where(infinite, x / y, quotient)


def sign_reference(x: NumpyArray) -> NumpyArray:
    """``np.sign``, with the direction of finite complex numbers whose modulus overflows.

    It is NaN where a part is NaN, as in the standard; NumPy has the direction of an infinite part.
    """
    if x.dtype.kind == "c":
        x = np.where(np.isfinite(x) & np.isinf(np.abs(x)), x * x.real.dtype.type(0.25), x)
        x = np.where(np.isnan(x), x.dtype.type(complex(np.nan, np.nan)), x)
    return np.asarray(np.sign(x))


ROWS: tuple[Op, ...] = (
    row(
        "add",
        rules.ANY,
        {"b": "{0} | {1}", **dict.fromkeys("iufc", "{0} + {1}")},
        "Sum of two arrays.",
        hlo="add",
        example=(_X, _Y),
        notes="Integers wrap around; the sum of two bools is their logical or.",
    ),
    row(
        "subtract",
        rules.NUMBERS,
        dict.fromkeys("iufc", "{0} - {1}"),
        "Difference of two arrays.",
        hlo="subtract",
        example=(_X, _Y),
        notes="Integers wrap around; bools are refused.",
    ),
    row(
        "multiply",
        rules.ANY,
        {"b": "{0} & {1}", **dict.fromkeys("iuf", "{0} * {1}"), "c": "multiply_c({0}, {1})"},
        "Product of two arrays.",
        hlo="multiply",
        exact="biuf",
        example=(_X, _Y),
        notes="Integers wrap around; the product of two bools is their logical and.  Complex "
        "products round every real product and sum, where NumPy fuses some on CPUs that can.",
    ),
    row(
        "divide",
        rules.QUOTIENT,
        {"f": "{0} / {1}", "c": "divide_c({0}, {1})"},
        "Quotient of two arrays.",
        hlo="divide",
        cost=4,
        aliases=("true_divide",),
        example=(_X, _Y),
        notes="Integers are divided as float64.  A zero divisor gives an infinity or NaN.",
    ),
    row(
        "floor_divide",
        rules.REAL_NUMBER,
        {**dict.fromkeys("iu", "floor_divide_{t}({0}, {1})"), "f": "floor_divide_f({0}, {1})"},
        "Quotient of two arrays, rounded down.",
        reference=floor_divide_reference,
        cost=20,
        near=_near("floor_divide"),
        example=([7, -7, 5], [2, 2, 0]),
        notes="An integer divided by 0 gives 0, and the least integer divided by -1 itself.  An "
        "infinity divided by a number is an infinity, and a number by an infinity a zero, as the "
        "standard wants (NumPy gives NaN and 0 or -1).",
    ),
    row(
        "remainder",
        rules.REAL_NUMBER,
        {**dict.fromkeys("iu", "remainder_{t}({0}, {1})"), "f": "remainder_f({0}, {1})"},
        "Remainder of floor division; it has the divisor's sign.",
        cost=20,
        near=_near("remainder"),
        aliases=("mod",),
        example=([7, -7, 5], [3, 3, 0]),
        notes="An integer modulo 0 gives 0, a float NaN.",
    ),
    row(
        "fmod",
        rules.REAL_NUMBER,
        {
            "i": "toward_zero({0}, {1}, remainder_{t}({0}, {1}))",
            "u": "remainder_{t}({0}, {1})",
            "f": "fmod_f({0}, {1})",
        },
        "Remainder of division rounded toward zero; it has the dividend's sign.",
        hlo="remainder",
        cost=20,
        near=_near("fmod"),
        example=([7, -7, 5], [3, 3, 2]),
        notes="An integer modulo 0 gives 0, a float NaN.",
    ),
    row(
        "pow",
        rules.COMMON_NUMBER,
        {"i": "power_i({0}, {1})", "u": "power_u({0}, {1})", "f": "pow_{t}({0}, {1})"},
        "First array to the power of the second.",
        reference=power_reference,
        hlo="power",
        cost=40,
        near={
            t: (f"pow_is_hard_{t}({{0}}, {{1}})", f"pow_near_{t}({{0}}, {{1}})")
            for t in ("f32", "f64")
        },
        exact="biu",
        aliases=("power",),
        example=([2.0, 3.0], [3.0, 0.5]),
        scalars=rules.refuse_negative_powers,
        notes="Integers wrap around.  An integer to a negative Python int is refused; negative "
        "exponents in an integer array give the power rounded toward zero (NumPy raises).",
    ),
    row(
        "negative",
        rules.NUMBERS,
        {**dict.fromkeys("iuf", "-{0}"), "c": "negative_c({0})"},
        "Numerical negative.",
        hlo="negate",
        example=(_X,),
        notes="Unsigned integers wrap around; bools are refused.",
    ),
    row(
        "positive",
        rules.NUMBERS,
        dict.fromkeys("iufc", "{0}"),
        "The values themselves.",
        example=(_X,),
        notes="Bools are refused.",
    ),
    row(
        "abs",
        rules.MAGNITUDE,
        {
            **dict.fromkeys("bu", "{0}"),
            **dict.fromkeys("if", "abs({0})"),
            "c": "absolute_{t}({0})",
        },
        "Absolute value, or modulus of a complex number.",
        hlo="abs",
        exact="biuf",
        aliases=("absolute",),
        example=(_X,),
        notes="The least signed integer is its own absolute value.  A modulus is within 4 units "
        "in the last place.",
    ),
    row(
        "fabs",
        rules.REAL_FLOATS,
        {"f": "abs({0})"},
        "Absolute value as a float.",
        example=([-3, 2],),
    ),
    row(
        "sign",
        rules.NUMBERS,
        {
            "i": "({0} > 0) - ({0} < 0)",
            "u": "{0} != 0",
            "f": "sign_f({0})",
            "c": "sign_c(tame_c({0}), absolute_{t}(tame_c({0})))",
        },
        "-1, 0 or 1 by sign; for complex numbers the direction x/abs(x).",
        reference=sign_reference,
        exact="iuf",
        hlo="sign",
        example=(_X,),
        notes="NaN stays NaN; both zeros give 0.  Bools are refused.  The direction of a complex "
        "number is right even where its absolute value overflows (NumPy gives 1j or -1j there).",
    ),
    row(
        "square",
        rules.COMMON_NUMBER,
        {**dict.fromkeys("iuf", "{0} * {0}"), "c": "multiply_c({0}, {0})"},
        "Square.",
        exact="iuf",
        example=(_X,),
        notes="Integers wrap around.",
    ),
    row(
        "reciprocal",
        rules.COMMON_NUMBER,
        {
            "u": "{0} == 1",
            "f": "reciprocal_f({0})",
            "c": "reciprocal_c({0})",
        },
        "1/x.",
        cost=4,
        example=([2.0, -0.5],),
        notes="Of an integer it is rounded toward zero; use ``1 / x`` for a float.",
    ),
    row(
        "sqrt",
        rules.FLOATS,
        {"f": "sqrt_f({0})"},
        "Square root, correctly rounded.",
        hlo="sqrt",
        cost=4,
        exact="f",
        example=([4.0, 2.25],),
        notes="Negative numbers give NaN.",
    ),
)
