"""Keeping the promise that an expression means what it meant when it was written.

Before a buffer is written, `protect` asks whether expressions over its old values are still
alive.  Three answers are possible.

* None is (one look-up): nothing to do.
* One is that the assignment itself does not consume: its operands get a copy of the buffer
  first, and the write goes on.
* Only the expression being assigned is, and nobody else holds it: it is evaluated over the old
  values as part of the assignment, under alias analysis.  Afterwards it has no old values left,
  so it is marked stale, and evaluating it again raises `StaleOperandError`.

"Nobody else holds it" is read from CPython's reference counts, against a baseline measured once
on a temporary expression.  If the count cannot tell (another interpreter, a tracer that holds
frames), the safe side is an extra copy or an error, never another value.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Self

from ..expr.node import Leaf, Node
from ..expr.walk import postorder
from ..storage.buffer import Buffer, Reading


@dataclass(slots=True)
class Operand:
    """An expression handle that an assignment was given.

    Attributes
    ----------
    node : Node
        The handle's node.
    held : bool
        Whether anyone but the assignment holds the handle.
    """

    node: Node
    held: bool


def protect(buffer: Buffer, root: Node, operand: Operand | None) -> int:
    """Keep the old bytes for pending expressions before ``root`` is written over them.

    Parameters
    ----------
    buffer : Buffer
        About to be written.
    root : Node
        What will be written.
    operand : Operand or None
        The handle that ``root`` was made from; None for a plain value.

    Returns
    -------
    int
        Bytes copied.
    """
    buffer.made = None
    reading = buffer.pending()
    if reading is None:
        return 0
    if _is_consumed(reading, buffer, root, operand) and not buffer.is_read_elsewhere():
        return 0
    return buffer.snapshot_readers()


def consume(buffer: Buffer) -> None:
    """Mark what still refers to the old bytes stale, after they were overwritten."""
    if buffer.pending() is not None:
        buffer.invalidate_readers("its own assignment has consumed it")


def _is_consumed(reading: Reading, buffer: Buffer, root: Node, operand: Operand | None) -> bool:
    """Tell whether every reader of ``reading`` belongs to ``root`` and to nobody else."""
    if reading.buffer is not buffer:
        return False  # another borrower of the same bytes
    order = postorder(root)
    within = {id(n) for n in order if isinstance(n, Leaf) and n.reading is reading}
    # Seen from here: one reference per leaf, the caller's, this function's and the call's own.
    if sys.getrefcount(reading) > len(within) + _READING_BASE:
        return False
    if not within:
        return False
    if operand is not None and operand.held:
        return False
    return not _shared_below(order, within, operand)


def _shared_below(order: list[Node], within: set[int], operand: Operand | None) -> bool:
    """Tell whether one of the leaves, or a node above them, has users outside the graph.

    Containers make a new leaf for each use; a labelled handle keeps the one it was made with.
    """
    uses, touched = _uses(order, within)
    top = None if operand is None else id(operand.node)
    for k in range(len(order)):
        key = id(order[k])
        checked = key in touched and key != top and k != len(order) - 1
        # The list, the call's argument, and one per use inside the graph.
        if checked and sys.getrefcount(order[k]) > uses.get(key, 0) + OWNED:
            return True
    return False


def _uses(order: list[Node], within: set[int]) -> tuple[dict[int, int], set[int]]:
    """Count each node's uses inside the graph, and find the nodes above the leaves ``within``.

    A function of its own, whose loop variables are gone when references are counted.
    """
    uses: dict[int, int] = {}
    touched = set(within)
    for node in order:
        for arg in node.args:
            uses[id(arg)] = uses.get(id(arg), 0) + 1
            if id(arg) in touched:
                touched.add(id(node))
    return uses, touched


def _measure_reading() -> int:
    """Count the references of a reading that one leaf holds, as `_is_consumed` sees them."""

    class Probe:
        __slots__ = ("held",)

    def callee(value: object) -> int:
        return sys.getrefcount(value)

    def caller(leaf: Probe) -> int:
        kept = leaf.held  # type: ignore[attr-defined]
        return callee(kept)

    probe = Probe()
    probe.held = object()  # type: ignore[attr-defined]
    return caller(probe) - 1


def _measure_node() -> int:
    """Count the references of an object that only a list holds, as `_shared_below` sees them."""
    order = [object()]
    return max(sys.getrefcount(order[k]) for k in range(1))


_READING_BASE = _measure_reading()

#: References to an object that only one list, tuple or attribute holds, as a callee counts them.
OWNED = _measure_node()


class _Calibration:
    """Receives a temporary the way containers receive expressions, and counts references.

    The count is taken in a statement of its own, as containers do: inside a call's argument list
    the value would already stand on the evaluation stack once more.
    """

    __slots__ = ("count",)

    def __setitem__(self, key: object, value: object) -> None:
        count = sys.getrefcount(value)
        self.count = count

    def method(self, value: object) -> None:
        count = sys.getrefcount(value)
        self.count = count

    def __iadd__(self, value: object) -> Self:
        count = sys.getrefcount(value)
        self.count = count
        return self


def _measure_handles() -> tuple[int, int, int]:
    """Return the counts of a temporary in ``c[...] = t``, ``c.assign(t)`` and ``c += t``."""
    probe = _Calibration()
    probe[...] = object()
    item = probe.count
    probe.method(object())
    call = probe.count
    probe += object()
    update = probe.count
    kept = object()
    probe[...] = kept
    if probe.count == item:  # arguments borrow from locals: no count can tell them apart
        return 0, 0, 0
    return item, call, update


#: More references than these to an assigned expression mean that someone else holds it; 0 where
#: the interpreter cannot tell, so that every expression counts as held.
HELD_SETITEM, HELD_ASSIGN, HELD_UPDATE = _measure_handles()
