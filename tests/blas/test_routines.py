"""BLAS's own names are products and sums of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl

A = np.arange(6.0).reshape(2, 3)
B = np.arange(12.0).reshape(3, 4) - 5


@pytest.mark.parametrize("layout", ["row_major", "column_major", "{1,0:T(2,2)}"])
def test_products_of_any_layout(layout: str) -> None:
    a, b = xl.asarray(A, layout=layout), xl.asarray(B, layout=layout)
    np.testing.assert_array_equal(xl.blas.gemm(a, b), A @ B)
    np.testing.assert_array_equal(xl.blas.gemm(a.T, b.T, None, True, True, alpha=2), 2 * (A @ B))
    np.testing.assert_array_equal(xl.blas.gemm(a + 0, B, transpose_a=False), A @ B)
    np.testing.assert_array_equal(xl.blas.gemv(b, [1, 2, 3], transpose=True), B.T @ [1, 2, 3])
    c = xl.full((2, 4), 10.0)
    assert xl.blas.gemm(a, b, c, beta=0.5) is c
    np.testing.assert_array_equal(c, A @ B + 5)


def test_a_factor_may_be_the_result() -> None:
    m = np.array([[1.0, 2.0], [3.0, 4.0]])
    c = xl.asarray(m, copy=True)
    xl.blas.gemm(c, c, c, transpose_a=True, alpha=2, beta=-1)
    np.testing.assert_array_equal(c, 2 * m.T @ m - m)
    part = xl.zeros((4, 4))
    xl.blas.gemm(m, m, part[::2, 1:3])
    np.testing.assert_array_equal(part[::2, 1:3], m @ m)


def test_vectors() -> None:
    total = xl.zeros(())
    assert xl.blas.dot([1, 2, 3], xl.asarray([4, 5, 6]), total) is total
    assert total.item() == 32
    assert xl.blas.dot(xl.zeros(0), xl.zeros(0)).item() == 0
    assert xl.blas.gemm(np.zeros((2, 0)), np.zeros((0, 3)), alpha=1j).dtype == xl.complex128


WRONG: dict[str, tuple[Any, type[Exception]]] = {
    "ranks": (lambda: xl.blas.gemm(A, B[0]), xl.ShapeError),
    "vector": (lambda: xl.blas.gemv(A, B), xl.ShapeError),
    "matrix": (lambda: xl.blas.dot(A, A), xl.ShapeError),
    "extents": (lambda: xl.blas.gemm(A, A), xl.ShapeError),
    "result": (lambda: xl.blas.gemm(A, B, xl.zeros((3, 3))), xl.BroadcastError),
}


@pytest.mark.parametrize("name", WRONG)
def test_refused(name: str) -> None:
    call, error = WRONG[name]
    with pytest.raises(error):
        call()
