"""Write the page of all functions: what each does, whether it is lazy, and a call that runs.

The page stands in the repository (``docs/reference/functions.md``) and is made of the functions
themselves: the first line of their documentation, the type they return and the first call in their
example, which the doctests run.  ``pytest tests/test_functions_page.py --regenerate-golden`` writes
it again.
"""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable
from typing import Any

import xarraylite as xl

#: Titles of the groups, by the module that defines a function.
GROUPS = {
    "evaluation": "Evaluating, tracing, explaining",
    "explaining": "Evaluating, tracing, explaining",
    "jit": "Evaluating, tracing, explaining",
    "late": "Evaluating, tracing, explaining",
    "noalias": "Evaluating, tracing, explaining",
    "cache": "Evaluating, tracing, explaining",
    "creation": "Filled containers",
    "sequences": "Ranges and functions of positions",
    "grids": "Grids",
    "conversion": "From values that exist",
    "adapt": "From values that exist",
    "elementwise": "Elementwise",
    "composed": "Elementwise, of several operations",
    "special": "Special functions",
    "reducers": "Reductions",
    "means": "Means and variances",
    "norms": "Norms and other reductions of xtensor's",
    "statistics": "Running totals, ranges, reductions without NaN",
    "comparison": "Comparisons of whole arrays",
    "manipulation": "Shapes",
    "broadcast": "Shapes",
    "rearranging": "Moved, repeated and surrounded",
    "joining": "Put together",
    "splitting": "Taken apart",
    "diagonals": "Diagonals and triangles",
    "linear_algebra": "Products",
    "searching": "Sorting and searching",
    "sets": "Sets",
    "selecting": "Order, sets, positions and parts, computed by NumPy",
    "distributions": "Histograms, quantiles, covariances and running totals, computed by NumPy",
    "curves": "Signals and windows, computed by NumPy",
    "polynomials": "Polynomials, computed by NumPy",
    "bits": "Whole numbers, bits and parts of floats, computed by NumPy",
    "applied": "Users' functions",
    "vectorizing": "Users' functions",
    "fold": "Users' functions",
    "writing": "Writing to some elements",
    "numpy_names": "Questions and indices",
    "numpy_objects": "NumPy's objects of arrays",
    "printing": "Printing",
    "data_types": "Dtypes",
    "info": "Dtypes",
    "selection": "Views beyond slices",
    "regular": "Views beyond slices",
    "masked": "Views beyond slices",
    "items": "Views beyond slices",
    "access": "Views beyond slices",
    "npy": "Files",
    "text": "Files",
    "tables": "Files",
    "opening": "Larger than memory",
    "storing": "Larger than memory",
    "cluster": "Larger than memory",
    "draw": "Layouts and XLA's programs",
    "formats": "Layouts and XLA's programs",
    "nodes": "Layouts and XLA's programs",
}
SPACES = {"linalg": "Linear algebra (`xl.linalg`)", "fft": "Fourier transforms (`xl.fft`)"}

_HEAD = """# Functions

Made from the functions themselves; see `docs/function_list.py`. **Lazy** functions return
expressions (views, where their operand is a container and no element moves); the others compute at
once and return containers or Python's values. A function is lazy when the shape and dtype of its
result follow from those of its operands and it can run inside a fused loop. The examples are those
of the functions' own pages, which run as tests.

What each function takes and raises stands in its documentation: `help(xl.sort)`.
"""

_SHOWN = re.compile(
    r"^(?:np\.asarray|xl\.eval)\((xl\.\w+\([\w, .]*\))\)(?:\.round\(6\))?(?:\.tolist\(\))?$"
)


def functions() -> dict[str, list[tuple[str, Callable[..., Any]]]]:
    """Return all functions by the title of their group, under their first names."""
    found: dict[str, list[tuple[str, Callable[..., Any]]]] = {
        title: [] for title in [*GROUPS.values(), *SPACES.values()]
    }
    seen: dict[int, str] = {}
    for name in sorted(xl.__all__, key=str.lower):
        value = getattr(xl, name)
        group = GROUPS.get(str(getattr(value, "__module__", "")).rpartition(".")[2])
        if inspect.isfunction(value) and group:
            seen.setdefault(id(value), name)
            found[group].append((name, value))
    for space, title in SPACES.items():
        module = getattr(xl, space)
        for name in sorted(module.__all__, key=str.lower):
            value = getattr(module, name)
            if inspect.isfunction(value) and id(value) not in seen:
                found[title].append((f"{space}.{name}", value))
    return found


def is_lazy(function: Callable[..., Any]) -> bool:
    """Tell whether a function returns expressions, by its type."""
    result = str(inspect.signature(function).return_annotation)
    return any(word in result for word in ("XExpression", "Lazy"))


def page() -> str:
    """Return the page's text."""
    parts = [_HEAD]
    for title, members in functions().items():
        parts.append(f"## {title}\n\n| Function | | What it does | Example |\n|---|---|---|---|")
        first = {id(f): name for name, f in reversed(members)}
        first |= {id(f): name for name, f in members if name == f.__name__}
        for name, function in members:
            known = first[id(function)]
            if known != name:
                parts.append(f"| `{name}` | | the same as `{known}` | |")
                continue
            text = inspect.getdoc(function) or ""
            lazy = "lazy" if is_lazy(function) else ""
            summary = " ".join(text.partition("\n\n")[0].split()).replace("``", "`")
            summary = summary.replace("|", "\\|")
            parts.append(f"| `{name}` | {lazy} | {summary} | {_example(text, name)} |")
        parts.append("")
    return "\n".join(parts)


def _example(text: str, name: str) -> str:
    """Return the first line that calls the function, without what turns its result into numbers."""
    examples = doctest.DocTestParser().get_examples(text)
    sources = [e.source.partition("  # doctest:")[0].strip() for e in examples]
    lines = [source for source in sources if "\n" not in source]
    calls = [line for line in lines if f"xl.{name}(" in line] or lines[-1:]
    code = [_SHOWN.sub(r"\1", line) for line in calls]
    return f"`{code[0]}`".replace("|", "\\|") if code else ""
