"""Ragged index spaces as a few arrays of integers, one number per node.

A jagged shape of rank ``r`` whose smooth slices have rank ``s`` is a tree: the root has one child
per index of mode 0, each of those one child per index of mode 1, and so on for the ``r - s``
*outer* modes; every leaf is a smooth slice with ``s`` extents.  `Ragged` holds the number of
children of every node, level by level, and the extents of every leaf, so a million rows are a
million integers, and flat offsets are cumulative sums.  Subtrees are views of the same arrays.

The same index space has several such trees, because a smooth mode may be unrolled into nodes
(`expand`).  Comparisons and `fingerprint` look at the space, not at the tree.

These integers are descriptions, like strides are: no element of any tensor is touched here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .._errors import BoundsError, ShapeError, SizeError
from .._records import record
from ..index.box import Range, lexicographic
from ..index.broadcast import MAX_SIZE, check_rank
from ..index.radix import ravel_multi_index

if TYPE_CHECKING:
    import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"

#: Largest number of nodes of one level: 2 GiB of integers.
MAX_SLICES = 1 << 28


def ints(values: object) -> Ints:
    """Return integers as a read-only int64 array."""
    array = np.asarray(values, dtype=np.int64).view()
    array.flags.writeable = False
    return array


def running(counts: Ints) -> Ints:
    """Return the start of each run, and the end of the last one."""
    return ints(np.concatenate(([0], np.cumsum(counts))))


def is_uniform(values: Ints) -> bool:
    """Tell whether all values are the same (also if there are none)."""
    return values.size == 0 or bool((values == values[0]).all())


def check_nodes(count: int, operation: str) -> None:
    """Refuse levels of more than `MAX_SLICES` nodes.

    Raises
    ------
    SizeError
        Before anything of that size is made.
    """
    if count > MAX_SLICES:
        raise SizeError(
            f"{operation}: {count} slices would be listed one by one; at most {MAX_SLICES} are"
        )


def joined_ranges(starts: Ints, counts: Ints) -> Ints:
    """Return ``start, start + 1, …`` (``count`` of them) for each pair, one after the other."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    return ints(np.r_[0:total] + np.repeat(starts - (ends - counts), counts))


def address(children: Sequence[Ints], node: int) -> tuple[int, ...]:
    """Return the offsets that lead to a node, given the first children of those above it."""
    index: list[int] = []
    for firsts in reversed(children):
        parent = int(np.searchsorted(firsts, node, side="right")) - 1
        index.append(node - int(firsts[parent]))
        node = parent
    return tuple(reversed(index))


def starts_above(children: Sequence[Ints], starts: Ints) -> Ints:
    """Return where the nodes some levels up start, given where those below start."""
    for firsts in reversed(children):
        starts = starts[firsts]
    return ints(starts)


def exact_sum(values: Ints) -> int:
    """Return the sum of integers, in Python ints where floats say that 64 bits may not do."""
    if float(np.sum(values, dtype=np.float64)) < 2.0**62:
        return int(values.sum())
    return sum(values.tolist())


