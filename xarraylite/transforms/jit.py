"""`jit`: trace a function of arrays once, run its kernels from then on.

The function is called once per signature with handles that have shapes and dtypes but no values;
what it returns is planned, and the plan is kept with a note of which argument each operand came
from.  Later calls with the same signature look the plan up and run it: no expression is built.

A signature is dtype, shape and strides of every array, type and value of every Python scalar and
the dtype of every NumPy scalar.  Shapes are part of it because a traced ``u[1:-1]`` depends on
them, Python scalars because only their value says what dtype they lead to; kernels are still
shared between signatures.  A value that changes from call to call is passed as a NumPy scalar.

What the function closes over is read at every call.  Where it asks such an array for values (a
product of matrices, a sort, ``float``), they are constants of the trace, which is then made again
at every call.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

from .._errors import DTypeError, StaleOperandError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment import direct
from ..compiler.graph import Graph, canonical
from ..compiler.target import Target
from ..ir.build import WEAK_TYPES, scalar
from ..ir.kind import NODE, Kind, owner_class
from ..ir.node import Leaf, Node, Scalar
from ..ir.translation import plain
from ..ir.walk import fixed_of, postorder
from ..layout.strided import ROW_MAJOR
from ..layout.tiled import Map
from ..memory.buffer import NOWHERE, Buffer
from ..memory.snapshots import LateSnapshot, Snapshot
from ..operands.convert import policy_of, values_node
from ..operands.gathers import index_leaf
from ..operands.moving import Joins, apart, together
from ..operands.nodes import as_node, unwrapped
from ..operands.tracing import Trace, tracing
from ..runtime import evaluate as engine
from ..runtime.direct import described

P = ParamSpec("P")
R = TypeVar("R")

#: Signatures kept per function.
CAPACITY = 256

_NONE: Mapping[int, Leaf] = {}


@dataclass(slots=True)
class _Index:
    """An array that a traced function uses as an index of a dimension of some extent."""

    array: Any
    extent: int

    def reread(self) -> Leaf | None:
        """Return a checked copy of the array as it is now, None if it has given up its memory."""
        if isinstance(self.array, XContainer) and self.array.buffer.retired:
            return None
        try:
            return index_leaf(self.array, self.extent)
        except StaleOperandError:
            return None


@dataclass(frozen=True, slots=True)
class Quick:
    """One traced result that has a kind: what `direct.evaluated` takes.

    Attributes
    ----------
    kind : Kind
        Of the expression.
    shape : tuple of int
        Of the result.
    items : tuple
        Two items for each operand: for one in memory its argument, and how many bytes it starts
        behind that; for a value None, and the value; for an argument that is a scalar its node,
        and None.
    kinds, shapes : tuple
        Of the arguments, where all are containers; else empty.
    """

    kind: Kind
    shape: tuple[int, ...]
    items: tuple[Any, ...]
    kinds: tuple[Kind, ...]
    shapes: tuple[tuple[int, ...], ...]

    def operands(self, arrays: Sequence[Any]) -> list[Any]:
        """Return the operands for other arguments."""
        found: list[Any] = []
        pairs = iter(self.items)
        for number, what in zip(pairs, pairs, strict=True):
            if number is None:
                found.append(what)
            elif what is None:
                value = scalar(arrays[number.parameter], number.dtype).value
                found.append(plain(value, number.dtype))
            else:
                found += (arrays[number]._buffer, arrays[number]._start + what)
        return found


def _quick(node: Node, arrays: list[Any], snapshots: dict[int, int]) -> Quick | None:
    known = described(node)
    if known is None:
        return None
    kind, operands = known
    items: list[Any] = []
    rest = iter(operands)
    for item in rest:
        if isinstance(item, Snapshot):
            number = snapshots.get(id(item), -1)
            if number < 0 or arrays[number]._kind is NODE:
                return None
            items += (number, next(rest) - arrays[number]._start)
        else:
            items += (item, None) if isinstance(item, Scalar) else (None, item)
    given = [a for a in arrays if isinstance(a, XContainer) and a._kind is not NODE]
    given = given if len(given) == len(arrays) else []
    kinds, shapes = tuple([a._kind for a in given]), tuple([a._shape for a in given])
    return Quick(kind, node.shape, tuple(items), kinds, shapes)


@dataclass(slots=True)
class _Output:
    """One traced result."""

    node: Node
    graph: Graph
    layout: Map
    sources: list[tuple[int, int]]
    """For each leaf the argument it reads (-1 for one the function closed over), and how far it
    starts behind that argument's first element, in elements."""
    indices: dict[int, _Index]
    """By the number of a leaf that is a checked copy: the array it is of."""
    quick: Quick | None
    """Where it has a kind."""
    result: type[XArray]
    """What it becomes."""

    def reread(self) -> dict[int, Leaf] | None:
        """Return the indices that the function closed over as they are now.

        None if the trace no longer holds: one has another shape, or cannot be read any more.
        """
        fresh: dict[int, Leaf] = {}
        for k, index in self.indices.items():
            leaf = index.reread()
            if leaf is None or leaf.shape != self.graph.leaves[k].shape:
                return None
            fresh[k] = leaf
        return fresh

    def is_retired(self) -> bool:
        """Tell whether a container that the function closed over has moved to other memory."""
        return any(
            number < 0 and leaf.snapshot.retired
            for leaf, (number, _) in zip(self.graph.leaves, self.sources, strict=True)
        )


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
        self._traced: OrderedDict[tuple[object, ...], tuple[list[_Output], Any]] = OrderedDict()
        self._last = None
        self.traces = 0

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the traced kernels on these arguments."""
        if kwargs:
            raise TypeError(f"{self._name}: pass arguments of a traced function by position")
        parts, joins = apart(args)
        if any(type(arg) is XExpression and is_traced(arg.node) for arg in parts):
            return self._function(*args)  # type: ignore[no-any-return]
        arrays = [_argument(arg) for arg in parts]
        key: tuple[object, ...] = tuple([_signature(arg) for arg in arrays])
        if len(parts) > len(args):
            key += tuple(map(type, args))
        found = self._traced.get(key)
        if found is None or any(output.is_retired() for output in found[0]):
            found = self._retrace(key, arrays, joins)
        fresh = [output.reread() if output.indices else _NONE for output in found[0]]
        if None in fresh:
            found = self._retrace(key, arrays, joins)
            fresh = [_NONE] * len(found[0])  # they have just been read
        outputs, pack = found
        quick = outputs[0].quick if pack is _first else None
        kept = key in self._traced and quick is not None and quick.kinds
        self._last = quick if kept else None
        return pack(  # type: ignore[no-any-return]
            [_run(output, arrays, new or _NONE) for output, new in zip(outputs, fresh, strict=True)]
        )

    def _retrace(
        self, key: tuple[object, ...], arrays: list[Any], joins: Joins
    ) -> tuple[list[_Output], Any]:
        found, constant = self._trace(arrays, joins)
        if not constant:  # a product, say, of what the function closes over
            self._traced.pop(key, None)
            return found
        self._traced[key] = found
        while len(self._traced) > CAPACITY:
            self._traced.popitem(last=False)
        return found

    def _trace(self, arrays: list[Any], joins: Joins) -> tuple[tuple[list[_Output], Any], bool]:
        self.traces += 1
        snapshots: dict[int, int] = {}
        handles = [_handle(k, arg, snapshots) for k, arg in enumerate(arrays)]
        leaves = [handle.node for handle in handles if isinstance(handle, XExpression)]
        with tracing() as trace:
            result = self._function(*together(handles, joins))
            several = isinstance(result, tuple | list)
            parts, made = apart(result if several else [result])
            outputs = [_output(item, arrays, snapshots, trace) for item in parts]
        for leaf in leaves:  # the trace outlives this call, the arguments need not
            if isinstance(leaf, Leaf):
                snapshot = leaf.snapshot
                assert isinstance(snapshot, LateSnapshot), "made by `_handle`"
                snapshot.become(NOWHERE)
        # Named tuples too.
        pack = getattr(type(result), "_make", type(result)) if several else _first
        if all([join is None for _, join in made]):
            return (outputs, pack), trace.constant
        return (outputs, lambda values: pack(together(values, made))), trace.constant


def _first(values: list[Any]) -> Any:
    """Return the only result."""
    return values[0]


def is_traced(root: Node) -> bool:
    """Tell whether an expression is of arguments of a function that is being traced."""
    return any(
        (isinstance(node, Leaf) and node.snapshot.traced)
        or (isinstance(node, Scalar) and node.parameter >= 0)
        for node in postorder(root)
    )


def _argument(arg: Any) -> Any:
    """Return an argument as a container, a Python scalar or a NumPy scalar."""
    arg = unwrapped(arg)
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


def _output(item: object, arrays: list[Any], snapshots: dict[int, int], trace: Trace) -> _Output:
    """Plan one result of the traced function."""
    node = as_node(item, "jit")
    graph = canonical(node, None, True, traced=True)
    layout = engine.result_layout(graph, node)
    sources = []
    for leaf in graph.leaves:
        number = snapshots.get(id(leaf.snapshot), -1)
        shift = leaf.map.offset - (arrays[number].offset if number >= 0 else 0)
        sources.append((number, shift))
    indices = {
        k: _Index(*trace.indices[id(leaf)][1:])
        for k, leaf in enumerate(graph.leaves)
        if id(leaf) in trace.indices
    }
    quick = _quick(node, arrays, snapshots)
    result = owner_class(fixed_of(node), node.dtype, node.shape)
    return _Output(node, graph, layout, sources, indices, quick, result)


def _run(output: _Output, arrays: list[Any], fresh: Mapping[int, Leaf]) -> XArray:
    """Run one planned result on new arguments, and on indices that were read again."""
    quick = output.quick
    if quick is not None:
        made: XArray | None = direct.evaluated(
            XArray, quick.kind, quick.shape, quick.operands(arrays)
        )
        if made is not None:
            return made
    graph = output.graph
    leaves = [
        fresh.get(k, leaf)
        if number < 0
        else Leaf(
            leaf.shape,
            leaf.dtype,
            LateSnapshot(arrays[number].buffer),
            replace(leaf.map, offset=arrays[number].offset + shift),
        )
        for k, (leaf, (number, shift)) in enumerate(zip(graph.leaves, output.sources, strict=True))
    ]
    scalars = {
        id(node): scalar(_value(arrays[node.parameter], node), node.dtype)
        for node in graph.scalars
        if node.parameter >= 0
    }
    bound = graph.bind(leaves, scalars)
    buffer = engine.raw_target(output.node, output.layout)
    target = Target(buffer, output.layout, output.node.dtype)
    engine.execute(bound, target, True)
    policy = policy_of(output.layout)
    return output.result._own(buffer, output.layout, output.node.dtype, policy)


def _value(value: Any, node: Scalar) -> Any:
    if isinstance(value, np.generic) or type(value) in WEAK_TYPES:
        return value
    raise DTypeError(f"jit: argument {node.parameter} must be a scalar, got {type(value).__name__}")


def jit(function: Callable[P, R]) -> Jitted[P, R]:
    """Trace a function of arrays once per signature and rerun its kernels after that.

    Parameters
    ----------
    function : callable
        Takes arrays and scalars by position; returns an expression, or a tuple or list of them.
        It must not depend on values of arrays and NumPy scalars: asking one of them raises.
        Arrays that it closes over are read at every call.  Python scalars are part of the
        signature, so they may be axes, counts or conditions.

    Returns
    -------
    Jitted
        A callable that returns `XArray` results.

    Raises
    ------
    TracedValueError
        While tracing, if the function asks an argument for a value.

    Examples
    --------
    >>> import xarraylite as xl
    >>> step = xl.jit(lambda u, dt: u + dt * (1 - u))
    >>> step(xl.zeros(3), 0.5)
    XArray([0.5, 0.5, 0.5])
    """
    return Jitted(function)
