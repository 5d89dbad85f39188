"""Products of matrices and tensors against NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import tiling
from xarraylite.dtypes.names import as_dtype
from xarraylite.functions.linear_algebra import einsum, matmul, tensordot, vecdot
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing.operands import LAYOUTS, fill, sample

Array = np.ndarray[Any, np.dtype[Any]]

NUMPY_DTYPES = ["float64", "float32", "int8", "uint16", "int32", "int64", "bool", "complex128"]
VALUES = np.arange(24.0).reshape(2, 3, 4)


def operand(draw: st.DrawFn, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[Any, Array]:
    """Small whole numbers in some layout, and as NumPy's array."""
    values = fill(dtype, shape, draw(st.integers(0, 99)), plain=True)
    tiles = tiling.LAYOUTS.get(len(shape), ())
    layout = draw(st.sampled_from([*LAYOUTS, *tiles]))
    if layout in tiles:
        return tiling.poisoned(values, layout), values
    made = sample(layout, values, 1)
    return made.operand, made.array


def stacks(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two shapes that broadcast."""
    whole = draw(st.lists(st.sampled_from([2, 3, 1, 0]), max_size=3))
    found = []
    for _ in range(2):
        own = whole[draw(st.integers(0, len(whole))) :]
        found.append(tuple([1 if draw(st.integers(0, 3)) == 0 else n for n in own]))
    return found[0], found[1]


@given(st.data())
def test_matmul(data: st.DataObject) -> None:
    draw = data.draw
    dtype = as_dtype(draw(st.sampled_from(NUMPY_DTYPES)))
    m, k, n = (draw(st.sampled_from([3, 2, 1, 5, 9, 0])) for _ in range(3))
    left, right = stacks(draw)
    a_shape = draw(st.sampled_from([(*left, m, k), (k,)]))
    b_shape = draw(st.sampled_from([(*right, k, n), (k,)]))
    (a, p), (b, q) = operand(draw, a_shape, dtype), operand(draw, b_shape, dtype)
    expected = np.asarray(p @ q)
    assert_same_bits(matmul(a, b), expected)
    assert_same_bits(matmul(p, b), expected)
    if isinstance(a, xl.XExpression) or isinstance(b, xl.XExpression):
        assert_same_bits(a @ b, expected)
        fixed = [getattr(x, "has_fixed_rank", False) for x in (a, b)]
        assert type(a @ b) is (xl.XTensor if all(fixed) else xl.XArray)


def test_operators() -> None:
    p, q = VALUES[0], VALUES[1].T
    a, b = xl.asarray(p), xl.asarray(q)
    for result in (a @ b, p @ b, a @ q, (a + 0) @ b, a @ (b * 1), np.matmul(p, b), np.matmul(a, q)):
        assert type(result) is xl.XArray
        assert_same_bits(result, p @ q)
    c = square = xl.asarray(p[:, :3])
    c @= xl.asarray(p[:, :3])
    assert c is square
    assert_same_bits(c, p[:, :3] @ p[:, :3])
    view = xl.zeros((4, 4))
    view[...] = 2.0
    part = view[1:, 1:]
    part @= np.eye(3)[::-1] + 1
    assert view[0].tolist() == [2.0] * 4
    assert view[1:, 1:].tolist() == [[8.0] * 3] * 3
    with pytest.raises(xl.BroadcastError, match="in-place matmul"):
        a @= b
    whole = xl.ones((2, 2), dtype="int32")
    with pytest.raises(xl.CastError, match="in-place matmul"):
        whole @= xl.ones((2, 2))
    assert_same_bits(a @ q.tolist(), p @ q)
    assert_same_bits(p.tolist() @ b, p @ q)
    with pytest.raises(TypeError):
        a @ "text"


@pytest.mark.parametrize(
    ("left", "right", "message"),
    [
        ((), (3,), "at least one dimension"),
        ((3,), (), "at least one dimension"),
        ((2, 3), (2, 3), r"last dimension of the left operand \(3\) and the second to last"),
        ((3,), (4,), r"\(3\) and the only one of the right \(4\)"),
        ((2, 2, 3), (3, 3, 2), r"matmul.*do not broadcast: shapes \(2,\), \(3,\)"),
    ],
)
def test_matmul_errors(left: tuple[int, ...], right: tuple[int, ...], message: str) -> None:
    with pytest.raises(xl.ShapeError, match=message):
        matmul(xl.zeros(left), xl.zeros(right))


def test_numbers_are_no_matrices() -> None:
    with pytest.raises(xl.ShapeError):
        xl.ones(3) @ 2.0
    with pytest.raises(xl.DTypeError):
        matmul("text", xl.ones(3))


def test_matmul_of_mixed_dtypes() -> None:
    a, b = np.ones((2, 3), np.int32), np.ones((3, 2), np.float32)
    assert matmul(a, b).dtype == np.matmul(a, b).dtype == np.float64
    half = xl.ones((2, 2048), dtype="bfloat16")
    result = half @ half.T
    assert result.dtype == xl.bfloat16
    assert result.tolist() == [[2048.0] * 2] * 2


@given(st.data())
def test_vecdot(data: st.DataObject) -> None:
    draw = data.draw
    dtype = as_dtype(draw(st.sampled_from(["float64", "int16", "complex128", "float32"])))
    left, right = stacks(draw)
    k = draw(st.sampled_from([4, 1, 0, 33]))
    axis = draw(st.integers(-1 - min(len(left), len(right)), -1))
    place = axis + 1
    shapes = [s[: len(s) + place] + (k,) + s[len(s) + place :] for s in (left, right)]
    (a, p), (b, q) = (operand(draw, shape, dtype) for shape in shapes)
    assert_same_bits(vecdot(a, b, axis=axis), np.asarray(np.vecdot(p, q, axis=axis)))
    place = draw(st.integers(0, min(len(left), len(right))))
    shapes = [s[:place] + (k,) + s[place:] for s in (left, right)]
    (a, p), (b, q) = (operand(draw, shape, dtype) for shape in shapes)
    assert_same_bits(vecdot(a, b, axis=place), np.asarray(np.vecdot(p, q, axis=place)))


def test_vecdot_conjugates_the_left() -> None:
    z = xl.asarray([1 + 2j, 3 - 1j])
    assert complex(vecdot(z, z)) == 15
    assert complex(vecdot(z, 1j * z)) == 15j


@together(
    ("shapes", "axis", "error"),
    [
        (((2, 3), (3,)), 0, xl.ShapeError),
        (((2, 3), (3,)), 1, xl.AxisError),
        (((2, 3), (3,)), -2, xl.AxisError),
        (((), (3,)), -1, xl.AxisError),
        (((2, 3), (2, 4)), -1, xl.ShapeError),
        (((2, 3), (4, 3)), -1, xl.ShapeError),
    ],
)
def test_vecdot_errors(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], axis: int, error: type[Exception]
) -> None:
    with pytest.raises(error, match="vecdot"):
        vecdot(xl.zeros(shapes[0]), xl.zeros(shapes[1]), axis=axis)


@pytest.mark.parametrize("axis", [-1.0, None, True, "a", np.array([-1])])
def test_vecdot_takes_whole_numbers(axis: Any) -> None:
    with pytest.raises(TypeError, match=r"vecdot\(float64\[3\].*: the axis is a whole number"):
        vecdot(xl.ones(3), xl.ones(3), axis=axis)


@given(st.data())
def test_tensordot(data: st.DataObject) -> None:
    draw = data.draw
    dtype = as_dtype(draw(st.sampled_from(["float64", "int32", "complex64", "uint8"])))
    left = draw(st.lists(st.sampled_from([2, 3, 1, 4, 0]), max_size=3))
    right = draw(st.lists(st.sampled_from([2, 3, 1, 4]), max_size=3))
    count = draw(st.integers(0, min(len(left), len(right))))
    first = draw(st.permutations(range(len(left))))[:count]
    second = draw(st.permutations(range(len(right))))[:count]
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    (a, p), (b, q) = operand(draw, tuple(left), dtype), operand(draw, tuple(right), dtype)
    signs = [x - len(left) if draw(st.booleans()) else x for x in first]
    assert_same_bits(tensordot(a, b, axes=(signs, second)), np.tensordot(p, q, (first, second)))
    if left[len(left) - count :] == right[:count]:
        assert_same_bits(tensordot(a, b, count), np.tensordot(p, q, count))


def test_tensordot_of_single_axes() -> None:
    a = xl.asarray(VALUES)
    assert_same_bits(tensordot(a, a, axes=(0, 0)), np.tensordot(VALUES, VALUES, (0, 0)))


@together(
    ("axes", "error", "message"),
    [
        (4, xl.AxisError, "no 4 common axes"),
        (-1, xl.AxisError, "no -1 common axes"),
        (1, xl.ShapeError, "dimension 2 of the left operand has extent 4, dimension 0"),
        (((0, 0), (0, 1)), xl.AxisError, "named twice"),
        (((0,), (5,)), xl.AxisError, "tensordot"),
        (((0, 1), (0,)), xl.ShapeError, "as many axes"),
        ((0, 1, 2), xl.ShapeError, "a number or a pair"),
        ("ab", xl.ShapeError, "a number or a pair"),
        (True, xl.ShapeError, "a number or a pair"),
        (np.array([[0], [1], [2]]), xl.ShapeError, "a number or a pair"),
        ((np.array([0.5]), [1]), xl.ShapeError, "whole numbers, got"),
        ((0.5, True), xl.ShapeError, "whole numbers, got 0.5"),
    ],
)
def test_tensordot_errors(axes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tensordot(xl.asarray(VALUES), xl.asarray(VALUES), axes)


EINSUMS = [
    "ij->ji",
    "ij->",
    "ij->i",
    "ii",
    "ii->i",
    "iij->ij",
    "iij->j",
    "ij,jk",
    "ij,jk->ki",
    "ij,ij->ij",
    "ij,jk,kl->il",
    "ij, jk -> k",
    "...ij,...jk->...ik",
    "...ij,jk",
    "i...,i...->...",
    "...,...",
    "b...,b->b...",
    "ii,ij->j",
    "i,j,k->kji",
    "ba",
    "...a->a...",
]


@given(st.sampled_from(EINSUMS), st.data())
def test_einsum(spec: str, data: st.DataObject) -> None:
    draw = data.draw
    dtype = as_dtype(draw(st.sampled_from(NUMPY_DTYPES)))
    extents = {k: draw(st.sampled_from([3, 2, 4, 1])) for k in "abijkl"}
    more = draw(st.lists(st.sampled_from([2, 3]), max_size=2)) if "..." in spec else []
    operands = []
    for text in spec.replace(" ", "").split("->")[0].split(","):
        head, dots, tail = text.partition("...")
        own = more[draw(st.integers(0, len(more))) :] if dots else []
        own = [1 if draw(st.integers(0, 4)) == 0 else n for n in own]
        shape = [extents[k] for k in head] + own + [extents[k] for k in tail]
        operands.append(operand(draw, tuple(shape), dtype))
    expected = np.asarray(np.einsum(spec, *[values for _, values in operands]))
    assert_same_bits(einsum(spec, *[ours for ours, _ in operands]), expected)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_products_conjugate_nothing(dtype: str) -> None:
    x = (np.arange(12.0).reshape(3, 4) - 2j).astype(dtype)
    a, b = xl.asarray(x), xl.asarray(x.T * 1j)
    for _ in range(3):
        assert_same_bits(einsum("ij,jk", a, b), x @ (x.T * 1j))
        assert_same_bits(einsum("i,i", a[0], b[:, 1]), np.dot(x[0], x[1] * 1j))
        assert_same_bits(tensordot(a, b * 2, 1), x @ (x.T * 2j))
    assert einsum("ij,jk", a, xl.asarray(x.real.T)).dtype == dtype


def test_einsum_in_numpys_other_forms() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    a, b, out = xl.asarray(x), xl.asarray(y), xl.zeros((2, 4))
    assert_same_bits(einsum(a, [0, 1], b, [1, 2], [0, 2]), x @ y)
    assert_same_bits(einsum(a, [0, 1]), np.einsum(x, [0, 1]))
    assert_same_bits(einsum(a, [..., 51], [...]), x.sum(1))
    assert_same_bits(einsum("ij,jk->ik", a, b, optimize="greedy", out=out), x @ y)
    assert_same_bits(out, x @ y)
    assert einsum("ij->ji", a, out=out[:, :3].T[:, :2]).shape == (3, 2)
    assert_same_bits(out[:, :3], x)
    for wrong in ([0, 52], [0, "a"], [], 3):
        with pytest.raises(xl.ShapeError, match="einsum"):
            einsum(a, wrong)


def test_einsum_stretches_extents_of_1() -> None:
    p, q = VALUES[:, :1, 0], VALUES[0]
    assert_same_bits(einsum("ij,jk->ik", p, q), np.einsum("ij,jk->ik", p, q))
    assert_same_bits(einsum("ij,jk", p, q[:1]), np.einsum("ij,jk", p, q[:1]))


def test_einsum_in_another_dtype() -> None:
    a = np.full((2, 300), 100, np.int8)
    assert_same_bits(einsum("ij,kj->ik", a, a, dtype="int64"), np.full((2, 2), 3_000_000))
    assert einsum("ij,kj->ik", a, a, dtype="bf16").dtype == xl.bfloat16


def test_einsum_of_expressions_and_numbers() -> None:
    a = xl.asarray(VALUES[0])
    assert_same_bits(einsum("ij,->ij", a + 1, 2.0), (VALUES[0] + 1) * 2)


@together(
    ("spec", "message"),
    [
        ("ij", "1 groups of labels for 2 operands"),
        ("ij,jkl->i", "'jkl' labels 3 dimensions of"),
        ("ij,jk->il", "label 'l' of the result is in no operand"),
        ("ij,jk->ii", "label 'i' occurs twice in the result"),
        ("...k,...j->", "the result needs one"),
        ("ij,ij->", "label '.' has extent . in one operand and . in another"),
        ("i1,jk->i", "'1' is no label"),
        ("i......,jk->i", "'.' is no label"),
        ("ijk...,jk->i", "more labels than dimensions"),
        ("...jk,jk->i", "in no operand"),
        ("ii,jk->i", "a diagonal needs equal ones"),
        ("é,jk->", "'é' is no label"),
    ],
)
def test_einsum_errors(spec: str, message: str) -> None:
    with pytest.raises(xl.ShapeError, match=message):
        einsum(spec, xl.asarray(VALUES[0]), xl.asarray(VALUES[1].T))


def test_einsum_without_operands() -> None:
    with pytest.raises(xl.ShapeError, match="takes a text of subscripts"):
        einsum("")
    with pytest.raises(xl.ShapeError, match="lists of numbers from 0 to 51"):
        einsum(xl.ones(3), 0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: matmul(x, x),
        lambda x: vecdot(x, x),
        lambda x: tensordot(x, x, 1),
        lambda x: einsum("ij,jk", x, x),
    ],
)
def test_they_evaluate(function: Callable[[Any], Any]) -> None:
    a = xl.asarray(VALUES[0][:, :3])
    result = function(a + 1)
    a[...] = 0.0
    assert type(result) is xl.XArray
    assert_same_bits(result, np.asarray(function(VALUES[0][:, :3] + 1)))
    assert_same_bits(xl.jit(function)(a + 1), function(a + 1))


@pytest.mark.parametrize("axes", [True, (1.0, 0), ((0, False), (1, 0)), 1.0])
def test_tensordot_refuses_axes_that_are_no_integers(axes: Any) -> None:
    with pytest.raises(xl.ShapeError, match=r"tensordot.*(whole|a) number"):
        tensordot(xl.ones((2, 2)), xl.ones((2, 2)), axes=axes)


def test_sizes_are_checked_before_operands_are_copied() -> None:
    a, b = xl.broadcast_to(xl.ones(()), (1000, 2)), xl.broadcast_to(xl.ones(()), (2, 1000))
    with xl.config(max_result_bytes=100_000), count_allocations() as count:
        with pytest.raises(xl.SizeError, match=r"einsum: .*i=1000, j=1000.* 8000000 bytes"):
            einsum("ik,kj->ij", a, b)
    assert count.temporaries == 0
    n = 2**30
    a, b = xl.broadcast_to(xl.ones(()), (n, 2)), xl.broadcast_to(xl.ones(()), (2, n))
    with pytest.raises(xl.SizeError, match=f"{8 * n * n} bytes"):
        einsum("ik,kj->ij", a, b)


def test_in_place_products_are_refused_before_they_are_made() -> None:
    """Nothing is multiplied, packed or allocated for a result that may not be kept."""
    n = 40
    a, b = xl.ones((n, n)), xl.ones((n, n))
    locked = xl.adapt(np.broadcast_to(np.ones(()), (n, n)))
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (
            a,
            xl.ones((n, 2 * n)),
            xl.BroadcastError,
            r"in-place matmul: the result has shape \(40, 80",
        ),
        (a, xl.ones(n), xl.BroadcastError, r"in-place matmul: the result has shape \(40,\)"),
        (
            a,
            b * 1j,
            xl.CastError,
            r"in-place matmul: the result complex128\[40, 40\] does not cast",
        ),
        (xl.ones((n, n), dtype="int32"), b, xl.CastError, "in-place matmul"),
        (locked, b, xl.ReadOnlyError, "in-place matmul.*read-only"),
        (a, xl.ones((3, n)), xl.ShapeError, "matmul"),
    ]
    for c, other, error, message in cases:
        for _ in range(2):  # also where the product has been made before
            with count_allocations() as count, pytest.raises(error, match=message):
                c @= other
            assert (count.allocations, count.temporaries) == (0, 0)
            if error is not xl.ShapeError:
                c @ other
    with count_allocations() as count:
        a @= b
    assert (count.allocations, count.snapshots) == (1, 0)
    assert a.tolist() == [[float(n)] * n] * n


def test_numbers_for_letters_keep_their_order() -> None:
    a, b = np.arange(24.0).reshape(2, 3, 4), np.arange(12.0).reshape(4, 3)
    assert np.array_equal(
        xl.einsum(xl.asarray(a), [0, 30, 2], b, [2, 7]), np.einsum(a, [0, 30, 2], b, [2, 7])
    )
    with pytest.raises(xl.ShapeError, match="-1 is negative"):
        xl.einsum(a, [0, 1, -1])


def test_einsum_refuses_to_lose_imaginary_parts() -> None:
    with pytest.raises(TypeError, match=r"einsum to float64\(complex128\[2, 2\]\)"):
        xl.einsum("ij->j", xl.ones((2, 2)) + 1j, dtype=float)


@pytest.mark.parametrize("value", [1.5, xl.asarray(2.0)])
def test_the_inverse_of_a_number_is_refused(value: object) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="pinv"):
        xl.linalg.pinv(value)


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float16"])
def test_folds_again_and_again(dtype: str) -> None:
    """What no BLAS computes is remembered by kinds: other values, shapes, strides and layouts."""
    rng = np.random.default_rng(5)
    for n in (3, 3, 3, 4, 4, 0, 1, 3):
        p, q = [rng.integers(0, 2, (n, n)).astype(dtype) for _ in range(2)]
        if dtype == "complex128":
            p = p * (1 - 2j)
        a, b = xl.asarray(p), xl.asarray(q)
        tiled = b.to_layout("{1,0:T(2,2)}")
        for made, wanted in (
            (xl.einsum("ij->j", a), np.einsum("ij->j", p)),
            (xl.einsum("ij->ji", a), p.T),
            (xl.einsum("ii", a), np.einsum("ii", p)),
            (xl.einsum("ii->i", a), np.einsum("ii->i", p)),
            (xl.einsum("i,jk->ij", xl.ravel(a), b), np.einsum("i,jk->ij", p.ravel(), q)),
            (xl.einsum("ij,ij->i", a.T, b), np.einsum("ij,ij->i", p.T, q)),
            (xl.einsum("ij,ij", a, tiled), np.einsum("ij,ij", p, q)),
            (xl.einsum("ij,ij", a, a), np.einsum("ij,ij", p, p)),
            (xl.einsum("ij,kj->ik", a + a, b), np.einsum("ij,kj->ik", p + p, q)),
            (xl.vdot(a, b), np.vdot(p, q)),
            (xl.vecdot(a, b[:, ::-1]), np.einsum("ij,ij->i", p.conj(), q[:, ::-1])),
            (xl.tensordot(a, b, ([0], [1])), np.tensordot(p, q, ([0], [1]))),
            (xl.tensordot(a, b, 2), np.tensordot(p, q, 2)),
        ):
            assert made.shape == wanted.shape
            assert made.dtype == wanted.dtype
            assert np.allclose(np.asarray(made, wanted.dtype), wanted)
    told = [str(xl.explain(xl.einsum("ij,ij->j", tiled, a))) for _ in range(4)]
    assert len({*told[1:]}) == 1
    assert "in memory" not in told[0] + told[-1]
    before = xl.einsum("ij->j", a)
    kept = np.array(before)
    a[...] = 0
    assert np.array_equal(np.asarray(before), kept)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "bool", "complex64"])
def test_rows_times_rows_have_the_bits_of_tensordot(dtype: str) -> None:
    """Whoever says them: `inner`, and subscripts that turn the second operand."""
    rng = np.random.default_rng(4)
    for rows, inner, columns in ((3, 4, 3), (1, 4, 3), (3, 1, 2), (1, 1, 1), (3, 130, 1)):
        p, q = [(3 * rng.standard_normal((n, inner))).astype(dtype) for n in (rows, columns)]
        a, b = xl.asarray(p * (1 - 2j) if dtype[0] == "c" else p), xl.asarray(q)
        a = a.astype(dtype)
        matrix = xl.tensordot(a, b, axes=([-1], [-1]))
        vector = xl.tensordot(a[0], b, axes=([0], [1]))
        for _ in range(3):
            for made in (xl.inner(a, b), xl.einsum("ij,kj->ik", a, b), xl.einsum("xy,zy", a, b)):
                assert_same_bits(np.asarray(made), np.asarray(matrix))
            assert_same_bits(np.asarray(xl.einsum("j,kj", a[0], b)), np.asarray(vector))
    with pytest.raises(ValueError, match=r"inner|tensordot"):
        xl.inner(a, xl.ones((2, 7), dtype))
    with pytest.raises(ValueError, match="einsum"):
        xl.einsum("ij,kj", a, xl.ones((2, 7), dtype))


@pytest.mark.parametrize("spec", ["ij,kj->ik", "ij,ij->i", "ij,jk,kl->il"])
@pytest.mark.parametrize(("dtype", "wide"), [("uint8", "float64"), ("bool", "int32")])
def test_einsum_is_computed_in_the_dtype_that_out_has_too(spec: str, dtype: str, wide: str) -> None:
    p = (np.arange(9) * 40 % 255).reshape(3, 3).astype(dtype)
    operands = [p] * (spec.count(",") + 1)
    wanted = np.einsum(spec, *operands, out=np.zeros(3 if spec[-2:] == ">i" else (3, 3), wide))
    for kind in (xl.asarray, np.ndarray.tolist) if dtype == "bool" else (xl.asarray,):
        out = xl.zeros(wanted.shape, wide)
        assert xl.einsum(spec, *map(kind, operands), out=out) is out
        assert np.asarray(out).tolist() == wanted.tolist()
