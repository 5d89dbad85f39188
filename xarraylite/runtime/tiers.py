"""Two tiers: what is evaluated for the first times is interpreted, what is used often is compiled.

A kernel takes ten to two hundred milliseconds to make, and some to load; NumPy computes a small
expression, operation by operation, in tens of microseconds.  A program of loops meets many
expressions only a few times, while it grows into those that it repeats.  So with ``engine="auto"``
the first `FIRST` evaluations of a small expression are interpreted, and what it is evaluated by is
made when it is asked for once more.  With ``engine="compiled"`` all kernels are made at once.

What has a kind is interpreted by that (`interpreted`), all else by its nodes (`compute`).

**The same bits.**  The first tier may run only what both engines give the same bits for: operations
whose row says that their body has NumPy's (`Op.exact`), on plain numbers, and folds of whole
numbers.  Other operations (``sin``) are evaluated by a kernel of their own, whose operands the
interpreter has computed; one kernel then serves all expressions that they stand in.  So are folds
of floats, if all that they read lies by rows: computed values are then folded in the same order.
Other folds of floats, and users' functions, are compiled at once.  All NaNs count as the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from .._config import settings
from .._later import reference
from .._tables import kept
from ..compiler.graph import Graph
from ..dtypes.names import DType, NumpyArray
from ..dtypes.names import kind as kind_of
from ..ir.kind import Form, Kind, elementwise, leaves_of, parts_of, reduction, row_major, strides_of
from ..ir.node import Concat, Elementwise, Iota, Leaf, Node, Reduce, Scalar, Shape, View
from ..ir.walk import postorder, with_args
from ..layout.strided import Strided
from ..memory.arrays import read
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..memory.snapshots import Copy, Snapshot, pinned
from ..ops.op import Op
from ..ops.reductions import REDUCTIONS, Reduction
from ..ops.table import OPS

#: Evaluations that are interpreted, if they are small: a kernel costs more to load than these.
FIRST = 16

#: Bytes, of all operations together, that count as one more evaluation, and the most of one.
_MORE, _MOST = 1 << 16, 1 << 22

#: Structures whose evaluations are counted.
_CAPACITY = 4096

#: Dtypes on whose operations both engines agree as the table of operations says.
_PLAIN = frozenset(map(np.dtype, "?bhilqBHILQfd"))

_NODES = (Concat, Iota, Scalar, View)

_begun: dict[tuple[Any, ...], int] = {}


def begins(kind: Kind, shape: Shape, operands: Sequence[Any]) -> bool:
    """Tell whether an evaluation is one of its kind's first, which are interpreted, and count it.

    Parameters
    ----------
    kind : Kind
        What is evaluated.
    shape : tuple of int
        Of the result.
    operands : tuple
        Where it is a fold, the shape of what is folded is among them.
    """
    if kind.begun >= FIRST or settings.engine != "auto":
        return False
    if kind.begun == 0 and not _serves(_parts(kind)):
        kind.begun = FIRST
        return False
    folded = [prod(item) for item in operands if item.__class__ is tuple]
    nbytes = kind.weight * kind.itemsize * max(prod(shape), *folded, 0)
    if nbytes > _MOST:
        return False
    return _counts(kind, 1 + nbytes // _MORE)


def begins_graph(graph: Graph, noalias: bool) -> bool:
    """Tell whether an evaluation of a graph is one of its first, and count it.

    Graphs that differ in extents or strides alone are counted together.
    """
    if settings.engine != "auto" or (noalias and settings.check_noalias):
        return False
    key = tuple([(node.__class__, getattr(node, "op", None), node.dtype) for node in graph.nodes])
    count = _begun.get(key, 0)
    if count >= FIRST:
        return False
    nbytes = sum([prod(node.shape) * node.dtype.itemsize for node in graph.nodes])
    if nbytes > _MOST:
        return False
    if not _serves(_node_parts(graph.nodes)):  # which strides decide, too
        return False
    _count(key, 1 + nbytes // _MORE)
    return True


def begins_copy(kind: Kind, target: Kind) -> bool:
    """Tell whether a copy of memory is one of the first of its kind, which NumPy makes; count it.

    With every engine, as a copy has the same bits by any.
    """
    return _count((kind, target), 1) < FIRST


def _counts(kind: Kind, cost: int) -> bool:
    """Count an evaluation of a kind; tell whether it is one of its first.

    Kinds of fixed extents that differ in these alone are counted together.
    """
    met = _count((repr(kind), kind.weight), cost) if kind.formed else kind.begun
    kind.begun = met + cost
    return met < FIRST


def _count(key: tuple[Any, ...], cost: int) -> int:
    """Count what has a structure; return what was counted before."""
    met = _begun.get(key, 0)
    kept(_begun, key, met + cost, _CAPACITY)
    return met


#: Computes an expression by a kernel, given its kind, shape and operands; None: it cannot.
ByKernel = Callable[[Kind, Shape, tuple[Any, ...]], NumpyArray | None]


def interpreted(
    kind: Kind, shape: Shape, operands: Sequence[Any], by_kernel: ByKernel
) -> NumpyArray | None:
    """Return the values of an expression that `begins`, computed without nodes.

    None where only those do: where forms, late operands or the order of dimensions count.
    """
    memory = [item for item in operands if isinstance(item, Memory)]
    snapshots = [item for item in memory if item.__class__ is Snapshot or item.__class__ is Copy]
    if kind.formed or len(snapshots) < len(memory):
        return None
    with pinned(snapshots), np.errstate(all="ignore"):
        if any([snapshot.stale is not None or snapshot.traced for snapshot in snapshots]):
            return None
        return _Interpreter(operands, by_kernel).value(kind, shape, 0)


class _Interpreter:
    """Computes parts of an expression, operation by operation."""

    __slots__ = ("by_kernel", "operands")

    def __init__(self, operands: Sequence[Any], by_kernel: ByKernel) -> None:
        self.operands = operands
        self.by_kernel = by_kernel

    def value(self, kind: Kind, shape: Shape, start: int) -> NumpyArray | None:
        """Return the values of a part whose operands begin at ``start``; None if it fails."""
        op, operands = kind.op, self.operands
        assert not isinstance(op, Form), "whose operands lie otherwise"
        if kind.scalar:
            given = operands[start]
            return None if isinstance(given, Node) else np.asarray(given, kind.dtype)
        own = shape[len(shape) - kind.rank :]
        if op is None:
            if kind.strides is not None and kind.rank > 1:
                return None  # which may decide how the result lies
            place = Strided(own, strides_of(kind, own), operands[start + 1] // kind.itemsize)
            array: NumpyArray = operands[start].view(kind.dtype, place)
            return array
        folds = isinstance(op, Reduction)
        inner = operands[start] if folds else own
        start += folds
        args, places = [], []
        for arg in kind.args:
            value = self.value(arg, inner, start)
            if value is None:
                return None
            args.append(value)
            places.append(start)
            start += arg.items
        if is_exact(op, tuple([arg.dtype for arg in kind.args])):
            if isinstance(op, Reduction):
                found = op.numpy(args[0], axis=tuple(range(len(inner))), keepdims=False)
            else:
                found = args[0] if op is OPS["cast"] else op.numpy(*args)
            made = reference.convert(np.asarray(found), kind.dtype)
            return made if made.shape == own else np.broadcast_to(made, own)
        return self._launched(kind, own, inner, args, places)

    def _launched(
        self, kind: Kind, own: Shape, inner: Shape, args: list[NumpyArray], places: list[int]
    ) -> NumpyArray | None:
        """Return what a kernel makes of the values of a part's arguments."""
        kinds, items = list[Kind](), list[Any]()
        for arg, value, place in zip(kind.args, args, places, strict=True):
            kinds.append(arg if arg.scalar else row_major(arg.dtype, arg.rank))
            items += (self.operands[place],) if arg.scalar else (_leaf(value).snapshot, 0)
        if isinstance(kind.op, Reduction):
            return self.by_kernel(reduction(kind.op, kinds[0]), own, (inner, *items))
        assert isinstance(kind.op, Op)
        return self.by_kernel(elementwise(kind.op, kind.dtype, tuple(kinds)), own, tuple(items))


