"""`jit`: trace a function of arrays once, run its kernels from then on.

The function is called once per signature with handles that have shapes and dtypes but no values;
what it returns is planned, and the plan is kept with a note of which argument each operand came
from.  Later calls with the same signature look the plan up and run it: no expression is built.

A signature is dtype, shape and strides of every array, type and value of every Python scalar and
the dtype of every NumPy scalar.  Shapes are part of it because a traced ``u[1:-1]`` depends on
them, Python scalars because only their value says what dtype they lead to; kernels are still
shared between signatures.  A value that changes from call to call is passed as a NumPy scalar.

What the function closes over is read at every call.  Where it asks such an array for values
(``float``, a set of unique values), they are constants of the trace, which is then made again at
every call.  Products of matrices, sorting and what else gives shapes that are known are stages of
the trace (`stages`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from .._errors import DTypeError
from .._tables import kept
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..ir.build import WEAK_TYPES, scalar
from ..ir.node import Leaf
from ..layout.strided import ROW_MAJOR
from ..memory.buffer import NOWHERE, Buffer
from ..memory.snapshots import LateSnapshot
from ..operands.convert import policy_of, values_node
from ..operands.moving import Joins, apart, together
from ..operands.nodes import of_base, unwrapped
from ..operands.tracing import is_traced, tracing
from ..runtime import evaluate as engine
from .planned import NONE, Output, Quick, planned, results_of, run
from .stages import Stage, Stages

P = ParamSpec("P")
R = TypeVar("R")

#: Signatures kept per function.
CAPACITY = 256


class Jitted(Generic[P, R]):
    """A function that is traced once per signature; see `xl.jit`.

    Attributes
    ----------
    traces : int
        How often the function was called to trace it.
    """

    __slots__ = ("__dict__", "__weakref__", "_last")

    #: The only result of the last call, where its arguments were containers.
    _last: Quick | None

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function: Callable[..., Any] = function
        self._name = getattr(function, "__name__", "jit")
        self._traced: dict[tuple[object, ...], _Traced] = {}
        self._last = None
        self.traces = 0

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the traced kernels on these arguments."""
        if kwargs:
            raise TypeError(f"{self._name}: pass arguments of a traced function by position")
        if self._last is not None:
            known = self._last.again(args)
            if known is not None:
                return known  # type: ignore[return-value]
        parts, joins = apart(args)
        if any(type(arg) is XExpression and is_traced(arg.node) for arg in parts):
            return self._function(*args)  # type: ignore[no-any-return]
        arrays = [_argument(arg) for arg in parts]
        key: tuple[object, ...] = tuple([_signature(arg) for arg in arrays])
        if len(parts) > len(args):
            key += tuple(map(type, args))
        found = self._traced.get(key)
        if found is None or any([output.is_retired() for output in found.planned()]):
            found = self._retrace(key, arrays, joins)
        fresh = [output.reread() if output.indices else NONE for output in found.planned()]
        if None in fresh:
            found = self._retrace(key, arrays, joins)
            fresh = [NONE] * len(found.planned())  # they have just been read
        quick = found.outputs[0].quick if found.pack is _first and not found.stages else None
        lasts = key in self._traced and quick is not None and bool(quick.kinds)
        self._last = quick if lasts else None
        for stage in found.stages:
            stage.run(arrays, fresh[: len(stage.inputs)])
            fresh = fresh[len(stage.inputs) :]
        made = zip(found.outputs, fresh, strict=True)
        return found.pack(  # type: ignore[no-any-return]
            [run(output, arrays, new or NONE) for output, new in made]
        )

    def over(self, place: int, args: list[Any]) -> bool:
        """Write the result over an argument that nobody else holds; tell whether it is done.

        Each element of the result must be computed of that element of the argument alone.
        """
        return self._last is not None and self._last.over(args[place], args)

    def _retrace(self, key: tuple[object, ...], arrays: list[Any], joins: Joins) -> _Traced:
        found, constant = self._trace(list(arrays), joins)
        if not constant:  # a value, say, of what the function closes over
            self._traced.pop(key, None)
            return found
        return kept(self._traced, key, found, CAPACITY)

    def _trace(self, arrays: list[Any], joins: Joins) -> tuple[_Traced, bool]:
        self.traces += 1
        snapshots: dict[int, int] = {}
        handles = [_handle(k, arg, snapshots) for k, arg in enumerate(arrays)]
        leaves = [handle.node for handle in handles if isinstance(handle, XExpression)]
        with tracing() as trace:
            trace.writer = stages = Stages(arrays, snapshots, trace)
            result = self._function(*together(handles, joins))
            parts, made = apart(results_of(result, "jit"))
            outputs = [planned(item, arrays, snapshots, trace) for item in parts]
        for leaf in leaves:  # the trace outlives this call, the arguments need not
            if isinstance(leaf, Leaf):
                snapshot = leaf.snapshot
                assert isinstance(snapshot, LateSnapshot), "made by `_handle`"
                snapshot.become(NOWHERE)
        pack: Callable[[list[Any]], Any] = _first
        if isinstance(result, tuple | list):  # named tuples too
            pack = getattr(type(result), "_make", type(result))
        if not all([join is None for _, join in made]):
            outer = pack
            pack = lambda values: outer(together(values, made))  # noqa: E731
        return _Traced(outputs, pack, stages.found), trace.constant


