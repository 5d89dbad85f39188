"""Hypothesis strategies: dtypes, shapes, operands in every layout, and expression trees.

Only this module of the folder needs hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ..dtypes.names import SUPPORTED, DType, is_narrow_int, kind
from ..functions import manipulation, reducers
from ..ops.table import OPS
from . import oracle
from .operands import LAYOUTS, Sample, fill, sample
from .trees import EXACT, INEXACT, INEXACT_ULP, Tree, call, cast, constant, fits, index, join, leaf


def dtypes(kinds: str = "biufc", *, narrow: bool = True) -> st.SearchStrategy[DType]:
    """Return the dtypes of the given kinds, those of ml_dtypes included if ``narrow``.

    NumPy's own are drawn as often as all of ml_dtypes' together.
    """
    found = [dt for dt in SUPPORTED if kind(dt) in kinds]
    usual = st.sampled_from([dt for dt in found if dt.isbuiltin == 1])
    others = [dt for dt in found if dt.isbuiltin != 1]
    return st.one_of(usual, st.sampled_from(others)) if narrow and others else usual


SIDES = (2, 3, 1, 5, 0, 33, 70)
"""Extents worth testing: the last two fill vector registers, with and without a rest."""


@st.composite
def shapes(draw: st.DrawFn, *, max_dims: int = 4, max_size: int = 20_000) -> tuple[int, ...]:
    """Draw a shape, rank 0 and extents of 0 included, of at most ``max_size`` elements."""
    sides = draw(st.lists(st.sampled_from(SIDES), max_size=max_dims))
    while math.prod(sides) > max_size:
        sides[sides.index(max(sides))] = 2
    return tuple(sides)


@st.composite
def broadcastable_shapes(
    draw: st.DrawFn, count: int, *, max_dims: int = 3
) -> list[tuple[int, ...]]:
    """Draw ``count`` shapes that broadcast together, some stretched, some of lower rank."""
    full = draw(shapes(max_dims=max_dims))
    found = []
    for _ in range(count):
        shape = list(full)
        for k in range(len(full)):
            if draw(st.integers(0, 3)) == 3:
                shape[k] = 1
        skip = draw(st.integers(0, len(full))) if draw(st.integers(0, 2)) == 2 else 0
        found.append(tuple(shape[skip:]))
    return found


@st.composite
def samples(
    draw: st.DrawFn,
    shape: tuple[int, ...],
    dtype: DType,
    layouts: Sequence[str] = LAYOUTS,
    *,
    plain: bool = False,
) -> Sample:
    """Draw an operand of a shape and dtype in one of the layouts."""
    layout = draw(st.sampled_from(layouts))
    seed = draw(st.integers(0, 1 << 16))
    return sample(layout, fill(dtype, shape, seed, plain=plain), seed)


@st.composite
def trees(
    draw: st.DrawFn, operands: Sequence[Sample], *, depth: int = 3, inexact: bool = False
) -> Tree:
    """Draw an expression over all kinds of nodes.

    Parameters
    ----------
    draw : callable
        Given by hypothesis.
    operands : sequence of Sample
        What its leaves are.
    depth : int, default 3
        Most operations above one another.
    inexact : bool, default False
        End in a function of `INEXACT` where the dtype allows one.  Everything below is exact, so
        the bound of that function is the bound of the tree.
    """
    tree = _grow(draw, operands, draw(st.integers(1, depth)))
    if inexact:
        name = draw(st.sampled_from(INEXACT))
        args = [tree] * OPS[name].arity
        if fits(name, [arg.value for arg in args]):
            loops, _ = OPS[name].rule(name, (tree.value.dtype,) * len(args))
            if kind(loops[0]) == "f":
                return call(name, *args, max_ulp=INEXACT_ULP if loops[0].itemsize > 2 else 1)
    return tree


def _grow(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    if depth == 0:
        number = draw(st.integers(0, len(operands) - 1))
        return leaf(number, operands[number].array)
    step = draw(st.sampled_from(_STEPS))
    return step(draw, operands, depth)


def _grow_elementwise(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    first = _grow(draw, operands, depth - 1)
    second = _grow(draw, operands, draw(st.integers(0, depth - 1)))
    if draw(st.integers(0, 3)) == 0:
        small = is_narrow_int(first.value.dtype)  # int2 holds no 3
        second = constant(draw(st.sampled_from([0, 1, True] if small else [0, 3, True, 2.5, -0.5])))
    args = {1: [first], 2: [first, second], 3: [call("isfinite", first), first, second]}
    names = [name for name in EXACT if fits(name, [a.value for a in args[OPS[name].arity]])]
    if not names:
        return first
    name = draw(st.sampled_from(names))
    return call(name, *args[OPS[name].arity])


def _grow_cast(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    goal = draw(dtypes("biufc" if tree.value.dtype.kind != "c" else "c"))
    if kind(tree.value.dtype) in "fc" and kind(goal) in "iu":
        return tree  # out of range the result is C's choice; tests/ops has the details
    return cast(tree, goal)


def _grow_view(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    shape = tree.value.shape
    what = draw(st.sampled_from(("index", "transpose", "flip", "flatten", "stretch")))
    if what == "index":
        return index(tree, draw(hnp.basic_indices(shape, max_dims=4, allow_newaxis=True)))
    if what == "transpose":
        axes = draw(st.permutations(range(len(shape))))
        return join(
            f"permute_dims({tree.text}, {axes})",
            lambda x: manipulation.permute_dims(x, axes),
            lambda x: np.transpose(x, axes),
            tree,
        )
    if what == "stretch" and len(shape) < 4:
        goal = (2, *shape)
        return join(
            f"broadcast_to({tree.text}, {goal})",
            lambda x: manipulation.broadcast_to(x, goal),
            lambda x: np.broadcast_to(x, goal),
            tree,
        )
    if what == "flip":
        return join(f"flip({tree.text})", manipulation.flip, np.flip, tree)
    return join(
        f"reshape({tree.text}, -1)",
        lambda x: manipulation.reshape(x, (tree.value.size,)),
        lambda x: np.reshape(x, -1),
        tree,
    )


def _grow_gather(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    shape = tree.value.shape
    axes = [k for k, n in enumerate(shape) if n]
    if not axes or len(shape) > 3:
        return tree
    axis = draw(st.sampled_from(axes))
    extent = shape[axis]
    rows = draw(st.lists(st.integers(-extent, extent - 1), min_size=1, max_size=4))
    key = (slice(None),) * axis + (np.array(rows, np.int64),)
    return index(tree, key)


def _grow_reduce(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    value = tree.value
    names = ["any", "all"]
    if kind(value.dtype) in "biu":
        names += ["sum", "prod"]
    if kind(value.dtype) in "iuf" and value.size:
        names += ["argmax", "argmin", "max", "min"]
    name = draw(st.sampled_from(names))
    axis = draw(st.sampled_from([None, *range(value.ndim)]))
    keepdims = draw(st.booleans())
    return join(
        f"{name}({tree.text}, axis={axis}, keepdims={keepdims})",
        lambda x: getattr(reducers, name)(x, axis=axis, keepdims=keepdims),
        lambda x: oracle.reduce(name, x, axis, keepdims),
        tree,
    )


def _grow_concat(draw: st.DrawFn, operands: Sequence[Sample], depth: int) -> Tree:
    tree = _grow(draw, operands, depth - 1)
    if not tree.value.shape:
        return tree
    axis = draw(st.integers(0, tree.value.ndim - 1))
    part = index(tree, (slice(None),) * axis + (slice(None, None, -2),))
    return join(
        f"concat([{tree.text}, {part.text}], {axis})",
        lambda x, y: manipulation.concat([x, y], axis=axis),
        lambda x, y: np.concatenate([x, y], axis=axis),
        tree,
        part,
    )


_STEPS = (
    _grow_elementwise,
    _grow_elementwise,
    _grow_elementwise,
    _grow_cast,
    _grow_view,
    _grow_view,
    _grow_gather,
    _grow_reduce,
    _grow_concat,
)
