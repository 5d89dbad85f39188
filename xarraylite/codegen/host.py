"""The machine that code is made for: one description, for the compiler and for the key of its code.

Code runs where it may use every instruction the compiler was allowed to.  So whatever the target
machine is made from is part of the key under which code is stored, and both come from one
place: `host` reads the processor and Numba's environment variables, `Host.target_machine` and
`Host.parts` use nothing else.

Numba's users steer its compiler by variables, and expect them to hold for us too, whose scalar
bodies Numba compiles: ``NUMBA_CPU_NAME``, ``NUMBA_CPU_FEATURES``, ``NUMBA_ENABLE_AVX``,
``NUMBA_OPT``, ``NUMBA_LOOP_VECTORIZE`` and ``NUMBA_SLP_VECTORIZE`` are honoured by Numba's own
rules (``numba/core/config.py``, ``codegen.py``).  All its other variables, and the configuration
file that it reads from the current directory, only go into the key: one that changes nothing costs
a compilation, one that was overlooked would cost a wrong result.  Those that say where Numba keeps
files, or what it prints, are left out.
"""

from __future__ import annotations

import dataclasses
import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any

from .._lazy_import import imported
from .._records import record
from . import store, worker

#: What the key leaves out: files, messages and threads, none of which reaches compiled code.
_HARMLESS = frozenset(
    {
        "NUMBA_CACHE_DIR",
        "NUMBA_CACHE_LOCATOR_CLASSES",
        "NUMBA_COLOR_SCHEME",
        "NUMBA_DEVELOPER_MODE",
        "NUMBA_DISABLE_JIT",
        "NUMBA_DISABLE_PERFORMANCE_WARNINGS",
        "NUMBA_FULL_TRACEBACKS",
        "NUMBA_FUNCTION_CACHE_SIZE",
        "NUMBA_NUM_THREADS",
        "NUMBA_SHOW_HELP",
        "NUMBA_THREADING_LAYER",
        "NUMBA_THREADING_LAYER_PRIORITY",
    }
)

#: Read by Numba from the current directory.
_FILE = ".numba_config.yaml"

#: A number of the time since the machine was started, and what it says of its processors.
_BOOT, _PROCESSORS = "/proc/sys/kernel/random/boot_id", "/proc/cpuinfo"

#: Lines that say which processor it is, and what it has.
_NAMED = ("vendor_id", "cpu family", "model", "stepping", "flags")

#: What object code is made for that comes with the package: the instructions that every processor
#: of the kind has.
PLATFORM, BASELINE = "x86_64-unknown-linux-gnu", "x86-64"

_V3 = frozenset({"+avx", "+avx2", "+bmi", "+bmi2", "+f16c", "+fma", "+lzcnt", "+movbe"})

#: Sets of instructions that processors of that kind have, each by LLVM's names, for which object
#: code comes with the package that computes; the largest first.
LEVELS = {
    "x86-64-v4": _V3 | {f"+avx512{name}" for name in ("f", "bw", "cd", "dq", "vl")},
    "x86-64-v3": _V3,
}

#: Processors on which Numba does not use AVX unless it is told to.
_WITHOUT_AVX = frozenset({"corei7-avx", "core-avx-i", "sandybridge", "ivybridge", "nocona"})


@record(frozen=True, slots=True)
class Host:
    """What code is made for.

    Attributes
    ----------
    triple, cpu, features : str
        As LLVM writes them; the features say which instructions may be used.
    opt : int
        Level of optimisation, 0 to 3.
    loop_vectorize, slp_vectorize : bool
        Whether the two vectorisers run.
    llvm : str
        Versions of the compiler.
    others : str
        Numba's other settings.
    """

    triple: str
    cpu: str
    features: str
    opt: int
    loop_vectorize: bool
    slp_vectorize: bool
    llvm: str
    others: str

    @property
    def is_usual(self) -> bool:
        """Whether it runs what `any_of_its_kind` stands for."""
        kind, *_, system = PLATFORM.split("-")[:3]
        return self.triple.startswith(f"{kind}-") and f"-{system}" in self.triple

    @property
    def level(self) -> str:
        """The largest of `LEVELS` that it has; empty if it has none."""
        has = set(self.features.split(",")) if self.is_usual else set()
        return next((name for name, needed in LEVELS.items() if needed <= has), "")

    @property
    def fuses(self) -> bool:
        """Whether a multiply-add may be one instruction (all 64-bit ARM processors have it)."""
        return "+fma" in self.features.split(",") or self.triple.startswith("aarch64")

    @property
    def converts_halves(self) -> bool:
        """Whether it has instructions from float16 to float32 and back (aarch64 always does)."""
        return "+f16c" in self.features.split(",") or self.triple.startswith("aarch64")

    @property
    def tuned(self) -> str:
        """The features, and that elements are loaded one by one, not gathered.

        The instruction that gathers a vector of elements is the slower way on the processors of
        both makers: it waits for all of them, so little is fetched at a time where they are not
        near.
        """
        gathers = "+avx2" in self.features.split(",")
        return f"{self.features},+prefer-no-gather" if gathers else self.features

    def parts(self) -> tuple[str, ...]:
        """Return everything, as parts of a key (`store.cache_key`)."""
        return repr(self), self.tuned

    def target_machine(self) -> Any:
        """Return a new ``llvmlite.binding.TargetMachine``; to be called on the worker.

        Its code may lie anywhere in memory and calls the process's functions at full distance.
        """
        binding = llvm()
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
        return binding.Target.from_triple(self.triple).create_target_machine(
            cpu=self.cpu, features=self.tuned, opt=self.opt, codemodel="jitdefault", jit=True
        )


