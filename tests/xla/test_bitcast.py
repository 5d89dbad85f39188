"""Bitcasts: the exact answer against enumeration, and XLA's tests where they agree with it."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.cases import together
from tests.xla.specs import specs, tiles
from xarraylite._errors import LayoutError, SizeError
from xarraylite.layout.layout import Layout
from xarraylite.layout.sequences import MOST_ELEMENTS
from xarraylite.xla.bitcast import BitcastReshape, BitcastTranspose, BitcastTrt
from xarraylite.xla.reshapes import common_factors
from xarraylite.xla.spec import ArraySpec

parse = ArraySpec.parse


@st.composite
def reshaped(draw: st.DrawFn, count: int, *, tiled: bool = True) -> ArraySpec:
    """Arrays of ``count`` elements."""
    dims: list[int] = []
    rest = count
    while rest > 1:
        part = draw(st.sampled_from([d for d in range(2, rest + 1) if rest % d == 0]))
        dims.append(part)
        rest //= part
    dims = draw(st.permutations(dims))
    if draw(st.booleans()):
        dims = [*dims, 1]
    order = draw(st.one_of(st.just(range(len(dims))[::-1]), st.permutations(range(len(dims)))))
    return ArraySpec("f32", dims, Layout(order, draw(tiles()) if tiled else ()))


@st.composite
def pairs(draw: st.DrawFn, *, tiled: bool = True) -> tuple[ArraySpec, ArraySpec]:
    """Two arrays of the same number of elements; often one is made to lie as the other."""
    count = draw(st.sampled_from((1, 4, 6, 7, 8, 12, 16, 24, 36, 48)))
    left = draw(reshaped(count, tiled=tiled))
    physical = left.physical_dimensions()
    if math.prod(physical) == count and draw(st.booleans()):
        plain = ArraySpec("f32", physical, Layout.row_major(len(physical)))
        return left, draw(st.sampled_from((plain, plain.drop_degenerate_dimensions())))
    return left, draw(reshaped(count, tiled=tiled))


@given(pairs())
@example((parse("f32[12]{0:T(4)(3)}"), parse("f32[12]{0:T(4)(2)}")))
@example((parse("f32[9]{0:T(4)}"), parse("f32[3,3]{1,0:T(3,4)}")))
@example((parse("f32[2,3,2]{2,0,1:T(*,4)}"), parse("f32[2,3,2]{2,0,1:T(*,2)}")))
def test_exact_bitcast_is_equal_memory_order(pair: tuple[ArraySpec, ArraySpec]) -> None:
    left, right = pair
    expected = left.memory_order() == right.memory_order()
    assert left.is_bitcast(right) is expected
    assert right.is_bitcast(left) is expected
    assert left.is_bitcast(left)


@given(pairs(tiled=False))
def test_xla_is_exact_without_tiles(pair: tuple[ArraySpec, ArraySpec]) -> None:
    left, right = pair
    assert left.reshape_is_bitcast(right) is left.is_bitcast(right)


@given(specs(max_rank=3), st.data())
def test_exact_transposes(spec: ArraySpec, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(spec.rank)))
    kept = spec.permute_dimensions(order)
    assert spec.is_bitcast(kept, order)
    assert spec.transpose_is_bitcast(kept, order)
    layout = data.draw(st.sampled_from((kept.layout, Layout.row_major(spec.rank))))
    other = kept.with_layout(layout)
    by_position = [
        spec.linear_index(tuple([index[order.index(d)] for d in range(spec.rank)]))
        for index in itertools.product(*map(range, other.dimensions))
    ]
    found = [other.linear_index(i) for i in itertools.product(*map(range, other.dimensions))]
    same_size = spec.physical_size() == other.physical_size()
    same_bits = spec.element_size_in_bits() == other.element_size_in_bits()
    assert spec.is_bitcast(other, order) is (found == by_position and same_size and same_bits)


def test_huge_arrays_take_no_time() -> None:
    flat = parse("u8[327680,327680]{1,0:T(8,128)(4,1)}")
    assert flat.is_bitcast(parse("u8[40960,8,327680]{2,1,0:T(8,128)(4,1)}"))
    assert flat.is_bitcast(parse("u8[40960,2,4,327680]{3,2,1,0:T(2,4,128)(4,1)}"))
    assert not flat.is_bitcast(parse("u8[81920,4,327680]{2,1,0:T(4,128)(4,1)}"))
    assert not flat.is_bitcast(parse("u8[327680,327680]{1,0:T(8,128)(2,1)}"))
    rough = "f32[101,77,33,55]{0,1,2,3:T(3,5,7)(2,3,2)(3,5)}"
    assert parse(rough).is_bitcast(parse("f32[101,77,1,33,55]{0,1,3,4,2:T(3,5,7)(2,3,2)(3,5)}"))
    odd = parse("f32[1000000000001]{0:T(1024)(128)}")
    assert odd.is_bitcast(parse("f32[1000000000001]{0:T(1024)}"))
    assert not odd.is_bitcast(parse("f32[1000000000001]{0:T(128)}"))  # another size


def test_what_exact_bitcasts_compare_besides_positions() -> None:
    spec = parse("f32[8]{0:T(8)}")
    assert spec.is_bitcast(parse("s32[8]"))
    assert not spec.is_bitcast(parse("f16[8]"))
    assert not spec.is_bitcast(parse("f32[8]{0:L(16)}"))
    assert not spec.is_bitcast(parse("f32[8]{0:T(16)}"))
    assert not spec.is_bitcast(parse("f32[4]"))
    assert not parse("s4[8]{0:E(4)}").is_bitcast(parse("s4[8]"))
    assert not parse("s4[8]").is_bitcast(parse("s8[8]"))  # another width in the same byte
    assert parse("f32[0,5]{1,0:T(8,128)}").is_bitcast(parse("f32[3,0]"))
    with pytest.raises(LayoutError, match="the permutation makes"):
        parse("f32[2,3]").is_bitcast(parse("f32[2,3]"), (1, 0))
    with pytest.raises(LayoutError, match="not a permutation"):
        parse("f32[2,3]").is_bitcast(parse("f32[2,3]"), (1, 1))


def test_entangled_dimensions_are_decided_up_to_a_size() -> None:
    small = parse("f32[4,3,5]{0,2,1:T(*,4,2)}")
    assert small.is_bitcast(parse("f32[4,3,5,1]{0,2,1,3:T(*,4,2)}"))
    assert not small.is_bitcast(parse("f32[4,3,5]{0,2,1:T(*,8,2)}"))
    later = parse("f32[4,6]{1,0:T(2,2)(*,3)}")  # whose digits a later tile combines
    assert later.is_bitcast(parse("f32[4,6,1]{1,0,2:T(2,2)(*,3)}"))
    assert not later.is_bitcast(parse("f32[4,6]{0,1:T(2,2)(*,6)}"))
    padded = "f32[4,3,5]{0,2,1:T(*,4000000,2000000)}"
    assert parse(padded).is_bitcast(parse(padded.replace(")", ")(1)")))
    large = parse("f32[200,701,7]{0,1,2:T(2,*,3)}"), parse("f32[200,701,7]{0,1,2:T(2,*,3)(1)}")
    assert large[0].elements_in() > MOST_ELEMENTS
    with pytest.raises(SizeError, match="come apart"):
        large[0].is_bitcast(large[1])
    assert large[0].is_bitcast(large[0])


def test_unit_indices_ignore_tiles_as_in_xla() -> None:
    src, dst = parse("f32[8,256]{1,0:T(8,128)}"), parse("f32[2048]{0:T(1024)}")
    assert src.reshape_is_bitcast(dst)
    assert not src.is_bitcast(dst)
    assert not src.reshape_is_bitcast(parse("s32[2048]"))
    assert src.reshape_is_bitcast(parse("s32[2048]"), ignore_element_type=True)
    assert not src.reshape_is_bitcast(parse("f32[2047]"))
    assert parse("f32[0,3]{0,1}").reshape_is_bitcast(parse("f32[7,0]"))


@given(specs(tiled=False, min_extent=1), st.data())
def test_transposes_are_deduced(spec: ArraySpec, data: st.DataObject) -> None:
    order = tuple(data.draw(st.permutations(range(spec.rank))))
    kept = spec.permute_dimensions(order)
    found = spec.deduce_transpose_dimensions_for_bitcast(kept)
    assert found == order
    assert spec.is_reshape_or_transpose_bitcast(kept)
    assert not spec.is_reshape_or_transpose_bitcast(kept.change_element_type("f64"))
    with pytest.raises(LayoutError, match="as many dimensions"):
        spec.transpose_is_bitcast(spec.append_minor_dimension(1), order)


def test_transposes_need_no_bounds() -> None:
    spec = parse("f32[?,2]{1,0}")
    assert spec.is_reshape_or_transpose_bitcast(spec)
    assert spec.is_reshape_or_transpose_bitcast(parse("f32[2,?]{0,1}"))
    with pytest.raises(LayoutError, match="without a bound"):
        spec.is_reshape_or_transpose_bitcast(parse("f32[2,?]{1,0}"))


@given(pairs(tiled=False))
def test_decompositions_lead_from_one_to_the_other(pair: tuple[ArraySpec, ArraySpec]) -> None:
    src, dst = pair
    found = src.decompose_bitcast(dst)
    trt = src.decompose_bitcast_to_trt(dst)
    assert trt is not None
    assert src.permute_dimensions(trt.transpose1_dims) == trt.transpose1_shape
    assert trt.transpose1_shape.is_bitcast(trt.reshape_shape)
    assert trt.reshape_shape.permute_dimensions(trt.transpose2_dims) == dst
    if isinstance(found, BitcastReshape):
        assert src.is_bitcast(dst)
    elif isinstance(found, BitcastTranspose):
        assert src.is_bitcast(dst, found.transpose_dims)
        assert src.permute_dimensions(found.transpose_dims) == dst
    else:
        assert isinstance(found, BitcastTrt)
        assert not src.is_bitcast(dst)
        assert found == trt


def test_decompositions_as_text() -> None:
    src = parse("f32[16,3,17]{1,2,0}")
    assert str(src.decompose_bitcast(parse("f32[3,16,17]{0,2,1}"))) == "transpose: [1,0,2]"
    assert str(src.decompose_bitcast(parse("f32[16,51]{0,1}"))) == (
        "trt: T1=[0,2,1] -> f32[16,17,3]{2,1,0}, R=f32[51,16]{1,0}, T2=[1,0]"
    )
    trt = src.decompose_bitcast_to_trt(parse("f32[816]"))
    assert trt is not None
    assert trt.is_transpose2_identity()
    assert not trt.is_transpose1_identity()
    assert src.decompose_bitcast(parse("f32[815]")) is None
    assert src.decompose_bitcast_to_trt(parse("f32[815]")) is None


@given(pairs(tiled=False))
def test_aligned_layouts_are_bitcasts(pair: tuple[ArraySpec, ArraySpec]) -> None:
    src, dst = pair
    found = src.align_layouts(dst)
    orders = itertools.permutations(range(dst.rank))
    if found is None:
        assert [o for o in orders if src.is_bitcast(dst.with_layout(Layout(o)))] == []
    else:
        assert src.is_bitcast(found)
        assert found.dimensions == dst.dimensions


@given(pairs(tiled=False))
def test_common_factors(pair: tuple[ArraySpec, ArraySpec]) -> None:
    first, second = pair[0].dimensions, pair[1].dimensions
    borders = common_factors(first, second)
    assert borders[0] == (0, 0)
    assert borders[-1] == (len(first), len(second))
    for (i, j), (k, n) in itertools.pairwise(borders):
        assert math.prod(first[i:k]) == math.prod(second[j:n])
        assert (i, j) != (k, n)
    cuts = {math.prod(first[:i]) for i, _ in borders}
    inner = {math.prod(first[:i]) for i in range(len(first) + 1)}
    other = {math.prod(second[:j]) for j in range(len(second) + 1)}
    assert cuts == inner & other


@together(
    ("first", "second", "borders"),
    [
        ([3, 8, 5], [4, 3, 2, 5], [(0, 0), (2, 3), (3, 4)]),
        ([0, 2], [0, 3], [(0, 0), (2, 2)]),
        ([10, 0], [0, 10], [(0, 0), (2, 2)]),
        ([2, 3], [7], [(0, 0), (2, 1)]),
        ([], [], [(0, 0)]),
        ([1], [], [(0, 0), (1, 0)]),
    ],
)
def test_common_factors_by_hand(
    first: list[int], second: list[int], borders: list[tuple[int, int]]
) -> None:
    assert common_factors(first, second) == borders


def test_dimensions_a_reshape_keeps() -> None:
    src, dst = parse("s32[4,1,3,5,6,7]"), parse("s32[2,6,1,5,1,42]")
    assert src.dimensions_unmodified_by_reshape(dst) == [(3, 3)]
    assert src.reshape_leaves_dimensions_unmodified(dst, (3,)) == [3]
    assert src.reshape_leaves_dimensions_unmodified(dst, (2, 3)) is None
    assert src.reshape_leaves_dimensions_unmodified(dst, (3, 2)) is None
    assert src.inserted_or_deleted_1_sized_dimensions(dst) is None
    padded = parse("f32[5,1,7]")
    assert padded.inserted_or_deleted_1_sized_dimensions(parse("f32[1,5,7]")) == ([1], [0])
    with pytest.raises(LayoutError, match="number of elements"):
        src.align_layouts(parse("s32[5]"))
