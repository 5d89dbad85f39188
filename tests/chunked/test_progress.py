"""Progress: a bar where somebody looks, nothing in pipes."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept
from xarraylite.chunked import bands

VALUES = np.ones((20, 30))


@pytest.mark.parametrize("progress", [None, True])
def test_pipes_hear_nothing(progress: bool | None, capfd: pytest.CaptureFixture[str]) -> None:
    if progress:
        pytest.importorskip("rich")
    xl.store(xl.open(Kept(VALUES, (5, 30))) + 1, np.zeros((20, 30)), progress=progress)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", ["x", 1, [True]])
def test_whether_to_show_it_is_yes_or_no(progress: Any) -> None:
    with pytest.raises(TypeError, match=r"^store: progress must be True, False or None, got "):
        xl.store(xl.open(VALUES) + 1, np.zeros((20, 30)), progress=progress)


def test_a_bar_says_what_is_done(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as a terminal does
    monkeypatch.setenv("COLUMNS", "80")
    a = xl.open(Kept(VALUES, (5, 30)))
    with mock.patch.object(bands, "choose_bands", return_value=None):
        xl.store(a - xl.max(a), np.zeros((20, 30)), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    last = err[err.rindex("max") :]
    for told in ("max", "store", "1/1", "GB,", "MB/s", "write", "0:00:00"):
        assert told in last


def test_a_notebook_gets_one_output_that_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """As ipykernel's shell does it, without widgets."""
    console = pytest.importorskip("rich.console")
    shown: list[str] = []

    def show(picture: Any) -> None:
        shown.append(picture._repr_mimebundle_([], [])["text/html"])

    def display(picture: Any, *, display_id: bool) -> Any:
        assert display_id
        show(picture)
        return SimpleNamespace(update=show)

    module: Any = ModuleType("IPython.display")
    module.display = display
    for name, own in (("IPython", ModuleType("IPython")), ("IPython.display", module)):
        monkeypatch.setitem(sys.modules, name, own)
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr(console, "_is_jupyter", lambda: True)
    a = xl.open(Kept(VALUES, (5, 30)))
    with mock.patch.object(bands, "choose_bands", return_value=None):
        xl.store(a - xl.max(a), np.zeros((20, 30)))
    assert len(shown) >= 4
    for told in ("max over axes", "store", "MB/s", "read", "write", "0:00:00"):
        assert told in shown[-1]
