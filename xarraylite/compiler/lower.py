"""One kernel's values: views are moved down to the operands, what remains is straight-line code.

Walking down from a kernel's result, the path of index steps passed on the way is kept.  At an
operand the path is folded into its layout, so the kernel addresses the operand directly and no
view costs anything.  A node reached along two paths is two values (``e[1:] - e[:-1]`` computes
``e`` twice), which is worth it while ``e`` is cheap.

Where something cannot be part of this kernel — a reshape that needs a copy, an expression too
expensive to compute twice — `Materialise` names the node that must be evaluated on its own first.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TypeVar

import numpy as np

from .._records import record
from ..codegen.emit.body import Apply, Body, Const, Instruction, Load, Position, Spread, taken
from ..index import transform as steps
from ..index.transform import FIXED, Reshape, Transform
from ..ir.node import Elementwise, Gather, Iota, Leaf, Node, Scalar, View
from ..ir.walk import depth_first
from ..layout.splitting import Wave
from ..layout.strided import Strided
from ..layout.tiled import Map
from .graph import Graph

#: A node may be computed again along another path while (paths - 1) * cost stays below this:
#: about what writing and reading one element of a temporary costs.
RECOMPUTE_LIMIT = 24


class Materialise(Exception):
    """A node must be evaluated into a temporary before this kernel."""

    def __init__(self, ordinal: int, reason: str) -> None:
        super().__init__(ordinal, reason)
        self.ordinal = ordinal
        self.reason = reason


@record(frozen=True, slots=True)
class Take:
    """The path step of a gather: dimension ``axis`` becomes the dimensions of the index."""

    axis: int
    index: int
    """Ordinal of the index leaf."""


Step = Transform | Reshape | Take
M = TypeVar("M", bound=Map)

Reach = int | tuple[Wave, ...]
"""The stride of a dimension read through an index, or the digits that stand for one."""
Path = tuple[tuple[Step, int], ...]
"""Steps from a node up to the kernel's loop space, each with the ordinal of what made it."""


@record(frozen=True, slots=True)
class Use:
    """How a kernel addresses one operand.

    Attributes
    ----------
    ordinal : int
        Graph ordinal of the leaf, the iota or the node kept in a temporary.
    dtype : numpy.dtype
        Dtype in memory.
    layout : Strided or TiledMap
        Over the loop space; its offset is relative to the operand's first element.
    bits : int
        From one position to the next in memory; 0 for an iota, whose position is its value.
    times : int
        How often the expression reads it, were nothing shared.  Folds choose their order by that,
        which is the same where an operand was not seen to be another one too, as in forms.
    """

    ordinal: int
    dtype: np.dtype[np.generic]
    layout: Map
    bits: int
    times: int = 1

    @property
    def iota(self) -> bool:
        """Whether the position itself is the value."""
        return self.bits == 0


@record(slots=True)
class Lowered:
    """A kernel's code and operands.

    Attributes
    ----------
    shape : tuple of int
        The loop space.
    body : Body
        Straight-line code.
    uses : list of Use
        Operands in the order the body numbers them.
    gathers : list of int
        Stride of each gather in bytes, in the order the body numbers them.
    scalars : list of int
        Graph ordinal of each scalar slot.
    """

    shape: tuple[int, ...]
    body: Body
    uses: list[Use]
    gathers: list[int]
    scalars: list[int]


def lower(graph: Graph, root: int, materialised: dict[int, str], own: int) -> Lowered:
    """Return the kernel that computes node ``root`` from leaves and the nodes in ``materialised``.

    Parameters
    ----------
    graph : Graph
        The expression.
    root : int
        Ordinal of the node whose elements the kernel visits.
    materialised : dict
        Nodes that are read from temporaries.
    own : int
        The one of them that this kernel is there to evaluate, or -1.

    Raises
    ------
    Materialise
        If another node must be evaluated first.
    """
    return _Lowering(graph, materialised, own).run(root)


