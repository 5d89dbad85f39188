"""Documentation of elementwise functions, written from the op table.

The dtypes a page names are found by asking the operation's dtype rule, and the output of its
example by running the NumPy reference, so neither can go out of date.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import DTypeError
from ..dtypes.names import bool_, complex128, float64, int64, uint64
from ..ops.op import Op
from ..ops.rules import KIND_NAMES, TypeRule

_PAGE = """{summary}

Parameters
----------
{names} : array, expression or number
{operands}
out : container, optional
    Where to write the result.
where : array or expression of bool, optional
    Elements to compute; others keep what `out` has, or are 0.
dtype, signature : dtype, optional
    To compute in, and of the result unless that is bool; NumPy has two names for it.
casting : str, default "same_kind"
    Which casts to `dtype`, and of the result to that of `out`, are allowed.
order, subok : optional
    Taken as NumPy takes them, and of no effect: results are lazy.

Returns
-------
XExpression
{returns}

Raises
------
DTypeError
    If an operand is no array or number, or the operation is not defined for its dtype.
{broadcast_error}
{see_also}Notes
-----
{notes}

Examples
--------
>>> import numpy as np
>>> import xarraylite as xl
{arguments}
>>> np.asarray(xl.{name}({names})){rounding}.tolist()
{result}
"""

_BROADCAST_ERROR = """BroadcastError
    If the shapes do not broadcast.
"""

_SEE_ALSO = """See Also
--------
numpy.{name} : The same on NumPy arrays.

"""

_SAMPLES = {"b": bool_, "i": int64, "u": uint64, "f": float64, "c": complex128}


def describe_as(function: Callable[..., object], op: Op, names: tuple[str, ...]) -> None:
    """Give a function the name and the documentation of an operation.

    Parameters
    ----------
    function : callable
        Function to describe.
    op : Op
        Row of the op table.
    names : tuple of str
        Names of its parameters.
    """
    function.__name__ = function.__qualname__ = op.name
    function.__module__ = "xarraylite.functions.elementwise"
    function.__doc__ = page(op, names)


def page(op: Op, names: tuple[str, ...]) -> str:
    """Return the documentation of an operation with parameters of these names."""
    arguments, result = _example(op, names)
    is_float = result.dtype.kind in "fc"
    broadcast = "" if len(names) == 1 else ", broadcast against each other"
    rule = op.rule.text if isinstance(op.rule, TypeRule) else "the result has its own dtype rule"
    notes = " ".join(part for part in (op.notes, _accuracy(op)) if part)
    return _PAGE.format(
        summary=op.summary,
        names=", ".join(names),
        operands=_wrap(f"Values{broadcast}; {_listed(_accepted(op))}.", "    "),
        returns=_wrap(f"Lazy; {rule}.", "    "),
        broadcast_error=_BROADCAST_ERROR if broadcast else "",
        see_also=_SEE_ALSO.format(name=op.name) if hasattr(np, op.name) else "",
        notes=_wrap(notes, ""),
        name=op.name,
        arguments=arguments,
        rounding=".round(6)" if is_float else "",
        result=(result.round(6) if is_float else result).tolist(),
    )


def _wrap(text: str, indent: str) -> str:
    if len(text) <= 88:  # most are short, and textwrap is slow enough to show at import
        return indent + text
    return textwrap.fill(text, 92, initial_indent=indent, subsequent_indent=indent)


def _listed(kinds: str) -> str:
    if kinds == "biufc":
        return "any dtype"
    *most, last = [KIND_NAMES[kind] for kind in kinds]
    return f"{', '.join(most)} or {last}" if most else last


def _accepted(op: Op) -> str:
    """Return the kinds of operands that an operation is defined for."""
    return "".join(kind for kind, dtype in _SAMPLES.items() if _takes(op, dtype))


def _takes(op: Op, dtype: np.dtype[Any]) -> bool:
    try:
        op.rule(op.name, (dtype,) * op.arity)
    except DTypeError:
        return False
    return True


def _accuracy(op: Op) -> str:
    loops = {op.rule(op.name, (_SAMPLES[k],) * op.arity)[0][-1].kind for k in _accepted(op)}
    inexact = "".join(k for k in "biufc" if k in loops and k not in op.exact)
    if not inexact:
        return "Results are NumPy's bit for bit."
    real = "Results are within 4 units in the last place" if "f" in inexact else ""
    left = "for complex numbers they are NumPy's own" if op.bodies.get("c", "") == "" else ""
    parts = [part for part in (real, left if "c" in inexact else "") if part]
    return ("; ".join(parts) + ".") if parts else ""


def _example(op: Op, names: tuple[str, ...]) -> tuple[str, np.ndarray[Any, np.dtype[Any]]]:
    """Return the lines that make an example's arguments, and NumPy's result."""
    arrays = [np.asarray(values) for values in op.example]
    loops, _ = op.rule(op.name, tuple([array.dtype for array in arrays]))
    with np.errstate(all="ignore"):
        result = op.numpy(*[a.astype(loop) for a, loop in zip(arrays, loops, strict=True)])
    texts = [
        repr(values).replace("inf", "np.inf").replace("nan", "np.nan") for values in op.example
    ]
    lines = [f">>> {name} = xl.asarray({text})" for name, text in zip(names, texts, strict=True)]
    return "\n".join(lines), np.asarray(result)
