"""The engine's two doors: evaluate into new memory, or into existing memory.

Both take an expression whose shape and dtype are already those of the destination.  Programs are
kept by signature, so evaluating the same kind of expression again plans nothing.
"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from .._config import is_too_large, settings
from .._errors import SizeError, XarrayliteError
from .._later import kernel, placement, planning, reference, running
from .._locks import ForkLock
from .._tables import kept
from ..compiler.graph import Graph, Key, Streamed, canonical
from ..dtypes.names import DType
from ..index.transform import Transform
from ..ir.build import describe
from ..ir.node import Leaf, Node, Shape, Source, View
from ..ir.walk import depth_first, postorder
from ..layout.strided import Strided
from ..layout.tiled import Map, TiledMap
from ..memory.arrays import allocate, write
from ..memory.buffer import Buffer
from ..memory.snapshots import Snapshot, pinned
from ..memory.target import Target
from . import tiers
from .counting import evaluations

if TYPE_CHECKING:
    from ..compiler.program import Program

#: Programs kept; one is a few kilobytes.
CAPACITY = 2048

#: Ways to operands that are looked at to see how a result lies best.
_PATHS = 256

#: A node, and the view of it that the result sees; None where that is no view.
_Way = tuple[int, Transform | None]

#: Longer expressions are planned anew each time: their signatures would fill memory.
SIGNATURE_NODES = 2000

_programs: dict[Key, Program] = {}
_lock = ForkLock()


@cache
def numba_is_installed() -> bool:
    """Tell whether kernels can be compiled here: not without Numba, nor if it is switched off."""
    switched_off = os.environ.get("NUMBA_DISABLE_JIT", "").strip() not in ("", "0")
    return not switched_off and importlib.util.find_spec("numba") is not None


def uses_reference() -> bool:
    """Tell whether the current settings choose the NumPy interpreter."""
    engine = settings.engine
    return engine == "reference" or (engine == "auto" and not numba_is_installed())


def evaluate(node: Node, layout: Map | None = None, *, tiled: bool = True) -> tuple[Buffer, Map]:
    """Evaluate ``node`` into new memory.

    Parameters
    ----------
    node : Node
        What to evaluate.
    layout : Strided or TiledMap, optional
        Layout of the result; by default `result_layout` of the node's operands.
    tiled : bool, optional
        Whether that may be a tiled one.

    Raises
    ------
    SizeError
        If the result exceeds the ``max_result_bytes`` setting.
    """
    with pinned(snapshots_of(node)):
        graph, instead = graph_of(node, None, True), ""
        if isinstance(graph, Graph):
            chosen = layout or result_layout(graph, node, tiled)
        else:
            chosen, instead = layout or Strided.row_major(node.shape), _BY_STORE
        target = Target(raw_target(node, chosen, instead), chosen, node.dtype, fresh=True)
        _run(graph, node, target, noalias=True)
    return target.buffer, chosen


def assign(target: Target, node: Node, noalias: bool) -> None:
    """Evaluate ``node`` into existing memory of its shape and dtype."""
    if math.prod(target.map.shape):
        with pinned(snapshots_of(node)):
            _run(graph_of(node, target, noalias), node, target, noalias)


def _run(graph: Graph | Source, node: Node, target: Target, noalias: bool) -> None:
    if isinstance(graph, Graph):
        execute(graph, target, noalias)
    else:
        graph.fill(node, target, noalias)


def graph_of(node: Node, target: Target | None, noalias: bool) -> Graph | Source:
    """Return the canonical form of an expression, or who evaluates it as it is no memory."""
    try:
        return canonical(node, target, noalias)
    except Streamed as met:
        return met.source


def snapshots_of(node: Node) -> list[Snapshot]:
    """Return what an expression reads through, to be pinned while it is evaluated."""
    return [leaf.snapshot for leaf in postorder(node) if isinstance(leaf, Leaf)]


def execute(graph: Graph, target: Target, noalias: bool) -> None:
    """Run the program of a graph, planning it first where it is new."""
    if not math.prod(target.map.shape):
        return
    evaluations.value += 1
    if uses_reference():
        if noalias and settings.check_noalias:
            planning.plan(graph, target, noalias)  # which checks the promise; there are no kernels
        write(target.buffer, target.dtype, target.map, reference.compute(graph))
        return
    if tiers.begins_graph(graph, noalias):
        write(target.buffer, target.dtype, target.map, tiers.compute(graph, evaluate))
        return
    try:
        memory = [target.buffer, *[leaf.snapshot for leaf in graph.leaves]]
        starts = [target.map.byte_start(target.dtype.itemsize)]
        starts += [leaf.map.byte_start(leaf.dtype.itemsize) for leaf in graph.leaves]
        running.run(program_of(graph, target, noalias), memory, starts, graph.nodes)
    except kernel.KernelRaised:
        reference.compute(graph)  # which raises what the user's function raises
        raise XarrayliteError(
            "vectorize: a function raised an exception that it does not raise in Python"
        ) from None


def program_of(graph: Graph, target: Target, noalias: bool) -> Program:
    """Return the program of a graph, from memory if its kind was planned before."""
    checked = noalias and settings.check_noalias  # the signature knows no distances then
    if checked or len(graph.nodes) > SIGNATURE_NODES:
        return planning.plan(graph, target, noalias)
    key = (graph.signature, target.dtype, target.map.shape, target.map.pattern, target.fresh)
    program = _programs.get(key)
    if program is None:
        program = planning.plan(graph, target, noalias)
        with _lock.held:
            kept(_programs, key, program, CAPACITY)
    return program


def clear_programs() -> None:
    """Forget all plans, and what was evaluated how often."""
    tiers.forget()
    with _lock.held:
        _programs.clear()


def result_layout(graph: Graph, node: Node, tiled: bool = True) -> Map:
    """Return the layout of a new result: that of its operands where they agree, else row-major.

    Tiled if all operands are tiled alike, column-major or in another order of dimensions if all
    are, as views show them: where what is viewed was computed before, its values lie so.
    Operands of lower rank, those that are stretched and those whose layout is both row- and
    column-major do not count; a result that is both has the strides of rows.
    """
    shape = node.shape
    seen = _seen(graph, len(shape))
    whole = {
        place.based() if isinstance(place, TiledMap) and place.is_whole else None
        for place, _ in seen
    }
    common = whole.pop() if tiled and len(whole) == 1 else None
    if common is not None and common.shape == shape:
        sources = {dtype for _, dtype in seen}
        return placement.like(
            common, node.dtype, node.dtype if node.dtype in sources else sources.pop()
        )
    return strided_layout([place for place, _ in seen], shape)


def strided_layout(seen: Sequence[Map], shape: Shape) -> Strided:
    """Return the layout of a new result of operands of its shape that lie so, of no tiles alike."""
    places = [place for place in seen if not (place.is_row_major() and place.is_column_major())]
    if len(shape) > 1 and places:
        if all(place.is_column_major() for place in places):
            columns = Strided.column_major(shape)
            return Strided.row_major(shape) if columns.is_row_major() else columns
        order = places[0].based()
        same = all(place.based() == order for place in places) and order.shape == shape
        if same and isinstance(order, Strided) and order.is_contiguous():
            return order
    return Strided.row_major(shape)


def _seen(graph: Graph, rank: int) -> list[tuple[Map, DType]]:
    """Return maps and dtypes of a rank's operands as the result sees them, by at most few ways."""

    def below(way: _Way) -> list[_Way]:
        (ordinal, path), args = way, graph.args[way[0]]
        node, shape = graph.nodes[ordinal], graph.nodes[ordinal].shape
        if not isinstance(node, View):
            return [(arg, path if graph.nodes[arg].shape == shape else None) for arg in args]
        step = node.step if isinstance(node.step, Transform) else None
        return [(args[0], path.after(step) if path is not None and step is not None else step)]

    found = []
    ways: list[_Way] = [(k, None) for k in range(len(graph.nodes))]
    if any([isinstance(node, View) for node in graph.nodes]):
        ways = [*islice(depth_first([ways[-1]], below), _PATHS)]
    for ordinal, path in ways:
        leaf = graph.nodes[ordinal]
        if isinstance(leaf, Leaf):
            place = leaf.map if path is None else leaf.map.apply(path)
            steps = place.strides if isinstance(place, Strided) else place.shape
            stretched = any(
                [n > 1 and not step for n, step in zip(place.shape, steps, strict=True)]
            )
            if place.ndim == rank and not stretched:
                found.append((place, leaf.dtype))
    return found


#: What to do with a result of operands that are no memory.
_BY_STORE = "; write it to storage with xl.store, which needs memory for some blocks only"


def raw_target(node: Node, layout: Map, instead: str = "") -> Buffer:
    """Return new memory for the result of ``node``."""
    nbytes = layout.byte_range(node.dtype.itemsize)[1] + 1
    if is_too_large(nbytes):
        raise SizeError(
            f"evaluating {describe(node)} needs {nbytes} bytes; the limit is "
            f"{settings.max_result_bytes} (setting max_result_bytes){instead}"
        )
    assert layout.bounds()[0] == 0, "new layouts start at position 0"
    try:
        return allocate(layout, node.dtype)
    except MemoryError as error:
        if not instead:
            raise
        raise SizeError(
            f"evaluating {describe(node)} needs {nbytes} bytes, which this machine does not give"
            f"{instead}"
        ) from error
