"""Opcodes that few programs have, against models by hand."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

pytestmark = pytest.mark.once

RAGGED = {
    # Operands and result by the names of dimensions, the ragged one, those of the sizes of groups.
    "rows": ("mk", "gkn", "mn", "m", "g"),
    "rows in batches": ("bmk", "gbkn", "bmn", "m", "g"),
    "other groups in each batch": ("bmk", "gbkn", "bmn", "m", "bg"),
    "other groups for outer rows": ("omk", "gkn", "omn", "m", "og"),
    "lying otherwise": ("komb", "kngb", "bomn", "m", "bog"),
    "contracted": ("mk", "kn", "gmn", "k", "g"),
    "contracted in batches": ("bmk", "bkn", "gbmn", "k", "bg"),
    "contracted in outer ones": ("klm", "nlk", "gmn", "l", "kg"),
    "batches": ("bmk", "bkn", "bmn", "b", "g"),
}
SIZES = {"b": 2, "g": 3, "k": 5, "l": 6, "m": 7, "n": 4, "o": 2}


def ragged_product(x, y, sizes, names):
    """Add product by product, each in the group that it belongs to."""
    left, right, result, ragged, outer = names
    want = np.zeros([SIZES[name] for name in result])
    every = sorted(set(left + right + result))
    for numbers in itertools.product(*[range(SIZES[name]) for name in every]):
        at = dict(zip(every, numbers, strict=True))
        ends = np.cumsum(sizes[tuple([at[name] for name in outer[:-1]])])
        own = np.searchsorted(ends, at[ragged], side="right")
        if ragged == "b" or ("g" in at and own == at["g"]):
            part = x[tuple([at[n] for n in left])] * y[tuple([at[n] for n in right])]
            want[tuple([at[n] for n in result])] += part
    return want


@together("names", RAGGED.values(), ids=RAGGED)
def test_ragged_dot(names):
    left, right, result, ragged, outer = names
    rng = np.random.default_rng(len(left))
    x, y = (
        rng.integers(-9, 9, [SIZES[name] for name in side]).astype(np.float32)
        for side in (left, right)
    )
    sizes = rng.integers(0, 3, [SIZES[name] for name in outer]).astype(np.int32)
    batch = [name for name in left if name in right and name in result and name != "g"]
    batch.sort(key=result.index)
    contracted = [name for name in left if name in right and name not in result]
    listed = {
        "lhs_batch_dims": [left.index(n) for n in batch],
        "rhs_batch_dims": [right.index(n) for n in batch],
        "lhs_contracting_dims": [left.index(n) for n in contracted],
        "rhs_contracting_dims": [right.index(n) for n in contracted],
        "lhs_ragged_dims": [left.index(ragged)],
        "rhs_group_dims": [right.index("g")] if "g" in right else [],
    }
    dims = [f"{name}={{{','.join(map(str, some))}}}" for name, some in listed.items() if some]
    spec = [",".join(map(str, part.shape)) for part in (x, y, sizes)]
    module = xl.hlo.parse(
        f"ENTRY e {{ x = f32[{spec[0]}] parameter(0)  y = f32[{spec[1]}] parameter(1)  "
        f"g = s32[{spec[2]}] parameter(2)  ROOT r = ragged-dot(x, y, g), {', '.join(dims)} }}"
    )
    got = np.asarray(module(x, y, sizes))
    assert np.array_equal(got, ragged_product(x, y, sizes, names))


def test_scaled_dot():
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-9, 9, shape).astype(np.float32) for shape in ((4, 6), (6, 5)))
    scales = rng.integers(1, 5, (2, 3)).astype(np.float32), np.float32([[2], [0.5], [4]])
    module = xl.hlo.parse(
        "ENTRY e { x = f32[4,6] parameter(0)  y = f32[6,5] parameter(1)  "
        "s = f32[2,3] parameter(2)  t = f32[3,1] parameter(3)  "
        "ROOT r = scaled-dot(x, y, s, t), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"
    )
    wide = np.kron(scales[0], np.ones((2, 2))), np.kron(scales[1], np.ones((2, 5)))
    assert np.array_equal(np.asarray(module(x, y, *scales)), (x * wide[0]) @ (y * wide[1]))


def test_stochastic_conversion_to_integers():
    values = np.float32([2.25, -2.25, 2.0, np.nan, np.inf, -np.inf, 300, -300, 2**-30 * 1.5, 127])
    random = np.uint32([0, 2**30 - 1, 2**30, 2**32 - 1, 5, 6])
    module = xl.hlo.parse(
        "ENTRY e { x = f32[10,6] parameter(0)  u = u32[10,6] parameter(1)  "
        "ROOT r = s8[10,6] stochastic-convert(x, u) }"
    )
    given = np.broadcast_to(values[:, None], (10, 6)), np.broadcast_to(random, (10, 6))
    want = np.zeros((10, 6), np.int8)
    for (i, j), value in np.ndenumerate(given[0]):
        size = abs(float(value))
        if np.isnan(value) or size >= 127:
            want[i, j] = 0 if np.isnan(value) else 127 if value > 0 else -128
        else:  # up if the random number is less than the fraction, in 32 binary digits
            up = int(random[j]) < int((size - int(size)) * 2**32)
            want[i, j] = np.copysign(int(size) + up, value)
    assert np.array_equal(np.asarray(module(*map(np.ascontiguousarray, given))), want)


def test_stochastic_conversion_to_floats():
    """Of 65 536 random numbers that are spread evenly as many round up as bits are lost."""
    bits = np.uint32([0x3F801234, 0xC0490FDB, 0x3F800000, 0x7F800000])
    random = np.arange(1 << 16, dtype=np.uint32) << 16
    module = xl.hlo.parse(
        "ENTRY e { x = f32[65536] parameter(0)  u = u32[65536] parameter(1)  "
        "ROOT r = bf16[65536] stochastic-convert(x, u) }"
    )
    for pattern in bits:
        x = np.full(1 << 16, pattern).view(np.float32)
        got = np.asarray(module(x, random)).view(np.uint16)
        low = pattern >> 16
        assert set(got) <= {low, low + 1}
        assert np.count_nonzero(got == low + 1) == pattern & 0xFFFF
    assert got.view(ml_dtypes.bfloat16)[0] == np.inf


@pytest.mark.parametrize(("target", "kept"), [("f8e5m2", 2), ("f8e4m3fn", 3)])
def test_stochastic_conversion_of_short_floats(target, kept):
    """16 random bits are fewer than those that float32, where it is done, loses."""
    random = np.arange(1 << 16, dtype=np.uint16)
    module = xl.hlo.parse(
        "ENTRY e { x = f16[65536] parameter(0)  u = u16[65536] parameter(1)  "
        f"ROOT r = {target}[65536] stochastic-convert(x, u) }}"
    )
    x = np.float16(1 + 3 / 1024)
    got = np.asarray(module(np.full(1 << 16, x), random)).astype(np.float32)
    up = np.float32(1 + 2.0**-kept)
    assert set(got) == {np.float32(1), up}
    assert np.count_nonzero(got == up) == 3 * 2 ** (6 + kept)  # 3 / 1024 of what lies between


def test_ragged_all_to_all():
    """Device d sends ``sizes[d][k]`` rows from ``offsets[d][k]`` to ``targets[d][k]`` on k."""
    offsets, sizes, targets = (
        np.int32(x) for x in ([[0, 3], [1, 2]], [[3, 2], [1, 4]], [[0, 0], [4, 2]])
    )
    module = xl.hlo.parse(
        "ENTRY e { x = f32[6,2] parameter(0)  to = f32[7,2] parameter(1)  a = s32[2] parameter(2)  "
        "b = s32[2] parameter(3)  c = s32[2] parameter(4)  d = s32[2] parameter(5)  "
        "ROOT r = f32[7,2] ragged-all-to-all(x, to, a, b, c, d), replica_groups={{0,1}} }"
    )
    x = np.arange(24, dtype=np.float32).reshape(2, 6, 2)
    to = -np.ones((2, 7, 2), np.float32)
    want = to.copy()
    for d, k in itertools.product(range(2), repeat=2):
        start, size, at = offsets[d, k], sizes[d, k], targets[d, k]
        want[k, at : at + size] = x[d, start : start + size]
    arguments = [x, to, offsets, sizes, targets, sizes.T.copy()]
    made = xl.hlo.evaluate(module, *[list(part) for part in arguments], replicas=2)
    assert np.array_equal([np.asarray(one) for one in made], want)


def test_the_state_of_random_numbers_steps_on():
    module = xl.hlo.parse(
        "ENTRY e { a = u64[2] rng-get-and-update-state(), delta=3  "
        "b = u64[2] rng-get-and-update-state(), delta=5  c = u64[2] rng-get-and-update-state(), "
        "delta=1  ROOT r = (u64[2], u64[2], u64[2]) tuple(a, b, c) }"
    )
    first, second, third = [int(low) + (int(high) << 64) for low, high in map(np.asarray, module())]
    assert (second - first, third - second) == (3, 5)


def test_dynamic_reshape():
    module = xl.hlo.parse(
        "ENTRY e { x = f32[6] parameter(0)  n = s32[] parameter(1)  m = s32[] parameter(2)  "
        "ROOT r = f32[<=2,<=3] dynamic-reshape(x, n, m) }"
    )
    x = np.arange(6, dtype=np.float32)
    assert np.array_equal(np.asarray(module(x, np.int32(2), np.int32(3))), x.reshape(2, 3))
    with pytest.raises(xl.HloError, match="6 elements do not fill"):
        module(x, np.int32(2), np.int32(2))


def test_no_factor_of_a_matrix_that_is_not_positive_definite():
    x = np.float32([[[1, 2], [2, 1]], [[4, 0], [0, 9]]])
    for lower in ("true", "false"):
        module = xl.hlo.parse(
            f"ENTRY e {{ x = f32[2,2,2] parameter(0)  ROOT r = cholesky(x), lower={lower} }}"
        )
        made = np.asarray(module(x))
        assert np.isnan(made[0]).all()
        assert np.array_equal(made[1], np.float32([[2, 0], [0, 3]]))


def test_the_largest_under_a_window_of_scales_that_have_no_sign() -> None:
    made = xl.hlo.parse("""
        f { a = f8e8m0fnu[] parameter(0)  b = f8e8m0fnu[] parameter(1)  ROOT c = maximum(a, b) }
        ENTRY e {
          p = f8e8m0fnu[4] parameter(0)
          z = f8e8m0fnu[] parameter(1)
          ROOT r = f8e8m0fnu[4] reduce-window(p, z), window={size=3 pad=1_1}, to_apply=f
        }
    """)
    scale = np.dtype(ml_dtypes.float8_e8m0fnu)
    found = made(np.array([1, 2, 4, 8], scale), np.array(1, scale))
    assert found.numpy().astype(float).tolist() == [2, 4, 8, 8]


def test_a_transform_of_length_0_is_zero() -> None:
    made = xl.hlo.parse("""
        ENTRY e { p = c64[2,3] parameter(0)
          ROOT r = c64[2,3] fft(p), fft_type=FFT, fft_length={1,0} }
    """)
    assert made(np.ones((2, 3), np.complex64)).numpy().tolist() == [[0] * 3] * 2


def test_a_count_along_a_huge_dimension_of_no_elements_takes_no_memory() -> None:
    made = xl.hlo.parse("ENTRY e { ROOT r = f32[1000000000000,0] iota(), iota_dimension=0 }")
    assert made().shape == (10**12, 0)


def test_the_imaginary_part_of_real_numbers_is_zero() -> None:
    made = xl.hlo.parse("ENTRY e { p = f32[3] parameter(0)  ROOT r = f32[3] imag(p) }")
    assert made(np.float32([-1, np.inf, np.nan])).numpy().tolist() == [0, 0, 0]
    assert not np.signbit(made(np.float32([-1, np.inf, np.nan])).numpy()).any()


def test_logarithms_near_1_keep_small_parts() -> None:
    # By hand: log(1 + x + iy) is x + y*y/2 + iy where both are small.
    made = xl.hlo.parse("ENTRY e { p = c64[5] parameter(0)  ROOT r = log-plus-one(p) }")
    given = np.complex64([-1e-25 - 0j, -1e-26 - 4e-13j, -2 - 4e-13j, 3 + 0j, 3e38 + 3e38j])
    found = made(given).numpy()
    want = [-1e-25, -1e-26 + 8e-26, 8e-26, np.log(4), np.log(3e38) + np.log(2) / 2]
    assert np.allclose(found.real, want, rtol=1e-5, atol=0)
    assert np.allclose(found.imag, [0, -4e-13, -np.pi, 0, np.pi / 4], rtol=1e-6, atol=0)


def test_arrays_are_waited_for_and_their_parts_are_not_exchanged() -> None:
    waited = xl.hlo.parse("""
        ENTRY e { p = f32[2] parameter(0)  done = token[] after-all(p)
          ROOT r = f32[2] add-dependency(p, done) }
    """).verify()
    assert waited(np.float32([1, 2])).numpy().tolist() == [1, 2]
    parts = xl.hlo.parse("""
        ENTRY e { p = f32[2] parameter(0)  n = s32[] constant(1)  at = (s32[]) tuple(n)
          ROOT r = f32[2] collective-permute(p, p, at, at), source_target_pairs={{0,0}},
            slice_sizes={{1}} }
    """).verify()
    with pytest.raises(xl.HloError, match="exchanges parts of arrays"):
        parts(np.float32([1, 2]))


@pytest.mark.parametrize("rows", [0, 3])
def test_a_gather_of_no_rows_gives_zeros(rows):
    gather = xl.hlo.parse(f"""ENTRY e {{ a = f32[{rows},2] parameter(0)  k = s32[3,1] parameter(1)
      ROOT g = f32[3,2] gather(a, k), offset_dims={{1}}, collapsed_slice_dims={{0}},
        start_index_map={{0}}, index_vector_dim=1, slice_sizes={{0,2}} }}""")
    found = gather(np.ones((rows, 2), np.float32), [[2], [0], [5]])
    assert np.asarray(found).tolist() == np.zeros((3, 2)).tolist()


def test_a_scatter_into_nothing_changes_nothing():
    scatter = xl.hlo.parse("""
      last { a = f32[] parameter(0)  ROOT b = f32[] parameter(1) }
      ENTRY e { a = f32[0,2] parameter(0)  k = s32[3,1] parameter(1)  u = f32[3] parameter(2)
        ROOT s = f32[0,2] scatter(a, k, u), update_window_dims={}, inserted_window_dims={0,1},
          scatter_dims_to_operand_dims={1}, index_vector_dim=1, to_apply=last }""")
    found = scatter(np.zeros((0, 2), np.float32), [[0], [1], [2]], [1, 2, 3])
    assert found.shape == (0, 2)


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16", "f8e5m2"])
def test_the_sign_of_a_zero_is_that_zero(dtype):
    text = f"ENTRY e {{ p = {dtype}[5] parameter(0)  ROOT s = sign(p) }}"
    found = np.asarray(xl.hlo.parse(text)([0.0, -0.0, -3, 2, np.nan])).astype(np.float32)
    assert np.array_equal(found, [0, 0, -1, 1, np.nan], equal_nan=True)
    assert np.signbit(found[:3]).tolist() == [False, True, True]


def test_a_dimension_that_is_set_longer_than_it_was_has_the_size_that_was_asked_for():
    grown = xl.hlo.parse(
        "ENTRY e { p = f32[4,3] parameter(0)  n = s32[] parameter(1)  m = s32[] constant(4)  "
        "q = f32[<=4,3] set-dimension-size(p, n), dimensions={0}  "
        "f = f32[4,3] set-dimension-size(q, m), dimensions={0}  ROOT r = f32[4,3] add(f, p) }"
    )
    p = np.arange(12, dtype="f4").reshape(4, 3)
    found = np.asarray(grown(p, 2))
    assert found.shape == (4, 3)
    assert np.array_equal(found[:2], 2 * p[:2])  # nobody says what lies behind the old size


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("f32[3,3] dot(q, p), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "contracting"),
        (("f32[4] dot(q, p), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1},"
         " rhs_contracting_dims={1}"), "batch_dims"),
        (("f32[2,3,3] ragged-dot(q, p, i), lhs_contracting_dims={0}, rhs_contracting_dims={0},"
         " lhs_ragged_dims={0}"), "contracting"),
        (("f32[2,2,3] gather(q, i), offset_dims={1,2}, collapsed_slice_dims={},"
         " start_index_map={0}, index_vector_dim=1, slice_sizes={2,3}"), "do not lie within"),
        ("f32[<=4,3] dynamic-update-slice(q, u, n, n)", "broadcast"),
        ("u8[4,3,4] bitcast-convert(q)", "reshape"),
        (("f32[2,3] gather(q, i), offset_dims={1}, collapsed_slice_dims={0},"
         " start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}"), "do not lie within"),
    ],
)  # fmt: skip
def test_fewer_elements_than_are_needed_are_refused(last, message):
    program = xl.hlo.parse(
        "ENTRY e { p = f32[4,3] parameter(0)  n = s32[] parameter(1)  i = s32[2] constant({1,3})  "
        "u = f32[2,3] constant({{1,2,3}, {4,5,6}})  "
        f"q = f32[<=4,3] set-dimension-size(p, n), dimensions={{0}}  ROOT r = {last} }}"
    )
    p = np.ones((4, 3), np.float32)
    program(p, 4)  # all of them
    with pytest.raises(xl.HloError, match=f"r: .*{message}"):
        program(p, 0)
    if "slice_sizes={1" not in last:
        with pytest.raises(xl.HloError, match=f"r: .*{message}"):
            program(p, 1)


def test_no_slices_of_no_elements_are_gathered():
    none = xl.hlo.parse(
        "ENTRY e { p = f32[4,3] parameter(0)  j = s32[2] parameter(1)  n = s32[] parameter(2)  "
        "q = f32[<=4,3] set-dimension-size(p, n), dimensions={0}  "
        "i = s32[<=2] set-dimension-size(j, n), dimensions={0}  "
        "ROOT r = f32[<=2,3] gather(q, i), offset_dims={1}, collapsed_slice_dims={0},"
        " start_index_map={0}, index_vector_dim=1, slice_sizes={1,3} }"
    )
    assert np.asarray(none(np.ones((4, 3), np.float32), [1, 3], 0)).shape == (0, 3)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_a_slice_as_long_as_a_dimension_may_be_has_all_of_it(count):
    whole = xl.hlo.parse(
        "ENTRY e { p = f32[4,2] parameter(0)  n = s32[] parameter(1)  "
        "q = f32[<=4,2] set-dimension-size(p, n), dimensions={0}  "
        "ROOT r = f32[4,2] dynamic-slice(q, n, n), dynamic_slice_sizes={4,2} }"
    )
    p = np.arange(8, dtype=np.float32).reshape(4, 2)
    assert np.array_equal(np.asarray(whole(p, count)), p[:count])


@pytest.mark.parametrize("source", [-5, -1, 7])
def test_who_is_sent_to_by_no_device_gets_zeros(source):
    alone = xl.hlo.parse(
        "ENTRY e { p = f32[2] parameter(0)  "
        f"ROOT r = f32[2] collective-permute(p), source_target_pairs={{{{{source},0}}}} }}"
    )
    assert np.asarray(alone(np.ones(2, np.float32))).tolist() == [0, 0]


@pytest.mark.parametrize("name", ["s4", "u4", "s8", "u16", "s32", "u64"])
def test_shifts_by_any_number_of_places(name):
    bits, signed = int(name[1:]), name[0] == "s"
    dtype = xl.ArraySpec.make_shape(name).dtype
    low = -(1 << (bits - 1)) if signed else 0
    numbers = [low, low + 5, low + (1 << bits) - 1, 3]
    places = [0, 1, bits - 1, min(bits, low + (1 << bits) - 1), -1 % (1 << bits) + low]
    pairs = [(x, n) for x in numbers for n in places]
    given = [np.array(column, object).astype(dtype) for column in zip(*pairs, strict=True)]
    for opcode in ("shift-left", "shift-right-arithmetic", "shift-right-logical"):
        count = len(pairs)
        module = xl.hlo.parse(
            f"ENTRY e {{ x = {name}[{count}] parameter(0)  n = {name}[{count}] parameter(1)  "
            f"ROOT r = {name}[{count}] {opcode}(x, n) }}"
        )
        made = [int(x) % (1 << bits) for x in np.asarray(module(*given)).tolist()]
        want = []
        for x, n in pairs:
            plain, far = x % (1 << bits), min(n % (1 << bits), bits)
            negative = opcode == "shift-right-arithmetic" and plain >> (bits - 1)
            moved = plain << far if opcode == "shift-left" else plain >> far
            want.append((moved | ((1 << bits) - 1 << bits - far) * bool(negative)) % (1 << bits))
        assert made == want


def test_truth_values_are_joined_and_compared_as_0_and_1():
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    for opcode, want in {
        "maximum": a | b, "minimum": a & b, "and": a & b, "or": a | b, "xor": a ^ b,
        "compare_LT": ~a & b, "compare_GE": a | ~b,
    }.items():  # fmt: skip
        name, _, direction = opcode.partition("_")
        tail = f", direction={direction}" if direction else ""
        module = xl.hlo.parse(
            f"ENTRY e {{ x = pred[4] parameter(0)  y = pred[4] parameter(1)  "
            f"ROOT r = pred[4] {name}(x, y){tail} }}"
        )
        assert np.array_equal(np.asarray(module(a, b)), want)


def test_real_numbers_have_no_imaginary_part():
    module = xl.hlo.parse("ENTRY e { x = f32[3] parameter(0)  ROOT r = f32[3] imag(x) }")
    assert np.asarray(module(np.float32([1, np.inf, np.nan]))).tolist() == [0, 0, 0]


def test_a_partition_that_does_not_exist_sends_nothing_to_those_of_its_replica():
    """Nor does the device of another replica that has the number which it would have."""
    module = xl.hlo.parse(
        "HloModule m, num_partitions=2\n"
        "ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] collective-permute(x), channel_id=1, "
        "source_target_pairs={{3,0},{0,1}} }"
    )
    made = xl.hlo.evaluate(module, [np.float32(k) for k in (1, 2, 3, 4)], replicas=2)
    assert [float(np.asarray(x)) for x in made] == [0, 1, 0, 3]


@pytest.mark.parametrize(("first", "second"), [(2, 3), (3, 2), (1, 3), (0, 2), (4, 2)])
def test_operands_of_which_some_are_dynamic_meet_in_the_live_part(first, second):
    """As jaxlib 0.10.2 computes it; one element is stretched."""
    program = xl.hlo.parse(
        "f { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }  "
        "ENTRY e { p = f32[4,3] parameter(0)  n = s32[] parameter(1)  m = s32[] parameter(2)  "
        "z = f32[] constant(0)  k = pred[4,3] compare(p, p), direction=GE  "
        "d = f32[<=4,3] set-dimension-size(p, n), dimensions={0}  "
        "d2 = f32[<=4,3] set-dimension-size(p, m), dimensions={0}  "
        "a = f32[<=4,3] add(p, d)  b = f32[<=4,3] select(k, d, d2)  c = f32[<=4,3] clamp(z, d, p)"
        "  q = f32[3] reduce(a, z), dimensions={0}, to_apply=f"
        "  r = f32[3] reduce(b, z), dimensions={0}, to_apply=f"
        "  s = f32[3] reduce(c, z), dimensions={0}, to_apply=f"
        "  ROOT t = (f32[3], f32[3], f32[3]) tuple(q, r, s) }"
    ).verify()
    p = np.arange(12, dtype=np.float32).reshape(4, 3)
    both = p[[0] * second] if first == 1 else p[: min(first, second)]
    want = [2 * p[:first].sum(0), both.sum(0), p[:first].sum(0)]
    assert np.array_equal([np.asarray(part) for part in program(p, first, second)], want)


@pytest.mark.parametrize("combine", ["add(x, y)", "subtract(x, y)"])
@pytest.mark.parametrize(("size", "pad"), [(2, "0_1"), (3, "2_0"), (3, "1_1")])
def test_a_window_over_a_dynamic_dimension_has_as_many_places_as_without_padding(
    combine, size, pad
):
    program = xl.hlo.parse(
        f"f {{ x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] {combine} }}  "
        "g { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }  "
        "ENTRY e { p = f32[4] parameter(0)  n = s32[] parameter(1)  z = f32[] constant(0)  "
        "d = f32[<=4] set-dimension-size(p, n), dimensions={0}  "
        f"w = f32[<=4] reduce-window(d, z), window={{size={size} pad={pad}}}, to_apply=f  "
        "ROOT r = f32[] reduce(w, z), dimensions={0}, to_apply=g }"
    ).verify()
    p = np.float32([1, 2, 4, 8])
    sign = 1 if "add" in combine else -1
    for n in (3, 4):
        low, high = map(int, pad.split("_"))
        padded = np.pad(p[:n], (low, high))
        want = sum(padded[k : k + size].sum() for k in range(n - size + 1))
        assert float(np.asarray(program(p, n))) == sign * want
