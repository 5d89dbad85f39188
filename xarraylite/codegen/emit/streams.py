"""Addressing: how kernels find their operands, and where the numbers they need are kept.

A kernel takes one argument, the address of a block of 64-bit words.  A `Words` table names each
word, for the emitter (which reads them by name) and for the planner (which fills them by the
same name).  Address stream 0 is the destination; the others are the body's operands in order.

Outer loops are one counter ``t`` with its multi-index: every stream's pointer is moved by a stride
per step and by a carry where a digit wraps, so a range of ``t`` can start anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from ..._records import record
from ...dtypes.names import DType
from .body import Body, Const
from .builder import Builder, Local, Value
from .memory import fetch
from .tokens import token


class Inner(Enum):
    """How a stream moves along the inner loop."""

    STILL = 0
    """Not at all."""
    UNIT = 1
    """To the next element in memory."""
    ANY = 2
    """By a stride known at run time."""
    INTERLEAVED = 3
    """Over as many elements as the kernel has lanes, which are its lanes' elements."""
    CROSSED = 4
    """By a stride known at run time; the next element in memory is that of a tile's next row."""


class Access(Enum):
    """What is known about an operand's memory."""

    APART = 0
    """It shares no byte with the destination."""
    SHARED = 1
    """It may share bytes with the destination; the order of loads and stores matters."""
    SAME = 2
    """Each element is the destination's own element."""
    POSITION = 3
    """There is no memory: the stream is the value (an iota)."""
    SCRATCH = 4
    """It was copied to the kernel's own scratch."""


@record(frozen=True, slots=True)
class Operand:
    """What a kernel's code depends on, of one stream.

    Where ``packing`` elements share a byte, addresses and strides count elements.
    """

    dtype: DType
    inner: Inner
    access: Access
    packing: int = 1

    @property
    def memory(self) -> str:
        """How elements are kept, by the names of `memory`."""
        names = token(self.dtype)
        if self.packing == 1:
            return names.memory
        return "truth1" if names.kind == "b" else f"packed{8 // self.packing}"

    @property
    def scope(self) -> str:
        """What memory its loads may meet."""
        return _SCOPE.get(self.access, "dst")


class Words:
    """Names of the words in a kernel's argument block, in order."""

    __slots__ = ("index",)

    def __init__(self, *names: str) -> None:
        self.index: dict[str, int] = {}
        self.add(*names)

    def add(self, *names: str) -> None:
        """Append words."""
        for name in names:
            self.index[name] = len(self.index)

    def __len__(self) -> int:
        return len(self.index)


#: The alias scope of what is not the destination's.
_SCOPE = {Access.APART: "src", Access.SCRATCH: "turned"}

RANGES = ("t0", "t1", "j0", "j1")


def words_of(
    names: Sequence[str],
    loops: dict[str, int],
    operands: Sequence[Operand],
    body: Body,
    gathers: int,
) -> Words:
    """Return the words of a kernel, after some that it has besides.

    They are the extents of its loops, of which ``loops`` gives the number by the letter of their
    counter; each stream's base, its strides along every loop and its inner stride; the gather
    strides; and the scalars (two words for a complex128).
    """
    words = Words(*names)
    for letter, count in loops.items():
        words.add(*[f"n_{letter}{d}" for d in range(count)])
    for w, operand in enumerate(operands):
        words.add(f"p{w}")
        for letter, count in loops.items():
            words.add(*[f"s{w}_{letter}{d}" for d in range(count)])
        if operand.inner in (Inner.ANY, Inner.CROSSED):
            words.add(f"e{w}")
    words.add(*[f"g{k}" for k in range(gathers)])
    for step in body.instructions:
        if isinstance(step, Const):
            words.add(f"c{step.slot}")
            if token(step.dtype).value == "c128":
                words.add(f"c{step.slot}+")
    return words


def load_words(b: Builder, words: Words, body: Body | None = None) -> dict[str, Value]:
    """Emit the loads of every word; return the values by name.

    The scalars of a body have their dtypes, and the identity ``z`` that of its result; all other
    words are int64.
    """
    dtypes: dict[str, DType] = {} if body is None else {"z": body.dtype}
    for step in () if body is None else body.instructions:
        if isinstance(step, Const):
            dtypes[f"c{step.slot}"] = step.dtype
    found: dict[str, Value] = {}
    for name, at in words.index.items():
        if name.endswith("+"):
            continue  # the second half of a complex128
        kind = token(dtypes[name]).value if name in dtypes else "i64"
        found[name] = fetch(b, kind, b.block + 8 * at, 0, "src")
    return found


@record(frozen=True, slots=True)
class MultiIndex:
    """Loops that are run by one counter.

    Attributes
    ----------
    builder : Builder
        Where instructions go.
    letter : str
        Tells its words from those of another multi-index in the same kernel.
    words : mapping of str to Value
        The argument block.
    pointers : mapping of int to Local
        The streams it moves.
    digits : list of Local
        Its loops' indices.
    """

    builder: Builder
    letter: str
    words: Mapping[str, Value]
    pointers: Mapping[int, Local]
    digits: list[Local]

    @staticmethod
    def at(
        b: Builder,
        letter: str,
        count: int,
        words: Mapping[str, Value],
        pointers: Mapping[int, Local],
        first: Value,
    ) -> MultiIndex:
        """Emit the start of ``count`` loops: every pointer is moved to position ``first``."""
        digits: list[Value] = []
        rest = first
        for d in range(count - 1, 0, -1):
            digits.insert(0, rest % words[f"n_{letter}{d}"])
            rest = rest // words[f"n_{letter}{d}"]
        digits = [rest, *digits] if count else []
        for w, pointer in pointers.items():
            for d, digit in enumerate(digits):
                pointer.add(digit * words[f"s{w}_{letter}{d}"])
        return MultiIndex(b, letter, words, pointers, [b.local(digit) for digit in digits])

    def step(self) -> None:
        """Emit what moves every pointer to the next position."""
        if not self.digits:
            return
        last = len(self.digits) - 1
        self.digits[last].add(1)
        for w, pointer in self.pointers.items():
            pointer.add(self.words[f"s{w}_{self.letter}{last}"])
        self._carry(last)

    def _carry(self, d: int) -> None:
        if d == 0:
            return
        x, words = self.letter, self.words
        extent = words[f"n_{x}{d}"]
        with self.builder.when(self.digits[d].get().equals(extent)):
            self.digits[d].set(0)
            self.digits[d - 1].add(1)
            for w, pointer in self.pointers.items():
                pointer.add(words[f"s{w}_{x}{d - 1}"] - extent * words[f"s{w}_{x}{d}"])
            self._carry(d - 1)
