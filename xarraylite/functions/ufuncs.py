"""Functions made of rows of the op table, called as NumPy's ufuncs are.

Of arrays and expressions they are lazy; of numbers alone they are values, computed at once, as
operators between numbers are.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, TypedDict, TypeVar, Unpack, cast

import numpy as np

from .._errors import CastError, DTypeError
from ..arrays import expression
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.memo import memoised
from ..arrays.numpy_calls import at
from ..arrays.scalar import XScalar
from ..arrays.scalar_arithmetic import compute, function_of_one
from ..arrays.xarray import XArray
from ..assignment import elements, readers, writes
from ..assignment.assign import check_cast, check_update
from ..assignment.readers import LENT
from ..dtypes.names import as_dtype, dtype_name
from ..dtypes.promotion import can_cast
from ..ir import build
from ..ir.build import Operand, describe
from ..operands import dispatch
from ..operands.nodes import Lifted, as_operand, is_foreign, is_number, is_operand
from ..operands.non_numeric import call_numpy, dtype_of, is_not_ours
from ..operands.operators import with_strangers
from ..ops.op import Op
from ..ops.table import OPS
from .arguments import check_mask
from .arrays_of_numpy import into
from .computed import plan_of_method
from .docstrings import describe_as

F = TypeVar("F", bound=Callable[..., Any])

_STRICT = ("no", "equiv", "safe")
_CASTINGS = (*_STRICT, "same_kind", "unsafe")
_ORDERS = frozenset("CFAKcfak")


def check_options(operation: str, order: str | None, casting: str) -> None:
    """Raise ValueError unless an order and a rule of casting are NumPy's."""
    if order is not None and order not in _ORDERS:
        raise ValueError(f"{operation}: order must be one of 'C', 'F', 'A' and 'K', got {order!r}")
    if casting not in _CASTINGS:
        raise ValueError(f"{operation}: casting must be one of {_CASTINGS}, got {casting!r}")


class Options(TypedDict, total=False):
    """What NumPy's ufuncs take beside operands and ``out``; see `directed`."""

    where: object
    dtype: object
    casting: str
    order: str
    subok: bool
    signature: object


class Unary(Protocol):
    """A function of one operand; see `directed` for the others."""

    __name__: str

    def __call__(
        self, x: object, /, out: object = None, **options: Unpack[Options]
    ) -> XExpression: ...


class Binary(Protocol):
    """A function of two operands; see `directed` for the others.

    Attributes
    ----------
    accumulate, at, outer, reduce, reduceat : function
        NumPy's methods of the ufunc, on arrays of ours.
    """

    __name__: str
    accumulate: Callable[..., Any]
    at: Callable[..., Any]
    outer: Callable[..., Any]
    reduce: Callable[..., Any]
    reduceat: Callable[..., Any]

    def __call__(
        self, x1: object, x2: object, /, out: object = None, **options: Unpack[Options]
    ) -> XExpression: ...


