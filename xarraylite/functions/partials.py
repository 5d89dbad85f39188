"""Functions that share their parameters and differ in one thing: written once, documented each."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

A = TypeVar("A")
P = ParamSpec("P")
R = TypeVar("R")


def sibling(
    function: Callable[Concatenate[A, P], R], first: A
) -> Callable[[Callable[[], None]], Callable[P, R]]:
    """Give a page of documentation a function: another one with its first argument given.

    Unlike `functools.partial` it makes a function, with a name that messages about its arguments
    show, and with the types, defaults and kinds of the other parameters.

    Parameters
    ----------
    function : callable
        What the siblings share.
    first : object
        In what this one differs.

    Returns
    -------
    callable
        A decorator for a function that has only a name and a documentation.

    Examples
    --------
    >>> def power(exponent: int, x: float, /, scale: float = 1.0) -> float:
    ...     return scale * x**exponent
    >>> @sibling(power, 3)
    ... def cube() -> None:
    ...     '''Return the third power of a number.'''
    >>> cube(2.0), cube(2.0, scale=0.5), inspect.signature(cube)
    (8.0, 4.0, <Signature (x: 'float', /, scale: 'float' = 1.0) -> 'float'>)
    """

    def decorate(page: Callable[[], None]) -> Callable[P, R]:
        signature = inspect.signature(function)
        parameters = list(signature.parameters.values())[1:]
        bare = [p.replace(annotation=p.empty, default=p.empty) for p in parameters]
        given = [f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else str(p) for p in bare]
        name = page.__name__
        space: dict[str, Any] = {"_function": function, "_first": first}
        head = inspect.Signature(bare)
        exec(f"def {name}{head}: return _function(_first, {', '.join(given)})", space)  # noqa: S102
        made, model = space[name], inspect.unwrap(function)
        made.__defaults__, made.__kwdefaults__ = model.__defaults__, model.__kwdefaults__
        made.__annotations__ = {p.name: p.annotation for p in parameters}
        made.__annotations__["return"] = signature.return_annotation
        # Its source is the page, for `inspect` and in tracebacks.
        place = page.__code__
        made.__code__ = made.__code__.replace(
            co_filename=place.co_filename, co_firstlineno=place.co_firstlineno
        )
        for attribute in ("__module__", "__qualname__", "__doc__"):
            setattr(made, attribute, getattr(page, attribute))
        return made  # type: ignore[no-any-return]

    return decorate
