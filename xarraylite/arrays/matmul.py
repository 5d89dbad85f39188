"""Matrix products that need not be planned.

BLAS reads memory, and NumPy, which multiplies few whole numbers, does too: so lazy operands are
evaluated first, and what has another dtype than the product is converted.  What neither multiplies
(short floats, many lazy whole numbers) is a fold: of small operands the kind of that fold is
learned, and the next such product is evaluated as any expression of a kind is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._config import settings
from .._later import products
from .._tables import kept
from ..assignment import elements, results
from ..blas import calls
from ..dtypes.promotion import result_type
from ..ir.kind import NODE, owner_class
from ..ir.node import Node
from ..operands import tracing
from ..operands.learning import PRODUCT, is_learned, learn_product, learned_product, stretched_key
from ..operands.nodes import as_node, unwrapped
from .ownership import values_of

#: Codes of the dtypes that BLAS multiplies, and with those that NumPy multiplies as we would; the
#: ranks of a matrix times a matrix or a vector.
_BLAS = "fdFD"
_MULTIPLIED = _BLAS + "?bBhHiIlLqQ"
_MATRICES = frozenset(((2, 2), (2, 1), (1, 2)))

#: Terms of a dot product up to which lazy vectors are evaluated first.
_SHORT = 1 << 12

#: The key of folds in the tables of kinds, and multiplications up to which they are learned.
_FOLD, _FEW = "fold of products", 1 << 12

#: The key of shapes that were met lately, and how many these are.
_MET, _SHAPES = "shapes of products", 8


def of(plain: type[Any], left: Any, right: Any) -> Any:
    """Return the matrix product of an expression and what may stand behind it, evaluated."""
    known = product(plain, left, right)
    if known is not None:
        return known
    one, other = left.node, as_node(right, "matmul")
    made = planned(left._container, one, other)
    learn(plain, (left, right), made, one, other)
    results.count_launch()
    return made


def planned(owner: Any, left: Node, right: Node) -> Any:
    """Return the matrix product of two nodes in a new container, or one that is lazy still."""
    return owner._filled(products.product("matmul", (left, right)), left, right)


def product(plain: type[Any], left: Any, right: Any) -> Any:
    """Return the product of matrices or vectors, of which some are lazy; None of all others.

    None also where lazy ones are not evaluated first: one row times one column, for example, and
    long vectors are folded in one kernel.

    Parameters
    ----------
    plain : type
        The class of lazy results that are nothing more.
    left, right : object
        The operands.
    """
    if right.__class__ in elements.COPIED:
        own = elements.container_of(plain._container, right)
        return None if own is right else left @ own
    if not isinstance(right, plain) or tracing.is_active():
        return None
    if NODE in (left._kind, right._kind):  # what was written has its kind as memory
        one, other = unwrapped(left), unwrapped(right)
        return None if one is left and other is right else one @ other
    mixed, code = left.dtype != right.dtype, left.dtype.char
    if not mixed and (code not in _MULTIPLIED or _is_summed(left, right)):
        return _folded(plain, left, right)
    if not (left.lasting or right.lasting):
        known = _alike(plain, left, right)
        if known is None and (code in "FD" or max(len(left._shape), len(right._shape)) > 2):
            known = seen(plain, "matmul", (), (left, right))
        if known is not None:
            return known
    if mixed:
        return _mixed(left, right)
    entry = _learned(left, right)
    if entry is None and not _is_evaluated_first(plain, left, right):
        return None
    one, other = [values_of(x) if x.lasting else x for x in (left, right)]
    if entry is not None and NODE not in (one._kind, other._kind):
        return _multiplied(plain, one, other, (entry[2], entry[4]), entry[3])
    made = one @ other
    made._buffer.made = _told(left, right)
    learn_product(left, right, made, True)
    return made


def _learned(left: Any, right: Any) -> Any:
    """Return what is remembered of a product of lazy operands, if its result may be so large."""
    if not (left.lasting or right.lasting) or settings.engine == "reference":
        return None
    entry = learned_product(left, right)
    large = entry and math.prod(entry[2]) * entry[4].itemsize > settings.max_result_bytes
    return None if large else entry


def _is_evaluated_first(plain: type[Any], left: Any, right: Any) -> bool:
    """Tell whether lazy operands become memory, which BLAS multiplies then.

    So do operands that are matrices, matrix and vector, or short vectors.
    """
    lazy = [x for x in (left, right) if x.lasting]
    if not lazy or any([type(x) is not plain or x._kind is NODE for x in lazy]):
        return False
    if not _is_one_call(left, right):
        return _are_few_stacks(left, right)
    shape = (*left.shape[:-1], *right.shape[1:])
    return left.dtype.char in _BLAS or is_learned(shape, left.shape[-1])


def _is_one_call(left: Any, right: Any) -> bool:
    """Tell whether operands are matrices, matrix and vector, or short vectors that fit."""
    if 0 in left.shape + right.shape:
        return False
    if (left.ndim, right.ndim) == (1, 1):
        return bool(left.shape == right.shape and left.shape[0] <= _SHORT)
    if (left.ndim, right.ndim) not in _MATRICES or left.shape[-1] != right.shape[0]:
        return False
    return bool(max((*left.shape[:-1], *right.shape[1:])) > 1)


def _are_few_stacks(left: Any, right: Any) -> bool:
    """Tell whether operands are few elements of stacks of matrices, which BLAS multiplies."""
    ranks = left.ndim, right.ndim
    if min(ranks) < 2 or max(ranks) < 3 or left.dtype.char not in _BLAS:
        return False
    fits = left.shape[-1] == right.shape[-2] > 1 and min(left.shape[-2], right.shape[-1]) > 1
    return bool(fits and 0 < max(left.size, right.size) <= elements.FEW)


def seen(plain: type[Any], name: str, option: Any, operands: Sequence[Any]) -> Any:
    """Return what a function makes of operands like those of a product in memory; None of others.

    Parameters
    ----------
    plain : type
        The class of lazy results that are nothing more.
    name, option : str, object
        The function, and what it is told of dimensions.
    operands : sequence
        What is multiplied.
    """
    if len(operands) != 2 or tracing.is_active():
        return None
    left, right = operands
    for x in operands:
        if not isinstance(x, plain) or x.lasting or x._kind is NODE or x._kind.fixed:
            return None
    left, right = left._still(), right._still()
    key = name, products.key_of(option)
    recipe = left._kind.leads(key, (right._kind, left._shape, right._shape))
    if recipe is None or recipe.nbytes > settings.max_result_bytes:
        return None
    places = (left._buffer, left._start), (right._buffer, right._start)
    made = _new(plain, recipe.kind, recipe.place.shape, recipe.made)
    recipe.run(*recipe.arrays(*places), made._buffer, 0)
    return made


def see(name: str, option: Any, operands: Sequence[Any], made: Any) -> None:
    """Remember how a function's product of two operands in memory was computed."""
    known = [getattr(x, "lasting", True) is False for x in (made, *operands)]
    if len(known) != 3 or not all(known) or tracing.is_active():
        return
    (left, right), key = operands, products.key_of(option)
    recipe = None if key is None else products.seen(name, key, left.node, right.node)
    if recipe is not None:
        left._kind.learn((name, key), (right._kind, left._shape, right._shape), recipe)


