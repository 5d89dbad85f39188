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


def _predicate(
    name: str, of_integers: str, of_floats: str, where: str, hlo: str | None = None
) -> Op:
    """Return the row of a question about floats, which integers and bools answer alike."""
    bodies = {**dict.fromkeys("biu", of_integers), "f": of_floats, "c": f"{name}_c({{0}})"}
    return row(name, rules.PREDICATE, bodies, f"True where x {where}.", hlo=hlo, example=(_EDGE,))


ROWS: tuple[Op, ...] = (
    _equality("equal", "{0} == {1}", "", "x1 == x2.", "compare EQ", "NaN equals nothing."),
    _equality(
        "not_equal", "{0} != {1}", "not ", "x1 != x2.", "compare NE", "NaN differs from everything."
    ),
    _order("less", "<", "LT"),
    _order("less_equal", "<=", "LE"),
    _order("greater", ">", "GT"),
    _order("greater_equal", ">=", "GE"),
    _predicate("isnan", "False", "{0} != {0}", "is NaN, for complex numbers in either part"),
    _predicate("isinf", "False", "isinf_f({0})", "is infinite, for complex numbers in either part"),
    _predicate(
        "isfinite", "True", "isfinite_f({0})", "is neither infinite nor NaN", hlo="is-finite"
    ),
    row(
        "signbit",
        rules.SIGN_BIT,
        {"f": "signbit_{t}({0})"},
        "True where the sign bit is set, -0.0 and negative NaN included.",
        example=([-1.0, -0.0, 0.0],),
    ),
    *[
        row(
            f"logical_{name}",
            rules.LOGICAL,
            {"b": body},
            f"True where {which} nonzero.",
            hlo=name,
            example=(_P, _Q),
        )
        for name, body, which in (
            ("and", "{0} & {1}", "both are"),
            ("or", "{0} | {1}", "either is"),
            ("xor", "{0} != {1}", "exactly one is"),
        )
    ],
    row(
        "logical_not",
        rules.LOGICAL,
        {"b": "not {0}"},
        "True where x is zero.",
        hlo="not",
        example=(_P,),
    ),
    *[
        row(
            f"bitwise_{name}",
            rules.INTEGERS,
            dict.fromkeys("biu", f"{{0}} {sign} {{1}}"),
            f"Bits set in {where}.",
            hlo=name,
            example=(_I, _J),
        )
        for name, sign, where in (
            ("and", "&", "both"),
            ("or", "|", "either"),
            ("xor", "^", "exactly one"),
        )
    ],
    row(
        "bitwise_invert",
        rules.INTEGERS,
        {"b": "not {0}", **dict.fromkeys("iu", "~{0}")},
        "Every bit flipped.",
        hlo="not",
        aliases=("invert", "bitwise_not"),
        example=(_I,),
    ),
    *[
        row(
            f"bitwise_{way}_shift",
            rules.SHIFTS,
            {kind: f"{way}_shift_{kind}({{0}}, {{1}}, last_{{t}}())" for kind in "iu"},
            f"Bits moved {moved}.",
            aliases=(f"{way}_shift",),
            example=(_I, _J),
            notes=f"{left} if the distance is negative or reaches the width.",
        )
        for way, moved, left in (
            ("left", "up, zeros moved in", "Nothing is left"),
            ("right", "down with the sign copied in", "Only the sign is left"),
        )
    ],
)
