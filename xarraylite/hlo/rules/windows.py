"""Shapes of contractions, convolutions and sliding windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...dtypes.element_types import ElementType
from ...dtypes.info import finfo
from ...xla.spec import ArraySpec
from ..opcodes import by_opcode
from ..values import ConvolutionLabels, WindowDimension, window_of
from .call import Call, Rule, array, one_or_tuple, scalar, similar

_PRECISIONS: Final = frozenset({"default", "high", "highest", "packed_nibble"})


def _contraction_type(call: Call, lhs: ArraySpec, rhs: ArraySpec) -> object:
    """The element type of a product: as the result says, else XLA's choice of the operands'."""
    call.require(
        lhs.element_type.is_complex == rhs.element_type.is_complex,
        "both operands are complex or none is",
    )
    words = call.attributes.get("operand_precision", ())
    call.require(_PRECISIONS.issuperset(words), f"operand_precision={words} is known")
    if call.result is not None and call.result.is_array:
        return call.result.element_type
    return max(lhs.element_type, rhs.element_type, key=_reach)


def _reach(kind: ElementType) -> tuple[bool, float, int, bool]:
    """How much a type holds: floats before integers, by their largest, then bits, then a sign."""
    largest = float(finfo(kind.dtype).max) if kind.is_floating and kind.dtype else 0.0
    return kind.is_complex, largest, kind.bits, not kind.is_unsigned


def _dot(call: Call, grouped: Sequence[int] = ()) -> ArraySpec:
    lhs, rhs = call.shapes[0], call.shapes[1]
    left, right = call.paired(lhs, rhs, ("lhs_batch_dims", "rhs_batch_dims"))
    summed, also = call.paired(lhs, rhs, ("lhs_contracting_dims", "rhs_contracting_dims"))
    call.require(
        not set(left) & set(summed) and not set(right) & set(also),
        "no dimension is both batch and contracting",
    )
    kept = [d for d in range(lhs.rank) if d not in left and d not in summed]
    others = [d for d in range(rhs.rank) if d not in (*right, *also, *grouped)]
    sizes = [lhs.dimensions[d] for d in (*left, *kept)] + [rhs.dimensions[d] for d in others]
    flags = [lhs.dynamic[d] for d in (*left, *kept)] + [rhs.dynamic[d] for d in others]
    return array(_contraction_type(call, lhs, rhs), sizes, flags)


def _scaled_dot(call: Call) -> ArraySpec:
    lhs, rhs, lhs_scale, rhs_scale = call.shapes
    for operand, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        fits = scale.rank == operand.rank and all(
            [n and not m % n for m, n in zip(operand.dimensions, scale.dimensions, strict=True)]
        )
        call.require(not scale.rank or fits, "sizes of a scale divide those of what it scales")
    return _dot(call)


def _ragged_dot(call: Call) -> ArraySpec | None:
    lhs, rhs, groups = call.shapes
    call.require(groups.element_type.is_integral, "the sizes of groups are integers")
    ragged = call.one_dimension(lhs.rank, "lhs_ragged_dims")
    product = _dot(call, call.distinct("rhs_group_dims", rhs.rank))
    sizes = product.dimensions
    if ragged in call.ints("lhs_contracting_dims"):
        sizes = (groups.dimensions[-1] if groups.rank else 0, *sizes)
    return array(product.element_type, sizes)


def slid(call: Call, size: int, dim: WindowDimension) -> int:
    """How many places a window has along a dimension."""
    call.require(dim.size > 0 and dim.stride > 0, "windows have positive sizes and strides")
    call.require(dim.base_dilation > 0 and dim.window_dilation > 0, "dilations are positive")
    return dim.places(dim.padding.padded(size))


def _convolution(call: Call) -> ArraySpec | None:
    operand, kernel = call.shapes
    if call.get("sparsity_config") != "{}":
        return call.result  # what is stored of a sparse operand has sizes of its own
    labels: ConvolutionLabels = call.get("dim_labels")
    window: Sequence[WindowDimension] = call.get("window")
    named = [{*"bf"} <= {*labels.input}, {*"io"} <= {*labels.kernel}, {*"bf"} <= {*labels.output}]
    call.require(
        all(named) and not any(["?" in part for part in labels]),
        "dim_labels name batch, features and every spatial dimension",
    )
    ranks = (len(labels.input), len(labels.kernel), len(labels.output))
    call.require(
        ranks == (operand.rank, kernel.rank, operand.rank),
        "dim_labels fit the operands' dimensions",
    )
    call.require(len(window) == labels.spatial, "the window has one entry per spatial dimension")
    batch, features, *spatial = labels.dimensions("input", "bf")
    ins, outs, *taps = labels.dimensions("kernel", "io")
    groups, batches = call.get("feature_group_count"), call.get("batch_group_count")
    call.require(groups > 0 and batches > 0 and min(groups, batches) == 1, "one kind of group")
    call.require(
        operand.dimensions[features] == kernel.dimensions[ins] * groups,
        "the operand has as many features as all groups of the kernel take",
    )
    call.require(
        kernel.dimensions[outs] % groups == 0 and kernel.dimensions[outs] % batches == 0,
        "groups divide the features that the kernel gives",
    )
    call.require(operand.dimensions[batch] % batches == 0, "groups divide the batch")
    sizes, flags = [0] * operand.rank, [False] * operand.rank
    out_batch, out_features, *places = labels.dimensions("output", "bf")
    sizes[out_batch] = operand.dimensions[batch] // batches
    sizes[out_features] = kernel.dimensions[outs]
    flags[out_batch], flags[out_features] = operand.dynamic[batch], kernel.dynamic[outs]
    for k, dim in enumerate(window):
        call.require(
            kernel.dimensions[taps[k]] == dim.size, "the window has the sizes of the kernel"
        )
        sizes[places[k]] = slid(call, operand.dimensions[spatial[k]], dim)
        flags[places[k]] = operand.dynamic[spatial[k]]
    return array(_contraction_type(call, operand, kernel), sizes, flags)


def reducer(call: Call, scalars: Sequence[ArraySpec], position: int = 0) -> None:
    """Check a computation that joins accumulators and elements into accumulators."""
    call.signature(position, [*scalars, *scalars], one_or_tuple(scalars), "the reducer")


def _halves(call: Call) -> tuple[tuple[ArraySpec, ...], tuple[ArraySpec, ...]]:
    """Operands and their initial values."""
    call.require(
        len(call.shapes) > 0 and len(call.shapes) % 2 == 0,
        "takes operands and as many initial values",
    )
    half = len(call.shapes) // 2
    operands, values = call.shapes[:half], call.shapes[half:]
    call.require(all([not value.dimensions for value in values]), "initial values are scalars")
    call.alike(operands)
    for operand, value in zip(operands, values, strict=True):
        fits = similar(scalar(operand), scalar(value))
        call.require(fits, "an initial value has the type of its operand")
    return operands, values


def _reduced_types(call: Call, values: Sequence[ArraySpec]) -> list[object]:
    """Element types of results: those that the reducer gives."""
    root = call.computation().root.shape
    given = root.tuple_shapes if root.is_tuple else (root,)
    call.require(len(given) == len(values), "the reducer gives one value for each operand")
    return [shape.element_type for shape in given]


def _reduce(call: Call) -> ArraySpec:
    operands, values = _halves(call)
    first = operands[0]
    axes = call.distinct("dimensions", first.rank)
    reducer(call, [scalar(value) for value in values])
    kept = [d for d in range(first.rank) if d not in axes]
    sizes, flags = [first.dimensions[d] for d in kept], [first.dynamic[d] for d in kept]
    return one_or_tuple([array(kind, sizes, flags) for kind in _reduced_types(call, values)])


def _reduce_window(call: Call) -> ArraySpec:
    operands, values = _halves(call)
    window = _window(call, operands[0])
    reducer(call, [scalar(value) for value in values])
    sizes = [slid(call, n, dim) for n, dim in zip(operands[0].dimensions, window, strict=True)]
    flags = operands[0].dynamic
    return one_or_tuple([array(kind, sizes, flags) for kind in _reduced_types(call, values)])


def _window(call: Call, operand: ArraySpec) -> Sequence[WindowDimension]:
    window = window_of(call, operand.rank)
    call.require(len(window) == operand.rank, "the window has one entry per dimension")
    return window


def _select_and_scatter(call: Call) -> ArraySpec:
    operand, source, value = call.shapes
    window = _window(call, operand)
    call.require(not value.dimensions, "the initial value is a scalar")
    kinds = [scalar(shape) for shape in call.shapes]
    alike = all([similar(kind, kinds[0]) for kind in kinds])
    call.require(alike, "operands have the same element type")
    sizes = tuple([slid(call, n, dim) for n, dim in zip(operand.dimensions, window, strict=True)])
    call.require(source.dimensions == sizes, f"the source has the places {sizes} of the window")
    call.signature(0, [kinds[0], kinds[0]], array("pred", ()), "the selection")
    reducer(call, [kinds[1]], 1)
    return operand


#: Rules by operation.
RULES: Final[dict[str, Rule]] = {
    **by_opcode(_convolution, _dot, _ragged_dot, _reduce, _reduce_window, _scaled_dot),
    **by_opcode(_select_and_scatter),
}
