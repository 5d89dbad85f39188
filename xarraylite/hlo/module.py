"""Modules: whole programs, and the edits that make other programs of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import chain
from typing import Any, Final, cast

from .._errors import HloError
from .._records import record
from .cost.report import ModuleCost
from .cost.weigh import module_cost
from .evaluate import evaluate
from .graph import HloDrawing, draw_module
from .instruction import HloComputation, HloInstruction, edited, own_computation
from .nodes import NO_ATTRIBUTES, callees, callees_first, named, signature_of
from .rules.inference import verify_module
from .text.attributes import print_attribute
from .text.printer import Part, Printer, is_one_operation
from .text.styles import PrintOptions, print_options
from .text.tables import StackFrame, print_tables
from .values import Signature

_set = object.__setattr__

_HEADER: Final = (
    "input_output_alias",
    "buffer_donor",
    "alias_passthrough_params",
    "entry_computation_layout",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "replica_count",
    "num_partitions",
    "frontend_attributes",
    "origin_recovery_table",
)


@record(frozen=True, slots=True, eq=False)
class HloModule:
    """A program: computations, one of which is where it begins.

    Attributes
    ----------
    name : str
        Name of the program.
    computations : tuple of HloComputation
        In definition order: a computation stands before those that call it.
    entry : HloComputation
        Where it begins; the last one unless another is given.
    is_scheduled : bool
        Whether the order of instructions is the one in which they run.
    attributes : mapping
        What else the header says, as typed values.
    stack_frames : tuple of StackFrame
        Places in programs, which the metadata of instructions name by number, from 1.

    Examples
    --------
    >>> import xarraylite as xl
    >>> module = xl.hlo.parse('''
    ... HloModule squares
    ... ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] multiply(x, x) }''')
    >>> print(module)
    HloModule squares, entry_computation_layout={(f32[4]{0})->f32[4]{0}}
    <BLANKLINE>
    ENTRY %main (x: f32[4]) -> f32[4] {
      %x = f32[4]{0} parameter(0)
      ROOT %y = f32[4]{0} multiply(%x, %x)
    }
    <BLANKLINE>
    <BLANKLINE>
    """

    name: str
    computations: tuple[HloComputation, ...]
    entry: HloComputation = cast("HloComputation", None)  # the last one
    is_scheduled: bool = False
    attributes: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRIBUTES)
    stack_frames: tuple[StackFrame, ...] = ()

    def __post_init__(self) -> None:
        listed = tuple(self.computations)
        _set(self, "computations", listed)
        if not listed:
            raise HloError(f"module {self.name} has no computations")
        if cast("HloComputation | None", self.entry) is None:
            _set(self, "entry", listed[-1])
        seen: set[HloComputation] = set()
        for computation in listed:
            for instruction in computation.instructions:
                for callee in instruction.called_computations:
                    if callee not in seen:
                        raise HloError(
                            f"{callee.name} does not stand before {computation.name}, "
                            f"which calls it",
                            instruction=instruction.name,
                        )
            seen.add(computation)
        if self.entry not in seen or len(seen) != len(listed):
            raise HloError(f"{self.entry.name} is no computation of {self.name}, or one is twice")

    @property
    def signature(self) -> Signature:
        """Shapes and layouts in which the program takes its parameters and gives its result."""
        given: Signature | None = self.attributes.get("entry_computation_layout")
        return given if given is not None else signature_of(self.entry)

    def __iter__(self) -> Iterator[HloComputation]:
        return iter(self.computations)

    def __call__(self, *arrays: Any, replicas: int = 1) -> Any:
        """Run the entry computation; see `xarraylite.hlo.evaluate`.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.hlo.parse("f { a = f32[2] parameter(0)  ROOT b = negate(a) }")([1, 2])
        XArray([-1., -2.], dtype=float32)
        """
        return evaluate(self, *arrays, replicas=replicas)

    def cost(self, chip: str | None = "v5e") -> ModuleCost:
        """Return what the program costs: operations, bytes with padding, moves, memory.

        Parameters
        ----------
        chip : str or None, default 'v5e'
            Whose compiler's layouts arrays are taken to have where no array of the module is
            tiled; None for layouts as they are written.

        Raises
        ------
        HloError
            If there is no such chip.

        Examples
        --------
        >>> import xarraylite as xl
        >>> module = xl.hlo.parse(
        ...     "r = bf16[10,300]{1,0:T(8,128)(2,1)} negate(bf16[10,300]{1,0:T(8,128)(2,1)} a)"
        ... )
        >>> cost = module.cost()
        >>> cost.flops, cost.bytes, f"{cost.padding_share:.0%}"
        (3000, 24576, '51%')
        """
        return module_cost(self.entry, self.name, chip)

    def draw(self, chip: str | None = "v5e", memory: bool = False) -> HloDrawing:
        """Draw the graph of the program, or the memory of its entry over time.

        Parameters
        ----------
        chip : str or None, default 'v5e'
            As for `cost`.
        memory : bool, default False
            Draw memory over time.

        Returns
        -------
        HloDrawing
            Notebooks show it; ``save`` writes an SVG file.

        Raises
        ------
        HloError
            If the module has too many instructions to be read.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.hlo.parse("f { a = f32[2] parameter(0)  ROOT b = negate(a) }").draw()
        <HloDrawing of module_f>
        """
        return draw_module(self.post_order(), self.name, self.cost(chip), memory)

    def post_order(self) -> tuple[HloComputation, ...]:
        """Return the computations in the order in which XLA prints them: callees first."""
        called = {callee for each in self.computations for callee in callees(each)}
        return tuple(callees_first([c for c in self.computations if c not in called]))

    def walk(self, *opcodes: str) -> Iterator[HloInstruction]:
        """Iterate over all instructions, those of called computations first.

        Parameters
        ----------
        *opcodes : str
            Operations to be found; all without any.

        Examples
        --------
        >>> import xarraylite as xl
        >>> module = xl.hlo.parse("f { a = f32[] parameter(0)  ROOT b = negate(negate(a)) }")
        >>> [i.name for i in module.walk("negate")]
        ['negate.anon', 'b']
        """
        for computation in self.post_order():
            order = computation.instructions if self.is_scheduled else computation.post_order()
            for instruction in order:
                if not opcodes or instruction.opcode in opcodes:
                    yield instruction

    def find(self, name: str) -> HloInstruction:
        """Return the instruction of a name, with or without ``%``.

        Raises
        ------
        KeyError
            If there is none.
        """
        instructions = chain.from_iterable(self.computations)
        return named(name, instructions, f"module {self.name} has no instruction")

    def computation(self, name: str) -> HloComputation:
        """Return the computation of a name, with or without ``%``.

        Raises
        ------
        KeyError
            If there is none.
        """
        return named(name, self.computations, f"module {self.name} has no computation")

    def replace(self, instruction: HloInstruction, **changes: Any) -> HloModule:
        """Return a module in which an instruction has other fields.

        Parameters
        ----------
        instruction : HloInstruction
            An instruction of this module.
        **changes
            Fields of the instruction: ``name``, ``opcode``, ``shape``, ``operands``,
            ``attributes``, ``called_computations``, ``control_predecessors``, ``metadata``.

        Raises
        ------
        HloError
            If it is no instruction of this module, an operand would stand behind it, or a name is
            taken.  Shapes are not verified.

        Examples
        --------
        >>> import xarraylite as xl
        >>> module = xl.hlo.parse("f { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }")
        >>> print(module.replace(module.find("b"), opcode="abs").find("b"))
        %b = f32[] abs(%a)
        """
        computation = own_computation(self.computations, instruction)
        return edited(self, computation, computation.instructions, changes={instruction: changes})

    def replace_uses(self, old: HloInstruction, new: HloInstruction) -> HloModule:
        """Return a module in which users of one instruction take the result of another.

        Raises
        ------
        HloError
            If they do not stand in the same computation, or a user stands before ``new``.

        Examples
        --------
        >>> import xarraylite as xl
        >>> module = xl.hlo.parse(
        ...     "f { a = f32[] parameter(0)  b = f32[] negate(a)  ROOT c = f32[] abs(b) }"
        ... )
        >>> print(module.replace_uses(module.find("b"), module.find("a")).find("c"))
        %c = f32[] abs(%a)
        """
        computation = own_computation(self.computations, old)
        if own_computation(self.computations, new) is not computation:
            raise HloError(f"{new.name} stands in another computation", instruction=old.name)
        return edited(self, computation, computation.instructions, uses={old: new})

    def insert(self, new: HloInstruction, before: HloInstruction) -> HloModule:
        """Return a module with another instruction, which nobody uses yet.

        Parameters
        ----------
        new : HloInstruction
            It belongs to no computation; its operands are instructions of this module.
        before : HloInstruction
            Where it is to stand.

        Raises
        ------
        HloError
            If an operand does not stand before it, or its name is taken.
        """
        computation = own_computation(self.computations, before)
        at = computation.instructions.index(before)
        order = (*computation.instructions[:at], new, *computation.instructions[at:])
        return edited(self, computation, order)

    def remove(self, instruction: HloInstruction) -> HloModule:
        """Return a module without an instruction that nobody uses.

        Raises
        ------
        HloError
            If somebody uses it, or it is the root.
        """
        computation = own_computation(self.computations, instruction)
        order = [other for other in computation.instructions if other is not instruction]
        return edited(self, computation, order)

    def verify(self) -> HloModule:
        """Check shapes, attributes, called computations and the header; return the module.

        Operations that nothing is known about, such as custom calls, pass.

        Raises
        ------
        HloError
            For the first rule that is broken: it names the instruction, the operation, the shapes
            of its operands, and the rule.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.hlo.parse("r = f32[3] add(f32[2] a, f32[2] b)").verify()
        Traceback (most recent call last):
        ...
        xarraylite._errors.HloError: r: add(f32[2], f32[2]) gives f32[2], not f32[3]
        """
        verify_module(self.computations, self.entry, self.signature, self.attributes)
        return self

    def to_text(self, style: str = "default", **options: Any) -> str:
        """Return the text of the module as XLA prints it.

        Parameters
        ----------
        style : {"default", "short_parsable", "canonical", "fingerprint"}
            A set of options.
        **options
            Options that differ from the style's, with the names of XLA's ``HloPrintOptions``:
            ``print_metadata=False``, ``print_large_constants=True``, ...

        Raises
        ------
        HloError
            If there is no such style or option.

        Examples
        --------
        >>> import xarraylite as xl
        >>> module = xl.hlo.parse("f { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }")
        >>> print(module.to_text("short_parsable").strip())
        HloModule module_f, entry_computation_layout={(f32[])->f32[]}
        <BLANKLINE>
        ENTRY f {
          a = f32[] parameter(0)
          ROOT b = f32[] negate(a)
        }
        """
        return _text(self, print_options(style, options))

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<HloModule {self.name}: {len(self.computations)} computations>"


def _text(module: HloModule, options: PrintOptions) -> str:
    """Return the text of a module."""
    hidden: set[HloComputation] = set()
    fused: set[HloComputation] = set()
    for instruction in chain.from_iterable([c.instructions for c in module.computations]):
        if instruction.opcode == "async-start" and options.syntax_sugar_async_ops:
            hidden.update(filter(is_one_operation, instruction.called_computations))
        elif instruction.opcode == "fusion":
            # Fusions run as a whole: the order inside is nobody's choice.
            fused.update(instruction.called_computations)
    printer = Printer(options)

    def parts() -> Iterator[Part]:
        tab = "  " * options.indent_amount
        header = [f"{tab}HloModule {module.name if options.print_ids else ''}"]
        if module.is_scheduled:
            header.append("is_scheduled=true")
        yield ", ".join([*header, *_header_attributes(module)])
        if options.print_metadata and module.stack_frames:
            yield f"\n\n{print_tables(module.stack_frames)}"
        yield "\n\n"
        canonical = options.canonicalize_computations
        for computation in module.computations if canonical else module.post_order():
            if computation not in hidden:
                head = "ENTRY " if computation is module.entry else ""
                scheduled = module.is_scheduled and computation not in fused
                yield from printer.computation(computation, options.indent_amount, head, scheduled)
                yield "\n\n"

    return printer.text(parts())


def _header_attributes(module: HloModule) -> Iterator[str]:
    given = module.attributes
    for name in (*_HEADER, *[name for name in given if name not in _HEADER]):
        if name in given:
            yield f"{name}={print_attribute('', name, given[name])}"
