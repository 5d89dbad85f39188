"""What NumPy is given for operands, and what its results become.

Operands are evaluated; containers hand out their memory, and results get containers of their own.
NumPy has no routines for floats of 16 bits or fewer and for integers of fewer than 8.  They are
computed in the dtype that kernels load them into, float32 or an 8-bit integer, and results of that
dtype are rounded back once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

import numpy as np

from .._errors import AxisError, DTypeError, IndexRangeError
from ..arrays import xarray
from ..arrays.adapt import adapt
from ..arrays.at_once import COMMON
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import values_of
from ..arrays.scalar import scalar_of
from ..arrays.xarray import XArray
from ..assignment import elements, readers
from ..assignment.assign import check_cast, check_update
from ..assignment.elements import FEW
from ..dtypes.formats import loop_dtype
from ..dtypes.names import (
    SUPPORTED,
    DType,
    NumpyArray,
    as_dtype,
    dtype_name,
    float16,
    int64,
    is_narrow,
    is_narrow_float,
)
from ..dtypes.narrow import from_narrow, to_narrow
from ..dtypes.promotion import result_type
from ..ir.build import WEAK_TYPES
from ..ir.kind import NODE, owner_class
from ..ir.node import FREE, RANK, SHAPE
from ..operands import non_numeric
from ..operands.convert import plain_array
from ..operands.nodes import HasNode, Lifted, has_own, is_masked, is_read
from ..operands.non_numeric import is_other
from ..operands.tracing import note_values
from ..runtime.evaluate import uses_reference
from ..runtime.floating_errors import silently

#: NumPy without its types: what it returns becomes a container on the way out.
numpy: Any = np

T = TypeVar("T")

#: Those whose elements it moves and compares as well.
MOVED = COMMON | {np.dtype(np.float16)}

#: Those, and all narrow floats, which it can copy.
COPIED = COMMON | {dt for dt in SUPPORTED if is_narrow_float(dt)}


class Narrow:
    """The operands of one call: which are narrow, and how results are rounded to them.

    Parameters
    ----------
    common : set of dtype, optional
        What NumPy is given as it is.
    joins : bool, default False
        Whether results have the dtype that all operands lead to.

    Attributes
    ----------
    fixed : int
        What is fixed of all operands' shapes: of numbers alone more than there is.
    wide : list of ndarray
        Operands that NumPy computes with as they are.
    found : list of dtype
        Dtypes of the others.
    """

    __slots__ = ("common", "fixed", "found", "joins", "wide")

    def __init__(self, common: frozenset[DType] = COMMON, joins: bool = False) -> None:
        self.fixed = SHAPE + 1
        self.common, self.joins = common, joins
        self.found: list[DType] = []
        self.wide: list[NumpyArray] = []

    def widened(self, values: NumpyArray, dtype: DType) -> NumpyArray:
        """Return an operand as NumPy computes with it."""
        if dtype in self.common:
            self.wide.append(values)
            return values
        self.found.append(dtype)
        return converted(values, loop_dtype(dtype))

    def rounded(self, values: NumpyArray) -> NumpyArray:
        """Return a result in the operands' narrow dtype, if it has the computing one."""
        if not self.found or values.dtype in [x.dtype for x in self.wide]:
            return values
        same = [dt for dt in self.found if loop_dtype(dt) == values.dtype]
        if not same:
            return values
        others = [x.dtype for x in self.wide if self.joins]
        alike = not others and same.count(same[0]) == len(same)
        joined = same[0] if alike else result_type(*same, *others)
        return values if joined in COMMON else converted(values, joined)


def converted(values: NumpyArray, dtype: DType) -> NumpyArray:
    """Return narrow values in the dtype of computing, or back in theirs: many by a kernel.

    NumPy's conversion to float16 takes 60 ns for each element that overflows, a kernel's a tenth of
    one for all.
    """
    if values.size > FEW and values.flags.carray and not uses_reference():
        made: NumpyArray = adapt(values).astype(dtype).numpy()
        return made
    if float16 in (values.dtype, dtype):  # as the others do, in fewer steps
        return silently(values.astype, dtype)
    return from_narrow(values) if is_narrow(as_dtype(values.dtype)) else to_narrow(values, dtype)


def numpy_of(x: object, operation: str, narrow: Narrow) -> NumpyArray:
    """Return an operand's values as NumPy computes with them; they may be its own memory.

    Raises
    ------
    DTypeError
        If it is no array of numbers.
    """
    if isinstance(x, XContainer) and x._kind is not NODE:
        narrow.fixed = min(narrow.fixed, x._fixed)
        note_values()
        return narrow.widened(elements.array_of(x), x.dtype)
    if isinstance(x, HasNode):
        narrow.fixed = min(narrow.fixed, x._fixed_now())
        values = values_of(x)
        return narrow.widened(values, as_dtype(values.dtype))
    if isinstance(x, Lifted):
        raise DTypeError(f"{operation}: got {type(x).__name__}; {x.instead}")
    if has_own(x, operation):
        raise DTypeError(f"{operation}: {type(x).__name__} has one of its own, which refused")
    if isinstance(x, (np.ndarray, np.generic)):
        if is_other(x.dtype):
            return np.asarray(x)
        if is_masked(x):
            raise DTypeError(f"{operation}: got a masked array; fill it first, as masks are lost")
        narrow.fixed = min(narrow.fixed, FREE if x.ndim else SHAPE + 1)
        return narrow.widened(np.asarray(x), as_dtype(x.dtype))
    if type(x) in WEAK_TYPES:
        return x  # type: ignore[return-value]  # NumPy knows what it is worth
    narrow.fixed = FREE
    try:
        values = plain_array(x, None, operation)
        return narrow.widened(values, as_dtype(values.dtype))
    except DTypeError:
        other = non_numeric.array_of(x)
        if other is None:
            raise
        return other


