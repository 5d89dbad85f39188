"""Progress of a long evaluation: shown where somebody can see it, silent elsewhere.

A terminal gets rich's bars, drawn over by a thread of theirs.  In a notebook those would need
widgets; there the same table of bars is one output, which is replaced a few times a second.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any, Self

import numpy as np

from .extras import imported
from .piece import Piece
from .pipeline import Clock

#: Seconds between two pictures in a notebook.
_REPLACED = 0.25


class Progress:
    """A bar for every pass, with rate, bytes, time gone and left, and what it was spent on.

    Parameters
    ----------
    wanted : bool or None
        Whether to show it where there is a terminal or a notebook; None for where rich is installed
        too.

    Attributes
    ----------
    clock : Clock
        Where a run counts what its time is spent on.
    """

    __slots__ = ("_bar", "_bytes", "_task", "clock")

    def __init__(self, wanted: bool | None) -> None:
        if not isinstance(wanted, bool | np.bool_ | None):
            raise TypeError(f"store: progress must be True, False or None, got {wanted!r}")
        self._bar: Any = None
        self._task: Any = None
        self._bytes = 0
        self.clock = Clock()
        if wanted is None:
            seen = sys.stderr.isatty() or "ipykernel" in sys.modules
            wanted = seen and importlib.util.find_spec("rich") is not None
        if wanted:
            self._bar = _bar()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
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
            moved = f"{self._bytes / 1e9:.2f} GB, {rate:,.0f} MB/s\n{stages}"
            self._bar.update(self._task, advance=1, moved=moved)


class _Notebook:
    """Bars of rich's as one output of a notebook.

    Parameters
    ----------
    bars : rich.progress.Progress
        What is shown; it is not started itself.
    """

    __slots__ = ("_bars", "_output", "_shown")

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._output: Any = None
        self._shown = 0.0

    @property
    def tasks(self) -> Any:
        return self._bars.tasks

    def start(self) -> None:
        """Make the output."""
        show = imported("IPython.display", "progress").display
        self._output = show(self._bars.make_tasks_table([]), display_id=True)

    def stop(self) -> None:
        """Leave the last picture."""
        self._show(0.0)

    def add_task(self, what: str, **fields: Any) -> Any:
        """Add a bar."""
        task = self._bars.add_task(what, **fields)
        self._show(0.0)
        return task

    def update(self, task: Any, **fields: Any) -> None:
        """Move a bar."""
        self._bars.update(task, **fields)
        self._show(_REPLACED)

    def _show(self, after: float) -> None:
        now = time.monotonic()
        if now - self._shown >= after:
            self._shown = now
            self._output.update(self._bars.make_tasks_table(self.tasks))


def _bar() -> Any:
    rich, console = imported("rich.progress", "progress"), imported("rich.console", "progress")
    screen = console.Console(stderr=True)
    if not (screen.is_terminal or screen.is_jupyter):
        return None
    column = imported("rich.table", "progress").Column

    def whole() -> Any:  # terminals of 80 columns have no room for more than the numbers
        return column(no_wrap=True)

    bars = rich.Progress(
        rich.TextColumn("{task.description}", table_column=column()),
        rich.BarColumn(bar_width=20),
        rich.MofNCompleteColumn(table_column=whole()),
        rich.TextColumn("{task.fields[moved]}", table_column=whole()),
        rich.TimeElapsedColumn(table_column=whole()),
        rich.TimeRemainingColumn(table_column=whole()),
        console=screen,
    )
    return _Notebook(bars) if screen.is_jupyter else bars
