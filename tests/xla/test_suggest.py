"""`suggest`: layouts that take less memory, compared with an exhaustive search."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import together
from xarraylite.layout.layout import Layout
from xarraylite.xla.formats import standard_tiles, tpu_layout
from xarraylite.xla.spec import ArraySpec
from xarraylite.xla.suggest import MAX_SUGGESTIONS, Suggestion


def found(text: str) -> list[tuple[str, int]]:
    return [(str(s.spec), s.nbytes) for s in ArraySpec.parse(text).suggest()]


# The first is XLA's own example of a bad layout; the others are worked out by hand.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "bf16[16,1280,40]{2,1,0:T(8,128)}",
            [("bf16[16,1280,40]{1,2,0:T(8,128)}", 16 * 1280 * 40 * 2)],
        ),
        (
            "bf16[16,1280,40]{2,1,0:T(8,128)(2,1)}",
            [("bf16[16,1280,40]{1,2,0:T(8,128)(2,1)}", 16 * 1280 * 40 * 2)],
        ),
        (  # lower tiles; the other order would pad 10 to 128
            "bf16[10,300]{1,0:T(8,128)(2,1)}",
            [
                ("bf16[10,300]{1,0:T(2,128)(2,1)}", 10 * 384 * 2),
                ("bf16[10,300]{1,0:T(4,128)(2,1)}", 12 * 384 * 2),
            ],
        ),
        (  # another order, which lower tiles make still better
            "f32[128,2]{1,0:T(8,128)}",
            [
                ("f32[128,2]{0,1:T(2,128)}", 1024),
                ("f32[128,2]{0,1:T(4,128)}", 2048),
                ("f32[128,2]{0,1:T(8,128)}", 4096),
            ],
        ),
        (  # a tile longer than the rank
            "f32[5]{0:T(8,128)}",
            [("f32[5]{0:T(128)}", 512), ("f32[5]{0:T(256)}", 1024), ("f32[5]{0:T(512)}", 2048)],
        ),
        ("f32[]{:T(1024)}", [("f32[]{:T(128)}", 512)]),
        (  # everything but order and tiles stays
            "s4[128,3,<=5]{1,2,0:T(8,128)(8,1)L(64)E(4)S(1)M(8)}",
            [
                ("s4[128,3,<=5]{0,2,1:T(8,128)(8,1)L(64)E(4)S(1)M(8)}", 1536),
            ],
        ),
    ],
)
def test_known_suggestions(text: str, expected: list[tuple[str, int]]) -> None:
    assert found(text) == expected


@together(
    "text",
    [
        "f32[8,128]{1,0:T(8,128)}",  # nothing is padded
        "f32[3,5]{1,0}",  # no tiles
        "f32[3,5]{1,0:L(1024)}",
        "f32[0,5]{1,0:T(8,128)}",  # nothing to store
        "f32[?,5]{1,0:T(8,128)}",  # no size
        "(f32[5]{0:T(8,128)}, s8[3]{0})",  # layouts belong to the members
        "token[]",
        "opaque[]",
        "b(f32[5]{0:T(8,128)})",
        "f32[3,5]{1,0:T(2,2)}",  # smaller than any other tile makes it
        "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
    ],
)
def test_nothing_to_suggest(text: str) -> None:
    assert found(text) == []


def test_no_layout_is_the_default_one() -> None:
    assert ArraySpec("f32", (3, 5)).suggest() == ()


def test_what_is_said() -> None:
    spec = ArraySpec.parse("bf16[16,1280,40]{2,1,0:T(8,128)}")
    (suggestion,) = spec.suggest()
    assert isinstance(suggestion, Suggestion)
    assert suggestion.saved_bytes == 5242880 - 1638400
    assert suggestion.reason == "order {1,2,0}; padding 68.8% -> 0.0%"
    assert str(suggestion) == (
        "bf16[16,1280,40]{1,2,0:T(8,128)}: 1638400 bytes, 3604480 less "
        "(order {1,2,0}; padding 68.8% -> 0.0%)"
    )
    (best, _, reordered) = ArraySpec.parse("f32[128,2]{1,0:T(8,128)}").suggest()
    assert best.reason == "order {0,1} and tiles T(2,128); padding 98.4% -> 0.0%"
    assert reordered.reason == "order {0,1}; padding 98.4% -> 75.0%"


def test_split_arrays_keep_their_order() -> None:
    layout = Layout((1, 0), [(8, 128)], split_configs=[(0, (1,))])
    split = ArraySpec("f32", (2, 128), layout)
    assert [str(s.spec) for s in split.suggest()] == [
        "f32[2,128]{1,0:T(2,128)SC(0:1)}",
        "f32[2,128]{1,0:T(4,128)SC(0:1)}",
    ]


def test_padding_of_the_older_kind_gives_way_to_tiles() -> None:
    layout = Layout((1, 0), padded_dimensions=(64, 128), padding_value="zero")
    (best, *rest) = ArraySpec("f32", (16, 100), layout).suggest()
    assert str(best.spec) == "f32[16,100]{1,0:T(8,128)}"
    assert best.spec.layout is not None
    assert best.spec.layout.padded_dimensions is None
    assert best.saved_bytes == (64 - 16) * 128 * 4
    assert rest == []


# --- against an exhaustive search --------------------------------------------------------------

EXTENTS = st.sampled_from([1, 2, 3, 5, 8, 40, 127, 128, 129, 300])
TYPES = st.sampled_from(["f32", "bf16", "s8", "pred", "c64"])


@st.composite
def tiled_specs(draw: st.DrawFn) -> ArraySpec:
    name, dims = draw(TYPES), draw(st.lists(EXTENTS, min_size=1, max_size=4))
    own = draw(
        st.sampled_from(
            [[(8, 128)], [(8, 128), (2, 1)], [(2, 8, 128)], [(128,)], [("*", 4, 32)], [(5, 3)]]
        )
    )
    return ArraySpec(name, dims, Layout(draw(st.permutations(range(len(dims)))), own))


def every_smaller_layout(spec: ArraySpec) -> list[tuple[int, int, int]]:
    """Bytes, kind of change and tile size of every order with every tile, by trying them all."""
    assert spec.layout is not None
    bits = 8 * spec.element_type.storage_bytes
    smaller = []
    for tiles in [spec.layout.tiles, *standard_tiles(spec.rank, bits)]:
        for order in permutations(range(spec.rank)):
            layout = Layout(order, tiles)
            size = spec.with_layout(layout).nbytes
            changes = (order != spec.layout.minor_to_major) + 2 * (
                layout.tiles != spec.layout.tiles
            )
            area = math.prod([t for t in layout.tiles[0].dimensions if t > 0])
            if size < spec.nbytes:
                smaller.append((size, changes, area))
    return smaller


@settings(max_examples=60, deadline=None)
@given(tiled_specs())
def test_suggestions_are_the_best_there_are(spec: ArraySpec) -> None:
    suggestions = spec.suggest()
    everything = every_smaller_layout(spec)
    assert bool(suggestions) == bool(everything)
    assert len(suggestions) <= MAX_SUGGESTIONS
    assert [s.nbytes for s in suggestions] == sorted(s.nbytes for s in suggestions)
    assert len({s.spec for s in suggestions}) == len(suggestions)
    for s in suggestions:
        assert s.nbytes == s.spec.nbytes < spec.nbytes
        assert s.saved_bytes == spec.nbytes - s.nbytes
        assert (s.spec.element_type, s.spec.dimensions) == (spec.element_type, spec.dimensions)
    if suggestions:
        assert suggestions[0].nbytes == min(size for size, _, _ in everything)
    reordered = [size for size, changes, _ in everything if changes == 1]
    if reordered:  # the best order for the tiles as they are is always told
        assert spec.layout is not None
        told = [s.nbytes for s in suggestions if s.spec.layout.tiles == spec.layout.tiles]
        assert told == [min(reordered)]


@settings(max_examples=40, deadline=None)
@given(TYPES, st.lists(EXTENTS, min_size=2, max_size=5))
def test_the_default_order_of_a_chip_is_not_improved(name: str, dims: list[int]) -> None:
    spec = ArraySpec(name, dims, tpu_layout(name, dims))
    assert spec.layout is not None
    higher = spec.layout.tile_dims[0][0] > 8  # chosen by the rows, not by padding
    same = [s for s in spec.suggest() if s.spec.layout.tiles == spec.layout.tiles]
    assert higher or same == []


def test_high_ranks_are_quick_and_deterministic() -> None:
    spec = ArraySpec("s8", range(2, 18), Layout(range(16), [(8, 128), (4, 1)]))
    first = spec.suggest()
    assert first
    assert ArraySpec.parse(str(spec)).suggest() == first
