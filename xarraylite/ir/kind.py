"""Kinds: what does not change from one evaluation of an expression to the next.

A kind says operations, dtypes, ranks and strides; an expression is a kind, a shape, and its
operands.  Kinds are interned when an expression is written: each owns the table that leads from
it, by an operation and another kind, to the next one, so that writing an operation like one that
was written before is one look-up, and everything that follows from a kind — dtype, nodes, the
programs that evaluate it — is found once.

Extents are no part of a kind.  A kind describes expressions whose operands have the shape of the
result, or its last dimensions, so one kind and its kernels serve all shapes: a leaf's strides are
named where they are not those of a row-major array, which follow from its shape.  Memory that is
stretched along extents of 1 has the strides of that, which are 0 there.  Parts of
expressions that need more than that are forms (`Form`, `ir.translation`), whose extents are fixed.

The operands of an expression are one flat tuple, in the order in which its nodes would be met: for
each leaf its snapshot and the byte where its first element begins, for each scalar its value, and
for a reduction the shape of what it folds, before the operands of that.

Tables are bounded, and dropped when they are full: kinds made later of the same structure are other
objects, which costs time and never a result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._tables import kept
from ..dtypes.names import DType
from ..layout.strided import Strided, row_major_strides
from ..ops.op import COSTLY, Op
from ..ops.reductions import Reduction
from .node import FREE, RANK, SHAPE, Elementwise, Leaf, Node, Scalar, Shape, View
from .walk import postorder

#: A flat tuple; see the module docstring.
Operands: TypeAlias = tuple[Any, ...]

#: Bytes that are much, if they are held for one value.
MUCH = 1 << 19

#: Entries of one table.
_LIMIT = 4096

#: Weight of one operation, and from which on cheap operations are expensive together.
_ONE, _MANY = 3, 12

#: The class of containers of which so much is fixed, by dtype and shape; entered by `arrays`.
OWNERS: dict[int, Callable[[DType, Shape], Any]] = {}

#: Shapes of tensors of fixed rank or shape, by themselves.
_SHAPES: dict[Shape, Shape] = {}

_NONE: frozenset[type] = frozenset()
_STORED: dict[str, frozenset[type]] = {
    "d": frozenset((float, int)),
    "D": frozenset((complex, float, int)),
    **dict.fromkeys("bhilqBHILQ", frozenset((int,))),
    "?": frozenset((bool, int)),
}


class Form:
    """What a kind of fixed extents does, which no other kinds describe part by part.

    Attributes
    ----------
    root : Node
        An expression over memory that does not exist.
    """

    __slots__ = ("root",)

    def __init__(self, root: Node) -> None:
        self.root = root

    @property
    def name(self) -> str:
        """Name of the last operation."""
        return type(self.root).__name__.lower()


class Kind:
    """The structure of an expression; see the module docstring.  Made by `leaf` and `of`.

    Attributes
    ----------
    op : Op, Reduction, Form or None
        The last operation; None for leaves and scalars.
    args : tuple of Kind
        The kinds it is applied to.
    dtype : numpy.dtype
        Dtype of the result.
    rank : int
        Number of its dimensions.
    strides : tuple of int, or None
        Of a leaf: None if it is row-major.
    scalar : bool
        Whether it is one value, not memory.
    fixed : int
        What is fixed of the shape (`node.FREE`, `RANK`, `SHAPE`; of scalars more than that): the
        least of what is of the operands'.
    itemsize : int
        Bytes per element.
    formed : bool
        Whether a part is a `Form`, so that extents are part of the kind.
    items : int
        Length of the tuple of operands.
    weight : int
        Number of operations, shared ones counted each time.
    apart : bool
        Whether a part may be computed before the rest: a fold, or what NumPy computes.
    hosted : bool
        Whether NumPy runs the last operation.
    expensive : bool
        Whether computing it again takes longer than reading it: what folds, joins or gathers,
        costly operations and many cheap ones.
    noted : bool
        Whether it is noted that a result is used, so that its values are kept when it is used
        again: what is expensive, and of few elements also what has several operations.
    table : dict
        Next kinds: by the operation that leads there, then by what else it takes, a kind or a
        class of numbers (None: nothing).
    places : dict
        Of a leaf: all leaves of its dtype, by rank if they are row-major, else by strides.
    stored : frozenset of type
        Of a leaf: the numbers that NumPy stores in its memory as we do.
    owner : type, tuple or None
        Of a leaf: the class of containers that own such memory; None for the usual one.  Where the
        shape is part of the class: the newest shape and its class, and the classes by shape.
    begun : int
        Evaluations that were interpreted (`runtime.tiers`).
    fresh : object
        The program that evaluates into new memory; None as long as it is not known, False if
        there is none.
    pieces : tuple, False or None
        The launches that compute it of which parts are folds (`assignment.parts`); False if other
        programs do, None as long as it is not known.
    writes : dict
        Programs that evaluate into existing memory, by its kind; plans for one shape of that
        (`runtime.replay.Rewrite`), by the kind and the shape.
    replays : dict
        Plans for one shape (`runtime.replay`), by the extents of the result and of what is folded:
        none yet where the first ones were only counted, False if there is none.
    plans : dict
        Plans for large work (`runtime.bound`), by the destination's kind, the extents, and which
        operands are the same: False if there is none.
    """

    __slots__ = (
        "apart",
        "args",
        "begun",
        "dtype",
        "expensive",
        "fixed",
        "formed",
        "fresh",
        "hosted",
        "items",
        "itemsize",
        "noted",
        "op",
        "owner",
        "pieces",
        "places",
        "plans",
        "rank",
        "replays",
        "scalar",
        "stored",
        "strides",
        "table",
        "weight",
        "writes",
    )

    def __init__(
        self,
        op: Op | Reduction | Form | None,
        args: tuple[Kind, ...],
        dtype: DType,
        rank: int,
        items: int,
        strides: Shape | None = None,
        scalar: bool = False,
        fixed: int = FREE,
    ) -> None:
        self.op = op
        self.args = args
        self.dtype = dtype
        self.itemsize = dtype.itemsize
        self.rank = rank
        self.strides = strides
        self.scalar = scalar
        self.fixed = fixed
        self.items = items
        self.formed: bool = isinstance(op, Form) or any([arg.formed for arg in args])
        self.weight: int = 1 + sum([arg.weight for arg in args])
        folds, loops = isinstance(op, Reduction), tuple([arg.dtype for arg in args])
        self.hosted: bool = isinstance(op, Op) and op.body(loops) is None
        self.apart: bool = self.hosted or folds or any([arg.apart for arg in args])
        own = folds or (isinstance(op, Op) and op.cost >= COSTLY)
        long = self.weight > _MANY
        self.expensive: bool = own or long or any([arg.expensive for arg in args])
        self.noted: bool = self.expensive or self.weight > _ONE
        self.table: dict[Any, dict[Any, Any]] = {}
        self.places: dict[Any, Kind] = {}
        known = _STORED.get(dtype.char, _NONE) | {dtype.type}
        self.stored: frozenset[type] = known if op is None and not scalar else _NONE
        self.owner: Any = None
        if op is None and not scalar and fixed != FREE:
            self.owner = (None, None, {}) if fixed == SHAPE else OWNERS[fixed](dtype, ())
        self.begun = 0
        self.fresh: Any = None
        self.pieces: Any = None
        self.writes: dict[Any, Any] = {}
        self.replays: dict[Any, Any] = {}
        self.plans: dict[Any, Any] = {}

    def beside(self, shape: Shape, strides: Shape) -> Kind:
        """Return the kind of other elements in memory of this leaf's dtype."""
        expected, k = 1, len(shape)
        while k:
            k -= 1
            extent = shape[k]
            if extent != 1:
                if strides[k] != expected and 0 not in shape:
                    return self._strided(strides)
                expected *= extent
        known = self.places.get(len(shape))
        if known is not None:
            return known
        return row_major(self.dtype, len(shape), min(self.fixed, RANK))

    def loose(self) -> Kind:
        """Return the kind of the same leaf where of its shape at most the rank is fixed."""
        if self.fixed != SHAPE:
            return self
        places = row_major(self.dtype, self.rank, RANK)
        return places if self.strides is None else places._strided(self.strides)

    def _strided(self, strides: Shape) -> Kind:
        known = self.places.get(strides)
        if known is not None:
            return known
        fixed = min(self.fixed, RANK)
        made = Kind(None, (), self.dtype, len(strides), 2, strides, False, fixed)
        made.places = self.places
        return kept(self.places, strides, made, _LIMIT)

    def owned(self, shape: Shape) -> Any:
        """Return the class of containers of a leaf's kind; None for the usual one."""
        if self.owner.__class__ is not tuple:
            return self.owner
        known = self.owner[2]
        found = known.get(shape)
        if found is None:
            found = kept(known, shape, OWNERS[SHAPE](self.dtype, shape), _LIMIT)
            self.owner = (one_of_equal(shape), found, known)
        return found

    def learn(self, op: object, other: object, entry: object) -> None:
        """Remember where an operation leads, with another kind or a class of numbers."""
        kept(self.table.setdefault(op, {}), other, entry, _LIMIT)

    def leads(self, op: object, other: object) -> Any:
        """Return where an operation leads; None if it is not known."""
        entries = self.table.get(op)
        return None if entries is None else entries.get(other)

    def keep(self, key: Any, program: object) -> None:
        """Remember the program that writes into memory of a kind."""
        if self is not NODE:
            kept(self.writes, key, program, _LIMIT)

    def __repr__(self) -> str:
        if self.op is not None:
            return f"{self.op.name}({', '.join(map(repr, self.args))})"
        place = "" if self.strides is None else f", strides {self.strides}"
        return f"{self.dtype.name}{'' if self.scalar else f'[rank {self.rank}{place}]'}"


