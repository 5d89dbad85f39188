"""How often loops run: as XLA noted it, or as a counter tells.

XLA's passes leave ``known_trip_count`` in a loop's ``backend_config``.  In other texts a loop is
counted where its condition compares one element of the state with a constant, its body adds a
constant to that element, and the element is a constant at the start.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

from ..evaluation.sites import Flat, Site, flatten
from ..instruction import HloInstruction

_KNOWN = re.compile(r'"known_trip_count"\s*:\s*\{\s*"n"\s*:\s*"?([0-9]{1,18})"?\s*\}')
_MIRRORED: Final = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE"}


@lru_cache(maxsize=1024)
def trip_count(loop: HloInstruction) -> int | None:
    """Return how often the body of a ``while`` runs; None where that is not known.

    Examples
    --------
    >>> import xarraylite as xl
    >>> from xarraylite.hlo.cost.trips import trip_count
    >>> module = xl.hlo.parse('''
    ... body { i = s32[] parameter(0)  one = s32[] constant(3)  ROOT j = s32[] add(i, one) }
    ... cond { i = s32[] parameter(0)  n = s32[] constant(10)
    ...        ROOT c = pred[] compare(i, n), direction=LT }
    ... ENTRY e { z = s32[] constant(0)  ROOT w = s32[] while(z), condition=cond, body=body }''')
    >>> trip_count(module.entry.root)
    4
    """
    noted = _KNOWN.search(str(loop.get("backend_config") or ""))
    if noted is not None:
        return int(noted[1])
    body, condition = [_flat(part) for part in loop.called_computations]
    test = condition.root
    if test.instruction.opcode != "compare":
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
    return _count(first, limit, step, direction)


_flat = lru_cache(maxsize=1024)(flatten)


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
