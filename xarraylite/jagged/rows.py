"""How a jagged shape becomes an array that kernels can run over: rows of one smooth tail.

The elements of a jagged tensor lie one after the other, so arithmetic between tensors of one
shape is arithmetic between flat arrays.  `Rows` says which: the trailing modes that have one
extent everywhere are dimensions of their own, the *tail*, and all modes before them, the *head*,
are one dimension that counts rows.  A jagged matrix is thus a vector of its elements, a jagged
stack of vectors in space a matrix with three columns.

What is smaller is stretched mode by mode, from the right, as arrays are.  Along the tail that is
ordinary broadcasting; along the head each row needs the number of the element it takes, so such an
operand is read through an integer array (a `Gather`), which is made once for a shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from .._errors import BroadcastError
from .._tables import kept
from ..ir import build
from ..ir.node import Leaf, Node
from ..operands.gathers import index_leaf
from ..shapes.jagged import JaggedShape
from ..shapes.jagged_tree import Ints, Ragged, address, ints, joined_ranges, running, starts_above

K = TypeVar("K", bound=Hashable)

#: Upper bound of checked positions, which are right by construction.
_ANY = 1 << 62

#: Shapes that are remembered with one they were made from; each has a number per slice.
_DERIVED = 8

_known: WeakKeyDictionary[Ragged, Rows] = WeakKeyDictionary()


def rows_of(shape: JaggedShape) -> Rows:
    """Return the rows of a shape; for equal handles of one value the same object."""
    space = shape._space()
    rows = _known.get(space)
    if rows is None:
        rows = _known[space] = Rows(space)
    return rows


def rows_with(shape: JaggedShape, least: int) -> Rows:
    """Return the rows of a shape with at least so many modes in their head."""
    rows = rows_of(shape)
    return rows if rows.head >= least else Rows(shape._space(), least)


def leading(shape: JaggedShape, depth: int, sides: tuple[int, ...]) -> JaggedShape:
    """Return the shape of the first ``depth`` modes, followed by smooth ones of given extents.

    For equal arguments the same object, with the rows that are known of it.
    """
    known = rows_of(shape).derived
    found = known.get((depth, sides))
    if found is None:
        space = shape._space()
        counts, columns = space.counts[:depth], list(space.extents[: max(depth - space.outer, 0)])
        slices = int(counts[-1].sum()) if depth <= space.outer else space.n_slices
        columns += [ints(np.full(slices, n)) for n in sides]
        origins = [None] * (depth + len(sides))
        found = JaggedShape._make(Ragged.checked(counts, columns, origins))
        kept(known, (depth, sides), found, _DERIVED)
    return found


class Rows:
    """A jagged index space as rows of a smooth tail.

    Parameters
    ----------
    space : Ragged
        Of rank 1 or more.
    least : int, default 1
        How many modes the head has at least.

    Attributes
    ----------
    rank : int
        Number of modes.
    head : int
        Number of modes that the rows run over: up to the last jagged one, and at least one.
    tail : tuple of int
        Extents of the other modes.
    modes : tuple of (int or None)
        Extent of every mode, None for jagged ones.
    children : tuple of ndarray
        Per mode of the head, the first child of every node, and the end of the last one's.
    count : int
        Number of rows.
    derived : dict
        What `leading` has made of the shape.
    """

    def __init__(self, space: Ragged, least: int = 1) -> None:
        uniform, largest = space.uniform_modes, space.bounding()
        self.rank = space.rank
        self.modes = tuple([n if same else None for n, same in zip(largest, uniform, strict=True)])
        self.head = max([least, *[mode + 1 for mode in range(self.rank) if not uniform[mode]]])
        self.tail = largest[self.head :]
        levels = space.expand(self.head - 1)
        last = running(levels.values(self.head - 1))
        self.children = (*levels.child_offsets[: self.head - 1], last)
        self.count = int(last[-1])
        self._leaves: dict[tuple[str, Hashable], Leaf] = {}
        self.derived: dict[tuple[int, tuple[int, ...]], JaggedShape] = {}
        self._lengths: dict[int, tuple[Ints, int, int]] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the nodes that hold the elements."""
        return (self.count, *self.tail)

    @property
    def breadth(self) -> tuple[int, int]:
        """What is greater the more operands can be stretched to these rows."""
        return self.head, sum([extent != 1 for extent in self.modes])

    def starts(self, depth: int) -> Ints:
        """Return where the rows of each node at ``depth`` (at most ``head``) start, and the end."""
        if depth == self.head:
            return ints(np.arange(self.count + 1))
        return starts_above(self.children[depth:-1], self.children[-1])

    def start(self, depth: int, node: int) -> int:
        """Return where the rows of one node at ``depth`` start: one entry of `starts`."""
        for children in self.children[depth:]:
            node = int(children[node])
        return node

    def lengths(self, depth: int) -> tuple[Ints, int, int]:
        """Return how many rows each node at ``depth`` has, the least of them and the most."""
        known = self._lengths.get(depth)
        if known is None:
            counts = ints(np.diff(self.starts(depth)))
            least, most = int(counts.min(initial=_ANY)), int(counts.max(initial=0))
            known = self._lengths[depth] = (counts, least, most)
        return known

    def nodes(self, depth: int) -> Ints:
        """Return for each row the node at ``depth`` that it belongs to."""
        starts = self.starts(depth)
        return ints(np.repeat(np.arange(starts.size - 1), np.diff(starts)))

    def positions(self, mode: int) -> Ints:
        """Return for each row its index along a mode of the head."""
        first = self.children[mode][self.nodes(mode)]
        return ints(self.nodes(mode + 1) - first)

    def places(self, extents: Sequence[int]) -> Ints:
        """Return for each row its row-major position in a box over the head.

        Modes of extent 1 in the box are not counted along.
        """
        place = np.zeros(self.count, np.int64)
        for mode, extent in enumerate(extents):
            place = place * extent
            if extent != 1:
                place += self.positions(mode)
        return ints(place)

    # --- leaves that kernels read -------------------------------------------------------------

    def offsets_leaf(self, depth: int) -> Leaf:
        """Return `starts` as an operand of kernels."""
        return self._leaf("offsets", depth, self.starts)

    def nodes_leaf(self, depth: int) -> Leaf:
        """Return `nodes` as an operand of kernels."""
        return self._leaf("nodes", depth, self.nodes)

    def positions_leaf(self, mode: int) -> Leaf:
        """Return `positions` as an operand of kernels."""
        return self._leaf("positions", mode, self.positions)

    def places_leaf(self, extents: tuple[int, ...]) -> Leaf:
        """Return `places` as an operand of kernels."""
        if extents[0] != 1 and extents[1:] == (1,) * (len(extents) - 1):
            return self.nodes_leaf(1)
        return self._leaf("places", extents, self.places, math.prod(extents))

    def _leaf(self, kind: str, key: K, make: Callable[[K], Ints], most: int = _ANY) -> Leaf:
        leaf = self._leaves.get((kind, key))
        if leaf is None:
            leaf = self._leaves[kind, key] = index_leaf(make(key), most)
        return leaf

    # --- other operands -----------------------------------------------------------------------

    def has_head_of(self, other: Rows, depth: int) -> bool:
        """Tell whether the first ``depth`` modes of two shapes are the same."""
        pairs = zip(self.children[:depth], other.children[:depth], strict=True)
        return all(a is b or np.array_equal(a, b) for a, b in pairs)

    def same(self, other: Rows) -> bool:
        """Tell whether two shapes have the same extents everywhere."""
        if self is other:
            return True
        mine, theirs = (self.rank, self.head, self.tail), (other.rank, other.head, other.tail)
        return mine == theirs and self.has_head_of(other, self.head)

    def stretch(self, node: Node, other: Rows, operation: str) -> Node:
        """Return elements of another jagged shape as these rows want them.

        Raises
        ------
        BroadcastError
            Unless both have the same modes, but for trailing ones of extent 1.
        """
        if self.same(other):
            return node
        comparable = self.rank == other.rank and self.head >= other.head
        depth = self.head
        while comparable and depth > other.head and other.modes[depth - 1] == 1:
            depth -= 1
        fits = (
            comparable
            and self.modes[other.head : depth] == other.modes[other.head : depth]
            and all(n in (1, m) for n, m in zip(other.tail[::-1], self.tail[::-1], strict=False))
            and self.has_head_of(other, other.head)
        )
        if not fits:
            raise BroadcastError(
                f"{operation}: the jagged extents {other.modes} are not those of {self.modes}"
                f"{self._difference(other)}; jagged operands must agree everywhere, but for "
                "trailing modes of extent 1"
            )
        if self.head == other.head:
            return node
        nodes = self.starts(depth).size - 1
        flat = build.reshape(node, (nodes, *other.tail[self.head - other.head :]))
        return build.gather(flat, 0, self.nodes_leaf(depth))

    def _difference(self, other: Rows) -> str:
        """Return the first slice of another extent than here, in words; "" if there is none."""
        if self.rank != other.rank:
            return ""
        for mode, (mine, theirs) in enumerate(zip(self.children, other.children, strict=False)):
            differ = np.diff(mine) != np.diff(theirs)
            if differ.any():
                node = int(differ.argmax())
                slices = ", ".join(map(str, self.address(mode, node)))
                extents = f"{theirs[node + 1] - theirs[node]}, not {mine[node + 1] - mine[node]}"
                return f": slice [{slices}] has {extents}, along mode {mode}" if mode else ""
        return ""

    def address(self, depth: int, node: int) -> tuple[int, ...]:
        """Return the offsets that lead to a node at ``depth`` (at most ``head``)."""
        return address(self.children[:depth], node)

    def spread(self, node: Node, operation: str) -> Node:
        """Return a dense array as these rows want it: stretched mode by mode, from the right.

        Raises
        ------
        BroadcastError
            If an extent is neither 1 nor that of its mode.
        """
        shape = (1,) * (self.rank - len(node.shape)) + node.shape
        fits = len(shape) == self.rank and all(
            n in (1, m) for n, m in zip(shape, self.modes, strict=True)
        )
        if not fits:
            raise BroadcastError(
                f"{operation}: {build.describe(node)} does not stretch to the jagged extents "
                f"{self.modes}; from the right, each extent must be 1 or that of its mode, and 1 "
                "where the mode is jagged (None)"
            )
        head, tail = shape[: self.head], shape[self.head :]
        flat = build.reshape(node, (math.prod(head), *tail))
        if self.head == 1 or all(n == 1 for n in head):
            return flat
        return build.gather(flat, 0, self.places_leaf(head))


