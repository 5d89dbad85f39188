"""Rows of the op table: elementary functions.

Bodies are the vectorisable ones of ``ops/bodies/``, within 4 units in the last place.
Complex arguments have no body; NumPy evaluates them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from . import rules
from .op import Op, Rule, row

_UNIT = ([0.0, 0.5, 1.0],)
_POSITIVE = ([1.0, 2.0, 10.0],)


def _smooth(
    name: str,
    summary: str,
    cost: int,
    rule: Rule = rules.FLOATS,
    example: tuple[list[float], ...] = _UNIT,
    **more: Any,
) -> Op:
    """Return the row of a function with the bodies ``name_f32`` and ``name_f64``."""
    arguments = ", ".join([f"{{{k}}}" for k in range(len(example))])
    bodies = {"f": f"{name}_{{t}}({arguments})"}
    return row(name, rule, bodies, summary, cost=cost, exact="", example=example, **more)


def _near(name: str, hard: str = "", types: str = "f64") -> dict[str, tuple[str, str]]:
    """Return the bodies of a function for arguments that are not hard."""
    return {
        t: (f"{hard or name}_is_hard_{t}({{0}})", f"{name}_near_{t}({{0}})") for t in types.split()
    }


def tan_reference(z: NumpyArray) -> NumpyArray:
    """``np.tan``, with the standard's sign of the zero at infinity: that of the real part."""
    made = np.asarray(np.tan(z))
    if made.dtype.kind == "c" and np.count_nonzero(np.isinf(z)):
        _sign_zeros(made.real, z.real, z.imag)
    return made


def tanh_reference(z: NumpyArray) -> NumpyArray:
    """``np.tanh``, with the standard's sign of the zero at infinity: that of the imaginary part."""
    made = np.asarray(np.tanh(z))
    if made.dtype.kind == "c" and np.count_nonzero(np.isinf(z)):
        _sign_zeros(made.imag, z.imag, z.real)
    return made


def _sign_zeros(made: NumpyArray, of: NumpyArray, far: NumpyArray) -> None:
    """Make parts zero, with the signs of the operand's, where its other part is infinite."""
    zero = np.isinf(far) & np.isfinite(of)
    made[zero] = np.copysign(0.0, of[zero])


def expm1_reference(z: NumpyArray) -> NumpyArray:
    """``np.expm1``; where complex numbers are not finite ``exp(z) - 1``, as in the standard."""
    made = np.asarray(np.expm1(z))
    if made.dtype.kind == "c" and np.count_nonzero(np.isfinite(made + z)) < made.size:
        far = ~(np.isfinite(made) & np.isfinite(z))
        made[far] = np.exp(z[far]) - made.dtype.type(1)
    return made


ROWS: tuple[Op, ...] = (
    *[
        _smooth(
            name,
            f"{function} of an angle in radians.",
            cost,
            near=_near(name, "angle", "f64 f32"),
            steep=True,
            **more,
        )
        for name, function, cost, more in (
            ("sin", "Sine", 15, {"hlo": "sine"}),
            ("cos", "Cosine", 15, {"hlo": "cosine"}),
            ("tan", "Tangent", 20, {"hlo": "tan", "reference": tan_reference}),
        )
    ],
    _smooth(
        "asin",
        "Inverse sine, in -pi/2 to pi/2.",
        20,
        aliases=("arcsin",),
        notes="NaN outside -1 to 1.",
    ),
    _smooth(
        "acos", "Inverse cosine, in 0 to pi.", 20, aliases=("arccos",), notes="NaN outside -1 to 1."
    ),
    _smooth("atan", "Inverse tangent, in -pi/2 to pi/2.", 15, aliases=("arctan",)),
    _smooth("sinh", "Hyperbolic sine.", 20, near=_near("sinh", "exp")),
    _smooth("cosh", "Hyperbolic cosine.", 20, near=_near("cosh", "exp")),
    _smooth("tanh", "Hyperbolic tangent.", 20, hlo="tanh", reference=tanh_reference),
    _smooth("asinh", "Inverse hyperbolic sine.", 25, aliases=("arcsinh",), near=_near("asinh")),
    _smooth(
        "acosh",
        "Inverse hyperbolic cosine.",
        25,
        aliases=("arccosh",),
        example=_POSITIVE,
        notes="NaN below 1.",
    ),
    _smooth(
        "atanh",
        "Inverse hyperbolic tangent.",
        25,
        aliases=("arctanh",),
        example=([0.0, 0.5],),
        notes="Infinite at -1 and 1, NaN outside.",
        near=_near("atanh"),
    ),
    _smooth("exp", "e to the power of x.", 10, hlo="exponential", near=_near("exp")),
    _smooth("exp2", "2 to the power of x.", 10, near=_near("exp2")),
    _smooth(
        "expm1",
        "exp(x) - 1, accurate near 0.",
        15,
        hlo="exponential-minus-one",
        reference=expm1_reference,
    ),
    *[
        _smooth(
            name,
            summary,
            12,
            hlo=hlo,
            example=_POSITIVE,
            notes="-inf at 0, NaN below.",
            near=_near(name, "log", "f64 f32"),
        )
        for name, summary, hlo in (
            ("log", "Natural logarithm.", "log"),
            ("log2", "Logarithm to base 2.", None),
            ("log10", "Logarithm to base 10.", None),
        )
    ],
    _smooth(
        "log1p",
        "log(1 + x), accurate near 0.",
        15,
        hlo="log-plus-one",
        notes="-inf at -1, NaN below.",
        near=_near("log1p"),
    ),
    _smooth(
        "cbrt",
        "Cube root.",
        20,
        rule=rules.REAL_FLOATS,
        hlo="cbrt",
        example=([8.0, -27.0],),
        near=_near("cbrt", "cbrt", "f64 f32"),
    ),
    _smooth(
        "atan2",
        "Angle of the point (x2, x1) from the positive x axis, in -pi to pi.",
        25,
        rule=rules.REAL_FLOATS,
        hlo="atan2",
        aliases=("arctan2",),
        example=([1.0, 0.0, -1.0], [1.0, -1.0, 0.0]),
        notes="Signed zeros choose the side of the branch cut.",
    ),
    _smooth(
        "hypot",
        "sqrt(x1**2 + x2**2) without overflow on the way.",
        8,
        rule=rules.REAL_FLOATS,
        example=([3.0, 1e300], [4.0, 0.0]),
        notes="Infinite if either is infinite, even if the other is NaN.",
    ),
    _smooth(
        "logaddexp",
        "log(exp(x1) + exp(x2)) without overflow on the way.",
        30,
        rule=rules.REAL_FLOATS,
        example=([0.0, 1000.0], [0.0, 1000.0]),
    ),
    *[
        row(
            name,
            rules.REAL_FLOATS,
            {"f": f"{name}_f({{0}})"},
            summary,
            exact="f",
            aliases=(alias,),
            example=example,
        )
        for name, summary, alias, example in (
            ("deg2rad", "Degrees to radians.", "radians", ([0.0, 90.0, 180.0],)),
            ("rad2deg", "Radians to degrees.", "degrees", ([0.0, 1.0],)),
        )
    ],
)