def directed(
    op: Op,
    operands: tuple[object, ...],
    out: object = None,
    *,
    where: object = True,
    dtype: object = None,
    casting: str = "same_kind",
    order: str = "K",
    subok: bool = True,
    signature: object = None,
    **others: object,
) -> XExpression:
    """Return an operation as NumPy's ufuncs are called with more than operands.

    Parameters
    ----------
    op : Op
        The operation.
    operands : tuple
        Its operands.
    out, where, casting
        As for `written`.
    dtype : dtype or None
        Of the result of the loop that is computed: which one, NumPy says.
    order
        As for `ordered`.
    subok
        Of no effect.
    signature : str, sequence of dtypes or None
        The loop, as ``"ff->f"`` or ``(None, None, "f4")``; ``sig`` is its short name.

    Raises
    ------
    CastError
        If there is no such loop, an operand does not cast to what it computes in, or the result
        to the dtype of ``out``.
    ValueError
        If ``casting`` is no rule.
    BroadcastError
        If the result does not stretch to the shape of ``out``.
    """
    made: Any
    if "sig" in others and signature is not None:
        raise TypeError(f"{op.name}: sig and signature are one thing; give one of them")
    signature = others.pop("sig", signature)
    if others:
        raise TypeError(f"{op.name}() got an unexpected keyword argument {next(iter(others))!r}")
    if isinstance(out, tuple) and len(out) != 1:
        raise DTypeError(f"{op.name}: out must be one array, got a tuple of {len(out)}")
    check_options(op.name, order, casting)
    plain = dtype is signature is None
    if plain and (casting not in _STRICT or any(isinstance(x, Lifted) for x in operands)):
        if out is None and where is True:
            numbers = all([is_number(x) for x in operands])
            return ordered((applied if numbers else _lazily)(op, *operands), order, out)
        made = expression.apply(op, *operands)  # by one name: who holds it is asked
        if not isinstance(made, XExpression):  # NumPy's, of no numbers
            if isinstance(out, np.ndarray):
                return _by_numpy(op, operands, out=out, where=where)
            if where is not True or is_not_ours(made):
                raise DTypeError(f"{op.name}: out and where are for numbers, got {made.dtype}")
            return cast("XExpression", into(out, made, op.name))
    else:
        wanted = wanted_of(len(operands), dtype, signature)
        textual = any([dtype_of(x) is not None for x in wanted])  # NumPy's, of no numbers
        if textual or (out is None and where is True and any(map(is_foreign, operands))):
            return _by_numpy(op, operands, signature=wanted)
        nodes = [as_operand(x, op.name) for x in operands]
        *loop, result = _loop(op, nodes, wanted, casting)
        pairs = zip(nodes, loop, strict=True)
        made = XExpression(build.elementwise(op, *[build.convert(x, to) for x, to in pairs]))
        made = made if result is None else made.astype(result, copy=False)
        if out is None and where is True and all([is_number(x) for x in operands]):
            return XScalar(made)  # type: ignore[return-value]
    return ordered(written(made, out, where, op.name, casting), order, out)


def _by_numpy(op: Op, operands: Sequence[Any], **options: Any) -> XExpression:
    values = [np.asarray(x) if isinstance(x, XExpression) else x for x in operands]
    named = {k: np.asarray(x) if isinstance(x, XExpression) else x for k, x in options.items()}
    return getattr(np, op.name)(*values, **named)  # type: ignore[no-any-return]


def wanted_of(count: int, dtype: object, signature: object) -> tuple[Any, ...]:
    """Return what is said of a loop: dtypes of ``count`` operands and the result, or None."""
    if isinstance(signature, str):
        codes = signature.replace("->", "")
        signature = (None,) * (count + 1 - len(codes)) + tuple(codes)
    given = (None,) * count + (dtype,) if signature is None else tuple(cast("Any", signature))
    return tuple([None if x is None else dtype_of(x) or as_dtype(x) for x in given])


def _loop(op: Op, nodes: Sequence[Operand], wanted: tuple[Any, ...], casting: str) -> Sequence[Any]:
    """Return the dtypes that operands become, and that of the result, None if that follows.

    Of its own dtypes NumPy says which they are; of narrow ones, all are what is wanted.
    """
    kinds = tuple([build.kind_of(node) for node in nodes])

    def shown() -> str:
        return ", ".join(map(describe, nodes))

    ufunc: Any = getattr(np, op.name, None)
    strong = any([isinstance(x, np.dtype) for x in kinds])
    own = [np.dtype(x) if x is bool or not strong else x for x in kinds]
    narrow = [x for x in (*own, *wanted) if isinstance(x, np.dtype) and x.isbuiltin != 1]
    if isinstance(ufunc, np.ufunc) and not narrow:
        try:
            weak = casting == "equiv" and any([isinstance(x, type) for x in own])
            rule: Any = "no" if weak else casting  # NumPy dies of refusing a number under "equiv"
            resolved: Any = ufunc.resolve_dtypes((*own, None), signature=wanted, casting=rule)
        except TypeError as error:
            raise CastError(f"{op.name}({shown()}): {error}") from None
        for kind, to in zip(own, resolved, strict=False) if weak else ():
            check_cast(op.name, shown, np.dtype(kind), to, casting)
        return cast("Sequence[Any]", resolved)
    end = wanted[-1]
    loop = [end] * len(nodes) if end is not None else op.rule(op.name, kinds)[0]
    for kind, to in zip(kinds, loop, strict=True):
        if isinstance(kind, np.dtype):
            check_cast(op.name, shown, kind, to, casting)
    return (*loop, end)


