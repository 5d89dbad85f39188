"""Few elements that index arrays select: NumPy copies them when the index is written.

The result is what a gather would be, an expression of the values as they are now; reading the copy
takes less than planning the gather.  Its snapshot says what it was copied from, so that `late`
reads the elements again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assignment import elements
from ..dtypes.names import NumpyArray
from ..index.indices import parse_index
from ..ir.kind import NODE, owner_class, row_major
from ..ir.node import RANK, Node
from ..memory.snapshots import Snapshot
from ..operands import tracing
from ..operands.gathers import FEW, gather, is_index_array
from ..operands.nodes import Gathers, unwrapped
from . import ownership
from .expression import XExpression

_BASIC = frozenset((int, slice, type(None), type(Ellipsis)))


_new = object.__new__


class Selected(Gathers):
    """What one integer array selects of a container, and was copied."""

    __slots__ = ("base", "key")

    def __init__(self, base: Any, key: Any) -> None:
        self.base, self.key = base, key

    def gathered(self) -> Node:
        """Return the elements, gathered by the kernel that reads them."""
        found = parse_index(self.key, self.base.shape, is_index_array)
        return gather(self.base._view(found.transform).node, found)


def values_of(x: object) -> NumpyArray:
    """Return the values of what positions are made of, to be looked at only."""
    x = unwrapped(x)
    if isinstance(x, XExpression):
        lazy = x.__class__ is XExpression and x._kind is not NODE
        made = ownership.values_of(x) if lazy else x._evaluated()
        return x.numpy() if made is None or made._kind is NODE else elements.array_of(made)
    return np.asarray(x)


def selected(of: Any, key: Any) -> XExpression | None:
    """Return few elements that an index with arrays selects of a container; None for all others.

    As always an expression of what one integer array selects, and a container of what masks or
    several arrays do.
    """
    if of._kind is NODE or of.size > FEW or tracing.running.value:
        return None
    arrays = masks = 0
    items = []
    for item in key if key.__class__ is tuple else (key,):
        cls = item.__class__
        own = isinstance(item, XExpression)
        if cls is list or cls is np.ndarray or (own and 0 < item.size <= FEW):
            try:
                array = np.array(values_of(item) if own else item)
            except ValueError:  # ragged
                return None
            what = array.dtype.kind
            wide = array.dtype == np.uint64  # of which NumPy takes the largest for negative
            if array.size > FEW or what not in "iub" or wide or not array.ndim:
                return None
            arrays += 1
            masks += what == "b"
            items.append(array)
        elif cls in _BASIC:
            items.append(item)
        else:
            return None
    if not arrays:
        return None
    index = tuple(items)
    try:
        values = elements.array_of(of)[index]
    except IndexError:
        return None
    fixed, shape = min(of._fixed, RANK), values.shape
    if masks or arrays > 1:
        container: XExpression = owner_class(fixed, of._dtype, shape)._adopted(values)
        return container
    snapshot = Snapshot.alone(values.nbytes, Selected(elements.whole(of), index))
    snapshot.array(of._dtype, shape)[...] = values
    return copy_of(row_major(of._dtype, len(shape), fixed), shape, snapshot)


def copy_of(kind: Any, shape: tuple[int, ...], snapshot: Snapshot) -> XExpression:
    """Return an expression of elements that were copied."""
    made = _new(XExpression)
    made._kind, made._shape, made._operands = kind, shape, (snapshot, 0)
    return made
