"""Elementary functions against references: accuracy, special cases, exact results, vector code.

Dense samples are compared with the C library's long double, where that has 64 bits, and sparse
ones with mpmath.  Errors are in units in the last place of the exact result.

Run as a program, ``python -m tests.ops.test_elementary [NAME...]`` measures all functions or those
named (``sin`` or ``sin_f32``) anew and rewrites their rows of ``docs/reference/ulp_table.md``.
"""

from __future__ import annotations

import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import llvmlite.binding as llvm
import mpmath
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.ops.elementary_cases import (
    BOUND_F32,
    CASES,
    DIGITS,
    HIGHEST,
    IN_TURNS,
    LOWEST,
    NAMES,
    SINGLE,
    TYPES,
)
from xarraylite.codegen import machine, routines, worker
from xarraylite.codegen.emit.body import Apply, Body, Load
from xarraylite.codegen.emit.mapping import MapSpec, Mode, emit_map
from xarraylite.codegen.emit.streams import Access, Inner, Operand
from xarraylite.codegen.host import host
from xarraylite.codegen.kernel import kernels
from xarraylite.dtypes.names import NumpyArray
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.once

TABLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "ulp_table.md"
WIDE = np.finfo(np.longdouble).nmant >= 63
LIBM = (
    "exp|exp2|expm1|log|log1p|log2|log10|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|"
    "acosh|atanh|cbrt|hypot|pow|sincos|fmod|ldexp|frexp|rint|floor"
)

each = pytest.mark.parametrize(("name", "t"), NAMES)


# --- running and measuring -------------------------------------------------------------------


def spec(name: str, t: str) -> MapSpec:
    """A kernel of the function alone."""
    op, dtype = OPS[name], np.dtype(TYPES[t])
    accesses = (Access.SHARED, *[Access.APART] * op.arity)
    places = tuple(range(op.arity))
    body = Body((*[Load(k, dtype) for k in places], Apply(op, places, (dtype,) * op.arity, dtype)))
    operands = tuple([Operand(dtype, Inner.UNIT, access) for access in accesses])
    return MapSpec(Mode.DIRECT, 0, operands, body, 0)


def prepared(name: str, t: str, args: list[NumpyArray], out: NumpyArray) -> Callable[[], None]:
    """What has the kernel compute the function of contiguous arguments."""
    arrays = [out, *args]
    assert all(x.flags.c_contiguous and x.dtype == TYPES[t] for x in arrays)
    run = kernels.get(spec(name, t), emit_map).run
    block = np.array([0, 1, 0, out.size, *[x.ctypes.data for x in arrays]])

    def call() -> None:
        assert run(block.ctypes.data) == 0

    return call


def ours(name: str, t: str, args: list[NumpyArray]) -> NumpyArray:
    out = np.empty(args[0].size, TYPES[t])
    prepared(name, t, args, out)()
    return out


def unit(exact: NumpyArray, t: str) -> NumpyArray:
    """One unit in the last place of ``exact``, a long double array."""
    _, exponent = np.frexp(np.abs(exact))
    return np.ldexp(np.longdouble(1), np.maximum(exponent - DIGITS[t], LOWEST[t]))


