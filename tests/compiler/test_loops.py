"""Loop nests visit the same points in the right order, with as few loops as possible."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from xarraylite.compiler.loops import (
    AddressStream,
    Nest,
    address_stream,
    merge,
    normalise,
    reverse,
    split,
)
from xarraylite.layout.strided import Strided


def points(shape: tuple[int, ...], streams: list[AddressStream]) -> list[tuple[int, ...]]:
    """Where all streams are at each index: the definition of a loop nest."""
    return [
        tuple(w.start + sum(i * s for i, s in zip(index, w.strides, strict=True)) for w in streams)
        for index in itertools.product(*map(range, shape))
    ]


def visited(nest: Nest) -> list[tuple[int, ...]]:
    return points(nest.extents, list(nest.streams))


@st.composite
def problems(draw: st.DrawFn) -> tuple[tuple[int, ...], list[AddressStream]]:
    """Draw a space, a destination whose strides are nested, and operands of any strides."""
    shape = tuple(draw(st.lists(st.integers(1, 4), max_size=4)))
    order = draw(st.permutations(range(len(shape))))
    strides, unit = [0] * len(shape), draw(st.sampled_from((1, 2, 8)))
    for k in order:
        strides[k] = draw(st.sampled_from((unit, -unit)))
        unit *= shape[k] + draw(st.sampled_from((0, 0, 1)))
    streams = [AddressStream(draw(st.integers(0, 9)), tuple(strides))]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(("same", "any")))
        some = st.sampled_from((0, 1, 2, 8, -8, 16, 24, -3))
        other = tuple(strides) if kind == "same" else tuple(draw(some) for _ in shape)
        streams.append(AddressStream(draw(st.integers(0, 9)), other))
    return shape, streams


@given(problems())
def test_the_same_points_in_address_order(
    problem: tuple[tuple[int, ...], list[AddressStream]],
) -> None:
    shape, streams = problem
    nest = normalise(shape, streams)
    found = visited(nest)
    assert sorted(found) == sorted(points(shape, streams))
    assert [point[0] for point in found] == sorted(point[0] for point in found)


@given(problems())
def test_no_loop_is_superfluous(problem: tuple[tuple[int, ...], list[AddressStream]]) -> None:
    nest = normalise(*problem)
    assert len(nest.extents) == 1 or 1 not in nest.extents
    dims = [(extent, [w.strides[k] for w in nest.streams]) for k, extent in enumerate(nest.extents)]
    assert merge(dims) == dims


@given(problems())
def test_reverse_is_the_opposite_order(
    problem: tuple[tuple[int, ...], list[AddressStream]],
) -> None:
    nest = normalise(*problem)
    loops = len(nest.extents)
    assert visited(reverse(nest, loops)) == visited(nest)[::-1]
    assert reverse(reverse(nest, loops), loops) == nest


@given(problems(), st.data())
def test_split_divides_the_space(
    problem: tuple[tuple[int, ...], list[AddressStream]], data: st.DataObject
) -> None:
    shape, streams = problem
    axes = [k for k in range(len(shape)) if data.draw(st.booleans())]
    still = AddressStream(
        streams[0].start, tuple(0 if k in axes else s for k, s in enumerate(streams[0].strides))
    )
    streams = [still, *streams[1:]]
    kept, reduced = split(shape, streams, axes, 0)
    both = [
        tuple(a + b for a, b in zip(outer, inner, strict=True))
        for outer in visited(kept)
        for inner in visited(reduced)
    ]
    assert sorted(both) == sorted(points(shape, streams))
    assert all(w.strides == (0,) * len(reduced.extents) for w in reduced.streams[:1])


def test_one_layout_everywhere_is_one_loop() -> None:
    for dense in (Strided.row_major((3, 4, 5)), Strided.column_major((3, 4, 5))):
        nest = normalise(dense.shape, [address_stream(dense, 8), address_stream(dense, 4)])
        assert nest.extents == (60,)
        assert [w.strides for w in nest.streams] == [(8,), (4,)]
        assert nest.outer == 1


def test_rows_of_a_part_are_not_merged() -> None:
    whole, part = Strided.row_major((3, 4)), Strided((3, 4), (9, 1), 2)
    nest = normalise((3, 4), [address_stream(whole, 8), address_stream(part, 8)])
    assert nest.extents == (3, 4)
    assert nest.streams[1] == AddressStream(16, (72, 8))


def test_loops_follow_the_destination() -> None:
    row, column = Strided.row_major((3, 4)), Strided.column_major((3, 4))
    nest = normalise((3, 4), [address_stream(column, 8), address_stream(row, 8)])
    assert nest.extents == (4, 3)
    assert nest.streams == (AddressStream(0, (24, 8)), AddressStream(0, (8, 32)))


def test_reversed_for_all_is_forward_for_all() -> None:
    back = Strided((5,), (-1,), 4)
    nest = normalise((5,), [address_stream(back, 8), address_stream(back, 4)])
    assert nest.streams == (AddressStream(0, (8,)), AddressStream(0, (4,)))


def test_broadcast_dimensions_merge_among_themselves() -> None:
    wide = Strided((2, 3, 4), (0, 0, 1))
    nest = normalise(
        (2, 3, 4), [address_stream(Strided.row_major((2, 3, 4)), 1), address_stream(wide, 1)]
    )
    assert nest.extents == (6, 4)


def test_where_the_lead_stands_still_the_others_decide() -> None:
    """Reduced dimensions are walked in the operands' memory order."""
    lead, operand = AddressStream(0, (0, 0)), AddressStream(0, (8, 800))
    nest = normalise((100, 5), [lead, operand])
    assert nest.extents == (500,)
    assert nest.streams[1].strides == (8,)


def test_rank_zero_is_one_iteration() -> None:
    nest = normalise((), [AddressStream(7, ())])
    assert nest.extents == (1,)
    assert nest.streams == (AddressStream(7, (0,)),)
    assert normalise((1, 1), [AddressStream(7, (3, 4))]) == nest


def test_an_address_stream_counts_bytes_or_values() -> None:
    assert address_stream(Strided((2,), (3,), 5), 8) == AddressStream(40, (24,))
    assert address_stream(Strided((2,), (3,), 5), 1) == AddressStream(5, (3,))
