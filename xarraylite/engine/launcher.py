"""The compiled `launch`, made when the first small kernel runs."""

from __future__ import annotations

from functools import cache

from .kernel import machine_code
from .launch import Launcher, launcher, text


@cache
def _address() -> int:
    return machine_code(text(), "launch")


def launcher_of(made: bytes) -> Launcher:
    """Return `launch` with a record."""
    return launcher(_address(), made)
