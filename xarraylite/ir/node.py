"""The vocabulary of lazy expressions: ten kinds of immutable node.

A node knows its shape and dtype; children come before parents, so graphs have no cycles.  A
`Leaf` holds a `Snapshot` of a buffer and a layout, never a container, which keeps containers and
expressions apart.  Conversions are made when a node is built: the arguments of an `Elementwise`
node already have its loop dtypes, so whoever runs it promotes nothing.

====================  =========================================================================
`Leaf`                elements in memory
`Stored`              elements kept elsewhere, read block by block
`Scalar`              one value, passed to kernels at run time
`Iota`                each element is its own position under a strided map (what `fromfunction`
                      passes to its function, and what `argmax` and `argmin` select from)
`Elementwise`         an operation of the op table on broadcast arguments
`View`                a `Transform` or a `Reshape` of one argument
`Gather`              one dimension read through an integer array
`Concat`              arguments joined along a dimension
`Reduce`              a reduction over some dimensions
`SegmentReduce`       a reduction of the first dimension, row by row, between offsets
====================  =========================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from .._records import record
from ..dtypes.names import DType
from ..index.transform import Reshape, Transform
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..memory.snapshots import Snapshot
from ..ops.op import Op
from ..ops.reductions import Reduction

Shape = tuple[int, ...]

#: What is fixed of an operand's shape: nothing, its rank, or all of it.
FREE, RANK, SHAPE = range(3)


def _from(get: Callable[[Any], tuple[Node, ...]]) -> Any:
    """Return the property `Node.args` of nodes that are computed from others."""
    return property(get, doc="The nodes this one is computed from.")


class _Noted:
    """Room for what `walk.reads_anew` and `walk.is_long` have found out about a node."""

    __slots__ = ("anew", "most")


@record(frozen=True, slots=True, eq=False)
class Node(_Noted):
    """What every node has.

    Attributes
    ----------
    shape : tuple of int
        Shape of the result.
    dtype : numpy.dtype
        Dtype of the result.
    """

    shape: Shape
    dtype: DType

    @property
    def args(self) -> tuple[Node, ...]:
        """The nodes this one is computed from."""
        return ()


@record(frozen=True, slots=True, eq=False)
class Leaf(Node):
    """Elements in memory: ``map`` says where each lies in the snapshot's buffer.

    ``fixed`` says what of the shape is part of the type of the container they were taken from.
    """

    snapshot: Snapshot
    map: Map
    fixed: int = FREE


class Source(Protocol):
    """Where the elements of a `Stored` node are kept."""

    def fill(self, node: Node, target: Any, noalias: bool) -> None:
        """Evaluate an expression over such operands into a destination in memory, in blocks."""

    def product(
        self, factors: Sequence[tuple[Node, tuple[str, ...]]], kept: tuple[str, ...]
    ) -> Node:
        """Return the product of two matrices, of which one reads such an operand."""

    def explain(self, node: Node) -> Any:
        """Return how it would be evaluated into memory."""


@record(frozen=True, slots=True, eq=False)
class Stored(Node):
    """Elements that are kept elsewhere and read block by block.

    No kernel reads them: ``source`` knows how an expression over them is evaluated.
    """

    source: Source


@record(frozen=True, slots=True, eq=False)
class Scalar(Node):
    """One value of ``dtype``, as the words a kernel is given (two for complex128).

    ``weak`` is the Python type of a value whose dtype is still open (an argument of a traced
    function), ``value`` the Python or NumPy scalar it was made from.
    """

    value: object
    weak: type | None = None
    parameter: int = -1
    """Number of the traced function's argument it stands for, or -1."""


@record(frozen=True, slots=True, eq=False)
class Iota(Node):
    """Element ``i`` is ``map.offset + i0*s0 + … + in*sn``, converted to ``dtype``."""

    map: Strided


@record(frozen=True, slots=True, eq=False)
class Elementwise(Node):
    """``op`` applied to arguments that broadcast to ``shape`` and have the loop dtypes."""

    op: Op
    operands: tuple[Node, ...]

    args = _from(lambda node: node.operands)


@record(frozen=True, slots=True, eq=False)
class View(Node):
    """The elements of ``arg`` under another index."""

    arg: Node
    step: Transform | Reshape

    args = _from(lambda node: (node.arg,))


@record(frozen=True, slots=True, eq=False)
class Gather(Node):
    """Dimension ``axis`` of ``arg`` replaced by the dimensions of ``index`` (checked int64)."""

    arg: Node
    axis: int
    index: Leaf

    args = _from(lambda node: (node.arg, node.index))


@record(frozen=True, slots=True, eq=False)
class Concat(Node):
    """``parts`` (all of one dtype) joined along ``axis``."""

    parts: tuple[Node, ...]
    axis: int

    args = _from(lambda node: node.parts)


@record(frozen=True, slots=True, eq=False)
class Reduce(Node):
    """``arg`` folded by ``op`` over ``axes``, whose extents become 1 where ``keepdims``."""

    op: Reduction
    arg: Node
    axes: tuple[int, ...]
    keepdims: bool

    args = _from(lambda node: (node.arg,))


@record(frozen=True, slots=True, eq=False)
class SegmentReduce(Reduce):
    """Dimension 0 of ``arg`` folded in runs: result ``r`` is that of ``offsets[r]:offsets[r+1]``.

    ``offsets`` are int64, row-major, do not decrease, and begin at 0 and end at the extent of
    that dimension.  ``axes`` is ``(0,)`` and ``keepdims`` False.
    """

    offsets: Leaf

    args = _from(lambda node: (node.arg, node.offsets))