@record(slots=True, eq=False)
class _Lowering:
    """The state of one walk."""

    graph: Graph
    materialised: dict[int, str]
    own: int
    done: dict[tuple[int, Path], int] = field(default_factory=dict)
    paths: dict[int, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    use_number: dict[Use, int] = field(default_factory=dict)
    gathers: list[int] = field(default_factory=list)
    scalars: list[int] = field(default_factory=list)

    def run(self, root: int) -> Lowered:
        """Lower depth first; arguments come before users."""
        children: dict[tuple[int, Path], list[tuple[int, Path]]] = {}

        def enter(use: tuple[int, Path]) -> list[tuple[int, Path]]:
            children[use] = self.children(*use)
            if children[use]:
                self.count_path(use[0])
            return children[use]

        start: tuple[int, Path] = (root, ())
        for use in depth_first([start], enter):
            self.done[use] = self.emit(*use, children[use])
        shape = self.graph.nodes[root].shape
        result = self.done[root, ()]
        if result != len(self.instructions) - 1:
            self.instructions.append(self.instructions[result])
        body, uses = Body(tuple(self.instructions)), self.counted()
        return Lowered(shape, body, uses, self.gathers, self.scalars)

    def counted(self) -> list[Use]:
        """Return the operands with how often they are read, if what is shared is done each time."""
        needed, times = [0] * len(self.instructions), [0] * len(self.uses)
        needed[-1] = 1
        for k, one in reversed([*enumerate(self.instructions)]):
            if isinstance(one, Load | Position):
                times[one.operand] += needed[k]
            for at in taken(one):
                needed[at] += needed[k]
        return [replace(use, times=n) for use, n in zip(self.uses, times, strict=True)]

    def is_operand(self, ordinal: int) -> bool:
        """Tell whether a node is read from memory by this kernel."""
        return ordinal in self.materialised and ordinal != self.own

    def children(self, ordinal: int, path: Path) -> list[tuple[int, Path]]:
        """Return the arguments of a node with the paths that lead to them."""
        node = self.graph.nodes[ordinal]
        args = self.graph.args[ordinal]
        if self.is_operand(ordinal):
            return []
        if isinstance(node, Elementwise):
            return [(arg, self.stretch(arg, node, ordinal, path)) for arg in args]
        if isinstance(node, View):
            return [(args[0], _extend(node.step, ordinal, path))]
        if isinstance(node, Gather):
            return [(args[0], _extend(Take(node.axis, args[1]), ordinal, path))]
        return []

    def stretch(self, arg: int, node: Node, ordinal: int, path: Path) -> Path:
        """Return the path to an argument that may broadcast to its user's shape."""
        shape = self.graph.nodes[arg].shape
        if shape == node.shape:
            return path
        return _extend(steps.broadcast(shape, node.shape), ordinal, path)

    def count_path(self, ordinal: int) -> None:
        """Refuse to compute an expensive node along many paths."""
        count = self.paths[ordinal] = self.paths.get(ordinal, 0) + 1
        if count == 1 or ordinal == self.own:
            return
        if (count - 1) * self.cost(ordinal) > RECOMPUTE_LIMIT:
            raise Materialise(
                ordinal, "is needed at several positions and too expensive to compute again"
            )

    def cost(self, root: int) -> int:
        """Return the cost of one element of a node, up to the limit."""
        total, stack, seen = 0, [root], {root}
        while stack and total <= RECOMPUTE_LIMIT:
            ordinal = stack.pop()
            node = self.graph.nodes[ordinal]
            if self.is_operand(ordinal):
                continue
            total += node.op.cost if isinstance(node, Elementwise) else 0
            for arg in self.graph.args[ordinal]:
                if arg not in seen:
                    seen.add(arg)
                    stack.append(arg)
        return total

    def emit(self, ordinal: int, path: Path, children: list[tuple[int, Path]]) -> int:
        """Append the instruction of one node; return its number."""
        node = self.graph.nodes[ordinal]
        if children and not isinstance(node, Elementwise):
            return self.done[children[0]]
        if isinstance(node, Elementwise) and children:
            nodes = self.graph.nodes
            return self.append(
                Apply(
                    node.op,
                    tuple([self.done[child] for child in children]),
                    tuple([nodes[child].dtype for child, _ in children]),
                    node.dtype,
                )
            )
        if isinstance(node, Scalar):
            self.scalars.append(ordinal)
            return self.append(Const(len(self.scalars) - 1, node.dtype))
        return self.operand(ordinal, node, path)

    def operand(self, ordinal: int, node: Node, path: Path) -> int:
        """Append the load of an operand through its path."""
        memory = not isinstance(node, Iota) or self.is_operand(ordinal)
        layout = _base(node, self.is_operand(ordinal))
        bits = layout.bits_of(node.dtype.itemsize) if memory else 0
        gathers: list[tuple[int, Reach, Strided]] = []
        for step, maker in path:
            if isinstance(step, Take):
                if not memory:
                    raise Materialise(ordinal, "is read through an index")
                if any(at.strides[step.axis] for _, _, at in gathers):
                    # The earlier index would itself have to be gathered.
                    raise Materialise(self.graph.args[maker][0], "is gathered, and gathered from")
                index = self.graph.nodes[step.index]
                reach = _reach(layout, step.axis)
                if reach is None:
                    raise Materialise(
                        ordinal, "combines dimensions, and is read through an index of one"
                    )
                layout, at = _take(layout, step.axis, index)
                # Earlier gathers see the new dimensions as ones they do not depend on.
                gathers = [(i, r, _take(g, step.axis, index)[0]) for i, r, g in gathers]
                gathers.append((step.index, reach, at))
            else:
                layout = self.move(layout, step, maker)
                gathers = [(i, r, self.move(g, step, maker)) for i, r, g in gathers]
        loads = tuple([self.gathered(i, reach, at, bits) for i, reach, at in gathers])
        number = self.use(Use(ordinal, node.dtype, layout, bits))
        if memory:
            return self.append(Load(number, node.dtype, loads))
        return self.append(Position(number, node.dtype))

    def move(self, layout: M, step: Transform | Reshape, maker: int) -> M:
        """Apply one step to a layout; a reshape may be impossible."""
        moved = layout.apply(step) if isinstance(step, Transform) else layout.reshape(step.shape)
        if moved is None:
            raise Materialise(
                self.graph.args[maker][0], "is not contiguous in the order of the reshape"
            )
        return moved  # type: ignore[return-value]  # of the kind that came in

    def gathered(self, index: int, reach: Reach, layout: Strided, bits: int) -> tuple[int, int]:
        """Append the load of an index; return its number and its stride's slot."""
        dtype = self.graph.nodes[index].dtype
        value = self.append(Load(self.use(Use(index, dtype, layout, 8 * dtype.itemsize)), dtype))
        if not isinstance(reach, int):
            value = self.append(Spread(value, reach, sum([wave.at(0) for wave in reach])))
            reach = 1
        self.gathers.append(reach * max(1, bits // 8))
        return value, len(self.gathers) - 1

    def use(self, use: Use) -> int:
        """Return the number of an operand, the same for equal uses."""
        number = self.use_number.get(use)
        if number is None:
            number = self.use_number[use] = len(self.uses)
            self.uses.append(use)
        return number

    def append(self, instruction: Instruction) -> int:
        """Append an instruction; return its number."""
        self.instructions.append(instruction)
        return len(self.instructions) - 1


def _extend(step: Step, maker: int, path: Path) -> Path:
    """Put a step before a path, composing neighbouring transforms."""
    if path and isinstance(step, Transform):
        following, last = path[0]
        if isinstance(following, Transform):
            return ((following.after(step), last), *path[1:])
    return ((step, maker), *path)


def _base(node: Node, is_temporary: bool) -> Map:
    """Return the layout of an operand relative to its first element."""
    if is_temporary:
        return Strided.row_major(node.shape)
    if isinstance(node, Iota):
        return node.map
    assert isinstance(node, Leaf)
    return node.map.based()


def _reach(layout: Map, axis: int) -> Reach | None:
    """Return how far one step along a dimension leads, or the digits that say it.

    None where the dimension is combined with another that the operand still moves along.
    """
    if isinstance(layout, Strided):
        return layout.strides[axis]
    summands = layout.summands()
    if summands is None:
        return None
    moving = [s for s in summands if s.paces[axis]]
    if any(sum(map(bool, s.paces)) > 1 for s in moving):
        return None
    return tuple([Wave(s.digits, s.start, s.paces[axis]) for s in moving])


def _take(layout: M, axis: int, index: Node) -> tuple[M, Strided]:
    """Replace a dimension by those of an index.

    Returns the layout of the operand, which stands still along the new dimensions, and that of
    the index, which moves along them alone.
    """
    more = len(index.shape)
    shape = layout.shape[:axis] + index.shape + layout.shape[axis + 1 :]
    axes = [FIXED if k == axis else k if k < axis else k + more - 1 for k in range(layout.ndim)]
    own = (0,) * more
    if isinstance(index, Leaf):
        assert isinstance(index.map, Strided), "index arrays are strided"
        own = index.map.strides
    around = (0,) * axis + own + (0,) * (layout.ndim - axis - 1)
    moved = layout.apply(steps.following(shape, axes))
    return moved, Strided(shape, around)  # type: ignore[return-value]  # of the same kind


def is_host(node: Node) -> bool:
    """Tell whether NumPy must run a node."""
    if not isinstance(node, Elementwise):
        return False
    return node.op.body(tuple([arg.dtype for arg in node.operands])) is None
