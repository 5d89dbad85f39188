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
        listed = np.array([int(number) for number in ids.split(",") if number])
    else:
        sizes = [int(number) for number in iota[1].split(",")]
        order = [int(number) for number in iota[2].split(",")] if iota[2] else None
        if prod(sizes) != total:
            raise ValueError(f"an iota of {prod(sizes)} for a mesh of {total} devices")
        listed = np.arange(total).reshape(sizes).transpose(order).reshape(-1)
    if listed.size != total:
        raise ValueError(f"{listed.size} devices for a mesh of {total}")
    return listed