def written(
    made: XExpression, out: object, where: object, operation: str, casting: str = "same_kind"
) -> XExpression:
    """Return a result, or write it and return where to.

    Parameters
    ----------
    made : XExpression
        The result.
    out : container or None
        Where to write it.
    where : True, array or expression of bool
        Elements that are computed; others keep what ``out`` has, or are 0.
    operation : str
        What errors call it.
    casting : str, default "same_kind"
        How its dtype may differ from that of ``out``.
    """
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if casting != "same_kind" and isinstance(out, (XExpression, np.ndarray)):
        to = as_dtype(out.dtype)
        if not can_cast(made.dtype, to, casting):
            raise CastError(
                f"{operation}: the result {dtype_name(made.dtype)} does not cast to out's dtype "
                f"{dtype_name(to)} (rule: {casting})"
            )
        made = made.astype(to, copy=False)
    if where is not True:
        check_mask(where, operation)
        kept: Any = out
        if isinstance(out, (XExpression, np.ndarray)):
            if isinstance(out, XContainer) and out.size <= elements.FEW:
                readers.freed(out._buffer)  # what the result reads of it is a copy from now on
            done: Any = writes.computed_into(out, OPS["where"], where, made, out)
            if done is not None:
                return cast("XExpression", done)
            check_update(out, operation, out.shape, made.dtype)  # type: ignore[arg-type]
            made = made.astype(as_dtype(out.dtype), copy=False)
        elif out is None:
            kept = XExpression(build.scalar(0, made.dtype))
        made = expression.apply(OPS["where"], where, made, kept)
    if isinstance(out, (XExpression, np.ndarray)) and made.shape != out.shape:
        made = XExpression(build.broadcast_to(made.node, out.shape, operation))
    fresh = sys.getrefcount(made) <= LENT
    return into(out, made, operation, fresh)


def ordered(made: XExpression, order: str | None, out: object) -> XExpression:
    """Return a result, computed at once if it is nowhere written and "C" or "F" order asked for."""
    order = (order or "K").upper()
    moved = out is None and order in "CF" and getattr(made, "ndim", 0) > 1
    return made.copy(order) if moved else made


def applied(op: Op, *operands: object) -> XExpression:
    """Return an operation: lazily, or of numbers alone its value, which has the same face."""
    if all([is_number(x) for x in operands]):
        value: XExpression = compute(XScalar, op, operands)
        return value
    return expression.apply(op, *operands)


def _lazily(op: Op, *operands: object) -> XExpression:
    """Return an operation on arrays: NumPy's of no numbers, other libraries' of their arrays."""
    for x in operands:
        if not isinstance(x, XExpression) and not is_operand(x):
            made = with_strangers(op, *operands)
            if made is not NotImplemented:
                return made  # type: ignore[no-any-return]
            break
    try:
        return expression.apply(op, *operands)
    except DTypeError:
        return call_numpy(op.name, operands, {})  # type: ignore[no-any-return]


#: What functions take behind their operands.
_OPTIONS = [p for p in inspect.signature(directed).parameters.values() if p.default is not p.empty]


def _described(function: Any, op: Op, *names: str) -> Any:
    """Give a function of the op table its name, its page, the signature that is shown, and more."""
    describe_as(function, op, names)
    only = inspect.Parameter.POSITIONAL_ONLY
    operands = [inspect.Parameter(name, only, annotation="object") for name in names]
    function.__signature__ = inspect.Signature(
        [*operands, *_OPTIONS], return_annotation="XExpression"
    )
    return with_methods(function, op.name)


