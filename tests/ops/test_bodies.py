"""Scalar bodies against NumPy on grids of edge values, by the kernels that are made of them."""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.cases import Cases, together
from tests.ops.compiling import BF16, COMPLEX, REAL, edges, run, same_bits
from xarraylite._errors import DTypeError
from xarraylite.dtypes.names import DType, NumpyArray, is_narrow_float
from xarraylite.ops import rules, transcendental
from xarraylite.ops.op import Op
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.once

ON_X86 = platform.machine().lower() in ("x86_64", "amd64")
MIXED = [(np.dtype("i8"), np.dtype("u8")), (np.dtype("u8"), np.dtype("i8"))]


@cache
def triples(loops: tuple[DType, ...]) -> tuple[NumpyArray, NumpyArray, NumpyArray]:
    """Every pair of edge values, and a third value beside it."""
    first, second = edges(loops[0]), edges(loops[-1])
    a, b = (grid.ravel() for grid in np.meshgrid(first, second, indexing="ij"))
    pick = np.random.default_rng(0).integers(0, len(second), len(a))
    return a, b, second[pick]


def loops_of(op: Op, dtypes: tuple[DType, ...]) -> tuple[DType, ...] | None:
    args = (*dtypes, dtypes[-1], dtypes[-1])[: op.arity]
    args = (np.dtype(bool), dtypes[-1], dtypes[-1]) if op.name == "where" else args
    try:
        loops, _ = op.rule(op.name, args)
    except DTypeError:
        return None
    return loops if loops == args else None


def with_body(dtypes: tuple[DType, ...]) -> list[Op]:
    """Operations that run compiled on arguments of these dtypes."""
    found = [op for op in OPS.values() if (loops := loops_of(op, dtypes)) and op.body(loops)]
    return [op for op in found if len(dtypes) == 1 or op.rule is rules.COMPARISON]


@cache
def evaluated(op: Op, dtypes: tuple[DType, ...]) -> NumpyArray:
    """An operation on all triples, by its kernel."""
    return run(op, *operands(op, *triples(dtypes)))


def operands(op: Op, a: NumpyArray, b: NumpyArray, c: NumpyArray) -> tuple[NumpyArray, ...]:
    """As many of three as the operation takes."""
    return (a == a, b, c) if op.name == "where" else (a, b, c)[: op.arity]


def reference(op: Op, dtypes: tuple[DType, ...], wide: bool = False) -> NumpyArray:
    """NumPy's answer; bfloat16's is float32's, rounded; `wide`, computed with more digits."""
    a, b, c = triples(dtypes)
    dtype = np.dtype("f4") if dtypes[0] == BF16 else dtypes[0]
    if wide:
        dtype = WIDER.get(dtype, dtype)
    if len(dtypes) == 1:
        a, b, c = (x.astype(dtype) for x in (a, b, c))
    with np.errstate(all="ignore"):
        result = np.asarray(op.numpy(*operands(op, a, b, c)))
        return result.astype(op.rule(op.name, loops_of(op, dtypes) or dtypes)[1])


WIDER = {np.dtype("f4"): np.dtype("f8"), np.dtype("f8"): np.dtype(np.longdouble)}


def close(ours: NumpyArray, theirs: NumpyArray, ulps: int = 4) -> NumpyArray:
    """Within some units in the last place, the same zeros, infinities and NaNs."""
    if ours.dtype.kind == "c":
        return close(ours.real, theirs.real, ulps) & close(ours.imag, theirs.imag, ulps)
    exact = same_bits(ours, theirs)
    if is_narrow_float(ours.dtype):
        steps = ours.view(f"i{ours.itemsize}").astype(int) - theirs.view(f"i{ours.itemsize}")
        return exact | (np.isfinite(theirs) & (np.abs(steps) <= 1))
    with np.errstate(all="ignore"):
        distance = np.abs(ours - theirs) / np.spacing(np.abs(theirs))
    return np.asarray(exact | (np.isfinite(theirs) & (distance <= ulps)))


