"""Scalar bodies by name, gathered from the modules that hold them.

**Elementary functions.**  Every body is straight-line code on one element, without branches, tables
in memory or calls of the C library: LLVM vectorises any loop around it, and a compiled kernel needs
nothing else at run time.  Only ``+ - * / sqrt``, integer operations and bit casts are used, each of
them exact or rounded once, so a body gives the same bits on every machine and at every vector
width.

Errors stay below 2.5 units in the last place (most below 1.5) over the whole range, subnormal
numbers and huge arguments included, with the special cases of C99;
``docs/reference/ulp_table.md`` has the measurements.  The common float32 functions compute in
float32, sixteen at a time where float64 has eight; the others compute in float64 and round once.
The one exception is ``logaddexp`` in float64
where its result is nearly zero: there the error is in units of the larger argument, as it is in
NumPy's.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType, ModuleType

from . import (
    angle,
    casts,
    complex,
    exponential,
    exponential_f32,
    floats,
    hyperbolic,
    integers,
    power,
    trigonometric,
)


@cache
def elementary() -> dict[str, FunctionType]:
    """Return the elementary functions (``exp_f64``, ``atan2_f32``, ...), helpers included."""
    return functions_of(angle, exponential, exponential_f32, hyperbolic, power, trigonometric)


@cache
def others() -> dict[str, FunctionType]:
    """Return all other bodies (``floor_divide_i``, ``divide_c``, ...), helpers included."""
    return functions_of(casts, complex, floats, integers)


def functions_of(*modules: ModuleType) -> dict[str, FunctionType]:
    """Return the functions that modules define, by name: compiled ones find each other by it.

    Raises
    ------
    ValueError
        If two of them have one name.
    """
    found: dict[str, FunctionType] = {}
    for module in modules:
        for name, value in vars(module).items():
            if not isinstance(value, FunctionType) or value.__module__ != module.__name__:
                continue
            if name in found:
                raise ValueError(f"{name}: {found[name].__module__} and {module.__name__} have it")
            found[name] = value
    return found
