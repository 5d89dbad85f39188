"""Plans of large expressions, bound to other operands of the same kind and extents.

A plan depends on no address and on no value of a scalar.  So for a kind and extents that have been
met before, nothing has to be walked: it is known where among the operands (`ir.kind`) each of the
plan's slots and scalars stands.  Unlike a replay (`runtime.replay`) a bound plan is run as any
other is: without the interpreter's lock, piece by piece, on several threads, its operands pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._config import settings
from ..codegen.kernel import KernelRaised
from ..compiler.graph import Graph
from ..compiler.program import Program
from ..ir.kind import Kind
from ..ir.node import Scalar
from ..layout.strided import Order
from ..memory.block import Memory
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot, pinned
from .run import run_steps


@dataclass(frozen=True, slots=True)
class Bound:
    """A plan, and where its operands stand among those of an expression.

    Attributes
    ----------
    program : Program
        The plan.
    leaves : tuple of int
        The place of each leaf's memory; the byte it begins at is the next operand.
    scalars : tuple of (ordinal, int, dtype)
        The place of each scalar.
    nbytes : int
        Of the result.
    result : Kind
        Of the new memory.
    policy : Order
        The result's layout.
    """

    program: Program
    leaves: tuple[int, ...]
    scalars: tuple[tuple[int, int, Any], ...]
    nbytes: int
    result: Kind
    policy: Order

    @staticmethod
    def of(
        program: Program,
        graph: Graph,
        places: dict[int, int],
        nbytes: int,
        result: Kind,
        policy: Order,
    ) -> Bound:
        """Return a plan whose leaves and scalars stand in these places, by their identities."""
        leaves = tuple([places[id(leaf.snapshot)] for leaf in graph.leaves])
        scalars = [
            (ordinal, places[id(node)], node.dtype)
            for ordinal, node in enumerate(graph.nodes)
            if isinstance(node, Scalar)
        ]
        return Bound(program, leaves, tuple(scalars), nbytes, result, policy)

    def evaluated(self, operands: Sequence[Any]) -> Buffer | None:
        """Return new memory with the result.

        None where it is refused, an operand is gone or a user's function raises, of which the
        general way tells.
        """
        if self.nbytes > settings.max_result_bytes:
            return None
        memory = [operands[place] for place in self.leaves]
        with pinned([one for one in memory if isinstance(one, Snapshot)]):
            if any([isinstance(one, Snapshot) and one.stale is not None for one in memory]):
                return None
            nodes = {
                ordinal: Scalar((), dtype, dtype.type(operands[place]))
                for ordinal, place, dtype in self.scalars
            }
            made = Buffer.allocate(self.nbytes)
            buffers: list[Memory] = [made, *memory]
            starts = [0, *[operands[place + 1] for place in self.leaves]]
            try:
                run_steps(self.program, buffers, starts, nodes)
            except KernelRaised:
                return None
        return made
