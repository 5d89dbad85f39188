"""What tells expressions apart, and how they travel: users' functions above all."""

from __future__ import annotations

import pickle
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.chunked.kept import Kept, child_of
from xarraylite.chunked.parcel import Parcel, fingerprint
from xarraylite.operands.nodes import as_node

VALUES = np.arange(12.0).reshape(4, 3)
FACTOR = 2.0


def _key(e: Any) -> str:
    return fingerprint(as_node(e, "test"), ())


def _with_cell(n: float) -> Callable[..., Any]:
    return lambda v: v * n


def _with_default(n: float) -> Callable[..., Any]:
    def function(v: Any, _n: float = n) -> Any:
        return v * _n

    return lambda v: function(v) * 1.0


def _with_helper(n: float) -> Callable[..., Any]:
    inside = _with_cell(n)
    return lambda v: inside(v) + 1


def _with_tuple(n: float) -> Callable[..., Any]:
    both = (n, 1.0)
    return lambda v: v * both[0]


@pytest.mark.parametrize("make", [_with_cell, _with_default, _with_helper, _with_tuple])
def test_what_functions_refer_to_tells_them_apart(make: Callable[..., Any]) -> None:
    a = xl.open(VALUES)
    one, same, other = (_key(xl.vectorize(make(n))(a)) for n in (2.0, 2.0, 3.0))
    assert one == same != other


def test_global_names_tell_functions_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(v: Any) -> Any:
        return v * FACTOR

    before = _key(xl.vectorize(function)(xl.open(VALUES)))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert before != _key(xl.vectorize(function)(xl.open(VALUES)))


def test_what_functions_take_of_modules_tells_them_apart() -> None:
    constants: Any = ModuleType("constants")
    constants.factor, constants.itself, constants.unused = 2.0, constants, 1.0

    def function(v: Any) -> Any:
        return v * constants.itself.factor

    def key() -> str:
        return _key(xl.vectorize(function)(xl.open(VALUES)))

    before = key()
    constants.unused = 2.0
    assert before == key()
    constants.factor = 3.0
    assert before != key()


def test_two_functions_are_two_tasks(engine: str) -> None:
    dask = pytest.importorskip("dask")
    a = xl.open(VALUES)
    found = dask.compute(
        *[xl.to_dask(xl.vectorize(_with_cell(n))(a)) for n in (2.0, 3.0)], scheduler="sync"
    )
    np.testing.assert_array_equal(found, [VALUES * 2, VALUES * 3])


def test_arrays_that_nothing_tells_apart_are_two_tasks(engine: str) -> None:
    dask = pytest.importorskip("dask")
    lazy = [xl.to_dask(xl.open(Kept(VALUES + n, (2, 3))) * 2) for n in (0, 1)]
    found = dask.compute(*lazy, lazy[0] - lazy[1], scheduler="sync")
    np.testing.assert_array_equal(found, [VALUES * 2, VALUES * 2 + 2, np.full((4, 3), -2.0)])


@pytest.mark.once
def test_another_function_is_not_resumed(tmp_path: Path) -> None:
    """And the same one is, in another process."""
    pytest.importorskip("zarr")
    code = """
        import sys
        import numpy as np
        import xarraylite as xl

        class Stops:
            shape, dtype, chunks = (4, 3), np.dtype("f8"), (1, 3)
            def __getitem__(self, key):
                if key[0].stop > stop:
                    raise ValueError("not now")
                return np.arange(12.0).reshape(4, 3)[key]

        def made(n):
            return xl.vectorize(lambda v: v * n + 1)

        def stored(n, resume):
            return xl.store(made(n)(xl.open(Stops())), {path!r}, memory=200, resume=resume)
    """
    code = textwrap.dedent(code).format(path=str(tmp_path / "out"))
    names: dict[str, Any] = {"stop": 2, "__name__": "__main__"}
    exec(code, names)
    with pytest.raises(xl.StorageError, match="not now"):
        names["stored"](2.0, False)
    with pytest.raises(xl.StorageError, match="begun with another expression"):
        names["stored"](3.0, True)
    child = child_of(f"stop = 9\n{code}\nprint(stored(2.0, True)[...].sum())")
    assert child.communicate()[0] == f"{VALUES.sum() * 2 + 12}\n"


def _add(a: float, b: float) -> float:
    return a + b


def test_folds_of_users_travel(engine: str) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    e = xl.reduce(_add, xl.open(VALUES), 0, initial=0.0)
    again = pickle.loads(cloudpickle.dumps(Parcel(as_node(e, "test")))).node
    found = xl.eval(type(e)(again))
    np.testing.assert_array_equal(found.numpy(), VALUES.sum(axis=0))


def test_memory_that_is_stretched_is_neither_copied_nor_sent_as_often() -> None:
    """A row over very many rows is told apart, and travels, as the row it is."""

    class Rows:
        shape, dtype, chunks = (1 << 45, 3), np.dtype("f8"), (8, 3)

        def __getitem__(self, key: Any) -> Any:
            raise AssertionError("read")

    def write(row: Any) -> Any:
        return xl.open(Rows()) * 2 + xl.asarray(row) + xl.asarray(row[:1])[None, :]

    row = np.arange(3.0)
    assert _key(xl.asarray(np.ones(4))[:, None] + row) != _key(xl.asarray(np.ones(4))[:, None] + 1)
    told: list[tuple[str, str]] = []
    fingerprint(as_node(write(row), "test"), (), told)
    assert len(told) == 3
    stretched = xl.broadcast_to(xl.asarray(row), (1 << 45, 3)) + xl.arange(3.0)
    sent = pickle.dumps(Parcel(as_node(stretched, "test")))
    assert len(sent) < 10_000
    again = pickle.loads(sent).node
    assert again.shape == stretched.shape
    assert fingerprint(again, ()) == _key(stretched)
