"""Coordinates of the points of grids, and of products of positions."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from .._errors import ShapeError
from ..arrays.expression import XExpression
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment.elements import FEW
from ..dtypes.names import as_dtype, bool_, int64
from ..index.broadcast import as_shape
from ..ir.build import describe
from ..operands.non_numeric import or_numpy
from ..operands.tracing import is_active
from .arrays_of_numpy import COPIED, Narrow, container, numpy, numpy_of
from .creation import ShapeLike, check_size
from .foreign import ByIndex
from .manipulation import broadcast_to, reshape
from .searching import nonzero


@or_numpy
def meshgrid(
    *arrays: object,
    indexing: Literal["xy", "ij"] = "xy",
    sparse: bool = False,
    copy: bool = True,
) -> tuple[XExpression, ...]:
    """Return coordinates of the points of a grid, one array per dimension.

    Parameters
    ----------
    *arrays : array or expression
        Coordinates along each dimension; flattened.
    indexing : {"xy", "ij"}, default "xy"
        "ij": the first array runs along the first dimension; "xy": along the second.
    sparse : bool, default False
        Give the others an extent of 1, which broadcasts.
    copy : bool, default True
        Make containers of their own; False: stretched views of containers.

    Returns
    -------
    tuple of XExpression
        As many as arrays.

    Raises
    ------
    ValueError
        For any other ``indexing``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> rows, columns = xl.meshgrid(xl.arange(2), xl.arange(3), indexing="ij")
    >>> rows
    XArray([[0, 0, 0],
            [1, 1, 1]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    known = [as_array(x, "meshgrid") for x in arrays]
    if copy and not (sparse or is_active()) and math.prod([x.size for x in known]) <= FEW:
        narrow = Narrow(COPIED)
        plain = [numpy_of(x, "meshgrid", narrow) for x in known]
        grids = np.meshgrid(*plain, indexing=indexing)  # small ones are not worth a plan
        return tuple([container(narrow.rounded(x)) for x in grids])
    places = list(range(len(known)))
    if indexing == "xy" and len(known) > 1:
        places[:2] = [1, 0]
    thin = [
        reshape(x, [x.size if k == place else 1 for k in range(len(known))])
        for x, place in zip(known, places, strict=True)
    ]
    shape = [0] * len(known)
    for x, place in zip(known, places, strict=True):
        shape[place] = x.size
    made = thin if sparse else [broadcast_to(x, shape) for x in thin]
    return tuple([XArray(x) for x in made] if copy else made)


def ix_(*args: object) -> tuple[XExpression, ...]:
    """Return index arrays that select the product of positions.

    Parameters
    ----------
    *args : array or expression
        Positions along each dimension, or a mask of them.

    Returns
    -------
    tuple of XExpression
        As many, of as many dimensions, which broadcast: views of containers.

    Raises
    ------
    ShapeError
        If an array is not of rank 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.reshape(xl.arange(9), (3, 3))
    >>> a[xl.ix_([0, 2], [True, False, True])]
    XArray([[0, 2],
            [6, 8]])
    """
    found = []
    for place, arg in enumerate(args):
        plain = isinstance(arg, (list, range)) and {*map(type, arg)} <= {int, bool}
        given = container(np.array(arg, None if arg else int64)) if plain else arg
        array = as_array(given, "ix_")
        if array.ndim != 1:
            raise ShapeError(f"ix_({describe(array.node)}): positions are of rank 1")
        array = nonzero(array)[0] if array.dtype == bool_ else array
        shape = [array.size if k == place else 1 for k in range(len(args))]
        found.append(array._reshaped(tuple(shape)))
    return tuple(found)


def indices(dimensions: ShapeLike, dtype: object = int, sparse: bool = False) -> Any:
    """Return the positions of the elements of a grid.

    Parameters
    ----------
    dimensions : int or sequence of int
        Extents of the grid.
    dtype : dtype, default int64
        Of the positions.
    sparse : bool, default False
        Return a tuple of arrays that broadcast against each other.

    Returns
    -------
    XArray or tuple of XArray
        Row ``k`` has the positions along dimension ``k``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.indices((2, 3))[1]
    XView([[0, 1, 2],
           [0, 1, 2]])
    """
    extents = as_shape(dimensions, "indices")
    check_size((len(extents), *extents), as_dtype(dtype), "indices")
    made = numpy.indices(extents, as_dtype(dtype), sparse)
    return tuple([container(x) for x in made]) if sparse else container(made)


mgrid, ogrid = ByIndex(numpy.mgrid, "mgrid"), ByIndex(numpy.ogrid, "ogrid")
