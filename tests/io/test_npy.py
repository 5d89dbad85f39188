"""Round trips of one array, and files exchanged with NumPy in both directions."""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.io.files import (
    NAMES,
    USED_BITS,
    described,
    loaded,
    npy,
    numpy_saved,
    same,
    sample,
    saved,
)
from xarraylite.dtypes.names import dtype_name, kind
from xarraylite.memory.pool import counters

NATIVE = [name for name in NAMES if np.dtype(xl.zeros(1, dtype=name).dtype).isbuiltin == 1]
NARROW = [name for name in NAMES if name not in NATIVE]

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(
    name=st.sampled_from(NAMES), shape=SHAPES, layout=st.sampled_from(["row_major", "column_major"])
)
def test_round_trip(name: str, shape: tuple[int, ...], layout: str) -> None:
    values = sample(name, shape)
    a = xl.XArray(values, layout=layout)
    b = loaded(saved(a))
    assert type(b) is xl.XArray
    assert same(b, values)
    assert b.dtype is a.dtype
    assert b.static_layout is a.static_layout
    assert b.strides == a.strides
    assert b.buffer.address % 64 == 0


@given(name=st.sampled_from(NATIVE), shape=SHAPES, order=st.sampled_from("CF"))
def test_files_equal_numpys(name: str, shape: tuple[int, ...], order: Any) -> None:
    values = np.asarray(sample(name, shape), order=order)
    data = numpy_saved(values)
    assert saved(values) == saved(xl.adapt(values)) == data
    assert same(loaded(data), values)


@given(name=st.sampled_from(NARROW), shape=SHAPES, order=st.sampled_from("CF"))
def test_numpy_reads_narrow_types(name: str, shape: tuple[int, ...], order: Any) -> None:
    values = np.asarray(sample(name, shape), order=order)
    data = saved(values)
    read = np.load(io.BytesIO(data))
    assert read.dtype.names == (name,)
    assert read[name].dtype.kind == "u"
    assert same(read[name].view(values.dtype), values)
    again = numpy_saved(read)  # the name survives NumPy itself
    assert same(loaded(again), values)
    assert again == data


@together("name", NARROW)
def test_what_numpy_saved_without_a_name(name: str) -> None:
    values = sample(name, (2, 3))
    data = numpy_saved(values)
    with pytest.raises(xl.FormatError, match=r"bytes without a name; .* xl\.load\(file, dtype="):
        loaded(data)
    assert same(loaded(data, dtype=name), values)
    assert same(loaded(data, dtype=values.dtype), values)
    other = "float32"
    with pytest.raises(xl.FormatError, match=f"dtype='{other}' has 4 bytes, not {values.itemsize}"):
        loaded(data, dtype=other)


@pytest.mark.parametrize("code", ["<V2", "|V2", ">V2"])
def test_nameless_codes(code: str) -> None:
    values = sample("bfloat16", (5,))
    bits = values.view("u2").astype(">u2" if code[0] == ">" else "<u2")
    data = described(code, (5,), bits.tobytes())
    assert same(loaded(data, dtype="bf16"), values)


def test_names_as_others_write_them() -> None:
    values = sample("float8_e4m3fn", (3,))
    assert same(loaded(described("float8_e4m3fn", (3,), values.tobytes())), values)
    ones = loaded(described([("bfloat16", ">u2")], (2,), b"\x3f\x80" * 2))
    assert same(ones, np.ones(2, ml_dtypes.bfloat16))


def test_dtype_does_not_convert() -> None:
    data = saved(xl.ones(2))
    assert loaded(data, dtype="float64").dtype == xl.float64
    with pytest.raises(xl.FormatError, match="holds elements of float64; dtype='float32' cannot"):
        loaded(data, dtype="float32")
    with pytest.raises(xl.FormatError, match="is one array"):
        loaded(data, dtype={"a": "float64"})
    with pytest.raises(xl.DTypeError):
        loaded(data, dtype=object)


@together("name", ["int16", "uint32", "float16", "float64", "complex64", "complex128"])
@together("order", ["C", "F"])
def test_big_endian(name: str, order: Any) -> None:
    values = np.asarray(sample(name, (3, 4)), order=order)
    for mark in "<>":
        data = numpy_saved(values.astype(values.dtype.newbyteorder(mark)))
        assert f"{mark}{values.dtype.str[1:]}".encode() in data
        assert same(loaded(data), values)
    swapped = values.astype(values.dtype.newbyteorder())
    assert same(loaded(saved(swapped)), values)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_versions(version: tuple[int, int]) -> None:
    values = np.arange(6.0).reshape(2, 3)
    file = io.BytesIO()
    np.lib.format.write_array(file, values, version)
    assert file.getvalue()[6:8] == bytes(version)
    assert same(loaded(file.getvalue()), values)


