"""The command line, ``python -m xarraylite``: every command is one row of `COMMANDS`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

from ._errors import XarrayliteError
from .demo import command as demo
from .display import command as layout
from .hlo import command as hlo

BAD_INPUT = 2
INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes
    ----------
    summary : str
        What it does, in one line.
    add_arguments : callable
        Declares its arguments on a parser.
    run : callable
        Takes the package's face and the parsed arguments; returns the exit status.  What it
        cannot do is an error of this package's, or of the system about a file.
    """

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[ModuleType, argparse.Namespace], int]


COMMANDS = {
    "demo": Command(
        "shade and erode a real terrain, and compare with NumPy", demo.add_arguments, demo.run
    ),
    "hlo": Command(
        "show an HLO dump, what it costs, and how it differs from another",
        hlo.add_arguments,
        hlo.run,
    ),
    "layout": Command(
        "say what a layout costs and where its elements lie, and draw it",
        layout.add_arguments,
        layout.run,
    ),
}


def parser(version: str) -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = argparse.ArgumentParser(prog="xarraylite", description="Lazy arrays, fused kernels.")
    top.add_argument("--version", action="version", version=f"xarraylite {version}")
    commands = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, command in COMMANDS.items():
        child = commands.add_parser(name, help=command.summary, description=command.summary)
        command.add_arguments(child)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit status: 2 for what it refuses, in words on stderr."""
    # Commands use the package as its users do.  Only this module, above all others, may ask
    # for its face, and Python has loaded it to get here.
    face = importlib.import_module("xarraylite")
    options = parser(face.__version__).parse_args(arguments)
    try:
        return COMMANDS[options.command].run(face, options)
    except (OSError, XarrayliteError) as error:
        file = getattr(error, "filename", None)
        reason = error if file is None else f"{file}: {getattr(error, 'strerror', error)}"
        print(f"xarraylite {options.command}: {reason}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
