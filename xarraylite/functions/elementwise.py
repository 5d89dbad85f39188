"""Elementwise functions: one definition per row of the op table.

Every function is lazy: it returns an `XExpression` whose shape and dtype are known at once, and
which is computed together with whatever it becomes part of.  Arguments are containers,
expressions, NumPy arrays and Python numbers; they broadcast against each other.

Names are the array API standard's; NumPy's older names are further names of the same functions.
Documentation comes from the op table too, so the dtype rule a page shows is the one in force.
"""

from __future__ import annotations

import builtins
import functools
import sys
from typing import Any

import numpy as np

from .._errors import CastError, DTypeError
from .._later import regular
from ..arrays import expression, ownership
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..dtypes.names import SUPPORTED, kind
from ..dtypes.promotion import int_bounds
from ..ir.build import describe
from ..operands.moving import maps
from ..operands.nodes import NUMBERS, as_node, has_own, unwrapped
from ..operands.non_numeric import array_of, call_numpy
from ..ops.table import ALIASES, OPS
from .arguments import whole
from .arrays_of_numpy import into
from .data_types import in_common_dtype
from .searching import nonzero
from .ufuncs import Binary as Binary
from .ufuncs import Unary as Unary
from .ufuncs import (
    applied,
    binary,
    check_options,
    ordered,
    unary,
    wanted_of,
    written,
)


@memoised
@maps
def round(a: object, decimals: int = 0, out: object = None) -> XExpression:
    """Return the values rounded to a number of decimals, halves to even.

    Parameters
    ----------
    a : array, expression or number
        Values; any dtype.
    decimals : int, default 0
        Places after the point; negative ones before it.  As in NumPy, floats are scaled by the
        power of ten, rounded and scaled back.
    out : container, optional
        Where to write the result.

    Returns
    -------
    XExpression
        Lazy; the result has the operand's dtype, float16 for bool.

    Raises
    ------
    DTypeError
        If the operand is no array or number.

    See Also
    --------
    numpy.round : The same on NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> np.asarray(xl.round(xl.asarray([2.5, -1.4]))).tolist()
    [2.0, -1.0]
    >>> np.asarray(xl.round(xl.asarray([2.56, 1.43]), 1)).tolist()
    [2.6, 1.4]
    """
    return into(out, _rounded(a, decimals), "round")


def _rounded(x: object, decimals: int) -> XExpression:
    if decimals.__class__ is not int:
        as_node(x, "round")  # other libraries' are theirs, whatever the decimals
        decimals = whole(decimals, "round", "decimals")
    if not decimals:
        return applied(OPS["round"], x)
    node = as_node(x, "round")
    if kind(node.dtype) in "iu" and decimals > 0:
        return XExpression(node)
    if kind(node.dtype) == "c":  # part by part, which no division of complex numbers is
        parts = [_rounded(applied(OPS[part], x), decimals) for part in ("real", "imag")]
        return applied(OPS["with_imag"], *parts)
    scale: object = 10.0 ** builtins.abs(decimals)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    if kind(node.dtype) == "b":
        raise CastError(
            f"round({describe(node)}, {decimals}): the quotients, float64, do not cast to bool; "
            "only decimals=0 rounds truth values"
        )
    made = applied(OPS["round"], applied(OPS[there], x, scale))
    return applied(OPS[back], made, scale).astype(node.dtype)


_MISSING: Any = object()


def where(condition: object, x: object = _MISSING, y: object = _MISSING) -> Any:
    """Choose between two values, element by element; alone, return where a condition holds.

    Parameters
    ----------
    condition : array, expression or number
        Where it is nonzero, `x` is taken.
    x, y : array, expression or number
        Values, broadcast against each other and the condition.

    Returns
    -------
    XExpression
        The lazy result, of the common dtype of the two values.  Without them the positions of
        `nonzero`.

    Raises
    ------
    DTypeError
        If an operand is no array or number.
    ValueError
        If only one of the two values is given.
    BroadcastError
        If the shapes do not broadcast.

    See Also
    --------
    numpy.where : The same on NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> x = xl.asarray([-1.0, 2.0])
    >>> np.asarray(xl.where(x > 0, x, 0.0)).tolist()
    [0.0, 2.0]
    """
    if y is _MISSING:
        if x is not _MISSING:
            raise ValueError("where: give both values, or the condition alone")
        return nonzero(np.asarray(condition) if isinstance(condition, np.ndarray) else condition)
    try:
        return expression.apply(OPS["where"], condition, x, y)
    except OverflowError:
        return expression.apply(OPS["where"], condition, *in_common_dtype(x, y))
    except DTypeError:
        texts = [array_of(value) for value in (x, y)]  # a string is one of them
        values = [z if text is None else text for z, text in zip((x, y), texts, strict=True)]
        return call_numpy("where", (condition, *values), {})


