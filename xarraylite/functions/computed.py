"""Functions that NumPy computes: inputs are evaluated, results are containers.

What no fused loop can do (sorting, sets, searches, histograms, linear algebra, transforms) is left
to NumPy.  `computed` makes such a function of one that is written in terms of NumPy arrays: it
converts the operands and the results (`arrays_of_numpy`).  Where there are few elements, machine
code does so (`codegen.cpython.fronts`), as the function's plan says.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from itertools import chain, repeat
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from .._errors import DTypeError, XarrayliteError
from ..arrays import xarray
from ..arrays.at_once import COMMON
from ..arrays.container import XContainer
from ..arrays.xarray import XArray
from ..assignment import elements
from ..dtypes.names import as_dtype
from ..ir.node import FREE
from ..operands import dispatch, non_numeric
from ..operands.moving import Parted, of_parts
from ..operands.nodes import HasNode, Lifted, has_array, unwrapped
from ..operands.tracing import writer as trace_writer
from ..runtime.floating_errors import silently
from .arrays_of_numpy import COPIED, MOVED, Narrow, into, numpy_of, refusal, results

P = ParamSpec("P")
R = TypeVar("R")

#: NumPy's functions whose answers belong to the dtype that they are given (`gradient` has that of
#: its first operand, `histogram` that of weights), or that compute float16 as we do, in float32
#: with one rounding, and the dtypes.
_OF_THE_DTYPE = {
    "spacing": COPIED,
    **dict.fromkeys(("delete", "ediff1d", "frexp", "insert", "ldexp", "logaddexp2"), MOVED),
    **dict.fromkeys(("gradient", "histogram", "poly"), MOVED),
    **dict.fromkeys(("cumprod", "cumsum", "nancumprod", "nancumsum"), MOVED),
}


#: Functions that compute in the common dtype of all their operands.
_JOINS = frozenset(
    ("convolve", "correlate", "logspace", "nanpercentile", "percentile", "polyadd", "polymul")
    + ("polysub", "polyval", "trapezoid")
)

#: What a function of NumPy's returns that is no value.
_ARRAYS = np.ndarray, tuple, list


def _finished(made: Any, given: tuple[Any, ...]) -> Any:
    """Return what a NumPy function returned for arrays of usual dtypes, as `results` does."""
    if not isinstance(made, _ARRAYS):
        return made
    if isinstance(made, np.ndarray) and made.dtype in COMMON:
        if made.size > elements.FEW:
            if made.base is None and not any([x is made or x.__class__ is list for x in given]):
                return XArray._adopted(made, own=True)
        elif (few := xarray.owned(made.copy("C"))) is not None:  # machine code takes rows
            return few
    narrow = Narrow()
    for value in given:
        values = value if isinstance(value, list) else [value]
        narrow.wide += [x for x in values if isinstance(x, np.ndarray)]
    narrow.fixed = FREE
    return results(made, narrow)


def plan_of_method(function: Any, arrays: int) -> tuple[Any, ...]:
    """Return what machine code is told of a ufunc's method, which takes so many arrays first."""
    flags = (_FLAGS[numpy_of],) * arrays + (0,) * (4 - arrays)
    return (function, flags, len(flags), {"out": None}, True, _finished, COMMON)


_REST = inspect.Parameter.VAR_POSITIONAL
_BY_PLACE = frozenset(
    (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, _REST)
)


def computed(*arrays: str, arithmetic: bool = True) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a public function of one that is written with NumPy arrays.

    Parameters
    ----------
    *arrays : str
        The parameters that are arrays; where one may be None, that is passed on.
    arithmetic : bool, default True
        Whether NumPy might warn about floating point, which is kept from it.

    Returns
    -------
    callable
        A decorator.  What it makes takes arrays, expressions, numbers and lists for these
        parameters, and returns containers where the function returns arrays.  A parameter ``out``
        is taken care of here.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        takes = dict.fromkeys(arrays, numpy_of)
        signature = inspect.signature(function)
        call: Any = Invocation(function, function.__name__, signature, takes, arithmetic).face()
        front = call.front
        made: Any = functools.wraps(function)(call)
        made.front = front
        return cast("Callable[P, R]", made)

    return decorate


#: From what a user gives to what NumPy is given.
Take = Callable[[Any, str, Narrow], Any]


def several(x: Any, operation: str, narrow: Narrow) -> Any:
    """Return an array, or a sequence of arrays, each as `numpy_of` has it."""
    if isinstance(x, (list, tuple)):
        return [numpy_of(item, operation, narrow) for item in x]
    return numpy_of(x, operation, narrow)


def perhaps(x: Any, operation: str, narrow: Narrow) -> Any:
    """Return an array as `numpy_of` has it, also within a list, and anything else as it is."""
    if isinstance(x, (HasNode, Lifted)) or has_array(type(x)):
        return numpy_of(x, operation, narrow)
    if isinstance(x, (list, tuple)):
        return [perhaps(item, operation, narrow) for item in x]
    return x


#: By which rule they write into ``out``: folds and what picks elements, whatever its dtype.
_RULES = {
    **dict.fromkeys(("choose", "compress", "cumprod", "cumsum", "median"), "unsafe"),
    **dict.fromkeys(("cumulative_prod", "cumulative_sum"), "unsafe"),
    **dict.fromkeys(("argmax", "argmin"), "positions"),
}


