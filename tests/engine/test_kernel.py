"""Keys that change with everything machine code depends on; kernels that are made once."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite._config import settings
from xarraylite._errors import DTypeError
from xarraylite.containers.vectorize import _operation
from xarraylite.engine import kernel as kernel_module
from xarraylite.engine import store
from xarraylite.engine.kernel import (
    EXCEPTION_SLOT,
    RETURN_SLOT,
    Kernels,
    compile_object,
    key_of,
    scalar_library,
)
from xarraylite.ops.user import is_closed

pytestmark = pytest.mark.usefixtures("compiled")

SOURCE = textwrap.dedent(
    """
    def kernel(block):
        x = load_f64(block + 0, 0)
        store_f64(block + 8, 0, f64(x * x))
    """
)


def function(code: str, **namespace: Any) -> types.FunctionType:
    """Make a function ``f`` of its own module-like namespace."""
    exec(textwrap.dedent(code), namespace)
    made = namespace["f"]
    assert isinstance(made, types.FunctionType)
    return made


# --- keys ----------------------------------------------------------------------------------------


def test_a_key_is_a_function_of_what_it_is_made_of() -> None:
    assert key_of(SOURCE, {}) == key_of(SOURCE, {})
    assert len(key_of(SOURCE, {})) == 64


def test_source_and_tag_change_the_key() -> None:
    keys = {key_of(SOURCE, {}), key_of(SOURCE + "# \n", {}), key_of(SOURCE, {}, "private")}
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_FLAGS", "error_model=numpy fastmath=on"),
        ("_versions", lambda: "numba=0.0.0"),
        ("_machine", lambda: "x86_64-unknown-linux-gnu skylake +avx512f"),
    ],
)
def test_flags_versions_and_cpu_change_the_key(
    name: str, value: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = key_of(SOURCE, {})
    monkeypatch.setattr(kernel_module, name, value)
    assert key_of(SOURCE, {}) != before


@pytest.mark.parametrize("name", ["numba", "llvmlite", "numpy", "xarraylite"])
def test_every_version_counts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = kernel_module._version
    before = kernel_module._versions.__wrapped__()
    monkeypatch.setattr(kernel_module, "_version", lambda n: "9.9" if n == name else real(n))
    assert kernel_module._versions.__wrapped__() != before
    assert f"{name}=9.9" in kernel_module._versions.__wrapped__()


def test_the_cpus_features_count() -> None:
    import llvmlite.binding as llvm

    machine = kernel_module._machine()
    assert llvm.get_host_cpu_name() in machine
    assert all(
        f"{'+' if on else '-'}{name}" in machine
        for name, on in llvm.get_host_cpu_features().items()
    )


def test_the_intrinsics_count() -> None:
    """Kernels are made of them as much as of scalar functions."""
    path = Path(kernel_module.__file__).with_name("intrinsics.py")
    assert path.read_text(encoding="utf-8") in kernel_module._versions()


def test_every_scalar_function_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    source = SOURCE.replace("f64(x * x)", "sin_f64(x)")
    before, unrelated = key_of(source, {}), key_of(SOURCE, {})
    real = kernel_module.scalar_library()
    name = next(n for n in kernel_module.users(real["sin_f64"]) if n in real)
    changed = {**real, name: function("def f(x):\n    return x")}
    monkeypatch.setattr(kernel_module, "scalar_library", lambda: changed)
    assert key_of(source, {}) != before
    assert key_of(SOURCE, {}) == unrelated


def test_every_function_of_the_library_has_its_own_fingerprint() -> None:
    prints = {name: kernel_module._fingerprint(f) for name, f in scalar_library().items()}
    assert len(set(prints.values())) > 0.9 * len(prints)


USER: dict[str, tuple[str, dict[str, Any], str, dict[str, Any]]] = {
    "code": ("def f(x): return x + 1", {}, "def f(x): return x - 1", {}),
    "constant": ("def f(x): return x + 1", {}, "def f(x): return x + 2", {}),
    "type of a constant": ("def f(x): return x + 1", {}, "def f(x): return x + 1.0", {}),
    "sign of a zero": ("def f(x): return x * 0.0", {}, "def f(x): return x * -0.0", {}),
    "global constant": ("def f(x): return x + K", {"K": 1}, "def f(x): return x + K", {"K": 2}),
    "type of a global": ("def f(x): return x + K", {"K": 1}, "def f(x): return x + K", {"K": 1.0}),
    "NumPy constant": (
        "def f(x): return x + K",
        {"K": np.float32(1)},
        "def f(x): return x + K",
        {"K": np.float64(1)},
    ),
    "global used": (
        "def f(x): return x + K",
        {"K": 1, "L": 1},
        "def f(x): return x + L",
        {"K": 1, "L": 1},
    ),
    "nested code": (
        "def f(x):\n    g = lambda y: y + K\n    return g(x)",
        {"K": 1},
        "def f(x):\n    g = lambda y: y + K\n    return g(x)",
        {"K": 2},
    ),
    "operator": ("def f(x): return x // 2", {}, "def f(x): return x / 2", {}),
    "branch": (
        "def f(x): return x if x > 0 else -x",
        {},
        "def f(x): return x if x < 0 else -x",
        {},
    ),
    "called function": (
        "def f(x): return m.sin(x)",
        {"m": math},
        "def f(x): return m.cos(x)",
        {"m": math},
    ),
}


@pytest.mark.parametrize("case", USER.values(), ids=USER.keys())
def test_whatever_changes_a_users_function_changes_the_key(
    case: tuple[str, dict[str, Any], str, dict[str, Any]],
) -> None:
    source = SOURCE.replace("f64(x * x)", "user_0(x)")
    one, again = function(case[0], **case[1]), function(case[0], **case[1])
    other = function(case[2], **case[3])
    assert key_of(source, {"user_0": one}) == key_of(source, {"user_0": again})
    assert key_of(source, {"user_0": one}) != key_of(source, {"user_0": other})


def with_cell(value: float) -> Any:
    def f(x: float) -> float:
        return x + value

    return f


MODULE = types.ModuleType("settings_of_somebody")
MODULE.K = 3.0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("code", "namespace", "closed"),
    [
        ("def f(x): return x + 1", {}, True),
        ("def f(x): return x + K", {"K": 2.5}, True),
        ("def f(x): return math.sin(x) + np.pi", {"math": math, "np": np}, True),
        ("def f(x): return abs(x)", {}, True),
        # Their values are not in the key, so these kernels stay in memory.
        ("def f(x): return x + somebody.K", {"somebody": MODULE}, False),
        ("def f(x): return g(x)", {"g": with_cell(1)}, False),
        ("def f(x): return x + K[0]", {"K": np.ones(1)}, False),
        ("def f(x):\n    h = lambda y: g(y)\n    return h(x)", {"g": with_cell(1)}, False),
    ],
)
def test_functions_that_a_key_can_describe(
    code: str, namespace: dict[str, Any], closed: bool
) -> None:
    assert is_closed(function(code, **namespace)) is closed


def test_closures_are_not_described_by_their_code() -> None:
    assert not is_closed(with_cell(1.0))


def test_a_helper_that_comes_later_is_seen() -> None:
    """The decorator runs before the rest of the module does."""
    namespace: dict[str, Any] = {}
    exec("def f(x): return later(x)", namespace)
    op = _operation(namespace["f"], None)
    namespace["later"] = with_cell(1.0)
    assert op.private


# --- users' functions from end to end ------------------------------------------------------------


def test_functions_of_one_name_are_two() -> None:
    up, twice = xl.vectorize(lambda x: x + 1.0), xl.vectorize(lambda x: x * 2.0)
    a = xl.asarray([1.0, 2.0])
    assert (up(a) - twice(a) * 10).numpy().tolist() == [-18.0, -37.0]


@pytest.mark.parametrize("name", ["add", "cast", "sin_f64", "kernel", "block", "load_f64"])
def test_names_of_users_functions_mean_nothing(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(f"def {name}(x):\n    return x * 3.0", namespace)
    f = xl.vectorize(namespace[name])
    a = xl.asarray([1.0, 2.0])
    e = f(a + 1) + xl.astype(xl.asarray([1, 2]), "float64")
    assert e.numpy().tolist() == [7.0, 11.0]
    assert name == "add" or all(
        f"{name}(" not in line
        for source in xl.explain(e).sources
        for line in source.splitlines()
        if "user_" in line
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


def test_a_function_that_allocates_is_refused_and_not_kept() -> None:
    @xl.vectorize
    def listed(x: float) -> float:
        values = [x, x]
        values.append(1.0)
        return values[2]

    saves = store.cache_info().saves
    with pytest.raises(DTypeError, match="vectorize: listed: a function of scalars that makes"):
        xl.eval(listed(xl.ones(2)))
    assert store.cache_info().saves == saves


# --- memory and disk -----------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    return tmp_path / "kernels"


def square(kernels: Kernels, value: float, source: str = SOURCE) -> float:
    block = np.array([value, 0.0])
    run = kernels.get(source).run
    assert run(RETURN_SLOT, EXCEPTION_SLOT, block.ctypes.data) == 0
    return float(block[1])


def test_from_the_compiler_then_from_memory_then_from_disk(place: Path) -> None:
    first = Kernels()
    assert square(first, 3.0) == 9.0
    assert first.get(SOURCE) is first.get(SOURCE)
    assert (first.compiled, first.loaded, len(first)) == (1, 0, 1)
    assert first.get(SOURCE).origin == "compiled"
    second = Kernels()
    assert square(second, 4.0) == 16.0
    assert (second.compiled, second.loaded) == (0, 1)
    assert second.get(SOURCE).origin == "disk"
    (entry,) = place.iterdir()
    assert entry.stem == key_of(SOURCE, {})
    second.clear()
    assert len(second) == 0
    assert square(second, 5.0) == 25.0
    assert second.loaded == 2


def test_private_kernels_stay_in_memory(place: Path) -> None:
    kernels = Kernels()
    kernels.get(SOURCE, {}, "private")
    assert not place.exists()
    assert kernels.compiled == 1


def test_without_the_disk(place: Path) -> None:
    settings.cache = False
    kernels = Kernels()
    assert square(kernels, 3.0) == 9.0
    assert not place.exists()


def test_a_damaged_entry_is_compiled_again(place: Path) -> None:
    square(Kernels(), 3.0)
    (entry,) = place.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-100] + bytes(100))
    kernels = Kernels()
    assert square(kernels, 3.0) == 9.0
    assert (kernels.compiled, kernels.loaded) == (1, 0)
    repaired = Kernels()
    assert square(repaired, 3.0) == 9.0
    assert (repaired.compiled, repaired.loaded) == (0, 1)


def test_many_threads_make_a_kernel_once(place: Path) -> None:
    kernels = Kernels()
    source = SOURCE.replace("x * x", "x * x * x")
    results: list[float] = []
    barrier = threading.Barrier(8, timeout=60)

    def call() -> None:
        barrier.wait()
        results.append(square(kernels, 2.0, source))

    callers = [threading.Thread(target=call) for _ in range(8)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    assert results == [8.0] * 8
    assert (kernels.compiled, len(kernels)) == (1, 1)


def test_old_kernels_make_room(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_module, "CAPACITY", 2)
    kernels = Kernels()
    for power in ("x", "x + 1.0", "x + 2.0"):
        square(kernels, 2.0, SOURCE.replace("x * x", power))
    assert len(kernels) == 2
    assert square(kernels, 2.0, SOURCE.replace("x * x", "x")) == 2.0
    assert kernels.loaded == 1


def test_a_kernel_that_cannot_be_compiled_leaves_nothing_locked(place: Path) -> None:
    kernels = Kernels()
    broken = SOURCE.replace("x * x", "nowhere")
    for _ in range(2):
        with pytest.raises(Exception, match="nowhere"):
            kernels.get(broken)
    assert square(kernels, 2.0) == 4.0


def test_objects_hold_raw_memory_accesses_only() -> None:
    """Nothing of Numba's runtime: that is why a process without Numba can load them."""
    image = compile_object(SOURCE, {})
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
    assert (int(compiled) > 5, int(loaded), numba) == (True, 0, "True")
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


def test_asking_for_the_compiler_when_it_is_off_is_an_error(place: Path) -> None:
    code = """
        import xarraylite as xl
        from xarraylite._errors import XarrayliteError
        try:
            with xl.config(engine="compiled"):
                xl.eval(xl.ones(3) + 1)
        except XarrayliteError as error:
            print(error)
    """
    assert "NUMBA_DISABLE_JIT switches off" in run_script(code, place, NUMBA_DISABLE_JIT="1")


USER_CONSTANT = """
    import sys, types
    import xarraylite as xl
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


def test_a_changed_constant_is_never_stale(place: Path) -> None:
    """Of the function's own module, and of another one."""
    for k in (2.0, 3.0):
        assert run_script(USER_CONSTANT.format(k=k), place) == f"{k} {k}"


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
