"""What kinds learn when an operation is written for the first time, and where the next one leads.

What is looked up is the kind, the shape and the operands of an operation's result; None where
nothing like it was written before, where a number does not fit, or while a function is traced.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from ..dtypes.names import bool_, int64, is_narrow_float, kind
from ..dtypes.promotion import int_bounds
from ..index.transform import Transform
from ..ir.build import CAST, rounder
from ..ir.kind import NODE, Form, Kind, Operands, stretched_leaf, strides_of
from ..ir.node import Elementwise, Node, Shape
from ..ir.simplify import POWER, POWERS, applied, simpler
from ..ir.translation import of_parts
from ..ir.walk import interned
from ..layout.strided import Strided
from ..ops.op import Op
from ..ops.reductions import Reduction
from . import tracing
from .nodes import NUMBERS, Gathers, HasNode, as_item, ends

#: The kind, the shape and the operands of a result.
Found: TypeAlias = tuple[Kind, Shape, Operands]

#: Which extents of each of two operands are stretched.
Marks = tuple[tuple[bool, ...], tuple[bool, ...]]


def key_of(operand: object) -> object:
    """Return what stands for an operand in a key of a kind's table."""
    if isinstance(operand, HasNode):
        return operand._kind
    return operand.__class__


def key_beside(first: object, operand: object) -> object:
    """Return what stands for the second or third of three operands in a key; of one shape or not.

    Where it is stretched, its kind would not tell along which extents.
    """
    if isinstance(operand, HasNode) and operand._shape != getattr(first, "_shape", None):
        return operand._kind, operand._shape, getattr(first, "_shape", None)
    return key_of(operand)


def learn(key: tuple[Any, ...], op: Op, operands: tuple[object, ...], made: HasNode) -> None:
    """Remember where an operation leads, where its result has all operands one after the other.

    Nothing is learned of no elements: what they lie like is nothing that others could rely on.
    """
    if 0 in made._shape:
        return
    if len(operands) == 3:
        _learn_three(key, op, operands, made)
        return
    if isinstance(made._kind.op, Form) or _is_stretched(operands):
        _learn_stretched(op, operands, made)
        return
    own = next((x for x in operands if isinstance(x, HasNode)), None)
    if own is None:
        return
    numbers = [x for x in operands if x.__class__ in NUMBERS]
    if op is POWER and numbers and operands[0] is own:
        learn_power(own, operands[1], made)
        return
    if not _follow(operands, made):
        return
    if not numbers:
        own._kind.learn(key[0], key[1], made._kind)  # the key names the second operand's kind
        return
    leaf = _scalar_of(made._kind, 0 if operands[0] is not own else -1)
    if leaf is None:
        return
    whole = numbers[0].__class__ is int and kind(own._kind.dtype) in "biu"
    usual = int64 if own._kind.dtype == bool_ else own._kind.dtype
    if op.scalars is not None and whole and leaf.dtype != usual:
        return  # a comparison with what the dtype does not hold is another one
    own._kind.learn(key[0], key[1], (made._kind, *_range(leaf)))


def _is_stretched(operands: tuple[object, ...]) -> bool:
    """Tell whether the shapes of two operands are neither alike nor one the other's end."""
    shapes = sorted([x._shape for x in operands if isinstance(x, HasNode)], key=len)
    return len(shapes) == 2 and shapes[1][len(shapes[1]) - len(shapes[0]) :] != shapes[0]


def _follow(operands: tuple[object, ...], made: HasNode) -> bool:
    """Tell whether what a result is made of are these operands, one after the other.

    Their number would not tell: the copy that stands for a result has as many as a sine has. A
    number may have become another one, of the dtype it is computed in.
    """
    rest = [*made.now()]
    for x in operands:
        own = x.now() if isinstance(x, HasNode) else rest[: x.__class__ in NUMBERS]
        if not own or len(own) > len(rest) or not all(map(_is_item, own, rest)):
            return False
        del rest[: len(own)]
    return not rest


def _is_item(own: Any, found: Any) -> bool:
    """Tell whether an operand is another, or a number that float32 makes the other."""
    if own.__class__ in (float, complex) and found.__class__ in (float, complex):
        return own == found or cmath.isclose(own, found, rel_tol=2.0**-24, abs_tol=0.0)
    return own is found or own == found


