"""Constants: their values, and how XLA writes them.

Text gives every number with as many digits as bring the same bits back: the fewest of two choices
for 32 and 64 bits, always the larger one for narrower types.  NaNs say their sign and, unless it is
the usual one, their payload.  A constant of more than ten elements may be left out of a dump
(``{...}``); then its values are unknown, and nothing is computed of them.  XLA's reader makes up
numbers in their place, which its printer shows wherever it shows values, and so does ours.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..._records import record
from ...dtypes.element_types import ELEMENT_TYPES, ElementType
from ...dtypes.info import mantissa_bits
from ...dtypes.names import float4_e2m1fn, float8_e4m3fn, float8_e8m0fnu
from ...xla.spec import ArraySpec
from .kinds_basic import inside
from .made_up import Filler, dtype_of, frozen, made_up, narrowed
from .scanner import outer_parts

#: Most elements of a constant that a default print writes out.
SHOWN_ELEMENTS: Final = 10
_MADE_UP: Final = 1 << 24  # most elements that are made up; print leaves out larger constants


@record(frozen=True, slots=True, eq=False)
class HloLiteral:
    """The value of a constant.

    Attributes
    ----------
    shape : ArraySpec
        Its shape.
    values : numpy.ndarray or None
        A read-only array; None for a tuple, and where the text left the values out.  Elements
        without a dtype (1-bit integers) are int8 or uint8.
    elements : tuple of HloLiteral
        Elements of a tuple.
    before : tuple of int
        How many words, and how many bytes that are no words, XLA's reader has made up for the
        constants before this one, if the text left this one out.
    """

    shape: ArraySpec
    values: np.ndarray[Any, Any] | None = None
    elements: tuple[HloLiteral, ...] = ()
    before: tuple[int, int] = (0, 0)

    @property
    def is_elided(self) -> bool:
        """Whether the text said ``{...}`` instead of values."""
        if self.shape.is_tuple:
            return any([element.is_elided for element in self.elements])
        return self.values is None

    @property
    def printed(self) -> np.ndarray[Any, Any] | None:
        """The values that print shows: those that XLA makes up where the text left them out."""
        if self.values is not None or self.shape.is_tuple:
            return self.values
        if math.prod(self.shape.dimensions) > _MADE_UP:
            return None
        return made_up(self.shape, *self.before)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HloLiteral):
            return NotImplemented
        if self.shape != other.shape or self.elements != other.elements:
            return False
        if self.values is None or other.values is None:
            return self.values is other.values
        return self.values.tobytes() == other.values.tobytes()

    def __hash__(self) -> int:
        return hash((self.shape, self.elements))

    def __str__(self) -> str:
        return print_literal(self)


# Reading.

_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"(-?[0-9]+)|(?:-?[0-9]+\.?[0-9]*|-\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-?inf")
_NAN = re.compile(r"(-?)nan(?:\(0x([0-9a-fA-F]+)\))?")
_LEFT_OUT: Final = re.compile(r"\{\s*\.\.\.\s*\}")
_NAN_PARTS = re.compile(r"-?nan\(0x[0-9a-fA-F]+\)")


def read_literal(text: str, shape: ArraySpec, filler: Filler | None = None) -> HloLiteral:
    """Return the constant that a text without comments gives for a shape.

    Its elements are never packed, whatever the shape's layout says, and its sizes are known.

    Parameters
    ----------
    text : str
        The values.
    shape : ArraySpec
        The shape.
    filler : Filler, optional
        Counts of what was made up for the constants before.

    Raises
    ------
    ValueError
        If the text does not fit the shape, or a number the element type.

    Examples
    --------
    >>> from xarraylite.hlo.text.literals import read_literal
    >>> from xarraylite.xla.spec import ArraySpec
    >>> read_literal("{ { 1, 2 }, { 3, 4 } }", ArraySpec("s32", (2, 2))).values.tolist()
    [[1, 2], [3, 4]]
    """
    filler = filler or Filler()
    if shape.is_array:
        if shape.layout is not None and shape.layout.element_size_in_bits:
            shape = shape.update_element_size_in_bits(pack_subbyte_types=False)
        if shape.is_dynamic:
            shape = shape.make_static_shape()
        return _read_array(text.strip(), shape, filler)
    if not shape.is_tuple:
        raise ValueError(f"a constant is an array or a tuple of arrays, not {shape}")
    # A tuple of tuples is rare, and as deep as its shape, whose depth is bounded.
    if _LEFT_OUT.fullmatch(text.strip()) is not None:
        return _left_out(shape, filler)
    parts = outer_parts(inside(text, "()"))
    if len(parts) != len(shape.tuple_shapes):
        raise ValueError(f"{len(parts)} elements for the tuple {shape.human_string()}")
    pairs = zip(parts, shape.tuple_shapes, strict=True)
    elements = tuple([read_literal(part, inner, filler) for part, inner in pairs])
    return HloLiteral(ArraySpec.tuple([element.shape for element in elements]), None, elements)


def _left_out(shape: ArraySpec, filler: Filler) -> HloLiteral:
    """Return a constant that a text leaves out; of one without elements, all is known."""
    if shape.is_tuple:
        elements = tuple([_left_out(inner, filler) for inner in shape.tuple_shapes])
        return HloLiteral(shape, None, elements)
    values = None if 0 not in shape.dimensions else made_up(shape, 0, 0)
    return HloLiteral(shape, values, (), filler.take(shape))


def _read_array(text: str, shape: ArraySpec, filler: Filler) -> HloLiteral:
    kind = shape.element_type
    if text[:1] == "," or text[-1:] == ",":
        raise ValueError("commas stand between numbers")
    if "..." in text and (_LEFT_OUT.fullmatch(text) is None or not shape.dimensions):
        raise ValueError("an array that is left out is left out whole: {...}")
    if not shape.dimensions:
        return HloLiteral(shape, frozen(_scalar(text, kind), ()))
    if min(shape.dimensions) < 0:
        raise ValueError(f"the size of {shape} is not known")
    if "..." in text:
        return _left_out(shape, filler)
    tokens = _tokens(text, kind)
    numbers = _check_nesting(tokens, shape)
    return HloLiteral(shape, frozen(_values(numbers, kind), shape.dimensions))


def _tokens(text: str, kind: ElementType) -> list[str]:
    """Braces and elements; a complex number is one token, and so is a NaN with its payload."""
    if "(" in text:
        text = _NAN_PARTS.sub(lambda match: match[0].replace("(", "<").replace(")", ">"), text)
        if kind.is_complex:
            text = re.sub(
                r"\(([^(){}]*)\)", lambda match: "".join(match[0].replace(",", ";").split()), text
            )
            return re.findall(r"[{}]|\([^()\s]*\)|[^\s{},]+", text)
    return re.findall(r"[{}]|[^\s{},]+", text)


def _check_nesting(tokens: list[str], shape: ArraySpec) -> list[str]:
    """Return the elements of nested braces whose numbers of entries are those of a shape."""
    sizes = shape.dimensions
    rank = len(sizes)
    numbers: list[str] = []
    counts = [0] * (rank + 1)
    depth = 0
    for position, token in enumerate(tokens):
        if token == "{":
            counts[depth] += 1
            depth += 1
            if depth > rank or (depth == 1 and position):
                raise ValueError(f"braces nest deeper than the {rank} dimensions of {shape}")
            counts[depth] = 0
        elif token == "}":
            if depth == 0 or counts[depth] != sizes[depth - 1]:
                found = counts[depth] if depth else 0
                raise ValueError(
                    f"{found} elements along dimension {max(depth, 1) - 1} of {shape}; "
                    f"expected {sizes[max(depth, 1) - 1]}"
                )
            depth -= 1
        else:
            if depth != rank:
                raise ValueError(f"a number {depth} braces deep in a constant of {rank} dimensions")
            counts[depth] += 1
            numbers.append(token)
    if depth or not tokens or tokens[0] != "{":
        raise ValueError(f"the braces of the constant {shape} do not match")
    return numbers


def _scalar(text: str, kind: ElementType) -> np.ndarray[Any, Any]:
    tokens = _tokens(text, kind)
    if len(tokens) != 1 or tokens[0] in "{}":
        raise ValueError(f"expected one number of type {kind}")
    return _values(tokens, kind)


def _values(tokens: list[str], kind: ElementType) -> np.ndarray[Any, Any]:
    if kind.is_complex:
        return _complex_values(tokens, kind)
    if kind.is_integral or kind.name == "pred":
        return _integer_values(tokens, kind)
    return _real_values(tokens, dtype_of(kind), kind)


def _integer_values(tokens: list[str], kind: ElementType) -> np.ndarray[Any, Any]:
    truth = {"true": 1, "false": 0}
    if kind.name == "pred":
        numbers = [truth[token] if token in truth else _integer(token, kind) for token in tokens]
        return np.array([number != 0 for number in numbers], bool)
    numbers = [_integer(token, kind) for token in tokens]
    low, high = 0, 2**kind.bits - 1
    if not kind.is_unsigned or kind.name == "u64":  # 64 bits have no number that does not fit
        low, high = -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1
    for number in numbers:
        if not low <= number <= high:
            raise ValueError(f"{number} is out of the range of {kind}, {low} to {high}")
    return np.array(numbers, np.int64).astype(dtype_of(kind))


def _integer(token: str, kind: ElementType) -> int:
    """Return a number without a point as XLA reads it: 64 bits with a sign, of all 64-bit words."""
    # Digits are counted first, as it takes long to read very many.
    if _INTEGER.fullmatch(token) is None or len(token.lstrip("-0")) > 20:
        raise ValueError(f"expected an integer of type {kind}, found {token[:40]!r}")
    number = int(token)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"{number} does not fit 64 bits")
    return number - 2**64 if number >= 2**63 else number


def _real_values(
    tokens: list[str], dtype: np.dtype[Any], kind: ElementType
) -> np.ndarray[Any, Any]:
    numbers = np.empty(len(tokens), np.float64)
    nans: list[tuple[int, re.Match[str]]] = []
    for k, token in enumerate(tokens):
        if "nan" in token:
            match = _NAN.fullmatch(token.replace("<", "(").replace(">", ")"))
            if match is None:
                raise ValueError(f"expected a number of type {kind}, found {token[:40]!r}")
            numbers[k] = math.nan
            nans.append((k, match))
        elif (match := _NUMBER.fullmatch(token)) is None:
            raise ValueError(f"expected a number of type {kind}, found {token[:40]!r}")
        else:  # a number without a point is an integer, which has no negative zero
            numbers[k] = _integer(token, kind) if match[1] else float(token)
            if math.isinf(numbers[k]) and "inf" not in token:
                raise ValueError(f"{token[:40]} is out of the range of float64")
    if dtype == float8_e8m0fnu:  # which has no zero to round to
        least = 2.0**-127
        numbers = np.where((numbers > 0) & (numbers < least), least, numbers)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        values = numbers.astype(dtype)
    overflow = np.isfinite(numbers) & ~np.isfinite(values.astype(np.float64))
    if overflow.any():
        raise ValueError(f"{tokens[int(np.argmax(overflow))][:40]} is out of the range of {kind}")
    for k, match in nans:
        _set_nan(values, k, bool(match[1]), match[2])
    return values


def _complex_values(tokens: list[str], kind: ElementType) -> np.ndarray[Any, Any]:
    pairs = [token[1:-1].split(";") for token in tokens if token[0] == "(" and token[-1] == ")"]
    if len(pairs) != len(tokens) or any([len(pair) != 2 for pair in pairs]):
        raise ValueError(f"an element of type {kind} is a pair (real, imaginary)")
    part = np.dtype(np.float32 if kind.bits == 64 else np.float64)
    for pair in pairs:
        # As XLA reads them: NaN is a whole number, and an imaginary one comes by way of float64.
        if "nan" in pair[0]:
            _real_values(pair[1:], part, kind)
            pair[1] = pair[0]
        elif kind.bits == 64 and "nan<" in pair[1]:
            pair[1] = pair[1].partition("<")[0]
    flat = _real_values([piece for pair in pairs for piece in pair], part, kind)
    return flat.view(dtype_of(kind))


# How many bits of the mantissa say which NaN one is; types with a single NaN have no entry.
_PAYLOAD: Final = {
    ELEMENT_TYPES[name].dtype: bits
    for name, bits in {
        "f16": 10, "bf16": 7, "f32": 23, "f64": 52, "f8e5m2": 2, "f8e4m3": 3, "f8e3m4": 4,
    }.items()
}  # fmt: skip
# Bits of a NaN and of a negative one, where they differ but in a payload; f4 has zeros for them.
_NAN_SIGNS: Final = {
    float8_e4m3fn: (0x7F, 0xFF), float4_e2m1fn: (0x8, 0x0),
}  # fmt: skip


def _set_nan(values: np.ndarray[Any, Any], k: int, negative: bool, payload: str | None) -> None:
    bits = _PAYLOAD.get(values.dtype, 0)
    if not bits:
        if payload is not None:
            raise ValueError(f"NaNs of {values.dtype} have no payload")
        if values.dtype in _NAN_SIGNS:
            values.view(np.uint8)[k] = _NAN_SIGNS[values.dtype][negative]
        return
    raw = values.view(f"u{values.dtype.itemsize}")
    number = 1 << (bits - 1) if payload is None else int(payload, 16)
    if not 0 < number < 1 << bits:
        raise ValueError(f"the payload 0x{payload} does not fit a NaN of {values.dtype}")
    width = 8 * values.dtype.itemsize
    exponent = ((1 << (width - 1)) - 1) >> bits << bits
    raw[k] = (negative << (width - 1)) | exponent | number


# Printing.


def _printer(kind: ElementType, rank: int) -> Callable[[Any], str]:
    """Return what writes one element of a type."""
    if kind.name == "pred":
        return lambda value: ("true" if value else "false") if rank == 0 else str(int(value))
    if kind.is_integral:
        return lambda value: str(int(value))
    if kind.is_complex:
        part = _printer_of_reals(np.dtype(np.float32 if kind.bits == 64 else np.float64))
        return lambda value: f"({part(value.real)}, {part(value.imag)})"
    return _printer_of_reals(dtype_of(kind))


def _printer_of_reals(dtype: np.dtype[Any]) -> Callable[[Any], str]:
    """Return what writes floats: with digits that all survive if these do, or enough for any."""
    bits = mantissa_bits(dtype)
    few = int(bits * math.log10(2)) if dtype.itemsize > 2 else 0
    many = math.ceil(1 + (bits + 1) * math.log10(2))

    def show(value: Any) -> str:
        number = float(value)
        if number != number:
            return _print_nan(value)
        if few:
            text = f"{number:.{few}g}"
            if float(dtype.type(float(text))) == number:
                return text
        return f"{number:.{many}g}"

    return show


def _print_nan(value: Any) -> str:
    value = np.asarray(value)
    width = 8 * value.dtype.itemsize
    raw = int(value.view(f"u{value.dtype.itemsize}"))
    sign = "-" if raw >> (width - 1) and value.dtype != float8_e8m0fnu else ""
    bits = _PAYLOAD.get(value.dtype, 0)
    payload = raw & ((1 << bits) - 1)
    if not bits or payload == 1 << (bits - 1):
        return f"{sign}nan"
    return f"{sign}nan(0x{payload:x})"


def print_literal(literal: HloLiteral, whole: bool = True) -> str:
    """Return the values of a constant as XLA writes them, in one line and without the shape.

    Parameters
    ----------
    literal : HloLiteral
        The constant.
    whole : bool, default True
        Whether values that the text left out are what XLA makes up, and not ``{...}``.

    Examples
    --------
    >>> from xarraylite.hlo.text.literals import print_literal, read_literal
    >>> from xarraylite.xla.spec import ArraySpec
    >>> print_literal(read_literal("{{1.50},{-0.0}}", ArraySpec("f32", (2, 1))))
    '{ {1.5}, {-0} }'
    """
    if literal.shape.is_tuple:
        return f"( {', '.join([print_literal(part, whole) for part in literal.elements])} )"
    values = literal.printed if whole else literal.values
    if values is None:
        return "{...}"
    kind = literal.shape.element_type
    if literal.values is None and kind.bits < 8 and kind.name != "pred":
        values = narrowed(values, kind)
    show = _printer(kind, values.ndim)
    if values.ndim == 0:
        return show(values[()])
    texts = [show(value) for value in values.reshape(-1)]
    if values.ndim == 1:
        return f"{{{', '.join(texts)}}}"
    return _join_rows(texts, values.shape)


def _join_rows(texts: list[str], sizes: tuple[int, ...]) -> str:
    """Put braces around the rows of each dimension, the last one first.

    From four dimensions on, XLA begins the rows of all but the last three dimensions' insides
    with a comment that counts them.
    """
    rank = len(sizes)
    for axis in range(rank - 1, -1, -1):
        size = sizes[axis]
        rows = []
        for row in range(math.prod(sizes[:axis])):
            inner = ", ".join(texts[row * size : (row + 1) * size])
            if rank > 3 and 0 < axis < rank - 1:
                comment = f"/*i{axis - 1}={row % sizes[axis - 1]}*/"
                inner = f"{comment} {inner}" if inner else comment
            # Rows of one number or none have no blanks inside.
            tight = axis == rank - 1 and size < 2
            rows.append(f"{{{inner}}}" if tight else f"{{ {inner} }}")
        texts = rows
    return texts[0]