@record(frozen=True, eq=False)
class Ragged:
    """A ragged index space; see the module's docstring.

    Attributes
    ----------
    counts : tuple of ndarray
        Per outer mode, the number of children of every node of that level.
    extents : tuple of ndarray
        Per inner mode, the extent of that mode in every smooth slice.  There is at least one
        inner mode unless the rank is 0.
    origins : tuple of (ndarray or None)
        Per mode, where its indices start at every node of ``counts`` or slice of ``extents``;
        None for zeros.
    """

    counts: tuple[Ints, ...]
    extents: tuple[Ints, ...]
    origins: tuple[Ints | None, ...]

    @staticmethod
    def smooth(extents: Sequence[int], origin: Sequence[int] | None = None) -> Ragged:
        """Return a box: no outer modes, one slice."""
        origins = [ints([o]) if o else None for o in origin or (0,) * len(extents)]
        return Ragged((), tuple([ints([extent]) for extent in extents]), tuple(origins))

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (self.counts, self.extents, self.origins)  # nothing that can be redone

    @staticmethod
    def checked(
        counts: Sequence[Ints], extents: Sequence[Ints], origins: Sequence[Ints | None]
    ) -> Ragged:
        """Return the space, normalized: its last outer mode becomes the slices if there are none.

        Raises
        ------
        SizeError
            If it has more than 2**63 - 1 elements.
        """
        if not extents and counts:
            counts, extents = counts[:-1], counts[-1:]
        check_rank(len(origins), "JaggedShape")
        space = Ragged(tuple(counts), tuple(extents), tuple(origins))
        estimate = np.repeat(1.0, space.n_slices)
        for column in extents:
            estimate = estimate * column
        if float(estimate.sum()) >= 2.0**62:  # too near the limit for floats: count exactly
            exact = sum(map(math.prod, zip(*[column.tolist() for column in extents], strict=True)))
            if exact > MAX_SIZE:
                raise SizeError(f"JaggedShape: {exact} elements are more than 2**63 - 1")
        return space

    @property
    def outer(self) -> int:
        """Number of outer modes."""
        return len(self.counts)

    @property
    def rank(self) -> int:
        """Number of modes."""
        return len(self.counts) + len(self.extents)

    @property
    def n_slices(self) -> int:
        """Number of smooth slices."""
        return len(self.extents[0]) if self.extents else 1

    @cached_property
    def slice_offsets(self) -> Ints:
        """Flat position of the first element of every slice, and the end of the last one."""
        sizes = np.repeat(np.int64(1), self.n_slices)
        for column in self.extents:
            sizes = sizes * column
        return running(sizes)

    @cached_property
    def child_offsets(self) -> tuple[Ints, ...]:
        """Per outer mode, the first child of every node, and the end of the last one's."""
        return tuple([running(column) for column in self.counts])

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.slice_offsets[-1])

    def values(self, mode: int) -> Ints:
        """Return the extents of a mode: one per node above it, or one per slice."""
        return self.counts[mode] if mode < self.outer else self.extents[mode - self.outer]

    def node_offsets(self, depth: int) -> Ints:
        """Return the flat position of every node at ``depth`` (at most ``outer``), and the end."""
        return starts_above(self.child_offsets[depth:], self.slice_offsets)

    @cached_property
    def uniform_modes(self) -> tuple[bool, ...]:
        """Per mode, whether it has one extent everywhere."""
        return tuple([is_uniform(self.values(mode)) for mode in range(self.rank)])

    @cached_property
    def is_smooth(self) -> bool:
        """Whether this is a box: one extent and one origin per mode."""
        origins = [o is None or is_uniform(o) for o in self.origins]
        return all(self.uniform_modes) and all(origins)

    def bounding(self) -> tuple[int, ...]:
        """Return the largest extent of every mode; 0 where a mode never occurs."""
        return tuple([int(self.values(mode).max(initial=0)) for mode in range(self.rank)])

    def origin(self, mode: int, node: int = 0) -> int:
        """Return where the indices of a mode start at one node (0 if there is no such node)."""
        origins = self.origins[mode]
        return int(origins[node]) if origins is not None and node < origins.size else 0

    def common_origin(self, mode: int) -> int:
        """Return where the indices of a mode start everywhere; 0 if places differ."""
        column = self.origins[mode]
        return self.origin(mode) if column is not None and is_uniform(column) else 0

    def locate(self, index: Sequence[int], operation: str) -> int:
        """Return the node that ``index`` (at most ``outer`` offsets) leads to.

        Raises
        ------
        BoundsError
            Naming the mode, the index and the extent there.
        """
        node = 0
        for mode, position in enumerate(index):
            extent = int(self.counts[mode][node])
            if not 0 <= position < extent:
                raise BoundsError(
                    f"{operation}: index {tuple(index)} is out of range: mode {mode} has extent "
                    f"{extent} at {tuple(index[:mode])}"
                )
            node = int(self.child_offsets[mode][node]) + position
        return node

    def extent(self, mode: int, index: Sequence[int]) -> int:
        """Return the extent of a mode at an index of the modes before it.

        Raises
        ------
        ShapeError
            If the index is too long, or too short where the mode is jagged.
        """
        needed = min(mode, self.outer)
        if len(index) > mode:
            raise ShapeError(f"extent: mode {mode} has {mode} modes before it, got {tuple(index)}")
        if len(index) < needed and not self.uniform_modes[mode]:
            raise ShapeError(
                f"extent: mode {mode} is jagged, so an index of the {needed} modes before it is "
                f"needed, got {tuple(index)}"
            )
        node = self.locate(index[:needed], "extent")
        return int(self.values(mode)[node]) if len(index) >= needed else self.bounding()[mode]

    def contains(self, index: Sequence[int], absolute: bool) -> bool:
        """Tell whether an index of all modes is one of this space's."""
        node = 0
        for mode, value in enumerate(index):
            offset = value - self.origin(mode, node) if absolute else value
            column = self.values(mode)
            if not (node < column.size and 0 <= offset < column[node]):
                return False
            if mode < self.outer:
                node = int(self.child_offsets[mode][node]) + offset
        return True

    def position(self, index: Sequence[int], operation: str) -> int:
        """Return the flat position of an element.

        Raises
        ------
        BoundsError
            If there is no such element.
        """
        where = tuple(index[: self.outer])
        node = self.locate(where, operation)
        extents = [int(column[node]) for column in self.extents]
        inner = index[self.outer :]
        if not all([0 <= i < extent for i, extent in zip(inner, extents, strict=True)]):
            raise BoundsError(
                f"{operation}: index {tuple(index)} is out of range: the slice at {where} has "
                f"extents {tuple(extents)}"
            )
        return int(ravel_multi_index(inner, extents)) + int(self.slice_offsets[node])

    def leading_size(self, n_modes: int) -> int:
        """Return how many different indices the first ``n_modes`` modes have."""
        if n_modes == 0:
            return 1
        if n_modes <= self.outer:
            return int(self.counts[n_modes - 1].sum())
        return Ragged(self.counts, self.extents[: n_modes - self.outer], self.origins).size

    def subtree(self, depth: int, node: int) -> Ragged:
        """Return the space below one node, as views of the same arrays."""
        low, high = node, node + 1
        columns: list[Ints] = []
        origins: list[Ints | None] = []
        for mode in range(depth, self.rank):
            columns.append(self.values(mode)[low:high])
            column = self.origins[mode]
            origins.append(None if column is None else column[low:high])
            if mode < self.outer:
                children = self.child_offsets[mode]
                low, high = int(children[low]), int(children[high])
        inner = self.outer - depth
        return Ragged(tuple(columns[:inner]), tuple(columns[inner:]), tuple(origins))

    def address(self, depth: int, node: int) -> tuple[int, ...]:
        """Return the offsets that lead to a node."""
        return address(self.child_offsets[:depth], node)

    def select(self, ranges: Sequence[Range], drop: Sequence[int], operation: str) -> Ragged:
        """Return the space inside a box, without the modes ``drop`` (each of one index).

        Raises
        ------
        BoundsError
            If the box holds an index that one of the selected slices does not have.
        """
        nodes = ints([0])
        columns: list[Ints] = []
        origins: list[Ints | None] = []
        for mode, wanted in enumerate(ranges):
            extents, first = self.values(mode)[nodes], 0
            given = self.origins[mode]
            start = None if given is None else given[nodes]
            if wanted is not None:
                first, stop = wanted
                short = extents < stop
                if short.any():
                    depth = min(mode, self.outer)
                    at = self.address(depth, int(nodes[short.argmax()]))
                    raise BoundsError(
                        f"{operation}: the range {first}:{stop} of mode {mode} is out of bounds: "
                        f"the extent is {extents[short.argmax()]} at {at}"
                    )
                extents = np.repeat(np.int64(stop - first), nodes.size)
                start = extents * 0 + first if start is None else start + first
            columns.append(ints(extents))
            origins.append(None if start is None or not start.any() else ints(start))
            if mode < self.outer:
                nodes = joined_ranges(self.child_offsets[mode][nodes] + first, extents)
        keep = [mode for mode in range(self.rank) if mode not in drop]
        return Ragged.checked(
            [columns[mode] for mode in keep if mode < self.outer],
            [columns[mode] for mode in keep if mode >= self.outer],
            [origins[mode] for mode in keep],
        )

    def expand(self, outer: int) -> Ragged:
        """Return the same space with inner modes unrolled until there are ``outer`` outer ones.

        Raises
        ------
        SizeError
            If that lists too many slices.
        """
        counts, extents, origins = list(self.counts), list(self.extents), list(self.origins)
        while len(counts) < outer:
            column = extents.pop(0)
            check_nodes(int(np.sum(column, dtype=np.float64)), "JaggedShape")
            counts.append(column)
            extents = [ints(np.repeat(other, column)) for other in extents]
            at = len(counts)
            origins[at:] = [None if o is None else ints(np.repeat(o, column)) for o in origins[at:]]
        return Ragged(tuple(counts), tuple(extents), tuple(origins))

    def with_origin(self, origin: Sequence[int]) -> Ragged:
        """Return the space whose leading modes start at ``origin`` everywhere.

        Raises
        ------
        ShapeError
            If an absolute index would not fit 64 bits.
        """
        largest = [int(self.values(mode).max(initial=0)) for mode in range(len(origin))]
        if any([abs(start) + n > MAX_SIZE for start, n in zip(origin, largest, strict=True)]):
            raise ShapeError(f"origin: {tuple(origin)} leads beyond 2**63 - 1")
        changed = [
            ints(np.repeat(np.int64(start), self.values(mode).size)) if start else None
            for mode, start in enumerate(origin)
        ]
        return Ragged(self.counts, self.extents, (*changed, *self.origins[len(origin) :]))

    def indices(self, absolute: bool) -> Iterator[tuple[int, ...]]:
        """Yield every index in lexicographic order."""
        return self._walk(0, 0, (), absolute)

    def _walk(
        self, mode: int, node: int, prefix: tuple[int, ...], absolute: bool
    ) -> Iterator[tuple[int, ...]]:
        if mode == self.outer:
            spans = []
            for m in range(mode, self.rank):
                start = self.origin(m, node) if absolute else 0
                spans.append(range(start, start + int(self.values(m)[node])))
            for tail in lexicographic(spans):
                yield prefix + tail
            return
        start = self.origin(mode, node) if absolute else 0
        first = int(self.child_offsets[mode][node])
        for i in range(int(self.counts[mode][node])):
            yield from self._walk(mode + 1, first + i, (*prefix, start + i), absolute)

    def fingerprint(self) -> tuple[object, ...]:
        """Return a hashable value that does not depend on how the space is written as a tree."""
        first = np.diff(self.node_offsets(1)).tobytes() if self.outer else b""
        return (self.rank, self.bounding(), self.size, first)


def _restored(
    counts: Sequence[Ints], extents: Sequence[Ints], origins: Sequence[Ints | None]
) -> Ragged:
    """Return a space from its pickled arrays, which come back writeable."""
    return Ragged(
        tuple(map(ints, counts)),
        tuple(map(ints, extents)),
        tuple([None if column is None else ints(column) for column in origins]),
    )
