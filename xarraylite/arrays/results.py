"""Which container the result of an expression becomes, by what is fixed of its shape."""

from __future__ import annotations

from collections.abc import Callable

from .container import DType
from .xarray import XArray

#: By `fixed_of`; entered by the modules that define the classes, which are rarely needed.
RESULTS: dict[int, Callable[[DType, tuple[int, ...]], type[XArray]]] = {}


def result_class(fixed: int, dtype: DType, shape: tuple[int, ...]) -> type[XArray]:
    """Return the class of a result of which so much is fixed."""
    make = RESULTS.get(fixed)
    return XArray if make is None else make(dtype, shape)
