"""Attributes of instructions: typed values, and the computations that are called.

Names are unique, made as XLA makes them: one that is taken gets a number behind a dot.  A second
``x`` is ``x.1``, or the next number that is free.  A name that ends in one asks for that number.

What a text of one instruction leaves undefined, and computations that text only names.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from ..._errors import XarrayliteError
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction, parameter
from ..opcodes import ACCURATE, OPCODES
from ..values import OpMetadata
from .attributes import kind_of, read_attribute
from .kinds_structured import read_typed_literal
from .literals import HloLiteral
from .made_up import Filler
from .scanner import NAME, SKIP, Scanner

# Operations whose operands have the shape of the result.
_SAME_NAMES = """
abs all-reduce bitcast clamp collective-permute copy opt-barrier reduce-precision reverse
"""
_SAME_SHAPE: Final = frozenset(
    [*_SAME_NAMES.split(), *[row.name for row in OPCODES.values() if row.elements]]
)


def guess_operand_shape(opcode: str, result: ArraySpec | None, position: int) -> ArraySpec:
    """Return the shape of an operand that nobody defines.

    Elementwise operations have operands like their result.  What else an operand may be does not
    follow: it is an opaque value.

    Examples
    --------
    >>> from xarraylite.hlo.text.attribute_reader import guess_operand_shape
    >>> from xarraylite.xla.spec import ArraySpec
    >>> print(guess_operand_shape("add", ArraySpec.parse("f32[2]{0:T(256)}"), 1))
    f32[2]{0:T(256)}
    """
    if result is None:
        return ArraySpec.opaque()
    if opcode in _SAME_SHAPE or (opcode == "select" and position):
        return result
    if opcode == "select":
        return ArraySpec("pred", result.dimensions, result.layout, dynamic=result.dynamic)
    if opcode == "tuple" and position < len(result.tuple_shapes):
        return result.tuple_shapes[position]
    return ArraySpec.opaque()


def _parameters(name: str, operands: tuple[HloInstruction, ...]) -> tuple[HloInstruction, ...]:
    """Return a parameter for each operand; a name may have a place for its number."""
    return tuple([parameter(name.format(k), x.shape, k) for k, x in enumerate(operands)])


def undefined_computation(
    name: str, operands: tuple[HloInstruction, ...], result: ArraySpec
) -> HloComputation:
    """Return a computation that hands its parameters to a custom call of its own name."""
    parameters = _parameters("param_{}", operands)
    attributes = MappingProxyType({"custom_call_target": name})
    root = HloInstruction("custom-call", "custom-call", result, parameters, attributes)
    return HloComputation(name, (*parameters, root))


def wrap_operation(start: Draft, result: ArraySpec) -> HloComputation:
    """Return the computation that an asynchronous operation such as ``negate-start`` runs.

    The attributes become those of the operation that is wrapped.
    """
    opcode, attributes = start.wrapped, start.attributes
    parameters = _parameters("async_param", tuple(start.operands))
    own: dict[str, Any] = {name: attributes[name] for name in _OF_THE_START if name in attributes}
    inner = MappingProxyType({name: value for name, value in attributes.items() if name not in own})
    attributes.clear()
    attributes.update(own)
    root = HloInstruction(opcode, opcode, result, parameters, inner, start.called)
    return HloComputation("async_wrapped", (*parameters, root))


def hand_on(
    wrapped: HloInstruction, attributes: dict[str, Any], metadata: OpMetadata | None
) -> None:
    """Say of the operation that is wrapped what an asynchronous one, or its end, says of itself."""
    said = {name: attributes[name] for name in _OF_BOTH if name in attributes}
    if said:
        object.__setattr__(wrapped, "attributes", MappingProxyType({**wrapped.attributes, **said}))
    if metadata is not None:
        object.__setattr__(wrapped, "metadata", metadata)


_OF_BOTH: Final = ("backend_config", "frontend_attributes", "origin", "statistics")
_OF_THE_START: Final = (
    *_OF_BOTH,
    "async_execution_thread",
    "output_to_operand_aliasing",
    "sharding",
)


_NUMBERED = re.compile(r"(.+)\.([+-]?[0-9]{1,20})", re.DOTALL)


class NameTable:
    """Names that are taken.

    Examples
    --------
    >>> from xarraylite.hlo.text.attribute_reader import NameTable
    >>> table = NameTable()
    >>> [table.unique(name) for name in ["x", "x.1", "x", "y.3", "y", "x"]]
    ['x', 'x.1', 'x.2', 'y.3', 'y', 'x.3']
    """

    __slots__ = ("_next", "_taken")

    def __init__(self) -> None:
        self._taken: set[tuple[str, int]] = set()
        self._next: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Return a name that is not taken yet, the given one if it may be, and take it."""
        root, number, numbered = name, 0, False
        if name[-1].isdigit() and "." in name:
            match = _NUMBERED.fullmatch(name)
            if match is not None and -(2**63) <= int(match[2]) < 2**63:
                root, number, numbered = match[1], int(match[2]), True
        taken = self._taken
        if (root, number) in taken:
            number = self._next.get(root, 0)
            while (root, number) in taken:
                number += 1
            self._next[root] = number + 1
        taken.add((root, number))
        if number == 0:
            return f"{root}.0" if numbered else root
        return f"{root}.{number}"


