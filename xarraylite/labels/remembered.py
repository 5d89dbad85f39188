"""Products seen before, which go straight to BLAS.

Planning a product takes much longer than multiplying small matrices.  Where both operands are read
as they lie, all that was decided follows from labels, dtypes, shapes and strides.  A `Recipe` keeps
it under a key of those; the next such product takes its operands' memory, and runs.  What was
checked when the recipe was made is not checked again, so the key holds whatever a check looks at.
What may have changed since is asked each time: the limit of results by `recall`, and by the caller
whether the destination can be written, and whether it shares memory with an operand.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeGuard

import numpy as np

from .._config import settings
from .._records import record
from ..blas.calls import in_one_call, multiply, quiet
from ..blas.stacks import DOT_DTYPES, Product, matrices
from ..dtypes.names import DType, NumpyArray
from ..ir.node import Leaf, Node
from ..ir.walk import rebuild, with_args
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.block import Memory
from ..memory.buffer import NOWHERE, Buffer
from ..memory.snapshots import Snapshot
from .labelled import Indexed, Labels, XLabelled

Key = tuple[object, ...]

#: What decides how two operands in strided memory are multiplied, and the operands.
Call = tuple[Key, Leaf, Leaf]

#: Recipes remembered; one is about a kilobyte.
_LIMIT = 1024

#: What a hollow leaf refers to.
NOTHING = Snapshot.of(NOWHERE)

_recipes: dict[Key, Recipe] = {}


class Filled(NamedTuple):
    """A result in new memory of its own."""

    buffer: Buffer
    map: Map
    dtype: DType

    def leaf(self) -> Leaf:
        """Return it as a node."""
        return Leaf(self.map.shape, self.dtype, self.buffer.snapshot(), self.map)


class Window(NamedTuple):
    """Memory as an array, in bytes from the first element of the array that it is part of."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int
    low: int
    high: int

    @classmethod
    def of(cls, place: Strided, base: int, itemsize: int, squeezed: tuple[int, ...]) -> Window:
        """Return a place, less some dimensions of extent 1, seen from the position ``base``."""
        axes = [d for d in range(place.ndim) if d - place.ndim not in squeezed]
        low, high = place.byte_range(itemsize)
        first = base * itemsize
        return cls(
            tuple([place.shape[d] for d in axes]),
            # never stepped along, and may be too large for a C integer
            tuple([(place.strides[d] if place.shape[d] > 1 else 1) * itemsize for d in axes]),
            place.offset * itemsize - first,
            low - first,
            high - first,
        )

    def array(self, dtype: DType, memory: Memory, first: int) -> NumpyArray:
        """Return the memory; NumPy refuses what would lie outside the buffer."""
        shape, strides, start, _, _ = self
        return np.ndarray(shape, dtype, memory.run(), first + start, strides)


