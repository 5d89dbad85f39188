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
    """What makes random numbers in NumPy; methods that are found there return containers.

    The classes are derived from NumPy's too, so that other libraries know them as theirs.
    """

    __slots__ = ()

    _generator: Any

    def __getattribute__(self, name: str) -> Any:
        known = None if name.startswith("_") else getattr(type(self._generator), name, None)
        if known is None or getattr(type(self), name) is not known:  # a derived class's own
            return object.__getattribute__(self, name)
        value = getattr(self._generator, name)
        if not callable(value) or name == "get_state":
            return value
        return called(value, f"random.{name}", name == "shuffle")

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the state of the generator."""
        return type(self), (self._generator,)


class Generator(_Source, np.random.Generator):
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

    __slots__ = ("_generator",)

    def __init__(self, generator: np.random.Generator | np.random.BitGenerator) -> None:
        if isinstance(generator, np.random.BitGenerator):
            generator = np.random.Generator(generator)
        if not isinstance(generator, np.random.Generator):
            raise DTypeError(f"random.Generator: got {type(generator).__name__}; a bit generator")
        super().__init__(generator.bit_generator)
        self._generator = getattr(generator, "_generator", generator)

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return independent generators."""
        return [Generator(child) for child in self._generator.spawn(n_children)]


class RandomState(_Source, np.random.RandomState):
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

    __slots__ = ("_generator",)

    def __init__(self, seed: Any = None) -> None:
        known = isinstance(seed, np.random.RandomState)
        made: Any = seed if known else np.random.RandomState(value_of(seed, "RandomState"))
        super().__init__(made._bit_generator)
        self._generator = getattr(made, "_generator", made)


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
