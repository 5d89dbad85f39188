"""Products of matrices and tensors: the array API's, and `einsum`.

They evaluate their inputs and return containers, but for operands that are kept elsewhere
(`xl.open`), of which the product is lazy and computed block by block.  All are sums of products
over labels, the same as ``C["i,k"] = A["i,j"] * B["j,k"]`` (see ``labels/lowering.py``): BLAS
where that is a product of matrices, one fused kernel where it is not.  Floats of 16 bits or fewer
are added up in float32 and rounded once; integers wrap as in NumPy, and sums of products of bool
are bool.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, SupportsIndex, TypeAlias

import numpy as np

from .._errors import ShapeError
from ..arrays import matmul as matmuls
from ..arrays.container import XContainer
from ..arrays.evaluation import eval_
from ..arrays.expression import XExpression, apply
from ..arrays.memo import memoised
from ..arrays.operand import as_array
from ..arrays.xarray import XArray
from ..assignment import results
from ..assignment.assign import check_cast
from ..dtypes.names import SUPPORTED, DType, as_dtype, dtype_name, kind
from ..dtypes.promotion import result_type as promoted
from ..ir import build
from ..ir.build import describe
from ..ir.kind import NODE
from ..ir.walk import source_of
from ..labels import products
from ..labels import subscripts as labelling
from ..operands import tracing
from ..operands.nodes import HasNode, as_node
from ..operands.non_numeric import or_numpy
from ..ops.table import OPS
from .arrays_of_numpy import into
from .copied import with_memory
from .data_types import astype
from .factors import FEW, factors_of, in_memory, meet, turned, vectors_of
from .lapack import conjugate_dot
from .manipulation import reshape
from .reducers import sum as total
from .ufuncs import as_ufunc, check_options, of_ufunc, ordered

Axes: TypeAlias = "SupportsIndex | Sequence[SupportsIndex]"


@as_ufunc
@or_numpy
def matmul(
    x1: object, x2: object, /, out: object = None, *, dtype: object = None, **options: Any
) -> XArray | XExpression:
    """Return the matrix product; the same as ``x1 @ x2``.

    Parameters
    ----------
    x1, x2 : array or expression
        Of rank 1 or more.  The last two dimensions are those of matrices, the ones before them
        are broadcast.  A vector stands for one row on the left and for one column on the right,
        and that dimension is left out of the result.
    out : container, optional
        Where to write the product.
    dtype : dtype, optional
        To compute in; by default the operands' common one.
    **options
        What else `numpy.matmul` takes (``axes``, ``casting``…), which then computes it.

    Returns
    -------
    XArray
        Row-major.

    Raises
    ------
    CastError
        If an operand is of a higher kind than ``dtype``.
    ShapeError
        If an operand is of rank 0, the last dimension of ``x1`` does not fit the second to last
        of ``x2``, or the others do not broadcast.

    See Also
    --------
    einsum, tensordot, vecdot
    numpy.matmul : The same on NumPy arrays.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1, 2], [3, 4]])
    >>> xl.matmul(a, a.T)
    XArray([[ 5, 11],
            [11, 25]])
    >>> a @ xl.asarray([1, 1])
    XArray([3, 7])
    """
    if options:
        options |= {} if dtype is None else {"dtype": dtype}
        return of_ufunc("matmul")(x1, x2, out, **options)  # type: ignore[no-any-return]
    if dtype is not None:
        for node in (as_node(x1, "matmul"), as_node(x2, "matmul")):
            check_cast("matmul", partial(describe, node), node.dtype, as_dtype(dtype), "same_kind")
        x1, x2 = astype(x1, dtype), astype(x2, dtype)
    x1, x2 = in_memory(x1, x2)
    if isinstance(x1, XExpression) and isinstance(x2, XExpression):
        return into(out, x1 @ x2, "matmul")  # type: ignore[no-any-return]
    nodes = as_node(x1, "matmul"), as_node(x2, "matmul")
    return into(out, XArray._filled(products.product("matmul", nodes), *nodes), "matmul")


@as_ufunc
@or_numpy
def vecdot(
    x1: object, x2: object, /, out: object = None, *, axis: int = -1, **options: Any
) -> XArray | XExpression:
    """Return the dot products of vectors along one dimension.

    Parameters
    ----------
    x1, x2 : array or expression
        The other dimensions are broadcast.  Complex elements of ``x1`` are conjugated.
    out : container, optional
        Where to write the result.
    axis : int, default -1
        A dimension that both operands have.
    **options
        What else `numpy.vecdot` takes (``keepdims``, ``axes``…), which then computes it.

    Returns
    -------
    XArray
        Of the operands' common dtype.

    Raises
    ------
    AxisError
        If an operand does not have the axis.
    ShapeError
        If the extents along the axis differ, or the others do not broadcast.

    See Also
    --------
    matmul, tensordot

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.vecdot(xl.asarray([[1.0, 2.0], [3.0, 4.0]]), xl.asarray([1.0, 10.0]))
    XArray([21., 43.])
    >>> xl.vecdot(xl.asarray([1j]), xl.asarray([1j]))
    XArray(1.+0.j)
    """
    if options:
        options |= {} if axis == -1 else {"axis": axis}
        return of_ufunc("vecdot")(x1, x2, out, **options)  # type: ignore[no-any-return]
    numbers = vectors_of(x1, x2) if axis.__class__ is int and axis == -1 else ""
    if numbers == "real":
        return matmul(x1, x2, out)
    made: Any = conjugate_dot(x1, x2) if numbers else _values("vecdot", axis, x1, x2)
    return into(out, made, "vecdot")  # type: ignore[no-any-return]


@memoised
def _product(name: str, option: Any, fold: bool, *operands: Any) -> XArray | XExpression:
    if name == "einsum" and len(operands) == 1 and isinstance(operands[0], XContainer):
        step = products.moved(option, operands[0].node)
        if step is not None:
            return operands[0]._view(step)
    nodes = [as_node(x, name) for x in operands]
    return XArray._filled(products.product(name, nodes, option, fold=fold), *nodes)


def _values(name: str, option: Any, *operands: Any) -> Any:
    """Return the product of a function's name, computed if it is a fold of memory.

    The option is what the function is told of the operands' dimensions.
    """
    active = tracing.is_active()
    if (known := matmuls.seen(XExpression, name, option, operands)) is not None:
        return known
    made: Any = _product(name, option, not active, *(operands if active else with_memory(operands)))
    matmuls.see(name, option, operands, made)
    if isinstance(made, XContainer) or active:
        return made
    if made._kind is NODE and source_of(made.node) is not None:
        return made  # kept elsewhere
    done: Any = None if made._kind is NODE else results.evaluate(made)
    if done is None or done._kind.strides is not None:
        done = eval_(made, layout="row_major")
    arrays = [x if isinstance(x, HasNode) else as_array(x, "product") for x in operands]
    labelled = products.LABELLINGS[name]
    done._buffer.made, done._buffer.special = products.unwritten(labelled, arrays, option), True
    return done


@or_numpy
def tensordot(a: Any, b: Any, axes: int | tuple[Axes, Axes] = 2) -> XArray | XExpression:
    """Return the sum of products over pairs of dimensions.

    Parameters
    ----------
    a, b : array or expression
        Of any rank.
    axes : int or pair of sequences of int, default 2
        How many of the last dimensions of ``a`` meet the first ones of ``b``, in order; or the
        dimensions of ``a`` and those of ``b`` that they meet.

    Returns
    -------
    XArray
        The dimensions of ``a`` that are left, then those of ``b``.

    Raises
    ------
    AxisError
        If an axis is out of range or named twice.
    ShapeError
        If the extents of a pair differ, or there are not as many axes for both.

    See Also
    --------
    einsum, matmul

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.reshape(xl.arange(24), (2, 3, 4))
    >>> xl.tensordot(a, a, axes=((1, 2), (1, 2)))
    XArray([[ 506, 1298],
            [1298, 3818]])
    """
    if axes.__class__ is int and axes >= 0 and meet(a, b, axes):
        kept, rest = a._shape[: len(a._shape) - axes], b._shape[axes:]
        inner = math.prod(b._shape[:axes])
        rows, columns = reshape(a, (math.prod(kept), inner)), reshape(b, (inner, math.prod(rest)))
        made = matmul(rows, columns)
        return made if len(kept) == len(rest) == 1 else reshape(made, kept + rest).copy()
    return _values("tensordot", axes, a, b)  # type: ignore[no-any-return]


@memoised
def outer(a: object, b: object, out: object = None) -> XExpression:
    """Return the products of all pairs of elements, lazily.

    Parameters
    ----------
    a, b : array or expression
        Flattened.
    out : container, optional
        Where to write the result.

    Returns
    -------
    XExpression
        One row for each element of ``a``, one column for each of ``b``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.eval(xl.outer(xl.asarray([1, 2]), xl.asarray([1, 10])))
    XArray([[ 1, 10],
            [ 2, 20]])
    """
    rows = XExpression(build.reshape(as_node(a, "outer"), (-1, 1)))
    columns = XExpression(build.reshape(as_node(b, "outer"), (1, -1)))
    return into(out, apply(OPS["multiply"], rows, columns), "outer")


@or_numpy
def dot(a: object, b: object, out: object = None) -> XExpression:
    """Return the product of vectors or matrices by NumPy's rule for any ranks.

    Parameters
    ----------
    a, b : array or expression
        Scalars multiply; else the last dimension of ``a`` meets the second to last of ``b``, or
        its only one.
    out : container, optional
        Where to write the result.

    Returns
    -------
    XArray
        The other dimensions of ``a``, then those of ``b``.

    Raises
    ------
    ShapeError
        If the extents that meet differ.

    Examples
    --------
    >>> import xarraylite as xl
    >>> int(xl.dot(xl.asarray([1, 2]), xl.asarray([3, 4])))
    11
    """
    a, b = in_memory(a, b)
    arrays = isinstance(a, XExpression) and isinstance(b, XExpression)
    if arrays and len(a._shape) in (1, 2) and len(b._shape) in (1, 2):  # type: ignore[attr-defined]
        return into(out, a @ b, "dot")  # type: ignore[no-any-return,operator]
    a, b = [x if hasattr(x, "shape") else as_array(x, "dot") for x in (a, b)]
    if () in (a.shape, b.shape):
        return into(out, apply(OPS["multiply"], a, b), "dot")
    ranks = [len(as_node(x, "dot").shape) for x in (a, b)]
    axes = ([-1], [max(ranks[1] - 2, 0)])
    made = matmul(a, b) if max(ranks) <= 2 else tensordot(a, b, axes=axes)
    return into(out, made, "dot")


@or_numpy
def inner(a: object, b: object, /) -> XExpression:
    """Return the sums of products over the last dimensions, of which both have one.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.inner(xl.asarray([[1, 2], [3, 4]]), xl.asarray([1, 10]))
    XArray([21, 43])
    """
    a, b = in_memory(a, b)
    columns = turned(b)
    if columns is None and vectors_of(a, b):
        return a @ b  # type: ignore[no-any-return,operator]
    if columns is not None and meet(a, columns, 1) and len(a._shape) == 2:  # type: ignore[attr-defined]
        return a @ columns  # type: ignore[no-any-return]
    if not as_node(a, "inner").shape or not as_node(b, "inner").shape:
        return dot(a, b)
    return tensordot(a, b, axes=([-1], [-1]))


@or_numpy
def vdot(a: object, b: object, /) -> XArray | XExpression:
    """Return the dot product of all elements, those of ``a`` conjugated.

    Examples
    --------
    >>> import xarraylite as xl
    >>> complex(xl.vdot(xl.asarray([1j]), xl.asarray([1j])))
    (1+0j)
    """
    a, b = in_memory(a, b)
    numbers = vectors_of(a, b)
    if numbers == "real":
        return a @ b  # type: ignore[no-any-return,operator]
    if numbers == "complex":
        return conjugate_dot(a, b)
    first, second = [x if isinstance(x, HasNode) else as_array(x, "vdot") for x in (a, b)]
    return vecdot(*[x if len(x._shape) == 1 else reshape(x, (-1,)) for x in (first, second)])


@or_numpy
def einsum(
    subscripts: object,
    /,
    *operands: Any,
    out: object = None,
    optimize: object = True,
    dtype: object = None,
    order: str = "K",
    casting: str | None = None,
) -> XArray | XExpression:
    """Return the sum of products that subscripts say.

    Parameters
    ----------
    subscripts : str
        One group of letters per operand, separated by commas, with a letter per dimension; after
        ``->`` those of the result.  Letters that the result leaves out are summed.  Without
        ``->`` the result has the letters that occur once, in alphabetical order.  An ellipsis
        stands for further dimensions, which are broadcast.  A letter that an operand has twice
        takes its diagonal.  NumPy's other form, ``einsum(a, [0, 1], b, [1, 2], [0, 2])``, has
        numbers for letters.
    *operands : array or expression
        As many as there are groups.
    out : container, optional
        Where to write the result.
    optimize, order : optional
        Of no effect, but that an order of "F" makes the result column-major, not row-major.
    dtype : dtype, optional
        To compute in and to return; by default the operands' common one.
    casting : str, optional
        Which casts to `dtype` and `out` are allowed; by default all, and those of the same kind.

    Returns
    -------
    XArray
        Products are made two at a time in the order that costs least; of one container in which
        nothing is summed (``"ij->ji"``, ``"ii->i"``) a view.

    Raises
    ------
    ShapeError
        For malformed subscripts, a number of letters that is not an operand's rank, or a letter
        with two extents (other than 1, which is stretched).
    DTypeError
        If complex operands are to be computed in a real dtype.

    See Also
    --------
    matmul, tensordot
    numpy.einsum : The same on NumPy arrays; ``A["i,j"] * B["j,k"]`` has names of any length.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> xl.einsum("ij,kj->ik", a, a)
    XArray([[ 5., 11.],
            [11., 25.]])
    >>> xl.einsum("ii", a)
    XArray(5.)
    """
    check_options("einsum", order, casting or "unsafe")
    if operands and not isinstance(subscripts, str):
        subscripts, operands = labelling.lettered((subscripts, *operands))
    if not operands or not isinstance(subscripts, str):
        raise ShapeError(
            f"einsum({subscripts!r}, ...): takes a text of subscripts and an operand for each group"
        )
    dtype = _wider(operands, out) if dtype is None else dtype
    if dtype is None and len(operands) > 1:
        subscripts, operands = _summed_alone(subscripts, operands)
    pair = factors_of(subscripts, operands) if dtype is casting is None and order == "K" else None
    if pair is not None:
        return matmul(*pair, out)
    if dtype is None:
        made = _values("einsum", subscripts, *operands)
    else:
        made = _einsum_in(as_dtype(dtype), subscripts, operands, casting or "unsafe")
    rule = casting or "same_kind"
    return ordered(made, order, out) if out is None else into(out, made, "einsum", rule=rule)


def _wider(operands: tuple[Any, ...], out: object) -> DType | None:
    """Return the dtype that operands have with ``out``, as NumPy has one for all; None: their own.

    It is what products are added up in.
    """
    if not isinstance(out, (XExpression, np.ndarray)) or out.dtype not in SUPPORTED:
        return None
    own = promoted(*[as_node(x, "einsum").dtype for x in operands])
    common = promoted(own, as_dtype(out.dtype))
    return None if common == own else common


def _summed_alone(spec: str, operands: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """Return a product of small arrays with what one of them alone is summed over summed first."""
    reduced, given = labelling.summed_alone(spec) or (spec, ())
    if len(given) != len(operands) or tracing.is_active():
        return spec, operands
    for x, (rank, _) in zip(operands, given, strict=True):
        plain = isinstance(x, XContainer) and x._kind is not NODE and x.dtype.char in "fdFD"
        if not plain or x.size > FEW or x.ndim != rank:
            return spec, operands
    pairs = zip(operands, given, strict=True)
    return reduced, tuple([eval_(total(x, axes)) if axes else x for x, (_, axes) in pairs])


def _einsum_in(
    wanted: DType, subscripts: str, operands: tuple[Any, ...], casting: str
) -> XExpression:
    """Return a product of operands that are cast first."""
    nodes = [as_node(x, "einsum") for x in operands]
    for node in nodes:
        check_cast("einsum", partial(describe, node), node.dtype, wanted, casting)
        if kind(wanted) != "c":
            build.require_real(node, f"einsum to {dtype_name(wanted)}")
    return XArray._filled(products.product("einsum", nodes, subscripts, dtype=wanted), *nodes)
