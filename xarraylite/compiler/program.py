"""What a plan produces: steps that can be run again and again on other addresses.

Memory is named by *slots*: slot 0 is the target, then come the graph's leaves in order, then the
temporaries.  A step holds a ready argument block in which only addresses and scalars are missing.
"""

from __future__ import annotations

from array import array
from dataclasses import field

from .._records import record
from ..codegen.kernel import Kernel
from ..dtypes.names import DType
from ..layout.strided import Strided
from ..layout.tiled import Map
from ..ops.op import Op

TARGET = 0


@record(frozen=True, slots=True)
class Work:
    """The iterations of a step and how they may be divided.

    Attributes
    ----------
    outer, inner : int
        Trip counts of the multi-index counter and of the innermost loop.
    cost : int
        Relative cost of one step of the multi-index counter.
    rows : int
        Reduced rows; 0 for a map.
    ordered : bool
        Whether iterations must run in order, so on one thread.
    falling : bool
        Whether that order runs down the innermost loop.
    split_inner : bool
        Whether the innermost loop may be divided.
    chunks : tuple of (r0, r1, j0, j1, bytes)
        Fixed parts of a reduction, each with the offset of its partial result; empty if the
        result is not folded from parts.
    """

    outer: int
    inner: int
    cost: int
    rows: int = 0
    ordered: bool = False
    falling: bool = False
    split_inner: bool = True
    chunks: tuple[tuple[int, int, int, int, int], ...] = ()

    @property
    def parts(self) -> tuple[tuple[int, int, int, int, int], ...]:
        """The fixed parts; all of it where there are none."""
        return self.chunks or ((0, self.rows, 0, self.inner, 0),)


@record(slots=True)
class KernelStep:
    """Run one kernel.

    Attributes
    ----------
    kernel : Kernel
        The machine code.
    block : array of int64
        The argument block with strides and extents filled in.
    addresses : tuple of (word, slot, delta, packing)
        Words to fill with ``packing`` times the address of a slot, plus ``delta``: bytes, or
        elements of which ``packing`` share a byte.
    scalars : tuple of (word, ordinal)
        Words to fill with a scalar's bits, by its place among the graph's scalars.
    work : Work
        Its iterations.
    note : str
        What it does, for `explain`.
    traffic : int
        Bytes it reads and writes.
    lines : tuple of (stride, low, high)
        For each address how far it moves from one row to the next, and the bytes that it reaches
        within a row, where rows are the only loop around the innermost one; else empty.
    """

    kernel: Kernel
    block: array[int]
    addresses: tuple[tuple[int, int, int, int], ...]
    scalars: tuple[tuple[int, int], ...]
    work: Work
    note: str
    traffic: int
    lines: tuple[tuple[int, int, int], ...] = ()


@record(frozen=True, slots=True)
class SlotArray:
    """Where an array lies that a step writes, or that NumPy reads.

    Attributes
    ----------
    slot : int
        Its memory.
    layout : Strided or TiledMap
        Counted from the slot's first element.
    dtype : numpy.dtype
        Of the elements.
    bits : int
        From one position of the layout to the next.
    soon : bool
        Whether it is read again while it is in the caches.
    whole : int
        Bits of the join that it is a piece of, else 0: pieces written before leave the caches too.
    """

    slot: int
    layout: Map
    dtype: DType
    bits: int
    soon: bool = False
    whole: int = 0

    @staticmethod
    def at(slot: int, layout: Map, dtype: DType) -> SlotArray:
        """Return an array of a layout in a slot."""
        return SlotArray(slot, layout, dtype, layout.bits_of(dtype.itemsize))

    @staticmethod
    def rows(slot: int, shape: tuple[int, ...], dtype: DType) -> SlotArray:
        """Return a row-major array at the start of a slot."""
        return SlotArray.at(slot, Strided.row_major(shape), dtype)


@record(slots=True)
class HostStep:
    """Let NumPy run one operation that has no scalar body for these dtypes.

    Attributes
    ----------
    op : Op or None
        The operation; None to copy.
    operands : list of SlotArray or int
        Arrays, or the place of a scalar among the graph's scalars.
    result : SlotArray
        Where the result goes.
    note : str
        What it does, for `explain`.
    """

    op: Op | None
    operands: list[SlotArray | int]
    result: SlotArray
    note: str


@record(slots=True)
class TraversalStep:
    """Run several kernels by turns, a slab of the result each time, in a given order.

    Attributes
    ----------
    kernels : list of KernelStep
        What computes a slab, one for each kind; placed at the first of its kind.
    visits : list of (number, moves)
        In order: a kernel, and what is added to each of its addresses.
    note : str
        What the step does, for `explain`.
    """

    kernels: list[KernelStep]
    visits: list[tuple[int, tuple[int, ...]]]
    note: str

    @property
    def traffic(self) -> int:
        """Bytes it reads and writes."""
        return sum([self.kernels[number].traffic for number, _ in self.visits])


@record(slots=True)
class BandedStep:
    """Run some rows through several kernels, then the next (`compiler.bands`).

    Attributes
    ----------
    kernels : list of KernelStep
        In order; each has the rows as its outer loop, or folds as many fixed parts.
    rows, band : int
        How many there are, and how many at once.
    """

    kernels: list[KernelStep]
    rows: int
    band: int

    @property
    def note(self) -> str:
        """What the step does, for `explain`."""
        each = "; then ".join([kernel.note for kernel in self.kernels])
        what = "parts" if self.kernels[0].work.chunks else "rows"
        return f"{self.band} of {self.rows} {what} at a time: {each}"

    @property
    def traffic(self) -> int:
        """Bytes it reads and writes."""
        return sum([kernel.traffic for kernel in self.kernels])


Step = KernelStep | HostStep | TraversalStep | BandedStep


@record(frozen=True, slots=True)
class Temporary:
    """Memory that lives during one evaluation.

    Attributes
    ----------
    nbytes : int
        Its size in bytes.
    reason : str
        Why it exists, as `explain` says.
    """

    nbytes: int
    reason: str


@record(slots=True)
class Program:
    """All steps of one evaluation.

    Attributes
    ----------
    steps : list
        In order.
    temporaries : list of Temporary
        The slots after the leaves.
    leaves : int
        Number of leaf slots.
    """

    steps: list[Step] = field(default_factory=list)
    temporaries: list[Temporary] = field(default_factory=list)
    leaves: int = 0

    @property
    def kernels(self) -> list[KernelStep]:
        """Every kernel that runs."""
        return [
            kernel
            for step in self.steps
            if not isinstance(step, HostStep)
            for kernel in ([step] if isinstance(step, KernelStep) else step.kernels)
        ]

    @property
    def traffic(self) -> int:
        """Bytes that kernels read and write."""
        return sum([step.traffic for step in self.steps if not isinstance(step, HostStep)])
