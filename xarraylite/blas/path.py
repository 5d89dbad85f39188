"""Planning contractions: in which order, and which of them are matrix products of which views.

Pure integers: operands are `Sketch` objects, labels with strides, and nothing here touches memory.

A product of two labelled operands that sums the labels ``K`` is a stack of matrix products.  Every
other label belongs to one of three groups: those of both operands (``B``, the stack), of the left
one alone (``M``, rows) and of the right one alone (``N``, columns)::

    C[B; M, N] = A[B; M, K] @ B[B; K, N]

BLAS takes a matrix whose rows are contiguous, or whose columns are (a flag), with any distance
between the others.  A group of labels is one dimension of such a matrix if they step as one in
memory, in some order.  `plan_gemm` tries the orders that the operands' and the destination's
strides suggest.  Where rows do not step as one, some of them can go to the stack instead, the
other operand being read again for each; or the operand is copied once into a good order.  An
estimate of the time decides, made of copies, of calls, and of the speed of BLAS on small matrices.
It depends on shapes, strides and the element size alone, so the same call takes the same way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from .._records import record
from ..layout.strided import merged_runs

Labels = tuple[str, ...]
Extents = Mapping[str, int]

#: Plans remembered; one is a few hundred bytes.
_REMEMBERED = 1024

#: More labels than `numpy.einsum_path` has letters for are contracted from left to right.
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: Operands up to which every order of contractions is tried; beyond, the greedy one is taken.
_EXHAUSTIVE = 6

# What the estimate is made of, in nanoseconds on one core of a server of the 2020s; only their
# ratios matter.
_CALL = 400.0
_COPY_CALL = 2000.0
_BYTES_COPIED = 3.0
_FLOP_BYTES = 320.0
_SMALL = 16.0


@record(frozen=True, slots=True)
class Sketch:
    """What a plan knows about an operand.

    Attributes
    ----------
    labels : tuple of str
        One per dimension.
    strides : tuple of int or None
        In elements; None for an operand that has to be computed, converted or untiled first.
    """

    labels: Labels
    strides: tuple[int, ...] | None


@record(frozen=True, slots=True)
class Gemm:
    """A stack of matrix products.

    Attributes
    ----------
    stack : tuple of str
        Labels of the stack's dimensions; an operand without one is repeated along it.
    rows, inner, columns : tuple of str
        Labels that are merged, in this order, to the dimensions of the matrices.
    pack_left, pack_right : tuple of str or None
        Order of labels in which an operand is copied first; None where it is read in place.
    result : tuple of str
        Order of labels of a result with memory of its own, the last one contiguous.
    direct : bool
        Whether BLAS can write the planned destination.
    """

    stack: Labels
    rows: Labels
    inner: Labels
    columns: Labels
    pack_left: Labels | None
    pack_right: Labels | None
    result: Labels
    direct: bool


# --- the order of contractions -----------------------------------------------------------------


def contraction_order(
    operands: Sequence[Labels], out: Labels, extents: Extents
) -> tuple[tuple[int, int], ...]:
    """Return which two operands are multiplied at each step.

    Parameters
    ----------
    operands : sequence of labels
        At least one.
    out : tuple of str
        Labels that are kept.
    extents : mapping
        Extent of each label.

    Returns
    -------
    tuple of pairs
        Positions in the list of operands, the lower one first; both are taken out of the list
        and their product is put at its end.
    """
    known = tuple(sorted({label for labels in operands for label in labels}))
    return _order(tuple(operands), out, known, tuple([extents[label] for label in known]))


@lru_cache(_REMEMBERED)
def _order(
    operands: tuple[Labels, ...], out: Labels, known: Labels, sizes: tuple[int, ...]
) -> tuple[tuple[int, int], ...]:
    count = len(operands)
    if count <= 2:
        return ((0, 1),) * (count - 1)
    if len(known) > len(_LETTERS):
        return ((0, 1), *[(0, left - 1) for left in range(count - 1, 1, -1)])
    letter = dict(zip(known, _LETTERS, strict=False))
    extent = dict(zip(known, sizes, strict=True))
    terms = ",".join(["".join([letter[label] for label in labels]) for labels in operands])
    spec = f"{terms}->{''.join([letter[label] for label in out])}"
    nothing = np.zeros(())
    shapes = [tuple([max(extent[label], 1) for label in labels]) for labels in operands]
    arrays = [np.broadcast_to(nothing, shape) for shape in shapes]
    method = "optimal" if count <= _EXHAUSTIVE else "greedy"
    path, _ = np.einsum_path(spec, *arrays, optimize=(method, 2**62))
    return tuple(_pairs(path[1:], count))


def _pairs(path: Iterable[Sequence[int]], count: int) -> Iterator[tuple[int, int]]:
    """Split steps of more than two operands; what is left over is multiplied at the end."""
    for step in path:
        taken = sorted(step)
        while len(taken) > 1:
            first, second, *rest = taken
            yield first, second
            count -= 1
            taken = [k - 2 for k in rest] + ([count - 1] if rest else [])
    while count > 1:
        yield 0, 1
        count -= 1


# --- one matrix product ------------------------------------------------------------------------


def plan_gemm(
    left: Sketch,
    right: Sketch,
    summed: Labels,
    extents: Extents,
    destination: Sketch | None,
    itemsize: int,
) -> Gemm:
    """Return how BLAS multiplies two operands with the fewest copies.

    Parameters
    ----------
    left, right : Sketch
        The operands.
    summed : tuple of str
        Labels of both that are contracted.
    extents : mapping
        Extent of each label.
    destination : Sketch or None
        Where the result will be read or written next; None if that does not matter.
    itemsize : int
        Bytes of an element.

    Returns
    -------
    Gemm
        The cheapest of the candidates.

    Examples
    --------
    >>> rows = Sketch(("i", "j"), (4, 1))
    >>> plan = plan_gemm(rows, rows, ("j",), {"i": 3, "j": 4}, None, 8)
    >>> plan.stack, plan.rows, plan.inner
    (('i',), (), ('j',))
    """
    known = tuple(dict.fromkeys(left.labels + right.labels))
    sizes = tuple([extents[label] for label in known])
    return _plan(left, right, summed, known, sizes, destination, itemsize)


@lru_cache(_REMEMBERED)
def _plan(
    left: Sketch,
    right: Sketch,
    summed: Labels,
    known: Labels,
    sizes: tuple[int, ...],
    destination: Sketch | None,
    itemsize: int,
) -> Gemm:
    extents = dict(zip(known, sizes, strict=True))
    shared = tuple([k for k in left.labels if k in right.labels and k not in summed])
    stack = _by_stride(shared, extents, destination or left)
    lone_left = tuple([k for k in left.labels if k not in right.labels])
    lone_right = tuple([k for k in right.labels if k not in left.labels])
    best: tuple[float, Gemm] | None = None
    for inner, (up, rows), (across, columns) in itertools.product(
        _orders(summed, extents, left, right),
        _splits(lone_left, extents, left, destination),
        _splits(lone_right, extents, right, destination),
    ):
        stacked = stack + up + across
        pack_left = pack_right = None
        if not fits(left, rows, inner, extents):
            pack_left = _packed(left, stacked, rows, inner, extents)
        if not fits(right, inner, columns, extents):
            pack_right = _packed(right, stacked, columns, inner, extents)
        direct = destination is not None and fits(destination, rows, columns, extents)
        crossed = destination is not None and _lowest(destination, extents) in rows
        result = stacked + (columns + rows if crossed else rows + columns)
        gemm = Gemm(stacked, rows, inner, columns, pack_left, pack_right, result, direct)
        cost = _cost(gemm, left, right, extents, destination, itemsize)
        if best is None or cost < best[0]:
            best = cost, gemm
    assert best is not None, "every group has an order"
    return best[1]


def _by_stride(labels: Labels, extents: Extents, sketch: Sketch) -> Labels:
    """Return labels in the order of falling strides; the given order where there are none."""
    if sketch.strides is None:
        return labels
    stride = dict(zip(sketch.labels, sketch.strides, strict=True))
    return tuple(sorted(labels, key=lambda k: (-abs(stride.get(k, 0)), -extents[k])))


def _orders(labels: Labels, extents: Extents, *sketches: Sketch | None) -> list[Labels]:
    """Return the orders of a group that some operand's memory suggests."""
    found = [
        _by_stride(labels, extents, sketch)
        for sketch in sketches
        if sketch is not None and sketch.strides is not None
    ]
    return list(dict.fromkeys(found or [labels]))


