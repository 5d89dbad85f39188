"""Equality of positions by their digits, against every position."""

from __future__ import annotations

import random

from xarraylite.layout.digits import Digits, position_of, simplify
from xarraylite.layout.sequences import _same


def some_digits(rng: random.Random) -> Digits:
    """Digits of which most continue what the inner ones do, so that others say the same."""
    found: list[tuple[int, int]] = [(1, rng.choice((0, 1, 2)))]
    for period in sorted(rng.sample(range(2, 60), rng.randint(0, 4))):
        found.insert(0, (period, position_of(period, tuple(found)) + rng.choice((0, 0, 1, 3))))
    return tuple(found)


def said_otherwise(rng: random.Random, digits: Digits) -> Digits:
    """The digits without one of them, and with another."""
    kept = [d for d in digits if d[0] == 1 or rng.random() < 0.7]
    period = rng.randint(2, 60)
    if period not in [p for p, _ in kept]:
        kept.append((period, position_of(period, tuple(kept))))
    return tuple(sorted(kept, reverse=True))


def test_same_functions_are_recognised_by_their_digits() -> None:
    rng = random.Random(40)
    equal = otherwise = 0
    for _ in range(4000):
        first = some_digits(rng)
        second = said_otherwise(rng, first) if rng.random() < 0.7 else some_digits(rng)
        count = rng.randint(1, 150)
        expected = all(position_of(n, first) == position_of(n, second) for n in range(count))
        assert _same(first, second, count) is expected, (first, second, count)
        equal += expected
        otherwise += expected and simplify(first, count) != simplify(second, count)
    assert equal > 500
    assert otherwise > 30


def test_partial_tiles_say_the_same_in_several_ways() -> None:
    plain: Digits = ((4, 100), (2, 10), (1, 1))
    broken: Digits = ((8, 200), (6, 110), (4, 100), (2, 10), (1, 1))
    assert _same(plain, broken, 16)
    assert not _same(plain, ((8, 201), *broken[1:]), 16)
    assert not _same(plain, ((8, 200), (6, 111), *broken[2:]), 16)
