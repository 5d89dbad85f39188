"""Loops: how often they run, and the products that are made for all of their trips at once."""

from __future__ import annotations

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.hlo import oracle
from xarraylite.hlo.evaluation.loops import ahead, trip_count

LOOP = """
body {{
  s = (f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  step = s32[] constant({step})
  j = s32[] {change}
  x = f32[8] get-tuple-element(s), index=0
  y = f32[8] add(x, x)
  ROOT t = (f32[8], s32[]) tuple(y, j)
}}
less {{ i = s32[] parameter(0)  n = s32[] constant({limit})
  ROOT c = pred[] compare({sides}), direction={direction} }}
condition {{
  s = (f32[8], s32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=1
  ROOT c = pred[] call(i), to_apply=less
}}
ENTRY e {{
  x = f32[8] parameter(0)
  first = s32[] constant({first})
  s = (f32[8], s32[]) tuple(x, first)
  ROOT w = (f32[8], s32[]) while(s), condition=condition, body=body{config}
}}"""
UP = {
    "change": "add(i, step)", "sides": "i, n", "direction": "LT", "config": "", "first": 0,
    "step": 1, "limit": 10,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "trips"),
    [
        ({}, 10),
        ({"first": 3, "step": 3}, 3),
        ({"first": 3, "step": 3, "direction": "LE", "limit": 12}, 4),
        ({"change": "add(step, i)", "sides": "n, i", "direction": "GT"}, 10),
        ({"change": "subtract(i, step)", "direction": "GE", "first": 5, "limit": 0}, 6),
        ({"direction": "NE", "step": 2}, 5),
        ({"first": 10}, 0),
        ({"change": "multiply(i, step)"}, None),
        ({"direction": "NE", "step": 3}, None),
        ({"direction": "GT", "first": 11}, None),  # grows until it wraps
        ({"step": 2**30, "limit": 2**31 - 1, "direction": "LE"}, None),  # wraps before it ends
        ({"config": ', backend_config={"known_trip_count":{"n":"7"}}'}, 7),
    ],
)
def test_trips_of_loops(changes, trips):
    module = xl.hlo.parse(LOOP.format(**(UP | changes)))
    loop = module.entry.root
    assert trip_count(loop) == trips
    cost = module.cost(chip=None)
    often = 1 if trips is None else trips
    assert cost.of("y").runs == often
    if trips and not changes.get("config"):
        x = np.arange(8, dtype=np.float32)
        assert np.array_equal(module(x)[0], x * 2**trips)
    assert cost.of("y").bytes == 3 * 32
    per_trip = 8 + 1  # the array, and the counter
    assert cost.flops == often * per_trip + (often + 1 if trips is not None else 1)
    assert cost.of("w").flops == cost.flops


def test_trips_that_xla_notes_are_those_that_are_counted():
    counts = []
    for which in ("unoptimised", "optimised"):
        module = xl.hlo.parse(oracle.load("modules", "control_scan", which).text)
        counts.append(sorted([trip_count(loop) for loop in module.walk("while")]))
    assert counts[0]
    assert None not in counts[0]
    assert counts[0] == counts[1]


RECURRENT = """
body {{
  s = (s32[], f32[4,3], f32[6,4,2], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[4,3] get-tuple-element(s), index=1
  xs = f32[6,4,2] get-tuple-element(s), index=2
  w = f32[2,3] get-tuple-element(s), index=3
  zero = s32[] constant(0)
  one = s32[] constant(1)
  row = f32[1,4,2] dynamic-slice(xs, {place}, zero, zero), dynamic_slice_sizes={{1,4,2}}
  x = f32[4,2] reshape(row)
  d = f32[4,3] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  a = f32[4,3] add(h, d)
  v = f32[2,3] add(w, w)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[4,3], f32[6,4,2], f32[2,3]) tuple(j, a, xs, {weights})
}}
cond {{
  s = (s32[], f32[4,3], f32[6,4,2], f32[2,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant({limit})
  ROOT l = pred[] compare(i, n), direction=LT
}}
ENTRY e {{
  xs = f32[6,4,2] parameter(0)
  w = f32[2,3] parameter(1)
  h = f32[4,3] parameter(2)
  zero = s32[] constant(0)
  s = (s32[], f32[4,3], f32[6,4,2], f32[2,3]) tuple(zero, h, xs, w)
  r = (s32[], f32[4,3], f32[6,4,2], f32[2,3]) while(s), body=body, condition=cond
  ROOT g = f32[4,3] get-tuple-element(r), index=1
}}"""


