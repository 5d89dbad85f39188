"""The lazy handle: what an operator or function returns.

`XExpression` wraps one immutable node.  It has the array object interface of the standard, so it
can be passed wherever an array is expected; nothing is computed until it is assigned, evaluated
with `xl.eval`, or asked for a Python value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, overload

import numpy as np

from .._errors import IndexRangeError, NotWritableError
from ..dtypes.names import as_dtype, dtype_name, int64, is_narrow_int, kind
from ..engine import evaluate as engine
from ..expr import build
from ..expr.build import describe
from ..expr.node import Elementwise, Iota, Leaf, Node, Reduce, Scalar
from ..layout.strided import Strided
from ..ops.op import Op
from ..ops.table import OPS
from ..shape import transform as steps
from ..shape.index import Selection, parse_index
from ..storage.arrays import read
from ..storage.buffer import Buffer
from . import products
from .labelled import XLabelled
from .namespace import namespace
from .operands import HasNode, Lifted, as_node, as_operand, is_masked, is_operand
from .operators import Operators, unpicklable
from .tracing import remember_index

NumpyArray = np.ndarray[tuple[int, ...], np.dtype[Any]]


def apply(op: Op, *operands: object) -> XExpression:
    """Return the lazy application of ``op`` to whatever may stand in an expression."""
    for operand in operands:
        if isinstance(operand, Lifted):
            lifted: XExpression = operand.lift(op, operands)
            return lifted
    return XExpression(build.elementwise(op, *[as_operand(x, op.name) for x in operands]))


def _binary(op: Op) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return an operator's method and its reflected method."""
    name = op.name

    def forward(self: XExpression, other: object) -> Any:
        if isinstance(other, HasNode):
            return XExpression(build.elementwise(op, self.node, other.node))
        if not is_operand(other):
            return NotImplemented
        return XExpression(build.elementwise(op, self.node, as_operand(other, name)))

    def reflected(self: XExpression, other: object) -> Any:
        if not is_operand(other):
            return NotImplemented
        return XExpression(build.elementwise(op, as_operand(other, name), self.node))

    return forward, reflected


def _unary(op: Op) -> Callable[..., Any]:
    """Return an operator's method."""

    def method(self: XExpression) -> XExpression:
        return XExpression(build.elementwise(op, self.node))

    return method


