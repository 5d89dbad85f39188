"""Labels of jagged arrays: values against sums over dicts of elements, shapes against shapes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import xarraylite as xl
from xarraylite.jagged.labels import XJaggedLabelled
from xarraylite.shapes.labels import Mode
from xarraylite.shapes.tables import Extent, Table
from xarraylite.testing import assert_same_bits

#: Every label that random factors use: a number, or the labels it depends on and its extents.
UNIVERSE: dict[str, int | tuple[str, ...]] = {
    "i": 3,
    "m": 2,
    "l": 4,
    "j": ("i",),
    "p": ("i",),
    "k": ("i", "j"),
    "q": ("m", "i"),
}

Elements = dict[tuple[int, ...], int]


def extents_of_universe(seed: int) -> dict[str, Extent]:
    """Smooth labels may have one index, but for that on which all jagged ones depend."""
    rng = np.random.default_rng(seed)
    known: dict[str, Extent] = {
        k: 1 if k != "i" and rng.random() < 0.3 else n
        for k, n in UNIVERSE.items()
        if isinstance(n, int)
    }
    for label, needed in UNIVERSE.items():
        if isinstance(needed, int):
            continue
        indices = list(shape_of(needed, known).indices())
        columns = np.array(indices, np.int64).reshape(-1, len(needed))
        values = rng.integers(0, 4, len(columns))
        if np.unique(values).size < 2:
            values[0] = 5  # jagged, whatever happens
        order = np.lexsort(columns.T[::-1])
        known[label] = Table(needed, tuple(columns[order].T), values[order])
    return known


def shape_of(labels: Sequence[str], known: dict[str, Extent]) -> xl.JaggedShape:
    return xl.JaggedShape._of_modes(labels, [Mode((known[k],)) for k in labels])


@st.composite
def labels_in_order(draw: st.DrawFn) -> tuple[str, ...]:
    """Some labels, each after those it depends on."""
    count = draw(st.integers(1, 4))
    chosen: list[str] = []
    for _ in range(count):
        possible = [
            k
            for k, n in UNIVERSE.items()
            if k not in chosen and (isinstance(n, int) or set(n) <= set(chosen))
        ]
        chosen.append(draw(st.sampled_from(possible)))
    return tuple(chosen)


def elements(values: Any, shape: Any) -> Elements:
    return dict(zip(shape.indices(), np.asarray(values).reshape(-1).tolist(), strict=True))


def multiplied(factors: list[tuple[tuple[str, ...], Elements]], out: Sequence[str]) -> Elements:
    """Sum the product of factors, element by element."""
    joined: list[tuple[dict[str, int], int]] = [({}, 1)]
    for labels, values in factors:
        joined = [
            (at | dict(zip(labels, index, strict=True)), product * value)
            for at, product in joined
            for index, value in values.items()
            if all(at.get(k, n) == n for k, n in zip(labels, index, strict=True))
        ]
    result: Elements = {}
    for at, product in joined:
        key = tuple([at[k] for k in out])
        result[key] = result.get(key, 0) + product
    return result


def outcome(make: Callable[[], Any]) -> Any:
    """What a call returns, or what it refuses with; without a compiler, which is not the point."""
    try:
        with xl.config(engine="reference"):
            return make()
    except xl.ShapeError as error:
        return str(error)


@st.composite
def a_term(draw: st.DrawFn, known: dict[str, Extent]) -> tuple[Any, Any, list[Any]]:
    """A product of arrays, the same of shapes, and the elements of each factor."""
    array: Any = None
    space: Any = None
    parts = []
    for number in range(draw(st.integers(1, 3))):
        labels = draw(labels_in_order())
        shape = shape_of(labels, known)
        values = np.random.default_rng(draw(st.integers(0, 99))).integers(-4, 5, shape.size)
        text = ",".join(labels)
        box = shape.is_smooth and (number > 0 or draw(st.booleans()))
        parts.append((labels, elements(values, shape)))
        one = xl.asarray(values.reshape(shape.as_tuple())) if box else xl.XJagged(values, shape)
        sides = xl.Shape(*one.shape) if box else shape
        if array is None:
            array, space = one[text], sides[text]
            continue
        before = space
        space = outcome(lambda: before * sides[text])  # noqa: B023
        made = outcome(lambda: array * one[text])  # noqa: B023
        # Rows that one of them does not have make their extents differ.
        assert not isinstance(space, str) or made == space
        assume(not isinstance(space, str))
        array = made
    return array, space, parts


@st.composite
def an_expression(draw: st.DrawFn) -> tuple[Any, Any, list[tuple[int, Any]], str]:
    known = extents_of_universe(draw(st.integers(0, 20)))
    array, space, parts = draw(a_term(known))
    terms = [(1, parts)]
    if draw(st.booleans()):
        more, sides, others = draw(a_term(known))
        sign = draw(st.sampled_from([2, -1]))
        first = space
        space = outcome(lambda: first + sides)
        assume(not isinstance(space, str))
        array = array - more if sign < 0 else array + 2 * more
        terms.append((sign, others))
    if draw(st.booleans()):
        more, sides, others = draw(a_term(known))
        sums, summed = array, space
        space = outcome(lambda: summed * sides)
        array = outcome(lambda: sums * more)
        assert not isinstance(space, str) or isinstance(array, str)
        assume(not isinstance(space, str))
        terms = [(sign, [*factors, *others]) for sign, factors in terms]
    present = [k for k in UNIVERSE if k in array.labels]
    out = draw(st.permutations(present))
    kept = tuple(out[: draw(st.integers(0, len(out)))])
    in_order = [k for k in array.labels if k in kept]
    return array, space, terms, ",".join(draw(st.sampled_from([kept, in_order])))


@given(an_expression())
def test_values_and_refusals_are_those_of_the_shapes(case: Any) -> None:
    array, space, terms, out = case
    wanted = outcome(lambda: space.as_shape(out))
    made = outcome(lambda: xl.eval(array, out))
    if isinstance(wanted, str):
        assert isinstance(made, str)
        assert made == wanted or not isinstance(array, XJaggedLabelled)
        return
    labels = tuple(out.split(",")) if out else ()
    sums = [(sign, multiplied(parts, labels)) for sign, parts in terms]
    expected = [sum(sign * s.get(at, 0) for sign, s in sums) for at in wanted.indices()]
    if isinstance(made, xl.XJagged):
        assert made.jagged_shape.same_extents(wanted)
        assert made.flat.tolist() == expected
    else:
        assert made.shape == wanted.as_tuple()
        assert np.asarray(made).reshape(-1).tolist() == expected


@given(an_expression())
def test_assigned_is_evaluated(case: Any) -> None:
    array, space, _, out = case
    shape = outcome(lambda: space.as_shape(out))
    if isinstance(shape, str):
        return
    with xl.config(engine="reference"):
        made = xl.eval(array, out)
        expected = made.flat.tolist() if isinstance(made, xl.XJagged) else _flat(made)
        if shape.rank:
            jagged = xl.XJagged(np.full(shape.size, 7), shape)
            jagged[out] = array
            assert jagged.flat.tolist() == expected
            change = outcome(lambda: array - 3 * jagged[out])
            assume(not isinstance(change, str))
            jagged[out] = change
            assert jagged.flat.tolist() == [-2 * x for x in expected]
        if isinstance(shape, xl.Shape) or shape.is_smooth:
            dense = xl.full(shape.as_tuple(), 7)
            dense[out] = array
            assert _flat(dense) == expected


@given(an_expression())
@settings(max_examples=8)
def test_compiled_kernels_agree(case: Any) -> None:
    array, _, _, out = case
    wanted = outcome(lambda: xl.eval(array, out))
    if not isinstance(wanted, str):
        assert_same_bits(xl.eval(array, out), wanted)


def _flat(array: Any) -> Any:
    return np.asarray(array).reshape(-1).tolist()


def test_every_pair_of_small_shapes() -> None:
    """Products of two matrices, whatever their lengths and labels."""
    lengths = [(1, 2), (2, 1), (2, 2)]
    for first, second in itertools.product(lengths, repeat=2):
        a = xl.XJagged([list(range(1, n + 1)) for n in first])
        b = xl.XJagged([list(range(3, n + 3)) for n in second])
        for left, right in (("i,j", "i,j"), ("i,j", "k,j"), ("i,j", "j,k"), ("i,j", "i,k")):
            sides = outcome(lambda: a.jagged_shape[left] * b.jagged_shape[right])  # noqa: B023
            made = outcome(lambda: a[left] * b[right])  # noqa: B023
            if isinstance(sides, str):
                assert made == sides
                continue
            x = np.asarray(a.to_padded())
            y = np.asarray(b.to_padded())
            spec = f"{left.replace(',', '')},{right.replace(',', '')}->i"
            assert xl.eval(made, "i").tolist() == np.einsum(spec, x, y).tolist()
