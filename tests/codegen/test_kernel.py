"""Keys that change with everything machine code depends on; kernels that are made once."""

from __future__ import annotations

import dataclasses
import gc
import os
import subprocess
import sys
import textwrap
import threading
import types
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.threads import run_all
from xarraylite._config import settings
from xarraylite.codegen import kernel as kernel_module
from xarraylite.codegen import machine, routines, store, worker
from xarraylite.codegen.emit.builder import Builder, Module
from xarraylite.codegen.emit.memory import fetch, keep
from xarraylite.codegen.emit.routine import Routine
from xarraylite.codegen.host import host
from xarraylite.codegen.kernel import Kernels, key_of
from xarraylite.transforms.vectorize import operation

pytestmark = pytest.mark.usefixtures("compiled")


def power(count: int, op: Any = None) -> Module:
    """Read a number from the block, and write its power behind it."""
    b = Builder()
    x = fetch(b, "f64", b.block, 0, "src")
    routine = Routine("f64(a0 * a1)", ("f64", "f64"), "f64", op, "multiply")
    y = x
    for _ in range(count - 1):
        y = b.call(routine, [y, x])
    keep(b, "f64", y, b.block, 1, "dst")
    return b.module()


def called(function: types.FunctionType) -> Module:
    """Call a user's function of one number."""
    b = Builder()
    routine = Routine("f64(user(a0))", ("f64",), "f64", operation(function, None), "user")
    keep(b, "f64", b.call(routine, [fetch(b, "f64", b.block, 0, "src")]), b.block, 1, "dst")
    return b.module()


def function(code: str, **namespace: Any) -> types.FunctionType:
    """Make a function ``f`` of its own module-like namespace."""
    exec(textwrap.dedent(code), namespace)
    made = namespace["f"]
    assert isinstance(made, types.FunctionType)
    return made


# --- keys ----------------------------------------------------------------------------------------


def test_a_key_is_a_function_of_the_ir() -> None:
    texts = [routines.assembled(power(count)) for count in (2, 2, 3)]
    keys = [key_of(text) for text in texts]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == 64


