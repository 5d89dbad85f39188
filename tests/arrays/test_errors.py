"""Bad input: the promised error, naming operation, shapes and dtypes; nothing is changed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

A = xl.asarray(np.arange(6.0).reshape(2, 3))
B = xl.asarray(np.arange(4).reshape(4))
C = xl.asarray([1 + 2j])
FIXED = xl.XTensorFixed[xl.float64, (2, 2)]
FROZEN = np.arange(3.0)
FROZEN.flags.writeable = False
R = xl.adapt(FROZEN)
W = xl.as_strided(xl.asarray([1.0]), (4,), (0,))

Case = tuple[Callable[[], Any], type[Exception], str]

CASES: dict[str, Case] = {
    # shapes
    "operator": (
        lambda: A + B,
        xl.BroadcastError,
        r"add\(float64\[2, 3\], int64\[4\]\).*extents 3 and 4 at axis 1",
    ),
    "function": (
        lambda: xl.where(A > 0, A, B),
        xl.BroadcastError,
        r"where\(bool\[2, 3\], float64\[2, 3\], int64\[4\]\)",
    ),
    "broadcast_to": (
        lambda: xl.broadcast_to(A, (3, 2)),
        xl.BroadcastError,
        r"broadcast_to: float64\[2, 3\].*\(3, 2\)",
    ),
    "broadcast_arrays": (lambda: xl.broadcast_arrays(A, B), xl.BroadcastError, r"\(2, 3\), \(4,\)"),
    "reshape": (lambda: xl.reshape(A, (4, 2)), xl.ShapeError, r"reshape: 6 elements.*\(4, 2\)"),
    "two unknowns": (lambda: xl.reshape(A, (-1, -1)), xl.ShapeError, "only one extent may be -1"),
    "concat": (
        lambda: xl.concat([A, A.T]),
        xl.ShapeError,
        r"concat\(float64\[2, 3\], float64\[3, 2\]\).*axis 0",
    ),
    "concat of nothing": (lambda: xl.concat([]), xl.ShapeError, "concat: at least one"),
    "stack": (lambda: xl.stack([A, B]), xl.ShapeError, r"stack\(float64\[2, 3\], int64\[4\]\)"),
    "squeeze": (lambda: xl.squeeze(A, 0), xl.ShapeError, r"squeeze\(float64\[2, 3\]\).*extent 2"),
    "min of nothing": (lambda: xl.min(A[:0]), xl.ShapeError, r"min\(float64\[0, 3\]\).*initial="),
    "ragged": (lambda: xl.asarray([[1], [2, 3]]), xl.ShapeError, "asarray|XArray.*ragged"),
    # axes
    "axis": (lambda: xl.sum(A, axis=2), xl.AxisError, "sum: axis 2 is out of range for rank 2"),
    "axis twice": (lambda: xl.max(A, axis=(1, -1)), xl.AxisError, r"max: axis \(1, -1\).*twice"),
    "axis type": (lambda: xl.sum(A, axis="x"), xl.AxisError, "axis"),
    "flip": (lambda: xl.flip(A, axis=5), xl.AxisError, "flip: axis 5.*rank 2"),
    "permute": (lambda: xl.permute_dims(A, (0, 0)), xl.AxisError, "permute_dims.*twice"),
    "permute too few": (lambda: xl.permute_dims(A, (0,)), xl.AxisError, "no permutation of 2"),
    "expand": (lambda: xl.expand_dims(A, axis=4), xl.AxisError, "expand_dims: axis 4"),
    "moveaxis": (lambda: xl.moveaxis(A, 0, 3), xl.AxisError, "moveaxis: axis 3"),
    "mT": (lambda: B.mT, xl.AxisError, r"mT\(int64\[4\]\): rank must be at least 2"),
    "concat axis": (lambda: xl.concat([A, A], axis=2), xl.AxisError, "concat: axis 2"),
    # named as they were called
    "vstack": (lambda: xl.vstack([A, B]), xl.ShapeError, r"vstack\(float64.*int64"),
    "transpose": (lambda: xl.transpose(A, (0, 0)), xl.AxisError, "transpose: axis.*twice"),
    "clip": (lambda: xl.clip(A, B, None), xl.BroadcastError, r"clip\(float64.*int64"),
    "isclose": (lambda: xl.isclose(A, A.T), xl.BroadcastError, r"isclose\("),
    "allclose": (lambda: xl.allclose(A, B), xl.BroadcastError, r"allclose\(float64.*int64"),
    "allclose of text": (lambda: xl.allclose(A, "a"), xl.DTypeError, "allclose: got str"),
    "divmod": (lambda: xl.divmod(A, B), xl.BroadcastError, r"divmod\(float64.*int64"),
    "divmod as an operator": (lambda: divmod(A, B), xl.BroadcastError, r"divmod\(float64.*int64"),
    "divmod of complex": (lambda: xl.divmod(A, C), xl.DTypeError, r"divmod\(float64, complex"),
    "append": (lambda: xl.append(A, B, 0), xl.ShapeError, r"append\(float64.*int64"),
    "fft axis": (lambda: xl.fft.fft(B, axis=2), IndexError, "fft.*an axis is out of range"),
    # indices
    "index": (lambda: A[2], xl.IndexRangeError, r"index 2.*axis 0 of extent 2 \(shape \(2, 3\)\)"),
    "indices": (lambda: A[0, 0, 0], xl.IndexRangeError, r"3 given for shape \(2, 3\)"),
    "ellipses": (lambda: A[..., ...], xl.IndexRangeError, "one ellipsis"),
    "float index": (lambda: A[1.0], xl.IndexRangeError, "1.0 of type float"),
    "step": (lambda: A[::0], ValueError, "step must not be zero"),
    "bound": (lambda: A[1.5:], TypeError, "bounds and step must be integers"),
    "slice": (lambda: A["a":], xl.IndexRangeError, "integers or None"),
    "gather": (lambda: A[[0, 2]], xl.IndexRangeError, "0 to 2, out of range for an extent of 2"),
    "float gather": (lambda: A[np.array([0.5])], xl.IndexRangeError, "float64"),
    "two arrays": (lambda: A[[0], [3]], xl.IndexRangeError, r"float64\[2, 3\]: index 3 is out"),
    "unlike arrays": (lambda: A[[0, 1], [0, 1, 2]], xl.IndexRangeError, "shape mismatch"),
    "mask": (lambda: A[[True, False, True]], xl.IndexRangeError, "float64.*boolean index did not"),
    "put": (lambda: A.__setitem__(A > 0, [1, 2, 3, 4]), xl.BroadcastError, "cannot assign 4"),
    "put of arrays": (lambda: A.__setitem__(([0], [3]), 1), xl.IndexRangeError, "index 3"),
    "two names": (lambda: A.sum(0, axis=0), TypeError, "sum: got 'axis' by position and"),
    "two axes": (lambda: A.transpose(1, 0, axes=(0, 1)), TypeError, "transpose: got 'axes' by po"),
    "arguments": (lambda: A.clip(0, 1, None, 3), TypeError, "clip: takes at most 3 arguments"),
    "copy order": (lambda: A.copy("X"), ValueError, "copy: order must be one of"),
    "format": (lambda: f"{A:.2f}", TypeError, "'.2f' formats one value, not XArray float64"),
    "text": (lambda: A["name"], xl.ShapeError, "'name' has 1 labels, the array has 2 dim"),
    # dtypes
    "subtract bools": (
        lambda: (A > 0) - (A > 1),
        xl.DTypeError,
        r"subtract\(bool, bool\).*integers",
    ),
    "bits of floats": (lambda: A & A, xl.DTypeError, r"bitwise_and\(float64, float64\)"),
    "floor of complex": (lambda: xl.floor(C), xl.DTypeError, r"floor\(complex128\)"),
    "ragged operand": (lambda: A + [[1], [2, 3]], xl.ShapeError, "add: nested lists are ragged"),
    "list of text": (lambda: xl.add(A, ["a"]), xl.DTypeError, "add: got a list of <U1"),
    "operand": (lambda: xl.add(A, {1}), xl.DTypeError, "add: got set.*xl.asarray"),
    "text operand": (lambda: xl.sin("a"), xl.DTypeError, "sin: got str"),
    "objects": (lambda: xl.XArray([object()]), xl.DTypeError, "object"),
    "objects beside numbers": (lambda: xl.add(B, [None, 1, 2, 3]), xl.DTypeError, "list of object"),
    "missing beside an object": (lambda: xl.array([xl.missing, None]), xl.DTypeError, "object"),
    "array beside an object": (lambda: xl.array([B, None]), xl.ShapeError, "ragged"),
    "ragged objects": (lambda: xl.array([[None, 2], [3]]), xl.ShapeError, "ragged"),
    "object array": (lambda: A + np.array([None, 1, 2]), xl.DTypeError, "object"),
    "text array": (lambda: xl.XArray(["a", "b"]), xl.DTypeError, "U1|text"),
    "dates": (lambda: xl.XArray(np.array(["2020"], "M8[Y]")), xl.DTypeError, "M8|datetime|dates"),
    "records": (lambda: xl.XArray(np.zeros(2, "i4,f4")), xl.DTypeError, "f0|V8|elements"),
    "long double": (lambda: xl.zeros(2, dtype=np.longdouble), xl.DTypeError, "longdouble|float128"),
    "byte order": (lambda: xl.adapt(np.ones(2, ">f8")), xl.DTypeError, "byte order.*astype"),
    "dtype name": (lambda: xl.zeros(2, dtype="floaty"), xl.DTypeError, "'floaty'"),
    "large int": (lambda: xl.asarray([1], dtype="u1") + 256, OverflowError, "256.*uint8"),
    "huge int": (lambda: A + 2**2000, OverflowError, "int"),
    "negative power of no sign": (lambda: B.astype("u1") ** -1, OverflowError, "-1 out of bounds"),
    "negative power": (lambda: B**-1, ValueError, r"pow\(int64, -1\).*negative integer powers"),
    # writing
    "update of an expression": (
        lambda: operator.iadd(B + 1, 0.5),
        xl.CastError,
        "in-place add.*float64.*int64",
    ),
    "growing expression": (
        lambda: operator.iadd(A[0] + 1, A),
        xl.BroadcastError,
        r"shape \(2, 3\)",
    ),
    "read-only": (
        lambda: R.__setitem__(..., 0),
        xl.ReadOnlyError,
        r"X\w+ float64\[3\] is read-only",
    ),
    "fill": (lambda: A.fill([1, 2, 3]), ValueError, r"fill\(XArray float64\[2, 3\]\): one value"),
    "read-only view": (lambda: R[1:].fill(0), xl.ReadOnlyError, r"float64\[2\]"),
    "repeated": (lambda: W.__setitem__(..., 0), xl.OverlapError, r"strides \(0,\).*more than once"),
    "assign shape": (
        lambda: A.__setitem__(0, B),
        xl.BroadcastError,
        r"int64\[4\]|float64\[4\] cannot be broadcast into XView float64\[3\]",
    ),
    "in-place dtype": (
        lambda: xl.asarray([1]).__iadd__(0.5),
        xl.CastError,
        r"in-place add.*float64\[1\].*int64.*same_kind",
    ),
    "in-place shape": (
        lambda: B.__iadd__(xl.ones((2, 4), dtype=int)),
        xl.BroadcastError,
        "in-place",
    ),
    "fixed": (lambda: FIXED([1.0, 2]), xl.ShapeError, r"fixed shape \(2, 2\).*\(2,\)"),
    "fixed assign": (lambda: FIXED([[1, 2], [3, 4]]).assign(A), xl.ShapeError, r"\(2, 3\)"),
    "tensor": (lambda: xl.XTensor[xl.float64, 1](A), xl.ShapeError, r"rank 1.*\(2, 3\)"),
    # sizes
    "2**62": (lambda: xl.zeros(2**62), xl.SizeError, str(2**62)),
    "2**62 by two": (lambda: xl.empty((2**31, 2**31)), xl.SizeError, str(2**31)),
    "2**65": (lambda: xl.empty((2**32, 2**33)), xl.SizeError, r"2\*\*63"),
    "full": (lambda: xl.full((2**61,), 1.0), xl.SizeError, "full: shape .* needs"),
    "broadcast": (
        lambda: xl.eval(xl.broadcast_to(xl.ones(1), (2**62,)) + 1),
        xl.SizeError,
        str(2**65),
    ),
    "outer": (
        lambda: xl.eval(
            xl.broadcast_to(xl.ones(1), (2**40, 1)) * xl.broadcast_to(xl.ones(1), (1, 2**40))
        ),
        xl.SizeError,
        r"multiply\(float64\[1099511627776, 1\].*more than 2\*\*63 - 1 elements",
    ),
    "arange": (lambda: xl.arange(2**62), xl.SizeError, "arange: shape .* needs"),
    "eye": (lambda: xl.eye(2**31), xl.SizeError, "eye: shape .* needs"),
    "negative": (lambda: xl.zeros((2, -1)), xl.ShapeError, "zeros.*-1"),
    "rank": (lambda: xl.zeros((1,) * 65), xl.ShapeError, "rank 65.*64"),
    "float extent": (lambda: xl.zeros(2.5), xl.ShapeError, "2.5"),
    # the rest
    "device": (lambda: xl.zeros(2, device="gpu"), ValueError, "'gpu'"),
    "setting": (lambda: xl.config(speed=1), ValueError, "'speed'.*threads"),
    "engine": (lambda: xl.config(engine="fast"), ValueError, "'fast'"),
    "threads": (lambda: xl.config(threads=0), ValueError, "at least 1"),
    "setting's type": (lambda: xl.config(threads="2"), ValueError, "threads takes int"),
    "no function": (lambda: xl.jit(5), xl.DTypeError, "jit: a function is needed, got 5"),
    "two extents": (lambda: xl.zeros(2, 3), xl.DTypeError, "3 is not .*one argument, a tuple"),
    "no operands": (xl.result_type, ValueError, "no operands given"),
    "no copy": (lambda: xl.asarray([1], copy=False), ValueError, "without a copy"),
    "step 0": (lambda: xl.arange(0, 1, 0), ZeroDivisionError, "step must not be 0"),
    "attribute": (lambda: xl.nothing, AttributeError, "'nothing'"),
    "too small an out": (lambda: xl.add(B, B, out=xl.ones(3)), ValueError, r"add: .*\(3,\)"),
    "a mask of numbers": (lambda: xl.sum(A, where=A), TypeError, "sum: where must be bool, got f"),
    "where of numbers": (
        lambda: xl.add(B, B, where=B),
        TypeError,
        "add: where must be bool, got int64",
    ),
    "too long a mask": (lambda: xl.sum(A, where=xl.ones(4, bool)), ValueError, r"sum: .*\(2, 3\)"),
    "a matrix for a vector": (lambda: xl.vander(A), ValueError, r"vander\(float64\[2, 3\]\): "),
    "complex number": (lambda: float(C[0]), TypeError, "complex|float"),
    "truth": (lambda: bool(A), ValueError, r"bool\(XArray float64\[2, 3\]\).*6 elements.*any"),
}


@together("name", CASES)
def test_error(name: str) -> None:
    call, kind, message = CASES[name]
    before = [np.asarray(x).tobytes() for x in (A, B, C, R, W)]
    with pytest.raises(kind, match=message):
        call()
    assert [np.asarray(x).tobytes() for x in (A, B, C, R, W)] == before
    assert (A.shape, B.shape, A.strides) == ((2, 3), (4,), (3, 1))


class OfUser(xl.ShapeError):
    """An error with a constructor of its own."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        super().__init__(f"{name}: {shape}")


