"""The command ``python -m xarraylite hlo``: a dump as a tree, its costs, pictures, comparisons."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType

from .._errors import InputError, XarrayliteError
from ..xla.formats import CHIPS
from .cost.diff import Difference, differences
from .cost.report import Block, show, tree_lines
from .instruction import HloInstruction
from .module import HloModule
from .text.parser import parse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of `run`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="HLO text; - for standard input")
    parser.add_argument("--cost", action="store_true", help="say what the program costs")
    parser.add_argument(
        "--chip", choices=sorted(CHIPS), default="v5e",
        help="whose layouts are meant where the text has no tiles (default: v5e)",
    )  # fmt: skip
    parser.add_argument("--draw", type=Path, metavar="OUT.svg", help="draw the graph")
    parser.add_argument("--memory", type=Path, metavar="OUT.svg", help="draw memory over time")
    parser.add_argument(
        "--filter", default="", metavar="TEXT",
        help="show only instructions with this in their name, opcode or shape",
    )  # fmt: skip
    parser.add_argument("--diff", type=Path, metavar="OTHER", help="compare with another file")
    parser.add_argument("--json", action="store_true", help="write costs or differences as JSON")


def run(face: ModuleType, options: argparse.Namespace) -> int:
    """Report on a program.

    Parameters
    ----------
    face : module
        The package's face, which is not needed here.
    options : argparse.Namespace
        Values of the arguments that `add_arguments` declares.

    Returns
    -------
    int
        Exit status: 0.

    Raises
    ------
    InputError, OSError
        For what cannot be read, naming the file.
    HloError
        For what cannot be reported on.
    """
    show(list(_blocks(_read(options.file), options)))
    return 0


def _read(file: Path) -> HloModule:
    try:
        data = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return parse(data.decode("utf-8"))
    except (UnicodeDecodeError, XarrayliteError) as error:
        raise InputError(f"{file}: {error}") from None


def _blocks(module: HloModule, options: argparse.Namespace) -> Iterable[Block]:
    """Everything is found out before anything is printed."""
    cost = module.cost(chip=options.chip)
    for target, memory in ((options.draw, False), (options.memory, True)):
        if target is not None:
            module.draw(chip=options.chip, memory=memory).save(target)
    if options.diff is not None:
        found = list(differences(module.post_order(), _read(options.diff).post_order()))
        return [_as_json(found)] if options.json else [*map(str, found), _count(found)]
    if options.json:
        return [json.dumps(cost.to_dict(options.filter), indent=1)]
    tree = tree_lines(
        module.post_order(), module.entry, options.filter, cost if options.cost else None
    )
    return [*tree, "", *(cost.blocks() if options.cost else [cost.summary])]


def _as_json(found: Sequence[Difference]) -> str:
    def shown(side: HloInstruction | None) -> str | None:
        return None if side is None else f"{side.name} {side.shape}"

    rows = [{"kind": d.kind, "before": shown(d.before), "after": shown(d.after)} for d in found]
    return json.dumps(rows, indent=1)


def _count(found: Sequence[Difference]) -> str:
    kinds = [item.kind for item in found]
    counts = [f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)]
    return f"{len(found)} differences" + (f": {', '.join(counts)}" if counts else "")
