"""`eval`: the one way to force a lazy expression."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._later import assignment, labelled
from ..assignment import results
from ..ir.kind import owner_class
from ..ir.walk import fixed_of
from ..operands.convert import LayoutLike, computed, layout_of, store, values_node
from ..operands.nodes import Evaluates, Lifted
from . import xarray  # whose functions machine code replaces
from .container import XContainer
from .expression import XExpression
from .scalar import XScalar
from .xarray import XArray


def at_once(value: Any) -> XContainer | None:
    """Return what a value's kind, or its class, knows how to evaluate; None of all others."""
    made: XContainer | None = None
    if value.__class__ is XExpression:
        made = results.evaluate(value)
    elif isinstance(value, XExpression):
        made = value._evaluated()
    elif isinstance(value, XScalar):
        made = xarray.owned(np.asarray(value.value))
    return made


def eval_(value: object, labels: str | None = None, layout: LayoutLike = None) -> XContainer:
    """Evaluate an expression into a new container; return a container as it is.

    The result is an `XArray`, or where all operands are of fixed rank an `XTensor`, and where
    functions of arrays of fixed shape are evaluated an `XTensorFixed`.

    Parameters
    ----------
    value : XExpression, XLabelled, array or scalar
        What to evaluate.
    labels : str, optional
        Labels of the result of a labelled expression, such as ``"i,k"``; the others are summed.
    layout : Layout, str or constant, optional
        Layout of the result.  By default that of the operands if they all have the same, be it
        column-major or tiled, else row-major.

    Returns
    -------
    XContainer
        ``value`` itself if it already is one and no layout is asked for.

    Raises
    ------
    StaleOperandError
        If an operand was overwritten and its old values could not be kept.
    SizeError
        If the result is larger than the ``max_result_bytes`` setting.
    ShapeError
        If labels are missing, not those of the expression, or given for one without labels.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1, 2])
    >>> xl.eval(a) is a
    True
    >>> xl.eval(a + 1)
    XArray([2, 3])
    >>> str(xl.eval(a + 1, layout="{0:T(4)}").spec)
    's64[2]{0:T(4)}'
    """
    if layout is None and labels is None:
        made = at_once(value)
        if made is not None:
            return made
    if labels is not None or not isinstance(value, XExpression):
        if isinstance(value, labelled.XLabelled):
            if isinstance(value, Evaluates):
                summed: XContainer = value.evaluated(labels)
                return summed
            operands = assignment.operands_of(value.terms)
            value = XArray._filled(assignment.evaluate_labelled(value, labels), *operands)
        elif labels is not None:
            assignment.evaluate_labelled(value, labels)  # which refuses
    if isinstance(value, Lifted):
        evaluated: XContainer = value.evaluated()
        return evaluated
    if layout is None:
        result: XContainer = computed(value, "eval")
        return result
    node = values_node(value, None, "eval")
    cls: type[XArray] = owner_class(fixed_of(node), node.dtype, node.shape)
    place, order = layout_of(node.shape, layout, None, node.dtype, "eval")
    return cls._own(store(node, place), place, node.dtype, order)
