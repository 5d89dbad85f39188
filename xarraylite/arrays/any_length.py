"""What functions make of arrays of any length: recipes without extents.

The mean of rows is their sum over the number of rows, whatever that is.  So a function is traced
for arrays of three shapes, in two of which each extent is more than twice the one before it, or
less than half (a diagonal has as many elements as the shorter dimension, or fewer by its offset),
and the traces are compared: where they do the same in the same order, extents, and numbers of what
is folded, or those less something, are all that may differ.  What differs in anything else has no
rule.

A trace is divided at its folds along some axes.  What such a fold makes is memory for what follows:
small arrays are computed when the function is called, as a plan is made for one shape and takes a
hundred times as long as the kernels run (`runtime.axis_folds`).  What has no such folds stays lazy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .._later import axis_folds
from .._records import record
from ..assignment.parts import program_of
from ..assignment.results import count_launch
from ..index.transform import Transform
from ..ir import build
from ..ir.kind import folds_inside, row_major
from ..ir.node import RANK, Elementwise, Leaf, Node, Reduce, Shape, View
from ..ir.translation import of as kind_of
from ..ir.walk import postorder, with_args
from ..layout.strided import Strided
from ..memory.buffer import NOWHERE
from ..memory.snapshots import LateSnapshot, Snapshot
from ..ops.reductions import Reduction
from ..runtime.evaluate import uses_reference
from ..runtime.program import Direct
from .expression import XExpression, handle
from .recipes import Recipe
from .recomputed import Recomputed, outlined

#: By what the least extent is multiplied for the extents of a trace, and those of another one.
_FEW, _MORE = (1, 3, 7, 15, 31, 63), (127, 63, 31, 15, 7, 3)


@record(frozen=True, slots=True)
class Part:
    """What one launch computes of the arrays, and of what the parts before it have made.

    Attributes
    ----------
    recipe : Recipe
        Of what is computed, or folded.
    shape : tuple of int
        Of what it makes.
    op, axes : Reduction or None, tuple of int
        How it is folded, and along which of some axes.
    """

    recipe: Recipe
    shape: Shape
    op: Any = None
    axes: tuple[int, ...] = ()


#: Where extents are found: dimensions of the arrays, behind which stands the shortest, and by how
#: much they are more; -1 where that is the extent.
Places = tuple[tuple[int, int], ...]


@record(frozen=True, slots=True)
class Loose:
    """A part of any length.

    Attributes
    ----------
    part : Part
        That of a trace.
    body, shape : tuple of int
        Where the extents of what is computed or folded are found, and those of what it makes.
    constants : tuple
        Of each of the recipe's constants: itself, as a tuple where extents are found, or as a list
        the number of elements that is meant, what is subtracted from it, its class, and the least
        such number for which that is known.
    """

    part: Part
    body: Places
    shape: Places
    constants: tuple[Any, ...]

    def found(self, extents: Shape, sizes: Sequence[int]) -> tuple[Any, ...]:
        """Return the recipe's constants for arrays of a shape."""
        return tuple(
            [
                _extents(c, extents)
                if c.__class__ is tuple
                else c[2](sizes[c[0]] - c[1])
                if c.__class__ is list
                else c
                for c in self.constants
            ]
        )


