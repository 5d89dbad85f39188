"""Regular and masked views in machine code: they are those in Python, only faster."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.transforms.test_native_picks import M, both, told
from xarraylite.assignment import writes
from xarraylite.runtime import natives as loading
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]

V = np.arange(1.0, 13.0).reshape(3, 4)

#: Views of a matrix of three rows and four columns.
REGULAR: dict[str, Callable[[Any], Any]] = {
    "row": lambda m: xl.row(m, -1),
    "column": lambda m: xl.col(m, 2),
    "column out of range": lambda m: xl.col(m, 4),
    "row of a vector": lambda m: xl.row(m[0], 1),
    "rows": lambda m: xl.row(m, slice(2)),
    "a row by a bool": lambda m: xl.row(m, True),
    "an element": lambda m: xl.at(m, 1, -1),
    "an element of too few": lambda m: xl.at(m, 1),
    "an element and dots": lambda m: xl.at(m, 1, 2, ...),
    "an element by a bool": lambda m: xl.at(m, True, 0),
    "an element out of range": lambda m: xl.at(m, 0, 4),
    "an element far out of range": lambda m: xl.at(m, 0, 1 << 80),
    "an element of a vector": lambda m: xl.at(m[1], -4),
    "an element of none": lambda m: xl.at(xl.at(m, 1, 1)),
    "a repeated element": lambda m: xl.periodic(m, -7, 9),
    "a repeated element far away": lambda m: xl.periodic(m, 1 << 80, -(1 << 62)),
    "a repeated element by a number of NumPy's": lambda m: xl.periodic(m, np.int8(5), 1),
    "a repeated element of too few": lambda m: xl.periodic(m, 5),
    "a repeated element of nothing": lambda m: xl.periodic(m[:0], 5, 1),
    "a repeated element of a part": lambda m: xl.periodic(m[::2, ::-1], 3, 5),
    "the last line": lambda m: list(xl.iter_lines(m, 0))[-1],
    "the second part": lambda m: list(xl.iter_axis(m, 1))[1],
    "listed elements": lambda m: xl.index_view(m, np.array([[2, -1], [0, 0], [1, 3]])),
    "listed elements out of range": lambda m: xl.index_view(m, np.array([[2, -1], [3, 0]])),
    "listed elements of lists": lambda m: xl.index_view(m, [[2, -1], [0, 0]]),
    "items": lambda m: xl.view(m, xl.newaxis, xl.range(None, None, -1), 1),
    "integers": lambda m: xl.view(m, 1, 2),
    "nothing": xl.view,
    "an empty part": lambda m: xl.view(m, xl.range(2, 1)),
    "a list": lambda m: xl.strided_view(m, [xl.range(1, 3), xl.ellipsis, xl.newaxis]),
    "a tuple": lambda m: xl.dynamic_view(m, (0, xl.range(0, 4, 2))),
    "too many items": lambda m: xl.strided_view(m, [0, 0, 0]),
    "part and picks": lambda m: xl.dynamic_view(m, [xl.range(1, 3), xl.keep(3, 0, 1)]),
    "blocks": lambda m: xl.block_view(m, (3, 2)),
    "by columns": lambda m: xl.reshape_view(m, (6, 2), "column_major"),
    "flat part": lambda m: xl.flatten(m[:, 1:3]),
    "flat": lambda m: xl.flat(m.T, "storage"),
    "strided": lambda m: xl.as_strided(m, (2, 3), (4, 1), 2),
    "repeating": lambda m: xl.as_strided(m, (3,), (0,)),
    "overlapping": lambda m: xl.as_strided(m, (3, 3), (1, 1)),
    "a stretched part": lambda m: xl.broadcast_to(m[0, :1], (3,)),
    "bytes": lambda m: xl.offset_view(m, xl.uint8, 0)[:, ::3],
    "transposed": lambda m: m.T,
    "a transposed part": lambda m: m[1:, None, ::-2].T,
    "a transposed vector": lambda m: m[0].T,
    "reshaped": lambda m: m.reshape(2, 6),
    "reshaped with one extent open": lambda m: m.reshape((6, -1)),
    "reshaped to its own shape": lambda m: m.reshape(3, 4),
    "reshaped by numbers of NumPy's": lambda m: m.reshape(np.int64(2), 6),
    "reshaped rows": lambda m: m[1:].reshape(2, 1, -1),
    "reshaped columns": lambda m: m[:, ::2].reshape(-1),
    "reshaped to one element": lambda m: m[:1, :1].reshape(()),
    "reshaped with a bool": lambda m: m.reshape(True, 12),
    "reshaped with two extents open": lambda m: m.reshape(-1, -1),
    "reshaped to less": lambda m: m.reshape(2, 5),
    "reshaped to what does not fit": lambda m: m.reshape(5, -1),
    "reshaped to nothing": lambda m: m.reshape(0, -1),
    "reshaped far out of range": lambda m: m.reshape(1 << 62, 4),
    "nothing reshaped": lambda m: m[:0].reshape(4, -1),
}


@together("name", REGULAR)
@pytest.mark.parametrize("make", [xl.asarray, xl.XTensor])
def test_regular_views_are_the_same(name: str, make: Callable[[Any], Any]) -> None:
    def work(value: Any) -> Any:
        m = make(np.arange(12.0).reshape(3, 4))
        view, waiting = REGULAR[name](m), m + 1
        facts = told(view)
        view[...] = value
        alone = REGULAR[name](m)
        alone[...] = alone * 2
        return facts, m.tolist(), waiting.tolist()

    for value in (7.0, 3):
        both(lambda value=value: work(value))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "bfloat16", "complex128"])
def test_a_view_of_one_element_as_a_float(dtype: str) -> None:
    for make in (xl.asarray, xl.XTensor):
        m = make(np.arange(6.0).reshape(2, 3), dtype=dtype)
        one = xl.at(m[:, ::-1], 1, 0)

        def work(m: Any = m, one: Any = one) -> Any:
            m[1, 2] = 7
            first = float(one)
            one[...] = 9
            return first, float(one), float(m[1, 2])

        both(work)


#: What is written to a masked view of a vector ``c`` of six elements.
MASKED: dict[str, Callable[[Any, Any], Any]] = {
    "a number": lambda v, c: v.__setitem__(..., 7),
    "an update": lambda v, c: v.__iadd__(3),
    "values": lambda v, c: v.__setitem__(..., xl.asarray([9, 8, 7, 6, 5, 4], dtype=c.dtype)),
    "values of another dtype": lambda v, c: v.__setitem__(..., xl.asarray([9, 8, 7, 6, 5, 4.0])),
    "itself turned": lambda v, c: v.__setitem__(..., c[::-1]),
    "an expression": lambda v, c: v.__setitem__(..., c + c[::-1]),
    "a filter": lambda v, c: v.__setitem__(..., xl.view(c, xl.keep(5, 4, 3, 2, 1, 0))),
    "one that broadcasts": lambda v, c: v.__setitem__(..., xl.asarray([5], dtype=c.dtype)),
    "of another shape": lambda v, c: v.__setitem__(..., xl.asarray([5, 6], dtype=c.dtype)),
    "an update by values": lambda v, c: v.__imul__(xl.asarray([1, 2, 3, 1, 2, 3], dtype=c.dtype)),
    "something missing": lambda v, c: v.__setitem__(..., xl.missing),
}


@together("name", MASKED)
@pytest.mark.parametrize("dtype", ["float64", "int8"])
def test_masked_views_are_the_same(name: str, dtype: str) -> None:
    for make in (xl.asarray, xl.XTensor, lambda x, dtype: xl.asarray(x, dtype=dtype)[::-1]):

        def work(make: Any = make) -> Any:
            c = make([4, 1, 3, 0, 5, 2], dtype=dtype)
            view, waiting = xl.masked_view(c, M), c + 1
            MASKED[name](view, c)
            return c.tolist(), waiting.tolist(), str(view)

        both(work)


def test_parts_and_views_of_all_elements_are_the_same() -> None:
    for dtype in ("float64", "float32", "int64", "complex128", "bfloat16"):
        for a in (xl.asarray(V, dtype=dtype), xl.asarray(V, dtype=dtype)[:, ::2], xl.asarray(2.0)):

            def work(a: Any = a) -> Any:
                parts = a.real, a.view(), a[...]
                return [(type(x), x is a, x.shape, x.strides, x.offset, x.tolist()) for x in parts]

            both(work)


def test_one_element_by_dots_is_a_view() -> None:
    a = xl.asarray(V)
    for key in ((..., 1, 2), (1, ..., 2), (1, 2, ...)):
        part = a[key]
        assert isinstance(part, xl.XView)
        assert part.shape == ()
        part[...] = 7.0
        assert float(a[1, 2]) == 7.0
        a[1, 2] = 0.0
        assert float(part) == 0.0


def test_machine_code_finds_what_was_promised_to_lie_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    c, asked = xl.asarray(np.arange(200.0), copy=True), []
    promised = writes.promised

    def counted(*args: Any) -> bool:
        asked.append(args[0].shape)
        return promised(*args)

    monkeypatch.setattr(writes, "promised", counted)
    for k in range(20):
        i, j, n = 2 * k, 1, 6 + 2 * k
        xl.noalias(c)[i : i + n : 2] = c[j : j + n : 2] * 0.5
    assert len(asked) < 10


def test_public_functions_in_machine_code_are_called_and_found_as_before() -> None:
    c = xl.asarray([4.0, 1.0, 3.0, 0.0, 5.0, 2.0])
    memory = np.arange(6.0)
    calls: list[Callable[[], Any]] = [
        lambda: told(xl.eval(value=c + 1)),
        lambda: told(xl.eval(c + 1, layout="column_major")),
        lambda: told(xl.eval(c + 1, None, None)),
        lambda: told(xl.eval(3)),
        lambda: told(xl.eval(xl.late(c) + 1)),
        lambda: xl.eval(c) is c,
        lambda: told(xl.filter(c, M, order="column_major")),
        lambda: told(xl.index_view(c, [1, 2])),
        lambda: told(xl.index_view(c, [[1], [2]])),
        lambda: xl.eval(*[]),
        lambda: xl.eval(c, nothing=1),  # type: ignore[call-arg]
        lambda: xl.eval(c, value=c),  # type: ignore[misc]
        lambda: xl.eval(c, None, None, None),  # type: ignore[call-arg]
        lambda: xl.eval(c, "i,j"),
        lambda: xl.index_view(c),  # type: ignore[call-arg]
        lambda: xl.index_view(x=c, indices=[1]),  # type: ignore[call-arg]
        lambda: xl.index_view(c, "no"),
        lambda: xl.filter(c),  # type: ignore[call-arg]
        lambda: told(xl.adapt(memory)),
        lambda: told(xl.adapt(memory[::2])),
        lambda: told(xl.adapt(buffer=memory)),
        lambda: told(xl.adapt(memory, (3, 2))),
        lambda: xl.adapt(c),
        lambda: xl.adapt(*[]),
        lambda: told(xl.asarray(memory)),
        lambda: told(xl.asarray(memory.reshape(2, 3).T)),
        lambda: told(xl.asarray(memory, dtype="float32")),
        lambda: np.shares_memory(np.asarray(xl.asarray(memory)), memory),
        lambda: xl.asarray(c) is c,
        lambda: xl.asarray(c, copy=True) is c,
        lambda: told(xl.asarray(c + 1)),
        lambda: xl.jit(lambda x: xl.asarray(x) + 1)(c).tolist(),
        lambda: xl.asarray(*[]),
    ]
    for call in calls:
        both(call)
    with xl.config(default_layout="column_major"):
        both(lambda: told(xl.asarray(memory.reshape(2, 3))))
    for name in ("adapt", "asarray", "eval", "filter", "index_view"):
        before = getattr(xl, name)
        natives.install()
        function = getattr(xl, name)
        assert function is not before
        assert pickle.loads(pickle.dumps([function, before])) == [function, before]
        shown = inspect.signature(function)
        assert [(p.name, p.default) for p in shown.parameters.values()] == [
            (p.name, p.default) for p in inspect.signature(before).parameters.values()
        ]
        assert function.__doc__.endswith(before.__doc__)
        natives.remove()
        assert getattr(xl, name) is before


VIEWS: dict[str, Any] = {
    "steps": lambda a: a[::2],
    "backwards": lambda a: a[::-1, ::-1],
    "turned": lambda a: a.T,
    "a part": lambda a: a[1:3, 1::2],
    "a diagonal": lambda a: a.diagonal(),
    "stretched": lambda a: xl.broadcast_to(a[0], (3, 5)),
    "nothing": lambda a: a[:0, ::2],
    "columns": lambda a: a.copy("F"),
    "tiles": lambda a: a.to_layout("{1,0:T(2,2)}")[1:, ::2],
}


@pytest.mark.parametrize("name", VIEWS)
def test_numpy_computes_of_views_of_any_strides(name: str) -> None:
    values = np.arange(20.0).reshape(4, 5) % 7
    for dtype in ("f8", "i4", "c8", "?"):
        for _ in range(2):
            view = VIEWS[name](xl.asarray(values.astype(dtype)))
            theirs = np.array(view.numpy())
            for text in ("xp.flatnonzero(a)", "a.copy()", "a.flatten()", "xp.sort(a)", "a.real"):
                made = np.array(eval(text, {"xp": xl, "a": view}))
                assert_same_bits(made, np.array(eval(text, {"xp": np, "a": theirs})))
            copy = view.copy()
            copy[...] = 1
            assert_same_bits(np.asarray(view), theirs)


def test_what_numpy_writes_through_a_view_is_not_seen_by_who_waits() -> None:
    a = xl.asarray(np.arange(12.0).reshape(3, 4))
    for number in range(3):
        before = np.array(a)
        waiting = a * 2
        np.asarray(a.T)[number] = -1
        assert_same_bits(np.asarray(a[:, number]), np.full(3, -1.0))
        assert_same_bits(np.asarray(waiting), before * 2)
        assert not np.asarray(a.diagonal()).flags.writeable
