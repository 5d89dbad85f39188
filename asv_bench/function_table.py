"""Print each public function's time over NumPy's, at 10, 1000 and 1 000 000 elements.

Usage: ``python asv_bench/function_table.py``
"""

from __future__ import annotations

from benchmarks.functions import SIZES, table


def main() -> None:
    ratios: dict[str, dict[int, float]] = {}
    for name, n, times in table():
        ratios.setdefault(name, {})[n] = times.ratio
    print(f"{'call':40}" + "".join(f"{f'n = {n}':>14}" for n in SIZES))
    for name, row in ratios.items():
        print(f"{name:40}" + "".join(f"{row[n]:14.2f}" for n in SIZES))


if __name__ == "__main__":
    main()
