"""Narrow types bit by bit: every code, every rounding boundary, as Python and as machine code."""

from __future__ import annotations

import inspect
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, reduce
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.cases import together
from tests.dtypes.codes import value
from xarraylite.codegen import machine, routines, worker
from xarraylite.codegen.emit import routine
from xarraylite.codegen.emit.builder import Builder, Module, Value
from xarraylite.codegen.emit.memory import fetch, keep
from xarraylite.codegen.emit.routine import Routine
from xarraylite.codegen.host import host
from xarraylite.codegen.kernel import kernels
from xarraylite.dtypes import names
from xarraylite.dtypes.formats import FORMATS, INT_BITS, Format, loop_dtype
from xarraylite.dtypes.narrow import library, to_narrow

Array = NDArray[Any]
LIBRARY = library()
BITS = ("bits_f32", "float_f32", "bits_f64", "float_f64")
FLOATS = list(FORMATS)
INTS = list(INT_BITS)
ADD, MULTIPLY = [Routine(f"f32(a0 {sign} a1)", ("f32", "f32"), "f32") for sign in "+*"]
each_float = pytest.mark.parametrize("dt", FLOATS, ids=str)
each_int = pytest.mark.parametrize("dt", INTS, ids=str)


# Scalar bodies as kernels compile them --------------------------------------------------------

DTYPES = {dt.name: dt for dt in (*FLOATS, *INTS)}
VERBS = {
    "decode": routine.decode,
    "encode": routine.encode,
    "round": routine.settle,
    "wrap": routine.settle,
}


def body(name: str, source: Any = None) -> list[Routine]:
    """What a body is in kernels: of float64, and of integers, behind a conversion."""
    verb, _, rest = name.partition("_")
    if verb == "odd":
        return [Routine(f"{rest}({name}(a0))", (rest,), rest)]
    dt = DTYPES[rest.removesuffix("_f64")]
    made = VERBS[verb](dt)
    assert made is not None
    converted = verb != "decode" and (dt in INTS or rest.endswith("_f64"))
    return [routine.cast(source, dt), made] if converted else [made]


def loop(
    args: tuple[str, ...], result: str, compute: Callable[[Builder, list[Value]], Value]
) -> Module:
    """A loop over elements of arrays; the bodies alone, even where the CPU converts float16."""
    b = Builder()
    count, out, *arrays = [b.load("i64", b.block, k, "src") for k in range(len(args) + 2)]
    with b.loop(0, count) as k:
        given = [fetch(b, arg, array, k, "src") for arg, array in zip(args, arrays, strict=True)]
        keep(b, result, compute(b, given), out, k, "dst")
    return b.module()


@pytest.fixture(autouse=True, scope="module")
def _bodies_alone() -> Iterator[None]:
    """Have float16 converted by its bodies, as on a CPU that has no instructions for it."""
    with mock.patch.object(machine, "half", return_value=None):
        yield


def run(module: Module, out: Array, *arrays: Array) -> Array:
    block = np.array(
        [out.size, *[x.ctypes.data for x in (out, *map(np.ascontiguousarray, arrays))]]
    )
    assert kernels.get(module, lambda module: module).run(block.ctypes.data) == 0
    return out


def over(name: str, source: Array, dtype: Any) -> Array:
    """A body applied to every element by compiled code."""
    steps = body(name, source.dtype)
    found = loop(
        steps[0].args,
        steps[-1].result,
        lambda b, x: reduce(lambda v, s: b.call(s, [v]), steps, x[0]),
    )
    return run(found, np.empty(source.shape, dtype), source)


def assert_same_codes(found: Array, expected: Array, dt: np.dtype) -> None:
    """Equal codes, but for the payload and sign of NaNs."""
    numbers = expected.view(dt).astype(np.float32)
    others = found.view(dt).astype(np.float32)
    nan = np.isnan(numbers)
    np.testing.assert_array_equal(np.isnan(others), nan)
    np.testing.assert_array_equal(found[~nan], expected[~nan])