def _mixed(left: Any, right: Any) -> Any:
    """Return the product of operands of two dtypes, by their common one; None where that is none.

    None also of what is not multiplied by one call, which has the messages.
    """
    known = left.dtype.char in _MULTIPLIED and right.dtype.char in _MULTIPLIED
    if not known or not _is_one_call(left, right):
        return None
    dtype = result_type(left.dtype, right.dtype)
    one, other = [x if x.dtype == dtype else _cast(x, dtype) for x in (left, right)]
    return one @ other


def _cast(x: Any, dtype: Any) -> Any:
    """Return an operand in another dtype: few elements in memory at once, others when read."""
    if x.lasting or x._kind is NODE or x.size > elements.FEW:
        return x.astype(dtype)
    values = elements.array_of(x).astype(dtype, "C")
    return owner_class(x._fixed, dtype, x._shape)._adopted(values)


def _alike(plain: type[Any], left: Any, right: Any) -> Any:
    """Return the product of operands that differ from learned ones in extents alone; else None.

    How BLAS is called follows from strides where no extent is 1, and for real vectors always.  It
    is not called where there is nothing to add up.
    """
    one, other = left._kind, right._kind
    entry = one.leads(PRODUCT, other)
    if entry is None or settings.engine == "reference" or max(one.rank, other.rank) > 2:
        return None
    inner, shape = left._shape[-1], (*left._shape[:-1], *right._shape[1:])
    if inner != right._shape[0]:
        return None
    empty = inner == 0 or 0 in shape
    dense = one.strides is None and other.strides is None
    if not (empty or is_learned(shape, inner, dense)):
        return None
    told = empty or not (shape or one.dtype.char in "FD")
    if not told and min(*left._shape, *right._shape, *entry[0], *entry[1]) < 2:
        return None
    if math.prod(shape) * entry[4].itemsize > settings.max_result_bytes:
        return None
    made = _multiplied(plain, left, right, (shape, entry[4]), _told(left, right))
    # Of lengths that come once alone nothing is kept, as that takes longer than the product.
    met = one.table.setdefault(_MET, {})
    if (shapes := (other, left._shape, right._shape)) in met:
        learn_product(left, right, made, True)
    else:
        kept(met, shapes, True, _SHAPES)
    return made