@pytest.mark.parametrize(
    "changes", [{"llvm": "0"}, {"cpu": "z80"}, {"features": "+mmx"}, {"opt": 1}, {"others": "x"}]
)
def test_what_code_is_made_for_changes_the_key(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of("text")
    another = dataclasses.replace(host(), **changes)
    monkeypatch.setattr(kernel_module, "host", lambda: another)
    assert key_of("text") != before


def test_the_pipeline_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of("text")
    monkeypatch.setattr(machine, "PIPELINE", "O0")
    assert key_of("text") != before


MODULE = types.ModuleType("settings_of_somebody")
MODULE.K = 3.0  # type: ignore[attr-defined]


# --- users' functions from end to end ------------------------------------------------------------


def test_functions_of_one_name_are_two() -> None:
    up, twice = xl.vectorize(lambda x: x + 1.0), xl.vectorize(lambda x: x * 2.0)
    a = xl.asarray([1.0, 2.0])
    assert (up(a) - twice(a) * 10).numpy().tolist() == [-18.0, -37.0]


@together("name", ["add", "cast", "sin_f64", "kernel", "block", "load_f64"])
def test_names_of_users_functions_mean_nothing(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def {name}(x):\n    return x * 3.0", namespace)
    f = xl.vectorize(namespace[name])
    a = xl.asarray([1.0, 2.0])
    e = f(a + 1) + xl.astype(xl.asarray([1, 2]), "float64")
    assert e.numpy().tolist() == [7.0, 11.0]
    assert all(
        f"{name}(" not in line and f"{name}." not in line
        for source in xl.explain(e).sources
        for line in source.splitlines()
        if "user" in line
    )


def test_an_exception_in_a_users_function_reaches_the_caller() -> None:
    @xl.vectorize
    def careful(x: float) -> float:
        if x < 0:
            raise ValueError("negative")
        return x * 2

    a = xl.asarray([1.0, 2.0])
    assert careful(a).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="negative"):
        xl.eval(careful(-a))
    many = xl.asarray(np.where(np.arange(2_000_000) == 1_999_999, -1.0, 1.0))
    with xl.config(threads=2), pytest.raises(ValueError, match="negative"):
        xl.eval(careful(many))


def test_a_function_that_allocates_is_called_and_not_kept() -> None:
    @xl.vectorize
    def listed(x: float) -> float:
        values = [x, x]
        values.append(1.0)
        return values[2]

    saves = store.cache_info().saves
    assert xl.eval(listed(xl.ones(2))).tolist() == [1.0, 1.0]
    assert store.cache_info().saves == saves


# --- memory and disk -----------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    return tmp_path / "kernels"


def powers(kernels: Kernels, value: float, count: int = 2) -> float:
    block = np.array([value, 0.0])
    assert kernels.get(count, power).run(block.ctypes.data) == 0
    return float(block[1])


def test_from_llvm_then_from_memory_then_from_disk(place: Path) -> None:
    first = Kernels()
    assert powers(first, 3.0) == 9.0
    assert first.get(2, power) is first.get(2, power)
    assert (first.compiled, first.loaded, len(first)) == (1, 0, 1)
    assert first.get(2, power).origin == "compiled"
    assert first.get(2, power).source == power(2).text
    second = Kernels()
    assert powers(second, 4.0) == 16.0
    assert (second.compiled, second.loaded) == (0, 1)
    assert second.get(2, power).origin == "disk"
    (entry,) = place.iterdir()
    assert entry.stem == key_of(routines.assembled(power(2)))
    second.clear()
    assert len(second) == 0
    assert powers(second, 5.0) == 25.0
    assert second.loaded == 2


def test_an_address_is_the_function(place: Path) -> None:
    import ctypes

    made = Kernels().get(3, power)
    block = np.array([2.0, 0.0])
    call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(made.address)
    assert call(block.ctypes.data) == 0
    assert block[1] == 8.0


def test_private_kernels_stay_in_memory(place: Path) -> None:
    kernels, f = Kernels(), function("def f(x): return x + m.K", m=MODULE)
    block = np.array([2.0, 0.0])
    assert kernels.get(f, called).run(block.ctypes.data) == 0
    assert block[1] == 5.0
    assert not place.exists()
    assert kernels.compiled == 1


def test_a_users_function_is_known_to_the_next_process(place: Path) -> None:
    code = "def f(x): return x * 2.0 + 1.0"
    block = np.array([2.0, 0.0])
    for origin in ("compiled", "disk"):
        routines.text_of.cache_clear()
        made = Kernels().get(function(code), called)
        assert made.origin == origin
        assert made.run(block.ctypes.data) == 0
        assert block[1] == 5.0
    assert len(list(place.iterdir())) == 2  # the kernel, and the function by itself


def test_an_exception_is_a_status() -> None:
    code = """
        def f(x):
            if x < 0:
                raise ValueError("negative")
            return x
    """
    run = Kernels().get(function(code), called).run
    for value, fails in ((1.0, False), (-1.0, True)):
        block = np.array([value, 0.0])
        assert bool(run(block.ctypes.data)) is fails
        assert block[1] == (0.0 if fails else value)


def test_without_the_disk(place: Path) -> None:
    settings.cache = False
    assert powers(Kernels(), 3.0) == 9.0
    assert not place.exists()


def test_a_damaged_entry_is_compiled_again(place: Path) -> None:
    powers(Kernels(), 3.0)
    (entry,) = place.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-100] + bytes(100))
    kernels = Kernels()
    assert powers(kernels, 3.0) == 9.0
    assert (kernels.compiled, kernels.loaded) == (1, 0)
    repaired = Kernels()
    assert powers(repaired, 3.0) == 9.0
    assert (repaired.compiled, repaired.loaded) == (0, 1)


