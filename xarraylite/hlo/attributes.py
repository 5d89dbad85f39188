"""Attributes: one table from names to kinds, and from kinds to what reads and prints a value.

A reader gets the text behind the equals sign, without comments, and raises ValueError with what it
expected.  A printer gets the value.  Values that XLA takes for granted are not kept: whoever asks
for one gets the default from `DEFAULTS`.  Attributes with names that nobody knows are kept as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ..xla.spec import ArraySpec
from .literals import HloLiteral, print_literal, read_literal
from .meshes import normalise_mesh
from .quoting import NAME, STRING, escape, is_dictionary, unescape
from .sharding import normalise_sharding
from .values import (
    Alias,
    ConvolutionLabels,
    Domain,
    PadDimension,
    ReplicaGroups,
    ResultAccuracy,
    Signature,
    SliceDimension,
    WindowDimension,
)

__all__ = ["DEFAULTS", "kind_of", "print_attribute", "read_attribute"]

_INT = re.compile(r"\s*(-?[0-9]{1,20})\s*")
_INTS = re.compile(r"\s*\{\s*((?:-?[0-9]{1,20}\s*,\s*)*-?[0-9]{1,20})?\s*\}\s*")
_WORD = re.compile(rf"\s*({NAME})\s*")
_ITEMS = re.compile(r"[^\s,{}]+")
_FLOAT = re.compile(r"\s*-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


def read_int(text: str) -> int:
    """Read an integer of 64 bits."""
    match = _INT.fullmatch(text)
    if match is None or not -(2**63) <= int(match[1]) < 2**64:
        raise ValueError("expected an integer")
    return int(match[1])


def read_ints(text: str) -> tuple[int, ...]:
    """Read ``{1,0}``."""
    match = _INTS.fullmatch(text)
    if match is None:
        raise ValueError("expected integers between braces, such as {1,0}")
    return tuple([int(number) for number in match[1].split(",")]) if match[1] else ()


def print_ints(value: Iterable[int]) -> str:
    """Write ``{1,0}``."""
    return f"{{{','.join(map(str, value))}}}"


def _read_lists(text: str) -> tuple[tuple[int, ...], ...]:
    inner = _inside(text, "{}")
    rows = re.findall(r"\{[^{}]*\}", inner)
    if re.fullmatch(r"[\s,]*", re.sub(r"\{[^{}]*\}", "", inner)) is None:
        raise ValueError("expected lists of integers, such as {{0,1},{2,3}}")
    return tuple([read_ints(row) for row in rows])


def _print_lists(value: Iterable[Iterable[int]]) -> str:
    return f"{{{','.join([print_ints(row) for row in value])}}}"


def _inside(text: str, ends: str) -> str:
    stripped = text.strip()
    if len(stripped) < 2 or stripped[0] != ends[0] or stripped[-1] != ends[1]:
        raise ValueError(f"expected something between {ends[0]!r} and {ends[1]!r}")
    return stripped[1:-1]


def _read_bool(text: str) -> bool:
    word = text.strip()
    if word not in ("true", "false"):
        raise ValueError("expected true or false")
    return word == "true"


def _print_bool(value: bool) -> str:
    return "true" if value else "false"


def _read_bools(text: str) -> tuple[bool, ...]:
    stripped = text.strip()
    if not stripped.startswith("{"):
        return (_read_bool(stripped),)
    inner = _inside(stripped, "{}")
    return tuple([_read_bool(word) for word in inner.split(",")]) if inner.strip() else ()


def _print_bools(value: Iterable[bool]) -> str:
    return f"{{{','.join(map(_print_bool, value))}}}"


def _read_float(text: str) -> float:
    if _FLOAT.fullmatch(text) is None:
        raise ValueError("expected a number")
    return float(text)


def print_float(value: float) -> str:
    """Write a number with six digits, as C++ streams do."""
    return f"{value:g}"


def _read_word(text: str) -> str:
    match = _WORD.fullmatch(text)
    if match is None:
        raise ValueError("expected a word")
    return match[1]


def read_string(text: str) -> str:
    """Read a string between quotes."""
    stripped = text.strip()
    if re.fullmatch(STRING, stripped, re.DOTALL) is None:
        raise ValueError("expected a string between quotes")
    return unescape(stripped[1:-1])


def print_string(value: str) -> str:
    """Write a string between quotes."""
    return f'"{escape(value)}"'


def read_dictionary(text: str) -> str:
    """Read a string, or braces and what is in them as it stands."""
    stripped = text.strip()
    return stripped if stripped.startswith("{") else read_string(stripped)


def print_dictionary(value: str) -> str:
    """Write a string, without quotes where it is one pair of braces."""
    return value if is_dictionary(value) else print_string(value)


# Windows, slices, padding.

_SLICE = re.compile(r"\[\s*(-?[0-9]+)\s*:\s*(-?[0-9]+)\s*(?::\s*(-?[0-9]+)\s*)?\]")


def _read_slice(text: str) -> tuple[SliceDimension, ...]:
    inner = _inside(text, "{}")
    if re.fullmatch(r"[\s,]*", _SLICE.sub("", inner)) is None:
        raise ValueError("expected ranges such as {[0:4], [0:8:2]}")
    made = [SliceDimension(int(a), int(b), int(c or 1)) for a, b, c in _SLICE.findall(inner)]
    if any([dim.stride < 1 for dim in made]):
        raise ValueError("the stride of a slice is positive")
    return tuple(made)


def _print_slice(value: tuple[SliceDimension, ...]) -> str:
    # Strides are written for all dimensions or none.
    shown = [f"[{dim.start}:{dim.limit}]" for dim in value]
    if any([dim.stride != 1 for dim in value]):
        shown = [f"[{dim.start}:{dim.limit}:{dim.stride}]" for dim in value]
    return f"{{{', '.join(shown)}}}"


_PAD = re.compile(r"(-?[0-9]+)_(-?[0-9]+)(?:_(-?[0-9]+))?")


def _read_pads(text: str) -> list[tuple[int, ...]]:
    pads = []
    for piece in text.strip().split("x"):
        match = _PAD.fullmatch(piece)
        if match is None:
            raise ValueError("expected padding such as 0_1x2_0 or 0_1_1x2_0_0")
        pads.append(tuple([int(number) for number in match.groups(default="0")]))
    return pads


def _read_padding(text: str) -> tuple[PadDimension, ...]:
    if not text.strip():
        return ()
    made = [PadDimension(*pad) for pad in _read_pads(text)]
    if any([dim.interior < 0 for dim in made]):
        raise ValueError("interior padding is not negative")
    return tuple(made)


def _print_padding(value: tuple[PadDimension, ...]) -> str:
    interior = any([dim.interior for dim in value])
    return "x".join(
        [f"{d.low}_{d.high}_{d.interior}" if interior else f"{d.low}_{d.high}" for d in value]
    )


_FIELD = re.compile(r"([a-z_]+)\s*=\s*([^\s,{}]+)")
# Fields of a window in printing order: place in WindowDimension, value that is taken for granted.
_WINDOW: Final = {
    "size": (0, None),
    "stride": (1, 1),
    "pad": (2, 0),
    "lhs_dilate": (4, 1),
    "rhs_dilate": (5, 1),
    "rhs_reversal": (6, False),
}


def _read_window(text: str) -> tuple[WindowDimension, ...]:
    inner = _inside(text, "{}")
    if _FIELD.sub("", inner).strip(" \t\r\n,"):
        raise ValueError("expected a window such as {size=3x3 pad=1_1x1_1}")
    found = _FIELD.findall(inner)
    given = dict(found)
    if not given:
        return ()
    if "size" not in given or len(given) != len(found) or not given.keys() <= _WINDOW.keys():
        raise ValueError(f"a window has a size and at most once each of {' '.join(_WINDOW)}")
    columns: list[list[Any]] = [[], [1], [0], [0], [1], [1], [False]]
    rank = len(given["size"].split("x"))
    for name, numbers in given.items():
        if name == "pad":
            pads = _read_pads(numbers)
            if any([len(pad) == 3 and pad[2] for pad in pads]):
                raise ValueError("a window has no interior padding")
            columns[2], columns[3] = [pad[0] for pad in pads], [pad[1] for pad in pads]
        else:
            columns[_WINDOW[name][0]] = [read_int(number) for number in numbers.split("x")]
    columns = [column * rank if len(column) == 1 else column for column in columns]
    if any([len(column) != rank for column in columns]):
        raise ValueError(f"every field of a window has one entry for each of {rank} dimensions")
    made = [WindowDimension._make((*row[:6], bool(row[6]))) for row in zip(*columns, strict=True)]
    if any([min(dim.stride, dim.base_dilation, dim.window_dilation) < 1 for dim in made]):
        raise ValueError("strides and dilations of a window are positive")
    return tuple(made)


def _print_window(value: tuple[WindowDimension, ...]) -> str:
    shown = []
    for name, (place, default) in _WINDOW.items():
        if name == "pad":
            if any([dim.padding_low or dim.padding_high for dim in value]):
                pads = [f"{dim.padding_low}_{dim.padding_high}" for dim in value]
                shown.append(f"pad={'x'.join(pads)}")
        elif default is None or any([dim[place] != default for dim in value]):
            shown.append(f"{name}={'x'.join([str(int(dim[place])) for dim in value])}")
    return f"{{{' '.join(shown) if value else ''}}}"


_LABELS = re.compile(r"\s*([0-9bf?]{2,})_([0-9io?]{2,})->([0-9bf?]{2,})\s*")


def _read_labels(text: str) -> ConvolutionLabels:
    match = _LABELS.fullmatch(text)
    if match is None:
        raise ValueError("expected the dimensions of a convolution, such as b01f_01io->b01f")
    labels = ConvolutionLabels(*match.groups())
    digits = {str(k) for k in range(labels.spatial)}
    for part, letters in zip(labels, ("bf", "io", "bf"), strict=True):
        if set(part.replace("?", "")) != digits | set(letters) or len(set(part)) != len(part):
            raise ValueError(f"{part} does not name {letters} and each spatial dimension once")
    return labels


def _print_labels(value: ConvolutionLabels) -> str:
    return f"{value.input}_{value.kernel}->{value.output}"


# Groups of replicas, shards, aliases.

_TILE = re.compile(r"\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?")


def _read_groups(text: str) -> ReplicaGroups:
    stripped = text.strip()
    if stripped.startswith("mesh"):
        return ReplicaGroups(mesh=normalise_mesh(stripped))
    if stripped.startswith("{"):
        return ReplicaGroups(_read_lists(stripped))
    match = _TILE.fullmatch("".join(stripped.split()))
    if match is None:
        raise ValueError("expected groups such as {{0,1},{2,3}} or [2,2]<=[4]")
    tile, reshape, order = [read_ints(f"{{{part or ''}}}") for part in match.groups()]
    total = 1
    for size in tile:
        total *= size
    covered = 1
    for size in reshape:
        covered *= size
    fits = not order or sorted(order) == list(range(len(reshape)))
    if len(tile) != 2 or total != covered or not fits or total > 1 << 40:
        raise ValueError("[groups,members]<=[...]T(...) reads a permuted iota of as many numbers")
    if not order or order == tuple(range(len(reshape))):
        reshape, order = (total,), ()
    return ReplicaGroups(tile=tile, reshape=reshape, transpose=order)


def _print_groups(value: ReplicaGroups) -> str:
    if value.mesh:
        return value.mesh
    if not value.tile:
        return _print_lists(value.groups)
    order = f"T({','.join(map(str, value.transpose))})" if len(value.reshape) > 1 else ""
    return f"[{','.join(map(str, value.tile))}]<=[{','.join(map(str, value.reshape))}]{order}"


_INDEX = r"\{\s*([0-9]+(?:\s*,\s*[0-9]+)*)?\s*\}"
_ALIAS = re.compile(
    rf"\s*{_INDEX}\s*:\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*(?:,\s*(may-alias|must-alias)\s*)?\)\s*,?"
)
_DONOR = re.compile(rf"\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*\)\s*,?")


def _index(text: str | None) -> tuple[int, ...]:
    return tuple([int(number) for number in text.split(",")]) if text else ()


def _read_all(pattern: re.Pattern[str], text: str, expected: str) -> list[re.Match[str]]:
    """Match a pattern again and again until the text between braces ends."""
    inner = _inside(text, "{}").strip()
    found, at = [], 0
    while at < len(inner):
        match = pattern.match(inner, at)
        if match is None:
            raise ValueError(f"expected {expected}")
        found.append(match)
        at = match.end()
    return found


def _read_aliases(text: str) -> tuple[Alias, ...]:
    found = _read_all(_ALIAS, text, "{output index}: (operand, {operand index})")
    return tuple([Alias(_index(m[1]), int(m[2]), _index(m[3]), m[4] or "") for m in found])


def _print_aliases(value: Iterable[Alias]) -> str:
    shown = []
    for alias in value:
        output, inner = _print_index(alias.output_index), _print_index(alias.operand_index)
        shown.append(f"{output}: ({alias.operand}, {inner})")
    return f"{{{', '.join(shown)}}}"


def _read_program_aliases(text: str) -> tuple[Alias, ...]:
    return tuple(
        sorted([alias._replace(kind=alias.kind or "may-alias") for alias in _read_aliases(text)])
    )


def _print_program_aliases(value: Iterable[Alias]) -> str:
    shown = []
    for alias in value:
        output, inner = _print_index(alias.output_index), _print_index(alias.operand_index)
        shown.append(f"{output}: ({alias.operand}, {inner}, {alias.kind})")
    return f"{{ {', '.join(shown)} }}"


def _print_index(index: tuple[int, ...]) -> str:
    return f"{{{','.join(map(str, index))}}}"


def _read_donors(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    found = _read_all(_DONOR, text, "(parameter, {index})")
    return tuple(sorted([(int(m[1]), _index(m[2])) for m in found]))


def _print_donors(value: Iterable[tuple[int, tuple[int, ...]]]) -> str:
    shown = [f"({number}, {_print_index(index)})" for number, index in value]
    return f"{{ {', '.join(shown)} }}"


# Rarer kinds.


def _read_words(text: str) -> tuple[str, ...]:
    inner = _inside(text, "{}")
    return tuple([_read_word(word) for word in inner.split(",")]) if inner.strip() else ()


def _print_words(value: Iterable[str]) -> str:
    return f"{{{','.join(value)}}}"


def _read_shapes(text: str) -> tuple[ArraySpec, ...]:
    inner = _inside(text, "{}")
    # A tuple of these shapes is what the reader of shapes knows how to divide.
    return ArraySpec.parse(f"({inner})").tuple_shapes


def _print_shapes(value: Iterable[ArraySpec]) -> str:
    return f"{{{', '.join(map(str, value))}}}"


_ARROW = re.compile(r"\)\s*->\s*")


def _read_signature(text: str) -> Signature:
    inner = _inside(text, "{}").strip()
    arrow = _ARROW.search(inner)
    if arrow is None:
        raise ValueError("expected {(parameters)->result}")
    parameters = ArraySpec.parse(inner[: arrow.start() + 1]).tuple_shapes
    return Signature(parameters, ArraySpec.parse(inner[arrow.end() :]))


def print_signature(value: Signature) -> str:
    """Write ``{(f32[2]{0})->f32[2]{0}}``."""
    return f"{{{ArraySpec.tuple(value.parameters)}->{value.result}}}"


_LITERAL = re.compile(r"\s*([a-z0-9]+\[[^\]]*\](?:\{[0-9:][^}]*\})?)\s*(.*)", re.DOTALL)


def _read_typed_literal(text: str) -> HloLiteral:
    stripped = text.strip()
    if stripped.startswith("("):
        # One or several literals, each with its shape; deeper tuples are not written by XLA.
        elements = [_read_typed_literal(part) for part in _outer_parts(_inside(stripped, "()"))]
        shape = ArraySpec.tuple([element.shape for element in elements])
        return HloLiteral(shape, None, tuple(elements))
    match = _LITERAL.fullmatch(stripped)
    if match is None:
        raise ValueError("expected a shape and its values, such as s32[2]{0} {1, 2}")
    return read_literal(match[2], ArraySpec.parse(match[1]))


def _outer_parts(text: str) -> list[str]:
    """Divide a text at the commas that stand between no brackets."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(r"[(){}\[\],]", text):
        char = match[0]
        depth += (char in "({[") - (char in ")}]")
        if char == "," and not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    last = text[start:]
    return [*parts, last] if parts or last.strip() else []


