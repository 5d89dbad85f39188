"""Products seen before: the same values, checks and errors as the first time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from xarraylite.arrays import matmul
from xarraylite.labels import remembered
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.transforms import natives

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    natives.remove()  # which remember small products too
    monkeypatch.setattr(matmul, "_alike", lambda *operands: None)  # so do kinds
    remembered._recipes.clear()


def known() -> int:
    return len(remembered._recipes)


def whole(shape: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> Array:
    """Whole numbers, so that sums are exact in any order."""
    drawn = np.random.default_rng(seed).integers(-9, 9, shape)
    return drawn.astype(dtype) * (1 if np.dtype(dtype).kind != "c" else 1 + 2j)


PRODUCTS: dict[str, tuple[tuple[tuple[int, ...], ...], Callable[[Any, Any], Any], str]] = {
    "matmul": (((3, 4), (4, 5)), lambda a, b: a @ b, "ij,jk->ik"),
    "stacked": (((2, 3, 4), (4, 5)), xl.matmul, "bij,jk->bik"),
    "matrix and vector": (((3, 4), (4,)), xl.matmul, "ij,j->i"),
    "dots": (((3, 4), (3, 4)), xl.vecdot, "ij,ij->i"),
    "one dot": (((4,), (4,)), xl.matmul, "i,i->"),
    "dots elsewhere": (
        ((2, 4, 3), (2, 4, 3)),
        lambda a, b: xl.vecdot(a, b, axis=-2),
        "bij,bij->bj",
    ),
    "tensordot": (((3, 4), (5, 4)), lambda a, b: xl.tensordot(a, b, ([1], [1])), "ij,kj->ik"),
    "einsum": (((3, 4), (4, 5)), lambda a, b: xl.einsum("ij,jk->ki", a, b), "ij,jk->ki"),
    "diagonal": (((4, 4), (4, 5)), lambda a, b: xl.einsum("jj,jk->k", a, b), "jj,jk->k"),
    "labels": (((3, 4), (4, 5)), lambda a, b: xl.eval(a["i,j"] * b["j,k"], "k,i"), "ij,jk->ki"),
    "dots of labels": (
        ((2, 6), (2, 6)),
        lambda a, b: xl.eval(a["i,j"] * b["i,j"], "i"),
        "ij,ij->i",
    ),
}


def conjugates(function: Callable[[Any, Any], Any]) -> bool:
    """Tell whether it is `vecdot`, whose left operand is computed first if it is complex."""
    return function is xl.vecdot or "vecdot" in function.__code__.co_names


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
@pytest.mark.parametrize(("shapes", "function", "spec"), PRODUCTS.values(), ids=PRODUCTS)
def test_other_memory_of_the_same_kind(
    shapes: Any, function: Callable[[Any, Any], Any], spec: str, dtype: str
) -> None:
    """Views at other offsets of larger arrays, of one buffer or two."""
    stacks = [whole((4, *shape), dtype, seed) for seed, shape in enumerate(shapes)]
    a, b = (xl.asarray(stack) for stack in stacks)
    for k in (0, 3, 1):
        left, right = stacks[0][k], stacks[1][3 - k]
        if conjugates(function):
            left = left.conj()
        expected = np.einsum(spec, left, right)
        assert_same_bits(function(a[k], b[3 - k]), expected)
    assert known() == (0 if dtype == "complex128" and conjugates(function) else 1)


@given(st.data())
def test_strides_and_extents_are_part_of_it(data: st.DataObject) -> None:
    base = xl.asarray(whole((6, 6, 6)))
    values = np.asarray(base)
    for _ in range(4):
        step = st.sampled_from([slice(None), slice(0, 3), slice(3, 6), slice(None, None, 2)])
        cuts = tuple([data.draw(step) for _ in range(3)])
        turn = data.draw(st.permutations(range(3)))
        a, p = xl.permute_dims(base[cuts], tuple(turn)), values[cuts].transpose(turn)
        assert_same_bits(xl.einsum("bij,bkj->bik", a, a), np.einsum("bij,bkj->bik", p, p))
        assert_same_bits(xl.vecdot(a, a), np.einsum("bij,bij->bi", p, p))
        out, expected = xl.zeros(p.shape[:2]), np.einsum("bij,bij->bi", p, p)
        out["b,i"] = a["b,i,j"] * a["b,i,j"]
        assert_same_bits(out, expected)


def test_writes_into_parts() -> None:
    p, q = whole((2, 4, 4)), whole((2, 4, 4), seed=1)
    a, b, c = xl.asarray(p), xl.asarray(q), xl.zeros((3, 4, 4))
    for k in range(2):
        with count_allocations() as count:
            c[k + 1]["i,k"] = a[k]["i,j"] * b[k]["j,k"]
        assert (count.allocations, count.snapshots) == (0, 0)
        assert_same_bits(c[k + 1], p[k] @ q[k])
    assert c[0].tolist() == [[0.0] * 4] * 4
    assert known() == 1


def test_a_destination_that_is_read() -> None:
    """The memory of the recipe was apart; that of the next product is not."""
    p = whole((3, 4, 4))
    a = xl.asarray(p)
    for left, right, out in ((0, 1, 2), (2, 1, 2), (0, 2, 2), (2, 2, 2), (1, 2, 0)):
        expected = p[left] @ p[right]
        a[out]["i,k"] = a[left]["i,j"] * a[right]["j,k"]
        p[out] = expected
        assert_same_bits(a, p)


def test_readers_of_the_destination_keep_their_values() -> None:
    a, b, c = (xl.asarray(whole((4, 4), seed=k)) for k in range(3))
    before = np.array(c)
    for _ in range(2):
        c["i,k"] = a["i,j"] * b["j,k"]
        kept, handle = c + 1, c["i,k"]
        values = np.array(c)
        c["i,k"] = b["i,j"] * a["j,k"]
        assert_same_bits(kept, values + 1)
        assert_same_bits(xl.eval(handle, "i,k"), values)
    assert not np.array_equal(before, np.asarray(c))


def test_what_may_have_changed_is_asked_again() -> None:
    a, b = xl.asarray(whole((4, 4))), xl.asarray(whole((4, 4)))
    memory = np.zeros((4, 4))
    for out in (xl.adapt(memory), xl.zeros((4, 4))):
        out["i,k"] = a["i,j"] * b["j,k"]
    memory.flags.writeable = False
    locked = xl.adapt(memory)
    with pytest.raises(xl.ReadOnlyError, match="read-only"):
        locked["i,k"] = a["i,j"] * b["j,k"]
    e = a["i,j"] * b["j,k"]
    for make in (
        lambda: a @ b,
        lambda: xl.einsum("ij,jk", a, b),
        lambda: xl.vecdot(a, b),
        lambda: xl.eval(e, "i,k"),
    ):
        make()
        with (
            xl.config(max_result_bytes=24),
            pytest.raises(xl.SizeError, match=r"eval|einsum|matmul|vecdot"),
        ):
            make()
    out = xl.zeros((4, 4))
    xl.noalias(out)["i,k"] = e
    with xl.config(check_noalias=True), pytest.raises(xl.NoAliasError, match="noalias"):
        xl.noalias(a)["i,k"] = a["i,j"] * b["j,k"]


def test_numbers_that_are_equal_but_no_axes() -> None:
    a = xl.asarray(whole((4, 4)))
    xl.tensordot(a, a, 1)
    xl.tensordot(a, a, (1, 0))
    xl.vecdot(a, a, axis=-1)
    for axes in (True, 1.0, (True, 0), (1.0, 0)):
        with pytest.raises(xl.ShapeError, match="tensordot"):
            xl.tensordot(a, a, axes)  # type: ignore[arg-type]


def test_numpy_never_warns() -> None:
    a = xl.asarray(np.array([[np.inf, -np.inf], [1e300, 1e300]]))
    for _ in range(2):  # warnings are errors in this suite
        assert np.isnan(np.asarray(a @ a)).any()
        assert np.isinf(np.asarray(xl.vecdot(a, a))).all()
        assert np.isnan(np.asarray(xl.eval(a["i,j"] * a["j,k"], "k,i"))).any()


def test_operands_that_are_copied_are_planned_each_time() -> None:
    a = xl.asarray(whole((4, 4)))
    tiled = a.to_layout("{1,0:T(2,2)}")
    assert_same_bits(tiled @ a, np.asarray(a) @ np.asarray(a))
    short = xl.asarray(whole((4, 4), "float16"))
    assert_same_bits(short @ short, np.asarray(short) @ np.asarray(short))
    assert known() == 0


def test_only_so_many_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "_LIMIT", 4)
    for n in range(1, 9):
        a = xl.ones((n, 2))
        assert (a @ xl.ones((2, 3))).tolist() == [[2.0] * 3] * n
        assert 1 <= known() <= 4


def test_a_destination_longer_than_its_labels_say() -> None:
    """Extents of the destination are part of the key."""
    a, b, c = xl.ones((2, 3)), xl.ones((3, 4)), xl.zeros((2, 4))
    c["i,k"] = a["i,j"] * b["j,k"]
    with pytest.raises(xl.ShapeError, match="label 'i' has extent 3"):
        xl.zeros((3, 4))["i,k"] = a["i,j"] * b["j,k"]
    with pytest.raises(xl.ShapeError, match="label 'k'"):
        xl.zeros((2, 4))["k,i"] = a["i,j"] * b["j,k"]


def test_memory_that_is_not_aligned() -> None:
    p, q = whole((4, 4)), whole((4, 4), seed=1)
    out = xl.adapt(np.zeros(8 * 16 + 1, np.uint8)[1:].view(np.float64).reshape(4, 4))
    odd = np.zeros(8 * 16 + 3, np.uint8)[3:].view(np.float64).reshape(4, 4)
    odd[...] = p
    for _ in range(2):
        out["i,k"] = xl.adapt(odd)["i,j"] * xl.asarray(q)["j,k"]
        assert_same_bits(out, p @ q)
        out["i,k"] = 0 * out["i,k"]


@pytest.mark.parametrize(("shapes", "function", "spec"), PRODUCTS.values(), ids=PRODUCTS)
def test_the_second_time_has_the_bits_of_the_first(
    shapes: Any, function: Callable[[Any, Any], Any], spec: str
) -> None:
    draw = np.random.default_rng(0)
    a, b = (xl.asarray(draw.random([9 * extent for extent in shape])) for shape in shapes)
    first = np.array(function(a, b))
    np.testing.assert_allclose(first, np.einsum(spec, a, b), rtol=1e-12)
    assert_same_bits(function(a, b), first)


MANY: dict[str, tuple[tuple[int, ...], ...]] = {
    "ni,ij,nj->n": ((50, 3), (3, 3), (50, 3)),
    "ij,jk,kl->il": ((4, 5), (5, 6), (6, 7)),
    "ab,bc,cd,de->ae": ((4, 5), (5, 6), (6, 7), (7, 2)),
    "...ij,jk,kl": ((3, 4, 5), (5, 6), (6, 7)),
    "ij,jk,ki": ((4, 5), (5, 6), (6, 4)),
    "i,i,i->i": ((9,), (9,), (9,)),
    "ij,jk,l->i": ((4, 5), (5, 6), (3,)),
    "ii,ij,jk->k": ((4, 4), (4, 5), (5, 6)),
    "ij,jk,kl->li": ((4, 5), (1, 6), (6, 7)),
}


@pytest.mark.parametrize("spec", MANY)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_products_of_many_operands(spec: str, dtype: str) -> None:
    draw = np.random.default_rng(2)
    given = [(draw.standard_normal(shape) * 3).astype(dtype) for shape in MANY[spec]]
    operands = [xl.asarray(x) for x in given]
    first = xl.einsum(spec, *operands)
    expected = np.einsum(spec, *given)
    scale = np.einsum(spec, *[np.abs(x) for x in given])
    assert first.dtype == expected.dtype
    bound = 64 * np.finfo(dtype).eps * scale if dtype[0] == "f" else 0
    assert np.all(np.abs(np.asarray(first) - expected) <= bound)
    assert_same_bits(xl.einsum(spec, *operands), first)
    lazy = [operands[0] * 1, *operands[1:]]
    np.testing.assert_allclose(xl.einsum(spec, *lazy), first, rtol=1e-4, atol=1e-4)


def test_a_product_of_many_operands_is_refused_as_one() -> None:
    a, b = xl.ones((4, 5)), xl.ones((5, 6))
    for _ in range(2):
        with pytest.raises(xl.ShapeError, match=r"einsum.*label 'k'"):
            xl.einsum("ij,jk,kl->il", a, b, a)
        with xl.config(max_result_bytes=100), pytest.raises(xl.SizeError, match="einsum"):
            xl.einsum("ij,jk,kl->il", a, b, b.T)
    found = str(xl.explain(xl.einsum("ij,jk,kl->il", a, b, b.T)))
    assert found.count("BLAS:") == 2


def test_small_lazy_operands_of_many_are_read_as_memory() -> None:
    x, w = xl.asarray(whole((50, 3))), xl.asarray(whole((3, 3), seed=1))
    lazy = x - 1
    for _ in range(2):
        made = xl.einsum("ni,ij,nj->n", lazy, w, lazy)
        assert_same_bits(made, np.einsum("ni,ij,nj->n", lazy.numpy(), w.numpy(), lazy.numpy()))
    again = xl.jit(lambda x: xl.einsum("ni,ij,nj->n", x - 1, w, x - 1))
    for _ in range(3):
        assert_same_bits(again(x), made)