def assert_same_floats(found: Array, expected: Array) -> None:
    """Equal bits, zeros' signs included, but for the payload and sign of NaNs."""
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(found), nan)
    np.testing.assert_array_equal(found.view(np.int32)[~nan], expected.view(np.int32)[~nan])


# Inputs that matter ---------------------------------------------------------------------------


def codes(form: Format) -> Array:
    """Every bit pattern of the bytes of one element."""
    return np.arange(1 << (8 * form.storage.itemsize)).astype(form.storage)


def ladder(form: Format) -> tuple[Array, Array]:
    """The finite values from the least to the largest, and the value that would come next.

    Returns them in float64, which holds them and the middles between them, with their codes.
    """
    first = 0 if form.style != "scale" else 1  # below 2**-126 `scale` does not round to nearest
    steps = np.arange(first, form.largest + 1)
    values = np.array([value(form, int(code)) for code in steps])
    last_step = values[-1] if form.style == "scale" else values[-1] - values[-2]
    return np.append(values, values[-1] + last_step), steps


def interesting_f32(form: Format) -> Array:
    """Values, middles, their float32 neighbours, the ends, specials, and noise; both signs."""
    values, _ = ladder(form)
    middles = (values[:-1] + values[1:]) / 2
    with np.errstate(over="ignore"):
        edges = np.concatenate((values, middles)).astype(np.float32)
    raw = edges.view(np.int32)
    neighbours = (raw[:, None] + np.arange(-2, 3, dtype=np.int32)).ravel()
    noise = np.random.default_rng(20).integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    special = [0x0, 0x1, 0x2, 0x3FFFFF, 0x400000, 0x400001, 0x5FFFFF, 0x600000, 0x7FFFFF]
    special += [0x800000, 0x800001, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF]
    around_one = np.arange(0x3F000000, 0x40800000, 997)
    parts = (neighbours.astype(np.int64), noise, special, around_one)
    joined = np.concatenate([np.asarray(part, np.int64) & 0xFFFFFFFF for part in parts])
    both = np.concatenate((joined, joined ^ 0x80000000)).astype(np.uint32)
    return both.view(np.float32)


# Floats ---------------------------------------------------------------------------------------


@each_float
def test_decode_every_code(dt: np.dtype) -> None:
    form = FORMATS[dt]
    every = codes(form)
    expected = every.view(dt).astype(np.float32)
    assert_same_floats(over(f"decode_{dt}", every, np.float32), expected)


@each_float
@pytest.mark.filterwarnings("ignore:.*encountered in cast:RuntimeWarning")
def test_encode_and_round_are_ml_dtypes_conversions(dt: np.dtype) -> None:
    form = FORMATS[dt]
    x = interesting_f32(form)
    # Types without NaN: zeros have the sign of ml_dtypes' for a positive one.
    expected = np.where(np.isnan(x), np.float32(np.nan), x).astype(dt)
    assert_same_codes(over(f"encode_{dt}", x, form.storage), expected.view(form.storage), dt)
    assert_same_floats(over(f"round_{dt}", x, np.float32), expected.astype(np.float32))


@each_float
def test_every_number_survives_the_round_trip(dt: np.dtype) -> None:
    form = FORMATS[dt]
    every = codes(form)[: 1 << form.bits]
    wide = over(f"decode_{dt}", every, np.float32)
    assert_same_codes(over(f"encode_{dt}", wide, form.storage), every, dt)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wider = wide.astype(np.float64)
    assert_same_codes(over(f"encode_{dt}_f64", wider, form.storage), every, dt)
    assert_same_floats(over(f"round_{dt}", wide, np.float32), wide)


