"""Expressions that travel, to a task of dask on this machine or another, and what tells them apart.

A parcel pickles as a list of plain tuples: operations by their names in the table, memory as the
values that are read of it, stored operands as the arrays they are, which know how to pickle
themselves.  It is unpickled once per process, however many tasks have it.  A user's function
travels as whatever the pickler of the scheduler makes of it (distributed's takes functions).
"""

from __future__ import annotations

import dataclasses
import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..dtypes.names import NumpyArray
from ..ir import node as ir
from ..ir.build import describe
from ..ir.walk import postorder
from ..memory.arrays import read
from ..operands.nodes import borrow_array
from ..ops.op import Op
from ..ops.reductions import REDUCTIONS, Reduction
from ..ops.table import OPS
from ..ops.user import FIXED_MODULES, UserOp, described, global_names, nested
from .places import is_told_apart

#: Parcels kept by a process, by their keys.
_KEPT = 32

_known: OrderedDict[str, Parcel] = OrderedDict()

#: Fields of nodes that are arguments: whether each is one, or all.
_ARGS = {"arg": True, "index": True, "offsets": True, "operands": False, "parts": False}


class Parcel:
    """An expression, and a key by which processes know that they have it.

    Attributes
    ----------
    node : Node
        The expression.
    key : str
        The same for the same expression; empty if it is not worth keeping.
    """

    __slots__ = ("key", "node")

    def __init__(self, node: ir.Node, key: str = "") -> None:
        self.node = node
        self.key = key

    def __reduce__(self) -> Any:
        rows = [
            (type(node).__name__, node.shape, node.dtype, args, _told(node))
            for node, args in _numbered(self.node)
        ]
        return _made, (self.key, rows)


def _numbered(root: ir.Node) -> Iterator[tuple[ir.Node, list[int]]]:
    """Yield the nodes of an expression, and which of those before are arguments of each."""
    number: dict[int, int] = {}
    for node in postorder(root):
        number[id(node)] = len(number)
        yield node, [number[id(arg)] for arg in node.args]


def _made(key: str, rows: list[tuple[str, Any, Any, list[int], tuple[Any, ...]]]) -> Parcel:
    known = _known.get(key) if key else None
    if known is not None:
        return known
    nodes: list[ir.Node] = []
    for name, shape, dtype, args, told in rows:
        nodes.append(_node(name, shape, dtype, [nodes[k] for k in args], told))
    made = Parcel(nodes[-1], key)
    if key:
        _known[key] = made
        while len(_known) > _KEPT:
            _known.popitem(last=False)
    return made


def _told(node: ir.Node) -> tuple[Any, ...]:
    """Return what a node is made of besides its shape, dtype and arguments; operations by name."""
    if isinstance(node, ir.Leaf):
        return (_own(node),)
    fields = [field.name for field in dataclasses.fields(node)[2:] if field.name not in _ARGS]
    made = [getattr(node, name) for name in fields]
    known = REDUCTIONS if isinstance(node, ir.Reduce) else OPS
    return tuple(
        [x.name if isinstance(x, Op | Reduction) and known.get(x.name) is x else x for x in made]
    )


def _own(node: ir.Leaf) -> NumpyArray:
    """Return the values of a leaf, row-major; of dimensions that it is stretched along, one."""
    values = read(node.snapshot, node.dtype, node.map)
    once = [slice(None if step else 1) for step in values.strides]
    return np.array(values[tuple(once)], order="C", copy=None, ndmin=values.ndim)


#: Operands by their names, and what tells each from others, or from what it was before a change.
Operands = list[tuple[str, str]]


def fingerprint(root: ir.Node, chunks: Sequence[Any], apart: Operands | None = None) -> str:
    """Return a hash of an expression, of its operands as they are now, and of chunks.

    ``apart``, if given, takes what tells the operands; hashed are their places in it instead.
    Otherwise operands that nothing tells from others have another hash each time.
    """
    digest = hashlib.sha256(repr(tuple(chunks)).encode())
    for node, args in _numbered(root):
        told = [type(node).__name__, node.shape, node.dtype.name, args, *_content(node, apart)]
        digest.update(repr(told).encode())
    return digest.hexdigest()


