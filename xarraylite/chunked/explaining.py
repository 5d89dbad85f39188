"""Plans of what is larger than memory, before anything is read.

The plan is not a second opinion about what a run would do: it is the run, with a cluster that
computes nothing (`idle`) and adds up what the blocks would read.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._errors import SizeError
from ..arrays.expression import XExpression
from ..assignment.readers import HELD_ASSIGN, is_held
from ..dtypes.names import dtype_name
from ..ir.build import describe
from ..ir.node import Node
from ..labels.assignment import lazily, resulting
from ..labels.labelled import XLabelled
from ..operands.nodes import as_node
from ..transforms import explain as transforms
from ..transforms.explain import Explanation
from . import storing
from .blocks import Folder
from .budget import budget_of
from .cache import Held, Recent, left_of
from .cut import has_stored
from .grid import Grid
from .idle import Idle, Nowhere, with_least
from .lengths import chunks_for
from .loads import Load
from .piece import Piece, piece_of
from .pipeline import Maker, Run, measured
from .selection import chunk_of, chunks_text, owners_of, shape_of, size_of, text_of, whole
from .source import StoredArray, keeps
from .target import Sink, written_at_once
from .trees import Parts, imagined
from .walks import walks

#: Chunks of a dimension that a drawing shows at most.
_SHOWN = 24

#: Needing less than this much of what is read is worth a larger budget.
_WORTH = 0.8

#: How many times what its first piece needs a budget is that is tried, so that no chunk is read
#: twice.
_TIMES = (1.0, 1.25, 1.6, 2.0, 3.0)


@dataclass(slots=True)
class Pass:
    """One pass over stored operands.

    Attributes
    ----------
    what : str
        What it does.
    blocks : int
        How many blocks it has.
    block : tuple of int
        Extents of one, of the result or, for a fold, of what is folded.
    read, needed, written : int
        Bytes of chunks that are read, of different chunks among them, and of results.
    peak, kept : int
        Bytes in flight, and of what is kept for later blocks among them.
    held : int
        Bytes of chunks that are there since an earlier pass.
    once : int
        Of a sum over everything that does not, a budget that would do to read each chunk once; 0
        if none is known.
    steps : tuple of str
        What the kernels of a block do.
    drawing : str
        What a block in the middle reads.
    """

    what: str
    blocks: int
    block: tuple[int, ...] = ()
    read: int = 0
    needed: int = 0
    written: int = 0
    peak: int = 0
    kept: int = 0
    held: int = 0
    once: int = 0
    steps: tuple[str, ...] = ()
    drawing: str = ""
    _touched: set[tuple[int, Any]] = field(default_factory=set)
    _recent: Recent = field(default_factory=lambda: Recent(0))
    _kept_in: dict[int, tuple[tuple[int, ...], Any]] = field(default_factory=dict)
    _before: Sequence[Load] = ()
    _times: float = 1.0  # that chunks are read which are kept, where some blocks are looked at

    @property
    def seconds(self) -> float:
        """Seconds that it takes at the rate of what ran before, or of memory if nothing did."""
        return measured.seconds(self.read + self.held + self.written)

    @property
    def again(self) -> int:
        """Bytes that are read more than once: halos, and chunks that several blocks share."""
        return max(0, self.read - self.needed)  # of some chunks only rows are read

    @property
    def repeats(self) -> bool:
        """Whether what is read more than once would be worth a larger budget."""
        return self.needed < _WORTH * self.read

    def anew(self) -> None:
        """Forget what is kept: blocks of results do not share it."""
        self._recent, self._before = Recent(self.kept), ()

    def read_in(self, grid: Grid, make: Maker) -> None:
        """Learn how often chunks are read that are kept."""
        found = [
            read
            for walk in walks(grid, make, make.even)
            for kept, read in walk.steps(grid.strip or grid.counts)
            if kept <= self.kept
        ]
        once = make(whole(grid.shape)).moved
        self._times = min(found, default=once) / max(1, once)

    def add(self, piece: Piece, times: int, held: Held, carried: bool) -> None:
        """Count a block that stands for some more like it; ``held`` is shared with other passes.

        What is kept is ``carried`` on to the next one, or chunks.
        """
        before, spared, missed = self.needed, 0, list[int]()
        self.written += times * piece.nbytes
        for load in piece.loads:
            for key, nbytes in _pieces(load):
                mark = held.get(key, times * nbytes, lambda: self)
                if key not in self._touched:
                    if mark in (None, self):
                        self.needed += times * nbytes
                    else:
                        self.held += times * nbytes
                if mark is not None and (mark is not self or key in self._touched):
                    spared += nbytes
                elif self.kept:
                    self._recent.get(key, nbytes, functools.partial(missed.append, nbytes))
                self._touched.add(key)
            self._kept_in[id(load.source)] = load.source.shape, load.source.dtype
        if times > 1:  # chunks that others touch too were counted for each
            total = [math.prod(n) * dtype.itemsize for n, dtype in self._kept_in.values()]
            self.needed = max(before, min(self.needed, sum(total)))
        once = sum(missed)
        if times > 1 or carried:
            once = int(self._times * (self.needed - before))
        if carried and times == 1 and not held.sources:
            once = self._read_on(piece.loads)
        self.read += once if self.kept else times * (piece.moved - spared)

    def _read_on(self, loads: Sequence[Load]) -> int:
        """Return the bytes that are read for a block besides what the one before has read."""
        found = 0
        for k, load in enumerate(loads):
            known = [x.box for x in self._before[k : k + 1] if x.source is load.source]
            rest = left_of(known[0], load.box) if known else load.box
            found += int(load.source.moved(rest)) if all(map(len, rest)) else 0
        self._before = loads
        return found

    def __str__(self) -> str:
        times = f", {self.read / self.needed:.2f} times what is needed" if self.again > 0 else ""
        if self.once:
            times += f" (once with memory={self.once})"
        kept = f", {self.kept:,} of them for what later blocks need too" if self.kept else ""
        there = f", and {self.held:,} that an earlier pass has read" if self.held else ""
        told = "about {:.3g} s, as fast as what ran before"
        told = told if measured.known else "at least {:.3g} s, which memory alone takes"
        about = f"; {told.format(self.seconds)}"
        lines = [
            f"{self.what}: {self.blocks} block(s) of {list(self.block)}",
            f"  reads {self.read:,} bytes{times}{there}, makes {self.written:,} bytes{about}",
            f"  needs {self.peak:,} bytes in flight{kept}",
            *[f"  {step}" for step in self.steps],
            *[f"  {line}" for line in self.drawing.split("\n") if line],
        ]
        return "\n".join(lines)


def _pieces(load: Load) -> Iterator[tuple[tuple[int, Any], int]]:
    """Yield what is read whole, a chunk or a box, by a name of its own, and its bytes."""
    source = load.source
    if not isinstance(source, StoredArray):  # a product needs its factors
        factors = [piece_of(node, whole(node.shape)) for node, _ in source.factors]
        yield (id(source), None), sum([piece.moved for piece in factors])
        return
    if not source.whole_chunks:
        yield (id(source), load.box), load.moved
        return
    owners = [owners_of(s, c) for s, c in zip(load.box, source.chunks, strict=True)]
    for index in itertools.product(*owners):
        own = size_of(chunk_of(source.shape, source.chunks, index))
        yield (id(source), index), own * source.dtype.itemsize


@dataclass(frozen=True, slots=True)
class StoragePlan(Explanation):
    """The plan of what is stored, or evaluated into memory, in blocks.

    Attributes
    ----------
    passes : tuple of Pass
        The passes, in order.
    """

    passes: tuple[Pass, ...] = ()

    def __str__(self) -> str:
        return "\n".join([self.title, *[str(part) for part in self.passes]])

    __repr__ = __str__


class _AgainError(Exception):
    """A pass that was to read each chunk once reads one again."""


class _Dry(Idle):
    """Says what running blocks would take; it ends where a pass reads more than ``once``."""

    def __init__(self, budget: int, once: int | None = None) -> None:
        super().__init__()
        self.passes: list[Pass] = []
        self._once = once
        self.run = Run(budget, report=self.begin, cluster=self)

    def begin(self, what: str, blocks: int) -> None:
        """Hear of a pass that begins."""
        super().begin(what, blocks)
        self.passes.append(Pass(what, blocks))

    def see(self, piece: Piece, number: int, times: int, room: tuple[int, int]) -> None:
        """Count a block."""
        own, held, pieces = self.passes[-1], self.run.held, self.pieces
        assert pieces is not None
        own.kept = room[0]
        own.peak = max(own.peak, room[1])
        held.fit(self.run.budget - room[1])
        if number == 0:
            own.anew()
            if times > 1 and own.kept and isinstance(pieces.keys, Grid):
                own.read_in(pieces.keys, pieces.make)
        own.add(piece, times, held, pieces.carried)
        if self._once == len(self.passes) - 1 and times == 1 and own.again:
            raise _AgainError
        if number == 0 and not own.steps:
            plain = all([isinstance(s, range) for load in piece.loads for s in load.box])
            whole_chunks = all([keeps(load.source) for load in piece.loads])
            if isinstance(pieces.make, Parts) and plain and whole_chunks and not pieces.make.kept:
                own.once = room[1] - room[0] + piece.shared
            own.block = shape_of(piece.box)
            if isinstance(pieces.make, Folder):  # has the dimensions of results first
                own.once = pieces.make.once
                own.block = shape_of(pieces.make.inside(piece.box))
            own.steps = transforms.explain(XExpression(imagined(piece.node, piece.spread))).steps
        if number <= own.blocks // 2 < number + times:
            own.drawing = "\n".join([_drawn(load) for load in piece.loads])


def explain(
    destination: object,
    expression: object = None,
    labels: str | None = None,
    *,
    chunks: int | Sequence[int] | None = None,
    memory: int | str | None = None,
) -> Explanation:
    """Return the plan of an evaluation: kernels, loops, bytes moved, temporaries and why.

    Products such as ``a @ b`` are computed when they are written; how they were is told first.

    Parameters
    ----------
    destination : XExpression, container or ``noalias(container)``
        With one argument, the expression that ``xl.eval`` would evaluate; with two, where it
        would be assigned by the view rule, or where only ``assign`` can take its shape by that of
        containers.  For labelled expressions, ``C["i,k"]``.  What would be stored comes first.
    expression : optional
        What would be assigned, or where `store` would store the first: a path, or for lazy
        expressions an array that takes slices.
        After a labelled expression that ``xl.eval`` would evaluate, the labels of the result.
    labels : str, optional
        Those of the result, where a labelled expression over operands that are kept elsewhere
        comes before where it would be stored.
    chunks, memory : optional
        As `store` takes them, for what is stored, or over operands that are kept elsewhere.

    Returns
    -------
    Explanation
        Print it, or read its attributes.

    Raises
    ------
    BroadcastError
        If the expression does not broadcast into the destination.
    TypeError
        If labels, chunks or a budget are given with nothing kept elsewhere and no target, or
        chunks of no target.
    SizeError, ShapeError, DTypeError, StorageError
        Where `store` would refuse the budget (saying how much would do), the labels or the target.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.ones((4, 4))
    >>> with xl.config(engine="compiled"):
    ...     crossed, straight = xl.explain(a, a + a.T), xl.explain(a, a + 1)
    >>> len(crossed.temporaries), len(straight.temporaries)
    (1, 0)
    >>> print(xl.explain(a["i,j"] * a["j,k"], "i,k"))
    float64[4, 4] into a new container
      1. BLAS: float64[4, 4][i,j] * float64[4, 4][j,k] over j, [4, 4] @ [4, 4] in float64
      0 kernel(s), 384 bytes moved, 128 bytes for the result, 0 bytes in 0 temporaries
    """
    held = is_held(expression, HELD_ASSIGN)
    stored = _stored(destination, expression, labels)
    if stored is None and (labels, chunks, memory) != (None, None, None):
        raise TypeError(
            "explain: labels, chunks and memory are for expressions that are stored (labelled ones "
            "in memory are evaluated before that), or over operands that are kept elsewhere "
            f"(open), got {type(destination).__name__}"
        )
    if stored is None:
        return transforms.explain(destination, expression, held)
    if chunks is not None and stored[1] is None:
        raise TypeError("explain: chunks are those of a new array, so they need a target")
    return explained(*stored, chunks, memory)


def _stored(what: object, target: object, labels: str | None) -> tuple[Node, object] | None:
    """Return what is kept elsewhere, or would be, and where it would be; None if nothing is."""
    text = target if labels is None else labels
    if type(what) is XLabelled and isinstance(text, str):  # jagged ones are in memory
        node, target = lazily(*resulting(what, text)), None if labels is None else target
    elif isinstance(what, XExpression):
        node = what.node
    elif isinstance(target, str | os.PathLike) and not isinstance(what, XLabelled):
        node = as_node(what, "explain")
    else:
        return None
    lazy = type(what) is XExpression and target is not None  # into others one may assign
    if node is None or not (lazy or has_stored(node) or isinstance(target, str | os.PathLike)):
        return None
    if labels is not None and type(what) is not XLabelled:
        resulting(what, labels)  # refuses them
    return node, target


def explained(
    root: Node,
    target: object = None,
    chunks: int | Sequence[int] | None = None,
    memory: int | str | None = None,
) -> StoragePlan:
    """Return how an expression would be stored in a target, or evaluated into memory (None).

    Raises
    ------
    SizeError, ShapeError, DTypeError, StorageError
        As storing it would.
    """
    extents, fixed = chunks_for(root, chunks, "explain", target), False
    if target is not None:
        extents, fixed = written_at_once(target, root, extents, "explain")

    def work(run: Run) -> None:
        nowhere = Nowhere(root, fixed, None if isinstance(target, str | os.PathLike) else target)
        storing.run_into(root, Sink(nowhere, extents, "a plan"), run)

    def planned(budget: int, once: int | None = None) -> list[Pass]:
        dry = _Dry(budget, once)
        with_least("explain", work, dry.run, work)
        return dry.passes

    passes = planned(budget_of(memory))
    for number, part in enumerate(passes):
        if part.once:
            part.once = _once(part, number, planned)
    name = getattr(target, "name", "")
    if not isinstance(target, str | os.PathLike):
        name = name or ("memory" if target is None else type(target).__name__)
    nbytes = math.prod(root.shape) * root.dtype.itemsize
    return StoragePlan(
        f"{describe(root)} into {name or target}, {nbytes:,} bytes of {dtype_name(root.dtype)} in "
        f"chunks of {list(extents)}",
        tuple([step for part in passes for step in part.steps]),
        (),
        sum([part.read + part.written for part in passes]),
        nbytes,
        (),
        tuple(passes),
    )


def _once(part: Pass, number: int, planned: Callable[[int, int], list[Pass]]) -> int:
    """Return a budget with which a pass reads each chunk once; 0 if none was found, or it does.

    The one it was told is what its first piece would need, and a later one may need more.
    """
    for times in _TIMES if part.repeats else ():
        budget = int(times * part.once)
        try:
            found = planned(budget, number)
        except (SizeError, _AgainError):  # too little for other blocks, or to keep what they need
            continue
        if number < len(found) and found[number].what == part.what and not found[number].again:
            return budget
    return 0


def _drawn(load: Load) -> str:
    """Return which chunks of an operand a block reads, as a picture if it has two dimensions."""
    source = load.source
    head = f"a block reads {source.name}{text_of(load.box)}"
    if not source.whole_chunks:
        return head
    head += f", chunks {chunks_text(load.box, source.chunks)}"
    counts = [-(-n // c) for n, c in zip(source.shape, source.chunks, strict=True)]
    if len(counts) != 2 or max(counts) > _SHOWN:
        return head
    sides = zip(load.box, source.chunks, strict=True)
    (top, bottom), (left, right) = [(s[0] // c, s[-1] // c) for s, c in sides]
    inside = "." * left + "#" * (right - left + 1) + "." * (counts[1] - right - 1)
    rows = [inside if top <= i <= bottom else "." * counts[1] for i in range(counts[0])]
    return "\n".join([head, *rows])
