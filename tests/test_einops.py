"""einops on containers and lazy results: `einops.array_api` against einops on NumPy's arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import einops
import numpy as np
import pytest
from einops import array_api

import xarraylite as xl
from tests.cases import together

V = np.random.default_rng(0).random((6, 4, 8, 3))

Pair = tuple[Any, Any]

SOURCES: dict[str, Callable[[], Pair]] = {
    "rows": lambda: (xl.asarray(V), V),
    "transposed": lambda: (xl.asarray(V.T.copy()).T, V),
    "lazy": lambda: (xl.asarray(V) * 2 + 1, V * 2 + 1),
    "tiled": lambda: (xl.asarray(V, layout="{3,2,1,0:T(2,2)}"), V),
    "int": lambda: (xl.asarray((V * 9).astype(int)), (V * 9).astype(int)),
    "bool": lambda: (xl.asarray(V > 0.5), V > 0.5),
}

REARRANGED = """
b h w c -> (b h) w c | b h w c -> h (b w) c | b h w c -> b c h w | b h w c -> b (c h w)
(b1 b2) h w c -> (b1 h) (b2 w) c | b (h h2) (w w2) c -> b h w (c h2 w2) | b h w c -> () b h w c
b (h h1) (w w1) c -> (b h w) h1 w1 c | b h w c -> b 1 h w 1 c | ... c -> c ... | b ... -> (...) b
"""
REDUCED = """
b h w c -> b c | b (h h2) (w w2) c -> b h w c | b h w c -> | b h w c -> c b | b h w c -> 1 h 1 c
... c -> c | b ... c -> b c
"""
REPEATED = "b h w c -> b h w c k | b h w c -> b (h k) w c | b h w c -> (k b) h w c"
EXTENTS = {"b1": 2, "h2": 2, "w2": 2, "h1": 2, "w1": 4, "k": 3}


def patterns(text: str) -> list[tuple[str, dict[str, int]]]:
    """Return patterns with the extents that they do not say."""
    found = [pattern.strip() for line in text.strip().splitlines() for pattern in line.split("|")]
    return [
        (pattern, {k: n for k, n in EXTENTS.items() if k in re.findall(r"\w+", pattern)})
        for pattern in found
    ]


def same(ours: Any, theirs: Any) -> None:
    """Compare arrays, or lists of them: floats by their last digits, as sums have orders."""
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            same(one, other)
        return
    assert isinstance(ours, xl.XExpression)
    assert (ours.shape, ours.dtype) == (np.shape(theirs), theirs.dtype)
    np.testing.assert_allclose(np.asarray(ours), theirs, 1e-12)


@together("source", SOURCES)
def test_rearranging_and_repeating(source: str) -> None:
    x, v = SOURCES[source]()
    for pattern, extents in patterns(REARRANGED):
        same(array_api.rearrange(x, pattern, **extents), einops.rearrange(v, pattern, **extents))
    for pattern, extents in patterns(REPEATED):
        same(array_api.repeat(x, pattern, **extents), einops.repeat(v, pattern, **extents))


@pytest.mark.parametrize("source", SOURCES)
def test_reducing(source: str) -> None:
    x, v = SOURCES[source]()
    turn = list(SOURCES).index(source)
    hows = ("any", "all") if source == "bool" else ("sum", "max", "min", "prod")
    for number, (pattern, extents) in enumerate(patterns(REDUCED), turn):
        how = hows[number % len(hows)]
        ours = array_api.reduce(x, pattern, how, **extents)
        same(ours, np.asarray(einops.reduce(v, pattern, how, **extents)))


def test_packing_and_lists() -> None:
    x, v = SOURCES["lazy"]()
    ours, sizes = array_api.pack([x, x[0]], "* h w c")
    theirs, known = einops.pack([v, v[0]], "* h w c")
    same(ours, theirs)
    assert [tuple(size) for size in sizes] == [tuple(size) for size in known]
    same(array_api.unpack(ours, sizes, "* h w c"), einops.unpack(theirs, known, "* h w c"))
    pattern = "k h w c -> h (k w) c"
    same(array_api.rearrange([x[0], x[1]], pattern), einops.rearrange([v[0], v[1]], pattern))
    with pytest.raises(einops.EinopsError):
        array_api.rearrange(x, "b h w -> b")
