"""What totals of arrays of any length are made of: recipes without extents.

The mean of a vector is its sum over the number of its elements, whatever that is.  So where a
function makes one value of one array, and has been traced for two numbers of elements, the two
recipes (`arrays.memo`) are compared: they make the same kind of the same operands, and differ in
the shape that is folded and in the number of elements, or that less something.  What differs in
anything else is no such function.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._records import record

_SHAPE = "shape"


@record(frozen=True, slots=True)
class AnyLength:
    """How one value is made of an array, whatever its extents.

    Attributes
    ----------
    recipe : Recipe
        That of some array.
    size : int
        Its number of elements.
    least : int
        The least number of elements for which it is known.
    constants : tuple
        Of each of the recipe's constants: itself, `_SHAPE`, or as a list what is subtracted from
        the number of elements.
    """

    recipe: Any
    size: int
    least: int
    constants: tuple[Any, ...]

    def __call__(self, array: Any) -> Any:
        """Return the value for another array; None of too few elements."""
        shape = array._shape
        size = math.prod(shape)
        if size < self.least:
            return None
        constants = [
            shape if c is _SHAPE else float(size - c[0]) if c.__class__ is list else c
            for c in self.constants
        ]
        return self.recipe.made((array,), tuple(constants))


def loosened(key: tuple[Any, ...], arrays: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return what a call is remembered by without the extents of its arrays.

    None where there are none, or extents are part of a kind or among the operands of an array.
    """
    shapes = [array._shape for array in arrays if array._shape and not array._kind.formed]
    if not shapes or len(shapes) < len(arrays):
        return None
    if any([item.__class__ is tuple for array in arrays for item in array.now()]):
        return None
    own = {id(shape) for shape in shapes}
    return tuple([len(item) if id(item) in own else item for item in key])


def of_two(one: Any, first: int, other: Any, second: int) -> AnyLength | None:
    """Return what two recipes have in common, for arrays of so many elements; None if not all."""
    same = one.kind is other.kind and (one.picks, one.moved) == (other.picks, other.moved)
    if not same or one.shape or other.shape or first == second:
        return None
    if len(one.constants) != len(other.constants):
        return None
    constants: list[Any] = []
    for a, b in zip(one.constants, other.constants, strict=True):
        if a.__class__ is tuple and (math.prod(a), math.prod(b)) == (first, second):
            constants.append(_SHAPE)
        elif a.__class__ is float and a != b and first - a == second - b:
            constants.append([first - a])
        elif a.__class__ is b.__class__ and a == b and a.__class__ is not tuple:
            constants.append(a)
        else:
            return None
    return AnyLength(one, first, min(first, second), tuple(constants))
