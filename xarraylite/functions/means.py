"""Means, variances and standard deviations: two or three fused reductions.

Integers and bool are computed in float64, floats of 16 bits or fewer in float32; the result is
rounded once.  A variance takes two passes, since one pass loses what the mean and the elements have
in common.
"""

from __future__ import annotations

import math

from .._errors import DTypeError
from .._later import jagged
from ..arrays.memo import memoised_values
from ..dtypes.names import (
    SUPPORTED,
    DType,
    as_dtype,
    float32,
    float64,
    int64,
    is_narrow_float,
    kind,
)
from ..ir import build
from ..ir.node import Leaf, Node
from ..operands.nodes import as_node
from ..ops.reductions import SUM
from ..ops.rules import real_part
from ..ops.table import OPS
from .arguments import check_numbers
from .arrays_of_numpy import into
from .copied import at_once
from .groups import Axis, Lazy, takes_jagged
from .partials import sibling
from .reducers import chosen_of, operand_and_groups, others


def _float_node(node: Node, dtype: object) -> tuple[Node, DType]:
    """Return an operand in the dtype that means are computed in, and their dtype."""
    if dtype is not None:
        end = as_dtype(dtype)
        node = build.cast(node, end)
        if kind(end) == "b":
            return build.cast(node, float64), end
        return (build.cast(node, float32) if is_narrow_float(end) else node), end
    if kind(node.dtype) in "biu":
        return build.cast(node, float64), float64
    if is_narrow_float(node.dtype):
        return build.cast(node, float32), node.dtype
    return node, node.dtype


def _count(
    node: Node, groups: jagged.Groups, chosen: Node | None, less: float = 0.0, least: float = 0.0
) -> build.Operand:
    """Return how many elements of each group count, less ``less``; ``least`` if none is left."""
    if chosen is None:
        return groups.count(node.dtype, less)
    number = build.cast(groups.fold(SUM, build.cast(chosen, int64)), node.dtype)
    if not less:
        return number
    left = build.elementwise(OPS["subtract"], number, float(less))
    some = build.elementwise(OPS["greater"], left, 0.0)
    return build.elementwise(OPS["where"], some, left, least)


def _mean(node: Node, groups: jagged.Groups, chosen: Node | None = None) -> Node:
    total = groups.fold(SUM, others(node, chosen, 0))
    made = build.elementwise(OPS["divide"], total, _count(node, groups, chosen))
    return (at_once(made) if isinstance(total, Leaf) else None) or made


def _counting(name: str, where: object, node: Node, dtype: object) -> Node | None:
    """Return which elements count, None for all; to functions in "nan" those that are no NaN.

    Raises
    ------
    DTypeError
        If what may be NaN is to be averaged in a dtype without NaN.
    """
    chosen = chosen_of(where, node, name)
    if not name.startswith("nan") or kind(node.dtype) not in "fc":
        return chosen
    if dtype is not None and kind(as_dtype(dtype)) in "biu":
        raise DTypeError(f"{name}: NaN are left out of floats, so dtype must be one of floats")
    known = build.elementwise(OPS["logical_not"], build.elementwise(OPS["isnan"], node))
    return known if chosen is None else build.elementwise(OPS["logical_and"], known, chosen)


def _casting(name: str, a: object, out: object) -> str:
    """Return the rule by which NumPy writes results into ``out``.

    Square roots are no folds; what skips NaN refuses integers where there may be NaN.
    """
    if name.startswith("nan") and kind(as_node(a, name).dtype) not in "biu":
        to = getattr(out, "dtype", None)
        return "unsafe" if to in SUPPORTED and kind(to) in "fc" else "same_kind"
    return "same_kind" if name.endswith("std") else "unsafe"


def averaged(
    name: str,
    a: object,
    axis: Axis = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: object = None,
) -> Lazy:
    """Return the mean, as `mean` does, in the name of a function."""
    node, groups = operand_and_groups(a, axis, keepdims, name)
    chosen = _counting(name, where, node, dtype)
    node, end = _float_node(node, dtype)
    made = groups.wrap(build.cast(_mean(node, groups, chosen), end))
    return made if out is None else into(out, made, name, rule=_casting(name, a, out))


