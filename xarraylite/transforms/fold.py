"""`reduce` and `accumulate`: folding with a user's function of two scalars.

A kernel folds parts of the elements side by side and joins what they give, so a fold needs more
than a function that is called from the first element to the last: `merge`, which joins two partial
results, must be associative (up to rounding), with `initial` as its neutral element.  It need not
be commutative: unless `ops.algebra` proves that it is, earlier elements stay on its left.  Where
results are of another kind than elements, ``function(result, element)`` says how an element enters
a partial result; it must be what merging with ``function(initial, element)`` is.  An accumulation
has no such freedom: its function is called in order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from functools import reduce as fold_left
from typing import Any, SupportsIndex

import numpy as np

from .._errors import XarrayliteError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised_values
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment import results
from ..codegen.kernel import KernelRaised
from ..dtypes.names import DType, NumpyArray, as_dtype
from ..dtypes.promotion import result_type
from ..index import transform as steps
from ..index.broadcast import check_axes, check_axis
from ..ir import build
from ..ir.kind import NODE, owner_class
from ..ir.node import Node
from ..ir.walk import fixed_of
from ..layout.strided import ROW_MAJOR, Strided
from ..operands import tracing
from ..operands.convert import store
from ..operands.moving import Parted
from ..operands.nodes import as_node
from ..ops.algebra import folds_in_any_order, known_fold
from ..ops.reductions import Reduction
from ..ops.user import UserOp, settled
from ..runtime import reference
from ..runtime.evaluate import uses_reference
from ..runtime.launch import can_launch
from ..runtime.replay import Replay, replay_of
from ..runtime.scan import scan, scanned
from .vectorize import operation


def reduce(
    function: Callable[..., object],
    x: object,
    /,
    axis: SupportsIndex | Iterable[SupportsIndex] | None = None,
    *,
    initial: complex,
    merge: Callable[..., object] | None = None,
    dtype: object = None,
    keepdims: bool = False,
) -> XExpression:
    """Return the elements folded by a function of scalars, lazily and fused with what it reads.

    Parameters
    ----------
    function : function
        ``function(result, element)``: the result with one more element in it.
    x : array or expression
        What to fold.
    axis : int, sequence of int or None
        Axes to fold over; all by default.
    initial : scalar
        The result of no elements, neutral to ``merge``.
    merge : function, optional
        ``merge(result, result)``: associative; earlier results come first.  By default
        ``function``, where results are of the same kind as elements.
    dtype : dtype, optional
        Of results; by default the common one of ``initial`` and ``x``.
    keepdims : bool, default False
        Keep the folded axes with extent 1.

    Returns
    -------
    XExpression
        The results.

    Raises
    ------
    DTypeError
        If a function is no plain Python function of two arguments.
    ValueError
        If ``initial`` merged with itself is not ``initial``.
    AxisError
        For an axis out of range or named twice.

    Notes
    -----
    Names that a function finds outside of itself mean what they mean when this is called; of arrays
    and other objects among them, which are constants of the kernel, what they were at the first
    call.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.reduce(lambda a, b: a ^ b, xl.asarray([5, 3, 6]), initial=0))
    0
    >>> def count(n, x):
    ...     return n + 1 if x > 2 else n
    >>> def add(m, n):
    ...     return m + n
    >>> a = xl.asarray([[1.0, 3.0], [4.0, 5.0]])
    >>> xl.eval(xl.reduce(count, a, 0, initial=0, merge=add, dtype="int64"))
    XArray([1, 2])
    """
    return _reduced(settled(function), x, axis, initial, settled(merge), dtype, keepdims)


@memoised_values
def _reduced(
    function: Callable[..., object],
    x: object,
    axis: SupportsIndex | Iterable[SupportsIndex] | None,
    initial: complex,
    merge: Callable[..., object] | None,
    dtype: object,
    keepdims: bool,
) -> XExpression:
    """Return the elements folded by functions whose names keep what they mean."""
    if isinstance(x, Parted):
        done: XExpression = x.folded(
            lambda part: _reduced(function, part, axis, initial, merge, dtype, keepdims),
            axis,
            keepdims,
        )
        return done
    node = as_node(x, "reduce")
    axes = check_axes(axis, len(node.shape), "reduce")
    first: Any = initial.dtype if isinstance(initial, np.generic) else type(initial)
    end = result_type(first, node.dtype) if dtype is None else as_dtype(dtype)
    if merge is not None:
        entering = operation(function, end, (end, node.dtype), "reduce")
        start = build.convert(build.weak_scalar(initial), end)
        node = build.elementwise(entering, start, node)
    op = _folding(function if merge is None else merge, end, initial)
    node = build.cast(node, end)
    if op.ordered and len(axes) > 1:
        return XExpression(_in_one_line(op, node, axes, keepdims))
    return XExpression(build.reduce(op, node, axes, keepdims))


def _in_one_line(op: Reduction, node: Node, axes: tuple[int, ...], keepdims: bool) -> Node:
    """Return a fold over several axes as one over their elements in row-major order."""
    kept = [k for k in range(len(node.shape)) if k not in axes]
    lines = build.view(node, steps.permute(node.shape, (*kept, *axes)))
    shape = tuple([node.shape[k] for k in kept])
    length = math.prod([node.shape[k] for k in axes])
    done = build.reduce(op, build.reshape(lines, (*shape, length)), (len(kept),), False)
    return build.reshape(done, build.folded(node.shape, axes, keepdims))


@lru_cache(maxsize=512, typed=True)
def _folding(function: Callable[..., object], dtype: DType, initial: complex) -> Reduction:
    """Return the reduction that joins partial results by a function."""
    combine = operation(function, dtype, (dtype, dtype), "reduce")
    first = reference.convert(np.asarray(initial), dtype)
    both = combine.numpy(first, first)
    if not np.array_equal(both, first, equal_nan=first.dtype.kind in "fc"):
        raise ValueError(
            f"reduce: initial={initial!r} is not neutral: {combine.name}({initial}, {initial}) is "
            f"{both}; kernels fold parts that all begin with it"
        )

    def fold(values: NumpyArray, axis: tuple[int, ...], keepdims: bool) -> NumpyArray:
        kept = [k for k in range(values.ndim) if k not in axis]
        lines = values.transpose(*axis, *kept).reshape(-1, *[values.shape[k] for k in kept])
        start = np.full(lines.shape[1:], initial, lines.dtype)
        done = fold_left(lambda a, b: np.asarray(combine.numpy(a, b), lines.dtype), lines, start)
        return done.reshape(build.folded(values.shape, axis, keepdims))

    ordered = not folds_in_any_order(function)
    known = "" if ordered else known_fold(function)
    if dtype.kind not in "iu":
        known = {"maximum": "larger", "minimum": "smaller"}.get(known, "")
    if known in ("larger", "smaller"):
        nan, one = np.asarray(np.nan, dtype), np.asarray(1, dtype)
        if np.isnan(combine.numpy(nan, one)) == np.isnan(combine.numpy(one, nan)):
            known = ""  # it keeps NaNs, or leaves them out, and does so in any order
    return Reduction("reduce", combine, initial, fold, "", ordered, known)


def accumulate(
    function: Callable[..., object],
    x: object,
    /,
    axis: SupportsIndex | None = None,
    *,
    dtype: object = None,
) -> XArray:
    """Return running results of a function of scalars along an axis, evaluated.

    Parameters
    ----------
    function : function
        ``function(result, element)``, called in order; the first element is the first result.
    x : array or expression
        What to accumulate.
    axis : int or None
        Along which axis; None for all elements in row-major order.
    dtype : dtype, optional
        Of results, to which elements are converted first; by default that of ``x``.

    Returns
    -------
    XArray
        Of the shape of ``x``, or of one dimension where ``axis`` is None.

    Raises
    ------
    DTypeError
        If the function is no plain Python function of two arguments.
    AxisError
        If there is no such axis.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.accumulate(lambda a, b: a + b if b > 0 else 0, xl.asarray([1, 2, -5, 3, 4]))
    XArray([1, 3, 0, 3, 7])
    """
    usual = dtype is None and (axis is None or axis.__class__ is int)
    function = settled(function)
    if axis is None and isinstance(x, XContainer) and len(x._shape) != 1:
        x = x.reshape(-1)
    made = _again(function, x, axis) if usual else None
    if made is not None:
        return made
    if isinstance(x, Parted):
        parted: XArray = x.accumulated(
            lambda values: accumulate(function, values, axis, dtype=dtype), axis
        )
        return parted
    array = as_array(x, "accumulate")
    if axis is None and array.ndim != 1:
        array = array._reshaped((array.size,))
    number = check_axis(0 if axis is None else axis, array.ndim, "accumulate")
    end = array.dtype if dtype is None else as_dtype(dtype)
    op = operation(function, end, (end, end), "accumulate")
    made = _accumulated(array, op, number, end)
    if usual and array is x:
        _keep(function, array, axis, op, number)
    return made


def _operands(x: XExpression) -> tuple[Any, ...]:
    return (x._buffer, x._start) if isinstance(x, XContainer) else x._operands


def _key(function: object, x: XExpression, axis: object) -> Any:
    """Return what a plan is remembered by, beside the kind."""
    return (function, axis, x._shape, *[o for o in _operands(x) if o.__class__ is tuple])


def _again(function: object, x: Any, axis: object) -> XArray | None:
    """Return running results by a plan that is kept ready; None if there is none."""
    if not isinstance(x, XExpression) or x._kind is NODE or tracing.running.value:
        return None
    plan = x._kind.replays.get(_key(function, x, axis))
    return results.replayed(plan, x._shape, _operands(x)) if plan else None


def _keep(function: object, x: XExpression, axis: object, op: UserOp, number: int) -> None:
    """Keep a plan ready; what is asked for once is only noted."""
    kind, key = x._kind, _key(function, x, axis)
    if kind is NODE or kind.replays.get(key) is False or tracing.running.value:
        return
    if key not in kind.replays:
        results.remember(kind, key, None)
    elif can_launch() and not uses_reference():
        plan = replay_of(kind, x._shape, _operands(x))
        ready = scanned(plan, op, _sizes(x._shape, number)) if isinstance(plan, Replay) else None
        results.remember(kind, key, ready or False)


def _sizes(shape: tuple[int, ...], axis: int) -> tuple[int, int, int]:
    return math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])


def _accumulated(x: XExpression, op: UserOp, axis: int, end: DType) -> XArray:
    """Return running results; operands are read and elements converted as in an evaluation."""
    node, shape = x.node, x.shape
    made = _copy(x, end, shape)
    if made is None:
        place = Strided.row_major(shape)
        owner: type[XArray] = owner_class(fixed_of(node), end, shape)
        made = owner._own(store(build.cast(node, end), place), place, end, ROW_MAJOR)
    try:
        scan(made.buffer, end, op, _sizes(shape, axis))
    except KernelRaised:
        place = Strided.row_major(shape)
        again = store(build.cast(node, end), place).view(end, place)
        fold_left(op.numpy, np.moveaxis(again, axis, 0))  # raises what the function raises
        raise XarrayliteError(
            "accumulate: the function raised an exception that it does not raise in Python"
        ) from None
    return made


def _copy(x: object, dtype: DType, shape: tuple[int, ...]) -> XArray | None:
    """Return a copy of row-major elements where there is a short way to one."""
    made: Any = None
    if isinstance(x, XArray) and x._dtype is dtype and x._shape == shape:
        made = x.copy()
    elif x.__class__ is XExpression:
        made = results.evaluate(x)
    if made is None or made._dtype is not dtype or made._shape != shape:
        return None
    kind = made._kind
    plain = kind is not NODE and kind.strides is None and made._policy is ROW_MAJOR
    return made if plain and type(made) is (kind.owned(shape) or XArray) else None
