"""Functions of mathematics that neither the standard nor NumPy has: SciPy computes them.

Without SciPy, Python's ``math`` does, one element at a time.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arrays.xarray import XArray
from ..operands.moving import maps
from .computed import computed

#: SciPy's name, and Python's.
_NAMES = {
    "erf": ("erf", math.erf),
    "erfc": ("erfc", math.erfc),
    "gamma": ("gamma", math.gamma),
    "lgamma": ("gammaln", math.lgamma),
}


@cache
def _function(name: str) -> Callable[[Any], Any]:
    theirs, plain = _NAMES[name]
    if importlib.util.find_spec("scipy") is not None:
        import scipy.special  # noqa: PLC0415

        return getattr(scipy.special, theirs)  # type: ignore[no-any-return]

    def one(x: float) -> float:
        try:
            return plain(x)
        except OverflowError:
            return math.inf
        except ValueError:  # a pole
            return math.inf if name == "lgamma" or x == 0 else math.nan

    return np.vectorize(one, otypes=[np.float64])


def _computed(name: str, x: Any) -> Any:
    values = np.asarray(x)
    wide = values if values.dtype.kind == "f" else values.astype(np.float64)
    return np.asarray(_function(name)(wide)).astype(wide.dtype)


@maps
@computed("x")
def erf(x: Any, /) -> XArray:
    """Return the error function of real numbers.

    Parameters
    ----------
    x : array or expression
        Real; integers in float64.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.round(xl.erf([0.0, 1.0]), 6).tolist()
    [0.0, 0.842701]
    """
    return _computed("erf", x)  # type: ignore[no-any-return]


@maps
@computed("x")
def erfc(x: Any, /) -> XArray:
    """Return ``1 - erf(x)`` without cancellation.

    Parameters
    ----------
    x : array or expression
        Real numbers.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.erfc([0.0])
    XArray([1.])
    """
    return _computed("erfc", x)  # type: ignore[no-any-return]


@maps
@computed("x")
def gamma(x: Any, /) -> XArray:
    """Return the gamma function of real numbers: ``(x - 1)!`` for whole ones.

    Parameters
    ----------
    x : array or expression
        Real numbers.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.gamma([5.0])
    XArray([24.])
    """
    return _computed("gamma", x)  # type: ignore[no-any-return]


@maps
@computed("x")
def lgamma(x: Any, /) -> XArray:
    """Return the logarithm of the modulus of the gamma function.

    Parameters
    ----------
    x : array or expression
        Real numbers.

    Returns
    -------
    XExpression
        Lazy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.lgamma([1.0, 2.0])
    XArray([0., 0.])
    """
    return _computed("lgamma", x)  # type: ignore[no-any-return]