def measure(
    name: str, t: str, args: list[NumpyArray], got: NumpyArray, exact: NumpyArray
) -> NumpyArray:
    """Errors in units in the last place; zero where both are the same infinity or NaN."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(TYPES[t])
        scale = np.maximum(abs(exact), abs(np.maximum(*args))) if name == "logaddexp" else exact
        error = np.abs(got.astype(np.longdouble) - exact) / unit(scale, t)
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        return np.where(same & ~np.isfinite(rounded), 0.0, error).astype(np.float64)


def dense(name: str, t: str, n: int) -> Iterator[tuple[list[NumpyArray], NumpyArray]]:
    """Arguments and errors against long double, for each of the samplers."""
    rng = np.random.default_rng(len(name) + n)
    for sampler in CASES[name].samplers:
        args = sampler(rng, n, t)
        with np.errstate(all="ignore"):
            exact = CASES[name].numpy(*(a.astype(np.longdouble) for a in args))
        yield args, measure(name, t, args, ours(name, t, args), exact)


def sparse(name: str, t: str, n: int) -> float:
    """The largest error against mpmath where that gives a finite real number."""
    rng = np.random.default_rng(n)
    worst = 0.0
    for sampler in CASES[name].samplers:
        args = sampler(rng, n, t)
        for *point, got in zip(*args, ours(name, t, args), strict=True):
            if not np.isfinite(got):
                continue
            with mpmath.workprec(160):
                try:
                    exact = CASES[name].exact(*(mpmath.mpf(float(x)) for x in point))
                except ValueError:  # a pole
                    continue
                if not isinstance(exact, mpmath.mpf):  # outside the real domain
                    continue
                scale = max(abs(exact), abs(max(point))) if name == "logaddexp" else abs(exact)
                exponent = mpmath.frexp(scale)[1] if scale else 0
                size = mpmath.ldexp(1, max(exponent - DIGITS[t], LOWEST[t]))
                worst = max(worst, float(abs(mpmath.mpf(float(got)) - exact) / size))
    return worst


def every_exponent(name: str, stride: int) -> float:
    """The largest error of a float32 function over evenly spaced bit patterns of all numbers.

    The reference is the float64 function, whose own error is 2**-28 of what is measured.
    """
    worst = 0.0
    chunk = stride << 20
    for start in range(0, 2**32, chunk):
        patterns = np.arange(start, min(start + chunk, 2**32), stride, dtype=np.uint32)
        x = patterns.view(np.float32)
        with np.errstate(invalid="ignore"):  # some of the patterns are signalling NaNs
            exact = ours(name, "f64", [x.astype(np.float64)]).astype(np.longdouble)
        worst = max(worst, float(measure(name, "f32", [x], ours(name, "f32", [x]), exact).max()))
    return worst


def bound(name: str, t: str) -> float:
    return SINGLE.get(name, BOUND_F32) if t == "f32" else CASES[name].bound


# --- accuracy --------------------------------------------------------------------------------


@each
@pytest.mark.skipif(not WIDE, reason="long double is no wider than double here")
def test_error_is_within_the_bound_against_long_double(name: str, t: str) -> None:
    for args, errors in dense(name, t, 5000):
        worst = int(np.argmax(errors))
        assert errors[worst] <= bound(name, t), [float(a[worst]) for a in args]


@each
def test_error_is_within_the_bound_against_mpmath(name: str, t: str) -> None:
    assert sparse(name, t, 60) <= bound(name, t)


@together("name", [name for name in SINGLE if name != "atan2"])
def test_error_is_within_the_bound_at_every_exponent(name: str) -> None:
    assert every_exponent(name, 32771) <= bound(name, "f32")


@together("t", TYPES)
@together("name", ["sin", "cos", "tan"])
def test_angles_next_to_multiples_of_half_pi(name: str, t: str) -> None:
    turns = np.arange(1, 400) * (np.pi / 2)
    # The double nearest to a multiple of pi/2, as a fraction of its size: found by Kahan.
    points = [*turns, *np.nextafter(turns, 0), 6381956970095103.0 * 2.0**797, 1e22]
    x = np.array([p for p in points if t == "f64" or p < 1e38], TYPES[t])
    got = ours(name, t, [x])
    with mpmath.workprec(1400):
        for value, result in zip(x, got, strict=True):
            exact = getattr(mpmath, name)(mpmath.mpf(float(value)))
            size = mpmath.ldexp(1, mpmath.frexp(exact)[1] - DIGITS[t])
            error = abs(mpmath.mpf(float(result)) - exact) / size
            assert error <= bound(name, t), value


# --- special cases ---------------------------------------------------------------------------

EDGES = {
    t: np.array(
        [
            *(
                0.0,
                0.5,
                1.0,
                1.5,
                2.0,
                3.0,
                4.0,
                5.0,
                88.0,
                104.0,
                150.0,
                710.0,
                1e3,
                1e10,
                2.0**53,
            ),
            *(2.0**53 - 1, 2.0**52 + 1, 2.0**60, np.inf, np.nan),
            *(float(np.nextafter(dt(1), dt(k))) for k in (0, 2)),
            *(float(v) for v in (np.finfo(dt).max, np.finfo(dt).tiny)),
            *(k * float(np.finfo(dt).smallest_subnormal) for k in (1, 2, 3)),
        ]
    )
    for t, dt in TYPES.items()
}


def edge_arguments(name: str, t: str) -> list[NumpyArray]:
    values = np.concatenate([EDGES[t], -EDGES[t]]).astype(TYPES[t])
    if OPS[name].arity == 1:
        return [values]
    return [np.ascontiguousarray(grid.ravel()) for grid in np.meshgrid(values, values)]


@each
def test_special_cases_are_those_of_numpy(name: str, t: str) -> None:
    args = edge_arguments(name, t)
    got = ours(name, t, args)
    with np.errstate(all="ignore"):
        expected = CASES[name].numpy(*args)
    # Zeros, infinities and NaN come out the same, the signs of zeros and of tiny results too.
    special = ~np.isfinite(expected) | (expected == 0) | ~np.isfinite(got) | (got == 0)
    np.testing.assert_array_equal(got[special], expected[special])
    signed = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[signed]), np.signbit(expected[signed]))


@each
def test_kernels_call_the_body_of_the_type(name: str, t: str) -> None:
    ((made, _),) = emit_map(spec(name, t)).routines
    arguments = ", ".join([f"a{k}" for k in range(OPS[name].arity)])
    assert made.text == f"{t}({name}_{t}({arguments}))"


# --- exact results ---------------------------------------------------------------------------


@pytest.mark.parametrize("t", TYPES)
def test_powers_of_two_are_exact(t: str) -> None:
    k = np.arange(LOWEST[t], HIGHEST[t]).astype(TYPES[t])
    power = np.ldexp(TYPES[t](1), k.astype(np.int32))
    np.testing.assert_array_equal(ours("exp2", t, [k]), power)
    np.testing.assert_array_equal(ours("log2", t, [power]), k)
    np.testing.assert_array_equal(ours("pow", t, [np.full_like(k, 2), k]), power)


def test_powers_of_ten_have_whole_logarithms() -> None:
    k = np.arange(-307, 309)
    x = np.array([float(f"1e{i}") for i in k])
    np.testing.assert_array_equal(ours("log10", "f64", [x]), k)


def test_cubes_have_whole_roots() -> None:
    x = np.arange(-1000.0, 1001.0)
    np.testing.assert_array_equal(ours("cbrt", "f64", [x**3]), x)


def test_whole_powers_are_exact_where_they_fit() -> None:
    pairs = [
        (x, y) for x in range(-60, 200) for y in range(40) if abs(x) ** y <= 2**53 and (x or y)
    ]
    x, y = (np.array(v, np.float64) for v in zip(*pairs, strict=True))
    np.testing.assert_array_equal(ours("pow", "f64", [x, y]), [float(a**b) for a, b in pairs])


def test_angles_of_the_axes_and_diagonals() -> None:
    y = np.array([0.0, -0.0, 0.0, -0.0, 2.0, -2.0, 2.0, -2.0, 2.0])
    x = np.array([1.0, 1.0, -1.0, -1.0, 0.0, -0.0, 2.0, -2.0, -2.0])
    quarters = np.array([0.0, -0.0, 4.0, -4.0, 2.0, -2.0, 1.0, -3.0, 3.0])
    got = ours("atan2", "f64", [y, x])
    np.testing.assert_array_equal(got, quarters * (np.pi / 4))
    np.testing.assert_array_equal(np.signbit(got), np.signbit(y))
    np.testing.assert_array_equal(ours("atan", "f64", [np.array([1.0, -1.0])]) * 4, [np.pi, -np.pi])


# --- the code made of them -------------------------------------------------------------------


@each
def test_same_bits_alone_and_in_a_vector(name: str, t: str) -> None:
    args = [a for s in CASES[name].samplers[:1] for a in s(np.random.default_rng(5), 67, t)]
    together = ours(name, t, args)
    alone = np.concatenate([ours(name, t, [a[i : i + 1] for a in args]) for i in range(67)])
    np.testing.assert_array_equal(alone, together)


def on_avx2() -> bool:
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and bool(llvm.get_host_cpu_features().get("avx2"))


@each
@pytest.mark.skipif(not on_avx2(), reason="reads x86 assembly")
def test_loop_is_vectorised_and_calls_nothing(name: str, t: str) -> None:
    text = routines.assembled(emit_map(spec(name, t)))

    def compiled() -> str:
        module = machine._optimised(text, host())
        return str(machine._machine(host()).emit_assembly(module))

    assembly = worker.run(compiled)
    wide = t == "f64" or name not in SINGLE
    assert re.search(rf"vmulp{'d' if wide else 's'}\s.*%[yz]mm", assembly)
    if not wide and name not in IN_TURNS:
        assert not re.search(r"\bv\w+[ps]d\b", re.sub(r"vmov\w+", "", assembly))
    assert not re.search(rf"\b_?({LIBM})f?\b", assembly)


def test_kernels_need_nothing_at_run_time() -> None:
    x = np.linspace(0.1, 3.0, 50)
    e = xl.sin(xl.asarray(x)) ** xl.exp(xl.asarray(x))
    with xl.config(engine="compiled"):
        np.testing.assert_allclose(xl.eval(e).numpy(), np.sin(x) ** np.exp(x), rtol=1e-14)
    operands = [Operand(np.dtype(float), Inner.UNIT, a) for a in (Access.SHARED, Access.APART)]
    number = operands[0].dtype
    steps = [Apply(OPS[name], (0,), (number,), number) for name in ("sin", "exp")]
    power = Apply(OPS["pow"], (1, 2), (number, number), number)
    body = Body((Load(0, number), *steps, power))
    module = emit_map(MapSpec(Mode.DIRECT, 0, tuple(operands), body, 0))
    image = machine.compile_object(routines.assembled(module))
    assert not re.search(rf"\0_?({LIBM})\0".encode(), image)


# --- the published table ---------------------------------------------------------------------

HEAD = """# Accuracy of the elementary functions

