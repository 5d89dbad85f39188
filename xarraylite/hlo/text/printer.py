"""Modules to HLO text, byte for byte as XLA prints them.

Four styles, which are sets of XLA's options:

- ``default``: what dumps show; long constants are left out.
- ``short_parsable``: no ``%``, no metadata, no parameter lists, constants in full.
- ``canonical``: instructions are numbered, operands have shapes, and what is called stands in place
  of its name.
- ``fingerprint``: canonical without any name, and of constants only those that are all 0, all 1 or
  integers, so that programs that differ in nothing else give the same text.

Bodies within bodies are printed by iterators on a list, so the text may nest as deep as it likes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ..._errors import HloError
from ...xla.spec import ArraySpec
from ..nodes import ComputationNode, InstructionNode
from ..opcodes import OPCODES
from ..values import OpMetadata, ReplicaGroups
from .attributes import print_attribute
from .kinds_basic import print_string
from .kinds_structured import print_frontend, print_metadata, print_typed_literal
from .literals import SHOWN_ELEMENTS, HloLiteral, print_literal
from .scanner import escape
from .sharding import without_metadata
from .styles import PrintOptions

# Bodies in place of names multiply: a chain of computations that call the next one twice.
_LONGEST: Final = 1 << 30
_COMPACT: Final = 4  # operands that are shown where operands are to be compact
_COMMON: Final = frozenset(
    {"sharding", "frontend_attributes", "statistics", "result_accuracy", "origin", "backend_config"}
)
# What calls computations one after another, and not once for each element.
_SEQUENTIAL: Final = frozenset({"call", "conditional", "while"})
# What a program is the same without, as names are.
_NAMELY: Final = frozenset({"parameter_replication", "infeed_config", "outfeed_config"})
# What stands between the parentheses, or behind what is called.
_UNPRINTED: Final = {
    "constant": "literal",
    "parameter": "parameter_number",
    "call": "is_composite",
}

Instruction: TypeAlias = InstructionNode[Any]
Computation: TypeAlias = ComputationNode[Any]
# A piece of text, or a computation whose body stands here at a level of indentation.
Part: TypeAlias = "str | tuple[Computation, int]"
Called: TypeAlias = "tuple[Computation, ...]"


def instruction_text(instruction: Instruction, options: PrintOptions) -> str:
    """Return the text of an instruction alone."""
    printer = Printer(options)
    out: list[Part] = []
    nested = options.is_in_nested_computation
    printer.instruction(out, instruction, {}, options.indent_amount, nested)
    return printer.text(iter(out))


def computation_text(computation: Computation, options: PrintOptions) -> str:
    """Return the text of a computation alone."""
    printer = Printer(options)
    return printer.text(iter(printer.computation(computation, options.indent_amount, "")))


def is_one_operation(computation: Computation) -> bool:
    """Whether a computation applies one operation to its parameters.

    ``negate-start(x)`` stands for an ``async-start`` of such a computation, which text does not
    show.
    """
    root = computation.root
    return root.opcode != "parameter" and all(
        [instr is root or instr.opcode == "parameter" for instr in computation.instructions]
    )


class Printer:
    """Prints with one set of options."""

    def __init__(self, options: PrintOptions) -> None:
        self.options = options
        self.shapes: dict[int, str] = {}  # by identity: the reader makes equal ones once
        self.humans: dict[int, str] = {}
        self.percent = "%" if options.print_percent else ""
        # How many operands are their names and nothing else.
        names = options.print_operand_names and options.print_ids
        plain = not options.print_operand_shape and not options.canonicalize_instruction_names
        every = options.print_operand_index_annotation_interval or _COMPACT
        self.bare = min(every, _COMPACT) if names and plain else 0

    def text(self, parts: Iterator[Part]) -> str:
        """Join pieces, and put bodies where they belong."""
        out: list[str] = []
        stack = [parts]
        length = 0
        while stack:
            for part in stack[-1]:
                if isinstance(part, str):
                    out.append(part)
                    length += len(part)
                    if length > _LONGEST:
                        raise HloError(f"the text has more than {_LONGEST} characters")
                else:
                    stack.append(iter(self.computation(*part, None)))
                    break
            else:
                stack.pop()
        return "".join(out)

    def name(self, name: str) -> str:
        """A name, with its number or without."""
        return self.percent + (name if self.options.print_ids else name.partition(".")[0])

    def shape(self, shape: ArraySpec) -> str:
        """A shape, with its layout or without."""
        if not self.options.include_layout_in_shapes:
            return self.human(shape)
        return self.shapes.get(id(shape)) or self.shapes.setdefault(id(shape), str(shape))

    def computation(
        self, computation: Computation, indent: int, head: str | None, scheduled: bool = False
    ) -> list[Part]:
        """The text of a computation; without a head, as the body that stands for its name."""
        options = self.options
        tab = "  " * indent
        first = tab
        if head is not None:
            first += head
            if not options.is_in_nested_computation:
                first += self.percent + (f"{computation.name} " if options.print_ids else "")
        if options.print_program_shape:
            first += f"{self.program_shape(computation)} "
        out: list[Part] = [f"{first}{{\n"]
        order = computation.instructions if scheduled else computation.post_order()
        numbers: dict[Instruction, str] = {}
        plain, root = f"{tab}  ", computation.root
        for instruction in order:
            out.append(f"{plain}ROOT " if instruction is root else plain)
            self.instruction(out, instruction, numbers, indent + 1, True)
            out.append("\n")
        out.append(f"{tab}}}")
        if options.print_ids and computation.execution_thread != "main":
            out.append(f', execution_thread="{escape(computation.execution_thread)}"')
        # Bodies are what else there may be.
        return ["".join(out)] if options.print_subcomputation_mode == "name_only" else out  # type: ignore[arg-type]

    def program_shape(self, computation: Computation) -> str:
        """Parameters and result of a computation, without layouts."""
        names = [self.name(one.name).removeprefix("%") for one in computation.parameters]
        shapes = [self.human(one.shape) for one in computation.parameters]
        shown = [f"{name}: {shape}" for name, shape in zip(names, shapes, strict=True)]
        return f"({', '.join(shown)}) -> {self.human(computation.root.shape)}"

    def human(self, shape: ArraySpec) -> str:
        """A shape without its layout."""
        known = self.humans.get(id(shape))
        return known or self.humans.setdefault(id(shape), shape.human_string())

    def instruction(
        self,
        out: list[Part],
        instruction: Instruction,
        numbers: dict[Instruction, str],
        indent: int,
        nested: bool,
    ) -> None:
        """Add the text of an instruction; in one piece, unless it has attributes."""
        options = self.options
        left = ""
        if not options.canonicalize_instruction_names:
            left = f"{self.name(instruction.name)} = "
        elif nested:
            left = f"{numbers.setdefault(instruction, f'tmp_{len(numbers)}')} = "
        if options.print_result_shape:
            left += f"{self.shapes.get(id(instruction.shape)) or self.shape(instruction.shape)} "
        shown = opcode = instruction.opcode
        wrapped = None
        if opcode.startswith("async-"):
            wrapped = self.wrapped(instruction)
            shown = opcode if wrapped is None else f"{wrapped.opcode}{opcode[5:]}"
        out.append(f"{left}{shown}({self.operands(instruction, numbers, nested)})")
        given = instruction.attributes
        printed = len(given) > 1 or (given and _UNPRINTED.get(opcode) not in given)
        if printed or instruction.called_computations or instruction.control_predecessors:
            self.attributes(out, instruction, wrapped, indent)
        if instruction.metadata is not None and options.print_metadata:
            self.metadata(out, instruction.metadata)
        if "backend_config" in given and options.print_backend_config:
            config = print_attribute("", "backend_config", given["backend_config"])
            out.append(f", backend_config={config}")

    def metadata(self, out: list[Part], metadata: OpMetadata) -> None:
        """Where an instruction comes from."""
        shown = print_metadata(metadata)
        if shown and self.options.print_metadata_only_op_name:
            name = metadata.op_name
            out.append(f", metadata={{{f'op_name={print_string(name)}' if name else ''}}}")
        elif shown:
            out.append(f", metadata={{{shown}}}")

    def wrapped(self, instruction: Instruction) -> Instruction | None:
        """The operation that an asynchronous one runs, where that is all it runs."""
        if not instruction.called_computations or not self.options.syntax_sugar_async_ops:
            return None
        called = instruction.called_computations[0]
        return called.root if is_one_operation(called) else None

    def operands(
        self, instruction: Instruction, numbers: dict[Instruction, str], nested: bool
    ) -> str:
        """What stands between the parentheses."""
        if instruction.opcode == "parameter":
            return str(instruction.parameter_number)
        if instruction.opcode == "constant":
            return self.constant(instruction.literal)
        options = self.options
        operands = instruction.operands
        if self.bare and len(operands) <= self.bare:
            percent = self.percent
            return ", ".join([f"{percent}{operand.name}" for operand in operands])
        shown = operands[:_COMPACT] if options.compact_operands else operands
        texts = []
        for operand in shown:
            words = [self.shape(operand.shape)] if options.print_operand_shape else []
            if options.canonicalize_instruction_names:
                if nested:
                    words.append(numbers.setdefault(operand, f"tmp_{len(numbers)}"))
            elif options.print_operand_names:
                words.append(self.name(operand.name))
            texts.append(" ".join(words))
        every = options.print_operand_index_annotation_interval
        if every and len(texts) > every:
            for k in range(every, len(texts), every):
                texts[k] = f"/*index={k}*/{texts[k]}"
        if len(shown) < len(operands):
            texts.append(f"...(+{len(operands) - len(shown)})")
        return ", ".join(texts)

    def constant(self, literal: HloLiteral) -> str:
        """The value of a constant, or that there is one."""
        if self.options.print_only_essential_constants:
            return essential(literal)
        sizes = literal.shape.dimensions
        small = not literal.shape.is_tuple and prod(sizes) <= SHOWN_ELEMENTS
        if not (small or self.options.print_large_constants):
            return "{...}"
        return print_literal(literal, self.options.print_made_up_constants)

    def attributes(
        self,
        out: list[Part],
        instruction: Instruction,
        wrapped: Instruction | None,
        indent: int,
    ) -> None:
        """The attributes of an operation and what it calls, and what any instruction may have."""
        options = self.options
        given = instruction.attributes
        opcode = instruction.opcode
        if options.print_extra_attributes:
            late = "output_to_operand_aliasing" if wrapped is not None else ""
            out.append(self.own_attributes(instruction, late))
            if wrapped is not None and opcode == "async-start":
                out.append(self.own_attributes(wrapped))
                self.calls(out, wrapped, indent)
            if late in given:
                out.append(f", {late}={print_attribute(opcode, late, given[late])}")
        if wrapped is None or options.print_subcomputation_mode != "name_only":
            self.calls(out, instruction, indent)
        if opcode == "call" and given.get("is_composite"):
            out.append(", is_composite=true")
        if "sharding" in given:
            sharding = given["sharding"]
            out.append(
                f", sharding={sharding if options.print_metadata else without_metadata(sharding)}"
            )
        if "frontend_attributes" in given and options.print_frontend_attributes:
            out.append(f", frontend_attributes={print_frontend(given['frontend_attributes'])}")
        if options.print_control_dependencies and instruction.control_predecessors:
            names = [self.name(before.name) for before in instruction.control_predecessors]
            out.append(f", control-predecessors={{{', '.join(names)}}}")
        for name in ("statistics", "result_accuracy"):
            if name in given:
                out.append(f", {name}={print_attribute(opcode, name, given[name])}")
        if "origin" in given and options.print_original_value:
            out.append(f", origin={given['origin']}")

    def own_attributes(self, instruction: Instruction, but: str = "") -> str:
        """The attributes of the operation itself, and those that nobody knows."""
        given = instruction.attributes
        opcode = instruction.opcode
        names = [name for name in OPCODES[opcode].attributes if name in given]
        if len(names) < len(given):
            names += [name for name in given if name not in names and name not in _COMMON]
        shown, hidden = [], _UNPRINTED.get(opcode)
        for name in names:
            if name in (but, hidden):
                continue
            value = given[name]
            if name == "replica_groups" and self.options.print_full_replica_group_list:
                value = ReplicaGroups(value.expanded())
            if name == "literal":
                text = print_typed_literal(value, self.options.print_made_up_constants)
                shown.append(f", literal={text}")
            elif self.options.print_ids or name not in _NAMELY:
                shown.append(f", {name}={print_attribute(opcode, name, value)}")
        return "".join(shown)

    def calls(self, out: list[Part], instruction: Instruction, indent: int) -> None:
        """The computations that an instruction calls, by name or with their bodies."""
        called = instruction.called_computations
        opcode = instruction.opcode
        if not called or opcode in ("async-update", "async-done"):
            return
        roles = _roles(instruction)
        mode = self.options.print_subcomputation_mode
        if mode == "off" or (mode == "non_sequential_bodies" and opcode in _SEQUENTIAL):
            return
        bodies = mode != "name_only"
        if bodies and opcode in ("reduce-scatter", "scan"):
            roles = {"calls": called}
        for role, computations in roles.items():
            listed = role in ("branch_computations", "called_computations")
            if not bodies:
                names = ", ".join([self.name(computation.name) for computation in computations])
                out.append(f", {role}={{{names}}}" if listed else f", {role}={names}")
                continue
            out.append(f", {role}={{\n" if listed else f", {role}=\n")
            for k, computation in enumerate(computations):
                out.append((",\n" if listed else ", ") if k else "")
                out.append((computation, indent))
            out.append("\n}" if listed else "")


def _roles(instruction: Instruction) -> dict[str, Called]:
    """What an instruction calls, by the attribute that names it, in printing order."""
    called = instruction.called_computations
    opcode = instruction.opcode
    if opcode == "while":
        return {"condition": called[1:], "body": called[:1]}
    if opcode == "conditional":
        if instruction.operands[0].shape.element_type.name == "pred":
            return {"true_computation": called[:1], "false_computation": called[1:]}
        return {"branch_computations": called}
    if opcode == "select-and-scatter":
        return {"select": called[:1], "scatter": called[1:]}
    return {OPCODES[opcode].calls[0]: called}


def essential(literal: HloLiteral) -> str:
    """What the fingerprint of a program knows of a constant.

    Negative zeros are no zeros, and some element types have neither 0 nor 1.
    """
    values = literal.printed
    if values is None:
        empty = literal.shape.is_tuple and not literal.elements
        return print_literal(literal) if empty else "{...}"
    for number in (0, 1):
        known = complex(values.dtype.type(number)) == number
        alike = np.full(values.shape, number).astype(values.dtype)
        if known and values.tobytes() == alike.tobytes():
            return str(number)
    return print_literal(literal) if literal.shape.element_type.is_integral else "{...}"
