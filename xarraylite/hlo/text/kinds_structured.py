"""Kinds of attributes: shapes, constants, notes to compilers, where instructions come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from itertools import accumulate, pairwise
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

from ...dtypes.element_types import ELEMENT_TYPES
from ...layout.text import MAX_DEPTH
from ...xla.spec import ArraySpec
from ..values import Domain, OpMetadata, ResultAccuracy, Signature
from . import kinds_basic as basic
from .literals import HloLiteral, print_literal, read_literal
from .made_up import Filler
from .scanner import NAME, STRING, outer_parts, unescape
from .sharding import normalise_sharding


def _read_shapes(text: str) -> tuple[ArraySpec, ...]:
    inner = basic.inside(text, "{}")
    # A tuple of these shapes is what the reader of shapes knows how to divide.
    return ArraySpec.parse(f"({inner})").tuple_shapes


_ARROW = re.compile(r"\)\s*->\s*")


def _read_signature(text: str) -> Signature:
    inner = basic.inside(text, "{}").strip()
    arrow = _ARROW.search(inner)
    if arrow is None:
        raise ValueError("expected {(parameters)->result}")
    # One by one: a parameter may have what an element of a tuple may not.
    parts = outer_parts(basic.inside(inner[: arrow.start() + 1], "()"))
    parameters = tuple([ArraySpec.parse(part) for part in parts])
    return Signature(parameters, ArraySpec.parse(inner[arrow.end() :]))


def _print_signature(value: Signature) -> str:
    """Write ``{(f32[2]{0})->f32[2]{0}}``."""
    kind = ELEMENT_TYPES["tuple"]
    parameters = ArraySpec._trusted(kind, (), None, (), value.parameters)
    return f"{{{parameters}->{value.result}}}"


_LITERAL = re.compile(r"\s*([a-z0-9]+\[[^\]]*\](?:\{[0-9:][^}]*\})?)\s*(.*)", re.DOTALL)


def read_typed_literal(text: str, filler: Filler | None = None, depth: int = 0) -> HloLiteral:
    """Read a shape and its values, or a tuple of such."""
    stripped = text.strip()
    if stripped.startswith("("):
        if depth == MAX_DEPTH:
            raise ValueError(f"tuples nest at most {MAX_DEPTH} deep")
        elements = [
            read_typed_literal(part, filler, depth + 1)
            for part in outer_parts(basic.inside(stripped, "()"))
        ]
        shape = ArraySpec.tuple([element.shape for element in elements])
        return HloLiteral(shape, None, tuple(elements))
    match = basic.matched(_LITERAL, stripped, "a shape and its values, such as s32[2]{0} {1, 2}")
    return read_literal(match[2], ArraySpec.parse(match[1]), filler)


def print_typed_literal(value: HloLiteral, whole: bool = True) -> str:
    """Write a shape and its values, or a tuple of such."""
    if value.shape.is_tuple:
        parts = [print_typed_literal(element, whole) for element in value.elements]
        return f"( {', '.join(parts)} )"
    return f"{value.shape} {print_literal(value, whole)}"


def _read_domain(text: str) -> Domain:
    parts = [part.partition("=") for part in outer_parts(basic.inside(text, "{}"))]
    fields = {name.strip(): value for name, _, value in parts}
    if fields.keys() != {"kind", "entry", "exit"} or len(parts) != 3:
        raise ValueError('expected {kind="sharding", entry={...}, exit={...}}')
    if basic.read_string(fields["kind"]) != "sharding":
        raise ValueError("domains are of the kind sharding")
    entry, leave = normalise_sharding(fields["entry"]), normalise_sharding(fields["exit"])
    return Domain(basic.read_string(fields["kind"]), entry, leave)


def _print_domain(value: Domain) -> str:
    return f"{{kind={basic.print_string(value.kind)}, entry={value.entry}, exit={value.exit}}}"


_read_mode = basic.one_of("default highest", any_case=True)
_SPARSE_FIELD = re.compile(r"(sparsity|dimension|stride)=(-?[0-9]+(?:x[0-9]+)?)(?=[\s}])\s*")
_SPARSE_OPERAND = re.compile(r"(lhs|rhs)=\{([^{}]*)\}\s*")


def _read_sparsity(text: str) -> str:
    """Write ``{lhs={sparsity=2x4 dimension=1 stride=1}}`` with all fields, in XLA's order."""
    inner = basic.inside(text, "{}").strip()
    operands = dict(_SPARSE_OPERAND.findall(inner))
    shown = []
    for operand in ("lhs", "rhs"):
        if operand in operands:
            fields = {"sparsity": "0x0", "dimension": "0", "stride": "0"}
            given = _SPARSE_FIELD.findall(operands[operand] + " ")
            fields.update(given)
            whole = not _SPARSE_FIELD.sub("", operands[operand] + " ").strip()
            mixed = [("x" in number) != (name == "sparsity") for name, number in given]
            if not whole or any(mixed):
                raise ValueError("expected {sparsity=2x4 dimension=1 stride=1}")
            body = " ".join([f"{name}={number}" for name, number in fields.items()])
            shown.append(f"{operand}={{{body}}}")
    if _SPARSE_OPERAND.sub("", inner):
        raise ValueError("expected {lhs={sparsity=2x4 dimension=1 stride=1}}")
    return f"{{{' '.join(shown)}}}"


