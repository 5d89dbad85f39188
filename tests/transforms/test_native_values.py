"""Operators of values, and of numbers, in machine code: they are those in Python, only faster."""

from __future__ import annotations

import operator
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.transforms.test_natives import V, both, outcome
from xarraylite.runtime import natives as loading
from xarraylite.transforms import natives

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]


def test_operators_of_values_are_the_same() -> None:
    numbers = (2.5, -0.0, 0.0, float("inf"), float("nan"), 1e308)
    strangers = (3, True, 1 << 70, np.float64(1.5), np.float32(1.5), 1 + 2j, None, "text")
    a = xl.asarray(numbers)
    names = ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "floordiv", "pow")
    operands = (*numbers, *[a[j] for j in range(len(numbers))], *strangers)
    for compute in [getattr(operator, name) for name in names]:
        pairs = [(a[k], other) for k in range(len(numbers)) for other in operands]
        pairs += [(other, one) for one, other in pairs]
        with np.errstate(all="ignore"):
            fast, slow = both(lambda: [_shown(compute, *pair) for pair in pairs])  # noqa: B023
        assert fast == slow, compute
    fast, slow = both(lambda: [_shown(getattr(operator, name), x) for name in ALONE for x in a])
    assert fast == slow


#: Elements of each dtype with which arithmetic wraps, overflows or is no number.
ELEMENTS: dict[str, list[Any]] = {
    "float16": [1.5, -0.0, 65504.0, float("nan"), float("inf"), 6e-8],
    "float32": [1.1, -0.0, 3e38, float("nan"), float("-inf"), 1e-45],
    "complex64": [1.1 + 2j, -0.0 - 1j, 3e38 + 3e38j, complex("nan"), complex("inf"), 1j],
    "complex128": [1.1 + 2.3j, complex(-0.0, -0.0), 1e308 + 1e308j, complex("nan"), 1.0, 1j],
    "int8": [1, -128, 127, 0, -1, 3],
    "uint8": [1, 255, 0, 7, 128, 3],
    "int64": [1, -(1 << 63), (1 << 63) - 1, 0, -1, 3],
    "bool": [True, False, True, False, True, True],
}
NAMES = ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "floordiv", "mod")
ALONE = ("neg", "pos", "abs", "invert")
NUMBERS: tuple[Any, ...] = (3, -1, 0, 1.5, 1e300, 1e5, 70000, 1 << 40, True, 2j, float("nan"))


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_whole_values_have_the_bits_of_arrays(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = [info.min, info.min + 1, -1 % (info.max + 1), 0, 1, 2, 7, 8, 9, info.max]
    a = xl.asarray(values, dtype)
    names = ("truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift")
    for compute in [getattr(operator, name) for name in names]:
        wanted = compute(a[:, None], a).numpy()
        for made in both(lambda: [compute(x, y).numpy().tobytes() for x in a for y in a]):  # noqa: B023
            assert b"".join(made) == wanted.tobytes(), compute


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_operators_of_other_values_are_the_same(dtype: str) -> None:
    names = [*NAMES, "and_", "or_", "xor", "lshift", "rshift"]
    a = xl.asarray(ELEMENTS[dtype], dtype)
    b = [xl.asarray(ELEMENTS[other], other) for other in ELEMENTS]
    others = [*[x[0] for x in b], xl.asarray([2.5])[0], *NUMBERS]
    pairs = [(one, other) for one in a for other in a]
    pairs += [(a[k % a.size], other) for k, other in enumerate(others * 2)]
    pairs += [(other, one) for one, other in pairs]

    def work() -> dict[str, list[Any]]:
        alone = {name: [_shown(getattr(operator, name), one) for one in a] for name in ALONE}
        return alone | {
            name: [_shown(getattr(operator, name), *pair) for pair in pairs] for name in names
        }

    with np.errstate(all="ignore"):
        for _ in range(2):  # the first of which learns
            fast, slow = both(work)
            for name in (*ALONE, *names):
                assert fast[name] == slow[name], name


@together(
    ("name", "dtype"),
    [(name, dtype) for k, dtype in enumerate(ELEMENTS) for name in NAMES[k % 2 :: 2]],
)
def test_values_have_the_bits_of_arrays(name: str, dtype: str) -> None:
    compute = getattr(operator, name)
    a = xl.asarray(ELEMENTS[dtype], dtype)
    for other in [a, *NUMBERS]:
        try:
            expected = xl.eval(compute(a, other)).copy()
        except (TypeError, ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                compute(a[0], other[0] if other is a else other)
            continue
        for _ in range(3):
            for k in range(a.size):
                made = compute(a[k], other[k] if other is a else other)
                one = np.asarray(expected[k])
                same = made.value.tobytes() == one.tobytes() or np.isnan(one)
                assert same, (a[k], other, made, one)
                assert made.dtype == one.dtype, (a[k], other)


def _shown(compute: Any, *operands: Any) -> str:
    """Return a result's class and text, by which a NaN is the same as another, or the error's."""
    try:
        value = compute(*operands)
    except Exception as error:
        value = error
    return f"{operands} {type(value)} {value!r}"


#: Results of rank 0, and what is refused as one: counts, sums, memory, views, and other dtypes.
WHOLE: dict[str, Any] = {
    "a count": lambda a: xl.count_nonzero(a > 1),
    "a sum": lambda a: xl.sum(xl.astype(a, "int64")),
    "of nothing": lambda a: xl.sum(xl.astype(a[:0], "int64")),
    "memory": lambda a: xl.asarray(-(1 << 63)),
    "a view of memory": lambda a: xl.at(xl.astype(a, "int64", copy=True), 2),
    "a lazy element": lambda a: xl.sum(xl.astype(a, "int64")) * 3 - 7,
    "a short integer": lambda a: xl.sum(xl.astype(a, "int8"), dtype="int8"),
    "unsigned": lambda a: xl.sum(xl.asarray([1 << 63], dtype="uint64")),
    "a float": xl.sum,
    "infinite": lambda a: xl.sum(a) / 0.0,
    "a bool": lambda a: xl.any(a > 1),
    "several": lambda a: xl.astype(a, "int64"),
    "in one place": lambda a: xl.astype(a[:1], "int64"),
    "missing": lambda a: xl.sum(xl.optional([1, None])),
}


@pytest.mark.parametrize("convert", [int, operator.index, float])
@together("name", WHOLE)
def test_numbers_of_arrays_are_the_same(name: str, convert: Any) -> None:
    def shown() -> list[Any]:
        a = xl.asarray([0.5, 1.5, 2.5, -3.0])
        return [_shown(convert, WHOLE[name](a)) for _ in range(20)]

    fast, slow = both(shown)
    assert fast == slow
    assert all(type(x) is type(fast[0]) for x in fast)


def test_a_count_reads_what_is_there_now() -> None:
    a = xl.zeros(10)
    for k in range(10):
        a[k] = 1.0
        before = xl.count_nonzero(a)
        assert range(20)[before] == int(before) == k + 1
    a[...] = 0.0
    assert int(before) == 10
    assert int(xl.count_nonzero(a)) == 0


def test_folds_by_users_functions_are_recalled() -> None:
    scale = 2.0

    def weighed(x: float, y: float) -> float:
        return x + y * scale

    def larger(x: float, y: float) -> float:
        return x if x > y else y

    def results() -> list[float]:
        nonlocal scale
        found = []
        for k in range(20):
            a = xl.asarray([1.0, 5.0 + k, 3.0])
            found.append(float(xl.reduce(larger, a, initial=0.0)))
            scale = 1.0 if k < 10 else 3.0
            fold = xl.reduce(lambda x, y: x + y * scale, a[:1], initial=0.0)  # noqa: B023
            found.append(float(fold))
            found += xl.accumulate(weighed, a).tolist()
        return found

    fast, slow = both(results)
    assert fast == slow
    assert fast[0::5] == [5.0 + k for k in range(20)]
    assert fast[1::5] == [1.0] * 10 + [3.0] * 10


@pytest.mark.parametrize("statement", ["a[0]", "a[0] = 1.0", "np.asarray(a)", "a.T"])
def test_a_program_of_one_statement_gets_machine_code(statement: str) -> None:
    source = (
        "import numpy as np, xarraylite as xl; from xarraylite.runtime.counting import OFTEN\n"
        "a = xl.asarray([1.0, 2.0]); before = type(a).__getitem__\n"
        f"for _ in range(OFTEN + 1): {statement}\n"
        "print(type(a).__getitem__ is not before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_elements_are_read_where_they_lie(dtype: str) -> None:
    values = np.arange(24, dtype=dtype).reshape(2, 3, 4)
    a = xl.asarray(values, copy=True)
    read_only = a.view()
    read_only.flags.writeable = False
    cases: list[tuple[Any, Any]] = [
        (a, values),
        (a[::-1, 1:, ::2], values[::-1, 1:, ::2]),
        (a.T, values.T),
        (xl.asarray(values, layout="column_major"), values),
        (xl.asarray(values[0], layout="{1,0:T(2,2)}"), values[0]),
        (xl.broadcast_to(a[:, :1], values.shape), np.broadcast_to(values[:, :1], values.shape)),
        (xl.adapt(values[1].copy()), values[1]),
        (xl.XTensor(values)[1, 2], values[1, 2]),
        (read_only, values),
    ]
    for ours, theirs in cases:
        for index in np.ndindex(theirs.shape):
            back = tuple(k - n for k, n in zip(index, theirs.shape, strict=True))
            assert ours[index] == ours[back] == theirs[index]
            assert np.asarray(ours[index]).dtype == theirs.dtype
        assert list(xl.flat(ours, "column_major")) == theirs.reshape(-1, order="F").tolist()
        assert [type(x) for x in ours[(0,) * (ours.ndim - 1)]] == [type(ours[(0,) * ours.ndim])] * (
            theirs.shape[-1]
        )
        for bad in (theirs.shape, (-1 - theirs.shape[0], *(0,) * (ours.ndim - 1)), (1 << 70,)):
            with pytest.raises(xl.IndexRangeError):
                ours[bad]
    first = a[0, 0, 0]
    a[0, 0, 0] = 9
    assert (first, a[0, 0, 0]) == (0, 9)


def test_products_of_vectors_are_values_to_machine_code() -> None:
    ways: list[Any] = [
        lambda v: v[...],
        lambda v: v[None],
        lambda v: v[..., None],
        lambda v: v.view(),
    ]
    for way in ways:
        for _ in range(3):
            a = xl.asarray([1.0, 2.0])
            array, value = xl.asarray(3.0), a @ a
            of_array, of_value = way(array), way(value)
            of_array[...] = of_value[...] = 9.0
            assert (float(array), float(value)) == (9.0, 5.0)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_beside_short_floats_are_rounded_once(dtype: str) -> None:
    """Zeros, of which two are equal, and more numbers than are remembered rounded."""
    special: tuple[Any, ...] = (0.1, 0.0, -0.0, 1, True, 1.0, 65519.0, 65520.0, 1e-9, 1e300)
    numbers = (*special, float("nan"), float("-inf"), *[k / 7 for k in range(70)], 0.1, -0.0)

    def work(xp: Any = xl, array: Any = xl.eval) -> list[bytes]:
        a, found = xp.asarray(V, dtype=dtype), []
        for number in numbers:
            made = [array(a * number), array(number - a), array(number / (a + 1))]
            a += number
            a *= 0.5
            found += [np.asarray(x).tobytes() for x in (*made, a)]
        return found

    fast, slow = both(work)
    assert fast == slow
    if dtype == "float16":
        with np.errstate(all="ignore"):
            assert fast == work(np, np.asarray)


def test_products_of_vectors_are_values_that_no_operator_changes() -> None:
    def work() -> Any:
        x, array = xl.asarray([1.0, 2.0, 4.0]), xl.asarray(3.0)
        total, same, history = x @ x, array, []
        for k in range(3):
            history.append(total)
            total += (x @ x, 21, np.float64(21))[k]
        same += x @ x
        total += x
        return [float(t) for t in history], np.asarray(total).tolist(), float(array)

    expected = [21.0, 42.0, 63.0], [85.0, 86.0, 88.0], 24.0
    natives.install()
    for _ in range(3):
        assert work() == expected
    natives.remove()
    assert work() == expected


def test_the_square_of_bools_is_none_of_their_powers() -> None:
    values = np.array([True, False])

    def work() -> Any:
        a = xl.asarray(values)
        made = [f(a, k) for k in (2, 3, 2.0, 0.5) for f in (xl.pow, operator.pow, xl.pow)]
        return [(x.dtype, x.tolist()) for x in map(xl.eval, made)]

    wanted = [f(values, k) for k in (2, 3, 2.0, 0.5) for f in (np.power, operator.pow, np.power)]
    assert both(work) == (outcome(lambda: [(x.dtype, x.tolist()) for x in wanted]),) * 2


def test_elements_of_every_dtype_are_the_same() -> None:
    for dtype in ("bool", "int8", "uint64", "float16", "float32", "complex64", "complex128"):
        values = V.astype(dtype)
        a = xl.asarray(values)

        def work(a: Any = a) -> Any:
            parts = (a, a[:, ::-1], a.T, a[1:, 1:])
            found = [part[k, -1] for part in parts for k in (0, -1)] + [a[0][1], a[::2, 1][1]]
            return [(type(x), x.dtype, x.item()) for x in found] + [outcome(lambda: a[0, 9])]

        fast, slow = both(work)
        assert fast == slow
        assert fast[0][2] == values[0, -1]


def test_masks_of_columns_are_the_same() -> None:
    a, mask = xl.asarray(V), np.arange(V.shape[1]) != 1
    fast, slow = both(lambda: [type(x := a[:, xl.asarray(mask)]), x.strides, x.tolist()])
    assert fast == slow
    assert fast[2] == V[:, mask].tolist()
