"""Products seen before, which go straight to BLAS.

Planning a product takes much longer than multiplying small matrices.  Where both operands are read
as they lie, all that was decided follows from labels, dtypes, shapes and strides.  A `Recipe` keeps
it under a key of those; the next such product takes its operands' memory, and runs.  What was
checked when the recipe was made is not checked again, so the key holds whatever a check looks at.
What may have changed since is asked each time: the limit of results by `recall`, and by the caller
whether the destination can be written, and whether it shares memory with an operand.
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from .._config import settings
from .._tables import kept
from ..blas.stacks import Located, Product, Recipe
from ..dtypes.names import DType
from ..ir.node import Leaf, Node
from ..ir.walk import rebuild, with_args
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.buffer import NOWHERE, Buffer
from ..memory.snapshots import Snapshot
from .labelled import Indexed, XLabelled

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


def filled(recipe: Recipe, left: Located, right: Located) -> Filled:
    """Return a product in new memory."""
    buffer = Buffer.allocate(recipe.nbytes)
    recipe.run(*recipe.arrays(left, right), buffer, 0)
    buffer.made, buffer.special = recipe.made, True
    return Filled(buffer, recipe.place, recipe.dtype)


def memories_of(call: Call) -> tuple[Located, Located]:
    """Return where the operands of a call are."""
    left, right = [(x.snapshot, x.map.byte_start(x.dtype.itemsize)) for x in call[1:]]
    return left, right


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


def remember(call: Call, product: Product, recipe: Recipe) -> None:
    """Keep how a call's operands were multiplied, if they were read in place.

    When there are too many recipes, all others are forgotten.
    """
    memories = [matrices.memory for matrices in product.factors]
    in_place = all([m.is_same(x.snapshot) for m, x in zip(memories, call[1:], strict=True)])
    packs = product.gemm.pack_left is not None or product.gemm.pack_right is not None
    if in_place and not packs and recipe.nbytes:
        kept(_recipes, call[0], recipe, _LIMIT)
