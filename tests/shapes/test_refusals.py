"""Shapes at the edges: what stands for a shape, 64-bit limits and what is no shape at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together

TILING = xl.TiledShape([[10, 10], [10, 10]])


def test_a_tiling_stands_for_the_box_it_cuts() -> None:
    assert xl.Shape.of(TILING) == xl.Shape(TILING) == xl.Shape(20, 20)
    assert xl.asarray(np.zeros((20, 20)), shape=TILING).shape == (20, 20)
    moved = xl.Shape((2, 3), origin=(1, 0))
    assert xl.Shape(moved) == xl.Shape(xl.JaggedShape(moved)) == moved
    assert xl.Shape(moved, origin=(5, 5)).origin == (5, 5)


@pytest.mark.parametrize(
    "wrap", [xl.Shape, lambda *n: xl.JaggedShape(xl.Shape(n)), lambda *n: xl.Nested([len(n)], n)]
)
def test_shapes_are_accepted_where_extents_are(wrap: Callable[..., Any]) -> None:
    shape, x = wrap(2, 3), xl.arange(6)
    assert xl.reshape(x, shape).shape == (2, 3)
    assert xl.XArray(x).reshape_(shape).shape == (2, 3)
    assert xl.broadcast_shapes(wrap(2, 1), (3,), wrap(3)) == (2, 3)
    assert xl.ArraySpec("f32", shape) == xl.ArraySpec("f32", (2, 3))
    assert xl.tpu_layout("f32", shape) == xl.tpu_layout("f32", (2, 3))
    xl.Layout((1, 0)).validate(shape)
    with pytest.raises(xl.LayoutError):
        xl.Layout((0,)).validate(shape)
    with pytest.raises(xl.ShapeError, match="extents 2 and 3"):
        xl.broadcast_shapes(wrap(2), wrap(3))
    with pytest.raises(xl.ShapeError, match="6 elements do not fit"):
        xl.reshape(x, wrap(2, 2))


def test_jagged_shapes_are_no_extents() -> None:
    jagged = xl.JaggedShape.from_lengths([1, 2])
    for use in (
        lambda: xl.reshape(xl.arange(3), jagged),
        lambda: xl.broadcast_shapes(jagged, (1,)),
        lambda: xl.ArraySpec("f32", jagged),
        lambda: xl.tpu_layout("f32", jagged),
    ):
        with pytest.raises(xl.ShapeError, match="not smooth"):
            use()


@together(
    ("make", "error", "words"),
    [
        (
            lambda: xl.JaggedShape.from_lengths([2**62] * 4 + [1], [5]),
            xl.ShapeError,
            str(2**64 + 1),
        ),
        (lambda: xl.JaggedShape.from_lengths([2**62] * 2), xl.SizeError, "elements"),
        (lambda: xl.JaggedShape.from_lengths([2**64]), xl.SizeError, "from_lengths"),
        (lambda: xl.JaggedShape.from_lengths([-(2**64)]), xl.ShapeError, "negative"),
        (
            lambda: xl.JaggedShape.from_lengths(np.array([2**63], np.uint64)),
            xl.SizeError,
            "from_lengths",
        ),
        (lambda: xl.JaggedShape.from_offsets([0, 2**63]), xl.SizeError, "from_offsets"),
        (lambda: xl.JaggedShape.from_lengths(5), xl.ShapeError, "vector of integers"),
        (lambda: xl.JaggedShape.from_offsets(5), xl.ShapeError, "vector of integers"),
        (lambda: xl.Shape(2**40, 2**40, 0), xl.SizeError, "elements"),
    ],
)
def test_numbers_beyond_64_bits(
    make: Callable[[], object], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        make()


def test_lengths_at_the_limit() -> None:
    largest = np.array([2**63 - 1], np.uint64)
    assert xl.JaggedShape.from_lengths(largest).size == 2**63 - 1
    assert xl.JaggedShape.from_lengths([]).size == 0


@pytest.mark.parametrize("origin", [(2**63,), (2**63 - 2,), (-(2**63),), (0, 2**63 - 2)])
def test_origins_of_jagged_shapes_fit_64_bits(origin: tuple[int, ...]) -> None:
    rows = [xl.Shape(1), xl.Shape(2)]
    with pytest.raises(xl.ShapeError, match="beyond"):
        xl.JaggedShape(rows, origin=origin)
    jagged = xl.JaggedShape(rows)
    with pytest.raises(xl.ShapeError, match="beyond"):
        jagged.set_origin(*origin)
    with pytest.raises(xl.ShapeError, match="beyond"):
        xl.Nested([1, 1], jagged).set_origin(*origin)
    jagged.set_origin(2**63 - 3)
    assert max(jagged.indices(absolute=True))[0] == 2**63 - 2


def test_modes_that_there_are_not() -> None:
    jagged = xl.JaggedShape.from_lengths([1, 2])
    assert jagged.extents_of(1).tolist() == jagged.extents_of(-1).tolist() == [1, 2]
    for mode in (2, -3, "a", True, 1.0):
        with pytest.raises(xl.ShapeError, match="extents_of"):
            jagged.extents_of(mode)  # type: ignore[arg-type]


def test_same_extents_of_anything() -> None:
    shape, nested = xl.Shape(2, 3), xl.Nested([1, 1], (2, 3))
    assert shape.same_extents(xl.JaggedShape(shape))
    assert not shape.same_extents((2, 3))
    assert not shape.same_extents(nested)
    assert not nested.same_extents(shape)
    assert not nested.same_extents((2, 3))
    assert not xl.Shape.null().same_extents(xl.Nested.null())


def test_jagged_containers_are_no_shapes() -> None:
    x = xl.XJagged([[1], [2, 3]])
    with pytest.raises(xl.ShapeError, match=r"\.jagged_shape"):
        xl.JaggedShape(x)  # type: ignore[arg-type]
    with pytest.raises(xl.ShapeError, match=r"\.jagged_shape"):
        xl.Shape.of(x)
    assert xl.Shape.of(xl.XJagged([[1], [2]])) == xl.Shape(2, 1)


@together(
    ("make", "words"),
    [
        (lambda: xl.Shape(b"12"), "an extent must be an integer, got b'12'"),
        (lambda: xl.Shape("12"), "an extent must be an integer, got '12'"),
        (lambda: xl.Shape({3, 4}), "an extent must be an integer, got {3, 4}"),
        (lambda: xl.Shape({3: 4}), "an extent must be an integer, got {3: 4}"),
        (lambda: xl.Shape((2, 3), (10, 10)), r"an origin is given as origin=…, got \(2, 3\), \(10"),
        (lambda: xl.Shape(2, 3).slice(b"01", b"23"), "an index must be an integer, got b'01'"),
        (lambda: xl.Shape(2, 3).leading_size(True), "leading_size: a number of modes must be an"),
        (lambda: xl.JaggedShape.from_lengths([2, 3]).leading_size(1.0), "leading_size: a number"),
        (lambda: xl.TiledShape([[1, 2]]).leading_size(3), "leading_size: 3 modes were asked for"),
        (lambda: xl.TiledShape(xl.Shape(3)), r"sizes of the tiles .* got Shape\(3\)"),
        (lambda: xl.TiledShape(xl.Shape(1 << 40)), "sizes of the tiles"),  # not by listing it
        (lambda: xl.TiledShape.from_boundaries(5), "from_boundaries: .* got 5"),
        (lambda: xl.TiledShape.from_jagged([[1, 2]]), r"from_jagged: .* got \[\[1, 2\]\]"),
        (
            lambda: xl.TiledShape.of_expression(xl.Shape(2, 2)["i,j"], "i,j"),
            "no expression makes one",
        ),
        (lambda: xl.Nested([1, 1], (2, 3)).element(5), "^element: "),
        (lambda: xl.Nested([1, 1], (2, 3)).element(), r"index \(\) does not fill whole layers"),
        (lambda: xl.JaggedShape.from_lengths([1, 2]).permute(1, 0), "^permute: .*'mode 1'"),
    ],
)
def test_what_is_asked_for_wrongly(make: Callable[[], object], words: str) -> None:
    with pytest.raises(xl.ShapeError, match=words):
        make()


def test_arrays_of_rank_0_are_integers() -> None:
    assert xl.Shape(np.array(5)) == xl.Shape(5)
    assert xl.Shape(np.array(2), np.array(3)) == xl.Shape(2, 3)
    assert xl.reshape(xl.arange(6), np.array(-1)).shape == (6,)
    assert xl.Shape(6).slice(np.array(2)) == xl.Shape((1,), origin=2)


def test_ranks_are_compared_before_anything_is_stacked() -> None:
    rows = [xl.JaggedShape([xl.Shape(1)])] * 3
    with pytest.raises(xl.ShapeError, match="slice 4 has rank 1 and slice 0 has rank 2"):
        xl.JaggedShape([*rows, iter([xl.Shape(2)]), xl.Shape(3)])
    generators = [*rows, (xl.Shape(n) for n in range(2))]
    assert xl.JaggedShape(generators).chip(3) == xl.JaggedShape([xl.Shape(0), xl.Shape(1)])