_ATTRIBUTE = re.compile(rf"{SKIP},{SKIP}({NAME})={SKIP}")
_set = object.__setattr__

Called: TypeAlias = tuple[HloComputation, ...]


class Scope:
    """What is known while a computation is read."""

    __slots__ = ("instructions", "name", "names", "root")

    def __init__(self, name: str) -> None:
        self.name = name
        self.names: dict[str, HloInstruction] = {}
        self.instructions: list[HloInstruction] = []
        self.root: HloInstruction | None = None


class Draft:
    """What has been read of an instruction: its operands begin at a place of the text."""

    wrapped = ""  # what ``add-start`` wraps
    at = 0
    operands: Sequence[HloInstruction] = ()
    called: Called = ()
    extra: Mapping[str, Any] = MappingProxyType({})
    """What every operation may have: metadata, and what must run before."""

    def __init__(self, opcode: str, shape: ArraySpec | None) -> None:
        self.opcode, self.shape = opcode, shape
        self.attributes: dict[str, Any] = {}


class AttributeReader:
    """Reads attributes, and collects the computations that bodies become.

    Parameters
    ----------
    scan : Scanner
        The text.
    """

    def __init__(self, scan: Scanner) -> None:
        self.scan = scan
        self.computations: list[HloComputation] = []
        self.by_name: dict[str, HloComputation] = {}
        self.alone = False  # whether the text is one instruction
        self.computation_names = NameTable()
        self.instruction_names = NameTable()
        self.given: list[str] = []  # names of instructions as they were given, in order
        self.anonymous: NameTable | None = None
        self.fitting: set[tuple[int, int]] = set()
        self.literals: dict[tuple[str, int] | None, HloLiteral] = {}
        self.filler = Filler()
        self.values: dict[tuple[str, str], Any] = {}  # values of attributes by kind and text

    def adopt(self, made: HloComputation) -> None:
        """Keep a computation, and give it names that are unique in the module.

        The computation around an instruction alone comes last and has its names all the same.
        """
        self.computations.append(made)
        if not self.alone:
            self.rename(made)

    def rename(self, made: HloComputation) -> None:
        """Give a computation and its instructions unique names."""
        unique = self.instruction_names.unique
        for instruction in made.instructions:
            _set(instruction, "name", unique(instruction.name))
        _set(made, "name", self.computation_names.unique(made.name))

    # Attributes.

    def attributes(self, scope: Scope, draft: Draft) -> Generator[None, HloComputation, None]:
        """Read attributes, and the computations among them.

        The computations stand in the order in which the operation calls them.
        """
        scan = self.scan
        row, wrapped = OPCODES[draft.opcode], draft.wrapped
        # `fusion-start` and `async-start` call by the same word.
        calls = tuple(dict.fromkeys(row.calls + (OPCODES[wrapped].calls if wrapped else ())))
        called: dict[str, Called] = {}
        attributes = draft.attributes
        extra: dict[str, Any] = {}
        draft.extra = extra
        at = scan.at
        while (match := scan.match(_ATTRIBUTE)) is not None:
            name = match[1]
            if name in attributes or name in called or name in extra:
                scan.fail(f"attribute {name} is given twice", match.start(1))
            if name in calls:
                instruction = scan.instruction
                called[name] = yield from self.callees(name, draft)
                scan.instruction = instruction
            elif name == "metadata":
                text, start = scan.value(False)
                extra[name] = self.read("metadata", text, start)
            elif name == "control-predecessors":
                extra[name] = self.predecessors(scope)
            elif name == "result_accuracy" and draft.opcode not in ACCURATE:
                scan.fail(f"{draft.opcode} has no attribute {name}", match.start(1))
            else:
                attributes[name] = self.value(wrapped or draft.opcode, name)
        for name in row.required:
            if not (name in attributes or name in called or self.implied(draft, name)):
                scan.fail(f"{draft.opcode} needs the attribute {name}", at)
        if (wrapped or draft.opcode) == "custom-call":
            self.custom_call(draft, called, at)
        elif draft.opcode == "conditional" and draft.operands:
            listed = draft.operands[0].shape.element_type.name != "pred"
            if listed != ("branch_computations" in called):
                scan.fail(
                    "a pred[] chooses between true_computation and false_computation, "
                    "another operand one of branch_computations",
                    at,
                )
        draft.called = tuple([c for name in calls for c in called.get(name, ())])

    def custom_call(self, draft: Draft, called: dict[str, Called], at: int) -> None:
        """Do with the attributes of a custom call what XLA's reader does.

        A single computation takes the place of a list, and where layouts of the operands are
        asked for, which must be layouts of their shapes, both are forgotten.
        """
        wanted = draft.attributes.get("operand_layout_constraints")
        if wanted is not None:
            called.clear()
            shapes = [operand.shape for operand in draft.operands]
            fits = len(shapes) == len(wanted) and all(map(self.fits, wanted, shapes))
            if not fits:
                self.scan.fail(
                    "operand_layout_constraints has one shape for each operand, with its sizes "
                    "and element type",
                    at,
                )
        elif "to_apply" in called:
            called.pop("called_computations", None)

    def fits(self, shape: ArraySpec, found: ArraySpec) -> bool:
        """Whether an operand has the shape it is said to have, asked once for each pair."""
        pair = (id(shape), id(found))  # the shapes of a text are kept until it is read
        if pair not in self.fitting and not shape.compatible(found):
            return False
        self.fitting.add(pair)
        return True

    @staticmethod
    def implied(draft: Draft, name: str) -> bool:
        """Whether an attribute that must be there follows from the rest."""
        if draft.opcode == "broadcast" and name == "dimensions":
            return not draft.operands[0].shape.rank
        return draft.opcode == "async-start" and bool(draft.wrapped)

    def value(self, opcode: str, name: str) -> Any:
        """The typed value of an attribute behind its equals sign."""
        kind = kind_of(opcode, name)
        text, start = self.scan.value(kind in ("backend_config", "frontend_attributes"))
        if kind == "literal" and not text.startswith("("):
            text += f" {self.scan.value(False)[0]}"  # a shape, and then what has it
        return self.read(kind, text, start)

    def read(self, kind: str, text: str, start: int) -> Any:
        """The value that a text at a place gives, remembered for the next time."""
        key = (kind, text)
        value = self.values.get(key)
        if value is None:
            try:
                if kind == "literal":
                    return read_typed_literal(text, self.filler)
                value = read_attribute(kind, text)
            except (ValueError, XarrayliteError) as error:
                self.scan.fail(str(error), start)
            self.values[key] = value
        return value

    def callees(self, name: str, draft: Draft) -> Generator[None, HloComputation, Called]:
        """Read the computation that an attribute names or contains, or a list of them."""
        scan = self.scan
        listed = name in ("branch_computations", "called_computations")
        if listed:
            scan.expect("{", "before the list of computations")
        found: list[HloComputation] = []
        while not (listed and scan.take("}")):
            found.append((yield) if scan.take("{") else self.callee(draft))
            if not listed:
                break
            if not scan.next_is("}"):
                scan.expect(",", "or '}'")
        return tuple(found)

    def callee(self, draft: Draft) -> HloComputation:
        """The computation of a name."""
        start = self.scan.skip()
        name = self.scan.name("the name of a computation")
        found = self.by_name.get(name)
        if found is None:
            if not self.alone or draft.shape is None:
                self.scan.fail(f"there is no computation {name} before this one", start)
            found = undefined_computation(name, tuple(draft.operands), draft.shape)
            self.adopt(found)
            self.by_name[name] = found
        return found

    def predecessors(self, scope: Scope) -> tuple[HloInstruction, ...]:
        """The instructions that must run before."""
        text, start = self.scan.value(False)
        names = [word.strip().removeprefix("%") for word in text[1:-1].split(",")]
        found = [scope.names[name] for name in names if name in scope.names]
        if (text[0], text[-1]) != ("{", "}") or len(found) < len(names):
            self.scan.fail("expected names of instructions before this one between braces", start)
        return tuple(dict.fromkeys(found))
