"""`missing`, and nested lists in which values are missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from ..operands.dispatch import namespace
from ..operands.operators import LiftedOperators
from ..ops.op import Op


class Missing(LiftedOperators):
    """The one value that is none: ``xl.missing``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> x = xl.optional([1, 2, 3])
    >>> x[1] = xl.missing
    >>> x
    XOptional([1, N/A, 3])
    >>> xl.eval(xl.where(xl.asarray([2, -1]) > 0, [2, -1], xl.missing))
    XOptional([2, N/A])
    >>> xl.eval(xl.asarray([1, 2]) + xl.missing)
    XOptional([N/A, N/A])
    """

    __slots__ = ()

    instead = "xl.optional(None) is an array of it"

    #: Those of the array that it stands for.
    ndim, dtype = 0, np.dtype(np.float64)

    __hash__ = object.__hash__  # type: ignore[assignment]

    def evaluated(self, text: object = None) -> Any:
        """Return an array of rank 0."""
        return namespace(None).optional(None)

    def lift(self, op: Op, operands: tuple[object, ...]) -> Any:
        """Return the application of an operation to operands of which this is one."""
        return self.evaluated().lift(op, operands)

    def __eq__(self, other: object) -> Any:
        """Tell whether the other is it, too; of arrays, what their comparisons say."""
        return super().__eq__(other) if hasattr(other, "shape") else self is other

    def __ne__(self, other: object) -> Any:
        """Tell whether the other is another one."""
        return super().__ne__(other) if hasattr(other, "shape") else self is not other

    def __repr__(self) -> str:
        return "N/A"

    def __bool__(self) -> bool:
        """Return False."""
        return False

    def __reduce__(self) -> str:
        """Pickle by name: there is only one."""
        return "missing"


missing = Missing()


def filled_in(values: Any) -> tuple[Any, NumpyArray | None]:
    """Return nested lists with values in the gaps, and where there are none; None for everywhere.

    What stands in for a missing value is of a kind that does not change the others'.
    """
    try:
        objects = np.array(values, dtype=object)
    except ValueError:  # ragged, which is said where an array is made of them
        return values, None
    absent = np.array([_is_none(x) for x in objects.reshape(-1)], bool).reshape(objects.shape)
    if not absent.any():
        return values, None
    present = objects[~absent]
    objects[absent] = type(present[0])(0) if present.size else 0.0
    return objects.tolist(), ~absent


def _is_none(x: object) -> bool:
    return x is None or isinstance(x, Missing) or type(x).__name__ == "NAType"  # of pandas
