"""The public face: every name is there, documented, and known to type checkers.

The package binds its names when they are first used.  Type checkers and editors read them in the
stub ``__init__.pyi``, and so does the package.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import re
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.functions import elementwise
from xarraylite.functions.scalar_types import ScalarType
from xarraylite.ops.table import OPS

#: Builtin functions, which machine code makes of some, say no types.
pytestmark = [pytest.mark.usefixtures("by_python"), pytest.mark.once]

STUB = Path(xl.__file__).with_name("__init__.pyi")
TABLES: dict[str, Any] = vars(xl)  # what the stub does not name

#: Names that the stub imports under another one.
HIDDEN = re.compile(r"^from \.\S* import \w+ as _([a-z]\w*)$", re.MULTILINE)
NAMES = sorted(TABLES["__all__"])
CLASSES = [name for name in NAMES if inspect.isclass(getattr(xl, name))]


def is_ours(value: Any) -> bool:
    """Whether it is defined here, and no class of NumPy's that is passed on."""
    return str(getattr(value, "__module__", xl.__name__)).startswith(xl.__name__)


def test_the_package_is_marked_as_typed() -> None:
    assert STUB.with_name("py.typed").exists()


def test_every_name_resolves_and_is_documented() -> None:
    assert set(NAMES) <= set(dir(xl))
    for name in NAMES:
        value = getattr(xl, name)
        if inspect.isclass(value) or callable(value) or isinstance(value, types.ModuleType):
            text = inspect.getdoc(value)
            assert text, name
            first = text.splitlines()[0] if is_ours(value) else text.partition("\n\n")[0]
            assert first.endswith((".", "?")), f"{name}: {first!r} is no sentence"


def test_names_come_from_where_the_stub_says() -> None:
    for name, (module, inner) in TABLES["_SOURCES"].items():
        where = importlib.import_module(f"xarraylite.{module}" if module else "xarraylite")
        assert getattr(xl, name) is getattr(where, inner), name


def test_what_the_stub_imports_under_another_name_it_passes_on() -> None:
    names = HIDDEN.findall(STUB.read_text(encoding="utf-8"))
    assert {"open", "eval", "amax"} <= set(names)
    assert set(names) <= set(NAMES)
    assert [name for name in NAMES if name.startswith("_") and not name.endswith("__")] == []


@together("name", [n for n in CLASSES if n.startswith("X") and "Error" not in n])
def test_every_public_method_is_documented(name: str) -> None:
    cls = getattr(xl, name)
    bare = [
        attribute
        for attribute in dir(cls)
        if not attribute.startswith("_") and not inspect.getdoc(getattr(cls, attribute))
    ]
    assert bare == []


def test_all_has_no_doubles() -> None:
    assert len(TABLES["__all__"]) == len(set(TABLES["__all__"]))
    assert dir(xl) == sorted(TABLES["__all__"])


