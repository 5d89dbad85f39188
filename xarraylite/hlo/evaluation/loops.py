"""Loops: how often they run, and what is computed for all of their trips at once.

XLA's passes leave ``known_trip_count`` in a loop's ``backend_config``.  In other texts a loop is
counted where its condition compares one element of the state with a constant, its body adds a
constant to that element, and the element is a constant at the start.

What a body multiplies in each trip is often a slice of an array that no trip changes, by a matrix
that none changes either (the inputs of a recurrent network and their weights).  Then the whole
array is multiplied before the first trip, in one product, and the trips take slices of that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...dtypes.promotion import int_bounds
from ...xla.spec import ArraySpec
from ..instruction import HloInstruction
from .inlining import Flat, Site, flatten, is_element, linked, opened
from .products import PRODUCTS
from .values import Runner, Value, result_dtype

_KNOWN = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?([0-9]{1,18})"?\s*\}')
_flat = lru_cache(maxsize=1024)(flatten)
_TOLD: Final = frozenset(("compare", "constant", "get-tuple-element", "parameter"))
#: Most bytes of a product for all trips.
_MOST: Final = 1 << 26

_MIRRORED: Final = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE"}


@lru_cache(maxsize=1024)
def trip_count(loop: HloInstruction) -> int | None:
    """Return how often the body of a ``while`` runs; None where that is not known.

    Examples
    --------
    >>> import xarraylite as xl
    >>> from xarraylite.hlo.evaluation.loops import trip_count
    >>> module = xl.hlo.parse('''
    ... body { i = s32[] parameter(0)  one = s32[] constant(3)  ROOT j = s32[] add(i, one) }
    ... cond { i = s32[] parameter(0)  n = s32[] constant(10)
    ...        ROOT c = pred[] compare(i, n), direction=LT }
    ... ENTRY e { z = s32[] constant(0)  ROOT w = s32[] while(z), condition=cond, body=body }''')
    >>> trip_count(module.entry.root)
    4
    """
    noted = _KNOWN.search(str(loop.get("backend_config") or ""))
    return counted(loop) if noted is None else int(noted[1])


@lru_cache(maxsize=1024)
def counted(loop: HloInstruction) -> int | None:
    """Return how often the body of a ``while`` runs, as its counter tells; None without one."""
    body, condition = [_flat(part) for part in loop.called_computations]
    test = condition.root
    plain = all([site.instruction.opcode in _TOLD for site in condition.sites])
    if test.instruction.opcode != "compare" or not plain:
        return None
    direction = test.instruction.get("direction")
    counter, end = test.operands
    if counter.instruction.opcode == "constant":
        counter, end, direction = end, counter, _MIRRORED.get(direction, "")
    place, limit = _place(counter, condition), _integer(end)
    if place is None or limit is None:
        return None
    step = _step(body, place)
    first = _integer(_element(_operand(loop), place))
    if step is None or first is None:
        return None
    trips = _count(first, limit, step, direction)
    low, high = int_bounds(result_dtype(counter.instruction))
    return trips if trips is not None and low <= first + trips * step <= high else None


class Ahead(NamedTuple):
    """A product for all trips, and which elements of the state it multiplies."""

    product: HloInstruction
    left: int
    right: int

    def value(self, run: Runner, state: Value) -> Value:
        """Return the product."""
        return PRODUCTS["dot"](run, self.product, state[self.left], state[self.right])


def ahead(loop: HloInstruction) -> tuple[Flat, list[Ahead]]:
    """Return a loop's body that takes products for all trips as further arguments, and these.

    Products are made where the loop is known to take most of their slices, and they are not large.
    """
    flat = opened(loop.called_computations[0])
    trips = counted(loop) or 0
    parameters, sites = list(flat.parameters), list[Site]()
    found: list[Ahead] = []
    for site in flat.sites:
        known = _product_of_slice(site, flat) if trips > 1 else None
        if known is not None and trips * 2 > known.product.shape.dimensions[0]:
            whole = Site(_made("parameter", known.product.shape), ())
            sites += [whole, _take_slice(site, whole)]
            parameters.append(whole)
            found.append(known)
        sites.append(site)
    return linked(Flat(tuple(parameters), tuple(sites), flat.root)), found


def _product_of_slice(site: Site, flat: Flat) -> Ahead | None:
    """Return the product for all trips of whose slice along the first dimension this one is."""
    get, instruction = site.instruction.get, site.instruction
    if instruction.opcode != "dot" or get("lhs_batch_dims") or any(instruction.shape.dynamic):
        return None
    row, right = site.operands
    part = row.operands[0] if row.instruction.opcode == "reshape" else row
    if part.instruction.opcode != "dynamic-slice":
        return None
    left = part.operands[0]
    shape = left.instruction.shape
    sizes = shape.dimensions[1:]
    rows = part.instruction.get("dynamic_slice_sizes") == (1, *sizes)
    first, second = _kept_element(left, flat), _kept_element(right, flat)
    if not rows or row.instruction.shape.dimensions != sizes or first is None or second is None:
        return None
    summed = tuple([axis + 1 for axis in get("lhs_contracting_dims") or ()])
    attributes = {**instruction.attributes, "lhs_contracting_dims": summed}
    kind, extents = instruction.shape.element_type, instruction.shape.dimensions
    whole = ArraySpec(kind, (shape.dimensions[0], *extents))
    operands = (left.instruction, right.instruction)
    if any(shape.dynamic) or whole.byte_size_of() > _MOST:
        return None
    return Ahead(_made("dot", whole, operands, attributes), first, second)


def _kept_element(site: Site, flat: Flat) -> int | None:
    """Which element of the state a value is, if no trip changes it."""
    if flat.root.instruction.opcode != "tuple" or not is_element(site):
        return None
    place = int(site.instruction.get("index"))
    return place if flat.root.operands[place] is site else None


def _take_slice(product: Site, whole: Site) -> Site:
    """Make of a trip's product a row of the whole one, and return the slice that it reshapes."""
    result, spec = product.instruction.shape, whole.instruction.shape
    row = product.operands[0]
    part = row.operands[0] if row.instruction.opcode == "reshape" else row
    sizes = (1, *result.dimensions)
    # Where a slice has all elements of a dimension, its place there is not asked for.
    operands = (whole, *[part.operands[1]] * spec.rank)
    given = tuple([operand.instruction for operand in operands])
    cut = _made(
        "dynamic-slice",
        ArraySpec(result.element_type, sizes),
        given,
        {"dynamic_slice_sizes": sizes},
    )
    made = Site(cut, operands)
    product.instruction = _made("reshape", result, (cut,))
    product.operands = (made,)
    return made


