"""Arrays of NumPy as operands: what is lazy keeps the values that they had, views share them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.operands.nodes import COPIED_BYTES
from xarraylite.testing import count_allocations

pytestmark = pytest.mark.usefixtures("both_ways")


def arrays() -> dict[str, Any]:
    """Return matrices of NumPy's that lie, and are written, in different ways."""
    values = np.arange(1.0, 13.0).reshape(3, 4)
    columns = np.arange(1.0, 37.0).reshape(3, 4, 3)[:, :, 1]
    records = np.zeros((3, 4), [("first", "i1"), ("second", "f8")])
    records["second"] = values
    return {
        "rows": values,
        "columns": np.asfortranarray(values),
        "apart": columns,
        "backwards": values[::-1, ::-1],
        "stretched": np.broadcast_to(values[0], (3, 4)),
        "other bytes": values.astype(">f8"),
        "a field": records["second"],
        "short": values.astype(np.float32),
        "whole": values.astype(np.int16),
        "truths": values > 4,
        "complex": values * (1 + 2j),
        "none": values[:0],
    }


def write(n: Any) -> None:
    """Change all elements of an array, and what it is a view of."""
    root = n if n.flags.writeable else n.base
    root[...] = root == 0 if root.dtype == bool else 77


#: Functions of a container ``a`` and an array ``n`` that return no views.
LAZY: dict[str, Any] = {
    "an operator": lambda xp, a, n: a + n,
    "reflected": lambda xp, a, n: n * a,
    "among three": lambda xp, a, n: xp.where(a > 5, n, a),
    "twice": lambda xp, a, n: xp.add(n, n) + a * n,
    "alone": lambda xp, a, n: xp.square(n),
    "a comparison": lambda xp, a, n: n != a,
    "on a lazy result": lambda xp, a, n: (a * 2 - 1) + n,
    "a total": lambda xp, a, n: xp.sum(n),
    "along an axis": lambda xp, a, n: xp.sum(n, axis=0),
    "a mean": lambda xp, a, n: xp.mean(n, axis=1),
    "a join": lambda xp, a, n: xp.concatenate([n, a, n]),
    "a stack": lambda xp, a, n: xp.stack([n, n]),
    "moved": lambda xp, a, n: xp.roll(n, 1, 0),
    "taken": lambda xp, a, n: xp.take(n, [1, 0], axis=1),
    "repeated": lambda xp, a, n: xp.tile(n, 2),
    "a trace": lambda xp, a, n: xp.trace(n[:, :3]),
    "a matrix of a vector": lambda xp, a, n: xp.diagflat(n),
    "a copy": lambda xp, a, n: xp.astype(n, complex),
    "a mask": lambda xp, a, n: xp.sum(a, where=n != 3),
}


#: What reads arrays in the ways that there are: as operands of known kinds, as nodes, and joined.
WAYS = ("an operator", "among three", "along an axis", "a join")


@pytest.mark.parametrize(
    ("lies", "name"),
    [*(("rows", name) for name in LAZY), *((lies, name) for lies in arrays() for name in WAYS)],
)
def test_lazy_results_mean_what_they_meant(lies: str, name: str) -> None:
    n, function = arrays()[lies], LAZY[name]
    b = np.linspace(1, 9, n.size).reshape(n.shape)
    a = xl.asarray(b)
    try:
        wanted = function(np, b, n.astype(n.dtype.newbyteorder("=")))
    except ValueError:  # of no elements
        pytest.skip("NumPy refuses it")
    made = function(xl, a, n)
    write(n)
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-6)


VIEWS: dict[str, Any] = {
    "reshape": lambda xp, n: xp.reshape(n, (4, 3)),
    "transpose": lambda xp, n: xp.transpose(n),
    "flip": lambda xp, n: xp.flip(n),
    "broadcast_to": lambda xp, n: xp.broadcast_to(n, (2, 3, 4)),
    "diagonal": lambda xp, n: xp.diagonal(n),
    "diag": lambda xp, n: xp.diag(n),
    "split": lambda xp, n: xp.split(n, 2, axis=1)[1],
    "ravel": lambda xp, n: xp.ravel(n),
    "real": lambda xp, n: xp.real(n),
    "an operation on one": lambda xp, n: xp.flip(n)[1:],
}


@pytest.mark.parametrize("function", VIEWS.values(), ids=VIEWS)
def test_views_share_what_is_written(function: Any) -> None:
    n = np.arange(12.0).reshape(3, 4)
    made, wanted = function(xl, n), function(np, n)
    n += 7
    assert np.array_equal(np.asarray(made), wanted)


def test_parts_of_what_has_no_numbers() -> None:
    """They are NumPy's."""
    for n in (np.array(["a", "b"]), np.array(["2020-01-01"], "M8[D]"), np.array([1, 2.5], object)):
        assert np.array_equal(xl.real(n), np.real(n))
        assert np.array_equal(xl.imag(n), np.imag(n))


