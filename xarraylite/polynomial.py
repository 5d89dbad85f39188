"""Polynomials in powers and in other bases: NumPy's ``np.polynomial``.

NumPy computes them; operands are evaluated, results are containers.  The names are NumPy's, and
are looked up there: `Polynomial`, `Chebyshev`, `Legendre`, `Laguerre`, `Hermite`, `HermiteE`, and
modules of functions of series' coefficients (`polynomial`, `chebyshev` and so on).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from .functions.foreign import called, value_of

#: The names that there are.
_NAMES = sorted([*np.polynomial.__all__, "polyutils"])

#: Methods of a series that take or return arrays.
_METHODS = ("__call__", "linspace", "roots")
_MAKERS = ("fit", "fromroots")


class _Functions:
    """A module of NumPy's: its functions on containers, its classes as `_series` makes them."""

    def __init__(self, module: ModuleType) -> None:
        self.__name__, self.__doc__ = f"{__name__}.{module.__name__.split('.')[-1]}", module.__doc__
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(self._module, name):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return _found(getattr(self._module, name), f"{self.__name__.split('.')[-1]}.{name}")

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._module) if not name.startswith("_")]

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}>"


def _found(value: Any, name: str) -> Any:
    if isinstance(value, type):
        return _series(value)
    if isinstance(value, ModuleType):
        return _Functions(value)
    return called(value, name) if callable(value) else value_of(value, name)


@cache
def _series(base: Any) -> Any:
    """Return a class of series whose values, points and roots are containers.

    Coefficients stay NumPy's, as its arithmetic of series needs them.
    """

    def method(name: str) -> Callable[..., Any]:
        return called(getattr(base, name), f"{base.__name__}.{name}")

    def maker(name: str) -> Any:
        return classmethod(called(getattr(base, name).__func__, f"{base.__name__}.{name}"))

    own: dict[str, Any] = {name: method(name) for name in _METHODS}
    own |= {name: maker(name) for name in _MAKERS}
    return type(base.__name__, (base,), {**own, "__doc__": base.__doc__, "__module__": __name__})


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _found(getattr(np.polynomial, name), name)
    return made


def __dir__() -> list[str]:
    return _NAMES


for _name in _NAMES:
    if _name in dir(np.polynomial) and isinstance(getattr(np.polynomial, _name), ModuleType):
        sys.modules[f"{__name__}.{_name}"] = __getattr__(_name)  # so that it can be imported
