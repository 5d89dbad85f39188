"""Opcodes that few programs have, against models by hand."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

pytestmark = pytest.mark.once


#: Opcodes that no program of JAX's for CPUs has: read, printed, verified and weighed alone.
TEXT_ONLY = """\
r = bf16[4] stochastic-convert(f32[4] x, u32[4] u)
r = u64[2] rng-get-and-update-state(), delta=3
r = f32[8] rng(f32[] a, f32[] b), distribution=rng_uniform
r = f32[7,5] ragged-dot(f32[7,4] x, f32[3,4,5] w, s32[3] g), lhs_contracting_dims={1}, \
rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
r = f32[4,5] scaled-dot(f32[4,6] x, f32[6,5] y, f32[2,3] s, f32[3,1] t), \
lhs_contracting_dims={1}, rhs_contracting_dims={0}
r = f32[7,2] ragged-all-to-all(f32[6,2] x, f32[7,2] o, s32[2] a, s32[2] b, s32[2] c, s32[2] d), \
replica_groups={{0,1}}
""".splitlines()


@together("line", TEXT_ONLY)
def test_opcodes_that_are_text_say_so(line: str) -> None:
    module = xl.hlo.parse(line).verify()
    assert str(xl.hlo.parse(str(module))) == str(module)
    assert module.cost().summary
    given = [np.zeros(p.shape.dimensions, p.shape.dtype) for p in module.entry.parameters]
    with pytest.raises(xl.HloError, match="is not evaluated"):
        module(*given)


def test_dynamic_reshape():
    module = xl.hlo.parse(
        "ENTRY e { x = f32[6] parameter(0)  n = s32[] parameter(1)  m = s32[] parameter(2)  "
        "ROOT r = f32[<=2,<=3] dynamic-reshape(x, n, m) }"
    )
    x = np.arange(6, dtype=np.float32)
    assert np.array_equal(np.asarray(module(x, np.int32(2), np.int32(3))), x.reshape(2, 3))
    with pytest.raises(xl.HloError, match="6 elements do not fill"):
        module(x, np.int32(2), np.int32(2))


def test_no_factor_of_a_matrix_that_is_not_positive_definite():
    x = np.float32([[[1, 2], [2, 1]], [[4, 0], [0, 9]]])
    for lower in ("true", "false"):
        module = xl.hlo.parse(
            f"ENTRY e {{ x = f32[2,2,2] parameter(0)  ROOT r = cholesky(x), lower={lower} }}"
        )
        made = np.asarray(module(x))
        assert np.isnan(made[0]).all()
        assert np.array_equal(made[1], np.float32([[2, 0], [0, 3]]))


def test_the_largest_under_a_window_of_scales_that_have_no_sign() -> None:
    made = xl.hlo.parse("""
        f { a = f8e8m0fnu[] parameter(0)  b = f8e8m0fnu[] parameter(1)  ROOT c = maximum(a, b) }
        ENTRY e {
          p = f8e8m0fnu[4] parameter(0)
          z = f8e8m0fnu[] parameter(1)
          ROOT r = f8e8m0fnu[4] reduce-window(p, z), window={size=3 pad=1_1}, to_apply=f
        }
    """)
    scale = np.dtype(ml_dtypes.float8_e8m0fnu)
    found = made(np.array([1, 2, 4, 8], scale), np.array(1, scale))
    assert found.numpy().astype(float).tolist() == [2, 4, 8, 8]
