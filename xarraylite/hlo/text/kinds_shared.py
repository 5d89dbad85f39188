"""Kinds of attributes: groups of replicas, and results that share memory with operands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import prod
from typing import Final

from ..values import Alias, ReplicaGroups
from .kinds_basic import Kind, bounded, braced, inside, print_ints, read_ints, read_lists
from .meshes import MOST_DEVICES, normalise_mesh
from .sharding import normalise_sharding

# Groups of replicas, shards, aliases.

_TILE = re.compile(r"\[([0-9,]+)\]<=\[([0-9,]+)\](?:T\(([0-9,]+)\))?")


def _read_groups(text: str) -> ReplicaGroups:
    stripped = text.strip()
    if stripped.startswith("mesh"):
        return ReplicaGroups(mesh=normalise_mesh(stripped))
    if stripped.startswith("{"):
        return ReplicaGroups(read_lists(stripped))
    match = _TILE.fullmatch("".join(stripped.split()))
    if match is None:
        raise ValueError("expected groups such as {{0,1},{2,3}} or [2,2]<=[4]")
    tile, reshape, order = [read_ints(f"{{{part or ''}}}") for part in match.groups()]
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
        return braced(print_ints)(value.groups)
    order = f"T({','.join(map(str, value.transpose))})" if len(value.reshape) > 1 else ""
    return f"[{','.join(map(str, value.tile))}]<=[{','.join(map(str, value.reshape))}]{order}"


_INDEX = r"\{\s*([0-9]+(?:\s*,\s*[0-9]+)*)?\s*\}"
_ALIAS = re.compile(
    rf"\s*{_INDEX}\s*:\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*(?:,\s*(may-alias|must-alias)\s*)?\)\s*,?"
)
_DONOR = re.compile(rf"\s*\(\s*([0-9]+)\s*,\s*{_INDEX}\s*\)\s*,?")


def _index(text: str | None) -> tuple[int, ...]:
    return tuple([bounded(number) for number in text.split(",")]) if text else ()


def _read_all(pattern: re.Pattern[str], text: str, expected: str) -> list[re.Match[str]]:
    """Match a pattern again and again until the text between braces ends."""
    inner = inside(text, "{}").strip()
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
    return tuple([Alias(_index(m[1]), bounded(m[2]), _index(m[3]), m[4] or "") for m in found])


def _read_plain_aliases(text: str) -> tuple[Alias, ...]:
    found = _read_aliases(text)
    if any([alias.kind for alias in found]):
        raise ValueError("expected {output index}: (operand, {operand index}) without a kind")
    return found


def _print_alias(alias: Alias, kind: str = "") -> str:
    output, inner = print_ints(alias.output_index), print_ints(alias.operand_index)
    return f"{output}: ({alias.operand}, {inner}{kind})"


def _read_program_aliases(text: str) -> tuple[Alias, ...]:
    return tuple(
        sorted([alias._replace(kind=alias.kind or "may-alias") for alias in _read_aliases(text)])
    )


def _print_program_aliases(value: Iterable[Alias]) -> str:
    return f"{{ {', '.join([_print_alias(alias, f', {alias.kind}') for alias in value])} }}"


def _read_donors(text: str) -> tuple[tuple[int, tuple[int, ...]], ...]:
    found = _read_all(_DONOR, text, "(parameter, {index})")
    return tuple(sorted([(bounded(m[1]), _index(m[2])) for m in found]))


def _print_donors(value: Iterable[tuple[int, tuple[int, ...]]]) -> str:
    shown = [f"({number}, {print_ints(index)})" for number, index in value]
    return f"{{ {', '.join(shown)} }}"


KINDS: Final[dict[str, Kind]] = {
    "program_aliases": Kind(_read_program_aliases, _print_program_aliases),
    "aliases": Kind(_read_plain_aliases, braced(_print_alias, ", ")),
    "donors": Kind(_read_donors, _print_donors),
    "groups": Kind(_read_groups, _print_groups),
    "sharding": Kind(normalise_sharding, str),
}
"""Readers and printers by kind."""