@pytest.mark.parametrize(
    "header",
    [
        '{"shape":(2,),"descr":"<f8","fortran_order":False}',  # any order, any quotes
        "{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}",  # Python 2
        "  {\n'descr'\t: '<f8' ,'fortran_order' :False, 'shape': ( 2 ,),\n}  \n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }" + " " * 60_000,
    ],
)
def test_headers_that_others_write(header: str) -> None:
    data = npy(header, np.asarray([1.0, 2.0]).tobytes())
    assert np.asarray(loaded(data)).ravel().tolist() == [1.0, 2.0]


@together("name", ["bool", *map(dtype_name, USED_BITS)])
def test_bits_that_stand_for_nothing(name: str) -> None:
    every = np.arange(256, dtype=np.uint8)
    dtype = xl.zeros(1, dtype=name).dtype
    bits = USED_BITS.get(dtype, 1)
    descr = [(name, "|u1")] if dtype in USED_BITS else "|b1"
    used = described(descr, (1 << bits,), every[: 1 << bits].tobytes())
    assert same(loaded(used), every[: 1 << bits].view(dtype))
    data = described(descr, (256,), every.tobytes())
    if kind(dtype) == "f":  # no one agrees what they mean
        with pytest.raises(xl.FormatError, match=f"holds the byte 255; {name} has {bits} bits"):
            loaded(data)
    else:
        a = loaded(data)
        assert a.numpy().view(np.uint8).max() == (1 << bits) - 1
        assert np.array_equal(np.asarray(a).astype(int), every.view(dtype).astype(int))


def test_what_can_be_saved() -> None:
    base = xl.asarray(np.arange(24.0).reshape(2, 3, 4))
    views = [
        base,
        base[1],
        base[:, 1:2],
        base[::-1, ::2],
        base.T,
        base[..., ::-1].T,
        base[:0],
        base[1, 2, 3],
    ]
    for view in views:
        assert same(loaded(saved(view)), np.asarray(view))
    assert loaded(saved(base.T)).layout is xl.column_major
    column = xl.XArray([1, 2], layout="column_major")
    assert loaded(saved(column)).static_layout is xl.column_major
    assert same(loaded(saved(xl.broadcast_to(xl.asarray([1, 2]), (3, 2)))), [[1, 2]] * 3)
    assert same(loaded(saved([[1, 2], [3, 4]])), [[1, 2], [3, 4]])
    assert same(loaded(saved(2.5)), 2.5)
    assert same(loaded(saved(np.float32(2.5))), np.float32(2.5))
    assert same(loaded(saved(xl.XTensor[xl.float64, 1]([1.0, 2.0]))), [1.0, 2.0])
    assert same(loaded(saved(xl.adapt(bytes(8), (4,), dtype="int16"))), np.zeros(4, "int16"))


def test_expressions_are_evaluated() -> None:
    a = xl.asarray([1.0, 2.0])
    e = a + a * 2
    a[...] = 0
    assert same(loaded(saved(e)), [3.0, 6.0])  # what it meant when it was written
    f = xl.asarray(np.ones((2, 3)), layout="column_major")
    assert loaded(saved(f + f)).layout is xl.column_major
    assert same(loaded(saved(xl.sum(f))), 6.0)


def test_arguments_of_traced_functions_have_no_values() -> None:
    @xl.jit
    def step(a: Any) -> Any:
        saved(a)
        return a + 1

    with pytest.raises(xl.TracedValueError):
        step(xl.ones(3))


