"""Archives: round trips, files exchanged with NumPy, and hostile ones."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
from collections.abc import Iterable
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
    described,
    loaded,
    npy,
    numpy_saved,
    numpy_savez,
    refuses,
    same,
    sample,
    saved,
)
from xarraylite.io import npz
from xarraylite.memory.pool import counters

KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=20).filter(
    lambda key: not npz.name_problem(key)
)


def archive(members: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_STORED) -> bytearray:
    """Return a zip archive of any members."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as target:
        warnings.simplefilter("ignore")  # the standard library warns of duplicates
        for name, data in members:
            info = zipfile.ZipInfo("x")
            info.filename = name  # as it is: the constructor would tidy it
            info.compress_type = method
            target.writestr(info, data)
    return bytearray(file.getvalue())


def patched(data: bytearray, where: int, code: str, value: int) -> bytearray:
    """Return a copy with one field of the only (or last) directory entry replaced."""
    begin = data.rindex(b"PK\x01\x02")
    struct.pack_into(f"<{code}", data, begin + where, value)
    return data


@pytest.mark.parametrize("compressed", [False, True])
def test_round_trip(compressed: bool) -> None:
    arrays = {name: sample(name, (3, 5), seed) for seed, name in enumerate(NAMES)}
    data = saved(arrays, compressed=compressed)
    result = loaded(data)
    assert list(result) == NAMES
    for name, values in arrays.items():
        assert same(result[name], values)
    assert data == saved(arrays, compressed=compressed)  # no times, no random names
    with zipfile.ZipFile(io.BytesIO(data)) as target:
        assert target.testzip() is None
        methods = {info.compress_type for info in target.infolist()}
    assert methods == {zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED}


@given(
    keys=st.lists(KEYS, max_size=4, unique=True),
    shape=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    compressed=st.booleans(),
)
def test_round_trip_of_names(keys: list[str], shape: tuple[int, ...], compressed: bool) -> None:
    arrays = {key: sample("float32", shape, i) for i, key in enumerate(keys)}
    result = loaded(saved(arrays, compressed=compressed))
    assert list(result) == keys
    assert all(same(result[key], arrays[key]) for key in keys)


@pytest.mark.parametrize("compressed", [False, True])
def test_exchange_with_numpy(compressed: bool) -> None:
    arrays = {
        "a": np.arange(6.0).reshape(2, 3),
        "b/c": np.asfortranarray(np.ones((2, 3), ">i4")),
        "d.npy": np.asarray(True),
        "name with ä": np.zeros((0, 3)),
    }
    theirs = loaded(numpy_savez(arrays, compressed))
    with np.load(io.BytesIO(saved(arrays, compressed=compressed))) as ours:
        assert ours.files == list(theirs) == list(arrays)
        for key, values in arrays.items():
            native = values.astype(values.dtype.newbyteorder("="))
            assert same(ours[key], native)
            assert same(theirs[key], native)
    assert theirs["b/c"].layout is xl.column_major


def test_narrow_types_that_numpy_saved() -> None:
    arrays = {"a": sample("bfloat16", (3,)), "b": sample("int4", (3,)), "c": sample("int8", (3,))}
    data = numpy_savez(arrays)
    with pytest.raises(xl.FormatError, match=r"member 'a\.npy', holds elements of '<V2'"):
        loaded(data)
    result = loaded(data, dtype={"a": "bfloat16", "b": ml_dtypes.int4})
    assert all(same(result[key], arrays[key]) for key in arrays)
    only = loaded(numpy_savez({"a": arrays["a"]}), dtype="bfloat16")
    assert same(only["a"], arrays["a"])
    with pytest.raises(xl.FormatError, match="has no array 'z'; dtype= names it"):
        loaded(data, dtype={"z": "bfloat16"})


