"""HLO text to modules.

::

    module      = ["HloModule" name attributes tables] computation+
    computation = ["ENTRY"] name ["(" parameters ")" "->" shape] body ["," attribute]
    body        = "{" instruction+ "}"
    instruction = ["ROOT"] name "=" right
    right       = [shape] opcode "(" operands ")" attributes
    operand     = [shape] name | [shape] opcode "(" operands ")" | shape
    attributes  = {"," name "=" value}

A text may also be one instruction, whose operands nobody defines: they become parameters.  Bodies
may stand in place of a computation's name, and instructions without attributes in place of an
operand's.  A shape that is left out is inferred.

Bodies within bodies are read by generators on a list, operands within operands by a loop, so
nothing is as deep as the text.
"""

from __future__ import annotations

import copyreg
import re
from collections.abc import Callable
from itertools import chain
from types import MappingProxyType
from typing import Any

from ..._errors import HloError
from ..._lazy_import import uncollected
from ...xla.spec import ArraySpec
from ..instruction import HloComputation
from ..module import HloModule
from ..nodes import signature_of
from ..values import Signature
from .attribute_reader import Scope
from .attributes import canonical
from .bodies import BodyReader
from .kinds_structured import ORIGIN_ARRAY, origin_parts, print_origin
from .scanner import NAME, SKIP, STRING, Scanner, unescape
from .tables import StackFrame, keep_frames, read_tables

_HEADER = re.compile(rf"{SKIP}HloModule(?=[ \t\r\n/])")
_ENTRY = re.compile(rf"{SKIP}ENTRY(?=[ \t\r\n/%])")
_ATTRIBUTE = re.compile(rf"{SKIP},{SKIP}({NAME}){SKIP}={SKIP}")
_ASSIGNMENT = re.compile(rf"{SKIP}(?:ROOT(?=[ \t\r\n/%]){SKIP})?%?{NAME}{SKIP}=")
# Where an array of an original program comes from: one array of another, and what computes it.
_RECOVERED_ROW = rf"({ORIGIN_ARRAY})\s*:\s*({ORIGIN_ARRAY})\s*(?:,\s*({STRING})\s*)?"
_RECOVERED = re.compile(_RECOVERED_ROW, re.DOTALL)
_RECOVERY = re.compile(rf"\{{\s*(?:{_RECOVERED_ROW})*\}}", re.DOTALL)
_set = object.__setattr__


def parse(text: str) -> HloModule:
    """Read a module, some computations, or one instruction.

    Parameters
    ----------
    text : str
        HLO text.

    Returns
    -------
    HloModule
        What XLA makes of it: names are unique, what is taken for granted is left out.  Shapes
        without a layout have the default one.  An instruction alone becomes the root of an entry
        computation ``_``; its operands become parameters, and a computation that it calls and
        nobody defines becomes one custom call of that name.

    Raises
    ------
    HloError
        If the text is malformed; it says where, which instruction, and what was expected.
        Shapes are not verified: see ``HloModule.verify``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse(
    ...     "add.936 = bf16[8,1280]{1,0:T(8,128)(2,1)} add(exponential.183, broadcast.3115)"
    ... )
    >>> [parameter.name for parameter in module.entry.parameters]
    ['exponential.183', 'broadcast.3115']
    """
    if not isinstance(text, str):
        raise HloError(f"parse: expected text, not {type(text).__name__}")
    # All of what is read is kept: the collector would go through it again and again while more is
    # made, which takes a third of the time.
    with uncollected():
        return _Parser(text).module()


def _reduced(module: HloModule) -> tuple[Callable[[str], HloModule], tuple[str]]:
    """How a module is copied and pickled: as its text, since its objects know one another."""
    text = module.to_text(print_large_constants=True, print_made_up_constants=False)
    return parse, (text,)


copyreg.pickle(HloModule, _reduced)