class Invocation:
    """Calls of a function that is written with NumPy arrays; see `computed`.

    Attributes
    ----------
    plan : tuple
        What machine code is told of it (`codegen.cpython.fronts`): for each parameter what it
        takes, the place of the one that takes all further arguments, keywords that only Python
        knows, and the dtypes that NumPy is given as they are.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        signature: inspect.Signature,
        takes: Mapping[str, Take],
        arithmetic: bool,
    ) -> None:
        self._function, self._name, self._signature = function, name, signature
        self._takes, self._arithmetic = takes, arithmetic
        known = signature.parameters
        names, kinds = list(known), [p.kind for p in known.values()]
        rest = kinds.index(_REST) if _REST in kinds else len(kinds)
        self._positional, self._further = names[:rest], names[rest] if rest < len(kinds) else ""
        self._optional = {x for x in takes if known[x].default is None}
        self._out = names.index("out") if "out" in names else None
        self._typed = names.index("dtype") if "dtype" in names else None
        self._rule = _RULES.get(name.removeprefix("nan"), "same_kind")
        common = _OF_THE_DTYPE.get(name, COMMON if arithmetic else MOVED)
        flags = [_FLAGS[takes[x]] + 4 * (x in self._optional) if x in takes else 0 for x in names]
        flags = flags[: sum([kind in _BY_PLACE for kind in kinds])]
        only_python = dict.fromkeys((*takes, "out"))
        self.plan = (function, tuple(flags), rest, only_python, arithmetic, _finished, common)

    def face(self) -> Callable[..., Any]:
        """Return the function of containers."""
        name, signature, plan, flags = self._name, self._signature, self.plan, self.plan[1]
        names = self._positional[: len(flags)]

        def call(*args: Any, **kwargs: Any) -> Any:
            while len(args) < len(names) and names[len(args)] in kwargs:
                args = (*args, kwargs.pop(names[len(args)]))
            done = dispatch.handed(plan, args, kwargs)
            if done is NotImplemented and list in map(type, args):
                given = [
                    elements.container_of(XArray, x) if x.__class__ is list and f & 3 == 1 else x
                    for x, f in zip(args, flags, strict=False)
                ]
                done = dispatch.handed(plan, (*given, *args[len(given) :]), kwargs)
            if done is not NotImplemented:
                return done
            out = None if self._out is None else kwargs.get("out")
            if isinstance(out, XContainer):
                done = dispatch.handed(plan, args, {k: x for k, x in kwargs.items() if k != "out"})
                if done is not NotImplemented:
                    return into(out, done, name, rule=self._rule)
            writer = trace_writer()
            if writer is not None:
                written = writer.call(name, signature.bind(*args, **kwargs).arguments, by_name)
                if written is not NotImplemented:
                    return written
            try:
                if any([isinstance(x, Parted) for x in args]):
                    # What is larger than memory may do it by a method, or by its parts.
                    own = isinstance(args[0], Parted) and name in args[0].own
                    made = (
                        getattr(args[0], name)(*args[1:], **kwargs)
                        if own
                        else of_parts(name, call, signature, args, kwargs)
                    )
                    if made is not NotImplemented:
                        return made
                return self._run(args, kwargs)
            except DTypeError:
                return non_numeric.call_numpy(name, args, kwargs)

        def by_name(arguments: dict[str, Any]) -> Any:
            bound = inspect.BoundArguments(signature, arguments)
            return call(*bound.args, **bound.kwargs)

        call.front = plan  # type: ignore[attr-defined]
        return call

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return containers of what NumPy returns, or write that into ``out``."""
        narrow = Narrow(self.plan[-1], self._name in _JOINS)
        options, out, place = kwargs.copy(), None, self._out
        if place is not None:
            out = options.pop("out", None)
            if len(args) > place:
                out, args = args[place], (*args[:place], None, *args[place + 1 :])
        given = [*args, *options.values()]
        names = chain(self._positional, repeat(self._further))
        taken = map(self._taken, names, args, repeat(narrow))
        options = {n: self._taken(n, x, narrow) for n, x in options.items()}
        call = functools.partial(self._function, *taken, **options)
        typed = self._typed
        try:
            if typed is not None:
                dtype = args[typed] if len(args) > typed else options.get("dtype")
                if dtype is not None:  # results of that dtype stay as they are
                    asked = as_dtype(dtype) if isinstance(dtype, HasNode) else dtype
                    narrow.wide.append(np.empty(0, asked))
            made = silently(call) if self._arithmetic else call()
        except XarrayliteError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            non_numeric.name_keywords(self._signature, args, error)
            raise refusal(self._name, given, error) from None
        return into(out, results(made, narrow), self._name, rule=self._rule)

    def _taken(self, parameter: str, value: Any, narrow: Narrow) -> Any:
        """Return an argument as NumPy is given it."""
        take = self._takes.get(parameter)
        if take is not None and (value is not None or parameter not in self._optional):
            value = take(value, self._name, narrow)
        return unwrapped(value)


#: What machine code is told of how a parameter is converted.
_FLAGS: dict[Take, int] = {numpy_of: 1, several: 2, perhaps: 3}
