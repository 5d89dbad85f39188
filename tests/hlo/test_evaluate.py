"""Evaluation of whole modules: JAX's results, arguments, layouts, memory, devices."""

from __future__ import annotations

import json

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo import oracle
from xarraylite._config import settings
from xarraylite.hlo.evaluation.moves import HEAVY


def check(case: oracle.Case) -> None:
    got = oracle.leaves(xl.hlo.parse(case.text)(*case.inputs))
    assert len(got) == len(case.outputs)
    for mine, want, tolerance in zip(got, case.outputs, case.tolerances, strict=True):
        values = np.asarray(mine)
        assert oracle.agree(values, want, tolerance), (values, want)


@pytest.mark.parametrize("name", oracle.texts("modules", "unoptimised"))
def test_module_gives_what_jax_gives(name):
    check(oracle.load("modules", name, "unoptimised"))


@pytest.mark.once
@pytest.mark.parametrize("name", oracle.texts("modules", "optimised"))
def test_optimised_module_gives_what_jax_gives(name):
    # Fusions and bitcasts are the same expressions to either engine; kernels cost time.
    engine = "compiled" if name.startswith(("model_mlp", "text_")) else "reference"
    with xl.config(engine=engine if settings.engine == "compiled" else "reference"):
        check(oracle.load("modules", name, "optimised"))


ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"


def test_arguments_of_a_wrong_shape_or_dtype_are_refused():
    module = xl.hlo.parse("ENTRY e { p = f32[2,<=3] parameter(0)  ROOT r = negate(p) }")
    assert np.asarray(module(np.ones((2, 1), np.float32))).shape == (2, 1)
    for wrong in (np.ones((2, 4), np.float32), np.ones((2, 3)), np.ones(2, np.float32)):
        with pytest.raises(xl.HloError, match=r"p: the argument is .*expected f32\[2,<=3\]"):
            module(wrong)
    with pytest.raises(xl.HloError, match="takes 1 arguments, got 2"):
        module(1, 2)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_nan_in_float4_is_the_negative_zero_that_xla_makes_of_it(engine):
    """Whichever its sign is, which differs from function to function and between processors."""
    text = """ENTRY e { p = f32[4] parameter(0)  x = f4e2m1fn[5] parameter(1)
    y = f4e2m1fn[5] parameter(2)  a = f4e2m1fn[4] convert(p)  b = f4e2m1fn[5] divide(x, y)
    c = f4e2m1fn[5] log(x)  d = f4e2m1fn[5] sqrt(x)  f = f4e2m1fn[5] divide(y, b)
    ROOT t = (f4e2m1fn[4], f4e2m1fn[5], f4e2m1fn[5], f4e2m1fn[5], f4e2m1fn[5]) tuple(a, b, c, d, f)
    }"""
    wide = np.array([np.nan, -np.nan, np.inf, -np.inf], np.float32)
    x, y = np.array([[0, -0.0, 0, 1, -1], [0, 0, -0.0, -1, -1]]).astype(xl.float4_e2m1fn)
    with xl.config(engine=engine):
        found = xl.hlo.parse(text)(wide, x, y)
    codes = [np.asarray(values).view(np.uint8).tolist() for values in found]
    assert codes == [
        [8, 8, 7, 15], [8, 8, 8, 10, 2], [15, 15, 15, 0, 8], [0, 8, 0, 2, 8], [8, 8, 8, 2, 10],
    ]  # fmt: skip


def test_results_have_memory_of_their_own():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[4] parameter(0)  c = f32[2] constant({1, 2})  "
        "s = f32[2] slice(p), slice={[0:2]}  ROOT t = tuple(p, s, c, c) }"
    )
    given = np.arange(4, dtype=np.float32)
    whole, part, one, other = module(given)
    for result in (whole, part, one, other):
        result[...] = 9
    assert given.tolist() == [0, 1, 2, 3]
    assert module(given)[2].tolist() == [1, 2]
    whole[...], one[...] = 5, 6
    assert part.tolist() == [9, 9]
    assert other.tolist() == [9, 9]


def test_entry_layouts_are_honoured():
    module = xl.hlo.parse(
        "HloModule m, entry_computation_layout="
        "{(f32[16,256]{1,0:T(8,128)})->f32[16,256]{0,1:T(8,128)}}\n"
        "ENTRY e { p = f32[16,256]{1,0:T(8,128)} parameter(0)  "
        "ROOT r = f32[16,256]{0,1:T(8,128)} add(p, p) }"
    )
    values = np.arange(16 * 256, dtype=np.float32).reshape(16, 256)
    for given in (values, xl.asarray(values, layout="{1,0:T(8,128)}")):
        result = module(given)
        assert str(result.spec) == "f32[16,256]{0,1:T(8,128)}"
        assert np.array_equal(np.asarray(result), 2 * values)