class _Parser(BodyReader):
    """Reads one text into one module."""

    def __init__(self, text: str) -> None:
        super().__init__(Scanner(text))
        self.entry: HloComputation | None = None
        self.frames: tuple[StackFrame, ...] = ()

    # Modules and computations.

    def module(self) -> HloModule:
        """Read everything."""
        scan = self.scan
        header: dict[str, Any] = {}
        name = ""
        if scan.match(_HEADER):
            name = scan.name("the name of the module")
            if scan.text.startswith(":", scan.at):  # as it may stand behind any name of XLA's
                scan.at += 1
            header = self.header()
            self.frames = read_tables(scan)
        elif self.is_instruction():
            return self.single()
        while True:
            self.computation()
            if scan.skip() == len(scan.text):
                break
        entry = self.entry or self.computations[-1]
        return self.finish(name or f"module_{entry.name}", entry, header)

    def finish(self, name: str, entry: HloComputation, header: dict[str, Any]) -> HloModule:
        """Make the module of what was read."""
        instructions = chain.from_iterable([c.instructions for c in self.computations])
        noted = [(one, one.metadata) for one in instructions if one.metadata is not None]
        kept, numbers = keep_frames(self.frames, [note.stack_frame_id for _, note in noted])
        for instruction, metadata in noted:
            number = numbers.get(metadata.stack_frame_id, 0)  # of one that was dropped
            if number != metadata.stack_frame_id:
                _set(instruction, "metadata", metadata.with_frame(number))
        if "entry_computation_layout" not in header:
            header["entry_computation_layout"] = signature_of(entry)
        scheduled = header.pop("is_scheduled", False)
        attributes = MappingProxyType(canonical("", header, None))
        return HloModule(name, tuple(self.computations), entry, scheduled, attributes, kept)

    def header(self) -> dict[str, Any]:
        """Attributes behind the name of a module."""
        found: dict[str, Any] = {}
        while (match := self.scan.match(_ATTRIBUTE)) is not None:
            name = match[1]
            if name in found:
                self.scan.fail(f"attribute {name} is given twice", match.start(1))
            if name == "origin_recovery_table":
                found[name] = self.recovery_table()
            else:
                found[name] = self.value("", name)
        return found

    def recovery_table(self) -> str:
        """Read how arrays of an original program come from others, with XLA's spaces.

        ``{"a"} : {"b"}`` may be followed by a comma and a module between quotes, which gives the
        first of the second.  XLA prints that module as any other, without escapes.
        """
        text, start = self.scan.value(False)
        if not _RECOVERY.fullmatch(text):
            self.scan.fail('expected {{"a" {0}} : {"b"}, "HloModule ..."}', start)
        rows: dict[tuple[str, tuple[int, ...]], str] = {}
        for array, source, module in _RECOVERED.findall(text):
            key, value = origin_parts(array), origin_parts(source)
            row = f"\n  {print_origin(*key)} : {print_origin(*value)}"
            if module:
                shown = parse(unescape(module[1:-1])).to_text(indent_amount=2)
                row += f',\n  "\n{shown}\n  "'
            rows.setdefault(key, row)
        return f"{{{''.join([rows[key] for key in sorted(rows)])}\n}}\n" if rows else ""

    def is_instruction(self) -> bool:
        """Whether the text is one instruction, with or without a name."""
        scan = self.scan
        return (
            _ASSIGNMENT.match(scan.text, scan.at) is not None
            or scan.next_is("(")
            or self.begins_with_shape()
        )

    def begins_with_shape(self) -> bool:
        """Whether a shape and not a name stands next."""
        scan = self.scan
        at = scan.at
        found = scan.shape() is not None
        scan.at = at
        return found

    def single(self) -> HloModule:
        """Read one instruction, whose operands become parameters."""
        scan = self.scan
        self.alone = True
        scope = Scope("_")
        if _ASSIGNMENT.match(scan.text, scan.at) is None:
            made = self.run(self.right_side(scope, "_"))
        else:
            made = self.run(self.instruction(scope))
        if scan.skip() != len(scan.text):
            scan.fail_found("nothing behind the instruction")
        scope.root = made
        entry = self.complete(scope)
        for computation in [entry, *self.computations[:-1]]:
            self.rename(computation)
        # XLA writes the header of a module that is one instruction in row-major order.
        ends = (*entry.parameters, entry.root)
        shapes = [made.shape.get_with_default_layout() for made in ends]
        layouts = Signature(tuple(shapes[:-1]), shapes[-1])
        header = {"entry_computation_layout": layouts, "is_scheduled": True}
        return self.finish("_", entry, header)

    def computation(self) -> None:
        """Read a computation and what it contains."""
        scan = self.scan
        scan.instruction = ""
        start = scan.skip()
        entry = scan.match(_ENTRY) is not None
        if entry and self.entry is not None:
            scan.fail("a module has one ENTRY", start)
        name_at = scan.skip()
        name = scan.name("the name of a computation")
        if name in self.by_name:
            scan.fail(f"computation {name} is defined already", name_at)
        result, result_at = self.declared_result()
        scan.expect("{", "before the instructions of a computation")
        made = self.run(self.instructions(Scope(name)))
        if result is not None and not result.compatible(made.root.shape):
            scan.fail(
                f"computation {name} gives {result.human_string()}, but its root "
                f"{made.root.name} is {made.root.shape.human_string()}",
                result_at,
            )
        while (match := scan.match(_ATTRIBUTE)) is not None:
            if match[1] != "execution_thread":
                scan.fail(f"a computation has no attribute {match[1]}", match.start(1))
            _set(made, "execution_thread", self.value("", "execution_thread"))
        self.by_name[name] = made
        if entry:
            self.entry = made

    def declared_result(self) -> tuple[ArraySpec | None, int]:
        """Step over ``(p: f32[]) -> f32[]`` and return the last shape and where it stands."""
        scan = self.scan
        if not scan.take("("):
            return None, 0
        first = True
        while not scan.take(")"):
            if not first:
                scan.expect(",", "or ')'")
            scan.name("the name of a parameter")
            scan.expect(":", "behind the name of a parameter")
            if scan.shape() is None:
                scan.fail_found("the shape of a parameter")
            first = False
        scan.expect("->", "before the shape of the result")
        at = scan.skip()
        result = scan.shape()
        if result is None:
            scan.fail_found("the shape of the result")
        return result, at
