"""Polynomials by their coefficients, the highest degree first: functions, and `poly1d`.

NumPy computes them; see `of_numpy`.  Series in other bases are in `xarraylite.polynomial`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec

import numpy as np

from ..arrays.xarray import XArray
from .computed import Narrow, container, numpy_of, results
from .foreign import value_of
from .of_numpy import Array, of_numpy

P = ParamSpec("P")


def _of_polynomials(function: Callable[P, Any]) -> Callable[P, Any]:
    """Have a function of coefficients return polynomials where it is given one, as NumPy's do."""

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        made = function(*args, **kwargs)
        if not any([isinstance(x, poly1d) for x in (*args, *kwargs.values())]):
            return made
        return tuple(map(poly1d, made)) if isinstance(made, tuple) else poly1d(made)

    return call


@of_numpy
def polyfit(
    x: Array,
    y: Array,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Array | None = None,
    cov: bool | str = False,
) -> Any:
    """Return the polynomial with the least sum of squares.

    Returns: XArray, or a tuple with what else is asked for

    >>> xl.round(xl.polyfit([0, 1, 2], [1, 3, 5], 1), 6).tolist()
    [2.0, 1.0]
    """


def _composed(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Have values of a polynomial at another be their composition."""

    @functools.wraps(function)
    def call(p: Any, x: Any) -> Any:
        return poly1d(p)(x) if isinstance(x, poly1d) else function(p, x)

    return call


@_composed
@of_numpy
def polyval(p: Array, x: Array) -> Any:
    """Return the values of a polynomial; of a polynomial at another, the composition.

    >>> xl.polyval([1, 0, 2], [1, 2])
    XArray([3, 6])
    """


@_of_polynomials
@of_numpy
def polyadd(a1: Array, a2: Array) -> Any:
    """Return the sum of two polynomials.

    >>> xl.polyadd([1, 2], [1])
    XArray([1, 3])
    """


@_of_polynomials
@of_numpy
def polysub(a1: Array, a2: Array) -> Any:
    """Return the difference of two polynomials.

    >>> xl.polysub([1, 2], [1])
    XArray([1, 1])
    """


@_of_polynomials
@of_numpy
def polymul(a1: Array, a2: Array) -> Any:
    """Return the product of two polynomials.

    >>> xl.polymul([1, 2], [1, 0])
    XArray([1, 2, 0])
    """


@_of_polynomials
@of_numpy
def polydiv(u: Array, v: Array) -> Any:
    """Return quotient and remainder of two polynomials.

    Returns: tuple of XArray

    >>> xl.polydiv([1.0, 2.0], [1.0])
    (XArray([1., 2.]), XArray([0.]))
    """


@_of_polynomials
@of_numpy
def polyder(p: Array, m: int = 1) -> Any:
    """Return a derivative of a polynomial.

    >>> xl.polyder([1, 2, 3])
    XArray([2, 2])
    """


@_of_polynomials
@of_numpy
def polyint(p: Array, m: int = 1, k: Array | None = None) -> Any:
    """Return an antiderivative of a polynomial.

    >>> xl.polyint([2, 2])
    XArray([1., 2., 0.])
    """


@of_numpy
def roots(p: Array) -> Any:
    """Return the roots of a polynomial.

    >>> xl.roots([1, -3, 2])
    XArray([2., 1.])
    """


@of_numpy
def poly(seq_of_zeros: Array) -> Any:
    """Return the polynomial with given roots.

    >>> xl.poly([1, 2])
    XArray([ 1., -3.,  2.])
    """


class poly1d:
    """A polynomial in one variable, by its coefficients, the highest degree first.

    Parameters
    ----------
    c_or_r : array_like
        Coefficients, or roots.
    r : bool, default False
        Whether they are roots.
    variable : str, optional
        How it is printed.

    Attributes
    ----------
    c, coef, coeffs, coefficients : XArray
        The coefficients.
    r, roots : XArray
        Where it is zero.
    o, order : int
        The degree.

    See Also
    --------
    numpy.poly1d : The same on NumPy arrays.

    Examples
    --------
    >>> import xarraylite as xl
    >>> p = xl.poly1d([1, -3, 2])
    >>> p(xl.asarray([0.0, 1.0, 2.0])), p.roots
    (XArray([2., 0., 0.]), XArray([2., 1.]))
    >>> print(p * p)
       4     3      2
    1 x - 6 x + 13 x - 12 x + 4
    """

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: object, r: bool = False, variable: str | None = None) -> None:
        given: Any = c_or_r._of if isinstance(c_or_r, poly1d) else value_of(c_or_r, "poly1d")
        self._of: Any = np.poly1d(given, r, variable)

    @property
    def c(self) -> XArray:
        """The coefficients, the highest degree first."""
        return container(self._of.coeffs.copy())

    coef = coeffs = coefficients = c

    @property
    def r(self) -> XArray:
        """Where the polynomial is zero."""
        found: XArray = roots(self.c)
        return found

    roots = r

    @property
    def o(self) -> int:
        """The degree."""
        return int(self._of.order)

    order = o

    @property
    def variable(self) -> str:
        """What the variable is called in print."""
        return str(self._of.variable)

    def __call__(self, val: object) -> Any:
        """Return values at points, or the polynomial of a polynomial."""
        if isinstance(val, poly1d):
            return poly1d(self._of(val._of))
        narrow = Narrow()
        return results(self._of(numpy_of(val, "poly1d", narrow)), narrow)

    def deriv(self, m: int = 1) -> poly1d:
        """Return a derivative."""
        return poly1d(polyder(self.c, m), variable=self.variable)

    def integ(self, m: int = 1, k: object = 0) -> poly1d:
        """Return an integral, with constants of integration."""
        return poly1d(polyint(self.c, m, k), variable=self.variable)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the coefficients as a NumPy array."""
        return np.array(self._of.coeffs, dtype)

    def __add__(self, other: object) -> poly1d:
        made: poly1d = polyadd(self, poly1d(other))
        return made

    __radd__ = __add__

    def __sub__(self, other: object) -> poly1d:
        made: poly1d = polysub(self, poly1d(other))
        return made

    def __rsub__(self, other: object) -> poly1d:
        return poly1d(other) - self

    def __mul__(self, other: object) -> poly1d:
        made: poly1d = polymul(self, poly1d(other))
        return made

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:
        if np.ndim(other) == 0 and not isinstance(other, poly1d):  # type: ignore[arg-type]
            return poly1d(self.c / other)
        return polydiv(self, poly1d(other))

    def __rtruediv__(self, other: object) -> Any:
        return poly1d(other) / self

    def __pow__(self, power: int) -> poly1d:
        return poly1d(self._of**power)

    def __neg__(self) -> poly1d:
        return poly1d(-self._of)

    def __pos__(self) -> poly1d:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, poly1d) and bool(self._of == other._of)

    def __len__(self) -> int:
        return self.o

    def __getitem__(self, power: int) -> Any:
        """Return the coefficient of a power."""
        return results(self._of[power], Narrow())

    def __setitem__(self, power: int, value: object) -> None:
        """Set the coefficient of a power."""
        self._of[power] = value_of(value, "poly1d")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.c)

    def __str__(self) -> str:
        return str(self._of)

    def __repr__(self) -> str:
        return repr(self._of)
