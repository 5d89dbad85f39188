"""Every function against NumPy's of the same name, called in the same words.

A row of ``tests/conformance/calls.txt`` is an expression in ``xp`` (this package, or NumPy) and in
operands that lie in memory in every way there is: row- and column-major, views with gaps, tiles,
lazy, NumPy's own; in dtypes from bool to complex128.  Narrow floats are compared with NumPy's
float32, rounded; arrays without elements, with NumPy's or its refusal.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import Cases, together

Array = np.ndarray[Any, np.dtype[Any]]

LIST = Path(__file__).parent.parent / "conformance" / "calls.txt"


def sections() -> dict[str, list[str]]:
    """The rows of the list, by the title above them."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text().splitlines():
        if line.startswith("["):
            title = line.strip("[]")
        elif line and not line.startswith("#"):
            found.setdefault(title, []).append(line)
    return found


CALLS = sections()

_REAL = ["NUMBERS", "SIGNED", "ORDERED", "REAL"]
DTYPES = {
    "bool": ["NUMBERS"],
    "uint8": [*_REAL, "WHOLE"],
    "int64": [*_REAL, "WHOLE"],
    "float32": [*_REAL, "FLOATS"],
    "float64": [*_REAL, "FLOATS"],
    "complex128": ["NUMBERS", "SIGNED"],
}
MATRIX = np.array([[3, 1, 4, 1], [5, 2, 0, 6], [1, 3, 2, 0]])


def values(dtype: str) -> dict[str, Array]:
    """NumPy's operands."""
    a = MATRIX.astype(dtype)
    if dtype == "complex128":
        a = a + 1j * np.roll(a, 1)
    v, s = a[1] + a[0] if dtype != "bool" else a[1], a[:, :3] + np.eye(3, dtype=dtype)
    i, m = np.array([2, 0, 1]), np.array([[True, False, True, True]] * 2 + [[False] * 4])
    return {"a": a, "v": v, "s": s.astype(dtype), "i": i, "m": m}


def placed(x: Array, how: str) -> Any:
    """The same values as this package has them."""
    if how == "numpy":
        return x
    if how == "lazy":
        return xl.where(True, xl.asarray(x), x)
    if how == "gaps":
        wide = xl.zeros([2 * n for n in x.shape], x.dtype)
        part = wide[
            tuple([slice(n - 1, None, -1) if n == 0 else slice(0, None, 2) for n in x.shape])
        ]
        part[...] = x
        return part
    tiles = "{1,0:T(2,2)}" if x.ndim == 2 else "{0:T(2)}"
    layouts = {"column": "column_major", "tiled": tiles, "row": None}
    return xl.asarray(x, layout=layouts[how])


def check(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            check(one, other)
        return
    if isinstance(theirs, bool | np.dtype) or type(theirs) is type(ours) is int:
        assert ours == theirs
        return
    theirs = np.asarray(theirs)
    assert isinstance(ours, np.ndarray) or ours.__array_namespace__() is xl
    got = np.asarray(ours)
    assert (got.dtype, got.shape) == (theirs.dtype, theirs.shape)
    if theirs.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, theirs)
    else:
        tight = 1e-12 if theirs.dtype.itemsize > 4 and theirs.dtype != "c8" else 1e-5
        np.testing.assert_allclose(got, theirs, rtol=tight, atol=tight * 10)


