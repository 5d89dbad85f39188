"""Loops over ever new extents: the first, the second, the 40th and later ones are NumPy's.

What is learned of some extents is used for others, by rules that come after two, eight or 32 of
them, and by plans for those that come again.  Values are small whole numbers, so that sums are
exact and bits can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import xarraylite as xl
from tests.cases import together

N = 64

#: Extents in the order of a loop: fewer and more, then some of them again, three times in all.
EXTENTS = [*np.random.default_rng(5).permutation(np.arange(3, N - 1)).tolist(), *[9, 40, 9, 40, 17]]

Program = Callable[[Any, dict[str, Any], int], Any]

#: What is computed of a matrix ``m``, vectors ``v`` and ``w``, an array of rank 3 ``t``, a matrix
#: in tiles and tensors, which NumPy sees as other names of the same.
RESULTS: dict[str, Program] = {
    "transposed": lambda xp, x, k: x["m"][:k, :5].T * 1,
    "transposed whole": lambda xp, x, k: x["m"][:k].T + 1,
    "transposed twice": lambda xp, x, k: x["m"][:k, :7].T - x["m"][1 : k + 1, :7].T,
    "transposed and not": lambda xp, x, k: x["m"][:k, :k].T + x["m"][:k, :k],
    "turned": lambda xp, x, k: x["t"][:, :k].transpose(2, 0, 1) * 2,
    "strided": lambda xp, x, k: x["v"][:k:2] + x["m"][:k:2, 3],
    "reversed": lambda xp, x, k: x["v"][:k][::-1] + x["w"][:k],
    "rows reversed": lambda xp, x, k: x["m"][:k, ::-1].T - x["v"][:k],
    "centred": lambda xp, x, k: x["v"][:k] - xp.sum(x["v"][:k]),
    "sums of rows": lambda xp, x, k: xp.sum(x["m"][:k, :7] * 2, axis=1),
    "sums of columns": lambda xp, x, k: xp.sum(x["m"][:k, :7].T, axis=1),
    "kept": lambda xp, x, k: x["t"][:, :k] - xp.max(x["t"][:, :k], axis=1, keepdims=True),
    "peaks": lambda xp, x, k: xp.argmax(abs(x["w"][:k])),
    "a diagonal": lambda xp, x, k: xp.trace(x["m"][:k, : k + 2]),
    "beside a diagonal": lambda xp, x, k: xp.trace(x["m"][:k, :k], 1),
    "a wide diagonal": lambda xp, x, k: xp.trace(x["m"][: k // 4 + 1, :k], 1),
    "joined": lambda xp, x, k: xp.concat([x["v"][:k], x["w"][:3]]),
    "in a row": lambda xp, x, k: xp.reshape(x["m"][:k, :3], (-1,)),
    "a product": lambda xp, x, k: x["m"][:k, :k] @ x["v"][:k],
    "of a fixed rank": lambda xp, x, k: x["tensor"][:k, :4].T + x["tensor"][:k, 4:8].T,
    "of tiles": lambda xp, x, k: x["tiles"][:k, :9] * 2 + x["m"][:k, :9],
    "sums of tiles": lambda xp, x, k: xp.sum(x["tiles"][:k, :9], axis=0),
}


def _accumulated(xp: Any, x: dict[str, Any], k: int) -> None:
    x["v"][1:k] += x["v"][: k - 1]
    x["v"][:k] %= 16


def _reversed(xp: Any, x: dict[str, Any], k: int) -> None:
    x["v"][:k] = x["v"][:k][::-1]


def _from_above(xp: Any, x: dict[str, Any], k: int) -> None:
    x["m"][1:k, 1:k] = x["m"][: k - 1, 1:k] + x["m"][1:k, : k - 1]
    x["m"][:k] %= 16


def _eliminated(xp: Any, x: dict[str, Any], k: int) -> None:
    x["m"][k:, k:] -= x["m"][k:, k - 1, None] * x["m"][k - 1, k:]
    x["m"][k:, k:] %= 16


def _transposed(xp: Any, x: dict[str, Any], k: int) -> None:
    x["m"][:k, :k] = x["m"][:k, :k].T - x["m"][:k, :k]


def _tensor(xp: Any, x: dict[str, Any], k: int) -> None:
    x["tensor"][:k, 1:] = x["tensor"][:k, :-1]


def _from_its_sum(xp: Any, x: dict[str, Any], k: int) -> None:
    x["v"][1:k] = x["v"][: k - 1] - xp.max(x["v"][:k])


def _apart(xp: Any, x: dict[str, Any], k: int) -> None:
    pending = x["v"][:k] * 1  # means what it meant when it was written
    x["v"][1:k] += x["v"][: k - 1]
    x["v"][:k] -= pending


WRITES: dict[str, Program] = {
    f.__name__.strip("_"): f
    for f in (
        *(_accumulated, _reversed, _from_above, _eliminated, _transposed, _tensor),
        *(_from_its_sum, _apart),
    )
}


def _operands() -> tuple[dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(8)
    shapes = {"m": (N, N), "v": (N,), "w": (N,), "t": (3, N, 4), "tensor": (N, 8), "tiles": (N, 9)}
    theirs = {name: rng.integers(-9, 9, shape).astype(float) for name, shape in shapes.items()}
    ours: dict[str, Any] = {name: xl.asarray(x.copy()) for name, x in theirs.items()}
    ours["tensor"] = xl.XTensor(theirs["tensor"])
    ours["tiles"] = xl.asarray(theirs["tiles"], layout="{1,0:T(8,4)}")
    return theirs, ours


@together("name", RESULTS)
def test_results(name: str) -> None:
    theirs, ours = _operands()
    for k in EXTENTS:
        expected = np.asarray(RESULTS[name](np, theirs, k))
        found = np.asarray(xl.eval(RESULTS[name](xl, ours, k)))
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), k
        assert found.tobytes() == expected.tobytes(), k


@together("name", WRITES)
def test_writes(name: str) -> None:
    theirs, ours = _operands()
    for k in EXTENTS:
        WRITES[name](np, theirs, k)
        WRITES[name](xl, ours, k)
        for one in ("m", "v", "tensor"):
            assert np.array_equal(np.asarray(ours[one]), theirs[one]), (k, one)
