"""Groups of replicas by the axes of a mesh: ``mesh['x'=2,'y'=4] {'y':(1)2,'x'}``.

A mesh arranges devices in an array.  A group is what varies along the named axes, the last fastest;
a part of an axis is written with the size of what is outside it and its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np

MOST_DEVICES: Final = 1 << 18
"""Most devices of a mesh or a sharding; they are listed one by one to be brought in order."""

_MESH = re.compile(
    r"mesh\[(?P<axes>[^\[\]]*)\](?:,device_ids=\((?P<ids>[\d,]*|\[[\d,]+\](?:T\([\d,]+\))?)\))?"
    r"\{(?P<group>[^{}]*)\}"
)
_AXIS = re.compile(r"['\"]([^'\"]+)['\"]=(\d+)")
_REFERENCE = re.compile(r"['\"]([^'\"]+)['\"](?::\((\d+)\)(\d+))?")
_IOTA = re.compile(r"\[([\d,]+)\](?:T\(([\d,]+)\))?")


def _match(text: str) -> re.Match[str]:
    match = _MESH.fullmatch("".join(text.split()))
    if match is None:
        raise ValueError("expected a mesh and its axes, such as mesh['x'=2,'y'=4] {'y'}")
    return match


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
    r"mesh\[(?P<axes>[^\[\]]*)\]"
    r"(?:,device_ids=\((?P<ids>[\d,]*|\[[\d,]+\](?:T\([\d,]+\))?)\))?"
    r"(?:,(?P<word>replicated|unreduced|manual)"
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
    >>> from xarraylite.hlo.text.meshes import normalise_mesh_sharding
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
    match = _SHARDING.fullmatch(plain)
    if match is None:
        raise ValueError("expected a mesh and what divides it, such as mesh['x'=2], [{'x'}, {}]")
    sizes = {name: int(size) for name, size in _AXIS.findall(match["axes"])}
    shown = [f"mesh[{match['axes']}]"]
    if match["ids"]:
        shown += _shown_devices(match["ids"], prod(sizes.values()))
    seen: set[tuple[str, int]] = set()
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


def _shown_devices(ids: str, total: int) -> list[str]:
    """Write the numbers of a mesh's devices, unless they are in order."""
    in_order = bool((_devices(ids, total) == np.arange(total)).all())
    return [] if in_order else [f"device_ids=({ids})"]


def _listed(text: str, sizes: Mapping[str, int], seen: set[tuple[str, int]]) -> str:
    """Write axes of a mesh, none of which may have been named before; a mark says more may come."""
    axes = text.split(",") if text else []
    for axis in axes:
        match = _REFERENCE.fullmatch(axis)
        if match is None:
            if axis != "?" or axis is not axes[-1]:
                raise ValueError(f"expected axes such as 'x' and 'y':(1)2, found {axis[:30]!r}")
            continue
        outside, size = int(match[2] or 1), int(match[3] or 1)
        key = (match[1], outside)
        if sizes and (key in seen or sizes.get(match[1], 0) % (outside * size or 1) or not size):
            raise ValueError(f"the mesh has no axis {match[1]!r}, or no such part, or it is taken")
        if sizes and match[1] not in sizes:
            raise ValueError(f"the mesh has no axis {match[1]!r}")
        seen.add(key)
    return f"{{{', '.join(axes)}}}"


def _parts(
    sizes: Mapping[str, int], references: Sequence[tuple[str, int, int]]
) -> list[tuple[str, int, int]]:
    """Return the parts into which references divide the axes of a mesh, the outermost first.

    A reference is an axis, the number of devices along it that lie outside of the part that is
    meant, and the size of this part.  A part is an axis, where it starts and where it ends: as many
    devices along the axis lie outside of it, and outside of what is inside of it.
    """
    found = []
    for axis, extent in sizes.items():
        borders = {1, extent}
        for name, outside, size in references:
            if name == axis:
                borders |= {outside, outside * size}
        found += [(axis, start, end) for start, end in pairwise(sorted(borders))]
    return found


def expand_mesh(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the replicas in each group.

    Examples
    --------
    >>> from xarraylite.hlo.text.meshes import expand_mesh
    >>> expand_mesh("mesh['x'=2,'y'=2] {'x'}")
    ((0, 2), (1, 3))
    """
    match = _match(text)
    sizes = {name: int(size) for name, size in _AXIS.findall(match["axes"])}
    total = prod(sizes.values())
    if not sizes or not 0 < total <= MOST_DEVICES:
        raise ValueError(f"a mesh of {total} devices")
    devices = _devices(match["ids"], total).reshape(tuple(sizes.values()))
    if not match["group"]:
        raise ValueError("a group has more than one device: it needs an axis")
    references = [
        (name, int(outside or 1), int(size or 0) or sizes.get(name, 0))
        for name, outside, size in _REFERENCE.findall(match["group"])
    ]
    for name, outside, size in references:
        if name not in sizes or outside < 1 or sizes[name] % (outside * size):
            raise ValueError(f"the mesh has no axis {name!r}, or no such part of it")
    parts = _parts(sizes, references)
    shape = [end // start for _, start, end in parts]
    inner = [
        k
        for name, outside, size in references
        for k, (axis, start, _) in enumerate(parts)
        if axis == name and outside <= start < outside * size
    ]
    outer = [k for k in range(len(shape)) if k not in inner]
    members = prod([shape[k] for k in inner])
    rows = devices.reshape(shape).transpose([*outer, *inner]).reshape(-1, members)
    return tuple([tuple(row) for row in rows.tolist()])


def _devices(ids: str | None, total: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    if ids is None:
        return np.arange(total)
    iota = _IOTA.fullmatch(ids)
    if iota is None:
        listed = np.array([int(number) for number in ids.split(",") if number], np.int64)
    else:
        sizes = [int(number) for number in iota[1].split(",")]
        order = [int(number) for number in iota[2].split(",")] if iota[2] else None
        if prod(sizes) != total:
            raise ValueError(f"an iota of {prod(sizes)} for a mesh of {total} devices")
        listed = np.arange(total).reshape(sizes).transpose(order).reshape(-1)
    if listed.size != total:
        raise ValueError(f"{listed.size} devices for a mesh of {total}")
    return listed
