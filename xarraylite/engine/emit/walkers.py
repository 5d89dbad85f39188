"""Addressing: how kernels find their operands, and where the numbers they need are kept.

A kernel takes one argument, the address of a block of 64-bit words.  A `Words` table names each
word, for the emitter (which reads them by name) and for the planner (which fills them by the
same name).  Walker 0 is the destination; the others are the body's operands in order.

Outer loops are one counter ``t`` with an odometer: every walker's pointer is moved by a stride
per step and by a carry where a digit wraps, so a range of ``t`` can start anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from .body import Body, Const
from .source import Source
from .tokens import token

DType = np.dtype[np.generic]


class Inner(Enum):
    """How a walker moves along the inner loop."""

    STILL = 0
    """Not at all."""
    UNIT = 1
    """To the next element in memory."""
    ANY = 2
    """By a stride known at run time."""
    WOVEN = 3
    """Over as many elements as the kernel has lanes, which are its lanes' elements."""


class Access(Enum):
    """What is known about an operand's memory."""

    APART = 0
    """It shares no byte with the destination."""
    SHARED = 1
    """It may share bytes with the destination; the order of loads and stores matters."""
    SAME = 2
    """Each element is the destination's own element."""
    POSITION = 3
    """There is no memory: the walker is the value (an iota)."""


@dataclass(frozen=True, slots=True)
class Operand:
    """What a kernel's source depends on, of one walker.

    Where ``packing`` elements share a byte, addresses and strides count elements.
    """

    dtype: DType
    inner: Inner
    access: Access
    packing: int = 1

    @property
    def memory(self) -> str:
        """Suffix of the functions that load and store such elements."""
        names = token(self.dtype)
        if self.packing == 1:
            return names.memory
        return "truth1" if names.kind == "b" else f"packed{8 // self.packing}"


class Words:
    """Names of the words in a kernel's argument block, in order."""

    __slots__ = ("index",)

    def __init__(self) -> None:
        self.index: dict[str, int] = {}

    def add(self, *names: str) -> None:
        """Append words."""
        for name in names:
            self.index[name] = len(self.index)

    def address(self, name: str) -> str:
        """Return the source of a word's address."""
        return f"block + {8 * self.index[name]}"

    def __len__(self) -> int:
        return len(self.index)


RANGES = ("t0", "t1", "j0", "j1")


def add_walkers(words: Words, operands: Sequence[Operand], loops: dict[str, int]) -> None:
    """Append each walker's base, its strides along every loop and its inner stride.

    ``loops`` gives the number of dimensions of each odometer by its letter.
    """
    for w, operand in enumerate(operands):
        words.add(f"p{w}")
        for letter, count in loops.items():
            words.add(*[f"s{w}_{letter}{d}" for d in range(count)])
        if operand.inner is Inner.ANY:
            words.add(f"e{w}")


def load_words(source: Source, words: Words, dtypes: dict[str, DType]) -> None:
    """Append the lines that read every word into a local of its name."""
    for name in words.index:
        if name in dtypes:
            source.line(f"{name} = load_{token(dtypes[name]).value}({words.address(name)}, 0)")
        elif not name.endswith("+"):
            source.line(f"{name} = load_i64({words.address(name)}, 0)")


@dataclass(frozen=True, slots=True)
class Odometer:
    """Loops that are run by one counter.

    Attributes
    ----------
    letter : str
        Tells its names from those of another odometer in the same kernel.
    count : int
        Number of loops.
    pointer : str
        Prefix of the pointers it moves.
    walkers : sequence of int
        The walkers it moves.
    """

    letter: str
    count: int
    pointer: str
    walkers: Sequence[int]

    def start(self, source: Source, first: str) -> None:
        """Append the lines that move every pointer to position ``first``."""
        if self.count == 0:
            return
        x = self.letter
        source.line(f"rest_{x} = {first}")
        for d in range(self.count - 1, 0, -1):
            source.line(f"i_{x}{d} = rest_{x} % n_{x}{d}")
            source.line(f"rest_{x} = rest_{x} // n_{x}{d}")
        source.line(f"i_{x}0 = rest_{x}")
        for w in self.walkers:
            moved = " + ".join(f"i_{x}{d} * s{w}_{x}{d}" for d in range(self.count))
            source.line(f"{self.pointer}{w} += {moved}")

    def step(self, source: Source) -> None:
        """Append the lines that move every pointer to the next position."""
        if self.count == 0:
            return
        last = self.count - 1
        source.line(f"i_{self.letter}{last} += 1")
        for w in self.walkers:
            source.line(f"{self.pointer}{w} += s{w}_{self.letter}{last}")
        self._carry(source, last)

    def _carry(self, source: Source, d: int) -> None:
        if d == 0:
            return
        x = self.letter
        with source.block(f"if i_{x}{d} == n_{x}{d}:"):
            source.line(f"i_{x}{d} = 0")
            source.line(f"i_{x}{d - 1} += 1")
            for w in self.walkers:
                source.line(f"{self.pointer}{w} += s{w}_{x}{d - 1} - n_{x}{d} * s{w}_{x}{d}")
            self._carry(source, d - 1)


def add_values(words: Words, body: Body, gathers: int) -> None:
    """Append the gather strides and the scalars (two words for a complex128)."""
    words.add(*[f"g{k}" for k in range(gathers)])
    for step in body.instructions:
        if isinstance(step, Const):
            words.add(f"c{step.slot}")
            if token(step.dtype).value == "c128":
                words.add(f"c{step.slot}+")


def constants(body: Body) -> dict[str, DType]:
    """Return the dtype of each scalar by the name of its word."""
    return {f"c{s.slot}": s.dtype for s in body.instructions if isinstance(s, Const)}


def readers(operands: Sequence[Operand], pointer: str, index: str, woven: str = "") -> list[str]:
    """Return per body operand (walkers 1…) the source that reads its element at ``index``.

    Operands in which the kernel's lanes lie side by side are read at ``woven`` instead.  An ``@``
    marks where a gather adds its offset to the address.
    """
    return [
        _reader(operands, w, pointer, woven if operands[w].inner is Inner.WOVEN else index)
        for w in range(1, len(operands))
    ]


def _reader(operands: Sequence[Operand], w: int, pointer: str, index: str) -> str:
    operand = operands[w]
    base = f"{pointer}{0 if operand.access is Access.SAME else w}"
    if operand.access is Access.POSITION:
        return base if operand.inner is Inner.STILL else f"({base} + ({index}) * e{w})"
    verb = "load" if operand.access is Access.APART else "peek"
    at, offset = place(operand, w if operand.access is not Access.SAME else 0, index)
    return f"{verb}_{operand.memory}({base}{at}@, {offset})"


def place(operand: Operand, w: int, index: str) -> tuple[str, str]:
    """Return what to add to walker ``w``'s pointer, and the element index from there."""
    if operand.inner in (Inner.UNIT, Inner.WOVEN):
        return "", index
    if operand.inner is Inner.STILL:
        return "", "0"
    return f" + ({index}) * e{w}", "0"
