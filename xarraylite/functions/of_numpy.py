"""Functions that NumPy computes and that have NumPy's names: a signature and a page, no body.

A page has three paragraphs: what the function does, what it returns unless that is one array, and
an example.  `of_numpy` adds the rest, what parameters mean and what is raised, and calls NumPy's
function of that name: arguments of the types `Array` and `Arrays` are evaluated, results are put
into containers.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeAlias, overload

from .arrays_of_numpy import numpy, numpy_of
from .computed import Invocation, Take, perhaps, several
from .ufuncs import as_ufunc

P = ParamSpec("P")

Array: TypeAlias = Any
"""What is converted to an array, unless it is None; beside other types, only if it is an array."""

Arrays: TypeAlias = Sequence[Any] | Any
"""An array, or a sequence of arrays, each of which is converted."""

Container: TypeAlias = Any
DType: TypeAlias = object

_PAGE = """{summary}

NumPy computes it: operands are evaluated, results are containers.

Parameters
----------
{parameters}

Returns
-------
{returns}

Raises
------
ValueError, DTypeError, IndexRangeError
    What NumPy raises for such operands, naming the function and them.

See Also
--------
numpy.{name} : The same on NumPy arrays.

Examples
--------
>>> import xarraylite as xl
{example}
"""


@overload
def of_numpy(page: Callable[P, Any], /) -> Callable[P, Any]: ...


@overload
def of_numpy(
    *, arithmetic: bool = True, by: Callable[..., Any] | None = None
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


@overload
def of_numpy(
    *, like: Callable[P, Any], arithmetic: bool = True, by: Callable[..., Any] | None = None
) -> Callable[[Callable[[], None]], Callable[P, Any]]: ...


def of_numpy(
    page: Any = None, /, *, like: Any = None, arithmetic: bool = True, by: Any = None
) -> Any:
    """Return NumPy's function of a page's name, on arrays of ours.

    Parameters
    ----------
    page : callable
        Has the name, the parameters with their types, and the documentation.
    like : callable, optional
        A function whose parameters it has.
    arithmetic : bool, default True
        Whether NumPy might warn about floating point, which is kept from it.
    by : callable, optional
        What is called in the place of NumPy's function.
    """
    if page is None:
        return lambda page: of_numpy(page, like=like, arithmetic=arithmetic, by=by)  # type: ignore[call-overload]
    name = page.__name__
    signature = inspect.signature(page if like is None else like)
    signature = signature.replace(return_annotation="XArray")
    takes = {p.name: take for p in signature.parameters.values() if (take := _take(p.annotation))}
    reference = getattr(numpy, name) if by is None else by

    call = Invocation(reference, name, signature, takes, arithmetic).face()
    call.__name__ = call.__qualname__ = name
    call.__module__ = page.__module__
    call.__doc__ = _documentation(page, signature)
    call.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
    call.__annotations__["return"] = signature.return_annotation
    call.__signature__, call.__wrapped__ = signature, page  # type: ignore[attr-defined]
    return as_ufunc(call) if isinstance(reference, numpy.ufunc) else call


def _take(annotation: str) -> Take | None:
    """Return how a parameter of a type is converted; None if it is passed on."""
    types = set(annotation.split(" | ")) - {"None"}
    if "Arrays" in types:
        return several
    if "Array" not in types:
        return None
    return numpy_of if types == {"Array"} else perhaps


def _documentation(page: Callable[..., Any], signature: inspect.Signature) -> str:
    """Return a page with what all pages say."""
    summary, *returns, example = inspect.cleandoc(page.__doc__ or "").split("\n\n")
    lines = []
    for p in signature.parameters.values():
        stars = "*" if p.kind is p.VAR_POSITIONAL else ""
        default = "" if p.default in (p.empty, None) else f", default {p.default!r}"
        given = re.sub(r"Arrays?|Container|DType", lambda found: found[0].lower(), p.annotation)
        optional = ", optional" if p.default is None else default
        lines.append(f"{stars}{p.name} : {given.removesuffix(' | None')}{optional}")
        lines.append(
            textwrap.indent(WORDS.get(p.name, f"As for ``numpy.{page.__name__}``."), "    ")
        )
    return _PAGE.format(
        summary=summary,
        name=page.__name__,
        parameters="\n".join(lines),
        returns=returns[0].removeprefix("Returns: ") if returns else "XArray",
        example=example,
    )


#: What parameters mean, by their names; a page's own words come first.
WORDS: dict[str, str] = {
    "a": "What to look at.",
    "x": "What to look at.",
    "y": "Further values.",
    "v": "What to join, insert or convolve with.",
    "arr": "What to look at.",
    "ary": "What to look at.",
    "f": "Values at the points.",
    "m": "How often, or further extents.",
    "ndim": "Number of dimensions.",
    "ar": "What to look at; flattened.",
    "ar1": "First set; flattened.",
    "ar2": "Second set; flattened.",
    "axis": "Along which dimension or dimensions.",
    "assume_unique": "No element occurs twice, which saves time.",
    "bins": "Number of bins, or their edges; or NumPy's name of a rule.",
    "range": "Ends of the bins; by default the least and the greatest element.",
    "density": "Divide by the number of elements and the width of the bins.",
    "weights": "How much each element counts.",
    "minlength": "Least number of bins.",
    "right": "Whether bins include their right edge, not their left one.",
    "q": "Which percentages (0 to 100) or shares (0 to 1).",
    "method": "NumPy's name of the rule between neighbours.",
    "overwrite_input": "Accepted as NumPy does; the input is never changed.",
    "keepdims": "Keep reduced dimensions with extent 1.",
    "out": "Where to write the result.",
    "mode": "NumPy's name of the rule at the ends.",
    "kth": "Position, or positions, that get the element they would have after sorting.",
    "kind": "NumPy's name of the algorithm.",
    "order": "Row-major ('C') or column-major ('F').",
    "deg": "Degree of the polynomial.",
    "p": "Coefficients, the highest degree first.",
    "full": "Return also residuals, rank, singular values and rcond.",
    "cov": "Return also the covariance of the coefficients.",
    "rcond": "Singular values up to that share of the greatest count as zero.",
    "w": "Weights.",
    "dx": "Distance of points, if they are not given.",
    "xp": "Positions of the known points, ascending.",
    "fp": "Values at the known points.",
    "left": "Value before the first point; by default that of the first.",
    "period": "The positions repeat after it.",
    "rowvar": "Whether rows are variables; else columns are.",
    "bias": "Divide by the number of observations, not by one less.",
    "ddof": "Subtracted from the number of elements before dividing.",
    "fweights": "How often each observation counts, whole numbers.",
    "aweights": "How much each observation counts.",
    "dtype": "Of the result.",
    "discont": "Greatest jump that is kept.",
    "equal_nan": "Whether NaN are equal.",
    "sorted": "Whether the order has to be ascending.",
    "return_index": "Return also where each is first.",
    "return_inverse": "Return also which of them each element is.",
    "return_counts": "Return also how often each occurs.",
    "return_indices": "Return also where the elements are.",
    "obj": "Indices, a slice or a mask.",
    "values": "What is inserted.",
    "new_shape": "Extents of the result.",
    "trim": "Where zeros are left out: 'f', 'b' or both.",
    "choices": "Arrays to choose from.",
    "condition": "Which elements.",
    "indices": "Positions.",
    "shape": "Extents that positions refer to.",
    "multi_index": "Positions along each dimension.",
    "dims": "Extents.",
    "varargs": "Distances of the points: one, one for each dimension, or their positions.",
    "edge_order": "Order of the differences at the ends, 1 or 2.",
    "to_end": "What stands behind the differences.",
    "to_begin": "What stands before the differences.",
    "sample": "Points: a matrix with one column per dimension, or one vector for each.",
    "x1": "First operand.",
    "x2": "Second operand, broadcast.",
    "n": "How many.",
    "k": "Which diagonal: positive above the main one.",
    "M": "Number of points.",
    "beta": "Shape of the window.",
    "keys": "What to sort by, the last first.",
    "bitorder": "Whether the first bit is the highest ('big') or the lowest.",
    "count": "How many bits are used; negative: all but that many.",
    "seq_of_zeros": "The roots.",
    "a1": "First polynomial, the highest degree first.",
    "a2": "Second polynomial, the highest degree first.",
    "u": "Dividend, the highest degree first.",
    "filt": "What is left out.",
    "tol": "Imaginary parts up to that many epsilons count as zero.",
}
