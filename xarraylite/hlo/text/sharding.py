"""The text of shardings, brought into the form in which XLA writes it.

A sharding says which devices hold which tile of an array::

    {replicated}  {maximal device=3}  {manual}  {unknown}  {unreduced}
    {devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}     tiles, over an iota of devices
    {devices=[2,2]0,2,1,3 last_tile_dims={manual, replicated}}
    {mesh['x'=2,'y'=2], [{'x'}, {}]}                         by the axes of a mesh
    {{replicated}, {maximal device=0}}                       one for each array of a tuple

The last of the tile's dimensions may be ways in which devices hold the same tile.  XLA brings those
into one order, merges equal ones, drops those of one device, and shortens iotas; so do we.

Groups of replicas are written by the axes of a mesh, too: ``mesh['x'=2,'y'=4] {'y':(1)2,'x'}``.  A
mesh arranges devices in an array.  A group is what varies along the named axes, the last fastest; a
part of an axis is written with the size of what is outside it and its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...xla.spec import ArraySpec
from .kinds_basic import inside, matched
from .scanner import outer_parts

#: Most devices of a mesh or a sharding; they are listed one by one to be brought in order.
MOST_DEVICES: Final = 1 << 18

Devices: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
# Where parts of the axes of a mesh that were named begin and end.
Seen: TypeAlias = dict[str, list[tuple[int, int]]]

_NAMED = r"['\"][^'\"\[\]]*['\"]=\d+"
_LIST = r"\d+(?:\s*,\s*\d+)*"
_AXES = (
    rf"mesh\[(?P<axes>(?:{_NAMED}(?:,{_NAMED})*)?)\]"
    rf"(?:,device_ids=\((?P<ids>(?:{_LIST})?|\[{_LIST}\](?:T\({_LIST}\))?)\))?"
)
_MESH = re.compile(rf"{_AXES}\{{(?P<group>[^{{}}]*)\}}")
_AXIS = re.compile(r"['\"]([^'\"]*)['\"]=(\d+)")
_REFERENCE = re.compile(r"['\"]([^'\"]*)['\"](?::\((\d+)\)(\d+))?")
_IOTA = re.compile(rf"\[({_LIST})\](?:T\(({_LIST})\))?")


def _match(text: str) -> re.Match[str]:
    expected = "a mesh and its axes, such as mesh['x'=2,'y'=4] {'y'}"
    return matched(_MESH, "".join(text.split()), expected)


def normalise_mesh(text: str) -> str:
    """Return the canonical text of groups by a mesh.

    Raises
    ------
    ValueError
        If the text is malformed.
    """
    match = _match(text)
    expand_mesh(text)
    ids = f", device_ids=({match['ids']})" if match["ids"] is not None else ""
    return f"mesh[{match['axes']}]{ids} {{{match['group']}}}"


_SHARDING = re.compile(
    _AXES + r"(?:,(?P<word>replicated|unreduced|manual)"
    r"|,\[(?P<dims>(?:\{[^{}]*\},?)*)\](?P<rest>(?:,[a-z]+=\{[^{}]*\})*))"
)
_MAXIMAL = re.compile(r"maximal_mesh\[device_id=\d+\]")
_NOTES = re.compile(r",\s*metadata=(\{(?:[^{}]++|\{[^{}]*+\})*+\})\s*\Z")
_HELD: Final = ("replicated", "unreduced", "manual")


def normalise_mesh_sharding(text: str) -> str:
    """Return the canonical text of a sharding by the axes of a mesh.

    Raises
    ------
    ValueError
        If the text is malformed, or an axis is not there or named twice.

    Examples
    --------
    >>> from xarraylite.hlo.text.sharding import normalise_mesh_sharding
    >>> normalise_mesh_sharding("mesh['x'=2,'y'=2],[{'x','y'},{?}],replicated={}")
    "mesh['x'=2,'y'=2], [{'x', 'y'}, {?}]"
    """
    notes = _NOTES.search(text)
    if notes is not None:
        given = notes[1] if notes[1].startswith("{{") else f"{{{notes[1]}}}"
        return f"{normalise_mesh_sharding(text[: notes.start()])}, metadata={given}"
    plain = "".join(text.split())
    if _MAXIMAL.fullmatch(plain):
        return plain
    expected = "a mesh and what divides it, such as mesh['x'=2], [{'x'}, {}]"
    match = matched(_SHARDING, plain, expected)
    sizes = {name: int(size) for name, size in _AXIS.findall(match["axes"])}
    shown = [f"mesh[{match['axes']}]"]
    total = prod(sizes.values())
    if match["ids"] and (_devices(match["ids"], total) != np.arange(total)).any():
        shown.append(f"device_ids=({match['ids']})")
    seen: Seen = {}
    if match["word"]:
        return ", ".join([*shown, match["word"]])
    dims = [_listed(part, sizes, seen) for part in re.findall(r"\{([^{}]*)\}", match["dims"])]
    shown.append(f"[{', '.join(dims)}]")
    held = dict(re.findall(r",([a-z]+)=\{([^{}]*)\}", match["rest"]))
    if not held.keys() <= {*_HELD}:
        raise ValueError(f"a mesh is divided, or {', '.join(_HELD)}")
    for name in _HELD:
        if held.get(name):
            shown.append(f"{name}={_listed(held[name], sizes, seen)}")
    return ", ".join(shown)


def _listed(text: str, sizes: Mapping[str, int], seen: Seen) -> str:
    """Write axes of a mesh, none of which may have been named before; a mark says more may come."""
    axes = text.split(",") if text else []
    _references(axes[:-1] if axes[-1:] == ["?"] else axes, sizes, seen)
    return f"{{{', '.join(axes)}}}"


def _references(
    axes: Sequence[str], sizes: Mapping[str, int], seen: Seen
) -> list[tuple[str, int, int]]:
    """Return axes of a mesh, or parts of them, how much is outside of each, and its size.

    No axis or part lies in another, and parts that are one in this order are written so.
    """
    found: list[tuple[str, int, int]] = []
    for axis in axes:
        expected = f"axes such as 'x' and 'y':(1)2, found {axis[:30]!r}"
        match = matched(_REFERENCE, axis, expected)
        name, extent = match[1], sizes.get(match[1], 0)
        outside, size, others = int(match[2] or 1), int(match[3] or extent), seen.get(name, [])
        end = outside * size
        fits = extent > 0 and not others
        if match[2]:
            fits = 1 < size < extent and end > 0 and extent % end == 0
            apart = fits and all([not (outside % after and b % end) for b, after in others])
            fits = apart and (not found or found[-1][0] != name or others[-1][1] != outside)
        if not fits:
            raise ValueError(f"the mesh has no axis {name!r}, or no such part, or it is taken")
        seen[name] = [*others, (outside, end)]
        found.append((name, outside, size))
    return found


def expand_mesh(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the replicas in each group.

    Examples
    --------
    >>> from xarraylite.hlo.text.sharding import expand_mesh
    >>> expand_mesh("mesh['x'=2,'y'=2] {'x'}")
    ((0, 2), (1, 3))
    """
    match = _match(text)
    sizes = {name: int(size) for name, size in _AXIS.findall(match["axes"])}
    total = prod(sizes.values())
    devices = _devices(match["ids"], total)
    references = _references(match["group"].split(","), sizes, {})
    members = prod([size for _, _, size in references])
    if members < 2:
        raise ValueError("a group has more than one device")
    grid = np.indices(tuple(sizes.values())).reshape(len(sizes), -1)
    places = dict(zip(sizes, grid, strict=True))
    inner = []
    for name, outside, size in references:
        step = sizes[name] // (outside * size)
        inner.append(places[name] // step % size)
        places[name] = places[name] - inner[-1] * step
    order = np.lexsort([*places.values(), *inner][::-1])
    rows = devices[order].reshape(-1, members)
    return tuple([tuple(row) for row in rows.tolist()])


def _devices(ids: str | None, total: int) -> Devices:
    """Return the numbers of the devices of a mesh."""
    if not 0 < total <= MOST_DEVICES:
        raise ValueError(f"a mesh of {total} devices")
    if ids is None:
        return np.arange(total)
    iota = _IOTA.fullmatch(ids)
    if iota is not None:
        return _permuted(total, _ints(iota[1]), _ints(iota[2] or ""))
    listed = np.array(_ints(ids), np.int64)
    if listed.size != total:
        raise ValueError(f"{listed.size} devices for a mesh of {total}")
    return listed


def _permuted(total: int, sizes: list[int], order: list[int]) -> Devices:
    """Return as many numbers, reshaped and transposed, in a row."""
    axes = list(range(len(sizes)))
    if prod(sizes) != total or sorted(order or axes) != axes:
        raise ValueError(f"an iota {sizes} permuted by {order} for {total} devices")
    return np.arange(total).reshape(sizes).transpose(order or axes).reshape(-1)


_WORDS = frozenset({"replicated", "manual", "unknown", "unreduced", "maximal"})
_PART = re.compile(
    rf"devices=\s*\[\s*(?P<tile>{_LIST})\s*\]\s*"
    rf"(?:<=\s*\[\s*(?P<reshape>{_LIST})\s*\]\s*(?:T\(\s*(?P<order>{_LIST})\s*\))?"
    rf"|(?P<list>{_LIST}))"
    r"|last_tile_dims=\s*\{(?P<types>\s*(?:[a-z]+\s*(?:,\s*[a-z]+\s*)*)?)\}"
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
        return kinds[0] + (f" device={int(found['device'])}" if "device" in found else "") + tail
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
        devices = _devices(found["list"], total).reshape(tile)
    else:
        order = _ints(found.get("order", ""))
        devices = _permuted(total, _ints(found["reshape"]), order).reshape(tile)
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
    if covered != total or not np.array_equal(_permuted(total, sizes, order), flat):
        return ""
    if order == list(range(len(order))):
        return f"<=[{total}]"
    return f"<=[{','.join(map(str, sizes))}]T({','.join(map(str, order))})"
