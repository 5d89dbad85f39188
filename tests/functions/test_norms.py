"""xtensor's norms against NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

A = np.array([[[3.0, -1.0], [0.0, 2.5]], [[-4.0, 1.0], [0.5, -0.5]]])

SMALL = np.array([[-128, 100], [127, 0]], np.int8)

NORMS: list[tuple[str, Any, tuple[Any, ...]]] = [
    ("norm_l0", lambda v, axis: np.sum(v != 0, axis), ()),
    ("norm_l1", lambda v, axis: np.sum(abs(v), axis), ()),
    ("norm_l2", lambda v, axis: np.sqrt(np.sum(abs(v) ** 2, axis)), ()),
    ("norm_sq", lambda v, axis: np.sum(abs(v) ** 2, axis), ()),
    ("norm_linf", lambda v, axis: np.max(abs(v), axis), ()),
    ("norm_lp", lambda v, axis: np.sum(abs(v) ** 3.0, axis) ** (1 / 3), (3,)),
    ("norm_lp_to_p", lambda v, axis: np.sum(abs(v) ** 3.0, axis), (3,)),
    ("norm_lp_to_p", lambda v, axis: np.sum(v != 0, axis), (0,)),
    ("count_nonnan", lambda v, axis: np.sum(~np.isnan(v), axis), ()),
]


@pytest.mark.parametrize(("name", "reference", "extra"), NORMS)
@together("values", [A, A + 1j * A[::-1], SMALL, np.int32(10**7) * SMALL])
def test_norms(name: str, reference: Any, extra: tuple[Any, ...], values: Any) -> None:
    function = getattr(xl, name)
    for axis in {"f": (None, 0, (0, 1)), "c": ((0, 1), 0), "i": (0,)}[values.dtype.kind]:
        e = function(xl.asarray(values), *extra, axis=axis)
        assert type(e) is xl.XExpression
        wide = values.astype(int) if values.dtype.kind in "iu" else values
        np.testing.assert_allclose(e, reference(wide, axis), rtol=1e-14)


def test_norms_of_matrices() -> None:
    a = xl.asarray(A[0])
    assert float(xl.norm_induced_l1(a)) == np.linalg.norm(A[0], 1)
    assert float(xl.norm_induced_linf(a)) == np.linalg.norm(A[0], np.inf)
    with pytest.raises(xl.ShapeError, match="rank must be 2"):
        xl.norm_induced_l1(xl.asarray(A))
    for p in (0, np.inf):
        with pytest.raises(ValueError, match=r"p must be.*norm_l0.*norm_linf"):
            xl.norm_lp(a, p)


def test_minmax_and_missing_numbers() -> None:
    low, high = xl.minmax(xl.asarray(A), axis=(0, 2))
    assert (xl.eval(low).tolist(), xl.eval(high).tolist()) == ([-4, -0.5], [3, 2.5])
    assert int(xl.count_nonnan(xl.asarray([xl.nan, 1.0]))) == 1
    assert float(xl.norm_linf(xl.zeros(0))) == 0