def show(
    op: str, dtypes: tuple[DType, ...], bad: NumpyArray, ours: NumpyArray, theirs: NumpyArray
) -> str:
    inputs = [x[bad][:8].tolist() for x in triples(dtypes)]
    return f"{op}{dtypes}: {inputs} gives {ours[bad][:8]}, NumPy {theirs[bad][:8]}"


# NumPy's own answer for equal operands 0.0 and -0.0 depends on their place in memory.
FREE_ZEROS = {"fmax", "fmin", "clip"}
# NumPy leaves the sign of equal zeros to the CPU's instruction.
CPU_ZEROS = set() if ON_X86 else {"maximum", "minimum"}

# Complex products differ from NumPy's where that fuses; they have tests of their own.
PRODUCTS = {"multiply", "square"}

SIGNATURES: list[tuple[DType, ...]] = [*[(d,) for d in [*REAL, BF16, *COMPLEX]], *MIXED]


@pytest.mark.parametrize("dtypes", SIGNATURES, ids=str)
def test_body(dtypes: tuple[DType, ...]) -> None:
    kind = "f" if dtypes[0] == BF16 else dtypes[0].kind
    with Cases() as cases:
        for op in with_body(dtypes):
            if kind == "c" and op.name in PRODUCTS:
                continue
            with cases.of(op=op.name):
                check(op, dtypes, kind)


def check(op: Op, dtypes: tuple[DType, ...], kind: str) -> None:
    ours = evaluated(op, dtypes)
    theirs = reference(op, dtypes, wide=kind not in op.exact)
    with np.errstate(over="ignore"):
        ours = ours.astype(theirs.dtype)
    if kind in op.exact:
        good = same_bits(ours, theirs, op.name not in FREE_ZEROS | CPU_ZEROS)
    else:
        good = close(ours, theirs)
    assert good.all(), show(op.name, dtypes, ~good, ours, theirs)


def test_every_operation_is_compiled_or_left_to_numpy_on_purpose() -> None:
    seen = {op.name for dtypes in SIGNATURES for op in with_body(dtypes)}
    assert seen == set(OPS)
    left = {
        (op.name, str(dtype))
        for op in OPS.values()
        for dtype in [*REAL, *COMPLEX, BF16]
        if (loops := loops_of(op, (dtype,))) and op.body(loops) is None
    }
    complex_functions = {op.name for op in transcendental.ROWS if "c" in op.rule.accepts}
    expected = {(name, str(d)) for name in complex_functions | {"sqrt", "pow"} for d in COMPLEX}
    expected |= {("reciprocal", f"int{bits}") for bits in (8, 16, 32, 64)}
    expected |= {("nextafter", "float16"), ("nextafter", "bfloat16")}
    assert left == expected


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_complex_products(dtype: DType) -> None:
    """NumPy's bits: fused on CPUs that can, as NumPy's loops are."""
    a, b, _ = triples((dtype,))
    with np.errstate(all="ignore"):
        assert same_bits(evaluated(OPS["multiply"], (dtype,)), a * b).all()
        assert same_bits(evaluated(OPS["square"], (dtype,)), np.square(a)).all()


