"""Whether a function is being traced, so that what it closes over is read late.

A traced function may use containers that are not among its arguments.  A plain call would read
them at every call, so a leaf that is made of a container while a trace runs reads late.
Expressions that existed before keep their own snapshots, and so their meaning.

An integer array that is used as an index is checked and copied, so its leaf cannot read late.  The
array is remembered instead (containers, expressions and NumPy's arrays; a list is a constant, as
Python numbers are), and who runs the trace again reads it again.

A trace may have a *writer*, which is given what functions and products that are no nodes would
compute of traced operands, and returns what stands for the result.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Protocol

from .._locks import ForkLock, in_children
from .._records import record
from ..ir.node import Leaf, Node, Scalar
from ..ir.walk import postorder
from ..memory.buffer import Buffer
from ..memory.snapshots import LateSnapshot, Snapshot


class TraceWriter(Protocol):
    """Takes what is computed without nodes."""

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        function: Callable[[dict[str, Any]], Any] | None = None,
    ) -> Any:
        """Return the result of a function, or NotImplemented where it may be called.

        ``function`` calls it with other arguments.
        """

    def taken(self, node: Node, axis: int, index: Node) -> Node:
        """Return a node read along a dimension through integers that have no values yet."""

    def product(self, factors: Sequence[Any], kept: Sequence[str]) -> Any:
        """Return the product of two labelled nodes, as a node that has the kept labels."""


@record(slots=True)
class Trace:
    """What a trace has met.

    Attributes
    ----------
    snapshots : dict
        Late snapshots by the identity of their buffer.
    constant : bool
        Whether the function asked for no values, which may be others at the next call.
    indices : dict
        By the identity of an index's leaf: the leaf, the array it is of, and the extent of the
        dimension that is read through it.
    writer : TraceWriter or None
        Who is given what no node can say.
    """

    snapshots: dict[int, Snapshot] = field(default_factory=dict)
    constant: bool = True
    indices: dict[int, tuple[Leaf, object, int]] = field(default_factory=dict)
    writer: TraceWriter | None = None


class _State(threading.local):
    """The trace that this thread runs; None outside traces."""

    trace: Trace | None = None


_state = _State()

#: How many threads trace: while one does, leaves are made by `snapshot_of` alone.
running = ctypes.c_int64(0)  # machine code reads it too (`transforms.natives`)

_lock, _threads = ForkLock(), set[int]()


@in_children
def _count_own() -> None:
    """Begin to count anew in a forked child, in which no other thread traces."""
    _threads.clear()
    _count()


def _count() -> None:
    """Count this thread if it traces, and else not; an interrupt leaves nothing that adds up."""
    with _lock.held:
        (_threads.discard if _state.trace is None else _threads.add)(threading.get_ident())
        running.value = len(_threads)


def is_active() -> bool:
    """Tell whether this thread runs a trace."""
    return _state.trace is not None


def writer() -> TraceWriter | None:
    """Return the writer of the trace that this thread runs."""
    trace = _state.trace
    return None if trace is None else trace.writer


def is_traced(root: Node) -> bool:
    """Tell whether an expression is of arguments of a function that is being traced."""
    return any(
        (isinstance(node, Leaf) and node.snapshot.traced)
        or (isinstance(node, Scalar) and node.parameter >= 0)
        for node in postorder(root)
    )


def snapshot_of(buffer: Buffer) -> Snapshot:
    """Return the snapshot that a leaf over ``buffer`` holds."""
    trace = _state.trace
    if trace is None:
        return buffer.snapshot()
    return trace.snapshots.setdefault(id(buffer), LateSnapshot(buffer))


def note_values() -> None:
    """Note that values are asked for, if a trace runs: what it gives holds for this call alone."""
    if running.value and _state.trace is not None:
        _state.trace.constant = False


@contextmanager
def remembering() -> Iterator[None]:
    """Read, inside the ``with``, values that are noted otherwise: those of an index."""
    trace = _state.trace
    before = trace is None or trace.constant
    yield
    if trace is not None:
        trace.constant = before


def remember_index(leaf: Leaf, index: object, extent: int) -> None:
    """Note which array a leaf is a checked copy of, if a trace runs."""
    if _state.trace is not None and not isinstance(index, list):
        _state.trace.indices[id(leaf)] = leaf, index, extent


@contextmanager
def tracing(writer: TraceWriter | None = None) -> Iterator[Trace]:
    """Make leaves read late inside the ``with``."""
    before, trace = _state.trace, Trace(writer=writer)
    try:
        _state.trace = trace
        _count()
        yield trace
    finally:
        _state.trace = before
        _count()