_TOLERANCE = re.compile(r"tolerance=\{(.*)\}")


def _read_accuracy(text: str) -> ResultAccuracy:
    inner = "".join(basic.inside(text, "{}").split())
    if inner.startswith("mode="):
        return ResultAccuracy(_read_mode(inner[5:]))
    expected = "{mode=highest} or {tolerance={atol=0.1,rtol=0,ulps=3}}"
    given = basic.matched(_TOLERANCE, inner, expected)[1]
    bounds = {"atol": 0.0, "rtol": 0.0, "ulps": 0.0}
    for part in given.split(",") if given else []:
        name, _, number = part.partition("=")
        if name not in bounds:
            raise ValueError(f"{name!r} is none of atol, rtol and ulps")
        bounds[name] = basic.read_float(number)
    if min(bounds.values()) < 0:
        raise ValueError("no bound of an error is negative")
    return ResultAccuracy("", bounds["atol"], bounds["rtol"], int(bounds["ulps"]))


def _print_accuracy(value: ResultAccuracy) -> str:
    if value.mode:
        return f"{{mode={value.mode}}}"
    atol, rtol = basic.print_float(value.atol), basic.print_float(value.rtol)
    return f"{{tolerance={{atol={atol},rtol={rtol},ulps={value.ulps}}}}}"


def _read_statistics(text: str) -> tuple[tuple[str, float], ...]:
    pairs = [part.partition("=") for part in outer_parts(basic.inside(text, "{}"))]
    found = [(basic.read_word(name), basic.read_float(number)) for name, _, number in pairs]
    # The first, whatever its name, is which of the others is shown.
    return (("visualizing_index", found[0][1]), *found[1:]) if len(found) > 1 else ()


_PAIR = re.compile(rf"\s*({NAME})=\s*", re.DOTALL)


def _read_frontend(text: str) -> Mapping[str, str]:
    """Read ``{a="1",b={x}}``: strings by name, in the order of their names."""
    found: dict[str, str] = {}
    for part in outer_parts(basic.inside(text, "{}"), "{}"):
        match = _PAIR.match(part)
        if match is None:
            raise ValueError('expected names with strings, such as {a="1",b={x}}')
        found[match[1]] = basic.read_dictionary(part[match.end() :])
    return MappingProxyType(dict(sorted(found.items())))


def print_frontend(value: Mapping[str, str]) -> str:
    """Write ``{a="1",b={x}}``."""
    shown = [f"{name}={basic.print_dictionary(text)}" for name, text in value.items()]
    return f"{{{','.join(shown)}}}"


#: One array of an original program: ``{"a" {0,1}}``.
ORIGIN_ARRAY: Final = rf"\{{\s*(?:(?:{STRING})\s*(?:\{{[-0-9,\s]*\}}\s*)?)?\}}"
_ORIGIN_ARRAY = re.compile(ORIGIN_ARRAY, re.DOTALL)
_ORIGIN_PARTS = re.compile(rf"({STRING})\s*(?:\{{([-0-9,\s]*)\}})?", re.DOTALL)
_SYNTHETIC = re.compile(r"\[synthetic(?:_call)?\]")
_NEIGHBOURS: Final = frozenset(("(A", "((", "()", "A,", "A)", ",A", ",(", "),", "))"))


def origin_parts(text: str) -> tuple[str, tuple[int, ...]]:
    """Return the name and the index of an array of an original program."""
    match = _ORIGIN_PARTS.search(text)
    if match is None:
        return "", ()
    return basic.read_string(match[1]), basic.read_ints(f"{{{match[2] or ''}}}")


def print_origin(name: str, index: tuple[int, ...]) -> str:
    """Write ``{"a" {0,1}}``."""
    return f"{{{basic.print_string(name)}{f' {basic.print_ints(index)}' if index else ''}}}"