Largest errors found, in units in the last place (ULP) of the exact result, and speed relative to
NumPy (above 1: faster) on arrays of 16 384 elements in cache, one thread, measured together on one
machine ({machine}, NumPy {numpy}). The reference is the C library's long double with 64 bits of
mantissa, and mpmath with 160 on {few} of every 1000 points. Samples cover the domain evenly, by
exponent (subnormal numbers and the largest ones included) and close to critical points; float32
functions of one argument that compute in float32 are also compared with the float64 function at
every {stride}th of all numbers. Special cases (signed zeros, infinities, NaN) are those of C99 and
NumPy.

Written by `python -m tests.ops.test_elementary`.

| Function | dtype | Domain | Points | Largest error (ULP) | Speed / NumPy |
|---|---|---|---|---|---|
"""
TAIL = """
The errors of `logaddexp` are in units of the larger of the result and the larger argument: where
`exp(x) + exp(y)` is close to 1 in float64 the result nearly cancels, as it does in NumPy's.
float32 functions with errors up to 0.54 but `cbrt` compute in float64 and round once, the others in
float32 ({in_turns} reduce arguments beyond 16384 in float64). 16-bit and smaller floats run the
float32 function and round once more. No function uses the C library, but for multiply-adds on CPUs
that have none, and these are fused on every machine: so results are the same bits on all of them.
"""
STRIDE = 509


def speed(name: str, t: str) -> float:
    """NumPy's time over ours, best of many."""
    args = CASES[name].samplers[0](np.random.default_rng(1), 16384, t)
    out = np.empty(16384, TYPES[t])
    calls = prepared(name, t, args, out), partial(CASES[name].numpy, *args, out)
    best = [np.inf, np.inf]
    with np.errstate(all="ignore"):
        for _ in range(60):
            for k, call in enumerate(calls):
                start = time.perf_counter()
                call()
                best[k] = min(best[k], time.perf_counter() - start)
    return best[1] / best[0]


