"""Plans of computations: calls opened, the same work done once, loops that write in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.hlo.evaluation import program
from xarraylite.hlo.evaluation.inlining import flatten, lazy_sites
from xarraylite.memory.pool import counters
from xarraylite.runtime.launch import can_launch

in_machine_code = pytest.mark.skipif(not can_launch(), reason="another interpreter")

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"


def opcodes(text: str) -> list[str]:
    flat = flatten(xl.hlo.parse(text).entry)
    return [site.instruction.opcode for site in flat.sites]


def test_calls_are_opened_and_dead_code_is_dropped():
    text = (
        "twice { x = f32[4] parameter(0)  y = f32[4] add(x, x)  z = f32[4] exponential(x)  "
        "ROOT t = (f32[4], f32[4]) tuple(y, z) }\n"
        "ENTRY e { p = f32[4] parameter(0)  c = (f32[4], f32[4]) call(p), to_apply=twice  "
        "g = f32[4] get-tuple-element(c), index=0  ROOT r = f32[4] negate(g) }"
    )
    assert opcodes(text) == ["parameter", "add", "negate"]
    assert xl.hlo.parse(text)([1, 2, 3, 4]).tolist() == [-2, -4, -6, -8]


def test_the_same_operation_of_the_same_operands_is_done_once():
    text = (
        "ENTRY e { p = f32[4] parameter(0)  a = f32[4] sine(p)  b = f32[4] sine(p)  "
        "q = pred[4] compare(a, p), direction=LT  s = pred[4] compare(b, p), direction=GT  "
        "ROOT r = (pred[4], pred[4], f32[4]) tuple(q, s, b) }"
    )
    assert opcodes(text) == ["parameter", "sine", "compare", "compare", "tuple"]


def test_random_numbers_are_drawn_as_often_as_they_are_asked_for():
    text = (
        "ENTRY e { z = f32[] constant(0)  o = f32[] constant(1)  "
        "a = f32[8] rng(z, o), distribution=rng_uniform  "
        "b = f32[8] rng(z, o), distribution=rng_uniform  ROOT r = f32[8] subtract(a, b) }"
    )
    assert np.any(np.asarray(xl.hlo.parse(text)()))


def test_moves_that_move_nothing_are_dropped():
    text = (
        "ENTRY e { p = f32[4] parameter(0)  a = f32[1,4] reshape(p)  "
        "b = f32[1,4] broadcast(a), dimensions={0,1}  c = f32[4] reshape(b)  "
        "q = f32[2,4] parameter(1)  w = f32[2,4] broadcast(c), dimensions={1}  "
        "d = f32[2,4] copy(q)  t = f32[2,4] transpose(d), dimensions={0,1}  "
        "ROOT r = f32[2,4] add(w, t) }"
    )
    assert opcodes(text) == ["parameter", "parameter", "add"]
    x, y = np.arange(4, dtype=np.float32), np.ones((2, 4), np.float32)
    assert np.array_equal(xl.hlo.parse(text)(x, y), x + y)


def test_calls_of_calls_stay_calls_before_they_take_any_size():
    lines = ["f0 { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }"]
    for k in range(1, 20):  # 2 ** 20 additions
        lines.append(
            f"f{k} {{ x = f32[2] parameter(0)  a = f32[2] call(x), to_apply=f{k - 1}  "
            f"ROOT b = f32[2] call(a), to_apply=f{k - 1} }}"
        )
    lines.append("ENTRY e { p = f32[2] parameter(0)  ROOT r = f32[2] call(p), to_apply=f19 }")
    assert len(opcodes("\n".join(lines))) < 5000


def test_a_long_chain_of_calls_runs():
    lines = ["f0 { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }"]
    for k in range(1, 6001):
        lines.append(
            f"f{k} {{ x = f32[2] parameter(0)  a = f32[2] call(x), to_apply=f{k - 1}  "
            "ROOT b = f32[2] negate(a) }"
        )
    lines.append("ENTRY e { p = f32[2] parameter(0)  ROOT r = f32[2] call(p), to_apply=f6000 }")
    assert xl.hlo.parse("\n".join(lines))([1, 2]).tolist() == [-1, -2]


def test_constants_are_compared_by_their_bits():
    text = (
        "ENTRY e { a = f32[] constant(0)  b = f32[] constant(-0.0)  c = f32[] constant(0)  "
        "d = f32[2] constant({nan, 1})  e = f32[2] constant({nan, 1})  "
        "ROOT r = (f32[], f32[], f32[], f32[2], f32[2]) tuple(a, b, c, d, e) }"
    )
    assert opcodes(text).count("constant") == 3


@pytest.mark.parametrize("direction", ["GT", "LT"])
@pytest.mark.parametrize("dtype", ["f32", "s32"])
def test_places_of_extremes_are_found_without_their_numbers(direction, dtype):
    nan = dtype == "f32"
    worst = {"GT": "-inf", "LT": "inf"} if nan else {"GT": -(2**31), "LT": 2**31 - 1}
    text = f"""
