"""Shapes of results, from operands and attributes: one table from operations to rules.

The same rules serve the reader, where a text leaves shapes out, and the verifier.  Shapes that XLA
infers have XLA's layouts: elementwise operations and what keeps an array in its place keep the
layout of an operand, a transpose permutes it, everything else has the default one.

Operations without a rule (custom calls, constants, parameters, ...) are opaque: what they are said
to give is what they give.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from ...xla.spec import ArraySpec
from ..instruction import HloComputation
from ..opcodes import OPCODES
from . import callers, devices, elementwise, indexed, movement, windows
from .call import Call, Rule, Unsaid

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        **elementwise.RULES,
        **movement.RULES,
        **windows.RULES,
        **indexed.RULES,
        **callers.RULES,
        **devices.RULES,
    }
)
"""The rule of each operation that has one."""


_ANYTHING_NAMES = """
add-dependency after-all all-gather-done all-reduce-done async-done async-start async-update call
collective-broadcast collective-permute collective-permute-done collective-permute-start conditional
copy copy-done copy-start domain fusion get-tuple-element infeed opt-barrier outfeed recv recv-done
scan select send send-done tuple while
"""
_ANYTHING: Final = frozenset(_ANYTHING_NAMES.split())
"""Operations whose operands need not be arrays."""

_NO_OPERANDS: Final = frozenset(("after-all", "async-start", "call", "fusion", "scan", "tuple"))
_LEAST: Final = {"dynamic-update-slice": 2, "scatter": 3}
"""How many operands there are at least, where there may be any number but not none or one."""


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
