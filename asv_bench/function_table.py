"""Print each public function's time over NumPy's, at 10, 1000 and 1 000 000 elements.

Usage: ``python asv_bench/function_table.py [dtypes [n]]``; the latter are at 10 elements, or n.

A call may take 4 times as long as NumPy's of few elements, and 1.1 times of a million.  What takes
NumPy no longer of many than of ten (views, shapes, matrices of 4 x 4, memory that is not filled) is
a call of few at any n: its limit stays 4, as there is nothing but the call.  A row is taken for one
by what is measured, NumPy's own time, and not by a list.  Below the table stands what is above.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from benchmarks import Times
from benchmarks.functions import DTYPES, SIZES, table, table_of_dtypes

#: How many times as long as one of ten NumPy's call takes whose time grows with the elements.
_LONGER = 2


def show(found: Iterable[tuple[str, Any, Any]], columns: list[Any], head: str) -> None:
    """Print a table with a row for each call; a column is left open where there is no such call."""
    rows: dict[str, dict[Any, Times]] = {}
    for name, column, times in found:
        rows.setdefault(name, {})[column] = times
    print(f"{'call':40}" + "".join(f"{head + str(column):>14}" for column in columns))
    for name, row in rows.items():
        cells = [f"{row[c].ratio:14.2f}" if c in row else " " * 14 for c in columns]
        print(f"{name:40}" + "".join(cells))
    if columns is SIZES:
        for n in columns:
            above = [name for name, row in rows.items() if row[n].ratio > limit(row, n)]
            print(f"above the limit at {n}: {len(above)}", *above, sep="\n    ")


def limit(row: dict[Any, Times], n: int) -> float:
    """Return the most that a call of n elements may take, times NumPy's time."""
    grows = row[n].numpy > _LONGER * row[SIZES[0]].numpy
    return 1.1 if n >= 1_000_000 and grows else 4.0


def main() -> None:
    if "dtypes" in sys.argv[1:]:
        show(table_of_dtypes(int((sys.argv[2:] or ["10"])[0])), DTYPES, "")
    else:
        show(table(), SIZES, "n = ")


if __name__ == "__main__":
    main()