@record(frozen=True, slots=True)
class Recipe:
    """How to multiply two operands like those it was made from.

    Attributes
    ----------
    function : callable
        Takes two arrays and the one it writes.
    left, right, out : Window
        What it is given of the operands and the destination.
    place : Strided
        The destination, its first element at position 0.
    dtype : numpy.dtype
        Dtype of all of them.
    nbytes : int
        Bytes of a result of its own.
    made : object
        What `explain` is told of such a result.
    """

    function: Callable[[NumpyArray, NumpyArray, NumpyArray], object]
    left: Window
    right: Window
    out: Window
    place: Strided
    dtype: DType
    nbytes: int
    made: object

    @classmethod
    def of(
        cls, product: Product, call: Call, place: Strided, labels: Labels, made: object = None
    ) -> Recipe | None:
        """Return how a call's operands were multiplied; None unless they were read in place."""
        gemm, dtype, size = product.gemm, product.dtype, product.dtype.itemsize
        left, right = product.left, product.right
        packs = gemm.pack_left is not None or gemm.pack_right is not None
        if packs or left is None or right is None or not place.size:
            return None
        _, first, second = call
        if not (left.memory.is_same(first.snapshot) and right.memory.is_same(second.snapshot)):
            return None
        groups = (gemm.stack, gemm.rows, gemm.columns, product.extents)
        out = matrices(place.based(), labels, *groups)
        function: Callable[[NumpyArray, NumpyArray, NumpyArray], object] = multiply
        squeezed: tuple[tuple[int, ...], ...] = ((), (), ())
        if in_one_call(left.place.shape, out.shape):  # the one that `multiply` makes
            function = np.matmul
            if out.shape[-2:] == (1, 1) and dtype in DOT_DTYPES:
                function, squeezed = np.vecdot, ((-2,), (-1,), (-2, -1))
        return cls(
            function,
            Window.of(left.place, first.map.offset, size, squeezed[0]),
            Window.of(right.place, second.map.offset, size, squeezed[1]),
            Window.of(out, 0, size, squeezed[2]),
            place.based(),
            dtype,
            place.size * size,
            made,
        )

    def arrays(self, call: Call) -> tuple[NumpyArray, NumpyArray]:
        """Return what is multiplied of two operands."""
        _, left, right = call
        dtype = self.dtype
        size = dtype.itemsize
        return (
            self.left.array(dtype, left.snapshot, left.map.offset * size),
            self.right.array(dtype, right.snapshot, right.map.offset * size),
        )

    def reads(self, call: Call, buffer: Buffer, first: int) -> bool:
        """Tell whether an operand may lie where a destination, ``first`` bytes into it, does."""
        low, high = buffer.address + first + self.out.low, buffer.address + first + self.out.high
        size = self.dtype.itemsize
        for window, leaf in zip((self.left, self.right), call[1:], strict=True):
            start = leaf.snapshot.address + leaf.map.offset * size
            if start + window.low <= high and low <= start + window.high:
                return True
        return False

    def run(self, left: NumpyArray, right: NumpyArray, buffer: Buffer, first: int) -> None:
        """Write the product to a destination that begins ``first`` bytes into a buffer."""
        with quiet():
            self.function(left, right, self.out.array(self.dtype, buffer, first))

    def filled(self, call: Call) -> Filled:
        """Return the product in new memory."""
        buffer = Buffer.allocate(self.nbytes)
        self.run(*self.arrays(call), buffer, 0)
        buffer.made, buffer.special = self.made, True
        return Filled(buffer, self.place, self.dtype)


def is_memory(node: Node) -> TypeGuard[Leaf]:
    """Tell whether a node is strided memory that can be read as it is now."""
    if type(node) is not Leaf or type(node.map) is not Strided:
        return False
    snapshot = node.snapshot
    return snapshot.stale is None and not snapshot.traced and not snapshot.late


def call_of(operation: Key, left: Node, right: Node) -> Call | None:
    """Return the call of an operation on two operands; None unless both are in memory."""
    if not (is_memory(left) and is_memory(right)):
        return None
    a, b = left.map, right.map
    key = (*operation, left.dtype, a.shape, a.pattern, right.dtype, b.shape, b.pattern)
    return key, left, right


def call_of_labels(value: object, operation: Key) -> Call | None:
    """Return the call of a labelled expression that is nothing but a product of two operands."""
    if not isinstance(value, XLabelled) or len(value.terms) != 1:
        return None
    factors, scales, negative = value.terms[0]
    if len(factors) != 2 or scales or negative:
        return None
    left, right = factors
    if not (isinstance(left, Indexed) and isinstance(right, Indexed)):
        return None
    labelled = (*operation, value.dtype, left.labels, right.labels)
    return call_of(labelled, left.node, right.node)


def hollow(node: Node) -> Node:
    """Return a node of the same shape, dtype and layout that keeps no memory alive."""

    def visit(node: Node, args: tuple[Node, ...]) -> Node:
        if isinstance(node, Leaf):
            return Leaf(node.shape, node.dtype, NOTHING, node.map)
        return with_args(node, args)

    return rebuild(node, visit)


def recall(call: Call | None) -> Recipe | None:
    """Return the recipe of a call, if its result may be as large as it is."""
    known = None if call is None else _recipes.get(call[0])
    return None if known is None or known.nbytes > settings.max_result_bytes else known


def remember(call: Call, recipe: Recipe | None) -> None:
    """Keep a recipe; when there are too many, all others are forgotten."""
    if recipe is not None:
        if len(_recipes) >= _LIMIT:
            _recipes.clear()
        _recipes[call[0]] = recipe