def _made(
    opcode: str,
    shape: ArraySpec,
    operands: tuple[HloInstruction, ...] = (),
    attributes: Mapping[str, Any] | None = None,
) -> HloInstruction:
    return HloInstruction(f"{opcode}.ahead", opcode, shape, operands, attributes or {})


def _count(first: int, limit: int, step: int, direction: str) -> int | None:
    """Count the numbers ``first, first + step, ...`` for which a comparison holds."""
    if direction in ("GT", "GE"):
        first, limit, step = -first, -limit, -step
    if direction == "NE":
        far, rest = divmod(limit - first, step) if step else (-1, 0)
        return far if far >= 0 and not rest else None
    if direction not in ("LT", "LE", "GT", "GE"):
        return None
    limit += direction in ("LE", "GE")
    if first >= limit:
        return 0
    return -((first - limit) // step) if step > 0 else None


def _operand(loop: HloInstruction) -> Site | None:
    """The state with which a loop begins."""
    whole = loop.computation
    for site in _flat(whole).sites if whole is not None else ():
        if site.instruction is loop:
            return site.operands[0]
    return None


def _element(state: Site | None, place: int) -> Site | None:
    """An element of a state; the state itself for -1."""
    if state is None or place < 0:
        return state
    return state.operands[place] if state.instruction.opcode == "tuple" else None


def _place(site: Site, flat: Flat) -> int | None:
    """Which element of its computation's parameter a value is; -1 for all of it."""
    (parameter,) = flat.parameters
    if site is parameter:
        return -1
    if site.instruction.opcode == "get-tuple-element" and site.operands[0] is parameter:
        return int(site.instruction.get("index"))
    return None


def _step(body: Flat, place: int) -> int | None:
    """What a body adds to an element of its parameter."""
    made = _element(body.root, place)
    if made is None or made.instruction.opcode not in ("add", "subtract"):
        return None
    left, right = made.operands
    if made.instruction.opcode == "add" and left.instruction.opcode == "constant":
        left, right = right, left
    number = _integer(right)
    if number is None or _place(left, body) != place:
        return None
    return number if made.instruction.opcode == "add" else -number


def _integer(site: Site | None) -> int | None:
    if site is None or site.instruction.opcode != "constant":
        return None
    values: Any = site.instruction.literal.values
    whole = site.instruction.shape.element_type.is_integral
    return int(values) if whole and values is not None and not values.ndim else None