class Unreadable:
    """What refuses to be an array."""

    def __array__(self, *args: object, **options: object) -> None:
        raise OfUser("reader", (2, 3)) from OSError("disk")


@pytest.mark.once
@pytest.mark.parametrize("name", ["vstack", "concat", "sum", "matmul"])
def test_errors_of_others_and_their_causes_stay_what_they_are(name: str) -> None:
    args = (Unreadable(), A) if name == "matmul" else (Unreadable(),)
    with pytest.raises(OfUser, match=r"^reader: \(2, 3\)$") as found:
        getattr(xl, name)(*([args] if name in ("vstack", "concat") else args))
    assert isinstance(found.value.__cause__, OSError)


def test_errors_come_when_the_expression_is_written() -> None:
    """None of these evaluates anything."""
    late = [
        lambda: A + B,
        lambda: xl.sum(A, axis=3),
        lambda: (A + 1)[5],
        lambda: xl.reshape(A * 2, (5,)),
        lambda: xl.concat([A + 1, B]),
    ]
    with xl.config(max_result_bytes=1):  # evaluation would raise SizeError
        for write in late:
            with pytest.raises((xl.ShapeError, xl.IndexRangeError)) as caught:
                write()
            assert not isinstance(caught.value, xl.SizeError)


def test_classes_are_those_of_python_too() -> None:
    pairs = [
        (xl.ShapeError, ValueError),
        (xl.BroadcastError, xl.ShapeError),
        (xl.AxisError, IndexError),
        (xl.AxisError, np.exceptions.AxisError),
        (xl.SizeError, OverflowError),
        (xl.DTypeError, TypeError),
        (xl.CastError, xl.DTypeError),
        (xl.LayoutError, ValueError),
        (xl.IndexRangeError, IndexError),
        (xl.ReadOnlyError, ValueError),
        (xl.NotWritableError, TypeError),
        (xl.OverlapError, ValueError),
        (xl.NoAliasError, RuntimeError),
        (xl.StaleOperandError, RuntimeError),
        (xl.TracedValueError, TypeError),
        (xl.FormatError, ValueError),
    ]
    for ours, base in pairs:
        assert issubclass(ours, base)
        assert issubclass(ours, xl.XarrayliteError)


