"""The lazy handle of jagged arrays: what operators and functions of them return.

A jagged expression is an ordinary lazy expression over the elements, one after the other, and the
`JaggedShape` they fill (`rows` says how they are laid out).  Elementwise operations
therefore fuse into one kernel over the flat buffer, whatever the lengths; reductions over jagged
modes fold it row by row (`xl.sum` and its relatives, in `functions`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from .._errors import IndexRangeError, NotWritableError, ShapeError
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import NumpyArray, as_dtype, dtype_name
from ..index.box import parse_ranges
from ..ir import build
from ..ir.node import Node
from ..layout.strided import ROW_MAJOR, Strided
from ..operands.convert import raw
from ..operands.gathers import index_leaf
from ..operands.nodes import as_operand
from ..operands.operators import LiftedOperators
from ..operands.representation import html
from ..ops.op import Op
from ..ops.table import OPS
from ..shapes.jagged import JaggedShape
from ..shapes.jagged_tree import Ints, ints
from . import lists
from .labels import XJaggedLabelled
from .rows import Rows, positions_in, rows_of


class XJaggedExpression(LiftedOperators):
    """A lazy jagged array: a jagged shape, a dtype, and how to compute the elements.

    Parameters
    ----------
    node : Node
        The elements, laid out as `rows.Rows` says.
    shape : JaggedShape
        The index space.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.XJagged([[1.0, 2.0], [3.0]])
    >>> e = a * 2 + 1
    >>> e.shape, e.jagged_shape
    ((2, None), JaggedShape([Shape(2), Shape(1)]))
    >>> xl.eval(e)
    XJagged([[3., 5.], [7.]])
    """

    __slots__ = ("_node", "_shape")

    instead = "rectangular arrays are taken, which its flat, its rows and to_padded() are"

    #: The class of evaluated arrays, which is defined later than this one.
    _container: ClassVar[Any]

    _node: Node
    _shape: JaggedShape

    def __init__(self, node: Node, shape: JaggedShape) -> None:
        self._node = node
        self._shape = shape

    @property
    def rows(self) -> Rows:
        """How the elements are laid out."""
        return rows_of(self._shape)

    @property
    def node(self) -> Node:
        """The elements, row by row."""
        return self._node

    @property
    def jagged_shape(self) -> JaggedShape:
        """The index space; a copy."""
        return self._shape.copy()

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The extent of every mode, None for jagged modes."""
        return self.rows.modes

    @property
    def ndim(self) -> int:
        """Number of modes."""
        return self._shape.rank

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._shape.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the elements."""
        return self.node.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def offsets(self) -> Ints:
        """Where each slice along the first mode starts among the elements, and the end; int64."""
        rows = self.rows
        return ints(rows.starts(1) * math.prod(rows.tail))

    @property
    def flat(self) -> XExpression:
        """All elements one after the other, as a lazy vector."""
        return XExpression(build.reshape(self.node, (self.size,)))

    # --- operations ---------------------------------------------------------------------------

    def lift(self, op: Op, operands: tuple[object, ...]) -> XJaggedExpression:
        """Return the lazy application of ``op``; dense operands are stretched from the right.

        Raises
        ------
        BroadcastError
            If the jagged operands do not agree, or a dense one does not stretch.
        """
        jagged = [x for x in operands if isinstance(x, XJaggedExpression)]
        lead = jagged[0]
        for x in jagged[1:]:
            if x.rows.breadth > lead.rows.breadth:
                lead = x
        rows = lead.rows
        nodes = [spread(x, rows, op.name) for x in operands]
        return XJaggedExpression(build.elementwise(op, *nodes), lead._shape)

    def astype(self, dtype: object, /, *, copy: bool = True) -> XJaggedExpression:
        """Return the elements converted to ``dtype``, lazily."""
        return XJaggedExpression(build.cast(self.node, as_dtype(dtype)), self._shape)

    # --- parts --------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the extent of the first mode."""
        return int(self.rows.children[0][-1])

    def __iter__(self) -> Iterator[Any]:
        """Yield the slices along the first mode."""
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        """Return a chip, for an integer, or a slice of the first mode, for a slice of step 1.

        Further indices apply to what an integer gives.  Parts of an `XJagged` are views.  A text
        gives all modes labels.

        Raises
        ------
        IndexRangeError
            For an index out of range or of another kind.
        ShapeError
            For labels that are malformed, or not one per mode.
        """
        if isinstance(key, str):
            return XJaggedLabelled.of_jagged(self, key)
        first: Any
        first, *rest = (key or (...,)) if isinstance(key, tuple) else (key,)
        if first is Ellipsis and not rest:
            return self._part(self._shape, 0, self.size)
        if isinstance(first, slice) and not rest:
            return self._slice(first)
        index = self._integer(first, key)
        if not -len(self) <= index < len(self):
            raise IndexRangeError(
                f"{self.summary()}: index {index} is out of range: there are {len(self)} slices"
            )
        found = self._chip(index % len(self))
        if not rest:
            return found
        try:
            return found[tuple(rest)]
        except IndexRangeError as error:
            raise IndexRangeError(f"{self.summary()}: index {key!r}: {error}") from None

    def __setitem__(self, key: Any, value: object) -> None:
        """Refuse: an expression owns no memory."""
        raise NotWritableError(
            f"cannot assign to the lazy expression {self.summary()}: it owns no memory; evaluate "
            "it with xl.eval first"
        )

    def _integer(self, first: Any, key: object) -> int:
        """Return the first entry of an index, or say what it should have been."""
        try:
            if not isinstance(first, bool):
                return operator.index(first)
        except TypeError:
            pass
        raise IndexRangeError(
            f"{self.summary()}: index {key!r} is neither an integer, which may be followed by "
            "others, nor a slice; see slice() and chip() for boxes"
        )

    def _slice(self, wanted: slice) -> Any:
        low, high, step = wanted.indices(len(self))
        if step != 1:
            raise IndexRangeError(f"{self.summary()}: slices of jagged modes have step 1")
        high = max(low, high)
        space = self._shape._space()
        whole: list[tuple[int, int] | None] = [(low, high), *[None] * (self.ndim - 1)]
        shape = JaggedShape._make(space.select(whole, (), "index"))
        return self._part(shape, self._start(low), self._start(high))

    def _chip(self, index: int) -> Any:
        """Return the slice at an index: dense if it is a smooth slice of the shape, else jagged."""
        low, high, shape = self._start(index), self._start(index + 1), self._shape.chip(index)
        if shape.outer_rank:
            return self._part(shape, low, high)
        return self._elements[low:high]._reshaped(shape.as_tuple())

    def _start(self, index: int) -> int:
        """Return one entry of `offsets`, without making all of them."""
        rows = self.rows
        return rows.start(1, index) * math.prod(rows.tail)

    @property
    def _elements(self) -> XExpression:
        return self._flat._reshaped((self.size,))

    @property
    def _flat(self) -> XExpression:
        """The elements, row by row, as a dense array."""
        return XExpression(self.node)

    def _part(self, shape: JaggedShape, low: int, high: int) -> Any:
        """Return the elements ``low`` to ``high``, which fill ``shape``."""
        return XJaggedExpression(self._run(shape, low, high).node, shape)

    def _run(self, shape: JaggedShape, low: int, high: int) -> XExpression:
        elements: XExpression = self._elements[low:high]
        return elements._reshaped(rows_of(shape).shape)

    def slice(self, *box: Any) -> Any:
        """Return a sub-array of the same rank, by offsets; see `JaggedShape.slice`.

        Returns
        -------
        XJagged or XJaggedExpression
            A view where the elements lie one after the other, else a lazy expression.

        Raises
        ------
        ShapeError
            As for `JaggedShape.slice`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> a = xl.XJagged([[1, 2, 3], [4, 5]])
        >>> xl.eval(a.slice((0, 1), (2, 2)))
        XJagged([[2], [5]])
        """
        return self._selected(self._shape.slice(*box), box, "slice")

    def chip(self, *box: Any) -> Any:
        """Return a sub-array without the modes that are pinned; see `JaggedShape.chip`.

        Parameters
        ----------
        *box : int, or two sequences of int
            As for `JaggedShape.chip`.

        Returns
        -------
        XView, XExpression, XJagged or XJaggedExpression
            As for `slice`, but dense if a smooth shape (of outer rank 0) is left.

        Raises
        ------
        ShapeError
            As for `JaggedShape.chip`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.XJagged([[1, 2, 3], [4, 5]]).chip(1)
        XView([4, 5])
        """
        part = self._selected(self._shape.chip(*box), box, "chip")
        if not isinstance(part, XJaggedExpression) or part._shape.outer_rank:
            return part
        return part._flat._reshaped(part._shape.as_tuple())

    def _selected(self, shape: JaggedShape, box: tuple[Any, ...], operation: str) -> Any:
        """Return the elements inside a box, which fill ``shape``."""
        if shape.rank == 0:
            return self._elements[self._shape.flat_index(*box)]
        places = positions_in(self._shape._space(), parse_ranges(box, self.ndim, operation))
        if not places.size:
            return self._part(shape, 0, 0)
        low, high = int(places[0]), int(places[-1]) + 1
        if high - low == places.size:  # they rise, so they are one run
            return self._part(shape, low, high)
        index = index_leaf(places.reshape(rows_of(shape).shape), self.size)
        return XJaggedExpression(build.gather(self.flat.node, 0, index), shape)

    # --- values -------------------------------------------------------------------------------

    def evaluated(self, text: object = None) -> Any:
        """Return the values in memory."""
        return self._container(self)

    def _as_numpy(self) -> NumpyArray:
        """Return the elements, one after the other."""
        return np.asarray(self._flat).reshape(-1)

    def to_list(self) -> Any:
        """Return the values as nested lists of Python scalars.

        Examples
        --------
        >>> import xarraylite as xl
        >>> (xl.XJagged([[1, 2], [], [3]]) + 1).to_list()
        [[2, 3], [], [4]]
        """
        return lists.nested(self._as_numpy(), self._shape._space())

    tolist = to_list

    def to_padded(self, fill: object = 0) -> XArray:
        """Return the values in the least box that holds them.

        Parameters
        ----------
        fill : scalar, optional
            What stands where there is no element.

        Returns
        -------
        XArray
            Its shape is that of ``jagged_shape.to_padded()``.

        Raises
        ------
        SizeError
            If the box exceeds the ``max_result_bytes`` setting.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.XJagged([[1, 2], [3]]).to_padded(-1)
        XArray([[ 1,  2],
                [ 3, -1]])
        """
        rows, (box, _) = self.rows, self._shape.to_padded()
        layout = Strided.row_major(box.extents)
        value = build.convert(as_operand(fill, "to_padded"), self.dtype)
        if value.shape:
            raise ShapeError(f"to_padded: the value must be a scalar, got {build.describe(value)}")
        buffer = raw(layout, self.dtype)
        padded = buffer.view(self.dtype, layout)
        padded[...] = np.asarray(XExpression(value))
        head = box.extents[: rows.head]
        values = self._as_numpy().reshape(rows.shape)
        padded.reshape(math.prod(head), *rows.tail)[rows.places(head)] = values
        return XArray._own(buffer, layout, self.dtype, ROW_MAJOR)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> NumpyArray:
        """Refuse: the rows have no rectangular form of their own.

        Raises
        ------
        ShapeError
            Always.
        """
        raise ShapeError(
            f"{self.summary()} has no rectangular form; use to_padded(), to_list() or flat"
        )

    def __bool__(self) -> bool:
        """Refuse: an array has no truth value; `xl.any` and `xl.all` do."""
        raise TypeError(f"bool: {self.summary()} has no truth value; use xl.any or xl.all")

    def __reduce__(self) -> Any:
        """Pickle the values: what is read back is an `XJagged`."""
        return self.evaluated().__reduce__()

    def summary(self) -> str:
        """Return kind, dtype and extents, as error messages show them."""
        extents = ", ".join(["None" if n is None else str(n) for n in self.shape])
        return f"{type(self).__name__} {dtype_name(self.dtype)}[{extents}]"

    def __repr__(self) -> str:
        """Describe the expression; never computes it."""
        return f"<{self.summary()}, lazy>"

    def __str__(self) -> str:
        """Return the values, summarised if there are many; computes the expression."""
        return lists.text(self._as_numpy(), self._shape._space())

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts, without computing."""
        return html({"": "jagged", "array": self.summary()}, None)

    def __round__(self, digits: None = None) -> Any:
        """Return the elements rounded to the nearest integers, half to even, lazily."""
        if digits is not None:
            raise TypeError("round: only whole numbers; scale before and after for digits")
        return self.lift(OPS["round"], (self,))


def spread(value: object, rows: Rows, operation: str) -> build.Operand:
    """Return an operand of an expression over ``rows``, stretched as far as it has to be.

    Raises
    ------
    BroadcastError
        If it does not stretch.
    """
    if isinstance(value, XJaggedExpression):
        return rows.stretch(value.node, value.rows, operation)
    operand = as_operand(value, operation)
    if isinstance(operand, Node) and operand.shape:
        return rows.spread(operand, operation)
    return operand
