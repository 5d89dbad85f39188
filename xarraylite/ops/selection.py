"""Rows of the op table: rounding, order, choice, conversion and parts of complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from . import rules
from .op import HOST, Op, row

_X = [-2.5, 0.0, 1.5]
_Y = [2.0, 4.0, -0.5]
_Z = [3 + 4j, 1 - 1j]


def round_reference(x: NumpyArray) -> NumpyArray:
    """``np.round`` of every kind: integers are integers already."""
    return x.copy() if x.dtype.kind in "iu" else np.asarray(np.rint(x))


def fmax_reference(a: NumpyArray, b: NumpyArray) -> NumpyArray:
    """``np.fmax``, the first of two equals: NumPy picks a zero by its place in the array."""
    return np.where(a == b, a, np.fmax(a, b))


def fmin_reference(a: NumpyArray, b: NumpyArray) -> NumpyArray:
    """``np.fmin``, the first of two equals."""
    return np.where(a == b, a, np.fmin(a, b))


def clip_reference(x: NumpyArray, low: NumpyArray, high: NumpyArray) -> NumpyArray:
    """``np.clip``, x itself where it equals a bound, as NumPy has it for bounds of one value."""
    if x.dtype.kind not in "fc":
        return np.asarray(np.clip(x, low, high))
    most: Any = complex(np.inf, np.inf) if x.dtype.kind == "c" else np.inf
    raised = np.where(x == low, x, np.clip(x, low, most))
    return np.where(raised == high, raised, np.clip(raised, -most, high))


def imag_reference(x: NumpyArray) -> NumpyArray:
    """The imaginary part, zeros for real numbers."""
    return np.imag(x).copy()


def real_reference(x: NumpyArray) -> NumpyArray:
    """The real part, a copy for real numbers."""
    return np.real(x).copy()


def with_imag_reference(real: NumpyArray, imag: NumpyArray) -> NumpyArray:
    """Complex numbers of the real parts of two arrays, which no arithmetic changes."""
    made = np.array(np.broadcast_arrays(real, imag)[0])
    made.imag = imag.real
    return made


def cast_reference(x: NumpyArray) -> NumpyArray:
    """The array itself: the dtype of a cast is the node's, so whoever runs it converts."""
    return x


def fdim_reference(a: NumpyArray, b: NumpyArray) -> NumpyArray:
    """The positive difference, NaN if either is NaN."""
    zero = np.zeros((), a.dtype)
    return np.where((a > b) | (a != a) | (b != b), a - b, zero)


def _extreme(
    name: str, sign: str, which: str, over_nan: Callable[..., Any] | None = None, **more: Any
) -> Op:
    """Return the row of an extreme, or of one that passes NaN over (which has a reference)."""
    passes = over_nan is not None
    bodies = {
        "b": "{0} | {1}" if sign == ">" else "{0} & {1}",
        **dict.fromkeys("iu", f"{{0}} if {{0}} {sign} {{1}} else {{1}}"),
        **({} if passes else {"h": f"first_{name}_f({{0}}, {{1}})"}),
        **{kind: f"{name}_{kind}({{0}}, {{1}})" for kind in "fc"},
    }
    nan = "the other one if one is NaN" if passes else "NaN if either is NaN"
    more["notes"] = "Of two equal values, -0.0 and 0.0 among them, it is the first." * passes
    summary = f"{which} of two values; {nan}."
    return row(name, rules.ANY, bodies, summary, reference=over_nan, example=(_X, _Y), **more)


def _whole(name: str, summary: str, **more: Any) -> Op:
    """Return the row of a rounding to integers."""
    bodies = {**dict.fromkeys("biu", "{0}"), "f": f"{name}_f({{0}})"}
    summary = f"{summary}, as a float for floats."
    return row(name, rules.REAL, bodies, summary, example=(_X,), **more)


