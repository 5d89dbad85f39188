"""Which values are stored, and which are parts of the kernel that stores another one.

The result of an operation stays a lazy expression where whoever takes it can be computed in the
same loop, and is stored where not.  One with several users stays lazy only if they all end in the
same store by the same path: elementwise users, of the same shape, whose own results do.  Then the
kernel meets it as one shared node and computes it once; a path that moves elements, such as a
slice, would compute it again for each mover.  What is stretched is stored first, as every element
would be computed as often as it is repeated; kernels then stretch it, each for itself.  Groups are
bounded, for compilers take their time.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import Final

from .elementwise import ELEMENTWISE
from .inlining import Flat, Site
from .moves import VIEWS
from .reductions import is_fused_reduction

_LARGEST_GROUP: Final = 48
"""Most instructions of one kernel."""

_CHEAP: Final = frozenset(("constant", "iota", "parameter"))
"""What is made without computing."""

_PASSED_ON: Final = frozenset(("call", "fusion", "get-tuple-element", "tuple"))

# Where a lazy value ends: the site that is stored, or the mover on the way to it.
_End = tuple[str, Site]


def lazy_sites(flat: Flat) -> frozenset[Site]:
    """Return the operations whose values are not stored."""
    ends: dict[Site, _End] = {}
    for site in reversed(flat.sites):
        ends[site] = _end(site, ends, flat.root)
    lazy: set[Site] = set()
    sizes: dict[Site, int] = {}
    for site in flat.sites:
        size = 1 + sum([sizes.get(operand, 0) for operand in site.operands])
        opcode = site.instruction.opcode
        alone = ends[site] == ("stored", site) and not _is_stretched(site, flat.root, lazy)
        if not alone and size <= _LARGEST_GROUP:
            lazy.add(site)
            sizes[site] = size
        elif opcode in _CHEAP or opcode in _PASSED_ON:
            lazy.add(site)
    return frozenset(lazy)


def _is_stretched(site: Site, root: Site, lazy: set[Site]) -> bool:
    """Whether kernels stretch what is stored, each for itself: that takes them nothing."""
    if site.instruction.opcode != "broadcast" or site is root or site.operands[0] in lazy:
        return False
    return bool(site.users) and all([is_lazy(user) for user in site.users])


def _end(site: Site, ends: dict[Site, _End], root: Site) -> _End:
    """Where the value of a site ends, given where those of its users do."""
    own: _End = ("stored", site)
    if site is root or not is_lazy(site):
        return own
    if len(site.users) > 1 and _divide(site):
        return ("moved", site.users[0])
    found = {_seen(user, site, ends) for user in site.users}
    if len(found) != 1:
        return own
    (end,) = found
    moved = end == ("moved", site.users[0])
    if moved and (len(site.users) > 1 or site.users[0].operands.count(site) > 1):
        return own
    return own if end[0] == "none" else end


def _divide(site: Site) -> bool:
    """Whether its users are slices that lie apart, so that each of its elements is taken once."""
    users = [user.instruction for user in site.users]
    if any([user.opcode != "slice" for user in users]):
        return False
    for axis in range(len(site.instruction.shape.dimensions)):
        parts = sorted([user.get("slice")[axis][:2] for user in users])
        if all([one[1] <= other[0] for one, other in pairwise(parts)]):
            return True
    return False


def _seen(user: Site, operand: Site, ends: dict[Site, _End]) -> _End:
    """Where a user takes the value of an operand: to its own end, or past a move, or nowhere."""
    nowhere: _End = ("none", user)
    result, given = user.instruction.shape, operand.instruction.shape
    if result.is_tuple or not given.is_array:
        return nowhere
    opcode = user.instruction.opcode
    if opcode in ELEMENTWISE:
        return ends[user] if result.dimensions == given.dimensions else nowhere
    if opcode == "broadcast":
        same = prod(given.dimensions) == prod(result.dimensions)
        return ("moved", user) if same else nowhere
    if opcode in VIEWS or (user.operands[0] is operand and _folds(user)):
        return ("moved", user)
    return nowhere


def _folds(site: Site) -> bool:
    """Whether it folds its first operand lazily."""
    return is_fused_reduction(site.instruction) and site.operands[0] is not site.operands[1]


def is_lazy(site: Site) -> bool:
    """Whether its value can be a lazy expression, of values that may be."""
    opcode = site.instruction.opcode
    return opcode in ELEMENTWISE or opcode in VIEWS or _folds(site)
