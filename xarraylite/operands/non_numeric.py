"""Elements that are no numbers: text, dates, records, and objects where they are asked for.

No kernel computes with them, so containers have none.  But programs have names beside their
numbers, and NumPy keeps these well: what would be an array of them is NumPy's array, and a function
that is given one, or an array with a mask, is NumPy's function.  Whoever refuses such operands as
no numbers asks here first.  Numbers in the other byte order, as files have them, are kept so too,
and native as operands.
"""

from __future__ import annotations

import functools
import inspect
import operator
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .._errors import AxisError, DTypeError, ShapeError, SizeError
from ..dtypes.formats import loop_dtype
from ..dtypes.names import SUPPORTED, NumpyArray
from .nodes import (
    NUMBERS,
    HasNode,
    Lifted,
    OneValue,
    has_array,
    has_own,
    is_foreign,
    is_masked,
    values_in,
)

P = ParamSpec("P")
R = TypeVar("R")

#: Kinds of NumPy's dtypes whose elements are no numbers; objects are made only by their dtype.
_KINDS = "USTMmV"

#: Classes of text.
_TEXT = (str, bytes)

#: NumPy without its types.
_numpy: Any = np

#: The operation that a message begins with.
_OPERATION = r"^[a-z_]\w*(?=\(|: )"


def is_other(dtype: object) -> bool:
    """Tell whether a dtype is text, dates, differences, records, or in the other byte order."""
    if not isinstance(dtype, np.dtype) or dtype in SUPPORTED:
        return False
    return dtype.kind in _KINDS or not dtype.isnative


def is_not_ours(array: NumpyArray | np.generic) -> bool:
    """Tell whether an array's elements are no numbers, or masked, or mean more than numbers."""
    plain = not (is_other(array.dtype) or array.dtype.hasobject or is_masked(array))
    return not plain or is_foreign(array)


def dtype_of(dtype: object) -> np.dtype[Any] | None:
    """Return a dtype of elements that are no numbers, objects included; None for others."""
    if dtype is None:
        return None
    try:
        found: np.dtype[Any] = np.dtype(dtype)  # type: ignore[call-overload]
    except (TypeError, ValueError, SyntaxError, Warning):
        return None
    return found if is_other(found) or found == np.dtype(object) else None


def array_of(values: object, dtype: object = None, objects: bool = False) -> NumpyArray | None:
    """Return values that are no numbers, or shall be none, as NumPy's array; None for others.

    Lists of objects are such values where an array is made of them, and not where one computes.
    """
    wanted = dtype_of(dtype)
    if wanted is None and dtype is not None:
        return None
    if wanted is not None:
        tuples = wanted.names or wanted.subdtype  # which are elements
        return np.array(values if tuples else _plain(values), dtype=wanted)
    plain = _plain(values)
    if has_array(type(plain)) and not isinstance(plain, Lifted):  # a series of text
        plain = np.asarray(plain)
    if isinstance(plain, (np.ndarray, np.generic)):
        return np.array(plain) if is_other(plain.dtype) or plain.dtype.hasobject else None
    if not isinstance(plain, (list, tuple, str, bytes)):
        return None
    try:
        made = np.array(plain)
    except ValueError:  # ragged
        return None
    if objects and made.dtype.hasobject:
        if NUMBERS.issuperset(map(type, made.flat)):
            return None  # too large for any dtype
        for place, x in enumerate(made.flat):
            if isinstance(x, (HasNode, Lifted)):
                return None  # an array of ours that NumPy could not join
            if isinstance(x, np.ndarray) and not x.ndim:
                made.flat[place] = x[()]  # a total, which is a number for NumPy
        return made
    return made if is_other(made.dtype) else None


def numbers_of(values: object, dtype: np.dtype[Any], operation: str) -> NumpyArray | None:
    """Return the numbers that text or objects stand for, by NumPy's rule; None for others.

    Text is numbers written out, as a line of a file split at its commas; objects are fractions,
    what says its ``__float__`` or ``__array__``, or None for NaN.  Of an array of which nothing is
    masked no mask is lost.

    Raises
    ------
    ValueError
        If text is no number.
    """
    text, loop = array_of(values), loop_dtype(dtype)
    if text is not None and text.dtype.kind in "UST":
        try:
            return text.astype(loop)
        except ValueError as error:
            raise ValueError(f"{operation}: {error}") from None
    if not (isinstance(values, (HasNode, Lifted)) or np.ma.is_masked(values)):
        with suppress(TypeError, ValueError):
            return np.array(values, loop)
    return None


def as_other(values: object, dtype: object) -> NumpyArray:
    """Return numbers converted to text, say, in NumPy's array; within the handler of a refusal.

    Raises
    ------
    DTypeError
        The one that is handled, where the dtype is none of NumPy's either.
    """
    other = dtype_of(dtype)
    if other is None:
        raise  # noqa: PLE0704
    return np.asarray(values).astype(other)


