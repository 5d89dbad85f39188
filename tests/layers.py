"""What the source tree must look like, as a checker over syntax trees that imports nothing.

Folders are ranks.  A module imports lower ranks or its own folder, so that shapes and layouts
can be read, tested and changed without knowing about engines, and the package has no import
cycle.  `check_module` lists what a module does wrong; `find_cycles` does the same for a set.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGE = "xarraylite"
FACADE = f"{PACKAGE}.__init__"

# The one table of rooms: a module imports rooms of lower numbers, or its own.
RANKS: dict[str, int] = {
    "_config": 0,
    "_errors": 0,
    "_later": 0,
    "_lazy_import": 0,
    "_locks": 0,
    "_records": 0,
    "_tables": 0,
    "dtypes": 1,
    "index": 2,
    "shapes": 3,
    "layout": 3,
    "xla": 4,
    "memory": 4,
    "ops": 5,
    "ir": 6,
    "codegen": 7,
    "overlap": 7,
    "compiler": 8,
    "runtime": 9,
    "operands": 10,
    "blas": 11,
    "assignment": 11,
    "labels": 12,
    "arrays": 13,
    "jagged": 14,
    "xtensor_views": 14,
    "transforms": 15,
    "nullable": 15,
    "functions": 16,
    "io": 17,
    "display": 17,
    "char": 17,
    "ctypeslib": 17,
    "emath": 17,
    "exceptions": 17,
    "fft": 17,
    "lib": 17,
    "linalg": 17,
    "ma": 17,
    "polynomial": 17,
    "random": 17,
    "rec": 17,
    "strings": 17,
    "typing": 17,
    "chunked": 18,
    "hlo": 18,  # draws with display
    "demo": 19,  # a user of all of the above
    "__main__": 20,
    "__init__": 20,
    "testing": 20,  # may import everything; nothing imports it
}

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80

# Who may import a compiler, by module; everybody else sees kernels as callables.
RESTRICTED: dict[str, tuple[str, ...]] = {
    "numba": (
        "xarraylite.codegen.jit",
        "xarraylite.transforms.numba_placed",
        "xarraylite.transforms.numba_types",
        "xarraylite.transforms.numba_views",
    ),
    "llvmlite": ("xarraylite.codegen.",),
}

# Imported inside functions: not everybody has them, or they are slow and rarely needed.
LATE_IMPORTS = frozenset(
    {
        "dask",
        "distributed",
        "h5py",
        "lark",
        "matplotlib",
        "pandas",
        "platformdirs",
        "rich",
        "scipy",
        "threadpoolctl",
        "zarr",
    }
)

# What docstrings may name beside Python's modules and this package's.
OTHER_NAMESPACES = frozenset({"dask", "np", "numpy", "self", "xarraylite", "xl"})

# Rooms that reason about arrays without touching one, and the NumPy names that would.
# (`asarray` is not among them: it is how one Python number becomes a constant of a dtype.)
WITHOUT_MEMORY = (
    "xarraylite.index.",
    "xarraylite.shapes.",
    "xarraylite.layout.",
    "xarraylite.xla.",
    "xarraylite.ir.",
    "xarraylite.overlap.",
    "xarraylite.compiler.",
    "xarraylite.codegen.emit.",
)
MEMORY_NAMES = frozenset(
    {
        "arange",
        "array",
        "asanyarray",
        "ascontiguousarray",
        "copyto",
        "empty",
        "empty_like",
        "frombuffer",
        "fromiter",
        "full",
        "full_like",
        "lib",
        "linspace",
        "memmap",
        "nditer",
        "ones",
        "ones_like",
        "put",
        "take",
        "where",
        "zeros",
        "zeros_like",
    }
)
_MEMORY = re.compile(rf"\b(?:np|numpy)\s*\.\s*(?:{'|'.join(sorted(MEMORY_NAMES))})\b")


@dataclass(frozen=True, slots=True)
class Import:
    """One import: the dotted module it reaches, where, and whether inside a function."""

    module: str
    line: int
    late: bool


def module_name(path: Path, root: Path) -> str:
    """Dotted name of a file below the folder that holds the package; `FACADE` for its face."""
    parts = path.relative_to(root).with_suffix("").parts
    if parts == (PACKAGE, "__init__"):
        return FACADE
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room(module: str) -> str:
    """The folder or top-level file of a module: ``xarraylite.codegen.emit.x`` -> ``codegen``."""
    return module.split(".")[1]


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a module, which several tests go through."""
    return ast.parse(source)


@cache
def imported_later() -> Mapping[str, str]:
    """The modules that the names of `_later` stand for, as its stub says."""
    text = (Path(__file__).parents[1] / PACKAGE / "_later.pyi").read_text(encoding="utf-8")
    lines = re.findall(r"^from (\S+) import (\w+) as (\w+)$", text, re.MULTILINE)
    found = {name: f"{PACKAGE}{module}.{inner}" for module, inner, name in lines}
    renamed = re.findall(r"^(\w+) = (\w+)$", text, re.MULTILINE)
    return found | {name: found[other] for name, other in renamed}


@cache
def _packages(known: frozenset[str]) -> frozenset[str]:
    """The modules that have others inside."""
    return frozenset(name.rpartition(".")[0] for name in known)