@together("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_random_integers(dtype: str) -> None:
    """Divisions, shifts and powers of arbitrary bit patterns, and of neighbours of multiples."""
    rng = np.random.default_rng(3)
    names = ["floor_divide", "remainder", "fmod"]
    names += ["pow", "bitwise_left_shift", "bitwise_right_shift"] if dtype[1] == "8" else []
    t, limits = np.dtype(dtype), np.iinfo(dtype)
    a, b = rng.integers(limits.min, limits.max, (2, 4000), t, endpoint=True)
    b >>= rng.integers(0, limits.bits, 4000).astype(t)
    a[:1000] = b[:1000] * (a[:1000] >> t.type(limits.bits // 2)) + rng.integers(0, 3, 1000).astype(
        t
    )
    edges = np.array([limits.min, limits.max, limits.max // 2 + 1, 0, 1, 2, 3], t)
    edges = np.concatenate((edges, t.type(0) - edges, edges - t.type(1)))
    a[-441:], b[-441:] = (side.ravel() for side in np.meshgrid(edges, edges))
    for name in names:
        with np.errstate(all="ignore"):
            expected = OPS[name].numpy(a, b)
        np.testing.assert_array_equal(run(OPS[name], a, b), expected, err_msg=name)


def test_random_float_divisions() -> None:
    """Quotients and remainders over all exponents, float32 and float64."""
    rng = np.random.default_rng(4)
    names = ["floor_divide", "remainder", "fmod", "divide", "nextafter", "maximum", "copysign"]
    for dtype in (np.dtype("f4"), np.dtype("f8")):
        words = rng.integers(0, 2**64, (3, 2000), "u8").view(dtype)[:, :2000]
        with np.errstate(all="ignore"):
            words[1, ::2] = (words[0] * rng.integers(1, 9, 2000).astype(dtype))[::2]
        for name in names:
            with np.errstate(all="ignore"):
                theirs = OPS[name].numpy(words[0], words[1])
            assert same_bits(run(OPS[name], words[0], words[1]), theirs).all(), name


def test_bfloat16_arithmetic_is_that_of_ml_dtypes() -> None:
    a, b, _ = triples((BF16,))
    for name in ("add", "subtract", "multiply", "divide", "less", "maximum", "isnan", "sqrt"):
        op = OPS[name]
        with np.errstate(all="ignore"):
            theirs = op.numpy(*(a, b)[: op.arity])
            assert same_bits(evaluated(op, (BF16,)).astype(theirs.dtype), theirs).all(), name


# --- NumPy's special answers, spelled out ----------------------------------------------------

POINTS: list[tuple[str, str, tuple[Any, ...], Any]] = [
    ("floor_divide", "i8", (5, 0), 0),
    ("floor_divide", "i8", (-(2**63), -1), -(2**63)),
    ("floor_divide", "i1", (-128, -1), -128),
    ("remainder", "i8", (-(2**63), -1), 0),
    ("remainder", "i4", (7, 0), 0),
    ("remainder", "f8", (-1.0, float("inf")), float("inf")),
    ("floor_divide", "f8", (-1.0, float("inf")), -0.0),
    ("floor_divide", "f8", (1.0, float("-inf")), -0.0),
    ("floor_divide", "f8", (float("inf"), -1.0), float("-inf")),
    ("floor_divide", "f4", (float("-inf"), -1.0), float("inf")),
    ("floor_divide", "f8", (1.0, 0.0), float("inf")),
    ("bitwise_left_shift", "i8", (1, 64), 0),
    ("bitwise_left_shift", "i1", (1, 8), 0),
    ("bitwise_right_shift", "i8", (-5, 64), -1),
    ("bitwise_right_shift", "u8", (5, 64), 0),
    ("pow", "i1", (3, 5), -13),
    ("pow", "i8", (2, -1), 0),
    ("pow", "i8", (-1, -3), -1),
    ("pow", "i8", (0, -1), 0),
    ("abs", "i1", (-128,), -128),
    ("negative", "u1", (1,), 255),
    ("add", "i1", (127, 1), -128),
    ("add", "?", (True, True), True),
    ("round", "f8", (2.5,), 2.0),
    ("sign", "f8", (-0.0,), 0.0),
    ("less", "i8", (-1, 0), True),
]


@together(("name", "code", "args", "expected"), POINTS)
def test_point(name: str, code: str, args: tuple[Any, ...], expected: Any) -> None:
    dtype, op = np.dtype(code), OPS[name]
    inputs = triples((dtype,))[: op.arity]
    at = np.all([same_bits(x, np.array(v, dtype)) for x, v in zip(inputs, args, strict=True)], 0)
    result = op.rule(name, (dtype,) * op.arity)[1]
    wanted = np.array([expected], result)
    assert at.any()
    assert same_bits(evaluated(op, (dtype,))[at], wanted).all()
    with np.errstate(all="ignore"):
        theirs = np.asarray(op.numpy(*[np.array([v], dtype) for v in args]))
    assert same_bits(theirs, wanted).all()
