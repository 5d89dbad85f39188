"""Float16 is converted alike by the CPU's instructions and by bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import xarraylite as xl
from xarraylite.codegen import machine
from xarraylite.codegen.host import host
from xarraylite.testing import assert_ulp

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.fixture(params=[True, False], ids=["instructions", "bits"])
def converts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether kernels are made for a CPU that converts float16."""
    here = host()
    if not here.triple.startswith("x86_64"):
        pytest.skip("all processors of this kind convert float16")
    if request.param and not here.converts_halves:
        pytest.skip("this processor does not convert float16")
    if not request.param:
        monkeypatch.setenv("NUMBA_CPU_FEATURES", "+sse2")
    xl.cache_clear()
    assert host().converts_halves is request.param
    return bool(request.param)


def same(found: npt.NDArray[np.generic], wanted: npt.NDArray[np.generic]) -> None:
    """Ask for equal bits, but for the payload and sign of NaNs."""
    whole = f"u{wanted.itemsize}"
    nan = np.isnan(wanted)
    np.testing.assert_array_equal(np.isnan(found), nan)
    np.testing.assert_array_equal(found[~nan].view(whole), wanted[~nan].view(whole))


def test_every_float16(converts: bool) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    a = xl.asarray(every)
    with np.errstate(invalid="ignore", over="ignore"):
        same(xl.eval(xl.astype(a, "float32")).copy().numpy(), every.astype(np.float32))
        same(xl.eval(a + a).copy().numpy(), every + every)
        same(xl.eval(a * a - a).copy().numpy(), every * every - every)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_lies_between_them(converts: bool, dtype: str) -> None:
    values = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(dtype)
    middles = (values[:-1] + values[1:]) / 2
    ends = np.array([65519.996, 65520.0, 1e30, np.inf, np.nan, 2.0**-25, 1e-30, 1e-45], dtype)
    near = [np.nextafter(middles, np.array(to, dtype)) for to in (-np.inf, np.inf)]
    x = np.concatenate((values, middles, *near, ends))
    x = np.concatenate((x, -x))
    with np.errstate(over="ignore", under="ignore"):
        wanted = x.astype(np.float16)
    same(xl.eval(xl.astype(xl.asarray(x), "float16")).copy().numpy(), wanted)


def test_which_routines_are_instructions(converts: bool) -> None:
    for name in ("decode_float16", "encode_float16", "round_float16"):
        assert (machine.half(f"{name}(a0)") is not None) is converts
    assert machine.half("decode_bfloat16(a0)") is None


@pytest.mark.parametrize("name", ["cbrt", "asinh", "tanh", "atan"])
def test_functions_that_end_with_a_sign(converts: bool, name: str) -> None:
    """LLVM rounds both operands of a copysign, instead of what it gives."""
    x = np.concatenate([y := np.linspace(0, 4, 67), -y]).astype(np.float16)
    wanted = getattr(np, {"asinh": "arcsinh", "atan": "arctan"}.get(name, name))(x.astype("f4"))
    assert_ulp(xl.eval(getattr(xl, name)(xl.asarray(x))), wanted.astype(np.float16), 1)
