"""Functions that NumPy computes: inputs are evaluated, results are containers.

What no fused loop can do (sorting, sets, searches, histograms, linear algebra, transforms) is left
to NumPy.  `computed` makes such a function of one that is written in terms of NumPy arrays: it
evaluates the operands and hands out the results in containers of their own memory.

NumPy has no routines for floats of 16 bits or fewer and for integers of fewer than 8.  They are
computed in the dtype that kernels load them into, float32 or an 8-bit integer, and results of that
dtype are rounded back once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from .._errors import AxisError, DTypeError, IndexRangeError, XarrayliteError
from ..arrays import xarray
from ..arrays.adapt import adapt
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.few import values_of
from ..arrays.scalar import scalar_of
from ..arrays.xarray import XArray
from ..assignment import elements, readers
from ..assignment.assign import check_update
from ..assignment.elements import FEW, array_of
from ..dtypes.formats import loop_dtype
from ..dtypes.names import (
    SUPPORTED,
    DType,
    NumpyArray,
    as_dtype,
    dtype_name,
    is_narrow,
    is_narrow_float,
)
from ..dtypes.narrow import from_narrow, to_narrow
from ..dtypes.promotion import result_type
from ..ir.build import WEAK_TYPES
from ..ir.kind import NODE, owner_class
from ..ir.node import FREE, RANK, SHAPE
from ..operands import dispatch, non_numeric
from ..operands.convert import plain_array
from ..operands.moving import Parted, of_parts
from ..operands.nodes import HasNode, Lifted, apart_by_elements, is_masked, unwrapped
from ..operands.non_numeric import is_other
from ..operands.tracing import note_values
from ..operands.tracing import writer as trace_writer
from ..runtime.floating_errors import silently

#: NumPy without its types: what it returns becomes a container on the way out.
numpy: Any = np

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

#: Dtypes that NumPy computes with as kernels do.
COMMON = frozenset(dt for dt in SUPPORTED if not is_narrow(dt))

#: Those whose elements it moves and compares as well.
_MOVED = COMMON | {np.dtype(np.float16)}

#: Those, and all narrow floats, which it can copy.
COPIED = COMMON | {dt for dt in SUPPORTED if is_narrow_float(dt)}

#: NumPy's functions whose answers belong to the dtype that they are given, and the dtypes.
_OF_THE_DTYPE = {"spacing": COPIED}


class Narrow:
    """The operands of one call: which are narrow, and how results are rounded to them.

    Parameters
    ----------
    common : set of dtype, optional
        What NumPy is given as it is.

    Attributes
    ----------
    fixed : int
        What is fixed of all operands' shapes: of numbers alone more than there is.
    wide : list of ndarray
        Operands that NumPy computes with as they are.
    found : list of dtype
        Dtypes of the others.
    """

    __slots__ = ("common", "fixed", "found", "wide")

    def __init__(self, common: frozenset[DType] = COMMON) -> None:
        self.fixed = SHAPE + 1
        self.common = common
        self.found: list[DType] = []
        self.wide: list[NumpyArray] = []

    def widened(self, values: NumpyArray, dtype: DType) -> NumpyArray:
        """Return an operand as NumPy computes with it."""
        if dtype in self.common:
            self.wide.append(values)
            return values
        self.found.append(dtype)
        return from_narrow(values)

    def rounded(self, values: NumpyArray) -> NumpyArray:
        """Return a result in the operands' narrow dtype, if it has the computing one."""
        if not self.found or values.dtype in [x.dtype for x in self.wide]:
            return values
        same = [dt for dt in self.found if loop_dtype(dt) == values.dtype]
        if not same:
            return values
        joined = result_type(*same)
        return values if joined in COMMON else to_narrow(values, joined)


def numpy_of(x: object, operation: str, narrow: Narrow) -> NumpyArray:
    """Return an operand's values as NumPy computes with them; they may be its own memory.

    Raises
    ------
    DTypeError
        If it is no array of numbers.
    """
    if isinstance(x, XContainer) and x._kind is not NODE:
        narrow.fixed = min(narrow.fixed, x._fixed)
        note_values()
        return narrow.widened(array_of(x), x.dtype)
    if isinstance(x, HasNode):
        narrow.fixed = min(narrow.fixed, x._fixed_now())
        values = values_of(x)
        return narrow.widened(values, as_dtype(values.dtype))
    if isinstance(x, Lifted):
        raise DTypeError(f"{operation}: got {type(x).__name__}; {x.instead}")
    if isinstance(x, np.ndarray | np.generic):
        if is_other(x.dtype):
            return np.asarray(x)
        if is_masked(x):
            raise DTypeError(f"{operation}: got a masked array; fill it first, as masks are lost")
        narrow.fixed = min(narrow.fixed, FREE if x.ndim else SHAPE + 1)
        return narrow.widened(np.asarray(x), as_dtype(x.dtype))
    if type(x) in WEAK_TYPES:
        return x  # type: ignore[return-value]  # NumPy knows what it is worth
    narrow.fixed = FREE
    try:
        values = plain_array(x, None, operation)
        return narrow.widened(values, as_dtype(values.dtype))
    except DTypeError:
        other = non_numeric.array_of(x)
        if other is None:
            raise
        return other


