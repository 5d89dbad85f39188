"""Containers in users' own Numba functions."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

import xarraylite as xl
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import numba_types

pytestmark = pytest.mark.once


@pytest.fixture(scope="module", autouse=True)
def loaded() -> None:
    """Load the types as Numba does by the entry point of an installed package."""
    numba_types.init()


def test_the_entry_point_is_declared() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    points = project["project"]["entry-points"]["numba_extensions"]
    assert points == {"init": f"{numba_types.__name__}:init"}


@numba.njit
def total(a: Any) -> Any:
    """Add up rows by index, and columns by iteration."""
    s = 0.0
    for i in range(a.shape[0]):
        for x in a[i, ::2]:
            s += x
    return s + len(a) + a.size + a.ndim


@numba.njit
def scaled(a: Any, by: float) -> Any:
    for i in range(a.shape[0]):
        a[i] *= by
    return a


@numba.njit
def tail(a: Any) -> Any:
    return a[1:]


@numba.njit(boundscheck=True)
def element(a: Any, i: int) -> Any:
    return a[i]


@pytest.mark.parametrize("layout", ["row_major", "column_major"])
def test_any_strides(layout: str) -> None:
    values = np.arange(12.0).reshape(3, 4)
    a = xl.asarray(values, layout=layout)
    for ours, theirs in ((a, values), (a.T, values.T), (a[::-2, 1:], values[::-2, 1:])):
        assert total(ours) == total(theirs)


def test_stores_follow_the_rule_of_assignments() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    pending, part = a + 0, a[:, 1]
    made = scaled(part, 10.0)
    assert isinstance(made, xl.XArray)
    made[0] = -1
    assert a.tolist() == [[1, -1], [3, 40]]
    assert pending.tolist() == [[1, 2], [3, 4]]


def test_what_is_returned_keeps_the_memory() -> None:
    made = scaled(xl.asarray(np.ones(1000)), 2.0)
    rest = tail(xl.asarray([1.0, 2.0, 3.0]))
    assert isinstance(rest, np.ndarray)
    xl.zeros(1000)
    assert_same_bits(made, np.full(1000, 2.0))
    assert rest.tolist() == [2, 3]


def test_bounds_are_checked_where_numba_is_told_to() -> None:
    a = xl.asarray([1, 2, 3])
    assert element(a, 2) == 3
    with pytest.raises(IndexError):
        element(a, 3)


#: Each layout and each dtype in one of two ways: functions compile for seconds, and how an element
#: is found, how it is decoded, and what is done with it know nothing of each other.
READ = [("{0,1:T(8,128)(2,1)}", "bfloat16"), ("column_major", "float8_e4m3fn")]
WRITTEN = [("{1,0:T(2,4)}", "bool"), ("row_major", "int4")]


@numba.njit
def tour(a: Any) -> Any:
    """Read by index, by slices and by iteration."""
    s = a[0, 0] - a[0, 0]
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    t = s - s
    for row in a[1:, ::-2]:
        for x in row:
            t += x
    part = a[::2, 3:0:-1]
    return s, t, part[-1][0], part.shape, len(a), a.size, a.ndim, a[-1, -1]


@numba.njit
def rewritten(a: Any) -> Any:
    for i in range(len(a)):
        a[i, 0] = i
        a[i, 1] += 2
    a[0] = 3
    a[1:, 2] = 1
    a[2, 3:] = a[2, :-3]
    return a


@numba.njit
def unpacked(a: Any) -> Any:
    return a[1:, ::-1], a.copy()


def placed(layout: str, dtype: str) -> xl.XArray:
    values = np.arange(40.0).reshape(5, 8) % (2 if dtype == "bool" else 7)
    return xl.XArray(xl.asarray(values).astype(dtype), layout=layout)


@pytest.mark.parametrize(("layout", "dtype"), READ)
def test_any_layout_and_dtype_is_read(layout: str, dtype: str) -> None:
    a = placed(layout, dtype)
    wide = np.asarray(a).astype("f8")
    s, t, corner, *rest = tour(a)
    assert (s, t, corner) == (wide.sum(), wide[1:, ::-2].sum(), wide[::2, 3:0:-1][-1][0])
    assert rest == [(3, 3), 5, 40, 2, wide[-1, -1]]
    part, copy = unpacked(a)
    assert isinstance(part, xl.XView)
    assert_same_bits(part, a[1:, ::-1])
    assert isinstance(copy, np.ndarray)
    np.testing.assert_array_equal(copy, wide)


@pytest.mark.parametrize(("layout", "dtype"), WRITTEN)
def test_any_layout_and_dtype_is_written(layout: str, dtype: str) -> None:
    a = placed(layout, dtype)
    before, pending = np.asarray(a).copy(), a + xl.zeros((), dtype=dtype)
    expected = before.copy()
    for i in range(5):
        expected[i, 0] = i
        expected[i, 1] = expected[i, 1] + expected.dtype.type(2)
    expected[0], expected[1:, 2] = 3, 1
    expected[2, 3:] = expected[2, :-3].copy()
    assert rewritten(a) is a
    assert_same_bits(a, expected)
    assert_same_bits(pending, before)


@numba.njit
def summed(a: Any) -> Any:
    total = 0.0
    for plane in a:
        for row in plane:
            for x in row:
                total += x
    return total + a[1, 2, 3] + a[0][1:, 2][0]


def test_views_of_higher_rank_and_merged_dimensions() -> None:
    values = np.arange(120.0).reshape(4, 5, 6)
    for layout in ("{2,1,0:T(2,4)}", "{2,1,0:T(*,4)}"):
        a = xl.XArray(values, layout=layout)
        for ours, theirs in ((a, values), (a[1:, ::-1], values[1:, ::-1])):
            wanted = theirs.sum() + theirs[1, 2, 3] + theirs[0][1:, 2][0]
            assert summed(ours) == wanted


def test_narrow_stores_round_once() -> None:
    @numba.njit
    def store(a: Any, x: float) -> None:
        a[0] = x

    a = xl.zeros(1, dtype="bfloat16")
    x = 1 + 2.0**-8 + 2.0**-40  # rounding to float32 first would give a tie, and 1
    store(a, x)
    assert float(a[0]) == float(xl.bfloat16(x)) == 1 + 2.0**-7


def test_bounds_of_placed_elements_are_always_checked() -> None:
    a = xl.XArray([1.0, 2.0, 3.0], layout="{0:T(2)}")
    assert tail(a).tolist() == [2, 3]
    for i in (3, -4):
        with pytest.raises(IndexError, match="out of bounds"):
            at(a, i)
    with pytest.raises(ValueError, match="broadcast"):
        shorter(a)
    assert a.tolist() == [1, 1, 1]


@numba.njit
def at(a: Any, i: int) -> Any:
    return a[i]


@numba.njit
def shorter(a: Any) -> None:
    a[1:] = a[:1]  # stretched
    a[...] = a[:2]


@numba.njit
def sums(a: Any, n: int) -> Any:
    return a[1:, ::2].sum(), np.max(a[n])


@numba.njit
def doubled(x: Any) -> Any:
    return x + x


def test_views_are_folded() -> None:
    values = np.arange(600.0).reshape(20, 30) % 251
    tiled = xl.asarray(values, layout="{1,0:T(8,128)}")
    assert sums(tiled, xl.asarray([2])[0]) == sums.py_func(values, 2)


def test_lazy_arrays_and_values() -> None:
    values = np.arange(6.0).reshape(2, 3)
    e = xl.asarray(values) * 2
    assert isinstance(scaled(e, 10.0), xl.XArray)
    assert e.tolist() == (values * 20).tolist()
    v = xl.asarray([5, 1, 2])
    for x in (v[1], v.argmin(), v.max(), (v > 3)[0]):
        ours, wanted = doubled(x), int(x) + int(x)
        assert (type(ours), ours) == (int, wanted)
    for y in (v.sum() / 2, xl.asarray(1.5)[()], xl.asarray([1j])[0]):
        assert doubled(y) == y + y
    assert doubled(xl.asarray([1.5], dtype="bfloat16").sum()) == 3
    with pytest.raises(numba.TypingError, match=r"complex128: pass complex\(x\)"):
        doubled((v * 1j).sum())


def test_refusals() -> None:
    with pytest.raises(numba.TypingError, match=r"whole bytes.*to_layout\('row_major'\)"):
        tail(xl.zeros(4, dtype="int4", layout="{0:T(4)E(4)}"))
    with pytest.raises(numba.TypingError, match="value of it"):
        tail(xl.zeros((), dtype="bfloat16"))
    frozen = xl.adapt(bytes(16), dtype="bfloat16")
    assert tail(frozen).shape == (7,)
    with pytest.raises(numba.TypingError, match="read-only"):
        shorter(frozen)
    with pytest.raises(numba.TypingError):
        scaled(xl.adapt(bytes(16), dtype="f8"), 2.0)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_an_interrupt_while_an_argument_is_passed_is_raised(
    dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: xl.XArray) -> None:
        raise KeyboardInterrupt

    a = xl.asarray([1.0, 2.0, 3.0], dtype)
    first = numba.njit(lambda x: float(x[0]))
    assert first(a) == 1.0
    monkeypatch.setattr(xl.XArray, "_target", interrupted)
    with pytest.raises(KeyboardInterrupt):
        first(a)
    monkeypatch.undo()
    assert first(a) == 1.0


def test_the_first_call_of_a_process_is_remembered(tmp_path: Path) -> None:
    """Numba looks for a buffer first, before it has loaded what it knows of containers."""
    program = """
import sys, numba, numpy as np, xarraylite as xl
first, calls = numba.njit(lambda x: x[0]), []
x = xl.asarray([1.0, 2.0])
np.asarray(x)
first(x)
sys.setprofile(lambda frame, event, arg: calls.append(frame.f_code.co_name))
first(x)
sys.setprofile(None)
assert "_compile_for_args" not in calls
assert [str(signature[0]) for signature in first.overloads] == ["XArray(float64, 1d, C)"]
"""
    (installed := tmp_path / "xarraylite-0.dist-info").mkdir()
    points = f"[numba_extensions]\ninit = {numba_types.__name__}:init\n"
    (installed / "entry_points.txt").write_text(points, "utf-8")
    (installed / "METADATA").write_text("Name: xarraylite\nVersion: 0\n", "utf-8")
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
