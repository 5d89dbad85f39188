"""Elementwise functions beside the op table's: lazy, written in terms of its operations.

Each costs no more than its parts: a kernel fuses them, and computes what is shared once.
"""

from __future__ import annotations

import builtins
import cmath
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._errors import DTypeError, ShapeError
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..assignment.assign import check_update
from ..dtypes.info import finfo
from ..dtypes.names import (
    as_dtype,
    bool_,
    complex128,
    dtype_name,
    float64,
    int64,
    is_narrow_float,
    kind,
)
from ..dtypes.promotion import result_type as promoted
from ..ir import build
from ..operands.moving import maps
from ..operands.nodes import as_node, has_own, is_number
from ..operands.non_numeric import or_numpy
from ..ops.table import OPS
from .arguments import check_numbers
from .arrays_of_numpy import into
from .data_types import in_common_dtype
from .ufuncs import applied, as_ufunc, written


def _of(name: str, *operands: Any) -> XExpression:
    return applied(OPS[name], *operands)


def _constant(value: object, dtype: np.dtype[Any]) -> XExpression:
    return XExpression(build.scalar(value, dtype))


def _cast(value: object, dtype: np.dtype[Any], operation: str) -> XExpression:
    """Return a number, or an array of them, in a dtype."""
    if is_number(value):
        return _constant(value, dtype)
    return as_array(value, operation).astype(dtype, casting="same_kind")


def _floats(x: object, operation: str) -> XExpression:
    """Return an operand in the dtype its square root has."""
    if isinstance(x, XExpression) and x._kind.dtype.kind in "fc":
        return x
    array = as_array(x, operation)
    if kind(array.dtype) in "fc":
        return array
    return array.astype(_of("sqrt", array).dtype)


def _ordered(x: object, operation: str) -> XExpression:
    """Return an operand in floats; complex numbers have no sign."""
    build.require_real(as_node(x, operation), operation)
    return _floats(x, operation)


def _compared(x: object, other: object) -> Any:
    """Return an operand of `isclose`: a number beside an array stays one, which needs no node."""
    if type(x) not in build.WEAK_TYPES or type(other) in build.WEAK_TYPES:
        return as_array(x, "isclose")
    return x if isinstance(x, complex) else float(x)  # type: ignore[arg-type]


def _tolerance(value: object) -> Any:
    """Return how far apart numbers may be, in float64, as the comparison is."""
    if isinstance(value, (str, bytes, complex, np.complexfloating)) or value is None:
        check_numbers("isclose", float, tolerance=value)
    if is_number(value) and not hasattr(value, "dtype"):
        return float(value)  # type: ignore[arg-type]
    return as_array(value, "isclose").astype(float64)  # NumPy's scalars are float64 beside float32


@memoised
def isclose(
    a: object,
    b: object,
    rtol: float | object = 1e-5,
    atol: float | object = 1e-8,
    equal_nan: bool = False,
) -> XExpression:
    """Return whether ``|a - b| <= atol + rtol * |b|``, element by element, lazily.

    Parameters
    ----------
    a, b : array, expression or number
        What to compare, broadcast.
    rtol, atol : float or array
        Relative and absolute tolerance.
    equal_nan : bool, default False
        Whether NaN are close to each other.

    Returns
    -------
    XExpression
        Of bool; infinities are close to themselves alone.

    Raises
    ------
    DTypeError
        If a tolerance is neither a number nor an array.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.isclose(xl.asarray([1.0, 2.0]), xl.asarray([1.0 + 1e-9, 2.1])))
    XArray([ True, False])
    """
    rtol, atol = [x if type(x) is float else _tolerance(x) for x in (rtol, atol)]
    # Neither bool nor unsigned integers have a distance, and narrow dtypes round tolerances away.
    both = left, right = _compared(a, b), _compared(b, a)
    wide = promoted(*[x.dtype for x in both if not isinstance(x, (float, complex))])
    if kind(wide) != "c" and (kind(wide) != "f" or is_narrow_float(wide)):
        left, right = [x if isinstance(x, (float, complex)) else x.astype(float64) for x in both]
    near: Any = abs(left - right) <= rtol * abs(right) + atol
    if not isinstance(right, (float, complex)):
        near = near & _of("isfinite", right)
    elif not cmath.isfinite(right):
        near = False
    near = near | (left == right)
    if equal_nan:
        near = near | (_of("isnan", left) & _of("isnan", right))
    made: XExpression = near
    return made