class XExpression(HasNode, Operators, binary=_binary, unary=_unary):
    """A lazy array: a shape, a dtype, and how to compute the elements.

    Parameters
    ----------
    node : Node
        The expression.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([1.0, 2.0, 3.0])
    >>> e = a * 2 + 1
    >>> e.shape, str(e.dtype)
    ((3,), 'float64')
    >>> xl.eval(e)
    XArray([3., 5., 7.])
    """

    __slots__ = ("_node",)

    #: NumPy's operators leave mixed expressions to us.
    __array_priority__ = 1000.0

    #: The class of evaluated results, which is defined later than this one.
    _container: ClassVar[Any]

    _node: Node

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def node(self) -> Node:
        """The immutable node behind this handle."""
        return self._node

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the result."""
        return self.node.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the result."""
        return self.node.dtype

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Where the result will be: always ``"cpu"``."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: None = None) -> XExpression:
        """Return the expression itself; there is only the CPU.

        Raises
        ------
        ValueError
            For any other device.
        """
        if device != "cpu" or stream is not None:
            raise ValueError(f"to_device: only 'cpu' without a stream, got {device!r}, {stream!r}")
        return self

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API namespace: this package.

        Raises
        ------
        ValueError
            For an unknown version of the standard.
        """
        return namespace(api_version)

    # --- views --------------------------------------------------------------------------------

    @property
    def T(self) -> XExpression:
        """The expression with its dimensions reversed."""
        axes = tuple(range(self.ndim))[::-1]
        return self._view(steps.permute(self.shape, axes))

    @property
    def mT(self) -> XExpression:
        """The expression with its last two dimensions exchanged."""
        build.require_rank(self.node, 2, "mT")
        axes = (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)
        return self._view(steps.permute(self.shape, axes))

    def _view(self, step: steps.Transform) -> XExpression:
        return XExpression(build.view(self.node, step))

    def _reshaped(self, shape: tuple[int, ...]) -> XExpression:
        return XExpression(build.reshape(self.node, shape))

    @overload
    def __getitem__(self, key: str) -> XLabelled: ...

    @overload
    def __getitem__(self, key: Any) -> XExpression: ...

    def __getitem__(self, key: Any) -> XExpression | XLabelled:
        """Return the elements that ``key`` selects, lazily; a text gives dimensions labels.

        Raises
        ------
        IndexRangeError
            For an index out of range or of an unsupported kind.
        ShapeError
            For labels that are malformed, or not one per dimension.
        """
        if isinstance(key, str):
            return XLabelled.of(self.node, key, self)
        selection = parse_index(key, self.shape, is_index_array)
        viewed = self._view(selection.transform)
        if selection.take is None:
            return viewed
        return XExpression(gather(viewed.node, selection))

    def __setitem__(self, key: Any, value: object) -> None:
        """Refuse: an expression owns no memory."""
        raise NotWritableError(
            f"cannot assign to the lazy expression {describe(self.node)}: it owns no memory; "
            "evaluate it with xl.eval first"
        )

    def __len__(self) -> int:
        """Return the extent of the first dimension."""
        if not self.shape:
            raise TypeError("len() of an array of rank 0")
        return self.shape[0]

    def __iter__(self) -> Iterator[XExpression]:
        """Yield the sub-arrays along the first dimension."""
        return (self[i] for i in range(len(self)))

    # --- values -------------------------------------------------------------------------------

    def numpy(self) -> NumpyArray:
        """Evaluate into a new NumPy array."""
        buffer, layout = engine.evaluate(self.node, tiled=False)
        return read(buffer, self.dtype, layout)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> NumpyArray:
        """Return the values as a NumPy array; ``copy=False`` is refused for a lazy result."""
        if copy is False:
            raise ValueError(f"{describe(self.node)} is lazy: its values cannot be had uncopied")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: Any) -> Any:
        """Let ``np.add(numpy_array, expression)`` mean the operation of the op table.

        Where there is none, or another method or ``out=`` is asked for, NumPy computes on the
        values, and the result is NumPy's.
        """
        if ufunc is np.matmul and method == "__call__" and not kwargs:
            left, right = [as_node(x, "matmul") for x in inputs]
            return self._container._filled(products.matmul(left, right))
        op = ufunc_table().get(ufunc)
        if op is not None and method == "__call__" and not kwargs:
            return apply(op, *inputs)
        if any(isinstance(out, XExpression) for out in kwargs.get("out", ())):
            return NotImplemented
        values = [np.asarray(x) if isinstance(x, XExpression) else x for x in inputs]
        return getattr(ufunc, method)(*values, **kwargs)

    def __copy__(self) -> XExpression:
        """Return the expression itself: it is immutable."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> XExpression:
        """Return the expression itself: it is immutable, and keeps the values it means."""
        return self

    def __reduce__(self) -> Any:
        """Refuse: a lazy expression refers to memory of this process.

        Raises
        ------
        TypeError
            Always; containers pickle.
        """
        raise unpicklable(describe(self.node))

    def item(self) -> Any:
        """Return the only element as a Python scalar.

        Raises
        ------
        TypeError
            If there is not exactly one element.
        """
        if self.size != 1:
            raise TypeError(f"only arrays of one element have a Python value, not {self.shape}")
        return self.numpy().reshape(()).item()

    def _zero_rank(self, what: str) -> Any:
        if self.shape:
            raise TypeError(f"{what}: only arrays of rank 0 convert, not shape {self.shape}")
        return self.item()

    def __bool__(self) -> bool:
        """Return the truth of a 0-d array."""
        return bool(self._zero_rank("bool"))

    def __float__(self) -> float:
        """Return a real 0-d array as a float."""
        return float(self._zero_rank("float"))

    def __int__(self) -> int:
        """Return a real 0-d array as an int."""
        return int(self._zero_rank("int"))

    def __complex__(self) -> complex:
        """Return a 0-d array as a complex."""
        return complex(self._zero_rank("complex"))

    def __index__(self) -> int:
        """Return an integer 0-d array as an int."""
        if kind(self.dtype) not in "iu" or self.shape:
            raise TypeError(f"{describe(self.node)} is not an integer of rank 0")
        return int(self.item())

    def tolist(self) -> Any:
        """Return the values as nested lists of Python scalars."""
        return self.numpy().tolist()

    def summary(self) -> str:
        """Return kind, dtype and shape, as error messages show them."""
        return describe(self.node)

    def __repr__(self) -> str:
        """Describe the expression; never computes it."""
        name = _NAMES.get(type(self.node), lambda node: type(node).__name__)(self.node)
        return f"<{name}: {dtype_name(self.dtype)}{list(self.shape)}, lazy>"

    # --- operators ----------------------------------------------------------------------------

    def __matmul__(self, other: object) -> Any:
        """Return the matrix product, evaluated; see `xl.matmul`."""
        if not is_operand(other):
            return NotImplemented
        return self._container._filled(products.matmul(self.node, as_node(other, "matmul")))

    def __rmatmul__(self, other: object) -> Any:
        """Return the matrix product of another operand and this one, evaluated."""
        if not is_operand(other):
            return NotImplemented
        return self._container._filled(products.matmul(as_node(other, "matmul"), self.node))

    def _rounded(self) -> XExpression:
        return XExpression(build.elementwise(OPS["round"], self.node))

    def astype(self, dtype: object, /, *, copy: bool = True) -> XExpression:
        """Return the elements converted to ``dtype``, lazily; see `xl.astype`."""
        wanted = as_dtype(dtype)
        return self if wanted == self.dtype else XExpression(build.cast(self.node, wanted))

    def __dlpack__(self, **options: Any) -> Any:
        """Export the values (a container's own memory, uncopied) for DLPack consumers."""
        return np.asarray(self).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of the CPU."""
        return (1, 0)


_NAMES: dict[type[Node], Callable[[Any], str]] = {
    Elementwise: lambda node: f"XFunction {node.op.name}",
    Reduce: lambda node: f"XReducer {node.op.name}",
    Leaf: lambda node: "XView",
    Scalar: lambda node: f"XScalar {node.value}",
    Iota: lambda node: "XGenerator",
}

_UFUNCS: dict[np.ufunc, Op] = {}


def ufunc_table() -> dict[np.ufunc, Op]:
    """Return which operation stands for which NumPy ufunc: an explicit column of the op table."""
    if not _UFUNCS:
        for op in OPS.values():
            named = getattr(np, op.name, None)  # np.pow, whose reference is no ufunc
            for ufunc in (op.numpy, named):
                if isinstance(ufunc, np.ufunc):
                    _UFUNCS.setdefault(ufunc, op)
    return _UFUNCS


# --- gathers -----------------------------------------------------------------------------------


def is_index_array(item: object) -> bool:
    """Tell whether an index item is an integer array (lists count, 0-d arrays do not)."""
    if isinstance(item, list):
        return True
    return isinstance(item, XExpression | np.ndarray) and item.ndim > 0


def gather(node: Node, selection: Selection) -> Node:
    """Return ``node`` (already basic-indexed) read through the selection's integer array."""
    axis = selection.take_axis
    index = index_leaf(selection.take, node.shape[axis])
    remember_index(index, selection.take, node.shape[axis])
    taken = build.gather(node, axis, index)
    if not selection.take_front:
        return taken
    rank = len(index.shape)
    front = range(axis, axis + rank)
    rest = [k for k in range(len(taken.shape)) if k not in front]
    return build.view(taken, steps.permute(taken.shape, [*front, *rest]))


