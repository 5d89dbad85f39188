"""Extents that depend on labels: how jagged modes survive permutations and products.

In an expression each label has an extent, which is a number or, for a jagged mode, a `Table`:
the extents as a function of the indices of other labels, in its least form.  A mode that a jagged
shape lists node by node but that has one extent everywhere is a number again; one that differs
only with some of the modes before it depends on those alone.  This is what tells a permutation
that can be written down from one that cannot, and lets `assemble` build the result of a product
as a tree in any order of labels in which every label comes after those it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._errors import ShapeError
from .._records import record
from .jagged_tree import Ints, Ragged, check_nodes, ints, is_uniform, joined_ranges


@record(frozen=True, slots=True, eq=False)
class Table:
    """The extents of a jagged mode as a function of the indices of other modes.

    Attributes
    ----------
    labels : tuple of str
        The modes it depends on, at least one.
    columns : tuple of ndarray
        Per label, the index in each row of the table; rows are distinct and sorted.
    values : ndarray
        The extent for each row.
    """

    labels: tuple[str, ...]
    columns: tuple[Ints, ...]
    values: Ints

    def same_function(self, other: Table) -> bool:
        """Tell whether both have the same values at the same indices, by position of label."""
        return (
            len(self.labels) == len(other.labels)
            and all(
                [np.array_equal(a, b) for a, b in zip(self.columns, other.columns, strict=True)]
            )
            and np.array_equal(self.values, other.values)
        )

    def same_mode(self, other: Table) -> bool:
        """Tell whether both depend on the same labels in the same way."""
        if self is other:
            return True
        if set(self.labels) != set(other.labels):
            return False
        return self.same_function(other.ordered(self.labels))

    def ordered(self, labels: tuple[str, ...]) -> Table:
        """Return the same table with its labels in another order."""
        if labels == self.labels:
            return self
        columns = [self.columns[self.labels.index(label)] for label in labels]
        order = np.lexsort(columns[::-1])
        return Table(labels, tuple([ints(c[order]) for c in columns]), ints(self.values[order]))

    def at(self, columns: Sequence[Ints]) -> Ints:
        """Return the extent for each row of indices; 0 for rows that the table does not have."""
        n_rows = self.values.size
        # Sorted together, equal rows are neighbours, and the table's row is the first of them.
        joined = [np.concatenate(pair) for pair in zip(self.columns, columns, strict=True)]
        order = np.lexsort(joined[::-1])
        fresh = _starts_of_groups([column[order] for column in joined])
        group = np.cumsum(fresh) - 1
        first = order[fresh][group][np.argsort(order)]
        # Where that is no row of the table, it is one of those asked for.
        return ints(np.append(self.values, 0)[np.minimum(first[n_rows:], n_rows)])

    def text(self) -> str:
        """Return what messages show: ``10|20 by i``."""
        shown = self.values[:4].tolist()
        dots = "|…" if self.values.size > len(shown) else ""
        return "|".join(map(str, shown)) + dots + f" by {','.join(self.labels)}"


#: A number, or a table of numbers.
Extent = int | Table


def extents_by_label(space: Ragged, labels: tuple[str, ...]) -> tuple[Extent, ...]:
    """Return the extent of every mode of a space, each in its least form."""
    coordinates: list[Ints] = []
    result: list[Extent] = []
    for mode in range(space.rank):
        values = space.values(mode)
        if is_uniform(values):
            result.append(int(values[0]) if values.size else 0)
        else:
            result.append(_least_table(labels, coordinates, values))
        if mode < space.outer:
            counts = space.counts[mode]
            own = joined_ranges(ints(counts * 0), counts)
            coordinates = [ints(np.repeat(column, counts)) for column in coordinates] + [own]
    return tuple(result)


def _least_table(labels: tuple[str, ...], coordinates: Sequence[Ints], values: Ints) -> Table:
    """Return the table of extents without the modes that make no difference."""
    needed = list(range(len(coordinates)))
    for mode in reversed(range(len(coordinates))):
        fewer = [m for m in needed if m != mode]
        if fewer and _is_function(values, [coordinates[m] for m in fewer]):
            needed = fewer
    columns = [coordinates[m] for m in needed]
    order = np.lexsort(columns[::-1])
    sorted_columns = [column[order] for column in columns]
    fresh = _starts_of_groups(sorted_columns)
    return Table(
        tuple([labels[m] for m in needed]),
        tuple([ints(column[fresh]) for column in sorted_columns]),
        ints(values[order][fresh]),
    )


def _is_function(values: Ints, columns: Sequence[Ints]) -> bool:
    """Tell whether rows with the same indices always have the same value."""
    order = np.lexsort(columns[::-1])
    fresh = _starts_of_groups([column[order] for column in columns])
    changed = np.diff(values[order]) != 0
    return not bool((changed & ~fresh[1:]).any())


def _starts_of_groups(columns: Sequence[Ints]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mark the first of each run of equal rows in sorted columns."""
    changed = np.diff(columns[0]) != 0
    for column in columns[1:]:
        changed = changed | (np.diff(column) != 0)
    return np.concatenate(([True], changed))


