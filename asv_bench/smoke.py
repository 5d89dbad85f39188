"""Run every benchmark once at small sizes: they import, agree with NumPy and yield numbers.

Usage: ``python asv_bench/smoke.py [part of a benchmark's name]``.
"""

from __future__ import annotations

import atexit
import math
import os
import shutil
import sys
import tempfile
import time
import traceback
import warnings

os.environ["XARRAYLITE_BENCH_SMALL"] = "1"  # read when `benchmarks` is imported
if "XARRAYLITE_CACHE_DIR" not in os.environ:
    os.environ["XARRAYLITE_CACHE_DIR"] = tempfile.mkdtemp(prefix="xarraylite-smoke-")
    atexit.register(shutil.rmtree, os.environ["XARRAYLITE_CACHE_DIR"], ignore_errors=True)

from benchmarks import Comparison
from catalogue import comparisons, tracked


def run_once(kind: type[Comparison]) -> None:
    """Set a benchmark up, check its two sides against each other, take each number once."""
    case = kind()
    case.setup()
    try:
        if not case.agree():
            raise AssertionError("the two sides disagree")
        for name in tracked(case):
            value = getattr(case, name)()
            if not math.isfinite(value):
                raise AssertionError(f"{name} is {value}")
    finally:
        getattr(case, "teardown", lambda: None)()


def main(wanted: str = "") -> int:
    """Run all benchmarks; return the number that failed."""
    warnings.simplefilter("error")
    failed = ran = 0
    start = time.perf_counter()
    for kind in comparisons():
        name = f"{kind.__module__.removeprefix('benchmarks.')}.{kind.__name__}"
        if wanted not in name:
            continue
        ran += 1
        try:
            run_once(kind)
        except Exception:
            failed += 1
            print(f"FAILED {name}", file=sys.stderr)
            traceback.print_exc()
    seconds = time.perf_counter() - start
    print(f"benchmarks: {ran - failed} of {ran} ran at small sizes in {seconds:.1f} s")
    return failed or int(ran == 0)


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:]), 1))
