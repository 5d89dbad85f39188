"""`tpu_layout` against what a TPU compiler was seen to choose."""

from __future__ import annotations

import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError, LayoutError
from xarraylite.dtypes.element_types import element_type
from xarraylite.xla.formats import CHIPS, default_tiles, standard_tiles, tpu_layout
from xarraylite.xla.spec import ArraySpec

CASES = Path(__file__).parents[1] / "xla" / "xla_layout_cases.json"
FACTS = [
    case
    for case in json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    if case["kind"] == "tpu_default_layout"
]
NEW = [chip for chip in CHIPS if chip not in ("v2", "v3")]


@together("case", FACTS)
def test_facts(case: dict[str, Any]) -> None:
    for chip in case["chips"]:
        found = tpu_layout(case["element_type"], case["dims"], chip=chip)
        assert str(found) == case["expected"]


def test_there_are_facts_for_every_chip() -> None:
    assert {chip for case in FACTS for chip in case["chips"]} == set(CHIPS)


# Derived by hand from the documented formats: rows of a tile by the second-minor extent.
@together(
    ("name", "rows"),
    [
        ("f32", {1: 1, 2: 2, 3: 4, 4: 4, 5: 8, 8: 8, 9: 8, 64: 8, 4096: 8}),
        ("bf16", {1: 2, 2: 2, 3: 4, 4: 4, 5: 8, 16: 8, 17: 8, 4096: 8}),
        ("u8", {1: 4, 4: 4, 5: 8, 31: 8, 32: 32, 33: 8, 64: 32}),
        ("f8e4m3fn", {1: 4, 5: 8, 32: 32, 40: 8}),
        ("u4", {1: 8, 8: 8, 63: 8, 64: 64, 65: 8, 128: 64}),
        ("u2", {1: 16, 17: 16, 128: 128, 200: 16}),
        ("u1", {1: 32, 32: 32, 256: 256, 300: 32}),
        ("c128", {1: 1, 2: 2, 3: 4, 9: 8}),
    ],
)
def test_rows_of_a_tile(name: str, rows: dict[int, int]) -> None:
    # 65536 columns: the order of dimensions is the default one.
    found = {n: tpu_layout(name, (n, 65536)).tile_dims[0] for n in rows}
    assert found == {n: (h, 128) for n, h in rows.items()}


@pytest.mark.parametrize("chip", ["v2", "v3"])
def test_old_chips_have_no_tiles_below_their_granule(chip: str) -> None:
    rows = [tpu_layout("f32", (n, 65536), chip=chip).tile_dims for n in (1, 2, 3, 5)]
    assert rows == [((2, 128),), ((2, 128),), ((4, 128),), ((8, 128),)]
    assert str(tpu_layout("s4", (64, 65536), chip=chip)) == "{1,0:T(8,128)(4,1)}"
    assert str(tpu_layout("f32", (), chip=chip)) == "{:T(256)}"


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("f32", {1: 128, 128: 128, 129: 256, 257: 512, 513: 1024, 5000: 1024}),
        ("bf16", {1: 256, 256: 256, 257: 512, 1024: 1024, 9999: 1024}),
        ("s8", {1: 512, 512: 512, 513: 1024, 9999: 1024}),
        ("s2", {1: 2048, 9999: 2048}),
    ],
)
def test_runs_of_one_dimension(name: str, runs: dict[int, int]) -> None:
    assert {n: tpu_layout(name, [n]).tile_dims[0] for n in runs} == {
        n: (run,) for n, run in runs.items()
    }


def test_narrow_elements_are_packed_and_booleans_are_not() -> None:
    sizes = {
        name: tpu_layout(name, (3, 5)).element_size_in_bits
        for name in ("pred", "s1", "u2", "s4", "f4e2m1fn", "s8", "bf16", "f64")
    }
    assert sizes == {
        "pred": 0, "s1": 1, "u2": 2, "s4": 4, "f4e2m1fn": 4, "s8": 0, "bf16": 0, "f64": 0,
    }  # fmt: skip
    assert tpu_layout("s4", (3, 5), chip="v3").element_size_in_bits == 0
    assert tpu_layout("pred", (32, 128)) == tpu_layout("s8", (32, 128))


