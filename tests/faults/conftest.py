"""A cache directory of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from xarraylite._config import settings
from xarraylite.codegen import store


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own, not yet existing cache directory, and counts that start at zero."""
    monkeypatch.setattr(store, "_state", store._State())
    settings.cache, settings.cache_dir = True, str(tmp_path / "kernels")
    return tmp_path / "kernels"
