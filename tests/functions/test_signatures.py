"""What `help` shows of types: those that the source's own names for them stand for."""

from __future__ import annotations

import inspect
import pydoc
import re

import numpy as np

import xarraylite as xl

ALIASES = {"Array", "Arrays", "Axes", "Axis", "Container", "Ints", "Lazy", "LayoutLike"}
ALIASES |= {"MemoryOrder", "Mode", "PadMode", "ShapeLike", "Side"}


def test_help_spells_types_out() -> None:
    for name in xl.__all__:
        function = getattr(xl, name)
        if inspect.isfunction(function):
            text = re.sub(r"'[^']*'", "", str(inspect.signature(function)))
            shown = set(re.findall(r"\w+", text))
            assert not shown & ALIASES, name


def test_the_line_that_help_begins_with() -> None:
    lines = pydoc.render_doc(xl.argmax, renderer=pydoc.plaintext).splitlines()
    assert lines[2] == (
        "argmax(x: object, /, axis: SupportsIndex | None = None, out: object = None, *, "
        "keepdims: bool = False) -> XExpression | XJaggedExpression"
    )


def test_calls_by_name_are_as_before() -> None:
    bound = inspect.signature(xl.sum).bind(np.ones(3), axis=0, keepdims=True)
    assert xl.sum(*bound.args, **bound.kwargs).shape == (1,)
