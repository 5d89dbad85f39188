"""What `help` shows of a function's types: the types that their names in the source stand for.

The source has names for types that occur often (``Axis``, ``LayoutLike``).  Who asks for help does
not know them, so they are spelled out in the signature that `inspect` finds; annotations stay as
they are written.
"""

from __future__ import annotations

import inspect
import re
import sys
import typing
from types import FunctionType, MappingProxyType, NoneType, UnionType
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
    parts = re.sub(_WORD, lambda found: _of(found[0], known), annotation)
    return _Spelled(" | ".join(dict.fromkeys(parts.split(" | "))) if "[" not in parts else parts)


def _of(word: str, known: dict[str, Any]) -> str:
    meant = known.get(word)
    if isinstance(meant, str):
        return meant
    if isinstance(meant, UnionType) or typing.get_origin(meant) in (typing.Literal, typing.Union):
        return _name(meant)
    return word


def _name(meant: Any) -> str:
    """Return how a type is written."""
    if isinstance(meant, UnionType) or typing.get_origin(meant) is typing.Union:
        return " | ".join([_name(part) for part in typing.get_args(meant)])
    if isinstance(meant, typing.ForwardRef):
        return meant.__forward_arg__
    if meant is NoneType:
        return "None"
    plain = isinstance(meant, type) and not typing.get_args(meant)
    text = str(getattr(meant, "__name__", meant)) if plain else str(meant)
    return re.sub(r"\b(?:typing|collections\.abc|\w+(?:\.\w+)+(?=\.))\.", "", text)
