"""A small typed builder of LLVM IR as text.

A `Value` is an SSA name with its type; the operators of int64 values append instructions.  What
changes in the course of a kernel is a `Local`, a stack slot in the entry block that LLVM's first
pass (scalar replacement of aggregates) turns into registers again.  Loops are emitted rotated, a
guard before and the test at the end, with a signed induction variable that cannot wrap: the form
that the loop vectoriser asks for, so that no pass has to bring it about.

Memory carries alias scopes, which replace the run-time overlap checks that the vectoriser would
otherwise need: ``src`` is memory known not to overlap the destination, ``dst`` the destination and
what may overlap it, ``tmp`` stack scratch, ``turned`` that of transposed operands.  Accesses in
different scopes never touch the same bytes; the planner is what makes that true.  Alignment is 1
unless said otherwise: NumPy allows unaligned arrays, and on x86 and ARM an unaligned vector access
to aligned memory costs nothing.

No instruction carries a fast-math flag and nothing is contracted, so a value depends on its
operations alone and not on how its loop is vectorised.

Reference: LLVM Language Reference Manual, https://llvm.org/docs/LangRef.html.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from enum import Enum

from ..._records import record
from .routine import LLVM, Routine

#: Numbers of the metadata nodes that say which scope an access is in, and in which it is not.
_SCOPES = {"src": (5, 9), "dst": (6, 10), "tmp": (7, 11), "turned": (8, 12)}

_METADATA = """\
!0 = !{!"xarraylite"}
!1 = !{!"xarraylite.src", !0}
!2 = !{!"xarraylite.dst", !0}
!3 = !{!"xarraylite.tmp", !0}
!4 = !{!"xarraylite.turned", !0}
!5 = !{!1}
!6 = !{!2}
!7 = !{!3}
!8 = !{!4}
!9 = !{!2, !3, !4}
!10 = !{!1, !3, !4}
!11 = !{!1, !2, !4}
!12 = !{!1, !2, !3}
!13 = !{i32 1}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = !{!"llvm.loop.interleave.count", i32 1}
!16 = !{!"llvm.loop.interleave.count", i32 2}
"""

#: What a kernel's function may be told: it ends, and exceptions do not pass through it.
_ATTRIBUTES = "nounwind mustprogress willreturn"

#: What a kernel is told that waits for memory: vectors of 64 bytes cross lines wherever operands
#: do not begin with one, those of 32 every other time (a tenth of the time of a sum of two arrays).
_LIGHT = ' "prefer-vector-width"="256"'

#: What a kernel is told that computes: the widest vectors there are.  LLVM prefers half of them on
#: some processors that have 64 bytes, for the sake of code around the loop; there is none here.
_HEAVY = ' "prefer-vector-width"="512"'


class Pace(Enum):
    """How much code may be spent on a loop: code costs time to compile."""

    FULL = 0
    """As much as LLVM sees fit."""
    PAIRED = 4
    """Two vectors at a time, whatever registers there are: what one waits for, the other uses."""
    ROLLED = 1
    """It may become vectors, several at a time, but it is not unrolled."""
    SLOW = 2
    """It may become vectors, one at a time."""
    SINGLE = 3
    """No vectors: a store of one to elements that lie apart takes longer than as many stores."""


_HINTS = {
    Pace.PAIRED: "!16",
    Pace.ROLLED: "!14",
    Pace.SLOW: "!14, !15",
    Pace.SINGLE: '!{!"llvm.loop.vectorize.enable", i1 false}',
}


@record(frozen=True, slots=True)
class Module:
    """What a kernel is made of.

    Attributes
    ----------
    text : str
        LLVM IR of ``i32 kernel(i64)``, apart from the routines it calls.
    routines : tuple of (Routine, str)
        What it calls, and by which name, in the order of the first calls.
    apart : tuple of Module
        Functions that it calls and that are compiled apart.
    name : str
        Of such a function (see `apart`).
    """

    text: str
    routines: tuple[tuple[Routine, str], ...]
    apart: tuple[Module, ...] = ()
    name: str = ""


#: Emits code for a place, an index or a level.
Emit = Callable[["Value"], None]


class Value:
    """One SSA value: its LLVM type and its name, or the text of a constant."""

    __slots__ = ("builder", "text", "type")

    def __init__(self, builder: Builder, type: str, text: str) -> None:
        self.builder = builder
        self.type = type
        self.text = text

    def __add__(self, other: Value | int) -> Value:
        return self if other == 0 else self._with("add", other)

    def __sub__(self, other: Value | int) -> Value:
        return self if other == 0 else self._with("sub", other)

    def __mul__(self, other: Value | int) -> Value:
        return self if other == 1 else self._with("mul", other)

    def __or__(self, other: Value | int) -> Value:
        return self._with("or", other)

    def __and__(self, other: Value | int) -> Value:
        return self._with("and", other)

    def __rshift__(self, other: int) -> Value:
        return self._with("ashr", other)

    def __floordiv__(self, other: Value | int) -> Value:
        """Divide numbers that are not negative; by a power of two any, rounding down."""
        if isinstance(other, int) and other & (other - 1) == 0:
            return self if other == 1 else self._with("ashr", other.bit_length() - 1)
        return self._with("sdiv", other)

    def __mod__(self, other: Value | int) -> Value:
        """Remainder for numbers that are not negative; for a power of two, any."""
        if isinstance(other, int) and other & (other - 1) == 0:
            return self._with("and", other - 1)
        return self._with("srem", other)

    def __lt__(self, other: Value | int) -> Value:
        return self._compare("slt", other)

    def __le__(self, other: Value | int) -> Value:
        return self._compare("sle", other)

    def __gt__(self, other: Value | int) -> Value:
        return self._compare("sgt", other)

    def equals(self, other: Value | int) -> Value:
        """Return whether two integers are equal."""
        return self._compare("eq", other)

    def least(self, other: Value | int) -> Value:
        """Return the smaller of two int64."""
        return self.builder.select(self < other, self, other)

    def greatest(self, other: Value | int) -> Value:
        """Return the greater of two int64."""
        return self.builder.select(self > other, self, other)

    def _with(self, operation: str, other: Value | int) -> Value:
        text = f"{operation} {self.type} {self.text}, {_text(other)}"
        return self.builder.make(self.type, text)

    def _compare(self, test: str, other: Value | int) -> Value:
        return self.builder.make("i1", f"icmp {test} {self.type} {self.text}, {_text(other)}")


def _text(value: Value | int) -> str:
    return value.text if isinstance(value, Value) else str(value)


class Local:
    """A variable of a kernel."""

    __slots__ = ("builder", "pointer", "type")

    def __init__(self, builder: Builder, type: str, pointer: str) -> None:
        self.builder = builder
        self.type = type
        self.pointer = pointer

    def get(self) -> Value:
        """Return its value now."""
        return self.builder.make(self.type, f"load {self.type}, ptr {self.pointer}")

    def set(self, value: Value | int) -> None:
        """Give it another value."""
        self.builder.line(f"store {self.type} {_text(value)}, ptr {self.pointer}")

    def add(self, value: Value | int) -> None:
        """Increase it."""
        self.set(self.get() + value)


@record(slots=True, eq=False)
class Builder:
    """Collects the instructions of ``i32 kernel(i64 block)``."""

    _declared: str = ""
    #: Whether the kernel computes so little that it waits for memory.
    light: bool = False
    #: Whether an argument was hard, where what is emitted is for all others.
    hard: Local | None = None
    #: Whether what is emitted is for few elements.
    rare: bool = False
    _entry: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _loops: list[str] = field(default_factory=list)
    _number: int = 0
    _routines: dict[Routine, str] = field(default_factory=dict)
    #: Functions that are compiled apart (see `apart`), and their declarations.
    apart: dict[Module, str] = field(default_factory=dict)
    label: str = "start"

    @property
    def block(self) -> Value:
        """The address of the argument block."""
        return Value(self, "i64", "%block")

    # --- instructions -------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Append an instruction that has no value."""
        self._lines.append(f"  {text}")

    def make(self, type: str, text: str) -> Value:
        """Append an instruction; return its value."""
        self._number += 1
        name = f"%v{self._number}"
        self._lines.append(f"  {name} = {text}")
        return Value(self, type, name)

    def integer(self, value: int) -> Value:
        """Return an int64 constant."""
        return Value(self, "i64", str(value))

    def local(self, value: Value | int, type: str = "i64") -> Local:
        """Return a variable that has a value to begin with; an ``int`` is an int64."""
        self._number += 1
        pointer, kind = f"%l{self._number}", value.type if isinstance(value, Value) else type
        self._entry.append(f"  {pointer} = alloca {kind}")
        made = Local(self, kind, pointer)
        made.set(value)
        return made

    def scratch(self, size: int) -> Value:
        """Return the address of ``size`` bytes of stack memory at the start of a cache line."""
        self._number += 1
        self._entry.append(f"  %s{self._number} = alloca [{size} x i8], align 64")
        return self.make("i64", f"ptrtoint ptr %s{self._number} to i64")

    def select(self, test: Value, first: Value, other: Value | int) -> Value:
        """Return one of two values."""
        kind = first.type
        return self.make(kind, f"select i1 {test.text}, {kind} {first.text}, {kind} {_text(other)}")

    # --- control flow -------------------------------------------------------------------------

    def _labels(self, *names: str) -> list[str]:
        self._number += 1
        return [f"{name}{self._number}" for name in names]

    def enter(self, label: str) -> None:
        """Start a basic block."""
        self._lines.append(f"{label}:")
        self.label = label

    @contextmanager
    def loop(
        self, low: Value | int, high: Value | int, step: int = 1, pace: Pace = Pace.FULL
    ) -> Iterator[Value]:
        """Emit a loop over ``range(low, high, step)``; yields the index."""
        body, latch, done = self._labels("loop", "next", "done")
        first = low if isinstance(low, Value) else self.integer(low)
        if not (isinstance(low, int) and isinstance(high, int) and low < high):
            guard = first < high
            self.line(f"br i1 {guard.text}, label %{body}, label %{done}")
        else:
            self.line(f"br label %{body}")
        before = self.label
        self.enter(body)
        index = Value(self, "i64", f"%j.{body}")
        following = f"%j.{latch}"
        self.line(f"{index.text} = phi i64 [ {first.text}, %{before} ], [ {following}, %{latch} ]")
        yield index
        self.line(f"br label %{latch}")
        self.enter(latch)
        self.line(f"{following} = add nsw i64 {index.text}, {step}")
        again = Value(self, "i64", following) < high
        self.line(f"br i1 {again.text}, label %{body}, label %{done}{self._hints(pace)}")
        self.enter(done)

    def _hints(self, pace: Pace) -> str:
        """Return what a loop's last branch tells LLVM."""
        if pace is Pace.FULL:
            return ""
        number = 17 + len(self._loops)
        hints = _HINTS[pace]
        self._loops.append(f"!{number} = distinct !{{!{number}, {hints}}}\n")
        return f", !llvm.loop !{number}"

    @contextmanager
    def repeat(self) -> Iterator[tuple[str, str]]:
        """Emit a loop that a `stop_unless` inside leaves; yields its labels."""
        body, done = self._labels("while", "done")
        self.line(f"br label %{body}")
        self.enter(body)
        yield body, done
        self.line(f"br label %{body}")
        self.enter(done)

    def carried(self, count: Local, first: Value, step: int, merge: Emit) -> Value:
        """Emit the merges that one more entry of a binary counter needs; return the level for it.

        The levels begin at ``first``, ``step`` apart; the full ones are the bits of the count.
        """
        carry, level = self.local(count.get()), self.local(first)
        with self.repeat() as loop:
            self.stop_unless(loop, (carry.get() & 1).equals(1))
            merge(level.get())
            carry.set(carry.get() >> 1)
            level.add(step)
        return level.get()

    def emptied(self, count: Local, first: Value, step: int, merge: Emit) -> None:
        """Emit the merges of all full levels of a binary counter; see `carried`."""
        level = self.local(first)
        with self.repeat() as loop:
            self.stop_unless(loop, count.get() > 0)
            with self.when((count.get() & 1).equals(1)):
                merge(level.get())
            count.set(count.get() >> 1)
            level.add(step)

    def stop_unless(self, loop: tuple[str, str], test: Value) -> None:
        """Leave a `repeat` where a test fails."""
        (inside,) = self._labels("go")
        self.line(f"br i1 {test.text}, label %{inside}, label %{loop[1]}")
        self.enter(inside)

    @contextmanager
    def when(self, test: Value) -> Iterator[None]:
        """Emit code that runs where a test holds."""
        then, done = self._labels("then", "end")
        self.line(f"br i1 {test.text}, label %{then}, label %{done}")
        self.enter(then)
        yield
        self.line(f"br label %{done}")
        self.enter(done)

    @contextmanager
    def either(self, test: Value) -> Iterator[Callable[[], None]]:
        """Emit code for both outcomes of a test, the second part after a call of what it yields."""
        then, other, done = self._labels("then", "else", "end")
        self.line(f"br i1 {test.text}, label %{then}, label %{other}")
        self.enter(then)

        def otherwise() -> None:
            self.line(f"br label %{done}")
            self.enter(other)

        yield otherwise
        self.line(f"br label %{done}")
        self.enter(done)

    # --- calls --------------------------------------------------------------------------------

    def call(self, routine: Routine, arguments: Sequence[Value]) -> Value:
        """Call a scalar routine; a user's ends the kernel where it raises an exception."""
        name = self._routines.setdefault(routine, f"{routine.hint}.{len(self._routines)}")
        args = ", ".join(f"{value.type} {value.text}" for value in arguments)
        result = routine.returns
        done = self.make(result, f"call {result} @{name}({args})")
        if not routine.may_fail:
            return done
        pair, result = done, LLVM[routine.result]
        status = self.make("i32", f"extractvalue {pair.type} {pair.text}, 1")
        failed, fine = self._labels("failed", "fine")
        test = status.equals(0)
        self.line(f"br i1 {test.text}, label %{fine}, label %{failed}")
        self.enter(failed)
        self.line(f"ret i32 {status.text}")
        self.enter(fine)
        return self.make(result, f"extractvalue {pair.type} {pair.text}, 0")

    # --- memory -------------------------------------------------------------------------------

    def element(self, type: str, address: Value, index: Value | int) -> str:
        """Return a pointer to element ``index`` from an address."""
        base = self.make("ptr", f"inttoptr i64 {address.text} to ptr")
        if index == 0:
            return base.text
        return self.make("ptr", f"getelementptr {type}, ptr {base.text}, i64 {_text(index)}").text

    def load(
        self, type: str, address: Value, index: Value | int, scope: str, align: int = 1
    ) -> Value:
        """Load one element."""
        at = self.element(type, address, index)
        return self.make(type, f"load {type}, ptr {at}, align {align}{_tags(scope)}")

    def store(
        self,
        value: Value,
        address: Value,
        index: Value | int,
        scope: str,
        align: int = 1,
        streamed: bool = False,
    ) -> None:
        """Store one element; ``streamed`` past the caches, where the address is aligned."""
        at = self.element(value.type, address, index)
        more = ", !nontemporal !13" if streamed else ""
        self.line(f"store {value.type} {value.text}, ptr {at}, align {align}{_tags(scope)}{more}")

    def prefetch(self, address: Value, written: bool = False) -> None:
        """Ask for a line to be brought near; it need not exist.

        Not into the first cache, unless it is to be ``written``.
        """
        at = self.element("i8", address, 0)
        self._declared = "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)\n"
        self.line(f"call void @llvm.prefetch.p0(ptr {at}, i32 {int(written)}, i32 2, i32 1)")

    def copy(self, destination: Value, source: Value, nbytes: Value) -> None:
        """Copy bytes of memory to other memory."""
        to, of = self.element("i8", destination, 0), self.element("i8", source, 0)
        self._declared = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
        self.line(
            f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {of}, i64 {nbytes.text}, i1 false)"
        )

    def fence(self) -> None:
        """Order all stores before whatever tells another thread about them."""
        self.line("fence seq_cst")

    # --- the whole ----------------------------------------------------------------------------

    def module(self, head: str = "i32 @kernel(i64 %block)", result: str = "i32 0") -> Module:
        """Return the finished kernel, or what has another head and returns something else."""
        lines = [
            f"define {head} {_ATTRIBUTES}{_LIGHT if self.light else _HEAVY} {{",
            "entry:",
            *self._entry,
            "  br label %start",
            "start:",
            *self._lines,
            f"  ret {result}",
            "}",
        ]
        declared = "".join([self._declared, *self.apart.values()])
        text = "\n".join(lines) + "\n" + declared + _METADATA + "".join(self._loops)
        return Module(text, tuple(self._routines.items()), tuple(self.apart))


def _tags(scope: str) -> str:
    own, others = _SCOPES[scope]
    return f", !alias.scope !{own}, !noalias !{others}"
