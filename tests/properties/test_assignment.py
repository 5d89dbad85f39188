"""Assignments whose operands overlap the destination: always what copying first would give.

The corpus is NumPy's idea: pairs of slices with few elements and steps of both signs.  Around it
stand views with permuted dimensions, several operands at once, other element types over the same
bytes, gathers, and arrays that are larger than a block or that use several threads.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle
from tests.properties.trees import Tree, trees
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing import strategies as xst

Array = np.ndarray[Any, np.dtype[Any]]
Key = tuple[slice, ...]


def slices(extent: int, length: int, steps: tuple[int, ...] = (1, 2, -1, -2)) -> list[slice]:
    """All slices of ``length`` elements of a dimension."""
    found = []
    for step in steps:
        for low in range(extent - (length - 1) * abs(step)):
            first = low if step > 0 else low - (length - 1) * step
            stop = first + length * step
            found.append(slice(first, None if stop < 0 else stop, step))
    return found


def compare(container: Any, expected: Array, *what: object) -> None:
    actual = np.asarray(container)
    assert actual.tobytes() == expected.tobytes(), f"{what}\n{actual}\n{expected}"


def pairs(extent: int) -> Iterator[tuple[slice, slice]]:
    for length in (0, 2, 3):
        found = slices(extent, length) if length else [slice(3, 3)]
        yield from itertools.product(found, found)


def test_all_pairs_of_slices_of_a_row() -> None:
    start = np.arange(10) * 3 + 1
    for dst, src in pairs(10):
        container, expected = xl.asarray(start), start.copy()
        expected[dst] = start[src].copy()
        container[dst] = container[src]
        compare(container, expected, dst, src)


def test_pairs_of_slices_of_a_matrix() -> None:
    start = np.arange(100).reshape(10, 10)
    rng = random.Random(1)
    known = list(pairs(10))
    for _ in range(2500):
        (top, left), (low, right) = rng.choice(known), rng.choice(known)
        dst, src = (top, low), (left, right)
        container, expected = xl.asarray(start), start.copy()
        expected[dst] = start[src].copy()
        container[dst] = container[src]
        compare(container, expected, dst, src)


class Pick:
    """A random view of a base array: a box of given extents, any steps, any order."""

    def __init__(self, rng: random.Random, base: tuple[int, ...], box: list[int]) -> None:
        self.axes = list(range(len(base)))
        if rng.random() < 0.4:
            rng.shuffle(self.axes)
        found = {
            k: slices(base[k], n, (1, 2, 3, -1, -2, -3))
            for k, n in zip(self.axes, box, strict=True)
        }
        self.key = tuple([rng.choice(found[k]) for k in range(len(base))])
        self.stretched = False

    def of(self, array: Any) -> Any:
        transpose: Callable[..., Any] = np.transpose if type(array) is np.ndarray else xl.transpose
        view = transpose(array[self.key], self.axes)
        return view[:1] if self.stretched else view

    def __repr__(self) -> str:
        return f"{self.key}{self.axes}{'[:1]' * self.stretched}"


@pytest.mark.parametrize(
    ("base", "count", "examples"),
    [((24,), 1, 90), ((24,), 2, 90), ((7, 8), 1, 90), ((7, 8), 2, 50), ((4, 5, 4), 1, 40)],
)
def test_operands_of_one_array(base: tuple[int, ...], count: int, examples: int) -> None:
    """Random boxes of the array, their dimensions permuted, some repeated along the first."""
    rng = random.Random(f"{base} {count}")
    for _ in range(examples):
        box = [rng.randint(1, min(base)) for _ in base]
        start = np.arange(np.prod(base)).reshape(base) * 7 % 101
        dst, *sources = [Pick(rng, base, box) for _ in range(1 + count)]
        for source in sources:
            source.stretched = rng.random() < 0.15
        container, expected = xl.asarray(start), start.copy()
        total, ours = 0, 0
        for factor, source in enumerate(sources, start=1):
            total = total + factor * source.of(start).copy()
            ours = ours + factor * source.of(container)
        target = dst.of(container)
        if rng.random() < 0.5:
            dst.of(expected)[...] = total
            target[...] = ours
        else:
            dst.of(expected)[...] += total
            target += ours
        compare(container, expected, base, dst, sources)


PUNNED = ("int8", "uint16", "int32", "uint64")


@together("types", list(itertools.product(PUNNED, PUNNED)), ids="-".join)
def test_other_element_types_over_the_same_bytes(types: tuple[str, str]) -> None:
    to, of = np.dtype(types[0]), np.dtype(types[1])
    rng = random.Random(to.itemsize * 16 + of.itemsize)
    content = np.random.default_rng(2).integers(0, 256, 96, np.uint8)
    for _ in range(80):
        memory, expected = bytearray(content.tobytes()), content.copy()
        length = rng.randint(1, min(96 // to.itemsize, 96 // of.itemsize))
        dst = rng.choice(slices(96 // to.itemsize, length, (1, 2, -1, -2)))
        src = rng.choice(slices(96 // of.itemsize, length, (1, 2, -1, -2, 3)))
        expected.view(to)[dst] = expected.view(of)[src].copy().astype(to)
        xl.adapt(memory, dtype=to)[dst] = xl.adapt(memory, dtype=of)[src]
        compare(np.frombuffer(memory, np.uint8), expected, dst, src)


def test_floats_over_the_same_bytes() -> None:
    """float64 over float32, written in whole numbers: the low words are zero, nothing is NaN."""
    for dst, src in itertools.product(slices(12, 6), slices(24, 6)):
        memory = np.arange(12.0)
        expected = memory.copy()
        expected[dst] = expected.view("f4")[src].astype("f8")
        xl.adapt(memory)[dst] = xl.adapt(memory.view("f4"))[src]
        compare(memory, expected, dst, src)
        memory = np.arange(12.0)
        expected = memory.copy()
        expected.view("f4")[src] = expected[dst].astype("f4")
        xl.adapt(memory.view("f4"))[src] = xl.adapt(memory)[dst]
        compare(memory, expected, dst, src)


def test_gathers() -> None:
    a = xl.arange(6)
    a[0:3] = a[[4, 0, 5]]
    assert a.tolist() == [4, 0, 5, 3, 4, 5]
    rng = random.Random(5)
    for _ in range(300):
        start = np.arange(35).reshape(5, 7)
        axis, length = rng.randrange(2), rng.randint(1, 5)
        rows = [rng.randrange(-start.shape[axis], start.shape[axis]) for _ in range(length)]
        dst = rng.choice(slices(start.shape[axis], length))
        key, pick = ((dst,), (rows,)) if axis == 0 else ((slice(None), dst), (slice(None), rows))
        container, expected = xl.asarray(start), start.copy()
        expected[key] = start[pick] * 2 - start[key]
        container[key] = container[pick] * 2 - container[key]
        compare(container, expected, key, pick)


def test_scatters() -> None:
    rng = random.Random(6)
    for _ in range(200):
        start = np.arange(35).reshape(5, 7)
        rows = [rng.randrange(-5, 5) for _ in range(rng.randint(1, 5))]
        container, expected = xl.asarray(start), start.copy()
        source = rng.choice(slices(5, len(rows), (1, -1)))
        expected[rows] = start[source].copy()
        container[rows] = container[source]
        compare(container, expected, rows, source)


@st.composite
def own_trees(draw: st.DrawFn) -> tuple[Any, Tree, list[xst.Sample]]:
    """Draw a container and a tree over it and over views of it."""
    dtype = draw(st.sampled_from([np.dtype(t) for t in ("i4", "u1", "f8", "f4", "c8")]))
    shape = draw(xst.shapes(max_dims=3, max_size=3000))
    values = xst.fill(dtype, shape, draw(st.integers(0, 99)))
    container = xl.XArray(values)
    flipped = tuple([slice(None, None, -1)] * len(shape))
    operands = [
        xst.Sample(container, values, "row"),
        xst.Sample(container.T, np.array(values.T, order="C"), "permuted"),
        xst.Sample(container[flipped], np.array(values[flipped]), "reversed"),
    ]
    return container, draw(trees(operands)), operands


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=60)
def test_assign_any_expression_of_the_container_itself(
    drawn: tuple[Any, Tree, list[xst.Sample]],
) -> None:
    container, tree, operands = drawn
    expected = oracle.convert(np.asarray(tree.value), container.dtype)
    container.assign(tree.xl([operand.operand for operand in operands]))
    assert_same_bits(container, expected)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@given(own_trees())
@settings(max_examples=60)
def test_write_any_expression_of_the_container_into_it(
    drawn: tuple[Any, Tree, list[xst.Sample]],
) -> None:
    container, tree, operands = drawn
    expression = tree.xl([operand.operand for operand in operands])
    expected = np.array(operands[0].array)
    try:
        expected[...] = oracle.convert(np.asarray(tree.value), container.dtype)
    except ValueError:
        with pytest.raises(xl.BroadcastError):
            container[...] = expression
        assert operands[0].unchanged()
        return
    container[...] = expression
    assert_same_bits(container, expected)


def test_dropping_an_imaginary_part_warns() -> None:
    a = xl.zeros(2)
    for write in (lambda e: a.__setitem__(..., e), a.assign):
        with pytest.warns(np.exceptions.ComplexWarning, match="complex128 to float64 discards"):
            write(xl.asarray([1 + 2j, 3j]) + 1)
        assert a.tolist() == [2, 1]


# --- larger than a block, larger than one thread's share -----------------------------------------

SIZES = (1023, 1024, 1025, 2048, 5000, (1 << 17) + 1, 700_001)


def shifts(a: Any) -> Iterator[tuple[str, Any, Any]]:
    """Pairs of views of one vector, from a container or from an array alike."""
    yield "down", a[1:], a[:-1]
    yield "up", a[:-1], a[1:]
    yield "far", a[1500:], a[:-1500]
    yield "reverse", a[:], a[::-1]
    yield "apart", a[: len(a) // 2], a[len(a) // 2 : len(a) // 2 * 2]
    yield "interleaved", a[: len(a) // 2 * 2 : 2], a[1::2]
    yield "spread", a[: len(a) // 2 * 2 : 2], a[: len(a) // 2]
    yield "gather up", a[: len(a) // 3], a[: len(a) // 3 * 3 : 3]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", SIZES)
def test_shifts_of_long_vectors(size: int, threads: int) -> None:
    start = np.arange(size, dtype=np.float64)
    for number in range(8):
        with xl.config(threads=threads):
            container, expected = xl.asarray(start), start.copy()
            name, dst, src = list(shifts(container))[number]
            _, to, of = list(shifts(expected))[number]
            to[...] = of.copy() * 2 + 1
            dst[...] = src * 2 + 1
        compare(container, expected, name)


@pytest.mark.parametrize("threads", [1, 2])
def test_matrices_over_themselves(threads: int) -> None:
    start = np.random.default_rng(0).random((700, 700))
    with xl.config(threads=threads):
        for change in (
            lambda m: m + m.T,
            lambda m: m.T,
            lambda m: m[::-1] - m.T,
            lambda m: m[:, ::-1] * 0.5,
            lambda m: m[:1] + m[:, :1],
            lambda m: m[-1:] + m,
        ):
            container, expected = xl.asarray(start), start.copy()
            expected[...] = change(start)
            container[...] = change(container)
            compare(container, expected)


@pytest.mark.parametrize("threads", [1, 2])
def test_stencil_in_place(threads: int) -> None:
    start = np.random.default_rng(1).random((900, 901))

    def step(u: Any) -> Any:
        return u[1:-1, 1:-1] * 0.5 + 0.125 * (
            u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        )

    with xl.config(threads=threads):
        container, expected = xl.asarray(start), start.copy()
        for _ in range(3):
            expected[1:-1, 1:-1] = step(expected)
            container[1:-1, 1:-1] = step(container)
        compare(container, expected)


# --- no temporary where none is needed -----------------------------------------------------------


def _shifted(a: Array, values: Array, where: slice) -> Array:
    result = a.copy()
    result[where] = values
    return result


#: Statement on containers, and its result from arrays.
FREE: dict[str, Callable[[Array, Array], Array]] = {
    "a += b": lambda a, b: a + b,
    "a[...] = a + b": lambda a, b: a + b,
    "a.assign(a + b)": lambda a, b: a + b,
    "a[...] = a * b - a": lambda a, b: a * b - a,
    "a[::2] = a[1::2]": lambda a, b: _shifted(a, a[1::2], slice(None, None, 2)),
    "a[1:] = a[:-1]": lambda a, b: _shifted(a, a[:-1], slice(1, None)),
    "a[:-1] = a[1:] * b[1:]": lambda a, b: _shifted(a, a[1:] * b[1:], slice(None, -1)),
    "a[1:] += b[1:]": lambda a, b: _shifted(a, a[1:] + b[1:], slice(1, None)),
}


@together("form", FREE)
@together("size", [10, 4096, 600_000])
def test_no_temporary(form: str, size: int, engine: str) -> None:
    start = np.arange(size) * 0.5
    a, b = xl.asarray(start), xl.asarray(start * 3)
    names = {"a": a, "b": b}
    with count_allocations() as count:
        exec(form, names)
    assert (count.temporaries, count.snapshots) == (0, 0)
    if engine == "compiled":
        assert count.allocations == 0
    compare(a, FREE[form](start, start * 3), form)


@together(
    ("form", "most"),
    [
        ("a[::-1] += a", 1),
        ("m[...] = m + m.T", 1),
        ("a[0:3] = a[[4, 0, 5]]", 1),
        ("a[...] = a[::-1] + a[1]", 1),
        ("a[1:-1] = a[:-2] + a[2:]", 1),
        ("a[1:-1] = a[:-2] - a[2:] * a[1:-1]", 1),
        ("m[1:-1, 1:-1] = m[:-2, 1:-1] + m[2:, 1:-1] + m[1:-1, :-2] + m[1:-1, 2:]", 2),
    ],
)
def test_one_temporary_of_one_operand(form: str, most: int) -> None:
    first, second = np.arange(6), np.arange(25).reshape(5, 5)
    a, m = xl.asarray(first), xl.asarray(second)
    with count_allocations() as count:
        exec(form, {"a": a, "m": m})
    assert count.temporaries <= most
    assert count.snapshots == 0
    # NumPy copies too where operands overlap.
    exec(form, {"a": first, "m": second})
    compare(a, first, form)
    compare(m, second, form)


def test_explain_says_what_is_allocated(engine: str) -> None:
    m = xl.asarray(np.random.default_rng(0).random((50, 50)))
    explanation = xl.explain(m, m + m.T)
    with count_allocations() as count:
        m[...] = m + m.T
    if engine == "compiled":
        assert len(explanation.temporaries) == count.temporaries == 1
        assert explanation.temporaries[0].nbytes == m.nbytes == count.bytes
