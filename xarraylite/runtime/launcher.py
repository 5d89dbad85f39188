"""The compiled `launch`, made when the first small kernel runs."""

from __future__ import annotations

from functools import cache

from ..codegen import machine
from ..codegen.kernel import code_of
from .launch import Launcher, launcher, text


@cache
def _code() -> machine.Code:
    return code_of(text())


def launcher_of(made: bytes) -> Launcher:
    """Return `launch` with a record."""
    return launcher(_code().address, made)
