"""`matmul`, `vecdot`, `tensordot`, `einsum`: labelled expressions of their operands' dimensions.

Each function gives the dimensions labels, checks what its rule demands, and has
`assignment.computed` do the work.  A dimension of extent 1 that is broadcast has no
label: its factor is the same for every index.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._errors import AxisError, AxisTypeError, BroadcastError, ShapeError
from ..blas.stacks import Recipe
from ..dtypes.names import DType, kind
from ..dtypes.promotion import result_type
from ..index import transform
from ..index.box import is_vector
from ..index.broadcast import broadcast_shapes, check_axis
from ..ir import build
from ..ir.kind import NODE, Kind, Operands
from ..ir.node import Node
from ..ir.translation import node_of
from ..memory.block import Memory
from ..ops.table import OPS
from . import subscripts
from .assignment import computed, folded, lazily, multiplied
from .labelled import Indexed, Labels, Term, XLabelled
from .pairs import pairs_of
from .remembered import NOTHING, Call, Filled, call_of, filled, hollow, memories_of, recall

Shape = tuple[int, ...]


class Explained(NamedTuple):
    """What `explain` needs of a product whose operands may be gone."""

    value: XLabelled
    labels: Labels


#: An operand that keeps no memory alive: a node, or what the node is made of.
Hollow = Node | tuple[Kind, Shape, Operands]


#: Operands with a label for each dimension, and the labels of the result.
Labelling = tuple[list[tuple[Node, Labels]], Labels]


class Unwritten(NamedTuple):
    """What `explain` needs of a product, as long as nobody asks.

    Attributes
    ----------
    labelled : callable
        Gives operands their labels: one of this module.
    operands : tuple
        What it takes.
    options : tuple
        And what else.
    """

    labelled: Callable[..., Labelling]
    operands: tuple[Hollow, ...]
    options: tuple[Any, ...] = ()

    def explained(self) -> Explained:
        """Return it with nodes."""
        nodes = [x if isinstance(x, Node) else node_of(*x) for x in self.operands]
        return Explained(*_summed(*self.labelled(*nodes, *self.options), None, "product")[:2])


def unwritten(labelled: Callable[..., Labelling], operands: Any, *options: Any) -> Unwritten:
    """Return what `explain` needs of a product of arrays."""
    return Unwritten(labelled, tuple(map(_hollow_operand, operands)), options)


def _hollow_operand(x: Any) -> Hollow:
    """Return an operand that keeps no memory alive."""
    if x._kind is NODE:
        return hollow(x.node)
    if not x.lasting:
        return x._kind, x._shape, (NOTHING, x._start)
    return x._kind, x._shape, tuple([NOTHING if isinstance(y, Memory) else y for y in x.now()])


#: A product in memory, or one that is computed in blocks.
Made = Filled | Node

#: Asked before anything is computed, with the shape and dtype of the result.
Check = Callable[[Shape, DType], None]


def contract(
    operands: Sequence[tuple[Node, Labels]],
    out: Labels,
    dtype: DType | None,
    operation: str,
    call: Call | None = None,
    check: Check | None = None,
    fold: bool = False,
) -> Made:
    """Return the sum of products as memory of its own; lazily, where an operand is no memory.

    Parameters
    ----------
    operands : sequence of (node, labels)
        Labels may repeat within one operand, which takes its diagonal; an extent of 1 is
        stretched to another operand's.
    out : tuple of str
        Labels of the result.
    dtype : numpy.dtype or None
        Of the computation and the result; by default the operands' common one.
    operation : str
        Named in messages.
    call : Call, optional
        What the next such product is recognised by.
    check : callable, optional
        May refuse the result.
    fold : bool, default False
        Whether a product that no BLAS computes is returned lazily.

    Raises
    ------
    ShapeError
        Where a label has two extents other than 1.
    """
    value, out, end = _summed(operands, out, dtype, operation, check)
    lazy = lazily(value, out)
    if lazy is not None:
        return lazy
    hollows = tuple(
        [
            Indexed(hollow(f.node), f.labels)
            for f in value.terms[0].factors
            if isinstance(f, Indexed)
        ]
    )
    made = Explained(XLabelled((Term(hollows),), end, value.extents), out)
    return (multiplied if fold else computed)(value, out, operation, call, made)


def _summed(
    operands: Sequence[tuple[Node, Labels]],
    out: Labels,
    dtype: DType | None,
    operation: str,
    check: Check | None = None,
) -> tuple[XLabelled, Labels, DType]:
    """Return the labelled sum of products, the labels of its result, and the dtype."""
    plain = [_diagonal(node, labels, operation) for node, labels in operands]
    extents: dict[str, int] = {}
    for node, labels in plain:
        for label, extent in zip(labels, node.shape, strict=True):
            known = extents.get(label, 1)
            if known not in (1, extent) and extent != 1:
                shown = ", ".join([build.describe(node) for node, _ in operands])
                raise ShapeError(
                    f"{operation}({shown}): label {label!r} has extent {known} in one operand "
                    f"and {extent} in another"
                )
            extents[label] = extent if known == 1 else known
    end = result_type(*[node.dtype for node, _ in plain]) if dtype is None else dtype
    factors = tuple([_stretched(node, labels, extents) for node, labels in plain])
    if check is not None:
        check(tuple([extents[k] for k in out]), end)
    return XLabelled((Term(factors),), end, extents), out, end


def _again(call: Call | None, check: Check | None = None) -> Filled | None:
    """Return a product like one seen before; None if there was none."""
    recipe = recall(call)
    if recipe is None or call is None:
        return None
    if check is not None:
        check(recipe.place.shape, recipe.dtype)
    return filled(recipe, *memories_of(call))


def _diagonal(node: Node, labels: Labels, operation: str) -> tuple[Node, Labels]:
    """Return an operand with every label once."""
    kept = tuple(dict.fromkeys(labels))
    if len(kept) == len(labels):
        return node, labels
    extents: dict[str, int] = {}
    for label, extent in zip(labels, node.shape, strict=True):
        if extents.setdefault(label, extent) != extent:
            raise ShapeError(
                f"{operation}: {build.describe(node)} has label {label!r} for dimensions of "
                f"extents {extents[label]} and {extent}; a diagonal needs equal ones"
            )
    maps = tuple([transform.IndexMap(0, 1, kept.index(label)) for label in labels])
    return build.view(node, transform.Transform(tuple([extents[k] for k in kept]), maps)), kept


def _stretched(node: Node, labels: Labels, extents: dict[str, int]) -> Indexed:
    """Return an operand without the dimensions that are stretched."""
    wide = [d for d, k in enumerate(labels) if node.shape[d] == 1 and extents[k] != 1]
    if not wide:
        return Indexed(node, labels)
    kept = tuple([k for d, k in enumerate(labels) if d not in wide])
    return Indexed(build.view(node, transform.squeeze(node.shape, wide)), kept)


def fold(left: Node, right: Node) -> Node | None:
    """Return a matrix product that BLAS does not compute as a lazy fold; None if it does."""
    value, out, _ = _summed(*of_matmul(left, right), None, "matmul")
    return folded(value, out)


def reads_in_place(left: Node, right: Node) -> bool:
    """Tell whether BLAS has multiplied two such operands as they lie."""
    return recall(call_of(("matmul", None), left, right)) is not None


def is_stacked(left: Node, right: Node, shape: Shape) -> bool:
    """Tell whether NumPy is given two operands of a product in memory as they are."""
    recipe = recall(call_of(("matmul", None), left, right))
    if recipe is None or recipe.function is not np.matmul or recipe.out.shape != shape:
        return False
    rows = tuple([step * recipe.dtype.itemsize for step in recipe.place.strides])
    pairs = ((recipe.left, left), (recipe.right, right))
    whole = [window.shape[-2:] == node.shape[-2:] for window, node in pairs]
    return all(whole) and recipe.out.strides == rows


def seen(name: str, key: object, left: Node, right: Node) -> Recipe | None:
    """Return how a function's product of two operands in memory was computed.

    The key is of what the function is told of their dimensions, () of `matmul`, which is told
    nothing.
    """
    told = () if name == "matmul" else (key,)
    return recall(call_of((name, None, *told), left, right))


def of_matmul(left: Node, right: Node) -> Labelling:
    """Return the operands of a matrix product with their labels, and those of the result."""
    shown = f"matmul({build.describe(left)}, {build.describe(right)})"
    if not left.shape or not right.shape:
        raise ShapeError(
            f"{shown}: operands must have at least one dimension; multiply by * instead"
        )
    inner_left, inner_right = left.shape[-1], right.shape[-2 if len(right.shape) > 1 else 0]
    if inner_left != inner_right:
        raise ShapeError(
            f"{shown}: the last dimension of the left operand ({inner_left}) and the "
            f"{'second to last' if len(right.shape) > 1 else 'only'} one of the right "
            f"({inner_right}) must be equal"
        )
    _check_stacks(left.shape[:-2], right.shape[:-2], shown)
    stacks = max(len(left.shape), len(right.shape)) - 2
    stack = tuple([f"b{k}" for k in range(max(stacks, 0))])
    rows, columns = ("m",) * (len(left.shape) > 1), ("n",) * (len(right.shape) > 1)
    own_left = _last(stack, len(left.shape) - 2) + rows + ("k",)
    own_right = _last(stack, len(right.shape) - 2) + ("k",) + columns
    return [(left, own_left), (right, own_right)], stack + rows + columns


def of_vecdot(left: Node, right: Node, axis: int) -> Labelling:
    """Return the operands of dot products with their labels, and those of the result."""
    shown = f"vecdot({build.describe(left)}, {build.describe(right)}, axis={axis})"
    axis = _whole(axis, AxisTypeError(f"{shown}: the axis is a whole number"))
    least = min(len(left.shape), len(right.shape))
    if not -least <= axis < least:
        raise AxisError(f"{shown}: axis must be from -{least} to {least - 1}, one of both operands")
    if left.shape[axis] != right.shape[axis]:
        raise ShapeError(
            f"{shown}: extents along the axis are {left.shape[axis]} and {right.shape[axis]}; "
            "they must be equal"
        )
    _check_stacks(_without(left.shape, axis), _without(right.shape, axis), shown)
    out = tuple([f"b{k}" for k in range(max(len(left.shape), len(right.shape)) - 1)])
    if kind(left.dtype) == "c":
        left = conjugate(left)
    pairs: list[tuple[Node, tuple[str, ...]]] = []
    for node in (left, right):
        at, others = axis % len(node.shape), _last(out, len(node.shape) - 1)
        pairs.append((node, (*others[:at], "k", *others[at:])))
    return pairs, out


def _check_stacks(left: Shape, right: Shape, shown: str) -> None:
    """Refuse dimensions of a stack that do not broadcast."""
    try:
        broadcast_shapes(left, right)
    except BroadcastError as error:
        raise BroadcastError(f"{shown}: the other dimensions do not broadcast: {error}") from None


def _without(shape: Shape, axis: int) -> Shape:
    """Return a shape without the axis."""
    at = axis % len(shape)
    return shape[:at] + shape[at + 1 :]


def conjugate(node: Node) -> Node:
    """Return the lazy complex conjugate."""
    return build.elementwise(OPS["conj"], node)


def of_tensordot(left: Node, right: Node, axes: object) -> Labelling:
    """Return the operands with their labels, and those of the result."""
    shown = f"tensordot({build.describe(left)}, {build.describe(right)}, axes={axes})"
    first, second = _pairs_of_axes(axes, len(left.shape), len(right.shape), shown)
    for a, b in zip(first, second, strict=True):
        if left.shape[a] != right.shape[b]:
            raise ShapeError(
                f"{shown}: dimension {a} of the left operand has extent {left.shape[a]}, "
                f"dimension {b} of the right one {right.shape[b]}; they must be equal"
            )
    own_left = [f"l{k}" for k in range(len(left.shape))]
    own_right = [f"r{k}" for k in range(len(right.shape))]
    for a, b in zip(first, second, strict=True):
        own_right[b] = own_left[a]
    out = [k for d, k in enumerate(own_left) if d not in first]
    out += [k for d, k in enumerate(own_right) if d not in second]
    return [(left, tuple(own_left)), (right, tuple(own_right))], tuple(out)


def _pairs_of_axes(
    axes: object, rank_left: int, rank_right: int, shown: str
) -> tuple[list[int], list[int]]:
    if is_vector(axes):
        axes = tuple(axes)
        if len(axes) != 2:
            raise ShapeError(f"{shown}: axes are a number or a pair of sequences")
        first, second = [_axes(part, shown) for part in axes]
        if len(first) != len(second):
            raise ShapeError(f"{shown}: both operands need as many axes")
        a = [check_axis(axis, rank_left, "tensordot") for axis in first]
        b = [check_axis(axis, rank_right, "tensordot") for axis in second]
        if len(set(a)) != len(a) or len(set(b)) != len(b):
            raise AxisError(f"{shown}: an axis is named twice")
        return a, b
    count = _whole(axes, ShapeError(f"{shown}: axes are a number or a pair of sequences"))
    if not 0 <= count <= min(rank_left, rank_right):
        raise AxisError(f"{shown}: there are no {count} common axes")
    return list(range(rank_left - count, rank_left)), list(range(count))


def _axes(part: object, shown: str) -> list[int]:
    """Return the axes of one operand: one, or a sequence of them."""
    axes = part if is_vector(part) else (part,)
    return [_whole(k, ShapeError(f"{shown}: axes are whole numbers, got {k!r}")) for k in axes]


def _whole(value: Any, error: ShapeError) -> int:
    """Return a number of axes, or the number of one."""
    try:
        if not isinstance(value, bool | np.bool_):
            return operator.index(value)
    except TypeError:
        pass  # arrays have __index__, and refuse unless their rank is 0
    raise error


def moved(spec: str, operand: Node) -> transform.Transform | None:
    """Return the view of one operand that ``spec`` says; None where something is summed."""
    (labels,), out = subscripts.read(spec, [operand])
    if {*labels} != {*out}:
        return None
    extents = dict(zip(labels, operand.shape, strict=True))
    if any([extents[label] != n for label, n in zip(labels, operand.shape, strict=True)]):
        return None  # a diagonal of what is not square, which is refused or stretched
    maps = tuple([transform.IndexMap(0, 1, out.index(label)) for label in labels])
    return transform.Transform(tuple([extents[label] for label in out]), maps)


def of_einsum(*given: Any) -> Labelling:
    """Return the operands with their labels, and those of the result; subscripts come last."""
    *operands, spec = given
    inputs, out = subscripts.read(spec, operands)
    return list(zip(operands, inputs, strict=True)), out


def _last(labels: Labels, number: int) -> Labels:
    return labels[len(labels) - number :] if number > 0 else ()


#: The functions that are products, and how operands and options are labelled for them.
LABELLINGS: dict[str, Callable[..., Labelling]] = {
    "matmul": of_matmul,
    "vecdot": of_vecdot,
    "tensordot": of_tensordot,
    "einsum": of_einsum,
}


def product(
    name: str,
    operands: Sequence[Node],
    *options: object,
    dtype: DType | None = None,
    check: Check | None = None,
    fold: bool = False,
) -> Made:
    """Return the product that a function makes of operands.

    Parameters
    ----------
    name : str
        Of the function: a key of `LABELLINGS`.
    operands : sequence of Node
        What is multiplied.
    options : object
        What the function is told of their dimensions, if it is told something.
    dtype, check, fold
        As for `contract`.
    """
    keys = tuple([key_of(option) for option in options])
    known = len(operands) == 2 and None not in keys
    call = call_of((name, dtype, *keys), *operands) if known else None
    again = _again(call, check)
    if again is not None:
        return again
    labelled, out = LABELLINGS[name](*operands, *options)
    pairs = pairs_of(labelled, out) if dtype is None and check is None else ()
    for pair in pairs:
        right, left = labelled.pop(pair.second), labelled.pop(pair.first)
        call = call_of((name, left[1], right[1], pair.kept), left[0], right[0])
        own = _again(call) or contract([left, right], pair.kept, None, name, call)
        labelled.append((own.leaf() if isinstance(own, Filled) else own, pair.kept))
    if not pairs:
        return contract(labelled, out, dtype, name, call, check, fold)
    (node, one), (last, other) = labelled
    call = call_of((name, one, other, out), node, last)
    made = _again(call) or contract(labelled, out, None, name, call, None, fold)
    if isinstance(made, Filled):
        made.buffer.made = Unwritten(LABELLINGS[name], tuple(map(hollow, operands)), options)
    return made


def key_of(option: object) -> object:
    """Return a text, an integer or a tuple of axes as part of a key; None for all else."""
    if type(option) in (int, str):
        return option
    if not isinstance(option, tuple):
        return None
    parts = [tuple(part) if type(part) is list else part for part in option]
    for part in parts:
        if type(part) is not int and not (
            type(part) is tuple and all([type(axis) is int for axis in part])
        ):
            return None
    return tuple(parts)
