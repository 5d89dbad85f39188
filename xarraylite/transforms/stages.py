"""What a traced function computes that no kernel does: products, sorting, decompositions.

The trace stops there.  What goes in is planned as results are, and what comes out is one more
argument of what follows; so a run of the trace is a few plans with calls in between (`Stage`).
What a product gives follows from its operands' shapes.  A function of `FUNCTIONS` is called once
while it is traced, on values that do no harm, for the shapes and dtypes that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._errors import XarrayliteError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..dtypes.names import DType
from ..ir.node import Leaf, Node
from ..labels.assignment import computed
from ..labels.labelled import Indexed, Labels, Term, XLabelled
from ..layout.strided import ROW_MAJOR, Strided
from ..memory.buffer import NOWHERE
from ..memory.snapshots import LateSnapshot
from ..operands.tracing import Trace, is_traced, remembering
from .planned import NONE, Output, planned, run

#: Functions whose results' shapes do not depend on values.
FUNCTIONS = frozenset(
    """
    argpartition argsort bitwise_count cholesky cond convolve corrcoef correlate cov cumprod
    cumsum cumulative_prod cumulative_sum det digitize ediff1d eig eigh eigvals eigvalsh erf
    erfc fft fft2 fftn fftshift frexp gamma gcd gradient hfft i0 ifft ifft2 ifftn ifftshift
    ihfft interp inv irfft irfft2 irfftn isin lcm ldexp lgamma logaddexp2 matrix_norm
    matrix_power matrix_rank matvec median nanargmax nanargmin nancumprod nancumsum nanmedian
    nanpercentile nanquantile norm packbits partition percentile pinv polyval qr quantile rfft
    rfft2 rfftn searchsorted slogdet solve sort sort_complex spacing svd svdvals trapezoid
    unpackbits unwrap vecmat vector_norm
    """.split()  # noqa: SIM905
)


@dataclass(slots=True)
class Stage:
    """A call, what it is given, and what becomes of its results.

    Attributes
    ----------
    inputs : list of Output
        Planned operands.
    call : callable
        Takes their values; returns containers.
    """

    inputs: list[Output]
    call: Callable[[list[XArray]], list[XArray]]

    def run(self, arrays: list[Any], fresh: Sequence[Mapping[int, Leaf] | None]) -> None:
        """Compute the operands, call the function, and append what it gives to the arguments."""
        given = zip(self.inputs, fresh, strict=True)
        arrays += self.call([run(output, arrays, new or NONE) for output, new in given])


@dataclass(slots=True)
class Stages:
    """The writer of a trace that is to be run: it notes what is computed without nodes.

    Attributes
    ----------
    arrays : list
        Arguments, and what stands for the results of stages.
    snapshots : dict
        Which of them a traced leaf reads, by the identity of its snapshot.
    trace : Trace
        What runs.
    found : list of Stage
        In their order.
    results : list of Leaf
        What stands for their results: an identity in ``snapshots`` must not become another's.
    """

    arrays: list[Any]
    snapshots: dict[int, int]
    trace: Trace
    found: list[Stage] = field(default_factory=list)
    results: list[Leaf] = field(default_factory=list)

    def product(self, factors: Sequence[Any], kept: Sequence[str]) -> Node:
        """Note a product of two labelled nodes; return what stands for it."""
        labels: list[Labels] = [part.labels for part in factors]
        extents: dict[str, int] = {}
        for part in factors:
            extents.update(zip(part.labels, part.node.shape, strict=True))
        dtype, out = factors[0].node.dtype, tuple(kept)

        def multiply(values: list[XArray]) -> list[XArray]:
            parts = [Indexed(v.node, own) for v, own in zip(values, labels, strict=True)]
            value = XLabelled((Term(tuple(parts)),), dtype, extents)
            made = computed(value, out, "matmul")
            return [XArray._own(made.buffer, made.map, made.dtype, ROW_MAJOR)]

        self.found.append(Stage([self._input(part.node) for part in factors], multiply))
        return self._result(tuple([extents[k] for k in out]), dtype).node

    def taken(self, node: Node, axis: int, index: Node) -> Node:
        """Note that a node is read through integers; return what stands for the elements."""
        before = (slice(None),) * axis

        def take(values: list[XArray]) -> list[XArray]:
            of, positions = values
            found = of[(*before, positions if positions.ndim else positions.item())]
            return [XArray(found)]

        self.found.append(Stage([self._input(node), self._input(index)], take))
        shape = (*node.shape[:axis], *index.shape, *node.shape[axis + 1 :])
        return self._result(shape, node.dtype).node

    def call(
        self,
        name: str,
        arguments: dict[str, Any],
        function: Callable[[dict[str, Any]], Any] | None = None,
    ) -> Any:
        """Note a call of a function; return what stands for its results."""
        places = [key for key, value in arguments.items() if _is_traced(value)]
        known = function is not None and name in FUNCTIONS
        if not (places and known) or arguments.get("out") is not None:
            return NotImplemented
        assert function is not None
        nodes = [arguments[key].node for key in places]
        with remembering():
            try:
                like = function(
                    {**arguments, **dict(zip(places, map(_harmless, nodes), strict=True))}
                )
            except (XarrayliteError, ValueError, TypeError):
                return NotImplemented
        parts = list(like) if isinstance(like, tuple) else [like]

        def compute(values: list[XArray]) -> list[XArray]:
            made = function({**arguments, **dict(zip(places, values, strict=True))})
            return [XArray(x) for x in (made if isinstance(made, tuple) else (made,))]

        self.found.append(Stage([self._input(node) for node in nodes], compute))
        results = [self._result(part.shape, part.dtype) for part in parts]
        if not isinstance(like, tuple):
            return results[0]
        made: Any = getattr(type(like), "_make", type(like))
        return made(results)

    def _input(self, node: Node) -> Output:
        return planned(XExpression(node), self.arrays, self.snapshots, self.trace)

    def _result(self, shape: tuple[int, ...], dtype: DType) -> XExpression:
        """Return what stands for a result, which is one more argument."""
        place = Strided.row_major(shape)
        snapshot = LateSnapshot(NOWHERE)
        snapshot.traced = True
        self.snapshots[id(snapshot)] = len(self.arrays)
        self.arrays.append(XArray._own(NOWHERE, place, dtype, ROW_MAJOR))
        self.results.append(Leaf(shape, dtype, snapshot, place))
        return XExpression(self.results[-1])


def _is_traced(value: object) -> bool:
    plain = isinstance(value, XExpression) and not isinstance(value, XContainer)
    return plain and is_traced(value.node)  # type: ignore[attr-defined]


def _harmless(node: Node) -> XArray:
    """Return values for which every function has results: stacks of unit matrices, or ascending."""
    shape = node.shape
    values: Any = np.arange(shape[-1] if shape else 1.0)
    if len(shape) > 1 and shape[-1] == shape[-2]:
        values = np.eye(shape[-1])
    values = np.broadcast_to(values, shape or (1,)).reshape(shape)
    return XArray(values.astype(np.float64)).astype(node.dtype)  # type: ignore[return-value]