def _print_typed_literal(value: HloLiteral) -> str:
    if value.shape.is_tuple:
        return f"( {', '.join([_print_typed_literal(element) for element in value.elements])} )"
    return f"{value.shape} {print_literal(value)}"


def _read_domain(text: str) -> Domain:
    parts = dict([part.split("=", 1) for part in _outer_parts(_inside(text, "{}")) if "=" in part])
    fields = {name.strip(): value for name, value in parts.items()}
    if fields.keys() != {"kind", "entry", "exit"}:
        raise ValueError('expected {kind="sharding", entry={...}, exit={...}}')
    entry, leave = normalise_sharding(fields["entry"]), normalise_sharding(fields["exit"])
    return Domain(read_string(fields["kind"]), entry, leave)


def _print_domain(value: Domain) -> str:
    return f"{{kind={print_string(value.kind)}, entry={value.entry}, exit={value.exit}}}"


def _read_accuracy(text: str) -> ResultAccuracy:
    inner = "".join(_inside(text, "{}").split())
    if inner.startswith("mode="):
        return ResultAccuracy(_read_word(inner[5:]))
    match = re.fullmatch(r"tolerance=\{(.*)\}", inner)
    if match is None:
        raise ValueError("expected {mode=highest} or {tolerance={atol=0.1,rtol=0,ulps=3}}")
    bounds = {"atol": 0.0, "rtol": 0.0, "ulps": 0.0}
    for part in match[1].split(",") if match[1] else []:
        name, _, number = part.partition("=")
        if name not in bounds:
            raise ValueError(f"{name!r} is none of atol, rtol and ulps")
        bounds[name] = _read_float(number)
    return ResultAccuracy("", bounds["atol"], bounds["rtol"], int(bounds["ulps"]))


