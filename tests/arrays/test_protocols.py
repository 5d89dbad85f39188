"""Lazy results wherever an array is expected: operators, NumPy, Python numbers, the array API."""

from __future__ import annotations

import datetime as dt
import operator
from collections import UserList, deque
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.transforms import natives

V, W = np.array([1.5, -2.0, 3.25]), np.array([2.0, 4.0, -0.5])
M, N = np.array([7, -3, 12]), np.array([2, 3, 5])

FLOAT_OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
INT_OPERATORS = ["and_", "or_", "xor", "lshift", "rshift"]
COMPARISONS = ["eq", "ne", "lt", "le", "gt", "ge"]


@together("name", [*FLOAT_OPERATORS, *COMPARISONS])
def test_binary_operators(name: str) -> None:
    function = getattr(operator, name)
    expected = function(np.abs(V), W)
    assert_same_bits_or_ulp(name, function(xl.asarray(np.abs(V)), xl.asarray(W)), expected)
    assert_same_bits_or_ulp(name, function(xl.asarray(np.abs(V)), W), expected)
    assert_same_bits_or_ulp(name, function(np.abs(V), xl.asarray(W)), expected)
    assert_same_bits_or_ulp(name, function(np.abs(V), xl.asarray(W) + 0), expected)
    assert_same_bits_or_ulp(name, function(xl.asarray(np.abs(V)), 2), function(np.abs(V), 2))
    assert_same_bits_or_ulp(name, function(2.5, xl.asarray(W)), function(2.5, W))
    assert_same_bits_or_ulp(name, function(np.float64(2.5), xl.asarray(W)), function(2.5, W))


def assert_same_bits_or_ulp(name: str, actual: Any, expected: Any) -> None:
    assert isinstance(actual, xl.XExpression)
    if name == "pow":
        xl.testing.assert_ulp(actual, expected, 4)
    else:
        assert_same_bits(actual, expected)


@pytest.mark.parametrize("name", INT_OPERATORS)
def test_integer_operators(name: str) -> None:
    function = getattr(operator, name)
    expected = function(M, N)
    for left, right in ((xl.asarray(M), xl.asarray(N)), (M, xl.asarray(N)), (xl.asarray(M), N)):
        assert_same_bits(function(left, right), expected)
    assert_same_bits(function(9, xl.asarray(N)), function(9, N))
    assert_same_bits(function(xl.asarray(M), 3), function(M, 3))


def test_unary_operators() -> None:
    for name in ("neg", "pos", "abs"):
        assert_same_bits(getattr(operator, name)(xl.asarray(V)), getattr(operator, name)(V))
    assert_same_bits(~xl.asarray(M), ~M)
    assert_same_bits(~xl.asarray(V > 0), ~(V > 0))


def test_operators_leave_strangers_alone() -> None:
    class Stranger:
        def __radd__(self, other: object) -> str:
            return "mine"

        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = None

    a = xl.asarray(V)
    assert a + Stranger() == "mine"
    assert (a == Stranger()) is True
    for function in (operator.add, operator.mul, operator.lt):
        with pytest.raises(TypeError):
            function(a, "text")
    assert (a == None) is False  # noqa: E711
    for other in ("text", b"text"):
        for one in (a, a + 1, a[0]):
            values = np.asarray(one)[()]
            for compute in (operator.eq, operator.ne):
                for made, wanted in (
                    (compute(one, other), compute(values, other)),
                    (compute(other, one), compute(other, values)),
                ):
                    np.testing.assert_array_equal(made, wanted, strict=True)
    for one, two in ((np.array(["a", "b"]), "a"), (["a"], "a"), (np.array([b"a"]), b"a")):
        assert xl.equal(one, two).tolist() == np.equal(one, two).tolist()  # type: ignore[arg-type]
    for numbers in (a, a + 1, V):
        with pytest.raises(TypeError):
            xl.equal(numbers, "text")  # type: ignore[arg-type]


