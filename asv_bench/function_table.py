"""Print each public function's time over NumPy's, at 10, 1000 and 1 000 000 elements.

Usage: ``python asv_bench/function_table.py [dtypes [n]]``; the latter are at 10 elements, or n.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from benchmarks.functions import DTYPES, SIZES, table, table_of_dtypes


def show(found: Iterable[tuple[str, Any, Any]], columns: list[Any], head: str) -> None:
    """Print a table with a row for each call; a column is left open where there is no such call."""
    ratios: dict[str, dict[Any, float]] = {}
    for name, column, times in found:
        ratios.setdefault(name, {})[column] = times.ratio
    print(f"{'call':40}" + "".join(f"{head + str(column):>14}" for column in columns))
    for name, row in ratios.items():
        cells = [f"{row[c]:14.2f}" if c in row else " " * 14 for c in columns]
        print(f"{name:40}" + "".join(cells))


def main() -> None:
    if "dtypes" in sys.argv[1:]:
        show(table_of_dtypes(int((sys.argv[2:] or ["10"])[0])), DTYPES, "")
    else:
        show(table(), SIZES, "n = ")


if __name__ == "__main__":
    main()
