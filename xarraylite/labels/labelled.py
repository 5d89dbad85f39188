"""Labelled expressions: ``C["i,k"] = A["i,j"] * B["j,k"]``.

Indexing an expression or a container with a text of labels gives an `XLabelled`.  Products, sums,
differences, negatives and multiples of those are again labelled: a sum of terms, each a product of
factors.  Nothing is computed, but every error is raised here, with labels and extents.

The rules are those of labelled shapes (``shapes/labels.py``): one label per dimension, none twice
in one operand; one extent per label, wherever it stands; every term has all labels of the result,
and the labels that the result leaves out are summed, in each term over those that it has.

**Products of sums** are products of every term with every other, which is what the rules say.  The
terms of a sum that are elementwise, and have the same labels, stay together: ``(A["i,j"] +
B["i,j"]) * C["j,k"]`` is one matrix product.

**One dtype.**  An expression has the dtype that the operators' rules give for all of it, operands
and numbers.  All operands are converted to it first, so nothing overflows in a narrower one; floats
of 16 bits or fewer are computed and added up in float32, and the result is rounded once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from .._config import is_too_large, settings
from .._errors import BoundsError, DTypeError, ShapeError, SizeError, StaleOperandError
from .._later import label_texts
from .._records import record
from ..assignment.assign import Described
from ..dtypes.names import DType, dtype_name
from ..dtypes.promotion import check_scalar
from ..ir.build import Operand
from ..ir.node import Node
from ..operands.nodes import as_operand, is_operand
from ..ops.op import Op
from ..ops.table import OPS

Labels = tuple[str, ...]

INT64_MAX = 2**63 - 1


class Indexed(NamedTuple):
    """An expression with one label per dimension.

    Attributes
    ----------
    node : Node
        The expression.
    labels : tuple of str
        Its labels.
    """

    node: Node
    labels: Labels


@record(frozen=True, slots=True, eq=False)
class Group:
    """Elementwise terms of the same labels, added up before anything is multiplied with them.

    Attributes
    ----------
    terms : tuple of Term
        Each has a factor with all the labels.
    labels : tuple of str
        Their labels.
    """

    terms: tuple[Term, ...]
    labels: Labels


class Term(NamedTuple):
    """A product of factors, multiplied and divided by numbers.

    Attributes
    ----------
    factors : tuple of Indexed or Group
        At least one.
    scales : tuple of (Op, operand)
        Multiplications and divisions by numbers and arrays of rank 0, in their order.
    negative : bool
        Whether it is subtracted.
    """

    factors: tuple[Indexed | Group, ...]
    scales: tuple[tuple[Op, Operand], ...] = ()
    negative: bool = False

    @property
    def labels(self) -> Labels:
        """Labels of all factors, in the order in which they first occur."""
        return tuple(dict.fromkeys([k for factor in self.factors for k in factor.labels]))


def _in_place(operation: Callable[[Any, Any], Any]) -> Callable[[XLabelled, object], XLabelled]:
    """Return an in-place operator's method."""

    def method(self: XLabelled, other: object) -> XLabelled:
        made: XLabelled = operation(self, other)
        return type(made)(made._terms, made.dtype, made.extents, None, self.origin)

    method.__doc__ = f"Return the {operation.__name__}, assigned then by the in-place rule."
    return method


