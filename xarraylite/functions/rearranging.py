"""Elements moved around, repeated and surrounded: lazy, from views, joins and gathers.

`roll` is two slices in the other order, `tile` and `repeat` are expressions of stretched views,
`pad` joins what is around; nothing is copied before the result is needed.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Any, Literal, SupportsIndex, TypeAlias

import numpy as np

from .._errors import DTypeError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised, memoised_values
from ..arrays.operand import as_array
from ..arrays.ownership import lies_by_rows, owning
from ..dtypes.names import kind
from ..index import transform as steps
from ..index.broadcast import as_shape, check_axis
from ..ir import build
from ..ir.build import describe
from ..ir.node import Node
from ..layout.strided import DYNAMIC
from ..operands.convert import check_representable
from ..operands.gathers import index_leaf
from ..operands.moving import Parted, moves
from .arguments import whole
from .arrays_of_numpy import Narrow, container, numpy_of
from .manipulation import Axes, broadcast_to, expand_dims, flip, moveaxis, permute_dims, reshape
from .searching import take

Ints: TypeAlias = "SupportsIndex | Iterable[SupportsIndex]"


@memoised_values
@moves
def roll(a: object, shift: Ints, axis: Axes | None = None) -> XExpression:
    """Return the elements moved along a dimension; those that leave come in at the other end.

    Parameters
    ----------
    a : array or expression
        What to move.
    shift : int or sequence of int
        How far, towards higher indices.
    axis : int, sequence of int or None
        Along which dimensions, one for each shift; None moves the flattened elements.

    Returns
    -------
    XExpression
        Lazy, of the shape of ``a``.

    Raises
    ------
    AxisError
        For an axis out of range.
    ShapeError
        If there are not as many shifts as axes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.roll(xl.arange(5), 2))
    XArray([3, 4, 0, 1, 2])
    """
    array = as_array(a, "roll")
    moves = [(_total(shift), None)] if axis is None else _moves(shift, axis, array.ndim)
    node = array.node
    for distance, one in moves:
        node = _rolled(node, distance, one)
    return XExpression(node)


def _moves(shift: Ints, axis: Ints, rank: int) -> list[tuple[int, int | None]]:
    """Return how far to roll along which dimension."""
    along, far = np.asarray(axis), np.asarray(shift)
    axes, shifts = list(along.reshape(-1)), list(far.reshape(-1))
    if max(along.ndim, far.ndim) > 1:
        raise ShapeError("roll: shifts and axes must be integers, or vectors of them")
    if len(axes) == 1:
        axes = axes * len(shifts)
    elif len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) != len(shifts):
        raise ShapeError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    pairs = zip(shifts, axes, strict=True)
    return [(_total(distance), check_axis(one, rank, "roll")) for distance, one in pairs]


def _total(shift: Ints) -> int:
    return whole(np.sum(np.asarray(shift)), "roll", "shift", cut=True)


def _rolled(node: Node, shift: int, axis: int | None) -> Node:
    if axis is None:
        flat = build.reshape(node, (-1,))
        return build.reshape(_rolled(flat, shift, 0), node.shape)
    extent = node.shape[axis]
    cut = -shift % extent if extent else 0
    if not cut:
        return node
    parts = [
        build.view(node, steps.window(node.shape, axis, first, length))
        for first, length in ((cut, extent - cut), (0, cut))
    ]
    return build.concat(parts, axis, "roll")


@memoised
def rot90(m: object, k: int = 1, axes: tuple[int, int] = (0, 1)) -> XExpression:
    """Return the array turned by 90 degrees ``k`` times, from the first axis to the second.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.rot90(xl.asarray([[1, 2], [3, 4]]))
    XView([[2, 4],
           [1, 3]])
    """
    array = as_array(m, "rot90")
    first, second = [check_axis(a, array.ndim, "rot90") for a in axes]
    if first == second:
        raise ShapeError(f"rot90: the axes {axes} must be two different ones")
    turns = whole(k, "rot90", "k", cut=True) % 4
    if turns in (1, 2):
        array = flip(array, axis=second)
    if turns % 2:
        array = swapaxes(array, first, second)
    if turns in (2, 3):
        array = flip(array, axis=first if turns == 2 else second)
    return array


@memoised
@moves
def fliplr(m: object) -> XExpression:
    """Return the array with the order of its columns reversed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.fliplr(xl.asarray([[1, 2]]))
    XView([[2, 1]])
    """
    array = as_array(m, "fliplr")
    build.require_rank(array.node, 2, "fliplr")
    return flip(array, axis=1)


@memoised
@moves
def flipud(m: object) -> XExpression:
    """Return the array with the order of its rows reversed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.flipud(xl.asarray([1, 2]))
    XView([2, 1])
    """
    array = as_array(m, "flipud")
    build.require_rank(array.node, 1, "flipud")
    return flip(array, axis=0)


@memoised
def swapaxes(a: object, axis1: SupportsIndex, axis2: SupportsIndex) -> XExpression:
    """Return ``a`` with two dimensions exchanged.

    Parameters
    ----------
    a : array or expression
        Whose dimensions to exchange.
    axis1, axis2 : int
        Which ones.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.swapaxes(xl.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    array = as_array(a, "swapaxes")
    one, other = [check_axis(axis, array.ndim, "swapaxes") for axis in (axis1, axis2)]
    order = list(range(array.ndim))
    order[one], order[other] = other, one
    return permute_dims(array, order)


@memoised
def rollaxis(a: object, axis: SupportsIndex, start: int = 0) -> XExpression:
    """Return ``a`` with a dimension moved before another; `moveaxis` says it better.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.rollaxis(xl.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    array = as_array(a, "rollaxis")
    place = check_axis(axis, array.ndim, "rollaxis")
    # Counted from the end it is one of the dimensions; else it may be behind the last one, too.
    start = check_axis(start, array.ndim + (start >= 0), "rollaxis")
    return moveaxis(array, place, start - (place < start))


@memoised
@moves
def ravel(a: object, order: Literal["C", "F", "A", "K"] = "C") -> XExpression:
    """Return all elements as one dimension: a view where they lie side by side.

    Parameters
    ----------
    a : array or expression
        What to flatten.
    order : {"C", "F", "A", "K"}, default "C"
        Row-major, column-major, column-major where the elements lie so, or as they lie.

    Returns
    -------
    XExpression
        A view, or lazy where elements move.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.ravel(xl.asarray([[1, 2], [3, 4]]), "F"))
    XArray([1, 3, 2, 4])
    """
    flat = reshape(as_array(a, "ravel")._in_order(order, "ravel"), (-1,))
    if isinstance(flat, XContainer):
        beside = flat.layout is not DYNAMIC
    else:
        beside = lies_by_rows(flat)
    if beside:
        return flat
    copy = XExpression(flat.node)
    owning(copy)  # as where the elements lie decides, which no kind tells
    return copy


@memoised_values
@moves
def tile(A: object, reps: Ints) -> XExpression:
    """Return copies of the array side by side, lazily.

    Parameters
    ----------
    A : array or expression
        What to repeat.
    reps : int or sequence of int
        How often along each dimension, aligned to the last ones.

    Returns
    -------
    XExpression
        Each extent multiplied.

    Raises
    ------
    ShapeError
        If a number of repetitions is negative.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.tile(xl.asarray([1, 2]), (2, 2)))
    XArray([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    array = as_array(A, "tile")
    times = as_shape(reps, "tile")
    rank = builtins.max(len(times), array.ndim)
    times = (1,) * (rank - len(times)) + times
    extents = (1,) * (rank - array.ndim) + array.shape
    pairs = [*zip(times, extents, strict=True)]
    apart = [k for t, n in pairs for k in ((n,) if t == 1 else (1, n))]
    spread = tuple([k for t, n in pairs for k in ((n,) if t == 1 else (t, n))])
    node = build.broadcast_to(build.reshape(array.node, apart), spread)
    return XExpression(build.reshape(node, [t * n for t, n in pairs]))


@memoised_values
@moves
def repeat(a: object, repeats: Any, axis: SupportsIndex | None = None) -> XExpression:
    """Return each element several times in a row, lazily.

    Parameters
    ----------
    a : array or expression
        What to repeat.
    repeats : int or array of int
        How often: all alike, or one number for each index along the axis.
    axis : int or None
        Along which dimension; None flattens.

    Returns
    -------
    XExpression
        The extent of the axis is the sum of the repeats.

    Raises
    ------
    AxisError
        For an axis out of range.
    ShapeError
        If a number is negative, or there are not as many as indices.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.repeat(xl.asarray([1, 2]), 2))
    XArray([1, 1, 2, 2])
    >>> xl.eval(xl.repeat(xl.asarray([1, 2]), [1, 3]))
    XArray([1, 2, 2, 2])
    """
    array = as_array(a, "repeat")
    if axis is None or not array.ndim:  # of one value as of a vector of it, also along its axis
        array, axis = reshape(array, (-1,)), axis or 0
    along = check_axis(axis, array.ndim, "repeat")
    extent = array.shape[along]
    counts = np.asarray(numpy_of(repeats, "repeat", Narrow()))
    # A mask repeats what it has; numbers that are no array are cut, as in NumPy.
    loose = counts.dtype.kind == "f" and isinstance(repeats, (list, tuple, float))
    if counts.dtype.kind not in "biu" and not loose:
        raise DTypeError(f"repeat: repeats must be integers, got {counts.dtype}")
    counts = counts.astype(np.int64, copy=False)
    if counts.ndim > 1:
        raise ShapeError(f"repeat: repeats must have rank 0 or 1, got shape {counts.shape}")
    if counts.size and int(counts.min()) < 0:
        raise ShapeError(f"repeat: a number of repeats is negative: {int(counts.min())}")
    if counts.size == 1:
        times = int(counts.reshape(()))
        spread = (*array.shape[: along + 1], times, *array.shape[along + 1 :])
        shape = (*array.shape[:along], extent * times, *array.shape[along + 1 :])
        stretched = broadcast_to(expand_dims(XExpression(array.node), axis=along + 1), spread)
        return XExpression(reshape(stretched, shape).node)  # none of a family of views
    if counts.size != extent:
        raise ShapeError(
            f"repeat({describe(array.node)}): {counts.size} repeats for an extent of {extent}"
        )
    return take(array, np.repeat(np.arange(extent), counts), along)


PadMode: TypeAlias = (
    "Literal['constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', "
    "'reflect', 'symmetric', 'wrap', 'empty']"
)


@memoised_values
def pad(array: object, pad_width: Any, mode: PadMode = "constant", **options: Any) -> XExpression:
    """Return an array with something around it.

    Parameters
    ----------
    array : array or expression
        The middle.
    pad_width : int, pair, sequence of pairs, or dict
        How many elements before and after, the same for all dimensions or for each.
    mode : str, default "constant"
        What stands there: ``constant_values=`` (0), the nearest element ("edge"), the elements
        mirrored ("reflect" without the outermost, "symmetric" with it) or repeated ("wrap");
        these are lazy.  NumPy's other modes are computed at once.
    **options
        As for NumPy's function.

    Returns
    -------
    XExpression
        Each extent longer by its two widths.

    Raises
    ------
    ShapeError
        For widths that are negative or do not broadcast.
    ValueError
        For an unknown mode or option.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.pad(xl.asarray([1, 2]), (1, 2), constant_values=9))
    XArray([9, 1, 2, 9, 9])
    >>> xl.eval(xl.pad(xl.asarray([1, 2, 3]), 2, mode="reflect"))
    XArray([3, 2, 1, 2, 3, 2, 1])
    """
    if isinstance(array, Parted):  # what is put around it is there
        if mode not in ("constant", *_MOVING):
            raise DTypeError(f"pad, mode={mode!r}: got {type(array).__name__}; {array.instead}")
        known = {"constant_values": True} if mode == "constant" else options
        values, there = array.parts(array)
        halves = pad(values, pad_width, mode, **options), pad(there, pad_width, mode, **known)
        return array.joined(halves)  # type: ignore[no-any-return]
    x = as_array(array, "pad")
    widths = _pairs(pad_width, x, "pad_width")
    if mode == "constant" and not options.keys() - {"constant_values"}:
        values = _pairs_of(options.get("constant_values", 0), x, "constant_values")
        if kind(x.dtype) == "i":  # NumPy's unsigned ones take the rest, as it casts
            real = [v for pair in values for v in pair if v.__class__ is not complex]
            check_representable(real, x.dtype, "pad")
        node = x.node
        for axis, (width, value) in enumerate(zip(widths, values, strict=True)):
            node = _framed(node, axis, width, value)
        return XExpression(node)
    if mode in _MOVING and not options and x.size:
        node = x.node
        for axis, width in enumerate(widths):
            if any(width):
                node = _continued(node, axis, width, mode)
        return XExpression(node)
    narrow = Narrow()
    middle = numpy_of(x, "pad", narrow)
    try:
        padded = np.pad(middle, widths, mode=mode, **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"pad({describe(x.node)}, mode={mode!r}): {error}") from None
    return container(narrow.rounded(padded))


#: Modes of `pad` in which what stands around an array are elements of its own.
_MOVING = ("edge", "wrap", "reflect", "symmetric")

#: Elements of a dimension beyond which it is joined with its ends, instead of picked.
_LONG = 4096


def _pairs(given: Any, x: XExpression, name: str) -> list[tuple[int, int]]:
    if isinstance(given, dict):
        of = {check_axis(k, x.ndim, "pad"): v for k, v in given.items()}
        given = [np.broadcast_to(of.get(k, 0), 2).tolist() for k in range(x.ndim)] or 0
    pairs = _pairs_of(given, x, name)
    found = [(whole(low, "pad", name), whole(high, "pad", name)) for low, high in pairs]
    if builtins.any([a < 0 or b < 0 for a, b in found]):
        raise ShapeError(f"pad({describe(x.node)}): {name} must be integers of 0 or more: {given}")
    return found


def _pairs_of(given: Any, x: XExpression, name: str) -> list[tuple[Any, Any]]:
    try:
        spread = np.broadcast_to(np.asarray(given), (x.ndim, 2))
    except ValueError:
        raise ShapeError(
            f"pad({describe(x.node)}): {name}={given} does not broadcast to one pair per dimension"
        ) from None
    return [(low, high) for low, high in spread.tolist()]


def _continued(node: Node, axis: int, width: tuple[int, int], mode: PadMode) -> Node:
    """Return an array between elements of its own."""
    size, short = node.shape[axis], 2 * max(width) + 2
    if size <= max(_LONG, short):
        where = np.pad(np.arange(size), width, mode=mode)
        return build.gather(node, axis, index_leaf(where, size))
    # Only the ends are repeated, so those of a shorter dimension say which elements they are.
    where = np.pad(np.arange(short), width, mode=mode)
    where = np.where(where < short // 2, where, where + (size - short))
    before, after = where[: width[0]], where[where.size - width[1] :]
    ends = [build.gather(node, axis, index_leaf(x, size)) for x in (before, after)]
    return build.concat([ends[0], node, ends[1]], axis, "pad")


def _framed(node: Node, axis: int, width: tuple[int, int], value: tuple[Any, Any]) -> Node:
    if not any(width):
        return node
    parts = [node]
    for k, (count, what) in enumerate(zip(width, value, strict=True)):
        shape = (*node.shape[:axis], count, *node.shape[axis + 1 :])
        # NumPy assigns the values: 1.7 becomes 1 among integers.
        edge = build.cast(build.scalar(what, build.weak_scalar(what).dtype), node.dtype)
        part = build.broadcast_to(edge, shape)
        parts = [part, *parts] if k == 0 else [*parts, part]
    return build.concat(parts, axis, "pad")
