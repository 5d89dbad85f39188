"""Groups of replicas by the axes of a mesh: ``mesh['x'=2,'y'=4] {'y':(1)2,'x'}``.

A mesh arranges devices in an array.  A group is what varies along the named axes, the last fastest;
a part of an axis is written with the size of what is outside it and its own.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np

__all__ = ["MOST_DEVICES", "expand_mesh", "normalise_mesh"]

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


def expand_mesh(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the numbers of the replicas in each group.

    Examples
    --------
    >>> from xarraylite.hlo.meshes import expand_mesh
    >>> expand_mesh("mesh['x'=2,'y'=2] {'x'}")
    ((0, 2), (1, 3))
    """
    match = _match(text)
    sizes = {name: int(size) for name, size in _AXIS.findall(match["axes"])}
    total = prod(sizes.values())
    if not sizes or not 0 < total <= MOST_DEVICES:
        raise ValueError(f"a mesh of {total} devices")
    devices = _devices(match["ids"], total).reshape(tuple(sizes.values()))
    # Each axis in the parts that the references divide it into, outermost first.
    parts: dict[str, list[int]] = {name: [1, size] for name, size in sizes.items()}
    references = [(n, int(a or 1), int(b or 0)) for n, a, b in _REFERENCE.findall(match["group"])]
    for name, outside, size in references:
        if name not in sizes or sizes[name] % (outside * (size or sizes[name])):
            raise ValueError(f"the mesh has no axis {name!r}, or no such part of it")
        parts[name] += [outside, outside * (size or sizes[name])]
    shape: list[int] = []
    places: dict[tuple[str, int], int] = {}  # axis and what is outside, to a dimension
    for name in sizes:
        borders = sorted(set(parts[name]))
        for border, following in pairwise(borders):
            places[name, border] = len(shape)
            shape.append(following // border)
    inner = []
    for name, outside, size in references:
        end = outside * (size or sizes[name])
        inner += [place for (n, b), place in places.items() if n == name and outside <= b < end]
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