def container(
    values: NumpyArray, operands: Sequence[NumpyArray] | None = None, fixed: int = FREE
) -> XArray:
    """Return the values in a container whose memory nobody else has.

    Parameters
    ----------
    values : ndarray
        Large results of a NumPy function are not copied if they own their memory.
    operands : sequence of ndarray, optional
        What they were computed from: a result that is a view of none of these is as good.
    fixed : int, optional
        What is fixed of the operands' shapes: results have a fixed rank if all operands have.
    """
    own = _is_own(values, operands)
    if not FREE < fixed <= SHAPE:
        return XArray._adopted(values, own=own)
    made: XArray = owner_class(RANK, as_dtype(values.dtype), values.shape)._adopted(values, own=own)
    return made


def _is_own(values: NumpyArray, operands: Sequence[NumpyArray] | None) -> bool:
    if values.base is None:
        return operands is None or not any([values is x for x in operands])
    if operands is None or not values.flags.writeable:
        return False
    return not any([np.may_share_memory(values, x) for x in operands])


def results(made: Any, narrow: Narrow) -> Any:
    """Return what a NumPy function returned: containers for arrays, values for scalars."""
    if made.__class__ is float or made.__class__ is int:
        return made
    if isinstance(made, np.ndarray):
        if made.dtype not in SUPPORTED and (is_other(made.dtype) or made.dtype.hasobject):
            return made
        if not narrow.found and not FREE < narrow.fixed <= SHAPE:
            if made.size <= FEW and not made.flags.c_contiguous:
                made = made.copy("C")  # machine code takes rows
            # which copies, so it need not be asked whose memory it is
            few = xarray.owned(made) if made.size <= elements.FEW else None
            if few is not None:
                return few
        return container(narrow.rounded(made), narrow.wide, narrow.fixed)
    if isinstance(made, np.generic):
        if is_other(made.dtype):
            return made
        return scalar_of(narrow.rounded(np.asarray(made))[()])
    if isinstance(made, tuple | list):
        items = [results(item, narrow) for item in made]
        named = hasattr(made, "_fields")
        return type(made)(*items) if named else type(made)(items)
    return made


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


def _plan(
    function: Callable[..., Any],
    signature: inspect.Signature,
    takes: Mapping[str, Take],
    arithmetic: bool,
    common: frozenset[DType],
) -> tuple[Any, ...]:
    """Return what machine code is told of a function; see `codegen.cpython.fronts`.

    For each parameter what it takes, the place of the one that takes all further arguments, and
    keywords that only Python knows.
    """
    parameters = list(signature.parameters.values())
    flags = [_FLAGS[takes[p.name]] if p.name in takes else 0 for p in parameters]
    flags = [
        flag | 4 * (flag > 0 and p.default is None)
        for flag, p in zip(flags, parameters, strict=True)
    ]
    kinds = [p.kind for p in parameters]
    rest = kinds.index(_REST) if _REST in kinds else len(kinds)
    by_place = sum([kind in _BY_PLACE for kind in kinds])
    known = dict.fromkeys((*takes, "out"))
    return (function, tuple(flags[:by_place]), rest, known, arithmetic, _finished, common)


_REST = inspect.Parameter.VAR_POSITIONAL
_BY_PLACE = frozenset(
    (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, _REST)
)


def into(out: object, made: T, operation: str, fresh: bool = False, rule: str = "same_kind") -> T:
    """Return a result, or write it into ``out`` by the rule of updates and return that.

    Folds and running folds are written with the rule "unsafe", as NumPy does.  A lazy ``out`` gets
    memory of its own, as in any other assignment.  Nobody but the callers has a ``fresh`` result,
    so its operands may lie in ``out``.

    Raises
    ------
    CastError, BroadcastError
        If it does not cast to the destination's dtype, or has another shape.
    """
    if out is None:
        return made
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if not isinstance(out, XExpression | np.ndarray):
        raise DTypeError(f"{operation}: out must be an array, got {type(out).__name__}")
    if isinstance(out, np.ndarray) and not (out.dtype.isnative and apart_by_elements(out)):
        out[...] = into(out.astype(out.dtype.newbyteorder("=")), made, operation, rule=rule)
        return cast("T", out)
    to = out if isinstance(out, XExpression) else adapt(out)
    result: Any = made
    check_update(to, operation, result.shape, result.dtype, rule)
    if fresh and isinstance(to, XContainer) and readers.waiting_for(to._buffer):
        to._store(..., result, False, False)
    else:
        to[...] = result
    return cast("T", out)  # of the same kind: an array


def shown(x: object) -> str:
    """Return how a message shows an argument."""
    if isinstance(x, XExpression | np.ndarray | np.generic) and x.dtype in SUPPORTED:
        return f"{dtype_name(as_dtype(x.dtype))}{list(x.shape)}"
    if isinstance(x, list) and any([isinstance(item, XExpression | np.ndarray) for item in x]):
        return f"[{', '.join(map(shown, x[:8]))}{', …' if len(x) > 8 else ''}]"
    return repr(x)[:60]