f {{
  a = {dtype}[] parameter(0)
  i = s32[] parameter(1)
  b = {dtype}[] parameter(2)
  j = s32[] parameter(3)
  w = pred[] compare(a, b), direction={direction}
  n = pred[] compare(a, a), direction=NE
  o = pred[] or(w, n)
  v = {dtype}[] select({"o" if nan else "w"}, a, b)
  q = pred[] compare(a, b), direction=EQ
  l = pred[] compare(i, j), direction=LT
  t = pred[] and(q, l)
  k = pred[] or({"o" if nan else "w"}, t)
  u = s32[] select(k, i, j)
  ROOT r = ({dtype}[], s32[]) tuple(v, u)
}}
ENTRY e {{
  x = {dtype}[3,4] parameter(0)
  i = s32[3,4] iota(), iota_dimension=1
  w = {dtype}[] constant({worst[direction]})
  z = s32[] constant(0)
  ROOT r = ({dtype}[3], s32[3]) reduce(x, i, w, z), dimensions={{1}}, to_apply=f
}}"""
    assert "iota" not in opcodes(text)
    values = np.array([[1, 7, 7, 0], [3, 3, 3, 3], [5, 0, 0, 9]])
    values = values.astype(np.float32 if nan else np.int32)
    if nan:
        values[2, 1] = np.nan
        values[2, 3] = np.nan
    found, place = xl.hlo.parse(text)(values)
    want = np.argmax(values, 1) if direction == "GT" else np.argmin(values, 1)
    assert np.asarray(place).tolist() == want.tolist()
    assert np.array_equal(found, np.take_along_axis(values, want[:, None], 1)[:, 0], equal_nan=nan)


LOOP = (
    ADD
    + """
