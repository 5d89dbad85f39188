"""Chunks, budgets and threads change no bit: random expressions, in blocks and in memory."""

from __future__ import annotations

import importlib.util
import itertools
import math
import pickle
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, stored_in
from xarraylite.chunked import blocks as blocks_
from xarraylite.chunked import folds, leaves, pipeline, plan, storing
from xarraylite.chunked.budget import BudgetError
from xarraylite.chunked.cluster import Work, run_keys
from xarraylite.chunked.piece import Piece
from xarraylite.chunked.pipeline import Run
from xarraylite.chunked.selection import as_slices
from xarraylite.ir.node import Node, Reduce
from xarraylite.ir.walk import postorder

Draw = Callable[..., Any]

_UNARY = ("negative", "abs", "square", "floor", "isnan", "exp", "sqrt")
_BINARY = ("add", "subtract", "multiply", "maximum", "less", "divide")
_FOLDS = ("max", "min", "sum", "any", "argmax", "mean", "count_nonzero", "prod")


def _elementwise(draw: Draw, e: Any, others: list[Any]) -> Any:
    name = draw(st.sampled_from(_UNARY + _BINARY))
    if name in _UNARY:
        return getattr(xl, name)(e)
    fitting = [o for o in others if _broadcasts(o.shape, e.shape)]
    other = draw(st.sampled_from([*fitting, 2.5, e]))
    pair = (e, other) if draw(st.booleans()) else (other, e)
    return getattr(xl, name)(*pair)


def _broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        return len(np.broadcast_shapes(one, other)) < 4
    except ValueError:
        return False


def _sliced(draw: Draw, e: Any, others: list[Any]) -> Any:
    key = []
    for extent in e.shape:
        low = draw(st.integers(0, extent - 1))
        high = draw(st.integers(low + 1, extent))
        step = draw(st.sampled_from([1, 1, 1, 2, 3, -1, -2]))
        back = slice(high - 1, low - 1 if low else None, step)
        key.append(slice(low, high, step) if step > 0 else back)
    return e[tuple(key)]


def _gathered(draw: Draw, e: Any, others: list[Any]) -> Any:
    if not e.shape:
        return e
    axis = draw(st.integers(0, len(e.shape) - 1))
    count = draw(st.integers(1, 5))
    where = draw(st.lists(st.integers(0, e.shape[axis] - 1), min_size=count, max_size=count))
    return e[(slice(None),) * axis + (where,)]


def _moved(draw: Draw, e: Any, others: list[Any]) -> Any:
    return xl.permute_dims(e, tuple(draw(st.permutations(range(len(e.shape))))))


