"""Programs of one small kernel, which a kind has for all shapes.

Most evaluations are one loop nest over operands whose strides are known and whose extents are not.
For these a kernel and a record of `runtime.launch` follow from the kind alone: the loops are those
of the shape, the inner one along the last dimension.  What the planner would do better for large
work (threads, tiles for transposed operands) or must do (aliasing in a safe order, temporaries) is
left to it: the launcher refuses more than `limit` elements and operands that overlap the
destination.  What lies in a row has a second kernel for many elements, made when so many are asked
for: it stores past the caches, or tries first what takes less time for most numbers.  Where
operands lie in another order of dimensions without gaps, new results have that order too: they are
those of a kind whose dimensions are in that order (`Turned`).

The kernels are those the planner would choose, so results have the same bits.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from .._config import settings
from .._later import folding, placement, reduction
from ..codegen.cpython.launching import IN_MEMORY, MOST_DIMENSIONS, MOST_WORDS
from ..codegen.emit.body import VECTOR, Body
from ..codegen.emit.hard import Near
from ..codegen.emit.mapping import MapSpec, Mode, emit_map
from ..codegen.emit.streams import Access, Inner, Operand
from ..codegen.kernel import Kernel, kernels
from ..compiler import limits
from ..compiler.arguments import ArgumentBlock, inner_of
from ..compiler.graph import Graph, canonical
from ..compiler.identities import identity_words
from ..compiler.lower import Lowered, Materialise, is_host, lower
from ..index.radix import compose, inverse
from ..ir.kind import Kind, Operands, elementwise, folds_inside, leaf_of, leaves_of, row_major
from ..ir.node import FREE, RANK, SHAPE, Node, Reduce, Shape
from ..ir.translation import form_of, imagined, node_of, of, twins
from ..layout.strided import COLUMN_MAJOR, ROW_MAJOR, Strided, row_major_strides
from ..ops.op import Op
from ..ops.reductions import Reduction
from ..ops.table import OPS
from .launch import can_launch, entry, launcher, number_code, packed
from .program import Direct, HostCall, Turned


def described(node: Node) -> tuple[Kind, Operands] | None:
    """Return what a traced expression is evaluated by: its kind if one kernel does, else its form.

    Returns
    -------
    tuple of (Kind, tuple), or None
        The kind, and its operands.
    """
    known = of(node, traced=True)
    if known is not None and _is_one_kernel(known[0]):
        return known
    return form_of(node, traced=True) or known


def _is_one_kernel(kind: Kind) -> bool:
    """Tell whether a kind may have a program of one kernel for all shapes."""
    body = kind.args[0] if isinstance(kind.op, Reduction) else kind
    turns = body is kind and kind.fixed != SHAPE
    return not kind.formed and not folds_inside(body) and (turns or _keeps_order(kind))


def fresh(kind: Kind, short: bool = True) -> Direct | HostCall | Turned | None:
    """Return the program that evaluates expressions of a kind into new memory.

    ``short``: it may be for few elements, for `assignment.parts.program_for` knows what to do where
    there are more.
    """
    if not _is_one_kernel(kind):
        return None
    fixed = kind.fixed if kind.fixed <= SHAPE else FREE
    target = row_major(kind.dtype, kind.rank, fixed)
    made = _host_call(kind, target) or _program(kind, target, None, short)
    return made if _keeps_order(kind) or not isinstance(made, Direct) else _turning(kind, made)


def _turning(kind: Kind, rows: Direct) -> Direct | Turned:
    """Return the program of operands of which some do not lie by rows."""
    whole = [leaf.strides for leaf in leaves_of(kind) if leaf.rank == kind.rank and not leaf.scalar]
    if None in whole:
        return rows  # as operands differ in how they lie
    found = {own for own in whole if own is not None and 0 not in own}
    strides = found.pop() if len(found) == 1 else ()
    order = tuple(sorted(range(len(strides)), key=strides.__getitem__, reverse=True))
    in_order = _turned(kind, strides, order) if order and strides[order[-1]] == 1 else None
    turned = None if in_order is None else fresh(in_order)
    if not isinstance(turned, Direct):
        return Turned(rows, (), (), rows, ROW_MAJOR)
    shape = (2,) * kind.rank
    place = Strided(shape, compose(row_major_strides(shape), inverse(order)))
    policy = COLUMN_MAJOR if place.is_column_major() else placement.layout_of_map(place)
    result = leaf_of(kind.dtype, shape, strides, rows.result.fixed)
    return Turned(rows, strides, order, replace(turned, result=result), policy)


def _turned(kind: Kind, strides: Shape, order: Shape) -> Kind | None:
    """Return an expression with its dimensions in another order, where ``strides`` are by rows.

    None where strides of an operand would have extents in them.
    """
    if isinstance(kind.op, Op):
        args = [_turned(arg, strides, order) for arg in kind.args]
        known = [arg for arg in args if arg is not None]
        return elementwise(kind.op, kind.dtype, tuple(known)) if len(known) == len(args) else None
    if kind.scalar or not kind.rank:
        return kind
    fixed = min(kind.fixed, RANK)
    if kind.strides == strides:
        return row_major(kind.dtype, kind.rank, fixed)
    if kind.strides is None and kind.rank > 1:
        return None
    own = kind.strides or (1,)
    own = (0,) * (len(order) - len(own)) + own
    return leaf_of(kind.dtype, (2,) * len(order), tuple([own[k] for k in order]), fixed)


def _host_call(kind: Kind, target: Kind) -> HostCall | None:
    """Return the program of an operation that NumPy runs on what one launch each computes."""
    op = kind.op
    if not isinstance(op, Op) or OPS.get(op.name) is not op or kind.rank == 0 or not kind.hosted:
        return None
    takes: list[tuple[object, object]] = []
    for arg in kind.args:
        made: Direct | HostCall | Turned | bool | None = None
        if not arg.scalar:
            whole = not arg.args and arg.strides is None and arg.rank == kind.rank
            made = False if whole else fresh(arg)
            if arg.rank != kind.rank or not (whole or isinstance(made, Direct)):
                return None
        takes.append((arg.dtype.type if arg.scalar else arg, made))
    return HostCall(op.numpy, tuple(takes), target)


def writes(
    kind: Kind, target: Kind, same: tuple[bool, ...] | None, short: bool = True
) -> Direct | None:
    """Return the program that evaluates expressions of a kind into memory of another kind.

    ``same`` tells which leaves are the destination's own elements; the others share no byte with
    it.  ``short``: it may be for few elements.
    """
    if isinstance(kind.op, Reduction) or kind.formed:
        return None
    if target.rank != kind.rank or target.dtype != kind.dtype:
        return None
    return _program(kind, target, same, short)


def _keeps_order(kind: Kind) -> bool:
    """Tell whether a new result is row-major: no operand lies in another order of dimensions."""
    return all([leaf.scalar or _falls(leaf) for leaf in leaves_of(kind)])


def _falls(leaf: Kind) -> bool:
    """Tell whether a leaf's strides fall from dimension to dimension, whatever the extents.

    Those of dimensions along which it is stretched do not count.
    """
    if leaf.strides is None or len(leaf.strides) < 2:
        return True
    steps = [step for step in leaf.strides if step]
    return all([a > b for a, b in itertools.pairwise(steps)]) and min(steps, default=1) > 0


def _program(
    kind: Kind, target: Kind, same: tuple[bool, ...] | None, short: bool = False
) -> Direct | None:
    """Return a kernel, and the record by which the launcher fills its argument block.

    Leaves are in the order of an expression's operands, and so are the record's entries.  The
    kernel numbers those in memory, which it reads behind its destination, and the scalars apart:
    ``places`` has the number of each.  None if no one kernel does for all shapes.
    """
    fold = kind.op if isinstance(kind.op, Reduction) else None
    body = kind if fold is None else kind.args[0]
    if not can_launch() or max(kind.rank, body.rank) > MOST_DIMENSIONS:
        return None
    found = lowered_of(kind)
    if found is None:
        return None
    lowered, places = found
    leaves = list(leaves_of(body))
    # Memory without gaps is one loop, whatever its rank.
    flat = _is_row(target, kind.rank) and all([_is_row(leaf, body.rank) for leaf in leaves])
    if fold is not None and not flat and body.rank > 1:
        return None
    marks = _marks(leaves, same)
    read = sorted([k for k, leaf in enumerate(leaves) if not leaf.scalar], key=places.__getitem__)
    memory = [target, *[leaves[k] for k in read]]
    accesses = [Access.SHARED, *[Access.SAME if marks[k] else Access.APART for k in read]]
    operands = tuple(map(_operand, memory, accesses))
    kernel, block, few = _kernel(kind, operands, lowered.body, 1 if flat else kind.rank, short)
    if len(block.values) > MOST_WORDS:
        return None
    block.inner([_step(leaf) for leaf in memory])
    index = block.words.index
    entries = [_entry(target, index["p0"], body.rank, False)]
    for leaf, number, mark in zip(leaves, places, marks, strict=True):
        word = index[f"c{number}" if leaf.scalar else f"p{number + 1}"]
        entries.append(_entry(leaf, word, body.rank, mark))
    limit, held = _limits(lowered.body, memory, fold, flat)
    long, least = None, (0, 0)
    if fold is None:
        few, limit = _few(lowered.body, accesses, memory, limit)
        if few < limit and flat and not short:
            long, least = _long(lowered.body, operands)
    few = few if long is None and few < limit else 0
    more, limit = limit if few and (fold is not None or flat) else 0, min(limit, few or limit)
    alike, itemsize, folds = twins(kind), target.dtype.itemsize, fold is not None
    twice = max([operations for _, _, operations in alike], default=0)
    flags = [int(flag) for flag in (same is not None, flat, itemsize, folds, twice, held)]
    flags += [0 if long is None else long.address, *least]
    made_of = packed(kernel.address, body.rank, limit, entries, block.values, flags)
    call = launcher(made_of)
    return Direct(call, made_of, itemsize, limit, folds, alike, target, kernel, more, long)


def _limits(body: Body, kinds: list[Kind], fold: Reduction | None, flat: bool) -> tuple[int, int]:
    """Return the most elements of a launch, and of one that holds the interpreter's lock.

    Where operands are stretched a plan computes once what is the same for all rows.  A plan folds
    more in fixed parts, but those that may end at a value.  More is planned to be shared, unless
    there is one thread.
    """
    cost = body.vector_cost if fold is None else body.cost * VECTOR
    held = limits.PARALLEL_FROM * VECTOR // cost
    if fold is not None:
        return (held if fold.ends else min(held, 2 * limits.CHUNK)) - 1, held - 1
    sizes = [one.dtype.itemsize for one in kinds]
    shared = limits.SHARED_FROM if settings.threads > 1 else limits.LONG_CHUNK
    most = [(shared if flat else limits.PARALLEL_FROM) * VECTOR // cost]
    if not all([_falls(one) for one in kinds]):
        most.append(limits.ACROSS_BYTES // sizes[0])
    return min(most) - 1, held - 1


def _few(body: Body, accesses: list[Access], memory: list[Kind], limit: int) -> tuple[int, int]:
    """Return the most elements of a map's first kernel, and of a launch of any.

    A destination whose own elements are read is never stored past the caches.
    """
    nbytes = sum([one.dtype.itemsize for one in memory])
    past = limit if Access.SAME in accesses else min(limit, limits.STREAM_BYTES // nbytes - 1)
    return (min(limits.NEAR_FROM - 1, past), past) if body.has_near else (past, limit)


def _long(body: Body, operands: tuple[Operand, ...]) -> tuple[Kernel, tuple[int, int]]:
    """Return a map's kernel for what lies in a row, and from how many elements and bytes on."""
    near = body.has_near
    mode = Mode.DIRECT if near else Mode.NONTEMPORAL
    spec = MapSpec(mode, 0, operands, body, 0, near=Near.MANY if near else Near.NONE)
    return kernels.get(spec, emit_map), (limits.NEAR_FROM, 0) if near else (0, limits.STREAM_BYTES)


