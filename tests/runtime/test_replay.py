"""Plans that are run again in machine code give what the planner gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.runtime import natives as loading
from xarraylite.runtime.replay import Replay, replay_of
from xarraylite.testing import assert_same_bits
from xarraylite.testing.counters import count_allocations
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]


rng = np.random.default_rng(5)

WORK: dict[str, Callable[[Any, Any, Any], Any]] = {
    "turned": lambda p, a, b: a.T + 1,
    "turned float32": lambda p, a, b: a.T.astype("float32") * np.float32(0.1),
    "one row": lambda p, a, b: a + b[:, None],
    "outer": lambda p, a, b: b[:, None] * a[0][None, :],
    "sum of columns": lambda p, a, b: p.sum(a, axis=0),
    "sum of rows": lambda p, a, b: p.sum(a * 2, axis=1) + b,
    "kept": lambda p, a, b: a - p.max(a, axis=1, keepdims=True),
    "softmax": lambda p, a, b: p.exp(a) / p.sum(p.exp(a), axis=1, keepdims=True),
    "folds inside": lambda p, a, b: p.sum(a) / 12 + p.max(b),
    "joined": lambda p, a, b: p.concatenate([a, a[:1] * 3]),
    "position": lambda p, a, b: p.argmax(a, axis=1),
    "integers": lambda p, a, b: p.sum((a > 0).astype("int32"), axis=0) * 7,
    "a part": lambda p, a, b: (a + 1)[1:, ::2],
    "reshaped": lambda p, a, b: (a * 2).reshape((-1,)),
    "complex numbers": lambda p, a, b: (a * 2j + b[:, None]) - (1 + 0.5j),
    "complex64": lambda p, a, b: (a.astype("complex64") + b[:, None]) * np.complex64(0.1 - 2j),
    "half numbers": lambda p, a, b: a.astype("float16") * 0.1 + b.astype("float16")[:, None],
    "none": lambda p, a, b: p.sum(a[:0], axis=1),
}


@pytest.mark.parametrize("name", WORK)
def test_again_and_again(name: str) -> None:
    for _ in range(5):
        v, w = rng.random((3, 4)) - 0.5, rng.random(3)
        a, b = xl.asarray(v), xl.asarray(w)
        made = xl.eval(WORK[name](xl, a, b))
        natives.remove()
        slow = xl.eval(WORK[name](xl, a, b))
        natives.install()
        assert_same_bits(made, slow)
        assert (made.strides, made.layout) == (slow.strides, slow.layout)
        np.testing.assert_allclose(np.asarray(made), WORK[name](np, v, w), rtol=1e-6)


def _e(a: Any) -> Any:
    return xl.sum(a, axis=0) * 2 + 1


def test_one_is_made_when_it_is_asked_for_again() -> None:
    a = xl.asarray(rng.random((3, 4)))
    for _ in range(3):
        xl.eval(_e(a))
    e = _e(a)
    kept = [r for r in e._kind.replays.values() if r] or [e._kind.fresh]
    assert isinstance(kept[0], Replay)
    assert xl.eval(_e(a + 1)).tolist() == xl.eval(_e(a + 1)).tolist()


def test_new_values_and_other_memory_are_read() -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    for k in range(5):
        a[...] = float(k)
        assert xl.eval(_e(a)).tolist() == [6.0 * k + 1] * 4
        held = _e(a)
        a[0, 0] = 100.0
        assert xl.eval(held).tolist() == [6.0 * k + 1] * 4, "the old values"


def test_a_replay_refuses_what_the_planner_must_do() -> None:
    a = xl.asarray(rng.random(4))
    large = xl.broadcast_to(xl.ones(1 << 10), (1 << 13, 1 << 10))
    for e in (large + 1, xl.sum(large, axis=0)):
        assert replay_of(e._kind, e._shape, e._operands) is None, "large work has pieces"
    user = xl.vectorize(lambda x: x + 1)(a)
    assert xl.eval(user).tolist() == [x + 1 for x in a.tolist()]


@pytest.mark.parametrize("name", ["sum", "max", "mean", "argmax"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_folds_of_fixed_parts(name: str, axis: int | None) -> None:
    for _ in range(4):
        a = xl.asarray(rng.random((1000, 900)))
        made = xl.eval(getattr(xl, name)(a, axis=axis))
        natives.remove()
        assert_same_bits(made, xl.eval(getattr(xl, name)(a, axis=axis)))
        natives.install()


def test_limits_hold() -> None:
    a = xl.asarray(rng.random((8, 9)))
    for _ in range(4):
        xl.eval(a.T + 1)
    with xl.config(max_result_bytes=64), pytest.raises(xl.SizeError):
        xl.eval(a.T + 1)
    with xl.config(engine="reference"):
        assert_same_bits(xl.eval(a.T + 1), np.asarray(a).T + 1)


def test_allocations_are_counted() -> None:
    a = xl.asarray(rng.random((8, 9)))
    work = lambda: xl.eval(a / xl.sum(a))  # noqa: E731
    for _ in range(4):
        work()
    with count_allocations() as count:
        work()
    natives.remove()
    work()
    with count_allocations() as slow:
        work()
    natives.install()
    assert count.temporaries == slow.temporaries
    assert count.allocations >= slow.allocations - slow.temporaries + 1


def test_what_stands_in_several_places_is_computed_once() -> None:
    """A plan serves operands of which the same are one as of those that it was made for."""
    a, b, c, d = [xl.asarray(x).copy() for x in rng.normal(size=(4, 30_000))]
    arrays = [x.copy().numpy() for x in (a, b, c, d)]

    def work(p: Any, q: Any, r: Any, s: Any) -> Any:
        return p * q * 0.5 * (1 - r) + p * q * 0.5 * (1 - r) * s

    def other(p: Any, q: Any, r: Any, s: Any) -> Any:
        return p * q * 0.5 * (1 - r) + r * s * 0.5 * (1 - p) * q

    e = work(a, b, c, d)
    for _ in range(5):
        for order in ((0, 1, 2, 3), (1, 0, 0, 1), (3, 2, 1, 1), (0, 1, 2, 3)):
            given = [(a, b, c, d)[k] for k in order]
            plain = [arrays[k] for k in order]
            assert_same_bits(xl.eval(work(*given)).numpy(), work(*plain))
            assert_same_bits(xl.eval(other(*given)).numpy(), other(*plain))
            step = xl.jit(work)
            assert_same_bits(step(*given).numpy(), work(*plain))
    plans = [one for one in e._kind.replays.values() if isinstance(one, Replay)]
    assert len(plans) >= 2
    assert all([len(one.kernels) == 1 for one in plans])
