"""Loop nests visit the same points in the right order, with as few loops as possible."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from xarraylite.compiler.loops import Nest, Walker, merge, normalise, reverse, split, walker
from xarraylite.layout.strided import Strided


def points(shape: tuple[int, ...], walkers: list[Walker]) -> list[tuple[int, ...]]:
    """Where all walkers are at each index: the definition of a loop nest."""
    return [
        tuple(w.start + sum(i * s for i, s in zip(index, w.strides, strict=True)) for w in walkers)
        for index in itertools.product(*map(range, shape))
    ]


def visited(nest: Nest) -> list[tuple[int, ...]]:
    return points(nest.extents, list(nest.walkers))


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], list[Walker]]:
    """Draw a space, a destination whose strides are nested, and operands of any strides."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    order = draw(st.permutations(range(len(shape))))
    strides, unit = [0] * len(shape), draw(st.sampled_from((1, 2, 8)))
    for k in order:
        strides[k] = draw(st.sampled_from((unit, -unit)))
        unit *= shape[k] + draw(st.sampled_from((0, 0, 1)))
    walkers = [Walker(draw(st.integers(0, 9)), tuple(strides))]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(("same", "any")))
        some = st.sampled_from((0, 1, 2, 8, -8, 16, 24, -3))
        other = tuple(strides) if kind == "same" else tuple(draw(some) for _ in shape)
        walkers.append(Walker(draw(st.integers(0, 9)), other))
    return shape, walkers


@given(problems())
def test_the_same_points_in_address_order(problem: tuple[tuple[int, ...], list[Walker]]) -> None:
    shape, walkers = problem
    nest = normalise(shape, walkers)
    found = visited(nest)
    assert sorted(found) == sorted(points(shape, walkers))
    assert [point[0] for point in found] == sorted(point[0] for point in found)


@given(problems())
def test_no_loop_is_superfluous(problem: tuple[tuple[int, ...], list[Walker]]) -> None:
    nest = normalise(*problem)
    assert len(nest.extents) == 1 or 1 not in nest.extents
    dims = [(extent, [w.strides[k] for w in nest.walkers]) for k, extent in enumerate(nest.extents)]
    assert merge(dims) == dims


@given(problems())
def test_reverse_is_the_opposite_order(problem: tuple[tuple[int, ...], list[Walker]]) -> None:
    nest = normalise(*problem)
    assert visited(reverse(nest)) == visited(nest)[::-1]
    assert reverse(reverse(nest)) == nest


@given(problems(), st.data())
def test_split_divides_the_space(
    problem: tuple[tuple[int, ...], list[Walker]], data: st.DataObject
) -> None:
    shape, walkers = problem
    axes = [k for k in range(len(shape)) if data.draw(st.booleans())]
    still = Walker(
        walkers[0].start, tuple(0 if k in axes else s for k, s in enumerate(walkers[0].strides))
    )
    walkers = [still, *walkers[1:]]
    kept, reduced = split(shape, walkers, axes, 0)
    both = [
        tuple(a + b for a, b in zip(outer, inner, strict=True))
        for outer in visited(kept)
        for inner in visited(reduced)
    ]
    assert sorted(both) == sorted(points(shape, walkers))
    assert all(w.strides == (0,) * len(reduced.extents) for w in reduced.walkers[:1])


def test_one_layout_everywhere_is_one_loop() -> None:
    for dense in (Strided.row_major((3, 4, 5)), Strided.column_major((3, 4, 5))):
        nest = normalise(dense.shape, [walker(dense, 8), walker(dense, 4)])
        assert nest.extents == (60,)
        assert [w.strides for w in nest.walkers] == [(8,), (4,)]
        assert nest.outer == 1


def test_rows_of_a_part_are_not_merged() -> None:
    whole, part = Strided.row_major((3, 4)), Strided((3, 4), (9, 1), 2)
    nest = normalise((3, 4), [walker(whole, 8), walker(part, 8)])
    assert nest.extents == (3, 4)
    assert nest.walkers[1] == Walker(16, (72, 8))


def test_loops_follow_the_destination() -> None:
    row, column = Strided.row_major((3, 4)), Strided.column_major((3, 4))
    nest = normalise((3, 4), [walker(column, 8), walker(row, 8)])
    assert nest.extents == (4, 3)
    assert nest.walkers == (Walker(0, (24, 8)), Walker(0, (8, 32)))


def test_reversed_for_all_is_forward_for_all() -> None:
    back = Strided((5,), (-1,), 4)
    nest = normalise((5,), [walker(back, 8), walker(back, 4)])
    assert nest.walkers == (Walker(0, (8,)), Walker(0, (4,)))


def test_broadcast_dimensions_merge_among_themselves() -> None:
    wide = Strided((2, 3, 4), (0, 0, 1))
    nest = normalise((2, 3, 4), [walker(Strided.row_major((2, 3, 4)), 1), walker(wide, 1)])
    assert nest.extents == (6, 4)


def test_where_the_lead_stands_still_the_others_decide() -> None:
    """Reduced dimensions are walked in the operands' memory order."""
    lead, operand = Walker(0, (0, 0)), Walker(0, (8, 800))
    nest = normalise((100, 5), [lead, operand])
    assert nest.extents == (500,)
    assert nest.walkers[1].strides == (8,)


def test_rank_zero_is_one_iteration() -> None:
    nest = normalise((), [Walker(7, ())])
    assert nest.extents == (1,)
    assert nest.walkers == (Walker(7, (0,)),)
    assert normalise((1, 1), [Walker(7, (3, 4))]) == nest


def test_a_walker_counts_bytes_or_values() -> None:
    assert walker(Strided((2,), (3,), 5), 8) == Walker(40, (24,))
    assert walker(Strided((2,), (3,), 5), 1) == Walker(5, (3,))