@memoised
@maps
def nan_to_num(
    x: object,
    copy: bool = True,
    nan: float | object = 0.0,
    posinf: float | object | None = None,
    neginf: float | object | None = None,
) -> XExpression:
    """Return the elements with numbers in place of NaN and infinities, lazily.

    Parameters
    ----------
    x : array or expression
        Integers stay as they are; of complex numbers each part is looked at.
    copy : bool, default True
        False: write the result into ``x``, which must be a container.
    nan : float or array, default 0.0
        For NaN; an array has one number for each element.
    posinf, neginf : float or array, optional
        For infinities; by default the greatest and the least finite number of the dtype.

    Returns
    -------
    XExpression
        Of the dtype of ``x``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.nan_to_num(xl.asarray([1.0, xl.nan, -xl.inf]), neginf=-9.0))
    XArray([ 1.,  0., -9.])
    """
    array = XExpression(as_node(x, "nan_to_num"))
    if kind(array.dtype) == "c":
        parts = [nan_to_num(_of(p, array), True, nan, posinf, neginf) for p in ("real", "imag")]
        made = _of("with_imag", *parts)
    elif kind(array.dtype) == "f":
        info = finfo(array.dtype)
        high = float(info.max) if posinf is None else posinf
        low = float(info.min) if neginf is None else neginf
        infinite = _of("isinf", array)
        lows, highs, nans = [_cast(x, array.dtype, "nan_to_num") for x in (low, high, nan)]
        made = _of("where", infinite, _of("where", array > 0, highs, lows), array)
        made = _of("where", _of("isnan", array), nans, made)
    else:
        made = array
    return made if copy else into(x, made, "nan_to_num")


@memoised
@maps
def angle(z: object, deg: bool = False) -> XExpression:
    """Return the angles of complex numbers, lazily: 0 or pi for real ones.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.angle(xl.asarray([1j, -1.0]), deg=True))
    XArray([ 90., 180.])
    """
    node = as_node(z, "angle")
    whole = build.cast(node, int64) if kind(node.dtype) == "b" else node  # its floats are NumPy's
    array = _floats(XExpression(whole), "angle")
    imag = _of("imag", array) if kind(array.dtype) == "c" else _constant(0, array.dtype)
    made = _of("atan2", imag, _of("real", array))
    return _of("multiply", made, 180 / math.pi) if deg else made


@memoised
@maps
def sinc(x: object) -> XExpression:
    """Return ``sin(pi x) / (pi x)``, and 1 for 0, lazily.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.sinc(xl.asarray([0.0, 0.5]))).tolist()
    [1.0, 0.6366197723675814]
    """
    node = as_node(x, "sinc")
    array = XExpression(node if kind(node.dtype) in "fc" else build.cast(node, float64))
    # As NumPy: 0 is moved off the pole, where the quotient rounds to 1.
    tiny = _constant(2.0**-14 if is_narrow_float(array.dtype) else 1e-20, array.dtype)
    y = math.pi * _of("where", array != 0, array, tiny)
    return _of("divide", _of("sin", y), y)


@as_ufunc
@memoised
@maps
def float_power(
    x1: object, x2: object, /, out: object = None, *, where: object = True, dtype: object = None
) -> XExpression:
    """Return the first operand to the power of the second, at least in float64, lazily.

    Parameters
    ----------
    x1, x2 : array, expression or number
        Base and exponent.
    out : container, optional
        Where to write the result.
    where : array or expression of bool, optional
        Which elements are computed; the others keep what ``out`` has, or are 0.
    dtype : dtype, optional
        float64 or complex128: what it is computed in; by default the former for real operands.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.float_power(xl.asarray([2, 3]), -1)).tolist()
    [0.5, 0.3333333333333333]
    """
    operands = [XExpression(as_node(x, "float_power")) for x in (x1, x2)]
    real = not builtins.any([kind(x.dtype) == "c" for x in operands])
    wide = (float64 if real else complex128) if dtype is None else as_dtype(dtype)
    if wide not in (float64, complex128) or not (real or wide == complex128):
        raise DTypeError(f"float_power: there is no loop of {dtype_name(wide)} for these operands")
    base, exponent = [x.astype(wide) for x in operands]
    number = x2.__class__ is int or x2.__class__ is float  # which has a place in tables of kinds
    made = _of("pow", base, x2 if number and not is_number(x1) else exponent)
    return made if out is None and where is True else written(made, out, where, "float_power")


@as_ufunc
@or_numpy
def divmod(
    x1: object, x2: object, /, *outs: object, out: object = None, where: object = True
) -> tuple[XExpression, XExpression]:
    """Return the quotients and remainders of floor division, lazily.

    Parameters
    ----------
    x1, x2 : array, expression or number
        Real values, broadcast against each other.
    *outs, out : container, optional
        Where to write the two results: two arguments, or a tuple of two.
    where : array or expression of bool, optional
        Elements to compute; others keep what ``out`` has, or are 0.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [part.tolist() for part in xl.divmod(xl.asarray([7, -7]), 3)]
    [[2, -3], [1, 2]]
    """
    if has_own(x1, "divmod") or has_own(x2, "divmod"):
        raise DTypeError("divmod: an array of another library has one of its own")
    made = (_of("floor_divide", x1, x2), _of("remainder", x1, x2))
    return _both(made, outs, out, where, "divmod")


