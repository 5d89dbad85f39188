"""What small results that were computed when they were written were computed of.

Such a result is an expression of a copy, which is no container's memory.  The copy says how to
compute the result again, so that `late` does not depend on what was computed when.
"""

from __future__ import annotations

from collections.abc import Callable
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
    part : tuple, or list of tuple
        The operand, or several.
    lazily : callable
        Makes the result's node of the operands'.
    dtype : numpy.dtype
        Of the result.
    depth : int
        How many such results, each computed of the one before, it is computed of; 0 of a join, as
        all of a history is remembered.
    """

    __slots__ = ("depth", "dtype", "lazily", "part")

    def __init__(
        self, part: Any, lazily: Callable[..., Node], dtype: DType, joins: bool = False
    ) -> None:
        self.part, self.lazily, self.dtype = part, lazily, dtype
        parts = [] if joins else self._parts()
        self.depth = len(parts[:1]) + max([depth_of(x) for own in parts for x in own[2]], default=0)

    def _parts(self) -> list[Part]:
        return self.part if self.part.__class__ is list else [self.part]

    def gathered(self) -> Node | None:
        """Return the result of the operands as they are now; None if memory of one is gone."""
        nodes = [node_of_part(part) for part in self._parts()]
        return None if None in nodes else self.lazily(*nodes)


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
