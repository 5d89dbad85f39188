"""Rows of the op table: comparisons, predicates, truth values and bits."""

from __future__ import annotations

from . import rules
from .op import Op, row

_X = [1.0, 2.0, 3.0]
_Y = [2.0, 2.0, 2.0]
_EDGE = [1.0, float("inf"), float("nan")]
_P = [True, True, False]
_Q = [True, False, False]
_I = [5, 6]
_J = [3, 1]


def _equality(name: str, same: str, sign: str, summary: str, hlo: str, notes: str) -> Op:
    """Return the row of ``==`` or, with the sign "not ", of ``!=``."""
    return row(
        name,
        rules.COMPARISON,
        {
            **dict.fromkeys("biufc", same),
            "iu": f"{sign}equal_iu({{0}}, {{1}})",
            "ui": f"{sign}equal_iu({{1}}, {{0}})",
        },
        summary,
        hlo=hlo,
        example=(_X, _Y),
        scalars=rules.compare_scalars,
        notes=f"{notes}  Integers of different signedness are compared exactly.",
    )


def _order(name: str, sign: str, hlo: str) -> Op:
    """Return the row of one of the four comparisons by order.

    Those by ``>`` are those by ``<`` of exchanged operands.  Unsigned integers come second in what
    compares with signed ones, so that one is the negative of its opposite where they come first.
    """
    strict, falls = "=" not in sign, sign[0] == ">"
    first, second = ("{1}", "{0}") if falls else ("{0}", "{1}")
    own, opposite = ("less", "less_equal") if strict else ("less_equal", "less")
    straight, turned = f"{own}_iu({first}, {second})", f"not {opposite}_iu({second}, {first})"
    return row(
        name,
        rules.COMPARISON,
        {
            **dict.fromkeys("biuf", f"{{0}} {sign} {{1}}"),
            "c": f"{own}_c({first}, {second})",
            "iu": turned if falls else straight,
            "ui": straight if falls else turned,
        },
        f"x1 {sign} x2.",
        hlo=f"compare {hlo}",
        example=(_X, _Y),
        scalars=rules.compare_scalars,
        notes="False for NaN.  Complex numbers are ordered by real, then by imaginary part.",
    )


ROWS: tuple[Op, ...] = (
    _equality("equal", "{0} == {1}", "", "x1 == x2.", "compare EQ", "NaN equals nothing."),
    _equality(
        "not_equal", "{0} != {1}", "not ", "x1 != x2.", "compare NE", "NaN differs from everything."
    ),
    _order("less", "<", "LT"),
    _order("less_equal", "<=", "LE"),
    _order("greater", ">", "GT"),
    _order("greater_equal", ">=", "GE"),
    row(
        "isnan",
        rules.PREDICATE,
        {**dict.fromkeys("biu", "False"), "f": "{0} != {0}", "c": "isnan_c({0})"},
        "True where x is NaN, for complex numbers in either part.",
        example=(_EDGE,),
    ),
    row(
        "isinf",
        rules.PREDICATE,
        {**dict.fromkeys("biu", "False"), "f": "isinf_f({0})", "c": "isinf_c({0})"},
        "True where x is infinite, for complex numbers in either part.",
        example=(_EDGE,),
    ),
    row(
        "isfinite",
        rules.PREDICATE,
        {**dict.fromkeys("biu", "True"), "f": "isfinite_f({0})", "c": "isfinite_c({0})"},
        "True where x is neither infinite nor NaN.",
        hlo="is-finite",
        example=(_EDGE,),
    ),
    row(
        "signbit",
        rules.SIGN_BIT,
        {"f": "signbit_{t}({0})"},
        "True where the sign bit is set, -0.0 and negative NaN included.",
        example=([-1.0, -0.0, 0.0],),
    ),
    row(
        "logical_and",
        rules.LOGICAL,
        {"b": "{0} & {1}"},
        "True where both are nonzero.",
        hlo="and",
        example=(_P, _Q),
    ),
    row(
        "logical_or",
        rules.LOGICAL,
        {"b": "{0} | {1}"},
        "True where either is nonzero.",
        hlo="or",
        example=(_P, _Q),
    ),
    row(
        "logical_xor",
        rules.LOGICAL,
        {"b": "{0} != {1}"},
        "True where exactly one is nonzero.",
        hlo="xor",
        example=(_P, _Q),
    ),
    row(
        "logical_not",
        rules.LOGICAL,
        {"b": "not {0}"},
        "True where x is zero.",
        hlo="not",
        example=(_P,),
    ),
    row(
        "bitwise_and",
        rules.INTEGERS,
        dict.fromkeys("biu", "{0} & {1}"),
        "Bits set in both.",
        hlo="and",
        example=(_I, _J),
    ),
    row(
        "bitwise_or",
        rules.INTEGERS,
        dict.fromkeys("biu", "{0} | {1}"),
        "Bits set in either.",
        hlo="or",
        example=(_I, _J),
    ),
    row(
        "bitwise_xor",
        rules.INTEGERS,
        dict.fromkeys("biu", "{0} ^ {1}"),
        "Bits set in exactly one.",
        hlo="xor",
        example=(_I, _J),
    ),
    row(
        "bitwise_invert",
        rules.INTEGERS,
        {"b": "not {0}", **dict.fromkeys("iu", "~{0}")},
        "Every bit flipped.",
        hlo="not",
        aliases=("invert", "bitwise_not"),
        example=(_I,),
    ),
    row(
        "bitwise_left_shift",
        rules.SHIFTS,
        {"i": "left_shift_i({0}, {1})", "u": "left_shift_u({0}, {1})"},
        "Bits moved up, zeros moved in.",
        aliases=("left_shift",),
        example=(_I, _J),
        notes="Nothing is left if the distance is negative or reaches the width.",
    ),
    row(
        "bitwise_right_shift",
        rules.SHIFTS,
        {"i": "right_shift_i({0}, {1})", "u": "right_shift_u({0}, {1})"},
        "Bits moved down with the sign copied in.",
        aliases=("right_shift",),
        example=(_I, _J),
        notes="Only the sign is left if the distance is negative or reaches the width.",
    ),
)
