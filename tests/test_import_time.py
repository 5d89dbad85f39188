"""Importing the package, and writing expressions with it, must not load the compiler.

Starting numba costs more than importing NumPy; a script that only shapes arrays, or whose
kernels are all on disk, should not pay for it.  Every check runs in a fresh process.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cases import together

pytestmark = pytest.mark.once

HEAVY = (
    "numba",
    "llvmlite",
    "matplotlib",
    "platformdirs",
    "threadpoolctl",
    "scipy",
    "dask",
    "zarr",
    "hypothesis",
    "pytest",
)

#: What plans and runs large work, and what emits kernels of other kinds.
LARGE = (
    "xarraylite.compiler.planner",
    "xarraylite.overlap.overlap",
    "xarraylite.runtime.bound",
    "xarraylite.runtime.replay",
    "xarraylite.runtime.run",
    "xarraylite.codegen.emit.reduction",
)


def heavy_modules_after(code: str, modules: tuple[str, ...] = HEAVY) -> list[str]:
    """Which of some modules a fresh process has loaded after running the code."""
    probe = (
        f"{code}\n"
        "import json, sys\n"
        f"print(json.dumps([name for name in {modules!r} if name in sys.modules]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout.splitlines()[-1]))


@together(
    "code",
    [
        "import xarraylite",
        "import xarraylite as xl; dir(xl); xl.__version__; xl.__all__",
        "import xarraylite as xl; xl.zeros((3, 2)); xl.asarray([1.0, 2.0]); xl.XArray([1, 2])",
        (
            "import xarraylite as xl\n"
            "a = xl.ones((3, 4), dtype='bfloat16')\n"
            "e = xl.sum(xl.sin(a[1:, ::2]) * 2 + 1, axis=0)\n"
            "assert e.shape == (2,) and str(e.dtype) == 'bfloat16'\n"
            "repr(e)\n"
        ),
        "import xarraylite as xl\nwith xl.config(engine='reference'): xl.eval(xl.ones(3) + 1)",
        (
            "import xarraylite as xl\n"
            "a = xl.ones(9000)\n"
            "with xl.config(engine='auto'): xl.eval(a + 1), [float(a @ a) for _ in 'few']\n"
        ),
    ],
    ids=[
        "import",
        "names",
        "containers",
        "expressions",
        "reference engine",
        "first evaluation",
    ],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert heavy_modules_after(code) == []


def test_every_public_name_resolves() -> None:
    code = "import xarraylite as xl\nfor name in xl.__all__: getattr(xl, name)"
    assert "numba" not in heavy_modules_after(code)


def test_the_probe_can_fail() -> None:
    assert heavy_modules_after("import platformdirs, threadpoolctl") == [
        "platformdirs",
        "threadpoolctl",
    ]


def test_a_kernel_does_load_the_compiler(tmp_path: object) -> None:
    """The other meta-test: the same probe on a first compiled evaluation sees the compiler."""
    code = (
        "import xarraylite as xl\n"
        f"with xl.config(engine='compiled', cache_dir={str(tmp_path)!r}):\n"
        "    xl.eval({})\n"
    )
    assert heavy_modules_after(code.format("xl.ones(3) + 1"), HEAVY + LARGE) == ["llvmlite"]
    planned = heavy_modules_after(code.format("xl.ones((2000, 1)) + xl.ones((1, 2000))"), LARGE)
    assert {"xarraylite.compiler.planner", "xarraylite.runtime.run"} <= set(planned)
