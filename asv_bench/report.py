"""Print a table of all benchmarks at full size: medians over interleaved rounds.

Usage: ``python asv_bench/report.py [--check] [part of a benchmark's name]``; ``--check`` exits
with status 1 where a benchmark misses the factor it is wanted to reach.  What other libraries
need, where they are installed, stands at the end of a line with its speed beside NumPy's.
"""

from __future__ import annotations

import argparse
import platform
import sys
from dataclasses import dataclass

import numpy as np
from benchmarks import Comparison, Times
from catalogue import comparisons, tracked

import xarraylite as xl
from xarraylite._config import settings

# Units by the size of a time: (smallest seconds, factor, name).
_UNITS = ((1e-3, 1e3, "ms"), (0.0, 1e6, "µs"))


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table."""

    title: str
    times: Times
    wanted: float | None
    met: bool
    extra: dict[str, float]
    limit: tuple[str, float] | None


def measure(kind: type[Comparison]) -> Row:
    """Run one benchmark at full size."""
    case = kind()
    case.setup()
    try:
        times = case.compare()
        extra = {
            name.removeprefix("track_"): getattr(case, name)()
            for name in tracked(case)
            if name != "track_ratio"
        }
    finally:
        getattr(case, "teardown", lambda: None)()
    met = case.wanted is None or 1 / times.ratio >= case.wanted
    if case.limit:
        name, most = case.limit
        met &= extra[name] <= most
    return Row(case.title, times, case.wanted, met, extra, case.limit)


def show(seconds: float) -> str:
    """A time with three digits and its unit."""
    factor, name = next((f, n) for least, f, n in _UNITS if seconds >= least)
    return f"{seconds * factor:.3g} {name}"


def line(row: Row) -> str:
    """One row as text."""
    wanted = "" if row.wanted is None else f"{row.wanted:.3g}x"
    notes = [] if row.met else ["MISSED"]
    notes += [f"{name} {value:.3g}" for name, value in row.extra.items()]
    for name, seconds in row.times.others.items():
        notes += [f"{name} {show(seconds)}, {row.times.numpy / seconds:.2f}x"]
    notes += ["{} wanted: {:g}".format(*row.limit)] if row.limit else []
    return (
        f"{row.title:<66}{show(row.times.numpy):>10}{show(row.times.xarraylite):>12}"
        f"{1 / row.times.ratio:>8.2f}x{wanted:>8}  {'  '.join(notes)}"
    ).rstrip()


def main() -> int:
    """Print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Time every benchmark against NumPy.")
    parser.add_argument("name", nargs="?", default="", help="part of a benchmark's name")
    parser.add_argument("--check", action="store_true", help="fail where a factor is missed")
    options = parser.parse_args()
    print(
        f"xarraylite {xl.__version__}, NumPy {np.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {settings.threads} threads, medians of rounds in turn"
    )
    print(f"{'case':<66}{'NumPy':>10}{'xarraylite':>12}{'speedup':>9}{'wanted':>8}")
    missed = 0
    for kind in comparisons():
        if options.name in f"{kind.__module__}.{kind.__name__}":
            row = measure(kind)
            missed += not row.met
            print(line(row), flush=True)
    return int(options.check and missed > 0)


if __name__ == "__main__":
    sys.exit(main())