def test_names_by_keyword_or_mapping(tmp_path: Any) -> None:
    a = xl.arange(3)
    xl.save(tmp_path / "a.npz", x=a, y=a + 1)
    xl.save(tmp_path / "b", {"x": a, "y": a + 1, "compressed": a})
    assert list(xl.load(tmp_path / "a.npz")) == ["x", "y"]
    assert same(xl.load(tmp_path / "b.npz")["compressed"], [0, 1, 2])  # type: ignore[call-overload]
    assert loaded(saved({})) == {}
    assert loaded(numpy_savez({})) == {}


def test_where_a_file_begins() -> None:
    file = io.BytesIO(b"before")
    file.seek(6)
    xl.save(file, a=xl.ones(2))
    file.seek(6)
    assert same(xl.load(file)["a"], [1.0, 1.0])  # type: ignore[index, call-overload]
    file.seek(0)
    with pytest.raises(xl.FormatError, match="begins with b'before'"):
        xl.load(file)


class Stream(io.BytesIO):
    """A target that cannot seek, so that sizes follow the members."""

    def seekable(self) -> bool:
        return False

    def seek(self, *args: int) -> int:
        raise io.UnsupportedOperation

    tell = seek  # type: ignore[assignment]


@pytest.mark.parametrize("compressed", [False, True])
def test_streams_are_written(compressed: bool) -> None:
    target = Stream()
    xl.save(target, {"a": xl.ones(2), "b": xl.zeros(3)}, compressed=compressed)
    assert same(loaded(target.getvalue())["b"], np.zeros(3))


def test_an_archive_with_a_comment_and_gaps() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as target:
        target.comment = b"any text"
        info = zipfile.ZipInfo("a.npy")
        info.extra = struct.pack("<HH8s", 0x7777, 8, b"whatever")
        target.writestr(info, numpy_saved(1.0))
    assert same(loaded(file.getvalue())["a"], 1.0)


def test_archives_of_large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(zipfile, "ZIP64_LIMIT", 10)  # as if these arrays had gigabytes
        data = saved(a=np.arange(3.0), b=np.ones(2))
    assert data.count(b"PK\x06\x06") == 1  # the end record of the large form
    assert b"\xff\xff\xff\xff" in data
    result = loaded(data)
    assert same(result["a"], np.arange(3.0))
    assert same(result["b"], np.ones(2))
    refuses(data.replace(b"PK\x06\x06", b"PK\x06\x05"), "load: ")


@together(
    "name",
    ["", "/a", "..", "../a", "a/../b", "a/..", ".", "./a", "a/", "a//b", "a\\b", "\\a", "C:a",
     "c:/a", "a\x00b", "a\n", "\x7f", "x" * 252, "ä" * 126],
)  # fmt: skip
def test_names_are_refused_both_ways(name: str) -> None:
    with pytest.raises(xl.FormatError, match=r"save: the name .* is refused; it must"):
        saved({name: xl.ones(1)})
    # zipfile ends a name at its first zero byte, and cannot write one
    data = archive([(name.replace("\x00", "#") + ".npy", numpy_saved(1.0))])
    refuses(bytes(data).replace(b"a#b.npy", b"a\x00b.npy"), "has a name that is refused; it must")


def test_names_that_are_no_text() -> None:
    with pytest.raises(TypeError, match="the name 3 is int"):
        saved({3: xl.ones(1)})
    with pytest.raises(xl.FormatError, match="text that UTF-8 can write"):
        saved({"\ud800": xl.ones(1)})


GOOD = ("a.npy", numpy_saved(np.arange(4.0)))


@pytest.mark.parametrize("name", ["a", "a.npy.txt", "a.NPY", "a.npy/", "a.npz"])
def test_members_that_are_no_arrays(name: str) -> None:
    refuses(archive([GOOD, (name, b"")]), "has a name that is refused")
    refuses(archive([("a.npy", b"text")]), r"member 'a\.npy', ends after 4 bytes of its magic")
    refuses(archive([("a.npy", b"\x80\x04pickled....")]), r"member 'a\.npy', begins with")


def test_duplicate_names() -> None:
    refuses(archive([GOOD, GOOD]), "has two arrays 'a'; names must differ")


