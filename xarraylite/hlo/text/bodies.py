"""Bodies of computations: instructions with their operands and attributes.

Bodies within bodies are read by generators on a list, operands within operands by a loop, so
nothing is as deep as the text.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from types import MappingProxyType
from typing import Any, Final, NoReturn, TypeAlias, TypeVar

from ..._errors import HloError, XarrayliteError
from ...xla.spec import ArraySpec
from ..instruction import HloComputation, HloInstruction
from ..nodes import no_attributes
from ..opcodes import OPCODES
from ..order import callees_first
from ..rules.inference import infer_shape
from ..values import OpMetadata
from .attribute_reader import AttributeReader, Called, Scope
from .attributes import WRITTEN, canonical
from .literals import read_literal
from .names import NameTable
from .quoting import NAME, SKIP, without_comments
from .scanner import ARRAY
from .sharding import count_arrays, spread_sharding
from .undefined import guess_operand_shape, hand_on, wrap_operation

_HEAD = re.compile(rf"{SKIP}(?:(ROOT)(?=[ \t\r\n/%]){SKIP})?%?({NAME}){SKIP}={SKIP}")
# What stands behind the equals sign, mostly: all of it if the operands are names.
_RIGHT = re.compile(
    rf"{SKIP}(?:({ARRAY}){SKIP})?(?!b\()([a-z][a-z0-9\-]*+){SKIP}\((?:([^(){{}}\[\]\"'=/]*+)\))?"
)
_COMMA = re.compile(rf"{SKIP},")
_OPCODE = re.compile(rf"{SKIP}([a-z][a-z0-9\-]*+){SKIP}\(")
_NAMES = re.compile(r"([^(){}\[\]\"'=]*+)\)")
_OPERAND = re.compile(rf"{SKIP}%?({NAME}){SKIP}(?=[,)])")
_WORD = re.compile(rf"{SKIP}%?({NAME}){SKIP}(?!=)")
_NOTHING: Final[dict[str, Any]] = {}
_SHORT: Final = 32  # constants whose text is shorter are often there again
_set = object.__setattr__

# What a body being read asks for, and what it is given: nothing, and a computation.
Body: TypeAlias = Generator[None, HloComputation, HloComputation]
T = TypeVar("T")
# An instruction that waits for its operands: shape, opcode, what it wraps, place, operands so far.
Pending: TypeAlias = tuple[ArraySpec | None, str, str, int, list[HloInstruction]]


class BodyReader(AttributeReader):
    """Reads bodies of computations."""

    def run(self, reading: Generator[None, HloComputation, T]) -> T:
        """Finish what reads a text, and the bodies it finds on its way."""
        stack: list[Generator[None, HloComputation, Any]] = [reading]
        finished: Any = None
        while True:
            try:
                stack[-1].send(finished)
            except StopIteration as stop:
                stack.pop()
                finished = stop.value
                if not stack:
                    made: T = finished
                    return made
            else:
                # A body begins where an attribute wants a computation.
                stack.append(self.instructions(Scope("_")))
                finished = None

    def instructions(self, scope: Scope) -> Body:
        """Read the instructions of one body, behind its brace, and the brace that ends it."""
        scan = self.scan
        while not scan.take("}"):
            yield from self.instruction(scope)
        if not scope.instructions:
            scan.fail(f"computation {scope.name} has no instructions", scan.at - 1)
        return self.complete(scope)

    def instruction(self, scope: Scope) -> Generator[None, HloComputation, HloInstruction]:
        """Read one instruction."""
        scan = self.scan
        scan.instruction = ""
        match = scan.match(_HEAD)
        if match is None:
            scan.fail_found("an instruction, such as 'x = f32[2] negate(y)', or '}'")
        name = match[2]
        scan.instruction = name
        if match[1] and scope.root is not None:
            scan.fail("a computation has one ROOT", match.start(1))
        if name in scope.names:
            scan.fail(f"instruction {name} is defined already", match.start(2))
        made = yield from self.right_side(scope, name)
        self.given.append(name)
        if self.anonymous is not None:
            self.anonymous.unique(name)
        if match[1]:
            scope.root = made
        return made

    def complete(self, scope: Scope) -> HloComputation:
        """Make the computation that was read."""
        try:
            made = HloComputation(
                scope.name, tuple(scope.instructions), scope.root or scope.instructions[-1]
            )
        except HloError as error:
            self.scan.fail(error.expected, self.scan.at - 1)
        self.adopt(made)
        return made

    # Instructions.

    def right_side(
        self, scope: Scope, name: str
    ) -> Generator[None, HloComputation, HloInstruction]:
        """Read an instruction behind the equals sign."""
        scan = self.scan
        shape_at = scan.at
        match = scan.match(_RIGHT)
        if match is not None:
            text, word, plain = match.groups()
            shape = None if text is None else scan.shape_of(text, match.start(1))
            opcode, wrapped = self.known(word, match.start(2))
            operands_at = match.end(2) + 1
        else:  # the shape is that of a tuple or a buffer
            shape = scan.shape()
            opcode, wrapped = self.opcode()
            operands_at, plain = scan.at, None
        attributes: dict[str, Any] = {}
        operands: tuple[HloInstruction, ...] = ()
        if opcode in ("parameter", "constant"):
            attributes = self.leaf(opcode, shape, shape_at, plain, operands_at)
            shape = attributes["literal"].shape if opcode == "constant" else shape
        else:
            operands = self.operands(scope, opcode, shape, plain, operands_at)
            self.check_arity(opcode, len(operands), operands_at)
        called: Called = ()
        extra: dict[str, Any] = _NOTHING
        if OPCODES[opcode].required or _COMMA.match(scan.text, scan.at):
            called, extra = yield from self.attributes(
                scope, opcode, wrapped, shape, operands, attributes
            )
        return self.make(scope, name, shape, opcode, wrapped, operands, attributes, called, extra)

    def make(
        self,
        scope: Scope,
        name: str,
        shape: ArraySpec | None,
        opcode: str,
        wrapped: str,
        operands: tuple[HloInstruction, ...],
        attributes: dict[str, Any],
        called: Called,
        extra: dict[str, Any],
    ) -> HloInstruction:
        """Make an instruction and put it into its scope."""
        replicated = attributes.get("parameter_replication")
        if replicated is not None and shape is not None and len(replicated) != count_arrays(shape):
            self.scan.fail(f"parameter_replication has one entry for each array of {shape}")
        if attributes or opcode in WRITTEN:
            canonical(opcode, attributes, operands[0].shape if operands else None)
        if shape is None:
            shapes = tuple([operand.shape for operand in operands])
            shape = self.inferred(opcode, shapes, attributes, called)
        if opcode == "map":
            attributes["dimensions"] = tuple(range(shape.rank))
        if shape.is_tuple and "sharding" in attributes:
            attributes["sharding"] = spread_sharding(attributes["sharding"], shape)
        if opcode == "get-tuple-element" and operands[0].opcode == "tuple":
            index = attributes["index"]
            for part in operands[0].operands[index : index + 1]:
                if "origin" in part.attributes:
                    attributes.setdefault("origin", part.attributes["origin"])
        if opcode.startswith("async-"):
            called = self.asynchronous(
                opcode, wrapped, shape, operands, attributes, called, extra.get("metadata")
            )
        made = HloInstruction(
            name,
            opcode,
            shape,
            operands,
            MappingProxyType(attributes) if attributes else no_attributes(),
            called,
            extra.get("control-predecessors", ()),
            extra.get("metadata"),
        )
        scope.names[name] = made
        scope.instructions.append(made)
        return made

    def inferred(
        self,
        opcode: str,
        shapes: tuple[ArraySpec, ...],
        attributes: dict[str, Any],
        called: Called,
    ) -> ArraySpec:
        """Return the shape that text leaves out."""
        try:
            found = infer_shape(opcode, shapes, attributes, called)
        except XarrayliteError as error:
            expected = getattr(error, "expected", str(error))
            self.scan.fail(
                f"the shape is left out and cannot be inferred: {expected}", self.scan.at
            )
        if found is None:
            self.scan.fail(f"the shape of {opcode} does not follow from its operands", self.scan.at)
        return found

    def opcode(self) -> tuple[str, str]:
        """Step over an opcode and its parenthesis; the second is what ``add-start`` wraps."""
        scan = self.scan
        match = scan.match(_OPCODE)
        if match is None:
            scan.fail_found("an opcode and '('")
        return self.known(match[1], match.start(1))

    def known(self, opcode: str, at: int) -> tuple[str, str]:
        """An opcode, and what ``add-start`` wraps."""
        if opcode in OPCODES:
            return opcode, ""
        wrapped, dash, phase = opcode.rpartition("-")
        if dash and phase in ("start", "update", "done") and wrapped in OPCODES:
            return f"async-{phase}", wrapped
        return self.scan.fail(f"there is no opcode {opcode}", at)

    def leaf(
        self, opcode: str, shape: ArraySpec | None, shape_at: int, plain: str | None, at: int
    ) -> dict[str, Any]:
        """What the parentheses of a parameter or a constant hold."""
        if opcode == "parameter":
            return {"parameter_number": self.number(plain, at)}
        return {"literal": self.literal(shape, shape_at, plain, at)}

    def number(self, plain: str | None, at: int) -> int:
        """The number of a parameter."""
        scan = self.scan
        if plain is None:
            scan.at = at
            plain = without_comments(scan.group())
        number = plain.strip(" \t\r\n")
        if not (number.isascii() and number.isdigit() and len(number) <= 18):
            scan.at = at
            scan.fail_found("the number of a parameter and ')'")
        return int(number)

    def literal(self, shape: ArraySpec | None, shape_at: int, plain: str | None, start: int) -> Any:
        """The value of a constant."""
        scan = self.scan
        if shape is None:
            scan.fail("a constant has a shape", shape_at)
        if plain is None:
            scan.at = start
        text = without_comments(scan.group()) if plain is None else plain.lstrip(" \t")
        key = (text, id(shape)) if len(text) < _SHORT and "..." not in text else None
        found = self.literals.get(key)
        if found is None:
            try:
                found = read_literal(text, shape, self.filler)
            except (ValueError, OverflowError) as error:
                scan.fail(str(error), start)
            if key is not None:
                self.literals[key] = found
        return found

    # Operands.

    def operands(
        self, scope: Scope, opcode: str, shape: ArraySpec | None, plain: str | None, at: int
    ) -> tuple[HloInstruction, ...]:
        """Read operands behind their parenthesis, up to the one that ends them.

        ``plain`` is what the parentheses hold, where that is no more than names.
        """
        scan = self.scan
        if plain is None:
            match = _NAMES.match(scan.text, at)
            if match is not None:
                plain, scan.at = without_comments(match[1]), match.end()
        if plain is not None and not self.alone:
            words, names = plain.split(","), scope.names
            try:
                return tuple([names[word.strip(" \t\r\n").lstrip("%")] for word in words])
            except KeyError:
                if not plain.strip():
                    return ()
        scan.at = at
        return self.nested_operands(scope, opcode, shape)

    def nested_operands(
        self, scope: Scope, opcode: str, shape: ArraySpec | None
    ) -> tuple[HloInstruction, ...]:
        """Read operands some of which are instructions themselves."""
        scan = self.scan
        # Instructions that wait for their operands: shape, opcode, place, operands so far.
        stack: list[Pending] = [(shape, opcode, "", scan.at, [])]
        while True:
            shape, opcode, wrapped, at, found = stack[-1]
            # XLA lets a comma stand behind the last operand.
            if not (scan.take(")") or (found and (self.ends(")") or scan.take(")")))):
                self.operand(scope, stack)
                continue
            stack.pop()
            if not stack:
                return tuple(found)
            self.check_arity(opcode, len(found), at)
            missing = [
                needed
                for needed in sorted(OPCODES[opcode].required)
                if not self.implied(opcode, wrapped, needed, tuple(found))
            ]
            if missing:
                scan.fail(f"{opcode} within an operand list cannot have {missing[0]}", at)
            name = self.anonymous_name(opcode)
            made = self.make(scope, name, shape, opcode, wrapped, tuple(found), {}, (), {})
            stack[-1][4].append(made)

    def ends(self, token: str) -> bool:
        """Whether a list ends here; otherwise step over its comma."""
        if self.scan.take(token):
            return True
        self.scan.expect(",", f"or {token!r}")
        return False

    def operand(
        self,
        scope: Scope,
        stack: list[Pending],
    ) -> None:
        """Read one operand, or the beginning of one that is an instruction."""
        scan = self.scan
        start = scan.skip()
        shape = scan.shape()
        match = scan.match(_OPERAND)
        if match is not None:
            stack[-1][4].append(self.named(scope, match[1], shape, stack[-1], match.start(1)))
        elif shape is not None and self.alone and (scan.next_is(",") or scan.next_is(")")):
            stack[-1][4].append(self.missing(scope, "", shape))
        else:
            match = _OPCODE.match(scan.text, scan.at)
            if match is None:
                self.no_operand()
            opcode, wrapped = self.opcode()
            if opcode in ("parameter", "constant"):
                found = self.leaf(opcode, shape, start, None, scan.at)
                name = self.anonymous_name(opcode)
                shape = found["literal"].shape if opcode == "constant" else shape
                stack[-1][4].append(self.make(scope, name, shape, opcode, "", (), found, (), {}))
            else:
                stack.append((shape, opcode, wrapped, scan.at, []))

    def no_operand(self) -> NoReturn:
        """Raise where no operand stands, or nothing that ends one behind it."""
        name = self.scan.match(_WORD)
        self.scan.fail_found(f"',' or ')' behind operand {name[1]}" if name else "an operand")

    def named(
        self,
        scope: Scope,
        name: str,
        shape: ArraySpec | None,
        user: Pending,
        at: int,
    ) -> HloInstruction:
        """The operand of a name."""
        found = scope.names.get(name)
        if found is None:
            if not self.alone:
                self.scan.fail(f"there is no instruction {name} before this one", at)
            guessed = shape or guess_operand_shape(user[1], user[0], len(user[4]))
            return self.missing(scope, name, guessed)
        if shape is not None and not self.fits(shape, found.shape):
            self.scan.fail(f"operand {name} is {found.shape}, not {shape}, as it is said to be", at)
        return found

    def missing(self, scope: Scope, name: str, shape: ArraySpec) -> HloInstruction:
        """A parameter for an operand that nobody defines."""
        number = sum([made.opcode == "parameter" for made in scope.instructions])
        name = name or f"_{number}"
        return self.make(
            scope, name, shape, "parameter", "", (), {"parameter_number": number}, (), {}
        )

    def anonymous_name(self, opcode: str) -> str:
        """A name for an instruction that has none, apart from all names given so far."""
        if self.anonymous is None:
            self.anonymous = NameTable()
            for name in self.given:
                self.anonymous.unique(name)
        return self.anonymous.unique(f"{opcode}.anon")

    def check_arity(self, opcode: str, count: int, at: int) -> None:
        """Refuse a wrong number of operands, as far as the operation's row says."""
        wanted = OPCODES[opcode].arity
        if wanted not in (None, count):
            self.scan.fail(f"{opcode} takes {wanted} operands, not {count}", at)

    def asynchronous(
        self,
        opcode: str,
        wrapped: str,
        shape: ArraySpec,
        operands: tuple[HloInstruction, ...],
        attributes: dict[str, Any],
        called: Called,
        metadata: OpMetadata | None,
    ) -> Called:
        """The computation that an asynchronous operation runs; made where text only names it."""
        if opcode == "async-start":
            if not (shape.is_tuple and len(shape.tuple_shapes) > 1):
                self.scan.fail(f"async-start gives ((operands), result, ...), not {shape}")
            if wrapped:
                made = wrap_operation(wrapped, shape.tuple_shapes[1], operands, attributes, called)
                self.adopt(made)
                called = (made,)
            thread = attributes.get("async_execution_thread")
            for callee in callees_first(called[:1]) if thread else ():
                _set(callee, "execution_thread", thread)
        elif operands and operands[0].opcode.startswith("async-"):
            called = operands[0].called_computations
        else:
            self.scan.fail(f"{opcode} takes the result of async-start or async-update")
        if called:
            hand_on(called[0].root, attributes, metadata)
        return called
