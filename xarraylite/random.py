"""Random numbers: NumPy's generators, whose results are containers.

``default_rng(seed)`` gives the same numbers as NumPy's, and so do the older functions after
`seed`; everything is computed at once.  Arguments may be containers and expressions.

The names are NumPy's, and are looked up there: what a distribution means and which parameters it
has stands in the documentation of ``numpy.random``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import DTypeError
from .functions.foreign import called, value_of

__all__ = ["Generator", "RandomState", "default_rng"]


class _Source:
    """What makes random numbers in NumPy; methods that are found there return containers."""

    __slots__ = ("_generator",)

    _generator: Any

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._generator, name)
        if name.startswith("_") or not callable(value) or name in ("spawn", "get_state"):
            return value
        return called(value, f"random.{name}", name == "shuffle")

    def __dir__(self) -> list[str]:
        return [name for name in dir(self._generator) if not name.startswith("_")]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state of the generator."""
        return type(self), (self._generator,)


class Generator(_Source):
    """NumPy's ``Generator``: its methods return containers.

    Parameters
    ----------
    generator : numpy.random.Generator or BitGenerator
        Where the numbers come from.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> rng = xl.random.default_rng(7)
    >>> same = np.random.default_rng(7)
    >>> xl.array_equal(rng.normal(size=3), same.normal(size=3))
    True
    """

    __slots__ = ()

    def __init__(self, generator: np.random.Generator | np.random.BitGenerator) -> None:
        if isinstance(generator, np.random.BitGenerator):
            generator = np.random.Generator(generator)
        if not isinstance(generator, np.random.Generator):
            raise DTypeError(f"random.Generator: got {type(generator).__name__}; a bit generator")
        self._generator = generator

    def __repr__(self) -> str:
        return f"Generator({self._generator.bit_generator.__class__.__name__})"

    def spawn(self, n_children: int) -> list[Generator]:
        """Return independent generators."""
        return [Generator(child) for child in self._generator.spawn(n_children)]


class RandomState(_Source):
    """NumPy's older generator: its methods return containers.

    Parameters
    ----------
    seed : int, sequence of int, BitGenerator or numpy.random.RandomState, optional
        What it starts from; by default the system's entropy.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.random.RandomState(0).randint(10, size=3)
    XArray([5, 0, 3])
    """

    __slots__ = ()

    def __init__(self, seed: Any = None) -> None:
        known = isinstance(seed, np.random.RandomState)
        self._generator = seed if known else np.random.RandomState(value_of(seed, "RandomState"))

    def __repr__(self) -> str:
        return f"RandomState({self._generator._bit_generator.__class__.__name__})"


def default_rng(seed: Any = None) -> Generator:
    """Return a new generator of random numbers.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        What it starts from; by default the system's entropy.

    Returns
    -------
    Generator
        The numbers are those of NumPy's generator with that seed.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.random.default_rng(0).integers(10, size=3)
    XArray([8, 6, 5])
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, RandomState):
        return Generator(seed._generator._bit_generator)
    return Generator(np.random.default_rng(value_of(seed, "default_rng")))


def __getattr__(name: str) -> Any:
    value = getattr(np.random, name, None)
    if name.startswith("_") or name == "test" or value is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if isinstance(value, type) or not callable(value):
        return value
    made = globals()[name] = called(value, f"random.{name}", name == "shuffle")
    return made


def __dir__() -> list[str]:
    return sorted({*__all__, *[name for name in dir(np.random) if name[0] != "_"]} - {"test"})
