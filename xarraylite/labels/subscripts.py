"""Subscripts of `einsum`: what their text says of operands and of the result."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any

from .._errors import ShapeError
from ..ir.build import describe
from ..ir.node import Node
from .labelled import Labels


@functools.lru_cache(256)
def ranks_of_matmul(spec: str) -> tuple[int, int, bool] | None:
    """Return the ranks of vectors or matrices whose `@` a spec of `einsum` says; else None.

    With whether that is the product with the second one transposed.
    """
    given, arrow, result = spec.replace(" ", "").partition("->")
    left, _, right = given.partition(",")
    if not (left + right).isalpha() or not (left and right):
        return None
    flipped = len(right) == 2 and left[-1] == right[1]
    right = right[::-1] if flipped else right
    if left[-1] != right[0]:
        return None
    kept = left[:-1] + right[1:]
    wanted = result if arrow else "".join(sorted(kept))
    plain = kept == wanted and len({*kept, left[-1]}) == len(kept) + 1
    return (len(left), len(right), flipped) if plain and max(len(left), len(right)) <= 2 else None


@functools.lru_cache(256)
def summed_alone(spec: str) -> tuple[str, tuple[tuple[int, tuple[int, ...]], ...]] | None:
    """Return a spec of `einsum` without the labels that are summed and that one operand alone has.

    With it go the rank of each operand and its axes that are to be summed first.  None where there
    are no such labels.
    """
    given, arrow, out = spec.replace(" ", "").partition("->")
    if not arrow or not given.replace(",", "").isalpha():
        return None
    groups = given.split(",")
    alone = {k for k in given if given.count(k) == 1 and k != "," and k not in out}
    refused = not {*out} <= {*given} or len({*out}) < len(out)  # in words of what was written
    if not alone or refused:
        return None
    kept = ["".join([k for k in group if k not in alone]) for group in groups]
    axes = [(len(g), tuple([d for d, k in enumerate(g) if k in alone])) for g in groups]
    return f"{','.join(kept)}->{out}", tuple(axes)


def read(spec: str, operands: Sequence[Node]) -> tuple[list[Labels], Labels]:
    """Return the labels of operands and result, which fit the operands."""
    shown = f"einsum({spec!r}, {', '.join([describe(node) for node in operands])})"
    inputs, out = _parsed(spec, [len(node.shape) for node in operands], shown)
    for labels, node in zip(inputs, operands, strict=True):
        if len(labels) != len(node.shape):
            raise ShapeError(
                f"{shown}: {''.join(labels)!r} labels {len(labels)} dimensions of {describe(node)}"
            )
    known = {label for labels in inputs for label in labels}
    for k, label in enumerate(out):
        if label not in known:
            raise ShapeError(f"{shown}: label {label!r} of the result is in no operand")
        if label in out[:k]:
            raise ShapeError(f"{shown}: label {label!r} occurs twice in the result")
    return inputs, out


def _parsed(spec: str, ranks: list[int], shown: str) -> tuple[list[Labels], Labels]:
    """Return the labels of operands and result; dimensions of an ellipsis are numbered."""
    left, arrow, right = spec.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(ranks):
        raise ShapeError(f"{shown}: {len(texts)} groups of labels for {len(ranks)} operands")
    widths = [
        rank - len(text.replace("...", "")) if "..." in text else 0
        for text, rank in zip(texts, ranks, strict=True)
    ]
    if min(widths) < 0:
        raise ShapeError(f"{shown}: more labels than dimensions beside an ellipsis")
    width = max(widths)
    inputs = [_letters(t, w, width, shown) for t, w in zip(texts, widths, strict=True)]
    if arrow:
        if width and "..." not in right:
            raise ShapeError(f"{shown}: the dimensions of an ellipsis stay; the result needs one")
        return inputs, _letters(right, width, width, shown)
    uses = [label for labels in inputs for label in labels if not label[0].isdigit()]
    single = sorted([label for label in set(uses) if uses.count(label) == 1])
    return inputs, (*_numbered(width, width), *single)


def _letters(text: str, own: int, width: int, shown: str) -> Labels:
    """Return the labels of one operand; its ellipsis stands for the last ``own`` of ``width``."""
    head, dots, tail = text.partition("...")
    for letter in head + tail:
        if not (letter.isascii() and letter.isalpha()):
            raise ShapeError(
                f"{shown}: {letter!r} is no label; labels are letters, and an operand has at most "
                "one ellipsis"
            )
    return (*head, *(_numbered(own, width) if dots else ()), *tail)


def _numbered(own: int, width: int) -> Labels:
    """Return the labels of an ellipsis, aligned at the right; no letter is among them."""
    return tuple([f"{k}" for k in range(width - own, width)])


def lettered(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return subscripts that are lists of numbers as text, and the operands between them."""
    count = len(given) // 2
    try:
        groups = ["".join([_letter(k) for k in part]) for part in given[1 : 2 * count : 2]]
        end = ["".join([_letter(k) for k in part]) for part in given[2 * count :]]
    except (TypeError, IndexError) as error:
        raise ShapeError(
            f"einsum: lists of numbers from 0 to 51 are subscripts ({error})"
        ) from None
    return "->".join([",".join(groups), *end]), given[: 2 * count : 2]


#: Numbers of dimensions as letters, in an order that is that of the numbers.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _letter(number: Any) -> str:
    if number is Ellipsis:
        return "..."
    if operator.index(number) < 0:
        raise IndexError(f"{number} is negative")
    return _LETTERS[operator.index(number)]
