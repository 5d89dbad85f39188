"""Write the reference pages: every public name once, grouped by the module that defines it.

The facade binds its names lazily, so there is no module to point autodoc at; the list is
``xarraylite.__all__`` and each object says itself where it comes from.
"""

from __future__ import annotations

import inspect
import types
from collections import defaultdict
from pathlib import Path

import xarraylite as xl

# Title and order of the pages, by the folder (or folder.module) that defines a name.
PAGES: tuple[tuple[str, str], ...] = (
    ("arrays", "Containers and evaluation"),
    ("jagged", "Jagged arrays"),
    ("labels", "Labels and contractions"),
    ("transforms", "Transforms: jit, vectorize, late, noalias, explain"),
    ("functions.creation", "Creation"),
    ("functions.sequences", "Creation"),
    ("functions.grids", "Creation"),
    ("functions.conversion", "Creation"),
    ("functions.elementwise", "Elementwise functions"),
    ("functions.composed", "Elementwise functions"),
    ("functions.special", "Elementwise functions"),
    ("chunked.explaining", "Transforms: jit, vectorize, late, noalias, explain"),
    ("functions.vectorizing", "Transforms: jit, vectorize, late, noalias, explain"),
    ("functions.bits", "Elementwise functions"),
    ("functions.reducers", "Reductions and statistics"),
    ("functions.means", "Reductions and statistics"),
    ("functions.norms", "Reductions and statistics"),
    ("functions.statistics", "Reductions and statistics"),
    ("functions.distributions", "Reductions and statistics"),
    ("functions.manipulation", "Manipulation"),
    ("functions.rearranging", "Manipulation"),
    ("functions.joining", "Manipulation"),
    ("functions.splitting", "Manipulation"),
    ("functions.diagonals", "Linear algebra"),
    ("functions.linear_algebra", "Linear algebra"),
    ("functions.searching", "Order, sets and positions"),
    ("functions.sets", "Order, sets and positions"),
    ("functions.selecting", "Order, sets and positions"),
    ("functions.comparison", "Order, sets and positions"),
    ("functions.curves", "Signals, polynomials and windows"),
    ("functions.polynomials", "Signals, polynomials and windows"),
    ("functions.scalar_types", "Data types"),
    ("functions.data_types", "Data types"),
    ("functions.writing", "Writing, printing and further names"),
    ("functions", "Writing, printing and further names"),
    ("xtensor_views", "Views"),
    ("nullable", "Missing values and masks"),
    ("dtypes", "Data types"),
    ("layout", "Layouts"),
    ("xla", "Array specs"),
    ("shapes", "Shapes"),
    ("index", "Shapes"),
    ("runtime", "Plans and engines"),
    ("io", "Files"),
    ("chunked", "Larger than memory"),
    ("display", "Pictures"),
    ("_config", "Settings"),
    ("_errors", "Errors and warnings"),
)
OTHER = "Other names"


def title_of(value: object) -> str:
    """Title of the page that documents an object."""
    if not (inspect.isclass(value) or callable(value)):
        return OTHER
    home = getattr(value, "__module__", "") or ""
    inner = home.removeprefix("xarraylite.")
    for prefix, title in PAGES:
        if f"{inner}.".startswith(f"{prefix}."):
            return title
    return OTHER


def write_reference(folder: Path) -> None:
    """Write one page per category into the folder, leaving unchanged pages untouched."""
    pages: defaultdict[str, list[str]] = defaultdict(list)
    modules: list[str] = []
    documented: set[int] = set()  # objects, so that a name in two places is described in one
    for name in sorted(xl.__all__, key=str.lower):
        value = getattr(xl, name)
        if isinstance(value, types.ModuleType):
            modules.append(name)
        else:
            pages[title_of(value)].append(name)
            documented.add(id(value))
    order = list(dict.fromkeys([title for _, title in PAGES] + [OTHER]))
    folder.mkdir(parents=True, exist_ok=True)
    written = {
        _write(folder, number, title, _page(title, "xarraylite", pages[title]))
        for number, title in enumerate(order)
        if pages[title]
    }
    for number, name in enumerate(modules, start=len(order)):
        written.add(_write(folder, number, name, _module_page(name, documented)))
    for stale in set(folder.glob("*.rst")) - written:
        stale.unlink()


def _write(folder: Path, number: int, title: str, text: str) -> Path:
    stem = "_".join(title.lower().replace(",", "").split())
    path = folder / f"{number:02}_{stem}.rst"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def _page(title: str, module: str, names: list[str]) -> str:
    head = [title, "=" * len(title), "", f".. currentmodule:: {module}", ""]
    namespace = getattr(xl, module.removeprefix("xarraylite."), xl)
    documented = [n for n in names if callable(getattr(namespace, n))]
    constants = [n for n in names if n not in documented]
    lines = list(head)
    if documented:
        lines += [".. autosummary::", ""] + [f"   {name}" for name in documented] + [""]
    for name in documented:
        lines += _entry(name, getattr(namespace, name))
    if constants:
        lines += [".. list-table::", "   :header-rows: 1", "", "   * - Name", "     - Value"]
        for name in constants:
            lines += [f"   * - ``{name}``", f"     - ``{getattr(namespace, name)!r}``"]
        lines.append("")
    return "\n".join(lines)


def _entry(name: str, value: object) -> list[str]:
    if not inspect.isclass(value):
        return [f".. autofunction:: {name}", ""]
    if issubclass(value, BaseException):
        return [f".. autoexception:: {name}", "   :show-inheritance:", ""]
    bases = [base for base in value.__mro__[1:] if not base.__module__.startswith("xarraylite.")]
    own = [base for base in value.__mro__[1:] if getattr(xl, base.__name__, None) is base]
    elsewhere = ", ".join([base.__name__ for base in (*bases, *own)])
    lines = [f".. autoclass:: {name}", "   :show-inheritance:", "   :members:"]
    lines += [f"   :inherited-members: {elsewhere}", ""]
    if own:  # each member is described once
        lines += [f"   It has the members of :class:`~xarraylite.{own[0].__name__}` too.", ""]
    return lines


def _module_page(name: str, documented: set[int]) -> str:
    module = getattr(xl, name)
    title, names = f"xarraylite.{name}", getattr(module, "__all__", None)
    if names is None:  # they are looked up in NumPy, whose documentation has them
        listed = ", ".join([f"``{n}``" for n in dir(module)])
        text = f"NumPy's ``{name}``, by the same names: {listed}."
        return "\n".join([_page(title, title, []), f".. automodule:: {title}", "", text, ""])
    own = [
        n
        for n in sorted(names)
        if id(value := getattr(module, n)) not in documented
        and not isinstance(value, types.ModuleType)
    ]
    return _page(title, title, own)
