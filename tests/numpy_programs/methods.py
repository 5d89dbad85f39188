"""Programs that use methods, and that print."""

from __future__ import annotations

import pickle
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


def everything(xp: Xp) -> Any:
    """Every method of the table, by position where NumPy takes it so."""
    a = xp.asarray([[3, 1, 2], [6, 5, 4]])
    v = xp.asarray([30.0, 10.0, 20.0])
    s = v.copy()
    s.sort()
    p = v.copy()
    p.partition(1)
    q = a.copy()
    q.put([0, 5], [70, 80])
    b = a.copy()
    b.sort(0)
    return (
        (a.cumsum(), a.cumsum(1), a.cumprod(0)),
        (a.clip(2, 4), v.round(-1), (a + 0j).conj(), (a + 1j).conjugate()),
        (a.diagonal(), a.diagonal(1), a.trace(), a.trace(1), a.ravel(), a.ravel("F")),
        (a.repeat(2), a.repeat(2, 0), a.swapaxes(0, 1), a[None].squeeze(), a[None].squeeze(0)),
        (a.argsort(), a.argsort(0), v.argsort(), s, p[1], q, b, v.argpartition(1)[1]),
        (a.nonzero(), a.take([0, 5]), a.take([0, 1], 1), a.compress([True, False], 0)),
        (s.searchsorted(15.0), s.searchsorted([15.0, 30.0], "right"), a.dot([1, 2, 3])),
        (v.dot(v), xp.asarray([0, 1, 0]).choose([[1, 2, 3], [4, 5, 6]]), (a > 3).any(1)),
        (a.sum(dtype=xp.float32), a.mean(0, keepdims=True), a.std(0, ddof=1), a.max(initial=9)),
        (a * 2).cumsum(0),
    )


def complex_parts(xp: Xp) -> Any:
    a = xp.asarray([1 + 2j, 3 - 4j])
    r = xp.asarray([1.0, 2.0])
    x = a[0]
    a.real[0] = 10
    a.imag = [7, 8]
    return a, a.real, a.imag, (a * 1).real, r.real, r.imag, x.real, x.imag, x.conj(), a.imag.sum()


def views_of_bits(xp: Xp) -> Any:
    a = xp.asarray([1.0, -2.0])
    bits = a.view(xp.int64)
    bytes_ = a.view("u1")
    bits[1] = bits[0]
    same = a.view()
    same[0] = 5
    return a, bits, bytes_, (a * 2).view("i8"), a[0].view(xp.int64)


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


def parts_of_elements(xp: Xp) -> Any:
    v = xp.asarray([1.0, -2.5])
    before = v.getfield(xp.int32, 4).copy(), v.getfield("i2", offset=6).copy()
    v.setfield(0, xp.int32, 4)
    return before, v, xp.asarray(pickle.loads(v.dumps()))


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and callable(value)
]