def _multiplied(
    plain: type[Any], left: Any, right: Any, result: tuple[Any, Any], told: object
) -> Any:
    """Return the product of operands in memory, whose shape and kind are known."""
    shape, kind = result
    made = _new(plain, kind, shape, told)
    values = elements.array_of(made)
    if left._shape[-1] == 0 or 0 in shape:
        values[...] = 0
    else:
        dense = left._kind.strides is None and right._kind.strides is None
        call = calls.dot if dense else calls.strided
        call(elements.array_of(left), elements.array_of(right), values)
    return made


def _new(plain: type[Any], kind: Any, shape: tuple[int, ...], told: object) -> Any:
    """Return a container for a product, which `explain` is told of; it is not filled."""
    usual = kind.owned(shape) or plain._container
    made = elements.new_container(usual, kind, shape, math.prod(shape))
    made._buffer.made, made._buffer.special = told, True
    return made


def _told(left: Any, right: Any) -> products.Unwritten:
    """Return what `explain` is told of a product."""
    return products.unwritten(products.of_matmul, (left, right))


def _folded(plain: type[Any], left: Any, right: Any) -> Any:
    """Return a product like one that was learned; None of all others."""
    key = stretched_key(left, right)
    found = left._kind.leads(_FOLD, key)
    if not found:
        return None
    kind, shape, first, told = found
    items = (*first, *left.now(), *right.now())
    made = results.evaluated(plain._container, kind, shape, items)
    if made is None:
        return None
    if made._kind.strides is not None:
        left._kind.learn(_FOLD, key, False)  # a product is row-major, this lies as its operands do
        return None
    made._buffer.made, made._buffer.special = told or _told(left, right), True
    return made


def _is_summed(left: Any, right: Any) -> bool:
    """Tell whether a kernel adds up products of vectors, all but those of floats that are long."""
    ranks = left.ndim, right.ndim
    return left.dtype.char not in _BLAS and ranks == (1, 1) and left.shape[0] > _SHORT


def learn(plain: type[Any], operands: tuple[Any, Any], made: Any, one: Node, other: Node) -> None:
    """Remember a small product of two operands, and their nodes: a call of BLAS, or a fold."""
    left, right = operands
    if not hasattr(right, "dtype"):
        return  # a sequence, of which nothing is known
    code, summed = left.dtype.char, _is_summed(left, right)
    if not summed and code in _MULTIPLIED:
        # `product` learns those that it computes first.
        if not any([x.__class__ is plain and x.lasting for x in operands]):
            stacked = max(len(one.shape), len(other.shape)) > 2
            whole = not stacked or products.is_stacked(one, other, made._shape)
            if whole:
                learn_product(left, right, made, products.reads_in_place(one, other), stacked)
            if not whole or code in "FD":  # stacks that are one product; what lies apart
                see("matmul", (), operands, made)
    elif isinstance(right, plain) and not tracing.is_active():
        small = 0 < math.prod((*left.shape, *right.shape[1:])) <= _FEW
        if (summed or small) and NODE not in (left._kind, right._kind):
            _learn_fold(plain, left, right)


def _learn_fold(plain: type[Any], left: Any, right: Any) -> None:
    """Remember the kind of the fold that a product is, if its operands can be found again.

    They can where they are the factors' own, one after the other, behind nothing but the extents
    that are folded.
    """
    key = stretched_key(left, right)
    if left._kind.leads(_FOLD, key) is False:
        return
    node = products.fold(left.node, right.node)
    e = None if node is None else plain(node)
    if e is None or e._kind is NODE:
        return
    own = (*left.now(), *right.now())
    at = max(len(e._operands) - len(own), 0)
    first, others = e._operands[:at], e._operands[at:]
    extents = not first or (len(first) == 1 and first[0].__class__ is tuple)
    if extents and [*map(id, others)] == [*map(id, own)]:
        told = None if left.lasting or right.lasting else _told(left, right)
        left._kind.learn(_FOLD, key, (e._kind, e._shape, first, told))
