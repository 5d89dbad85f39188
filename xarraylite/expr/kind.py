"""Kinds: what does not change from one evaluation of an expression to the next.

A kind says operations, dtypes, ranks and strides; an expression is a kind, a shape, and its
operands.  Kinds are interned when an expression is written: each owns the table that leads from
it, by an operation and another kind, to the next one, so that writing an operation like one that
was written before is one look-up, and everything that follows from a kind — dtype, nodes, the
programs that evaluate it — is found once.

Extents are no part of a kind.  A kind describes expressions whose operands have the shape of the
result, or its last dimensions, so one kind and its kernels serve all shapes: a leaf's strides are
named where they are not those of a row-major array, which follow from its shape.  Expressions that
need more than that (extents of 1 that are stretched, views of results, gathers, joins) have no
kind; they are nodes, and planned by shape.

The operands of an expression are one flat tuple, in the order in which its nodes would be met: for
each leaf its reading and the byte where its first element begins, for each scalar its value, and
for a reduction the shape of what it folds, before the operands of that.

Tables are bounded, and dropped when they are full: kinds made later of the same structure are other
objects, which costs time and never a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from ..layout.strided import Strided, row_major_strides
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.user import UserOp
from .node import DType, Elementwise, Leaf, Node, Reduce, Scalar, Shape

#: A flat tuple; see the module docstring.
Operands: TypeAlias = tuple[Any, ...]

#: Most operands and operations of a kind; longer expressions are nodes.
MOST = 96

#: Entries of one table.
_LIMIT = 4096


class Kind:
    """The structure of an expression; see the module docstring.  Made by `leaf` and `of`.

    Attributes
    ----------
    op : Op, Reduction or None
        The last operation; None for leaves and scalars.
    args : tuple of Kind
        The kinds it is applied to.
    dtype : numpy.dtype
        Dtype of the result.
    rank : int
        Number of its dimensions.
    strides : tuple of int, or None
        Of a leaf: None if it is row-major.
    scalar : bool
        Whether it is one value, not memory.
    items : int
        Length of the tuple of operands.
    weight : int
        Number of operations, shared ones counted each time.
    table : dict
        Next kinds, by what leads there.
    fresh : object
        The program that evaluates into new memory; None as long as it is not known, False if
        there is none.
    writes : dict
        Programs that evaluate into existing memory, by its kind.
    """

    __slots__ = (
        "args",
        "dtype",
        "fresh",
        "items",
        "op",
        "rank",
        "scalar",
        "strides",
        "table",
        "weight",
        "writes",
    )

    def __init__(
        self,
        op: Op | Reduction | None,
        args: tuple[Kind, ...],
        dtype: DType,
        rank: int,
        items: int,
        strides: Shape | None = None,
        scalar: bool = False,
    ) -> None:
        self.op = op
        self.args = args
        self.dtype = dtype
        self.rank = rank
        self.strides = strides
        self.scalar = scalar
        self.items = items
        self.weight: int = 1 + sum([arg.weight for arg in args])
        self.table: dict[Any, Any] = {}
        self.fresh: Any = None
        self.writes: dict[Any, Any] = {}

    def learn(self, key: object, entry: object) -> None:
        """Remember where ``key`` leads."""
        if len(self.table) >= _LIMIT:
            self.table.clear()
        self.table[key] = entry

    def keep(self, key: Any, program: object) -> None:
        """Remember the program that writes into memory of a kind."""
        if len(self.writes) >= _LIMIT:
            self.writes.clear()
        if self is not NODE:
            self.writes[key] = program

    def __repr__(self) -> str:
        if self.op is not None:
            return f"{self.op.name}({', '.join(map(repr, self.args))})"
        place = "" if self.strides is None else f", strides {self.strides}"
        return f"{self.dtype.name}{'' if self.scalar else f'[rank {self.rank}{place}]'}"


#: The kind of expressions that have none; its table stays empty.
NODE = Kind(None, (), np.dtype(np.float64), 0, 0)

_kinds: dict[object, Kind] = {}


def _interned(key: object, *parts: Any) -> Kind:
    known = _kinds.get(key)
    if known is None:
        if len(_kinds) >= _LIMIT:
            _kinds.clear()
        known = _kinds[key] = Kind(*parts)
    return known


def row_major(dtype: DType, rank: int) -> Kind:
    """Return the kind of row-major memory."""
    return _interned((dtype, rank), None, (), dtype, rank, 2)


def leaf(dtype: DType, place: Strided) -> Kind:
    """Return the kind of elements in strided memory."""
    return leaf_of(dtype, place.shape, place.strides)


def leaf_of(dtype: DType, shape: Shape, strides: Shape) -> Kind:
    """Return the kind of elements of a shape that lie with strides."""
    rank, expected = len(shape), 1
    for k in range(rank - 1, -1, -1):
        extent = shape[k]
        if extent != 1:
            if strides[k] != expected and 0 not in shape:
                known = _kinds.get((dtype, strides))
                if known is not None:
                    return known
                return _interned((dtype, strides), None, (), dtype, rank, 2, strides)
            expected *= extent
    return _kinds.get((dtype, rank)) or row_major(dtype, rank)


def scalar(dtype: DType) -> Kind:
    """Return the kind of a value that is passed to kernels at run time."""
    return _interned(dtype, None, (), dtype, 0, 1, None, True)


def elementwise(op: Op, dtype: DType, args: tuple[Kind, ...]) -> Kind:
    """Return the kind of an operation on kinds whose ranks are those of their shapes' ends."""
    rank = max([arg.rank for arg in args])
    items = sum([arg.items for arg in args])
    return _interned((op, dtype, args), op, args, dtype, rank, items)


