"""The elementary functions under test: where each is sampled, and how large its error may be.

Bounds are in units in the last place of the exact result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Sampler = Callable[[np.random.Generator, int, Any], list[Array]]

TYPES = {"f64": np.float64, "f32": np.float32}
DIGITS = {"f64": 53, "f32": 24}
LOWEST = {"f64": -1074, "f32": -149}  # exponent of the smallest subnormal number
HIGHEST = {"f64": 1024, "f32": 128}


def uniform(low: float, high: float) -> Sampler:
    return lambda rng, n, t: [rng.uniform(low, high, n).astype(TYPES[t])]


def scaled(low: float | None = None, high: float | None = None, positive: bool = False) -> Sampler:
    """Random exponents from low to high (all by default, large ones shrunk for float32)."""

    def end(value: float | None, default: float, t: str) -> float:
        if value is None:
            return default
        return value if abs(value) < 128 else value * HIGHEST[t] / 1024

    def sample(rng: np.random.Generator, n: int, t: str) -> list[Array]:
        first, last = end(low, LOWEST[t], t), end(high, HIGHEST[t] - 0.001, t)
        values = np.exp2(rng.uniform(first, last, n))
        return [(values if positive else values * rng.choice([-1, 1], n)).astype(TYPES[t])]

    return sample


def near_one(high: float = -2.0) -> Sampler:
    return lambda rng, n, t: [
        (1 + np.exp2(rng.uniform(-DIGITS[t], high, n)) * rng.choice([-1, 1], n)).astype(TYPES[t])
    ]


def near_turns(rng: np.random.Generator, n: int, t: str) -> list[Array]:
    """The numbers nearest to multiples of pi/2, where sine or cosine nearly vanish."""
    return [(rng.integers(1, 2**20, n) * (np.pi / 2)).astype(TYPES[t])]


def pair(first: Sampler, second: Sampler) -> Sampler:
    return lambda rng, n, t: [*first(rng, n, t), *second(rng, n, t)]


@dataclass(frozen=True, slots=True)
class Case:
    """A function: NumPy's and mpmath's, where it is sampled, and its bound in float64."""

    numpy: Callable[..., Any]
    exact: Callable[..., Any]
    domain: str
    samplers: tuple[Sampler, ...]
    bound: float


def _sum_of_exponentials(x: Any, y: Any) -> Any:
    return mpmath.log(mpmath.exp(x) + mpmath.exp(y))


def _cube_root(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


_LOGS = (scaled(positive=True), uniform(0.3, 3.0), near_one())
_SMALL = (scaled(high=-0.001),)
_WIDE = (uniform(-3.0, 3.0), scaled(), scaled(-8, 40))
_TURNS = (uniform(-10.0, 10.0), scaled(high=20), scaled(low=20), near_turns)
_UNITS = (uniform(-1.0, 1.0), scaled(high=0), uniform(0.4, 0.6), uniform(-0.6, -0.4))
_FROM_ONE = (uniform(1.0, 3.0), scaled(0, positive=True), uniform(1.0, 1.01), near_one())
_EXPS = (uniform(-3.0, 3.0), uniform(-710.4, 710.4), uniform(-89.4, 89.4), scaled(high=9.5))
_ANY, _PAIRS = "all numbers", "all pairs"
CASES: dict[str, Case] = {
    "exp": Case(np.exp, mpmath.exp, _ANY, (*_EXPS, uniform(-745.2, 710.0)), 0.9),
    "exp2": Case(np.exp2, lambda x: mpmath.mpf(2) ** x, _ANY, (*_EXPS, uniform(-1075, 1024)), 0.9),
    "expm1": Case(np.expm1, mpmath.expm1, _ANY, (*_EXPS, uniform(-40.0, 2.0)), 1.25),
    "log": Case(np.log, mpmath.log, "x > 0", _LOGS, 0.9),
    "log1p": Case(np.log1p, mpmath.log1p, "x > -1", (uniform(-1.0, 3.0), *_SMALL, *_LOGS), 1.0),
    "log2": Case(np.log2, lambda x: mpmath.log(x) / mpmath.log(2), "x > 0", _LOGS, 1.1),
    "log10": Case(np.log10, mpmath.log10, "x > 0", _LOGS, 1.0),
    "sin": Case(np.sin, mpmath.sin, _ANY, _TURNS, 1.7),
    "cos": Case(np.cos, mpmath.cos, _ANY, _TURNS, 1.7),
    "tan": Case(np.tan, mpmath.tan, _ANY, _TURNS, 2.5),
    "asin": Case(np.arcsin, mpmath.asin, "|x| <= 1", _UNITS, 1.8),
    "acos": Case(np.arccos, mpmath.acos, "|x| <= 1", _UNITS, 1.3),
    "atan": Case(np.arctan, mpmath.atan, _ANY, _WIDE, 1.5),
    "atan2": Case(np.arctan2, mpmath.atan2, _PAIRS, tuple(pair(s, s) for s in _WIDE), 1.6),
    "sinh": Case(np.sinh, mpmath.sinh, _ANY, _EXPS, 1.8),
    "cosh": Case(np.cosh, mpmath.cosh, _ANY, _EXPS, 1.2),
    "tanh": Case(np.tanh, mpmath.tanh, _ANY, (*_EXPS, scaled(), uniform(-25.0, 25.0)), 2.2),
    "asinh": Case(np.arcsinh, mpmath.asinh, _ANY, _WIDE, 1.4),
    "acosh": Case(np.arccosh, mpmath.acosh, "x >= 1", _FROM_ONE, 1.2),
    "atanh": Case(np.arctanh, mpmath.atanh, "|x| <= 1", _UNITS, 1.6),
    "cbrt": Case(np.cbrt, _cube_root, _ANY, (scaled(), uniform(0.1, 10.0)), 0.55),
    "hypot": Case(
        np.hypot,
        mpmath.hypot,
        _PAIRS,
        tuple(
            pair(scaled(a, b), scaled(a, b))
            for a, b in ((-2, 2), (None, None), (490, 570), (None, -440), (1000, None))
        ),
        1.2,
    ),
    "logaddexp": Case(
        np.logaddexp,
        _sum_of_exponentials,
        _PAIRS,
        tuple(pair(s, s) for s in (uniform(-3.0, 3.0), uniform(-700.0, 700.0), scaled(-60, 10))),
        2.8,
    ),
    "pow": Case(
        np.power,
        mpmath.power,
        _PAIRS,
        (
            pair(uniform(0.0, 3.0), uniform(-30.0, 30.0)),
            pair(scaled(positive=True), uniform(-1.0, 1.0)),
            pair(scaled(-10, 10, positive=True), uniform(-100.0, 100.0)),
            pair(near_one(), scaled(2, 50)),
            pair(uniform(0.3, 2.0), scaled(3, 11)),
        ),
        1.3,
    ),
}
#: Bounds in float32; the functions that are missing compute in float64 and round once.
SINGLE = {
    "exp": 1.0,
    "exp2": 1.1,
    "expm1": 1.2,
    "log": 0.9,
    "log1p": 1.5,
    "log2": 1.5,
    "log10": 1.3,
    "cbrt": 0.6,
    "sin": 2.1,
    "cos": 2.1,
    "tan": 2.7,
    "asin": 1.7,
    "acos": 1.4,
    "atan": 1.6,
    "atan2": 2.0,
    "sinh": 1.8,
    "cosh": 1.5,
    "tanh": 1.5,
    "atanh": 1.4,
}
BOUND_F32 = 0.54
IN_TURNS = ("sin", "cos", "tan")  # arguments beyond 16384 are reduced in float64
NAMES = [(name, t) for name in CASES for t in TYPES]
