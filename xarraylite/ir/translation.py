"""From nodes to kinds, and back.

A part of an expression that no kind describes (computed values of which extents of 1 are
stretched, views of results, folds over some dimensions, gathers, joins) is a `Form`: what it does
to operands of fixed extents.  Forms are interned by their structure, as kinds are, so one of them
is the kind of all expressions that do the same to operands of the same dtypes, extents and strides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..dtypes.names import DType, is_narrow_int
from ..dtypes.names import kind as kind_name
from ..layout.strided import Strided
from ..memory.buffer import NOWHERE
from ..memory.snapshots import Snapshot
from ..ops.reductions import Reduction
from ..ops.table import OPS
from .kind import (
    Form,
    Kind,
    Operands,
    elementwise,
    formed,
    formed_like,
    leaf,
    reduction,
    scalar,
    stretched_strides,
    strides_of,
)
from .node import SHAPE, Elementwise, Leaf, Node, Reduce, Scalar, Shape, Stored
from .walk import fixed_of, has_more, postorder, rebuild, structure, user_op, with_args

#: Most nodes and operations of a kind, and of a form, which is built anew where its node is asked
#: for; longer expressions are nodes.
MOST, MOST_FORMED = 96, 48


def of(root: Node, traced: bool = False) -> tuple[Kind, Operands] | None:
    """Return the kind of a node and its operands; None if it has none.

    Of a function being traced an argument that is a scalar is an operand as its node.
    """
    return _found(_of, root, traced)


class _None(Exception):
    """A node has no kind."""


def _found(
    find: Callable[[Node, list[Any], list[int], bool], Kind], root: Node, traced: bool
) -> tuple[Kind, Operands] | None:
    operands: list[Any] = []
    try:
        return find(root, operands, [MOST], traced), tuple(operands)
    except _None:
        return None


def _of(node: Node, operands: list[Any], left: list[int], traced: bool) -> Kind:
    """Return the kind of a node, and append its operands; ``left`` bounds the recursion."""
    left[0] -= 1
    if left[0] < 0:
        raise _None
    if type(node) is Leaf:
        return _memory(node, operands, traced)
    if type(node) is Scalar:
        return _value(node, operands, traced)
    if _is_long(node):
        raise _None
    if type(node) is Elementwise:
        given = [_fitted(arg, node.shape) for arg in node.args]
        if all([_ends(node.shape, arg.shape) for arg in given]):
            args = tuple([_of(arg, operands, left, traced) for arg in given])
            return elementwise(node.op, node.dtype, args)
    if type(node) is Reduce and node.shape == () and node.arg.shape:
        operands.append(node.arg.shape)
        return reduction(node.op, _of(node.arg, operands, left, traced))
    return _form(node, operands, left, traced)


def of_parts(node: Elementwise, parts: Sequence[tuple[Kind, Operands] | None]) -> Any:
    """Return the kind of an operation on parts that have kinds, and its operands; None if none.

    A part that is a form stays one: its nodes may have another kind as part of a longer expression.

    Parameters
    ----------
    node : Elementwise
        The operation.
    parts : sequence
        For each argument its kind and operands before it was converted; None of a scalar.
    """
    kinds: list[Kind] = []
    operands: Operands = ()
    if _is_long(node):
        return None
    for arg, part in zip(node.args, parts, strict=True):
        if not _ends(node.shape, arg.shape):
            return None
        if part is None:
            value = plain(arg.value, arg.dtype) if isinstance(arg, Scalar) else None
            if value is None:
                return None
            part = scalar(arg.dtype), (value,)
        kind, items = part
        kinds.append(
            kind if kind.dtype == arg.dtype else elementwise(OPS["cast"], arg.dtype, (kind,))
        )
        operands += items
    made = elementwise(node.op, node.dtype, tuple(kinds))
    return (made, operands) if made.weight <= MOST else None


def _memory(node: Leaf, operands: list[Any], traced: bool) -> Kind:
    snapshot = node.snapshot
    if type(node.map) is not Strided or snapshot.stale is not None:
        raise _None
    if snapshot.late and not (traced and snapshot.traced):
        raise _None
    operands.extend((snapshot, node.map.byte_start(node.dtype.itemsize)))
    return leaf(node.dtype, node.map, node.fixed)


def _value(node: Scalar, operands: list[Any], traced: bool) -> Kind:
    value = plain(node.value, node.dtype)
    if value is None or node.weak is not None or (node.parameter >= 0 and not traced):
        raise _None
    operands.append(value if node.parameter < 0 else node)
    return scalar(node.dtype)


def _is_long(node: Node) -> bool:
    """Tell whether a node calls a user's function that could raise, or take its time."""
    op = user_op(node)
    return op is not None and not op.is_brief