@memoised
def clip(
    a: object,
    min: object = None,
    max: object = None,
    out: object = None,
    *,
    a_min: object = None,
    a_max: object = None,
    where: object = True,
    casting: str = "same_kind",
    dtype: object = None,
    order: str = "K",
    subok: bool = True,
    signature: object = None,
) -> XExpression:
    """Move values into an interval.

    Parameters
    ----------
    a : array, expression or number
        Values.
    min, max : array, expression or number, optional
        Bounds, broadcast against `a`; None for none.  A Python int at or beyond the end of the
        range of an integer `a` is no bound.
    out : container, optional
        Where to write the result.
    a_min, a_max : optional
        NumPy's older names of the bounds.
    where, casting, dtype, order, subok, signature : optional
        As for `add`.

    Returns
    -------
    XExpression
        The lazy result ``minimum(maximum(a, min), max)``, of the operands' common dtype.

    Raises
    ------
    DTypeError
        If an operand is no array or number.
    OverflowError
        If a Python int is a bound that the integer dtype of `a` cannot hold, such as ``min=300``
        for uint8.
    BroadcastError
        If the shapes do not broadcast.

    See Also
    --------
    numpy.clip : The same on NumPy arrays.

    Notes
    -----
    A real NaN, as a value or a bound, gives NaN.  Where the bounds are crossed, `max` wins.
    Values equal to a bound are kept, the sign of a zero included.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> np.asarray(xl.clip(xl.asarray([1, 5, 9]), 2, 6)).tolist()
    [2, 5, 6]
    """
    if has_own(a, "clip"):  # which bounds are given decides what else would ask
        raise DTypeError(f"clip: {type(a).__name__} has one of its own, which refused")
    min = a_min if min is None else min
    max = a_max if max is None else max
    check_options("clip", order, casting)
    dtype = wanted_of(3, dtype, signature)[-1]
    if dtype is not None:
        bounds = [
            x if x is None or isinstance(x, (int, float)) else _cast(x, dtype, casting)
            for x in (min, max)  # Python's numbers take the dtype
        ]
        a, (min, max) = _cast(a, dtype, casting), bounds
    return ordered(written(_clipped(a, min, max), out, where, "clip", casting), order, out)


def _cast(x: object, dtype: object, casting: str) -> XExpression:
    return as_array(x, "clip").astype(dtype, casting=casting, copy=False)


def _clipped(x: object, min: object, max: object) -> XExpression:
    x = as_array(x, "clip") if x.__class__ in NUMBERS else x  # its dtype counts, not a bound's
    low, high = _bounds(x)
    if type(min) is int and low is not None and min <= low:
        min = None
    if type(max) is int and high is not None and max >= high:
        max = None
    if min is None and max is None:
        return expression.apply(OPS["cast"], x)
    if min is None:
        return applied(OPS["minimum"], x, max)
    if max is None:
        return applied(OPS["maximum"], x, min)
    return applied(OPS["clip"], x, min, max)


def _bounds(x: object) -> tuple[int, int] | tuple[None, None]:
    """Return the range of an integer array, None for everything else."""
    dtype = getattr(x, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype in SUPPORTED and kind(dtype) in ("i", "u"):
        return int_bounds(dtype)
    return None, None


around = round


def __getattr__(name: str) -> Any:
    """Make the function of a row, or of another name of one, when it is first asked for.

    The pages of all of them together take as long as a kernel.  The package's stub declares them.
    """
    row = ALIASES.get(name, name)
    if row not in OPS or not OPS[row].example:  # `cast` also takes a dtype, and has none to show
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made: Any
    if name != row:
        made = getattr(sys.modules[__name__], row)
    elif name in ("real", "imag"):
        made = _part(unary(name), ("real", "imag").index(name))
    else:
        made = (unary, binary)[OPS[name].arity - 1](name)
    return globals().setdefault(name, made)


def _part(function: Unary, number: int) -> Unary:
    """Return a function that gives a view of complex memory where nothing else is asked for.

    Of a lazy result it is what becomes a view, once one of them is written.
    """

    @memoised
    @functools.wraps(function)
    def part_of(x: object, /, out: object = None, **options: Any) -> XExpression:
        plain = out is None and not options
        if plain and x.__class__ is np.ndarray and x.dtype in SUPPORTED:
            x = as_array(x, function.__name__)
        if plain and type(x) in (bool, int, float, complex):
            return getattr(x, ("real", "imag")[number])  # type: ignore[no-any-return]
        viewed = regular.part(unwrapped(x), number) if plain else None
        if viewed is not None:
            return viewed
        made = function(x, out, **options)
        if plain and type(x) is type(made) is XExpression and kind(x.dtype) == "c":
            return ownership.related(x, made, number)  # type: ignore[no-any-return]
        return made

    if number:
        return part_of

    @functools.wraps(part_of)
    def real_of(x: object, /, out: object = None, **options: Any) -> XExpression:
        if out is not None or options:
            return part_of(x, out, **options)
        if isinstance(x, XExpression) and kind(x.dtype) != "c":
            return x  # what is written to the real parts of real elements is written to these
        return part_of(x)

    return real_of
