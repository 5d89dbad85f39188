"""Functions that write to some elements: NumPy's result, readers keep theirs, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits

CALLS: dict[str, Callable[[Any, Any], None]] = {
    "put": lambda xp, a: xp.put(a, [0, -1, 5], [1, 2]),
    "put at truth values": lambda xp, a: xp.put(a, np.arange(12) < 9, [5, 6, 7]),
    "put a number at truth values": lambda xp, a: xp.put(a[0], xp.asarray([True] * 4), 5),
    "put a number": lambda xp, a: xp.put(a[1], xp.asarray([2, -1, 2]), 5),
    "place a number": lambda xp, a: xp.place(a, xp.asarray(np.eye(3, 4) > 0), [5]),
    "putmask a number": lambda xp, a: xp.putmask(a, xp.asarray(np.eye(3, 4) > 0), 5),
    "put clipped": lambda xp, a: xp.put(a, [0, 99], 7, mode="clip"),
    "put wrapped": lambda xp, a: xp.put(a, [13, -14], 7, mode="wrap"),
    "place": lambda xp, a: xp.place(a, np.arange(12).reshape(3, 4) % 3 == 0, [5, 6, 7]),
    "putmask": lambda xp, a: xp.putmask(a, np.arange(12).reshape(3, 4) > 4, [1, 2, 3, 4, 5]),
    "copyto": lambda xp, a: xp.copyto(a, [1, 2, 3, 4]),
    "copyto where": lambda xp, a: xp.copyto(a, 9, where=[True, False, True, False]),
    "fill_diagonal": lambda xp, a: xp.fill_diagonal(a, [7, 8]),
    "fill_diagonal wrapped": lambda xp, a: xp.fill_diagonal(a.T, 3, wrap=True),
    "put_along_axis": lambda xp, a: xp.put_along_axis(a, np.array([[1], [0], [2]]), 9, 1),
    "method": lambda xp, a: a.put([3], 9),
    "NumPy's copyto": lambda xp, a: np.copyto(a, 9),
    "attribute": lambda xp, a: setattr(a, "real", 7),
}
#: What is written: whole memory, and views through positions of a larger array.
PLACES: dict[str, Callable[[Any], Any]] = {
    "row": lambda plain: plain,
    "column": lambda plain: xl.asarray(plain, layout="column_major"),
    "tiled": lambda plain: xl.asarray(plain, layout="{1,0:T(2,2)}"),
    "kept": lambda plain: xl.view(_room(plain), xl.keep(4, 0, 1), xl.keep(0, 5, 2, 1)),
    "listed": lambda plain: xl.reshape_view(
        xl.index_view(_room(plain), [(i, j) for i in (4, 0, 1) for j in (0, 5, 2, 1)]), (3, 4)
    ),
    "under another shape": lambda plain: xl.reshape_view(_room(plain)[:4, :3], (3, 4)),
}


def _room(plain: Any) -> Any:
    return xl.zeros((5, 6), dtype=plain.dtype)


@together("place", PLACES)
@pytest.mark.parametrize("dtype", ["float64", "int32", "bfloat16"])
@pytest.mark.parametrize("name", CALLS)
def test_written(name: str, dtype: str, place: str) -> None:
    plain = np.arange(12.0).reshape(3, 4)
    ours = PLACES[place](xl.asarray(plain, dtype))
    ours[...] = plain
    before = ours * 1
    CALLS[name](xl, ours)
    theirs = plain.copy()
    CALLS[name](np, theirs)
    np.testing.assert_array_equal(np.asarray(ours, np.float64), theirs)
    if ours.base is not None:  # nothing else was written
        assert float(xl.sum(ours.base.base)) == theirs.sum()
    np.testing.assert_array_equal(np.asarray(before, np.float64), plain)


@together("place", ["row", "column", "tiled"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int16"])
@pytest.mark.parametrize("name", CALLS)
def test_written_where_nobody_waits(name: str, dtype: str, place: str) -> None:
    """NumPy writes to the memory itself, which nobody else has afterwards."""
    plain = np.arange(12.0).reshape(3, 4).astype(dtype)
    ours, theirs = PLACES[place](xl.asarray(plain)), plain.copy()
    shared = ours.buffer.shared
    CALLS[name](xl, ours)
    CALLS[name](np, theirs)
    assert shared == ours.buffer.shared
    np.testing.assert_array_equal(ours.copy().numpy(), theirs)


def test_what_is_written_may_be_read() -> None:
    """Values, positions and masks are those from before the call."""
    a, plain = xl.asarray([3, 0, 2, 1]), np.array([3, 0, 2, 1])
    xl.put(a, a, a)
    np.put(plain, plain.copy(), plain.copy())
    assert a.tolist() == plain.tolist()
    xl.put(a, a[::-1], a[1:])
    np.put(plain, plain[::-1].copy(), plain[1:].copy())
    assert a.tolist() == plain.tolist()
    xl.putmask(a, a > 1, a[::-1])
    np.putmask(plain, plain > 1, plain[::-1].copy())
    assert a.tolist() == plain.tolist()
    flags = xl.asarray([True, False, True])
    xl.place(flags, flags, flags[1:])
    assert flags.tolist() == [False, False, True]
    xl.putmask(flags, flags, ~flags)
    assert flags.tolist() == [False, False, False]
    m = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    xl.fill_diagonal(m, m[0, ::-1])
    assert m.tolist() == [[2.0, 2.0], [3.0, 1.0]]
    xl.put(m, [0], 1e300)
    short = xl.zeros(2, "f4")
    xl.put(short, [0, 1], m[0])
    assert short.tolist() == [np.inf, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        xl.put(xl.asarray(np.broadcast_to(np.float64(1), (3,)), copy=False), [0], 2.0)


FAILED: dict[str, Callable[[Any], None]] = {
    "position": lambda a: xl.put(a, [0, 99], 1),
    "cast": lambda a: xl.copyto(a, 1j * np.ones(4)),
    "shape": lambda a: xl.copyto(a, [1, 2, 3]),
    "mask": lambda a: xl.putmask(a, [True], 1),
    "values": lambda a: xl.place(a, np.ones((3, 4), bool), []),
    "along": lambda a: xl.put_along_axis(a, [[9]], 1, 1),
    "out": lambda a: xl.add(np.ones((2, 2)), 1, out=a),
    "sum": lambda a: xl.sum(a, 0, out=a),
    "axis": lambda a: xl.cumsum(a, 9, out=a),
}


@together("name", FAILED)
def test_a_failed_call_changes_nothing(name: str) -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    with pytest.raises((ValueError, IndexError, TypeError)) as found:
        FAILED[name](a)
    assert len(str(found.value)) > 10
    assert xl.array_equal(a, np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize("name", ["put", "place", "putmask", "copyto", "fill_diagonal"])
def test_only_arrays_are_written(name: str) -> None:
    with pytest.raises(xl.DTypeError, match=f"{name}: got"):
        getattr(xl, name)([0.0] * 3, [True], [1])


@pytest.mark.parametrize("name", ["put", "place", "putmask", "copyto"])
def test_numpys_memory_is_written_by_numpy(name: str) -> None:
    theirs, ours = np.arange(3.0), np.arange(3.0)
    for module, array in ((np, theirs), (xl, ours)):
        args = [module.asarray([True, False, True]), module.asarray([7, 8, 9])]
        if name == "copyto":
            args = [args[1]]
        getattr(module, name)(array, *args)
    np.testing.assert_array_equal(ours, theirs)


def test_out() -> None:
    """The destination is returned, and keeps its dtype and layout."""
    a, out = xl.asarray([[1.0, 2.0], [3.0, 4.0]]), xl.zeros((2, 2), "f4", "F")
    assert xl.add(a, 1, out=out) is out
    assert (out.tolist(), out.dtype, out.strides) == ([[2, 3], [4, 5]], xl.float32, (1, 2))
    assert xl.divide(a, a - 1, out=out, where=a > 1) is out
    assert out.tolist() == [[2, 2], [1.5, np.float32(4 / 3)]]
    row = xl.zeros(2)
    assert xl.sum(a, 0, out=row) is row
    assert xl.median(a, 0, out=row) is row
    assert xl.max(a, 1, out=row) is row
    assert row.tolist() == [2, 4]
    plain = np.zeros((2, 2))
    assert xl.multiply(a, 2, plain) is plain
    assert plain.tolist() == [[2, 4], [6, 8]]
    assert xl.add(a, a, out=a) is a
    assert a.tolist() == [[2, 4], [6, 8]]
    with pytest.raises(xl.DTypeError, match="out must be an array"):
        xl.add(a, a, out=[1])
    with pytest.raises(xl.CastError, match="same_kind"):
        xl.add(a, 1j, out=out)
    with pytest.raises(xl.CastError, match=r"to .*int32"):
        xl.add(a, 1, dtype="int32")


def test_out_may_be_a_lazy_result() -> None:
    """It is written as any array: other names of it see that, what was written before does not."""
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    product = a * 2
    row, before = product[1], product + 1
    assert xl.add(product, a, out=product) is product
    assert xl.sqrt(row, out=row) is row
    assert xl.sum(a, 0, out=product[0]).tolist() == [4, 6]
    assert xl.cumsum(a, 1, out=before[:]).tolist() == [[1, 3], [3, 7]]
    assert product.tolist() == [[4, 6], [3, np.sqrt(12)]]
    assert before.tolist() == [[1, 3], [3, 7]]
    with pytest.raises(xl.CastError, match="same_kind"):
        xl.add(a, 1j, out=product)


WIDE: dict[str, Callable[[Any, Any], None]] = {
    "put": lambda a, v: xl.put(a, [0, 1], v),
    "place": lambda a, v: xl.place(a, a == 0, v),
    "putmask": lambda a, v: xl.putmask(a, a == 0, v),
    "put_along_axis": lambda a, v: xl.put_along_axis(a, [[0], [1]], v, 1),
    "fill_diagonal": xl.fill_diagonal,
    "flat": lambda a, v: a.flat.__setitem__(slice(None), v),
    "flat, listed": lambda a, v: a.flat.__setitem__([0, 1], v),
}


@together("value", [300, [300], (300,), -129])
@pytest.mark.parametrize("name", WIDE)
def test_integers_must_fit(name: str, value: Any) -> None:
    for dtype in ("int8", "uint8"):
        a = xl.zeros((2, 2), dtype)
        with pytest.raises(OverflowError, match="do not fit"):
            WIDE[name](a, value)
        assert not xl.any(a)


def test_masks_of_whole_numbers_are_truth_values_and_no_positions() -> None:
    mask, bools = [0, 0, 0, 1], xl.asarray([False, True, True, True])
    a = xl.zeros(4, "int64")
    for number, name in enumerate(("putmask", "place"), 1):
        getattr(xl, name)(a, xl.asarray(mask), number)
        assert a.tolist() == [0, 0, 0, number]
    for value, where in ((9, xl.asarray(mask)), (9.5, bools), ([9.5], bools)):
        with pytest.raises(TypeError):
            xl.copyto(a, value, where=where)
    assert a.tolist() == [0, 0, 0, 2]


@pytest.mark.parametrize("step", [1, 2])
def test_positions_are_all_looked_at_before_any_is_written(step: int) -> None:
    a, wanted = xl.arange(8)[::step], np.arange(8)[::step]
    xl.put(a, [0, 9], [])
    with pytest.raises(IndexError):
        xl.put(a, [0, 9], [5, 6])
    assert a.tolist() == wanted.tolist()
    for places, values in (([0, -1, 2], [5, 6]), ([[1, 0]], [7, 8, 9]), (xl.asarray([2, 1]), 3)):
        xl.put(a, places, values)
        np.put(wanted, np.asarray(places), values)
        assert a.tolist() == wanted.tolist()


def test_masks_and_casts_of_numpy() -> None:
    a = xl.zeros(3, "int32")
    with pytest.raises(ValueError, match="mask and data must be the same size"):
        xl.place(a, [True, False], [1])
    for write in (xl.place, xl.putmask):
        for values in (np.array([1.5]), xl.asarray([1.5])):
            with pytest.raises(TypeError, match="safe"):
                write(a, [True, False, True], values)
        write(a, [True, False, True], [1.5])
        assert a.tolist() == [1, 0, 1]
    xl.put(a, [0, 1], [])
    xl.copyto(a, 5, where=[0, 1, 0])
    assert a.tolist() == [1, 5, 1]


@pytest.mark.parametrize(("name", "operands"), [("divmod", 2), ("modf", 1)])
def test_results_have_one_place(name: str, operands: int) -> None:
    x, *outs = [xl.zeros(3) for _ in range(5)]
    with pytest.raises(TypeError, match="both a positional and keyword argument"):
        getattr(xl, name)(*[x] * operands, *outs[:2], out=tuple(outs[2:]))


@together("dtype", ["bool", "float16", "float32", "int8", "complex64", "bfloat16"])
def test_python_numbers_are_written_as_numpy_writes_them(dtype: str) -> None:
    for number in (0, 1, True, 1.5, 2j):
        expected = np.zeros((3, 3), xl.asarray([0], dtype).dtype)
        made = xl.asarray(expected)
        for put in (lambda a: xl.put(a, [1, 5], number), lambda a: xl.fill_diagonal(a, number)):  # noqa: B023
            try:
                put(made)
            except TypeError:
                with pytest.raises(TypeError):
                    made[...] = number
                continue
            whole = xl.zeros((3, 3), dtype)
            whole[...] = number
            assert np.isin(made.tolist(), [0, whole[0, 0].item()]).all()
    with pytest.raises(OverflowError):
        xl.put(xl.zeros(3, "int8"), [0], 300)
    with pytest.raises(OverflowError):
        xl.pad(xl.zeros(3, "int8"), 1, constant_values=300)
    writes: list[Callable[[Any, Any, Any], Any]] = [
        lambda xp, a, x: xp.put(a, [0], x),
        lambda xp, a, x: xp.fill_diagonal(a, x),
        lambda xp, a, x: xp.copyto(a, x, where=[True, False]),
    ]
    for number in (float("nan"), 1e300, -1):
        for write in writes:
            a = xl.zeros((2, 2), "uint8")
            with pytest.raises((ValueError, OverflowError, TypeError)) as found:
                write(np, np.zeros((2, 2), "uint8"), number)
            with pytest.raises(found.type):
                write(xl, a, number)
            assert not a.any()


NAMES = ("mean", "nanmean", "var", "nanvar", "std", "nanstd", "median")
FOLDS = [(name, dtype, "i8") for name in NAMES for dtype in ("f8", "i8")]
FOLDS += [("nanargmax", "f8", out) for out in ("f8", "i4")]
FOLDS += [("ptp", *both) for both in (("u8", "i8"), ("f8", "f4"), ("i1", "i8"))]
FOLDS += [(name, "c16", "f4") for name in ("mean", "nanmean")]


@pytest.mark.parametrize(("name", "dtype", "to"), FOLDS)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_folds_write_into_dtypes_where_numpy_does(name: str, dtype: str, to: str) -> None:
    values = np.array([[1, 100], [4, 27], [3, -100]]).astype(dtype)
    expected, out = np.zeros(2, to), xl.zeros(2, dtype=to)
    try:
        with np.errstate(invalid="ignore"):
            getattr(np, name)(values, axis=0, out=expected)
    except TypeError:
        with pytest.raises(xl.CastError):
            getattr(xl, name)(xl.asarray(values), axis=0, out=out)
        assert out.tolist() == [0, 0]
    else:
        getattr(xl, name)(xl.asarray(values), axis=0, out=out)
        np.testing.assert_allclose(out, expected, rtol=1e-6)


def test_select_takes_tuples() -> None:
    flags = [True, False, True]
    made = xl.select([xl.asarray(flags)], [(1, 2, 3)], (4.5, 5, 6))
    assert_same_bits(made, np.select([np.array(flags)], [(1, 2, 3)], (4.5, 5, 6)))


def test_imaginary_parts_are_discarded_with_numpys_warning() -> None:
    """Where NumPy casts freely: filled arrays."""
    for value in (2 + 3j, np.complex64(2 + 3j), [2 + 3j]):
        for fill in (
            lambda xp: xp.full(2, value, "f4"),  # noqa: B023
            lambda xp: xp.full_like(xp.ones(2, int), value),  # noqa: B023
        ):
            made = []
            for xp in (xl, np):
                with pytest.warns(np.exceptions.ComplexWarning):
                    made.append(np.asarray(fill(xp)))
            assert made[0].dtype == made[1].dtype
            assert made[0].tolist() == made[1].tolist()
    assert xl.full(2, 2j, bool).tolist() == [True, True]


def test_real_parts_are_assigned_as_elements_are() -> None:
    """By the rule of NumPy 2.5: earlier versions made an array of the value first."""
    for a in (xl.ones(2, "u1"), xl.ones(2), xl.ones(2) + 1j):
        before = a.tolist()
        for value in (2 + 3j, [2 + 3j, 1]):
            with pytest.raises(TypeError, match="complex number"):
                a.real = value
        assert a.tolist() == before
    with pytest.raises(OverflowError, match="300"):
        xl.ones(2, "u1").real = 300
    with pytest.warns(np.exceptions.ComplexWarning):
        xl.ones(2).real = np.array([2 + 3j, 1])


@pytest.mark.parametrize("name", ["place", "putmask"])
@pytest.mark.parametrize("values", [[1], 0, [0, 1], [True, False], [2.5], [0.0]])
def test_numbers_are_written_to_truth_values(name: str, values: Any) -> None:
    found = []
    for xp in (np, xl):
        a, mask = [xp.asarray([True, False, True, x]) for x in (False, True)]
        for k in range(3):
            getattr(xp, name)(a if k else a[1:], mask if k else mask[1:], values)
        found.append(np.asarray(a))
    assert_same_bits(found[1], found[0])


OUTS: dict[str, Callable[..., Any]] = {
    "cumsum": lambda xp, a, out: xp.cumsum(a, axis=1, out=out),
    "round": lambda xp, a, out: xp.round(a, 1, out=out),
    "sin": lambda xp, a, out: xp.sin(a, out=out),
    "multiply": lambda xp, a, out: xp.multiply(a, a, out=out),
}


@pytest.mark.parametrize("name", OUTS)
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_results_are_written_to_what_they_were_made_of(name: str, dtype: str) -> None:
    """Over themselves, over a part, to another dtype, or not at all; old values stay where held."""
    for _ in range(4):  # by what is known of the kinds
        p = (np.arange(12.0).reshape(3, 4) / 7).astype(dtype)
        a = xl.asarray(p)
        wanted, old = OUTS[name](np, p, np.empty_like(p)), a + 0
        assert OUTS[name](xl, a, a) is a
        assert np.allclose(np.asarray(a), wanted, rtol=1e-6)
        assert_same_bits(np.asarray(old), p)
        b, q = xl.zeros((6, 4), dtype), xl.asarray(p)
        OUTS[name](xl, q, b[::2])
        assert np.allclose(np.asarray(b[::2]), wanted, rtol=1e-6)
        assert not xl.any(b[1::2])
        wide = xl.zeros((3, 4), "complex128")
        OUTS[name](xl, q, wide)
        assert np.allclose(np.asarray(wide), wanted, rtol=1e-6)
        fixed = xl.asarray(p)
        fixed.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            OUTS[name](xl, q, fixed)
        with pytest.raises(ValueError, match=r"shape|stretch|broadcast"):
            OUTS[name](xl, q, xl.zeros((2, 4), dtype))
        assert_same_bits(np.asarray(fixed), p)


@pytest.mark.parametrize("name", ["sort", "argsort", "diff", "flip", "triu"])
def test_functions_without_out_refuse_it(name: str) -> None:
    a, out = xl.asarray([[3.0, 1.0], [0.0, 2.0]]), xl.ones((2, 2))
    for _ in range(3):
        with pytest.raises(TypeError, match="out"):
            getattr(xl, name)(a, out=out)
        assert np.all(np.asarray(out) == 1)


@together("size", [3, 5000])
@together(("name", "operands"), [("float_power", (2,)), ("clip", (2.0, 2.5))])
def test_elements_that_are_not_asked_for_keep_their_values(
    name: str, operands: tuple[float, ...], size: int
) -> None:
    values = np.arange(1.0, size + 1)
    odd, a, wanted = values % 2 == 1, xl.asarray(values), np.full(size, 7.0)
    getattr(np, name)(values, *operands, out=wanted, where=odd)
    for xp in (xl, xl, np):
        out = xl.full(size, 7.0)
        assert getattr(xp, name)(a, *operands, out=out, where=odd) is out
        np.testing.assert_allclose(out, wanted)