def test_bitcast_between_tiled_layouts_moves_no_byte():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[1024]{0:T(1024)} parameter(0)  "
        "ROOT r = f32[8,128]{1,0:T(8,128)} bitcast(p) }"
    )
    given = np.arange(1024, dtype=np.float32)
    result = module(xl.asarray(given, layout="{0:T(1024)}"))
    assert str(result.spec) == "f32[8,128]{1,0:T(8,128)}"
    assert np.array_equal(np.asarray(result), given.reshape(8, 128))


BITCASTS = [
    ("f32[8,1,128]{2,0,1:T(8,128)}", "f32[8,128]{1,0:T(8,128)}", True),
    ("f32[2,16,256]{2,1,0:T(8,128)}", "f32[32,256]{1,0:T(8,128)}", True),
    ("f32[32,256]{0,1:T(8,128)}", "f32[256,32]{1,0:T(8,128)}", True),
    ("f32[2,3,10]{1,2,0:T(2,128)}", "f32[10,2,3]{2,0,1:T(2,128)}", True),
    ("f32[1024]{0:T(1024)}", "f32[8,128]{1,0:T(8,128)}", True),
    ("bf16[4,16,256]{2,1,0:T(8,128)(2,1)}", "bf16[64,256]{1,0:T(8,128)(2,1)}", True),
    ("s4[16,256]{1,0:T(8,128)E(4)}", "s4[2,8,256]{2,1,0:T(8,128)E(4)}", True),
    ("f32[16,256]{1,0:T(8,128)}", "f32[32,128]{1,0:T(8,128)}", False),
    ("f32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0}", False),
    ("s32[16,256]{1,0:T(8,128)}", "f32[16,256]{1,0:T(8,128)}", False),
]


@together(("source", "target", "view"), BITCASTS)
def test_bitcasts_read_the_bytes_as_the_other_layout_says(source, target, view):
    module = xl.hlo.parse(f"ENTRY e {{ p = {source} parameter(0)  ROOT r = {target} bitcast(p) }}")
    spec = module.entry.parameters[0].shape
    count = np.prod(spec.dimensions)
    values = (np.arange(count) % 7).reshape(spec.dimensions).astype(spec.dtype)
    laid = xl.asarray(values, layout=spec.layout)
    memory = xl.adapt(laid.buffer.data, spec=target)
    for given in (values, laid):
        assert np.array_equal(module(given), memory, equal_nan=True)
    root = module.entry.root
    plain = xl.asarray(values)
    found = HEAVY["bitcast"](None, root, plain)
    assert np.shares_memory(np.asarray(plain), np.asarray(found)) == view
    assert HEAVY["bitcast"](None, root, laid).buffer.address == laid.buffer.address


def test_bitcast_between_strided_layouts_follows_memory():
    module = xl.hlo.parse(
        "ENTRY e { p = f32[2,3]{0,1} parameter(0)  ROOT r = f32[3,2]{1,0} bitcast(p) }"
    )
    given = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert module(given).tolist() == given.T.tolist()


def test_constants_that_were_left_out_cannot_be_evaluated():
    module = xl.hlo.parse("ENTRY e { ROOT c = f32[99] constant({...}) }")
    with pytest.raises(xl.HloError, match=r"c: .*left its values out"):
        module()


@pytest.mark.parametrize("combine", ["multiply(a, b)", "subtract(multiply(a, b), a)"])
def test_windows_fold_what_is_inside_and_their_first_value_once(combine):
    # A window reaches over both ends, and its elements are set apart.
    module = xl.hlo.parse(
        "f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = " + combine + " }\n"
        "ENTRY e { p = f32[3] parameter(0)  two = f32[] constant(2)  "
        "ROOT r = f32[4] reduce-window(p, two), to_apply=f, "
        "window={size=3 stride=2 pad=2_2 lhs_dilate=2} }"
    )

    def fold(*values: float) -> float:
        state = 2.0
        for value in values:
            state = state * value - (state if "subtract" in combine else 0)
        return state

    assert module([3, 5, 7]).tolist() == [fold(3), fold(3, 5), fold(5, 7), fold(7)]


def test_angles_of_complex_points():
    module = xl.hlo.parse(
        "ENTRY e { y = c64[3] parameter(0)  x = c64[3] parameter(1)  ROOT a = atan2(y, x) }"
    )
    y, x = np.complex64([1, 1 + 2j, -1j]), np.complex64([1, 2, 3 + 1j])
    assert np.allclose(module(y, x), np.arctan(y / x), rtol=1e-5)


def test_dynamic_sizes():
    module = xl.hlo.parse(
        ADD + "ENTRY e { p = f32[4] parameter(0)  n = s32[] parameter(1)  "
        "q = f32[<=4] set-dimension-size(p, n), dimensions={0}  z = f32[] constant(0)  "
        "s = f32[] reduce(q, z), dimensions={0}, to_apply=add  "
        "k = s32[] get-dimension-size(q), dimensions={0}  ROOT t = tuple(s, k) }"
    )
    assert [part.item() for part in module([1, 2, 4, 8], 3)] == [7, 3]