def test_an_object_that_cannot_be_linked_is_made_again(place: Path) -> None:
    """A sound entry under the right key, which calls what this process does not have."""
    b = Builder()
    text = b.module().text.replace("  ret i32 0", "  call void @nowhere_to_be_found()\n  ret i32 0")
    image = machine.compile_object("declare void @nowhere_to_be_found()\n" + text)
    key = key_of(routines.assembled(power(2)))
    store.save(key, image)
    kernels = Kernels()
    assert powers(kernels, 3.0) == 9.0
    assert (kernels.compiled, kernels.loaded) == (1, 0)
    assert store.load(key) not in (None, image)


def test_many_threads_make_a_kernel_once(place: Path) -> None:
    kernels = Kernels()
    results: list[float] = []
    barrier = threading.Barrier(8, timeout=60)

    def call() -> None:
        barrier.wait()
        results.append(powers(kernels, 2.0, 3))

    run_all([threading.Thread(target=call) for _ in range(8)])
    assert results == [8.0] * 8
    assert (kernels.compiled, len(kernels)) == (1, 1)


def test_old_kernels_make_room(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "CAPACITY", 2)
    kernels = Kernels()
    for count in (2, 3, 4):
        powers(kernels, 2.0, count)
    assert len(kernels) == 1  # room is made down to three quarters
    assert powers(kernels, 2.0, 2) == 4.0
    assert kernels.loaded == 1


def test_code_stays_as_long_as_somebody_can_call_it(place: Path) -> None:
    kernels = Kernels()
    made = kernels.get(2, power)
    run, library = made.run, weakref.ref(made.run.library.held)  # type: ignore[attr-defined]
    kernels.clear()
    del made
    gc.collect()
    block = np.array([3.0, 0.0])
    assert run(block.ctypes.data) == 0
    assert block[1] == 9.0
    assert library() is not None
    del run
    gc.collect()
    worker.run(lambda: None)  # after what was posted to it
    assert library() is None


MEMORY = """
    import gc
    from tests.codegen.test_kernel import power
    from xarraylite._config import settings
    from xarraylite.codegen.kernel import Kernels
    settings.cache = False
    kernels = Kernels()
    def resident():
        gc.collect()
        with open("/proc/self/statm") as pages:
            return int(pages.read().split()[1]) * 4096
    def turn(start):
        for count in range(start, start + 40):
            kernels.get(count, power)
        kernels.clear()
    turn(2)
    before = resident()
    for _ in range(5):
        turn(2)
    print((resident() - before) / 200)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
def test_kernels_that_are_forgotten_leave_no_memory(place: Path) -> None:
    root = str(Path(__file__).parents[2])
    per_kernel = float(run_script(MEMORY, place, PYTHONPATH=root))
    assert per_kernel < 20_000  # 60 000 or more where LLVM's passes were not freed


def test_a_kernel_that_cannot_be_compiled_leaves_nothing_locked(place: Path) -> None:
    kernels = Kernels()

    def broken(spec: int) -> Module:
        return Module(power(spec).text.replace("store double", "store nonsense"), ())

    for _ in range(2):
        with pytest.raises(RuntimeError, match="nonsense"):
            kernels.get(2, broken)
    assert powers(kernels, 2.0) == 4.0


def test_objects_hold_raw_memory_accesses_only() -> None:
    """Nothing of Numba's runtime: that is why a process without Numba can load them."""
    image = machine.compile_object(routines.assembled(power(2)))
    assert b"NRT_" not in image
    assert b"numba_" not in image


# --- other processes -----------------------------------------------------------------------------


def run_script(code: str, place: Path, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "XARRAYLITE_CACHE_DIR": str(place), "XARRAYLITE_ENGINE": "auto"}
        | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


PROGRAM = """
    import sys
    import numpy as np
    import xarraylite as xl
    a = xl.asarray(np.arange(24.0).reshape(4, 6))
    b = xl.asarray(np.arange(6, dtype=np.float32))
    @xl.vectorize
    def soft(x):
        return x - 1.0 if x > 1.0 else 0.0
    results = [
        a * 2 + b,
        xl.sum(xl.exp(a / 24) * b, axis=0),
        xl.astype(a.T, "bfloat16"),
        xl.max(soft(a)),
        xl.concat([a, a[:1]])[::-1],
    ]
    a[1:] = a[:-1] + 1
    print([np.asarray(xl.astype(xl.eval(r), "float64")).tobytes().hex() for r in results])
    info = xl.cache_info()
    print(info.compiled, info.loaded, "numba" in sys.modules)
"""