def _print_accuracy(value: ResultAccuracy) -> str:
    if value.mode:
        return f"{{mode={value.mode}}}"
    atol, rtol = print_float(value.atol), print_float(value.rtol)
    return f"{{tolerance={{atol={atol},rtol={rtol},ulps={value.ulps}}}}}"


def _read_statistics(text: str) -> tuple[tuple[str, float], ...]:
    pairs = [part.partition("=") for part in _inside(text, "{}").split(",") if part.strip()]
    found = tuple([(_read_word(name), _read_float(number)) for name, _, number in pairs])
    return found if len(found) > 1 else ()  # the first is which of the others is shown


def _print_statistics(value: Iterable[tuple[str, float]]) -> str:
    return f"{{{','.join([f'{name}={print_float(number)}' for name, number in value])}}}"


_PAIR = re.compile(rf"\s*({NAME})\s*=\s*", re.DOTALL)


def read_frontend(text: str) -> Mapping[str, str]:
    """Read ``{a="1",b={x}}``: strings by name, in the order of their names."""
    found: dict[str, str] = {}
    for part in _frontend_parts(_inside(text, "{}")):
        match = _PAIR.match(part)
        if match is None:
            raise ValueError('expected names with strings, such as {a="1",b={x}}')
        found[match[1]] = read_dictionary(part[match.end() :])
    return MappingProxyType(dict(sorted(found.items())))


