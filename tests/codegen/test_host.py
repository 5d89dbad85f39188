"""What code is made for: the same for the compiler and the key, and Numba's for what it steers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from xarraylite.codegen import worker
from xarraylite.codegen.host import Host, host

numba = pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Start without variables, in a directory without Numba's file."""
    import os

    for name in os.environ:
        if name.startswith("NUMBA_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def test_it_is_this_machine() -> None:
    binding = pytest.importorskip("llvmlite.binding")
    here = host()
    assert (here.triple, here.cpu) == (binding.get_process_triple(), binding.get_host_cpu_name())
    assert here.features == binding.get_host_cpu_features().flatten()
    assert (here.opt, here.loop_vectorize, here.slp_vectorize) == (3, True, False)
    machine = worker.run(here.target_machine)
    assert machine.triple == here.triple


def test_it_fuses_where_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    if host().triple.startswith("aarch64"):
        assert host().fuses
        return
    for features, fuses in [("+avx,+fma,+sse2", True), ("+avx,-fma", False), ("+fma4", False)]:
        monkeypatch.setenv("NUMBA_CPU_FEATURES", features)
        assert host().fuses is fuses


def test_elements_are_loaded_one_by_one(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not host().triple.startswith("x86_64"):
        assert host().tuned == host().features
        return
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+sse2")
    assert host().tuned == "+sse2"
    monkeypatch.setenv("NUMBA_CPU_FEATURES", "+avx,+avx2")
    assert host().tuned == "+avx,+avx2,+prefer-no-gather"
    worker.run(host().target_machine)
    assert "not a recognized feature" not in capfd.readouterr().err


CHANGES = [
    ("NUMBA_CPU_NAME", "generic"),
    ("NUMBA_CPU_NAME", "nocona"),
    ("NUMBA_CPU_FEATURES", "+sse2"),
    ("NUMBA_CPU_FEATURES", ""),
    ("NUMBA_ENABLE_AVX", "0"),
    ("NUMBA_OPT", "1"),
    ("NUMBA_LOOP_VECTORIZE", "0"),
    ("NUMBA_SLP_VECTORIZE", "1"),
    ("NUMBA_BOUNDSCHECK", "1"),
    ("NUMBA_NOT_YET_INVENTED", "1"),
]


@pytest.mark.parametrize(("name", "value"), CHANGES)
def test_every_variable_is_in_the_key(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    before = host().parts()
    monkeypatch.setenv(name, value)
    assert host().parts() != before
    monkeypatch.delenv(name)
    assert host().parts() == before


def test_the_file_that_numba_reads_is_in_the_key(tmp_path: Path) -> None:
    before = host().parts()
    (tmp_path / ".numba_config.yaml").write_text("opt: 1\n")
    assert host().parts() != before


def test_where_numba_keeps_files_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    before = host().parts()
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nowhere")
    assert host().parts() == before


NUMBA = """
import os, sys, warnings
warnings.simplefilter("ignore")
from numba.core import config
from numba.core.registry import cpu_target
codegen = cpu_target.target_context.codegen()
for change in sys.argv[1:]:
    name, value = change.split("=")
    os.environ[name] = value
    config.reload_config()
    print(repr((codegen._get_host_cpu_name(), codegen._get_host_cpu_features(), int(config.OPT),
                bool(config.LOOP_VECTORIZE), bool(config.SLP_VECTORIZE))))
    del os.environ[name]
"""


def test_numba_understands_them_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    changes = [*CHANGES, ("NUMBA_OPT", "max"), ("NUMBA_OPT", "fast"), ("NUMBA_X", "1")]
    command = [sys.executable, "-c", NUMBA, *[f"{name}={value}" for name, value in changes]]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=100)
    for (name, value), told in zip(changes, done.stdout.splitlines(), strict=True):
        with monkeypatch.context() as changed:
            changed.setenv(name, value)
            ours: Host = host()
        expected = (ours.cpu, ours.features, ours.opt, ours.loop_vectorize, ours.slp_vectorize)
        assert told == repr(expected), (name, value)