def form_of(root: Node, traced: bool = False) -> tuple[Kind, Operands] | None:
    """Return the form of a whole expression, and its operands; None if it has none."""
    return _found(_form, root, traced)


def _form(root: Node, operands: list[Any], left: list[int], traced: bool) -> Kind:
    """Return a part as a form, and append its operands, each in the order in which it is met."""
    if has_more(root, min(MOST_FORMED, left[0])):  # asked first: each part of a long one is met
        raise _None
    nodes = postorder(root)
    left[0] -= len(nodes)
    number: dict[int, int] = {}
    key: list[object] = []
    begin = len(operands)
    for node in nodes:
        args = tuple([number[id(arg)] for arg in node.args])
        number[id(node)] = len(key)
        if isinstance(node, Leaf):
            key.append((_memory(node, operands, traced), node.shape))
        elif isinstance(node, Scalar):
            key.append(_value(node, operands, traced))
        elif isinstance(node, Stored) or _is_long(node):
            raise _None
        else:
            key.append(structure(node, args))
    known = formed_like(tuple(key))
    if known is not None:
        return known
    reads = any([isinstance(node, Leaf) for node in nodes])  # generators do not count
    fixed = fixed_of(root) if reads else SHAPE + 1
    return formed(tuple(key), _emptied(root), len(operands) - begin, fixed, len(nodes))


def _emptied(root: Node) -> Node:
    """Return an expression over memory that does not exist."""

    def visit(node: Node, args: tuple[Node, ...]) -> Node:
        if not isinstance(node, Leaf):
            return with_args(node, args)
        return replace(node, snapshot=_NOWHERE, map=replace(node.map, offset=0))

    return rebuild(root, visit)


_NOWHERE = Snapshot.of(NOWHERE)


def imagined(number: int, distance: int = 0) -> Snapshot:
    """Return memory that does not exist, apart from that of other numbers, or so far behind it."""
    made = Snapshot.of(NOWHERE)
    made.address = ((number + 1) << 44) + distance
    return made


def _fitted(node: Node, shape: Shape) -> Node:
    """Return memory of which extents of 1 are stretched as it lies then: with strides of 0.

    So is what is only converted; all else is returned as it is.
    """
    rank = len(node.shape)
    if rank > len(shape) or _ends(shape, node.shape):
        return node
    end = shape[len(shape) - rank :]
    if type(node) is Leaf and type(node.map) is Strided:
        steps = stretched_strides(
            node.map.strides, [m != n for m, n in zip(end, node.shape, strict=True)]
        )
        place = Strided(end, steps, node.map.offset)
        return Leaf(end, node.dtype, node.snapshot, place, node.fixed)
    if type(node) is Elementwise and node.op is OPS["cast"]:
        inner = _fitted(node.args[0], shape)
        return Elementwise(end, node.dtype, node.op, (inner,)) if inner.shape == end else node
    return node


def _ends(shape: Shape, end: Shape) -> bool:
    return not end or shape[len(shape) - len(end) :] == end


def plain(value: Any, dtype: DType) -> complex | None:
    """Return the Python number that stands for a value of ``dtype`` in operands; None if none."""
    which = kind_name(dtype)
    if which in "fc":
        return float(value) if which == "f" else complex(value)
    return None if is_narrow_int(dtype) else int(value)


