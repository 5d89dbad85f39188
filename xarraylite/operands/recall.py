"""Operations like those that kinds have learned (`operands.learning`): what they lead to.

Each function returns the kind, the shape and the operands of an operation's result, or None where
nothing like it was written before, where a number does not fit, or while a function is traced.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..index.transform import Transform
from ..ir.build import CAST
from ..ir.kind import NODE, Kind, Operands, strides_of
from ..ir.node import Elementwise, Node
from ..ir.translation import of_parts
from ..ir.walk import interned
from ..layout.strided import Strided
from ..ops.op import Op
from ..ops.reductions import Reduction
from . import tracing
from .learning import marks_of, of_number, pattern_key, stretched_key
from .nodes import Gathers, HasNode, as_item, ends

Shape = tuple[int, ...]

Found: TypeAlias = tuple[Kind, Shape, Operands]


def operation(key: tuple[Any, Any], operands: tuple[object, ...]) -> Found | None:
    """Look up an operation on one operand, or on two of which the first or the second is a number.

    Of two arrays the shape of one is the end of the other's.
    """
    mine = [x for x in operands if isinstance(x, HasNode)]
    found = mine[0]._kind.leads(*key) if mine else None
    found = of_number(found, operands[-1])
    if found is None or tracing.running.value:
        return None
    shape = mine[0]._shape
    try:
        if found.__class__ is not tuple:
            shape = shape if len(mine) == 1 else ends(shape, mine[1]._shape)
            items = sum([x.now() for x in mine], ())
            return found, shape, items * (found.items // max(len(items), 1))  # a power
        kind, low, high = found
        parts: list[Operands] = [
            x.now() if isinstance(x, HasNode) else (as_item(x, low, high),) for x in operands
        ]
        return kind, shape, sum(parts, ())
    except KeyError:
        return None


def of_forms(node: Node, op: Op, operands: tuple[object, ...]) -> Found | None:
    """Return a new operation, of whose operands one has a form; None of all others."""
    if tracing.running.value or not isinstance(node, Elementwise) or node.op is not op:
        return None
    if not _has_forms(operands):
        return None
    parts = [(x._kind, x.now()) if isinstance(x, HasNode) else None for x in operands]
    found = of_parts(node, parts)
    return None if found is None else (found[0], node.shape, found[1])


def shared(node: Node, operands: tuple[object, ...]) -> Node:
    """Return a new operation that has no kind; forms among its operands have parts in common."""
    return interned(node) if _has_forms(operands) else node


def _has_forms(operands: tuple[object, ...]) -> bool:
    return any([isinstance(x, HasNode) and x._kind.formed for x in operands])


def three(op: Op, keys: tuple[object, object], operands: tuple[object, ...]) -> Found | None:
    """Look up an operation on three operands of one shape, the first of them an array."""
    first = operands[0]
    known = first._kind.leads(op, keys[0]) if isinstance(first, HasNode) else None
    entry = None if known is None else known.get(keys[1])
    if entry is None or not isinstance(first, HasNode) or tracing.running.value:
        return None
    kind, *bounds = entry
    items = first.now()
    for operand, bound in zip(operands[1:], bounds, strict=True):
        if not isinstance(operand, HasNode):
            try:
                items += (as_item(operand, *bound[1:]),)
            except KeyError:
                return None
        elif operand._shape == first._shape:
            items += operand.now()
        else:
            return None
    return kind, first._shape, items


def stretched(op: Op, left: object, right: object) -> Found | None:
    """Look up an operation on two arrays, extents of which are stretched."""
    if not isinstance(left, HasNode) or not isinstance(right, HasNode):
        return None
    if tracing.running.value or op not in left._kind.table:
        return None
    known = left._kind.leads(op, stretched_key(left, right))
    if known is not None:
        return (*known, left.now() + right.now())
    found = marks_of(left._shape, right._shape)
    kind = None if found is None else left._kind.leads(op, pattern_key(right._kind, found[1]))
    return None if found is None or kind is None else (kind, found[0], left.now() + right.now())


def fold(op: Reduction, x: object) -> Found | None:
    """Look up a fold over all dimensions."""
    if not isinstance(x, HasNode) or tracing.running.value:
        return None
    x = x.settled() if isinstance(x, Gathers) else x
    kind = x._kind.leads(op, None)
    if kind is None or not x._shape or 0 in x._shape:
        return None
    return kind, (), (x._shape, *x.now())


def conversion(x: HasNode, dtype: np.dtype[Any]) -> Found | None:
    """Look up a conversion to a dtype."""
    kind = x._kind.leads(CAST, dtype)
    return None if kind is None or tracing.running.value else (kind, x._shape, x.now())


def view(x: Any, step: Transform) -> Found | None:
    """Return memory under another index; None of what is computed."""
    kind, shape = x._kind, x._shape
    if kind.op is not None or kind.scalar or kind is NODE:
        return None
    place = Strided(shape, strides_of(kind, shape)).apply(step)
    memory, start = x.now()
    made = kind.beside(place.shape, place.strides)
    return made, place.shape, (memory, start + place.offset * kind.itemsize)
