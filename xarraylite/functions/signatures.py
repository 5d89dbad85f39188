"""What `help` shows of a function's types: the types that their names in the source stand for.

The source has names for types that occur often (``Axis``, ``LayoutLike``), texts that say what they
stand for.  Who asks for help does not know them, so they are spelled out in the signature that
`inspect` finds; annotations stay as they are written.
"""

from __future__ import annotations

import inspect
import re
import sys
from types import FunctionType, MappingProxyType
from typing import Any

_WORD = r"'[^']*'|\"[^\"]*\"|[A-Za-z_][\w.]*"

#: What is converted to arrays is typed by how; see `of_numpy`.
_TAKEN = {
    "Array": "XExpression | ndarray | Sequence | float",
    "Arrays": "Sequence | XExpression | ndarray",
    "Container": "XContainer | ndarray",
}


class _Spelled(str):
    """Text of a type, shown without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


class Signature(inspect.Signature):
    """The signature that `help` shows, made when somebody looks at it."""

    __slots__ = ("bare", "function")

    def __getattr__(self, name: str) -> Any:
        """Make what `inspect.Signature` keeps."""
        if name not in inspect.Signature.__slots__:
            raise AttributeError(name)
        function, bare = self.function, inspect.signature(self.bare)
        shared = inspect.unwrap(function).__globals__.get("_function", function)  # by siblings
        modules = [vars(sys.modules[f.__module__]) for f in (inspect.unwrap(shared), function)]
        known = {**modules[0], **modules[1], **_TAKEN}
        parameters = {
            name: p.replace(annotation=_text(p.annotation, known))
            for name, p in bare.parameters.items()
        }
        self._return_annotation = _text(bare.return_annotation, known)
        self._parameters = MappingProxyType(parameters)
        return getattr(self, name)


def spelled(function: Any) -> None:
    """Give a function the signature that `help` shows."""
    shown: Any = Signature.__new__(Signature)
    # With the same parameters, and no other signature than it has now.
    places = (function.__defaults__, function.__closure__)
    bare = FunctionType(function.__code__, function.__globals__, function.__name__, *places)
    bare.__kwdefaults__, bare.__annotations__ = function.__kwdefaults__, function.__annotations__
    bare.__dict__.update(vars(function))
    shown.function, shown.bare = function, bare
    function.__signature__ = shown


def _text(annotation: Any, known: dict[str, Any]) -> Any:
    """Return an annotation as it is shown."""
    if not isinstance(annotation, str) or isinstance(annotation, _Spelled):
        return annotation

    def meant(found: re.Match[str]) -> str:
        text = known.get(found[0])
        return re.sub(_WORD, meant, text) if isinstance(text, str) else found[0]

    parts = re.sub(_WORD, meant, annotation)
    return _Spelled(" | ".join(dict.fromkeys(parts.split(" | "))) if "[" not in parts else parts)