def reduction(op: Reduction, arg: Kind) -> Kind:
    """Return the kind of a fold over all dimensions."""
    return _interned((op, arg), op, (arg,), arg.dtype, 0, 1 + arg.items)


def strides_of(kind: Kind, shape: Shape) -> Shape:
    """Return a leaf's strides, in elements."""
    return row_major_strides(shape) if kind.strides is None else kind.strides


# --- nodes -------------------------------------------------------------------------------------


def of(root: Node, traced: bool = False) -> tuple[Kind, Operands] | None:
    """Return the kind of a node and its operands; None if it has none.

    Of a function being traced an argument that is a scalar is an operand as its node.
    """
    operands: list[Any] = []
    try:
        return _of(root, operands, [MOST], traced), tuple(operands)
    except _None:
        return None


class _None(Exception):
    """A node has no kind."""


def _of(node: Node, operands: list[Any], left: list[int], traced: bool) -> Kind:
    """Return the kind of a node, and append its operands; ``left`` bounds the recursion."""
    left[0] -= 1
    if left[0] < 0:
        raise _None
    if type(node) is Leaf:
        reading = node.reading
        if type(node.map) is not Strided or reading.stale is not None:
            raise _None
        if reading.late and not (traced and reading.traced):
            raise _None
        operands.extend((reading, node.map.byte_start(node.dtype.itemsize)))
        return leaf(node.dtype, node.map)
    if type(node) is Scalar:
        value = plain(node.value, node.dtype)
        if value is None or node.weak is not None or (node.parameter >= 0 and not traced):
            raise _None
        operands.append(value if node.parameter < 0 else node)
        return scalar(node.dtype)
    if type(node) is Elementwise:
        if isinstance(node.op, UserOp) or not all([_ends(node.shape, a.shape) for a in node.args]):
            raise _None
        args = tuple([_of(arg, operands, left, traced) for arg in node.args])
        return elementwise(node.op, node.dtype, args)
    if type(node) is Reduce and node.shape == () and node.arg.shape:
        operands.append(node.arg.shape)
        return reduction(node.op, _of(node.arg, operands, left, traced))
    raise _None


def _ends(shape: Shape, end: Shape) -> bool:
    return not end or shape[len(shape) - len(end) :] == end


def plain(value: object, dtype: DType) -> float | int | None:
    """Return the Python number that stands for a value of ``dtype`` in operands; None if none."""
    if dtype.kind in "biu" and dtype.isbuiltin == 1:
        return int(value)  # type: ignore[call-overload, no-any-return]
    return float(value) if dtype.char in "fd" else None  # type: ignore[arg-type]


def node_of(kind: Kind, shape: Shape, operands: Sequence[Any]) -> Node:
    """Return an expression as nodes."""
    return _build(kind, shape, iter(operands))


def _build(kind: Kind, shape: Shape, operands: Any) -> Node:
    # No deeper than `MOST` operations.
    if kind.scalar:
        return Scalar((), kind.dtype, kind.dtype.type(next(operands)))
    if isinstance(kind.op, Reduction):
        inner = next(operands)
        axes = tuple(range(len(inner)))
        return Reduce((), kind.dtype, kind.op, _build(kind.args[0], inner, operands), axes, False)
    own = shape[len(shape) - kind.rank :]
    if kind.op is None:
        reading, start = next(operands), next(operands)
        place = Strided(own, strides_of(kind, own), start // kind.dtype.itemsize)
        return Leaf(own, kind.dtype, reading, place)
    args = tuple([_build(arg, own, operands) for arg in kind.args])
    return Elementwise(own, kind.dtype, kind.op, args)