def container(
    values: NumpyArray, operands: Sequence[NumpyArray] | None = None, fixed: int = FREE
) -> XArray:
    """Return the values in a container whose memory nobody else has.

    Parameters
    ----------
    values : ndarray
        Large results of a NumPy function are not copied if they own their memory.
    operands : sequence of ndarray, optional
        What they were computed from: a result that is a view of none of these is as good.
    fixed : int, optional
        What is fixed of the operands' shapes: results have a fixed rank if all operands have.
    """
    own = _is_own(values, operands)
    if not FREE < fixed <= SHAPE:
        return XArray._adopted(values, own=own)
    made: XArray = owner_class(RANK, as_dtype(values.dtype), values.shape)._adopted(values, own=own)
    return made


def _is_own(values: NumpyArray, operands: Sequence[NumpyArray] | None) -> bool:
    if values.base is None:
        return operands is None or not any([values is x for x in operands])
    if operands is None or not values.flags.writeable:
        return False
    return not any([np.may_share_memory(values, x) for x in operands])


def results(made: Any, narrow: Narrow) -> Any:
    """Return what a NumPy function returned: containers for arrays, values for scalars."""
    if made.__class__ is float or made.__class__ is int:
        return made
    if isinstance(made, np.ndarray):
        if made.dtype not in SUPPORTED and (is_other(made.dtype) or made.dtype.hasobject):
            return made
        made = narrow.rounded(made)
        if made.size <= FEW and not FREE < narrow.fixed <= SHAPE:
            # Machine code takes rows, and copies, so it need not be asked whose memory it is.
            few = xarray.owned(made if made.flags.c_contiguous else made.copy("C"))
            if few is not None:
                return few
        return container(made, narrow.wide, narrow.fixed)
    if isinstance(made, np.generic):
        if is_other(made.dtype):
            return made
        return scalar_of(narrow.rounded(np.asarray(made))[()])
    if isinstance(made, (tuple, list)):
        items = [results(item, narrow) for item in made]
        named = hasattr(made, "_fields")
        return type(made)(*items) if named else type(made)(items)
    return made


def into(out: object, made: T, operation: str, fresh: bool = False, rule: str = "same_kind") -> T:
    """Return a result, or write it into ``out`` by the rule of updates and return that.

    Folds and running folds are written with the rule "unsafe", as NumPy does, and "positions" too,
    to dtypes that cast to theirs.  A lazy ``out`` gets memory of its own, as in any other
    assignment.  Nobody but the callers has a ``fresh`` result, so its operands may lie in ``out``.

    Raises
    ------
    CastError, BroadcastError
        If it does not cast to the destination's dtype, or has another shape.
    """
    if out is None or out is Ellipsis:  # dots are NumPy's word for an array, not a scalar
        return made
    usual = isinstance(out, XContainer) and isinstance(made, XExpression) and not fresh
    if usual and made.dtype is out.dtype and made.shape == out.shape:  # type: ignore[attr-defined]
        out[...] = made  # type: ignore[index]  # by machine code where it is loaded
        return cast("T", out)
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(out, (XExpression, np.ndarray)):
        raise DTypeError(f"{operation}: out must be an array, got {type(out).__name__}")
    if rule == "positions":
        check_cast(operation, lambda: "out", out.dtype, int64, "safe")
        rule = "unsafe"
    if isinstance(out, np.ndarray) and not is_read(out):
        out[...] = into(out.astype(out.dtype.newbyteorder("=")), made, operation, rule=rule)
        return cast("T", out)
    to = out if isinstance(out, XExpression) else adapt(out)
    result: Any = made
    check_update(to, operation, result.shape, result.dtype, rule)
    if fresh and isinstance(to, XContainer) and readers.waiting_for(to._buffer):
        to._store(..., result, False, False)
    else:
        to[...] = result
    return cast("T", out)  # of the same kind: an array


def shown(x: object) -> str:
    """Return how a message shows an argument."""
    if isinstance(x, (XExpression, np.ndarray, np.generic)) and x.dtype in SUPPORTED:
        return f"{dtype_name(as_dtype(x.dtype))}{list(x.shape)}"
    if isinstance(x, list) and any([isinstance(item, (XExpression, np.ndarray)) for item in x]):
        return f"[{', '.join(map(shown, x[:8]))}{', …' if len(x) > 8 else ''}]"
    return repr(x)[:60]


#: What NumPy says of its own code, and what it means.
_PLAINLY = {
    "tuple index out of range": "an axis is out of range",
    "object too deep for desired array": "a vector is needed",
    "iteration over a 0-d array": "an array or a sequence is needed",
}


def refusal(operation: str, operands: Iterable[object], error: Exception) -> Exception:
    """Return NumPy's error as this package says it: with the operation and the operands."""
    said = _PLAINLY.get(str(error), error)
    text = f"{operation}({', '.join(map(shown, operands))}): {said}"
    if isinstance(error, np.exceptions.AxisError):
        return AxisError(text)
    if isinstance(error, np.linalg.LinAlgError):
        return np.linalg.LinAlgError(text)
    if isinstance(error, IndexError):
        return IndexRangeError(text)
    return DTypeError(text) if isinstance(error, TypeError) else ValueError(text)
