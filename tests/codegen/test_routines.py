"""Scalar routines: the archive is what Numba makes of the bodies, and everything is in it."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from xarraylite._config import settings
from xarraylite.codegen import archive, jit, machine, routines, store
from xarraylite.codegen.archive import Archive
from xarraylite.codegen.cpython import outside
from xarraylite.codegen.emit import routine
from xarraylite.codegen.emit.routine import Routine
from xarraylite.codegen.host import host
from xarraylite.ops.table import OPS
from xarraylite.transforms.shipped import assemblies, functions

AGAIN = "run `python -m xarraylite.transforms.shipped` and look at the difference"
known = functools.cache(lambda: list(routines.known()))  # which takes seconds
ADD = Routine("f64(a0 + a1)", ("f64", "f64"), "f64")
F64 = np.dtype(np.float64)

#: What functions over Python's objects call.
OUTSIDE = {found.name for found in outside.functions().values()}


# --- the file ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("by_python")
def test_the_archive_is_that_of_the_sources() -> None:
    shipped = archive.archive()
    assert shipped.index, f"the bodies were edited; {AGAIN}"
    assembled = [*[assembly.name for assembly in assemblies()], *functions()]
    assert set(shipped.index) == archive.names(known(), assembled), AGAIN


def test_every_module_that_decides_is_a_source() -> None:
    package = "xarraylite."
    makers = {f.__module__ for f in jit.scalar_library().values()} | {jit.__name__}
    assert {name.removeprefix(package) for name in makers} <= set(archive.sources())


MADE_AGAIN = """
    import json, os, sys
    os.environ.update(NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    from xarraylite.codegen import archive, jit, routines
    known = list(routines.known())[::600]
    print(json.dumps([r.text for r in known if jit.routine_text(r) != archive.archive().find(r)]))
"""


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="3.11 made them; others order blocks")
def test_numba_makes_the_same_of_the_bodies() -> None:
    """A sample: that the archive is of these sources is what its digest says."""
    command = [sys.executable, "-c", textwrap.dedent(MADE_AGAIN)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=280, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [], AGAIN


def test_packing_is_deterministic_and_lossless() -> None:
    texts = {made: routines.text_of(made) for made in known()[::50]}
    objects = {b"a name": bytes(100), b"another": b"ELF"}
    data = archive.packed(texts, objects)
    assert data == archive.packed(dict(reversed(texts.items())), dict(reversed(objects.items())))
    found = Archive(data, archive.digest_of_sources())
    assert {name: found.find_object(name) for name in objects} == objects
    assert found.find_object(b"no name") is None
    assert {made: found.find(made) for made in texts} == texts
    assert found.find(ADD) in (None, texts.get(ADD))


@pytest.mark.parametrize("damage", ["", "digest", "magic", "short", "entry"])
def test_what_is_not_sound_is_not_there(damage: str) -> None:
    data = bytearray(archive.packed({ADD: "text of an addition, long enough to be damaged"}))
    digest = archive.digest_of_sources()
    if damage == "digest":
        digest = bytes(32)
    elif damage == "magic":
        data[0] ^= 1
    elif damage == "short":
        del data[60:]
    elif damage == "entry":
        data[-20] ^= 0x55
    found = Archive(bytes(data), digest).find(ADD)
    assert (found is None) is bool(damage)


# --- what is in it -------------------------------------------------------------------------------


def test_texts_are_one_plain_function_each() -> None:
    for made in known()[::10]:
        text = routines.text_of(made)
        assert text.count("define internal") == text.count("\n}"), made.hint
        assert f"define internal {made.returns} @body(" in text, made.hint
        assert not re.search(r"#\d|!|%[a-zA-Z.]|<\d+ x |target|NRT|numba|fma\b", text), made.hint


def test_no_routine_calls_more_than_the_c_library_has() -> None:
    outside: set[str] = set()
    for made in known():
        outside |= set(re.findall(r"declare .*?@([\w.]+)\(", routines.text_of(made)))
    ours = {name for name in outside if not name.startswith("llvm.")}
    own = {f"xl.{name}.f{bits}" for name in ("muladd", "fused") for bits in (32, 64)}
    assert ours <= {"sqrt", "sqrtf"} | own | OUTSIDE


def test_muladd_is_the_machines() -> None:
    fused = machine.muladd("xl.muladd.f64", "double")
    assert ("llvm.fma.f64" in fused) is host().fuses


# --- where texts come from -----------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    monkeypatch.setattr(archive, "archive", lambda: Archive(b"", b""))
    routines.text_of.cache_clear()
    yield tmp_path / "kernels"
    routines.text_of.cache_clear()


def test_what_is_not_in_the_archive_is_made_once_and_kept(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = routines.text_of(ADD)
    assert "fadd double %0, %1" in expected
    assert len(list(place.iterdir())) == 1
    routines.text_of.cache_clear()
    monkeypatch.setattr(jit, "routine_text", lambda made: pytest.fail("made again"))
    assert routines.text_of(ADD) == expected


def test_an_entry_of_another_body_is_not_taken(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    routines.text_of(ADD)
    routines.text_of.cache_clear()
    monkeypatch.setattr(archive, "digest_of_sources", lambda: bytes(32))
    saves = store.cache_info().saves
    routines.text_of(ADD)
    assert store.cache_info().saves == saves + 1


def test_equal_expressions_are_one_routine() -> None:
    int64, longlong = np.dtype("q"), np.dtype("l")
    one = routine.apply(OPS["add"], (int64, int64), int64)
    assert one == routine.apply(OPS["add"], (longlong, longlong), longlong)
    assert one != routine.apply(OPS["subtract"], (int64, int64), int64)
    assert routine.apply(OPS["maximum"], (F64, F64), F64) != one


# --- known operations never need Numba -----------------------------------------------------------

EVERYTHING = """
    import sys
    import numpy as np
    import xarraylite as xl
    from xarraylite._errors import DTypeError
    from xarraylite.ops.reductions import REDUCTIONS
    from xarraylite.ops.table import OPS
    from xarraylite.arrays.expression import apply
    from xarraylite.codegen import machine
    names = sys.argv[1].split()
    xl.config(engine="compiled", cache=False)
    nothing = "define i32 @kernel(i64 %block) {\\n  ret i32 0\\n}"
    compiled = machine.compile_object
    def instead(text, plain=False):
        return compiled(text if plain else nothing, True)
    xl.eval(xl.ones(5) + xl.ones(5))  # LLVM is loaded, and one kernel is whole
    machine.compile_object = instead  # of others the text is all that is asked for
    done = 0
    for turn, op in enumerate(OPS.values()):  # two of the dtypes each
        for name in names[turn % 2 :: 2]:
            values = [xl.ones(5, dtype=name)] * op.arity
            try:
                e = apply(op, *values)
            except DTypeError:
                continue
            xl.eval(e)
            done += 1
    for name in names:
        a = xl.ones((3, 4), dtype=name)
        for axis in (None, 0, 1):
            xl.eval(xl.max(a, axis=axis))
            xl.eval(xl.sum(a, axis=axis))
        xl.eval(xl.astype(a, "float32"))
        xl.eval(a[[2, 0]])
    info = xl.cache_info()
    print(done, info.compiled, "numba" in sys.modules)
"""


def test_known_operations_never_import_numba(tmp_path: Path) -> None:
    names = "float64 bfloat16 int4 uint64"
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(EVERYTHING), names]
    environment = {**os.environ, "XARRAYLITE_CACHE_DIR": str(tmp_path / "kernels")}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=280, env=environment
    )
    assert done.returncode == 0, done.stderr
    count, compiled, numba = done.stdout.split()
    assert int(count) > 60
    assert int(compiled) > 60
    assert numba == "False"
