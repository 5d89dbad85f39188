"""`XScalar`: one element as a value of its own, what NumPy calls an array scalar.

``v[0]``, ``A[i, j]`` and the elements met when a vector is iterated are values: what is written to
the array later does not change them, so swaps, accumulators and histories keep what they took.  A
value never changes, hashes as the equal Python number does, and is an array of rank 0 to whoever
asks for the standard's interface.

Between values and Python numbers operators compute at once, with the dtypes and the bits that
expressions have.  Four ways lead there, each tried before the next:

1. float64, int64 and bool by Python's own numbers, which are the same where nothing overflows;
2. NumPy's function for operand types that way 3 has met, where its dtype and bits are ours;
3. the reference of the op table, for operations that have the same bits on both engines;
4. the engine, for those that have not (powers, for example).

Together with an array or an expression a value is a constant of its dtype (NumPy's scalars are
"strong" in the same sense), so the result is lazy.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..dtypes.names import as_dtype, dtype_name, kind
from ..ir import build
from ..ir.node import Elementwise, Node
from ..operands.namespace import namespace
from ..operands.nodes import OneValue, is_number, is_operand
from ..operands.operators import Operators
from ..operands.representation import shows_dtype
from ..operands.ufuncs import ufunc_table
from ..ops.op import Op
from ..runtime import reference
from .expression import XExpression, apply

_new = object.__new__

#: Operand types an operation has met, at most: they are few unless somebody makes types.
_KEPT = 256

Way = Callable[..., Any]


def scalar_of(value: object) -> XScalar:
    """Return a NumPy scalar, or a Python number that stands for its dtype, as a value."""
    made = _new(XScalar)
    made._value = value
    return made


# --- the ways -------------------------------------------------------------------------------------


#: Operations that Python's numbers do as expressions do, where nothing overflows.
_PYTHON: dict[str, Way] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "positive": operator.pos,
    "abs": operator.abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}

_COMPARING = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))

#: Python's methods of float64.
_METHODS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "divide": ("__truediv__", "__rtruediv__"),
    "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"),
    "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"),
    "equal": ("__eq__", "__eq__"),
    "not_equal": ("__ne__", "__ne__"),
}

#: The classes of float64, int64 and bool values: NumPy's, and Python's that stand for them.
_REAL = (np.float64, float)
_WHOLE = (np.int64, int)
_IS_REAL = frozenset(_REAL)

#: Up to here an int is a float32, and a float64 rounds to a finite one.
_SINGLE_INT, _SINGLE_MOST = 1 << 24, float(np.finfo(np.float32).max)


def _of_integers(function: Way, dtype: Any, make: Any) -> Way:
    """Return a function of integers, which refuses what would wrap."""
    low, high = map(int, (np.iinfo(dtype).min, np.iinfo(dtype).max))

    def checked(*operands: object) -> Any:
        plain = [int(x) for x in operands]  # type: ignore[call-overload]
        result = function(*plain)
        if result.__class__ is bool:
            made = result
        elif low <= result <= high:
            made = make(result)
        else:
            raise OverflowError
        for number in plain:  # a Python int may be none of the dtype
            if not low <= number <= high:
                raise OverflowError
        return made

    return checked


def _of_singles(function: Way) -> Way:
    """Return a function of float32, computed in float64.

    Rounding twice is rounding once there: 53 bits are more than twice 24 and two.
    """

    def checked(*operands: Any) -> Any:
        plain = []
        for x in operands:
            if x.__class__ is int and not -_SINGLE_INT <= x <= _SINGLE_INT:
                raise OverflowError
            if x.__class__ is float:
                if not -_SINGLE_MOST <= x <= _SINGLE_MOST:
                    raise OverflowError
                x = np.float32(x)  # noqa: PLW2901
            plain.append(float(x))
        result = function(*plain)
        if result.__class__ is bool:
            return result
        if -_SINGLE_MOST <= result <= _SINGLE_MOST:
            return np.float32(result)
        raise OverflowError

    return checked


def _of_reals(function: Way) -> Way:
    """Return a function of float64."""
    return lambda *operands: function(*map(float, operands))


def _python_ways(op: Op) -> dict[tuple[type, ...], Way]:
    """Return an operation's first ways, by the types of its operands."""
    function = _PYTHON.get(op.name)
    if function is None:
        return {}
    # Python compares a float with an int exactly, NumPy converts the int.
    mixed = () if op.name in _COMPARING else (int,)
    ways = dict.fromkeys(_alike(op, _REAL, mixed), _of_reals(function))
    ways |= dict.fromkeys(_alike(op, (np.float32,), (float, *mixed)), _of_singles(function))
    if op.name != "divide":
        ways |= dict.fromkeys(_alike(op, _WHOLE), _of_integers(function, np.int64, int))
        for char in "bhiBHIQ":
            one: Any = np.dtype(char).type
            ways |= dict.fromkeys(_alike(op, (one,), (int,)), _of_integers(function, one, one))
    return ways


