"""Labels: ``r["i,k"] = s["i,j"] * t["j,k"]`` for shapes.

Indexing a shape with a text of labels gives an `IndexedShape`.  Sums, differences and products
of those are worked out at once, label by label; nothing but integers is touched.

- **Labels.** One per mode, separated by commas, each a Python identifier.  ``""`` labels a
  scalar.  A label that names two modes of one operand is refused: traces are not defined.
- **Equal labels mean equal extents**, on whichever side and in whatever position.
- **Sums and differences** join terms; every term must have all the labels of the result.
- **Products** have the labels of both factors: one in both operands is elementwise if the
  result keeps it and contracted if not.
- **Results.** Labels of the result may stand in any order; labels that it leaves out are summed.
- **Jagged extents** are functions of other labels.  The result must keep what they depend on,
  further left.  A jagged label that is jagged in the same way in both factors, but by different
  labels (rows ``i`` of one, rows ``k`` of the other), can only be summed: elements that a shorter
  row does not have count as zeros.
- **Layers.** Where operands are nested, all are, with the same number of layers.  Terms of a sum
  must have each label in the same layer.  In a product a label belongs to the outermost of the
  layers it has in the factors: where they agree that is the layering of the left operand, and it
  never depends on the order of the factors.  Layers that lose all their labels stay.
- **Origins** follow their labels, taken from the leftmost operand that has them; origins that
  differ from slice to slice are kept only where one operand's labels are assigned in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

from .._errors import ShapeError
from .._records import record
from .tables import Extent, Table, extent_text, same_extent


def parse_labels(text: object, operation: str = "labels") -> tuple[str, ...]:
    """Return the labels in a text such as ``"i,j,k"``.

    Parameters
    ----------
    text : str
        Identifiers separated by commas; spaces around them do not matter.
    operation : str, optional
        Named in messages.

    Raises
    ------
    ShapeError
        For anything but a text, an empty or malformed label, or one that occurs twice.

    Examples
    --------
    >>> parse_labels("i, j,mu")
    ('i', 'j', 'mu')
    """
    if not isinstance(text, str):
        raise ShapeError(
            f"{operation}: labels are a text such as 'i,j', got {text!r}; "
            "integers go to slice() and chip()"
        )
    labels = tuple([part.strip() for part in text.split(",")]) if text.strip() else ()
    for k, label in enumerate(labels):
        if not label.isidentifier():
            raise ShapeError(f"{operation}: label {k} of {text!r} is {label!r}, not an identifier")
        if label in labels[:k]:
            raise ShapeError(
                f"{operation}: label {label!r} stands for modes {labels.index(label)} and {k} of "
                f"{text!r}; repeated labels (a trace) are not defined"
            )
    return labels


@record(frozen=True, slots=True)
class Mode:
    """What a term knows about one of its labels.

    Attributes
    ----------
    extents : tuple of (int or Table)
        Its extent; several tables where it is jagged by different labels in different factors,
        so that it can only be summed.
    origin : int
        Where its indices start.
    layer : int
        Layer of the nested shapes it belongs to; 0 where nothing is nested.
    """

    extents: tuple[Extent, ...]
    origin: int = 0
    layer: int = 0

    def text(self) -> str:
        """Return the extents as messages show them."""
        return " or ".join([extent_text(extent) for extent in self.extents])


Term = dict[str, Mode]


class Operand(Protocol):
    """What expressions need to know about the classes of shapes."""

    #: The result of an expression has the most general kind of its operands.
    _generality: ClassVar[int]

    def copy(self) -> Operand:
        """Return an equal shape of its own."""

    @classmethod
    def _of_modes(cls, labels: Sequence[str], modes: Sequence[Mode]) -> Operand:
        """Return the shape with the given modes."""


class IndexedShape:
    """A shape whose modes have labels, or a sum or product of such shapes.

    Made by indexing a shape with a text; ``+``, ``-`` and ``*`` combine it with others, and
    assigning it to an indexed shape, or `as_shape`, gives the resulting shape.

    Attributes
    ----------
    labels : tuple of str
        Every label of the expression, in the order in which they first occur.

    Examples
    --------
    >>> import xarraylite as xl
    >>> s = xl.Shape(10, 20, 30)
    >>> s["i,j,k"] * s["l,j,k"]
    IndexedShape(i=10, j=20, k=30, l=10)
    >>> (s["i,j,k"] * s["l,j,k"]).as_shape("i,l")
    Shape(10, 10)
    """

    __slots__ = ("_kind", "_layers", "_source", "_terms", "_wrap")

    def __init__(
        self,
        terms: tuple[Term, ...],
        kind: type[Operand],
        *,
        layers: int = 0,
        wrap: Callable[[tuple[int, ...], Any], Any] | None = None,
        source: Operand | None = None,
    ) -> None:
        self._terms = terms
        self._kind = kind
        self._layers = layers
        self._wrap = wrap
        self._source = source  # what an assignment without permutation copies, origins and all

    @property
    def labels(self) -> tuple[str, ...]:
        """Every label of the expression, in the order in which they first occur."""
        return tuple(dict.fromkeys([label for term in self._terms for label in term]))

    def __repr__(self) -> str:
        modes = {label: mode for term in self._terms for label, mode in term.items()}
        return f"IndexedShape({', '.join([f'{k}={modes[k].text()}' for k in self.labels])})"

    def __add__(self, other: IndexedShape) -> IndexedShape:
        return self._sum(other, "+")

    def __sub__(self, other: IndexedShape) -> IndexedShape:
        return self._sum(other, "-")

    def __mul__(self, other: IndexedShape) -> IndexedShape:
        if not isinstance(other, IndexedShape):
            return NotImplemented
        terms = tuple([_product(a, b) for a in self._terms for b in other._terms])
        return self._join(other, terms, "*", None)

    def _sum(self, other: IndexedShape, sign: str) -> IndexedShape:
        if not isinstance(other, IndexedShape):
            return NotImplemented
        for left in self._terms:
            for right in other._terms:
                _check_sum(left, right, sign)
        return self._join(other, self._terms + other._terms, sign, self._source)

    def _join(
        self, other: IndexedShape, terms: tuple[Term, ...], sign: str, source: Operand | None
    ) -> IndexedShape:
        if (self._wrap is None) != (other._wrap is None) or self._layers != other._layers:
            raise ShapeError(
                f"{self!r} {sign} {other!r}: both operands must have the same number of layers, "
                f"got {_layers_text(self)} and {_layers_text(other)}"
            )
        kind = max(self._kind, other._kind, key=lambda k: k._generality)
        # Terms with the same labels have the same extents: one of them says it all.
        terms = tuple({frozenset(term): term for term in reversed(terms)}.values())[::-1]
        return IndexedShape(terms, kind, layers=self._layers, wrap=self._wrap, source=source)

    def as_shape(self, labels: str) -> Any:
        """Return the shape of the expression with the given labels.

        Parameters
        ----------
        labels : str
            Labels of the result, in its order of modes; labels that are left out are summed.

        Returns
        -------
        Shape, JaggedShape or Nested
            The most general of the operands' kinds: with a jagged operand the result is a
            `JaggedShape` even where it is smooth.

        Raises
        ------
        ShapeError
            For a label that a term does not have, and for jagged labels that stand before, or
            without, the labels on which their extents depend.

        Examples
        --------
        >>> import xarraylite as xl
        >>> rows = xl.JaggedShape([xl.Shape(10), xl.Shape(20)])
        >>> (rows["i,j"] * rows["i,k"]).as_shape("i,j,k")
        JaggedShape([Shape(10, 10), Shape(20, 20)])
        """
        target = parse_labels(labels, "result")
        modes, *_ = [_project(term, target, self) for term in self._terms]
        if self._source is not None and tuple(self._terms[0]) == target:
            result = self._source.copy()
        else:
            result = self._kind._of_modes(target, modes)
        if self._wrap is None:
            return result
        layers = [mode.layer for mode in modes]
        if layers != sorted(layers):
            shown = ", ".join([f"{k}: {layer}" for k, layer in zip(target, layers, strict=True)])
            raise ShapeError(
                f"labels {labels!r}: layers are filled from left to right, so labels of an outer "
                f"layer come first; the layers are {shown}"
            )
        counts = tuple([layers.count(layer) for layer in range(self._layers)])
        return self._wrap(counts, result)


def _layers_text(item: IndexedShape) -> str:
    return "no layers" if item._wrap is None else f"{item._layers} layers"


def _term_text(term: Term) -> str:
    return ", ".join([f"{label}={mode.text()}" for label, mode in term.items()]) or "a scalar"


def _mismatch(label: str, left: Term, right: Term, sign: str, why: str) -> ShapeError:
    return ShapeError(f"({_term_text(left)}) {sign} ({_term_text(right)}): label {label!r} {why}")


def _check_sum(left: Term, right: Term, sign: str) -> None:
    for label, mode in left.items():
        if label not in right:
            continue
        other = right[label]
        if len(mode.extents) != len(other.extents) or not all(
            [same_extent(a, b) for a, b in zip(mode.extents, other.extents, strict=True)]
        ):
            why = f"has extent {mode.text()} on the left and {other.text()} on the right"
            raise _mismatch(label, left, right, sign, why)
        if mode.layer != other.layer:
            why = (
                f"belongs to layer {mode.layer} on the left and to layer {other.layer} on the "
                "right, so the ranks of the layers differ"
            )
            raise _mismatch(label, left, right, sign, why)


def _product(left: Term, right: Term) -> Term:
    result = dict(left)
    for label, mode in right.items():
        if label not in left:
            result[label] = mode
            continue
        first = left[label]
        extents = list(first.extents)
        for extent in mode.extents:
            if not all([_can_contract(extent, known) for known in extents]):
                why = f"has extent {first.text()} on the left and {mode.text()} on the right"
                raise _mismatch(label, left, right, "*", why)
            if not any([same_extent(extent, known) for known in extents]):
                extents.append(extent)
        result[label] = Mode(tuple(extents), first.origin, min(first.layer, mode.layer))
    return result


def _can_contract(left: Extent, right: Extent) -> bool:
    if isinstance(left, Table) and isinstance(right, Table):
        return left.same_mode(right) or left.same_function(right)
    return same_extent(left, right)


def _project(term: Term, target: Iterable[str], whole: IndexedShape) -> list[Mode]:
    modes = []
    for label in target:
        if label not in term:
            raise ShapeError(
                f"labels {','.join(target)!r}: the result's label {label!r} is missing in the "
                f"term ({_term_text(term)}) of {whole!r}"
            )
        mode = term[label]
        if len(mode.extents) > 1:
            raise ShapeError(
                f"labels {','.join(target)!r}: label {label!r} is jagged by different labels "
                f"({mode.text()}), so it can only be summed"
            )
        modes.append(mode)
    return modes