def _splits(
    labels: Labels, extents: Extents, sketch: Sketch, destination: Sketch | None
) -> list[tuple[Labels, Labels]]:
    """Return the ways to divide a group between the stack and the matrices."""
    found: list[tuple[Labels, Labels]] = []
    for order in _orders(labels, extents, sketch, destination):
        for cut in range(max(len(order), 1)):
            found.append((order[:cut], order[cut:]))
            if cut:  # the other end, for an outer dimension that is the matrices' own
                found.append((order[-cut:], order[:-cut]))
    return list(dict.fromkeys(found))


def _packed(
    sketch: Sketch, stack: Labels, outer: Labels, inner: Labels, extents: Extents
) -> Labels:
    """Return the order of a copy; the last label is one that is contiguous already, if it can."""
    own = tuple([k for k in stack if k in sketch.labels])
    last = _lowest(sketch, extents)
    return own + inner + outer if last in outer else own + outer + inner


def _lowest(sketch: Sketch, extents: Extents) -> str | None:
    """Return the label along which neighbours in memory lie."""
    if sketch.strides is None:
        return None
    steps = [
        (abs(s), k)
        for k, s in zip(sketch.labels, sketch.strides, strict=True)
        if extents[k] > 1 and s
    ]
    return min(steps)[1] if steps else None


