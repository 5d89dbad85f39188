"""Other modules made of a module: one computation is made anew, and so is whoever calls it.

Instructions that are given to an edit are those of the module that is edited; the result has others
of the same names, except in the computations that both modules share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final

from .._errors import HloError
from .instruction import HloComputation, HloInstruction
from .values import Signature

# Users and the computation follow from the others.
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
    module: Any,
    computation: HloComputation,
    order: Iterable[HloInstruction],
    *,
    changes: Mapping[HloInstruction, Mapping[str, Any]] = MappingProxyType({}),
    uses: Mapping[HloInstruction, HloInstruction] = MappingProxyType({}),
) -> Any:
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
    for current in module.computations:
        stale = any(
            [callee in made for i in current.instructions for callee in i.called_computations]
        )
        if current is computation:
            made[current] = _copied(current, tuple(order), changes, uses, made)
        elif stale:
            made[current] = _copied(current, current.instructions, {}, {}, made)
    names = [i.name for c in module.computations for i in made.get(c, c).instructions]
    if len(set(names)) != len(names):
        taken = next(name for name in names if names.count(name) > 1)
        raise HloError("the name is taken already", instruction=taken)
    entry = made.get(module.entry, module.entry)
    computations = tuple([made.get(current, current) for current in module.computations])
    attributes = module.attributes
    signature = Signature(tuple([p.shape for p in entry.parameters]), entry.root.shape)
    if not _fits(module.signature, signature):
        attributes = MappingProxyType({**attributes, "entry_computation_layout": signature})
    return replace(module, computations=computations, entry=entry, attributes=attributes)


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
