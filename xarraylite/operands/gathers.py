"""Reading through integer arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._errors import IndexRangeError
from ..dtypes.names import NumpyArray, int64, is_narrow_int, kind
from ..index import transform as steps
from ..index.indices import Selection
from ..ir import build
from ..ir.node import Leaf, Node
from ..ir.translation import node_of
from ..ir.walk import depth_first, with_args
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.histories import held, still
from ..memory.snapshots import Copy, Snapshot
from .nodes import HasNode, array_of_object, is_masked
from .tracing import is_traced, remember_index, remembering, writer

#: Elements up to which copying takes less than planning a gather.
FEW = 1 << 12


def is_index_array(item: object) -> bool:
    """Tell whether an index item is an integer array (lists and tuples are, 0-d arrays are not)."""
    if isinstance(item, (list, tuple)):
        return True
    return isinstance(item, (HasNode, np.ndarray)) and item.ndim > 0


def gather(node: Node, selection: Selection) -> Node:
    """Return ``node`` (already basic-indexed) read through the selection's integer array."""
    return in_place(taken(node, selection.take_axis, selection.take), len(node.shape), selection)


def in_place(made: Node, rank: int, selection: Selection) -> Node:
    """Return elements of an array of some rank with the index's dimensions where they belong."""
    if not selection.take_front:
        return made
    axis = selection.take_axis
    front = range(axis, axis + 1 + len(made.shape) - rank)
    rest = [k for k in range(len(made.shape)) if k not in front]
    return build.view(made, steps.permute(made.shape, [*front, *rest]))


def taken(node: Node, axis: int, index: object) -> Node:
    """Return ``node`` read along a dimension through an integer array, of any rank.

    An argument of a function that is being traced has no positions yet: the trace's writer is given
    it.

    Raises
    ------
    IndexRangeError
        If it is no integer array, or a position is out of range.
    """
    written = writer()
    if written is not None and isinstance(index, HasNode) and is_traced(index.node):
        positions = index.node
        if kind(positions.dtype) in "iu":
            return written.taken(node, axis, positions)
    leaf = index_leaf(index, node.shape[axis])
    remember_index(leaf, index, node.shape[axis])
    if leaf.shape:
        return build.gather(node, axis, leaf)
    line: Any = build.reshape(leaf, (1,))
    made = build.gather(node, axis, line)
    return build.reshape(made, (*node.shape[:axis], *node.shape[axis + 1 :]))


def index_leaf(index: object, extent: int) -> Leaf:
    """Return an integer array as checked, non-negative int64 in memory of its own.

    Raises
    ------
    IndexRangeError
        If it is no integer array, or a position is out of range.
    """
    with remembering():
        values = index_values(index)
    layout = Strided.row_major(values.shape)
    buffer = Buffer.allocate(values.size * int64.itemsize)
    counted_from_front(values, extent, buffer.view(int64, layout))
    return Leaf(values.shape, int64, buffer.snapshot(), layout)


def counted_from_front(given: NumpyArray, extent: int, positions: NumpyArray) -> None:
    """Copy an index array into one of int64, counted from the front.

    It is the copy that is checked: another thread may write to what was given.

    Raises
    ------
    IndexRangeError
        If it is no integer array, or a position is out of range.
    """
    if given.dtype.kind not in "iu":
        raise IndexRangeError(
            f"index array of dtype {given.dtype} and shape {given.shape}: only integer arrays "
            "and masks are indices"
        )
    np.copyto(positions, given, casting="unsafe")  # what is no int64 becomes negative
    if not positions.size or int(positions.view(np.uint64).max()) < extent:
        return
    low, high = int(positions.min()), int(positions.max())
    if low < -extent or high >= extent or (given.dtype == np.uint64 and low < 0):
        low, high = int(given.min()), int(given.max())
        raise IndexRangeError(
            f"index array holds {low} to {high}, out of range for an extent of {extent}"
        )
    np.add(positions, extent, out=positions, where=positions < 0)