def merged_stride(labels: Labels, strides: Mapping[str, int], extents: Extents) -> int | None:
    """Return the stride of a group's labels as one dimension; None if they do not step as one.

    Examples
    --------
    >>> strides, extents = {"i": 12, "j": 4, "k": 1}, {"i": 2, "j": 3, "k": 2}
    >>> merged_stride(("i", "j"), strides, extents)
    4
    >>> print(merged_stride(("j", "k"), strides, extents))
    None
    """
    runs = merged_runs([extents[k] for k in labels], [strides[k] for k in labels])
    if len(runs) > 1:
        return None
    return runs[0][1] if runs else 1


def fits(sketch: Sketch, rows: Labels, columns: Labels, extents: Extents) -> bool:
    """Tell whether BLAS takes an operand's matrices as they lie, transposed or not."""
    if sketch.strides is None:
        return False
    strides = dict(zip(sketch.labels, sketch.strides, strict=True))
    down = merged_stride(rows, strides, extents)
    along = merged_stride(columns, strides, extents)
    if down is None or along is None:
        return False
    m, n = count(rows, extents), count(columns, extents)
    straight = (n == 1 or along == 1) and (m == 1 or down >= n)
    crossed = (m == 1 or down == 1) and (n == 1 or along >= m)
    return straight or crossed


def count(labels: Iterable[str], extents: Extents) -> int:
    """Return how many indices a group of labels has."""
    return math.prod([extents[label] for label in labels])


def _cost(
    gemm: Gemm,
    left: Sketch,
    right: Sketch,
    extents: Extents,
    destination: Sketch | None,
    itemsize: int,
) -> float:
    """Estimate the time in nanoseconds."""
    m, k, n = [max(count(g, extents), 1) for g in (gemm.rows, gemm.inner, gemm.columns)]
    calls = max(count(gemm.stack, extents), 1)
    slow = (1 + _SMALL / m) * (1 + _SMALL / k) * (1 + _SMALL / n)
    time = calls * (_CALL + 2.0 * m * k * n * slow * itemsize / _FLOP_BYTES)
    copied = [
        count(sketch.labels, extents)
        for sketch, pack in ((left, gemm.pack_left), (right, gemm.pack_right))
        if pack is not None
    ]
    if destination is not None and not gemm.direct:
        copied.append(count(gemm.stack + gemm.rows + gemm.columns, extents))
    return time + sum([_COPY_CALL + size * itemsize / _BYTES_COPIED for size in copied])