def run(text: str, xp: Any, operands: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return eval(text, {"xp": xp, "np": np, **operands})


@pytest.mark.parametrize("dtype", DTYPES)
def test_calls(dtype: str, engine: str) -> None:
    """Kernels are the same for all dtypes, so that one will do where they are compiled."""
    if engine == "compiled" and dtype != "float64":
        pytest.skip("the reference engine has it")
    theirs = values(dtype)
    hows = ["row", "column", "gaps", "tiled", "lazy", "numpy"]
    few = 2 if engine == "reference" and dtype == "float64" else 1
    with Cases() as cases:
        for number, text in enumerate([row for title in DTYPES[dtype] for row in CALLS[title]]):
            expected = run(text, np, theirs)
            for how in [hows[number % 6], hows[(number + 1) % 6]][:few]:
                with cases.of(call=text, operands=how):
                    ours = {name: placed(x, how) for name, x in theirs.items()}
                    check(run(text, xl, ours), expected)


@together("text", CALLS["MADE"])
def test_makers(text: str) -> None:
    check(run(text, xl, {}), run(text, np, {}))


#: Functions whose result for a narrow float is NumPy's for float32, rounded to it.
NARROW = ["NUMBERS", "SIGNED", "ORDERED", "REAL"]
#: Calls in which roundings of intermediate results, or dtypes, are no function of the values.
OTHER = ("result_type", "dtype", "float)", "complex)", "out=", "spacing", "eye(", "weights", "cov(")


@pytest.mark.parametrize("dtype", [xl.bfloat16, xl.float16], ids=str)
def test_narrow_floats(dtype: Any, engine: str) -> None:
    """The same dtype where NumPy has float32, and its values to the last digit or two."""
    if engine == "compiled":
        pytest.skip("the reference engine has it")
    theirs = values("float32")
    narrow = {n: xl.asarray(x, x.dtype if n in "im" else dtype) for n, x in theirs.items()}
    rows = [row for title in NARROW for row in CALLS[title]]
    with Cases() as cases:
        for text in [row for row in rows if not any(word in row for word in OTHER)]:
            with cases.of(call=text):
                compare_narrow(run(text, xl, narrow), run(text, np, theirs), dtype)


def compare_narrow(ours: Any, theirs: Any, dtype: Any) -> None:
    if isinstance(theirs, tuple | list):
        for one, other in zip(ours, theirs, strict=True):
            compare_narrow(one, other, dtype)
        return
    got, wanted = np.asarray(ours), np.asarray(theirs)
    if wanted.dtype == np.float32:
        assert got.dtype == dtype
        step = float(xl.finfo(dtype).eps)
        wide = got.astype(np.float32)
        np.testing.assert_allclose(wide, wanted, rtol=8 * step, atol=16 * step)
    else:
        assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape


EMPTY = ["NUMBERS", "SIGNED", "ORDERED", "REAL"]


def test_without_elements() -> None:
    """NumPy's result, or a refusal where NumPy refuses."""
    theirs = {"a": np.zeros((3, 0)), "v": np.zeros(0), "s": np.zeros((0, 0)), "i": np.zeros(0, int)}
    theirs["m"] = np.zeros((3, 0), bool)
    ours = {name: xl.asarray(x) for name, x in theirs.items()}
    with Cases() as cases, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in [row for title in EMPTY for row in CALLS[title]]:
            with cases.of(call=text):
                refusal = refused_by_numpy(text, theirs)
                if refusal is None:
                    check(run(text, xl, ours), run(text, np, theirs))
                else:
                    with pytest.raises((refusal, ValueError, IndexError)):
                        evaluated(run(text, xl, ours))


def refused_by_numpy(text: str, operands: dict[str, Any]) -> type[Exception] | None:
    try:
        run(text, np, operands)
    except Exception as error:
        return type(error)
    return None


def evaluated(made: Any) -> None:
    for part in made if isinstance(made, tuple | list) else [made]:
        np.asarray(part)


CASTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "matmul": lambda xp, i, f: xp.matmul(f, f, dtype=int),
    "sqrt": lambda xp, i, f: xp.sqrt(i, dtype=int),
    "true_divide": lambda xp, i, f: xp.true_divide(i, i, dtype=int),
    "no": lambda xp, i, f: xp.add(i, f, casting="no"),
    "no, weak": lambda xp, i, f: xp.add(i, 1.5, casting="no"),
    "equiv": lambda xp, i, f: xp.greater(i, f, casting="equiv"),
    "of one": lambda xp, i, f: xp.sqrt(i, casting="no"),
    "no such loop": lambda xp, i, f: xp.greater(f, 2, dtype=float),
    "weak": lambda xp, i, f: xp.multiply(i, 2.5, dtype=int),
    "equiv, weak": lambda xp, i, f: xp.multiply(f, 2, dtype=float, casting="equiv"),
}
FINE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "matmul": lambda xp, i, f: xp.matmul(i, i, dtype=float),
    "sqrt": lambda xp, i, f: xp.sqrt(i, dtype="float32"),
    "no": lambda xp, i, f: xp.add(i, 1, casting="no"),
    "equiv": lambda xp, i, f: xp.add(i, 1, dtype=int, casting="equiv"),
    "safe": lambda xp, i, f: xp.add(i, f, casting="safe"),
    "unsafe": lambda xp, i, f: xp.add(f, f, dtype=int, casting="unsafe"),
}


def test_casts_are_those_of_numpy() -> None:
    i, f = np.arange(3), np.arange(3) * 1.5
    for call in CASTS.values():
        for xp, one, other in ((np, i, f), (xl, xl.asarray(i), xl.asarray(f))):
            with pytest.raises(TypeError):
                call(xp, one, other)
    for call in FINE.values():
        ours, theirs = call(xl, xl.asarray(i), xl.asarray(f)), call(np, i, f)
        np.testing.assert_array_equal(np.asarray(ours), theirs, strict=True)
    with pytest.raises(ValueError, match="casting"):
        xl.add(xl.asarray(i), 1, casting="foo")
    for casting in ("safe", "unsafe"):
        assert isinstance(xl.add(1, 2, casting=casting), xl.XScalar)


def test_results_are_written_over_what_they_read() -> None:
    v = xl.asarray([1.0, 5.0, -2.0])
    held, before = v * 2, v + 0
    for _ in range(6):
        xl.maximum(v, 0.5, out=v)
        xl.multiply(v, 2.0, out=v)
        xl.add(v[::-1], v, out=v)
    assert held.tolist() == [2, 10, -4]
    assert before.tolist() == [1, 5, -2]
    w = np.array([1.0, 5.0, -2.0])
    for _ in range(6):
        np.maximum(w, 0.5, out=w)
        np.multiply(w, 2.0, out=w)
        np.add(w[::-1], w, out=w)
    assert v.tolist() == w.tolist()


def test_a_result_that_somebody_has_is_not_used_up() -> None:
    v = xl.asarray([1.0, 5.0])
    e = v * 2
    for _ in range(3):
        xl.positive(e, out=v)
        xl.conj(e, out=v)
        assert e.tolist() == [2, 10]