def _is_row(leaf: Kind, rank: int) -> bool:
    return leaf.scalar or leaf.rank == 0 or (leaf.strides is None and leaf.rank == rank)


def lowered_of(kind: Kind) -> tuple[Lowered, list[int]] | None:
    """Return the code of a kind, or of the values that it folds, and the numbers of its operands.

    Those are the places of leaves and scalars, in their order.  None if one kernel does not compute
    it, or an operand is never read.
    """
    fold = isinstance(kind.op, Reduction)
    body = kind.args[0] if fold else kind
    if folds_inside(body):
        return None
    graph = canonical(_sample(kind, body), None, True)
    lowered = _lowered(graph, fold)
    places = [] if lowered is None else _places(graph, lowered)
    read = len(places) == len(list(leaves_of(body)))
    return (lowered, places) if lowered is not None and read else None


def _sample(kind: Kind, body: Kind) -> Node:
    """Return an expression of a kind over memory that does not exist."""
    operands: list[object] = [(2,) * body.rank] if body is not kind else []
    for number, leaf in enumerate(leaves_of(body)):
        if leaf.scalar:
            operands.append(number + 2)  # no two the same, which would be one operand
        else:
            operands.extend((imagined(number), 0))
    return node_of(kind, (2,) * kind.rank, tuple(operands))


