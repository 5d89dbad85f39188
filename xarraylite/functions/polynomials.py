"""Polynomials by their coefficients, the highest degree first: functions, and `poly1d`.

NumPy computes them; see `of_numpy`.  Series in other bases are in `xarraylite.polynomial`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec

import numpy as np

from ..arrays.adapt import adapt
from ..arrays.xarray import XArray
from ..operands.nodes import HasNode
from ..operands.non_numeric import is_not_ours
from .arrays_of_numpy import Narrow, numpy, numpy_of, results
from .computed import computed
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


@computed("x")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> XArray:
    """Return the powers of the elements of a vector, one row each, the highest first.

    Parameters
    ----------
    x : array or sequence
        A vector.
    N : int, optional
        Number of columns; by default as many as ``x`` has elements.
    increasing : bool, default False
        Begin with the power 0.

    Returns
    -------
    XArray
        A matrix.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.vander([2, 3], 3)
    XArray([[4, 2, 1],
            [9, 3, 1]])
    """
    made: XArray = numpy.vander(x, N, increasing)
    return made


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


def _theirs(x: object) -> Any:
    return x._of if isinstance(x, poly1d) else value_of(x, "poly1d")


def _ours(made: Any, narrow: Narrow | None = None) -> Any:
    """Return what NumPy makes of polynomials: polynomials, or values."""
    if isinstance(made, tuple):
        return tuple(map(_ours, made))
    return poly1d(made) if isinstance(made, np.poly1d) else results(made, narrow or Narrow())


def _method(name: str) -> Callable[..., Any]:
    """Return NumPy's method of a polynomial, on polynomials and values of ours."""

    def method(self: poly1d, *args: object, **kwargs: object) -> Any:
        given = {key: _theirs(x) for key, x in kwargs.items()}
        return _ours(getattr(self._of, name)(*map(_theirs, args), **given))

    method.__name__, method.__doc__ = name, getattr(np.poly1d, name).__doc__
    return method


def _coefficients(self: poly1d) -> Any:
    """Return the polynomial's own coefficients: who writes them changes it."""
    own = self._of.coeffs
    return own if is_not_ours(own) else adapt(own)


def _changed(self: poly1d, values: Any) -> None:
    """Take the coefficients that were changed in place; others are refused, as NumPy does."""
    if not np.shares_memory(np.asarray(values), self._of.coeffs):
        raise AttributeError("poly1d: coefficients are changed in place, p.coeffs[...] = values")


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
        if isinstance(c_or_r, HasNode):
            np.asarray(c_or_r)  # given away: coefficients may be its memory, and are written
        self._of: Any = np.poly1d(_theirs(c_or_r), r, variable)

    c = coef = coeffs = coefficients = property(_coefficients, _changed)
    r = roots = property(lambda self: _ours(self._of.roots), doc="Where the polynomial is zero.")
    o = order = property(lambda self: int(self._of.order), doc="The degree.")

    @property
    def variable(self) -> str:
        """What the variable is called in print."""
        return str(self._of.variable)

    def __call__(self, val: object) -> Any:
        """Return values at points, or the polynomial of a polynomial."""
        narrow = Narrow()
        given = val._of if isinstance(val, poly1d) else numpy_of(val, "poly1d", narrow)
        return _ours(self._of(given), narrow)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Return the coefficients as a NumPy array."""
        return np.array(self._of.coeffs, dtype)

    __add__, __radd__ = _method("__add__"), _method("__radd__")
    __sub__, __rsub__ = _method("__sub__"), _method("__rsub__")
    __mul__, __rmul__ = _method("__mul__"), _method("__rmul__")
    __truediv__, __rtruediv__ = _method("__truediv__"), _method("__rtruediv__")
    __pow__, __neg__, __getitem__ = map(_method, ("__pow__", "__neg__", "__getitem__"))
    deriv, integ = _method("deriv"), _method("integ")

    def __setitem__(self, power: int, value: object) -> None:
        """Set the coefficient of a power."""
        if 0 <= power <= self._of.order:  # an assignment, which waiting readers notice
            self.c[self._of.order - power] = value
        else:
            self._of[power] = value_of(value, "poly1d")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.c)

    def __pos__(self) -> poly1d:
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, poly1d) and bool(self._of == other._of)

    def __len__(self) -> int:
        return int(self._of.order)

    def __str__(self) -> str:
        return str(self._of)

    def __repr__(self) -> str:
        return repr(self._of)