def refusal(operation: str, operands: Iterable[object], error: Exception) -> Exception:
    """Return NumPy's error as this package says it: with the operation and the operands."""
    text = f"{operation}({', '.join(map(shown, operands))}): {error}"
    if isinstance(error, np.exceptions.AxisError):
        return AxisError(text)
    if isinstance(error, np.linalg.LinAlgError):
        return np.linalg.LinAlgError(text)
    if isinstance(error, IndexError):
        return IndexRangeError(text)
    return DTypeError(text) if isinstance(error, TypeError) else ValueError(text)


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
        call: Any = invoked(function, function.__name__, signature, takes, arithmetic)
        front = call.front
        made: Any = functools.wraps(function)(call)
        made.front = front
        return cast("Callable[P, R]", made)

    return decorate


#: From what a user gives to what NumPy is given.
Take = Callable[[Any, str, Narrow], Any]


def several(x: Any, operation: str, narrow: Narrow) -> Any:
    """Return an array, or a sequence of arrays, each as `numpy_of` has it."""
    if isinstance(x, list | tuple):
        return [numpy_of(item, operation, narrow) for item in x]
    return numpy_of(x, operation, narrow)


def perhaps(x: Any, operation: str, narrow: Narrow) -> Any:
    """Return an array as `numpy_of` has it, also within a list, and anything else as it is."""
    if isinstance(x, HasNode | np.ndarray | Lifted):
        return numpy_of(x, operation, narrow)
    if isinstance(x, list | tuple):
        return [perhaps(item, operation, narrow) for item in x]
    return x


#: Functions that write into ``out`` whatever its dtype: folds, and those that pick elements.
_FOLDS = ("choose", "compress", "cumprod", "cumsum", "median")


def invoked(
    function: Callable[..., Any],
    name: str,
    signature: inspect.Signature,
    takes: Mapping[str, Take],
    arithmetic: bool = True,
) -> Callable[..., Any]:
    """Return a function of containers that calls one of NumPy arrays; see `computed`."""
    parameters = list(signature.parameters.values())
    names = [p.name for p in parameters]
    optional = {array for array in takes if signature.parameters[array].default is None}
    positional = [takes.get(n) for n in names]
    rest = next((k for k, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL), len(names))
    place = names.index("out") if "out" in names else -1
    typed = names.index("dtype") if "dtype" in names else len(names)
    count = len(names)
    rule = "unsafe" if name.removeprefix("nan") in _FOLDS else "same_kind"
    common = _OF_THE_DTYPE.get(name, COMMON if arithmetic else _MOVED)
    plan = _plan(function, signature, takes, arithmetic, common)

    def call(*args: Any, **kwargs: Any) -> Any:
        done = dispatch.handed(plan, args, kwargs)
        if done is not NotImplemented:
            return done
        writer = trace_writer()
        if writer is not None:
            written = writer.call(name, signature.bind(*args, **kwargs).arguments, by_name)
            if written is not NotImplemented:
                return written
        try:
            return ordinarily(args, kwargs.copy())
        except DTypeError:
            return non_numeric.call_numpy(name, args, kwargs)

    def ordinarily(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        first = args[0] if args else None
        if isinstance(first, Parted) and name in first.own:
            return getattr(first, name)(*args[1:], **kwargs)
        if any([isinstance(x, Parted) for x in args]):
            made = of_parts(name, call, signature, args, kwargs)
            if made is not NotImplemented:
                return made
        narrow, out = Narrow(common), None
        if place >= 0:
            out = kwargs.pop("out", None)
            if len(args) > place:
                out, args = args[place], (*args[:place], None, *args[place + 1 :])
        given, taken = [*args, *kwargs.values()], list(args)
        for k, value in enumerate(args):
            at = k if k < rest else rest
            take = positional[at] if at < count else None
            if take is not None and (value is not None or names[at] not in optional):
                value = take(value, name, narrow)
            taken[k] = unwrapped(value)
        for key, value in kwargs.items():
            if key in takes and (value is not None or key not in optional):
                value = takes[key](value, name, narrow)
            kwargs[key] = unwrapped(value)
        dtype = args[typed] if len(args) > typed else kwargs.get("dtype")
        try:
            if dtype is not None and typed < count:
                asked = as_dtype(dtype) if isinstance(dtype, HasNode) else dtype
                narrow.wide.append(np.empty(0, asked))  # results of that dtype stay as they are
            given_all = functools.partial(function, *taken, **kwargs)
            made = silently(given_all) if arithmetic else given_all()
        except XarrayliteError:
            raise
        except (ValueError, TypeError, IndexError) as error:
            raise refusal(name, given, error) from None
        return into(out, results(made, narrow), name, rule=rule)

    def by_name(arguments: dict[str, Any]) -> Any:
        bound = inspect.BoundArguments(signature, arguments)
        return call(*bound.args, **bound.kwargs)

    call.front = plan  # type: ignore[attr-defined]
    return call


#: What machine code is told of how a parameter is converted.
_FLAGS: dict[Take, int] = {numpy_of: 1, several: 2, perhaps: 3}
