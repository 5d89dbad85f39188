"""Objects of kernels are put into the process without LLVM; what is unusual is left to it."""

from __future__ import annotations

import ctypes
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from xarraylite.codegen import host, linking, machine, worker

pytestmark = pytest.mark.skipif(not linking._HERE, reason="LLVM links elsewhere")

TEXT = """
@table = internal constant [4 x i64] [i64 3, i64 5, i64 7, i64 11]
@calls = internal global [1024 x i64] zeroinitializer
declare i64 @labs(i64)
declare i64 @theirs(i64)
define i64 @other(i64 %x) noinline {
  %k = and i64 %x, 3
  %p = getelementptr [4 x i64], ptr @table, i64 0, i64 %k
  %v = load i64, ptr %p
  %a = call i64 @labs(i64 %v)
  ret i64 %a
}
define i64 @kernel(i64 %x) {
  %n = load i64, ptr @calls
  %m = add i64 %n, 100
  store i64 %m, ptr @calls
  %v = call i64 @other(i64 %x)
  %t = call i64 @theirs(i64 %v)
  %r = add i64 %m, %t
  ret i64 %r
}
"""


@pytest.fixture(scope="module")
def image() -> bytes:
    return worker.run(lambda: machine.compile_object(TEXT))


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
def theirs(x: int) -> int:
    return x * 1000


CALLED = {"theirs": ctypes.cast(theirs, ctypes.c_void_p).value or 0}


def test_code_constants_data_and_calls(image: bytes) -> None:
    found = linking.linked(image, "kernel", CALLED)
    assert found is not None
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(found[0])
    assert [call(k) for k in (0, 1, 2, 3)] == [3100, 5200, 7300, 11400]
    again = linking.linked(image, "kernel", CALLED)
    assert again is not None
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(again[0])(0) == 3100
    mapped = Path("/proc/self/maps").read_text().splitlines()
    # Mappings of equal rights that lie side by side are one there.
    ends = [[int(end, 16) for end in line.split()[0].split("-")] for line in mapped]
    rights = [
        line.split()[1] for line, (a, b) in zip(mapped, ends, strict=True) if a <= found[0] < b
    ]
    assert rights == ["r-xp"]
    found[1].close()


def test_what_is_missing_is_left_to_llvm(image: bytes) -> None:
    assert linking.linked(image, "kernel", {}) is None
    assert linking.linked(image, "nobody", CALLED) is None
    with pytest.raises(RuntimeError):
        worker.run(lambda: machine.load("test", image))


def test_what_llvm_links_is_the_same(image: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "linked", lambda *_: None)
    code = worker.run(lambda: machine.load("test", image, CALLED))
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(code.address)(2) == 7100


def test_objects_that_lie(image: bytes) -> None:
    """Any word of the headers, tables and relocations may be wrong: an answer, and no crash."""
    random = np.random.default_rng(3)
    (start,) = struct.unpack_from("<Q", image, 40)
    for _ in range(500):
        bad = bytearray(image)
        at = int(random.choice([random.integers(7, 64), random.integers(start, len(image))]))
        bad[at] = int(random.integers(256))
        found = linking.linked(bytes(bad), "kernel", CALLED)
        if found is not None:
            found[1].close()
    for length in range(0, len(image), 7):
        assert linking.linked(image[:length], "kernel", CALLED) is None


def test_a_later_process_does_not_import_llvm(tmp_path: Path) -> None:
    code = (
        "import sys, xarraylite as xl\n"
        f"with xl.config(engine='compiled', cache_dir={str(tmp_path / 'c')!r}):\n"
        "    r = xl.eval(xl.asarray([1.0, 2.0]) + 1)\n"
        "print(repr(r), 'llvmlite.binding' in sys.modules)\n"
    )
    command = [sys.executable, "-c", code]
    told = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(2)]
    first, second = [done.stdout.strip().rsplit(" ", 1) for done in told]
    assert (first[0], first[1], second[1]) == (second[0], "True", "False")


def test_what_another_process_told_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has not four lines is asked for again."""
    monkeypatch.setattr(host.store, "load", lambda key: b"x86_64\nznver3")
    monkeypatch.setattr(host.store, "save", lambda key, told: kept.append(told))
    kept: list[bytes] = []
    told = worker.run(host._processor.__wrapped__)
    assert kept == ["\n".join(told).encode()]
    assert told[1] == host.host().cpu


SAID = (
    "vendor_id\t: A\ncpu family\t: 25\nmodel\t\t: 1\nmodel name\t: B\nstepping\t: 1\n"
    "flags\t\t: {}\n\n"
)


def test_another_processor_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that goes on from a snapshot has not been started anew."""
    kept: dict[str, bytes] = {}
    monkeypatch.setattr(host.store, "load", kept.get)
    monkeypatch.setattr(host.store, "save", kept.__setitem__)
    monkeypatch.setattr(host, "_PROCESSORS", tmp_path / "cpuinfo")
    asked: list[object] = []

    def ask(package: object) -> tuple[str, ...]:
        asked.append(package)
        return ("told",) * 4

    monkeypatch.setattr(host, "_asked", ask)

    def after(text: str) -> int:
        (tmp_path / "cpuinfo").write_text(text)
        assert host._processor.__wrapped__() == ("told",) * 4
        return len(asked)

    assert [after(SAID.format(flags) * 2) for flags in ("fpu", "fpu", "fpu avx")] == [1, 1, 2]
    assert after(SAID.format("fpu avx") + SAID.format("fpu")) == 2
    for missing in (SAID.replace("model\t", "other\t"), SAID.format("fpu")[:-1], ""):
        before = len(asked)
        assert [after(missing), after(missing)] == [before + 1, before + 2]
