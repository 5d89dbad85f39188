"""DLPack both ways, for every dtype it has a name for; with JAX where it is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import SUPPORTED, dtype_name
from xarraylite.memory.dlpack import exported
from xarraylite.testing import assert_same_bits
from xarraylite.testing.operands import fill

PACKED = {
    *["int1", "uint1", "int2", "uint2", "int4", "uint4"],
    *["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn"],
}
NAMED = sorted([dt for dt in SUPPORTED if dtype_name(dt) not in PACKED], key=str)


@together("dtype", NAMED)
@together("version", [None, (1, 0)])
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
    assert np.shares_memory(np.asarray(b), np.asarray(a))
    assert b.readonly == (version is None)  # older capsules do not say


JAX = """
import jax.numpy as jnp, numpy as np, xarraylite as xl
for dtype in ("float32", "bfloat16", "float8_e5m2", "int8", "bool"):
    a = xl.asarray([1, 0, 2], dtype=dtype)
    theirs = jnp.from_dlpack(a)
    assert str(theirs.dtype) == dtype and theirs.tolist() == a.tolist(), dtype
    back = xl.from_dlpack(jnp.asarray([1, 0, 2], dtype=dtype))
    assert back.dtype == a.dtype and back.tolist() == a.tolist(), dtype
    assert jnp.asarray(a + a).tolist() == (a + a).tolist(), dtype
a, both = xl.asarray([1.0, 2.0, 3.0]), jnp.asarray([1.0, 2.0, 3.0])
for result in (a + both, both + a, (a * 2) - both, np.add(a, both), a[1] * both):
    assert isinstance(result, xl.XExpression)
"""


@pytest.mark.skipif(find_spec("jax") is None, reason="JAX is not installed")
def test_jax() -> None:
    """In a process of its own: JAX's threads forbid other tests to fork."""
    done = subprocess.run(
        [sys.executable, "-c", JAX], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


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
    with pytest.raises(BufferError, match="needs a copy"):
        np.from_dlpack(tiled, copy=False)


def test_read_only_memory_stays_so() -> None:
    a = xl.adapt(bytes(16), dtype="bfloat16")
    assert xl.from_dlpack(a).readonly
    with pytest.raises(BufferError):
        a.__dlpack__()


@together("name", sorted(PACKED))
def test_packed_types_are_refused(name: str) -> None:
    with pytest.raises(BufferError, match=f"no elements of a byte each for {name}"):
        exported(np.asarray(xl.zeros(2, dtype=name)), {})