def test_memory_is_written_from_where_it_is() -> None:
    a = xl.zeros((100, 100))
    before = counters.allocations, counters.snapshots
    saved(a)
    saved(a.T)
    saved(a[10:20])
    assert (counters.allocations, counters.snapshots) == before
    assert not a.buffer.is_awaited()
    data = saved(a)
    loaded(data)
    assert counters.allocations == before[0] + 1
    assert counters.bytes >= 80_000


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (None, xl.DTypeError),
        ([{}], xl.DTypeError),
        (np.asarray([None, 1]), xl.DTypeError),
        (np.zeros(2, [("a", "f8")]), xl.DTypeError),
        (np.zeros(2, "V3"), xl.DTypeError),
        ([[1], [1, 2]], xl.ShapeError),
    ],
    ids=str,
)
def test_what_cannot_be_saved(tmp_path: Path, values: object, error: type[Exception]) -> None:
    path = tmp_path / "a.npy"
    for call in (lambda: xl.save(path, values), lambda: xl.save(tmp_path / "a.npz", a=values)):
        with pytest.raises(error, match="save"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "labels",
    [
        np.array([["a", "bc"], ["", "d\u00e9"]]),
        np.array([b"a", b"bc"]),
        np.array(["2024-01-31", "NaT"], "M8[D]"),
        np.array([1, -2], "m8[25s]"),
        np.array(["ab", "c"], ">U2"),
        np.array("alone"),
        np.empty((0, 2), "U3"),
    ],
    ids=str,
)
def test_labels_beside_numbers_are_numpys_arrays(tmp_path: Path, labels: Any) -> None:
    """As NumPy writes them, and back; what is cut short is refused."""
    xl.savez(tmp_path / "a.npz", labels, x=xl.arange(3), allow_pickle=False)
    xl.save(tmp_path / "b.npy", labels.T, allow_pickle=False)
    for load in (xl.load, np.load):
        found = load(tmp_path / "a.npz")
        assert found.files == ["arr_0", "x"]
        assert found["x"].tolist() == [0, 1, 2]
        for made, wanted in ((found["arr_0"], labels), (load(tmp_path / "b.npy"), labels.T)):
            assert type(made) is np.ndarray
            np.testing.assert_array_equal(made, wanted, strict=wanted.dtype.isnative)
    np.save(tmp_path / "c.npy", labels)
    np.testing.assert_array_equal(xl.load(tmp_path / "c.npy"), labels)
    if labels.size:
        (tmp_path / "d.npy").write_bytes((tmp_path / "c.npy").read_bytes()[:-1])
        with pytest.raises(xl.FormatError, match="needs exactly"):
            xl.load(tmp_path / "d.npy")


