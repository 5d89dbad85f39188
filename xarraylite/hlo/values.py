"""Typed values of attributes: windows, paddings, dimension labels, replica groups, metadata.

All of them are immutable and compare by value.  Texts are read and written in ``attributes.py``.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .._records import record
from ..xla.spec import ArraySpec
from .text.sharding import expand_mesh


class SliceDimension(NamedTuple):
    """One dimension of ``slice``: elements ``start, start + stride, ...`` below ``limit``."""

    start: int
    limit: int
    stride: int = 1

    @property
    def size(self) -> int:
        """How many elements are taken."""
        return max(0, -(-(self.limit - self.start) // self.stride))


class PadDimension(NamedTuple):
    """One dimension of ``padding``: elements before, behind and between; edges may be negative."""

    low: int
    high: int
    interior: int = 0

    def padded(self, size: int) -> int:
        """How many elements so many become; negative where more are taken away than there are."""
        return self.low + self.high + size + max(size - 1, 0) * self.interior


class WindowDimension(NamedTuple):
    """One dimension of a sliding window.

    Attributes
    ----------
    size, stride : int
        Elements under the window, and how far it moves.
    padding_low, padding_high : int
        Elements added before and behind what it slides over; negative ones are taken away.
    base_dilation : int
        Distance of the elements it slides over (``lhs_dilate``).
    window_dilation : int
        Distance of the elements under it (``rhs_dilate``).
    reversal : bool
        Whether it is applied backwards.
    """

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    base_dilation: int = 1
    window_dilation: int = 1
    reversal: bool = False

    @property
    def padding(self) -> PadDimension:
        """What makes of a dimension the one that it slides over, place by place."""
        return PadDimension(self.padding_low, self.padding_high, self.base_dilation - 1)

    def places(self, padded: int) -> int:
        """How many places it has among so many elements, with all that is padded."""
        reach = (self.size - 1) * self.window_dilation + 1
        return (padded - reach) // self.stride + 1 if padded >= reach else 0


def window_of(owner: Any, rank: int) -> tuple[WindowDimension, ...]:
    """Return the window of an instruction or a call; one that is not given covers one element."""
    window: tuple[WindowDimension, ...] = owner.get("window")
    return window or (WindowDimension(1),) * rank


class ConvolutionLabels(NamedTuple):
    """What the dimensions of a convolution mean: ``dim_labels=b01f_01io->b01f``.

    A letter stands for batch (``b``), features (``f``) or their number in and out of the kernel
    (``i``, ``o``), a digit for a spatial dimension.

    Attributes
    ----------
    input, kernel, output : str
        One character per dimension; ``?`` for one that means nothing.
    """

    input: str
    kernel: str
    output: str

    @property
    def spatial(self) -> int:
        """Number of spatial dimensions."""
        return sum([label.isdigit() for label in self.kernel])

    def dimensions(self, which: str, letters: str) -> tuple[int, ...]:
        """Return where ``letters`` and then the spatial dimensions stand in one of the arrays.

        Parameters
        ----------
        which : {"input", "kernel", "output"}
            The array.
        letters : str
            ``"bf"`` for input and output, ``"io"`` or ``"oi"`` for the kernel.

        Examples
        --------
        >>> from xarraylite.hlo.values import ConvolutionLabels
        >>> ConvolutionLabels("b01f", "01io", "b01f").dimensions("kernel", "oi")
        (3, 2, 0, 1)
        """
        labels: str = getattr(self, which)
        wanted = [*letters, *[str(k) for k in range(self.spatial)]]
        return tuple([labels.index(letter) for letter in wanted])


class ReplicaGroups(NamedTuple):
    """Which replicas of a program work together in a collective operation.

    Attributes
    ----------
    groups : tuple of tuple of int
        Their numbers, if they are listed; none mean one group of all.
    tile, reshape, transpose : tuple of int
        The short form ``[2,4]<=[4,2]T(1,0)``: an iota of shape ``reshape`` is transposed and
        read as ``tile[0]`` groups.
    mesh : str
        The third form, by axes of a mesh, as text.
    """

    groups: tuple[tuple[int, ...], ...] = ()
    tile: tuple[int, ...] = ()
    reshape: tuple[int, ...] = ()
    transpose: tuple[int, ...] = ()
    mesh: str = ""

    def expanded(self) -> tuple[tuple[int, ...], ...]:
        """Return the groups as lists of numbers, whichever way they were written.

        Examples
        --------
        >>> from xarraylite.hlo.values import ReplicaGroups
        >>> ReplicaGroups(tile=(2, 2), reshape=(2, 2), transpose=(1, 0)).expanded()
        ((0, 2), (1, 3))
        """
        if self.mesh:
            return expand_mesh(self.mesh)
        if not self.tile:
            return self.groups
        numbers = np.arange(prod(self.tile)).reshape(self.reshape or self.tile)
        rows = np.transpose(numbers, self.transpose or None).reshape(self.tile)
        return tuple([tuple(row) for row in rows.tolist()])


class Alias(NamedTuple):
    """A part of a result that shares memory with a part of an operand or parameter."""

    output_index: tuple[int, ...]
    operand: int
    operand_index: tuple[int, ...]
    kind: str = ""


class Signature(NamedTuple):
    """Shapes and layouts of the parameters and the result of a program."""

    parameters: tuple[ArraySpec, ...]
    result: ArraySpec


class Domain(NamedTuple):
    """Border between two ways of distributing an array."""

    kind: str
    entry: str
    exit: str


class ResultAccuracy(NamedTuple):
    """How accurate a transcendental function is wanted: a mode, or bounds of the error."""

    mode: str = "default"
    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0


@record(frozen=True, slots=True)
class OpMetadata:
    """Where an instruction comes from.

    Attributes
    ----------
    op_type, op_name : str
        Operation and path in the framework's program.
    source_file : str
        File of the user's program.
    source_line, source_end_line, source_column, source_end_column : int
        Place in it, from 1; 0 where unknown.
    stack_frame_id : int
        Place in the module's table of stack frames, from 1; 0 for none.
    profile_type : tuple of int
        Kinds of profiles that chose how it is computed.
    deduplicated_name, scheduling_name, metadata_payload : str
        Notes of the compiler.
    """

    op_type: str = ""
    op_name: str = ""
    source_file: str = ""
    source_line: int = 0
    source_end_line: int = 0
    source_column: int = 0
    source_end_column: int = 0
    stack_frame_id: int = 0
    profile_type: tuple[int, ...] = ()
    deduplicated_name: str = ""
    scheduling_name: str = ""
    metadata_payload: str = ""

    def with_frame(self, number: int) -> OpMetadata:
        """Return the same with another stack frame."""
        return replace(self, stack_frame_id=number)
