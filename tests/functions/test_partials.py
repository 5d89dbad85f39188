"""Functions that differ in their first argument alone."""

from __future__ import annotations

import inspect
import pickle

import pytest

import xarraylite as xl
from xarraylite.functions.partials import sibling


def scaled(factor: float, x: float, /, offset: float = 0.0, *, sign: int = 1) -> float:
    return sign * (factor * x + offset)


@sibling(scaled, 2.0)
def double() -> None:
    """Return twice a number."""


def test_the_first_argument_is_given_and_the_others_keep_kinds_and_defaults() -> None:
    assert (double(3.0), double(3.0, 1.0), double(3.0, offset=1.0, sign=-1)) == (6.0, 7.0, -7.0)
    assert str(inspect.signature(double)) == (
        "(x: 'float', /, offset: 'float' = 0.0, *, sign: 'int' = 1) -> 'float'"
    )


def test_it_is_a_function_of_the_page_it_replaces() -> None:
    assert inspect.isfunction(double)
    assert (double.__name__, double.__module__) == ("double", __name__)
    assert double.__doc__ == "Return twice a number."
    assert inspect.getsource(double).startswith("@sibling(scaled, 2.0)\ndef double() -> None:")
    assert pickle.loads(pickle.dumps(xl.max)) is xl.max


@pytest.mark.parametrize("name", ["prod", "max", "any", "argmax", "nanstd"])
def test_messages_about_arguments_name_what_was_called(name: str) -> None:
    with pytest.raises(TypeError, match=rf"^{name}\(\) got an unexpected keyword argument 'rows'"):
        getattr(xl, name)(xl.zeros(3), rows=1)
