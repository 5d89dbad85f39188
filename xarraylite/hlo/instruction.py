"""Instructions and computations: the nodes of a program and the functions they stand in.

A computation is a list of instructions in an order in which each comes behind its operands.  Both
are frozen.  An instruction belongs to one computation, which tells it who its users are; a change
makes new objects for the whole computation and for whoever calls it, and shares the rest.

Other modules made of a module: one computation is made anew, and so is whoever calls it.

Instructions that are given to an edit are those of the module that is edited; the result has others
of the same names, except in the computations that both modules share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final, TypeVar

from .._errors import HloError
from .._records import record
from ..xla.spec import ArraySpec
from .nodes import ComputationNode, InstructionNode, callees, signature_of
from .text.printer import computation_text, instruction_text
from .text.styles import print_options
from .values import Signature


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


def parameter(name: str, spec: ArraySpec, number: int) -> HloInstruction:
    """Return the parameter of a number."""
    return HloInstruction(
        name, "parameter", spec, (), MappingProxyType({"parameter_number": number})
    )


# Users and the computation follow from the others.
M = TypeVar("M")
_FIELDS: Final = tuple([field.name for field in fields(HloInstruction) if field.repr])


def own_computation(
    computations: Iterable[HloComputation], instruction: HloInstruction
) -> HloComputation:
    """Return the computation in which an instruction stands.

    Raises
    ------
    HloError
        If it stands in none of them.
    """
    found = instruction.computation
    if found is None or found not in computations:
        raise HloError("is no instruction of this module", instruction=instruction.name)
    return found


def edited(
    module: M,
    computation: HloComputation,
    order: Iterable[HloInstruction],
    *,
    changes: Mapping[HloInstruction, Mapping[str, Any]] = MappingProxyType({}),
    uses: Mapping[HloInstruction, HloInstruction] = MappingProxyType({}),
) -> M:
    """Return a module in which one computation has other instructions.

    Parameters
    ----------
    module : HloModule
        The module.
    computation : HloComputation
        One of its computations.
    order : iterable of HloInstruction
        Its instructions afterwards; new ones belong to no computation yet.
    changes : mapping
        Fields that differ, by instruction.
    uses : mapping
        Instructions whose results are to be taken from another one.

    Raises
    ------
    HloError
        If an operand stands behind its user, a name is taken, or a field is none.
    """
    made: dict[HloComputation, HloComputation] = {}
    whole: Any = module
    for current in whole.computations:
        if current is computation:
            made[current] = _copied(current, tuple(order), changes, uses, made)
        elif any([callee in made for callee in callees(current)]):
            made[current] = _copied(current, current.instructions, {}, {}, made)
    names = [i.name for c in whole.computations for i in made.get(c, c).instructions]
    if len(set(names)) != len(names):
        taken = next(name for name in names if names.count(name) > 1)
        raise HloError("the name is taken already", instruction=taken)
    entry = made.get(whole.entry, whole.entry)
    computations = tuple([made.get(current, current) for current in whole.computations])
    attributes = whole.attributes
    signature = signature_of(entry)
    if not _fits(whole.signature, signature):
        attributes = MappingProxyType({**attributes, "entry_computation_layout": signature})
    changed: M = replace(whole, computations=computations, entry=entry, attributes=attributes)
    return changed


def _fits(said: Signature, found: Signature) -> bool:
    """Whether the layouts that a header gives still belong to the entry's shapes."""
    if len(said.parameters) != len(found.parameters):
        return False
    pairs = zip((*said.parameters, said.result), (*found.parameters, found.result), strict=True)
    return all([a.compatible(b) for a, b in pairs])


def _copied(
    computation: HloComputation,
    order: tuple[HloInstruction, ...],
    changes: Mapping[HloInstruction, Mapping[str, Any]],
    uses: Mapping[HloInstruction, HloInstruction],
    callees: Mapping[HloComputation, HloComputation],
) -> HloComputation:
    copies: dict[HloInstruction, HloInstruction] = {}
    for instruction in order:
        values = {name: getattr(instruction, name) for name in _FIELDS}
        changed = changes.get(instruction, {})
        unknown = changed.keys() - values.keys()
        if unknown:
            raise HloError(
                f"{min(unknown)} is no field to change; there are {' '.join(_FIELDS)}",
                instruction=instruction.name,
            )
        values |= changed
        for name in ("operands", "control_predecessors"):
            # What replaces an instruction may itself be made of it.
            wanted = [
                operand if uses.get(operand) is instruction else uses.get(operand, operand)
                for operand in values[name]
            ]
            late = [operand for operand in wanted if operand not in copies]
            if late:
                raise HloError(
                    f"operand {late[0].name} does not stand before it in {computation.name}",
                    instruction=instruction.name,
                )
            values[name] = tuple([copies[operand] for operand in wanted])
        called = values["called_computations"]
        values["called_computations"] = tuple([callees.get(callee, callee) for callee in called])
        values["attributes"] = MappingProxyType(dict(values["attributes"]))
        copies[instruction] = HloInstruction(**values)
    root = uses.get(computation.root, computation.root)
    if root not in copies:
        raise HloError("the root cannot be removed", instruction=root.name)
    return HloComputation(
        computation.name, tuple(copies.values()), copies[root], computation.execution_thread
    )
