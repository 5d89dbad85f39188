"""Lines and tables for people: drawn by rich in a terminal, plain text elsewhere."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Table(NamedTuple):
    """Rows of cells, the first of which are the columns' heads; numbers stand on the right."""

    rows: tuple[tuple[str, ...], ...]


Block: TypeAlias = "str | Table"
"""A line, or a table."""


def bytes_text(count: int) -> str:
    """Return a number of bytes for people.

    Examples
    --------
    >>> from xarraylite.hlo.cost.show import bytes_text
    >>> bytes_text(512), bytes_text(3 * 2**20)
    ('512 B', '3.0 MiB')
    """
    size, unit = float(count), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{count} B" if not unit else f"{size:.1f} {_UNITS[unit]}"


def plain(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield lines of text; tables are indented."""
    for block in blocks:
        if isinstance(block, str):
            yield block
            continue
        widths = [max(map(len, column)) for column in zip(*block.rows, strict=True)]
        for first, *others in block.rows:
            cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
            yield "  " + "  ".join([first.ljust(widths[0]), *cells]).rstrip()


def show(blocks: Iterable[Block]) -> None:
    """Write to the standard output."""
    if not (sys.stdout.isatty() and importlib.util.find_spec("rich")):
        sys.stdout.write("\n".join([*plain(blocks), ""]))
        return
    tables: Any = importlib.import_module("rich.table")
    console = importlib.import_module("rich.console").Console(file=sys.stdout)
    for block in blocks:
        if isinstance(block, str):
            console.print(block, markup=False, highlight=False, soft_wrap=True)
            continue
        table = tables.Table(box=importlib.import_module("rich.box").SIMPLE_HEAD)
        for k, name in enumerate(block.rows[0]):
            table.add_column(name, justify="right" if k else "left", overflow="fold")
        for row in block.rows[1:]:
            table.add_row(*row)
        console.print(table, markup=False, highlight=False)
