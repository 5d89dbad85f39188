"""`vectorize`: a user's scalar function as one fusable operation."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import natives

LIMIT = 3.0


def clipped(x: float, limit: float) -> float:
    """Cut off above."""
    return limit if x > limit else x


def count_steps(n: int) -> int:
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def test_values() -> None:
    f = xl.vectorize(clipped)
    x = np.linspace(-5, 5, 50)
    assert_same_bits(f(xl.asarray(x), 2.0), np.minimum(x, 2.0))
    assert (f.__name__, f.__doc__) == ("clipped", "Cut off above.")


def test_loops_and_branches() -> None:
    f = xl.vectorize(count_steps)
    values = np.arange(1, 200)
    assert_same_bits(f(xl.asarray(values)), np.array([count_steps(int(n)) for n in values]))


def test_it_fuses_and_broadcasts(engine: str) -> None:
    f = xl.vectorize(clipped)
    a, b = xl.asarray(np.arange(12.0).reshape(3, 4)), xl.asarray(np.arange(4.0) * 3)
    e = xl.sum(f(a * 2, b) + 1, axis=0)
    expected = (np.minimum(np.asarray(a) * 2, np.asarray(b)) + 1).sum(axis=0)
    assert_same_bits(e, expected)
    if engine == "compiled":
        assert xl.explain(f(a * 2, b) + 1).kernels == 1
    a[...] = f(a.T[:3, :1] * 0 + a, 5)
    assert_same_bits(a, np.minimum(np.arange(12.0).reshape(3, 4), 5))


@together(
    ("dtypes", "result"),
    [
        (("f8", "f8"), "float64"),
        (("f4", "f4"), "float32"),
        (("i2", "i4"), "int32"),
        (("i8", "f4"), "float64"),
        (("bfloat16", "bfloat16"), "bfloat16"),
        (("f2", "i1"), "float16"),
        (("u1", "u1"), "uint8"),
    ],
)
def test_dtype_is_the_common_one(dtypes: tuple[str, str], result: str) -> None:
    f = xl.vectorize(clipped)
    x, y = xl.asarray([1, 2, 3], dtype=dtypes[0]), xl.asarray([2, 2, 2], dtype=dtypes[1])
    e = f(x, y)
    assert (str(e.dtype), xl.eval(e).tolist()) == (result, [1, 2, 2])


def test_dtype_given() -> None:
    @xl.vectorize(dtype="bool")
    def is_big(x: float) -> bool:
        return x > 2

    e = is_big(xl.asarray([1.0, 2.5]))
    assert (str(e.dtype), xl.eval(e).tolist()) == ("bool", [False, True])

    half = xl.vectorize(lambda n: n / 2, dtype="f4")
    assert_same_bits(half(xl.asarray([1, 3])), np.array([0.5, 1.5], "f4"))


def test_integers_wrap_and_truncate_into_the_dtype() -> None:
    f = xl.vectorize(lambda n: n + n)
    assert xl.eval(f(xl.asarray([100, -100], dtype="int8"))).tolist() == [-56, 56]


def test_constants_of_the_module() -> None:
    def over(x: float) -> float:
        return x - LIMIT

    assert xl.eval(xl.vectorize(over)(xl.asarray([5.0]))).tolist() == [2.0]


def test_a_changed_function_is_another_function() -> None:
    results = []
    for constant in (1.0, 2.0):
        namespace: dict[str, Any] = {"C": constant}
        exec("def shift(x):\n    return x + C", namespace)
        results.append(float(xl.vectorize(namespace["shift"])(xl.asarray(0.0))))
    assert results == [1.0, 2.0]

    def make(amount: float) -> Any:
        return xl.vectorize(lambda x: x + amount)

    assert [float(make(k)(xl.asarray(0.0))) for k in (3.0, 4.0)] == [3.0, 4.0]


def test_functions_that_call_functions() -> None:
    e = xl.vectorize(lambda x: math.floor(x) + math.hypot(x, 1.0))(xl.asarray([0.5]))
    assert float(e[0]) == math.hypot(0.5, 1.0)


def test_two_functions_in_one_kernel() -> None:
    f, g = xl.vectorize(lambda x: x * 2), xl.vectorize(lambda x: x * 3)
    a = xl.asarray([1.0, 2.0])
    assert xl.eval(f(a) + g(a)).tolist() == [5, 10]
    assert xl.eval(f(g(f(a)))).tolist() == [12, 24]


def test_names_never_reach_the_source(engine: str) -> None:
    f = xl.vectorize(lambda x: x)
    hostile = "__import__('os').abort()"
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1.0", namespace)
    namespace["f"].__name__ = hostile
    e = xl.vectorize(namespace["f"])(f(xl.asarray([1.0])))
    assert xl.eval(e).tolist() == [2.0]
    assert all(hostile not in source for source in xl.explain(e).sources)


def halved(n: int) -> float:
    return n / 2


def digits(n: int) -> int:
    return sum(int(c) for c in str(n))


#: What NumPy's `vectorize` takes: functions that are compiled, and others.
AS_NUMPY: dict[str, tuple[Any, dict[str, Any], tuple[Any, ...]]] = {
    "float of integers": (halved, {}, ([1, 2, 3],)),
    "truth": (lambda x: x > 1, {}, ([0.5, 2.0],)),
    "flags": (lambda x: 1 if x > 1 else 0, {}, ([0.5, 2.0],)),
    "whole": (math.floor, {}, ([0.5, -2.5],)),
    "generator": (digits, {}, ([12, 345],)),
    "builtin": (math.gcd, {}, ([4, 6], 8)),
    "class": (int, {}, ([1.5, 2.5],)),
    "ufunc": (np.hypot, {}, ([3.0, 6.0], [4.0, 8.0])),
    "table": ({1: 10, 2: 20}.get, {}, ([2, 1, 2],)),
    "variadic": (lambda *args: args[-1], {}, ([1, 2], [3, 4])),
    "default": (lambda x, k=3: x * k, {}, ([1, 2],)),
    "otypes": (lambda x: x * 2, {"otypes": "f"}, ([1, 2],)),
    "list of otypes": (lambda x: x > 1, {"otypes": [float]}, ([1, 2],)),
    "two results": (lambda x: (x + 1, x / 2), {}, ([1, 2],)),
    "signature": (np.dot, {"signature": "(n),(n)->()"}, ([[1, 2], [3, 4]], [1, 1])),
    "rounded": (lambda x: round(x, 1), {}, ([0.26, 1.31],)),
}


@together("name", AS_NUMPY)
def test_results_are_those_of_numpys(name: str) -> None:
    function, options, operands = AS_NUMPY[name]
    theirs = np.vectorize(function, **options)(*operands)
    mine = [xl.asarray(x) if isinstance(x, list) else x for x in operands]
    ours = xl.vectorize(function, **options)(*mine)
    pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]
    for one, other in pairs:
        assert_same_bits(one, other)


def test_names_are_looked_up_at_every_call() -> None:
    namespace: dict[str, Any] = {"k": 2}
    exec("def times(x):\n    return x * k", namespace)
    call, x = xl.vectorize(namespace["times"]), xl.asarray([1.0, 2.0])
    kept = call(x)
    namespace["k"] = 5
    assert (call(x).numpy().tolist(), kept.numpy().tolist()) == ([5.0, 10.0], [2.0, 4.0])


def test_what_is_compiled_is_lazy_and_what_is_not_is_called(engine: str) -> None:
    x = xl.asarray([1, 2])
    assert type(xl.vectorize(halved)(x)) is xl.XExpression
    if engine == "compiled":
        assert isinstance(xl.vectorize(digits)(x), xl.XArray)


def test_only_functions() -> None:
    with pytest.raises(xl.DTypeError, match="vectorize: a function is needed"):
        xl.vectorize("text")  # type: ignore[arg-type]


def test_number_of_arguments() -> None:
    with pytest.raises(TypeError, match="clipped takes 2 arguments, got 1"):
        xl.vectorize(clipped)(xl.ones(2))


def test_under_jit() -> None:
    f = xl.vectorize(clipped)
    step = xl.jit(lambda u, limit: f(u, limit) * 2)
    assert step(xl.asarray([1.0, 5.0]), 2.0).tolist() == [2, 4]
    assert step(xl.asarray([1.0, 5.0]), 4.0).tolist() == [2, 8]


def refusing(x: float) -> float:
    if x < 0:
        raise ValueError("negative")
    return x * 2


def doubled(x: float) -> float:
    return x * 2


@pytest.mark.parametrize("function", [doubled, refusing], ids=lambda f: f.__name__)
def test_the_fourth_assignment_is_as_the_first(function: Any) -> None:
    """A destination is whole, whatever a function raises and however often it was called."""
    call, c = xl.vectorize(function), xl.ones(3)
    natives.install()
    try:
        for k in range(4):
            c[...] = 1.0
            c[...] = call(xl.asarray([4.0, 8.0, 1.0 * k])) + c
            assert c.tolist() == [9.0, 17.0, 2.0 * k + 1]
            if function is refusing:
                with pytest.raises(ValueError, match="negative"):
                    c[...] = call(xl.asarray([4.0, 8.0, -1.0])) + c
                assert c.tolist() == [9.0, 17.0, 2.0 * k + 1]
    finally:
        natives.remove()


def test_what_changes_where_it_is_is_read_where_it_is() -> None:
    weights, module = np.array([1.0, 2.0]), ModuleType("own")
    module.k = 2.0  # type: ignore[attr-defined]
    chosen = xl.vectorize(lambda i: weights[i])
    scaled = xl.vectorize(lambda i: i * module.k)
    x = xl.asarray([0, 1])
    assert (chosen(x).tolist(), scaled(x).tolist()) == ([1.0, 2.0], [0.0, 2.0])
    weights[0], module.k = 5.0, 3.0  # type: ignore[attr-defined]
    assert (chosen(x).tolist(), scaled(x).tolist()) == ([5.0, 2.0], [0.0, 3.0])


def test_the_dtype_in_a_traced_function_is_that_outside() -> None:
    half, small = xl.vectorize(lambda n: n / 2), xl.vectorize(lambda n: n < 2)
    x = xl.asarray([1, 2, 3])
    for function in (half, small):
        made = xl.jit(lambda a, function=function: function(a))(x)
        assert (made.dtype, made.tolist()) == (function(x).dtype, function(x).tolist())


@pytest.mark.parametrize("dtype", ["bfloat16", "int4", "float8_e5m2"])
def test_dtypes_that_are_none_of_numpys(dtype: str) -> None:
    x = xl.asarray([1, 2, 3], dtype=dtype)
    made = xl.eval(xl.vectorize(lambda s: s * 2, dtype=dtype)(x))
    assert (str(made.dtype), made.tolist()) == (dtype, [2, 4, 6])


def test_what_is_no_number_is_given_to_the_function() -> None:
    assert xl.vectorize(lambda s: len(s) + 1)(["a", "bb"]).tolist() == [2, 3]
    assert xl.vectorize(lambda i, t: t[i])(xl.asarray([0, 1]), {0: 1, 1: 5}).tolist() == [1, 5]
    values = iter([10, 20, 30, 40])
    once = xl.vectorize(lambda v: v + next(values), cache=True)
    assert once(xl.asarray([0, 0, 0])).tolist() == [10, 20, 30]
