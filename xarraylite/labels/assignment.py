"""Assigning labelled expressions to containers, and evaluating them into new ones.

What `assign.write` promises holds here too: everything is checked before the first byte is written,
pending readers of the destination keep the old values, and an expression that reads its
destination is right.  A matrix product never reads memory that it writes: where an operand may lie
in the destination's bytes, the product is made in a temporary first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._config import settings
from .._errors import CastError, NoAliasError, ShapeError
from ..assignment.assign import Writable, check_writable, write
from ..assignment.readers import protect
from ..blas.path import Sketch
from ..blas.stacks import Product
from ..dtypes.names import DType, dtype_name
from ..dtypes.promotion import can_cast
from ..ir import build
from ..ir.node import Leaf, Node
from ..ir.walk import postorder, source_of
from ..layout.strided import Strided
from ..memory.buffer import Buffer
from ..memory.target import Target
from ..operands.nodes import is_number
from ..operands.tracing import writer as trace_writer
from ..overlap.aliasing import shares
from ..runtime import evaluate as engine
from .labelled import (
    Group,
    Labels,
    Term,
    XLabelled,
    check_destination,
    check_size,
    labels_for,
    require_labelled,
    result_labels,
)
from .lowering import Lowering
from .notes import Note
from .remembered import Call, Filled, call_of_labels, filled, memories_of, recall, remember

#: Stands for the root of an assignment whose operands are not nodes any more.
_NOTHING = build.scalar(False, np.dtype(np.bool_))


def assign_labelled(
    destination: Writable, text: str, value: object, held: bool, noalias: bool
) -> None:
    """Perform ``destination[text] = value``.

    Parameters
    ----------
    destination : container
        What is written.
    text : str
        One label per dimension of the destination.
    value : XLabelled or number
        The expression; a number goes to all elements, whatever their labels.
    held : bool
        Whether anyone but the assignment holds it.
    noalias : bool
        Whether the caller promised that it does not read the destination in another order.

    Raises
    ------
    ShapeError
        For labels or extents that do not fit.
    CastError
        If an in-place operator's result does not cast back under ``same_kind``.
    DTypeError
        If ``value`` is neither.
    """
    if is_filled(destination, text, value, held, noalias):
        return
    buffer, place = destination.buffer, destination.map
    call = _call_of_write(destination, text, value)
    recipe = recall(call)
    if recipe is not None and call is not None and not buffer.readonly:
        first, operands = place.byte_start(recipe.dtype.itemsize), memories_of(call)
        if not recipe.reads(*operands, buffer, first):
            arrays = recipe.arrays(*operands)
            del call, operands  # nothing waits for its operands but the product
            let_go(value, held, noalias, buffer)
            _run(buffer, lambda: recipe.run(*arrays, buffer, first))
            return
        del operands
    labelled, labels = checked(destination, text, value)
    check_writable(destination, "labelled assignment")
    dense = labelled.dense(labels)
    sketch = Sketch(labels, place.strides) if isinstance(place, Strided) else None
    result = Lowering(dense, labels, sketch, destination.dtype).run()
    if not isinstance(result, Product):
        del call, dense
        let_go(labelled, held, noalias, buffer)
        write(destination, result, labelled, held, noalias)
        return
    assert isinstance(place, Strided), "BLAS is planned for strided destinations only"
    made = result.recipe(place, labels)
    if call is not None:
        remember(call, result, made)
    del call, dense
    let_go(labelled, held, noalias, buffer)
    start = place.byte_start(result.dtype.itemsize)
    if made.reads(*result.operands, buffer, start):
        if noalias and settings.check_noalias:
            raise NoAliasError(
                f"noalias: an operand of {labelled!r} shares memory with the destination of shape "
                f"{destination.shape}; leave noalias out"
            )
        write(destination, _made(result, labels).leaf(), None, False, noalias)
        return
    _run(buffer, lambda: made.run(*made.arrays(*result.operands), buffer, start))


def is_filled(destination: Any, text: str, value: Any, held: bool, noalias: bool) -> bool:
    """Assign a number to all elements; tell whether it is one.

    Raises
    ------
    ShapeError
        If there is not one label for each dimension.
    """
    if not (is_number(value) or getattr(value, "ndim", None) == 0):
        return False
    labels_for(text, destination.shape, destination)
    destination._store(Ellipsis, value, held, noalias)
    return True


def let_go(value: object, held: bool, noalias: bool, buffer: Buffer) -> None:
    """Drop the operands of an expression that nobody but its assignment holds.

    Under noalias one that reads the destination is used up, whoever holds it.
    """
    assert isinstance(value, XLabelled), "checked"
    if _reads(value.terms, buffer) if noalias else not held:
        value.release()


def _run(buffer: Buffer, product: Callable[[], None]) -> None:
    """Run a product that writes a buffer and reads none of those bytes."""
    with protect(buffer, _NOTHING, None, None, False):
        product()


def _call_of_write(destination: Writable, text: str, value: object) -> Call | None:
    """Return the call of a product of two operands that is written to strided memory."""
    place = destination.map
    if not isinstance(place, Strided) or not isinstance(value, XLabelled):
        return None
    if value.is_update_of(destination):  # which has another rule of casting
        return None
    return call_of_labels(value, (text, destination.dtype, place.shape, place.strides))


def checked(destination: Writable, text: object, value: object) -> tuple[XLabelled, Labels]:
    """Return an assignment's value and labels, once they fit the destination.

    Raises
    ------
    ShapeError, CastError, DTypeError
        As `assign_labelled`.
    """
    labelled = require_labelled(value)
    labels = labels_for(text, destination.shape, destination)
    labelled.check_result(labels, "labelled assignment")
    check_destination(labels, destination.shape, labelled, destination)
    check_cast(labelled, destination, destination.dtype)
    return labelled, labels


def check_cast(value: XLabelled, destination: object, dtype: DType) -> None:
    """Refuse an in-place operator's result that does not cast back to the destination's dtype.

    Raises
    ------
    CastError
        Naming the labels and both dtypes.
    """
    if value.is_update_of(destination) and not can_cast(value.dtype, dtype, "same_kind"):
        raise CastError(
            f"in-place labelled assignment: {value!r} does not cast to the destination's dtype "
            f"{dtype_name(dtype)} (rule: same_kind)"
        )


def _made(
    product: Product, labels: Labels, call: Call | None = None, explained_as: object = None
) -> Filled:
    """Return a product in memory of its own."""
    place = Strided.row_major(tuple([product.extents[k] for k in labels]))
    recipe = product.recipe(place, labels, explained_as)
    if call is not None:
        remember(call, product, recipe)
    return filled(recipe, *product.operands)


def evaluate_labelled(value: object, text: object) -> Filled:
    """Evaluate a labelled expression into new row-major memory.

    Parameters
    ----------
    value : XLabelled
        The expression.
    text : str
        Labels of the result.

    Raises
    ------
    ShapeError
        If ``value`` has no labels, or the result's are missing or not among them.
    SizeError
        If the result exceeds the ``max_result_bytes`` setting.
    """
    call = call_of_labels(value, (text,)) if isinstance(text, str) else None
    recipe = recall(call)
    if recipe is not None and call is not None:
        return filled(recipe, *memories_of(call))
    return computed(*resulting(value, text), "eval", call)


def resulting(value: object, text: object) -> tuple[XLabelled, Labels]:
    """Return an expression and the labels of its result, once they fit.

    Raises
    ------
    ShapeError
        As `evaluate_labelled`.
    """
    if not isinstance(value, XLabelled):
        raise ShapeError(
            f"eval: labels {text!r} are for labelled expressions, got {type(value).__name__}; "
            'index it with a text such as "i,j" first'
        )
    labels = result_labels(text, value)
    value.check_result(labels, "eval")
    return value, labels


def computed(
    value: XLabelled,
    labels: Labels,
    operation: str,
    call: Call | None = None,
    explained_as: object = None,
) -> Filled:
    """Evaluate an expression whose terms have all the result's labels into row-major memory.

    Parameters
    ----------
    value : XLabelled
        The expression.
    labels : tuple of str
        Labels of the result.
    operation : str
        Named in messages.
    call : Call, optional
        What the next product like this one is recognised by.
    explained_as : object, optional
        What `explain` is told of the result.

    Raises
    ------
    SizeError
        If the result exceeds the ``max_result_bytes`` setting; nothing is computed then.
    """
    result = multiplied(value, labels, operation, call, explained_as)
    if isinstance(result, Filled):
        return result
    place = Strided.row_major(result.shape)
    buffer, _ = engine.evaluate(result, place)
    buffer.made, buffer.special = explained_as, True
    return Filled(buffer, place, value.dtype)


def multiplied(
    value: XLabelled,
    labels: Labels,
    operation: str,
    call: Call | None = None,
    explained_as: object = None,
) -> Filled | Node:
    """Return an expression's matrix product; what is a kernel's is lazy.  See `computed`."""
    check_size(labels, value.extents, value.dtype, operation)
    place = Strided.row_major(tuple([value.extents[k] for k in labels]))
    result = Lowering(value, labels, Sketch(labels, place.strides), value.dtype).run()
    return _made(result, labels, call, explained_as) if isinstance(result, Product) else result


def lazily(value: XLabelled, labels: Labels) -> Node | None:
    """Return an expression that has operands which are no memory, as a node; None if it has none.

    Products of such operands are computed block by block, when the node is; those of a trace that
    has a writer, by what it writes.
    """
    in_memory = all([source_of(node) is None for node in operands_of(value.terms)])
    if in_memory and trace_writer() is None:
        return None
    result = Lowering(value, labels, None, value.dtype).run()
    assert not isinstance(result, Product), "BLAS multiplies memory"
    return result


def folded(value: XLabelled, labels: Labels) -> Node | None:
    """Return an expression as a node; None where BLAS computes a part of it."""
    notes: list[Note] = []
    result = Lowering(value, labels, None, value.dtype, notes=notes).run()
    return None if notes or isinstance(result, Product) else result


def explained(
    value: XLabelled, labels: Labels, destination: Writable | None
) -> tuple[list[Note], Node | None]:
    """Return what an evaluation does before its last kernel, and what that kernel evaluates.

    The node is None where BLAS writes the result itself.
    """
    notes: list[Note] = []
    place: object = Strided.row_major(tuple([value.extents[k] for k in labels]))
    dtype = value.dtype
    if destination is not None:
        place, dtype = destination.map, destination.dtype
    sketch = Sketch(labels, place.strides) if isinstance(place, Strided) else None
    lowering = Lowering(value, labels, sketch, dtype, notes)
    result = lowering.run()
    if isinstance(result, Product):
        reads = destination is not None and any(
            [shares(_target(destination), leaf) for leaf in _read_in_place(value, lowering)]
        )
        if not reads:
            return notes, None
        labels_of = Strided.row_major(tuple([value.extents[k] for k in labels]))
        last = notes.pop()
        reason = "an operand of the matrix product lies in the destination"
        notes.append(Note(last.text, labels_of.size * dtype.itemsize, reason, last.traffic))
        return notes, Leaf(labels_of.shape, dtype, Buffer.allocate(0).snapshot(), labels_of)
    return notes, result


def _target(destination: Writable) -> Target:
    return Target(destination.buffer, destination.map, destination.dtype)


def _read_in_place(value: XLabelled, lowering: Lowering) -> list[Leaf]:
    """Return the operands of a sole matrix product that BLAS reads where they are."""
    return [
        factor.node
        for factor in value.terms[0].factors
        if not isinstance(factor, Group)
        and isinstance(factor.node, Leaf)
        and factor.node.dtype == lowering.acc
    ]


def operands_of(terms: tuple[Term, ...]) -> Iterator[Node]:
    """Yield the operands of a labelled expression."""
    for term in terms:
        for factor in term.factors:
            if isinstance(factor, Group):
                yield from operands_of(factor.terms)
            else:
                yield factor.node


def _reads(terms: tuple[Term, ...], buffer: Buffer) -> bool:
    """Tell whether an operand lies in a buffer."""
    return any(
        [
            isinstance(node, Leaf) and buffer.is_read_by(node.snapshot)
            for operand in operands_of(terms)
            for node in postorder(operand)
        ]
    )
