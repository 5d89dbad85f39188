"""Both engines on special values of every dtype: each operation, each cast."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import xarraylite as xl
from tests.specials import grid, specials
from xarraylite.arrays.expression import XExpression, apply
from xarraylite.dtypes.names import SUPPORTED, DType, is_narrow, is_narrow_float, kind
from xarraylite.dtypes.narrow import from_narrow
from xarraylite.ir import build
from xarraylite.ops.op import Op
from xarraylite.ops.table import OPS
from xarraylite.testing import assert_same_bits, assert_ulp

pytestmark = pytest.mark.once

Array = npt.NDArray[Any]


def both(expression: XExpression) -> tuple[Array, Array]:
    """What the compiled engine and the interpreter make of an expression."""
    found = []
    for engine in ("compiled", "reference"):
        with xl.config(engine=engine):
            found.append(np.array(xl.eval(expression)))
    return found[0], found[1]


MIXED = [(np.dtype("i8"), np.dtype("u8")), (np.dtype("u8"), np.dtype("i8"))]


#: Operations that are tested with all dtypes, however alike their kernels are: one of each form.
COMMON = ("add", "less", "where", "sqrt")
NARROW = [dtype for dtype in SUPPORTED if is_narrow(dtype) and dtype.itemsize == 1]


def dtypes_for(op: Op) -> list[DType]:
    """The dtypes to test an operation with.

    Kernels of types of at most 8 bits decode, compute in another type and encode, and the casts
    below decode to every other type and encode from it: so most operations take a quarter of them,
    each another.  NumPy's own types are in `tests.ops.test_bodies`, all of them: a quarter is here.
    """
    if op.name in COMMON:
        return list(SUPPORTED)
    turn = list(OPS).index(op.name)
    own = [dtype for dtype in SUPPORTED if dtype not in NARROW]
    return [*NARROW[turn % 4 :: 4], *own[turn // 4 % 4 :: 4]]


def loops_of(op: Op) -> list[tuple[DType, ...]]:
    """The operands' dtypes that the operation has a kernel for, unconverted."""
    dtypes = dtypes_for(op)
    asked: list[tuple[DType, ...]] = [(dtype,) * op.arity for dtype in dtypes]
    if op.name == "where":
        asked = [(np.dtype(bool), dtype, dtype) for dtype in dtypes]
    found = []
    for args in [*asked, *(MIXED if op.arity == 2 else [])]:
        with contextlib.suppress(xl.DTypeError):
            loops, _ = op.rule(op.name, args)
            if loops == args and op.body(loops) is not None:
                found.append(args)
    return found


def check(op: Op, dtypes: tuple[DType, ...]) -> None:
    operands = grid(dtypes)
    compiled, reference = both(apply(op, *[xl.asarray(x) for x in operands]))
    kind_ = "f" if is_narrow_float(dtypes[0]) else kind(dtypes[0])
    if kind_ in op.exact:
        assert_same_bits(compiled, reference)
    elif is_narrow_float(reference.dtype):
        assert_ulp(compiled, reference, 1)
    elif op.name == "logaddexp":  # its errors are in units of the larger argument, too
        with np.errstate(all="ignore"):
            unit = np.spacing(np.maximum(*[abs(x) for x in operands]))
            near = abs(compiled - reference) <= 4 * unit
        assert_ulp(np.where(near, reference, compiled), reference, 4)
    else:
        assert_ulp(compiled, reference, 4)


@pytest.mark.parametrize("name", [name for name in OPS if name != "cast"])
def test_operation(name: str) -> None:
    op = OPS[name]
    wrong = []
    for dtypes in loops_of(op):
        try:
            check(op, dtypes)
        except AssertionError as error:
            wrong.append(f"{dtypes}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("source", SUPPORTED, ids=str)
def test_casts_from(source: DType) -> None:
    """To a quarter of the dtypes, but for pairs of those that `tests.ops.test_cast` has all of."""
    turn = SUPPORTED.index(source)
    own = [dtype for dtype in SUPPORTED if dtype not in NARROW]
    chosen = [*NARROW[turn % 4 :: 4], *(own[turn // 4 % 4 :: 4] if source in NARROW else ())]
    values = np.tile(specials(source), 3)  # NumPy's answers depend on the place in the array
    operand = xl.asarray(values)
    wrong = []
    for dtype in chosen:
        compiled, reference = both(XExpression(build.cast(operand.node, dtype)))
        try:
            assert_same_bits(compiled, reference)
            assert_same_bits(compiled, xl.XArray(values, dtype=dtype))  # without a kernel
        except AssertionError as error:
            wrong.append(f"{dtype}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["fmax", "fmin", "clip"])
def test_of_equal_values_the_first(name: str) -> None:
    """NumPy picks between -0.0 and 0.0 by their place in the array."""
    zeros = np.array([0.0, -0.0] * 9)
    more = (np.full(18, 1.0),) if name == "clip" else ()
    for code in ("f2", "f4", "f8", "bfloat16", "c8", "c16"):
        first, second = (xl.asarray(x, dtype=code) for x in (zeros, -zeros))
        for result in both(getattr(xl, name)(first, second, *more)):
            assert (np.signbit(from_narrow(result).real) == np.signbit(zeros)).all()


@pytest.mark.parametrize("code", ["c8", "c16"])
def test_directions_of_numbers_whose_modulus_overflows(code: str) -> None:
    most = float(np.finfo(code).max)
    values = np.array([complex(most, most), complex(-most, most / 2), complex(most / 4, -most)])
    expected = np.sign(values / most).astype(code)
    for result in both(xl.sign(xl.asarray(values, dtype=code))):
        assert_ulp(result, expected, 4)


def test_uint32_of_what_does_not_fit() -> None:
    values = [np.nan, -np.inf, np.inf, -1.0, -(2.0**32) - 1, 2.0**32 + 5, -1e300]
    expected = np.array([0, 0, 0, 2**32 - 1, 2**32 - 1, 5, 0], np.uint32)
    for count in (1, 5):
        a = xl.asarray(np.repeat(values, count))
        for result in both(xl.astype(a, "uint32")):
            assert_same_bits(result, np.repeat(expected, count))
