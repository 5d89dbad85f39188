"""What the tests of assignments share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from xarraylite.transforms import natives


@pytest.fixture(params=[False, True], ids=["python", "machine code"])
def machine_code(request: pytest.FixtureRequest, engine: str) -> Iterator[None]:
    """Once by methods in Python, once by those in machine code, which the other engine has not."""
    if engine == "reference":
        yield
        return
    known = bool(natives._replaced)
    (natives.install if request.param else natives.remove)()
    yield
    (natives.install if known else natives.remove)()
