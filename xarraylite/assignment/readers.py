"""Keeping the promise that an expression means what it meant when it was written.

Before a buffer is written, `protect` lets every pending expression over its old values keep them
(`Buffer.release`).  The one exception is the expression that is being assigned, if nobody else
holds it: it is evaluated over the old values as part of the assignment, under alias analysis.
Afterwards it has no old values left, so its snapshot expires, and evaluating it again raises
`StaleOperandError`.

"Nobody else holds it" is read from CPython's reference counts, against a baseline measured once
on a temporary expression.  Since Python 3.14 a name that is read lends its reference, so that what
a local variable holds counts as a temporary does; there the caller's variables are looked through
as well.  If the count cannot tell (a tracer that holds frames), the safe side is an extra copy or
an error, never another value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from ..ir.node import Leaf, Node
from ..ir.walk import postorder
from ..memory.buffer import Buffer
from ..memory.snapshots import ALONE, NAMED, are_others, being_written
from ..operands.nodes import HasNode
from . import totals

_CONSUMED = "its own assignment has consumed it"


@contextmanager
def protect(
    buffer: Buffer, root: Node, top: Node | None, value: object, held: bool
) -> Iterator[None]:
    """Keep the old bytes for pending expressions while the block writes ``root`` over them.

    Parameters
    ----------
    buffer : Buffer
        About to be written.
    root : Node
        What will be written.
    top : Node or None
        The node of ``value`` from which ``root`` was made, which the caller holds.
    value : object
        What is assigned.
    held : bool
        Whether others than the assignment hold ``value``.
    """
    totals.settle(buffer)
    kept = held and getattr(value, "lasting", False)
    with being_written(buffer):
        consumed = buffer.release(*(0, 0) if kept else _own(buffer, root, top, value))
        try:
            yield
        finally:
            if consumed is not None:
                consumed.expire(_CONSUMED)


def _own(buffer: Buffer, root: Node, top: Node | None, value: object) -> tuple[int, int]:
    """Count the references to the buffer's snapshot that an assigned expression holds; with its id.

    None if one of its leaves, or a node above them, may have users outside the expression.
    """
    order = postorder(root)
    leaves = [n for n in order if isinstance(n, Leaf) and buffer.is_read_by(n.snapshot)]
    if not leaves:
        return 0, 0
    count = len(leaves)
    if isinstance(value, HasNode):
        count += value.references(leaves[0].snapshot)
    within, which = {id(leaf) for leaf in leaves}, id(leaves[0].snapshot)
    del leaves  # references are counted now
    return (0, 0) if _shared_below(order, within, id(top)) else (count, which)


def _shared_below(order: list[Node], within: set[int], top: int) -> bool:
    """Tell whether one of the leaves, or a node above them, has users outside the graph.

    Containers make a new leaf for each use; a labelled handle keeps the one it was made with.
    """
    uses, touched = _uses(order, within)
    for k in range(len(order)):
        key = id(order[k])
        checked = key in touched and key != top and k != len(order) - 1
        # The list, the call's argument, and one per use inside the graph.
        if checked and sys.getrefcount(order[k]) > uses.get(key, 0) + ALONE:
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


def _measure_lent() -> int:
    """Count references to an object that is an argument and that only a caller names."""
    held = [object()]
    own = held.pop()

    def count(lent: object) -> int:
        return sys.getrefcount(lent)

    return count(own)


#: References to an object that is an argument and has a name in the caller.
LENT = _measure_lent()

#: Whether what a local variable holds counts as a temporary does where it is an argument.
_lends = False


def is_held(value: object, most: int) -> bool:
    """Tell whether others than the statement that calls a method hold the method's argument.

    Called by the method itself, with the references that a temporary has there.
    """
    count = sys.getrefcount(value)
    if count > most or not _lends:
        return count > most
    return any([one is value for one in sys._getframe(2).f_locals.values()])


class _Calibration:
    """Receives a temporary the way containers receive expressions, and counts references."""

    __slots__ = ("count",)

    def __setitem__(self, key: object, value: object) -> None:
        self.count = 0
        while is_held(value, self.count):
            self.count += 1

    def method(self, value: object) -> None:
        self.count = 0
        while is_held(value, self.count):
            self.count += 1

    def __iadd__(self, value: object) -> Self:
        self.count = 0
        while is_held(value, self.count):
            self.count += 1
        return self


def _measure_handles() -> tuple[int, int, int, bool]:
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
    return item, call, update, probe.count == item


#: More references than these to an assigned expression mean that someone else holds it.
HELD_SETITEM, HELD_ASSIGN, HELD_UPDATE, _lends = _measure_handles()


class _Called:
    """The same for methods that machine code stands before (`transforms.natives`).

    Attributes
    ----------
    assign : int
        For `assign`.  Its caller in machine code holds the value too, as it does in ``c[...] = t``.
    """

    __slots__ = ("assign",)

    assign: int


called = _Called()
called.assign = HELD_ASSIGN


def waiting_for(buffer: Buffer) -> int:
    """Count the references that keep a buffer's bytes; -1 where more than counting is to do."""
    if buffer.special and not buffer.is_ordinary():
        return -1
    return buffer.shared_waiting() if buffer.shared else buffer.references()


def freed(buffer: Buffer, own: int = 0) -> bool:
    """Have nobody wait for a buffer's bytes but so many references to them; tell whether so.

    Others get a copy first, as they would where a write takes the general way, which is left what
    is special, and shared bytes of which others may have snapshots too beside those references.
    """
    waiting = waiting_for(buffer)
    if waiting == own:
        return True
    if buffer.special or (waiting < 0 and own):
        return False
    totals.settle(buffer)
    buffer.release()
    return waiting_for(buffer) == 0


def wrote(
    buffer: Buffer, own: int, reads: Sequence[object], write: Callable[..., object], *args: Any
) -> bool:
    """Call what writes a buffer, with arguments, where it is `freed`; tell whether it has written.

    Where other threads may read meanwhile, nobody gets a snapshot of the bytes before that is done.
    The ``own`` references are of what is read, and nobody's where another snapshot has taken the
    place of theirs.  What has not written returns False.
    """
    if waiting_for(buffer) != own and not freed(buffer, own):
        return False
    if not are_others():
        return write(*args) is not False
    with being_written(buffer):
        which = id(buffer._known())
        kept = buffer.release(own if which in map(id, reads) else 0, which)
        done = True
        try:
            done = write(*args) is not False
        finally:
            if kept is not None:
                kept.expire(_CONSUMED) if done else buffer._give_back([kept])
    return done


def own_of(buffer: Buffer, e: Any, made_of: Any = None) -> int:
    """Count an expression's references to a buffer's snapshot, and those of what it was made of.

    None is its own where another handle has the same operands, as ``-e`` has those of ``e``.
    """
    handles = 1
    if made_of is not None:
        if getattr(made_of, "_operands", None) is not getattr(e, "_operands", ()):
            return own_of(buffer, e) + own_of(buffer, made_of)
        handles = 2
    operands = getattr(e, "_operands", ())
    own = sys.getrefcount(operands) < NAMED + handles
    return operands.count(buffer._known()) if own else 0