ROWS: tuple[Op, ...] = (
    _extreme("maximum", ">", "The greater", hlo="maximum"),
    _extreme("minimum", "<", "The smaller", hlo="minimum"),
    _extreme("fmax", ">", "The greater", fmax_reference),
    _extreme("fmin", "<", "The smaller", fmin_reference),
    row(
        "fdim",
        rules.REAL_NUMBER,
        {
            **dict.fromkeys("iu", "fdim_i({0}, {1})"),
            "f": "fdim_f({0}, {1})",
        },
        "x1 - x2 where that is positive, else 0.",
        reference=fdim_reference,
        example=(_X, _Y),
    ),
    row(
        "clip",
        rules.ANY,
        {
            "b": "({0} | {1}) & {2}",
            **dict.fromkeys("iu", "clip_i({0}, {1}, {2})"),
            "f": "clip_f({0}, {1}, {2})",
            "c": "clip_c({0}, {1}, {2})",
        },
        "Values moved into an interval.",
        reference=clip_reference,
        cost=3,  # with what it reads enough for the widest vectors, and no more time than memory
        example=(_X, [-1.0] * 3, [1.0] * 3),
        notes="A real NaN, as a value or a bound, gives NaN; where the bounds are crossed, the "
        "upper one wins.",
    ),
    _whole("floor", "Largest integer not above x", hlo="floor"),
    _whole("ceil", "Smallest integer not below x", hlo="ceil"),
    _whole("trunc", "x rounded toward zero", aliases=("fix",)),
    row(
        "round",
        rules.ROUNDED,
        {**dict.fromkeys("iu", "{0}"), "f": "rint_f({0})", "c": "rint_c({0})"},
        "x rounded to the nearest integer, halves to the even one.",
        reference=round_reference,
        hlo="round-nearest-even",
        aliases=("around",),
        example=(_X,),
        notes="Both parts of complex numbers are rounded.",
    ),
    row(
        "rint",
        rules.FLOATS,
        {"f": "rint_f({0})", "c": "rint_c({0})"},
        "x rounded to the nearest integer as a float, halves to the even one.",
        hlo="round-nearest-even",
        example=(_X,),
    ),
    row(
        "copysign",
        rules.REAL_FLOATS,
        {"f": "copysign_f({0}, {1})"},
        "Magnitude of the first array with the sign of the second.",
        example=(_X, _Y),
    ),
    row(
        "nextafter",
        rules.REAL_FLOATS,
        {"n": HOST, "f": "nextafter_{t}({0}, {1})"},
        "The next representable float from x1 toward x2.",
        cost=2,
        example=([1.0], [2.0]),
    ),
    row(
        "heaviside",
        rules.REAL_FLOATS,
        {"f": "heaviside_f({0}, {1})"},
        "0 below zero, 1 above, and the second argument at zero.",
        example=(_X, [0.5] * 3),
    ),
    row(
        "real",
        rules.MAGNITUDE,
        {**dict.fromkeys("biuf", "{0}"), "c": "{0}.real"},
        "Real part.",
        reference=real_reference,
        hlo="real",
        example=(_Z,),
    ),
    row(
        "imag",
        rules.MAGNITUDE,
        {**dict.fromkeys("biuf", "0"), "c": "{0}.imag"},
        "Imaginary part, 0 for real numbers.",
        reference=imag_reference,
        hlo="imag",
        example=(_Z,),
    ),
    row(
        "conj",
        rules.COMMON_NUMBER,
        {**dict.fromkeys("iuf", "{0}"), "c": "conj_c({0})"},
        "Complex conjugate.",
        aliases=("conjugate",),
        example=(_Z,),
    ),
    row(
        "with_imag",
        rules.PARTS,
        {"c": "complex({0}.real, {1}.real)"},
        "Complex numbers of two real parts, infinities, NaN and negative zeros included.",
        reference=with_imag_reference,
        example=(_X, _Y),
    ),
    row(
        "where",
        rules.SELECTION,
        {"b": "{1} if {0} else {2}"},
        "Elements of the second array where the first is true, else of the third.",
        hlo="select",
        example=([True, False], [1, 2], [3, 4]),
    ),
    row(
        "cast",
        rules.CAST,
        dict.fromkeys("biufc", "{0}"),  # to its own dtype; `cast_body` has the others
        "The values converted to another dtype.",
        reference=cast_reference,
        hlo="convert",
    ),
)