def _read_origin(text: str) -> str:
    """Write ``{({"a"}, {"b" {0,1}})}``, arrays of some original program, with XLA's spaces."""
    inner = basic.inside(text, "{}").strip() or "()"
    if _SYNTHETIC.fullmatch(inner):
        return f"{{{inner}}}"
    arrays = [
        print_origin(*origin_parts(array)) if '"' in array or "'" in array else "{}"
        for array in _ORIGIN_ARRAY.findall(inner)
    ]
    # What is left are tuples of arrays: one of them is around all.
    tree = "".join(_ORIGIN_ARRAY.sub("A", inner).split())
    depths = list(accumulate([(part == "(") - (part == ")") for part in tree]))
    nested = all([left + right in _NEIGHBOURS for left, right in pairwise(tree)])
    if tree[0] not in "A(" or not nested or depths[-1] or (len(tree) > 1 and 0 in depths[:-1]):
        raise ValueError('expected arrays such as {"a" {0}}, or tuples of them, between braces')
    names = iter(arrays)
    return f"{{{re.sub('A', lambda _: next(names), tree.replace(',', ', '))}}}"


_NOTE = re.compile(
    rf"[\s,]*({NAME})=\s*(?:({STRING})|(-?[0-9]{{1,19}})|\{{([^{{}}]*)\}})", re.DOTALL
)
# In the order in which they are printed.
_DEFAULTS = {field.name: field.default for field in fields(OpMetadata)}
# A note alone is not worth a metadata entry.
_shown = attrgetter("op_type", "op_name", "source_file", "scheduling_name", "stack_frame_id")
_values = attrgetter(*_DEFAULTS)


def read_metadata(text: str) -> OpMetadata:
    """Read metadata between braces.

    Raises
    ------
    ValueError
        If the text is malformed.

    Examples
    --------
    >>> from xarraylite.hlo.text.kinds_structured import read_metadata
    >>> read_metadata('{op_name="jit(f)/mul" source_line=3}').op_name
    'jit(f)/mul'
    """
    inner, at = basic.inside(text, "{}"), 0
    given: dict[str, object] = {}
    while inner[at:].strip(" \t\r\n,"):
        match = _NOTE.match(inner, at)
        if match is None:
            raise ValueError('expected fields such as op_name="f" or source_line=3')
        at = match.end()
        name, quoted, number, listed = match.groups()
        default = _DEFAULTS.get(name)
        if quoted is not None:
            value: object = unescape(quoted[1:-1])
        elif number is not None:
            value = int(number)
            if not -(2**31) <= value < 2**31:
                raise ValueError(f"{name}={number} is no integer of 32 bits")
        else:
            value = basic.read_ints(f"{{{listed}}}")
        if name in given or default is None or type(value) is not type(default):
            known = " ".join(_DEFAULTS)
            raise ValueError(f"{name} is no field of metadata, given twice or wrong: {known}")
        given[name] = value
    return OpMetadata(**given)  # type: ignore[arg-type]  # types compared above


def print_metadata(metadata: OpMetadata) -> str:
    """Return the text between the braces; an empty one where XLA writes none."""
    if not any(_shown(metadata)):
        return ""
    show: dict[type, Any] = {str: basic.print_string, tuple: basic.print_ints, int: str}
    pairs = zip(_DEFAULTS, _values(metadata), strict=True)
    return " ".join([f"{name}={show[type(value)](value)}" for name, value in pairs if value])


#: Readers and printers by kind.
KINDS: Final[dict[str, basic.Kind]] = {
    "result_accuracy": basic.Kind(_read_accuracy, _print_accuracy),
    "domain": basic.Kind(_read_domain, _print_domain),
    "frontend_attributes": basic.Kind(_read_frontend, print_frontend),
    "origin": basic.Kind(_read_origin, str),
    "literal": basic.Kind(read_typed_literal, print_typed_literal),
    "metadata": basic.Kind(read_metadata, print_metadata),
    "outfeed_shape": basic.Kind(lambda text: ArraySpec.parse(text.strip()), str),
    "operand_layout_constraints": basic.Kind(_read_shapes, basic.braced(str, ", ")),
    "sparsity_config": basic.Kind(_read_sparsity, str),
    "entry_computation_layout": basic.Kind(_read_signature, _print_signature),
    "statistics": basic.Kind(
        _read_statistics, basic.braced(lambda one: f"{one[0]}={basic.print_float(one[1])}")
    ),
}