@pytest.mark.parametrize(
    ("changes", "products"),
    [
        ({}, 1),
        ({"limit": 9}, 1),  # slices beyond the last one are moved inside
        ({"limit": 3}, 0),  # half of them would be made for nobody
        ({"weights": "v"}, 0),
        ({"place": "one"}, 1),
    ],
)
def test_slices_of_one_array_are_multiplied_at_once(changes, products):
    options = {"limit": 6, "weights": "w", "place": "i"} | changes
    module = xl.hlo.parse(RECURRENT.format(**options))
    (loop,) = module.walk("while")
    assert len(ahead(loop)[1]) == products
    rng = np.random.default_rng(0)
    xs, w, h = [rng.random(shape).astype(np.float32) for shape in ((6, 4, 2), (2, 3), (4, 3))]
    want, weights = h, w
    for k in range(options["limit"]):
        place = 1 if options["place"] == "one" else min(k, 5)
        want = want + xs[place] @ weights
        weights = weights * 2 if options["weights"] == "v" else weights
    for _ in range(2):
        assert np.allclose(module(xs, w, h), want, rtol=1e-5)


#: What JAX 0.10.2 makes of 1 to 4 and the carry 100: rows come before what is carried.
SCANS = [
    ("s, n", "", [101, 1, 1, 1], -4),
    ("s, n", "is_reverse=true, ", [-1, -1, -1, 104], -1),
    ("n, s", "", [-1, -2, -3, -4], 110),
]


@pytest.mark.parametrize(("results", "order", "rows", "last"), SCANS)
def test_scans_take_rows_first(results: str, order: str, rows: list[float], last: float) -> None:
    module = xl.hlo.parse(f"""
        f {{ a = f32[] parameter(0)  b = f32[] parameter(1)  s = f32[] add(a, b)
             n = f32[] negate(a)  ROOT t = (f32[], f32[]) tuple({results}) }}
        ENTRY e {{ a = f32[4] parameter(0)  z = f32[] constant(100)
        ROOT r = (f32[4], f32[]) scan(a, z), dimensions={{0}}, num_carries=1, {order}to_apply=f }}
    """).verify()
    found, carried = module([1, 2, 3, 4])
    assert (found.tolist(), carried.item()) == (rows, last)


def test_scans_over_nothing_and_of_what_is_carried_alone() -> None:
    text = """
        f { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT t = (f32[], f32[]) tuple(b, a) }
        ENTRY e { a = f32[0] parameter(0)  z = f32[] constant(7)
        ROOT r = (f32[0], f32[]) scan(a, z), dimensions={0}, num_carries=1, to_apply=f }"""
    found, carried = xl.hlo.parse(text)([])
    assert (found.shape, carried.item()) == ((0,), 7)
    rows, last = xl.hlo.parse("""
        f { a = f32[] parameter(0)  s = f32[] add(a, a)  ROOT t = (f32[], f32[]) tuple(a, s) }
        ENTRY e { z = f32[] parameter(0)
        ROOT r = (f32[3], f32[]) scan(z), dimensions={0}, num_carries=1, to_apply=f }""")(5)
    assert (rows.tolist(), last.item()) == ([5, 10, 20], 40)


SCAN = """
    two { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT t = (f32[], f32[]) tuple(a, b) }
    three { a = f32[] parameter(0)  b = f32[] parameter(1)  c = f32[] parameter(2)
            ROOT t = (f32[], f32[]) tuple(a, c) }
    kept { a = f32[1] parameter(0)  b = f32[] parameter(1)
           ROOT t = (f32[1], f32[]) tuple(a, b) }
    other { a = f32[] parameter(0)  b = f32[] parameter(1)  k = s32[] constant(0)
            ROOT t = (f32[], s32[]) tuple(a, k) }
    ENTRY e { v = f32[4] parameter(0)  w = f32[5] parameter(1)  z = f32[] constant(1)
    ROOT r = """