_FRONTEND_PIECE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{},]|[^"{},]++|"', re.DOTALL)


def _frontend_parts(text: str) -> list[str]:
    """Divide at the commas that stand neither in braces nor in strings."""
    parts, depth, start = [], 0, 0
    for match in _FRONTEND_PIECE.finditer(text):
        char = match[0]
        if char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start : match.start()])
            start = match.end()
    last = text[start:]
    return [*parts, last] if parts or last.strip() else []


def print_frontend(value: Mapping[str, str]) -> str:
    """Write ``{a="1",b={x}}``."""
    return f"{{{','.join([f'{name}={print_dictionary(text)}' for name, text in value.items()])}}}"


class Kind(NamedTuple):
    """How values of a kind are read and printed."""

    read: Callable[[str], Any]
    show: Callable[[Any], str]


KINDS: Final = MappingProxyType(
    {
        "accuracy": Kind(_read_accuracy, _print_accuracy),
        "program_aliases": Kind(_read_program_aliases, _print_program_aliases),
        "aliases": Kind(_read_aliases, _print_aliases),
        "bool": Kind(_read_bool, _print_bool),
        "bools": Kind(_read_bools, _print_bools),
        "dictionary": Kind(read_dictionary, print_dictionary),
        "domain": Kind(_read_domain, _print_domain),
        "donors": Kind(_read_donors, _print_donors),
        "float": Kind(_read_float, print_float),
        "frontend": Kind(read_frontend, print_frontend),
        "groups": Kind(_read_groups, _print_groups),
        "int": Kind(read_int, str),
        "ints": Kind(read_ints, print_ints),
        "labels": Kind(_read_labels, _print_labels),
        "lists": Kind(_read_lists, _print_lists),
        "literal": Kind(_read_typed_literal, _print_typed_literal),
        "padding": Kind(_read_padding, _print_padding),
        "shape": Kind(lambda text: ArraySpec.parse(text.strip()), str),
        "shapes": Kind(_read_shapes, _print_shapes),
        "sharding": Kind(normalise_sharding, str),
        "signature": Kind(_read_signature, print_signature),
        "slice": Kind(_read_slice, _print_slice),
        "statistics": Kind(_read_statistics, _print_statistics),
        "string": Kind(read_string, print_string),
        "text": Kind(str.strip, str),
        "window": Kind(_read_window, _print_window),
        "word": Kind(_read_word, str),
        "words": Kind(_read_words, _print_words),
    }
)

