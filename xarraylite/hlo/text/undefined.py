"""What a text of one instruction leaves undefined, and computations that text only names."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from ..opcodes import OPCODES
from ..values import OpMetadata

# Operations whose operands have the shape of the result.
_SAME_NAMES = """
abs all-reduce bitcast clamp collective-permute copy opt-barrier reduce-precision reverse
"""
_SAME_SHAPE: Final = frozenset(
    [*_SAME_NAMES.split(), *[row.name for row in OPCODES.values() if row.elements]]
)


def guess_operand_shape(opcode: str, result: ArraySpec | None, position: int) -> ArraySpec:
    """Return the shape of an operand that nobody defines.

    Elementwise operations have operands like their result.  What else an operand may be does not
    follow: it is an opaque value.

    Examples
    --------
    >>> from xarraylite.hlo.text.undefined import guess_operand_shape
    >>> from xarraylite.xla.spec import ArraySpec
    >>> print(guess_operand_shape("add", ArraySpec.parse("f32[2]{0:T(256)}"), 1))
    f32[2]{0:T(256)}
    """
    if result is None:
        return ArraySpec.opaque()
    if opcode in _SAME_SHAPE or (opcode == "select" and position):
        return result
    if opcode == "select":
        return ArraySpec("pred", result.dimensions, result.layout, dynamic=result.dynamic)
    if opcode == "tuple" and position < len(result.tuple_shapes):
        return result.tuple_shapes[position]
    return ArraySpec.opaque()


def _parameters(name: str, operands: tuple[HloInstruction, ...]) -> tuple[HloInstruction, ...]:
    """Return a parameter for each operand; a name may have a place for its number."""
    numbers = [MappingProxyType({"parameter_number": k}) for k in range(len(operands))]
    return tuple(
        [
            HloInstruction(name.format(k), "parameter", operand.shape, attributes=numbers[k])
            for k, operand in enumerate(operands)
        ]
    )


def undefined_computation(
    name: str, operands: tuple[HloInstruction, ...], result: ArraySpec
) -> HloComputation:
    """Return a computation that hands its parameters to a custom call of its own name."""
    parameters = _parameters("param_{}", operands)
    attributes = MappingProxyType({"custom_call_target": name})
    root = HloInstruction("custom-call", "custom-call", result, parameters, attributes)
    return HloComputation(name, (*parameters, root))


def wrap_operation(
    opcode: str,
    result: ArraySpec,
    operands: tuple[HloInstruction, ...],
    attributes: dict[str, Any],
    called: tuple[HloComputation, ...],
) -> HloComputation:
    """Return the computation that an asynchronous operation such as ``negate-start`` runs.

    The attributes become those of the operation that is wrapped.
    """
    parameters = _parameters("async_param", operands)
    own: dict[str, Any] = {name: attributes[name] for name in _OF_THE_START if name in attributes}
    inner = MappingProxyType({name: value for name, value in attributes.items() if name not in own})
    attributes.clear()
    attributes.update(own)
    root = HloInstruction(opcode, opcode, result, parameters, inner, called)
    return HloComputation("async_wrapped", (*parameters, root))


def hand_on(
    wrapped: HloInstruction, attributes: dict[str, Any], metadata: OpMetadata | None
) -> None:
    """Say of the operation that is wrapped what an asynchronous one, or its end, says of itself."""
    said = {name: attributes[name] for name in _OF_BOTH if name in attributes}
    if said:
        object.__setattr__(wrapped, "attributes", MappingProxyType({**wrapped.attributes, **said}))
    if metadata is not None:
        object.__setattr__(wrapped, "metadata", metadata)


_OF_BOTH: Final = ("backend_config", "frontend_attributes", "origin", "statistics")
_OF_THE_START: Final = (
    *_OF_BOTH,
    "async_execution_thread",
    "output_to_operand_aliasing",
    "sharding",
)
