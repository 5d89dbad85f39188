"""Bounded Diophantine inequalities: which sums ``c.v`` can be reached, ``0 <= v <= m``.

Has ``low <= c_1 v_1 + ... + c_k v_k <= high`` a solution in integers with ``0 <= v_i <= m_i``?
The problem is NP-hard in general and easy for the coefficients that array strides give:

- bounds of the partial sums, their greatest common divisor, and an upper bound on the gaps
  between neighbouring sums decide most cases without a search;
- the last two variables have a closed form: counting the ``u`` with ``(a u + b) mod m <= w``
  takes two sums of floors, a Euclidean algorithm.

The bounds and the divisor are the Banerjee and GCD tests of dependence analysis (Banerjee,
*Dependence Analysis for Supercomputing*, 1988), which refute; the bound on gaps can also confirm.

What is left is searched, largest coefficients first, within a budget of steps.
"""

from __future__ import annotations

from math import gcd


class OutOfWork(Exception):
    """The search took more steps than allowed."""


class Budget:
    """Search steps left for one call."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Sums:
    """The reachable sums ``c_1 v_1 + ... + c_k v_k``, ``0 <= v_i <= m_i``.

    Parameters
    ----------
    terms : list of (coefficient, bound)
        Coefficients not negative.
    budget : Budget
        Steps that `hit` may take, shared with the other problems of the same call.

    Notes
    -----
    For each suffix of the terms, sorted by coefficient downwards, three numbers are known: the
    largest sum (the smallest is 0), a common divisor of all sums, and an upper bound of the
    gap between neighbouring sums.  For the sums of members of A and B the gap is at most
    ``max(gap_A, gap_B - reach_A)``: copies of A put down at the members of B.
    """

    __slots__ = ("_budget", "_suffix", "_terms")

    def __init__(self, terms: list[tuple[int, int]], budget: Budget) -> None:
        self._budget = budget
        reach = divisor = gap = 0
        terms.sort()
        self._terms: list[tuple[int, int]] = []
        self._suffix = [(reach, divisor, gap)]
        for c, m in terms:
            if c == 0 or m == 0:
                continue
            gap = min(max(gap, c - reach), max(c, gap - c * m))
            divisor = gcd(divisor, c)
            reach += c * m
            self._terms.append((c, m))
            self._suffix.append((reach, divisor, gap))

    def hit(self, low: int, high: int) -> bool:
        """Return whether a reachable sum lies in ``low..high``; may raise `OutOfWork`."""
        return self._hit(len(self._terms), low, high)

    def _hit(self, left: int, low: int, high: int) -> bool:
        """`hit` for the ``left`` smallest terms."""
        reach, divisor, gap = self._suffix[left]
        if high < 0 or low > reach:
            return False
        if divisor == 0:  # nothing left: the only sum is 0, and it is inside
            return True
        low = -(-low // divisor) * divisor
        high -= high % divisor
        if low > high:
            return False
        # A window that misses lies strictly between two neighbouring sums.
        if high - low + divisor >= gap:
            return True
        c, m = self._terms[left - 1]
        if left == 2:
            return _in_box(c, m, *self._terms[0], low, high)
        rest = self._suffix[left - 1][0]
        first = max(0, -(-(low - rest) // c))
        last = min(m, high // c)
        self._budget.left -= last - first + 1
        if self._budget.left < 0:
            raise OutOfWork
        return any(self._hit(left - 1, low - c * v, high - c * v) for v in range(first, last + 1))


def _in_box(a: int, m: int, b: int, n: int, low: int, high: int) -> bool:
    """Whether ``low <= a u + b v <= high`` for ``0 <= u <= m``, ``0 <= v <= n``; ``a, b > 0``.

    For each ``u`` the window ``[low - a u, high - a u]`` must hold a multiple of ``b`` between
    0 and ``b n``.  Both ends are multiples themselves, so a window that meets that range and
    holds any multiple holds one inside.
    """
    first = max(0, -(-(low - b * n) // a))
    last = min(m, high // a)
    return _some_residue(first, last, -a, high, b, high - low)


def _some_residue(first: int, last: int, a: int, b: int, m: int, width: int) -> bool:
    """Whether ``(a u + b) mod m <= width`` for some ``first <= u <= last``."""
    count = last - first + 1
    if count <= 0:
        return False
    if width >= m - 1:
        return True
    b += a * first
    for u in range(min(count, 4)):  # cheaper than the sums, and often enough
        if (a * u + b) % m <= width:
            return True
    if count <= 4:
        return False
    return _floor_sum(count, m, a, b) != _floor_sum(count, m, a, b - width - 1)


def _floor_sum(n: int, m: int, a: int, b: int) -> int:
    """Return the sum of ``(a i + b) // m`` over ``0 <= i < n`` in O(log m) steps."""
    total = 0
    while True:
        total += (a // m) * (n * (n - 1) // 2) + (b // m) * n
        a %= m
        b %= m
        top = a * n + b
        if top < m:
            return total
        # Count the lattice points under the line from the other axis.
        n, b = divmod(top, m)
        m, a = a, m