#: Functions of NumPy's that take masked arrays and lose the masks.
_UNMASKED = frozenset(["einsum", "where"])

#: Functions that take one text for an array, or for the dtype of one, and lists of objects.
_TAKE_ONE = frozenset(["atleast_1d", "atleast_2d", "atleast_3d", "repeat", "result_type", "tile"])

#: Operators that find arrays of numbers unequal to text, where NumPy's functions have no loop.
_EQUALITY: dict[str, Callable[..., Any]] = {"equal": operator.eq, "not_equal": operator.ne}

#: What writes in place is NumPy's where its destination is: containers know who waits for them.
_WRITERS = frozenset(["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"])


def call_numpy(name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return what NumPy's function makes of no numbers; within the handler of a refusal of them.

    Raises
    ------
    DTypeError
        The one that is handled, where operands are numbers or NumPy refuses them too.
    """
    function = getattr(_numpy, name, None) or getattr(_numpy.linalg, name, None)
    if any([isinstance(x, HasNode) for x in args]) and not options:
        function = _EQUALITY.get(name, function)
    if name in _WRITERS:
        fits = isinstance(args[0] if args else None, np.ndarray)
    else:
        fits = dtype_of(options.get("dtype")) is not None or any(
            [_is_of_others(x) or has_own(x, name) for x in (*args, *options.values())]
        )
        if name in _TAKE_ONE:
            alone = any([x is None or callable(x) for x in args])
            fits = fits or alone or any([array_of(x, objects=True) is not None for x in args])
        fits = fits and not (name in _UNMASKED and any([is_masked(x) for x in args]))
    if not fits or not callable(function):
        raise  # noqa: PLE0704
    plain = [[*map(_plain, x)] if isinstance(x, list) else _plain(x) for x in args]
    out: Any = options.get("out")
    ours = isinstance(out, HasNode) and not isinstance(function, np.ufunc)  # it would ask us again
    options = {key: x for key, x in options.items() if not (ours and key == "out")}
    try:
        named = {key: x if key == "out" else _plain(x) for key, x in options.items()}
        with np.errstate(all="ignore"):
            made = function(*plain, **named)
        if not ours:
            return made
        out[...] = made
        return out
    except (TypeError, AttributeError):  # an object has no such method
        pass
    raise  # noqa: PLE0704


def or_numpy(function: Callable[P, R]) -> Callable[P, R]:
    """Have NumPy's function of the same name take operands that are no numbers.

    Errors name the function, not those that it is made of (`vstack`, not `concat`).
    """

    @functools.wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        try:
            return function(*args, **options)
        except DTypeError as error:
            say(function.__name__, error)
            made: R = call_numpy(function.__name__, args, options)
            return made
        except ShapeError as error:
            say(function.__name__, error)
            raise
        except TypeError as error:
            name_keywords(inspect.signature(function), args, error)
            raise

    return call


def name_keywords(signature: inspect.Signature, args: Sequence[object], error: Exception) -> None:
    """Have an error about more arguments than a function takes name what is given by keyword."""
    try:
        signature.bind_partial(*args)
    except TypeError:
        names = [p.name for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
        if names and str(error).endswith("given"):  # and no caller of it has said so
            error.args = (f"{error}; by keyword: {', '.join(names)}",)


def say(name: str, error: ShapeError | DTypeError) -> None:
    """Have an error of ours name a function of NumPy's, if that is what was called."""
    ours = type(error).__module__ == ShapeError.__module__ and not isinstance(error, SizeError)
    if not ours or not hasattr(_numpy, name):
        return  # others have constructors and texts of their own
    said = re.sub(_OPERATION, name, str(error), count=1)
    error.args = (said,)
    if isinstance(error, AxisError):
        error._msg = said  # type: ignore[attr-defined]  # what NumPy's class shows


def _plain(x: Any) -> Any:
    """Return an argument with arrays of ours replaced by NumPy's."""
    if isinstance(x, (HasNode, OneValue)):
        return np.asarray(x)
    if type(x) is tuple:
        return tuple(values_in(x))  # axes are no list
    return values_in(x) if type(x) is list else x


def _is_of_others(x: object) -> bool:
    if isinstance(x, np.dtype):
        return is_other(x) or x.hasobject
    if isinstance(x, (np.ndarray, np.generic)):
        return is_not_ours(x)
    if isinstance(x, Sequence) and not isinstance(x, _TEXT):
        return any([isinstance(y, _TEXT) or _is_of_others(y) for y in x])
    ours = isinstance(x, (HasNode, OneValue, Lifted))
    return not ours and hasattr(type(x), "__array_function__")
