"""Data classes that cost little to define.

`dataclasses.dataclass` compiles up to seven functions for a class, half a millisecond of a start
for each of a hundred classes, of most of which a process makes no instance.  A record has
the same fields, signature and behaviour.  Comparing, hashing, printing and pickling are functions
that all records share, which read the fields from the class; the constructor alone is compiled,
once it is called often.  The fields are noted where `dataclasses` looks for them, by a shorter way
than its own, which searches every annotation for what is no field.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from operator import attrgetter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

__all__ = ["record"]

_set = object.__setattr__

#: How `dataclasses` marks what is a field.
_FIELD: Any = dataclasses._FIELD  # type: ignore[attr-defined]


def _repr(self: Any) -> str:
    shown = [f"{name}={getattr(self, name)!r}" for name in self._shown]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _eq(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return self._key(self) == self._key(other)


def _hash(self: Any) -> int:
    return hash(self._key(self))


def _refuse_set(self: Any, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _getstate(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _setstate(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        _set(self, field.name, value)


def _constructor(cls: type, frozen: bool) -> Callable[..., None]:
    """Compile the constructor of a record, out of the names of its fields."""
    known: dict[str, Any] = {"_set": _set, "_NONE": dataclasses.MISSING}
    parameters, lines = [], []
    for number, field in enumerate(dataclasses.fields(cls)):
        name = value = field.name
        if field.default is not dataclasses.MISSING:
            known[f"_default_{number}"] = field.default
            parameters.append(f"{name}=_default_{number}")
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_make_{number}"] = field.default_factory
            parameters.append(f"{name}=_NONE")
            value = f"_make_{number}() if {name} is _NONE else {name}"
        else:
            parameters.append(name)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    head = f"def __init__(self, {', '.join(parameters)}):\n "
    exec(head + "\n ".join(lines or ["pass"]), known)  # noqa: S102  (our own classes' names)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    made.__annotations__ = {f.name: f.type for f in dataclasses.fields(cls)} | {"return": None}
    return made


#: Calls of a constructor for which it is not compiled: that takes as long as so many of them.
_FEW = 96


def _filled(self: Any, fields: dict[str, Any], args: Any, kwargs: dict[str, Any]) -> bool:
    """Set the fields of a record; False where its constructor refuses what is given."""
    values = {**dict(zip(fields, args, strict=False)), **kwargs}
    if len(values) < len(args) + len(kwargs) or not values.keys() <= fields.keys():
        return False
    for name, field in fields.items():
        value = values.get(name, field.default)
        if value is dataclasses.MISSING:
            if field.default_factory is dataclasses.MISSING:
                return False
            value = field.default_factory()
        _set(self, name, value)
    return True


class _Signature:
    """The parameters of a record's constructor, compiled or not."""

    def __init__(self, cls: Any, frozen: bool) -> None:
        self.of = cls, frozen

    def __get__(self, made: object, owner: Any) -> inspect.Signature:
        cls, frozen = self.of
        init = owner.__init__ if owner.__init__ is not cls.__init__ else _constructor(cls, frozen)
        signature = inspect.signature(init)
        return signature.replace(parameters=list(signature.parameters.values())[1:])


