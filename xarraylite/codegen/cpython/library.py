"""The functions of this room by name."""

from __future__ import annotations

from types import FunctionType

from ...ops.bodies.library import functions_of
from . import (
    assignment,
    basics,
    calls,
    containers,
    evaluation,
    fronts,
    indexing,
    indices,
    launching,
    lazy_views,
    operators,
    picks,
    places,
    readers,
    remembered,
    replay,
    reuse,
    scalars,
    scattered,
    single_values,
    views,
)

#: The modules that have them.
MODULES = (
    *(assignment, basics, calls, containers, evaluation, fronts, indexing, indices, launching),
    *(lazy_views, operators, picks, places, readers, remembered, replay, reuse, scalars),
    *(scattered, single_values, views),
)

#: Those that are part of whoever calls them; the others are called, which keeps the code small.
_INLINE = """
address_of count_of counted dtype_of get give give_last inside integer is_array is_lazy
is_number is_promise is_row_major is_traced item itemsize_of keep moved part parts spread
"""
INLINE = frozenset(_INLINE.split())


def library() -> dict[str, FunctionType]:
    """Return the functions by name."""
    return functions_of(*MODULES)