def test_headers_are_checked_before_anything_is_allocated() -> None:
    bad = npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        refuses(archive([GOOD, ("b.npy", bad)], method), r"member 'b\.npy', .*pickles")
        short = described("<f8", (2**34,))
        refuses(archive([GOOD, ("b.npy", short)], method), "needs exactly 137438953472")


def test_methods_and_encryption() -> None:
    for method, number in ((zipfile.ZIP_BZIP2, 12), (zipfile.ZIP_LZMA, 14)):
        refuses(archive([GOOD], method), f"compressed by method {number}; 0 .* and 8")
    for flag in (0x1, 0x20, 0x41):
        refuses(patched(archive([GOOD]), 8, "H", flag), "encrypted or patched")


def test_members_cannot_be_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "MAX_MEMBERS", 3)
    members = [(f"{i}.npy", GOOD[1]) for i in range(4)]
    refuses(archive(members), "has 4 members; at most 3")
    assert len(loaded(archive(members[:3]))) == 3


def test_arrays_cannot_be_too_many() -> None:
    with pytest.raises(xl.FormatError, match="10001 arrays; one file holds at most 10000"):
        saved({str(i): 1.0 for i in range(npz.MAX_MEMBERS + 1)})


def test_a_directory_cannot_be_too_long() -> None:
    # Entries that all point at one member: 5 MB of them would become 60 MB of objects.
    data = archive([GOOD])
    begin = data.index(b"PK\x01\x02")
    entry, end = bytes(data[begin:-22]), bytearray(data[-22:])
    struct.pack_into("<HHI", end, 8, 0xFFFF, 0xFFFF, 100_000 * len(entry))
    refuses(bytes(data[:begin]) + entry * 100_000 + end, "has a directory of 5100000 bytes")


SIZES: list[tuple[int, str, int, str]] = [
    (20, "I", 10**6, "its method cannot do that|no readable|overlaps"),  # compressed size
    (24, "I", 10**6, "its method cannot do that"),  # size
    (24, "I", 159, "its method cannot do that"),
    (42, "I", 1, "bytes before its first member"),  # place of the member
    (42, "I", 2**31, "no readable zip directory"),
    (10, "H", 8, "differs from the directory"),  # method
    (16, "I", 0, "has the CRC-32 .* 00000000 was announced"),
    (28, "H", 4, "no readable|refused"),  # length of the name
    (0, "I", 0, "no readable zip directory"),  # mark of an entry
]


@together(("where", "code", "value", "message"), SIZES)
def test_directories_that_lie(where: int, code: str, value: int, message: str) -> None:
    data = patched(archive([GOOD]), where, code, value)
    if "CRC" in message:  # shows only once the elements have been read
        with pytest.raises(xl.FormatError, match=message):
            loaded(data)
    else:
        refuses(data, message)


def test_local_headers_that_lie() -> None:
    data = archive([GOOD])
    refuses(bytes(data).replace(b"a.npy", b"b.npy", 1), "differs from the directory")
    longer = data.copy()
    struct.pack_into("<H", longer, 28, 9)  # extra field: the elements would begin later
    refuses(longer, "overlaps what follows; every member has its own bytes")


def test_members_that_overlap() -> None:
    inner = archive([GOOD])
    outer = archive([("b.npy", bytes(inner)), GOOD])
    begin = outer.rindex(b"PK\x01\x02")
    struct.pack_into("<I", outer, begin + 42, 35)  # the second entry: the copy inside the first
    refuses(outer, "overlaps|begins with")
    twice = archive([GOOD, ("c.npy", GOOD[1])])
    begin = twice.rindex(b"PK\x01\x02")
    struct.pack_into("<I", twice, begin + 42, 0)
    refuses(twice, "overlaps|differs")


def test_what_surrounds_an_archive() -> None:
    data = bytes(archive([GOOD]))
    refuses(data + b"\x00", "goes on after the end|no readable")
    refuses(data + data, "before its first member|no readable|goes on")
    refuses(b"PK\x03\x04" + data, "before its first member")
    assert same(loaded(data)["a"], np.arange(4.0))


