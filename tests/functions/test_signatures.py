"""What `help` shows of types: those that the source's own names for them stand for."""

from __future__ import annotations

import inspect
import pydoc
import re

import numpy as np
import pytest

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
    text = pydoc.render_doc(xl.argmax, renderer=pydoc.plaintext).partition("\n\n")[2]
    line = text.partition("    Return")[0]
    line = " ".join(line.split()).replace("( ", "(").replace(" )", ")")  # many from 3.13 on
    assert line == (
        "argmax(a: object, axis: SupportsIndex | None = None, out: object = None, *, "
        "keepdims: bool = False) -> XExpression | XJaggedExpression"
    )


def test_calls_by_name_are_as_before() -> None:
    bound = inspect.signature(xl.sum).bind(np.ones(3), axis=0, keepdims=True)
    assert xl.sum(*bound.args, **bound.kwargs).shape == (1,)


#: Keywords of NumPy's that have no meaning here, or none yet.
LEFT_OUT = {"like", "subok", "max_work", "ndmax", "order", "einsum_call", "device"}
#: Functions whose parameters are others, as their pages say.
OTHERS = {
    "arange",
    "info",
    "empty_like",
    "einsum_path",
    "load",
    "multi_dot",
}
OTHERS |= {"cumulative_sum", "cumulative_prod", "isneginf", "isposinf", "real", "imag", "fix"}


@pytest.mark.parametrize("room", ["", "linalg", "fft"])
def test_arguments_have_numpys_names(room: str) -> None:
    """What a program may give NumPy's function by name, it may give ours, in the same place."""
    theirs, ours = (getattr(xp, room) if room else xp for xp in (np, xl))
    compared = 0
    for name in sorted(set(dir(theirs)) & set(dir(ours)) - OTHERS):
        function = getattr(theirs, name)
        if not inspect.isroutine(function) or isinstance(function, np.ufunc):
            continue
        try:
            wanted = inspect.signature(function).parameters
        except ValueError:  # NumPy says nothing of it
            continue
        mine = inspect.signature(getattr(ours, name)).parameters
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in mine.values()):
            continue
        compared += 1
        for place, p in enumerate(wanted.values()):
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in LEFT_OUT:
                assert p.name in mine, (name, p.name)
                assert mine[p.name].kind is not p.POSITIONAL_ONLY, (name, p.name)
                if name != "clip":
                    assert list(mine).index(p.name) == place, (name, p.name)
    assert compared > 10
    x = xl.asarray([[1.0, 4.0], [2.0, 3.0]])
    assert xl.array_equal(a1=xl.clip(a=x, a_min=2, a_max=3), a2=[[2, 3], [2, 3]])
    assert xl.tile(A=x, reps=(2, 1)).shape == xl.eye(N=4, M=2).shape
    assert float(xl.sum(a=x, axis=0, where=x > 1)[1]) == float(
        xl.where(x > 0, x=x, y=0)[:, 1].sum()
    )
    assert xl.full_like(a=x, fill_value=2).tolist() == [[2, 2], [2, 2]]
