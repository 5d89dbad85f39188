"""What is learned of lazy functions: how their results are made of other arguments.

A function is traced (as `jit` does, with handles that have no values) for its arguments' extents,
which gives a recipe, and for others, which may show a rule for all (`any_length`).
"""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .._errors import XarrayliteError
from .._records import record
from ..ir.kind import NODE
from ..ir.node import Node, Scalar
from ..ir.translation import node_of, scalars_of
from ..memory.buffer import NOWHERE
from ..memory.shield import Shield
from ..memory.snapshots import LateSnapshot, Snapshot
from ..operands import tracing
from ..operands.dispatch import ShieldedRecipe, ViewRecipe
from ..operands.nodes import Gathers
from ..operands.non_numeric import or_numpy
from ..runtime.direct import described
from .any_length import Part, divided, picked, rule_of, samples
from .at_once import AtOnce, numpy_named
from .container import XContainer
from .expression import XExpression
from .recipes import GathersRecipe, Recipe

#: Shapes of arguments for which results that have no rule are lazy, and those that NumPy computes.
SHAPES, _FEW_SHAPES = 32, 8

#: The most that is thought of as subtracted from a number of elements.
_LESS = 1 << 10


class _Growing(threading.local):
    """Whether a function is called with ever new extents, and has no rule for them."""

    value = False


growing = _Growing()


@record(frozen=True, slots=True)
class Call:
    """A call of a lazy function.

    Attributes
    ----------
    function, args, options
        What is called, and with what.
    arrays : sequence of arrays or expressions
        Those among the arguments, in their order.
    """

    function: Callable[..., Any]
    args: Sequence[Any]
    options: dict[str, Any]
    arrays: Sequence[Any]

    def of(self, arrays: Iterable[XExpression]) -> Call:
        """Return the call with other arrays."""
        given = [*arrays]
        rest = iter(given)
        args = [_exchanged(value, rest) for value in self.args]
        options = {name: _exchanged(value, rest) for name, value in self.options.items()}
        return Call(self.function, args, options, given)

    def traced(self) -> Any:
        """Return what the function makes of arrays without values."""
        with tracing.tracing():
            return self.function(*self.args, **self.options)


class Anew:
    """What a function without a rule makes of other arrays: it is called, and computes soon.

    Attributes
    ----------
    function : callable
        The function, or NumPy's of what is not numeric.
    call : Call
        A call of it, with handles that have no memory.
    """

    __slots__ = ("call", "function")

    def __init__(self, call: Call) -> None:
        self.function = or_numpy(call.function)
        self.call = call.of(_handles(call.arrays, None)[0])

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the result."""
        own = self.call.of(arrays)
        return soon(self.function, own.args, own.options)


def soon(function: Callable[..., Any], args: Sequence[Any], options: dict[str, Any]) -> Any:
    """Call a function of ever new extents: what is small it computes when it is written."""
    growing.value, before = True, growing.value
    try:
        return function(*args, **options)
    finally:
        growing.value = before


def ruled(count: int, call: Call, made: Any) -> Any:
    """Return what is known of a function's results, whatever the extents, after one more of them.

    At first that is their number: what is called once need not be traced, and what is no total only
    where there will be more.  Then it is a rule, which is called with arrays.
    """
    count += 1
    arrays = call.arrays
    numpys = numpy_named(call.function.__name__, arrays)
    if numpys is not None and count < SHAPES:
        return (count >= _FEW_SHAPES and _at_once(numpys, call, made)) or count
    if count < (2 if getattr(made, "_shape", None) == () else SHAPES):
        return count
    extents = arrays[0]._shape
    if any([x._shape != extents for x in arrays]) or not _is_new(made, arrays):
        return Anew(call)

    def parts(shape: tuple[int, ...]) -> list[Part] | None:
        traced = _traced(call, shape)
        return None if traced is None else divided(*traced)

    numbers = [x for x in (*call.args, *call.options.values()) if x.__class__ in (int, float)]
    most = max([x for x in numbers if 0 < x <= _LESS], default=0)
    for least in {2, 2 + math.ceil(most)}:  # as many may be subtracted
        shapes = samples(least, extents)
        if not shapes:
            return count
        rule = rule_of(shapes, parts)
        if rule is not None and rule.result(extents) == (made._shape, made.dtype, made._kind.fixed):
            return dataclasses.replace(rule, lazily=_again(call))
    return Anew(call)


def _at_once(numpys: Callable[..., Any], call: Call, made: Any) -> AtOnce | None:
    """Return how NumPy makes a function's results, if it makes this one, bit for bit."""
    several = bool(call.args) and call.args[0].__class__ in (list, tuple)
    count = len(call.args[0]) if several else 1
    if not _is_new(made, call.arrays) or len(call.arrays) != count:
        return None
    own = call.of(call.arrays)  # with lists that nobody else changes
    rest, options = own.args[1:], own.options

    def values_of(*values: Any) -> Any:
        return numpys(values if several else values[0], *rest, **options)

    rule = AtOnce(values_of, _again(call), call.arrays, made)
    found = rule(call.arrays)
    if found is None or (found._shape, found._kind.fixed) != (made._shape, made._kind.fixed):
        return None  # the dtype is that of what was made
    return rule if found.numpy().tobytes() == made.numpy().tobytes() else None


