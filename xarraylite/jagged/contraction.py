"""From labels of jagged arrays to labels of arrays.

A labelled expression of jagged arrays is turned into one of ordinary arrays, which `contraction`
knows how to compute.  All leading labels up to the last jagged one become a single label, `ROWS`:
the dimension of `rows.Rows` that runs over rows.

1. **Summed jagged labels** go first.  The factors that share one are brought to common rows, in
   which it comes last, and multiplied; runs of the rows are added up between offsets.  A factor
   that nobody else shares such a label with is so folded on its own, before any product.
2. **The rest** has jagged labels of the result alone.  If it has any, every factor is brought to
   the rows of the result: a jagged one of these rows lies there already, others are gathered.

What remains, such as a product over a smooth inner label, is a contraction of arrays: one matrix
product of all rows at once, where it is one.

A label that is jagged in the same way by different labels is summed over the longest row; shorter
ones are filled up with zeros.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from .._config import settings
from .._errors import ShapeError, SizeError
from ..blas.stacks import accumulator
from ..dtypes.names import DType, bool_, dtype_name
from ..ir import build
from ..ir.node import Node
from ..labels.labelled import Group, Indexed, Labels, Term, XLabelled
from ..labels.lowering import Lowering, aligned
from ..labels.notes import Note
from ..operands.gathers import index_leaf
from ..operands.nodes import borrow_array
from ..ops.reductions import ANY, SUM
from ..ops.table import OPS
from ..shapes.jagged import JaggedShape
from ..shapes.jagged_tree import Ragged
from ..shapes.labels import Mode
from ..shapes.tables import Extent, Table, extents_by_label, same_extent
from .rows import Rows, rows_of, rows_with

#: The label of the dimension that runs over rows; nobody else may use it.
ROWS = "_rows_"

_known: WeakKeyDictionary[Ragged, dict[Labels, dict[str, Extent]]] = WeakKeyDictionary()


class JaggedIndexed(NamedTuple):
    """A jagged array with one label per mode.

    Attributes
    ----------
    node : Node
        The elements, laid out as `rows.Rows` says.
    labels : tuple of str
        Its labels.
    shape : JaggedShape
        Its index space.
    """

    node: Node
    labels: Labels
    shape: JaggedShape

    @property
    def rows(self) -> Rows:
        """How the elements are laid out."""
        return rows_of(self.shape)

    @property
    def extents(self) -> dict[str, Extent]:
        """Extent of each label: a number, or a table by other labels."""
        return extents_of(self.shape, self.labels)


#: What a term multiplies.
Factor: TypeAlias = JaggedIndexed | Indexed | Group


def extents_of(shape: JaggedShape, labels: Labels) -> dict[str, Extent]:
    """Return the extent of each label of a shape; for the same labels the same objects."""
    known = _known.setdefault(shape._space(), {})
    found = known.get(labels)
    if found is None:
        numbers = tuple([str(mode) for mode in range(shape.rank)])
        if numbers not in known:
            plain = extents_by_label(shape._space(), numbers)
            known[numbers] = dict(zip(numbers, plain, strict=True))
        extents = [_renamed(extent, labels) for extent in known[numbers].values()]
        found = known[labels] = dict(zip(labels, extents, strict=True))
    return found


def _shape_of(labels: Labels, extents: Sequence[Extent]) -> JaggedShape:
    """Return the shape with these extents."""
    return JaggedShape._of_modes(labels, [Mode((extent,)) for extent in extents])


def _renamed(extent: Extent, labels: Labels) -> Extent:
    if not isinstance(extent, Table):
        return extent
    return Table(tuple([labels[int(k)] for k in extent.labels]), extent.columns, extent.values)


def flattened(
    value: XLabelled, labels: Labels, shape: JaggedShape, notes: list[Note] | None = None
) -> tuple[XLabelled, Labels]:
    """Return an expression of arrays for one of jagged arrays.

    Parameters
    ----------
    value : XLabelled
        Its factors may be a `JaggedIndexed`.
    labels : tuple of str
        Labels of the result.
    shape : JaggedShape
        Index space of the result, which says that the labels are right.
    notes : list of Note, optional
        Given, nothing is run: products that are made here would be, and are noted.

    Returns
    -------
    (XLabelled, tuple of str)
        The expression, and the labels of its result: those given, or if one of them is jagged,
        `ROWS` and the smooth ones at the end.

    Raises
    ------
    ShapeError
        If a label is `ROWS`.
    """
    if ROWS in value.extents:
        raise ShapeError(f"labels: {ROWS!r} of {value!r} has a meaning of its own; choose another")
    if not shape.size:
        return _nothing(value.dtype, labels, shape)
    acc = accumulator(value.dtype)
    products = [_reduced(term.factors, labels, acc, notes) for term in value.terms]
    jagged = {k for _, tables in products for k in tables}
    head = labels[: max([k + 1 for k, label in enumerate(labels) if label in jagged], default=0)]
    rows = rows_with(shape, len(head)) if head else None
    terms = []
    extents: dict[str, int] = {}
    for term, (factors, _) in zip(value.terms, products, strict=True):
        dense = [over(factor, head, rows) for factor in factors]
        for factor in dense:
            extents.update(_extents(factor))
        terms.append(Term(tuple(dense), term.scales, term.negative))
    out = (ROWS, *labels[len(head) :]) if head else labels
    return XLabelled(tuple(terms), value.dtype, extents), out


def _reduced(
    factors: Sequence[Factor], labels: Labels, acc: DType, notes: list[Note] | None
) -> tuple[Sequence[Factor], Iterable[str]]:
    """Return factors of the same product whose jagged labels are all the result's, and those."""
    tables = _tables(factors)
    clashing = {label for label, found in tables.items() if len(found) > 1}
    if clashing:
        factors = [_padded(factor, clashing) for factor in factors]
        tables = _tables(factors)
    while summed := [k for k in tables if k not in labels]:
        members, others = _sharing(summed[0], factors, set(summed), labels)
        one = {k: found[0] for k, found in tables.items()}
        factors = [*others, _fold(members, others, labels, one, acc, notes)]
        tables = _tables(factors)
    return factors, tables