def index_leaf(index: object, extent: int) -> Leaf:
    """Return an integer array as checked, non-negative int64 in memory of its own.

    Raises
    ------
    IndexRangeError
        If it is no integer array, or a position is out of range.
    """
    values = _index_values(index)
    if values.dtype.kind not in "iu":
        raise IndexRangeError(
            f"index array of dtype {values.dtype} and shape {values.shape}: only integer arrays "
            "are supported"
        )
    if values.size and not (-extent <= int(values.min()) and int(values.max()) < extent):
        raise IndexRangeError(
            f"index array holds {int(values.min())} to {int(values.max())}, out of range for an "
            f"extent of {extent}"
        )
    layout = Strided.row_major(values.shape)
    buffer = Buffer.allocate(values.size * int64.itemsize)
    positions = buffer.view(int64, layout)
    np.copyto(positions, values.astype(np.int64, copy=False))
    np.add(positions, extent, out=positions, where=positions < 0)
    return Leaf(values.shape, int64, buffer.reading(), layout)


def _index_values(index: object) -> NumpyArray:
    """Return an index array's values, which nobody else can change: they are checked next."""
    if isinstance(index, np.ndarray) and is_masked(index):
        raise IndexRangeError("index array: got a masked array; fill it first, as masks are lost")
    try:
        values = np.array(index.numpy() if isinstance(index, XExpression) else index)
    except ValueError as error:
        raise IndexRangeError(f"index array: nested lists are ragged ({error})") from None
    empty = not values.size and isinstance(index, list)
    return values.astype(np.int64) if empty or is_narrow_int(values.dtype) else values
