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

import functools
import inspect
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from .._tables import kept
from ..assignment import elements
from ..dtypes.names import Named
from ..ir.kind import NODE
from ..memory.snapshots import Copy
from ..operands import dispatch, tracing
from ..operands.nodes import Gathers, unwrapped
from ..operands.non_numeric import or_numpy
from ..ops.reductions import Reduction
from . import rules, xarray
from .any_length import AnyLength, loosened
from .at_once import AtOnce
from .container import XContainer
from .expression import XExpression
from .ownership import note_use, standing

P = ParamSpec("P")
R = TypeVar("R")

#: Calls kept per function.
CAPACITY = 1024

#: Items of a list up to which it is looked at: joins of more are no kind.
_MANY = 32

#: Calls whose result is copied before what the function makes is traced.
_COPIES = 8

#: Classes of options, besides None: values that stand for themselves in a key.
_PLAIN = frozenset((bool, int, float, str, type(None)))

#: Classes of options whose instances, and those of subclasses, stand for themselves.
_SELF_EVIDENT = np.dtype | Named | Reduction | FunctionType | type

#: What holds numbers and has no kind (`_in_memory`).
_VALUES = frozenset((list, np.ndarray))

#: What each function knows of extents that it was called with (`rules.ruled`).
_met: list[dict[Any, Any]] = []


def forget_extents() -> None:
    """Forget with which extents functions were called: none is in a loop over ever new ones."""
    for known in _met:
        known.clear()


class Table(dict[Any, Any]):
    """What is remembered of a function.

    Attributes
    ----------
    unseen : callable
        Returns the result of a call whose key is not here, or has None; see `_Calls.unseen`.
    """

    __slots__ = ("unseen",)

    unseen: Callable[[Any, list[Any]], Any]


class ValuesTable(Table):
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
        given, made = args, None if options else dispatch.recalled(known, args, options)
        if made is not None:
            return made  # of lists and NumPy's arrays nothing is known
        if reads and args and args[0].__class__ in _VALUES:
            args = (_in_memory(args[0]), *args[1:])
        several = joins and args and args[0].__class__ in (list, tuple)
        if several and not _VALUES.isdisjoint(map(type, args[0])):
            parts = [_in_memory(x) if x.__class__ in _VALUES else x for x in args[0]]
            args = (parts, *args[1:])
        whole = "dtype" not in options and "where" not in options  # elements that are kept
        if whole and isinstance(options.get("out"), XContainer):
            made = _written_out(call, args, options)
        elif options or args is not given:
            made = dispatch.recalled(known, args, options)
        return missed(args, options) if made is None else made

    made = functools.wraps(function)(call)
    made.front = known  # type: ignore[attr-defined]
    return cast("Callable[P, R]", made)


@functools.cache
def _takes_out(function: Callable[..., Any]) -> bool:
    return "out" in inspect.signature(function).parameters


def _written_out(call: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the container that a lazy result is written to, which is of its shape and dtype.

    None of all others: what else may be written the function knows.
    """
    if tracing.running.value or not _takes_out(call):
        return None
    rest = dict(options)
    out = rest.pop("out")
    made = call(*args, **rest)
    if made.__class__ is not XExpression or made.dtype is not out.dtype or made.shape != out.shape:
        return None
    if made.size <= elements.FEW:
        out[...] = made  # by machine code, where it is loaded
    else:
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
        self.known: Table = ValuesTable() if reads else Table()
        self.known.unseen = self.unseen
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
        if len(args) == 1 and args[0].__class__ in _PLAIN:
            return self._called(*args, **options)  # a number alone has no kind
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
        made = self.unseen(key, arrays)
        if made is not None:
            return made
        if recipe is False and not rules.growing.value:  # what is computed at once has none
            return self._called(*args, **options)
        return self._learned(key, args, options, arrays)

    def _learned(
        self, key: Any, args: tuple[Any, ...], options: dict[str, Any], arrays: list[Any]
    ) -> Any:
        """Return the result of a call, and remember what can be told of it."""
        loose = loosened(key, arrays)
        rule = None if loose is None else self._rules.get(loose)
        count = (rule or 0) if rule is None or rule.__class__ is int else None
        made = rule(arrays) if rule is not None and count is None else None
        call = rules.Call(self._function, args, options, arrays)
        if made is None:
            late = count is not None and count >= rules.SHAPES
            called = self._called
            made = rules.soon(called, args, options) if late else called(*args, **options)
        if any([x._kind is NODE for x in arrays]):
            return made  # one got too long, or is what was written
        if loose is not None and count is not None and key not in self.known:
            kept(self._rules, loose, rules.ruled(count, call, made), CAPACITY)
        self._note(key, call, made)
        return made

    def unseen(self, key: Any, arrays: list[Any]) -> Any:
        """Return the result of a call of kinds that are known with other extents; None of others.

        And where it is time to trace what is made of such extents.
        """
        loose = loosened(key, arrays)
        rule = None if loose is None else self._rules.get(loose)
        if rule is None or rule.__class__ is int:
            return None
        known = self.known
        if key in known:
            if isinstance(rule, AnyLength) and rule.lazy:
                known[key] = rule.recipe(arrays) or None
            elif rule.__class__ is not AtOnce:
                return None
            elif not (rule.joins and any(map(_is_copied, arrays))) and not self._copies_again(key):
                return None  # else a history grows, whose next join would compute what is lazy
        made = rule(arrays)
        if made is not None and key not in known:
            self._seen(key)
        return made

    def _seen(self, key: Any) -> None:
        """Remember that there was a call: what is called once need not be traced."""
        if len(self.known) >= CAPACITY:
            self.known.clear()
            self._copies.clear()
        self.known[key] = None

    def _note(self, key: Any, call: rules.Call, made: Any) -> None:
        """Remember a call, and how its result is made when it comes for the second time."""
        known = self.known
        if key not in known:
            self._seen(key)
        elif known.get(key, False) is None and not (_is_copied(made) and self._copies_again(key)):
            known[key] = rules.recipe_of(call, made) or False

    def _copies_again(self, key: Any) -> bool:
        """Count a call; tell whether it may copy once more, which takes less time than tracing."""
        count = self._copies[key] = self._copies.get(key, 1) + 1
        return count <= _COPIES


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
