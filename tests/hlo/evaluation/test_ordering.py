"""Sorting: comparators that NumPy's keys stand for, and the same ones asked pair by pair."""

from __future__ import annotations

import numpy as np

import xarraylite as xl
from tests.cases import together

SORT = """
less {{ a = {kind}[] parameter(0)  b = {kind}[] parameter(1)
  x = s32[] parameter(2)  y = s32[] parameter(3)
  c = pred[] compare(a, b), direction={direction}
  ROOT r = pred[] {root} }}
ENTRY e {{ p = {kind}[3,40] parameter(0)  q = s32[3,40] parameter(1)
  ROOT s = ({kind}[3,40], s32[3,40]) sort(p, q), dimensions={{1}}, is_stable=true, to_apply=less }}
"""


@together("nan", [False, True])
@together("direction", ["LT", "GT"])
@together("kind", ["f32", "bf16", "f8e5m2", "s32"])
def test_floats_without_nan_are_sorted_as_pairs_are(kind: str, direction: str, nan: bool) -> None:
    first = np.array([0.0, -0.0, 1, -1, 2, 3, -4, 0.5, np.inf, -np.inf], "float32")
    values = np.random.default_rng(0).choice(first, (3, 40))
    places = np.arange(120, dtype=np.int32).reshape(3, 40)
    if kind == "s32":
        values = np.clip(values, -9, 9)
    elif nan:
        values[:, 7] = np.nan
    found = []
    for root in ("compare(a, b), direction=" + direction, "and(c, c)"):
        module = xl.hlo.parse(SORT.format(kind=kind, direction=direction, root=root)).verify()
        dtype = module.entry.parameters[0].shape.dtype
        found.append([np.asarray(part) for part in module(values.astype(dtype), places)])
    keyed, asked = found
    assert np.array_equal(keyed[1], asked[1])
    assert keyed[0].tobytes() == asked[0].tobytes()
    if kind == "f32" and not nan:
        wanted = np.argsort(values if direction == "LT" else -values, axis=1, kind="stable")
        assert np.array_equal(keyed[1], np.take_along_axis(places, wanted, 1))
