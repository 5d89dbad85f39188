"""Bands: blocks of a result that have all that is folded for them.

An expression such as ``(a - mean(a, axis=0)) / std(a, axis=0)`` folds along one dimension and gives
results along the others.  Pass by pass it reads ``a`` three times.  A block that spans the folded
dimension reads what it needs once, and is an ordinary expression over memory, folds included.  That
is worth it where bands read less than the passes would.  No bit depends on it: what is folded in a
band is folded in the parts of the tree (`compiler.tree`) that the fold has in the whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._errors import SizeError
from ..compiler.tree import Tree
from ..dtypes.names import NumpyArray
from ..ir.node import Node, Reduce
from ..ir.walk import postorder, rebuild, with_args
from ..runtime import evaluate as engine
from . import folds
from .cut import is_even, read_by
from .parcel import Parcel
from .piece import ENOUGH, Compute, Piece, piece_of
from .plan import WORTH, Choice, Cutter, choose
from .selection import Box, whole
from .trees import in_memory, tree_in_memory

Trees = tuple[Tree | None, ...]


class Bands(Cutter):
    """Cuts blocks that have all that is folded for them.

    Parameters
    ----------
    parcel : Parcel
        The expression.
    trees : tuple of Tree or None
        How what is folded in it is folded, in the order of its nodes; None where that is the same.
    spread : bool
        As of `Piece`.
    """

    __slots__ = ("trees",)

    def __init__(self, parcel: Parcel, trees: Trees, spread: bool) -> None:
        super().__init__(parcel, spread)
        self.trees = trees

    def __call__(self, box: Box) -> Piece:
        """Return the block in a box."""
        return replace(super().__call__(box), fold=self.fold)

    def fold(self, root: Node, compute: Compute) -> Node:
        """Return a block over memory with what is folded in it evaluated."""
        trees = iter(self.trees)

        def visit(node: Node, args: tuple[Node, ...]) -> Node:
            new = with_args(node, args)
            tree = next(trees) if isinstance(new, Reduce) else None
            if tree is None or not isinstance(new, Reduce):
                return new
            folded = in_memory(new, tree, compute)
            assert folded is not None, "tried before"
            return folded

        return rebuild(root, visit)

    def fits(self, box: Box) -> bool:
        """Tell whether a block can be folded as the whole is, in memory that is there."""
        piece = piece_of(self.parcel.node, box)
        inner = _folds_of(piece.node)
        return (
            len(inner) == len(self.trees)
            and sum([math.prod(node.shape) * node.dtype.itemsize for node in inner])
            <= max(piece.inputs, piece.nbytes)
            and all(
                [
                    tree is None or in_memory(node, tree, _zeros, self.spread) is not None
                    for node, tree in zip(inner, self.trees, strict=True)
                ]
            )
        )


def choose_bands(
    root: Node, chunks: Sequence[int], budget: int, fixed: bool, known: Sequence[int] | None
) -> tuple[Bands, Choice] | None:
    """Return blocks that have all that is folded for them; None if passes are better, or needed.

    Parameters
    ----------
    root : Node
        The expression, without folds of what is in memory.
    chunks, budget, fixed, known
        As `choose` takes them.
    """
    inner = _folds_of(root)
    if not inner or not math.prod(root.shape) or not is_even(root):
        return None
    passes = sum([_moved(part) for part in [root, *[node.arg for node in inner]]])
    once = piece_of(root, whole(root.shape)).moved
    if once > WORTH * passes:
        return None
    order = []
    for node in inner:
        rounds = folds.rounds(node) and not engine.uses_reference()
        tree = tree_in_memory(node) if rounds else None
        if rounds and tree is None:
            return None
        order.append(tree)
    for spread in (False, True):
        make = Bands(Parcel(root), tuple(order), spread)
        try:
            choice = choose(make, chunks, budget, fixed, known=known)
        except SizeError:
            return None
        grid = choice.grid
        if choice.rate * math.prod(root.shape) > once / WORTH:
            return None
        if len(grid) == 1 and choice.size > 2 * ENOUGH:
            return None  # reading, computing and writing would follow each other
        if all([make.fits(box) for box in grid.ends(False)]):
            return make, choice
    return None


def _folds_of(root: Node) -> list[Reduce]:
    return [node for node in postorder(root) if isinstance(node, Reduce)]


def _moved(root: Node) -> int:
    """Return the bytes that a pass over an expression reads, what is folded in it apart."""
    return sum([source.moved(whole(source.shape)) for source in read_by(root)])


def _zeros(node: Node) -> NumpyArray:
    return np.zeros(node.shape, node.dtype)
