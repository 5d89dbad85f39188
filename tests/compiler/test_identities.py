"""Scalars reach kernels bit by bit, and folds start from what changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import together
from xarraylite.compiler.identities import identity_words, scalar_words
from xarraylite.dtypes.formats import loop_dtype
from xarraylite.dtypes.names import SUPPORTED, as_dtype, is_narrow_float, kind
from xarraylite.dtypes.narrow import from_narrow
from xarraylite.ops.reductions import REDUCTIONS, Reduction


def register(words: tuple[int, ...], dtype: Any) -> Any:
    """The value that a kernel loads from the words."""
    raw = b"".join(word.to_bytes(8, "little", signed=True) for word in words)
    size = loop_dtype(dtype).itemsize
    return np.frombuffer(raw[:size], loop_dtype(dtype))[0]


VALUES: dict[str, list[Any]] = {
    "b": [False, True],
    "i": [0, 1, -1, -2],
    "u": [0, 1, 3],
    "f": [1.0, 2.0, 0.5, np.nan],
    "c": [0, 1 - 2j, complex(-0.0, np.inf)],
}


@together("dtype", SUPPORTED)
def test_scalars_keep_their_bits(dtype: Any) -> None:
    for number in VALUES[kind(dtype)]:
        value = np.asarray(number).astype(dtype)
        found = register(scalar_words(value[()], dtype), dtype)
        wide = from_narrow(value) if is_narrow_float(dtype) else value.astype(loop_dtype(dtype))
        assert found.tobytes() == np.asarray(wide, loop_dtype(dtype)).tobytes()


@together(
    ("value", "dtype", "words"),
    [
        (-1, "int8", (255,)),
        (-1, "int64", (-1,)),
        (2**64 - 1, "uint64", (-1,)),
        (True, "bool", (1,)),
        (1.0, "bfloat16", (0x3F800000,)),
        (-0.0, "float64", (-(1 << 63),)),
        (1 + 2j, "complex64", (0x40000000_3F800000,)),
        (1 + 2j, "complex128", (0x3FF0 << 48, 1 << 62)),
        (-1, "int4", (255,)),
    ],
)
def test_words(value: Any, dtype: str, words: tuple[int, ...]) -> None:
    assert scalar_words(np.asarray(value).astype(as_dtype(dtype))[()], as_dtype(dtype)) == words


FOLDED = {"sum": "iufc", "prod": "iufc", "min": "biuf", "max": "biuf", "any": "b", "all": "b"}
FOLDED |= {"nanmin": "f", "nanmax": "f"}


@together(
    ("op", "dtype"),
    [
        (op, dtype)
        for op in REDUCTIONS.values()
        for dtype in SUPPORTED
        if kind(dtype) in FOLDED[op.name]
    ],
)
def test_an_identity_changes_nothing(op: Reduction, dtype: Any) -> None:
    """Not even a NaN, or the sign of a zero, which only sums lose, as NumPy's do."""
    family, held = kind(dtype), loop_dtype(dtype)
    start = np.asarray(register(identity_words(op, dtype), dtype))
    values = VALUES[family]
    if family == "f":
        values = [*values, 0.0, -0.0, np.inf, -np.inf]
    if family in "iu" and held.itemsize == dtype.itemsize and dtype.kind in "iu":
        values = [*values, np.iinfo(held.name).min, np.iinfo(held.name).max]
    for number in values:
        value = np.asarray(number).astype(held)
        with np.errstate(invalid="ignore"):
            result = np.asarray(op.combine.numpy(start, value)).astype(held)
        if family in "fc" and np.isnan(value):
            assert np.isnan(result)
        elif family == "c" or (op.name == "sum" and value == 0):
            # 1 * (x + iy) is no identity for infinities and zeros, in NumPy neither.
            assert result == value or not np.isfinite(value)
            assert family == "c" or not np.signbit(result)
        else:
            assert result.tobytes() == value.tobytes(), (op.name, number)
