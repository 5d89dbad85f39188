"""Instructions and computations: the nodes of a program and the functions they stand in.

A computation is a list of instructions in an order in which each comes behind its operands.  Both
are frozen.  An instruction belongs to one computation, which tells it who its users are; a change
makes new objects for the whole computation and for whoever calls it, and shares the rest.
"""

from __future__ import annotations

from typing import Any

from .._records import record
from .nodes import ComputationNode, InstructionNode
from .text.printer import computation_text, instruction_text
from .text.styles import print_options


@record(frozen=True, slots=True, eq=False)
class HloInstruction(InstructionNode["HloComputation"]):
    """One operation on the results of others.

    Attributes
    ----------
    name : str
        Unique in its module, without ``%``.
    opcode : str
        What it does: ``"add"``, ``"get-tuple-element"``, ...
    shape : ArraySpec
        Shape and layout of its result.
    operands : tuple of HloInstruction
        Whose results it takes.
    attributes : mapping
        Typed values by name, without those that are taken for granted; see `get`.
    called_computations : tuple of HloComputation
        Computations it applies, in the order of ``OPCODES[opcode].calls``; the branches of a
        conditional by number.
    control_predecessors : tuple of HloInstruction
        What must have run before it, though it takes no result of theirs.
    metadata : OpMetadata or None
        Where it comes from.
    users : tuple of HloInstruction
        Who takes its result, each once, in the order in which they stand.
    computation : HloComputation or None
        Where it stands.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse(
    ...     "ENTRY e { p = f32[2,3] parameter(0)  t = f32[3,2] transpose(p), dimensions={1,0} }"
    ... )
    >>> root = module.entry.root
    >>> root.opcode, str(root.shape), root.operands[0].name, root.attributes["dimensions"]
    ('transpose', 'f32[3,2]{1,0}', 'p', (1, 0))
    """

    def to_text(self, style: str = "default", **options: Any) -> str:
        """Return the instruction's line as XLA prints it; see ``HloModule.to_text``.

        Raises
        ------
        HloError
            If there is no such style or option.
        """
        return instruction_text(self, print_options(style, options))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        names = ", ".join([operand.name for operand in self.operands])
        return f"<HloInstruction {self.name} = {self.shape} {self.opcode}({names})>"


@record(frozen=True, slots=True, eq=False)
class HloComputation(ComputationNode[HloInstruction]):
    """A function: instructions, parameters among them, one of which is the result.

    Attributes
    ----------
    name : str
        Unique in its module.
    instructions : tuple of HloInstruction
        In definition order: operands stand before their users.
    root : HloInstruction
        Whose result is returned; the last instruction unless another one is given.
    parameters : tuple of HloInstruction
        By number.
    execution_thread : str
        Where it runs; ``"main"`` as a rule.

    Raises
    ------
    HloError
        If an instruction stands behind a user, belongs to another computation, or the numbers of
        the parameters have a hole.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse("f { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }")
    >>> f = module.entry
    >>> [i.name for i in f.instructions], f.root.name, f.parameters[0].users == (f.root,)
    (['a', 'b'], 'b', True)
    """

    def to_text(self, style: str = "default", **options: Any) -> str:
        """Return the text of the computation as XLA prints it; see ``HloModule.to_text``.

        Raises
        ------
        HloError
            If there is no such style or option.
        """
        return computation_text(self, print_options(style, options))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<HloComputation {self.name}: {len(self.instructions)} instructions>"