#: The kind of expressions that have none; its table stays empty, and nothing has its dtype.
NODE = Kind(None, (), np.dtype(np.void), 0, 0)
NODE.stored = _NONE

_kinds: dict[object, Kind] = {}


def one_of_equal(shape: Shape) -> Shape:
    """Return the same tuple for all equal shapes, as long as not too many others are asked for."""
    if len(_SHAPES) >= _LIMIT:
        _SHAPES.clear()
    return _SHAPES.setdefault(shape, shape)


def owner_class(fixed: int, dtype: DType, shape: Shape) -> Any:
    """Return the class of a result of which so much is fixed."""
    return OWNERS[fixed if fixed in OWNERS else FREE](dtype, shape)


#: Leaves, fixed in rank or not, of each dtype: by rank if they are row-major, else by strides.
PLACES: dict[int, dict[DType, dict[Any, Kind]]] = {FREE: {}}


def _interned(key: object, *parts: Any) -> Kind:
    known = _kinds.get(key)
    if known is None:
        known = kept(_kinds, key, Kind(*parts), _LIMIT)
    return known


def _leaves() -> list[Kind]:
    return [leaf for own in PLACES.values() for ranks in own.values() for leaf in ranks.values()]


def forget_programs() -> None:
    """Forget the programs of all kinds that are found by look-up, and what was counted of them."""
    for kind in [*_kinds.values(), *_leaves()]:
        kind.begun, kind.fresh = 0, None
        kind.writes.clear()
        kind.replays.clear()
        kind.plans.clear()