def test_names_are_bound_when_first_used() -> None:
    code = (
        "import xarraylite as xl\n"
        "assert 'zeros' not in vars(xl)\n"
        "assert xl.zeros is vars(xl)['zeros']\n"
        "assert 'ones' not in vars(xl)\n"
        "namespace = {}\n"
        "exec('from xarraylite import *', namespace)\n"
        "assert set(xl.__all__) <= set(namespace)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["no_such_name", "numpy", "os", "_private", "XContainer"])
def test_other_names_are_refused(name: str) -> None:
    assert not hasattr(xl, name)
    with pytest.raises(AttributeError, match=f"module 'xarraylite' has no attribute '{name}'"):
        getattr(xl, name)


def test_names_of_numpy_that_mean_nothing_here_say_what_to_use() -> None:
    for name in TABLES["_ELSEWHERE"]:
        with pytest.raises(AttributeError, match=rf"no attribute '{name}': .{{10,}}"):
            getattr(xl, name)
    assert not hasattr(elementwise, "cast")  # a row, and no function of the package
    with pytest.raises(AttributeError, match="'trapz': use"):
        _ = xl.trapz  # type: ignore[attr-defined]


def test_every_name_of_numpy_is_here_or_somewhere_else() -> None:
    settings = {"core", "exceptions", "f2py", "typing", "test", "get_include", "show_config"}
    settings |= {"show_runtime", "info", "sctypeDict", "typecodes"}
    rare = {"character", "flatiter", "flexible"}
    rare |= {"little_endian", "long", "ulong", "mintypecode", "dtypes"}
    assert (xl.exceptions, xl.typing) == (np.exceptions, np.typing)
    known = {*NAMES, *TABLES["_ELSEWHERE"], *TABLES["_OF_NUMPY"], *settings, *rare}
    assert sorted(set(np.__all__) - known) == []


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_of_numpy_stay_what_they_are() -> None:
    for name in TABLES["_OF_NUMPY"]:
        for _ in range(2 * hasattr(np, name)):  # NumPy 2.5 has no chararray
            assert getattr(xl, name) is getattr(np, name)


def test_modules_of_numpys_are_imported_by_their_names() -> None:
    for name in ("char", "ctypeslib", "exceptions", "ma", "rec", "strings", "typing"):
        assert importlib.import_module(f"xarraylite.{name}") is getattr(np, name)
        assert getattr(xl, name) is getattr(np, name)


def test_names_of_builtins_are_ours_here_and_pythons_elsewhere() -> None:
    shadowing = [name for name in NAMES if hasattr(builtins, name)]
    assert {"abs", "all", "any", "bool", "eval", "max", "min", "pow", "round", "sum"} <= set(
        shadowing
    )
    for name in shadowing:
        assert getattr(xl, name) is not getattr(builtins, name)


def test_dtypes() -> None:
    assert xl.bool == np.dtype(np.bool_)
    names = [n for n in NAMES if isinstance(getattr(xl, n), ScalarType)]
    assert {"bool", "bfloat16", "float8_e4m3fn", "int4", "complex128"} <= set(names)
    assert all(xl.zeros(2, dtype=name).dtype is getattr(xl, name).dtype for name in names)


def test_constants_and_orders() -> None:
    assert (xl.newaxis, xl.inf, xl.nan != xl.nan) == (None, float("inf"), True)
    assert (xl.e, xl.pi) == (np.e, np.pi)
    orders = {xl.row_major, xl.column_major, xl.dynamic}
    assert len(orders) == 3
    assert all(isinstance(order, xl.Order) for order in orders)


def test_it_is_the_namespace_of_its_arrays() -> None:
    for array in (xl.ones(2), xl.ones(2) + 1, xl.sum(xl.ones(2))):
        assert array.__array_namespace__() is xl
        assert array.__array_namespace__(api_version=xl.__array_api_version__) is xl


def test_arrays_from_a_submodule_alone_know_the_namespace() -> None:
    program = (
        "import numpy as np, xarraylite.random as random; "
        "print(np.array_equal(random.default_rng(0).random(3), np.ones(3)))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )


@pytest.mark.parametrize(
    ("alias", "name"),
    [("concatenate", "concat"), ("acos", "arccos"), ("abs", "absolute"), ("pow", "power")],
)
def test_aliases_are_the_same_function(alias: str, name: str) -> None:
    assert getattr(xl, alias) is getattr(xl, name)


def test_every_operation_is_public() -> None:
    """Under its own name or an alias; a cast is `astype`; `with_imag` joins others' parts."""
    missing = [
        op.name
        for op in OPS.values()
        if op.name not in ("cast", "with_imag")
        and not any(hasattr(xl, name) for name in (op.name, *op.aliases))
    ]
    assert missing == []


def test_versions() -> None:
    assert xl.__array_api_version__ == "2025.12"
    assert all(part.isdigit() for part in xl.__version__.split("."))


def signature(value: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(value)
    except (TypeError, ValueError):
        return None


@together("name", [n for n in NAMES if inspect.isfunction(getattr(xl, n))])
def test_every_parameter_and_result_has_a_type(name: str) -> None:
    found = signature(getattr(xl, name))
    assert found is not None
    untyped = [p.name for p in found.parameters.values() if p.annotation is p.empty]
    assert untyped == []
    assert found.return_annotation is not found.empty
