"""Plans of large work, kept with a kind and bound to the operands of each evaluation.

Planning depends on structure, extents and strides, and on which operands are the same; never on
addresses or numbers.  So a plan is made of a sample of the expression, over memory that does not
exist, and kept with the expression's kind; `Bound` says which of the kind's operands are the plan's
leaves and scalars.  Evaluating the expression again needs no nodes: addresses and numbers are taken
out of the operands, and the steps run as after planning, in pieces, on several threads.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from .._records import record
from ..codegen.kernel import KernelRaised
from ..compiler.graph import Graph, canonical
from ..compiler.program import Program
from ..dtypes.names import DType
from ..ir.kind import Kind, leaf_of, strides_of
from ..ir.node import FREE, SHAPE, Scalar, Shape
from ..ir.translation import imagined, node_of, scalars_of
from ..layout.strided import Strided
from ..memory.block import Memory
from ..memory.buffer import NOWHERE, Buffer
from ..memory.snapshots import Snapshot, pinned
from ..memory.target import Target
from ..overlap.overlap import repeats
from .evaluate import program_of, result_layout
from .run import run

#: Where the destination of a sample lies: apart from its operands, and where some may be.
_TARGET = 1 << 60

_APART: Mapping[int, int] = {}


@record(frozen=True, slots=True)
class Bound:
    """A plan whose operands are found in those of a kind.

    Attributes
    ----------
    program : Program
        The plan.
    leaves : tuple of int
        For each leaf the place of its memory among the operands; where it begins stands behind.
    scalars : tuple of (int, int, dtype)
        For each scalar its number in the plan, its place among the operands, and its dtype.
    place : Strided
        Where the result goes, from its first element on.
    result : Kind
        Of the result's memory.
    """

    program: Program
    leaves: tuple[int, ...]
    scalars: tuple[tuple[int, int, DType], ...]
    place: Strided
    result: Kind

    def run(self, to: Memory, start: int, operands: Sequence[Any]) -> bool:
        """Evaluate into memory, ``start`` bytes into which the first element lies.

        Returns
        -------
        bool
            False where a user's function raised: the general way tells of it.
        """
        read = [operands[k] for k in self.leaves]
        starts = [operands[k + 1] for k in self.leaves]
        numbers = {n: Scalar((), d, d.type(operands[k])) for n, k, d in self.scalars}
        with pinned([memory for memory in read if isinstance(memory, Snapshot)]):
            try:
                run(self.program, [to, *read], [start, *starts], numbers)
            except KernelRaised:
                return False
        return True


def sameness(operands: Sequence[Any]) -> tuple[Hashable, ...] | None:
    """Return which operands of a kind are one, or in one memory, and extents of what is folded.

    None where one cannot be read as it is: overwritten, or an argument of a function being traced.
    """
    first: dict[Hashable, int] = {}
    found: list[Hashable] = []
    follows = False
    for k, item in enumerate(operands):
        if follows:  # where the memory before it begins
            follows = False
        elif item.__class__ is tuple:
            found.append(item)
        elif isinstance(item, Memory):
            if isinstance(item, Snapshot) and (item.stale is not None or item.traced or item.late):
                return None
            found.append(first.setdefault(id(item), k))
            found.append(first.setdefault((id(item), operands[k + 1]), k))
            follows = True
        elif isinstance(item, Scalar):
            return None
        else:
            found.append(first.setdefault(id(item), k))
    return tuple(found)


def sample(
    kind: Kind, operands: Sequence[Any], shared: bool, near: Mapping[int, int] = _APART
) -> tuple[list[Any], dict[int, int]]:
    """Return operands over memory that does not exist, and their places in the tuple.

    The places are known by the identity of what stands there.  No two are the same but those that
    begin at one distance from a destination, or ``shared`` those that are among ``operands``; of
    these, what is in one memory lies as far apart as there.
    """
    made: list[Any] = []
    places: dict[int, int] = {}
    known: dict[Hashable, Any] = {}
    first: dict[int, tuple[int, int]] = {}
    dtypes = iter(scalars_of(kind))
    follows = False
    for k, item in enumerate(operands):
        if follows or item.__class__ is tuple:
            made.append(0 if follows else item)
            follows = False
            continue
        follows = isinstance(item, Memory)
        dtype = None if follows else next(dtypes)
        # One number may be two scalars: of a dtype each.
        key: Hashable = (near[k],) if k in near else k
        if shared:
            key = (id(item), operands[k + 1] if follows else dtype)
        if key not in known:
            if dtype is None:
                begin = operands[k + 1]
                number, start = first.setdefault(id(item) if shared else k, (k, begin))
                known[key] = imagined(number, begin - start)
            else:
                known[key] = Scalar((), dtype, dtype.type(k % 100 + 2))
            places[id(known[key])] = k
        made.append(known[key])
    return made, places


@record(frozen=True, slots=True)
class Sampled:
    """The plan of a sample of an expression.

    Attributes
    ----------
    made : list
        Its operands.
    places : dict of int to int
        Where they stand, by the identity of memory and of scalars.
    graph, program : Graph and Program
        The plan.
    layout : Strided
        Where the result goes, from its first element on.
    """

    made: list[Any]
    places: dict[int, int]
    graph: Graph
    program: Program
    layout: Strided


def sampled(
    kind: Kind,
    shape: Shape,
    operands: Sequence[Any],
    shared: bool,
    target: Kind | None = None,
    near: Mapping[int, int] = _APART,
    fresh: bool = False,
) -> Sampled | None:
    """Return the plan of a sample of an expression.

    Parameters
    ----------
    kind, shape, operands
        The expression.
    shared : bool
        Whether operands that are one, or in one memory, are so in the sample (`sample`).
    target : Kind, optional
        Of existing memory to write; otherwise new memory of the usual layout.
    near : mapping from int to int
        Of operands in the destination's buffer, by their places, how many bytes behind the
        destination they begin.  All others are in other buffers.
    fresh : bool
        Whether the plan may use the memory of a new result for its own values.

    Returns
    -------
    Sampled or None
        None if kernels do not read all operands, or the result lies in no strides or in one place.
    """
    made, places = sample(kind, operands, shared, near)
    to = Buffer(NOWHERE.run(), 0, _TARGET, 0)
    for k, distance in near.items():
        made[k].address = _TARGET + distance
    node = node_of(kind, shape, tuple(made))
    if target is None:
        graph = canonical(node, None, True)
        place = result_layout(graph, node)
    else:
        place = Strided(shape, strides_of(target, shape), 0)
        if repeats(place):
            return None
        graph = canonical(node, Target(to, place, kind.dtype), False)
    used = {id(one) for one in (*[leaf.snapshot for leaf in graph.leaves], *graph.scalars)}
    if used != places.keys() or not isinstance(place, Strided):
        return None
    new = target is None
    program = program_of(graph, Target(to, place, kind.dtype, fresh=new and fresh), new)
    return Sampled(made, places, graph, program, place)


def bound_of(
    kind: Kind,
    shape: Shape,
    operands: Sequence[Any],
    target: Kind | None = None,
    near: Mapping[int, int] = _APART,
) -> Bound | None:
    """Return the plan of an expression, for operands of the same kind, extents and sameness.

    Parameters
    ----------
    kind, shape, operands
        The expression.
    target : Kind, optional
        Of existing memory to write; otherwise new memory of the usual layout.
    near : mapping from int to int
        See `sampled`.

    Returns
    -------
    Bound or None
        None where the general way has to decide, or to refuse.
    """
    found = sampled(kind, shape, operands, True, target, near, fresh=True)
    if found is None:
        return None
    graph, places = found.graph, found.places
    ordinals = {id(one): n for n, one in enumerate(graph.nodes)}
    return Bound(
        found.program,
        tuple([places[id(leaf.snapshot)] for leaf in graph.leaves]),
        tuple([(ordinals[id(one)], places[id(one)], one.dtype) for one in graph.scalars]),
        found.layout,
        result_of(kind, shape, found.layout) if target is None else target,
    )


def result_of(kind: Kind, shape: Shape, place: Strided) -> Kind:
    """Return the kind of the memory of new results, which lie so."""
    fixed = kind.fixed if kind.fixed <= SHAPE else FREE
    return leaf_of(kind.dtype, shape, place.strides, fixed)
