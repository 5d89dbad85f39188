"""Whether a layout fits the dimensions of an array: XLA's rules, one function each."""

from __future__ import annotations

import itertools
from typing import Any

from .._errors import LayoutError


def check_order(layout: Any, rank: int, operation: str) -> None:
    """Refuse a ``minor_to_major`` that is no permutation of ``rank`` dimensions."""
    order = layout.minor_to_major
    if sorted(order) != list(range(rank)):
        rule = f"each of 0 to {rank - 1} must appear once" if rank else "it must be empty"
        raise LayoutError(
            f"Layout.{operation}: minor_to_major {order} of {layout} has {len(order)} entries for "
            f"{rank} dimensions; {rule}"
        )


def check_padded(layout: Any, sizes: tuple[int, ...]) -> None:
    """Refuse padded dimensions that are not one per dimension, or smaller than it."""
    padded = layout.padded_dimensions
    if padded is None:
        return
    fits = len(padded) == len(sizes)
    if not fits or any([p < d for p, d in zip(padded, sizes, strict=True)]):
        raise LayoutError(
            f"Layout.validate: padded_dimensions {padded} for dimensions {sizes}; "
            "there must be one per dimension, none smaller than the dimension"
        )


def check_sparse(layout: Any) -> None:
    """Refuse what only sparse arrays had."""
    for name in ("index_primitive_type", "pointer_primitive_type", "physical_shape"):
        if getattr(layout, name) is not None:
            raise LayoutError(
                f"Layout.validate: {layout} has a {name}; "
                "only sparse arrays had one, and they do not exist any more"
            )


def check_splits(layout: Any, sizes: tuple[int, ...]) -> None:
    """Refuse split configs that name a dimension twice or cut it outside of its size."""
    rank = len(sizes)
    seen: set[int] = set()
    for split in layout.split_configs:
        where = f"Layout.validate: split config {split} of {layout}"
        if split.dimension >= rank or split.dimension in seen:
            raise LayoutError(
                f"{where}: physical dimension {split.dimension} of {rank} is out of range or "
                "split before; each may be split once"
            )
        seen.add(split.dimension)
        size = sizes[layout.minor_to_major[rank - 1 - split.dimension]]
        cuts = split.split_indices  # of a dimension without a bound, none is inside
        if cuts and any([b <= a for a, b in itertools.pairwise((0, *cuts, size))]):
            raise LayoutError(
                f"{where}: indices must increase and lie inside the dimension of size {size}"
            )