def test_a_later_process_needs_no_numba(place: Path) -> None:
    first, counts = run_script(PROGRAM, place).splitlines()
    compiled, loaded, numba = counts.split()
    assert (int(compiled) > 5, int(loaded), numba) == (True, 0, "True")  # for the function
    again, counts = run_script(PROGRAM, place).splitlines()
    assert counts == f"0 {compiled} False"
    assert again == first


def test_without_numba_or_with_its_compiler_off_numpy_evaluates(place: Path) -> None:
    expected = run_script(PROGRAM, place, XARRAYLITE_ENGINE="reference").splitlines()
    off = run_script(PROGRAM, place, NUMBA_DISABLE_JIT="1").splitlines()
    assert off == expected
    assert off[1] == "0 0 False"
    hidden = "import sys; sys.modules['numba'] = None\n" + textwrap.dedent(PROGRAM)
    blocked = run_script(hidden.replace('"numba" in sys.modules', "False"), place)
    assert blocked.splitlines()[0] == expected[0]


def test_a_users_function_needs_the_compiler_that_is_off(place: Path) -> None:
    code = """
        import xarraylite as xl
        from xarraylite._errors import XarrayliteError
        try:
            with xl.config(engine="compiled"):
                print(xl.eval(xl.ones(3) + 1).numpy().tolist())
                xl.eval(xl.vectorize(lambda x: x + 1.0)(xl.ones(3)))
        except XarrayliteError as error:
            print(error)
    """
    known, users = run_script(code, place, NUMBA_DISABLE_JIT="1").splitlines()
    assert known == "[2.0, 2.0, 2.0]"
    assert "NUMBA_DISABLE_JIT switches off" in users


USERS = """
    import math, types
    import numpy as np
    import xarraylite as xl
    f = xl.vectorize(lambda x: math.ldexp(x, 3) + math.sqrt(x))
    g = xl.vectorize(lambda x: x ** x)
    a, z = xl.asarray([1.0, 4.0]), xl.asarray([1j, 2.0])
    assert xl.eval(f(a) + xl.sqrt(a)).numpy().tolist() == [10.0, 36.0]
    np.testing.assert_allclose(xl.eval(g(z) * z).numpy(), [1j ** 1j * 1j, 8.0])
    somebody = types.ModuleType("somebody")
    somebody.K = {k}
    @xl.vectorize
    def f(x):
        return x * somebody.K
    @xl.vectorize
    def g(x):
        return x * C
    C = {k}
    print(float(f(xl.ones(1))[0]), float(g(xl.ones(1))[0]))
"""


def test_users_functions_are_right_in_the_next_process_too(place: Path) -> None:
    """What calls Numba's helpers, and what reads constants of its own module and of another one."""
    for k in (2.0, 3.0):
        assert run_script(USERS.format(k=k), place) == f"{k} {k}"


def test_processes_that_race_for_one_cache(place: Path) -> None:
    """Different dtypes of one expression, compiled at the same time into one directory."""
    code = """
        import sys, numpy as np, xarraylite as xl
        for name in sys.argv[1:] or ["float64", "int64", "float32"]:
            a = np.arange(10).astype(name)
            assert (xl.eval(xl.asarray(a) * 3 + 1).numpy() == a * 3 + 1).all(), name
            assert float(xl.sum(xl.asarray(a))) == 45, name
        print("right")
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    environment = {
        **os.environ,
        "XARRAYLITE_CACHE_DIR": str(place),
        "XARRAYLITE_ENGINE": "compiled",
    }
    racers = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [racer.communicate(timeout=120)[0].strip() for racer in racers] == ["right"] * 3
    assert run_script(code, place) == "right"
    assert all(entry.suffix == ".xlk" for entry in place.iterdir())