#: Each is refused by jaxlib 0.10.2 too.
WRONG_SCANS = {
    "(f32[4], f32[]) scan(v, w, z), dimensions={0}, num_carries=1, to_apply=three": "one size",
    "(f32[5], f32[]) scan(v, z), dimensions={0}, num_carries=1, to_apply=two": r"not \(f32\[5",
    "(f32[], f32[4]) scan(v, z), dimensions={0}, num_carries=1, to_apply=two": r"not \(f32\[\]",
    "(f32[4], f32[]) scan(v, z), dimensions={}, num_carries=1, to_apply=two": "names one dim",
    "(f32[4], f32[]) scan(v, z), dimensions={1}, num_carries=1, to_apply=two": "along dimension 1",
    "(f32[4], f32[]) scan(v, z), dimensions={0}, num_carries=3, to_apply=two": "num_carries=3 of 2",
    "(f32[4], f32[]) scan(v, z), dimensions={0}, num_carries=-1, to_apply=two": "num_carries=-1",
    "(f32[], f32[]) scan(z, z), dimensions={0}, num_carries=2, to_apply=two": "how long",
    "(f32[4], f32[]) scan(v, z), dimensions={0}, num_carries=1, to_apply=kept": r"takes \(f32\[1\]",
    "(f32[4], s32[]) scan(v, z), dimensions={0}, num_carries=1, to_apply=other": "as it takes it",
}


@together("scan", WRONG_SCANS)
def test_scans_that_do_not_fit_are_refused_before_they_run(scan: str) -> None:
    module = xl.hlo.parse(f"{SCAN}{scan} }}")
    for use in (module.verify, lambda: module(np.zeros(4), np.zeros(5))):
        with pytest.raises(xl.HloError, match=rf"r: scan\(.*{WRONG_SCANS[scan]}"):
            use()


def test_scans_that_carry_in_front_are_text_only() -> None:
    line = "(f32[], f32[4]) scan(z, v), dimensions={0}, num_carries=1, to_apply=two"
    module = xl.hlo.parse(f"{SCAN}{line} }}").verify()
    assert str(xl.hlo.parse(str(module))) == str(module)
    with pytest.raises(xl.HloError, match=r"r: scan\(f32\[\], f32\[4\]\): goes along dimension 0"):
        module(np.zeros(4, np.float32), np.zeros(5, np.float32))


@pytest.mark.parametrize("depth", [60, 1200])
def test_loops_within_loops_run_or_are_refused(depth: int) -> None:
    less = "n = f32[] constant(3)  ROOT p = pred[] compare(x, n), direction=LT"
    text = [
        f"less {{ x = f32[] parameter(0)  {less} }}",
        "b.0 { x = f32[] parameter(0)  n = f32[] constant(5)  ROOT y = f32[] add(x, n) }",
    ]
    for k in range(1, depth):
        loop = f"while(x), condition=less, body=b.{k - 1}"
        text.append(f"b.{k} {{ x = f32[] parameter(0)  ROOT y = f32[] {loop} }}")
    module = xl.hlo.parse("\n".join(text)).verify()
    if depth < 100:
        assert module(1).item() == 6
    else:
        with pytest.raises(xl.HloError, match="nest too deep"):
            module(1)


def test_maps_of_single_elements_nest_as_deep_as_they_like():
    body = "p = f32[] parameter(0)  ROOT r = f32[] negate(p)"
    for _ in range(600):
        body = f"p = f32[] parameter(0)  ROOT r = map(p), dimensions={{}}, to_apply={{ {body} }}"
    module = xl.hlo.parse(
        "ENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] map(x), dimensions={0}, "
        f"to_apply={{ {body} }} }}"
    )
    assert np.asarray(module(np.float32([1, 2, 3]))).tolist() == [-1, -2, -3]
