"""Transforms are what they say: every view, and every chain of views, against NumPy's."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from xarraylite.index import transform as steps
from xarraylite.index.transform import FIXED, IndexMap, Transform

Array = npt.NDArray[np.int64]


def numbered(shape: tuple[int, ...]) -> Array:
    """An array whose elements tell where they come from."""
    return np.arange(int(np.prod(shape, dtype=int))).reshape(shape)


def read(array: Array, step: Transform) -> Array:
    """What a transform means, element by element: the definition, not an implementation."""
    result = np.empty(step.shape, array.dtype)
    for index in np.ndindex(*step.shape):
        place = tuple(
            m.start if m.axis == FIXED else m.start + m.step * index[m.axis] for m in step.maps
        )
        assert all(0 <= p < n for p, n in zip(place, array.shape, strict=True))
        result[index] = array[place]
    return result


shapes = st.lists(st.integers(1, 4), max_size=4).map(tuple)


@st.composite
def views(draw: st.DrawFn, shape: tuple[int, ...]) -> Transform:
    """Draw any one view of an array of ``shape``."""
    rank = len(shape)
    kinds = ["permute", "flip", "expand", "broadcast"]
    if rank:
        kinds.append("window")
    if 1 in shape:
        kinds.append("squeeze")
    kind = draw(st.sampled_from(kinds))
    some = st.lists(st.sampled_from(range(rank)), unique=True).map(tuple) if rank else st.just(())
    if kind == "permute":
        return steps.permute(shape, draw(st.permutations(range(rank))))
    if kind == "flip":
        return steps.flip(shape, draw(some))
    if kind == "expand":
        extra = draw(st.integers(0, 2))
        places = st.sampled_from(range(rank + extra)) if rank + extra else st.nothing()
        axes = draw(st.lists(places, min_size=extra, max_size=extra, unique=True))
        return steps.expand(shape, axes)
    if kind == "squeeze":
        ones = [k for k, n in enumerate(shape) if n == 1]
        return steps.squeeze(shape, draw(st.lists(st.sampled_from(ones), unique=True)))
    if kind == "window":
        axis = draw(st.integers(0, rank - 1))
        start = draw(st.integers(0, shape[axis]))
        return steps.window(shape, axis, start, draw(st.integers(0, shape[axis] - start)))
    front = draw(st.lists(st.integers(1, 3), max_size=1)) if rank < 4 else []
    stretched = [n if n != 1 else draw(st.integers(1, 3)) for n in shape]
    return steps.broadcast(shape, (*front, *stretched))


@st.composite
def chains(
    draw: st.DrawFn, shape: tuple[int, ...] | None = None
) -> tuple[tuple[int, ...], list[Transform]]:
    """Draw a shape, unless it is given, and views of views of it."""
    shape = start = draw(shapes) if shape is None else shape
    chain: list[Transform] = []
    for _ in range(draw(st.integers(1, 4))):
        if len(shape) > 5:
            break
        chain.append(draw(views(shape)))
        shape = chain[-1].shape
    return start, chain


@given(chains())
def test_a_chain_is_one_transform(problem: tuple[tuple[int, ...], list[Transform]]) -> None:
    shape, chain = problem
    array = numbered(shape)
    whole = steps.identity(shape)
    for step in chain:
        array, whole = read(array, step), step.after(whole)
    assert whole.shape == array.shape
    assert np.array_equal(read(numbered(shape), whole), array)


@given(shapes, st.data())
def test_permute(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = data.draw(st.permutations(range(len(shape))))
    array = numbered(shape)
    assert np.array_equal(read(array, steps.permute(shape, axes)), array.transpose(axes))


@given(shapes, st.data())
def test_flip(shape: tuple[int, ...], data: st.DataObject) -> None:
    axes = [k for k in range(len(shape)) if data.draw(st.booleans())]
    array = numbered(shape)
    assert np.array_equal(read(array, steps.flip(shape, axes)), np.flip(array, tuple(axes)))


@given(shapes, st.data())
def test_expand_and_squeeze_undo_each_other(shape: tuple[int, ...], data: st.DataObject) -> None:
    rank = len(shape) + 2
    axes = data.draw(st.lists(st.integers(0, rank - 1), min_size=2, max_size=2, unique=True))
    array = numbered(shape)
    wide = steps.expand(shape, axes)
    assert np.array_equal(read(array, wide), np.expand_dims(array, tuple(axes)))
    back = steps.squeeze(wide.shape, axes)
    assert back.after(wide) == steps.identity(shape)


@given(shapes, st.integers(0, 2), st.data())
def test_broadcast(shape: tuple[int, ...], extra: int, data: st.DataObject) -> None:
    front = tuple(data.draw(st.integers(0, 3)) for _ in range(extra))
    target = (*front, *[n if n != 1 else data.draw(st.integers(0, 3)) for n in shape])
    array = numbered(shape)
    assert np.array_equal(
        read(array, steps.broadcast(shape, target)), np.broadcast_to(array, target)
    )


def test_window() -> None:
    array = numbered((3, 5))
    assert np.array_equal(read(array, steps.window((3, 5), 1, 2, 3)), array[:, 2:5])
    assert read(array, steps.window((3, 5), 0, 3, 0)).shape == (0, 5)


def test_a_transform_is_its_values() -> None:
    """Equal views are equal keys: signatures of expressions hold them."""
    one = Transform((2,), (IndexMap(1, 2, 0),))
    assert one == Transform((2,), (IndexMap(1, 2, 0),))
    assert hash(one) == hash(Transform((2,), (IndexMap(1, 2, 0),)))
    assert one != Transform((2,), (IndexMap(0, 2, 0),))
    assert one != Transform((3,), (IndexMap(1, 2, 0),))
    assert steps.Reshape((6,), (2, 3)) != steps.Reshape((6,), (3, 2))


def test_fixed_dimensions_stay_fixed() -> None:
    """A position chosen in an inner view does not move with what is done outside."""
    inner = Transform((4,), (IndexMap(2, 0, FIXED), IndexMap(0, 1, 0)))
    both = steps.flip((4,), (0,)).after(inner)
    assert both.maps == (IndexMap(2, 0, FIXED), IndexMap(3, -1, 0))