def forget() -> None:
    """Count the evaluations of graphs from none again."""
    _begun.clear()


#: An operation, the dtypes it is applied to, and that of its result; None for operands.
_Part = tuple[Op | Reduction | None, tuple[DType, ...], DType]


def _serves(parts: Iterable[_Part | None]) -> bool:
    """Tell whether the interpreter may evaluate what has these parts."""
    exact = inexact = 0
    for part in parts:
        if part is None:
            return False
        op, loops, dtype = part
        if dtype not in _PLAIN:
            return False
        if op is None:
            continue
        if OPS.get(op.name) is not op and REDUCTIONS.get(op.name) is not op:
            return False
        if is_exact(op, loops):
            exact += 1
        else:
            inexact += 1
    return exact > 0 or inexact > 1


def is_exact(op: Op | Reduction, loops: tuple[DType, ...]) -> bool:
    """Tell whether NumPy gives a kernel's bits."""
    if isinstance(op, Reduction):
        return loops[0].kind != "f"
    return kind_of(loops[0]) in op.exact or op.body(loops) is None


def _parts(kind: Kind) -> Iterable[_Part | None]:
    for part in parts_of(kind):
        if isinstance(part.op, Form):
            yield from _node_parts(postorder(part.op.root))
        elif isinstance(part.op, Reduction) and not _lies_by_rows(part.args[0]):
            yield None
        else:
            yield part.op, tuple([arg.dtype for arg in part.args]), part.dtype


