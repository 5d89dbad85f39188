"""The constants of the array API standard."""

from __future__ import annotations

import math

e: float = math.e
"""Euler's number."""

pi: float = math.pi
"""Half the circumference of the unit circle."""

inf: float = math.inf
"""Positive infinity."""

nan: float = math.nan
"""Not a number."""

euler_gamma: float = 0.5772156649015329
"""The Euler-Mascheroni constant."""

newaxis: None = None
"""Inserts a dimension of extent 1 in an index."""