class XLabelled:
    """Arrays whose dimensions have labels, or sums and products of such.

    Made by indexing an expression or a container with a text.  Assign it to a labelled container,
    ``C["i,k"] = e``, or evaluate it with ``xl.eval(e, "i,k")``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a, b = xl.asarray([[1.0, 2.0], [3.0, 4.0]]), xl.asarray([1.0, 10.0])
    >>> e = a["i,j"] * b["j"]
    >>> e
    <XLabelled i=2, j=2: float64, lazy>
    >>> xl.eval(e, "i")
    XArray([21., 43.])
    >>> xl.eval(2 * e - a["i,j"], "j,i")
    XArray([[ 1.,  3.],
            [38., 76.]])
    """

    __slots__ = {
        "dtype": "Dtype of the result.",
        "extents": "Extent of each label, a dict.",
        "origin": "The container it indexes, or None.",
        "_terms": "What is added up.",
        "_updated": "The container that an in-place operator writes, or None.",
    }

    #: NumPy's operators leave mixed expressions to us.
    __array_ufunc__ = None

    #: It goes on meaning the values that memory had.
    lasting = True

    def __init__(
        self,
        terms: tuple[Term, ...],
        dtype: DType,
        extents: dict[str, int],
        origin: object = None,
        updated: object = None,
    ) -> None:
        self._terms = terms
        self.dtype = dtype
        self.extents = extents
        self.origin = origin
        self._updated = updated

    @classmethod
    def of(cls, node: Node, text: str, origin: Described) -> XLabelled:
        """Return ``node`` with the labels in ``text``."""
        labels = labels_for(text, node.shape, origin)
        extents = dict(zip(labels, node.shape, strict=True))
        return cls((Term((Indexed(node, labels),)),), node.dtype, extents, origin)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of the sum.

        Raises
        ------
        StaleOperandError
            If an assignment used them up.
        """
        if not self._terms:
            raise StaleOperandError(
                f"{self!r} cannot be evaluated again: an assignment to its own operand has "
                "consumed it"
            )
        return self._terms

    @property
    def labels(self) -> Labels:
        """Every label of the expression, in the order in which they first occur."""
        return tuple(self.extents)

    def is_update_of(self, container: object) -> bool:
        """Tell whether it came from an in-place operator on this container's labels."""
        return self._updated is getattr(container, "_whose", container)

    def check_result(self, labels: Labels, operation: str) -> None:
        """Refuse labels of a dense result that some term does not have.

        Raises
        ------
        ShapeError
            Naming the label and the term.
        """
        for term in self.terms:
            own = term.labels
            for label in labels:
                if label not in own:
                    known = extents_text({k: self.extents[k] for k in own})
                    raise ShapeError(
                        f"{operation}: the result's label {label!r} of {','.join(labels)!r} is "
                        f"missing in the term ({known}) of {self!r}"
                    )

    def dense(self, labels: Labels, notes: list[Any] | None = None) -> XLabelled:
        """Return the expression itself; jagged operands become arrays of these labels here."""
        return self

    def release(self) -> None:
        """Let go of all operands: nobody but the assignment that uses them up has the handle."""
        self._terms = ()
        self.origin = self._updated = None

    def __repr__(self) -> str:
        """Describe the expression; never computes it."""
        return f"<XLabelled {self._text()}: {dtype_name(self.dtype)}, lazy>"

    def _text(self) -> str:
        return extents_text(self.extents)

    def __array__(self, dtype: DType | None = None, copy: bool | None = None) -> Any:
        """Refuse: which labels are summed, and the order of the others, is not known.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError(
            f"{self!r} is no array yet; evaluate it with xl.eval and the labels of the result"
        )

    def __bool__(self) -> bool:
        """Refuse: a labelled expression has no truth value."""
        raise TypeError(f"bool: {self!r} has no truth value; evaluate it with xl.eval first")

    def __reduce__(self) -> Any:
        """Refuse: which labels of a labelled expression are summed is said by what it is part of.

        Raises
        ------
        TypeError
            Always; what `xl.eval` makes of it pickles.
        """
        raise TypeError(
            f"pickle: {self!r} has no values of its own; evaluate it with xl.eval first"
        )

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        """Refuse: labelled expressions are not compared."""
        raise TypeError("labelled expressions are not compared; evaluate them with xl.eval first")

    # --- operators -----------------------------------------------------------------------------

    def __mul__(self, other: object) -> XLabelled:
        """Return the product, lazily: by labels, or by a number."""
        if isinstance(other, XLabelled):
            return self._product(other)
        return self._scaled("multiply", other) if is_operand(other) else NotImplemented

    def __truediv__(self, other: object) -> XLabelled:
        """Return the quotient by a number, lazily."""
        return self._scaled("divide", other) if is_operand(other) else NotImplemented

    def __add__(self, other: object) -> Any:
        """Return the sum, lazily."""
        return self._sum(other, "add", "+", False)

    def __sub__(self, other: object) -> Any:
        """Return the difference, lazily."""
        return self._sum(other, "subtract", "-", True)

    #: What stands on the left is a number, or refused.
    __radd__, __rsub__, __rmul__ = __add__, __sub__, __mul__

    def __neg__(self) -> XLabelled:
        """Return the negative, lazily."""
        dtype = _result_dtype("negative", self.dtype)
        return type(self)(_negated(self.terms), dtype, self.extents)

    def __pos__(self) -> XLabelled:
        """Return the expression itself."""
        return self

    __iadd__ = _in_place(operator.add)
    __isub__ = _in_place(operator.sub)
    __imul__ = _in_place(operator.mul)
    __itruediv__ = _in_place(operator.truediv)

    @classmethod
    def _of(cls, value: XLabelled) -> XLabelled:
        """Return any labelled expression as one of this class."""
        return value

    def _alike(self, other: XLabelled) -> tuple[XLabelled, XLabelled]:
        """Return two operands as expressions of one class: jagged ones, if one of them is."""
        if type(self) is type(other):
            return self, other
        kind = type(other) if isinstance(other, type(self)) else type(self)
        return kind._of(self), kind._of(other)

    def _product(self, other: XLabelled) -> XLabelled:
        left, right = self._alike(other)
        extents = left._joined(right, "*")
        dtype = _result_dtype("multiply", left.dtype, right.dtype)
        terms = tuple(
            [
                Term(a.factors + b.factors, a.scales + b.scales, a.negative != b.negative)
                for a in _grouped(left.terms)
                for b in _grouped(right.terms)
            ]
        )
        return type(left)(terms, dtype, extents)

    def _sum(self, other: object, name: str, sign: str, negative: bool) -> Any:
        if not isinstance(other, XLabelled):
            if is_operand(other):
                raise ShapeError(
                    f"({self._text()}) {sign} {_describe(other)}: every term of a sum has labels; "
                    'index the array with a text such as "i,j"'
                )
            return NotImplemented
        left, right = self._alike(other)
        extents = left._joined(right, sign)
        dtype = _result_dtype(name, left.dtype, right.dtype)
        terms = _negated(right.terms) if negative else right.terms
        return type(left)(left.terms + terms, dtype, extents)

    def _scaled(self, name: str, other: object) -> XLabelled:
        operand = as_operand(other, name)
        if isinstance(operand, Node) and operand.shape:
            raise ShapeError(
                f"{name}(({self._text()}), {_describe(other)}): only numbers scale a labelled "
                'expression; index the array with a text such as "i,j"'
            )
        op = OPS[name]
        kind: Any = operand.dtype if isinstance(operand, Node) else type(operand)
        dtype = _result_dtype(name, self.dtype, kind)
        check_scalar(operand, dtype)
        terms = tuple([Term(t.factors, (*t.scales, (op, operand)), t.negative) for t in self.terms])
        return type(self)(terms, dtype, self.extents)

    def _joined(self, other: XLabelled, sign: str) -> dict[str, int]:
        """Return the extents of both, which must agree."""
        for label, extent in other.extents.items():
            known = self.extents.get(label, extent)
            if known != extent:
                raise ShapeError(
                    f"({self._text()}) {sign} ({other._text()}): label {label!r} has extent "
                    f"{known} on the left and {extent} on the right"
                )
        return self.extents | other.extents


def labels_for(text: object, shape: tuple[int, ...], array: Described) -> Labels:
    """Return the labels of an array, one per dimension.

    Raises
    ------
    ShapeError
        For malformed or repeated labels.
    BoundsError
        For any other number of them: an IndexError, as for other indices that do not fit.
    """
    try:
        labels = _parsed(text)
    except (ShapeError, TypeError):
        labels = label_texts.parse_labels(text, f"labels of {array.summary()}")
    if len(labels) != len(shape):
        raise BoundsError(
            f"labels of {array.summary()}: {text!r} has {len(labels)} labels, the array has "
            f"{len(shape)} dimensions; there is one label per dimension"
        )
    return labels


@lru_cache(maxsize=1024)
def _parsed(text: object) -> Labels:
    """Return the labels in a text."""
    return label_texts.parse_labels(text, "labels")


def result_labels(text: object, value: XLabelled) -> Labels:
    """Return the labels of a result that `eval` is given, which every term must have.

    Raises
    ------
    ShapeError
        For none, for malformed or repeated labels, and for those that a term does not have.
    """
    if text is None:
        example = ",".join(value.labels)
        raise ShapeError(f"eval: {value!r} needs the labels of the result, such as {example!r}")
    try:
        return _parsed(text)
    except (ShapeError, TypeError):
        return label_texts.parse_labels(text, "eval")  # which names the operation


def check_destination(
    labels: Labels, shape: tuple[int, ...], value: XLabelled, array: Described
) -> None:
    """Refuse a destination whose extents are not those of the result.

    Raises
    ------
    ShapeError
        Naming the label and both extents.
    """
    for label, extent in zip(labels, shape, strict=True):
        if value.extents[label] != extent:
            raise ShapeError(
                f"labelled assignment to {array.summary()}: label {label!r} has extent {extent} "
                f"in the destination and {value.extents[label]} in {value!r}; the destination "
                "never changes shape"
            )


def check_size(labels: Labels, extents: Mapping[str, int], dtype: DType, operation: str) -> None:
    """Refuse a result that may not be allocated, before any operand is copied for it.

    Raises
    ------
    SizeError
        Naming the labels and their extents.
    """
    nbytes = dtype.itemsize
    for label in labels:
        nbytes *= extents[label]  # Python integers: exact
    if is_too_large(nbytes) or nbytes > INT64_MAX:
        limit = min(settings.max_result_bytes, INT64_MAX)
        shown = extents_text({label: extents[label] for label in labels})
        raise SizeError(
            f"{operation}: a result of ({shown}) in {dtype_name(dtype)} needs {nbytes} bytes; the "
            f"limit is {limit} (setting max_result_bytes)"
        )


def extents_text(extents: Mapping[str, int]) -> str:
    """Return labels and extents as messages show them."""
    return ", ".join([f"{label}={extent}" for label, extent in extents.items()]) or "a scalar"


def _grouped(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    """Return the terms of a sum as one where they are elementwise and have the same labels."""
    if len(terms) == 1:
        return terms
    labels = terms[0].labels
    wanted = set(labels)
    for term in terms:
        if set(term.labels) != wanted or not any(
            [len(factor.labels) == len(wanted) for factor in term.factors]
        ):
            return terms
    return (Term((Group(terms, labels),)),)


def _negated(terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple([Term(t.factors, t.scales, not t.negative) for t in terms])


@lru_cache(maxsize=1024, typed=True)  # a dtype equals the type it stands for
def _result_dtype(name: str, *kinds: Any) -> DType:
    """Return the dtype of an operation's result."""
    return OPS[name].rule(name, kinds)[1]


def _describe(value: object) -> str:
    shape = getattr(value, "shape", None)
    return f"{type(value).__name__}{'' if shape is None else list(shape)}"


def require_labelled(value: object) -> XLabelled:
    """Return what is assigned by labels if it is labelled itself.

    Raises
    ------
    DTypeError
        If it is anything else.
    """
    if not isinstance(value, XLabelled):
        raise DTypeError(
            f"labelled assignment: got {_describe(value)} without labels; index an array with a "
            'text such as "i,j", or assign without labels'
        )
    return value
