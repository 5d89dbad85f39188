"""How arrays print: NumPy's text of the values, with our class name, or what is lazy in words."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from .._lazy_import import Later
from ..dtypes.names import dtype_name
from ..ir.node import Elementwise, Gather, Iota, Leaf, Node, Reduce, Scalar, Stored, View
from ..layout.strided import Strided
from ..memory.snapshots import Copy
from . import gathers

if TYPE_CHECKING:
    import html as entities
else:
    entities = Later("html")

#: Dtypes whose name a reader can tell from the values.
_OBVIOUS = frozenset({"float64", "int64", "bool", "complex128"})


def shows_dtype(dtype: np.dtype[Any]) -> bool:
    """Tell whether the values do not show their dtype."""
    return dtype_name(dtype) not in _OBVIOUS


def container_repr(kind: str, values: np.ndarray[Any, Any], *options: Any) -> str:
    """Return ``Kind(values, dtype=…)``, with the shape where values are missing.

    The options are those of NumPy's ``array_repr``, whose text it is.
    """
    return np.array_repr(values.view(_named(kind)), *options)


@lru_cache(64)
def _named(kind: str) -> type[np.ndarray[Any, Any]]:
    """Return a class of that name: NumPy prints a class's own, and breaks lines as it is long."""
    return type(kind, (np.ndarray,), {})


def formatted(value: Any, spec: str) -> str:
    """Return a NumPy scalar formatted as NumPy and Python do; narrow ones as Python's numbers."""
    return format(value.item() if spec and value.dtype.isbuiltin != 1 else value, spec)


def html(facts: dict[str, str], text: str | None) -> str:
    """Return what a notebook shows of an array.

    Parameters
    ----------
    facts : dict
        Facts by their names; one without a name is the title.
    text : str or None
        The values, if there are some.
    """
    escape = entities.escape
    shown = [
        f"<b>{escape(fact)}</b>" if not name else f"{escape(name)} <code>{escape(fact)}</code>"
        for name, fact in facts.items()
    ]
    values = "" if text is None else f"<pre>{escape(text)}</pre>"
    return f"<div class='xarraylite'><div>{' · '.join(shown)}</div>{values}</div>"


def class_of(node: Node) -> str:
    """Return xtensor's name of what a lazy expression is, for its `repr`."""
    name = _CLASSES.get(type(node))
    return type(node).__name__ if name is None else name(node)


def _of_leaf(node: Leaf) -> str:
    """Return what memory is called: if it was copied, what it is a copy of, or a view of that."""
    if not isinstance(node.snapshot, Copy):
        return "XView"
    whole = gathers.gathered(node.snapshot)
    if whole is None:  # the memory that it was copied from is gone
        return Gather.__name__
    return class_of(whole) if node.map == Strided.row_major(whole.shape) else View.__name__


_CLASSES: dict[type[Node], Callable[[Any], str]] = {
    Elementwise: lambda node: f"XFunction {node.op.name}",
    Reduce: lambda node: f"XReducer {node.op.name}",
    Leaf: _of_leaf,
    Scalar: lambda node: f"XScalar {node.value}",
    Iota: lambda node: "XGenerator",
    Stored: lambda node: f"XFunction over {node.source}",
}
