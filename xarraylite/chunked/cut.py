"""Cutting a block out of an expression.

`cut` returns the expression of some elements of another one's result: the same operations over the
parts of the operands that these elements need.  The box of the result is pushed down from node to
node; each kind of node says what it needs of its arguments and how it is made of what they become.
A `Stored` operand becomes a `Stored` node over a `Request`; when the request has been read, `bind`
puts the leaf over the bytes in its place.  Nothing is computed here that was not computed before:
a cut expression has the same operations, with the same dtypes, element for element.

Walks are iterative, and a node that is needed twice for the same elements becomes one node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np

from .._errors import ShapeError
from ..index.transform import FIXED, Reshape, Transform, flip
from ..index.transform import IndexMap as Along
from ..ir import build
from ..ir import node as ir
from ..ir.walk import depth_first, postorder, rebuild, with_args
from ..memory.arrays import read
from .selection import (
    Box,
    Selection,
    index_leaf,
    inside,
    picked,
    select,
    shape_of,
    shifted,
    whole,
)

Made = Callable[[list[ir.Node]], ir.Node]
Part = tuple[ir.Node, Box]
Step = tuple[list[Part], Made]
Marks = frozenset[int] | None


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What a block needs of an operand; a block is evaluated when its requests are bound.

    Attributes
    ----------
    source : Source
        The operand.
    box : tuple
        The selection of each dimension.
    """

    source: Any
    box: Box


def cut(root: ir.Node, box: Box) -> ir.Node:
    """Return the expression of the elements of ``root`` in a box."""
    steps: dict[Part, Step] = {}
    made: dict[Part, ir.Node] = {}

    def needed(part: Part) -> list[Part]:
        steps[part] = _step(*part)
        return steps[part][0]

    for part in depth_first([(root, box)], needed):
        args, make = steps[part]
        made[part] = make([made[arg] for arg in args])
    return made[root, box]


def requests(root: ir.Node) -> list[ir.Stored]:
    """Return the nodes of a cut expression that stand for requests."""
    return [node for node in postorder(root) if isinstance(node, ir.Stored)]


def bind(root: ir.Node, leaves: Mapping[int, ir.Node]) -> ir.Node:
    """Return a cut expression over what was read, by the identity of the requests' nodes."""

    def visit(node: ir.Node, args: tuple[ir.Node, ...]) -> ir.Node:
        known = leaves.get(id(node))
        if known is not None:
            return known
        if isinstance(node, ir.View) and args != node.args:  # views of memory are memory
            if isinstance(node.step, Reshape):
                return build.reshape(args[0], node.shape)
            return build.view(args[0], node.step)
        return with_args(node, args)

    return rebuild(root, visit) if leaves else root


def has_stored(root: ir.Node) -> bool:
    """Tell whether an expression has operands that are no memory."""
    return any([isinstance(node, ir.Stored) for node in postorder(root)])


#: What is cut in the same way wherever a block lies.
_EVEN = (ir.Elementwise, ir.Iota, ir.Leaf, ir.Reduce, ir.Scalar, ir.Stored, ir.View)


def is_even(root: ir.Node) -> bool:
    """Tell whether what blocks of an expression need follows from their extents."""
    return all([_is_even(node) for node in postorder(root)])


def _is_even(node: ir.Node) -> bool:
    if isinstance(node, ir.View) and isinstance(node.step, Reshape):
        return [n for n in node.shape if n != 1] == [n for n in node.arg.shape if n != 1]
    return isinstance(node, _EVEN)


def joints(root: ir.Node) -> list[Marks]:
    """Return where along each dimension something else is read from there on.

    Blocks of the same extents that have none of these positions inside, and the same two around
    them, need as much as each other.  None where any block may need another amount: along what is
    picked, and where dimensions merge.
    """
    made: dict[int, list[Marks]] = {}
    for node in postorder(root):
        made[id(node)] = _joints(node, [made[id(arg)] for arg in node.args])
    return made[id(root)]


def everything(root: ir.Node) -> Iterator[ir.Node]:
    """Yield the nodes of an expression, and those of the factors of products in it."""
    for node in postorder(root):
        yield node
        for inner, _ in getattr(node.source, "factors", ()) if isinstance(node, ir.Stored) else ():
            yield from everything(inner)


def in_pass(root: ir.Node) -> Iterator[ir.Node]:
    """Yield what a pass over an expression evaluates; what it folds is there, its operands not."""
    return depth_first([root], lambda node: () if isinstance(node, ir.Reduce) else node.args)


def read_by(root: ir.Node) -> list[Any]:
    """Return the operands that a pass over an expression reads, what is folded in it apart."""
    sources = [node.source for node in in_pass(root) if isinstance(node, ir.Stored)]
    return list({id(source): source for source in sources}.values())


# --- what each kind of node needs ---------------------------------------------------------------


@singledispatch
def _step(node: ir.Node, box: Box) -> Step:
    raise TypeError(f"cut: {type(node).__name__} cannot be cut")


@_step.register
def _(node: ir.Leaf, box: Box) -> Step:
    return [], lambda args: select(node, box)