def node_of(kind: Kind, shape: Shape, operands: Operands) -> Node:
    """Return an expression as nodes; parts of the same kind, extents and operands are one node."""
    return _Builder(operands).build(kind, shape, 0)


class _Builder:
    """Makes nodes of a kind; no deeper than `MOST` operations."""

    __slots__ = ("made", "operands")

    def __init__(self, operands: Operands) -> None:
        self.operands = operands
        self.made: dict[object, Node] = {}

    def build(self, kind: Kind, shape: Shape, start: int) -> Node:
        """Return the node of a part whose operands begin at ``start``."""
        # Parts that were one expression when they were written have identical operands.  So have
        # memory and its first elements, which differ in extents.
        own = shape[len(shape) - kind.rank :]
        key = kind, own, *[id(item) for item in self.operands[start : start + kind.items]]
        node = self.made.get(key)
        if node is None:
            node = self.made[key] = self._build(kind, own, start)
        return node

    def _build(self, kind: Kind, own: Shape, start: int) -> Node:
        operands = self.operands
        if kind.scalar:
            return _scalar(operands[start], kind.dtype)
        if isinstance(kind.op, Reduction):
            inner = operands[start]
            arg = self.build(kind.args[0], inner, start + 1)
            return Reduce((), kind.dtype, kind.op, arg, tuple(range(len(inner))), False)
        if isinstance(kind.op, Form):
            return self._formed(kind.op, start)
        if kind.op is None:
            place = Strided(own, strides_of(kind, own), operands[start + 1] // kind.dtype.itemsize)
            return Leaf(own, kind.dtype, operands[start], place, kind.fixed)
        args = []
        for part in kind.args:
            args.append(self.build(part, own, start))
            start += part.items
        return Elementwise(own, kind.dtype, kind.op, tuple(args))

    def _formed(self, form: Form, start: int) -> Node:
        """Return what a form does to the operands that begin at ``start``."""
        items = iter(self.operands[start:])

        def visit(node: Node, args: tuple[Node, ...]) -> Node:
            if isinstance(node, Leaf):
                snapshot, begin = next(items), next(items)
                place = replace(node.map, offset=begin // node.dtype.itemsize)
                return replace(node, snapshot=snapshot, map=place)
            if isinstance(node, Scalar):
                return _scalar(next(items), node.dtype)
            return with_args(node, args)

        return rebuild(form.root, visit)


#: Numbers from which on those of shorter dtypes are infinities: half a unit beyond the largest.
_LARGEST = {"e": 65520.0, "f": 3.4028235677973366e38, "F": 3.4028235677973366e38}


def _scalar(given: Any, dtype: DType) -> Node:
    if isinstance(given, Node):
        return given
    if given.__class__ is float and abs(given) >= _LARGEST.get(dtype.char, math.inf):
        given = math.copysign(math.inf, given)  # of which NumPy does not warn
    return Scalar((), dtype, dtype.type(given))


def scalars_of(kind: Kind) -> list[DType]:
    """Return the dtypes of the scalars among a kind's operands, in their order."""
    if kind.scalar:
        return [kind.dtype]
    if isinstance(kind.op, Form):
        return [node.dtype for node in postorder(kind.op.root) if isinstance(node, Scalar)]
    return [dtype for arg in kind.args for dtype in scalars_of(arg)]


def twins(kind: Kind) -> tuple[tuple[slice, slice, int], ...]:
    """Return pairs of operands over which a kind does the same, and how many operations it does.

    Where the operands of a pair are the same, the same is computed twice.
    """
    first: dict[Kind, slice] = {}
    found: list[tuple[slice, slice, int]] = []
    stack = [(kind, 0)]
    while stack:
        part, start = stack.pop()
        if part.op is None:
            continue
        own = slice(start, start + part.items)
        if part in first:
            found.append((first[part], own, part.weight))
        else:
            first[part] = own
        start += isinstance(part.op, Reduction)
        for arg in part.args:
            stack.append((arg, start))
            start += arg.items
    return tuple(found)
