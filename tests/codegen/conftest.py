"""Tests of plans, source and kernels say something about the compiled engine alone."""

from __future__ import annotations

import pytest


@pytest.fixture
def compiled(engine: str) -> None:
    """Skip where this run evaluates with NumPy: what is tested would not be used."""
    if engine == "reference":
        pytest.skip("about the compiled engine")