def row_major(dtype: DType, rank: int, fixed: int = FREE) -> Kind:
    """Return the kind of row-major memory."""
    if fixed == SHAPE:
        return _shaped(row_major(dtype, rank, RANK))
    made = _interned((dtype, rank, fixed), None, (), dtype, rank, 2, None, False, fixed)
    places = PLACES.setdefault(fixed, {}).setdefault(dtype, made.places)
    if made.places is not places or rank not in places:
        made.places = places
        places[rank] = made
    return made


def _shaped(loose: Kind) -> Kind:
    """Return the kind of memory of a fixed shape; views of it are fixed in rank alone."""
    key = (loose.dtype, loose.strides, loose.rank, SHAPE)
    made = _interned(key, None, (), loose.dtype, loose.rank, 2, loose.strides, False, SHAPE)
    made.places = loose.places
    return made


def leaf(dtype: DType, place: Strided, fixed: int = FREE) -> Kind:
    """Return the kind of elements in strided memory."""
    return leaf_of(dtype, place.shape, place.strides, fixed)


def leaf_of(dtype: DType, shape: Shape, strides: Shape, fixed: int = FREE) -> Kind:
    """Return the kind of elements of a shape that lie with strides."""
    made = row_major(dtype, len(shape), min(fixed, RANK)).beside(shape, strides)
    return _shaped(made) if fixed == SHAPE else made