@dataclass(frozen=True, slots=True)
class _Traced:
    """What a trace has found.

    Attributes
    ----------
    outputs : list of Output
        The results.
    pack : callable
        Makes of their values what the function returns.
    stages : list of Stage
        What is computed before.
    """

    outputs: list[Output]
    pack: Callable[[list[Any]], Any]
    stages: list[Stage]

    def planned(self) -> list[Output]:
        """Return everything that is evaluated, in its order."""
        inputs = [output for stage in self.stages for output in stage.inputs]
        return inputs + self.outputs


def _first(values: list[Any]) -> Any:
    """Return the only result."""
    return values[0]


def _argument(arg: Any) -> Any:
    """Return an argument as a container, a Python scalar or a NumPy scalar."""
    arg = of_base(unwrapped(arg))
    if isinstance(arg, XContainer | np.generic) or type(arg) in WEAK_TYPES:
        return arg
    node = values_node(arg, None, "jit")
    if isinstance(node, Leaf):
        return XArray._own(Buffer.lent(node.snapshot), node.map, node.dtype, ROW_MAJOR)
    buffer, layout = engine.evaluate(node)
    return XArray._own(buffer, layout, node.dtype, policy_of(layout))


def _signature(arg: Any) -> tuple[object, ...]:
    if isinstance(arg, XContainer):
        return (arg.dtype, arg.shape, arg.map.pattern, arg._fixed)
    # By text, which tells 0.0 from -0.0 and knows that NaN is NaN.
    return (arg.dtype,) if isinstance(arg, np.generic) else (type(arg), repr(arg))


def _handle(number: int, arg: Any, snapshots: dict[int, int]) -> object:
    """Return what the traced function is given for one argument: Python scalars as they are."""
    if isinstance(arg, XContainer):
        snapshot = LateSnapshot(arg.buffer)
        snapshot.traced = True
        snapshots[id(snapshot)] = number
        return XExpression(Leaf(arg.shape, arg.dtype, snapshot, arg.map, arg._fixed))
    if isinstance(arg, np.generic):
        return XExpression(scalar(arg, arg.dtype, number))
    return arg


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Trace a function of arrays once per signature and rerun its kernels after that.

    Parameters
    ----------
    function : callable
        Takes arrays and scalars by position; returns an expression, or a flat tuple or list of
        them.
        It must not depend on values of arrays and NumPy scalars: asking one of them raises.  It
        may multiply matrices, sort and decompose: these are computed between kernels.
        Arrays that it closes over are read at every call, masks and index arrays too.  Python
        scalars are part of the signature, so they may be axes, counts or conditions.

    Returns
    -------
    Jitted
        A callable that returns `XArray` results.

    Raises
    ------
    TracedValueError
        While tracing, if the function asks an argument for a value.
    DTypeError
        If it is no function, or what it returns is nested.

    Examples
    --------
    >>> import xarraylite as xl
    >>> step = xl.jit(lambda u, dt: u + dt * (1 - u))
    >>> step(xl.zeros(3), 0.5)
    XArray([0.5, 0.5, 0.5])
    >>> xl.jit(lambda a, x: a @ x + 1)(xl.eye(2), xl.ones(2))
    XArray([2., 2.])
    """
    if not callable(function):
        raise DTypeError(f"jit: a function is needed, got {function!r}")
    return Jitted(function)
