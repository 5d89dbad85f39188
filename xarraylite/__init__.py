"""N-dimensional containers, lazy expressions and fused kernels.

Import it as ``import xarraylite as xl``.  It is an array API namespace; every name is imported
from its module when it is first used, so importing the package costs little more than NumPy.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

from ._lazy_import import imported as _imported
from ._lazy_import import sources as _sources

__version__ = "0.1.0"

#: Version of the array API standard that this namespace follows.
__array_api_version__ = "2025.12"


#: Where public names come from, as the stub says; the module of a namespace is none.
_SOURCES = _sources(__spec__)

__all__ = [*sorted(_SOURCES), "__array_api_version__", "__version__"]


#: What NumPy has and this package has under another name, or not at all.
_ELSEWHERE = {
    name: advice
    for names, advice in (
        ("in1d", "use xl.isin"),
        ("trapz", "use xl.trapezoid"),
        ("product", "use xl.prod"),
        ("cumproduct", "use xl.cumprod"),
        ("alltrue", "use xl.all"),
        ("sometrue", "use xl.any"),
        ("msort", "use xl.sort(a, axis=0)"),
        ("asscalar", "use a.item()"),
        ("NaN NAN", "use xl.nan"),
        ("Inf Infinity PINF infty", "use xl.inf"),
        ("float_", "use xl.float64"),
        ("complex_ cfloat", "use xl.complex128"),
        ("bool8", "use xl.bool"),
        ("float int complex object str", "use Python's type of that name"),
        ("longdouble float128 clongdouble complex256", "use xl.float64 or xl.complex128"),
        ("core f2py test", "use numpy's"),
        ("mat", "use arrays of rank 2 and @, or xl.matrix, which is NumPy's"),
    )
    for name in names.split()
}


#: What is NumPy's here, too: elements that are no numbers (`operands.non_numeric`), arrays of other
#: classes, which take the values of containers, and what says something about NumPy.
_OF_NUMPY = frozenset(
    name
    for names in (
        "object_ str_ bytes_ void datetime64 timedelta64 recarray record rec char chararray",
        "busday_count busday_offset busdaycalendar is_busday isnat datetime_data",
        "datetime_as_string strings memmap exceptions typing mintypecode show_config show_runtime",
        "ma matrix asmatrix bmat ctypeslib nested_iters flatiter character flexible",
        "fromregex typecodes sctypeDict little_endian get_include getbufsize setbufsize geterrcall",
        "seterrcall",
    )
    for name in names.split()
)


def _missing(name: str) -> str:
    """Return what the error about an unknown name says."""
    text = f"module {__name__!r} has no attribute {name!r}"
    if name not in _ELSEWHERE:
        return text
    return f"{text}: {_ELSEWHERE[name]}"


def __getattr__(name: str) -> Any:
    if name in _OF_NUMPY:
        found = getattr(importlib.import_module("numpy"), name, None)
        if found is None:
            raise AttributeError(f"{_missing(name)}: this version of NumPy has none either")
        return found
    source = _SOURCES.get(name)
    if source is None:
        raise AttributeError(_missing(name))
    module, inner = source
    if not module:
        return _imported(f".{inner}")
    value = getattr(_imported(f".{module}"), inner)
    if isinstance(value, FunctionType):
        _imported(".functions.signatures").spelled(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
