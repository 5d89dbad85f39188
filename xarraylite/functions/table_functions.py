"""The functions of the table `rows`: each is made when its name is first asked for.

Signature, types and documentation are the row's; NumPy's function of that name computes.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from . import rows_numeric, rows_searching
from .computed import Take, invoked, numpy, numpy_of, perhaps, several
from .row import WORDS, Row
from .ufuncs import with_methods

BY_NAME: dict[str, Row] = {
    row.signature.partition("(")[0]: row for row in (*rows_searching.ROWS, *rows_numeric.ROWS)
}

_PAGE = """{summary}

NumPy computes it: operands are evaluated, results are containers.

Parameters
----------
{parameters}

Returns
-------
{returns}

Raises
------
ValueError, DTypeError, IndexRangeError
    What NumPy raises for such operands, naming the function and them.

See Also
--------
numpy.{name} : The same on NumPy arrays.

Examples
--------
>>> import xarraylite as xl
>>> {example}
{result}
"""


def __getattr__(name: str) -> Any:
    row = BY_NAME.get(name)
    if row is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = function_of(name, row)
    return made


def __dir__() -> list[str]:
    return sorted(BY_NAME)


def function_of(name: str, row: Row) -> Callable[..., Any]:
    """Return the function of a row."""
    signature = signature_of(row.signature)
    takes = {p.name: take for p in signature.parameters.values() if (take := _take(p.annotation))}
    reference = getattr(numpy, name)
    result = signature.return_annotation

    call = invoked(reference, name, signature, takes, row in rows_numeric.ROWS)
    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__
    call.__doc__ = page(name, row, signature)
    call.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    call.__annotations__["return"] = result
    call.__signature__ = signature  # type: ignore[attr-defined]
    two = isinstance(reference, numpy.ufunc) and reference.nin == 2
    made: Callable[..., Any] = with_methods(call, name) if two else call
    return made


def _take(annotation: str) -> Take | None:
    """Return how a parameter of a type is converted; None if it is passed on."""
    types = set(annotation.split(" | ")) - {"None"}
    if "arrays" in types:
        return several
    if "array" not in types:
        return None
    return numpy_of if types == {"array"} else perhaps


def signature_of(text: str) -> inspect.Signature:
    """Return the signature that a row writes as Python does."""
    (definition,) = ast.parse(f"def {text}: ...").body
    assert isinstance(definition, ast.FunctionDef)
    args = definition.args
    kinds = [
        *[(a, inspect.Parameter.POSITIONAL_ONLY) for a in args.posonlyargs],
        *[(a, inspect.Parameter.POSITIONAL_OR_KEYWORD) for a in args.args],
    ]
    missing = [inspect.Parameter.empty] * (len(kinds) - len(args.defaults))
    defaults = [*missing, *map(ast.literal_eval, args.defaults)]
    found = [_parameter(a, kind, d) for (a, kind), d in zip(kinds, defaults, strict=True)]
    if args.vararg is not None:
        found.append(_parameter(args.vararg, inspect.Parameter.VAR_POSITIONAL))
    for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        value = inspect.Parameter.empty if d is None else ast.literal_eval(d)
        found.append(_parameter(a, inspect.Parameter.KEYWORD_ONLY, value))
    return inspect.Signature(found, return_annotation="XArray")


def _parameter(
    arg: ast.arg, kind: Any, default: Any = inspect.Parameter.empty
) -> inspect.Parameter:
    annotation = ast.unparse(arg.annotation) if arg.annotation is not None else "object"
    return inspect.Parameter(arg.arg, kind, default=default, annotation=annotation)


def page(name: str, row: Row, signature: inspect.Signature) -> str:
    """Return the documentation of a row."""
    lines = []
    for p in signature.parameters.values():
        stars = "*" if p.kind is p.VAR_POSITIONAL else ""
        default = "" if p.default in (p.empty, None) else f", default {p.default!r}"
        given = p.annotation.removesuffix(" | None")
        optional = ", optional" if p.default is None else default
        lines.append(f"{stars}{p.name} : {given}{optional}")
        lines.append(textwrap.indent(WORDS.get(p.name, f"As for ``numpy.{name}``."), "    "))
    return _PAGE.format(
        summary=row.summary,
        name=name,
        parameters="\n".join(lines),
        returns=row.returns,
        example=row.example,
        result=row.result,
    )
