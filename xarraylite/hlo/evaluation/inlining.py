"""A computation as one list of operations: calls opened, tuples taken apart, nothing twice.

What a call runs stands in the place of the call, with the call's operands for its parameters, so
kernels reach over its borders and a loop's body is planned as a whole.  Where a program calls the
same computation again and again, opening every call could take any size; calls that would make a
list too long stay calls.  Operations without effects that are the same of the same operands become
one, and elements of parameters are taken first, so that nobody keeps the tuple that they are in.

The result of an operation stays a lazy expression where whoever takes it can be computed in the
same loop, and is stored where not (`lazy_sites`).  One with several users stays lazy only if they
all end in the same store by the same path: elementwise users, of the same shape, whose own results
do.  Then the kernel meets it as one shared node and computes it once; a path that moves elements,
such as a slice, would compute it again for each mover.  What is stretched is stored first, as every
element would be computed as often as it is repeated; kernels then stretch it, each for itself.
Groups are bounded, for compilers take their time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from operator import attrgetter
from typing import Any, Final, NamedTuple

from ...ir.walk import depth_first
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from .elementwise import ELEMENTWISE
from .moves import VIEWS, is_chain_of_views, major_to_minor
from .reductions import is_fused_reduction, is_place_of_extreme

#: Most operations of a list that calls were opened into.
_LONGEST: Final = 4096

_OPENED: Final = ("call", "fusion")

#: Most elements of a constant that is compared with others.
_SMALL: Final = 16

_PURE: Final = frozenset((*ELEMENTWISE, *VIEWS, "get-tuple-element", "iota"))
_MOVES: Final = ("broadcast", "copy", "reshape", "transpose")
#: Attributes that change no value; not all of them can be compared.
_NOTES: Final = ("backend_config", "frontend_attributes", "sharding", "statistics")


class Site:
    """One operation of a list: an instruction, and the sites whose values it takes."""

    __slots__ = ("instruction", "operands", "users")

    def __init__(self, instruction: HloInstruction, operands: tuple[Site, ...]) -> None:
        self.instruction = instruction
        self.operands = operands
        self.users: list[Site] = []


class Flat(NamedTuple):
    """The sites of a computation in an order in which they can run."""

    parameters: tuple[Site, ...]
    sites: tuple[Site, ...]
    root: Site


def flatten(computation: HloComputation) -> Flat:
    """Return the operations of a computation whose values somebody takes, or that do something."""
    return linked(opened(computation))


def opened(computation: HloComputation) -> Flat:
    """Return all operations of a computation and of those it calls, none of them twice."""
    return _merged(_opened(computation))


def linked(found: Flat) -> Flat:
    """Return the operations that are needed, which know their users, parameters first."""
    ends = [found.root, *[site for site in found.sites if site.instruction.opcode in _ACTS]]
    kept = set(depth_first(ends, attrgetter("operands")))
    listed = [site for site in found.sites if site in kept]
    sites = tuple(sorted(listed, key=_rank))
    for site in sites:
        for operand in dict.fromkeys(site.operands):
            operand.users.append(site)
    return Flat(found.parameters, sites, found.root)


class _Frame(NamedTuple):
    """A computation that is being opened: what is left of it, its values, and who called it."""

    computation: HloComputation
    rest: Iterator[HloInstruction]
    found: dict[HloInstruction, Site]
    call: HloInstruction | None


def _opened(computation: HloComputation) -> Flat:
    """Return the operations of a computation, with those of its calls in their places."""
    left = _LONGEST
    sites: list[Site] = []
    frame = _Frame(computation, iter(computation.instructions), {}, None)
    stack = [frame]
    while True:
        frame = stack[-1]
        found = frame.found
        for instruction in frame.rest:
            operands = tuple([found[operand] for operand in instruction.operands])
            # What is mapped over a single element is called.
            one = instruction.opcode == "map" and instruction.shape.dimensions == ()
            callee = instruction.to_apply if one or instruction.opcode in _OPENED else None
            if callee is not None and len(callee.instructions) <= left:
                left -= len(callee.instructions)
                inner = [part for part in callee.instructions if part.opcode != "parameter"]
                given = dict(zip(callee.parameters, operands, strict=True))
                stack.append(_Frame(callee, iter(inner), given, instruction))
                break
            found[instruction] = _placed(instruction, operands, sites)
        else:
            stack.pop()
            result = found[frame.computation.root]
            if frame.call is None:
                parameters = tuple([found[parameter] for parameter in computation.parameters])
                return Flat(parameters, tuple(sites), result)
            stack[-1].found[frame.call] = result


def _placed(instruction: HloInstruction, operands: tuple[Site, ...], sites: list[Site]) -> Site:
    if instruction.opcode == "bitcast" and is_chain_of_views(instruction):
        site = operands[0]
        for step in _views(instruction):
            site = _placed(step, (site,), sites)
        return site
    if instruction.opcode == "get-tuple-element":
        whole = operands[0]
        if whole.instruction.opcode == "tuple":
            return whole.operands[int(instruction.get("index"))]
    elif instruction.opcode in _MOVES and not any(instruction.shape.dynamic):
        source = operands[0]
        if instruction.opcode == "reshape" and source.instruction.opcode == "reshape":
            source = source.operands[0]
            operands = (source,)
        if _moves_nothing(instruction, source.instruction):
            return source
    elif is_place_of_extreme(instruction):
        operands = operands[:1]
    elif instruction.opcode == "dynamic-update-slice":
        update = operands[1]
        if update.instruction.opcode == "reshape" and not any(update.instruction.shape.dynamic):
            # It is written row by row in any case.
            operands = (operands[0], update.operands[0], *operands[2:])
    elif instruction.opcode in ELEMENTWISE:
        operands = _unspread(instruction, operands)
    site = Site(instruction, operands)
    sites.append(site)
    return site


def _views(bitcast: HloInstruction) -> list[HloInstruction]:
    """Return the views that a bitcast is: elements in the order of memory, in its shape, and back.

    As such they are parts of kernels, and what they undo is gone.
    """
    source, target = bitcast.operands[0].shape, bitcast.shape
    forth, back = major_to_minor(source), major_to_minor(target)
    places = tuple([back.index(axis) for axis in range(target.rank)])
    steps = [
        ("transpose", tuple([source.dimensions[k] for k in forth]), {"dimensions": forth}),
        ("reshape", tuple([target.dimensions[k] for k in back]), {}),
        ("transpose", target.dimensions, {"dimensions": places}),
    ]
    made: list[HloInstruction] = []
    operand = bitcast.operands[0]
    for opcode, sizes, attributes in steps:
        shape = ArraySpec(target.element_type, sizes)
        operand = HloInstruction(bitcast.name, opcode, shape, (operand,), attributes)
        made.append(operand)
    return made


def _merged(flat: Flat) -> Flat:
    """Return the operations of a list, each of its operands once."""
    known: dict[Any, Site] = {}
    merged: dict[Site, Site] = {}
    sites: list[Site] = []
    for site in flat.sites:
        site.operands = tuple([merged[operand] for operand in site.operands])
        key = _key(site)
        first = known.setdefault(key, site) if key is not None else site
        merged[site] = first
        if first is site:
            sites.append(site)
    return Flat(flat.parameters, tuple(sites), merged[flat.root])


def _key(site: Site) -> Any:
    """What is the same for operations that have the same value; None where they may differ."""
    instruction = site.instruction
    opcode = instruction.opcode
    if opcode == "constant":
        values: Any = instruction.literal.values
        small = values is not None and values.size <= _SMALL
        return (opcode, instruction.shape, values.tobytes()) if small else None
    if opcode not in _PURE or instruction.called_computations:
        return None
    attributes = frozenset(
        [(name, value) for name, value in instruction.attributes.items() if name not in _NOTES]
    )
    return opcode, instruction.shape, attributes, site.operands


def _rank(site: Site) -> int:
    """Parameters and their elements come first."""
    if site.instruction.opcode == "parameter":
        return 0
    return 1 if is_element(site) else 2


def is_element(site: Site) -> bool:
    """Whether it is an element of a parameter."""
    opcode = site.instruction.opcode
    return opcode == "get-tuple-element" and site.operands[0].instruction.opcode == "parameter"


def _unspread(instruction: HloInstruction, operands: tuple[Site, ...]) -> tuple[Site, ...]:
    """Return what is stretched along leading dimensions as it is, where other operands are whole.

    Our own operations stretch it themselves, in kernels that serve all extents.
    """
    sizes = instruction.shape.dimensions
    spread = [_is_spread(operand) for operand in operands]
    whole = [
        not flag and operand.instruction.shape.dimensions == sizes
        for flag, operand in zip(spread, operands, strict=True)
    ]
    if not any(spread) or not any(whole):
        return operands
    pairs = zip(spread, operands, strict=True)
    return tuple([operand.operands[0] if flag else operand for flag, operand in pairs])


def _is_spread(site: Site) -> bool:
    instruction = site.instruction
    if instruction.opcode != "broadcast" or any(instruction.shape.dynamic):
        return False
    source, sizes = site.operands[0].instruction.shape, instruction.shape.dimensions
    first = len(sizes) - len(source.dimensions)
    same = source.dimensions == sizes[first:]
    return same and instruction.get("dimensions") == tuple(range(first, len(sizes)))


def _moves_nothing(instruction: HloInstruction, source: HloInstruction) -> bool:
    """Whether an operation leaves all elements of its operand where they are."""
    if source.shape.dimensions != instruction.shape.dimensions or any(source.shape.dynamic):
        return False
    axes = instruction.get("dimensions")
    return instruction.opcode in ("copy", "reshape") or axes == tuple(range(len(axes)))


#: What does something even if nobody takes its result.
_ACTS = ("custom-call", "outfeed", "send", "infeed", "recv")

#: Most instructions of one kernel.
_LARGEST_GROUP: Final = 48

#: What is made without computing.
_CHEAP: Final = frozenset(("constant", "iota", "parameter"))

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