def same_extent(left: Extent, right: Extent) -> bool:
    """Tell whether two extents are the same number, or the same function of the same labels."""
    if isinstance(left, Table) and isinstance(right, Table):
        return left.same_mode(right)
    return not isinstance(left, Table) and not isinstance(right, Table) and left == right


def extent_text(extent: Extent) -> str:
    """Return an extent as messages show it."""
    return extent.text() if isinstance(extent, Table) else str(extent)


def check_order(labels: Sequence[str], extents: Sequence[Extent], operation: str) -> None:
    """Refuse orders of labels in which a jagged one stands before one that it depends on.

    Raises
    ------
    ShapeError
        Naming both labels and the extents.
    """
    for k, (label, extent) in enumerate(zip(labels, extents, strict=True)):
        for needed in extent.labels if isinstance(extent, Table) else ():
            if needed in labels[:k]:
                continue
            why = f"depends on {needed!r}, which is summed; keep {needed!r} or sum {label!r} too"
            if needed in labels:
                why = f"cannot stand before {needed!r}, on which its extents depend"
            shown = f"{label!r} (extents {extent_text(extent)})"
            raise ShapeError(f"{operation}: the jagged label {shown} {why}")


def assemble(
    labels: Sequence[str], extents: Sequence[Extent], origin: Sequence[int], operation: str
) -> Ragged:
    """Return the space with these extents, each label after those it depends on.

    Parameters
    ----------
    labels : sequence of str
        Its modes in their order.
    extents : sequence of (int or Table)
        The extent of each.
    origin : sequence of int
        Where the indices of each start.
    operation : str
        Named in messages.

    Raises
    ------
    ShapeError
        If a label stands before one that it depends on.
    SizeError
        If too many slices would have to be listed.
    """
    check_order(labels, extents, operation)
    tables = [extent.labels if isinstance(extent, Table) else () for extent in extents]
    needed = {label for names in tables for label in names}
    outer = max([k + 1 for k, label in enumerate(labels) if label in needed], default=0)
    indices: dict[str, Ints] = {}
    nodes = 1
    counts: list[Ints] = []
    inner: list[Ints] = []
    for mode, (label, extent) in enumerate(zip(labels, extents, strict=True)):
        if isinstance(extent, Table):
            column = extent.at([indices[name] for name in extent.labels])
        else:
            column = ints(np.repeat(np.int64(extent), nodes))
        if mode >= outer:
            inner.append(column)
            continue
        nodes = int(np.sum(column, dtype=np.float64))
        check_nodes(nodes, operation)
        counts.append(column)
        indices = {name: ints(np.repeat(index, column)) for name, index in indices.items()}
        if label in needed:
            indices[label] = joined_ranges(ints(column * 0), column)
    space = Ragged.checked(counts, inner, [None] * len(labels))
    return space.with_origin(origin) if any(origin) else space
