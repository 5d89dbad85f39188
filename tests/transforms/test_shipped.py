"""Object code that comes with the package: that of its sources, and used where it can be."""

from __future__ import annotations

import dataclasses
import os
import platform
import subprocess
import sys
from pathlib import Path

import llvmlite
import numpy as np
import pytest

import xarraylite as xl
from xarraylite.codegen import archive, kernel, machine
from xarraylite.codegen.host import host
from xarraylite.runtime import launch
from xarraylite.transforms import shipped

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not launch.can_launch(), reason="another interpreter"),
]

usual = pytest.mark.skipif(
    platform.system() != "Linux" or platform.machine() != "x86_64", reason="another platform"
)


@usual
@pytest.mark.skipif(llvmlite.__version__[:4] != "0.50", reason="another LLVM made them")
@pytest.mark.usefixtures("by_python")
def test_llvm_makes_the_same_of_the_sources() -> None:
    for assembly in shipped.assemblies():
        found = archive.archive().find_object(assembly.name)
        assert found == shipped.compiled(assembly), "run `make routines`"
    for name, made in shipped.functions().items():
        found = archive.archive().find_object(name)
        assert found == shipped.compiled_apart(*made), "run `make routines`"


OFTEN = """
import numpy as np
import xarraylite as xl
from xarraylite.codegen import machine
from xarraylite.transforms import natives

texts = []
original = machine.compile_object
machine.compile_object = lambda text, *rest: texts.append(rest) or original(text, *rest)
a = xl.asarray([1.0, 2.0])
for _ in range(400):
    b = xl.eval(a + 1)
print(np.asarray(b).tolist(), len(natives._replaced) > 100, [rest for rest in texts if any(rest)])
"""


@usual
def test_a_process_that_launches_often_compiles_kernels_alone(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "XARRAYLITE_CACHE_DIR": str(tmp_path / "kernels"),
        "XARRAYLITE_ENGINE": "compiled",
    }
    done = subprocess.run(
        [sys.executable, "-c", OFTEN],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert (done.returncode, done.stdout) == (0, "[2.0, 3.0] True []\n"), done.stderr


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """Note what LLVM is given, with nothing on disk, and whether it is for any processor."""
    found: list[tuple[str, bool]] = []
    compile_object = machine.compile_object

    def noting(text: str, plain: bool = False) -> bytes:
        found.append((text, plain))
        return compile_object(text, plain)

    monkeypatch.setattr("xarraylite._config.settings.cache", False)
    monkeypatch.setattr(machine, "compile_object", noting)
    return found


def test_elsewhere_and_where_it_does_not_link_llvm_makes_it(
    noted: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    small = launch.assembly()
    kernel.code_of(small)
    assert noted == [] or not host().is_usual
    noted.clear()
    arm = dataclasses.replace(host(), triple="aarch64-unknown-linux-gnu")
    with monkeypatch.context() as patched:
        patched.setattr(kernel, "host", lambda: arm)
        kernel.code_of(small)
        assert [plain for _, plain in noted] == [True]
    with monkeypatch.context() as patched:
        patched.setattr(archive.Archive, "find_object", lambda *_: b"no object code")
        kernel.code_of(small)
        assert [plain for _, plain in noted] == [True, True]


@pytest.mark.parametrize("level", ["", "shipped"])
def test_kernels_of_one_fold_share_a_function(
    level: str, noted: list[tuple[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shipped; elsewhere it is made for the first kernel and the others have it."""
    monkeypatch.setattr(kernel, "_functions", {})
    if not level:
        monkeypatch.setattr(kernel, "host", lambda: dataclasses.replace(host(), features=""))
    x = np.linspace(-3.0, 4.0, 1000)
    a = xl.asarray(x)
    xl.cache_clear()
    with xl.config(engine="compiled"):
        found = [xl.sum(a * a), xl.sum(a * a * a), xl.sum(xl.sin(1e9 * a))]
        values = [float(xl.eval(e)) for e in found]
    xl.cache_clear()  # of kernels that call functions which nobody keeps from here on
    np.testing.assert_allclose(values, [np.sum(x * x), np.sum(x**3), np.sum(np.sin(1e9 * x))], 1e-6)
    functions = ["kernel(i64 %values", "kernel(double %a0", "kernel(i64 %block"]
    counts = [sum(name in text for text, _ in noted) for name in functions]
    assert counts == ([0, 0, 3] if level and host().level else [1, 1, 3])


def test_a_damaged_object_is_not_there() -> None:
    objects = {b"name": bytes(range(200))}
    data = bytearray(archive.packed({}, objects))
    assert archive.Archive(bytes(data), archive.digest_of_sources()).find_object(b"name")
    data[-20] ^= 0x55
    assert archive.Archive(bytes(data), archive.digest_of_sources()).find_object(b"name") is None