def write_table(names: list[str], points: int = 200_000, few: int = 10) -> None:
    """Measure the functions named (``sin`` or ``sin_f32``), all if none is; keep other rows."""
    kept = re.findall(r"^\| `(\w+)` \| float(\d+) \|.*\n", TABLE.read_text("utf-8"), re.M)
    lines = re.findall(r"^\| `.*\n", TABLE.read_text("utf-8"), re.M)
    rows = dict(zip([(name, f"f{size}") for name, size in kept], lines, strict=True))
    for name, t in NAMES:
        if names and name not in names and f"{name}_{t}" not in names:
            continue
        worst = max(float(errors.max()) for _, errors in dense(name, t, points))
        worst = max(worst, sparse(name, t, points * few // 1000))
        total = points * len(CASES[name].samplers)
        if t == "f32" and name in SINGLE and name != "atan2":
            worst = max(worst, every_exponent(name, STRIDE))
            total += 2**32 // STRIDE
        domain = CASES[name].domain
        rows[name, t] = (
            f"| `{name}` | {np.dtype(TYPES[t]).name} | {domain.replace('|', chr(92) + '|')} "
            f"| {total:,} | {worst:.2f} | {speed(name, t):.2g} |\n"
        )
        print(rows[name, t], end="", flush=True)
    head = HEAD.format(
        machine=llvm.get_host_cpu_name(), numpy=np.__version__, few=few, stride=STRIDE
    )
    tail = TAIL.format(in_turns=", ".join(f"`{name}`" for name in IN_TURNS))
    TABLE.write_text(head + "".join(rows[key] for key in NAMES) + tail, encoding="utf-8")


def test_published_table_is_complete_and_within_the_bounds() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| float(\d+) \|.*\| ([\d.]+) \| [\d.e+]+ \|$", TABLE.read_text("utf-8"), re.M
    )
    assert [(name, f"f{size}") for name, size, _ in rows] == NAMES
    for name, size, worst in rows:
        assert float(worst) <= bound(name, f"f{size}") <= 4


if __name__ == "__main__":
    write_table(sys.argv[1:])