def test_deflated_bytes_that_are_none() -> None:
    made = archive([GOOD], zipfile.ZIP_DEFLATED)
    made[35:45] = b"\xff" * 10
    refuses(made, "cannot be decompressed")


@pytest.mark.parametrize(("count", "message"), [(99, "does not end"), (101, "ends after 800")])
def test_more_or_less_than_announced(count: int, message: str) -> None:
    # Header and directory agree on a size, and what is deflated has another.
    made = archive([("a.npy", described("<f8", (count,), bytes(800)))], zipfile.ZIP_DEFLATED)
    patched(made, 24, "I", len(described("<f8", (count,), bytes(8 * count))))
    with pytest.raises(xl.FormatError, match=message):
        loaded(made)


def test_deflated_bytes_that_go_on() -> None:
    made = bytes(archive([GOOD], zipfile.ZIP_DEFLATED))
    begin = made.rindex(b"PK\x01\x02")
    (packed,) = struct.unpack_from("<I", made, begin + 20)
    longer = bytearray(made[:begin] + b"hidden" + made[begin:])
    struct.pack_into("<I", longer, begin + 6 + 20, packed + 6)
    struct.pack_into("<I", longer, len(longer) - 6, begin + 6)  # place of the directory
    with pytest.raises(xl.FormatError, match="does not end where it should"):
        loaded(longer)


def test_compression_bombs() -> None:
    def bomb(nbytes: int) -> bytes:
        header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({nbytes},), }}"
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
            with target.open("a.npy", "w") as member:
                member.write(npy(header, b""))
                for _ in range(nbytes >> 20):
                    member.write(bytes(1 << 20))
        return file.getvalue()

    small = bomb(8 << 20)
    assert len(small) < (8 << 20) / 900
    assert loaded(small)["a"].size == 8 << 20  # what zeros compress to is no attack
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npz, "FREE_BYTES", 1 << 20)
        refuses(small, r"announces 83\d* bytes from 8\d*; at most 200.0 from one .*max_ratio")
        refuses(small, "at most 900", max_ratio=900)
        assert loaded(small, max_ratio=1100)["a"].size == 8 << 20


def test_what_compresses_best_is_read() -> None:
    values = np.zeros(1_000_000)
    for data in (
        numpy_savez({"a": values}, compressed=True),
        saved({"a": values}, compressed=True),
    ):
        assert len(data) < values.nbytes / 900
        assert same(loaded(data)["a"], values)


def test_every_truncation_is_refused() -> None:
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        data = bytes(archive([GOOD, ("b.npy", GOOD[1])], method))
        before = counters.allocations
        for length in range(len(data)):
            with pytest.raises(xl.FormatError):
                loaded(data[:length])
        assert counters.allocations == before


def test_nothing_is_written_beside(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = archive([("inside.npy", GOOD[1])])
    loaded(data)
    for name in ("../evil.npy", "/tmp/evil.npy", "evil.npy"):
        file = archive([(name, b"x")])
        with pytest.raises(xl.FormatError):
            loaded(file)
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent / "evil.npy").exists()


def test_numpys_names(tmp_path: Path) -> None:
    xl.savez(tmp_path / "plain", [1, 2], b=[3])
    xl.savez_compressed(tmp_path / "packed.npz", [1, 2])
    xl.savez(tmp_path / "one.npy", [1, 2])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("one.npy.npz", "packed.npz", "plain.npz")
    ]
    with xl.load(tmp_path / "plain.npz") as arrays:
        assert arrays.files == ["arr_0", "b"]
    assert same(xl.load(tmp_path / "packed.npz")["arr_0"], [1, 2])  # type: ignore[index, call-overload]
    with pytest.raises(ValueError, match="those of arrays by position"):
        xl.savez(io.BytesIO(), [1], arr_0=[2])


def test_a_size_must_be_known() -> None:
    class Reader:
        def read(self, size: int = -1) -> bytes:
            return b""

    with pytest.raises(xl.FormatError, match="cannot seek"):
        xl.load(Reader())
