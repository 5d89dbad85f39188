"""Products of more than two operands, two at a time where BLAS makes each but the last.

Such a pair is a product of its own, so it is known again (`remembered`).  Labels and extents alone
tell which they are.  Where some pair is no product of matrices nothing is divided: one
kernel may compute it together with the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .._records import record
from ..blas.path import contraction_order
from ..blas.stacks import BLAS_DTYPES
from ..ir.node import Node, Shape
from .labelled import Labels
from .lowering import is_matrix_product
from .remembered import is_memory


@record(frozen=True, slots=True)
class Pair:
    """Two operands that are multiplied: their positions, and the labels of their product.

    Both are taken out of the list of operands, and the product is put at its end.
    """

    first: int
    second: int
    kept: Labels


def pairs_of(operands: Sequence[tuple[Node, Labels]], out: Labels) -> tuple[Pair, ...]:
    """Return which operands are multiplied before the last two; none where that does not serve."""
    dtypes = {node.dtype for node, _ in operands}
    if len(operands) < 3 or len(dtypes) > 1 or not dtypes <= BLAS_DTYPES:
        return ()
    if not all([is_memory(node) for node, _ in operands]):
        return ()
    labels = tuple([own for _, own in operands])
    return _pairs(labels, tuple([node.shape for node, _ in operands]), out)


@lru_cache(256)
def _pairs(labels: tuple[Labels, ...], shapes: tuple[Shape, ...], out: Labels) -> tuple[Pair, ...]:
    extents: dict[str, int] = {}
    for own, shape in zip(labels, shapes, strict=True):
        for label, extent in zip(own, shape, strict=True):
            if extents.setdefault(label, extent) != extent:
                return ()  # it is stretched, or refused
    uses = [label for own in (*labels, out) for label in {*own}]
    alone = any([uses.count(label) == 1 for label in uses])
    if alone or any([len({*own}) < len(own) for own in labels]):
        return ()
    parts, found = [*labels], []
    while len(parts) > 2:
        first, second = contraction_order(parts, out, extents)[0]
        right, left = parts.pop(second), parts.pop(first)
        needed = {*out}.union(*parts)
        summed = tuple([k for k in left if k in right and k not in needed])
        union = tuple(dict.fromkeys(left + right))
        if not summed or not is_matrix_product(left, right, summed, extents):
            return ()
        found.append(Pair(first, second, tuple([k for k in union if k not in summed])))
        parts.append(found[-1].kept)
    return tuple(found)
