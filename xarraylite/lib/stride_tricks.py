"""The functions of ``numpy.lib.stride_tricks``, where programs look for them.

Plain numbers are strides in bytes there, those that containers have said, and multiples of them,
count elements (`ElementStride`): programs that write either are right.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

from .._errors import LayoutError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..functions.manipulation import broadcast_arrays, broadcast_to
from ..index.broadcast import broadcast_shapes
from ..layout.strided import ElementStride
from ..xtensor_views import regular
from ..xtensor_views.regular import sliding_window_view

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]


def as_strided(
    x: object,
    shape: Sequence[SupportsIndex] | None = None,
    strides: Sequence[SupportsIndex] | None = None,
    subok: bool = False,
    writeable: bool = True,
) -> XExpression:
    """Return the memory of an array under another shape and other strides.

    Parameters
    ----------
    x : array or expression
        Whose memory.
    shape, strides : sequence of int, optional
        Those of ``x`` by default.  Strides that are plain numbers count bytes, as NumPy's do; what
        is made of ``x.strides`` counts elements.
    subok : bool
        Accepted as NumPy does; there are no subclasses.
    writeable : bool, default True
        Whether the view can be written.

    Raises
    ------
    BoundsError
        If the view reaches beyond what ``x`` itself reaches.
    LayoutError
        If bytes are no whole elements, or there is not one stride per dimension.

    Examples
    --------
    >>> import xarraylite as xl
    >>> v = xl.arange(5)
    >>> windows = xl.lib.stride_tricks.as_strided(v, (3, 3), (v.strides[0], v.itemsize))
    >>> windows.tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    array = as_array(x, "as_strided")
    if not isinstance(array, XContainer):
        array = array._target()  # whose strides are those that the caller has asked for
    paces = array.strides if strides is None else strides
    counted = None if paces is None else [_elements(s, array.itemsize) for s in paces]
    made = regular.as_strided(array, array.shape if shape is None else shape, counted)
    if not writeable and isinstance(made, XContainer):
        made.flags.writeable = False
    return made


def _elements(stride: SupportsIndex, size: int) -> SupportsIndex:
    if isinstance(stride, ElementStride):
        return stride
    try:
        nbytes = operator.index(stride)
    except TypeError:
        return stride  # which is refused
    count, rest = divmod(nbytes, size)
    if rest:
        raise LayoutError(
            f"as_strided: a stride of {nbytes} bytes is no whole number of {size}-byte elements; "
            "strides are in bytes, as NumPy's, or those of a container, which count elements"
        )
    return count
