"""`explain`: the plan of an evaluation, without evaluating it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits, count_allocations


@pytest.fixture(autouse=True)
def _compiled() -> None:
    xl.config(engine="compiled")


def test_an_expression_into_a_new_container() -> None:
    a, b = xl.zeros((100, 50)), xl.zeros(50)
    plan = xl.explain(a * 2 + b)
    assert (plan.kernels, plan.temporaries, plan.result_bytes) == (1, (), 40_000)
    assert plan.bytes_moved == 2 * 40_000 + 400
    text = str(plan)
    assert "float64[100, 50] into a new container" in text
    assert "1 kernel(s), 80,400 bytes moved, 40,000 bytes for the result" in text
    assert repr(plan) == text


def test_an_assignment() -> None:
    a, b = xl.zeros((100, 50)), xl.zeros((100, 50))
    plan = xl.explain(a[::2], b[1::2] + a[::2])
    assert (plan.kernels, plan.temporaries, plan.result_bytes) == (1, (), 0)
    assert "XView float64[50, 50]" in plan.title
    assert xl.explain(a, 1.5).kernels == 1
    assert xl.explain(a, [1.0] * 50).result_bytes == 0


@pytest.mark.once
def test_temporaries_have_reasons() -> None:
    m = xl.zeros((40, 40))
    plan = xl.explain(m, m + m.T)
    assert [t.nbytes for t in plan.temporaries] == [m.nbytes]
    assert "written before" in plan.temporaries[0].reason
    assert "temporary of 12,800 bytes" in str(plan)
    reduced = xl.explain(m / xl.sum(m, axis=1, keepdims=True))
    assert [t.nbytes for t in reduced.temporaries] == [40 * 8]
    assert "evaluated once" in reduced.temporaries[0].reason


@pytest.mark.once
def test_noalias_needs_no_temporary() -> None:
    m = xl.zeros((40, 40))
    assert xl.explain(xl.noalias(m), m + m.T).temporaries == ()
    assert "noalias(XArray" in xl.explain(xl.noalias(m), m + 1).title


@pytest.mark.once
def test_what_is_said_is_what_happens() -> None:
    a, m = xl.asarray(np.arange(50.0)), xl.asarray(np.random.default_rng(0).random((30, 30)))
    cases = [
        (a, lambda: a[::-1] * 2),
        (a[1:], lambda: a[:-1]),
        (a, lambda: a + a[::-1] * 2 - a[:1]),
        (m, lambda: xl.sum(m.T, axis=1) + m),
        (m, lambda: xl.concat([m[10:], m[:10]])),
        (m[0], lambda: xl.max(m, axis=0) - xl.min(m, axis=0)),
        (m, lambda: xl.reshape(xl.reshape(m.T, (900,))[::-1], (30, 30))),
    ]
    for target, expression in cases:
        plan = xl.explain(target, expression())
        with count_allocations() as count:
            target[...] = expression()
        assert count.temporaries == len(plan.temporaries), plan
        assert count.bytes == sum(t.nbytes for t in plan.temporaries), plan


def test_nothing_is_computed_or_changed() -> None:
    values = np.arange(9.0).reshape(3, 3)
    m = xl.asarray(values)
    e = m + m.T
    with count_allocations() as count:
        xl.explain(m, e)
    assert count.bytes == 0
    xl.explain(e)
    assert_same_bits(m, values)
    assert_same_bits(e, values + values.T)


def test_sources_are_the_kernels_ir() -> None:
    a = xl.zeros(5)
    for source in xl.explain(xl.sqrt(a) + xl.sum(a)).sources:
        assert source.startswith("define i32 @kernel(i64 %block)")


def test_sizes_that_could_never_be_allocated() -> None:
    huge = xl.broadcast_to(xl.ones(1), (1 << 40,)) * 2
    assert xl.explain(huge).result_bytes == 8 << 40


def test_errors() -> None:
    a = xl.zeros(3)
    with pytest.raises(xl.BroadcastError, match=r"float64\[4\] cannot be broadcast into"):
        xl.explain(a, xl.zeros(4) + 1)
    with pytest.raises(TypeError, match="destination must be a container"):
        xl.explain(np.zeros(3), a)
    with pytest.raises(xl.DTypeError, match="explain: got str"):
        xl.explain("a")


def test_the_reference_engine_says_what_it_does() -> None:
    with xl.config(engine="reference"):
        plan = xl.explain(xl.zeros(3) + 1)
    assert (plan.kernels, plan.temporaries) == (0, ())
    assert "NumPy evaluates every operation" in str(plan)


TILES = "{1,0:T(2,2)}"


def lowering(plan: Any) -> list[str]:
    """The kinds of steps that products take."""
    kinds = [step.replace(":", " ").split()[0] for step in plan.steps]
    return [kind for kind in kinds if kind in ("pack", "BLAS")]


def square(layout: str = "row_major", dtype: str = "float64") -> Any:
    return xl.asarray(np.random.default_rng(1).random((6, 6)), dtype=dtype, layout=layout)


PRODUCTS: dict[str, Callable[[Any, Any], Any]] = {
    "@": lambda a, b: a @ b,
    "matmul": xl.matmul,
    "tensordot": lambda a, b: xl.tensordot(a, b, axes=1),
    "einsum": lambda a, b: xl.einsum("ij,jk->ik", a, b),
}


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_products_tell_what_was_packed(product: Callable[[Any, Any], Any]) -> None:
    plain, tiled = square(), square(TILES)
    for _ in range(2):  # planned, then remembered
        plan = xl.explain(product(plain, plain))
        assert (lowering(plan), plan.temporaries) == (["BLAS"], ())
        assert (plan.kernels, plan.result_bytes) == (0, 288)
        assert plan.bytes_moved == 3 * 288
        plan = xl.explain(product(tiled, plain))
        assert lowering(plan) == ["pack", "BLAS"]
        assert "it is tiled, and BLAS reads strided memory" in plan.steps[0]
        assert [t.nbytes for t in plan.temporaries] == [288]
        plan = xl.explain(product(plain + 1, tiled))
        assert lowering(plan)[-1] == "BLAS"
        assert [t.nbytes for t in plan.temporaries] == [288, 288]


@pytest.mark.once
def test_products_that_are_kernels_say_so() -> None:
    a = square(TILES, "int64")
    plan = xl.explain(a @ a)
    assert plan.kernels == 1
    assert "BLAS" not in str(plan)
    rows = xl.explain(xl.vecdot(square(TILES), square()))
    assert rows.kernels == 1
    assert lowering(xl.explain(xl.vecdot(square(), square()))) == ["BLAS"]


@pytest.mark.parametrize("product", PRODUCTS.values(), ids=PRODUCTS)
def test_expressions_of_products(product: Callable[[Any, Any], Any]) -> None:
    plain, tiled = square(), square(TILES)
    plan = xl.explain(product(tiled, plain) + 1)
    assert [step.split()[0] for step in plan.steps[:2]] == ["pack", "BLAS:"]
    assert (len(plan.steps), plan.kernels) == (3, 1)
    assert [t.nbytes for t in plan.temporaries] == [288, 288]
    assert "product" in plan.temporaries[1].reason
    assert plan.result_bytes == 288
    # outside of asserts, where pytest holds every operand
    plan = xl.explain(plain, product(tiled, plain) - product(plain, plain))
    assert lowering(plan) == ["pack", "BLAS", "BLAS"]
    plan = xl.explain(plain, product(tiled, plain))
    assert lowering(plan) == ["pack", "BLAS"]
    plan = xl.explain(product(tiled, plain)["i,j"] * plain["j,k"], "i,k")
    assert lowering(plan) == ["pack", "BLAS", "BLAS"]
    assert [t.nbytes for t in plan.temporaries] == [288, 288]
    plan = xl.explain(plain, product(tiled, plain).T)
    assert lowering(plan) == ["pack", "BLAS"]


def test_what_products_take_is_what_is_said() -> None:
    plain, tiled = square(), square(TILES)
    out = xl.zeros((6, 6))
    for make in (lambda: tiled @ plain, lambda: plain @ plain + 1, lambda: (plain + 1) @ tiled):
        with count_allocations() as count:
            out[...] = make()
        plan: Any = xl.explain(out, make())
        assert count.bytes == sum(t.nbytes for t in plan.temporaries)


def test_products_that_are_kept_cost_nothing_more() -> None:
    """What is held was computed on a line of its own; a write makes it other values."""
    plain, tiled = square(), square(TILES)
    kept = tiled @ plain
    view = kept[1:]
    assert lowering(xl.explain(kept)) == ["pack", "BLAS"]
    for plan in (xl.explain(kept + 1), xl.explain(view * 2), xl.explain(plain, kept)):
        assert (lowering(plan), plan.temporaries) == ([], ())
        assert plan.steps[0].startswith("computed before: pack float64[6, 6]{1,0:T(2,2)}")
        assert plan.steps[1].startswith("computed before: BLAS: float64[6, 6]")
    assert xl.explain(kept + 1).bytes_moved == 2 * 288
    kept += 1
    assert len(xl.explain(kept * 2).steps) == 1
    plan = xl.explain(kept)
    assert (plan.steps, plan.kernels, plan.bytes_moved) == ((), 0, 0)
    assert "is in memory" in plan.title


def test_products_keep_none_of_their_operands() -> None:
    a = square()
    for operand in (lambda: a, lambda: a + 1, lambda: a.to_layout(TILES)):
        product = a @ operand()
        with count_allocations() as count:
            a[...] = 2.0
        assert count.snapshots == 0
        assert lowering(xl.explain(product))[-1] == "BLAS"
    jagged = xl.XJagged([[1.0, 2.0], [3.0]])
    assert lowering(xl.explain(xl.ones((2, 2)) @ xl.sum(jagged, axis=1))) == ["pack", "BLAS"]


@pytest.mark.usefixtures("compiled")
def test_an_assignment_that_grows() -> None:
    a, b = xl.ones((3, 2, 4)), xl.ones((2, 4))
    told = xl.explain(b, a + b)
    assert "new memory of XArray float64[2, 4], which takes the shape (3, 2, 4)" in told.title
    assert (told.kernels, told.result_bytes, told.temporaries) == (1, 192, ())
    with pytest.raises(xl.ShapeError, match="rank 2"):
        xl.explain(xl.XTensor(np.ones((2, 4))), a + b)
    with pytest.raises(xl.BroadcastError):
        xl.explain(b[:1], a + b)


@pytest.mark.usefixtures("compiled")
def test_assignments_through_positions() -> None:
    a = xl.ones((3, 4))
    v = xl.view(a, xl.keep(2, 0, 0))
    told = xl.explain(v, v * 2)
    assert "12 elements through their positions" in told.steps[-1]
    assert [t.nbytes for t in told.temporaries] == [96]
    assert xl.explain(xl.flatten(a[:, :2]), xl.ones(6) * 2).temporaries == ()
