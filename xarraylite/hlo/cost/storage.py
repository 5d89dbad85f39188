"""How many bytes values take, as they are written or as a chip stores them."""

from __future__ import annotations

from functools import lru_cache

from ..._errors import XarrayliteError
from ...xla.formats import tpu_layout
from ...xla.spec import ArraySpec
from ...xla.suggest import Suggestion


@lru_cache(maxsize=4096)
def best_layout(spec: ArraySpec) -> Suggestion[ArraySpec] | None:
    """Return the layout that saves most of an array's bytes."""
    try:
        found = spec.suggest()
    except XarrayliteError:
        return None
    return max(found, key=lambda suggestion: suggestion.saved_bytes, default=None)


@lru_cache(maxsize=16384)
def stored_spec(spec: ArraySpec, chip: str) -> ArraySpec:
    """Return the spec of an array as a chip stores it; as it stands without a chip."""
    if not chip or not spec.is_array or not spec.element_type.bits:
        return spec
    dimensions = tuple([max(size, 0) for size in spec.dimensions])
    return ArraySpec(spec.element_type, dimensions, tpu_layout(spec.element_type, dimensions, chip))


@lru_cache(maxsize=16384)
def stored_bytes(spec: ArraySpec, chip: str) -> tuple[int, int]:
    """Return the bytes of a value with padding, and those of padding; of tuples, their sums."""
    if spec.is_tuple or spec.element_type.name == "buffer":
        pairs = [stored_bytes(part, chip) for part in spec.tuple_shapes]
        return sum([size for size, _ in pairs]), sum([waste for _, waste in pairs])
    if not spec.is_array:
        return 0, 0
    stored = stored_spec(spec, chip)
    try:
        return stored.nbytes, stored.padding_bytes
    except XarrayliteError:  # no bound, or more than can be counted
        return 0, 0