def _nothing(dtype: DType, labels: Labels, shape: JaggedShape) -> tuple[XLabelled, Labels]:
    """Return the expression of a result without elements, as `flattened` does."""
    rows = rows_of(shape)
    out = (ROWS, *labels[rows.head :]) if None in rows.modes else labels
    box = rows.shape if None in rows.modes else [n for n in rows.modes if n is not None]
    node = build.broadcast_to(build.scalar(0, dtype), tuple(box))
    extents = dict(zip(out, box, strict=True))
    return XLabelled((Term((Indexed(node, out),)),), dtype, extents), out


# --- what factors know about their labels ------------------------------------------------------


def parts_of(factors: Iterable[Factor]) -> list[JaggedIndexed]:
    """Return all jagged arrays among factors, those in sums too."""
    found: list[JaggedIndexed] = []
    for factor in factors:
        if isinstance(factor, JaggedIndexed):
            found.append(factor)
        elif isinstance(factor, Group):
            found += [part for term in factor.terms for part in parts_of(term.factors)]
    return found


def _tables(factors: Iterable[Factor]) -> dict[str, list[Table]]:
    """Return the jagged labels, each with the different tables that it has."""
    found: dict[str, list[Table]] = {}
    for part in parts_of(factors):
        for label, extent in part.extents.items():
            if isinstance(extent, Table):
                known = found.setdefault(label, [])
                if not any([extent is table or same_extent(extent, table) for table in known]):
                    known.append(extent)
    return found


def _extents(factor: Indexed | Group) -> dict[str, int]:
    """Return the extents of a factor without jagged arrays."""
    if isinstance(factor, Indexed):
        return dict(zip(factor.labels, factor.node.shape, strict=True))
    return {k: n for term in factor.terms for f in term.factors for k, n in _extents(f).items()}


def _inside(group: Group, change: Any) -> Group:
    """Return a sum with other factors."""
    terms = [
        Term(tuple([change(factor) for factor in term.factors]), term.scales, term.negative)
        for term in group.terms
    ]
    labels = dict.fromkeys([k for term in terms for k in term.labels])
    return Group(tuple(terms), tuple(labels))


# --- rows that differ --------------------------------------------------------------------------


def _padded(factor: Factor, clashing: set[str]) -> Factor:
    """Return a factor with rows of one length along labels that are jagged by different labels."""
    if isinstance(factor, Group):
        return _inside(factor, lambda inner: _padded(inner, clashing))
    if isinstance(factor, Indexed) or clashing.isdisjoint(factor.labels):
        return factor
    return _filled_up(factor, clashing)


def check_bytes(shape: JaggedShape, dtype: DType, what: str) -> None:
    """Refuse a jagged array that may not be allocated.

    Raises
    ------
    SizeError
        Naming what it would have been.
    """
    nbytes = shape.size * dtype.itemsize
    if nbytes > settings.max_result_bytes:
        raise SizeError(
            f"{what}: {shape.size} elements of {dtype_name(dtype)} need {nbytes} bytes; the limit "
            f"is {settings.max_result_bytes} (setting max_result_bytes)"
        )