def _lowered(graph: Graph, fold: bool) -> Lowered | None:
    """Return a kernel that computes the whole expression, or the values that it folds."""
    root = len(graph.nodes) - 1
    inside = graph.nodes[:-1] if fold else graph.nodes
    if any([is_host(node) or isinstance(node, Reduce) for node in inside]):
        return None
    try:
        return lower(graph, graph.args[root][0] if fold else root, {}, root)
    except Materialise:
        return None


def _places(graph: Graph, lowered: Lowered) -> list[int]:
    """Return for each leaf and scalar, in the order of the operands, its number in the kernel."""
    uses = {use.ordinal: number for number, use in enumerate(lowered.uses)}
    slots = {ordinal: number for number, ordinal in enumerate(lowered.scalars)}
    found = {**uses, **slots}
    return [found[k] for k, args in enumerate(graph.args) if not args and k in found]


def _entry(leaf: Kind, word: int, rank: int, same: bool) -> list[int]:
    """Return the entry of an operand in a nest of ``rank`` loops."""
    if leaf.scalar:
        return entry(number_code(leaf.dtype), word)
    size = leaf.dtype.itemsize
    if leaf.strides is None:
        return entry(IN_MEMORY, word, size, same, leaf.rank)
    steps = [0] * (rank - leaf.rank) + [s * size for s in leaf.strides]
    return entry(IN_MEMORY, word, size, same, -1, steps)


