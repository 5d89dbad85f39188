"""What small results that were computed when they were written were computed of.

Such a result is an expression of a copy, which is no container's memory.  The copy says how to
compute the result again, so that `late` does not depend on what was computed when.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dtypes.names import DType
from ..ir.kind import Kind, Operands, leaves_of
from ..ir.node import Node
from ..ir.translation import node_of
from ..memory.buffer import Buffer
from ..memory.histories import held, still
from ..memory.snapshots import Copy, Snapshot
from ..operands.nodes import Gathers

#: Results, each computed of the one before, of which no more is remembered.
DEEP = 16

#: An array as it was written: NumPy's, or kind, shape and operands, with the buffer of memory as
#: it is `held`.
Part = Any


class Recomputed(Gathers):
    """A result that was computed when it was written.

    Attributes
    ----------
    part : tuple
        The operand.
    lazily : callable
        Makes the result's node of the operand's.
    dtype : numpy.dtype
        Of the result.
    depth : int
        How many such results, each computed of the one before, it is computed of.
    """

    __slots__ = ("depth", "dtype", "lazily", "part")

    def __init__(self, part: Part, lazily: Callable[..., Node], dtype: DType) -> None:
        self.part, self.lazily, self.dtype = part, lazily, dtype
        self.depth = 1 + max(map(depth_of, part[2]), default=0)

    def gathered(self) -> Node | None:
        """Return the result of the operand as it is now; None if its memory is gone."""
        node = node_of_part(self.part)
        return None if node is None else self.lazily(node)


class RecomputedOfSeveral(Recomputed):
    """A result that was computed of several arrays when it was written.

    Attributes
    ----------
    parts : sequence of tuple
        The operands; ``lazily`` is given the nodes of all of them.
    """

    __slots__ = ("parts",)

    def __init__(
        self, parts: Sequence[Part], lazily: Callable[..., Node], dtype: DType, joins: bool = False
    ) -> None:
        self.parts, self.lazily, self.dtype, self.depth = parts, lazily, dtype, 0
        if not joins:  # else all of a history is remembered
            self.depth = 1 + max([depth_of(item) for part in parts for item in part[2]])

    def gathered(self) -> Node | None:
        """Return the result of the operands as they are now; None if memory of one is gone."""
        nodes = [node_of_part(part) for part in self.parts]
        return None if None in nodes else self.lazily(*nodes)


def recomputed(
    parts: Sequence[Part], lazily: Callable[..., Node], dtype: DType, joins: bool = False
) -> Recomputed:
    """Return what says of a result that it was computed of some arrays."""
    if len(parts) == 1:
        return Recomputed(parts[0], lazily, dtype)
    return RecomputedOfSeveral(parts, lazily, dtype, joins)


def unchanged(node: Node) -> Node:
    """Return the node of a result that is its operand, computed."""
    return node


def node_of_part(part: Part) -> Node | None:
    """Return an array that was written as a node, with what its memory holds now, if it does."""
    kind, shape, operands = part
    found = [still(item) for item in operands]
    if None in found:
        return None
    items = [item.snapshot() if isinstance(item, Buffer) else item for item in found]
    return node_of(kind, shape, tuple(items))


def depth_of(item: object) -> int:
    """Return how many results, each computed of the one before, an operand was computed of."""
    made = item.made if isinstance(item, Copy) else None
    made = made.made if isinstance(made, Copy) else made  # elements of a result
    return made.depth if isinstance(made, Recomputed) else 0


#: The key of the dtypes of memory in the tables of kinds.
_LEAVES = "leaves"


def _dtypes(kind: Kind) -> tuple[DType, ...]:
    """Return the dtypes of what a kind reads in memory; of forms nothing is said."""
    found: tuple[DType, ...] | None = kind.leads(_LEAVES, None)
    if found is None:
        leaves = () if kind.formed else leaves_of(kind)
        found = tuple([leaf.dtype for leaf in leaves if not leaf.scalar])
        kind.learn(_LEAVES, None, found)
    return found


def outlined(kind: Kind, operands: Operands) -> Operands:
    """Return operands without bytes: buffers, and copies of which it is known what they are of.

    Of what is computed of many results in turn the bytes stay, so that no loop keeps all its past.
    """
    leaves = _dtypes(kind)
    dtypes = iter(leaves)
    found: list[Any] = []
    for item in operands:
        own = next(dtypes, None) if isinstance(item, Snapshot) else None
        if depth_of(item) >= DEEP:
            item = Snapshot.of(item)
        elif isinstance(item, Copy):
            known = own is not None and item.where is None
            item = item.outline() if known and getattr(item.made, "dtype", None) == own else item
        elif isinstance(item, Snapshot) and leaves and item.origin is not None:
            buffer: Any = item.origin()
            item = item if buffer is None else held(buffer)
        found.append(item)
    return tuple(found)
