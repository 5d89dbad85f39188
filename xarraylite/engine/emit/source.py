"""A list of lines with an indentation level."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Source:
    """Collects lines of a function; ``with source.block("for …:")`` indents."""

    __slots__ = ("_depth", "_lines")

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str) -> None:
        """Append one line at the current depth."""
        self._lines.append("    " * self._depth + text)

    def lines(self, *texts: str) -> None:
        """Append several lines."""
        for text in texts:
            self.line(text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Append ``head`` and indent what follows inside the ``with``."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def text(self) -> str:
        """Return everything as one string."""
        return "\n".join(self._lines) + "\n"