body {
  s = (s32[], f32[64,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[64,8] get-tuple-element(s), index=1
  zero = s32[] constant(0)
  one = s32[] constant(1)
  row = f32[1,8] dynamic-slice(x, i, zero), dynamic_slice_sizes={1,8}
  more = f32[1,8] add(row, row)
  j = s32[] add(i, one)
  UPDATE
  ROOT t = (s32[], f32[64,8]) tuple(j, y)
}
cond {
  s = (s32[], f32[64,8]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(63)
  ROOT l = pred[] compare(i, n), direction=LT
}
ENTRY e {
  x = f32[64,8] parameter(0)
  zero = s32[] constant(0)
  s = (s32[], f32[64,8]) tuple(zero, x)
  w = (s32[], f32[64,8]) while(s), body=body, condition=cond
  ROOT r = f32[64,8] get-tuple-element(w), index=1
}"""
)
UPDATES = {
    "dynamic-update-slice": "y = f32[64,8] dynamic-update-slice(x, more, j, zero)",
    "scatter": """
  k = s32[1] reshape(j)
  y = f32[64,8] scatter(x, k, more), update_window_dims={0,1}, inserted_window_dims={},
    scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add""",
}


@pytest.mark.parametrize("opcode", UPDATES)
def test_loops_write_in_place(opcode, monkeypatch):
    asked: list[bool] = []
    known = program.is_alone

    def is_alone(values: list[Any]) -> bool:
        asked.append(known(values))
        return asked[-1]

    monkeypatch.setattr(program, "is_alone", is_alone)
    module = xl.hlo.parse(LOOP.replace("UPDATE", UPDATES[opcode]))
    given = xl.asarray(np.random.default_rng(0).random((64, 8)).astype(np.float32))
    before = np.array(given)
    result = np.asarray(module(given))
    want = before.copy()
    for k in range(63):
        want[k + 1] = 2 * want[k] + (want[k + 1] if opcode == "scatter" else 0)
    assert np.allclose(result, want, rtol=1e-5)
    assert np.array_equal(given, before)  # the caller's array is copied first
    # A row that is a view of the array would be written: the first trip copies, and none after.
    assert asked[0] is False
    assert len(asked) == 63


def test_a_view_that_is_still_needed_keeps_an_array_from_being_written():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[4] parameter(0)  x = f32[4] negate(p)  "
        "row = f32[2] slice(x), slice={[1:3]}  i = s32[] constant(1)  "
        "u = f32[2] constant({8, 9})  y = f32[4] dynamic-update-slice(x, u, i)  "
        "ROOT t = (f32[2], f32[4]) tuple(row, y) }"
    )
    row, whole = module([1, 2, 3, 4])
    assert row.tolist() == [-2, -3]
    assert whole.tolist() == [-1, 8, 9, -4]


def test_groups_that_ask_for_values_are_not_traced():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[3] parameter(0)  a = f32[3] add(p, p)  "
        "c = c64[3] complex(a, p)  ROOT r = c64[3] multiply(c, c) }"
    )
    for _ in range(2):
        found = module([1, 2, 3])
        assert np.asarray(found).tolist() == [(2 + 1j) ** 2, (4 + 2j) ** 2, (6 + 3j) ** 2]


def test_updates_are_written_row_by_row_whatever_their_shape():
    text = """
    ENTRY e {
      x = f32[4,2,3] parameter(0)
      u = f32[6] parameter(1)
      v = f32[24] parameter(2)
      i = s32[] parameter(3)
      zero = s32[] constant(0)
      a = f32[4,2,3] add(x, x)
      row = f32[1,2,3] reshape(u)
      y = f32[4,2,3] dynamic-update-slice(a, row, i, zero, zero)
      all = f32[4,2,3] reshape(v)
      z = f32[4,2,3] dynamic-update-slice(x, all, i, zero, zero)
      ROOT t = (f32[4,2,3], f32[4,2,3]) tuple(y, z)
    }"""
    rng = np.random.default_rng(0)
    x, u, v = [rng.random(shape).astype(np.float32) for shape in ((4, 2, 3), 6, 24)]
    module = xl.hlo.parse(text)
    for start, row in ((-3, 0), (2, 2), (9, 3)):
        y, z = module(x, u, v, np.int32(start))
        want = x + x
        want[row] = u.reshape(2, 3)
        assert np.array_equal(y, want)
        assert np.array_equal(z, v.reshape(4, 2, 3))


def test_products_of_large_matrices_come_from_memory_that_is_there_already():
    module = xl.hlo.parse(
        "ENTRY e { x = f32[512,8] parameter(0)  y = f32[8,1024] parameter(1)  "
        "d = f32[512,1024] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}  "
        "ROOT r = f32[512,1024] negate(d) }"
    )
    x, y = np.ones((512, 8), np.float32), np.ones((8, 1024), np.float32)
    assert np.all(np.asarray(module(x, y)) == -8)
    before = counters.reused
    module(x, y)
    assert counters.reused > before


@pytest.mark.parametrize("columns", [1024, 1000, 16])
def test_layers_are_computed_in_the_memory_of_their_products(columns):
    shape = f"f32[64,{columns}]"
    module = xl.hlo.parse(
        f"ENTRY e {{ x = f32[64,8] parameter(0)  w = f32[8,{columns}] parameter(1)  "
        f"v = f32[{columns},512] parameter(2)  g = {shape} parameter(3)  "
        f"d = {shape} dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}  "
        f"s = {shape} multiply(d, d)  h = {shape} add(s, g)  "
        "y = f32[64,512] dot(h, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}  "
        "n = f32[64,512] negate(y)  t = f32[64,512] tanh(n)  "
        f"a = {shape} subtract(d, h)  "
        f"ROOT r = (f32[64,512], {shape}, f32[64,512]) tuple(t, a, n) }}"
    )
    rng = np.random.default_rng(columns)
    shapes = (64, 8), (8, columns), (columns, 512), (64, columns)
    given = [rng.integers(-3, 4, shape).astype(np.float32) / 64 for shape in shapes]
    x, w, v, g = given
    before = [one.copy() for one in given]
    own = xl.XArray(g)
    for _ in range(4):
        found = module(x, w, v, own)
        d = x @ w
        h = d * d + g
        n = -(h @ v)
        for one, wanted in zip(found, (np.tanh(n), d - h, n), strict=True):
            assert one.strides == (one.shape[1], 1)
            assert np.allclose(one.copy().numpy(), wanted, rtol=1e-5, atol=1e-6)
        assert all([np.array_equal(*pair) for pair in zip(given, before, strict=True)])
        assert np.array_equal(own.copy().numpy(), g)


@in_machine_code
def test_a_chain_of_layers_takes_no_memory_but_its_products():
    layers = 4
    lines = [
        f"d{k} = f32[64,1024] dot(h{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        f"  a{k} = f32[64,1024] add(d{k}, d{k})  h{k + 1} = f32[64,1024] negate(a{k})"
        for k in range(layers)
    ]
    text = "  ".join(lines).replace(f"h{layers} =", f"ROOT h{layers} =")
    module = xl.hlo.parse(
        f"ENTRY e {{ h0 = f32[64,1024] parameter(0)  w = f32[1024,1024] parameter(1)  {text} }}"
    )
    rng = np.random.default_rng(0)
    x = rng.integers(-2, 3, (64, 1024)).astype(np.float32)
    w = (np.eye(1024) + np.eye(1024, k=1)).astype(np.float32)
    wanted = x
    for _ in range(layers):
        wanted = -2 * (wanted @ w)
    with xl.config(engine="compiled"):
        module(x, w)
        before = counters.allocations
        found = module(x, w)
        made = counters.allocations - before
        assert np.array_equal(found.copy().numpy(), wanted)
        assert found.strides == (1024, 1)
        module(found, w)
        assert np.array_equal(found.copy().numpy(), wanted)
    # One more for the result, which is no product.
    assert made <= layers + 1


def test_bitcasts_are_views_and_go_into_kernels():
    text = (
        "ENTRY e { p = f32[6,4]{0,1} parameter(0)  a = f32[6,4]{0,1} negate(p)  "
        "b = f32[4,6]{1,0} bitcast(a)  c = f32[2,2,6]{2,1,0} bitcast(b)  "
        "d = f32[2,2,6]{2,1,0} add(c, c)  f = f32[6,2,2]{0,2,1} bitcast(d)  "
        "g = f32[6,2,2]{0,2,1} exponential(f)  ROOT r = f32[24]{0} bitcast(g) }"
    )
    module = xl.hlo.parse(text)
    assert "bitcast" not in opcodes(text)
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    memory = np.exp(-2 * x.T).reshape(4, 6)
    wanted = memory.reshape(2, 2, 6)
    for _ in range(3):
        assert np.allclose(module(x).numpy(), wanted.reshape(-1))


def test_bitcasts_of_tiled_arrays_stay_bitcasts():
    text = (
        "ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0)  "
        "b = f32[1,8,128]{2,1,0:T(8,128)} bitcast(p)  ROOT r = f32[1,8,128]{2,1,0} negate(b) }"
    )
    assert opcodes(text) == ["parameter", "bitcast", "negate"]
    x = np.arange(1024, dtype=np.float32).reshape(8, 128)
    assert np.array_equal(xl.hlo.parse(text)(x).numpy(), -x[None])


@pytest.mark.parametrize("shape", [(3, 4), (5, 7, 6)])
def test_elements_in_another_order_get_another_shape(shape):
    order = tuple(reversed(range(len(shape))))
    sizes = ",".join(map(str, shape))
    turned = ",".join([str(shape[k]) for k in order])
    count = int(np.prod(shape))
    text = (
        f"ENTRY e {{ p = f32[{sizes}] parameter(0)  "
        f"t = f32[{turned}] transpose(p), dimensions={{{','.join(map(str, order))}}}  "
        f"r = f32[{count}] reshape(t)  u = f32[{count},1] reshape(t)  "
        f"ROOT q = (f32[{count}], f32[{count},1], f32[{turned}]) tuple(r, u, t) }}"
    )
    module = xl.hlo.parse(text)
    x = np.arange(count, dtype=np.float32).reshape(shape)
    for _ in range(4):
        flat, column, whole = module(x)
        flat[0] = -1  # results have memory of their own
        assert flat[1:].tolist() == x.T.reshape(-1)[1:].tolist()
        assert column[:, 0].tolist() == x.T.reshape(-1).tolist()
        assert whole.tolist() == x.T.tolist()
    assert x.flat[0] == 0


def test_what_is_stored_is_stretched_by_each_of_its_kernels():
    text = (
        f"{ADD}ENTRY e {{ p = f32[3,4] parameter(0)  z = f32[] constant(0)  "
        "s = f32[3] reduce(p, z), dimensions={1}, to_apply=add  "
        "w = f32[3,4] broadcast(s), dimensions={0}  d = f32[3,4] divide(p, w)  "
        "m = f32[4] reduce(d, z), dimensions={0}, to_apply=add  t = f32[3,4] subtract(p, w)  "
        "ROOT q = (f32[3,4], f32[4], f32[3,4]) tuple(d, m, t) }"
    )
    module = xl.hlo.parse(text)
    lazy = {site.instruction.name for site in lazy_sites(flatten(module.entry))}
    assert "w" in lazy
    assert "s" not in lazy
    x = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    sums = x.sum(1, keepdims=True)
    for _ in range(3):
        d, m, t = module(x)
        assert np.allclose(d.numpy(), x / sums)
        assert np.allclose(m.numpy(), (x / sums).sum(0))
        assert np.array_equal(t.numpy(), x - sums)


@in_machine_code
@pytest.mark.parametrize("rows", [64, 1024])
def test_what_threads_share_is_written_over_what_nobody_needs_too(rows):
    shape = f"f32[{rows},1000]"
    module = xl.hlo.parse(
        f"{ADD}ENTRY e {{ x = f32[{rows},8] parameter(0)  y = f32[8,1000] parameter(1)  "
        f"d = {shape} dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}  "
        f"e = {shape} exponential(d)  z = f32[] constant(0)  "
        f"s = f32[{rows}] reduce(e, z), dimensions={{1}}, to_apply=add  "
        f"w = {shape} broadcast(s), dimensions={{0}}  ROOT q = {shape} divide(e, w) }}"
    )
    rng = np.random.default_rng(rows)
    x, y = [rng.normal(size=one).astype(np.float32) for one in ((rows, 8), (8, 1000))]
    powers = np.exp(x @ y)
    wanted = powers / powers.sum(-1, keepdims=True)
    with xl.config(engine="compiled"):
        for _ in range(3):
            before = counters.bytes
            found = module(x, y)
            made = counters.bytes - before
            assert np.allclose(found.copy().numpy(), wanted, rtol=1e-4, atol=0)
            del found
    assert made < 1.25 * powers.nbytes


def test_parts_that_lie_apart_are_computed_where_they_are_taken():
    text = (
        "ENTRY e {{ p = f32[2,8] parameter(0)  a = f32[2,8] negate(p)  "
        "b = f32[2,4] slice(a), slice={{[0:2], [0:4]}}  "
        "c = f32[2,4] slice(a), slice={{[0:2], [{first}:{last}]}}  "
        "ROOT r = f32[2,4] subtract(b, c) }}"
    )
    x = np.arange(16, dtype=np.float32).reshape(2, 8) ** 2
    for first, lazy in ((4, True), (3, False)):
        module = xl.hlo.parse(text.format(first=first, last=first + 4))
        flat = flatten(module.entry)
        found = [site.instruction.name for site in lazy_sites(flat)]
        assert ("a" in found) is lazy
        assert np.array_equal(module(x), x[:, first : first + 4] - x[:, :4])


@together("dtype", ["f32", "f64"])
@together("number", ["8", "-0.125", "3", "1", "0", "1e-40", "inf", "1.1754944e-38"])
def test_quotients_by_numbers_are_rounded_as_quotients(dtype, number):
    module = xl.hlo.parse(
        f"ENTRY e {{ x = {dtype}[4096] parameter(0)  c = {dtype}[] constant({number})  "
        f"b = {dtype}[4096] broadcast(c), dimensions={{}}  "
        f"ROOT q = {dtype}[4096] divide(x, b) }}"
    )
    bits = np.random.default_rng(0).integers(0, 256, 4096 * 8, np.uint8)
    x = bits.view("f4")[:4096] if dtype == "f32" else bits.view("f8")
    with np.errstate(all="ignore"):
        wanted = x / x.dtype.type(float(number))
    assert np.array_equal(module(x).numpy(), wanted, equal_nan=True)
