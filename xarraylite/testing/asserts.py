"""Comparing results: the same bits, or not too many representable numbers apart.

The distance of two floats of one type is counted in representable numbers between them (units
in the last place, across powers of two and through zero).  Both zeros are the same number here;
where their sign matters, compare bits.  A NaN is as good as any other NaN: which bits it carries
depends on the order of operands, on the compiler and on the CPU.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from ..dtypes.names import DType, NumpyArray, as_dtype, dtype_name, is_narrow_float, kind
from ..dtypes.narrow import from_narrow
from ..jagged.lazy import XJaggedExpression
from ..operands.nodes import HasNode, OneValue


def assert_same_bits(actual: object, expected: object) -> None:
    """Raise unless dtype, shape and every bit agree; all NaNs count as the same.

    Parameters
    ----------
    actual, expected : array, container or expression
        What to compare; expressions are evaluated.  Of jagged arrays, extents must agree
        everywhere.

    Raises
    ------
    AssertionError
        With the first difference.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.testing.assert_same_bits(xl.asarray([0.5]) + 0.5, xl.asarray([1.0]))
    >>> xl.testing.assert_same_bits(xl.asarray([0.0]), xl.asarray([-0.0]))
    Traceback (most recent call last):
        ...
    AssertionError: 1 of 1 elements differ; the first at (0,): 0.0 (0x0000000000000000), ...
    """
    __tracebackhide__ = True
    left, right = _pair(actual, expected)
    wrong = _bits(left) != _bits(right)
    wrong &= ~(_is_nan(_parts(left)) & _is_nan(_parts(right)))
    _refuse(wrong, left, right, "")


def assert_ulp(actual: object, expected: object, max_ulp: int) -> None:
    """Raise unless dtype and shape agree and no element is further off than ``max_ulp``.

    Parameters
    ----------
    actual, expected : array, container or expression
        What to compare; expressions are evaluated.  Integers and bools must be equal, the parts
        of complex numbers are compared one by one.
    max_ulp : int
        Largest distance allowed, in representable numbers.

    Raises
    ------
    AssertionError
        With the first difference, the largest one, and how many there are.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.testing.assert_ulp(xl.asarray([1.0]), xl.asarray([1.0 + 2**-52]), 1)
    """
    __tracebackhide__ = True
    left, right = _pair(actual, expected)
    if kind(left.dtype) not in "fc":
        assert_same_bits(left, right)
        return
    distance = ulp_distance(left, right)
    worst = int(distance.max(initial=0))
    _refuse(distance > max_ulp, left, right, f" by up to {worst} ulp (allowed: {max_ulp})")


def ulp_distance(left: NumpyArray, right: NumpyArray) -> NumpyArray:
    """Return how many representable numbers lie between the elements of two float arrays.

    Two NaNs are 0 apart, a NaN and a number 2**64 - 1.
    """
    a, b = _parts(left), _parts(right)
    if is_narrow_float(a.dtype):
        ranks = _ranks(as_dtype(a.dtype))
        bits = np.dtype(f"u{a.dtype.itemsize}")
        x, y = ranks[a.view(bits)], ranks[b.view(bits)]
    else:
        x, y = _order(a), _order(b)
    # Differences of int64 may need 64 bits; as uint64 the larger minus the smaller is exact.
    up, down = y.view("u8") - x.view("u8"), x.view("u8") - y.view("u8")
    apart: NumpyArray = np.where(x > y, down, up)
    nan_a, nan_b = _is_nan(a), _is_nan(b)
    apart[nan_a & nan_b] = 0
    apart[nan_a ^ nan_b] = np.iinfo("u8").max
    return np.asarray(apart.max(axis=-1, initial=0)).reshape(left.shape)


def _pair(actual: object, expected: object) -> tuple[NumpyArray, NumpyArray]:
    __tracebackhide__ = True
    spaces = [
        x.jagged_shape if isinstance(x, XJaggedExpression) else None for x in (actual, expected)
    ]
    if spaces != [None, None]:
        if spaces[0] is None or not spaces[0].same_extents(spaces[1]):
            shown = ["no jagged array" if space is None else space for space in spaces]
            raise AssertionError(f"shape is {shown[0]}, expected {shown[1]}")
        actual, expected = [
            x.flat if isinstance(x, XJaggedExpression) else x for x in (actual, expected)
        ]
    left, right = np.asarray(actual), np.asarray(expected)
    if left.dtype != right.dtype:
        raise AssertionError(f"dtype is {left.dtype}, expected {right.dtype}")
    if left.shape != right.shape:
        raise AssertionError(f"shape is {left.shape}, expected {right.shape}")
    return left.copy(), right.copy()  # contiguous: bits are read through a view


def _parts(array: NumpyArray) -> NumpyArray:
    """Return the elements row by row; of complex numbers both parts, else one."""
    flat = array.reshape(-1, 1)
    return flat.view(f"f{array.dtype.itemsize // 2}") if kind(array.dtype) == "c" else flat


def _bits(array: NumpyArray) -> NumpyArray:
    """Return one unsigned integer per element, two for complex ones."""
    parts = _parts(array)
    return parts.view(f"u{parts.dtype.itemsize}")


def _is_nan(parts: NumpyArray) -> NumpyArray:
    if kind(parts.dtype) != "f":
        return np.zeros(parts.shape, np.bool_)
    return np.asarray(np.isnan(from_narrow(parts)))


def _order(array: NumpyArray) -> NumpyArray:
    """Map floats to int64 so that neighbours differ by one; both zeros are 0."""
    code = array.view(f"i{array.dtype.itemsize}")
    return np.where(code < 0, np.iinfo(code.dtype).min - code, code).astype(np.int64)


@cache
def _ranks(dtype: DType) -> NumpyArray:
    """Return the rank of every encoding of a narrow float among its values."""
    bits = 8 * dtype.itemsize
    codes = np.arange(1 << bits, dtype=f"u{dtype.itemsize}")
    values = from_narrow(codes.view(dtype))
    values = np.where(np.isnan(values), np.float32(0), values)
    return np.unique(values, return_inverse=True)[1].astype(np.int64).reshape(-1)


def _refuse(wrong: NumpyArray, left: NumpyArray, right: NumpyArray, more: str) -> None:
    __tracebackhide__ = True
    per_element = wrong.reshape(left.size, -1).any(axis=-1) if left.size else wrong.reshape(-1)
    count = int(per_element.sum())
    if count == 0:
        return
    first = tuple(int(i) for i in np.unravel_index(int(per_element.argmax()), left.shape))
    raise AssertionError(
        f"{count} of {left.size} elements differ{more}; the first at {first}: "
        f"{_show(left[first])}, expected {_show(right[first])}"
        f" [{dtype_name(as_dtype(left.dtype))}{list(left.shape)}]"
    )


def _show(value: Any) -> str:
    raw = np.asarray(value).tobytes()[::-1].hex()
    return f"{value} (0x{raw})"


def assert_equal(
    actual: object,
    desired: object,
    err_msg: str = "",
    verbose: bool = True,
    *,
    strict: bool = False,
) -> None:
    """Raise unless two objects are equal, as `numpy.testing.assert_equal`; arrays by elements.

    Raises
    ------
    AssertionError
        If they differ, also in a part of a list, a tuple or a dictionary.
    """
    np.testing.assert_equal(_plain(actual), _plain(desired), err_msg, verbose, strict=strict)


def assert_almost_equal(
    actual: object,
    desired: object,
    decimal: int = 7,
    err_msg: str = "",
    verbose: bool = True,
) -> None:
    """Raise unless objects agree to some decimals, as `numpy.testing.assert_almost_equal`.

    Raises
    ------
    AssertionError
        If they do not.
    """
    np.testing.assert_almost_equal(_plain(actual), _plain(desired), decimal, err_msg, verbose)


def _plain(x: Any) -> Any:
    """Return an object with the arrays in it as NumPy's."""
    if isinstance(x, HasNode | OneValue):
        return np.asarray(x)[()]
    if type(x) in (list, tuple):
        return type(x)(map(_plain, x))
    return {key: _plain(value) for key, value in x.items()} if type(x) is dict else x
