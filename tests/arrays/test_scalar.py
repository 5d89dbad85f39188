"""Values: what a full integer index returns, beside NumPy's scalars and our own expressions."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import fractions
import json
import math
import numbers
import operator
import pickle
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import SUPPORTED
from xarraylite.testing import assert_same_bits
from xarraylite.testing.operands import fill

DTYPES = sorted(SUPPORTED, key=str)

OPERATORS = [
    *[operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod],
    *[operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne],
    *[operator.and_, operator.or_, operator.xor, operator.pow],
]


def value_of(number: Any, dtype: Any) -> xl.XScalar:
    """Return a value of a dtype."""
    return xl.asarray([number], dtype=dtype)[0]  # type: ignore[no-any-return]


@together("dtype", DTYPES)
def test_every_dtype_has_values(dtype: Any) -> None:
    values = fill(dtype, (2, 3), 5)
    a = xl.asarray(values)
    x = a[1, 2]
    assert isinstance(x, xl.XScalar)
    assert (x.dtype, x.shape, x.ndim, x.size, x.device) == (dtype, (), 0, 1, "cpu")
    assert (x.nbytes, x.itemsize) == (dtype.itemsize, dtype.itemsize)
    assert x.__array_namespace__() is xl
    assert_same_bits(np.asarray(x), values[1, 2])
    assert_same_bits(np.asarray(a[(1,) * 2, (2,) * 2][0]), values[1, 2])
    a[0, 0] = x
    assert_same_bits(np.asarray(a[0, 0]), values[1, 2])
    for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), xl.XScalar(x)):
        assert made.dtype == dtype
        assert_same_bits(np.asarray(made), values[1, 2])
    assert_same_bits(xl.eval(xl.asarray(x)), values[1, 2])


def test_a_value_is_the_first_thing_that_a_process_meets() -> None:
    """Workers of a pool are sent values before anything else of the package is imported there."""
    sent = pickle.dumps([value_of(2, dtype) for dtype in ("f8", "f4", "i8", "c16", "bool", "int4")])
    for first in (f"pickle.loads({sent!r})", "[xl.XScalar(np.float32(2)), xl.XScalar(2)]"):
        script = f"import pickle, numpy as np, xarraylite as xl; x = {first}; print(x, x[0] + x[1])"
        run = [sys.executable, "-c", script]
        told = subprocess.run(run, capture_output=True, text=True, check=False)
        assert told.stdout.endswith("] 4.0\n"), told.stderr


def test_values_are_sympys_numbers() -> None:
    sympy = pytest.importorskip("sympy")
    x, n, k = sympy.Symbol("x"), value_of(3, "i8"), value_of(3, "u1")
    assert [x**n, n * x, x + k, n**x] == [x**3, 3 * x, x + 3, 3**x]
    assert sympy.binomial(5, k) == 10
    assert sympy.sympify(value_of(True, "bool")) is sympy.true
    assert sympy.sympify(value_of(1.5, "f4")) == sympy.Float(1.5)


def test_setting_flags_of_values_does_nothing() -> None:
    for x, theirs in ((value_of(2, "f8"), np.float64(2)), (value_of(2, "f4"), np.float32(2))):
        x.setflags(write=True)
        theirs.setflags(write=True)
        assert x.flags.writeable is theirs.flags.writeable is False


def test_values_are_pythons_numbers_where_numpys_are() -> None:
    """A float64 is a float to whatever asks for one, a complex128 a complex; others are neither."""
    for dtype in DTYPES:
        x, theirs = xl.zeros(1, dtype=dtype)[0], np.zeros(1, dtype)[0]
        asked = (float, complex, int, numbers.Real, numbers.Complex, numbers.Integral)
        if dtype.isbuiltin == 1:
            assert [isinstance(x, cls) for cls in asked] == [
                isinstance(theirs, cls) for cls in asked
            ]
        else:
            assert isinstance(x, numbers.Real)
            assert not isinstance(x, float)
    x, z = xl.asarray([0.1])[0], xl.asarray([1 + 2j])[0]
    assert json.dumps({"mean": x}) == '{"mean": 0.1}'
    assert fractions.Fraction(x) == fractions.Fraction(0.1)
    assert decimal.Decimal(x) == decimal.Decimal(float(x))
    assert dt.timedelta(days=x) == dt.timedelta(days=0.1)
    assert (math.floor(x), math.ceil(x), f"{x:.3f}", f"{z:.1f}") == (0, 1, "0.100", "1.0+2.0j")
    assert (str(x), float.hex(x), complex(z)) == ("0.1", (0.1).hex(), 1 + 2j)
    for made in (x + 1, 2 * x, -x, x**2, x // 1, xl.sin(x), round(x, 1), abs(z)):
        assert isinstance(made, xl.XScalar)
        assert isinstance(made, float)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_comparisons_with_ints_convert_them(dtype: Any) -> None:
    for number in (0, 1 << 24, (1 << 24) + 1, (1 << 53) + 1, -(1 << 62), 1 << 62):
        one = np.asarray([number]).astype(dtype)
        for op in OPERATORS[6:12]:
            for first, other in ((xl.asarray(one)[0], number), (number, xl.asarray(one)[0])):
                a, b = [one[0] if isinstance(p, xl.XScalar) else p for p in (first, other)]
                assert bool(op(first, other)) == bool(op(a, b)), (op, number)


@given(st.data())
def test_operators_give_what_expressions_give(data: st.DataObject) -> None:
    """The same dtype and bits, whichever of the ways computes; the same refusals."""
    op = data.draw(st.sampled_from(OPERATORS))
    left, right = data.draw(st.sampled_from(DTYPES)), data.draw(st.sampled_from(DTYPES))
    one = xl.asarray(fill(left, (3,), data.draw(st.integers(0, 99)), plain=True))
    other = xl.asarray(fill(right, (3,), data.draw(st.integers(0, 99)), plain=True))
    python: list[Any] = [data.draw(st.sampled_from([0, 1, -3, 200, 1 << 40, 0.5, 1e39, True, 2j]))]
    pairs = [(one[1], other[1], one[1:2], other[1:2])]
    pairs += [(one[0], number, one[0:1], number) for number in python]
    pairs += [(number, one[0], number, one[0:1]) for number in python]
    for x, y, wide_x, wide_y in pairs:
        try:
            wanted = xl.eval(op(wide_x, wide_y))
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                op(x, y)
            continue
        for _ in range(2):  # the second time another way may be known
            made = op(x, y)
            assert isinstance(made, xl.XScalar)
            assert_same_bits(np.asarray(made), np.asarray(wanted)[0])


@together("op", [operator.neg, operator.pos, abs, operator.invert])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_operators_of_one_value(op: Any, dtype: Any) -> None:
    a = xl.asarray(fill(dtype, (4,), 3))
    for i in range(4):
        try:
            wanted = xl.eval(op(a[i : i + 1]))
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                op(a[i])
            continue
        assert_same_bits(np.asarray(op(a[i])), np.asarray(wanted)[0])


def test_with_arrays_a_value_is_a_constant_of_its_dtype() -> None:
    a = xl.asarray([1.0, 2.0], dtype="float32")
    wide, narrow = value_of(0.1, "float64"), value_of(0.1, "bfloat16")
    for result, dtype in (
        (a * wide, xl.float64),
        (wide - a, xl.float64),
        (a + 1 + wide, xl.float64),
        (narrow * a, xl.float32),
        (np.ones(2, np.float32) * narrow, xl.float32),
        (xl.add(a, wide), xl.float64),
        (np.add(wide, a), xl.float64),
        (a < wide, xl.bool),
    ):
        assert isinstance(result, xl.XExpression)
        assert (result.shape, result.dtype) == ((2,), dtype)
    a += wide
    assert_same_bits(a, (np.asarray([1, 2], np.float32) + np.float64(0.1)).astype(np.float32))
    a[:] = wide
    assert a.tolist() == [np.float32(0.1)] * 2


def test_with_numpys_scalars_and_ufuncs_it_computes_at_once() -> None:
    x = value_of(2.0, "float32")
    for made, wanted in (
        (np.float64(3) * x, np.float64(6)),
        (x * np.float64(3), np.float64(6)),
        (np.multiply(x, 2), np.float32(4)),
        (np.add(1, x), np.float32(3)),
        (np.sqrt(x), np.sqrt(np.float32(2))),
        (np.maximum(x, value_of(3, "int8")), np.float32(3)),
    ):
        assert isinstance(made, xl.XScalar)
        assert_same_bits(np.asarray(made), wanted)


def test_nothing_warns() -> None:
    """Divisions by zero and overflows are silent, as in expressions; warnings are errors here."""
    one, most, small = value_of(1.0, "float64"), value_of(3e38, "float32"), value_of(127, "int8")
    assert math.isinf(one / 0)
    assert math.isnan((one - 1) / 0)
    assert math.isinf(most * most)
    assert math.isinf(one * 1e308 * 100)
    assert (small + small, small // 0) == (-2, 0)
    assert math.isinf(-one // 0)


def test_python_numbers_of_values() -> None:
    x, n, c = value_of(2.5, "float64"), value_of(-3, "int4"), value_of(1 + 2j, "complex64")
    assert (float(x), int(x), bool(x), complex(x)) == (2.5, 2, True, 2.5)
    assert type(float(x)) is float
    assert (int(n), operator.index(n), [1, 2, 3, 4][n]) == (-3, -3, 2)
    assert complex(c) == 1 + 2j
    assert (round(x), round(n), round(value_of(2.675, "bfloat16"), 1).dtype) == (2, -3, xl.bfloat16)
    assert (math.floor(x), math.ceil(x), math.trunc(x)) == (2, 3, 2)
    assert isinstance(x, numbers.Number)
    for wrong in (lambda: float(c), lambda: operator.index(x), lambda: len(x), lambda: iter(x)):
        with pytest.raises(TypeError):
            wrong()


@together("dtype", ["bool", "int8", "uint64", "float16", "float64", "bfloat16"])
def test_equal_values_have_the_hash_of_python_numbers(dtype: str) -> None:
    x = value_of(1, dtype)
    assert (hash(x), x == 1, {1: "one"}[x]) == (hash(1), True, "one")  # type: ignore[index]


def test_the_array_object() -> None:
    x = value_of(1.5, "float32")
    assert x.T is x
    assert x[()] is x
    assert (x[...].shape, x[None].shape) == ((), (1,))
    assert type(x[...]) is xl.XView or type(x[...]) is xl.XArray
    assert x.to_device("cpu") is x
    assert np.from_dlpack(x).dtype == np.float32
    assert (x.item(), x.tolist(), x.tobytes()) == (1.5, 1.5, np.float32(1.5).tobytes())
    assert (x.astype("int8"), x.astype("int8").dtype) == (1, xl.int8)
    assert x.sum() == 1.5
    assert isinstance(x.sum(), xl.XScalar)
    assert hasattr(x, "__matmul__")
    assert hasattr(x, "__rmatmul__")
    with pytest.raises(TypeError, match="unsupported operand"):
        x @ x
    with pytest.raises(ValueError, match="at least one dimension"):
        x @ xl.ones(2)
    with pytest.raises(xl.AxisError):
        _ = x.mT
    with pytest.raises(TypeError, match="one element"):
        xl.XScalar([1, 2])
    with pytest.raises(ValueError, match="uncopied"):
        np.asarray(x, copy=False)


@together("dtype", ["float64", "complex128", "float32", "int64"])
@together("name", ["any", "all", "var", "std", "sum", "round", "conj"])
def test_methods_have_the_dtype_of_their_function(name: str, dtype: str) -> None:
    x = value_of(3, dtype)
    made, wanted = getattr(x, name)(), getattr(np.asarray(3, dtype), name)()
    assert isinstance(made, xl.XScalar)
    assert_same_bits(np.asarray(made), np.asarray(wanted))


@together(
    ("value", "shown", "printed"),
    [
        (value_of(0.1, "float64") + 0.2, "XScalar(0.30000000000000004)", "0.30000000000000004"),
        (value_of(3, "int64"), "XScalar(3)", "3"),
        (value_of(True, "bool"), "XScalar(True)", "True"),
        (value_of(1 + 2j, "complex128"), "XScalar(1+2j)", "(1+2j)"),
        (value_of(0.1, "float32"), "XScalar(0.1, dtype=float32)", "0.1"),
        (value_of(1.5, "bfloat16"), "XScalar(1.5, dtype=bfloat16)", "1.5"),
        (value_of(-1, "int4"), "XScalar(-1, dtype=int4)", "-1"),
    ],
)
def test_representation(value: xl.XScalar, shown: str, printed: str) -> None:
    assert (repr(value), str(value), f"{value}") == (shown, printed, f"{np.asarray(value)[()]}")


def test_formats_of_narrow_values() -> None:
    x = value_of(1.5, "bfloat16")
    assert f"{x:.3f}|{x:6.1e}" == "1.500|1.5e+00"
    assert f"{value_of(3, 'int4'):04d}" == "0003"
    assert f"{ml_dtypes.bfloat16(1.5)}" == f"{x}"


def test_traced_functions_take_elements_lazily() -> None:
    closed = xl.asarray([10.0, 20.0])

    @xl.jit
    def step(u: Any) -> Any:
        return u * u[0] + closed[1]

    assert step(xl.asarray([2.0, 3.0])).tolist() == [24, 26]
    closed[1] = 0
    assert step(xl.asarray([3.0, 3.0])).tolist() == [9, 9]
    assert xl.jit(lambda u, c: u * c)(xl.asarray([2.0, 3.0]), closed[0]).tolist() == [20, 30]
    assert step.traces == 1


def test_elements_of_tiled_memory_are_values() -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4), layout="{1,0:T(2,2)}")
    x = a[1, 2]
    a[1, 2] = 0
    assert (float(x), float(a[1, 2])) == (6, 0)
    assert [float(v) for v in a[2]] == [8, 9, 10, 11]


def test_whole_numbers_are_fractions() -> None:
    for dtype in ("int8", "uint64", "int64"):
        three = xl.asarray([3], dtype=dtype)[0]
        assert fractions.Fraction(3) == three
        assert fractions.Fraction(three) == fractions.Fraction(3, 1)
        assert (three.numerator, three.denominator) == (3, 1)


def test_parts_of_complex_values() -> None:
    for dtype, part in (("complex128", np.float64), ("complex64", np.float32)):
        z = xl.asarray([1.5 - 2j], dtype)[0]
        assert (z.real, z.imag, z.conj()) == (1.5, -2.0, 1.5 + 2j)
        assert type(z.real.value) is type(z.imag.value) is part
    one = xl.asarray([3], "int8")[0]
    assert one.real is one
    assert (one.imag, one.imag.dtype) == (0, np.int8)


def test_real_arrays_are_their_own_real_parts() -> None:
    for made in (xl.asarray([1.0, 2.0]), xl.asarray([1, 2]) * 2, xl.asarray([True, False])):
        assert xl.real(made) is made
        part = xl.real(made)
        part[0] = 0
        assert made[0] == 0


def test_real_arrays_are_their_own_conjugates() -> None:
    for made in (xl.asarray([1.0, 2.0]), xl.asarray([1, 2]) * 2, xl.asarray([1.0])[0]):
        assert made.conj() is made
        assert made.conjugate() is made
    z = xl.asarray([1 + 2j])
    assert z.conj().tolist() == z.conjugate().tolist() == [1 - 2j]
    with pytest.raises(TypeError):
        z.conj(1)


@together("dtype", ["float64", "float32", "bfloat16", "int4", "bool", "complex64"])
@together("layout", [None, "row_major"])
def test_evaluated_values_are_arrays_of_their_own(dtype: str, layout: str | None) -> None:
    value = xl.asarray([1, 0], dtype=dtype)[0]
    made, other = xl.eval(value, layout=layout), xl.eval(value, layout=layout)
    assert type(made) is xl.XArray
    assert (made.shape, made.dtype) == ((), value.dtype)
    assert not xl.may_share_memory(made, other)
    made[...] = 0
    assert value == other.item() == 1


@together("other", [2, -3, 0, 0.5, -0.0, float("inf"), 1j, 2 - 1j, 1 << 80])
def test_complex_values_meet_pythons_numbers_as_arrays_do(other: complex) -> None:
    parts = [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, 5e-324]
    array = xl.asarray([complex(a, b) for a in parts for b in parts])
    for f in (operator.add, operator.sub, operator.mul, operator.truediv, operator.eq):
        for g in (f, lambda a, b, f=f: f(b, a)):
            wanted = np.asarray(g(array, other))
            found = np.asarray([np.asarray(g(value, other)) for value in array])
            np.testing.assert_array_equal(found, wanted)
            known = wanted == wanted
            assert found[known].tobytes() == wanted[known].tobytes()
    for f in (xl.exp, xl.sqrt, xl.log):
        np.testing.assert_array_equal([f(z) for z in array], np.asarray(f(array)))
        assert np.asarray(f(1 + other * 1j)).dtype == np.complex128
    assert xl.conj(array)[3] == array[3].conjugate()


@pytest.mark.parametrize("dtypes", [("int64", "int64"), ("int8", "int64"), ("uint8", "int8")])
def test_negative_powers_of_whole_values_are_refused(dtypes: tuple[str, str]) -> None:
    two, three, less = [
        xl.XScalar(n, t) for n, t in zip((2, 3, -1), (*dtypes, dtypes[1]), strict=True)
    ]
    for _ in range(400):  # by machine code, where it is loaded
        assert two**three == 8
        for base in (two, 2, np.dtype(dtypes[0]).type(1)):
            with pytest.raises(ValueError, match="negative integer powers"):
                base**less