_NAMES: Final = {
    "accuracy": "result_accuracy",
    "aliases": "output_to_operand_aliasing",
    "program_aliases": "input_output_alias",
    "bool": """
        alias_passthrough_params constrain_layout custom_call_has_side_effect indices_are_sorted
        is_associative is_composite is_host_transfer is_reverse is_scheduled is_stable largest
        left_side lower unique_indices unit_diagonal use_global_device_ids
    """,
    "bools": """
        allow_spmd_sharding_propagation_to_output allow_spmd_sharding_propagation_to_parameters
        parameter_replication
    """,
    "dictionary": "backend_config",
    "domain": "domain",
    "donors": "buffer_donor",
    "float": "epsilon",
    "frontend": "frontend_attributes",
    "groups": "replica_groups",
    "int": """
        batch_group_count channel_id cross_program_prefetch_index delta exponent_bits
        feature_group_count feature_index index index_vector_dim inferred_dimension iota_dimension
        k mantissa_bits num_carries num_partitions parameter_number replica_count
    """,
    "ints": """
        collapsed_slice_dims dimensions dynamic_slice_sizes fft_length input_batching_dims
        inserted_window_dims lhs_batch_dims lhs_contracting_dims lhs_ragged_dims offset_dims
        operand_batching_dims rhs_batch_dims rhs_contracting_dims rhs_group_dims
        scatter_dims_to_operand_dims scatter_indices_batching_dims slice_sizes
        start_index_map start_indices_batching_dims update_window_dims
    """,
    "labels": "dim_labels",
    "lists": "source_target_pairs",
    "literal": "literal",
    "padding": "padding",
    "shape": "outfeed_shape",
    "shapes": "operand_layout_constraints",
    "sharding": "sharding",
    "signature": "entry_computation_layout",
    "slice": "slice",
    "statistics": "statistics",
    "string": """
        async_execution_thread custom_call_target execution_thread infeed_config outfeed_config
    """,
    "window": "window",
    "word": """
        algorithm api_version conv_kind direction distribution fft_type kind padding_type schedule
        transpose_a type
    """,
    "words": "operand_precision",
}
_KIND_OF: Final = MappingProxyType(
    {name: kind for kind, names in _NAMES.items() for name in names.split()}
)

