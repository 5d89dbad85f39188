"""The one function that CPython's methods call, so that all share what they have in common."""

from __future__ import annotations

from .api import load
from .assignment import assign, in_place, promised, promised_part, rewritten
from .calls import adapted, jitted, owned, product, to_array
from .evaluation import copied, duplicated, evaluated, new_container, replayed, to_float, zeros
from .fronts import (
    attribute,
    dotted,
    flattened,
    handed,
    length,
    method,
    one_element,
    taken_along,
    total,
    total_bytes,
)
from .operators import applied, folded, forward, reflected, single
from .picks import get_item, selected_few
from .remembered import recalled
from .scalars import scalar_forward, scalar_reflected
from .scattered import filtered, indexed, pick_evaluated, pick_settled, pick_wrote, set_item


def entry(which: int, one: int, two: int, three: int, row: int) -> int:
    """Do what one of `METHODS` does."""
    if which == 0:
        return forward(one, two, row)
    if which == 1:
        return reflected(one, two, row)
    if which == 2:
        return in_place(one, two, row)
    if which == 3:
        return single(one, row)
    if which == 4:
        return evaluated(two)
    if which == 5:
        return set_item(one, two, three)
    if which == 6:
        return get_item(one, two)
    if which == 7:
        return folded(two, three)
    if which == 8:
        return copied(one, two, three)
    if which == 9:
        return zeros(two)
    if which == 10:
        return to_array(one, two, three)
    if which == 11:
        return product(one, two)
    if which == 12:
        return to_float(one)
    if which == 13:
        return jitted(one, two, three)
    if which == 14:
        return adapted(two)
    if which == 15:
        return applied(two, three)
    if which == 16:
        return owned(two)
    if which == 17:
        return replayed(load(two), load(two + 8), load(two + 16))
    if which == 18:
        return new_container(two, three)
    if which == 19:
        return assign(one, two)
    if which == 20:
        return promised(two)
    if which == 21:
        return promised_part(one, two)
    if which == 22:
        return recalled(two)
    if which == 23:
        return handed(two)
    if which == 24:
        return method(one, two, three, row)
    if which == 25:
        return attribute(two, row)
    if which == 26:
        return selected_few(two, three)
    return further(which, one, two, three, row)


def further(which: int, one: int, two: int, three: int, row: int) -> int:
    """Do what one of the rest of `METHODS` does."""
    if which == 27:
        return one_element(one, two, three, row)
    if which == 28:
        return taken_along(one, two, three, row)
    if which == 29:
        return dotted(one, two, three, row)
    if which == 30:
        return length(one, row)
    if which == 31:
        return total(two, row)
    if which == 32:
        return total_bytes(two, row)
    if which == 33:
        return duplicated(two)
    if which == 34:
        return flattened(one, two, three, row)
    if which == 35:
        return pick_evaluated(one)
    if which == 36:
        return pick_settled(one)
    if which == 37:
        return pick_wrote(one, two)
    if which == 38:
        return filtered(two, three)
    if which == 39:
        return indexed(two, three)
    if which == 40:
        return rewritten(load(two), load(two + 8), load(two + 16))
    return scalar_forward(one, two, row) if which == 41 else scalar_reflected(one, two, row)