def test_operands_larger_than_results_may_be() -> None:
    n = np.arange(50.0)
    with xl.config(max_result_bytes=64):
        assert (float(xl.sum(n)), float(xl.max(n)), float(xl.mean(n))) == (1225, 49, 24.5)
        assert float(xl.sum(xl.asarray([1.0]) + n[:8])) == 36


def test_numbers_with_fields_are_refused() -> None:
    n = np.zeros(2, np.dtype((np.int64, [("first", "i4"), ("second", "i4")])))
    for function in (xl.sum, xl.negative, lambda n: xl.ones(2) + n):
        with pytest.raises(xl.DTypeError):
            function(n)


def test_results_lie_as_those_of_shared_memory() -> None:
    n = np.arange(48.0).reshape(6, 8)
    columns, moved = np.asfortranarray(n), n.reshape(2, 3, 8).transpose(1, 2, 0)
    stretched = np.broadcast_to(n[0, :4], (3, 4))
    for x in (n, columns, moved, columns[::2, ::2], columns[::-1], stretched):
        assert np.asarray(xl.sqrt(x)).strides == np.asarray(xl.sqrt(xl.adapt(x))).strides


def test_who_asks_for_shared_memory_gets_it() -> None:
    n = np.arange(4.0)
    for share in (xl.adapt, xl.from_dlpack, lambda n: xl.asarray(n, copy=False)):
        a, e = share(n), share(n) * 2
        n += 1
        assert np.array_equal(a, n)
        assert np.array_equal(np.asarray(e), n * 2)


def test_objects_of_others_that_share_their_memory() -> None:
    class Theirs:
        """An array of another library."""

        def __init__(self, memory: Any) -> None:
            self.memory = memory

        def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
            return self.memory if dtype is None else self.memory.astype(dtype)

    memory = np.arange(3.0)
    made = xl.asarray([1.0, 2.0, 3.0]) + Theirs(memory)
    memory[...] = 9
    assert np.asarray(made).tolist() == [1, 3, 5]


def test_masks_are_not_lost() -> None:
    masked: Any = np.ma.array([1.0, 2.0], mask=[True, False])  # which NumPy computes with
    assert np.ma.getmaskarray(xl.sqrt(masked)).tolist() == [True, False]
    assert float(xl.sum(masked)) == 2


def test_updates_and_destinations_read_at_once() -> None:
    n = np.arange(6.0)
    a, shared = xl.zeros(6), xl.adapt(n)
    e = a + 0
    a += n
    e += n
    n *= 3
    assert a.tolist() == [0, 1, 2, 3, 4, 5]
    assert np.asarray(e).tolist() == a.tolist()
    xl.add(a, n, out=a)
    assert a.tolist() == [0, 4, 8, 12, 16, 20]
    shared[1:] = n[:-1]  # its own memory, through NumPy
    assert n.tolist() == [0, 0, 3, 6, 9, 12]
    shared += n[::-1].copy()
    shared += n
    assert n.tolist() == [24, 18, 18, 18, 18, 24]


@pytest.mark.parametrize("size", [10, COPIED_BYTES // 8, COPIED_BYTES // 8 + 1])
def test_in_loops_of_changing_kinds(size: int) -> None:
    """Few elements are copied; many are read when an expression is evaluated."""
    n = {code: np.zeros(size, code) for code in ("f8", "f4", "i8")}
    a, held = xl.ones(size), []
    for k in range(330 if size == 10 else 12):
        x = n[("f8", "f4", "i8")[k % 3]]
        x[...] = k
        held.append((k, x, a + x, xl.sum(x) if k % 2 else xl.sqrt(x)))
    for k, x, total, other in held:
        now = k if x.nbytes <= COPIED_BYTES else int(x[0])
        assert float(total[-1]) == 1 + now
        wanted = np.sum(np.full(size, now)) if k % 2 else np.sqrt(x.dtype.type(now))
        assert float(other if k % 2 else other[0]) == wanted


def test_one_copy_for_each_operation() -> None:
    n, a = np.arange(10.0), xl.zeros(10)
    xl.eval(a + n)
    with count_allocations() as count:
        made = xl.add(n, n)
    assert count.allocations == 1
    n[0] = 5
    with count_allocations() as count:
        assert xl.eval(made)[0] == 0
    assert (count.allocations, count.snapshots) == (1, 0)


def test_what_is_traced_shares_its_constants() -> None:
    n = np.arange(3.0)
    function = xl.jit(lambda a: a + n)
    assert function(xl.zeros(3)).tolist() == [0, 1, 2]
    n += 1
    assert function(xl.zeros(3)).tolist() == [1, 2, 3]
