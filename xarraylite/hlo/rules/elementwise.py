"""Shapes of operations that work element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...dtypes.element_types import ElementType
from ...xla.spec import ArraySpec
from ..opcodes import OPCODES, by_opcode
from ..text.attributes import comparison_type
from .call import Call, Rule, array, first_operand, with_dimensions

_KINDS: Final[dict[str, tuple[Callable[[ElementType], bool], str]]] = {
    "any": (lambda kind: kind.is_array, "elements of any type"),
    "bits": (lambda kind: kind.is_integral or kind.name == "pred", "integers or pred"),
    "complex": (lambda kind: kind.is_complex, "complex numbers"),
    "float": (lambda kind: kind.is_floating, "floating-point numbers"),
    "inexact": (lambda kind: kind.is_floating or kind.is_complex, "real or complex numbers"),
    "int": (lambda kind: kind.is_integral, "integers"),
    "number": (lambda kind: kind.name != "pred" and kind.is_array, "numbers"),
    "signed": (
        lambda kind: kind.is_array and kind.name != "pred" and not kind.is_unsigned,
        "numbers with a sign",
    ),
    "real": (lambda kind: kind.is_floating or kind.is_integral, "real numbers"),
}


def _require_kind(call: Call, shape: ArraySpec, kind: str) -> None:
    test, wanted = _KINDS[kind]
    call.require(bool(test(shape.element_type)), f"operands are {wanted}")


def _merged(call: Call, shapes: tuple[ArraySpec, ...]) -> ArraySpec:
    """The common shape of arrays: a size is a bound where it is one in any of them."""
    first = shapes[0]
    call.alike(shapes)
    flags = [any(column) for column in zip(*[shape.dynamic for shape in shapes], strict=True)]
    same = tuple(flags) == first.dynamic
    return first if same else with_dimensions(first, first.dimensions, dynamic=flags)


def _like_operands(call: Call) -> ArraySpec:
    """One or two operands of the kind that the operation's row says, and a result like them."""
    call.same_type(call.shapes)
    _require_kind(call, call.shapes[0], OPCODES[call.opcode].elements)
    return _merged(call, call.shapes)


def _abs(call: Call) -> ArraySpec:
    shape = call.shapes[0]
    _require_kind(call, shape, "signed")
    return _real(call) if shape.element_type.is_complex else shape


def _real(call: Call) -> ArraySpec:
    shape = call.shapes[0]
    _require_kind(call, shape, "inexact")
    if not shape.element_type.is_complex:
        return shape
    return with_dimensions(shape, shape.dimensions, f"f{shape.element_type.bits // 2}")


def _complex(call: Call) -> ArraySpec:
    call.same_type(call.shapes)
    kind = call.shapes[0].element_type
    call.require(kind.name in ("f32", "f64"), "parts of a complex number are f32 or f64")
    shape = _merged(call, call.shapes)
    return with_dimensions(shape, shape.dimensions, f"c{2 * kind.bits}")


def _is_finite(call: Call) -> ArraySpec:
    _require_kind(call, call.shapes[0], "float")
    return with_dimensions(call.shapes[0], call.shapes[0].dimensions, "pred")


def _compare(call: Call) -> ArraySpec:
    call.same_type(call.shapes)
    direction, kind = call.get("direction"), call.shapes[0].element_type
    call.require(not kind.is_complex or direction in ("EQ", "NE"), "complex numbers have no order")
    order, usual = call.get("type"), comparison_type(call.shapes[0])
    fits = order in (None, usual) or (order == "TOTALORDER" and kind.is_floating)
    call.require(fits, f"type={order} does not compare {kind}")
    shape = _merged(call, call.shapes)
    return with_dimensions(shape, shape.dimensions, "pred")


def _select(call: Call) -> ArraySpec:
    mask, *values = call.shapes
    call.require(values[0].compatible(values[1]), "the values have the same shape")
    call.require(mask.element_type.name == "pred", "the first operand is pred")
    return _merged(call, (*values, *([mask] if mask.dimensions else [])))


def _clamp(call: Call) -> ArraySpec:
    low, operand, high = call.shapes
    call.same_type(call.shapes)
    call.require(
        all([not s.dimensions or s.dimensions == operand.dimensions for s in (low, high)]),
        "bounds are scalars or have the dimensions of the operand",
    )
    return operand


def _convert(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    return with_dimensions(operand, operand.dimensions, call.said_array().element_type)


def _stochastic_convert(call: Call) -> ArraySpec:
    operand, bits = call.shapes
    call.require(operand.element_type.is_floating, "the first operand is of floating point")
    call.require(
        bits.element_type.is_unsigned and bits.element_type.bits == operand.element_type.bits,
        "the second operand holds unsigned integers of as many bits",
    )
    call.alike((bits, operand))
    return array(call.said().element_type, operand.dimensions)


def _bitcast_convert(call: Call) -> ArraySpec:
    operand = call.shapes[0]
    old, new = operand.element_type, call.said().element_type
    call.require(new.is_array and old.is_complex == new.is_complex, f"no bits of {old} are {new}")
    sizes = operand.dimensions
    if old.bits > new.bits:
        sizes = (*sizes, old.bits // new.bits)
    elif old.bits < new.bits:
        ratio = new.bits // old.bits
        call.require(bool(sizes) and sizes[-1] == ratio, f"the last dimension is {ratio}")
        sizes = sizes[:-1]
    return array(new, sizes, (*operand.dynamic, *[False] * len(sizes))[: len(sizes)])


def _reduce_precision(call: Call) -> ArraySpec:
    _require_kind(call, call.shapes[0], "float")
    call.require(call.get("exponent_bits") >= 1, "there is at least one exponent bit")
    call.require(call.get("mantissa_bits") >= 0, "the number of mantissa bits is not negative")
    return call.shapes[0]


#: Rules by operation.
RULES: Final[dict[str, Rule]] = {
    **{row.name: _like_operands for row in OPCODES.values() if row.elements},
    **by_opcode(_abs, _bitcast_convert, _clamp, _compare, _complex, _convert, _is_finite),
    **by_opcode(_real, _reduce_precision, _select, _stochastic_convert),
    **dict.fromkeys(("copy", "opt-barrier"), first_operand),
    "imag": _real,
}
