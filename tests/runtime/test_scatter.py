"""Values written to positions along a dimension, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cases import together
from xarraylite.runtime import scatter as module
from xarraylite.runtime.scatter import scatter

pytestmark = pytest.mark.once

DTYPES = ("float64", "float32", "int16", "uint8", "bool", "complex128")


@pytest.fixture(autouse=True)
def _every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAST", 0)
    monkeypatch.setattr(module, "PIECE", 40)  # so that there are several


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(13,), (7, 9), (3, 5, 4), (2, 3, 4, 5)], ids=str)
@together("how", ["rows", "columns", "parts", "turned"])
def test_as_numpy_does(dtype: str, shape: tuple[int, ...], how: str) -> None:
    rng = np.random.default_rng(3)
    done = 0
    for axis, extent in enumerate(shape):
        own = rng.integers(0, 100, shape).astype(dtype)
        own = np.asfortranarray(own) if how == "columns" else own
        wide = np.repeat(own, 2, -1)
        to = {"parts": wide[..., ::2], "turned": own[::-1]}.get(how, own)
        want = to.copy()
        positions = rng.integers(0, extent, 2 * extent)  # some are equal: the last one stays
        selected = (*shape[:axis], positions.size, *shape[axis + 1 :])
        full = rng.integers(0, 100, selected).astype(dtype)
        for values in (full, full.T.copy().T, full[..., :1], full[:1], full.flat[0], full.item(0)):
            before = to.copy()
            if scatter(to, axis, positions, values):
                done += 1
            else:
                np.testing.assert_array_equal(to, before)
                continue
            for k, position in enumerate(positions):
                key = (slice(None),) * axis
                given = np.broadcast_to(values, selected)
                want[(*key, position)] = given[(*key, k)]
            np.testing.assert_array_equal(to, want)
    if module.engine.uses_reference():
        assert done == 0
    elif how == "rows" or len(shape) == 1:
        assert done == 6 * len(shape)


def test_nothing_is_written_out_of_range_or_where_nothing_may_be() -> None:
    to = np.zeros((4, 5))
    for positions in ([4], [-1]):
        assert not scatter(to, 0, np.array(positions), 1.0)
    assert not scatter(to, 0, np.array([1]), np.ones((1, 5), np.float32))
    to.flags.writeable = False
    assert not scatter(to, 0, np.array([1]), 1.0)
    assert not to.any()
    with pytest.raises(OverflowError):
        scatter(np.zeros((4, 5), np.uint8), 0, np.array([1]), 300)
