"""Progress of a long evaluation: shown where somebody can see it, silent elsewhere."""

from __future__ import annotations

import importlib.util
import sys
from types import TracebackType
from typing import Any, Self

from .extras import imported
from .pipeline import Clock
from .plan import Piece


class Progress:
    """A bar for every pass, with rate, bytes, time gone and left, and what it was spent on.

    Parameters
    ----------
    wanted : bool or None
        Whether to show it; None for where the terminal or notebook can and rich is installed.

    Attributes
    ----------
    clock : Clock
        Where a run counts what its time is spent on.
    """

    __slots__ = ("_bar", "_bytes", "_task", "clock")

    def __init__(self, wanted: bool | None) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._bytes = 0
        self.clock = Clock()
        if wanted is None:
            wanted = _somebody_looks() and importlib.util.find_spec("rich") is not None
        if wanted:
            self._bar = _bar()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def start(self, what: str, blocks: int) -> None:
        """Begin a pass of so many blocks."""
        if self._bar is not None:
            self._bytes = 0
            self._task = self._bar.add_task(what, total=blocks, moved="")

    def advance(self, piece: Piece) -> None:
        """Count a block that is done."""
        if self._bar is not None:
            self._bytes += piece.inputs + piece.nbytes
            seconds = max(1e-9, self._bar.tasks[-1].elapsed or 0.0)
            rate = self._bytes / seconds / 1e6
            total = max(1e-9, sum(self.clock.waited.values()))
            stages = ", ".join([f"{k} {v / total:.0%}" for k, v in self.clock.waited.items()])
            moved = f"{self._bytes / 1e9:.2f} GB, {rate:,.0f} MB/s; {stages}"
            self._bar.update(self._task, advance=1, moved=moved)


def _somebody_looks() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


def _bar() -> Any:
    bars, console = imported("rich.progress", "progress"), imported("rich.console", "progress")
    return bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[moved]}"),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
        console=console.Console(stderr=True),
    )
