"""Programs that use methods, and that print."""

from __future__ import annotations

from types import ModuleType
from typing import Any

Xp = ModuleType


def reductions(xp: Xp) -> Any:
    a = xp.asarray([[1.0, 5.0, 3.0], [4.0, 2.0, 3.0]])
    return (
        a.sum(),
        a.sum(0),
        a.sum(axis=1, keepdims=True),
        a.mean(1),
        a.std(0),
        a.var(),
        a.min(0),
        a.max(),
        a.prod(1),
        a.any(),
        a.all(0),
        a.argmin(0),
        a.argmax(),
        (a * 2).sum(0),
        (a > 1).all(),
        a[0, 0].sum(),
    )


def shapes(xp: Xp) -> Any:
    a = xp.asarray([[1, 2, 3], [4, 5, 6]])
    return (
        a.reshape(3, 2),
        a.reshape((6,)),
        a.reshape(-1),
        a.T.flatten(),
        a.flatten("F"),
        a.transpose(),
        a.transpose(1, 0),
        (a + 1).transpose((1, 0)),
        a.size,
        a.nbytes,
        a.itemsize,
        a.ndim,
    )


def python_values(xp: Xp) -> Any:
    a = xp.asarray([[1, 2], [3, 4]])
    return (
        a.tolist(),
        (a + 1).tolist(),
        a.T.tobytes(),
        a.tobytes("F"),
        a.item(1, 0),
        a.item(3),
        a[0, 1].item(),
        (a * 2).item(0),
        a[1, 1].tolist(),
    )


def filled_and_copied(xp: Xp) -> Any:
    a = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    b, c = a.copy(), a.copy("F")
    a.fill(7)
    return a, b, c, b.astype("f4"), b.astype(int, copy=False)


def printing(xp: Xp) -> Any:
    a = xp.asarray([[1.0, 2.5], [3.0, 4.0]])
    return (
        str(a),
        f"{a}",
        str(a + 1),
        "%s" % (a * 2),
        f"{a.mean():.3f}",
        f"{a[0] @ a[1]:.1f}",
        "%.2f and %d" % (a.max(), a.min()),  # noqa: UP031
        str(a.sum()),
        str(xp.asarray([True, False])),
        str(xp.asarray([], dtype=xp.float32)),
        round(a.sum() / 3, 2),
    )


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and callable(value)
]
