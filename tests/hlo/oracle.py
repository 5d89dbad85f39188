"""Programs with inputs and outputs that JAX computed, kept in compressed archives of arrays."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

DATA = Path(__file__).parent / "data"


class Case(NamedTuple):
    """One program, as text, and what it must give."""

    text: str
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    tolerances: list[dict[str, Any]]


@cache
def index(name: str) -> dict[str, dict[str, Any]]:
    """Entries by name: texts, dtypes, tolerances, and where arrays begin in the bytes of all."""
    with np.load(DATA / f"{name}.npz") as archive:
        return {entry["name"]: entry for entry in json.loads(archive["index"].tobytes())}


@cache
def blob(name: str) -> bytes:
    with np.load(DATA / f"{name}.npz") as archive:
        return bytes(archive["blob"].tobytes())


def texts(name: str, which: str) -> list[str]:
    """Names of the programs that an archive has such a text of."""
    return [case for case, entry in index(name).items() if which in entry["texts"]]


def load(name: str, case: str, which: str) -> Case:
    entry, data = index(name)[case], blob(name)

    def read(key: str, dtype: str) -> np.ndarray:
        stored, shape, start = entry["arrays"][key]
        known = np.dtype(getattr(ml_dtypes, dtype, dtype))
        count = math.prod(shape)
        flat = np.frombuffer(data, np.dtype(stored), count, start)
        return flat.reshape(shape).view(known)

    return Case(
        read(which, "uint8").tobytes().decode(),
        [read(f"in{k}", dtype) for k, dtype in enumerate(entry["inputs"])],
        [read(f"out{k}", item["dtype"]) for k, item in enumerate(entry["outputs"])],
        entry["outputs"],
    )


def leaves(value: Any) -> list[Any]:
    """Elements of nested tuples."""
    if not isinstance(value, tuple):
        return [value]
    return [leaf for part in value for leaf in leaves(part)]


def agree(got: np.ndarray, want: np.ndarray, tolerance: dict[str, Any]) -> bool:
    """Whether an array is what it must be: its bits, its values, or values close by."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return False
    if tolerance["kind"] == "bits":
        return got.tobytes() == want.tobytes()
    if got.dtype.kind in "iub":
        return bool(np.array_equal(got, want))
    wide = np.complex128 if got.dtype.kind == "c" else np.float64
    x, y = got.astype(wide), want.astype(wide)
    with np.errstate(all="ignore"):
        bound = tolerance.get("atol", 0) + tolerance.get("rtol", 0) * np.abs(y)
        same = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= bound)
    return bool(same.all())