def positions_in(space: Ragged, ranges: Sequence[tuple[int, int] | None]) -> Ints:
    """Return the flat positions of the elements in a box, which must be in bounds."""
    nodes = ints([0])
    for starts, wanted in zip(space.child_offsets, ranges[: space.outer], strict=True):
        first, counts = _cut(starts[nodes], np.diff(starts)[nodes], wanted)
        nodes = joined_ranges(first, counts)
    extents = [column[nodes] for column in space.extents]
    places = space.slice_offsets[nodes]
    strides = [ints(np.repeat(np.int64(1), nodes.size))]
    for column in reversed(extents[1:]):
        strides.insert(0, ints(strides[0] * column))
    for mode, wanted in enumerate(ranges[space.outer :]):
        first, counts = _cut(ints(extents[mode] * 0), extents[mode], wanted)
        along = joined_ranges(first, counts)
        places = ints(np.repeat(places, counts) + along * np.repeat(strides[mode], counts))
        extents = [np.repeat(column, counts) for column in extents]
        strides = [np.repeat(column, counts) for column in strides]
    return places


def _cut(first: Ints, counts: Ints, wanted: tuple[int, int] | None) -> tuple[Ints, Ints]:
    if wanted is None:
        return ints(first), ints(counts)
    low, high = wanted
    return ints(first + low), ints(counts * 0 + (high - low))
