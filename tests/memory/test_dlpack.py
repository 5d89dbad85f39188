"""DLPack both ways, for every dtype it has a name for; with JAX where it is installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.dtypes.names import SUPPORTED, dtype_name
from xarraylite.memory.dlpack import exported
from xarraylite.testing import assert_same_bits
from xarraylite.testing.operands import fill

PACKED = {"int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"}
NAMED = sorted([dt for dt in SUPPORTED if dtype_name(dt) not in PACKED], key=str)


@pytest.mark.parametrize("dtype", NAMED, ids=str)
@pytest.mark.parametrize("version", [None, (1, 0)])
def test_there_and_back(dtype: Any, version: Any) -> None:
    values = fill(dtype, (3, 4), 1)
    a = xl.asarray(values)[::2, ::-1]

    class Export:
        def __dlpack__(self, **options: Any) -> Any:
            if version is None and options:
                raise TypeError("an older exporter")
            return a.__dlpack__(max_version=version)

        def __dlpack_device__(self) -> tuple[int, int]:
            return a.__dlpack_device__()

    b = xl.from_dlpack(Export())
    assert (b.dtype, b.shape) == (dtype, (2, 4))
    assert_same_bits(b, values[::2, ::-1])
    b[0, 0] = b[1, 1]
    assert_same_bits(a, b)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "int8", "bool"])
def test_jax(dtype: str) -> None:
    jnp = pytest.importorskip("jax.numpy")
    a = xl.asarray([1, 0, 2], dtype=dtype)
    theirs = jnp.from_dlpack(a)
    assert str(theirs.dtype) == dtype
    assert_same_bits(np.asarray(theirs), np.asarray(a))
    assert_same_bits(xl.from_dlpack(jnp.asarray([1, 0, 2], dtype=dtype)), np.asarray(a))
    assert jnp.asarray(a + a).tolist() == (a + a).tolist()
    if dtype == "float32":
        both = jnp.asarray([1.0, 2.0, 3.0])
        for result in (a + both, both + a, (a * 2) - both, np.add(a, both)):
            assert isinstance(result, xl.XExpression)


def test_keywords() -> None:
    a = xl.asarray([1.0, 2.0])
    assert np.shares_memory(np.from_dlpack(a), np.asarray(a))
    assert not np.shares_memory(np.from_dlpack(a, copy=True), np.asarray(a))
    assert np.from_dlpack(a * 2).tolist() == [2, 4]
    assert np.from_dlpack(a[1]).tolist() == 2
    assert a.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        a.__dlpack__(dl_device=(2, 0))
    tiled = xl.ones((2, 3), layout="{1,0:T(2,2)}")
    assert np.from_dlpack(tiled).tolist() == [[1.0] * 3] * 2
    with pytest.raises(BufferError, match="tiled and needs a copy"):
        np.from_dlpack(tiled, copy=False)


def test_read_only_memory_stays_so() -> None:
    a = xl.adapt(bytes(16), dtype="bfloat16")
    assert xl.from_dlpack(a).readonly
    with pytest.raises(BufferError):
        a.__dlpack__()


@pytest.mark.parametrize("name", sorted(PACKED))
def test_packed_types_are_refused(name: str) -> None:
    with pytest.raises(BufferError, match=f"no elements of a byte each for {name}"):
        exported(np.asarray(xl.ones(2, dtype=name)), {})