@together("chip", CHIPS)
@together("name", ["f32", "bf16", "s8", "s4", "c64"])
def test_no_other_pair_of_minor_dimensions_pads_less(name: str, chip: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(40):
        extents = tuple(rng.choice([1, 2, 3, 5, 8, 40, 127, 128, 129, 300], rng.integers(2, 6)))
        found = tpu_layout(name, extents, chip=chip)
        order = found.minor_to_major
        assert sorted(order) == list(range(len(extents)))
        assert list(order[2:]) == sorted(order[2:], reverse=True)
        rows = {n: min(8, tpu_layout(name, (n, 2**20), chip=chip).tile_dims[0][0]) for n in extents}
        bills = {
            pair: math.prod(extents)
            // (extents[pair[0]] * extents[pair[1]])
            * (math.ceil(extents[pair[0]] / 128) * 128)
            * (math.ceil(extents[pair[1]] / rows[extents[pair[1]]]) * rows[extents[pair[1]]])
            for pair in permutations(range(len(extents)), 2)
        }
        least = min(bills.values())
        assert bills[order[:2]] == least
        assert order[:2] == max(pair for pair, bill in bills.items() if bill == least)


@together("chip", CHIPS)
@together("name", ["pred", "s1", "u2", "s4", "f8e5m2", "bf16", "s32", "f64", "c128"])
def test_sizes_are_whole_granules_and_grow_with_the_array(name: str, chip: str) -> None:
    rng = np.random.default_rng(11)
    granule = 512 * CHIPS[chip].granule
    for rank in (0, 1, 1, *[2, 3, 4, 5] * 5):
        extents = [int(n) for n in rng.choice([1, 2, 4, 7, 9, 31, 32, 64, 127, 129, 257], rank)]
        sizes = []
        for k in range(rank + 1):  # the array, then one dimension longer by one at a time
            longer = [n + (d < k) for d, n in enumerate(extents)]
            layout = tpu_layout(name, longer, chip=chip)
            layout.validate(longer)
            spec = ArraySpec(name, longer, layout)
            assert spec.nbytes == spec.array_size() == spec.nbytes_logical + spec.padding_bytes
            assert spec.nbytes % granule == 0
            sizes.append(spec.nbytes)
        # The order of dimensions is chosen by tiles of 8 rows; those of 1 and 2 bits are higher.
        assert name in ("s1", "u2") or sizes == sorted(sizes)


def test_what_names_an_element_type() -> None:
    expected = tpu_layout("bf16", (16, 1280, 40))
    assert tpu_layout(ml_dtypes.bfloat16, [16, 1280, 40]) == expected
    assert tpu_layout(np.dtype(ml_dtypes.bfloat16), (16, 1280, 40)) == expected
    assert tpu_layout(element_type("bf16"), np.array([16, 1280, 40])) == expected
    assert tpu_layout("u4", (8, 128)) != tpu_layout(np.dtype("u4"), (8, 128))


@together("chip", ["v9", "", "V5E", "v5", None, 5, ["v4"]])
def test_unknown_chips(chip: Any) -> None:
    with pytest.raises(LayoutError, match=r"tpu_layout: chip .* known chips: v2 v3 v4 v5e"):
        tpu_layout("f32", (3, 5), chip=chip)


@together("dimensions", [(-1,), (3, -(2**63)), (2.5,), ("3",), "35", 7, (True,)])
def test_bad_dimensions(dimensions: Any) -> None:
    with pytest.raises(LayoutError, match="tpu_layout"):
        tpu_layout("f32", dimensions)


def test_bad_element_types() -> None:
    for name in ("f33", "F32", ""):
        with pytest.raises(DTypeError):
            tpu_layout(name, (3,))
    with pytest.raises((LayoutError, DTypeError)):
        tpu_layout("token", ())


@together("bits", [1, 2, 4, 8, 16, 32, 64, 128])
def test_default_tiles_are_among_the_standard_ones(bits: int) -> None:
    assert default_tiles((), bits) in standard_tiles(0, bits)
    for n in (1, 2, 3, 5, 100, 256, 513, 5000):
        assert default_tiles((n,), bits) in standard_tiles(1, bits)
        assert default_tiles((40, n), bits) in standard_tiles(3, bits)


def test_standard_tiles_go_from_large_to_small() -> None:
    assert standard_tiles(2, 32) == (((8, 128),), ((4, 128),), ((2, 128),), ((1, 128),))
    assert standard_tiles(2, 8) == tuple(((h, 128), (4, 1)) for h in (32, 8, 4))
    assert standard_tiles(1, 16) == tuple(((n,), (128,), (2, 1)) for n in (1024, 512, 256))
