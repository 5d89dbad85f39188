"""The idioms of the page "Coming from NumPy": each row runs, and gives what NumPy gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

import xarraylite as xl
from tests.cases import together

PAGE = Path(__file__).parent.parent / "docs" / "from_numpy.md"
_ROW = re.compile(r"^\| `(.+?)` \| `(.+?)` \| (.+) \|$", re.MULTILINE)
ROWS = _ROW.findall(PAGE.read_text(encoding="utf-8").partition("## What differs")[0])


def operands() -> dict[str, Any]:
    a = np.array([[3.0, 1.0, 4.0, 1.0], [5.0, 2.0, 6.0, 0.0], [1.0, 3.0, 2.0, 7.0]])
    b, v, s = a[::-1] + 1, np.array([2.0, 7.0, 1.0, 8.0]), a[:, :3] + 9 * np.eye(3)
    return {"a": a, "b": b, "v": v, "s": s, "m": a > 2}


def run(code: str, names: dict[str, Any]) -> Any:
    """The value of an expression, or ``a`` after a statement."""
    with np.errstate(all="ignore"):
        try:
            made = eval(compile(code, "row", "eval"), names)
        except SyntaxError:
            exec(code, names)
            made = None
    return names["a"] if made is None else made


def compare(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, tuple | list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            compare(one, other)
        return
    got, wanted = np.asarray(ours), np.asarray(theirs)
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_the_table_is_there() -> None:
    assert len(ROWS) > 80


@together(("numpy", "here", "result"), ROWS)
def test_idiom(numpy: str, here: str, result: str) -> None:
    theirs = run(numpy, {"np": np, **operands()})
    names = {"xl": xl, **{name: xl.asarray(x) for name, x in operands().items()}}
    ours = run(here, names)
    compare(ours, theirs)
    kinds = {"lazy": xl.XExpression, "view": xl.XView, "container": xl.XArray}
    wanted = kinds.get(re.split(r"\W", result)[0])
    if wanted is not None:
        assert type(ours) is wanted
    if result.startswith("computed") and "view" not in result:
        parts = ours if isinstance(ours, tuple) else [ours]
        assert all(type(x) is xl.XArray or isinstance(x, xl.XScalar) for x in parts)