def learn_power(base: HasNode, exponent: object, made: HasNode) -> None:
    """Remember where a power leads, by the exponent where that tells what is computed.

    What is remembered has an entry for each such exponent, and one of all others under None.
    """
    if is_square_of_bools(POWER, (base, exponent)):
        return
    if base._kind is NODE or made._kind is NODE or exponent.__class__ not in NUMBERS:
        return
    known = base._kind.leads(POWER, exponent.__class__) or dict.fromkeys(POWERS)
    entry: Any = None
    leaf = _scalar_of(made._kind, -1) if _follow((base, exponent), made) else None
    if leaf is not None:
        low, high = _range(leaf)
        entry = made._kind, 0 if low.__class__ is int else low, high  # negative ones are refused
    elif exponent in POWERS and (own := [*base.now()]):
        items = [*made.now()]  # of the base alone, once or several times; a form's may be more
        entry = made._kind if items == own * (len(items) // len(own)) else None
    if entry is not None:
        place = exponent if exponent in POWERS else None
        base._kind.learn(POWER, exponent.__class__, known | {place: entry})


def is_square_of_bools(op: Op, operands: tuple[Any, ...]) -> bool:
    """Tell whether an operation is a power of bools that ``**`` is not, but their square, int8."""
    if op is not POWER or operands[1].__class__ is not int or operands[1] != 2:
        return False
    base = operands[0]
    return isinstance(base, HasNode) and base._kind is not NODE and base._kind.dtype == bool_


def power_of_form(op: Op, operands: tuple[Any, ...], apply: Callable[..., Any]) -> Any:
    """Return a power of a form, made of what is known of its parts; None of all others."""
    base = operands[0]
    if op is not POWER or tracing.running.value or not isinstance(base, HasNode):
        return None
    formed = base._kind.formed and kind(base._kind.dtype) in "fc"
    term = simpler(op, operands, base._kind.dtype) if formed else None
    if term is None:
        return None
    made: HasNode = applied(term, base, apply)
    learn_power(base, operands[1], made)
    return made


def of_number(found: Any, number: object) -> Any:
    """Return where an operation with a number leads: of a power it depends on the number."""
    if found.__class__ is not dict:
        return found
    return found.get(number if number in found else None)


def stretched_key(left: HasNode, right: HasNode) -> tuple[object, ...]:
    """Return what stands for two operands, extents of which are stretched, in a kind's table."""
    return (right._kind, left._shape, right._shape)


def pattern_key(right: Kind, marks: Marks) -> tuple[object, ...]:
    """Return what stands for two operands in memory, whatever extents they have."""
    return ("stretched", right, *marks)  # no shapes: the extent 1 is True


def marks_of(left: Shape, right: Shape) -> tuple[Shape, Marks] | None:
    """Return the shape of two operands together, and which extents of each are stretched.

    None if an extent is 0, or they do not fit.
    """
    most, few = (left, right) if len(left) >= len(right) else (right, left)
    skip = len(most) - len(few)
    shape, wide, narrow = [*most], [False] * len(most), [False] * len(few)
    for k, n in enumerate(few):
        m = most[skip + k]
        if m != n:
            wide[skip + k], narrow[k] = m == 1, n == 1
            if not (m == 1 or n == 1):
                return None
            shape[skip + k] = n if m == 1 else m
    if 0 in shape:
        return None
    marks = (tuple(wide), tuple(narrow))
    return tuple(shape), marks if most is left else marks[::-1]


def _learn_stretched(op: Op, operands: tuple[object, ...], made: HasNode) -> None:
    """Remember where an operation on two operands of other shapes leads, and its shape.

    Where both are memory whose strides tell what those of the stretched are, for all extents.
    """
    if len(operands) != 2:
        return
    left, right = operands
    if isinstance(left, HasNode) and isinstance(right, HasNode) and left._kind is not NODE:
        items = [*left.now(), *right.now()]
        if right._kind is NODE or items != [*made.now()]:
            return
        left._kind.learn(op, stretched_key(left, right), (made._kind, made._shape))
        found = marks_of(left._shape, right._shape)
        if found is None or made._kind.formed:
            return
        kinds = (left._kind, right._kind)
        expected = [stretched_leaf(x, own) for x, own in zip(kinds, found[1], strict=True)]
        # A conversion counts as what it is of.
        if expected == [arg.args[0] if arg.op is CAST else arg for arg in made._kind.args]:
            left._kind.learn(op, pattern_key(right._kind, found[1]), made._kind)


def _learn_three(key: tuple[Any, ...], op: Op, operands: tuple[object, ...], made: HasNode) -> None:
    """Remember where an operation on three operands leads, the first of the result's shape.

    The first operand's kind has a table for each key of the second, by the key of the third; an
    entry has the kind, and for each of the two None, or a tuple whose last two items are the
    least and the greatest number.
    """
    first, kind = operands[0], made._kind
    if not isinstance(first, HasNode) or first._shape != made._shape or isinstance(kind.op, Form):
        return
    bounds: list[Any] = []
    for number, operand in enumerate(operands[1:], 1):
        if isinstance(operand, HasNode):
            bounds.append(None)
            continue
        leaf = _scalar_of(kind, number)
        if operand.__class__ not in NUMBERS or op.scalars is not None or leaf is None:
            return
        bounds.append((None, *_range(leaf)))
    if _follow(operands, made):
        known = first._kind.leads(op, key[1]) or {}
        known = known if len(known) < _THIRD else {}
        first._kind.learn(op, key[1], known | {key[2]: (kind, *bounds)})


def _scalar_of(kind: Kind, number: int) -> Kind | None:
    """Return the kind of one of an operation's operands, if it is a scalar."""
    if not kind.args:  # a form
        return None
    leaf = kind.args[number]
    while leaf.args:  # converted
        leaf = leaf.args[0]
    return leaf if leaf.scalar else None


def _range(leaf: Kind) -> tuple[Any, Any]:
    """Return the least and greatest value of an integer scalar, None of a float.

    Of other numbers that is what makes a Python number one among the operands; of short floats also
    what it made of some.
    """
    which = kind(leaf.dtype)
    if which == "c":
        return complex, None
    if which == "f":
        return rounder(leaf.dtype) if is_narrow_float(leaf.dtype) else (None, None)
    return (0, 1) if which == "b" else int_bounds(leaf.dtype)


def learn_conversion(x: HasNode, dtype: object, made: HasNode) -> None:
    """Remember where a conversion to another dtype, or to what names one, leads."""
    if x._kind is not NODE and 0 not in x._shape and _follow((x,), made):
        x._kind.learn(CAST, dtype, made._kind)


def learn_fold(op: Reduction, x: object, made: object) -> None:
    """Remember where a fold over all dimensions leads."""
    if not isinstance(x, HasNode) or not isinstance(made, HasNode) or x._kind is NODE:
        return
    if x._shape and 0 not in x._shape and made.now()[1:] == x.now():
        x._kind.learn(op, None, made._kind)


#: The key of products in the tables of kinds, and multiplications below which they are remembered:
#: of matrices those that take a millisecond, beside which planning is nothing, and of vectors those
#: for which BLAS has no threads.
PRODUCT = "matmul"
_OF_MATRICES, _OF_VECTORS = 1 << 24, 1 << 18

#: Third operands that are remembered beside two others, then they begin anew.
_THIRD = 64

#: Shapes of which products of two kinds are remembered.
_SHAPES = 8

#: Elements that BLAS adds up in one dot product (`blas.calls.DOT`), and of whole
#: numbers those that no kernel adds up (`labels.lowering.SMALL`).
_DOT, _SUMMED = 1 << 13, 1 << 12


def learn_product(
    left: HasNode, right: Any, made: Any, in_place: bool, stacked: bool = False
) -> None:
    """Remember the shapes of matrices or vectors that are multiplied, and the result.

    Strided ones only where BLAS read them ``in_place``, and others than matrices and vectors only
    where NumPy was given them as they are (``stacked``).
    """
    if not isinstance(right, HasNode) or made.lasting or tracing.running.value:
        return
    one, other = left._kind, right._kind
    if one is NODE or other is NODE or one.dtype is not other.dtype:
        return
    strides = [*(one.strides or ()), *(other.strides or ())]
    if strides and (not in_place or min(strides) <= 0 or one.dtype.char in "FD"):
        return
    if one.dtype.char not in "fdFD?bBhHiIlLqQ" or not (stacked or max(one.rank, other.rank) <= 2):
        return
    if one.dtype.char not in "fdFD" and made._shape == () and left._shape[0] > _SUMMED:
        return
    extents = (*left._shape, *right._shape[1:])
    if not is_learned(made._shape, left._shape[-1], not strides) or (
        1 in extents and one.dtype.char in "FD"
    ):
        return  # complex numbers are multiplied one by one there, and rounded otherwise
    shapes, entry = (left._shape, right._shape, made._shape), None
    others = [known for known in _entries(one.leads(PRODUCT, other)) if known[:3] != shapes]
    for known in reversed(others[: _SHAPES - 1]):
        entry = (*known[:-1], entry)
    one.learn(PRODUCT, other, (*shapes, made._buffer.made, made._kind, entry))


def learned_product(left: HasNode, right: HasNode) -> tuple[Any, ...] | None:
    """Return what is remembered of the product of two operands of such shapes.

    Their shapes, the result's, what `explain` is told of it, and its kind.
    """
    for known in _entries(left._kind.leads(PRODUCT, right._kind)):
        if known[0] == left._shape and known[1] == right._shape:
            return known
    return None


def is_learned(shape: Shape, inner: int, dense: bool = True) -> bool:
    """Tell whether a product of such a shape, of so many terms each, is one call of BLAS.

    Or of `blas.calls.dot`, which makes dot products of vectors in a row of several sums.
    """
    if math.prod(shape) == 1 and inner > _DOT:
        return dense and shape == ()
    return 0 < math.prod(shape) * inner < (_OF_MATRICES if len(shape) == 2 else _OF_VECTORS)


def _entries(entry: Any) -> Iterator[tuple[Any, ...]]:
    """Yield what is remembered of products of two kinds, each of which has the next."""
    while entry is not None:
        yield entry
        entry = entry[-1]


# --- looked up -------------------------------------------------------------------------------


def operation(key: tuple[Any, Any], operands: tuple[object, ...]) -> Found | None:
    """Look up an operation on one operand, or on two of which the first or the second is a number.

    Of two arrays the shape of one is the end of the other's.
    """
    mine = [x for x in operands if isinstance(x, HasNode)]
    found = mine[0]._kind.leads(*key) if mine else None
    found = of_number(found, operands[-1])
    if found is None or tracing.running.value:
        return None
    shape = mine[0]._shape
    try:
        if found.__class__ is not tuple:
            shape = shape if len(mine) == 1 else ends(shape, mine[1]._shape)
            items = sum([x.now() for x in mine], ())
            return found, shape, items * (found.items // max(len(items), 1))  # a power
        kind, low, high = found
        parts: list[Operands] = [
            x.now() if isinstance(x, HasNode) else (as_item(x, low, high),) for x in operands
        ]
        return kind, shape, sum(parts, ())
    except KeyError:
        return None


def of_forms(node: Node, op: Op, operands: tuple[object, ...]) -> Found | None:
    """Return a new operation, of whose operands one has a form; None of all others."""
    if tracing.running.value or not isinstance(node, Elementwise) or node.op is not op:
        return None
    if not _has_forms(operands):
        return None
    parts = [(x._kind, x.now()) if isinstance(x, HasNode) else None for x in operands]
    found = of_parts(node, parts)
    return None if found is None else (found[0], node.shape, found[1])


def shared(node: Node, operands: tuple[object, ...]) -> Node:
    """Return a new operation that has no kind; forms among its operands have parts in common."""
    return interned(node) if _has_forms(operands) else node


def _has_forms(operands: tuple[object, ...]) -> bool:
    return any([isinstance(x, HasNode) and x._kind.formed for x in operands])


def three(op: Op, keys: tuple[object, object], operands: tuple[object, ...]) -> Found | None:
    """Look up an operation on three operands, the first of them an array of the result's shape."""
    first = operands[0]
    known = first._kind.leads(op, keys[0]) if isinstance(first, HasNode) else None
    entry = None if known is None else known.get(keys[1])
    if entry is None or not isinstance(first, HasNode) or tracing.running.value:
        return None
    kind, *bounds = entry
    pairs = zip(operands[1:], bounds, strict=True)
    try:
        parts: list[Operands] = [
            x.now() if isinstance(x, HasNode) else (as_item(x, *bound[1:]),) for x, bound in pairs
        ]
    except KeyError:
        return None
    return kind, first._shape, sum(parts, first.now())


def stretched(op: Op, left: object, right: object) -> Found | None:
    """Look up an operation on two arrays, extents of which are stretched."""
    if not isinstance(left, HasNode) or not isinstance(right, HasNode):
        return None
    if tracing.running.value or op not in left._kind.table:
        return None
    known = left._kind.leads(op, stretched_key(left, right))
    if known is not None:
        return (*known, left.now() + right.now())
    found = marks_of(left._shape, right._shape)
    kind = None if found is None else left._kind.leads(op, pattern_key(right._kind, found[1]))
    return None if found is None or kind is None else (kind, found[0], left.now() + right.now())


def fold(op: Reduction, x: object) -> Found | None:
    """Look up a fold over all dimensions."""
    if not isinstance(x, HasNode) or tracing.running.value:
        return None
    x = x.settled() if isinstance(x, Gathers) else x
    kind = x._kind.leads(op, None)
    if kind is None or not x._shape or 0 in x._shape:
        return None
    return kind, (), (x._shape, *x.now())


def conversion(x: HasNode, dtype: np.dtype[Any]) -> Found | None:
    """Look up a conversion to a dtype."""
    kind = x._kind.leads(CAST, dtype)
    return None if kind is None or tracing.running.value else (kind, x._shape, x.now())


def view(x: Any, step: Transform) -> Found | None:
    """Return memory under another index; None of what is computed."""
    kind, shape = x._kind, x._shape
    if kind.op is not None or kind.scalar or kind is NODE:
        return None
    place = Strided(shape, strides_of(kind, shape)).apply(step)
    memory, start = x.now()
    made = kind.beside(place.shape, place.strides)
    return made, place.shape, (memory, start + place.offset * kind.itemsize)