def any_of_its_kind(cpu: str = BASELINE) -> Host:
    """Return what code is made for that runs on every x86-64 processor under Linux, of a level."""
    return dataclasses.replace(host(), triple=PLATFORM, cpu=cpu, features="")


@cache
def llvm() -> Any:
    """Import LLVM's bindings, which takes half as long as NumPy, when they are first needed."""
    return imported("llvmlite.binding")


def host() -> Host:
    """Return what code is made for, as the environment has it now; any thread may ask."""
    variables, file = _variables(), _file()
    found = _known.get((variables, file))
    if found is None:
        found = worker.run(lambda: _described(variables, file))
        _known[variables, file] = found
    return found


_known: dict[tuple[tuple[tuple[str, str], ...], bytes], Host] = {}


def _variables() -> tuple[tuple[str, str], ...]:
    named = [item for item in os.environ.items() if item[0].startswith("NUMBA_")]
    return tuple(sorted(item for item in named if item[0] not in _HARMLESS))


def _file() -> bytes:
    try:
        return _read(_FILE)
    except OSError:  # usually there is none
        return b""


def _read(path: str, most: int = -1) -> bytes:
    """Return all bytes of a file, or the first ones."""
    with open(path, "rb", buffering=0) as file:
        return file.read(most)


def _described(variables: tuple[tuple[str, str], ...], file: bytes) -> Host:
    environ = dict(variables)

    def take(name: str, read: Callable[[str], Any], default: Any) -> Any:
        text = environ.pop(f"NUMBA_{name}", None)
        try:
            return default if text is None else read(text)
        except ValueError:  # Numba, too, takes the default, and warns when it is imported
            return default

    triple, own, found, version = _processor()
    cpu = take("CPU_NAME", str, own)
    avx = take("ENABLE_AVX", int, cpu not in _WITHOUT_AVX)
    own = found if avx else found.replace("+avx", "-avx")
    features = take("CPU_FEATURES", str, "" if cpu.lower() == "generic" else own)
    return Host(
        triple=triple,
        cpu=cpu,
        features=features,
        opt=take("OPT", _level, 3),
        loop_vectorize=bool(take("LOOP_VECTORIZE", int, 1)),
        slp_vectorize=bool(take("SLP_VECTORIZE", int, 0)),
        llvm=version,
        others=repr((sorted(environ.items()), file)),
    )


@cache
def _processor() -> tuple[str, str, str, str]:
    """Return the triple, the processor, its features, and versions, all as LLVM has them.

    They stay what they are until the machine starts anew, or goes on elsewhere from a snapshot.  So
    processes tell later ones, which need LLVM for nothing else where their kernels are on disk.
    """
    package = importlib.import_module("llvmlite")
    try:
        known = package.__version__, package.__file__, _read(_BOOT), _said()
    except (OSError, KeyError):  # another system than Linux, or another kind of processor
        return _asked(package)
    key = store.cache_key(["processor", repr(known)])
    told = (store.load(key) or b"").decode().split("\n")
    if len(told) != 4:
        told = list(_asked(package))
        store.save(key, "\n".join(told).encode())
    triple, cpu, features, version = told
    return triple, cpu, features, version


def _said() -> list[str]:
    """Return what the machine says of its first processor; KeyError where it does not say all."""
    first, ends, _ = _read(_PROCESSORS, 8192).decode("latin-1").partition("\n\n")
    lines = [line.partition(":") for line in first.split("\n")] if ends else []
    said = {name.strip(): value.strip() for name, _, value in lines}
    return [said[name] for name in _NAMED]


def _asked(package: Any) -> tuple[str, str, str, str]:
    binding = llvm()
    try:
        features = str(binding.get_host_cpu_features().flatten())
    except RuntimeError:  # a processor that LLVM does not know
        features = ""
    version = f"{package.__version__} {binding.llvm_version_info}"
    return binding.get_process_triple(), binding.get_host_cpu_name(), features, version


def _level(text: str) -> int:
    if text == "max":
        return 3
    if text not in ("0", "1", "2", "3"):
        raise ValueError
    return int(text)