def scalar(dtype: DType) -> Kind:
    """Return the kind of a value that is passed to kernels at run time."""
    return _interned(dtype, None, (), dtype, 0, 1, None, True, SHAPE + 1)


def elementwise(op: Op, dtype: DType, args: tuple[Kind, ...]) -> Kind:
    """Return the kind of an operation on kinds whose ranks are those of their shapes' ends."""
    rank = max([arg.rank for arg in args])
    items = sum([arg.items for arg in args])
    fixed = min([arg.fixed for arg in args])
    return _interned((op, dtype, args), op, args, dtype, rank, items, None, False, fixed)


def reduction(op: Reduction, arg: Kind) -> Kind:
    """Return the kind of a fold over all dimensions."""
    fixed = arg.fixed if arg.fixed > SHAPE else min(arg.fixed, RANK)
    return _interned((op, arg), op, (arg,), arg.dtype, 0, 1 + arg.items, None, False, fixed)


def formed_like(key: tuple[object, ...]) -> Kind | None:
    """Return the form of a structure, if there is one."""
    return _kinds.get(("form", key))


def formed(key: tuple[object, ...], root: Node, items: int, fixed: int, weight: int) -> Kind:
    """Return the form of a structure, which is that of an expression over no memory."""
    parts = (Form(root), (), root.dtype, len(root.shape), items, None, False, fixed)
    made = _interned(("form", key), *parts)
    made.weight = weight
    made.expensive = weight > _MANY or any([_is_expensive(node) for node in postorder(root)])
    made.noted = made.expensive or weight > _ONE
    return made


def _is_expensive(node: Node) -> bool:
    if isinstance(node, Elementwise):
        return node.op.cost >= COSTLY
    return not isinstance(node, (Leaf, Scalar, View))


def strides_of(kind: Kind, shape: Shape) -> Shape:
    """Return a leaf's strides, in elements."""
    return row_major_strides(shape) if kind.strides is None else kind.strides


def stretched_strides(strides: Shape, stretched: Sequence[bool]) -> Shape:
    """Return the strides of memory of which some extents of 1 are stretched."""
    return tuple([0 if still else s for s, still in zip(strides, stretched, strict=True)])


def stretched_leaf(leaf: Kind, stretched: Sequence[bool]) -> Kind | None:
    """Return the kind of memory of which some extents of 1 are stretched.

    None where the strides of what is not stretched follow from extents.
    """
    if leaf.op is not None or leaf.scalar or (leaf.strides is None and leaf.rank > 2):
        return None
    if not any(stretched):
        return leaf
    # A row-major matrix of one column has strides of 1, one of one row has none that count.
    strides = (1,) * leaf.rank if leaf.strides is None else leaf.strides
    made = leaf.loose()._strided(stretched_strides(strides, stretched))
    return _shaped(made) if leaf.fixed == SHAPE else made


def parts_of(kind: Kind) -> Iterator[Kind]:
    """Yield a kind and all that it is made of, in the order of the operands."""
    stack = [kind]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(reversed(top.args))


def leaves_of(kind: Kind) -> Iterator[Kind]:
    """Yield the leaves and scalars of a kind in the order of the operands."""
    return (part for part in parts_of(kind) if part.op is None)


def folds_inside(body: Kind) -> bool:
    """Tell whether a part of a kind is a fold over all dimensions."""
    return any([isinstance(part.op, Reduction) for part in parts_of(body)])