def _filled_up(factor: JaggedIndexed, clashing: set[str]) -> JaggedIndexed:
    """Return a factor with zeros behind the rows of some labels, up to the longest row."""
    wide: list[Extent] = [
        int(extent.values.max()) if k in clashing and isinstance(extent, Table) else extent
        for k, extent in factor.extents.items()
    ]
    shape = _shape_of(factor.labels, wide)
    check_bytes(shape, np.dtype(np.int64), f"rows of {','.join(factor.labels)!r}, filled up")
    rows, space = rows_of(shape), factor.shape._space()
    zero = build.scalar(0, factor.node.dtype)
    if not space.size:
        return JaggedIndexed(build.broadcast_to(zero, rows.shape), factor.labels, shape)
    at = _coordinates(factor.labels, factor.labels[: rows.head], rows, rows.shape)
    places, inside = _located(space, at)
    index = index_leaf(np.broadcast_to(places, rows.shape), space.size)
    taken = build.gather(build.reshape(factor.node, (space.size,)), 0, index)
    mask = borrow_array(np.broadcast_to(inside, rows.shape).copy(), "padding")
    return JaggedIndexed(build.elementwise(OPS["where"], mask, taken, zero), factor.labels, shape)


# --- sums over jagged labels -------------------------------------------------------------------


def _sharing(
    label: str, factors: Sequence[Factor], summed: set[str], labels: Labels
) -> tuple[list[Factor], list[Factor]]:
    """Return the factors that must be multiplied before a jagged label is summed, and the others.

    Where there are several, those that share another sum with them come along: the order of all
    these products is `contraction_order`'s to choose.
    """
    links = {label}
    while True:
        members = [f for f in factors if not links.isdisjoint(f.labels)]
        found = links | {k for f in members for k in f.labels if k in summed}
        if len(members) > 1:
            found |= {k for f in members for k in f.labels if k not in labels}
        if found == links:
            others = [f for f in factors if links.isdisjoint(f.labels)]
            return members, others
        links = found


def _fold(
    members: Sequence[Factor],
    others: Sequence[Factor],
    labels: Labels,
    tables: Mapping[str, Table],
    acc: DType,
    notes: list[Note] | None,
) -> Factor:
    """Return the product of factors, summed over jagged labels and those that nobody else has.

    In three steps: all factors become arrays over the same rows, so that their product is one of
    arrays; where rows are left that the result does not have, runs of them are added up; and what
    remains gets its modes back.
    """
    needed = set(labels) | {k for f in others for k in f.labels}
    head, depth, rows = _common_rows(members, needed, tables)
    dense = tuple([over(factor, head, rows) for factor in members])
    extents = {k: n for factor in dense for k, n in _extents(factor).items()}
    sides = tuple([k for k in extents if k != ROWS and k in needed])
    product = XLabelled((Term(dense),), acc, extents)
    node = Lowering(product, (ROWS, *sides), None, acc, notes).run()
    assert isinstance(node, Node), "there is no destination that BLAS could write"
    op = ANY if acc == bool_ else SUM
    if depth == 0:
        return Indexed(build.reduce(op, node, (0,), False), sides)
    runs = build.segment_reduce(op, node, rows.offsets_leaf(depth))
    known = [
        tables.get(k, n if n is not None else 0)
        for k, n in zip(head[:depth], rows.modes, strict=False)
    ]
    return _with_modes(runs, (*head[:depth], *sides), [*known, *[extents[k] for k in sides]])


def _with_modes(node: Node, labels: Labels, extents: Sequence[Extent]) -> Factor:
    """Return elements over rows as a factor with these labels: a box, where none is jagged."""
    numbers = [n for n in extents if not isinstance(n, Table)]
    if len(numbers) == len(labels):
        return Indexed(build.reshape(node, numbers), labels)
    shape = _shape_of(labels, extents)
    return JaggedIndexed(build.reshape(node, rows_of(shape).shape), labels, shape)


