"""What the modules that make steps ask of the planner, which asks them for steps."""

from __future__ import annotations

from typing import Protocol

from ..codegen.emit.streams import Access
from .boxes import Part
from .graph import Graph
from .lower import Lowered, Use
from .program import HostStep, Step
from .steps import Destination, Memory


class Planner(Protocol):
    """The graph, what has been decided so far, and how to go on.

    Attributes
    ----------
    graph : Graph
        The expression.
    materialised : dict of int to str
        Nodes that are evaluated on their own, and why.
    leaf_slot : dict of int to int
        The slot of a leaf, by its identity.
    """

    graph: Graph
    materialised: dict[int, str]
    leaf_slot: dict[int, int]

    def lowered(self, start: int, own: int) -> Lowered:
        """Lower a kernel, materialising nodes until it can be."""

    def divided(
        self, start: int, own: int, to: Destination, axes: tuple[int, ...] | None = None
    ) -> list[Part] | None:
        """Return the boxes of a kernel; None if no loop nest serves the destination."""

    def memory(self, use: Use, access: Access, own: int) -> Memory:
        """Return where an operand is, planning its temporary."""

    def temporary(self, nbytes: int, reason: str) -> int:
        """Return the slot of new memory."""

    def map_one(self, start: int, own: int, to: Destination, note: str) -> list[Step]:
        """Return the steps that compute a node element by element."""

    def copy_step(self, start: int, own: int, to: Destination, note: str) -> HostStep:
        """Return the step with which NumPy copies where no loop nest serves."""
