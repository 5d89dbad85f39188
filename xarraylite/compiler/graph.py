"""The canonical form of an expression: distinct nodes in order, and a signature.

Two evaluations with equal signatures run the same program with other addresses and scalars.
The signature therefore holds everything a plan may depend on — operations, dtypes, shapes,
strides, which leaves are the same memory, how far leaves lie from the destination they overlap —
and nothing else: no addresses, no values.  Structurally equal nodes become one on the way, so a
shared or repeated sub-expression is computed once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

import numpy as np

from .._errors import StaleOperandError, TracedValueError
from .._records import record
from ..ir.build import describe
from ..ir.node import Leaf, Node, Scalar, Source, Stored
from ..ir.walk import postorder, structure
from ..layout.tiled import Map
from ..memory.block import Memory
from ..memory.target import Target

Key = tuple[object, ...]


class Streamed(TracedValueError):
    """An expression has operands that are no memory; their source evaluates it, in blocks.

    Users see it only where nobody does: in a function that is traced.
    """

    def __init__(self, source: Source) -> None:
        super().__init__(
            f"jit: the traced function reads {source}, which is kept elsewhere and read in blocks; "
            "pass it as an argument, which is read into memory, or evaluate it first"
        )
        self.source = source


@record(slots=True)
class Graph:
    """One expression, ready to be planned or run.

    Attributes
    ----------
    nodes : list of Node
        Distinct nodes, arguments first; the last one is the result.
    args : list of tuple of int
        For each node the ordinals of its arguments.
    leaves, scalars : list
        Distinct operands in order of first appearance.
    signature : tuple
        Canonical key (see the module docstring).
    """

    nodes: list[Node]
    args: list[tuple[int, ...]]
    leaves: list[Leaf]
    scalars: list[Scalar]
    signature: Key

    def bind(self, leaves: Sequence[Leaf], scalars: Mapping[int, Scalar]) -> Graph:
        """Return the same graph over other operands.

        Parameters
        ----------
        leaves : sequence of Leaf
            Replacements, in the order of `leaves`.
        scalars : mapping of int to Scalar
            Replacements by the identity of the scalar they replace.
        """
        others: dict[int, Node] = {
            id(old): new for old, new in zip(self.leaves, leaves, strict=True)
        }
        others.update(scalars)
        nodes = [others.get(id(node), node) for node in self.nodes]
        return Graph(nodes, self.args, list(leaves), self.scalars, self.signature)


def canonical(root: Node, target: Target | None, noalias: bool, *, traced: bool = False) -> Graph:
    """Return the canonical form of ``root`` as evaluated into ``target``.

    Raises
    ------
    StaleOperandError
        If an operand was overwritten and its old values are gone.
    TracedValueError
        If an operand is an argument of a function being traced, unless ``traced``.
    Streamed
        If an operand is no memory.
    """
    span = None if noalias or target is None else target.span()
    builder = _Builder(span, traced)
    for node in postorder(root):
        builder.add(node)
    signature = (noalias, tuple(builder.ordinals))
    return Graph(builder.nodes, builder.args, builder.leaves, builder.scalars, signature)


@record(slots=True, eq=False)
class _Builder:
    """Interns nodes by structural key while walking in order."""

    target_span: tuple[int, int, int] | None
    traced: bool
    nodes: list[Node] = field(default_factory=list)
    args: list[tuple[int, ...]] = field(default_factory=list)
    leaves: list[Leaf] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    ordinals: dict[Key, int] = field(default_factory=dict)
    number: dict[int, int] = field(default_factory=dict)
    values: dict[tuple[object, object], int] = field(default_factory=dict)
    memory: dict[tuple[object, int], int] = field(default_factory=dict)

    def add(self, node: Node) -> None:
        number = self.number
        args = tuple([number[id(arg)] for arg in node.args])
        made = _KEYS.get(type(node))
        key = structure(node, args) if made is None else made(node, args, self)
        ordinal = self.ordinals.get(key)
        if ordinal is None:
            ordinal = self.ordinals[key] = len(self.nodes)
            self.nodes.append(node)
            self.args.append(args)
            if not args:
                if isinstance(node, Leaf):
                    self.leaves.append(node)
                elif isinstance(node, Scalar):
                    self.scalars.append(node)
        number[id(node)] = ordinal

    def distance(self, leaf: Leaf) -> int | None:
        """Bytes from the target to a leaf that may overlap it, else None."""
        if self.target_span is None:
            return None
        low, high, start = self.target_span
        first, last, begin = byte_span(leaf.snapshot, leaf.map, leaf.dtype.itemsize)
        return begin - start if first <= high and low <= last else None


def byte_span(buffer: Memory, layout: Map, itemsize: int) -> tuple[int, int, int]:
    """Return the first and last byte that a layout reaches, and the address of element 0."""
    low, high = layout.byte_range(itemsize)
    base = buffer.address
    return base + low, base + high, base + layout.byte_start(itemsize)


_TRACED = (
    "jit: the traced function asks its argument {} for a value; while it is traced only shapes and "
    "dtypes are known (use xl.where instead of if)"
)


def _leaf_key(node: Leaf, args: tuple[int, ...], builder: _Builder) -> Key:
    snapshot = node.snapshot
    if snapshot.traced and not builder.traced:
        raise TracedValueError(_TRACED.format(describe(node)))
    if snapshot.stale is not None:
        raise StaleOperandError(
            f"operand {describe(node)} was overwritten after the expression was written "
            f"({snapshot.stale}); evaluate the expression before writing, or wrap it in xl.late "
            "to read the new values"
        )
    if snapshot.retired:
        raise StaleOperandError(
            f"late operand {describe(node)} belongs to memory that its container gave up when "
            "it was resized; build the expression again"
        )
    # An argument being traced may be other memory in the next call: only itself is the same.
    base = ("traced", id(snapshot)) if snapshot.traced else snapshot.address
    place = (base, node.map.byte_start(node.dtype.itemsize))
    number = builder.memory.setdefault(place, len(builder.memory))
    return ("leaf", node.dtype, node.shape, node.map.pattern, number, builder.distance(node))


def _stored_key(node: Stored, args: tuple[int, ...], builder: _Builder) -> Key:
    raise Streamed(node.source)


def _scalar_key(node: Scalar, args: tuple[int, ...], builder: _Builder) -> Key:
    if node.parameter >= 0 and not builder.traced:
        raise TracedValueError(_TRACED.format(describe(node)))
    # Which scalars are the same is part of the signature, not which values they have.
    value: object = id(node)
    if node.parameter < 0 and isinstance(node.value, np.generic):
        value = node.value.tobytes()
    number = builder.values.setdefault((node.dtype, value), len(builder.scalars))
    return ("scalar", node.dtype, number)


_KEYS: dict[type[Node], Callable[..., Key]] = {
    Leaf: _leaf_key,
    Stored: _stored_key,
    Scalar: _scalar_key,
}