@_step.register
def _(node: ir.Iota, box: Box) -> Step:
    return [], lambda args: select(node, box)


@_step.register
def _(node: ir.Scalar, box: Box) -> Step:
    return [], lambda args: node


@_step.register
def _(node: ir.Stored, box: Box) -> Step:
    source: Any = node.source
    if isinstance(source, Request):  # of a cut that is cut again
        source, box = source.source, _within(source.box, box)
    request: Any = Request(source, box)
    return [], lambda args: ir.Stored(shape_of(box), node.dtype, request)


def _within(outer: Box, inner: Box) -> Box:
    found: list[Selection] = []
    for a, b in zip(outer, inner, strict=True):
        if isinstance(a, range) and isinstance(b, range):
            found.append(shifted(b, a.start, a.step)[0])
        else:
            positions = np.asarray(a.values if not isinstance(a, range) else a, np.int64)
            found.append(picked(positions[np.asarray(b.values if not isinstance(b, range) else b)]))
    return tuple(found)


@_step.register
def _(node: ir.Elementwise, box: Box) -> Step:
    needed = [(arg, _ends(arg.shape, node.shape, box)) for arg in node.operands]
    return needed, lambda args: replace(node, shape=shape_of(box), operands=tuple(args))


def _ends(shape: tuple[int, ...], full: tuple[int, ...], box: Box) -> Box:
    """Return the box of an argument that is broadcast to ``full``."""
    skip = len(full) - len(shape)
    return tuple(
        [
            range(1) if extent == 1 and full[skip + k] != 1 else box[skip + k]
            for k, extent in enumerate(shape)
        ]
    )


@_step.register
def _(node: ir.View, box: Box) -> Step:
    if isinstance(node.step, Reshape):
        return _reshaped(node, box)
    sub: list[Selection] = []
    maps, reversed_axes = [], []
    for k, (start, pace, axis) in enumerate(node.step.maps):
        if axis == FIXED:
            sub.append(range(start, start + 1))
            maps.append(Along(0, 0, FIXED))
            continue
        moved, back = shifted(box[axis], start, pace)
        if back:
            reversed_axes.append(k)
        sub.append(moved)
        maps.append(Along(0, 1, axis))
    step = Transform(shape_of(box), tuple(maps))
    inner = tuple(sub)
    if not reversed_axes and [axis for *_, axis in maps] == [*range(len(box))]:
        return [(node.arg, inner)], lambda args: args[0]
    if reversed_axes:
        step = step.after(flip(shape_of(inner), reversed_axes))
    return [(node.arg, inner)], lambda args: build.view(args[0], step)


