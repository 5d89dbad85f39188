"""Functions that have NumPy's names and no body: their pages run and say what parameters are."""

from __future__ import annotations

import doctest
import inspect
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

#: Where they are defined.
HOMES = ["bits", "curves", "distributions", "selecting"]
SOURCES = vars(xl)["_SOURCES"]
NAMES = [name for name in sorted(SOURCES) if SOURCES[name][0].removeprefix("functions.") in HOMES]


def test_their_source_is_their_page() -> None:
    assert "def nanmedian() -> None:" in inspect.getsource(xl.nanmedian)


@pytest.mark.once
@together("name", NAMES)
def test_the_example_runs(name: str) -> None:
    function = getattr(xl, name)
    test = doctest.DocTestParser().get_doctest(function.__doc__, {}, name, None, None)
    assert test.examples
    flags = doctest.NORMALIZE_WHITESPACE
    assert doctest.DocTestRunner(verbose=False, optionflags=flags).run(test).failed == 0


@pytest.mark.once
@together("name", NAMES)
def test_parameters_are_those_of_numpy(name: str) -> None:
    """In NumPy's order, so that positional arguments mean the same; what is left out is said."""
    ours = inspect.signature(getattr(xl, name)).parameters
    theirs = list(inspect.signature(getattr(np, name)).parameters.values())
    if isinstance(getattr(np, name), np.ufunc):
        return
    positional = [p.name for p in theirs if p.kind is not p.KEYWORD_ONLY]
    mine = [p.name for p in ours.values() if p.kind is not p.KEYWORD_ONLY]
    assert mine == positional[: len(mine)]
    assert [p for p in theirs[len(mine) :] if p.default is p.empty and p.kind < 3] == []
    for p in theirs:
        if p.name in ours and p.default is not np._NoValue and not isinstance(p.default, type):
            assert ours[p.name].default == p.default, p.name


@pytest.mark.parametrize("dtype", [xl.float16, xl.bfloat16, xl.float8_e4m3fn, xl.float8_e5m2])
def test_the_spacing_of_narrow_floats_is_theirs(dtype: object) -> None:
    x = np.asarray(xl.asarray([0.0, 1.0, 2.5, -1.0, 100.0], dtype=dtype))
    made = xl.spacing(xl.asarray(x))
    assert made.dtype == dtype
    assert np.asarray(made).tobytes() == np.spacing(x).tobytes()


def test_refusals_name_the_operands_that_were_given() -> None:
    x = xl.asarray([1.0, 2.0], dtype="bfloat16")
    with pytest.raises(TypeError, match=r"gcd\(bfloat16\[2\], 3\)"):
        xl.gcd(x * 2, 3)
    with pytest.raises(ValueError, match=r"lexsort\(\[int64\[3\], int64\[4\]\]\)"):
        xl.lexsort([xl.arange(3), xl.arange(4)])


def test_lists_of_floats_are_counted_with_numpys_warning() -> None:
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":
        with pytest.warns(DeprecationWarning, match="Non-integer"):
            made = xl.bincount([1.5, 3.0], weights=[xl.asarray(1), 2])
        assert made.tolist() == [0, 1, 0, 2]
    else:
        with pytest.raises(TypeError, match="Cannot cast"):
            xl.bincount([1.5, 3.0])
    assert xl.bincount([xl.arange(3)[2], 1]).tolist() == [0, 1, 1]
    with pytest.raises(TypeError, match=r"bincount\(float64\[1\]\)"):
        xl.bincount(xl.asarray([1.5]))


@together("name", ["cumsum", "cumprod", "cumulative_sum", "nancumsum", "cov"])
@together("dtype", ["float16", "bfloat16"])
def test_the_dtype_that_is_asked_for_is_that_of_the_result(name: str, dtype: str) -> None:
    """Also where narrow floats are computed in it."""
    x = xl.asarray([1.0, 2.0, 4.0], dtype=dtype)
    for wanted in (xl.float32, xl.float64, xl.asarray(x).dtype):
        assert getattr(xl, name)(x, dtype=wanted).dtype == wanted


def test_float16_is_moved_as_it_is() -> None:
    values = np.asarray([3, np.nan, -0.0, 6e-8, 65504, 0.0, -np.inf, 3], np.float16)
    x = xl.asarray(values)
    for name in ("sort", "argsort", "unique", "flatnonzero", "argwhere"):
        more = {"kind": "stable"} if "sort" in name else {}
        made, expected = getattr(xl, name)(x), getattr(np, name)(values, **more)
        assert made.dtype == expected.dtype
        assert str(made.tolist()) == str(expected.tolist()), name
    assert (
        xl.searchsorted(xl.sort(x), x).tolist() == np.searchsorted(np.sort(values), values).tolist()
    )
    mixed = xl.union1d(x, xl.asarray([0.1], "float32"))
    assert mixed.dtype == np.union1d(values, np.asarray([0.1], np.float32)).dtype


def test_float16_is_computed_as_numpy_computes_it() -> None:
    """In float32 and rounded once, so NumPy is given it as it is."""
    values = np.arange(0, 1 << 16, 7, np.uint16).view(np.float16)
    values = values[np.isfinite(values)]
    x = xl.asarray(values)
    with np.errstate(all="ignore"):
        for name, *more in (["frexp"], ["ldexp", -3], ["logaddexp2", 2.5], ["ediff1d"]):
            made, expected = getattr(xl, name)(x, *more), getattr(np, name)(values, *more)
            pairs = zip(made, expected, strict=True) if name == "frexp" else [(made, expected)]
            for ours, theirs in pairs:
                assert ours.dtype == theirs.dtype
                assert np.asarray(ours).tobytes() == theirs.tobytes(), name


def test_beside_float16_results_have_numpys_dtypes_and_bits() -> None:
    short, wide = np.asarray([1, 4.5, 9.3, 16], np.float16), np.asarray([1, 2.5, 4, 5], np.float32)
    calls: tuple[Any, ...] = (
        lambda xp, a, b: xp.gradient(a, b),
        lambda xp, a, b: xp.gradient(b, a),
        lambda xp, a, b: xp.histogram(b, 3, weights=a)[0],
        lambda xp, a, b: xp.poly(a),
    )
    for call in calls:
        ours, theirs = call(xl, xl.asarray(short), xl.asarray(wide)), call(np, short, wide)
        assert ours.dtype == theirs.dtype
        assert np.asarray(ours).tobytes() == theirs.tobytes()


def test_positions_of_several_dimensions_lie_by_rows() -> None:
    for made in xl.unravel_index(xl.asarray([[1, 2], [3, 0]]), (2, 2)):
        assert made.strides == (2, 1)
    made = xl.take(xl.asarray([[1, 2], [3, 4]]), 1, axis=1)
    assert made.tolist() == [2, 4]


def test_parts_that_are_real_are_a_view() -> None:
    z = xl.asarray([1.0 + 0j, 2.0])
    xl.real_if_close(z)[0] = 7.0
    assert z.tolist() == [7.0, 2.0]
    assert xl.real_if_close(z + 1j).dtype == np.complex128
    assert xl.real_if_close(z + 1e-13j, tol=1000).tolist() == [7.0, 2.0]
    assert xl.real_if_close([1, 2]).dtype == np.int64
