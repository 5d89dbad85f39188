"""`jit`: traced once per signature, the same results as calling the function."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.threads import run_all
from xarraylite.testing import assert_same_bits, count_allocations


def test_results_are_those_of_the_function() -> None:
    def function(u: Any, v: Any) -> Any:
        return xl.sqrt(u * u + v) - u[::-1]

    step = xl.jit(function)
    for seed in range(3):
        u, v = (xl.asarray(x) for x in np.random.default_rng(seed).random((2, 40)))
        assert_same_bits(step(u, v), function(u, v))
    assert step.traces == 1
    assert type(step(u, v)) is xl.XArray


def test_traced_once_per_signature() -> None:
    step = xl.jit(lambda u: u * 2)
    a = np.arange(6.0).reshape(2, 3)
    for count, argument in enumerate(
        (
            xl.asarray(a),
            xl.asarray(a.astype("f4")),
            xl.asarray(a.T),
            xl.XArray(a, layout="column_major"),
            xl.asarray(a)[:, ::2],
            2.5,
            2,
            True,
            np.float32(2),
        ),
        start=1,
    ):
        step(argument)
        result = step(argument)
        expected = np.asarray(argument) * 2
        assert result.tolist() == expected.tolist()
        assert step.traces == count


def test_arguments_of_one_signature_that_lie_elsewhere() -> None:
    base = xl.asarray(np.arange(20.0))
    step = xl.jit(lambda u, v: u[1:] - v[:-1])
    for start in (0, 3, 10):
        u, v = base[start : start + 5], base[start + 5 : start + 10]
        assert_same_bits(step(u, v), np.asarray(u)[1:] - np.asarray(v)[:-1])
    assert step.traces == 1


def test_the_same_array_twice_and_then_two() -> None:
    step = xl.jit(lambda u, v: u + 2 * v)
    a, b = xl.asarray([1.0, 2.0]), xl.asarray([10.0, 20.0])
    assert step(a, a).tolist() == [3, 6]
    assert step(a, b).tolist() == [21, 42]
    assert step(b, a).tolist() == [12, 24]
    assert step(b, b).tolist() == [30, 60]
    other = xl.jit(lambda u, v: u + 2 * v)
    assert other(a, b).tolist() == [21, 42]
    assert other(a, a).tolist() == [3, 6]
    assert other(a, a[...]).tolist() == [3, 6]


def test_python_scalars_are_weak_constants_of_a_trace() -> None:
    step = xl.jit(lambda u, dt: u + dt * (1 - u))
    u = xl.zeros(3, dtype="float32")
    for dt in (0.5, 0.25, -1.0, 0.5):
        result = step(u, dt)
        assert (str(result.dtype), result.tolist()) == ("float32", [dt] * 3)
    assert step.traces == 3
    assert str(step(u, 1j).dtype) == "complex64"
    negative = xl.jit(xl.copysign)
    assert [negative(u + 1, s)[0].item() for s in (0.0, -0.0, 0.0)] == [1, -1, 1]


def test_numpy_scalars_change_freely() -> None:
    step = xl.jit(lambda u, dt: u + dt * (1 - u))
    u = xl.zeros(3, dtype="float32")
    for dt in (0.5, 0.25, -1.0):
        assert step(u, np.float32(dt)).tolist() == [dt] * 3
    assert step.traces == 1
    result = step(u, np.float64(0.5))
    assert (str(result.dtype), step.traces) == ("float64", 2)
    assert step(u, np.float64(np.nan)).tolist()[0] != 0
    power = xl.jit(lambda u, n: u**n)
    assert [power(xl.asarray([2, 3]), np.int64(n)).tolist() for n in (0, 1, 3)] == [
        [1, 1],
        [2, 3],
        [8, 27],
    ]
    assert power.traces == 1


def test_scalars_that_do_not_fit() -> None:
    step = xl.jit(lambda u, n: u + n)
    u = xl.zeros(2, dtype="uint8")
    assert step(u, 255).tolist() == [255, 255]
    with pytest.raises(OverflowError, match="uint8"):
        step(u, 256)
    assert step(u, 1).tolist() == [1, 1]


@together("value", [-1, 0, 3, 255, 256, 2.5, True, 2**70])
@together("name", ["pow", "less", "add", "equal"])
def test_scalars_whose_value_decides(name: str, value: Any) -> None:
    """A traced function does what the plain one does, errors included."""
    function = getattr(xl, name)
    u = xl.asarray([1, 2, 255], dtype="uint8")
    step = xl.jit(function)
    step(u, 1)
    try:
        expected = np.asarray(function(u, value))
    except (OverflowError, ValueError) as error:
        with pytest.raises(type(error)):
            step(u, value)
    else:
        assert_same_bits(step(u, value), expected)


def test_several_results() -> None:
    pair = xl.jit(lambda u: (u + 1, xl.sum(u)))
    first, second = pair(xl.asarray([1, 2]))
    assert (first.tolist(), int(second)) == ([2, 3], 3)
    assert isinstance(xl.jit(lambda u: [u, u.T])(xl.ones((2, 3))), list)


@together(
    ("function", "message"),
    [
        (lambda u: (u, (u * 2, u)), r"result 1 of the traced function is a tuple"),
        (lambda u: [[u], u], r"result 0 of the traced function is a list"),
        (lambda u: {"twice": u * 2}, r"the traced function returns a dict"),
        (lambda u: (u, {"twice": u * 2}), r"result 1 of the traced function is a dict"),
        (lambda u: None, r"the traced function returns a NoneType"),
    ],
    ids=["tuple", "list", "dict", "inner dict", "nothing"],
)
@together("by", ["jit", "to_hlo"])
def test_results_are_flat(function: Any, message: str, by: str) -> None:
    with pytest.raises(xl.DTypeError, match=f"^{by}: {message}; it returns"):
        xl.jit(function)(xl.ones(2)) if by == "jit" else xl.to_hlo(function, "f32[2]")


def test_results_share_no_memory_with_arguments() -> None:
    same = xl.jit(lambda u: u)
    a = xl.asarray([1, 2])
    result = same(a)
    result[0] = 9
    assert a.tolist() == [1, 2]
    view, part = xl.jit(lambda u: (u[::-1], u[:1]))(a)
    view[...] = 0
    part[...] = 0
    assert a.tolist() == [1, 2]


def test_arguments_that_are_no_containers() -> None:
    step = xl.jit(lambda u, v: u + v)
    assert step(np.arange(3), [1, 2, 3]).tolist() == [1, 3, 5]
    assert step(xl.asarray([1, 2]) * 2, 3).tolist() == [5, 7]
    assert step(1, 2).tolist() == 3


def test_arrays_that_the_function_closes_over_are_read_each_time() -> None:
    factor = xl.asarray([1.0, 2.0])
    memory = np.array([10.0, 20.0])
    step = xl.jit(lambda u: u * factor + memory)
    u = xl.asarray([1.0, 1.0])
    assert step(u).tolist() == [11, 22]
    factor[...] = 5
    memory[...] = 0
    assert step(u).tolist() == [5, 5]
    assert step.traces == 1
    with count_allocations() as count:
        factor[...] = 6
    assert count.snapshots == 0


def test_generators_and_constants_inside() -> None:
    step = xl.jit(lambda u: u + xl.arange(3) * 2 + xl.eye(3)[1])
    assert step(xl.zeros(3)).tolist() == [0, 3, 4]


def test_reductions_and_joins_inside() -> None:
    def function(u: Any) -> Any:
        return xl.concat([u / xl.sum(u), xl.flip(u)])[[0, -1, 2]]

    u = xl.asarray([1.0, 2.0, 5.0])
    assert_same_bits(xl.jit(function)(u), function(u))


def test_inside_another() -> None:
    inner = xl.jit(lambda u: u * 2)
    outer = xl.jit(lambda u: inner(u) + 1)
    for value in (1.0, 5.0):  # the trace must not have kept what it was called with
        assert outer(xl.full(2, value)).tolist() == [2 * value + 1] * 2
    assert inner(inner(xl.ones(2))).tolist() == [4, 4]


def branch(u: Any) -> Any:
    return u if u[0] > 0 else -u


ASKS = {
    "if": branch,
    "float": lambda u: u * float(u[0]),
    "int": lambda u: u * int(u[0]),
    "item": lambda u: u * u[0].item(),
    "numpy": lambda u: u + np.asarray(u),
    "tolist": lambda u: u + u.tolist()[0],
    "eval": lambda u: u + xl.eval(u + 1),
    "array_equal": lambda u: u if xl.array_equal(u, u) else -u,
}


@together("ask", ASKS)
def test_asking_for_a_value(ask: str) -> None:
    step = xl.jit(ASKS[ask])
    for _ in range(2):
        with pytest.raises(xl.TracedValueError, match=r"float64\[.*xl.where instead of if"):
            step(xl.asarray([1.0, 2.0]))
    with pytest.raises(xl.TracedValueError):
        xl.jit(lambda n: n if n > 0 else -n)(np.float64(2.0))


PICKS = {
    "several": lambda u, i, j, m: u[i, j],
    "stretched": lambda u, i, j, m: u[np.array([[0], [2]]), j],
    "apart": lambda u, i, j, m: (u * 2)[i, None, j],
    "mask": lambda u, i, j, m: u[m],
    "mask and slice": lambda u, i, j, m: u[1:, m],
    "range": lambda u, i, j, m: u[range(2), [0, 1]].sum(),
}


@together("pick", PICKS)
def test_masks_and_several_arrays_that_are_closed_over(pick: str) -> None:
    select = PICKS[pick]
    i, m = np.array([0, 2]), np.array([True, False, True])
    j = xl.asarray([1, 2])
    step = xl.jit(lambda u: select(u, i, j, m))
    for values in (np.arange(9.0).reshape(3, 3), np.ones((3, 3))):
        for layout in ("row_major", "{1,0:T(2,2)}"):
            made = step(xl.XArray(values, layout=layout))
            wanted = select(values, i, np.asarray(j), m)
            np.testing.assert_array_equal(made.numpy(), wanted, strict=True)
        i[:], m[:] = [-1, 1], [True, True, True]  # and are read again by the next call
        j[...] = [0, 0]
    i[0] = 3
    if pick in ("several", "apart"):
        with pytest.raises(IndexError, match="out of bounds"):
            step(xl.ones((3, 3)))
    with pytest.raises(xl.TracedValueError, match=r"int64\[2\]"):
        xl.jit(lambda u, k: u[k, k])(xl.ones((3, 3)), xl.asarray([0, 1]))


def test_python_scalars_have_values() -> None:
    clip = xl.jit(lambda u, n: u if n > 0 else -u)
    u = xl.asarray([1.0, 2.0])
    assert clip(u, 1).tolist() == [1, 2]
    assert clip(u, -1).tolist() == [-1, -2]
    assert xl.jit(lambda u, n: u[:n])(u, 1).tolist() == [1]


def test_arrays_closed_over_may_grow() -> None:
    factor = xl.asarray([1.0, 2.0])
    step = xl.jit(lambda u: xl.sum(u * factor))
    u = xl.asarray([[1.0], [1.0]])
    assert float(step(u)) == 6
    factor.assign(xl.ones(5))
    assert float(step(u)) == 10


class Pair(NamedTuple):
    low: Any
    high: Any


def test_named_tuples() -> None:
    result = xl.jit(lambda u: Pair(xl.min(u), xl.max(u)))(xl.asarray([3, 1, 2]))
    assert (int(result.low), int(result.high)) == (1, 3)


def test_arguments_cannot_be_written_while_traced() -> None:
    def function(u: Any) -> Any:
        u[0] = 5
        return u

    a = xl.asarray([1.0, 2.0])
    with pytest.raises(xl.NotWritableError):
        xl.jit(function)(a)
    assert a.tolist() == [1, 2]


def test_errors_of_the_function_come_through() -> None:
    step = xl.jit(lambda u, v: u + v)
    with pytest.raises(xl.BroadcastError, match=r"add\(float64\[2\], float64\[3\]\)"):
        step(xl.ones(2), xl.ones(3))
    assert step(xl.ones(2), xl.ones(2)).tolist() == [2, 2]
    with pytest.raises(TypeError, match="by position"):
        step(u=xl.ones(2), v=1)
    with pytest.raises(xl.DTypeError, match="str"):
        xl.jit(lambda u: "text")(xl.ones(2))


def test_name_and_documentation() -> None:
    @xl.jit
    def smooth(u: Any) -> Any:
        """Halve."""
        return u / 2

    assert (smooth.__name__, smooth.__doc__) == ("smooth", "Halve.")


def test_shapes_without_elements() -> None:
    step = xl.jit(lambda u: u * 2 + 1)
    assert step(xl.zeros((0, 3))).shape == (0, 3)
    assert float(step(xl.asarray(2.0))) == 5


def test_many_signatures_are_forgotten_in_turn() -> None:
    step = xl.jit(lambda u: u + 1)
    for size in range(300):
        assert step(xl.zeros(size)).size == size
    assert step.traces == 300
    step(xl.zeros(299))
    assert step.traces == 300
    assert len(step._traced) <= 256


def test_nothing_is_kept_alive() -> None:
    step = xl.jit(lambda u: u + xl.sum(u[1:]))
    a = xl.ones(2)
    for _ in range(2):
        step(a)
    with count_allocations() as count:
        a[...] = 3
    assert count.snapshots == 0
    memory = weakref.ref(a.buffer)
    del a
    gc.collect()
    assert memory() is None
    assert step(xl.asarray([1.0, 5.0])).tolist() == [6, 10]


@pytest.mark.parametrize("size", [10, 300_000])
def test_many_threads_share_one(size: int) -> None:
    """First calls included: 32 threads, each with its own operands, some with other shapes."""
    step = xl.jit(lambda u, v, s: (u + v) * s - u[::-1])
    wrong: list[object] = []
    start = threading.Barrier(32)

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        start.wait()
        for k in range(20 if size < 100 else 2):
            n = size + (seed + k) % 3
            u, v, s = rng.random(n), rng.random(n), float(seed)
            result = np.asarray(step(xl.asarray(u), xl.asarray(v), s))
            if result.tobytes() != ((u + v) * s - u[::-1]).tobytes():
                wrong.append((seed, k))

    def guarded(seed: int) -> None:
        try:
            work(seed)
        except BaseException as error:
            wrong.append(error)

    run_all([threading.Thread(target=guarded, args=(seed,)) for seed in range(32)])
    assert wrong == []


@pytest.mark.parametrize("kind", ["container", "numpy", "view", "expression", "uint8"])
def test_an_index_that_the_function_closes_over_is_read_each_time(kind: str) -> None:
    index: Any = np.array([0, 1, 2])
    if kind == "uint8":
        index = index.astype(np.uint8)
    if kind in ("container", "view"):
        index = xl.asarray(index)
    use = {
        "view": lambda: index[::-1],
        "expression": lambda: xl.asarray(index, copy=False) + 0,
    }.get(kind, lambda: index)
    step = xl.jit(lambda u: (u[use()] * 2, xl.sum(u[1][use()]) + u[0, use()]))
    u = xl.asarray(np.arange(9.0).reshape(3, 3))
    for values in ([0, 1, 2], [2, 2, 1], [-1, 0, -3]):
        index[:] = np.array(values) % 3
        rows, total = step(u)
        order = np.array(values)[::-1] % 3 if kind == "view" else np.array(values) % 3
        assert_same_bits(rows, np.asarray(u)[order] * 2)
        assert_same_bits(total, np.asarray(u)[1][order].sum() + np.asarray(u)[0, order])
    index[0] = 3
    with pytest.raises(xl.IndexRangeError, match="out of range for an extent of 3"):
        step(u)
    index[0] = 0
    assert_same_bits(step(u)[0][0 if kind != "view" else -1], np.asarray(u)[0] * 2)
    assert step.traces == 1


@pytest.mark.parametrize("view", [False, True])
def test_an_index_closed_over_may_grow(view: bool) -> None:
    index = xl.asarray([0, 1])
    step = xl.jit(lambda u: u[index[::-1] if view else index] + 0)
    u = xl.asarray([1.0, 2.0, 3.0])
    assert step(u).tolist() == ([2, 1] if view else [1, 2])
    index.assign(xl.asarray([2, 2, 0]))
    assert step(u).tolist() == ([1, 3, 3] if view else [3, 3, 1])
    assert step.traces == 2


def test_an_index_of_an_expression_from_before_is_what_it_was() -> None:
    index, a = xl.asarray([0, 1]), xl.asarray([1.0, 2.0])
    before = a[index]
    step = xl.jit(lambda u: u + before)
    assert step(a).tolist() == [2, 4]
    index[...] = 0
    assert step(a).tolist() == [2, 4]


#: What is read at every call.
READ = ["x + A", "x + A @ A", "x + xl.einsum('ij->j', A)"]

#: What is a value of the trace.
CLOSED_OVER = [
    *READ,
    "x + xl.sort(A, axis=0)",
    "x + xl.linalg.inv(A)",
    "x + xl.median(A)",
    "x + float(A[0, 0])",
    "x + float(A.sum())",
    "x + A.tolist()[0][0]",
    "x + np.asarray(A).sum()",
]


@together("body", CLOSED_OVER)
def test_what_is_computed_of_closed_over_containers_is_never_stale(body: str) -> None:
    a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    function = eval(f"lambda x: {body}", {"xl": xl, "np": np, "A": a})
    traced, x = xl.jit(function), xl.ones(2)
    for k in (1.0, 10.0, 10.0):
        a[0, 0] = k
        np.testing.assert_array_equal(np.asarray(traced(x)), np.asarray(function(x)))
    assert traced.traces == (1 if body in READ else 3)
