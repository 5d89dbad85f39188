"""Whether a module keeps HLO's rules: shapes, attributes, what is called, and the entry's layout.

What the classes themselves refuse is not checked again: operands and control predecessors stand
before their users, so there are no cycles, and parameters are numbered without holes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..._errors import HloError, XarrayliteError
from ...xla.spec import ArraySpec
from ..nodes import InstructionNode, ModuleNode
from ..opcodes import ACCURATE, OPCODES
from ..values import Alias
from .inference import infer_shape

# Operations that may compute in one precision and give another.
_MIXED_NAMES = """
all-gather all-gather-start all-reduce all-reduce-start call conditional convolution dot fusion
reduce reduce-scatter reduce-window while
"""
_MIXED: Final = frozenset(_MIXED_NAMES.split())


def verify_module(module: ModuleNode) -> None:
    """Check every instruction of a module, and its header.

    Raises
    ------
    HloError
        For the first rule that is broken.
    """
    names: set[str] = set()
    for computation in module.computations:
        for instruction in computation.instructions:
            if instruction.name in names:
                raise HloError("the name is taken already", instruction=instruction.name)
            names.add(instruction.name)
            verify_instruction(instruction)
    _verify_signature(module)


def verify_instruction(instruction: InstructionNode) -> None:
    """Check one instruction.

    Raises
    ------
    HloError
        With its name, the operation, the shapes of its operands, and the rule that is broken.
    """
    row = OPCODES.get(instruction.opcode)
    name = instruction.name
    if row is None:
        raise HloError(f"there is no opcode {instruction.opcode}", instruction=name)
    operands = instruction.operands
    if row.arity is not None and len(operands) != row.arity:
        raise HloError(
            f"{row.name} takes {row.arity} operands, not {len(operands)}", instruction=name
        )
    for needed in row.required:
        if needed not in instruction.attributes and needed not in row.calls:
            raise HloError(f"{row.name} needs the attribute {needed}", instruction=name)
    if "result_accuracy" in instruction.attributes and row.name not in ACCURATE:
        raise HloError(f"{row.name} has no attribute result_accuracy", instruction=name)
    shapes = tuple([operand.shape for operand in operands])
    try:
        inferred = infer_shape(
            row.name,
            shapes,
            instruction.attributes,
            instruction.called_computations,
            instruction.shape,
        )
    except HloError as error:
        raise HloError(error.expected, instruction=name) from None
    except XarrayliteError as error:
        raise HloError(f"{row.name}: {error}", instruction=name) from None
    if inferred is not None and not _agree(row.name, inferred, instruction.shape):
        shown = ", ".join([shape.human_string() for shape in shapes])
        raise HloError(
            f"{row.name}({shown}) gives {inferred.human_string()}, "
            f"not {instruction.shape.human_string()}",
            instruction=name,
        )
    aliases = instruction.attributes.get("output_to_operand_aliasing", ())
    _verify_sharing("output_to_operand_aliasing", aliases, shapes, instruction.shape, name)
    if row.name == "constant" and instruction.literal.shape != instruction.shape:
        raise HloError("a constant has the shape of its value", instruction=name)


def _agree(opcode: str, inferred: ArraySpec, declared: ArraySpec) -> bool:
    if inferred is declared or inferred.compatible(declared):
        return True
    return opcode in _MIXED and inferred.compatible_ignoring_fp_precision(declared)


def _verify_signature(module: ModuleNode) -> None:
    """Check that the entry has the parameters and the result that the header says."""
    signature = module.signature
    parameters = module.entry.parameters
    if len(parameters) != len(signature.parameters):
        raise HloError(
            f"entry_computation_layout has {len(signature.parameters)} parameters, "
            f"{module.entry.name} {len(parameters)}"
        )
    pairs = [
        *zip(signature.parameters, [p.shape for p in parameters], strict=True),
        (signature.result, module.entry.root.shape),
    ]
    for said, found in pairs:
        if not said.compatible(found):
            raise HloError(
                f"entry_computation_layout says {said.human_string()} where "
                f"{module.entry.name} has {found.human_string()}"
            )
    aliases = module.attributes.get("input_output_alias", ())
    given, result = signature.parameters, signature.result
    _verify_sharing("input_output_alias", aliases, given, result)
    donors = [Alias((), *donor) for donor in module.attributes.get("buffer_donor", ())]
    _verify_sharing("buffer_donor", donors, given, result)


def _verify_sharing(
    what: str,
    aliases: Iterable[Alias],
    given: Sequence[ArraySpec],
    result: ArraySpec,
    name: str = "",
) -> None:
    """Check that what is said to share memory is there."""
    for alias in aliases:
        if not 0 <= alias.operand < len(given):
            raise HloError(
                f"{what} names operand {alias.operand} of {len(given)}", instruction=name
            )
        for whole, index in (
            (given[alias.operand], alias.operand_index),
            (result, alias.output_index),
        ):
            shape = whole
            for number in index:
                if not (shape.is_tuple and 0 <= number < len(shape.tuple_shapes)):
                    raise HloError(
                        f"{what} names a part {{{','.join(map(str, index))}}} of "
                        f"{whole.human_string()}, which has none",
                        instruction=name,
                    )
                shape = shape.tuple_shapes[number]
