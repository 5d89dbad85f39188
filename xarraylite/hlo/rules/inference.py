"""Shapes of results by operands and attributes, from one table of rules; whether modules keep them.

The same rules serve the reader, where a text leaves shapes out, and the verifier.  Shapes that XLA
infers have XLA's layouts: elementwise operations and what keeps an array in its place keep the
layout of an operand, a transpose permutes it, everything else has the default one.

Operations without a rule (custom calls, constants, parameters, ...) are opaque: what they are said
to give is what they give.

To verify an instruction is to infer its shape and to compare.

What the classes themselves refuse is not checked again: operands and control predecessors stand
before their users, so there are no cycles, and parameters are numbered without holes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from ..._errors import HloError, XarrayliteError
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from ..opcodes import ACCURATE, OPCODES
from ..values import Alias, Signature
from . import callers, devices, elementwise, movement, windows
from .call import Call, Rule, Unsaid

#: The rule of each operation that has one.
RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        opcode: rule
        for part in (elementwise, movement, windows, callers, devices)
        for opcode, rule in part.RULES.items()
    }
)


_ANYTHING_NAMES = """
add-dependency after-all all-gather-done all-reduce-done async-done async-start async-update call
collective-broadcast collective-permute collective-permute-done collective-permute-start conditional
copy copy-done copy-start domain fusion get-tuple-element infeed opt-barrier outfeed recv recv-done
scan select send send-done tuple while
"""
#: Operations whose operands need not be arrays.
_ANYTHING: Final = frozenset(_ANYTHING_NAMES.split())

_NO_OPERANDS: Final = frozenset(("after-all", "async-start", "call", "fusion", "scan", "tuple"))
#: How many operands there are at least, where there may be any number but not none or one.
_LEAST: Final = {"dynamic-update-slice": 2, "scatter": 3}


def infer_shape(
    opcode: str,
    shapes: tuple[ArraySpec, ...],
    attributes: Mapping[str, Any],
    called: tuple[HloComputation, ...] = (),
    result: ArraySpec | None = None,
) -> ArraySpec | None:
    """Return the shape of a result.

    Parameters
    ----------
    opcode : str
        The operation.
    shapes : tuple of ArraySpec
        Shapes of the operands.
    attributes : mapping
        Typed values by name.
    called : tuple of HloComputation
        What is called.
    result : ArraySpec, optional
        What the result is said to be; some shapes, as those of ``reshape``, follow from nothing
        else, and then it is checked and returned.

    Returns
    -------
    ArraySpec or None
        None where it does not follow.

    Raises
    ------
    HloError
        If a rule is broken.

    Examples
    --------
    >>> from xarraylite.hlo.rules.inference import infer_shape
    >>> from xarraylite.xla.spec import ArraySpec
    >>> a, b = ArraySpec("f32", (2, 3)), ArraySpec("f32", (3, 4))
    >>> dims = {"lhs_contracting_dims": (1,), "rhs_contracting_dims": (0,)}
    >>> print(infer_shape("dot", (a, b), dims))
    f32[2,4]{1,0}
    """
    rule = RULES.get(opcode)
    if rule is None:
        return result
    call, least = Call(opcode, shapes, attributes, called, result), _LEAST.get(opcode, 1)
    if OPCODES[opcode].arity is None and opcode not in _NO_OPERANDS:
        found = len(shapes)
        call.require(found >= least, f"{found} operands; expected {least} or more")
    arrays = opcode in _ANYTHING or all([shape.is_array for shape in shapes])
    call.require(arrays, "operands are arrays")
    with suppress(Unsaid):
        return rule(call)
    return None


# Operations that may compute in one precision and give another.
_MIXED_NAMES = """
all-gather all-gather-start all-reduce all-reduce-start call conditional convolution dot fusion
reduce reduce-scatter reduce-window while
"""
_MIXED: Final = frozenset(_MIXED_NAMES.split())


def verify_module(
    computations: Iterable[HloComputation],
    entry: HloComputation,
    signature: Signature,
    attributes: Mapping[str, Any],
) -> None:
    """Check every instruction of a module, and its header.

    Raises
    ------
    HloError
        For the first rule that is broken.
    """
    names: set[str] = set()
    for computation in computations:
        for instruction in computation.instructions:
            if instruction.name in names:
                raise HloError("the name is taken already", instruction=instruction.name)
            names.add(instruction.name)
            verify_instruction(instruction)
    _verify_signature(entry, signature, attributes)


def verify_instruction(instruction: HloInstruction) -> None:
    """Check one instruction.

    Raises
    ------
    HloError
        With its name, the operation, the shapes of its operands, and the rule that is broken.
    """
    try:
        _verify(instruction)
    except HloError as error:
        raise HloError(error.expected, instruction=instruction.name) from None
    except XarrayliteError as error:
        raise HloError(f"{instruction.opcode}: {error}", instruction=instruction.name) from None


def _verify(instruction: HloInstruction) -> None:
    opcode, operands, result = instruction.opcode, instruction.operands, instruction.shape
    row, attributes = OPCODES.get(opcode), instruction.attributes
    if row is None:
        raise HloError(f"there is no opcode {opcode}")
    if row.arity is not None and len(operands) != row.arity:
        raise HloError(f"{opcode} takes {row.arity} operands, not {len(operands)}")
    for needed in row.required:
        if needed not in attributes and needed not in row.calls:
            raise HloError(f"{opcode} needs the attribute {needed}")
    if "result_accuracy" in attributes and opcode not in ACCURATE:
        raise HloError(f"{opcode} has no attribute result_accuracy")
    shapes = tuple([operand.shape for operand in operands])
    inferred = infer_shape(opcode, shapes, attributes, instruction.called_computations, result)
    if inferred is not None and not _agree(opcode, inferred, result):
        shown = ", ".join([shape.human_string() for shape in shapes])
        raise HloError(
            f"{opcode}({shown}) gives {inferred.human_string()}, not {result.human_string()}"
        )
    aliases = attributes.get("output_to_operand_aliasing", ())
    _verify_sharing("output_to_operand_aliasing", aliases, shapes, result)
    if opcode == "constant" and instruction.literal.shape != result:
        raise HloError("a constant has the shape of its value")


def _agree(opcode: str, inferred: ArraySpec, declared: ArraySpec) -> bool:
    if inferred is declared or inferred.compatible(declared):
        return True
    return opcode in _MIXED and inferred.compatible_ignoring_fp_precision(declared)


def _verify_signature(
    entry: HloComputation, signature: Signature, attributes: Mapping[str, Any]
) -> None:
    """Check that the entry has the parameters and the result that the header says."""
    parameters = entry.parameters
    if len(parameters) != len(signature.parameters):
        raise HloError(
            f"entry_computation_layout has {len(signature.parameters)} parameters, "
            f"{entry.name} {len(parameters)}"
        )
    pairs = [
        *zip(signature.parameters, [p.shape for p in parameters], strict=True),
        (signature.result, entry.root.shape),
    ]
    for said, found in pairs:
        if not said.compatible(found):
            raise HloError(
                f"entry_computation_layout says {said.human_string()} where "
                f"{entry.name} has {found.human_string()}"
            )
    aliases = attributes.get("input_output_alias", ())
    given, result = signature.parameters, signature.result
    _verify_sharing("input_output_alias", aliases, given, result)
    donors = [Alias((), *donor) for donor in attributes.get("buffer_donor", ())]
    _verify_sharing("buffer_donor", donors, given, result)


def _verify_sharing(
    what: str, aliases: Iterable[Alias], given: Sequence[ArraySpec], result: ArraySpec
) -> None:
    """Check that what is said to share memory is there."""
    for alias in aliases:
        if not 0 <= alias.operand < len(given):
            raise HloError(f"{what} names operand {alias.operand} of {len(given)}")
        operand = given[alias.operand]
        for whole, index in ((operand, alias.operand_index), (result, alias.output_index)):
            if not whole.index_is_valid(index):
                raise HloError(
                    f"{what} names a part {{{','.join(map(str, index))}}} of "
                    f"{whole.human_string()}, which has none"
                )