def _inner(leaf: Kind) -> Inner:
    step = 0 if leaf.rank == 0 else 1 if leaf.strides is None else leaf.strides[-1]
    return inner_of(step, 1)


def _operand(leaf: Kind, access: Access) -> Operand:
    return Operand(leaf.dtype, _inner(leaf), access)


def _step(leaf: Kind) -> int:
    """Return the bytes from element to element of the inner loop, where the kernel is told them."""
    return leaf.strides[-1] * leaf.itemsize if leaf.strides and _inner(leaf) is Inner.ANY else 0


def _marks(leaves: list[Kind], same: tuple[bool, ...] | None) -> list[bool]:
    """Spread what is said of memory over all operands."""
    given = iter(same or ())
    return [False if leaf.scalar else next(given, False) for leaf in leaves]


def _kernel(
    kind: Kind, operands: tuple[Operand, ...], body: Body, loops: int, short: bool
) -> tuple[Kernel, ArgumentBlock, int]:
    """Return the kernel of a kind in a nest of so many loops, and its block for one result.

    Behind them stands how many values it may fold, 0 if any number.
    """
    if not isinstance(kind.op, Reduction):
        near = Near.FEW if body.is_steep else Near.NONE
        spec = MapSpec(Mode.DIRECT, loops - 1, operands, body, 0, near=near)
        return kernels.get(spec, emit_map), ArgumentBlock(spec.words()), 0
    # Unless it is short, the kernel is that of the sums of rows.
    fold = folding.ReduceSpec(folding.Form.ALONG, 0, 0, operands, body, kind.op, 0, short=True)
    most = fold.most if short and reduction.shortens(fold) else 0
    fold = fold if most else replace(fold, kept=1, short=False)
    block = ArgumentBlock(fold.words())
    block.put([("t1", 1), ("r1", 1), *[("n_k0", 1)] * fold.kept])
    block.put(zip(("z", "z+"), identity_words(kind.op, kind.dtype), strict=False))
    return kernels.get(fold, reduction.emit_reduce), block, most
