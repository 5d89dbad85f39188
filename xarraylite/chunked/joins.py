"""Joining what was folded in pieces, in the order in which the engine joins it.

The engine folds a part of a tree leaf by leaf: blocks of values along a row, or `ROWS` rows across
many results.  Along a row, what the leaves of a sum give is added with what every addition rounds
off kept apart (TwoSum).  Otherwise it goes through a binary counter, in which results of as many
leaves meet; a few values at the end of a row, or fewer rows, are folded onto what that has not.
Parts of sums are added with TwoSum again.  So a piece may be some parts, or have
values of some leaves of one part where that is too much for the memory there is (`leaves`), and the
bits are those of the whole.
"""

from __future__ import annotations

import numpy as np

from ..codegen.emit.folding import SHORT, Form
from ..codegen.emit.lanes import PAIRWISE, SIDES
from ..codegen.emit.reduction import ROWS
from ..compiler.tree import Tree
from ..dtypes.names import NumpyArray
from ..ir import build
from ..ir.node import Leaf, Reduce
from ..operands.nodes import borrow_array
from ..ops.reductions import PROD, SUM, undivided
from .pipeline import computed

#: Dtypes in which sums are kept between leaves as they are stored.
KEPT = "fdFD"


def leaf_of(values: NumpyArray) -> Leaf:
    """Return a leaf over values in memory."""
    return borrow_array(values, "eval")


def has_leaves(node: Reduce) -> bool:
    """Tell whether the leaves of a reduction are known: of sums, and of products of real floats."""
    return node.dtype.char in {SUM: KEPT, PROD: "fd"}.get(node.op, "")


def ufunc_of(node: Reduce) -> np.ufunc:
    """Return NumPy's function that joins two values of a reduction that has leaves."""
    return np.add if node.op is SUM else np.multiply


def rest_lengths(node: Reduce, rest: int) -> list[int]:
    """Return how many of the last values, less than a leaf, are folded at a time.

    A few floats along a row are added half by half (`Fold.halves`), others folded as leaves are.

    Examples
    --------
    >>> import xarraylite as xl
    >>> from xarraylite.chunked.joins import rest_lengths
    >>> rest_lengths(xl.sum(xl.zeros(8192 + 255)).node, 255)
    [120, 64, 71]
    """
    found = []
    halves = node.op is SUM and node.dtype.char in "fd" and rest <= SHORT
    while rest:
        half = rest // 2
        found.append(half - half % SIDES if halves and rest > PAIRWISE else rest)
        rest -= found[-1]
    return found


class Join:
    """Joins partial results of a reduction.

    Parameters
    ----------
    node : Reduce
        The reduction, without the dimensions that are reduced.
    tree : Tree
        Its order.
    shape : tuple of int
        Shape of the results, or of a block of them.
    """

    __slots__ = ("_inner", "_node", "_parts", "_tree")

    def __init__(self, node: Reduce, tree: Tree, shape: tuple[int, ...]) -> None:
        self._node, self._tree = node, tree
        self._parts: _Sum | _All = _Sum(shape, node.dtype) if node.op is SUM else _All(node)
        self._inner: _Sum | _Counter | None = None

    def take(self, parts: NumpyArray) -> None:
        """Join results of whole parts, one after another along the first dimension."""
        self._parts.take(parts)

    def take_leaves(self, leaves: NumpyArray, width: int, last: bool) -> None:
        """Join results of leaves of one part, of so many values or rows; the ``last`` ends it."""
        along = self._tree.form is Form.ALONG
        if self._inner is None:
            shape, dtype = leaves.shape[1:], leaves.dtype
            sums = along and self._node.op is SUM
            self._inner = _Sum(shape, dtype) if sums else _Counter(self._node, shape, dtype)
        if isinstance(self._inner, _Counter) and (width <= SHORT if along else width < ROWS):
            self._inner.take_rest(leaves)
        else:
            self._inner.take(leaves)
        if last:
            self._parts.take(self._inner.result()[np.newaxis])
            self._inner = None

    def result(self) -> NumpyArray:
        """Return the results."""
        return self._parts.result()


class _Sum:
    """Adds in order, and what every addition rounds off at the end (Knuth's TwoSum)."""

    __slots__ = ("_lost", "_room", "_total")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        self._total: NumpyArray = np.zeros(shape, dtype)
        self._lost: NumpyArray = np.zeros(shape, dtype)
        self._room = tuple([np.empty(shape, dtype) for _ in range(3)])

    def take(self, parts: NumpyArray) -> None:
        """Add one after another along the first dimension."""
        total, lost, (added, back, kept) = self._total, self._lost, self._room
        with np.errstate(all="ignore"):
            for part in parts:
                np.add(total, part, out=added)
                np.subtract(added, total, out=back)
                np.subtract(added, back, out=kept)
                np.subtract(total, kept, out=kept)
                np.subtract(part, back, out=back)
                np.add(kept, back, out=kept)
                np.add(lost, kept, out=lost)
                total, added = added, total
        self._total, self._room = total, (added, back, kept)

    def result(self) -> NumpyArray:
        """Return the sums."""
        total, lost = self._total, self._lost
        with np.errstate(all="ignore"):
            counts = (lost != 0) & (lost - lost == 0)
            return np.asarray(np.where(counts, total + lost, total), total.dtype)


class _Counter:
    """Joins results of equally many rows in pairs, as carries run through a binary counter."""

    __slots__ = ("_held", "_number", "_op", "_rest")

    def __init__(self, node: Reduce, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        self._held: list[NumpyArray] = []
        self._number, self._op = 0, ufunc_of(node)
        self._rest: NumpyArray = np.full(shape, self._op.identity, dtype)

    def take(self, parts: NumpyArray) -> None:
        """Count in one after another along the first dimension."""
        with np.errstate(all="ignore"):
            for part in parts:
                carry, held = self._number, np.array(part)
                while carry & 1:
                    self._op(self._held.pop(), held, out=held)
                    carry >>= 1
                self._held.append(held)
                self._number += 1

    def take_rest(self, parts: NumpyArray) -> None:
        """Take some that are not counted in."""
        with np.errstate(all="ignore"):
            for part in parts:
                self._rest = self._op(self._rest, part)

    def result(self) -> NumpyArray:
        """Return all of them."""
        total = self._rest
        with np.errstate(all="ignore"):
            for held in reversed(self._held):
                total = self._op(held, total)
        return np.asarray(total)


class _All:
    """Keeps partial results until all are there, and folds them like any others."""

    __slots__ = ("_held", "_node")

    def __init__(self, node: Reduce) -> None:
        self._held: list[NumpyArray] = []
        self._node = node

    def take(self, parts: NumpyArray) -> None:
        """Keep results."""
        self._held.append(parts.copy())

    def result(self) -> NumpyArray:
        """Return them folded."""
        values = np.concatenate(self._held)
        if len(values) == 1:  # the engine joins nothing: 1 * z may have zeros of other signs than z
            return np.asarray(values[0])
        return computed(build.reduce(undivided(self._node.op), leaf_of(values), (0,), False))
