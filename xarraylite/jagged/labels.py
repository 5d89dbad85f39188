"""Labels of jagged arrays: ``R["i,j"] = J["i,j"] * w["i"]``, ``r["i"] = J["i,j"] * K["i,j"]``.

An `XJaggedLabelled` is a labelled expression with a jagged array among its operands.  Its operators
are those of `XLabelled`; what its labels mean is asked of the shapes themselves: every expression
carries the `IndexedShape` that the same operations make of its operands' shapes.  So the extents of
a result, and everything that is refused, are those of ``shapes/labels.py``, messages included:

* a label has one extent; a jagged label's is a table by other labels, so no dense operand has it;
* a jagged label stands after those it depends on, and they are summed only together with it;
* labels that are jagged by different labels are summed, or the product is refused.

`contraction` computes them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .._errors import ShapeError
from ..arrays.container import XContainer
from ..arrays.xarray import XArray
from ..assignment.assign import check_writable
from ..labels.assignment import assign_labelled, check_cast, computed, is_filled, let_go
from ..labels.labelled import Labels, Term, XLabelled, labels_for, require_labelled, result_labels
from ..labels.notes import Note
from ..operands.nodes import Evaluates
from ..shapes.jagged import JaggedShape
from ..shapes.labels import IndexedShape, Mode
from ..shapes.labels import Term as Modes
from ..shapes.shape import Shape
from ..shapes.tables import Table, extent_text, same_extent
from .contraction import JaggedIndexed, check_bytes, extents_of, flattened, parts_of
from .rows import Rows, leading, rows_of


class Extents(dict[str, int]):
    """Largest extent of each label, and the whole truth about them.

    Parameters
    ----------
    space : IndexedShape
        The labelled shape of an expression.
    """

    __slots__ = ("modes", "space")

    def __init__(self, space: IndexedShape) -> None:
        self.modes = {k: mode for term in space._terms for k, mode in term.items()}
        super().__init__({k: _largest(mode) for k, mode in self.modes.items()})
        self.space = space


class XJaggedLabelled(XLabelled, Evaluates):
    """Jagged arrays whose modes have labels, or sums and products of such and of dense arrays.

    Made by indexing an `XJagged` with a text.  Assign it to labels of a container or of a jagged
    array, or evaluate it with ``xl.eval(e, "i,j")``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.XJagged([[1.0, 2.0, 3.0], [], [4.0]])
    >>> w = xl.asarray([1.0, 10.0, 100.0])
    >>> a["i,j"] * w["i"]
    <XLabelled i=3, j=3|0|1 by i: float64, lazy>
    >>> xl.eval(a["i,j"] * w["i"], "i,j")
    XJagged([[1., 2., 3.], [], [400.]])
    >>> xl.eval(a["i,j"] * a["i,j"], "i")
    XArray([14.,  0., 16.])
    """

    __slots__ = ()

    #: The class of evaluated jagged arrays, which is defined later than this one.
    _container: ClassVar[Any]

    extents: Extents

    @classmethod
    def of_jagged(cls, array: Any, text: object) -> XJaggedLabelled:
        """Return a jagged array with the labels in ``text``, one for each mode.

        Raises
        ------
        ShapeError
            For labels that are malformed or repeated, or not one for each mode.
        """
        labels = labels_for(text, array.shape, array)
        part = JaggedIndexed(array.node, labels, array._shape)
        space = part.shape._space()
        origins = [space.common_origin(mode) for mode in range(space.rank)]
        modes = {k: Mode((n,), o) for (k, n), o in zip(part.extents.items(), origins, strict=True)}
        indexed = IndexedShape((modes,), JaggedShape, source=part.shape)
        term = Term((part,))  # type: ignore[arg-type]  # dense terms have none
        return cls((term,), array.dtype, Extents(indexed), array)

    @classmethod
    def _of(cls, value: XLabelled) -> XJaggedLabelled:
        """Return any labelled expression as one of jagged arrays."""
        if isinstance(value, XJaggedLabelled):
            return value
        terms: list[Modes] = []
        for term in value.terms:
            modes = {k: Mode((value.extents[k],)) for k in term.labels}
            if modes not in terms:
                terms.append(modes)
        space = IndexedShape(tuple(terms), Shape)
        return cls(value.terms, value.dtype, Extents(space), value.origin, value._updated)

    def _text(self) -> str:
        modes = self.extents.modes
        return ", ".join([f"{k}={mode.text()}" for k, mode in modes.items()]) or "a scalar"

    def _joined(self, other: XLabelled, sign: str) -> Extents:
        left, right = self.extents.space, self._of(other).extents.space
        combine = {"+": left.__add__, "-": left.__sub__, "*": left.__mul__}[sign]
        return Extents(combine(right))

    # --- results -------------------------------------------------------------------------------

    def shaped(self, labels: Labels) -> JaggedShape:
        """Return the index space of the result.

        Raises
        ------
        ShapeError
            For labels that some term does not have, and for jagged ones that stand before, or
            without, those on which their extents depend.
        """
        space = self.extents.space
        like = self._like(labels) if space._source is None else None
        if like is not None and all([k in term for term in space._terms for k in labels]):
            terms = tuple([{k: term[k] for k in labels} for term in space._terms])
            space = IndexedShape(terms, JaggedShape, source=like)
        shape = space.as_shape(",".join(labels))
        return shape if isinstance(shape, JaggedShape) else JaggedShape(shape)

    def _like(self, labels: Labels) -> JaggedShape | None:
        """Return the result's shape where it is that of an operand, but for smooth labels behind.

        Origins are the exception: those of slices do not survive sums and products.
        """
        for part in [part for term in self.terms for part in parts_of(term.factors)]:
            if any([origin is not None for origin in part.shape._space().origins]):
                continue
            if part.labels == labels:
                return part.shape
            head = part.rows.head
            sides = [self._side(k) for k in labels[head:]]
            if part.labels[:head] == labels[:head] and None not in sides:
                return leading(part.shape, head, tuple([n for n in sides if n is not None]))
        return None

    def _side(self, label: str) -> int | None:
        """Return the extent of a label, or None if it is jagged or there is none."""
        extents = self.extents.modes[label].extents if label in self.extents else ()
        return extents[0] if len(extents) == 1 and isinstance(extents[0], int) else None

    def check_result(self, labels: Labels, operation: str) -> None:
        """Refuse labels of a result that is no array.

        Raises
        ------
        ShapeError
            If the result is jagged, or as `shaped`.
        """
        if self.shaped(labels).jagged_modes:
            raise ShapeError(
                f"{operation}: of the labels {','.join(labels)!r} of {self!r} some are jagged; the "
                "result is a jagged array, not a dense one"
            )

    def dense(self, labels: Labels, notes: list[Note] | None = None) -> XLabelled:
        """Return the expression as one of arrays, for a result that is an array."""
        shape = JaggedShape(Shape([self.extents[k] for k in labels]))
        return flattened(self, labels, shape, notes)[0]

    def evaluated(self, text: object = None) -> Any:
        """Return the values in memory: what ``xl.eval`` makes of it.

        They are jagged if a label of the result is, or if its first two labels are the first two
        of a jagged operand.

        Raises
        ------
        ShapeError
            If there are no labels of the result, or as `shaped`.
        SizeError
            If the result exceeds the ``max_result_bytes`` setting.
        """
        labels = result_labels(text, self)
        shape = self.shaped(labels)
        check_bytes(shape, self.dtype, f"eval: a result of {','.join(labels)!r}")
        value, out = flattened(self, labels, shape)
        result = XArray._filled(computed(value, out, "eval"))
        pairs = [p.labels[:2] for term in self.terms for p in parts_of(term.factors)]
        if out == labels and not (len(labels) > 1 and labels[:2] in pairs):
            return result
        return self._container._own(result._reshaped(rows_of(shape).shape), shape)


def assign_jagged(destination: Any, text: str, value: object, held: bool, noalias: bool) -> None:
    """Perform ``destination[text] = value`` for an `XJagged`; see `assign_labelled`.

    Raises
    ------
    ShapeError, CastError, DTypeError, ReadOnlyError
        As `prepared`.
    """
    if is_filled(destination, text, value, held, noalias):
        return
    dense, out, target = prepared(destination, text, value)
    let_go(value, held, noalias, destination._array.buffer)
    assign_labelled(target, ",".join(out), dense, held, noalias)


def prepared(
    destination: Any, text: str, value: object, notes: list[Note] | None = None
) -> tuple[XLabelled, Labels, XContainer]:
    """Return what an assignment to a jagged array writes: an expression, its labels, and where.

    Parameters
    ----------
    destination : XJagged
        What is written.
    text : str
        One label per mode.
    value : XLabelled
        What is assigned.
    notes : list of Note, optional
        Given, nothing is run: what would be is noted here.

    Raises
    ------
    ShapeError, CastError, DTypeError
        As `assign_labelled`.
    ReadOnlyError
        If the memory cannot be written.
    """
    labelled = XJaggedLabelled._of(require_labelled(value))
    labels = labels_for(text, destination.shape, destination)
    shape = labelled.shaped(labels)
    _check_rows(destination.rows, shape, labels, labelled, destination)
    check_cast(labelled, destination, destination.dtype)
    check_writable(destination._array, "labelled assignment")
    dense, out = flattened(labelled, labels, shape, notes)
    target = destination._array._reshaped(tuple([dense.extents[k] for k in out]))
    assert isinstance(target, XContainer), "rows are contiguous"
    return dense, out, target


def _check_rows(
    rows: Rows, shape: JaggedShape, labels: Labels, value: XLabelled, destination: Any
) -> None:
    """Refuse a destination whose extents are not those of the result.

    Raises
    ------
    ShapeError
        Naming the label and both extents.
    """
    if rows.same(rows_of(shape)):
        return
    have, found = extents_of(destination._shape, labels), extents_of(shape, labels)
    for label in labels:
        if not same_extent(have[label], found[label]):
            raise ShapeError(
                f"labelled assignment to {destination.summary()}: label {label!r} has extent "
                f"{extent_text(have[label])} in the destination and {extent_text(found[label])} in "
                f"{value!r}; the destination never changes shape"
            )


def _largest(mode: Mode) -> int:
    extent = mode.extents[0]
    return int(extent.values.max(initial=0)) if isinstance(extent, Table) else extent
