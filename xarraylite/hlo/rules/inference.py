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
from ..nodes import signature_of
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
scan send send-done tuple while
"""
#: Operations whose operands need not be arrays.
_ANYTHING: Final = frozenset(_ANYTHING_NAMES.split())


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
    call, row = Call(opcode, shapes, attributes, called, result), OPCODES[opcode]
    if row.arity is None:
        found = len(shapes)
        call.require(found >= row.least, f"{found} operands; expected {row.least} or more")
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
            verify_instruction(instruction, computation.execution_thread)
    _verify_signature(entry, signature, attributes)


def verify_instruction(instruction: HloInstruction, thread: str | None = None) -> None:
    """Check one instruction, and with a thread on which it runs what goes with it.

    Raises
    ------
    HloError
        With its name, the operation, the shapes of its operands, and the rule that is broken.
    """
    try:
        _verify_row(instruction)
        _verify_shape(instruction)
        if thread is not None:
            _verify_partners(instruction, thread)
    except HloError as error:
        raise HloError(error.expected, instruction=instruction.name) from None
    except XarrayliteError as error:
        said = f"{instruction.opcode}: {error}"
        raise HloError(said, instruction=instruction.name) from None


def _verify_row(instruction: HloInstruction) -> None:
    """Check the number of operands and the attributes."""
    row = OPCODES.get(instruction.opcode)
    if row is None:
        raise HloError(f"there is no opcode {instruction.opcode}")
    found = len(instruction.operands)
    if row.arity not in (None, found):
        raise HloError(f"{row.name} takes {row.arity} operands, not {found}")
    for needed in row.required:
        if needed not in instruction.attributes and needed not in row.calls:
            raise HloError(f"{row.name} needs the attribute {needed}")
    if "result_accuracy" in instruction.attributes and row.name not in ACCURATE:
        raise HloError(f"{row.name} has no attribute result_accuracy")


def _verify_shape(instruction: HloInstruction) -> None:
    """Check that the result has the shape that follows, and shares the memory that is there."""
    opcode, declared, attributes = instruction.opcode, instruction.shape, instruction.attributes
    shapes = tuple([operand.shape for operand in instruction.operands])
    called = instruction.called_computations
    inferred = infer_shape(opcode, shapes, attributes, called, declared)
    if inferred is not None and not _agree(opcode, inferred, declared):
        shown = ", ".join([shape.human_string() for shape in shapes])
        given = f"{opcode}({shown}) gives {inferred.human_string()}"
        raise HloError(f"{given}, not {declared.human_string()}")
    aliases = attributes.get("output_to_operand_aliasing", ())
    _verify_sharing("output_to_operand_aliasing", aliases, shapes, declared)
    if opcode == "constant" and instruction.literal.shape != declared:
        raise HloError("a constant has the shape of its value")


def _verify_partners(instruction: HloInstruction, thread: str) -> None:
    """Check that what is started ends once, and that what is called runs on the same thread."""
    opcode = instruction.opcode
    operation, _, phase = opcode.rpartition("-")
    if phase in ("start", "update") and len(instruction.users) > 1:
        raise HloError(f"{opcode} is used {len(instruction.users)} times")
    if phase == "done" and operation not in ("async", "recv", "send"):
        found = instruction.operands[0].opcode
        if found != f"{operation}-start":
            raise HloError(f"{opcode} takes what {operation}-start gives, not {found}")
    if opcode != "custom-call" and operation != "async":
        for callee in instruction.called_computations:
            if callee.execution_thread != thread:
                other = f"{callee.name} of the thread {callee.execution_thread}"
                raise HloError(f"calls {other} on {thread}")


def _agree(opcode: str, inferred: ArraySpec, declared: ArraySpec) -> bool:
    if inferred is declared or inferred.compatible(declared):
        return True
    return opcode in _MIXED and inferred.compatible_ignoring_fp_precision(declared)


def _verify_signature(
    entry: HloComputation, signature: Signature, attributes: Mapping[str, Any]
) -> None:
    """Check that the entry has the parameters and the result that the header says."""
    given, result = signature
    takes, gives = signature_of(entry)
    if len(takes) != len(given):
        counts = f"{len(given)} parameters, {entry.name} {len(takes)}"
        raise HloError(f"entry_computation_layout has {counts}")
    for said, found in zip((*given, result), (*takes, gives), strict=True):
        if not said.compatible(found):
            raise HloError(
                f"entry_computation_layout says {said.human_string()} where "
                f"{entry.name} has {found.human_string()}"
            )
    _verify_sharing("input_output_alias", attributes.get("input_output_alias", ()), given, result)
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
                part = f"{{{','.join(map(str, index))}}} of {whole.human_string()}"
                raise HloError(f"{what} names a part {part}, which has none")
