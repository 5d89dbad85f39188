"""Threads of tests."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread


def run_all(threads: Sequence[Thread]) -> None:
    """Start threads, and wait for all of them."""
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