def test_differences_of_times_are_multiplied_as_by_numpy() -> None:
    class Timedelta(dt.timedelta):  # as pandas' class
        __array_priority__ = 100

        def to_timedelta64(self) -> np.timedelta64:
            return np.timedelta64(self)

    days, n = dt.timedelta(days=2), np.array([3, 1])
    span = Timedelta(days=2).to_timedelta64()
    for i in (xl.asarray(n), xl.asarray(n) * 1):
        assert (days * i).tolist() == (i * days).tolist() == (days * n).tolist()
        assert (days // i).tolist() == (days // n).tolist()
        for made, wanted in ((Timedelta(days=2) * i, span * n), (Timedelta(days=2) / i, span / n)):
            assert (made.dtype, made.tolist()) == (wanted.dtype, wanted.tolist())
        assert days * i[0] == i[0] * days == i.max() * days == days * 3
        for function in (operator.add, operator.sub, operator.lt):
            with pytest.raises(TypeError, match="timedelta"):
                function(i, days)
        assert (i == days) is False


def test_subclasses_of_python_numbers() -> None:
    class Grade(int):
        pass

    x = xl.asarray([1.0], dtype="f4")
    assert (x * Grade(3)).dtype == xl.result_type(x, Grade(3)) == xl.float32
    assert xl.jit(lambda u, k: u * k)(x, Grade(3)).dtype == xl.float32


def test_numpy_takes_containers_without_a_copy() -> None:
    a = xl.asarray(V)
    view = np.asarray(a)
    assert view.ctypes.data == a.buffer.address
    view[0] = 9
    assert float(a[0]) == 9
    assert not np.shares_memory(np.array(a), view)
    assert not np.shares_memory(np.array(a, copy=True), view)
    assert np.shares_memory(np.array(a, copy=False), view)
    assert np.asarray(a[::-2]).strides == (-16,)
    assert np.asarray(a, dtype="f4").dtype == "f4"
    with pytest.raises(ValueError, match="copy"):
        np.array(a, dtype="f4", copy=False)


def test_numpy_takes_expressions_by_evaluating() -> None:
    e = xl.asarray(V) * 2
    assert_same_bits(np.asarray(e), V * 2)
    assert np.asarray(e, dtype="f4").dtype == "f4"
    assert np.array(e, copy=True).flags.writeable
    with pytest.raises(ValueError, match=r"float64\[3\] is lazy"):
        e.__array__(copy=False)
    assert_same_bits(np.array(e, copy=False), V * 2)  # the memory that it describes
    assert np.sort(e).tolist() == np.sort(V * 2).tolist()
    assert np.concatenate([e, V]).shape == (6,)


def test_ml_dtypes_come_through() -> None:
    a = xl.asarray([1.5, 2.0], dtype="bfloat16")
    assert np.asarray(a).dtype == ml_dtypes.bfloat16
    assert np.asarray(a + a).tolist() == [3, 4]


def test_ufuncs_give_lazy_results() -> None:
    a = xl.asarray(V)
    for result in (np.add(W, a), np.multiply(a, 2), np.sqrt(abs(a)), np.maximum(a, W)):
        assert type(result) is xl.XExpression
    assert_same_bits(np.add(W, a), W + V)
    assert_same_bits(np.arctan2(a, W) * 0, np.arctan2(V, W) * 0)


def test_other_ufuncs_and_methods_run_on_the_values() -> None:
    a, out = xl.asarray(V), np.zeros(3)
    assert np.add(W, a * 1, out=out) is out
    assert_same_bits(out, W + V)
    assert np.add.reduce(a) == V.sum()
    assert_same_bits(np.multiply.outer(a, W), np.multiply.outer(V, W))
    for ours, theirs in zip(np.frexp(a), np.frexp(V), strict=True):
        assert type(ours) is xl.XArray
        assert_same_bits(ours, theirs)


def test_ufuncs_write_into_ours() -> None:
    """The rule is that of in-place operators; what waits for the old values keeps them."""
    a = xl.asarray(V)
    pending = a + 0
    assert np.add(a, W, out=a) is a
    assert_same_bits(a, V + W)
    assert_same_bits(pending, V)
    np.multiply(a, 2, out=a, where=W > 0)
    np.frexp(W, out=(a, None))
    assert_same_bits(a, np.frexp(W)[0])
    e = a * 1
    np.maximum.accumulate(W, out=e)
    assert_same_bits(e, np.maximum.accumulate(W))
    np.add.at(a, [0, 0, 2], 1)
    assert_same_bits(a, np.frexp(W)[0] + [2, 0, 1])
    before = np.array(a)
    for call, error in (
        (lambda: np.add(a, 1j, out=a), xl.CastError),
        (lambda: np.add.outer(a, W, out=xl.zeros((3, 3), dtype=int)), xl.CastError),
        (lambda: np.add(a, np.ones((2, 3)), out=a), xl.BroadcastError),
        (lambda: np.add(a, 1, out=xl.broadcast_to(a[:1], 3)), xl.ReadOnlyError),
        (lambda: np.add(a, 1, out=xl.as_strided(a, (3,), (0,))), xl.OverlapError),
    ):
        with pytest.raises(error):
            call()
    assert_same_bits(a, before)


@pytest.mark.parametrize("layout", ["row_major", "{0:T(2)}"])
def test_ufuncs_allocate_nothing_but_the_result(layout: str) -> None:
    a = xl.asarray(V, layout=layout)
    with count_allocations() as count:
        np.add(a, 1, out=a)
    assert count.allocations == 0
    assert_same_bits(a, V + 1)


def test_numpys_functions_find_ours() -> None:
    a = xl.asarray(M)
    assert isinstance(np.sum(a), xl.XExpression)
    assert isinstance(np.where(a > 1, a, 0), xl.XExpression)
    assert_same_bits(np.concatenate([a, N]), np.concatenate([M, N]))
    assert (np.shape(a + 1), np.ndim(a), np.size(a)) == ((3,), 1, 3)
    assert isinstance(np.linalg.norm(a), xl.XScalar)
    assert float(np.linalg.norm(a)) == np.linalg.norm(M)
    np.copyto(a, [4, 5, 6])
    assert a.tolist() == [4, 5, 6]
    e = a * 2
    np.copyto(e, a)
    assert e.tolist() == [4, 5, 6]


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")
def test_numpys_functions_are_ours_by_their_names() -> None:
    """All that the namespace has, but for files; what NumPy's own functions need are values."""
    a, i = np.asarray([1.0, -2.0, 0.0]), np.asarray([2, 0, 1])
    calls = {
        "angle": (a,),
        "fix": (a,),
        "geomspace": (np.float64(1), a[:1] + 1, 5),
        "histogram_bin_edges": (a,),
        "isreal": (a,),
        "linspace": (a, a + 1, 3),
        "resize": (a, (2, 3)),
        "unravel_index": (i, (2, 2)),
        "unique_values": (a,),
    }
    for name, args in calls.items():
        made = getattr(np, name)(*[xl.asarray(x) if isinstance(x, np.ndarray) else x for x in args])
        parts = made if isinstance(made, tuple) else (made,)
        assert all(isinstance(part, xl.XExpression) for part in parts), name
        np.testing.assert_allclose(made, getattr(np, name)(*args))
    one = xl.asarray([2.5])[0]
    assert np.linspace(one, one + 1, 3).tolist() == [2.5, 3.0, 3.5]


def test_arrays_of_other_libraries_have_the_last_word() -> None:
    class Theirs:
        def __array_ufunc__(self, *args: object, **options: object) -> str:
            return "theirs"

        def __array_function__(self, *args: object) -> str:
            return "theirs"

        def __radd__(self, other: object) -> str:
            return "theirs"

    a = xl.asarray(V)
    x = Theirs()
    made = [np.add(a, x), np.concatenate([a, x]), a + x, xl.add(x, a), xl.exp(x)]
    made += [xl.add.reduce(x), xl.maximum.outer(x, a), xl.multiply.accumulate(x, axis=0)]
    made += [xl.gcd(a, x), xl.divmod(x, a), xl.float_power(a, x), xl.modf(x), xl.matmul(a, x)]
    made += [xl.vecdot(x, a), xl.logaddexp2(x, a), xl.ldexp(a, x)]
    made += [np.concatenate(deque([a, x])), np.stack(UserList([x, a]))]
    assert made == ["theirs"] * len(made)


def test_numpy_in_place_with_our_operand() -> None:
    """NumPy's array must not be rebound to a lazy expression silently with other contents."""
    memory = V.copy()
    try:
        memory += xl.asarray(W)
    except TypeError:
        assert_same_bits(memory, V)
    else:
        assert_same_bits(np.asarray(memory), V + W)


def test_numpy_assignment_from_ours() -> None:
    memory = np.zeros(3)
    memory[:] = xl.asarray(V) * 2
    assert_same_bits(memory, V * 2)
    memory[1:] = xl.asarray(W)[1:]
    assert_same_bits(memory[1:], W[1:])


def test_python_numbers() -> None:
    one = xl.asarray([[2.5]])
    assert float(xl.sum(one)) == 2.5
    assert int(one[0, 0]) == 2
    assert complex(one[0, 0]) == 2.5
    assert bool(one[0, 0])
    assert not bool(xl.asarray(0.0))
    assert [10, 20, 30][xl.asarray(1)] == 20
    assert list(range(5))[xl.asarray(1) : xl.asarray(3)] == [1, 2]
    assert one.item() == 2.5
    assert (one + 1).item() == 3.5
    assert (one * 2).tolist() == [[5.0]]
    assert isinstance(xl.asarray([1], dtype="i1").item(), int)
    assert bool(one)
    for convert in (float, int, complex):
        with pytest.raises(TypeError, match="rank 0"):
            convert(one)
    with pytest.raises(TypeError, match="not an integer"):
        operator.index(xl.asarray(1.0))
    with pytest.raises(ValueError, match="one element"):
        xl.ones(2).item()


def test_python_numbers_of_narrow_types() -> None:
    for dtype in ("bfloat16", "float16", "float8_e5m2", "int4", "uint8"):
        one = xl.asarray(1, dtype=dtype)
        assert float(one) == 1.0
        assert int(one) == 1
        assert bool(one)


def test_iteration_and_membership() -> None:
    m = xl.asarray(np.arange(6).reshape(3, 2))
    assert [row.tolist() for row in m] == [[0, 1], [2, 3], [4, 5]]
    assert [xl.eval(row).tolist() for row in m * 2] == [[0, 2], [4, 6], [8, 10]]
    for row in m:
        row[0] = 9
    assert m.tolist() == [[9, 1], [9, 3], [9, 5]]
    _, _, third = m
    assert third.tolist() == [9, 5]
    assert int(sum(m[:, 1])) == 9
    with pytest.raises(TypeError, match="rank 0"):
        iter(xl.asarray(1)).__next__()


def test_array_namespace() -> None:
    a = xl.asarray(V)
    for thing in (a, a + 1, a[1:]):
        assert thing.__array_namespace__() is xl
        assert thing.__array_namespace__(api_version="2025.12") is xl
    with pytest.raises(ValueError, match="1999"):
        a.__array_namespace__(api_version="1999.01")
    info = xl.__array_namespace_info__()
    assert info.default_device() == "cpu"
    assert info.default_dtypes()["real floating"] == xl.float64
    assert info.dtypes(kind="bool") == {"bool": np.dtype("bool")}


def test_generic_code() -> None:
    """A function written against the array API."""

    def standardise(x: Any) -> Any:
        xp = x.__array_namespace__()
        return (x - xp.mean(x, axis=0)) / xp.std(x, axis=0)

    values = np.random.default_rng(0).normal(size=(50, 3))
    ours = standardise(xl.asarray(values))
    assert ours.shape == (50, 3)
    np.testing.assert_allclose(np.asarray(ours), standardise(values), rtol=1e-12)


def test_every_public_name() -> None:
    for name in xl.__all__:
        assert getattr(xl, name) is getattr(xl, name)
    assert set(dir(xl)) == set(xl.__all__)


def test_attributes_of_expressions() -> None:
    e = (xl.ones((2, 3), dtype="f4") + 1).T
    assert (e.shape, e.ndim, e.size, e.itemsize, e.nbytes) == ((3, 2), 2, 6, 4, 24)
    assert (e.device, len(e), e.T.shape, e.mT.shape) == ("cpu", 3, (2, 3), (2, 3))
    assert e.to_device("cpu") is e
    assert str(e.astype("i4").dtype) == "int32"
    with pytest.raises(TypeError, match="unhashable"):
        hash(e)


def test_eval_returns_containers() -> None:
    a = xl.asarray(V)
    assert xl.eval(a) is a
    assert xl.eval(a[1:]).tolist() == V[1:].tolist()
    with count_allocations() as count:
        xl.eval(a[1:])
    assert count.allocations == 0
    assert type(xl.eval(a + 1)) is xl.XArray
    assert xl.eval(3.5).tolist() == 3.5
    copy = xl.eval(V)
    copy[0] = 99
    assert V[0] == 1.5


def test_a_numpy_scalar_before_a_container_teaches_nothing_about_two_containers() -> None:
    a, b = xl.asarray([[5.0, 6.0]]), xl.asarray([[1.0, 2.0]])
    assert xl.eval(np.float64(3) - a).tolist() == [[-2.0, -3.0]]
    assert xl.eval(a - b).tolist() == [[4.0, 4.0]]
    assert xl.eval(np.float64(3) - (a - b)).tolist() == [[-1.0, -1.0]]
    assert xl.eval((a - b) - a).tolist() == [[-1.0, -2.0]]


def test_numpys_functions_take_what_only_numpy_knows() -> None:
    values, nothing = np.broadcast_arrays(xl.ones(2), None)
    assert values.tolist() == [1, 1]
    assert nothing.tolist() == [None, None]


class _Memory:
    """Something that describes its memory and is no array, as pictures take it."""

    def __init__(self, described: Any) -> None:
        self.__array_interface__ = described


def test_lazy_results_describe_memory_of_their_values() -> None:
    a = xl.asarray(np.arange(6, dtype=np.uint8).reshape(2, 3))
    e = a.T + 1
    described = e.__array_interface__
    assert (described["shape"], described["typestr"]) == ((3, 2), "|u1")
    np.testing.assert_array_equal(np.asarray(_Memory(described)), np.asarray(a).T + 1)
    np.asarray(_Memory(described))[...] = 0
    np.testing.assert_array_equal(np.asarray(e), np.asarray(a).T + 1)


def test_what_has_no_memory_that_numpy_knows_does_not_describe_any() -> None:
    assert not hasattr(xl.ones(2, dtype="bfloat16") + 1, "__array_interface__")
    met = []
    xl.jit(lambda x: met.append(hasattr(x + 1, "__array_interface__")) or x)(xl.ones(2))
    assert met == [False]


def test_memory_that_is_read_only_stays_so() -> None:
    frozen = xl.adapt(b"ab", dtype=np.uint8)
    with pytest.raises(ValueError, match="read-only memory"):
        frozen.flags.writeable = True
    a = xl.ones(3)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(a)[0] = 2
    with pytest.raises(ValueError, match="read-only"):
        a += 1
    assert a.tolist() == [1.0, 1.0, 1.0]


class Column:
    """What pandas' columns are to us: no operand of operators, but an array when asked."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray([1.0, 4.0], dtype)


def test_functions_take_what_is_an_array_when_asked() -> None:
    assert float(xl.sum(Column())) == 5
    assert xl.eval(xl.sqrt(Column())).tolist() == [1, 2]
    assert xl.sort(Column()).tolist() == [1, 4]


def test_memory_seen_as_bytes_is_numpys() -> None:
    a = xl.asarray([1.0, 2.0])
    seen = a.view("V8")
    assert type(seen) is np.ndarray
    assert seen.tobytes() == a.tobytes()
    assert np.shares_memory(seen, np.asarray(a))


@pytest.mark.parametrize(
    "make", [lambda a: a, lambda a: a * 2, lambda a: a[0], lambda a: a.T, lambda a: a[0, 1]]
)
def test_bytes_are_those_of_the_elements(make: Any) -> None:
    values = np.arange(6).reshape(2, 3)
    assert bytes(make(xl.asarray(values))) == bytes(make(values))


@pytest.mark.parametrize("native", [False, True])
def test_numpys_as_strided_refuses_strides_that_count_elements(native: bool) -> None:
    strided = np.lib.stride_tricks.as_strided
    a, narrow = xl.arange(6.0), xl.asarray([1.0, 2.0, 3.0], dtype=xl.bfloat16)
    for x in (a, narrow):
        np.asarray(x)  # from then on machine code gives the memory
    if native:
        natives.install()
    try:
        (n,) = a.strides
        for x, strides in ((a, (n, n)), (a + 1, (-n, n)), (a, [2 * n]), (narrow, narrow.strides)):
            with pytest.raises(xl.LayoutError, match="takes bytes"):
                strided(x, (2,) * len(strides), strides)
        in_bytes = n * a.itemsize
        for strides in ((in_bytes, in_bytes), (8, 8), np.asarray(a).strides * 2):
            assert strided(a, (2, 2), strides).tolist() == [[0, 1], [1, 2]]
        assert strided(a, (2,)).tolist() == [0, 1]
        assert strided(narrow + 0, (2,), (4,)).tolist() == [1, 3]
    finally:
        natives.remove()
