"""What printing, ordering and verifying need of instructions, computations and modules.

The classes themselves have methods that print and verify, so these modules know them by what they
have alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from ..xla.spec import ArraySpec
from .text.literals import HloLiteral
from .text.tables import StackFrame
from .values import OpMetadata, Signature


class InstructionNode(Protocol):
    """What an `HloInstruction` has."""

    @property
    def name(self) -> str: ...

    @property
    def opcode(self) -> str: ...

    @property
    def shape(self) -> ArraySpec: ...

    @property
    def operands(self) -> tuple[InstructionNode, ...]: ...

    @property
    def users(self) -> tuple[InstructionNode, ...]: ...

    @property
    def attributes(self) -> Mapping[str, Any]: ...

    @property
    def called_computations(self) -> tuple[ComputationNode, ...]: ...

    @property
    def control_predecessors(self) -> tuple[InstructionNode, ...]: ...

    @property
    def metadata(self) -> OpMetadata | None: ...

    @property
    def literal(self) -> HloLiteral: ...

    @property
    def parameter_number(self) -> int: ...


class ComputationNode(Protocol):
    """What an `HloComputation` has."""

    @property
    def name(self) -> str: ...

    @property
    def instructions(self) -> tuple[InstructionNode, ...]: ...

    @property
    def root(self) -> InstructionNode: ...

    @property
    def parameters(self) -> tuple[InstructionNode, ...]: ...

    @property
    def execution_thread(self) -> str: ...

    def post_order(self) -> tuple[InstructionNode, ...]: ...


class ModuleNode(Protocol):
    """What an `HloModule` has."""

    @property
    def name(self) -> str: ...

    @property
    def computations(self) -> tuple[ComputationNode, ...]: ...

    @property
    def entry(self) -> ComputationNode: ...

    @property
    def is_scheduled(self) -> bool: ...

    @property
    def attributes(self) -> Mapping[str, Any]: ...

    @property
    def stack_frames(self) -> tuple[StackFrame, ...]: ...

    @property
    def signature(self) -> Signature: ...

    def post_order(self) -> tuple[ComputationNode, ...]: ...

    def walk(self, *opcodes: str) -> Iterator[InstructionNode]: ...