@each_float
def test_nan_stays_nan_or_is_negative_zero(dt: np.dtype) -> None:
    form = FORMATS[dt]
    patterns = np.array([0x7F800001, 0x7FC00000, 0x7FFFFFFF, 0xFF800001, 0xFFC00000], np.uint32)
    found = over(f"encode_{dt}", patterns.view(np.float32), form.storage)
    rounded = over(f"round_{dt}", patterns.view(np.float32), np.float32)
    if form.nan is None:
        np.testing.assert_array_equal(found, [form.magnitude + 1] * 5)
        np.testing.assert_array_equal(rounded.view(np.uint32), [1 << 31] * 5)
        for wide in (patterns.view(np.float32), np.array([np.nan, -np.nan])):
            assert set(to_narrow(wide, dt).view(form.storage).tolist()) == {form.magnitude + 1}
    else:
        assert all(math.isnan(value(form, int(code))) for code in found)
        assert np.isnan(rounded).all()


@each_float
def test_float64_is_rounded_once_at_every_boundary(dt: np.dtype) -> None:
    """Between neighbouring codes: just below the middle, the middle, and just above it."""
    form = FORMATS[dt]
    values, steps = ladder(form)
    low, high = steps, steps + 1
    beyond = form.largest + 1
    even = np.where(low % 2 == 0, low, high) if form.style != "scale" else high
    middles = (values[:-1] + values[1:]) / 2
    inputs = [np.nextafter(middles, 0), middles, np.nextafter(middles, np.inf)]
    for x, expected in zip(inputs, [low, even, high], strict=True):
        overflow = form.largest if form.style == "finite" else (form.inf or form.nan)
        wanted = np.where(expected == beyond, overflow, expected).astype(form.storage)
        assert_same_codes(over(f"encode_{dt}_f64", x, form.storage), wanted, dt)
        np.testing.assert_array_equal(to_narrow(x, dt).view(form.storage), wanted)
        if form.style != "scale":
            signed = wanted | np.where(wanted == 0, form.style != "fnuz", 1).astype(
                form.storage
            ) * form.storage.type(form.magnitude + 1)
            assert_same_codes(over(f"encode_{dt}_f64", -x, form.storage), signed, dt)


def test_the_example_that_double_rounding_gets_wrong() -> None:
    x = np.array([1 + 2.0**-8 + 2.0**-40])
    assert float(x.astype(names.bfloat16)[0]) == 1.0  # by way of float32: wrong
    assert float(to_narrow(x, names.bfloat16)[0]) == 1.0078125
    code = over("encode_bfloat16_f64", x, np.uint16)
    assert float(code.view(names.bfloat16)[0]) == 1.0078125


@cache
def positive_values(dt: np.dtype) -> list[Fraction]:
    values, _ = ladder(FORMATS[dt])
    return [Fraction(float(value)) for value in values]


def nearest_code(dt: np.dtype, x: float) -> int:
    """The code that x rounds to, by exact rational arithmetic."""
    form = FORMATS[dt]
    values = positive_values(dt)
    exact = Fraction(abs(x))
    above = bisect_left(values, exact)
    if above == 0:
        code = 0
    elif above == len(values):
        code = form.largest + 1
    else:
        middle = (values[above - 1] + values[above]) / 2
        up = exact > middle or (exact == middle and above % 2 == 0)
        code = above if up else above - 1
    if code > form.largest:
        code = form.largest if form.style == "finite" else int(form.inf or form.nan or 0)
    if form.style == "fnuz" and code in (0, form.nan):
        return code
    return code | (form.magnitude + 1 if math.copysign(1, x) < 0 else 0)


@given(
    st.sampled_from([dt for dt in FLOATS if FORMATS[dt].style != "scale"]),
    st.one_of(
        st.floats(allow_nan=False, allow_infinity=False),
        st.floats(-500, 500),
        st.integers(-(1 << 60), 1 << 60).map(lambda n: n * 2.0**-90),
    ),
)
def test_float64_rounds_as_rational_arithmetic_does(dt: np.dtype, x: float) -> None:
    code = over(f"encode_{dt}_f64", np.array([x]), FORMATS[dt].storage)
    assert_same_codes(code, np.array([nearest_code(dt, x)], FORMATS[dt].storage), dt)
    np.testing.assert_array_equal(to_narrow(np.array([x]), dt).view(code.dtype), code)


