"""Elements that are no numbers: text, dates, records, and objects where they are asked for.

No kernel computes with them, so containers have none.  But programs have names beside their
numbers, and NumPy keeps these well: what would be an array of them is NumPy's array, and a function
that is given one is NumPy's function.  Whoever refuses such operands as no numbers asks here first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes.names import SUPPORTED, NumpyArray
from .nodes import HasNode, OneValue, values_in

#: Kinds of NumPy's dtypes whose elements are no numbers; objects are made only by their dtype.
_KINDS = "USMmV"

#: NumPy without its types.
_numpy: Any = np


def is_other(dtype: object) -> bool:
    """Tell whether a dtype of NumPy's is one of text, dates, time differences or records."""
    return isinstance(dtype, np.dtype) and dtype.kind in _KINDS and dtype not in SUPPORTED


def dtype_of(dtype: object) -> np.dtype[Any] | None:
    """Return a dtype of elements that are no numbers, objects included; None for others."""
    if dtype is None:
        return None
    try:
        found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError, Warning):
        return None
    return found if is_other(found) or found == np.dtype(object) else None


def array_of(values: object, dtype: object = None) -> NumpyArray | None:
    """Return values that are no numbers, or shall be none, as NumPy's array; None for others."""
    wanted = dtype_of(dtype)
    if wanted is None and dtype is not None:
        return None
    if wanted is not None and wanted.names is not None:
        return np.array(values, dtype=wanted)  # whose tuples are records
    plain = _plain(values)
    if wanted is not None:
        return np.array(plain, dtype=wanted)
    if isinstance(plain, np.ndarray | np.generic):
        return np.array(plain) if is_other(plain.dtype) else None
    if not isinstance(plain, list | tuple | str | bytes):
        return None
    try:
        made = np.array(plain)
    except ValueError:  # ragged
        return None
    return made if is_other(made.dtype) else None


def as_other(values: object, dtype: object) -> NumpyArray:
    """Return numbers converted to text, say, in NumPy's array; within the handler of a refusal.

    Raises
    ------
    DTypeError
        The one that is handled, where the dtype is none of NumPy's either.
    """
    other = dtype_of(dtype)
    if other is None:
        raise  # noqa: PLE0704
    return np.asarray(values).astype(other)


#: Functions that only move elements, whatever these are.
_MOVES = frozenset(
    name
    for names in (
        "broadcast_to concat stack vstack hstack dstack column_stack repeat tile roll flip fliplr",
        "flipud rot90 reshape ravel transpose permute_dims squeeze expand_dims moveaxis swapaxes",
    )
    for name in names.split()
)


def by_numpy(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function of a name makes of arrays that have no numbers.

    NotImplemented where they have, or the function does more than move elements.
    """
    if name not in _MOVES or not args or not _is_of_others(args[0]):
        return NotImplemented
    first = values_in(args[0]) if isinstance(args[0], list | tuple) else args[0]
    return getattr(_numpy, name)(first, *args[1:], **options)


def _plain(x: Any) -> Any:
    """Return an argument with arrays of ours replaced by NumPy's."""
    if isinstance(x, HasNode | OneValue):
        return np.asarray(x)
    return values_in(x) if type(x) in (list, tuple) else x


def _is_of_others(x: object) -> bool:
    if isinstance(x, np.ndarray | np.generic):
        return is_other(x.dtype)
    if isinstance(x, list | tuple):
        return bool(x) and all([isinstance(y, str) or _is_of_others(y) for y in x])
    return False