@takes_jagged
@memoised_values
@sibling(averaged, "mean")
def mean() -> None:
    """Return the arithmetic mean.

    Parameters
    ----------
    a : array or expression
        Integers and bool are averaged in float64, floats of 16 bits or fewer in float32.
    axis, out, keepdims, where : optional
        As for `sum`.
    dtype : dtype, optional
        Dtype to compute in and to return.

    Returns
    -------
    XExpression
        The lazy means; NaN where there is nothing to average.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.mean(xl.asarray([1, 2, 6])))
    3.0
    """


def _corrected(name: str, ddof: float, correction: float | None) -> float:
    """Return what is subtracted from the number of elements: NumPy's name or the standard's.

    Raises
    ------
    ValueError
        If both are given.
    """
    if correction is None:
        return ddof
    if ddof:
        raise ValueError(f"{name}: ddof and correction are one thing; give one of them")
    return correction


def spread(
    name: str,
    a: object,
    axis: Axis = None,
    dtype: object = None,
    out: object = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: object = None,
    mean: object = None,
    correction: float | None = None,
) -> Lazy:
    """Return the variance, or its root for a name in "std"; see `var`.

    That is the mean square distance from the mean, in two passes.
    """
    less = _corrected(name, ddof, correction)
    check_numbers(name, float, correction=less)
    node, groups = operand_and_groups(a, axis, keepdims, name)
    # Where too few are left, NumPy's functions of what is not NaN say so of floats.
    least = math.nan if name.startswith("nan") and kind(node.dtype) in "fc" else 0.0
    chosen = _counting(name, where, node, dtype)
    given = node
    node, end = _float_node(node, dtype)
    # As in NumPy, a dtype with fewer values holds the mean and the squares, not the distances.
    fewer = kind(end) in "iu" or (kind(given.dtype) == "c" and kind(end) == "f")
    kept = groups.kept()
    centre = kept.back(_mean(node, kept, chosen)) if mean is None else as_node(mean, name)
    if fewer:
        node, centre = given, build.cast(centre, end)
    distance = build.elementwise(OPS["subtract"], node, centre)
    if kind(node.dtype) == "c":
        real = build.elementwise(OPS["square"], build.elementwise(OPS["real"], distance))
        imag = build.elementwise(OPS["square"], build.elementwise(OPS["imag"], distance))
        square = build.elementwise(OPS["add"], real, imag)
    else:
        square = build.elementwise(OPS["square"], distance)
    squares: Node = build.cast(square, end) if fewer else square
    total = groups.fold(SUM, others(squares, chosen, 0))
    count = _count(squares, groups, chosen, less, least)
    node = build.elementwise(OPS["divide"], total, count)
    node = build.cast(node, end) if fewer else node
    end = real_part(end) if dtype is None else end
    node = build.elementwise(OPS["sqrt"], node) if name.endswith("std") else node
    made = groups.wrap(build.cast(node, end))
    return made if out is None else into(out, made, name, rule=_casting(name, a, out))


@takes_jagged
@memoised_values
@sibling(spread, "var")
def var() -> None:
    """Return the variance: the mean square distance from the mean.

    Parameters
    ----------
    a : array or expression
        Integers and bool are computed in float64, floats of 16 bits or fewer in float32.
    axis, out, keepdims, where : optional
        As for `sum`.
    dtype : dtype, optional
        Dtype to compute in and to return.
    ddof, correction : float, default 0
        Subtracted from the number of elements before dividing; NumPy's and the standard's name.
    mean : array or expression, optional
        The mean, if it is known, with the reduced dimensions kept.

    Returns
    -------
    XExpression
        The lazy variances.

    Raises
    ------
    ValueError
        If both ``ddof`` and ``correction`` are given.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.var(xl.asarray([1.0, 3.0]), correction=1))
    2.0
    """


@takes_jagged
@memoised_values
@sibling(spread, "std")
def std() -> None:
    """Return the standard deviation, the square root of `var`; parameters as there.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.std(xl.asarray([1.0, 3.0])))
    1.0
    """
