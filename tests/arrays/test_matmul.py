"""Small products that are made again give what the first one gave, and are told of alike."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.arrays import matmul
from xarraylite.testing import assert_same_bits

DTYPES = ["int64", "uint8", "bool", "float16", "bfloat16", "complex64", "complex128", "float64"]
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    *(((5,), (5,)), ((3, 4), (4, 2)), ((3, 4), (4,)), ((4,), (4, 3)), ((1, 4), (4, 1))),
    *(((4, 0), (0, 3)), ((20, 20), (20, 20)), ((4, 3, 2), (2, 3))),
]

rng = np.random.default_rng(3)


def _operands(dtype: str, shapes: tuple[tuple[int, ...], ...]) -> list[Any]:
    return [xl.asarray(rng.integers(0, 3, shape), dtype=dtype) for shape in shapes]


@together(
    ("dtype", "shapes"),
    [
        (dtype, shapes)
        for turn, dtype in enumerate(DTYPES)
        for k, shapes in enumerate(SHAPES)
        if (turn + k) % 3  # each shape meets most dtypes
    ],
)
def test_again_and_again(dtype: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    for _ in range(4):
        a, b = _operands(dtype, shapes)
        if dtype.startswith("complex"):
            a = xl.eval(a * (1 - 2j))
        made = a @ b
        wide = "complex128" if dtype.startswith("complex") else "int64"
        values = np.asarray(a).astype(wide) @ np.asarray(b).astype(wide)
        assert made.dtype == a.dtype
        assert np.array_equal(np.asarray(made), values.astype(a.dtype))
        lazy = (a + a) @ b  # of booleans, + is "or"
        assert np.array_equal(np.asarray(lazy), np.asarray(xl.eval(a + a) @ b))


def test_overflow_wraps_again_and_again() -> None:
    a = xl.asarray([[1 << 62, 3], [5, -7]])
    for _ in range(3):
        assert np.array_equal(np.asarray(a @ a), np.asarray(a) @ np.asarray(a))


@together("dtype", ["bool", "int8", "uint16", "int32", "uint64"])
@together("n", [2, 5, 40, 60])
def test_whole_numbers_wrap_as_numpy_has_them(dtype: str, n: int) -> None:
    """Matrices and vectors, views of them, and those on either side of what NumPy multiplies."""
    m, v = [rng.integers(0, 2 if dtype == "bool" else 120, s).astype(dtype) for s in ((n, n), n)]
    a, b = xl.asarray(m), xl.asarray(v)
    for _ in range(3):
        for made, wanted in (
            (a @ a, m @ m),
            (a @ b, m @ v),
            (b @ a.T, v @ m.T),
            (b @ b, v @ v),
            (a[::-1] @ a[:, ::2], m[::-1] @ m[:, ::2]),
            (a[:, 0] @ a[0], m[:, 0] @ m[0]),
            (xl.einsum("ij,kj->ik", a, a), m @ m.T),
            (xl.tensordot(a, a, axes=([0], [0])), m.T @ m),
        ):
            assert made.dtype == wanted.dtype
            assert np.array_equal(np.asarray(made), wanted)
    if n < 60:
        assert "NumPy: " in str(xl.explain(a @ a))


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_what_is_known_is_not_planned(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = _operands(dtype, ((3, 4), (4, 2)))
    for _ in range(3):  # what is asked for again gets a plan
        first = a @ b
    told = str(xl.explain(first))
    monkeypatch.setattr(matmul.products, "product", None)
    again = a @ b
    assert np.array_equal(np.asarray(again), np.asarray(first))
    assert str(xl.explain(again)) == told


@pytest.mark.parametrize("dtype", ["int64", "int8", "float16", "float64"])
def test_products_are_row_major_again_and_again(dtype: str) -> None:
    a = xl.asarray(np.arange(16).reshape(4, 4), dtype=dtype, order="F")
    expected = np.asarray(a) @ np.asarray(a)
    for _ in range(4):
        for made in (a @ a, (a + a).T @ a, a.T @ a):
            assert made.strides == (4, 1)
        assert np.array_equal(np.asarray(a @ a), expected)
    with xl.config(default_layout="column_major"):
        for _ in range(4):
            assert ((a + 0) @ (a + 0)).strides == (xl.zeros((4, 4)) @ xl.zeros((4, 4))).strides


@pytest.mark.parametrize("dtype", ["int64", "float16"])
def test_remembered_parts_read_the_operands_of_the_moment(dtype: str) -> None:
    """What a memoised function makes is one part, though its fold has all its operations."""
    for _ in range(5):
        (a,) = _operands(dtype, ((7,),))
        lazy = a * 1
        steps = np.diff(np.asarray(a))
        assert xl.diff(lazy) @ xl.diff(lazy) == steps @ steps


@pytest.mark.usefixtures("compiled", "installed")
def test_products_of_several_shapes_are_known_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A filter's step multiplies matrices by matrices, by columns, and rows by both."""
    shapes = [
        ((2, 2), (2, 2)),
        ((2, 2), (2, 1)),
        ((1, 2), (2, 2)),
        ((1, 2), (2, 1)),
        ((2,), (2, 3)),
    ]
    pairs = [_operands("float64", pair) for pair in shapes]
    for _ in range(2):  # a table that is full begins anew
        expected = [np.asarray(a @ b) for a, b in pairs]
    monkeypatch.setattr(matmul.products, "product", None)
    for _ in range(3):
        for (a, b), values in zip(pairs, expected, strict=True):
            assert np.asarray(a @ b).tobytes() == values.tobytes()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128"])