def _groups(source: tuple[int, ...], shape: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    """Return runs of dimensions of two shapes of one size that have the same number of elements."""
    found: list[tuple[list[int], list[int]]] = []
    if 0 in shape:  # no block reads any of it
        return found
    i = j = 0
    while i < len(source) or j < len(shape):
        left, right, a, b = [], [], 1, 1
        if i < len(source):
            left, a, i = [i], source[i], i + 1
        if j < len(shape):
            right, b, j = [j], shape[j], j + 1
        while a != b:
            if a < b:
                left, a, i = [*left, i], a * source[i], i + 1
            else:
                right, b, j = [*right, j], b * shape[j], j + 1
        found.append((left, right))
    return found


def _reshaped(node: ir.View, box: Box) -> Step:
    """Return what a block of other dimensions needs: whole rows around it, where any merge."""
    step = node.step
    assert isinstance(step, Reshape)
    sub: list[Selection] = list(whole(step.source))
    extents, inner = list(step.shape), list(box)
    for left, right in _groups(step.source, step.shape):
        long = [k for k in left if step.source[k] != 1]
        wide = [k for k in right if step.shape[k] != 1]
        if len(long) == len(wide) == 1:
            selection = box[wide[0]]
            sub[long[0]] = selection
            extents[wide[0]], inner[wide[0]] = len(selection), range(len(selection))
        elif long and wide:
            row = math.prod([step.source[k] for k in long[1:]])
            out = math.prod([step.shape[k] for k in wide[1:]])
            low = high = 0
            for k in wide:
                low = low * step.shape[k] + box[k][0]
                high = high * step.shape[k] + box[k][-1]
            unit = math.lcm(row, out)
            total = row * step.source[long[0]]
            low, high = low // unit * unit, min(total, (high // unit + 1) * unit)
            sub[long[0]] = range(low // row, high // row)
            extents[wide[0]] = (high - low) // out
            inner[wide[0]] = shifted(box[wide[0]], -(low // out))[0]
    return [(node.arg, tuple(sub))], lambda args: select(
        build.reshape(args[0], tuple(extents)), tuple(inner)
    )


@_step.register
def _(node: ir.Gather, box: Box) -> Step:
    axis, rank = node.axis, len(node.index.shape)
    index = select(node.index, box[axis : axis + rank])
    positions = _values(index)
    unique, place = np.unique(positions, return_inverse=True)
    sub = (*box[:axis], picked(unique), *box[axis + rank :])
    if (
        rank == 1
        and len(unique) == positions.size
        and bool((place == np.arange(len(unique))).all())
    ):
        return [(node.arg, sub)], lambda args: args[0]
    moved = index_leaf(place.reshape(positions.shape).astype(np.int64))
    return [(node.arg, sub)], lambda args: build.gather(args[0], axis, moved)


def _values(index: ir.Node) -> np.ndarray[Any, np.dtype[np.int64]]:
    if isinstance(index, ir.Gather):
        return np.take(_values(index.arg), _values(index.index), axis=index.axis)
    assert isinstance(index, ir.Leaf), "an index is memory"
    return read(index.snapshot, index.dtype, index.map)


@_step.register
def _(node: ir.Concat, box: Box) -> Step:
    axis, at = node.axis, 0
    needed: list[tuple[ir.Node, Box]] = []
    for part in node.parts:
        own = inside(box[axis], at, at + part.shape[axis])
        if own is not None:
            needed.append((part, (*box[:axis], own, *box[axis + 1 :])))
        at += part.shape[axis]
    return needed, lambda args: build.concat(args, axis)


@_step.register
def _(node: ir.Reduce, box: Box) -> Step:
    rest = iter(box if not node.keepdims else [s for k, s in enumerate(box) if k not in node.axes])
    sub = tuple([range(n) if k in node.axes else next(rest) for k, n in enumerate(node.arg.shape)])
    return [(node.arg, sub)], lambda args: replace(node, shape=shape_of(box), arg=args[0])


@_step.register
def _(node: ir.SegmentReduce, box: Box) -> Step:
    raise ShapeError(
        f"{node.op.name}: rows of a jagged array over {build.describe(node.arg)} that is read in "
        "blocks cannot be cut; evaluate it into memory first"
    )


# --- where each kind of node has joints ---------------------------------------------------------

_SMOOTH: Marks = frozenset()


def _both(one: Marks, other: Marks) -> Marks:
    return None if one is None or other is None else one | other


@singledispatch
def _joints(node: ir.Node, args: list[list[Marks]]) -> list[Marks]:
    return [_SMOOTH] * len(node.shape)


@_joints.register
def _(node: ir.Elementwise, args: list[list[Marks]]) -> list[Marks]:
    found = [_SMOOTH] * len(node.shape)
    for arg, own in zip(node.operands, args, strict=True):
        skip = len(found) - len(own)
        for k, extent in enumerate(arg.shape):
            if extent != 1:  # others are stretched
                found[skip + k] = _both(found[skip + k], own[k])
    return found


@_joints.register
def _(node: ir.View, args: list[list[Marks]]) -> list[Marks]:
    (own,), found = args, [_SMOOTH] * len(node.shape)
    if isinstance(node.step, Reshape):
        for left, right in _groups(node.step.source, node.step.shape):
            long = [k for k in left if node.step.source[k] != 1]
            wide = [k for k in right if node.step.shape[k] != 1]
            if long and wide:  # whole rows are read, whatever of those inside is asked for
                found[wide[0]] = _split_at(own[long[0]], node.step.shape, long, wide)
        return found
    for (start, pace, axis), marks in zip(node.step.maps, own, strict=True):
        if axis != FIXED and marks is None:
            found[axis] = None
        elif axis != FIXED and pace and marks:
            # The first position that reads at a joint or past it, or before it if it goes back.
            moved = {
                -((start - at) // pace) if pace > 0 else (start - at) // -pace + 1 for at in marks
            }
            some = frozenset([at for at in moved if 0 < at < node.shape[axis]])
            found[axis] = _both(found[axis], some)
    return found


def _split_at(marks: Marks, shape: Sequence[int], long: list[int], wide: list[int]) -> Marks:
    """Return where the first of some dimensions has joints of one that was divided into them."""
    if marks is None or len(long) > 1:
        return None
    row = math.prod([shape[k] for k in wide[1:]])
    return frozenset([at for k in marks for at in (k // row, -(-k // row))])


@_joints.register
def _(node: ir.Gather, args: list[list[Marks]]) -> list[Marks]:
    own, axis = args[0], node.axis
    return [*own[:axis], *[None] * len(node.index.shape), *own[axis + 1 :]]


@_joints.register
def _(node: ir.Concat, args: list[list[Marks]]) -> list[Marks]:
    found, axis, at = [_SMOOTH] * len(node.shape), node.axis, 0
    for part, own in zip(node.parts, args, strict=True):
        along = own[axis]
        moved = None if along is None else frozenset([at + k for k in along])
        for k, marks in enumerate([*own[:axis], _both(moved, frozenset([at])), *own[axis + 1 :]]):
            found[k] = _both(found[k], marks)
        at += part.shape[axis]
    return found


@_joints.register
def _(node: ir.Reduce, args: list[list[Marks]]) -> list[Marks]:
    kept = [_SMOOTH if k in node.axes else marks for k, marks in enumerate(args[0])]
    return kept if node.keepdims else [m for k, m in enumerate(kept) if k not in node.axes]


@_joints.register
def _(node: ir.SegmentReduce, args: list[list[Marks]]) -> list[Marks]:
    return [None] * len(node.shape)
