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
from ..nodes import NO_ATTRIBUTES, callees_first
from ..opcodes import OPCODES
from ..rules.inference import infer_shape
from .attribute_reader import (
    AttributeReader,
    Draft,
    NameTable,
    Scope,
    guess_operand_shape,
    hand_on,
    wrap_operation,
)
from .attributes import WRITTEN, canonical
from .literals import read_literal
from .scanner import ARRAY, NAME, SKIP, without_comments
from .sharding import spread_sharding

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
_SHORT: Final = 32  # constants whose text is shorter are often there again
_set = object.__setattr__

# What a body being read asks for, and what it is given: nothing, and a computation.
Body: TypeAlias = Generator[None, HloComputation, HloComputation]
T = TypeVar("T")
# An instruction that waits for its operands, and those so far.
Waiting: TypeAlias = tuple[Draft, list[HloInstruction]]


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
            draft = self.known(word, match.start(2), shape)
            draft.at = match.end(2) + 1
        else:  # the shape is that of a tuple or a buffer
            draft, plain = self.opcode(scan.shape()), None
        if draft.opcode in ("parameter", "constant"):
            self.leaf(draft, shape_at, plain)
        else:
            self.operands(scope, draft, plain)
            self.check_arity(draft)
        if OPCODES[draft.opcode].required or _COMMA.match(scan.text, scan.at):
            yield from self.attributes(scope, draft)
        return self.make(scope, name, draft)

    def make(self, scope: Scope, name: str, draft: Draft) -> HloInstruction:
        """Make an instruction and put it into its scope."""
        opcode, shape, attributes = draft.opcode, draft.shape, draft.attributes
        operands = tuple(draft.operands)
        replicated = attributes.get("parameter_replication")
        if replicated is not None and shape and len(replicated) != shape.get_leaf_count():
            self.scan.fail(f"parameter_replication has one entry for each array of {shape}")
        if attributes or opcode in WRITTEN:
            canonical(opcode, attributes, operands[0].shape if operands else None)
        if shape is None:
            shape = draft.shape = self.inferred(draft)
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
            self.asynchronous(draft, shape)
        made = HloInstruction(
            name,
            opcode,
            shape,
            operands,
            MappingProxyType(attributes) if attributes else NO_ATTRIBUTES,
            draft.called,
            draft.extra.get("control-predecessors", ()),
            draft.extra.get("metadata"),
        )
        scope.names[name] = made
        scope.instructions.append(made)
        return made

    def inferred(self, draft: Draft) -> ArraySpec:
        """Return the shape that text leaves out."""
        opcode, shapes = draft.opcode, tuple([operand.shape for operand in draft.operands])
        try:
            found = infer_shape(opcode, shapes, draft.attributes, draft.called)
        except XarrayliteError as error:
            expected = getattr(error, "expected", str(error))
            self.scan.fail(
                f"the shape is left out and cannot be inferred: {expected}", self.scan.at
            )
        if found is None:
            self.scan.fail(f"the shape of {opcode} does not follow from its operands", self.scan.at)
        return found

    def opcode(self, shape: ArraySpec | None) -> Draft:
        """Step over an opcode and its parenthesis."""
        scan = self.scan
        match = scan.match(_OPCODE)
        if match is None:
            scan.fail_found("an opcode and '('")
        draft = self.known(match[1], match.start(1), shape)
        draft.at = scan.at
        return draft

    def known(self, opcode: str, at: int, shape: ArraySpec | None) -> Draft:
        """Begin an instruction of an opcode, which ``add-start`` has of what it wraps."""
        if opcode in OPCODES:
            return Draft(opcode, shape)
        wrapped, dash, phase = opcode.rpartition("-")
        if dash and phase in ("start", "update", "done") and wrapped in OPCODES:
            draft = Draft(f"async-{phase}", shape)
            draft.wrapped = wrapped
            return draft
        return self.scan.fail(f"there is no opcode {opcode}", at)

    def leaf(self, draft: Draft, shape_at: int, plain: str | None) -> None:
        """Read what the parentheses of a parameter or a constant hold."""
        if draft.opcode == "parameter":
            draft.attributes["parameter_number"] = self.number(plain, draft.at)
            return
        found = self.literal(draft.shape, shape_at, plain, draft.at)
        draft.attributes["literal"], draft.shape = found, found.shape

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

    def operands(self, scope: Scope, draft: Draft, plain: str | None) -> None:
        """Read operands behind their parenthesis, up to the one that ends them.

        ``plain`` is what the parentheses hold, where that is no more than names.
        """
        scan = self.scan
        if plain is None:
            match = _NAMES.match(scan.text, draft.at)
            if match is not None:
                plain, scan.at = without_comments(match[1]), match.end()
        if plain is not None and not self.alone:
            words, names = plain.split(","), scope.names
            try:
                draft.operands = tuple([names[x.strip(" \t\r\n").lstrip("%")] for x in words])
            except KeyError:
                if not plain.strip():
                    return
            else:
                return
        scan.at = draft.at
        self.nested_operands(scope, draft)

    def nested_operands(self, scope: Scope, outer: Draft) -> None:
        """Read operands some of which are instructions themselves."""
        scan = self.scan
        stack: list[Waiting] = [(outer, [])]
        while True:
            draft, found = stack[-1]
            closed = scan.take(")")
            if found and not closed:
                scan.expect(",", "or ')'")
                closed = scan.take(")")  # XLA lets a comma stand behind the last operand
            if not closed:
                self.operand(scope, stack)
                continue
            stack.pop()
            draft.operands = found
            if not stack:
                return
            self.check_arity(draft)
            required = OPCODES[draft.opcode].required
            missing = [needed for needed in required if not self.implied(draft, needed)]
            if missing:
                scan.fail(
                    f"{draft.opcode} within an operand list cannot have {missing[0]}", draft.at
                )
            name = self.anonymous_name(draft.opcode)
            stack[-1][1].append(self.make(scope, name, draft))

    def operand(self, scope: Scope, stack: list[Waiting]) -> None:
        """Read one operand, or the beginning of one that is an instruction."""
        scan, found = self.scan, stack[-1][1]
        start = scan.skip()
        shape = scan.shape()
        match = scan.match(_OPERAND)
        if match is not None:
            found.append(self.named(scope, match[1], shape, stack[-1], match.start(1)))
        elif shape is not None and self.alone and (scan.next_is(",") or scan.next_is(")")):
            found.append(self.missing(scope, "", shape))
        elif _OPCODE.match(scan.text, scan.at) is None:
            self.no_operand()
        else:
            draft = self.opcode(shape)
            if draft.opcode not in ("parameter", "constant"):
                stack.append((draft, []))
                return
            self.leaf(draft, start, None)
            name = self.anonymous_name(draft.opcode)
            found.append(self.make(scope, name, draft))

    def no_operand(self) -> NoReturn:
        """Raise where no operand stands, or nothing that ends one behind it."""
        name = self.scan.match(_WORD)
        self.scan.fail_found(f"',' or ')' behind operand {name[1]}" if name else "an operand")

    def named(
        self, scope: Scope, name: str, shape: ArraySpec | None, user: Waiting, at: int
    ) -> HloInstruction:
        """The operand of a name."""
        found = scope.names.get(name)
        if found is None:
            if not self.alone:
                self.scan.fail(f"there is no instruction {name} before this one", at)
            guessed = shape or guess_operand_shape(user[0].opcode, user[0].shape, len(user[1]))
            return self.missing(scope, name, guessed)
        if shape is not None and not self.fits(shape, found.shape):
            self.scan.fail(f"operand {name} is {found.shape}, not {shape}, as it is said to be", at)
        return found

    def missing(self, scope: Scope, name: str, shape: ArraySpec) -> HloInstruction:
        """A parameter for an operand that nobody defines."""
        number = sum([made.opcode == "parameter" for made in scope.instructions])
        draft = Draft("parameter", shape)
        draft.attributes["parameter_number"] = number
        return self.make(scope, name or f"_{number}", draft)

    def anonymous_name(self, opcode: str) -> str:
        """A name for an instruction that has none, apart from all names given so far."""
        if self.anonymous is None:
            self.anonymous = NameTable()
            for name in self.given:
                self.anonymous.unique(name)
        return self.anonymous.unique(f"{opcode}.anon")

    def check_arity(self, draft: Draft) -> None:
        """Refuse a wrong number of operands, as far as the operation's row says."""
        wanted, count = OPCODES[draft.opcode].arity, len(draft.operands)
        if wanted not in (None, count):
            self.scan.fail(f"{draft.opcode} takes {wanted} operands, not {count}", draft.at)

    def asynchronous(self, draft: Draft, shape: ArraySpec) -> None:
        """Find the computation that an asynchronous operation runs; text may only name it."""
        attributes, operands = draft.attributes, tuple(draft.operands)
        if draft.opcode == "async-start":
            if not (shape.is_tuple and len(shape.tuple_shapes) > 1):
                self.scan.fail(f"async-start gives ((operands), result, ...), not {shape}")
            if draft.wrapped:
                made = wrap_operation(draft, shape.tuple_shapes[1])
                self.adopt(made)
                draft.called = (made,)
            thread = attributes.get("async_execution_thread")
            for callee in callees_first(draft.called[:1]) if thread else ():
                _set(callee, "execution_thread", thread)
        elif operands and operands[0].opcode.startswith("async-"):
            begun = operands[0].called_computations[0]
            thread = attributes.get("async_execution_thread", begun.execution_thread)
            said = (draft.called or (begun,), draft.wrapped or begun.root.opcode, thread)
            if said != ((begun,), begun.root.opcode, begun.execution_thread):
                self.scan.fail(
                    f"{draft.opcode} runs what {operands[0].name} began: {begun.name} of "
                    f"{begun.root.opcode} on the thread {begun.execution_thread}"
                )
            draft.called = (begun,)
        else:
            self.scan.fail(f"{draft.opcode} takes the result of async-start or async-update")
        if draft.called:
            hand_on(draft.called[0].root, attributes, draft.extra.get("metadata"))
