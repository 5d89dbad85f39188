"""Budgets: bytes that may be in flight, as they are given, and what is said of too small ones."""

from __future__ import annotations

import os
from typing import Any

from .._errors import SizeError
from ..dtypes.names import dtype_name
from ..ir.build import describe

#: Budget where none is given, at most; and the part of the machine's memory that is free to use.
DEFAULT_BUDGET = 2 << 30
_SHARE = 4

#: Bytes that libraries may have for themselves, as they do of chunks of some megabytes.
BESIDES = 64 << 20

_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}


class BudgetError(SizeError):
    """A budget that does not do for one block.

    Attributes
    ----------
    least : int
        Bytes that would do.
    """

    def __init__(self, told: str, budget: int, least: int) -> None:
        super().__init__(
            f"{told}; the budget is {budget} bytes (memory=), and the least that does is {least}"
        )
        self.told, self.budget, self.least = told, budget, least

    def __reduce__(self) -> Any:
        return BudgetError, (self.told, self.budget, self.least)


def too_small(piece: Any, budget: int, need: int = 0) -> BudgetError:
    """Return the error of a budget that does not do for one block."""
    least = need or piece.need
    operands = dict.fromkeys(
        [f"{x.source} {dtype_name(x.source.dtype)}{list(x.source.shape)}" for x in piece.loads]
    )
    reads = f"reads {piece.inputs} bytes of {', '.join(operands)} and " if operands else ""
    told = f"a block {describe(piece.node)} {reads}needs {least} bytes in flight"
    return BudgetError(told, budget, least)


def budget_of(memory: int | str | None) -> int:
    """Return a budget in bytes, given as a number or as text such as ``"2 GiB"``.

    Raises
    ------
    ValueError
        For any other text, or less than one byte.
    """
    if memory is None:
        return min(DEFAULT_BUDGET, max(64 << 20, _physical() // _SHARE))
    try:
        value = float(_scaled(memory) if isinstance(memory, str) else memory)
        nbytes = -1 if isinstance(memory, bool) else int(value)
    except (KeyError, OverflowError, TypeError, ValueError):
        nbytes = -1
    if nbytes < 1:
        raise ValueError(
            f"memory: {memory!r} is no amount of memory; give bytes, one at least, or text as "
            "'2 GiB'"
        )
    return nbytes


def _scaled(memory: str) -> float:
    text = memory.strip().lower().replace(" ", "")
    number = text.rstrip("kmgtib")
    unit = text[len(number) :]
    base = 1024 if unit.endswith("ib") else 0
    letter = unit.removesuffix("ib").removesuffix("b") or ""
    scale = _UNITS[letter]
    return float(number) * (base ** (len(str(scale)) // 3) if base and letter else scale)


def _physical() -> int:
    if not hasattr(os, "sysconf") or "SC_PHYS_PAGES" not in os.sysconf_names:
        return DEFAULT_BUDGET * _SHARE
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
