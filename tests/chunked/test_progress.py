"""Progress: a bar where somebody looks, nothing in pipes."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept
from xarraylite.chunked import bands

VALUES = np.ones((20, 30))


def test_pipes_hear_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    xl.store(xl.open(Kept(VALUES, (5, 30))) + 1, np.zeros((20, 30)))
    assert capfd.readouterr() == ("", "")


def test_a_bar_says_what_is_done(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    a = xl.open(Kept(VALUES, (5, 30)))
    with mock.patch.object(bands, "choose_bands", return_value=None):
        xl.store(a - xl.max(a), np.zeros((20, 30)), progress=True)
    out, err = capfd.readouterr()
    assert out == ""
    assert "max over axes (0, 1)" in err
    assert "store" in err
