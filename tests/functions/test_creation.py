"""Creation functions: NumPy's values and dtypes, our layouts, memory of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from xarraylite.dtypes.names import SUPPORTED
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst

FILLED: dict[str, Callable[..., Any]] = {
    "zeros": lambda xp, shape, **more: xp.zeros(shape, **more),
    "ones": lambda xp, shape, **more: xp.ones(shape, **more),
    "full": lambda xp, shape, **more: xp.full(shape, 1, **more),
}


@together("dtype", SUPPORTED)
@pytest.mark.parametrize("name", FILLED)
def test_filled(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.name == "int1" and name != "zeros":
        with pytest.raises(OverflowError, match="int1"):  # it holds -1 and 0
            FILLED[name](xl, 3, dtype=dtype)
        return
    for shape in ((), (0,), (3,), (2, 3), (2, 0, 4)):
        a = FILLED[name](xl, shape, dtype=dtype)
        assert_same_bits(a, FILLED[name](np, shape, dtype=dtype))
        assert type(a) is xl.XArray
        assert a.buffer.address % 64 == 0
        assert a.buffer.nbytes == a.nbytes


@pytest.mark.parametrize("layout", ["row_major", "column_major", xl.column_major, "dynamic", None])
def test_layout(layout: Any) -> None:
    for make in (xl.empty, xl.zeros, xl.ones):
        a = make((2, 3), layout=layout)
        column = str(getattr(layout, "value", layout)) == "column_major"
        assert a.strides == ((1, 2) if column else (3, 1))
    assert xl.zeros((2, 3), strides=(1, 2)).strides == (1, 2)
    with pytest.raises(xl.OverlapError, match=r"strides \(1, 1\)"):
        xl.zeros((2, 3), strides=(1, 1))
    with pytest.raises(xl.LayoutError, match="static layout row_major"):
        xl.empty((2, 3), layout="row_major", strides=(3, 1))


def test_default_dtypes() -> None:
    assert str(xl.zeros(1).dtype) == str(xl.ones(1).dtype) == str(xl.empty(1).dtype) == "float64"
    assert str(xl.full(1, 2).dtype) == "int64"
    assert str(xl.full(1, True).dtype) == "bool"
    assert str(xl.full(1, 2.0).dtype) == "float64"
    assert str(xl.full(1, 2j).dtype) == "complex128"
    assert str(xl.full(1, np.float32(2)).dtype) == "float32"
    assert str(xl.full(1, xl.asarray(2, dtype="bfloat16")).dtype) == "bfloat16"


def test_full() -> None:
    assert xl.full((2, 2), 7.5).tolist() == [[7.5, 7.5], [7.5, 7.5]]
    assert xl.full(2, 1.9, dtype="int8").tolist() == [1, 1]
    assert xl.full(3, xl.asarray([1.0, 2.0])[1] * 2).tolist() == [4, 4, 4]
    assert xl.full(2, "7", dtype=int).tolist() == [7, 7]
    assert xl.full_like(xl.ones(2), ["1.5", "2"]).tolist() == [1.5, 2.0]
    with pytest.raises(ValueError, match=r"full: invalid literal.*'x'"):
        xl.full(2, "x", dtype=int)
    with pytest.raises(OverflowError, match=r"300.*uint8"):
        xl.full(2, 300, dtype="uint8")
    with pytest.raises(xl.BroadcastError, match=r"float64\[3\] cannot be broadcast"):
        xl.full(2, np.zeros(3))


def test_shapes_are_given_as_in_numpy() -> None:
    for shape in (3, (3,), [3], np.int64(3), (np.int32(3),), iter((3,))):
        assert xl.zeros(shape).shape == (3,)
    for wrong in ((2, -1), 1.5, "3", (True,), None):
        with pytest.raises((xl.ShapeError, TypeError)):
            xl.zeros(wrong)


def test_memory_is_used_again_without_the_old_values() -> None:
    for _ in range(5):
        a = xl.empty(300_000)
        a[...] = 7
        del a
        assert not bool(xl.any(xl.zeros(300_000)))
        assert bool(xl.all(xl.ones(300_000) == 1))


@pytest.mark.parametrize("name", ["empty_like", "zeros_like", "ones_like"])
def test_like(name: str) -> None:
    make = getattr(xl, name)
    a = xl.zeros((2, 3), dtype="float32", layout="column_major")
    for source in (a, a + 1, a.T):
        made = make(source)
        assert (made.shape, str(made.dtype)) == (source.shape, "float32")
    assert make(a).strides == (1, 2)
    assert make(a, layout="row_major").strides == (3, 1)
    assert str(make(a, dtype="int8").dtype) == "int8"
    assert make(np.zeros((4, 5), "i2")).shape == (4, 5)
    if name != "empty_like":
        assert_same_bits(make(a), getattr(np, name)(np.asarray(a)))


def test_full_like() -> None:
    a = xl.zeros((2, 2), dtype="uint8")
    assert xl.full_like(a, 5).tolist() == [[5, 5], [5, 5]]
    assert str(xl.full_like(a, 5.5, dtype="float32").dtype) == "float32"
    with pytest.raises(OverflowError, match="uint8"):
        xl.full_like(a, -1)


ARANGES: list[tuple[Any, ...]] = [
    (5,),
    (2, 7),
    (2, 12, 3),
    (10, 0, -3),
    (5, 5),
    (3, 0),
    (0, 5, -1),
    (2.5,),
    (0.0, 1.0, 0.1),
    (1, 2, 0.25),
    (5.0, 0.0, -1.5),
    (-3, 3),
    (0,),
    (2**62, 2**62 + 5),
    (-(2**63), -(2**63) + 3),
    (2**63 - 4, 2**63 - 1),
    (2**63, 2**63 + 3),
    (np.uint64(3),),
    (1, np.uint64(4), np.int8(2)),
    (np.bool_(True),),
]


@together("args", ARANGES, ids=str)
def test_arange(args: tuple[Any, ...]) -> None:
    assert_same_bits(xl.arange(*args), np.arange(*args))


@together("dtype", ["int8", "uint16", "float32", "float64", "complex64", "bfloat16"])
def test_arange_with_dtype(dtype: str) -> None:
    assert_same_bits(
        xl.arange(1, 100, 7, dtype=dtype),
        np.arange(1, 100, 7).astype(xl.asarray(1, dtype=dtype).dtype),
    )


@together(
    ("args", "more"),
    [
        ((0, 1, 5), {}),
        ((0, 1, 5), {"endpoint": False}),
        ((5, -5, 11), {}),
        ((0, 1, 1), {}),
        ((0, 1, 0), {}),
        ((0.1, 0.7, 1000), {}),
        ((0, 10, 4), {"dtype": "float32"}),
        ((1 + 1j, 2 - 3j, 6), {}),
        ((0, 10, 4), {"dtype": "int64"}),
    ],
    ids=str,
)
def test_linspace(args: tuple[Any, ...], more: dict[str, Any]) -> None:
    assert_same_bits(xl.linspace(*args, **more), np.linspace(*args, **more))


def test_linspace_refuses() -> None:
    with pytest.raises(xl.ShapeError, match=r"linspace.*-1"):
        xl.linspace(0, 1, -1)


@together(
    ("args", "k"), [((3,), 0), ((2, 4), 0), ((4, 2), -1), ((3, 3), 2), ((3, 3), 7), ((0, 3), 0)]
)
def test_eye(args: tuple[int, ...], k: int) -> None:
    for dtype in ("float64", "int8", "bool", "complex64"):
        assert_same_bits(xl.eye(*args, k=k, dtype=dtype), np.eye(*args, k=k, dtype=dtype))
    assert xl.eye(3, layout="column_major").strides == (1, 3)


def test_fromfunction() -> None:
    assert_same_bits(
        xl.fromfunction(lambda i, j: 10 * i + j, (4, 6)),
        np.fromfunction(lambda i, j: 10 * i + j, (4, 6)),
    )
    assert xl.fromfunction(lambda i: xl.sin(i * 0.5), 4, dtype="f8").shape == (4,)
    assert xl.fromfunction(lambda i, k=0: i + k, 2, dtype=int, k=5).tolist() == [5, 6]
    assert xl.fromfunction(lambda i, j: i, (2, 3)).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert xl.fromfunction(lambda i, j: 5, (2, 2)).tolist() == [[5, 5], [5, 5]]
    assert xl.fromfunction(lambda i: xl.where(i % 2 == 0, i, -i), (5,)).tolist() == [
        0,
        -1,
        2,
        -3,
        4,
    ]
    assert xl.fromfunction(lambda: 3, ()).tolist() == 3


@given(st.data())
@settings(max_examples=25)
def test_asarray(data: st.DataObject) -> None:
    operand = data.draw(xst.samples(data.draw(xst.shapes(max_size=400)), data.draw(xst.dtypes())))
    a = xl.asarray(operand.operand)
    assert_same_bits(a, operand.array)
    if isinstance(operand.operand, np.ndarray):
        assert not np.may_share_memory(np.asarray(a), operand.operand)
    else:
        assert a is operand.operand
    b = xl.asarray(operand.operand, copy=True)
    assert_same_bits(b, operand.array)
    assert not np.may_share_memory(np.asarray(b), np.asarray(operand.operand))


def test_asarray_without_a_copy() -> None:
    memory = np.arange(3.0)
    a = xl.asarray(memory, copy=False)
    a[0] = 9
    assert memory[0] == 9
    assert xl.asarray(a, copy=False) is a
    assert xl.asarray(bytearray(8), copy=True, dtype="u1").shape == (8,)
    for wrong in ([1, 2], 3.0, a + 1):
        with pytest.raises((ValueError, TypeError)):
            xl.asarray(wrong, copy=False)
    with pytest.raises(ValueError, match="needs a copy"):
        xl.asarray(memory, dtype="f4", copy=False)


def test_asarray_converts() -> None:
    a = xl.asarray([1.5, 2.5])
    assert xl.asarray(a, dtype="float64") is a
    assert xl.asarray(a, dtype="int32").tolist() == [1, 2]
    assert xl.asarray(a + 1).tolist() == [2.5, 3.5]
    assert xl.asarray([[1, 2]], layout="column_major").layout is xl.row_major  # one row is both
    assert xl.asarray(np.float32(3)).dtype == np.float32
    assert xl.asarray([np.array([1, 2]), [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert xl.asarray([1, 2, 2**63]).dtype == np.asarray([1, 2, 2**63]).dtype
    assert xl.asarray([2**63, 1], dtype="uint64").tolist() == [2**63, 1]
    assert xl.asarray([1, 2**63 + 1], dtype="uint64").tolist() == [1, 2**63 + 1]
    assert xl.asarray([1.9, -1.9], dtype="int8").tolist() == [1, -1]
    assert xl.asarray(np.array([300]), dtype="uint8").tolist() == [44]  # a cast, as in NumPy


@together("made", [xl.asarray, xl.ascontiguousarray, xl.asfortranarray, xl.array])
@together("dtype", ["float64", "float32", "int64", "uint8", "bool", "complex128"])
def test_every_dtype_converts_to_every_other(made: Any, dtype: str) -> None:
    for source in ("float64", "float32", "bfloat16", "int64", "int32", "bool", "complex128"):
        if source == "complex128" and dtype != source:
            continue
        a = xl.asarray([[0, 1], [1, 1]], dtype=source)
        for operand in (a, a.T, xl.eval(a).view(), a == 1):
            for spelled in (dtype, np.dtype(dtype), getattr(xl, dtype)):
                assert made(operand, spelled).dtype == np.dtype(dtype)
                assert made(operand, dtype=spelled).tolist() == operand.tolist()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([2**70], "int64"), ([300], "uint8"), ([[1], [-1]], "uint16"), (128, "int8"), ([8], "int4")],
)
def test_integers_that_do_not_fit(values: Any, dtype: str) -> None:
    for make in (xl.asarray, xl.XArray):
        with pytest.raises(OverflowError, match=f"integers do not fit {dtype}"):
            make(values, dtype=dtype)


def test_asarray_takes_strange_arrays() -> None:
    swapped = np.arange(5, dtype=">f8")
    assert xl.asarray(swapped).tolist() == [0, 1, 2, 3, 4]
    loose = np.frombuffer(bytes(17), np.float64, offset=1)
    assert xl.asarray(loose).tolist() == [0, 0]
    record = np.zeros(3, [("a", "i4"), ("b", "f8")])
    record["b"] = [1, 2, 3]
    assert xl.asarray(record["b"]).tolist() == [1, 2, 3]
    with pytest.raises(xl.DTypeError, match="masked"):
        xl.asarray(np.ma.masked_array([1, 2], [False, True]))
    assert xl.asarray(np.array([1, 2], ml_dtypes.int4)).tolist() == [1, 2]
    assert xl.asarray(range(3)).tolist() == [0, 1, 2]


def test_one_allocation_each() -> None:
    for make in (
        lambda: xl.zeros((50, 50)),
        lambda: xl.ones((50, 50)),
        lambda: xl.empty((50, 50)),
        lambda: xl.full((50, 50), 2.5),
    ):
        with count_allocations() as count:
            make()
        assert count.bytes == 20_000


@together(
    ("code", "ends"),
    [
        ("i1", (-1.5, 1.5, 4)),
        ("i4", (-1.5, 1.5, 4)),
        ("i8", (3, -3, 5)),
        ("u1", (0.9, 7, 6)),
        ("i2", (-1, -1, 1)),
        ("?", (-1, 1, 3)),
        ("f4", (-1.5, 1.5, 4)),
    ],
)
def test_linspace_of_integers_is_rounded_down(code: str, ends: tuple[float, float, int]) -> None:
    assert_same_bits(xl.linspace(*ends, dtype=code), np.linspace(*ends, dtype=code))


@together("name", ["zeros", "empty", "ones"])
@together("shape", [(2**40, 0, 2**40), (0, 2**70), (2**63, 0)])
def test_extents_beside_a_zero_have_a_limit_too(name: str, shape: tuple[int, ...]) -> None:
    for _ in range(2):
        with pytest.raises(xl.SizeError):
            getattr(xl, name)(shape)


def test_what_is_asked_for_already_is_not_copied() -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert xl.require(a, "f8", "CW") is a
    assert xl.asarray_chkfinite(a) is a
    assert xl.require(a.T, requirements="C").tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert xl.require(a, "f4").dtype == xl.float32
    lazy = a * 2
    xl.require(lazy, "f8")[0] = 7
    assert lazy.tolist()[0] == [7.0, 7.0], "the memory of a lazy result, as of asarray"
    with pytest.raises(ValueError, match="asarray_chkfinite"):
        xl.asarray_chkfinite(a / 0)


@together("number", [2, 2.5, True, 1j, 1 << 63, np.float32(2), np.float16(1), -3])
def test_a_number_becomes_an_array_of_rank_0(number: object) -> None:
    for make in (xl.asarray, xl.array):
        made, expected = make(number), np.asarray(number)
        assert (made.dtype, made.shape, made.item()) == (expected.dtype, (), expected.item())
    with pytest.raises(TypeError):
        xl.asarray(1 << 64)


@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "bfloat16", "bool"])
def test_numbers_fill_every_dtype(dtype: str) -> None:
    x = xl.zeros(3, dtype)
    assert xl.ones_like(x).tolist() == xl.ones(3, dtype).tolist() == [1, 1, 1]
    for number in (2, 0.1, 70000, 1 << 30):
        try:
            expected = xl.astype(xl.asarray([number] * 2), dtype)
            made = xl.full_like(x[:2], number)
        except (TypeError, OverflowError):
            continue
        assert made.dtype == expected.dtype
        assert str(made.tolist()) == str(xl.eval(expected).tolist())


@pytest.mark.parametrize("number", [float("nan"), 300.5, -1.5, 7.0])
def test_lists_of_folds_are_cast_as_numpy_casts_its_own(number: float) -> None:
    ours, x = xl.asarray([number, number]), np.asarray([number, number])
    for dtype in ("u1", "u4", "f4", "c8"):
        with np.errstate(invalid="ignore"):
            expected = np.asarray([x.max(), x.max()], dtype=dtype)
            assert_same_bits(xl.asarray([ours.max(), xl.sum(ours[:1])], dtype=dtype), expected)
            written = xl.zeros(2, dtype=dtype)
            written[:] = [ours.max(), ours.max()]
            assert_same_bits(written, expected)


_FLOATS = [k / 8 for k in range(80)]
_INTS = [-(10**k) for k in range(18)] * 5


@pytest.mark.parametrize(
    "wanted", [None, "float64", "float32", "int64", "complex64", "complex128", "?"]
)
@pytest.mark.parametrize(
    "values",
    [
        _FLOATS,
        tuple(_INTS),
        [_FLOATS, _FLOATS] * 50,
        [_INTS] * 70,
        [*_FLOATS, 1],
        [*_INTS, True],
        [*_INTS, 2**63],
        [[1.5], [2.5]] * 40 + [[3]],
        [(1, 2)] * 80,
        [[[1.5]]] * 80,
        [[]] * 80,
        [np.float64(1.5)] * 80,
        [1.5 - 2j] * 80,
        [True, False] * 40,
        [True] * 80 + [2],
        [*_FLOATS, np.float64(0.1), True],
        [*_FLOATS, np.float64(0.1), np.True_],
        [*_FLOATS, np.float64(0.1)],
    ],
    ids=range(18),
)
def test_long_lists_are_the_arrays_that_numpy_makes(values: Any, wanted: Any) -> None:
    if values[0].__class__ is complex and wanted in ("float64", "float32", "int64"):
        with pytest.raises(xl.DTypeError, match="complex"):
            xl.asarray(values, dtype=wanted)
        return
    if 2**63 in [v for v in values if type(v) is int] and wanted == "int64":
        with pytest.raises(OverflowError):
            xl.asarray(values, dtype=wanted)
        return
    made, theirs = xl.asarray(values, dtype=wanted), np.asarray(values, wanted)
    np.testing.assert_array_equal(made.numpy(), theirs, strict=True)
    again = xl.array(values, wanted)
    again[...] = 0  # memory of its own
    np.testing.assert_array_equal(made.numpy(), theirs)


@pytest.mark.parametrize(
    "values", [[[1.5, 2.5]] * 80 + [[1.5]], [*_INTS, 2**70], [*_FLOATS, 2**70]]
)
def test_long_lists_of_no_array_are_refused(values: Any) -> None:
    with pytest.raises((xl.ShapeError, xl.DTypeError, OverflowError)):
        xl.array(values)


@pytest.mark.parametrize("rows", [False, True])
def test_a_long_list_that_another_thread_changes_is_read_again(
    rows: bool, monkeypatch: Any
) -> None:
    values, fromiter = [1.5] * 1000, np.fromiter
    lists = [values, values] * 40

    def meanwhile(*args: Any) -> Any:
        values.pop()
        return fromiter(*args)

    monkeypatch.setattr(np, "fromiter", meanwhile)
    made = xl.asarray(lists if rows else values)
    assert made.tolist() == (lists if rows else values)


@pytest.mark.parametrize("of", [np.uint64, lambda n: xl.XScalar(np.uint64(n))])
def test_lists_of_values_beyond_a_dtype_are_refused(of: Callable[[int], Any]) -> None:
    """Beside other numbers too, which together are floats to NumPy."""
    for rest in ([], [1], [np.int64(-1)], [1.5], [np.True_]):
        for dtype in ("int64", "int32", "uint8"):
            with pytest.raises(OverflowError, match=f"integers do not fit {dtype}"):
                xl.array([of(2**64 - 1), *rest], dtype)
    assert xl.array([of(2**63 + 1), 1], "uint64").tolist() == [2**63 + 1, 1]


@pytest.mark.parametrize("copy", [True, None])
def test_least_ranks_are_of_new_memory(copy: bool | None) -> None:
    values = xl.asarray([[1.0, 2.0]])
    for ndmin in (1, 2, 4):
        for of in (
            values,
            values[:, ::-1],
            xl.asarray(values, layout="column_major"),
            [[1.0, 2.0]],
        ):
            made = xl.array(of, ndmin=ndmin, copy=copy)
            assert isinstance(made, xl.XArray | xl.XView)
            assert made.shape == np.array(np.asarray(of), ndmin=ndmin).shape
            assert np.array_equal(made, np.array(np.asarray(of), ndmin=ndmin))
            if copy:
                made[...] = 0
                made.reshape_((2, 1))
    assert values.tolist() == [[1.0, 2.0]]
    vector = xl.XTensor[xl.float64, 1]([1.0, 2.0])  # of a fixed rank, which its copy has not
    assert xl.array(vector, ndmin=2).shape == (1, 2)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
def test_zeros_of_much_memory_take_it_when_it_is_written() -> None:
    def pages() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1])

    before = pages()
    many = xl.zeros((1 << 15, 1 << 15), "uint8")
    many[5, 7] += 3
    assert (pages() - before) * 4096 < 1 << 28
    assert many[5].sum() == 3