def _methods(frozen: bool, slots: bool, eq: bool) -> dict[str, Any]:
    """Return what all records share."""
    shared: dict[str, Any] = {"__repr__": _repr, "__replace__": dataclasses.replace}
    if eq:
        shared |= {"__eq__": _eq, "__hash__": _hash if frozen else None}
    if frozen:
        shared |= {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
    if frozen and slots:
        shared |= {"__getstate__": _getstate, "__setstate__": _setstate}
    return shared


#: What `dataclasses` asks of the classes that others are derived from.
_PARAMETERS = {
    frozen: SimpleNamespace(
        init=False, repr=False, eq=False, order=False, unsafe_hash=False, frozen=frozen
    )
    for frozen in (False, True)
}

#: Annotations that are no fields.
_OTHERS = ("ClassVar", "typing.ClassVar", "InitVar", "KW_ONLY")


def _fields(cls: Any, frozen: bool) -> dict[str, Any]:
    """Return the fields of a record by their names, those of its bases first."""
    found: dict[str, Any] = {}
    for base in cls.__mro__[:0:-1]:
        inherited = vars(base).get("__dataclass_fields__")
        if inherited is not None and base.__dataclass_params__.frozen is not frozen:
            raise TypeError(f"record: either {cls.__name__} is frozen or {base.__name__} is")
        found |= inherited or {}
    for name, kind in (vars(cls).get("__annotations__") or inspect.get_annotations(cls)).items():
        if str(kind).startswith(_OTHERS):
            raise TypeError(f"record: {cls.__name__}.{name} is no field but {kind}")
        made: Any = vars(cls).get(name, dataclasses.MISSING)
        if not isinstance(made, dataclasses.Field):
            made = dataclasses.field(default=made)
        if made.default.__class__.__hash__ is None:
            raise ValueError(f"record: the default of {cls.__name__}.{name} is mutable")
        made.name, made.type, made.kw_only, made._field_type = name, kind, False, _FIELD
        found[name] = made
    return found


def _finished(cls: Any, fields: dict[str, Any], given: dict[str, Any], slots: bool) -> Any:
    """Return the class with more attributes; where slots are asked for it is another one."""
    if not slots:
        for name in [name for name, field in fields.items() if vars(cls).get(name) is field]:
            delattr(cls, name)
            if fields[name].default is not dataclasses.MISSING:
                given[name] = fields[name].default
        for name, value in given.items():
            setattr(cls, name, value)
        return cls
    others = {"__dict__", "__weakref__", *fields}
    body = {name: value for name, value in vars(cls).items() if name not in others}
    taken = {name for base in cls.__mro__[1:-1] for name in vars(base).get("__slots__", ())}
    body["__slots__"] = tuple([name for name in fields if name not in taken])
    body["__qualname__"] = cls.__qualname__
    return type(cls)(cls.__name__, cls.__bases__, body | given)


if TYPE_CHECKING:
    # For type checkers a record is a data class.
    from dataclasses import dataclass as record
else:

    def record(cls=None, /, *, frozen=False, slots=False, eq=True):
        """Make a record of a class: as `dataclasses.dataclass`, with fewer options.

        Parameters
        ----------
        cls : type, optional
            The class, with a docstring; without it, a decorator is returned.
        frozen : bool
            Whether fields are never assigned; such records are hashed by their fields.
        slots : bool
            Whether instances have slots instead of a dictionary.
        eq : bool
            Whether records of equal fields are equal; otherwise each is its own.
        """
        if cls is None:
            return lambda cls: record(cls, frozen=frozen, slots=slots, eq=eq)
        fields = _fields(cls, frozen)
        # Of one name alone the getter would return no tuple.
        names = [name for name, field in fields.items() if field.compare] or ["__class__"]
        given = _methods(frozen, slots, eq) | {
            "__match_args__": tuple(fields),
            "__dataclass_fields__": fields,
            "__dataclass_params__": _PARAMETERS[frozen],
            "_shown": tuple([name for name, field in fields.items() if field.repr]),
            "_key": attrgetter(*names, "__class__"),
        }

        checked, left = hasattr(cls, "__post_init__"), _FEW

        def __init__(self, *args, **kwargs):
            nonlocal left
            left -= 1
            if left < 0 or not _filled(self, fields, args, kwargs):
                cls.__init__ = compiled = _constructor(cls, frozen)
                compiled(self, *args, **kwargs)
            elif checked:
                self.__post_init__()

        own = vars(cls)
        if "__init__" not in own:
            given["__init__"] = __init__
        cls = _finished(cls, fields, {n: v for n, v in given.items() if n not in own}, slots)
        if cls.__init__ is __init__:
            cls.__signature__ = _Signature(cls, frozen)
        return cls