@each_float
def test_bodies_mean_the_same_as_plain_python(dt: np.dtype) -> None:
    """As with NUMBA_DISABLE_JIT; warnings are off because only NumPy's scalars give them."""
    form = FORMATS[dt]
    plain = LIBRARY
    some = codes(form)[:: max(1, codes(form).size // 64)]
    x = interesting_f32(form)
    x = x[:: max(1, x.size // 150)]
    with np.errstate(all="ignore"):
        decoded = np.array([plain[f"decode_{dt}"](u) for u in some])
        encoded = np.array([plain[f"encode_{dt}"](v) for v in x])
        rounded = np.array([plain[f"round_{dt}"](v) for v in x])
        wide = np.array([plain[f"encode_{dt}_f64"](v) for v in x.astype(np.float64)])
    assert decoded.dtype == rounded.dtype == np.float32
    assert encoded.dtype == wide.dtype == form.storage
    assert_same_floats(decoded, over(f"decode_{dt}", some, np.float32))
    assert_same_codes(encoded, over(f"encode_{dt}", x, form.storage), dt)
    assert_same_codes(wide, encoded, dt)
    assert_same_floats(rounded, over(f"round_{dt}", x, np.float32))


@each_float
def test_a_loop_over_the_bodies_vectorises(dt: np.dtype) -> None:
    decode, encode = routine.decode(dt), routine.encode(dt)
    assert decode is not None
    assert encode is not None

    def add(b: Builder, given: list[Value]) -> Value:
        return b.call(encode, [b.call(ADD, [b.call(decode, [x]) for x in given])])

    text = routines.assembled(loop(decode.args * 2, encode.result, add))
    code = str(worker.run(lambda: machine._optimised(text, host())))
    assert re.search(r"fadd <\d+ x float>", code)
    assert not re.search(r"= \w+ (nsw |nuw )*<\d+ x (i64|double)>", code)  # nothing widened


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float4_e2m1fn"])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_arithmetic_is_float32_rounded_once(name: str) -> None:
    """Operation by operation, as NumPy's float16 and ml_dtypes compute it."""
    dt = names.as_dtype(name)
    storage = FORMATS[dt].storage
    decode, encode, settle = [body(f"{verb}_{name}")[0] for verb in ("decode", "encode", "round")]

    def compute(made: Builder, given: list[Value]) -> Value:
        x, y = [made.call(decode, [code]) for code in given]
        product = made.call(settle, [made.call(MULTIPLY, [x, y])])
        return made.call(encode, [made.call(ADD, [product, x])])

    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 1 << FORMATS[dt].bits, (2, 20_000)).astype(storage)
    out = run(loop(decode.args * 2, encode.result, compute), np.empty_like(a), a, b)
    expected = a.view(dt) * b.view(dt) + a.view(dt)
    if FORMATS[dt].nan is None:
        assert expected.dtype == dt
    assert_same_codes(out, expected.view(storage), dt)


# Wide integers into floats --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["odd_i64", "odd_u64"])
@given(data=st.data())
def test_odd_integers_are_exact_floats_between_the_same_neighbours(
    name: str, data: st.DataObject
) -> None:
    dtype = np.int64 if name == "odd_i64" else np.uint64
    info = np.iinfo(dtype)
    value = data.draw(
        st.one_of(
            st.integers(int(info.min), int(info.max)),
            st.integers(0, 63).map(lambda n: min(1 << n, int(info.max))),
            st.tuples(st.integers(53, 62), st.integers(-3, 3)).map(lambda t: (1 << t[0]) + t[1]),
        )
    )
    odd = int(over(name, np.array([value], dtype), dtype)[0])
    assert odd == int(LIBRARY[name](dtype(value)))
    assert int(float(odd)) == odd
    if abs(value) <= 1 << 53:
        assert odd == value
    else:
        assert odd == value if value % 2048 == 0 else odd // 2048 == value // 2048 | 1
        assert abs(odd - value) < 2048


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_wide_integers_become_bfloat16_in_one_rounding(dtype: Any) -> None:
    """2**62 + 2**54 is the middle of two bfloat16; float64 cannot see the last bits."""
    middle = (1 << 62) + (1 << 54)
    x = np.array([middle - 1, middle, middle + 1, (1 << 53) + (1 << 45) + 1, 3], dtype)
    expected = [2.0**62, 2.0**62, 2.0**62 + 2.0**55, 2.0**53 + 2.0**46, 3.0]
    np.testing.assert_array_equal(to_narrow(x, names.bfloat16).astype(float), expected)
    odd = over("odd_i64" if dtype is np.int64 else "odd_u64", x, dtype).astype(np.float64)
    codes_found = over("encode_bfloat16_f64", odd, np.uint16)
    np.testing.assert_array_equal(codes_found.view(names.bfloat16).astype(float), expected)
    if dtype is np.int64:
        np.testing.assert_array_equal(
            to_narrow(-x, names.bfloat16).astype(float), [-value for value in expected]
        )


# Narrow integers ------------------------------------------------------------------------------


@each_int
def test_decode_every_byte_whatever_its_high_bits(dt: np.dtype) -> None:
    every = np.arange(256, dtype=np.uint8)
    found = over(f"decode_{dt}", every, loop_dtype(dt))
    np.testing.assert_array_equal(found, every.view(dt).astype(np.int32))


def integers(source: str) -> Array:
    """Small numbers of both signs, where the type has them, and the ends of its range."""
    info = np.iinfo(source)
    spread = (*range(-300, 600), int(info.min), int(info.max))
    return np.array([v for v in spread if info.min <= v <= info.max], source)


@each_int
def test_encode_wraps_as_ml_dtypes(dt: np.dtype) -> None:
    for source in ("int8", "int64", "uint64"):
        x = integers(source)
        expected = x.astype(dt)
        found = over(f"encode_{dt}", x, np.uint8)
        np.testing.assert_array_equal(found, expected.view(np.uint8), source)
        assert [LIBRARY[f"encode_{dt}"](value) for value in x] == found.tolist()
    wrapped = over(f"wrap_{dt}", x, loop_dtype(dt))
    np.testing.assert_array_equal(wrapped, expected.astype(loop_dtype(dt)))


@each_int
@pytest.mark.parametrize("source", ["int8", "uint8", "int16", "int32", "int64", "uint64"])
def test_to_narrow_wraps_integers_as_ml_dtypes(dt: np.dtype, source: str) -> None:
    x = integers(source)
    np.testing.assert_array_equal(to_narrow(x, dt).view(np.uint8), x.astype(dt).view(np.uint8))


@each_int
def test_integer_bodies_in_plain_python(dt: np.dtype) -> None:
    every = np.arange(256, dtype=np.uint8)
    found = np.array([LIBRARY[f"decode_{dt}"](byte) for byte in every])
    assert found.dtype == loop_dtype(dt)
    np.testing.assert_array_equal(found, over(f"decode_{dt}", every, loop_dtype(dt)))


# The library ----------------------------------------------------------------------------------


def test_library_has_every_body_with_its_source() -> None:
    expected = {"odd_f32", "odd_i64", "odd_u64"}
    for dt in FLOATS:
        expected |= {f"{verb}_{dt}" for verb in ("decode", "encode", "round")}
        expected.add(f"encode_{dt}_f64")
    for dt in INTS:
        expected |= {f"{verb}_{dt}" for verb in ("decode", "encode", "wrap")}
    assert set(LIBRARY) == expected
    for name, body in LIBRARY.items():
        assert body.__name__ == name
        assert f"def {name}(" in inspect.getsource(body)


@together("name", sorted(LIBRARY))
def test_bodies_use_allowed_names_only(name: str) -> None:
    constructors = {"float32", "float64", "int8", "int32", "int64", "uint8", "uint16", "uint64"}
    allowed: set[str] = {"np", *constructors, *BITS, *LIBRARY}
    assert set(LIBRARY[name].__code__.co_names) <= allowed
    scope: dict[str, Callable[..., Any]] = LIBRARY[name].__globals__
    for used in LIBRARY[name].__code__.co_names:
        if used in LIBRARY:
            assert scope[used] is LIBRARY[used]