DEFAULTS: Final = MappingProxyType(
    {
        "api_version": "API_VERSION_ORIGINAL",
        "async_execution_thread": "main",
        "backend_config": "",
        "batch_group_count": 1,
        "conv_kind": "",
        "feature_group_count": 1,
        "infeed_config": "",
        "inferred_dimension": -1,
        "outfeed_config": "",
        "padding_type": "PADDING_INVALID",
        "allow_spmd_sharding_propagation_to_output": (False,),
        "allow_spmd_sharding_propagation_to_parameters": (False,),
        "num_partitions": 1,
        "replica_count": 1,
        "result_accuracy": ResultAccuracy(),
        "schedule": "SCHEDULE_NONE",
        "window": (),
        "frontend_attributes": MappingProxyType({}),
        **dict.fromkeys(_NAMES["bool"].split(), False),
        **dict.fromkeys(
            [
                "input_batching_dims",
                "lhs_batch_dims",
                "lhs_ragged_dims",
                "operand_batching_dims",
                "buffer_donor",
                "input_output_alias",
                "output_to_operand_aliasing",
                "parameter_replication",
                "rhs_batch_dims",
                "rhs_group_dims",
                "scatter_indices_batching_dims",
                "start_indices_batching_dims",
                "statistics",
            ],
            (),
        ),
    }
)
"""Values that XLA takes for granted, by attribute."""