@cache
def statements(source: str) -> tuple[tuple[ast.AST, bool], ...]:
    """Every statement of a module, and whether it is inside a function; expressions have none."""
    found: list[tuple[ast.AST, bool]] = []
    stack: list[tuple[ast.AST, bool]] = [(parsed(source), False)]
    while stack:
        node, late = stack.pop()
        found.append((node, late))
        late = late or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        inner = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
        stack += [(child, late) for child in inner[::-1]]
    return tuple(found)


@cache
def imports(source: str, module: str, known: frozenset[str]) -> tuple[Import, ...]:
    """Every import of a module, relative ones resolved, functions' bodies included."""
    return tuple(_imports(source, module, known))


def _imports(source: str, module: str, known: frozenset[str]) -> Iterator[Import]:
    for node, late in statements(source):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, late)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, module, known)
            for alias in node.names:
                # `from package import name` reaches a module if there is one of that name.
                inner = f"{base}.{alias.name}"
                target = inner if inner in known else base
                if base == f"{PACKAGE}._later":
                    target = imported_later()[alias.name]
                yield Import(target, node.lineno, late)


def _base(node: ast.ImportFrom, module: str, known: frozenset[str]) -> str:
    if node.level == 0:
        return node.module or ""
    is_package = module in _packages(known)
    parts = module.removesuffix(".__init__").split(".")
    kept = len(parts) - node.level + (1 if is_package or module == FACADE else 0)
    return ".".join(parts[:kept] + ([node.module] if node.module else []))


def check_module(module: str, source: str, known: frozenset[str]) -> list[str]:
    """Every rule a module breaks, one line each."""
    found = imports(source, module, known)
    return [
        *_check_ranks(module, found),
        *_check_restricted(module, found),
        *_check_late(module, found),
        *_check_memory(module, source),
        *_check_sizes(module, source),
    ]


def _check_ranks(module: str, found: Sequence[Import]) -> Iterator[str]:
    own = room(module)
    if own not in RANKS:
        yield f"{module}: folder {own!r} has no rank"
        return
    for item in found:
        if item.module == PACKAGE:
            yield f"{module}:{item.line}: imports the facade; import the leaf module"
        elif item.module.startswith(PACKAGE + "."):
            other = room(item.module)
            if other not in RANKS:
                yield f"{module}:{item.line}: imports {item.module}, which has no rank"
            elif other == "testing" and own != "testing":
                yield f"{module}:{item.line}: imports testing, which only tests may"
            elif other != own and RANKS[other] >= RANKS[own] and RANKS[other] != 0:
                yield (
                    f"{module}:{item.line}: rank {RANKS[own]} imports {item.module} "
                    f"of rank {RANKS[other]}"
                )


def _check_restricted(module: str, found: Sequence[Import]) -> Iterator[str]:
    for item in found:
        allowed = RESTRICTED.get(item.module.split(".")[0], (module,))
        if not module.startswith(allowed):
            yield f"{module}:{item.line}: imports {item.module}; only {', '.join(allowed)} may"


def _check_late(module: str, found: Sequence[Import]) -> Iterator[str]:
    for item in found:
        if item.late and item.module.split(".")[0] not in LATE_IMPORTS:
            yield f"{module}:{item.line}: imports {item.module} inside a function"


def _check_memory(module: str, source: str) -> Iterator[str]:
    if not f"{module}.".startswith(WITHOUT_MEMORY) or _MEMORY.search(source) is None:
        return  # most say no such name, and to read is faster than to go through the tree
    for node in ast.walk(parsed(source)):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("np", "numpy")
            and node.attr in MEMORY_NAMES
        ):
            yield f"{module}:{node.lineno}: np.{node.attr} touches array memory here"


def _check_sizes(module: str, source: str) -> Iterator[str]:
    lines = len(source.splitlines())
    if lines > MAX_FILE_LINES:
        yield f"{module}: {lines} lines; at most {MAX_FILE_LINES}"
    for node, _ in statements(source):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            size = (node.end_lineno or node.lineno) - node.lineno + 1
            if size > MAX_FUNCTION_LINES:
                yield f"{module}:{node.lineno}: {node.name} has {size} lines"


def stale_references(sources: Mapping[str, str]) -> list[str]:
    """References such as `` `room.module.name` `` in docstrings and comments that lead nowhere.

    A module may be named by the end of its path.  Where the first part is no module of the package
    it must be one of Python's, or of a library.
    """
    paths: dict[str, set[str]] = {}
    for module, source in sources.items():
        parts = module.split(".")[1:]
        words = set(re.findall(r"\w+", source))
        for k in range(len(parts)):
            paths.setdefault(".".join(parts[k:]), set()).update(words)

    def leads_somewhere(parts: list[str]) -> bool:
        if parts[0] in sys.stdlib_module_names | OTHER_NAMESPACES:
            return True
        for k in range(1, len(parts) + 1):
            words = paths.get(".".join(parts[:k]), set())
            if words and (k == len(parts) or parts[k] in words):
                return True
        return False

    return [
        f"{module}: {match[1]}"
        for module, source in sources.items()
        for match in re.finditer(r"(?<!`)`([a-z_]+(?:\.\w+)+)`(?!`)", source)
        if not leads_somewhere(match[1].split("."))
    ]


def find_cycles(sources: Mapping[str, str]) -> list[str]:
    """The first cycle of imports among the modules, if there is one."""
    known = frozenset(sources)
    graph = {
        module: {
            item.module
            for item in imports(source, module, known)
            if item.module in known and item.module != module
        }
        for module, source in sources.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []
