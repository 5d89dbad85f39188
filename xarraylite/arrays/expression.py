"""The lazy handle: what an operator or function returns.

`XExpression` is a kind, a shape and operands, of which a node is made when one is asked for.  It
has the array object interface of the standard, so it can stand wherever an array is expected;
nothing is computed until it is assigned, evaluated with `xl.eval`, or asked for a Python value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, SupportsIndex, overload

import numpy as np

from .._errors import DTypeError, NotWritableError
from .._later import labelled, matmul
from ..assignment import elements, totals
from ..assignment.assign import check_cast, check_update
from ..assignment.inplace import InPlace
from ..dtypes.names import NumpyArray, as_dtype, dtype_name, int64
from ..index import transform as steps
from ..index.indices import parse_index
from ..ir import build
from ..ir.kind import NODE, Kind, Operands
from ..ir.node import Node
from ..ir.translation import node_of
from ..ir.translation import of as kind_of
from ..memory.snapshots import ALONE, Snapshot
from ..operands import learning as learned
from ..operands import tracing
from ..operands.convert import layout_named
from ..operands.gathers import gather, is_index_array
from ..operands.learning import key_of
from ..operands.nodes import Gathers, HasNode, Lifted, as_node, as_operand, is_operand, unwrapped
from ..operands.non_numeric import as_other, call_numpy
from ..operands.operators import Operators, by_operator, with_matmul
from ..operands.representation import class_of, html
from ..ops.op import Op
from ..ops.reductions import Reduction
from . import ownership
from .advanced_indexing import is_advanced, of_copy, selected, traced, with_ints
from .array_object import ArrayObject
from .numpy_interface import Described

_new = object.__new__


def apply(op: Op, *operands: object) -> XExpression:
    """Return the lazy application of ``op`` to whatever may stand in an expression."""
    for operand in operands:
        if isinstance(operand, Lifted):
            return operand.lift(op, operands)  # type: ignore[no-any-return]
        if operand.__class__ in elements.COPIED:
            own = elements.container_of(XExpression._container, operand)
            if own is not operand:  # once more, perhaps in machine code
                return apply(op, *[own if x is operand else x for x in operands])
    operands = tuple([used(x) for x in operands])
    if len(operands) == 1:
        return operation_or_numpys((op, None), op, *operands)
    if len(operands) == 2:
        left, right = operands
        forward = isinstance(left, XExpression)
        key = (op, key_of(right)) if forward else (op.reflected, key_of(left))
        return operation_or_numpys(key, op, left, right)
    first, second, third = operands
    keys = learned.key_beside(first, second), learned.key_beside(first, third)
    found = learned.three(op, keys, operands)
    return new_operation((op, *keys), op, *operands) if found is None else handle(*found)


def used(x: object) -> Any:
    """Return what stands behind an operand of which no view is made."""
    return ownership.used(XExpression, x)


def handle(kind: Kind, shape: tuple[int, ...], operands: Operands) -> XExpression:
    """Return the expression of a kind, over operands."""
    made = _new(XExpression)
    made._kind, made._shape, made._operands = kind, shape, operands
    if not shape:
        totals.note(made)
    return made


def new_operation(key: tuple[object, ...], op: Op, *operands: object) -> XExpression:
    """Return an operation that has not been written before, or whose operands have no kind.

    The first operand's kind, or the only one there is, learns where it leads.
    """
    settled = [ownership.shortened(x.settled() if isinstance(x, Gathers) else x) for x in operands]
    if any([x is not y for x, y in zip(settled, operands, strict=True)]):
        return apply(op, *settled)
    known = learned.stretched(op, *operands) if len(operands) == 2 else None
    if known is not None:
        return handle(*known)
    if (power := learned.power_of_form(op, operands, apply)) is not None:
        return power  # type: ignore[no-any-return]
    if learned.is_square_of_bools(op, operands):
        return apply(op, converted(operands[0], int64), operands[1])  # type: ignore[arg-type]
    node = build.elementwise(op, *[as_operand(x, op.name) for x in operands])
    if any([isinstance(x, XExpression) and x._kind is NODE for x in operands]):
        return XExpression._of(node)
    formed = learned.of_forms(node, op, operands)
    made = XExpression(node) if formed is None else handle(*formed)
    if made._kind is NODE:
        return XExpression._of(learned.shared(node, operands))
    learned.learn(key, op, operands, made)
    lazy = [x._operands for x in operands if x.__class__ is XExpression]
    if len(lazy) == len(operands) and sum(map(len, lazy)) == made._kind.items:
        made._operands = sum(lazy, ())  # the same objects, by which equal parts are known
    return made


def operation(key: tuple[object, object], op: Op, *operands: object) -> XExpression:
    """Return an operation whose kind may be known, though a snapshot has yet to be made."""
    found = learned.operation(key, operands)
    return new_operation(key, op, *operands) if found is None else handle(*found)


def operation_or_numpys(key: tuple[object, object], op: Op, *operands: object) -> XExpression:
    """Return an operation, or what stands for it where NumPy alone can do it."""
    try:
        return operation(key, op, *operands)
    except DTypeError:
        return call_numpy(op.name, operands, {})  # type: ignore[no-any-return]


def folded(op: Reduction, x: object) -> XExpression | None:
    """Return the fold over all dimensions of an expression like one that was folded before."""
    found = learned.fold(op, ownership.used(XExpression, x, ownership.standing))
    if found is not None and x.__class__ is XExpression:
        ownership.note_use(x)
    return None if found is None else handle(*found)


def converted(x: XExpression, dtype: np.dtype[Any]) -> XExpression:
    """Return elements converted to another dtype, lazily."""
    own = ownership.memory(x)
    x = x if own is None else own._still()
    known = learned.conversion(x, dtype)
    made = XExpression(build.cast(x.node, dtype)) if known is None else handle(*known)
    if known is None:
        learned.learn_conversion(x, dtype, made)
    return made


def _binary(op: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an operator's method and its reflected method."""

    def forward(self: XExpression, other: Any) -> Any:
        if not is_operand(other):
            return by_operator(op, used(self), other)
        asked: Any = getattr(other, "_asked_first", False)
        if asked and op in asked and not isinstance(self, type(other)):
            return NotImplemented
        return apply(op, self, other)

    def reflected(self: XExpression, other: Any) -> Any:
        return apply(op, other, self) if is_operand(other) else by_operator(op, other, used(self))

    return forward, reflected


def _unary(op: Op) -> Callable[..., Any]:
    """Return an operator's method."""
    return lambda self: operation_or_numpys((op, None), op, used(self))


class XExpression(
    Described, HasNode, ArrayObject, InPlace, Operators, binary=_binary, unary=_unary
):
    """A lazy array: a shape, a dtype, and how to compute the elements.

    Parameters
    ----------
    node : Node
        The expression.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1.0, 2.0, 3.0])
    >>> e = a * 2 + 1
    >>> e.shape, str(e.dtype)
    ((3,), 'float64')
    >>> xl.eval(e)
    XArray([3., 5., 7.])
    """

    __slots__ = ("_kind", "_node", "_operands", "_owning", "_shape", "_used")

    _is_value = ownership.is_value

    #: The class of evaluated results, which is defined later than this one.
    _container: ClassVar[Any]

    _kind: Kind
    _node: Node | None
    _operands: Operands
    _shape: tuple[int, ...]
    _used: Any

    def __init__(self, node: Node) -> None:
        # While a function is traced, leaves are known by their identity, which kinds do not keep.
        known = None if tracing.running.value else kind_of(node)
        self._shape = node.shape
        if known is None:
            self._kind, self._operands, self._node = NODE, (), node
        else:
            self._kind, self._operands = known
            if not self._shape:
                totals.note(self)

    @classmethod
    def _of(cls, node: Node) -> XExpression:
        """Return the handle of a node that has no kind."""
        made = _new(XExpression)
        made._kind, made._shape, made._operands, made._node = NODE, node.shape, (), node
        return made

    @property
    def node(self) -> Node:
        """The expression as immutable nodes."""
        kind = self._kind
        if kind is not NODE:
            return node_of(kind, self._shape, self._operands)
        node = self._node
        return ownership.memory(self).node if node is None else node

    def references(self, snapshot: Snapshot) -> int:
        """Count what the handle itself, without its node, holds of a snapshot.

        None if another handle has these operands too, as ``-e`` has those of ``e``.
        """
        return 0 if sys.getrefcount(self._operands) > ALONE else self._operands.count(snapshot)

    def now(self) -> Operands:
        """Return the operands of the handle's kind."""
        return self._operands

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the result."""
        kind = self._kind
        if kind is not NODE:
            return kind.dtype
        own: XExpression | None = ownership.memory(self)
        return self.node.dtype if own is None else own.dtype

    # --- views --------------------------------------------------------------------------------

    def _view(self, step: steps.Transform) -> XExpression:
        own: XExpression | None = ownership.memory(self)
        if own is not None:
            return own._view(step)
        of = ownership.to_view(self, step.shape)
        found = learned.view(of, step)
        made = XExpression(build.view(of.node, step)) if found is None else handle(*found)
        viewed: XExpression = ownership.related(self, made, step)
        return viewed

    def _one(self) -> Any:
        """Return the only element, computed."""
        return self._container(self)._one()

    def _evaluated(self) -> Any:
        """Return a container of the values where no engine has to compute them, else None."""
        return None

    def _as_numpy(self) -> NumpyArray:
        return self.numpy()

    def _element(self) -> Any:
        """Return the only element of a view as a value; while a function is traced, the view."""
        return self if tracing.is_active() else self._one()

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        own: XExpression | None = ownership.memory(self)
        if own is not None:
            return own._reshaped(shape)
        made = XExpression(build.reshape(ownership.to_view(self, shape).node, shape))
        viewed: XExpression = ownership.related(self, made, shape)
        return viewed

    @overload
    def __getitem__(self, key: str) -> labelled.XLabelled: ...

    @overload
    def __getitem__(self, key: Any) -> Any: ...

    def __getitem__(self, key: Any) -> Any:
        """Return the elements that ``key`` selects, lazily; a text gives dimensions labels.

        Raises
        ------
        IndexRangeError
            For an index out of range or of an unsupported kind.
        ShapeError
            For labels that are malformed, or not one per dimension.
        """
        if isinstance(key, str):
            return labelled.XLabelled.of(self.node, key, self)
        if (ints := with_ints(key)) is not key:
            return self[ints]
        own = ownership.indexed(self, key) if type(self) is XExpression else None
        if own is not None:
            return own[key]
        if is_advanced(key):
            return XExpression(traced(self, key)) if tracing.is_active() else selected(self, key)
        made = of_copy(self, key)
        if made is not None:
            return made
        selection = parse_index(key, self.shape, is_index_array)
        viewed = self._view(selection.transform)
        if selection.element:  # or ``x[()]`` of rank 0, which stays an array
            return viewed._element() if self.shape else XExpression(self.node)
        return viewed if selection.take is None else XExpression(gather(viewed.node, selection))

    def __setitem__(self, key: Any, value: object) -> None:
        """Write elements: the expression is evaluated into a container of its own first.

        What was written in terms of the expression before keeps its values (`ownership`).

        Raises
        ------
        NotWritableError
            While a function is traced, as nothing has values then.
        """
        if tracing.is_active():
            raise NotWritableError(
                f"assignment: {self.summary()} has no values while a function is traced; make "
                "another array, with xl.where for instance"
            )
        ownership.memory_of(self)[key] = unwrapped(value)

    def _target(self) -> Any:
        return ownership.memory_of(self)

    def __hash__(self) -> int:  # type: ignore[override]
        if not self._is_value():
            raise TypeError(f"unhashable type: {type(self).__name__!r} ({self.summary()})")
        return hash(self.item())

    def _update(self, op: Op, value: object, held: bool) -> None:
        """Perform ``self op= value`` by NumPy's rule: the shape and the dtype stay.

        Raises
        ------
        CastError, BroadcastError
            As for containers.
        """
        value, own = unwrapped(value), ownership.memory(self)
        if own is not None:
            own._update(op, value, True)
            return
        result = operation_or_numpys((op, key_of(value)), op, self, value)
        check_update(self, op.name, result.shape, result.dtype)
        if not ownership.stays_lazy(self, result):
            ownership.memory_of(self)._update(op, value, True)
            return
        same = result.dtype == self.dtype
        ownership.become(self, result if same else XExpression(build.cast(result.node, self.dtype)))

    def __len__(self) -> int:
        """Return the extent of the first dimension."""
        if not self.shape:
            raise TypeError("len() of an array of rank 0")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        """Yield the sub-arrays along the first dimension: values, or views of the evaluated rows.

        The expression is evaluated once; while a function is traced, each part is lazy.
        """
        if tracing.is_active():
            return (self[i] for i in range(len(self)))
        len(self)  # which refuses what has no dimension
        own = ownership.remembered(self)  # which the loop may write, and then reads
        return iter(ownership.values_of(self) if own is self else own)

    # --- values -------------------------------------------------------------------------------

    def __copy__(self) -> XExpression:
        """Return an expression of the same values; writing to one leaves the other as it is."""
        made = _new(XExpression)
        made._shape = self._shape
        ownership.become(made, self)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> XExpression:
        """Return an expression of the same values; see `copy.copy`."""
        return self.__copy__()

    def copy(self, order: str = "K") -> XExpression:
        """Return an expression of the same values; writing to one leaves the other as it is.

        With the order ``"C"`` or ``"F"`` it is a container: only memory has an order.
        """
        layout = layout_named(order)
        return self.__copy__() if layout is None else self._container(self, layout=layout)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Pickle the values: what is read back is a container."""
        return self._container(self).__reduce_ex__(protocol)

    def item(self, *index: Any) -> Any:
        """Return the only element, or the one at an index, as a Python number.

        Raises
        ------
        ValueError
            If no index is given and there is not exactly one element.
        """
        if index:
            return self._as_numpy().item(*index)
        if self.size != 1:
            raise ValueError(f"item: {self.summary()} has not one element; say which is meant")
        return self.numpy().reshape(()).item()

    def summary(self) -> str:
        """Return kind, dtype and shape, as error messages show them."""
        return build.describe(self.node)

    def __repr__(self) -> str:
        """Describe the expression; never computes it."""
        return f"<{class_of(self.node)}: {dtype_name(self.dtype)}{list(self.shape)}, lazy>"

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts, without computing the expression."""
        return html(self._facts(f"{class_of(self.node)}, lazy"), None)

    # --- operators ----------------------------------------------------------------------------

    def __matmul__(self, other: object) -> Any:
        """Return the matrix product, evaluated; see `xl.matmul`."""
        if not is_operand(other):
            return with_matmul(self, other)
        return matmul.of(XExpression, self, other)

    def __rmatmul__(self, other: object) -> Any:
        """Return the matrix product of another operand and this one, evaluated."""
        if not is_operand(other):
            return with_matmul(other, self)
        return matmul.planned(self._container, as_node(other, "matmul"), self.node)

    def astype(
        self,
        dtype: object,
        order: str = "K",
        casting: str = "unsafe",
        subok: bool = True,
        copy: bool = True,
    ) -> XExpression:
        """Return the elements converted to ``dtype``, lazily; where nothing is to convert, a copy.

        Parameters
        ----------
        dtype : dtype
            The new dtype.
        order : {"K", "A", "C", "F"}
            ``"C"`` and ``"F"`` ask for a container in row-major or column-major order.
        casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
            Which conversions are allowed.
        subok : bool
            As in NumPy, whose arrays have classes of their own; there are none here.
        copy : bool
            With False the array itself is returned where nothing is to convert.

        Raises
        ------
        CastError
            If the rule does not allow the conversion.
        """
        try:
            wanted = as_dtype(dtype)
        except DTypeError:
            return as_other(self, dtype)  # type: ignore[return-value]
        if casting != "unsafe":
            check_cast("astype", self.summary, self.dtype, wanted, casting)
        ordered = order not in ("K", "A", None)
        if wanted == self.dtype:
            if ordered:
                return self.copy(order)
            return self.copy() if copy else self
        made = converted(self, wanted)
        if dtype.__class__ is str or dtype.__class__ is type:  # which machine code is given
            learned.learn_conversion(self, dtype, made)
        return made.copy(order) if ordered else made