def _asked(op: Op) -> Callable[[tuple[object, ...], object, Options], XExpression]:
    """Return the operation for calls with more than operands: `directed`, remembered if lazy."""

    def lazily(*operands: object, **options: Unpack[Options]) -> XExpression:
        return directed(op, operands, **options)

    lazily.__name__ = op.name  # which errors say
    remembered = memoised(lazily)

    def asked(operands: tuple[object, ...], out: object, options: Options) -> XExpression:
        if out is None and any([isinstance(x, XExpression) for x in operands]):
            return remembered(*operands, **options)
        done: Any = None if options else writes.computed_into(out, op, *operands)
        return directed(op, operands, out, **options) if done is None else done

    return asked


def unary(name: str) -> Unary:
    """Return the function of one operand for a row of the op table."""
    op = OPS[name]
    of_number = function_of_one(XScalar, op)

    asked = _asked(op)

    def function(x: object, /, out: object = None, **options: Unpack[Options]) -> XExpression:
        if out is not None or options:
            return asked((x,), out, options)
        return of_number(x) if x.__class__ is float or is_number(x) else _lazily(op, x)

    return cast("Unary", _described(function, op, "x"))


def binary(name: str) -> Binary:
    """Return the function of two operands for a row of the op table."""
    op = OPS[name]
    asked = _asked(op)

    def function(
        x1: object, x2: object, /, out: object = None, **options: Unpack[Options]
    ) -> XExpression:
        if out is not None or options:
            return asked((x1, x2), out, options)
        if is_number(x1) and is_number(x2):
            return compute(XScalar, op, (x1, x2))  # type: ignore[no-any-return]
        return _lazily(op, x1, x2)

    return cast("Binary", _described(function, op, "x1", "x2"))


#: What NumPy's ufuncs say of themselves.
_ATTRIBUTES = ("identity", "nargs", "nin", "nout", "ntypes", "signature", "types", "resolve_dtypes")


def with_methods(function: Any, name: str) -> Any:
    """Give a function what NumPy's ufunc of a name says of itself, and its methods."""
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc):
        for attribute in _ATTRIBUTES:
            setattr(function, attribute, getattr(ufunc, attribute))
    for method in ("accumulate", "at", "outer", "reduce", "reduceat"):
        setattr(function, method, of_ufunc(name, method))
    return function


def as_ufunc(function: F) -> F:
    """Give a function of its own kind what NumPy's ufunc of that name has beside the call."""
    return with_methods(function, function.__name__)  # type: ignore[no-any-return]


@cache
def _plan(name: str, method: str) -> tuple[Any, ...] | None:
    """Return how machine code hands a method to NumPy; None of those that it does not."""
    function = getattr(getattr(np, name, None), method, None)
    if function is None or method in ("__call__", "at"):
        return None
    return plan_of_method(function, 1 + (method == "outer"))


def of_ufunc(name: str, method: str = "__call__") -> Callable[..., Any]:
    """Return a method of NumPy's ufunc, whose first operand is made an array of ours.

    So the ufunc asks that array, whose `__array_ufunc__` computes it, but for what machine code
    hands to NumPy.
    """

    def call(array: object, *args: Any, **options: Any) -> Any:
        if array.__class__ is list:
            array = elements.container_of(XArray, array)
        plan = None if "order" in options else _plan(name, method)
        if plan is not None:
            done = dispatch.handed(plan, (array, *args), options)
            if done is not NotImplemented:
                return done
        known = isinstance(array, XExpression)
        asked = any([isinstance(x, Lifted) or is_foreign(x) for x in args])  # before ours
        if known and method == "at" and not (options or asked):
            return at(getattr(np, name), array, *args)
        # What is written is the array itself; what is no numbers has no container.
        theirs = isinstance(array, np.ndarray) and (method == "at" or is_not_ours(array))
        if not (known or theirs or is_foreign(array)):
            array = XArray(array)
        return getattr(getattr(np, name), method)(array, *args, **options)

    call.__name__ = call.__qualname__ = f"{name}.{method}"
    call.__doc__ = f"Call `numpy.ufunc.{method}` of ``numpy.{name}``; see there."
    return call