def gathered_again(root: Node) -> Node:
    """Return a graph with gathers in the place of few elements that were copied.

    What was copied may have been made of copies, as a history is that grew: the walk keeps a stack.
    What several leaves are copies of is one node, else steps of a loop that use the one before
    twice would double it.
    """
    instead: dict[Node, Node] = {}
    wholes: dict[int, Node | None] = {}
    made: dict[Node, Node] = {}

    def parts(node: Node) -> tuple[Node, ...]:
        own = instead[node] = _uncopied(node, wholes)
        return node.args if own is node else (own,)

    for node in depth_first([root], parts):
        own = instead[node]
        args = tuple([made[arg] for arg in node.args])
        made[node] = with_args(node, args) if own is node else made[own]
    return made[root]


def _uncopied(node: Node, wholes: dict[int, Node | None]) -> Node:
    """Return what the elements of a copy are gathered by; any other node is itself.

    Parameters
    ----------
    node : Node
        Of the graph, which holds it.
    wholes : dict
        What copies were found to be of, by the identity of what they are told of it.
    """
    if not (isinstance(node, Leaf) and isinstance(node.snapshot, Copy)):
        return node
    copy = node.snapshot
    if copy.where is not None:
        whole = gathered(copy)
    else:
        if id(copy.made) not in wholes:
            wholes[id(copy.made)] = gathered(copy)
        whole = wholes[id(copy.made)]
    return node if whole is None else _seen(node, whole)


def copied_from(of: Any, where: NumpyArray | int, nbytes: int) -> Copy:
    """Return a snapshot of new memory for elements of a container, which knows where they are."""
    made = Snapshot.alone(nbytes, held(of._buffer))
    made.kind, made.shape, made.start, made.where = of._kind, of._shape, of._start, where
    return made


def gathered(copy: Copy) -> Node | None:
    """Return the elements that were copied, gathered by the kernel that reads them.

    None if the memory is gone or empty, so that the copy has its last values.
    """
    where = copy.where
    if where is None:
        found: Node | None = copy.made.gathered()
        return found
    of = still(copy.made)
    if of is None:
        return None
    kind, shape = copy.kind, copy.shape
    snapshot = of.snapshot() if isinstance(of, Buffer) else of  # that a result was copied to
    memory, size = node_of(kind, shape, (snapshot, copy.start)), math.prod(shape)
    if where.__class__ is bytes:
        where = np.frombuffer(where, int64)
    if where.__class__ is not int:
        return build.gather(build.reshape(memory, (-1,)), 0, index_leaf(where, size))
    if not size:
        return None  # no bytes tell how many positions there are
    extent = shape[where]
    positions = copy.positions(copy.nbytes * extent // (size * kind.itemsize))
    return build.gather(memory, where, index_leaf(positions, extent))


def _seen(copy: Leaf, whole: Node) -> Node:
    """Return of a gather what a leaf shows of the copy of its elements, which lie by rows."""
    place = copy.map
    if place == Strided.row_major(whole.shape):
        return whole
    if type(place) is not Strided or copy.dtype != whole.dtype:
        return copy  # of bytes, or parts of elements
    dense = math.prod(place.shape) == math.prod(whole.shape)
    if 0 in whole.shape or (dense and place == Strided.row_major(place.shape)):
        return build.reshape(whole, place.shape)
    at = np.full(place.shape, place.offset)
    for numbers, stride in zip(np.indices(place.shape), place.strides, strict=True):
        at += numbers * stride
    flat = build.reshape(whole, (-1,))
    return build.gather(flat, 0, index_leaf(at, flat.shape[0]))


def index_values(index: object) -> NumpyArray:
    """Return an index array's values."""
    if isinstance(index, np.ndarray) and is_masked(index):
        raise IndexRangeError("index array: got a masked array; fill it first, as masks are lost")
    try:
        values = index._as_numpy() if isinstance(index, HasNode) else array_of_object(index)
    except ValueError as error:
        raise IndexRangeError(f"index array: nested lists are ragged ({error})") from None
    empty = not values.size and isinstance(index, list)
    return values.astype(np.int64) if empty or is_narrow_int(values.dtype) else values