# Values that are written although they are taken for granted.
_NO_GROUPS: Final[Mapping[str, Any]] = MappingProxyType({"replica_groups": ReplicaGroups()})
_NO_SUMS: Final[Mapping[str, Any]] = MappingProxyType(
    {"lhs_contracting_dims": (), "rhs_contracting_dims": ()}
)
# Values that are written although they are taken for granted.
_WRITTEN: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "all-gather": _NO_GROUPS,
        "all-gather-start": _NO_GROUPS,
        "all-reduce": _NO_GROUPS,
        "all-reduce-start": _NO_GROUPS,
        "all-to-all": _NO_GROUPS,
        "collective-broadcast": _NO_GROUPS,
        "dot": _NO_SUMS,
        "ragged-all-to-all": _NO_GROUPS,
        "ragged-dot": _NO_SUMS,
        "reduce-scatter": _NO_GROUPS,
        "scaled-dot": _NO_SUMS,
        "scan": MappingProxyType({"is_reverse": False, "is_associative": False}),
        "topk": MappingProxyType({"largest": True}),
    }
)


def kind_of(opcode: str, name: str) -> str:
    """Return the kind of an attribute, ``"text"`` for one that is not known.

    Examples
    --------
    >>> from xarraylite.hlo.attributes import kind_of
    >>> kind_of("transpose", "dimensions"), kind_of("add", "flavour")
    ('ints', 'text')
    """
    if name == "slice_sizes" and opcode.startswith("collective-permute"):
        return "lists"
    return _KIND_OF.get(name, "text")


def read_attribute(kind: str, text: str) -> Any:
    """Return the value of a kind that a text gives.

    Raises
    ------
    ValueError
        If the text gives none; it says what was expected.

    Examples
    --------
    >>> from xarraylite.hlo.attributes import read_attribute
    >>> read_attribute("slice", "{[0:8:2]}")
    (SliceDimension(start=0, limit=8, stride=2),)
    """
    return KINDS[kind].read(text)


def print_attribute(opcode: str, name: str, value: Any) -> str:
    """Return the text of a value.

    Examples
    --------
    >>> from xarraylite.hlo.attributes import print_attribute
    >>> print_attribute("transpose", "dimensions", (1, 0))
    '{1,0}'
    """
    return KINDS[kind_of(opcode, name)].show(value)


def canonical(opcode: str, given: dict[str, Any], shapes: tuple[ArraySpec, ...]) -> dict[str, Any]:
    """Return attributes without what is taken for granted, and with what is always written.

    Parameters
    ----------
    opcode : str
        The operation.
    given : dict
        Values by name; changed in place.
    shapes : tuple of ArraySpec
        Shapes of the operands.
    """
    written = _WRITTEN.get(opcode, {})
    for name, value in written.items():
        given.setdefault(name, value)
    for name in list(given):
        if name in DEFAULTS and name not in written and given[name] == DEFAULTS[name]:
            del given[name]
    if set(given.get("operand_precision", ())) == {"default"}:
        del given["operand_precision"]
    if opcode == "compare" and given.get("type") == comparison_type(shapes[:1]):
        given.pop("type", None)
    if opcode == "map" and shapes:
        given["dimensions"] = tuple(range(shapes[0].rank))
    if opcode == "ragged-all-to-all":
        given.pop("dimensions", None)
    return given


def comparison_type(shapes: tuple[ArraySpec, ...]) -> str:
    """Return how operands of a shape are compared unless an instruction says otherwise."""
    if not shapes:
        return ""
    kind = shapes[0].element_type
    if kind.is_floating or kind.is_complex:
        return "FLOAT"
    return "UNSIGNED" if kind.is_unsigned or kind.name == "pred" else "SIGNED"
