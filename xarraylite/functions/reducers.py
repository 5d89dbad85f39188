"""Reductions: lazy, fused with what they read, evaluated once per evaluation.

Each function takes ``axis`` (an int, a tuple, or None for all), ``keepdims``, ``out``, ``where``
(which elements count; the others are what changes nothing) and, where it makes sense, ``dtype``,
``correction`` and ``initial``, in NumPy's order.  Sums of floats of 16 bits or fewer accumulate in
float32; sums of integers in at least 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, SupportsIndex

from .._errors import DTypeError, ShapeError
from .._later import jagged
from ..arrays import expression
from ..arrays.memo import memoised_values
from ..arrays.xarray import XArray
from ..assignment import elements
from ..dtypes.names import DType, as_dtype, bool_, float32, int64, is_narrow_float, kind, uint64
from ..ir import build
from ..ir.node import Node
from ..operands.learning import learn_fold
from ..operands.nodes import Gathers, Lifted, as_node, as_operand
from ..operands.non_numeric import call_numpy
from ..ops.reductions import ALL, ANY, KNOWN_MAX, MAX, MIN, PROD, SUM, Reduction
from ..ops.table import OPS
from .arguments import check_mask, flag
from .arrays_of_numpy import into
from .groups import Axis, Lazy, dense_groups, is_jagged, refuse_empty, takes_jagged
from .partials import sibling


def operand_and_groups(
    x: object, axis: Axis, keepdims: bool, operation: str
) -> tuple[Node, jagged.Groups]:
    """Return what a reducer folds, and how it is divided.

    Raises
    ------
    AxisError
        For axes out of range.
    DTypeError
        If ``keepdims`` is no bool.
    ShapeError
        For modes of a jagged array that cannot be folded.
    """
    keepdims = flag(keepdims, operation, "keepdims")
    if isinstance(x, Lifted):
        return jagged.groups_of(x, axis, keepdims, operation)
    return dense_groups(x, axis, keepdims, operation)


def _total_dtype(node: Node, dtype: object) -> tuple[DType, DType]:
    """Return the dtypes a sum accumulates in and ends in."""
    if dtype is not None:
        end = as_dtype(dtype)
    elif kind(node.dtype) in "bi":
        end = int64
    elif kind(node.dtype) == "u":
        end = uint64
    else:
        end = node.dtype
    return (float32 if is_narrow_float(end) else end), end


#: Sums and products of what is not NaN, and the folds that they are once it is left out.
KNOWN_SUM, KNOWN_PROD = [replace(op, name=f"nan{op.name}") for op in (SUM, PROD)]
_WITHOUT_NAN = {KNOWN_SUM: SUM, KNOWN_PROD: PROD}

#: What sums and products of bool are: ``+`` of two is their or, ``*`` their and.
_OF_TRUTH = {SUM: ANY, PROD: ALL}


def chosen_of(where: object, node: Node, operation: str) -> Node | None:
    """Return which elements count, of the operand's shape; None for all.

    Raises
    ------
    BroadcastError, DTypeError
        If ``where`` does not stretch to that shape, or is an array that is not of bool.
    """
    if where is None or where is True:
        return None
    if is_jagged(where):
        raise ShapeError(f"{operation}: where must be dense, as the array is")
    check_mask(where, operation)
    mask = build.cast(as_node(where, operation), bool_)
    return build.broadcast_to(mask, node.shape, operation)


def others(node: Node, chosen: Node | None, value: object) -> Node:
    """Return an operand with a value in place of the elements that do not count."""
    if chosen is None:
        return node
    filler = build.convert(as_operand(value, "where"), node.dtype)
    return build.elementwise(OPS["where"], chosen, node, filler)


def total(
    op: Reduction,
    a: object,
    axis: Axis = None,
    dtype: object = None,
    out: object = None,
    keepdims: bool = False,
    initial: object = None,
    where: object = None,
) -> Lazy:
    """Return a sum, a product, or an extreme; see `sum` and `min`."""
    whole = axis is None and dtype is None and initial is None and keepdims is False
    whole = whole and where is None
    if a.__class__ in elements.COPIED:
        a = elements.container_of(XArray, a)
    a = a.settled() if isinstance(a, Gathers) else a
    try:
        known = expression.folded(op, a) if whole else None
        if known is not None:
            return known if out is None else into(out, known, op.name, rule="unsafe")
        made = _folded(op, a, axis, dtype, keepdims, initial, where)
    except DTypeError:
        # What are no numbers NumPy folds.
        given = {"dtype": dtype, "out": out, "initial": initial, "where": where}
        asked = {name: value for name, value in given.items() if value is not None}
        return call_numpy(op.name, (a, axis), {"keepdims": keepdims, **asked})  # type: ignore[no-any-return]
    if whole:
        learn_fold(op, a, made)
    return made if out is None else into(out, made, op.name, rule="unsafe")


@memoised_values
def _folded(
    op: Reduction,
    x: object,
    axis: Axis,
    dtype: object,
    keepdims: bool,
    initial: object,
    where: object,
) -> Lazy:
    node, groups = operand_and_groups(x, axis, keepdims, op.name)
    if op.identity is None:
        return _chosen(op, node, groups, initial, where)
    if op in _WITHOUT_NAN:
        op = _WITHOUT_NAN[op]
        if kind(node.dtype) in "fc":
            nothing = build.scalar(op.identity, node.dtype)
            missing = build.elementwise(OPS["isnan"], node)
            node = build.elementwise(OPS["where"], missing, nothing, node)
    inner, end = _total_dtype(node, dtype)
    op = _OF_TRUTH.get(op, op) if inner == bool_ else op
    node = build.cast(node, inner)
    node = others(node, chosen_of(where, node, op.name), op.identity)
    return groups.wrap(build.cast(groups.fold(op, node, initial), end))


@takes_jagged
@sibling(total, SUM)
def sum() -> None:
    """Return the sum of elements, pairwise in fixed blocks.

    Parameters
    ----------
    a : array or expression
        What to add up.
    axis : int, tuple of int or None
        Dimensions to add over; all by default.
    dtype : dtype, optional
        Dtype of the result; by default int64 or uint64 for integers and bool, else that of ``a``.
        Sums of bool are "any", products "all".
    out : container, optional
        Where to write the result.
    keepdims : bool, default False
        Keep reduced dimensions with extent 1.
    initial : scalar, optional
        Added to every result.
    where : array or expression of bool, optional
        Which elements to add up.

    Returns
    -------
    XExpression
        The lazy sums; the same bits for any number of threads.

    Raises
    ------
    AxisError
        For an axis out of range or named twice.

    Examples
    --------
    >>> import xarraylite as xl
    >>> float(xl.sum(xl.asarray([1.0, 2.0, 3.0]) ** 2))
    14.0
    """


@takes_jagged
@sibling(total, PROD)
def prod() -> None:
    """Return the product of elements; parameters as for `sum`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.prod(xl.asarray([2, 3, 4])))
    24
    """


def extreme(
    op: Reduction,
    a: object,
    axis: Axis = None,
    out: object = None,
    keepdims: bool = False,
    initial: object = None,
    where: object = None,
) -> Lazy:
    """Return the least or the greatest element; see `min`."""
    return total(op, a, axis, None, out, keepdims, initial, where)


def _chosen(
    op: Reduction, node: Node, groups: jagged.Groups, initial: object, where: object
) -> Lazy:
    chosen = chosen_of(where, node, op.name)
    if chosen is not None and initial is None:
        raise ValueError(f"{op.name}: where= needs initial=, the result where no element counts")
    if node.dtype == bool_ and initial is None:  # or and and, which may end early
        refuse_empty(groups.empty, op.name, node)
        op = ANY if op in (MAX, KNOWN_MAX) else ALL
    return groups.wrap(groups.fold(op, others(node, chosen, initial), initial))


@takes_jagged
@sibling(extreme, MIN)
def min() -> None:
    """Return the least element; NaN if there is one.

    Parameters
    ----------
    a : array or expression
        Complex numbers compare by their real parts, and equal ones by the imaginary.
    axis, out, keepdims, initial, where : optional
        As for `sum`; ``where`` needs ``initial``.

    Returns
    -------
    XExpression
        The lazy minima, in the dtype of ``a``.

    Raises
    ------
    ShapeError
        If there is nothing to compare and no ``initial``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.min(xl.asarray([3, 1, 2])))
    1
    """


@takes_jagged
@sibling(extreme, MAX)
def max() -> None:
    """Return the greatest element; NaN if there is one.  Parameters as for `min`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.max(xl.asarray([3, 1, 2])))
    3
    """


def _truth(
    op: Reduction,
    a: object,
    axis: Axis = None,
    out: object = None,
    keepdims: bool = False,
    *,
    where: object = None,
) -> Lazy:
    node, groups = operand_and_groups(a, axis, keepdims, op.name)
    truth = others(build.cast(node, bool_), chosen_of(where, node, op.name), op.identity)
    made = groups.wrap(groups.fold(op, truth))
    return made if out is None else into(out, made, op.name, rule="unsafe")


@takes_jagged
@memoised_values
@sibling(_truth, ANY)
def any() -> None:
    """Return whether any element is true (non-zero; NaN counts as true).

    Parameters
    ----------
    a : array or expression
        Values.
    axis, out, keepdims, where : optional
        As for `sum`.

    Returns
    -------
    XExpression
        Lazy, of bool; False of no elements.

    Examples
    --------
    >>> import xarraylite as xl
    >>> bool(xl.any(xl.asarray([0, 2])))
    True
    """


@takes_jagged
@memoised_values
@sibling(_truth, ALL)
def all() -> None:
    """Return whether all elements are true, True of none; parameters as for `any`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> bool(xl.all(xl.asarray([0, 2])))
    False
    """


@takes_jagged
@memoised_values
def count_nonzero(a: object, axis: Axis = None, *, keepdims: bool = False) -> Lazy:
    """Return the number of elements that are not zero, as int64.

    Parameters
    ----------
    a : array or expression
        Values.
    axis, keepdims : optional
        As for `sum`.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.count_nonzero(xl.asarray([0, 2, 3])))
    2
    """
    node, groups = operand_and_groups(a, axis, keepdims, "count_nonzero")
    truth = build.cast(build.cast(node, bool_), int64)
    return groups.wrap(groups.fold(SUM, truth))


def _position(
    name: str,
    a: object,
    axis: SupportsIndex | None = None,
    out: object = None,
    *,
    keepdims: bool = False,
) -> Lazy:
    """Return the first position of the extreme: the least position of elements equal to it."""
    asked: Any = axis
    axes: Any = (asked,) if isinstance(asked, Iterable) else asked
    node, groups = operand_and_groups(a, axes, keepdims, name)
    refuse_empty(groups.empty, name, node)
    made = groups.wrap(_first(MIN if name == "argmin" else MAX, node, groups))
    return made if out is None else into(out, made, name, rule="positions")


def _first(op: Reduction, node: Node, groups: jagged.Groups) -> Node:
    """Return the first position of the extreme in each group."""
    kept = groups.kept()
    extreme = kept.back(kept.fold(op, node))
    hit: Node = build.elementwise(OPS["equal"], node, extreme)
    if kind(node.dtype) in "fc":
        hit = build.elementwise(OPS["logical_or"], hit, build.elementwise(OPS["isnan"], node))
    found = build.elementwise(OPS["where"], hit, groups.places(node.shape), groups.largest)
    return groups.fold(MIN, found)


@takes_jagged
@memoised_values
@sibling(_position, "argmin")
def argmin() -> None:
    """Return the position of the first least element (of the first NaN if there is one).

    Parameters
    ----------
    a : array or expression
        Complex numbers compare by their real parts, and equal ones by the imaginary.
    axis : int or None
        Dimension to search; None counts positions in row-major order.
    out : container, optional
        Where to write the result.
    keepdims : bool, default False
        Keep the searched dimensions with extent 1.

    Returns
    -------
    XExpression
        Lazy int64 positions.

    Raises
    ------
    ShapeError
        If there is nothing to search.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.argmin(xl.asarray([3, 1, 1])))
    1
    """


@takes_jagged
@memoised_values
@sibling(_position, "argmax")
def argmax() -> None:
    """Return the position of the first greatest element; parameters as for `argmin`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.argmax(xl.asarray([3, 1, 3])))
    0
    """
