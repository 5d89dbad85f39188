"""Calls of lazy functions, memoised by the kinds of their operands.

What a lazy function makes of arrays depends on their kinds and shapes, never on their values.  So a
function that is called for the second time with arguments of the same kinds and shapes, and the
same options, is traced (as `jit` does, with handles that have no values), and what is kept of it is
a `Recipe`: the result's kind and shape, and for each of its operands where among the arguments'
operands it is found.  Later calls are one look-up.

Views of containers are kept too: by the kind and shape of the view, and where it begins; and of
those of irregular elements which these are.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from .._errors import XarrayliteError
from .._tables import kept
from ..assignment import elements
from ..dtypes.names import Named
from ..ir.kind import NODE
from ..ir.node import Node, Scalar
from ..ir.translation import node_of, scalars_of
from ..memory.buffer import NOWHERE
from ..memory.shield import Shield
from ..memory.snapshots import Copy, LateSnapshot, Snapshot
from ..operands import dispatch, tracing
from ..operands.dispatch import ShieldedRecipe, ViewRecipe
from ..operands.nodes import Gathers, unwrapped
from ..operands.non_numeric import or_numpy
from ..ops.reductions import Reduction
from ..runtime.direct import described
from . import xarray
from .any_length import AnyLength, Part, divided, loosened, picked, rule_of, samples
from .container import XContainer
from .expression import XExpression
from .ownership import note_use, standing
from .recipes import GathersRecipe, Recipe

P = ParamSpec("P")
R = TypeVar("R")

#: Calls kept per function.
CAPACITY = 1024

#: Items of a list up to which it is looked at: joins of more are no kind.
_MANY = 32

#: Shapes of arguments for which results that have no rule are lazy.
_SHAPES = 32

#: The most that is thought of as subtracted from a number of elements.
_LESS = 1 << 10

#: Calls whose result is copied before what the function makes is traced.
_COPIES = 8

#: Classes of options, besides None: values that stand for themselves in a key.
_PLAIN = frozenset((bool, int, float, str, type(None)))

#: Classes of options whose instances, and those of subclasses, stand for themselves.
_SELF_EVIDENT = np.dtype | Named | Reduction | FunctionType | type


class _Growing(threading.local):
    """Whether a function is called with ever new extents, and has no rule for them."""

    value = False


growing = _Growing()

#: What holds numbers and has no kind (`_in_memory`).
_VALUES = frozenset((list, np.ndarray))

#: What each function knows of extents that it was called with (`_ruled`).
_met: list[dict[Any, Any]] = []


def forget_extents() -> None:
    """Forget with which extents functions were called: none is in a loop over ever new ones."""
    for rules in _met:
        rules.clear()


class ValuesTable(dict[Any, Any]):
    """What is remembered of a function of which no result is a view (`memoised_values`)."""

    __slots__ = ()


def memoised(function: Callable[P, R]) -> Callable[P, R]:
    """Return a lazy function that remembers what it made of arguments of the same kinds.

    It must not ask for values, and depend on nothing but its arguments.
    """
    return _remembering(function, False)


def memoised_values(function: Callable[P, R]) -> Callable[P, R]:
    """Return such a function of which no result is a view: it reads gathered elements at once."""
    return _remembering(function, True)


def memoised_joins(function: Callable[P, R]) -> Callable[P, R]:
    """Return such a function of a sequence of arrays: of lists in it the numbers do not count."""
    return _remembering(function, False, True)


def _remembering(function: Callable[P, R], reads: bool, joins: bool = False) -> Callable[P, R]:
    calls = _Calls(function, reads)
    known, missed = calls.known, calls.read if reads else calls.missed

    def call(*args: Any, **options: Any) -> Any:
        if reads and args and args[0].__class__ in _VALUES:
            args = (_in_memory(args[0]), *args[1:])
        several = joins and args and args[0].__class__ in (list, tuple)
        if several and not _VALUES.isdisjoint(map(type, args[0])):
            parts = [_in_memory(x) if x.__class__ in _VALUES else x for x in args[0]]
            args = (parts, *args[1:])
        made = dispatch.recalled(known, args, options)
        if made is None and isinstance(options.get("out"), XContainer) and "dtype" not in options:
            made = _written_out(call, args, options)
        return missed(args, options) if made is None else made

    made = functools.wraps(function)(call)
    made.front = known  # type: ignore[attr-defined]
    return cast("Callable[P, R]", made)


def _written_out(call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the container that a lazy result is written to, which is of its shape and dtype.

    None of all others: what else may be written the function knows.
    """
    if tracing.running.value:
        return None
    rest = dict(options)
    out = rest.pop("out")
    made = call(*args, **rest)
    if made.__class__ is not XExpression or made.dtype is not out.dtype or made.shape != out.shape:
        return None
    out._store(..., made, False, False)
    return out


