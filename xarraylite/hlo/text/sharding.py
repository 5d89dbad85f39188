"""The text of shardings, brought into the form in which XLA writes it.

A sharding says which devices hold which tile of an array::

    {replicated}  {maximal device=3}  {manual}  {unknown}  {unreduced}
    {devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}     tiles, over an iota of devices
    {devices=[2,2]0,2,1,3 last_tile_dims={manual, replicated}}
    {mesh['x'=2,'y'=2], [{'x'}, {}]}                         by the axes of a mesh
    {{replicated}, {maximal device=0}}                       one for each array of a tuple

The last of the tile's dimensions may be ways in which devices hold the same tile.  XLA brings those
into one order, merges equal ones, drops those of one device, and shortens iotas; so do we.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any, TypeAlias

import numpy as np

from ...xla.spec import ArraySpec
from .kinds_basic import inside
from .meshes import MOST_DEVICES, normalise_mesh_sharding
from .quoting import outer_parts

Devices: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_WORDS = frozenset({"replicated", "manual", "unknown", "unreduced", "maximal"})
_PART = re.compile(
    r"devices=\s*(?P<tile>\[[\d,\s]+\])\s*"
    r"(?:<=\s*(?P<reshape>\[[\d,\s]+\])\s*(?:T\(\s*(?P<order>[\d,\s]+)\))?"
    r"|(?P<list>\d+(?:\s*,\s*\d+)*))"
    r"|last_tile_dims=\s*\{(?P<types>[a-z,\s]*)\}"
    r"|metadata=(?P<metadata>\{(?:[^{}]++|\{[^{}]*+\})*+\})"
    r"|device=\s*(?P<device>\d+)"
    r"|(?P<group>shard_as|shard_like)\s+(?P<number>\d+)"
    r"|(?P<word>[a-z_]+)"
)
_METADATA = re.compile(r",? metadata=\{(?:[^{}]++|\{[^{}]*+\})*+\}")
# The order in which XLA keeps the kinds of devices that hold the same tile.
_ORDER = {"maximal": 1, "tuple": 2, "other": 3, "manual": 4, "unknown": 5, "unreduced": 6}


def normalise_sharding(text: str) -> str:
    """Return the canonical text of a sharding.

    Raises
    ------
    ValueError
        If the text is malformed.

    Examples
    --------
    >>> from xarraylite.hlo.text.sharding import normalise_sharding
    >>> normalise_sharding("{devices=[2,1,2]<=[2,2]T(0,1) last_tile_dims={replicated}}")
    '{devices=[2,1,2]<=[4] last_tile_dim_replicate}'
    """
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        raise ValueError("a sharding stands between braces, such as {replicated}")
    inner = stripped[1:-1].strip()
    if not inner.startswith("{"):
        return f"{{{_single(inner)}}}" if inner else "{}"
    parts = [inside(part, "{}").strip() for part in outer_parts(inner)]
    return f"{{{', '.join([f'{{{_single(part)}}}' for part in parts])}}}"


def spread_sharding(text: str, shape: ArraySpec) -> str:
    """Return one sharding for each array of a tuple, where text gives one for all of them."""
    if text.startswith("{{") or text == "{}":
        return text
    return f"{{{', '.join([text] * shape.get_leaf_count())}}}"


def without_metadata(text: str) -> str:
    """Return the text of a sharding without where it comes from."""
    return _METADATA.sub("", text) if "metadata" in text else text


def _single(inner: str) -> str:
    if inner.startswith(("mesh[", "maximal_mesh[")):
        return normalise_mesh_sharding(inner)
    found: dict[str, str] = {}
    words: list[str] = []
    rest = _PART.sub("", inner)
    if rest.strip(" \t\r\n,"):
        raise ValueError(f"expected a sharding, found {rest.strip()[:30]!r}")
    for match in _PART.finditer(inner):
        given = {name: value for name, value in match.groupdict().items() if value is not None}
        if "word" in given:
            words.append(given["word"])
        found.update(given)
    tail = ""
    if "group" in found:
        tail += f" {found['group']} {found['number']}"
    if "metadata" in found:
        tail += f" metadata={found['metadata']}"
    kinds = [word for word in words if word in _WORDS]
    others = [word for word in words if word not in _WORDS and word != "last_tile_dim_replicate"]
    if others or len(kinds) > 1 or bool(kinds) == ("tile" in found):
        raise ValueError("a sharding is replicated, maximal, manual, ... or has devices=[...]")
    if kinds:
        if (kinds == ["maximal"]) != ("device" in found):
            raise ValueError("a maximal sharding has one device: {maximal device=0}")
        return kinds[0] + (f" device={found['device']}" if "device" in found else "") + tail
    types = [word.strip() for word in found.get("types", "").split(",") if word.strip()]
    if "last_tile_dim_replicate" in words:
        types.append("replicated")
    return _tiled(found, types) + tail


def _ints(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def _tiled(found: dict[str, str], types: list[str]) -> str:
    """The canonical text of tiles over devices."""
    tile = _ints(found["tile"])
    total = prod(tile)
    if not 0 < total <= MOST_DEVICES or len(types) > len(tile):
        raise ValueError(f"tiles {tile} over {total} devices, of which {len(types)} are subgroups")
    listed = "list" in found
    if listed:
        if total == 1:
            raise ValueError("tiles lie on more than one device; {maximal device=0} on one")
        devices = np.array(_ints(found["list"]))
        if devices.size != total:
            raise ValueError(f"{devices.size} devices for the tiles {tile}")
        devices = devices.reshape(tile)
    else:
        reshape = _ints(found["reshape"])
        order = _ints(found.get("order", "")) or list(range(len(reshape)))
        if prod(reshape) != total or sorted(order) != list(range(len(reshape))):
            raise ValueError(f"an iota {reshape} permuted by {order} for the tiles {tile}")
        devices = np.arange(total).reshape(reshape).transpose(order).reshape(tile)
    if types:
        given, data = types, len(tile) - len(types)
        tile, types, devices = _subgroups(tile, types, devices)
        if total == 1 and len(set(given)) == 1:
            return given[0]
        # "unreduced" alone is a sharding of its own only where nothing else was said.
        alone = len(types) == 1 and (types[0] != "unreduced" or set(given) == {"unreduced"})
        if alone and prod(tile[:data]) == 1:
            return types[0]
    where = "" if listed else _iota(devices)
    where = where or ",".join(map(str, devices.reshape(-1).tolist()))
    text = f"devices=[{','.join(map(str, tile))}]{where}"
    if types == ["replicated"]:
        return f"{text} last_tile_dim_replicate"
    return f"{text} last_tile_dims={{{', '.join(types)}}}" if types else text


def _subgroups(
    tile: list[int], types: list[str], devices: Devices
) -> tuple[list[int], list[str], Devices]:
    """Sort the dimensions that do not tile, merge equal ones, drop those of one device."""
    data = len(tile) - len(types)
    rank = {kind: _ORDER.get(kind, 0) for kind in types}
    rank["replicated"] = 99  # last of all
    places = sorted(range(len(types)), key=lambda k: rank[types[k]])
    moved = devices.transpose([*range(data), *[data + k for k in places]])
    sizes: dict[str, int] = {}
    for k in places:
        sizes[types[k]] = sizes.get(types[k], 1) * tile[data + k]
    kept = {kind: size for kind, size in sizes.items() if size > 1}
    made = [*tile[:data], *kept.values()]
    moved = moved.reshape(made)
    if "replicated" in kept:
        # Which of the devices with the same data comes first is nobody's concern.
        moved = np.sort(moved, axis=-1)
    return made, list(kept), moved


def _iota(devices: Devices) -> str:
    """The shortest iota, reshaped and transposed, that lists these devices; else nothing.

    Such a list is a nest of loops, whose extents and strides are read off from the inside outwards.
    """
    flat = devices.reshape(-1)
    total = flat.size
    loops: list[tuple[int, int]] = []  # stride and extent, innermost first
    covered = 1
    while covered < total:
        rows = flat[::covered]
        stride = int(rows[1] - rows[0])
        extent = 2
        while extent < rows.size and rows[extent] - rows[extent - 1] == stride:
            extent += 1
        loops.append((stride, extent))
        covered *= extent
    outer = loops[::-1]
    by_stride = sorted(range(len(outer)), key=lambda k: -outer[k][0])
    sizes = [outer[k][1] for k in by_stride]
    order = [by_stride.index(k) for k in range(len(outer))]
    if covered != total or not np.array_equal(
        np.arange(total).reshape(sizes).transpose(order).reshape(-1), flat
    ):
        return ""
    if order == list(range(len(order))):
        return f"<=[{total}]"
    return f"<=[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"
