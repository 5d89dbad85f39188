"""Permuted dimensions, copied and inside expressions: NumPy's bits in every order."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import dtype_name
from xarraylite.testing import assert_same_bits

DTYPES = ("bool", "uint8", "int16", "bfloat16", "float32", "float64", "complex64", "complex128")
SHAPES = ((33, 47), (300, 17), (1030, 19), (16, 16), (17, 5, 31), (16, 33, 18), (17, 3, 18, 16))


def values(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray[Any, Any]:
    """Every bit pattern; of bools both, of bfloat16, which is computed in float32, numbers."""
    raw = np.random.default_rng(seed)
    kind = xl.empty((), dtype=dtype).dtype
    if dtype == "bfloat16":
        return raw.normal(size=shape).astype(kind)
    if dtype == "bool":
        return raw.integers(0, 2, shape).astype(bool)
    count = int(np.prod(shape)) * kind.itemsize
    return raw.integers(0, 256, count, dtype=np.uint8).view(kind).reshape(shape)


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> np.ndarray[Any, Any]:
    """Values whose sums and products are exact."""
    return np.random.default_rng(seed).integers(0, 8, shape).astype(dtype)


@together("dtype", DTYPES)
@together("shape", SHAPES, ids=str)
def test_every_permutation_is_copied_bit_for_bit(shape: tuple[int, ...], dtype: str) -> None:
    a = values(shape, dtype)
    lazy = xl.asarray(a)
    for axes in itertools.permutations(range(len(shape))):
        expected = np.ascontiguousarray(np.transpose(a, axes))
        out = xl.zeros(expected.shape, dtype=dtype)
        out[...] = xl.permute_dims(lazy, axes)
        assert np.asarray(out).tobytes() == expected.tobytes(), axes


@together("dtype", ["int16", "float32", "float64", "complex128"])
@together("shape", SHAPES, ids=str)
def test_every_permutation_inside_an_expression(shape: tuple[int, ...], dtype: str) -> None:
    a = numbers(shape, dtype)
    for axes in itertools.permutations(range(len(shape))):
        turned = np.transpose(a, axes)
        b = numbers(turned.shape, dtype, 1)
        out = xl.asarray(b, copy=True)
        out[...] = out * 3 + xl.permute_dims(xl.asarray(a), axes) * xl.asarray(b)
        assert_same_bits(out, (b * 3 + turned * b).astype(dtype))


@given(
    st.lists(st.integers(1, 70), min_size=2, max_size=4),
    st.randoms(use_true_random=False),
    st.sampled_from(["uint8", "int16", "float32", "float64", "complex128"]),
    st.sampled_from(["uint8", "int16", "float32", "float64", "complex128"]),
    st.integers(0, 70),
)
@settings(max_examples=60)
def test_operands_of_several_sizes_from_the_middle_of_memory(
    shape: list[int], rng: Any, first: str, second: str, offset: int
) -> None:
    while int(np.prod(shape)) > 20_000:
        shape.remove(max(shape))

    def operand(dtype: str, seed: int) -> tuple[Any, np.ndarray[Any, Any]]:
        axes = list(range(len(shape)))
        rng.shuffle(axes)
        size = int(np.prod(shape))
        memory = numbers((size + offset,), dtype, seed)[offset:]
        array = memory.reshape([shape[k] for k in axes]).transpose(np.argsort(axes))
        return xl.adapt(array), array

    (x, a), (y, b) = operand(first, 0), operand(second, 1)
    expected = a + b
    out, check = operand(dtype_name(expected.dtype), 2)
    out[...] = x + y
    assert_same_bits(out, expected)
    del check


@pytest.mark.parametrize(("dtype", "extra"), [("float32", 0), ("float32", 5), ("int16", 3)])
def test_results_large_enough_to_be_stored_past_the_caches(dtype: str, extra: int) -> None:
    size = np.dtype(dtype).itemsize
    n = int((((16 << 20) + (1 << 18)) // size) ** 0.5)
    a, b = numbers((n, n + extra), dtype), numbers((n + extra, n), dtype, 1)
    out = xl.zeros((n + extra, n), dtype=dtype)
    out[...] = xl.asarray(a).T
    assert_same_bits(out, np.ascontiguousarray(a.T))
    out[...] = xl.asarray(b) - xl.asarray(a).T
    assert_same_bits(out, b - a.T)
    # Elements that are no multiple of their size away from a line.
    memory = np.zeros(a.nbytes + 64, np.uint8)[1 : a.nbytes + 1].view(dtype).reshape(n + extra, n)
    xl.adapt(memory)[...] = xl.asarray(a).T
    assert_same_bits(memory, np.ascontiguousarray(a.T))