WRITES: list[Callable[[Any], Any]] = [
    lambda a: a.assign(object()),
    lambda a: a.assign([[1], [2, 3]]),
    lambda a: a.__setitem__(..., xl.ones(5)),
    lambda a: a.__setitem__(slice(9, 0), "text"),
    lambda a: a.__setitem__(7, 0),
    lambda a: a.__setitem__([0, 9], 0),
    lambda a: a.__setitem__([0, 1], [1, 2, 3]),
    lambda a: a.__setitem__(..., np.array([{}] * 3)),
    lambda a: a.__iadd__(xl.ones((2, 3))),
    lambda a: a.__iand__(1),
    lambda a: a.__iadd__(1j),
    lambda a: a.resize_((2, -2)),
    lambda a: a.resize_(2**62),
    lambda a: a.reshape_((2, 2)),
    lambda a: a.transpose_((1, 0)),
    lambda a: a.assign(xl.broadcast_to(xl.ones(1), (2**50,))),
    lambda a: xl.noalias(a).assign(xl.broadcast_to(xl.ones(1), (2**50,))),
]


@together("number", range(len(WRITES)))
def test_a_failed_write_changes_nothing(number: int) -> None:
    a = xl.asarray([1.0, 2.0, 3.0])
    waiting = a + 1
    address = a.buffer.address
    with pytest.raises((ValueError, TypeError, IndexError, OverflowError)):
        WRITES[number](a)
    assert (a.tolist(), a.shape, a.strides) == ([1, 2, 3], (3,), (1,))
    assert (a.buffer.address, a.static_layout) == (address, xl.row_major)
    assert xl.eval(waiting).tolist() == [2, 3, 4]