@record(frozen=True, slots=True)
class AnyLength:
    """How a result is made of arrays of one shape, whatever its extents.

    Attributes
    ----------
    least : int
        The least extent for which it is known; of one value the least number of elements.
    parts : tuple of Loose
        What is computed; where nothing is folded along some axes one part, which stays lazy.
    fixed : int
        What is fixed of the result's shape.
    lazily : callable or None
        Makes the result's node of the arrays'.
    """

    least: int
    parts: tuple[Loose, ...]
    fixed: int
    lazily: Callable[..., Node] | None = None

    @property
    def lazy(self) -> bool:
        """Whether the result is not computed when the function is called."""
        return len(self.parts) == 1 and self.parts[0].part.op is None

    def result(self, extents: Shape) -> tuple[Shape, Any, int]:
        """Return shape and dtype of the result for arrays of a shape, and what is fixed of it."""
        part = self.parts[-1]
        return _extents(part.shape, extents), part.part.recipe.kind.dtype, self.fixed

    def __call__(self, arrays: Sequence[Any]) -> Any:
        """Return the result of other arrays; None where the rule does not serve."""
        if not self.lazy:
            return self._computed(arrays)
        found = self._found(arrays)
        if found is None:
            return None
        own, shape, constants = found
        given = arrays[0].now() if len(arrays) == 1 else sum([x.now() for x in arrays], ())
        return handle(own.kind, shape, own.operands(given, constants))

    def recipe(self, arrays: Sequence[Any]) -> Recipe | None:
        """Return how a lazy result is made of arrays of such extents; None if it is not known."""
        found = self._found(arrays)
        if found is None:
            return None
        own, shape, constants = found
        return Recipe(own.kind, shape, constants, own.picks, own.moved)

    def _found(self, arrays: Sequence[Any]) -> tuple[Recipe, Shape, tuple[Any, ...]] | None:
        """Return the recipe of a trace, and shape and constants for arrays of such extents."""
        extents = arrays[0]._shape
        size = math.prod(extents)
        (part,) = self.parts
        if (min(extents) if part.shape else size) < self.least or _differ(arrays, extents):
            return None
        return part.part.recipe, _extents(part.shape, extents), part.found(extents, (size,))

    def _computed(self, arrays: Sequence[Any]) -> Any:
        """Return the result, computed at once, of arrays that are small; None of others."""
        extents = arrays[0]._shape
        size = math.prod(extents)
        serves = not self.lazy and min(extents) >= self.least and size <= axis_folds.MOST
        if not serves or uses_reference() or _differ(arrays, extents):
            return None
        given = arrays[0].now() if len(arrays) == 1 else sum([x.now() for x in arrays], ())
        if any([isinstance(x, Snapshot) and (x.late or x.stale is not None) for x in given]):
            return None
        sizes, last = [size], self.parts[-1]
        for part in self.parts:
            own, kind = part.part, part.part.recipe.kind
            body, shape = _extents(part.body, extents), _extents(part.shape, extents)
            count = math.prod(shape)
            sizes.append(math.prod(body) // count)
            if any([c.__class__ is list and sizes[c[0]] < c[3] for c in part.constants]):
                return None  # what is subtracted may be more
            items = own.recipe.operands(given, part.found(extents, sizes))
            made = self._from(arrays, kind.dtype) if part is last else None
            to = Snapshot.alone(count * kind.itemsize, made)
            if not filled(kind, to, body, items, own.op, own.axes):
                return None
            given += (to, 0)
        count_launch()
        return handle(row_major(kind.dtype, len(shape), self.fixed), shape, (to, 0))

    def _from(self, arrays: Sequence[Any], dtype: Any) -> Recomputed:
        parts = [(x._kind, x._shape, outlined(x._kind, x.now())) for x in arrays]
        assert self.lazily is not None, "a rule that serves is whole"
        return Recomputed(parts, self.lazily, dtype)


def _differ(arrays: Sequence[Any], extents: Shape) -> bool:
    return len(arrays) > 1 and any([array._shape != extents for array in arrays])


def filled(
    kind: Any,
    to: Snapshot,
    shape: Shape,
    items: Sequence[Any],
    op: Reduction | None,
    axes: tuple[int, ...],
) -> bool:
    """Compute what is computed for each element, folded if it is; tell whether one launch does."""
    if op is not None:
        return axis_folds.fold(op, kind, shape, items, axes, to)
    program = program_of(kind)
    if program.__class__ is not Direct or program.folds or math.prod(shape) > program.limit:
        return False
    return program.call(to.address, shape, *items) is None


def loosened(key: tuple[Any, ...], arrays: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return what a call is remembered by without the extents of its arrays.

    None where there are none, or extents are part of a kind or among the operands of an array.
    """
    own = []
    for array in arrays:
        shape = array._shape
        if not shape or array._kind.formed:
            return None
        if array.__class__ is XExpression and tuple in map(type, array._operands):
            return None
        own.append(shape)
    if len(own) == 1:
        return tuple([len(x) if x is shape else x for x in key])
    known = {*map(id, own)}
    return tuple([len(x) if id(x) in known else x for x in key]) if own else None


def divided(root: Node, places: dict[int, int], given: list[Any]) -> list[Part] | None:
    """Return the parts of a trace; None if some part has no kind, or one with extents.

    Parameters
    ----------
    root : Node
        The trace.
    places : dict
        The places of traced snapshots and scalars among the operands, by identity.
    given : list
        The operands of all arrays.
    """
    try:
        return _Division({**places}, [*given]).of(root)
    except _None:
        return None


class _None(Exception):
    """A trace cannot be divided."""


class _Division:
    """The parts of a trace, in the order in which they are computed."""

    def __init__(self, places: dict[int, int], given: list[Any]) -> None:
        self.places, self.given = places, given
        self.parts: list[Part] = []

    def of(self, root: Node) -> list[Part]:
        made: dict[int, Node] = {}
        for node in postorder(root):
            made[id(node)] = self._part(node, tuple([made[id(arg)] for arg in node.args]))
        end, parts = made[id(root)], self.parts
        if not (parts and isinstance(end, Leaf)):
            self._append(end, end)
        elif self.places.get(id(end.snapshot)) != len(self.given) - 2:
            raise _None
        if len(parts) > 1:
            wholes = any([folds_inside(part.recipe.kind) for part in parts])
            if wholes or not any([part.op is not None for part in parts]):
                raise _None
        return parts

    def _part(self, node: Node, args: tuple[Node, ...]) -> Node:
        """Return a node of what its arguments have become: memory where it is a part."""
        if isinstance(node, View) and self.parts and isinstance(node.step, Transform):
            return build.view(self._settled(args[0]), node.step)
        if isinstance(node, Elementwise):
            args = tuple([arg if _ends(node, arg) else self._settled(arg) for arg in args])
        own = with_args(node, args)
        if isinstance(own, Reduce) and 0 < len(own.axes) < len(own.arg.shape):
            return self._memory(own.arg, own)
        return own

    def _settled(self, node: Node) -> Node:
        return self._memory(node, node) if isinstance(node, Elementwise) else node

    def _memory(self, body: Node, node: Node) -> Leaf:
        """Return what a part has made as memory."""
        fixed = min(self._append(body, node), RANK)
        memory = LateSnapshot(NOWHERE)
        memory.traced = True
        self.places[id(memory)] = len(self.given)
        self.given += (memory, 0)
        return Leaf(node.shape, node.dtype, memory, Strided.row_major(node.shape), fixed)

    def _append(self, body: Node, node: Node) -> int:
        """Append the part that computes a node of what is folded; tell what is fixed of it."""
        known = kind_of(body, traced=True)
        recipe = None
        if known is not None and not known[0].formed:
            recipe = picked(*known, body.shape, self.places, self.given)
        if recipe is None or any([isinstance(x, Snapshot) for x in recipe.constants]):
            raise _None
        fold = (node.op, node.axes) if isinstance(node, Reduce) and node is not body else ()
        self.parts.append(Part(recipe, node.shape, *fold))
        return recipe.kind.fixed


def _ends(node: Node, arg: Node) -> bool:
    """Tell whether an argument has the last extents of what it is an argument of."""
    return node.shape[len(node.shape) - len(arg.shape) :] == arg.shape


#: Bytes of memory that a recipe keeps.
_LITTLE = 1 << 12


def picked(
    kind: Any,
    operands: Sequence[Any],
    shape: Shape,
    places: dict[int, int],
    given: Sequence[Any],
) -> Recipe | None:
    """Return a recipe; None if some operand is neither an argument's nor a constant.

    Constants are numbers, and little memory, as positions that follow from shapes and options.
    """
    picks: list[int] = []
    moved: list[tuple[int, int]] = []
    constants: list[Any] = []
    items = iter(operands)
    for item in items:
        number = places.get(id(item))
        if isinstance(item, Snapshot) and number is None:
            if item.late or item.traced or item.nbytes > _LITTLE:
                return None
            picks += (len(given) + len(constants), len(given) + len(constants) + 1)
            constants += (item, next(items))
        elif isinstance(item, Snapshot) and number is not None:
            by = next(items) - given[number + 1]
            if by:
                moved.append((len(picks) + 1, by))
            picks += (number, number + 1)
        elif number is not None:
            picks.append(number)
        else:
            picks.append(len(given) + len(constants))
            constants.append(item)
    return Recipe(kind, shape, tuple(constants), picks, tuple(moved))


def samples(least: int, extents: Shape) -> list[Shape]:
    """Return the shapes for which a function is traced, the first one of the least extents.

    None where these are less, or there are more than a rule is looked for.
    """
    if not 0 < len(extents) <= len(_FEW) or min(extents) < least:
        return []
    few, more = [[least * k for k in by[: len(extents)]] for by in (_FEW, _MORE)]
    return [tuple(few), tuple(more), extents]


def rule_of(
    shapes: Sequence[Shape], divided: Callable[[Shape], list[Part] | None]
) -> AnyLength | None:
    """Return what a function makes of arrays whatever their extents; None if that has no rule.

    Parameters
    ----------
    shapes : sequence of tuple of int
        Extents of arrays, the least first.
    divided : callable
        Returns the parts of the function's trace for such arrays.
    """
    traces: list[list[Part]] = []
    for shape in shapes:
        parts = divided(shape)
        if parts is None or (traces and len(parts) != len(traces[0])):
            return None
        traces.append(parts)
    first = traces[0]
    sizes = [[math.prod(shape)] for shape in shapes]
    found: list[Loose] = []
    for same in zip(*traces, strict=True):
        for known, part in zip(sizes, same, strict=True):
            known.append(math.prod(part.recipe.shape) // math.prod(part.shape))
        part = _loose(same, shapes, sizes)
        if part is None:
            return None
        found.append(part)
    lazy = len(first) == 1 and first[0].op is None
    least = math.prod(shapes[0]) if lazy and not first[0].shape else min(shapes[0])
    kind = first[-1].recipe.kind
    return AnyLength(least, tuple(found), kind.fixed if lazy else min(kind.fixed, RANK))


def _loose(
    same: Sequence[Part], shapes: Sequence[Shape], sizes: Sequence[Sequence[int]]
) -> Loose | None:
    """Return what the same part of several traces has in common; None if not all."""

    def what(part: Part) -> tuple[Any, ...]:
        recipe = part.recipe
        own = recipe.kind, recipe.picks, recipe.moved, len(recipe.constants)
        return (*own, part.op, part.axes, len(part.shape))

    if any([what(part) != what(same[0]) for part in same]):
        return None
    body = _places([part.recipe.shape for part in same], shapes)
    shape = _places([part.shape for part in same], shapes)
    constants = [
        _constant(values, shapes, sizes)
        for values in zip(*[part.recipe.constants for part in same], strict=True)
    ]
    if body is None or shape is None or None in constants:
        return None
    return Loose(same[0], body, shape, tuple(constants))


def _places(given: Sequence[Shape], shapes: Sequence[Shape]) -> Places | None:
    """Return where extents are found."""
    found: list[tuple[int, int]] = []
    for values in zip(*given, strict=True):
        places = [(-1, values[0])] if len(set(values)) == 1 else []
        for k, extents in enumerate(zip(*map(_with_shortest, shapes), strict=True)):
            more = {value - n for value, n in zip(values, extents, strict=True)}
            places += [(k, *more)] if len(more) == 1 else []
        if not places:
            return None
        found.append(min(places, key=lambda place: (place[1] != 0, place[0] < 0)))
    return tuple(found)


def _extents(places: Places, extents: Shape) -> Shape:
    known = _with_shortest(extents)
    return tuple([known[k] + more if k >= 0 else more for k, more in places])


def _with_shortest(extents: Shape) -> Shape:
    return (*extents, min(extents))


def _constant(
    values: Sequence[Any], shapes: Sequence[Shape], sizes: Sequence[Sequence[int]]
) -> Any:
    """Return the rule of a constant (`Loose`); None if there is none."""
    one = values[0]
    if any([value.__class__ is not one.__class__ for value in values]):
        return None
    if one.__class__ is tuple:
        ranks = {len(value) for value in values}
        return _places(values, shapes) if len(ranks) == 1 else None
    if all([value == one or (value != value and one != one) for value in values]):  # NaN too
        return one
    for which, counts in enumerate(zip(*sizes, strict=True)):
        less = {n - value for n, value in zip(counts, values, strict=True)}
        if len(less) == 1:
            return [which, less.pop(), one.__class__, min(counts)]
    return None