def _common_rows(
    members: Sequence[Factor], needed: set[str], tables: Mapping[str, Table]
) -> tuple[Labels, int, Rows]:
    """Return labels of rows that all factors can be brought to, how many stay, and the rows.

    Those that are summed come last.
    """
    own = tuple(dict.fromkeys([k for factor in members for k in factor.labels]))
    wanted = {k for k in own if k in tables}
    while more := {k for label in wanted & set(tables) for k in tables[label].labels} - wanted:
        wanted |= more
    for part in sorted(parts_of(members), key=lambda p: -len(p.labels)):
        head = part.labels[: part.rows.head]
        depth = next((d for d, k in enumerate(head) if k not in needed), len(head))
        if needed.isdisjoint(head[depth:]) and wanted <= set(head):
            return head, depth, part.rows
    # Every factor has a label after those it depends on, so this order is in order.
    kept = [k for k in own if k in wanted and k in needed]
    head = (*kept, *[k for k in own if k in wanted and k not in needed])
    sizes = {k: n for p in parts_of(members) for k, n in p.extents.items()}
    return head, len(kept), rows_with(_shape_of(head, [sizes[k] for k in head]), len(head))


# --- one factor over given rows ----------------------------------------------------------------


def over(factor: Factor, head: Labels, rows: Rows | None) -> Indexed | Group:
    """Return a factor with `ROWS` for labels of rows, whichever of them it has.

    Parameters
    ----------
    factor : JaggedIndexed, Indexed or Group
        Its jagged labels are all among ``head``.
    head : tuple of str
        Labels of the rows; without any, factors are boxes and become arrays.
    rows : Rows or None
        Whose head these labels are; None if there are none.
    """
    if isinstance(factor, Group):
        return _inside(factor, lambda inner: over(inner, head, rows))
    if isinstance(factor, JaggedIndexed) and None not in factor.rows.modes:
        box = [n for n in factor.rows.modes if n is not None]
        factor = Indexed(build.reshape(factor.node, box), factor.labels)
    rest = tuple([k for k in factor.labels if k not in head])
    if rows is None or len(rest) == len(factor.labels):
        assert isinstance(factor, Indexed), "jagged labels are among those of the rows"
        return factor
    node = _gathered(factor, head, rest, rows)
    return Indexed(node, (ROWS, *rest))


def _gathered(factor: JaggedIndexed | Indexed, head: Labels, rest: Labels, rows: Rows) -> Node:
    """Return a factor's elements for each row, and along the labels that rows do not run over."""
    own = [k for k in head if k in factor.labels]
    if isinstance(factor, Indexed):
        node = aligned(factor, (*own, *rest))
        sides = dict(zip((*own, *rest), node.shape, strict=True))
        extents = tuple([sides[k] if k in own else 1 for k in head])
        flat = build.reshape(node, (math.prod(extents), *node.shape[len(own) :]))
        return build.gather(flat, 0, rows.places_leaf(extents))
    depth, known = len(own), factor.extents
    if factor.labels[:depth] == head[:depth]:
        nodes = int(rows.children[depth - 1][-1])
        shape = (nodes, *[_number(known[k]) for k in rest])
        flat = build.reshape(factor.node, shape)
        return flat if depth == rows.head else build.gather(flat, 0, rows.nodes_leaf(depth))
    space = factor.shape._space()
    shape = (rows.count, *[_number(known[k]) for k in rest])
    places = np.zeros(shape, np.int64)
    if places.size:  # then the factor has elements
        at = _coordinates(factor.labels, head, rows, shape)
        places = np.broadcast_to(_located(space, at)[0], shape)
    flat = build.reshape(factor.node, (space.size,))
    return build.gather(flat, 0, index_leaf(places, space.size))


def _number(extent: Extent) -> int:
    assert not isinstance(extent, Table), "jagged labels are among those of the rows"
    return extent


def _coordinates(labels: Labels, head: Labels, rows: Rows, shape: tuple[int, ...]) -> list[Any]:
    """Return an index for each label, along rows or along the dimensions that follow them."""
    rest = [k for k in labels if k not in head]
    found: list[Any] = []
    for label in labels:
        along = 0 if label in head else 1 + rest.index(label)
        values = np.arange(shape[along]) if along else rows.positions(head.index(label))
        found.append(values.reshape([-1 if k == along else 1 for k in range(len(shape))]))
    return found


def _located(space: Ragged, at: Sequence[Any]) -> tuple[Any, Any]:
    """Return the place of the element at each index, and whether there is one; 0 if not.

    The space must have elements.
    """
    node: Any = 0
    place: Any = 0
    inside: Any = np.bool_(True)
    for counts, children, index in zip(
        space.counts, space.child_offsets, at[: space.outer], strict=True
    ):
        inside = inside & (index < counts[node])
        node = np.where(inside, children[node] + index, 0)
    for column, index in zip(space.extents, at[space.outer :], strict=True):
        inside = inside & (index < column[node])
        place = place * column[node] + index
    return np.where(inside, place + space.slice_offsets[node], 0), inside
