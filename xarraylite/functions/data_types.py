"""Dtypes: conversion, promotion and what they can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._errors import DTypeError
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..dtypes import promotion
from ..dtypes.names import as_dtype
from ..ir.build import WEAK_TYPES
from ..ir.kind import NODE
from ..operands import non_numeric
from ..operands.moving import maps
from ..operands.nodes import HasNode, OneValue, as_node, has_own, of_base
from .groups import Lazy, is_jagged, takes_jagged


@takes_jagged
@maps
def astype(x: object, dtype: object, /, *, copy: bool = True, device: str | None = None) -> Lazy:
    """Return the elements converted to ``dtype``, lazily; a container for ``copy`` alone.

    Parameters
    ----------
    x : array or expression
        What to convert.
    dtype : dtype
        The new dtype; any conversion is allowed, as with NumPy's default casting.
    copy : bool, default True
        Where nothing is to convert: copy a container, or return it as it is.
    device : {"cpu"}, optional
        Where to put it.

    Returns
    -------
    XExpression
        The lazy conversion.

    Raises
    ------
    DTypeError
        If the dtype is not supported.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.astype(xl.asarray([1.7, -1.7]), xl.int8))
    XArray([ 1, -1], dtype=int8)
    """
    if device not in (None, "cpu"):
        raise ValueError(f"astype: the only device is 'cpu', got {device!r}")
    if is_jagged(x):
        return x.astype(dtype, copy=copy)
    if has_own(x, "astype"):
        return x.astype(dtype)  # type: ignore[attr-defined,no-any-return]
    array = x if isinstance(x, XExpression) else XExpression(as_node(x, "astype"))
    return array.astype(dtype, copy=copy)


@non_numeric.or_numpy
def result_type(*arrays_and_dtypes: object) -> np.dtype[Any]:
    """Return the dtype that an operation on all arguments has.

    Parameters
    ----------
    *arrays_and_dtypes : arrays, dtypes or Python scalars
        Python scalars take part by kind only (NEP 50).

    Returns
    -------
    numpy.dtype
        The common dtype; the rules are on the page about dtypes.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.result_type(xl.bfloat16, xl.float32), xl.result_type(xl.int8, 1)
    (dtype('float32'), dtype('int8'))
    """
    try:
        same = {x._kind.dtype for x in arrays_and_dtypes}  # type: ignore[attr-defined]
    except AttributeError:  # not all are arrays
        same = set()
    if len(same) == 1 and NODE.dtype not in same:
        return same.pop()  # type: ignore[no-any-return]
    kinds: list[Any] = []
    for item in arrays_and_dtypes:
        if isinstance(item, (HasNode, np.ndarray, np.generic, OneValue)):
            kinds.append(as_dtype(item.dtype))  # type: ignore[union-attr]
        elif isinstance(item, WEAK_TYPES):
            kinds.append(type(of_base(item)))
        else:
            kinds.append(as_dtype(item))
    return promotion.result_type(*kinds)


def in_common_dtype(*values: Any) -> list[Any]:
    """Return values, Python's numbers among them as the dtype of all stores them.

    NumPy's `where` stores numbers as an assignment of arrays would, and `select` its default:
    integers wrap.

    Examples
    --------
    >>> in_common_dtype(np.zeros(1, np.uint8), -1)
    [array([0], dtype=uint8), np.uint8(255)]
    """
    dtype = result_type(*[as_array(x, "where") if type(x) in (list, tuple) else x for x in values])
    weak = [type(x) in WEAK_TYPES for x in values]
    return [
        np.asarray(x).astype(dtype)[()] if number else x
        for x, number in zip(values, weak, strict=True)
    ]


def by_numpy(name: str, *dtypes: Any, **options: Any) -> Any:
    """Return what NumPy says of dtypes; within the handler of a refusal of one without kernels.

    Raises
    ------
    DTypeError
        The one that is handled, where none of them is text, or the like.
    """
    if not any([non_numeric.dtype_of(x) is not None for x in dtypes]):
        raise  # noqa: PLE0704
    return getattr(np, name)(*dtypes, **options)


@non_numeric.or_numpy
def can_cast(from_: object, to: object, casting: str = "safe") -> bool:
    """Return whether one dtype converts to another under a casting rule.

    Parameters
    ----------
    from_ : dtype or array
        The source.
    to : dtype
        The result.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}, default "safe"
        NumPy's rules.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.can_cast(xl.bfloat16, xl.float32), xl.can_cast(xl.float32, xl.bfloat16)
    (True, False)
    """
    known: object = from_.node.dtype if isinstance(from_, HasNode) else from_
    known = known.dtype if isinstance(known, np.ndarray) else known
    try:
        return promotion.can_cast(as_dtype(known), as_dtype(to), str(casting))
    except DTypeError:
        return bool(by_numpy("can_cast", known, to, casting=casting))