def _content(node: ir.Node, apart: Operands | None = None) -> tuple[Any, ...]:
    """Return what a node is made of, as text that is the same in every process."""
    if isinstance(node, ir.Leaf):
        values = _own(node)
        told = hashlib.sha256(values.reshape(-1).view(np.uint8).data).hexdigest()
        return (_named(f"{describe(node)} in memory", told, apart),)
    if isinstance(node, ir.Stored):
        source: Any = node.source
        factors = getattr(source, "factors", ()) if apart is not None else ()
        if factors:
            return tuple([(fingerprint(inner, (), apart), labels) for inner, labels in factors])
        told = source.identity()
        if apart is None and not is_told_apart(getattr(source, "array", None)):
            told += uuid.uuid4().hex  # two of them are not the same task
        return (_named(str(source), told, apart),)
    if isinstance(node, ir.Scalar):
        return (np.asarray(node.value, node.dtype).tobytes(),)
    if isinstance(node, ir.Elementwise) and isinstance(node.op, UserOp):
        return _code(node.op)
    if isinstance(node, ir.Reduce) and isinstance(node.op.combine, UserOp):
        return (*_code(node.op.combine), repr(node.op.identity), node.axes, node.keepdims)
    return _told(node)


def _named(name: str, told: str, apart: Operands | None) -> str:
    if apart is None:
        return told
    if (name, told) not in apart:
        apart.append((name, told))
    return str(apart.index((name, told)))


def _code(op: UserOp) -> tuple[Any, ...]:
    return (op.name, _meant(op.function, ()))


def _meant(value: Any, around: tuple[Any, ...]) -> Any:
    """Return what a name of a user's function means; of a function, what its own names mean too."""
    value = getattr(value, "py_func", value)  # of one that Numba compiles
    if isinstance(value, FunctionType):
        if value in around:
            return around.index(value)
        known, around = value.__globals__, (*around, value)
        names = [name for name in sorted(global_names(value.__code__)) if name in known]
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        named = sorted((value.__kwdefaults__ or {}).items())
        own = [*map(known.get, names), *cells, value.__defaults__, named]
        return (described(value.__code__), names, [_meant(x, around) for x in own])
    if isinstance(value, tuple | list):
        return [_meant(x, around) for x in value]
    if isinstance(value, np.ndarray | np.generic):
        content = np.ascontiguousarray(value).tobytes()
        return (str(value.dtype), value.shape, hashlib.sha256(content).hexdigest())
    if isinstance(value, ModuleType) and value.__name__ not in FIXED_MODULES:
        return _of_module(value, around)
    if isinstance(value, ModuleType | BuiltinFunctionType | np.ufunc | type):
        return (type(value).__name__, getattr(value, "__module__", ""), value.__name__)
    if type(value) in _CONSTANTS:
        return (type(value).__name__, repr(value))
    return uuid.uuid4().hex  # nobody knows what it is, so it is never the same


def _of_module(module: ModuleType, around: tuple[Any, ...]) -> Any:
    """Return what a module is to the function that names it: what this may take of it."""
    if module in around:
        return around.index(module)
    code = next(x for x in reversed(around) if isinstance(x, FunctionType)).__code__
    names = sorted({name for part in nested(code) for name in part.co_names})
    names = [name for name in names if hasattr(module, name)]
    around = (*around, module)
    return (module.__name__, names, [_meant(getattr(module, name), around) for name in names])


_CONSTANTS = (type(None), bool, int, float, complex, str, bytes)


def identity(node: ir.Node) -> tuple[Any, ...]:
    """Return what, besides its type, shape, dtype and arguments, tells a node from others."""
    if isinstance(node, ir.Leaf):
        return (id(node.snapshot), node.map)
    if isinstance(node, ir.Stored):
        return (id(node.source),)
    if isinstance(node, ir.Scalar):
        return (*_content(node), node.weak, node.parameter)
    return _told(node)


def _node(kind: str, shape: Any, dtype: Any, args: list[ir.Node], told: Sequence[Any]) -> ir.Node:
    """Return a node again."""
    if kind == "Leaf":
        return borrow_array(np.broadcast_to(told[0], shape), "parcel")
    cls: Any = getattr(ir, kind)
    left, inner, own = iter(told), iter(args), list[Any]()
    for field in dataclasses.fields(cls)[2:]:
        if field.name in _ARGS:
            own.append(next(inner) if _ARGS[field.name] else tuple(inner))
        else:
            value = next(left)
            known: Any = REDUCTIONS if issubclass(cls, ir.Reduce) else OPS
            own.append(known[value] if field.name == "op" and isinstance(value, str) else value)
    made: ir.Node = cls(shape, dtype, *own)
    return made
