"""The list of all benchmarks, found the way asv finds them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import benchmarks
from benchmarks import Comparison


def comparisons() -> Iterator[type[Comparison]]:
    """Every concrete benchmark class, module by module, in the order it is written."""
    for info in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"benchmarks.{info.name}")
        for value in vars(module).values():
            if (
                inspect.isclass(value)
                and issubclass(value, Comparison)
                and not inspect.isabstract(value)
                and value.__module__ == module.__name__
            ):
                yield value


def tracked(case: Comparison) -> dict[str, str]:
    """Names of a benchmark's tracked numbers, and their units."""
    return {
        name: getattr(getattr(case, name), "unit", case.unit)
        for name in sorted(dir(case))
        if name.startswith("track_")
    }
