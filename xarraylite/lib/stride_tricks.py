"""The functions of ``numpy.lib.stride_tricks``, where programs look for them.

Strides of `as_strided` are in elements, as everywhere here.
"""

from __future__ import annotations

from ..functions.manipulation import broadcast_arrays, broadcast_to
from ..index.broadcast import broadcast_shapes
from ..xtensor_views.regular import as_strided, sliding_window_view

__all__ = [
    "as_strided",
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "sliding_window_view",
]