def _reshaped(draw: Draw, e: Any, others: list[Any]) -> Any:
    if len(e.shape) > 1 and draw(st.booleans()):
        at = draw(st.integers(0, len(e.shape) - 2))
        merged = e.shape[at] * e.shape[at + 1]
        return xl.reshape(e, (*e.shape[:at], merged, *e.shape[at + 2 :]))
    if not e.shape or len(e.shape) > 2:
        return e
    at = draw(st.integers(0, len(e.shape) - 1))
    divisors = [d for d in range(1, e.shape[at] + 1) if e.shape[at] % d == 0]
    d = draw(st.sampled_from(divisors))
    return xl.reshape(e, (*e.shape[:at], d, e.shape[at] // d, *e.shape[at + 1 :]))


def _joined(draw: Draw, e: Any, others: list[Any]) -> Any:
    if not e.shape or max(e.shape) > 60:
        return e
    if len(e.shape) < 3 and draw(st.booleans()):
        return xl.stack([e, xl.negative(e)], axis=draw(st.integers(0, len(e.shape))))
    return xl.concat([e, e[:1], e], axis=0)


def _folded(draw: Draw, e: Any, others: list[Any]) -> Any:
    name = draw(st.sampled_from(_FOLDS))
    e = xl.astype(e, "float64") if e.dtype == bool else e
    axes: Any = draw(st.sampled_from([None, *range(len(e.shape))]))
    if name != "argmax" and len(e.shape) > 2 and draw(st.booleans()):
        axes = (0, 2)
    return getattr(xl, name)(e, axis=axes, keepdims=draw(st.booleans()))


def _cast(draw: Draw, e: Any, others: list[Any]) -> Any:
    return xl.astype(e, draw(st.sampled_from(["float32", "bfloat16", "float64", "complex64"])))


def _chosen(draw: Draw, e: Any, others: list[Any]) -> Any:
    return xl.where(xl.isnan(e), 0, e) if e.dtype == bool else xl.where(xl.abs(e) > 1, e, 1)


_STEPS = (_elementwise, _elementwise, _sliced, _gathered, _moved, _reshaped, _joined, _folded,
          _cast, _chosen)  # fmt: skip


@st.composite
def cases(draw: Draw) -> Any:
    """Operands with chunks, and what is written over them."""
    rank = draw(st.integers(1, 3))
    shape = tuple(draw(st.lists(st.integers(1, 13), min_size=rank, max_size=rank)))
    dtype = draw(st.sampled_from(["float64", "float32", "int32"]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    arrays, chunks = [], []
    for own in (shape, tuple([n if draw(st.booleans()) else 1 for n in shape]), shape[1:]):
        arrays.append((rng.normal(size=own) * 3).astype(dtype))
        chunks.append(tuple([draw(st.integers(1, n)) for n in own]))
    kept = [draw(st.booleans()) for _ in arrays]
    steps = draw(st.lists(st.sampled_from(_STEPS), min_size=1, max_size=6))
    choices: list[Any] = []

    def write(operands: list[Any], replay: bool) -> Any:
        """Write the expression; the second time with the choices of the first."""
        told = iter(list(choices))

        def pick(strategy: Any) -> Any:
            if replay:
                return next(told)
            choices.append(draw(strategy))
            return choices[-1]

        e = operands[0]
        for step in steps:
            try:
                e = step(pick, e, operands)
            except xl.DTypeError:
                continue
        return e

    memory = [xl.asarray(a) for a in arrays]
    expected = write(memory, False)
    operands = [
        xl.open(Kept(a, c)) if k or n == 0 else m
        for n, (a, c, k, m) in enumerate(zip(arrays, chunks, kept, memory, strict=True))
    ]
    found = write(operands, True)
    blocks = tuple([draw(st.integers(1, max(1, n))) for n in expected.shape])
    return xl.eval(expected).numpy(), found, blocks, draw(st.sampled_from([1, 5000, None]))


@given(cases())
@settings(max_examples=20)
def test_random_expressions(engine: str, case: Any) -> None:
    pytest.importorskip("dask.array")
    expected, found, blocks, memory = case
    scheduler = "threads" if memory else "sync"
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    with mock.patch.object(plan, "SMALLEST", 1):
        blocked = stored_in(found, blocks, memory)
    lazy = xl.to_dask(found, chunks=blocks).compute(scheduler=scheduler)
    for values in (blocked, xl.eval(found).numpy(), lazy):
        if engine == "reference":  # NumPy adds in an order of its own
            np.testing.assert_allclose(values, expected, rtol=1e-3, atol=1e-3)
        else:
            assert values.tobytes() == expected.tobytes()


def _add(a: float, b: float) -> float:
    return a + b


_LONG = {
    "all": lambda a, b: xl.sum(a),
    "fused": lambda a, b: xl.sum((a - b) ** 2 * 0.5),
    "rows": lambda a, b: xl.sum(a, axis=1),
    "columns": lambda a, b: xl.sum(a * 2, axis=0),
    "stretched": lambda a, b: xl.sum(a * b[0]),
    "column": lambda a, b: xl.sum(a * b[:, :1]),
    "product": lambda a, b: xl.prod(a * 0.001 + 1),
    "narrow": lambda a, b: xl.sum(xl.astype(a, "bfloat16")),
    "complex": lambda a, b: xl.sum(a + 1j * b),
    "sliced": lambda a, b: xl.sum(a[1:, 3:] - a[:-1, :-3]),
    "turned": lambda a, b: xl.sum(a.T),
    "crossed": lambda a, b: xl.sum(a[:450, :450] + b[:450, :450].T),
    "middle": lambda a, b: xl.sum(xl.reshape(a, (a.shape[0], 3, -1)), axis=(0, 1)),
    "ends": lambda a, b: xl.sum(xl.reshape(a, (a.shape[0], 3, -1)), axis=(0, 2)),
    "corner": lambda a, b: xl.sum(a[1:, 3:]),
    "part": lambda a, b: xl.mean(a[:, :50]),
    "steps": lambda a, b: xl.sum(a[:, ::2], axis=0),
    "centred": lambda a, b: (a[:, ::2] - xl.mean(a[:, ::2], axis=0))[:9],
    "rolled": lambda a, b: xl.sum(xl.roll(a, 3, axis=0)[5:300, 7:]),
    "joined": lambda a, b: xl.sum(xl.concat([a, b])[100:860, ::2]),
    "picked": lambda a, b: xl.sum(a[:, list(range(0, 600, 7))], axis=0),
    "standard": lambda a, b: xl.std(a, axis=0)[:7] + xl.mean(a),
}


_CHUNKS = ((100, 250), (451, 17), (7, 600))  # of three fixed parts of a sum


@pytest.mark.parametrize(
    ("name", "chunks"),
    [(name, _CHUNKS[k % 3]) for k, name in enumerate(_LONG)],
)
def test_sums_are_those_of_memory(name: str, chunks: tuple[int, int], engine: str) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(451, 600)), rng.normal(size=(451, 600))
    write = _LONG[name]
    expected = xl.eval(write(xl.asarray(x), xl.asarray(y))).numpy()
    found = write(xl.open(Kept(x, chunks)), xl.open(Kept(y, chunks[::-1])))
    least = engine == "compiled" and chunks == _CHUNKS[0]  # the interpreter takes seconds for it
    for memory in (1, None) if least else (1_800_000,):
        values = stored_in(found, expected.shape or (), memory)
        if engine == "reference":
            np.testing.assert_allclose(values, expected, rtol=1e-2)
        else:
            assert values.tobytes() == expected.tobytes()


def test_folds_of_users_are_those_of_memory(engine: str) -> None:
    if engine == "reference":
        pytest.skip("NumPy calls the function for every element, in an order of its own")
    x = np.random.default_rng(1).normal(size=(901, 900))
    for axis in (None, 0, 1):
        expected = xl.eval(xl.reduce(_add, xl.asarray(x) * 0.5, axis, initial=0.0)).numpy()
        found = xl.reduce(_add, xl.open(Kept(x, (100, 250))) * 0.5, axis, initial=0.0)
        assert stored_in(found, expected.shape, 4_000_000).tobytes() == expected.tobytes()


@pytest.mark.parametrize("shape", [(20000, 96), (10, 6000)])
def test_many_results_of_a_fold_are_those_of_memory(shape: tuple[int, int], engine: str) -> None:
    """Results that do not fit the budget are folded some columns at a time."""
    x = np.random.default_rng(1).normal(size=shape)
    expected = xl.sum(xl.asarray(x) * 0.5, axis=0).numpy()
    kept = Kept(x, (shape[0] // 2, 16))
    with mock.patch.object(storing, "_is_large", return_value=True):
        found = stored_in(xl.sum(xl.open(kept) * 0.5, axis=0), (16,), 1)
    if engine == "reference":
        np.testing.assert_allclose(found, expected)
    else:
        assert found.tobytes() == expected.tobytes()
        assert kept.elements < 1.5 * x.size


_WIDE: dict[str, Callable[[Any], Any]] = {
    "all": xl.sum,
    "columns": lambda a: xl.sum(a, axis=0),
    "rows": lambda a: xl.sum(a * 0.5, axis=1),
    "sliced": lambda a: xl.sum(a[1:, 1:] - a[:-1, :-1]),
    "single": lambda a: xl.sum(xl.astype(a, "float32"), axis=0),
    "standard": lambda a: (a - xl.mean(a, axis=0)) / xl.std(a, axis=0),
    "product": lambda a: xl.prod(a * 0.01 + 1, axis=0),
}


_WIDTHS = ((120, 5501), (2250, 70), (12, 20001))


@pytest.mark.parametrize(
    ("name", "shape"),
    [(name, _WIDTHS[k % 3]) for k, name in enumerate(_WIDE)],
)
def test_large_parts_of_sums_fit_small_budgets(
    name: str, shape: tuple[int, int], engine: str
) -> None:
    """Less than a part of a tree is folded at a time, where a part is too much."""
    x = np.random.default_rng(2).normal(size=shape)
    expected = xl.eval(_WIDE[name](xl.asarray(x))).numpy()
    found = _WIDE[name](xl.open(Kept(x, (100, 500))))
    chunks = tuple([min(n, 500) for n in expected.shape])
    values = stored_in(found, chunks, 1)
    if engine == "reference":
        np.testing.assert_allclose(values, expected, rtol=1e-2)
    else:
        assert values.tobytes() == expected.tobytes()


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("shape", "chunks", "dtype", "memory"),
    [
        ((35, 24577), (10, 500), "f8", 2_200_000),
        ((6, 7, 15010), (3, 2, 4000), "f4", 1_700_000),
        ((33, 20001), (16, 3000), "c8", 6_000_000),
    ],
)
def test_rows_of_chunks_that_are_too_much_are_read_once(
    shape: tuple[int, ...], chunks: tuple[int, ...], dtype: str, memory: int
) -> None:
    """Leaves of a sum, of cheap values and of others, are filled by several blocks each."""
    values = (np.random.default_rng(5).normal(size=shape) * 9).astype(dtype)
    for write in (lambda a: xl.sum(a * 2), lambda a: xl.sum(xl.exp(a) / 7)):
        kept, found = Kept(values, chunks), np.zeros((), dtype)
        e = write(xl.open(kept))
        told = xl.explain(e, found, memory=memory).passes[0]
        assert told.peak <= memory
        xl.store(e, found, memory=memory)
        assert told.read == kept.moved == values.nbytes
        assert found.tobytes() == xl.eval(write(xl.asarray(values))).numpy().tobytes()


_SOME: dict[str, Callable[[Any], Any]] = {
    "rows": lambda a: xl.sum(a, axis=2),
    "planes": lambda a: xl.sum(a[:, :, 3:] - 1, axis=(1, 2)),
    "turned": lambda a: xl.sum(xl.permute_dims(a, (2, 0, 1)), axis=0),
}


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", _SOME)
def test_rows_of_chunks_of_several_results_need_not_fit(name: str) -> None:
    values = np.random.default_rng(4).normal(size=(5, 6, 33_011)).astype("f4")
    kept, write = Kept(values, (4, 5, 1500)), _SOME[name]
    e, expected = write(xl.open(kept)), np.asarray(xl.eval(write(xl.asarray(values))))
    assert stored_in(e, expected.shape, 4_000_000).tobytes() == expected.tobytes()
    told = xl.explain(e, np.zeros_like(expected), memory=4_000_000).passes[0]
    assert told.read == told.needed


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    ("shape", "chunks"),
    [((3, 140_003), (3, 30_000)), ((5, 60_001), (4, 9_000)), ((2, 3, 50_000), (1, 3, 7_000))],
)
def test_rows_that_begin_with_leaves_are_filled_chunk_by_chunk(
    shape: tuple[int, ...], chunks: tuple[int, ...]
) -> None:
    """Of slices, and of what is stretched along rows; the first ones are of several parts each."""
    values = np.random.default_rng(6).normal(size=shape)
    weights = xl.asarray(np.random.default_rng(7).normal(size=(*shape[:-1], 1)))
    for write in (lambda a: xl.sum(a[..., 5:] - a[..., :-5]), lambda a: xl.sum(a * weights)):
        kept, found = Kept(values, chunks), np.zeros(())
        e = write(xl.open(kept))
        with pytest.raises(BudgetError) as told:
            xl.store(e, found, memory=1)
        xl.store(e, found, memory=told.value.least)
        assert max([key[-1].stop - key[-1].start for key in kept.read]) < 2 * chunks[-1]
        assert found.tobytes() == xl.eval(write(xl.asarray(values))).numpy().tobytes()


class Elsewhere:
    """A cluster of one that is this process: what is sent is made again, in any order."""

    keeps = False

    def __init__(self, backwards: bool) -> None:
        self.backwards, self.needs = backwards, [0]

    def run_blocks(self, pieces: Any, values: Any, write: Any) -> Any:
        keys, per = list(pieces.keys), pieces.per
        groups = [keys[k : k + per] for k in range(0, len(keys), per)]
        self.needs.append(pieces.need)
        for group in groups[:: -1 if self.backwards else 1]:
            work = pickle.loads(pickle.dumps(Work(pieces.make, pieces.gives, {})))
            given = pickle.loads(pickle.dumps(run_keys(group, work)))
            yield Piece(group[0], Node((), np.dtype("f8")), []), given


@pytest.mark.usefixtures("compiled")
@given(
    shape=st.lists(st.sampled_from([1, 3, 40, 130, 1200, 9001]), min_size=1, max_size=3)
    .filter(lambda shape: 9000 < math.prod(shape) < 400_000 and shape[-1] > 1),
    parts=st.lists(st.integers(1, 5), min_size=3, max_size=3),
    written=st.sampled_from([
        lambda a: xl.sum(a * 2), lambda a: xl.sum(a[..., 1:] - 1), lambda a: xl.sum(a * 2, axis=-1),
        lambda a: xl.sum(a * 2, axis=0), lambda a: xl.prod(1 + a * 1e-3, axis=0)]),
    many=st.integers(1, 3), backwards=st.booleans(), dtype=st.sampled_from(["f4", "f8"]),
)  # fmt: skip
@settings(max_examples=20)
def test_what_tasks_give_of_leaves_is_the_sum(
    shape: list[int], parts: list[int], written: Any, many: int, backwards: bool, dtype: str
) -> None:
    """Tasks of a cluster have some blocks that follow each other; leaves begin and end anywhere."""
    values = (np.random.default_rng(8).normal(size=shape) * 9).astype(dtype)
    chunks = tuple([-(-n // k) for n, k in zip(shape, parts, strict=False)])
    total = written(xl.open(Kept(values, chunks))).node
    node = next(x for x in postorder(total) if isinstance(x, Reduce))
    tree, cluster = folds.tree_in_memory(node), Elsewhere(backwards)
    with mock.patch.object(leaves, "_MANY", many):
        run = Run(1 << 30, cluster=cluster)
        blocks = None if tree is None else blocks_.Blocks.of(folds.without_kept(node), tree, run)
        if blocks is None:
            return
        found = np.full(blocks.node.shape, np.nan, dtype)
        for box, part in blocks.results(run, lambda block: frozenset()):
            found[as_slices(box)] = part
    expected = written(xl.asarray(values)).node
    inner = next(x for x in postorder(expected) if isinstance(x, Reduce))
    assert found.tobytes() == pipeline.computed(inner).tobytes()


@pytest.mark.usefixtures("compiled")
def test_chunks_that_are_too_much_are_not_decoded_for_a_few_elements() -> None:
    """Of what is flattened no block is as chunks are; the least budget that is told does."""
    values, found = np.ones((6, 24577), "c16"), np.zeros((), "c16")
    e = xl.sum(xl.reshape(xl.open(Kept(values, (2, 9000))), (-1,)))
    with pytest.raises(xl.SizeError, match="least that does is") as refused:
        xl.explain(e, found, memory=1_000_000)
    least = int(str(refused.value).split()[-1])
    for memory in (least, least + 50_000, 2 * least, 6 * least):
        told = xl.explain(e, found, memory=memory).passes[0]
        assert told.peak <= memory
        assert told.read <= 32 * values.nbytes
    xl.store(e, found, memory=least)
    assert found == values.size


@pytest.mark.parametrize("rows", [9, 200, 700, 1500])
def test_sums_of_picked_elements_are_those_of_memory(rows: int) -> None:
    """A few are copied when they are picked, so that they are added as what is in one piece."""
    rng = np.random.default_rng(rows)
    for shape, key, totals in (
        ((rows, 9), [3, -1, 3, 0], (xl.sum, xl.std)),
        ((rows, 3, 9), [1, 1, 0], (xl.sum, xl.prod)),
    ):
        values = rng.normal(size=shape)
        expected, e = xl.asarray(values), xl.open(Kept(values, (5, *shape[1:])))
        for fold in totals:
            one, other = (
                [
                    fold(x[:, key]),
                    fold(x[: rows // 2, key]),
                    fold(xl.exp(xl.flip(x[1:, ...], axis=0)[:, key])),
                    fold(x[:, key][:, [0, 1, 1]], axis=0),
                    fold(xl.take(x[:, key], [1, 0] * rows, axis=0), axis=0),
                    fold(x[::3, key * 2000], axis=0),
                ]
                for x in (e, expected)
            )
            for e_, x_ in zip(one, other, strict=True):
                assert xl.eval(e_).numpy().tobytes() == xl.eval(x_).numpy().tobytes()


@pytest.mark.parametrize("stored", [True, False])
def test_an_empty_pick_inside_an_expression(stored: bool) -> None:
    values = np.arange(10.0)
    memory, s = xl.asarray(values), xl.open(values)
    for pick in (lambda a: a[np.zeros(0, int)], lambda a: a[[]], lambda a: xl.take(a, [])):
        for write in (
            lambda a, pick=pick: xl.concat([pick(a), a if stored else memory]),
            lambda a, pick=pick: xl.sum(pick(a)) + a,
        ):
            expected = xl.eval(write(memory))
            np.testing.assert_array_equal(xl.eval(write(s)), expected)
            np.testing.assert_array_equal(xl.store(write(s), np.zeros(len(expected))), expected)


def test_folds_of_nothing_are_those_of_memory() -> None:
    part = np.ones((4, 3))
    writes: list[Callable[[Any], Any]] = [
        lambda a: a @ a.T,
        lambda a: a.T @ a,
        lambda a: xl.sum(a, axis=0) + 1,
        lambda a: xl.any(a, axis=1),
    ]
    for write in writes:
        expected = xl.eval(write(xl.asarray(part)[2:2])).numpy()
        for e in (xl.open(Kept(part[2:2], (1, 1))), xl.open(Kept(part, (2, 2)))[2:2]):
            target = np.full(expected.shape, 7, expected.dtype)
            xl.store(write(e), target)
            np.testing.assert_array_equal(target, expected)
            np.testing.assert_array_equal(xl.eval(write(e)), expected)
            if importlib.util.find_spec("dask"):
                np.testing.assert_array_equal(xl.to_dask(write(e)).compute(), expected)
    many, few = np.full(300_000, 7.0), xl.open(Kept(np.ones((0, 300_000)), (1, 1000)))
    xl.store(xl.sum(few, axis=0), many, memory=400_000)
    assert not many.any()


@pytest.mark.once
@together("rest", [1, 65, 128, 129, 200, 255, 257])
def test_the_end_of_a_row_is_added_as_in_memory(rest: int) -> None:
    """Whole leaves of 8192 values, and what is left: half by half if that is little."""
    rng = np.random.default_rng(rest)
    for dtype, number in itertools.product(("f8", "f4"), range(6)):  # few data round differently
        values = (rng.normal(size=2 * 8192 + rest) * 100).astype(dtype)
        found, total = np.zeros((), dtype), xl.sum(xl.open(Kept(values, (9969,))))
        with xl.config(engine="compiled"):
            expected = xl.eval(xl.sum(xl.asarray(values))).numpy()
            if not number:
                with pytest.raises(BudgetError) as told:
                    xl.store(total, found, memory=1)
            xl.store(total, found, memory=told.value.least)
        assert found.tobytes() == expected.tobytes()
