"""The closed forms of bounded sums against trying every value."""

from __future__ import annotations

import random

from xarraylite.overlap.sums import _floor_sum, _in_box, _some_residue


def test_closed_forms() -> None:
    rng = random.Random(25)
    for _ in range(3000):
        a, b = rng.randint(-30, 30), rng.randint(-30, 30)
        m, n = rng.randint(1, 20), rng.randint(0, 12)
        assert _floor_sum(n, m, a, b) == sum((a * i + b) // m for i in range(n))
        width = rng.randint(0, m + 1)
        first = rng.randint(-5, 5)
        assert _some_residue(first, first + n - 1, a, b, m, width) == any(
            (a * u + b) % m <= width for u in range(first, first + n)
        )
        low = rng.randint(-60, 90)
        high = low + rng.randint(0, 4)
        c, d = rng.randint(1, 15), rng.randint(1, 15)
        assert _in_box(c, n, d, m, low, high) == any(
            low <= c * u + d * v <= high for u in range(n + 1) for v in range(m + 1)
        )