def _alike(op: Op, own: tuple[type, ...], weak: tuple[type, ...] = ()) -> list[tuple[type, ...]]:
    """Return the types of operands of one dtype, or with one Python number among them."""
    if op.arity == 1:
        return [(one,) for one in own]
    return [
        *[(one, other) for one in own for other in (*own, *weak)],
        *[(one, other) for one in weak for other in own],
    ]


def _by_numpy(op: Op) -> Way:
    def compute(*operands: object) -> Any:
        with np.errstate(all="ignore"):
            return op.numpy(*operands)

    return compute


def _computed(op: Op, operands: tuple[Any, ...], ways: dict[tuple[type, ...], Way]) -> Any:
    """Return an operation on NumPy's scalars and Python's numbers by the third or fourth way."""
    node = build.elementwise(op, *[_part(x) for x in operands])
    if not _is_exact(node):
        return XExpression(node).numpy()[()]
    with np.errstate(all="ignore"):
        result = _folded(node)[()]
        plain = all([not isinstance(x, np.generic) or x.dtype.isbuiltin == 1 for x in operands])
        if plain and op.scalars is None and len(ways) < _KEPT:
            again = op.numpy(*operands)
            if type(again) is type(result) and result.dtype.isbuiltin == 1:
                ways[tuple([x.__class__ for x in operands])] = _by_numpy(op)
    return result


def _part(operand: Any) -> Any:
    if isinstance(operand, np.generic):
        return build.scalar(operand, as_dtype(operand.dtype))
    return operand


def _is_exact(node: Elementwise) -> bool:
    """Tell whether NumPy has the bits of every engine."""
    return all([kind(arg.dtype) in node.op.exact for arg in node.args])


def _folded(node: Node) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
    """Return the values of a few operations on constants, by the reference."""
    return reference.value(node, [_folded(arg) for arg in node.args])


def compute(op: Op, operands: tuple[Any, ...], ways: dict[tuple[type, ...], Way]) -> XScalar:
    """Return an operation on values and numbers."""
    plain = tuple([x.value if isinstance(x, OneValue) else x for x in operands])
    return scalar_of(_computed(op, plain, ways))


_FAILS = (KeyError, ZeroDivisionError, OverflowError, TypeError)


def _binary(op: Op) -> tuple[Way, Way]:
    """Return an operator's method and its reflected method."""
    ways = _python_ways(op)
    # float64 is the usual case and has the fewest steps.
    real, back = [getattr(float, name) for name in _METHODS.get(op.name, ("__add__", "__add__"))]
    mixed = () if op.name in _COMPARING else (int,)
    takes = frozenset((*_REAL, *mixed)) if op.name in _METHODS else frozenset()

    def slowly(one: Any, other: Any, asked: Any) -> Any:
        if is_number(asked):
            return compute(op, (one, other), ways)
        if isinstance(asked, XExpression) or not is_operand(asked):
            return NotImplemented
        return apply(op, one, other)

    def forward(self: XScalar, other: Any) -> Any:
        mine = self._value
        theirs = other._value if other.__class__ is XScalar else other
        try:
            if theirs.__class__ in takes and mine.__class__ in _IS_REAL:
                result = real(mine, theirs)
            else:
                result = ways[mine.__class__, theirs.__class__](mine, theirs)
        except _FAILS:
            return slowly(self, other, other)
        made = _new(XScalar)
        made._value = result
        return made

    def reflected(self: XScalar, other: Any) -> Any:
        mine = self._value
        try:
            if other.__class__ in takes and mine.__class__ in _IS_REAL:
                result = back(mine, other)
            else:
                result = ways[other.__class__, mine.__class__](other, mine)
        except _FAILS:
            return slowly(other, self, other)
        made = _new(XScalar)
        made._value = result
        return made

    return forward, reflected


def _unary(op: Op) -> Way:
    """Return an operator's method."""
    ways = _python_ways(op)

    def method(self: XScalar) -> XScalar:
        mine = self._value
        try:
            return scalar_of(ways[(mine.__class__,)](mine))
        except _FAILS:
            return compute(op, (self,), ways)

    return method