def _again(call: Call) -> Callable[..., Node]:
    """Return what makes the node of a function's result of its arrays' nodes."""
    own = call.of(_handles(call.arrays, None)[0])
    return lambda *nodes: own.of(map(XExpression, nodes)).traced().node


def recipe_of(call: Call, made: Any) -> Recipe | ViewRecipe | GathersRecipe | None:
    """Return how a result is made of arguments; None if that cannot be told."""
    arrays = call.arrays
    if any([made is x for x in arrays]):
        return None  # which of the two is written is for all to see
    if isinstance(made, Gathers):
        source = made.base  # type: ignore[attr-defined]
        own = len(arrays) == 1 and source is arrays[0]
        base = None if own else _view(arrays, source)
        return None if base is None and not own else GathersRecipe(base, made)
    if made.__class__ is not XExpression:
        return _view(arrays, made)
    traced = _traced(call) if _is_new(made, arrays) else None
    found = None if traced is None else described(traced[0])
    if traced is None or found is None:
        return None
    shape, dtype = traced[0].shape, traced[0].dtype
    if (shape, dtype, found[0].fixed) != (made._shape, made.dtype, made._kind.fixed):
        return None
    return picked(*found, made._shape, *traced[1:])


def _is_new(made: Any, arrays: Sequence[Any]) -> bool:
    """Tell whether a result is lazy, and what writes to it or to an argument is seen by one alone.

    Not if it belongs to the family of a lazy result, or is a copy by where that lies.
    """
    if made.__class__ is not XExpression or made._kind is NODE or any([made is x for x in arrays]):
        return False
    its = getattr(made, "_owning", None)
    return its is None or (its.path and its.source() is None)


def _traced(
    call: Call, extents: tuple[int, ...] | None = None
) -> tuple[Node, dict[int, int], list[Any]] | None:
    """Return what a function makes of arrays, as a node, with what `_handles` returns.

    None if it asks for values.  ``extents`` are given to all arrays.
    """
    handles, places, operands = _handles(call.arrays, extents)
    try:
        traced = call.of(handles).traced()
    except (XarrayliteError, TypeError, ValueError):
        return None
    return (traced.node, places, operands) if traced.__class__ is XExpression else None


def _exchanged(value: Any, rest: Iterator[XExpression]) -> Any:
    """Return an argument with other arrays in it."""
    if isinstance(value, XExpression):
        return next(rest)
    if type(value) in (list, tuple):
        return type(value)([_exchanged(item, rest) for item in value])
    return value


def _view(arrays: Sequence[Any], made: Any) -> ViewRecipe | None:
    (of,) = arrays if len(arrays) == 1 else (None,)
    if not isinstance(of, XContainer) or made is of or made.__class__ is not of._view_class:
        return None
    shielded = isinstance(made._buffer, Shield) and made._buffer.owner is of._buffer
    # What has no dimensions may be a value where another of its kind is none: that is read alone.
    if not (shielded or (of._shape and made._buffer is of._buffer)) or made._kind is NODE:
        return None
    return (ShieldedRecipe if shielded else ViewRecipe)(
        made._kind, made._shape, made._start - of._start
    )


def _handles(
    arrays: Sequence[Any], extents: tuple[int, ...] | None
) -> tuple[list[XExpression], dict[int, int], list[Any]]:
    """Return lazy arrays, of such extents or their own, in the place of others; all their operands.

    The places of traced snapshots and scalars among these are given by identity.
    """
    handles: list[XExpression] = []
    places: dict[int, int] = {}
    given: list[Any] = []
    for array in arrays:
        items: list[Any] = []
        dtypes = iter(scalars_of(array._kind))
        for number, item in enumerate(array.now(), len(given)):
            made = item
            if isinstance(item, Snapshot):
                made = LateSnapshot(NOWHERE)
                made.traced = True
                places[id(made)] = number
            elif item.__class__ is not tuple and not (items and isinstance(items[-1], Snapshot)):
                dtype = next(dtypes)
                made = Scalar((), dtype, dtype.type(item), None, number)
                places[id(made)] = number
            items.append(made)
        handles.append(XExpression._of(node_of(array._kind, extents or array._shape, tuple(items))))
        given += array.now()
    return handles, places, given