class _Calls:
    """What one function made of its arguments.

    Attributes
    ----------
    known : dict
        Recipes of calls by their keys (`_key`): None where there was one call, False where the
        result has no recipe.
    """

    __slots__ = ("_called", "_copies", "_function", "_rules", "known")

    def __init__(self, function: Callable[..., Any], reads: bool) -> None:
        self._function = function
        self._called = or_numpy(function)
        self.known: dict[Any, Any] = ValuesTable() if reads else {}
        self._copies: dict[Any, int] = {}
        self._rules: dict[Any, Any] = {}
        _met.append(self._rules)

    def read(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a result that is no view, of arguments whose kinds were not known together."""
        args, made = self._of_memory(args, options)
        if made is not None:
            return made
        lazy = [x for x in args if x.__class__ is XExpression]
        if not lazy and not any([isinstance(x, Gathers) for x in args]):
            return self._found(args, options)
        given = [standing(x) if x.__class__ is XExpression else x for x in args]
        if any([isinstance(x, Gathers) for x in given]) and _key(tuple(given), options, []) is None:
            settled = [x.settled() if isinstance(x, Gathers) else x for x in given]
            if not any([isinstance(x, XExpression) and x._kind is NODE for x in settled]):
                given = settled
        made = self.missed(tuple(given), options)
        for x in lazy:  # not before: the function uses them, which is the same use
            note_use(x)
        return made

    def missed(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return the result for arguments whose kinds were not known together."""
        given = args
        args, made = self._of_memory(args, options)
        if made is None:
            made = self._found(args, options)
        same = [x for x, own in zip(given, args, strict=True) if own is made]
        return same[0] if same else made

    def _of_memory(self, args: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any]:
        """Return arguments with memory for lazy results that were written, and what is known of it.

        Those have no kind of their own.
        """
        memory = _written(args)
        return memory, None if memory is args else dispatch.recalled(self.known, memory, options)

    def _found(self, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return the result for arguments, by what is known of their kinds or anew."""
        arrays: list[Any] = []
        key = _key(args, options, arrays)
        if key is None or tracing.running.value:
            return self._called(*args, **options)
        recipe = self.known.get(key)
        if recipe:
            return recipe(arrays)
        if recipe is False and not growing.value:  # what is computed at once has none
            return self._called(*args, **options)
        return self._learned(key, args, options, arrays)

    def _learned(
        self, key: Any, args: tuple[Any, ...], options: dict[str, Any], arrays: list[Any]
    ) -> Any:
        """Return the result of a call, and remember what can be told of it."""
        loose = loosened(key, arrays)
        rule = None if loose is None else self._rules.get(loose)
        made = None
        if rule.__class__ is AnyLength:
            if rule.lazy and key in self.known:
                self.known[key] = rule.recipe(arrays) or None
            made = rule(arrays)
        if made is None:
            fresh = rule is False or (rule.__class__ is int and rule >= _SHAPES)
            growing.value, before = fresh, growing.value
            try:
                made = self._called(*args, **options)
            finally:
                growing.value = before
            counted = rule is None or rule.__class__ is int
            if loose is not None and counted and key not in self.known:
                rule = _ruled(rule or 0, self._function, args, options, arrays, made)
                kept(self._rules, loose, rule, CAPACITY)
        if all([x._kind is not NODE for x in arrays]):  # none got too long
            self._note(key, args, options, arrays, made)
        return made

    def _note(
        self, key: Any, args: tuple[Any, ...], options: dict[str, Any], arrays: list[Any], made: Any
    ) -> None:
        """Remember a call: what is called once need not be traced, what is called twice is."""
        known = self.known
        if key not in known:
            if len(known) >= CAPACITY:
                known.clear()
                self._copies.clear()
            known[key] = None
        elif known.get(key, False) is None:
            if _is_copied(made) and self._copies.setdefault(key, 1) < _COPIES:
                self._copies[key] += 1  # a copy takes less time than tracing
            else:
                known[key] = _recipe(self._function, args, options, arrays, made) or False


def _written(args: Any) -> Any:
    """Return arguments, or a sequence, with memory for lazy results that were written."""
    found = [
        unwrapped(x)
        if x.__class__ is XExpression
        else _written(x)
        if x.__class__ in (list, tuple) and len(x) <= _MANY
        else x
        for x in args
    ]
    return args if all(map(operator.is_, found, args)) else args.__class__(found)


def _ruled(
    count: int,
    function: Any,
    args: tuple[Any, ...],
    options: dict[str, Any],
    arrays: list[Any],
    made: Any,
) -> Any:
    """Return what is known of a function's results, whatever the extents, after one more of them.

    At first that is their number: what is called once need not be traced, and what is no total only
    where there will be more.  Then it is a rule, or False where there is none.
    """
    count += 1
    if count < (2 if getattr(made, "_shape", None) == () else _SHAPES):
        return count
    extents = arrays[0]._shape
    if any([x._shape != extents for x in arrays]) or made.__class__ is not XExpression:
        return False

    def parts(shape: tuple[int, ...]) -> list[Part] | None:
        traced = _traced(function, args, options, arrays, shape)
        return None if traced is None else divided(*traced)

    numbers = [x for x in (*args, *options.values()) if x.__class__ in (int, float)]
    most = max([x for x in numbers if 0 < x <= _LESS], default=0)
    for least in {2, 2 + math.ceil(most)}:  # as many may be subtracted
        shapes = samples(least, extents)
        if not shapes:
            return count
        rule = rule_of(shapes, parts)
        if rule is not None and rule.result(extents) == (made._shape, made.dtype, made._kind.fixed):
            return dataclasses.replace(rule, lazily=_again(function, args, options, arrays))
    return False


def _again(
    function: Any, args: tuple[Any, ...], options: dict[str, Any], arrays: list[Any]
) -> Callable[..., Node]:
    """Return what makes the node of a function's result of its arrays' nodes."""
    handles = iter(_handles(arrays, None)[0])
    given = [_exchanged(value, handles) for value in args]
    named = {name: _exchanged(value, handles) for name, value in options.items()}

    def lazily(*nodes: Node) -> Node:
        rest = iter(map(XExpression, nodes))
        again = [_exchanged(value, rest) for value in given]
        made = function(*again, **{name: _exchanged(x, rest) for name, x in named.items()})
        node: Node = made.node
        return node

    return lazily


def _is_copied(made: Any) -> bool:
    """Tell whether a result was computed when it was written (`functions.copied`)."""
    lazy = made.__class__ is XExpression and made._kind is not NODE
    return lazy and made._kind.op is None and isinstance(made._operands[0], Copy)


def _in_memory(values: object) -> Any:
    """Return numbers in a container, of which a call is remembered; others as they are."""
    return elements.container_of(xarray.XArray, values)


def _key(args: tuple[Any, ...], options: dict[str, Any], arrays: list[Any]) -> Any:
    """Return what a call is remembered by, and append its arrays; None if it cannot be."""
    found: list[Any] = []
    for value in args:
        if not _describe(value, found, arrays):
            return None
    for name, value in options.items():
        found.append(name)
        if not _describe(value, found, arrays):
            return None
    return tuple(found)


def _describe(value: Any, found: list[Any], arrays: list[Any]) -> bool:
    """Append what stands for an argument; tell whether it can be remembered."""
    cls = value.__class__
    if isinstance(value, XExpression):
        if value._kind is NODE or not (cls is XExpression or isinstance(value, XContainer)):
            return False
        arrays.append(value)
        found += (cls, value._kind, value._shape)
        if cls is XExpression:  # the extents of what is folded are none of its own
            found += [item for item in value._operands if item.__class__ is tuple]
        return True
    if cls in _PLAIN or isinstance(value, _SELF_EVIDENT):
        found += (cls, value)
        if cls is float:
            found.append(math.copysign(1.0, value))  # zeros compare equal
        return True
    if isinstance(value, np.generic):
        found += (cls, value.tobytes())
        return True
    if (cls is not list and cls is not tuple) or len(value) > _MANY:
        return False
    found += (cls, len(value))
    return all([_describe(item, found, arrays) for item in value])


def _recipe(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
    arrays: list[Any],
    made: Any,
) -> Recipe | ViewRecipe | GathersRecipe | None:
    """Return how a result is made of arguments; None if that cannot be told."""
    if any([made is x for x in arrays]):
        return None  # which of the two is written is for all to see
    if isinstance(made, Gathers):
        source = made.base  # type: ignore[attr-defined]
        own = len(arrays) == 1 and source is arrays[0]
        base = None if own else _view(arrays, source)
        return None if base is None and not own else GathersRecipe(base, made)
    if made.__class__ is not XExpression:
        return _view(arrays, made)
    its = getattr(made, "_owning", None)
    if made._kind is NODE or (its is not None and (not its.path or its.source() is not None)):
        return None  # it belongs to the family of a lazy result, or is a copy by where that lies
    traced = _traced(function, args, options, arrays)
    found = None if traced is None else described(traced[0])
    if traced is None or found is None:
        return None
    shape, dtype = traced[0].shape, traced[0].dtype
    if (shape, dtype, found[0].fixed) != (made._shape, made.dtype, made._kind.fixed):
        return None
    return picked(*found, made._shape, *traced[1:])


def _traced(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    options: dict[str, Any],
    arrays: list[Any],
    extents: tuple[int, ...] | None = None,
) -> tuple[Node, dict[int, int], list[Any]] | None:
    """Return what a function makes of arrays, as a node, with what `_handles` returns.

    None if it asks for values.  ``extents`` are given to all arrays.
    """
    handles, places, operands = _handles(arrays, extents)
    rest = iter(handles)
    given = [_exchanged(value, rest) for value in args]
    named = {name: _exchanged(value, rest) for name, value in options.items()}
    try:
        with tracing.tracing():
            traced = function(*given, **named)
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


def _view(arrays: list[Any], made: Any) -> ViewRecipe | None:
    (of,) = arrays if len(arrays) == 1 else (None,)
    if not isinstance(of, XContainer) or made is of or made.__class__ is not of._view_class:
        return None
    shielded = isinstance(made._buffer, Shield) and made._buffer.owner is of._buffer
    if not (shielded or made._buffer is of._buffer) or made._kind is NODE:
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
