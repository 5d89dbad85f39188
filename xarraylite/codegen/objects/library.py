"""The functions of this room by name."""

from __future__ import annotations

from types import FunctionType

from . import (
    assignment,
    basics,
    calls,
    entry,
    evaluation,
    fronts,
    operators,
    picks,
    remembered,
    replay,
    scalars,
    scattered,
    views,
)

_MODULES = (
    *(assignment, basics, calls, entry, evaluation, fronts, operators, picks, remembered, replay),
    *(scalars, scattered, views),
)

#: Those that are part of whoever calls them; the others are called, which keeps the code small.
INLINE = frozenset(
    {
        "address_of",
        "count_of",
        "is_promise",
        "get",
        "inside",
        "give",
        "give_last",
        "is_array",
        "is_lazy",
        "is_number",
        "is_traced",
        "item",
        "keep",
    }
)


def library() -> dict[str, FunctionType]:
    """Return the functions by name."""
    return {
        name: value
        for module in _MODULES
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