@as_ufunc
@or_numpy
@maps
def modf(
    x: object, /, *outs: object, out: object = None, where: object = True
) -> tuple[XExpression, XExpression]:
    """Return the fractions and the whole parts of numbers, both with their sign, lazily.

    Parameters are as for `divmod`, of one operand.

    Examples
    --------
    >>> import xarraylite as xl
    >>> [part.tolist() for part in xl.modf(xl.asarray([2.5, -0.5]))]
    [[0.5, -0.5], [2.0, -0.0]]
    """
    array = _floats(x, "modf")
    return _both((_fraction(array), _whole(array)), outs, out, where, "modf")


def _both(
    made: tuple[XExpression, XExpression],
    outs: tuple[object, ...],
    out: object,
    where: object,
    operation: str,
) -> tuple[XExpression, XExpression]:
    """Return two results, or write them; operands that are written are read before."""
    if out is None and where is True and not outs:
        return made
    if outs and out is not None:
        raise TypeError(
            f"{operation}: cannot specify 'out' as both a positional and keyword argument"
        )
    places: Any = (*outs, None, None)[:2] if out is None else out
    if not isinstance(places, tuple) or len(places) != 2 or len(outs) > 2:
        raise TypeError(f"{operation}: out must be a tuple of two arrays, one for each result")
    if places == (None, None) and where is True:
        return made
    first, second = [eval_(part) for part in made]
    for part, to in zip((first, second), places, strict=True):  # before anything is written
        if not isinstance(to, (XExpression, np.ndarray, type(None))):
            raise TypeError(f"{operation}: out must be an array, got {type(to).__name__}")
        if isinstance(to, XExpression) and where is True:
            check_update(to, operation, part.shape, part.dtype)
    return (
        written(first, places[0], where, operation),
        written(second, places[1], where, operation),
    )


@memoised
def _whole(array: XExpression) -> XExpression:
    return _of("trunc", array)


@memoised
def _fraction(array: XExpression) -> XExpression:
    left = array - _of("trunc", array)
    left = _of("where", _of("isinf", array), _constant(0, array.dtype), left)
    return _of("copysign", left, array)


@memoised
@maps
def isposinf(x: object, out: object = None) -> XExpression:
    """Return whether elements are positive infinity, lazily.

    Raises
    ------
    DTypeError
        For complex numbers, whose infinities have no sign.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isposinf(xl.asarray([xl.inf, -xl.inf, 1.0])).tolist()
    [True, False, False]
    """
    return into(out, _of("equal", _ordered(x, "isposinf"), math.inf), "isposinf")


@memoised
@maps
def isneginf(x: object, out: object = None) -> XExpression:
    """Return whether elements are negative infinity, lazily.

    Raises
    ------
    DTypeError
        For complex numbers, whose infinities have no sign.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isneginf(xl.asarray([xl.inf, -xl.inf, 1.0])).tolist()
    [False, True, False]
    """
    return into(out, _of("equal", _ordered(x, "isneginf"), -math.inf), "isneginf")


@memoised
@maps
def isreal(x: object) -> XExpression:
    """Return whether elements have no imaginary part, lazily.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.isreal(xl.asarray([1.0 + 0j, 1j])).tolist()
    [True, False]
    """
    return _of("logical_not", iscomplex(XExpression(as_node(x, "isreal"))))


@memoised
@maps
def iscomplex(x: object) -> XExpression:
    """Return whether elements have an imaginary part, lazily.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.iscomplex(xl.asarray([1.0 + 0j, 1j])).tolist()
    [False, True]
    """
    node = as_node(x, "iscomplex")
    if kind(node.dtype) != "c":
        return XExpression(build.broadcast_to(build.scalar(False, bool_), node.shape))
    return _of("not_equal", _of("imag", XExpression(node)), 0)


@memoised
def select(
    condlist: Sequence[object], choicelist: Sequence[object], default: object = 0
) -> XExpression:
    """Return for each element the first choice whose condition holds, lazily.

    Parameters
    ----------
    condlist : sequence of arrays of bool
        Conditions, broadcast.
    choicelist : sequence of arrays
        As many choices.
    default : array or number, default 0
        Where no condition holds.

    Returns
    -------
    XExpression
        Of the choices' common dtype.

    Raises
    ------
    ShapeError
        If there are not as many choices as conditions, or none.
    DTypeError
        If a condition is not bool.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.arange(5)
    >>> xl.select([x < 2, x > 3], [-1, 10 * x], 7).tolist()
    [-1, -1, 7, 7, 40]
    """
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices) or not conditions:
        raise ShapeError(
            f"select: {len(conditions)} conditions and {len(choices)} choices; as many are needed, "
            "and at least one"
        )
    *choices, made = in_common_dtype(*choices, default)
    for condition, choice in zip(conditions[::-1], choices[::-1], strict=True):
        array = as_array(condition, "select")
        if array.dtype != bool_:
            raise DTypeError(f"select: a condition is {dtype_name(array.dtype)}, not bool")
        made = _of("where", array, choice, made)
    return made  # type: ignore[no-any-return]