def test_replicas_meet_in_collectives():
    module = xl.hlo.parse(
        ADD
        + """
ENTRY e {
  p = f32[4] parameter(0)
  i = u32[] replica-id()
  r = f32[4] all-reduce(p), replica_groups={{0,1},{2,3}}, to_apply=add
  g = f32[8] all-gather(p), replica_groups={{0,2},{1,3}}, dimensions={0}
  s = f32[1] reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=add
  a = f32[4] all-to-all(p), replica_groups={{0,1,2,3}}, dimensions={0}
  c = f32[4] collective-permute(p), source_target_pairs={{0,1},{1,2}}
  ROOT t = tuple(i, r, g, s, a, c)
}"""
    )
    given = np.arange(16, dtype=np.float32).reshape(4, 4)
    results = module(list(given), replicas=4)
    for k, (i, r, g, s, a, c) in enumerate(results):
        assert i.item() == k
        assert r.tolist() == given[k // 2 * 2 : k // 2 * 2 + 2].sum(0).tolist()
        assert g.tolist() == given[k % 2 :: 2].ravel().tolist()
        assert s.tolist() == [given[:, k].sum()]
        assert a.tolist() == given[:, k].tolist()
        assert c.tolist() == (given[k - 1] if k in (1, 2) else np.zeros(4)).tolist()


def test_devices_that_part_ways_are_found():
    module = xl.hlo.parse(
        ADD
        + """
yes { y = f32[] parameter(0)  ROOT r = f32[] all-reduce(y), replica_groups={}, to_apply=add }
no { ROOT n = f32[] parameter(0) }
ENTRY e {
  p = f32[] parameter(0)
  q = pred[] parameter(1)
  ROOT c = f32[] conditional(q, p, p), true_computation=yes, false_computation=no
}"""
    )
    assert [x.item() for x in module([1, 2], [True, True], replicas=2)] == [3, 3]
    with pytest.raises(xl.HloError, match=r"different places: (r, the end|the end, r)"):
        module([1, 2], [True, False], replicas=2)
    with pytest.raises(xl.HloError, match="3 arguments for 2 devices"):
        module([1, 2, 3], [True, False], replicas=2)


def test_partitioned_program_runs_on_its_devices():
    module = xl.hlo.parse(
        "HloModule m, num_partitions=2\n"
        + ADD
        + """
ENTRY e {
  p = f32[2] parameter(0)
  ROOT r = f32[2] all-reduce(p), channel_id=1, replica_groups={{0,1}}, \
use_global_device_ids=true, to_apply=add
}"""
    )
    results = module([np.float32([1, 2]), np.float32([10, 20])])
    assert [result.tolist() for result in results] == [[11, 22], [11, 22]]


COLLECTIVES = json.loads((oracle.DATA / "collectives.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COLLECTIVES["programs"])
def test_collectives_give_what_jax_gives(name):
    module = xl.hlo.parse(COLLECTIVES["programs"][name]).verify()
    given = np.arange(48, dtype=np.float32).reshape(4, 4, 3) ** 2
    for device, results in enumerate(module(list(given))):
        wanted = [output[device] for output in COLLECTIVES["outputs"]]
        assert [np.asarray(result).ravel().tolist() for result in results] == wanted


def test_what_is_begun_is_ended():
    module = xl.hlo.parse(
        """
twice { x = f32[2] parameter(0)  ROOT y = f32[2] add(x, x) }
ENTRY e {
  p = f32[2] parameter(0)
  c = (f32[2], f32[2], u32[]) copy-start(p)
  a = ((f32[2]), f32[2]) async-start(p), calls=twice
  b = ((f32[2]), f32[2]) async-update(a)
  t = token[] after-all()
  d = f32[2] copy-done(c)
  s = f32[2] async-done(b)
  k = f32[2] add-dependency(s, t)
  ROOT r = (f32[2], f32[2]) tuple(d, k)
}"""
    ).verify()
    assert [part.tolist() for part in module([1, 2])] == [[1, 2], [2, 4]]


#: What evaluation used to make of them: other shapes and types, or an error of some other class.
BROKEN = {
    "f32[7,9] negate(x)": "gives",
    "s32[2,3] negate(x)": "gives",
    "f32[7,9] reshape(x)": "as many elements",
    "f32[2,3] slice(x), slice={[0:5], [0:1]}": "within a dimension of 2",
    "f32[2,3] transpose(x), dimensions={1,0}": "gives",
    "f32[2,2] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}": "has the size of",
    "f32[2,3] call(x), to_apply=f": "not",
}


@together("line", BROKEN)
def test_what_breaks_a_rule_is_not_run(line: str) -> None:
    module = xl.hlo.parse(f"""
        f {{ a = f32[2,3] parameter(0)  ROOT b = f32[3,2] negate(a) }}
        ENTRY e {{ x = f32[2,3] parameter(0)  ROOT r = {line} }}""")
    with pytest.raises(xl.HloError, match=f"^[rb]: .*{BROKEN[line]}"):
        module(np.ones((2, 3), np.float32))
