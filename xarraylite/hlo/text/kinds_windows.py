"""Kinds of attributes: slices, padding, windows, groups of replicas, memory that is shared."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from typing import Any, Final

from ..values import (
    Alias,
    ConvolutionLabels,
    PadDimension,
    ReplicaGroups,
    SliceDimension,
    WindowDimension,
)
from . import kinds_basic as basic
from .scanner import outer_parts
from .sharding import MOST_DEVICES, normalise_mesh, normalise_sharding

# Windows, slices, padding.

_SLICE = re.compile(r"\[\s*(-?[0-9]+)\s*:\s*(-?[0-9]+)\s*(?::\s*(-?[0-9]+)\s*)?\]")


def _read_slice(text: str) -> tuple[SliceDimension, ...]:
    found = basic.read_rows(text, _SLICE, "ranges such as {[0:4], [0:8:2]}")
    made = [
        SliceDimension(basic.bounded(m[1]), basic.bounded(m[2]), basic.bounded(m[3] or "1"))
        for m in found
    ]
    if any([dim.stride < 1 for dim in made]):
        raise ValueError("the stride of a slice is positive")
    return tuple(made)


def _print_slice(value: tuple[SliceDimension, ...]) -> str:
    # Strides are written for all dimensions or none.
    count = 3 if any([dim.stride != 1 for dim in value]) else 2
    return basic.braced(lambda dim: f"[{':'.join(map(str, dim[:count]))}]", ", ")(value)


_PAD = re.compile(r"(-?[0-9]+)_(-?[0-9]+)(?:_(-?[0-9]+))?")


def _read_pads(text: str) -> list[tuple[int, ...]]:
    expected = "padding such as 0_1x2_0 or 0_1_1x2_0_0"
    found = [basic.matched(_PAD, piece, expected) for piece in text.strip().split("x")]
    return [tuple(map(basic.bounded, match.groups(default="0"))) for match in found]


def _read_padding(text: str) -> tuple[PadDimension, ...]:
    if not text.strip():
        return ()
    made = [PadDimension(*pad) for pad in _read_pads(text)]
    if any([dim.interior < 0 for dim in made]):
        raise ValueError("interior padding is not negative")
    return tuple(made)


def _print_padding(value: tuple[PadDimension, ...]) -> str:
    count = 3 if any([dim.interior for dim in value]) else 2
    return "x".join(["_".join(map(str, dim[:count])) for dim in value])


_FIELD = re.compile(r"([a-z_]+)=\s*([^\s,{}]+)")
# Fields of a window in printing order, and what a `WindowDimension` has of each.
_WINDOW: Final = {
    "size": ("size",),
    "stride": ("stride",),
    "pad": ("padding_low", "padding_high"),
    "lhs_dilate": ("base_dilation",),
    "rhs_dilate": ("window_dilation",),
    "rhs_reversal": ("reversal",),
}


def _read_window(text: str) -> tuple[WindowDimension, ...]:
    inner = basic.inside(text, "{}")
    if _FIELD.sub("", inner).strip(" \t\r\n"):
        raise ValueError("expected a window such as {size=3x3 pad=1_1x1_1}")
    found = _FIELD.findall(inner)
    given = dict(found)
    if not given:
        return ()
    if "size" not in given or len(given) != len(found) or not given.keys() <= _WINDOW.keys():
        raise ValueError(f"a window has a size and at most once each of {' '.join(_WINDOW)}")
    rank = len(given["size"].split("x"))
    rows: list[dict[str, Any]] = [{} for _ in range(rank)]
    for name, numbers in given.items():
        if name == "pad":
            entries = _read_pads(numbers)
            if numbers.count("_") != len(entries):
                raise ValueError("a window has no interior padding")
        else:
            entries = [(basic.read_int(number),) for number in numbers.split("x")]
        if len(entries) != rank:
            raise ValueError(f"every field of a window has one entry for each of {rank} dimensions")
        for row, entry in zip(rows, entries, strict=True):
            row.update(zip(_WINDOW[name], entry, strict=False))
    made = [WindowDimension(**row)._replace(reversal=row.get("reversal") == 1) for row in rows]
    if any([min(dim.stride, dim.base_dilation, dim.window_dilation) < 1 for dim in made]):
        raise ValueError("strides and dilations of a window are positive")
    if any([dim.size < 0 for dim in made]):
        raise ValueError("sizes of a window are not negative")
    return tuple(made)


def _print_window(value: tuple[WindowDimension, ...]) -> str:
    shown = []
    for name, fields in _WINDOW.items():
        rows = [[int(getattr(dim, field)) for field in fields] for dim in value]
        usual = [WindowDimension._field_defaults.get(field) for field in fields]
        if any([row != usual for row in rows]):
            shown.append(f"{name}={'x'.join(['_'.join(map(str, row)) for row in rows])}")
    return f"{{{' '.join(shown)}}}"


_LABELS = re.compile(r"\s*([0-9bf?]{2,})_([0-9io?]{2,})->([0-9bf?]{2,})\s*")


def _read_labels(text: str) -> ConvolutionLabels:
    expected = "the dimensions of a convolution, such as b01f_01io->b01f"
    match = basic.matched(_LABELS, text, expected)
    parts = [
        _place_labels(part, letters)
        for part, letters in zip(match.groups(), ("bf", "io", "bf"), strict=True)
    ]
    if len({spatial for _, spatial in parts}) > 1:
        raise ValueError(f"{text.strip()} does not name the same spatial dimensions three times")
    return ConvolutionLabels(*[part for part, _ in parts])


def _place_labels(part: str, letters: str) -> tuple[str, int]:
    """Return labels as XLA keeps them, and how many are spatial.

    A letter that is not there stands for dimension 0, as does nobody's number in XLA's message;
    what comes later in `letters`, and the spatial dimensions, are written over it.  Dimensions
    that mean nothing, question marks, are forgotten at the end.
    """
    digits = sorted(set(part) - {*letters, "?"})
    named = part.replace("?", "")
    if len(set(named)) != len(named) or digits != [str(k) for k in range(len(digits))]:
        raise ValueError(f"{part} does not name {letters} and each spatial dimension once")
    places = [(max(part.find(letter), 0), letter) for letter in (*letters, *digits)]
    labels = ["?"] * (max(places)[0] + 1)
    for place, letter in places:
        labels[place] = letter
    return "".join(labels), len(digits)


def _print_labels(value: ConvolutionLabels) -> str:
    return f"{value.input}_{value.kernel}->{value.output}"


# Groups of replicas, shards, aliases.

_TILE = re.compile(r"\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?")


def _read_groups(text: str) -> ReplicaGroups:
    stripped = text.strip()
    if stripped.startswith("mesh"):
        return ReplicaGroups(mesh=normalise_mesh(stripped))
    if stripped.startswith("{"):
        return ReplicaGroups(basic.read_lists(stripped))
    expected = "groups such as {{0,1},{2,3}} or [2,2]<=[4]"
    match = basic.matched(_TILE, "".join(stripped.split()), expected)
    tile, reshape, order = [basic.read_ints(f"{{{part or ''}}}") for part in match.groups()]
    total, covered = prod(tile), prod(reshape)
    fits = not order or sorted(order) == list(range(len(reshape)))
    if len(tile) != 2 or total != covered or not fits or total > MOST_DEVICES:
        raise ValueError("[groups,members]<=[...]T(...) reads a permuted iota of as many numbers")
    if not order or order == tuple(range(len(reshape))):
        reshape, order = (total,), ()
    return ReplicaGroups(tile=tile, reshape=reshape, transpose=order)


def _print_groups(value: ReplicaGroups) -> str:
    if value.mesh:
        return value.mesh
    if not value.tile:
        return basic.braced(basic.print_ints)(value.groups)
    order = f"T({','.join(map(str, value.transpose))})" if len(value.reshape) > 1 else ""
    return f"[{','.join(map(str, value.tile))}]<=[{','.join(map(str, value.reshape))}]{order}"


_INDEX = r"\{\s*([0-9]+(?:\s*,\s*[0-9]+)*)?\s*\}"
_ALIAS = re.compile(
    rf"\s*{_INDEX}\s*:\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*(?:,\s*(may-alias|must-alias)\s*)?\)\s*"
)
_DONOR = re.compile(rf"\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*\)\s*")


def _index(text: str | None) -> tuple[int, ...]:
    return tuple([basic.bounded(number) for number in text.split(",")]) if text else ()


def _read_all(pattern: re.Pattern[str], text: str, expected: str) -> list[re.Match[str]]:
    """Match what stands between braces, with commas in between, and maybe one behind the last."""
    parts = outer_parts(basic.inside(text, "{}"))
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()
    return [basic.matched(pattern, part, expected) for part in parts]


def _read_aliases(text: str) -> tuple[Alias, ...]:
    found = _read_all(_ALIAS, text, "{output index}: (operand, {operand index})")
    return tuple(
        [Alias(_index(m[1]), basic.bounded(m[2]), _index(m[3]), m[4] or "") for m in found]
    )


def _read_plain_aliases(text: str) -> tuple[Alias, ...]:
    found = _read_aliases(text)
    if any([alias.kind for alias in found]):
        raise ValueError("expected {output index}: (operand, {operand index}) without a kind")
    return found


def _print_alias(alias: Alias, kind: str = "") -> str:
    output, inner = basic.print_ints(alias.output_index), basic.print_ints(alias.operand_index)
    return f"{output}: ({alias.operand}, {inner}{kind})"


def _read_program_aliases(text: str) -> tuple[Alias, ...]:
    return tuple(
        sorted([alias._replace(kind=alias.kind or "may-alias") for alias in _read_aliases(text)])
    )


def _print_program_aliases(value: Iterable[Alias]) -> str:
    return f"{{ {', '.join([_print_alias(alias, f', {alias.kind}') for alias in value])} }}"


def _read_donors(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    found = _read_all(_DONOR, text, "(parameter, {index})")
    return tuple(sorted({(basic.bounded(m[1]), _index(m[2])) for m in found}))


def _print_donors(value: Iterable[tuple[int, tuple[int, ...]]]) -> str:
    shown = [f"({number}, {basic.print_ints(index)})" for number, index in value]
    return f"{{ {', '.join(shown)} }}"


#: Readers and printers by kind.
KINDS: Final[dict[str, basic.Kind]] = {
    "dim_labels": basic.Kind(_read_labels, _print_labels),
    "padding": basic.Kind(_read_padding, _print_padding),
    "slice": basic.Kind(_read_slice, _print_slice),
    "window": basic.Kind(_read_window, _print_window),
    "input_output_alias": basic.Kind(_read_program_aliases, _print_program_aliases),
    "output_to_operand_aliasing": basic.Kind(_read_plain_aliases, basic.braced(_print_alias, ", ")),
    "buffer_donor": basic.Kind(_read_donors, _print_donors),
    "replica_groups": basic.Kind(_read_groups, _print_groups),
    "sharding": basic.Kind(normalise_sharding, str),
}