class XScalar(OneValue, Operators, binary=_binary, unary=_unary):
    """One element of an array as a value: what a full integer index returns.

    Parameters
    ----------
    value : number, array of one element or XScalar
        The value.
    dtype : dtype, optional
        By default that of the value.

    Raises
    ------
    TypeError
        If there is not exactly one element.
    DTypeError
        If it is no number.

    Examples
    --------
    >>> import xarraylite as xl
    >>> v = xl.asarray([3.0, 1.0])
    >>> v[0], v[1] = v[1], v[0]
    >>> first = v[0]
    >>> v[0] = 7
    >>> first, first.dtype, first + 1
    (XScalar(1.0), dtype('float64'), XScalar(2.0))
    """

    __slots__ = ()

    #: NumPy's operators leave mixed expressions to us.
    __array_priority__ = 1000.0

    def __init__(self, value: object, dtype: object = None) -> None:
        made = XExpression._container(value, dtype)
        if made.size != 1:
            raise TypeError(f"XScalar: one element is needed, got the shape {made.shape}")
        self._value = made.numpy().reshape(())[()]

    # --- the array object ------------------------------------------------------------------------

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the value."""
        return as_dtype(self.value.dtype)

    @property
    def shape(self) -> tuple[()]:
        """No extents: the rank is 0."""
        return ()

    @property
    def strides(self) -> tuple[()]:
        """No strides: the rank is 0."""
        return ()

    @property
    def ndim(self) -> int:
        """Number of dimensions: 0."""
        return 0

    @property
    def size(self) -> int:
        """Number of elements: 1."""
        return 1

    @property
    def itemsize(self) -> int:
        """Bytes of the value."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of the value."""
        return self.dtype.itemsize

    @property
    def device(self) -> str:
        """Where the value is: always ``"cpu"``."""
        return "cpu"

    def to_device(self, device: str, /, *, stream: None = None) -> XScalar:
        """Return the value itself; there is only the CPU.

        Raises
        ------
        ValueError
            For any other device.
        """
        self._array().to_device(device, stream=stream)
        return self

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return the array API namespace: this package.

        Raises
        ------
        ValueError
            For an unknown version of the standard.
        """
        return namespace(api_version)

    @property
    def T(self) -> XScalar:
        """The value itself: there are no dimensions to reverse."""
        return self

    @property
    def mT(self) -> NoReturn:
        """Refused: there are no two dimensions to exchange."""
        return self._array().mT  # type: ignore[no-any-return]

    def _array(self) -> Any:
        """Return the value in a container of its own."""
        return XExpression._container(self.value)

    def numpy(self) -> np.ndarray[tuple[int, ...], np.dtype[Any]]:
        """Return the value as a NumPy array of rank 0."""
        return np.asarray(self.value)

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Any:
        """Return the value as a NumPy array; ``copy=False`` is refused, as there is no memory."""
        if copy is False:
            raise ValueError("an XScalar has no memory to share: its value cannot be had uncopied")
        return np.asarray(self.value, dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **kwargs: Any) -> Any:
        """Compute ``np.add(value, 1)`` at once; with arrays, as theirs do."""
        op = ufunc_table().get(ufunc)
        if op is not None and method == "__call__" and not kwargs:
            if all([is_number(x) for x in inputs]):
                return compute(op, inputs, {})
            return apply(op, *inputs)
        arrays = [self._array() if x is self else x for x in inputs]
        return arrays[0].__array_ufunc__(ufunc, method, *arrays, **kwargs)

    def __dlpack__(self, **options: Any) -> Any:
        """Export a copy of the value for DLPack consumers."""
        return self._array().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return DLPack's name of the CPU."""
        return (1, 0)

    def __getitem__(self, key: Any) -> Any:
        """Return the value itself under ``[()]``, and arrays of it for ``...`` and ``newaxis``."""
        return self if key == () and type(key) is tuple else self._array()[key]

    def __len__(self) -> int:
        """Refuse: a value has no extents."""
        raise TypeError("len() of an array of rank 0")

    # --- Python's numbers ------------------------------------------------------------------------

    def item(self) -> Any:
        """Return the value as a Python number."""
        return self.value.item()

    def tolist(self) -> Any:
        """Return the value as a Python number."""
        return self.value.item()

    def __float__(self) -> float:
        """Return a real value as a float."""
        return float(self._value)

    def __int__(self) -> int:
        """Return a real value as an int."""
        return int(self._value)

    def __bool__(self) -> bool:
        """Return whether the value is not zero."""
        return bool(self._value)

    def __complex__(self) -> complex:
        """Return the value as a complex."""
        return complex(self._value)

    def __index__(self) -> int:
        """Return an integer as an int.

        Raises
        ------
        TypeError
            For other dtypes.
        """
        if kind(self.dtype) not in "iu":
            raise TypeError(f"{dtype_name(self.dtype)}[] is not an integer of rank 0")
        return int(self._value)

    def __hash__(self) -> int:
        """Return the hash of the equal Python number."""
        return hash(self._value)

    def __round__(self, digits: int | None = None) -> Any:
        """Return the nearest int, half to even, or the value rounded to decimal places."""
        if digits is None:
            return round(self.item())
        wide = np.asarray(self.value, None if self.dtype.isbuiltin == 1 else np.float32)
        with np.errstate(all="ignore"):
            return scalar_of(reference.convert(np.asarray(np.round(wide, digits)), self.dtype)[()])

    def __format__(self, spec: str) -> str:
        """Return the value formatted as NumPy's scalars and Python's numbers are."""
        value = self.value
        return format(value if value.dtype.isbuiltin == 1 or not spec else value.item(), spec)

    def __str__(self) -> str:
        return str(self.value)

    def __repr__(self) -> str:
        suffix = f", dtype={dtype_name(self.dtype)}" if shows_dtype(self.dtype) else ""
        return f"XScalar({str(self.value).strip('()')}{suffix})"

    def __copy__(self) -> XScalar:
        """Return the value itself: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> XScalar:
        """Return the value itself: it never changes."""
        return self

    def __reduce__(self) -> Any:
        """Pickle the number and its dtype's name."""
        return XScalar, (self.item(), dtype_name(self.dtype))
