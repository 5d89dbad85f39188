"""Products, sorting and decompositions of traced arguments (`transforms.stages`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.runtime import evaluate

rng = np.random.default_rng(8)

STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "a vector": lambda a, x: a @ x + 1,
    "views and expressions": lambda a, x: (2 * a).T @ a[:, 1:3] + x[:2],
    "one after the other": lambda a, x: a @ (a @ x - x) / xl.sum(x),
    "a square of itself": lambda a, x: a @ a,
    "labels": lambda a, x: xl.einsum("ij,kj->ki", a, a) + xl.tensordot(a, a, 1),
    "several results": lambda a, x: (a @ x, xl.sum(a @ a, axis=0), a + 1),
    "a sort": lambda a, x: xl.sort(x)[::-1] + x,
    "positions": lambda a, x: xl.argsort(x) * 2,
    "solutions": lambda a, x: xl.linalg.solve(a, x) + xl.linalg.inv(a) @ x,
    "named parts": lambda a, x: xl.linalg.eigh(a + a.T).eigenvalues * x,
    "a transform": lambda a, x: xl.real(xl.fft.ifft(2 * xl.fft.fft(x))),
    "norms and medians": lambda a, x: x / xl.linalg.norm(x) - xl.median(x),
    "running sums": lambda a, x: xl.cumsum(x) + xl.cumsum(a, axis=1),
    "conversions": lambda a, x: (xl.asarray(x) + xl.copy(a), xl.array(x, "f4"), a.flatten() * 2),
    "orders": lambda a, x: (xl.ascontiguousarray(a) + 1, xl.asfortranarray(a), xl.copy(a, "F")),
    "slopes": lambda a, x: xl.gradient(x) + xl.ediff1d(x).sum() + xl.polyval(x, 2.0),
    "special functions": lambda a, x: xl.erf(x) + xl.lgamma(x + 1) * xl.i0(x),
    "bits": lambda a, x: xl.ldexp(*xl.frexp(x)) + xl.spacing(x),
    "divisors": lambda a, x: xl.gcd((x * 90).astype(int), 6) + xl.bitwise_count(x.astype("u1")),
    "members": lambda a, x: xl.isin(x.astype(int), [0, 2]) + xl.nancumsum(x) + xl.nanargmax(a),
    "narrow": lambda a, x: xl.astype(a, "bfloat16") @ xl.astype(x, "bfloat16"),
}


def operands() -> tuple[Any, Any]:
    return xl.asarray(rng.random((4, 4)) + 4 * np.eye(4)), xl.asarray(rng.random(4))


def compare(ours: Any, plain: Any) -> None:
    assert type(ours) is tuple if isinstance(plain, tuple) else isinstance(ours, xl.XArray)
    for mine, other in zip(
        ours if isinstance(ours, tuple) else (ours,),
        plain if isinstance(plain, tuple) else (plain,),
        strict=True,
    ):
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(
            np.asarray(mine, "f8"), np.asarray(other, "f8"), rtol=1e-12, atol=1e-12
        )


@together("name", STEPS)
def test_traced_once_and_right(name: str) -> None:
    step = xl.jit(STEPS[name])
    for _ in range(3):
        given = operands()
        compare(step(*given), STEPS[name](*given))
    assert step.traces == 1


def test_what_is_closed_over_is_read_at_every_call() -> None:
    w = xl.asarray(np.eye(3))
    step = xl.jit(lambda x: w @ x)
    assert step(xl.asarray([1.0, 2.0, 3.0])).tolist() == [1.0, 2.0, 3.0]
    w *= 10.0
    assert step(xl.asarray([1.0, 2.0, 3.0])).tolist() == [10.0, 20.0, 30.0]
    assert step.traces == 1


def test_other_shapes_and_scalars() -> None:
    step = xl.jit(lambda a, x, s: s * (a @ x))
    for n in (2, 3, 2):
        for s in (np.float64(2.0), np.float64(-1.0)):
            a, x = xl.ones((n, n)), xl.ones(n)
            assert step(a, x, s).tolist() == [n * float(s)] * n
    assert step.traces == 2


def test_results_are_apart() -> None:
    """Each call has memory of its own, also where nothing follows a stage."""
    step = xl.jit(lambda a, x: a @ x)
    a, x = operands()
    first = step(a, x)
    kept = first.tolist()
    step(a, x * 2)
    assert first.tolist() == kept


def test_picks_in_operands_are_read_again() -> None:
    index = xl.asarray([2, 0])
    step = xl.jit(lambda a: a[:, index] @ xl.ones(2))
    a = xl.asarray(np.arange(9.0).reshape(3, 3))
    assert step(a).tolist() == [2.0, 8.0, 14.0]
    index[0] = 1
    assert step(a).tolist() == [1.0, 7.0, 13.0]


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_elements_at_positions_that_are_arguments_are_taken(dtype: str) -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    functions: list[Callable[[Any, Any], Any]] = [
        lambda x, k: x[k] + 1,
        lambda x, k: x[::-1, k + 0],
        lambda x, k: xl.take(x * 2, k, axis=1).T,
        lambda x, k: xl.take(x, k[0]),
        lambda x, k: x[k[None, :], None] * x[k, None],
    ]
    for function in functions:
        step = xl.jit(function)
        for picked in ([2, 0], [1, 1], [0, 2]):
            k = xl.asarray(picked).astype(dtype)
            assert step(a, k).tolist() == xl.eval(function(a, k)).tolist()
        assert step.traces == 1
    with pytest.raises(xl.IndexRangeError):
        xl.jit(lambda x, k: x[k])(a, xl.asarray([0, 3]))


def test_what_depends_on_values_is_refused() -> None:
    for step in (xl.unique, lambda x: xl.nonzero(x)[0], lambda x: float(x @ x) * x):
        with pytest.raises(xl.TracedValueError, match="only shapes and dtypes are known"):
            xl.jit(step)(xl.ones(3))
    with pytest.raises(ValueError, match="matmul"):
        xl.jit(lambda a, x: a @ x)(xl.ones((2, 3)), xl.ones(2))


def test_arrays_made_after_a_result_that_is_not_used_are_themselves() -> None:
    def step(x: Any) -> Any:
        total = xl.cumsum(x)
        del total
        return xl.ones(5)

    def several(x: Any) -> Any:
        order = xl.sort(x)
        return order, xl.linspace(0, 1, 5) if order.shape else x

    constant = xl.asarray([7.0] * 5)

    def outer(x: Any) -> Any:
        order = xl.sort(x)
        return constant if order.shape else x

    ours = [xl.jit(function) for function in (step, several, outer)]
    for k in range(3):
        x = xl.asarray(np.arange(5.0) - k)
        assert ours[0](x).tolist() == [1.0] * 5
        assert ours[1](x)[1].tolist() == np.linspace(0, 1, 5).tolist()
        assert ours[2](x).tolist() == constant.tolist() == [7.0] * 5


def test_arguments_that_are_written_while_kernels_run_are_read_as_they_were(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a = xl.asarray(np.arange(9.0), layout="{0:T(4)}")
    total = xl.jit(lambda u: ((u - u.mean()) * (u - u.mean())).sum())
    assert float(total(a)) == 60
    execute = evaluate.execute

    def written_first(*args: Any) -> None:
        monkeypatch.undo()
        a[...] = np.arange(9.0) ** 2  # as another thread may
        execute(*args)

    monkeypatch.setattr(evaluate, "execute", written_first)
    assert float(total(a)) == 60
    assert float(total(a)) == ((np.asarray(a) - np.mean(a)) ** 2).sum()
