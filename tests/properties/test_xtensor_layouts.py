"""Layouts, views and classes, as xtensor's tests have them, crossed with operations and writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import xarraylite as xl
from tests.cases import together

V = np.arange(24.0).reshape(2, 3, 4) - 7.5
W = V[::-1] * 0.5 + 1


def _cut(values: Any) -> Any:
    part = xl.zeros(tuple([2 * n + 1 for n in values.shape]))[1::2, 1::2, 1::2]
    part[...] = values
    return part


def _kept(values: Any) -> Any:
    whole = xl.asarray(np.repeat(values, 2, axis=1)[:, [2, 0, 1, 3, 4, 5]])
    return xl.view(whole, xl.range(), xl.keep(1, 0, 4))


BASES: dict[str, Callable[[Any], Any]] = {
    "row": lambda v: xl.asarray(v, copy=True),
    "column": lambda v: xl.asarray(v, layout="column_major"),
    "dynamic": lambda v: xl.XArray(v, strides=(1, 8, 2)),
    "tiled": lambda v: xl.asarray(v, layout="{2,1,0:T(2,2)}"),
    "cut": _cut,
    "reversed": lambda v: xl.asarray(v[::-1, :, ::-1].copy())[::-1, :, ::-1],
    "turned": lambda v: xl.asarray(v.T.copy()).T,
    "tensor": xl.XTensor,
    "fixed": lambda v: xl.XTensorFixed[xl.float64, v.shape](v),
    "kept": _kept,
    "reshaped": lambda v: xl.reshape_view(xl.asarray(v.reshape(4, 6).copy()), v.shape),
    "part": lambda v: xl.real(xl.asarray(v + 1j)),
    "lazy": lambda v: xl.asarray(v, copy=True) * 1,
}

PICK = np.array([2, 0, 0])

OPERATIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "arithmetic": lambda m, a, b: a * b - a / (b * b + 1),
    "compare": lambda m, a, b: (a > b) | (a == b),
    "where": lambda m, a, b: m.where(a > 0, a, b),
    "clip": lambda m, a, b: m.clip(a, -2, b),
    "sum": lambda m, a, b: m.sum(a, axis=2) + m.sum(b, axis=-1),
    "max": lambda m, a, b: m.max(a - b, axis=(0, 2)),
    "mean": lambda m, a, b: m.mean(a, axis=1) - m.mean(b, axis=1),
    "argmax": lambda m, a, b: m.argmax(a + b, axis=1),
    "nansum": lambda m, a, b: m.nansum(m.where(a > 3, np.nan, b), axis=2),
    "cumsum": lambda m, a, b: m.cumsum(a + b, axis=1),
    "median": lambda m, a, b: m.median(a, axis=1),
    "sort": lambda m, a, b: m.sort(a * b, axis=1),
    "argsort": lambda m, a, b: m.argsort(a, axis=2),
    "concat": lambda m, a, b: m.concat([a, b], axis=1),
    "stack": lambda m, a, b: m.stack([a, b, a], axis=-1),
    "roll": lambda m, a, b: m.roll(a, 1, axis=2) + b,
    "pad": lambda m, a, b: m.pad(a + b, 1),
    "repeat": lambda m, a, b: m.repeat(b, 2, axis=0),
    "diff": lambda m, a, b: m.diff(a * b, axis=2),
    "take": lambda m, a, b: m.take(a, PICK, axis=1) + b[:, PICK],
    "matmul": lambda m, a, b: m.matmul(a, m.matrix_transpose(b)),
    "einsum": lambda m, a, b: m.einsum("ijk,ilk->jl", a, b),
    "permuted": lambda m, a, b: m.permute_dims(a, (2, 0, 1)) + m.permute_dims(b, (2, 0, 1)),
    "slices": lambda m, a, b: a[:, ::-1, 1:3] + b[:, 1:2, :2],
    "triangles": lambda m, a, b: m.tril(a) + m.triu(b),
}

WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "added": lambda a, b: a.__iadd__(b),
    "scaled": lambda a, b: a.__imul__(2),
    "set": lambda a, b: a.__setitem__(..., b[::-1]),
    "itself reversed": lambda a, b: a.__setitem__(..., a[::-1]),
    "turned": lambda a, b: a.__setitem__((0, slice(3), slice(3)), a[1, :, :3].T),
    "shifted": lambda a, b: a.__setitem__((slice(None), slice(1, None)), a[:, :-1]),
    "mask": lambda a, b: a.__setitem__(V > 0, -1.0),
    "positions": lambda a, b: a.__setitem__((slice(None), PICK[:2]), b[:, :2]),
    "rows": lambda a, b: a.__setitem__(PICK[2:], a[PICK[1:2]] + b[:1]),
}

NAMES = list(BASES)


def pairs(number: int, count: int) -> list[tuple[str, str]]:
    """Some pairs of bases: other ones for each number, and with time each with many others."""
    size = len(NAMES)
    places = [number * count + k for k in range(count)]
    return [(NAMES[p % size], NAMES[(p * 5 + p // size + 1) % size]) for p in places]


@together("name", OPERATIONS)
def test_operations(name: str) -> None:
    call = OPERATIONS[name]
    want = call(np, V, W)
    for one, other in pairs(list(OPERATIONS).index(name), 2):
        got = np.asarray(call(xl, BASES[one](V), BASES[other](W)))
        assert (got.shape, got.dtype) == (want.shape, want.dtype), (one, other)
        np.testing.assert_allclose(got, want, rtol=1e-13, err_msg=f"{one}, {other}")


@together("name", WRITES)
def test_writes(name: str) -> None:
    want = V.copy()
    WRITES[name](want, W)
    for number, one in enumerate(NAMES):
        a, b = BASES[one](V), BASES[NAMES[(number * 5 + len(name)) % len(NAMES)]](W)
        WRITES[name](a, b)
        np.testing.assert_array_equal(np.asarray(a), want, err_msg=one)