def test_paths(tmp_path: Path) -> None:
    a = xl.arange(3)
    for path in (tmp_path / "a.npy", str(tmp_path / "b"), tmp_path / "c.anything"):
        xl.save(path, a)
        name = str(path).removesuffix(".npy") + ".npy"
        assert same(xl.load(name), np.arange(3))
        assert same(np.load(name), np.arange(3))
    xl.save(tmp_path / "d", {"a": a})
    names = ["a.npy", "b.npy", "c.anything.npy", "d.npz"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_open_files(tmp_path: Path) -> None:
    a, path = xl.arange(4), tmp_path / "a.npy"
    for mode in ("wb", "w+b"):
        for buffering in (0, -1):
            with path.open(mode, buffering) as file:
                file.write(b"before")
                xl.save(file, a)
            with path.open("rb", buffering) as file:
                file.seek(6)
                assert same(xl.load(file), np.arange(4))
    with gzip.open(path, "wb") as packed:
        xl.save(packed, a)
    with gzip.open(path, "rb") as packed:
        assert same(xl.load(packed), np.arange(4))


def test_arrays_one_after_another(tmp_path: Path) -> None:
    path, arrays = tmp_path / "a.npy", [np.arange(3), np.ones((2, 2), "f4"), np.asarray(["x"])]
    with path.open("wb") as file:
        for array in arrays:
            xl.save(file, array)
    for buffering in (0, -1):
        with path.open("rb", buffering) as file:
            for array in arrays:
                assert np.array_equal(np.asarray(xl.load(file)), array)
            with pytest.raises(EOFError, match="begins with b''"):
                xl.load(file)
    with pytest.raises(xl.FormatError, match="needs exactly 24"):
        xl.load(path)


class Slow:
    """A file that reads and writes a few bytes at a time, and knows only what is asked of it."""

    def __init__(self, data: bytes = b"") -> None:
        self.file = io.BytesIO(data)
        self.seek, self.tell = self.file.seek, self.file.tell

    def read(self, size: int = -1) -> bytes:
        return self.file.read(min(size, 7) if size >= 0 else 7)

    def write(self, data: memoryview) -> int:
        return self.file.write(data[:5])


def test_files_that_do_little_at_a_time() -> None:
    target = Slow()
    xl.save(target, xl.arange(100))
    assert target.file.getvalue() == numpy_saved(np.arange(100))
    assert same(xl.load(Slow(target.file.getvalue())), np.arange(100))


class Silent(io.BytesIO):
    """A file whose write returns nothing, as many that are only like files do."""

    def write(self, data: Any) -> None:  # type: ignore[override]
        super().write(data)


def test_files_that_say_nothing() -> None:
    file = Silent()
    xl.save(file, xl.arange(300_000))
    assert file.getvalue() == numpy_saved(np.arange(300_000))


def test_what_is_no_file(tmp_path: Path) -> None:
    for wrong in (io.StringIO(), 3, b"path", None):
        with pytest.raises(TypeError, match="a path or a file opened in binary mode"):
            xl.save(wrong, xl.ones(1))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a path or a file opened in binary mode"):
            xl.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        xl.load(tmp_path / "none.npy")
    with pytest.raises(IsADirectoryError):
        xl.load(tmp_path)
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(IsADirectoryError):
        xl.save(tmp_path / "folder", xl.ones(1))


@pytest.mark.skipif(os.name != "posix", reason="pipes with names")
def test_pipes_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    with pytest.raises(xl.FormatError, match="cannot seek"):
        xl.load(pipe)
    with pytest.raises(ValueError, match="device or a pipe"):
        xl.save(pipe, xl.ones(1))
    ends = os.pipe()
    with os.fdopen(ends[0], "rb") as reading, os.fdopen(ends[1], "wb") as writing:
        xl.save(writing, xl.arange(3))
        writing.flush()
        with pytest.raises(xl.FormatError, match=r"io\.BytesIO\(file\.read\(\)\)"):
            xl.load(reading)


def test_calls_that_mean_nothing(tmp_path: Path) -> None:
    a = xl.ones(1)
    with pytest.raises(TypeError, match="nothing to save"):
        xl.save(tmp_path / "a")
    with pytest.raises(TypeError, match="not two of them"):
        xl.save(tmp_path / "a", a, b=a)
    with pytest.raises(ValueError, match="compressed=True is for several"):
        xl.save(tmp_path / "a", a, compressed=True)
    with pytest.raises(ValueError, match=r"ends in \.npz, but one array"):
        xl.save(tmp_path / "a.npz", a)
    with pytest.raises(ValueError, match=r"ends in \.npy, but several"):
        xl.save(tmp_path / "a.npy", a=a)
    assert list(tmp_path.iterdir()) == []


def test_no_way_to_a_pickle() -> None:
    objects = io.BytesIO()
    np.save(objects, np.asarray([None], dtype=object), allow_pickle=True)
    for options in ({}, {"allow_pickle": True, "max_header_size": 10**6}):
        with pytest.raises(xl.FormatError, match="pickles, which can run any code"):
            loaded(objects.getvalue(), **options)


def test_ways_to_map_that_numpy_does_not_know_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", np.arange(3))
    assert xl.load(tmp_path / "q.npy", "r").tolist() == [0, 1, 2]
    mapped = xl.load(tmp_path / "q.npy", "r+")
    mapped[1] = 7
    del mapped
    assert xl.load(tmp_path / "q.npy").tolist() == [0, 7, 2]
    with pytest.raises(ValueError, match="read-only"):
        xl.load(tmp_path / "q.npy", "r")[0] = 1
    with pytest.raises(ValueError, match=r"mmap_mode is one of.*'zzz'"):
        xl.load(tmp_path / "q.npy", "zzz")


def test_what_is_mapped_is_checked_as_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    xl.save(path, xl.asarray([[1.0, 2.0], [3.0, 4.0]], dtype="bfloat16").T)
    mapped = xl.load(path, "r")
    assert (mapped.dtype.name, mapped.tolist()) == ("bfloat16", [[1.0, 3.0], [2.0, 4.0]])
    np.save(path, np.arange(3, dtype=">i4"))
    assert xl.load(path, "c").tolist() == [0, 1, 2]
    with pytest.raises(xl.FormatError, match="cannot change that"):
        xl.load(path, "r", dtype="float32")
    whole = path.read_bytes()
    with pytest.raises(ValueError, match="mmap_mode is one of"):
        xl.load(path, "w+")
    assert path.read_bytes() == whole
    path.write_bytes(whole[:-4])
    with pytest.raises(xl.FormatError, match="needs exactly"):
        xl.load(path, "r+")
    assert path.read_bytes() == whole[:-4]