def _lies_by_rows(body: Kind) -> bool:
    """Tell whether what a fold over all dimensions reads is read one after the other."""
    leaves = [leaf for leaf in leaves_of(body) if not leaf.scalar]
    return all([leaf.strides is None and leaf.rank == body.rank for leaf in leaves])


def _node_parts(nodes: Iterable[Node]) -> Iterable[_Part | None]:
    for node in nodes:
        loops = tuple([arg.dtype for arg in node.args])
        if isinstance(node, Elementwise):
            yield node.op, loops, node.dtype
        elif node.__class__ is Reduce:
            assert isinstance(node, Reduce)
            flat = is_exact(node.op, loops) or _is_read_by_rows(node.arg)
            yield (node.op, loops, node.dtype) if flat else None
        elif node.__class__ in _NODES or (isinstance(node, Leaf) and isinstance(node.map, Strided)):
            yield None, loops, node.dtype
        else:
            yield None


def _is_read_by_rows(body: Node) -> bool:
    """Tell whether all that an expression reads has its shape, and lies by rows."""
    for node in postorder(body):
        if isinstance(node, Leaf):
            if node.shape != body.shape or not node.map.is_row_major():
                return False
        elif not isinstance(node, (Elementwise, Scalar)):
            return False
    return True


def compute(graph: Graph, evaluate: Callable[[Node], tuple[Buffer, Any]]) -> NumpyArray:
    """Return the values of a graph's result as a NumPy array.

    Parameters
    ----------
    graph : Graph
        What `begins_graph` was asked about.
    evaluate : callable
        Evaluates a node by a kernel.
    """

    def by_kernel(node: Node, own: list[Node], args: list[NumpyArray]) -> NumpyArray | None:
        loops = tuple([arg.dtype for arg in args])
        if not isinstance(node, (Elementwise, Reduce)) or is_exact(node.op, loops):
            return None
        pairs = zip(own, args, strict=True)
        operands = [arg if isinstance(arg, Scalar) else _leaf(array) for arg, array in pairs]
        buffer, place = evaluate(with_args(node, tuple(operands)))
        return read(buffer, node.dtype, place)

    return reference.compute(graph, by_kernel)


def _leaf(array: NumpyArray) -> Leaf:
    """Return memory that has an array's values."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    snapshot = Buffer.of_array(array).snapshot()
    return Leaf(array.shape, array.dtype, snapshot, Strided.row_major(array.shape))