def test_vectors_of_any_length_are_not_planned(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor those of no element or one, with which eliminations begin; nor matrices of none."""
    m = (rng.normal(size=(30, 30)) * 9).astype(dtype)
    m[:, 0] = -0.0
    a = xl.asarray(m)
    for y in (a[3, :7], a[:7, 2]) if dtype != "complex128" else (a[3, :7],):
        a[2, :7] @ y
    b = xl.asarray(m[:7, :7])
    b @ b
    monkeypatch.setattr(matmul.products, "product", None)
    for n in (*range(30), 4, 4, 4):
        if n == 1 and dtype == "complex128":
            continue
        assert_same_bits(a[2, :n] @ a[3, :n], np.asarray(m[2, :n] @ m[3, :n]))
        if dtype != "complex128" and n != 1:  # one element has no stride, by which zeros have signs
            assert_same_bits(a[2, :n] @ a[:n, 2], np.asarray(m[2, :n] @ m[:n, 2]))
    for left, right in ((b[:, :0], b[:0]), (b[:0], b), (b, b[:, :0])):
        assert_same_bits(left @ right, np.asarray(left) @ np.asarray(right))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
def test_rows_and_columns_again_and_again_have_the_same_bits(dtype: str) -> None:
    extents = np.random.default_rng(5)
    for _ in range(40):
        m, k, n = extents.choice([1, 2, 3, 8, 17, 40], 3)
        a, b = [xl.asarray(extents.standard_normal(s) * 9, dtype=dtype) for s in ((m, k), (k, n))]
        first = np.asarray(a @ b)
        assert all(np.asarray(a @ b).tobytes() == first.tobytes() for _ in range(2))
        assert (a @ b).strides == xl.zeros((m, n)).strides


@pytest.mark.parametrize("held", [True, False])
def test_results_of_products_are_told_of_in_what_is_computed_of_them(held: bool) -> None:
    a, b = _operands("float64", ((3, 3), (3, 3)))
    for _ in range(300):  # machine code takes over
        made = a @ b
        e = made + 1.0
        if not held:
            del made
        assert np.array_equal(np.asarray(xl.eval(e)), np.asarray(a) @ np.asarray(b) + 1)
    assert "BLAS" in str(xl.explain(e))
    made = a @ b
    e = made + 1.0
    made[0, 0] = 100.0
    assert np.array_equal(np.asarray(e), np.asarray(a) @ np.asarray(b) + 1)
    assert "BLAS" not in str(xl.explain(made + 1.0))


MIXED = ["float64", "float32", "int64", "uint8", "bool", "complex128"]


@together("dtypes", [*itertools.pairwise([*MIXED, MIXED[0]])], ids=str)
def test_products_of_two_dtypes_are_numpys(dtypes: tuple[str, str]) -> None:
    for shapes in SHAPES:
        x, y = [rng.integers(0, 3, s).astype(d) for s, d in zip(shapes, dtypes, strict=True)]
        a, b = xl.asarray(x), xl.asarray(y)
        for made in (a @ b, (a * a) @ b, a @ (b * b)):
            assert made.dtype == (x @ y).dtype
        assert np.array_equal(np.asarray(a @ b), x @ y)
        assert np.array_equal(np.asarray((a * a) @ b), (x * x) @ y)
    with pytest.raises(ValueError, match="matmul"):
        xl.ones((2, 3), dtypes[0]) @ xl.ones((2, 3), dtypes[1])
    with pytest.raises(ValueError, match="matmul"):
        (xl.ones((), dtypes[0]) + xl.ones((), dtypes[0])) @ xl.ones(3, dtypes[1])


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f4"), ("i8", "i8"), ("i8", "f8")])
def test_products_of_nothing(dtypes: tuple[str, str]) -> None:
    one, other = xl.ones((3, 4), dtypes[0]), xl.ones(4, dtypes[1])
    for left in (one, one + one):
        for _ in range(3):
            made = left[1, :0] @ other[:0]
            assert (made.shape, made.dtype) == ((), np.result_type(*dtypes))
            assert made == 0
            assert left[1, :1] @ other[:1] == left[1, 0]


@pytest.mark.parametrize("transposed", [False, True])
def test_lazy_operands_again_and_again(transposed: bool) -> None:
    x, y = xl.asarray(rng.random((5, 3))), xl.asarray(rng.random((5, 2)))
    for k in range(40):
        left = 0.5 * x.T if transposed else (x * 0.5).T
        made = left @ (y - k)
        expected = (0.5 * np.asarray(x)).T @ (np.asarray(y) - k)
        np.testing.assert_allclose(np.asarray(made), expected, 1e-14)
        x[k % 5, 0] = k


@pytest.mark.parametrize("held", [False, True])
def test_products_are_updated_by_what_is_made_of_them(held: bool) -> None:
    """Whoever waits for the product keeps it, and it is none from then on."""
    a, b = xl.asarray(rng.random((4, 3))), xl.asarray(rng.random((3, 2)))
    theirs = np.asarray(a) @ np.asarray(b)
    for k in range(60):
        made = a @ b
        waiting = made * 2 if k % 3 == 0 else None
        if held:
            largest = made.max(1, keepdims=True)
            made -= largest
            assert np.array_equal(np.asarray(largest), theirs.max(1, keepdims=True))
        else:
            made -= made.max(1, keepdims=True)
        assert np.array_equal(np.asarray(made), theirs - theirs.max(1, keepdims=True))
        if waiting is not None:
            assert np.array_equal(np.asarray(waiting), theirs * 2)
        assert "BLAS" not in str(xl.explain(made + 1.0))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64"])
def test_long_dot_products_of_whole_numbers_wrap_in_any_order(dtype: str) -> None:
    rng = np.random.default_rng(7)
    for n in (4096, 4097):
        bits = rng.integers(0, 256, (2, 2 * n * np.dtype(dtype).itemsize), "u1")
        one, two = (bits > 254 if dtype == "bool" else bits).view(dtype)
        u, v = xl.asarray(one), xl.asarray(two)
        for part in (slice(n), slice(None, None, -2)):
            want, a, b = one[part] @ two[part], u[part], v[part]
            for _ in range(3):
                assert_same_bits(a @ b, want)
                assert_same_bits(xl.einsum("i,i", a, b), want)
                assert_same_bits(xl.vecdot(a, b), want)
                assert_same_bits((a ^ b) @ b, (one[part] ^ two[part]) @ two[part])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_products_of_views_are_known_again_with_the_same_bits(dtype: str) -> None:
    rng = np.random.default_rng(4)
    for rows, inner, columns in [(3, 4, 3), (1, 4, 3), (3, 1, 2), (5, 7, 2)]:
        one, other = [
            (rng.random(shape) + 1j * rng.random(shape)).astype(dtype)
            for shape in [(rows, 2 * inner), (columns, inner)]
        ]
        a, b = xl.asarray(one), xl.asarray(other)
        first = np.asarray(a[:, ::2] @ b.T).tobytes()
        for _ in range(3):
            assert np.asarray(a[:, ::2] @ b.T).tobytes() == first
        assert np.asarray(xl.inner(a[:, ::2], b)).tobytes() == first
        b[...] = 2 * b  # what is known is no value
        assert np.allclose(a[:, ::2] @ b.T, one[:, ::2] @ (2 * other.T))
