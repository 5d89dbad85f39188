"""Rows of the op table: elementary functions.

Bodies are the vectorisable ones of ``ops/bodies/elementary.py``, within 4 units in the last place.
Complex arguments have no body; NumPy evaluates them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import rules
from .op import Op

_UNIT = [0.0, 0.5, 1.0]
_POSITIVE = [1.0, 2.0, 10.0]


def _unary(
    name: str,
    reference: Callable[..., Any],
    summary: str,
    cost: int,
    hlo: str | None = None,
    aliases: tuple[str, ...] = (),
    example: list[float] = _UNIT,
    notes: str = "",
) -> Op:
    """Return the row of a function of one variable with the body ``name_f32``/``name_f64``."""
    rule = rules.REAL_FLOATS if name in _REAL_ONLY else rules.FLOATS
    return Op(
        name,
        1,
        rule,
        reference,
        {"f": name + "_{t}({0})"},
        summary,
        hlo,
        cost,
        "",
        aliases,
        (example,),
        notes,
    )


_REAL_ONLY = frozenset({"cbrt"})

ROWS: tuple[Op, ...] = (
    _unary("sin", np.sin, "Sine of an angle in radians.", 15, "sine"),
    _unary("cos", np.cos, "Cosine of an angle in radians.", 15, "cosine"),
    _unary("tan", np.tan, "Tangent of an angle in radians.", 20, "tan"),
    _unary(
        "asin",
        np.arcsin,
        "Inverse sine, in -pi/2 to pi/2.",
        20,
        None,
        ("arcsin",),
        notes="NaN outside -1 to 1.",
    ),
    _unary(
        "acos",
        np.arccos,
        "Inverse cosine, in 0 to pi.",
        20,
        None,
        ("arccos",),
        notes="NaN outside -1 to 1.",
    ),
    _unary("atan", np.arctan, "Inverse tangent, in -pi/2 to pi/2.", 15, None, ("arctan",)),
    _unary("sinh", np.sinh, "Hyperbolic sine.", 20),
    _unary("cosh", np.cosh, "Hyperbolic cosine.", 20),
    _unary("tanh", np.tanh, "Hyperbolic tangent.", 20, "tanh"),
    _unary("asinh", np.arcsinh, "Inverse hyperbolic sine.", 25, None, ("arcsinh",)),
    _unary(
        "acosh",
        np.arccosh,
        "Inverse hyperbolic cosine.",
        25,
        None,
        ("arccosh",),
        _POSITIVE,
        "NaN below 1.",
    ),
    _unary(
        "atanh",
        np.arctanh,
        "Inverse hyperbolic tangent.",
        25,
        None,
        ("arctanh",),
        [0.0, 0.5],
        "Infinite at -1 and 1, NaN outside.",
    ),
    _unary("exp", np.exp, "e to the power of x.", 10, "exponential"),
    _unary("exp2", np.exp2, "2 to the power of x.", 10),
    _unary(
        "expm1",
        np.expm1,
        "exp(x) - 1, accurate near 0.",
        15,
        "exponential-minus-one",
    ),
    _unary(
        "log",
        np.log,
        "Natural logarithm.",
        12,
        "log",
        (),
        _POSITIVE,
        "-inf at 0, NaN below.",
    ),
    _unary(
        "log2",
        np.log2,
        "Logarithm to base 2.",
        12,
        None,
        (),
        _POSITIVE,
        "-inf at 0, NaN below.",
    ),
    _unary(
        "log10",
        np.log10,
        "Logarithm to base 10.",
        12,
        None,
        (),
        _POSITIVE,
        "-inf at 0, NaN below.",
    ),
    _unary(
        "log1p",
        np.log1p,
        "log(1 + x), accurate near 0.",
        15,
        "log-plus-one",
        (),
        _UNIT,
        "-inf at -1, NaN below.",
    ),
    _unary("cbrt", np.cbrt, "Cube root.", 20, "cbrt", (), [8.0, -27.0]),
    Op(
        "atan2",
        2,
        rules.REAL_FLOATS,
        np.arctan2,
        {"f": "atan2_{t}({0}, {1})"},
        "Angle of the point (x2, x1) from the positive x axis, in -pi to pi.",
        "atan2",
        25,
        "",
        ("arctan2",),
        ([1.0, 0.0, -1.0], [1.0, -1.0, 0.0]),
        "Signed zeros choose the side of the branch cut.",
    ),
    Op(
        "hypot",
        2,
        rules.REAL_FLOATS,
        np.hypot,
        {"f": "hypot_{t}({0}, {1})"},
        "sqrt(x1**2 + x2**2) without overflow on the way.",
        None,
        8,
        "",
        (),
        ([3.0, 1e300], [4.0, 0.0]),
        "Infinite if either is infinite, even if the other is NaN.",
    ),
    Op(
        "logaddexp",
        2,
        rules.REAL_FLOATS,
        np.logaddexp,
        {"f": "logaddexp_{t}({0}, {1})"},
        "log(exp(x1) + exp(x2)) without overflow on the way.",
        None,
        30,
        "",
        (),
        ([0.0, 1000.0], [0.0, 1000.0]),
    ),
    Op(
        "deg2rad",
        1,
        rules.REAL_FLOATS,
        np.deg2rad,
        {"f": "deg2rad_f({0})"},
        "Degrees to radians.",
        None,
        1,
        "f",
        ("radians",),
        ([0.0, 90.0, 180.0],),
    ),
    Op(
        "rad2deg",
        1,
        rules.REAL_FLOATS,
        np.rad2deg,
        {"f": "rad2deg_f({0})"},
        "Radians to degrees.",
        None,
        1,
        "f",
        ("degrees",),
        ([0.0, 1.0],),
    ),
)
